//! The kernel language from source to results: each pass runs natively and on the VIR0 interpreter, with equal results.
#![deny(warnings)]
#![deny(clippy::all)]
#![allow(
    clippy::explicit_counter_loop,
    reason = "bodies are written as users write them"
)]

use vyre::prelude::*;
use vyre::{Error, TrapKind};
use vyre_tests::backend_tests;
use vyre_tests::graphs::chain;
use vyre_tests::random::Random;

/// Structs, their methods, arrays of them, and constants of all of these.
#[wave_graph]
mod bodies {
    pub(crate) const STEPS: usize = 4;
    pub(crate) const WEIGHTS: [f64; STEPS] = [0.5, 0.25, 0.125, 0.125];

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Body {
        place: Vector,
        mass: f64,
    }

    #[device]
    mod vectors {
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) struct Vector {
            pub(crate) x: f64,
            pub(crate) y: f64,
        }

        pub(crate) const ZERO: Vector = Vector { x: 0.0, y: 0.0 };

        impl Vector {
            pub(crate) const UNIT: f64 = 1.0;

            pub(crate) fn plus(self, other: Vector) -> Vector {
                Vector {
                    x: self.x + other.x,
                    y: self.y + other.y,
                }
            }

            pub(crate) fn scale(&mut self, by: f64) {
                self.x *= by;
                self.y *= by;
            }
        }
    }
    use vectors::Vector;

    impl Body {
        fn new(v: u32) -> Self {
            let place = Vector {
                x: f64::from(v),
                y: Vector::UNIT,
            };
            Body { place, mass: 2.0 }
        }
    }

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        x: f64,
        #[output(per = node)]
        y: f64,
    }

    #[wave(nodes)]
    fn mean(v: Node, graph: &Csr, x: &mut f64, y: &mut f64) {
        let mut all = [Body::new(v); STEPS];
        let mut n = 1;
        for w in graph.neighbors(v) {
            if n == all.len() {
                break;
            }
            all[n].place = Body::new(w).place;
            n += 1;
        }
        let mut sum = vectors::ZERO;
        for k in 0..STEPS {
            let mut part = all[k].place;
            part.scale(WEIGHTS[k] * all[k].mass);
            sum = sum.plus(part);
        }
        *x = sum.x;
        *y = sum.y;
    }
}

fn structs_and_arrays_are_values(runtime: &Runtime) {
    let graph = chain(50);
    let mut session = bodies::Session::new(runtime, &graph).expect("the graph fits");
    let out = session.run(bodies::Run {}).expect("no trap");
    for v in 0..50 {
        let next = if v == 49 { 49.0 } else { f64::from(v) + 1.0 };
        let expected = 2.0 * (0.5 * f64::from(v) + 0.25 * next + 0.25 * f64::from(v));
        assert_eq!((out.x[v as usize], out.y[v as usize]), (expected, 2.0));
    }
}

/// Sorts eight numbers in registers.
#[kernel]
fn sort8(i: Index, xs: &Buf<u32>, smallest: &mut u32, median: &mut u32) {
    struct Window {
        values: [u32; 8],
        len: u32,
    }
    impl Window {
        fn sort(&mut self) {
            for k in 1..self.values.len() {
                let mut n = k;
                while n > 0 && self.values[n - 1] > self.values[n] {
                    self.values.swap(n - 1, n);
                    n -= 1;
                }
            }
        }
    }
    let mut w = Window {
        values: [u32::MAX; 8],
        len: 0,
    };
    for k in i..(i + 8).min(xs.len()) {
        w.values[w.len as usize] = xs[k];
        w.len += 1;
    }
    w.sort();
    *smallest = w.values[0];
    *median = w.values[(w.len / 2) as usize];
}

fn a_kernel_has_structs_in_its_body(runtime: &Runtime) {
    let xs: Vec<u32> = (0..1000u32)
        .map(|k| k.wrapping_mul(0x9e37_79b9) >> 20)
        .collect();
    let (mut smallest, mut median) = (vec![0; 1000], vec![0; 1000]);
    sort8::run(runtime, &xs, &mut smallest, &mut median).expect("no trap");
    for i in 0..1000 {
        let mut window = xs[i..(i + 8).min(1000)].to_vec();
        window.sort_unstable();
        assert_eq!(smallest[i], window[0]);
        assert_eq!(median[i], window[window.len() / 2]);
    }
}

#[kernel]
fn beyond(i: Index, y: &mut u32) {
    let table = [1, 2, 3];
    *y = table[(i / 100) as usize];
}

fn array_indices_trap_alike(runtime: &Runtime) {
    let traps = [&Runtime::native(), runtime].map(|runtime| {
        match beyond::run(runtime, &mut [0; 400]).expect_err("the index runs out") {
            Error::Trap(trap) => trap,
            other => panic!("{other}"),
        }
    });
    assert_eq!(traps[0].kind, TrapKind::IndexOutOfBounds);
    assert_eq!(
        (traps[0].item, traps[0].index, traps[0].len),
        (Some(300), 3, 3)
    );
    assert_eq!(traps[0].site, traps[1].site);
    assert_eq!(
        (traps[1].item, traps[1].index, traps[1].len),
        (Some(300), 3, 3)
    );
}

#[kernel]
fn approximate(_i: Index, x: &f64, y: &f32, fine: &mut f64, coarse: &mut f32) {
    *fine = (*x).exp().ln() + x.sin() * x.sin() + x.cos() * x.cos();
    *coarse = (*y).exp().ln() + y.sin() * y.sin() + y.cos() * y.cos();
}

mod sorted {
    use vyre::prelude::*;

    #[device]
    pub(crate) fn between(x: u32, low: u32, high: u32) -> u32 {
        assert!(low <= high, "bounds are {{low, high}}");
        x.clamp(low, high)
    }
}

#[kernel]
fn says(i: Index, way: u32, y: &mut u32) {
    if i < 3 {
        return;
    }
    match way {
        0 => assert!(*y > way, "not above"),
        1 => debug_assert!(*y > 5),
        2 => assert_eq!(*y, i, "neither"),
        3 => panic!("attempt to divide by zero"),
        4 => unreachable!("really"),
        5 => assert_ne!(
            *y, 0,
            "index out of bounds: the len is 3 but the index is 4"
        ),
        6 => *y = sorted::between(*y, i, 2),
        7 => todo!(),
        8 => *y = y.ilog2(),
        9 => debug_assert!(*y > 5, "small"),
        _ => panic!(),
    }
}

fn messages_are_carried(runtime: &Runtime) {
    use TrapKind::{Assert, Panic};
    let expected = [
        (Assert, Some("not above")),
        (Assert, None),
        (Assert, Some("neither")),
        (Panic, Some("attempt to divide by zero")),
        (
            Panic,
            Some("internal error: entered unreachable code: really"),
        ),
        (
            Assert,
            Some("index out of bounds: the len is 3 but the index is 4"),
        ),
        (Assert, Some("bounds are {low, high}")),
        (Panic, Some("not yet implemented")),
        (Panic, None),
        (Assert, Some("small")),
        (Panic, None),
    ];
    for (way, expected) in (0..).zip(expected) {
        if matches!(way, 1 | 9) && !cfg!(debug_assertions) {
            continue;
        }
        let traps = [&Runtime::native(), runtime].map(|runtime| {
            match says::run(runtime, way, &mut [0; 6]).expect_err("each way ends in a trap") {
                Error::Trap(mut trap) => {
                    trap.lane = None;
                    trap
                }
                other => panic!("{other}"),
            }
        });
        assert_eq!(traps[0], traps[1]);
        let trap = &traps[0];
        assert_eq!((trap.kind, trap.message.as_deref()), expected);
        assert_eq!((trap.item, trap.index, trap.len), (Some(3), 0, 0));
    }
}

/// Buffers of structs: every role, own elements and whole buffers, nested structs, tuples, swapped in a fixpoint.
#[wave_graph]
mod springs {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Vector {
        pub(crate) x: f64,
        pub(crate) y: f64,
    }

    impl Vector {
        const ZERO: Vector = Vector { x: 0.0, y: 0.0 };

        fn plus(self, other: Vector) -> Vector {
            Vector {
                x: self.x + other.x,
                y: self.y + other.y,
            }
        }

