//! Two passes in one launch.

use vyre::FusedSession;
use vyre::prelude::*;
use vyre_core::plan::check;
use vyre_core::vir0::module::Step;
use vyre_tests::backend_tests;
use vyre_tests::passes::bfs;

/// Degrees first, then how far the high ones are.
#[wave_graph]
mod busy {
    struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        far: u32,
        #[scratch(per = node)]
        degree: u32,
        #[output(per = node)]
        score: u32,
        #[reduce(max)]
        most: u32,
        least: u32,
    }

    #[wave(nodes)]
    fn measure(v: Node, graph: &Csr, degree: &mut u32) {
        *degree = graph.degree(v);
    }

    #[wave(nodes, after(measure))]
    fn rate(degree: &u32, far: &u32, least: u32, score: &mut u32, most: &Reduce<Max<u32>>) {
        assert!(*far != 7, "seven is too far");
        if *degree >= least && *far != 4_294_967_295 {
            *score = *degree * 100 + *far;
        }
        most.max(*score);
    }
}

fn graph() -> Csr {
    Csr::from_edges(6, &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 0), (5, 0)]).unwrap()
}

/// Rows of bits, a list of structs and one of numbers, whichever pass comes first.
#[wave_graph]
mod noted {
    #[device]
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub(super) struct Note {
        pub(super) node: u32,
        pub(super) even: bool,
    }

    struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, bits = 40)]
        seen: Bits,
        #[list(capacity = 6, output)]
        notes: List<Note>,
        #[list(capacity = 6, output)]
        far: List<u32>,
        from: u32,
    }

    #[wave(nodes)]
    fn note(v: Node, from: u32, seen: &Bits, notes: &Append<Note>, far: &Append<u32>) {
        seen.set(v, v + from);
        if v >= from {
            notes.append(Note {
                node: v,
                even: v.is_multiple_of(2),
            });
        } else {
            far.append(v);
        }
    }
}

backend_tests!(
    a_linked_pair_gives_what_two_sessions_give,
    a_linked_input_takes_no_argument,
    each_pass_has_its_lists_and_its_rows
);

fn each_pass_has_its_lists_and_its_rows(runtime: &Runtime) {
    let graph = graph();
    let topology = (&graph, &graph);
    let mut fused = FusedSession::<noted::Pass, noted::Pass>::new(runtime, topology, &[]).unwrap();
    let mut alone = noted::Session::new(runtime, &graph).unwrap();
    let (a, b) = (fused.run(noted::Run { from: 2 }, noted::Run { from: 5 })).unwrap();
    for (mut out, from) in [(a, 2), (b, 5)] {
        let mut one = alone.run(noted::Run { from }).unwrap();
        assert_eq!(
            (out.notes.len() as u32, out.far.len() as u32),
            (6 - from, from)
        );
        for out in [&mut out, &mut one] {
            out.notes.sort_by_key(|note| note.node);
            out.far.sort_unstable();
        }
        assert_eq!(
            (out.seen, out.notes, out.far),
            (one.seen, one.notes, one.far)
        );
    }
}

/// Adds floats in an order that is always the same.
#[wave_graph]
mod weighed {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        weight: f32,
    }

    #[wave(nodes)]
    fn add(v: Node, graph: &Csr, weight: &mut f32) {
        let mut sum = 0.0;
        for to in graph.neighbors(v) {
            sum += 0.1 * to as f32;
        }
        *weight = sum;
    }
}

#[test]
fn what_keeps_passes_apart_is_said() {
    let graph = graph();
    let told = |runtime: &Runtime| {
        let topology = (&graph, &graph);
        let both = FusedSession::<weighed::Pass, noted::Pass>::new(runtime, topology, &[]);
        let mut both = both.unwrap();
        both.run(weighed::Run {}, noted::Run { from: 2 }).unwrap();
        assert!(!both.is_one_launch());
        both.explain().to_string()
    };
    let text = told(&Runtime::native());
    let why = "\nboth      one after the other: native calls each pass's own functions\n";
    assert!(text.contains(why), "{text}");
    let text = told(&Runtime::vir0());
    let why = "\nboth      one after the other: the result of `noted` is open, so that in one launch `weighed` would \
               add floats in another order\n";
    assert!(text.contains(why), "{text}");
    // A claim is the pass's own.
    let claim = "`#[pass(same_result(seen = \"why\", notes = \"why\", far = \"why\"))]` of `noted`";
    assert!(text.contains(claim), "{text}");
}

