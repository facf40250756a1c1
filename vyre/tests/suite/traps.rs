//! Every kind of trap, in every domain and in every kind of session, has the same fields on every backend.

use vyre::prelude::*;
use vyre::{Error, FusedSession, Subject, Trap, TrapKind};
use vyre_core::vir0::scalar::Scalar;
use vyre_tests::backend_tests;

/// Fails in the domain and in the way that it is told.
#[wave_graph]
pub mod every {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = 6)]
        given: u32,
        #[frontier]
        front: Frontier,
        #[frontier(capacity = 7)]
        visits: Frontier<(i32, u32)>,
        #[list(capacity = 8)]
        kept: List<f32>,
        #[list(capacity = 9)]
        long: List<u64>,
        #[frontier(capacity = 3)]
        narrow: Frontier,
        #[list(capacity = 2)]
        few: List<u32>,
        #[output(per = node)]
        sums: u32,
        #[output(per = node, bits = width)]
        rows: Bits,
        domain: u32,
        way: u32,
        width: u32,
        zero: u32,
        low: i32,
    }

    #[device]
    #[rustfmt::skip]
    fn fails(way: u32, zero: u32, low: i32, graph: &Csr, given: &Buf<u32>, sums: &Buf<Atomic<u32>>, rows: &Bits) -> u32 {
        let small = [1, 2, 3];
        let x = zero as f32;
        match way {
            0 => given[zero + 9],
            1 => sums[zero + 90].fetch_add(1),
            2 => graph.degree(zero + 1_000),
            3 => graph.target(zero + 2_000),
            4 => u32::from(rows.set(zero + 70, 1)),
            5 => u32::from(rows.set(zero, 71)),
            6 => rows.word(zero, 2),
            7 => small[(zero + 5) as usize],
            8 => 7 / zero,
            9 => 7 % zero,
            10 => (low / (zero as i32 - 1)) as u32,
            11 => { assert!(zero == 1); 0 }
            12 => { assert_eq!(zero, 1, "it is not one"); 0 }
            13 => panic!("gone"),
            14 => x.clamp(2.0, x) as u32,
            15 => (x + 1.0).clamp(f32::NAN, x) as u32,
            16 => zero.clamp(2, zero),
            17 => low.wrapping_div(zero as i32) as u32,
            18 => (low + 1).wrapping_div(zero as i32) as u32,
            19 => low.wrapping_rem(zero as i32) as u32,
            20 => { let mut n = 0; for k in (0..5).step_by(zero as usize) { n += k; } n }
            21 => { let mut n = 0; for k in (0..=5).rev().step_by(zero as usize) { n += k; } n }
            22 => zero.ilog2(),
            23 => low.div_euclid(zero as i32) as u32,
            24 => zero.div_ceil(zero),
            25 => { let mut few = small; few.swap(0, (zero + 3) as usize); few[0] }
            26 => small[!u64::from(zero) as usize],
            _ => 0,
        }
    }

    #[wave(nodes)]
    fn fill(
        v: Node,
        front: &Push,
        visits: &Push<(i32, u32)>,
        kept: &Append<f32>,
        long: &Append<u64>,
    ) {
        front.push(v);
        visits.push((-3 - v as i32, v));
        kept.append(v as f32 - 2.5);
        long.append(u64::from(v) << 32 | 7);
    }

    #[wave(nodes, after(fill))]
    fn overflows(v: Node, domain: u32, way: u32, narrow: &Push, few: &Append<u32>) {
        if domain == 20 && way == 0 {
            narrow.push(v);
        }
        if domain == 20 && way == 1 {
            few.append(v);
        }
    }

    #[wave(items(narrow), after(overflows))]
    fn nothing(sums: &Buf<Atomic<u32>>) {
        sums[0].fetch_add(0);
    }

    #[wave(once, after(nothing))]
    fn alone(
        way: u32,
        zero: u32,
        low: i32,
        domain: u32,
        graph: &Csr,
        given: &Buf<u32>,
        sums: &Buf<Atomic<u32>>,
        rows: &Bits,
    ) {
        if domain == 0 {
            sums[0].fetch_add(fails(way, zero, low, graph, given, sums, rows));
        }
    }

    #[wave(range(6), after(alone))]
    fn ranged(
        i: Index,
        way: u32,
        zero: u32,
        low: i32,
        domain: u32,
        graph: &Csr,
        given: &Buf<u32>,
        sums: &Buf<Atomic<u32>>,
        rows: &Bits,
    ) {
        if domain == 1 && i >= 4 {
            sums[0].fetch_add(fails(way, zero, low, graph, given, sums, rows));
        }
    }

    #[wave(nodes, after(ranged))]
    fn noded(
        v: Node,
        way: u32,
        zero: u32,
        low: i32,
        domain: u32,
        graph: &Csr,
        given: &Buf<u32>,
        sums: &Buf<Atomic<u32>>,
        rows: &Bits,
    ) {
        if domain == 2 && v != 0 {
            sums[0].fetch_add(fails(way, zero, low, graph, given, sums, rows));
        }
    }

    #[wave(items(front), after(noded))]
    fn itemed(
        v: Node,
        way: u32,
        zero: u32,
        low: i32,
        domain: u32,
        graph: &Csr,
        given: &Buf<u32>,
        sums: &Buf<Atomic<u32>>,
        rows: &Bits,
    ) {
        if domain == 3 && v == 3 {
            sums[0].fetch_add(fails(way, zero, low, graph, given, sums, rows));
        }
    }

    #[wave(items(visits), after(itemed))]
    fn visited(
        at: (i32, u32),
        way: u32,
        zero: u32,
        low: i32,
        domain: u32,
        graph: &Csr,
        given: &Buf<u32>,
        sums: &Buf<Atomic<u32>>,
        rows: &Bits,
    ) {
        if domain == 4 && at.1 == 2 {
            sums[0].fetch_add(fails(way, zero, low, graph, given, sums, rows));
        }
    }

    #[wave(items(kept), after(visited))]
    fn listed(
        x: f32,
        way: u32,
        zero: u32,
        low: i32,
        domain: u32,
        graph: &Csr,
        given: &Buf<u32>,
        sums: &Buf<Atomic<u32>>,
        rows: &Bits,
    ) {
        if domain == 5 && x == -1.5 {
            sums[0].fetch_add(fails(way, zero, low, graph, given, sums, rows));
        }
    }

    #[wave(items(long, new), after(listed))]
    fn newest(
        x: u64,
        way: u32,
        zero: u32,
        low: i32,
        domain: u32,
        graph: &Csr,
        given: &Buf<u32>,
        sums: &Buf<Atomic<u32>>,
        rows: &Bits,
    ) {
        if domain == 6 && x > 1 << 33 {
            sums[0].fetch_add(fails(way, zero, low, graph, given, sums, rows));
        }
    }

    #[wave(edges(graph), after(newest))]
    fn edged(
        e: Edge,
        way: u32,
        zero: u32,
        low: i32,
        domain: u32,
        graph: &Csr,
        given: &Buf<u32>,
        sums: &Buf<Atomic<u32>>,
        rows: &Bits,
    ) {
        if domain == 7 && e.src >= 2 {
            sums[0].fetch_add(fails(way, zero, low, graph, given, sums, rows));
        }
    }

    #[wave(edges(graph, from = front), after(edged))]
    fn followed(
        e: Edge,
        way: u32,
        zero: u32,
        low: i32,
        domain: u32,
        graph: &Csr,
        given: &Buf<u32>,
        sums: &Buf<Atomic<u32>>,
        rows: &Bits,
    ) {
        if domain == 8 && e.dst == 1 {
            sums[0].fetch_add(fails(way, zero, low, graph, given, sums, rows));
        }
    }

    #[fixpoint(after(followed), until(domain != 10 || 7 / zero > round), max_rounds = 5)]
    mod asks {
        #[wave(nodes)]
        fn again(
            v: Node,
            way: u32,
            zero: u32,
            low: i32,
            domain: u32,
            round: Round,
            graph: &Csr,
            given: &Buf<u32>,
            sums: &Buf<Atomic<u32>>,
            rows: &Bits,
        ) {
            if domain == 9 && v + round >= 3 {
                sums[0].fetch_add(fails(way, zero, low, graph, given, sums, rows));
            }
        }
    }

    #[fixpoint(after(asks), until(domain != 30), max_rounds = 4)]
    mod forever {
        #[wave(once)]
        fn wait(sums: &Buf<Atomic<u32>>) {
            sums[0].fetch_add(0);
        }
    }
}