        fn scale(&mut self, by: f64) {
            self.x *= by;
            self.y *= by;
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Body {
        pub(crate) place: Vector,
        pub(crate) moves: u32,
        pub(crate) fixed: bool,
        pub(crate) kind: u8,
    }

    const START: Body = Body {
        place: Vector::ZERO,
        moves: 7,
        fixed: false,
        kind: 250,
    };

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        anchor: Vector,
        #[topology(per = edge(graph))]
        spring: (f64, u32),
        #[input(per = node)]
        given: Body,
        #[scratch(per = node)]
        before: Vector,
        #[scratch(per = node)]
        after: Vector,
        #[output(per = node, init = START)]
        body: Body,
        #[output(per = 2, init = (1, -1))]
        pair: (u32, i32),
        #[output(per = edge(graph))]
        pull: Vector,
        rounds: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, given: &Body, anchor: &Vector, body: &mut Body, before: &mut Vector) {
        *before = given.place.plus(*anchor);
        if v % 3 == 2 {
            return;
        }
        let kept = body.moves;
        *body = *given;
        body.moves += kept;
        body.kind = body.kind.wrapping_add(10);
        if v == 0 {
            body.place.scale(2.0);
            *body = Body {
                fixed: true,
                ..*body
            };
        }
    }

    #[fixpoint(after(init), until(round + 1 >= rounds), swap(before, after))]
    mod steps {
        #[wave(nodes)]
        fn step(
            v: Node,
            graph: &Csr,
            spring: &Records<(f64, u32)>,
            before: &Records<Vector>,
            body: &Body,
            after: &mut Vector,
        ) {
            let mut sum = before.get(v);
            for e in graph.edges(v) {
                let (force, every) = spring.get(e);
                if every != 0 {
                    sum.x += before.get(graph.target(e)).x * force;
                    sum.y -= spring.get(e).0;
                }
            }
            sum.scale(if body.fixed { 1.0 } else { 0.5 });
            // Parts that change places.
            *after = sum;
            *after = Vector {
                x: after.y,
                y: after.x,
            };
        }
    }

    #[wave(edges(graph), after(steps))]
    fn measure(e: Edge, before: &Records<Vector>, pull: &mut Vector) {
        let (from, to) = (before.get(e.src), before.get(e.dst));
        *pull = Vector {
            x: from.x - to.x,
            ..Vector::ZERO
        };
        pull.y = f64::from(before.len());
    }

    #[wave(range(2))]
    fn count(i: Index, pair: &mut (u32, i32)) {
        pair.0 += i;
        pair.1 -= pair.0 as i32;
    }
}

fn buffers_hold_structs(runtime: &Runtime) {
    use springs::{Body, Run, Topology, Vector};
    let n = 40;
    let edges: Vec<(u32, u32)> = (0..3 * n).map(|k| (k % n, k * k % n)).collect();
    let graph = Csr::from_edges(n as usize, &edges).expect("edges name nodes");
    let vector = |k: u32| Vector {
        x: f64::from(k) / 4.0,
        y: -f64::from(k % 5),
    };
    let anchor: Vec<Vector> = (0..n).map(|v| vector(100 - v)).collect();
    let spring: Vec<(f64, u32)> = (0..3 * n).map(|e| (f64::from(e) / 8.0, e % 3)).collect();
    let given: Vec<Body> = (0..n)
        .map(|v| Body {
            place: vector(v),
            moves: v,
            fixed: v % 2 == 0,
            kind: 240 + (v % 16) as u8,
        })
        .collect();
    let rounds = 3;
    let topology = || Topology {
        graph: &graph,
        anchor: &anchor,
        spring: &spring,
    };
    // By hand.
    let mut body = vec![
        Body {
            place: Vector { x: 0.0, y: 0.0 },
            moves: 7,
            fixed: false,
            kind: 250,
        };
        n as usize
    ];
    let mut place = Vec::new();
    for v in 0..n as usize {
        place.push(Vector {
            x: given[v].place.x + anchor[v].x,
            y: given[v].place.y + anchor[v].y,
        });
        if v % 3 != 2 {
            body[v] = given[v];
            body[v].moves += 7;
            body[v].kind = body[v].kind.wrapping_add(10);
        }
    }
    body[0].place.x *= 2.0;
    body[0].place.y *= 2.0;
    body[0].fixed = true;
    for _ in 0..rounds {
        let step = |v: u32| {
            let mut sum = place[v as usize];
            for e in graph.edges(v) {
                let (force, every) = spring[e as usize];
                if every != 0 {
                    sum.x += place[graph.target(e) as usize].x * force;
                    sum.y -= force;
                }
            }
            let by = if body[v as usize].fixed { 1.0 } else { 0.5 };
            Vector {
                x: sum.y * by,
                y: sum.x * by,
            }
        };
        place = (0..n).map(step).collect();
    }
    let mut session = springs::Session::new(runtime, topology()).expect("it fits");
    let run = Run {
        given: &given,
        rounds,
    };
    let out = session.run(run).expect("no trap");
    assert_eq!(out.body, body);
    assert_eq!(out.pair, [(1, -2), (2, -3)]);
    for v in 0..n {
        for e in graph.edges(v) {
            let to = graph.target(e) as usize;
            let expected = Vector {
                x: place[v as usize].x - place[to].x,
                y: f64::from(n),
            };
            assert_eq!(out.pull[e as usize], expected);
        }
    }
    // Queries of a batch, and a topology that changes.
    let query = session.submit(run, 0);
    let batch = session.run_batch().expect("it runs");
    assert_eq!(batch.results[0].0, query);
    assert_eq!(batch.results[0].1.as_ref().expect("no trap").body, body);
    session.update(topology()).expect("it fits");
    assert_eq!(session.run(run).expect("no trap").pull, out.pull);
    let short = Run {
        given: &given[1..],
        rounds,
    };
    let error = session.run(short).expect_err("too short").to_string();
    assert_eq!(
        error,
        "`given` has 39 elements; the pass needs 40 (per = node, 40 nodes)"
    );
}

/// Grows a list round by round, until it is long enough.
#[wave_graph]
mod grows {
    struct Data {
        #[topology]
        graph: Csr,
        #[list(capacity = 1_000, output)]
        found: List<(u32, u64)>,
        #[list(capacity = 10)]
        never: List<u32>,
        #[output(per = 1)]
        steps: u32,
        enough: u32,
    }

    #[fixpoint(until(found.len() >= enough && never.len() <= round), max_rounds = 50)]
    mod rounds {
        #[wave(once)]
        fn count(steps: &mut u32) {
            *steps += 1;
        }

        #[wave(nodes)]
        fn find(v: Node, round: Round, found: &Append<(u32, u64)>, never: &Append<u32>) {
            if v <= round {
                found.append((v, u64::from(round) << 40));
            }
            if v > 1_000 {
                never.append(v);
            }
        }
    }
}

fn a_condition_sees_lists(runtime: &Runtime) {
    let graph = chain(9);
    let mut session = grows::Session::new(runtime, &graph).expect("it fits");
    for (enough, steps, len) in [(0, 1, 1), (1, 1, 1), (2, 2, 3), (15, 5, 15), (60, 11, 63)] {
        let out = session.run(grows::Run { enough }).expect("no trap");
        assert_eq!((out.steps[0], out.found.len()), (steps, len));
        assert_eq!(out.report.rounds, [u64::from(steps)]);
    }
    match session.run(grows::Run { enough: 1_001 }) {
        Err(Error::Trap(trap)) => assert_eq!(trap.kind, TrapKind::RoundLimit),
        other => panic!("{other:?}"),
    }
}

fn approximate_functions_are_near(runtime: &Runtime) {
    let x: Vec<f64> = (0..1000).map(|k| f64::from(k) / 50.0).collect();
    let y: Vec<f32> = (0..1000).map(|k| k as f32 / 50.0).collect();
    let (mut fine, mut coarse) = (vec![0.0; 1000], vec![0.0; 1000]);
    approximate::run(runtime, &x, &y, &mut fine, &mut coarse).expect("equal lengths");
    for k in 0..1000 {
        assert!((fine[k] - x[k] - 1.0).abs() < 1e-12, "{k}: {}", fine[k]);
        assert!((coarse[k] - y[k] - 1.0).abs() < 1e-4, "{k}: {}", coarse[k]);
    }
}

/// Lists, and frontiers whose items are structs: numbers fall to 1 by the rule of Collatz, every step is logged.
#[wave_graph]
mod falling {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Task {
        pub(crate) value: u64,
        pub(crate) node: u32,
    }

    impl Task {
        fn next(self) -> Task {
            let value = match self.value % 2 {
                0 => self.value / 2,
                _ => 3 * self.value + 1,
            };
            Task { value, ..self }
        }
    }

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[frontier(capacity = node)]
        work: Frontier<Task>,
        #[frontier(capacity = 1000)]
        odd: Frontier<(u32, f32)>,
        #[list(capacity = room, output)]
        log: List<Task>,
        #[list(capacity = node, output)]
        starts: List<u32>,
        #[output(per = node)]
        slot: u32,
        #[output(per = node)]
        steps: u32,
        #[output(per = node)]
        seen: u32,
        #[output(per = node)]
        weight: f32,
        room: u32,
    }

