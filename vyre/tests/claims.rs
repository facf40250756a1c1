//! What authors claim of their passes: where it is kept and shown, and what a session makes of it.

#![allow(
    missing_docs,
    reason = "modules of tests, whose passes are public only to be like a user's"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;
use vyre::FusedSession;
use vyre::core::vir0::module::Agreement;
use vyre::core::vir0::results::{are_settled, results};
use vyre::prelude::*;
use vyre_tests::graphs::random_graph;

/// Distances whose rounds are limited, which is more than anything proves.
#[wave_graph]
#[pass(
    id = "claims.steps",
    unproven,
    same_result(dist = "the rounds are enough for every shortest path")
)]
pub mod steps {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, init = u32::MAX)]
        dist: u32,
        #[reduce(or)]
        changed: bool,
        #[output(per = node)]
        indegree: u32,
        rounds: u32,
    }

    #[wave(once)]
    fn begin(dist: &Buf<Atomic<u32>>) {
        dist[0].store(0);
    }

    #[wave(edges(graph))]
    fn count(e: Edge, indegree: &Buf<Atomic<u32>>) {
        indegree[e.dst].fetch_add(1);
    }

    #[fixpoint(after(begin), until(round + 1 == rounds), max_rounds = 1_000)]
    mod turns {
        #[wave(edges(graph))]
        fn relax(e: Edge, dist: &Buf<Atomic<u32>>) {
            let far = dist[e.src].load();
            if far < u32::MAX {
                dist[e.dst].fetch_min(far + 1);
            }
        }
    }

    #[wave(once, after(turns))]
    fn look(dist: &Buf<u32>, changed: &Reduce<Or<bool>>) {
        changed.or(dist[0] > 0);
    }
}

fn shown(program: &vyre::core::vir0::module::Program) -> Vec<String> {
    let all = results(program).into_iter();
    all.map(|given| format!("{} {}", given.name, given.standing))
        .collect()
}

#[test]
fn results_are_proven_claimed_or_open_one_by_one() {
    let program = steps::PLAN.program();
    assert!(matches!(program.agreement, Agreement::Open(_)));
    // What is changed, and what is read off it; not what other waves do.
    assert_eq!(
        shown(&program),
        [
            "dist claimed (the rounds are enough for every shortest path)",
            "indegree proven",
            "changed open",
        ]
    );
    assert!(!are_settled(&program));
    let plan = steps::PLAN.to_string();
    assert!(
        plan.starts_with("pass claims.steps (open result: "),
        "{plan}"
    );
    let cost = "changed may differ, so a session of several backends stays where it began: \
                `set_side_changes(true)` or, if it is true, a claim, `#[pass(same_result(changed = \"why\"))]`, lets it change\n";
    assert!(plan.contains(&format!("\n  {cost}\n")), "{plan}");
    assert!(!path::PLAN.to_string().contains("stays where it began"));
    // Where there is one backend, nothing else would tell.
    let graph = random_graph(50, 200);
    let mut session = steps::Session::new(&Runtime::native(), &graph).expect("opens");
    session.run(steps::Run { rounds: 9 }).expect("runs");
    let text = session.explain().to_string();
    let result = "\nresult    open result: dist claimed (the rounds are enough for every shortest path), changed open\n";
    assert!(
        text.contains(&format!("{result}          {cost}")),
        "{text}"
    );
    let two = twice::PLAN.to_string();
    assert!(
        two.contains("  away, copy, steps_changed and again_changed may differ, so ")
            && two.contains(
                " or, if they are true, claims, `#[pass(same_result(away = \"why\", copy = \"why\", steps_changed = \"why\", \
                 again_changed = \"why\"))]`, let it change\n"
            ),
        "{two}"
    );
    assert!(
        plan.contains("\n  claimed: every run gives dist alike: the rounds are enough for every shortest path\n"),
        "{plan}"
    );
}

