use vyre::prelude::*;

#[wave_graph]
mod marks {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, bits = width + 1)]
        rows: Bits,
        width: u32,
    }

    #[wave(nodes)]
    fn mark(v: Node, rows: &Bits) {
        rows.set(v, 0);
    }
}

fn main() {}
