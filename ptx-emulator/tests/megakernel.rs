//! Whole passes on an emulated device: vyre's own host code, the PTX that is shipped, and no GPU.

use ptx_emulator::{Launch, Machine, Module};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use vyre::Runtime;
use vyre::prelude::*;
use vyre_core::cpu::vir0::Vir0Executor;
use vyre_core::dsl::columns::{Column, Slice};
use vyre_core::dsl::csr::Csr;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::check;
use vyre_core::plan::footprint::Allocation;
use vyre_core::run::args::{Args, TopologyArgs};
use vyre_core::run::backend::{Backend, Executor, Opening};
use vyre_core::run::outcome::Outcome;
use vyre_core::vir0::module::{Agreement, Buffer, BufferId, Program, ReductionId, Role};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::sizes::Sizes;
use vyre_core::vir0::verify::verify;
use vyre_cuda::played::{Allocations, Launched, Played, Player, play};
use vyre_cuda::{Cuda, Shape};
use vyre_tests::endless::{rounds, spin, undecided};
use vyre_tests::graphs::UNSEEN;
use vyre_tests::passes::{bfs, faulty_loops, phases, shared_loops, sssp, three_waves, walks, work};
use vyre_tests::random::cases;
use vyre_tests::steps::{self, ends, search, takes, ways, wheel};
use vyre_tests::{graphs, programs};

/// Runs launches in the emulator. `seed` decides the order of the warps.
struct Emulator {
    seed: u64,
}

thread_local! {
    /// Texts that were read.
    static MODULES: std::cell::RefCell<HashMap<Arc<str>, Rc<Module>>> = std::cell::RefCell::default();
}

fn module_of(ptx: &Arc<str>) -> Rc<Module> {
    let read = || Rc::new(Module::parse(ptx).unwrap_or_else(|e| panic!("{e}")));
    MODULES
        .with_borrow_mut(|modules| Rc::clone(modules.entry(Arc::clone(ptx)).or_insert_with(read)))
}

impl Player for Emulator {
    fn launch(&mut self, launched: Launched, allocations: &mut Allocations) -> Result<(), String> {
        let launch = Launch {
            ctas: launched.ctas,
            threads: launched.threads,
            cluster: launched.cluster,
            shared_bytes: launched.shared_bytes,
        };
        let module = module_of(&launched.ptx);
        let mut machine = Machine::launch(module, &launched.entry, launch, &launched.params);
        for (&at, bytes) in &*allocations {
            machine.memory.map(at, bytes);
        }
        let ended = machine
            .run_up_to(self.seed, 50_000_000)
            .map_err(|e| e.to_string());
        for (&at, bytes) in allocations
            .iter_mut()
            .filter(|(_, bytes)| !bytes.is_empty())
        {
            *bytes = machine.memory.bytes(at, bytes.len());
        }
        ended
    }
}

fn played(multiprocessors: u32, cluster: u32, seed: u64) -> Cuda {
    let played = Played {
        multiprocessors,
        cluster,
        shared_bytes: 232_448,
        static_shared_bytes: 20 << 10,
    };
    play(played, Emulator { seed }).expect("it has all that is needed")
}

/// The same with compiled passes, by modules of a shape.
fn shaped(shape: Shape, (multiprocessors, cluster): (u32, u32)) -> Runtime {
    let cuda = played(multiprocessors, cluster, 3).with_shape(shape);
    Runtime::on(Arc::new(cuda)).with_route(vyre::RoutePolicy::Compiled)
}

fn emulated(multiprocessors: u32, cluster: u32, seed: u64) -> Runtime {
    let runtime = Runtime::on(Arc::new(played(multiprocessors, cluster, seed)));
    runtime.with_route(vyre::RoutePolicy::Interpreter)
}

#[test]
fn a_search_along_a_path_finds_its_distances() {
    let graph = graphs::chain(4);
    for seed in 0..3 {
        let runtime = emulated(2, 1, seed);
        let mut session = bfs::Session::new(&runtime, &graph).expect("it fits");
        let out = session.run(bfs::Run { source: 0 }).expect("no trap");
        assert_eq!(out.dist, [0, 1, 2, 3]);
    }
}

/// What a run leaves in whatever order: results, rounds; or that it was refused.
type Left = Option<(
    Vec<(BufferId, Column)>,
    Vec<Vec<u32>>,
    Vec<(ReductionId, u64)>,
    Vec<u64>,
)>;

fn left(outcome: Result<Outcome, RunError>) -> Left {
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(RunError::Trap(_)) => return None,
        Err(e) => panic!("{e}"),
    };
    let sorted = |columns: Vec<Column>| {
        let Some(Column::U32(mut items)) = columns.into_iter().next() else {
            panic!("the list holds numbers");
        };
        items.sort_unstable();
        items
    };
    let lists = outcome.lists.into_iter();
    let lists = lists.map(|(_, columns)| sorted(columns)).collect();
    let (outputs, reductions) = (outcome.outputs, outcome.reductions);
    Some((outputs, lists, reductions, outcome.report.rounds))
}

/// Those programs whose result no order of waves changes, by a module of their own.
#[test]
fn random_compiled_passes_do_what_they_mean() {
    random_passes(60, |nth| played(1, 1, nth));
}

