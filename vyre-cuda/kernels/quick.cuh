// Narrow rounds: those of a plain fixpoint whose frontier is so small that a few warps of all CTAs hold it.
//
// What such a round costs is the length of one warp's chain of instructions, five cycles each, and not memory: so nothing
// here is general. The host translates the wave's code so that every operand is a row of one file in shared memory (of
// registers, uniforms and literals alike), a conditional push is one word, and resources are named by where their entries
// are. Each item has a group of lanes of its own. The round's state stays in registers, and nothing is called: with
// calls, the compiler keeps state on the stack, whose cache lines every acquire drops. What is rare leaves the function and
// comes back.
#pragma once

#include "operators.cuh"

// Tiles of edges of a portion; one with more is left to the general way, which takes more of them at once.
#define VYRE_QUICK_TURNS 8u
// Most rounds that CTA 0 runs alone between two barriers.
#define VYRE_ALONE 256u
// Items that a CTA keeps for its own next round.
#define VYRE_KEPT 128u
// In a barrier's word between rounds whose items stay where they were pushed: the count of pushes is below, of each CTA at
// most 65535; above it how many CTAs want all items shared out anew.
#define VYRE_UNEVEN (1ull << 24)

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
    u32 abort;
    u32 local;
    u32 side;
    u32 third;
    u32 stamp;
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
    u64 seen[VYRE_BARRIER_WORDS];   // words of barriers passed, by phase
    u32 alone[VYRE_BARRIER_WORDS];  // rounds that CTA 0 ran alone before
    u32 left;                       // rounds before the limit
    u32 limit;                      // items of the largest round that is narrow
    u32 abort;
    u32 special;                    // something happened that the barrier's word has to tell
    u32 kept[2];                    // items of a side
    u32 side;                       // the frontier's, before
    u32 third;
    u32 stamp;
};
__shared__ Quick vyre_quick;
// Node, and its range of edges, by side.
__shared__ uint4 vyre_kept[2][VYRE_KEPT];

__device__ __forceinline__ u32 quick_address(const void* at) { return static_cast<u32>(__cvta_generic_to_shared(at)); }

// Where the warp's stash is, loaded each time so that no register keeps it.
__device__ __forceinline__ u32 quick_stash() {
    return shared_address(load_shared(quick_address(&image().stash_shared))) + warp_id() * VYRE_STASH_BYTES;
}

__device__ __forceinline__ u32 kept_address(u32 side, u32 slot) {
    return static_cast<u32>(__cvta_generic_to_shared(&vyre_kept[side][slot]));
}

__device__ __forceinline__ u32 load_shared_volatile(const u32* at) { return *static_cast<const volatile u32*>(at); }

__device__ __forceinline__ void store_shared_entry(u32 address, uint4 x) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w));
}

// Whether this CTA has met a trap.
__device__ __forceinline__ bool quick_stops() {
    bool stops = vyre_state.trapped != 0;
    for (u32 i = 0; i < VYRE_QUICK_WARPS; i++) stops |= vyre_quick_warps[i].key != ~0ull;
    return stops;
}

