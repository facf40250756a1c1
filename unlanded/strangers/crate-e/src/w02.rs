//! A search by a unique list alone: swept and pushed by one wave, until by its length; swept in other scopes afterwards.
use crate::common::*;
#[wave_graph]
pub mod p {
    const FAR: u32 = u32::MAX;
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(reverse_of = graph)] back: Csr,
        #[list(unique)] found: List<Node>,
        #[output(per = node, init = FAR)] level: u32,
        #[output(per = node, init = [9, 1])] mark: [u32; 2],
        #[output(per = edge(graph))] used: u8,
        #[reduce(or)] changed: bool,
        #[reduce(sum)] inward: u64,
        #[reduce(count)] sweeps: u64,
        source: u32,
        enough: u32,
    }
    #[wave(once)]
    fn begin(source: u32, found: &Push, level: &Buf<Atomic<u32>>) {
        if source < level.len() {
            found.push(source);
            level[source].store(0);
        }
    }
    #[fixpoint(after(begin), until(!changed || found.len() >= enough))]
    mod grow {
        #[wave(edges(graph, from = found))]
        fn step(e: Edge, round: Round, level: &Buf<Atomic<u32>>, found: &Push, changed: &Reduce<Or<bool>>) {
            if level[e.dst].compare_exchange(FAR, round + 1) {
                found.push(e.dst);
                changed.or(true);
            }
        }
    }
    #[fixpoint(after(grow), until(round == 2))]
    mod again {
        #[wave(items(found))]
        fn number(v: Node, again: Round, mark: &mut [u32; 2]) {
            mark[(again % 2) as usize] += v + again;
        }
        #[wave(edges(graph, from = found))]
        fn touch(e: Edge, used: &mut u8) {
            *used += (e.index % 7) as u8;
        }
    }
    #[wave(edges(back, from = found), after(grow))]
    fn count_in(e: Edge, inward: &Reduce<Sum<u64>>) {
        inward.add(u64::from(e.dst) + 1);
    }
    #[wave(items(found), after(again))]
    fn count(sweeps: &Reduce<Count>) {
        sweeps.inc();
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
    for enough in [u32::MAX, 1, 3, 20] {
        let source = rng.below(g.n as u32);
        let out = session.run(p::Run { source, enough }).map_err(err)?;
        let (mut level, mut rounds) = (vec![u32::MAX; g.n], 0u32);
        if g.n > 0 {
            level[source as usize] = 0;
        }
        loop {
            let mut new = vec![];
            for &(a, b) in &g.edges {
                if level[a as usize] != u32::MAX && level[b as usize] == u32::MAX {
                    new.push(b);
                }
            }
            rounds += 1;
            let changed = !new.is_empty();
            for b in new {
                level[b as usize] = rounds;
            }
            let len = level.iter().filter(|&&l| l != u32::MAX).count() as u32;
            if !changed || len >= enough {
                break;
            }
        }
        same("level", &out.level, &level)?;
        let inside = |v: u32| level[v as usize] != u32::MAX;
        let mark: Vec<[u32; 2]> =
            (0..g.n as u32).map(|v| if inside(v) { [9 + v + v + 2, 1 + v + 1] } else { [9, 1] }).collect();
        same("mark", &out.mark, &mark)?;
        let used: Vec<u8> =
            g.edges.iter().enumerate().map(|(k, e)| if inside(e.0) { 3 * (k % 7) as u8 } else { 0 }).collect();
        same("used", &out.used, &used)?;
        same("inward", &out.inward, &g.edges.iter().filter(|e| inside(e.1)).map(|e| u64::from(e.0) + 1).sum())?;
        same("sweeps", &out.sweeps, &((0..g.n as u32).filter(|&v| inside(v)).count() as u64))?;
        same("rounds", &out.report.rounds, &vec![rounds.into(), 3])?;
    }
    Ok(())
}