/// The same, by several small CTAs on each multiprocessor.
#[test]
fn random_compiled_passes_of_other_shapes_do_what_they_mean() {
    let shapes = ["128x3", "256x2", "160x1"];
    random_passes(45, |nth| {
        let shape = shapes[nth as usize % shapes.len()];
        played(1, 1, nth).with_shape(shape.parse().expect("it is a shape"))
    });
}

fn random_passes(count: u64, device: impl Fn(u64) -> Cuda) {
    let (mut ran, mut finished) = (0, 0);
    cases(count, |u| {
        let (graph, program) = (programs::graph(u)?, programs::program(u)?);
        assert_eq!(verify(&program), Ok(()));
        if !check::program(&program).is_empty() {
            return Ok(());
        }
        let program = Arc::new(program);
        let topology = TopologyArgs {
            graphs: vec![&graph],
            columns: vec![],
            scalars: vec![],
        };
        let expected = Vir0Executor::new(Arc::clone(&program), &topology, Allocation::Separate);
        let expected = left(expected.expect("it fits").run(&Args::default()));
        let cuda = device(ran);
        let opening = Opening {
            program: Arc::clone(&program),
            topology: &topology,
            allocation: Allocation::Separate,
            native: None,
        };
        let mut executor = cuda.open(opening).expect("it fits");
        assert!(executor.compile().expect("a played device takes any text"));
        let got = left(executor.run(&Args::default()));
        let text = || vyre_core::vir0::disasm::program(&program);
        assert_eq!(got, expected, "{}", text());
        ran += 1;
        finished += u32::from(expected.is_some());
        Ok(())
    });
    println!("{finished} of {ran} programs finished");
    assert!(u64::from(finished) > ran / 10 && ran > 0);
}

#[test]
fn a_compiled_search_says_so_and_finds_its_distances() {
    let graph = graphs::random_graph(70, 200);
    let runtime = emulated(2, 1, 0);
    let mut session = bfs::Session::new(&runtime, &graph).expect("it fits");
    session
        .compile_now()
        .expect("a played device takes any text");
    let out = session.run(bfs::Run { source: 0 }).expect("no trap");
    assert_eq!(out.report.route, "compiled");
    assert_eq!(out.dist, graphs::distances(&graph, 0));
}

/// Narrow rounds of compiled passes: on one CTA, on all, in a cluster, and from one to the other.
#[test]
fn compiled_narrow_rounds_find_what_they_mean() {
    let shapes = [
        graphs::chain(40),
        graphs::grid(12, 9),
        graphs::grid(3, 60),
        graphs::random_graph(60, 200),
        graphs::random_graph(700, 2000),
    ];
    for graph in &shapes {
        let weight: Vec<u32> = (0..graph.edge_count() as u32).map(|e| e * 7 % 23).collect();
        let topology = || sssp::Topology {
            graph,
            weight: &weight,
        };
        let nearest = graphs::shortest(graph, &weight, 0);
        for (multiprocessors, cluster) in [(3, 1), (8, 8)] {
            let runtime = emulated(multiprocessors, cluster, 3);
            let mut session = bfs::Session::new(&runtime, graph).expect("it fits");
            session.compile_now().expect("any text is taken");
            let out = session.run(bfs::Run { source: 0 }).expect("no trap");
            assert_eq!(out.dist, graphs::distances(graph, 0));
            let mut session = sssp::Session::new(&runtime, topology()).expect("it fits");
            session.compile_now().expect("any text is taken");
            let out = session.run(sssp::Run { source: 0 }).expect("no trap");
            assert_eq!(out.dist, nearest);
            println!("{:?}", out.report.activity);
        }
    }
}

/// Narrow rounds of several waves: on one CTA, in a cluster, from one to the other, and out to the general way where
/// rounds are wide, a node has many edges, a wave traps or rounds run out.
#[test]
fn compiled_rounds_of_several_waves_find_what_they_mean() {
    // A path to a node with many edges, whose ends lead on.
    let mut hub: Vec<(u32, u32)> = (0..9).map(|v| (v, v + 1)).collect();
    hub.extend((10..900).flat_map(|v| [(9, v), (v, 900 + v % 5)]));
    hub.extend((900..930).map(|v| (v, v + 1)));
    let shapes = [
        graphs::chain(20),
        graphs::chain(40),
        graphs::grid(12, 9),
        graphs::grid(3, 40),
        graphs::random_graph(60, 200),
        graphs::random_graph(700, 2000),
        graphs::random_graph(2500, 9000),
        Csr::from_edges(931, &hub).expect("it is a graph"),
    ];
    for graph in &shapes {
        let waves = |runtime: &Runtime, compiled: bool, too_far: u32| {
            let mut session = three_waves::Session::new(runtime, graph).expect("it fits");
            if compiled {
                session.compile_now().expect("any text is taken");
            }
            let run = three_waves::Run { source: 0, too_far };
            let once = |session: &mut three_waves::Session| {
                let out = session.run(run).map_err(|e| e.to_string())?;
                Ok::<_, String>((out.dist, out.label, out.back, out.report.rounds))
            };
            let first = once(&mut session);
            assert_eq!(once(&mut session), first);
            first
        };
        let walks = |runtime: &Runtime, compiled: bool| {
            let mut session = walks::Session::new(runtime, graph).expect("it fits");
            if compiled {
                session.compile_now().expect("any text is taken");
            }
            // A device does not say what was left in the frontier.
            let short =
                |e: vyre::Error| e.to_string().split(": frontier").next().map(str::to_owned);
            let out = session.run(walks::Run {}).map_err(short)?;
            Ok::<_, Option<String>>((out.seen, out.last, out.report.rounds))
        };
        let is_large = graph.edge_count() > 700;
        for too_far in [UNSEEN, 4, 13]
            .into_iter()
            .take(if is_large { 1 } else { 3 })
        {
            let meant = waves(&Runtime::vir0(), false, too_far);
            for (multiprocessors, cluster) in [(3, 1), (8, 8)] {
                let runtime = emulated(multiprocessors, cluster, 3);
                assert_eq!(waves(&runtime, true, too_far), meant);
            }
        }
        if is_large {
            continue;
        }
        let meant = walks(&Runtime::vir0(), false);
        for (multiprocessors, cluster) in [(3, 1), (8, 8)] {
            let runtime = emulated(multiprocessors, cluster, 3);
            assert_eq!(walks(&runtime, true), meant);
        }
    }
}

