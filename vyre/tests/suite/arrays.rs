//! Arrays of a fixed length as elements of buffers.

#![allow(
    clippy::needless_range_loop,
    reason = "kernels go over arrays by index"
)]

use vyre::prelude::*;
use vyre::{Error, Sessions, TrapKind};
use vyre_tests::backend_tests;

/// The least keys that are within reach of each node, and what else lanes do with arrays.
#[wave_graph(deterministic)]
pub mod sketches {
    pub const NONE: u32 = u32::MAX;
    pub const K: u32 = 4;
    const PAID: [i64; 3] = [1, -2, 3];

    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        keys: [u32; 2],
        #[input(per = edge(graph))]
        toll: [i64; 3],
        #[input(per = n)]
        tint: [u8; 3],
        #[output(per = node, init = NONE)]
        least: [u32; K as usize],
        #[output(per = node, init = [NONE; K as usize])]
        next: [u32; K as usize],
        #[output(per = edge(graph), init = PAID)]
        paid: [i64; 3],
        #[output(per = n + 1, init = [0.5, -0.25])]
        half: [f64; 2],
        #[output(per = n)]
        mixed: [u8; 3],
        #[output(per = node)]
        flags: [bool; 5],
        #[output(per = 3)]
        fixed: [f32; 8],
        #[output(per = node)]
        single: [u64; 1],
        n: u32,
        rounds: u32,
    }

    #[device]
    fn insert(into: [u32; 4], key: u32) -> [u32; 4] {
        let mut all = into;
        let mut held = key;
        for k in 0..all.len() {
            if held == all[k] {
                return all;
            }
            if held < all[k] {
                (all[k], held) = (held, all[k]);
            }
        }
        all
    }

    #[device]
    fn sum(of: &Records<[u32; 2]>, v: u32) -> u32 {
        let keys = of.get(v);
        keys[0] + keys[1]
    }

    #[wave(nodes)]
    fn start(keys: &[u32; 2], least: &mut [u32; K as usize]) {
        for key in keys.iter() {
            *least = insert(*least, *key);
        }
    }

    #[fixpoint(after(start), until(round + 1 >= rounds), swap(least, next))]
    mod widen {
        #[wave(nodes)]
        fn merge(
            v: Node,
            graph: &Csr,
            least: &Records<[u32; K as usize]>,
            next: &mut [u32; K as usize],
        ) {
            *next = least.get(v);
            for w in graph.neighbors(v) {
                for key in least.get(w) {
                    *next = insert(*next, key);
                }
            }
        }
    }

    #[wave(edges(graph))]
    fn pay(e: Edge, keys: &Records<[u32; 2]>, toll: &[i64; 3], paid: &mut [i64; 3]) {
        let k = (e.src % 3) as usize;
        paid[k] += toll[k] * i64::from(sum(keys, e.dst));
        paid.swap(0, 2);
        if toll.len() == 3 && keys.len() > e.dst {
            paid[1] -= i64::from(keys.get(e.src)[k % 2]);
        }
    }

    #[wave(range(n))]
    fn mix(i: Index, tint: &Records<[u8; 3]>, mixed: &mut [u8; 3]) {
        let other = tint.get((i + 1) % tint.len());
        for k in 0..3 {
            mixed[k] = tint.get(i)[k] / 2 + other[2 - k];
        }
    }

    #[wave(range(n + 1))]
    fn halve(i: Index, half: &mut [f64; 2]) {
        if i > 0 {
            half.fill(f64::from(i));
            half[(i % 2) as usize] *= 0.5;
        }
    }

    #[wave(nodes, after(start))]
    fn flag(v: Node, keys: &[u32; 2], flags: &mut [bool; 5], single: &mut [u64; 1]) {
        let mut any = false;
        for &key in keys.iter() {
            any |= key == v;
        }
        // A local whose type nothing says.
        let copy = *keys;
        let mut same = true;
        for (a, b) in copy.into_iter().zip(copy.into_iter().rev()) {
            same &= a == v && b == v;
        }
        flags[(v % 5) as usize] = any || flags.len() == 4;
        flags[3 + usize::from(same)] = same;
        single[0] += u64::from(v) << 33;
    }

    #[wave(once)]
    fn fix(fixed: &Buf<Atomic<f32>>) {
        for k in 0..fixed.len() {
            fixed[k].store(k as f32);
        }
    }
}

fn graph() -> Csr {
    Csr::from_edges(5, &[(0, 1), (0, 3), (1, 2), (3, 3), (3, 0)]).expect("edges name nodes")
}

