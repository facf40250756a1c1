//! Relations that the caller gives.

use std::collections::BTreeSet;
use vyre::prelude::*;
use vyre_tests::backend_tests;
use vyre_tests::random::Random;

/// Where words lead from a node, by edges with letters.
#[wave_graph]
mod words {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Letter {
        pub(crate) from: u8,
        pub(crate) letter: u8,
        pub(crate) to: u32,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Place {
        pub(crate) node: u32,
        pub(crate) at: u32,
    }

    pub(crate) struct Data {
        /// Edges with letters.
        #[relation(input, index(from, letter))]
        edge: Relation<Letter>,
        #[relation(input)]
        barred: Relation<u32>,
        #[input(per = len)]
        word: u8,
        #[relation(capacity = room, output)]
        place: Relation<Place>,
        #[reduce(count)]
        edges: u64,
        #[reduce(count)]
        bars: u64,
        start: u32,
        len: u32,
        room: u32,
    }

    #[wave(once)]
    fn begin(start: u32, place: &Insert<Place>) {
        place.insert(Place { node: start, at: 0 });
    }

    #[wave(items(barred))]
    fn bar(_: u32, bars: &Reduce<Count>) {
        bars.inc();
    }

    #[fixpoint(after(begin), until(place.settled()))]
    mod rounds {
        #[wave(items(place, last))]
        fn read(
            p: Place,
            len: u32,
            word: &Buf<u8>,
            edge: &Lookup<Letter>,
            barred: &Lookup<u32>,
            place: &Insert<Place>,
        ) {
            if p.at < len {
                for e in edge.with_from_and_letter(p.node as u8, word[p.at]) {
                    if !barred.contains(e.to) {
                        place.insert(Place {
                            node: e.to,
                            at: p.at + 1,
                        });
                    }
                }
            }
        }
    }

    #[wave(items(edge))]
    fn count(e: Letter, edges: &Reduce<Count>) {
        if e.from != 255 {
            edges.inc();
        }
    }
}

fn facts_come_from_the_caller(runtime: &Runtime) {
    let mut random = Random(7);
    let mut session = words::Session::new(runtime, ()).expect("it fits");
    for (nodes, many, len) in [(1, 0, 3), (4, 9, 5), (30, 120, 9), (30, 20, 4)] {
        let mut edge = Vec::new();
        for _ in 0..many {
            edge.push(words::Letter {
                from: random.below(nodes) as u8,
                letter: random.below(2) as u8,
                to: random.below(nodes),
            });
        }
        // Some of them twice.
        edge.extend_from_within(..edge.len() / 3);
        let barred: Vec<u32> = (0..nodes / 9).map(|_| 1 + random.below(nodes)).collect();
        let word: Vec<u8> = (0..len).map(|_| random.below(2) as u8).collect();

        let mut places = BTreeSet::from([(0, 0)]);
        for (at, letter) in (0..).zip(&word) {
            for e in edge.iter().filter(|e| e.letter == *letter) {
                if places.contains(&(u32::from(e.from), at)) && !barred.contains(&e.to) {
                    places.insert((e.to, at + 1));
                }
            }
        }
        let run = words::Run {
            edge: &edge,
            barred: &barred,
            word: &word,
            start: 0,
            len,
            room: 400,
        };
        for _ in 0..2 {
            let out = session.run(run).expect("there is room");
            let found = out.place.sorted().into_iter().map(|p| (p.node, p.at));
            assert!(found.eq(places.iter().copied()));
            let key = |e: &words::Letter| (e.from, e.letter, e.to);
            let edges: BTreeSet<(u8, u8, u32)> = edge.iter().map(key).collect();
            assert_eq!(out.edges, edges.len() as u64);
            let bars: BTreeSet<&u32> = barred.iter().collect();
            assert_eq!(out.bars, bars.len() as u64);
        }
    }
}

/// Two inputs and what grows, joined.
#[wave_graph]
mod flows {
    pub(crate) struct Data {
        #[relation(input, index(0))]
        step: Relation<(u32, u32)>,
        #[relation(input, index(0))]
        jump: Relation<(u32, u32)>,
        #[relation(capacity = 1000, index(1), output)]
        path: Relation<(u32, u32)>,
    }

    #[wave(items(step))]
    fn begin(s: (u32, u32), path: &Insert<(u32, u32)>) {
        path.insert(s);
    }

    #[fixpoint(after(begin), until(path.settled()))]
    mod rounds {
        #[wave(pairs(path.1 = step.0, last))]
        fn walk(p: (u32, u32), s: (u32, u32), path: &Insert<(u32, u32)>) {
            path.insert((p.0, s.1));
        }

        #[wave(items(path, last))]
        fn leap(p: (u32, u32), jump: &Lookup<(u32, u32)>, path: &Insert<(u32, u32)>) {
            for j in jump.with_0(p.1) {
                path.insert((p.0, j.1));
            }
        }
    }
}

fn facts_are_joined(runtime: &Runtime) {
    let mut random = Random(41);
    let mut session = flows::Session::new(runtime, ()).expect("it fits");
    for nodes in [1, 5, 24] {
        let mut facts = |many: u32| -> Vec<(u32, u32)> {
            let fact = |_| (random.below(nodes), random.below(nodes));
            (0..many).map(fact).collect()
        };
        let (step, jump) = (facts(nodes), facts(nodes / 2));
        let mut path: BTreeSet<(u32, u32)> = step.iter().copied().collect();
        loop {
            let on = |&(a, b): &(u32, u32)| {
                let next = step.iter().chain(&jump).filter(move |s| s.0 == b);
                next.map(move |s| (a, s.1))
            };
            let more: Vec<(u32, u32)> = path.iter().flat_map(on).collect();
            let known = path.len();
            path.extend(more);
            if path.len() == known {
                break;
            }
        }
        let run = flows::Run {
            step: &step,
            jump: &jump,
        };
        let out = session.run(run).expect("there is room");
        assert!(out.path.sorted().into_iter().eq(path));
    }
}

backend_tests!(facts_come_from_the_caller, facts_are_joined);
