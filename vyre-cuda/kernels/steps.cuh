// The steps of the schedule, by the control warp of each CTA, and the loop over them.
#pragma once

#include <cstddef>
#ifdef VYRE_PROFILE
#include <cstdio>
#endif

#include "rounds.cuh"

// The condition of a fixpoint that is a kernel; sets `stop` when it traps.
__device__ __noinline__ bool condition(u32 id) {
    const Kernel& kernel = *table<Kernel>(image().kernels, id);
    stage_uniforms(id);
    const u32 code = kernel.code_at;
    const u32 regs = shared_address(image().registers_shared) + lane_id() * 4;
    const bool counts = image().limited != 0;
    if (counts && lane_id() == 0) vyre_steps.elsewhere = vyre_state.cta;
    __syncwarp();
    const u32 value = interpret<1>(code, regs, shared_address(kernel.uniforms_shared), lane_id() == 0, id);
    __syncwarp();
    if (lane_id() == 0) {
        if (counts && vyre_state.cta != 0) vyre_steps.here = 0;
        if (counts) vyre_steps.elsewhere = 0;
        if (vyre_state.trapped != 0) vyre_state.stop = 1;
    }
    __syncwarp();
    return __shfl_sync(VYRE_FULL, value, 0) != 0;
}

// Leaves the launch: CTA 0 writes what the host wants to know. Behind the last sweep there need be no barrier, so each CTA
// says here what it counted in it.
__device__ __noinline__ void leave() {
    __syncwarp();
    if (lane_id() == 0) {
        vyre_state.wave = VYRE_NONE;
        if (image().limited != 0) has_no_steps();
    }
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
    each_lane(image().fixpoint_count,
              [&](u32 i) { store_global64(results + i * 8, table<Fixpoint>(image().fixpoints, i)->rounds); });
    const u64 homes = results + image().fixpoint_count * 8ull;
    each_lane(image().buffer_count, [&](u32 i) { store_global(homes + i * 4, table<Buffer>(image().buffers, i)->home); });
    const u64 epochs = homes + image().buffer_count * 4ull;
    each_lane(image().reduction_count,
              [&](u32 i) { store_global(epochs + i * 4, table<Reduction>(image().reductions, i)->epoch); });
    const u64 stamps = epochs + image().reduction_count * 4ull;
    each_lane(image().frontier_count,
              [&](u32 i) { store_global(stamps + i * 4, table<Frontier>(image().frontiers, i)->stamp); });
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
        if (wave.fresh > 1) n = table<Mark>(image().marks, wave.fresh - 2)->items;
        wave.from = wave.swept_to;
        wave.swept_to = n;
        n -= wave.from;
    }
    if (image().limited != 0 && vyre_state.cta == 0)
        vyre_steps.here += wave.domain == VYRE_DOMAIN_Edges ? table<Topology>(image().topologies, wave.topology)->edges : n;
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
    // A division takes a while.
    const u32 active = all ? kernel.warps : n <= most ? 1 : (static_cast<u32>(n) + most - 1) / most;
    vyre_state.each = each;
    vyre_state.active = active;
    vyre_state.taken = 0;
    vyre_state.single = !all;
}

// Takes the partials of the wave before into the grid's reductions. Each warp has added its exact sums already.
__device__ __forceinline__ void contribute_all(const Kernel& kernel) {
    for (u32 i = 0; i < kernel.reduction_count; i++) {
        const Reduction& r = *table<Reduction>(image().reductions, *table<u32>(image().lists, kernel.reductions + i));
        if (r.words != 1) continue;
        const u64 mine = lane_id() < cta_warps() ? *table<u64>(image().partials_shared, i * VYRE_WARPS + lane_id()) : r.identity;
        const u64 total = combine_lanes(r.kind, mine);
        // What changes nothing would only delay the barrier.
        if (lane_id() == 0 && total != r.identity) contribute(r.kind, reduction_slot(r, r.epoch), total);
    }
    __syncwarp();
}

// Whether `end_plain` can end the rounds of a plain fixpoint: all CTAs take part, and nothing but pushes is to be told at
// its barrier.
__device__ __forceinline__ bool is_simple(const Step& step, const Wave& wave, const Kernel& kernel) {
    return vyre_state.ctas == gridDim.x && gridDim.x != 1 && kernel.reduction_count == 0 &&
           wave.domain == VYRE_DOMAIN_EdgesFrom && wave.frontier == step.carried && wave.fresh == 0 &&
           wave.chunk_count == 0 && image().limited == 0 && image().times == 0;
}

