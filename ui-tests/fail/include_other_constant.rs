//! Constants of one name can have different values: fields that are shared have one length and one beginning.

use vyre::prelude::*;

mod steps {
    use vyre::prelude::*;

    #[wave_graph]
    pub mod fill {
        const N: u32 = 5;
        const FAR: (u32, f32) = (1, 2.0);

        pub struct Data {
            #[scratch(per = N)]
            cells: u32,
            #[scratch(per = 2, init = FAR)]
            ends: (u32, f32),
            #[scratch(per = 2)]
            zeros: u32,
        }

        #[wave(range(N))]
        fn set(i: Index, cells: &mut u32, ends: &Records<(u32, f32)>, zeros: &Buf<u32>) {
            *cells = i + ends.get(0).0 + zeros[0];
        }
    }
}

#[wave_graph]
mod outer {
    #[include(cells = numbers, ends = limits, zeros = ones)]
    use super::steps::fill;

    const N: u32 = 4;
    const FAR: (u32, f32) = (1, 2.5);

    pub struct Data {
        #[output(per = N)]
        numbers: u32,
        #[scratch(per = 2, init = FAR)]
        limits: (u32, f32),
        #[scratch(per = 2, init = 1)]
        ones: u32,
    }
}

fn main() {}
