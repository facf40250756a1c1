// The persistent megakernel: one cooperative launch runs a whole pass.
//
// One CTA of 1024 threads runs on each multiprocessor, or what a pass's own module was made for. Warp 0 is the control warp: between two sweeps it executes the
// schedule (barriers, flips, conditions) while the other warps wait, and all CTAs compute the same decisions from words
// that were final when the barrier was passed.
//
//
// In a batch every CTA is a group of its own: it takes queries from a queue and runs the whole schedule of each, and its
// barriers are those of the CTA, which `advance` lies between anyway.

#ifdef VYRE_PROFILE
#include <cstdio>
#endif

#include "steps.cuh"

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

__device__ __noinline__ void note_time() {
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
    if (image().aborted != 0) return;
    for (u32 i = 0; i < step.pushed_count; i++) {
        const Fill& fill = *table<Fill>(image().fills, step.pushed + i);
        const u32 low = static_cast<u32>(fill.pattern), high = static_cast<u32>(fill.pattern >> 32);
        uint4* to = reinterpret_cast<uint4*>(fill.address);
        const u64 stride = static_cast<u64>(vyre_state.ctas) * cta_threads();
        for (u64 at = static_cast<u64>(vyre_state.cta) * cta_threads() + threadIdx.x; at < fill.units; at += stride)
            to[at] = make_uint4(low, high, low, high);
    }
}

// Packs what the lists of a step hold, by all CTAs: whole 16-byte units of each column, one behind the other, but for
// columns that are longer than is packed. The barrier before has made all of it visible, and the launch ends behind it.
__device__ __noinline__ void pack(const Step& step) {
    if (image().aborted != 0) return;
    const Fill& slab = *table<Fill>(image().fills, step.pushed);
    const u32* lists = table<u32>(image().lists, step.id);
    const u64 stride = static_cast<u64>(vyre_state.ctas) * cta_threads();
    u64 at = static_cast<u64>(vyre_state.cta) * cta_threads() + threadIdx.x, begin = 0;
    for (u32 i = 1; i <= lists[0]; i++) {
        const Frontier& list = *table<Frontier>(image().frontiers, lists[i]);
        const Record& record = *table<Record>(image().records, list.record);
        for (u32 field = 0; field < record.count; field++) {
            const u32 size = record.sizes >> (2 * field) & 3;
            const u64 bytes = list.pushed << (size + (size != 0));
            if (bytes > slab.units) continue;
            const u64 from = record.fields[field] - begin * 16, end = begin + (bytes + 15) / 16;
            for (; at < end; at += stride) store_global(slab.address + at * 16, load_global4(from + at * 16));
            begin = end;
        }
    }
}

