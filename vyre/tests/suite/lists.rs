//! Lists that begin anew with each round, and lists of nodes.

use vyre::prelude::*;
use vyre::{Error, TrapKind};
use vyre_tests::{backend_tests, graphs};

/// A search from each node in turn. What the inner fixpoint finds, the rest of the phase goes on with.
#[wave_graph]
pub mod phases {
    pub const FAR: u32 = u32::MAX;

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Visit {
        pub node: u32,
        pub level: u64,
    }

    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[list(unique, reset = round)]
        found: List<Node>,
        #[list(capacity = node, reset = round)]
        visits: List<Visit>,
        #[scratch(per = node, init = FAR, reset = round)]
        dist: u32,
        /// What the lists hold when a phase begins.
        #[reduce(count)]
        stale: u64,
        #[output(per = node)]
        reached: u32,
        #[output(per = node)]
        twice: u32,
        #[output(per = node)]
        levels: u64,
        #[output(per = edge(graph))]
        crossed: u32,
        steps: u32,
        last: u32,
    }

    #[fixpoint(
        until(round + 1 == last || found.len() == 1 && visits.len() == 1 || stale != 0),
        max_rounds = 1_000
    )]
    mod searches {
        #[wave(items(found))]
        fn left_nodes(stale: &Reduce<Count>) {
            stale.inc();
        }

        #[wave(items(visits))]
        fn left_visits(_visit: Visit, stale: &Reduce<Count>) {
            stale.inc();
        }

        #[wave(nodes, after(left_nodes, left_visits))]
        fn seed(
            v: Node,
            round: Round,
            dist: &mut u32,
            front: &Push,
            found: &Push,
            visits: &Append<Visit>,
        ) {
            if v == round {
                *dist = 0;
                front.push(v);
                found.push(v);
                visits.append(Visit { node: v, level: 0 });
            }
        }

        #[fixpoint(after(seed), until(front.is_empty()), max_rounds = 2_000)]
        mod search {
            #[wave(edges(graph, from = front))]
            fn follow(
                e: Edge,
                round: Round,
                steps: u32,
                dist: &Buf<Atomic<u32>>,
                front: &Push,
                found: &Push,
                visits: &Append<Visit>,
            ) {
                if round < steps {
                    // Of many pushes of a node, one counts.
                    found.push(e.dst);
                    if dist[e.dst].compare_exchange(FAR, round + 1) {
                        front.push(e.dst);
                        let level = u64::from(round) + 1;
                        visits.append(Visit { node: e.dst, level });
                    }
                }
            }
        }

        #[wave(edges(graph, from = found), after(search))]
        fn cross(crossed: &mut u32) {
            *crossed += 1;
        }

        #[wave(items(found), after(search))]
        fn count(reached: &mut u32) {
            *reached += 1;
        }

        #[wave(items(visits), after(search))]
        fn sum(visit: Visit, levels: &Buf<Atomic<u64>>) {
            levels[visit.node].fetch_add(visit.level);
        }

        /// Sweeps what a round of the fixpoint around found, in rounds of its own.
        #[fixpoint(after(search), until(round == 1), max_rounds = 10)]
        mod again {
            #[wave(items(found))]
            fn once_more(twice: &mut u32) {
                *twice += 1;
            }
        }
    }
}

/// What the searches from the first nodes find: by node, in how many of them and the sum of its distances; by edge, in
/// how many its source was found.
fn expected(graph: &Csr, steps: u32, phases: u32) -> (Vec<u32>, Vec<u64>, Vec<u32>) {
    let nodes = graph.node_count();
    let (mut reached, mut levels) = (vec![0; nodes], vec![0; nodes]);
    for source in 0..phases {
        for (v, dist) in graphs::distances(graph, source).into_iter().enumerate() {
            if dist <= steps {
                reached[v] += 1;
                levels[v] += u64::from(dist);
            }
        }
    }
    let degrees = (0..nodes).map(|v| (graph.degree(v as u32) as usize, reached[v]));
    let crossed = degrees.flat_map(|(degree, times)| vec![times; degree]);
    let crossed = crossed.collect();
    (reached, levels, crossed)
}

fn what_a_round_found_is_gone_in_the_next(runtime: &Runtime) {
    let all = [
        graphs::chain(1),
        graphs::chain(70),
        graphs::chain(3_000),
        graphs::random_graph(500, 3_000),
        graphs::wide(4_000, true),
    ];
    for graph in all {
        let nodes = graph.node_count() as u32;
        let mut session = phases::Session::new(runtime, &graph).expect("it fits");
        for (steps, last) in [(0, 1), (3, 1), (2, nodes.min(9)), (1_000, nodes.min(4))] {
            let out = session.run(phases::Run { steps, last }).expect("it runs");
            // A phase that finds only its source is the last.
            let alone = |source: &u32| {
                steps == 0
                    || graph
                        .neighbors(*source)
                        .into_iter()
                        .all(|dst| dst == *source)
            };
            let rounds = (0..last).find(alone).map_or(last, |source| source + 1);
            assert_eq!(out.report.rounds[0], u64::from(rounds), "{steps} steps");
            let (reached, levels, crossed) = expected(&graph, steps, rounds);
            assert_eq!(out.stale, 0);
            assert_eq!(out.twice, reached.iter().map(|n| 2 * n).collect::<Vec<_>>());
            assert_eq!(out.reached, reached);
            assert_eq!(out.levels, levels);
            assert_eq!(out.crossed, crossed);
        }
    }
}

