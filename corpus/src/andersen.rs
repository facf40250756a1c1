//! Inclusion-based points-to analysis: which objects each pointer of a program may point to.
//!
//! Andersen's analysis (1994): `p = &o` puts `o` into the set of `p`; `p = q` makes the set of `p` include that of `q`;
//! `p = *q` makes it include the contents of each object that `q` may point to; `*p = q` makes the contents of each
//! object that `p` may point to include the set of `q`. The contents of an object are a node of their own, behind the
//! pointers. A set is a row of bits, one for each object.
//!
//! Written as nested fixpoints: the inner one carries rows along the copies from a frontier of the rows that have
//! grown; the outer one then looks at all loads and all stores, and pushes what they have changed.
//!
//! What it taught: all rows of bits are rows of nodes, so the contents of objects have to be nodes behind the pointers,
//! and `pointers + o` is everywhere. The frontier belongs to the inner fixpoint, so the outer one needs a flag beside
//! each push. Loads and stores look at all objects of their row again in each round, where the sequential program looks
//! at new ones only: they take 95 % of the time. `PLAN` calls the result open, although all updates only `or`.

use crate::rng::Rng;
use vyre::prelude::*;

/// The constraints, by graphs over the pointers and, behind them, the contents of the objects.
pub struct Input {
    /// Number of pointers.
    pub pointers: u32,
    /// Number of objects.
    pub objects: u32,
    /// `p = &o`, from `p` to the contents of `o`.
    pub addresses: Csr,
    /// `p = q`, from `q` to `p`.
    pub copies: Csr,
    /// `p = *q`, from `q` to `p`.
    pub loads: Csr,
    /// `*p = q`, from `p` to `q`.
    pub stores: Csr,
}

/// The words of the rows of all pointers, and of the contents of all objects behind them.
pub type Output = Vec<u32>;

#[wave_graph]
pub mod inclusion {
    pub struct Data {
        #[topology]
        addresses: Csr,
        #[topology]
        copies: Csr,
        #[topology]
        loads: Csr,
        #[topology]
        stores: Csr,
        #[output(per = node, bits = objects)]
        points: Bits,
        #[frontier(unique)]
        grown: Frontier,
        #[reduce(or)]
        again: bool,
        pointers: u32,
        objects: u32,
    }

    #[wave(edges(addresses))]
    fn address(e: Edge, pointers: u32, points: &Bits, grown: &Push) {
        points.set(e.src, e.dst - pointers);
        grown.push(e.src);
    }

    #[fixpoint(after(address), until(!again))]
    mod rounds {
        #[fixpoint(until(grown.is_empty()))]
        mod spread {
            #[wave(edges(copies, from = grown))]
            fn copy(e: Edge, points: &Bits, grown: &Push) {
                if points.or(e.dst, e.src) {
                    grown.push(e.dst);
                }
            }
        }

        #[wave(edges(loads), after(spread))]
        fn load(e: Edge, pointers: u32, points: &Bits, grown: &Push, again: &Reduce<Or<bool>>) {
            for o in points.ones(e.src) {
                if points.or(e.dst, pointers + o) {
                    grown.push(e.dst);
                    again.or(true);
                }
            }
        }

        #[wave(edges(stores), after(load))]
        fn store(e: Edge, pointers: u32, points: &Bits, grown: &Push, again: &Reduce<Or<bool>>) {
            for o in points.ones(e.src) {
                if points.or(pointers + o, e.dst) {
                    grown.push(pointers + o);
                    again.or(true);
                }
            }
        }
    }
}

/// Programs of functions with 50 pointers and 5 objects each; most constraints stay within a function.
pub fn input(small: bool) -> Input {
    let (pointers, objects) = if small { (500, 50) } else { (20_000, 2_000) };
    let nodes = (pointers + objects) as usize;
    let mut rng = Rng(33);
    let pair = |rng: &mut Rng| {
        let p = rng.below(pointers);
        let q = if rng.percent(90) { p / 50 * 50 + rng.below(50) } else { rng.below(pointers) };
        (p, q)
    };
    let copies: Vec<(u32, u32)> = (0..pointers * 8 / 10).map(|_| pair(&mut rng)).collect();
    let loads: Vec<(u32, u32)> = (0..pointers / 8).map(|_| pair(&mut rng)).collect();
    let stores: Vec<(u32, u32)> = (0..pointers / 8).map(|_| pair(&mut rng)).collect();
    let addresses: Vec<(u32, u32)> = (0..pointers / 4)
        .map(|_| {
            let (p, q) = pair(&mut rng);
            (p, pointers + q / 50 * 5 + rng.below(5))
        })
        .collect();
    let graph = |edges: &[(u32, u32)]| Csr::from_edges(nodes, edges).expect("edges are within the nodes");
    Input {
        pointers,
        objects,
        addresses: graph(&addresses),
        copies: graph(&copies),
        loads: graph(&loads),
        stores: graph(&stores),
    }
}

