//! Runtimes of several sides: runs go where they are fastest, and nothing else about them changes.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vyre::prelude::*;
use vyre::{Csr, FusedSession, Report, Side, SideState};
use vyre_core::cpu::Vir0;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::side::Floor;
use vyre_core::run::args::TopologyArgs;
use vyre_core::run::backend::{Backend, Executor, Holder, Opening};
use vyre_core::vir0::module::Program;
use vyre_tests::backend_tests;
use vyre_tests::graphs::{UNSEEN, chain, random_graph};
use vyre_tests::passes::bfs;

/// Levels of a search, with the sum of the weights that it looked at.
#[wave_graph]
mod search {
    use super::UNSEEN;

    struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        #[output(per = node)]
        indegree: u32,
        #[reduce(sum)]
        looked_at: u32,
        source: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, back: &Csr, dist: &mut u32, indegree: &mut u32, front: &Push) {
        *dist = UNSEEN;
        *indegree = back.degree(v);
        if v == source {
            *dist = 0;
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 1_000_000)]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(UNSEEN, round + 1) {
                front.push(e.dst);
            }
        }
    }

    /// Words enough for an interpreter to be many times slower than a function, whatever else the machine does.
    #[wave(edges(graph), after(levels))]
    fn look(e: Edge, dist: &Buf<u32>, weight: &u32, looked_at: &Reduce<Sum<u32>>) {
        let mut w = *weight;
        for k in 0..64u32 {
            w = (w ^ (w >> 3)) + (k & 5);
        }
        if dist[e.src] != UNSEEN {
            looked_at.add(w & 0xff);
        }
    }
}

/// Sums floats, which round in the order of the items.
#[wave_graph]
mod summed {
    struct Data {
        #[topology]
        graph: Csr,
        #[reduce(sum)]
        total: f32,
    }

    #[wave(edges(graph))]
    fn add(e: Edge, total: &Reduce<Sum<f32>>) {
        let mut x = e.dst as f32;
        for _ in 0..64u32 {
            x = x * 0.5 + 1.0 / 3.0;
        }
        total.add(x);
    }
}

/// Rounds floats, each item its own.
#[wave_graph]
mod halved {
    struct Data {
        #[output(per = 1000)]
        x: f32,
    }

    #[wave(range(1000))]
    fn halve(i: Index, x: &mut f32) {
        *x = (i as f32) / 3.0;
    }
}

/// The interpreter, as if its floats were rounded otherwise, as on a device without IEEE 754's division.
struct Rough;

impl Backend for Rough {
    fn name(&self) -> &'static str {
        "rough"
    }
    fn device(&self) -> String {
        Vir0.device()
    }
    fn floor(&self) -> Floor {
        Vir0.floor()
    }
    fn exact_floats(&self) -> bool {
        false
    }
    fn holder(&self, program: &Program, topology: &TopologyArgs<'_>) -> Result<Holder, RunError> {
        Vir0.holder(program, topology)
    }
    fn is_host(&self) -> bool {
        true
    }
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
        Vir0.open(opening)
    }
}

/// Adds to each node's number, and traps where the graph has too few nodes.
#[wave_graph]
mod shifted {
    struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        sum: u32,
        by: u32,
    }

    #[wave(nodes)]
    fn shift(v: Node, graph: &Csr, by: u32, sum: &mut u32) {
        assert!(by != 13, "thirteen");
        let mut s = v;
        for u in graph.neighbors(v) {
            s = (s ^ u) & 0xff_ffff;
            s = (s >> 1) ^ (s & 0x5555);
        }
        *sum = s + by;
    }
}

/// Reads everything that a topology can have.
#[wave_graph]
mod given {
    struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[topology(per = node, bits = 40)]
        kinds: Bits,
        #[topology(per = node)]
        tag: bool,
        #[topology(per = edge(graph))]
        far: f64,
        #[topology(per = edge(graph))]
        small: i32,
        #[output(per = node)]
        seen: u32,
        #[reduce(max)]
        farthest: f64,
        by: u32,
    }

    #[wave(nodes)]
    fn look(
        v: Node,
        graph: &Csr,
        back: &Csr,
        kinds: &Bits,
        tag: &bool,
        small: &Buf<i32>,
        by: u32,
        seen: &mut u32,
    ) {
        let mut s = kinds.count(v) + back.degree(v) * 1_000;
        for e in graph.edges(v) {
            let mut w = small[e] as u32 & 0xffff;
            for k in 0..64u32 {
                w = ((w ^ (w >> 3)) + (k & by)) & 0xffff;
            }
            s ^= w;
        }
        if *tag {
            s += 1_000_000;
        }
        *seen = s;
    }

    #[wave(edges(graph))]
    fn measure(_e: Edge, far: &f64, farthest: &Reduce<Max<f64>>) {
        farthest.max(*far);
    }
}

/// What nodes cost that a search has found, with a topology of its own.
#[wave_graph]
mod priced {
    use super::UNSEEN;

    struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[topology]
        rate: u32,
        #[topology(per = node)]
        price: u32,
        #[topology(per = edge(graph))]
        toll: u32,
        #[input(per = node)]
        far: u32,
        #[output(per = node)]
        cost: u32,
        most: u32,
    }

    #[wave(nodes)]
    fn rate_it(
        v: Node,
        graph: &Csr,
        back: &Csr,
        rate: u32,
        price: &u32,
        toll: &Buf<u32>,
        far: &u32,
        most: u32,
        cost: &mut u32,
    ) {
        assert!(most != 13, "thirteen");
        if *far != UNSEEN {
            let mut sum = *price * rate + *far + back.degree(v);
            for e in graph.edges(v) {
                let mut t = toll[e];
                for k in 0..64u32 {
                    t = ((t ^ (t >> 3)) + (k & most)) & 0xfff;
                }
                sum += t;
            }
            *cost = sum;
        }
    }
}

#[kernel]
fn scramble(i: Index, x: &mut u32) {
    let mut v = *x;
    for k in 0..200u32 {
        v = (v ^ (v >> 7)) * 3 + (v & k) + i;
        v &= 0xff_ffff;
    }
    *x = v;
}

fn weights(graph: &Csr) -> Vec<u32> {
    (0..graph.edge_count() as u32).map(|e| e % 1_000).collect()
}

fn looked(weight: u32) -> u32 {
    let step = |w: u32, k: u32| (w ^ (w >> 3)) + (k & 5);
    (0..64).fold(weight, step) & 0xff
}

/// What a search finds, worked out one node after the other.
fn expected(graph: &Csr, source: u32) -> (Vec<u32>, u32) {
    let mut dist = vec![UNSEEN; graph.node_count()];
    dist[source as usize] = 0;
    let mut queue = std::collections::VecDeque::from([source]);
    let mut looked_at = 0u32;
    while let Some(v) = queue.pop_front() {
        for e in graph.edges(v) {
            looked_at += looked(e % 1_000);
            let u = graph.target(e);
            if dist[u as usize] == UNSEEN {
                dist[u as usize] = dist[v as usize] + 1;
                queue.push_back(u);
            }
        }
    }
    (dist, looked_at)
}

