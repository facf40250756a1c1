// Where CTAs come together: uniforms that are staged anew, reductions, the grid barrier and what it tells, flips.
//
// The grid barrier is one 64-bit word: arrivals in bits 54.., CTAs that have more to say in 44.., and below them the number
// of items pushed to the frontier that the barrier carries. More to say is that pushes need a look at the counters, or that
// the run is to stop; then a word beside it, which is never taken back, says so. Three words are used in turn. They only
// grow, modulo 2^64, and what a barrier says is by how much: a store that zeroes a word could land after arrivals at it,
// unless a fence came between.
#pragma once

#include "operators.cuh"

// What each barrier word was when it was passed last. A variable of its own: nothing is known of one that is indexed.
__shared__ u64 vyre_passed[VYRE_BARRIER_WORDS];

#define VYRE_CTA_BITS 10
#define VYRE_ARRIVAL_BIT 54
#define VYRE_ATTENTION_BIT 44
#define VYRE_ARRIVAL (1ull << VYRE_ARRIVAL_BIT)
#define VYRE_ATTENTION (1ull << VYRE_ATTENTION_BIT)
// In what a CTA has to tell, and in what it heard; never in the word itself.
#define VYRE_STOP (1ull << 43)
// The number of items: of each CTA up to 2^32.
#define VYRE_PUSHED (VYRE_STOP - 1)

// What a CTA adds to the barrier word there, by one thread right before that. A CTA that wants to stop says so beside it.
__device__ __forceinline__ u64 told(u64 at, u64 word) {
    if ((word & VYRE_STOP) == 0) return word;
    store_relaxed(at + 16, 1);
    return (word & ~VYRE_STOP) | VYRE_ATTENTION;
}

// What a barrier said that was passed, with whether some CTA wants to stop. Nobody says that of a later barrier of this turn
// before all have passed this one.
__device__ __forceinline__ u64 heard(u64 at, u64 seen) {
    if ((seen & (VYRE_ARRIVAL - VYRE_ATTENTION)) != 0 && load_relaxed(at + 16) != 0) seen |= VYRE_STOP;
    return seen;
}

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
        case KIND(Sum, I32): take_add(slot, low); break;
        case KIND(Sum, U64):
        case KIND(Sum, I64): take_add64(slot, x); break;
        case KIND(Sum, F32): take_add_f32(slot, __uint_as_float(low)); break;
        case KIND(Sum, F64): take_add_f64(slot, __longlong_as_double(x)); break;
        case KIND(Min, F32): take_min_u32(slot, static_cast<u32>(ordered(kind, x))); break;
        case KIND(Min, Bool):
        case KIND(Min, U32): take_min_u32(slot, low); break;
        case KIND(Min, I32): take_min_i32(slot, low); break;
        case KIND(Min, F64): take_min_u64(slot, ordered(kind, x)); break;
        case KIND(Min, U64): take_min_u64(slot, x); break;
        case KIND(Min, I64): take_min_i64(slot, x); break;
        case KIND(Max, F32): take_max_u32(slot, static_cast<u32>(ordered(kind, x))); break;
        case KIND(Max, Bool):
        case KIND(Max, U32): take_max_u32(slot, low); break;
        case KIND(Max, I32): take_max_i32(slot, low); break;
        case KIND(Max, F64): take_max_u64(slot, ordered(kind, x)); break;
        case KIND(Max, U64): take_max_u64(slot, x); break;
        case KIND(Max, I64): take_max_i64(slot, x); break;
        case KIND(Sum, Bool):
        case KIND(Or, Bool):
        case KIND(Or, U32):
        case KIND(Or, I32): take_or(slot, low); break;
        case KIND(Or, U64):
        case KIND(Or, I64): take_or64(slot, x); break;
        case KIND(And, Bool):
        case KIND(And, U32):
        case KIND(And, I32): take_and(slot, low); break;
        case KIND(And, U64):
        case KIND(And, I64): take_and64(slot, x); break;
        default: break;
    }
}

