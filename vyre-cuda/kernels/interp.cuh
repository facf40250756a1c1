// The VIR0 interpreter: one warp runs one kernel for K items a lane.
//
// The pc is the same for the whole warp; every lane has a K-bit mask of the items that are active. Register rows lie in
// shared memory, `[row][lane][k]`, so that a lane reads the values of its K items with one access; a staged uniform is
// laid out so that the same access reads it K times over. Items that do not exist, returned or trapped are dead: rows
// may be overwritten for them, which is why straight-line code stores whole vectors even in a partly filled tile.
//
// Mask frames are K bits wide in one 64-bit stack a lane. `if` takes two (saved, else), a loop two (exit, round). `break`
// clears its lanes from the loop's round frame and above, `continue` from above it, `ret` and traps from all.
//
// A word of code is the program's, then where its operands a and b lie when a lane has as many items as the kernel takes
// at most (from the lane's place in row 0, or if the top bit is set from the word, less VYRE_FIXED),
// then its immediate four times. The code is that of the program with two words rewritten by the host: the immediate of
// break and continue words is the loop's round frame, and the low half of a reduce word's immediate is the accumulator's
// number.
#pragma once

#include <cstddef>

#include "exact.cuh"

// State of a CTA that is not in the tables.
struct State {
    u32 wave;     // wave to sweep, VYRE_NONE to leave
    u32 active;   // warps of the CTA that may have work in it
    u32 each;     // items of a frontier that a warp takes at once; 0: the wave's long ranges are summed up
    u32 kernel;   // its kernel
    u32 pc;       // next step
    u32 phase;    // barriers passed, modulo VYRE_BARRIER_WORDS
    u32 trapped;  // some lane of this CTA trapped since the last barrier
    u32 stop;
    u32 ctas;     // CTAs of the group that runs the pass: all of the launch, or this one alone
    u32 cta;      // this one's number among them
    u32 query;    // of a batch
    u32 quick;    // what comes next: VYRE_NARROW rounds, rounds that VYRE_PULL, or a step's VYRE_FILLS; 0: a sweep
    u32 taken;    // tiles of the wave that this CTA's warps took after their first ones
    u32 cluster;  // CTAs of a cluster, of which the first holds narrow rounds; 1 where there are none
    u32 gathered; // rounds that the first cluster ran among itself
    u32 fitting;  // rounds that it held, or would have
    u32 single;   // no warp has more than one tile of the wave
    u32 plain;    // `end_plain` ends the round
    u32 abort;    // CTA 0 found after the barrier before that the run is to stop
    u32 order;    // CTAs that it would be with one of VYRE_WARPS on each multiprocessor: what decides how items are put together
    u64 sweeps;   // of frontiers, the items of all of them, and of the widest
    u64 items;
    u64 widest;
    u64 pulled;  // sweeps that were turned round, and edges of frontiers that would have been, had the edges in been known
    u64 missed;
};
__shared__ State vyre_state;

// A round of a plain fixpoint that `end_plain` ends: where what belongs to it is in the tables, in bytes.
struct Plain {
    u32 step;
    u32 fixpoint;
    u32 frontier;
    u32 wave;
    u32 kernel;
    u32 uncounted;  // it is still to be counted in the state
};
__shared__ Plain vyre_plain;
// Where an entry of a table is, and the entry there.
template <class T>
__device__ __forceinline__ u32 place_of(u32 offset, u32 index) { return offset + index * static_cast<u32>(sizeof(T)); }
template <class T>
__device__ __forceinline__ T& entry_at(u32 place) { return *table<T>(place, 0); }

#define VYRE_NARROW 1u
#define VYRE_PULL 2u
#define VYRE_FILLS 3u

__device__ __forceinline__ u64 control_address(u32 offset) { return image().control + offset; }
#define VYRE_CONTROL(FIELD) control_address(static_cast<u32>(offsetof(Control, FIELD)))

// The host says in one word of its own memory that the run is to stop. A read of it takes more than a microsecond, and those of
// many CTAs wait for each other. So a CTA reads it once in so many ticks of its clock, each at a time of its own; one that found it
// set goes on to find it so.
__shared__ u32 vyre_looked;
__device__ __forceinline__ u32 clock_ticks() {
    u32 now;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
    return now;
}
// CTA 0 looks at once.
__device__ __forceinline__ void begin_looks() {
    vyre_looked = clock_ticks() - VYRE_LOOK_TICKS + blockIdx.x % 256 * (VYRE_LOOK_TICKS / 256);
}
// Whether the run is to stop, by one lane.
__device__ __forceinline__ u32 look() {
    volatile u32& looked = vyre_looked;
    const u32 passed = clock_ticks() - looked, every = image().look_ticks;
    if (passed < every) return 0;
    const u32 asked = load_system(image().abort);
    if (asked == 0) looked += passed & -every;
    return asked;
}

// Whoever finds that the run is to stop cuts its own work short, and says so here first, where the CTA's next barrier and the
// host look: a run of which nothing was cut short is as good as any other.
__device__ __forceinline__ void note_abort() {
    *const_cast<volatile u32*>(&image().aborted) = 1;
    store_relaxed(VYRE_CONTROL(aborted), 1);
}

// Steps that this CTA took since it said so last, where a run has a limit: items of its sweeps, rounds, and turns of loops that
// count. `elsewhere`: it evaluates a condition, whose turns CTA 0 counts.
struct Steps {
    u64 here;
    u32 elsewhere;
};
__shared__ Steps vyre_steps;

// Takes in what the lanes of a warp counted.
__device__ __noinline__ void count_steps(u64 steps) {
#pragma unroll 1
    for (u32 step = 16; step > 0; step >>= 1) steps += __shfl_xor_sync(VYRE_FULL, steps, step);
    if (lane_id() == 0) atomicAdd(&vyre_steps.here, steps);
}

// Says what this CTA counted, and whether all of them have counted more than the run may take, by one lane. The sum only
// grows: whoever finds that it is too much may stop at once, and the host finds the same however much was counted by then.
__device__ __noinline__ u32 has_no_steps() {
    const u64 here = vyre_steps.elsewhere != 0 ? 0 : atomicExch(&vyre_steps.here, 0ull);
    const u64 before = here != 0 ? atomic_add64(VYRE_CONTROL(steps), here) : load_relaxed64(VYRE_CONTROL(steps));
    return before + here > image().most_steps;
}

// Whether the run is to stop, by a whole warp.
__device__ __forceinline__ bool is_aborted() {
    u32 abort = lane_id() == 0 ? *const_cast<volatile u32*>(&image().aborted) | look() : 0;
    if (image().limited != 0 && lane_id() == 0) abort |= has_no_steps();
    if (__shfl_sync(VYRE_FULL, abort, 0) == 0) return false;
    note_abort();
    return true;
}

// The same, of which a warp asks before each tile: one in 64 of them looks, whatever their stride.
__device__ __forceinline__ bool is_aborted_before(u32 tile) { return tile * 0x9e3779b1u >> 26 == 0 && is_aborted(); }

// Tiles that take unlike times: CTAs have every so manieth each, and its warps take one each, then the next when they have
// done one.
struct Tiles {
    u32 next;
    __device__ __forceinline__ Tiles() : next(0) {}
    // The number of the CTA's tiles that were taken before this warp's next.
    __device__ __forceinline__ u32 take() {
        // One warp alone takes them in turn.
        if (vyre_state.active == 1) return next++;
        if (next == 0) {
            next = 1;
            return warp_id();
        }
        u32 tile = 0;
        if (lane_id() == 0) tile = atomicAdd(&vyre_state.taken, 1u);
        tile = vyre_state.active + __shfl_sync(VYRE_FULL, tile, 0);
        // Behind all there are, with the CTAs' numbers.
        return is_aborted_before(tile) ? ~0u / vyre_state.ctas - 1 : tile;
    }
};

// Whether a loop looks after so many more words: once in VYRE_LOOK_WORDS of them.
__device__ __forceinline__ bool looks_after(u32& words, u32 more) {
    words += more;
    return (words & (VYRE_LOOK_WORDS - 1)) < more;
}

__device__ __forceinline__ u64 trap_key(u32 kernel, u32 item, u32 pc) {
    return static_cast<u64>(kernel) << 48 | static_cast<u64>(item) << 16 | pc;
}

// Offers a trap; the one with the lowest key stays.
__device__ __noinline__ void raise(u64 key, u32 kind, u64 index, u64 len) {
    vyre_state.trapped = 1;
    if (key >= load_relaxed64(VYRE_CONTROL(trap_key))) return;
    while (atomic_cas(VYRE_CONTROL(trap_lock), 0, 1) != 0) __nanosleep(200);
    __threadfence();
    if (key < load_relaxed64(VYRE_CONTROL(trap_key))) {
        store_relaxed64(VYRE_CONTROL(trap_index), index);
        store_relaxed64(VYRE_CONTROL(trap_len), len);
        store_relaxed(VYRE_CONTROL(trap_kind), kind);
        store_relaxed(VYRE_CONTROL(trap_lane), lane_id());
        store_relaxed64(VYRE_CONTROL(trap_key), key);
    }
    __threadfence();
    atomic_swap(VYRE_CONTROL(trap_lock), 0);
}

// Offers the warp's trap with the lowest item among the lanes' `bad` items. `index_address`: row of the faulting indices,
// or VYRE_NONE and `index_value` is the index.
template <int K>
__device__ __noinline__ void fault(u32 kernel, u32 regs, u32 pc_kind, u32 bad, u32 index_address, u32 index_value, u32 len) {
    const Kernel& info = *table<Kernel>(image().kernels, kernel);
    const u32 item_row = info.item_row;
    u32 pc = pc_kind >> 8;
    if (info.tile != 0 && pc >= info.tile) pc = *table<u32>(image().lists, info.origins + pc - info.tile);
    u32 item = VYRE_WHOLE_WAVE, index = index_value;
    // A word that the interpreter does not have is no item's fault.
    bool any = (pc_kind & 0xff) == VYRE_TRAP_UnknownWord;
#pragma unroll 1
    for (u32 k = 0; k < K; k++) {
        if (!(bad >> k & 1)) continue;
        const u32 it = item_row == VYRE_NONE ? 0 : load_shared(regs + item_row * (K * 128) + k * 4);
        if (any && it >= item) continue;
        any = true;
        item = it;
        index = index_address == VYRE_NONE ? index_value : load_shared(index_address + k * 4);
    }
    const u32 lowest = __reduce_min_sync(VYRE_FULL, item);
    const u32 holders = __ballot_sync(VYRE_FULL, any && item == lowest);
    if (lane_id() == __ffs(holders) - 1) raise(trap_key(kernel, item, pc), pc_kind & 0xff, index, len);
    __syncwarp();
}

// x and y taken together by a reduction of this kind (operation * 8 + scalar); 32-bit values in the low half.
__device__ __noinline__ u64 combine(u32 kind, u64 x, u64 y) {
    const u32 a = static_cast<u32>(x), b = static_cast<u32>(y);
    const float af = __uint_as_float(a), bf = __uint_as_float(b);
    const double ad = __longlong_as_double(x), bd = __longlong_as_double(y);
    switch (kind) {
#define KIND(OP, SCALAR) (VYRE_REDUCEOP_##OP * 8 + VYRE_SCALAR_##SCALAR)
        case KIND(Sum, Bool): return a | b;
        case KIND(Sum, U32):
        case KIND(Sum, I32): return a + b;
        case KIND(Sum, U64):
        case KIND(Sum, I64): return x + y;
        case KIND(Sum, F32): return __float_as_uint(__fadd_rn(af, bf));
        case KIND(Sum, F64): return __double_as_longlong(__dadd_rn(ad, bd));
        case KIND(Min, Bool):
        case KIND(Min, U32): return min(a, b);
        case KIND(Min, I32): return static_cast<u32>(min(static_cast<i32>(a), static_cast<i32>(b)));
        case KIND(Min, U64): return min(x, y);
        case KIND(Min, I64): return static_cast<u64>(min(static_cast<i64>(x), static_cast<i64>(y)));
        case KIND(Min, F32): return __float_as_uint(fminf(af, bf));
        case KIND(Min, F64): return __double_as_longlong(fmin(ad, bd));
        case KIND(Max, Bool):
        case KIND(Max, U32): return max(a, b);
        case KIND(Max, I32): return static_cast<u32>(max(static_cast<i32>(a), static_cast<i32>(b)));
        case KIND(Max, U64): return max(x, y);
        case KIND(Max, I64): return static_cast<u64>(max(static_cast<i64>(x), static_cast<i64>(y)));
        case KIND(Max, F32): return __float_as_uint(fmaxf(af, bf));
        case KIND(Max, F64): return __double_as_longlong(fmax(ad, bd));
        case KIND(Or, U32):
        case KIND(Or, I32):
        case KIND(Or, Bool): return a | b;
        case KIND(Or, U64):
        case KIND(Or, I64): return x | y;
        case KIND(And, U32):
        case KIND(And, I32):
        case KIND(And, Bool): return a & b;
        case KIND(And, U64):
        case KIND(And, I64): return x & y;
        default: return x;
    }
}