    #[wave(nodes)]
    fn seed(v: Node, slot: &mut u32, starts: &Append<u32>, work: &Push<Task>) {
        *slot = starts.append(v + 1);
        let task = Task {
            value: u64::from(v) + 1,
            node: v,
        };
        if task.value > 1 {
            work.push(task);
        }
    }

    #[device]
    fn note(task: Task, log: &Append<Task>) -> u32 {
        log.append(task)
    }

    #[fixpoint(after(seed), until(work.is_empty()), max_rounds = 1000)]
    mod rounds {
        #[wave(items(work))]
        fn step(task: Task, work: &Push<Task>, odd: &Push<(u32, f32)>, log: &Append<Task>) {
            let next = task.next();
            note(next, log);
            if next.value % 2 == 1 {
                odd.push((next.node, 0.5));
            }
            if next.value != 1 {
                work.push(next);
            }
        }

        /// What was pushed in the round before.
        #[wave(items(odd))]
        fn weigh(item: (u32, f32), weight: &Buf<Atomic<f32>>) {
            let (node, by) = item;
            weight[node].fetch_add(by);
        }

        #[wave(items(log, new), after(step))]
        fn count(task: Task, steps: &Buf<Atomic<u32>>) {
            steps[task.node].fetch_add(1);
        }
    }

    #[wave(items(starts), after(rounds))]
    fn look(start: u32, seen: &Buf<Atomic<u32>>) {
        seen[start - 1].fetch_add(start);
    }
}

fn lists_and_frontiers_hold_structs(runtime: &Runtime) {
    let n = 60;
    let graph = chain(n);
    let path = |v: u32| {
        let mut value = u64::from(v) + 1;
        std::iter::from_fn(move || {
            value = match value {
                1 => return None,
                even if even % 2 == 0 => even / 2,
                odd => 3 * odd + 1,
            };
            Some(value)
        })
    };
    let room = (0..n).map(|v| path(v).count() as u32).sum();
    let mut session = falling::Session::new(runtime, &graph).expect("the graph fits");
    for _ in 0..2 {
        let out = session.run(falling::Run { room }).expect("no trap");
        let mut starts = out.starts.clone();
        for v in 0..n {
            let steps: Vec<u64> = path(v).collect();
            assert_eq!(out.steps[v as usize], steps.len() as u32);
            let logged = out.log.iter().filter(|t| t.node == v).map(|t| t.value);
            assert_eq!(logged.collect::<Vec<_>>(), steps);
            assert_eq!(starts[out.slot[v as usize] as usize], v + 1);
            assert_eq!(out.seen[v as usize], v + 1);
        }
        starts.sort_unstable();
        assert!(starts.into_iter().eq(1..=n));
    }
    let error = session
        .run(falling::Run { room: room - 1 })
        .expect_err("the list is one too small");
    let Error::Trap(trap) = error else {
        panic!("{error}");
    };
    assert_eq!(
        (trap.index, trap.len),
        (u64::from(room), u64::from(room) - 1)
    );
}

/// Which variables are live before each node: what it uses, and what its successors need and it does not set.
#[wave_graph]
mod liveness {
    pub(crate) const VARIABLES: u32 = 70;

    struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node, bits = VARIABLES)]
        sets: Bits,
        #[input(per = node, bits = variables)]
        uses: Bits,
        #[output(per = node, bits = variables)]
        live: Bits,
        #[output(per = node)]
        used: u32,
        #[reduce(or)]
        changed: bool,
        variables: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, uses: &Bits, live: &Bits, used: &mut u32) {
        live.or_from(v, uses, v);
        for b in uses.ones(v) {
            *used += b;
        }
    }

    #[fixpoint(after(init), until(!changed), max_rounds = 100)]
    mod rounds {
        #[wave(edges(graph))]
        fn flow(e: Edge, sets: &Bits, live: &Bits, changed: &Reduce<Or<bool>>) {
            for k in 0..live.words() {
                let through = live.word(e.dst, k) & !sets.word(e.src, k);
                if through & !live.or_word(e.src, k, through) != 0 {
                    changed.or(true);
                }
            }
        }
    }
}

fn rows_of_bits_are_given(runtime: &Runtime) {
    const NODES: u32 = 20;
    let graph = chain(NODES);
    let rows = |bit: fn(u32) -> u32| {
        let rows = vyre::__private::Bits::new(NODES, liveness::VARIABLES);
        for v in 0..NODES {
            rows.set(v, bit(v));
        }
        rows.into_words()
    };
    // Node v sets variable 3 * v and uses variable 5 * v % 70.
    let (sets, uses) = (rows(|v| 3 * v), rows(|v| 5 * v % 70));
    let topology = liveness::Topology {
        graph: &graph,
        sets: &sets,
    };
    let mut session = liveness::Session::new(runtime, topology).expect("it fits");
    for given in [&uses, &vec![0; uses.len()], &uses] {
        let run = liveness::Run {
            uses: given,
            variables: liveness::VARIABLES,
        };
        let out = session.run(run).expect("no trap");
        let mut after = std::collections::BTreeSet::new();
        for v in (0..NODES).rev() {
            after.remove(&(3 * v));
            if given == &uses {
                after.insert(5 * v % 70);
                assert_eq!(out.used[v as usize], 5 * v % 70);
            }
            assert!(out.live.ones(v).eq(after.iter().copied()), "node {v}");
        }
    }
    let short = liveness::Run {
        uses: &uses[1..],
        variables: liveness::VARIABLES,
    };
    let error = session.run(short).expect_err("a word is missing");
    let error = error.to_string();
    assert!(error.contains("59") && error.contains("60"), "{error}");
}

/// Rows whose width is a literal, a constant, and a scalar of the run, and words with all bits for each of them.
#[wave_graph]
mod tails {
    pub(crate) const WIDTH: u32 = 33;

    struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, bits = 40)]
        fixed: Bits,
        #[output(per = node, bits = WIDTH)]
        constant: Bits,
        #[output(per = node, bits = width)]
        scalar: Bits,
        #[scratch(per = node, bits = width)]
        copy: Bits,
        #[output(per = node)]
        sum: u32,
        width: u32,
    }

    #[wave(nodes)]
    fn fill(v: Node, fixed: &Bits, constant: &Bits, scalar: &Bits, copy: &Bits, sum: &mut u32) {
        fixed.store_word(v, 0, u32::MAX);
        fixed.store_word(v, 1, !v);
        constant.set(v, 32);
        let old = constant.or_word(v, 1, u32::MAX);
        for k in 0..scalar.words() {
            copy.or_word(v, k, u32::MAX);
            // The complement of one row less another one: what is beyond the width stays out by itself, or is dropped.
            let word = copy.word(v, k) & !fixed.word(v, k / 2);
            scalar.store_word(v, k, word);
            scalar.or_word(v, k, !fixed.word(v, k / 2) ^ u32::MAX);
            let none = 0;
            scalar.store_word(v, k, scalar.word(v, k) ^ none);
        }
        for bit in scalar.ones(v) {
            *sum += bit;
        }
        *sum += 1000 * scalar.count(v) + 100_000 * (old + constant.word(v, 1));
    }
}

fn rows_have_no_bits_beyond_their_width(runtime: &Runtime) {
    let graph = chain(3);
    let mut session = tails::Session::new(runtime, &graph).expect("it fits");
    for width in [1, 31, 32, 37, 64] {
        let out = session.run(tails::Run { width }).expect("no trap");
        let words = |rows: &vyre::__private::Bits| rows.clone().into_words();
        let all = |n: u32| if n == 32 { u32::MAX } else { (1 << n) - 1 };
        for v in 0..3 {
            let row =
                |rows, words_of: usize| words(rows)[v as usize * words_of..][..words_of].to_vec();
            assert_eq!(row(&out.fixed, 2), [u32::MAX, !v & 0xff], "of {width}");
            assert_eq!(row(&out.constant, 2), [0, 1], "of {width}");
            let expected: Vec<u32> = (0..width.div_ceil(32))
                .map(|k| all((width - 32 * k).min(32)))
                .collect();
            assert_eq!(row(&out.scalar, expected.len()), expected, "of {width}");
            let sum = (0..width).sum::<u32>() + 1000 * width + 200_000;
            assert_eq!(out.sum[v as usize], sum, "of {width}");
        }
    }
}

