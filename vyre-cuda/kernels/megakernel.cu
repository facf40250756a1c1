// The persistent megakernel: one cooperative launch runs a whole pass.
//
// One CTA of 1024 threads runs on each multiprocessor. Warp 0 is the control warp: between two sweeps it executes the
// schedule (barriers, flips, conditions) while the other warps wait, and all CTAs compute the same decisions from words
// that were final when the barrier was passed.
//
// The grid barrier is one 64-bit word: arrivals in bits 56.., CTAs that want to stop in 48.., CTAs whose pushes need a
// look at the counters in 40.., and below them the number of items pushed to the frontier that the barrier carries. Three
// words are used in turn: one is polled, the next is zeroed before this one's arrivals.
//
// In a batch every CTA is a group of its own: it takes queries from a queue and runs the whole schedule of each, and its
// barriers are those of the CTA, which `advance` lies between anyway.

#include <cstddef>
#ifdef VYRE_PROFILE
#include <cstdio>
#endif

#include "operators.cuh"

#define VYRE_ARRIVAL (1ull << 56)
#define VYRE_STOP (1ull << 48)
#define VYRE_ATTENTION (1ull << 40)

// Float minima and maxima are kept in slots as integers of the same order, so that the hardware's atomics serve.
__device__ __forceinline__ u64 ordered(u32 kind, u64 bits) {
    if (kind == KIND(Min, F32) || kind == KIND(Max, F32)) {
        const u32 x = static_cast<u32>(bits);
        return x >> 31 ? ~x : x | 0x80000000u;
    }
    if (kind == KIND(Min, F64) || kind == KIND(Max, F64)) return bits >> 63 ? ~bits : bits | 1ull << 63;
    return bits;
}
__device__ __forceinline__ u64 unordered(u32 kind, u64 bits) {
    if (kind == KIND(Min, F32) || kind == KIND(Max, F32)) {
        const u32 x = static_cast<u32>(bits);
        return x >> 31 ? x & 0x7fffffffu : static_cast<u32>(~x);
    }
    if (kind == KIND(Min, F64) || kind == KIND(Max, F64)) return bits >> 63 ? bits & ~(1ull << 63) : ~bits;
    return bits;
}

// Takes a CTA's partial into a reduction's slot.
__device__ __noinline__ void contribute(u32 kind, u64 slot, u64 x) {
    const u32 low = static_cast<u32>(x);
    switch (kind) {
        case KIND(Sum, U32):
        case KIND(Sum, I32): atomic_add(slot, low); break;
        case KIND(Sum, U64):
        case KIND(Sum, I64): atomic_add64(slot, x); break;
        case KIND(Sum, F32): atomic_add_f32(slot, __uint_as_float(low)); break;
        case KIND(Sum, F64): atomic_add_f64(slot, __longlong_as_double(x)); break;
        case KIND(Min, F32): atomic_min_u32(slot, static_cast<u32>(ordered(kind, x))); break;
        case KIND(Min, Bool):
        case KIND(Min, U32): atomic_min_u32(slot, low); break;
        case KIND(Min, I32): atomic_min_i32(slot, low); break;
        case KIND(Min, F64): atomic_min_u64(slot, ordered(kind, x)); break;
        case KIND(Min, U64): atomic_min_u64(slot, x); break;
        case KIND(Min, I64): atomic_min_i64(slot, x); break;
        case KIND(Max, F32): atomic_max_u32(slot, static_cast<u32>(ordered(kind, x))); break;
        case KIND(Max, Bool):
        case KIND(Max, U32): atomic_max_u32(slot, low); break;
        case KIND(Max, I32): atomic_max_i32(slot, low); break;
        case KIND(Max, F64): atomic_max_u64(slot, ordered(kind, x)); break;
        case KIND(Max, U64): atomic_max_u64(slot, x); break;
        case KIND(Max, I64): atomic_max_i64(slot, x); break;
        case KIND(Sum, Bool):
        case KIND(Or, Bool):
        case KIND(Or, U32):
        case KIND(Or, I32): atomic_or(slot, low); break;
        case KIND(Or, U64):
        case KIND(Or, I64): atomic_or64(slot, x); break;
        case KIND(And, Bool):
        case KIND(And, U32):
        case KIND(And, I32): atomic_and(slot, low); break;
        case KIND(And, U64):
        case KIND(And, I64): atomic_and64(slot, x); break;
        default: break;
    }
}

__device__ __forceinline__ u64 reduction_slot(const Reduction& r, u32 epoch) { return r.slots + epoch % 3 * 8; }