#[test]
fn explanations_say_which_narrow_rounds_go_the_general_way() {
    let graph = graphs::chain(8);
    let runtime = emulated(3, 1, 0);
    let explained = |mut session: work::Session| {
        let compiled = session.compile_now();
        compiled.expect("any text is taken");
        let weight = [1; 8];
        let run = work::Run {
            weight: &weight,
            room: 9_000,
            steps: 1,
        };
        session.run(run).expect("there is room");
        session.explain().to_string()
    };
    let text = explained(work::Session::new(&runtime, &graph).expect("it fits"));
    let why = "narrow rounds of `rounds` go the general way: `walk` sweeps no frontier of nodes of its own";
    assert!(text.contains(why), "{text}");
}

/// Runs a pass on three CTAs, with clusters and without, and compares it with the interpreter's meaning.
fn compared<T: PartialEq + std::fmt::Debug>(run: impl Fn(&Runtime) -> T) {
    let meant = run(&Runtime::vir0());
    assert_eq!(run(&emulated(3, 1, 5)), meant);
    assert_eq!(run(&emulated(8, 8, 6)), meant);
}

#[test]
fn searches_and_shortest_paths_mean_the_same() {
    let graph = graphs::random_graph(60, 200);
    let weight: Vec<u32> = (0..graph.edge_count() as u32).map(|e| e * 7 % 23).collect();
    compared(|runtime| {
        let mut session = bfs::Session::new(runtime, &graph).expect("it fits");
        session.run(bfs::Run { source: 3 }).expect("no trap").dist
    });
    compared(|runtime| {
        let topology = sssp::Topology {
            graph: &graph,
            weight: &weight,
        };
        let mut session = sssp::Session::new(runtime, topology).expect("it fits");
        session.run(sssp::Run { source: 3 }).expect("no trap").dist
    });
}

#[test]
fn nested_fixpoints_reductions_and_lists_mean_the_same() {
    let graph = graphs::random_graph(60, 200);
    let weight: Vec<u32> = (0..60).map(|v| v % 10).collect();
    compared(|runtime| {
        let mut session = phases::Session::new(runtime, &graph).expect("it fits");
        session.run(phases::Run {}).expect("no trap").degree
    });
    compared(|runtime| {
        let mut session = work::Session::new(runtime, &graph).expect("it fits");
        let run = work::Run {
            weight: &weight,
            room: 9_000,
            steps: 1,
        };
        session
            .run(run)
            .map(|out| out.sum)
            .map_err(|e| e.to_string())
    });
}

/// Local arrays stay in shared memory, also where one takes over the row of the item's number, and numbers of 64 bits
/// are pairs of words there.
#[vyre::prelude::wave_graph]
mod kept {

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        mean: f64,
        #[output(per = 6)]
        picked: u32,
        zero: u32,
    }

    #[wave(nodes)]
    fn mean(v: Node, graph: &Csr, mean: &mut f64) {
        let mut all = [f64::from(v); 4];
        let mut n = 1;
        for w in graph.neighbors(v) {
            if n == all.len() {
                break;
            }
            all[n] = f64::from(w);
            n += 1;
        }
        let mut sum = 0.0;
        for x in all {
            sum += x;
        }
        *mean = sum / 4.0;
    }

    #[wave(range(6))]
    fn pick(i: Index, zero: u32, picked: &mut u32) {
        if i >= 4 {
            let small = [i, i * 2, i * 3];
            *picked = small[(zero + i % 3) as usize];
        }
    }
}

#[test]
fn compiled_arrays_and_pairs_of_words_mean_the_same() {
    let graph = graphs::random_graph(40, 150);
    let run = |runtime: &Runtime| {
        let mut session = kept::Session::new(runtime, &graph).expect("it fits");
        let out = session.run(kept::Run { zero: 0 }).expect("no trap");
        (out.mean, out.picked, out.report.route)
    };
    let (mean, picked, _) = run(&Runtime::vir0());
    let compiled = emulated(2, 1, 3).with_route(vyre::RoutePolicy::Compiled);
    assert_eq!(run(&compiled), (mean, picked, "compiled"));
}

