// Narrow rounds of a fixpoint with several waves and frontiers, in the module of a compiled pass.
//
// One CTA runs them alone, or the first cluster does, while the others wait at the next grid barrier: round after round,
// wave after wave, with a barrier of the CTA or the cluster where the schedule has one. What a CTA pushes it keeps in its
// shared memory, where its warps' registers are in other rounds, with the range of edges of each node. After a round all
// CTAs read how much each of them keeps, and share the items out anew. When a frontier gets too large, or too small for a
// cluster, when there is a trap, a hub or an overflow, or no round is left, all kept items go to the frontiers' lists, and
// the schedule goes on as if it had run the rounds itself.
#pragma once

#include "pull.cuh"

// What comes next for the warps, as VYRE_NARROW is.
#define VYRE_ROUNDS 4u
// Items of a frontier that a CTA takes at once, if there are no clusters or it is one of a cluster. So many are few enough to
// begin such rounds, which go on up to twice as many.
#define VYRE_ROUNDS_ITEMS 256u
// Where there are clusters, one CTA takes no more, and a cluster goes on down to half as many.
#define VYRE_ROUNDS_FEW 64u

// What the warps of a CTA share, where other narrow rounds have their state.
struct Rounds {
    uint4 kept[2];  // by the side of a round: what this CTA pushed to each frontier; w: something asks to leave
    u32 starts[VYRE_ROUNDS_FRONTIERS][VYRE_CLUSTER_MOST + 1];  // of each frontier, where a CTA's items begin among all
    u32 trapped[2];  // by the group of waves, in turn: somebody met a trap
    u32 ctas;        // that take part
    u32 room;        // items of a frontier that this CTA keeps
    u32 goes_on;
    u32 over;        // the fixpoint's condition holds
    u32 done;        // rounds
};
static_assert(sizeof(Rounds) <= sizeof(Quick), "");

__device__ __forceinline__ Rounds& rounds() { return *reinterpret_cast<Rounds*>(&vyre_quick); }

__device__ __forceinline__ u32 rounds_entry(u32 position, u32 side, u32 slot) {
    return shared_address(image().registers_shared) + ((position * 2 + side) * rounds().room + slot) * 16;
}

__device__ __forceinline__ u32 frontier_number(const Fixpoint& fixpoint, u32 position) {
    return *table<u32>(image().lists, fixpoint.frontiers + position);
}

// All warps that take part come together; what they wrote is seen.
__device__ __forceinline__ void meet(u32 ctas) {
    __syncwarp();
    if (ctas == 1)
        __syncthreads();
    else
        cluster_barrier();
}

// How many CTAs are to run the next rounds of a fixpoint: none where they are not narrow. By the control warps of all CTAs,
// which find the same.
__device__ __forceinline__ u32 rounds_ctas(const Step& step, const Fixpoint& fixpoint) {
    if (step.plain != VYRE_PLAIN_ROUNDS || vyre_state.ctas != gridDim.x || gridDim.x == 1 || image().times != 0) return 0;
    if (fixpoint.round + 1 >= fixpoint.max_rounds) return 0;
    u64 most = 0, hubs = 0;
    for (u32 i = 0; i < fixpoint.frontier_count; i++) {
        const Frontier& f = *table<Frontier>(image().frontiers, frontier_number(fixpoint, i));
        most = max(most, f.pushed);
        hubs |= f.pushed_hubs;
    }
    if (hubs != 0) return 0;
    const u32 cluster = vyre_state.cluster;
    if (most <= (cluster == 1 ? VYRE_ROUNDS_ITEMS : VYRE_ROUNDS_FEW)) return 1;
    // The host would like to know how many rounds a cluster holds.
    if (most <= VYRE_ROUNDS_ITEMS * VYRE_CLUSTER && lane_id() == 0) vyre_state.fitting += 1;
    return cluster > 1 && most <= VYRE_ROUNDS_ITEMS * cluster ? cluster : 0;
}

