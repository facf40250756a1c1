// The nodes that lanes push in a narrow round go where they belong. This text stands within the round, whose state it uses:
// what is kept stays in registers only where nothing is called.
//
// `ok`: the lanes that push their `y`; `own`: to the swept frontier, which is the only one whose pushes are counted here, or
// else `to`, whose stamps and offsets these are.
if (stamps != 0) {
    const u32 now = own ? load_shared(base + offsetof(Quick, stamp)) + done : to.stamp;
    if (ok && atomic_swap(stamps + y * 4ull, now) == now) ok = false;
}
u32 lanes = __ballot_sync(VYRE_FULL, ok), from = ahead, until = ahead_end;
MARK(16);
if (lanes != 0) {
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
            if (lane == 0) slot = atomicAdd(&quick.kept[now_side], static_cast<u32>(__popc(lanes)));
            slot = __shfl_sync(VYRE_FULL, slot, 0);
        }
        local += __popc(lanes);
        slot += __popc(lanes & ((1u << lane) - 1));
        MARK(17);
        if (ok && slot < VYRE_KEPT) {
            store_shared_entry(kept_address(base, now_side, slot), make_uint4(y, from, until, 0));
            // The targets of its first edges are fetched while the CTAs come together.
            if (!solo) {
                const uint4 edges = load_shared_entry(base + offsetof(Quick, edges));
                const u64 targets = JOIN(edges.x, edges.y) + from * 4ull;
#pragma unroll
                for (u32 i = 0; i < VYRE_KEPT_TARGETS; i++)
                    start_word_if(from + i < until, kept_target(base, now_side, slot) + i * 4,
                                  targets + i * 4);
            }
            if (until - from > VYRE_HUB_EDGES) f.attention = quick.special = 1;
        }
        ok = ok && slot >= VYRE_KEPT;
        lanes = __ballot_sync(VYRE_FULL, ok);
        MARK(18);
    }
}
if (lanes != 0) {
    // To the list: of another frontier, or what this CTA has no room for.
    u32 slot = 0;
    const u32 to_side = own ? now_side : to.side, now_third = own ? third : to.third;
    if (lane == 0) {
        slot = static_cast<u32>(atomic_add64(to.counters + now_third * 128, __popc(lanes)));
        if (own) {
            atomicAdd(&f.local, static_cast<u32>(__popc(lanes)));
            quick.special = 1;
        }
    }
    const u64 items = to.items[to_side], ranges = to.ranges[to_side];
    slot = __shfl_sync(VYRE_FULL, slot, 0) + __popc(lanes & ((1u << lane) - 1));
    if (ok && slot < to.capacity) {
        store_global(items + slot * 4ull, y);
        if (slot < to.ranges_len) store_range(ranges + slot * 8ull, from, until);
    }
    // Hubs go to a list of their own too.
    if (ok && to.offsets != 0 && until - from > VYRE_HUB_EDGES) {
        const u64 counter = to.hub_counters + now_third * 128;
        to.attention = quick.special = 1;
        if (load_relaxed64(counter) >> 40 < to.hubs_len) {
            const u64 old = atomic_add64(counter, (1ull << 40) + (until - from - 1) / VYRE_HUB_EDGES + 1);
            if (old >> 40 < to.hubs_len) {
                const u64 hub = to.hubs[to_side] + (old >> 40) * 16;
                store_range(hub, y, static_cast<u32>(old));
                store_range(hub + 8, from, until);
            }
        }
    }
    __syncwarp();
    MARK(19);
}
