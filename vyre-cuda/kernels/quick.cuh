// Narrow rounds: those of a plain fixpoint whose frontier is so small that a few warps of all CTAs hold it.
//
// What such a round costs is the length of one warp's chain of instructions, five cycles each, and not memory: so nothing
// here is general. For the interpreter the host translates the wave's code so that every operand is a row of one file in
// shared memory (of registers, uniforms and literals alike), a conditional push is one word, and resources are named by
// where their entries are (quick_words.cuh). The module of a compiled pass has the wave's body there, which says what each
// lane pushes (VYRE_HOLES, quick_hole.cuh). Each item has a group of lanes of its own. The round's state stays in registers, and nothing is called: with
// calls, the compiler keeps state on the stack, whose cache lines every acquire drops. What is rare leaves the function and
// comes back.
#pragma once

#include "barrier.cuh"

// Tiles of edges of a portion; one with more is left to the general way, which takes more of them at once.
#define VYRE_QUICK_TURNS 8u
// Most rounds that CTA 0, or the first cluster, runs alone between two barriers.
#define VYRE_ALONE 256u
// Items that a CTA keeps for its own next round, and targets of each.
#define VYRE_KEPT 256u
#define VYRE_KEPT_TARGETS 4u
// In a barrier's word between rounds whose items stay where they were pushed: the count of pushes is below, of each CTA at
// most VYRE_MANY_KEPT; above it how many CTAs want all items shared out anew.
#define VYRE_UNEVEN (1ull << 24)
#define VYRE_MANY_KEPT 16383u
// CTAs of a cluster at most.
#define VYRE_CLUSTER_MOST 16u
// In what a warp tells its cluster: what it pushed is below; this, if there is something to say that is not told here.
#define VYRE_SPECIAL (1u << 16)

__device__ __forceinline__ uint2 load_shared_word(u32 address) {
    uint2 x;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x.x), "=r"(x.y) : "r"(address));
    return x;
}
__device__ __forceinline__ uint4 load_shared_entry(u32 address) {
    uint4 x;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "r"(address));
    return x;
}

// Writes rows of uniforms and literals that a kernel's quick code reads, for a warp that takes part, when its uniforms are
// staged.
__device__ __forceinline__ void fill_quick(const Kernel& kernel, u32 warp, u32 from, u32 to) {
    const u32 rows = shared_address(kernel.quick_shared) + warp * kernel.quick_rows * 128 + lane_id() * 4;
    const u32 uniforms = shared_address(kernel.uniforms_shared);
    for (u32 i = from; i < to; i++) {
        const u32 entry = *table<u32>(image().lists, kernel.quick_fills + 2 * i);
        u32 value = *table<u32>(image().lists, kernel.quick_fills + 2 * i + 1);
        if (entry >> 8 != VYRE_FILL_LITERAL)
            value = load_shared(uniforms + value * VYRE_UNIFORM_BYTES + (entry >> 8 == VYRE_FILL_HIGH ? 16 : 0));
        store_shared(rows + (entry & 255) * 128, value);
    }
    __syncwarp();
}

// All of them that stay as they are, when the pass begins, by all warps.
__device__ __noinline__ void fill_all_quick() {
    if (warp_id() >= image().quick_warps) return;
    for (u32 i = 0; i < image().kernel_count; i++) {
        const Kernel& kernel = *table<Kernel>(image().kernels, i);
        if (kernel.quick != 0) fill_quick(kernel, warp_id(), 0, kernel.quick_fill_count - kernel.quick_dynamic);
    }
}

// What a warp leaves behind when the general way has to do a portion of a round, and the trap that it met.
struct QuickWarp {
    u64 key;  // of the trap with the lowest one, or all ones
    u64 index;
    u64 len;
    u32 kind;
    u32 lane;
    u32 portion;  // the general way is to do the portion that starts here; VYRE_NONE: none is
    u32 bound;
    u32 turn;
    u32 done;
    u32 alone;
    u32 local;
    u32 side;
    u32 third;
    u32 unused[2];
    u32 phase;
    u32 flags;
};
__shared__ QuickWarp vyre_quick_warps[VYRE_WARPS];

// What the warps of a CTA share.
struct Quick {
    uint4 rows;                     // where, from a lane's place in row 0, its item's index, source, destination and number go
    uint4 rounds;                   // the same of the round, and of that plus a literal; the literal; the round before
    uint4 edges;                    // addresses of targets and of offsets
    u64 word;                       // of the barrier before narrow rounds, and after them of the last
    u64 seen[VYRE_BARRIER_WORDS];   // what barriers passed said, by phase
    u32 alone[VYRE_BARRIER_WORDS];  // rounds that CTA 0 ran alone before
    u32 left;                       // rounds before the limit
    u32 limit;                      // items of the largest round that is narrow
    u32 abort;
    u32 special;                    // something happened that the barrier's word has to tell
    u32 kept[2];                    // items of a side
    u32 side;                       // the frontier's, before
    u32 third;
    u32 stamp;
    u32 base;                       // its own address
    u32 fanned;                     // logarithm of the lanes of an item, of which a warp takes so many
    u32 each;
    u32 frontiers;                  // address of the table of frontiers, and of what the warps leave behind
    u32 warps;
    u32 fits;                       // the same if there were clusters
    u32 back;                       // rounds of no more items leave what the CTAs keep for a smaller scope
    u32 orders;                     // VYRE_QUICK_WRITES, VYRE_QUICK_READS: what barriers between two rounds have to order
    uint4 limits;                   // items of the largest round that a cluster holds, or 0; that a CTA's warps take at once then;
                                    // rounds before the limit; items of a warp
    uint4 code;                     // addresses of code: what a tile begins with, first words, those without it; the width of that
    uint4 kept_items[2][VYRE_KEPT];    // node, and its range of edges, by side
    uint4 kept_targets[2][VYRE_KEPT];  // of its first edges
};
__shared__ Quick vyre_quick;
// Where a cluster's warps meet after a round: what the warps of each CTA pushed, and the CTA's own barrier, in two rounds' turns.
struct Gathering {
    u32 told[2][VYRE_CLUSTER_MOST];
    // In turn: who is through with one may arrive at the other before the last arrival at the first is here.
    u64 meetings[2];
    // Where the CTA's warps join before.
    u64 join;
};
__shared__ Gathering vyre_gathering;