// Before such rounds, by the control warp.
__device__ __noinline__ void begin_rounds(const Step& step, const Fixpoint& fixpoint, u32 ctas) {
    for (u32 pc = fixpoint.body + 1;; pc++) {
        const Step& at = *table<Step>(image().steps, pc);
        if (at.kind == VYRE_STEP_Until) break;
        if (at.kind == VYRE_STEP_Wave) stage_uniforms(table<Wave>(image().waves, at.id)->kernel);
    }
    __syncwarp();
    if (lane_id() < fixpoint.frontier_count) {
        Frontier& f = *table<Frontier>(image().frontiers, frontier_number(fixpoint, lane_id()));
        if (blockIdx.x < ctas) flip(f, f.pushed, 0);
        f.pushed = f.pushed_hubs = 0;
    }
    if (lane_id() == 0) {
        Rounds& all = rounds();
        all.kept[0] = all.kept[1] = make_uint4(0, 0, 0, 0);
        all.trapped[0] = all.trapped[1] = 0;
        all.ctas = ctas;
        all.room = step.kept;
        all.done = all.over = 0;
    }
    __syncwarp();
}

// Item number `i` of all that the CTAs keep of a frontier.
__device__ __forceinline__ uint4 rounds_item(u32 position, u32 side, u32 i, u32 ctas) {
    const u32* starts = rounds().starts[position];
    if (ctas == 1) return load_shared_entry(rounds_entry(position, side, i));
    u32 rank = 0;
    while (rank + 1 < ctas && i >= starts[rank + 1]) rank++;
    return load_cluster_entry(cluster_address(rounds_entry(position, side, i - starts[rank]), rank));
}

// Takes an item to the frontier's list, and to that of hubs.
__device__ __forceinline__ void list_item(Frontier& f, u32 slot, u32 node, u32 from, u32 until) {
    if (slot < f.capacity) {
        store_global(f.items[f.side] + slot * 4ull, node);
        if (slot < f.ranges_len) store_range(f.ranges[f.side] + slot * 8ull, from, until);
    }
    if (until - from > VYRE_HUB_EDGES) {
        const u64 counter = f.hub_counters + f.third * 128;
        if (load_relaxed64(counter) >> 40 < f.hubs_len) {
            const u64 old = atomic_add64(counter, (1ull << 40) + (until - from - 1) / VYRE_HUB_EDGES + 1);
            if (old >> 40 < f.hubs_len) {
                const u64 hub = f.hubs[f.side] + (old >> 40) * 16;
                store_range(hub, node, static_cast<u32>(old));
                store_range(hub + 8, from, until);
            }
        }
    }
}

// A slot of the frontier's list for each of the lanes with `ok`.
__device__ __forceinline__ u32 list_slots(const Frontier& f, bool ok) {
    const u32 lanes = __ballot_sync(VYRE_FULL, ok);
    u32 slot = 0;
    if (lane_id() == 0 && lanes != 0) slot = static_cast<u32>(atomic_add64(f.counters + f.third * 128, __popc(lanes)));
    return __shfl_sync(VYRE_FULL, slot, 0) + __popc(lanes & lanes_below());
}

// A tile's pushes at one place; `known`: the node whose range in `offsets` begins and ends at `ahead`.
__device__ __forceinline__ void push_kept(Frontier& to, u32 position, u32 side, bool ok, u32 y, u64 offsets, u32 known,
                                          uint2 ahead) {
    if (to.stamps != 0) {
        const u32 now = to.stamp;
        if (ok && atomic_swap(to.stamps + y * 4ull, now) == now) ok = false;
    }
    const u32 lanes = __ballot_sync(VYRE_FULL, ok);
    if (lanes == 0) return;
    u32 from = 0, until = 0;
    if (ok && to.offsets != 0) {
        const bool there = to.offsets == offsets && y == known;
        from = there ? ahead.x : load_topology(to.offsets, y);
        until = there ? ahead.y : load_topology(to.offsets, y + 1ull);
    }
    Rounds& all = rounds();
    u32 slot = 0;
    if (lane_id() == 0) slot = atomicAdd(&all.kept[side].x + position, static_cast<u32>(__popc(lanes)));
    slot = __shfl_sync(VYRE_FULL, slot, 0) + __popc(lanes & lanes_below());
    if (ok && slot < all.room) store_shared_entry(rounds_entry(position, side, slot), make_uint4(y, from, until, 0));
    const bool spills = ok && slot >= all.room;
    if (ok && (spills || until - from > VYRE_HUB_EDGES)) all.kept[side].w = 1;
    if (__any_sync(VYRE_FULL, spills)) {
        const u32 at = list_slots(to, spills);
        if (spills) list_item(to, at, y, from, until);
        __syncwarp();
    }
}

