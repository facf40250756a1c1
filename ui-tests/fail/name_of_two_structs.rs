//! A struct that a glob brings with its source, and a `use` with other fields, is not compiled as the one and laid out as
//! the other.

use vyre::prelude::*;

#[device]
mod wide {
    #[derive(Clone, Copy)]
    pub struct Point {
        pub x: u64,
        pub y: u64,
    }
}

mod narrow {
    #[derive(Clone, Copy)]
    pub struct Point {
        pub x: u8,
        pub y: u8,
    }
}

mod shapes {
    pub use super::narrow::Point;
    pub use super::wide::*;
}

#[wave_graph]
mod sums {
    use super::shapes::Point;

    pub struct Data {
        #[output(per = 4)]
        out: u64,
    }

    #[wave(range(4))]
    fn write(i: Index, out: &mut u64) {
        let mut p = Point { x: 255, y: 1 };
        p.x = p.x.wrapping_add(i as _);
        *out = p.x as u64;
    }
}

fn main() -> Result<(), vyre::Error> {
    sums::Session::new(&Runtime::vir0(), ())?.run(sums::Run {})?;
    Ok(())
}