// Value of a uniform slot now.
__device__ __forceinline__ u64 uniform_value(const Value& v) {
    switch (v.kind) {
        case VYRE_VALUE_ROUND: return table<Fixpoint>(image().fixpoints, v.id)->round;
        case VYRE_VALUE_REDUCTION: {
            const Reduction& r = *table<Reduction>(image().reductions, v.id);
            return unordered(r.kind, load_relaxed64(reduction_slot(r, r.epoch)));
        }
        case VYRE_VALUE_FRONTIER: return min(table<Frontier>(image().frontiers, v.id)->pushed, 0xffffffffull);
        default: return v.bits;
    }
}

__device__ __forceinline__ void stage(const Kernel& kernel, u32 slot, u64 bits) {
    const u32 at = shared_address(kernel.uniforms_shared) + slot * VYRE_UNIFORM_BYTES;
    const u32 low = static_cast<u32>(bits), high = static_cast<u32>(bits >> 32);
    store_row<4>(at, Vec<4>{{low, low, low, low}});
    store_row<4>(at + 16, Vec<4>{{high, high, high, high}});
}

__device__ __forceinline__ void stage(const Kernel& kernel, u32 slot) {
    stage(kernel, slot, uniform_value(*table<Value>(image().values, kernel.values + slot)));
}

// Whether a uniform slot is the round, and so changes within a plain fixpoint.
__device__ __forceinline__ bool is_round(const Kernel& kernel, u32 slot) {
    return table<Value>(image().values, kernel.values + slot)->kind == VYRE_VALUE_ROUND;
}

// Stages a kernel's uniforms, by the control warp: all of them, or those that change if the others stay staged.
__device__ __forceinline__ void stage_uniforms(u32 kernel_id) {
    const Kernel& kernel = *table<Kernel>(image().kernels, kernel_id);
    if (kernel.staged != 0) {
        for (u32 i = lane_id(); i < kernel.dynamic_count; i += 32)
            stage(kernel, *table<u32>(image().lists, kernel.dynamic + i));
    } else {
        for (u32 slot = lane_id(); slot < kernel.value_count; slot += 32) stage(kernel, slot);
    }
    __syncwarp();
}

// The turn after this one, of three.
__device__ __forceinline__ u32 after(u32 turn) { return turn == VYRE_BARRIER_WORDS - 1 ? 0 : turn + 1; }

// Where the pushes of a barrier's group to a frontier that it does not carry are summed.
__device__ __forceinline__ u64 sum_address(const Frontier& f, u32 phase) {
    return f.counters + (VYRE_BARRIER_WORDS + phase) * 128;
}

// All CTAs arrive with a word; returns the sum. `abort`: what CTA 0 read of the abort flag after the barrier before.
__device__ __forceinline__ u64 grid_barrier(u64 word, u32& abort) {
    const u32 phase = vyre_state.phase, next = after(phase);
    const u64 words = VYRE_CONTROL(barrier);
    if (vyre_state.cta == 0 && image().looked_count != 0) {
        for (u32 i = lane_id(); i < image().looked_count; i += 32)
            store_relaxed64(
                sum_address(*table<Frontier>(image().frontiers, *table<u32>(image().lists, image().looked + i)), next), 0);
    }
    __syncwarp();
    u64 seen = 0;
    const u32 ctas = vyre_state.ctas;
    if (lane_id() == 0) {
        vyre_state.phase = next;
        if (ctas == 1) {
            seen = VYRE_ARRIVAL + word;
        } else {
            if (blockIdx.x == 0) {
                store_relaxed64(words + next * 128, 0);
                if (abort != 0) word += VYRE_STOP;
            }
            add_release64(words + phase * 128, VYRE_ARRIVAL + word);
            do {
                seen = load_acquire64(words + phase * 128);
            } while (seen >> 56 != ctas);
            if (blockIdx.x == 0) abort = load_relaxed(VYRE_CONTROL(abort));
        }
    }
    seen = __shfl_sync(VYRE_FULL, seen, 0);
    __syncwarp();
    return seen;
}

// What a CTA adds to the count of a group's pushes. A capacity is below 2^32, so that more need not be told apart.
__device__ __forceinline__ u64 pushed_here(const Frontier& f) {
    return f.local_high != 0 ? 1ull << 32 : static_cast<u64>(f.local);
}

// A frontier's part of a barrier: what the group pushed, and whether it fits.
__device__ __forceinline__ void settle(const u32* entry, u64 pushed, bool hubs) {
    Frontier& f = *table<Frontier>(image().frontiers, entry[0]);
    f.pushed += pushed;
    // A later group of the round may already add hubs, but then its own barrier settles them.
    if (hubs) f.pushed_hubs = load_relaxed64(f.hub_counters + f.third * 128);
    if (f.pushed > f.capacity) {
        vyre_state.stop = 1;
        if (vyre_state.cta == 0)
            raise(trap_key(entry[1], VYRE_WHOLE_WAVE, entry[2]), f.trap, f.pushed, f.capacity);
    }
    if (f.owned == 0) {
        f.swept = f.pushed;
        f.swept_hubs = f.pushed_hubs;
    }
    f.local = f.local_high = 0;
    f.attention = 0;
}

