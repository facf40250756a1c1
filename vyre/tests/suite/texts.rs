//! Rows of differing lengths that the session gives.

use vyre::prelude::*;
use vyre::{Error, RowsError, Sessions, TrapKind};
use vyre_tests::backend_tests;

/// How often a pattern is in the text of a node, and what else lanes ask rows for.
#[wave_graph(deterministic)]
pub mod texts {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        text: Rows<u8>,
        #[topology(per = edge(graph))]
        weights: Rows<i64>,
        #[topology(per = 2)]
        patterns: Rows<u8>,
        #[output(per = node)]
        found: u32,
        #[output(per = node)]
        mixed: u64,
        #[output(per = edge(graph))]
        sum: i64,
        #[output(per = row(text))]
        upper: u8,
        #[reduce(sum)]
        bytes: u64,
        which: u32,
        at: u32,
    }

    #[device]
    fn begins(text: &Rows<u8>, v: u32, from: u32, with: &Rows<u8>, which: u32) -> bool {
        let pattern = with.row(which);
        let rest = text.row(v).part(from..text.row(v).len());
        if rest.len() < pattern.len() {
            return false;
        }
        for (a, b) in rest.zip(pattern) {
            if a != b {
                return false;
            }
        }
        true
    }

    #[wave(nodes)]
    fn search(v: Node, which: u32, text: &Rows<u8>, patterns: &Rows<u8>, found: &mut u32) {
        for k in 0..text.row(v).len() {
            *found += u32::from(begins(text, v, k, patterns, which));
        }
    }

    #[wave(edges(graph))]
    fn weigh(e: Edge, weights: &Rows<i64>, sum: &mut i64) {
        let row = weights.row(e.index);
        for w in row {
            *sum += w;
        }
        if !row.is_empty() {
            *sum -= row.at(row.len() - 1);
        }
    }

    #[wave(nodes)]
    fn mix(v: Node, text: &Rows<u8>, graph: &Csr, mixed: &mut u64, bytes: &Reduce<Sum<u64>>) {
        let row = if v.is_multiple_of(2) {
            text.row(v)
        } else {
            text.row(text.len() - 1)
        };
        for (k, c) in row.rev().enumerate() {
            *mixed = *mixed * 31 + u64::from(c) + k as u64;
        }
        for (w, c) in graph.neighbors(v).zip(text.row(v)) {
            *mixed ^= u64::from(w) << (c % 64);
        }
        for c in text.row(v) {
            if c == b'-' {
                break;
            }
            bytes.add(u64::from(c));
        }
        assert!(!text.is_empty());
    }

    #[wave(nodes, after(search))]
    fn raise(v: Node, which: u32, at: u32, text: &Rows<u8>, found: &Buf<Atomic<u32>>) {
        if which == 1 {
            found[v].fetch_max(u32::from(text.row(v + at / 8).at(at % 8)));
        }
    }

    #[wave(range(row(text)))]
    fn whole(i: Index, upper: &mut u8) {
        *upper = (i % 251) as u8;
    }
}

fn graph() -> Csr {
    Csr::from_edges(4, &[(0, 1), (0, 3), (1, 2), (3, 3), (3, 0)]).expect("edges name nodes")
}

const TEXTS: [&str; 4] = ["abracadabra", "", "-ab", "banana--"];

fn rows_are_read(runtime: &Runtime) {
    let (graph, text) = (graph(), Rows::from_rows(TEXTS).expect("few"));
    let weights = [&[1, -2, 3][..], &[], &[i64::MIN], &[7; 300], &[5, 6]];
    let weights = Rows::from_rows(weights).expect("few");
    let patterns = Rows::from_rows(["ab", "an"]).expect("few");
    let topology = texts::Topology {
        graph: &graph,
        text: &text,
        weights: &weights,
        patterns: &patterns,
    };
    let mut session = texts::Session::new(runtime, topology).expect("it fits");
    let out = session
        .run(texts::Run { which: 0, at: 0 })
        .expect("it ends");
    assert_eq!(out.found, [2, 0, 1, 0]);
    assert_eq!(out.sum, [-1, 0, 0, 299 * 7, 5]);
    assert_eq!(out.upper, (0..22).collect::<Vec<u8>>());
    let mut mixed = Vec::new();
    for v in 0..4 {
        let row = text.row(if v % 2 == 0 { v } else { 3 });
        let mut sum = 0u64;
        for (k, c) in row.rev().enumerate() {
            sum = sum.wrapping_mul(31).wrapping_add(u64::from(c) + k as u64);
        }
        for (w, c) in graph.neighbors(v).zip(text.row(v)) {
            sum ^= u64::from(w) << (c % 64);
        }
        mixed.push(sum);
    }
    assert_eq!(out.mixed, mixed);
    let before = |text: &str| {
        let bytes = text.bytes().take_while(|c| *c != b'-');
        bytes.map(u64::from).sum::<u64>()
    };
    assert_eq!(out.bytes, TEXTS.map(before).iter().sum::<u64>());

    // Another topology has other rows.
    let text = Rows::from_rows(["", "", "", "abab"]).expect("few");
    let topology = texts::Topology {
        text: &text,
        ..topology
    };
    session.update(topology).expect("it fits");
    let out = session
        .run(texts::Run { which: 0, at: 0 })
        .expect("it ends");
    assert_eq!((out.found, out.upper), (vec![0, 0, 0, 2], vec![0, 1, 2, 3]));
}

