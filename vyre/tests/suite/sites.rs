//! Every operation that can fault reports the same position natively, where rustc decides it, and in bytecode.
#![deny(warnings)]
#![allow(
    clippy::collapsible_match,
    reason = "each arm is one kind of fault, written as a statement"
)]

use vyre::prelude::*;
use vyre::{Error, Trap, TrapKind};

#[wave_graph]
mod faults {
    struct Data {
        #[topology]
        graph: Csr,
        #[frontier]
        front: Frontier,
        #[scratch(per = 4)]
        small: u32,
        #[input(per = 4)]
        given: u32,
        #[output(per = node)]
        result: u64,
        which: u32,
        zero: u32,
        low: i32,
    }

    #[device]
    fn deep(xs: &Buf<u32>, i: u32) -> u32 {
        let near = xs[0];
        near + xs[i + 70]
    }

    #[device]
    fn early(v: u32, by: u32) -> u32 {
        if v > 1000 {
            return 0;
        }
        (v + 3) / by
    }

    #[wave(nodes)]
    #[rustfmt::skip]
    fn sweep(
        v: Node,
        which: u32,
        zero: u32,
        low: i32,
        graph: &Csr,
        given: &Buf<u32>,
        small: &Buf<Atomic<u32>>,
        front: &Push,
        result: &mut u64,
    ) {
        if v != 2 {
            return;
        }
        let mut n = v;
        match which {
            0 => *result = given[v + 40] as u64,
            1 => *result = (1 + given[0] * given[given[3] + 41]) as u64,
            2 => { small[v + 42].fetch_add(1); }
            3 => { small [v + 43] .store(7); }
            4 => if small[v + 44].compare_exchange(0, 1) { n = 1; },
            5 => front.push(v + 45),
            6 => for w in graph.neighbors(v + 46) { n += w; },
            7 => for e in
                graph . edges(v + 47) { n += e; },
            8 => n = graph.degree(v + 48),
            9 => n = graph.target(v + 49),
            10 => n = (v + 1) / zero,
            11 => n = 5 + v % (zero * 2) + 3,
            12 => n /= zero,
            13 => *result %= zero as u64,
            14 => *result = (low / -1) as u64,
            15 => *result = (low % (zero as i32 - 1)) as u64,
            16 => n = deep(given, v),
            17 => n = 1 + early(v, zero),
            18 => assert!(v == zero),
            19 => assert_eq!(v, zero),
            20 => assert!(v == zero, "v is not zero"),
            21 => panic!("gone"),
            22 => { let k = { n += 1; n }; n = k + given[k * 30]; }
            23 => n = { given[v + 50] } + 1,
            24 => if v > 1 && given[v + 51] > 0 { n = 2; },
            25 => while given[n + 2] < 100 { n += 1; },
            26 => n = match given[v + 52] { 0 => 1, _ => 2 },
            27 => n = given[v + 53].min(3),
            28 => n += small[v + 54].load(),
            29 => { small[v + 55].fetch_max(given[v + 56]); }
            30 => n = -(low / zero as i32) as u32,
            31 => n = if given[0] == 7 { 1 / zero } else { 2 / zero },
            _ => {}
        }
        *result += n as u64;
    }

    #[wave(nodes, after(sweep))]
    #[rustfmt::skip]
    fn std_hides_its_caller(v: Node, which: u32, zero: u32, low: i32, given: &Buf<u32>, result: &mut u64) {
        let mut n = 1 + v;
        assert!(n < 100);
        if v == 1 && which == 32 { n += 3 + low.wrapping_div(zero as i32) as u32 + given[0]; }
        if v == 1 && which == 33 { n += (low / 7).wrapping_rem(zero as i32 * 2) as u32; }
        if v == 3 && which == 34 { n += (low as u32).wrapping_div(zero) + (low as u32).wrapping_rem(5); }
        *result += n as u64;
    }

    #[wave(nodes, after(std_hides_its_caller))]
    fn clamps(v: Node, which: u32, zero: u32, low: i32, result: &mut u64) {
        if v == 3 && which == 35 {
            *result += low.div_euclid(zero as i32) as u64;
        }
        if v == 3 && which == 36 {
            let low = zero as f32 + 2.0;
            *result += (v as f32).clamp(low, zero as f32) as u64;
        }
    }

    #[fixpoint(after(clamps), until(front.is_empty()), max_rounds = 5)]
    mod drain {
        #[wave(items(front))]
        fn visit(_v: Node, front: &Push, which: u32) {
            if which == 99 {
                front.push(0);
            }
        }
    }
}

fn trap(runtime: &Runtime, which: u32) -> Option<Trap> {
    let graph = Csr::from_edges(4, &[(0, 1), (1, 2), (2, 3)]).expect("a graph");
    let mut session = faults::Session::new(runtime, &graph).expect("it fits");
    let given = [7, 8, 9, 10];
    let run = faults::Run {
        given: &given,
        which,
        zero: 0,
        low: i32::MIN,
    };
    match session.run(run) {
        Ok(_) => None,
        Err(Error::Trap(trap)) => Some(*trap),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn faults_point_to_the_same_token_on_both_backends() {
    for which in 0..=36 {
        let native = trap(&Runtime::native(), which).expect("each of these faults");
        let vir0 = trap(&Runtime::vir0(), which).expect("each of these faults");
        assert_eq!(native, vir0, "case {which}");
        assert!(native.site.file.ends_with("sites.rs"), "{native}");
    }
    assert_eq!(trap(&Runtime::vir0(), 37), None);
    let first = trap(&Runtime::vir0(), 0).expect("it faults");
    assert_eq!(
        (first.kind, first.index, first.len),
        (TrapKind::IndexOutOfBounds, 42, 4)
    );
}