__device__ __forceinline__ u32 quick_address(const void* at) { return static_cast<u32>(__cvta_generic_to_shared(at)); }

template <class T>
__device__ __forceinline__ T& in_shared(u32 address) {
    return *static_cast<T*>(__cvta_shared_to_generic(address));
}

// Where the warp's stash is, loaded each time so that no register keeps it.
__device__ __forceinline__ u32 quick_stash() {
    return shared_address(load_shared(quick_address(&image().stash_shared))) + warp_id() * load_shared(quick_address(&image().stash_bytes));
}

__device__ __forceinline__ u32 kept_address(u32 base, u32 side, u32 slot) {
    return base + static_cast<u32>(offsetof(Quick, kept_items)) + (side * VYRE_KEPT + slot) * 16;
}

__device__ __forceinline__ u32 kept_target(u32 base, u32 side, u32 slot) {
    return base + static_cast<u32>(offsetof(Quick, kept_targets)) + (side * VYRE_KEPT + slot) * 16;
}

__device__ __forceinline__ u32 load_shared_volatile(const u32* at) { return *static_cast<const volatile u32*>(at); }

// The same value, of which the compiler does not know that.
__device__ __forceinline__ u32 again(u32 x) {
    u32 y;
    asm volatile("mov.u32 %0, %1;" : "=r"(y) : "r"(x));
    return y;
}

// All bits the highest one of a byte.
template <u32 BYTE>
__device__ __forceinline__ u32 sign_of_byte(u32 x) {
    u32 mask;
    asm("prmt.b32 %0, %1, %1, %2;" : "=r"(mask) : "r"(x), "n"(0x8888 + BYTE * 0x1111));
    return mask;
}

__device__ __forceinline__ void store_shared_entry(u32 address, uint4 x) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w));
}

// The element of a place that the host lists, not waited for; `outside`: the buffer has none there.
template <class T>
__device__ __forceinline__ T quick_ask(uint2 slot, u32 mask, u32 i, bool& outside) {
    const uint4 buffer = load_shared_entry(slot.x);
    const bool wanted = mask != 0 && (slot.y & VYRE_SLOT_USED) != 0, ok = wanted && i < buffer.z;
    outside |= wanted && !ok;
    return load_relaxed_if<T>(ok, JOIN(buffer.x, buffer.y) + i * U64(sizeof(T)));
}
__device__ __forceinline__ void quick_keep(u32 at, u32 x) { store_shared(at, x); }
__device__ __forceinline__ void quick_keep(u32 at, u64 x) {
    store_shared(at, U32(x));
    store_shared(at + 128, U32(x >> 32));
}
// Loads what the words of a tile would load from the places of its items, all of it at once; whether a buffer has no such
// element, so that the words have to do it, one after another.
template <class T>
__device__ __forceinline__ bool quick_begin_tile(u32 at, u32 regs, u32 mask, u32 edge, u32 src, u32 target) {
    bool outside = false;
    const uint2 first = load_shared_word(at), second = load_shared_word(at + 16), third = load_shared_word(at + 32),
                fourth = load_shared_word(at + 48);
    const T a = quick_ask<T>(first, mask, (first.y & VYRE_SLOT_EDGE) != 0 ? edge : src, outside);
    const T b = quick_ask<T>(second, mask, (second.y & VYRE_SLOT_EDGE) != 0 ? edge : src, outside);
    const T c = quick_ask<T>(third, mask, target, outside);
    const T d = quick_ask<T>(fourth, mask, target, outside);
    outside = __any_sync(VYRE_FULL, outside);
    quick_keep(regs + (first.y & 0xffff), a);
    quick_keep(regs + (second.y & 0xffff), b);
    quick_keep(regs + (third.y & 0xffff), c);
    quick_keep(regs + (fourth.y & 0xffff), d);
    return outside;
}

// Whether this CTA has met a trap, by a whole warp.
__device__ __forceinline__ bool quick_stops() {
    return vyre_state.trapped != 0 || __any_sync(VYRE_FULL, vyre_quick_warps[lane_id()].key != ~0ull);
}

// What the CTAs told in a round of the cluster.
__device__ __forceinline__ u32 told_address(u32 round) { return quick_address(&vyre_gathering.told[round & 1]); }

