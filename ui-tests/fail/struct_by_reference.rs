//! A helper that takes a struct by reference.

use vyre::prelude::*;

#[wave_graph]
pub mod g {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Half {
        pub lo: u32,
    }
    impl Half {
        fn meet(&self, other: &Half) -> u32 {
            if self.lo < other.lo { self.lo } else { other.lo }
        }
    }
    pub struct Data {
        #[topology]
        near: Csr,
        #[output(per = node)]
        end: u32,
    }
    #[wave(nodes)]
    fn first(v: Node, end: &mut u32) {
        let a = Half { lo: v };
        let b = Half { lo: 3 };
        *end = a.meet(&b);
    }
}
fn main() {}
