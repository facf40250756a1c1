//! Attractors of two-player game graphs, and Büchi games by repeated attractors.

use crate::common::{Res, Rng, Settings, measure, say};
use vyre::prelude::*;

pub const NONE: u32 = u32::MAX;

/// From where `player` can force a visit to the target, in the part of the game that is alive; and in how many moves.
#[wave_graph]
#[pass(id = "game.attractor", unproven)]
pub mod attractor {
    use super::NONE;

    pub struct Data {
        #[topology] graph: Csr,
        #[topology(reverse_of = graph)] back: Csr,
        #[topology(per = node)] owner: u32,
        #[input(per = 1)] player: u32,
        #[input(per = node)] alive: bool,
        #[input(per = node)] target: bool,
        #[scratch(per = node)] left: u32,
        #[frontier] front: Frontier,
        #[output(per = node, init = NONE)] rank: u32,
    }

    #[wave(nodes)]
    fn begin(
        v: Node, graph: &Csr, owner: &u32, player: &Buf<u32>, alive: &Buf<bool>, target: &bool,
        left: &mut u32, rank: &mut u32, front: &Push,
    ) {
        if !alive[v] {
            *left = 0; // is never counted down to
        } else if *target {
            *left = 0;
            *rank = 0;
            front.push(v);
        } else if *owner == player[0] {
            *left = 1;
        } else {
            let mut count = 0;
            for w in graph.neighbors(v) {
                count += u32::from(alive[w]);
            }
            *left = count;
        }
    }

    #[fixpoint(after(begin), until(front.is_empty()))]
    mod rounds {
        #[wave(edges(back, from = front))]
        fn attract(e: Edge, round: Round, left: &Buf<Atomic<u32>>, rank: &Buf<Atomic<u32>>, front: &Push) {
            if left[e.dst].fetch_sub(1) == 1 {
                rank[e.dst].store(round + 1);
                front.push(e.dst);
            }
        }
    }
}

/// Where player 0 can visit accepting nodes for ever, and how. Every node has a move.
#[wave_graph]
#[pass(id = "game.buchi", unproven)]
pub mod buchi {
    use super::NONE;

    pub struct Data {
        #[topology] graph: Csr,
        #[topology(reverse_of = graph)] back: Csr,
        #[topology(per = node)] owner: u32,
        #[topology(per = node)] accepting: bool,
        #[scratch(per = 1)] zero: u32,
        #[scratch(per = 1, init = 1)] one: u32,
        #[scratch(per = node, init = true)] alive: bool,
        #[scratch(per = node)] hopeless: bool,
        /// How many fall in this round.
        #[scratch(per = 1, reset = round)] falling: u32,
        #[list(capacity = node + 1, output)] sizes: List<u32>,
        /// The round in which player 1 wins the node.
        #[output(per = node, init = NONE)] lost: u32,
        /// What player 0 moves to from nodes it owns and wins.
        #[output(per = node, init = NONE)] choice: u32,
        /// Nodes that player 1 wins, with the round.
        #[list(capacity = node, output)] order: List<(u32, u32)>,
        #[reduce(count)] fallen: u64,
    }

    #[fixpoint(until(fallen == 0))]
    mod rounds {
        #[include(graph = graph, back = back, owner = owner, player = zero, alive = alive, target = accepting)]
        use super::super::attractor as hope;

        #[wave(nodes, after(hope))]
        fn see(hope_rank: &u32, alive: &bool, hopeless: &mut bool, fallen: &Reduce<Count>) {
            *hopeless = *alive && *hope_rank == NONE;
            if *hopeless {
                fallen.inc();
            }
        }

        #[include(graph = graph, back = back, owner = owner, player = one, alive = alive, target = hopeless, after(see))]
        use super::super::attractor as doom;

        #[wave(nodes, after(doom))]
        fn fall(
            v: Node, rounds: Round, doom_rank: &u32, alive: &mut bool, lost: &mut u32, order: &Append<(u32, u32)>,
            falling: &Buf<Atomic<u32>>,
        ) {
            if *doom_rank != NONE {
                *alive = false;
                *lost = rounds;
                order.append((v, rounds));
                falling[0].fetch_add(1);
            }
        }