// One wave of a round. `listed`: the items are in the frontier's list.
__device__ __forceinline__ void sweep_kept(const Fixpoint& fixpoint, const Wave& wave, u32 side, bool listed, u32 round,
                                           u32 group) {
    const u32 lane = lane_id(), ctas = rounds().ctas;
    const Frontier& f = *table<Frontier>(image().frontiers, wave.frontier);
    const u32 n = static_cast<u32>(f.swept);
    const bool edges = wave.domain == VYRE_DOMAIN_EdgesFrom;
    u64 targets = 0, offsets = f.offsets;
    if (edges) {
        const Topology& topology = *table<Topology>(image().topologies, wave.topology);
        targets = topology.targets;
        offsets = topology.offsets;
    }
    // So many lanes an item.
    const u32 fanned = edges ? __clz(wave.narrow) - 26 : 0, fan = 1u << fanned, each = 32u >> fanned;
    const u32 own = lane < fixpoint.frontier_count ? frontier_number(fixpoint, lane) : VYRE_NONE;
    const u32 position = __ffs(__ballot_sync(VYRE_FULL, own == wave.frontier)) - 1;
    if ((blockIdx.x | threadIdx.x) == 0) {
        vyre_state.sweeps += 1;
        vyre_state.items += n;
        vyre_state.widest = max(vyre_state.widest, static_cast<u64>(n));
    }
    for (u32 first = (warp_id() * ctas + blockIdx.x) * each; first < n; first += cta_warps() * ctas * each) {
        const u32 i = first + (lane >> fanned);
        u32 node = 0, begin = 0, end = 0;
        if (i < n) {
            if (listed) {
                node = load_global(f.items[f.side ^ 1] + i * 4ull);
            } else {
                const uint4 item = rounds_item(position, side ^ 1, i, ctas);
                node = item.x;
                begin = item.y;
                end = item.z;
            }
            if (edges && (listed || f.offsets != offsets)) {
                begin = load_topology(offsets, node);
                end = load_topology(offsets, node + 1ull);
            }
        }
        __syncwarp();
        // The number of the item, up to which, and the node whose edges are known.
        u32 at = edges ? begin + (lane & (fan - 1)) : node, known = listed ? VYRE_NONE : node;
        const u32 upto = edges ? end : node + (i < n ? 1 : 0);
        uint2 ahead = make_uint2(begin, end);
        for (;; at += fan) {
            const u32 mask = at < upto;
            if (!__any_sync(VYRE_FULL, mask != 0)) break;
            if (edges) {
                known = 0;
                if (mask != 0) known = load_topology(targets, at);
                ahead.x = load_topology_if(mask != 0, offsets, known, 0);
                ahead.y = load_topology_if(mask != 0, offsets, known + 1ull, 0);
            }
            u32 flags, given[3];
            asm volatile("// VYRE_HOLE body %4 %5 %6 %7 %8 %9 to %0 %1 %2 %3"
                         : "=&r"(flags), "=&r"(given[0]), "=&r"(given[1]), "=&r"(given[2])
                         : "r"(wave.kernel), "r"(mask), "r"(at), "r"(node), "r"(known), "r"(round)
                         : "memory");
            __syncwarp();
            u32 places = __reduce_or_sync(VYRE_FULL, flags);
            if (places >> 31 != 0) {
                const bool bad = flags >> 31 != 0;
                const u32 lowest = __reduce_min_sync(VYRE_FULL, bad ? at : VYRE_NONE);
                const u32 holders = __ballot_sync(VYRE_FULL, bad && at == lowest);
                if (lane == __ffs(holders) - 1) {
                    raise(trap_key(wave.kernel, lowest, given[0] >> 8), given[0] & 255, given[1], given[2]);
                    // All see it when they meet, and leave.
                    if (ctas == 1) rounds().trapped[group] = 1;
                    for (u32 rank = 0; rank < ctas; rank++)
                        store_cluster(cluster_address(quick_address(&rounds().trapped[group]), rank), 1);
                }
                __syncwarp();
                if (bad) flags = 0;
                places = __reduce_or_sync(VYRE_FULL, flags);
            }
            for (; places != 0; places &= places - 1) {
                const u32 place = __ffs(places) - 1, y = place == 0 ? given[0] : place == 1 ? given[1] : given[2];
                u32 number, of;
                asm("// VYRE_HOLE queue %2 %3 to %0 %1" : "=r"(number), "=r"(of) : "r"(wave.kernel), "r"(place));
                push_kept(*table<Frontier>(image().frontiers, number), of, side, (flags >> place & 1) != 0, y, offsets, known,
                          ahead);
            }
        }
    }
}

