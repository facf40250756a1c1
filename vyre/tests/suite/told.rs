//! What a run says of itself: its rounds, what still changed when they ran out, and the time of each wave.

use object::{Object, ObjectSymbol};
use vyre::prelude::*;
use vyre::{Error, TrapKind};
use vyre_tests::backend_tests;

/// Never ends: twelve items come back each round, and three of them change something.
#[wave_graph]
mod restless {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[list(capacity = 100)]
        seen: List<u32>,
        #[reduce(sum)]
        changed: i64,
        #[reduce(or)]
        never: bool,
        most: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, front: &Push) {
        front.push(v);
    }

    #[fixpoint(after(begin), until(front.is_empty() && changed == 0 || seen.len() > most || never), max_rounds = 5)]
    mod forever {
        #[wave(items(front))]
        fn again(
            v: Node,
            front: &Push,
            seen: &Append<u32>,
            changed: &Reduce<Sum<i64>>,
            never: &Reduce<Or<bool>>,
        ) {
            front.push(v);
            if v < 3 {
                changed.add(-1);
            }
            if v == 0 {
                seen.append(v);
            }
            never.or(v > 100);
        }
    }
}

fn a_round_limit_says_what_still_changed(runtime: &Runtime) {
    let graph = Csr::from_edges(12, &[]).expect("there are no edges");
    let mut session = restless::Session::new(runtime, &graph).expect("it fits");
    let Err(Error::Trap(trap)) = session.run(restless::Run { most: 70 }) else {
        panic!("the fixpoint never ends");
    };
    let told = "frontier `front` holds 12 items, reduction `changed` is -3, `most` is 70, list `seen` holds 5 items, \
                reduction `never` is false";
    assert_eq!((trap.kind, trap.len), (TrapKind::RoundLimit, 5));
    assert_eq!(trap.message.as_deref(), Some(told));
    let site = format!("{}:{}:{}", trap.site.file, trap.site.line, trap.site.column);
    assert_eq!(
        trap.to_string(),
        format!("not finished after 5 rounds in `forever` ({site}): {told}")
    );
    // The session is as it was, and a run that ends in time says nothing.
    let out = session.run(restless::Run { most: 3 }).expect("four rounds");
    assert_eq!((out.changed, out.report.total_rounds()), (-3, 4));
}

/// A fixpoint in a fixpoint, each of a given number of rounds, and one beside them.
#[wave_graph]
mod clocks {
    pub(crate) struct Data {
        #[output(per = 3)]
        ticks: u32,
        hours: u32,
        minutes: u32,
    }

    #[fixpoint(until(round + 1 == hours), max_rounds = 100)]
    mod outer {
        #[wave(once)]
        fn hour(ticks: &Buf<Atomic<u32>>) {
            ticks[0].fetch_add(1);
        }

        #[fixpoint(after(hour), until(round + 1 == minutes), max_rounds = 100)]
        mod inner {
            #[wave(once)]
            fn minute(ticks: &Buf<Atomic<u32>>) {
                ticks[1].fetch_add(1);
            }
        }
    }

    #[fixpoint(after(outer), until(round == 1), max_rounds = 100)]
    mod beside {
        #[wave(once)]
        fn chime(ticks: &Buf<Atomic<u32>>) {
            ticks[2].fetch_add(1);
        }
    }
}

