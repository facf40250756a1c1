use vyre::prelude::*;
use std::time::Instant;
#[wave_graph]
pub mod trap {
    pub struct Data { #[topology] g: Csr, #[input(per = node)] x: u32, #[output(per = node)] o: u32, kind: u32 }
    #[wave(nodes)]
    fn w(v: Node, x: &Buf<u32>, o: &mut u32, kind: u32) {
        if kind == 0 { *o = v / x[v]; }
        if kind == 1 { *o = x[v + 1000000]; }
        if kind == 2 { panic!("here"); }
        if kind == 3 { assert!(x[v] != 0, "no"); }
    }
}
fn main() {
    for n in [1usize, 100, 5000, 100000, 1000000] {
        let g = Csr::from_edges(n, &[]).unwrap();
        let x = vec![0; n];
        for rt in [Runtime::native(), Runtime::vir0()] {
            let mut s = trap::Session::new(&rt, &g).unwrap();
            for kind in 0..5 {
                let mut t = vec![];
                for _ in 0..3 { let b = Instant::now(); let _ = s.run(trap::Run { x: &x, kind }); t.push(b.elapsed()); }
                println!("{n} {} kind {kind} {t:?}", s.backend());
            }
        }
    }
}
