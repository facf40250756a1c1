//! What buffers of structs cost on the native executor, beside the same fields as buffers of their own:
//! `cargo bench -p vyre` prints the ratio of every way to use them, and checks that results agree. Rows that a run is
//! given or returns are copied once, which arrays of the caller's are not; the caller's own loop over them is such a copy.
#![allow(missing_docs, unreachable_pub, reason = "passes of a benchmark")]

use std::time::{Duration, Instant};
use vyre::prelude::*;

#[device]
pub mod shapes {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Point {
        pub x: f32,
        pub y: f32,
        pub w: u32,
    }
}
use shapes::Point;

/// Each node's own element, read and written.
#[wave_graph]
mod own_structs {
    use crate::shapes::Point;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        from: Point,
        #[scratch(per = node)]
        to: Point,
        #[reduce(sum)]
        sum: u64,
        rounds: u32,
    }

    #[fixpoint(until(round + 1 >= rounds))]
    mod turns {
        #[wave(nodes)]
        fn turn(from: &Point, to: &mut Point) {
            to.x += from.x * 0.5;
            to.y += from.y * to.x;
            to.w ^= from.w;
        }
    }

    #[wave(nodes, after(turns))]
    fn end(to: &Point, sum: &Reduce<Sum<u64>>) {
        sum.add(u64::from(to.w + to.x.to_bits() % 8 + to.y.to_bits() % 8));
    }
}

/// Each node's own element, read and written.
#[wave_graph]
mod own_arrays {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        x: f32,
        #[topology(per = node)]
        y: f32,
        #[topology(per = node)]
        w: u32,
        #[scratch(per = node)]
        to_x: f32,
        #[scratch(per = node)]
        to_y: f32,
        #[scratch(per = node)]
        to_w: u32,
        #[reduce(sum)]
        sum: u64,
        rounds: u32,
    }

    #[fixpoint(until(round + 1 >= rounds))]
    mod turns {
        #[wave(nodes)]
        fn turn(x: &f32, y: &f32, w: &u32, to_x: &mut f32, to_y: &mut f32, to_w: &mut u32) {
            *to_x += *x * 0.5;
            *to_y += *y * *to_x;
            *to_w ^= *w;
        }
    }

    #[wave(nodes, after(turns))]
    fn end(to_x: &f32, to_y: &f32, to_w: &u32, sum: &Reduce<Sum<u64>>) {
        sum.add(u64::from(*to_w + to_x.to_bits() % 8 + to_y.to_bits() % 8));
    }
}

