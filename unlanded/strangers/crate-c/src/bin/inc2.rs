//! nested includes, in nested fixpoints, standard passes by hand, swap inside, local arrays
use vyre::prelude::*;
mod l {
    use vyre::prelude::*;
    /// doubles: jump pointers; with swap of own buffers and shared result
    #[wave_graph]
    pub mod scan {
        pub struct Data { #[input(per = n)] v: u32, #[output(per = n)] s: u32, #[scratch(per = n)] a: u32, #[scratch(per = n)] b: u32, n: u32 }
        #[wave(range(n))]
        fn copy(v: &u32, a: &mut u32) { *a += *v; }
        #[fixpoint(after(copy), until(2u32 << round >= n), swap(a, b), max_rounds = 32)]
        mod up {
            #[wave(range(n))]
            fn step(i: Index, round: Round, a: &Buf<u32>, b: &mut u32) { let d = 1 << round; *b = a[i] + if i >= d { a[i - d] } else { 0 }; }
        }
        #[wave(range(n), after(up))]
        fn fin(a: &u32, v: &u32, s: &mut u32) { *s += *a - *v; }
    }
    /// includes scan twice in a fixpoint of its own
    #[wave_graph]
    pub mod mid {
        #[include(v = x, n = n, s = once_sum)]
        pub use super::scan as first;
        pub struct Data { #[input(per = n)] x: u32, #[scratch(per = n)] once_sum: u32, #[scratch(per = n)] y: u32, #[output(per = n)] out: u32, #[reduce(count)] odd: u64, n: u32, times: u32 }
        #[wave(range(n))]
        fn start(x: &u32, y: &mut u32) { *y = *x; }
        #[fixpoint(after(start, first), until(round + 1 == times))]
        pub mod it {
            #[include(v = y, n = n)]
            pub use super::super::scan as s1;
            #[include(v = y, n = n, after(s1))]
            pub use super::super::scan as s2;
            #[wave(range(n), after(s2))]
            fn next(s1_s: &u32, s2_s: &u32, y: &mut u32, odd: &Reduce<Count>) { *y = *s1_s + *s2_s + 1; if *y % 2 == 1 { odd.inc(); } }
        }
        #[wave(range(n), after(it))]
        fn done(y: &u32, once_sum: &u32, out: &mut u32) { *out = *y + *once_sum; }
    }
}
#[wave_graph]
pub mod top {
    pub struct Data { #[input(per = n)] x: u32, #[scratch(per = n)] z: u32, #[output(per = n)] res: u32, #[output(per = 4)] odds: u64, n: u32, a: u32, b: u32, c: u32 }
    #[wave(range(n))]
    fn start(x: &u32, z: &mut u32) { *z = *x; }
    #[fixpoint(after(start), until(round + 1 == a))]
    mod o {
        #[fixpoint(until(round + 1 == b))]
        mod i {
            #[include(x = z, n = n, times = c)]
            use super::super::super::l::mid;
            #[wave(range(n), after(mid))]
            fn fold(i: Index, mid_out: &u32, z: &mut u32, o: Round) { *z = (*mid_out ^ i) % 1000 + o; }
            #[wave(once, after(mid))]
            fn odd(i: Round, mid_odd: u64, odds: &Buf<Atomic<u64>>) { odds[i % 4].fetch_add(mid_odd); }
        }
        #[wave(range(n), after(i))]
        fn add(z: &u32, mid_out: &u32, res: &mut u32) { *res += *z + *mid_out; }
    }
}
fn scan(v: &[u32]) -> Vec<u32> { let mut t = 0u32; v.iter().map(|x| { let r = t; t = t.wrapping_add(*x); r }).collect() }
fn main() {
    println!("{}", top::PLAN);
    let mut x = 12345u64;
    let mut rnd = move |n: u32| { x ^= x << 13; x ^= x >> 7; x ^= x << 17; (x % u64::from(n)) as u32 };
    for rt in [Runtime::native(), Runtime::vir0(), Runtime::native_threads(3).unwrap(), Runtime::native().with_memory(1 << 20), Runtime::vir0().with_memory(1 << 20)] {
        let mut s = top::Session::new(&rt, ()).unwrap();
        for n in [1u32, 2, 3, 17, 64, 1000, 9000, 0] {
            let (a, b, c) = (1 + rnd(3), 1 + rnd(3), 1 + rnd(3));
            let xs: Vec<u32> = (0..n).map(|_| rnd(100)).collect();
            let mut z = xs.clone(); let mut res = vec![0u32; n as usize]; let mut odds = vec![0u64; 4];
            for o in 0..a { let mut out = vec![]; for i in 0..b {
                let once = scan(&z); let mut y = z.clone(); let mut odd = 0;
                for _ in 0..c { let q = scan(&y); y = q.iter().map(|v| v.wrapping_mul(2).wrapping_add(1)).collect(); odd = y.iter().filter(|v| **v % 2 == 1).count() as u64; }
                out = y.iter().zip(&once).map(|(p, q)| p.wrapping_add(*q)).collect::<Vec<u32>>();
                odds[i as usize % 4] += odd;
                z = out.iter().enumerate().map(|(k, v)| (v ^ k as u32) % 1000 + o).collect();
              }
              for k in 0..n as usize { res[k] = res[k].wrapping_add(z[k].wrapping_add(out[k])); } }
            match s.run(top::Run { x: &xs, n, a, b, c }) {
                Ok(out) => if out.res != res || out.odds != odds { println!("BAD {rt} n {n} {a} {b} {c}: {} {:?} {:?}", out.res == res, out.odds, odds); },
                Err(e) => println!("{rt} n {n}: {e}"),
            }
        }
    }
    println!("done");
}

