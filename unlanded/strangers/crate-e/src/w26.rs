//! Runs and sessions that are to be refused, with a message about what the user wrote; never a panic, never accepted.
use crate::common::*;
#[wave_graph]
pub mod len {
    pub struct Data {
        #[topology] graph: Csr,
        #[topology(per = node)] t: [u32; 2],
        #[input(per = n)] x: [f64; 3],
        #[input(per = node, bits = 33)] b: Bits,
        #[output(per = n)] y: [bool; 5],
        n: u32,
    }
    #[wave(range(n))]
    fn one(x: &[f64; 3], y: &mut [bool; 5]) {
        y[2] = x[1] > 3.0;
    }
    #[wave(nodes)]
    fn two(v: Node, t: &[u32; 2], b: &Bits) {
        assert!(t[0] < 3 || b.get(v, 0));
    }
}
#[wave_graph]
pub mod huge {
    pub struct Data {
        #[topology] graph: Csr,
        #[scratch(per = n)] s: [u8; 8],
        #[output(per = 4)] y: u64,
        n: u32,
    }
    #[wave(range(n))]
    fn one(s: &mut [u8; 8]) {
        s[7] = 1;
    }
    #[wave(range(4), after(one))]
    fn two(i: Index, s: &Buf<u8>, y: &mut u64) {
        *y = u64::from(s.len()) + u64::from(s[i]);
    }
}
#[wave_graph]
pub mod cap {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(capacity = n, reset = round)] l: List<(u64, u64)>,
        #[list(capacity = node - n)] k: List<u32>,
        #[output(per = 1)] y: u64,
        n: u32,
    }
    #[fixpoint(until(round == 1))]
    mod f {
        #[wave(nodes)]
        fn one(v: Node, l: &Append<(u64, u64)>, k: &Append<u32>) {
            l.append((1, 2));
            k.append(v);
        }
        #[wave(items(l), after(one))]
        fn two(x: (u64, u64), y: &Buf<Atomic<u64>>) {
            y[0].fetch_add(x.1);
        }
    }
}
#[wave_graph]
pub mod exact {
    const M: u32 = 3;
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, reset = round)] l: List<Node>,
        #[output(per = 1)] y: u64,
        n: u32,
    }
    #[fixpoint(until(round + 1 >= n && l.len() > 0 || l.len() == 0), max_rounds = M)]
    mod f {
        #[wave(nodes)]
        fn one(v: Node, l: &Push) {
            l.push(v);
        }
        #[wave(items(l), after(one))]
        fn two(y: &Buf<Atomic<u64>>) {
            y[0].fetch_add(1);
        }
    }
}
pub fn messages(rt: &Runtime) -> Result<Vec<String>, String> {
    let g = G::new("g", 3, vec![(0, 1), (1, 2)]);
    let mut all = vec![];
    let mut no = |what: &str, r: Result<(), Error>| match r {
        Ok(()) => Err(format!("WRONG {what} was accepted")),
        Err(e) => {
            all.push(format!("{what}: {e}"));
            Ok(())
        }
    };
    no("topology of arrays too short", len::Session::new(rt, len::Topology { graph: &g.csr, t: &[[1, 2]; 2] }).map(|_| ()))?;
    no("topology of arrays too long", len::Session::new(rt, len::Topology { graph: &g.csr, t: &[[1, 2]; 4] }).map(|_| ()))?;
    let mut s = len::Session::new(rt, len::Topology { graph: &g.csr, t: &[[1, 2]; 3] }).map_err(err)?;
    no("input of arrays too short", s.run(len::Run { x: &[[1.0; 3]; 4], b: &[1; 6], n: 5 }).map(|_| ()))?;
    no("input of arrays too long", s.run(len::Run { x: &[[1.0; 3]; 6], b: &[1; 6], n: 5 }).map(|_| ()))?;
    no("bits too few", s.run(len::Run { x: &[[1.0; 3]; 5], b: &[1; 5], n: 5 }).map(|_| ()))?;
    no("bits beyond", s.run(len::Run { x: &[[1.0; 3]; 5], b: &[2; 6], n: 5 }).map(|_| ()))?;
    s.run(len::Run { x: &[[1.0; 3]; 5], b: &[1; 6], n: 5 }).map_err(err)?;
    // Budgets.
    let small = rt.clone().with_memory(1 << 22);
    let mut s = huge::Session::new(&small, &g.csr).map_err(err)?;
    for n in [1u32 << 29, (1 << 29) + 1, u32::MAX, 1 << 28, 600_000_000] {
        no(&format!("{n} arrays of 8"), s.run(huge::Run { n }).map(|_| ()))?;
    }
    let out = s.run(huge::Run { n: 10 }).map_err(err)?;
    same("len", &out.y, &vec![80; 4])?;
    let mut s = cap::Session::new(&small, &g.csr).map_err(err)?;
    no("capacity -1", s.run(cap::Run { n: 4 }).map(|_| ()))?;
    no("capacity 3 and 0", s.run(cap::Run { n: 3 }).map(|_| ()))?;
    no("capacity 0 and 3", s.run(cap::Run { n: 0 }).map(|_| ()))?;
    let mut s = exact::Session::new(rt, &g.csr).map_err(err)?;
    same("3 rounds", &s.run(exact::Run { n: 3 }).map_err(err)?.y, &vec![9])?;
    no("4 rounds", s.run(exact::Run { n: 4 }).map(|_| ()))?;
    same("2 rounds", &s.run(exact::Run { n: 2 }).map_err(err)?.y, &vec![6])?;
    Ok(all)
}
pub fn check(rt: &Runtime, _: &mut Rng, g: &G) -> R {
    if g.name != "two nodes, double" {
        return Ok(());
    }
    let (here, there) = (messages(rt)?, messages(&Runtime::vir0())?);
    for (a, b) in here.iter().zip(&there) {
        if std::env::args().any(|a| a == "--messages") {
            println!("{a}");
        }
        if a != b {
            println!("NOTE messages differ:\n  {a}\n  {b}");
        }
    }
    Ok(())
}
