use vyre::prelude::*;
#[wave_graph]
pub mod r {
    pub struct Data {
        #[output(per = 64)] log: u32,
        #[output(per = 1)] at: u32,
        #[reduce(sum)] s: u32,
        #[reduce(min)] lo: i32,
        #[reduce(max)] hi: i64,
        #[reduce(or)] fl: bool,
        #[reduce(and)] an: u32,
        a: u32, b: u32, c: u32,
    }
    #[fixpoint(until(x + 1 == a), max_rounds = 50)]
    mod x {
        #[fixpoint(until(y >= x && y + 1 >= b || s == s.before), max_rounds = 50)]
        mod y {
            #[wave(once)]
            fn add(x: Round, y: Round, s: &Reduce<Sum<u32>>, c: u32) { s.add((x + y).min(c)); }
            #[fixpoint(until(z + y + x >= c), max_rounds = 50)]
            mod z {
                #[wave(once)]
                fn w(x: Round, y: Round, z: Round, round: Round, log: &Buf<Atomic<u32>>, at: &Buf<Atomic<u32>>) {
                    assert!(round == z);
                    let k = at[0].fetch_add(1);
                    log[k % 64].store(x * 10000 + y * 100 + z);
                }
            }
        }
    }
}
#[wave_graph]
pub mod before {
    pub struct Data {
        #[input(per = 8)] v: i32,
        #[output(per = 4)] n: u32,
        #[reduce(min)] lo: i32,
        #[reduce(max)] hi: i64,
        #[reduce(or)] fl: bool,
        #[reduce(and)] an: u32,
    }
    #[fixpoint(until(lo == lo.before || round == 7), max_rounds = 20)]
    mod a { #[wave(once)] fn w(a: Round, v: &Buf<i32>, lo: &Reduce<Min<i32>>, n: &Buf<Atomic<u32>>) { lo.min(v[a]); n[0].fetch_add(1); } }
    #[fixpoint(until(hi <= hi.before || round == 7), max_rounds = 20, after(a))]
    mod b { #[wave(once)] fn w(b: Round, v: &Buf<i32>, hi: &Reduce<Max<i64>>, n: &Buf<Atomic<u32>>) { hi.max(i64::from(v[b])); n[1].fetch_add(1); } }
    #[fixpoint(until(fl == fl.before || round == 7), max_rounds = 20, after(b))]
    mod c { #[wave(once)] fn w(c: Round, v: &Buf<i32>, fl: &Reduce<Or<bool>>, n: &Buf<Atomic<u32>>) { fl.or(v[c] > 0); n[2].fetch_add(1); } }
    #[fixpoint(until(an == an.before || round == 7), max_rounds = 20, after(c))]
    mod d { #[wave(once)] fn w(d: Round, v: &Buf<i32>, an: &Reduce<And<u32>>, n: &Buf<Atomic<u32>>) { an.and(v[d] as u32); n[3].fetch_add(1); } }
}
fn main() {
    println!("{}", r::PLAN);
    let mut q = 777u64;
    let mut rnd = move |n: u32| { q ^= q << 13; q ^= q >> 7; q ^= q << 17; (q % u64::from(n)) as u32 };
    for rt in [Runtime::native(), Runtime::vir0(), Runtime::native_threads(2).unwrap()] {
        let mut s = r::Session::new(&rt, ()).unwrap();
        for a in 1..4 { for b in 0..4 { for c in 0..5 {
            let out = s.run(r::Run { a, b, c }).unwrap();
            let mut log = vec![0; 64]; let mut at = 0; let mut rounds = [0u64; 3]; let mut last = 0;
            for x in 0.. { rounds[0] += 1; let mut before = 0; for y in 0.. { rounds[1] += 1; let sv = (x + y).min(c); for z in 0.. { rounds[2] += 1; log[at % 64] = x * 10000 + y * 100 + z; at += 1; if z + y + x >= c { break; } }
                last = sv; if y >= x && y + 1 >= b || sv == before { break; } before = sv; } if x + 1 == a { break; } }
            if out.log != log || out.at != [at as u32] || out.s != last || out.report.rounds != rounds { println!("BAD {rt} {a} {b} {c} {:?} {:?} {} {} {:?} {:?}", out.log, log, out.s, last, out.report.rounds, rounds); }
        } } }
        println!("{:?}", s.run(r::Run { a: 0, b: 1, c: 1 }).map(|_| ()).map_err(|e| e.to_string()));
        println!("{:?}", s.run(r::Run { a: 1, b: 1, c: 100 }).map(|_| ()).map_err(|e| e.to_string()));
        let mut s = before::Session::new(&rt, ()).unwrap();
        for _ in 0..200 {
            let v: Vec<i32> = (0..8).map(|_| [0, 1, -1, i32::MAX, i32::MIN, 5][rnd(6) as usize]).collect();
            let out = s.run(before::Run { v: &v }).unwrap();
            let mut n = vec![0; 4];
            let mut p = i32::MAX; for k in 0..8 { n[0] += 1; if v[k] == p { break; } p = v[k]; }
            let mut p = i64::MIN; for k in 0..8 { n[1] += 1; if i64::from(v[k]) <= p { break; } p = i64::from(v[k]); }
            let mut p = false; for k in 0..8 { n[2] += 1; if (v[k] > 0) == p { break; } p = v[k] > 0; }
            let mut p = u32::MAX; for k in 0..8 { n[3] += 1; if v[k] as u32 == p { break; } p = v[k] as u32; }
            if out.n != n { println!("BAD before {rt} {v:?} {:?} {:?}", out.n, n); }
        }
    }
    println!("done");
}
