//! A helper whose name is nearly that of its kernel, or of a function of its graph.

use vyre::prelude::*;

#[device]
fn axpy(a: f32, x: f32, y: f32) -> f32 {
    a * x + y
}

#[kernel]
fn saxpy(a: f32, x: &f32, y: &mut f32) {
    *y = axpy(a, *x, *y);
}

#[wave_graph]
mod sums {
    use super::*;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        out: f32,
    }

    #[wave(nodes)]
    fn axpys(v: Node, out: &mut f32) {
        *out = axpy(2.0, v as f32, 1.0);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rt = Runtime::native();
    let mut y = vec![2.0f32; 4];
    saxpy::run(&rt, 2.0, &[1.0; 4], &mut y)?;
    assert_eq!(y, [4.0; 4]);
    let graph = Csr::from_edges(2, &[(0, 1)])?;
    let out = sums::Session::new(&rt, &graph)?.run(sums::Run {})?;
    assert_eq!(out.out, [1.0, 3.0]);
    Ok(())
}
