//! Passes that several files test.

#![allow(missing_docs, reason = "fields of a pass are explained by its kernels")]

use crate::graphs::UNSEEN;
use vyre::prelude::*;

/// A walk up from node 0, along a chain a node a round, that notes its first nodes.
#[wave_graph]
pub mod walk {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[list(capacity = 100, output)]
        noted: List<u32>,
        most: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, front: &Push) {
        if v == 0 {
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()))]
    mod steps {
        #[wave(edges(graph, from = front))]
        fn step(e: Edge, most: u32, noted: &Append<u32>, front: &Push) {
            if e.src < e.dst {
                if e.dst <= most {
                    noted.append(e.dst);
                }
                front.push(e.dst);
            }
        }
    }
}

/// Levels of a breadth-first search.
#[wave_graph]
pub mod bfs {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        source: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
        *dist = UNSEEN;
        if v == source {
            *dist = 0;
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 1_000_000)]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(UNSEEN, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

/// A sum that is rounded once.
#[wave_graph]
pub mod exact {
    pub struct Data {
        #[input(per = items)]
        x: f32,
        #[reduce(exact_sum)]
        sum: f32,
        items: u32,
    }

    #[wave(range(items))]
    fn add(x: &f32, sum: &Reduce<ExactSum<f32>>) {
        sum.add(*x);
    }
}

/// Lengths of shortest paths, by rounds of relaxations.
#[wave_graph]
pub mod sssp {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        source: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
        *dist = UNSEEN;
        if v == source {
            *dist = 0;
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 1_000_000)]
    mod relaxation {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, weight: &u32, dist: &Buf<Atomic<u32>>, front: &Push) {
            let through = dist[e.src].load() + *weight;
            if through < dist[e.dst].fetch_min(through) {
                front.push(e.dst);
            }
        }
    }
}

/// Three independent waves with scratch of their own, which do not fit side by side.
#[wave_graph(limits(nodes = 1_000, edges = 10), budget = "21 kB")]
pub mod tight {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        a: u64,
        #[scratch(per = node, init = 7)]
        b: u64,
        #[scratch(per = node)]
        c: u64,
        k: u64,
        #[reduce(sum)]
        x: u64,
        #[reduce(sum)]
        y: u64,
        #[reduce(sum)]
        z: u64,
    }

    #[wave(nodes)]
    fn first(v: Node, k: u64, a: &mut u64, x: &Reduce<Sum<u64>>) {
        *a += v as u64 * k;
        x.add(*a);
    }

    #[wave(nodes)]
    fn second(v: Node, k: u64, b: &mut u64, y: &Reduce<Sum<u64>>) {
        *b += v as u64 * k;
        y.add(*b);
    }

    #[wave(nodes)]
    fn third(v: Node, k: u64, c: &mut u64, z: &Reduce<Sum<u64>>) {
        *c += v as u64 * k;
        z.add(*c);
    }
}

/// Fixpoints in a fixpoint, scratch of two phases, reductions of each scope.
#[wave_graph]
pub mod phases {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[scratch(per = node)]
        early: u32,
        #[scratch(per = node, init = 3)]
        late: u64,
        #[output(per = node)]
        seen: u32,
        #[output(per = node)]
        degree: u32,
        #[reduce(count)]
        started: u64,
        #[reduce(max)]
        largest: u32,
    }

    #[wave(nodes)]
    fn mark(v: Node, early: &mut u32) {
        *early = v % 3;
    }

    #[wave(nodes)]
    fn measure(v: Node, graph: &Csr, degree: &mut u32, largest: &Reduce<Max<u32>>) {
        *degree = graph.degree(v);
        largest.max(*degree);
    }

    #[fixpoint(after(mark), until(started == 0), max_rounds = 100)]
    mod starts {
        #[wave(nodes)]
        fn start(
            v: Node,
            round: Round,
            early: &u32,
            seen: &mut u32,
            front: &Push,
            started: &Reduce<Count>,
        ) {
            if *seen == 0 && *early == round {
                *seen = 1;
                front.push(v);
                started.inc();
            }
        }

        #[fixpoint(after(start), until(front.is_empty()), max_rounds = 1_000)]
        mod walk {
            #[wave(edges(graph, from = front))]
            fn step(e: Edge, seen: &Buf<Atomic<u32>>, front: &Push) {
                if seen[e.dst].compare_exchange(0, 2) {
                    front.push(e.dst);
                }
            }
        }
    }

    #[wave(nodes, after(starts, measure))]
    fn square(seen: &u32, degree: &u32, largest: u32, late: &mut u64) {
        *late += (*seen * *degree + largest) as u64;
    }

    #[wave(nodes, after(square))]
    fn finish(late: &u64, degree: &mut u32) {
        *degree = *late as u32;
    }
}