// Before any of a cluster's rounds.
__device__ __forceinline__ void begin_gathering() {
    if (threadIdx.x < 2) init_meeting(quick_address(&vyre_gathering.meetings[threadIdx.x]), 1);
    if (threadIdx.x == 2) init_meeting(quick_address(&vyre_gathering.join), image().quick_warps);
}

// Item number `i` of all that the cluster's CTAs keep after a round, for the lanes with `some`.
__device__ __noinline__ uint4 gathered_entry(u32 side, u32 round, u32 i, bool some) {
    const u32 lane = lane_id(), ctas = vyre_state.cluster;
    u32 sum = lane < ctas ? load_shared(told_address(round) + lane * 4) : 0;
    for (u32 step = 1; step < VYRE_CLUSTER_MOST; step <<= 1) {
        const u32 below = __shfl_up_sync(VYRE_FULL, sum, step);
        if (lane >= step) sum += below;
    }
    u32 rank = 0, before = 0;
    for (u32 cta = 0; cta + 1 < ctas; cta++) {
        const u32 upto = __shfl_sync(VYRE_FULL, sum, cta);
        if (i >= upto) {
            rank = cta + 1;
            before = upto;
        }
    }
    uint4 entry = make_uint4(0, 0, 0, 0);
    if (some) entry = load_cluster_entry(cluster_address(kept_address(quick_address(&vyre_quick), side, i - before), rank));
    __syncwarp();
    return entry;
}

// Items of the largest round that is narrow.
__device__ __forceinline__ u32 quick_limit(const Frontier& f, const Wave& wave) {
    const u32 each = 1u << (31 - __clz(wave.narrow));
    return min(each * gridDim.x * VYRE_QUICK_WARPS / 2, min(f.capacity, f.ranges_len));
}

// Whether a cluster is to hold rounds that begin with a list of so many items.
__device__ __forceinline__ bool gathers(u32 items) { return items > vyre_quick.each && items <= vyre_quick.limits.x; }