fn open(runtime: &Runtime, graph: &Csr, weight: &[u32]) -> search::Session {
    let topology = search::Topology { graph, weight };
    search::Session::new(runtime, topology).expect("opens")
}

/// Runs so often, checks each result, and says where each was.
fn runs(session: &mut search::Session, graph: &Csr, times: usize) -> Vec<&'static str> {
    let (dist, looked_at) = expected(graph, 0);
    let each = (0..times).map(|_| {
        let out = session.run(search::Run { source: 0 }).expect("runs");
        assert_eq!((&out.dist, out.looked_at), (&dist, looked_at));
        assert_eq!(out.report.backend, session.backend());
        out.report.backend
    });
    each.collect()
}

/// A run takes a millisecond natively and a second elsewhere, by the clock that sessions choose sides by.
fn natively_fast(runtime: Runtime) -> Runtime {
    takes(runtime, |backend| match backend {
        "native" => Duration::from_millis(1),
        _ => Duration::from_secs(1),
    })
}

/// Each run, and each batch, takes as long as `of` says of its backend.
fn takes(runtime: Runtime, of: impl Fn(&str) -> Duration + Send + Sync + 'static) -> Runtime {
    let turned = Mutex::new(Duration::ZERO);
    runtime.with_clock(move |backend| {
        let mut now = turned.lock().expect("nothing panics under it");
        *now += of(backend);
        *now
    })
}

/// The slow one first.
fn slow_first() -> Runtime {
    natively_fast(Runtime::among(Runtime::vir0(), [Runtime::native()]))
}

/// The fast one first.
fn fast_first() -> Runtime {
    natively_fast(Runtime::among(Runtime::native(), [Runtime::vir0()]))
}

fn native(sides: &[Side]) -> &Side {
    let found = sides.iter().find(|side| side.backend == "native");
    found.expect("there is a native side")
}

#[test]
fn a_session_goes_on_where_its_runs_are_fastest() {
    let graph = random_graph(2_000, 4_000);
    let weight = weights(&graph);
    let mut session = open(&slow_first(), &graph, &weight);
    assert_eq!(native(&session.sides()).state, SideState::Closed);
    let progress = session.progress().expect("both sides tell");
    let count = 6;
    let backends = runs(&mut session, &graph, 6);
    assert_eq!(backends[..1], ["vir0"]);
    assert_eq!(backends[1..], ["native"; 5]);
    // All that the session tells is about both sides.
    let sides = session.sides();
    assert_eq!(sides.iter().map(|side| side.runs).sum::<u64>(), count);
    assert_eq!(native(&sides).state, SideState::Current);
    assert!(native(&sides).cost_ns < sides[0].cost_ns, "{sides:?}");
    let counted = session.counters().expect("both sides count");
    assert_eq!((counted.launches, counted.graph_uploads), (count, 2));
    let text = session.explain().to_string();
    let about: Vec<&str> = text.lines().rev().take(2).collect();
    assert!(
        about[1].starts_with("sides     vir0 (1 thread): "),
        "{text}"
    );
    assert!(about[1].contains(" an item, "), "{text}");
    assert!(about[0].starts_with("          native ("), "{text}");
    assert!(about[0].ends_with("; followed"), "{text}");
    let last = session.run(search::Run { source: 7 }).expect("runs");
    assert_eq!(progress.rounds(), last.report.total_rounds());
    let numbers: Vec<u64> = session.decisions().map(|d| d.number).collect();
    let first = count + 2 - numbers.len() as u64;
    assert_eq!(numbers, (first..count + 2).collect::<Vec<u64>>());

    // From the fast side, the slow one gets a trial and no more.
    let mut session = open(&fast_first(), &graph, &weight);
    let backends = runs(&mut session, &graph, 30);
    assert_eq!(backends[..2], ["native", "vir0"]);
    assert_eq!(backends[2..], ["native"; 28]);

    // Of equal sides, the one of the last trial is held.
    let equal = takes(Runtime::among(Runtime::vir0(), [Runtime::native()]), |_| {
        Duration::from_millis(1)
    });
    let mut session = open(&equal, &graph, &weight);
    let backends = runs(&mut session, &graph, 30);
    assert_eq!(backends[..1], ["vir0"]);
    assert_eq!(backends[1..], ["native"; 29]);
}

/// A path of one test on one backend alone, which may run beside others; the file is gone afterwards.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> File {
        static FILES: AtomicU32 = AtomicU32::new(0);
        let file = FILES.fetch_add(1, Relaxed);
        let name = format!("vyre-sides-{}-{file}-{name}", std::process::id());
        File(std::env::temp_dir().join(name))
    }
}

/// Nanoseconds an item, as a file of costs has them.
const CHEAP: &str = "1";
const DEAR: &str = "1000000000";

impl File {
    fn text(&self) -> String {
        std::fs::read_to_string(&self.0).expect("written when a session was dropped")
    }

    /// Puts costs, of one run, in the place of those that a runtime wrote down; `of` is told the side. `None`: nothing is
    /// known of it.
    fn tell_costs(&self, of: impl Fn(&str) -> Option<&'static str>) {
        let told = self.text();
        let told = told.lines().filter_map(|line| {
            let mut words: Vec<&str> = line.splitn(9, ' ').collect();
            if let [_, _, _, _, _, _, runs, costs, side] = &mut words[..] {
                *runs = "1";
                *costs = of(side)?;
            }
            Some(words.join(" ") + "\n")
        });
        std::fs::write(&self.0, told.collect::<String>()).expect("writes");
    }

    /// What was run so far took the interpreter so long that the next runtime goes on elsewhere, however busy the machine
    /// is.
    fn tell_dear(&self) {
        self.tell_costs(|side| side.starts_with("vir0").then_some(DEAR));
    }
}

/// The interpreter first, of which a file says that what `runs` does is dear there.
fn dear_first(file: &File, runs: impl FnOnce(&Runtime)) -> Runtime {
    runs(&slow_first().with_costs(&file.0));
    file.tell_dear();
    slow_first().with_costs(&file.0)
}

impl Drop for File {
    fn drop(&mut self) {
        let _gone = std::fs::remove_file(&self.0);
    }
}

