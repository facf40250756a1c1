//! The prelude can be in scope in the graph alone.

use vyre::wave_graph;
    #[wave_graph]
    pub mod bfs {
    use vyre::prelude::*;
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
use vyre::{Csr, Runtime};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let csr = Csr::from_edges(3, &[(0, 1), (1, 2)])?;
    let mut session = bfs::Session::new(&Runtime::native(), &csr)?;
    let out = session.run(bfs::Run { source: 0 })?;
    println!("{:?}", out.dist);
    Ok(())
}