/// Passes that look at each node's neighbours, again and again.
macro_rules! neighbours {
    ($($(#[$about:meta])* $name:ident { $($data:tt)* } ($($parameters:tt)*) $body:block)*) => {$(
        $(#[$about])*
        #[wave_graph]
        mod $name {
            pub struct Data {
                #[topology]
                graph: Csr,
                $($data)*
                #[scratch(per = node)]
                to: u32,
                #[reduce(sum)]
                sum: u64,
                rounds: u32,
            }

            #[fixpoint(until(round + 1 >= rounds))]
            mod turns {
                #[wave(nodes)]
                fn turn($($parameters)*) $body
            }

            #[wave(nodes, after(turns))]
            fn end(to: &u32, sum: &Reduce<Sum<u64>>) {
                sum.add(u64::from(*to));
            }
        }
    )*};
}

neighbours! {
    /// Whole records.
    whole_structs {
        #[topology(per = node)]
        points: crate::shapes::Point,
    } (v: Node, graph: &Csr, points: &Records<crate::shapes::Point>, to: &mut u32) {
        let mut sum_x = 0.0;
        let mut sum_y = 0.0;
        let mut sum_w = 0;
        for n in graph.neighbors(v) {
            let p = points.get(n);
            sum_x += p.x;
            sum_y += p.y;
            sum_w += p.w;
        }
        *to = sum_w + sum_x as u32 + sum_y as u32;
    }

    /// The same of arrays.
    whole_arrays {
        #[topology(per = node)]
        x: f32,
        #[topology(per = node)]
        y: f32,
        #[topology(per = node)]
        w: u32,
    } (v: Node, graph: &Csr, x: &Buf<f32>, y: &Buf<f32>, w: &Buf<u32>, to: &mut u32) {
        let mut sum_x = 0.0;
        let mut sum_y = 0.0;
        let mut sum_w = 0;
        for n in graph.neighbors(v) {
            sum_x += x[n];
            sum_y += y[n];
            sum_w += w[n];
        }
        *to = sum_w + sum_x as u32 + sum_y as u32;
    }

    /// One field.
    one_structs {
        #[topology(per = node)]
        points: crate::shapes::Point,
    } (v: Node, graph: &Csr, points: &Records<crate::shapes::Point>, to: &mut u32) {
        let mut sum_w = 0;
        for n in graph.neighbors(v) {
            sum_w += points.get(n).w;
        }
        *to = sum_w;
    }

    /// One array.
    one_arrays {
        #[topology(per = node)]
        w: u32,
    } (v: Node, graph: &Csr, w: &Buf<u32>, to: &mut u32) {
        let mut sum_w = 0;
        for n in graph.neighbors(v) {
            sum_w += w[n];
        }
        *to = sum_w;
    }
}

/// Rows that a run is given.
#[wave_graph]
mod given_structs {
    use crate::shapes::Point;

    pub struct Data {
        #[input(per = n)]
        from: Point,
        #[reduce(sum)]
        sum: u64,
        n: u32,
    }

    #[wave(range(n))]
    fn turn(from: &Point, sum: &Reduce<Sum<u64>>) {
        sum.add(u64::from(from.w + from.x as u32 + from.y as u32));
    }
}

/// Rows that a run is given.
#[wave_graph]
mod given_arrays {
    pub struct Data {
        #[input(per = n)]
        x: f32,
        #[input(per = n)]
        y: f32,
        #[input(per = n)]
        w: u32,
        #[reduce(sum)]
        sum: u64,
        n: u32,
    }

    #[wave(range(n))]
    fn turn(x: &f32, y: &f32, w: &u32, sum: &Reduce<Sum<u64>>) {
        sum.add(u64::from(*w + *x as u32 + *y as u32));
    }
}

/// Rows that a run returns.
#[wave_graph]
mod returned_structs {
    use crate::shapes::Point;

    pub struct Data {
        #[output(per = n)]
        to: Point,
        n: u32,
    }

    #[wave(range(n))]
    fn turn(i: Index, to: &mut Point) {
        to.w = i;
        to.x = i as f32;
        to.y = to.x * 0.5;
    }
}

/// Rows that a run returns.
#[wave_graph]
mod returned_arrays {
    pub struct Data {
        #[output(per = n)]
        to_x: f32,
        #[output(per = n)]
        to_y: f32,
        #[output(per = n)]
        to_w: u32,
        n: u32,
    }

    #[wave(range(n))]
    fn turn(i: Index, to_x: &mut f32, to_y: &mut f32, to_w: &mut u32) {
        *to_w = i;
        *to_x = i as f32;
        *to_y = *to_x * 0.5;
    }
}

/// The shortest of many runs of each, in turn, and whether their results agree.
fn ratio<T: PartialEq + std::fmt::Debug>(
    name: &str,
    mut structs: impl FnMut() -> T,
    mut arrays: impl FnMut() -> T,
) {
    let (mut with_structs, mut with_arrays) = (Duration::MAX, Duration::MAX);
    for _ in 0..60 {
        let started = Instant::now();
        let ours = structs();
        with_structs = with_structs.min(started.elapsed());
        let started = Instant::now();
        let theirs = arrays();
        with_arrays = with_arrays.min(started.elapsed());
        assert_eq!(ours, theirs, "{name}");
    }
    let ratio = with_structs.as_secs_f64() / with_arrays.as_secs_f64();
    println!("{name}: {with_structs:?} beside {with_arrays:?}, {ratio:.2}");
}

fn main() {
    const NODES: u32 = 1 << 16;
    const ROUNDS: u32 = 50;
    let native = Runtime::native();
    let mix = |k: u32| k.wrapping_mul(0x9E37_79B9) >> 7;
    let edges: Vec<(u32, u32)> = (0..8 * NODES).map(|k| (k / 8, mix(k) % NODES)).collect();
    let graph = Csr::from_edges(NODES as usize, &edges).expect("edges name nodes");
    let x: Vec<f32> = (0..NODES).map(|v| (mix(v) % 64) as f32).collect();
    let y: Vec<f32> = (0..NODES).map(|v| (mix(v + 7) % 64) as f32).collect();
    let w: Vec<u32> = (0..NODES).map(|v| mix(v) % 1024).collect();
    let points: Vec<Point> = (0..NODES as usize)
        .map(|v| Point {
            x: x[v],
            y: y[v],
            w: w[v],
        })
        .collect();
    let fits = "it fits";
    let rounds = ROUNDS;

    let topology = own_structs::Topology {
        graph: &graph,
        from: &points,
    };
    let mut structs = own_structs::Session::new(&native, topology).expect(fits);
    let topology = own_arrays::Topology {
        graph: &graph,
        x: &x,
        y: &y,
        w: &w,
    };
    let mut arrays = own_arrays::Session::new(&native, topology).expect(fits);
    ratio(
        "own element",
        || {
            structs
                .run(own_structs::Run { rounds })
                .expect("no trap")
                .sum
        },
        || arrays.run(own_arrays::Run { rounds }).expect("no trap").sum,
    );

    let topology = whole_structs::Topology {
        graph: &graph,
        points: &points,
    };
    let mut structs = whole_structs::Session::new(&native, topology).expect(fits);
    let topology = whole_arrays::Topology {
        graph: &graph,
        x: &x,
        y: &y,
        w: &w,
    };
    let mut arrays = whole_arrays::Session::new(&native, topology).expect(fits);
    ratio(
        "whole records",
        || {
            structs
                .run(whole_structs::Run { rounds })
                .expect("no trap")
                .sum
        },
        || {
            arrays
                .run(whole_arrays::Run { rounds })
                .expect("no trap")
                .sum
        },
    );

    let topology = one_structs::Topology {
        graph: &graph,
        points: &points,
    };
    let mut structs = one_structs::Session::new(&native, topology).expect(fits);
    let topology = one_arrays::Topology {
        graph: &graph,
        w: &w,
    };
    let mut arrays = one_arrays::Session::new(&native, topology).expect(fits);
    ratio(
        "one field",
        || {
            structs
                .run(one_structs::Run { rounds })
                .expect("no trap")
                .sum
        },
        || arrays.run(one_arrays::Run { rounds }).expect("no trap").sum,
    );

    let n = NODES;
    let mut structs = given_structs::Session::new(&native, ()).expect(fits);
    let mut arrays = given_arrays::Session::new(&native, ()).expect(fits);
    let from = &points;
    let mut given = || {
        let run = given_structs::Run { from, n };
        structs.run(run).expect("no trap").sum
    };
    let mut beside = |x: &[f32], y: &[f32], w: &[u32]| {
        let run = given_arrays::Run { x, y, w, n };
        arrays.run(run).expect("no trap").sum
    };
    ratio("rows given, beside arrays", &mut given, || {
        beside(&x, &y, &w)
    });
    let (mut to_x, mut to_y, mut to_w) = (x.clone(), y.clone(), w.clone());
    ratio(
        "rows given, beside rows that the caller takes apart",
        &mut given,
        || {
            to_x.clear();
            to_x.extend(from.iter().map(|p| p.x));
            to_y.clear();
            to_y.extend(from.iter().map(|p| p.y));
            to_w.clear();
            to_w.extend(from.iter().map(|p| p.w));
            beside(&to_x, &to_y, &to_w)
        },
    );

    let mut structs = returned_structs::Session::new(&native, ()).expect(fits);
    let mut arrays = returned_arrays::Session::new(&native, ()).expect(fits);
    let last = n as usize - 1;
    let mut out = returned_structs::Output::default();
    let mut returned = || {
        let run = returned_structs::Run { n };
        structs.run_into(run, &mut out).expect("no trap");
        let p = out.to[last];
        (p.x, p.y, p.w)
    };
    let mut columns = returned_arrays::Output::default();
    let mut rows = Vec::new();
    let mut beside = |together: bool| {
        let run = returned_arrays::Run { n };
        arrays.run_into(run, &mut columns).expect("no trap");
        if together {
            rows.clear();
            rows.extend((0..n as usize).map(|i| Point {
                x: columns.to_x[i],
                y: columns.to_y[i],
                w: columns.to_w[i],
            }));
            let p = rows[last];
            return (p.x, p.y, p.w);
        }
        (columns.to_x[last], columns.to_y[last], columns.to_w[last])
    };
    ratio("rows returned, beside arrays", &mut returned, || {
        beside(false)
    });
    ratio(
        "rows returned, beside rows that the caller puts together",
        &mut returned,
        || beside(true),
    );
}