// An address of the image as this query on this CTA has it.
__device__ __noinline__ u64 moved(const Batch& batch, u64 address) {
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
    for (u32 i = threadIdx.x; i < image().buffer_count; i += cta_threads()) {
        Buffer& buffer = *table<Buffer>(image().buffers, i);
        buffer.data = moved(batch, buffer.data);
    }
    for (u32 i = threadIdx.x; i < image().frontier_count; i += cta_threads()) {
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
    for (u32 i = threadIdx.x; i < image().record_count * 16; i += cta_threads()) {
        u64& field = table<Record>(image().records, i / 16)->fields[i % 16];
        field = moved(batch, field);
    }
    for (u32 i = threadIdx.x; i < image().reduction_count; i += cta_threads()) {
        Reduction& r = *table<Reduction>(image().reductions, i);
        r.slots = moved(batch, r.slots);
    }
    for (u32 i = threadIdx.x; i < image().fill_count; i += cta_threads()) {
        Fill& fill = *table<Fill>(image().fills, i);
        fill.address = moved(batch, fill.address);
    }
    const u64 scalars = batch.scalars + static_cast<u64>(vyre_state.query) * batch.scalar_count * 8;
    for (u32 i = threadIdx.x; i < image().kernel_count; i += cta_threads()) {
        const Kernel& kernel = *table<Kernel>(image().kernels, i);
        for (u32 slot = 0; slot < kernel.value_count; slot++) {
            Value& value = *table<Value>(image().values, kernel.values + slot);
            if (value.kind == VYRE_VALUE_BITS && value.id != 0) value.bits = load_global64(scalars + (value.id - 1) * 8ull);
        }
    }
    __syncthreads();
}

// Tables and code of the pass, or of a batch's query, by all warps.
__device__ __noinline__ void begin(const Image* source, Batch* batch, u32 query) {
    {
        const uint4* from = reinterpret_cast<const uint4*>(source);
        uint4* to = reinterpret_cast<uint4*>(vyre_shared);
        const u32 units = source->tables_bytes / 16;
        for (u32 i = threadIdx.x; i < units; i += cta_threads()) to[i] = from[i];
        if (threadIdx.x == 0) {
            vyre_state = State{VYRE_NONE};
            vyre_steps = Steps{};
            vyre_state.pc = 1;
            vyre_pull = PullState{};
            vyre_timing.wave = VYRE_NONE;
            vyre_state.ctas = batch != nullptr ? 1 : gridDim.x;
            vyre_state.cta = batch != nullptr ? 0 : blockIdx.x;
            vyre_state.query = query;
            vyre_state.cluster = batch != nullptr ? 1 : cluster_ctas();
            vyre_state.order = max(1u, vyre_state.ctas / source->per_multiprocessor);
        }
        if (threadIdx.x < VYRE_BARRIER_WORDS) vyre_passed[threadIdx.x] = 0;
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
        for (u32 i = threadIdx.x; i < batch->control_bytes / 16; i += cta_threads()) to[i] = from[i];
        __syncthreads();
    }
    // What was stopped before it began does nothing up to its first barrier.
    if (warp_id() == cta_warps() - 1) is_aborted();
    {
        const uint4* from = reinterpret_cast<const uint4*>(image().code);
        uint4* to = reinterpret_cast<uint4*>(vyre_shared + image().code_shared);
        for (u32 i = threadIdx.x; i < image().code_bytes / 16; i += cta_threads()) to[i] = from[i];
    }
    for (u32 i = threadIdx.x; i < image().kernel_count; i += cta_threads()) {
        Kernel& kernel = *table<Kernel>(image().kernels, i);
        kernel.code_at = shared_address(image().code_shared) + kernel.code * VYRE_WORD_BYTES;
    }
    for (u32 i = warp_id(); i < image().kernel_count; i += cta_warps()) {
        const Kernel& kernel = *table<Kernel>(image().kernels, i);
        if (kernel.staged == 0) continue;
        for (u32 slot = lane_id(); slot < kernel.value_count; slot += 32)
            if (table<Value>(image().values, kernel.values + slot)->kind == VYRE_VALUE_BITS) stage(kernel, slot);
    }
    if (image().quick_warps != 0) {
        __syncthreads();
        fill_all_quick();
    }
}

// `batch`: many queries, or null and the image is that of the one run.
extern "C" __global__ void __launch_bounds__(VYRE_THREADS, 1) vyre_megakernel(const Image* source, Batch* batch) {
    u32 query = 0;
    if (threadIdx.x == 0) begin_looks();
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
    begin(source, batch, query);
    // The first step; `vyre_state.pc` is behind it.
    fill(*table<Step>(image().steps, 0));
    for (;;) {
        // Sweeps end in lanes that may be on their own.
        __syncwarp();
        __syncthreads();
        if (warp_id() == 0) {
            advance(vyre_state.abort);
            if (image().times != 0 && vyre_state.cta == 0) {
                if (lane_id() == 0) note_time();
                __syncwarp();
            }
        }
        __syncthreads();
        if (vyre_state.plain != 0) {
            if (image().aborted == 0) sweep_plain();
            continue;
        }
        const u32 wave = vyre_state.wave;
        if (wave == VYRE_NONE) break;
        if (vyre_state.quick == VYRE_PULL) {
            run_pull();
            continue;
        }
        if (vyre_state.quick == VYRE_FILLS) {
            const Step& step = *table<Step>(image().steps, vyre_state.pc - 1);
            if (step.kind == VYRE_STEP_PACK)
                pack(step);
            else
                fill(step);
            continue;
        }
#ifdef VYRE_HOLES
        if (vyre_state.quick == VYRE_ROUNDS) {
            run_rounds();
            continue;
        }
#endif
        if (vyre_state.quick != 0) {
            run_narrow();
            continue;
        }
        if (image().aborted == 0) sweep_wave(wave);
    }
    if (vyre_state.cluster > 1) cluster_barrier();
    if (batch == nullptr) return;
    // All have read what the next query changes.
    __syncthreads();
    goto next_query;
}