// Rounds after the barrier just passed, by all CTAs of a launch together, until one is not of this kind. All warps are here,
// so that CTAs have one barrier only, but the first ones do the work.
// A warp leaves in the middle of a round when its `portion` says so, and goes on after it.
//
// What a CTA pushes it keeps for its own next round, in shared memory, so that nothing but the barrier lies between two
// rounds. When one CTA has too much, or the next round is not of this kind, all write theirs to the frontier's list, pass
// another barrier, and share out the list.
//
// A list that one portion holds is swept by a warp of CTA 0 alone, round after round without a barrier, while the others
// have arrived at the next one. It says how many rounds that were beside the barrier's word, and comes there after some in
// any case, so that the abort flag is looked at.
template <bool GATHERED>
__device__ __noinline__ void quick_rounds(const Step& step) {
    Frontier& f = *table<Frontier>(image().frontiers, step.carried);
    // Shuffled, so that they stay in registers: reading them again is slow.
    const u32 lane = lane_id(), warp = __shfl_sync(VYRE_FULL, warp_id(), 0);
#ifndef VYRE_HOLES
    u32 regs;
    {
        const Kernel& kernel = *table<Kernel>(image().kernels, vyre_state.kernel);
        regs = shared_address(kernel.quick_shared) + warp * kernel.quick_rows * 128 + lane * 4;
    }
#endif
    // Loaded, so that it stays in a register.
    const u32 base = load_shared(quick_address(&vyre_quick.base)), cta = __shfl_sync(VYRE_FULL, blockIdx.x, 0);
    Quick& quick = in_shared<Quick>(base);
    QuickWarp& mine = in_shared<QuickWarp>(load_shared(base + offsetof(Quick, warps)) + warp * sizeof(QuickWarp));
    u32 done = 0, local = 0, alone = 0, turn = 0, bound, first, node, begin, end, total, place, group;
    u32 side = vyre_quick.side, third = vyre_quick.third, phase = vyre_state.phase;
    // Whether all items are in the list; whether this round's were; whether CTA 0 is alone.
    bool listed = true, from_list = true, solo = false, shared;
    // Whether the first cluster shares out anew what its CTAs keep; the warp that speaks for the CTA there, as it has items more
    // rarely than others; who it speaks to.
    bool spread = false;
    const bool last = GATHERED && warp == image().quick_warps - 1, told_to = GATHERED && lane < vyre_state.cluster;
    // Rounds of the cluster before.
    u32 met = GATHERED ? vyre_state.gathered : 0;
    u64 seen = vyre_quick.word, word_out = 0;
    first = mine.portion;
    if (first != VYRE_NONE) {
        bound = mine.bound;
        turn = mine.turn;
        done = mine.done;
        alone = mine.alone;
        local = mine.local;
        side = mine.side;
        third = mine.third;
        phase = mine.phase;
        solo = (mine.flags & 1) != 0;
        from_list = (mine.flags & 2) != 0;
        if (GATHERED) spread = (mine.flags & 8) != 0;
        listed = false;
        __syncwarp();
        if (lane == 0) mine.portion = VYRE_NONE;
        __syncwarp();
        goto next_portion;
    }
    // All have read what they begin with.
    __syncthreads();
    for (;;) {
        {
            const u64 low = seen & (VYRE_ARRIVAL - 1);
            solo = false;
            if (low - 1 >= quick.limit || done >= quick.left) {
                if (listed || low == 0) break;
                goto flush;
            }
            turn = static_cast<u32>(low);
            if (GATHERED) {
                if (!gathers(turn)) break;
                third = after(third);
            } else if (listed) {
                if (gathers(turn)) break;
                solo = turn <= quick.each;
                third = after(third);
            } else if (turn <= quick.back) {
                goto flush;
            }
        }
        alone = 0;
        if ((GATHERED || solo) && cta >= (GATHERED ? vyre_state.cluster : 1)) {
            if (warp != 0) goto wait;
            word_out = VYRE_ARRIVAL;
            goto arrive;
        }
        spread = false;
        if (GATHERED && warp >= image().quick_warps) goto flushed;
        if (solo && warp != 0) goto wait;
    start_round:
        MARK(1);
        // The first portion's items are fetched; what else a round begins with is done while they are on their way.
        from_list = listed;
        listed = false;
        node = begin = end = 0;
        if (from_list) {
            bound = turn;
            first = solo ? 0 : (warp * (GATHERED ? vyre_state.cluster : gridDim.x) + cta) * quick.each;
            const u32 i = first + (lane >> load_shared(base + offsetof(Quick, fanned)));
            if (i < bound) {
                node = load_global(f.items[side] + i * 4ull);
                load_range(f.ranges[side] + i * 8ull, begin, end);
            }
        } else if (GATHERED && spread) {
            bound = turn;
            first = (warp * vyre_state.cluster + cta) * quick.each;
            const u32 i = first + (lane >> load_shared(base + offsetof(Quick, fanned)));
            const uint4 item = gathered_entry(side, met + alone - 1, i, i < bound);
            node = item.x;
            begin = item.y;
            end = item.z;
        } else {
            if (!GATHERED) bound = solo ? turn : min(load_shared_volatile(&quick.kept[side]), VYRE_KEPT);
            first = solo ? 0 : warp * quick.each;
            const u32 i = first + (lane >> load_shared(base + offsetof(Quick, fanned)));
            if (i < bound) {
                const uint4 item = load_shared_entry(kept_address(base, side, i));
                node = item.x;
                begin = item.y;
                end = item.z;
            }
        }
        done++;
        WIDTH(turn);
        if ((cta | lane) == 0 && (GATHERED ? last : warp == 0)) {
            vyre_state.items += turn;
            vyre_state.widest = max(static_cast<u32>(vyre_state.widest), turn);
            if (GATHERED || (!solo && turn <= quick.fits)) vyre_state.fitting++;
            if (from_list) {
                store_relaxed64(f.counters + after(third) * 128, 0);
                store_relaxed64(f.hub_counters + after(third) * 128, 0);
            }
        }
        local = 0;
        side ^= 1;
        if (GATHERED) {
            if (last && lane == 0) {
                quick.kept[side ^ 1] = 0;
                arrive_meeting(quick_address(&vyre_gathering.meetings[(met + alone) & 1]),
                               vyre_state.cluster * 4);
            }
        } else if (warp >= VYRE_QUICK_WARPS) {
            goto swept;
        }
#ifndef VYRE_HOLES
        {
            const uint4 rounds = load_shared_entry(quick_address(&quick.rounds));
            const u32 now = rounds.w + done;
            store_shared(regs + rounds.x, now);
            store_shared(regs + rounds.y, now + rounds.z);
        }
#endif
        MARK(2);
        while (first < bound) {
            LOADED(node + begin + end);
            group = 1u << load_shared(base + offsetof(Quick, fanned));
            MARK(3);
            // An item with few edges has lanes for all of them. Otherwise the portion's edges are shared out, as `expand`
            // does; `place`: of the item's first edge among them, or past all for what has none and lanes but an item's first.
            total = 32;
            place = VYRE_NONE;
            shared = __any_sync(VYRE_FULL, end - begin > group);
            if (shared) {
                const u32 stash = quick_stash(), degree = end - begin;
                u32 sum = degree;
                for (u32 step = group; step < 32; step <<= 1) {
                    const u32 below = __shfl_up_sync(VYRE_FULL, sum, step);
                    if (lane >= step) sum += below;
                }
                total = __shfl_sync(VYRE_FULL, sum, 31);
                const bool some = degree != 0 && (lane & (group - 1)) == 0;
                const u32 rank = __popc(__ballot_sync(VYRE_FULL, some) & ((1u << lane) - 1));
                if (some) {
                    place = sum - degree;
                    store_shared64(stash + rank * 8, static_cast<u64>(begin - place) << 32 | node);
                }
                __syncwarp();
            }
            if (total > VYRE_QUICK_TURNS * 32) {
                if (lane == 0) {
                    mine.portion = first;
                    mine.bound = bound;
                    mine.turn = turn;
                    mine.done = done;
                    mine.alone = alone;
                    mine.local = local;
                    mine.side = side;
                    mine.third = third;
                    mine.phase = phase;
                    mine.flags = (solo ? 1 : 0) | (from_list ? 2 : 0) | (spread ? 8 : 0);
                    // The same of all warps of the CTA.
                    f.side = side;
                    f.third = third;
                    f.stamp = quick.stamp + done;
                    quick.special = 1;
                }
                __syncwarp();
                return;
            }
            for (u32 tile = 0; tile < total; tile += 32) {
                // Loaded here too, or else what follows from it would be kept in local memory.
                const u32 fanned = load_shared(base + offsetof(Quick, fanned)), of_item = lane & ((1u << fanned) - 1);
                u32 edge = begin + of_item, src = node, mask = edge < end;
                if (shared) {
                    const u32 starts = __reduce_or_sync(VYRE_FULL, place - tile < 32 ? 1u << (place - tile) : 0u);
                    const u32 owner = __popc(__ballot_sync(VYRE_FULL, place < tile)) + __popc(starts & (((1u << lane) - 1) << 1 | 1u)) - 1;
                    const u64 item = load_shared64(quick_stash() + owner * 8);
                    src = static_cast<u32>(item);
                    edge = static_cast<u32>(item >> 32) + tile + lane;
                    mask = tile + lane < total;
                }
#ifndef VYRE_HOLES
                const uint4 places = load_shared_entry(base + offsetof(Quick, code));
#endif
                const u32 now_side = again(side);
                u32 target = 0, ahead = 0, ahead_end = 0;
                const uint4 edges = load_shared_entry(base + offsetof(Quick, edges));
#ifndef VYRE_HOLES
                u32 alive = mask, stack = 0, at = places.y;
                const uint4 rows = load_shared_entry(base + offsetof(Quick, rows));
                // Each time: words may reuse the rows of an item.
                store_shared(regs + rows.x, edge);
                store_shared(regs + rows.w, edge);
                store_shared(regs + rows.y, src);
#endif
                {
                    const bool known = !from_list && !solo && !shared && !(GATHERED && spread) && of_item < VYRE_KEPT_TARGETS;
                    if (mask != 0) {
                        if (known)
                            target = load_shared(kept_target(base, now_side ^ 1, first + (lane >> fanned)) + of_item * 4);
                        else
                            target = load_topology(JOIN(edges.x, edges.y), edge);
                    }
                }
                // The edges of the edge's other end, which is what is pushed as a rule, are asked for, and what the words load from
                // places that are known here, all at once.
                ahead = load_topology_if(mask != 0, JOIN(edges.z, edges.w), target, 0);
                ahead_end = load_topology_if(mask != 0, JOIN(edges.z, edges.w), target + 1ull, 0);
#ifndef VYRE_HOLES
                if (places.w != 0 && (places.w == 1 ? quick_begin_tile<u32>(places.x, regs, mask, edge, src, target)
                                                    : quick_begin_tile<u64>(places.x, regs, mask, edge, src, target)))
                    at = places.z;
                store_shared(regs + rows.z, target);
#endif
                MARK(4);
#ifdef VYRE_HOLES
#include "quick_hole.cuh"
#else
#include "quick_words.cuh"
#endif
#ifndef VYRE_HOLES
            tile_done:
#endif
                MARK(29);
            }
        next_portion:
            // Its warps take all that a cluster holds at once.
            if (GATHERED) break;
            first += solo ? quick.each : from_list ? quick.each * VYRE_QUICK_WARPS * gridDim.x : quick.each * VYRE_QUICK_WARPS;
            node = begin = end = 0;
            {
                const u32 i = first + (lane >> load_shared(base + offsetof(Quick, fanned)));
                if (i < bound) {
                    if (from_list) {
                        node = load_global(f.items[side ^ 1] + i * 4ull);
                        load_range(f.ranges[side ^ 1] + i * 8ull, begin, end);
                    } else {
                        const uint4 item = load_shared_entry(kept_address(base, side ^ 1, i));
                        node = item.x;
                        begin = item.y;
                        end = item.z;
                    }
                }
            }
        }
    swept:
        if (solo) {
            alone++;
            turn = local;
            __syncwarp();
            if (load_shared_volatile(&quick.special) == 0 && local - 1 < min(quick.each, quick.limit) &&
                done < quick.left && alone < VYRE_ALONE)
                goto start_round;
            goto flush;
        }
        if constexpr (GATHERED) {
            // The CTA's warps join; one tells all CTAs of the cluster how much they pushed. A fence costs as much as all the rest,
            // and where the code's only writes are exchanges, whose results are here, there is nothing that it would order.
            const u32 round = met + alone, told = told_address(round),
                      meeting = quick_address(&vyre_gathering.meetings[round & 1]);
            wait_loads();
            __syncwarp();
            if (lane == 0) arrive_here(quick_address(&vyre_gathering.join));
            MARK(24);
            const u32 orders = quick.orders;
            if (last) {
                for (u32 turns = 0; !join_over(quick_address(&vyre_gathering.join), round & 1); turns++)
                    if (turns >> 28 != 0) asm volatile("trap;");
                __syncwarp();
                MARK(25);
                const u32 says = load_shared_volatile(&quick.kept[side]) +
                                 (load_shared_volatile(&quick.special) != 0 ? VYRE_SPECIAL : 0);
                if (told_to) {
                    if ((orders & VYRE_QUICK_WRITES) != 0) tell_before();
                    tell(cluster_address(told + cta * 4, lane), says, cluster_address(meeting, lane));
                }
                __syncwarp();
                MARK(26);
            }
            for (u32 turns = 0; !((orders & VYRE_QUICK_READS) != 0 ? meeting_over(meeting, round >> 1 & 1)
                                                                  : join_over(meeting, round >> 1 & 1));
                 turns++)
                if (turns >> 28 != 0) asm volatile("trap;");
            __syncwarp();
            MARK(27);
            const uint4 limits = load_shared_entry(quick_address(&quick.limits));
            const u32 pushed = told_to ? load_shared(told + lane * 4) : 0;
            turn = __reduce_add_sync(VYRE_FULL, pushed);
            spread = __any_sync(VYRE_FULL, pushed > limits.y);
            bound = __shfl_sync(VYRE_FULL, pushed, cta);
            alone++;
            if (turn - 1 < limits.x && turn * 4 > limits.w && done < limits.z && alone < VYRE_ALONE) goto start_round;
            goto flush;
        }
        // The loads of a next portion that there is not may have left the lanes apart.
        __syncwarp();
        __syncthreads();
        if (warp != 0) goto wait;
        {
            const u32 kept = quick.kept[side];
            word_out = VYRE_ARRIVAL + min(kept, VYRE_MANY_KEPT);
            if (kept > VYRE_QUICK_WARPS * quick.each) word_out += VYRE_UNEVEN;
            if (load_shared_volatile(&quick.special) != 0) {
                const u32 spilled = f.local;
                // What had no room here is counted in both.
                word_out = VYRE_ARRIVAL + min(min(kept, VYRE_KEPT) + spilled, VYRE_MANY_KEPT) + VYRE_UNEVEN;
                if (f.attention != 0) word_out += VYRE_ATTENTION;
                if (quick_stops()) word_out |= VYRE_STOP;
            }
        }
        goto arrive;
    // What is kept goes to the list; when CTA 0 was alone, by its warp.
    flush:
        {
            const u32 count = min(solo ? local : load_shared_volatile(&quick.kept[side]), VYRE_KEPT);
            const u64 items = f.items[side], ranges = f.ranges[side];
            const u32 warps = solo ? 1 : GATHERED ? image().quick_warps : cta_warps();
            for (u32 from = solo ? 0 : warp * 32; from < count; from += warps * 32) {
                u32 slot = 0;
                if (lane == 0) slot = static_cast<u32>(atomic_add64(f.counters + third * 128, min(count - from, 32u)));
                slot = __shfl_sync(VYRE_FULL, slot, 0) + lane;
                if (from + lane < count && slot < f.capacity) {
                    const uint4 item = load_shared_entry(kept_address(base, side, from + lane));
                    store_global(items + slot * 4ull, item.x);
                    if (slot < f.ranges_len) store_range(ranges + slot * 8ull, item.y, item.z);
                    if (item.z - item.y > VYRE_HUB_EDGES) {
                        const u64 counter = f.hub_counters + third * 128;
                        if (load_relaxed64(counter) >> 40 < f.hubs_len) {
                            const u64 old = atomic_add64(counter, (1ull << 40) + (item.z - item.y - 1) / VYRE_HUB_EDGES + 1);
                            if (old >> 40 < f.hubs_len) {
                                const u64 hub = f.hubs[side] + (old >> 40) * 16;
                                store_range(hub, item.x, static_cast<u32>(old));
                                store_range(hub + 8, item.y, item.z);
                            }
                        }
                    }
                }
                __syncwarp();
            }
        }
    flushed:
        if (!solo) __syncthreads();
        listed = true;
        if (warp != 0) goto wait;
        {
            __syncwarp();
            const u32 count = min(solo ? local : load_shared_volatile(&quick.kept[side]), VYRE_KEPT);
            word_out = VYRE_ARRIVAL + count + (f.local_high != 0 ? 1ull << 32 : static_cast<u64>(f.local));
            if (f.attention != 0) word_out += VYRE_ATTENTION;
            if (quick_stops()) word_out |= VYRE_STOP;
            __syncwarp();
            if (lane == 0) {
                quick.kept[side] = 0;
                f.local = f.local_high = 0;
                quick.special = 0;
            }
        }
    arrive:
        MARK(20);
        {
            const u64 at = VYRE_CONTROL(barrier) + phase * 128, before = vyre_passed[phase];
            // Between two rounds nothing but the count passes, as in a cluster; a list and all that ends the rounds are ordered.
            const bool orders = GATHERED || solo || listed || quick.orders != 0;
            __syncwarp();
            if (lane == 0) {
                if (cta == 0) {
                    if (GATHERED || solo) store_relaxed64(at + 8, alone);
                    if (quick.abort != 0) word_out |= VYRE_STOP;
                }
                if (orders || (word_out & VYRE_STOP) != 0)
                    add_release64(at, told(at, word_out));
                else
                    add_relaxed64(at, word_out);
                MARK(21);
                quick.kept[side ^ 1] = 0;
                if (cta == 0) quick.abort = look();
            }
            // All lanes wait, as in `grid_barrier`.
            if (GATHERED ? cta >= vyre_state.cluster : solo && cta != 0) {
                while (load_relaxed64(at) - before >> VYRE_ARRIVAL_BIT != gridDim.x) __nanosleep(40);
                seen = load_acquire64(at) - before;
                alone = static_cast<u32>(load_relaxed64(at + 8));
            } else {
                do {
                    seen = (orders ? load_acquire64(at) : load_relaxed64(at)) - before;
                } while (seen >> VYRE_ARRIVAL_BIT != gridDim.x);
            }
            const u64 passed = before + seen;
            // Where nothing is ordered, the next barrier says again that the run is to stop.
            seen = heard(at, seen);
            if (lane == 0) {
                vyre_passed[phase] = passed;
                quick.seen[phase] = seen;
                quick.alone[phase] = alone;
                if (GATHERED) vyre_state.gathered += alone;
                MARK(22);
            }
        }
        __syncwarp();
    wait:
        wait_loads();
        __syncthreads();
        seen = quick.seen[phase];
        if (GATHERED) met = vyre_state.gathered;
        if (GATHERED || solo) {
            if (GATHERED ? cta >= vyre_state.cluster || warp >= image().quick_warps : cta != 0 || warp != 0) {
                alone = quick.alone[phase];
                done += alone;
                side ^= alone & 1;
            }
            listed = true;
        }
        phase = after(phase);
        MARK(23);
    }
    // All have read what comes to an end.
    __syncthreads();
    if (warp == 0) {
        if (lane == 0 && done != 0) {
            Fixpoint& fixpoint = *table<Fixpoint>(image().fixpoints, step.id);
            fixpoint.round += done;
            fixpoint.rounds += done;
            f.local = 0;
            f.side = side;
            f.third = third;
            f.stamp = quick.stamp + done;
            vyre_state.sweeps += done;
        }
        if (lane == 0) {
            // What comes may read all that was written.
            if (!listed) acquire_fence();
            vyre_state.phase = phase;
            quick.word = seen;
            // For the other scope.
            quick.left -= done;
            quick.limits.z = quick.left;
            quick.rounds.w += done;
            quick.side = side;
            quick.third = third;
            quick.stamp += done;
        }
        __syncwarp();
    }
}