#[test]
fn loops_that_warps_share_leave_the_same() {
    // Hubs beside nodes with a few edges or none.
    let degree = |v: u32| match v % 5 {
        0 => v * 3,
        1 => 64 + v,
        _ => v % 4,
    };
    let edges: Vec<(u32, u32)> = (0..70u32)
        .flat_map(|v| (0..degree(v)).map(move |k| (v, (v * 5 + k * k * 3) % 70)))
        .collect();
    let g = vyre::Csr::from_edges(70, &edges).expect("edges name nodes");
    let weight: Vec<i32> = (0..edges.len() as i32).map(|i| i * 7 % 6 - 2).collect();
    let run = |runtime: &Runtime| {
        let topology = shared_loops::Topology {
            g: &g,
            weight: &weight,
        };
        let mut session = shared_loops::Session::new(runtime, topology).expect("it fits");
        session.compile_now().expect("it compiles");
        let mut out = session.run(shared_loops::Run {}).expect("no trap");
        out.report = Default::default();
        out
    };
    let meant = run(&Runtime::vir0());
    for (multiprocessors, seed) in [(1, 3), (3, 4)] {
        let compiled = emulated(multiprocessors, 1, seed).with_route(vyre::RoutePolicy::Compiled);
        assert_eq!(run(&compiled), meant);
    }
}

/// The innermost loop stands in the turn of each of the loops around it, and each of those can be shared out.
#[wave_graph]
mod deep {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        out: u32,
        nodes: u32,
    }

    #[wave(nodes)]
    fn count(v: Node, nodes: u32, graph: &Csr, out: &mut u32) {
        let mut sum = 0u32;
        for w in 0..nodes {
            for a in graph.neighbors(v) {
                for b in graph.neighbors(w) {
                    sum += a * b % 7;
                }
            }
        }
        *out = sum;
    }
}

#[test]
fn loops_in_loops_that_warps_share_leave_the_same() {
    let edges: Vec<(u32, u32)> = (0..40u32).map(|k| (k % 3, k % 5)).collect();
    let graph = vyre::Csr::from_edges(40, &edges).expect("edges name nodes");
    let run = |runtime: &Runtime| {
        let mut session = deep::Session::new(runtime, &graph).expect("it fits");
        session.compile_now().expect("it compiles");
        session.run(deep::Run { nodes: 40 }).expect("no trap").out
    };
    let compiled = emulated(1, 1, 3).with_route(vyre::RoutePolicy::Compiled);
    assert_eq!(run(&compiled), run(&Runtime::vir0()));
}

#[test]
fn the_first_turn_that_faults_traps_where_warps_share_loops() {
    // Three hubs; the second has a bad edge among its last ones and one before, the third has one that is never seen.
    let degrees = [90u32, 200, 150];
    let edges: Vec<(u32, u32)> = (0..3u32)
        .flat_map(|v| (0..degrees[v as usize]).map(move |k| (v, k % 3)))
        .collect();
    let g = vyre::Csr::from_edges(3, &edges).expect("edges name nodes");
    let share = [5, 6, 7];
    for (kind, good, bad) in [(0, 1, 3), (1, 2, 0), (2, 9, 7)] {
        let mut weight = vec![good; edges.len()];
        for at in [90 + 70, 90 + 193, 290 + 149] {
            weight[at] = bad;
        }
        let run = |runtime: &Runtime| {
            let topology = faulty_loops::Topology {
                g: &g,
                weight: &weight,
            };
            let mut session = faulty_loops::Session::new(runtime, topology).expect("it fits");
            session.compile_now().expect("it compiles");
            match session.run(faulty_loops::Run {
                share: &share,
                kind,
            }) {
                Err(vyre::Error::Trap(trap)) => {
                    (trap.kind, trap.item, trap.index, trap.len, trap.site)
                }
                other => panic!("it traps, but gave {other:?}"),
            }
        };
        let meant = run(&Runtime::vir0());
        assert_eq!(meant.1, Some(1));
        let compiled = emulated(2, 1, 5).with_route(vyre::RoutePolicy::Compiled);
        assert_eq!(run(&compiled), meant, "kind {kind}");
    }
}

/// The device counts as many steps as the interpreter, on one CTA and on several, and stops loops and rounds without end.
#[test]
fn runs_take_as_many_steps_on_an_emulated_device() {
    let take = |runtime: &Runtime| {
        for (items, rounds) in [(7, 5), (150, 6)] {
            takes(
                runtime,
                |runtime| ways::Session::new(runtime, ()).expect("it fits"),
                |session, limit| {
                    assert!(session.set_step_limit(limit));
                    session.run(ways::Run { items, rounds })
                },
            );
        }
        for graph in [wheel(1), wheel(60)] {
            takes(
                runtime,
                |runtime| steps::walks::Session::new(runtime, &graph).expect("it fits"),
                |session, limit| {
                    assert!(session.set_step_limit(limit));
                    session.run(steps::walks::Run {})
                },
            );
        }
        for graph in [wheel(7), wheel(90)] {
            takes(
                runtime,
                |runtime| search::Session::new(runtime, &graph).expect("it fits"),
                |session, limit| {
                    assert!(session.set_step_limit(limit));
                    session.run(search::Run { source: 5 })
                },
            );
        }
    };
    take(&emulated(1, 1, 1));
    take(&emulated(3, 1, 2));
    take(&emulated(8, 8, 3));
    take(&emulated(3, 1, 4).with_route(vyre::RoutePolicy::Compiled));
}

