//! A module without `#[wave_graph]`.

use vyre::prelude::*;

mod search { pub mod bfs { pub fn x() {} } }

#[wave_graph]
mod analysis {
    #[include(graph = calls, source = entry)]
    use super::search::bfs;

    pub struct Data {
        #[topology]
        calls: Csr,
        #[output(per = node)]
        dist_of: u32,
        entry: u32,
    }

    #[wave(nodes, after(bfs))]
    fn mark(v: Node, bfs_dist: &u32, dist_of: &mut u32) {
        *dist_of = *bfs_dist + v;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let csr = Csr::from_edges(3, &[(0, 1), (1, 2)])?;
    let mut session = analysis::Session::new(&Runtime::native(), &csr)?;
    let out = session.run(analysis::Run { entry: 0 })?;
    println!("{:?} {:?} {}", out.dist_of, out.bfs_dist, out.report.total_rounds());
    Ok(())
}