fn places_beyond_rows_trap(runtime: &Runtime) {
    let (graph, text) = (
        graph(),
        Rows::from_rows(["ab", "abc", "ab", "abcd"]).expect("few"),
    );
    let none = Rows::from_rows([[0i64; 0]; 5]).expect("few");
    let patterns = Rows::from_rows(["", ""]).expect("few");
    let topology = texts::Topology {
        graph: &graph,
        text: &text,
        weights: &none,
        patterns: &patterns,
    };
    let mut session = texts::Session::new(runtime, topology).expect("it fits");
    let mut trap = |at| {
        let Err(Error::Trap(trap)) = session.run(texts::Run { which: 1, at }) else {
            panic!("a place beyond a row")
        };
        assert_eq!(trap.kind, TrapKind::IndexOutOfBounds);
        let of = trap.subject.map(|of| (of.to_string(), of.size));
        (trap.item, trap.index, trap.len, of)
    };
    let row = |text: &str| Some(("`text`".to_owned(), text.to_owned()));
    assert_eq!(trap(2), (Some(0), 2, 2, row("a row of 2 values")));
    let rows = Some(("`text`".to_owned(), "4 rows".to_owned()));
    assert_eq!(trap(8), (Some(3), 4, 4, rows.clone()));
    assert_eq!(trap(24), (Some(1), 4, 4, rows));

    // A row as long as there are rows, and values in all.
    let text = Rows::from_rows(["abcd", "", "", ""]).expect("few");
    let topology = texts::Topology {
        text: &text,
        ..topology
    };
    session.update(topology).expect("it fits");
    let Err(Error::Trap(trap)) = session.run(texts::Run { which: 1, at: 4 }) else {
        panic!("a place beyond a row")
    };
    let of = trap.subject.map(|of| (of.to_string(), of.size));
    assert_eq!((trap.item, of), (Some(0), row("a row of 4 values")));
}

fn rows_fit_the_session(runtime: &Runtime) {
    let (graph, text) = (graph(), Rows::from_rows(["", ""]).expect("few"));
    let weights = Rows::from_rows([[0i64; 0]; 5]).expect("few");
    let topology = texts::Topology {
        graph: &graph,
        text: &text,
        weights: &weights,
        patterns: &text,
    };
    let refused = texts::Session::new(runtime, topology).map(|_| ());
    assert_eq!(
        refused.unwrap_err().to_string(),
        "`text` has 2 rows; the pass needs 4 (per = node)"
    );
    let text = Rows::from_rows(TEXTS).expect("few");
    let topology = texts::Topology {
        text: &text,
        patterns: &text,
        ..topology
    };
    let refused = texts::Session::new(runtime, topology).map(|_| ());
    assert_eq!(
        refused.unwrap_err().to_string(),
        "`patterns` has 4 rows; the pass needs 2"
    );
}

