use vyre::prelude::*;
#[wave_graph(deterministic)]
pub mod attractor {
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(reverse_of = graph)] back: Csr,
        #[topology(per = node)] owner: u32,
        #[input(per = node)] target: bool,
        #[scratch(per = node)] left: u32,
        #[frontier] front: Frontier,
        #[output(per = node)] inside: u32,
        player: u32,
    }
    #[wave(nodes)]
    fn begin(v: Node, player: u32, graph: &Csr, owner: &u32, target: &bool, left: &mut u32, inside: &mut u32, front: &Push) {
        *left = if *owner == player { 1 } else { graph.degree(v) };
        if *target {
            *left = 0;
            *inside = 1;
            front.push(v);
        }
    }
    #[fixpoint(after(begin), until(front.is_empty()))]
    mod rounds {
        #[wave(edges(back, from = front))]
        fn attract(e: Edge, left: &Buf<Atomic<u32>>, inside: &Buf<Atomic<u32>>, front: &Push) {
            if left[e.dst].fetch_sub(1) == 1 {
                inside[e.dst].store(1);
                front.push(e.dst);
            }
        }
    }
}
#[wave_graph]
pub mod user {
    pub const ZERO: u32 = 0;
    #[include(graph = graph, back = back, owner = owner, target = target, player = ZERO)]
    use super::attractor as here;
    #[include(graph = back, back = graph, owner = owner, target = target, player = 1)]
    use super::attractor as there;
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(reverse_of = graph)] back: Csr,
        #[topology(per = node)] owner: u32,
        #[input(per = node)] target: bool,
    }
    #[wave(nodes, after(here, there))]
    fn both(here_inside: &u32, there_inside: &mut u32) {
        *there_inside += *here_inside;
    }
}
fn main() {}
