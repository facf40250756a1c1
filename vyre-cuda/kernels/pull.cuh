// Sweeps that are turned round: where a frontier has many of the edges that are left, nodes that nobody claimed look along
// their edges in and stop at the first that comes from the frontier (Beamer, Asanovic, Patterson: Direction-optimizing
// breadth-first search). The host proves of a wave that this leaves the same behind (plan::pull), so the kernel's code is not
// run: a claim is a store of a known value, and a push.
//
// The frontier is a bitmap while rounds are of this kind, and a list before and after. All CTAs decide alike, from sums that
// were final when a barrier was passed.
#pragma once

#include "quick.cuh"

// A search goes on by pushing until its frontier has one in so many of the edges that are left, and one for so many nodes:
// each of them has to be asked whether it waits.
#define VYRE_PULL_SHARE 14u
#define VYRE_PULL_NODES 4u
// Fewer items are not worth a thought.
#define VYRE_PULL_FEW 256u
// Groups of four edges that a lane looks at by itself, after the first.
#define VYRE_PULL_SERIAL 8u

struct PullState {
    u64 count;      // items of the frontier
    u64 edges;      // what was summed up before the barrier just passed: edges,
    u64 met;        // and items
    u64 totals[2];  // of the grid's two sums of edges, which are used in turn, as of when they were last read
    u64 seen;       // word of the barrier before
    u64 edges_here; // by this CTA since the last barrier
    u32 count_here;
    u32 dealt;      // parts of the round that this CTA's warps took
    u32 turn;       // which of the sums is next
    u32 abort;
    u32 stop;
    u32 go;
    u32 side;    // the bitmap of the frontier
    u32 pulled;  // rounds were, and what they pushed is in the list
};
__shared__ PullState vyre_pull;

// What a claim stores in a round.
__device__ __forceinline__ u32 taken_in(const Pull& pull, u64 round) {
    return pull.by_round != 0 ? static_cast<u32>(round) + pull.taken : pull.taken;
}

// Edges that a frontier must have.
__device__ __forceinline__ u64 pull_from(const Pull& pull, const Topology& topology) {
    const u64 left = topology.edges - min(pull.explored, static_cast<u64>(topology.edges));
    return max(max(left / VYRE_PULL_SHARE, static_cast<u64>(topology.nodes / VYRE_PULL_NODES)), pull.least);
}

// Whether the round after a barrier is worth a look, by the control warp; its wave may be turned round.
__device__ __noinline__ bool may_pull(const Step& step, u64 seen) {
    const Wave& wave = *table<Wave>(image().waves, vyre_state.wave);
    if (vyre_state.ctas != gridDim.x || gridDim.x == 1 || (seen & VYRE_STOP) != 0) return false;
    const Fixpoint& fixpoint = *table<Fixpoint>(image().fixpoints, step.id);
    Pull& pull = *table<Pull>(image().pulls, wave.pull);
    const u64 count = seen & VYRE_PUSHED, round = fixpoint.round + 1;
    // Rounds of earlier times through the fixpoint, which is left by another search than it was entered.
    const u64 entry = fixpoint.rounds - fixpoint.round + 1;
    __syncwarp();
    if (lane_id() == 0 && pull.entry != entry) {
        pull.entry = entry;
        pull.explored = 0;
    }
    __syncwarp();
    const Topology& topology = *table<Topology>(image().topologies, wave.topology);
    return count >= VYRE_PULL_FEW && count <= table<Frontier>(image().frontiers, step.carried)->capacity &&
           count * pull.most_degree > pull_from(pull, topology) && round < fixpoint.max_rounds &&
           taken_in(pull, round) != pull.free;
}

// Before `run_pull`, by the control warp.
__device__ __forceinline__ void begin_pull(u64 seen, u32 abort) {
    __syncwarp();
    if (lane_id() == 0) {
        vyre_pull.seen = seen;
        vyre_pull.count = seen & VYRE_PUSHED;
        vyre_pull.abort = abort;
        vyre_pull.pulled = 0;
    }
    __syncwarp();
}

// The bitmap of the nodes that wait: nobody claimed them, and they have edges in.
__device__ __forceinline__ u64 waiting_bits(const Pull& pull) { return 2 * pull.bits[1] - pull.bits[0]; }