/// The same, as a part of another graph.
#[wave_graph]
mod around {
    #[include(graph = streets, zero = none)]
    use super::every;

    struct Data {
        #[topology]
        streets: Csr,
        none: u32,
    }
}

/// Does nothing, beside it.
#[wave_graph]
mod idle {
    struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        degree: u32,
    }

    #[wave(nodes)]
    fn count(v: Node, graph: &Csr, degree: &mut u32) {
        *degree = graph.degree(v);
    }
}

const GIVEN: [u32; 6] = [1; 6];

fn run(domain: u32, way: u32) -> every::Run<'static> {
    every::Run {
        given: &GIVEN,
        domain,
        way,
        width: 40,
        zero: 0,
        low: i32::MIN,
    }
}

fn graph() -> Csr {
    Csr::from_edges(4, &[(0, 1), (1, 2), (2, 3), (2, 0), (3, 1)]).expect("edges name nodes")
}

/// Of each way: the kind, what stands at the place, index and length, the field with its size, and the message.
type Way = (
    TrapKind,
    &'static str,
    (u64, u64),
    Option<(&'static str, &'static str)>,
    Option<&'static str>,
);

fn ways() -> Vec<Way> {
    use TrapKind::{Assert, DivideByZero, DivideOverflow, IndexOutOfBounds, Panic};
    let outside = |token, index, len, field, size| {
        (
            IndexOutOfBounds,
            token,
            (index, len),
            Some((field, size)),
            None,
        )
    };
    let fault = |kind, token| (kind, token, (0, 0), None, None);
    let nodes = "per = node, 4 nodes";
    vec![
        outside("[zero + 9]", 9, 6, "given", "per = 6"),
        outside("[zero + 90]", 90, 4, "sums", nodes),
        outside("degree(zero + 1_000)", 1_000, 4, "graph", "4 nodes"),
        outside("target(zero + 2_000)", 2_000, 5, "graph", "5 edges"),
        outside("set(zero + 70, 1)", 70, 4, "rows", nodes),
        outside("set(zero, 71)", 71, 40, "rows", "bits = width, width = 40"),
        outside("word(zero, 2)", 2, 2, "rows", "2 words"),
        (IndexOutOfBounds, "small[(zero + 5)", (5, 3), None, None),
        fault(DivideByZero, "7 / zero"),
        fault(DivideByZero, "7 % zero"),
        fault(DivideOverflow, "(low / (zero"),
        fault(Assert, "assert!(zero == 1)"),
        (
            Assert,
            "assert_eq!(zero",
            (0, 0),
            None,
            Some("it is not one"),
        ),
        (Panic, "panic!(\"gone\")", (0, 0), None, Some("gone")),
        fault(Assert, "clamp(2.0, x)"),
        fault(Assert, "clamp(f32::NAN"),
        fault(Assert, "clamp(2, zero)"),
        fault(DivideByZero, "wrapping_div(zero as i32) as u32,"),
        fault(DivideByZero, "wrapping_div(zero as i32) as u32,"),
        fault(DivideByZero, "wrapping_rem(zero"),
        fault(Assert, "step_by(zero as usize) { n += k; } n }"),
        fault(Assert, "step_by(zero as usize) { n += k; } n }"),
        fault(Panic, "ilog2()"),
        fault(DivideByZero, "div_euclid(zero"),
        fault(DivideByZero, "div_ceil(zero)"),
        (IndexOutOfBounds, "swap(0, (zero", (3, 3), None, None),
        // An index of an array that is no u32 is the largest one on every backend.
        (
            IndexOutOfBounds,
            "small[!u64",
            (u32::MAX.into(), 3),
            None,
            None,
        ),
    ]
}

