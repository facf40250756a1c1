//! A `unique` list holds nodes, each once, and is not given back.

use vyre::prelude::*;

#[wave_graph]
mod items {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[list(unique)]
        numbers: List<u32>,
        #[list(capacity = node, unique)]
        bounded: List<Node>,
        #[list(unique, output)]
        shown: List<Node>,
        #[list]
        bare: List<Node>,
    }

    #[wave(nodes)]
    fn find(v: Node, numbers: &Push, bounded: &Push, shown: &Push) {
        numbers.push(v);
        bounded.push(v);
        shown.push(v);
    }
}

#[wave_graph]
mod appended {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[list(unique)]
        found: List<Node>,
    }

    #[wave(nodes)]
    fn find(v: Node, found: &Append<Node>) {
        found.append(v);
    }
}

#[wave_graph]
mod swept {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[list(unique)]
        found: List<Node>,
        #[list(capacity = node)]
        log: List<Node>,
        #[output(per = node)]
        out: u32,
    }

    #[wave(nodes)]
    fn find(v: Node, found: &Push, log: &Append<Node>) {
        found.push(v);
        log.append(v);
    }

    #[wave(items(found, new), after(find))]
    fn recent(v: Node, out: &mut u32) {
        *out += v;
    }

    #[wave(edges(graph, from = log), after(find))]
    fn leave(e: Edge, out: &Buf<Atomic<u32>>) {
        out[e.dst].fetch_add(1);
    }
}

fn main() {}