// Items of the largest round that is narrow.
__device__ __forceinline__ u32 quick_limit(const Frontier& f, const Wave& wave) {
    const u32 each = 1u << (31 - __clz(wave.narrow));
    return min(each * gridDim.x * VYRE_QUICK_WARPS / 2, min(f.capacity, f.ranges_len));
}

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
__device__ __noinline__ void quick_rounds(const Step& step) {
    Frontier& f = *table<Frontier>(image().frontiers, step.carried);
    const Kernel& kernel = *table<Kernel>(image().kernels, vyre_state.kernel);
    const u32 lane = lane_id(), warp = warp_id();
    QuickWarp& mine = vyre_quick_warps[warp];
    // Lanes of an item: a power of two.
    const u32 narrow = table<Wave>(image().waves, vyre_state.wave)->narrow;
    const u32 each = 1u << (31 - __clz(narrow)), group = 32 / each;
    const u32 regs = shared_address(kernel.quick_shared) + warp * kernel.quick_rows * 128 + lane * 4;
    const u32 code = shared_address(kernel.quick);
    const u32 start = code + kernel.quick_begins * 8;
    u32 done = 0, local = 0, alone = 0, turn = 0, bound, first, node, begin, end, total, place, abort = vyre_quick.abort;
    u32 side = vyre_quick.side, third = vyre_quick.third, stamp = vyre_quick.stamp, phase = vyre_state.phase;
    // Whether all items are in the list; whether this round's were; whether CTA 0 is alone.
    bool listed = true, from_list = true, solo = false, shared;
    u64 seen = vyre_quick.word, word_out = 0;
    first = mine.portion;
    if (first != VYRE_NONE) {
        bound = mine.bound;
        turn = mine.turn;
        done = mine.done;
        alone = mine.alone;
        abort = mine.abort;
        local = mine.local;
        side = mine.side;
        third = mine.third;
        stamp = mine.stamp;
        phase = mine.phase;
        solo = (mine.flags & 1) != 0;
        from_list = (mine.flags & 2) != 0;
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
            if (low - 1 >= vyre_quick.limit || done >= vyre_quick.left) {
                if (listed || low == 0) break;
                goto flush;
            }
            turn = static_cast<u32>(low);
            if (listed) {
                solo = turn <= each;
                third = after(third);
            } else if (turn * 4 <= each) {
                goto flush;
            }
        }
        alone = 0;
        if (solo && blockIdx.x != 0) {
            if (warp != 0) goto wait;
            word_out = VYRE_ARRIVAL;
            goto arrive;
        }
        if (solo && warp != 0) goto wait;
    start_round:
        MARK(1);
        // The first portion's items are fetched; what else a round begins with is done while they are on their way.
        from_list = listed;
        listed = false;
        node = begin = end = 0;
        if (from_list) {
            bound = turn;
            first = solo ? 0 : (warp * gridDim.x + blockIdx.x) * each;
            const u32 i = first + lane / group;
            if (i < bound) {
                node = load_global(f.items[side] + i * 4ull);
                load_range(f.ranges[side] + i * 8ull, begin, end);
            }
        } else {
            bound = solo ? turn : min(load_shared_volatile(&vyre_quick.kept[side]), VYRE_KEPT);
            first = solo ? 0 : warp * each;
            const u32 i = first + lane / group;
            if (i < bound) {
                const uint4 item = load_shared_entry(kept_address(side, i));
                node = item.x;
                begin = item.y;
                end = item.z;
            }
        }
        done++;
        WIDTH(turn);
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            vyre_state.items += turn;
            vyre_state.widest = max(static_cast<u32>(vyre_state.widest), turn);
            if (from_list) {
                store_relaxed64(f.counters + after(third) * 128, 0);
                store_relaxed64(f.hub_counters + after(third) * 128, 0);
            }
        }
        local = 0;
        side ^= 1;
        stamp += 1;
        if (warp >= VYRE_QUICK_WARPS) goto swept;
        {
            const uint4 rounds = load_shared_entry(quick_address(&vyre_quick.rounds));
            const u32 now = rounds.w + done;
            store_shared(regs + rounds.x, now);
            store_shared(regs + rounds.y, now + rounds.z);
        }
        MARK(2);
        while (first < bound) {
            LOADED(node + begin + end);
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
                const u32 rank = __popc(__ballot_sync(VYRE_FULL, some) & lanes_below());
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
                    mine.abort = abort;
                    mine.local = local;
                    mine.side = side;
                    mine.third = third;
                    mine.stamp = stamp;
                    mine.phase = phase;
                    mine.flags = (solo ? 1 : 0) | (from_list ? 2 : 0);
                    // The same of all warps of the CTA.
                    f.side = side;
                    f.third = third;
                    f.stamp = stamp;
                    vyre_quick.special = 1;
                }
                __syncwarp();
                return;
            }
            for (u32 tile = 0; tile < total; tile += 32) {
                u32 edge = begin + (lane & (group - 1)), src = node, mask = edge < end;
                if (shared) {
                    const u32 starts = __reduce_or_sync(VYRE_FULL, place - tile < 32 ? 1u << (place - tile) : 0u);
                    const u32 owner = __popc(__ballot_sync(VYRE_FULL, place < tile)) + __popc(starts & (lanes_below() << 1 | 1u)) - 1;
                    const u64 item = load_shared64(quick_stash() + owner * 8);
                    src = static_cast<u32>(item);
                    edge = static_cast<u32>(item >> 32) + tile + lane;
                    mask = tile + lane < total;
                }
                u32 alive = mask, stack = 0, at = start, target = 0, ahead = 0, ahead_end = 0;
                const uint4 edges = load_shared_entry(quick_address(&vyre_quick.edges));
                if (mask != 0) target = load_topology(JOIN(edges.x, edges.y), edge);
                const uint4 rows = load_shared_entry(quick_address(&vyre_quick.rows));
                uint2 word = load_shared_word(at);
                // Each time: words may reuse the rows of an item.
                store_shared(regs + rows.x, edge);
                store_shared(regs + rows.w, edge);
                store_shared(regs + rows.y, src);
                LOADED(target);
                // The edges of the edge's other end, which is what is pushed as a rule, while the words before the push wait.
                if (mask != 0) {
                    ahead = load_topology(JOIN(edges.z, edges.w), target);
                    ahead_end = load_topology(JOIN(edges.z, edges.w), target + 1ull);
                }
                store_shared(regs + rows.z, target);
                MARK(4);
                    for (;;) {
                        at += 8;
                        uint2 next_word = load_shared_word(at);
                        u32 op = word.x & 255;
                        const u32 imm = word.y;
                        const u32 d_at = regs + (word.x >> 8 & 255) * 128, a_at = regs + (word.x >> 16 & 255) * 128,
                                  b_at = regs + (word.x >> 24) * 128;
                        u32 x = load_shared(a_at), y = load_shared(b_at);
                        u64 wide = 0;
                        u32 index = 0, len = 0;
                        bool bad = false;
                        switch (op) {
#define Q32(NAME, EXPR)         \
    case VYRE_OP_##NAME: {      \
        const u32 p = x, q = y; \
        (void)q;                \
        x = (EXPR);             \
        break;                  \
    }
                            Q32(Mov32, p)
                            Q32(Add32, p + q)
                            Q32(Sub32, p - q)
                            Q32(Mul32, p * q)
                            Q32(MinU32, min(p, q))
                            Q32(MinI32, U32(min(S32(p), S32(q))))
                            Q32(MaxU32, max(p, q))
                            Q32(MaxI32, U32(max(S32(p), S32(q))))
                            Q32(And32, p & q)
                            Q32(Or32, p | q)
                            Q32(Xor32, p ^ q)
                            Q32(Shl32, p << (q & 31))
                            Q32(ShrU32, p >> (q & 31))
                            Q32(Eq32, p == q)
                            Q32(Ne32, p != q)
                            Q32(LtU32, p < q)
                            Q32(LeU32, p <= q)
                            Q32(LtI32, S32(p) < S32(q))
                            Q32(LeI32, S32(p) <= S32(q))
                            Q32(AddF32, B32(__fadd_rn(F32(p), F32(q))))
                            Q32(SubF32, B32(__fsub_rn(F32(p), F32(q))))
                            Q32(MulF32, B32(__fmul_rn(F32(p), F32(q))))
                            Q32(LtF32, F32(p) < F32(q))
                            Q32(LeF32, F32(p) <= F32(q))
                            case VYRE_OP_Sel32: x = x != 0 ? y : load_shared(regs + (imm & 255) * 128); break;
#undef Q32
#define Q64(NAME, EXPR)                                                              \
    case VYRE_OP_##NAME: {                                                           \
        const u64 p = JOIN(x, load_shared(a_at + 128)), q = JOIN(y, load_shared(b_at + 128)); \
        wide = (EXPR);                                                               \
        goto store_wide;                                                             \
    }
#define C64(NAME, EXPR)                                                              \
    case VYRE_OP_##NAME: {                                                           \
        const u64 p = JOIN(x, load_shared(a_at + 128)), q = JOIN(y, load_shared(b_at + 128)); \
        x = (EXPR);                                                                  \
        break;                                                                       \
    }
                            Q64(Add64, p + q)
                            Q64(Sub64, p - q)
                            Q64(And64, p & q)
                            Q64(Or64, p | q)
                            Q64(Xor64, p ^ q)
                            C64(Eq64, p == q)
                            C64(Ne64, p != q)
                            C64(LtU64, p < q)
                            C64(LeU64, p <= q)