/// Balls that grow by a step a round, in a list that its own sweep adds to; and one that is the graph's.
#[wave_graph]
pub mod balls {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[list(unique, reset = round)]
        ball: List<Node>,
        #[list(unique)]
        ever: List<Node>,
        #[output(per = node)]
        within: u32,
        #[output(per = node)]
        seen: u32,
        #[reduce(count)]
        sizes: u64,
        radius: u32,
        centers: u32,
    }

    #[fixpoint(until(round + 1 == centers), max_rounds = 1_000)]
    mod growths {
        #[wave(once)]
        fn center(round: Round, ball: &Push) {
            ball.push(round);
        }

        #[fixpoint(after(center), until(round + 1 == radius || ball.len() > 9), max_rounds = 100)]
        mod growth {
            #[wave(edges(graph, from = ball))]
            fn grow(e: Edge, ball: &Push) {
                ball.push(e.dst);
            }
        }

        #[wave(items(ball), after(growth))]
        fn take(v: Node, within: &mut u32, ever: &Push) {
            *within += 1;
            ever.push(v);
        }
    }

    #[wave(items(ever), after(growths))]
    fn look(seen: &mut u32, sizes: &Reduce<Count>) {
        *seen += 1;
        sizes.inc();
    }
}

fn a_sweep_adds_to_the_list_that_it_sweeps(runtime: &Runtime) {
    let graph = graphs::chain(40);
    let mut session = balls::Session::new(runtime, &graph).expect("it fits");
    for (radius, centers) in [(1, 1), (3, 5), (30, 40)] {
        let run = balls::Run { radius, centers };
        let out = session.run(run).expect("it runs");
        // A ball has ten nodes when it stops to grow, or the chain ends.
        let grown = radius.min(9);
        let within = |v: u32| {
            (0..centers)
                .filter(|c| (*c..=c + grown).contains(&v))
                .count() as u32
        };
        let within: Vec<u32> = (0..40).map(within).collect();
        let seen: Vec<u32> = within.iter().map(|&n| u32::from(n > 0)).collect();
        assert_eq!(out.sizes, u64::from(seen.iter().sum::<u32>()));
        assert_eq!((out.within, out.seen), (within, seen));
    }
}

mod part {
    use vyre::prelude::*;

    /// Who has edges, in lists that are swept outside of fixpoints.
    #[wave_graph]
    pub(crate) mod edged {
        pub(crate) struct Data {
            #[topology]
            graph: Csr,
            #[list(unique)]
            first: List<Node>,
            #[list(capacity = node)]
            log: List<(u32, u32)>,
            #[input(per = 1)]
            least: u32,
            #[output(per = node)]
            mark: u32,
            #[reduce(count)]
            marked: u64,
        }

        #[wave(nodes)]
        fn look(v: Node, graph: &Csr, least: &Buf<u32>, first: &Push, log: &Append<(u32, u32)>) {
            let degree = graph.degree(v);
            if degree >= least[0] {
                first.push(v);
                log.append((v, degree));
            }
        }

        #[wave(edges(graph, from = first), after(look))]
        fn spread(e: Edge, mark: &Buf<Atomic<u32>>) {
            mark[e.dst].fetch_add(1);
        }

        #[wave(items(log), after(spread))]
        fn take(at: (u32, u32), mark: &Buf<Atomic<u32>>, marked: &Reduce<Count>) {
            mark[at.0].fetch_add(1_000 * at.1);
            marked.inc();
        }
    }
}

/// The same in each round.
#[wave_graph]
mod thresholds {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = 1)]
        least: u32,
        #[output(per = node)]
        sum: u64,
    }

    #[fixpoint(until(edged_marked == 0), max_rounds = 100)]
    mod rounds {
        #[wave(once)]
        fn set(round: Round, least: &Buf<Atomic<u32>>) {
            least[0].store(round);
        }

        #[include(graph = graph, least = least, after(set))]
        use super::super::part::edged;

        #[wave(nodes, after(edged))]
        fn add(edged_mark: &u32, sum: &mut u64) {
            *sum += u64::from(*edged_mark);
        }
    }
}

fn lists_of_an_included_graph_begin_with_each_entry(runtime: &Runtime) {
    let graph = graphs::random_graph(300, 900);
    let most = (0..300)
        .map(|v| graph.degree(v))
        .max()
        .expect("there are nodes");
    let mut session = thresholds::Session::new(runtime, &graph).expect("it fits");
    for _ in 0..2 {
        let out = session.run(thresholds::Run {}).expect("it runs");
        assert_eq!(out.report.rounds[0], u64::from(most) + 2);
        let mut sum = vec![0; 300];
        for (v, least) in (0..300).flat_map(|v| (0..=graph.degree(v)).map(move |least| (v, least)))
        {
            let _: u32 = least;
            sum[v as usize] += 1_000 * u64::from(graph.degree(v));
            graph
                .neighbors(v)
                .into_iter()
                .for_each(|dst| sum[dst as usize] += 1);
        }
        assert_eq!(out.sum, sum);
    }
}