// A round's end of a plain fixpoint that goes on: the same as the general way, in few steps. False when it does not
// apply, with nothing changed.
__device__ __forceinline__ bool next_plain_round(const Step& step, u32 pc, u64 seen) {
    Fixpoint& fixpoint = *table<Fixpoint>(image().fixpoints, step.id);
    Frontier& f = *table<Frontier>(image().frontiers, step.carried);
    const u64 count = seen & VYRE_PUSHED, round = fixpoint.round + 1;
    if (seen >> VYRE_ATTENTION_BIT != static_cast<u64>(vyre_state.ctas) << VYRE_CTA_BITS || count == 0 || count > f.capacity ||
        round >= fixpoint.max_rounds)
        return false;
    Wave& wave = *table<Wave>(image().waves, vyre_state.wave);
    const Kernel& kernel = *table<Kernel>(image().kernels, vyre_state.kernel);
    __syncwarp();
    if (lane_id() < kernel.dynamic_count) {
        const u32 slot = *table<u32>(image().lists, kernel.dynamic + lane_id());
        if (is_round(kernel, slot)) stage(kernel, slot, round);
    }
    settle_others(step, after(after(vyre_state.phase)));
    if (lane_id() == 0) {
        f.local = f.local_high = 0;
        f.pushed = 0;
        flip(f, count, 0);
        fixpoint.round = round;
        fixpoint.rounds += 1;
        if (image().progress != 0) tell(count);
        hand_out(wave, kernel);
        vyre_state.plain = is_simple(step, wave, kernel);
        vyre_plain = Plain{place_of<Step>(image().steps, pc),
                           place_of<Fixpoint>(image().fixpoints, step.id),
                           place_of<Frontier>(image().frontiers, step.carried),
                           place_of<Wave>(image().waves, vyre_state.wave),
                           place_of<Kernel>(image().kernels, vyre_state.kernel),
                           0};
    }
    __syncwarp();
    return true;
}