/// Lists, items that are not nodes, structs, traps with messages.
#[wave_graph]
pub mod work {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(capacity = 40)]
        todo: Frontier<(u32, u64)>,
        #[list(capacity = room)]
        done: List<Step>,
        #[output(per = node)]
        sum: u64,
        #[scratch(per = node)]
        last: u32,
        #[input(per = node)]
        weight: u32,
        room: u32,
        steps: u64,
    }

    #[derive(Clone, Copy)]
    pub struct Step {
        at: u32,
        left: u64,
    }

    #[wave(nodes)]
    fn init(v: Node, weight: &u32, steps: u64, todo: &Push<(u32, u64)>) {
        if *weight % 2 == 1 {
            todo.push((v, steps % 5));
        }
    }

    #[fixpoint(after(init), until(todo.is_empty()), max_rounds = 50)]
    mod rounds {
        #[wave(items(todo))]
        fn walk(
            item: (u32, u64),
            graph: &Csr,
            weight: &Buf<u32>,
            last: &Buf<Atomic<u32>>,
            todo: &Push<(u32, u64)>,
            done: &Append<Step>,
        ) {
            let (at, left) = item;
            last[at].fetch_max(left as u32);
            done.append(Step { at, left });
            assert!(weight[at] < 11, "too heavy");
            if left > 0 {
                for next in graph.neighbors(at) {
                    todo.push((next, left - 1));
                }
            }
        }

        #[wave(items(done, new), after(walk))]
        fn note(item: Step, sum: &Buf<Atomic<u64>>) {
            sum[item.at].fetch_add(item.left + 1);
        }
    }

    #[wave(nodes, after(rounds))]
    fn close(v: Node, last: &u32, sum: &Buf<Atomic<u64>>) {
        if *last > 0 {
            sum[v].fetch_add(100 / *last as u64);
        }
    }
}

/// Rows of bits, swapped buffers, two topologies, lengths that are scalars, floats.
#[wave_graph]
pub mod mixed {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[topology(per = edge(graph))]
        cost: f32,
        #[output(per = node, bits = 40)]
        rows: Bits,
        #[scratch(per = node)]
        old: f32,
        #[scratch(per = node)]
        new: f32,
        #[output(per = node)]
        rank: f32,
        #[output(per = cells)]
        cells_of: i32,
        #[scratch(per = cells, init = -2)]
        base: i32,
        #[frontier(unique)]
        front: Frontier,
        #[reduce(or)]
        changed: bool,
        cells: u32,
        damp: f32,
    }

    #[wave(nodes)]
    fn init(v: Node, graph: &Csr, old: &mut f32, rows: &Bits, front: &Push) {
        *old = 1.0 / (1 + graph.degree(v)) as f32;
        rows.set(v, v % 40);
        if v.is_multiple_of(3) {
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(round >= 3), swap(old, new), max_rounds = 10)]
    mod ranks {
        #[wave(nodes)]
        fn gather(v: Node, back: &Csr, damp: f32, old: &Buf<f32>, new: &mut f32) {
            let mut sum = 0.0;
            for u in back.neighbors(v) {
                sum += old[u];
            }
            *new = damp * sum + 0.25;
        }
    }

    #[fixpoint(after(init), until(!changed), max_rounds = 60)]
    mod closure {
        #[wave(edges(graph))]
        fn spread(e: Edge, rows: &Bits, changed: &Reduce<Or<bool>>) {
            if rows.or(e.dst, e.src) {
                changed.or(true);
            }
        }
    }

    #[fixpoint(after(closure), until(front.is_empty()), max_rounds = 60)]
    mod visits {
        #[wave(edges(graph, from = front))]
        fn visit(e: Edge, cost: &Buf<f32>, rows: &Bits, front: &Push) {
            if cost[e.index] > 0.5 && rows.set(e.dst, 39) {
                front.push(e.dst);
            }
        }
    }

    #[wave(nodes, after(ranks))]
    fn publish(old: &f32, rank: &mut f32) {
        *rank = *old;
    }

    #[wave(range(cells))]
    fn fill(i: Index, base: &mut i32) {
        *base -= i as i32 * 3;
    }

    #[wave(range(cells), after(fill))]
    fn fold(i: Index, cells: u32, base: &Buf<i32>, cells_of: &mut i32) {
        *cells_of = base[cells - 1 - i] / (base[i] + 8);
    }
}

