//! Two mistakes far from each other, and host code that uses the pass: two errors, no cascade.
use vyre::prelude::*;
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, capacity = 3)] l: List<Node>,
        #[output(per = node)] o: [u32; 9],
    }
    #[wave(nodes)]
    fn put(v: Node, l: &Push, o: &mut [u32; 9]) { l.push(v); o[0] = 1; }
}
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = Csr::from_edges(2, &[(0, 1)])?;
    let mut session = p::Session::new(&Runtime::native(), &graph)?;
    let out = session.run(p::Run {})?;
    println!("{:?} {}", out.o, p::PLAN);
    Ok(())
}