#[test]
fn remembered_costs_decide_where_a_session_begins() {
    let file = File::new("costs");
    let graph = random_graph(2_000, 4_000);
    let weight = weights(&graph);
    let remembering = || slow_first().with_costs(&file.0);
    assert!(!file.0.exists());
    let mut session = open(&remembering(), &graph, &weight);
    assert_eq!(runs(&mut session, &graph, 2), ["vir0", "native"]);
    drop(session);
    assert_eq!(file.text().lines().count(), 3, "{}", file.text());
    // Whichever side the file says is faster, there the runs are, from the first one on.
    for (vir0_ns, native_ns, faster) in [(CHEAP, DEAR, "vir0"), (DEAR, CHEAP, "native")] {
        file.tell_costs(|side| match side.starts_with("vir0") {
            true => Some(vir0_ns),
            false => Some(native_ns),
        });
        let mut session = open(&remembering(), &graph, &weight);
        assert_eq!(session.backend(), faster);
        assert_eq!(runs(&mut session, &graph, 3), [faster; 3]);
        let launches = session.counters().expect("counts").launches;
        assert_eq!(
            (launches, native(&session.sides()).runs == 3),
            (3, faster == "native")
        );
    }
    // What is no such file is no error, and stays.
    std::fs::write(&file.0, "mine").expect("writes");
    runs(&mut open(&remembering(), &graph, &weight), &graph, 3);
    assert_eq!(file.text(), "mine");
}

#[test]
fn what_may_differ_stays_where_it_began_unless_it_is_asked_to_go() {
    let graph = random_graph(500, 4_000);
    let mut session = summed::Session::new(&slow_first(), &graph).expect("opens");
    let run = |times: usize, session: &mut summed::Session| -> Vec<&'static str> {
        let each = (0..times).map(|_| session.run(summed::Run {}).expect("runs").report.backend);
        each.collect()
    };
    assert_eq!(run(6, &mut session), ["vir0"; 6]);
    let text = session.explain().to_string();
    assert!(
        text.contains(
            "; stays, because total may differ from run to run: `set_side_changes(true)` or, if it is true, a claim, \
             `#[pass(same_result(total = \"why\"))]`, lets it change\n"
        ),
        "{text}"
    );
    session.set_side_changes(true);
    assert_eq!(run(3, &mut session), ["vir0", "native", "native"]);
    // And what could go stays where it is, and gives up the other side.
    session.set_side_changes(false);
    assert_eq!(run(3, &mut session), ["native"; 3]);
    assert_eq!(session.sides()[0].state, SideState::Closed);
    assert!(
        session
            .explain()
            .to_string()
            .contains("; stays, as was asked for")
    );
}

#[test]
fn floats_stay_where_another_backend_may_round_them_otherwise() {
    let runtime = || {
        let rough = Runtime::on(Arc::new(Rough));
        natively_fast(Runtime::among(rough, [Runtime::native()]))
    };
    let mut session = halved::Session::new(&runtime(), ()).expect("opens");
    for _ in 0..6 {
        let out = session.run(halved::Run {}).expect("runs");
        assert_eq!(out.report.backend, "rough");
    }
    let text = session.explain().to_string();
    assert!(
        text.contains(
            "; stays, because backends here may round floats each in its own way: `set_side_changes(true)` lets it \
             change\n"
        ),
        "{text}"
    );
    session.set_side_changes(true);
    let ran = [(); 3].map(|()| session.run(halved::Run {}).expect("runs").report.backend);
    assert_eq!(ran, ["rough", "native", "native"]);
    // The same pass goes where all round alike, and integers go anyhow.
    let mut session = halved::Session::new(&slow_first(), ()).expect("opens");
    let ran = [(); 3].map(|()| session.run(halved::Run {}).expect("runs").report.backend);
    assert_eq!(ran, ["vir0", "native", "native"]);
    let graph = random_graph(500, 4_000);
    let weight = weights(&graph);
    let mut session = open(&runtime(), &graph, &weight);
    assert_eq!(runs(&mut session, &graph, 3)[2], "native");
}

#[test]
fn what_may_differ_begins_where_it_is_known_to_be_fastest_and_stays_there() {
    let graph = random_graph(500, 4_000);
    let file = File::new("differs");
    let remembering = || slow_first().with_costs(&file.0);
    let mut session = summed::Session::new(&remembering(), &graph).expect("opens");
    session.set_side_changes(true);
    for backend in ["vir0", "native"] {
        let out = session.run(summed::Run {}).expect("runs");
        assert_eq!(out.report.backend, backend);
    }
    drop(session);
    let mut session = summed::Session::new(&remembering(), &graph).expect("opens");
    for _ in 0..6 {
        let out = session.run(summed::Run {}).expect("runs");
        assert_eq!(out.report.backend, "native");
    }
    assert_eq!(session.sides()[0].state, SideState::Closed);
    assert_eq!(session.counters().expect("counts").launches, 6);
}

#[test]
fn another_side_is_opened_only_where_the_budget_has_room() {
    let graph = random_graph(2_000, 4_000);
    let weight = weights(&graph);
    let runtime = slow_first().with_memory(1 << 30);
    let needed = {
        let _session = open(&runtime, &graph, &weight);
        runtime.memory().expect("a budget").1
    };
    let file = File::new("budget");
    let dear = dear_first(&file, |runtime| {
        runs(&mut open(runtime, &graph, &weight), &graph, 1);
    });
    let tight = dear.with_memory(needed * 5 / 2);
    let mut session = open(&tight, &graph, &weight);
    assert_eq!(runs(&mut session, &graph, 5), ["vir0"; 5]);
    let SideState::Refused(why) = native(&session.sides()).state.clone() else {
        panic!("{:?}", session.sides());
    };
    assert!(
        why.starts_with("another side has to leave as much as it takes; "),
        "{why}"
    );
    let held = tight.memory().expect("a budget").1;
    assert!(
        (needed..needed * 9 / 8).contains(&held),
        "{held} of {needed}"
    );

    let wide = slow_first().with_costs(&file.0).with_memory(needed * 4);
    let mut session = open(&wide, &graph, &weight);
    assert_eq!(runs(&mut session, &graph, 1), ["native"]);
    assert!(wide.memory().expect("a budget").1 > needed * 3 / 2);
    session.set_side_changes(false);
    let left = wide.memory().expect("a budget").1;
    assert!(
        (needed..needed * 3 / 2).contains(&left),
        "{left} of {needed}"
    );
    drop(session);
    assert_eq!(wide.memory().expect("a budget").1, 0);
    // A budget each.
    file.tell_dear();
    let each = Runtime::among(
        Runtime::vir0().with_memory(needed),
        [Runtime::native().with_memory(needed * 4)],
    );
    let mut session = open(&natively_fast(each).with_costs(&file.0), &graph, &weight);
    assert_eq!(runs(&mut session, &graph, 1), ["native"]);
    assert_eq!(session.sides()[0].state, SideState::Open);
}

/// A result as long as the run asks for, for some work.
#[wave_graph]
mod sized {
    struct Data {
        #[output(per = n)]
        y: u32,
        n: u32,
    }

    #[wave(range(n))]
    fn fill(i: Index, y: &mut u32) {
        let mut s = i;
        for k in 0..8 {
            s = (s ^ (s >> 3)) & 0xffff;
            s += k;
        }
        *y = s;
    }
}