const KEYS: [[u32; 2]; 5] = [[70, 10], [20, 20], [5, 80], [3, 3], [4, 90]];
const TINT: [[u8; 3]; 3] = [[1, 2, 3], [40, 50, 60], [100, 110, 120]];

fn toll() -> Vec<[i64; 3]> {
    (0..5).map(|e| [e, -e, i64::from(u32::MAX) + e]).collect()
}

/// What the pass leaves in `least`, worked out on the host.
fn least(graph: &Csr, keys: &[[u32; 2]], rounds: u32) -> Vec<[u32; 4]> {
    let cut = |mut all: Vec<u32>| {
        all.sort_unstable();
        all.dedup();
        all.resize(4, sketches::NONE);
        <[u32; 4]>::try_from(all).expect("four")
    };
    let mut least: Vec<[u32; 4]> = keys.iter().map(|keys| cut(keys.to_vec())).collect();
    for _ in 0..rounds {
        let of = |v: u32| {
            let around = graph.neighbors(v).iter().chain([v]);
            cut(around.flat_map(|w| least[w as usize]).collect())
        };
        least = (0..keys.len() as u32).map(of).collect();
    }
    least
}

fn arrays_are_elements(runtime: &Runtime) {
    let (graph, toll) = (graph(), toll());
    let topology = sketches::Topology {
        graph: &graph,
        keys: &KEYS,
    };
    let mut session = sketches::Session::new(runtime, topology).expect("it fits");
    let run = |n: usize, rounds| sketches::Run {
        toll: &toll,
        tint: &TINT[..n],
        n: n as u32,
        rounds,
    };
    let out = session.run(run(3, 1)).expect("it ends");
    assert_eq!(out.least, least(&graph, &KEYS, 1));
    let ends = [(0, 1), (0, 3), (1, 2), (3, 3), (3, 0)];
    let paid = ends.iter().zip(&toll).map(|(&(src, dst), toll)| {
        let (k, keys) = (src % 3, KEYS[dst]);
        let mut paid = [1, -2, 3];
        paid[k] += toll[k] * i64::from(keys[0] + keys[1]);
        paid.swap(0, 2);
        paid[1] -= i64::from(KEYS[src][k % 2]);
        paid
    });
    assert_eq!(out.paid, paid.collect::<Vec<_>>());
    assert_eq!(out.half, [[0.5, -0.25], [1.0, 0.5], [1.0, 2.0], [3.0, 1.5]]);
    assert_eq!(out.mixed, [[60, 51, 41], [140, 135, 130], [53, 57, 61]]);
    let flags = |v: usize| {
        let mut flags = [false; 5];
        flags[v] = KEYS[v].contains(&(v as u32));
        flags[4] |= v == 3;
        flags
    };
    assert_eq!(out.flags, [0, 1, 2, 3, 4].map(flags));
    assert_eq!(
        out.fixed.as_flattened(),
        (0..24).map(|k| k as f32).collect::<Vec<_>>()
    );
    assert_eq!(
        out.single,
        [[0], [1 << 33], [2 << 33], [3 << 33], [4 << 33]]
    );

    // A result in the memory of another one, of another size.
    let mut into = out;
    for (n, rounds) in [(1, 3), (3, 2), (2, 0), (3, 3)] {
        session
            .run_into(run(n, rounds), &mut into)
            .expect("it ends");
        assert_eq!(into.least, least(&graph, &KEYS, rounds.max(1)));
        assert_eq!((into.mixed.len(), into.half.len()), (n, n + 1));
    }
    let series = [run(1, 1), run(2, 2), run(3, 3)];
    let last = session.run_series(series).expect("it ends");
    assert_eq!((&into.least, &into.next), (&last.least, &last.next));
    assert_eq!((&into.paid, &into.half), (&last.paid, &last.half));
    session.submit(run(3, 3), 0);
    session.submit(run(1, 1), 0);
    let batch = session.run_batch().expect("all end").results;
    let batch: Vec<_> = batch
        .into_iter()
        .map(|(_, out)| out.expect("it ends"))
        .collect();
    assert_eq!(batch[0].mixed, into.mixed);
    assert_eq!(batch[0].least, into.least);
    assert_eq!(batch[1].least, least(&graph, &KEYS, 1));
    let pinned = session.run_pinned(run(3, 3)).expect("it ends");
    assert_eq!((&pinned.least, &pinned.mixed), (&into.least, &into.mixed));

    // Another topology has other arrays.
    let keys: Vec<[u32; 2]> = (0..9_000).map(|v| [v % 777, v * 31 % 1_013]).collect();
    let edges: Vec<(u32, u32)> = (0..9_000).map(|v| (v, (v * 7 + 3) % 9_000)).collect();
    let large = Csr::from_edges(9_000, &edges).expect("edges name nodes");
    let topology = sketches::Topology {
        graph: &large,
        keys: &keys,
    };
    session.update(topology).expect("it fits");
    let toll = vec![[1, 2, 3]; 9_000];
    let run = sketches::Run {
        toll: &toll,
        ..run(3, 3)
    };
    let out = session.run(run).expect("it ends");
    assert_eq!(out.least, least(&large, &keys, 3));
}

