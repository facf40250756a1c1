//! Passes that several programs run: the examples of these names, and the benchmark, which measures them.

#![allow(missing_docs, reason = "fields of a pass are explained by its kernels")]

use vyre::prelude::*;

/// What no search has reached.
pub const UNSEEN: u32 = u32::MAX;

/// Breadth-first search: one round a level.
#[wave_graph]
#[pass(id = "bfs.levels", speedup = 100.0, evidence = "../evidence/h100.csv")]
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

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 4_294_967_295)]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(UNSEEN, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

/// Finds a few numbers, and puts what is 0 to 7 more into eight lists.
#[wave_graph]
#[pass(id = "lists.eight", unproven)]
pub mod lists {
    pub struct Data {
        #[list(capacity = room, output)]
        a: List<u32>,
        #[list(capacity = room, output)]
        b: List<u32>,
        #[list(capacity = room, output)]
        c: List<u32>,
        #[list(capacity = room, output)]
        d: List<u32>,
        #[list(capacity = room, output)]
        e: List<u32>,
        #[list(capacity = room, output)]
        f: List<u32>,
        #[list(capacity = room, output)]
        g: List<u32>,
        #[list(capacity = room, output)]
        h: List<u32>,
        room: u32,
        found: u32,
    }

    #[wave(range(found))]
    fn find(
        i: Index,
        a: &Append<u32>,
        b: &Append<u32>,
        c: &Append<u32>,
        d: &Append<u32>,
        e: &Append<u32>,
        f: &Append<u32>,
        g: &Append<u32>,
        h: &Append<u32>,
    ) {
        a.append(i);
        b.append(i + 1);
        c.append(i + 2);
        d.append(i + 3);
        e.append(i + 4);
        f.append(i + 5);
        g.append(i + 6);
        h.append(i + 7);
    }
}

/// Nodes whose trees are compared to find that of the largest component.
const SAMPLES: u32 = 1024;
/// No tree.
const NONE: u32 = u32::MAX;

/// Connected components: links edges to trees, and flattens them.
#[wave_graph]
#[pass(id = "components.link", unproven)]
pub mod components {
    pub struct Data {
        #[topology]
        graph: Csr,
        /// Whether every edge also leads back.
        symmetric: bool,
        #[output(per = node)]
        label: u32,
        /// The most edges of a sampled node, and below them its tree.
        #[reduce(max)]
        largest: u64,
        #[frontier(capacity = node)]
        outside: Frontier,
        nodes: u32,
    }

    /// Labels v by the node that its labels lead to; the label shrinks on the way, so that other walks get shorter.
    #[device]
    fn find(label: &Buf<Atomic<u32>>, v: u32) {
        let mut root = label[v].load();
        loop {
            let next = label[root].load();
            if next == root {
                break;
            }
            label[v].store(next);
            root = next;
        }
    }

    #[wave(nodes)]
    fn init(v: Node, graph: &Csr, label: &mut u32) {
        *label = v;
        if graph.edges(v).start < graph.edges(v).end {
            *label = v.min(graph.target(graph.edges(v).start));
        }
    }

    #[wave(nodes, after(init))]
    fn flatten(v: Node, label: &Buf<Atomic<u32>>) {
        find(label, v);
    }

    #[wave(range(SAMPLES), after(flatten))]
    fn sample(
        i: Index,
        graph: &Csr,
        symmetric: bool,
        label: &Buf<u32>,
        largest: &Reduce<Max<u64>>,
    ) {
        let v = i * (label.len() / SAMPLES);
        if v < label.len() {
            let tree = if symmetric { label[v] } else { NONE };
            largest.max(u64::from(graph.degree(v)) << 32 | u64::from(tree));
        }
    }

    #[wave(nodes, after(sample))]
    fn choose(v: Node, graph: &Csr, label: &u32, largest: u64, outside: &Push) {
        if *label != largest as u32 && graph.edges(v).start < graph.edges(v).end {
            outside.push(v);
        }
    }

    /// The larger end learns the smaller one; what it was told before is linked with that in its place.
    #[wave(edges(graph, from = outside), after(choose))]
    fn link(e: Edge, label: &Buf<Atomic<u32>>) {
        let (mut a, mut b) = (e.src, e.dst);
        while a != b {
            let (low, high) = (a.min(b), a.max(b));
            a = label[high].fetch_min(low);
            if a == high {
                break;
            }
            b = low;
        }
    }

    #[wave(nodes, after(link))]
    fn finish(v: Node, label: &Buf<Atomic<u32>>) {
        find(label, v);
    }
}

/// Which registers are live where each block begins: sets flow from a block to those before it until none grows.
#[wave_graph]
#[pass(id = "liveness.registers", unproven)]
pub mod liveness {
    pub struct Data {
        #[topology]
        predecessors: Csr,
        /// What a block reads before it writes it.
        #[topology(per = node)]
        uses: u64,
        /// What it writes.
        #[topology(per = node)]
        defs: u64,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node)]
        live: u64,
    }

    #[wave(nodes)]
    fn init(block: Node, uses: &u64, live: &mut u64, front: &Push) {
        *live = *uses;
        if *uses != 0 {
            front.push(block);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 4_294_967_295)]
    mod backward {
        #[wave(edges(predecessors, from = front))]
        fn flow(e: Edge, defs: &Buf<u64>, live: &Buf<Atomic<u64>>, front: &Push) {
            let through = live[e.src].load() & !defs[e.dst];
            let before = live[e.dst].fetch_or(through);
            if before | through != before {
                front.push(e.dst);
            }
        }
    }
}