fn total_rounds_are_those_of_all_fixpoints(runtime: &Runtime) {
    use clocks::Run;
    let mut session = clocks::Session::new(runtime, ()).expect("it fits");
    let run = |hours, minutes| Run { hours, minutes };
    let total = |out: &clocks::Output| (out.ticks.clone(), out.report.total_rounds());
    let out = session.run(run(3, 4)).expect("no trap");
    assert_eq!(out.report.rounds, [3, 12, 2]);
    assert_eq!(total(&out), (vec![3, 12, 2], 17));
    // A series gives what its last run leaves: the rounds are that run's.
    let out = session.run_series([run(9, 9), run(2, 3)]).expect("no trap");
    assert_eq!(total(&out), (vec![2, 6, 2], 10));
    // Each query of a batch has its own.
    session.submit(run(1, 1), 0);
    session.submit(run(2, 5), 0);
    let batch = session.run_batch().expect("a batch");
    let totals: Vec<_> = batch
        .results
        .iter()
        .map(|(_, out)| total(out.as_ref().expect("no trap")))
        .collect();
    assert_eq!(totals, [(vec![1, 1, 2], 4), (vec![2, 10, 2], 14)]);
    // What is explained of the batch are the rounds of all its queries.
    assert!(session.explain().to_string().contains("18 rounds"));
}

fn waves_are_timed_when_asked_for(runtime: &Runtime) {
    let mut session = clocks::Session::new(runtime, ()).expect("it fits");
    let run = || clocks::Run {
        hours: 2,
        minutes: 3,
    };
    assert_eq!(session.run(run()).expect("no trap").report.waves, None);
    assert!(!session.explain().to_string().contains("2 sweeps"));
    session.set_wave_times(true);
    let timed = session.run(run()).expect("no trap").report.waves;
    let explained = session.explain().to_string();
    let timed = timed.expect("it was asked for");
    let sweeps: Vec<u64> = timed.iter().map(|w| w.sweeps).collect();
    assert_eq!(sweeps, [2, 6, 2]);
    assert!(timed.iter().all(|w| w.ns > 0), "{timed:?}");
    let line = explained
        .lines()
        .find_map(|l| l.strip_prefix("  waves     "));
    let line = line.unwrap_or_else(|| panic!("{explained}"));
    for (name, sweeps) in [
        ("hour", "2 sweeps"),
        ("minute", "6 sweeps"),
        ("chime", "2 sweeps"),
    ] {
        let mut told = line.split(", ");
        let told = told.find(|told| told.starts_with(&format!("{name} ")));
        assert!(told.is_some_and(|told| told.ends_with(sweeps)), "{line}");
    }
    // A batch adds its queries up.
    session.submit(run(), 0);
    session.submit(run(), 0);
    session.run_batch().expect("a batch");
    assert!(session.explain().to_string().contains(" in 12 sweeps"));
    session.set_wave_times(false);
    assert_eq!(session.run(run()).expect("no trap").report.waves, None);
}

/// A profiler shows the symbols of this executable.
#[test]
fn the_native_loops_of_waves_are_symbols_with_their_names() {
    Runtime::native();
    let file = std::env::current_exe()
        .and_then(std::fs::read)
        .expect("it is there to be read");
    let file = object::File::parse(&*file).expect("it is an executable");
    let symbols: Vec<&str> = file
        .symbols()
        .filter_map(|s| s.name().ok())
        .filter(|name| name.contains("wave"))
        .collect();
    for wave in ["begin", "again", "hour", "minute", "chime"] {
        // The two ways in which rustc writes the path of a type in a function.
        let legacy = format!("..wave..{wave}$u20$as$u20$vyre_core..cpu..native..sweep..Named");
        let v0 = format!("4wave{}{wave}", wave.len());
        let named = |name: &&str| name.contains(&legacy) || name.contains(&v0);
        assert!(symbols.iter().any(named), "{wave} is no symbol");
    }
}

backend_tests!(
    what_is_refused_is_no_launch,
    a_round_limit_says_what_still_changed,
    total_rounds_are_those_of_all_fixpoints,
    waves_are_timed_when_asked_for,
    an_index_of_rows_is_of_the_dimension_that_it_exceeds,
    what_a_macro_wrote_is_told_apart_or_not_guessed,
    an_item_of_any_number_is_named,
    errors_name_what_the_caller_wrote,
    lengths_say_how_they_are_declared,
    a_wave_that_runs_once_has_no_item,
    a_trap_says_which_run_of_a_series_it_is_of,
    an_overflow_tells_what_was_needed_until_then,
    sessions_name_a_topology_that_they_do_not_have,
    queries_run_on_the_topology_that_is_there_then,
);