__device__ __forceinline__ u32 pull_warp() { return warp_id() * vyre_state.ctas + vyre_state.cta; }
__device__ __forceinline__ u32 pull_warps() { return cta_warps() * vyre_state.ctas; }

// The next part of a round for this warp: CTAs have every so manieth each, whose warps take one when they have done one.
__device__ __forceinline__ u32 pull_part() {
    u32 part = 0;
    if (lane_id() == 0) part = atomicAdd(&vyre_pull.dealt, 1u);
    return __shfl_sync(VYRE_FULL, part, 0) * vyre_state.ctas + vyre_state.cta;
}

// Adds what a warp's lanes counted to what the CTA did.
__device__ __forceinline__ void pull_add(u32 count, u64 edges) {
    count = __reduce_add_sync(VYRE_FULL, count);
#pragma unroll
    for (u32 step = 16; step > 0; step >>= 1) edges += __shfl_xor_sync(VYRE_FULL, edges, step);
    if (lane_id() == 0) {
        if (count != 0) atomicAdd(&vyre_pull.count_here, count);
        if (edges != 0) atomicAdd(&vyre_pull.edges_here, edges);
    }
}

// All CTAs come together, and what they counted is summed up. All warps call it; those that are not the control warp wait for
// it at a barrier of the CTA afterwards.
__device__ __noinline__ void pull_meet() {
    __syncwarp();
    __syncthreads();
    if (warp_id() != 0) return;
    PullState& p = vyre_pull;
    const u64 sum = VYRE_CONTROL(edges) + p.turn * 8;
    if (lane_id() == 0 && p.edges_here != 0) atomic_add64(sum, p.edges_here);
    u32 abort = p.abort;
    const u64 seen = grid_barrier(p.count_here, abort);
    if (lane_id() == 0) {
        const u64 total = load_relaxed64(sum);
        p.abort = abort;
        p.edges = total - p.totals[p.turn];
        p.totals[p.turn] = total;
        p.turn ^= 1;
        p.met = seen & VYRE_PUSHED;
        p.stop = (seen & VYRE_STOP) != 0;
        p.count_here = 0;
        p.edges_here = 0;
        p.dealt = 0;
    }
    __syncwarp();
}

// Counts the edges out of the frontier's items, which are in the list that was pushed last.
__device__ __noinline__ void pull_count(const Frontier& f, const Topology& topology) {
    const u64 n = vyre_pull.count, items = f.items[f.side], ranges = f.ranges[f.side];
    u64 edges = 0;
    for (u64 first = pull_warp() * 32ull; first < n; first += pull_warps() * 32ull) {
        const u64 i = first + lane_id();
        if (i >= n) continue;
        u32 begin, end;
        if (i < f.ranges_len) {
            load_range(ranges + i * 8, begin, end);
        } else {
            const u32 node = load_global(items + i * 4);
            begin = load_topology(topology.offsets, node);
            end = load_topology(topology.offsets, node + 1ull);
        }
        edges += end - begin;
    }
    __syncwarp();
    pull_add(0, edges);
}

// Makes a bitmap of the list, which is the one that is swept by now.
__device__ __noinline__ void pull_mark(const Frontier& f, u64 bits) {
    const u64 n = vyre_pull.count, items = f.items[f.side ^ 1];
    for (u64 first = pull_warp() * 32ull; first < n; first += pull_warps() * 32ull) {
        const u64 i = first + lane_id();
        if (i >= n) continue;
        const u32 node = load_global(items + i * 4);
        asm volatile("red.relaxed.gpu.global.or.b32 [%0], %1;" ::"l"(bits + node / 32 * 4ull), "r"(1u << node % 32) : "memory");
    }
    __syncwarp();
}

