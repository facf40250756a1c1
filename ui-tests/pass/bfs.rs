//! The pass of the README, under the strictest lints.
#![deny(warnings)]

use vyre::prelude::*;

const UNSEEN: u32 = u32::MAX;

#[wave_graph]
#[pass(id = "reach.bfs", unproven)]
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

fn main() {
    let graph = Csr::from_edges(4, &[(0, 1), (1, 2), (2, 0)]).unwrap();
    for runtime in [Runtime::native(), Runtime::vir0()] {
        let mut session = bfs::Session::new(&runtime, &graph).unwrap();
        let out = session.run(bfs::Run { source: 0 }).unwrap();
        assert_eq!(out.dist, [0, 1, 2, UNSEEN]);
        assert_eq!(out.report.total_rounds(), 3);
    }
    assert!(bfs::PLAN.to_string().contains("(same bits: "));
}
