//! Breadth-first search as wasm32, for a page or for Node: `scripts/check-wasm` builds it without the feature `cuda`, and
//! `check.mjs`, which calls it, compares with a search of its own. A caller adds edges, runs, and reads distances.

use std::sync::{Mutex, MutexGuard, PoisonError};
use vyre::prelude::*;
use vyre::{RunError, TrapKind};

const UNSEEN: u32 = u32::MAX;

/// Levels of a breadth-first search, of less than a thousand.
#[wave_graph]
mod bfs {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
        source: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, source: u32, dist: &mut u32, front: &Push) {
        *dist = UNSEEN;
        if v == source {
            *dist = 0;
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 1000)]
    mod levels {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push) {
            if dist[e.dst].compare_exchange(UNSEEN, round + 1) {
                front.push(e.dst);
            }
        }
    }
}

/// The edges so far.
static EDGES: Mutex<Vec<(u32, u32)>> = Mutex::new(Vec::new());

/// Distances of the last run.
static FOUND: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// No edges.
#[unsafe(no_mangle)]
pub extern "C" fn clear() {
    lock(&EDGES).clear();
}

/// One more edge.
#[unsafe(no_mangle)]
pub extern "C" fn add_edge(from: u32, to: u32) {
    lock(&EDGES).push((from, to));
}

/// Searches from a node, on the backend that `auto` takes, or on the native one. Gives the rounds that it took; -1: too
/// many; -2: another error.
#[unsafe(no_mangle)]
pub extern "C" fn search(nodes: u32, source: u32, native: bool) -> i32 {
    let searched = || -> Result<bfs::Output, Error> {
        let graph = Csr::from_edges(nodes as usize, &lock(&EDGES))
            .map_err(|e| Error::from(RunError::Invalid(e.to_string())))?;
        let runtime = match native {
            true => Runtime::native(),
            false => Runtime::auto()?,
        };
        bfs::Session::new(&runtime, &graph)?.run(bfs::Run { source })
    };
    match searched() {
        Ok(out) => {
            *lock(&FOUND) = out.dist;
            out.report.total_rounds() as i32
        }
        Err(e) if e.trap().is_some_and(|t| t.kind == TrapKind::RoundLimit) => -1,
        Err(_) => -2,
    }
}

/// A node's distance in the last run; `u32::MAX` where no path leads, or there is no such node.
#[unsafe(no_mangle)]
pub extern "C" fn distance(node: u32) -> u32 {
    let found = lock(&FOUND);
    found.get(node as usize).copied().unwrap_or(UNSEEN)
}
