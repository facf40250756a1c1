//! `#[include]`, misspelled: the graph is included all the same.

//! Waves of an included graph are ordered as others are.

use vyre::prelude::*;

mod search {
    use vyre::prelude::*;

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
            *dist = u32::MAX;
            if v == source {
                *dist = 0;
                front.push(v);
            }
        }

        #[fixpoint(after(init), until(front.is_empty()))]
        mod levels {
            #[wave(edges(graph, from = front))]
            fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
                if dist[e.dst].compare_exchange(u32::MAX, round + 1) {
                    front.push(e.dst);
                }
            }
        }
    }
}

#[wave_graph]
mod analysis {
    #[inculde(graph = calls, source = entry)]
    use super::search::bfs;

    pub struct Data {
        #[topology]
        calls: Csr,
        #[output(per = node)]
        dist_of: u32,
        entry: u32,
    }

    #[wave(nodes, after(bfs))]
    fn mark(v: Node, bfs_dist: &u32, dist_of: &mut u32) {
        *dist_of = *bfs_dist + v;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let csr = Csr::from_edges(3, &[(0, 1), (1, 2)])?;
    let mut session = analysis::Session::new(&Runtime::native(), &csr)?;
    let out = session.run(analysis::Run { entry: 0 })?;
    println!("{:?} {:?} {}", out.dist_of, out.bfs_dist, out.report.total_rounds());
    Ok(())
}

