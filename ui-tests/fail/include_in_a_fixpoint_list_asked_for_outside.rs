//! A list of a graph that is included in a fixpoint holds what one round of that appends.

use vyre::prelude::*;

mod parts {
    use vyre::prelude::*;

    #[wave_graph]
    pub mod part {
        pub struct Data {
            #[topology]
            graph: Csr,
            #[list(unique)]
            found: List<Node>,
        }

        #[wave(nodes)]
        fn note(v: Node, found: &Push) {
            found.push(v);
        }
    }
}

#[wave_graph]
mod analysis {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        out: u32,
    }

    #[fixpoint(until(round == 3))]
    mod phases {
        #[include(graph = graph)]
        use super::super::parts::part;
    }

    #[fixpoint(after(phases), until(part_found.is_empty()))]
    mod rest {
        #[wave(nodes)]
        fn add(out: &mut u32) {
            *out += 1;
        }
    }
}

fn main() {}
