// What the megakernel is measured against: the benchmark's problems in CUDA C, written as well as we can, each to be run by
// a host loop, by queued launches, by a CUDA graph with a WHILE node, and by a persistent kernel (rivals.cuh).

#include "rivals.cuh"

// Breadth-first search: a bit a node says that it was seen; who sets it pushes. Bits are read from the first-level cache,
// where an old one costs an atomic and no more. Where every edge has its reverse (`width` is the number of edges then) and a
// frontier has many of them, nodes that were not seen look for one that was instead (Beamer, Asanovic, Patterson:
// Direction-optimizing breadth-first search): all that were seen before the step and have such a neighbour are in the frontier.
struct Bfs {
    // Bits of `state`, and edges of a node that a lane looks at by itself.
    enum : u32 { SIDE = 1, PULL = 2, SERIAL = 32 };

    DEVICE static void begin(const Params& p, Control& control, Span span) {
        u32* dist = static_cast<u32*>(p.out);
        const u32 thread = span.warp * 32 + lane_id(), threads = span.warps * 32;
        for (u32 v = thread; v < p.nodes; v += threads) dist[v] = v == p.source ? 0 : FULL;
        for (u32 w = thread; w < (p.nodes + 31) / 32; w += threads)
            p.marks[0][w] = w == p.source / 32 ? 1u << p.source % 32 : 0;
        if (thread == 0) {
            const u32 begin = p.offsets[p.source], end = p.offsets[p.source + 1];
            p.front[1][0] = {0, begin, end, p.source};
            Results& first = control.slots[0].results;
            first.pushed = begin < end ? u64(end - begin) << 32 | 1 : 0;
            first.deepest = end - begin;
        }
    }
    DEVICE static void advance(const Params& p, const Control&, const Results& in, Head& head) {
        const u32 items = u32(in.pushed), edges = u32(in.pushed >> 32);
        head.done = items == 0;
        head.value += edges;
        const bool pulled = (head.state & PULL) != 0;
        const bool many = pulled ? items > p.nodes / 24 : edges > (p.width - head.value) / 14 && edges > p.nodes / 4;
        const u32 side = (head.state & SIDE) ^ pulled;
        head.state = side | (p.width != 0 && many ? PULL : 0);
    }
    enum : bool { SWEEPS = true };
    DEVICE static bool solo(const Results& in, const Head& head) {
        return in.deepest <= SHALLOW && in.pushed >> 32 <= SOLO && (head.state & PULL) == 0;
    }
    DEVICE static bool seen(const u32* marks, u32 node) { return (marks[node / 32] >> node % 32 & 1) != 0; }

    // Whether a neighbour was seen: the first edges by each lane, the rest of long lists by all.
    DEVICE static bool reached(const Params& p, const u32* marks, u32 begin, u32 end) {
        bool found = false;
        const u32 stop = min(end, begin + SERIAL);
        u32 edge = begin;
        for (; edge < stop && !found; ++edge) found = seen(marks, load_nc(p.targets + edge));
        for (u32 left = __ballot_sync(FULL, !found && edge < end); left != 0; left &= left - 1) {
            const u32 owner = __ffs(left) - 1, last = __shfl_sync(FULL, end, owner);
            u32 at = __shfl_sync(FULL, edge, owner) + lane_id();
            bool any = false;
            for (; !any && at - lane_id() < last; at += 32)
                any = __any_sync(FULL, at < last && seen(marks, load_nc(p.targets + at)));
            if (lane_id() == owner) found = any;
        }
        return found;
    }
    DEVICE static void step(const Params& p, Control&, const Results& in, const Head& head, Fronts fronts, Span span) {
        __shared__ u32 entries[THREADS / 32][QUEUE][3];
        u32* dist = static_cast<u32*>(p.out);
        u32* marks = p.marks[head.state & SIDE];
        Queue queue(entries[threadIdx.x >> 5], Frontier{fronts.to, fronts.out});
        if ((head.state & PULL) != 0) {
            u32* after = p.marks[~head.state & SIDE];
            for (u32 word = span.warp; word < (p.nodes + 31) / 32; word += span.warps) {
                const u32 before = marks[word], v = word * 32 + lane_id();
                const bool looks = (before >> lane_id() & 1) == 0 && v < p.nodes;
                const u32 begin = looks ? load_nc(p.offsets + v) : 0, end = looks ? load_nc(p.offsets + v + 1) : 0;
                const bool found = reached(p, marks, begin, end);
                if (found) dist[v] = head.step;
                const u32 all = before | __ballot_sync(FULL, found);
                if (lane_id() == 0) after[word] = all;
                queue.push(found, v, begin, end);
            }
        } else {
            const bool eager = in.pushed >> 32 <= EAGER;
            sweep(p, in, fronts, span, [&](bool valid, u32, u32 target, u32) {
                bool found = false;
                u32 begin = 0, end = 0;
                u32* word = marks + target / 32;
                const u32 bit = 1u << target % 32;
                if (valid && (eager || (*word & bit) == 0)) {
                    begin = load_nc(p.offsets + target);
                    end = load_nc(p.offsets + target + 1);
                    found = (atomicOr(word, bit) & bit) == 0;
                    if (found) dist[target] = head.step;
                }
                queue.push(found, target, begin, end);
            });
        }
        queue.close();
    }
};
KERNELS(bfs, Bfs, 5)

