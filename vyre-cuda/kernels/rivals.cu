// What the megakernel is measured against: breadth-first search as one compiled kernel per level, launched from a host
// loop that reads the next frontier's length back after each. Written as well as such a loop can be: the frontier and its
// length ping-pong, so that a level is one launch and one 4-byte copy; a warp shares its items' edges among its lanes;
// a warp takes its slots of the next frontier with one atomic.

typedef unsigned int u32;

#define FULL 0xffffffffu

// Each warp takes `each` items. counters[0..3]: lengths of the frontiers, used in turn: level l reads l % 3, adds to (l + 1) % 3, zeroes (l + 2) % 3.
extern "C" __global__ void __launch_bounds__(256)
    rival_bfs_level(const u32* offsets, const u32* targets, u32* dist, const u32* front, u32* next, u32* counters,
                    u32 level, u32 each) {
    const u32 lane = threadIdx.x & 31, warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    const u32 warps = gridDim.x * blockDim.x >> 5;
    const u32 n = counters[level % 3];
    u32* out = counters + (level + 1) % 3;
    if (blockIdx.x == 0 && threadIdx.x == 0) counters[(level + 2) % 3] = 0;
    for (u32 first = warp * each; first < n; first += warps * each) {
        u32 begin = 0, end = 0;
        if (lane < each && first + lane < n) {
            const u32 node = front[first + lane];
            begin = offsets[node];
            end = offsets[node + 1];
        }
        // Long lists by the whole warp, the rest gathered edge by edge.
        u32 sum = end - begin;
        for (u32 step = 1; step < 32; step <<= 1) {
            const u32 below = __shfl_up_sync(FULL, sum, step);
            if (lane >= step) sum += below;
        }
        const u32 total = __shfl_sync(FULL, sum, 31), place = sum - (end - begin);
        for (u32 base = 0; base < total; base += 32) {
            const u32 at = base + lane;
            // The owner is the last lane whose place is not above `at` and that has edges there.
            u32 owner = 0;
            for (u32 step = 16; step > 0; step >>= 1) {
                const u32 probe = owner + step;
                if (__shfl_sync(FULL, place, probe) <= at) owner = probe;
            }
            const u32 from = __shfl_sync(FULL, begin, owner), skipped = __shfl_sync(FULL, place, owner);
            u32 found = 0, target = 0;
            if (at < total) {
                target = targets[from + at - skipped];
                found = dist[target] == FULL && atomicCAS(dist + target, FULL, level + 1) == FULL;
            }
            const u32 pushing = __ballot_sync(FULL, found);
            if (pushing == 0) continue;
            u32 slot = 0;
            if (lane == 0) slot = atomicAdd(out, __popc(pushing));
            slot = __shfl_sync(FULL, slot, 0) + __popc(pushing & ((1u << lane) - 1));
            if (found) next[slot] = target;
        }
    }
}

// Distances and the first frontier.
extern "C" __global__ void rival_bfs_start(u32* dist, u32 nodes, u32* front, u32* counters, u32 source) {
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    for (u32 v = i; v < nodes; v += gridDim.x * blockDim.x) dist[v] = v == source ? 0 : FULL;
    if (i == 0) {
        front[0] = source;
        counters[0] = 1;
        counters[1] = counters[2] = 0;
    }
}
