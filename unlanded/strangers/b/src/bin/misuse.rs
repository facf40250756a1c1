use vyre::prelude::*;
#[wave_graph]
pub mod bfs {
    pub const FAR: u32 = u32::MAX;
    pub struct Data {
        #[topology] graph: Csr,
        #[frontier] front: Frontier,
        #[output(per = node, init = FAR)] dist: u32,
        root: Node,
    }
    #[wave(once)]
    fn begin(root: Node, dist: &Buf<Atomic<u32>>, front: &Push) { dist[root].store(0); front.push(root); }
    #[fixpoint(after(begin), until(front.is_empty()))]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn go(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(FAR, round + 1) { front.push(e.dst); }
        }
    }
}
/// the outer condition asks for an inner frontier
#[wave_graph]
pub mod a {
    pub struct Data {
        #[topology] graph: Csr,
        #[frontier(unique)] active: Frontier,
        #[output(per = node)] x: u32,
        period: u32,
    }
    #[wave(nodes)]
    fn begin(v: Node, active: &Push) { active.push(v); }
    #[fixpoint(after(begin), until(active.is_empty()))]
    mod phases {
        #[fixpoint(until(active.is_empty() || round + 1 == period))]
        mod rounds {
            #[wave(items(active))]
            fn step(v: Node, x: &mut u32, active: &Push) { *x += 1; if *x < v { active.push(v); } }
        }
    }
}
/// another path for an include in a fixpoint
#[wave_graph]
pub mod b {
    pub struct Data { #[topology] graph: Csr, #[scratch(per = node)] far: u32, root: Node }
    #[fixpoint(until(round == 3))]
    mod phases {
        #[include(graph = graph, root = root)]
        use super::bfs;
    }
}
/// an output that is scratch here
#[wave_graph]
pub mod c {
    pub struct Data { #[topology] graph: Csr, #[scratch(per = node, init = u32::MAX)] far: u32, #[output(per = node)] y: u32, root: Node }
    #[include(graph = graph, root = root, dist = far)]
    use super::bfs;
    #[wave(nodes, after(bfs))]
    fn twice(far: &u32, y: &mut u32) { *y = *far * 2; }
}
/// reset without a fixpoint around; a round that is none
#[wave_graph]
pub mod d {
    pub struct Data { #[topology] graph: Csr, #[scratch(per = node, reset = round)] x: u32, #[output(per = node)] y: u32 }
    #[fixpoint(until(round == 3))]
    mod phases {
        #[wave(nodes)]
        fn put(phase: Round, x: &mut u32) { *x = phase; }
    }
    #[wave(nodes, after(phases))]
    fn get(x: &u32, y: &mut u32) { *y = *x; }
}
/// a list in a graph that a fixpoint includes
#[wave_graph]
pub mod lister {
    pub struct Data { #[topology] graph: Csr, #[list(capacity = node)] some: List<u32>, #[output(per = node)] y: u32 }
    #[wave(nodes)]
    fn put(v: Node, some: &Append<u32>) { some.append(v); }
    #[wave(items(some), after(put))]
    fn get(v: Node, y: &mut u32) { *y += v; }
}
#[wave_graph]
pub mod f {
    pub struct Data { #[topology] graph: Csr }
    #[fixpoint(until(round == 3))]
    mod phases {
        #[include(graph = graph)]
        use super::super::lister;
    }
}
/// not declared as the reverse
#[wave_graph]
pub mod g {
    pub struct Data { #[topology] graph: Csr, #[output(per = node)] y: u32, root: u32 }
    #[include(graph = grap, root = root)]
    use super::bfs;
    #[wave(nodes, after(bfs))]
    fn twice(bfs_dist: &u32, y: &mut u32) { *y = *bfs_dist * 2; }
}
fn main() {}