/// A list that is full within a round, though not in the rounds before.
#[wave_graph]
pub mod fuller {
    pub struct Data {
        #[list(capacity = 5, reset = round)]
        log: List<u32>,
        #[output(per = 1)]
        sum: u32,
        rounds: u32,
    }

    #[fixpoint(until(round + 1 == rounds), max_rounds = 100)]
    mod steps {
        #[wave(range(rounds))]
        fn fill(i: Index, round: Round, log: &Append<u32>) {
            if i <= round {
                log.append(i);
            }
        }

        #[wave(items(log), after(fill))]
        fn add(i: u32, sum: &Buf<Atomic<u32>>) {
            sum[0].fetch_add(i);
        }
    }
}

fn a_list_is_full_by_what_one_round_appends(runtime: &Runtime) {
    let mut session = fuller::Session::new(runtime, ()).expect("it fits");
    let out = session.run(fuller::Run { rounds: 5 }).expect("it fits");
    assert_eq!(
        out.sum,
        [(0..5).map(|round| (0..=round).sum::<u32>()).sum()]
    );
    let full = session.run(fuller::Run { rounds: 9 });
    let full = full
        .expect_err("there are six items in the sixth round")
        .to_string();
    let needs = "needs at least 6 items; its capacity is 5";
    assert!(full.contains("log") && full.contains(needs), "{full}");
    let out = session
        .run(fuller::Run { rounds: 2 })
        .expect("the session stays");
    assert_eq!(out.sum, [1]);
}

/// A wave that appends to the list that it sweeps.
#[wave_graph]
mod doubled {
    pub(crate) struct Data {
        #[list(capacity = 16, output)]
        sums: List<u32>,
        #[output(per = 1)]
        swept: u32,
    }

    #[wave(once)]
    fn begin(sums: &Append<u32>) {
        sums.append(0);
    }

    #[fixpoint(after(begin), until(sums.len() == 16))]
    mod rounds {
        #[wave(items(sums))]
        fn double(x: u32, round: Round, sums: &Append<u32>, swept: &Buf<Atomic<u32>>) {
            sums.append(x + (1 << round));
            swept[0].fetch_add(1);
        }
    }
}

/// What a sweep appends is there for the next one, and not for itself.
fn a_sweep_does_not_see_what_it_appends(runtime: &Runtime) {
    let mut session = doubled::Session::new(runtime, ()).expect("it fits");
    let mut out = session.run(doubled::Run {}).expect("it runs");
    out.sums.sort_unstable();
    assert!(out.sums.iter().copied().eq(0..16));
    assert_eq!((out.swept, out.report.rounds), (vec![15], vec![4]));
}

/// A wave that uses the slots of a list beyond what the list holds.
#[wave_graph]
mod beyond {
    pub(crate) struct Data {
        #[list(capacity = 3, output)]
        few: List<u32>,
        #[output(per = 4)]
        seen: u32,
        appends: u32,
    }

    #[wave(once)]
    fn fill(few: &Append<u32>, seen: &Buf<Atomic<u32>>, appends: u32) {
        for k in 0..appends {
            seen[few.append(k)].fetch_add(k + 1);
        }
    }
}

/// An item that is not there has the largest number, and what is done with it is checked like anything else.
fn a_full_list_has_no_slot(runtime: &Runtime) {
    let mut session = beyond::Session::new(runtime, ()).expect("it fits");
    let out = session.run(beyond::Run { appends: 3 }).expect("it fits");
    assert_eq!((out.few, out.seen), (vec![0, 1, 2], vec![1, 2, 3, 0]));
    let Err(Error::Trap(trap)) = session.run(beyond::Run { appends: 4 }) else {
        panic!("there is no such element");
    };
    let kind = TrapKind::IndexOutOfBounds;
    assert_eq!(
        (trap.kind, trap.index, trap.len),
        (kind, u32::MAX.into(), 4)
    );
}

backend_tests!(
    a_full_list_has_no_slot,
    what_a_round_found_is_gone_in_the_next,
    a_sweep_adds_to_the_list_that_it_sweeps,
    lists_of_an_included_graph_begin_with_each_entry,
    a_list_is_full_by_what_one_round_appends,
    a_sweep_does_not_see_what_it_appends,
);

#[test]
fn plans_show_whose_rounds_empty_a_list() {
    let plan = phases::PLAN.to_string();
    let shown = |plan: &str, text: &str| assert!(plan.contains(text), "{text}: {plan}");
    shown(&plan, "up to nodes, unique, empty with searches");
    shown(&plan, "up to nodes of u32, u64, empty with searches");
    let plan = balls::PLAN.to_string();
    shown(&plan, "up to nodes, unique, empty with growths");
    assert!(plan.starts_with("pass balls (same bits: "), "{plan}");
    let plan = thresholds::PLAN.to_string();
    shown(&plan, "up to nodes, unique, empty with rounds");
}