/// A result as long as a run asks for.
#[wave_graph]
pub mod doubled {
    pub struct Data {
        #[output(per = n)]
        twice: u32,
        n: u32,
    }

    #[wave(range(n))]
    fn double(i: Index, twice: &mut u32) {
        *twice = 2 * i;
    }
}

/// A breadth-first search whose rounds have three waves: it finds nodes, gives each of them what its neighbours say, and
/// counts how often edges lead back.
#[wave_graph]
pub mod three_waves {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[frontier(unique)]
        found: Frontier,
        #[output(per = node)]
        dist: u32,
        #[output(per = node)]
        label: u32,
        #[output(per = node)]
        back: u32,
        source: u32,
        /// No node may be found so far away.
        too_far: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, dist: &mut u32, label: &mut u32, back: &mut u32, front: &Push) {
        *dist = UNSEEN;
        *label = v;
        *back = 0;
        if v == source {
            *dist = 0;
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 1_000_000)]
    mod rounds {
        #[wave(edges(graph, from = front))]
        fn find(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push, found: &Push) {
            if dist[e.dst].compare_exchange(UNSEEN, round + 1) {
                front.push(e.dst);
            }
            found.push(e.src);
        }

        #[wave(items(found), after(find))]
        fn name(v: Node, too_far: u32, label: &mut u32, dist: &Buf<Atomic<u32>>) {
            assert!(dist[v].load() != too_far);
            *label = *label * 3 + dist[v].load();
        }

        #[wave(edges(graph, from = found), after(name))]
        fn lead_back(e: Edge, label: &Buf<u32>, back: &Buf<Atomic<u32>>) {
            if label[e.src] & 1 == 0 {
                back[e.dst].fetch_add(label[e.src]);
            }
        }
    }
}

/// The same graph walked in two waves a round, over and over again, in a fixpoint around it; rounds are few.
#[wave_graph]
pub mod walks {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[frontier(unique)]
        next: Frontier,
        #[frontier(unique)]
        starts: Frontier,
        #[output(per = node)]
        seen: u32,
        #[output(per = node)]
        last: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, seen: &mut u32, last: &mut u32, starts: &Push) {
        *seen = 0;
        *last = 0;
        if v == 0 {
            starts.push(v);
        }
    }

    #[fixpoint(after(init), until(starts.is_empty()), max_rounds = 5)]
    mod walks {
        #[wave(items(starts))]
        fn start(v: Node, round: Round, front: &Push, starts: &Push) {
            front.push(v);
            if round < 3 {
                starts.push(v);
            }
        }

        #[fixpoint(after(start), until(front.is_empty()), max_rounds = 30)]
        mod steps {
            #[wave(edges(graph, from = front))]
            fn go(e: Edge, round: Round, seen: &Buf<Atomic<u32>>, front: &Push, next: &Push) {
                if seen[e.dst].fetch_max(round + 1) < round + 1 {
                    next.push(e.dst);
                    front.push(e.dst);
                }
            }

            #[wave(items(next))]
            fn settle(_v: Node, round: Round, last: &mut u32) {
                *last += round;
            }
        }
    }
}

/// Loops that can be shared out, one a wave.
#[wave_graph]
pub mod shared_loops {
    pub struct Data {
        #[topology]
        g: Csr,
        #[topology(per = edge(g))]
        weight: i32,
        #[output(per = node)]
        sum: i64,
        #[output(per = node)]
        count: u32,
        #[output(per = node)]
        best: i32,
        #[output(per = node)]
        of: u32,
        #[output(per = node)]
        late: u32,
        #[output(per = node)]
        flag: u32,
        #[output(per = node)]
        last: u32,
        #[output(per = node)]
        first: u32,
        #[output(per = node)]
        bits: u32,
        #[output(per = edge(g))]
        mark: u32,
        #[output(per = node)]
        seen: u32,
        #[output(per = node)]
        reached: u32,
        #[output(per = node)]
        inner: u32,
        #[output(per = node)]
        free: u32,
        #[output(per = node)]
        fallen: u64,
        #[reduce(sum)]
        all: u64,
    }

