//! `#[device]` functions of other modules.

#![deny(warnings)]

use vyre::Error;
use vyre::prelude::*;
use vyre_tests::backend_tests;

mod math {
    use vyre::prelude::device;

    /// Private, and named by a function that runs elsewhere.
    const PRIME: u32 = 0x9E37_79B1;

    pub(crate) mod bits {
        use vyre::prelude::device;

        #[device]
        pub(crate) fn rotated(x: u32, by: u32) -> u32 {
            x.rotate_left(by)
        }

        /// It faults at its own line.
        #[device]
        pub(crate) fn divided(x: u32, y: u32) -> u32 {
            x / y
        }
    }

    /// Calls another of its own module's submodule, and a sibling declared below.
    #[device]
    pub(crate) fn mix(x: u32) -> u32 {
        spread(bits::rotated(x, 5))
    }

    #[device]
    fn spread(x: u32) -> u32 {
        x.wrapping_mul(PRIME) ^ super::SALT
    }

    #[device]
    pub(crate) fn ratio(x: u32, y: u32) -> u32 {
        bits::divided(x + 1, y)
    }

    /// Returns early, and reads a buffer of the caller's.
    #[device]
    pub(crate) fn first_above(xs: &super::Buf<u32>, limit: u32) -> u32 {
        for i in 0..xs.len() {
            if xs[i] > limit {
                return i;
            }
        }
        u32::MAX
    }
}

/// Structs with their methods, constants and functions, for passes anywhere in the crate.
#[device]
pub(crate) mod shapes {
    use super::math;

    const HALF: f64 = 0.5;

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Point {
        pub(crate) x: f64,
        pub(crate) y: f64,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Segment {
        pub(crate) from: Point,
        pub(crate) to: Point,
        /// What is not asked for stands in no pass.
        pub(crate) weight: u32,
    }

    impl Point {
        pub(crate) const ORIGIN: Self = Point { x: 0.0, y: 0.0 };

        pub(crate) fn new(x: f64, y: f64) -> Self {
            Point { x, y }
        }

        pub(crate) fn plus(self, other: Point) -> Point {
            Point::new(self.x + other.x, self.y + other.y)
        }

        pub(crate) fn scale(&mut self, by: f64) {
            self.x *= by;
            self.y *= by;
        }
    }

    impl Segment {
        pub(crate) fn middle(&self) -> Point {
            let mut sum = self.from.plus(self.to);
            sum.scale(HALF);
            sum
        }

        /// It asserts at its own line, and divides at another module's.
        pub(crate) fn share(&self, of: u32) -> u32 {
            assert!(self.weight < 100, "too heavy");
            math::bits::divided(of, self.weight) + super::SALT
        }
    }

    #[device]
    pub(crate) fn segment(from: Point, length: f64) -> Segment {
        let to = from.plus(Point {
            x: length,
            ..Point::ORIGIN
        });
        Segment {
            from,
            to,
            weight: length as u32,
        }
    }

    impl std::fmt::Display for Point {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "({}, {})", self.x, self.y)
        }
    }
}

/// Elements, items and values of another module's structs.
#[wave_graph]
mod outlines {
    use super::shapes::{Point, Segment, segment};

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        corner: Point,
        #[list(capacity = 100, output)]
        middles: List<Point>,
        #[output(per = node)]
        side: Segment,
        #[output(per = node)]
        share: u32,
        length: f64,
    }

    #[wave(nodes)]
    fn draw(corner: &Point, length: f64, side: &mut Segment) {
        *side = segment(*corner, length);
    }

    #[fixpoint(after(draw), until(!middles.is_empty()))]
    mod once {
        #[wave(nodes)]
        fn measure(v: Node, side: &Segment, share: &mut u32, middles: &Append<Point>) {
            *share = side.share(v);
            if v == 0 {
                let shift = super::super::shapes::Point::new(1.0, 0.0);
                middles.append(side.middle().plus(shift).plus(Point::ORIGIN));
            }
        }
    }
}

#[kernel]
fn areas(i: Index, y: &mut f64) {
    let mut p = shapes::Point::new(f64::from(i), *y);
    p.scale(2.0);
    let side = shapes::segment(p, 3.0);
    *y = side.middle().x * p.y + shapes::Point::ORIGIN.x;
}

const SALT: u32 = 77;

#[device]
fn beside(x: u32) -> u32 {
    x + SALT
}

#[kernel]
fn hashed(i: Index, y: &mut u32) {
    *y = math::mix(i) ^ crate::devices::math::bits::rotated(beside(i), 3);
}

#[kernel]
fn divided(i: Index, y: &mut u32) {
    *y = math::ratio(100, *y - i);
}