fn arrays_of_many_topologies(runtime: &Runtime) {
    let graphs = [graph(), Csr::from_edges(1, &[]).expect("no edges")];
    let keys = [&KEYS[..], &[[9, 8]]];
    let topologies = graphs
        .iter()
        .zip(keys)
        .map(|(graph, keys)| sketches::Topology { graph, keys });
    let mut sessions = Sessions::<sketches::Pass>::new(runtime, topologies).expect("they fit");
    let toll = toll();
    let run = |toll| sketches::Run {
        toll,
        tint: &TINT[..1],
        n: 1,
        rounds: 2,
    };
    sessions.submit(0, run(&toll[..]), 0);
    sessions.submit(1, run(&[]), 0);
    let out = sessions.run_batch().expect("all end").results;
    let out: Vec<_> = out
        .into_iter()
        .map(|(_, out)| out.expect("it ends"))
        .collect();
    assert_eq!(out[0].least, least(&graphs[0], &KEYS, 2));
    assert_eq!(out[1].least, [[8, 9, sketches::NONE, sketches::NONE]]);
}

fn arrays_fit_the_session(runtime: &Runtime) {
    let graph = graph();
    let topology = sketches::Topology {
        graph: &graph,
        keys: &KEYS[..4],
    };
    let refused = sketches::Session::new(runtime, topology).map(|_| ());
    assert_eq!(
        refused.unwrap_err().to_string(),
        "`keys` has 8 elements; the pass needs 10 (per = node * 2, 10 elements)"
    );
}

/// Indices that go too far.
#[wave_graph]
pub mod beyond {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        given: [u32; 3],
        #[output(per = node)]
        own: [u32; 4],
        way: u32,
        at: u32,
    }

    #[wave(nodes)]
    fn reach(v: Node, way: u32, at: u32, given: &Records<[u32; 3]>, own: &mut [u32; 4]) {
        if v == 1 {
            let index = at as usize;
            if way == 0 {
                own[index] = 7;
            } else if way == 1 {
                own[0] = own[index];
            } else if way == 2 {
                own[1] = given.get(at)[2];
            } else if way == 3 {
                own[2] = given.get(v)[index];
            } else {
                *own = [given.get(at)[0], 1, 2, 3];
            }
        }
    }
}

fn indices_beyond_arrays_trap(runtime: &Runtime) {
    let graph = Csr::from_edges(7, &[]).expect("no edges");
    let topology = beyond::Topology {
        graph: &graph,
        given: &[[1, 2, 3]; 7],
    };
    let mut session = beyond::Session::new(runtime, topology).expect("it fits");
    let mut trap = |way, at| {
        let Err(Error::Trap(trap)) = session.run(beyond::Run { way, at }) else {
            panic!("an index beyond an array")
        };
        assert_eq!(
            (trap.kind, trap.item),
            (TrapKind::IndexOutOfBounds, Some(1))
        );
        let of = trap.subject.map(|of| (of.to_string(), of.size));
        (trap.index, trap.len, of)
    };
    let arrays = Some(("`given`".to_owned(), "7 arrays".to_owned()));
    let own = Some(("`own`".to_owned(), "4 values each".to_owned()));
    assert_eq!(trap(0, 4), (4, 4, own.clone()));
    assert_eq!(trap(1, u32::MAX), (u64::from(u32::MAX), 4, own));
    assert_eq!(trap(2, 7), (7, 7, arrays.clone()));
    // Three times that begins anew at 0.
    assert_eq!(trap(2, 0x5555_5556), (0x5555_5556, 7, arrays.clone()));
    assert_eq!(trap(3, 3), (3, 3, None));
    assert_eq!(trap(4, 8), (8, 7, arrays));
    let out = session
        .run(beyond::Run { way: 4, at: 6 })
        .expect("it is one");
    assert_eq!(out.own[..2], [[0; 4], [1, 1, 2, 3]]);
}

