//! A list that is not reset: lengths in inner and outer conditions, items(.., new) in two scopes, all at the end.
use crate::common::*;
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(capacity = cap, output)] log: List<(u32, u32, bool)>,
        #[list(unique)] seen: List<Node>,
        #[output(per = node)] newly: u32,
        #[output(per = node)] inner_new: u32,
        #[output(per = node)] all: u32,
        #[output(per = 4)] len: u32,
        cap: u32,
        step: u32,
        limit: u32,
    }
    #[fixpoint(until(log.len() >= limit || round + 1 == 6))]
    mod outer {
        #[fixpoint(until(log.len() >= outer * step || round + 1 == 3))]
        mod inner {
            #[wave(nodes)]
            fn note(v: Node, outer: Round, inner: Round, log: &Append<(u32, u32, bool)>, seen: &Push) {
                if (v + outer * 2 + inner) % 7 < 2 {
                    log.append((v, outer * 10 + inner, v % 2 == 0));
                    seen.push(v);
                }
            }
            #[wave(items(log, new), after(note))]
            fn fresh(x: (u32, u32, bool), inner_new: &Buf<Atomic<u32>>) {
                inner_new[x.0].fetch_add(x.1 + u32::from(x.2) * 1000);
            }
        }
        #[wave(items(log, new), after(inner))]
        fn fresh_too(x: (u32, u32, bool), newly: &Buf<Atomic<u32>>) {
            newly[x.0].fetch_add(x.1 + 1);
        }
    }
    #[wave(items(log), after(outer))]
    fn every(x: (u32, u32, bool), all: &Buf<Atomic<u32>>) {
        all[x.0].fetch_add(x.1 + 3);
    }
    #[wave(items(seen), after(outer))]
    fn count(v: Node, len: &Buf<Atomic<u32>>) {
        len[v % 4].fetch_add(1);
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let mut session = p::Session::new(rt, &g.csr).map_err(err)?;
    let mut into = p::Output::default();
    for _ in 0..4 {
        let (step, limit) = (rng.below(g.n as u32 / 2 + 2), rng.below(g.n as u32 * 3 + 1));
        let mut log = vec![];
        for o in 0..6 {
            for i in 0..3 {
                for v in 0..g.n as u32 {
                    if (v + o * 2 + i) % 7 < 2 {
                        log.push((v, o * 10 + i, v % 2 == 0));
                    }
                }
                if log.len() as u32 >= o * step {
                    break;
                }
            }
            if log.len() as u32 >= limit {
                break;
            }
        }
        let run = p::Run { cap: log.len() as u32, step, limit };
        if !log.is_empty() {
            let e = session.run(p::Run { cap: 0, ..run }).map(|_| ()).err().ok_or("WRONG: a capacity of 0 is enough")?;
            if !e.trap().is_some_and(|t| t.len == 0 && t.index > 0) {
                return Err(format!("WRONG trap {}", sign(&e)));
            }
            let e = session.run_into(p::Run { cap: run.cap - 1, ..run }, &mut into).err().ok_or("WRONG: too small a capacity is enough")?;
            if !e.trap().is_some_and(|t| t.len == u64::from(run.cap) - 1) || !into.log.is_empty() || !into.all.is_empty() {
                return Err(format!("WRONG trap {} or output not empty", sign(&e)));
            }
        }
        session.run_into(run, &mut into).map_err(err)?;
        let out = &mut into;
        out.log.sort();
        log.sort();
        same("log", &out.log, &log)?;
        let mut want = [vec![0u32; g.n], vec![0u32; g.n], vec![0u32; g.n]];
        let mut seen = vec![false; g.n];
        for &(v, x, even) in &log {
            let v = v as usize;
            seen[v] = true;
            want[0][v] += x + u32::from(even) * 1000;
            want[1][v] += x + 1;
            want[2][v] += x + 3;
        }
        same("inner_new", &out.inner_new, &want[0])?;
        same("newly", &out.newly, &want[1])?;
        same("all", &out.all, &want[2])?;
        let len: Vec<u32> = (0..4).map(|k| (k..g.n).step_by(4).filter(|&v| seen[v]).count() as u32).collect();
        same("len", &out.len, &len)?;
    }
    Ok(())
}