// Whether the rounds after a barrier are narrow.
__device__ __forceinline__ bool goes_narrow(const Step& step, u64 seen) {
    const Kernel& kernel = *table<Kernel>(image().kernels, vyre_state.kernel);
    // One CTA passes the other barriers without their words, which would be left from narrow rounds before.
    if (vyre_state.ctas != gridDim.x || gridDim.x == 1) return false;
    if (kernel.quick == 0 || kernel.warps < VYRE_QUICK_WARPS) return false;
    const Fixpoint& fixpoint = *table<Fixpoint>(image().fixpoints, step.id);
    const u32 limit = quick_limit(*table<Frontier>(image().frontiers, step.carried), *table<Wave>(image().waves, vyre_state.wave));
    return (seen & (VYRE_ARRIVAL - 1)) - 1 < limit && fixpoint.round + 1 < fixpoint.max_rounds;
}

// Before narrow rounds, by the control warp: what all warps that take part need.
__device__ __noinline__ void begin_narrow(const Step& step, u64 seen, u32 abort) {
    const Kernel& kernel = *table<Kernel>(image().kernels, vyre_state.kernel);
    vyre_quick_warps[lane_id()].portion = VYRE_NONE;
    vyre_quick_warps[lane_id()].key = ~0ull;
    if (lane_id() == 0) {
        const Fixpoint& fixpoint = *table<Fixpoint>(image().fixpoints, step.id);
        Frontier& f = *table<Frontier>(image().frontiers, step.carried);
        const Wave& wave = *table<Wave>(image().waves, vyre_state.wave);
        const Topology& topology = *table<Topology>(image().topologies, wave.topology);
        // Who watches is told between stretches of rounds.
        const u32 warps = image().quick_warps;
        vyre_quick.left = static_cast<u32>(
            min(fixpoint.max_rounds - fixpoint.round - 1, image().progress != 0 ? 1024ull : 1ull << 31));
        vyre_quick.limit = quick_limit(f, wave);
        vyre_quick.edges = make_uint4(U32(topology.targets), U32(topology.targets >> 32), U32(topology.offsets),
                                      U32(topology.offsets >> 32));
        vyre_quick.rows =
            make_uint4(kernel.quick_index * 128, kernel.quick_src * 128, kernel.quick_dst * 128, kernel.quick_item * 128);
        vyre_quick.rounds =
            make_uint4(kernel.quick_round * 128, kernel.quick_next * 128, kernel.quick_addend, U32(fixpoint.round));
        vyre_quick.base = quick_address(&vyre_quick);
        vyre_quick.fanned = __clz(wave.narrow) - 26;
        vyre_quick.each = 1u << (31 - __clz(wave.narrow));
        // As many as the cluster's warps take at once. Other warps than those of wider rounds may have no registers to interpret.
        const bool gathers = vyre_state.cluster > 1 && kernel.warps >= warps;
        vyre_quick.fits = kernel.warps >= warps ? min(vyre_quick.limit, VYRE_CLUSTER * vyre_quick.each * warps) : 0;
        vyre_quick.limits = make_uint4(gathers ? min(vyre_quick.limit, vyre_state.cluster * vyre_quick.each * warps) : 0,
                                       vyre_quick.each * warps, vyre_quick.left, vyre_quick.each);
        vyre_quick.back = gathers ? vyre_quick.limits.x / 2 : vyre_quick.each / 4;
        vyre_quick.frontiers = shared_address(image().frontiers);
        vyre_quick.warps = quick_address(vyre_quick_warps);
        const u32 code = shared_address(kernel.quick);
        // Pushes to frontiers that nobody sums up are read right after the last round.
        vyre_quick.orders = kernel.quick_slots & (VYRE_QUICK_WRITES | VYRE_QUICK_READS);
        if (step.pushed_count > 1 && image().looked_count == 0) vyre_quick.orders |= VYRE_QUICK_WRITES;
        vyre_quick.code = make_uint4(code, code + kernel.quick_begins * 16, code + kernel.quick_plain * 16, kernel.quick_slots & 255);
        vyre_quick.word = seen;
        vyre_quick.abort = abort;
        vyre_quick.special = vyre_quick.kept[0] = vyre_quick.kept[1] = 0;
        vyre_quick.side = f.side;
        vyre_quick.third = f.third;
        vyre_quick.stamp = f.stamp;
        f.local = f.local_high = 0;
    }
#ifndef VYRE_HOLES
    for (u32 warp = 0; warp < image().quick_warps; warp++)
        fill_quick(kernel, warp, kernel.quick_fill_count - kernel.quick_dynamic, kernel.quick_fill_count);
    // The first time, places of entries become addresses.
    const u32 code = shared_address(kernel.quick);
    const bool placed = load_shared(code + 12) != 0;
    __syncwarp();
    for (u32 i = placed ? ~0u : lane_id(); i < (kernel.quick_slots >> 8 & 0xffff); i += 32) {
        const u32 at = code + i * 16 + (i < 4 ? 0 : 12);
        if (i < 4 || (load_shared(code + i * 16) & VYRE_QUICK_PLACED) != 0) store_shared(at, shared_address(load_shared(at)));
        if (i == 0) store_shared(code + 12, 1);
    }
#endif
    __syncwarp();
}