// Arrives at the barrier of a step, with what this CTA has to say; returns the barrier's word.
__device__ __forceinline__ u64 arrive(const Step& step, u32& abort) {
    const u32 phase = vyre_state.phase;
    u64 word = vyre_state.trapped != 0 ? VYRE_STOP : 0;
    if (step.carried != VYRE_NONE) {
        const Frontier& f = *table<Frontier>(image().frontiers, step.carried);
        word += pushed_here(f) + (f.attention != 0 ? VYRE_ATTENTION : 0);
    }
    if (step.pushed_count > 1) {
        const u32* entries = table<u32>(image().lists, step.pushed);
        for (u32 i = 1 + lane_id(); i < step.pushed_count; i += 32) {
            const Frontier& f = *table<Frontier>(image().frontiers, entries[i * 3]);
            const u64 pushed = pushed_here(f);
            if (pushed != 0) atomic_add64(sum_address(f, phase), pushed);
        }
    }
    return grid_barrier(word, abort);
}

// What the barrier of a step tells; true when the run stops here.
__device__ __forceinline__ bool settle_all(const Step& step, u64 seen) {
    const u32* entries = table<u32>(image().lists, step.pushed);
    // The sums of the barrier just passed.
    const u32 phase = after(after(vyre_state.phase));
    if (lane_id() == 0) {
        if (step.carried != VYRE_NONE) settle(entries, seen & (VYRE_ATTENTION - 1), (seen >> 40 & 255) != 0);
        if ((seen >> 48 & 255) != 0) vyre_state.stop = 1;
    }
    for (u32 i = 1 + lane_id(); i < step.pushed_count; i += 32) {
        const Frontier& f = *table<Frontier>(image().frontiers, entries[i * 3]);
        settle(entries + i * 3, load_relaxed64(sum_address(f, phase)), true);
    }
    __syncwarp();
    return vyre_state.stop != 0;
}

// Where pushes go from now on.
__device__ __forceinline__ void flip(Frontier& f, u64 items, u64 hubs) {
    const u32 third = after(f.third);
    f.swept = items;
    f.swept_hubs = hubs;
    f.side ^= 1;
    f.third = third;
    f.stamp += 1;
    // What the next round will use is zeroed now: it was last read before the barrier that ended the round before.
    if (vyre_state.cta == 0) {
        store_relaxed64(f.counters + after(third) * 128, 0);
        if (f.hubs_len != 0) store_relaxed64(f.hub_counters + after(third) * 128, 0);
    }
}

// Starts a round of a fixpoint: flips its frontiers, resets its reductions (the next round's slots, as in `flip`).
__device__ __forceinline__ void start_round(const Fixpoint& fixpoint) {
    for (u32 i = lane_id(); i < fixpoint.frontier_count; i += 32) {
        Frontier& f = *table<Frontier>(image().frontiers, *table<u32>(image().lists, fixpoint.frontiers + i));
        flip(f, f.pushed, f.pushed_hubs);
        f.pushed = f.pushed_hubs = 0;
    }
    for (u32 i = lane_id(); i < fixpoint.reduction_count; i += 32) {
        Reduction& r = *table<Reduction>(image().reductions, *table<u32>(image().lists, fixpoint.reductions + i));
        r.epoch += 1;
        if (vyre_state.cta == 0) store_relaxed64(reduction_slot(r, r.epoch + 1), ordered(r.kind, r.identity));
    }
    __syncwarp();
}

// The condition of a fixpoint, by the control warp; sets `stop` when it traps.
__device__ __forceinline__ bool finished(const Fixpoint& fixpoint) {
    if (fixpoint.until_frontier != VYRE_NONE)
        return table<Frontier>(image().frontiers, fixpoint.until_frontier)->pushed == 0;
    const u32 id = fixpoint.until_kernel;
    const Kernel& kernel = *table<Kernel>(image().kernels, id);
    stage_uniforms(id);
    const u32 code = kernel.code_at;
    const u32 regs = shared_address(image().registers_shared) + lane_id() * 4;
    const u32 value = interpret<1>(code, regs, shared_address(kernel.uniforms_shared), lane_id() == 0, id);
    __syncwarp();
    if (lane_id() == 0 && vyre_state.trapped != 0) vyre_state.stop = 1;
    __syncwarp();
    return __shfl_sync(VYRE_FULL, value, 0) != 0;
}