/// Of each domain: its kernel, and the item that fails first.
fn domains() -> [(&'static str, Option<u32>, Option<Scalar>); 10] {
    [
        ("alone", None, None),
        ("ranged", Some(4), None),
        ("noded", Some(1), None),
        ("itemed", Some(3), None),
        ("visited", Some(-5i32 as u32), Some(Scalar::I32)),
        ("listed", Some((-1.5f32).to_bits()), Some(Scalar::F32)),
        ("newest", Some(7), Some(Scalar::U64)),
        ("edged", Some(2), None),
        ("followed", Some(0), None),
        ("again", Some(3), None),
    ]
}

/// The line of a trap, from its column on.
fn at_site(trap: &Trap) -> &'static str {
    assert_eq!(trap.site.file, file!());
    let mut lines = include_str!("traps.rs").lines();
    let line = lines
        .nth(trap.site.line as usize - 1)
        .expect("it has the line");
    &line[trap.site.column as usize - 1..]
}

fn trap<T>(result: Result<T, Error>) -> Trap {
    match result {
        Err(Error::Trap(trap)) => *trap,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it ends without a trap"),
    }
}

/// Looks at each field; `prefix` stands before names of an included graph.
fn check(trap: &Trap, domain: u32, way: u32, prefix: (&str, &str)) {
    let (kind, token, (index, len), field, message) = ways()[way as usize];
    let (kernel, item, item_type) = domains()[domain as usize];
    let subject = field.map(|(field, size)| Subject {
        fields: vec![match (field, prefix.1) {
            ("graph", "every_") => "streets".to_owned(),
            // What passes share has one name.
            ("graph", _) => "graph".to_owned(),
            (field, prefix) => format!("{prefix}{field}"),
        }],
        size: size.replace("width", &format!("{}width", prefix.1)),
    });
    let expected = Trap {
        kind,
        kernel: format!("{}{kernel}", prefix.0),
        site: trap.site.clone(),
        item,
        item_type,
        index,
        len,
        subject,
        message: message.map(str::to_owned),
        run: trap.run,
        part: None,
        lane: None,
    };
    assert!(
        *trap == expected,
        "domain {domain}, way {way}:\n{trap}\n{expected}"
    );
    let site = at_site(trap);
    assert!(
        site.starts_with(token),
        "domain {domain}, way {way}: {site}"
    );
}