/// Keeps two numbers and looks at them.
#[wave_graph]
mod kept {
    pub(crate) struct Data {
        #[list(capacity = 2)]
        numbers: List<u32>,
        least: u32,
    }

    #[wave(once)]
    fn keep(numbers: &Append<u32>) {
        numbers.append(u32::MAX);
        numbers.append(7);
    }

    #[wave(items(numbers), after(keep))]
    fn look(number: u32, least: u32) {
        assert!(number < least);
    }
}

/// No number of an item stands for something else.
fn an_item_of_any_number_is_named(runtime: &Runtime) {
    let mut session = kept::Session::new(runtime, ()).expect("it fits");
    for (least, item) in [(u32::MAX, u32::MAX), (5, 7)] {
        let Err(Error::Trap(trap)) = session.run(kept::Run { least }) else {
            panic!("an item is too large");
        };
        assert_eq!((trap.kind, trap.item), (TrapKind::Assert, Some(item)));
        let says = format!(" in `look` at item {item} (");
        assert!(trap.to_string().contains(&says), "{trap}");
    }
}

#[kernel]
fn gather(at: &u32, from: &Buf<u32>, to: &mut u32) {
    *to = from[*at];
}

#[wave_graph]
mod blocks {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Block {
        pub(crate) op: u32,
        pub(crate) size: (f32, u8),
    }

    pub(crate) struct Data {
        #[input(per = count)]
        block: Block,
        #[output(per = count)]
        op: u32,
        count: u32,
    }

    #[wave(range(count))]
    fn copy(block: &Block, op: &mut u32) {
        *op = block.op;
    }
}

/// Neither the length that a kernel has of a slice, nor the arrays that hold a field of structs.
fn errors_name_what_the_caller_wrote(runtime: &Runtime) {
    let mut to = [0; 2];
    let error = gather::run(runtime, &[1, 3], &[4, 5, 6], &mut to).expect_err("it traps");
    let says = "index 3 is outside of `from` (3 elements) in `gather` at item 1 (";
    assert!(error.to_string().contains(says), "{error}");

    let block = blocks::Block {
        op: 1,
        size: (2.0, 3),
    };
    let mut session = blocks::Session::new(runtime, ()).expect("it fits");
    let run = blocks::Run {
        block: &[block; 2],
        count: 3,
    };
    let error = session.run(run).expect_err("one is missing");
    assert_eq!(
        error.to_string(),
        "`block` has 2 elements; the pass needs 3 (per = count, count = 3)"
    );
}

/// One input of each way to declare a length.
#[wave_graph]
mod lengths {
    pub(crate) const SIX: u32 = 6;

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[input(per = n)]
        named: u32,
        #[input(per = 4)]
        fixed: u32,
        #[input(per = SIX)]
        constant: u32,
        #[input(per = node)]
        nodes: u32,
        #[input(per = edge(graph))]
        edges: u32,
        #[input(per = node, bits = 33)]
        rows: Bits,
        n: u32,
        #[output(per = 1)]
        sum: u32,
    }

    #[wave(once)]
    fn add(
        named: &Buf<u32>,
        fixed: &Buf<u32>,
        constant: &Buf<u32>,
        nodes: &Buf<u32>,
        edges: &Buf<u32>,
        rows: &Bits,
        sum: &Buf<Atomic<u32>>,
    ) {
        let all = named[0] + fixed[0] + constant[0] + nodes[0] + edges[0] + rows.word(0, 0);
        sum[0].store(all);
    }
}

