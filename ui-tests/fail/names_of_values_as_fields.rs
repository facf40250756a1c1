//! A field cannot have the name of a constant or unit struct of the module: a parameter by it would be a pattern.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    const STEPS: u32 = 3;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        Pass: u32,
        #[output(per = node)]
        x: u32,
        PLAN: u32,
        STEPS: u32,
    }

    #[wave(nodes)]
    fn a(Pass: &u32, PLAN: u32, x: &mut u32) {
        *x = *Pass + PLAN;
    }

    #[fixpoint(after(a), until(round == STEPS))]
    mod rounds {
        #[wave(nodes)]
        fn b(x: &mut u32) {
            *x += 1;
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = Csr::from_edges(3, &[(0, 1), (1, 2)])?;
    let mut session = pass::Session::new(&Runtime::native(), &graph)?;
    let out = session.run(pass::Run { Pass: &[1, 2, 3], PLAN: 5, STEPS: 1 })?;
    println!("{:?} {}", out.x, pass::PLAN);
    Ok(())
}