#[test]
fn what_has_no_end_is_ended_by_its_steps_on_an_emulated_device() {
    for multiprocessors in [1, 3] {
        let runtime = emulated(multiprocessors, 1, 7);
        let mut session = spin::Session::new(&runtime, ()).expect("it fits");
        assert!(session.set_step_limit(Some(1_000)));
        let run = |turns| spin::Run { items: 70, turns };
        for (turns, ended) in [(1, false), (0, true), (1, false)] {
            assert_eq!(ends(1_000, session.run(run(turns))), ended);
        }
        for turns in [1, 0, 1] {
            session.submit(run(turns), 0);
        }
        let batch = session.run_batch().expect("it has begun");
        let ended = batch.results.into_iter().map(|(_, r)| ends(1_000, r));
        assert!(ended.eq([false, true, false]));

        let mut session = undecided::Session::new(&runtime, ()).expect("it fits");
        assert!(session.set_step_limit(Some(2_000)));
        let run = |turns| undecided::Run {
            items: 1_000,
            turns,
        };
        for (turns, ended) in [(u32::MAX, false), (999, true), (1_000, false)] {
            assert_eq!(ends(2_000, session.run(run(turns))), ended);
        }

        let mut session = rounds::Session::new(&runtime, ()).expect("it fits");
        assert!(session.set_step_limit(Some(40)));
        for (wanted, ended) in [(u32::MAX, false), (20, true), (21, false)] {
            assert_eq!(ends(40, session.run(rounds::Run { wanted })), ended);
        }
    }
}

/// Lists with fields of each size, with room for more than is packed, and one that nobody reads.
#[wave_graph]
mod finds {
    pub struct Data {
        #[list(capacity = 3_000, output)]
        small: List<u8>,
        #[list(capacity = 3_000)]
        unread: List<u32>,
        #[list(capacity = 3_000, output)]
        pairs: List<(u32, u64)>,
        #[output(per = 5)]
        ends: u8,
        items: u32,
        of: u32,
    }

    #[wave(range(items))]
    fn find(
        i: Index,
        of: u32,
        small: &Append<u8>,
        unread: &Append<u32>,
        pairs: &Append<(u32, u64)>,
    ) {
        if i.is_multiple_of(of) {
            small.append(i as u8);
            unread.append(i);
        }
        if i.is_multiple_of(3) {
            pairs.append((i, i as u64 * 1_000_000_007));
        }
    }

    #[wave(range(5))]
    fn end(i: Index, ends: &mut u8) {
        *ends = i as u8;
    }
}

#[test]
fn what_lists_hold_is_packed_by_all_ctas() {
    let runs = |runtime: &Runtime, packs: bool| {
        let mut session = finds::Session::new(runtime, ()).expect("it fits");
        session.set_thresholds(vyre::Thresholds {
            pack_up_to_bytes: 4_096,
            ..Default::default()
        });
        let mut results = Vec::new();
        // Of the third run the products go directly; the last one finds little of one list and nothing of the other.
        for (items, of) in [(100, 1), (1_000, 7), (2_000, 1), (2_000, 1), (1, 1)] {
            let mut out = session.run(finds::Run { items, of }).expect("no trap");
            if packs {
                let (small, pairs) = (items.div_ceil(of), items.div_ceil(3));
                let direct = u32::from(8 * pairs > 4_096);
                let read = out.report.readback;
                assert_eq!((read.packed, read.direct), (4 - direct, direct));
                let units = |bytes: u32| u64::from(bytes.next_multiple_of(16));
                let last = if direct == 0 { 8 * pairs } else { 4 * pairs };
                let before = if direct == 0 { units(4 * pairs) } else { 0 };
                let packed = 16 + units(small) + before + u64::from(last);
                assert_eq!(read.packed_bytes, packed);
            }
            out.small.sort_unstable();
            out.pairs.sort_unstable();
            results.push((out.small, out.pairs, out.ends));
        }
        results
    };
    let meant = runs(&Runtime::vir0(), false);
    for (multiprocessors, seed) in [(1, 1), (3, 2)] {
        let runtime = emulated(multiprocessors, 1, seed);
        assert_eq!(runs(&runtime, true), meant);
        let compiled = runtime.with_route(vyre::RoutePolicy::Compiled);
        assert_eq!(runs(&compiled, true), meant);
    }
}

/// Sweeps every edge out of the first nodes, whose pushes come twice.
#[wave_graph]
mod swept {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = edge(graph))]
        sources: u32,
        #[output(per = node)]
        reached: u32,
        many: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, many: u32, front: &Push) {
        if v < many {
            front.push(v);
            front.push(v / 2);
        }
    }

    #[wave(edges(graph, from = front), after(begin))]
    fn sweep(e: Edge, sources: &Buf<Atomic<u32>>, reached: &Buf<Atomic<u32>>) {
        sources[e.index].fetch_add(e.src + 1);
        reached[e.dst].fetch_add(1);
    }
}

