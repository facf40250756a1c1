//! The deliberate loop of `cycle_of_three`, written as a fixpoint: the back edge is the next round.
#![deny(warnings)]

use vyre::prelude::*;

#[wave_graph]
mod count {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        half: u32,
        #[output(per = node)]
        total: u32,
        #[reduce(min)]
        least: u32,
    }

    #[fixpoint(until(least >= 12), max_rounds = 100)]
    mod rounds {
        #[wave(nodes)]
        fn a(v: Node, total: &u32, half: &mut u32) {
            *half = *total + v % 2;
        }

        #[wave(nodes, after(a))]
        fn b(_v: Node, half: &u32, total: &mut u32) {
            *total = *half + 1;
        }

        #[wave(nodes, after(b))]
        fn c(_v: Node, total: &u32, least: &Reduce<Min<u32>>) {
            least.min(*total);
        }
    }
}

fn main() {
    let graph = Csr::from_edges(2, &[]).unwrap();
    for runtime in [Runtime::native(), Runtime::vir0()] {
        let out = count::Session::new(&runtime, &graph).unwrap().run(count::Run {}).unwrap();
        assert_eq!(out.total, [12, 24]);
        assert_eq!(out.report.total_rounds(), 12);
    }
}