/// Rows that the caller gives, by each way in.
#[wave_graph]
mod given {
    struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node, bits = 40)]
        known: Bits,
        #[input(per = node, bits = width)]
        asked: Bits,
        #[output(per = node)]
        count: u32,
        width: u32,
    }

    #[wave(nodes)]
    fn add(v: Node, known: &Bits, asked: &Bits, count: &mut u32) {
        *count = 100 * known.count(v) + asked.count(v);
    }
}

fn rows_that_are_given_have_no_bits_beyond_their_width(runtime: &Runtime) {
    let graph = chain(3);
    let known = [1, 0, 0, 0x80, u32::MAX, 0xff];
    let topology = given::Topology {
        graph: &graph,
        known: &known,
    };
    let mut session = given::Session::new(runtime, topology).expect("it fits");
    let counts = |session: &mut given::Session, asked: &[u32], width| {
        let out = session.run(given::Run { asked, width });
        out.map(|out| out.count).map_err(|e| e.to_string())
    };
    assert_eq!(
        counts(&mut session, &[1, 3, 7], 3),
        Ok(vec![101, 102, 4003])
    );
    let error = "bit 3 of row 1 of `asked` is set; its rows have 3 bits";
    assert_eq!(counts(&mut session, &[1, 0x88, 8], 3), Err(error.into()));
    // As wide as the run says.
    assert_eq!(
        counts(&mut session, &[1, 8, 0], 4),
        Ok(vec![101, 101, 4000])
    );
    let error = "bit 63 of row 2 of `asked` is set; its rows have 33 bits";
    let wide = [0, 1, 0, 0, 0, 1 << 31];
    assert_eq!(counts(&mut session, &wide, 33), Err(error.into()));

    let dirty = [1, 0, 0, 0x180, 0, 0];
    let error = "bit 40 of row 1 of `known` is set; its rows have 40 bits";
    let topology = || given::Topology {
        graph: &graph,
        known: &dirty,
    };
    let made = given::Session::new(runtime, topology());
    assert_eq!(made.err().map(|e| e.to_string()), Some(error.into()));
    let updated = session.update(topology());
    assert_eq!(updated.err().map(|e| e.to_string()), Some(error.into()));
    // As it was before.
    assert_eq!(
        counts(&mut session, &[1, 3, 7], 3),
        Ok(vec![101, 102, 4003])
    );
}

/// What a loop over a row's bits visits while it changes the row.
#[wave_graph]
mod growing {
    struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, bits = 100)]
        row: Bits,
        #[output(per = 100)]
        seen: u32,
    }

    #[wave(once)]
    fn walk(row: &Bits, seen: &Buf<Atomic<u32>>) {
        row.set(0, 3);
        row.set(0, 70);
        row.set(0, 71);
        let mut turn = 0;
        for bit in row.ones(0) {
            turn += 1;
            seen[bit].store(turn);
            row.set(0, 1); // the word that is being walked, behind
            row.set(0, 5); // and ahead: not seen
            row.set(0, 40); // a later word: seen
            row.unset(0, 70); // and no longer there
            if bit == 40 {
                row.set(0, 33); // walked now
                row.set(0, 99); // later
            }
        }
    }
}

fn ones_sees_each_word_as_it_is_when_the_words_before_are_through(runtime: &Runtime) {
    let graph = chain(1);
    let mut session = growing::Session::new(runtime, &graph).expect("it fits");
    let out = session.run(growing::Run {}).expect("no trap");
    let mut expected = [0; 100];
    for (turn, bit) in (1..).zip([3, 40, 71, 99]) {
        expected[bit] = turn;
    }
    assert_eq!(out.seen, expected);
    assert!(out.row.ones(0).eq([1, 3, 5, 33, 40, 71, 99]));
}

/// One way to miss each kind of field.
#[wave_graph]
mod missing {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Point {
        pub(crate) x: u32,
        pub(crate) y: u32,
    }

    struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[input(per = n)]
        dist: u32,
        #[input(per = node)]
        points: Point,
        #[scratch(per = node, bits = width)]
        rows: Bits,
        #[scratch(per = node, bits = width)]
        others: Bits,
        #[scratch(per = 3)]
        three: u32,
        #[frontier]
        front: Frontier,
        #[frontier(capacity = room)]
        pairs: Frontier<u32>,
        #[list(capacity = room)]
        log: List<u32>,
        #[list(capacity = 2)]
        short: List<u32>,
        #[reduce(sum)]
        sum: u32,
        way: u32,
        at: u32,
        n: u32,
        width: u32,
        room: u32,
        room_for_all: u32,
    }

    #[wave(once)]
    fn reads(
        way: u32,
        at: u32,
        graph: &Csr,
        weight: &Buf<u32>,
        dist: &Buf<u32>,
        points: &Records<Point>,
        three: &Buf<Atomic<u32>>,
        sum: &Reduce<Sum<u32>>,
    ) {
        match way {
            0 => sum.add(dist[at]),
            1 => sum.add(weight[at]),
            2 => sum.add(points.get(at).y),
            3 => three[at].store(1),
            4 => sum.add(graph.degree(at)),
            5 => sum.add(graph.target(at)),
            6 => {
                let local = [1, 2, 3];
                sum.add(local[at as usize]);
            }
            _ => {}
        }
    }

    #[wave(once)]
    fn rowed(way: u32, at: u32, rows: &Bits, others: &Bits) {
        match way {
            7 => {
                rows.set(0, at);
            }
            8 => {
                rows.set(at, 0);
            }
            9 => rows.store_word(0, at, 1),
            10 => {
                rows.or_from(0, others, at);
            }
            _ => {}
        }
    }

    #[wave(range(room_for_all))]
    fn pushes(
        i: Index,
        way: u32,
        at: u32,
        front: &Push,
        pairs: &Push<u32>,
        log: &Append<u32>,
        short: &Append<u32>,
    ) {
        match way {
            11 => front.push(at + i),
            12 => pairs.push(i),
            13 => {
                log.append(i);
            }
            14 => {
                short.append(i);
            }
            _ => {}
        }
    }
}

fn traps_name_the_fields_that_they_are_about(runtime: &Runtime) {
    let graph = chain(5);
    let topology = missing::Topology {
        graph: &graph,
        weight: &[1; 4],
    };
    let mut session = missing::Session::new(runtime, topology).expect("it fits");
    for (way, at, says) in [
        (
            0,
            7,
            "index 7 is outside of `dist` (per = n, n = 6) in `reads`",
        ),
        (
            1,
            4,
            "index 4 is outside of `weight` (per = edge(graph), 4 edges) in `reads`",
        ),
        (
            2,
            9,
            "index 9 is outside of `points` (per = node, 5 nodes) in `reads`",
        ),
        (3, 3, "index 3 is outside of `three` (per = 3) in `reads`"),
        (4, 5, "index 5 is outside of `graph` (5 nodes) in `reads`"),
        (5, 8, "index 8 is outside of `graph` (4 edges) in `reads`"),
        (6, 3, "index 3 is out of bounds; the length is 3 in `reads`"),
        (
            7,
            40,
            "index 40 is outside of `rows` (bits = width, width = 40) in `rowed`",
        ),
        (
            8,
            5,
            "index 5 is outside of `rows` (per = node, 5 nodes) in `rowed`",
        ),
        (9, 2, "index 2 is outside of `rows` (2 words) in `rowed`"),
        (
            10,
            6,
            "index 6 is outside of `others` or `rows` (per = node, 5 nodes) in `rowed`",
        ),
        (
            11,
            5,
            "index 5 is outside of `front` (5 nodes) in `pushes` at item 0",
        ),
        (
            12,
            0,
            "frontier `pairs` needs at least 4 items; its capacity is 3 (room) in `pushes`",
        ),
        (
            13,
            0,
            "list `log` needs at least 4 items; its capacity is 3 (room) in `pushes`",
        ),
        (
            14,
            0,
            "list `short` needs at least 4 items; its capacity is 2 in `pushes`",
        ),
    ] {
        let error = session
            .run(missing::Run {
                dist: &[1; 6],
                points: &[missing::Point { x: 1, y: 2 }; 5],
                way,
                at,
                n: 6,
                width: 40,
                room: 3,
                room_for_all: 4,
            })
            .expect_err("it traps");
        let text = error.to_string();
        assert!(text.starts_with(says), "{}: {text}", runtime.backend());
        // What `main` prints of it.
        let boxed: Box<dyn std::error::Error> = error.into();
        assert_eq!(format!("{boxed:?}"), text);
    }
    let error = session.run(missing::Run {
        dist: &[],
        points: &[missing::Point { x: 1, y: 2 }; 5],
        way: 0,
        at: 0,
        n: 6,
        width: 40,
        room: 3,
        room_for_all: 4,
    });
    let error = error.expect_err("a column is missing");
    assert_eq!(
        format!("{error:?}"),
        "`dist` has 0 elements; the pass needs 6 (per = n, n = 6)"
    );
}

