// What the rivals share: steps and the ways to run one after the other, the sweep over a frontier's edges, and the queue
// through which a warp pushes.
//
// A problem is a struct with `begin` (sets its data up), `advance` (decides, from what the last step left, what the next one
// does) and `step`. The ways to orchestrate differ in who calls `step`, and in nothing else: launches from a host loop,
// queued launches and the nodes of a CUDA graph run one step a kernel; the persistent kernel runs all of them.
//
// With programmatic dependent launch the CTAs of a step are there while the one before runs. The text is for devices that do
// not have it: its instructions are comments, which the host takes away on others (vyre-cuda/src/code.rs). Where a launch
// does not ask for it, they do nothing.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

#define FULL 0xffffffffu
#define DEVICE __device__ __forceinline__

// Threads of a CTA.
#define THREADS 256
// Frontiers whose largest degree is no larger are shared out by items, others by edges.
#define SHALLOW 64
// Frontiers with no more edges are left to one CTA where steps need no launch, and kept in its shared memory.
#define SOLO 256
// Frontiers with no more edges go straight for an atomic, where others look first whether it would change anything.
#define EAGER 8192
// Polls of a barrier, at least half a microsecond each, before it gives up.
#define PATIENCE (1u << 24)

// One node of a frontier: the number of its first edge among those of the frontier, where these are, and the node.
struct alignas(16) Item {
    u32 prefix, begin, end, node;
};

// What the CTAs of a step add up for the next one. Zero to begin with.
struct Results {
    u64 pushed;        // items of the next frontier, and in the high word their edges
    u32 deepest;       // the largest degree among them, where above SHALLOW
    u32 taken;         // PageRank: parts and units that warps have taken in the step that adds to these results
    double moved;      // PageRank: by how much ranks moved
    double dangling;   // and what sits on nodes without edges
};

// What `advance` decided for a step.
struct alignas(16) Head {
    u32 step;          // counts from 1
    u32 done;          // 1: finished; 2: out of steps
    u32 state;         // search: bit 0 names the bitmap, bit 1 says pull; shortest paths: how often the far pile was split
    u32 value;         // search: edges looked at; shortest paths: distances below are near; PageRank: where ranks start
};

struct alignas(64) Slot {
    Head head;
    Results results;
};

// Zeroed before each run. The step of turn t, whose number is t + 1, reads slot t, adds to slot t + 1 and clears slot t + 2,
// all modulo 4; it takes frontier t + 1 and makes frontier t, modulo 2.
struct Control {
    Slot slots[4];
    u32 far[4];        // items of the far pile, by split
    u32 turn;          // the slot after steps of one CTA
    u32 abort;
    alignas(128) u32 arrived;
};

// What a problem works on; what it does not need is zero.
struct Params {
    const u32 *offsets, *targets, *weights;
    const u64 *uses, *defs;
    void* out;
    u32* marks[2];
    Item* front[4];
    float* share[2];
    const u32* units;
    const uint4* parts;
    float* sums;
    u32* arrived;
    u64* told;  // where the host looks how far it is, or null: the step that begins, and in the high word whether it is done
    u32 nodes, source, width, unit_count, part_count, max_steps;
    float factor, tolerance;
};
// As the host counts on.
static_assert(sizeof(Slot) == 64 && sizeof(Control) == 512 && sizeof(Params) == 184, "layout");

// A share of the warps: the whole grid's, or one CTA's.
struct Span {
    u32 warp, warps;
};

DEVICE u32 lane_id() { return threadIdx.x & 31; }
DEVICE u32 lanes_below() { return (1u << lane_id()) - 1; }
DEVICE Span cta_span() { return {threadIdx.x >> 5, THREADS / 32}; }
DEVICE Span grid_span() { return {(blockIdx.x * THREADS + threadIdx.x) >> 5, gridDim.x * (THREADS / 32)}; }
DEVICE bool is_leader() { return blockIdx.x == 0 && threadIdx.x == 0; }

// Lets the next kernel's CTAs come once all of this one's are here.
DEVICE void let_next_begin() { asm volatile("//sm_90 griddepcontrol.launch_dependents;" ::: "memory"); }
// Waits until the kernel before is over, and all that it wrote can be read. It has waited for the one before it, and so on.
DEVICE void wait_for_last() { asm volatile("//sm_90 griddepcontrol.wait;" ::: "memory"); }