// Leaves the launch: CTA 0 writes what the host wants to know.
__device__ __forceinline__ void leave() {
    __syncwarp();
    if (lane_id() == 0) vyre_state.wave = VYRE_NONE;
    if (vyre_state.cta != 0) return;
#ifdef VYRE_PROFILE
    MARK(0);
    WIDTH(0);
    if (lane_id() == 0) {
        for (u32 i = 0; i < 128; i++)
            if (vyre_profile_count[i] != 0) printf("phase %u cycles %llu times %u\n", i, vyre_profile[i], vyre_profile_count[i]);
        for (u32 i = 0; i < 34; i++)
            if (vyre_profile_width[0][i] != 0)
                printf("width below 2^%u rounds %llu cycles %llu items %llu\n", i, vyre_profile_width[0][i],
                       vyre_profile_width[1][i], vyre_profile_width[2][i]);
        u64 time;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
        printf("phase end, clock %u, ns %llu\n", static_cast<u32>(clock()), time);
    }
#endif
    const u64 results = image().results;
    for (u32 i = lane_id(); i < image().fixpoint_count; i += 32)
        store_global64(results + i * 8, table<Fixpoint>(image().fixpoints, i)->rounds);
    const u64 homes = results + image().fixpoint_count * 8ull;
    for (u32 i = lane_id(); i < image().buffer_count; i += 32)
        store_global(homes + i * 4, table<Buffer>(image().buffers, i)->home);
    const u64 epochs = homes + image().buffer_count * 4ull;
    for (u32 i = lane_id(); i < image().reduction_count; i += 32)
        store_global(epochs + i * 4, table<Reduction>(image().reductions, i)->epoch);
    const u64 stamps = epochs + image().reduction_count * 4ull;
    for (u32 i = lane_id(); i < image().frontier_count; i += 32)
        store_global(stamps + i * 4, table<Frontier>(image().frontiers, i)->stamp);
    if (lane_id() == 0) {
        store_global64(VYRE_CONTROL(sweeps), vyre_state.sweeps);
        store_global64(VYRE_CONTROL(items), vyre_state.items);
        store_global64(VYRE_CONTROL(widest), vyre_state.widest);
        store_global64(VYRE_CONTROL(pulled), vyre_state.pulled);
        store_global64(VYRE_CONTROL(missed), vyre_state.missed);
        store_global64(VYRE_CONTROL(gathered), vyre_state.gathered);
        store_global64(VYRE_CONTROL(fitting), vyre_state.fitting);
        u64 waiting = 0;
        for (u32 i = 0; i < image().frontier_count; i++) {
            const Frontier& f = *table<Frontier>(image().frontiers, i);
            if (f.owned != 0) waiting += f.pushed;
        }
        store_global64(VYRE_CONTROL(waiting), waiting);
        store_global(VYRE_CONTROL(finished), 1);
    }
    __syncwarp();
}

// Hands out a wave's work: how many warps of a CTA have any, and a frontier's items in what portions.
__device__ __forceinline__ void hand_out(Wave& wave, const Kernel& kernel) {
    const bool edges = wave.domain == VYRE_DOMAIN_EdgesFrom;
    u64 n = wave.len;
    bool hubs = wave.domain == VYRE_DOMAIN_Edges;
    if (wave.frontier != VYRE_NONE) {
        const Frontier& f = *table<Frontier>(image().frontiers, wave.frontier);
        n = f.swept;
        hubs = f.swept_hubs != 0;
        if (wave.domain != VYRE_DOMAIN_ListItems) {
            WIDTH(n);
            vyre_state.sweeps += 1;
            vyre_state.items += n;
            vyre_state.widest = max(vyre_state.widest, n);
        }
    }
    if (wave.fresh != 0) {
        wave.from = wave.swept_to;
        wave.swept_to = n;
        n -= wave.from;
    }
    u32 each = edges ? wave.narrow : 32;
    const u32 first = each * vyre_state.ctas;  // what the first warps of all CTAs take
    if (edges && n > static_cast<u64>(first) * kernel.warps) {
        const u64 warps = static_cast<u64>(kernel.warps) * vyre_state.ctas;
        each = n > 31 * warps ? 32 : (static_cast<u32>(n) + static_cast<u32>(warps) - 1) / static_cast<u32>(warps);
    }
    // Where an item has few edges, a warp takes so many items that they fill its tiles.
    if (edges && each == 32 && kernel.k == 4 && wave.narrow >= VYRE_MORE_ITEMS) {
        const u32 more = wave.narrow >= 24 ? 96 : 64;
        if (n > static_cast<u64>(more) * kernel.warps * vyre_state.ctas) each = more;
    }
    // Warps without a tile need not begin.
    const u32 most = each * vyre_state.ctas;
    const bool all = hubs || wave.chunk_count != 0 || n > static_cast<u64>(most) * kernel.warps;
    const u32 active = all ? kernel.warps : max(1u, (static_cast<u32>(n) + most - 1) / most);
    vyre_state.each = each;
    vyre_state.active = active;
    vyre_state.taken = 0;
}