const OUTSIDE: u32 = 7;

/// Constants of a body and of its structs, where no path from outside leads.
#[kernel]
fn body_constants(i: Index, y: &mut u32, z: &mut f64) {
    const BASE: u32 = OUTSIDE * 100;

    struct Scale;

    impl Scale {
        const STEP: u32 = BASE + 1;
        const TWICE: u32 = 2 * Self::STEP;
        const HALF: f64 = 0.5;

        fn twice() -> u32 {
            Self::TWICE
        }
    }

    #[device]
    fn of(i: u32) -> u32 {
        if i == 0 { BASE } else { Scale::STEP }
    }

    *y += match *y {
        Scale::STEP => 1,
        _ => of(i) + Scale::twice(),
    };
    *z = Scale::HALF;
}

fn constants_may_stand_in_the_body(runtime: &Runtime) {
    let (mut y, mut z) = ([0, 3, 701], [0.0; 3]);
    body_constants::run(runtime, &mut y, &mut z).expect("no trap");
    assert_eq!((y, z), ([2102, 2106, 702], [0.5; 3]));
}

mod elsewhere {
    use vyre::prelude::*;

    #[device]
    pub(super) fn half(x: f64) -> f64 {
        x / 2.0
    }
}

#[kernel]
fn made(y: &mut f64) {
    #[derive(Clone, Copy)]
    struct Pair {
        a: f64,
        b: f64,
    }

    let pair = Pair {
        b: 1.0,
        a: elsewhere::half(*y),
    };
    *y = pair.a - pair.b;
}

fn a_field_may_be_given_by_another_module(runtime: &Runtime) {
    let mut y = [8.0, 3.0];
    made::run(runtime, &mut y).expect("no trap");
    assert_eq!(y, [3.0, 0.5]);
}

/// Every operation that loads, computes and stores elements of the item's own number, which the GPU does in bulk.
#[kernel]
fn mapped(i: Index, a: f32, seed: u32, x: &f32, w: &u32, y: &mut f32, z: &mut u32, t: &mut u32) {
    let s = *w as i32;
    let mut mixed = (*w ^ w.wrapping_shr(7)).wrapping_mul(0x9e37_79b9);
    for step in 0..3u32 {
        mixed = mixed.rotate_left(5) ^ step.wrapping_mul(seed);
    }
    let counted = mixed.count_ones()
        | mixed.leading_zeros().wrapping_mul(64)
        | mixed.trailing_zeros().wrapping_mul(4096);
    let signed = s.wrapping_shr(3).min(-9).max(s.wrapping_mul(3)) as u32;
    let compared = (*w < seed) as u32
        ^ ((s <= 12) as u32).wrapping_mul(2)
        ^ ((*x > a) as u32).wrapping_mul(4)
        ^ ((*x != 0.5) as u32).wrapping_mul(8)
        ^ ((i == seed) as u32).wrapping_mul(16);
    let rounded = x.floor() + x.ceil() * 3.0 - x.trunc();
    *z = counted
        .wrapping_sub(signed)
        .wrapping_add(w.wrapping_shl(i))
        .max(i & !seed)
        .min(0xffff_0000 | mixed);
    *t = compared.wrapping_add((*x as i32 as u32).wrapping_add(*x as u32));
    *y = x.mul_add(a, *y) + (rounded.min(900.0) * 0.5).max(-2.5) + (*w & 8) as f32 - s as f32;
}

fn elements_of_the_items_own_are_taken_in_bulk(runtime: &Runtime) {
    // Enough for tiles of many items on every CTA, and some more; and too few.
    for n in [250_007u32, 77] {
        let x: Vec<f32> = (0..n).map(|i| (i % 1_001) as f32 / 4.0 - 125.0).collect();
        let w: Vec<u32> = (0..n).map(|i| i.wrapping_mul(i ^ 0x5bd1_e995)).collect();
        let (a, seed) = (1.25f32, 70_000u32);
        let mut y: Vec<f32> = x.iter().map(|x| 2.0 - x).collect();
        let (mut z, mut t) = (vec![0; n as usize], vec![0; n as usize]);
        mapped::run(runtime, a, seed, &x, &w, &mut y, &mut z, &mut t).expect("no trap");
        for i in 0..n as usize {
            let (mut yi, mut zi, mut ti) = (2.0 - x[i], 0, 0);
            mapped(i as u32, a, seed, &x[i], &w[i], &mut yi, &mut zi, &mut ti);
            assert_eq!(
                (y[i].to_bits(), z[i], t[i]),
                (yi.to_bits(), zi, ti),
                "item {i}"
            );
        }
    }
}

/// The rules of arithmetic, with operands that only the run knows.
#[kernel]
fn rules(i: Index, a: &Buf<i32>, q: &Buf<i64>, x: &Buf<f32>, z: &Buf<f64>, out: &mut u32) {
    let (least, minus, zero, seven, amount) = (a[0], a[1], a[2], a[3], a[4] as u32);
    // Integers wrap.
    assert_eq!(least.wrapping_sub(1), i32::MAX);
    assert_eq!((least as u32).wrapping_add(least as u32), 0);
    assert_eq!(q[0].wrapping_mul(3), i64::MIN);
    assert_eq!((minus as u64).wrapping_add(1), 0);
    assert_eq!((minus as u8).wrapping_mul(minus as u8), 1);
    // Amounts of shifts are masked.
    assert_eq!(seven.wrapping_shl(amount), 14);
    assert_eq!(least.wrapping_shr(amount), -1 << 30);
    assert_eq!((seven as u8).wrapping_shl(amount), 14);
    assert_eq!(q[0].wrapping_shr(amount + 32), i64::MIN >> 1);
    assert_eq!(least.rotate_left(amount), 1);
    // Division rounds to zero, and the remainder has the sign of the dividend.
    assert_eq!((-seven / 2, -seven % 2, seven % -2), (-3, -1, 1));
    assert_eq!((q[1] / 10, q[1] % 10), (-4, -2));
    // Casts cut, extend signs and saturate.
    assert_eq!(
        (minus as u32, minus as i64, minus as u32 as i64),
        (u32::MAX, -1, 0xffff_ffff)
    );
    assert_eq!((minus as u8, q[1] as i32, q[0] as i32), (255, -42, 0));
    assert_eq!(
        (x[0] as i32, x[0] as u8, -x[0] as i64, x[1] as u32),
        (i32::MAX, 255, -10_000_000_000, 0)
    );
    assert_eq!((z[0] as u64, -z[0] as i64), (u64::MAX, i64::MIN));
    assert_eq!((z[1] as i32, z[2] as i32), (0, -2));
    assert_eq!(
        (u32::MAX as f32, (1u64 << 53) + 1),
        (4_294_967_296.0, 9_007_199_254_740_993)
    );
    assert_eq!((16_777_217 + zero) as f32, 16_777_216.0);
    assert_eq!(
        (9_007_199_254_740_993 + i64::from(zero)) as f64,
        9_007_199_254_740_992.0
    );
    // NaN compares with nothing, and loses.
    let (nan, wide) = (x[1], z[1]);
    let ordered = (x[1] < 1.0, x[1] >= 1.0, x[1] == nan, z[1] == wide);
    assert_eq!((ordered, x[1] != nan), ((false, false, false, false), true));
    assert_eq!((x[1].min(2.0), 3.0f32.max(x[1])), (2.0, 3.0));
    // Floats are not contracted: the product is rounded before the sum.
    assert_eq!(x[2] * x[3] - 1.0, 0.0);
    assert_eq!(x[2].mul_add(x[3], -1.0).to_bits(), 0x3280_0000);
    assert_eq!(z[3] * z[4] + z[5], 0.0);
    assert!(z[3].mul_add(z[4], z[5]) != 0.0);
    // Zeros have signs, and halves go away from zero.
    assert_eq!((-(zero as f32)).to_bits(), 1 << 31);
    assert_eq!(
        ((z[2]).round(), (z[2]).round_ties_even(), z[2] % 2.0),
        (-3.0, -2.0, -0.5)
    );
    // What is not needed is not evaluated.
    let short = zero != 0 && seven / zero == 1;
    assert!(!short && (zero == 0 || seven % zero == 1));
    *out = i + 1;
}

