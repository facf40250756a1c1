//! Own elements of many kinds in sweeps over unique lists: rows, Row<T>, arrays, per-edge elements, bits.
use crate::common::*;
use vyre::Rows;
#[wave_graph]
pub mod p {
    pub const K: u32 = 12;
    pub struct Data {
        #[topology] graph: Csr,
        #[topology] stride: u32,
        #[topology(per = node)] text: Rows<u8>,
        #[list(unique, reset = round)] some: List<Node>,
        #[list(unique)] ever: List<Node>,
        #[output(per = row(text))] mark: u8,
        #[output(per = node * K, init = 1)] row: u32,
        #[output(per = node, init = [1.0, 2.0, 3.0, 4.0, 5.0])] five: [f64; 5],
        #[output(per = edge(graph), init = [0, 100])] e2: [i32; 2],
        #[output(per = node, bits = 70)] bits: Bits,
        #[output(per = node)] pair: (u32, bool),
        rounds: u32,
    }
    #[fixpoint(until(round + 1 == rounds))]
    mod phases {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, stride: u32, some: &Push, ever: &Push) {
            if (v + round) % stride == 0 {
                some.push(v);
                ever.push(v);
                ever.push(v);
            }
        }
        #[wave(items(some), after(choose))]
        fn own(v: Node, round: Round, text: &Row<u8>, mark: &mut Row<u8>, row: &mut [u32; K as usize], five: &mut [f64; 5], bits: &Bits, pair: &mut (u32, bool)) {
            for (k, c) in text.enumerate() {
                mark[k as u32] = mark[k as u32].wrapping_add(c);
            }
            row[((v + round) % K) as usize] += v;
            row.swap(0, (round % K) as usize);
            five[(round % 5) as usize] *= 2.0;
            bits.set(v, (v + round * 9) % 70);
            pair.0 += 1;
            pair.1 = !pair.1;
        }
        #[wave(edges(graph, from = some), after(choose))]
        fn edge(e: Edge, round: Round, e2: &mut [i32; 2]) {
            e2[0] += e.dst as i32 - e.src as i32;
            e2[1] -= (e.index % 5) as i32 + round as i32;
        }
        #[wave(items(ever), after(own))]
        fn all(v: Node, five: &Records<[f64; 5]>, pair_0: &mut u32) {
            *pair_0 += (five.get(v)[0] * 1000.0) as u32;
        }
    }
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let words: Vec<Vec<u8>> = (0..g.n).map(|_| (0..rng.below(5)).map(|_| rng.below(256) as u8).collect()).collect();
    let text = Rows::from_rows(&words).map_err(|e| e.to_string())?;
    let stride = 1 + rng.below(4);
    let mut session = p::Session::new(rt, p::Topology { graph: &g.csr, stride, text: &text }).map_err(err)?;
    for rounds in [1, 3] {
        let out = session.run(p::Run { rounds }).map_err(err)?;
        let mut mark: Vec<Vec<u8>> = words.iter().map(|w| vec![0; w.len()]).collect();
        let mut row = vec![[1u32; 12]; g.n];
        let mut five = vec![[1.0, 2.0, 3.0, 4.0, 5.0f64]; g.n];
        let mut e2 = vec![[0i32, 100]; g.m()];
        let mut bits = vec![std::collections::BTreeSet::new(); g.n];
        let mut pair = vec![(0u32, false); g.n];
        let mut ever = vec![false; g.n];
        for r in 0..rounds {
            let some = |v: u32| (v + r) % stride == 0;
            for v in (0..g.n).filter(|&v| some(v as u32)) {
                ever[v] = true;
                for k in 0..words[v].len() {
                    mark[v][k] = mark[v][k].wrapping_add(words[v][k]);
                }
                row[v][(v + r as usize) % 12] += v as u32;
                row[v].swap(0, r as usize % 12);
                five[v][r as usize % 5] *= 2.0;
                bits[v].insert((v as u32 + r * 9) % 70);
                pair[v].0 += 1;
                pair[v].1 = !pair[v].1;
            }
            for (k, &(a, b)) in g.edges.iter().enumerate() {
                if some(a) {
                    e2[k][0] += b as i32 - a as i32;
                    e2[k][1] -= (k % 5) as i32 + r as i32;
                }
            }
            for v in 0..g.n {
                if ever[v] {
                    pair[v].0 += (five[v][0] * 1000.0) as u32;
                }
            }
        }
        same("mark", &out.mark, &mark.concat())?;
        same("row", &out.row, &row.concat())?;
        same("five", &out.five, &five)?;
        same("e2", &out.e2, &e2)?;
        same("pair", &out.pair, &pair)?;
        for v in 0..g.n {
            if !out.bits.ones(v as u32).eq(bits[v].iter().copied()) {
                return Err(format!("WRONG bits of {v}"));
            }
        }
    }
    Ok(())
}