// The set bits of a warp's words, one a lane, in order: their numbers are those of the words' bits.
struct Bits {
    u32 word, upto, total;
    __device__ __forceinline__ explicit Bits(u32 word) : word(word), upto(__popc(word)) {
#pragma unroll
        for (u32 step = 1; step < 32; step <<= 1) {
            const u32 below = __shfl_up_sync(VYRE_FULL, upto, step);
            if (lane_id() >= step) upto += below;
        }
        total = __shfl_sync(VYRE_FULL, upto, 31);
    }
    // Number of the ith one, each lane its own; of those that are not there, anything. All lanes call it.
    __device__ __forceinline__ u32 at(u32 i) const {
        u32 owner = 0;
#pragma unroll
        for (u32 step = 16; step > 0; step >>= 1) owner += __shfl_sync(VYRE_FULL, upto, owner + step - 1) <= i ? step : 0;
        u32 left = __shfl_sync(VYRE_FULL, word, owner);
        u32 more = i - __shfl_sync(VYRE_FULL, upto - __popc(word), owner);
        for (; more != 0 && left != 0; more--) left &= left - 1;
        return owner * 32 + __ffs(left) - 1;
    }
};

// Makes a list of the bitmap, as if the round had pushed it; leaves the first bitmap empty.
__device__ __noinline__ void pull_spread(u32 frontier, const Pull& pull, u32 nodes) {
    const u64 from = pull.bits[vyre_pull.side], empty = pull.bits[0];
    const u32 words = (nodes + 31) / 32;
    for (u32 first = pull_warp() * 32; first < words; first += pull_warps() * 32) {
        const u32 at = first + lane_id();
        const Bits bits(load_global_if(at < words, from + at * 4ull, 0));
        if (at < words) store_global(empty + at * 4ull, 0);
        for (u32 done = 0; done < bits.total; done += 32) {
            const u32 i = done + lane_id();
            const Vec<1> node = {{first * 32 + bits.at(i)}};
            push<1>(frontier, node, i < bits.total);
        }
    }
}

// Four edges of a lane with `some`, from a number that is divisible by four.
__device__ __forceinline__ uint4 load_four_if(bool some, u64 targets, u32 at) {
    uint4 x = make_uint4(0, 0, 0, 0);
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %5, 0;\n@p ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];\n}"
                 : "+r"(x.x), "+r"(x.y), "+r"(x.z), "+r"(x.w)
                 : "l"(targets + at * 4ull), "r"(static_cast<u32>(some)));
    return x;
}

// The frontier's bit of a node.
__device__ __forceinline__ bool in_front(bool some, u64 front, u32 node) {
    return (load_global_if(some, front + node / 32 * 4ull, 0) >> node % 32 & 1) != 0;
}

// Whether one of four edges comes from the frontier: those from `begin` to `end`, of the four from `at` on.
__device__ __forceinline__ bool any_of_four(u64 front, const uint4& four, u32 at, u32 begin, u32 end) {
    const bool x = in_front(at >= begin && at < end, front, four.x);
    const bool y = in_front(at + 1 >= begin && at + 1 < end, front, four.y);
    const bool z = in_front(at + 2 >= begin && at + 2 < end, front, four.z);
    const bool w = in_front(at + 3 >= begin && at + 3 < end, front, four.w);
    return x || y || z || w;
}

// Which of a lane's four nodes that wait have an edge from the frontier, by the whole warp. What is asked for is what costs
// here: so the first edge of each is looked at before the others.
__device__ __noinline__ u32 reached(u64 front, u64 targets, Vec<4> begin, Vec<4> end, u32 waits) {
    u32 found = 0;
    // The first edges of all four together.
    {
        uint4 four[4];
#pragma unroll
        for (int k = 0; k < 4; k++) four[k] = load_four_if(waits >> k & 1, targets, begin.v[k] & ~3u);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const u32 skip = begin.v[k] & 3;
            const u32 first = skip == 0 ? four[k].x : skip == 1 ? four[k].y : skip == 2 ? four[k].z : four[k].w;
            found |= (in_front(waits >> k & 1, front, first) ? 1u : 0u) << k;
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const u32 stop = (waits & ~found) >> k & 1 ? end.v[k] : 0;
            found |= (any_of_four(front, four[k], begin.v[k] & ~3u, begin.v[k] + 1, stop) ? 1u : 0u) << k;
        }
    }
    u32 rest = 0, left = 0, turns = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) rest |= ((waits & ~found) >> k & 1 && (begin.v[k] | 3) + 1 < end.v[k] ? 1u : 0u) << k;
    // Then each lane goes on by itself, one node after the other.
    while (__any_sync(VYRE_FULL, rest != 0)) {
        const u32 k = __ffs(rest) - 1;
        const u32 low = k == 0 ? begin.v[0] : k == 1 ? begin.v[1] : k == 2 ? begin.v[2] : begin.v[3];
        const u32 high = k == 0 ? end.v[0] : k == 1 ? end.v[1] : k == 2 ? end.v[2] : end.v[3];
        const u32 at = (low | 3) + 1 + turns * 4;
        const uint4 four = load_four_if(rest != 0, targets, at);
        const bool any = any_of_four(front, four, at, at, rest != 0 ? high : 0);
        turns++;
        if (rest != 0 && (any || at + 4 >= high || turns == VYRE_PULL_SERIAL)) {
            if (any)
                found |= 1u << k;
            else if (at + 4 < high)
                left |= 1u << k;
            rest &= rest - 1;
            turns = 0;
        }
    }
    // Long lists are left to the whole warp.