fn rules_of_arithmetic_hold(runtime: &Runtime) {
    let a = [i32::MIN, -1, 0, 7, 33];
    let q = [i64::MIN, -42];
    let x = [1e10, f32::NAN, 0.1, 10.0];
    // The square of 1 + 2^-30 has a part that a product rounds away.
    let near = 1.0 + f64::from_bits(0x3e10_0000_0000_0000);
    let z = [1e300, f64::NAN, -2.5, near, near, -(near * near)];
    let mut out = [0; 70];
    rules::run(runtime, &a, &q, &x, &z, &mut out).unwrap();
    assert!(out.iter().copied().eq(1..=70));
}

/// Faults of division, one for each way and type.
#[kernel]
fn divides(i: Index, way: u32, zero: i64, minus: i64, out: &mut u64) {
    let at = i == 40;
    let by = if at { zero } else { 1 };
    let (low, lower) = (if at { i32::MIN } else { 5 }, if at { i64::MIN } else { 5 });
    let one = if at { minus } else { 1 };
    *out = match way {
        0 => u64::from(i / by as u32),
        1 => u64::from(i % by as u32),
        2 => (low / by as i32) as u64,
        3 => (low % by as i32) as u64,
        4 => u64::from(i) / by as u64,
        5 => u64::from(i) % by as u64,
        6 => (lower / by) as u64,
        7 => (lower % by) as u64,
        8 => u64::from(i as u8 / by as u8),
        9 => u64::from(i as u8 % by as u8),
        10 => (low / one as i32) as u64,
        11 => (low % one as i32) as u64,
        12 => (lower / one) as u64,
        _ => (lower % one) as u64,
    };
}

fn division_traps(runtime: &Runtime) {
    for way in 0..14 {
        let Err(Error::Trap(trap)) = divides::run(runtime, way, 0, -1, &mut [0; 100]) else {
            panic!("way {way} gives no trap");
        };
        let kind = if way < 10 {
            TrapKind::DivideByZero
        } else {
            TrapKind::DivideOverflow
        };
        assert_eq!((trap.kind, trap.item), (kind, Some(40)), "way {way}");
    }
}

/// Every atomic and reduction on every type.
#[wave_graph]
pub mod cells {
    pub struct Data {
        #[output(per = 16)]
        u: u32,
        #[output(per = 16)]
        i: i32,
        #[output(per = 16)]
        p: u64,
        #[output(per = 16)]
        q: i64,
        #[output(per = 16)]
        x: f32,
        #[output(per = 16)]
        z: f64,
        #[reduce(sum)]
        sum_u: u32,
        #[reduce(sum)]
        sum_i: i32,
        #[reduce(sum)]
        sum_p: u64,
        #[reduce(sum)]
        sum_q: i64,
        #[reduce(sum)]
        sum_x: f32,
        #[reduce(sum)]
        sum_z: f64,
        #[reduce(min)]
        min_u: u32,
        #[reduce(min)]
        min_i: i32,
        #[reduce(min)]
        min_p: u64,
        #[reduce(min)]
        min_q: i64,
        #[reduce(min)]
        min_x: f32,
        #[reduce(min)]
        min_z: f64,
        #[reduce(max)]
        max_u: u32,
        #[reduce(max)]
        max_i: i32,
        #[reduce(max)]
        max_p: u64,
        #[reduce(max)]
        max_q: i64,
        #[reduce(max)]
        max_x: f32,
        #[reduce(max)]
        max_z: f64,
        #[reduce(or)]
        or_u: u32,
        #[reduce(or)]
        or_i: i32,
        #[reduce(or)]
        or_p: u64,
        #[reduce(or)]
        or_q: i64,
        #[reduce(and)]
        and_u: u32,
        #[reduce(and)]
        and_i: i32,
        #[reduce(and)]
        and_p: u64,
        #[reduce(and)]
        and_q: i64,
        #[reduce(or)]
        or_b: bool,
        #[reduce(and)]
        and_b: bool,
        #[reduce(count)]
        odd: u64,
        n: u32,
    }

    /// One lane: what each operation gives and leaves.
    #[wave(once)]
    fn alone(
        u: &Buf<Atomic<u32>>,
        i: &Buf<Atomic<i32>>,
        p: &Buf<Atomic<u64>>,
        q: &Buf<Atomic<i64>>,
        x: &Buf<Atomic<f32>>,
        z: &Buf<Atomic<f64>>,
    ) {
        u[15].store(12);
        i[15].store(-12);
        p[15].store(12 << 40);
        q[15].store(-12 << 40);
        x[15].store(1.5);
        z[15].store(-1.5);
        assert_eq!((u[15].swap(10), i[15].swap(-10)), (12, -12));
        assert_eq!(
            (p[15].swap(10 << 40), q[15].swap(-10 << 40)),
            (12 << 40, -12 << 40)
        );
        assert_eq!((x[15].swap(2.5), z[15].swap(-2.5)), (1.5, -1.5));
        assert_eq!((u[15].fetch_add(5), i[15].fetch_add(-5)), (10, -10));
        assert_eq!(
            (p[15].fetch_add(5), q[15].fetch_add(-5)),
            (10 << 40, -10 << 40)
        );
        assert_eq!((x[15].fetch_add(0.5), z[15].fetch_add(-0.5)), (2.5, -2.5));
        assert_eq!((u[15].fetch_sub(1), i[15].fetch_sub(1)), (15, -15));
        assert_eq!(
            (p[15].fetch_sub(1), q[15].fetch_sub(1)),
            ((10 << 40) + 5, (-10 << 40) - 5)
        );
        assert_eq!((u[15].fetch_min(13), i[15].fetch_min(13)), (14, -16));
        assert_eq!(
            (p[15].fetch_min(9 << 40), q[15].fetch_min(9)),
            ((10 << 40) + 4, (-10 << 40) - 6)
        );
        assert_eq!((x[15].fetch_min(2.0), z[15].fetch_min(2.0)), (3.0, -3.0));
        assert_eq!((u[15].fetch_max(1), i[15].fetch_max(1)), (13, -16));
        assert_eq!(
            (p[15].fetch_max(1), q[15].fetch_max(-1)),
            (9 << 40, (-10 << 40) - 6)
        );
        assert_eq!((x[15].fetch_max(7.0), z[15].fetch_max(-7.0)), (2.0, -3.0));
        assert_eq!((u[15].fetch_and(6), i[15].fetch_and(6)), (13, 1));
        assert_eq!(
            (p[15].fetch_and(1 << 40), q[15].fetch_and(6 << 40)),
            (9 << 40, -1)
        );
        assert_eq!((u[15].fetch_or(3), i[15].fetch_or(-8)), (4, 0));
        assert_eq!((p[15].fetch_or(3), q[15].fetch_or(1)), (1 << 40, 6 << 40));
        assert_eq!((u[15].fetch_xor(5), i[15].fetch_xor(-1)), (7, -8));
        assert_eq!(
            (p[15].fetch_xor(1 << 40), q[15].fetch_xor(-1)),
            ((1 << 40) + 3, (6 << 40) + 1)
        );
        assert!(u[15].compare_exchange(2, 9) && !u[15].compare_exchange(2, 8));
        assert!(i[15].compare_exchange(7, -9) && !i[15].compare_exchange(7, 8));
        assert!(p[15].compare_exchange(3, 9 << 40) && !p[15].compare_exchange(3, 8));
        assert!(q[15].compare_exchange((-6 << 40) - 2, -9 << 40) && !q[15].compare_exchange(0, 8));
        assert_eq!((u[15].load(), i[15].load()), (9, -9));
        assert_eq!((p[15].load(), q[15].load()), (9 << 40, -9 << 40));
        assert_eq!((x[15].load(), z[15].load()), (7.0, -3.0));
    }