fn a_linked_pair_gives_what_two_sessions_give(runtime: &Runtime) {
    let graph = graph();
    let topology = (&graph, &graph);
    let mut fused =
        FusedSession::<bfs::Pass, busy::Pass>::new(runtime, topology, &[("dist", "far")]).unwrap();
    assert_eq!(fused.is_one_launch(), runtime.backend() != "native");
    // `init` and `measure` share a group; `rate` waits for the search.
    assert_eq!(check::program(fused.program()), []);
    assert_eq!(fused.barriers(), (1, 2));
    for source in [0, 5, 4] {
        let run = bfs::Run { source };
        let (a, b) = fused.run(run, busy::Run { far: &[], least: 2 }).unwrap();
        let mut one = bfs::Session::new(runtime, &graph).unwrap();
        let mut two = busy::Session::new(runtime, &graph).unwrap();
        let first = one.run(run).unwrap();
        let second = two
            .run(busy::Run {
                far: &first.dist,
                least: 2,
            })
            .unwrap();
        assert_eq!(a.dist, first.dist);
        assert_eq!((b.score, b.most), (second.score, second.most));
        assert_eq!(a.report.rounds, first.report.rounds);
    }
}

#[test]
fn passes_that_do_not_meet_share_every_barrier() {
    let graph = graph();
    let runtime = Runtime::vir0();
    let mut fused =
        FusedSession::<busy::Pass, busy::Pass>::new(&runtime, (&graph, &graph), &[]).unwrap();
    assert_eq!(fused.barriers(), (1, 3));
    let waves = |s: &&Step| matches!(s, Step::Wave(_));
    assert_eq!(fused.program().schedule.iter().filter(waves).count(), 4);
    let (near, far) = ([0; 6], [9; 6]);
    let (a, b) = fused
        .run(
            busy::Run {
                far: &near,
                least: 1,
            },
            busy::Run {
                far: &far,
                least: 2,
            },
        )
        .unwrap();
    assert_eq!(a.score, [200, 100, 100, 200, 0, 100]);
    assert_eq!(b.score, [209, 0, 0, 209, 0, 0]);
    assert_eq!((a.most, b.most), (200, 209));
    let (near, far) = ([0; 6], [7; 6]);
    let (first, second) = (
        busy::Run {
            far: &near,
            least: 1,
        },
        busy::Run {
            far: &far,
            least: 2,
        },
    );
    let error = fused.run(first, second).unwrap_err().to_string();
    let said = "assertion failed: seven is too far in `busy::rate` at item 0";
    assert!(error.starts_with(said), "{error}");
    let names: Vec<&str> = fused
        .program()
        .waves
        .iter()
        .map(|w| w.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["busy::measure", "busy::rate", "busy::measure", "busy::rate"]
    );
}

#[test]
fn links_that_do_not_fit_are_refused() {
    let graph = graph();
    let link = |from: &str, to: &str| {
        let links = [(from, to)];
        FusedSession::<bfs::Pass, busy::Pass>::new(&Runtime::vir0(), (&graph, &graph), &links)
            .unwrap_err()
            .to_string()
    };
    let no_input = |name| {
        format!("a link names `{name}`, which is no input of `busy` in a buffer; it has `far`")
    };
    assert_eq!(link("dist", "score"), no_input("score"));
    assert_eq!(link("dist", "nothing"), no_input("nothing"));
    // A frontier is no buffer.
    assert_eq!(
        link("front", "far"),
        "a link names `front`, which is no output of `bfs` in a buffer; it has `dist`"
    );
    let graph = (&graph, &graph);
    let twice = [("dist", "far"), ("dist", "far")];
    let error = FusedSession::<bfs::Pass, busy::Pass>::new(&Runtime::vir0(), graph, &twice);
    assert_eq!(
        error.unwrap_err().to_string(),
        "`busy::far` is linked twice: an input is one output"
    );
    let other = Csr::from_edges(6, &[(0, 1)]).unwrap();
    let error =
        FusedSession::<bfs::Pass, busy::Pass>::new(&Runtime::vir0(), (graph.0, &other), &[]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "`bfs` and `busy` are given different graphs; fused passes work on the same ones"
    );
    type Ranks = crate::backends::pagerank::Pass;
    let error = FusedSession::<Ranks, bfs::Pass>::new(&Runtime::vir0(), graph, &[]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "`pagerank` works on `graph` and `incoming` (reverse of `graph`), and `bfs` on `graph`: fused passes work on the \
         same graphs, declared in the same order, of which a `reverse_of` is one"
    );
}