// Takes the partials of the wave before into the grid's reductions.
__device__ __noinline__ void contribute_all(const Kernel& kernel) {
    for (u32 i = 0; i < kernel.reduction_count; i++) {
        const Reduction& r = *table<Reduction>(image().reductions, *table<u32>(image().lists, kernel.reductions + i));
        u64 total = *table<u64>(image().partials_shared, i * VYRE_WARPS + lane_id());
#pragma unroll 1
        for (u32 step = 16; step > 0; step >>= 1) total = combine(r.kind, total, __shfl_xor_sync(VYRE_FULL, total, step));
        if (lane_id() == 0) contribute(r.kind, reduction_slot(r, r.epoch), total);
    }
    __syncwarp();
}

// Shows the host how far the run is: rounds, and the frontier.
__device__ __noinline__ void tell(u64 frontier) {
    const u64 at = image().progress;
    if (at == 0 || vyre_state.cta != 0) return;
    u64 rounds = 0;
    for (u32 i = 0; i < image().fixpoint_count; i++) rounds += table<Fixpoint>(image().fixpoints, i)->rounds;
    store_system64(at, rounds);
    store_system64(at + 8, frontier);
}

// A round's end of a plain fixpoint that goes on: the same as the general way, in few steps. False when it does not
// apply, with nothing changed.
__device__ __forceinline__ bool next_plain_round(const Step& step, u64 seen) {
    Fixpoint& fixpoint = *table<Fixpoint>(image().fixpoints, step.id);
    Frontier& f = *table<Frontier>(image().frontiers, step.carried);
    const u64 count = seen & (VYRE_ATTENTION - 1), round = fixpoint.round + 1;
    if (seen >> 40 != static_cast<u64>(vyre_state.ctas) << 16 || count == 0 || count > f.capacity ||
        round >= fixpoint.max_rounds)
        return false;
    Wave& wave = *table<Wave>(image().waves, vyre_state.wave);
    const Kernel& kernel = *table<Kernel>(image().kernels, vyre_state.kernel);
    __syncwarp();
    if (lane_id() < kernel.dynamic_count) {
        const u32 slot = *table<u32>(image().lists, kernel.dynamic + lane_id());
        if (is_round(kernel, slot)) stage(kernel, slot, round);
    }
    const u32* entries = table<u32>(image().lists, step.pushed);
    for (u32 i = 1 + lane_id(); i < step.pushed_count; i += 32) {
        const Frontier& other = *table<Frontier>(image().frontiers, entries[i * 3]);
        settle(entries + i * 3, load_relaxed64(sum_address(other, after(after(vyre_state.phase)))), true);
    }
    if (lane_id() == 0) {
        f.local = f.local_high = 0;
        f.pushed = 0;
        flip(f, count, 0);
        fixpoint.round = round;
        fixpoint.rounds += 1;
        if (image().progress != 0) tell(count);
        hand_out(wave, kernel);
    }
    __syncwarp();
    return true;
}

#include "pull.cuh"

// Where somebody asked, sweeps are timed: by the first CTA of a group, whenever `advance` has found what comes next. The time
// since then is that of the wave that was handed out, with the barrier that followed it. Rounds that stay on the device's
// short ways (narrow, or pulling) are all of one wave, which gets the time of the whole stay.
struct Timing {
    u64 since;
    u64 swept;   // sweeps of frontiers before a stay
    u32 wave;    // whose time it is; VYRE_NONE: nobody's
    u32 sweeps;  // that were handed out; VYRE_NONE: a stay, whose rounds are counted when it is over
};
__shared__ Timing vyre_timing;

__device__ __forceinline__ void note_time() {
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    Timing& timing = vyre_timing;
    // Fills are nobody's.
    const u32 wave = vyre_state.quick == VYRE_FILLS ? VYRE_NONE : vyre_state.wave;
    const bool stays = vyre_state.quick != 0;
    // Not so for sums of long ranges, which come before their sweep.
    const bool sweeps = wave != VYRE_NONE && !stays && vyre_state.each != 0;
    u64 swept = vyre_state.sweeps;
    if (sweeps) {
        const Wave& next = *table<Wave>(image().waves, wave);
        if (next.frontier != VYRE_NONE && next.domain != VYRE_DOMAIN_ListItems) swept -= 1;
    }
    if (timing.wave != VYRE_NONE) {
        const u64 at = image().results + image().times + timing.wave * 16ull;
        const u64 done = timing.sweeps == VYRE_NONE ? swept - timing.swept : timing.sweeps;
        store_global64(at, load_global64(at) + done);
        store_global64(at + 8, load_global64(at + 8) + (now - timing.since));
    }
    timing = Timing{now, swept, wave, stays ? VYRE_NONE : sweeps ? 1u : 0u};
}