// The lanes' values taken together by a reduction of this kind. All get the same; floats are added in the order of a
// butterfly.
template <class F>
__device__ __forceinline__ u64 butterfly(u64 x, F take) {
#pragma unroll
    for (u32 step = 16; step > 0; step >>= 1) x = take(x, __shfl_xor_sync(VYRE_FULL, x, step));
    return x;
}
__device__ __noinline__ u64 combine_lanes(u32 kind, u64 x) {
    const u32 low = static_cast<u32>(x);
    switch (kind) {
        case KIND(Sum, U32):
        case KIND(Sum, I32): return __reduce_add_sync(VYRE_FULL, low);
        case KIND(Min, Bool):
        case KIND(Min, U32): return __reduce_min_sync(VYRE_FULL, low);
        case KIND(Min, I32): return static_cast<u32>(__reduce_min_sync(VYRE_FULL, static_cast<i32>(low)));
        case KIND(Max, Bool):
        case KIND(Max, U32): return __reduce_max_sync(VYRE_FULL, low);
        case KIND(Max, I32): return static_cast<u32>(__reduce_max_sync(VYRE_FULL, static_cast<i32>(low)));
        case KIND(Sum, Bool):
        case KIND(Or, Bool):
        case KIND(Or, U32):
        case KIND(Or, I32): return __reduce_or_sync(VYRE_FULL, low);
        case KIND(And, Bool):
        case KIND(And, U32):
        case KIND(And, I32): return __reduce_and_sync(VYRE_FULL, low);
        case KIND(Sum, U64):
        case KIND(Sum, I64): return butterfly(x, [](u64 a, u64 b) { return a + b; });
        default: break;
    }
#pragma unroll 1
    for (u32 step = 16; step > 0; step >>= 1) x = combine(kind, x, __shfl_xor_sync(VYRE_FULL, x, step));
    return x;
}

// Appends the lanes' `ok` nodes, `total` in all, of which so many come before each: one atomic a warp takes their slots.
template <int K>
__device__ __forceinline__ void append(Frontier& f, const Vec<K>& node, u32 ok, const u32 (&before)[K], u32 total) {
    const u32 side = f.side;
    u64 base = 0;
    if (lane_id() == 0) base = atomic_add64(f.counters + f.third * 128, total);
    // The edge ranges travel beside the atomic, so that the next sweep need not fetch them.
    const u64 offsets = f.offsets;
    u32 begin[K], end[K];
#pragma unroll
    for (int k = 0; k < K; k++) {
        const bool some = offsets != 0 && (ok >> k & 1);
        begin[k] = load_topology_if(some, offsets, node.v[k], 0);
        end[k] = load_topology_if(some, offsets, node.v[k] + 1ull, 0);
    }
    if (lane_id() == 0 && atomicAdd(&f.local, total) > ~total) atomicAdd(&f.local_high, 1u);
    const u64 items = f.items[side], ranges = f.ranges[side];
    const u32 capacity = f.capacity, ranges_len = f.ranges_len;
    bool hub = false;
#pragma unroll
    for (int k = 0; k < K; k++) hub |= (ok >> k & 1) && end[k] - begin[k] > VYRE_HUB_EDGES;
    base = __shfl_sync(VYRE_FULL, base, 0);
#pragma unroll
    for (int k = 0; k < K; k++) {
        if (!(ok >> k & 1)) continue;
        const u64 slot = base + before[k];
        if (slot < capacity) store_global(items + slot * 4, node.v[k]);
        if (slot < ranges_len) store_range(ranges + slot * 8, begin[k], end[k]);
    }
    if (__any_sync(VYRE_FULL, hub)) {
        const u64 counter = f.hub_counters + f.third * 128, hubs = f.hubs[side];
#pragma unroll
        for (int k = 0; k < K; k++) {
            const u32 degree = end[k] - begin[k];
            if (!(ok >> k & 1) || degree <= VYRE_HUB_EDGES) continue;
            f.attention = 1;
            if ((load_relaxed64(counter) >> 40) >= f.hubs_len) continue;
            const u32 chunks = (degree - 1) / VYRE_HUB_EDGES + 1;
            const u64 old = atomic_add64(counter, (1ull << 40) + chunks);
            const u64 slot = old >> 40;
            if (slot >= f.hubs_len) continue;
            store_range(hubs + slot * 16, node.v[k], static_cast<u32>(old));
            store_range(hubs + slot * 16 + 8, begin[k], end[k]);
        }
        __syncwarp();
    }
}

// Where a warp collects what it pushes in wide rounds, for two frontiers: their numbers and how many nodes there are of
// each, then the nodes.
#define VYRE_STAGED 64u
__device__ __forceinline__ u32 staging() {
    return shared_address(image().stash_shared) + (warp_id() + 1) * image().stash_bytes - VYRE_STAGING_BYTES;
}
__device__ __forceinline__ uint4 staged_head(u32 at) {
    uint4 head;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(head.x), "=r"(head.y), "=r"(head.z), "=r"(head.w)
                 : "r"(at));
    return head;
}
// Whether there is a place for that: a stash without is as long as some items.
__device__ __forceinline__ bool has_staging() { return image().stash_bytes % 256 != 0; }
__device__ __forceinline__ void stage_nothing() {
    if (!has_staging()) return;
    if (lane_id() < 4) store_shared(staging() + lane_id() * 4, lane_id() % 2 == 0 ? VYRE_NONE : 0);
    __syncwarp();
}

// Appends what was collected of one frontier.
__device__ __noinline__ void append_staged(u32 id, u32 nodes, u32 count) {
    __syncwarp();
    Vec<2> node;
    const u32 before[2] = {lane_id(), 32 + lane_id()};
    u32 ok = 0;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        node.v[k] = load_shared(nodes + before[k] * 4);
        if (before[k] < count) ok |= 1u << k;
    }
    append<2>(*table<Frontier>(image().frontiers, id), node, ok, before, count);
    __syncwarp();
}

// The same of all frontiers, at a sweep's end.
__device__ __forceinline__ void append_all_staged() {
    if (!has_staging()) return;
    __syncwarp();
    const u32 at = staging();
    const uint4 head = staged_head(at);
    if (head.y != 0) append_staged(head.x, at + 16, head.y);
    if (head.w != 0) append_staged(head.z, at + 16 + VYRE_STAGED * 4, head.w);
}

// Pushes the lanes' `ok` nodes (checked by the caller). In wide rounds few at a time are collected, so that fewer atomics
// meet at the frontier's counter.
template <int K>
__device__ __noinline__ void push(u32 id, Vec<K> node, u32 ok) {
    Frontier& f = *table<Frontier>(image().frontiers, id);
    if (f.stamps != 0) {
        // All at once; nobody but the asm knows that they may overtake each other.
        u32 seen[K];
        const u32 stamp = f.stamp;
        const u64 stamps = f.stamps;
#pragma unroll
        for (int k = 0; k < K; k++)
            seen[k] = atomic_swap_if(ok >> k & 1, stamps + 4ull * node.v[k], stamp, stamp);
#pragma unroll
        for (int k = 0; k < K; k++)
            if (seen[k] == stamp) ok &= ~(1u << k);
    }
    u32 before[K], total = 0;
#pragma unroll
    for (int k = 0; k < K; k++) {
        const u32 lanes = __ballot_sync(VYRE_FULL, ok >> k & 1);
        before[k] = total + __popc(lanes & lanes_below());
        total += __popc(lanes);
    }
    if (total == 0) return;
    if (K > 1 && total <= VYRE_STAGED / 2) {
        const u32 at = staging();
        const uint4 head = staged_head(at);
        const bool first = head.x == id || (head.z != id && head.y == 0);
        if (first || head.z == id || head.w == 0) {
            const u32 nodes = at + 16 + (first ? 0 : VYRE_STAGED * 4);
            u32 count = first ? head.y : head.w;
            if (count + total > VYRE_STAGED) {
                append_staged(id, nodes, count);
                count = 0;
            }
            // All have read how many there are.
            __syncwarp();
#pragma unroll
            for (int k = 0; k < K; k++) store_shared_if(ok >> k & 1, nodes + (count + before[k]) * 4, node.v[k]);
            if (lane_id() == 0) store_shared64(at + (first ? 0 : 8), static_cast<u64>(count + total) << 32 | id);
            __syncwarp();
            return;
        }
    }
    append<K>(f, node, ok, before, total);
}

// Reserves an item of a frontier or list for each of the lanes' `ok` items: its slot, or VYRE_NONE beyond the capacity.
template <int K>
__device__ __noinline__ Vec<K> reserve(u32 id, u32 ok) {
    Frontier& f = *table<Frontier>(image().frontiers, id);
    Vec<K> slots;
    u32 total = 0;
#pragma unroll
    for (int k = 0; k < K; k++) {
        const u32 lanes = __ballot_sync(VYRE_FULL, ok >> k & 1);
        slots.v[k] = total + __popc(lanes & lanes_below());
        total += __popc(lanes);
    }
    u64 base = 0;
    if (lane_id() == 0 && total != 0) {
        base = atomic_add64(f.counters + f.third * 128, total);
        if (atomicAdd(&f.local, total) > ~total) atomicAdd(&f.local_high, 1u);
    }
    base = __shfl_sync(VYRE_FULL, base, 0);
#pragma unroll
    for (int k = 0; k < K; k++) {
        const u64 slot = base + slots.v[k];
        slots.v[k] = slot < f.capacity ? static_cast<u32>(slot) : VYRE_NONE;
    }
    return slots;
}

// Word i of the code at a shared address.
__device__ __forceinline__ uint4 word_at(u32 code, u32 i) {
    uint4 word;
    asm("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
        : "r"(code + i * VYRE_WORD_BYTES));
    return word;
}