    /// All lanes at once.
    #[wave(range(n), after(alone))]
    fn together(
        k: Index,
        u: &Buf<Atomic<u32>>,
        i: &Buf<Atomic<i32>>,
        p: &Buf<Atomic<u64>>,
        q: &Buf<Atomic<i64>>,
        x: &Buf<Atomic<f32>>,
        z: &Buf<Atomic<f64>>,
    ) {
        let s = k as i32 - 500;
        u[0].fetch_add(k);
        i[0].fetch_add(s);
        p[0].fetch_add(u64::from(k) << 32);
        q[0].fetch_add(i64::from(s) << 32);
        x[0].fetch_add(0.5);
        z[0].fetch_add(f64::from(s));
        u[1].fetch_sub(k);
        i[1].fetch_sub(s);
        p[1].fetch_sub(u64::from(k) << 32);
        q[1].fetch_sub(i64::from(s) << 32);
        u[2].fetch_max(k);
        i[2].fetch_min(s);
        p[2].fetch_max(u64::from(k) << 32);
        q[2].fetch_min(i64::from(s) << 32);
        x[2].fetch_min(s as f32);
        z[2].fetch_max(f64::from(s));
        i[3].fetch_max(s);
        q[3].fetch_max(i64::from(s) << 32);
        x[3].fetch_max(s as f32);
        z[3].fetch_min(f64::from(s));
        u[4].fetch_or(k);
        i[4].fetch_or(s);
        p[4].fetch_or(u64::from(k) << 32);
        q[4].fetch_or(i64::from(s) << 32);
        u[5].fetch_xor(k);
        i[5].fetch_xor(s);
        p[5].fetch_xor(u64::from(k) << 32);
        q[5].fetch_xor(i64::from(s) << 32);
        u[6 + k % 4].compare_exchange(0, 5);
        u[14].fetch_and(!k);
    }

    #[wave(range(n))]
    fn sums(
        k: Index,
        sum_u: &Reduce<Sum<u32>>,
        sum_i: &Reduce<Sum<i32>>,
        sum_p: &Reduce<Sum<u64>>,
        sum_q: &Reduce<Sum<i64>>,
        sum_x: &Reduce<Sum<f32>>,
        sum_z: &Reduce<Sum<f64>>,
        odd: &Reduce<Count>,
    ) {
        let s = k as i32 - 500;
        sum_u.add(k);
        sum_i.add(s);
        sum_p.add(u64::from(k) << 32);
        sum_q.add(i64::from(s) << 32);
        sum_x.add(0.5);
        sum_z.add(f64::from(s));
        if k % 2 == 1 {
            odd.inc();
        }
    }

    #[wave(range(n))]
    fn ends(
        k: Index,
        min_u: &Reduce<Min<u32>>,
        min_i: &Reduce<Min<i32>>,
        min_p: &Reduce<Min<u64>>,
        min_q: &Reduce<Min<i64>>,
        min_x: &Reduce<Min<f32>>,
        min_z: &Reduce<Min<f64>>,
        max_u: &Reduce<Max<u32>>,
        max_i: &Reduce<Max<i32>>,
        max_p: &Reduce<Max<u64>>,
        max_q: &Reduce<Max<i64>>,
        max_x: &Reduce<Max<f32>>,
        max_z: &Reduce<Max<f64>>,
    ) {
        let s = k as i32 - 500;
        min_u.min(k + 3);
        min_i.min(s);
        min_p.min(u64::from(k + 3) << 32);
        min_q.min(i64::from(s) << 32);
        min_x.min(s as f32);
        min_z.min(f64::from(s));
        max_u.max(k + 3);
        max_i.max(s);
        max_p.max(u64::from(k + 3) << 32);
        max_q.max(i64::from(s) << 32);
        max_x.max(s as f32);
        max_z.max(f64::from(s));
    }

    #[wave(range(n))]
    fn bits(
        k: Index,
        or_u: &Reduce<Or<u32>>,
        or_i: &Reduce<Or<i32>>,
        or_p: &Reduce<Or<u64>>,
        or_q: &Reduce<Or<i64>>,
        and_u: &Reduce<And<u32>>,
        and_i: &Reduce<And<i32>>,
        and_p: &Reduce<And<u64>>,
        and_q: &Reduce<And<i64>>,
        or_b: &Reduce<Or<bool>>,
        and_b: &Reduce<And<bool>>,
    ) {
        or_u.or(k);
        or_i.or(k as i32);
        or_p.or(u64::from(k) << 40);
        or_q.or(i64::from(k) << 40);
        and_u.and(!k);
        and_i.and(!(k as i32));
        and_p.and(!(u64::from(k) << 40));
        and_q.and(!(i64::from(k) << 40));
        or_b.or(k == 77);
        and_b.and(k != 77);
    }
}

fn atomics_and_reductions_take_every_type(runtime: &Runtime) {
    let mut session = cells::Session::new(runtime, ()).unwrap();
    let out = session.run(cells::Run { n: 1000 }).unwrap();
    // 0 + 1 + .. + 999, and what differs from it by 500 for each of 1000.
    let (sum, shifted) = (499_500, -500);
    assert_eq!((out.u[0], out.i[0]), (sum, shifted));
    let wide = (u64::from(sum) << 32, i64::from(shifted) << 32);
    assert_eq!((out.p[0], out.q[0]), wide);
    assert_eq!((out.x[0], out.z[0]), (500.0, -500.0));
    assert_eq!((out.u[1], out.i[1]), (sum.wrapping_neg(), -shifted));
    assert_eq!((out.p[1], out.q[1]), (wide.0.wrapping_neg(), -wide.1));
    assert_eq!((out.u[2], out.i[2]), (999, -500));
    assert_eq!((out.p[2], out.q[2]), (999 << 32, -500 << 32));
    assert_eq!((out.x[2], out.z[2]), (-500.0, 499.0));
    assert_eq!((out.i[3], out.q[3]), (499, 499 << 32));
    assert_eq!((out.x[3], out.z[3]), (499.0, -500.0));
    assert_eq!((out.u[4], out.i[4]), (1023, -1));
    assert_eq!((out.p[4], out.q[4]), (1023 << 32, -1 << 32));
    let xor = (0..1000u32).fold(0, |a, k| a ^ k);
    let xor_signed = (-500..500).fold(0i32, |a, s| a ^ s);
    assert_eq!((out.u[5], out.i[5]), (xor, xor_signed));
    assert_eq!(
        (out.p[5], out.q[5]),
        (u64::from(xor) << 32, i64::from(xor_signed) << 32)
    );
    assert_eq!((&out.u[6..10], out.u[14]), (&[5; 4][..], 0));
    assert_eq!((out.sum_u, out.sum_i), (sum, shifted));
    assert_eq!((out.sum_p, out.sum_q), wide);
    assert_eq!((out.sum_x, out.sum_z, out.odd), (500.0, -500.0, 500));
    assert_eq!((out.min_u, out.min_i), (3, -500));
    assert_eq!((out.min_p, out.min_q), (3 << 32, -500 << 32));
    assert_eq!((out.min_x, out.min_z), (-500.0, -500.0));
    assert_eq!((out.max_u, out.max_i), (1002, 499));
    assert_eq!((out.max_p, out.max_q), (1002 << 32, 499 << 32));
    assert_eq!((out.max_x, out.max_z), (499.0, 499.0));
    assert_eq!((out.or_u, out.or_i), (1023, 1023));
    assert_eq!((out.or_p, out.or_q), (1023 << 40, 1023 << 40));
    assert_eq!((out.and_u, out.and_i), (!1023, !1023));
    assert_eq!((out.and_p, out.and_q), (!(1023 << 40), !(1023 << 40)));
    assert_eq!((out.or_b, out.and_b), (true, false));
    // Nothing was taken in.
    let none = session.run(cells::Run { n: 0 }).unwrap();
    assert_eq!(
        (none.sum_u, none.min_i, none.max_q),
        (0, i32::MAX, i64::MIN)
    );
    assert_eq!((none.min_x, none.max_z), (f32::INFINITY, f64::NEG_INFINITY));
    assert_eq!((none.or_p, none.and_q, none.odd), (0, -1, 0));
    assert_eq!((none.or_b, none.and_b), (false, true));
}

/// The lattice of constant propagation: unknown yet, one value, many.
#[device]
mod lattice {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Value {
        pub(crate) kind: u8,
        pub(crate) value: i64,
    }

    impl Value {
        pub(crate) const TOP: Value = Value { kind: 0, value: 0 };
        pub(crate) const BOTTOM: Value = Value { kind: 2, value: 0 };
        pub(crate) const ZERO: Value = Value { kind: 1, value: 0 };

        pub(crate) fn known(value: i64) -> Value {
            Value { kind: 1, value }
        }

        pub(crate) fn meet(self, other: Value) -> Value {
            match (self, other) {
                (Value::TOP, v) | (v, Value::TOP) => v,
                (a, b) if a == b => a,
                _ => Value::BOTTOM,
            }
        }

        pub(crate) fn product(self, other: Value) -> Value {
            match (self, other) {
                (Value::ZERO, _) | (_, Value::ZERO) => Value::ZERO,
                (Value::BOTTOM, _) | (_, Value::BOTTOM) => Value::BOTTOM,
                (Value::TOP, _) | (_, Value::TOP) => Value::TOP,
                (Value { value: a, .. }, Value { value: b, .. }) => Value::known(a.wrapping_mul(b)),
            }
        }
    }
}