// Shortest paths, nearest first (Davidson, Baxter, Garland, Owens: Work-efficient parallel GPU methods for single-source
// shortest paths): nodes nearer than a limit are relaxed until none is left, those farther away wait in a pile, which is
// split when the limit moves on. Marks keep a node from being pushed twice in a step, or piled up twice.
struct Sssp {
    DEVICE static void begin(const Params& p, Control& control, Span span) {
        u32* dist = static_cast<u32*>(p.out);
        const u32 thread = span.warp * 32 + lane_id(), threads = span.warps * 32;
        for (u32 v = thread; v < p.nodes; v += threads) {
            dist[v] = v == p.source ? 0 : FULL;
            p.marks[0][v] = p.marks[1][v] = 0;
        }
        if (thread == 0) {
            const u32 begin = p.offsets[p.source], end = p.offsets[p.source + 1];
            p.front[1][0] = {0, begin, end, p.source};
            Results& first = control.slots[0].results;
            first.pushed = begin < end ? u64(end - begin) << 32 | 1 : 0;
            first.deepest = end - begin;
            control.slots[0].head.value = p.width;
        }
    }
    // Without near nodes the pile is split. Nobody pushes to its side that is read then.
    DEVICE static void advance(const Params& p, const Control& control, const Results& in, Head& head) {
        if (in.pushed != 0) return;
        head.done = control.far[head.state & 3] == 0;
        head.state += 1;
        head.value = head.value + p.width < p.width ? FULL : head.value + p.width;
    }
    enum : bool { SWEEPS = true };
    DEVICE static bool solo(const Results& in, const Head&) {
        return in.pushed != 0 && in.deepest <= SHALLOW && in.pushed >> 32 <= SOLO;
    }
    DEVICE static void step(const Params& p, Control& control, const Results& in, const Head& head, Fronts fronts,
                            Span span) {
        __shared__ u32 entries[2][THREADS / 32][QUEUE][3];
        u32* dist = static_cast<u32*>(p.out);
        const u32 warp = threadIdx.x >> 5;
        Queue near(entries[0][warp], Frontier{fronts.to, fronts.out});
        Queue far(entries[1][warp], Pile{p.front[2 + (head.state & 1)], control.far + (head.state & 3)});
        if (in.pushed != 0) {
            sweep(p, in, fronts, span, [&](bool valid, u32 edge, u32 target, u32 node) {
                bool is_near = false, is_far = false;
                u32 begin = 0, end = 0;
                if (valid) {
                    const u32 next = dist[node] + load_nc(p.weights + edge);
                    if (next < dist[target]) {
                        begin = load_nc(p.offsets + target);
                        end = load_nc(p.offsets + target + 1);
                        if (next < atomicMin(dist + target, next)) {
                            if (next < head.value) {
                                is_near = atomicExch(p.marks[0] + target, head.step) != head.step;
                            } else {
                                is_far = atomicExch(p.marks[1] + target, 1) == 0;
                            }
                        }
                    }
                }
                near.push(is_near, target, begin, end);
                far.push(is_far, target, begin, end);
            });
        } else {
            if (is_leader()) control.far[head.state + 1 & 3] = 0;
            const Item* pile = p.front[2 + (head.state + 1 & 1)];
            const u32 count = control.far[head.state + 3 & 3];
            for (u32 first = span.warp * 32; first < count; first += span.warps * 32) {
                const bool valid = first + lane_id() < count;
                const Item item = valid ? load_item(pile + first + lane_id()) : Item{};
                const u32 d = valid ? dist[item.node] : 0;
                const bool waits = valid && d >= head.value, settled = d < head.value - p.width;
                if (valid && !waits) p.marks[1][item.node] = 0;
                near.push(valid && !waits && !settled, item.node, item.begin, item.end);
                far.push(waits, item.node, item.begin, item.end);
            }
        }
        near.close();
        far.close();
    }
};
KERNELS(sssp, Sssp, 4)

