// Domain operators: how a wave's items reach the interpreter.
//
// Work is handed out by the warp: no operator synchronises a CTA, so in a narrow round idle warps wait at the round's end
// and cost nothing. Warp g of the grid is counted across CTAs first, which spreads a small frontier over all of them.
#pragma once

#include "stream.cuh"

// The kernel being swept, and this warp's place in the group. All but the place is the CTA's, in shared memory.
struct Sweep {
    const Kernel& kernel;
    u32 id;
    __device__ __forceinline__ Sweep() : kernel(*table<Kernel>(image().kernels, vyre_state.kernel)), id(vyre_state.kernel) {}
    __device__ __forceinline__ u32 warp() const { return warp_id() * vyre_state.ctas + vyre_state.cta; }
    __device__ __forceinline__ u32 warps() const { return kernel.warps * vyre_state.ctas; }
};

template <int K>
__device__ __forceinline__ void run_tile(const Sweep& s, const Vec<K>& index, const Vec<K>& src, const Vec<K>& dst,
                                         u32 mask) {
    const u32 regs = shared_address(image().registers_shared) + warp_id() * s.kernel.warp_bytes + lane_id() * (K * 4);
    // With fewer items a lane, a row's words belong to other lanes than in the tile before.
    __syncwarp();
    // Index, src, dst and item rows.
    const uint4 rows = *reinterpret_cast<const uint4*>(&s.kernel.index_row);
    if (rows.x != VYRE_NONE) store_row<K>(regs + rows.x * (K * 128), index);
    if (rows.y != VYRE_NONE) store_row<K>(regs + rows.y * (K * 128), src);
    if (rows.z != VYRE_NONE) store_row<K>(regs + rows.z * (K * 128), dst);
    if (rows.w != rows.x && rows.w != VYRE_NONE) store_row<K>(regs + rows.w * (K * 128), index);
    interpret<K>(s.kernel.code_at, regs, shared_address(s.kernel.uniforms_shared), mask, s.id, s.kernel.tile);
}

// Items first..end by their numbers.
template <int K>
__device__ __forceinline__ void run_numbers(const Sweep& s, u64 first, u64 end) {
    const u32 regs = shared_address(image().registers_shared) + warp_id() * s.kernel.warp_bytes + lane_id() * (K * 4);
    Vec<K> index;
    u32 mask = (1u << K) - 1;
#pragma unroll
    for (int k = 0; k < K; k++) index.v[k] = static_cast<u32>(first) + k * 32 + lane_id();
    if (first + 32 * K > end) {
        mask = 0;
#pragma unroll
        for (int k = 0; k < K; k++)
            if (first + k * 32 + lane_id() < end) mask |= 1u << k;
    }
    __syncwarp();
    const u32 row = s.kernel.index_row, item = s.kernel.item_row;
    if (row != VYRE_NONE) store_row<K>(regs + row * (K * 128), index);
    if (item != row && item != VYRE_NONE) store_row<K>(regs + item * (K * 128), index);
    interpret<K>(s.kernel.code_at, regs, shared_address(s.kernel.uniforms_shared), mask, s.id, s.kernel.tile);
}

// Asks for what the items first..first + 32 * K load of their own elements.
template <int K>
__device__ __forceinline__ void fetch_ahead(const Sweep& s, u64 first) {
    const u32* entry = table<u32>(image().lists, s.kernel.ahead);
    for (u32 i = 0; i < s.kernel.ahead_count; i++, entry += 2) {
        const Buffer& buffer = *table<Buffer>(image().buffers, entry[0]);
        const u32 size = entry[1], skip = lane_id() * 128;
        const u64 at = first * size + skip;
        if (skip < 32 * K * size && at < static_cast<u64>(buffer.len) * size) prefetch(buffer.data + at);
    }
}

