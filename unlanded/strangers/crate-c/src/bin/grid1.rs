use vyre::prelude::*;
#[wave_graph]
pub mod grid {
    pub struct Data {
        #[output(per = w * h)] x: u32,
        #[output(per = w * h)] y: u32,
        #[output(per = w * h)] at: u32,
        #[output(per = w * h)] nb: u32,
        #[output(per = h * w)] own: u32,
        #[reduce(count)] n: u64,
        w: u32, h: u32, dx: i32, dy: i32,
    }
    #[device]
    fn help(c: Cell, dx: i32, dy: i32) -> u32 { c.at(dx, dy) ^ c.index }
    #[wave(range(w, h))]
    fn a(c: Cell, dx: i32, dy: i32, x: &mut u32, y: &mut u32, at: &mut u32, own: &mut u32, n: &Reduce<Count>) {
        *x = c.x; *y = c.y; *at = c.at(dx, dy); *own = help(c, dy, dx); n.inc();
    }
    #[wave(range(w, h))]
    fn b(c: Cell, nb: &Buf<Atomic<u32>>) {
        nb[c.at(1, 0)].fetch_add(1); nb[c.at(-1, 0)].fetch_add(10); nb[c.at(0, 1)].fetch_add(100); nb[c.at(0, -1)].fetch_add(1000);
        nb[c.at(-1, 1)].fetch_add(10000);
    }
}
#[wave_graph]
pub mod big {
    pub struct Data {
        #[reduce(sum)] s: u64,
        #[reduce(count)] n: u64,
        w: u32, h: u32,
    }
    #[wave(range(w, h))]
    fn a(c: Cell, s: &Reduce<Sum<u64>>, n: &Reduce<Count>) { s.add(u64::from(c.at(1, 1))); n.inc(); }
}
#[wave_graph]
pub mod lits {
    const W: u32 = 7;
    pub struct Data {
        #[topology] k: u32,
        #[output(per = 7 * k)] o: u32,
        #[output(per = 1)] one: u32,
        #[output(per = W * 3)] t: u32,
    }
    #[wave(range(7, k))]
    fn a(c: Cell, o: &mut u32) { *o = c.x * 1000 + c.y; }
    #[wave(range(1, 1))]
    fn b(c: Cell, one: &mut u32) { *one = c.at(1, 1) + c.at(-1, -1) + c.at(i32::MIN, i32::MAX); }
    #[wave(range(W, 3))]
    fn c(t: &mut u32) { *t += 1; }
}
fn at(x: u32, y: u32, w: u32, h: u32, dx: i32, dy: i32) -> u32 {
    ((i64::from(y) + i64::from(dy)).rem_euclid(i64::from(h)) * i64::from(w) + (i64::from(x) + i64::from(dx)).rem_euclid(i64::from(w))) as u32
}
fn main() {
    println!("{}", grid::PLAN);
    for rt in [Runtime::native(), Runtime::vir0(), Runtime::native_threads(3).unwrap()] {
        let mut s = grid::Session::new(&rt, ()).unwrap();
        for (w, h) in [(0, 0), (0, 5), (5, 0), (1, 1), (1, 2), (2, 1), (2, 2), (3, 5), (1, 9000), (9000, 1), (257, 65), (u32::MAX, 0), (0, u32::MAX)] {
            for (dx, dy) in [(0, 0), (1, -1), (-1, 1), (2, 2), (-2, -3), (i32::MIN, i32::MAX), (i32::MAX, i32::MIN), (1000, -1000), (i32::MIN, i32::MIN)] {
                let out = match s.run(grid::Run { w, h, dx, dy }) { Ok(o) => o, Err(e) => { println!("{w}x{h} {dx} {dy} {e}"); break; } };
                let cells: Vec<(u32, u32)> = if w == 0 || h == 0 { vec![] } else { (0..h).flat_map(|y| (0..w).map(move |x| (x, y))).collect() };
                let mut nb = vec![0; cells.len()];
                for &(x, y) in &cells { for (k, d) in [(1, (1, 0)), (10, (-1, 0)), (100, (0, 1)), (1000, (0, -1)), (10000, (-1, 1))] { nb[at(x, y, w, h, d.0, d.1) as usize] += k; } }
                let ok = [out.x == cells.iter().map(|c| c.0).collect::<Vec<_>>(), out.y == cells.iter().map(|c| c.1).collect::<Vec<_>>(),
                    out.at == cells.iter().map(|c| at(c.0, c.1, w, h, dx, dy)).collect::<Vec<_>>(),
                    out.own == cells.iter().enumerate().map(|(i, c)| at(c.0, c.1, w, h, dy, dx) ^ i as u32).collect::<Vec<_>>(), out.nb == nb, out.n == cells.len() as u64];
                if ok.contains(&false) { println!("BAD {rt} {w}x{h} {dx} {dy} {ok:?}"); }
            }
        }
        for (w, h) in [(65536, 65536), (u32::MAX, u32::MAX), (u32::MAX, 2), (1 << 16, (1 << 16) - 1), (u32::MAX, 1), (1, u32::MAX)] {
            let mut s = big::Session::new(&rt.clone().with_time_limit(Some(std::time::Duration::from_millis(300))), ()).unwrap();
            match s.run(big::Run { w, h }) { Ok(o) => println!("{w}x{h} {} {}", o.s, o.n), Err(e) => println!("{w}x{h}: {e}") }
            match grid::Session::new(&rt.clone().with_memory(1<<20), ()).unwrap().run(grid::Run { w, h, dx: 1, dy: 1 }) { Ok(_) => println!("??"), Err(e) => println!("grid {w}x{h}: {e}") }
        }
        for k in [0, 1, 3, 613566757, u32::MAX] {
            let rt = rt.clone().with_memory(1 << 20);
            match lits::Session::new(&rt, lits::Topology { k }) { Ok(mut s) => match s.run(lits::Run {}) { Ok(o) => println!("lits {k} {:?} {:?} {:?}", o.o, o.one, o.t), Err(e) => println!("lits run {k}: {e}") }, Err(e) => println!("lits {k}: {e}") }
        }
    }
    let c = std::panic::catch_unwind(|| { let c = Cell::new(0, (0, 0)); (c.x, c.y, c.at(1, 1)) }); println!("{c:?}");
    let c = std::panic::catch_unwind(|| { let c = Cell::new(100, (3, 3)); (c.x, c.y, c.at(1, 1)) }); println!("{c:?}");
    let c = std::panic::catch_unwind(|| { let c = Cell::new(4_000_000_000, (u32::MAX, 3)); (c.x, c.y, c.at(1, 1), c.at(i32::MAX, 1)) }); println!("{c:?}");
    println!("done");
}
