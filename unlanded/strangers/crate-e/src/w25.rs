//! Arrays of grids, of values of rows, of computed lengths; swap of them in an inner fixpoint; flat uses; bool arrays flat.
use crate::common::*;
use vyre::Rows;
#[wave_graph]
pub mod p {
    pub const N: usize = 4;
    const ONE: usize = N - 3;
    const BEGIN: [f32; 2] = [f32::INFINITY, -0.0];
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(per = node)] text: Rows<i64>,
        #[topology(per = row(text))] pairs: [bool; 2],
        #[output(per = row(text))] outs: [i64; 3],
        #[output(per = w * h, init = BEGIN)] now: [f32; 2],
        #[output(per = w * h, init = [1.0, 2.0])] next: [f32; 2],
        #[input(per = w * h)] start: [u8; N],
        #[output(per = (w * h).div_ceil(4) + 1)] quarter: [u64; ONE],
        #[input(per = edge(graph) * 2)] be: [bool; 3],
        #[output(per = 2)] trues: [u32; 2],
        #[output(per = node)] hits: u32,
        w: u32,
        h: u32,
        rounds: u32,
        outer: u32,
    }
    #[wave(range(w, h))]
    fn begin(start: &[u8; N], now: &mut [f32; 2]) {
        for x in start.iter() {
            now[1] += f32::from(*x);
        }
        now[0] = f32::from(start[N - 1]).min(now[0]);
    }
    #[fixpoint(after(begin), until(round + 1 == outer))]
    mod again {
        #[fixpoint(until(round + 1 == rounds), swap(now, next))]
        mod steps {
            #[wave(range(w, h))]
            fn step(c: Cell, now: &Records<[f32; 2]>, next: &mut [f32; 2]) {
                let right = now.get(c.at(1, 0));
                let up = now.get(c.at(0, -1));
                *next = [right[0] + up[1] * 0.5, now.get(c.index)[1] - right[1]];
                next.swap(0, (c.x % 2) as usize);
            }
        }
    }
    #[wave(range(w * h), after(again))]
    fn sum(i: Index, now: &Buf<f32>, quarter: &Buf<Atomic<u64>>) {
        quarter[i / 4].fetch_add(u64::from(now[i * 2].to_bits() & 0xffff) + u64::from(now[i * 2 + 1].to_bits() & 0xffff));
    }
    #[wave(range(row(text)))]
    fn value(i: Index, pairs: &[bool; 2], outs: &mut [i64; 3]) {
        outs[0] = i64::from(i);
        outs[1 + usize::from(pairs[0])] = if pairs[1] { -5 } else { 6 };
    }
    #[wave(range(edge(graph) * 2))]
    fn count(be: &[bool; 3], trues: &Buf<Atomic<u32>>) {
        let mut k = 0u32;
        for &b in be.iter() {
            k += u32::from(b);
        }
        trues[0].fetch_add(k);
        if *be == [true, false, true] {
            trues[3].fetch_add(1);
        }
        if *be < [true, false, false] {
            trues[2].fetch_add(1);
        }
    }
    #[wave(edges(graph))]
    fn flat(e: Edge, be: &Buf<bool>, hits: &Buf<Atomic<u32>>) {
        if be[e.index * 6 + 4] {
            hits[e.src].fetch_add(1);
        }
        assert!(be.len() % 6 == 0);
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let words: Vec<Vec<i64>> = (0..g.n).map(|_| (0..rng.below(4)).map(|_| rng.next() as i64).collect()).collect();
    let text = Rows::from_rows(&words).map_err(|e| e.to_string())?;
    let values = words.concat().len();
    let pairs: Vec<[bool; 2]> = (0..values).map(|_| std::array::from_fn(|_| rng.below(2) == 0)).collect();
    let mut session = p::Session::new(rt, p::Topology { graph: &g.csr, text: &text, pairs: &pairs }).map_err(err)?;
    for (w, h) in [(0u32, 5u32), (1, 1), (7, 3), (1, 9)] {
        let size = (w * h) as usize;
        let (rounds, outer) = (1 + rng.below(3), 1 + rng.below(2));
        let start: Vec<[u8; 4]> = (0..size).map(|_| std::array::from_fn(|_| rng.below(200) as u8)).collect();
        let be: Vec<[bool; 3]> = (0..2 * g.m()).map(|_| std::array::from_fn(|_| rng.below(2) == 0)).collect();
        let out = session.run(p::Run { start: &start, be: &be, w, h, rounds, outer }).map_err(err)?;
        let mut now = vec![[f32::INFINITY, -0.0f32]; size];
        let mut next = vec![[1.0f32, 2.0]; size];
        for i in 0..size {
            for x in start[i] {
                now[i][1] += f32::from(x);
            }
            now[i][0] = f32::from(start[i][3]).min(now[i][0]);
        }
        for _ in 0..outer * rounds {
            for y in 0..h {
                for x in 0..w {
                    let i = (y * w + x) as usize;
                    let right = now[(y * w + (x + 1) % w) as usize];
                    let up = now[((y + h - 1) % h * w + x) as usize];
                    next[i] = [right[0] + up[1] * 0.5, now[i][1] - right[1]];
                    next[i].swap(0, (x % 2) as usize);
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        let mut quarter = vec![[0u64]; size.div_ceil(4) + 1];
        for i in 0..size {
            quarter[i / 4][0] += u64::from(now[i][0].to_bits() & 0xffff) + u64::from(now[i][1].to_bits() & 0xffff);
        }
        same("now", &out.now, &now)?;
        same("next", &out.next, &next)?;
        same("quarter", &out.quarter, &quarter)?;
        let outs: Vec<[i64; 3]> = (0..values)
            .map(|i| {
                let mut o = [i as i64, 0, 0];
                o[1 + usize::from(pairs[i][0])] = if pairs[i][1] { -5 } else { 6 };
                o
            })
            .collect();
        same("outs", &out.outs, &outs)?;
        let t: u32 = be.iter().flatten().map(|&b| u32::from(b)).sum();
        let t2 = be.iter().filter(|b| **b < [true, false, false]).count() as u32;
        let t3 = be.iter().filter(|b| **b == [true, false, true]).count() as u32;
        same("trues", &out.trues, &vec![[t, 0], [t2, t3]])?;
        let mut hits = vec![0u32; g.n];
        for (k, e) in g.edges.iter().enumerate() {
            hits[e.0 as usize] += u32::from(be[2 * k + 1][1]);
        }
        same("hits", &out.hits, &hits)?;
    }
    Ok(())
}
