//! Relations in helpers, in included graphs and in fixpoints of several relations.

use std::collections::BTreeSet;
use vyre::prelude::*;
use vyre_tests::backend_tests;

/// Which other nodes each node reaches.
#[wave_graph]
mod closure {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = room, output)]
        path: Relation<(u32, u32)>,
        room: u32,
    }

    #[device]
    fn found(path: &Insert<(u32, u32)>, from: u32, to: u32) -> bool {
        from != to && path.insert((from, to))
    }

    #[wave(edges(graph))]
    fn begin(e: Edge, path: &Insert<(u32, u32)>) {
        found(path, e.src, e.dst);
    }

    #[fixpoint(after(begin), until(path.settled()))]
    mod rounds {
        #[wave(items(path, last))]
        fn join(p: (u32, u32), graph: &Csr, path: &Insert<(u32, u32)>) {
            for to in graph.neighbors(p.1) {
                found(path, p.0, to);
            }
        }
    }
}

/// Includes a closure, and asks it.
#[wave_graph]
mod cycles {
    #[include(graph = calls, room = most)]
    use super::closure;

    pub(crate) struct Data {
        #[topology]
        calls: Csr,
        #[relation(capacity = most, output)]
        both: Relation<(u32, u32)>,
        most: u32,
    }

    #[device]
    fn leads_back(path: &Lookup<(u32, u32)>, p: (u32, u32)) -> bool {
        path.contains((p.1, p.0))
    }

    #[wave(items(closure_path), after(closure))]
    fn ask(p: (u32, u32), closure_path: &Lookup<(u32, u32)>, both: &Insert<(u32, u32)>) {
        if leads_back(closure_path, p) {
            both.insert(p);
        }
    }
}

/// Nodes that an even or an odd number of steps leads to.
#[wave_graph]
mod parity {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[relation(capacity = 100, output)]
        even: Relation<u32>,
        #[relation(capacity = 100, output)]
        odd: Relation<u32>,
    }

    #[wave(once)]
    fn begin(even: &Insert<u32>) {
        even.insert(0);
    }

    #[fixpoint(after(begin), until(even.settled() && odd.settled()))]
    mod rounds {
        #[wave(items(even, last))]
        fn from_even(v: u32, graph: &Csr, odd: &Insert<u32>) {
            for to in graph.neighbors(v) {
                odd.insert(to);
            }
        }
        #[wave(items(odd, last))]
        fn from_odd(v: u32, graph: &Csr, even: &Insert<u32>) {
            for to in graph.neighbors(v) {
                even.insert(to);
            }
        }
    }
}

/// What is two steps from a node.
mod near {
    use vyre::prelude::*;
    #[wave_graph]
    pub(crate) mod nearby {
        pub(crate) struct Data {
            #[topology]
            graph: Csr,
            #[input(per = 1)]
            of: u32,
            #[relation(capacity = 100, output)]
            near: Relation<u32>,
        }
        #[wave(once)]
        fn look(of: &Buf<u32>, graph: &Csr, near: &Insert<u32>) {
            for v in graph.neighbors(of[0]) {
                for w in graph.neighbors(v) {
                    near.insert(w);
                }
            }
        }
    }
}

/// The included graph runs once a round, and its relation begins anew.
#[wave_graph]
mod all {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = 1)]
        at: u32,
        #[output(per = node)]
        count: u32,
        nodes: u32,
    }
    #[fixpoint(until(round + 1 >= nodes))]
    mod each {
        #[wave(once)]
        fn set(round: Round, at: &Buf<Atomic<u32>>) {
            at[0].store(round);
        }
        #[include(graph = graph, of = at, near = _, after(set))]
        use super::super::near::nearby;
        #[wave(items(nearby_near), after(nearby))]
        fn tally(_v: u32, round: Round, count: &Buf<Atomic<u32>>) {
            count[round].fetch_add(1);
        }
    }
}

/// Each part of the graph asks what was inserted before; nodes are numbered from the first one of the part.
#[wave_graph]
mod asked {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[topology(parts_of = graph)]
        funcs: Parts,
        #[relation(capacity = 20)]
        odd: Relation<Node>,
        #[output(per = node)]
        found: u32,
    }

    #[wave(nodes)]
    fn begin(v: Node, odd: &Insert<Node>) {
        if v % 2 == 1 {
            odd.insert(v);
        }
    }

    #[fixpoint(after(begin), per = funcs, until(round == 2))]
    mod each {
        #[wave(nodes)]
        fn ask(v: Node, odd: &Lookup<Node>, found: &mut u32) {
            *found += u32::from(odd.contains(v));
        }
    }
}

fn graph() -> Csr {
    let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (1, 1)];
    Csr::from_edges(5, &edges).expect("edges name nodes")
}

fn an_included_relation_is_swept_and_asked(runtime: &Runtime) {
    let mut session = cycles::Session::new(runtime, &graph()).expect("it fits");
    let out = session
        .run(cycles::Run { most: 50 })
        .expect("there is room");
    let ring = |from: u32| (0..5).map(move |to| (from, to));
    let found: Vec<_> = (0..3).flat_map(ring).chain([(3, 4), (4, 3)]).collect();
    let others = found.into_iter().filter(|(from, to)| from != to);
    assert_eq!(out.closure_path.sorted(), others.collect::<Vec<_>>());
    let both = [
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 2),
        (2, 0),
        (2, 1),
        (3, 4),
        (4, 3),
    ];
    assert_eq!(out.both.sorted(), both);
}

fn two_relations_grow_by_each_other(runtime: &Runtime) {
    let graph = graph();
    let mut session = parity::Session::new(runtime, &graph).expect("it fits");
    let out = session.run(parity::Run {}).expect("there is room");
    let (mut even, mut odd) = (BTreeSet::from([0]), BTreeSet::new());
    for _ in 0..20 {
        odd.extend(even.iter().flat_map(|&v| graph.neighbors(v)));
        even.extend(odd.iter().flat_map(|&v| graph.neighbors(v)));
    }
    assert!(out.even.sorted().into_iter().eq(even));
    assert!(out.odd.sorted().into_iter().eq(odd));
}

fn a_relation_of_a_graph_in_a_round_begins_anew(runtime: &Runtime) {
    let graph = graph();
    let mut session = all::Session::new(runtime, &graph).expect("it fits");
    let out = session.run(all::Run { nodes: 5 }).expect("there is room");
    let near = |v| {
        graph
            .neighbors(v)
            .into_iter()
            .flat_map(|w| graph.neighbors(w))
    };
    let near = (0..5).map(|v| near(v).collect::<BTreeSet<u32>>().len() as u32);
    assert!(out.count.into_iter().eq(near));
}

backend_tests!(
    an_included_relation_is_swept_and_asked,
    two_relations_grow_by_each_other,
    a_relation_of_a_graph_in_a_round_begins_anew,
);

/// GPUs do not run parts yet.
#[test]
fn parts_ask_what_there_is() {
    let graph = Csr::from_edges(7, &[(0, 1), (3, 4)]).expect("edges name nodes");
    let funcs = Parts::from_sizes([3, 4]).expect("7 nodes");
    let topology = asked::Topology {
        graph: &graph,
        funcs: &funcs,
    };
    for runtime in [Runtime::native(), Runtime::vir0()] {
        let mut session = asked::Session::new(&runtime, topology).expect("it fits");
        let out = session.run(asked::Run {}).expect("there is room");
        assert_eq!(out.found, [0, 3, 0, 0, 3, 0, 3]);
    }
}
