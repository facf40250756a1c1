//! Inside, there is no graph without parts.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        cfg: Csr,
        #[topology]
        calls: Csr,
        #[topology(per = edge(calls))]
        cost: u32,
        #[topology(parts_of = cfg)]
        funcs: Parts,
        #[output(per = node)]
        mark: u32,
    }

    #[fixpoint(per = funcs, until(round == 3))]
    mod rounds {
        #[wave(nodes)]
        fn step(v: Node, calls: &Csr, mark: &mut u32) {
            *mark += calls.degree(v);
        }

        #[wave(nodes, after(step))]
        fn pay(v: Node, cost: &Buf<u32>, mark: &mut u32) {
            *mark += cost[v];
        }

        #[wave(edges(calls), after(pay))]
        fn call(e: Edge, mark: &Buf<Atomic<u32>>) {
            mark[e.dst].fetch_add(1);
        }
    }
}

fn main() {}
