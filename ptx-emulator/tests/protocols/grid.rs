//! Rounds of the grid: barriers, tiles, queries, unique frontiers, frontiers that overflow, lists, and reductions.

use super::passes::{counted, cramped, listed};
use super::*;
use vyre_tests::passes::{sssp, three_waves};

#[test]
fn rounds_of_the_grid_end_alike_in_every_order() {
    let caught = search(&fan(), (2, 1), little_for_searches());
    checked("grid barrier, 2 CTAs", &caught, shipped());
}

#[test]
fn tiles_of_a_cta_are_taken_once() {
    let caught = search(&fan(), (1, 1), little_for_searches());
    checked("tiles, 1 CTA", &caught, shipped());
}

#[test]
#[ignore = "explores for a minute: scripts/protocols"]
fn queries_are_taken_once() {
    let caught = caught((2, 1), 96 << 10, |runtime| {
        let graph = graphs::chain(2);
        let mut session = bfs::Session::new(runtime, &graph).expect("it fits");
        for source in [0, 1, 0] {
            session.submit(bfs::Run { source }, 0);
        }
        let batch = session.run_batch().expect("it fits");
        Some(
            batch
                .results
                .into_iter()
                .map(|(_, out)| out.expect("no trap").dist)
                .collect(),
        )
    })
    .expect("it was launched");
    checked("queries, 2 CTAs", &caught, shipped());
}

/// Two ways to the last node, the shorter of which comes later.
fn diamond() -> Csr {
    Csr::from_edges(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]).expect("nodes are below 4")
}

fn paths(runtime: &Runtime) -> Result<sssp::Session, vyre::Error> {
    let topology = sssp::Topology {
        graph: &diamond(),
        weight: &[1, 2, 5, 1],
    };
    sssp::Session::new(runtime, topology)
}

#[test]
fn unique_frontiers_hold_items_once() {
    let little = little(|runtime| paths(runtime).err().map(|e| e.to_string()));
    let caught = caught((2, 1), little, |runtime| {
        let mut session = paths(runtime).expect("it fits");
        Some(vec![
            session.run(sssp::Run { source: 0 }).expect("no trap").dist,
        ])
    })
    .expect("it was launched");
    checked("unique frontier, 2 CTAs", &caught, shipped());
}

/// Where an image has the offset of its frontiers; what one takes, and where it has its items, its counters and its
/// capacity.
const FRONTIERS: usize = 72;
const FRONTIER_BYTES: usize = 176;
const COUNTERS: usize = 48;
const CAPACITY: usize = 84;
/// Where control words have the trap, its lock behind it.
const TRAP: u64 = 384;
const TRAP_BYTES: usize = 28;

/// Items of a frontier's two sides, its counters, and its capacity.
fn frontier(caught: &Caught, number: usize) -> ([u64; 2], u64, u32) {
    let at = caught.of_image(FRONTIERS) as u32 as usize + number * FRONTIER_BYTES;
    let [first, second, counters, capacity] =
        [0, 8, COUNTERS, CAPACITY].map(|field| caught.of_image(at + field));
    ([first, second], counters, capacity as u32)
}

fn cramped_search(ctas: u32) -> Caught {
    let little = little(|runtime| {
        let session = cramped::Session::new(runtime, &fan());
        session.err().map(|e| e.to_string())
    });
    caught((ctas, 1), little, |runtime| {
        let mut session = cramped::Session::new(runtime, &fan()).expect("it fits");
        let error = session.run(cramped::Run { source: 0 }).unwrap_err();
        assert!(error.to_string().contains("front"), "{error}");
        Some(vec![])
    })
    .expect("it was launched")
}