fn lengths_say_how_they_are_declared(runtime: &Runtime) {
    let graph = Csr::from_edges(3, &[(0, 1), (1, 2)]).expect("a graph");
    let mut session = lengths::Session::new(runtime, &graph).expect("it fits");
    let right = lengths::Run {
        named: &[1; 5],
        fixed: &[1; 4],
        constant: &[1; 6],
        nodes: &[1; 3],
        edges: &[1; 2],
        rows: &[1; 6],
        n: 5,
    };
    assert_eq!(session.run(right).expect("all fit").sum, [6]);
    for (wrong, says) in [
        (
            lengths::Run {
                named: &[1],
                ..right
            },
            "`named` has 1 element; the pass needs 5 (per = n, n = 5)",
        ),
        (
            lengths::Run { n: 0, ..right },
            "`named` has 5 elements; the pass needs 0 (per = n, n = 0)",
        ),
        (
            lengths::Run {
                fixed: &[],
                ..right
            },
            "`fixed` has 0 elements; the pass needs 4",
        ),
        (
            lengths::Run {
                constant: &[1; 7],
                ..right
            },
            "`constant` has 7 elements; the pass needs 6",
        ),
        (
            lengths::Run {
                nodes: &[1; 4],
                ..right
            },
            "`nodes` has 4 elements; the pass needs 3 (per = node, 3 nodes)",
        ),
        (
            lengths::Run {
                edges: &[1; 3],
                ..right
            },
            "`edges` has 3 elements; the pass needs 2 (per = edge(graph), 2 edges)",
        ),
        (
            lengths::Run {
                rows: &[1; 3],
                ..right
            },
            "`rows` has 3 elements; the pass needs 6 (per = node, 3 nodes of 2 words)",
        ),
    ] {
        let error = session.run(wrong).expect_err("one does not fit");
        assert_eq!(error.to_string(), says);
    }
}

/// Fails where it is told to.
#[wave_graph]
mod picky {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        x: u32,
        #[frontier(capacity = 1)]
        front: Frontier,
        #[output(per = node)]
        y: u32,
        way: u32,
    }

    #[wave(once)]
    fn at_once(way: u32, y: &Buf<Atomic<u32>>) {
        assert!(way != 1, "at once");
        if way == 2 {
            y[way + 90].store(1);
        }
    }

    #[wave(nodes, after(at_once))]
    fn each(v: Node, way: u32, x: &u32, y: &mut u32) {
        assert!(way != 3 || v < 2, "each");
        *y = *x + v;
    }

    #[wave(nodes, after(at_once))]
    fn first(v: Node, way: u32, front: &Push) {
        if way == 4 {
            front.push(v);
        }
    }

    #[wave(nodes, after(each))]
    fn second(v: Node, way: u32, y: &u32, front: &Push) {
        if way == 4 && *y > 0 {
            front.push(v);
        }
    }
}

const WAYS: [u32; 3] = [10, 20, 30];

fn picks(way: u32) -> picky::Run<'static> {
    picky::Run { x: &WAYS, way }
}

fn picked(runtime: &Runtime) -> picky::Session {
    let graph = Csr::from_edges(3, &[]).expect("a graph");
    picky::Session::new(runtime, &graph).expect("it fits")
}

/// There is nothing that an item's number would tell.
fn a_wave_that_runs_once_has_no_item(runtime: &Runtime) {
    let mut session = picked(runtime);
    for (way, item, says) in [
        (1, None, "assertion failed: at once in `at_once` ("),
        (
            2,
            None,
            "index 92 is outside of `y` (per = node, 3 nodes) in `at_once` (",
        ),
        (3, Some(2), "assertion failed: each in `each` at item 2 ("),
    ] {
        let error = session.run(picks(way)).expect_err("it traps");
        assert!(error.to_string().starts_with(says), "{error}");
        assert_eq!(error.trap().and_then(|trap| trap.item), item);
    }
}

