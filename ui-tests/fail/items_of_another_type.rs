//! The item of a list has the type that the list declares.

use vyre::prelude::*;

#[wave_graph]
mod pass {
    pub struct Data {
        #[list(capacity = 10)]
        log: List<(u32, f32)>,
    }

    #[wave(once)]
    fn init(log: &Append<(u32, f32)>) {
        log.append((1, 0.5));
    }

    #[wave(items(log), after(init))]
    fn read(item: u32) {
        let _ = item;
    }
}

fn main() {}