// Ranks by pulling: a warp takes about as many edges as any other. Rows of at least LONG edges are summed up one after the
// other, the others together; rows above HUB edges are cut into parts, the last of which to finish finishes the row.
struct PageRank {
    enum : u32 { LONG = 48, HUB = 4096 };

    struct Moves {
        float moved, dangling;
    };
    DEVICE static void finish(const Params& p, float base, float* share, u32 row, u32 degree, float sum, Moves& moves) {
        float* rank = static_cast<float*>(p.out);
        const float next = base + p.factor * sum;
        moves.moved += fabsf(next - rank[row]);
        rank[row] = next;
        if (degree == 0) {
            moves.dangling += next;
        } else {
            share[row] = __fdividef(next, degree);
        }
    }
    DEVICE static void add_up(const Moves& moves, Results& out) {
        __shared__ double sums[2][THREADS / 32];
        const u32 warp = threadIdx.x >> 5;
        const double moved = warp_sum(double(moves.moved)), dangling = warp_sum(double(moves.dangling));
        if (lane_id() == 0) sums[0][warp] = moved, sums[1][warp] = dangling;
        __syncthreads();
        if (threadIdx.x < 2) {
            double sum = 0;
            for (u32 w = 0; w < THREADS / 32; ++w) sum += sums[threadIdx.x][w];
            if (sum != 0) atomicAdd(threadIdx.x == 0 ? &out.moved : &out.dangling, sum);
        }
    }
    DEVICE static void begin(const Params& p, Control& control, Span span) {
        const float start = 1.0f / p.nodes;
        float* rank = static_cast<float*>(p.out);
        const u32 thread = span.warp * 32 + lane_id(), threads = span.warps * 32;
        Moves moves{};
        for (u32 v = thread; v < p.nodes; v += threads) {
            const u32 degree = p.offsets[v + 1] - p.offsets[v];
            rank[v] = start;
            if (degree == 0) {
                moves.dangling += start;
            } else {
                p.share[1][v] = __fdividef(start, degree);
            }
        }
        for (u32 i = thread; i < p.part_count; i += threads) p.sums[i] = 0, p.arrived[i] = 0;
        add_up(moves, control.slots[0].results);
    }
    DEVICE static void advance(const Params& p, const Control&, const Results& in, Head& head) {
        head.done = head.step > 1 && in.moved < p.tolerance;
        head.value = __float_as_uint((1.0f - p.factor + p.factor * float(in.dangling)) / p.nodes);
    }
    enum : bool { SWEEPS = false };
    DEVICE static bool solo(const Results&, const Head&) { return false; }