/// Claims all that is open.
#[wave_graph]
#[pass(
    unproven,
    same_result(
        parent = "each node has one edge that leads to it",
        order = "one node after the other",
        last = "as `parent`"
    )
)]
pub mod path {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, init = u32::MAX)]
        parent: u32,
        #[output(per = node)]
        degree: u32,
        #[list(capacity = node, output)]
        order: List<u32>,
        #[reduce(max)]
        last: u32,
    }

    #[wave(edges(graph))]
    fn choose(e: Edge, parent: &Buf<Atomic<u32>>, last: &Reduce<Max<u32>>) {
        let mut hash = e.index;
        for k in 0..64u32 {
            hash = (hash ^ (hash >> 3)) + (k & 5);
        }
        if parent[e.dst].compare_exchange(u32::MAX, e.src) && hash != 7 {
            last.max(e.dst);
        }
    }

    #[wave(nodes)]
    fn measure(v: Node, graph: &Csr, degree: &mut u32) {
        *degree = graph.degree(v);
    }

    #[wave(once)]
    fn note(order: &Append<u32>) {
        order.append(3);
    }
}

/// A run takes a millisecond natively and a second elsewhere, by the clock that sessions choose sides by.
fn slow_first() -> Runtime {
    let turned = Mutex::new(Duration::ZERO);
    let among = Runtime::among(Runtime::vir0(), [Runtime::native()]);
    among.with_clock(move |backend| {
        let mut now = turned.lock().expect("nothing panics under it");
        *now += match backend {
            "native" => Duration::from_millis(1),
            _ => Duration::from_secs(1),
        };
        *now
    })
}

#[test]
fn sessions_change_sides_where_all_is_proven_or_claimed() {
    let program = path::PLAN.program();
    assert!(matches!(program.agreement, Agreement::Open(_)));
    assert!(are_settled(&program), "{:?}", shown(&program));
    assert_eq!(shown(&program)[1], "degree proven");
    let graph = random_graph(500, 4_000);
    let mut session = path::Session::new(&slow_first(), &graph).expect("opens");
    let run = |session: &mut path::Session| session.run(path::Run {}).expect("runs").report;
    let backends: Vec<&str> = (0..4).map(|_| run(&mut session).backend).collect();
    assert_eq!(backends, ["vir0", "native", "native", "native"]);
    let text = session.explain().to_string();
    let line = "\nresult    open result: parent claimed (each node has one edge that leads to it), \
                order claimed (one node after the other), last claimed (as `parent`)\n";
    assert!(text.contains(line), "{text}");
    // Rounds, and so items, are not part of a claim.
    assert!(text.contains(" a run, "), "{text}");
    assert!(!text.contains("; stays"), "{text}");

    // One result without a claim is enough to stay.
    let mut session = steps::Session::new(&slow_first(), &graph).expect("opens");
    for _ in 0..4 {
        let out = session.run(steps::Run { rounds: 9 }).expect("runs");
        assert_eq!(out.report.backend, "vir0");
    }
    let text = session.explain().to_string();
    assert!(text.contains("; stays, "), "{text}");
}

#[kernel]
#[pass(unproven, same_result(out = "all store one value"))]
fn marked(i: Index, out: &Buf<Atomic<u32>>) {
    out[0].store(1 + i / (i + 1));
}

#[test]
fn kernels_have_claims_too() {
    let all = vyre::passes();
    let found = all.iter().find(|pass| pass.manifest().id == "marked");
    let claims = found.expect("it is in this binary").manifest().claims;
    assert_eq!(claims.len(), 1);
    let mut out = [7];
    marked::run(&Runtime::vir0(), 5, &mut out).expect("runs");
    assert_eq!(out, [1]);
}

/// Searches twice: once in fields of its own, and once in one that is looked at here as well.
#[wave_graph]
mod twice {
    #[include(graph = graph, rounds = rounds)]
    use super::steps;
    #[include(graph = graph, rounds = rounds, dist = away, after(mix))]
    use super::steps as again;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, init = u32::MAX)]
        away: u32,
        #[output(per = node)]
        copy: u32,
        rounds: u32,
    }

    #[wave(edges(graph))]
    fn mix(e: Edge, away: &Buf<Atomic<u32>>) {
        if e.src > 9 {
            away[e.dst].store(e.src);
        }
    }

    #[wave(nodes, after(again))]
    fn copy(v: Node, away: &Buf<u32>, copy: &mut u32) {
        *copy = away[v];
    }
}

