//! An included graph that includes another by a private `use`.

use vyre::prelude::*;

mod search {
    use vyre::prelude::*;

    #[wave_graph]
    pub mod count {
        pub struct Data {
            #[topology]
            graph: Csr,
            #[reduce(count)]
            nodes: u64,
        }

        #[wave(nodes)]
        fn add(nodes: &Reduce<Count>) {
            nodes.inc();
        }
    }

    #[wave_graph]
    pub mod total {
        #[include(graph = graph)]
        use super::count;

        pub struct Data {
            #[topology]
            graph: Csr,
        }
    }
}

#[wave_graph]
mod analysis {
    #[include(graph = graph)]
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
