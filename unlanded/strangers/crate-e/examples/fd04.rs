//! refuse: list of another capacity
use vyre::prelude::*;
pub mod lib {
    use vyre::prelude::*;
    #[wave_graph]
    pub mod q {
        pub struct Data { #[topology] graph: Csr, #[list(unique)] seen: List<Node>, #[list(capacity = 9)] log: List<u32>, #[scratch(per = node)] t: u32, #[output(per = node)] r: [u32; 2] }
        #[wave(nodes)]
        fn go(v: Node, seen: &Push, log: &Append<u32>, t: &mut u32) { seen.push(v); log.append(v); *t += 1; }
        #[wave(edges(graph, from = seen), after(go))]
        fn each(e: Edge, r: &Buf<Atomic<u32>>) { r[e.dst * 2].fetch_add(1); }
    }
    #[wave_graph]
    pub mod csr {
        pub struct Data { #[topology] graph: Csr, #[output(per = node)] r: u32 }
        #[wave(nodes)]
        fn go(v: Node, graph: &Csr, r: &mut u32) { *r = graph.degree(v); }
    }
    #[wave_graph]
    pub mod nested {
        pub use super::q;
        pub struct Data { #[topology] graph: Csr, #[output(per = node)] r: u32 }
        #[include(graph = graph)]
        pub use super::q as inner;
        #[wave(edges(graph), after(inner))]
        fn go(e: Edge, r: &Buf<Atomic<u32>>) { r[e.src].fetch_add(1); }
    }
    #[wave_graph]
    pub mod outp {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = node, output)] log: List<u32> }
        #[wave(nodes)]
        fn go(v: Node, log: &Append<u32>) { log.append(v); }
    }
    #[wave_graph]
    pub mod newer {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = node)] log: List<u32>, #[output(per = node)] r: u32 }
        #[wave(nodes)]
        fn go(v: Node, log: &Append<u32>) { log.append(v); }
        #[wave(items(log, new), after(go))]
        fn get(x: u32, r: &Buf<Atomic<u32>>) { r[x].fetch_add(1); }
    }
    #[wave_graph]
    pub mod swept {
        pub struct Data { #[topology] graph: Csr, #[frontier] fr: Frontier, #[output(per = node)] r: u32 }
        #[wave(nodes)]
        fn go(v: Node, fr: &Push) { fr.push(v); }
        #[wave(items(fr), after(go))]
        fn get(v: Node, r: &Buf<Atomic<u32>>) { r[v].fetch_add(1); }
    }
    #[wave_graph]
    pub mod edgesfield {
        pub struct Data { #[topology] graph: Csr, edges: u32, #[output(per = node)] r: u32 }
        #[wave(nodes)]
        fn go(edges: u32, r: &mut u32) { *r = edges; }
    }
    #[wave_graph]
    pub mod rev {
        pub struct Data { #[topology] graph: Csr, #[topology(reverse_of = graph)] back: Csr, #[output(per = node)] r: u32 }
        #[wave(edges(back))]
        fn go(e: Edge, r: &Buf<Atomic<u32>>) { r[e.dst].fetch_add(1); }
    }
}

#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(capacity = 8)] l: List<u32>,
    }
    #[fixpoint(until(round == 2))]
    mod f {
        #[include(graph = graph, log = l)] use super::super::lib::q;

    }
}
fn main() {}