// Topology never changes during a launch.
DEVICE u32 load_nc(const u32* at) {
    u32 x;
    asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(x) : "l"(at));
    return x;
}
DEVICE u64 load_nc(const u64* at) {
    u64 x;
    asm volatile("ld.global.nc.u64 %0, [%1];" : "=l"(x) : "l"(at));
    return x;
}
DEVICE u32 load_relaxed(const u32* at) {
    u32 x;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(at) : "memory");
    return x;
}
DEVICE Item load_item(const Item* at) {
    Item i;
    asm volatile("ld.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(i.prefix), "=r"(i.begin), "=r"(i.end), "=r"(i.node)
                 : "l"(at)
                 : "memory");
    return i;
}

DEVICE u32 scan_inclusive(u32 x) {
    for (u32 step = 1; step < 32; step <<= 1) {
        const u32 below = __shfl_up_sync(FULL, x, step);
        if (lane_id() >= step) x += below;
    }
    return x;
}
template <class T>
DEVICE T warp_sum(T x) {
    for (u32 step = 16; step > 0; step >>= 1) x += __shfl_xor_sync(FULL, x, step);
    return x;
}

// ---- Pushes

#define QUEUE 64

// Where a frontier takes items: slots, and the numbers of their edges, with one atomic.
struct Frontier {
    Item* items;
    Results* results;

    DEVICE void put(u32 count, u32 node, u32 begin, u32 end) {
        const u32 degree = end - begin, sum = scan_inclusive(degree);
        u64 before = 0;
        if (lane_id() == 31) before = atomicAdd(&results->pushed, u64(sum) << 32 | count);
        before = __shfl_sync(FULL, before, 31);
        if (lane_id() < count) items[u32(before) + lane_id()] = {u32(before >> 32) + sum - degree, begin, end, node};
        if (__any_sync(FULL, degree > SHALLOW)) {
            const u32 most = __reduce_max_sync(FULL, degree);
            if (lane_id() == 0) atomicMax(&results->deepest, most);
        }
    }
};

// The same where edges do not count.
struct Pile {
    Item* items;
    u32* held;

    DEVICE void put(u32 count, u32 node, u32 begin, u32 end) {
        u32 before = 0;
        if (lane_id() == 0) before = atomicAdd(held, count);
        before = __shfl_sync(FULL, before, 0);
        if (lane_id() < count) items[before + lane_id()] = {0, begin, end, node};
    }
};

// One warp's items on their way to a frontier or pile, 32 at a time. Nodes without edges are left out. All lanes call
// everything.
template <class To>
class Queue {
    u32 (*entries)[3];
    u32 held = 0;
    To to;

    DEVICE void flush(u32 count) {
        u32 node = 0, begin = 0, end = 0;
        held -= count;
        if (lane_id() < count) {
            const u32* entry = entries[held + lane_id()];
            node = entry[0], begin = entry[1], end = entry[2];
        }
        __syncwarp();
        to.put(count, node, begin, end);
    }

public:
    DEVICE Queue(u32 (*entries)[3], To to) : entries(entries), to(to) {}

    DEVICE void push(bool take, u32 node, u32 begin, u32 end) {
        take = take && begin < end;
        const u32 taking = __ballot_sync(FULL, take);
        if (taking == 0) return;
        if (take) {
            u32* entry = entries[held + __popc(taking & lanes_below())];
            entry[0] = node, entry[1] = begin, entry[2] = end;
        }
        held += __popc(taking);
        __syncwarp();
        if (held >= 32) flush(32);
    }
    DEVICE void close() {
        if (held != 0) flush(held);
    }
};

// ---- Sweeps

// Up to 32 items, one a lane, with increasing prefixes (those of lanes without one are FULL).
struct Window {
    u32 prefix, begin, node;
};

// Calls `f(valid, edge, target, node)`, for 32 edges at a time, with the edges numbered lo..hi of a window's; all of these
// belong to it. The next targets are fetched ahead.
template <class F>
DEVICE void expand(const Params& p, const Window& window, u32 lo, u32 hi, F f) {
    u32 edge, node, target = 0;
    auto fetch = [&](u32 at) {
        u32 owner = 0;
        for (u32 step = 16; step > 0; step >>= 1) {
            if (__shfl_sync(FULL, window.prefix, owner + step) <= at) owner += step;
        }
        edge = __shfl_sync(FULL, window.begin - window.prefix, owner) + at;
        node = __shfl_sync(FULL, window.node, owner);
        if (at < hi) target = load_nc(p.targets + edge);
    };
    if (lo >= hi) return;
    fetch(lo + lane_id());
    for (u32 base = lo; base < hi; base += 32) {
        const u32 this_edge = edge, this_node = node, this_target = target;
        if (base + 32 < hi) fetch(base + 32 + lane_id());
        f(base + lane_id() < hi, this_edge, this_target, this_node);
    }
}