    DEVICE static float gather(const Params& p, const float* share, u32 begin, u32 end) {
        float sums[4] = {};
        for (u32 edge = begin + lane_id(); edge < end; edge += 128) {
            u32 targets[4];
#pragma unroll
            for (u32 k = 0; k < 4; ++k) targets[k] = edge + 32 * k < end ? __ldcs(p.targets + edge + 32 * k) : FULL;
#pragma unroll
            for (u32 k = 0; k < 4; ++k) sums[k] += targets[k] != FULL ? share[targets[k]] : 0;
        }
        return warp_sum(sums[0] + sums[1] + (sums[2] + sums[3]));
    }
    // A part is a row, its edges from and to, and the number of the row's first part.
    DEVICE static void sum_part(const Params& p, float base, const float* share, float* next, uint4 part, Moves& moves) {
        const float sum = gather(p, share, part.y, part.z);
        if (lane_id() == 0) {
            const u32 degree = p.offsets[part.x + 1] - p.offsets[part.x];
            atomicAdd(p.sums + part.w, sum);
            __threadfence();
            if (atomicAdd(p.arrived + part.w, 1) == (degree + HUB - 1) / HUB - 1) {
                p.arrived[part.w] = 0;
                finish(p, base, next, part.x, degree, atomicExch(p.sums + part.w, 0), moves);
            }
        }
    }
    DEVICE static void sum_unit(const Params& p, float base, const float* share, float* next, const u32* unit, float* mine,
                                Moves& moves) {
        const u32 lane = lane_id(), row = unit[0] + lane;
        const bool valid = row < unit[1];
        const u32 begin = valid ? load_nc(p.offsets + row) : 0, end = valid ? load_nc(p.offsets + row + 1) : 0;
        const u32 degree = end - begin, short_degree = degree < LONG ? degree : 0;
        const u32 sum = scan_inclusive(short_degree);
        mine[lane] = 0;
        __syncwarp();
        const u32 all = __shfl_sync(FULL, sum, 31);
        expand(p, {sum - short_degree, begin, lane}, 0, all, [&](bool valid, u32, u32 target, u32 owner) {
            float x = valid ? share[target] : 0;
            for (u32 step = 1; step < 32; step <<= 1) {
                const float below = __shfl_up_sync(FULL, x, step);
                const u32 other = __shfl_up_sync(FULL, owner, step);
                if (lane >= step && other == owner) x += below;
            }
            if (__shfl_down_sync(FULL, owner, 1) != owner || lane == 31) mine[owner] += x;
            __syncwarp();
        });
        for (u32 rows = __ballot_sync(FULL, degree >= LONG && degree <= HUB); rows != 0; rows &= rows - 1) {
            const u32 owner = __ffs(rows) - 1;
            const float x = gather(p, share, __shfl_sync(FULL, begin, owner), __shfl_sync(FULL, end, owner));
            if (lane == owner) mine[lane] = x;
        }
        if (valid && degree <= HUB) finish(p, base, next, row, degree, mine[lane], moves);
        __syncwarp();
    }
    DEVICE static void step(const Params& p, Control&, const Results&, const Head& head, Fronts fronts, Span span) {
        __shared__ float sums[THREADS / 32][32];
        const float* share = p.share[head.step & 1];
        float* next = p.share[head.step + 1 & 1];
        const float base = __uint_as_float(head.value);
        Moves moves{};
        float* mine = sums[threadIdx.x >> 5];
        // Warps take the next part or unit when they are done with one, and ask ahead.
        u32 taken = span.warp;
        while (taken < p.part_count + p.unit_count) {
            u32 ahead = 0;
            if (lane_id() == 0) ahead = atomicAdd(&fronts.out->taken, 1);
            if (taken < p.part_count) {
                sum_part(p, base, share, next, p.parts[taken], moves);
            } else {
                sum_unit(p, base, share, next, p.units + (taken - p.part_count), mine, moves);
            }
            taken = __shfl_sync(FULL, ahead, 0) + span.warps;
        }
        add_up(moves, *fronts.out);
    }
};
KERNELS(pagerank, PageRank, 4)

// Components by a forest in which parents have smaller numbers (Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity
// computation via subgraph sampling): two edges a node are linked, then all edges of the nodes that are not in the tree of
// `source`, the node with most edges. Every edge is there in both directions, so none is missed.
struct Components {
    enum : u32 { STEPS = 5 };

