//! The protocols of the megakernel, as it is shipped, and of the modules of compiled passes, in every order: grid barriers,
//! queues of tiles and of queries, pushes, lists, overflows, sums, narrow rounds, clusters, stops.
//!
//! A session of vyre on a played device makes the image of a tiny pass; the checker explores the launch. Each test prints
//! what it went through: `protocol <name>: <n> states, ..`, and the sum for docs/TRUST.md.

mod faults;
mod grid;
mod narrow;
mod passes;
mod played;
mod stops;

use played::{Caught, STATIC_SHARED_BYTES, caught};
use ptx_emulator::{Failure, Launch, Machine, Module, Report, explore};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use vyre::Runtime;
use vyre::prelude::Csr;
use vyre_tests::{graphs, passes::bfs};

const MEGAKERNEL: &str = include_str!("../../../vyre-cuda/kernels/megakernel.ptx");
/// States after which a protocol counts as too large.
const MOST: usize = 60_000;
/// Shared memory of a CTA, with which few items make narrow rounds.
const MUCH: u32 = 227 << 10;

/// Where an image has its control words.
const CONTROL: usize = 8;

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("a word has 8 bytes"))
}

/// Explores a launch, and prints what was gone through.
fn checked(name: &str, caught: &Caught, module: Module) {
    checked_as(
        name,
        caught,
        caught.machine(Rc::new(module), |launch| launch),
    );
}

/// The same of a launch in another shape.
fn checked_as(name: &str, caught: &Caught, machine: Machine) {
    told(name, explore(machine, MOST, &|end| caught.judge(end)));
}

/// Prints and counts what was gone through.
fn told(name: &str, explored: Result<Report, Failure>) -> Report {
    let report = explored.unwrap_or_else(|e| panic!("{name}: {e}"));
    let Report {
        states,
        steps,
        ends,
        old_reads,
    } = report;
    println!(
        "protocol {name}: {states} states, {steps} steps, {ends} ends, {old_reads} choices of what is seen"
    );
    count(states, 1, [0; 2]);
    report
}

/// Adds to the figure of docs/TRUST.md and prints it: the last line counts.
fn count(states: usize, protocols: u32, [found, faults]: [u32; 2]) {
    static ALL: Mutex<(usize, u32, u32, u32)> = Mutex::new((0, 0, 0, 0));
    let mut all = ALL.lock().expect("nobody panics with it");
    *all = (
        all.0 + states,
        all.1 + protocols,
        all.2 + found,
        all.3 + faults,
    );
    let (states, protocols, found, faults) = *all;
    println!(
        "\nprotocols.states: {states} in {protocols} protocols; faults found that were written into the text: {found} \
         of {faults}"
    );
}

fn shipped() -> Module {
    Module::parse(MEGAKERNEL).expect("it is PTX")
}

/// A search on a device. `shape`: its multiprocessors, and the CTAs of a cluster.
fn search(graph: &Csr, shape: (u32, u32), shared_bytes: u32) -> Caught {
    search_by(graph, shape, shared_bytes, false)
}

/// The same by the pass's own module.
fn compiled_search(graph: &Csr, shape: (u32, u32)) -> Caught {
    search_by(graph, shape, MUCH, true)
}

fn search_by(graph: &Csr, shape: (u32, u32), shared_bytes: u32, is_compiled: bool) -> Caught {
    caught(shape, shared_bytes, |runtime| {
        let mut session = bfs::Session::new(runtime, graph).expect("it fits");
        if is_compiled {
            session.compile_now().expect("any text is taken");
        }
        let out = session.run(bfs::Run { source: 0 }).expect("no trap");
        assert_eq!(out.dist, graphs::distances(graph, 0));
        Some(vec![out.dist])
    })
    .expect("it was launched")
}

/// So little shared memory that a CTA has one or two warps for a pass: then all rounds are the grid's. `refused`: what its
/// session says when there is too little.
fn little(refused: fn(&Runtime) -> Option<String>) -> u32 {
    let said = Arc::new(Mutex::new(None));
    let told = Arc::clone(&said);
    let launched = caught((1, 1), 32 << 10, move |runtime| {
        *told.lock().expect("nobody panics with it") = refused(runtime);
        None
    });
    assert!(launched.is_none());
    let said = said
        .lock()
        .expect("nobody panics with it")
        .take()
        .expect("it is refused");
    // With the bytes of one warp.
    let needed = said
        .split_whitespace()
        .find_map(|word| word.parse::<u32>().ok());
    needed.unwrap_or_else(|| panic!("no bytes in: {said}")) + STATIC_SHARED_BYTES + 1024
}

fn little_for_searches() -> u32 {
    little(|runtime| {
        bfs::Session::new(runtime, &fan())
            .err()
            .map(|e| e.to_string())
    })
}

/// One node, then three, of which the last has an edge to two more. The search reaches none of the others, whose many
/// edges make a warp take two items at a time: what three nodes push, two CTAs do.
fn fan() -> Csr {
    with_clique(&[(0, 1), (0, 2), (0, 3), (3, 4), (1, 5), (4, 1)])
}

fn with_clique(edges: &[(u32, u32)]) -> Csr {
    let clique = (6..28).flat_map(|v| (6..28).map(move |u| (v, u)));
    let edges = edges.iter().copied().chain(clique);
    Csr::from_edges(28, &edges.collect::<Vec<_>>()).expect("nodes are below 28")
}

/// Whether a launch comes to what was replaced by a trap.
fn comes_to(machine: Machine) -> bool {
    let found = explore(machine, MOST, &|_| Ok(()));
    found.is_err_and(|e| e.what.starts_with("trap "))
}

/// Has a function of a text begin otherwise.
fn beginning(text: &str, function: &str, with: &str) -> String {
    let body = text.rfind(function).expect("there is such a function");
    let at = body + text[body..].find('{').expect("it has a body") + 1;
    format!("{}{with}{}", &text[..at], &text[at..])
}