// The same without what the host added to it.
__device__ __forceinline__ uint4 short_word_at(u32 code, u32 i) {
    uint4 word = make_uint4(0, 0, 0, 0);
    asm("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(word.x), "=r"(word.y) : "r"(code + i * VYRE_WORD_BYTES));
    return word;
}

// A word that an operator of this wave does not have: a fault of the host, or memory that was overwritten.
__device__ __noinline__ void unknown_word(u32 op) {
    if (lane_id() == 0) raise(trap_key(vyre_state.kernel, VYRE_WHOLE_WAVE, 0), VYRE_TRAP_UnknownWord, op, 0);
    __syncwarp();
}

// What lifted neighbour loops take in by: the operation, its value of nothing, and p and q together.
#define VYRE_MERGES(DO)                                                     \
    DO(Add32, 0, p + q)                                                     \
    DO(MinU32, ~0u, min(p, q))                                              \
    DO(MinI32, 0x7fffffffu, static_cast<u32>(min(static_cast<i32>(p), static_cast<i32>(q))))  \
    DO(MaxU32, 0, max(p, q))                                                \
    DO(MaxI32, 0x80000000u, static_cast<u32>(max(static_cast<i32>(p), static_cast<i32>(q))))  \
    DO(And32, ~0u, p & q)                                                   \
    DO(Or32, 0, p | q)                                                      \
    DO(Xor32, 0, p ^ q)                                                     \
    DO(AddF32, 0x80000000u, __float_as_uint(__fadd_rn(__uint_as_float(p), __uint_as_float(q)))) \
    DO(MinF32, 0x7fffffffu /* a NaN loses */, __float_as_uint(fminf(__uint_as_float(p), __uint_as_float(q)))) \
    DO(MaxF32, 0x7fffffffu, __float_as_uint(fmaxf(__uint_as_float(p), __uint_as_float(q))))
// All that the host lifts are there.
#define IS(NAME, ...) || op == VYRE_OP_##NAME
#define IN(NAME, CODE) && vyre_merges(CODE)
constexpr bool vyre_merges(u32 op) { return false VYRE_MERGES(IS); }
static_assert(true VYRE_MERGED_OPS(IN), "an operation that the host lifts is missing");
#undef IN
__device__ __forceinline__ u32 nothing(u32 op) {
    switch (op) {
#define MERGE(NAME, NOTHING, EXPR) case VYRE_OP_##NAME: return NOTHING;
        VYRE_MERGES(MERGE)
#undef MERGE
        default: return 0;
    }
}
__device__ __noinline__ u32 merge(u32 op, u32 p, u32 q) {
    switch (op) {
#define MERGE(NAME, NOTHING, EXPR) case VYRE_OP_##NAME: return (EXPR);
        VYRE_MERGES(MERGE)
#undef MERGE
        default: return p;
    }
}

// Address of the word of item p of a tile (item k * 32 + lane) in a row that starts here.
template <int K>
__device__ __forceinline__ u32 item_address(u32 row, u32 p) {
    return row + (p & 31) * (K * 4) + (p >> 5) * 4;
}

// Takes the values x of a tile's edges into the words of their owners in the row at `totals`: the lanes of one owner are
// neighbours, and edges without an owner have VYRE_NONE.
template <int K, class F>
__device__ __forceinline__ void merge_segments(const Vec<K>& x, const Vec<K>& owner, u32 totals, F f) {
#pragma unroll
    for (int k = 0; k < K; k++) {
        const u32 own = owner.v[k];
        const u32 before = __shfl_up_sync(VYRE_FULL, own, 1);
        const u32 starts = __ballot_sync(VYRE_FULL, lane_id() == 0 || before != own);
        const u32 place = lane_id() - (31 - __clz(starts & (lanes_below() << 1 | 1u)));
        u32 v = x.v[k];
#pragma unroll
        for (u32 step = 1; step < 32; step <<= 1) {
            const u32 below = __shfl_up_sync(VYRE_FULL, v, step);
            if (place >= step) v = f(below, v);
        }
        if (((starts >> 1 | 1u << 31) >> lane_id() & 1) && own != VYRE_NONE) {
            const u32 at = item_address<K>(totals, own);
            store_shared(at, f(load_shared(at), v));
        }
        __syncwarp();
    }
}
template <int K>
__device__ __noinline__ void merge_tile(u32 op, Vec<K> x, u32 owners, u32 totals) {
    const Vec<K> owner = load_row<K>(owners);
    switch (op) {
#define MERGE(NAME, NOTHING, EXPR) \
    case VYRE_OP_##NAME: merge_segments<K>(x, owner, totals, [](u32 p, u32 q) { return EXPR; }); break;
        VYRE_MERGES(MERGE)
#undef MERGE
        default: unknown_word(op);
    }
}

// Of the items `over`, those whose ranges were summed up before the wave: takes the sums into their words at `totals`
// (this lane's place in the row).
template <int K>
__device__ __noinline__ u32 take_sums(Vec<K> begin, Vec<K> end, u32 over, u32 totals, u32 op) {
    const Wave& wave = *table<Wave>(image().waves, vyre_state.wave);
    const u64 ranges = wave.ranges, sums = wave.sums;
    u32 taken = 0;
#pragma unroll
    for (int k = 0; k < K; k++) {
        u32 first = 0, parts = 0;
        if (over >> k & 1) {
            u32 low = 0, high = wave.range_count;
            while (high - low > 1) {
                const u32 middle = low + (high - low) / 2;
                if (load_topology(ranges, middle * 4ull) <= begin.v[k])
                    low = middle;
                else
                    high = middle;
            }
            if (load_topology(ranges, low * 4ull) == begin.v[k] && load_topology(ranges, low * 4ull + 1) == end.v[k]) {
                first = load_topology(ranges, low * 4ull + 2);
                parts = load_topology(ranges, low * 4ull + 3);
            }
        }
        for (u32 todo = __ballot_sync(VYRE_FULL, parts != 0); todo != 0; todo &= todo - 1) {
            const u32 lane = __ffs(todo) - 1;
            const u32 from = __shfl_sync(VYRE_FULL, first, lane), count = __shfl_sync(VYRE_FULL, parts, lane);
            u32 total = nothing(op);
            bool good = true;
            each_lane(count, [&](u32 i) {
                const u64 sum = load_global64(sums + (static_cast<u64>(from) + i) * 8);
                total = merge(op, total, static_cast<u32>(sum));
                good = good && sum >> 32 != 0;
            });
            good = __all_sync(VYRE_FULL, good);
#pragma unroll 1
            for (u32 step = 16; step > 0; step >>= 1)
                total = merge(op, total, __shfl_xor_sync(VYRE_FULL, total, step));
            if (lane_id() == lane && good) {
                store_shared(totals + k * 4, merge(op, load_shared(totals + k * 4), total));
                taken |= 1u << k;
            }
        }
    }
    return taken;
}

// Depth while the body of a lifted neighbour loop runs.
#define VYRE_LIFTED (1u << 31)
// Bits of the word of a lifted neighbour loop: it sums up a part of a long range; its body is a gather.
#define VYRE_OF_PART (1u << 24)
#define VYRE_GATHER (1u << 25)

// Bodies of lifted neighbour loops that load an element for each neighbour and take it in are not interpreted: these are
// the operations that they may take it in by.
#define VYRE_GATHERS(DO)                                                    \
    DO(Add32, p + q)                                                        \
    DO(MinU32, min(p, q))                                                   \
    DO(MaxU32, max(p, q))                                                   \
    DO(Or32, p | q)                                                         \
    DO(AddF32, __float_as_uint(__fadd_rn(__uint_as_float(p), __uint_as_float(q))))
#define IN(NAME, CODE) && vyre_gathers(CODE)
constexpr bool vyre_gathers(u32 op) { return false VYRE_GATHERS(IS); }
static_assert(true VYRE_GATHERED_OPS(IN), "an operation that the host takes for a gather's is missing");
#undef IN

// What such a body loads: the elements `data` of the targets of edges.
struct Gather {
    u64 targets, data;
    u32 edges, len;
    // `body`: where its words are, of which the first names the topology, the second the buffer.
    __device__ __forceinline__ Gather(u32 body) {
        const Topology& topology = *table<Topology>(image().topologies, word_at(body, 0).y >> 16);
        const Buffer& buffer = *table<Buffer>(image().buffers, word_at(body, 1).y >> 16);
        targets = topology.targets;
        edges = topology.edges;
        data = buffer.data;
        len = buffer.len;
    }
};

// The edges of the warp's items, 128 a turn, four that follow each other to a lane. `place`: the items' first edges' places
// among all `total`; `some`: which of them have any; at `bases` in shared memory, for each item, its first edge less that
// place; at `scratch`, 512 bytes. Takes the elements into the items' words at `totals`. Returns how many edges are done, fewer
// than `total` if one of the next 128 is a fault; VYRE_NONE when the run is aborted.
template <int K, class F>
__device__ __forceinline__ u32 gather_tiles(const Gather& g, const Vec<K>& place, u32 some, u32 bases, u32 scratch,
                                            u32 totals, u32 total, u32 none, F f) {
    const u32 lane = lane_id(), mine = scratch + lane * 16;
    u32 last = 0, words = 0;  // number of the last item with edges so far, from one
    for (u32 done = 0; done < total; done += 128) {
        store_row<4>(mine, Vec<4>{{0, 0, 0, 0}});
        __syncwarp();
#pragma unroll
        for (int k = 0; k < K; k++)
            if ((some >> k & 1) && place.v[k] - done < 128) store_shared(scratch + (place.v[k] - done) * 4, k * 32 + lane + 1);
        __syncwarp();
        Vec<4> own = load_row<4>(mine);
        own.v[1] = max(own.v[0], own.v[1]);
        own.v[2] = max(own.v[1], own.v[2]);
        own.v[3] = max(own.v[2], own.v[3]);
        u32 most = own.v[3];
#pragma unroll
        for (u32 step = 1; step < 32; step <<= 1) most = max(most, __shfl_up_sync(VYRE_FULL, most, step));
        const u32 below = __shfl_up_sync(VYRE_FULL, most, 1), before = lane == 0 ? last : max(last, below);
        last = max(last, __shfl_sync(VYRE_FULL, most, 31));
        Vec<4> x;
        u32 target[4];
        bool bad = false, there[4];
        u64 from[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const u32 at = done + lane * 4 + j;
            const bool ok = at < total;
            own.v[j] = ok ? max(own.v[j], before) : 0;
            const u32 edge = ok ? load_shared(item_address<K>(bases, own.v[j] - 1)) + at : 0;
            there[j] = ok && edge < g.edges;
            bad = bad || there[j] != ok;
            from[j] = g.targets + edge * 4ull;
            target[j] = 0;
        }
        load_topology_four_if(there, from, VYRE_CONTROL(barrier), target);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const bool ok = own.v[j] != 0;
            there[j] = ok && target[j] < g.len;
            bad = bad || there[j] != ok;
            from[j] = g.data + target[j] * 4ull;
            x.v[j] = none;
        }
        load_global_four_if(there, from, VYRE_CONTROL(barrier), x.v);
        if (__any_sync(VYRE_FULL, bad)) return done;
        // Of each lane's last item, what is its own so far; then with what the lanes below have of it.
        const u32 head = own.v[0], tail = own.v[3];
        u32 sum = x.v[3];
        if (own.v[2] == tail) sum = f(x.v[2], sum);
        if (own.v[1] == tail) sum = f(x.v[1], sum);
        if (head == tail) sum = f(x.v[0], sum);
        const u32 tail_below = __shfl_up_sync(VYRE_FULL, tail, 1), head_above = __shfl_down_sync(VYRE_FULL, head, 1);
        const bool joins = lane != 0 && tail_below == head;
        const u32 starts = __ballot_sync(VYRE_FULL, !joins || head != tail);
        const u32 run = lane - (31 - __clz(starts & (lanes_below() << 1 | 1u)));
#pragma unroll
        for (u32 step = 1; step < 32; step <<= 1) {
            const u32 earlier = __shfl_up_sync(VYRE_FULL, sum, step);
            if (run >= step) sum = f(earlier, sum);
        }
        const u32 carried = __shfl_up_sync(VYRE_FULL, sum, 1);
        // Every item's sum of this tile is complete in the lane of its last edge here.
        auto take = [&](u32 owner, u32 value) {
            if (owner == 0) return;
            const u32 at = item_address<K>(totals, owner - 1);
            store_shared(at, f(load_shared(at), value));
        };
        u32 running = joins ? f(carried, x.v[0]) : x.v[0];
#pragma unroll
        for (int j = 1; j < 4; j++) {
            if (own.v[j] != own.v[j - 1]) {
                take(own.v[j - 1], running);
                running = x.v[j];
            } else {
                running = f(running, x.v[j]);
            }
        }
        if (lane == 31 || head_above != tail) take(tail, running);
        __syncwarp();
        if (looks_after(words, 8) && is_aborted()) return VYRE_NONE;
    }
    return total;
}
template <int K>
__device__ __noinline__ u32 gather(u32 op, u32 body, Vec<K> place, u32 some, u32 bases, u32 scratch, u32 totals,
                                   u32 total) {
    const Gather g(body);
    const u32 none = nothing(op);
    switch (op) {
#define GATHER(NAME, EXPR)                                                                          \
    case VYRE_OP_##NAME:                                                                            \
        return gather_tiles<K>(g, place, some, bases, scratch, totals, total, none,                 \
                               [](u32 p, u32 q) { return EXPR; });
        VYRE_GATHERS(GATHER)
#undef GATHER
        default: return 0;
    }
}