#pragma unroll 1
    for (u32 k = 0; k < 4; k++) {
        const u32 low = k == 0 ? begin.v[0] : k == 1 ? begin.v[1] : k == 2 ? begin.v[2] : begin.v[3];
        const u32 upto = k == 0 ? end.v[0] : k == 1 ? end.v[1] : k == 2 ? end.v[2] : end.v[3];
        for (u32 owners = __ballot_sync(VYRE_FULL, left >> k & 1); owners != 0; owners &= owners - 1) {
            const u32 owner = __ffs(owners) - 1;
            const u32 high = __shfl_sync(VYRE_FULL, upto, owner);
            u32 at = __shfl_sync(VYRE_FULL, (low | 3) + 1 + VYRE_PULL_SERIAL * 4, owner);
            bool any = false;
            for (; !any && at < high; at += 256) {
                const u32 here = at + lane_id() * 4;
                const uint4 four = load_four_if(here < high, targets, here);
                const uint4 more = load_four_if(here + 128 < high, targets, here + 128);
                const bool one = any_of_four(front, four, here, here, high);
                const bool other = any_of_four(front, more, here + 128, here + 128, high);
                any = __any_sync(VYRE_FULL, one || other);
            }
            if (any && lane_id() == owner) found |= 1u << k;
        }
    }
    return found;
}

// The first round: each node that nobody claimed looks for an edge from the frontier, and is written down if there is none. A
// warp has 128 nodes at a time, a lane four of them.
__device__ __noinline__ void pull_nodes(u32 taken) {
    const Wave& wave = *table<Wave>(image().waves, vyre_state.wave);
    const Pull& pull = *table<Pull>(image().pulls, wave.pull);
    const Topology& into = *table<Topology>(image().topologies, pull.into);
    const u64 offsets = into.offsets, targets = into.targets;
    const u64 elements = table<Buffer>(image().buffers, pull.buffer)->data;
    const u64 front = pull.bits[vyre_pull.side], next = pull.bits[vyre_pull.side ^ 1], waiting = waiting_bits(pull);
    const u64 out = pull.into == wave.topology ? 0 : table<Topology>(image().topologies, wave.topology)->offsets;
    const u32 nodes = into.nodes, tiles = (nodes + 127) / 128, free = pull.free;
    u32 count = 0;
    u64 edges = 0;
    for (;;) {
        const u32 tile = pull_part();
        if (tile >= tiles) break;
        const u32 first = tile * 128 + lane_id();
        u32 value[4], waits = 0;
        Vec<4> begin, end;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const u32 v = first + k * 32;
            value[k] = load_global_if(v < nodes, elements + v * 4ull, ~free);
            begin.v[k] = load_topology_if(v < nodes, offsets, v, 0);
            end.v[k] = load_topology_if(v < nodes, offsets, v + 1ull, 0);
        }
#pragma unroll
        for (int k = 0; k < 4; k++) waits |= (value[k] == free && begin.v[k] < end.v[k] ? 1u : 0u) << k;
        const u32 found = reached(front, targets, begin, end, waits);
        u32 word = 0, rest = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const u32 v = first + k * 32;
            const bool claims = (found >> k & 1) != 0;
            const u32 lanes = __ballot_sync(VYRE_FULL, claims), others = __ballot_sync(VYRE_FULL, (waits & ~found) >> k & 1);
            if (lane_id() == k) {
                word = lanes;
                rest = others;
            }
            if (claims) {
                store_global(elements + v * 4ull, taken);
                edges += out == 0 ? end.v[k] - begin.v[k] : load_topology(out, v + 1ull) - load_topology(out, v);
            }
        }
        if (lane_id() < 4) {
            store_global(next + (tile * 4 + lane_id()) * 4ull, word);
            store_global(waiting + (tile * 4 + lane_id()) * 4ull, rest);
        }
        count += __popc(found);
    }
    pull_add(count, edges);
}