fn a_trap_says_which_run_of_a_series_it_is_of(runtime: &Runtime) {
    let mut session = picked(runtime);
    // More runs than a device is given at once.
    let series = |fails: usize| (0..300).map(move |i| picks(if i == fails { 3 } else { 0 }));
    for fails in [0, 7, 255, 256, 299] {
        let error = session.run_series(series(fails)).expect_err("one traps");
        let says =
            format!("assertion failed: each in `each` at item 2 in run {fails} of the series (");
        assert!(error.to_string().starts_with(&says), "{error}");
        assert_eq!(error.trap().and_then(|trap| trap.run), Some(fails as u64));
    }
    let out = session.run_series(series(300)).expect("none traps");
    assert_eq!(out.y, [10, 21, 32]);
    // One run is none of a series, and neither is a query of a batch.
    for error in [
        session.run(picks(3)).expect_err("it traps"),
        session.run_series([picks(3)]).expect_err("it traps"),
    ] {
        assert_eq!(error.trap().and_then(|trap| trap.run), None);
    }
    let ids = [0, 3].map(|way| session.submit(picks(way), 0));
    let results = session.run_batch().expect("a batch").results;
    assert_eq!(results[1].0, ids[1]);
    let trap = results[1].1.as_ref().err().and_then(Error::trap);
    assert_eq!(
        trap.map(|trap| (trap.run, trap.item)),
        Some((None, Some(2)))
    );
}

/// The wave that is too much for the frontier ends the run, so that it is not known what the next one would have added.
fn an_overflow_tells_what_was_needed_until_then(runtime: &Runtime) {
    let error = picked(runtime).run(picks(4)).expect_err("it is too short");
    let says = "frontier `front` needs at least 3 items; its capacity is 1 in `first` (";
    assert!(error.to_string().starts_with(says), "{error}");
    let trap = error.trap().expect("an overflow is a trap");
    assert_eq!((trap.index, trap.len, trap.item), (3, 1, None));
}

fn sessions_name_a_topology_that_they_do_not_have(runtime: &Runtime) {
    let graph = Csr::from_edges(3, &[]).expect("a graph");
    for (graphs, says) in [
        (2, "there is no topology 2; there are 2, counted from 0"),
        (1, "there is no topology 2; there is 1, counted from 0"),
    ] {
        let graphs = std::iter::repeat_n(&graph, graphs);
        let mut sessions = picky::Sessions::new(runtime, graphs).expect("they fit");
        let (right, wrong) = (
            sessions.submit(0, picks(0), 0),
            sessions.submit(2, picks(0), 0),
        );
        let results = sessions.run_batch().expect("a batch").results;
        assert_eq!([results[0].0, results[1].0], [right, wrong]);
        assert_eq!(results[0].1.as_ref().expect("it runs").y, [10, 21, 32]);
        let error = results[1].1.as_ref().expect_err("there is no such graph");
        assert_eq!(error.to_string(), says);
    }
}

fn queries_run_on_the_topology_that_is_there_then(runtime: &Runtime) {
    let mut session = picked(runtime);
    let three = session.submit(picks(0), 0);
    let run = picky::Run { x: &[1; 4], way: 0 };
    let four = session.submit(run, 0);
    let graph = Csr::from_edges(4, &[]).expect("a graph");
    session.update(&graph).expect("it fits");
    assert_eq!(session.waiting(), 2);
    let results = session.run_batch().expect("a batch").results;
    assert_eq!([results[0].0, results[1].0], [three, four]);
    let error = results[0]
        .1
        .as_ref()
        .expect_err("it is of the graph before");
    assert_eq!(
        error.to_string(),
        "`x` has 3 elements; the pass needs 4 (per = node, 4 nodes)"
    );
    assert_eq!(results[1].1.as_ref().expect("it fits").y, [1, 2, 3, 4]);
}

/// Rows of as many bits as there are nodes, or of one word where there is one node.
#[wave_graph]
mod square {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node, bits = 9)]
        rows: Bits,
        way: u32,
    }

    #[wave(nodes)]
    fn set(v: Node, rows: &Bits, way: u32) {
        match way {
            0 => {
                rows.set(v + 9, 0);
            }
            1 => {
                rows.set(v, v + 9);
            }
            2 => {
                rows.or_word(v + 9, 0, 1);
            }
            3 => {
                rows.or_word(v, v + 1, 1);
            }
            _ => rows.clear(v + 9),
        }
    }
}