/// Includes what has claims by way of another one.
#[wave_graph]
mod outer {
    #[include(graph = graph, rounds = rounds)]
    pub(crate) use super::inner;

    pub struct Data {
        #[topology]
        graph: Csr,
        rounds: u32,
    }
}

#[wave_graph]
#[pass(unproven, same_result(copy = "as `dist`"))]
mod inner {
    #[include(graph = graph, rounds = rounds)]
    pub(crate) use super::steps;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        copy: u32,
        rounds: u32,
    }

    #[wave(nodes, after(steps))]
    fn copy(v: Node, steps_dist: &Buf<u32>, copy: &mut u32) {
        *copy = steps_dist[v];
    }
}

#[test]
fn claims_come_with_what_is_included_as_long_as_they_are_about_it() {
    let why = "the rounds are enough for every shortest path";
    assert_eq!(
        shown(&twice::PLAN.program()),
        [
            // Another wave has its say here.
            "away open".to_owned(),
            "copy open".to_owned(),
            format!("steps_dist claimed ({why})"),
            "steps_indegree proven".to_owned(),
            "again_indegree proven".to_owned(),
            "steps_changed open".to_owned(),
            "again_changed open".to_owned(),
        ]
    );
    assert_eq!(
        shown(&outer::PLAN.program()),
        [
            "inner_copy claimed (as `dist`)".to_owned(),
            format!("inner_steps_dist claimed ({why})"),
            "inner_steps_indegree proven".to_owned(),
            "inner_steps_changed open".to_owned(),
        ]
    );
}

/// What is open here in scratch decides no result.
#[wave_graph]
#[pass(
    unproven,
    same_result(marked = "whatever is stored
        is below   the bound")
)]
mod marks {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        last: u32,
        #[output(per = node)]
        marked: u32,
    }

    #[wave(edges(graph))]
    fn choose(e: Edge, last: &Buf<Atomic<u32>>) {
        last[e.dst].store(e.src);
    }

    #[wave(nodes, after(choose))]
    fn mark(last: &u32, marked: &mut u32) {
        *marked = u32::from(*last < 1_000_000);
    }
}

/// Adds what the included graph left open to what it claims.
#[wave_graph]
mod adds_open {
    #[include(graph = graph, marked = mine)]
    use super::marks;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        mine: u32,
    }

    #[wave(nodes, after(marks))]
    fn add(marks_last: &u32, mine: &mut u32) {
        *mine += *marks_last;
    }
}

/// Adds what is the same in every run.
#[wave_graph]
mod adds_same {
    #[include(graph = graph, marked = mine)]
    use super::marks;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        mine: u32,
    }

    #[wave(nodes, after(marks))]
    fn add(v: Node, mine: &mut u32) {
        *mine += v;
    }
}

/// Stores what is open in an element of the included graph, by way of scratch that both have.
#[wave_graph]
mod shares {
    #[include(graph = graph, last = shared)]
    use super::marks;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        shared: u32,
    }

    #[wave(nodes, after(marks))]
    fn take(shared: &u32, marks_marked: &mut u32) {
        *marks_marked = *shared;
    }
}

/// Changes what flows into a result, and not the result.
#[wave_graph]
mod feeds {
    #[include(graph = graph, last = shared, after(begin))]
    use super::marks;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        shared: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, shared: &mut u32) {
        *shared = v * 2_000_000;
    }
}

/// Only looks at what is open.
#[wave_graph]
mod looks {
    #[include(graph = graph)]
    use super::marks;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        copy: u32,
    }

    #[wave(nodes, after(marks))]
    fn look(marks_last: &u32, copy: &mut u32) {
        *copy = *marks_last;
    }
}