/// Whether a run ends with the same trap as the one before, and nothing is written behind a frontier's items.
fn overflows(
    caught: &Caught,
    ([first, second], capacity): ([u64; 2], u32),
    end: &Machine,
) -> Result<(), String> {
    let control = caught.of_image(CONTROL);
    let left = end.memory.bytes(control + TRAP, TRAP_BYTES);
    let meant = caught.after(control + TRAP, TRAP_BYTES);
    // The index and the length.
    let says = [word(&left, 8), word(&left, 16)];
    if left != meant || says != [3, u64::from(capacity)] {
        return Err(format!(
            "it ends with the trap {left:?}, {says:?}, not {meant:?}"
        ));
    }
    for items in [first, second] {
        let behind = items + u64::from(capacity) * 4;
        if end.memory.bytes(behind, 8) != caught.before(behind, 8) {
            return Err("it writes behind the items".to_owned());
        }
    }
    Ok(())
}

#[test]
fn a_frontier_that_overflows_is_seen_by_all_ctas() {
    for ctas in [1, 2] {
        let caught = cramped_search(ctas);
        let (items, _, capacity) = frontier(&caught, 0);
        assert_eq!(capacity, 2);
        let machine = caught.machine(Rc::new(shipped()), |launch| launch);
        let judge = |end: &Machine| overflows(&caught, (items, capacity), end);
        told(
            &format!("overflow, {ctas} CTAs"),
            explore(machine, MOST, &judge),
        );
    }
}

fn listed_nodes(ctas: u32) -> Caught {
    let graph = graphs::edgeless(96);
    let little = little(|runtime| {
        let session = listed::Session::new(runtime, &graphs::edgeless(96));
        session.err().map(|e| e.to_string())
    });
    caught((ctas, 1), little, |runtime| {
        let mut session = listed::Session::new(runtime, &graph).expect("it fits");
        let out = session.run(listed::Run { room: 3 }).expect("there is room");
        Some(vec![out.seen])
    })
    .expect("it was launched")
}

#[test]
fn lists_hold_what_was_appended_once() {
    for ctas in [1, 2] {
        let caught = listed_nodes(ctas);
        let (_, counters, capacity) = frontier(&caught, 0);
        assert_eq!(capacity, 3);
        let machine = caught.machine(Rc::new(shipped()), |launch| launch);
        let judge = |end: &Machine| {
            let items = word(&end.memory.bytes(counters, 8), 0);
            if items != 3 {
                return Err(format!("the list has {items} items"));
            }
            caught.judge(end)
        };
        told(
            &format!("list, {ctas} CTAs"),
            explore(machine, MOST, &judge),
        );
    }
}

#[test]
#[ignore = "explores for a minute: scripts/protocols"]
fn reductions_begin_anew_in_every_round() {
    let graph = graphs::edgeless(40);
    let little = little(|runtime| {
        let session = counted::Session::new(runtime, &graphs::edgeless(40));
        session.err().map(|e| e.to_string())
    });
    let caught = caught((2, 1), little, |runtime| {
        let mut session = counted::Session::new(runtime, &graph).expect("it fits");
        let out = session.run(counted::Run {}).expect("no trap");
        assert_eq!(out.rounds, [4; 40]);
        Some(vec![out.rounds])
    })
    .expect("it was launched");
    checked("reductions, 2 CTAs", &caught, shipped());
}

#[test]
#[ignore = "explores for a minute: scripts/protocols"]
fn pushes_that_no_barrier_carries_are_summed_up() {
    let graph = with_clique(&[(0, 1), (0, 2)]);
    let little = little(|runtime| {
        let session = three_waves::Session::new(runtime, &fan());
        session.err().map(|e| e.to_string())
    });
    let caught = caught((2, 1), little, |runtime| {
        let mut session = three_waves::Session::new(runtime, &graph).expect("it fits");
        let run = three_waves::Run {
            source: 0,
            too_far: 77,
        };
        let out = session.run(run).expect("no trap");
        Some(vec![out.dist, out.label])
    })
    .expect("it was launched");
    checked("sums of pushes, 2 CTAs", &caught, shipped());
}