fn an_index_of_rows_is_of_the_dimension_that_it_exceeds(runtime: &Runtime) {
    for (nodes, way, says) in [
        (
            9,
            0,
            "index 9 is outside of `rows` (per = node, 9 nodes) in `set` at item 0",
        ),
        (
            9,
            1,
            "index 9 is outside of `rows` (bits = 9) in `set` at item 0",
        ),
        (
            9,
            4,
            "index 9 is outside of `rows` (per = node, 9 nodes) in `set` at item 0",
        ),
        (
            1,
            2,
            "index 9 is outside of `rows` (per = node, 1 node) in `set` at item 0",
        ),
        (
            1,
            3,
            "index 1 is outside of `rows` (1 word) in `set` at item 0",
        ),
    ] {
        let graph = Csr::from_edges(nodes, &[]).expect("there are no edges");
        let mut session = square::Session::new(runtime, &graph).expect("it fits");
        let error = session.run(square::Run { way }).expect_err("it traps");
        let text = error.to_string();
        assert!(text.contains(says), "{nodes} nodes, way {way}: {text}");
    }
}

macro_rules! written {
    ($name:ident, $far:expr) => {
        #[wave_graph]
        mod $name {
            pub(crate) struct Data {
                #[input(per = 3)]
                x: u32,
                #[input(per = 3)]
                z: u32,
                #[input(per = 4)]
                w: u32,
                #[output(per = 1)]
                y: u32,
                way: u32,
            }

            #[wave(once)]
            fn at(x: &Buf<u32>, z: &Buf<u32>, w: &Buf<u32>, y: &Buf<Atomic<u32>>, way: u32) {
                assert!(way < 9, "first");
                match way {
                    0 => y[0].store(x[way + $far]),
                    1 => y[0].store(z[way + $far]),
                    2 => y[0].store(w[way + $far]),
                    3 => assert_eq!(way, 100, "second"),
                    4 => assert!(way > 100, "third"),
                    _ => panic!("fourth"),
                }
            }
        }
    };
}
written!(by_a_macro, 10);

/// Natively all of it has the place of the macro's call, and what cannot be told apart is not guessed.
fn what_a_macro_wrote_is_told_apart_or_not_guessed(runtime: &Runtime) {
    let native = runtime.backend() == "native";
    let mut session = by_a_macro::Session::new(runtime, ()).expect("it fits");
    for (way, says) in [
        (
            0,
            if native {
                "`x` or `z` (per = 3)"
            } else {
                "`x` (per = 3)"
            },
        ),
        (
            1,
            if native {
                "`x` or `z` (per = 3)"
            } else {
                "`z` (per = 3)"
            },
        ),
        (2, "index 12 is outside of `w` (per = 4)"),
        (3, "assertion failed: second in `at`"),
        (4, "assertion failed: third in `at`"),
        (5, "fourth in `at`"),
        (9, "assertion failed: first in `at`"),
    ] {
        let run = by_a_macro::Run {
            x: &[0; 3],
            z: &[0; 3],
            w: &[0; 4],
            way,
        };
        let error = session.run(run).expect_err("it traps");
        let text = error.to_string();
        assert!(text.contains(says), "way {way}: {text}");
    }
}

#[test]
fn runtimes_show_their_backend_and_device() {
    let runtime = Runtime::vir0();
    assert_eq!(
        format!("{runtime:?}"),
        format!(
            "Runtime {{ backend: \"vir0\", device: {:?} }}",
            runtime.device()
        )
    );
}