fn each(mut test: impl FnMut(u32, u32)) {
    for domain in 0..domains().len() as u32 {
        for way in 0..ways().len() as u32 {
            test(domain, way);
        }
    }
}

fn every_field_is_filled_in_every_domain(runtime: &Runtime) {
    let mut session = every::Session::new(runtime, &graph()).expect("it fits");
    each(|domain, way| check(&trap(session.run(run(domain, way))), domain, way, ("", "")));
    assert!(session.run(run(99, 0)).is_ok());
}

fn what_is_included_says_so(runtime: &Runtime) {
    let mut session = around::Session::new(runtime, &graph()).expect("it fits");
    each(|domain, way| {
        let trap = trap(session.run(around::Run {
            every_given: &GIVEN,
            every_domain: domain,
            every_way: way,
            every_width: 40,
            every_low: i32::MIN,
            none: 0,
        }));
        check(&trap, domain, way, ("every::", "every_"));
    });
}

fn sessions_of_all_kinds_trap_alike(runtime: &Runtime) {
    let graph = graph();
    let mut session = every::Session::new(runtime, &graph).expect("it fits");
    let mut both = FusedSession::<idle::Pass, every::Pass>::new(runtime, (&graph, &graph), &[])
        .expect("it fits");
    let mut many = every::Sessions::new(runtime, [&graph, &graph]).expect("it fits");
    each(|domain, way| {
        if (domain + way) % 5 != 0 {
            return;
        }
        let series = session.run_series([run(99, 0), run(domain, way), run(99, 0)]);
        let of_series = trap(series);
        assert_eq!(of_series.run, Some(1));
        check(&of_series, domain, way, ("", ""));

        for query in [run(99, 0), run(domain, way), run(99, 0)] {
            session.submit(query, 0);
        }
        for (k, query) in [(1, run(domain, way)), (0, run(99, 0))] {
            many.submit(k, query, 0);
        }
        let batch = session.run_batch().expect("a batch");
        let mut results = batch.results.into_iter();
        let batch = many.run_batch().expect("a batch");
        let mut of_many = batch.results.into_iter();
        let (first, second) = (
            results.next().expect("three").1,
            results.next().expect("three").1,
        );
        assert!(first.is_ok() && results.all(|(_, last)| last.is_ok()));
        check(&trap(second), domain, way, ("", ""));
        check(&trap(of_many.next().expect("two").1), domain, way, ("", ""));
        assert!(of_many.all(|(_, other)| other.is_ok()));

        let of_both = trap(both.run(idle::Run {}, run(domain, way)));
        check(&of_both, domain, way, ("every::", "every::"));
    });
}