// The same with the edges numbered lo..hi that belong to items first..last; `first` has number lo or is the last below it.
template <class F>
DEVICE void walk(const Params& p, const Item* items, u32 first, u32 last, u32 lo, u32 hi, F f) {
    for (; first < last && lo < hi; first += 32) {
        const bool has = first + lane_id() < last;
        const Item mine = has ? load_item(items + first + lane_id()) : Item{FULL, 0, 0, 0};
        const u32 top = min(last - first, 32u) - 1;
        const u32 stop = min(hi, __shfl_sync(FULL, mine.prefix + (mine.end - mine.begin), top));
        lo = max(lo, __shfl_sync(FULL, mine.prefix, 0));
        expand(p, {mine.prefix, mine.begin, mine.node}, lo, stop, f);
        lo = stop;
    }
}

// The last item whose prefix is not above `edge`; 32 are looked at together.
DEVICE u32 find(const Item* items, u32 count, u32 edge) {
    u32 low = 0, high = count;
    while (high - low > 1) {
        const u32 step = (high - low + 31) / 32, probe = low + lane_id() * step;
        const bool below = probe < high && items[probe].prefix <= edge;
        low += (31 - __clz(__ballot_sync(FULL, below) | 1)) * step;
        high = min(high, low + step);
    }
    return low;
}

// Where a step's frontier is and where the next one goes. `ahead` is the item with the number of this warp, fetched before it
// was known whether there is one.
struct Fronts {
    const Item* from;
    Item* to;
    Results* out;
    Item ahead;
};

// Every edge of a frontier, shared out among the warps of a span.
template <class F>
DEVICE void sweep(const Params& p, const Results& in, const Fronts& fronts, Span span, F f) {
    const u32 count = u32(in.pushed), edges = u32(in.pushed >> 32);
    if (in.deepest > SHALLOW) {
        const u32 each = min(edges / span.warps / 32 * 32 + 32, 4096u);
        for (u32 lo = span.warp * each; lo < edges; lo += span.warps * each)
            walk(p, fronts.from, find(fronts.from, count, lo), count, lo, min(lo + each, edges), f);
    } else if (count > span.warps) {
        const u32 each = min((count + span.warps - 1) / span.warps, 32u);
        for (u32 first = span.warp * each; first < count; first += span.warps * each)
            walk(p, fronts.from, first, min(first + each, count), 0, FULL, f);
    } else if (span.warp < count) {
        for (u32 base = fronts.ahead.begin; base < fronts.ahead.end; base += 32) {
            const u32 edge = base + lane_id();
            const bool valid = edge < fronts.ahead.end;
            f(valid, edge, valid ? load_nc(p.targets + edge) : 0, fronts.ahead.node);
        }
    }
}

// ---- Steps

// What the step of slot `turn` does. Every thread reads the same words and decides for itself; one writes the decision down.
template <class P>
DEVICE Head open(const Params& p, const Control& control, Slot* slots, u32 turn, Results& in) {
    const Slot& slot = slots[turn & 3];
    Head head = slot.head;
    in = slot.results;
    if (head.done == 0) {
        head.step += 1;
        P::advance(p, control, in, head);
        if (head.done == 0 && head.step > p.max_steps) head.done = 2;
    }
    if (is_leader()) {
        slots[turn + 1 & 3].head = head;
        slots[turn + 2 & 3].results = Results{};
    }
    return head;
}

// Tells the host how far it is: each of the first steps, then some, and once that it is done. A store to the host's memory
// makes the end of a kernel later, so most steps do without.
DEVICE void tell(const Params& p, const Head& before, const Head& head) {
    if (head.done != before.done || (head.done == 0 && (head.step < 16 || head.step % 16 == 0)))
        asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(p.told), "l"(u64(head.done) << 32 | head.step) : "memory");
}

// One step a kernel. The last one of a graph's loop body clears the loop's condition.
template <class P>
DEVICE void step_kernel(const Params& p, Control* control, u32 turn, cudaGraphConditionalHandle loop) {
    let_next_begin();
    wait_for_last();
    const Span span = grid_span();
    Fronts fronts{p.front[turn + 1 & 1], p.front[turn & 1], &control->slots[turn + 1 & 3].results};
    if (P::SWEEPS && span.warp < p.nodes) fronts.ahead = load_item(fronts.from + span.warp);
    Results in;
    const Head head = open<P>(p, *control, control->slots, turn, in);
    if (p.told != nullptr && is_leader()) tell(p, control->slots[turn & 3].head, head);
    if (head.done == 0) {
        P::step(p, *control, in, head, fronts, span);
    } else if (loop != 0 && is_leader()) {
        cudaGraphSetConditional(loop, 0);
    }
}