// Narrow rounds with what they leave to the general way, by the warps that take part.
__device__ __noinline__ void run_narrow() {
    const Step& step = *table<Step>(image().steps, vyre_state.pc);
    const QuickWarp& mine = vyre_quick_warps[warp_id()];
    bool gathered = gathers(static_cast<u32>(vyre_quick.word & (VYRE_ARRIVAL - 1)));
    for (;;) {
        if (gathered)
            quick_rounds<true>(step);
        else
            quick_rounds<false>(step);
        const u32 first = mine.portion;
        if (first == VYRE_NONE) {
            // The other scope goes on, or none.
            __syncthreads();
            const u64 low = vyre_quick.word & (VYRE_ARRIVAL - 1);
            if (low - 1 >= vyre_quick.limit || vyre_quick.left == 0) break;
            gathered = gathers(static_cast<u32>(low));
            continue;
        }
        // Items with many edges: the warp shares out the edges.
        const Frontier& f = *table<Frontier>(image().frontiers, step.carried);
        const Wave& wave = *table<Wave>(image().waves, vyre_state.wave);
        const Kernel& kernel = *table<Kernel>(image().kernels, vyre_state.kernel);
        const u32 each = 1u << (31 - __clz(wave.narrow)), side = f.side ^ 1, i = first + lane_id();
        u32 node = 0, begin = 0, end = 0;
        if (lane_id() < each && i < mine.bound) {
            if ((mine.flags & 2) != 0) {
                node = load_global(f.items[side] + i * 4ull);
                load_range(f.ranges[side] + i * 8ull, begin, end);
            } else if ((mine.flags & 8) == 0) {
                const uint4 item = load_shared_entry(kept_address(quick_address(&vyre_quick), side, i));
                node = item.x;
                begin = item.y;
                end = item.z;
            }
        }
        if ((mine.flags & 8) != 0) {
            const bool some = lane_id() < each && i < mine.bound;
            const uint4 item = gathered_entry(side, vyre_state.gathered + mine.alone - 1, i, some);
            node = item.x;
            begin = item.y;
            end = item.z;
        }
        const u32 round = vyre_quick.rounds.w + mine.done;
        each_lane(kernel.dynamic_count, [&](u32 i) {
            if (is_round(kernel, *table<u32>(image().lists, kernel.dynamic + i)))
                stage(kernel, *table<u32>(image().lists, kernel.dynamic + i), round);
        });
        __syncwarp();
        expand(table<Topology>(image().topologies, wave.topology)->targets, node, begin, end - begin, each);
        __syncwarp();
    }
}