fn is_refused(session: &sized::Session) -> bool {
    let sides = session.sides();
    let mut states = sides.iter().map(|side| &side.state);
    states.any(|state| matches!(state, SideState::Refused(_)))
}

#[test]
fn what_came_back_goes_before_a_side_with_its_own_budget_is_refused() {
    // Room for a run of 45,000, and not for one of 10,000 more, whose result is kept.
    let native = Runtime::native().with_memory(200_000);
    let runtime = natively_fast(Runtime::among(Runtime::vir0(), [native]));
    let file = File::new("came-back");
    dear_first(&file, |runtime| {
        for n in [10_000, 45_000] {
            let mut session = sized::Session::new(runtime, ()).expect("opens");
            session.run(sized::Run { n }).expect("runs");
        }
    });
    let mut session = sized::Session::new(&runtime.with_costs(&file.0), ()).expect("opens");
    let run = |session: &mut sized::Session, n| {
        let out = session.run(sized::Run { n }).expect("runs");
        assert_eq!(out.y.len(), n as usize);
        out.report.backend
    };
    assert_eq!(run(&mut session, 10_000), "native");
    // Its memory waits for the next such run.
    let out = session.run_pinned(sized::Run { n: 10_000 }).expect("runs");
    assert_eq!(out.report.backend, "native");
    drop(out);
    assert_eq!(run(&mut session, 45_000), "native");
    assert!(!is_refused(&session), "{:?}", session.sides());
    assert_eq!(run(&mut session, 45_000), "native");
}

#[test]
fn other_sides_close_before_a_query_is_refused() {
    let both = fast_first();
    // Short runs are dear natively, and long ones on the interpreter: it is tried, and waits.
    let file = File::new("close");
    for (runtime, n) in [(both.clone(), 10_000), (slow_first(), 20_000)] {
        let runtime = runtime.with_costs(&file.0);
        let mut session = sized::Session::new(&runtime, ()).expect("opens");
        session.run(sized::Run { n }).expect("runs");
    }
    file.tell_costs(|_| Some(DEAR));
    let runtime = both.with_memory(200_000).with_costs(&file.0);
    let mut session = sized::Session::new(&runtime, ()).expect("opens");
    for (n, backend) in [(10_000, "vir0"), (20_000, "native")] {
        let out = session.run(sized::Run { n }).expect("runs");
        assert_eq!(out.report.backend, backend, "{}", session.explain());
    }
    assert_eq!(session.sides()[1].state, SideState::Open);
    let [fits, large] = [45_000, 1_000_000].map(|n| session.submit(sized::Run { n }, 0));
    let batch = session.run_batch().expect("runs");
    assert_eq!(batch.order, [fits]);
    assert_eq!(session.sides()[1].state, SideState::Closed);
    let [(first, out), (second, refused)] = &batch.results[..] else {
        panic!("{batch:?}");
    };
    assert_eq!((*first, *second), (fits, large));
    assert_eq!(out.as_ref().expect("there is room").y.len(), 45_000);
    let refused = refused.as_ref().expect_err("there is no room");
    let says = "the run does not fit; ";
    assert!(refused.to_string().starts_with(says), "{refused}");
}

#[test]
fn another_topology_is_that_of_all_sides() {
    let (first, second) = (random_graph(1_500, 4_000), random_graph(2_500, 6_000));
    let file = File::new("another");
    let runtime = dear_first(&file, |runtime| {
        runs(&mut open(runtime, &first, &weights(&first)), &first, 1);
    });
    let mut session = open(&runtime, &first, &weights(&first));
    assert_eq!(runs(&mut session, &first, 1), ["native"]);
    assert_eq!(session.sides()[0].state, SideState::Open);
    for graph in [&second, &first] {
        let weight = weights(graph);
        let topology = search::Topology {
            graph,
            weight: &weight,
        };
        session.update(topology).expect("updates");
        assert_eq!(session.sides()[0].state, SideState::Closed);
        assert_eq!(runs(&mut session, graph, 1), ["native"]);
    }
}

/// The second side is made of what the first one has.
fn all_of_a_topology_goes(first: &Runtime, second: &Runtime) {
    let graph = random_graph(1_000, 5_000);
    let kinds: Vec<u32> = (0..2_000u32)
        .map(|i| if i % 2 == 0 { i * 77_777 } else { i % 256 })
        .collect();
    let tag: Vec<bool> = (0..1_000).map(|v| v % 3 == 0).collect();
    let far: Vec<f64> = (0..5_000).map(|e| f64::from(e % 777) / 7.0).collect();
    let small: Vec<i32> = (0..5_000).map(|e| 40 - e).collect();
    let topology = || given::Topology {
        graph: &graph,
        kinds: &kinds,
        tag: &tag,
        far: &far,
        small: &small,
    };
    let mut alone = given::Session::new(second, topology()).expect("opens");
    let one = alone.run(given::Run { by: 5 }).expect("runs");
    let file = File::new("topology");
    let runtime = || {
        let both = Runtime::among(first.clone(), [second.clone()]);
        takes(both, |_| Duration::from_millis(1)).with_costs(&file.0)
    };
    // Once, to have a file; then a run on the first side is remembered as so slow that the second one is tried.
    let mut session = given::Session::new(&runtime(), topology()).expect("opens");
    session.run(given::Run { by: 5 }).expect("runs");
    drop(session);
    file.tell_costs(|_| Some(DEAR));
    let mut session = given::Session::new(&runtime(), topology()).expect("opens");
    let out = session.run(given::Run { by: 5 }).expect("runs");
    assert_eq!((&out.seen, out.farthest), (&one.seen, one.farthest));
    let runs: Vec<u64> = session.sides().iter().map(|side| side.runs).collect();
    assert_eq!(runs, [0, 1], "{}", session.explain());
}

/// Runs that failed do not count, and a batch does if a query was in line.
#[test]
fn a_side_counts_what_ran_there() {
    let (runtime, graph) = (Runtime::native(), chain(10));
    let run = |by| shifted::Run { by };
    let mut session = shifted::Session::new(&runtime, &graph).expect("opens");
    let mut batch = |by: Option<u32>| {
        by.map(|by| session.submit(run(by), 0));
        let batch = session.run_batch().expect("runs");
        assert_eq!(batch.results.len(), usize::from(by.is_some()));
        session.sides()[0].runs
    };
    assert_eq!(batch(None), 0);
    assert_eq!(
        [Some(1), None, Some(13), None].map(&mut batch),
        [1, 1, 2, 2]
    );
    session.run(run(1)).expect("runs");
    session.run_series([1, 2].map(run)).expect("runs");
    assert_eq!(session.sides()[0].runs, 4);
    session.run(run(13)).expect_err("thirteen");
    session.run_series([1, 13].map(run)).expect_err("thirteen");
    assert_eq!(session.sides()[0].runs, 4);

    let mut many = shifted::Sessions::new(&runtime, [&graph]).expect("opens");
    let mut batch = |to: Option<usize>| {
        to.map(|to| many.submit(to, run(1), 0));
        many.run_batch().expect("runs");
        many.sides()[0].runs
    };
    assert_eq!(batch(None), 0);
    // There is no topology 7.
    assert_eq!([Some(0), None, Some(7), None].map(&mut batch), [1, 1, 2, 2]);
}