    #[wave(nodes)]
    fn sums(v: Node, g: &Csr, weight: &Buf<i32>, sum: &mut i64, count: &mut u32) {
        for e in g.edges(v) {
            if weight[e] > 0 {
                *sum += i64::from(weight[e]) * 3;
                *count += 1;
            } else {
                *sum -= 1;
            }
        }
    }

    #[wave(nodes)]
    fn largest(v: Node, g: &Csr, weight: &Buf<i32>, best: &mut i32, of: &mut u32, late: &mut u32) {
        let (mut most, mut least) = (-3, 3);
        let mut whose = v;
        for e in g.edges(v) {
            if weight[e] > most {
                most = weight[e];
                whose = g.target(e);
                *of = e;
            }
            if weight[e] <= least {
                least = weight[e];
                *late = e;
            }
        }
        *best = most.wrapping_mul(1000).wrapping_add(whose as i32);
    }

    #[wave(nodes)]
    fn flags(v: Node, g: &Csr, weight: &Buf<i32>, flag: &mut u32, last: &mut u32) {
        let (mut any, mut kind) = (false, 5);
        for e in g.edges(v) {
            if weight[e] == 2 {
                any = true;
            }
            if weight[e] == 3 {
                kind = 7;
            }
            if weight[e] < 2 {
                *last = e + 1;
            }
        }
        *flag = u32::from(any) + kind;
    }

    #[wave(nodes)]
    fn finds(v: Node, g: &Csr, weight: &Buf<i32>, first: &mut u32) {
        let mut before = 0;
        *first = u32::MAX;
        for e in g.edges(v) {
            if weight[e] == 1 {
                *first = g.target(e);
                break;
            }
            before += 1;
        }
        *first = first.wrapping_mul(100).wrapping_add(before);
    }

    #[wave(nodes)]
    fn marks(
        v: Node,
        g: &Csr,
        mark: &Buf<Atomic<u32>>,
        seen: &Buf<Atomic<u32>>,
        all: &Reduce<Sum<u64>>,
    ) {
        for e in g.edges(v) {
            mark[e].store(v * 7 + 1);
            seen[g.target(e)].fetch_add(2);
            all.add(u64::from(e));
        }
    }

    #[wave(nodes)]
    fn nested(v: Node, g: &Csr, inner: &mut u32) {
        let mut total = 0;
        for u in g.neighbors(v) {
            let mut local = 1;
            for w in g.neighbors(u) {
                local = local * 3 + w;
            }
            total ^= local;
        }
        *inner = total;
    }

    /// Numbers of 64 bits, of which other words have the halves.
    #[wave(nodes)]
    fn frees(v: Node, g: &Csr, weight: &Buf<i32>, free: &mut u32, fallen: &mut u64) {
        let mut first = 0;
        loop {
            let mut taken = 0u64;
            let mut last = 0u64;
            for e in g.edges(v) {
                let u = g.target(e);
                if u >= first && u - first < 64 {
                    taken |= 1 << (u - first);
                }
                if weight[e] < 0 {
                    last = u64::from(e) << 31;
                }
            }
            *fallen += last;
            if taken != u64::MAX {
                *free = first + taken.trailing_ones();
                break;
            }
            first += 64;
        }
    }

    #[wave(nodes)]
    fn masks(v: Node, g: &Csr, bits: &mut u32) {
        let mut some = 0;
        for k in 3..g.degree(v) + 5 {
            some |= 1 << (k & 31);
        }
        *bits = some;
    }
}

/// Loops that can be shared out, of which a turn of the item `way` faults: an index, a division, an assertion.
#[wave_graph]
pub mod faulty_loops {
    pub struct Data {
        #[topology]
        g: Csr,
        #[topology(per = edge(g))]
        weight: u32,
        #[input(per = node)]
        share: u32,
        #[output(per = node)]
        sum: u32,
        kind: u32,
    }

    #[wave(nodes)]
    fn gather(v: Node, g: &Csr, weight: &Buf<u32>, share: &Buf<u32>, sum: &mut u32, kind: u32) {
        for e in g.edges(v) {
            if kind == 0 {
                *sum += share[weight[e]];
            } else if kind == 1 {
                *sum += share[g.target(e)] / weight[e];
            } else {
                assert!(weight[e] != 7, "a bad edge");
                *sum += weight[e];
            }
        }
    }
}