/// Chunks of hubs, tiles of items that have some hundred edges each, items of none, and nodes that are pushed twice.
#[test]
fn every_edge_of_a_wide_round_is_swept_once() {
    let degrees = |v: u32| match v {
        0..40 => 520 + v * 37 % 700,
        40..120 => 150 + v * 61 % 350,
        _ => v % 3,
    };
    let edges = (0..400).flat_map(|v| (0..degrees(v)).map(move |k| (v, (v * 7 + k * k) % 400)));
    let graph = Csr::from_edges(400, &edges.collect::<Vec<_>>()).expect("it is a graph");
    // Few hubs, many, and what else there is beside them.
    for many in [3, 40, 120, 400] {
        let run = |runtime: &Runtime| {
            let mut session = swept::Session::new(runtime, &graph).expect("it fits");
            let out = session.run(swept::Run { many }).expect("no trap");
            (out.sources, out.reached)
        };
        let meant = run(&Runtime::vir0());
        for (shape, seed) in [("128x1", 1), ("128x2", 2), ("256x1", 3)] {
            let cuda = played(2, 1, seed).with_shape(shape.parse().expect("it is a shape"));
            let runtime = Runtime::on(Arc::new(cuda)).with_route(vyre::RoutePolicy::Compiled);
            assert!(run(&runtime) == meant, "{many} nodes, {shape}");
        }
        assert!(run(&emulated(1, 1, 5)) == meant, "{many} nodes");
    }
}

/// Sums of floats over neighbours, of nodes with any number of them, in two rounds.
#[wave_graph]
mod ranks {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        rank: f32,
        #[scratch(per = node)]
        share: f32,
        #[reduce(sum)]
        late: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, rank: &mut f32) {
        *rank = 1.0 / (v as f32 + 3.0);
    }

    #[fixpoint(after(init), until(late > 0), max_rounds = 9)]
    mod rounds {
        #[wave(nodes)]
        fn scatter(rank: &f32, share: &mut f32) {
            *share = *rank * 0.37;
        }

        #[wave(nodes, after(scatter))]
        fn gather(
            v: Node,
            round: Round,
            graph: &Csr,
            share: &Buf<f32>,
            rank: &mut f32,
            late: &Reduce<Sum<u32>>,
        ) {
            let mut sum = 0.1f32;
            for u in graph.neighbors(v) {
                sum += share[u];
            }
            *rank = sum;
            if round == 1 {
                late.add(1);
            }
        }
    }
}

/// Many small CTAs, and few large ones: the same bits, also where an item's edges are summed up by several lanes.
#[test]
fn compiled_passes_leave_the_same_in_every_shape() {
    let mut edges: Vec<(u32, u32)> = (0..600).map(|k| (k * 7 % 90, k * k % 83)).collect();
    edges.extend((0..700).map(|k| (11, k * 3 % 90)));
    let graph = Csr::from_edges(90, &edges).expect("it is a graph");
    let weight: Vec<u32> = (0..graph.edge_count() as u32).map(|e| e * 7 % 23).collect();
    let run = |runtime: &Runtime| {
        let mut session = ranks::Session::new(runtime, &graph).expect("it fits");
        session.compile_now().expect("any text is taken");
        let out = session.run(ranks::Run {}).expect("no trap");
        let explained = session.explain().to_string();
        let bits: Vec<u32> = out.rank.iter().map(|x| x.to_bits()).collect();
        let mut session = bfs::Session::new(runtime, &graph).expect("it fits");
        session.compile_now().expect("any text is taken");
        let dist = session.run(bfs::Run { source: 3 }).expect("no trap").dist;
        let topology = sssp::Topology {
            graph: &graph,
            weight: &weight,
        };
        let mut session = sssp::Session::new(runtime, topology).expect("it fits");
        session.compile_now().expect("any text is taken");
        let near = session.run(sssp::Run { source: 3 }).expect("no trap").dist;
        ((bits, dist, near), explained)
    };
    let (meant, _) = run(&shaped(Shape::INTERPRETER, (2, 1)));
    for (text, says) in [
        ("512x1", "1 CTA of 512 threads a multiprocessor"),
        ("512x3", "3 CTAs of 512 threads a multiprocessor"),
        ("256x4", "4 CTAs of 256 threads a multiprocessor"),
        ("128x6", "6 CTAs of 128 threads a multiprocessor"),
        ("1024x2", "2 CTAs of 1024 threads a multiprocessor"),
    ] {
        let shape = text.parse().expect("it is a shape");
        let (found, explained) = run(&shaped(shape, (2, 1)));
        assert_eq!(found, meant, "{text}");
        assert!(explained.contains(says), "{explained}");
    }
}

/// Narrow rounds of one and of several waves: on one CTA, on all, in a cluster of small CTAs, and out of it again.
#[test]
fn narrow_rounds_leave_the_same_in_every_shape() {
    let shapes = [
        graphs::chain(40),
        graphs::grid(12, 9),
        graphs::random_graph(60, 200),
        graphs::random_graph(700, 2000),
    ];
    for graph in &shapes {
        let waves = |runtime: &Runtime| {
            let mut session = three_waves::Session::new(runtime, graph).expect("it fits");
            if runtime.backend() == "cuda" {
                session.compile_now().expect("any text is taken");
            }
            let run = three_waves::Run {
                source: 0,
                too_far: UNSEEN,
            };
            let out = session.run(run).expect("no trap");
            (out.dist, out.label, out.back, out.report.rounds)
        };
        let meant = waves(&Runtime::vir0());
        let distances = graphs::distances(graph, 0);
        for (text, of) in [("512x2", (2, 1)), ("256x3", (3, 8)), ("128x2", (8, 8))] {
            let runtime = shaped(text.parse().expect("it is a shape"), of);
            let mut session = bfs::Session::new(&runtime, graph).expect("it fits");
            session.compile_now().expect("any text is taken");
            for _ in 0..2 {
                let out = session.run(bfs::Run { source: 0 }).expect("no trap");
                assert_eq!(out.dist, distances, "{text}");
            }
            assert_eq!(waves(&runtime), meant, "{text}");
        }
    }
}