// The rounds after it, in which only nodes that are written down look. A warp has up to 1024 nodes at a time, and takes those
// that wait among them together.
__device__ __noinline__ void pull_waiting(u32 taken) {
    const Wave& wave = *table<Wave>(image().waves, vyre_state.wave);
    const Pull& pull = *table<Pull>(image().pulls, wave.pull);
    const Topology& into = *table<Topology>(image().topologies, pull.into);
    const u64 offsets = into.offsets, targets = into.targets;
    const u64 elements = table<Buffer>(image().buffers, pull.buffer)->data;
    const u64 front = pull.bits[vyre_pull.side], next = pull.bits[vyre_pull.side ^ 1], waiting = waiting_bits(pull);
    const u64 out = pull.into == wave.topology ? 0 : table<Topology>(image().topologies, wave.topology)->offsets;
    // As many words at a time as leave some for all warps.
    const u32 words = (into.nodes + 31) / 32, width = words >= 32 * pull_warps() ? 32 : 8, groups = (words + width - 1) / width;
    u32 count = 0;
    u64 edges = 0;
    for (;;) {
        const u32 group = pull_part();
        if (group >= groups) break;
        const u32 at = group * width + lane_id();
        const bool here = lane_id() < width && at < words;
        const Bits bits(load_global_if(here, waiting + at * 4ull, 0));
        if (here) store_global(next + at * 4ull, 0);
        for (u32 done = 0; done < bits.total; done += 128) {
            u32 node[4], waits = 0;
            Vec<4> begin, end;
            __syncwarp();
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const u32 i = done + k * 32 + lane_id();
                const bool some = i < bits.total;
                node[k] = group * width * 32 + bits.at(i);
                waits |= (some ? 1u : 0u) << k;
                begin.v[k] = load_topology_if(some, offsets, node[k], 0);
                end.v[k] = load_topology_if(some, offsets, node[k] + 1ull, 0);
            }
            const u32 found = reached(front, targets, begin, end, waits);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                if ((found >> k & 1) == 0) continue;
                const u32 v = node[k], bit = 1u << v % 32;
                store_global(elements + v * 4ull, taken);
                asm volatile("red.relaxed.gpu.global.or.b32 [%0], %1;" ::"l"(next + v / 32 * 4ull), "r"(bit) : "memory");
                asm volatile("red.relaxed.gpu.global.and.b32 [%0], %1;" ::"l"(waiting + v / 32 * 4ull), "r"(~bit) : "memory");
                edges += out == 0 ? end.v[k] - begin.v[k] : load_topology(out, v + 1ull) - load_topology(out, v);
            }
            count += __popc(found);
        }
    }
    pull_add(count, edges);
}