// The edges begin..end, by the whole warp: whether none is a fault, and in the low half what they come to.
template <class F>
__device__ __forceinline__ u64 gather_edges(const Gather& g, u32 begin, u32 end, u32 none, F f) {
    constexpr int EACH_TURN = 8;
    u32 total = none;
    bool bad = end > g.edges;
    const u32 limit = min(end, g.edges);
    for (u64 turn = begin; turn < limit; turn += 32 * EACH_TURN) {
        const u64 first = turn + lane_id();
        u32 target[EACH_TURN], x[EACH_TURN];
#pragma unroll
        for (int j = 0; j < EACH_TURN; j++) target[j] = load_topology_if(first + j * 32 < limit, g.targets, first + j * 32, 0);
#pragma unroll
        for (int j = 0; j < EACH_TURN; j++) {
            const bool ok = first + j * 32 < limit;
            bad = bad || (ok && target[j] >= g.len);
            x[j] = load_global_if(ok && target[j] < g.len, g.data + target[j] * 4ull, none);
        }
#pragma unroll
        for (int j = 0; j < EACH_TURN; j++) total = f(total, x[j]);
    }
#pragma unroll
    for (u32 step = 16; step > 0; step >>= 1) total = f(total, __shfl_xor_sync(VYRE_FULL, total, step));
    return static_cast<u64>(!__any_sync(VYRE_FULL, bad)) << 32 | total;
}
__device__ __noinline__ u64 gather_part(u32 op, u32 body, u32 begin, u32 end) {
    const Gather g(body);
    const u32 none = nothing(op);
    switch (op) {
#define GATHER(NAME, EXPR) \
    case VYRE_OP_##NAME: return gather_edges(g, begin, end, none, [](u32 p, u32 q) { return EXPR; });
        VYRE_GATHERS(GATHER)
#undef GATHER
        default: return 0;
    }
}

// Macros of raw bits.
#define S32(V) static_cast<i32>(V)
#define U32(V) static_cast<u32>(V)
#define U64(V) static_cast<u64>(V)
#define S64(V) static_cast<i64>(V)
#define F32(V) __uint_as_float(V)
#define F64(V) __longlong_as_double(V)
#define B32(V) __float_as_uint(V)
#define B64(V) static_cast<u64>(__double_as_longlong(V))

// Operations on 32-bit values p and q whose result depends on nothing else: those with one operand, those with two.
#define VYRE_COMPUTES(ONE, TWO) \
    ONE(Mov32, p) \
    TWO(Add32, p + q) \
    TWO(Sub32, p - q) \
    TWO(Mul32, p * q) \
    TWO(MinU32, min(p, q)) \
    TWO(MinI32, U32(min(S32(p), S32(q)))) \
    TWO(MaxU32, max(p, q)) \
    TWO(MaxI32, U32(max(S32(p), S32(q)))) \
    TWO(And32, p & q) \
    TWO(Or32, p | q) \
    TWO(Xor32, p ^ q) \
    TWO(Shl32, p << (q & 31)) \
    TWO(ShrU32, p >> (q & 31)) \
    TWO(ShrI32, U32(S32(p) >> (q & 31))) \
    TWO(Rotl32, __funnelshift_l(p, p, q)) \
    ONE(Popc32, __popc(p)) \
    ONE(Clz32, __clz(S32(p))) \
    ONE(Ctz32, p == 0 ? 32u : U32(__ffs(S32(p)) - 1)) \
    TWO(AddF32, B32(__fadd_rn(F32(p), F32(q)))) \
    TWO(SubF32, B32(__fsub_rn(F32(p), F32(q)))) \
    TWO(MulF32, B32(__fmul_rn(F32(p), F32(q)))) \
    TWO(MinF32, B32(fminf(F32(p), F32(q)))) \
    TWO(MaxF32, B32(fmaxf(F32(p), F32(q)))) \
    ONE(FloorF32, B32(floorf(F32(p)))) \
    ONE(CeilF32, B32(ceilf(F32(p)))) \
    ONE(TruncF32, B32(truncf(F32(p)))) \
    TWO(Eq32, p == q) \
    TWO(Ne32, p != q) \
    TWO(LtU32, p < q) \
    TWO(LeU32, p <= q) \
    TWO(LtI32, S32(p) < S32(q)) \
    TWO(LeI32, S32(p) <= S32(q)) \
    TWO(EqF32, F32(p) == F32(q)) \
    TWO(NeF32, F32(p) != F32(q)) \
    TWO(LtF32, F32(p) < F32(q)) \
    TWO(LeF32, F32(p) <= F32(q)) \
    ONE(F32FromU32, B32(__uint2float_rn(p))) \
    ONE(F32FromI32, B32(__int2float_rn(S32(p)))) \
    ONE(U32FromF32, isnan(F32(p)) ? 0u : __float2uint_rz(F32(p))) \
    ONE(I32FromF32, isnan(F32(p)) ? 0u : U32(__float2int_rz(F32(p))))

// Rare operations, one item at a time: raw bits in, raw bits out, 32-bit ones in the low half. Divisors are not zero. A list
// for each form of operands and result, from which both the operation and its case in the interpreter come.
#define VYRE_DIVIDES_32(DO) \
    DO(DivU32, p32 / q32) \
    DO(RemU32, p32 % q32) \
    DO(DivI32, U32(S32(p32) / S32(q32))) \
    DO(RemI32, U32(S32(p32) % S32(q32)))
#define VYRE_DIVIDES_64(DO) \
    DO(DivU64, p / q) \
    DO(RemU64, p % q) \
    DO(DivI64, U64(S64(p) / S64(q))) \
    DO(RemI64, U64(S64(p) % S64(q)))
// 32 bits of 32.
#define VYRE_RARE_32(DO) \
    DO(DivF32, B32(__fdiv_rn(F32(p32), F32(q32)))) \
    DO(RemF32, B32(fmodf(F32(p32), F32(q32)))) \
    DO(SqrtF32, B32(__fsqrt_rn(F32(p32)))) \
    DO(RoundF32, B32(roundf(F32(p32)))) \
    DO(ExpF32, B32(expf(F32(p32)))) \
    DO(LnF32, B32(logf(F32(p32)))) \
    DO(SinF32, B32(sinf(F32(p32)))) \
    DO(CosF32, B32(cosf(F32(p32))))
// 64 bits of twice 64, of 64 and 32, of three times 64, of 64.
#define VYRE_RARE_64(DO) \
    DO(Mul64, p * q) \
    DO(MulHiU64, __umul64hi(p, q)) \
    DO(MinU64, min(p, q)) \
    DO(MinI64, U64(min(S64(p), S64(q)))) \
    DO(MaxU64, max(p, q)) \
    DO(MaxI64, U64(max(S64(p), S64(q)))) \
    DO(AddF64, B64(__dadd_rn(F64(p), F64(q)))) \
    DO(SubF64, B64(__dsub_rn(F64(p), F64(q)))) \
    DO(MulF64, B64(__dmul_rn(F64(p), F64(q)))) \
    DO(DivF64, B64(__ddiv_rn(F64(p), F64(q)))) \
    DO(RemF64, B64(fmod(F64(p), F64(q)))) \
    DO(MinF64, B64(fmin(F64(p), F64(q)))) \
    DO(MaxF64, B64(fmax(F64(p), F64(q))))
#define VYRE_RARE_64_BY_32(DO) \
    DO(Rotl64, p << (q32 & 63) | p >> (-q32 & 63))
#define VYRE_RARE_64_THRICE(DO) \
    DO(FmaF64, B64(__fma_rn(F64(p), F64(q), F64(r))))
#define VYRE_RARE_64_OF_ONE(DO) \
    DO(ExpF64, B64(exp(F64(p)))) \
    DO(LnF64, B64(log(F64(p)))) \
    DO(SinF64, B64(sin(F64(p)))) \
    DO(CosF64, B64(cos(F64(p)))) \
    DO(SqrtF64, B64(__dsqrt_rn(F64(p)))) \
    DO(FloorF64, B64(floor(F64(p)))) \
    DO(CeilF64, B64(ceil(F64(p)))) \
    DO(RoundF64, B64(round(F64(p)))) \
    DO(TruncF64, B64(trunc(F64(p)))) \
    DO(F64FromU64, B64(__ull2double_rn(p))) \
    DO(F64FromI64, B64(__ll2double_rn(S64(p)))) \
    DO(U64FromF64, isnan(F64(p)) ? 0ull : __double2ull_rz(F64(p))) \
    DO(I64FromF64, isnan(F64(p)) ? 0ull : U64(__double2ll_rz(F64(p))))
// 32 bits of twice 64, of 64.
#define VYRE_RARE_COMPARES(DO) \
    DO(EqF64, F64(p) == F64(q)) \
    DO(NeF64, F64(p) != F64(q)) \
    DO(LtF64, F64(p) < F64(q)) \
    DO(LeF64, F64(p) <= F64(q))
#define VYRE_RARE_NARROWS(DO) \
    DO(Popc64, U32(__popcll(p))) \
    DO(Clz64, U32(__clzll(S64(p)))) \
    DO(Ctz64, p == 0 ? 64u : U32(__ffsll(S64(p)) - 1)) \
    DO(F32FromU64, B32(__ull2float_rn(p))) \
    DO(F32FromI64, B32(__ll2float_rn(S64(p)))) \
    DO(F32FromF64, B32(__double2float_rn(F64(p)))) \
    DO(U32FromF64, isnan(F64(p)) ? 0u : __double2uint_rz(F64(p))) \
    DO(I32FromF64, isnan(F64(p)) ? 0u : U32(__double2int_rz(F64(p))))
// 64 bits of 32.
#define VYRE_RARE_WIDENS(DO) \
    DO(F64FromU32, B64(__uint2double_rn(p32))) \
    DO(F64FromI32, B64(__int2double_rn(S32(p32)))) \
    DO(F64FromF32, B64(static_cast<double>(F32(p32)))) \
    DO(U64FromF32, isnan(F32(p32)) ? 0ull : __float2ull_rz(F32(p32))) \
    DO(I64FromF32, isnan(F32(p32)) ? 0ull : U64(__float2ll_rz(F32(p32))))
__device__ __noinline__ u64 rare(u32 op, u64 p, u64 q, u64 r) {
    const u32 p32 = U32(p), q32 = U32(q);
    switch (op) {
#define RARE(NAME, EXPR) case VYRE_OP_##NAME: return EXPR;
        VYRE_DIVIDES_32(RARE)
        VYRE_DIVIDES_64(RARE)
        VYRE_RARE_32(RARE)
        VYRE_RARE_64(RARE)
        VYRE_RARE_64_BY_32(RARE)
        VYRE_RARE_64_THRICE(RARE)
        VYRE_RARE_64_OF_ONE(RARE)
        VYRE_RARE_COMPARES(RARE)
        VYRE_RARE_NARROWS(RARE)
        VYRE_RARE_WIDENS(RARE)
#undef RARE
        default: return 0;  // the callers' cases are of these lists
    }
}

// Rare atomics, one item at a time; `r` is the new value of a compare-and-swap.
#define VYRE_RARE_ATOMICS_32(DO) \
    DO(AtomSwap32, atomic_swap(at, q32)) \
    DO(AtomMinI32, atomic_min_i32(at, q32)) \
    DO(AtomMaxI32, atomic_max_i32(at, q32)) \
    DO(AtomMinF32, atomic_extreme_f32<false>(at, q32)) \
    DO(AtomMaxF32, atomic_extreme_f32<true>(at, q32)) \
    DO(AtomAnd32, atomic_and(at, q32)) \
    DO(AtomXor32, atomic_xor(at, q32))
#define VYRE_RARE_ATOMICS_64(DO) \
    DO(AtomSwap64, atomic_swap64(at, q)) \
    DO(AtomCas64, atomic_cas64(at, q, r) == q) \
    DO(AtomAdd64, atomic_add64(at, q)) \
    DO(AtomAddF64, B64(atomic_add_f64(at, F64(q)))) \
    DO(AtomMinU64, atomic_min_u64(at, q)) \
    DO(AtomMinI64, atomic_min_i64(at, q)) \
    DO(AtomMinF64, atomic_extreme_f64<false>(at, q)) \
    DO(AtomMaxU64, atomic_max_u64(at, q)) \
    DO(AtomMaxI64, atomic_max_i64(at, q)) \
    DO(AtomMaxF64, atomic_extreme_f64<true>(at, q)) \
    DO(AtomAnd64, atomic_and64(at, q)) \
    DO(AtomXor64, atomic_xor64(at, q))
