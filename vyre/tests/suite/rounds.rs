//! Rounds by the names of fixpoints, and what a reduction was in the round before.

use vyre::Error;
use vyre::prelude::*;
use vyre_core::vir0::module::Agreement;
use vyre_tests::{backend_tests, graphs};

/// Labels each node with the phase in which it was found, and the step within the phase.
#[wave_graph]
pub mod phased {
    const NONE: u32 = u32::MAX;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node, init = NONE)]
        phase: u32,
        #[output(per = node, init = NONE)]
        step: u32,
        #[reduce(min)]
        least: u32,
        most: u32,
    }

    #[fixpoint(until(least == u32::MAX || phases + 1 == most), max_rounds = 100)]
    mod phases {
        #[wave(nodes)]
        fn choose(v: Node, phase: &u32, least: &Reduce<Min<u32>>) {
            if *phase == NONE {
                least.min(v);
            }
        }

        #[wave(nodes, after(choose))]
        fn start(
            v: Node,
            phases: Round,
            least: u32,
            phase: &mut u32,
            step: &mut u32,
            front: &Push,
        ) {
            if v == least {
                *phase = phases;
                *step = 0;
                front.push(v);
            }
        }

        /// Goes no further than the phase's number; the next phase goes on from there.
        #[fixpoint(after(start), until(front.is_empty() || round >= phases), max_rounds = 100)]
        mod spread {
            #[wave(edges(graph, from = front))]
            fn follow(
                e: Edge,
                phases: Round,
                spread: Round,
                phase: &Buf<Atomic<u32>>,
                step: &Buf<Atomic<u32>>,
                front: &Push,
            ) {
                if phase[e.dst].compare_exchange(NONE, phases) {
                    step[e.dst].store(spread + 1);
                    front.push(e.dst);
                }
            }
        }
    }
}

/// Names that hide others, three fixpoints deep.
#[wave_graph]
pub mod deep {
    pub struct Data {
        #[output(per = 64)]
        seen: u32,
        #[output(per = 1)]
        turns: u32,
    }

    #[fixpoint(until(a == 1))]
    mod a {
        #[fixpoint(until(b == a + 1))]
        mod b {
            #[wave(once)]
            fn inner(
                a: Round,
                b: Round,
                round: Round,
                turns: &Buf<Atomic<u32>>,
                seen: &Buf<Atomic<u32>>,
            ) {
                let at = turns[0].fetch_add(1);
                seen[at].store(a * 100 + b * 10 + round);
            }

            #[fixpoint(after(inner), until(b > 0 || a == b))]
            mod a {
                #[wave(once)]
                fn innermost(
                    a: Round,
                    b: Round,
                    turns: &Buf<Atomic<u32>>,
                    seen: &Buf<Atomic<u32>>,
                ) {
                    let at = turns[0].fetch_add(1);
                    seen[at].store(1000 + a * 100 + b * 10);
                }
            }
        }
    }
}

/// The least label along edges, each phase with a weight of its own.
#[wave_graph]
pub mod weighted {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node, init = u32::MAX)]
        label: u32,
    }

    #[fixpoint(until(phases == 3))]
    mod phases {
        #[wave(nodes)]
        fn begin(v: Node, label: &mut u32, front: &Push) {
            if v == 0 {
                *label = 0;
            }
            front.push(v);
        }

        #[fixpoint(after(begin), until(front.is_empty()))]
        mod rounds {
            #[wave(edges(graph, from = front))]
            fn lower(e: Edge, phases: Round, label: &Buf<Atomic<u32>>, front: &Push) {
                let new = label[e.src].load().saturating_add(10 - phases);
                if new < label[e.dst].fetch_min(new) {
                    front.push(e.dst);
                }
            }
        }
    }
}

#[wave_graph]
pub mod including {
    #[include(graph = graph)]
    use super::phased;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = 1)]
        found: u32,
        rounds: u32,
    }

    /// Around nothing that is included.
    #[fixpoint(after(phased), until(phases + 1 == rounds))]
    mod phases {
        #[wave(range(1))]
        fn add(phases: Round, found: &mut u32) {
            *found += phases;
        }
    }
}

/// Splits classes by the classes of the neighbours, until their number stays. Labels are sums of hashes.
#[wave_graph(deterministic)]
pub mod classes {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        height: u32,
        #[output(per = node)]
        next: u32,
        #[reduce(max)]
        classes: u32,
        #[reduce(count)]
        changed: u64,
        #[reduce(or)]
        any: bool,
    }

    #[fixpoint(until(classes == classes.before), swap(height, next), max_rounds = 50)]
    mod heights {
        #[wave(nodes)]
        fn raise(
            v: Node,
            graph: &Csr,
            height: &Buf<u32>,
            next: &mut u32,
            classes: &Reduce<Max<u32>>,
        ) {
            *next = 0;
            for w in graph.neighbors(v) {
                *next = (*next).max(height[w] + 1);
            }
            classes.max(*next);
        }
    }

    /// Two reductions of one fixpoint, one of them a bool.
    #[fixpoint(after(heights), until(changed == changed.before && any == any.before), max_rounds = 50)]
    mod counts {
        #[wave(nodes)]
        fn count(round: Round, height: &u32, changed: &Reduce<Count>, any: &Reduce<Or<bool>>) {
            if *height > round {
                changed.inc();
            }
            any.or(round == 2);
        }
    }
}

