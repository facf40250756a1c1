//! Structs, arrays and rows of a whole buffer are asked for by a method.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        text: Rows<u8>,
        #[input(per = node)]
        place: (f32, f32),
        #[input(per = node)]
        label: [u32; 4],
        #[output(per = node)]
        sum: f32,
    }

    #[wave(nodes)]
    fn add(v: Node, text: &Rows<u8>, place: &Records<(f32, f32)>, label: &Records<[u32; 4]>, sum: &mut f32) {
        *sum = place[v].0 + label[v][0] as f32 + f32::from(text[v].at(0));
    }
}

fn main() {}
