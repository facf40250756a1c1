//! What bodies do with arrays of a buffer.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        labels: [u32; 4],
        #[output(per = node)]
        other: [u32; 4],
    }

    #[wave(nodes)]
    fn change(v: Node, labels: &mut [u32; 4], other: &Records<[u32; 4]>) {
        labels[v] = 1;
        labels.push(2);
        for x in labels.iter() {
            if x > 3 {
                break;
            }
        }
        for x in labels.iter_mut() {
            *x = 1;
        }
        for x in labels.iter().rev() {
            if *x > 3 {
                break;
            }
        }
        let own = [1, 2];
        for (x, k) in own.iter().zip(0..2u32) {
            if *x > k {
                break;
            }
        }
        labels[0] = other[v][0];
        *labels = labels;
    }
}

fn main() {}