/// Entered several times: before the first round there is the neutral element each time.
#[wave_graph]
pub mod entered {
    pub struct Data {
        #[output(per = 8)]
        rounds: u32,
        #[reduce(min)]
        left: i64,
        #[reduce(sum)]
        total: f32,
    }

    #[fixpoint(until(outer == 3))]
    mod outer {
        /// In entry `outer` the value is neutral from round `outer` on.
        #[fixpoint(until(left == left.before), max_rounds = 20)]
        mod inner {
            #[wave(once)]
            fn step(
                outer: Round,
                inner: Round,
                left: &Reduce<Min<i64>>,
                rounds: &Buf<Atomic<u32>>,
            ) {
                if inner < outer {
                    left.min(-i64::from(inner));
                }
                rounds[outer].fetch_add(1);
            }
        }

        #[fixpoint(after(inner), until(total <= total.before || total.before > 1.0))]
        mod sums {
            #[wave(once)]
            fn add(
                round: Round,
                outer: Round,
                total: &Reduce<Sum<f32>>,
                rounds: &Buf<Atomic<u32>>,
            ) {
                total.add((round + outer) as f32);
                rounds[4 + outer].fetch_add(1);
            }
        }
    }
}

#[wave_graph]
pub mod includes_before {
    #[include(graph = graph)]
    use super::classes;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[reduce(max)]
        most: u32,
    }

    #[wave(nodes, after(classes))]
    fn measure(classes_height: &u32, most: &Reduce<Max<u32>>) {
        most.max(*classes_height);
    }
}

/// Each part counts its own rounds, and sees those around it.
#[wave_graph]
pub mod parted {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(parts_of = graph)]
        parts: Parts,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node)]
        sum: u32,
    }

    #[fixpoint(until(phases == 2))]
    mod phases {
        #[wave(nodes)]
        fn begin(v: Node, front: &Push) {
            front.push(v);
        }

        #[fixpoint(after(begin), per = parts, until(front.is_empty() || mine > phases))]
        mod mine {
            #[wave(items(front))]
            fn add(v: Node, phases: Round, mine: Round, sum: &mut u32, front: &Push) {
                *sum += 100 * phases + mine + 1;
                if v > mine {
                    front.push(v);
                }
            }
        }
    }
}

/// What `phased` gives.
fn phased_by_hand(graph: &Csr, most: u32) -> (Vec<u32>, Vec<u32>) {
    let nodes = graph.node_count();
    let (mut phase, mut step) = (vec![u32::MAX; nodes], vec![u32::MAX; nodes]);
    let mut front = Vec::new();
    for now in 0..most {
        let Some(least) = phase.iter().position(|&p| p == u32::MAX) else {
            break;
        };
        (phase[least], step[least]) = (now, 0);
        front.push(least as u32);
        for round in 0.. {
            let mut next = Vec::new();
            for &v in &front {
                for w in graph.neighbors(v) {
                    if phase[w as usize] == u32::MAX {
                        (phase[w as usize], step[w as usize]) = (now, round + 1);
                        next.push(w);
                    }
                }
            }
            front = next;
            if front.is_empty() || round >= now {
                break;
            }
        }
    }
    (phase, step)
}

fn phases_are_seen_inside(runtime: &Runtime) {
    let mut cases = vec![graphs::grid(9, 7), graphs::chain(40)];
    cases.push(Csr::from_edges(5, &[]).expect("no edges"));
    for graph in cases {
        let mut session = phased::Session::new(runtime, &graph).expect("it fits");
        let run = |most| phased::Run { most };
        for most in [1, 4, 100] {
            let out = session.run(run(most)).expect("it ends");
            assert_eq!((out.phase, out.step), phased_by_hand(&graph, most));
        }
        let queries = [3, 100, 1].map(|most| (session.submit(run(most), 0), most));
        let mut batch = session.run_batch().expect("they end");
        for (query, most) in queries {
            let at = batch.results.iter().position(|(id, _)| *id == query);
            let (_, out) = batch.results.swap_remove(at.expect("it was submitted"));
            let out = out.expect("it ends");
            assert_eq!((out.phase, out.step), phased_by_hand(&graph, most));
        }
        let out = session.run_series([run(2), run(5)]).expect("they end");
        assert_eq!((out.phase, out.step), phased_by_hand(&graph, 5));
    }
}