// After a round, by one warp of each CTA: what all of them keep, and whether there is another round here.
__device__ __forceinline__ void end_round(const Fixpoint& fixpoint, u32 side, u32 done) {
    Rounds& all = rounds();
    const u32 lane = lane_id(), ctas = all.ctas, mine = quick_address(&all.kept[side]);
    uint4 told = make_uint4(0, 0, 0, 0);
    if (ctas == 1) {
        if (lane == 0) told = load_shared_entry(mine);
    } else if (lane < ctas) {
        told = load_cluster_entry(cluster_address(mine, lane));
    }
    __syncwarp();
    bool leaves = __any_sync(VYRE_FULL, told.w != 0), over = false;
    u32 most = 0, own = 0;
#pragma unroll
    for (u32 i = 0; i < VYRE_ROUNDS_FRONTIERS; i++) {
        u32 sum = i == 0 ? told.x : i == 1 ? told.y : told.z;
        for (u32 step = 1; step < VYRE_CLUSTER_MOST; step <<= 1) {
            const u32 below = __shfl_up_sync(VYRE_FULL, sum, step);
            if (lane >= step) sum += below;
        }
        if (lane < ctas) all.starts[i][lane + 1] = sum;
        if (lane == 0) all.starts[i][0] = 0;
        const u32 total = __shfl_sync(VYRE_FULL, sum, VYRE_CLUSTER_MOST - 1);
        if (i >= fixpoint.frontier_count) continue;
        const u32 number = frontier_number(fixpoint, i);
        most = max(most, total);
        leaves |= total > table<Frontier>(image().frontiers, number)->capacity;
        over |= number == fixpoint.until_frontier && total == 0;
        if (lane == i) own = total;
    }
    const u32 items = ctas == 1 && vyre_state.cluster > 1 ? VYRE_ROUNDS_FEW : VYRE_ROUNDS_ITEMS * ctas;
    const bool goes_on = !over && !leaves && most <= 2 * items && (ctas == 1 || most > VYRE_ROUNDS_FEW / 2) && done < VYRE_ALONE &&
                         fixpoint.round + done + 1 < fixpoint.max_rounds;
    if (goes_on && lane < fixpoint.frontier_count)
        flip(*table<Frontier>(image().frontiers, frontier_number(fixpoint, lane)), own, 0);
    __syncwarp();
    if (lane == 0) {
        all.kept[side ^ 1] = make_uint4(0, 0, 0, 0);
        all.goes_on = goes_on ? 1 : 0;
        all.over = over ? 1 : 0;
        all.done = done;
    }
    __syncwarp();
}