/// Which writes of registers may be the last ones before each block begins. A row has a bit for each write in the
/// block's function, and a word of it is about one register: a block that writes the register lets none of it through.
#[wave_graph]
#[pass(id = "reaching.definitions", unproven)]
pub mod reaching {
    pub struct Data {
        #[topology]
        successors: Csr,
        /// What a block writes.
        #[topology(per = node)]
        defs: u64,
        /// Where the block's function is entered.
        #[topology(per = node)]
        entry: u32,
        /// The first word of each block's row.
        #[topology(per = node + 1)]
        row: u32,
        /// An edge for each word of a function's rows, from its entry.
        #[topology]
        words: Csr,
        /// Which register they are about.
        #[topology(per = edge(words))]
        register: u32,
        /// An edge for each register that a block writes.
        #[topology]
        writes: Csr,
        /// Its bit in the rows.
        #[topology(per = edge(writes))]
        bit: u32,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = length)]
        reaching: u32,
        /// Words of all rows.
        length: u32,
    }

    #[wave(edges(successors))]
    fn begin(
        e: Edge,
        writes: &Csr,
        bit: &Buf<u32>,
        row: &Buf<u32>,
        reaching: &Buf<Atomic<u32>>,
        front: &Push,
    ) {
        for w in writes.edges(e.src) {
            reaching[row[e.dst] + bit[w] / 32].fetch_or(1 << (bit[w] % 32));
        }
        front.push(e.dst);
    }

    #[fixpoint(after(begin), until(front.is_empty()), max_rounds = 4_294_967_295)]
    mod forward {
        #[wave(edges(successors, from = front))]
        fn flow(
            e: Edge,
            defs: &Buf<u64>,
            entry: &Buf<u32>,
            words: &Csr,
            register: &Buf<u32>,
            row: &Buf<u32>,
            reaching: &Buf<Atomic<u32>>,
            front: &Push,
        ) {
            let (from, to) = (row[e.src], row[e.dst]);
            let first = words.edges(entry[e.src]).start;
            let mut grew = false;
            for k in 0..row[e.src + 1] - from {
                let word = reaching[from + k].load();
                if word != 0 && defs[e.src] >> register[first + k] & 1 == 0 {
                    let before = reaching[to + k].fetch_or(word);
                    grew |= before | word != before;
                }
            }
            if grew {
                front.push(e.dst);
            }
        }
    }
}

/// PageRank: one power iteration a round.
#[wave_graph]
#[pass(id = "pagerank.power", unproven)]
pub mod pagerank {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        incoming: Csr,
        #[output(per = node)]
        rank: f32,
        /// What part of its rank a node hands on along each of its edges.
        #[scratch(per = node)]
        part: f32,
        #[scratch(per = node)]
        share: f32,
        /// What nodes without edges out have together.
        #[reduce(sum)]
        dangling: f32,
        /// How far the ranks moved.
        #[reduce(sum)]
        moved: f32,
        /// One by the number of nodes.
        start: f32,
        damping: f32,
        /// What part of that each node gets.
        spread: f32,
        /// What each node gets from walkers that start anew.
        restart: f32,
        tolerance: f32,
    }

    #[wave(nodes)]
    fn init(v: Node, graph: &Csr, damping: f32, start: f32, rank: &mut f32, part: &mut f32) {
        *rank = start;
        let degree = graph.degree(v);
        if degree > 0 {
            *part = damping / degree as f32;
        }
    }

    #[fixpoint(after(init), until(moved < tolerance), max_rounds = 1_000)]
    mod iteration {
        #[wave(nodes)]
        fn scatter(rank: &f32, part: &f32, share: &mut f32, dangling: &Reduce<Sum<f32>>) {
            *share = *rank * *part;
            if *part == 0.0 {
                dangling.add(*rank);
            }
        }

        #[wave(nodes, after(scatter))]
        fn gather(
            v: Node,
            incoming: &Csr,
            share: &Buf<f32>,
            dangling: f32,
            spread: f32,
            restart: f32,
            rank: &mut f32,
            moved: &Reduce<Sum<f32>>,
        ) {
            let mut next = restart + spread * dangling;
            for u in incoming.neighbors(v) {
                next += share[u];
            }
            moved.add((next - *rank).abs());
            *rank = next;
        }
    }
}

/// One element of y = a * x + y.
#[kernel]
#[pass(id = "saxpy", unproven)]
pub fn saxpy(_i: Index, a: f32, x: &f32, y: &mut f32) {
    *y += a * *x;
}