#[test]
fn an_included_claim_ends_where_the_including_graph_has_its_say() {
    let claimed = "claimed (whatever is stored is below the bound)";
    for (plan, expected) in [
        (marks::PLAN, vec![format!("marked {claimed}")]),
        (adds_open::PLAN, vec!["mine open".to_owned()]),
        (adds_same::PLAN, vec!["mine open".to_owned()]),
        (shares::PLAN, vec!["marks_marked open".to_owned()]),
        (feeds::PLAN, vec!["marks_marked open".to_owned()]),
        (
            looks::PLAN,
            vec!["copy open".to_owned(), format!("marks_marked {claimed}")],
        ),
    ] {
        assert_eq!(shown(&plan.program()), expected, "{plan}");
    }
    // A reason is on one line of what is shown.
    let plan = marks::PLAN.to_string();
    assert!(
        plan.contains("alike: whatever is stored is below the bound"),
        "{plan}"
    );
}

/// Looks at what it is given.
#[wave_graph]
#[pass(unproven, same_result(first = "numbers are unique"))]
mod given {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[input(per = node)]
        number: u32,
        #[output(per = 1, init = u32::MAX)]
        first: u32,
    }

    #[wave(nodes)]
    fn look(number: &u32, first: &Buf<Atomic<u32>>) {
        if *number > 3 {
            first[0].store(*number);
        }
    }
}

#[test]
fn fused_sessions_keep_claims_by_field() {
    let graph = random_graph(50, 200);
    let fused = |links: &[(&str, &str)]| {
        let (runtime, both) = (Runtime::vir0(), (&graph, &graph));
        let session = FusedSession::<steps::Pass, given::Pass>::new(&runtime, both, links);
        let session = session.expect("they fit together");
        shown(session.program())
    };
    let why = "the rounds are enough for every shortest path";
    let dist = format!("steps::dist claimed ({why})");
    let first = "given::first claimed (numbers are unique)".to_owned();
    for links in [&[][..], &[("dist", "number")], &[("indegree", "number")]] {
        let all = fused(links);
        assert!(all.contains(&dist) && all.contains(&first), "{all:?}");
    }
    // What it is given may be anything, and it has claimed nothing about that.
    let mut second = path::PLAN.program();
    second.manifest.claims.clear();
    let links = [vyre::core::plan::fuse::Link {
        from: vyre::core::vir0::module::BufferId(0),
        to: vyre::core::vir0::module::BufferId(0),
    }];
    let given = given::PLAN.program();
    let open = vyre::core::plan::fuse::fuse(&second, &given, &links).expect("they fit together");
    assert!(shown(&open.program).contains(&"given::first open".to_owned()));
}

#[test]
fn what_strangers_claim_is_not_believed() {
    use vyre::core::vir0::container::encode;
    use vyre::core::vir0::module::Program;
    use vyre::core::vir0::untrusted::Limits;
    let program = path::PLAN.program();
    assert_eq!(program.manifest.claims.len(), 3);
    let sent = Program::from_untrusted(&encode(&program), &Limits::default()).expect("it is sound");
    assert_eq!(sent.manifest.claims, []);
    assert!(!are_settled(&sent));
}

/// Says that it does not matter which item comes first, which is wrong.
#[wave_graph]
#[pass(
    unproven,
    same_result(
        last = "claimed in haste",
        marks = "likewise",
        items = "likewise",
        more = "likewise",
        most = "likewise"
    )
)]
pub mod wrong {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = 3, init = 7)]
        last: u32,
        #[output(per = node, bits = 40)]
        marks: Bits,
        #[list(capacity = 100, output)]
        items: List<(u32, u32)>,
        #[list(capacity = 100, output)]
        more: List<u32>,
        #[reduce(max)]
        most: f32,
        #[output(per = node)]
        sound: u32,
        #[output(per = node)]
        race: u32,
        stop: u32,
    }

    #[wave(nodes)]
    fn sound(v: Node, sound: &mut u32) {
        *sound = v;
    }

    #[wave(edges(graph))]
    fn race(
        e: Edge,
        stop: u32,
        last: &Buf<Atomic<u32>>,
        marks: &Bits,
        items: &Append<(u32, u32)>,
        more: &Append<u32>,
        most: &Reduce<Max<f32>>,
    ) {
        let old = last[1].swap(e.src);
        assert!(old != stop, "so it comes");
        if old == 7 {
            marks.set(1, e.src + 30);
            items.append((1, e.src));
            most.max(e.src as f32);
        }
        if old == 2 {
            more.append(e.src);
        }
    }

    #[wave(edges(graph))]
    fn other_race(e: Edge, race: &Buf<Atomic<u32>>) {
        race[e.dst].store(e.src);
    }
}