/// Rows of bits of the topology, read in each of many rounds.
#[wave_graph]
pub mod rowed {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node, bits = 256)]
        kinds: Bits,
        #[scratch(per = node, bits = 256)]
        seen: Bits,
        #[output(per = node)]
        ones: u32,
        #[reduce(or)]
        more: bool,
    }

    #[fixpoint(until(!more), max_rounds = 100)]
    mod rounds {
        #[wave(nodes)]
        fn look(v: Node, round: Round, kinds: &Bits, seen: &Bits, more: &Reduce<Or<bool>>) {
            if kinds.get(v, round) {
                seen.set(v, round);
            }
            more.or(round < 20);
        }
    }

    #[wave(nodes, after(rounds))]
    fn count(v: Node, seen: &Bits, ones: &mut u32) {
        *ones = seen.count(v);
    }
}

/// A local fixpoint.
#[wave_graph]
pub mod in_parts {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(parts_of = graph)]
        parts: Parts,
        #[output(per = node)]
        level: u32,
        #[frontier(unique)]
        front: Frontier,
    }

    #[wave(nodes)]
    fn init(v: Node, level: &mut u32, front: &Push) {
        *level = u32::MAX;
        if v.is_multiple_of(500) {
            *level = 0;
            front.push(v);
        }
    }

    #[fixpoint(per = parts, after(init), until(front.is_empty()))]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, level: &Buf<Atomic<u32>>, front: &Push) {
            if level[e.dst].compare_exchange(u32::MAX, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

/// Structs for each node.
#[wave_graph]
pub mod flat {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        pair: (u64, u64, u8),
    }

    #[wave(nodes)]
    fn fill(v: Node, pair: &mut (u64, u64, u8)) {
        *pair = (1, u64::from(v), 2);
    }
}

/// Arrays for each node: the least keys among its neighbours', of which each gives one.
#[wave_graph]
pub mod arrays {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        keys: [u32; 2],
        #[output(per = node, init = [90, 91, 92])]
        least: [u32; 3],
    }

    #[wave(nodes)]
    fn collect(v: Node, graph: &Csr, keys: &Records<[u32; 2]>, least: &mut [u32; 3]) {
        for w in graph.neighbors(v) {
            let mut held = keys.get(w)[(v % 2) as usize];
            for k in 0..least.len() {
                if held < least[k] {
                    (least[k], held) = (held, least[k]);
                }
            }
        }
    }
}

/// Along edges in as well as out: the pass has the reverse, so that directed graphs pull.
#[wave_graph]
pub mod marks {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node)]
        mark: u32,
        #[output(per = node)]
        fans: u32,
        #[input(per = node)]
        start: bool,
    }

    #[wave(nodes)]
    fn init(v: Node, start: &bool, back: &Csr, fans: &mut u32, mark: &mut u32, front: &Push) {
        *fans = back.degree(v);
        if *start {
            *mark = 7;
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 100_000)]
    mod spread {
        #[wave(edges(graph, from = front))]
        fn step(e: Edge, mark: &Buf<Atomic<u32>>, front: &Push) {
            // Looking first is cheaper, and changes nothing.
            if mark[e.dst].load() == 0 && mark[e.dst].compare_exchange(0, 7) {
                front.push(e.dst);
            }
        }
    }
}

/// A search again and again, from where those before have not been: the inner fixpoint's own waves decide.
#[wave_graph]
pub mod regions {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        region: u32,
        #[reduce(count)]
        started: u64,
        stride: u32,
    }

    #[fixpoint(until(started == 0), max_rounds = 1_000)]
    mod starts {
        #[wave(nodes)]
        fn start(
            v: Node,
            round: Round,
            stride: u32,
            region: &mut u32,
            front: &Push,
            started: &Reduce<Count>,
        ) {
            if v == round * stride {
                started.inc();
                if *region == 0 {
                    *region = 1;
                    front.push(v);
                }
            }
        }

        #[fixpoint(after(start), until(front.is_empty()), max_rounds = 100_000)]
        mod walk {
            #[wave(edges(graph, from = front))]
            fn step(e: Edge, round: Round, region: &Buf<Atomic<u32>>, front: &Push) {
                if region[e.dst].compare_exchange(0, round + 2) {
                    front.push(e.dst);
                }
            }
        }
    }
}
