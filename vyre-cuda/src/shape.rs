//! How many threads a CTA of a module has, and how many of its CTAs run on a multiprocessor.
//!
//! The interpreter has one CTA of 1,024 threads, so that few CTAs arrive at a barrier, and the driver's compiler gives a
//! thread 64 registers. The module of a pass may have other figures: more threads hide more of the time that memory
//! takes, and smaller CTAs wait less for their own warps. [`chosen`] decides. No shape changes a result, because which
//! items are put together goes by the interpreter's shape (`State::order` in `kernels/interp.cuh`).

use crate::abi;
use std::fmt;
use std::str::FromStr;
use vyre_core::vir0::module::Program;

/// Threads of a CTA, and CTAs of a multiprocessor. It is written as `512x3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    threads: u32,
    ctas: u32,
}

/// Threads of a multiprocessor at most; some have room for fewer.
const MOST_THREADS: u32 = 2048;
/// Registers of a multiprocessor, and of a thread at most.
const REGISTERS: u32 = 64 * 1024;

impl Shape {
    /// That of the interpreter, `1024x1`.
    pub const INTERPRETER: Shape = Shape {
        threads: abi::THREADS,
        ctas: 1,
    };

    /// Full warps, as many as narrow rounds need and no more than the interpreter has, and CTAs that a multiprocessor
    /// can hold; `None` for other numbers.
    pub const fn new(threads: u32, ctas: u32) -> Option<Shape> {
        let fits = threads >= abi::QUICK_WARPS * 32
            && threads <= abi::THREADS
            && threads.is_multiple_of(32)
            && ctas >= 1
            && ctas <= MOST_THREADS / threads;
        match fits {
            true => Some(Shape { threads, ctas }),
            false => None,
        }
    }

    const fn of(threads: u32, ctas: u32) -> Shape {
        match Shape::new(threads, ctas) {
            Some(shape) => shape,
            None => panic!("no multiprocessor holds that"),
        }
    }

    /// Threads of a CTA.
    pub fn threads(self) -> u32 {
        self.threads
    }

    /// CTAs of a multiprocessor.
    pub fn ctas(self) -> u32 {
        self.ctas
    }

    /// Warps of a CTA.
    pub(crate) fn warps(self) -> u32 {
        self.threads / 32
    }

    /// Registers that a thread can have.
    pub(crate) fn registers(self) -> u32 {
        // Warps get multiples of 256.
        REGISTERS / (self.threads * self.ctas) / 8 * 8
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.threads, self.ctas)
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Shape, String> {
        let numbers = text.split_once('x');
        let numbers =
            numbers.and_then(|(threads, ctas)| Some((threads.parse().ok()?, ctas.parse().ok()?)));
        let shape = numbers.and_then(|(threads, ctas)| Shape::new(threads, ctas));
        shape.ok_or_else(|| {
            format!(
                "a shape is threads of a CTA and CTAs of a multiprocessor, such as 512x3: a multiple of 32 from {} to \
                 {} threads, and {MOST_THREADS} in all",
                abi::QUICK_WARPS * 32,
                abi::THREADS
            )
        })
    }
}

/// Passes with rounds: a barrier decides what a round takes, and half of the warps arrive sooner. By device time on an H100,
/// to that of `1024x1`: BFS 0.94 on a grid of 1000 x 1000, 0.97 and 1.03 on R-MAT graphs; shortest paths 0.95 and 1.0;
/// components 0.70 and 0.92; liveness 0.77; PageRank 1.0.
const ROUNDS: Shape = Shape::of(512, 1);
/// The same on large graphs, whose rounds wait for memory more than for barriers. By device time on an H200, to that of
/// `512x1`: BFS 0.87 on a grid of 4000 x 4000, shortest paths and BFS on R-MAT graphs of 4 million nodes 1.0. With a
/// million nodes it is 0.94 for shortest paths, but 1.06 for BFS and 1.03 for components. Loops over neighbours that a
/// warp's lanes share out have their loads under way without it, and want registers: PageRank 1.08.
const LARGE: Shape = Shape::of(512, 2);
/// From so many nodes on.
const LARGE_NODES: u64 = 1 << 21;
/// Passes without a round, which compute or stream. The hash 0.95.
const ONCE: Shape = Shape::of(256, 4);

/// The shape of the module of a pass on graphs of so many nodes; `lifts`: some loop over neighbours is shared out.
pub(crate) fn chosen(program: &Program, (nodes, lifts): (u64, bool)) -> Shape {
    match (program.fixpoints.is_empty(), nodes >= LARGE_NODES && !lifts) {
        (true, _) => ONCE,
        (false, true) => LARGE,
        (false, false) => ROUNDS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_read_as_they_are_written() {
        for text in ["1024x1", "1024x2", "512x3", "256x8", "128x16"] {
            let shape: Shape = text.parse().expect("it fits");
            assert_eq!(shape.to_string(), text);
        }
        for text in [
            "", "512", "512x", "x2", "512x0", "512x5", "500x1", "2048x1", "96x4", "512 x 2",
        ] {
            assert!(text.parse::<Shape>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_shape_goes_by_rounds_and_nodes() {
        let looping = crate::image::tests::search();
        let once = Program {
            fixpoints: Vec::new(),
            ..looping.clone()
        };
        assert_eq!(chosen(&once, (u64::from(u32::MAX), false)), ONCE);
        let sizes = [0, LARGE_NODES - 1, LARGE_NODES];
        let found = sizes.map(|nodes| chosen(&looping, (nodes, false)));
        assert_eq!(found, [ROUNDS, ROUNDS, LARGE]);
        assert_eq!(chosen(&looping, (LARGE_NODES, true)), ROUNDS);
    }

    #[test]
    fn registers_are_what_a_multiprocessor_has_for_a_thread() {
        let registers = |text: &str| text.parse::<Shape>().expect("it fits").registers();
        let found = ["1024x1", "512x3", "256x6", "1024x2"].map(registers);
        assert_eq!(found, [64, 40, 40, 32]);
    }
}