__device__ __noinline__ u64 rare_atomic(u32 op, u64 at, u64 q, u64 r) {
    const u32 q32 = U32(q);
    switch (op) {
#define RARE(NAME, EXPR) case VYRE_OP_##NAME: return EXPR;
        VYRE_RARE_ATOMICS_32(RARE)
        VYRE_RARE_ATOMICS_64(RARE)
#undef RARE
        default: return 0;  // the caller's cases are of these lists
    }
}

// A K-bit mask copied to every frame of a stack.
template <int K>
__device__ __forceinline__ u64 every_frame(u32 mask) {
    return mask * (K == 1 ? ~0ull : K == 2 ? 0x5555555555555555ull : 0x1111111111111111ull);
}

// Where a kernel's uniforms would be if they began with number 0 rather than VYRE_UNIFORM_BASE.
__device__ __forceinline__ u32 uniforms_of(u32 kernel) {
    return shared_address(table<Kernel>(image().kernels, kernel)->uniforms_shared) - VYRE_UNIFORM_BASE * VYRE_UNIFORM_BYTES;
}

// Runs a kernel, from a pc on; all 32 lanes call it. `regs`: this lane's place in row 0. `mask`: its items. Returns a
// condition's value.
template <int K>
__device__ __noinline__ u32 interpret(u32 code, u32 regs, u32 uniforms, u32 mask, u32 kernel, u32 pc = 0) {
    static_assert(K == 1 || K == 2 || K == 4, "items a lane");
    constexpr u32 ROW = K * 128, ALL = (1u << K) - 1;
    const u32 uniform_base = uniforms - VYRE_UNIFORM_BASE * VYRE_UNIFORM_BYTES;
    u32 here = code + pc * VYRE_WORD_BYTES;  // where the word is that runs
    u32 alive = mask;     // items that are not dead
    u64 stack = 0;
    u32 depth = 0, value = 0, words = 0;

// The word at a place, and the place of a pc and back.
#define FETCH(PLACE) (K > 1 ? word_at(PLACE, 0) : short_word_at(PLACE, 0))
#define PLACE_OF(PC) (code + (PC) * VYRE_WORD_BYTES)
#define PC ((here - code) / VYRE_WORD_BYTES)
    uint4 word = FETCH(here);
#define A_BYTE (word.x >> 16 & 255)
#define B_BYTE (word.x >> 24)
// Where the values of operand a lie: an immediate is read from the code.
#define A_PLACE (K == 1 && A_BYTE == VYRE_IMM ? here + 16 : a_at)
// With several items a lane, words know the places of all operands but the third.
#define UNIFORMS (K == 1 ? uniform_base : uniforms_of(kernel))
#define OPERAND(BYTE) ((BYTE) < VYRE_UNIFORM_BASE ? regs + (BYTE) * ROW : UNIFORMS + (BYTE) * VYRE_UNIFORM_BYTES)
#define HIGH(BYTE, ADDRESS) ((ADDRESS) + ((BYTE) < VYRE_UNIFORM_BASE ? ROW : 16u))
#define FRAME(I) (static_cast<u32>(stack >> ((I) * K)) & ALL)
#define EACH _Pragma("unroll") for (int k = 0; k < K; k++)
#define EACH_SLOWLY _Pragma("unroll 1") for (u32 k = 0; k < K; k++)
#define ACTIVE (mask >> k & 1)
#define SET_FRAME(I, M) (stack = (stack & ~(static_cast<u64>(ALL) << ((I) * K))) | (static_cast<u64>(M) << ((I) * K)))
#define KILL(BAD)                               \
    do {                                        \
        const u32 dead_ = (BAD);                \
        stack &= ~every_frame<K>(dead_);        \
        mask &= ~dead_;                         \
        alive &= ~dead_;                        \
    } while (0)
// A fault of the lanes' `BAD` items; they are dead afterwards.
#define FAULT(BAD, KIND, INDEX_ADDRESS, LEN)                                                       \
    do {                                                                                           \
        const u32 bad_ = (BAD);                                                                    \
        if (__any_sync(VYRE_FULL, bad_ != 0)) {                                                    \
            if (depth == VYRE_LIFTED) goto unlift;                                                  \
            fault<K>(kernel, regs, PC << 8 | (KIND), bad_, INDEX_ADDRESS, 0, LEN);                    \
            KILL(bad_);                                                                            \
        }                                                                                          \
    } while (0)

    for (;;) {
        // With several items a lane, other warps have work while this one waits for a word.
        if (K > 1) word = FETCH(here);
        const uint4 next = K > 1 ? word : FETCH(here + VYRE_WORD_BYTES);
        const u32 op = word.x & 255, d = word.x >> 8 & 255, imm = word.y;
        u32 a_at, b_at;
        if (K > 1) {
            a_at = S32(word.z) < 0 ? word.z + here + VYRE_FIXED : word.z + regs;
            b_at = S32(word.w) < 0 ? word.w + here + VYRE_FIXED : word.w + regs;
        } else {
            a_at = OPERAND(A_BYTE);
            b_at = OPERAND(B_BYTE);
        }
        Vec<K> x = load_row<K>(a_at), y = load_row<K>(b_at);
        if (K == 1 && A_BYTE == VYRE_IMM) x.v[0] = imm;
        if (K == 1 && B_BYTE == VYRE_IMM) y.v[0] = imm;

        switch (op) {
#define KNOWN(NAME, CODE) case CODE: goto op_##NAME;
#define UNKNOWN(CODE) case CODE:
            VYRE_OPS(KNOWN)
            VYRE_INTERPRETER_OPS(KNOWN)
            VYRE_NO_INTERPRETER_OPS(UNKNOWN) goto unknown;
            default: __builtin_unreachable();  // a byte has no other values (a test of vyre-cuda counts the cases)
#undef KNOWN
#undef UNKNOWN
        }
        {
#define OP(NAME) op_##NAME:
// Ends of operations with a result, a copy for each: results need not come to the same registers, nor in other orders.
#define STORE_ROW(ADDRESS, R)                                                                   \
    do {                                                                                        \
        if (K > 1 && mask == alive)                                                             \
            store_row<K>((ADDRESS), R);                                                         \
        else                                                                                    \
            EACH store_shared_if(ACTIVE, (ADDRESS) + k * 4, R.v[k]);                            \
    } while (0)
#define STORE32(R)                             \
    do {                                       \
        STORE_ROW(regs + d * ROW, R);          \
        goto done;                             \
    } while (0)
#define STORE32_IF_USED(R)                     \
    do {                                       \
        if (d == VYRE_IMM) goto done;          \
        STORE32(R);                            \
    } while (0)
#define STORE64(LOW, HIGH_)                      \
    do {                                         \
        STORE_ROW(regs + d * ROW, LOW);          \
        STORE_ROW(regs + d * ROW + ROW, HIGH_);  \
        goto done;                             \
    } while (0)
#define W1(NAME, EXPR)          \
    OP(NAME) {                  \
        EACH {                  \
            const u32 p = x.v[k]; \
            x.v[k] = (EXPR);    \
        }                       \
        STORE32(x);              \
    }
#define W2(NAME, EXPR)                                  \
    OP(NAME) {                                          \
        EACH {                                          \
            const u32 p = x.v[k], q = y.v[k];           \
            x.v[k] = (EXPR);                            \
        }                                               \
        STORE32(x);                                      \
    }
            VYRE_COMPUTES(W1, W2)

            OP(LdU32) {
                const u32 at = UNIFORMS + (imm + VYRE_UNIFORM_BASE) * VYRE_UNIFORM_BYTES;
                x = load_row<K>(at);
                STORE32(x);
            }
            OP(Sel32) {
                const Vec<K> z = load_row<K>(OPERAND(imm & 255));
                EACH x.v[k] = x.v[k] != 0 ? y.v[k] : z.v[k];
                STORE32(x);
            }
            OP(FmaF32) {
                const Vec<K> z = load_row<K>(OPERAND(imm & 255));
                EACH x.v[k] = B32(__fmaf_rn(F32(x.v[k]), F32(y.v[k]), F32(z.v[k])));
                STORE32(x);
            }

// 64-bit operands as pairs of 32-bit vectors.
// The low halves are read again, so that the operands of 32-bit operations need not lie in pairs. With one item a lane
// they need not anyway, and an immediate is not in a row.
#define AGAIN(NAME, ADDRESS) (K == 1 ? NAME : load_row<K>(ADDRESS))
#define LOAD_HIGH(NAME, BYTE, ADDRESS)                                                      \
    Vec<K> NAME = load_row<K>(HIGH(BYTE, ADDRESS));                                         \
    if (BYTE == VYRE_IMM) EACH NAME.v[k] = U32(S32(imm) >> 31)
#define JOIN(LOW, HIGH_) (U64(HIGH_) << 32 | (LOW))
#define SPLIT(R)                    \
    do {                            \
        const u64 r_ = (R);         \
        low.v[k] = U32(r_);         \
        high.v[k] = U32(r_ >> 32);  \
    } while (0)
#define D2(NAME, EXPR)                                                                      \
    OP(NAME) {                                                                              \
        const Vec<K> xl = AGAIN(x, a_at), yl = AGAIN(y, b_at);                              \
        Vec<K> low, high;                                                                   \
        LOAD_HIGH(xh, A_BYTE, a_at);                                                             \
        LOAD_HIGH(yh, B_BYTE, b_at);                                                             \
        EACH {                                                                              \
            const u64 p = JOIN(xl.v[k], xh.v[k]), q = JOIN(yl.v[k], yh.v[k]);                 \
            SPLIT(EXPR);                                                                    \
        }                                                                                   \
        STORE64(low, high);                                                                       \
    }
#define D1W(NAME, EXPR)                                                                     \
    OP(NAME) {                                                                              \
        const Vec<K> xl = AGAIN(x, a_at), yl = y;                                           \
        Vec<K> low, high;                                                                   \
        LOAD_HIGH(xh, A_BYTE, a_at);                                                             \
        EACH {                                                                              \
            const u64 p = JOIN(xl.v[k], xh.v[k]);                                            \
            const u32 q = yl.v[k];                                                           \
            (void)q;                                                                        \
            SPLIT(EXPR);                                                                    \
        }                                                                                   \
        STORE64(low, high);                                                                       \
    }
#define C2(NAME, EXPR)                                                                      \
    OP(NAME) {                                                                              \
        const Vec<K> xl = AGAIN(x, a_at), yl = AGAIN(y, b_at);                              \
        Vec<K> r;                                                                           \
        LOAD_HIGH(xh, A_BYTE, a_at);                                                             \
        LOAD_HIGH(yh, B_BYTE, b_at);                                                             \
        EACH {                                                                              \
            const u64 p = JOIN(xl.v[k], xh.v[k]), q = JOIN(yl.v[k], yh.v[k]);                 \
            r.v[k] = (EXPR);                                                                \
        }                                                                                   \
        STORE32(r);                                                                       \
    }
#define WIDEN(NAME, EXPR)                   \
    OP(NAME) {                              \
        Vec<K> low, high;                   \
        EACH {                              \
            const u32 p = x.v[k];           \
            SPLIT(EXPR);                    \
        }                                   \
        STORE64(low, high);                       \
    }
            D1W(Mov64, p)
            D2(Add64, p + q)
            D2(Sub64, p - q)
            D2(And64, p & q)
            D2(Or64, p | q)
            D2(Xor64, p ^ q)
            D1W(Shl64, p << (q & 63))
            D1W(ShrU64, p >> (q & 63))
            D1W(ShrI64, U64(S64(p) >> (q & 63)))
            C2(Eq64, p == q)
            C2(Ne64, p != q)
            C2(LtU64, p < q)
            C2(LeU64, p <= q)
            C2(LtI64, S64(p) < S64(q))
            C2(LeI64, S64(p) <= S64(q))
            WIDEN(Zext64, U64(p))
            WIDEN(Sext64, U64(S64(S32(p))))
            W1(Wrap32, p)

            OP(LdU64) {
                const u32 at = UNIFORMS + (imm + VYRE_UNIFORM_BASE) * VYRE_UNIFORM_BYTES;
                const Vec<K> low = load_row<K>(at), high = load_row<K>(at + 16);
                STORE64(low, high);
            }
            OP(Sel64) {
                const u32 c = imm & 255, c_at = OPERAND(c);
                const Vec<K> yh = load_row<K>(HIGH(B_BYTE, b_at)), z = load_row<K>(c_at), zh = load_row<K>(HIGH(c, c_at));
                Vec<K> low, high;
                EACH {
                    const bool take = x.v[k] != 0;
                    low.v[k] = take ? y.v[k] : z.v[k];
                    high.v[k] = take ? yh.v[k] : zh.v[k];
                }
                STORE64(low, high);
            }

// One item's operands and result, for rare operations.
#define ITEM32(BYTE, ADDRESS) (BYTE == VYRE_IMM ? imm : load_shared(ADDRESS + k * 4))
#define ITEM64(BYTE, ADDRESS)                                                                                      \
    (BYTE == VYRE_IMM ? U64(S64(S32(imm)))                                                                         \
                      : JOIN(load_shared(ADDRESS + k * 4), load_shared(HIGH(BYTE, ADDRESS) + k * 4)))
#define STORE_ITEM32(R) store_shared(regs + d * ROW + k * 4, U32(R))
#define STORE_ITEM64(R)                                                 \
    do {                                                                \
        const u64 r_ = (R);                                             \
        STORE_ITEM32(r_);                                               \
        store_shared(regs + d * ROW + ROW + k * 4, U32(r_ >> 32));      \
    } while (0)
#define RARELY(P, Q, R, STORE)                          \
    EACH_SLOWLY if (ACTIVE) {                           \
        const u64 p_ = (P), q_ = (Q), s_ = (R);         \
        STORE(rare(op, p_, q_, s_));                    \
    }                                                   \
    goto done
#define GROUPED(NAME, EXPR) OP(NAME)
            VYRE_DIVIDES_32(GROUPED) {
                const bool is_signed = op == VYRE_OP_DivI32 || op == VYRE_OP_RemI32;
                u32 bad = 0, over = 0;
                EACH {
                    if (!ACTIVE) continue;
                    if (y.v[k] == 0) bad |= 1u << k;
                    if (is_signed && x.v[k] == 0x80000000u && y.v[k] == ~0u) over |= 1u << k;
                }
                FAULT(bad, VYRE_TRAP_DivideByZero, VYRE_NONE, 0);
                FAULT(over, VYRE_TRAP_DivideOverflow, VYRE_NONE, 0);
                RARELY(ITEM32(A_BYTE, a_at), ITEM32(B_BYTE, b_at), 0, STORE_ITEM32);
            }
            VYRE_DIVIDES_64(GROUPED) {
                const bool is_signed = op == VYRE_OP_DivI64 || op == VYRE_OP_RemI64;
                u32 bad = 0, over = 0;
                EACH_SLOWLY {
                    const u64 p = ITEM64(A_BYTE, a_at), q = ITEM64(B_BYTE, b_at);
                    if (ACTIVE && q == 0) bad |= 1u << k;
                    if (is_signed && ACTIVE && p == 1ull << 63 && q == ~0ull) over |= 1u << k;
                }
                FAULT(bad, VYRE_TRAP_DivideByZero, VYRE_NONE, 0);
                FAULT(over, VYRE_TRAP_DivideOverflow, VYRE_NONE, 0);
                RARELY(ITEM64(A_BYTE, a_at), ITEM64(B_BYTE, b_at), 0, STORE_ITEM64);
            }
            VYRE_RARE_32(GROUPED)
                RARELY(ITEM32(A_BYTE, a_at), ITEM32(B_BYTE, b_at), 0, STORE_ITEM32);
            VYRE_RARE_64(GROUPED)
                RARELY(ITEM64(A_BYTE, a_at), ITEM64(B_BYTE, b_at), 0, STORE_ITEM64);
            VYRE_RARE_64_BY_32(GROUPED)
                RARELY(ITEM64(A_BYTE, a_at), ITEM32(B_BYTE, b_at), 0, STORE_ITEM64);
            VYRE_RARE_64_THRICE(GROUPED) {
                const u32 c = imm & 255, c_at = OPERAND(c);
                RARELY(ITEM64(A_BYTE, a_at), ITEM64(B_BYTE, b_at),
                       JOIN(load_shared(c_at + k * 4), load_shared(HIGH(c, c_at) + k * 4)), STORE_ITEM64);
            }
            VYRE_RARE_64_OF_ONE(GROUPED)
                RARELY(ITEM64(A_BYTE, a_at), 0, 0, STORE_ITEM64);
            VYRE_RARE_COMPARES(GROUPED)
                RARELY(ITEM64(A_BYTE, a_at), ITEM64(B_BYTE, b_at), 0, STORE_ITEM32);
            VYRE_RARE_NARROWS(GROUPED)
                RARELY(ITEM64(A_BYTE, a_at), 0, 0, STORE_ITEM32);
            VYRE_RARE_WIDENS(GROUPED)
                RARELY(ITEM32(A_BYTE, a_at), 0, 0, STORE_ITEM64);

// Local arrays: the index picks the row, so items of one warp read and write different rows.
#define ROWS(WIDTH, BODY)                                                                   \
    do {                                                                                    \
        const u32 len = imm >> 8 & 255;                                                     \
        u32 bad = 0;                                                                        \
        EACH if (ACTIVE && x.v[k] >= len) bad |= 1u << k;                                   \
        FAULT(bad, VYRE_TRAP_IndexOutOfBounds, A_PLACE, len);                                  \
        EACH_SLOWLY if (ACTIVE) {                                                           \
            const u32 at = regs + ((imm & 255) + load_shared(A_PLACE + k * 4) * (WIDTH)) * ROW + k * 4; \
            BODY;                                                                           \
        }                                                                                   \
        goto done;                                                                          \
    } while (0)
            OP(RowLd32) ROWS(1, STORE_ITEM32(load_shared(at)));
            OP(RowLd64) ROWS(2, STORE_ITEM64(JOIN(load_shared(at), load_shared(at + ROW))));
            OP(RowSt32) ROWS(1, store_shared(at, ITEM32(B_BYTE, b_at)));
            OP(RowSt64) ROWS(2, {
                const u64 q = ITEM64(B_BYTE, b_at);
                store_shared(at, U32(q));
                store_shared(at + ROW, U32(q >> 32));
            });
            OP(RowFill32) OP(RowFill64) {
                const u32 wide = op == VYRE_OP_RowFill64, first = regs + (imm & 255) * ROW;
                EACH_SLOWLY if (ACTIVE) {
                    const u64 q = wide ? ITEM64(A_BYTE, a_at) : ITEM32(A_BYTE, a_at);
                    for (u32 i = 0; i < (imm >> 8 & 255); i++) {
                        store_shared(first + (i << wide) * ROW + k * 4, U32(q));
                        if (wide) store_shared(first + (2 * i + 1) * ROW + k * 4, U32(q >> 32));
                    }
                }
                goto done;
            }
            OP(Check) {
                EACH {
                    const u32 out = ACTIVE && x.v[k] >= y.v[k] ? 1u << k : 0;
                    if (__any_sync(VYRE_FULL, out != 0)) {
                        fault<K>(kernel, regs, PC << 8 | VYRE_TRAP_IndexOutOfBounds, out, VYRE_NONE, x.v[k], y.v[k]);
                        KILL(out);
                    }
                }
                goto done;
            }

// A buffer element: `BODY` for the active items, result in x. Items whose index is out of bounds fault before anything is
// done for the others, which then run the same word again; where lanes have one item each, the access need not wait for it.
#define ELEMENT(SIZE, BODY)                                                                 \
    do {                                                                                    \
        const Buffer& buffer = *table<Buffer>(image().buffers, imm >> 16);                  \
        const u64 data = buffer.data;                                                       \
        const u32 len = buffer.len;                                                         \
        u32 bad = 0;                                                                        \
        EACH if (ACTIVE && x.v[k] >= len) bad |= 1u << k;                                   \
        if (K > 1 && __any_sync(VYRE_FULL, bad != 0)) goto out_of_bounds;                   \
        EACH {                                                                              \
            if (!ACTIVE || (K == 1 && bad != 0)) continue;                                  \
            const u64 at = data + U64(x.v[k]) * (SIZE);                                     \
            BODY;                                                                           \
        }                                                                                   \
        if (K == 1) FAULT(bad, VYRE_TRAP_IndexOutOfBounds, A_PLACE, len);                   \
    } while (0)
// What is not loaded has some value all the same: a register without one would have to keep what it held a word ago.
#define LOADS(SIZE, BODY)                                                                   \
    do {                                                                                    \
        const Buffer& buffer = *table<Buffer>(image().buffers, imm >> 16);                  \
        const u64 data = buffer.data;                                                       \
        const u32 len = buffer.len;                                                         \
        u32 bad = 0;                                                                        \
        EACH if (ACTIVE && x.v[k] >= len) bad |= 1u << k;                                   \
        if (K > 1 && __any_sync(VYRE_FULL, bad != 0)) goto out_of_bounds;                   \
        EACH {                                                                              \
            const bool some = ACTIVE && (K > 1 || bad == 0);                                \
            const u64 at = data + U64(x.v[k]) * (SIZE);                                     \
            BODY;                                                                           \
        }                                                                                   \
        if (K == 1) FAULT(bad, VYRE_TRAP_IndexOutOfBounds, A_PLACE, len);                   \
    } while (0)
#define LOAD32(NAME, SIZE, LOAD)                                \
    OP(NAME)                                                    \
        LOADS(SIZE, y.v[k] = LOAD(some, at, 0));                \
        STORE32(y);
#define LOAD64(NAME, LOAD)                                      \
    OP(NAME) {                                                  \
        u64 r[K];                                               \
        LOADS(8, r[k] = LOAD(some, at, 0));                     \
        EACH {                                                  \
            x.v[k] = U32(r[k]);                                 \
            y.v[k] = U32(r[k] >> 32);                           \
        }                                                       \
        STORE64(x, y);                                          \
    }
#define STORES32(NAME, SIZE, STORE)                             \
    OP(NAME)                                                    \
        ELEMENT(SIZE, STORE(at, y.v[k]));                       \
        goto done;
#define STORES64(NAME, STORE)                                   \
    OP(NAME) {                                                  \
        const Vec<K> yl = AGAIN(y, b_at);                       \
        LOAD_HIGH(yh, B_BYTE, b_at);                            \
        ELEMENT(8, STORE(at, JOIN(yl.v[k], yh.v[k])));          \
        goto done;                                              \
    }
            LOAD32(Ld8, 1, load_global8_if)
            LOAD32(Ld32, 4, load_global_if)
            LOAD64(Ld64, load_global64_if)
            STORES32(St8, 1, store_global8)
            STORES32(St32, 4, store_global)
            STORES64(St64, store_global64)
            LOAD32(AtomLd32, 4, load_relaxed_if)
            LOAD64(AtomLd64, load_relaxed64_if)
            STORES32(AtomSt32, 4, store_relaxed)
            STORES64(AtomSt64, store_relaxed64)

            OP(Len) {
                const u32 elements = table<Buffer>(image().buffers, imm >> 16)->len;
                EACH x.v[k] = elements;
                STORE32(x);
            }
            OP(CsrBegin) OP(CsrEnd) OP(CsrTarget) {
                const Topology& topology = *table<Topology>(image().topologies, imm >> 16);
                const u64 data = op == VYRE_OP_CsrTarget ? topology.targets : topology.offsets;
                const u32 len = op == VYRE_OP_CsrTarget ? topology.edges : topology.nodes;
                const u64 shift = op == VYRE_OP_CsrEnd;
                u32 bad = 0;
                EACH if (ACTIVE && x.v[k] >= len) bad |= 1u << k;
                if (K > 1 && __any_sync(VYRE_FULL, bad != 0)) goto out_of_bounds;
                EACH y.v[k] = load_topology_if(ACTIVE && (K > 1 || bad == 0), data, x.v[k] + shift, 0);
                if (K == 1) FAULT(bad, VYRE_TRAP_IndexOutOfBounds, A_PLACE, len);
                STORE32(y);
            }

// Atomics. Common ones issue all K accesses at once, the rare ones go item by item.
#define ATOMIC32(NAME, EXPR)                                                                \
    OP(NAME) {                                                                              \
        Vec<K> r = y;                                                                       \
        ELEMENT(4, {                                                                        \
            const u32 q = y.v[k];                                                           \
            r.v[k] = (EXPR);                                                                \
        });                                                                                 \
        STORE32_IF_USED(r);                                                                 \
    }
            ATOMIC32(AtomAdd32, atomic_add(at, q))
            ATOMIC32(AtomAddF32, B32(atomic_add_f32(at, F32(q))))
// Those of wide rounds that most often change nothing look at the element first, which costs memory less than an atomic,
// the more so where many lanes mean one element; `KEEPS`: what q does not change. With one item a lane the look would only
// take time.
#define LOOKING32(NAME, KEEPS, ATOMIC)                                                      \
    OP(NAME) {                                                                              \
        const Buffer& buffer = *table<Buffer>(image().buffers, imm >> 16);                  \
        const u64 data = buffer.data;                                                       \
        const u32 len = buffer.len;                                                         \
        u32 bad = 0;                                                                        \
        EACH if (ACTIVE && x.v[k] >= len) bad |= 1u << k;                                   \
        if (K > 1 && __any_sync(VYRE_FULL, bad != 0)) goto out_of_bounds;                   \
        Vec<K> seen = y;                                                                    \
        const bool looks = K > 1 && (imm & VYRE_TILE_KNOWN) == 0;                           \
        if (looks) EACH seen.v[k] = load_relaxed_if(ACTIVE, data + U64(x.v[k]) * 4, 0);     \
        EACH {                                                                              \
            const u32 p = seen.v[k], q = y.v[k];                                            \
            if (ACTIVE && (K > 1 ? !looks || !(KEEPS) : bad == 0))                          \
                seen.v[k] = ATOMIC(data + U64(x.v[k]) * 4, q);                              \
        }                                                                                   \
        if (K == 1) FAULT(bad, VYRE_TRAP_IndexOutOfBounds, A_PLACE, len);                   \
        STORE32_IF_USED(seen);                                                              \
    }
            LOOKING32(AtomMinU32, p <= q, atomic_min_u32)
            LOOKING32(AtomMaxU32, p >= q, atomic_max_u32)
            LOOKING32(AtomOr32, (p | q) == p, atomic_or)
            OP(AtomOr64) {
                const Buffer& buffer = *table<Buffer>(image().buffers, imm >> 16);
                const u64 data = buffer.data;
                const u32 len = buffer.len;
                u32 bad = 0;
                EACH if (ACTIVE && x.v[k] >= len) bad |= 1u << k;
                if (K > 1 && __any_sync(VYRE_FULL, bad != 0)) goto out_of_bounds;
                LOAD_HIGH(yh, B_BYTE, b_at);
                Vec<K> low, high;
                u64 seen[K];
                const bool looks = K > 1 && (imm & VYRE_TILE_KNOWN) == 0;
                EACH seen[k] = looks ? load_relaxed64_if(ACTIVE, data + U64(x.v[k]) * 8, 0) : 0;
                EACH {
                    const u64 q = JOIN(y.v[k], yh.v[k]);
                    if (ACTIVE && (K > 1 ? !looks || (seen[k] | q) != seen[k] : bad == 0))
                        seen[k] = atomic_or64(data + U64(x.v[k]) * 8, q);
                }
                if (K == 1) FAULT(bad, VYRE_TRAP_IndexOutOfBounds, A_PLACE, len);
                if (d == VYRE_IMM) goto done;
                EACH {
                    low.v[k] = U32(seen[k]);
                    high.v[k] = U32(seen[k] >> 32);
                }
                STORE64(low, high);
            }
            // Most exchanges fail.
            OP(AtomCas32) {
                const Vec<K> z = load_row<K>(OPERAND(imm & 255));
                const Buffer& buffer = *table<Buffer>(image().buffers, imm >> 16);
                const u64 data = buffer.data;
                const u32 len = buffer.len;
                u32 bad = 0;
                EACH if (ACTIVE && x.v[k] >= len) bad |= 1u << k;
                if (K > 1 && __any_sync(VYRE_FULL, bad != 0)) goto out_of_bounds;
                Vec<K> seen = y;
                if (K > 1) EACH seen.v[k] = load_relaxed_if(ACTIVE, data + U64(x.v[k]) * 4, y.v[k]);
                EACH if (ACTIVE && (K > 1 ? seen.v[k] == y.v[k] : bad == 0))
                    seen.v[k] = atomic_cas(data + U64(x.v[k]) * 4, y.v[k], z.v[k]);
                if (K == 1) FAULT(bad, VYRE_TRAP_IndexOutOfBounds, A_PLACE, len);
                EACH seen.v[k] = seen.v[k] == y.v[k];
                STORE32_IF_USED(seen);
            }
            VYRE_RARE_ATOMICS_32(GROUPED) VYRE_RARE_ATOMICS_64(GROUPED) {
                const Buffer& buffer = *table<Buffer>(image().buffers, imm >> 16);
                u32 bad = 0;
                EACH if (ACTIVE && x.v[k] >= buffer.len) bad |= 1u << k;
                FAULT(bad, VYRE_TRAP_IndexOutOfBounds, A_PLACE, buffer.len);
                const bool narrow = false VYRE_RARE_ATOMICS_32(IS);
                const u32 c = op == VYRE_OP_AtomCas64 ? imm & 255 : B_BYTE, c_at = OPERAND(c);
                EACH_SLOWLY {
                    if (!ACTIVE) continue;
                    const u64 at = buffer.data + U64(load_shared(A_PLACE + k * 4)) * (narrow ? 4 : 8);
                    const u64 q = ITEM64(B_BYTE, b_at);
                    const u64 r = JOIN(load_shared(c_at + k * 4), load_shared(HIGH(c, c_at) + k * 4));
                    const u64 old = rare_atomic(op, at, q, r);
                    if (d == VYRE_IMM) continue;
                    STORE_ITEM32(old);
                    if (!narrow && op != VYRE_OP_AtomCas64) store_shared(regs + d * ROW + ROW + k * 4, U32(old >> 32));
                }
                goto done;
            }

            OP(Push) {
                const u32 nodes = table<Frontier>(image().frontiers, imm >> 16)->nodes;
                u32 bad = 0;
                EACH if (ACTIVE && x.v[k] >= nodes) bad |= 1u << k;
                FAULT(bad, VYRE_TRAP_IndexOutOfBounds, A_PLACE, nodes);
                if (__any_sync(VYRE_FULL, mask != 0)) push<K>(imm >> 16, x, mask);
                goto done;
            }
            // Items of lists and frontiers; the host gives lists numbers after the frontiers'.
            OP(Append) OP(PushItem) {
                x = reserve<K>(imm >> 16, mask);
                STORE32(x);
            }
            OP(ListSt8) OP(ListSt32) OP(ListSt64) OP(ItemSt8) OP(ItemSt32) OP(ItemSt64) {
                const Frontier& f = *table<Frontier>(image().frontiers, imm >> 16);
                const u64 data = table<Record>(image().records, f.record)->fields[f.side * 8 + (imm & 0xffff)];
                const bool bytes = op == VYRE_OP_ListSt8 || op == VYRE_OP_ItemSt8;
                const bool words = op == VYRE_OP_ListSt32 || op == VYRE_OP_ItemSt32;
                EACH_SLOWLY {
                    const u32 slot = load_shared(A_PLACE + k * 4);
                    if (!ACTIVE || slot >= f.capacity) continue;
                    if (bytes)
                        store_global8(data + slot, ITEM32(B_BYTE, b_at));
                    else if (words)
                        store_global(data + slot * 4ull, ITEM32(B_BYTE, b_at));
                    else
                        store_global64(data + slot * 8ull, ITEM64(B_BYTE, b_at));
                }
                goto done;
            }
            OP(Reduce32)
            OP(Reduce64) {
                const u32 kind = table<Reduction>(image().reductions, imm >> 16)->kind;
                if (kind / 8 == VYRE_REDUCEOP_ExactSum) {
                    EACH_SLOWLY {
                        const u64 p = op == VYRE_OP_Reduce32 ? U64(ITEM32(A_BYTE, a_at)) : ITEM64(A_BYTE, a_at);
                        exact_add(kernel, imm, ACTIVE ? p : 0);
                    }
                    goto done;
                }
                const Kernel& info = *table<Kernel>(image().kernels, kernel);
                const u32 at = shared_address(image().registers_shared) + warp_id() * info.warp_bytes + info.accumulators +
                               (imm & 0xffff) * 256 + lane_id() * 8;
                u64 total = load_shared64(at);
                EACH_SLOWLY {
                    if (!ACTIVE) continue;
                    const u64 p = op == VYRE_OP_Reduce32 ? U64(ITEM32(A_BYTE, a_at)) : ITEM64(A_BYTE, a_at);
                    total = combine(kind, total, p);
                }
                store_shared64(at, total);
                goto done;
            }

            OP(If) {
                u32 taken = 0;
                EACH if (ACTIVE && x.v[k] != 0) taken |= 1u << k;
                SET_FRAME(depth, mask);
                SET_FRAME(depth + 1, mask & ~taken);
                depth += VYRE_FRAMES_PER_IF;
                mask = taken;
                if (!__any_sync(VYRE_FULL, mask != 0)) goto jump;
                goto done;
            }
            OP(Else) {
                mask = FRAME(depth - 1);
                SET_FRAME(depth - 1, 0);
                if (!__any_sync(VYRE_FULL, mask != 0)) goto jump;
                goto done;
            }
            OP(EndIf) {
                depth -= VYRE_FRAMES_PER_IF;
                mask = FRAME(depth);
                goto done;
            }
            OP(Loop) {
                SET_FRAME(depth, mask);
                SET_FRAME(depth + 1, mask);
                depth += VYRE_FRAMES_PER_LOOP;
                goto done;
            }
            OP(EndLoop) {
                mask = FRAME(depth - 1);
                if (d != 0) count_steps(__popc(mask));
                if (looks_after(words, PC - imm) && is_aborted()) KILL(ALL);
                if (__any_sync(VYRE_FULL, mask != 0)) {
                    here = PLACE_OF(imm + 1);
                    word = FETCH(here);
                    continue;
                }
                depth -= VYRE_FRAMES_PER_LOOP;
                mask = FRAME(depth);
                goto done;
            }
#define LEAVE(LEAVING, FROM)                                        \
    do {                                                            \
        const u32 leaving_ = (LEAVING);                             \
        stack &= ~(every_frame<K>(leaving_) & ~0ull << (FROM) * K); \
        mask &= ~leaving_;                                          \
    } while (0)
            OP(Break) LEAVE(mask, imm); goto done;
            OP(BreakIf) {
                u32 taken = 0;
                EACH if (ACTIVE && x.v[k] != 0) taken |= 1u << k;
                LEAVE(taken, imm);
                goto done;
            }
            OP(BreakUnless) {
                u32 taken = 0;
                EACH if (ACTIVE && x.v[k] == 0) taken |= 1u << k;
                LEAVE(taken, imm);
                goto done;
            }
            OP(Continue) {
                // The shift count may reach the width of the stack, where nothing is above the frame.
                const u32 from = (imm + 1) * K;
                stack &= ~(from < 64 ? every_frame<K>(mask) & ~0ull << from : 0);
                mask = 0;
                goto done;
            }
            // A lifted neighbour loop, whose turns are independent but for one value d that takes in what each makes: the
            // warp's lanes share the edges of all its items, which lie a after b. Its own code follows the kernel's. No
            // frame is open here, so the stack keeps the items and the pc, and `value` the edges done. Rows from `imm`
            // on: first edges' places in the tile, edges, their items; row a becomes an item's first edge less its place.
            OP(NEIGHBORS) {
                const u32 fresh = regs + (imm >> 16 & 255) * ROW;
                Vec<K> degree;
                u32 over = 0;
                EACH {
                    degree.v[k] = ACTIVE && y.v[k] > x.v[k] ? y.v[k] - x.v[k] : 0;
                    if (degree.v[k] > VYRE_RANGE_HUB) over |= 1u << k;
                }
                if (__any_sync(VYRE_FULL, over != 0)) {
                    if ((imm & VYRE_OF_PART) == 0 && table<Wave>(image().waves, vyre_state.wave)->range_count != 0) {
                        const u32 taken = take_sums<K>(x, y, over, regs + d * ROW, word_at(code, (imm & 0xffff) - 1).y);
                        EACH if (taken >> k & 1) degree.v[k] = 0;
                    }
                    u32 vast = 0;
                    EACH {
                        if (degree.v[k] >= 1u << 24) vast = 1;
                        x.v[k] = y.v[k] - degree.v[k];
                    }
                    if (__any_sync(VYRE_FULL, vast != 0)) {
                        EACH if (ACTIVE) store_shared(a_at + k * 4, x.v[k]);
                        goto loop;
                    }
                }
                u32 total = 0;
                EACH {
                    u32 sum = degree.v[k];
                    for (u32 step = 1; step < 32; step <<= 1) {
                        const u32 below = __shfl_up_sync(VYRE_FULL, sum, step);
                        if (lane_id() >= step) sum += below;
                    }
                    x.v[k] = total + sum - degree.v[k];
                    y.v[k] -= degree.v[k] + x.v[k];
                    total += __shfl_sync(VYRE_FULL, sum, 31);
                }
                store_row<K>(fresh, x);
                store_row<K>(a_at, y);
                stack = static_cast<u64>(PC) << 8 | mask;
                depth = VYRE_LIFTED;
                value = 0;
                // With one item a lane the rows are too short for its scratch.
                if (K == 1 || (imm & VYRE_GATHER) == 0) goto tile;
                {
                    u32 some = 0;
                    EACH if (degree.v[k] != 0) some |= 1u << k;
                    const u32 rows = regs - lane_id() * (K * 4), body = imm & 0xffff;
                    __syncwarp();
                    constexpr int M = K == 1 ? 2 : K;
                    value = gather<M>(word_at(code, body - 1).y, code + body * VYRE_WORD_BYTES,
                                      reinterpret_cast<Vec<M>&>(x), some, rows + A_BYTE * ROW,
                                      rows + ((imm >> 16 & 255) + 1) * ROW, rows + d * ROW, total);
                    if (value < total) goto unlift;
                    stack = 0;
                    depth = 0;
                    if (value == VYRE_NONE) KILL(ALL);
                    value = 0;
                    here = PLACE_OF(word_at(code, body - 1).x);
                    word = FETCH(here);
                    continue;
                }
            }
            OP(END_NEIGHBORS) {
                const uint4 origin = word_at(code, static_cast<u32>(stack >> 8));
                const u32 rows = regs - lane_id() * (K * 4);
                merge_tile<K>(word_at(code, (origin.y & 0xffff) - 1).y, x, regs + ((origin.y >> 16 & 255) + 2) * ROW,
                              rows + (origin.x >> 8 & 255) * ROW);
                value += 32 * K;
                if (looks_after(words, PC - (origin.y & 0xffff)) && is_aborted()) {
                    stack &= ~0xffull;
                    value = ~0u;
                }
                goto tile;
            }
            OP(RetV)
                if (mask & 1) value = x.v[0];
                // fall through
            OP(Ret) {
                if (depth == 0) return value;
                KILL(mask);
                goto done;
            }
            OP(Trap) FAULT(mask, imm, VYRE_NONE, 0); goto done;
            OP(Assert) {
                u32 bad = 0;
                EACH if (ACTIVE && x.v[k] == 0) bad |= 1u << k;
                FAULT(bad, imm, VYRE_NONE, 0);
                goto done;
            }
            // Tile code: words that the host makes of several (vyre-cuda/src/tile.rs).
            OP(TILE_END) return value;
            OP(TILE_WITHOUT) {
                const Vec<K> xl = AGAIN(x, a_at), yl = AGAIN(y, b_at);
                Vec<K> low, high;
                LOAD_HIGH(xh, A_BYTE, a_at);
                LOAD_HIGH(yh, B_BYTE, b_at);
                EACH {
                    low.v[k] = xl.v[k] & ~yl.v[k];
                    high.v[k] = xh.v[k] & ~yh.v[k];
                }
                STORE64(low, high);
            }
// Items leave for which C does not hold.
#define EXIT(C)                                              \
    do {                                                     \
        u32 stays = 0;                                       \
        EACH if (C) stays |= 1u << k;                        \
        mask &= stays;                                       \
        alive = mask;                                        \
        if (!__any_sync(VYRE_FULL, mask != 0)) return value; \
        goto done;                                           \
    } while (0)
            OP(TILE_EXIT) EXIT(x.v[k] != 0);
            OP(TILE_EXIT_LT) EXIT(x.v[k] < y.v[k]);
            OP(TILE_EXIT_LE) EXIT(x.v[k] <= y.v[k]);
            OP(TILE_EXIT_EQ) EXIT(x.v[k] == y.v[k]);
            OP(TILE_EXIT_NE) EXIT(x.v[k] != y.v[k]);
            OP(TILE_EXIT_NE64) {
                LOAD_HIGH(xh, A_BYTE, a_at);
                LOAD_HIGH(yh, B_BYTE, b_at);
                EXIT(x.v[k] != y.v[k] || xh.v[k] != yh.v[k]);
            }
            OP(TILE_PUSH) {
                const u32 nodes = table<Frontier>(image().frontiers, imm >> 16)->nodes;
                const bool when = (imm & 1) != 0;
                u32 pushing = 0, bad = 0;
                EACH {
                    if (!ACTIVE || (y.v[k] != 0) != when) continue;
                    pushing |= 1u << k;
                    if (x.v[k] >= nodes) bad |= 1u << k;
                }
                FAULT(bad, VYRE_TRAP_IndexOutOfBounds, A_PLACE, nodes);
                pushing &= mask;
                if (__any_sync(VYRE_FULL, pushing != 0)) push<K>(imm >> 16, x, pushing);
                goto done;
            }
            // The loads that the words after this one describe, all at once; plain loads may as well be relaxed ones.
            OP(TILE_LOADS) {
                const u32 count = imm & 255;
                u32 bad = 0;
#define DESCRIBED(I)                                                                              \
    const u32 described = here + ((I) + 1) * VYRE_WORD_BYTES;                                     \
    const uint4 load = FETCH(described);                                                          \
    const u32 at = K > 1 ? (S32(load.z) < 0 ? load.z + described + VYRE_FIXED : load.z + regs)    \
                         : OPERAND(load.x >> 16 & 255);                                           \
    const Buffer& buffer = *table<Buffer>(image().buffers, load.y >> 16);                         \
    const u64 data = buffer.data;                                                                 \
    const u32 len = buffer.len;                                                                   \
    const Vec<K> index = load_row<K>(at)
                if ((imm >> 8) == 0) {
                    Vec<K> r[3] = {};
#pragma unroll
                    for (u32 i = 0; i < 3; i++) {
                        if (i >= count) continue;
                        DESCRIBED(i);
                        EACH {
                            const bool some = ACTIVE && index.v[k] < len;
                            if (ACTIVE && !some) bad |= 1u << k;
                            r[i].v[k] = load_relaxed_if(some, data + U64(index.v[k]) * 4, 0);
                        }
                    }
                    if (__any_sync(VYRE_FULL, bad != 0)) goto plain;
#pragma unroll
                    for (u32 i = 0; i < 3; i++)
                        if (i < count) store_row<K>(regs + (FETCH(here + (i + 1) * VYRE_WORD_BYTES).x >> 8 & 255) * ROW, r[i]);
                } else {
                    u64 r[3][K] = {};
#pragma unroll
                    for (u32 i = 0; i < 3; i++) {
                        if (i >= count) continue;
                        DESCRIBED(i);
                        EACH {
                            const bool some = ACTIVE && index.v[k] < len;
                            if (ACTIVE && !some) bad |= 1u << k;
                            r[i][k] = load_relaxed64_if(some, data + U64(index.v[k]) * 8, 0);
                        }
                    }
                    if (__any_sync(VYRE_FULL, bad != 0)) goto plain;
#pragma unroll
                    for (u32 i = 0; i < 3; i++) {
                        if (i >= count) continue;
                        const u32 to = regs + (FETCH(here + (i + 1) * VYRE_WORD_BYTES).x >> 8 & 255) * ROW;
                        Vec<K> low, high;
                        EACH {
                            low.v[k] = U32(r[i][k]);
                            high.v[k] = U32(r[i][k] >> 32);
                        }
                        store_row<K>(to, low);
                        store_row<K>(to + ROW, high);
                    }
                }
                here += (count + 1) * VYRE_WORD_BYTES;
                word = FETCH(here);
                continue;
            }
        }
    // The kernel's own code finds out what is wrong. Nothing was done yet.
    plain:
        here = code;
        word = FETCH(here);
        continue;
    // Some active item's index in operand a is out of the bounds of what the word names.
    out_of_bounds: {
        u32 len;
        if (op == VYRE_OP_CsrTarget)
            len = table<Topology>(image().topologies, imm >> 16)->edges;
        else if (op == VYRE_OP_CsrBegin || op == VYRE_OP_CsrEnd)
            len = table<Topology>(image().topologies, imm >> 16)->nodes;
        else
            len = table<Buffer>(image().buffers, imm >> 16)->len;
        const Vec<K> index = load_row<K>(a_at);
        u32 bad = 0;
        EACH if (ACTIVE && index.v[k] >= len) bad |= 1u << k;
        FAULT(bad, VYRE_TRAP_IndexOutOfBounds, A_PLACE, len);
        continue;
    }
    done:
        here += VYRE_WORD_BYTES;
        word = next;
        continue;
    // The next edges of a lifted loop, or its end.
    tile: {
        const uint4 origin = word_at(code, static_cast<u32>(stack >> 8));
        const u32 rows = regs - lane_id() * (K * 4), last = 31 * (K * 4) + (K - 1) * 4;
        const u32 fresh = origin.y >> 16 & 255, base_row = rows + (origin.x >> 16 & 255) * ROW;
        __syncwarp();
        const u32 total = load_shared(rows + (origin.x >> 24) * ROW + last) - load_shared(base_row + last);
        if (value >= total) {
            alive = mask = static_cast<u32>(stack) & 255;
            stack = 0;
            depth = 0;
            if ((origin.y & VYRE_OF_PART) != 0) return value;
            here = PLACE_OF(word_at(code, (origin.y & 0xffff) - 1).x);
            word = FETCH(here);
            continue;
        }
        Vec<K> edge, owner;
        u32 now = 0;
        EACH {
            const u32 at = value + k * 32 + lane_id();
            u32 p = 0;
#pragma unroll
            for (u32 step = 16 * K; step > 0; step >>= 1)
                if (load_shared(item_address<K>(rows + fresh * ROW, p + step)) <= at) p += step;
            edge.v[k] = load_shared(item_address<K>(base_row, p)) + at;
            owner.v[k] = VYRE_NONE;
            if (at < total) {
                now |= 1u << k;
                owner.v[k] = p;
            }
        }
        alive = mask = now;
        store_row<K>(regs + (fresh + 1) * ROW, edge);
        store_row<K>(regs + (fresh + 2) * ROW, owner);
        here = PLACE_OF(origin.y & 0xffff);
        word = FETCH(here);
        continue;
    }
    // A turn of a lifted loop faults: go on with the plain loop where the edges done end, which finds the first fault.
    unlift: {
        here = PLACE_OF(static_cast<u32>(stack >> 8));
        const uint4 origin = word_at(here, 0);
        if ((origin.y & VYRE_OF_PART) != 0) return 0;
        const u32 base_at = regs + (origin.x >> 16 & 255) * ROW;
        const Vec<K> place = load_row<K>(regs + (origin.y >> 16 & 255) * ROW), ends = load_row<K>(regs + (origin.x >> 24) * ROW);
        Vec<K> begin = load_row<K>(base_at);
        EACH {
            begin.v[k] += place.v[k];
            if (value > place.v[k]) begin.v[k] += min(value - place.v[k], ends.v[k] - begin.v[k]);
        }
        __syncwarp();
        store_row<K>(base_at, begin);
        alive = mask = static_cast<u32>(stack) & 255;
        stack = 0;
        depth = 0;
    }
    loop:
        SET_FRAME(depth, mask);
        SET_FRAME(depth + 1, mask);
        depth += VYRE_FRAMES_PER_LOOP;
        here += VYRE_WORD_BYTES;
        word = FETCH(here);
        continue;
    jump:
        here = PLACE_OF(imm);
        word = FETCH(here);
        continue;
    unknown:
        fault<K>(kernel, regs, PC << 8 | VYRE_TRAP_UnknownWord, 0, VYRE_NONE, op, 0);
        return value;
    }
}