        #[wave(once, after(fall))]
        fn note(falling: &Buf<u32>, sizes: &Append<u32>) {
            sizes.append(falling[0]);
        }
    }

    /// Nearer to an accepting node, or from there to anywhere that is won.
    #[wave(nodes, after(rounds))]
    fn choose(
        v: Node, graph: &Csr, owner: &u32, accepting: &bool, lost: &Buf<u32>, hope_rank: &Buf<u32>, choice: &mut u32,
    ) {
        if *owner == 0 && lost[v] == NONE {
            for w in graph.neighbors(v) {
                if lost[w] == NONE && (*accepting || hope_rank[w] < hope_rank[v]) {
                    *choice = w;
                    break;
                }
            }
        }
    }
}

/// Where player 0 can visit accepting nodes for ever. Every node has a move. No lists, so that a fixpoint can include it.
#[wave_graph]
#[pass(id = "game.core", unproven)]
pub mod plain_game {
    use super::NONE;

    pub struct Data {
        #[topology] graph: Csr,
        #[topology(reverse_of = graph)] back: Csr,
        #[topology(per = node)] owner: u32,
        #[input(per = node)] accepting: bool,
        #[scratch(per = 1)] zero: u32,
        #[scratch(per = 1, init = 1)] one: u32,
        #[scratch(per = node, init = true)] alive: bool,
        #[scratch(per = node)] hopeless: bool,
        #[output(per = node, init = NONE)] lost: u32,
        #[reduce(count)] fallen: u64,
    }

    #[fixpoint(until(fallen == 0))]
    mod rounds {
        #[include(graph = graph, back = back, owner = owner, player = zero, alive = alive, target = accepting)]
        pub use super::super::attractor as hope;

        #[wave(nodes, after(hope))]
        fn see(hope_rank: &u32, alive: &bool, hopeless: &mut bool, fallen: &Reduce<Count>) {
            *hopeless = *alive && *hope_rank == NONE;
            if *hopeless {
                fallen.inc();
            }
        }

        #[include(graph = graph, back = back, owner = owner, player = one, alive = alive, target = hopeless, after(see))]
        pub use super::super::attractor as doom;

        #[wave(nodes, after(doom))]
        fn fall(rounds: Round, doom_rank: &u32, alive: &mut bool, lost: &mut u32) {
            if *doom_rank != NONE {
                *alive = false;
                *lost = rounds;
            }
        }
    }
}

/// A Büchi game for each of several sets of accepting nodes.
#[wave_graph]
#[pass(id = "game.several", unproven)]
pub mod several {
    use super::NONE;

    pub struct Data {
        #[topology] graph: Csr,
        #[topology(reverse_of = graph)] back: Csr,
        #[topology(per = node)] owner: u32,
        #[input(per = node, bits = sets)] accepts: Bits,
        #[scratch(per = node)] accepting: bool,
        #[output(per = node, bits = sets)] won: Bits,
        #[output(per = sets)] many: u32,
        sets: u32,
    }

    #[fixpoint(until(round + 1 == sets))]
    mod games {
        #[wave(nodes)]
        fn pick(v: Node, games: Round, accepts: &Bits, accepting: &mut bool) {
            *accepting = accepts.get(v, games);
        }

        #[include(graph = graph, back = back, owner = owner, accepting = accepting, after(pick))]
        use super::super::plain_game as game;

        #[wave(nodes, after(game))]
        fn keep(v: Node, games: Round, game_lost: &u32, won: &Bits, many: &Buf<Atomic<u32>>) {
            if *game_lost == NONE {
                won.set(v, games);
                many[games].fetch_add(1);
            }
        }
    }
}

struct Game {
    graph: Csr,
    owner: Vec<u32>,
    accepting: Vec<bool>,
}

fn random(n: usize, degree: usize, rng: &mut Rng) -> Game {
    let mut edges = Vec::new();
    for v in 0..n {
        for _ in 0..1 + rng.index(degree) {
            edges.push((v as u32, rng.index(n) as u32));
        }
    }
    Game {
        graph: Csr::from_edges(n, &edges).unwrap(),
        owner: (0..n).map(|_| rng.index(2) as u32).collect(),
        accepting: (0..n).map(|_| rng.index(8) == 0).collect(),
    }
}

