//! Wrong use on the host: too few arrays, wrong array length, a list that is not given back.
use vyre::prelude::*;
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[input(per = node)] x: [u32; 3],
        #[list(unique)] l: List<Node>,
        #[output(per = node)] o: [u32; 3],
    }
    #[wave(nodes)]
    fn put(v: Node, x: &[u32; 3], l: &Push, o: &mut [u32; 3]) { l.push(v); *o = *x; }
}
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = Csr::from_edges(2, &[(0, 1)])?;
    let mut session = p::Session::new(&Runtime::native(), &graph)?;
    let out = session.run(p::Run { x: &[[1, 2]; 2] })?;
    println!("{:?}", out.l);
    let _: Vec<u32> = out.o;
    Ok(())
}