fn the_nearest_of_a_name_counts(runtime: &Runtime) {
    let out = deep::Session::new(runtime, ())
        .expect("it fits")
        .run(deep::Run {})
        .expect("it ends");
    let mut seen = Vec::new();
    for a in 0..2 {
        for b in 0..a + 2 {
            seen.push(a * 100 + b * 10 + b);
            let mut inner = 0;
            loop {
                seen.push(1000 + inner * 100 + b * 10);
                if b > 0 || inner == b {
                    break;
                }
                inner += 1;
            }
        }
    }
    assert_eq!(out.seen[..seen.len()], seen);
    assert_eq!(out.turns, [seen.len() as u32]);
}

fn a_proof_takes_a_round_around_it_as_fixed(runtime: &Runtime) {
    let session = weighted::Session::new(runtime, &graphs::chain(30));
    let mut session = session.expect("it fits");
    let agreement = &session.program().agreement;
    assert!(matches!(agreement, Agreement::Result(_)), "{agreement:?}");
    let out = session.run(weighted::Run {}).expect("it ends");
    let expected: Vec<u32> = (0..30).map(|v| v * 7).collect();
    assert_eq!(out.label, expected);
}

fn an_included_graph_has_its_own_names(runtime: &Runtime) {
    let graph = graphs::grid(9, 7);
    let mut session = including::Session::new(runtime, &graph).expect("it fits");
    let out = session
        .run(including::Run {
            phased_most: 4,
            rounds: 5,
        })
        .expect("it ends");
    assert_eq!(
        (out.phased_phase, out.phased_step),
        phased_by_hand(&graph, 4)
    );
    assert_eq!(out.found, [10]);
}

fn a_reduction_stays_as_it_was(runtime: &Runtime) {
    let graph = Csr::from_edges(5, &[(0, 1), (1, 2), (2, 3)]).expect("edges name nodes");
    let mut session = classes::Session::new(runtime, &graph).expect("it fits");
    for _ in 0..2 {
        let out = session.run(classes::Run {}).expect("it ends");
        assert_eq!(out.height, [3, 2, 1, 0, 0]);
        // Heights grow for three rounds; counts go 3, 2, 1, 0, 0, and the bool is true in round 2 alone.
        assert_eq!(out.report.rounds, [4, 5]);
        assert_eq!((out.classes, out.changed, out.any), (3, 0, false));
    }
    // Without edges the first value is neutral, so one round is enough.
    let none = Csr::from_edges(5, &[]).expect("no edges");
    let out = classes::Session::new(runtime, &none)
        .expect("it fits")
        .run(classes::Run {});
    assert_eq!(out.expect("it ends").report.rounds, [1, 1]);
    let mut session = includes_before::Session::new(runtime, &graph).expect("it fits");
    let out = session.run(includes_before::Run {}).expect("it ends");
    assert_eq!((out.most, out.classes_classes), (3, 3));
    assert_eq!(out.report.rounds, [4, 5]);
}

fn each_entry_begins_with_the_neutral_element(runtime: &Runtime) {
    let session = entered::Session::new(runtime, ());
    let out = session
        .expect("it fits")
        .run(entered::Run {})
        .expect("it ends");
    // Minima of entry 2: 0, -1, neutral, neutral. Of entry 1: 0, neutral, neutral. Entry 0: neutral at once.
    assert_eq!(out.rounds[..4], [1, 3, 4, 5]);
    // Sums: 0; then 1, 2, 3; 2, 3; 3, 4.
    assert_eq!(out.rounds[4..], [1, 3, 2, 2]);
}

fn parts_see_the_rounds_around_them(runtime: &Runtime) {
    let graph = Csr::from_edges(5, &[(0, 1), (3, 4)]).expect("edges name nodes");
    let parts = Parts::from_sizes([3, 2]).expect("5 nodes");
    let topology = parted::Topology {
        graph: &graph,
        parts: &parts,
    };
    let session = parted::Session::new(runtime, topology);
    let out = session
        .expect("it fits")
        .run(parted::Run {})
        .expect("it ends");
    let by_hand = |v: u32| {
        let mut sum = 0;
        for phase in 0..3 {
            for round in 0..=phase + 1 {
                sum += 100 * phase + round + 1;
                if v <= round {
                    break;
                }
            }
        }
        sum
    };
    assert_eq!(out.sum, [0, 1, 2, 0, 1].map(by_hand));
}

backend_tests!(
    phases_are_seen_inside,
    the_nearest_of_a_name_counts,
    a_proof_takes_a_round_around_it_as_fixed,
    an_included_graph_has_its_own_names,
    a_reduction_stays_as_it_was,
    each_entry_begins_with_the_neutral_element;
    cpus: parts_see_the_rounds_around_them
);

/// A limit of rounds says what the condition compares.
#[test]
fn conditions_are_shown_as_written() {
    let plan = classes::PLAN.to_string();
    assert!(plan.contains("until classes == classes.before"), "{plan}");
    assert!(!plan.contains("__vyre"), "{plan}");
    let session = classes::Session::new(&Runtime::vir0(), &graphs::chain(80));
    let trap = session.expect("it fits").run(classes::Run {});
    let Err(Error::Trap(trap)) = trap else {
        panic!()
    };
    assert!(!trap.to_string().contains("__vyre"), "{trap}");
}