#[test]
fn what_differs_is_said_with_its_place() {
    let graph = Csr::from_edges(9, &[(2, 1), (5, 1)]).expect("edges name nodes");
    let runtimes = [
        Runtime::vir0(),
        Runtime::on(Arc::new(vyre_tests::sequential::Backwards)),
    ];
    let compared = |stop: u32| {
        let found = vyre::compare::<wrong::Pass>(&runtimes, &graph, wrong::Run { stop }, 2);
        found.expect("runs")
    };
    let there = "in run 1 on backwards (one item at a time)";
    let found = compared(9);
    assert!(!found.agrees());
    assert_eq!(found.differences.len(), 2 * 5);
    assert_eq!(
        found.to_string(),
        format!(
            "wrong: 2 runs each on vir0 (1 thread), backwards (one item at a time) do not agree on all of last \
             (claimed), marks (claimed), sound, items (claimed), more (claimed), most (claimed); not compared, because \
             open: race
  last[1] is 5 in the first run, and 2 {there}; 1 more run; it is claimed: claimed in haste
  bit 32 of row 1 of marks is set in the first run, and not set {there}, and 1 more; 1 more run; it is claimed: likewise
  items[0] is 2 in the first run, and 5 {there}; 1 more run; it is claimed: likewise
  more has 1 item in the first run, and 0 items {there}; 1 more run; it is claimed: likewise
  most is 2.0 in the first run, and 5.0 {there}; 1 more run; it is claimed: likewise"
        )
    );
    for (stop, first, other) in [
        (5, "came to its end", "was stopped (assertion failed"),
        (2, "was stopped (assertion failed", "came to its end"),
    ] {
        let found = compared(stop).to_string();
        let line = found.lines().nth(1).expect("one line for it");
        assert!(
            line.starts_with(&format!("  the first run {first}")),
            "{line}"
        );
        assert!(line.contains(&format!(", and one {other}")), "{line}");
    }
    // All are stopped, and elsewhere: more is not claimed.
    assert!(compared(7).agrees());
}

#[test]
fn runs_are_compared_in_what_is_proven_or_claimed() {
    let graph = random_graph(300, 900);
    let runtimes = [
        Runtime::vir0(),
        Runtime::among(Runtime::native(), [vyre_tests::fake()]),
    ];
    let found = vyre::compare::<steps::Pass>(&runtimes, &graph, steps::Run { rounds: 99 }, 2);
    let found = found.expect("runs");
    assert!(found.agrees(), "{found}");
    assert_eq!((found.sides.len(), found.times), (3, 2));
    assert_eq!(found.open, ["changed"]);
    let why = "the rounds are enough for every shortest path".to_owned();
    assert_eq!(
        found.compared,
        [
            ("dist".to_owned(), Some(why)),
            ("indegree".to_owned(), None),
        ]
    );
    let text = found.to_string();
    assert!(
        text.starts_with("claims.steps: 2 runs each on vir0 (1 thread), native ("),
        "{text}"
    );
    assert!(
        text.ends_with(" agree on dist (claimed), indegree; not compared, because open: changed"),
        "{text}"
    );
    let none = vyre::compare::<steps::Pass>(&[], &graph, steps::Run { rounds: 9 }, 2);
    assert!(
        none.expect_err("there is nothing to run on")
            .to_string()
            .contains("no runtime")
    );
}