// The end of a round that such a wave swept, and the start of the next one, where that is of the same kind. What decides,
// and what changes, is looked up while the barrier is waited for, so that little is left to do behind it. False where it
// does not apply: then the barrier was passed, `seen` is its word, and nothing else was changed.
__device__ __forceinline__ bool end_plain(u64& seen, u32& abort) {
    Fixpoint& fixpoint = entry_at<Fixpoint>(vyre_plain.fixpoint);
    Frontier& f = entry_at<Frontier>(vyre_plain.frontier);
    Wave& wave = entry_at<Wave>(vyre_plain.wave);
    const Kernel& kernel = entry_at<Kernel>(vyre_plain.kernel);
    const Step& step = entry_at<Step>(vyre_plain.step);
    const u32 ctas = gridDim.x, phase = vyre_state.phase;
    const u64 at = VYRE_CONTROL(barrier) + phase * 128;
    if (image().looked_count != 0) before_barrier(after(phase));
    if (step.pushed_count > 1) {
        tell_others(step, phase);
        __syncwarp();
    }
    const u64 before = vyre_passed[phase];
    if (lane_id() == 0) {
        u64 word = VYRE_ARRIVAL + pushed_here(f) + (f.attention != 0 ? VYRE_ATTENTION : 0);
        if (abort != 0) note_abort();
        if ((vyre_state.trapped | image().aborted) != 0) word |= VYRE_STOP;
        add_release64(at, told(at, word));
    }
    const u64 round = fixpoint.round + 1;
    // Its uniform; nobody looks at it before the next sweep.
    if (lane_id() < kernel.dynamic_count) {
        const u32 slot = *table<u32>(image().lists, kernel.dynamic + lane_id());
        if (is_round(kernel, slot)) stage(kernel, slot, round);
    }
    // Rounds of up to `few` items are narrow, those of `many` do not fit, and those of more `edges` may pull.
    u32 few = 0, many = 0;
    if (round < fixpoint.max_rounds) many = f.capacity + (f.capacity != VYRE_NONE);
    if (kernel.quick != 0 && kernel.warps >= VYRE_QUICK_WARPS) few = quick_limit(f, wave);
    u64 edges = ~0ull;
    u32 most_degree = 0;
    if (wave.pull != VYRE_NONE) {
        const Pull& pull = *table<Pull>(image().pulls, wave.pull);
        edges = pull_from(pull, *table<Topology>(image().topologies, wave.topology));
        most_degree = pull.most_degree;
    }
    // Items of all CTAs' first tiles, for a warp of each.
    const u32 each = wave.narrow, most = each * ctas, all = most * kernel.warps, part = 0xffffffffu / most + 1;
    const u32 third = after(f.third), side = f.side ^ 1, stamp = f.stamp + 1;
    const u64 rounds = fixpoint.rounds + 1, zeroed = f.counters + after(third) * 128;
    const u64 zeroed_hubs = f.hubs_len != 0 ? f.hub_counters + after(third) * 128 : 0;
    __syncwarp();
    if (lane_id() == 0) {
        vyre_state.phase = after(phase);
        if (vyre_plain.uncounted != 0) {
            const u64 n = f.swept;
            vyre_plain.uncounted = 0;
            vyre_state.sweeps += 1;
            vyre_state.items += n;
            vyre_state.widest = max(vyre_state.widest, n);
        }
        if (blockIdx.x == 0) abort = look();
    }
    // All lanes wait, as in `grid_barrier`.
    do {
        seen = load_acquire64(at) - before;
    } while (seen >> VYRE_ARRIVAL_BIT != ctas);
    const u64 count = seen & VYRE_PUSHED;
    const bool goes_on = seen >> VYRE_ATTENTION_BIT == static_cast<u64>(ctas) << VYRE_CTA_BITS && count > few && count < many &&
                         (count * most_degree <= edges || count < VYRE_PULL_FEW);
    if (lane_id() == 0) {
        vyre_passed[phase] = before + seen;
        if (goes_on) {
            const u32 n = static_cast<u32>(count);
            f.local = f.local_high = 0;
            f.pushed = 0;
            f.swept = n;
            f.swept_hubs = 0;
            f.side = side;
            f.third = third;
            f.stamp = stamp;
            fixpoint.round = round;
            fixpoint.rounds = rounds;
            // As in `flip`.
            if (blockIdx.x == 0) {
                store_relaxed64(zeroed, 0);
                if (zeroed_hubs != 0) store_relaxed64(zeroed_hubs, 0);
                if (image().progress != 0) tell(n);
            }
            if (n <= all) {
                vyre_state.each = each;
                vyre_state.active = max(1u, __umulhi(n + most - 1, part));
                vyre_state.taken = 0;
                vyre_state.single = 1;
                vyre_plain.uncounted = 1;
            } else {
                hand_out(wave, kernel);
            }
        } else {
            vyre_state.plain = 0;
        }
    }
    if (!goes_on)
        seen = heard(at, seen);
    else if (step.pushed_count > 1)
        settle_others(step, phase);
    __syncwarp();
    return goes_on;
}

// Each step gives the number of the one that comes next, or none: then `vyre_state` says what all warps are to do.

__device__ __forceinline__ u32 step_wave(const Step& step, u32 next) {
    Wave& wave = *table<Wave>(image().waves, step.id);
    stage_uniforms(wave.kernel);
    if (lane_id() == 0) {
        vyre_state.wave = step.id;
        vyre_state.kernel = wave.kernel;
        vyre_state.pc = next;
        hand_out(wave, *table<Kernel>(image().kernels, wave.kernel));
    }
    __syncwarp();
    return VYRE_NONE;
}

// The long ranges of the wave that comes next are summed up before it.
__device__ __noinline__ u32 sum_first(const Step& step, u32 next) {
    Wave& wave = *table<Wave>(image().waves, step.id);
    if (vyre_state.ctas != gridDim.x) {
        // The sums are the grid's: a CTA of its own walks long ranges as it does all others.
        __syncwarp();
        if (lane_id() == 0) wave.range_count = 0;
        return next;
    }
    stage_uniforms(wave.kernel);
    if (lane_id() == 0) {
        vyre_state.wave = step.id;
        vyre_state.kernel = wave.kernel;
        vyre_state.pc = next;
        vyre_state.each = 0;
        vyre_state.taken = 0;
        vyre_state.active = table<Kernel>(image().kernels, wave.kernel)->warps;
    }
    __syncwarp();
    return VYRE_NONE;
}

