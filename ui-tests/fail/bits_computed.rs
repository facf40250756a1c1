use vyre::prelude::*;

const B: u32 = 3;

#[wave_graph]
mod marks {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, bits = B + 1)]
        rows: Bits,
    }

    #[wave(nodes)]
    fn mark(v: Node, rows: &Bits) {
        rows.set(v, 0);
    }
}

fn main() {}
