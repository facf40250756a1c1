//! Scratch that begins anew stands for inputs of an included graph, not for what that changes.

use vyre::prelude::*;

#[wave_graph]
mod search {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        dist: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, dist: &mut u32) {
        *dist = v;
    }
}

#[wave_graph]
mod whole {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node, reset = round)]
        far: u32,
        #[output(per = node)]
        sum: u32,
    }

    #[fixpoint(until(round == 2))]
    mod phases {
        #[include(graph = graph, dist = far)]
        use super::super::search;

        #[wave(nodes, after(search))]
        fn add(far: &u32, sum: &mut u32) {
            *sum += *far;
        }
    }
}

fn main() {}