#undef Q64
#undef C64
                            case VYRE_OP_Mov64: wide = JOIN(x, load_shared(a_at + 128)); goto store_wide;
                            case VYRE_OP_Zext64: wide = x; goto store_wide;
                            case VYRE_OP_Shl64: wide = JOIN(x, load_shared(a_at + 128)) << (y & 63); goto store_wide;
                            case VYRE_OP_ShrU64: wide = JOIN(x, load_shared(a_at + 128)) >> (y & 63); goto store_wide;
// An element of the buffer whose entry `imm` names; the item dies where it has none.
#define Q_ELEMENT(SIZE, BODY, THEN)                                                  \
    const uint4 buffer = load_shared_entry(shared_address(imm >> 8 & 0x3ffff));                \
    const bool ok = mask != 0 && x < buffer.z;                                       \
    const u64 address = JOIN(buffer.x, buffer.y) + U64(x) * (SIZE);                  \
    index = x;                                                                       \
    if (ok) { BODY; }                                                                \
    len = buffer.z;                                                                  \
    bad = mask != 0 && !ok;                                                          \
    goto THEN
#define Q_ELEMENT32(NAME, SIZE, EXPR)                                                \
    case VYRE_OP_##NAME: {                                                           \
        const u32 q = y;                                                             \
        (void)q;                                                                     \
        Q_ELEMENT(SIZE, x = (EXPR), element);                                        \
    }