// Narrow rounds of several waves, by all warps.
__device__ __noinline__ void run_rounds() {
    Rounds& all = rounds();
    const u32 ctas = all.ctas;
    if (blockIdx.x >= ctas) return;
    const Step& last = *table<Step>(image().steps, vyre_state.pc);
    const Fixpoint& fixpoint = *table<Fixpoint>(image().fixpoints, last.id);
    bool listed = true;
    u32 side = 0, group = 0, done = 0;
    // The state of all of them is there.
    meet(ctas);
    for (;;) {
        const u32 round = static_cast<u32>(fixpoint.round) + done;
        for (u32 pc = fixpoint.body + 1;; pc++) {
            const Step& step = *table<Step>(image().steps, pc);
            if (step.kind == VYRE_STEP_Wave) {
                sweep_kept(fixpoint, *table<Wave>(image().waves, step.id), side, listed, round, group);
                continue;
            }
            meet(ctas);
            // The run is over, and with it all that was kept.
            if (all.trapped[group] != 0) return;
            group ^= 1;
            if (step.kind == VYRE_STEP_Until) break;
        }
        done += 1;
        if (warp_id() == 0) end_round(fixpoint, side, done);
        __syncthreads();
        listed = false;
        if (all.goes_on == 0) break;
        side ^= 1;
    }
    for (u32 i = 0; i < fixpoint.frontier_count; i++) {
        Frontier& f = *table<Frontier>(image().frontiers, frontier_number(fixpoint, i));
        const u32 count = min((&all.kept[side].x)[i], all.room);
        for (u32 first = warp_id() * 32; first < count; first += cta_threads()) {
            const bool some = first + lane_id() < count;
            const u32 slot = list_slots(f, some);
            if (some) {
                const uint4 item = load_shared_entry(rounds_entry(i, side, first + lane_id()));
                list_item(f, slot, item.x, item.y, item.z);
            }
            __syncwarp();
        }
    }
    // Nobody leaves while others read what it keeps.
    meet(ctas);
}

// After such rounds, by the control warps of all CTAs: those that waited take over what was found. Takes and returns what CTA 0
// knows of the abort flag.
__device__ __noinline__ u32 end_rounds(u32 abort) {
    const Step& step = *table<Step>(image().steps, vyre_state.pc);
    Fixpoint& fixpoint = *table<Fixpoint>(image().fixpoints, step.id);
    const Rounds& all = rounds();
    const u32 lane = lane_id(), ctas = all.ctas, waited = blockIdx.x >= ctas;
    const u64 word = VYRE_CONTROL(barrier) + vyre_state.phase * 128;
    // Until the first ones arrive.
    while (waited && load_relaxed64(word) == vyre_passed[vyre_state.phase]) __nanosleep(40);
    if (lane == 0 && blockIdx.x == 0) store_relaxed64(word + 8, static_cast<u64>(all.over) << 32 | all.done);
    __syncwarp();
    const u64 seen = grid_barrier(vyre_state.trapped != 0 ? VYRE_STOP : 0, abort);
    const u64 said = load_relaxed64(word + 8);
    const u32 done = static_cast<u32>(said);
    const bool over = said >> 32 != 0;
    if (lane < fixpoint.frontier_count) {
        Frontier& f = *table<Frontier>(image().frontiers, frontier_number(fixpoint, lane));
        if (waited) {
            f.side ^= done & 1;
            f.third = (f.third + done) % VYRE_BARRIER_WORDS;
            f.stamp += done;
        }
        f.pushed = load_relaxed64(f.counters + f.third * 128);
        f.pushed_hubs = load_relaxed64(f.hub_counters + f.third * 128);
        f.local = f.local_high = f.attention = 0;
        if (f.pushed > f.capacity) {
            vyre_state.stop = 1;
            // Whoever pushes to it first is to blame.
            for (u32 pc = fixpoint.body; blockIdx.x == 0; pc++) {
                const Step& at = *table<Step>(image().steps, pc);
                const u32* entries = table<u32>(image().lists, at.pushed);
                for (u32 i = 0; i < at.pushed_count; i++)
                    if (entries[i * 3] == frontier_number(fixpoint, lane))
                        raise(trap_key(entries[i * 3 + 1], VYRE_WHOLE_WAVE, entries[i * 3 + 2]), f.trap, f.pushed, f.capacity);
                if (at.kind == VYRE_STEP_Until) break;
            }
        }
    }
    __syncwarp();
    if (lane == 0) {
        if ((seen & VYRE_STOP) != 0) vyre_state.stop = 1;
        fixpoint.rounds += done;
        fixpoint.round += over ? done - 1 : done;
        if (ctas > 1) vyre_state.fitting += done;
        vyre_state.quick = 0;
        vyre_state.pc = over ? vyre_state.pc + 1 : fixpoint.body;
        if (image().progress != 0) tell(over ? 0 : table<Frontier>(image().frontiers, fixpoint.until_frontier)->pushed);
    }
    __syncwarp();
    return abort;
}