/// What is no item's own.
fn waves_and_fixpoints_trap_alike(runtime: &Runtime) {
    let mut session = every::Session::new(runtime, &graph()).expect("it fits");
    let trap_of = |session: &mut every::Session, domain, way| trap(session.run(run(domain, way)));
    for (domain, way, kind, kernel, token, numbers, field, message) in [
        (
            20,
            0,
            TrapKind::FrontierOverflow,
            "overflows",
            "push(v)",
            (4, 3),
            Some("narrow"),
            None,
        ),
        (
            20,
            1,
            TrapKind::ListOverflow,
            "overflows",
            "append(v)",
            (4, 2),
            Some("few"),
            None,
        ),
        (
            10,
            0,
            TrapKind::DivideByZero,
            "asks",
            "7 / zero > round",
            (0, 0),
            None,
            None,
        ),
        (
            30,
            0,
            TrapKind::RoundLimit,
            "forever",
            "forever {",
            (4, 4),
            None,
            Some("`domain` is 30"),
        ),
    ] {
        let trap = trap_of(&mut session, domain, way);
        let subject = field.map(|field: &str| Subject {
            fields: vec![field.to_owned()],
            size: String::new(),
        });
        let expected = Trap {
            kind,
            kernel: kernel.to_owned(),
            site: trap.site.clone(),
            item: None,
            item_type: None,
            index: numbers.0,
            len: numbers.1,
            subject,
            message: message.map(str::to_owned),
            run: None,
            part: None,
            lane: None,
        };
        assert!(
            trap == expected,
            "domain {domain}, way {way}:\n{trap}\n{expected}"
        );
        assert!(at_site(&trap).starts_with(token), "{}", at_site(&trap));
    }
}

/// Two waves that run side by side, of which several things can go wrong.
#[wave_graph]
mod several {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[list(capacity = 2)]
        few: List<u32>,
        #[output(per = node)]
        low: u32,
        way: u32,
    }

    #[wave(nodes)]
    fn first(v: Node, way: u32, few: &Append<u32>) {
        if way == 0 || way == 2 {
            few.append(v);
        }
        if way == 2 {
            assert!(v != 3, "in the first");
        }
    }

    #[wave(nodes)]
    fn second(v: Node, way: u32, few: &Append<u32>, low: &mut u32) {
        if way == 1 {
            few.append(v);
        }
        assert!(v < 2, "in the second");
        *low = v;
    }
}