#define Q_ELEMENT64(NAME, EXPR)                                                      \
    case VYRE_OP_##NAME: {                                                           \
        const u64 q = JOIN(y, load_shared(b_at + 128));                              \
        (void)q;                                                                     \
        Q_ELEMENT(8, wide = (EXPR), element_wide);                                   \
    }
#define Q_STORE(NAME, SIZE, DO)                                                      \
    case VYRE_OP_##NAME: {                                                           \
        const u64 q = JOIN(y, SIZE == 8 ? load_shared(b_at + 128) : 0);              \
        Q_ELEMENT(SIZE, DO, element_stored);                                         \
    }
                            Q_ELEMENT32(Ld8, 1, load_global8(address))
                            Q_ELEMENT32(Ld32, 4, load_global(address))
                            Q_ELEMENT32(AtomLd32, 4, load_relaxed(address))
                            Q_ELEMENT32(AtomAdd32, 4, atomic_add(address, q))
                            Q_ELEMENT32(AtomAddF32, 4, B32(atomic_add_f32(address, F32(q))))
                            Q_ELEMENT32(AtomMinU32, 4, atomic_min_u32(address, q))
                            Q_ELEMENT32(AtomMaxU32, 4, atomic_max_u32(address, q))
                            Q_ELEMENT32(AtomOr32, 4, atomic_or(address, q))
                            Q_ELEMENT32(AtomCas32, 4, atomic_cas(address, q, load_shared(regs + (imm & 255) * 128)) == q)
                            Q_ELEMENT64(Ld64, load_global64(address))
                            Q_ELEMENT64(AtomLd64, load_relaxed64(address))
                            Q_ELEMENT64(AtomAdd64, atomic_add64(address, q))
                            Q_ELEMENT64(AtomOr64, atomic_or64(address, q))
                            Q_ELEMENT64(AtomAnd64, atomic_and64(address, q))
                            Q_ELEMENT64(AtomMinU64, atomic_min_u64(address, q))
                            Q_ELEMENT64(AtomMaxU64, atomic_max_u64(address, q))
                            Q_STORE(St8, 1, store_global8(address, U32(q)))
                            Q_STORE(St32, 4, store_global(address, U32(q)))
                            Q_STORE(AtomSt32, 4, store_relaxed(address, U32(q)))
                            Q_STORE(St64, 8, store_global64(address, q))
                            Q_STORE(AtomSt64, 8, store_relaxed64(address, q))
