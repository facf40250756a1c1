//! A `#[topology]` without a size is one scalar.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology]
        weight: u32,
        #[reduce(sum)]
        sum: u64,
    }

    #[wave(edges(graph))]
    fn add(e: Edge, weight: &Buf<u32>, sum: &Reduce<Sum<u64>>) {
        sum.add(u64::from(weight[e.index]));
    }
}

fn main() -> Result<(), vyre::Error> {
    let graph = Csr::from_edges(2, &[(0, 1)]).expect("edges name nodes");
    let topology = pass::Topology { graph: &graph, weight: 3 };
    let mut session = pass::Session::new(&Runtime::native(), topology)?;
    println!("{}", session.run(pass::Run {})?.sum);
    Ok(())
}