/// Rows that lanes own: sorted, summed up and stamped.
#[wave_graph(deterministic)]
pub mod owned {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        text: Rows<u8>,
        #[topology]
        k: u32,
        #[topology(per = k)]
        lists: Rows<f64>,
        #[input(per = row(text))]
        weight: i64,
        #[output(per = row(text))]
        sorted: u8,
        #[output(per = row(text), init = 7)]
        stamp: u32,
        #[output(per = row(lists))]
        sums: f64,
        #[output(per = node)]
        total: i64,
        #[frontier(unique)]
        front: Frontier,
        at: u32,
    }

    #[wave(nodes)]
    fn sort(v: Node, text: &Row<u8>, sorted: &mut Row<u8>, front: &Push) {
        for (k, c) in text.enumerate() {
            let mut at = k as u32;
            sorted[at] = c;
            while at > 0 && sorted[at - 1] > sorted[at] {
                sorted.swap(at - 1, at);
                at -= 1;
            }
        }
        if v % 2 == 1 || text.is_empty() {
            front.push(v);
        }
    }

    #[wave(range(k))]
    fn add_up(lists: &Row<f64>, sums: &mut Row<f64>) {
        sums.fill(0.5);
        let mut k = 0;
        for x in lists {
            sums[k] += x;
            if k > 0 {
                sums[k] += sums[k - 1];
            }
            k += 1;
        }
        assert!(sums.len() == lists.len() && (k == 0 || sums.at(k - 1) == sums[sums.len() - 1]));
    }

    #[wave(nodes)]
    fn weigh(weight: &Row<i64>, text: &Rows<u8>, v: Node, total: &mut i64) {
        for (w, c) in weight.zip(text.row(v)) {
            *total += w * i64::from(c);
        }
        let half = weight.part(0..weight.len() / 2);
        for w in half.rev() {
            *total = *total % 1_000 * 2 + w;
        }
    }

    #[fixpoint(after(sort), until(front.is_empty()))]
    mod rounds {
        #[wave(items(front))]
        fn mark(v: Node, at: u32, stamp: &mut Row<u32>) {
            for k in 0..stamp.len() {
                stamp[k] += k * 10 + v;
            }
            if stamp.len() > 100 {
                stamp[at] -= 1;
            }
        }
    }
}

fn lanes_own_rows(runtime: &Runtime) {
    // More than a chunk of nodes, with rows of all lengths.
    let graph = Csr::from_edges(9_000, &[]).expect("no edges");
    let len = |v: u32| if v == 4_999 { 300 } else { v % 7 };
    let text = (0..9_000).map(|v| (0..len(v)).map(|k| (k * 37 + v) as u8).collect::<Vec<_>>());
    let text = Rows::from_rows(text).expect("few");
    let lists = Rows::from_rows([&[1.5, 2.0][..], &[], &[4.0]]).expect("few");
    let topology = owned::Topology {
        graph: &graph,
        text: &text,
        k: 3,
        lists: &lists,
    };
    let mut session = owned::Session::new(runtime, topology).expect("it fits");
    let weight: Vec<i64> = (0..).take(text.values().len()).map(|w| w % 5 - 2).collect();
    let run = owned::Run {
        weight: &weight,
        at: 299,
    };
    let out = session.run(run).expect("it ends");
    let offsets = text.offsets();
    for v in 0..9_000 {
        let row = offsets[v as usize] as usize..offsets[v as usize + 1] as usize;
        let mut sorted = text.row(v).as_slice().to_vec();
        sorted.sort_unstable();
        assert_eq!(out.sorted[row.clone()], sorted);
        let is_marked = v % 2 == 1 || text.row(v).is_empty();
        let mut stamp: Vec<u32> = (0..len(v))
            .map(|k| 7 + if is_marked { k * 10 + v } else { 0 })
            .collect();
        if v == 4_999 {
            stamp[299] -= 1;
        }
        assert_eq!(out.stamp[row.clone()], stamp);
        let weight = &weight[row];
        let pairs = weight.iter().zip(text.row(v));
        let mut total: i64 = pairs.map(|(w, c)| w * i64::from(c)).sum();
        for w in weight[..weight.len() / 2].iter().rev() {
            total = total % 1_000 * 2 + w;
        }
        assert_eq!(out.total[v as usize], total);
    }
    assert_eq!(out.sums, [2.0, 4.5, 4.5]);

    let run = owned::Run {
        weight: &weight,
        at: 300,
    };
    let Err(Error::Trap(trap)) = session.run(run) else {
        panic!("a place beyond the row")
    };
    assert_eq!(
        (trap.kind, trap.item, trap.index, trap.len),
        (TrapKind::IndexOutOfBounds, Some(4_999), 300, 300)
    );
    let of = trap.subject.map(|of| (of.to_string(), of.size));
    assert_eq!(
        of,
        Some(("`stamp`".to_owned(), "a row of 300 values".to_owned()))
    );
}

/// The places of values in their rows.
#[wave_graph(budget = "16 MiB")]
#[pass(id = "texts.places", unproven)]
pub mod places {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        text: Rows<u8>,
        #[output(per = row(text))]
        place: u32,
    }

    #[wave(nodes)]
    fn number(v: Node, place: &mut Row<u32>) {
        for k in 0..place.len() {
            place[k] = k * 10 + v;
        }
    }
}

fn placed(text: &Rows<u8>) -> Vec<u32> {
    let row = |v| (0..text.row(v).len()).map(move |k| k * 10 + v);
    (0..text.len()).flat_map(row).collect()
}