// Items first..end: their numbers, or what `items` holds there; `targets` gives the destinations of edges.
template <int K>
__device__ __forceinline__ void run_span(const Sweep& s, u64 first, u64 end, u64 items, u64 targets, u32 src) {
    Vec<K> index, from, dst;
    u32 mask = 0;
#pragma unroll
    for (int k = 0; k < K; k++) {
        const u64 i = first + k * 32 + lane_id();
        index.v[k] = static_cast<u32>(i);
        from.v[k] = src;
        dst.v[k] = 0;
        if (i < end) {
            mask |= 1u << k;
            if (items != 0) index.v[k] = load_global(items + i * 4);
            if (targets != 0 && s.kernel.dst_row != VYRE_NONE) dst.v[k] = load_topology(targets, i);
        }
    }
    run_tile<K>(s, index, from, dst, mask);
}

template <int K>
__device__ __forceinline__ void sweep_tiles(const Sweep& s, u64 n, u64 items, u64 targets) {
    const u64 stride = static_cast<u64>(s.warps()) * (32 * K);
    for (u64 first = static_cast<u64>(s.warp()) * (32 * K); first < n; first += stride) {
        if (is_aborted_before(static_cast<u32>(first / (32 * K)))) return;
        if ((items | targets) != 0) {
            run_span<K>(s, first, n, items, targets, 0);
        } else {
            if (K > 1) fetch_ahead<K>(s, first + stride);
            run_numbers<K>(s, first, n);
        }
    }
}

// The nodes of a wave whose neighbour loop is lifted, in chunks that take about as long as each other.
template <int K>
__device__ __forceinline__ void sweep_chunks(const Sweep& s, u64 chunks, u32 count) {
    Tiles tiles;
    for (;;) {
        const u32 chunk = tiles.take() * vyre_state.ctas + vyre_state.cta;
        if (chunk >= count) return;
        run_numbers<K>(s, load_topology(chunks, chunk), load_topology(chunks, chunk + 1));
    }
}

// Every index below n of a map; false if it cannot be done so, or is not worth it.
__device__ __noinline__ bool sweep_map(const Kernel& kernel, u64 n) {
    const u32 tile = kernel.stream_k * 32;
    if (n < static_cast<u64>(vyre_state.ctas) * 4 * tile || !can_map(kernel, n)) return false;
    const u32 count = static_cast<u32>(n / tile);
    if (kernel.stream_k == 8)
        run_map<8>(kernel, count);
    else
        run_map<4>(kernel, count);
    // The rest is less than a tile.
    const Sweep s;
    const u64 first = static_cast<u64>(count) * tile + s.warp() * 32;
    if (first < n) run_numbers<1>(s, first, n);
    return true;
}

// Every index below n, in tiles as large as keeps all warps busy: those that the interpreter would have, so that lanes put
// together the same items whatever the shape of a module.
__device__ __noinline__ void sweep_flat(u64 n, u64 items, u64 targets) {
    const Sweep s;
    const Wave& wave = *table<Wave>(image().waves, vyre_state.wave);
    if (wave.chunk_count != 0 && n > vyre_state.order * 32u) {
        if (s.kernel.k == 1)
            sweep_chunks<1>(s, wave.chunks, wave.chunk_count);
        else if (s.kernel.k == 2)
            sweep_chunks<2>(s, wave.chunks, wave.chunk_count);
        else
            sweep_chunks<4>(s, wave.chunks, wave.chunk_count);
        return;
    }
    if ((items | targets) == 0 && s.kernel.stream_k != 0 && sweep_map(s.kernel, n)) return;
    if (s.kernel.k == 1 || n <= vyre_state.order * (VYRE_WARPS * 32ull))
        sweep_tiles<1>(s, n, items, targets);
    else if (s.kernel.k == 2)
        sweep_tiles<2>(s, n, items, targets);
    else
        sweep_tiles<4>(s, n, items, targets);
}

// A field of the item in a slot, zero-extended.
__device__ __forceinline__ u64 load_field(u64 data, u32 size, u64 slot) {
    return size == 0 ? load_global8(data + slot) : size == 1 ? load_global(data + slot * 4) : load_global64(data + slot * 8);
}

