//! How far runs agree, as `PLAN` says it, and as threads, chunks and the numbering of nodes show it.

use vyre::prelude::*;
use vyre_core::vir0::module::Agreement;
use vyre_tests::backend_tests;
use vyre_tests::random::Random;

/// Shortest paths, with sums that could wrap; and who was the last to shorten one.
#[wave_graph]
mod paths {
    pub(crate) const FAR: u32 = u32::MAX;

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[output(per = node, init = FAR)]
        dist: u32,
        #[reduce(or)]
        changed: bool,
        source: u32,
    }

    #[wave(once)]
    fn start(source: u32, dist: &Buf<Atomic<u32>>) {
        dist[source].store(0);
    }

    #[fixpoint(after(start), until(!changed), max_rounds = 100_000)]
    mod rounds {
        #[wave(edges(graph))]
        fn relax(e: Edge, weight: &Buf<u32>, dist: &Buf<Atomic<u32>>, changed: &Reduce<Or<bool>>) {
            let d = dist[e.src].load();
            if d == FAR {
                return;
            }
            let far = d + weight[e.index];
            if far < dist[e.dst].load() && far < dist[e.dst].fetch_min(far) {
                changed.or(true);
            }
        }
    }
}

/// The same, told by a constant that is not the largest number: nodes of that distance hand nothing on.
#[wave_graph]
mod blocked {
    pub(crate) const FAR: u32 = 5;

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, init = 1_000)]
        dist: u32,
        #[reduce(or)]
        changed: bool,
    }

    #[fixpoint(until(!changed), max_rounds = 100_000)]
    mod rounds {
        #[wave(edges(graph))]
        fn relax(e: Edge, dist: &Buf<Atomic<u32>>, changed: &Reduce<Or<bool>>) {
            let d = dist[e.src].load();
            if d != FAR && d < dist[e.dst].fetch_min(d) {
                changed.or(true);
            }
        }
    }
}

/// The first to come leaves its name.
#[wave_graph]
mod first {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        parent: u32,
    }

    #[wave(edges(graph))]
    fn claim(e: Edge, parent: &Buf<Atomic<u32>>) {
        parent[e.dst].compare_exchange(0, e.src + 1);
    }
}

/// The claim has one value; what it guards does not.
#[wave_graph]
mod guarded {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        seen: u32,
        #[output(per = node)]
        parent: u32,
    }

    #[wave(edges(graph))]
    fn claim(e: Edge, seen: &Buf<Atomic<u32>>, parent: &Buf<Atomic<u32>>) {
        if seen[e.dst].compare_exchange(0, 1) {
            parent[e.dst].store(e.src);
        }
    }
}

/// How many neighbours a node has, added up.
#[wave_graph]
mod degrees {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        into: u32,
    }

    #[wave(edges(graph))]
    fn count(e: Edge, into: &Buf<Atomic<u32>>) {
        into[e.dst].fetch_add(e.src);
    }
}

/// 0 to `n - 1` in any order.
fn permutation(random: &mut Random, n: u32) -> Vec<u32> {
    let mut all: Vec<u32> = (0..n).collect();
    for i in (1..n).rev() {
        all.swap(i as usize, random.below(i + 1) as usize);
    }
    all
}

backend_tests!(results_of_the_first_two_classes_do_not_depend_on_the_order,);

/// Renaming the nodes and shuffling the edges permutes the items.
fn results_of_the_first_two_classes_do_not_depend_on_the_order(runtime: &Runtime) {
    const NODES: u32 = 3_000;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..4 {
        let mut end = || random.below(NODES);
        let edges: Vec<(u32, u32)> = (0..12_000).map(|_| (end(), end())).collect();
        let weights: Vec<u32> = edges.iter().map(|_| 1 + random.below(50)).collect();
        let mut expected = None;
        for turn in 0..3 {
            let identity: Vec<u32> = (0..NODES).collect();
            let name = if turn == 0 {
                identity
            } else {
                permutation(&mut random, NODES)
            };
            let of = |v: u32| name[v as usize];
            let order = permutation(&mut random, edges.len() as u32);
            let shuffled: Vec<(u32, u32)> = order
                .iter()
                .map(|&i| (of(edges[i as usize].0), of(edges[i as usize].1)))
                .collect();
            let (graph, places) =
                Csr::from_edges_indexed(NODES as usize, &shuffled).expect("edges name nodes");
            let mut weight = vec![0; edges.len()];
            for (at, &from) in places.iter().enumerate() {
                weight[at] = weights[order[from as usize] as usize];
            }
            for (threads, parallel_from) in [(1, u32::MAX), (2, 1), (7, 64)] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                let measured = format!("parallel_from = {parallel_from}\n");
                let thresholds = runtime.thresholds().with(&measured).expect("a number");
                let runtime = runtime.clone().with_thresholds(thresholds);
                let dist = pool.expect("threads").install(|| {
                    let topology = paths::Topology {
                        graph: &graph,
                        weight: &weight,
                    };
                    let mut session = paths::Session::new(&runtime, topology).expect("it fits");
                    session
                        .run(paths::Run { source: of(0) })
                        .expect("no trap")
                        .dist
                });
                let by_old_name: Vec<u32> = (0..NODES).map(|v| dist[of(v) as usize]).collect();
                let expected = expected.get_or_insert_with(|| by_old_name.clone());
                assert_eq!(by_old_name, *expected, "{threads} threads, turn {turn}");
            }
        }
    }
}