fn runs_of_all_kinds_have_rows(runtime: &Runtime) {
    let graph = Csr::from_edges(3, &[(0, 1)]).expect("edges name nodes");
    let all = [["ab", "", "c"], ["", "", ""], ["lang", "short", "x"]];
    let all = all.map(|rows| Rows::from_rows(rows).expect("few"));
    let given = all.iter().map(|text| places::Topology {
        graph: &graph,
        text,
    });
    let mut sessions = Sessions::<places::Pass>::new(runtime, given.clone()).expect("they fit");
    for at in [2, 0, 1, 2] {
        sessions.submit(at, places::Run {}, 0);
    }
    let batch = sessions.run_batch().expect("all end");
    for ((_, out), at) in batch.results.iter().zip([2, 0, 1, 2]) {
        assert_eq!(out.as_ref().expect("it ends").place, placed(&all[at]));
    }
    for (topology, text) in given.zip(&all) {
        let mut session = places::Session::new(runtime, topology).expect("it fits");
        let runs = [places::Run {}, places::Run {}];
        assert_eq!(
            session.run_series(runs).expect("all end").place,
            placed(text)
        );
        session.submit(places::Run {}, 0);
        session.submit(places::Run {}, 0);
        for (_, out) in session.run_batch().expect("all end").results {
            assert_eq!(out.expect("it ends").place, placed(text));
        }
    }
}

fn a_budget_counts_values(runtime: &Runtime) {
    let graph = Csr::from_edges(1, &[]).expect("no edges");
    let text = Rows::from_rows([vec![b'x'; 4 << 20]]).expect("few");
    let topology = places::Topology {
        graph: &graph,
        text: &text,
    };
    let refused = places::Session::new(runtime, topology).map(|_| ());
    let told = refused.unwrap_err().to_string();
    // Four bytes of the result for each byte of text.
    let of = "topologies, inputs and outputs do not fit; ";
    let needed = told.strip_prefix(of).and_then(|rest| rest.split_once(' '));
    let (needed, rest) = needed.unwrap_or_else(|| panic!("{told}"));
    assert!(needed.parse().is_ok_and(|bytes: u64| bytes > 5 * (4 << 20)));
    assert_eq!(rest, "bytes are needed, 16777216 are available");
}

/// Includes `places` for rows of its own, and for others.
#[wave_graph]
#[pass(id = "texts.both", unproven)]
pub mod both {
    #[include(graph = graph, text = name)]
    use super::places;
    #[include(graph = graph)]
    use super::places as more;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = node)]
        name: Rows<u8>,
        #[reduce(sum)]
        sum: u64,
    }

    #[wave(nodes, after(places, more))]
    fn add(places_place: &Row<u32>, more_place: &Row<u32>, sum: &Reduce<Sum<u64>>) {
        for (a, b) in places_place.zip(more_place) {
            sum.add(u64::from(a * b));
        }
    }
}

fn included_rows_are_shared_or_given(runtime: &Runtime) {
    let graph = Csr::from_edges(2, &[(0, 1)]).expect("edges name nodes");
    let name = Rows::from_rows(["abc", "de"]).expect("few");
    let more = Rows::from_rows(["ab", "def"]).expect("few");
    let topology = both::Topology {
        graph: &graph,
        name: &name,
        more_text: &more,
    };
    let mut session = both::Session::new(runtime, topology).expect("it fits");
    let out = session.run(both::Run {}).expect("it ends");
    assert_eq!(out.sum, 100 + 1 + 11 * 11);
    assert_eq!(
        (out.places_place, out.more_place),
        (placed(&name), placed(&more))
    );
}

backend_tests!(
    rows_are_read,
    places_beyond_rows_trap,
    rows_fit_the_session,
    lanes_own_rows,
    runs_of_all_kinds_have_rows,
    a_budget_counts_values,
    included_rows_are_shared_or_given,
);

#[test]
fn rows_are_checked_when_they_are_made() {
    let told = |offsets: &[u32], values: usize| {
        let rows = Rows::new(offsets.to_vec(), vec![0u8; values]);
        rows.map(|_| ()).unwrap_err()
    };
    assert_eq!(told(&[], 0), RowsError::NoOffsets);
    assert_eq!(told(&[1], 1), RowsError::First(1));
    assert_eq!(
        told(&[0, 3, 2, 4], 4).to_string(),
        "row 1 begins at value 3 and ends at value 2"
    );
    assert_eq!(
        told(&[0, 3], 4).to_string(),
        "the last row ends at value 3, but there are 4 values"
    );
    let none = Rows::<u8>::new(vec![0], Vec::new()).expect("no rows");
    assert!(none.is_empty() && none == Rows::from_rows([""; 0]).expect("no rows"));
}