#[kernel]
fn found(i: Index, xs: &Buf<u32>, y: &mut u32) {
    *y = math::first_above(xs, i * 10);
}

#[wave_graph]
mod labels {
    use super::math::{bits, mix as stirred};

    struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        label: u32,
    }

    #[device]
    fn twice(x: u32) -> u32 {
        stirred(stirred(x))
    }

    #[wave(nodes)]
    fn init(v: Node, label: &mut u32, front: &Push) {
        *label = twice(v) ^ super::beside(v);
        if v == 0 {
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()))]
    mod rounds {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, label: &Buf<Atomic<u32>>, front: &Push) {
            let new = bits::rotated(e.src, 1) | super::super::math::bits::rotated(e.dst, 16);
            if label[e.dst].fetch_max(new) < new && e.dst > e.src {
                front.push(e.dst);
            }
        }
    }
}

fn functions_of_other_modules_are_inlined(runtime: &Runtime) {
    let mut y = [0; 9];
    hashed::run(runtime, &mut y).unwrap();
    for (i, &y) in (0..).zip(&y) {
        assert_eq!(y, math::mix(i) ^ (i + 77).rotate_left(3), "{runtime:?}");
    }
    let mut y = [0; 4];
    found::run(runtime, &[3, 11, 25, 4], &mut y).unwrap();
    assert_eq!(y, [0, 1, 2, u32::MAX]);
}

fn structs_of_other_modules_are_used(runtime: &Runtime) {
    use shapes::{Point, Segment};
    let graph = Csr::from_edges(3, &[(0, 1)]).unwrap();
    let corner = [Point::new(1.0, 2.0), Point::new(3.0, 4.0), Point::ORIGIN];
    let line = |what: &str| {
        let mut lines = include_str!("devices.rs").lines();
        lines.position(|l| l.trim().starts_with(what)).unwrap() as u32 + 1
    };
    let mut session = outlines::Session::new(runtime, &graph).unwrap();
    let run = |length| outlines::Run {
        corner: &corner,
        length,
    };
    let out = session.run(run(4.0)).unwrap();
    for (v, &from) in corner.iter().enumerate() {
        let to = Point::new(from.x + 4.0, from.y);
        let weight = 4;
        assert_eq!(out.side[v], Segment { from, to, weight });
        assert_eq!(out.share[v], v as u32 / 4 + SALT);
    }
    assert_eq!(out.middles, [Point::new(4.0, 2.0)]);
    let trap = |session: &mut outlines::Session, length| match session.run(run(length)) {
        Err(Error::Trap(trap)) => trap,
        other => panic!("{other:?}"),
    };
    let heavy = trap(&mut session, 100.0);
    assert_eq!(heavy.message.as_deref(), Some("too heavy"));
    assert_eq!(heavy.site.line, line("assert!(self.weight"));
    let divided = trap(&mut session, 0.5);
    assert_eq!(divided.site.line, line("x / y"));
    assert_eq!(
        (divided.kernel.as_str(), divided.item),
        ("measure", Some(0))
    );
    let mut y = [1.0, 2.0];
    areas::run(runtime, &mut y).unwrap();
    assert_eq!(y, [1.5 * 2.0, 3.5 * 4.0]);
}

fn a_graph_uses_what_it_imports(runtime: &Runtime) {
    let graph = Csr::from_edges(4, &[(0, 1), (1, 2), (2, 3)]).unwrap();
    let labels = [&Runtime::native(), runtime].map(|runtime| {
        let mut session = labels::Session::new(runtime, &graph).unwrap();
        session.run(labels::Run {}).unwrap().label
    });
    assert_eq!(labels[0], labels[1]);
    let first = math::mix(math::mix(0)) ^ 77;
    assert_eq!(labels[0][0], first);
}

fn a_fault_points_into_the_other_module(runtime: &Runtime) {
    let line = include_str!("devices.rs")
        .lines()
        .position(|l| l.trim() == "x / y")
        .unwrap();
    let mut y = [9, 8, 2, 7];
    match divided::run(runtime, &mut y).unwrap_err() {
        Error::Trap(trap) => {
            assert_eq!(trap.item, Some(2), "{trap}");
            assert!(trap.site.file.ends_with("devices.rs"), "{trap}");
            assert_eq!((trap.site.line, trap.site.column), (line as u32 + 1, 13));
        }
        other => panic!("{other}"),
    }
}

backend_tests!(
    functions_of_other_modules_are_inlined,
    structs_of_other_modules_are_used,
    a_graph_uses_what_it_imports,
    a_fault_points_into_the_other_module,
);