// Rounds by pulling, as long as that is worth it, after a barrier at which it may be. By all warps.
__device__ __noinline__ void run_pull() {
    const Step& step = *table<Step>(image().steps, vyre_state.pc);
    const Wave& wave = *table<Wave>(image().waves, vyre_state.wave);
    const Topology& topology = *table<Topology>(image().topologies, wave.topology);
    Pull& pull = *table<Pull>(image().pulls, wave.pull);
    Frontier& f = *table<Frontier>(image().frontiers, step.carried);
    Fixpoint& fixpoint = *table<Fixpoint>(image().fixpoints, step.id);
    PullState& p = vyre_pull;
    pull_count(f, topology);
    pull_meet();
    if (threadIdx.x == 0) {
        p.go = p.stop == 0 && p.edges > pull_from(pull, topology);
        pull.explored += p.edges;
        if (p.go != 0 && pull.bits[0] == 0) {
            vyre_state.missed += p.edges;
            p.go = 0;
        }
        p.side = 0;
        p.pulled = p.go;
    }
    __syncthreads();
    if (p.go == 0) return;
    for (bool listed = true;; listed = false) {
        if (threadIdx.x == 0) {
            f.local = f.local_high = 0;
            f.attention = 0;
            f.pushed = f.pushed_hubs = 0;
            flip(f, p.count, 0);
            fixpoint.round += 1;
            fixpoint.rounds += 1;
            WIDTH(p.count);
            vyre_state.sweeps += 1;
            vyre_state.items += p.count;
            vyre_state.widest = max(vyre_state.widest, p.count);
            vyre_state.pulled += 1;
            if (image().progress != 0) tell(p.count);
        }
        __syncthreads();
        if (listed) {
            pull_mark(f, pull.bits[0]);
            pull_meet();
            __syncthreads();
        }
        if (listed)
            pull_nodes(taken_in(pull, fixpoint.round));
        else
            pull_waiting(taken_in(pull, fixpoint.round));
        pull_meet();
        if (threadIdx.x == 0) {
            const u64 round = fixpoint.round + 1;
            p.side ^= 1;
            p.count = p.met;
            p.go = p.stop == 0 && p.count != 0 && p.count <= f.capacity && round < fixpoint.max_rounds &&
                   taken_in(pull, round) != pull.free && p.edges * 2 > pull_from(pull, topology);
            pull.explored += p.edges;
        }
        __syncthreads();
        if (p.go == 0) break;
    }
    pull_spread(step.carried, pull, topology.nodes);
}

// First edge of a range, whose targets ascend, that does not lead below x.
__device__ __forceinline__ u32 first_not_below(u64 targets, u32 begin, u32 end, u32 x) {
    while (begin < end) {
        const u32 middle = begin + (end - begin) / 2;
        if (load_topology(targets, middle) < x)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

// Clears the verdict if the graph is not its own reverse, or the targets of a node do not ascend: the nth edge from u to v
// must have an nth one from v to u.
extern "C" __global__ void __launch_bounds__(256) vyre_symmetric(u64 offsets, u64 targets, u32 nodes, u32 edges, u64 verdict) {
    const u64 warps = gridDim.x * 8ull;
    for (u64 low = (blockIdx.x * 8ull + warp_id()) * 1024; low < edges; low += warps * 1024) {
        if (__any_sync(VYRE_FULL, load_relaxed(verdict) == 0)) return;
        const u32 high = static_cast<u32>(min(static_cast<u64>(edges), low + 1024));
        const auto start = [&](u32 i) { return load_topology(offsets, i); };
        const u32 first = warp_last_not_above(nodes, static_cast<u32>(low), start);
        const u32 last = warp_last_not_above(nodes, high - 1, start);
        bool bad = false;
        for (u32 i = 0; i < 32; i++) {
            const u64 edge = low + i * 32 + lane_id();
            if (edge >= high) break;
            const u32 e = static_cast<u32>(edge);
            // A range of nodes that are as a rule few.
            u32 source = first, beyond = last + 1;
            while (beyond - source > 1) {
                const u32 middle = source + (beyond - source) / 2;
                if (load_topology(offsets, middle) <= e)
                    source = middle;
                else
                    beyond = middle;
            }
            const u32 target = load_topology(targets, e), begin = load_topology(offsets, source);
            u32 nth = 0;
            if (e > begin) {
                const u32 before = load_topology(targets, e - 1);
                bad |= before > target;
                if (before == target) nth = e - first_not_below(targets, begin, e, target);
            }
            const u32 end = load_topology(offsets, target + 1ull);
            const u64 at = static_cast<u64>(first_not_below(targets, load_topology(offsets, target), end, source)) + nth;
            bad = bad || at >= end || load_topology(targets, at) != source;
        }
        if (bad) store_relaxed(verdict, 0);
        __syncwarp();
    }
}