#undef Q_ELEMENT
#undef Q_ELEMENT32
#undef Q_ELEMENT64
#undef Q_STORE
                            // Two bits a level: the mask before, and that of the other branch.
                            case VYRE_OP_If: {
                                const u32 taken = x != 0 ? mask : 0;
                                stack = stack << 2 | mask << 1 | (mask & ~taken);
                                mask = taken;
                                if (!__any_sync(VYRE_FULL, mask != 0)) goto jump;
                                goto next;
                            }
                            case VYRE_OP_Else: {
                                mask = stack & alive & 1;
                                stack &= ~1u;
                                if (!__any_sync(VYRE_FULL, mask != 0)) goto jump;
                                goto next;
                            }
                            case VYRE_OP_EndIf: {
                                mask = stack >> 1 & alive & 1;
                                stack >>= 2;
                                goto next;
                            }
                            case VYRE_QUICK_RETURN: {
                                alive &= ~mask;
                                mask = 0;
                                goto next;
                            }
                            case VYRE_QUICK_PUSH: goto push;
                            case VYRE_OP_Ret: goto tile_done;
                            default: __builtin_unreachable();  // the host translates nothing else
                        }
                    store:
                        if (mask != 0) store_shared(d_at, x);
                        if ((word.y & VYRE_QUICK_DECIDES) != 0) {
                            word = next_word;
                            at += 8;
                            next_word = load_shared_word(at);
                            y = load_shared(regs + (word.x >> 24) * 128);
                            op = VYRE_QUICK_PUSH;
                            goto push;
                        }
                    next:
                        MARK(31 + (at - code) / 8);
                        word = next_word;
                        continue;
                    element:
                        if (!__any_sync(VYRE_FULL, bad)) goto store;
                        goto fault;
                    element_stored:
                        if (!__any_sync(VYRE_FULL, bad)) goto next;
                        goto fault;
                    element_wide:
                        if (__any_sync(VYRE_FULL, bad)) goto fault;
                    store_wide:
                        if (mask != 0) {
                            store_shared(d_at, U32(wide));
                            store_shared(d_at + 128, U32(wide >> 32));
                        }
                        goto next;
                    // Where x, pushes y to frontier `imm >> 16`; then goes on after `imm & 255` more words, or ends. Only pushes to
                    // the swept frontier are counted here.
                    push:
                        {
                            const bool own = (word.y & VYRE_QUICK_OWN) != 0;
                            Frontier& to = own ? f : *table<Frontier>(image().frontiers, word.y >> 16);
                            const u64 stamps = to.stamps;
                            bool ok = mask != 0 && x != 0;
                            len = to.nodes;
                            index = y;
                            bad = ok && y >= len;
                            if (__any_sync(VYRE_FULL, bad)) goto fault;
                            if (stamps != 0) {
                                const u32 now = own ? stamp : to.stamp;
                                if (ok && atomic_swap(stamps + y * 4ull, now) == now) ok = false;
                            }
                            u32 lanes = __ballot_sync(VYRE_FULL, ok), from = ahead, until = ahead_end;
                            MARK(16);
                            if (lanes != 0) {
                                const u64 offsets = to.offsets;
                                if (ok && (!own || y != target)) {
                                    from = until = 0;
                                    if (offsets != 0) {
                                        from = load_topology(offsets, y);
                                        until = load_topology(offsets, y + 1ull);
                                    }
                                }
                                if (own) {
                                    u32 slot = local;
                                    if (!solo) {
                                        if (lane == 0) slot = atomicAdd(&vyre_quick.kept[side], static_cast<u32>(__popc(lanes)));
                                        slot = __shfl_sync(VYRE_FULL, slot, 0);
                                    }
                                    local += __popc(lanes);
                                    slot += __popc(lanes & lanes_below());
                                    MARK(17);
                                    if (ok && slot < VYRE_KEPT) {
                                        store_shared_entry(kept_address(side, slot), make_uint4(y, from, until, 0));
                                        if (until - from > VYRE_HUB_EDGES) f.attention = vyre_quick.special = 1;
                                    }
                                    ok = ok && slot >= VYRE_KEPT;
                                    lanes = __ballot_sync(VYRE_FULL, ok);
                                    MARK(18);
                                }
                            }
                            if (lanes != 0) {
                                // To the list: of another frontier, or what this CTA has no room for.
                                u32 slot = 0;
                                const u32 now_side = own ? side : to.side, now_third = own ? third : to.third;
                                if (lane == 0) {
                                    slot = static_cast<u32>(atomic_add64(to.counters + now_third * 128, __popc(lanes)));
                                    if (own) {
                                        atomicAdd(&f.local, static_cast<u32>(__popc(lanes)));
                                        vyre_quick.special = 1;
                                    }
                                }
                                const u64 items = to.items[now_side], ranges = to.ranges[now_side];
                                slot = __shfl_sync(VYRE_FULL, slot, 0) + __popc(lanes & lanes_below());
                                if (ok && slot < to.capacity) {
                                    store_global(items + slot * 4ull, y);
                                    if (slot < to.ranges_len) store_range(ranges + slot * 8ull, from, until);
                                }
                                // Hubs go to a list of their own too.
                                if (ok && to.offsets != 0 && until - from > VYRE_HUB_EDGES) {
                                    const u64 counter = to.hub_counters + now_third * 128;
                                    to.attention = vyre_quick.special = 1;
                                    if (load_relaxed64(counter) >> 40 < to.hubs_len) {
                                        const u64 old = atomic_add64(counter, (1ull << 40) + (until - from - 1) / VYRE_HUB_EDGES + 1);
                                        if (old >> 40 < to.hubs_len) {
                                            const u64 hub = to.hubs[now_side] + (old >> 40) * 16;
                                            store_range(hub, y, static_cast<u32>(old));
                                            store_range(hub + 8, from, until);
                                        }
                                    }
                                }
                                __syncwarp();
                                MARK(19);
                            }
                        }
                        if ((word.y & VYRE_QUICK_LAST) != 0) goto tile_done;
                        if ((word.y & 0xff) == 0) goto next;
                        at += (word.y & 0xff) * 8;
                        word = load_shared_word(at);
                        continue;
                    jump:
                        at = code + word.y * 8;
                        word = load_shared_word(at);
                        continue;
                    // The trap of the lowest item is kept until the round's end; the lanes that met it are dead.
                    fault:
                        if (lane == 0) vyre_quick.special = 1;
                        {
                            const bool pushes = op == VYRE_QUICK_PUSH;
                            const u32 item = kernel.item_row == VYRE_NONE ? 0 : load_shared(regs + kernel.item_row * 128);
                            const u32 lowest = __reduce_min_sync(VYRE_FULL, bad ? item : VYRE_NONE);
                            const u32 holders = __ballot_sync(VYRE_FULL, bad && item == lowest);
                            const u32 pc = (at - code) / 8 - 1 + (pushes ? word.y >> 1 & 127 : 0);
                            const u64 key = trap_key(vyre_state.kernel, lowest, pc);
                            if (lane == __ffs(holders) - 1 && key < mine.key) {
                                mine.key = key;
                                mine.index = index;
                                mine.len = len;
                                mine.kind = VYRE_TRAP_IndexOutOfBounds;
                                mine.lane = lane;
                            }
                            __syncwarp();
                            if (bad) alive = mask = 0;
                            if (pushes) goto push;
                            if (op == VYRE_OP_St8 || op == VYRE_OP_St32 || op == VYRE_OP_AtomSt32 || op == VYRE_OP_St64 ||
                                op == VYRE_OP_AtomSt64)
                                goto next;
                            if (op == VYRE_OP_Ld64 || op == VYRE_OP_AtomLd64 || op == VYRE_OP_AtomAdd64 || op == VYRE_OP_AtomOr64 ||
                                op == VYRE_OP_AtomAnd64 || op == VYRE_OP_AtomMinU64 || op == VYRE_OP_AtomMaxU64)
                                goto store_wide;
                            goto store;
                        }
                    }
                tile_done:
                    MARK(31 + (at - code) / 8);
                }
        next_portion:
            first += solo ? each : from_list ? each * VYRE_QUICK_WARPS * gridDim.x : each * VYRE_QUICK_WARPS;
            node = begin = end = 0;
            {
                const u32 i = first + lane / group;
                if (i < bound) {
                    if (from_list) {
                        node = load_global(f.items[side ^ 1] + i * 4ull);
                        load_range(f.ranges[side ^ 1] + i * 8ull, begin, end);
                    } else {
                        const uint4 item = load_shared_entry(kept_address(side ^ 1, i));
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
            if (load_shared_volatile(&vyre_quick.special) == 0 && local - 1 < min(each, vyre_quick.limit) &&
                done < vyre_quick.left && alone < VYRE_ALONE)
                goto start_round;
            goto flush;
        }
        __syncthreads();
        if (warp != 0) goto wait;
        {
            const u32 kept = vyre_quick.kept[side];
            word_out = VYRE_ARRIVAL + min(kept, 65535u);
            if (kept > VYRE_QUICK_WARPS * each) word_out += VYRE_UNEVEN;
            if (load_shared_volatile(&vyre_quick.special) != 0) {
                const u32 spilled = f.local;
                // What had no room here is counted in both.
                word_out = VYRE_ARRIVAL + min(min(kept, VYRE_KEPT) + spilled, 65535u) + VYRE_UNEVEN;
                if (f.attention != 0) word_out += VYRE_ATTENTION;
                if (quick_stops()) word_out += VYRE_STOP;
            }
        }
        goto arrive;
    // What is kept goes to the list; when CTA 0 was alone, by its warp.
    flush:
        {
            const u32 count = min(solo ? local : load_shared_volatile(&vyre_quick.kept[side]), VYRE_KEPT);
            const u64 items = f.items[side], ranges = f.ranges[side];
            for (u32 from = solo ? 0 : warp * 32; from < count; from += solo ? 32 : VYRE_QUICK_WARPS * 32) {
                u32 slot = 0;
                if (lane == 0) slot = static_cast<u32>(atomic_add64(f.counters + third * 128, min(count - from, 32u)));
                slot = __shfl_sync(VYRE_FULL, slot, 0) + lane;
                if (from + lane < count && slot < f.capacity) {
                    const uint4 item = load_shared_entry(kept_address(side, from + lane));
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
            if (!solo) __syncthreads();
            listed = true;
            if (warp != 0) goto wait;
            __syncwarp();
            word_out = VYRE_ARRIVAL + count + (f.local_high != 0 ? 1ull << 32 : static_cast<u64>(f.local));
            if (f.attention != 0) word_out += VYRE_ATTENTION;
            if (quick_stops()) word_out += VYRE_STOP;
            __syncwarp();
            if (lane == 0) {
                vyre_quick.kept[side] = 0;
                f.local = f.local_high = 0;
                vyre_quick.special = 0;
            }
        }
    arrive:
        MARK(20);
        __syncwarp();
        if (lane == 0) {
            const u64 words = VYRE_CONTROL(barrier), at = words + phase * 128;
            if (blockIdx.x == 0) {
                if (solo) store_relaxed64(at + 8, alone);
                if (abort != 0) word_out += VYRE_STOP;
            }
            add_release64(at, word_out);
            MARK(21);
            vyre_quick.kept[side ^ 1] = 0;
            if (blockIdx.x == 0 && (solo || (done & 15) == 0)) abort = load_relaxed(VYRE_CONTROL(abort));
            if (solo && blockIdx.x != 0) {
                while (load_relaxed64(at) >> 56 != gridDim.x) __nanosleep(40);
                seen = load_acquire64(at);
                alone = static_cast<u32>(load_relaxed64(at + 8));
            } else {
                do {
                    seen = load_acquire64(at);
                } while (seen >> 56 != gridDim.x);
            }
            vyre_quick.seen[phase] = seen;
            vyre_quick.alone[phase] = alone;
            // The word after the next one: all have passed the barrier that it was for, and this store is on its way while the
            // round goes on.
            if (blockIdx.x == 0) store_relaxed64(words + after(after(phase)) * 128, 0);
            MARK(22);
        }
    wait:
        __syncthreads();
        seen = vyre_quick.seen[phase];
        if (solo) {
            if (blockIdx.x != 0 || warp != 0) {
                alone = vyre_quick.alone[phase];
                done += alone;
                stamp += alone;
                side ^= alone & 1;
            }
            listed = true;
        }
        phase = after(phase);
        MARK(23);
    }
    if (warp == 0) {
        __syncwarp();
        if (lane == 0 && done != 0) {
            Fixpoint& fixpoint = *table<Fixpoint>(image().fixpoints, step.id);
            fixpoint.round += done;
            fixpoint.rounds += done;
            f.local = 0;
            f.side = side;
            f.third = third;
            f.stamp = stamp;
            vyre_state.sweeps += done;
        }
        if (lane == 0) {
            vyre_state.phase = phase;
            vyre_quick.word = seen;
            vyre_quick.abort = abort;
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
__device__ __forceinline__ void begin_narrow(const Step& step, u64 seen, u32 abort) {
    const Kernel& kernel = *table<Kernel>(image().kernels, vyre_state.kernel);
    vyre_quick_warps[lane_id()].portion = VYRE_NONE;
    vyre_quick_warps[lane_id()].key = ~0ull;
    if (lane_id() == 0) {
        const Fixpoint& fixpoint = *table<Fixpoint>(image().fixpoints, step.id);
        Frontier& f = *table<Frontier>(image().frontiers, step.carried);
        const Wave& wave = *table<Wave>(image().waves, vyre_state.wave);
        const Topology& topology = *table<Topology>(image().topologies, wave.topology);
        // Who watches is told between stretches of rounds.
        vyre_quick.left = static_cast<u32>(
            min(fixpoint.max_rounds - fixpoint.round - 1, image().progress != 0 ? 1024ull : 1ull << 31));
        vyre_quick.limit = quick_limit(f, wave);
        vyre_quick.edges = make_uint4(U32(topology.targets), U32(topology.targets >> 32), U32(topology.offsets),
                                      U32(topology.offsets >> 32));
        vyre_quick.rows =
            make_uint4(kernel.quick_index * 128, kernel.quick_src * 128, kernel.quick_dst * 128, kernel.quick_item * 128);
        vyre_quick.rounds =
            make_uint4(kernel.quick_round * 128, kernel.quick_next * 128, kernel.quick_addend, U32(fixpoint.round));
        vyre_quick.word = seen;
        vyre_quick.abort = abort;
        if (blockIdx.x == 0) store_relaxed64(VYRE_CONTROL(barrier) + after(vyre_state.phase) * 128, 0);
        vyre_quick.special = vyre_quick.kept[0] = vyre_quick.kept[1] = 0;
        vyre_quick.side = f.side;
        vyre_quick.third = f.third;
        vyre_quick.stamp = f.stamp;
        f.local = f.local_high = 0;
    }
    for (u32 warp = 0; warp < VYRE_QUICK_WARPS; warp++)
        fill_quick(kernel, warp, kernel.quick_fill_count - kernel.quick_dynamic, kernel.quick_fill_count);
}

// Narrow rounds with what they leave to the general way, by the warps that take part.
__device__ __noinline__ void run_narrow() {
    const Step& step = *table<Step>(image().steps, vyre_state.pc);
    const u32 before = static_cast<u32>(table<Fixpoint>(image().fixpoints, step.id)->round);
    const QuickWarp& mine = vyre_quick_warps[warp_id()];
    for (;;) {
        quick_rounds(step);
        const u32 first = mine.portion;
        if (first == VYRE_NONE) break;
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
            } else {
                const uint4 item = load_shared_entry(kept_address(side, i));
                node = item.x;
                begin = item.y;
                end = item.z;
            }
        }
        const u32 round = before + mine.done;
        for (u32 i = lane_id(); i < kernel.dynamic_count; i += 32)
            if (is_round(kernel, *table<u32>(image().lists, kernel.dynamic + i)))
                stage(kernel, *table<u32>(image().lists, kernel.dynamic + i), round);
        __syncwarp();
        expand(table<Topology>(image().topologies, wave.topology)->targets, node, begin, end - begin, each);
        __syncwarp();
    }
}

// After narrow rounds, by the control warp; returns the word of the first barrier whose round is not of this kind.
__device__ __forceinline__ u64 end_narrow(const Step& step, u32& abort) {
    const u64 seen = vyre_quick.word;
    abort = vyre_quick.abort;
    for (u32 warp = 0; warp < VYRE_QUICK_WARPS; warp++) {
        const QuickWarp& of = vyre_quick_warps[warp];
        if (lane_id() == 0 && of.key != ~0ull) raise(of.key, of.kind, of.index, of.len);
    }
    __syncwarp();
    if (image().looked_count == 0) return seen;
    // Frontiers that others sweep: all counts of their pushes are final until everybody has passed one more barrier.
    const u32 phase = vyre_state.phase;
    if (blockIdx.x == 0) {
        for (u32 i = lane_id(); i < image().looked_count; i += 32)
            store_relaxed64(
                sum_address(*table<Frontier>(image().frontiers, *table<u32>(image().lists, image().looked + i)), phase), 0);
    }
    const u32* entries = table<u32>(image().lists, step.pushed);
    for (u32 i = 1 + lane_id(); i < step.pushed_count; i += 32) {
        Frontier& other = *table<Frontier>(image().frontiers, entries[i * 3]);
        other.local = other.local_high = 0;
        other.pushed = load_relaxed64(other.counters + other.third * 128);
    }
    __syncwarp();
    grid_barrier(0, abort);
    return seen;
}
