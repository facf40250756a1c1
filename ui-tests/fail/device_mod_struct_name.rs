//! A public struct of a `#[device] mod` is told from a constant by its name.

use vyre::prelude::*;

#[device]
mod colours {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct RGB {
        pub red: u8,
    }

    #[derive(Clone, Copy)]
    pub struct V2(pub f32, pub f32);

    /// No other module sees it.
    #[derive(Clone, Copy)]
    struct K {
        white: u8,
    }

    #[device]
    pub fn white() -> u8 {
        K { white: 255 }.white
    }
}

fn main() {}
