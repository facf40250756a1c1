//! Strongly connected components of a directed graph: the smallest node of each node's component.
//!
//! Trimming and colouring (Orzan 2004; Slota, Rajamanickam, Madduri 2014), as nested fixpoints. In each phase, nodes
//! with no open predecessor or no open successor are components of their own; then each open node gets as its colour
//! the smallest open node that reaches it; a node of its own colour is the root of a component, which is what reaches
//! the root backwards within the colour. A root is the smallest node of its component, because all of the component
//! reach it and it has the smallest colour of all that do.
//!
//! What it taught: three fixpoints in one were right at the first try, and the rules of who owns a frontier or a flag
//! fit them. `PLAN` calls the result open, although it is unique: `compare_exchange` stores a loaded colour, and
//! trimming reads what it changes. The R-MAT graph needs one phase only, so nearly all of the time is three waves.

use crate::rng::directed;
use vyre::prelude::*;

/// The graph.
pub struct Input {
    /// It.
    pub graph: Csr,
}

/// The smallest node of each node's component.
pub type Output = Vec<u32>;

#[wave_graph]
pub mod components {
    const OPEN: u32 = u32::MAX;

    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        back: Csr,
        #[output(per = node, init = OPEN)]
        component: u32,
        #[scratch(per = node)]
        colour: u32,
        #[frontier(unique)]
        forward: Frontier,
        #[frontier(unique)]
        backward: Frontier,
        #[reduce(or)]
        trimmed: bool,
        #[reduce(or)]
        open: bool,
    }

    #[fixpoint(until(!open))]
    mod phases {
        #[fixpoint(until(!trimmed))]
        mod trim {
            #[wave(nodes)]
            fn lonely(
                v: Node,
                graph: &Csr,
                back: &Csr,
                component: &Buf<Atomic<u32>>,
                trimmed: &Reduce<Or<bool>>,
            ) {
                if component[v].load() != OPEN {
                    return;
                }
                let mut successor = false;
                for w in graph.neighbors(v) {
                    if w != v && component[w].load() == OPEN {
                        successor = true;
                        break;
                    }
                }
                let mut predecessor = false;
                if successor {
                    for w in back.neighbors(v) {
                        if w != v && component[w].load() == OPEN {
                            predecessor = true;
                            break;
                        }
                    }
                }
                if !predecessor {
                    component[v].store(v);
                    trimmed.or(true);
                }
            }
        }

        #[wave(nodes, after(trim))]
        fn paint(v: Node, component: &u32, colour: &mut u32, forward: &Push) {
            *colour = v;
            if *component == OPEN {
                forward.push(v);
            }
        }

        #[fixpoint(after(paint), until(forward.is_empty()))]
        mod colours {
            #[wave(edges(graph, from = forward))]
            fn spread(e: Edge, component: &Buf<u32>, colour: &Buf<Atomic<u32>>, forward: &Push) {
                if component[e.dst] == OPEN {
                    let new = colour[e.src].load();
                    if new < colour[e.dst].fetch_min(new) {
                        forward.push(e.dst);
                    }
                }
            }
        }

        #[wave(nodes, after(colours))]
        fn root(v: Node, colour: &u32, component: &mut u32, backward: &Push) {
            if *component == OPEN && *colour == v {
                *component = v;
                backward.push(v);
            }
        }

        #[fixpoint(after(root), until(backward.is_empty()))]
        mod members {
            #[wave(edges(back, from = backward))]
            fn collect(e: Edge, colour: &Buf<u32>, component: &Buf<Atomic<u32>>, backward: &Push) {
                let root = colour[e.src];
                if colour[e.dst] == root && component[e.dst].compare_exchange(OPEN, root) {
                    backward.push(e.dst);
                }
            }
        }

        #[wave(nodes, after(members))]
        fn look(component: &u32, open: &Reduce<Or<bool>>) {
            open.or(*component == OPEN);
        }
    }
}

/// An R-MAT graph of three edges a node.
pub fn input(small: bool) -> Input {
    let (nodes, edges) = if small { (500, 1_500) } else { (200_000, 600_000) };
    let graph = Csr::from_edges(nodes as usize, &directed(nodes, edges, 44)).expect("edges are within the nodes");
    Input { graph }
}

/// Tarjan's algorithm with a stack of its own.
pub fn sequential(input: &Input) -> Output {
    let graph = &input.graph;
    let nodes = graph.node_count();
    let (mut number, mut low) = (vec![0u32; nodes], vec![0u32; nodes]);
    let mut component = vec![u32::MAX; nodes];
    let (mut path, mut calls): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
    let mut count = 0;
    for start in 0..nodes as u32 {
        if number[start as usize] != 0 {
            continue;
        }
        count += 1;
        (number[start as usize], low[start as usize]) = (count, count);
        path.push(start);
        calls.push((start, graph.edges(start).start));
        while let Some(&mut (v, ref mut e)) = calls.last_mut() {
            if *e < graph.edges(v).end {
                let w = graph.target(*e);
                *e += 1;
                if number[w as usize] == 0 {
                    count += 1;
                    (number[w as usize], low[w as usize]) = (count, count);
                    path.push(w);
                    calls.push((w, graph.edges(w).start));
                } else if component[w as usize] == u32::MAX {
                    low[v as usize] = low[v as usize].min(number[w as usize]);
                }
                continue;
            }
            calls.pop();
            if let Some(&(parent, _)) = calls.last() {
                low[parent as usize] = low[parent as usize].min(low[v as usize]);
            }
            if low[v as usize] == number[v as usize] {
                let from = path.iter().rposition(|&w| w == v).expect("it is on the path");
                let least = *path[from..].iter().min().expect("v is there");
                for w in path.drain(from..) {
                    component[w as usize] = least;
                }
            }
        }
    }
    component
}

/// Opens the session; each call is one run.
pub fn prepare<'i>(
    runtime: &vyre::Runtime,
    input: &'i Input,
) -> Result<Box<dyn FnMut() -> Result<Output, vyre::Error> + 'i>, vyre::Error> {
    let mut session = components::Session::new(runtime, &input.graph)?;
    Ok(Box::new(move || Ok(session.run(components::Run {})?.component)))
}

/// The result is that of `sequential`: smallest nodes are unique.
pub fn check(input: &Input, output: &Output) -> Result<(), String> {
    let expected = sequential(input);
    if output.len() != expected.len() {
        return Err(format!("{} nodes, not {}", output.len(), expected.len()));
    }
    match (0..expected.len()).find(|&v| output[v] != expected[v]) {
        Some(v) => Err(format!("node {v} is in the component of {}, not of {}", output[v], expected[v])),
        None => Ok(()),
    }
}