// Sets the memory that a step names, by all CTAs.
__device__ __noinline__ void fill(const Step& step) {
    for (u32 i = 0; i < step.pushed_count; i++) {
        const Fill& fill = *table<Fill>(image().fills, step.pushed + i);
        const u32 low = static_cast<u32>(fill.pattern), high = static_cast<u32>(fill.pattern >> 32);
        uint4* to = reinterpret_cast<uint4*>(fill.address);
        const u64 stride = static_cast<u64>(vyre_state.ctas) * VYRE_THREADS;
        for (u64 at = static_cast<u64>(vyre_state.cta) * VYRE_THREADS + threadIdx.x; at < fill.units; at += stride)
            to[at] = make_uint4(low, high, low, high);
    }
}

// Runs the schedule up to the next wave, which `vyre_state.wave` names afterwards, or up to fills.
__device__ __forceinline__ void advance(u32& abort) {
    if (vyre_state.quick == VYRE_FILLS) {
        __syncwarp();
        if (lane_id() == 0) vyre_state.quick = 0;
    } else if (vyre_state.wave != VYRE_NONE && vyre_state.quick == 0) {
        const Kernel& kernel = *table<Kernel>(image().kernels, vyre_state.kernel);
        if (vyre_state.each == 0)
            grid_barrier(0, abort);  // all parts of long ranges are there; traps and pushes stay for the group's barrier
        else if (kernel.reduction_count != 0)
            contribute_all(kernel);
    }
    u32 pc = vyre_state.pc;
    u64 seen_last = 0;
    for (;;) {
        __syncwarp();
        const Step& step = *table<Step>(image().steps, pc);
        if (step.kind == VYRE_DO_UNTIL || step.kind == VYRE_DO_BARRIER) {
            u64 seen;
            // What came before was narrow rounds, rounds that pulled, or a sweep.
            const u32 before = vyre_state.quick;
            if (before == VYRE_NARROW) {
                seen = end_narrow(step, abort);
            } else if (before == VYRE_PULL) {
                seen = end_pull(step, abort);
            } else {
                seen = arrive(step, abort);
            }
            u32 special = 0;
            if (step.plain != 0 && before != VYRE_NARROW && goes_narrow(step, seen)) {
                begin_narrow(step, seen, abort);
                special = VYRE_NARROW;
            } else if (step.plain != 0 && before != VYRE_PULL && may_pull(step, seen)) {
                begin_pull(seen, abort);
                special = VYRE_PULL;
            }
            __syncwarp();
            if ((before | special) != 0) {
                if (lane_id() == 0) {
                    vyre_state.quick = special;
                    vyre_state.pc = pc;
                }
                __syncwarp();
                if (special != 0) return;
            }
            if (step.plain != 0) {
                if (next_plain_round(step, seen)) return;
            }
            seen_last = seen;
            if (settle_all(step, seen)) return leave();
        }
        switch (step.kind) {
            case VYRE_DO_WAVE: {
                Wave& wave = *table<Wave>(image().waves, step.id);
                stage_uniforms(wave.kernel);
                if (lane_id() == 0) {
                    vyre_state.wave = step.id;
                    vyre_state.kernel = wave.kernel;
                    vyre_state.pc = pc + 1;
                    hand_out(wave, *table<Kernel>(image().kernels, wave.kernel));
                }
                __syncwarp();
                return;
            }
            case VYRE_DO_HUBS: {
                Wave& wave = *table<Wave>(image().waves, step.id);
                pc++;
                if (wave.range_count == 0) break;
                if (vyre_state.ctas != gridDim.x) {
                    // The sums are the grid's: a CTA of its own walks long ranges as it does all others.
                    __syncwarp();
                    if (lane_id() == 0) wave.range_count = 0;
                    break;
                }
                stage_uniforms(wave.kernel);
                if (lane_id() == 0) {
                    vyre_state.wave = step.id;
                    vyre_state.kernel = wave.kernel;
                    vyre_state.pc = pc;
                    vyre_state.each = 0;
                    vyre_state.taken = 0;
                    vyre_state.active = table<Kernel>(image().kernels, wave.kernel)->warps;
                }
                __syncwarp();
                return;
            }
            case VYRE_DO_BARRIER: {
                pc++;
                break;
            }
            case VYRE_DO_FILL: {
                pc++;
                if (step.pushed_count == 0) break;
                if (lane_id() == 0) {
                    vyre_state.quick = VYRE_FILLS;
                    vyre_state.pc = pc;
                    vyre_state.wave = 0;
                }
                __syncwarp();
                return;
            }
            case VYRE_DO_LOOP: {
                if (lane_id() == 0) table<Fixpoint>(image().fixpoints, step.id)->round = 0;
                pc++;
                break;
            }
            case VYRE_DO_ROUND: {
                start_round(*table<Fixpoint>(image().fixpoints, step.id));
                pc++;
                break;
            }
            case VYRE_DO_UNTIL: {
                Fixpoint& fixpoint = *table<Fixpoint>(image().fixpoints, step.id);
                if (lane_id() == 0) {
                    fixpoint.rounds += 1;
                    if (image().progress != 0)
                        tell(step.carried == VYRE_NONE ? 0 : seen_last & (VYRE_ATTENTION - 1));
                    for (u32 i = 0; i < fixpoint.swap_count; i++) {
                        const u32* pair = table<u32>(image().lists, fixpoint.swaps + 2 * i);
                        Buffer &a = *table<Buffer>(image().buffers, pair[0]),
                               &b = *table<Buffer>(image().buffers, pair[1]);
                        const Buffer t = a;
                        a = b;
                        b = t;
                    }
                }
                __syncwarp();
                const bool done = finished(fixpoint);
                if (step.settle != 0) grid_barrier(0, abort);
                if (vyre_state.stop != 0) return leave();
                if (done) {
                    pc++;
                    break;
                }
                const u64 round = fixpoint.round + 1;
                if (round >= fixpoint.max_rounds) {
                    if (lane_id() == 0)
                        raise(trap_key(VYRE_ROUND_LIMIT_KERNEL, step.id, 0), VYRE_TRAP_RoundLimit, fixpoint.max_rounds,
                              fixpoint.max_rounds);
                    return leave();
                }
                __syncwarp();
                if (lane_id() == 0) fixpoint.round = round;
                __syncwarp();
                pc = fixpoint.body;
                break;
            }
            case VYRE_DO_END: return leave();
            default: {
                if (lane_id() == 0)
                    raise(trap_key(VYRE_ROUND_LIMIT_KERNEL, VYRE_WHOLE_WAVE, 0), VYRE_TRAP_UnknownWord, step.kind, 0);
                return leave();
            }
        }
    }
}