/// A game that takes `n / 2` rounds: each node that falls makes the next one hopeless.
fn ladder(n: usize) -> Game {
    let k = n / 2;
    let mut edges = vec![(0, 0)];
    for i in 1..k as u32 {
        let (f, g, before) = (2 * i, 2 * i + 1, if i == 1 { 0 } else { 2 * i - 1 });
        edges.extend([(f, before), (f, f), (g, g), (g, f)]);
    }
    edges.push((1, 1));
    Game {
        graph: Csr::from_edges(2 * k, &edges).unwrap(),
        owner: (0..2 * k as u32).map(|v| u32::from(v % 2 == 0 && v > 0)).collect(),
        accepting: (0..2 * k as u32).map(|v| v % 2 == 0 && v > 0).collect(),
    }
}

/// The attractor by sweeps over all nodes.
fn plain_attractor(game: &Game, player: u32, alive: &[bool], target: &[bool]) -> Vec<u32> {
    let n = game.graph.node_count();
    let mut rank: Vec<u32> = (0..n).map(|v| if alive[v] && target[v] { 0 } else { NONE }).collect();
    for round in 1.. {
        let mut new = Vec::new();
        for v in 0..n as u32 {
            if !alive[v as usize] || rank[v as usize] != NONE {
                continue;
            }
            let mut next = game.graph.neighbors(v).iter().filter(|&w| alive[w as usize]).peekable();
            if next.peek().is_none() {
                continue;
            }
            let inside = |w: u32| rank[w as usize] != NONE;
            if if game.owner[v as usize] == player { next.any(inside) } else { next.all(inside) } {
                new.push(v);
            }
        }
        if new.is_empty() {
            return rank;
        }
        for v in new {
            rank[v as usize] = round;
        }
    }
    unreachable!()
}