/// A fault tells of its item, its index and its place, however few rows a module has of an item.
#[test]
fn traps_are_the_same_in_every_shape() {
    let graph = graphs::random_graph(300, 900);
    let run = |runtime: &Runtime| {
        let mut session = three_waves::Session::new(runtime, &graph).expect("it fits");
        if runtime.backend() == "cuda" {
            session.compile_now().expect("any text is taken");
        }
        let run = three_waves::Run {
            source: 0,
            too_far: 2,
        };
        match session.run(run) {
            Err(vyre::Error::Trap(trap)) => (trap.kind, trap.item, trap.index, trap.len, trap.site),
            other => panic!("it traps, but gave {other:?}"),
        }
    };
    let meant = run(&Runtime::vir0());
    for text in ["512x2", "128x4"] {
        let runtime = shaped(text.parse().expect("it is a shape"), (2, 1));
        assert_eq!(run(&runtime), meant, "{text}");
    }
}

/// A session goes from the interpreter to a module of another shape and back, and queries of a batch have a CTA each.
#[test]
fn sessions_go_between_shapes() {
    let graph = graphs::random_graph(60, 200);
    let runtime = shaped("256x3".parse().expect("it is a shape"), (2, 1));
    let runtime = runtime.with_route(vyre::RoutePolicy::Interpreter);
    let mut session = bfs::Session::new(&runtime, &graph).expect("it fits");
    let check = |session: &mut bfs::Session, route: &str| {
        let out = session.run(bfs::Run { source: 3 }).expect("no trap");
        assert_eq!(out.report.route, route);
        assert_eq!(out.dist, graphs::distances(&graph, 3));
        for source in 0..5 {
            session.submit(bfs::Run { source }, 0);
        }
        for (source, (_, out)) in (0..).zip(session.run_batch().expect("it begins").results) {
            assert_eq!(
                out.expect("no trap").dist,
                graphs::distances(&graph, source)
            );
        }
    };
    check(&mut session, "interpreted");
    session.compile_now().expect("any text is taken");
    check(&mut session, "compiled");
    assert!(session.set_step_limit(Some(1 << 40)));
    check(&mut session, "interpreted");
    assert!(session.set_step_limit(None));
    check(&mut session, "compiled");
}

