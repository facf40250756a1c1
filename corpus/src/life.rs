//! Conway's game of life on a torus: a live cell stays with two or three live neighbours, a dead one becomes live with
//! three.
//!
//! One byte a cell, one lane a cell, and two buffers that are swapped after each generation.

use vyre::prelude::*;

use crate::rng::Rng;

#[wave_graph]
pub mod torus {
    pub struct Data {
        #[input(per = cells)]
        start: u8,
        #[output(per = cells)]
        now: u8,
        #[output(per = cells)]
        next: u8,
        cells: u32,
        width: u32,
        generations: u32,
    }

    #[wave(range(cells))]
    fn begin(start: &u8, now: &mut u8) {
        *now = *start;
    }

    #[fixpoint(after(begin), until(round + 1 == generations), swap(now, next))]
    mod turns {
        #[wave(range(cells))]
        fn step(i: Index, cells: u32, width: u32, now: &Buf<u8>, next: &mut u8) {
            let column = i % width;
            let row = i - column;
            let left = if column == 0 { width - 1 } else { column - 1 };
            let right = if column + 1 == width { 0 } else { column + 1 };
            let above = if row == 0 { cells - width } else { row - width };
            let below = if row + width == cells { 0 } else { row + width };
            let around = now[above + left] + now[above + column] + now[above + right]
                + now[row + left] + now[row + right]
                + now[below + left] + now[below + column] + now[below + right];
            *next = u8::from(around == 3 || around == 2 && now[i] == 1);
        }
    }
}

pub struct Input {
    width: usize,
    height: usize,
    generations: u32,
    start: Vec<u8>,
}

/// The last generation, a byte a cell.
pub type Output = Vec<u8>;

pub fn input(small: bool) -> Input {
    let (width, height, generations) = if small { (24, 20, 30) } else { (2048, 2048, 200) };
    let mut rng = Rng(3);
    let start = (0..width * height).map(|_| u8::from(rng.below(3) == 0)).collect();
    Input { width, height, generations, start }
}

/// Row by row, so that the compiler makes vectors of the inner cells.
pub fn sequential(input: &Input) -> Output {
    let (width, height) = (input.width, input.height);
    let mut now = input.start.clone();
    let mut next = vec![0; now.len()];
    let mut sums = vec![0u8; width];
    for _ in 0..input.generations {
        for y in 0..height {
            let row = |y: usize| &now[y * width..][..width];
            let (above, here, below) = (row((y + height - 1) % height), row(y), row((y + 1) % height));
            for x in 0..width {
                sums[x] = above[x] + here[x] + below[x];
            }
            let cell = |sum: u8, alive: u8| u8::from(sum == 3) | (u8::from(sum == 4) & alive);
            let out = &mut next[y * width..][..width];
            out[0] = cell(sums[width - 1] + sums[0] + sums[1], here[0]);
            out[width - 1] = cell(sums[width - 2] + sums[width - 1] + sums[0], here[width - 1]);
            let inner = out[1..width - 1].iter_mut().zip(&here[1..width - 1]);
            for ((out, &alive), sums) in inner.zip(sums.windows(3)) {
                *out = cell(sums[0] + sums[1] + sums[2], alive);
            }
        }
        std::mem::swap(&mut now, &mut next);
    }
    now
}

pub fn prepare<'i>(
    runtime: &vyre::Runtime,
    input: &'i Input,
) -> Result<Box<dyn FnMut() -> Result<Output, vyre::Error> + 'i>, vyre::Error> {
    let mut session = torus::Session::new(runtime, ())?;
    Ok(Box::new(move || {
        let run = torus::Run {
            start: &input.start,
            cells: input.start.len() as u32,
            width: input.width as u32,
            generations: input.generations,
        };
        Ok(session.run(run)?.now)
    }))
}

pub fn check(input: &Input, output: &Output) -> Result<(), String> {
    let expected = sequential(input);
    match output.iter().zip(&expected).position(|(a, b)| a != b) {
        None if output.len() == expected.len() => Ok(()),
        at => Err(format!("cell {at:?} differs")),
    }
}
