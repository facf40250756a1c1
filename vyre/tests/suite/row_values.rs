//! A node's row of edges or neighbours as a value, and loops over several things at once.

use vyre::prelude::*;
use vyre::{Error, TrapKind};
use vyre_tests::{backend_tests, graphs};

#[wave_graph]
pub mod rows {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[output(per = node)]
        sum: u64,
        #[output(per = node * 4)]
        top: u32,
        at: u32,
        from: u32,
    }

    #[device]
    fn weight(graph: &Csr, v: u32, k: u32) -> u32 {
        let row = graph.neighbors(v);
        let mut sum = 0;
        for (i, w) in row.part(k..row.len()).enumerate() {
            sum += w * (i as u32 + 1);
        }
        sum
    }

    #[wave(nodes)]
    fn add(v: Node, graph: &Csr, back: &Csr, sum: &mut u64, top: &mut [u32; 4]) {
        let row = graph.edges(v);
        let near = if v.is_multiple_of(2) {
            graph.neighbors(v)
        } else {
            graph.neighbors(0)
        };
        for (k, (e, w)) in row.zip(near.rev()).enumerate() {
            *sum = *sum * 3 + u64::from(e) + u64::from(w) * k as u64;
            if k < 4 {
                top[k] = w;
            }
        }
        for (w, x) in graph.neighbors(v).rev().zip(back.neighbors(v)) {
            if w == x {
                continue;
            }
            *sum += u64::from(w.abs_diff(x));
        }
        if !row.is_empty() {
            *sum += u64::from(weight(graph, v, row.len() / 2) + row.at(row.len() - 1) - row.start);
        }
    }

    #[wave(nodes, after(add))]
    fn check(v: Node, graph: &Csr, at: u32, from: u32, sum: &mut u64) {
        *sum += u64::from(graph.neighbors(v).at(at));
        *sum += u64::from(graph.edges(v).part(from..at + 1).len());
    }
}

fn by_hand(graph: &Csr, (at, from): (u32, u32)) -> (Vec<u64>, Vec<u32>) {
    let mut back = vec![Vec::new(); graph.node_count()];
    for v in 0..graph.node_count() as u32 {
        for w in graph.neighbors(v) {
            back[w as usize].push(v);
        }
    }
    let (mut sums, mut tops) = (Vec::new(), Vec::new());
    for v in 0..graph.node_count() as u32 {
        let (row, near) = (graph.edges(v), graph.neighbors(v).as_slice());
        let other = if v % 2 == 0 {
            near
        } else {
            graph.neighbors(0).as_slice()
        };
        let (mut sum, mut top) = (0u64, [0; 4]);
        for (k, (e, w)) in (row.start..row.end).zip(other.iter().rev()).enumerate() {
            sum = sum * 3 + u64::from(e) + u64::from(*w) * k as u64;
            if let Some(top) = top.get_mut(k) {
                *top = *w;
            }
        }
        for (w, x) in near.iter().rev().zip(&back[v as usize]) {
            sum += u64::from(w.abs_diff(*x));
        }
        if !near.is_empty() {
            let half = near[near.len() / 2..].iter().zip(1..);
            sum += half.map(|(w, i)| u64::from(*w) * i).sum::<u64>() + near.len() as u64 - 1;
        }
        sums.push(sum + u64::from(near[at as usize]) + u64::from(at + 1 - from));
        tops.extend(top);
    }
    (sums, tops)
}

fn rows_are_values(runtime: &Runtime) {
    for graph in [
        graphs::both_ways(&graphs::grid(6, 5)),
        graphs::both_ways(&graphs::chain(70)),
    ] {
        let mut session = rows::Session::new(runtime, &graph).expect("it fits");
        for (at, from) in [(0, 0), (0, 1)] {
            let out = session.run(rows::Run { at, from }).expect("it ends");
            assert_eq!((out.sum, out.top), by_hand(&graph, (at, from)));
        }
    }
}

fn places_beyond_a_row_trap(runtime: &Runtime) {
    let graph = Csr::from_edges(3, &[(0, 1), (0, 2), (1, 2), (1, 0), (1, 1), (2, 0), (2, 1)]);
    let graph = graph.expect("edges name nodes");
    let mut session = rows::Session::new(runtime, &graph).expect("it fits");
    let mut trap = |at, from| {
        let Err(Error::Trap(trap)) = session.run(rows::Run { at, from }) else {
            panic!("a place beyond the row")
        };
        assert_eq!(
            (trap.kind, trap.kernel.as_str()),
            (TrapKind::IndexOutOfBounds, "check")
        );
        (trap.item, trap.index, trap.len)
    };
    assert_eq!(trap(2, 0), (Some(0), 2, 2));
    assert_eq!(trap(1, 3), (Some(0), 3, 2));
    let mut session = rows::Session::new(runtime, &graph).expect("it fits");
    assert!(session.run(rows::Run { at: 1, from: 2 }).is_ok());
}

backend_tests!(rows_are_values, places_beyond_a_row_trap);