// An address of the image as this query on this CTA has it.
__device__ __forceinline__ u64 moved(const Batch& batch, u64 address) {
    if (address - batch.slab < batch.slab_bytes) return address + blockIdx.x * batch.slab_bytes;
    if (address - batch.inputs < batch.inputs_bytes) return address + vyre_state.query * batch.inputs_bytes;
    if (address - batch.results < batch.results_bytes) return address + vyre_state.query * batch.results_bytes;
    return address;
}

// Makes the image in shared memory that of a batch's query.
__device__ __noinline__ void take_query(const Batch& batch) {
    if (threadIdx.x == 0) {
        Image& head = *reinterpret_cast<Image*>(vyre_shared);
        head.control = moved(batch, head.control);
        head.results = moved(batch, head.results);
    }
    for (u32 i = threadIdx.x; i < image().buffer_count; i += VYRE_THREADS) {
        Buffer& buffer = *table<Buffer>(image().buffers, i);
        buffer.data = moved(batch, buffer.data);
    }
    for (u32 i = threadIdx.x; i < image().frontier_count; i += VYRE_THREADS) {
        Frontier& f = *table<Frontier>(image().frontiers, i);
        for (u32 side = 0; side < 2; side++) {
            f.items[side] = moved(batch, f.items[side]);
            f.ranges[side] = moved(batch, f.ranges[side]);
            f.hubs[side] = moved(batch, f.hubs[side]);
        }
        f.counters = moved(batch, f.counters);
        f.hub_counters = moved(batch, f.hub_counters);
        f.stamps = moved(batch, f.stamps);
    }
    for (u32 i = threadIdx.x; i < image().record_count * 16; i += VYRE_THREADS) {
        u64& field = table<Record>(image().records, i / 16)->fields[i % 16];
        field = moved(batch, field);
    }
    for (u32 i = threadIdx.x; i < image().reduction_count; i += VYRE_THREADS) {
        Reduction& r = *table<Reduction>(image().reductions, i);
        r.slots = moved(batch, r.slots);
    }
    for (u32 i = threadIdx.x; i < image().fill_count; i += VYRE_THREADS) {
        Fill& fill = *table<Fill>(image().fills, i);
        fill.address = moved(batch, fill.address);
    }
    const u64 scalars = batch.scalars + static_cast<u64>(vyre_state.query) * batch.scalar_count * 8;
    for (u32 i = threadIdx.x; i < image().kernel_count; i += VYRE_THREADS) {
        const Kernel& kernel = *table<Kernel>(image().kernels, i);
        for (u32 slot = 0; slot < kernel.value_count; slot++) {
            Value& value = *table<Value>(image().values, kernel.values + slot);
            if (value.kind == VYRE_VALUE_BITS && value.id != 0) value.bits = load_global64(scalars + (value.id - 1) * 8ull);
        }
    }
    __syncthreads();
}

