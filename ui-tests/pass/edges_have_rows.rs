//! Each edge has scratch of its own, and what says which edges are swept takes parts of structs and values of arrays.

use vyre::prelude::*;

mod search {
    use vyre::prelude::*;

    #[wave_graph]
    pub mod near {
        pub struct Data {
            #[topology]
            graph: Csr,
            #[output(per = node)]
            met: u32,
        }

        #[wave(edges(graph))]
        fn meet(e: Edge, met: &Buf<Atomic<u32>>) {
            met[e.dst].fetch_add(1);
        }
    }
}

#[wave_graph(deterministic)]
pub mod sorted {
    pub const K: u32 = 3;
    const TWO: usize = 2;

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Road {
        pub length: u32,
        pub open: bool,
    }

    #[include(graph = graph, edges = admitted)]
    use super::search::near;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        road: Road,
        #[topology(per = node)]
        label: [u32; 2 * TWO - 1],
        #[scratch(per = edge(graph) * K)]
        row: u32,
        #[output(per = edge(graph))]
        middle: u32,
        #[output(per = node)]
        of: u32,
    }

    #[device]
    fn admitted(e: Edge, road_length: &u32, label: &Buf<u32>) -> bool {
        *road_length > label[e.src * 3 + 2]
    }

    #[wave(edges(graph))]
    fn sort(e: Edge, row: &mut [u32; K as usize]) {
        *row = [e.src, e.dst, e.index];
        for _ in 0..2 {
            for k in 1..row.len() {
                if row[k - 1] > row[k] {
                    row.swap(k - 1, k);
                }
            }
        }
    }

    #[wave(edges(graph), after(sort))]
    fn take(row: &[u32; K as usize], middle: &mut u32) {
        *middle = row[1];
    }

    #[wave(nodes)]
    fn tell(label: &Records<[u32; 3]>, of: &mut u32) {
        *of = label.len();
    }
}

fn main() {
    use sorted::Road;
    let graph = Csr::from_edges(3, &[(0, 2), (0, 1), (2, 1)]).expect("edges name nodes");
    let road = [4, 9, 6].map(|length| Road { length, open: true });
    let topology = sorted::Topology {
        graph: &graph,
        road: &road,
        label: &[[0, 0, 5], [0, 0, 0], [0, 0, 3]],
    };
    let mut session = sorted::Session::new(&Runtime::native(), topology).expect("it fits");
    let out = session.run(sorted::Run {}).expect("no trap");
    assert_eq!(out.middle, [0, 1, 2]);
    assert_eq!(out.near_met, [0, 2, 0]);
    assert_eq!(out.of, [3, 3, 3]);
    let (long, from) = graph.filter_indexed(|e| road[e.index as usize].length > 5);
    assert_eq!((long.targets(), &from[..]), (&[1, 1][..], &[1, 2][..]));
}