/// The same bits need the same numbering only where numbers are stored.
#[test]
fn what_is_open_can_differ() {
    let edges = [(1, 0), (2, 0)];
    let run = |edges: &[(u32, u32)]| {
        let graph = Csr::from_edges(3, edges).expect("edges name nodes");
        let mut session = first::Session::new(&Runtime::vir0(), &graph).expect("it fits");
        session.run(first::Run {}).expect("no trap").parent[0]
    };
    assert_eq!(run(&edges), 2);
    // Node 1 is called 2, and 2 is called 1: now the other one comes first.
    assert_eq!([0, 2, 1][run(&[(2, 0), (1, 0)]) as usize - 1] + 1, 3);
    assert!(matches!(
        first::PLAN.program().agreement,
        Agreement::Open(_)
    ));
}

#[test]
fn the_plan_names_the_class_and_the_reason() {
    let line = |plan: String, at: usize| plan.lines().nth(at).unwrap_or_default().to_owned();
    let plan = degrees::PLAN.to_string();
    assert_eq!(
        line(plan, 0),
        "pass degrees (same bits: every run gives them, on every backend)"
    );
    let plan = paths::PLAN.to_string();
    assert_eq!(
        line(plan.clone(), 0),
        "pass paths (same result: every run that ends gives it, in rounds that may differ, on every backend)"
    );
    assert_eq!(
        line(plan, 2),
        "  rounds ends in the least fixpoint of monotone updates as long as no sum, difference or product in relax wraps"
    );
    let plan = first::PLAN.to_string();
    assert_eq!(
        line(plan.clone(), 0),
        "pass first (open result: it may differ from run to run)"
    );
    assert_eq!(
        line(plan, 2),
        concat!(
            "  claim uses which item wins a compare_exchange on parent (",
            file!(),
            ":84:15)"
        )
    );
    // What the claim guards shows which item won.
    let plan = guarded::PLAN.to_string();
    assert_eq!(
        line(plan, 2),
        concat!(
            "  claim uses which item wins a compare_exchange on seen (",
            file!(),
            ":103:19)"
        )
    );
    // 5 is not what a minimum begins with: who waits at 5 stops what has come there for good, or only for a while.
    let plan = blocked::PLAN.to_string();
    assert_eq!(
        line(plan, 2),
        "  relax does or checks what is not known to be monotone"
    );
}

/// The item is another value before its parameter is assigned: several items store.
#[wave_graph]
mod reassigned {
    pub(crate) struct Data {
        #[list(capacity = 100)]
        items: List<u32>,
        #[output(per = 1)]
        out: u32,
    }

    #[wave(range(100))]
    fn fill(i: Index, items: &Append<u32>) {
        items.append(i + 10);
    }

    #[wave(items(items), after(fill))]
    fn last(mut at: u32, out: &Buf<Atomic<u32>>) {
        out[0].store(at);
        at = 7;
        if at == 8 {
            out[0].store(at);
        }
    }
}

/// Backends round a sine differently, and with it how many rounds there are.
#[wave_graph]
mod rounded {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        level: f32,
        #[reduce(max)]
        most: f32,
    }

    #[wave(nodes)]
    fn start(level: &mut f32) {
        *level = 0.0;
    }

    #[fixpoint(after(start), until(most.sin() > 0.5 || round > 10))]
    mod rounds {
        #[wave(nodes)]
        fn raise(level: &mut f32, most: &Reduce<Max<f32>>) {
            *level += 0.125;
            most.max(*level);
        }
    }
}

#[test]
fn what_only_seems_to_agree_is_open() {
    for plan in [reassigned::PLAN, rounded::PLAN] {
        let program = plan.program();
        let open = matches!(&program.agreement, Agreement::Open(reasons) if !reasons.is_empty());
        assert!(open, "{plan}");
    }
}