// After narrow rounds, by the control warp; returns the word of the first barrier whose round is not of this kind.
__device__ __noinline__ u64 end_narrow(const Step& step) {
    const u64 seen = vyre_quick.word;
    // CTA 0 may have said so.
    if (vyre_quick.abort != 0) note_abort();
    for (u32 warp = 0; warp < image().quick_warps; warp++) {
        const QuickWarp& of = vyre_quick_warps[warp];
        if (lane_id() == 0 && of.key != ~0ull) raise(of.key, of.kind, of.index, of.len);
    }
    __syncwarp();
    if (image().looked_count == 0) return seen;
    // Frontiers that others sweep: all counts of their pushes are final until everybody has passed one more barrier.
    const u32 phase = vyre_state.phase;
    if (blockIdx.x == 0) {
        each_lane(image().looked_count, [&](u32 i) {
            store_relaxed64(
                sum_address(*table<Frontier>(image().frontiers, *table<u32>(image().lists, image().looked + i)), phase), 0);
        });
    }
    const u32* entries = table<u32>(image().lists, step.pushed) + 3;
    each_lane(max(step.pushed_count, 1u) - 1, [&](u32 i) {
        Frontier& other = *table<Frontier>(image().frontiers, entries[i * 3]);
        other.local = other.local_high = 0;
        other.pushed = load_relaxed64(other.counters + other.third * 128);
    });
    __syncwarp();
    u32 abort = vyre_quick.abort;
    grid_barrier(0, abort);
    if (lane_id() == 0) vyre_quick.abort = abort;
    __syncwarp();
    return seen;
}
