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
        #[output(per = node)] inside: bool,
        player: u32,
    }
    #[wave(nodes)]
    fn begin(v: Node, player: u32, graph: &Csr, owner: &u32, target: &bool, left: &mut u32, inside: &mut bool, front: &Push) {
        *left = if *owner == player { 1 } else { graph.degree(v) };
        if *target {
            *left = 0;
            *inside = true;
            front.push(v);
        }
    }
    #[fixpoint(after(begin), until(front.is_empty()))]
    mod rounds {
        #[wave(edges(back, from = front))]
        fn attract(e: Edge, left: &Buf<Atomic<u32>>, inside: &Buf<Atomic<bool>>, front: &Push) {
            if left[e.dst].fetch_sub(1) == 1 {
                inside[e.dst].store(true);
                front.push(e.dst);
            }
        }
    }
}
fn main() {}