/// Arrays of nodes that a frontier brings, which begin anew in each phase.
#[wave_graph(deterministic)]
pub mod phased {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[scratch(per = node, init = [3, 1, 4, 1, 5], reset = round)]
        digits: [u32; 5],
        #[output(per = node)]
        seen: [u64; 2],
    }

    #[fixpoint(until(round == 2))]
    mod phases {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, front: &Push) {
            if v % 3 == round {
                front.push(v);
            }
        }

        #[fixpoint(after(choose), until(front.is_empty()))]
        mod steps {
            #[wave(items(front))]
            fn turn(v: Node, round: Round, digits: &mut [u32; 5], front: &Push) {
                for k in 0..digits.len() {
                    digits[k] = digits[k] * 10 + v % 10;
                }
                digits.swap(0, 4);
                if round < v % 2 {
                    front.push(v);
                }
            }
        }

        #[wave(nodes, after(steps))]
        fn add(digits: &[u32; 5], seen: &mut [u64; 2]) {
            for (k, x) in digits.iter().enumerate() {
                seen[0] += u64::from(*x) << k;
            }
            for (k, &x) in digits.iter().enumerate() {
                seen[0] ^= u64::from(x) + k as u64;
            }
            for x in *digits {
                seen[1] = seen[1] * 7 + u64::from(x);
            }
        }
    }
}

fn arrays_begin_anew(runtime: &Runtime) {
    let graph = Csr::from_edges(700, &[]).expect("no edges");
    let mut session = phased::Session::new(runtime, &graph).expect("it fits");
    let expected = (0..700u32).map(|v| {
        let mut seen = [0u64; 2];
        for phase in 0..3 {
            let mut digits = [3, 1, 4, 1, 5];
            let turns = if v % 3 == phase { 1 + v % 2 } else { 0 };
            for _ in 0..turns {
                digits = digits.map(|x: u32| x * 10 + v % 10);
                digits.swap(0, 4);
            }
            for (k, x) in digits.into_iter().enumerate() {
                seen[0] += u64::from(x) << k;
            }
            for (k, x) in digits.into_iter().enumerate() {
                seen[0] ^= u64::from(x) + k as u64;
                seen[1] = seen[1].wrapping_mul(7).wrapping_add(u64::from(x));
            }
        }
        seen
    });
    let expected: Vec<[u64; 2]> = expected.collect();
    for _ in 0..2 {
        assert_eq!(session.run(phased::Run {}).expect("it ends").seen, expected);
    }
}

/// Included below: counts into arrays that are its own, or the including graph's.
#[wave_graph]
pub mod counts {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node, init = [1, 2, 3])]
        count: [u32; 3],
        #[output(per = node)]
        total: [u32; 2],
    }

    #[wave(edges(graph))]
    fn add(e: Edge, count: &Buf<Atomic<u32>>) {
        count[e.dst * 3 + e.src % 3].fetch_add(10);
    }

    #[wave(nodes, after(add))]
    fn sum(count: &[u32; 3], total: &mut [u32; 2]) {
        *total = [count[0] + count[1] + count[2], count[2]];
    }
}

#[wave_graph]
pub mod counting {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        ours: [u32; 2],
        #[output(per = node)]
        twice: u32,
    }

    #[include(graph = graph, total = ours)]
    use super::counts;

    #[wave(nodes, after(counts))]
    fn double(ours: &[u32; 2], counts_count: &[u32; 3], twice: &mut u32) {
        *twice = 2 * ours[0] + counts_count[1];
    }
}

fn included_arrays_are_shared_or_given(runtime: &Runtime) {
    let graph = graph();
    let out = counts::Session::new(runtime, &graph).expect("it fits");
    let mut out = out;
    let out = out.run(counts::Run {}).expect("it ends");
    // Edges 3 -> 0, 0 -> 1, 1 -> 2, 0 -> 3, 3 -> 3.
    let count = [[11, 2, 3], [11, 2, 3], [1, 12, 3], [21, 2, 3], [1, 2, 3]];
    let total = [[16, 3], [16, 3], [16, 3], [26, 3], [6, 3]];
    assert_eq!((&out.count[..], &out.total[..]), (&count[..], &total[..]));
    let out = counting::Session::new(runtime, &graph)
        .expect("it fits")
        .run(counting::Run {});
    let out = out.expect("it ends");
    assert_eq!(
        (&out.counts_count[..], &out.ours[..]),
        (&count[..], &total[..])
    );
    assert_eq!(out.twice, [34, 34, 44, 54, 14]);
}

#[test]
fn own_arrays_have_the_same_bits_everywhere() {
    for plan in [sketches::PLAN.to_string(), phased::PLAN.to_string()] {
        assert!(plan.contains("same bits"), "{plan}");
    }
}

backend_tests!(
    arrays_are_elements,
    arrays_of_many_topologies,
    arrays_fit_the_session,
    indices_beyond_arrays_trap,
    arrays_begin_anew,
    included_arrays_are_shared_or_given,
);