// Items with fields, from..n.
template <int K>
__device__ __forceinline__ void sweep_record_tiles(const Sweep& s, const Frontier& f, u64 from, u64 n) {
    const Record& record = *table<Record>(image().records, f.record);
    const u32 side = (f.side ^ f.owned) * 8;
    const u32 regs = shared_address(image().registers_shared) + warp_id() * s.kernel.warp_bytes + lane_id() * (K * 4);
    const u32* rows = table<u32>(image().lists, s.kernel.fields);
    for (u64 first = from + static_cast<u64>(s.warp()) * (32 * K); first < n;
         first += static_cast<u64>(s.warps()) * (32 * K)) {
        if (is_aborted_before(static_cast<u32>(first / (32 * K)))) return;
        u32 mask = 0;
        __syncwarp();
#pragma unroll 1
        for (u32 k = 0; k < K; k++) {
            const u64 i = first + k * 32 + lane_id();
            if (i >= n) continue;
            mask |= 1u << k;
            if (s.kernel.index_row != VYRE_NONE)
                store_shared(regs + s.kernel.index_row * (K * 128) + k * 4, static_cast<u32>(i));
            // A trap names the item by its first field.
            if (s.kernel.item_row != VYRE_NONE)
                store_shared(regs + s.kernel.item_row * (K * 128) + k * 4,
                             static_cast<u32>(load_field(record.fields[side], record.sizes & 3, i)));
            for (u32 field = 0; field < record.count; field++) {
                const u32 row = rows[field], size = record.sizes >> (field * 2) & 3;
                if (row == VYRE_NONE) continue;
                const u64 x = load_field(record.fields[side + field], size, i);
                store_shared(regs + row * (K * 128) + k * 4, static_cast<u32>(x));
                if (size == 2) store_shared(regs + (row + 1) * (K * 128) + k * 4, static_cast<u32>(x >> 32));
            }
        }
        interpret<K>(s.kernel.code_at, regs, shared_address(s.kernel.uniforms_shared), mask, s.id, s.kernel.tile);
    }
}

// The items from `from` to before `n`.
__device__ __noinline__ void sweep_records(u32 frontier, u64 from, u64 n) {
    const Sweep s;
    const Frontier& f = *table<Frontier>(image().frontiers, frontier);
    if (s.kernel.k == 1 || n - from <= static_cast<u64>(s.warps()) * 32)
        sweep_record_tiles<1>(s, f, from, n);
    else if (s.kernel.k == 2)
        sweep_record_tiles<2>(s, f, from, n);
    else
        sweep_record_tiles<4>(s, f, from, n);
}

// The stash, of image().stash_bytes: for each item of the warp that has edges, its node and its edge range's start less its place in the tile.
// `earlier`: items whose first edge came before.
template <int K, int M>
__device__ __forceinline__ void run_expanded(const Sweep& s, u32 stash, const Vec<M>& place, u32 some, u32 done, u32 total,
                                             u64 targets, u32& earlier) {
    Vec<K> index, src, dst;
    u32 mask = 0;
    const bool wants_dst = s.kernel.dst_row != VYRE_NONE;
#pragma unroll
    for (int k = 0; k < K; k++) {
        const u32 base = done + k * 32;
        u32 first = 0;
#pragma unroll
        for (int j = 0; j < M; j++)
            if ((some >> j & 1) && place.v[j] - base < 32) first |= 1u << (place.v[j] - base);
        const u32 starts = __reduce_or_sync(VYRE_FULL, first);
        const u32 at = base + lane_id();
        const u32 owner = earlier + __popc(starts & (lanes_below() << 1 | 1u)) - 1;
        earlier += __popc(starts);
        const bool here = at < total;
        index.v[k] = src.v[k] = 0;
        if (here) {
            mask |= 1u << k;
            const u64 item = load_shared64(stash + owner * 8);
            src.v[k] = static_cast<u32>(item);
            index.v[k] = static_cast<u32>(item >> 32) + at;
        }
        dst.v[k] = load_topology_if(here && wants_dst, targets, index.v[k], 0);
    }
    run_tile<K>(s, index, src, dst, mask);
}