fn all_of_a_topology_goes_from_the_cpu(runtime: &Runtime) {
    all_of_a_topology_goes(&Runtime::native(), runtime);
}

fn all_of_a_topology_comes_to_the_cpu(runtime: &Runtime) {
    all_of_a_topology_goes(runtime, &Runtime::native());
}

/// A search in each of these graphs, checked.
fn batch(sessions: &mut search::Sessions, graphs: &[Csr]) -> &'static str {
    let ids: Vec<_> = (0..graphs.len())
        .map(|topology| sessions.submit(topology, search::Run { source: 1 }, 0))
        .collect();
    let batch = sessions.run_batch().expect("runs");
    assert_eq!(batch.order, ids);
    for ((_, result), graph) in batch.results.iter().zip(graphs) {
        let out = result.as_ref().expect("runs");
        assert_eq!((out.dist.clone(), out.looked_at), expected(graph, 1));
        assert_eq!(out.report.backend, sessions.backend());
    }
    sessions.backend()
}

fn open_many(runtime: &Runtime, graphs: &[Csr]) -> search::Sessions {
    let weight: Vec<Vec<u32>> = graphs.iter().map(weights).collect();
    let topologies = graphs.iter().zip(&weight);
    let topologies = topologies.map(|(graph, weight)| search::Topology { graph, weight });
    search::Sessions::new(runtime, topologies).expect("opens")
}

fn some_graphs() -> Vec<Csr> {
    (1..6).map(|n| random_graph(300 * n, 900 * n)).collect()
}

#[test]
fn sessions_go_on_where_their_batches_are_fastest() {
    let graphs = some_graphs();
    let mut sessions = open_many(&slow_first(), &graphs);
    let backends: Vec<_> = (0..6).map(|_| batch(&mut sessions, &graphs)).collect();
    assert_eq!(backends[..1], ["vir0"]);
    assert_eq!(backends[1..], ["native"; 5]);
    let sides = sessions.sides();
    assert_eq!(sides.iter().map(|side| side.runs).sum::<u64>(), 6);
    assert!(native(&sides).cost_ns < sides[0].cost_ns, "{sides:?}");
    // What each side counted adds up.
    let counted = sessions.counters().expect("both sides count");
    let uploads = 2 * graphs.len() as u64;
    assert_eq!((counted.launches, counted.graph_uploads), (30, uploads));
    // It can be kept where it is, which gives the other side up, and nothing of what was counted.
    sessions.set_side_changes(false);
    assert_eq!(sessions.sides()[0].state, SideState::Closed);
    assert_eq!(sessions.counters(), Some(counted));
    assert_eq!(batch(&mut sessions, &graphs), "native");
    // From the fast side, the slow one gets a trial and no more; alone, nothing changes.
    let mut sessions = open_many(&fast_first(), &graphs);
    let backends: Vec<_> = (0..9).map(|_| batch(&mut sessions, &graphs)).collect();
    assert_eq!(backends[..2], ["native", "vir0"]);
    assert_eq!(backends[2..], ["native"; 7]);
    let mut sessions = open_many(&slow_first().alone(), &graphs);
    let backends: Vec<_> = (0..3).map(|_| batch(&mut sessions, &graphs)).collect();
    assert_eq!((backends, sessions.sides().len()), (vec!["vir0"; 3], 1));
}

#[test]
fn sessions_whose_results_may_differ_stay() {
    let graphs = some_graphs();
    let mut sessions = summed::Sessions::new(&slow_first(), &graphs).expect("opens");
    let mut on = |changes: bool| {
        if changes {
            sessions.set_side_changes(true);
        }
        sessions.submit(0, summed::Run {}, 0);
        sessions.run_batch().expect("runs");
        sessions.backend()
    };
    assert_eq!([(); 3].map(|()| on(false)), ["vir0"; 3]);
    assert_eq!([(); 2].map(|()| on(true)), ["vir0", "native"]);
}

#[test]
fn errors_of_sessions_are_those_of_the_first_side() {
    let graphs = [random_graph(3_000, 60_000), random_graph(2_000, 40_000)];
    let mut sessions = shifted::Sessions::new(&slow_first(), &graphs).expect("opens");
    let mut batch = |by: [u32; 2]| {
        for (topology, by) in by.into_iter().enumerate() {
            sessions.submit(topology, shifted::Run { by }, 0);
        }
        let batch = sessions.run_batch().expect("runs");
        let results = batch.results.into_iter();
        let results: Vec<_> = results
            .map(|(_, result)| result.map(|out| out.sum))
            .collect();
        (results, native(&sessions.sides()).state.clone())
    };
    let mut alone = shifted::Session::new(&Runtime::vir0(), &graphs[1]).expect("opens");
    let mut by = |by| alone.run(shifted::Run { by }).map(|out| out.sum);
    batch([1, 2]);
    assert_eq!(batch([1, 2]).1, SideState::Current);
    // The same trap on both sides, and nothing is refused.
    let (results, state) = batch([1, 13]);
    assert!(results[0].is_ok());
    let trap = by(13).expect_err("traps").to_string();
    assert_eq!(results[1].as_ref().expect_err("traps").to_string(), trap);
    assert_eq!(state, SideState::Open);
    assert_eq!(batch([1, 2]).1, SideState::Current);
    // Only functions that are built for debugging check this: the first side's answer counts.
    let (results, state) = batch([1, u32::MAX]);
    assert_eq!(
        results[1].as_ref().expect("wraps"),
        &by(u32::MAX).expect("wraps")
    );
    let refused = matches!(state, SideState::Refused(_));
    assert_eq!(refused, cfg!(debug_assertions), "{state:?}");
}

#[test]
fn sessions_open_another_side_only_where_the_budget_has_room() {
    let graphs = some_graphs();
    let runtime = slow_first().with_memory(1 << 30);
    let needed = {
        let _sessions = open_many(&runtime, &graphs);
        runtime.memory().expect("a budget").1
    };
    let tight = slow_first().with_memory(needed * 5 / 2);
    let mut sessions = open_many(&tight, &graphs);
    let backends = [(); 4].map(|()| batch(&mut sessions, &graphs));
    assert_eq!(backends, ["vir0"; 4]);
    let SideState::Refused(why) = native(&sessions.sides()).state.clone() else {
        panic!("{:?}", sessions.sides());
    };
    let says = "another side has to leave as much as it takes; ";
    assert!(why.starts_with(says), "{why}");
    let mut sessions = open_many(&slow_first().with_memory(needed * 4), &graphs);
    let backends = [(); 2].map(|()| batch(&mut sessions, &graphs));
    assert_eq!(backends, ["vir0", "native"]);
}

