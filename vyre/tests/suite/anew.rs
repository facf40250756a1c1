//! Scratch that begins anew with each round.

use vyre::prelude::*;
use vyre_tests::{backend_tests, graphs};

/// In each phase a search of some steps from another node.
#[wave_graph]
pub mod searches {
    pub const FAR: u32 = u32::MAX;

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Seen {
        pub phase: u32,
        pub by: u64,
    }

    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[scratch(per = node, init = FAR, reset = round)]
        dist: u32,
        #[scratch(per = node, bits = 40, init = true, reset = round)]
        missing: Bits,
        #[scratch(per = node, init = Seen { phase: 7, by: 9 }, reset = round)]
        seen: Seen,
        #[scratch(per = 3, reset = round)]
        looked: u32,
        #[output(per = node)]
        reached: u32,
        #[output(per = node)]
        kept: u64,
        #[output(per = node)]
        holes: u32,
        #[output(per = 2)]
        looks: u32,
        steps: u32,
        last: u32,
    }

    #[fixpoint(until(round + 1 == last), max_rounds = 1_000)]
    mod phases {
        #[wave(nodes)]
        fn seed(
            v: Node,
            round: Round,
            dist: &mut u32,
            missing: &Bits,
            seen: &mut Seen,
            kept: &mut u64,
            front: &Push,
        ) {
            if v == round {
                *dist = 0;
                missing.unset(v, 1);
                front.push(v);
            }
            *kept += u64::from(seen.phase) + seen.by;
            *seen = Seen {
                phase: round,
                by: 1,
            };
        }

        #[fixpoint(after(seed), until(front.is_empty()), max_rounds = 1_000)]
        mod search {
            #[wave(edges(graph, from = front))]
            fn follow(e: Edge, round: Round, steps: u32, dist: &Buf<Atomic<u32>>, front: &Push) {
                if round < steps && dist[e.dst].compare_exchange(FAR, round + 1) {
                    front.push(e.dst);
                }
            }

            #[wave(once)]
            fn look(looked: &Buf<Atomic<u32>>, looks: &Buf<Atomic<u32>>) {
                looks[0].fetch_add(looked[2].load());
                looks[1].fetch_add(1);
                looked[2].store(1);
            }
        }

        #[wave(nodes, after(search))]
        fn count(
            v: Node,
            phases: Round,
            dist: &u32,
            missing: &Bits,
            holes: &mut u32,
            reached: &Buf<Atomic<u32>>,
        ) {
            if *dist != FAR {
                reached[phases].fetch_add(1);
            }
            *holes += 40 - missing.count(v);
        }
    }
}

fn every_round_begins_with_the_initial_value(runtime: &Runtime) {
    for nodes in [1, 5, 70, 3_000] {
        let graph = graphs::chain(nodes);
        let mut session = searches::Session::new(runtime, &graph).expect("it fits");
        for (steps, last) in [(2, 1), (3, nodes.min(20))] {
            let out = session.run(searches::Run { steps, last }).expect("it runs");
            let reached = |v: u32| match v < last {
                true => (nodes - v).min(steps + 1),
                false => 0,
            };
            let all = || 0..nodes;
            assert!(
                out.reached.iter().copied().eq(all().map(reached)),
                "{:?}",
                out.reached
            );
            assert!(
                out.holes
                    .iter()
                    .copied()
                    .eq(all().map(|v| u32::from(v < last)))
            );
            assert!(out.kept.iter().all(|&kept| kept == 16 * u64::from(last)));
            assert_eq!(out.looks, [0, out.report.rounds[1] as u32]);
        }
    }
}

/// A session whose scratch shares memory fills what begins anew all the same.
#[wave_graph(limits(nodes = 100_000, edges = 100_000), budget = 2_900_000)]
pub mod shared {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        before: u64,
        #[scratch(per = node, init = 3, reset = round)]
        counted: u64,
        #[output(per = node)]
        out: u64,
    }

    #[wave(nodes)]
    fn first(v: Node, before: &mut u64) {
        *before = v.into();
    }

    #[wave(nodes, after(first))]
    fn take(before: &u64, out: &mut u64) {
        *out = *before;
    }

    #[fixpoint(after(take), until(round == 3), max_rounds = 10)]
    mod rounds {
        #[wave(nodes)]
        fn add(counted: &mut u64, out: &mut u64) {
            *counted += 1;
            *out += *counted;
        }
    }
}