// Runs the edges begin..begin+degree of up to 32 * M nodes, of which lanes have every 32nd; the degrees add up in 32 bits.
// With M = 1 lanes from `each` on have none.
template <int M>
__device__ __forceinline__ void expand_tiles(const Sweep& s, u64 targets, const Vec<M>& node, const Vec<M>& begin,
                                             const Vec<M>& degree, u32 each) {
    const u32 lane = lane_id();
    const u32 stash = shared_address(image().stash_shared) + warp_id() * image().stash_bytes;
    Vec<M> place;
    u32 total = 0, some = 0, rank = 0;
    __syncwarp();
#pragma unroll
    for (int j = 0; j < M; j++) {
        u32 sum = degree.v[j];
        for (u32 step = 1; step < (M > 1 ? 32 : each); step <<= 1) {
            const u32 below = __shfl_up_sync(VYRE_FULL, sum, step);
            if (lane >= step) sum += below;
        }
        place.v[j] = total + sum - degree.v[j];
        total += __shfl_sync(VYRE_FULL, sum, M > 1 ? 31 : each - 1);
        const bool has = degree.v[j] != 0;
        const u32 lanes = __ballot_sync(VYRE_FULL, has);
        if (has) {
            some |= 1u << j;
            store_shared64(stash + (rank + __popc(lanes & lanes_below())) * 8,
                           static_cast<u64>(begin.v[j] - place.v[j]) << 32 | node.v[j]);
        }
        rank += __popc(lanes);
    }
    __syncwarp();
    u32 done = 0, earlier = 0;
    while (done < total) {
        const u32 left = total - done;
        if (s.kernel.k == 1 || left <= 32) {
            run_expanded<1, M>(s, stash, place, some, done, total, targets, earlier);
            done += min(left, 32u);
        } else if (M == 1 && s.kernel.k == 2) {
            run_expanded<2, M>(s, stash, place, some, done, total, targets, earlier);
            done += min(left, 64u);
        } else {
            run_expanded<4, M>(s, stash, place, some, done, total, targets, earlier);
            done += min(left, 128u);
        }
    }
}

// As `expand_tiles`, for any degrees: nodes whose degrees may not add up in 32 bits go one by one.
__device__ __forceinline__ void expand_here(const Sweep& s, u64 targets, u32 node, u32 begin, u32 degree, u32 each) {
    const bool vast = __any_sync(VYRE_FULL, degree >= 1u << 27);
    for (u32 turn = 0; turn < (vast ? 32 : 1); turn++)
        expand_tiles<1>(s, targets, Vec<1>{{node}}, Vec<1>{{begin}}, Vec<1>{{vast && lane_id() != turn ? 0 : degree}}, each);
}

__device__ __noinline__ void expand_any(u64 targets, u32 node, u32 begin, u32 degree, u32 each) {
    const Sweep s;
    expand_here(s, targets, node, begin, degree, each);
}

// The same for narrow rounds.
__device__ __noinline__ void expand(u64 targets, u32 node, u32 begin, u32 degree, u32 each) {
    stage_nothing();
    expand_any(targets, node, begin, degree, each);
    append_all_staged();
}

// What a sweep of the edges out of a frontier's items needs. It is taken from shared memory by each function anew: what
// they kept in registers would go to local memory, and through the L1 cache, for each tile that is interpreted.
struct Out {
    u64 items, ranges, hubs;
    const Topology& topology;
    u32 n, with_range, hub_items, chunks;
    __device__ __forceinline__ Out()
        : topology(*table<Topology>(image().topologies, table<Wave>(image().waves, vyre_state.wave)->topology)) {
        const Wave& wave = *table<Wave>(image().waves, vyre_state.wave);
        const Frontier& f = *table<Frontier>(image().frontiers, wave.frontier);
        const u32 side = f.side ^ f.owned;
        items = f.items[side];
        ranges = f.ranges[side];
        hubs = f.hubs[side];
        // A capacity is below 2^32, and so is what it holds.
        n = static_cast<u32>(f.swept);
        const bool own = f.topology == wave.topology;
        const u64 all = f.swept_hubs & ((1ull << 40) - 1), lists = f.swept_hubs >> 40;
        const bool split = own && lists < f.hubs_len && all <= VYRE_NONE;
        with_range = own ? f.ranges_len : 0;
        hub_items = static_cast<u32>(lists);
        chunks = split ? static_cast<u32>(all) : VYRE_NONE;
    }
    // Few chunks are cut into smaller ones, so many each, so that more warps have some.
    __device__ __forceinline__ u32 cuts(const Sweep& s) const {
        const u32 whole = chunks + 1, warps = s.warps();
        return whole <= warps / 16 ? 16 : whole <= warps / 4 ? 4 : 1;
    }
    // Parts of chunks that this CTA has.
    __device__ __forceinline__ u32 parts_here(const Sweep& s) const {
        if (chunks + 1 <= 1) return 0;
        const u32 parts = chunks * cuts(s);
        return parts > vyre_state.cta ? (parts - vyre_state.cta - 1) / vyre_state.ctas + 1 : 0;
    }
};

