//! An included graph and a wave of one name cannot be told apart in `after`.

use vyre::prelude::*;

mod other {
    use vyre::prelude::*;

    #[wave_graph]
    pub mod marks {
        pub struct Data {
            #[topology]
            graph: Csr,
            #[output(per = node)]
            mark: u32,
        }

        #[wave(nodes)]
        fn set(v: Node, mark: &mut u32) {
            *mark = v;
        }
    }
}

#[wave_graph]
mod analysis {
    #[include(graph = calls)]
    use super::other::marks;

    pub struct Data {
        #[topology]
        calls: Csr,
        #[output(per = node)]
        twice: u32,
    }

    #[wave(nodes)]
    fn marks(twice: &mut u32) {
        *twice += 1;
    }

    #[wave(nodes, after(marks))]
    fn double(marks_mark: &u32, twice: &mut u32) {
        *twice += 2 * *marks_mark;
    }
}

fn main() {}