    DEVICE static void begin(const Params& p, Control&, Span span) {
        u32* parent = static_cast<u32*>(p.out);
        for (u32 v = span.warp * 32 + lane_id(); v < p.nodes; v += span.warps * 32) {
            const u32 begin = p.offsets[v];
            parent[v] = begin < p.offsets[v + 1] ? min(v, p.targets[begin]) : v;
        }
    }
    DEVICE static void advance(const Params&, const Control&, const Results&, Head& head) {
        head.done = head.step > STEPS;
    }
    enum : bool { SWEEPS = false };
    DEVICE static bool solo(const Results&, const Head&) { return false; }

    DEVICE static void link(u32* parent, u32 u, u32 v) {
        u32 a = load_relaxed(parent + u), b = load_relaxed(parent + v);
        while (a != b) {
            const u32 high = max(a, b), low = min(a, b), above = load_relaxed(parent + high);
            if (above == low || (above == high && atomicCAS(parent + high, high, low) == high)) return;
            a = load_relaxed(parent + load_relaxed(parent + high));
            b = load_relaxed(parent + low);
        }
    }
    DEVICE static void compress(u32* parent, u32 v) {
        u32 above = load_relaxed(parent + v);
        for (;;) {
            const u32 next = load_relaxed(parent + above);
            if (next == above) return;
            parent[v] = next;
            above = next;
        }
    }
    DEVICE static void step(const Params& p, Control&, const Results&, const Head& head, Fronts, Span span) {
        u32* parent = static_cast<u32*>(p.out);
        const u32 hub = head.step == 4 ? load_relaxed(parent + p.source) : 0;
        for (u32 first = span.warp * 32; first < p.nodes; first += span.warps * 32) {
            const u32 v = first + lane_id();
            const bool valid = v < p.nodes;
            if (head.step % 2 == 1) {
                if (valid) compress(parent, v);
                continue;
            }
            u32 begin = valid ? load_nc(p.offsets + v) : 0, end = valid ? load_nc(p.offsets + v + 1) : 0;
            if (head.step == 2) {
                // `begin` has left out the first edge where it leads up.
                for (u32 edge = begin; edge < min(end, begin + 2); ++edge) link(parent, v, load_nc(p.targets + edge));
                continue;
            }
            const u32 rest = valid && end - begin > 2 && load_relaxed(parent + v) != hub ? end - begin - 2 : 0;
            const u32 sum = scan_inclusive(rest);
            expand(p, {sum - rest, begin + 2, v}, 0, __shfl_sync(FULL, sum, 31),
                   [&](bool valid, u32, u32 target, u32 node) {
                       if (valid) link(parent, node, target);
                   });
        }
    }
};
KERNELS(components, Components, 6)

// Live registers: sets flow from a block to those before it; a block whose set grew is pushed once a step.
struct Liveness {
    DEVICE static void begin(const Params& p, Control&, Span span) {
        u64* live = static_cast<u64*>(p.out);
        for (u32 v = span.warp * 32 + lane_id(); v < p.nodes; v += span.warps * 32) {
            live[v] = p.uses[v];
            p.marks[0][v] = 0;
        }
    }
    DEVICE static void advance(const Params&, const Control&, const Results& in, Head& head) {
        head.done = head.step > 1 && in.pushed == 0;
    }
    enum : bool { SWEEPS = true };
    DEVICE static bool solo(const Results& in, const Head& head) {
        return head.step > 1 && in.deepest <= SHALLOW && in.pushed >> 32 <= SOLO;
    }
    DEVICE static void step(const Params& p, Control&, const Results& in, const Head& head, Fronts fronts, Span span) {
        __shared__ u32 entries[THREADS / 32][QUEUE][3];
        u64* live = static_cast<u64*>(p.out);
        Queue queue(entries[threadIdx.x >> 5], Frontier{fronts.to, fronts.out});
        if (head.step == 1) {
            for (u32 first = span.warp * 32; first < p.nodes; first += span.warps * 32) {
                const u32 v = first + lane_id();
                const bool uses = v < p.nodes && load_nc(p.uses + v) != 0;
                queue.push(uses, v, uses ? load_nc(p.offsets + v) : 0, uses ? load_nc(p.offsets + v + 1) : 0);
            }
        } else {
            const bool eager = in.pushed >> 32 <= EAGER;
            sweep(p, in, fronts, span, [&](bool valid, u32, u32 target, u32 node) {
                bool grew = false;
                u32 begin = 0, end = 0;
                if (valid) {
                    const u64 through = live[node] & ~load_nc(p.defs + target);
                    if (through != 0 && (eager || (through & ~live[target]) != 0)) {
                        begin = load_nc(p.offsets + target);
                        end = load_nc(p.offsets + target + 1);
                        grew = (through & ~atomicOr(live + target, through)) != 0 &&
                               atomicExch(p.marks[0] + target, head.step) != head.step;
                    }
                }
                queue.push(grew, target, begin, end);
            });
        }
        queue.close();
    }
};
KERNELS(liveness, Liveness, 5)

