//! refuse: deterministic: floats added over a list
use vyre::prelude::*;

#[wave_graph(deterministic)]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, reset = round)] l: List<Node>,
        #[output(per = node)] o: f32,
        #[reduce(sum)] s: f32,
    }
    #[fixpoint(until(round == 2))]
    mod f {
        #[wave(nodes)]
        fn put(v: Node, l: &Push) { l.push(v); }
        #[wave(items(l), after(put))]
        fn get(v: Node, o: &mut f32, s: &Reduce<Sum<f32>>) { *o += v as f32; s.add(*o); }
    }
}
fn main() {}
