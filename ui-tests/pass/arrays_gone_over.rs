//! Loops go over copies of arrays from the end and beside others, and over an own array by references.

use vyre::prelude::*;

#[wave_graph(deterministic)]
pub mod digits {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        digits: [u32; 3],
        #[output(per = node)]
        forth: u32,
        #[output(per = node)]
        back: u32,
        #[output(per = node)]
        own: u32,
    }

    #[wave(nodes)]
    fn read(digits: &[u32; 3], forth: &mut u32, back: &mut u32, own: &mut u32) {
        for x in digits.iter() {
            *forth = *forth * 10 + *x;
        }
        for x in (*digits).into_iter().rev() {
            *back = *back * 10 + x;
        }
        let places = [100, 10, 1];
        for (x, place) in places.into_iter().rev().zip(*digits) {
            *own += x * place;
        }
    }
}

fn main() {
    let graph = Csr::from_edges(2, &[]).expect("no edges");
    let mut session = digits::Session::new(&Runtime::native(), &graph).expect("it fits");
    let digits = &[[1, 2, 3], [7, 0, 9]];
    let out = session.run(digits::Run { digits }).expect("no trap");
    assert_eq!(out.forth, [123, 709]);
    assert_eq!(out.back, [321, 907]);
    assert_eq!(out.own, [321, 907]);
}