#[test]
fn limits_go_along_with_sessions() {
    let graphs = some_graphs();
    let mut sessions = open_many(&slow_first(), &graphs);
    let canceller = sessions.canceller();
    assert_eq!(
        [(); 2].map(|()| batch(&mut sessions, &graphs)),
        ["vir0", "native"]
    );
    canceller.cancel();
    assert!(sessions.run_batch().is_err());
    canceller.rearm();
    assert!(sessions.set_step_limit(Some(1)));
    sessions.submit(0, search::Run { source: 1 }, 0);
    let batch = sessions.run_batch().expect("begins");
    assert!(batch.results[0].1.is_err());
}

#[test]
fn many_small_graphs_go() {
    let graph = chain(3);
    let graphs = std::iter::repeat_n(&graph, 10_000);
    let mut sessions = shifted::Sessions::new(&slow_first(), graphs).expect("opens");
    for backend in ["vir0", "native"] {
        sessions.submit(9_999, shifted::Run { by: 1 }, 0);
        sessions.run_batch().expect("runs");
        assert_eq!(sessions.backend(), backend);
    }
}

/// Sessions on the second side are made of what those on the first one have.
fn all_topologies_go(first: &Runtime, second: &Runtime) {
    let graphs = some_graphs();
    let kinds: Vec<Vec<u32>> = (graphs.iter())
        .map(|g| {
            (0..2 * g.node_count() as u32)
                .map(|i| if i % 2 == 0 { i * 7_777 } else { i % 256 })
                .collect()
        })
        .collect();
    let tag: Vec<Vec<bool>> = (graphs.iter())
        .map(|g| (0..g.node_count()).map(|v| v % 3 == 0).collect())
        .collect();
    let far: Vec<Vec<f64>> = (graphs.iter())
        .map(|g| {
            (0..g.edge_count())
                .map(|e| (e % 777) as f64 / 7.0)
                .collect()
        })
        .collect();
    let small: Vec<Vec<i32>> = (graphs.iter())
        .map(|g| (0..g.edge_count() as i32).map(|e| 40 - e).collect())
        .collect();
    let open = |runtime: &Runtime| {
        let topologies = (0..graphs.len()).map(|i| given::Topology {
            graph: &graphs[i],
            kinds: &kinds[i],
            tag: &tag[i],
            far: &far[i],
            small: &small[i],
        });
        given::Sessions::new(runtime, topologies).expect("opens")
    };
    let run = |sessions: &mut given::Sessions| {
        for topology in 0..graphs.len() {
            sessions.submit(topology, given::Run { by: 5 }, 0);
        }
        let results = sessions.run_batch().expect("runs").results.into_iter();
        let results = results.map(|(_, result)| result.expect("runs"));
        let results: Vec<_> = results.map(|out| (out.seen, out.farthest)).collect();
        results
    };
    let once = run(&mut open(second));
    let both = Runtime::among(first.clone(), [second.clone()]);
    let took = AtomicU32::new(0);
    // The first side's batch takes so long that the second one is tried.
    let both = both.with_clock(move |_| Duration::from_secs(took.fetch_add(1_000, Relaxed).into()));
    let mut sessions = open(&both);
    run(&mut sessions);
    assert_eq!(run(&mut sessions), once);
    let runs: Vec<u64> = sessions.sides().iter().map(|side| side.runs).collect();
    assert_eq!(runs, [1, 1], "{:?}", sessions.sides());
}

fn all_topologies_go_from_the_cpu(runtime: &Runtime) {
    all_topologies_go(&Runtime::native(), runtime);
}

fn all_topologies_come_to_the_cpu(runtime: &Runtime) {
    all_topologies_go(runtime, &Runtime::native());
}

type Both = FusedSession<search::Pass, priced::Pass>;

/// A graph with what both passes have beside it.
struct Town {
    graph: Csr,
    weight: Vec<u32>,
    price: Vec<u32>,
    toll: Vec<u32>,
}

impl Town {
    fn new() -> Town {
        let graph = random_graph(2_000, 4_000);
        Town {
            weight: weights(&graph),
            price: (0..2_000).map(|v| v % 77).collect(),
            toll: (0..4_000).map(|e| e * 7 % 1_001).collect(),
            graph,
        }
    }

    fn search(&self) -> search::Topology<'_> {
        search::Topology {
            graph: &self.graph,
            weight: &self.weight,
        }
    }

    fn priced(&self) -> priced::Topology<'_> {
        priced::Topology {
            graph: &self.graph,
            rate: 3,
            price: &self.price,
            toll: &self.toll,
        }
    }

    fn fused(&self, runtime: &Runtime) -> Both {
        let topologies = (self.search(), self.priced());
        FusedSession::new(runtime, topologies, &[("dist", "far")]).expect("opens")
    }

    /// Runs both, checks what they give, and says where they were.
    fn run(&self, both: &mut Both) -> &'static str {
        let second = priced::Run { far: &[], most: 5 };
        let (a, b) = both.run(search::Run { source: 1 }, second).expect("runs");
        assert_eq!((a.dist, a.looked_at), expected(&self.graph, 1));
        assert_eq!(b.cost, self.costs(1));
        assert_eq!([a.report.backend, b.report.backend], [both.backend(); 2]);
        both.backend()
    }

    /// Worked out one node after the other.
    fn costs(&self, source: u32) -> Vec<u32> {
        let step = |t: u32, k: u32| ((t ^ (t >> 3)) + (k & 5)) & 0xfff;
        let toll = |e: u32| (0..64).fold(self.toll[e as usize], step);
        let back = self.graph.reverse();
        let of = |(v, far): (usize, u32)| match far {
            UNSEEN => 0,
            far => {
                let tolls = self.graph.edges(v as u32).into_iter().map(toll);
                let indegree = back.degree(v as u32);
                self.price[v] * 3 + far + indegree + tolls.sum::<u32>()
            }
        };
        let (dist, _) = expected(&self.graph, source);
        dist.into_iter().enumerate().map(of).collect()
    }
}