#[device]
mod shapes {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub(crate) struct Place {
        pub(crate) x: u32,
        pub(crate) far: bool,
    }
}

/// Structs, as many as each run says.
#[wave_graph]
mod places {
    use super::shapes::Place;

    struct Data {
        #[output(per = n)]
        place: Place,
        #[output(per = n)]
        weight: f32,
        n: u32,
    }

    #[wave(range(n))]
    fn put(i: Index, place: &mut Place, weight: &mut f32) {
        *place = Place {
            x: i * 3,
            far: i > 1,
        };
        *weight = i as f32;
    }
}

#[wave_graph]
mod looked_at {
    use super::shapes::Place;

    struct Data {
        #[input(per = 4)]
        at: Place,
        #[input(per = 4)]
        weight: u32,
        #[output(per = 4)]
        found: u32,
    }

    #[wave(range(4))]
    fn look(at: &Place, weight: &u32, found: &mut u32) {
        *found = *weight + if at.far { at.x } else { 0 };
    }
}

#[test]
fn a_link_that_does_not_fit_says_what_does_not() {
    let link = |from: &str, to: &str| {
        let links = [(from, to)];
        FusedSession::<places::Pass, looked_at::Pass>::new(&Runtime::vir0(), ((), ()), &links)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        link("weight", "weight"),
        "`places::weight` cannot be linked to `looked_at::weight`: one holds f32, the other u32"
    );
    assert_eq!(
        link("weight", "at"),
        "`places::weight` cannot be linked to `looked_at::at`: their elements have different types"
    );
    assert_eq!(
        link("place", "at"),
        "`places::place` cannot be linked to `looked_at::at`: their lengths, `n` and `4`, may differ: \
         scalars and constants are each pass's own"
    );
    assert_eq!(
        link("place", "found"),
        "a link names `found`, which is no input of `looked_at` in a buffer; it has `at`, `weight`"
    );
}

/// Where structs begin, as long as what is linked to them.
#[wave_graph]
mod four_places {
    use super::shapes::Place;

    struct Data {
        #[output(per = 4)]
        place: Place,
        #[output(per = 4)]
        weight: u32,
    }

    #[wave(range(4))]
    fn put(i: Index, place: &mut Place, weight: &mut u32) {
        *place = Place {
            x: i * 3,
            far: i > 1,
        };
        *weight = 100 * i;
    }
}

/// What is linked comes from the first pass. What else is given for it is refused, and the session works on.
fn a_linked_input_takes_no_argument(runtime: &Runtime) {
    let links = [("place", "at"), ("weight", "weight")];
    let both = FusedSession::<four_places::Pass, looked_at::Pass>::new(runtime, ((), ()), &links);
    let mut both = both.unwrap();
    let nothing = looked_at::Run {
        at: &[],
        weight: &[],
    };
    for _ in 0..2 {
        let (_, out) = both.run(four_places::Run {}, nothing).unwrap();
        assert_eq!(out.found, [0, 100, 206, 309]);
        let weight = [7; 4];
        let given = looked_at::Run {
            weight: &weight,
            ..nothing
        };
        let error = both.run(four_places::Run {}, given).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`looked_at::weight` is linked to `four_places::weight`, which it gets from this run; \
             give it nothing, as in `weight: &[]`"
        );
        let at = [shapes::Place { x: 1, far: true }];
        let given = looked_at::Run { at: &at, ..nothing };
        let error = both
            .run(four_places::Run {}, given)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("`looked_at::at` is linked to `four_places::place`"),
            "{error}"
        );
    }
}

#[test]
fn a_pair_that_does_not_fit_is_refused_before_it_allocates() {
    let graph = graph();
    let open = |bytes| {
        let runtime = Runtime::vir0().with_memory(bytes);
        let topology = (&graph, &graph);
        FusedSession::<bfs::Pass, busy::Pass>::new(&runtime, topology, &[("dist", "far")])
            .map(|_| runtime.memory().unwrap().1)
    };
    let used = open(10_000).unwrap();
    assert!(used > 0 && used < 10_000, "{used}");
    assert!(open(used).is_ok());
    let error = open(100).unwrap_err().to_string();
    assert!(
        error.contains("does not fit") || error.contains("do not fit"),
        "{error}"
    );
    assert!(error.contains("100"), "{error}");
}