__device__ __forceinline__ u32 step_hubs(const Step& step, u32 next) {
    return table<Wave>(image().waves, step.id)->range_count == 0 ? next : sum_first(step, next);
}

// Fills memory, or packs lists: that is for all warps to do.
__device__ __forceinline__ u32 step_fill(const Step& step, u32 next) {
    if (step.pushed_count == 0) return next;
    if (lane_id() == 0) {
        vyre_state.quick = VYRE_FILLS;
        vyre_state.pc = next;
        vyre_state.wave = 0;
    }
    __syncwarp();
    return VYRE_NONE;
}

__device__ __forceinline__ u32 step_loop(const Step& step, u32 next) {
    if (lane_id() == 0) table<Fixpoint>(image().fixpoints, step.id)->round = 0;
    return next;
}

__device__ __forceinline__ u32 step_round(const Step& step, u32 next) {
    start_round(*table<Fixpoint>(image().fixpoints, step.id));
    return next;
}

// Exchanges the buffers that a fixpoint swaps after a round, by one lane.
__device__ __noinline__ void swap_buffers(const Fixpoint& fixpoint) {
    for (u32 i = 0; i < fixpoint.swap_count; i++) {
        const u32* pair = table<u32>(image().lists, fixpoint.swaps + 2 * i);
        Buffer &a = *table<Buffer>(image().buffers, pair[0]), &b = *table<Buffer>(image().buffers, pair[1]);
        const Buffer t = a;
        a = b;
        b = t;
    }
}

// `seen`: the word of the barrier that was passed.
__device__ __forceinline__ u32 step_until(const Step& step, u32 next, u64 seen, u32& abort) {
    Fixpoint& fixpoint = *table<Fixpoint>(image().fixpoints, step.id);
    if (lane_id() == 0) {
        fixpoint.rounds += 1;
        if (image().limited != 0 && vyre_state.cta == 0) vyre_steps.here += 1;
        if (image().progress != 0) tell(step.carried == VYRE_NONE ? 0 : seen & VYRE_PUSHED);
        if (fixpoint.swap_count != 0) swap_buffers(fixpoint);
    }
    __syncwarp();
    const bool done = fixpoint.until_frontier != VYRE_NONE
                          ? table<Frontier>(image().frontiers, fixpoint.until_frontier)->pushed == 0
                          : condition(fixpoint.until_kernel);
    if (step.settle != 0) {
        // A condition that loops may have been cut short on some CTAs.
        const u64 settled = grid_barrier(image().aborted != 0 ? VYRE_STOP : 0, abort);
        if (lane_id() == 0 && (settled & VYRE_STOP) != 0) vyre_state.stop = 1;
        __syncwarp();
    }
    if (vyre_state.stop != 0) {
        leave();
        return VYRE_NONE;
    }
    if (done) return next;
    const u64 round = fixpoint.round + 1;
    if (round >= fixpoint.max_rounds) {
        if (lane_id() == 0)
            raise(trap_key(VYRE_ROUND_LIMIT_KERNEL, step.id, 0), VYRE_TRAP_RoundLimit, fixpoint.max_rounds,
                  fixpoint.max_rounds);
        leave();
        return VYRE_NONE;
    }
    __syncwarp();
    if (lane_id() == 0) fixpoint.round = round;
    __syncwarp();
#ifdef VYRE_HOLES
    if (const u32 ctas = rounds_ctas(step, fixpoint)) {
        begin_rounds(step, fixpoint, ctas);
        if (lane_id() == 0) {
            vyre_state.quick = VYRE_ROUNDS;
            vyre_state.pc = next - 1;
            vyre_state.wave = 0;
        }
        __syncwarp();
        return VYRE_NONE;
    }
#endif
    return fixpoint.body;
}

__device__ __noinline__ u32 step_unknown(const Step& step) {
    if (lane_id() == 0)
        raise(trap_key(VYRE_ROUND_LIMIT_KERNEL, VYRE_WHOLE_WAVE, 0), VYRE_TRAP_UnknownWord, step.kind, 0);
    leave();
    return VYRE_NONE;
}