#[test]
fn fused_sessions_go_on_where_both_passes_are_fastest() {
    let town = Town::new();
    let mut both = town.fused(&slow_first());
    assert!(both.is_one_launch());
    let backends = [(); 6].map(|()| town.run(&mut both));
    assert_eq!(backends[..1], ["vir0"]);
    assert_eq!(backends[1..], ["native"; 5]);
    assert!(!both.is_one_launch());
    let sides = both.sides();
    assert_eq!(sides.iter().map(|side| side.runs).sum::<u64>(), 6);
    assert!(native(&sides).cost_ns < sides[0].cost_ns, "{sides:?}");
    // One launch there, and a launch for each pass here; the graph goes up with each of them.
    let counted = both.counters().expect("both sides count");
    assert_eq!((counted.launches, counted.graph_uploads), (1 + 5 * 2, 3));
    both.set_side_changes(false);
    assert_eq!(both.sides()[0].state, SideState::Closed);
    assert_eq!(both.counters(), Some(counted));
    assert_eq!(town.run(&mut both), "native");
    // From the fast side, the slow one gets a trial and no more; alone, nothing changes.
    let mut both = town.fused(&fast_first());
    let backends = [(); 9].map(|()| town.run(&mut both));
    assert_eq!(backends[..2], ["native", "vir0"]);
    assert_eq!(backends[2..], ["native"; 7]);
    let mut both = town.fused(&slow_first().alone());
    assert_eq!([(); 3].map(|()| town.run(&mut both)), ["vir0"; 3]);
    assert_eq!(both.sides().len(), 1);
}

#[test]
fn what_fused_sessions_took_is_remembered() {
    let (file, town) = (File::new("fused"), Town::new());
    let runtime = dear_first(&file, |runtime| {
        assert_eq!(town.run(&mut town.fused(runtime)), "vir0");
    });
    assert_eq!(town.run(&mut town.fused(&runtime)), "native");
}

#[test]
fn fused_sessions_whose_results_may_differ_stay() {
    let graph = random_graph(500, 4_000);
    let both = (&graph, &graph);
    let both = FusedSession::<summed::Pass, shifted::Pass>::new(&slow_first(), both, &[]);
    let mut both = both.expect("opens");
    let mut on = |changes: bool| {
        if changes {
            both.set_side_changes(true);
        }
        let run = shifted::Run { by: 1 };
        both.run(summed::Run {}, run).expect("runs");
        both.backend()
    };
    assert_eq!([(); 3].map(|()| on(false)), ["vir0"; 3]);
    assert_eq!([(); 2].map(|()| on(true)), ["vir0", "native"]);
}

#[test]
fn errors_of_fused_sessions_are_those_of_the_first_side() {
    let graph = random_graph(3_000, 60_000);
    type Twice = FusedSession<shifted::Pass, shifted::Pass>;
    let mut both = Twice::new(&slow_first(), (&graph, &graph), &[]).expect("opens");
    let mut run = |by: [u32; 2]| {
        let [first, second] = by.map(|by| shifted::Run { by });
        let done = both.run(first, second).map(|(a, b)| [a.sum, b.sum]);
        (done, both.backend(), native(&both.sides()).state.clone())
    };
    let mut alone = shifted::Session::new(&Runtime::vir0(), &graph).expect("opens");
    let mut by = |by| alone.run(shifted::Run { by }).map(|out| out.sum);
    assert_eq!(run([1, 2]).1, "vir0");
    assert_eq!(run([1, 2]).1, "native");
    // The same trap on both sides, and nothing is refused.
    for by in [[13, 2], [2, 13]] {
        let (done, backend, state) = run(by);
        let trap = done.expect_err("traps").to_string();
        let says = "assertion failed: thirteen in `shifted::shift` at item 0";
        assert!(trap.starts_with(says), "{trap}");
        assert_eq!((backend, state), ("vir0", SideState::Open));
        assert_eq!(run([1, 2]).1, "native");
    }
    // Only functions that are built for debugging check this: the first side's answer counts.
    let (done, _, state) = run([1, u32::MAX]);
    assert_eq!(done.expect("wraps")[1], by(u32::MAX).expect("wraps"));
    let refused = matches!(state, SideState::Refused(_));
    assert_eq!(refused, cfg!(debug_assertions), "{state:?}");
}

#[test]
fn fused_sessions_open_another_side_only_where_the_budget_has_room() {
    let town = Town::new();
    let runtime = slow_first().with_memory(1 << 30);
    let needed = {
        let _both = town.fused(&runtime);
        runtime.memory().expect("a budget").1
    };
    let tight = slow_first().with_memory(needed * 5 / 2);
    let mut both = town.fused(&tight);
    assert_eq!([(); 4].map(|()| town.run(&mut both)), ["vir0"; 4]);
    let SideState::Refused(why) = native(&both.sides()).state.clone() else {
        panic!("{:?}", both.sides());
    };
    let says = "another side has to leave as much as it takes; ";
    assert!(why.starts_with(says), "{why}");
    let wide = slow_first().with_memory(needed * 6);
    let mut both = town.fused(&wide);
    assert_eq!(
        [(); 2].map(|()| town.run(&mut both)),
        ["vir0", "native"],
        "{:?}",
        both.sides()
    );
    drop(both);
    assert_eq!(wide.memory().expect("a budget").1, 0);
}

#[test]
fn limits_go_along_with_fused_sessions() {
    let town = Town::new();
    let mut both = town.fused(&slow_first());
    let canceller = both.canceller();
    assert_eq!([(); 2].map(|()| town.run(&mut both)), ["vir0", "native"]);
    let run = |both: &mut Both| {
        let second = priced::Run { far: &[], most: 5 };
        both.run(search::Run { source: 1 }, second).map(drop)
    };
    canceller.cancel();
    assert!(matches!(run(&mut both), Err(vyre::Error::Cancelled)));
    canceller.rearm();
    // Natively each pass would have as many. On the first side both have.
    assert!(both.set_step_limit(Some(1 << 20)));
    assert_eq!(town.run(&mut both), "vir0");
    assert!(both.set_step_limit(Some(1)));
    assert!(matches!(
        run(&mut both),
        Err(vyre::Error::Work { limit: 1, .. })
    ));
    assert_eq!(both.backend(), "vir0");
    // What it has elsewhere forgets the limit with it.
    assert!(both.set_step_limit(None));
    assert_eq!(town.run(&mut both), "native");
}

/// A fused session on the second side is made of what that on the first one has.
fn all_of_both_topologies_goes(first: &Runtime, second: &Runtime) {
    let town = Town::new();
    let both = Runtime::among(first.clone(), [second.clone()]);
    let took = AtomicU32::new(0);
    // The first side's run takes so long that the second one is tried.
    let both = both.with_clock(move |_| Duration::from_secs(took.fetch_add(1_000, Relaxed).into()));
    let mut both = town.fused(&both);
    for _ in 0..2 {
        town.run(&mut both);
    }
    let runs: Vec<u64> = both.sides().iter().map(|side| side.runs).collect();
    assert_eq!(runs, [1, 1], "{:?}", both.sides());
}

fn both_topologies_go_from_the_cpu(runtime: &Runtime) {
    all_of_both_topologies_goes(&Runtime::native(), runtime);
}

fn both_topologies_come_to_the_cpu(runtime: &Runtime) {
    all_of_both_topologies_goes(runtime, &Runtime::native());
}