// `batch`: many queries, or null and the image is that of the one run.
extern "C" __global__ void __launch_bounds__(VYRE_THREADS, 1) vyre_megakernel(const Image* source, Batch* batch) {
    u32 query = 0;
next_query:
    if (batch != nullptr) {
        if (threadIdx.x == 0) vyre_state.query = static_cast<u32>(atomic_add64(reinterpret_cast<u64>(&batch->next), 1));
        __syncthreads();
        query = vyre_state.query;
        if (query >= batch->queries) return;
        // Queries on graphs of their own have images of their own.
        if (batch->images != 0) source = reinterpret_cast<const Image*>(batch->images + query * batch->image_bytes);
        __syncthreads();
    }
#ifdef VYRE_PROFILE
    if (threadIdx.x < 128) {
        vyre_profile[threadIdx.x] = 0;
        vyre_profile_count[threadIdx.x] = 0;
        vyre_profile_last = vyre_profile_width_last = clock();
        vyre_profile_width_at = 0;
        if (threadIdx.x < 102) vyre_profile_width[threadIdx.x / 34][threadIdx.x % 34] = 0;
        if (threadIdx.x == 0 && blockIdx.x == 0) {
            u64 time;
            asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
            printf("phase start, clock %u, ns %llu\n", vyre_profile_last, time);
        }
    }
#endif
    // Tables and code.
    {
        const uint4* from = reinterpret_cast<const uint4*>(source);
        uint4* to = reinterpret_cast<uint4*>(vyre_shared);
        const u32 units = source->tables_bytes / 16;
        for (u32 i = threadIdx.x; i < units; i += VYRE_THREADS) to[i] = from[i];
        if (threadIdx.x == 0) {
            vyre_state = State{VYRE_NONE};
            vyre_state.pc = 1;
            vyre_pull = PullState{};
            vyre_timing.wave = VYRE_NONE;
            vyre_state.ctas = batch != nullptr ? 1 : gridDim.x;
            vyre_state.cta = batch != nullptr ? 0 : blockIdx.x;
            vyre_state.query = query;
            vyre_state.cluster = batch != nullptr ? 1 : cluster_ctas();
        }
    }
    __syncthreads();
    if (vyre_state.cluster > 1) {
        begin_gathering();
        cluster_barrier();
    }
    if (batch != nullptr) {
        if (batch->images == 0) take_query(*batch);
        // Control words as they are before a run.
        const uint4* from = reinterpret_cast<const uint4*>(batch->control);
        uint4* to = reinterpret_cast<uint4*>(image().control);
        for (u32 i = threadIdx.x; i < batch->control_bytes / 16; i += VYRE_THREADS) to[i] = from[i];
        __syncthreads();
    }
    {
        const uint4* from = reinterpret_cast<const uint4*>(image().code);
        uint4* to = reinterpret_cast<uint4*>(vyre_shared + image().code_shared);
        for (u32 i = threadIdx.x; i < image().code_bytes / 16; i += VYRE_THREADS) to[i] = from[i];
    }
    for (u32 i = threadIdx.x; i < image().kernel_count; i += VYRE_THREADS) {
        Kernel& kernel = *table<Kernel>(image().kernels, i);
        kernel.code_at = shared_address(image().code_shared) + kernel.code * VYRE_WORD_BYTES;
    }
    for (u32 i = warp_id(); i < image().kernel_count; i += VYRE_WARPS) {
        const Kernel& kernel = *table<Kernel>(image().kernels, i);
        if (kernel.staged == 0) continue;
        for (u32 slot = lane_id(); slot < kernel.value_count; slot += 32)
            if (table<Value>(image().values, kernel.values + slot)->kind == VYRE_VALUE_BITS) stage(kernel, slot);
    }
    if (image().quick_warps != 0) {
        __syncthreads();
        for (u32 i = 0; i < image().kernel_count; i++) {
            const Kernel& kernel = *table<Kernel>(image().kernels, i);
            if (kernel.quick != 0 && warp_id() < image().quick_warps)
                fill_quick(kernel, warp_id(), 0, kernel.quick_fill_count - kernel.quick_dynamic);
        }
    }
    // The first step; `vyre_state.pc` is behind it.
    fill(*table<Step>(image().steps, 0));
    u32 abort = 0;
    for (;;) {
        // Sweeps end in lanes that may be on their own.
        __syncwarp();
        __syncthreads();
        if (warp_id() == 0) {
            advance(abort);
            if (image().times != 0 && vyre_state.cta == 0) {
                if (lane_id() == 0) note_time();
                __syncwarp();
            }
        }
        __syncthreads();
        const u32 wave = vyre_state.wave;
        if (wave == VYRE_NONE) break;
        if (vyre_state.quick == VYRE_PULL) {
            run_pull();
            continue;
        }
        if (vyre_state.quick == VYRE_FILLS) {
            fill(*table<Step>(image().steps, vyre_state.pc - 1));
            continue;
        }
        if (vyre_state.quick != 0) {
            run_narrow();
            continue;
        }
        sweep_wave(wave);
    }
    if (vyre_state.cluster > 1) cluster_barrier();
    if (batch == nullptr) return;
    // All have read what the next query changes.
    __syncthreads();
    goto next_query;
}