// Value of a uniform slot now.
__device__ __forceinline__ u64 uniform_value(const Value& v) {
    switch (v.kind) {
        case VYRE_VALUE_ROUND: return table<Fixpoint>(image().fixpoints, v.id)->round;
        case VYRE_VALUE_REDUCTION: {
            const Reduction& r = *table<Reduction>(image().reductions, v.id);
            if (r.words != 1) return exact_value(r.kind, r.words, reduction_slot(r, r.epoch));
            return unordered(r.kind, load_relaxed64(reduction_slot(r, r.epoch)));
        }
        case VYRE_VALUE_FRONTIER: return min(table<Frontier>(image().frontiers, v.id)->pushed, 0xffffffffull);
        case VYRE_VALUE_MARK: return table<Mark>(image().marks, v.id)->items;
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
    if (kernel.staged != 0)
        each_lane(kernel.dynamic_count, [&](u32 i) { stage(kernel, *table<u32>(image().lists, kernel.dynamic + i)); });
    else
        each_lane(kernel.value_count, [&](u32 slot) { stage(kernel, slot); });
    __syncwarp();
}

// The turn after this one, of three.
__device__ __forceinline__ u32 after(u32 turn) { return turn == VYRE_BARRIER_WORDS - 1 ? 0 : turn + 1; }

// Where the pushes of a barrier's group to a frontier that it does not carry are summed.
__device__ __forceinline__ u64 sum_address(const Frontier& f, u32 phase) {
    return f.counters + (VYRE_BARRIER_WORDS + phase) * 128;
}

// Zeroes the sums that the barrier after the one that comes will use.
__device__ __forceinline__ void before_barrier(u32 next) {
    if (vyre_state.cta == 0 && image().looked_count != 0) {
        each_lane(image().looked_count, [&](u32 i) {
            store_relaxed64(
                sum_address(*table<Frontier>(image().frontiers, *table<u32>(image().lists, image().looked + i)), next), 0);
        });
    }
    __syncwarp();
}

// All CTAs arrive with a word; returns the sum. `abort`: whether CTA 0 found after the barrier before that the run is to stop.
// Lane 0 arrives, and all lanes wait: where one did, the warp would not be together afterwards (`each_lane`). All find the
// same, because a word stays what it is once all have arrived until this warp arrives at a later barrier.
__device__ __forceinline__ u64 grid_barrier(u64 word, u32& abort) {
    const u32 phase = vyre_state.phase, next = after(phase), ctas = vyre_state.ctas, limited = image().limited;
    const u64 at = VYRE_CONTROL(barrier) + phase * 128, before = vyre_passed[phase];
    if (abort != 0) word |= VYRE_STOP;
    before_barrier(next);
    if (lane_id() == 0) {
        vyre_state.phase = next;
        if (limited != 0) has_no_steps();
        if (abort != 0) note_abort();
        if (ctas != 1) add_release64(at, told(at, VYRE_ARRIVAL + word));
    }
    u64 seen = VYRE_ARRIVAL + word;
    if (ctas != 1) {
        do {
            seen = load_acquire64(at) - before;
        } while (seen >> VYRE_ARRIVAL_BIT != ctas);
    }
    if (lane_id() == 0) {
        if (ctas != 1) vyre_passed[phase] = before + seen;
        if (ctas == 1 || blockIdx.x == 0) {
            abort = look();
            if (limited != 0) abort |= has_no_steps();
        }
    }
    if (ctas != 1) seen = heard(at, seen);
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

// Adds up what this CTA pushed to the frontiers that a barrier does not carry.
__device__ __forceinline__ void tell_others(const Step& step, u32 phase) {
    const u32* entries = table<u32>(image().lists, step.pushed);
    each_lane(step.pushed_count - 1, [&](u32 i) {
        const Frontier& f = *table<Frontier>(image().frontiers, entries[3 + i * 3]);
        const u64 pushed = pushed_here(f);
        if (pushed != 0) add_relaxed64(sum_address(f, phase), pushed);
    });
}

// What all CTAs pushed to them, once the barrier of this phase was passed.
__device__ __forceinline__ void settle_others(const Step& step, u32 phase) {
    const u32* entries = table<u32>(image().lists, step.pushed) + 3;
    each_lane(max(step.pushed_count, 1u) - 1, [&](u32 i) {
        const Frontier& f = *table<Frontier>(image().frontiers, entries[i * 3]);
        settle(entries + i * 3, load_relaxed64(sum_address(f, phase)), true);
    });
}

// Arrives at the barrier of a step, with what this CTA has to say; returns the barrier's word.
__device__ __forceinline__ u64 arrive(const Step& step, u32& abort) {
    const u32 phase = vyre_state.phase;
    u64 word = (vyre_state.trapped | image().aborted) != 0 ? VYRE_STOP : 0;
    if (step.carried != VYRE_NONE) {
        const Frontier& f = *table<Frontier>(image().frontiers, step.carried);
        word += pushed_here(f) + (f.attention != 0 ? VYRE_ATTENTION : 0);
    }
    if (step.pushed_count > 1) tell_others(step, phase);
    return grid_barrier(word, abort);
}

// What the barrier of a step tells; true when the run stops here.
__device__ __forceinline__ bool settle_all(const Step& step, u64 seen) {
    const u32* entries = table<u32>(image().lists, step.pushed);
    // The sums of the barrier just passed.
    const u32 phase = after(after(vyre_state.phase));
    if (lane_id() == 0) {
        if (step.carried != VYRE_NONE) settle(entries, seen & VYRE_PUSHED, (seen & (VYRE_ARRIVAL - VYRE_ATTENTION)) != 0);
        if ((seen & VYRE_STOP) != 0) vyre_state.stop = 1;
    }
    settle_others(step, phase);
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
    each_lane(fixpoint.frontier_count, [&](u32 i) {
        Frontier& f = *table<Frontier>(image().frontiers, *table<u32>(image().lists, fixpoint.frontiers + i));
        flip(f, f.pushed, f.pushed_hubs);
        f.pushed = f.pushed_hubs = 0;
    });
    each_lane(fixpoint.reduction_count, [&](u32 i) {
        Reduction& r = *table<Reduction>(image().reductions, *table<u32>(image().lists, fixpoint.reductions + i));
        r.epoch += 1;
        if (vyre_state.cta == 0) {
            const u64 slot = reduction_slot(r, r.epoch + 1), identity = ordered(r.kind, r.identity);
#pragma unroll 1
            for (u32 k = 0; k < r.words; k++) store_relaxed64(slot + k * 8ull, identity);
        }
    });
    __syncwarp();
    if (fixpoint.marks != 0) {
        each_lane(fixpoint.marks >> 16, [&](u32 i) {
            Mark& mark = *table<Mark>(image().marks, (fixpoint.marks & 0xffff) + i);
            mark.items = table<Frontier>(image().frontiers, mark.list)->swept;
        });
        __syncwarp();
    }
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
