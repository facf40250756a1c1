//! Sweeps over grids: cells, what lies around them, and their own elements.

use vyre::prelude::*;
use vyre_tests::backend_tests;

/// The game of life on a torus, in two waves.
#[wave_graph(deterministic)]
pub mod life {
    pub struct Data {
        #[input(per = w * h)]
        start: bool,
        #[output(per = w * h)]
        now: bool,
        #[scratch(per = h * w)]
        near: u32,
        w: u32,
        h: u32,
        rounds: u32,
    }

    #[wave(range(w, h))]
    fn begin(start: &bool, now: &mut bool) {
        *now = *start;
    }

    #[fixpoint(after(begin), until(round + 1 == rounds))]
    mod steps {
        #[wave(range(w, h))]
        fn count(c: Cell, now: &Buf<bool>, near: &mut u32) {
            *near = 0;
            for dy in -1..=1 {
                for dx in -1..=1 {
                    *near += u32::from((dx, dy) != (0, 0) && now[c.at(dx, dy)]);
                }
            }
        }

        #[wave(range(w * h), after(count))]
        fn turn(near: &u32, now: &mut bool) {
            *now = *near == 3 || *now && *near == 2;
        }
    }
}

fn a_glider_goes_around(runtime: &Runtime) {
    let mut session = life::Session::new(runtime, ()).expect("it fits");
    let glider = [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)];
    for (w, h, by) in [(5, 7, 7), (6, 6, 4), (40, 300, 2)] {
        let start = |by: u32| {
            let mut all = vec![false; (w * h) as usize];
            for (x, y) in glider {
                all[((y + by) % h * w + (x + by) % w) as usize] = true;
            }
            all
        };
        let run = life::Run {
            start: &start(0),
            w,
            h,
            rounds: 4 * by,
        };
        // In four rounds it moves by one cell, down and to the right.
        let out = session.run(run).expect("it ends");
        assert!(out.now == start(by), "{w} by {h}");
    }
}

#[wave_graph]
pub mod cells {
    pub const W: u32 = 5;
    const ROWS: u32 = 2;

    pub struct Data {
        #[topology]
        k: u32,
        #[input(per = w * h)]
        by: (i32, i32),
        #[output(per = w * h)]
        at: u32,
        #[output(per = W * (ROWS + 1))]
        fixed: u32,
        #[output(per = 4 * k)]
        wide: u64,
        w: u32,
        h: u32,
    }

    /// Numbers that tell all that a cell knows.
    #[device]
    fn told(c: Cell) -> u64 {
        let right = c.at(1, 0);
        u64::from(c.x) * 1_000_000 + u64::from(c.y) * 10_000 + u64::from(c.index * 100 + right)
    }

    #[wave(range(w, h))]
    fn go(c: Cell, by: &(i32, i32), at: &mut u32) {
        *at = c.at(by.0, by.1);
        assert!(c.index < 7 || c.at(0, 0) == c.index);
    }

    #[wave(range(W, (ROWS + 1)))]
    fn all(c: Cell, fixed: &mut u32) {
        *fixed = c.at(2, -1) * 10_000 + c.at(-1, 1) * 100 + c.at(0, -7);
    }

    #[wave(range(k, 4))]
    fn tell(c: Cell, wide: &mut u64) {
        *wide = told(c);
    }
}

fn around(at: u32, len: u32, by: i32) -> u32 {
    (i64::from(at) + i64::from(by)).rem_euclid(len.into()) as u32
}

fn cells_know_their_places(runtime: &Runtime) {
    let far = [0, 1, -1, 2, -2, 3, 7, -7, i32::MAX, i32::MIN, -13, 100];
    for k in [1, 3] {
        let mut session = cells::Session::new(runtime, cells::Topology { k }).expect("it fits");
        for (w, h) in [(1, 1), (2, 1), (1, 9), (4, 3), (12, 12), (0, 4), (3, 0)] {
            let by: Vec<(i32, i32)> = (0..(w * h) as usize)
                .map(|i| (far[i % 12], far[i / 12 % 12]))
                .collect();
            let out = session.run(cells::Run { by: &by, w, h }).expect("it ends");
            let at =
                |i: u32, w: u32, h: u32, (dx, dy)| around(i / w, h, dy) * w + around(i % w, w, dx);
            let wanted = (0..w * h).map(|i| at(i, w, h, by[i as usize]));
            assert_eq!(out.at, wanted.collect::<Vec<_>>(), "{w} by {h}");
            let wanted = (0..15).map(|i| {
                let at = |by| at(i, 5, 3, by);
                at((2, -1)) * 10_000 + at((-1, 1)) * 100 + at((0, -7))
            });
            assert_eq!(out.fixed, wanted.collect::<Vec<_>>());
            let wanted = (0..4 * k).map(|i| {
                let place = u64::from(i % k) * 1_000_000 + u64::from(i / k) * 10_000;
                place + u64::from(i * 100 + at(i, k, 4, (1, 0)))
            });
            assert_eq!(out.wide, wanted.collect::<Vec<_>>());
        }
    }
}

/// Steps around the largest grids that there are.
#[wave_graph]
pub mod wide {
    pub struct Data {
        #[output(per = 1)]
        far: u32,
        w: u32,
        h: u32,
        by: i32,
    }

    #[wave(range(w, h))]
    fn go(c: Cell, by: i32, far: &Buf<Atomic<u32>>) {
        far[0].fetch_max(c.at(by, by));
    }
}

fn sides_are_checked_when_a_run_begins(runtime: &Runtime) {
    let mut session = wide::Session::new(runtime, ()).expect("it fits");
    let run = wide::Run {
        w: 1 << 16,
        h: 1 << 16,
        by: 0,
    };
    let refused = session.run(run).map(|_| ());
    assert_eq!(
        refused.unwrap_err().to_string(),
        "`go` would have `w * h` elements, and 4294967296 is not between 0 and 4294967295"
    );
    let run = wide::Run { w: 3, h: 2, by: -5 };
    assert_eq!(session.run(run).expect("it ends").far, [5]);
}

backend_tests!(
    a_glider_goes_around,
    cells_know_their_places,
    sides_are_checked_when_a_run_begins
);

/// A graph whose grid has the sides of the one that includes it.
#[wave_graph]
#[pass(id = "grids.whole", unproven)]
pub mod whole {
    #[include(w = width, h = height)]
    use super::edges;

    pub struct Data {
        #[reduce(sum)]
        total: u32,
        width: u32,
        height: u32,
    }

    #[wave(range(height, width), after(edges))]
    fn add(c: Cell, edges_border: &Buf<bool>, total: &Reduce<Sum<u32>>) {
        total.add(u32::from(edges_border[c.index]));
    }
}

#[wave_graph]
#[pass(id = "grids.edges", unproven)]
pub mod edges {
    pub struct Data {
        #[output(per = w * h)]
        border: bool,
        w: u32,
        h: u32,
    }

    #[wave(range(w, h))]
    fn find(c: Cell, w: u32, border: &mut bool) {
        *border = c.x == 0 || c.y == 0 || c.x + 1 == w || c.at(0, 1) < c.index;
    }
}

#[test]
fn sides_of_an_included_grid_are_those_that_it_is_given() {
    let mut session = whole::Session::new(&Runtime::vir0(), ()).expect("it fits");
    let run = whole::Run {
        width: 6,
        height: 4,
    };
    assert_eq!(session.run(run).expect("it ends").total, 16);
}

#[test]
fn a_grid_is_in_the_same_bits() {
    assert!(life::PLAN.to_string().starts_with("pass life (same bits: "));
}