/// The greatest Y with Y = least X: accepting and one step before Y, or one step before X. No attractors, no removal.
fn plain_buchi(game: &Game) -> Vec<bool> {
    let n = game.graph.node_count();
    let can = |v: usize, set: &[bool]| {
        let mut next = game.graph.neighbors(v as u32).iter();
        if game.owner[v] == 0 { next.any(|w| set[w as usize]) } else { next.all(|w| set[w as usize]) }
    };
    let mut y = vec![true; n];
    loop {
        let base: Vec<bool> = (0..n).map(|v| game.accepting[v] && can(v, &y)).collect();
        let mut x = base.clone();
        loop {
            let mut changed = false;
            for v in (0..n).rev() {
                if !x[v] && can(v, &x) {
                    x[v] = true;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        if x == y {
            return y;
        }
        y = x;
    }
}

fn check_buchi(game: &Game, out: &buchi::Output) -> bool {
    let won = plain_buchi(game);
    let mut ok = (0..won.len()).all(|v| won[v] == (out.lost[v] == NONE));
    let mut order = out.order.clone();
    order.sort();
    ok &= order == (0..won.len()).filter(|&v| !won[v]).map(|v| (v as u32, out.lost[v])).collect::<Vec<_>>();
    let mut sizes = vec![0; out.report.rounds[0] as usize];
    for v in (0..won.len()).filter(|&v| !won[v]) {
        sizes[out.lost[v] as usize] += 1;
    }
    ok &= sizes == out.sizes;
    // With the choices, player 1 alone moves on: no cycle of won nodes may lack an accepting one.
    let next = |v: u32| -> Vec<u32> {
        if game.owner[v as usize] == 0 { vec![out.choice[v as usize]] } else { game.graph.neighbors(v).iter().collect() }
    };
    let n = won.len() as u32;
    let mut degree = vec![0u32; won.len()];
    for v in (0..n).filter(|&v| won[v as usize]) {
        for w in next(v) {
            if w == NONE || !won[w as usize] {
                return false;
            }
            if !game.accepting[w as usize] && !game.accepting[v as usize] {
                degree[w as usize] += 1;
            }
        }
    }
    let mut open: Vec<u32> = (0..n).filter(|&v| won[v as usize] && degree[v as usize] == 0).collect();
    let mut seen = 0;
    while let Some(v) = open.pop() {
        seen += 1;
        if game.accepting[v as usize] {
            continue;
        }
        for w in next(v) {
            if !game.accepting[w as usize] {
                degree[w as usize] -= 1;
                if degree[w as usize] == 0 {
                    open.push(w);
                }
            }
        }
    }
    ok && seen == won.iter().filter(|&&w| w).count()
}

pub fn small(runtime: &Runtime, rng: &mut Rng) -> Res<bool> {
    let mut good = true;
    for n in [1, 2, 3, 5, 8, 20, 100, 1000, 5000] {
        for k in 0..if n < 50 { 30 } else { 4 } {
            let game = if k == 3 && n > 2 { ladder(n.min(600)) } else { random(n, 1 + k % 4, rng) };
            let n = game.graph.node_count();
            let topology = attractor::Topology { graph: &game.graph, owner: &game.owner };
            let alive: Vec<bool> = (0..n).map(|_| rng.index(5) != 0).collect();
            let player = rng.index(2) as u32;
            let out = attractor::Session::new(runtime, topology)?.run(attractor::Run {
                player: &[player],
                alive: &alive,
                target: &game.accepting,
            })?;
            if out.rank != plain_attractor(&game, player, &alive, &game.accepting) {
                println!("attractor WRONG for n = {n}");
                good = false;
            }
            let topology = buchi::Topology { graph: &game.graph, owner: &game.owner, accepting: &game.accepting };
            let out = buchi::Session::new(runtime, topology)?.run(buchi::Run {})?;
            if !check_buchi(&game, &out) {
                println!("buchi WRONG for n = {n}");
                good = false;
            }
        }
    }
    for n in [1, 2, 7, 40, 300] {
        for sets in [1usize, 5, 33] {
            let mut game = random(n, 3, rng);
            let columns: Vec<Vec<bool>> = (0..sets).map(|_| (0..n).map(|_| rng.index(9) == 0).collect()).collect();
            let mut accepts = vec![0u32; n * sets.div_ceil(32)];
            for (k, column) in columns.iter().enumerate() {
                for v in (0..n).filter(|&v| column[v]) {
                    accepts[v * sets.div_ceil(32) + k / 32] |= 1 << (k % 32);
                }
            }
            let mut session =
                several::Session::new(runtime, several::Topology { graph: &game.graph, owner: &game.owner })?;
            let out = session.run(several::Run { accepts: &accepts, sets: sets as u32 })?;
            for (k, column) in columns.into_iter().enumerate() {
                game.accepting = column;
                let won = plain_buchi(&game);
                if (0..n).any(|v| won[v] != out.won.get(v as u32, k as u32))
                    || won.iter().filter(|&&w| w).count() != out.many[k] as usize
                {
                    println!("several WRONG for n = {n}, set {k} of {sets}");
                    good = false;
                }
            }
        }
    }
    Ok(good)
}

pub fn large(runtime: &Runtime, settings: &Settings, rng: &mut Rng) -> Res<bool> {
    let n = settings.size.unwrap_or(300_000);
    let game = random(n, 3, rng);
    let what = format!("{n} nodes, {} edges", game.graph.edge_count());
    let alive = vec![true; n];
    let mut session = attractor::Session::new(runtime, attractor::Topology { graph: &game.graph, owner: &game.owner })?;
    let run = attractor::Run { player: &[0], alive: &alive, target: &game.accepting };
    let (out, times) = measure(&mut session, settings, |s, out| s.run_into(run, out).map(|()| out.report.clone()))?;
    let mut good = out.rank == plain_attractor(&game, 0, &alive, &game.accepting);
    say("attractor", &what, &times, &out.report, good);
    drop(session);
    let topology = buchi::Topology { graph: &game.graph, owner: &game.owner, accepting: &game.accepting };
    let mut session = buchi::Session::new(runtime, topology)?;
    let (out, times) = measure(&mut session, settings, |s, out| s.run_into(buchi::Run {}, out).map(|()| out.report.clone()))?;
    let same = check_buchi(&game, &out);
    say("  buchi", &what, &times, &out.report, same);
    good &= same;
    Ok(good)
}