// The edges out of the items first..first + `each`, of which a lane has every 32nd.
template <int M>
__device__ __noinline__ void sweep_items(u32 first, u32 each) {
    const Sweep s;
    Vec<M> node, begin, degree;
    u64 targets;
    u32 most = 0;
    {
        const Out out;
        targets = out.topology.targets;
        const u32 end = min(static_cast<u64>(out.n), static_cast<u64>(first) + each);
        const u32 longest = out.chunks != VYRE_NONE ? VYRE_HUB_EDGES : VYRE_NONE;
        u32 to[M];
#pragma unroll
        for (int j = 0; j < M; j++) {
            const u64 i = static_cast<u64>(first) + j * 32 + lane_id();
            node.v[j] = load_global_if(i < end, out.items + i * 4, 0);
            load_range_if(i < min(end, out.with_range), out.ranges + i * 8, begin.v[j], to[j]);
        }
        if (out.with_range < end) {
#pragma unroll
            for (int j = 0; j < M; j++) {
                const u64 i = static_cast<u64>(first) + j * 32 + lane_id();
                const bool some = i < end && i >= out.with_range;
                begin.v[j] = load_topology_if(some, out.topology.offsets, node.v[j], begin.v[j]);
                to[j] = load_topology_if(some, out.topology.offsets, node.v[j] + 1ull, to[j]);
            }
        }
        if (image().limited != 0) {
            u64 edges = 0;
#pragma unroll
            for (int j = 0; j < M; j++) edges += to[j] - begin.v[j];
            count_steps(edges);
        }
#pragma unroll
        for (int j = 0; j < M; j++) {
            degree.v[j] = to[j] - begin.v[j];
            if (degree.v[j] > longest) degree.v[j] = 0;
            most = max(most, degree.v[j]);
        }
    }
    if (!__any_sync(VYRE_FULL, most >= 1u << 25)) {
        expand_tiles<M>(s, targets, node, begin, degree, each);
        return;
    }
    // Few graphs have these.
#pragma unroll
    for (int j = 0; j < M; j++) expand_any(targets, node.v[j], begin.v[j], degree.v[j], 32);
}

// A part of a chunk of an item with many edges.
__device__ __noinline__ void sweep_chunk(u32 part) {
    const Sweep s;
    u32 node, start, begin, end, cuts, chunk;
    u64 targets;
    {
        const Out out;
        targets = out.topology.targets;
        cuts = out.cuts(s);
        chunk = part / cuts;
        const u64 list = out.hubs;
        const u32 at = warp_last_not_above(out.hub_items, chunk, [&](u32 i) { return load_global(list + i * 16ull + 4); });
        load_range(list + at * 16ull, node, start);
        load_range(list + at * 16ull + 8, begin, end);
    }
    const u32 size = VYRE_HUB_EDGES / cuts;
    const u64 from = begin + static_cast<u64>(chunk - start) * VYRE_HUB_EDGES + part % cuts * size;
    const u64 to = min(static_cast<u64>(end), from + size);
    for (u64 e = from; e < to; e += s.kernel.k * 32) {
        if (s.kernel.k == 1 || size == 32)
            run_span<1>(s, e, to, 0, targets, node);
        else if (s.kernel.k == 2)
            run_span<2>(s, e, to, 0, targets, node);
        else
            run_span<4>(s, e, to, 0, targets, node);
    }
}

