//! Conway's Game of Life, on a board whose edges meet: a round a generation.

use vyre::prelude::*;

#[wave_graph]
pub mod life {
    pub struct Data {
        #[input(per = cells)]
        first: u32,
        #[output(per = cells)]
        now: u32,
        #[output(per = cells)]
        next: u32,
        cells: u32,
        width: u32,
        rounds: u32,
    }

    #[wave(range(cells))]
    fn init(first: &u32, now: &mut u32) {
        *now = *first;
    }

    #[fixpoint(after(init), until(round + 1 == rounds), swap(now, next))]
    mod generations {
        #[wave(range(cells))]
        fn step(i: Index, width: u32, cells: u32, now: &Buf<u32>, next: &mut u32) {
            let (column, row) = (i % width, i - i % width);
            let mut neighbours = 0;
            for y in 0..3 {
                let beside = (row + cells - width + y * width) % cells;
                for x in 0..3 {
                    neighbours += now[beside + (column + width - 1 + x) % width];
                }
            }
            neighbours -= now[i];
            *next = (neighbours == 3 || neighbours == 2 && now[i] == 1) as u32;
        }
    }
}
