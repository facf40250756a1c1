//! Lowering labels by edges, with a list of what changed that other waves follow; a frontier of the included graph is ours.
use crate::common::*;
pub mod lib {
    use vyre::prelude::*;
    #[wave_graph]
    pub mod lower {
        pub struct Data {
            #[topology] graph: Csr,
            #[frontier(unique)] front: Frontier,
            #[list(unique)] touched: List<Node>,
            #[scratch(per = node)] label: u32,
        }
        #[fixpoint(until(front.is_empty()))]
        mod rounds {
            #[wave(edges(graph, from = front))]
            fn go(e: Edge, label: &Buf<Atomic<u32>>, front: &Push, touched: &Push) {
                let x = label[e.src].load();
                if x < label[e.dst].fetch_min(x) {
                    front.push(e.dst);
                    touched.push(e.dst);
                }
            }
        }
    }
}
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] roads: Csr,
        #[frontier(unique)] todo: Frontier,
        #[list(unique)] changed: List<Node>,
        #[output(per = node)] label: u32,
        #[output(per = node)] times: [u32; 2],
        #[output(per = edge(roads))] near: bool,
        #[input(per = edge(roads))] closed: bool,
    }
    #[device]
    fn ways(e: Edge, closed: &bool) -> bool {
        !*closed
    }
    #[wave(nodes)]
    fn begin(v: Node, label: &mut u32, todo: &Push) {
        *label = v;
        todo.push(v);
    }
    #[include(graph = roads, front = todo, touched = changed, label = label, edges = ways, after(begin))]
    use super::lib::lower;
    #[wave(items(changed), after(lower))]
    fn count(label: &u32, times: &mut [u32; 2]) {
        times[0] += 1;
        times[1] = *label;
    }
    #[wave(edges(roads, from = changed), after(lower))]
    fn beside(closed: &bool, near: &mut bool) {
        *near = !*closed;
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
    for _ in 0..2 {
        let closed = rng.bools(g.m());
        let out = session.run(p::Run { closed: &closed }).map_err(err)?;
        let mut label: Vec<u32> = (0..g.n as u32).collect();
        loop {
            let mut more = false;
            for (k, &(a, b)) in g.edges.iter().enumerate() {
                if !closed[k] && label[a as usize] < label[b as usize] {
                    label[b as usize] = label[a as usize];
                    more = true;
                }
            }
            if !more {
                break;
            }
        }
        let times: Vec<[u32; 2]> = (0..g.n).map(|v| if label[v] < v as u32 { [1, label[v]] } else { [0, 0] }).collect();
        same("label", &out.label, &label)?;
        same("times", &out.times, &times)?;
        let near: Vec<bool> = g.edges.iter().enumerate().map(|(k, e)| !closed[k] && label[e.0 as usize] < e.0).collect();
        same("near", &out.near, &near)?;
    }
    Ok(())
}