// Every edge out of a frontier's items.
__device__ __noinline__ void sweep_edges_from() {
    if (vyre_state.single != 0) {
        const u32 each = vyre_state.each, first = (warp_id() * vyre_state.ctas + vyre_state.cta) * each;
        const Wave& wave = *table<Wave>(image().waves, vyre_state.wave);
        if (first < table<Frontier>(image().frontiers, wave.frontier)->swept) sweep_items<1>(first, each);
        return;
    }
    const Sweep s;
    Tiles tiles;
    for (u32 next = tiles.take();;) {
        const u32 tile = next, each = vyre_state.each;
        u32 first, part = VYRE_NONE;
        {
            const Out out;
            // Chunks of hubs first: they take longest.
            const u32 chunks = out.parts_here(s);
            const auto first_of = [&](u32 tile) {
                return (static_cast<u64>(tile - chunks) * vyre_state.ctas + vyre_state.cta) * each;
            };
            if (tile >= chunks && first_of(tile) >= out.n) return;
            if (tile < chunks) part = tile * vyre_state.ctas + vyre_state.cta;
            first = static_cast<u32>(first_of(tile));
            // The tile after this one, whose items are asked for already.
            next = tiles.take();
            if (each > 8 && next >= chunks && first_of(next) < out.n) {
                const u32 skip = lane_id() * 128;
                if (skip < each * 4) prefetch(out.items + first_of(next) * 4 + skip);
                if (skip < each * 8 && out.with_range != 0) prefetch(out.ranges + first_of(next) * 8 + skip);
            }
        }
        if (part != VYRE_NONE)
            sweep_chunk(part);
        else if (each <= 32)
            sweep_items<1>(first, each);
        else
            sweep_items<3>(first, each);
    }
}

// Every edge with its source: each warp takes spans of edges and walks the nodes that own them, of which there may be many.
__device__ __noinline__ void sweep_edges(u32 topology_id) {
    const Sweep s;
    const Topology& topology = *table<Topology>(image().topologies, topology_id);
    const u64 edges = topology.edges, targets = topology.targets, offsets = topology.offsets;
    if (s.kernel.src_row == VYRE_NONE) return sweep_flat(edges, 0, targets);
    const u64 span = min(2048ull, (edges / s.warps() / 4 + 128) & ~127ull);
    Tiles tiles;
    for (;;) {
        const u64 low = (static_cast<u64>(tiles.take()) * vyre_state.ctas + vyre_state.cta) * span;
        const u64 high = min(edges, low + span);
        if (low >= high) return;
        u64 first = warp_last_not_above(topology.nodes, static_cast<u32>(low),
                                        [&](u32 i) { return load_topology(offsets, i); });
        do {
            const u64 node = first + lane_id();
            u32 begin = 0, end = 0;
            if (node < topology.nodes) {
                begin = max(load_topology(offsets, node), static_cast<u32>(low));
                end = min(load_topology(offsets, node + 1), static_cast<u32>(high));
            }
            expand_here(s, targets, static_cast<u32>(node), begin, end > begin ? end - begin : 0, 32);
            first += 32;
        } while (first < topology.nodes && load_topology(offsets, first) < high);
    }
}

// The edges of a round that `end_plain` ends, by one warp.
__device__ __forceinline__ void sweep_plain() {
    if (warp_id() >= vyre_state.active) return;
    stage_nothing();
    if (vyre_state.single != 0) {
        const u32 each = vyre_state.each, first = (warp_id() * gridDim.x + blockIdx.x) * each;
        if (first < entry_at<Frontier>(vyre_plain.frontier).swept) sweep_items<1>(first, each);
    } else {
        sweep_edges_from();
    }
    append_all_staged();
}

// The parts of the long ranges of a wave's neighbour loop.
template <int K>
__device__ __forceinline__ void sum_parts(const Sweep& s, const Wave& wave) {
    const u32 regs = shared_address(image().registers_shared) + warp_id() * s.kernel.warp_bytes + lane_id() * (K * 4);
    const u32 code = s.kernel.code_at + s.kernel.neighbors * VYRE_WORD_BYTES;
    const uint4 loop = word_at(code, 0);
    const u32 rows = loop.x, total = regs + (rows >> 8 & 255) * (K * 128), op = word_at(code, 1).y;
    Tiles tiles;
    for (;;) {
        const u32 part = tiles.take() * vyre_state.ctas + vyre_state.cta;
        if (part >= wave.part_count) return;
        u32 begin, end;
        load_range(wave.parts + part * 8ull, begin, end);
        if ((loop.y & VYRE_GATHER) != 0) {
            const u64 sum = gather_part(op, code + 2 * VYRE_WORD_BYTES, begin, end);
            if (lane_id() == 0) store_global64(wave.sums + part * 8ull, sum);
            continue;
        }
        __syncwarp();
        if (lane_id() == 0) {
            store_shared(total, nothing(op));
            store_shared(regs + (rows >> 16 & 255) * (K * 128), begin);
            store_shared(regs + (rows >> 24) * (K * 128), end);
        }
        __syncwarp();
        const u64 good = interpret<K>(s.kernel.code_at, regs, shared_address(s.kernel.uniforms_shared), lane_id() == 0, s.id,
                                      s.kernel.neighbors) != 0;
        __syncwarp();
        if (lane_id() == 0) store_global64(wave.sums + part * 8ull, good << 32 | load_shared(total));
    }
}

