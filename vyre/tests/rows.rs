//! Rows of a buffer that belong to one item each.

#![allow(clippy::needless_range_loop, reason = "kernels go over rows by index")]

use vyre::prelude::*;
use vyre::{Error, TrapKind};
use vyre_tests::backend_tests;

/// Sorts what each node's edges weigh, in a table of its own.
#[wave_graph]
mod sorted {
    pub(crate) const K: u32 = 8;

    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[input(per = node * K)]
        first: u32,
        #[output(per = node * K)]
        table: u32,
        #[output(per = K * node)]
        bytes: u8,
        #[output(per = node * 2)]
        ends: f64,
        #[output(per = 3 * n)]
        triple: i64,
        n: u32,
    }

    #[wave(nodes)]
    fn sort(
        v: Node,
        graph: &Csr,
        weight: &Buf<u32>,
        first: &[u32; K as usize],
        table: &mut [u32; K as usize],
    ) {
        *table = *first;
        let mut len = 0;
        for e in graph.edges(v) {
            table[len] = weight[e];
            let mut at = len;
            while at > 0 && table[at - 1] > table[at] {
                table.swap(at - 1, at);
                at -= 1;
            }
            len += 1;
        }
    }

    #[wave(nodes, after(sort))]
    fn summary(table: &[u32; K as usize], bytes: &mut [u8; K as usize], ends: &mut [f64; 2]) {
        bytes.fill(200);
        let mut sum = 0;
        for k in 0..table.len() {
            sum += table[k];
        }
        bytes[7] = sum as u8;
        bytes[6] = bytes[6].wrapping_add(bytes[7] / 2);
        *ends = [f64::from(table[0]), f64::from(sum) / 2.0];
        *ends = [ends[1], ends[0]];
    }

    #[wave(range(n))]
    fn count(i: Index, triple: &mut [i64; 3]) {
        for k in 0..triple.len() {
            triple[k] = i64::from(i) - k as i64;
        }
        triple[(i % 3) as usize] *= 100;
    }
}

fn items_have_rows_of_their_own(runtime: &Runtime) {
    let graph = Csr::from_edges(3, &[(0, 1), (0, 2), (0, 0), (2, 1)]).unwrap();
    let topology = sorted::Topology {
        graph: &graph,
        weight: &[9, 4, 7, 3],
    };
    let mut session = sorted::Session::new(runtime, topology).unwrap();
    let first: Vec<u32> = (0..24).collect();
    for n in [4, 1] {
        let run = sorted::Run { first: &first, n };
        let out = session.run(run).unwrap();
        let rows = [
            [4, 7, 9, 3, 4, 5, 6, 7],
            [8, 9, 10, 11, 12, 13, 14, 15],
            [3, 17, 18, 19, 20, 21, 22, 23],
        ];
        assert_eq!(out.table, rows.concat());
        assert_eq!(out.ends, [22.5, 4.0, 46.0, 8.0, 71.5, 3.0]);
        let bytes = |sum: u8| {
            [
                200,
                200,
                200,
                200,
                200,
                200,
                200u8.wrapping_add(sum / 2),
                sum,
            ]
        };
        assert_eq!(out.bytes, [bytes(45), bytes(92), bytes(143)].concat());
        let triples = [0, -1, -2, 1, 0, -1, 2, 1, 0, 300, 2, 1];
        assert_eq!(out.triple, triples[..n as usize * 3]);
    }
}

#[test]
fn what_items_do_to_their_rows_has_the_same_bits_everywhere() {
    let plan = sorted::PLAN.to_string();
    assert!(plan.contains("same bits"), "{plan}");
}

/// Rows of the nodes in a frontier, which are not consecutive.
#[wave_graph]
mod picked {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node * 3, init = 5)]
        path: u32,
        index: u32,
    }

    #[wave(nodes)]
    fn start(v: Node, front: &Push) {
        if v % 3 == 1 {
            front.push(v);
        }
    }

    #[fixpoint(after(start), until(front.is_empty()), max_rounds = 10)]
    mod rounds {
        #[wave(items(front))]
        fn step(v: Node, index: u32, path: &mut [u32; 3]) {
            path[(index + v) as usize] = v;
            path.swap(0, 2);
        }
    }
}

fn nodes_of_a_frontier_have_rows(runtime: &Runtime) {
    let graph = Csr::from_edges(300, &[]).unwrap();
    let mut session = picked::Session::new(runtime, &graph).unwrap();
    let index = 0u32.wrapping_sub(298);
    let Err(Error::Trap(trap)) = session.run(picked::Run { index }) else {
        panic!("an index is outside of its row");
    };
    assert_eq!(
        (trap.kind, trap.item),
        (TrapKind::IndexOutOfBounds, Some(1))
    );
    assert_eq!(
        (trap.index, trap.len),
        (u64::from(1u32.wrapping_sub(298)), 3)
    );
    let row = trap.subject.expect("it is a field's");
    assert_eq!(
        (row.to_string(), row.size),
        ("`path`".to_owned(), "3 values each".to_owned())
    );
}

backend_tests!(items_have_rows_of_their_own, nodes_of_a_frontier_have_rows);
