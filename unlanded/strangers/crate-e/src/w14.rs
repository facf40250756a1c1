//! Batches, series, run_into, several sessions, `Sessions`, updates: the pass of w01 and one with outputs of all kinds.
use crate::common::*;
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(per = node)] base: [u32; 3],
        #[list(unique, reset = round)] odd: List<Node>,
        #[list(capacity = node * 2, output)] log: List<(u32, f32)>,
        #[list(capacity = node, reset = round)] tmp: List<u8>,
        #[input(per = node)] x: [u8; 2],
        #[output(per = node, init = [1, 2])] pair: [u32; 2],
        #[output(per = edge(graph), init = [true, false, true])] e3: [bool; 3],
        #[output(per = node, bits = 33, init = true)] bits: Bits,
        #[reduce(sum)] sum: u64,
        m: u32,
    }
    #[fixpoint(until(round == 1))]
    mod rounds {
        #[wave(nodes)]
        fn choose(v: Node, round: Round, m: u32, x: &[u8; 2], base: &[u32; 3], odd: &Push, tmp: &Append<u8>, log: &Append<(u32, f32)>) {
            if (u32::from(x[(round % 2) as usize]) + base[(v % 3) as usize]) % m == 0 {
                odd.push(v);
                tmp.append(x[0]);
                log.append((v * 2 + round, v as f32 + 0.5));
            }
        }
        #[wave(items(odd), after(choose))]
        fn own(v: Node, pair: &mut [u32; 2], bits: &Bits) {
            pair[0] = pair[0] * 10 + v;
            pair.swap(0, 1);
            bits.unset(v, v % 33);
        }
        #[wave(edges(graph, from = odd), after(choose))]
        fn edge(e: Edge, e3: &mut [bool; 3]) {
            e3[(e.dst % 3) as usize] ^= true;
        }
        #[wave(items(tmp), after(choose))]
        fn add(x: u8, sum: &Reduce<Sum<u64>>) {
            sum.add(u64::from(x) + 1);
        }
    }
}
type Want = (Vec<(u32, f32)>, Vec<[u32; 2]>, Vec<[bool; 3]>, Vec<u32>, u64);
fn oracle(g: &G, base: &[[u32; 3]], x: &[[u8; 2]], m: u32) -> Want {
    let (mut log, mut pair, mut e3, mut sum) = (vec![], vec![[1u32, 2]; g.n], vec![[true, false, true]; g.m()], 0);
    let mut bits = vec![u32::MAX; 2 * g.n];
    for v in 0..g.n {
        bits[2 * v + 1] = 1;
    }
    for r in 0..2 {
        sum = 0;
        let odd: Vec<bool> = (0..g.n).map(|v| (u32::from(x[v][r]) + base[v][v % 3]) % m == 0).collect();
        for v in (0..g.n).filter(|&v| odd[v]) {
            log.push((v as u32 * 2 + r as u32, v as f32 + 0.5));
            pair[v] = [pair[v][1], pair[v][0].wrapping_mul(10).wrapping_add(v as u32)];
            bits[2 * v + (v % 33) / 32] &= !(1 << (v % 33 % 32));
            sum += u64::from(x[v][0]) + 1;
        }
        for (k, e) in g.edges.iter().enumerate() {
            if odd[e.0 as usize] {
                e3[k][e.1 as usize % 3] ^= true;
            }
        }
    }
    log.sort_by(|a, b| a.0.cmp(&b.0));
    (log, pair, e3, bits, sum)
}
fn compare(what: &str, out: &p::Output, want: &Want) -> R {
    let mut log = out.log.clone();
    log.sort_by(|a, b| a.0.cmp(&b.0));
    same(&format!("{what} log"), &log, &want.0)?;
    same(&format!("{what} pair"), &out.pair, &want.1)?;
    same(&format!("{what} e3"), &out.e3, &want.2)?;
    same(&format!("{what} bits"), &out.bits.clone().into_words(), &want.3)?;
    same(&format!("{what} sum"), &out.sum, &want.4)
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    let base = |rng: &mut Rng, g: &G| -> Vec<[u32; 3]> { (0..g.n).map(|_| std::array::from_fn(|_| rng.below(100))).collect() };
    let input = |rng: &mut Rng, g: &G| -> Vec<[u8; 2]> { (0..g.n).map(|_| std::array::from_fn(|_| rng.below(256) as u8)).collect() };
    let b1 = base(rng, g);
    let g2 = random(rng, g.n + 3, g.m() + 5);
    let b2 = base(rng, &g2);
    let mut s1 = p::Session::new(rt, p::Topology { graph: &g.csr, base: &b1 }).map_err(err)?;
    let mut s2 = p::Session::new(rt, p::Topology { graph: &g2.csr, base: &b2 }).map_err(err)?;
    let mut into = p::Output::default();
    for _ in 0..2 {
        let (x1, x2, m) = (input(rng, g), input(rng, &g2), 1 + rng.below(6));
        compare("run", &s1.run(p::Run { x: &x1, m }).map_err(err)?, &oracle(g, &b1, &x1, m))?;
        s2.run_into(p::Run { x: &x2, m }, &mut into).map_err(err)?;
        compare("run_into other", &into, &oracle(&g2, &b2, &x2, m))?;
        s1.run_into(p::Run { x: &x1, m }, &mut into).map_err(err)?;
        compare("run_into", &into, &oracle(g, &b1, &x1, m))?;
        let pinned = s1.run_pinned(p::Run { x: &x1, m }).map_err(err)?;
        compare("pinned", &pinned, &oracle(g, &b1, &x1, m))?;
    }
    let xs: Vec<Vec<[u8; 2]>> = (0..6).map(|_| input(rng, g)).collect();
    for (k, x) in xs.iter().enumerate() {
        s1.submit(p::Run { x, m: if k == 3 { 0 } else { k as u32 + 1 } }, k as i32 % 3);
    }
    let batch = s1.run_batch().map_err(err)?;
    for (k, (_, out)) in batch.results.iter().enumerate() {
        match out {
            Ok(out) => compare(&format!("batch {k}"), out, &oracle(g, &b1, &xs[k], k as u32 + 1))?,
            Err(e) if k == 3 && g.n > 0 => {
                let t = e.trap().ok_or("WRONG: no trap")?;
                if t.item != Some(0) || t.kernel != "choose" {
                    return Err(format!("WRONG trap of batch {}", sign(e)));
                }
            }
            Err(e) => return Err(format!("ERROR batch {k} {e}")),
        }
        if k == 3 && g.n > 0 && out.is_ok() {
            return Err("WRONG: no trap in batch".into());
        }
    }
    let out = s1.run_series(xs.iter().map(|x| p::Run { x, m: 3 })).map_err(err)?;
    compare("series", &out, &oracle(g, &b1, &xs[5], 3))?;
    if g.n > 0 {
        let e = s1.run_series(xs.iter().enumerate().map(|(k, x)| p::Run { x, m: if k == 2 { 0 } else { 3 } })).map(|_| ()).err().ok_or("WRONG: no trap in series")?;
        let t = e.trap().ok_or("WRONG: no trap in series")?;
        if t.run.map(|r| r as usize) != Some(2) {
            return Err(format!("WRONG run of series {:?}: {}", t.run, sign(&e)));
        }
    }
    s1.update(p::Topology { graph: &g2.csr, base: &b2 }).map_err(err)?;
    let x2 = input(rng, &g2);
    compare("updated", &s1.run(p::Run { x: &x2, m: 2 }).map_err(err)?, &oracle(&g2, &b2, &x2, 2))?;
    s1.update(p::Topology { graph: &g.csr, base: &b1 }).map_err(err)?;
    compare("back", &s1.run(p::Run { x: &xs[0], m: 2 }).map_err(err)?, &oracle(g, &b1, &xs[0], 2))?;
    let mut many = p::Sessions::new(rt, [p::Topology { graph: &g.csr, base: &b1 }, p::Topology { graph: &g2.csr, base: &b2 }]).map_err(err)?;
    for _ in 0..2 {
        many.submit(0, p::Run { x: &xs[1], m: 4 }, 0);
        many.submit(1, p::Run { x: &x2, m: 5 }, 0);
        many.submit(0, p::Run { x: &xs[2], m: 1 }, 0);
        let batch = many.run_batch().map_err(err)?;
        let want = [oracle(g, &b1, &xs[1], 4), oracle(&g2, &b2, &x2, 5), oracle(g, &b1, &xs[2], 1)];
        for (k, (_, out)) in batch.results.iter().enumerate() {
            compare(&format!("sessions {k}"), out.as_ref().map_err(|e| format!("ERROR {e}"))?, &want[k])?;
        }
    }
    Ok(())
}