fn memory_that_is_shared_begins_anew(runtime: &Runtime) {
    let graph = graphs::chain(100_000);
    let mut session = shared::Session::new(runtime, &graph).expect("it fits");
    for _ in 0..2 {
        let out = session.run(shared::Run {}).expect("it runs").out;
        assert!(
            out.iter().copied().eq((0..100_000).map(|v| v + 16)),
            "{out:?}"
        );
    }
}

/// Labels that are lowered in each phase from the beginning.
#[wave_graph]
pub mod lowered {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[scratch(per = node, init = u32::MAX, reset = round)]
        label: u32,
        #[output(per = node)]
        sum: u32,
        phases_left: u32,
    }

    #[fixpoint(until(round + 1 == phases_left), max_rounds = 100)]
    mod phases {
        #[wave(nodes)]
        fn seed(v: Node, round: Round, label: &mut u32, front: &Push) {
            if v == round {
                *label = round;
                front.push(v);
            }
        }

        #[fixpoint(after(seed), until(front.is_empty()), max_rounds = 10_000)]
        mod rounds {
            #[wave(edges(graph, from = front))]
            fn lower(e: Edge, label: &Buf<Atomic<u32>>, front: &Push) {
                let least = label[e.src].load();
                if label[e.dst].fetch_min(least) > least {
                    front.push(e.dst);
                }
            }
        }

        #[wave(nodes, after(rounds))]
        fn add(label: &u32, sum: &mut u32) {
            if *label != u32::MAX {
                *sum += 1 + *label;
            }
        }
    }
}

/// What begins anew in the rounds of the fixpoint itself has no least fixpoint.
#[wave_graph]
pub mod restless {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node, reset = round)]
        label: u32,
        #[reduce(or)]
        changed: bool,
    }

    #[fixpoint(until(!changed), max_rounds = 10)]
    mod rounds {
        #[wave(edges(graph))]
        fn raise(e: Edge, label: &Buf<Atomic<u32>>, changed: &Reduce<Or<bool>>) {
            let most = label[e.src].load();
            if label[e.dst].fetch_max(most) < most {
                changed.or(true);
            }
        }
    }
}

fn a_proof_holds_around_which_memory_begins_anew(runtime: &Runtime) {
    let graph = graphs::chain(50);
    let mut session = lowered::Session::new(runtime, &graph).expect("it fits");
    let out = session
        .run(lowered::Run { phases_left: 4 })
        .expect("it runs");
    let sum = |v: u32| {
        (0..4)
            .filter(|&phase| phase <= v)
            .map(|phase| phase + 1)
            .sum::<u32>()
    };
    assert!(
        out.sum.iter().copied().eq((0..50).map(sum)),
        "{:?}",
        out.sum
    );
    let plan = lowered::PLAN.to_string();
    assert!(plan.starts_with("pass lowered (same result: "), "{plan}");
    let plan = restless::PLAN.to_string();
    let why = "raise changes label, which begins anew in each round of rounds";
    assert!(plan.contains(why), "{plan}");
}

backend_tests!(
    every_round_begins_with_the_initial_value,
    memory_that_is_shared_begins_anew,
    a_proof_holds_around_which_memory_begins_anew,
);

#[test]
fn plans_show_what_is_filled_in_a_round() {
    let plan = searches::PLAN.to_string();
    let filled = |fixpoint| {
        let line = format!("filled each round of {fixpoint} ");
        let found = plan.lines().find(|l| l.trim_start().starts_with(&line));
        found
            .unwrap_or_else(|| panic!("{plan}"))
            .split_once(&line)
            .expect("it is there")
            .1
            .trim()
    };
    assert_eq!(filled("phases"), "16 B x nodes");
    assert_eq!(filled("search"), "12 B");
    assert!(plan.contains("u32 x nodes, anew with phases"), "{plan}");
}