__device__ __noinline__ void sum_ranges(u32 wave_id) {
    const Sweep s;
    const Wave& wave = *table<Wave>(image().waves, wave_id);
    if (s.kernel.k == 1)
        sum_parts<1>(s, wave);
    else if (s.kernel.k == 2)
        sum_parts<2>(s, wave);
    else
        sum_parts<4>(s, wave);
}

// Takes the lanes' reductions together: the control warp does so with the CTA's warps. `accumulators` are this lane's.
__device__ __noinline__ void take_together(const Kernel& kernel, u32 accumulators) {
    for (u32 i = 0; i < kernel.reduction_count; i++) {
        const u32 id = *table<u32>(image().lists, kernel.reductions + i);
        const Reduction& r = *table<Reduction>(image().reductions, id);
        if (r.words != 1) {
            if (warp_id() < vyre_state.active)
                exact_contribute(r.words, accumulators + i * 256, reduction_slot(r, r.epoch));
            i += (r.words - 1) / 32;
            continue;
        }
        const u64 mine = warp_id() < vyre_state.active ? load_shared64(accumulators + i * 256) : r.identity;
        const u64 total = combine_lanes(r.kind, mine);
        if (lane_id() == 0) *table<u64>(image().partials_shared, i * VYRE_WARPS + warp_id()) = total;
    }
}

// The sweep of one wave by one warp.
__device__ __forceinline__ void sweep_wave(u32 wave_id) {
    if (vyre_state.each == 0) {
        if (warp_id() < vyre_state.active) sum_ranges(wave_id);
        return;
    }
    const Kernel& kernel = *table<Kernel>(image().kernels, vyre_state.kernel);
    const u32 reductions = kernel.reduction_count;
    const u32 accumulators = shared_address(image().registers_shared) + warp_id() * kernel.warp_bytes +
                             kernel.accumulators + lane_id() * 8;
    if (warp_id() < vyre_state.active) {
        for (u32 i = 0; i < reductions; i++) {
            const u32 id = *table<u32>(image().lists, kernel.reductions + i);
            store_shared64(accumulators + i * 256, table<Reduction>(image().reductions, id)->identity);
        }
        const Wave& wave = *table<Wave>(image().waves, wave_id);
        stage_nothing();
        switch (wave.domain) {
            case VYRE_DOMAIN_EdgesFrom: sweep_edges_from(); break;
            case VYRE_DOMAIN_Once:
            case VYRE_DOMAIN_Range:
            case VYRE_DOMAIN_Nodes: sweep_flat(wave.len, 0, 0); break;
            case VYRE_DOMAIN_ListItems: {
                const u64 all = table<Frontier>(image().frontiers, wave.frontier)->swept;
                sweep_records(wave.frontier, wave.from, wave.fresh != 0 ? wave.swept_to : all);
                break;
            }
            case VYRE_DOMAIN_Items: {
                const Frontier& f = *table<Frontier>(image().frontiers, wave.frontier);
                if (f.record != VYRE_NONE) {
                    sweep_records(wave.frontier, 0, f.swept);
                    break;
                }
                sweep_flat(f.swept, f.items[f.side ^ f.owned], 0);
                break;
            }
            case VYRE_DOMAIN_Edges: sweep_edges(wave.topology); break;
            default: unknown_word(wave.domain);
        }
        append_all_staged();
    }
    if (reductions != 0) take_together(kernel, accumulators);
}
