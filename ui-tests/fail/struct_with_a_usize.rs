//! A struct of elements that cannot be one is refused once, for whatever many fields.

use vyre::prelude::*;

#[wave_graph]
pub mod particles {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Body {
        pub pos: (f32, f32),
        pub mass: usize,
    }

    pub struct Data {
        #[topology]
        near: Csr,
        #[topology(per = edge(near))]
        length: f32,
        #[input(per = node)]
        start: Body,
        #[output(per = node)]
        end: Body,
        #[scratch(per = node)]
        mid: Body,
        #[reduce(sum)]
        energy: f64,
        #[list(capacity = 100, output)]
        hits: List<Body>,
        dt: f32,
    }

    #[wave(nodes)]
    fn first(start: &Body, mid: &mut Body, dt: f32) {
        *mid = Body { pos: (start.pos.0 + dt, start.pos.1), mass: start.mass };
    }

    #[wave(nodes, after(first))]
    fn second(mid: &Body, end: &mut Body, energy: &Reduce<Sum<f64>>, hits: &Append<Body>) {
        *end = *mid;
        energy.add(mid.mass as f64);
        if mid.mass > 1.0 {
            hits.append(*mid);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let csr = Csr::from_edges(3, &[(0, 1), (1, 2)])?;
    let length = vec![1.0f32; 2];
    let mut session = particles::Session::new(
        &Runtime::native(),
        particles::Topology { near: &csr, length: &length },
    )?;
    let start = vec![particles::Body { pos: (0.0, 0.0), mass: 1 }; 3];
    let out = session.run(particles::Run { start: &start, dt: 0.1 })?;
    println!("{:?} {} {:?}", out.end, out.energy, out.hits);
    Ok(())
}