/// Difference propagation: a worklist of nodes, each with the part of its row that its successors have not seen. Loads
/// and stores add edges when their pointer's row grows.
pub fn sequential(input: &Input) -> Output {
    let nodes = input.copies.node_count();
    let words = input.objects.div_ceil(32) as usize;
    let mut row = vec![0u32; nodes * words];
    let mut seen = vec![0u32; nodes * words];
    let mut next: Vec<Vec<u32>> = (0..nodes as u32).map(|v| input.copies.neighbors(v).iter().collect()).collect();
    let mut edges: std::collections::HashSet<(u32, u32)> =
        (0..nodes as u32).flat_map(|v| input.copies.neighbors(v).iter().map(move |w| (v, w))).collect();
    let mut queue = std::collections::VecDeque::new();
    let mut waits = vec![false; nodes];
    for p in 0..nodes as u32 {
        for o in input.addresses.neighbors(p) {
            let o = o - input.pointers;
            row[p as usize * words + o as usize / 32] |= 1 << (o % 32);
            if !waits[p as usize] {
                waits[p as usize] = true;
                queue.push_back(p);
            }
        }
    }
    let mut new = vec![0u32; words];
    while let Some(v) = queue.pop_front() {
        let at = v as usize * words;
        waits[v as usize] = false;
        for k in 0..words {
            new[k] = row[at + k] & !seen[at + k];
            seen[at + k] = row[at + k];
        }
        // What the new objects add: edges along which the whole row goes at once.
        let mut more = Vec::new();
        for (k, &bits) in new.iter().enumerate() {
            let mut rest = bits;
            while rest != 0 {
                let content = input.pointers + 32 * k as u32 + rest.trailing_zeros();
                rest &= rest - 1;
                more.extend(input.loads.neighbors(v).iter().map(|p| (content, p)));
                more.extend(input.stores.neighbors(v).iter().map(|q| (q, content)));
            }
        }
        for w in next[v as usize].clone() {
            let to = w as usize * words;
            let mut grown = 0;
            for k in 0..words {
                grown |= new[k] & !row[to + k];
                row[to + k] |= new[k];
            }
            if grown != 0 && !waits[w as usize] {
                waits[w as usize] = true;
                queue.push_back(w);
            }
        }
        for (from, w) in more {
            if from == w || !edges.insert((from, w)) {
                continue;
            }
            next[from as usize].push(w);
            let (from, to) = (from as usize * words, w as usize * words);
            let mut grown = 0;
            for k in 0..words {
                grown |= row[from + k] & !row[to + k];
                row[to + k] |= row[from + k];
            }
            if grown != 0 && !waits[w as usize] {
                waits[w as usize] = true;
                queue.push_back(w);
            }
        }
    }
    row
}

/// Opens the session; each call is one run.
pub fn prepare<'i>(
    runtime: &vyre::Runtime,
    input: &'i Input,
) -> Result<Box<dyn FnMut() -> Result<Output, vyre::Error> + 'i>, vyre::Error> {
    let topology = inclusion::Topology {
        addresses: &input.addresses,
        copies: &input.copies,
        loads: &input.loads,
        stores: &input.stores,
    };
    let mut session = inclusion::Session::new(runtime, topology)?;
    let (pointers, objects) = (input.pointers, input.objects);
    Ok(Box::new(move || Ok(session.run(inclusion::Run { pointers, objects })?.points.into_words())))
}

/// The result is that of `sequential`: the least solution is one.
pub fn check(input: &Input, output: &Output) -> Result<(), String> {
    let expected = sequential(input);
    if output.len() != expected.len() {
        return Err(format!("{} words, not {}", output.len(), expected.len()));
    }
    match (0..expected.len()).find(|&k| output[k] != expected[k]) {
        Some(k) => Err(format!("word {k} is {:#x}, not {:#x}", output[k], expected[k])),
        None => Ok(()),
    }
}