#[test]
fn an_edge_that_leaves_a_node_that_is_none_says_so() {
    let error = |edges: &[(u32, u32)]| {
        Csr::from_edges(4, edges)
            .expect_err("no node 9")
            .to_string()
    };
    assert_eq!(
        error(&[(3, 0), (9, 1)]),
        "edge 1 leaves node 9; there are 4 nodes"
    );
    assert_eq!(
        error(&[(3, 0), (1, 9)]),
        "edge 1 points to node 9; there are 4 nodes"
    );
    let graph = Csr::from_edges(4, &[(3, 0)]).expect("a graph");
    let added = graph.append(&[(9, 1)]).expect_err("no node 9").to_string();
    assert_eq!(added, "edge 0 leaves node 9; there are 4 nodes");
}

/// Its first fixpoint ends by its rounds, its second need not; one lane settles what is left.
#[wave_graph]
mod bounded {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[topology]
        other: Csr,
        #[output(per = 1)]
        rest: u32,
        #[output(per = node)]
        degree: u32,
        steps: u32,
    }

    #[fixpoint(until(round + 1 >= steps))]
    mod counted {
        #[wave(nodes)]
        fn add(v: Node, graph: &Csr, other: &Csr, degree: &mut u32) {
            *degree += graph.degree(v) + other.degree(v);
        }
    }

    #[fixpoint(until(round > 2 && steps > 0), max_rounds = 9)]
    mod open {
        #[wave(once)]
        fn settle(graph: &Csr, rest: &Buf<Atomic<u32>>) {
            let seen = rest[0].load() + graph.degree(0);
            rest[0].store(seen.min(5));
        }
    }
}

#[test]
fn plans_name_graphs_registers_and_what_bounds_rounds() {
    let plan = bounded::PLAN.to_string();
    // What one lane reads and writes, no other lane does.
    let starts = "pass bounded (same bits: every run gives them, on every backend)\n";
    assert!(plan.starts_with(starts), "{plan}");
    for says in [
        " fixpoint counted\n",
        " fixpoint open (at most 9 rounds)\n",
        "reads graph, reads other, writes degree",
        "reads graph, writes rest",
        " registers\n",
    ] {
        assert!(plan.contains(says), "{says}: {plan}");
    }
    assert!(!plan.contains(" rows"), "{plan}");
}

/// One that is given.
#[wave_graph]
mod given {
    pub(crate) struct Data {
        #[input(per = n)]
        x: u32,
        #[output(per = n)]
        y: u32,
        n: u32,
    }

    #[wave(range(n))]
    fn copy(x: &u32, y: &mut u32) {
        *y = *x;
    }
}

fn what_is_refused_is_no_launch(runtime: &Runtime) {
    let mut session = given::Session::new(runtime, ()).expect("it fits");
    let wrong = given::Run { x: &[1], n: 2 };
    assert!(session.run(wrong).is_err());
    session.submit(wrong, 0);
    let refused = session.run_batch().expect("others are asked").results;
    assert!(refused[0].1.is_err());
    assert_eq!(session.explain().to_string(), "");
    session.run(given::Run { x: &[1], n: 1 }).expect("no trap");
    session.submit(wrong, 0);
    session.run_batch().expect("others are asked");
    let numbers: Vec<u64> = session.decisions().map(|d| d.number).collect();
    assert_eq!(numbers, [1]);
}

#[test]
fn what_is_explained_says_why_a_run_is_where_it_is() {
    let runtime = Runtime::native().because("no device answers");
    let graph = Csr::from_edges(2, &[(0, 1)]).expect("a graph");
    let topology = bounded::Topology {
        graph: &graph,
        other: &graph,
    };
    let mut session = bounded::Session::new(&runtime, topology).expect("it fits");
    assert_eq!(session.explain().to_string(), "");
    session.run(bounded::Run { steps: 2 }).expect("no trap");
    let text = session.explain().to_string();
    assert!(
        text.contains("\nbackend   native: no device answers\n"),
        "{text}"
    );
    let error = session
        .run_series(std::iter::empty::<bounded::Run>())
        .map(drop)
        .expect_err("no runs");
    let says = "a series has at least one run, and this one has none";
    assert_eq!(error.to_string(), says);
    assert_eq!(session.explain().to_string(), text);
}
