//! Mistakes of different kinds are all reported in one compile.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        names: String,
        #[output(per = node)]
        heavy: u32,
        #[reduce(average)]
        mean: f32,
    }

    #[wave(nods)]
    fn first(heavy: &mut u32) {
        *heavy = 1;
    }

    #[wave(nodes, after(frist))]
    fn second(v: Node, havy: &u32, heavy: &mut u32) {
        let text = "two";
        *heavy += v.foo();
    }
}

fn main() {}
