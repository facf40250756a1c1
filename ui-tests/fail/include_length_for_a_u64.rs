//! A length for a scalar that is no u32.

use vyre::prelude::*;

mod search {
    use vyre::prelude::*;

    #[wave_graph]
    pub mod total {
        pub struct Data {
            #[input(per = n)]
            value: u32,
            #[reduce(sum)]
            sum: u64,
            n: u32,
            most: u32,
            wide: u64,
        }

        #[wave(range(n))]
        fn add(value: &u32, most: u32, sum: &Reduce<Sum<u64>>) {
            sum.add(u64::from((*value).min(most)));
        }
    }
}

#[wave_graph]
mod analysis {
    #[include(value = degree, n = node, wide = node, after(count))]
    use super::search::total as sum;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        degree: u32,
        kinds: u64,
    }

    #[wave(nodes)]
    fn count(v: Node, graph: &Csr, degree: &mut u32) {
        *degree = graph.degree(v);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let csr = Csr::from_edges(3, &[(0, 1), (1, 2)])?;
    let mut session = analysis::Session::new(&Runtime::native(), &csr)?;
    println!("{}", session.run(analysis::Run { kinds: 1 })?.report.total_rounds());
    Ok(())
}