/// A pass of the test crate: its module there, and the scalars that its runs are given. One that the emulator does not
/// get has a reason instead.
type Row = (
    &'static str,
    Result<&'static [&'static [(&'static str, u64)]], &'static str>,
);

const HALF: u64 = 0.5f32.to_bits() as u64;

/// Every pass of vyre-tests. What else they are given is small numbers, on a graph with a hub.
const PASSES: &[Row] = &[
    ("endless::later", Err("its second round has no end")),
    ("endless::nests", Ok(&[&[("kind", 0)]])),
    ("endless::pairs", Ok(&[&[("items", 70), ("others", 9)]])),
    ("endless::rounds", Ok(&[&[("wanted", 5)]])),
    ("endless::spin", Ok(&[&[("items", 70), ("turns", 0)]])),
    ("endless::tokens", Ok(&[&[("tokens", 3), ("wanted", 4)]])),
    ("endless::undecided", Ok(&[&[("items", 70), ("turns", 3)]])),
    ("passes::arrays", Ok(&[&[]])),
    ("passes::bfs", Ok(&[&[("source", 3)]])),
    ("passes::doubled", Ok(&[&[("n", 0)], &[("n", 70)]])),
    ("passes::exact", Ok(&[&[("items", 70)]])),
    (
        "passes::faulty_loops",
        Ok(&[&[("kind", 0)], &[("kind", 1)], &[("kind", 2)]]),
    ),
    ("passes::flat", Ok(&[&[]])),
    (
        "passes::in_parts",
        Err("devices have no local fixpoints yet"),
    ),
    ("passes::marks", Ok(&[&[]])),
    ("passes::mixed", Ok(&[&[("cells", 7), ("damp", HALF)]])),
    ("passes::phases", Ok(&[&[]])),
    ("passes::regions", Ok(&[&[("stride", 7)]])),
    ("passes::rowed", Ok(&[&[]])),
    ("passes::shared_loops", Ok(&[&[]])),
    ("passes::sssp", Ok(&[&[("source", 3)]])),
    (
        "passes::three_waves",
        Ok(&[
            &[("source", 3), ("too_far", UNSEEN as u64)],
            &[("source", 3), ("too_far", 2)],
        ]),
    ),
    ("passes::tight", Ok(&[&[("k", 5)]])),
    ("passes::walk", Ok(&[&[("most", 5)]])),
    ("passes::walks", Ok(&[&[]])),
    (
        "passes::work",
        Ok(&[
            &[("room", 9_000), ("steps", 0)],
            &[("room", 5), ("steps", 1)],
        ]),
    ),
    ("steps::labels", Ok(&[&[("items", 9)]])),
    ("steps::search", Ok(&[&[("source", 3)]])),
    ("steps::walks", Ok(&[&[]])),
    ("steps::ways", Ok(&[&[("items", 40), ("rounds", 5)]])),
];

/// Small numbers of that type.
fn small(scalar: Scalar, len: u64) -> Column {
    let numbers = (0..len).map(|k| k * 7 % 11);
    match scalar {
        Scalar::Bool => Column::Bool(numbers.map(|x| x % 2 == 1).collect()),
        Scalar::U8 => Column::U8(numbers.map(|x| x as u8).collect()),
        Scalar::U32 => Column::U32(numbers.map(|x| x as u32).collect()),
        Scalar::I32 => Column::I32(numbers.map(|x| x as i32 - 3).collect()),
        Scalar::F32 => Column::F32(numbers.map(|x| x as f32 / 8.0).collect()),
        Scalar::U64 => Column::U64(numbers.collect()),
        Scalar::I64 => Column::I64(numbers.map(|x| x as i64 - 3).collect()),
        Scalar::F64 => Column::F64(numbers.map(|x| x as f64 / 8.0).collect()),
    }
}

/// Buffers of these roles with small numbers.
fn filled(program: &Program, sizes: &Sizes, roles: &[Role]) -> Vec<(BufferId, Column)> {
    let buffers = (0..).map(BufferId).zip(&program.buffers);
    let wanted = buffers.filter(|(_, buffer)| roles.contains(&buffer.role));
    let column = |buffer: &Buffer| {
        let len = sizes.resolve(program, buffer.extent);
        small(buffer.scalar, len.expect("its length is known"))
    };
    wanted.map(|(id, buffer)| (id, column(buffer))).collect()
}

fn slices(columns: &[(BufferId, Column)]) -> Vec<(BufferId, Slice<'_>)> {
    let each = columns.iter();
    each.map(|(id, column)| (*id, column.as_slice())).collect()
}

/// A node with many edges beside others with a few or none.
fn with_a_hub() -> Csr {
    let mut edges: Vec<(u32, u32)> = (0..60).map(|k| (k * 7 % 40, k * k % 37)).collect();
    edges.extend((0..90).map(|k| (11, k * 3 % 40)));
    Csr::from_edges(40, &edges).expect("it is a graph")
}

/// What a run leaves, to be compared with what it means.
fn ran(executor: &mut dyn Executor, program: &Program, args: &Args<'_>) -> String {
    match executor.run(args) {
        Ok(mut outcome) => {
            // How many rounds there are is the same only where that is proven.
            if program.agreement != Agreement::Bits {
                outcome.report.rounds.clear();
            }
            let Outcome {
                outputs,
                reductions,
                lists,
                report,
                ..
            } = outcome;
            format!("{outputs:?} {reductions:?} {lists:?} {:?}", report.rounds)
        }
        Err(RunError::Trap(trap)) => {
            let found = (trap.kind, trap.item, trap.index, trap.len, trap.site);
            match program.agreement {
                Agreement::Bits => format!("{found:?}"),
                _ => "a trap".to_owned(),
            }
        }
        Err(e) => panic!("{e}"),
    }
}

/// Every wave of the test crate as compiled code, on one CTA or several of a multiprocessor as the pass's shape has it.
#[test]
fn every_pass_of_the_tests_does_what_it_means_compiled() {
    let registered = vyre::passes();
    let mut found: Vec<(&str, _)> = (registered.iter())
        .filter_map(|pass| Some((pass.module().strip_prefix("vyre_tests::")?, pass)))
        .collect();
    found.sort_by_key(|&(module, _)| module);
    let modules: Vec<&str> = found.iter().map(|&(module, _)| module).collect();
    let rows: Vec<&str> = PASSES.iter().map(|&(module, _)| module).collect();
    assert_eq!(modules, rows, "a pass has a row or a reason");
    let graph = with_a_hub();
    let mut waves = 0;
    for ((module, pass), (_, given)) in found.into_iter().zip(PASSES) {
        let Ok(runs) = given else {
            continue;
        };
        let program = Arc::new(pass.plan().program());
        waves += program.waves.len();
        let graphs = program.topologies.iter().filter(|t| t.reverse_of.is_none());
        let mut topology = TopologyArgs {
            graphs: graphs.map(|_| &graph).collect(),
            ..TopologyArgs::default()
        };
        let sizes = topology.sizes(&program);
        let columns = filled(&program, &sizes, &[Role::Topology]);
        topology.columns = slices(&columns);
        let expected = Vir0Executor::new(Arc::clone(&program), &topology, Allocation::Separate);
        let mut expected = expected.expect("it fits");
        let opening = Opening {
            program: Arc::clone(&program),
            topology: &topology,
            allocation: Allocation::Separate,
            native: None,
        };
        let mut executor = played(1, 1, 3).open(opening).expect("it fits");
        assert!(executor.compile().expect("a played device takes any text"));
        for given in *runs {
            let scalar = |name: &str| {
                given
                    .iter()
                    .find(|(n, _)| *n == name)
                    .map(|&(_, bits)| bits)
            };
            let scalars = program.scalars.iter();
            let scalars = scalars.map(|s| scalar(&s.name).expect("its row has it"));
            let sizes = Sizes {
                scalars: scalars.collect(),
                ..sizes.clone()
            };
            let inputs = filled(&program, &sizes, &[Role::Input, Role::InOut]);
            let args = Args {
                inputs: slices(&inputs),
                scalars: sizes.scalars,
            };
            let meant = ran(&mut expected, &program, &args);
            let found = ran(&mut *executor, &program, &args);
            assert_eq!(found, meant, "{module} {given:?}");
        }
    }
    println!("{waves} waves");
}