// y = a * x + y: four elements an access, four accesses on their way.
struct Saxpy {
    DEVICE static void step(const Params& p, Span span) {
        const float4* x = reinterpret_cast<const float4*>(p.share[0]);
        float4* y = static_cast<float4*>(p.out);
        const float a = p.factor;
        const u32 thread = span.warp * 32 + lane_id(), threads = span.warps * 32, quads = p.nodes / 4;
        auto one = [&](float4 x, float4 y) {
            return float4{a * x.x + y.x, a * x.y + y.y, a * x.z + y.z, a * x.w + y.w};
        };
        u32 i = thread;
        for (; i + 3 * u64(threads) < quads; i += 4 * threads) {
            float4 xs[4], ys[4];
            for (u32 k = 0; k < 4; ++k) xs[k] = __ldcs(x + i + k * threads), ys[k] = __ldcs(y + i + k * threads);
            for (u32 k = 0; k < 4; ++k) __stcs(y + i + k * threads, one(xs[k], ys[k]));
        }
        for (; i < quads; i += threads) y[i] = one(x[i], y[i]);
        const u32 rest = quads * 4 + thread;
        if (rest < p.nodes) {
            float* last = static_cast<float*>(p.out) + rest;
            *last = a * p.share[0][rest] + *last;
        }
    }
};
ONE_KERNEL(saxpy, Saxpy, 4)

// 32 steps that depend on each other, for four numbers a thread.
struct Hash {
    DEVICE static u32 hashed(u32 index, u32 seed) {
        u32 h = index ^ seed;
#pragma unroll
        for (u32 step = 0; step < 32; ++step) {
            h = (h ^ h >> 15) * 0x2c1b3c6du;
            h = __funnelshift_l(h, h, 13) + step;
        }
        return h;
    }
    DEVICE static void step(const Params& p, Span span) {
        u32* out = static_cast<u32*>(p.out);
        const u32 thread = span.warp * 32 + lane_id(), threads = span.warps * 32, quads = p.nodes / 4;
        for (u32 q = thread; q < quads; q += threads) {
            const u32 i = 4 * q;
            reinterpret_cast<uint4*>(out)[q] = {hashed(i, p.source), hashed(i + 1, p.source), hashed(i + 2, p.source),
                                                hashed(i + 3, p.source)};
        }
        const u32 rest = quads * 4 + thread;
        if (rest < p.nodes) out[rest] = hashed(rest, p.source);
    }
};
ONE_KERNEL(hash, Hash, 8)

// Barriers and nothing else.
extern "C" __global__ void __launch_bounds__(THREADS) grid_barriers(Control* control, u32 rounds) {
    u32 generation = 0;
    for (u32 i = 0; i < rounds; ++i)
        if (!meet(*control, generation, false)) return;
}
extern "C" __global__ void __launch_bounds__(THREADS) cta_barriers(Control*, u32 rounds) {
    for (u32 i = 0; i < rounds; ++i) __syncthreads();
}