// All CTAs meet; false when it took too long. Those who wait while one CTA works poll gently.
DEVICE bool meet(Control& control, u32& generation, bool gently) {
    bool lost = false;
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(&control.arrived) : "memory");
        const u32 all = ++generation * gridDim.x;
        for (u32 polls = 0;; ++polls) {
            u32 arrived;
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(arrived) : "l"(&control.arrived) : "memory");
            if (int(arrived - all) >= 0) break;
            if (gently) __nanosleep(100);
            if (polls == PATIENCE) atomicExch(&control.abort, 1);
            lost = polls % 4096 == 4095 && load_relaxed(&control.abort) != 0;
            if (lost) break;
        }
    }
    return !__syncthreads_or(lost);
}

// What CTA 0 has at hand while it works alone.
struct Nearby {
    Slot slots[4];
    Item items[2][SOLO];
};

// All steps in one kernel, whose CTAs are resident together. Steps on small frontiers are CTA 0's alone, while the others wait.
template <class P>
DEVICE void persistent_kernel(const Params& p, Control* shared) {
    __shared__ Nearby nearby;
    Control& control = *shared;
    u32 generation = 0, turn = 0;
    bool alone = false;
    P::begin(p, control, grid_span());
    if (!meet(control, generation, false)) return;
    for (;;) {
        const Span span = alone ? cta_span() : grid_span();
        Fronts fronts{alone ? nearby.items[turn & 1] : p.front[turn + 1 & 1]};
        if (P::SWEEPS && span.warp < p.nodes) fronts.ahead = load_item(fronts.from + span.warp);
        Results in;
        const Head head = open<P>(p, control, alone ? nearby.slots : control.slots, turn, in);
        const bool solo = head.done == 0 && P::solo(in, head);
        const bool works = head.done == 0 && (solo ? blockIdx.x == 0 : !alone);
        if (works) {
            if (solo && !alone) {
                if (is_leader()) nearby.slots[turn + 1 & 3] = {head, Results{}}, nearby.slots[turn + 2 & 3].results = Results{};
                __syncthreads();
            }
            fronts.to = solo ? nearby.items[turn + 1 & 1] : p.front[turn & 1];
            fronts.out = &(solo ? nearby.slots : control.slots)[turn + 1 & 3].results;
            P::step(p, control, in, head, fronts, solo ? cta_span() : span);
            turn += 1;
            if (solo) {
                alone = true;
                __syncthreads();
                continue;
            }
        } else if (!solo && !alone) {
            return;
        } else if (alone) {
            // Back to the others, with what they have missed.
            for (u32 i = threadIdx.x; i < u32(in.pushed); i += THREADS)
                p.front[turn + 1 & 1][i] = nearby.items[turn & 1][i];
            if (is_leader()) {
                control.slots[turn & 3] = nearby.slots[turn & 3];
                control.slots[turn + 1 & 3].results = Results{};
                control.turn = turn;
            }
        }
        if (!meet(control, generation, solo)) return;
        if (!works) turn = control.turn, alone = false;
    }
}

#define KERNELS(NAME, P, CTAS)                                                                                       \
    extern "C" __global__ void __launch_bounds__(THREADS) NAME##_begin(const __grid_constant__ Params p,             \
                                                                       Control* control) {                          \
        let_next_begin();                                                                                            \
        P::begin(p, *control, grid_span());                                                                          \
    }                                                                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS, CTAS)                                                      \
        NAME##_step(const __grid_constant__ Params p, Control* control, u32 turn, cudaGraphConditionalHandle loop) { \
        step_kernel<P>(p, control, turn, loop);                                                                      \
    }                                                                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS, CTAS)                                                      \
        NAME##_persistent(const __grid_constant__ Params p, Control* control) {                                      \
        persistent_kernel<P>(p, control);                                                                            \
    }

// Nothing is left for a second step, so there is nothing to control.
#define ONE_KERNEL(NAME, P, CTAS)                                                                                    \
    extern "C" __global__ void __launch_bounds__(THREADS, CTAS)                                                      \
        NAME##_step(const __grid_constant__ Params p, Control*, u32, cudaGraphConditionalHandle) {                   \
        P::step(p, grid_span());                                                                                     \
    }
