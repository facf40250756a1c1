//! A type of the module cannot have the name of one of Rust's, or of one that the macro defines.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct u32 {
        a: u32,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Output {
        pub a: i64,
    }

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: u32,
    }

    #[wave(nodes)]
    fn a(v: Node, x: &mut u32) {
        *x = v;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = Csr::from_edges(3, &[(0, 1), (1, 2)])?;
    let out = pass::Session::new(&Runtime::native(), &graph)?.run(pass::Run {})?;
    println!("{:?}", out.x);
    Ok(())
}