const PHI: u8 = 0;
const LITERAL: u8 = 1;
const PRODUCT: u8 = 2;

/// Sparse constant propagation: what changed is looked at again by what uses it.
#[wave_graph]
mod constants {
    use super::lattice::Value;

    pub(crate) struct Data {
        /// From what uses to what is used.
        #[topology]
        used: Csr,
        #[topology(reverse_of = used)]
        users: Csr,
        #[topology(per = node)]
        op: u8,
        #[input(per = node)]
        literal: i64,
        #[frontier(unique)]
        work: Frontier,
        #[output(per = node, init = Value::TOP)]
        value: Value,
        #[scratch(per = node)]
        next: Value,
    }

    #[wave(nodes)]
    fn begin(v: Node, work: &Push) {
        work.push(v);
    }

    #[fixpoint(after(begin), until(work.is_empty()), max_rounds = 1_000)]
    mod rounds {
        #[wave(items(work))]
        fn evaluate(
            v: Node,
            used: &Csr,
            op: &u8,
            literal: &i64,
            value: &Records<Value>,
            next: &mut Value,
        ) {
            let mut result = match *op {
                LITERAL => Value::known(*literal),
                PRODUCT => Value::known(1),
                PHI => Value::TOP,
                _ => Value::BOTTOM,
            };
            for w in used.neighbors(v) {
                result = match *op {
                    PHI => result.meet(value.get(w)),
                    _ => result.product(value.get(w)),
                };
            }
            *next = result;
        }

        #[wave(items(work), after(evaluate))]
        fn publish(v: Node, users: &Csr, next: &Value, value: &mut Value, work: &Push) {
            if *next != *value {
                *value = *next;
                for w in users.neighbors(v) {
                    work.push(w);
                }
            }
        }
    }
}

fn constants_propagate(runtime: &Runtime) {
    use lattice::Value;
    let mut random = Random(1);
    let mut random = |n: u32| random.below(n);
    let (mut known, mut many) = (0, 0);
    for _ in 0..20 {
        let n = 2 + random(200);
        let op: Vec<u8> = (0..n)
            .map(|_| [PHI, LITERAL, PRODUCT, PHI, PRODUCT, 9][random(6) as usize])
            .collect();
        let literal: Vec<i64> = (0..n).map(|_| i64::from(random(3)) - 1).collect();
        let mut edges = Vec::new();
        for v in 0..n {
            if op[v as usize] == PHI || op[v as usize] == PRODUCT {
                edges.extend((0..random(3)).map(|_| (v, random(n))));
            }
        }
        let used = Csr::from_edges(n as usize, &edges).unwrap();
        // The greatest fixpoint, from the top.
        let mut expected = vec![Value::TOP; n as usize];
        loop {
            let next: Vec<Value> = (0..n)
                .map(|v| {
                    let inputs = used.neighbors(v).iter().map(|w| expected[w as usize]);
                    match op[v as usize] {
                        LITERAL => Value::known(literal[v as usize]),
                        PRODUCT => inputs.fold(Value::known(1), Value::product),
                        PHI => inputs.fold(Value::TOP, Value::meet),
                        _ => Value::BOTTOM,
                    }
                })
                .collect();
            if next == expected {
                break;
            }
            expected = next;
        }
        known += expected.iter().filter(|v| v.kind == 1).count();
        many += expected.iter().filter(|v| v.kind == 2).count();
        let topology = constants::Topology {
            used: &used,
            op: &op,
        };
        let mut session = constants::Session::new(runtime, topology).unwrap();
        let out = session
            .run(constants::Run { literal: &literal })
            .expect("no trap");
        assert_eq!(out.value, expected);
    }
    assert!(known > 500 && many > 500, "{known} known, {many} not");
}

/// Items of every scalar type: each wave takes those of one frontier and pushes into the next.
#[wave_graph]
mod relay {
    pub(crate) struct Data {
        #[frontier(capacity = n)]
        a: Frontier<u8>,
        #[frontier(capacity = n)]
        b: Frontier<i32>,
        #[frontier(capacity = n)]
        c: Frontier<u64>,
        #[frontier(capacity = n)]
        d: Frontier<i64>,
        #[frontier(capacity = n)]
        e: Frontier<f32>,
        #[frontier(capacity = n)]
        f: Frontier<f64>,
        #[frontier(capacity = n)]
        g: Frontier<(bool, u8)>,
        #[list(capacity = n, output)]
        la: List<u8>,
        #[list(capacity = n, output)]
        lb: List<i32>,
        #[list(capacity = n, output)]
        lc: List<u64>,
        #[list(capacity = n, output)]
        ld: List<i64>,
        #[list(capacity = n, output)]
        le: List<f32>,
        #[list(capacity = n, output)]
        lf: List<f64>,
        #[list(capacity = n, output)]
        lg: List<bool>,
        n: u32,
    }

    #[wave(range(n))]
    fn start(i: Index, a: &Push<u8>) {
        a.push(i as u8);
    }

    #[fixpoint(after(start), until(a.is_empty() && b.is_empty() && c.is_empty() && d.is_empty() && e.is_empty() && f.is_empty() && g.is_empty()))]
    mod rounds {
        #[wave(items(a))]
        fn first(x: u8, la: &Append<u8>, b: &Push<i32>) {
            la.append(x);
            b.push(-i32::from(x));
        }

        #[wave(items(b))]
        fn second(x: i32, lb: &Append<i32>, c: &Push<u64>) {
            lb.append(x);
            c.push(u64::from(x.unsigned_abs()) << 40);
        }

        #[wave(items(c))]
        fn third(x: u64, lc: &Append<u64>, d: &Push<i64>) {
            lc.append(x);
            d.push(-(x as i64));
        }

        #[wave(items(d))]
        fn fourth(x: i64, ld: &Append<i64>, e: &Push<f32>) {
            ld.append(x);
            e.push((x >> 40) as f32 / 4.0);
        }

        #[wave(items(e))]
        fn fifth(x: f32, le: &Append<f32>, f: &Push<f64>) {
            le.append(x);
            f.push(f64::from(x) * 1e100);
        }

        #[wave(items(f))]
        fn sixth(x: f64, lf: &Append<f64>, g: &Push<(bool, u8)>) {
            lf.append(x);
            g.push((x < -1e101, 7));
        }

        #[wave(items(g))]
        fn last(x: (bool, u8), lg: &Append<bool>) {
            assert_eq!(x.1, 7);
            lg.append(x.0);
        }
    }
}

fn items_are_of_every_type(runtime: &Runtime) {
    let n = 200u32;
    let mut session = relay::Session::new(runtime, ()).expect("it fits");
    let mut out = session.run(relay::Run { n }).expect("no trap");
    assert_eq!(out.report.rounds, [7]);
    out.la.sort();
    out.lb.sort_by_key(|x| -x);
    out.lc.sort();
    out.ld.sort_by_key(|x| -x);
    out.le.sort_by(|x, y| y.total_cmp(x));
    out.lf.sort_by(|x, y| y.total_cmp(x));
    out.lg.sort();
    for i in 0..n {
        let (at, x) = (i as usize, f64::from(i));
        assert_eq!((out.la[at], out.lb[at]), (i as u8, -(i as i32)));
        let wide = i64::from(i) << 40;
        assert_eq!((out.lc[at], out.ld[at]), (wide as u64, -wide));
        assert_eq!(
            (out.le[at], out.lf[at]),
            (-x as f32 / 4.0, -x / 4.0 * 1e100)
        );
        assert_eq!(out.lg[at], i >= 41);
    }
    assert_eq!((out.la.len(), out.lg.len()), (200, 200));
}

backend_tests!(
    structs_and_arrays_are_values,
    a_kernel_has_structs_in_its_body,
    constants_may_stand_in_the_body,
    a_field_may_be_given_by_another_module,
    array_indices_trap_alike,
    messages_are_carried,
    buffers_hold_structs,
    a_condition_sees_lists,
    approximate_functions_are_near,
    lists_and_frontiers_hold_structs,
    rows_of_bits_are_given,
    rows_have_no_bits_beyond_their_width,
    rows_that_are_given_have_no_bits_beyond_their_width,
    ones_sees_each_word_as_it_is_when_the_words_before_are_through,
    traps_name_the_fields_that_they_are_about,
    elements_of_the_items_own_are_taken_in_bulk,
    rules_of_arithmetic_hold,
    division_traps,
    atomics_and_reductions_take_every_type,
    constants_propagate,
    items_are_of_every_type,
);