// What was handed out last is over for this CTA.
__device__ __forceinline__ void end_sweep(u32& abort) {
    if (vyre_state.quick == VYRE_FILLS) {
        __syncwarp();
        if (lane_id() == 0) vyre_state.quick = 0;
#ifdef VYRE_HOLES
    } else if (vyre_state.quick == VYRE_ROUNDS) {
        const u32 found = end_rounds(abort);
        if (lane_id() == 0) abort = found;
        __syncwarp();
#endif
    } else if (vyre_state.wave != VYRE_NONE && vyre_state.quick == 0) {
        const Kernel& kernel = *table<Kernel>(image().kernels, vyre_state.kernel);
        if (vyre_state.each == 0)
            grid_barrier(0, abort);  // all parts of long ranges are there; traps and pushes stay for the group's barrier
        else if (kernel.reduction_count != 0)
            contribute_all(kernel);
    }
}

// Passes the barrier of a step, unless `end_plain` did and `seen` is its word; false where the schedule stops at it: for rounds
// of another kind, for the next round of a plain fixpoint, which is handed out here, or for good.
__device__ __forceinline__ bool pass_barrier(const Step& step, u32 pc, u64& seen, u32& abort) {
    // What came before was narrow rounds, rounds that pulled, or a sweep.
    const u32 before = vyre_state.quick;
    if (before == VYRE_NARROW) {
        seen = end_narrow(step);
        if (lane_id() == 0) abort = vyre_quick.abort;
        __syncwarp();
    } else if (seen == 0) {
        if (before == VYRE_PULL) {
            if (lane_id() == 0) abort = vyre_pull.abort;
            __syncwarp();
        }
        // Rounds that were not worth turning round have their barrier behind them.
        seen = before == VYRE_PULL && vyre_pull.pulled == 0 ? vyre_pull.seen : arrive(step, abort);
    }
    u32 special = 0;
    if (step.plain == VYRE_PLAIN && before != VYRE_NARROW && goes_narrow(step, seen)) {
        begin_narrow(step, seen, abort);
        special = VYRE_NARROW;
    } else if (step.plain == VYRE_PLAIN && before != VYRE_PULL &&
               table<Wave>(image().waves, vyre_state.wave)->pull != VYRE_NONE && may_pull(step, seen)) {
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
        if (special != 0) return false;
    }
    if (step.plain == VYRE_PLAIN && next_plain_round(step, pc, seen)) return false;
    if (!settle_all(step, seen)) return true;
    leave();
    return false;
}

// Runs the schedule up to the next wave, which `vyre_state.wave` names afterwards, or up to fills, or rounds of another kind.
//
// What lies between any two rounds is inlined here: a function that is called keeps registers on the stack, whose cache
// lines a barrier drops. What only some passes reach, or few rounds, is a function, so that a module can leave it out
// (scripts/build-ptx --without).
__device__ __forceinline__ void advance(u32& abort) {
    u64 passed = 0;
    if (vyre_state.plain != 0) {
        if (end_plain(passed, abort)) return;
    } else {
        end_sweep(abort);
    }
#ifdef VYRE_HOLES
    if (vyre_state.stop != 0) return leave();
#endif
    u32 pc = vyre_state.pc;
    do {
        __syncwarp();
        const Step& step = *table<Step>(image().steps, pc);
        u64 seen = passed;
        passed = 0;
        if (step.kind == VYRE_STEP_Until || step.kind == VYRE_STEP_Barrier) {
            if (!pass_barrier(step, pc, seen, abort)) return;
        }
        const u32 next = pc + 1;
        switch (step.kind) {
            case VYRE_STEP_Wave: pc = step_wave(step, next); break;
            case VYRE_STEP_HUBS: pc = step_hubs(step, next); break;
            case VYRE_STEP_Barrier: pc = next; break;
            case VYRE_STEP_FILL:
            case VYRE_STEP_PACK: pc = step_fill(step, next); break;
            case VYRE_STEP_Loop: pc = step_loop(step, next); break;
            case VYRE_STEP_ROUND: pc = step_round(step, next); break;
            case VYRE_STEP_Until: pc = step_until(step, next, seen, abort); break;
            case VYRE_STEP_End: leave(); return;
            default: pc = step_unknown(step);
        }
    } while (pc != VYRE_NONE);
}