backend_tests!(
    all_of_a_topology_goes_from_the_cpu,
    all_topologies_go_from_the_cpu,
    both_topologies_go_from_the_cpu;
    counting: all_of_a_topology_comes_to_the_cpu,
    all_topologies_come_to_the_cpu,
    both_topologies_come_to_the_cpu
);

#[test]
fn batches_and_series_go_as_a_whole() {
    let graph = random_graph(1_000, 4_000);
    let weight = weights(&graph);
    let queries = [3, 1, 2].map(|source| search::Run { source });
    let file = File::new("batches");
    let runtime = dear_first(&file, |runtime| {
        let mut session = open(runtime, &graph, &weight);
        for query in queries {
            session.submit(query, 0);
        }
        session.run_batch().expect("runs");
    });
    let mut session = open(&runtime, &graph, &weight);
    assert_eq!(runs(&mut session, &graph, 1), ["vir0"]);
    for _ in 0..2 {
        let ids = [3, 1, 2].map(|source| session.submit(search::Run { source }, 0));
        let batch = session.run_batch().expect("runs");
        assert_eq!((&batch.order[..], batch.launches), (&ids[..], Some(1)));
        for ((id, result), source) in batch.results.iter().zip([3, 1, 2]) {
            let out = result.as_ref().expect("runs");
            let found = (out.dist.clone(), out.looked_at);
            assert_eq!(found, expected(&graph, source));
            assert_eq!(out.report.backend, session.backend());
            assert!(ids.contains(id));
        }
        assert_eq!(session.backend(), "native");
    }
    assert_eq!(
        session
            .sides()
            .iter()
            .map(|side| side.runs)
            .collect::<Vec<u64>>(),
        [1, 2]
    );
    let reports: Vec<Report> = (0..3)
        .map(|_| {
            let series = [3, 1, 2].map(|source| search::Run { source });
            let out = session.run_series(series).expect("runs");
            assert_eq!((out.dist, out.looked_at), expected(&graph, 2));
            out.report
        })
        .collect();
    assert_eq!(reports[2].backend, session.backend());
}

#[test]
fn errors_are_those_of_the_first_side() {
    let graph = random_graph(3_000, 60_000);
    let file = File::new("errors");
    let runtime = dear_first(&file, |runtime| {
        let mut session = shifted::Session::new(runtime, &graph).expect("opens");
        session.submit(shifted::Run { by: 2 }, 0);
        session.submit(shifted::Run { by: 3 }, 0);
        session.run_batch().expect("runs");
        session.run(shifted::Run { by: 1 }).expect("runs");
    });
    let mut session = shifted::Session::new(&runtime, &graph).expect("opens");
    let by = |session: &mut shifted::Session, by| session.run(shifted::Run { by });
    let on = |session: &mut shifted::Session| by(session, 1).expect("runs").report.backend;
    assert_eq!(on(&mut session), "native");
    // The same trap on both sides: that of the first, and nothing is refused.
    let trap = by(&mut session, 13).expect_err("traps").to_string();
    let mut alone = shifted::Session::new(&Runtime::vir0(), &graph).expect("opens");
    assert_eq!(trap, by(&mut alone, 13).expect_err("traps").to_string());
    assert_eq!(on(&mut session), "native");
    session.submit(shifted::Run { by: 2 }, 0);
    session.submit(shifted::Run { by: 3 }, 0);
    let batch = session.run_batch().expect("runs");
    let second = batch.results[1].1.as_ref().expect("runs");
    assert_eq!(second.report.backend, "native");
    session.submit(shifted::Run { by: 2 }, 0);
    session.submit(shifted::Run { by: 13 }, 0);
    let batch = session.run_batch().expect("runs");
    assert_eq!(
        batch.results[0].1.as_ref().expect("runs").sum,
        by(&mut alone, 2).expect("runs").sum
    );
    let trapped = batch.results[1].1.as_ref().expect_err("traps");
    assert_eq!(trapped.to_string(), trap);
    assert_eq!(on(&mut session), "native");
    // A check that only functions built for debugging have: the first side has no such trap, and that is what counts.
    let wrapped = by(&mut alone, u32::MAX).expect("wraps").sum;
    if !cfg!(debug_assertions) {
        assert_eq!(by(&mut session, u32::MAX).expect("wraps").sum, wrapped);
        assert_eq!(on(&mut session), "native");
        return;
    }
    assert_eq!(by(&mut session, u32::MAX).expect("wraps").sum, wrapped);
    let refused = matches!(native(&session.sides()).state, SideState::Refused(_));
    assert!(refused, "{:?}", session.sides());
    assert_eq!(on(&mut session), "vir0");
}

#[test]
fn kernels_go_too() {
    let start: Vec<u32> = (0..20_000).collect();
    let mut once = start.clone();
    let file = File::new("kernels");
    let runtime = dear_first(&file, |runtime| {
        let report = scramble::run(runtime, &mut once).expect("runs");
        assert_eq!(report.backend, "vir0");
    });
    for _ in 0..2 {
        let mut x = start.clone();
        let report = scramble::run(&runtime, &mut x).expect("runs");
        assert_eq!((x == once, report.backend), (true, "native"));
    }
}

/// Searches on a device and natively; where each of them was.
fn settles(runtime: &Runtime, graph: &Csr) -> Vec<&'static str> {
    let (dist, _) = expected(graph, 0);
    let mut session = bfs::Session::new(runtime, graph).expect("opens");
    let each = (0..12).map(|_| {
        let out = session.run(bfs::Run { source: 0 }).expect("runs");
        assert_eq!(out.dist, dist);
        out.report.backend
    });
    let backends = each.collect();
    println!("{}", session.explain());
    backends
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_search_along_a_chain_goes_on_natively() {
    let chain = chain(20_000);
    let runtime = Runtime::among(vyre_tests::cuda(), [Runtime::native()]);
    let runtime = natively_fast(runtime);
    let backends = settles(&runtime, &chain);
    assert_eq!(backends[..1], ["cuda"]);
    assert_eq!(backends[1..], ["native"; 11]);
    assert_eq!(settles(&runtime, &chain), ["native"; 12]);
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_wide_search_goes_on_on_the_device() {
    let wide = random_graph(1 << 19, 16 << 19);
    let cuda = vyre_tests::cuda;
    // Opening another side takes far less.
    let fast = |runtime| {
        takes(runtime, |backend| match backend {
            "cuda" => Duration::from_secs(1),
            _ => Duration::from_secs(10),
        })
    };
    let backends = settles(&fast(Runtime::among(cuda(), [Runtime::native()])), &wide);
    assert_eq!(backends[..2], ["cuda", "native"]);
    assert_eq!(backends[2..], ["cuda"; 10]);
    // From the other side as well.
    let backends = settles(&fast(Runtime::among(Runtime::native(), [cuda()])), &wide);
    assert_eq!(backends[..1], ["native"]);
    assert_eq!(backends[1..], ["cuda"; 11]);
}