/// The first wave's trap is reported, of its items' the lowest's, and behind these what is full. That counts for the
/// first wave that may push there, whichever has.
fn of_several_traps_the_first_is_reported(runtime: &Runtime) {
    let mut session = several::Session::new(runtime, &graph()).expect("it fits");
    for (way, kind, kernel, item) in [
        (0, TrapKind::ListOverflow, "first", None),
        (1, TrapKind::ListOverflow, "first", None),
        (2, TrapKind::Assert, "first", Some(3)),
        (3, TrapKind::Assert, "second", Some(2)),
    ] {
        let trap = trap(session.run(several::Run { way }));
        let found = (trap.kind, &trap.kernel[..], trap.item);
        assert_eq!(found, (kind, kernel, item), "way {way}");
    }
}

backend_tests!(
    every_field_is_filled_in_every_domain,
    what_is_included_says_so,
    sessions_of_all_kinds_trap_alike,
    waves_and_fixpoints_trap_alike,
    of_several_traps_the_first_is_reported,
);

/// What std fails with in a build that checks overflows, which bytecode does not do.
#[kernel]
#[rustfmt::skip]
fn overflows(way: u32, x: &i32, y: &mut u64) {
    let z = *x as u32;
    *y = match way {
        0 => (x.abs() + (x + 1).abs()) as u64,
        1 => (x + 1).abs() as u64 + x.abs() as u64,
        2 => x.pow(3) as u64,
        3 => u64::from((z + 1).next_power_of_two()),
        _ => u64::from((z as u8).wrapping_pow(2)),
    };
}

#[test]
fn overflows_inside_std_are_located() {
    let y = &mut [0];
    for (way, token) in [
        (0, "abs() + (x + 1)"),
        (1, "abs() as u64,"),
        (2, "pow(3)"),
        (3, "next_power_of_two()"),
    ] {
        assert!(overflows::run(&Runtime::vir0(), way, &[i32::MIN], y).is_ok());
        let result = overflows::run(&Runtime::native(), way, &[i32::MIN], y);
        if !cfg!(debug_assertions) {
            assert!(result.is_ok());
            continue;
        }
        let trap = trap(result);
        assert_eq!(
            (trap.kind, trap.item),
            (TrapKind::ArithmeticOverflow, Some(0))
        );
        assert!(at_site(&trap).starts_with(token), "{}", at_site(&trap));
    }
    assert!(overflows::run(&Runtime::native(), 4, &[i32::MIN], y).is_ok());
}

/// A struct's method of such a name, and a constant that calls one.
#[kernel]
fn alike(i: Index, y: &mut u32) {
    #[derive(Clone, Copy)]
    struct Span {
        from: u32,
        to: u32,
    }

    impl Span {
        fn clamp(&mut self, to: u32) -> u32 {
            self.to = self.to.clamp(0, to);
            self.to - self.from
        }
    }

    const NINE: u32 = 3u32.pow(2);
    let mut span = Span {
        from: 2,
        to: i + NINE,
    };
    *y = span.clamp(NINE + 1) + i.pow(2) + span.to;
}

#[test]
fn only_methods_of_numbers_are_replaced() {
    for runtime in [Runtime::native(), Runtime::vir0()] {
        let mut y = [0; 3];
        alike::run(&runtime, &mut y).expect("no trap");
        assert_eq!(y, [16, 19, 22]);
    }
}

#[test]
fn the_line_of_a_trap_is_shown() {
    let error = every::Session::new(&Runtime::native(), &graph())
        .and_then(|mut session| session.run(run(2, 0)))
        .expect_err("it traps");
    let line = error.trap().expect("a trap").site.line;
    let margin = " ".repeat(line.to_string().len());
    let expected = format!(
        "index 9 is outside of `given` (per = 6) in `noded` at item 1\n\
         {margin}--> {}:{line}:23\n{margin} |\n{line} |             0 => given[zero + 9],\n{margin} |                       ^^^^^^^^^^",
        file!()
    );
    assert_eq!(error.with_excerpt().to_string(), expected);
    assert!(!error.to_string().contains('\n'));
}
