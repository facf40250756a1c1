//! Random programs against an interpreter of the same (see ir.rs). Written by fuzz.py.
#![allow(clippy::all, unused_variables)]
#[path = "../common.rs"]
mod common;
#[path = "../ir.rs"]
mod ir;
use common::*;
pub mod g00 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l1: List<u32>,
            #[list(unique)] l2: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 2],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [2, 1, 2, 1])] s: [u32; 4],
            #[scratch(per = node, bits = 7)] b: Bits,
            #[output(per = edge(graph), init = [0])] e: [u32; 1],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 1))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, b: &Bits, acc: &Buf<Atomic<u64>>, l1: &Append<u32>, l0: &Push) {
                let h = mix(v, f0, 0, 0, 656024911);
                if h % 3 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 3); }
                let h = mix(v, f0, 0, 0, 846394496);
                if h % 2 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 44428902);
                if h % 9 < 1 { l0.push(v); }
            }
            #[wave(edges(graph, from = l0), after(w0))]
            fn w1(at: Edge, f0: Round, e: &mut [u32; 1], acc: &Buf<Atomic<u64>>, l1: &Append<u32>) {
                let h = mix(at.index, f0, 0, 0, 937618631);
                if h % 4 < 2 { e[0] = e[0] * 3 + 6 + h % 7; }
                let h = mix(at.index, f0, 0, 0, 381977524);
                if h % 2 < 1 { acc[at.dst].fetch_add(u64::from(h % 1000) + 5); }
                let h = mix(at.index, f0, 0, 0, 792234177);
                if h % 2 < 1 { e[0] = e[0] * 3 + 1 + h % 7; }
                let h = mix(at.index, f0, 0, 0, 493002326);
                if h % 4 < 1 { l1.append(at.dst + h % 3); }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 1 || l2.len() >= 31))]
        mod f1 {
            #[wave(nodes)]
            fn w2(v: Node, f1: Round, s: &[u32; 4], o: &mut [u64; 2], l2: &Push, l1: &Append<u32>, l0: &Push) {
                let h = mix(v, f1, 0, 0, 242933875);
                if h % 1 < 1 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[1])); }
                let h = mix(v, f1, 0, 0, 532158006);
                if h % 5 < 5 { l2.push(v); }
                let h = mix(v, f1, 0, 0, 568016222);
                if h % 6 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f1, 0, 0, 619592888);
                if h % 2 < 1 { l0.push(v); }
            }
            #[fixpoint(after(w2), until(round + 1 == 3))]
            mod f2 {
                #[wave(nodes)]
                fn w3(v: Node, f1: Round, f2: Round, l0: &Push, l2: &Push, s: &[u32; 4], o: &mut [u64; 2], l1: &Append<u32>) {
                    let h = mix(v, f1, f2, 0, 493437165);
                    if h % 1 < 1 { l0.push(v); }
                    let h = mix(v, f1, f2, 0, 729473764);
                    if h % 3 < 1 { l2.push(v); }
                    let h = mix(v, f1, f2, 0, 256523593);
                    if h % 5 < 1 { l2.push(v); }
                    let h = mix(v, f1, f2, 0, 723460334);
                    if h % 1 < 1 { o[1] = o[1].wrapping_mul(3).wrapping_add(u64::from(s[1])); }
                    let h = mix(v, f1, f2, 0, 289473040);
                    if h % 6 < 1 { l1.append(v + h % 3); }
                    let h = mix(v, f1, f2, 0, 396206820);
                    if h % 5 < 1 { l0.push(v); }
                }
                #[wave(items(l1), after(w3))]
                fn w4(x: u32, f1: Round, f2: Round, n: u32, l1: &Append<u32>, l0: &Push, acc: &Buf<Atomic<u64>>) {
                    let h = mix(x, f1, f2, 0, 400485679);
                    if h % 3 < 2 { l0.push(x % n); }
                    let h = mix(x, f1, f2, 0, 967250337);
                    if h % 2 < 1 { l1.append(x % n + h % 3); }
                    let h = mix(x, f1, f2, 0, 299400390);
                    if h % 1 < 1 { acc[x % n].fetch_add(u64::from(h % 1000) + 7); }
                    let h = mix(x, f1, f2, 0, 996892124);
                    if h % 2 < 2 { l0.push(x % n); }
                }
                #[wave(nodes, after(w4))]
                fn w5(v: Node, f1: Round, f2: Round, l1: &Append<u32>) {
                    let h = mix(v, f1, f2, 0, 309575450);
                    if h % 3 < 3 { l1.append(v + h % 3); }
                }
                #[fixpoint(after(w3, w4, w5), until(round + 1 == 1 || l2.len() >= 7))]
                mod f3 {
                    #[wave(items(l1))]
                    fn w6(x: u32, f1: Round, f2: Round, f3: Round, n: u32, l1: &Append<u32>, l0: &Push, l2: &Push, acc: &Buf<Atomic<u64>>) {
                        let h = mix(x, f1, f2, f3, 253104271);
                        if h % 5 < 1 { l0.push(x % n); }
                        let h = mix(x, f1, f2, f3, 979076274);
                        if h % 5 < 4 { l1.append(x % n + h % 3); }
                        let h = mix(x, f1, f2, f3, 581010362);
                        if h % 1 < 1 { l2.push(x % n); }
                        let h = mix(x, f1, f2, f3, 767385844);
                        if h % 2 < 1 { acc[x % n].fetch_add(u64::from(h % 1000) + 4); }
                    }
                    #[wave(edges(graph, from = l0), after(w6))]
                    fn w7(at: Edge, f1: Round, f2: Round, f3: Round, l0: &Push, l1: &Append<u32>, e: &mut [u32; 1]) {
                        let h = mix(at.index, f1, f2, f3, 201716794);
                        if h % 5 < 3 { l0.push(at.src); }
                        let h = mix(at.index, f1, f2, f3, 915548674);
                        if h % 3 < 3 { l1.append(at.dst + h % 3); }
                        let h = mix(at.index, f1, f2, f3, 92105359);
                        if h % 1 < 1 { e[0] = e[0] * 3 + 1 + h % 7; }
                    }
                }
            }
            #[wave(items(l2), after(w2, f2))]
            fn w8(v: Node, f1: Round, acc: &Buf<Atomic<u64>>, l1: &Append<u32>, b: &Bits) {
                let h = mix(v, f1, 0, 0, 958198642);
                if h % 3 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 8); }
                let h = mix(v, f1, 0, 0, 882168426);
                if h % 3 < 2 { l1.append(v + h % 3); }
                let h = mix(v, f1, 0, 0, 883186326);
                if h % 2 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 3); }
            }
            #[wave(items(l0), after(w2, f2, w8))]
            fn w9(v: Node, f1: Round, l0: &Push, acc: &Buf<Atomic<u64>>, s: &[u32; 4], o: &mut [u64; 2], l2: &Push) {
                let h = mix(v, f1, 0, 0, 783053354);
                if h % 4 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 8); }
                let h = mix(v, f1, 0, 0, 972967415);
                if h % 3 < 3 { l0.push(v); }
                let h = mix(v, f1, 0, 0, 704583000);
                if h % 4 < 4 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[1])); }
                let h = mix(v, f1, 0, 0, 953481601);
                if h % 5 < 1 { l2.push(v); }
            }
        }
        #[wave(nodes, after(f0, f1))]
        fn w10(v: Node, b: &Bits, acc: &Buf<Atomic<u64>>, l0: &Push, l1: &Append<u32>, l2: &Push) {
            let h = mix(v, 0, 0, 0, 296017738);
            if h % 5 < 4 { acc[v].fetch_add(u64::from(b.count(v)) * 8); }
            let h = mix(v, 0, 0, 0, 709567452);
            if h % 5 < 1 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 831022853);
            if h % 8 < 1 { l1.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 760891142);
            if h % 6 < 1 { l2.push(v); }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 2]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 1], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (false, None), (true, None)], frontier: None,
            no: 2, ns: 4, ne: 1, bw: 7, binit: false, sinit: vec![2, 1, 2, 1], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitCount, m: 3, t: 2, salt: 656024911, who: Who::V, k: 6, c: 3 }, St { op: Op::Push(1), m: 2, t: 1, salt: 846394496, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 9, t: 1, salt: 44428902, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::OwnE, m: 4, t: 2, salt: 937618631, who: Who::Src, k: 2, c: 6 }, St { op: Op::Acc, m: 2, t: 1, salt: 381977524, who: Who::Dst, k: 1, c: 5 }, St { op: Op::OwnE, m: 2, t: 1, salt: 792234177, who: Who::Dst, k: 4, c: 1 }, St { op: Op::Push(1), m: 4, t: 1, salt: 493002326, who: Who::Dst, k: 2, c: 6 }] })] }), It::F(Fix { id: 1, times: 1, ask: Some((2, 31, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::ReadS, m: 1, t: 1, salt: 242933875, who: Who::V, k: 2, c: 1 }, St { op: Op::Push(2), m: 5, t: 5, salt: 532158006, who: Who::V, k: 0, c: 7 }, St { op: Op::Push(1), m: 6, t: 1, salt: 568016222, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 2, t: 1, salt: 619592888, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 2, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 493437165, who: Who::V, k: 3, c: 5 }, St { op: Op::Push(2), m: 3, t: 1, salt: 729473764, who: Who::V, k: 6, c: 7 }, St { op: Op::Push(2), m: 5, t: 1, salt: 256523593, who: Who::V, k: 4, c: 7 }, St { op: Op::ReadS, m: 1, t: 1, salt: 723460334, who: Who::V, k: 7, c: 1 }, St { op: Op::Push(1), m: 6, t: 1, salt: 289473040, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 5, t: 1, salt: 396206820, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(0), m: 3, t: 2, salt: 400485679, who: Who::V, k: 7, c: 6 }, St { op: Op::Push(1), m: 2, t: 1, salt: 967250337, who: Who::V, k: 4, c: 5 }, St { op: Op::Acc, m: 1, t: 1, salt: 299400390, who: Who::V, k: 1, c: 7 }, St { op: Op::Push(0), m: 2, t: 2, salt: 996892124, who: Who::V, k: 2, c: 3 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 3, t: 3, salt: 309575450, who: Who::V, k: 0, c: 2 }] }), It::F(Fix { id: 3, times: 1, ask: Some((2, 7, false)), items: vec![It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(0), m: 5, t: 1, salt: 253104271, who: Who::V, k: 3, c: 8 }, St { op: Op::Push(1), m: 5, t: 4, salt: 979076274, who: Who::V, k: 4, c: 7 }, St { op: Op::Push(2), m: 1, t: 1, salt: 581010362, who: Who::V, k: 1, c: 4 }, St { op: Op::Acc, m: 2, t: 1, salt: 767385844, who: Who::V, k: 5, c: 4 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(0), m: 5, t: 3, salt: 201716794, who: Who::Src, k: 7, c: 8 }, St { op: Op::Push(1), m: 3, t: 3, salt: 915548674, who: Who::Dst, k: 1, c: 4 }, St { op: Op::OwnE, m: 1, t: 1, salt: 92105359, who: Who::Dst, k: 1, c: 1 }] })] })] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Acc, m: 3, t: 3, salt: 958198642, who: Who::V, k: 0, c: 8 }, St { op: Op::Push(1), m: 3, t: 2, salt: 882168426, who: Who::V, k: 4, c: 7 }, St { op: Op::BitCount, m: 2, t: 2, salt: 883186326, who: Who::V, k: 1, c: 3 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Acc, m: 4, t: 3, salt: 783053354, who: Who::V, k: 6, c: 8 }, St { op: Op::Push(0), m: 3, t: 3, salt: 972967415, who: Who::V, k: 1, c: 3 }, St { op: Op::ReadS, m: 4, t: 4, salt: 704583000, who: Who::V, k: 4, c: 1 }, St { op: Op::Push(2), m: 5, t: 1, salt: 953481601, who: Who::V, k: 2, c: 6 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitCount, m: 5, t: 4, salt: 296017738, who: Who::V, k: 6, c: 8 }, St { op: Op::Push(0), m: 5, t: 1, salt: 709567452, who: Who::V, k: 4, c: 1 }, St { op: Op::Push(1), m: 8, t: 1, salt: 831022853, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 6, t: 1, salt: 760891142, who: Who::V, k: 0, c: 1 }] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g01 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l1: List<u32>,
            #[list(unique)] l2: List<Node>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 3],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [1, 4, 1, 1, 9, 2, 6, 8], reset = round)] s: [u32; 8],
            #[scratch(per = node, bits = 7)] b: Bits,
            #[output(per = edge(graph), init = [0, 1, 2, 3, 4, 5, 6, 7])] e: [u32; 8],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 1))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, acc: &Buf<Atomic<u64>>, l2: &Push, l0: &Push) {
                let h = mix(v, f0, 0, 0, 859434297);
                if h % 4 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 1); }
                let h = mix(v, f0, 0, 0, 727266790);
                if h % 5 < 3 { l2.push(v); }
                let h = mix(v, f0, 0, 0, 836315605);
                if h % 5 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 797805060);
                if h % 4 < 1 { l2.push(v); }
            }
            #[fixpoint(after(w0), until(round + 1 == 2))]
            mod f1 {
                #[fixpoint(until(round + 1 == 1 || lf.len() >= 6))]
                mod f2 {
                    #[wave(nodes)]
                    fn w1(v: Node, f0: Round, f1: Round, f2: Round, l0: &Push, b: &Bits, l1: &Append<u32>) {
                        let h = mix(v, f0, f1, f2, 714215694);
                        if h % 4 < 3 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 294736109);
                        if h % 5 < 1 { b.set(v, h % 7); }
                        let h = mix(v, f0, f1, f2, 939790981);
                        if h % 3 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 665319233);
                        if h % 8 < 1 { l1.append(v + h % 3); }
                    }
                    #[wave(edges(graph, from = l0), after(w1))]
                    fn w2(at: Edge, f0: Round, f1: Round, f2: Round, l0: &Push, l1: &Append<u32>) {
                        let h = mix(at.index, f0, f1, f2, 462884563);
                        if h % 5 < 3 { l1.append(at.src + h % 3); }
                        let h = mix(at.index, f0, f1, f2, 42661339);
                        if h % 4 < 3 { l0.push(at.dst); }
                        let h = mix(at.index, f0, f1, f2, 703234607);
                        if h % 3 < 2 { l0.push(at.dst); }
                    }
                    #[wave(items(lf), after(w1))]
                    fn w3(v: Node, f0: Round, f1: Round, f2: Round, o: &mut [u64; 3], b: &Bits, acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f0, f1, f2, 212631903);
                        if h % 2 < 2 { o[(h % 3) as usize] += 8 + u64::from(h % 17); }
                        let h = mix(v, f0, f1, f2, 634820055);
                        if h % 4 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 1); }
                    }
                }
                #[fixpoint(after(f2), until(round + 1 == 2 || l0.len() >= 15))]
                mod f3 {
                    #[wave(nodes)]
                    fn w4(v: Node, f0: Round, f1: Round, f3: Round, s: &[u32; 8], o: &mut [u64; 3], l0: &Push, l2: &Push, l1: &Append<u32>) {
                        let h = mix(v, f0, f1, f3, 830555757);
                        if h % 4 < 3 { o[1] = o[1].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                        let h = mix(v, f0, f1, f3, 501722982);
                        if h % 1 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f3, 584872363);
                        if h % 9 < 1 { l2.push(v); }
                        let h = mix(v, f0, f1, f3, 829537086);
                        if h % 9 < 1 { l1.append(v + h % 3); }
                    }
                    #[wave(nodes)]
                    fn w5(v: Node, f0: Round, f1: Round, f3: Round, l1: &Append<u32>, acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f0, f1, f3, 792161665);
                        if h % 3 < 1 { l1.append(v + h % 3); }
                        let h = mix(v, f0, f1, f3, 374383095);
                        if h % 3 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 2); }
                    }
                    #[wave(edges(graph))]
                    fn w6(at: Edge, f0: Round, f1: Round, f3: Round, l0: &Push, l2: &Push) {
                        let h = mix(at.index, f0, f1, f3, 104181178);
                        if h % 2 < 2 { l0.push(at.dst); }
                        let h = mix(at.index, f0, f1, f3, 944780204);
                        if h % 5 < 3 { l2.push(at.src); }
                    }
                }
            }
            #[wave(items(l0), after(w0, f1))]
            fn w7(v: Node, f0: Round, l2: &Push, o: &mut [u64; 3]) {
                let h = mix(v, f0, 0, 0, 841261070);
                if h % 5 < 3 { l2.push(v); }
                let h = mix(v, f0, 0, 0, 584985032);
                if h % 1 < 1 { l2.push(v); }
                let h = mix(v, f0, 0, 0, 600167468);
                if h % 4 < 3 { o[(h % 3) as usize] += 8 + u64::from(h % 17); }
            }
        }
        #[wave(items(l2), after(f0))]
        fn w8(v: Node, l2: &Push, b: &Bits) {
            let h = mix(v, 0, 0, 0, 282109495);
            if h % 3 < 2 { l2.push(v); }
            let h = mix(v, 0, 0, 0, 698492952);
            if h % 1 < 1 { l2.push(v); }
            let h = mix(v, 0, 0, 0, 917482860);
            if h % 5 < 2 { b.set(v, h % 7); }
        }
        #[wave(items(l0), after(f0))]
        fn w9(v: Node, l0: &Push, l1: &Append<u32>) {
            let h = mix(v, 0, 0, 0, 628077363);
            if h % 4 < 2 { l1.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 774844650);
            if h % 5 < 2 { l0.push(v); }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 3]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 8], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (false, None), (true, None)], frontier: Some(2),
            no: 3, ns: 8, ne: 8, bw: 7, binit: false, sinit: vec![1, 4, 1, 1, 9, 2, 6, 8], s_owner: Some(3), b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 4, t: 1, salt: 859434297, who: Who::V, k: 5, c: 1 }, St { op: Op::Push(2), m: 5, t: 3, salt: 727266790, who: Who::V, k: 1, c: 1 }, St { op: Op::Push(0), m: 5, t: 1, salt: 836315605, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 4, t: 1, salt: 797805060, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 1, times: 2, ask: None, items: vec![It::F(Fix { id: 2, times: 1, ask: Some((99, 6, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 4, t: 3, salt: 714215694, who: Who::V, k: 4, c: 2 }, St { op: Op::BitSet, m: 5, t: 1, salt: 294736109, who: Who::V, k: 7, c: 9 }, St { op: Op::Push(0), m: 3, t: 1, salt: 939790981, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 8, t: 1, salt: 665319233, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(1), m: 5, t: 3, salt: 462884563, who: Who::Src, k: 4, c: 2 }, St { op: Op::Push(0), m: 4, t: 3, salt: 42661339, who: Who::Dst, k: 5, c: 6 }, St { op: Op::Push(0), m: 3, t: 2, salt: 703234607, who: Who::Dst, k: 1, c: 5 }] }), It::W(Wave { dom: Dom::Items(99), ops: vec![St { op: Op::Own, m: 2, t: 2, salt: 212631903, who: Who::V, k: 4, c: 8 }, St { op: Op::BitCount, m: 4, t: 2, salt: 634820055, who: Who::V, k: 2, c: 1 }] })] }), It::F(Fix { id: 3, times: 2, ask: Some((0, 15, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::ReadS, m: 4, t: 3, salt: 830555757, who: Who::V, k: 4, c: 8 }, St { op: Op::Push(0), m: 1, t: 1, salt: 501722982, who: Who::V, k: 4, c: 7 }, St { op: Op::Push(2), m: 9, t: 1, salt: 584872363, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 9, t: 1, salt: 829537086, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 3, t: 1, salt: 792161665, who: Who::V, k: 6, c: 9 }, St { op: Op::Acc, m: 3, t: 3, salt: 374383095, who: Who::V, k: 4, c: 2 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(0), m: 2, t: 2, salt: 104181178, who: Who::Dst, k: 0, c: 9 }, St { op: Op::Push(2), m: 5, t: 3, salt: 944780204, who: Who::Src, k: 2, c: 6 }] })] })] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Push(2), m: 5, t: 3, salt: 841261070, who: Who::V, k: 6, c: 1 }, St { op: Op::Push(2), m: 1, t: 1, salt: 584985032, who: Who::V, k: 4, c: 8 }, St { op: Op::Own, m: 4, t: 3, salt: 600167468, who: Who::V, k: 3, c: 8 }] })] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(2), m: 3, t: 2, salt: 282109495, who: Who::V, k: 6, c: 8 }, St { op: Op::Push(2), m: 1, t: 1, salt: 698492952, who: Who::V, k: 7, c: 3 }, St { op: Op::BitSet, m: 5, t: 2, salt: 917482860, who: Who::V, k: 0, c: 2 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Push(1), m: 4, t: 2, salt: 628077363, who: Who::V, k: 4, c: 2 }, St { op: Op::Push(0), m: 5, t: 2, salt: 774844650, who: Who::V, k: 2, c: 2 }] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g02 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l0: List<u32>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l1: List<u32>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l2: List<u32>,
            #[list(unique)] l3: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 1],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [3, 3], reset = round)] s: [u32; 2],
            #[scratch(per = node, bits = 64)] b: Bits,
            #[output(per = edge(graph), init = [0])] e: [u32; 1],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 1 || l2.len() >= 39))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, b: &Bits, acc: &Buf<Atomic<u64>>, l1: &Append<u32>, l2: &Append<u32>, l0: &Append<u32>) {
                let h = mix(v, f0, 0, 0, 36293935);
                if h % 1 < 1 { b.set(v, h % 64); }
                let h = mix(v, f0, 0, 0, 387773699);
                if h % 5 < 4 { acc[v].fetch_add(u64::from(h % 1000) + 2); }
                let h = mix(v, f0, 0, 0, 414316763);
                if h % 5 < 3 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 836982234);
                if h % 4 < 1 { l2.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 354496031);
                if h % 5 < 1 { l0.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 66491968);
                if h % 4 < 1 { l1.append(v + h % 3); }
            }
            #[fixpoint(after(w0), until(round + 1 == 3 || l1.is_empty()))]
            mod f1 {
                #[wave(nodes)]
                fn w1(v: Node, f0: Round, f1: Round, o: &mut [u64; 1], s: &mut [u32; 2], l3: &Push, l2: &Append<u32>) {
                    let h = mix(v, f0, f1, 0, 509437843);
                    if h % 5 < 1 { o[(h % 1) as usize] += 5 + u64::from(h % 17); }
                    let h = mix(v, f0, f1, 0, 139196804);
                    if h % 5 < 2 { s.swap(1, (h % 2) as usize); }
                    let h = mix(v, f0, f1, 0, 45719132);
                    if h % 4 < 3 { s.swap(0, (h % 2) as usize); }
                    let h = mix(v, f0, f1, 0, 7199010);
                    if h % 4 < 1 { l3.push(v); }
                    let h = mix(v, f0, f1, 0, 198886778);
                    if h % 2 < 1 { l2.append(v + h % 3); }
                }
                #[wave(items(l0))]
                fn w2(x: u32, f0: Round, f1: Round, n: u32, l0: &Append<u32>, l2: &Append<u32>) {
                    let h = mix(x, f0, f1, 0, 612043731);
                    if h % 5 < 5 { l0.append(x % n + h % 3); }
                    let h = mix(x, f0, f1, 0, 294916206);
                    if h % 4 < 1 { l2.append(x % n + h % 3); }
                }
                #[wave(items(l2), after(w1, w2))]
                fn w3(x: u32, f0: Round, f1: Round, n: u32, l2: &Append<u32>, l1: &Append<u32>, acc: &Buf<Atomic<u64>>) {
                    let h = mix(x, f0, f1, 0, 202507419);
                    if h % 5 < 4 { l1.append(x % n + h % 3); }
                    let h = mix(x, f0, f1, 0, 581727820);
                    if h % 4 < 3 { l2.append(x % n + h % 3); }
                    let h = mix(x, f0, f1, 0, 554894180);
                    if h % 3 < 2 { acc[x % n].fetch_add(u64::from(h % 1000) + 7); }
                }
                #[wave(items(l3), after(w1))]
                fn w4(v: Node, f0: Round, f1: Round, l1: &Append<u32>) {
                    let h = mix(v, f0, f1, 0, 295684901);
                    if h % 1 < 1 { l1.append(v + h % 3); }
                }
            }
            #[wave(items(l2), after(w0, f1))]
            fn w5(x: u32, f0: Round, n: u32, l2: &Append<u32>) {
                let h = mix(x, f0, 0, 0, 280778008);
                if h % 2 < 2 { l2.append(x % n + h % 3); }
            }
            #[wave(edges(graph, from = l3), after(f1, w5))]
            fn w6(at: Edge, f0: Round, l3: &Push, l1: &Append<u32>, l2: &Append<u32>) {
                let h = mix(at.index, f0, 0, 0, 623483645);
                if h % 3 < 3 { l1.append(at.dst + h % 3); }
                let h = mix(at.index, f0, 0, 0, 892049210);
                if h % 1 < 1 { l3.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 863560647);
                if h % 2 < 1 { l2.append(at.dst + h % 3); }
                let h = mix(at.index, f0, 0, 0, 190672708);
                if h % 4 < 1 { l3.push(at.dst); }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 3))]
        mod f2 {
            #[wave(nodes)]
            fn w7(v: Node, f2: Round, acc: &Buf<Atomic<u64>>, l0: &Append<u32>, l1: &Append<u32>, l3: &Push) {
                let h = mix(v, f2, 0, 0, 61691877);
                if h % 4 < 4 { acc[v].fetch_add(u64::from(h % 1000) + 9); }
                let h = mix(v, f2, 0, 0, 563809486);
                if h % 1 < 1 { l0.append(v + h % 3); }
                let h = mix(v, f2, 0, 0, 145755133);
                if h % 9 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f2, 0, 0, 3117942);
                if h % 3 < 1 { l3.push(v); }
            }
            #[wave(items(l1), after(w7))]
            fn w8(x: u32, f2: Round, n: u32, l2: &Append<u32>, l3: &Push, acc: &Buf<Atomic<u64>>) {
                let h = mix(x, f2, 0, 0, 779956239);
                if h % 1 < 1 { l2.append(x % n + h % 3); }
                let h = mix(x, f2, 0, 0, 127732475);
                if h % 5 < 4 { l3.push(x % n); }
                let h = mix(x, f2, 0, 0, 398788199);
                if h % 3 < 3 { acc[x % n].fetch_add(u64::from(h % 1000) + 6); }
                let h = mix(x, f2, 0, 0, 964154526);
                if h % 3 < 3 { acc[x % n].fetch_add(u64::from(h % 1000) + 6); }
            }
            #[wave(items(l2), after(w8))]
            fn w9(x: u32, f2: Round, n: u32, acc: &Buf<Atomic<u64>>, l1: &Append<u32>, l3: &Push) {
                let h = mix(x, f2, 0, 0, 927005294);
                if h % 3 < 3 { acc[x % n].fetch_add(u64::from(h % 1000) + 2); }
                let h = mix(x, f2, 0, 0, 308926059);
                if h % 1 < 1 { acc[x % n].fetch_add(u64::from(h % 1000) + 9); }
                let h = mix(x, f2, 0, 0, 245704179);
                if h % 3 < 1 { l1.append(x % n + h % 3); }
                let h = mix(x, f2, 0, 0, 285140514);
                if h % 5 < 5 { l3.push(x % n); }
            }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 1]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 1], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(false, None), (false, None), (false, None), (true, None)], frontier: None,
            no: 1, ns: 2, ne: 1, bw: 64, binit: false, sinit: vec![3, 3], s_owner: Some(1), b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 1, ask: Some((2, 39, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitSet, m: 1, t: 1, salt: 36293935, who: Who::V, k: 1, c: 9 }, St { op: Op::Acc, m: 5, t: 4, salt: 387773699, who: Who::V, k: 6, c: 2 }, St { op: Op::Push(1), m: 5, t: 3, salt: 414316763, who: Who::V, k: 7, c: 4 }, St { op: Op::Push(2), m: 4, t: 1, salt: 836982234, who: Who::V, k: 1, c: 6 }, St { op: Op::Push(0), m: 5, t: 1, salt: 354496031, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 4, t: 1, salt: 66491968, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 1, times: 3, ask: Some((1, 21, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Own, m: 5, t: 1, salt: 509437843, who: Who::V, k: 7, c: 5 }, St { op: Op::Swap, m: 5, t: 2, salt: 139196804, who: Who::V, k: 5, c: 6 }, St { op: Op::Swap, m: 4, t: 3, salt: 45719132, who: Who::V, k: 2, c: 5 }, St { op: Op::Push(3), m: 4, t: 1, salt: 7199010, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 2, t: 1, salt: 198886778, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Push(0), m: 5, t: 5, salt: 612043731, who: Who::V, k: 1, c: 3 }, St { op: Op::Push(2), m: 4, t: 1, salt: 294916206, who: Who::V, k: 2, c: 6 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(1), m: 5, t: 4, salt: 202507419, who: Who::V, k: 5, c: 9 }, St { op: Op::Push(2), m: 4, t: 3, salt: 581727820, who: Who::V, k: 6, c: 1 }, St { op: Op::Acc, m: 3, t: 2, salt: 554894180, who: Who::V, k: 3, c: 7 }] }), It::W(Wave { dom: Dom::Items(3), ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 295684901, who: Who::V, k: 0, c: 3 }] })] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(2), m: 2, t: 2, salt: 280778008, who: Who::V, k: 7, c: 6 }] }), It::W(Wave { dom: Dom::From(3), ops: vec![St { op: Op::Push(1), m: 3, t: 3, salt: 623483645, who: Who::Dst, k: 4, c: 3 }, St { op: Op::Push(3), m: 1, t: 1, salt: 892049210, who: Who::Dst, k: 7, c: 8 }, St { op: Op::Push(2), m: 2, t: 1, salt: 863560647, who: Who::Dst, k: 6, c: 7 }, St { op: Op::Push(3), m: 4, t: 1, salt: 190672708, who: Who::Dst, k: 6, c: 4 }] })] }), It::F(Fix { id: 2, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 4, t: 4, salt: 61691877, who: Who::V, k: 3, c: 9 }, St { op: Op::Push(0), m: 1, t: 1, salt: 563809486, who: Who::V, k: 6, c: 1 }, St { op: Op::Push(1), m: 9, t: 1, salt: 145755133, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(3), m: 3, t: 1, salt: 3117942, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(2), m: 1, t: 1, salt: 779956239, who: Who::V, k: 4, c: 7 }, St { op: Op::Push(3), m: 5, t: 4, salt: 127732475, who: Who::V, k: 4, c: 6 }, St { op: Op::Acc, m: 3, t: 3, salt: 398788199, who: Who::V, k: 0, c: 6 }, St { op: Op::Acc, m: 3, t: 3, salt: 964154526, who: Who::V, k: 7, c: 6 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Acc, m: 3, t: 3, salt: 927005294, who: Who::V, k: 6, c: 2 }, St { op: Op::Acc, m: 1, t: 1, salt: 308926059, who: Who::V, k: 6, c: 9 }, St { op: Op::Push(1), m: 3, t: 1, salt: 245704179, who: Who::V, k: 7, c: 1 }, St { op: Op::Push(3), m: 5, t: 5, salt: 285140514, who: Who::V, k: 2, c: 3 }] })] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g03 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(unique)] l1: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l2: List<u32>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l3: List<u32>,
            #[output(per = node, init = 7)] o: [u64; 1],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [9, 0, 3, 5, 1, 4, 0], reset = round)] s: [u32; 7],
            #[scratch(per = node, bits = 64, init = true, reset = round)] b: Bits,
            #[output(per = edge(graph), init = [0])] e: [u32; 1],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 3))]
        mod f0 {
            #[fixpoint(until(round + 1 == 1))]
            mod f1 {
                #[wave(edges(graph, from = l1))]
                fn w0(at: Edge, f0: Round, f1: Round, l3: &Append<u32>, l0: &Push, l2: &Append<u32>) {
                    let h = mix(at.index, f0, f1, 0, 927410440);
                    if h % 1 < 1 { l3.append(at.dst + h % 3); }
                    let h = mix(at.index, f0, f1, 0, 817513681);
                    if h % 5 < 1 { l0.push(at.dst); }
                    let h = mix(at.index, f0, f1, 0, 119862991);
                    if h % 1 < 1 { l2.append(at.src + h % 3); }
                    let h = mix(at.index, f0, f1, 0, 485318574);
                    if h % 1 < 1 { l0.push(at.src); }
                }
                #[fixpoint(after(w0), until(round + 1 == 1 || l2.is_empty()))]
                mod f2 {
                    #[wave(nodes)]
                    fn w1(v: Node, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, b: &Bits, l2: &Append<u32>, s: &mut [u32; 7], l3: &Append<u32>) {
                        let h = mix(v, f0, f1, f2, 630122496);
                        if h % 5 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 7); }
                        let h = mix(v, f0, f1, f2, 761303974);
                        if h % 2 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 3); }
                        let h = mix(v, f0, f1, f2, 881807871);
                        if h % 3 < 1 { l2.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 675733910);
                        if h % 5 < 4 { s.swap(0, (h % 7) as usize); }
                        let h = mix(v, f0, f1, f2, 965579172);
                        if h % 2 < 1 { l2.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 193374001);
                        if h % 4 < 1 { l3.append(v + h % 3); }
                    }
                    #[wave(nodes, after(w1))]
                    fn w2(v: Node, f0: Round, f1: Round, f2: Round, b: &Bits) {
                        let h = mix(v, f0, f1, f2, 74875685);
                        if h % 5 < 5 { b.unset(v, h % 64); }
                    }
                }
                #[wave(items(l3), after(w0, f2))]
                fn w3(x: u32, f0: Round, f1: Round, n: u32, l1: &Push) {
                    let h = mix(x, f0, f1, 0, 225778513);
                    if h % 4 < 4 { l1.push(x % n); }
                    let h = mix(x, f0, f1, 0, 949238176);
                    if h % 3 < 3 { l1.push(x % n); }
                }
            }
            #[fixpoint(after(f1), until(round + 1 == 1 || l1.len() >= 16))]
            mod f3 {
                #[wave(nodes)]
                fn w4(v: Node, f0: Round, f3: Round, b: &Bits, acc: &Buf<Atomic<u64>>, l3: &Append<u32>, l2: &Append<u32>, l0: &Push) {
                    let h = mix(v, f0, f3, 0, 133357274);
                    if h % 4 < 1 { b.unset(v, h % 64); }
                    let h = mix(v, f0, f3, 0, 72787855);
                    if h % 3 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 9); }
                    let h = mix(v, f0, f3, 0, 36152485);
                    if h % 5 < 1 { l3.append(v + h % 3); }
                    let h = mix(v, f0, f3, 0, 229249667);
                    if h % 1 < 1 { l2.append(v + h % 3); }
                    let h = mix(v, f0, f3, 0, 541381625);
                    if h % 8 < 1 { l0.push(v); }
                    let h = mix(v, f0, f3, 0, 621378635);
                    if h % 7 < 1 { l2.append(v + h % 3); }
                }
                #[wave(items(l1), after(w4))]
                fn w5(v: Node, f0: Round, f3: Round, o: &mut [u64; 1], l3: &Append<u32>, b: &Bits, acc: &Buf<Atomic<u64>>) {
                    let h = mix(v, f0, f3, 0, 213253275);
                    if h % 3 < 2 { o[(h % 1) as usize] += 3 + u64::from(h % 17); }
                    let h = mix(v, f0, f3, 0, 368376906);
                    if h % 2 < 2 { l3.append(v + h % 3); }
                    let h = mix(v, f0, f3, 0, 404847994);
                    if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 7); }
                    let h = mix(v, f0, f3, 0, 991337442);
                    if h % 4 < 4 { acc[v].fetch_add(u64::from(b.count(v)) * 1); }
                }
                #[wave(items(l0), after(w4, w5))]
                fn w6(v: Node, f0: Round, f3: Round, s: &[u32; 7], o: &mut [u64; 1], l1: &Push, l3: &Append<u32>) {
                    let h = mix(v, f0, f3, 0, 559754534);
                    if h % 4 < 4 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[6])); }
                    let h = mix(v, f0, f3, 0, 889351732);
                    if h % 5 < 4 { l1.push(v); }
                    let h = mix(v, f0, f3, 0, 627741344);
                    if h % 2 < 2 { l3.append(v + h % 3); }
                }
            }
            #[wave(nodes, after(f1, f3))]
            fn w7(v: Node, f0: Round, l0: &Push, l3: &Append<u32>, l1: &Push) {
                let h = mix(v, f0, 0, 0, 260389508);
                if h % 4 < 4 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 914167691);
                if h % 1 < 1 { l3.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 191959733);
                if h % 3 < 1 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 283284901);
                if h % 5 < 1 { l0.push(v); }
            }
            #[wave(items(l2), after(f1, f3))]
            fn w8(x: u32, f0: Round, n: u32, l3: &Append<u32>) {
                let h = mix(x, f0, 0, 0, 868215542);
                if h % 3 < 2 { l3.append(x % n + h % 3); }
            }
        }
        #[wave(nodes, after(f0))]
        fn w9(v: Node, l2: &Append<u32>, acc: &Buf<Atomic<u64>>, l1: &Push, l0: &Push) {
            let h = mix(v, 0, 0, 0, 333034513);
            if h % 2 < 2 { l2.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 477335385);
            if h % 5 < 4 { acc[v].fetch_add(u64::from(h % 1000) + 4); }
            let h = mix(v, 0, 0, 0, 326115496);
            if h % 2 < 2 { l2.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 880728582);
            if h % 2 < 2 { l1.push(v); }
            let h = mix(v, 0, 0, 0, 855090512);
            if h % 7 < 1 { l1.push(v); }
            let h = mix(v, 0, 0, 0, 359193963);
            if h % 9 < 1 { l0.push(v); }
        }
        #[wave(items(l3), after(f0))]
        fn w10(x: u32, n: u32, l0: &Push) {
            let h = mix(x, 0, 0, 0, 343099504);
            if h % 3 < 2 { l0.push(x % n); }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 1]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 1], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (true, None), (false, None), (false, None)], frontier: None,
            no: 1, ns: 7, ne: 1, bw: 64, binit: true, sinit: vec![9, 0, 3, 5, 1, 4, 0], s_owner: Some(0), b_owner: Some(0),
            root: vec![It::F(Fix { id: 0, times: 3, ask: None, items: vec![It::F(Fix { id: 1, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Push(3), m: 1, t: 1, salt: 927410440, who: Who::Dst, k: 6, c: 2 }, St { op: Op::Push(0), m: 5, t: 1, salt: 817513681, who: Who::Dst, k: 7, c: 3 }, St { op: Op::Push(2), m: 1, t: 1, salt: 119862991, who: Who::Src, k: 1, c: 9 }, St { op: Op::Push(0), m: 1, t: 1, salt: 485318574, who: Who::Src, k: 0, c: 3 }] }), It::F(Fix { id: 2, times: 1, ask: Some((2, 12, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 5, t: 1, salt: 630122496, who: Who::V, k: 4, c: 7 }, St { op: Op::BitCount, m: 2, t: 2, salt: 761303974, who: Who::V, k: 6, c: 3 }, St { op: Op::Push(2), m: 3, t: 1, salt: 881807871, who: Who::V, k: 6, c: 6 }, St { op: Op::Swap, m: 5, t: 4, salt: 675733910, who: Who::V, k: 7, c: 8 }, St { op: Op::Push(2), m: 2, t: 1, salt: 965579172, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(3), m: 4, t: 1, salt: 193374001, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitSet, m: 5, t: 5, salt: 74875685, who: Who::V, k: 6, c: 3 }] })] }), It::W(Wave { dom: Dom::Items(3), ops: vec![St { op: Op::Push(1), m: 4, t: 4, salt: 225778513, who: Who::V, k: 2, c: 7 }, St { op: Op::Push(1), m: 3, t: 3, salt: 949238176, who: Who::V, k: 4, c: 2 }] })] }), It::F(Fix { id: 3, times: 1, ask: Some((1, 16, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitSet, m: 4, t: 1, salt: 133357274, who: Who::V, k: 5, c: 6 }, St { op: Op::Acc, m: 3, t: 1, salt: 72787855, who: Who::V, k: 5, c: 9 }, St { op: Op::Push(3), m: 5, t: 1, salt: 36152485, who: Who::V, k: 4, c: 7 }, St { op: Op::Push(2), m: 1, t: 1, salt: 229249667, who: Who::V, k: 4, c: 2 }, St { op: Op::Push(0), m: 8, t: 1, salt: 541381625, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 7, t: 1, salt: 621378635, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Own, m: 3, t: 2, salt: 213253275, who: Who::V, k: 4, c: 3 }, St { op: Op::Push(3), m: 2, t: 2, salt: 368376906, who: Who::V, k: 0, c: 2 }, St { op: Op::BitCount, m: 1, t: 1, salt: 404847994, who: Who::V, k: 3, c: 7 }, St { op: Op::BitCount, m: 4, t: 4, salt: 991337442, who: Who::V, k: 3, c: 1 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::ReadS, m: 4, t: 4, salt: 559754534, who: Who::V, k: 6, c: 6 }, St { op: Op::Push(1), m: 5, t: 4, salt: 889351732, who: Who::V, k: 7, c: 7 }, St { op: Op::Push(3), m: 2, t: 2, salt: 627741344, who: Who::V, k: 5, c: 3 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 4, t: 4, salt: 260389508, who: Who::V, k: 0, c: 2 }, St { op: Op::Push(3), m: 1, t: 1, salt: 914167691, who: Who::V, k: 7, c: 3 }, St { op: Op::Push(1), m: 3, t: 1, salt: 191959733, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 5, t: 1, salt: 283284901, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(3), m: 3, t: 2, salt: 868215542, who: Who::V, k: 7, c: 1 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 2, t: 2, salt: 333034513, who: Who::V, k: 3, c: 4 }, St { op: Op::Acc, m: 5, t: 4, salt: 477335385, who: Who::V, k: 3, c: 4 }, St { op: Op::Push(2), m: 2, t: 2, salt: 326115496, who: Who::V, k: 7, c: 9 }, St { op: Op::Push(1), m: 2, t: 2, salt: 880728582, who: Who::V, k: 4, c: 4 }, St { op: Op::Push(1), m: 7, t: 1, salt: 855090512, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 9, t: 1, salt: 359193963, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(3), ops: vec![St { op: Op::Push(0), m: 3, t: 2, salt: 343099504, who: Who::V, k: 0, c: 5 }] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g04 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l1: List<u32>,
            #[list(unique)] l2: List<Node>,
            #[list(unique)] l3: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 5],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [5, 9, 4, 3, 0, 8, 4])] s: [u32; 7],
            #[scratch(per = node, bits = 32, init = true)] b: Bits,
            #[output(per = edge(graph), init = [0, 1, 2, 3, 4, 5, 6, 7])] e: [u32; 8],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 3))]
        mod f0 {
            #[wave(items(l2))]
            fn w0(v: Node, f0: Round, l2: &Push, b: &Bits, acc: &Buf<Atomic<u64>>) {
                let h = mix(v, f0, 0, 0, 441510440);
                if h % 2 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 1); }
                let h = mix(v, f0, 0, 0, 157974024);
                if h % 4 < 1 { l2.push(v); }
            }
            #[wave(items(l1))]
            fn w1(x: u32, f0: Round, n: u32, l3: &Push) {
                let h = mix(x, f0, 0, 0, 483603043);
                if h % 4 < 2 { l3.push(x % n); }
            }
            #[wave(edges(graph, from = l0))]
            fn w2(at: Edge, f0: Round, acc: &Buf<Atomic<u64>>, l3: &Push, e: &mut [u32; 8]) {
                let h = mix(at.index, f0, 0, 0, 709782581);
                if h % 4 < 3 { acc[at.dst].fetch_add(u64::from(h % 1000) + 5); }
                let h = mix(at.index, f0, 0, 0, 803720494);
                if h % 1 < 1 { l3.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 252203016);
                if h % 4 < 4 { e[5] = e[5] * 3 + 9 + h % 7; }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 3))]
        mod f1 {
            #[wave(edges(graph, from = l0))]
            fn w3(at: Edge, f1: Round, acc: &Buf<Atomic<u64>>, l3: &Push) {
                let h = mix(at.index, f1, 0, 0, 618011632);
                if h % 3 < 3 { acc[at.dst].fetch_add(u64::from(h % 1000) + 5); }
                let h = mix(at.index, f1, 0, 0, 52849391);
                if h % 4 < 1 { acc[at.dst].fetch_add(u64::from(h % 1000) + 4); }
                let h = mix(at.index, f1, 0, 0, 128032235);
                if h % 2 < 2 { l3.push(at.src); }
                let h = mix(at.index, f1, 0, 0, 929679423);
                if h % 2 < 1 { l3.push(at.src); }
            }
            #[wave(items(l1))]
            fn w4(x: u32, f1: Round, n: u32, l1: &Append<u32>, l2: &Push) {
                let h = mix(x, f1, 0, 0, 91575706);
                if h % 1 < 1 { l2.push(x % n); }
                let h = mix(x, f1, 0, 0, 223551989);
                if h % 5 < 1 { l1.append(x % n + h % 3); }
            }
            #[fixpoint(after(w3, w4), until(round + 1 == 3 || l1.len() >= 8))]
            mod f2 {
                #[wave(nodes)]
                fn w5(v: Node, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, l2: &Push, l3: &Push, l0: &Push, l1: &Append<u32>) {
                    let h = mix(v, f1, f2, 0, 573756430);
                    if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 6); }
                    let h = mix(v, f1, f2, 0, 348027005);
                    if h % 1 < 1 { l2.push(v); }
                    let h = mix(v, f1, f2, 0, 428419242);
                    if h % 1 < 1 { l3.push(v); }
                    let h = mix(v, f1, f2, 0, 441319058);
                    if h % 3 < 2 { l3.push(v); }
                    let h = mix(v, f1, f2, 0, 206369150);
                    if h % 6 < 1 { l0.push(v); }
                    let h = mix(v, f1, f2, 0, 372461858);
                    if h % 2 < 1 { l1.append(v + h % 3); }
                }
                #[fixpoint(after(w5), until(round + 1 == 3 || l0.len() >= 3))]
                mod f3 {
                    #[wave(nodes)]
                    fn w6(v: Node, f1: Round, f2: Round, f3: Round, l1: &Append<u32>, b: &Bits, l2: &Push, l0: &Push) {
                        let h = mix(v, f1, f2, f3, 847430594);
                        if h % 5 < 2 { l1.append(v + h % 3); }
                        let h = mix(v, f1, f2, f3, 909315520);
                        if h % 4 < 2 { l1.append(v + h % 3); }
                        let h = mix(v, f1, f2, f3, 539541442);
                        if h % 5 < 2 { b.unset(v, h % 32); }
                        let h = mix(v, f1, f2, f3, 94650473);
                        if h % 5 < 2 { l2.push(v); }
                        let h = mix(v, f1, f2, f3, 587792188);
                        if h % 4 < 1 { l1.append(v + h % 3); }
                        let h = mix(v, f1, f2, f3, 568792567);
                        if h % 7 < 1 { l0.push(v); }
                    }
                    #[wave(items(l3))]
                    fn w7(v: Node, f1: Round, f2: Round, f3: Round, s: &mut [u32; 7], l1: &Append<u32>, acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f1, f2, f3, 151493835);
                        if h % 4 < 4 { s.swap(3, (h % 7) as usize); }
                        let h = mix(v, f1, f2, f3, 445640446);
                        if h % 3 < 1 { l1.append(v + h % 3); }
                        let h = mix(v, f1, f2, f3, 584005670);
                        if h % 5 < 5 { acc[v].fetch_add(u64::from(h % 1000) + 8); }
                        let h = mix(v, f1, f2, f3, 28457586);
                        if h % 1 < 1 { l1.append(v + h % 3); }
                    }
                }
                #[wave(edges(graph, from = l2), after(w5, f3))]
                fn w8(at: Edge, f1: Round, f2: Round, l3: &Push, acc: &Buf<Atomic<u64>>) {
                    let h = mix(at.index, f1, f2, 0, 786571576);
                    if h % 1 < 1 { l3.push(at.src); }
                    let h = mix(at.index, f1, f2, 0, 879847927);
                    if h % 2 < 1 { acc[at.dst].fetch_add(u64::from(h % 1000) + 2); }
                }
            }
        }
        #[wave(nodes, after(f0, f1))]
        fn w9(v: Node, s: &mut [u32; 7], l0: &Push, l2: &Push) {
            let h = mix(v, 0, 0, 0, 835823142);
            if h % 2 < 1 { s.swap(0, (h % 7) as usize); }
            let h = mix(v, 0, 0, 0, 85520476);
            if h % 8 < 1 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 216313626);
            if h % 9 < 1 { l2.push(v); }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 5]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 8], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (false, None), (true, None), (true, None)], frontier: None,
            no: 5, ns: 7, ne: 8, bw: 32, binit: true, sinit: vec![5, 9, 4, 3, 0, 8, 4], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::BitCount, m: 2, t: 1, salt: 441510440, who: Who::V, k: 3, c: 1 }, St { op: Op::Push(2), m: 4, t: 1, salt: 157974024, who: Who::V, k: 1, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(3), m: 4, t: 2, salt: 483603043, who: Who::V, k: 5, c: 9 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Acc, m: 4, t: 3, salt: 709782581, who: Who::Dst, k: 0, c: 5 }, St { op: Op::Push(3), m: 1, t: 1, salt: 803720494, who: Who::Dst, k: 3, c: 9 }, St { op: Op::OwnE, m: 4, t: 4, salt: 252203016, who: Who::Src, k: 5, c: 9 }] })] }), It::F(Fix { id: 1, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Acc, m: 3, t: 3, salt: 618011632, who: Who::Dst, k: 2, c: 5 }, St { op: Op::Acc, m: 4, t: 1, salt: 52849391, who: Who::Dst, k: 0, c: 4 }, St { op: Op::Push(3), m: 2, t: 2, salt: 128032235, who: Who::Src, k: 4, c: 3 }, St { op: Op::Push(3), m: 2, t: 1, salt: 929679423, who: Who::Src, k: 7, c: 8 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(2), m: 1, t: 1, salt: 91575706, who: Who::V, k: 3, c: 9 }, St { op: Op::Push(1), m: 5, t: 1, salt: 223551989, who: Who::V, k: 3, c: 7 }] }), It::F(Fix { id: 2, times: 3, ask: Some((1, 8, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 573756430, who: Who::V, k: 5, c: 6 }, St { op: Op::Push(2), m: 1, t: 1, salt: 348027005, who: Who::V, k: 2, c: 1 }, St { op: Op::Push(3), m: 1, t: 1, salt: 428419242, who: Who::V, k: 2, c: 6 }, St { op: Op::Push(3), m: 3, t: 2, salt: 441319058, who: Who::V, k: 1, c: 9 }, St { op: Op::Push(0), m: 6, t: 1, salt: 206369150, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 2, t: 1, salt: 372461858, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 3, times: 3, ask: Some((0, 3, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 5, t: 2, salt: 847430594, who: Who::V, k: 1, c: 2 }, St { op: Op::Push(1), m: 4, t: 2, salt: 909315520, who: Who::V, k: 1, c: 6 }, St { op: Op::BitSet, m: 5, t: 2, salt: 539541442, who: Who::V, k: 1, c: 3 }, St { op: Op::Push(2), m: 5, t: 2, salt: 94650473, who: Who::V, k: 2, c: 3 }, St { op: Op::Push(1), m: 4, t: 1, salt: 587792188, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 7, t: 1, salt: 568792567, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(3), ops: vec![St { op: Op::Swap, m: 4, t: 4, salt: 151493835, who: Who::V, k: 3, c: 5 }, St { op: Op::Push(1), m: 3, t: 1, salt: 445640446, who: Who::V, k: 3, c: 8 }, St { op: Op::Acc, m: 5, t: 5, salt: 584005670, who: Who::V, k: 2, c: 8 }, St { op: Op::Push(1), m: 1, t: 1, salt: 28457586, who: Who::V, k: 3, c: 5 }] })] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(3), m: 1, t: 1, salt: 786571576, who: Who::Src, k: 6, c: 8 }, St { op: Op::Acc, m: 2, t: 1, salt: 879847927, who: Who::Dst, k: 7, c: 2 }] })] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Swap, m: 2, t: 1, salt: 835823142, who: Who::V, k: 7, c: 6 }, St { op: Op::Push(0), m: 8, t: 1, salt: 85520476, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 9, t: 1, salt: 216313626, who: Who::V, k: 0, c: 1 }] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g05 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique, reset = round)] l0: List<Node>,
            #[list(unique)] l1: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000, reset = round)] l2: List<u32>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000, reset = round)] l3: List<u32>,
            #[output(per = node, init = 7)] o: [u64; 8],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [3, 8, 9, 7, 5, 9, 0], reset = round)] s: [u32; 7],
            #[output(per = edge(graph), init = [0])] e: [u32; 1],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 3 || l2.len() >= 36))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, o: &mut [u64; 8], l1: &Push, l0: &Push, l2: &Append<u32>) {
                let h = mix(v, f0, 0, 0, 272007892);
                if h % 5 < 3 { o[(h % 8) as usize] += 7 + u64::from(h % 17); }
                let h = mix(v, f0, 0, 0, 991695385);
                if h % 3 < 1 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 109699447);
                if h % 3 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 487032827);
                if h % 5 < 5 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 815867169);
                if h % 6 < 1 { l2.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 997602235);
                if h % 6 < 1 { l1.push(v); }
            }
            #[wave(edges(graph, from = l0), after(w0))]
            fn w1(at: Edge, f0: Round, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 7]>) {
                let h = mix(at.index, f0, 0, 0, 716543241);
                if h % 4 < 2 { acc[at.src].fetch_add(u64::from(s.get(at.dst)[(h % 7) as usize])); }
            }
            #[wave(items(l2), after(w0))]
            fn w2(x: u32, f0: Round, n: u32, acc: &Buf<Atomic<u64>>, l3: &Append<u32>) {
                let h = mix(x, f0, 0, 0, 258197734);
                if h % 4 < 4 { acc[x % n].fetch_add(u64::from(h % 1000) + 5); }
                let h = mix(x, f0, 0, 0, 932592915);
                if h % 3 < 3 { acc[x % n].fetch_add(u64::from(h % 1000) + 1); }
                let h = mix(x, f0, 0, 0, 776439628);
                if h % 1 < 1 { l3.append(x % n + h % 3); }
            }
            #[wave(edges(graph), after(w2))]
            fn w3(at: Edge, f0: Round, l2: &Append<u32>) {
                let h = mix(at.index, f0, 0, 0, 296316301);
                if h % 4 < 2 { l2.append(at.src + h % 3); }
            }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 8]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 1], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, Some(0)), (true, None), (false, Some(0)), (false, Some(0))], frontier: None,
            no: 8, ns: 7, ne: 1, bw: 65, binit: false, sinit: vec![3, 8, 9, 7, 5, 9, 0], s_owner: Some(0), b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 3, ask: Some((2, 36, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Own, m: 5, t: 3, salt: 272007892, who: Who::V, k: 7, c: 7 }, St { op: Op::Push(1), m: 3, t: 1, salt: 991695385, who: Who::V, k: 3, c: 8 }, St { op: Op::Push(0), m: 3, t: 1, salt: 109699447, who: Who::V, k: 5, c: 9 }, St { op: Op::Push(0), m: 5, t: 5, salt: 487032827, who: Who::V, k: 7, c: 5 }, St { op: Op::Push(2), m: 6, t: 1, salt: 815867169, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 6, t: 1, salt: 997602235, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::RecS, m: 4, t: 2, salt: 716543241, who: Who::Src, k: 0, c: 8 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Acc, m: 4, t: 4, salt: 258197734, who: Who::V, k: 3, c: 5 }, St { op: Op::Acc, m: 3, t: 3, salt: 932592915, who: Who::V, k: 4, c: 1 }, St { op: Op::Push(3), m: 1, t: 1, salt: 776439628, who: Who::V, k: 1, c: 8 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(2), m: 4, t: 2, salt: 296316301, who: Who::Src, k: 2, c: 3 }] })] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g06 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(unique)] l1: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l2: List<u32>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000, reset = round)] l3: List<u32>,
            #[output(per = node, init = 7)] o: [u64; 5],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [9, 1])] s: [u32; 2],
            #[scratch(per = node, bits = 64, init = true)] b: Bits,
            #[output(per = edge(graph), init = [0, 1, 2])] e: [u32; 3],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 3 || l2.len() >= 4))]
        mod f0 {
            #[wave(items(l3))]
            fn w0(x: u32, f0: Round, n: u32, l0: &Push, l2: &Append<u32>, l1: &Push) {
                let h = mix(x, f0, 0, 0, 803786338);
                if h % 1 < 1 { l0.push(x % n); }
                let h = mix(x, f0, 0, 0, 567592561);
                if h % 4 < 4 { l2.append(x % n + h % 3); }
                let h = mix(x, f0, 0, 0, 962502369);
                if h % 1 < 1 { l1.push(x % n); }
            }
            #[fixpoint(after(w0), until(round + 1 == 2))]
            mod f1 {
                #[wave(nodes)]
                fn w1(v: Node, f0: Round, f1: Round, s: &mut [u32; 2], o: &mut [u64; 5], b: &Bits, acc: &Buf<Atomic<u64>>, l1: &Push, l2: &Append<u32>) {
                    let h = mix(v, f0, f1, 0, 190360680);
                    if h % 2 < 2 { o[2] = o[2].wrapping_mul(3).wrapping_add(u64::from(s[1])); }
                    let h = mix(v, f0, f1, 0, 365610438);
                    if h % 5 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 3); }
                    let h = mix(v, f0, f1, 0, 397909391);
                    if h % 4 < 4 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 616049175);
                    if h % 5 < 2 { s[((h >> 3) % 2) as usize] += 2 + h % 5; }
                    let h = mix(v, f0, f1, 0, 569292408);
                    if h % 7 < 1 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 420704086);
                    if h % 3 < 1 { l2.append(v + h % 3); }
                }
                #[wave(items(l1), after(w1))]
                fn w2(v: Node, f0: Round, f1: Round, s: &[u32; 2], o: &mut [u64; 5], l2: &Append<u32>) {
                    let h = mix(v, f0, f1, 0, 831121412);
                    if h % 1 < 1 { o[3] = o[3].wrapping_mul(3).wrapping_add(u64::from(s[1])); }
                    let h = mix(v, f0, f1, 0, 936504321);
                    if h % 1 < 1 { l2.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 709517559);
                    if h % 3 < 1 { l2.append(v + h % 3); }
                }
                #[wave(items(l3), after(w2))]
                fn w3(x: u32, f0: Round, f1: Round, n: u32, l1: &Push, acc: &Buf<Atomic<u64>>, l0: &Push) {
                    let h = mix(x, f0, f1, 0, 969002976);
                    if h % 3 < 1 { l1.push(x % n); }
                    let h = mix(x, f0, f1, 0, 919250194);
                    if h % 1 < 1 { acc[x % n].fetch_add(u64::from(h % 1000) + 5); }
                    let h = mix(x, f0, f1, 0, 758329021);
                    if h % 4 < 3 { l0.push(x % n); }
                }
                #[wave(edges(graph, from = l0), after(w2, w3))]
                fn w4(at: Edge, f0: Round, f1: Round, l1: &Push) {
                    let h = mix(at.index, f0, f1, 0, 70415129);
                    if h % 2 < 1 { l1.push(at.src); }
                    let h = mix(at.index, f0, f1, 0, 897604739);
                    if h % 3 < 1 { l1.push(at.dst); }
                }
            }
            #[fixpoint(after(w0, f1), until(round + 1 == 3 || l3.len() >= 14))]
            mod f2 {
                #[wave(nodes)]
                fn w5(v: Node, f0: Round, f2: Round, acc: &Buf<Atomic<u64>>, s: &mut [u32; 2], l0: &Push, l2: &Append<u32>) {
                    let h = mix(v, f0, f2, 0, 654584667);
                    if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 2); }
                    let h = mix(v, f0, f2, 0, 677659626);
                    if h % 3 < 2 { s.swap(0, (h % 2) as usize); }
                    let h = mix(v, f0, f2, 0, 881034316);
                    if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 8); }
                    let h = mix(v, f0, f2, 0, 490329351);
                    if h % 5 < 1 { l0.push(v); }
                    let h = mix(v, f0, f2, 0, 962282259);
                    if h % 2 < 1 { l2.append(v + h % 3); }
                }
                #[wave(edges(graph, from = l0), after(w5))]
                fn w6(at: Edge, f0: Round, f2: Round, l1: &Push) {
                    let h = mix(at.index, f0, f2, 0, 280308535);
                    if h % 3 < 2 { l1.push(at.src); }
                    let h = mix(at.index, f0, f2, 0, 392639842);
                    if h % 2 < 1 { l1.push(at.src); }
                }
                #[fixpoint(after(w5, w6), until(round + 1 == 1 || l2.is_empty()))]
                mod f3 {
                    #[wave(nodes)]
                    fn w7(v: Node, f0: Round, f2: Round, f3: Round, l1: &Push, s: &mut [u32; 2], acc: &Buf<Atomic<u64>>, l3: &Append<u32>, l0: &Push) {
                        let h = mix(v, f0, f2, f3, 475587748);
                        if h % 4 < 4 { l1.push(v); }
                        let h = mix(v, f0, f2, f3, 175273530);
                        if h % 2 < 2 { s[((h >> 3) % 2) as usize] += 1 + h % 5; }
                        let h = mix(v, f0, f2, f3, 352532806);
                        if h % 4 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 9); }
                        let h = mix(v, f0, f2, f3, 377341926);
                        if h % 7 < 1 { l3.append(v + h % 3); }
                        let h = mix(v, f0, f2, f3, 830592880);
                        if h % 6 < 1 { l0.push(v); }
                    }
                    #[wave(items(l0), after(w7))]
                    fn w8(v: Node, f0: Round, f2: Round, f3: Round, l1: &Push) {
                        let h = mix(v, f0, f2, f3, 144944322);
                        if h % 2 < 2 { l1.push(v); }
                    }
                    #[wave(edges(graph), after(w8))]
                    fn w9(at: Edge, f0: Round, f2: Round, f3: Round, l0: &Push, l1: &Push) {
                        let h = mix(at.index, f0, f2, f3, 378199370);
                        if h % 3 < 1 { l0.push(at.src); }
                        let h = mix(at.index, f0, f2, f3, 132560855);
                        if h % 1 < 1 { l1.push(at.src); }
                    }
                    #[wave(edges(graph, from = l0), after(w7, w9))]
                    fn w10(at: Edge, f0: Round, f2: Round, f3: Round, l1: &Push) {
                        let h = mix(at.index, f0, f2, f3, 104077408);
                        if h % 1 < 1 { l1.push(at.dst); }
                    }
                }
            }
            #[wave(nodes, after(f1, f2))]
            fn w11(v: Node, f0: Round, acc: &Buf<Atomic<u64>>, l1: &Push, s: &mut [u32; 2], b: &Bits) {
                let h = mix(v, f0, 0, 0, 684102993);
                if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
                let h = mix(v, f0, 0, 0, 129309495);
                if h % 5 < 2 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 625329853);
                if h % 5 < 5 { s[((h >> 3) % 2) as usize] += 5 + h % 5; }
                let h = mix(v, f0, 0, 0, 348272294);
                if h % 4 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 8); }
            }
        }
        #[wave(nodes, after(f0))]
        fn w12(v: Node, s: &mut [u32; 2], l2: &Append<u32>, l0: &Push, l1: &Push) {
            let h = mix(v, 0, 0, 0, 717597430);
            if h % 4 < 4 { s.swap(1, (h % 2) as usize); }
            let h = mix(v, 0, 0, 0, 32038253);
            if h % 3 < 2 { l2.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 440083986);
            if h % 7 < 1 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 528710616);
            if h % 3 < 1 { l1.push(v); }
        }
        #[wave(nodes, after(f0))]
        fn w13(v: Node, o: &mut [u64; 5], l0: &Push, b: &Bits) {
            let h = mix(v, 0, 0, 0, 585532089);
            if h % 4 < 3 { o[(h % 5) as usize] += 3 + u64::from(h % 17); }
            let h = mix(v, 0, 0, 0, 26195952);
            if h % 4 < 2 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 358002502);
            if h % 2 < 1 { b.unset(v, h % 64); }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 5]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 3], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (true, None), (false, None), (false, Some(0))], frontier: None,
            no: 5, ns: 2, ne: 3, bw: 64, binit: true, sinit: vec![9, 1], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 3, ask: Some((2, 4, false)), items: vec![It::W(Wave { dom: Dom::Items(3), ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 803786338, who: Who::V, k: 5, c: 7 }, St { op: Op::Push(2), m: 4, t: 4, salt: 567592561, who: Who::V, k: 5, c: 2 }, St { op: Op::Push(1), m: 1, t: 1, salt: 962502369, who: Who::V, k: 4, c: 5 }] }), It::F(Fix { id: 1, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::ReadS, m: 2, t: 2, salt: 190360680, who: Who::V, k: 7, c: 7 }, St { op: Op::BitCount, m: 5, t: 2, salt: 365610438, who: Who::V, k: 6, c: 3 }, St { op: Op::Push(1), m: 4, t: 4, salt: 397909391, who: Who::V, k: 0, c: 7 }, St { op: Op::OwnS, m: 5, t: 2, salt: 616049175, who: Who::V, k: 2, c: 2 }, St { op: Op::Push(1), m: 7, t: 1, salt: 569292408, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 3, t: 1, salt: 420704086, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::ReadS, m: 1, t: 1, salt: 831121412, who: Who::V, k: 3, c: 5 }, St { op: Op::Push(2), m: 1, t: 1, salt: 936504321, who: Who::V, k: 1, c: 6 }, St { op: Op::Push(2), m: 3, t: 1, salt: 709517559, who: Who::V, k: 6, c: 8 }] }), It::W(Wave { dom: Dom::Items(3), ops: vec![St { op: Op::Push(1), m: 3, t: 1, salt: 969002976, who: Who::V, k: 6, c: 6 }, St { op: Op::Acc, m: 1, t: 1, salt: 919250194, who: Who::V, k: 7, c: 5 }, St { op: Op::Push(0), m: 4, t: 3, salt: 758329021, who: Who::V, k: 5, c: 8 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(1), m: 2, t: 1, salt: 70415129, who: Who::Src, k: 0, c: 2 }, St { op: Op::Push(1), m: 3, t: 1, salt: 897604739, who: Who::Dst, k: 5, c: 1 }] })] }), It::F(Fix { id: 2, times: 3, ask: Some((3, 14, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 654584667, who: Who::V, k: 1, c: 2 }, St { op: Op::Swap, m: 3, t: 2, salt: 677659626, who: Who::V, k: 2, c: 6 }, St { op: Op::Acc, m: 1, t: 1, salt: 881034316, who: Who::V, k: 5, c: 8 }, St { op: Op::Push(0), m: 5, t: 1, salt: 490329351, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 2, t: 1, salt: 962282259, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(1), m: 3, t: 2, salt: 280308535, who: Who::Src, k: 2, c: 6 }, St { op: Op::Push(1), m: 2, t: 1, salt: 392639842, who: Who::Src, k: 6, c: 4 }] }), It::F(Fix { id: 3, times: 1, ask: Some((2, 30, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 4, t: 4, salt: 475587748, who: Who::V, k: 6, c: 6 }, St { op: Op::OwnS, m: 2, t: 2, salt: 175273530, who: Who::V, k: 3, c: 1 }, St { op: Op::Acc, m: 4, t: 2, salt: 352532806, who: Who::V, k: 2, c: 9 }, St { op: Op::Push(3), m: 7, t: 1, salt: 377341926, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 6, t: 1, salt: 830592880, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Push(1), m: 2, t: 2, salt: 144944322, who: Who::V, k: 4, c: 8 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(0), m: 3, t: 1, salt: 378199370, who: Who::Src, k: 6, c: 5 }, St { op: Op::Push(1), m: 1, t: 1, salt: 132560855, who: Who::Src, k: 6, c: 5 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 104077408, who: Who::Dst, k: 5, c: 1 }] })] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 684102993, who: Who::V, k: 7, c: 3 }, St { op: Op::Push(1), m: 5, t: 2, salt: 129309495, who: Who::V, k: 6, c: 7 }, St { op: Op::OwnS, m: 5, t: 5, salt: 625329853, who: Who::V, k: 7, c: 5 }, St { op: Op::BitCount, m: 4, t: 2, salt: 348272294, who: Who::V, k: 0, c: 8 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Swap, m: 4, t: 4, salt: 717597430, who: Who::V, k: 1, c: 2 }, St { op: Op::Push(2), m: 3, t: 2, salt: 32038253, who: Who::V, k: 2, c: 3 }, St { op: Op::Push(0), m: 7, t: 1, salt: 440083986, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 3, t: 1, salt: 528710616, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Own, m: 4, t: 3, salt: 585532089, who: Who::V, k: 2, c: 3 }, St { op: Op::Push(0), m: 4, t: 2, salt: 26195952, who: Who::V, k: 1, c: 8 }, St { op: Op::BitSet, m: 2, t: 1, salt: 358002502, who: Who::V, k: 1, c: 3 }] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g07 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique, reset = round)] l0: List<Node>,
            #[list(unique, reset = round)] l1: List<Node>,
            #[list(unique, reset = round)] l2: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 3],
            #[output(per = node)] acc: u64,
            #[output(per = edge(graph), init = [0, 1, 2])] e: [u32; 3],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 2 || l2.len() >= 28))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, l2: &Push, l1: &Push, l0: &Push) {
                let h = mix(v, f0, 0, 0, 896234822);
                if h % 2 < 2 { l2.push(v); }
                let h = mix(v, f0, 0, 0, 628523931);
                if h % 1 < 1 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 316347525);
                if h % 2 < 1 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 674873033);
                if h % 4 < 1 { l0.push(v); }
            }
            #[wave(edges(graph, from = l0), after(w0))]
            fn w1(at: Edge, f0: Round, l1: &Push) {
                let h = mix(at.index, f0, 0, 0, 844299478);
                if h % 1 < 1 { l1.push(at.src); }
            }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 3]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 3], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, Some(0)), (true, Some(0)), (true, Some(0))], frontier: None,
            no: 3, ns: 2, ne: 3, bw: 32, binit: true, sinit: vec![0, 6], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 2, ask: Some((2, 28, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 2, t: 2, salt: 896234822, who: Who::V, k: 3, c: 8 }, St { op: Op::Push(1), m: 1, t: 1, salt: 628523931, who: Who::V, k: 5, c: 5 }, St { op: Op::Push(1), m: 2, t: 1, salt: 316347525, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 4, t: 1, salt: 674873033, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 844299478, who: Who::Src, k: 2, c: 5 }] })] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g08 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000, reset = round)] l1: List<u32>,
            #[output(per = node, init = 7)] o: [u64; 3],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [3, 8], reset = round)] s: [u32; 2],
            #[scratch(per = node, bits = 31, init = true, reset = round)] b: Bits,
            #[output(per = edge(graph), init = [0])] e: [u32; 1],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 1))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, acc: &Buf<Atomic<u64>>, l0: &Push, l1: &Append<u32>) {
                let h = mix(v, f0, 0, 0, 752739639);
                if h % 5 < 5 { acc[v].fetch_add(u64::from(h % 1000) + 7); }
                let h = mix(v, f0, 0, 0, 807668821);
                if h % 4 < 3 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 695532407);
                if h % 1 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 45425539);
                if h % 5 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 512748339);
                if h % 6 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 764196621);
                if h % 8 < 1 { l0.push(v); }
            }
            #[fixpoint(after(w0), until(round + 1 == 1 || l1.is_empty()))]
            mod f1 {
                #[fixpoint(until(round + 1 == 3 || l0.is_empty()))]
                mod f2 {
                    #[wave(nodes)]
                    fn w1(v: Node, f0: Round, f1: Round, f2: Round, o: &mut [u64; 3], b: &Bits, acc: &Buf<Atomic<u64>>, l0: &Push, l1: &Append<u32>) {
                        let h = mix(v, f0, f1, f2, 348549460);
                        if h % 5 < 4 { o[(h % 3) as usize] += 9 + u64::from(h % 17); }
                        let h = mix(v, f0, f1, f2, 590037316);
                        if h % 5 < 4 { acc[v].fetch_add(u64::from(b.count(v)) * 3); }
                        let h = mix(v, f0, f1, f2, 482007644);
                        if h % 5 < 4 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 971611042);
                        if h % 2 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 264684305);
                        if h % 5 < 1 { l1.append(v + h % 3); }
                    }
                    #[wave(edges(graph))]
                    fn w2(at: Edge, f0: Round, f1: Round, f2: Round, e: &mut [u32; 1], acc: &Buf<Atomic<u64>>, l0: &Push, l1: &Append<u32>) {
                        let h = mix(at.index, f0, f1, f2, 40415184);
                        if h % 1 < 1 { e[0] = e[0] * 3 + 7 + h % 7; }
                        let h = mix(at.index, f0, f1, f2, 893244556);
                        if h % 5 < 5 { acc[at.src].fetch_add(u64::from(h % 1000) + 4); }
                        let h = mix(at.index, f0, f1, f2, 965840245);
                        if h % 1 < 1 { l0.push(at.src); }
                        let h = mix(at.index, f0, f1, f2, 881795803);
                        if h % 5 < 3 { l1.append(at.src + h % 3); }
                    }
                    #[wave(edges(graph, from = l0), after(w1, w2))]
                    fn w3(at: Edge, f0: Round, f1: Round, f2: Round, l0: &Push, l1: &Append<u32>, e: &mut [u32; 1]) {
                        let h = mix(at.index, f0, f1, f2, 462433762);
                        if h % 5 < 2 { l1.append(at.src + h % 3); }
                        let h = mix(at.index, f0, f1, f2, 129928761);
                        if h % 5 < 3 { e[0] = e[0] * 3 + 6 + h % 7; }
                        let h = mix(at.index, f0, f1, f2, 944058844);
                        if h % 4 < 2 { l0.push(at.dst); }
                    }
                    #[wave(edges(graph, from = l0), after(w1, w2, w3))]
                    fn w4(at: Edge, f0: Round, f1: Round, f2: Round, l1: &Append<u32>) {
                        let h = mix(at.index, f0, f1, f2, 665591697);
                        if h % 5 < 3 { l1.append(at.src + h % 3); }
                    }
                }
                #[wave(nodes, after(f2))]
                fn w5(v: Node, f0: Round, f1: Round, s: &mut [u32; 2], acc: &Buf<Atomic<u64>>, l1: &Append<u32>, l0: &Push) {
                    let h = mix(v, f0, f1, 0, 157088544);
                    if h % 3 < 1 { s.swap(0, (h % 2) as usize); }
                    let h = mix(v, f0, f1, 0, 618331045);
                    if h % 5 < 5 { acc[v].fetch_add(u64::from(h % 1000) + 7); }
                    let h = mix(v, f0, f1, 0, 404252214);
                    if h % 2 < 2 { l1.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 828502188);
                    if h % 3 < 3 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 729207534);
                    if h % 5 < 1 { l1.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 851253268);
                    if h % 4 < 1 { l0.push(v); }
                }
                #[wave(edges(graph, from = l0), after(f2, w5))]
                fn w6(at: Edge, f0: Round, f1: Round, l0: &Push, e: &mut [u32; 1], acc: &Buf<Atomic<u64>>) {
                    let h = mix(at.index, f0, f1, 0, 662758002);
                    if h % 4 < 4 { e[0] = e[0] * 3 + 9 + h % 7; }
                    let h = mix(at.index, f0, f1, 0, 203543737);
                    if h % 2 < 1 { acc[at.src].fetch_add(u64::from(h % 1000) + 8); }
                    let h = mix(at.index, f0, f1, 0, 56621456);
                    if h % 1 < 1 { e[0] = e[0] * 3 + 8 + h % 7; }
                    let h = mix(at.index, f0, f1, 0, 395728166);
                    if h % 5 < 4 { l0.push(at.dst); }
                }
            }
            #[fixpoint(after(w0, f1), until(round + 1 == 1))]
            mod f3 {
                #[wave(nodes)]
                fn w7(v: Node, f0: Round, f3: Round, l1: &Append<u32>, s: &mut [u32; 2], o: &mut [u64; 3], l0: &Push) {
                    let h = mix(v, f0, f3, 0, 531214185);
                    if h % 4 < 4 { l1.append(v + h % 3); }
                    let h = mix(v, f0, f3, 0, 893516208);
                    if h % 5 < 4 { l1.append(v + h % 3); }
                    let h = mix(v, f0, f3, 0, 465260170);
                    if h % 3 < 1 { s[((h >> 3) % 2) as usize] += 8 + h % 5; }
                    let h = mix(v, f0, f3, 0, 149910840);
                    if h % 5 < 1 { o[1] = o[1].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                    let h = mix(v, f0, f3, 0, 19403271);
                    if h % 6 < 1 { l0.push(v); }
                    let h = mix(v, f0, f3, 0, 52460092);
                    if h % 4 < 1 { l1.append(v + h % 3); }
                }
                #[wave(nodes, after(w7))]
                fn w8(v: Node, f0: Round, f3: Round, acc: &Buf<Atomic<u64>>, l0: &Push, o: &mut [u64; 3], b: &Bits) {
                    let h = mix(v, f0, f3, 0, 931199764);
                    if h % 4 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
                    let h = mix(v, f0, f3, 0, 787255026);
                    if h % 1 < 1 { l0.push(v); }
                    let h = mix(v, f0, f3, 0, 660880395);
                    if h % 3 < 3 { o[(h % 3) as usize] += 8 + u64::from(h % 17); }
                    let h = mix(v, f0, f3, 0, 832476914);
                    if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 5); }
                }
                #[wave(items(l0), after(w7, w8))]
                fn w9(v: Node, f0: Round, f3: Round, s: &mut [u32; 2]) {
                    let h = mix(v, f0, f3, 0, 160441705);
                    if h % 1 < 1 { s.swap(1, (h % 2) as usize); }
                }
            }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 3]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 1], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (false, Some(0))], frontier: None,
            no: 3, ns: 2, ne: 1, bw: 31, binit: true, sinit: vec![3, 8], s_owner: Some(0), b_owner: Some(0),
            root: vec![It::F(Fix { id: 0, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 5, t: 5, salt: 752739639, who: Who::V, k: 2, c: 7 }, St { op: Op::Push(0), m: 4, t: 3, salt: 807668821, who: Who::V, k: 7, c: 3 }, St { op: Op::Push(1), m: 1, t: 1, salt: 695532407, who: Who::V, k: 6, c: 5 }, St { op: Op::Push(0), m: 5, t: 1, salt: 45425539, who: Who::V, k: 6, c: 4 }, St { op: Op::Push(1), m: 6, t: 1, salt: 512748339, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 8, t: 1, salt: 764196621, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 1, times: 1, ask: Some((1, 24, true)), items: vec![It::F(Fix { id: 2, times: 3, ask: Some((0, 1, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Own, m: 5, t: 4, salt: 348549460, who: Who::V, k: 7, c: 9 }, St { op: Op::BitCount, m: 5, t: 4, salt: 590037316, who: Who::V, k: 1, c: 3 }, St { op: Op::Push(0), m: 5, t: 4, salt: 482007644, who: Who::V, k: 3, c: 3 }, St { op: Op::Push(0), m: 2, t: 1, salt: 971611042, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 5, t: 1, salt: 264684305, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::OwnE, m: 1, t: 1, salt: 40415184, who: Who::Src, k: 7, c: 7 }, St { op: Op::Acc, m: 5, t: 5, salt: 893244556, who: Who::Src, k: 1, c: 4 }, St { op: Op::Push(0), m: 1, t: 1, salt: 965840245, who: Who::Src, k: 5, c: 3 }, St { op: Op::Push(1), m: 5, t: 3, salt: 881795803, who: Who::Src, k: 3, c: 3 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(1), m: 5, t: 2, salt: 462433762, who: Who::Src, k: 1, c: 4 }, St { op: Op::OwnE, m: 5, t: 3, salt: 129928761, who: Who::Dst, k: 1, c: 6 }, St { op: Op::Push(0), m: 4, t: 2, salt: 944058844, who: Who::Dst, k: 2, c: 6 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(1), m: 5, t: 3, salt: 665591697, who: Who::Src, k: 5, c: 5 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Swap, m: 3, t: 1, salt: 157088544, who: Who::V, k: 6, c: 7 }, St { op: Op::Acc, m: 5, t: 5, salt: 618331045, who: Who::V, k: 6, c: 7 }, St { op: Op::Push(1), m: 2, t: 2, salt: 404252214, who: Who::V, k: 3, c: 2 }, St { op: Op::Push(0), m: 3, t: 3, salt: 828502188, who: Who::V, k: 1, c: 7 }, St { op: Op::Push(1), m: 5, t: 1, salt: 729207534, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 4, t: 1, salt: 851253268, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::OwnE, m: 4, t: 4, salt: 662758002, who: Who::Src, k: 0, c: 9 }, St { op: Op::Acc, m: 2, t: 1, salt: 203543737, who: Who::Src, k: 6, c: 8 }, St { op: Op::OwnE, m: 1, t: 1, salt: 56621456, who: Who::Dst, k: 1, c: 8 }, St { op: Op::Push(0), m: 5, t: 4, salt: 395728166, who: Who::Dst, k: 3, c: 8 }] })] }), It::F(Fix { id: 3, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 4, t: 4, salt: 531214185, who: Who::V, k: 7, c: 1 }, St { op: Op::Push(1), m: 5, t: 4, salt: 893516208, who: Who::V, k: 2, c: 1 }, St { op: Op::OwnS, m: 3, t: 1, salt: 465260170, who: Who::V, k: 4, c: 8 }, St { op: Op::ReadS, m: 5, t: 1, salt: 149910840, who: Who::V, k: 4, c: 2 }, St { op: Op::Push(0), m: 6, t: 1, salt: 19403271, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 4, t: 1, salt: 52460092, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 4, t: 1, salt: 931199764, who: Who::V, k: 4, c: 3 }, St { op: Op::Push(0), m: 1, t: 1, salt: 787255026, who: Who::V, k: 7, c: 1 }, St { op: Op::Own, m: 3, t: 3, salt: 660880395, who: Who::V, k: 3, c: 8 }, St { op: Op::BitCount, m: 1, t: 1, salt: 832476914, who: Who::V, k: 0, c: 5 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Swap, m: 1, t: 1, salt: 160441705, who: Who::V, k: 1, c: 1 }] })] })] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g09 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(unique)] l1: List<Node>,
            #[list(unique)] l2: List<Node>,
            #[list(unique)] l3: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 2],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [6], reset = round)] s: [u32; 1],
            #[scratch(per = node, bits = 33)] b: Bits,
            #[output(per = edge(graph), init = [0, 1, 2, 3, 4, 5, 6, 7])] e: [u32; 8],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 1 || l3.len() >= 4))]
        mod f0 {
            #[wave(edges(graph, from = l3))]
            fn w0(at: Edge, f0: Round, l2: &Push) {
                let h = mix(at.index, f0, 0, 0, 299693647);
                if h % 3 < 3 { l2.push(at.dst); }
            }
            #[wave(items(l3), after(w0))]
            fn w1(v: Node, f0: Round, l3: &Push, l1: &Push, b: &Bits, acc: &Buf<Atomic<u64>>) {
                let h = mix(v, f0, 0, 0, 259862634);
                if h % 3 < 3 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 561552235);
                if h % 1 < 1 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 183490334);
                if h % 3 < 1 { l3.push(v); }
                let h = mix(v, f0, 0, 0, 3781185);
                if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 9); }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 1))]
        mod f1 {
            #[wave(items(l2))]
            fn w2(v: Node, f1: Round, l2: &Push) {
                let h = mix(v, f1, 0, 0, 747140406);
                if h % 2 < 1 { l2.push(v); }
            }
            #[fixpoint(after(w2), until(round + 1 == 3))]
            mod f2 {
                #[wave(nodes)]
                fn w3(v: Node, f1: Round, f2: Round, s: &mut [u32; 1], l1: &Push, l2: &Push) {
                    let h = mix(v, f1, f2, 0, 930086721);
                    if h % 5 < 2 { s.swap(0, (h % 1) as usize); }
                    let h = mix(v, f1, f2, 0, 945982639);
                    if h % 2 < 1 { l1.push(v); }
                    let h = mix(v, f1, f2, 0, 649384008);
                    if h % 9 < 1 { l2.push(v); }
                }
                #[wave(nodes, after(w3))]
                fn w4(v: Node, f1: Round, f2: Round, s: &[u32; 1], o: &mut [u64; 2]) {
                    let h = mix(v, f1, f2, 0, 842302655);
                    if h % 1 < 1 { o[1] = o[1].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                }
                #[wave(edges(graph))]
                fn w5(at: Edge, f1: Round, f2: Round, e: &mut [u32; 8]) {
                    let h = mix(at.index, f1, f2, 0, 883481174);
                    if h % 2 < 2 { e[2] = e[2] * 3 + 3 + h % 7; }
                    let h = mix(at.index, f1, f2, 0, 658061589);
                    if h % 1 < 1 { e[1] = e[1] * 3 + 1 + h % 7; }
                }
                #[wave(edges(graph, from = l3))]
                fn w6(at: Edge, f1: Round, f2: Round, l3: &Push, l2: &Push, l1: &Push) {
                    let h = mix(at.index, f1, f2, 0, 332698785);
                    if h % 5 < 1 { l2.push(at.dst); }
                    let h = mix(at.index, f1, f2, 0, 217824314);
                    if h % 2 < 1 { l2.push(at.dst); }
                    let h = mix(at.index, f1, f2, 0, 731659222);
                    if h % 2 < 1 { l3.push(at.dst); }
                    let h = mix(at.index, f1, f2, 0, 502251722);
                    if h % 2 < 1 { l1.push(at.src); }
                }
            }
            #[fixpoint(after(f2), until(round + 1 == 3))]
            mod f3 {
                #[wave(items(l3))]
                fn w7(v: Node, f1: Round, f3: Round, l0: &Push, b: &Bits, acc: &Buf<Atomic<u64>>) {
                    let h = mix(v, f1, f3, 0, 717966909);
                    if h % 5 < 5 { l0.push(v); }
                    let h = mix(v, f1, f3, 0, 363324480);
                    if h % 1 < 1 { b.set(v, h % 33); }
                    let h = mix(v, f1, f3, 0, 670638837);
                    if h % 1 < 1 { b.set(v, h % 33); }
                    let h = mix(v, f1, f3, 0, 720898601);
                    if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 9); }
                }
                #[wave(edges(graph, from = l3))]
                fn w8(at: Edge, f1: Round, f3: Round, l1: &Push) {
                    let h = mix(at.index, f1, f3, 0, 794082574);
                    if h % 2 < 2 { l1.push(at.dst); }
                }
                #[wave(edges(graph))]
                fn w9(at: Edge, f1: Round, f3: Round, l0: &Push, acc: &Buf<Atomic<u64>>, l1: &Push) {
                    let h = mix(at.index, f1, f3, 0, 543972849);
                    if h % 2 < 2 { l0.push(at.dst); }
                    let h = mix(at.index, f1, f3, 0, 425200757);
                    if h % 3 < 3 { acc[at.dst].fetch_add(u64::from(h % 1000) + 3); }
                    let h = mix(at.index, f1, f3, 0, 540492006);
                    if h % 5 < 4 { l0.push(at.src); }
                    let h = mix(at.index, f1, f3, 0, 373205886);
                    if h % 2 < 2 { l1.push(at.src); }
                }
            }
            #[wave(items(l3), after(f2))]
            fn w10(v: Node, f1: Round, acc: &Buf<Atomic<u64>>) {
                let h = mix(v, f1, 0, 0, 794237669);
                if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 8); }
            }
        }
        #[wave(nodes)]
        fn w11(v: Node, acc: &Buf<Atomic<u64>>, l0: &Push, l1: &Push) {
            let h = mix(v, 0, 0, 0, 518049092);
            if h % 3 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 5); }
            let h = mix(v, 0, 0, 0, 492329473);
            if h % 3 < 1 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 471473672);
            if h % 4 < 1 { l1.push(v); }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 2]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 8], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (true, None), (true, None), (true, None)], frontier: None,
            no: 2, ns: 1, ne: 8, bw: 33, binit: false, sinit: vec![6], s_owner: Some(2), b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 1, ask: Some((3, 4, false)), items: vec![It::W(Wave { dom: Dom::From(3), ops: vec![St { op: Op::Push(2), m: 3, t: 3, salt: 299693647, who: Who::Dst, k: 4, c: 8 }] }), It::W(Wave { dom: Dom::Items(3), ops: vec![St { op: Op::Push(1), m: 3, t: 3, salt: 259862634, who: Who::V, k: 4, c: 1 }, St { op: Op::Push(1), m: 1, t: 1, salt: 561552235, who: Who::V, k: 2, c: 7 }, St { op: Op::Push(3), m: 3, t: 1, salt: 183490334, who: Who::V, k: 6, c: 3 }, St { op: Op::BitCount, m: 1, t: 1, salt: 3781185, who: Who::V, k: 7, c: 9 }] })] }), It::F(Fix { id: 1, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(2), m: 2, t: 1, salt: 747140406, who: Who::V, k: 7, c: 4 }] }), It::F(Fix { id: 2, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Swap, m: 5, t: 2, salt: 930086721, who: Who::V, k: 3, c: 4 }, St { op: Op::Push(1), m: 2, t: 1, salt: 945982639, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 9, t: 1, salt: 649384008, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::ReadS, m: 1, t: 1, salt: 842302655, who: Who::V, k: 7, c: 6 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::OwnE, m: 2, t: 2, salt: 883481174, who: Who::Src, k: 2, c: 3 }, St { op: Op::OwnE, m: 1, t: 1, salt: 658061589, who: Who::Src, k: 1, c: 1 }] }), It::W(Wave { dom: Dom::From(3), ops: vec![St { op: Op::Push(2), m: 5, t: 1, salt: 332698785, who: Who::Dst, k: 7, c: 4 }, St { op: Op::Push(2), m: 2, t: 1, salt: 217824314, who: Who::Dst, k: 1, c: 2 }, St { op: Op::Push(3), m: 2, t: 1, salt: 731659222, who: Who::Dst, k: 1, c: 7 }, St { op: Op::Push(1), m: 2, t: 1, salt: 502251722, who: Who::Src, k: 1, c: 8 }] })] }), It::F(Fix { id: 3, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Items(3), ops: vec![St { op: Op::Push(0), m: 5, t: 5, salt: 717966909, who: Who::V, k: 7, c: 4 }, St { op: Op::BitSet, m: 1, t: 1, salt: 363324480, who: Who::V, k: 2, c: 6 }, St { op: Op::BitSet, m: 1, t: 1, salt: 670638837, who: Who::V, k: 1, c: 6 }, St { op: Op::Acc, m: 1, t: 1, salt: 720898601, who: Who::V, k: 0, c: 9 }] }), It::W(Wave { dom: Dom::From(3), ops: vec![St { op: Op::Push(1), m: 2, t: 2, salt: 794082574, who: Who::Dst, k: 7, c: 5 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(0), m: 2, t: 2, salt: 543972849, who: Who::Dst, k: 5, c: 2 }, St { op: Op::Acc, m: 3, t: 3, salt: 425200757, who: Who::Dst, k: 1, c: 3 }, St { op: Op::Push(0), m: 5, t: 4, salt: 540492006, who: Who::Src, k: 5, c: 4 }, St { op: Op::Push(1), m: 2, t: 2, salt: 373205886, who: Who::Src, k: 6, c: 4 }] })] }), It::W(Wave { dom: Dom::Items(3), ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 794237669, who: Who::V, k: 3, c: 8 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 3, t: 1, salt: 518049092, who: Who::V, k: 0, c: 5 }, St { op: Op::Push(0), m: 3, t: 1, salt: 492329473, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 4, t: 1, salt: 471473672, who: Who::V, k: 0, c: 1 }] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g10 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(unique)] l1: List<Node>,
            #[list(unique)] l2: List<Node>,
            #[list(unique)] l3: List<Node>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 8],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [5, 8, 7, 1, 3, 1, 0])] s: [u32; 7],
            #[scratch(per = node, bits = 32, init = true)] b: Bits,
            #[output(per = edge(graph), init = [0, 1, 2])] e: [u32; 3],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[wave(items(l2))]
        fn w0(v: Node, l2: &Push, l3: &Push, b: &Bits) {
            let h = mix(v, 0, 0, 0, 140297546);
            if h % 2 < 1 { l3.push(v); }
            let h = mix(v, 0, 0, 0, 371754420);
            if h % 1 < 1 { b.unset(v, h % 32); }
            let h = mix(v, 0, 0, 0, 102446774);
            if h % 1 < 1 { l2.push(v); }
        }
        #[fixpoint(after(w0), until(round + 1 == 2))]
        mod f0 {
            #[wave(nodes)]
            fn w1(v: Node, f0: Round, s: &mut [u32; 7], o: &mut [u64; 8], b: &Bits, acc: &Buf<Atomic<u64>>, l0: &Push, l2: &Push) {
                let h = mix(v, f0, 0, 0, 178134604);
                if h % 3 < 2 { s[((h >> 3) % 7) as usize] += 8 + h % 5; }
                let h = mix(v, f0, 0, 0, 417241459);
                if h % 2 < 1 { o[3] = o[3].wrapping_mul(3).wrapping_add(u64::from(s[4])); }
                let h = mix(v, f0, 0, 0, 692954511);
                if h % 2 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 8); }
                let h = mix(v, f0, 0, 0, 313107897);
                if h % 4 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 371970462);
                if h % 7 < 1 { l2.push(v); }
            }
            #[wave(edges(graph, from = l1))]
            fn w2(at: Edge, f0: Round, l0: &Push) {
                let h = mix(at.index, f0, 0, 0, 95290847);
                if h % 1 < 1 { l0.push(at.src); }
            }
            #[wave(items(l2), after(w1))]
            fn w3(v: Node, f0: Round, l0: &Push, o: &mut [u64; 8], s: &mut [u32; 7]) {
                let h = mix(v, f0, 0, 0, 418288519);
                if h % 1 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 245917969);
                if h % 4 < 3 { o[(h % 8) as usize] += 4 + u64::from(h % 17); }
                let h = mix(v, f0, 0, 0, 331109144);
                if h % 5 < 4 { s.swap(0, (h % 7) as usize); }
                let h = mix(v, f0, 0, 0, 429049385);
                if h % 1 < 1 { o[3] = o[3].wrapping_mul(3).wrapping_add(u64::from(s[5])); }
            }
            #[wave(edges(graph, from = l2), after(w1))]
            fn w4(at: Edge, f0: Round, l0: &Push, lf: &Push, acc: &Buf<Atomic<u64>>) {
                let h = mix(at.index, f0, 0, 0, 546219885);
                if h % 4 < 4 { l0.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 853577425);
                if h % 2 < 2 { l0.push(at.src); }
                let h = mix(at.index, f0, 0, 0, 175742306);
                if h % 2 < 2 { lf.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 938154468);
                if h % 2 < 2 { acc[at.src].fetch_add(u64::from(h % 1000) + 5); }
            }
        }
        #[fixpoint(after(w0, f0), until(round + 1 == 2 || l3.len() >= 6))]
        mod f1 {
            #[wave(items(lf))]
            fn w5(v: Node, f1: Round, o: &mut [u64; 8]) {
                let h = mix(v, f1, 0, 0, 725591136);
                if h % 1 < 1 { o[(h % 8) as usize] += 1 + u64::from(h % 17); }
                let h = mix(v, f1, 0, 0, 427162245);
                if h % 3 < 3 { o[(h % 8) as usize] += 6 + u64::from(h % 17); }
            }
            #[wave(edges(graph, from = l1))]
            fn w6(at: Edge, f1: Round, l3: &Push) {
                let h = mix(at.index, f1, 0, 0, 476611969);
                if h % 5 < 3 { l3.push(at.src); }
            }
            #[wave(edges(graph, from = l0), after(w6))]
            fn w7(at: Edge, f1: Round, l1: &Push) {
                let h = mix(at.index, f1, 0, 0, 919836410);
                if h % 4 < 1 { l1.push(at.dst); }
            }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 8]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 3], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (true, None), (true, None), (true, None)], frontier: Some(1),
            no: 8, ns: 7, ne: 3, bw: 32, binit: true, sinit: vec![5, 8, 7, 1, 3, 1, 0], s_owner: None, b_owner: None,
            root: vec![It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(3), m: 2, t: 1, salt: 140297546, who: Who::V, k: 0, c: 6 }, St { op: Op::BitSet, m: 1, t: 1, salt: 371754420, who: Who::V, k: 4, c: 5 }, St { op: Op::Push(2), m: 1, t: 1, salt: 102446774, who: Who::V, k: 3, c: 3 }] }), It::F(Fix { id: 0, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::OwnS, m: 3, t: 2, salt: 178134604, who: Who::V, k: 5, c: 8 }, St { op: Op::ReadS, m: 2, t: 1, salt: 417241459, who: Who::V, k: 3, c: 4 }, St { op: Op::BitCount, m: 2, t: 2, salt: 692954511, who: Who::V, k: 2, c: 8 }, St { op: Op::Push(0), m: 4, t: 1, salt: 313107897, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 7, t: 1, salt: 371970462, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 95290847, who: Who::Src, k: 3, c: 5 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 418288519, who: Who::V, k: 4, c: 2 }, St { op: Op::Own, m: 4, t: 3, salt: 245917969, who: Who::V, k: 3, c: 4 }, St { op: Op::Swap, m: 5, t: 4, salt: 331109144, who: Who::V, k: 0, c: 9 }, St { op: Op::ReadS, m: 1, t: 1, salt: 429049385, who: Who::V, k: 3, c: 5 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(0), m: 4, t: 4, salt: 546219885, who: Who::Dst, k: 5, c: 7 }, St { op: Op::Push(0), m: 2, t: 2, salt: 853577425, who: Who::Src, k: 3, c: 3 }, St { op: Op::Push(99), m: 2, t: 2, salt: 175742306, who: Who::Dst, k: 6, c: 4 }, St { op: Op::Acc, m: 2, t: 2, salt: 938154468, who: Who::Src, k: 5, c: 5 }] })] }), It::F(Fix { id: 1, times: 2, ask: Some((3, 6, false)), items: vec![It::W(Wave { dom: Dom::Items(99), ops: vec![St { op: Op::Own, m: 1, t: 1, salt: 725591136, who: Who::V, k: 0, c: 1 }, St { op: Op::Own, m: 3, t: 3, salt: 427162245, who: Who::V, k: 6, c: 6 }] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Push(3), m: 5, t: 3, salt: 476611969, who: Who::Src, k: 5, c: 3 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(1), m: 4, t: 1, salt: 919836410, who: Who::Dst, k: 2, c: 9 }] })] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g11 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l0: List<u32>,
            #[list(unique)] l1: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000, reset = round)] l2: List<u32>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 1],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [1, 8, 1, 7, 0, 7, 5])] s: [u32; 7],
            #[scratch(per = node, bits = 7)] b: Bits,
            #[output(per = edge(graph), init = [0])] e: [u32; 1],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[wave(nodes)]
        fn w0(v: Node, l1: &Push, s: &[u32; 7], o: &mut [u64; 1], l0: &Append<u32>) {
            let h = mix(v, 0, 0, 0, 320018870);
            if h % 2 < 1 { l1.push(v); }
            let h = mix(v, 0, 0, 0, 715458331);
            if h % 4 < 2 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[2])); }
            let h = mix(v, 0, 0, 0, 319319142);
            if h % 8 < 1 { l1.push(v); }
            let h = mix(v, 0, 0, 0, 147984384);
            if h % 6 < 1 { l0.append(v + h % 3); }
        }
        #[fixpoint(after(w0), until(round + 1 == 1 || l2.len() >= 19))]
        mod f0 {
            #[fixpoint(until(round + 1 == 2))]
            mod f1 {
                #[fixpoint(until(round + 1 == 2))]
                mod f2 {
                    #[wave(nodes)]
                    fn w1(v: Node, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, l2: &Append<u32>, l0: &Append<u32>, l1: &Push) {
                        let h = mix(v, f0, f1, f2, 116080465);
                        if h % 5 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
                        let h = mix(v, f0, f1, f2, 530351423);
                        if h % 2 < 2 { l2.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 643090873);
                        if h % 2 < 1 { l0.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 516129762);
                        if h % 2 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 2); }
                        let h = mix(v, f0, f1, f2, 832543916);
                        if h % 9 < 1 { l1.push(v); }
                        let h = mix(v, f0, f1, f2, 938200432);
                        if h % 7 < 1 { l2.append(v + h % 3); }
                    }
                    #[wave(items(l1), after(w1))]
                    fn w2(v: Node, f0: Round, f1: Round, f2: Round, s: &mut [u32; 7]) {
                        let h = mix(v, f0, f1, f2, 916981487);
                        if h % 5 < 5 { s.swap(0, (h % 7) as usize); }
                    }
                    #[wave(edges(graph), after(w2))]
                    fn w3(at: Edge, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 7]>, lf: &Push) {
                        let h = mix(at.index, f0, f1, f2, 192240029);
                        if h % 5 < 4 { acc[at.dst].fetch_add(u64::from(h % 1000) + 1); }
                        let h = mix(at.index, f0, f1, f2, 620831139);
                        if h % 2 < 1 { acc[at.src].fetch_add(u64::from(s.get(at.dst)[(h % 7) as usize])); }
                        let h = mix(at.index, f0, f1, f2, 757118926);
                        if h % 2 < 2 { lf.push(at.dst); }
                    }
                }
                #[wave(edges(graph), after(f2))]
                fn w4(at: Edge, f0: Round, f1: Round, l2: &Append<u32>, l1: &Push) {
                    let h = mix(at.index, f0, f1, 0, 520760683);
                    if h % 2 < 1 { l2.append(at.dst + h % 3); }
                    let h = mix(at.index, f0, f1, 0, 959520271);
                    if h % 4 < 2 { l1.push(at.src); }
                }
                #[wave(items(l2), after(f2, w4))]
                fn w5(x: u32, f0: Round, f1: Round, n: u32, l2: &Append<u32>, l1: &Push, acc: &Buf<Atomic<u64>>, l0: &Append<u32>) {
                    let h = mix(x, f0, f1, 0, 54077611);
                    if h % 5 < 1 { l1.push(x % n); }
                    let h = mix(x, f0, f1, 0, 309079258);
                    if h % 2 < 2 { acc[x % n].fetch_add(u64::from(h % 1000) + 2); }
                    let h = mix(x, f0, f1, 0, 342771010);
                    if h % 4 < 4 { l0.append(x % n + h % 3); }
                    let h = mix(x, f0, f1, 0, 874447459);
                    if h % 2 < 2 { l2.append(x % n + h % 3); }
                }
                #[wave(items(l1), after(f2, w4, w5))]
                fn w6(v: Node, f0: Round, f1: Round, s: &mut [u32; 7], l0: &Append<u32>) {
                    let h = mix(v, f0, f1, 0, 302846586);
                    if h % 4 < 4 { s[((h >> 3) % 7) as usize] += 7 + h % 5; }
                    let h = mix(v, f0, f1, 0, 801502601);
                    if h % 4 < 1 { l0.append(v + h % 3); }
                }
            }
            #[wave(items(l1), after(f1))]
            fn w7(v: Node, f0: Round, l1: &Push, o: &mut [u64; 1]) {
                let h = mix(v, f0, 0, 0, 812642294);
                if h % 4 < 4 { o[(h % 1) as usize] += 4 + u64::from(h % 17); }
                let h = mix(v, f0, 0, 0, 348431545);
                if h % 2 < 1 { l1.push(v); }
            }
            #[fixpoint(after(f1, w7), until(round + 1 == 1))]
            mod f3 {
                #[wave(nodes)]
                fn w8(v: Node, f0: Round, f3: Round, l0: &Append<u32>, b: &Bits, s: &[u32; 7], o: &mut [u64; 1], l2: &Append<u32>) {
                    let h = mix(v, f0, f3, 0, 827581236);
                    if h % 5 < 5 { l0.append(v + h % 3); }
                    let h = mix(v, f0, f3, 0, 593971310);
                    if h % 2 < 1 { b.set(v, h % 7); }
                    let h = mix(v, f0, f3, 0, 139576062);
                    if h % 4 < 4 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[3])); }
                    let h = mix(v, f0, f3, 0, 411890153);
                    if h % 8 < 1 { l2.append(v + h % 3); }
                    let h = mix(v, f0, f3, 0, 199685773);
                    if h % 8 < 1 { l0.append(v + h % 3); }
                }
                #[wave(items(lf), after(w8))]
                fn w9(v: Node, f0: Round, f3: Round, lf: &Push, l1: &Push, b: &Bits, acc: &Buf<Atomic<u64>>) {
                    let h = mix(v, f0, f3, 0, 493743982);
                    if h % 3 < 3 { l1.push(v); }
                    let h = mix(v, f0, f3, 0, 389182500);
                    if h % 5 < 5 { b.set(v, h % 7); }
                    let h = mix(v, f0, f3, 0, 754365981);
                    if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 5); }
                    let h = mix(v, f0, f3, 0, 635502799);
                    if h % 2 < 2 { lf.push(v); }
                }
                #[wave(items(l0), after(w8))]
                fn w10(x: u32, f0: Round, f3: Round, n: u32, l2: &Append<u32>) {
                    let h = mix(x, f0, f3, 0, 137989075);
                    if h % 2 < 1 { l2.append(x % n + h % 3); }
                }
                #[wave(items(lf), after(w8, w10))]
                fn w11(v: Node, f0: Round, f3: Round, o: &mut [u64; 1], l0: &Append<u32>, l1: &Push) {
                    let h = mix(v, f0, f3, 0, 65815234);
                    if h % 3 < 3 { o[(h % 1) as usize] += 1 + u64::from(h % 17); }
                    let h = mix(v, f0, f3, 0, 111860354);
                    if h % 5 < 4 { l0.append(v + h % 3); }
                    let h = mix(v, f0, f3, 0, 838421039);
                    if h % 2 < 1 { l1.push(v); }
                }
            }
            #[wave(nodes, after(f1, f3))]
            fn w12(v: Node, f0: Round, s: &mut [u32; 7], l2: &Append<u32>) {
                let h = mix(v, f0, 0, 0, 856183162);
                if h % 1 < 1 { s[((h >> 3) % 7) as usize] += 1 + h % 5; }
                let h = mix(v, f0, 0, 0, 304707735);
                if h % 5 < 4 { l2.append(v + h % 3); }
            }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 1]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 1], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(false, None), (true, None), (false, Some(0))], frontier: Some(3),
            no: 1, ns: 7, ne: 1, bw: 7, binit: false, sinit: vec![1, 8, 1, 7, 0, 7, 5], s_owner: None, b_owner: None,
            root: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 2, t: 1, salt: 320018870, who: Who::V, k: 0, c: 7 }, St { op: Op::ReadS, m: 4, t: 2, salt: 715458331, who: Who::V, k: 0, c: 2 }, St { op: Op::Push(1), m: 8, t: 1, salt: 319319142, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 6, t: 1, salt: 147984384, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 0, times: 1, ask: Some((2, 19, false)), items: vec![It::F(Fix { id: 1, times: 2, ask: None, items: vec![It::F(Fix { id: 2, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 5, t: 2, salt: 116080465, who: Who::V, k: 0, c: 3 }, St { op: Op::Push(2), m: 2, t: 2, salt: 530351423, who: Who::V, k: 3, c: 2 }, St { op: Op::Push(0), m: 2, t: 1, salt: 643090873, who: Who::V, k: 3, c: 9 }, St { op: Op::Acc, m: 2, t: 1, salt: 516129762, who: Who::V, k: 7, c: 2 }, St { op: Op::Push(1), m: 9, t: 1, salt: 832543916, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 7, t: 1, salt: 938200432, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Swap, m: 5, t: 5, salt: 916981487, who: Who::V, k: 0, c: 8 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Acc, m: 5, t: 4, salt: 192240029, who: Who::Dst, k: 5, c: 1 }, St { op: Op::RecS, m: 2, t: 1, salt: 620831139, who: Who::Src, k: 1, c: 5 }, St { op: Op::Push(99), m: 2, t: 2, salt: 757118926, who: Who::Dst, k: 0, c: 7 }] })] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(2), m: 2, t: 1, salt: 520760683, who: Who::Dst, k: 6, c: 4 }, St { op: Op::Push(1), m: 4, t: 2, salt: 959520271, who: Who::Src, k: 5, c: 7 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(1), m: 5, t: 1, salt: 54077611, who: Who::V, k: 6, c: 2 }, St { op: Op::Acc, m: 2, t: 2, salt: 309079258, who: Who::V, k: 3, c: 2 }, St { op: Op::Push(0), m: 4, t: 4, salt: 342771010, who: Who::V, k: 1, c: 8 }, St { op: Op::Push(2), m: 2, t: 2, salt: 874447459, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::OwnS, m: 4, t: 4, salt: 302846586, who: Who::V, k: 3, c: 7 }, St { op: Op::Push(0), m: 4, t: 1, salt: 801502601, who: Who::V, k: 4, c: 7 }] })] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Own, m: 4, t: 4, salt: 812642294, who: Who::V, k: 5, c: 4 }, St { op: Op::Push(1), m: 2, t: 1, salt: 348431545, who: Who::V, k: 5, c: 4 }] }), It::F(Fix { id: 3, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 5, t: 5, salt: 827581236, who: Who::V, k: 4, c: 3 }, St { op: Op::BitSet, m: 2, t: 1, salt: 593971310, who: Who::V, k: 7, c: 7 }, St { op: Op::ReadS, m: 4, t: 4, salt: 139576062, who: Who::V, k: 6, c: 3 }, St { op: Op::Push(2), m: 8, t: 1, salt: 411890153, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 8, t: 1, salt: 199685773, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(99), ops: vec![St { op: Op::Push(1), m: 3, t: 3, salt: 493743982, who: Who::V, k: 7, c: 6 }, St { op: Op::BitSet, m: 5, t: 5, salt: 389182500, who: Who::V, k: 0, c: 9 }, St { op: Op::BitCount, m: 1, t: 1, salt: 754365981, who: Who::V, k: 5, c: 5 }, St { op: Op::Push(99), m: 2, t: 2, salt: 635502799, who: Who::V, k: 7, c: 8 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Push(2), m: 2, t: 1, salt: 137989075, who: Who::V, k: 3, c: 8 }] }), It::W(Wave { dom: Dom::Items(99), ops: vec![St { op: Op::Own, m: 3, t: 3, salt: 65815234, who: Who::V, k: 4, c: 1 }, St { op: Op::Push(0), m: 5, t: 4, salt: 111860354, who: Who::V, k: 5, c: 3 }, St { op: Op::Push(1), m: 2, t: 1, salt: 838421039, who: Who::V, k: 1, c: 2 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::OwnS, m: 1, t: 1, salt: 856183162, who: Who::V, k: 5, c: 1 }, St { op: Op::Push(2), m: 5, t: 4, salt: 304707735, who: Who::V, k: 5, c: 6 }] })] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g12 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(unique, reset = round)] l1: List<Node>,
            #[list(unique)] l2: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l3: List<u32>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 8],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [9, 2, 4, 0, 3, 9, 9, 7], reset = round)] s: [u32; 8],
            #[output(per = edge(graph), init = [0])] e: [u32; 1],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[wave(nodes)]
        fn w0(v: Node, l2: &Push, l0: &Push, l3: &Append<u32>) {
            let h = mix(v, 0, 0, 0, 311405956);
            if h % 4 < 3 { l2.push(v); }
            let h = mix(v, 0, 0, 0, 530240287);
            if h % 3 < 2 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 959012781);
            if h % 5 < 2 { l3.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 954214757);
            if h % 8 < 1 { l3.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 786395401);
            if h % 4 < 1 { l2.push(v); }
        }
        #[fixpoint(until(round + 1 == 3))]
        mod f0 {
            #[wave(nodes)]
            fn w1(v: Node, f0: Round, l1: &Push, acc: &Buf<Atomic<u64>>, l3: &Append<u32>) {
                let h = mix(v, f0, 0, 0, 201021429);
                if h % 1 < 1 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 269716044);
                if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 6); }
                let h = mix(v, f0, 0, 0, 899483675);
                if h % 5 < 1 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 977808646);
                if h % 2 < 1 { l3.append(v + h % 3); }
            }
            #[wave(nodes)]
            fn w2(v: Node, f0: Round, l0: &Push, l3: &Append<u32>, l1: &Push, s: &mut [u32; 8]) {
                let h = mix(v, f0, 0, 0, 496253763);
                if h % 5 < 2 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 213867394);
                if h % 4 < 4 { l3.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 758569163);
                if h % 1 < 1 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 316981242);
                if h % 4 < 3 { s[((h >> 3) % 8) as usize] += 1 + h % 5; }
            }
            #[wave(items(lf))]
            fn w3(v: Node, f0: Round, o: &mut [u64; 8], l3: &Append<u32>, l0: &Push) {
                let h = mix(v, f0, 0, 0, 379357214);
                if h % 4 < 3 { o[(h % 8) as usize] += 9 + u64::from(h % 17); }
                let h = mix(v, f0, 0, 0, 951346146);
                if h % 1 < 1 { l3.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 841637876);
                if h % 3 < 1 { l0.push(v); }
            }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 8]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 1], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (true, Some(0)), (true, None), (false, None)], frontier: Some(0),
            no: 8, ns: 8, ne: 1, bw: 64, binit: false, sinit: vec![9, 2, 4, 0, 3, 9, 9, 7], s_owner: Some(0), b_owner: None,
            root: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 4, t: 3, salt: 311405956, who: Who::V, k: 3, c: 9 }, St { op: Op::Push(0), m: 3, t: 2, salt: 530240287, who: Who::V, k: 3, c: 1 }, St { op: Op::Push(3), m: 5, t: 2, salt: 959012781, who: Who::V, k: 2, c: 8 }, St { op: Op::Push(3), m: 8, t: 1, salt: 954214757, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 4, t: 1, salt: 786395401, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 0, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 201021429, who: Who::V, k: 6, c: 6 }, St { op: Op::Acc, m: 1, t: 1, salt: 269716044, who: Who::V, k: 0, c: 6 }, St { op: Op::Push(1), m: 5, t: 1, salt: 899483675, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(3), m: 2, t: 1, salt: 977808646, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 5, t: 2, salt: 496253763, who: Who::V, k: 7, c: 6 }, St { op: Op::Push(3), m: 4, t: 4, salt: 213867394, who: Who::V, k: 7, c: 1 }, St { op: Op::Push(1), m: 1, t: 1, salt: 758569163, who: Who::V, k: 2, c: 2 }, St { op: Op::OwnS, m: 4, t: 3, salt: 316981242, who: Who::V, k: 6, c: 1 }] }), It::W(Wave { dom: Dom::Items(99), ops: vec![St { op: Op::Own, m: 4, t: 3, salt: 379357214, who: Who::V, k: 5, c: 9 }, St { op: Op::Push(3), m: 1, t: 1, salt: 951346146, who: Who::V, k: 3, c: 4 }, St { op: Op::Push(0), m: 3, t: 1, salt: 841637876, who: Who::V, k: 0, c: 2 }] })] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g13 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l0: List<u32>,
            #[list(unique)] l1: List<Node>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 1],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [8])] s: [u32; 1],
            #[output(per = edge(graph), init = [0, 1, 2])] e: [u32; 3],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 3 || l1.len() >= 14))]
        mod f0 {
            #[fixpoint(until(round + 1 == 1))]
            mod f1 {
                #[wave(nodes)]
                fn w0(v: Node, f0: Round, f1: Round, l0: &Append<u32>, l1: &Push) {
                    let h = mix(v, f0, f1, 0, 414999623);
                    if h % 2 < 1 { l0.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 326170305);
                    if h % 3 < 1 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 407356024);
                    if h % 8 < 1 { l0.append(v + h % 3); }
                }
                #[wave(items(l1), after(w0))]
                fn w1(v: Node, f0: Round, f1: Round, l1: &Push, s: &mut [u32; 1], acc: &Buf<Atomic<u64>>) {
                    let h = mix(v, f0, f1, 0, 839428104);
                    if h % 4 < 4 { s[((h >> 3) % 1) as usize] += 7 + h % 5; }
                    let h = mix(v, f0, f1, 0, 594185364);
                    if h % 4 < 1 { s[((h >> 3) % 1) as usize] += 4 + h % 5; }
                    let h = mix(v, f0, f1, 0, 825276230);
                    if h % 5 < 1 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 420875119);
                    if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 6); }
                }
            }
            #[wave(nodes, after(f1))]
            fn w2(v: Node, f0: Round, s: &mut [u32; 1], l0: &Append<u32>, l1: &Push) {
                let h = mix(v, f0, 0, 0, 896115507);
                if h % 1 < 1 { s[((h >> 3) % 1) as usize] += 8 + h % 5; }
                let h = mix(v, f0, 0, 0, 209178349);
                if h % 7 < 1 { l0.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 706010136);
                if h % 5 < 1 { l1.push(v); }
            }
            #[wave(nodes)]
            fn w3(v: Node, f0: Round, o: &mut [u64; 1]) {
                let h = mix(v, f0, 0, 0, 296012498);
                if h % 3 < 3 { o[(h % 1) as usize] += 1 + u64::from(h % 17); }
            }
            #[fixpoint(after(f1, w2, w3), until(round + 1 == 3))]
            mod f2 {
                #[fixpoint(until(round + 1 == 1))]
                mod f3 {
                    #[wave(nodes)]
                    fn w4(v: Node, f0: Round, f2: Round, f3: Round, l1: &Push, s: &mut [u32; 1], acc: &Buf<Atomic<u64>>, o: &mut [u64; 1], l0: &Append<u32>) {
                        let h = mix(v, f0, f2, f3, 813339062);
                        if h % 2 < 1 { l1.push(v); }
                        let h = mix(v, f0, f2, f3, 241842001);
                        if h % 3 < 2 { s.swap(0, (h % 1) as usize); }
                        let h = mix(v, f0, f2, f3, 232900175);
                        if h % 5 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 4); }
                        let h = mix(v, f0, f2, f3, 408053796);
                        if h % 2 < 2 { o[(h % 1) as usize] += 7 + u64::from(h % 17); }
                        let h = mix(v, f0, f2, f3, 253551559);
                        if h % 8 < 1 { l1.push(v); }
                        let h = mix(v, f0, f2, f3, 238358765);
                        if h % 9 < 1 { l0.append(v + h % 3); }
                    }
                    #[wave(nodes, after(w4))]
                    fn w5(v: Node, f0: Round, f2: Round, f3: Round, s: &mut [u32; 1], l0: &Append<u32>, acc: &Buf<Atomic<u64>>, l1: &Push) {
                        let h = mix(v, f0, f2, f3, 501492246);
                        if h % 5 < 5 { s.swap(0, (h % 1) as usize); }
                        let h = mix(v, f0, f2, f3, 960677952);
                        if h % 4 < 1 { l0.append(v + h % 3); }
                        let h = mix(v, f0, f2, f3, 245689935);
                        if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 7); }
                        let h = mix(v, f0, f2, f3, 320820783);
                        if h % 1 < 1 { l1.push(v); }
                    }
                }
                #[wave(nodes)]
                fn w6(v: Node, f0: Round, f2: Round, lf: &Push, l0: &Append<u32>, l1: &Push) {
                    let h = mix(v, f0, f2, 0, 782399909);
                    if h % 4 < 3 { lf.push(v); }
                    let h = mix(v, f0, f2, 0, 230125317);
                    if h % 5 < 4 { l0.append(v + h % 3); }
                    let h = mix(v, f0, f2, 0, 664441300);
                    if h % 4 < 1 { l0.append(v + h % 3); }
                    let h = mix(v, f0, f2, 0, 178714529);
                    if h % 5 < 1 { l1.push(v); }
                }
                #[wave(items(lf))]
                fn w7(v: Node, f0: Round, f2: Round, l0: &Append<u32>) {
                    let h = mix(v, f0, f2, 0, 17306678);
                    if h % 1 < 1 { l0.append(v + h % 3); }
                }
                #[wave(items(lf), after(f3))]
                fn w8(v: Node, f0: Round, f2: Round, lf: &Push, acc: &Buf<Atomic<u64>>, s: &[u32; 1], o: &mut [u64; 1]) {
                    let h = mix(v, f0, f2, 0, 405890982);
                    if h % 5 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 1); }
                    let h = mix(v, f0, f2, 0, 340067100);
                    if h % 1 < 1 { lf.push(v); }
                    let h = mix(v, f0, f2, 0, 536744356);
                    if h % 5 < 3 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                }
            }
        }
        #[wave(nodes, after(f0))]
        fn w9(v: Node, s: &[u32; 1], o: &mut [u64; 1], l1: &Push, l0: &Append<u32>) {
            let h = mix(v, 0, 0, 0, 661024167);
            if h % 2 < 1 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
            let h = mix(v, 0, 0, 0, 977964025);
            if h % 3 < 3 { o[(h % 1) as usize] += 6 + u64::from(h % 17); }
            let h = mix(v, 0, 0, 0, 17591833);
            if h % 1 < 1 { l1.push(v); }
            let h = mix(v, 0, 0, 0, 585211274);
            if h % 2 < 2 { l0.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 679437329);
            if h % 4 < 1 { l0.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 522736844);
            if h % 7 < 1 { l1.push(v); }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 1]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 3], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(false, None), (true, None)], frontier: Some(2),
            no: 1, ns: 1, ne: 3, bw: 32, binit: true, sinit: vec![8], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 3, ask: Some((1, 14, false)), items: vec![It::F(Fix { id: 1, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 2, t: 1, salt: 414999623, who: Who::V, k: 2, c: 2 }, St { op: Op::Push(1), m: 3, t: 1, salt: 326170305, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 8, t: 1, salt: 407356024, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::OwnS, m: 4, t: 4, salt: 839428104, who: Who::V, k: 5, c: 7 }, St { op: Op::OwnS, m: 4, t: 1, salt: 594185364, who: Who::V, k: 3, c: 4 }, St { op: Op::Push(1), m: 5, t: 1, salt: 825276230, who: Who::V, k: 5, c: 6 }, St { op: Op::Acc, m: 1, t: 1, salt: 420875119, who: Who::V, k: 5, c: 6 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::OwnS, m: 1, t: 1, salt: 896115507, who: Who::V, k: 7, c: 8 }, St { op: Op::Push(0), m: 7, t: 1, salt: 209178349, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 5, t: 1, salt: 706010136, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Own, m: 3, t: 3, salt: 296012498, who: Who::V, k: 7, c: 1 }] }), It::F(Fix { id: 2, times: 3, ask: None, items: vec![It::F(Fix { id: 3, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 2, t: 1, salt: 813339062, who: Who::V, k: 5, c: 6 }, St { op: Op::Swap, m: 3, t: 2, salt: 241842001, who: Who::V, k: 1, c: 7 }, St { op: Op::Acc, m: 5, t: 3, salt: 232900175, who: Who::V, k: 4, c: 4 }, St { op: Op::Own, m: 2, t: 2, salt: 408053796, who: Who::V, k: 2, c: 7 }, St { op: Op::Push(1), m: 8, t: 1, salt: 253551559, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 9, t: 1, salt: 238358765, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Swap, m: 5, t: 5, salt: 501492246, who: Who::V, k: 6, c: 4 }, St { op: Op::Push(0), m: 4, t: 1, salt: 960677952, who: Who::V, k: 6, c: 2 }, St { op: Op::Acc, m: 1, t: 1, salt: 245689935, who: Who::V, k: 5, c: 7 }, St { op: Op::Push(1), m: 1, t: 1, salt: 320820783, who: Who::V, k: 7, c: 2 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(99), m: 4, t: 3, salt: 782399909, who: Who::V, k: 5, c: 3 }, St { op: Op::Push(0), m: 5, t: 4, salt: 230125317, who: Who::V, k: 1, c: 4 }, St { op: Op::Push(0), m: 4, t: 1, salt: 664441300, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 5, t: 1, salt: 178714529, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(99), ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 17306678, who: Who::V, k: 4, c: 7 }] }), It::W(Wave { dom: Dom::Items(99), ops: vec![St { op: Op::Acc, m: 5, t: 2, salt: 405890982, who: Who::V, k: 3, c: 1 }, St { op: Op::Push(99), m: 1, t: 1, salt: 340067100, who: Who::V, k: 2, c: 8 }, St { op: Op::ReadS, m: 5, t: 3, salt: 536744356, who: Who::V, k: 5, c: 7 }] })] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::ReadS, m: 2, t: 1, salt: 661024167, who: Who::V, k: 0, c: 8 }, St { op: Op::Own, m: 3, t: 3, salt: 977964025, who: Who::V, k: 1, c: 6 }, St { op: Op::Push(1), m: 1, t: 1, salt: 17591833, who: Who::V, k: 6, c: 2 }, St { op: Op::Push(0), m: 2, t: 2, salt: 585211274, who: Who::V, k: 3, c: 4 }, St { op: Op::Push(0), m: 4, t: 1, salt: 679437329, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 7, t: 1, salt: 522736844, who: Who::V, k: 0, c: 1 }] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g14 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l1: List<u32>,
            #[list(unique)] l2: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 8],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [4, 0, 8, 2, 9, 3, 9, 9], reset = round)] s: [u32; 8],
            #[scratch(per = node, bits = 7)] b: Bits,
            #[output(per = edge(graph), init = [0, 1, 2, 3, 4, 5, 6, 7])] e: [u32; 8],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[wave(nodes)]
        fn w0(v: Node, b: &Bits, acc: &Buf<Atomic<u64>>, l0: &Push, l1: &Append<u32>, l2: &Push) {
            let h = mix(v, 0, 0, 0, 931958177);
            if h % 5 < 3 { acc[v].fetch_add(u64::from(b.count(v)) * 5); }
            let h = mix(v, 0, 0, 0, 572172286);
            if h % 3 < 1 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 162834136);
            if h % 5 < 4 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 677266114);
            if h % 8 < 1 { l1.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 991385457);
            if h % 6 < 1 { l2.push(v); }
        }
        #[fixpoint(after(w0), until(round + 1 == 3))]
        mod f0 {
            #[fixpoint(until(round + 1 == 1 || l1.len() >= 35))]
            mod f1 {
                #[wave(items(l1))]
                fn w1(x: u32, f0: Round, f1: Round, n: u32, l0: &Push, l2: &Push, acc: &Buf<Atomic<u64>>) {
                    let h = mix(x, f0, f1, 0, 536536604);
                    if h % 3 < 3 { l0.push(x % n); }
                    let h = mix(x, f0, f1, 0, 518359837);
                    if h % 4 < 4 { l2.push(x % n); }
                    let h = mix(x, f0, f1, 0, 809599650);
                    if h % 2 < 2 { acc[x % n].fetch_add(u64::from(h % 1000) + 3); }
                    let h = mix(x, f0, f1, 0, 7891539);
                    if h % 1 < 1 { l0.push(x % n); }
                }
                #[wave(edges(graph, from = l2), after(w1))]
                fn w2(at: Edge, f0: Round, f1: Round, l1: &Append<u32>) {
                    let h = mix(at.index, f0, f1, 0, 633629593);
                    if h % 5 < 1 { l1.append(at.src + h % 3); }
                    let h = mix(at.index, f0, f1, 0, 12899522);
                    if h % 5 < 4 { l1.append(at.dst + h % 3); }
                }
                #[wave(edges(graph, from = l0), after(w1, w2))]
                fn w3(at: Edge, f0: Round, f1: Round, l2: &Push) {
                    let h = mix(at.index, f0, f1, 0, 952425681);
                    if h % 1 < 1 { l2.push(at.src); }
                }
            }
            #[fixpoint(after(f1), until(round + 1 == 3))]
            mod f2 {
                #[fixpoint(until(round + 1 == 2 || l1.is_empty()))]
                mod f3 {
                    #[wave(edges(graph, from = l0))]
                    fn w4(at: Edge, f0: Round, f2: Round, f3: Round, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 8]>) {
                        let h = mix(at.index, f0, f2, f3, 32063592);
                        if h % 4 < 4 { acc[at.dst].fetch_add(u64::from(s.get(at.src)[(h % 8) as usize])); }
                    }
                    #[wave(items(l0), after(w4))]
                    fn w5(v: Node, f0: Round, f2: Round, f3: Round, l0: &Push, s: &mut [u32; 8], b: &Bits, acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f0, f2, f3, 783770799);
                        if h % 1 < 1 { s.swap(3, (h % 8) as usize); }
                        let h = mix(v, f0, f2, f3, 269467122);
                        if h % 5 < 4 { l0.push(v); }
                        let h = mix(v, f0, f2, f3, 823417729);
                        if h % 4 < 3 { acc[v].fetch_add(u64::from(b.count(v)) * 9); }
                        let h = mix(v, f0, f2, f3, 981045074);
                        if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 2); }
                    }
                    #[wave(nodes)]
                    fn w6(v: Node, f0: Round, f2: Round, f3: Round, l2: &Push) {
                        let h = mix(v, f0, f2, f3, 159640007);
                        if h % 2 < 2 { l2.push(v); }
                    }
                }
                #[wave(items(l0), after(f3))]
                fn w7(v: Node, f0: Round, f2: Round, l0: &Push, b: &Bits, acc: &Buf<Atomic<u64>>, s: &mut [u32; 8]) {
                    let h = mix(v, f0, f2, 0, 275141866);
                    if h % 2 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 1); }
                    let h = mix(v, f0, f2, 0, 950995838);
                    if h % 2 < 2 { s.swap(7, (h % 8) as usize); }
                    let h = mix(v, f0, f2, 0, 188638226);
                    if h % 2 < 1 { l0.push(v); }
                    let h = mix(v, f0, f2, 0, 353688213);
                    if h % 1 < 1 { b.set(v, h % 7); }
                }
                #[wave(items(l0), after(f3, w7))]
                fn w8(v: Node, f0: Round, f2: Round, s: &[u32; 8], o: &mut [u64; 8], l2: &Push, acc: &Buf<Atomic<u64>>) {
                    let h = mix(v, f0, f2, 0, 420513656);
                    if h % 3 < 1 { o[7] = o[7].wrapping_mul(3).wrapping_add(u64::from(s[4])); }
                    let h = mix(v, f0, f2, 0, 214130135);
                    if h % 4 < 3 { l2.push(v); }
                    let h = mix(v, f0, f2, 0, 463174837);
                    if h % 2 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 9); }
                }
                #[wave(edges(graph, from = l0), after(f3, w7, w8))]
                fn w9(at: Edge, f0: Round, f2: Round, l0: &Push, e: &mut [u32; 8], acc: &Buf<Atomic<u64>>, s: &Records<[u32; 8]>, l2: &Push) {
                    let h = mix(at.index, f0, f2, 0, 764237262);
                    if h % 5 < 3 { e[1] = e[1] * 3 + 4 + h % 7; }
                    let h = mix(at.index, f0, f2, 0, 222776609);
                    if h % 4 < 4 { l0.push(at.dst); }
                    let h = mix(at.index, f0, f2, 0, 297538599);
                    if h % 2 < 2 { acc[at.dst].fetch_add(u64::from(s.get(at.src)[(h % 8) as usize])); }
                    let h = mix(at.index, f0, f2, 0, 8839734);
                    if h % 3 < 1 { l2.push(at.src); }
                }
            }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 8]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 8], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (false, None), (true, None)], frontier: None,
            no: 8, ns: 8, ne: 8, bw: 7, binit: false, sinit: vec![4, 0, 8, 2, 9, 3, 9, 9], s_owner: Some(2), b_owner: None,
            root: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitCount, m: 5, t: 3, salt: 931958177, who: Who::V, k: 1, c: 5 }, St { op: Op::Push(0), m: 3, t: 1, salt: 572172286, who: Who::V, k: 1, c: 5 }, St { op: Op::Push(0), m: 5, t: 4, salt: 162834136, who: Who::V, k: 5, c: 4 }, St { op: Op::Push(1), m: 8, t: 1, salt: 677266114, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 6, t: 1, salt: 991385457, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 0, times: 3, ask: None, items: vec![It::F(Fix { id: 1, times: 1, ask: Some((1, 35, false)), items: vec![It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(0), m: 3, t: 3, salt: 536536604, who: Who::V, k: 1, c: 3 }, St { op: Op::Push(2), m: 4, t: 4, salt: 518359837, who: Who::V, k: 3, c: 4 }, St { op: Op::Acc, m: 2, t: 2, salt: 809599650, who: Who::V, k: 7, c: 3 }, St { op: Op::Push(0), m: 1, t: 1, salt: 7891539, who: Who::V, k: 3, c: 9 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(1), m: 5, t: 1, salt: 633629593, who: Who::Src, k: 5, c: 7 }, St { op: Op::Push(1), m: 5, t: 4, salt: 12899522, who: Who::Dst, k: 3, c: 2 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(2), m: 1, t: 1, salt: 952425681, who: Who::Src, k: 4, c: 4 }] })] }), It::F(Fix { id: 2, times: 3, ask: None, items: vec![It::F(Fix { id: 3, times: 2, ask: Some((1, 23, true)), items: vec![It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::RecS, m: 4, t: 4, salt: 32063592, who: Who::Dst, k: 6, c: 5 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Swap, m: 1, t: 1, salt: 783770799, who: Who::V, k: 3, c: 1 }, St { op: Op::Push(0), m: 5, t: 4, salt: 269467122, who: Who::V, k: 4, c: 9 }, St { op: Op::BitCount, m: 4, t: 3, salt: 823417729, who: Who::V, k: 6, c: 9 }, St { op: Op::Acc, m: 1, t: 1, salt: 981045074, who: Who::V, k: 3, c: 2 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 2, t: 2, salt: 159640007, who: Who::V, k: 6, c: 9 }] })] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::BitCount, m: 2, t: 2, salt: 275141866, who: Who::V, k: 5, c: 1 }, St { op: Op::Swap, m: 2, t: 2, salt: 950995838, who: Who::V, k: 7, c: 4 }, St { op: Op::Push(0), m: 2, t: 1, salt: 188638226, who: Who::V, k: 4, c: 5 }, St { op: Op::BitSet, m: 1, t: 1, salt: 353688213, who: Who::V, k: 1, c: 4 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::ReadS, m: 3, t: 1, salt: 420513656, who: Who::V, k: 7, c: 4 }, St { op: Op::Push(2), m: 4, t: 3, salt: 214130135, who: Who::V, k: 6, c: 7 }, St { op: Op::Acc, m: 2, t: 1, salt: 463174837, who: Who::V, k: 7, c: 9 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::OwnE, m: 5, t: 3, salt: 764237262, who: Who::Dst, k: 1, c: 4 }, St { op: Op::Push(0), m: 4, t: 4, salt: 222776609, who: Who::Dst, k: 3, c: 5 }, St { op: Op::RecS, m: 2, t: 2, salt: 297538599, who: Who::Dst, k: 2, c: 9 }, St { op: Op::Push(2), m: 3, t: 1, salt: 8839734, who: Who::Src, k: 3, c: 6 }] })] })] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g15 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l1: List<u32>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l2: List<u32>,
            #[output(per = node, init = 7)] o: [u64; 5],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [6, 4, 2, 3])] s: [u32; 4],
            #[scratch(per = node, bits = 1, init = true)] b: Bits,
            #[output(per = edge(graph), init = [0, 1, 2, 3, 4, 5, 6, 7])] e: [u32; 8],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[wave(nodes)]
        fn w0(v: Node, b: &Bits, l1: &Append<u32>, l2: &Append<u32>) {
            let h = mix(v, 0, 0, 0, 892878402);
            if h % 1 < 1 { b.unset(v, h % 1); }
            let h = mix(v, 0, 0, 0, 707112522);
            if h % 1 < 1 { l1.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 287826200);
            if h % 3 < 2 { l2.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 627989182);
            if h % 2 < 1 { l2.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 378769375);
            if h % 6 < 1 { l1.append(v + h % 3); }
        }
        #[fixpoint(until(round + 1 == 2))]
        mod f0 {
            #[wave(nodes)]
            fn w1(v: Node, f0: Round, acc: &Buf<Atomic<u64>>, o: &mut [u64; 5], l1: &Append<u32>, l0: &Push) {
                let h = mix(v, f0, 0, 0, 563928757);
                if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 7); }
                let h = mix(v, f0, 0, 0, 15754239);
                if h % 2 < 2 { o[(h % 5) as usize] += 4 + u64::from(h % 17); }
                let h = mix(v, f0, 0, 0, 592071310);
                if h % 1 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 50076324);
                if h % 2 < 1 { o[(h % 5) as usize] += 8 + u64::from(h % 17); }
                let h = mix(v, f0, 0, 0, 938165638);
                if h % 4 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 170649483);
                if h % 6 < 1 { l0.push(v); }
            }
            #[wave(edges(graph, from = l0), after(w1))]
            fn w2(at: Edge, f0: Round, l1: &Append<u32>) {
                let h = mix(at.index, f0, 0, 0, 16873141);
                if h % 2 < 2 { l1.append(at.src + h % 3); }
            }
        }
        #[fixpoint(after(w0, f0), until(round + 1 == 2))]
        mod f1 {
            #[wave(edges(graph))]
            fn w3(at: Edge, f1: Round, l0: &Push, acc: &Buf<Atomic<u64>>) {
                let h = mix(at.index, f1, 0, 0, 623166868);
                if h % 5 < 1 { l0.push(at.src); }
                let h = mix(at.index, f1, 0, 0, 839617752);
                if h % 4 < 3 { acc[at.dst].fetch_add(u64::from(h % 1000) + 1); }
            }
            #[wave(items(l1))]
            fn w4(x: u32, f1: Round, n: u32, l1: &Append<u32>, l2: &Append<u32>, l0: &Push, acc: &Buf<Atomic<u64>>) {
                let h = mix(x, f1, 0, 0, 244526479);
                if h % 2 < 2 { l1.append(x % n + h % 3); }
                let h = mix(x, f1, 0, 0, 401004686);
                if h % 1 < 1 { l2.append(x % n + h % 3); }
                let h = mix(x, f1, 0, 0, 70705656);
                if h % 1 < 1 { l0.push(x % n); }
                let h = mix(x, f1, 0, 0, 691703146);
                if h % 4 < 3 { acc[x % n].fetch_add(u64::from(h % 1000) + 8); }
            }
            #[wave(nodes)]
            fn w5(v: Node, f1: Round, acc: &Buf<Atomic<u64>>, l0: &Push) {
                let h = mix(v, f1, 0, 0, 761562770);
                if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
                let h = mix(v, f1, 0, 0, 977768013);
                if h % 3 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 6); }
                let h = mix(v, f1, 0, 0, 322638793);
                if h % 4 < 1 { l0.push(v); }
            }
            #[fixpoint(after(w3, w4, w5), until(round + 1 == 2 || l0.is_empty()))]
            mod f2 {
                #[wave(nodes)]
                fn w6(v: Node, f1: Round, f2: Round, l1: &Append<u32>, l2: &Append<u32>, acc: &Buf<Atomic<u64>>) {
                    let h = mix(v, f1, f2, 0, 657371860);
                    if h % 2 < 2 { l1.append(v + h % 3); }
                    let h = mix(v, f1, f2, 0, 315354038);
                    if h % 5 < 3 { l2.append(v + h % 3); }
                    let h = mix(v, f1, f2, 0, 496482634);
                    if h % 2 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 1); }
                    let h = mix(v, f1, f2, 0, 783442545);
                    if h % 6 < 1 { l2.append(v + h % 3); }
                    let h = mix(v, f1, f2, 0, 846172627);
                    if h % 5 < 1 { l1.append(v + h % 3); }
                }
                #[fixpoint(until(round + 1 == 3 || l0.len() >= 18))]
                mod f3 {
                    #[wave(nodes)]
                    fn w7(v: Node, f1: Round, f2: Round, f3: Round, b: &Bits, acc: &Buf<Atomic<u64>>, l1: &Append<u32>, l0: &Push, l2: &Append<u32>) {
                        let h = mix(v, f1, f2, f3, 845418306);
                        if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 9); }
                        let h = mix(v, f1, f2, f3, 707442910);
                        if h % 2 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 8); }
                        let h = mix(v, f1, f2, f3, 87128926);
                        if h % 4 < 2 { l1.append(v + h % 3); }
                        let h = mix(v, f1, f2, f3, 558266197);
                        if h % 5 < 1 { l0.push(v); }
                        let h = mix(v, f1, f2, f3, 497735765);
                        if h % 8 < 1 { l2.append(v + h % 3); }
                    }
                    #[wave(nodes)]
                    fn w8(v: Node, f1: Round, f2: Round, f3: Round, l1: &Append<u32>) {
                        let h = mix(v, f1, f2, f3, 377596831);
                        if h % 1 < 1 { l1.append(v + h % 3); }
                    }
                }
                #[wave(edges(graph, from = l0), after(f3))]
                fn w9(at: Edge, f1: Round, f2: Round, l2: &Append<u32>) {
                    let h = mix(at.index, f1, f2, 0, 800239954);
                    if h % 5 < 3 { l2.append(at.dst + h % 3); }
                    let h = mix(at.index, f1, f2, 0, 459583789);
                    if h % 2 < 1 { l2.append(at.dst + h % 3); }
                    let h = mix(at.index, f1, f2, 0, 477869369);
                    if h % 1 < 1 { l2.append(at.dst + h % 3); }
                }
                #[wave(items(l0), after(f3))]
                fn w10(v: Node, f1: Round, f2: Round, s: &[u32; 4], o: &mut [u64; 5], acc: &Buf<Atomic<u64>>, b: &Bits) {
                    let h = mix(v, f1, f2, 0, 855845219);
                    if h % 2 < 2 { o[2] = o[2].wrapping_mul(3).wrapping_add(u64::from(s[2])); }
                    let h = mix(v, f1, f2, 0, 301741432);
                    if h % 4 < 2 { o[(h % 5) as usize] += 5 + u64::from(h % 17); }
                    let h = mix(v, f1, f2, 0, 977753352);
                    if h % 5 < 4 { acc[v].fetch_add(u64::from(h % 1000) + 7); }
                    let h = mix(v, f1, f2, 0, 132576588);
                    if h % 3 < 1 { b.unset(v, h % 1); }
                }
            }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 5]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 8], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (false, None), (false, None)], frontier: None,
            no: 5, ns: 4, ne: 8, bw: 1, binit: true, sinit: vec![6, 4, 2, 3], s_owner: None, b_owner: None,
            root: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitSet, m: 1, t: 1, salt: 892878402, who: Who::V, k: 2, c: 1 }, St { op: Op::Push(1), m: 1, t: 1, salt: 707112522, who: Who::V, k: 4, c: 9 }, St { op: Op::Push(2), m: 3, t: 2, salt: 287826200, who: Who::V, k: 1, c: 1 }, St { op: Op::Push(2), m: 2, t: 1, salt: 627989182, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 6, t: 1, salt: 378769375, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 0, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 563928757, who: Who::V, k: 0, c: 7 }, St { op: Op::Own, m: 2, t: 2, salt: 15754239, who: Who::V, k: 6, c: 4 }, St { op: Op::Push(1), m: 1, t: 1, salt: 592071310, who: Who::V, k: 7, c: 3 }, St { op: Op::Own, m: 2, t: 1, salt: 50076324, who: Who::V, k: 3, c: 8 }, St { op: Op::Push(1), m: 4, t: 1, salt: 938165638, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 6, t: 1, salt: 170649483, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(1), m: 2, t: 2, salt: 16873141, who: Who::Src, k: 0, c: 8 }] })] }), It::F(Fix { id: 1, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(0), m: 5, t: 1, salt: 623166868, who: Who::Src, k: 6, c: 2 }, St { op: Op::Acc, m: 4, t: 3, salt: 839617752, who: Who::Dst, k: 2, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(1), m: 2, t: 2, salt: 244526479, who: Who::V, k: 3, c: 8 }, St { op: Op::Push(2), m: 1, t: 1, salt: 401004686, who: Who::V, k: 1, c: 1 }, St { op: Op::Push(0), m: 1, t: 1, salt: 70705656, who: Who::V, k: 7, c: 1 }, St { op: Op::Acc, m: 4, t: 3, salt: 691703146, who: Who::V, k: 3, c: 8 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 761562770, who: Who::V, k: 3, c: 3 }, St { op: Op::Acc, m: 3, t: 1, salt: 977768013, who: Who::V, k: 7, c: 6 }, St { op: Op::Push(0), m: 4, t: 1, salt: 322638793, who: Who::V, k: 7, c: 8 }] }), It::F(Fix { id: 2, times: 2, ask: Some((0, 12, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 2, t: 2, salt: 657371860, who: Who::V, k: 6, c: 8 }, St { op: Op::Push(2), m: 5, t: 3, salt: 315354038, who: Who::V, k: 3, c: 3 }, St { op: Op::Acc, m: 2, t: 1, salt: 496482634, who: Who::V, k: 2, c: 1 }, St { op: Op::Push(2), m: 6, t: 1, salt: 783442545, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 5, t: 1, salt: 846172627, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 3, times: 3, ask: Some((0, 18, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitCount, m: 1, t: 1, salt: 845418306, who: Who::V, k: 7, c: 9 }, St { op: Op::BitCount, m: 2, t: 1, salt: 707442910, who: Who::V, k: 0, c: 8 }, St { op: Op::Push(1), m: 4, t: 2, salt: 87128926, who: Who::V, k: 3, c: 2 }, St { op: Op::Push(0), m: 5, t: 1, salt: 558266197, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 8, t: 1, salt: 497735765, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 377596831, who: Who::V, k: 7, c: 1 }] })] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(2), m: 5, t: 3, salt: 800239954, who: Who::Dst, k: 7, c: 6 }, St { op: Op::Push(2), m: 2, t: 1, salt: 459583789, who: Who::Dst, k: 0, c: 7 }, St { op: Op::Push(2), m: 1, t: 1, salt: 477869369, who: Who::Dst, k: 4, c: 5 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::ReadS, m: 2, t: 2, salt: 855845219, who: Who::V, k: 2, c: 2 }, St { op: Op::Own, m: 4, t: 2, salt: 301741432, who: Who::V, k: 2, c: 5 }, St { op: Op::Acc, m: 5, t: 4, salt: 977753352, who: Who::V, k: 4, c: 7 }, St { op: Op::BitSet, m: 3, t: 1, salt: 132576588, who: Who::V, k: 2, c: 8 }] })] })] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g16 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l1: List<u32>,
            #[output(per = node, init = 7)] o: [u64; 2],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [4, 0], reset = round)] s: [u32; 2],
            #[scratch(per = node, bits = 32, reset = round)] b: Bits,
            #[output(per = edge(graph), init = [0])] e: [u32; 1],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 1))]
        mod f0 {
            #[wave(edges(graph, from = l0))]
            fn w0(at: Edge, f0: Round, l0: &Push, acc: &Buf<Atomic<u64>>, e: &mut [u32; 1]) {
                let h = mix(at.index, f0, 0, 0, 257989969);
                if h % 5 < 1 { l0.push(at.src); }
                let h = mix(at.index, f0, 0, 0, 479236496);
                if h % 3 < 2 { acc[at.dst].fetch_add(u64::from(h % 1000) + 2); }
                let h = mix(at.index, f0, 0, 0, 130210541);
                if h % 2 < 2 { e[0] = e[0] * 3 + 6 + h % 7; }
            }
            #[fixpoint(after(w0), until(round + 1 == 2))]
            mod f1 {
                #[fixpoint(until(round + 1 == 1 || l0.is_empty()))]
                mod f2 {
                    #[wave(nodes)]
                    fn w1(v: Node, f0: Round, f1: Round, f2: Round, l0: &Push, s: &mut [u32; 2], l1: &Append<u32>) {
                        let h = mix(v, f0, f1, f2, 399399053);
                        if h % 1 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 45723142);
                        if h % 4 < 2 { s[((h >> 3) % 2) as usize] += 4 + h % 5; }
                        let h = mix(v, f0, f1, f2, 173285808);
                        if h % 3 < 1 { l1.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 786662066);
                        if h % 7 < 1 { l0.push(v); }
                    }
                    #[wave(nodes)]
                    fn w2(v: Node, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f0, f1, f2, 689828332);
                        if h % 3 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 6); }
                    }
                    #[wave(nodes, after(w1))]
                    fn w3(v: Node, f0: Round, f1: Round, f2: Round, s: &mut [u32; 2], l1: &Append<u32>, b: &Bits, acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f0, f1, f2, 343166399);
                        if h % 2 < 1 { s[((h >> 3) % 2) as usize] += 5 + h % 5; }
                        let h = mix(v, f0, f1, f2, 470527275);
                        if h % 5 < 2 { l1.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 535526555);
                        if h % 2 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 5); }
                    }
                    #[wave(edges(graph), after(w1, w3))]
                    fn w4(at: Edge, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 2]>, l1: &Append<u32>) {
                        let h = mix(at.index, f0, f1, f2, 199506036);
                        if h % 4 < 2 { acc[at.dst].fetch_add(u64::from(s.get(at.src)[(h % 2) as usize])); }
                        let h = mix(at.index, f0, f1, f2, 36367492);
                        if h % 2 < 1 { l1.append(at.src + h % 3); }
                    }
                }
                #[wave(items(l0), after(f2))]
                fn w5(v: Node, f0: Round, f1: Round, b: &Bits, acc: &Buf<Atomic<u64>>) {
                    let h = mix(v, f0, f1, 0, 4105278);
                    if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 3); }
                    let h = mix(v, f0, f1, 0, 804618000);
                    if h % 3 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 5); }
                    let h = mix(v, f0, f1, 0, 364906883);
                    if h % 5 < 4 { acc[v].fetch_add(u64::from(b.count(v)) * 3); }
                }
                #[fixpoint(after(f2, w5), until(round + 1 == 3))]
                mod f3 {
                    #[wave(nodes)]
                    fn w6(v: Node, f0: Round, f1: Round, f3: Round, l1: &Append<u32>, l0: &Push) {
                        let h = mix(v, f0, f1, f3, 533030631);
                        if h % 2 < 1 { l1.append(v + h % 3); }
                        let h = mix(v, f0, f1, f3, 408169329);
                        if h % 3 < 1 { l1.append(v + h % 3); }
                        let h = mix(v, f0, f1, f3, 274891804);
                        if h % 2 < 1 { l0.push(v); }
                    }
                    #[wave(items(l1), after(w6))]
                    fn w7(x: u32, f0: Round, f1: Round, f3: Round, n: u32, l0: &Push, acc: &Buf<Atomic<u64>>) {
                        let h = mix(x, f0, f1, f3, 923217745);
                        if h % 1 < 1 { l0.push(x % n); }
                        let h = mix(x, f0, f1, f3, 950341851);
                        if h % 4 < 4 { l0.push(x % n); }
                        let h = mix(x, f0, f1, f3, 740141392);
                        if h % 4 < 2 { l0.push(x % n); }
                        let h = mix(x, f0, f1, f3, 345980574);
                        if h % 1 < 1 { acc[x % n].fetch_add(u64::from(h % 1000) + 7); }
                    }
                }
                #[wave(edges(graph), after(f3))]
                fn w8(at: Edge, f0: Round, f1: Round, e: &mut [u32; 1], l1: &Append<u32>) {
                    let h = mix(at.index, f0, f1, 0, 222058216);
                    if h % 4 < 2 { e[0] = e[0] * 3 + 9 + h % 7; }
                    let h = mix(at.index, f0, f1, 0, 997958139);
                    if h % 3 < 1 { l1.append(at.dst + h % 3); }
                }
            }
            #[wave(edges(graph), after(w0, f1))]
            fn w9(at: Edge, f0: Round, l0: &Push, e: &mut [u32; 1]) {
                let h = mix(at.index, f0, 0, 0, 373448242);
                if h % 1 < 1 { l0.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 967349333);
                if h % 5 < 5 { e[0] = e[0] * 3 + 4 + h % 7; }
            }
            #[wave(items(l1), after(f1))]
            fn w10(x: u32, f0: Round, n: u32, acc: &Buf<Atomic<u64>>) {
                let h = mix(x, f0, 0, 0, 189871779);
                if h % 2 < 2 { acc[x % n].fetch_add(u64::from(h % 1000) + 3); }
                let h = mix(x, f0, 0, 0, 226355722);
                if h % 3 < 1 { acc[x % n].fetch_add(u64::from(h % 1000) + 6); }
            }
        }
        #[wave(nodes, after(f0))]
        fn w11(v: Node, l1: &Append<u32>, l0: &Push) {
            let h = mix(v, 0, 0, 0, 575519507);
            if h % 5 < 2 { l1.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 661840570);
            if h % 9 < 1 { l1.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 389686627);
            if h % 2 < 1 { l0.push(v); }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 2]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 1], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (false, None)], frontier: None,
            no: 2, ns: 2, ne: 1, bw: 32, binit: false, sinit: vec![4, 0], s_owner: Some(2), b_owner: Some(1),
            root: vec![It::F(Fix { id: 0, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(0), m: 5, t: 1, salt: 257989969, who: Who::Src, k: 7, c: 2 }, St { op: Op::Acc, m: 3, t: 2, salt: 479236496, who: Who::Dst, k: 5, c: 2 }, St { op: Op::OwnE, m: 2, t: 2, salt: 130210541, who: Who::Dst, k: 1, c: 6 }] }), It::F(Fix { id: 1, times: 2, ask: None, items: vec![It::F(Fix { id: 2, times: 1, ask: Some((0, 23, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 399399053, who: Who::V, k: 0, c: 6 }, St { op: Op::OwnS, m: 4, t: 2, salt: 45723142, who: Who::V, k: 1, c: 4 }, St { op: Op::Push(1), m: 3, t: 1, salt: 173285808, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 7, t: 1, salt: 786662066, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 3, t: 3, salt: 689828332, who: Who::V, k: 6, c: 6 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::OwnS, m: 2, t: 1, salt: 343166399, who: Who::V, k: 6, c: 5 }, St { op: Op::Push(1), m: 5, t: 2, salt: 470527275, who: Who::V, k: 1, c: 5 }, St { op: Op::BitCount, m: 2, t: 1, salt: 535526555, who: Who::V, k: 3, c: 5 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::RecS, m: 4, t: 2, salt: 199506036, who: Who::Dst, k: 4, c: 8 }, St { op: Op::Push(1), m: 2, t: 1, salt: 36367492, who: Who::Src, k: 5, c: 9 }] })] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::BitCount, m: 1, t: 1, salt: 4105278, who: Who::V, k: 3, c: 3 }, St { op: Op::BitCount, m: 3, t: 2, salt: 804618000, who: Who::V, k: 7, c: 5 }, St { op: Op::BitCount, m: 5, t: 4, salt: 364906883, who: Who::V, k: 2, c: 3 }] }), It::F(Fix { id: 3, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 2, t: 1, salt: 533030631, who: Who::V, k: 5, c: 3 }, St { op: Op::Push(1), m: 3, t: 1, salt: 408169329, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 2, t: 1, salt: 274891804, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 923217745, who: Who::V, k: 0, c: 9 }, St { op: Op::Push(0), m: 4, t: 4, salt: 950341851, who: Who::V, k: 3, c: 1 }, St { op: Op::Push(0), m: 4, t: 2, salt: 740141392, who: Who::V, k: 7, c: 5 }, St { op: Op::Acc, m: 1, t: 1, salt: 345980574, who: Who::V, k: 6, c: 7 }] })] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::OwnE, m: 4, t: 2, salt: 222058216, who: Who::Src, k: 4, c: 9 }, St { op: Op::Push(1), m: 3, t: 1, salt: 997958139, who: Who::Dst, k: 0, c: 3 }] })] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 373448242, who: Who::Dst, k: 3, c: 2 }, St { op: Op::OwnE, m: 5, t: 5, salt: 967349333, who: Who::Src, k: 0, c: 4 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Acc, m: 2, t: 2, salt: 189871779, who: Who::V, k: 6, c: 3 }, St { op: Op::Acc, m: 3, t: 1, salt: 226355722, who: Who::V, k: 4, c: 6 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 5, t: 2, salt: 575519507, who: Who::V, k: 5, c: 3 }, St { op: Op::Push(1), m: 9, t: 1, salt: 661840570, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 2, t: 1, salt: 389686627, who: Who::V, k: 0, c: 1 }] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g17 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique, reset = round)] l0: List<Node>,
            #[list(unique)] l1: List<Node>,
            #[list(unique)] l2: List<Node>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 3],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [4, 9, 2, 2, 0, 3, 5, 6])] s: [u32; 8],
            #[scratch(per = node, bits = 65, init = true, reset = round)] b: Bits,
            #[output(per = edge(graph), init = [0, 1, 2, 3, 4, 5, 6, 7])] e: [u32; 8],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 3))]
        mod f0 {
            #[fixpoint(until(round + 1 == 3 || l0.is_empty()))]
            mod f1 {
                #[fixpoint(until(round + 1 == 1))]
                mod f2 {
                    #[wave(nodes)]
                    fn w0(v: Node, f0: Round, f1: Round, f2: Round, l1: &Push, l0: &Push, l2: &Push) {
                        let h = mix(v, f0, f1, f2, 672031113);
                        if h % 5 < 5 { l1.push(v); }
                        let h = mix(v, f0, f1, f2, 891133363);
                        if h % 5 < 4 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 936216474);
                        if h % 3 < 1 { l2.push(v); }
                        let h = mix(v, f0, f1, f2, 582816346);
                        if h % 5 < 5 { l2.push(v); }
                        let h = mix(v, f0, f1, f2, 985978957);
                        if h % 4 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 597623939);
                        if h % 7 < 1 { l2.push(v); }
                    }
                    #[wave(items(l2), after(w0))]
                    fn w1(v: Node, f0: Round, f1: Round, f2: Round, s: &[u32; 8], o: &mut [u64; 3], l0: &Push, acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f0, f1, f2, 537903615);
                        if h % 5 < 1 { o[2] = o[2].wrapping_mul(3).wrapping_add(u64::from(s[5])); }
                        let h = mix(v, f0, f1, f2, 631463612);
                        if h % 1 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 392600357);
                        if h % 4 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 5); }
                        let h = mix(v, f0, f1, f2, 122385276);
                        if h % 5 < 3 { l0.push(v); }
                    }
                    #[wave(edges(graph, from = lf), after(w1))]
                    fn w2(at: Edge, f0: Round, f1: Round, f2: Round, lf: &Push, l2: &Push, acc: &Buf<Atomic<u64>>, l0: &Push) {
                        let h = mix(at.index, f0, f1, f2, 795866767);
                        if h % 5 < 3 { l2.push(at.src); }
                        let h = mix(at.index, f0, f1, f2, 587453284);
                        if h % 1 < 1 { acc[at.src].fetch_add(u64::from(h % 1000) + 7); }
                        let h = mix(at.index, f0, f1, f2, 311866822);
                        if h % 2 < 2 { lf.push(at.src); }
                        let h = mix(at.index, f0, f1, f2, 353113662);
                        if h % 2 < 2 { l0.push(at.dst); }
                    }
                    #[wave(edges(graph, from = l1), after(w0))]
                    fn w3(at: Edge, f0: Round, f1: Round, f2: Round, l1: &Push, e: &mut [u32; 8]) {
                        let h = mix(at.index, f0, f1, f2, 231180570);
                        if h % 5 < 1 { e[4] = e[4] * 3 + 8 + h % 7; }
                        let h = mix(at.index, f0, f1, f2, 364182158);
                        if h % 4 < 1 { l1.push(at.dst); }
                    }
                }
                #[wave(nodes, after(f2))]
                fn w4(v: Node, f0: Round, f1: Round, l0: &Push, b: &Bits, acc: &Buf<Atomic<u64>>, l1: &Push) {
                    let h = mix(v, f0, f1, 0, 759658550);
                    if h % 1 < 1 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 103539277);
                    if h % 4 < 3 { acc[v].fetch_add(u64::from(b.count(v)) * 3); }
                    let h = mix(v, f0, f1, 0, 136751165);
                    if h % 2 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 5); }
                    let h = mix(v, f0, f1, 0, 318236641);
                    if h % 1 < 1 { b.unset(v, h % 65); }
                    let h = mix(v, f0, f1, 0, 928268362);
                    if h % 6 < 1 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 523087983);
                    if h % 4 < 1 { l0.push(v); }
                }
                #[fixpoint(after(f2, w4), until(round + 1 == 1 || l2.len() >= 2))]
                mod f3 {
                    #[wave(nodes)]
                    fn w5(v: Node, f0: Round, f1: Round, f3: Round, lf: &Push, l1: &Push, l2: &Push) {
                        let h = mix(v, f0, f1, f3, 960486298);
                        if h % 4 < 2 { lf.push(v); }
                        let h = mix(v, f0, f1, f3, 175250975);
                        if h % 9 < 1 { l1.push(v); }
                        let h = mix(v, f0, f1, f3, 932020118);
                        if h % 3 < 1 { l2.push(v); }
                    }
                    #[wave(items(l2), after(w5))]
                    fn w6(v: Node, f0: Round, f1: Round, f3: Round, l1: &Push, s: &mut [u32; 8], b: &Bits) {
                        let h = mix(v, f0, f1, f3, 46505442);
                        if h % 4 < 4 { l1.push(v); }
                        let h = mix(v, f0, f1, f3, 693758195);
                        if h % 3 < 3 { s.swap(4, (h % 8) as usize); }
                        let h = mix(v, f0, f1, f3, 561258145);
                        if h % 3 < 1 { b.unset(v, h % 65); }
                    }
                    #[wave(edges(graph, from = l2), after(w5, w6))]
                    fn w7(at: Edge, f0: Round, f1: Round, f3: Round, l2: &Push, l0: &Push, e: &mut [u32; 8]) {
                        let h = mix(at.index, f0, f1, f3, 625636825);
                        if h % 4 < 1 { l0.push(at.src); }
                        let h = mix(at.index, f0, f1, f3, 231088091);
                        if h % 2 < 2 { l0.push(at.dst); }
                        let h = mix(at.index, f0, f1, f3, 9977278);
                        if h % 1 < 1 { l2.push(at.dst); }
                        let h = mix(at.index, f0, f1, f3, 368465413);
                        if h % 3 < 1 { e[4] = e[4] * 3 + 2 + h % 7; }
                    }
                    #[wave(nodes, after(w6))]
                    fn w8(v: Node, f0: Round, f1: Round, f3: Round, lf: &Push, s: &mut [u32; 8], o: &mut [u64; 3]) {
                        let h = mix(v, f0, f1, f3, 301657383);
                        if h % 1 < 1 { lf.push(v); }
                        let h = mix(v, f0, f1, f3, 503736307);
                        if h % 4 < 3 { o[2] = o[2].wrapping_mul(3).wrapping_add(u64::from(s[5])); }
                        let h = mix(v, f0, f1, f3, 845872462);
                        if h % 3 < 1 { s.swap(1, (h % 8) as usize); }
                    }
                }
                #[wave(edges(graph), after(f2))]
                fn w9(at: Edge, f0: Round, f1: Round, l0: &Push, l1: &Push) {
                    let h = mix(at.index, f0, f1, 0, 957077361);
                    if h % 1 < 1 { l0.push(at.src); }
                    let h = mix(at.index, f0, f1, 0, 425220433);
                    if h % 4 < 3 { l1.push(at.dst); }
                }
            }
            #[wave(nodes, after(f1))]
            fn w10(v: Node, f0: Round, l2: &Push, b: &Bits, acc: &Buf<Atomic<u64>>, l0: &Push) {
                let h = mix(v, f0, 0, 0, 974109839);
                if h % 2 < 1 { l2.push(v); }
                let h = mix(v, f0, 0, 0, 257296746);
                if h % 4 < 3 { acc[v].fetch_add(u64::from(b.count(v)) * 3); }
                let h = mix(v, f0, 0, 0, 575493882);
                if h % 3 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 925707029);
                if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 6); }
                let h = mix(v, f0, 0, 0, 260412389);
                if h % 3 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 439259564);
                if h % 2 < 1 { l2.push(v); }
            }
            #[wave(edges(graph, from = l2), after(f1, w10))]
            fn w11(at: Edge, f0: Round, l1: &Push, l0: &Push) {
                let h = mix(at.index, f0, 0, 0, 126885677);
                if h % 4 < 3 { l1.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 798867662);
                if h % 3 < 2 { l0.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 642011628);
                if h % 4 < 2 { l1.push(at.src); }
            }
            #[wave(edges(graph, from = l2), after(f1, w10, w11))]
            fn w12(at: Edge, f0: Round, l2: &Push, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 8]>, e: &mut [u32; 8]) {
                let h = mix(at.index, f0, 0, 0, 420081632);
                if h % 2 < 2 { acc[at.src].fetch_add(u64::from(s.get(at.dst)[(h % 8) as usize])); }
                let h = mix(at.index, f0, 0, 0, 423709375);
                if h % 1 < 1 { l2.push(at.src); }
                let h = mix(at.index, f0, 0, 0, 257843781);
                if h % 1 < 1 { e[2] = e[2] * 3 + 4 + h % 7; }
            }
        }
        #[wave(nodes, after(f0))]
        fn w13(v: Node, s: &[u32; 8], o: &mut [u64; 3], l1: &Push, l2: &Push) {
            let h = mix(v, 0, 0, 0, 200925654);
            if h % 2 < 2 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[4])); }
            let h = mix(v, 0, 0, 0, 177334398);
            if h % 4 < 1 { l1.push(v); }
            let h = mix(v, 0, 0, 0, 41848367);
            if h % 8 < 1 { l2.push(v); }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 3]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 8], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, Some(0)), (true, None), (true, None)], frontier: Some(2),
            no: 3, ns: 8, ne: 8, bw: 65, binit: true, sinit: vec![4, 9, 2, 2, 0, 3, 5, 6], s_owner: None, b_owner: Some(0),
            root: vec![It::F(Fix { id: 0, times: 3, ask: None, items: vec![It::F(Fix { id: 1, times: 3, ask: Some((0, 17, true)), items: vec![It::F(Fix { id: 2, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 5, t: 5, salt: 672031113, who: Who::V, k: 1, c: 5 }, St { op: Op::Push(0), m: 5, t: 4, salt: 891133363, who: Who::V, k: 0, c: 4 }, St { op: Op::Push(2), m: 3, t: 1, salt: 936216474, who: Who::V, k: 6, c: 1 }, St { op: Op::Push(2), m: 5, t: 5, salt: 582816346, who: Who::V, k: 4, c: 5 }, St { op: Op::Push(0), m: 4, t: 1, salt: 985978957, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 7, t: 1, salt: 597623939, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::ReadS, m: 5, t: 1, salt: 537903615, who: Who::V, k: 5, c: 5 }, St { op: Op::Push(0), m: 1, t: 1, salt: 631463612, who: Who::V, k: 7, c: 7 }, St { op: Op::Acc, m: 4, t: 1, salt: 392600357, who: Who::V, k: 1, c: 5 }, St { op: Op::Push(0), m: 5, t: 3, salt: 122385276, who: Who::V, k: 5, c: 3 }] }), It::W(Wave { dom: Dom::From(99), ops: vec![St { op: Op::Push(2), m: 5, t: 3, salt: 795866767, who: Who::Src, k: 3, c: 9 }, St { op: Op::Acc, m: 1, t: 1, salt: 587453284, who: Who::Src, k: 1, c: 7 }, St { op: Op::Push(99), m: 2, t: 2, salt: 311866822, who: Who::Src, k: 2, c: 1 }, St { op: Op::Push(0), m: 2, t: 2, salt: 353113662, who: Who::Dst, k: 1, c: 9 }] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::OwnE, m: 5, t: 1, salt: 231180570, who: Who::Dst, k: 4, c: 8 }, St { op: Op::Push(1), m: 4, t: 1, salt: 364182158, who: Who::Dst, k: 2, c: 6 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 759658550, who: Who::V, k: 5, c: 9 }, St { op: Op::BitCount, m: 4, t: 3, salt: 103539277, who: Who::V, k: 0, c: 3 }, St { op: Op::BitCount, m: 2, t: 1, salt: 136751165, who: Who::V, k: 6, c: 5 }, St { op: Op::BitSet, m: 1, t: 1, salt: 318236641, who: Who::V, k: 3, c: 4 }, St { op: Op::Push(1), m: 6, t: 1, salt: 928268362, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 4, t: 1, salt: 523087983, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 3, times: 1, ask: Some((2, 2, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(99), m: 4, t: 2, salt: 960486298, who: Who::V, k: 3, c: 1 }, St { op: Op::Push(1), m: 9, t: 1, salt: 175250975, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 3, t: 1, salt: 932020118, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(1), m: 4, t: 4, salt: 46505442, who: Who::V, k: 3, c: 7 }, St { op: Op::Swap, m: 3, t: 3, salt: 693758195, who: Who::V, k: 4, c: 3 }, St { op: Op::BitSet, m: 3, t: 1, salt: 561258145, who: Who::V, k: 6, c: 7 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(0), m: 4, t: 1, salt: 625636825, who: Who::Src, k: 6, c: 2 }, St { op: Op::Push(0), m: 2, t: 2, salt: 231088091, who: Who::Dst, k: 7, c: 6 }, St { op: Op::Push(2), m: 1, t: 1, salt: 9977278, who: Who::Dst, k: 6, c: 5 }, St { op: Op::OwnE, m: 3, t: 1, salt: 368465413, who: Who::Dst, k: 4, c: 2 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(99), m: 1, t: 1, salt: 301657383, who: Who::V, k: 5, c: 2 }, St { op: Op::ReadS, m: 4, t: 3, salt: 503736307, who: Who::V, k: 2, c: 5 }, St { op: Op::Swap, m: 3, t: 1, salt: 845872462, who: Who::V, k: 1, c: 2 }] })] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 957077361, who: Who::Src, k: 0, c: 7 }, St { op: Op::Push(1), m: 4, t: 3, salt: 425220433, who: Who::Dst, k: 4, c: 7 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 2, t: 1, salt: 974109839, who: Who::V, k: 3, c: 1 }, St { op: Op::BitCount, m: 4, t: 3, salt: 257296746, who: Who::V, k: 0, c: 3 }, St { op: Op::Push(0), m: 3, t: 1, salt: 575493882, who: Who::V, k: 0, c: 9 }, St { op: Op::Acc, m: 1, t: 1, salt: 925707029, who: Who::V, k: 4, c: 6 }, St { op: Op::Push(0), m: 3, t: 1, salt: 260412389, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 2, t: 1, salt: 439259564, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(1), m: 4, t: 3, salt: 126885677, who: Who::Dst, k: 4, c: 5 }, St { op: Op::Push(0), m: 3, t: 2, salt: 798867662, who: Who::Dst, k: 3, c: 8 }, St { op: Op::Push(1), m: 4, t: 2, salt: 642011628, who: Who::Src, k: 5, c: 8 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::RecS, m: 2, t: 2, salt: 420081632, who: Who::Src, k: 7, c: 9 }, St { op: Op::Push(2), m: 1, t: 1, salt: 423709375, who: Who::Src, k: 2, c: 5 }, St { op: Op::OwnE, m: 1, t: 1, salt: 257843781, who: Who::Src, k: 2, c: 4 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::ReadS, m: 2, t: 2, salt: 200925654, who: Who::V, k: 3, c: 4 }, St { op: Op::Push(1), m: 4, t: 1, salt: 177334398, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 8, t: 1, salt: 41848367, who: Who::V, k: 0, c: 1 }] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g18 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l0: List<u32>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l1: List<u32>,
            #[list(unique)] l2: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 5],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [3])] s: [u32; 1],
            #[output(per = edge(graph), init = [0])] e: [u32; 1],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[wave(nodes)]
        fn w0(v: Node, l0: &Append<u32>, l1: &Append<u32>) {
            let h = mix(v, 0, 0, 0, 51399347);
            if h % 2 < 2 { l0.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 700027618);
            if h % 3 < 1 { l1.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 200916751);
            if h % 3 < 1 { l0.append(v + h % 3); }
        }
        #[fixpoint(after(w0), until(round + 1 == 1 || l1.len() >= 28))]
        mod f0 {
            #[wave(items(l2))]
            fn w1(v: Node, f0: Round, o: &mut [u64; 5], l1: &Append<u32>, s: &mut [u32; 1]) {
                let h = mix(v, f0, 0, 0, 32988562);
                if h % 2 < 2 { o[(h % 5) as usize] += 5 + u64::from(h % 17); }
                let h = mix(v, f0, 0, 0, 62599459);
                if h % 3 < 3 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 487713381);
                if h % 2 < 2 { s[((h >> 3) % 1) as usize] += 8 + h % 5; }
                let h = mix(v, f0, 0, 0, 46688556);
                if h % 4 < 1 { l1.append(v + h % 3); }
            }
            #[fixpoint(after(w1), until(round + 1 == 1))]
            mod f1 {
                #[wave(nodes)]
                fn w2(v: Node, f0: Round, f1: Round, s: &[u32; 1], o: &mut [u64; 5], l2: &Push, l1: &Append<u32>, l0: &Append<u32>) {
                    let h = mix(v, f0, f1, 0, 509888848);
                    if h % 5 < 4 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                    let h = mix(v, f0, f1, 0, 405545906);
                    if h % 4 < 3 { l2.push(v); }
                    let h = mix(v, f0, f1, 0, 891063389);
                    if h % 2 < 1 { l2.push(v); }
                    let h = mix(v, f0, f1, 0, 615382690);
                    if h % 7 < 1 { l1.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 874923042);
                    if h % 9 < 1 { l0.append(v + h % 3); }
                }
                #[fixpoint(after(w2), until(round + 1 == 1 || l1.len() >= 31))]
                mod f2 {
                    #[wave(nodes)]
                    fn w3(v: Node, f0: Round, f1: Round, f2: Round, l1: &Append<u32>, l0: &Append<u32>, l2: &Push) {
                        let h = mix(v, f0, f1, f2, 474141904);
                        if h % 2 < 2 { l1.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 381804067);
                        if h % 8 < 1 { l0.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 188369352);
                        if h % 3 < 1 { l2.push(v); }
                    }
                    #[wave(edges(graph, from = l2), after(w3))]
                    fn w4(at: Edge, f0: Round, f1: Round, f2: Round, l1: &Append<u32>, e: &mut [u32; 1]) {
                        let h = mix(at.index, f0, f1, f2, 803890256);
                        if h % 2 < 2 { l1.append(at.dst + h % 3); }
                        let h = mix(at.index, f0, f1, f2, 589861794);
                        if h % 2 < 2 { e[0] = e[0] * 3 + 6 + h % 7; }
                    }
                    #[wave(edges(graph, from = l2), after(w3, w4))]
                    fn w5(at: Edge, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 1]>, e: &mut [u32; 1]) {
                        let h = mix(at.index, f0, f1, f2, 440729420);
                        if h % 2 < 1 { acc[at.src].fetch_add(u64::from(h % 1000) + 5); }
                        let h = mix(at.index, f0, f1, f2, 831951637);
                        if h % 3 < 3 { acc[at.src].fetch_add(u64::from(h % 1000) + 2); }
                        let h = mix(at.index, f0, f1, f2, 66501563);
                        if h % 4 < 4 { acc[at.dst].fetch_add(u64::from(s.get(at.src)[(h % 1) as usize])); }
                        let h = mix(at.index, f0, f1, f2, 29289834);
                        if h % 5 < 5 { e[0] = e[0] * 3 + 1 + h % 7; }
                    }
                }
                #[wave(items(l2), after(w2, f2))]
                fn w6(v: Node, f0: Round, f1: Round, s: &[u32; 1], o: &mut [u64; 5], l1: &Append<u32>) {
                    let h = mix(v, f0, f1, 0, 789408886);
                    if h % 2 < 2 { o[3] = o[3].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                    let h = mix(v, f0, f1, 0, 318029228);
                    if h % 1 < 1 { l1.append(v + h % 3); }
                }
                #[wave(items(l2), after(w2, f2))]
                fn w7(v: Node, f0: Round, f1: Round, l0: &Append<u32>) {
                    let h = mix(v, f0, f1, 0, 970193647);
                    if h % 1 < 1 { l0.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 159253665);
                    if h % 2 < 1 { l0.append(v + h % 3); }
                }
            }
            #[wave(edges(graph, from = l2), after(f1))]
            fn w8(at: Edge, f0: Round, l0: &Append<u32>, acc: &Buf<Atomic<u64>>) {
                let h = mix(at.index, f0, 0, 0, 778605583);
                if h % 5 < 5 { l0.append(at.src + h % 3); }
                let h = mix(at.index, f0, 0, 0, 704373369);
                if h % 2 < 1 { acc[at.dst].fetch_add(u64::from(h % 1000) + 3); }
            }
        }
        #[fixpoint(after(w0, f0), until(round + 1 == 3 || l1.is_empty()))]
        mod f3 {
            #[wave(nodes)]
            fn w9(v: Node, f3: Round, l0: &Append<u32>, acc: &Buf<Atomic<u64>>, s: &mut [u32; 1], l2: &Push, l1: &Append<u32>) {
                let h = mix(v, f3, 0, 0, 563347605);
                if h % 1 < 1 { l0.append(v + h % 3); }
                let h = mix(v, f3, 0, 0, 989945661);
                if h % 3 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
                let h = mix(v, f3, 0, 0, 508599188);
                if h % 4 < 2 { s[((h >> 3) % 1) as usize] += 2 + h % 5; }
                let h = mix(v, f3, 0, 0, 789172314);
                if h % 5 < 4 { l2.push(v); }
                let h = mix(v, f3, 0, 0, 706259437);
                if h % 5 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f3, 0, 0, 584905762);
                if h % 3 < 1 { l2.push(v); }
            }
            #[wave(items(l2), after(w9))]
            fn w10(v: Node, f3: Round, acc: &Buf<Atomic<u64>>) {
                let h = mix(v, f3, 0, 0, 786741741);
                if h % 4 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 7); }
            }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 5]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 1], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(false, None), (false, None), (true, None)], frontier: None,
            no: 5, ns: 1, ne: 1, bw: 64, binit: true, sinit: vec![3], s_owner: None, b_owner: None,
            root: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 2, t: 2, salt: 51399347, who: Who::V, k: 1, c: 9 }, St { op: Op::Push(1), m: 3, t: 1, salt: 700027618, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 3, t: 1, salt: 200916751, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 0, times: 1, ask: Some((1, 28, false)), items: vec![It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Own, m: 2, t: 2, salt: 32988562, who: Who::V, k: 2, c: 5 }, St { op: Op::Push(1), m: 3, t: 3, salt: 62599459, who: Who::V, k: 4, c: 5 }, St { op: Op::OwnS, m: 2, t: 2, salt: 487713381, who: Who::V, k: 6, c: 8 }, St { op: Op::Push(1), m: 4, t: 1, salt: 46688556, who: Who::V, k: 6, c: 5 }] }), It::F(Fix { id: 1, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::ReadS, m: 5, t: 4, salt: 509888848, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 4, t: 3, salt: 405545906, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 2, t: 1, salt: 891063389, who: Who::V, k: 7, c: 8 }, St { op: Op::Push(1), m: 7, t: 1, salt: 615382690, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 9, t: 1, salt: 874923042, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 2, times: 1, ask: Some((1, 31, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 2, t: 2, salt: 474141904, who: Who::V, k: 5, c: 3 }, St { op: Op::Push(0), m: 8, t: 1, salt: 381804067, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 3, t: 1, salt: 188369352, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(1), m: 2, t: 2, salt: 803890256, who: Who::Dst, k: 5, c: 4 }, St { op: Op::OwnE, m: 2, t: 2, salt: 589861794, who: Who::Src, k: 7, c: 6 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Acc, m: 2, t: 1, salt: 440729420, who: Who::Src, k: 0, c: 5 }, St { op: Op::Acc, m: 3, t: 3, salt: 831951637, who: Who::Src, k: 6, c: 2 }, St { op: Op::RecS, m: 4, t: 4, salt: 66501563, who: Who::Dst, k: 1, c: 3 }, St { op: Op::OwnE, m: 5, t: 5, salt: 29289834, who: Who::Dst, k: 0, c: 1 }] })] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::ReadS, m: 2, t: 2, salt: 789408886, who: Who::V, k: 3, c: 3 }, St { op: Op::Push(1), m: 1, t: 1, salt: 318029228, who: Who::V, k: 3, c: 2 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 970193647, who: Who::V, k: 3, c: 1 }, St { op: Op::Push(0), m: 2, t: 1, salt: 159253665, who: Who::V, k: 6, c: 9 }] })] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(0), m: 5, t: 5, salt: 778605583, who: Who::Src, k: 5, c: 2 }, St { op: Op::Acc, m: 2, t: 1, salt: 704373369, who: Who::Dst, k: 6, c: 3 }] })] }), It::F(Fix { id: 3, times: 3, ask: Some((1, 32, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 563347605, who: Who::V, k: 1, c: 6 }, St { op: Op::Acc, m: 3, t: 3, salt: 989945661, who: Who::V, k: 6, c: 3 }, St { op: Op::OwnS, m: 4, t: 2, salt: 508599188, who: Who::V, k: 1, c: 2 }, St { op: Op::Push(2), m: 5, t: 4, salt: 789172314, who: Who::V, k: 6, c: 6 }, St { op: Op::Push(1), m: 5, t: 1, salt: 706259437, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 3, t: 1, salt: 584905762, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Acc, m: 4, t: 2, salt: 786741741, who: Who::V, k: 4, c: 7 }] })] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g19 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000, reset = round)] l1: List<u32>,
            #[list(unique)] l2: List<Node>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 2],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [0], reset = round)] s: [u32; 1],
            #[scratch(per = node, bits = 31)] b: Bits,
            #[output(per = edge(graph), init = [0, 1, 2])] e: [u32; 3],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 2 || l1.len() >= 17))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, l2: &Push, o: &mut [u64; 2], l1: &Append<u32>) {
                let h = mix(v, f0, 0, 0, 739779554);
                if h % 4 < 1 { l2.push(v); }
                let h = mix(v, f0, 0, 0, 238220288);
                if h % 2 < 1 { o[(h % 2) as usize] += 5 + u64::from(h % 17); }
                let h = mix(v, f0, 0, 0, 702365181);
                if h % 9 < 1 { l2.push(v); }
                let h = mix(v, f0, 0, 0, 321434588);
                if h % 9 < 1 { l1.append(v + h % 3); }
            }
            #[wave(items(l2), after(w0))]
            fn w1(v: Node, f0: Round, l0: &Push, s: &mut [u32; 1], o: &mut [u64; 2]) {
                let h = mix(v, f0, 0, 0, 233106968);
                if h % 4 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 149218346);
                if h % 5 < 3 { s.swap(0, (h % 1) as usize); }
                let h = mix(v, f0, 0, 0, 329906508);
                if h % 2 < 2 { s.swap(0, (h % 1) as usize); }
                let h = mix(v, f0, 0, 0, 460245297);
                if h % 2 < 2 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
            }
            #[fixpoint(after(w0, w1), until(round + 1 == 3))]
            mod f1 {
                #[wave(nodes)]
                fn w2(v: Node, f0: Round, f1: Round, l1: &Append<u32>, s: &mut [u32; 1], o: &mut [u64; 2], l2: &Push) {
                    let h = mix(v, f0, f1, 0, 523082424);
                    if h % 3 < 1 { l1.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 555777649);
                    if h % 1 < 1 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                    let h = mix(v, f0, f1, 0, 11920775);
                    if h % 1 < 1 { s[((h >> 3) % 1) as usize] += 7 + h % 5; }
                    let h = mix(v, f0, f1, 0, 301019296);
                    if h % 3 < 1 { s[((h >> 3) % 1) as usize] += 8 + h % 5; }
                    let h = mix(v, f0, f1, 0, 52360385);
                    if h % 4 < 1 { l2.push(v); }
                    let h = mix(v, f0, f1, 0, 45669653);
                    if h % 8 < 1 { l1.append(v + h % 3); }
                }
                #[fixpoint(after(w2), until(round + 1 == 2 || l0.len() >= 33))]
                mod f2 {
                    #[wave(nodes)]
                    fn w3(v: Node, f0: Round, f1: Round, f2: Round, l2: &Push, s: &[u32; 1], o: &mut [u64; 2], lf: &Push, l0: &Push, l1: &Append<u32>) {
                        let h = mix(v, f0, f1, f2, 997995110);
                        if h % 2 < 1 { l2.push(v); }
                        let h = mix(v, f0, f1, f2, 954378420);
                        if h % 5 < 1 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                        let h = mix(v, f0, f1, f2, 323694185);
                        if h % 4 < 3 { lf.push(v); }
                        let h = mix(v, f0, f1, f2, 439411971);
                        if h % 2 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 548943759);
                        if h % 7 < 1 { l1.append(v + h % 3); }
                    }
                    #[wave(edges(graph))]
                    fn w4(at: Edge, f0: Round, f1: Round, f2: Round, l1: &Append<u32>, acc: &Buf<Atomic<u64>>) {
                        let h = mix(at.index, f0, f1, f2, 392471552);
                        if h % 3 < 2 { l1.append(at.dst + h % 3); }
                        let h = mix(at.index, f0, f1, f2, 427571022);
                        if h % 4 < 4 { acc[at.dst].fetch_add(u64::from(h % 1000) + 7); }
                    }
                    #[wave(edges(graph))]
                    fn w5(at: Edge, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, e: &mut [u32; 3], l0: &Push, l1: &Append<u32>) {
                        let h = mix(at.index, f0, f1, f2, 975709781);
                        if h % 2 < 1 { acc[at.dst].fetch_add(u64::from(h % 1000) + 7); }
                        let h = mix(at.index, f0, f1, f2, 715253262);
                        if h % 1 < 1 { e[1] = e[1] * 3 + 6 + h % 7; }
                        let h = mix(at.index, f0, f1, f2, 927136803);
                        if h % 2 < 2 { l0.push(at.src); }
                        let h = mix(at.index, f0, f1, f2, 833159992);
                        if h % 2 < 2 { l1.append(at.src + h % 3); }
                    }
                }
                #[wave(edges(graph, from = l0), after(f2))]
                fn w6(at: Edge, f0: Round, f1: Round, l2: &Push, e: &mut [u32; 3]) {
                    let h = mix(at.index, f0, f1, 0, 831780581);
                    if h % 4 < 1 { l2.push(at.dst); }
                    let h = mix(at.index, f0, f1, 0, 211341113);
                    if h % 3 < 3 { e[1] = e[1] * 3 + 1 + h % 7; }
                    let h = mix(at.index, f0, f1, 0, 52515024);
                    if h % 2 < 1 { l2.push(at.dst); }
                }
                #[wave(edges(graph, from = l2), after(w2, f2, w6))]
                fn w7(at: Edge, f0: Round, f1: Round, acc: &Buf<Atomic<u64>>) {
                    let h = mix(at.index, f0, f1, 0, 872914692);
                    if h % 5 < 2 { acc[at.dst].fetch_add(u64::from(h % 1000) + 9); }
                }
            }
            #[fixpoint(after(w0, w1, f1), until(round + 1 == 3 || l2.is_empty()))]
            mod f3 {
                #[wave(nodes)]
                fn w8(v: Node, f0: Round, f3: Round, s: &mut [u32; 1], o: &mut [u64; 2], l2: &Push, l1: &Append<u32>) {
                    let h = mix(v, f0, f3, 0, 400178803);
                    if h % 2 < 1 { s[((h >> 3) % 1) as usize] += 9 + h % 5; }
                    let h = mix(v, f0, f3, 0, 826860255);
                    if h % 2 < 1 { o[(h % 2) as usize] += 4 + u64::from(h % 17); }
                    let h = mix(v, f0, f3, 0, 375701243);
                    if h % 4 < 1 { l2.push(v); }
                    let h = mix(v, f0, f3, 0, 462719379);
                    if h % 2 < 1 { l1.append(v + h % 3); }
                    let h = mix(v, f0, f3, 0, 429768466);
                    if h % 5 < 1 { l1.append(v + h % 3); }
                    let h = mix(v, f0, f3, 0, 936782666);
                    if h % 8 < 1 { l2.push(v); }
                }
                #[wave(items(lf), after(w8))]
                fn w9(v: Node, f0: Round, f3: Round, b: &Bits, acc: &Buf<Atomic<u64>>, s: &mut [u32; 1]) {
                    let h = mix(v, f0, f3, 0, 209749033);
                    if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 6); }
                    let h = mix(v, f0, f3, 0, 674876126);
                    if h % 2 < 2 { s[((h >> 3) % 1) as usize] += 1 + h % 5; }
                    let h = mix(v, f0, f3, 0, 444608897);
                    if h % 3 < 1 { s.swap(0, (h % 1) as usize); }
                }
                #[wave(items(l1), after(w8))]
                fn w10(x: u32, f0: Round, f3: Round, n: u32, lf: &Push, acc: &Buf<Atomic<u64>>) {
                    let h = mix(x, f0, f3, 0, 179147877);
                    if h % 2 < 1 { lf.push(x % n); }
                    let h = mix(x, f0, f3, 0, 354969844);
                    if h % 4 < 1 { acc[x % n].fetch_add(u64::from(h % 1000) + 1); }
                }
                #[wave(nodes, after(w8, w9))]
                fn w11(v: Node, f0: Round, f3: Round, b: &Bits, acc: &Buf<Atomic<u64>>, s: &mut [u32; 1]) {
                    let h = mix(v, f0, f3, 0, 642875484);
                    if h % 4 < 4 { acc[v].fetch_add(u64::from(b.count(v)) * 1); }
                    let h = mix(v, f0, f3, 0, 857770803);
                    if h % 4 < 4 { b.set(v, h % 31); }
                    let h = mix(v, f0, f3, 0, 730655293);
                    if h % 5 < 2 { s[((h >> 3) % 1) as usize] += 4 + h % 5; }
                }
            }
        }
        #[wave(nodes, after(f0))]
        fn w12(v: Node, o: &mut [u64; 2], l2: &Push, l0: &Push) {
            let h = mix(v, 0, 0, 0, 208675044);
            if h % 2 < 1 { o[(h % 2) as usize] += 3 + u64::from(h % 17); }
            let h = mix(v, 0, 0, 0, 146826737);
            if h % 8 < 1 { l2.push(v); }
            let h = mix(v, 0, 0, 0, 312985727);
            if h % 8 < 1 { l0.push(v); }
        }
        #[wave(edges(graph, from = l2), after(f0, w12))]
        fn w13(at: Edge, l0: &Push) {
            let h = mix(at.index, 0, 0, 0, 718587795);
            if h % 3 < 1 { l0.push(at.dst); }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 2]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 3], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (false, Some(0)), (true, None)], frontier: Some(3),
            no: 2, ns: 1, ne: 3, bw: 31, binit: false, sinit: vec![0], s_owner: Some(0), b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 2, ask: Some((1, 17, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 4, t: 1, salt: 739779554, who: Who::V, k: 1, c: 6 }, St { op: Op::Own, m: 2, t: 1, salt: 238220288, who: Who::V, k: 1, c: 5 }, St { op: Op::Push(2), m: 9, t: 1, salt: 702365181, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 9, t: 1, salt: 321434588, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(0), m: 4, t: 1, salt: 233106968, who: Who::V, k: 4, c: 8 }, St { op: Op::Swap, m: 5, t: 3, salt: 149218346, who: Who::V, k: 2, c: 1 }, St { op: Op::Swap, m: 2, t: 2, salt: 329906508, who: Who::V, k: 0, c: 5 }, St { op: Op::ReadS, m: 2, t: 2, salt: 460245297, who: Who::V, k: 4, c: 6 }] }), It::F(Fix { id: 1, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 3, t: 1, salt: 523082424, who: Who::V, k: 7, c: 4 }, St { op: Op::ReadS, m: 1, t: 1, salt: 555777649, who: Who::V, k: 6, c: 9 }, St { op: Op::OwnS, m: 1, t: 1, salt: 11920775, who: Who::V, k: 2, c: 7 }, St { op: Op::OwnS, m: 3, t: 1, salt: 301019296, who: Who::V, k: 0, c: 8 }, St { op: Op::Push(2), m: 4, t: 1, salt: 52360385, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 8, t: 1, salt: 45669653, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 2, times: 2, ask: Some((0, 33, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 2, t: 1, salt: 997995110, who: Who::V, k: 2, c: 2 }, St { op: Op::ReadS, m: 5, t: 1, salt: 954378420, who: Who::V, k: 4, c: 8 }, St { op: Op::Push(99), m: 4, t: 3, salt: 323694185, who: Who::V, k: 4, c: 8 }, St { op: Op::Push(0), m: 2, t: 1, salt: 439411971, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 7, t: 1, salt: 548943759, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(1), m: 3, t: 2, salt: 392471552, who: Who::Dst, k: 3, c: 7 }, St { op: Op::Acc, m: 4, t: 4, salt: 427571022, who: Who::Dst, k: 6, c: 7 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Acc, m: 2, t: 1, salt: 975709781, who: Who::Dst, k: 7, c: 7 }, St { op: Op::OwnE, m: 1, t: 1, salt: 715253262, who: Who::Dst, k: 1, c: 6 }, St { op: Op::Push(0), m: 2, t: 2, salt: 927136803, who: Who::Src, k: 2, c: 2 }, St { op: Op::Push(1), m: 2, t: 2, salt: 833159992, who: Who::Src, k: 3, c: 6 }] })] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(2), m: 4, t: 1, salt: 831780581, who: Who::Dst, k: 6, c: 5 }, St { op: Op::OwnE, m: 3, t: 3, salt: 211341113, who: Who::Dst, k: 7, c: 1 }, St { op: Op::Push(2), m: 2, t: 1, salt: 52515024, who: Who::Dst, k: 4, c: 7 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Acc, m: 5, t: 2, salt: 872914692, who: Who::Dst, k: 5, c: 9 }] })] }), It::F(Fix { id: 3, times: 3, ask: Some((2, 4, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::OwnS, m: 2, t: 1, salt: 400178803, who: Who::V, k: 2, c: 9 }, St { op: Op::Own, m: 2, t: 1, salt: 826860255, who: Who::V, k: 6, c: 4 }, St { op: Op::Push(2), m: 4, t: 1, salt: 375701243, who: Who::V, k: 3, c: 4 }, St { op: Op::Push(1), m: 2, t: 1, salt: 462719379, who: Who::V, k: 4, c: 1 }, St { op: Op::Push(1), m: 5, t: 1, salt: 429768466, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 8, t: 1, salt: 936782666, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(99), ops: vec![St { op: Op::BitCount, m: 1, t: 1, salt: 209749033, who: Who::V, k: 1, c: 6 }, St { op: Op::OwnS, m: 2, t: 2, salt: 674876126, who: Who::V, k: 7, c: 1 }, St { op: Op::Swap, m: 3, t: 1, salt: 444608897, who: Who::V, k: 2, c: 2 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(99), m: 2, t: 1, salt: 179147877, who: Who::V, k: 0, c: 2 }, St { op: Op::Acc, m: 4, t: 1, salt: 354969844, who: Who::V, k: 1, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitCount, m: 4, t: 4, salt: 642875484, who: Who::V, k: 5, c: 1 }, St { op: Op::BitSet, m: 4, t: 4, salt: 857770803, who: Who::V, k: 6, c: 3 }, St { op: Op::OwnS, m: 5, t: 2, salt: 730655293, who: Who::V, k: 0, c: 4 }] })] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Own, m: 2, t: 1, salt: 208675044, who: Who::V, k: 1, c: 3 }, St { op: Op::Push(2), m: 8, t: 1, salt: 146826737, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 8, t: 1, salt: 312985727, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(0), m: 3, t: 1, salt: 718587795, who: Who::Dst, k: 1, c: 1 }] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g20 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique, reset = round)] l0: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000, reset = round)] l1: List<u32>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 2],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, bits = 7, init = true, reset = round)] b: Bits,
            #[output(per = edge(graph), init = [0, 1, 2, 3, 4, 5, 6, 7])] e: [u32; 8],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 1))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, b: &Bits, acc: &Buf<Atomic<u64>>, lf: &Push, l1: &Append<u32>, l0: &Push) {
                let h = mix(v, f0, 0, 0, 358748708);
                if h % 3 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 8); }
                let h = mix(v, f0, 0, 0, 642332374);
                if h % 1 < 1 { lf.push(v); }
                let h = mix(v, f0, 0, 0, 789883010);
                if h % 1 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 943653129);
                if h % 9 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 501770189);
                if h % 4 < 1 { l1.append(v + h % 3); }
            }
            #[wave(items(l1), after(w0))]
            fn w1(x: u32, f0: Round, n: u32, l1: &Append<u32>, l0: &Push, acc: &Buf<Atomic<u64>>) {
                let h = mix(x, f0, 0, 0, 21505719);
                if h % 5 < 1 { l0.push(x % n); }
                let h = mix(x, f0, 0, 0, 266142145);
                if h % 5 < 1 { acc[x % n].fetch_add(u64::from(h % 1000) + 2); }
                let h = mix(x, f0, 0, 0, 13137989);
                if h % 1 < 1 { l0.push(x % n); }
                let h = mix(x, f0, 0, 0, 374148410);
                if h % 4 < 3 { l1.append(x % n + h % 3); }
            }
            #[wave(edges(graph))]
            fn w2(at: Edge, f0: Round, e: &mut [u32; 8], acc: &Buf<Atomic<u64>>) {
                let h = mix(at.index, f0, 0, 0, 522356171);
                if h % 2 < 1 { e[3] = e[3] * 3 + 6 + h % 7; }
                let h = mix(at.index, f0, 0, 0, 788427891);
                if h % 3 < 3 { acc[at.dst].fetch_add(u64::from(h % 1000) + 2); }
                let h = mix(at.index, f0, 0, 0, 361574470);
                if h % 3 < 1 { acc[at.src].fetch_add(u64::from(h % 1000) + 1); }
                let h = mix(at.index, f0, 0, 0, 578903378);
                if h % 2 < 1 { acc[at.dst].fetch_add(u64::from(h % 1000) + 8); }
            }
            #[wave(edges(graph, from = lf), after(w1))]
            fn w3(at: Edge, f0: Round, l1: &Append<u32>) {
                let h = mix(at.index, f0, 0, 0, 220165995);
                if h % 4 < 4 { l1.append(at.dst + h % 3); }
            }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 2]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 8], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, Some(0)), (false, Some(0))], frontier: Some(0),
            no: 2, ns: 4, ne: 8, bw: 7, binit: true, sinit: vec![0, 2, 8, 2], s_owner: None, b_owner: Some(0),
            root: vec![It::F(Fix { id: 0, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitCount, m: 3, t: 2, salt: 358748708, who: Who::V, k: 1, c: 8 }, St { op: Op::Push(99), m: 1, t: 1, salt: 642332374, who: Who::V, k: 4, c: 4 }, St { op: Op::Push(1), m: 1, t: 1, salt: 789883010, who: Who::V, k: 4, c: 6 }, St { op: Op::Push(0), m: 9, t: 1, salt: 943653129, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 4, t: 1, salt: 501770189, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(0), m: 5, t: 1, salt: 21505719, who: Who::V, k: 4, c: 6 }, St { op: Op::Acc, m: 5, t: 1, salt: 266142145, who: Who::V, k: 7, c: 2 }, St { op: Op::Push(0), m: 1, t: 1, salt: 13137989, who: Who::V, k: 3, c: 6 }, St { op: Op::Push(1), m: 4, t: 3, salt: 374148410, who: Who::V, k: 1, c: 6 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::OwnE, m: 2, t: 1, salt: 522356171, who: Who::Src, k: 3, c: 6 }, St { op: Op::Acc, m: 3, t: 3, salt: 788427891, who: Who::Dst, k: 0, c: 2 }, St { op: Op::Acc, m: 3, t: 1, salt: 361574470, who: Who::Src, k: 3, c: 1 }, St { op: Op::Acc, m: 2, t: 1, salt: 578903378, who: Who::Dst, k: 2, c: 8 }] }), It::W(Wave { dom: Dom::From(99), ops: vec![St { op: Op::Push(1), m: 4, t: 4, salt: 220165995, who: Who::Dst, k: 5, c: 1 }] })] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g21 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l1: List<u32>,
            #[list(unique)] l2: List<Node>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 2],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [9, 3, 1, 4, 3, 9, 3, 1])] s: [u32; 8],
            #[scratch(per = node, bits = 7, init = true)] b: Bits,
            #[output(per = edge(graph), init = [0, 1, 2])] e: [u32; 3],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 1))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, l1: &Append<u32>, l2: &Push, s: &mut [u32; 8]) {
                let h = mix(v, f0, 0, 0, 810686474);
                if h % 2 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 653975823);
                if h % 4 < 4 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 494546004);
                if h % 1 < 1 { l2.push(v); }
                let h = mix(v, f0, 0, 0, 30971257);
                if h % 4 < 2 { s[((h >> 3) % 8) as usize] += 8 + h % 5; }
                let h = mix(v, f0, 0, 0, 740672489);
                if h % 3 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 337781408);
                if h % 3 < 1 { l2.push(v); }
            }
            #[wave(edges(graph, from = l2), after(w0))]
            fn w1(at: Edge, f0: Round, e: &mut [u32; 3], acc: &Buf<Atomic<u64>>, lf: &Push, l0: &Push) {
                let h = mix(at.index, f0, 0, 0, 297769389);
                if h % 3 < 1 { e[0] = e[0] * 3 + 6 + h % 7; }
                let h = mix(at.index, f0, 0, 0, 778745391);
                if h % 1 < 1 { acc[at.dst].fetch_add(u64::from(h % 1000) + 9); }
                let h = mix(at.index, f0, 0, 0, 540486290);
                if h % 5 < 4 { lf.push(at.src); }
                let h = mix(at.index, f0, 0, 0, 733601398);
                if h % 4 < 4 { l0.push(at.src); }
            }
            #[wave(edges(graph, from = l2), after(w0))]
            fn w2(at: Edge, f0: Round, lf: &Push) {
                let h = mix(at.index, f0, 0, 0, 284966717);
                if h % 5 < 4 { lf.push(at.dst); }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 1))]
        mod f1 {
            #[fixpoint(until(round + 1 == 3 || l0.is_empty()))]
            mod f2 {
                #[wave(nodes)]
                fn w3(v: Node, f1: Round, f2: Round, s: &mut [u32; 8], b: &Bits, acc: &Buf<Atomic<u64>>, l2: &Push, l1: &Append<u32>) {
                    let h = mix(v, f1, f2, 0, 558826840);
                    if h % 1 < 1 { s.swap(2, (h % 8) as usize); }
                    let h = mix(v, f1, f2, 0, 721270206);
                    if h % 4 < 2 { s[((h >> 3) % 8) as usize] += 1 + h % 5; }
                    let h = mix(v, f1, f2, 0, 80806099);
                    if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 6); }
                    let h = mix(v, f1, f2, 0, 637957002);
                    if h % 2 < 1 { l2.push(v); }
                    let h = mix(v, f1, f2, 0, 413370051);
                    if h % 6 < 1 { l1.append(v + h % 3); }
                }
                #[wave(nodes, after(w3))]
                fn w4(v: Node, f1: Round, f2: Round, l0: &Push, s: &mut [u32; 8], lf: &Push) {
                    let h = mix(v, f1, f2, 0, 700283385);
                    if h % 2 < 1 { l0.push(v); }
                    let h = mix(v, f1, f2, 0, 983360385);
                    if h % 2 < 1 { s.swap(1, (h % 8) as usize); }
                    let h = mix(v, f1, f2, 0, 263642451);
                    if h % 3 < 2 { lf.push(v); }
                }
                #[fixpoint(after(w3, w4), until(round + 1 == 1))]
                mod f3 {
                    #[wave(edges(graph, from = lf))]
                    fn w5(at: Edge, f1: Round, f2: Round, f3: Round, l1: &Append<u32>) {
                        let h = mix(at.index, f1, f2, f3, 996991191);
                        if h % 2 < 1 { l1.append(at.src + h % 3); }
                    }
                    #[wave(items(lf))]
                    fn w6(v: Node, f1: Round, f2: Round, f3: Round, l0: &Push, acc: &Buf<Atomic<u64>>, b: &Bits) {
                        let h = mix(v, f1, f2, f3, 321579232);
                        if h % 1 < 1 { l0.push(v); }
                        let h = mix(v, f1, f2, f3, 608041654);
                        if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 9); }
                        let h = mix(v, f1, f2, f3, 88977367);
                        if h % 2 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 8); }
                    }
                    #[wave(items(l2))]
                    fn w7(v: Node, f1: Round, f2: Round, f3: Round, s: &mut [u32; 8], o: &mut [u64; 2]) {
                        let h = mix(v, f1, f2, f3, 451422195);
                        if h % 5 < 2 { s[((h >> 3) % 8) as usize] += 3 + h % 5; }
                        let h = mix(v, f1, f2, f3, 991652868);
                        if h % 5 < 2 { s[((h >> 3) % 8) as usize] += 1 + h % 5; }
                        let h = mix(v, f1, f2, f3, 703125395);
                        if h % 4 < 4 { s.swap(5, (h % 8) as usize); }
                        let h = mix(v, f1, f2, f3, 966940791);
                        if h % 4 < 2 { o[1] = o[1].wrapping_mul(3).wrapping_add(u64::from(s[4])); }
                    }
                }
            }
            #[wave(nodes, after(f2))]
            fn w8(v: Node, f1: Round, acc: &Buf<Atomic<u64>>, l1: &Append<u32>, s: &mut [u32; 8], l0: &Push) {
                let h = mix(v, f1, 0, 0, 403558972);
                if h % 5 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 8); }
                let h = mix(v, f1, 0, 0, 930719786);
                if h % 2 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 4); }
                let h = mix(v, f1, 0, 0, 230733029);
                if h % 3 < 2 { l1.append(v + h % 3); }
                let h = mix(v, f1, 0, 0, 492968606);
                if h % 2 < 1 { s.swap(2, (h % 8) as usize); }
                let h = mix(v, f1, 0, 0, 921951205);
                if h % 9 < 1 { l0.push(v); }
                let h = mix(v, f1, 0, 0, 640809334);
                if h % 6 < 1 { l1.append(v + h % 3); }
            }
        }
        #[wave(nodes, after(f0, f1))]
        fn w9(v: Node, s: &mut [u32; 8], acc: &Buf<Atomic<u64>>, l0: &Push, l1: &Append<u32>) {
            let h = mix(v, 0, 0, 0, 174944210);
            if h % 2 < 1 { s.swap(0, (h % 8) as usize); }
            let h = mix(v, 0, 0, 0, 865715966);
            if h % 3 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 5); }
            let h = mix(v, 0, 0, 0, 318355348);
            if h % 6 < 1 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 538757517);
            if h % 5 < 1 { l1.append(v + h % 3); }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 2]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 3], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (false, None), (true, None)], frontier: Some(3),
            no: 2, ns: 8, ne: 3, bw: 7, binit: true, sinit: vec![9, 3, 1, 4, 3, 9, 3, 1], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 2, t: 1, salt: 810686474, who: Who::V, k: 2, c: 8 }, St { op: Op::Push(1), m: 4, t: 4, salt: 653975823, who: Who::V, k: 3, c: 8 }, St { op: Op::Push(2), m: 1, t: 1, salt: 494546004, who: Who::V, k: 5, c: 3 }, St { op: Op::OwnS, m: 4, t: 2, salt: 30971257, who: Who::V, k: 0, c: 8 }, St { op: Op::Push(1), m: 3, t: 1, salt: 740672489, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 3, t: 1, salt: 337781408, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::OwnE, m: 3, t: 1, salt: 297769389, who: Who::Dst, k: 0, c: 6 }, St { op: Op::Acc, m: 1, t: 1, salt: 778745391, who: Who::Dst, k: 6, c: 9 }, St { op: Op::Push(99), m: 5, t: 4, salt: 540486290, who: Who::Src, k: 4, c: 8 }, St { op: Op::Push(0), m: 4, t: 4, salt: 733601398, who: Who::Src, k: 4, c: 7 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(99), m: 5, t: 4, salt: 284966717, who: Who::Dst, k: 2, c: 3 }] })] }), It::F(Fix { id: 1, times: 1, ask: None, items: vec![It::F(Fix { id: 2, times: 3, ask: Some((0, 3, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Swap, m: 1, t: 1, salt: 558826840, who: Who::V, k: 2, c: 1 }, St { op: Op::OwnS, m: 4, t: 2, salt: 721270206, who: Who::V, k: 6, c: 1 }, St { op: Op::BitCount, m: 1, t: 1, salt: 80806099, who: Who::V, k: 4, c: 6 }, St { op: Op::Push(2), m: 2, t: 1, salt: 637957002, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 6, t: 1, salt: 413370051, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 2, t: 1, salt: 700283385, who: Who::V, k: 3, c: 7 }, St { op: Op::Swap, m: 2, t: 1, salt: 983360385, who: Who::V, k: 1, c: 4 }, St { op: Op::Push(99), m: 3, t: 2, salt: 263642451, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 3, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::From(99), ops: vec![St { op: Op::Push(1), m: 2, t: 1, salt: 996991191, who: Who::Src, k: 5, c: 5 }] }), It::W(Wave { dom: Dom::Items(99), ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 321579232, who: Who::V, k: 5, c: 4 }, St { op: Op::Acc, m: 1, t: 1, salt: 608041654, who: Who::V, k: 3, c: 9 }, St { op: Op::BitCount, m: 2, t: 2, salt: 88977367, who: Who::V, k: 0, c: 8 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::OwnS, m: 5, t: 2, salt: 451422195, who: Who::V, k: 1, c: 3 }, St { op: Op::OwnS, m: 5, t: 2, salt: 991652868, who: Who::V, k: 3, c: 1 }, St { op: Op::Swap, m: 4, t: 4, salt: 703125395, who: Who::V, k: 5, c: 5 }, St { op: Op::ReadS, m: 4, t: 2, salt: 966940791, who: Who::V, k: 5, c: 4 }] })] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 5, t: 1, salt: 403558972, who: Who::V, k: 3, c: 8 }, St { op: Op::Acc, m: 2, t: 2, salt: 930719786, who: Who::V, k: 0, c: 4 }, St { op: Op::Push(1), m: 3, t: 2, salt: 230733029, who: Who::V, k: 3, c: 6 }, St { op: Op::Swap, m: 2, t: 1, salt: 492968606, who: Who::V, k: 2, c: 5 }, St { op: Op::Push(0), m: 9, t: 1, salt: 921951205, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 6, t: 1, salt: 640809334, who: Who::V, k: 0, c: 1 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Swap, m: 2, t: 1, salt: 174944210, who: Who::V, k: 0, c: 1 }, St { op: Op::Acc, m: 3, t: 3, salt: 865715966, who: Who::V, k: 7, c: 5 }, St { op: Op::Push(0), m: 6, t: 1, salt: 318355348, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 5, t: 1, salt: 538757517, who: Who::V, k: 0, c: 1 }] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g22 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(unique)] l1: List<Node>,
            #[list(unique)] l2: List<Node>,
            #[list(unique)] l3: List<Node>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 2],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [3])] s: [u32; 1],
            #[output(per = edge(graph), init = [0, 1, 2])] e: [u32; 3],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 2))]
        mod f0 {
            #[wave(items(l1))]
            fn w0(v: Node, f0: Round, l3: &Push, lf: &Push, l0: &Push, l2: &Push) {
                let h = mix(v, f0, 0, 0, 804924234);
                if h % 3 < 2 { l3.push(v); }
                let h = mix(v, f0, 0, 0, 621694957);
                if h % 2 < 1 { lf.push(v); }
                let h = mix(v, f0, 0, 0, 27508993);
                if h % 3 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 612165513);
                if h % 5 < 2 { l2.push(v); }
            }
            #[fixpoint(after(w0), until(round + 1 == 3))]
            mod f1 {
                #[fixpoint(until(round + 1 == 2))]
                mod f2 {
                    #[wave(edges(graph, from = lf))]
                    fn w1(at: Edge, f0: Round, f1: Round, f2: Round, l0: &Push, l3: &Push, l2: &Push) {
                        let h = mix(at.index, f0, f1, f2, 332915446);
                        if h % 4 < 1 { l0.push(at.dst); }
                        let h = mix(at.index, f0, f1, f2, 129797354);
                        if h % 2 < 1 { l3.push(at.dst); }
                        let h = mix(at.index, f0, f1, f2, 66120331);
                        if h % 5 < 4 { l2.push(at.src); }
                    }
                    #[wave(items(l2), after(w1))]
                    fn w2(v: Node, f0: Round, f1: Round, f2: Round, l2: &Push, l1: &Push, s: &mut [u32; 1]) {
                        let h = mix(v, f0, f1, f2, 999263770);
                        if h % 4 < 4 { l1.push(v); }
                        let h = mix(v, f0, f1, f2, 888190863);
                        if h % 3 < 3 { s[((h >> 3) % 1) as usize] += 3 + h % 5; }
                        let h = mix(v, f0, f1, f2, 855765312);
                        if h % 5 < 4 { l1.push(v); }
                        let h = mix(v, f0, f1, f2, 880876683);
                        if h % 1 < 1 { l2.push(v); }
                    }
                }
                #[wave(nodes, after(f2))]
                fn w3(v: Node, f0: Round, f1: Round, acc: &Buf<Atomic<u64>>, lf: &Push, l2: &Push, l3: &Push) {
                    let h = mix(v, f0, f1, 0, 562282953);
                    if h % 3 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 8); }
                    let h = mix(v, f0, f1, 0, 294478890);
                    if h % 2 < 2 { lf.push(v); }
                    let h = mix(v, f0, f1, 0, 791905569);
                    if h % 6 < 1 { l2.push(v); }
                    let h = mix(v, f0, f1, 0, 734860990);
                    if h % 2 < 1 { l3.push(v); }
                }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 2 || l3.len() >= 2))]
        mod f3 {
            #[wave(nodes)]
            fn w4(v: Node, f3: Round, l0: &Push, o: &mut [u64; 2], l1: &Push, l3: &Push) {
                let h = mix(v, f3, 0, 0, 978769460);
                if h % 5 < 3 { l0.push(v); }
                let h = mix(v, f3, 0, 0, 260729338);
                if h % 1 < 1 { o[(h % 2) as usize] += 4 + u64::from(h % 17); }
                let h = mix(v, f3, 0, 0, 40318172);
                if h % 4 < 4 { l1.push(v); }
                let h = mix(v, f3, 0, 0, 441994631);
                if h % 2 < 1 { l3.push(v); }
                let h = mix(v, f3, 0, 0, 405473076);
                if h % 2 < 1 { l1.push(v); }
            }
            #[wave(edges(graph, from = l3), after(w4))]
            fn w5(at: Edge, f3: Round, l2: &Push, l1: &Push) {
                let h = mix(at.index, f3, 0, 0, 801483226);
                if h % 5 < 3 { l2.push(at.src); }
                let h = mix(at.index, f3, 0, 0, 121633763);
                if h % 3 < 1 { l1.push(at.src); }
            }
        }
        #[wave(edges(graph, from = l3), after(f0, f3))]
        fn w6(at: Edge, l3: &Push, l2: &Push) {
            let h = mix(at.index, 0, 0, 0, 783465778);
            if h % 2 < 1 { l3.push(at.src); }
            let h = mix(at.index, 0, 0, 0, 401486802);
            if h % 1 < 1 { l2.push(at.src); }
            let h = mix(at.index, 0, 0, 0, 261912495);
            if h % 4 < 3 { l3.push(at.src); }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 2]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 3], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (true, None), (true, None), (true, None)], frontier: Some(2),
            no: 2, ns: 1, ne: 3, bw: 32, binit: false, sinit: vec![3], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(3), m: 3, t: 2, salt: 804924234, who: Who::V, k: 6, c: 7 }, St { op: Op::Push(99), m: 2, t: 1, salt: 621694957, who: Who::V, k: 6, c: 6 }, St { op: Op::Push(0), m: 3, t: 1, salt: 27508993, who: Who::V, k: 0, c: 6 }, St { op: Op::Push(2), m: 5, t: 2, salt: 612165513, who: Who::V, k: 7, c: 9 }] }), It::F(Fix { id: 1, times: 3, ask: None, items: vec![It::F(Fix { id: 2, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::From(99), ops: vec![St { op: Op::Push(0), m: 4, t: 1, salt: 332915446, who: Who::Dst, k: 6, c: 2 }, St { op: Op::Push(3), m: 2, t: 1, salt: 129797354, who: Who::Dst, k: 0, c: 9 }, St { op: Op::Push(2), m: 5, t: 4, salt: 66120331, who: Who::Src, k: 7, c: 8 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(1), m: 4, t: 4, salt: 999263770, who: Who::V, k: 5, c: 4 }, St { op: Op::OwnS, m: 3, t: 3, salt: 888190863, who: Who::V, k: 6, c: 3 }, St { op: Op::Push(1), m: 5, t: 4, salt: 855765312, who: Who::V, k: 5, c: 1 }, St { op: Op::Push(2), m: 1, t: 1, salt: 880876683, who: Who::V, k: 3, c: 2 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 3, t: 1, salt: 562282953, who: Who::V, k: 0, c: 8 }, St { op: Op::Push(99), m: 2, t: 2, salt: 294478890, who: Who::V, k: 7, c: 7 }, St { op: Op::Push(2), m: 6, t: 1, salt: 791905569, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(3), m: 2, t: 1, salt: 734860990, who: Who::V, k: 0, c: 1 }] })] })] }), It::F(Fix { id: 3, times: 2, ask: Some((3, 2, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 5, t: 3, salt: 978769460, who: Who::V, k: 7, c: 9 }, St { op: Op::Own, m: 1, t: 1, salt: 260729338, who: Who::V, k: 5, c: 4 }, St { op: Op::Push(1), m: 4, t: 4, salt: 40318172, who: Who::V, k: 7, c: 9 }, St { op: Op::Push(3), m: 2, t: 1, salt: 441994631, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 2, t: 1, salt: 405473076, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(3), ops: vec![St { op: Op::Push(2), m: 5, t: 3, salt: 801483226, who: Who::Src, k: 7, c: 5 }, St { op: Op::Push(1), m: 3, t: 1, salt: 121633763, who: Who::Src, k: 4, c: 9 }] })] }), It::W(Wave { dom: Dom::From(3), ops: vec![St { op: Op::Push(3), m: 2, t: 1, salt: 783465778, who: Who::Src, k: 7, c: 2 }, St { op: Op::Push(2), m: 1, t: 1, salt: 401486802, who: Who::Src, k: 2, c: 4 }, St { op: Op::Push(3), m: 4, t: 3, salt: 261912495, who: Who::Src, k: 7, c: 1 }] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g23 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(unique)] l1: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 3],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [1])] s: [u32; 1],
            #[scratch(per = node, bits = 32, init = true, reset = round)] b: Bits,
            #[output(per = edge(graph), init = [0])] e: [u32; 1],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 2 || l0.is_empty()))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, s: &mut [u32; 1], b: &Bits, acc: &Buf<Atomic<u64>>, l0: &Push, l1: &Push) {
                let h = mix(v, f0, 0, 0, 415523321);
                if h % 2 < 2 { s.swap(0, (h % 1) as usize); }
                let h = mix(v, f0, 0, 0, 89049816);
                if h % 4 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 4); }
                let h = mix(v, f0, 0, 0, 658980352);
                if h % 1 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 533398264);
                if h % 5 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 158255750);
                if h % 8 < 1 { l1.push(v); }
            }
            #[fixpoint(after(w0), until(round + 1 == 2))]
            mod f1 {
                #[fixpoint(until(round + 1 == 3))]
                mod f2 {
                    #[wave(nodes)]
                    fn w1(v: Node, f0: Round, f1: Round, f2: Round, b: &Bits, l0: &Push, l1: &Push) {
                        let h = mix(v, f0, f1, f2, 767138012);
                        if h % 3 < 2 { b.unset(v, h % 32); }
                        let h = mix(v, f0, f1, f2, 466539498);
                        if h % 3 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 311851790);
                        if h % 7 < 1 { l1.push(v); }
                    }
                    #[wave(items(l1), after(w1))]
                    fn w2(v: Node, f0: Round, f1: Round, f2: Round, b: &Bits, acc: &Buf<Atomic<u64>>, s: &[u32; 1], o: &mut [u64; 3]) {
                        let h = mix(v, f0, f1, f2, 881612621);
                        if h % 3 < 3 { acc[v].fetch_add(u64::from(b.count(v)) * 1); }
                        let h = mix(v, f0, f1, f2, 127454892);
                        if h % 5 < 4 { o[1] = o[1].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                    }
                }
                #[fixpoint(after(f2), until(round + 1 == 2))]
                mod f3 {
                    #[wave(nodes)]
                    fn w3(v: Node, f0: Round, f1: Round, f3: Round, l1: &Push, l0: &Push, b: &Bits, acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f0, f1, f3, 779658872);
                        if h % 4 < 2 { l1.push(v); }
                        let h = mix(v, f0, f1, f3, 245718652);
                        if h % 5 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f3, 117044993);
                        if h % 4 < 3 { acc[v].fetch_add(u64::from(b.count(v)) * 2); }
                        let h = mix(v, f0, f1, f3, 981170161);
                        if h % 6 < 1 { l1.push(v); }
                        let h = mix(v, f0, f1, f3, 336818695);
                        if h % 2 < 1 { l0.push(v); }
                    }
                    #[wave(nodes)]
                    fn w4(v: Node, f0: Round, f1: Round, f3: Round, l1: &Push, s: &[u32; 1], o: &mut [u64; 3]) {
                        let h = mix(v, f0, f1, f3, 98196710);
                        if h % 4 < 2 { l1.push(v); }
                        let h = mix(v, f0, f1, f3, 451858005);
                        if h % 2 < 1 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                        let h = mix(v, f0, f1, f3, 216626263);
                        if h % 3 < 2 { l1.push(v); }
                    }
                    #[wave(items(l1), after(w3, w4))]
                    fn w5(v: Node, f0: Round, f1: Round, f3: Round, l0: &Push, b: &Bits) {
                        let h = mix(v, f0, f1, f3, 967902107);
                        if h % 1 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f3, 383545145);
                        if h % 1 < 1 { b.unset(v, h % 32); }
                    }
                    #[wave(edges(graph))]
                    fn w6(at: Edge, f0: Round, f1: Round, f3: Round, l0: &Push) {
                        let h = mix(at.index, f0, f1, f3, 223560065);
                        if h % 4 < 1 { l0.push(at.src); }
                    }
                }
            }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 3]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 1], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (true, None)], frontier: None,
            no: 3, ns: 1, ne: 1, bw: 32, binit: true, sinit: vec![1], s_owner: None, b_owner: Some(0),
            root: vec![It::F(Fix { id: 0, times: 2, ask: Some((0, 26, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Swap, m: 2, t: 2, salt: 415523321, who: Who::V, k: 4, c: 7 }, St { op: Op::BitCount, m: 4, t: 1, salt: 89049816, who: Who::V, k: 3, c: 4 }, St { op: Op::Push(0), m: 1, t: 1, salt: 658980352, who: Who::V, k: 1, c: 7 }, St { op: Op::Push(0), m: 5, t: 1, salt: 533398264, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 8, t: 1, salt: 158255750, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 1, times: 2, ask: None, items: vec![It::F(Fix { id: 2, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitSet, m: 3, t: 2, salt: 767138012, who: Who::V, k: 6, c: 3 }, St { op: Op::Push(0), m: 3, t: 1, salt: 466539498, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 7, t: 1, salt: 311851790, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::BitCount, m: 3, t: 3, salt: 881612621, who: Who::V, k: 6, c: 1 }, St { op: Op::ReadS, m: 5, t: 4, salt: 127454892, who: Who::V, k: 1, c: 5 }] })] }), It::F(Fix { id: 3, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 4, t: 2, salt: 779658872, who: Who::V, k: 2, c: 4 }, St { op: Op::Push(0), m: 5, t: 1, salt: 245718652, who: Who::V, k: 2, c: 5 }, St { op: Op::BitCount, m: 4, t: 3, salt: 117044993, who: Who::V, k: 0, c: 2 }, St { op: Op::Push(1), m: 6, t: 1, salt: 981170161, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 2, t: 1, salt: 336818695, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 4, t: 2, salt: 98196710, who: Who::V, k: 5, c: 3 }, St { op: Op::ReadS, m: 2, t: 1, salt: 451858005, who: Who::V, k: 6, c: 1 }, St { op: Op::Push(1), m: 3, t: 2, salt: 216626263, who: Who::V, k: 7, c: 4 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 967902107, who: Who::V, k: 5, c: 9 }, St { op: Op::BitSet, m: 1, t: 1, salt: 383545145, who: Who::V, k: 1, c: 4 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(0), m: 4, t: 1, salt: 223560065, who: Who::Src, k: 6, c: 3 }] })] })] })] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g24 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique, reset = round)] l0: List<Node>,
            #[list(unique)] l1: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000, reset = round)] l2: List<u32>,
            #[list(unique, reset = round)] l3: List<Node>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 5],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [8, 9, 5, 3], reset = round)] s: [u32; 4],
            #[output(per = edge(graph), init = [0, 1, 2])] e: [u32; 3],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 3))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, l3: &Push, l2: &Append<u32>, l0: &Push) {
                let h = mix(v, f0, 0, 0, 703670049);
                if h % 4 < 1 { l3.push(v); }
                let h = mix(v, f0, 0, 0, 812997273);
                if h % 1 < 1 { l2.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 904660609);
                if h % 4 < 1 { l3.push(v); }
                let h = mix(v, f0, 0, 0, 45969724);
                if h % 5 < 1 { l0.push(v); }
            }
            #[wave(items(lf))]
            fn w1(v: Node, f0: Round, o: &mut [u64; 5]) {
                let h = mix(v, f0, 0, 0, 555808520);
                if h % 2 < 1 { o[(h % 5) as usize] += 2 + u64::from(h % 17); }
            }
            #[fixpoint(after(w0), until(round + 1 == 2 || l1.len() >= 24))]
            mod f1 {
                #[fixpoint(until(round + 1 == 1))]
                mod f2 {
                    #[wave(nodes)]
                    fn w2(v: Node, f0: Round, f1: Round, f2: Round, l2: &Append<u32>, l0: &Push, s: &mut [u32; 4], l3: &Push) {
                        let h = mix(v, f0, f1, f2, 238748586);
                        if h % 4 < 4 { l2.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 509085719);
                        if h % 1 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 908729847);
                        if h % 4 < 1 { s[((h >> 3) % 4) as usize] += 9 + h % 5; }
                        let h = mix(v, f0, f1, f2, 355608122);
                        if h % 5 < 1 { l3.push(v); }
                        let h = mix(v, f0, f1, f2, 940998664);
                        if h % 3 < 1 { l0.push(v); }
                    }
                    #[wave(edges(graph, from = l3), after(w2))]
                    fn w3(at: Edge, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>) {
                        let h = mix(at.index, f0, f1, f2, 88395285);
                        if h % 4 < 2 { acc[at.src].fetch_add(u64::from(h % 1000) + 4); }
                    }
                }
                #[wave(nodes, after(f2))]
                fn w4(v: Node, f0: Round, f1: Round, l1: &Push, l2: &Append<u32>, l3: &Push) {
                    let h = mix(v, f0, f1, 0, 326360772);
                    if h % 5 < 5 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 121409123);
                    if h % 1 < 1 { l2.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 407808969);
                    if h % 8 < 1 { l3.push(v); }
                    let h = mix(v, f0, f1, 0, 440238795);
                    if h % 6 < 1 { l2.append(v + h % 3); }
                }
            }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 5]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 3], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, Some(0)), (true, None), (false, Some(0)), (true, Some(0))], frontier: Some(0),
            no: 5, ns: 4, ne: 3, bw: 32, binit: true, sinit: vec![8, 9, 5, 3], s_owner: Some(2), b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(3), m: 4, t: 1, salt: 703670049, who: Who::V, k: 1, c: 9 }, St { op: Op::Push(2), m: 1, t: 1, salt: 812997273, who: Who::V, k: 7, c: 2 }, St { op: Op::Push(3), m: 4, t: 1, salt: 904660609, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 5, t: 1, salt: 45969724, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(99), ops: vec![St { op: Op::Own, m: 2, t: 1, salt: 555808520, who: Who::V, k: 3, c: 2 }] }), It::F(Fix { id: 1, times: 2, ask: Some((1, 24, false)), items: vec![It::F(Fix { id: 2, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 4, t: 4, salt: 238748586, who: Who::V, k: 1, c: 1 }, St { op: Op::Push(0), m: 1, t: 1, salt: 509085719, who: Who::V, k: 1, c: 3 }, St { op: Op::OwnS, m: 4, t: 1, salt: 908729847, who: Who::V, k: 6, c: 9 }, St { op: Op::Push(3), m: 5, t: 1, salt: 355608122, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 3, t: 1, salt: 940998664, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(3), ops: vec![St { op: Op::Acc, m: 4, t: 2, salt: 88395285, who: Who::Src, k: 5, c: 4 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 5, t: 5, salt: 326360772, who: Who::V, k: 5, c: 6 }, St { op: Op::Push(2), m: 1, t: 1, salt: 121409123, who: Who::V, k: 1, c: 3 }, St { op: Op::Push(3), m: 8, t: 1, salt: 407808969, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 6, t: 1, salt: 440238795, who: Who::V, k: 0, c: 1 }] })] })] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g25 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l1: List<u32>,
            #[output(per = node, init = 7)] o: [u64; 5],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [6])] s: [u32; 1],
            #[output(per = edge(graph), init = [0, 1, 2, 3, 4, 5, 6, 7])] e: [u32; 8],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 3))]
        mod f0 {
            #[wave(items(l1))]
            fn w0(x: u32, f0: Round, n: u32, l1: &Append<u32>, acc: &Buf<Atomic<u64>>) {
                let h = mix(x, f0, 0, 0, 434054087);
                if h % 5 < 2 { acc[x % n].fetch_add(u64::from(h % 1000) + 5); }
                let h = mix(x, f0, 0, 0, 778476907);
                if h % 2 < 1 { l1.append(x % n + h % 3); }
            }
            #[wave(edges(graph), after(w0))]
            fn w1(at: Edge, f0: Round, l1: &Append<u32>, acc: &Buf<Atomic<u64>>) {
                let h = mix(at.index, f0, 0, 0, 648292027);
                if h % 3 < 2 { l1.append(at.dst + h % 3); }
                let h = mix(at.index, f0, 0, 0, 33860174);
                if h % 4 < 2 { l1.append(at.src + h % 3); }
                let h = mix(at.index, f0, 0, 0, 816366995);
                if h % 4 < 1 { acc[at.src].fetch_add(u64::from(h % 1000) + 1); }
                let h = mix(at.index, f0, 0, 0, 389533621);
                if h % 2 < 1 { l1.append(at.src + h % 3); }
            }
            #[fixpoint(after(w0, w1), until(round + 1 == 2 || l0.len() >= 11))]
            mod f1 {
                #[fixpoint(until(round + 1 == 1 || l1.len() >= 36))]
                mod f2 {
                    #[wave(nodes)]
                    fn w2(v: Node, f0: Round, f1: Round, f2: Round, l0: &Push, s: &mut [u32; 1], l1: &Append<u32>) {
                        let h = mix(v, f0, f1, f2, 134653660);
                        if h % 4 < 4 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 845808411);
                        if h % 4 < 3 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 101976885);
                        if h % 3 < 3 { s[((h >> 3) % 1) as usize] += 2 + h % 5; }
                        let h = mix(v, f0, f1, f2, 371341955);
                        if h % 2 < 1 { l1.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 969610470);
                        if h % 9 < 1 { l0.push(v); }
                    }
                    #[wave(items(l0), after(w2))]
                    fn w3(v: Node, f0: Round, f1: Round, f2: Round, s: &[u32; 1], o: &mut [u64; 5], acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f0, f1, f2, 737025900);
                        if h % 2 < 2 { o[3] = o[3].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                        let h = mix(v, f0, f1, f2, 220668145);
                        if h % 4 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 1); }
                    }
                    #[wave(nodes)]
                    fn w4(v: Node, f0: Round, f1: Round, f2: Round, l1: &Append<u32>) {
                        let h = mix(v, f0, f1, f2, 414526506);
                        if h % 4 < 4 { l1.append(v + h % 3); }
                    }
                    #[wave(edges(graph), after(w3))]
                    fn w5(at: Edge, f0: Round, f1: Round, f2: Round, l1: &Append<u32>, acc: &Buf<Atomic<u64>>, l0: &Push) {
                        let h = mix(at.index, f0, f1, f2, 424810514);
                        if h % 3 < 1 { l1.append(at.src + h % 3); }
                        let h = mix(at.index, f0, f1, f2, 674915154);
                        if h % 5 < 5 { acc[at.dst].fetch_add(u64::from(h % 1000) + 8); }
                        let h = mix(at.index, f0, f1, f2, 530591704);
                        if h % 3 < 3 { l0.push(at.dst); }
                        let h = mix(at.index, f0, f1, f2, 26489118);
                        if h % 3 < 2 { acc[at.src].fetch_add(u64::from(h % 1000) + 1); }
                    }
                }
                #[wave(edges(graph, from = l0), after(f2))]
                fn w6(at: Edge, f0: Round, f1: Round, l0: &Push, acc: &Buf<Atomic<u64>>, l1: &Append<u32>) {
                    let h = mix(at.index, f0, f1, 0, 237118321);
                    if h % 3 < 3 { l0.push(at.src); }
                    let h = mix(at.index, f0, f1, 0, 14314996);
                    if h % 3 < 3 { acc[at.dst].fetch_add(u64::from(h % 1000) + 8); }
                    let h = mix(at.index, f0, f1, 0, 100059062);
                    if h % 2 < 2 { l1.append(at.dst + h % 3); }
                    let h = mix(at.index, f0, f1, 0, 641907850);
                    if h % 5 < 1 { l1.append(at.src + h % 3); }
                }
                #[fixpoint(after(f2, w6), until(round + 1 == 2))]
                mod f3 {
                    #[wave(nodes)]
                    fn w7(v: Node, f0: Round, f1: Round, f3: Round, acc: &Buf<Atomic<u64>>, l1: &Append<u32>, l0: &Push) {
                        let h = mix(v, f0, f1, f3, 338181941);
                        if h % 3 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 9); }
                        let h = mix(v, f0, f1, f3, 803144020);
                        if h % 4 < 2 { l1.append(v + h % 3); }
                        let h = mix(v, f0, f1, f3, 985841207);
                        if h % 1 < 1 { l1.append(v + h % 3); }
                        let h = mix(v, f0, f1, f3, 271103265);
                        if h % 3 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f3, 819073895);
                        if h % 4 < 1 { l1.append(v + h % 3); }
                        let h = mix(v, f0, f1, f3, 859612499);
                        if h % 4 < 1 { l0.push(v); }
                    }
                    #[wave(edges(graph, from = l0), after(w7))]
                    fn w8(at: Edge, f0: Round, f1: Round, f3: Round, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 1]>) {
                        let h = mix(at.index, f0, f1, f3, 2894072);
                        if h % 3 < 2 { acc[at.dst].fetch_add(u64::from(h % 1000) + 1); }
                        let h = mix(at.index, f0, f1, f3, 881107363);
                        if h % 4 < 4 { acc[at.src].fetch_add(u64::from(s.get(at.dst)[(h % 1) as usize])); }
                        let h = mix(at.index, f0, f1, f3, 81416844);
                        if h % 1 < 1 { acc[at.dst].fetch_add(u64::from(s.get(at.src)[(h % 1) as usize])); }
                        let h = mix(at.index, f0, f1, f3, 664778159);
                        if h % 3 < 2 { acc[at.dst].fetch_add(u64::from(s.get(at.src)[(h % 1) as usize])); }
                    }
                    #[wave(edges(graph))]
                    fn w9(at: Edge, f0: Round, f1: Round, f3: Round, l1: &Append<u32>, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 1]>) {
                        let h = mix(at.index, f0, f1, f3, 790483427);
                        if h % 1 < 1 { l1.append(at.src + h % 3); }
                        let h = mix(at.index, f0, f1, f3, 991299566);
                        if h % 1 < 1 { acc[at.src].fetch_add(u64::from(s.get(at.dst)[(h % 1) as usize])); }
                    }
                }
            }
        }
        #[wave(nodes, after(f0))]
        fn w10(v: Node, acc: &Buf<Atomic<u64>>, l0: &Push, l1: &Append<u32>) {
            let h = mix(v, 0, 0, 0, 248376323);
            if h % 2 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 8); }
            let h = mix(v, 0, 0, 0, 953324551);
            if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 4); }
            let h = mix(v, 0, 0, 0, 959647352);
            if h % 3 < 1 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 564335758);
            if h % 9 < 1 { l1.append(v + h % 3); }
        }
        #[wave(edges(graph, from = l0), after(f0, w10))]
        fn w11(at: Edge, l0: &Push, acc: &Buf<Atomic<u64>>) {
            let h = mix(at.index, 0, 0, 0, 258518149);
            if h % 1 < 1 { acc[at.src].fetch_add(u64::from(h % 1000) + 3); }
            let h = mix(at.index, 0, 0, 0, 911058227);
            if h % 3 < 2 { l0.push(at.dst); }
            let h = mix(at.index, 0, 0, 0, 670660158);
            if h % 1 < 1 { l0.push(at.src); }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 5]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 8], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (false, None)], frontier: None,
            no: 5, ns: 1, ne: 8, bw: 32, binit: false, sinit: vec![6], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Acc, m: 5, t: 2, salt: 434054087, who: Who::V, k: 7, c: 5 }, St { op: Op::Push(1), m: 2, t: 1, salt: 778476907, who: Who::V, k: 1, c: 9 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(1), m: 3, t: 2, salt: 648292027, who: Who::Dst, k: 4, c: 8 }, St { op: Op::Push(1), m: 4, t: 2, salt: 33860174, who: Who::Src, k: 6, c: 4 }, St { op: Op::Acc, m: 4, t: 1, salt: 816366995, who: Who::Src, k: 0, c: 1 }, St { op: Op::Push(1), m: 2, t: 1, salt: 389533621, who: Who::Src, k: 4, c: 6 }] }), It::F(Fix { id: 1, times: 2, ask: Some((0, 11, false)), items: vec![It::F(Fix { id: 2, times: 1, ask: Some((1, 36, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 4, t: 4, salt: 134653660, who: Who::V, k: 0, c: 3 }, St { op: Op::Push(0), m: 4, t: 3, salt: 845808411, who: Who::V, k: 1, c: 9 }, St { op: Op::OwnS, m: 3, t: 3, salt: 101976885, who: Who::V, k: 4, c: 2 }, St { op: Op::Push(1), m: 2, t: 1, salt: 371341955, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 9, t: 1, salt: 969610470, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::ReadS, m: 2, t: 2, salt: 737025900, who: Who::V, k: 3, c: 6 }, St { op: Op::Acc, m: 4, t: 2, salt: 220668145, who: Who::V, k: 6, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 4, t: 4, salt: 414526506, who: Who::V, k: 4, c: 4 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(1), m: 3, t: 1, salt: 424810514, who: Who::Src, k: 4, c: 2 }, St { op: Op::Acc, m: 5, t: 5, salt: 674915154, who: Who::Dst, k: 1, c: 8 }, St { op: Op::Push(0), m: 3, t: 3, salt: 530591704, who: Who::Dst, k: 5, c: 9 }, St { op: Op::Acc, m: 3, t: 2, salt: 26489118, who: Who::Src, k: 0, c: 1 }] })] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(0), m: 3, t: 3, salt: 237118321, who: Who::Src, k: 6, c: 6 }, St { op: Op::Acc, m: 3, t: 3, salt: 14314996, who: Who::Dst, k: 7, c: 8 }, St { op: Op::Push(1), m: 2, t: 2, salt: 100059062, who: Who::Dst, k: 5, c: 3 }, St { op: Op::Push(1), m: 5, t: 1, salt: 641907850, who: Who::Src, k: 1, c: 1 }] }), It::F(Fix { id: 3, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 3, t: 1, salt: 338181941, who: Who::V, k: 6, c: 9 }, St { op: Op::Push(1), m: 4, t: 2, salt: 803144020, who: Who::V, k: 1, c: 9 }, St { op: Op::Push(1), m: 1, t: 1, salt: 985841207, who: Who::V, k: 6, c: 8 }, St { op: Op::Push(0), m: 3, t: 1, salt: 271103265, who: Who::V, k: 3, c: 5 }, St { op: Op::Push(1), m: 4, t: 1, salt: 819073895, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 4, t: 1, salt: 859612499, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Acc, m: 3, t: 2, salt: 2894072, who: Who::Dst, k: 4, c: 1 }, St { op: Op::RecS, m: 4, t: 4, salt: 881107363, who: Who::Src, k: 7, c: 1 }, St { op: Op::RecS, m: 1, t: 1, salt: 81416844, who: Who::Dst, k: 4, c: 6 }, St { op: Op::RecS, m: 3, t: 2, salt: 664778159, who: Who::Dst, k: 5, c: 3 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 790483427, who: Who::Src, k: 0, c: 5 }, St { op: Op::RecS, m: 1, t: 1, salt: 991299566, who: Who::Src, k: 3, c: 5 }] })] })] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 2, t: 1, salt: 248376323, who: Who::V, k: 2, c: 8 }, St { op: Op::Acc, m: 1, t: 1, salt: 953324551, who: Who::V, k: 4, c: 4 }, St { op: Op::Push(0), m: 3, t: 1, salt: 959647352, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 9, t: 1, salt: 564335758, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 258518149, who: Who::Src, k: 2, c: 3 }, St { op: Op::Push(0), m: 3, t: 2, salt: 911058227, who: Who::Dst, k: 5, c: 5 }, St { op: Op::Push(0), m: 1, t: 1, salt: 670660158, who: Who::Src, k: 7, c: 5 }] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g26 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l0: List<u32>,
            #[list(unique)] l1: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l2: List<u32>,
            #[list(unique)] l3: List<Node>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 5],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [6, 6, 3, 5, 0, 3, 1])] s: [u32; 7],
            #[scratch(per = node, bits = 7)] b: Bits,
            #[output(per = edge(graph), init = [0, 1, 2])] e: [u32; 3],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 3))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, b: &Bits, acc: &Buf<Atomic<u64>>, l0: &Append<u32>, l3: &Push, l2: &Append<u32>) {
                let h = mix(v, f0, 0, 0, 74569732);
                if h % 3 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 4); }
                let h = mix(v, f0, 0, 0, 986172742);
                if h % 3 < 3 { l0.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 895268408);
                if h % 2 < 1 { l3.push(v); }
                let h = mix(v, f0, 0, 0, 613822126);
                if h % 5 < 5 { acc[v].fetch_add(u64::from(b.count(v)) * 3); }
                let h = mix(v, f0, 0, 0, 226289621);
                if h % 3 < 1 { l2.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 248346108);
                if h % 2 < 1 { l3.push(v); }
            }
            #[wave(items(l1))]
            fn w1(v: Node, f0: Round, l2: &Append<u32>, s: &mut [u32; 7], l3: &Push) {
                let h = mix(v, f0, 0, 0, 65102509);
                if h % 3 < 2 { l2.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 406666236);
                if h % 2 < 2 { s.swap(0, (h % 7) as usize); }
                let h = mix(v, f0, 0, 0, 838481050);
                if h % 4 < 1 { s[((h >> 3) % 7) as usize] += 6 + h % 5; }
                let h = mix(v, f0, 0, 0, 44847158);
                if h % 3 < 3 { l3.push(v); }
            }
            #[fixpoint(after(w0, w1), until(round + 1 == 2 || l3.is_empty()))]
            mod f1 {
                #[fixpoint(until(round + 1 == 2))]
                mod f2 {
                    #[wave(nodes)]
                    fn w2(v: Node, f0: Round, f1: Round, f2: Round, l2: &Append<u32>, l0: &Append<u32>, l3: &Push) {
                        let h = mix(v, f0, f1, f2, 302464321);
                        if h % 4 < 3 { l2.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 137169800);
                        if h % 5 < 1 { l0.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 585511125);
                        if h % 8 < 1 { l3.push(v); }
                        let h = mix(v, f0, f1, f2, 467107296);
                        if h % 6 < 1 { l2.append(v + h % 3); }
                    }
                    #[wave(edges(graph, from = l3), after(w2))]
                    fn w3(at: Edge, f0: Round, f1: Round, f2: Round, lf: &Push, l1: &Push) {
                        let h = mix(at.index, f0, f1, f2, 611248067);
                        if h % 4 < 2 { lf.push(at.src); }
                        let h = mix(at.index, f0, f1, f2, 49184677);
                        if h % 2 < 2 { l1.push(at.dst); }
                    }
                }
                #[wave(edges(graph, from = l1), after(f2))]
                fn w4(at: Edge, f0: Round, f1: Round, l1: &Push, l0: &Append<u32>, l2: &Append<u32>) {
                    let h = mix(at.index, f0, f1, 0, 392189650);
                    if h % 1 < 1 { l0.append(at.dst + h % 3); }
                    let h = mix(at.index, f0, f1, 0, 543472158);
                    if h % 3 < 2 { l1.push(at.dst); }
                    let h = mix(at.index, f0, f1, 0, 702866188);
                    if h % 3 < 3 { l2.append(at.src + h % 3); }
                    let h = mix(at.index, f0, f1, 0, 392835237);
                    if h % 3 < 3 { l2.append(at.dst + h % 3); }
                }
            }
            #[wave(items(l2), after(w0, w1, f1))]
            fn w5(x: u32, f0: Round, n: u32, l3: &Push) {
                let h = mix(x, f0, 0, 0, 927312721);
                if h % 3 < 3 { l3.push(x % n); }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 1))]
        mod f3 {
            #[wave(items(lf))]
            fn w6(v: Node, f3: Round, b: &Bits, acc: &Buf<Atomic<u64>>) {
                let h = mix(v, f3, 0, 0, 682180286);
                if h % 4 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 4); }
            }
            #[wave(edges(graph))]
            fn w7(at: Edge, f3: Round, l1: &Push, l0: &Append<u32>) {
                let h = mix(at.index, f3, 0, 0, 791188490);
                if h % 3 < 2 { l1.push(at.dst); }
                let h = mix(at.index, f3, 0, 0, 658297245);
                if h % 3 < 3 { l0.append(at.dst + h % 3); }
            }
            #[wave(items(l0), after(w7))]
            fn w8(x: u32, f3: Round, n: u32, l0: &Append<u32>) {
                let h = mix(x, f3, 0, 0, 95841221);
                if h % 5 < 5 { l0.append(x % n + h % 3); }
            }
            #[wave(items(lf))]
            fn w9(v: Node, f3: Round, lf: &Push, acc: &Buf<Atomic<u64>>, s: &mut [u32; 7]) {
                let h = mix(v, f3, 0, 0, 48760224);
                if h % 4 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 2); }
                let h = mix(v, f3, 0, 0, 71680149);
                if h % 5 < 2 { s.swap(0, (h % 7) as usize); }
                let h = mix(v, f3, 0, 0, 565932315);
                if h % 1 < 1 { lf.push(v); }
            }
        }
        #[wave(nodes, after(f0, f3))]
        fn w10(v: Node, s: &mut [u32; 7], l2: &Append<u32>, l3: &Push, l0: &Append<u32>) {
            let h = mix(v, 0, 0, 0, 878469022);
            if h % 3 < 3 { s.swap(2, (h % 7) as usize); }
            let h = mix(v, 0, 0, 0, 245592203);
            if h % 3 < 3 { l2.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 319580937);
            if h % 2 < 2 { l3.push(v); }
            let h = mix(v, 0, 0, 0, 675517515);
            if h % 3 < 1 { l0.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 864088860);
            if h % 5 < 1 { l3.push(v); }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 5]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 3], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(false, None), (true, None), (false, None), (true, None)], frontier: Some(3),
            no: 5, ns: 7, ne: 3, bw: 7, binit: false, sinit: vec![6, 6, 3, 5, 0, 3, 1], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitCount, m: 3, t: 2, salt: 74569732, who: Who::V, k: 6, c: 4 }, St { op: Op::Push(0), m: 3, t: 3, salt: 986172742, who: Who::V, k: 1, c: 8 }, St { op: Op::Push(3), m: 2, t: 1, salt: 895268408, who: Who::V, k: 3, c: 1 }, St { op: Op::BitCount, m: 5, t: 5, salt: 613822126, who: Who::V, k: 7, c: 3 }, St { op: Op::Push(2), m: 3, t: 1, salt: 226289621, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(3), m: 2, t: 1, salt: 248346108, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(2), m: 3, t: 2, salt: 65102509, who: Who::V, k: 6, c: 9 }, St { op: Op::Swap, m: 2, t: 2, salt: 406666236, who: Who::V, k: 7, c: 4 }, St { op: Op::OwnS, m: 4, t: 1, salt: 838481050, who: Who::V, k: 1, c: 6 }, St { op: Op::Push(3), m: 3, t: 3, salt: 44847158, who: Who::V, k: 0, c: 9 }] }), It::F(Fix { id: 1, times: 2, ask: Some((3, 6, true)), items: vec![It::F(Fix { id: 2, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 4, t: 3, salt: 302464321, who: Who::V, k: 7, c: 2 }, St { op: Op::Push(0), m: 5, t: 1, salt: 137169800, who: Who::V, k: 0, c: 2 }, St { op: Op::Push(3), m: 8, t: 1, salt: 585511125, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 6, t: 1, salt: 467107296, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(3), ops: vec![St { op: Op::Push(99), m: 4, t: 2, salt: 611248067, who: Who::Src, k: 2, c: 9 }, St { op: Op::Push(1), m: 2, t: 2, salt: 49184677, who: Who::Dst, k: 6, c: 5 }] })] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 392189650, who: Who::Dst, k: 5, c: 9 }, St { op: Op::Push(1), m: 3, t: 2, salt: 543472158, who: Who::Dst, k: 4, c: 2 }, St { op: Op::Push(2), m: 3, t: 3, salt: 702866188, who: Who::Src, k: 7, c: 1 }, St { op: Op::Push(2), m: 3, t: 3, salt: 392835237, who: Who::Dst, k: 6, c: 3 }] })] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(3), m: 3, t: 3, salt: 927312721, who: Who::V, k: 4, c: 5 }] })] }), It::F(Fix { id: 3, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Items(99), ops: vec![St { op: Op::BitCount, m: 4, t: 2, salt: 682180286, who: Who::V, k: 5, c: 4 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(1), m: 3, t: 2, salt: 791188490, who: Who::Dst, k: 2, c: 6 }, St { op: Op::Push(0), m: 3, t: 3, salt: 658297245, who: Who::Dst, k: 0, c: 5 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Push(0), m: 5, t: 5, salt: 95841221, who: Who::V, k: 7, c: 7 }] }), It::W(Wave { dom: Dom::Items(99), ops: vec![St { op: Op::Acc, m: 4, t: 2, salt: 48760224, who: Who::V, k: 4, c: 2 }, St { op: Op::Swap, m: 5, t: 2, salt: 71680149, who: Who::V, k: 0, c: 8 }, St { op: Op::Push(99), m: 1, t: 1, salt: 565932315, who: Who::V, k: 6, c: 6 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Swap, m: 3, t: 3, salt: 878469022, who: Who::V, k: 2, c: 3 }, St { op: Op::Push(2), m: 3, t: 3, salt: 245592203, who: Who::V, k: 4, c: 5 }, St { op: Op::Push(3), m: 2, t: 2, salt: 319580937, who: Who::V, k: 7, c: 7 }, St { op: Op::Push(0), m: 3, t: 1, salt: 675517515, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(3), m: 5, t: 1, salt: 864088860, who: Who::V, k: 0, c: 1 }] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g27 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l0: List<u32>,
            #[list(unique, reset = round)] l1: List<Node>,
            #[list(unique)] l2: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 2],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [2, 5, 0, 3, 9, 4, 3, 3], reset = round)] s: [u32; 8],
            #[scratch(per = node, bits = 33, init = true, reset = round)] b: Bits,
            #[output(per = edge(graph), init = [0, 1, 2])] e: [u32; 3],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 1))]
        mod f0 {
            #[fixpoint(until(round + 1 == 3 || l2.is_empty()))]
            mod f1 {
                #[fixpoint(until(round + 1 == 2 || l1.len() >= 14))]
                mod f2 {
                    #[wave(nodes)]
                    fn w0(v: Node, f0: Round, f1: Round, f2: Round, b: &Bits, s: &mut [u32; 8], l1: &Push, l2: &Push) {
                        let h = mix(v, f0, f1, f2, 510529175);
                        if h % 5 < 4 { b.unset(v, h % 33); }
                        let h = mix(v, f0, f1, f2, 585175295);
                        if h % 4 < 2 { s.swap(1, (h % 8) as usize); }
                        let h = mix(v, f0, f1, f2, 718798964);
                        if h % 7 < 1 { l1.push(v); }
                        let h = mix(v, f0, f1, f2, 674770117);
                        if h % 2 < 1 { l2.push(v); }
                    }
                    #[wave(items(l2), after(w0))]
                    fn w1(v: Node, f0: Round, f1: Round, f2: Round, b: &Bits, acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f0, f1, f2, 484490546);
                        if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 4); }
                        let h = mix(v, f0, f1, f2, 468289796);
                        if h % 5 < 5 { acc[v].fetch_add(u64::from(h % 1000) + 8); }
                    }
                }
                #[wave(nodes, after(f2))]
                fn w2(v: Node, f0: Round, f1: Round, s: &mut [u32; 8], l0: &Append<u32>, o: &mut [u64; 2], l1: &Push) {
                    let h = mix(v, f0, f1, 0, 143731641);
                    if h % 3 < 2 { s[((h >> 3) % 8) as usize] += 4 + h % 5; }
                    let h = mix(v, f0, f1, 0, 316190646);
                    if h % 4 < 4 { l0.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 298448224);
                    if h % 4 < 4 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[5])); }
                    let h = mix(v, f0, f1, 0, 31785886);
                    if h % 6 < 1 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 145771391);
                    if h % 3 < 1 { l0.append(v + h % 3); }
                }
                #[wave(items(l2), after(f2))]
                fn w3(v: Node, f0: Round, f1: Round, l2: &Push) {
                    let h = mix(v, f0, f1, 0, 420698112);
                    if h % 3 < 2 { l2.push(v); }
                }
                #[fixpoint(after(f2, w2, w3), until(round + 1 == 2))]
                mod f3 {
                    #[wave(nodes)]
                    fn w4(v: Node, f0: Round, f1: Round, f3: Round, l1: &Push, l0: &Append<u32>, l2: &Push) {
                        let h = mix(v, f0, f1, f3, 924549044);
                        if h % 4 < 2 { l1.push(v); }
                        let h = mix(v, f0, f1, f3, 879258715);
                        if h % 2 < 1 { l0.append(v + h % 3); }
                        let h = mix(v, f0, f1, f3, 946902104);
                        if h % 6 < 1 { l2.push(v); }
                    }
                    #[wave(items(l0), after(w4))]
                    fn w5(x: u32, f0: Round, f1: Round, f3: Round, n: u32, l0: &Append<u32>, acc: &Buf<Atomic<u64>>, l1: &Push) {
                        let h = mix(x, f0, f1, f3, 122419753);
                        if h % 5 < 3 { acc[x % n].fetch_add(u64::from(h % 1000) + 3); }
                        let h = mix(x, f0, f1, f3, 836658924);
                        if h % 4 < 3 { l0.append(x % n + h % 3); }
                        let h = mix(x, f0, f1, f3, 968958057);
                        if h % 5 < 2 { l1.push(x % n); }
                    }
                }
            }
            #[wave(edges(graph, from = l1), after(f1))]
            fn w6(at: Edge, f0: Round, l0: &Append<u32>) {
                let h = mix(at.index, f0, 0, 0, 831769566);
                if h % 2 < 2 { l0.append(at.src + h % 3); }
            }
        }
        #[wave(nodes, after(f0))]
        fn w7(v: Node, l2: &Push, l0: &Append<u32>) {
            let h = mix(v, 0, 0, 0, 632042842);
            if h % 1 < 1 { l2.push(v); }
            let h = mix(v, 0, 0, 0, 79783981);
            if h % 3 < 1 { l0.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 572977853);
            if h % 2 < 1 { l2.push(v); }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 2]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 3], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(false, None), (true, Some(0)), (true, None)], frontier: None,
            no: 2, ns: 8, ne: 3, bw: 33, binit: true, sinit: vec![2, 5, 0, 3, 9, 4, 3, 3], s_owner: Some(1), b_owner: Some(2),
            root: vec![It::F(Fix { id: 0, times: 1, ask: None, items: vec![It::F(Fix { id: 1, times: 3, ask: Some((2, 6, true)), items: vec![It::F(Fix { id: 2, times: 2, ask: Some((1, 14, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitSet, m: 5, t: 4, salt: 510529175, who: Who::V, k: 3, c: 4 }, St { op: Op::Swap, m: 4, t: 2, salt: 585175295, who: Who::V, k: 1, c: 4 }, St { op: Op::Push(1), m: 7, t: 1, salt: 718798964, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 2, t: 1, salt: 674770117, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::BitCount, m: 1, t: 1, salt: 484490546, who: Who::V, k: 0, c: 4 }, St { op: Op::Acc, m: 5, t: 5, salt: 468289796, who: Who::V, k: 6, c: 8 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::OwnS, m: 3, t: 2, salt: 143731641, who: Who::V, k: 6, c: 4 }, St { op: Op::Push(0), m: 4, t: 4, salt: 316190646, who: Who::V, k: 6, c: 7 }, St { op: Op::ReadS, m: 4, t: 4, salt: 298448224, who: Who::V, k: 4, c: 5 }, St { op: Op::Push(1), m: 6, t: 1, salt: 31785886, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 3, t: 1, salt: 145771391, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(2), m: 3, t: 2, salt: 420698112, who: Who::V, k: 4, c: 1 }] }), It::F(Fix { id: 3, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 4, t: 2, salt: 924549044, who: Who::V, k: 2, c: 3 }, St { op: Op::Push(0), m: 2, t: 1, salt: 879258715, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 6, t: 1, salt: 946902104, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Acc, m: 5, t: 3, salt: 122419753, who: Who::V, k: 2, c: 3 }, St { op: Op::Push(0), m: 4, t: 3, salt: 836658924, who: Who::V, k: 1, c: 3 }, St { op: Op::Push(1), m: 5, t: 2, salt: 968958057, who: Who::V, k: 2, c: 6 }] })] })] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Push(0), m: 2, t: 2, salt: 831769566, who: Who::Src, k: 2, c: 6 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 1, t: 1, salt: 632042842, who: Who::V, k: 4, c: 7 }, St { op: Op::Push(0), m: 3, t: 1, salt: 79783981, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 2, t: 1, salt: 572977853, who: Who::V, k: 0, c: 1 }] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g28 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l1: List<u32>,
            #[list(unique)] l2: List<Node>,
            #[list(unique)] l3: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 2],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [4, 0, 3, 8, 7, 5, 6, 5], reset = round)] s: [u32; 8],
            #[scratch(per = node, bits = 65)] b: Bits,
            #[output(per = edge(graph), init = [0, 1, 2])] e: [u32; 3],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 3))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, l0: &Push, acc: &Buf<Atomic<u64>>, b: &Bits, l3: &Push) {
                let h = mix(v, f0, 0, 0, 884601852);
                if h % 3 < 2 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 434452252);
                if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 9); }
                let h = mix(v, f0, 0, 0, 657097102);
                if h % 4 < 3 { acc[v].fetch_add(u64::from(b.count(v)) * 3); }
                let h = mix(v, f0, 0, 0, 141573386);
                if h % 9 < 1 { l3.push(v); }
                let h = mix(v, f0, 0, 0, 866959077);
                if h % 3 < 1 { l0.push(v); }
            }
            #[wave(items(l1))]
            fn w1(x: u32, f0: Round, n: u32, l3: &Push) {
                let h = mix(x, f0, 0, 0, 267234451);
                if h % 2 < 1 { l3.push(x % n); }
            }
            #[wave(edges(graph, from = l2), after(w1))]
            fn w2(at: Edge, f0: Round, l1: &Append<u32>) {
                let h = mix(at.index, f0, 0, 0, 472742053);
                if h % 4 < 2 { l1.append(at.dst + h % 3); }
            }
            #[wave(items(l2), after(w2))]
            fn w3(v: Node, f0: Round, l2: &Push, l0: &Push, s: &[u32; 8], o: &mut [u64; 2]) {
                let h = mix(v, f0, 0, 0, 250024063);
                if h % 3 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 881395227);
                if h % 4 < 1 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[5])); }
                let h = mix(v, f0, 0, 0, 365509540);
                if h % 3 < 1 { l2.push(v); }
                let h = mix(v, f0, 0, 0, 309501885);
                if h % 5 < 3 { o[1] = o[1].wrapping_mul(3).wrapping_add(u64::from(s[4])); }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 3))]
        mod f1 {
            #[fixpoint(until(round + 1 == 3 || l3.is_empty()))]
            mod f2 {
                #[wave(nodes)]
                fn w4(v: Node, f1: Round, f2: Round, b: &Bits, acc: &Buf<Atomic<u64>>, l3: &Push, l1: &Append<u32>, l2: &Push) {
                    let h = mix(v, f1, f2, 0, 167341991);
                    if h % 4 < 3 { acc[v].fetch_add(u64::from(b.count(v)) * 1); }
                    let h = mix(v, f1, f2, 0, 366230915);
                    if h % 5 < 4 { l3.push(v); }
                    let h = mix(v, f1, f2, 0, 146367196);
                    if h % 8 < 1 { l1.append(v + h % 3); }
                    let h = mix(v, f1, f2, 0, 67110264);
                    if h % 5 < 1 { l2.push(v); }
                }
                #[wave(edges(graph, from = l3), after(w4))]
                fn w5(at: Edge, f1: Round, f2: Round, l3: &Push, l2: &Push) {
                    let h = mix(at.index, f1, f2, 0, 977774406);
                    if h % 2 < 2 { l2.push(at.dst); }
                    let h = mix(at.index, f1, f2, 0, 495019559);
                    if h % 4 < 2 { l3.push(at.src); }
                }
            }
            #[fixpoint(after(f2), until(round + 1 == 2 || l3.len() >= 6))]
            mod f3 {
                #[wave(nodes)]
                fn w6(v: Node, f1: Round, f3: Round, acc: &Buf<Atomic<u64>>, l2: &Push, l3: &Push) {
                    let h = mix(v, f1, f3, 0, 387171901);
                    if h % 3 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 1); }
                    let h = mix(v, f1, f3, 0, 105470127);
                    if h % 6 < 1 { l2.push(v); }
                    let h = mix(v, f1, f3, 0, 199223048);
                    if h % 7 < 1 { l3.push(v); }
                }
                #[wave(edges(graph, from = l0))]
                fn w7(at: Edge, f1: Round, f3: Round, e: &mut [u32; 3]) {
                    let h = mix(at.index, f1, f3, 0, 28141348);
                    if h % 3 < 1 { e[1] = e[1] * 3 + 8 + h % 7; }
                }
            }
            #[wave(nodes, after(f2, f3))]
            fn w8(v: Node, f1: Round, o: &mut [u64; 2], l2: &Push, l3: &Push, l0: &Push) {
                let h = mix(v, f1, 0, 0, 520495860);
                if h % 4 < 4 { o[(h % 2) as usize] += 8 + u64::from(h % 17); }
                let h = mix(v, f1, 0, 0, 659977933);
                if h % 3 < 3 { l2.push(v); }
                let h = mix(v, f1, 0, 0, 559974652);
                if h % 1 < 1 { l3.push(v); }
                let h = mix(v, f1, 0, 0, 46486776);
                if h % 5 < 1 { l0.push(v); }
                let h = mix(v, f1, 0, 0, 952050041);
                if h % 6 < 1 { l2.push(v); }
            }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 2]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 3], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (false, None), (true, None), (true, None)], frontier: None,
            no: 2, ns: 8, ne: 3, bw: 65, binit: false, sinit: vec![4, 0, 3, 8, 7, 5, 6, 5], s_owner: Some(0), b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 3, t: 2, salt: 884601852, who: Who::V, k: 5, c: 7 }, St { op: Op::Acc, m: 1, t: 1, salt: 434452252, who: Who::V, k: 6, c: 9 }, St { op: Op::BitCount, m: 4, t: 3, salt: 657097102, who: Who::V, k: 7, c: 3 }, St { op: Op::Push(3), m: 9, t: 1, salt: 141573386, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 3, t: 1, salt: 866959077, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(3), m: 2, t: 1, salt: 267234451, who: Who::V, k: 5, c: 5 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(1), m: 4, t: 2, salt: 472742053, who: Who::Dst, k: 1, c: 2 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(0), m: 3, t: 1, salt: 250024063, who: Who::V, k: 2, c: 2 }, St { op: Op::ReadS, m: 4, t: 1, salt: 881395227, who: Who::V, k: 6, c: 5 }, St { op: Op::Push(2), m: 3, t: 1, salt: 365509540, who: Who::V, k: 6, c: 6 }, St { op: Op::ReadS, m: 5, t: 3, salt: 309501885, who: Who::V, k: 3, c: 4 }] })] }), It::F(Fix { id: 1, times: 3, ask: None, items: vec![It::F(Fix { id: 2, times: 3, ask: Some((3, 26, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitCount, m: 4, t: 3, salt: 167341991, who: Who::V, k: 4, c: 1 }, St { op: Op::Push(3), m: 5, t: 4, salt: 366230915, who: Who::V, k: 2, c: 5 }, St { op: Op::Push(1), m: 8, t: 1, salt: 146367196, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 5, t: 1, salt: 67110264, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(3), ops: vec![St { op: Op::Push(2), m: 2, t: 2, salt: 977774406, who: Who::Dst, k: 7, c: 4 }, St { op: Op::Push(3), m: 4, t: 2, salt: 495019559, who: Who::Src, k: 7, c: 9 }] })] }), It::F(Fix { id: 3, times: 2, ask: Some((3, 6, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 3, t: 2, salt: 387171901, who: Who::V, k: 4, c: 1 }, St { op: Op::Push(2), m: 6, t: 1, salt: 105470127, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(3), m: 7, t: 1, salt: 199223048, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::OwnE, m: 3, t: 1, salt: 28141348, who: Who::Dst, k: 4, c: 8 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Own, m: 4, t: 4, salt: 520495860, who: Who::V, k: 6, c: 8 }, St { op: Op::Push(2), m: 3, t: 3, salt: 659977933, who: Who::V, k: 4, c: 6 }, St { op: Op::Push(3), m: 1, t: 1, salt: 559974652, who: Who::V, k: 0, c: 6 }, St { op: Op::Push(0), m: 5, t: 1, salt: 46486776, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 6, t: 1, salt: 952050041, who: Who::V, k: 0, c: 1 }] })] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

pub mod g29 {
    use super::common::*;
    use super::ir::*;
    #[wave_graph]
    pub mod p {
        pub struct Data {
            #[topology] graph: Csr,
            n: u32,
            #[list(unique)] l0: List<Node>,
            #[list(unique)] l1: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 8],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [5])] s: [u32; 1],
            #[output(per = edge(graph), init = [0])] e: [u32; 1],
        }
        #[device]
        fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
            let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
            x ^= x >> 15;
            x = x.wrapping_mul(0x2C1B_3C6D);
            x ^= x >> 12;
            x = x.wrapping_mul(0x297A_2D39);
            x ^ (x >> 15)
        }
        #[fixpoint(until(round + 1 == 1 || l0.len() >= 32))]
        mod f0 {
            #[fixpoint(until(round + 1 == 2 || l0.len() >= 11))]
            mod f1 {
                #[wave(nodes)]
                fn w0(v: Node, f0: Round, f1: Round, s: &[u32; 1], o: &mut [u64; 8], l0: &Push, l1: &Push) {
                    let h = mix(v, f0, f1, 0, 711547757);
                    if h % 3 < 3 { o[5] = o[5].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                    let h = mix(v, f0, f1, 0, 874826301);
                    if h % 2 < 2 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 318642601);
                    if h % 2 < 1 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 605928793);
                    if h % 3 < 1 { l0.push(v); }
                }
                #[fixpoint(after(w0), until(round + 1 == 2 || l0.len() >= 25))]
                mod f2 {
                    #[wave(nodes)]
                    fn w1(v: Node, f0: Round, f1: Round, f2: Round, l1: &Push, s: &[u32; 1], o: &mut [u64; 8], l0: &Push) {
                        let h = mix(v, f0, f1, f2, 874937461);
                        if h % 5 < 4 { l1.push(v); }
                        let h = mix(v, f0, f1, f2, 216305128);
                        if h % 4 < 2 { o[7] = o[7].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                        let h = mix(v, f0, f1, f2, 700426407);
                        if h % 2 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 663661995);
                        if h % 3 < 1 { l1.push(v); }
                    }
                    #[wave(edges(graph, from = l1), after(w1))]
                    fn w2(at: Edge, f0: Round, f1: Round, f2: Round, l0: &Push) {
                        let h = mix(at.index, f0, f1, f2, 673559988);
                        if h % 5 < 1 { l0.push(at.src); }
                    }
                }
                #[wave(items(l1), after(w0, f2))]
                fn w3(v: Node, f0: Round, f1: Round, l0: &Push) {
                    let h = mix(v, f0, f1, 0, 272427429);
                    if h % 4 < 2 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 230735139);
                    if h % 3 < 1 { l0.push(v); }
                }
            }
            #[wave(nodes, after(f1))]
            fn w4(v: Node, f0: Round, l0: &Push, acc: &Buf<Atomic<u64>>, s: &mut [u32; 1], l1: &Push) {
                let h = mix(v, f0, 0, 0, 6913751);
                if h % 3 < 2 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 540297983);
                if h % 1 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 679647725);
                if h % 5 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 6); }
                let h = mix(v, f0, 0, 0, 463446851);
                if h % 2 < 1 { s.swap(0, (h % 1) as usize); }
                let h = mix(v, f0, 0, 0, 247727384);
                if h % 8 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 530914830);
                if h % 2 < 1 { l1.push(v); }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 2))]
        mod f3 {
            #[wave(nodes)]
            fn w5(v: Node, f3: Round, s: &mut [u32; 1], l1: &Push, o: &mut [u64; 8], l0: &Push) {
                let h = mix(v, f3, 0, 0, 267799398);
                if h % 3 < 1 { s.swap(0, (h % 1) as usize); }
                let h = mix(v, f3, 0, 0, 598010693);
                if h % 3 < 1 { l1.push(v); }
                let h = mix(v, f3, 0, 0, 289503972);
                if h % 2 < 1 { o[5] = o[5].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                let h = mix(v, f3, 0, 0, 126757315);
                if h % 8 < 1 { l1.push(v); }
                let h = mix(v, f3, 0, 0, 654807306);
                if h % 7 < 1 { l0.push(v); }
            }
            #[wave(edges(graph), after(w5))]
            fn w6(at: Edge, f3: Round, l1: &Push, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 1]>) {
                let h = mix(at.index, f3, 0, 0, 554407114);
                if h % 1 < 1 { l1.push(at.src); }
                let h = mix(at.index, f3, 0, 0, 414174554);
                if h % 2 < 1 { acc[at.dst].fetch_add(u64::from(s.get(at.src)[(h % 1) as usize])); }
                let h = mix(at.index, f3, 0, 0, 421045662);
                if h % 2 < 1 { acc[at.dst].fetch_add(u64::from(h % 1000) + 1); }
                let h = mix(at.index, f3, 0, 0, 94730157);
                if h % 3 < 2 { acc[at.src].fetch_add(u64::from(h % 1000) + 8); }
            }
        }
    }
    #[wave_graph]
    pub mod w {
        pub struct Data {
            #[topology] roads: Csr,
            #[scratch(per = 1)] at: u32,
            #[output(per = node)] tot: [u64; 2],
            #[output(per = edge(roads))] te: u64,
            n: u32,
            times: u32,
            salt: u32,
        }
        #[device]
        fn admitted(edge: Edge, at: &Buf<u32>, salt: u32) -> bool {
            (edge.index.wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(at[0]) % 4 != 0
        }
        #[fixpoint(until(round + 1 == times))]
        mod outer {
            #[wave(once)]
            fn set(round: Round, at: &Buf<Atomic<u32>>) {
                at[0].store(round);
            }
            #[include(graph = roads, n = n, edges = admitted, after(set))]
            use super::super::p;
            #[wave(nodes, after(p))]
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 8]>, tot: &mut [u64; 2]) {
                tot[0] = tot[0].wrapping_mul(3).wrapping_add(*p_acc);
                for x in p_o.get(v) {
                    tot[1] = tot[1].wrapping_mul(5).wrapping_add(x);
                }
            }
            #[wave(edges(roads), after(p))]
            fn adde(p_e: &[u32; 1], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (true, None)], frontier: None,
            no: 8, ns: 1, ne: 1, bw: 33, binit: false, sinit: vec![5], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 1, ask: Some((0, 32, false)), items: vec![It::F(Fix { id: 1, times: 2, ask: Some((0, 11, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::ReadS, m: 3, t: 3, salt: 711547757, who: Who::V, k: 5, c: 2 }, St { op: Op::Push(0), m: 2, t: 2, salt: 874826301, who: Who::V, k: 5, c: 7 }, St { op: Op::Push(1), m: 2, t: 1, salt: 318642601, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 3, t: 1, salt: 605928793, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 2, times: 2, ask: Some((0, 25, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 5, t: 4, salt: 874937461, who: Who::V, k: 3, c: 1 }, St { op: Op::ReadS, m: 4, t: 2, salt: 216305128, who: Who::V, k: 7, c: 2 }, St { op: Op::Push(0), m: 2, t: 1, salt: 700426407, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 3, t: 1, salt: 663661995, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Push(0), m: 5, t: 1, salt: 673559988, who: Who::Src, k: 6, c: 7 }] })] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(0), m: 4, t: 2, salt: 272427429, who: Who::V, k: 6, c: 1 }, St { op: Op::Push(0), m: 3, t: 1, salt: 230735139, who: Who::V, k: 1, c: 5 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 3, t: 2, salt: 6913751, who: Who::V, k: 6, c: 2 }, St { op: Op::Push(0), m: 1, t: 1, salt: 540297983, who: Who::V, k: 2, c: 6 }, St { op: Op::Acc, m: 5, t: 2, salt: 679647725, who: Who::V, k: 7, c: 6 }, St { op: Op::Swap, m: 2, t: 1, salt: 463446851, who: Who::V, k: 1, c: 7 }, St { op: Op::Push(0), m: 8, t: 1, salt: 247727384, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 2, t: 1, salt: 530914830, who: Who::V, k: 0, c: 1 }] })] }), It::F(Fix { id: 3, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Swap, m: 3, t: 1, salt: 267799398, who: Who::V, k: 7, c: 8 }, St { op: Op::Push(1), m: 3, t: 1, salt: 598010693, who: Who::V, k: 2, c: 3 }, St { op: Op::ReadS, m: 2, t: 1, salt: 289503972, who: Who::V, k: 5, c: 6 }, St { op: Op::Push(1), m: 8, t: 1, salt: 126757315, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 7, t: 1, salt: 654807306, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 554407114, who: Who::Src, k: 2, c: 2 }, St { op: Op::RecS, m: 2, t: 1, salt: 414174554, who: Who::Dst, k: 1, c: 4 }, St { op: Op::Acc, m: 2, t: 1, salt: 421045662, who: Who::Dst, k: 6, c: 1 }, St { op: Op::Acc, m: 3, t: 2, salt: 94730157, who: Who::Src, k: 2, c: 8 }] })] })],
        }
    }
    pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
        let want = ir().run(g, &|_| true);
        let mut s = p::Session::new(rt, &g.csr).map_err(err)?;
        let mut out = p::Output::default();
        for _ in 0..2 {
            s.run_into(p::Run { n: g.n as u32 }, &mut out).map_err(err)?;
            same("acc", &out.acc, &want.acc)?;
            same("o", &out.o.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.o)?;
            same("e", &out.e.iter().map(|x| x.to_vec()).collect::<Vec<_>>(), &want.e)?;
        }
        let (times, salt) = (1 + rng.below(3), rng.below(u32::MAX));
        let mut s = w::Session::new(rt, &g.csr).map_err(err)?;
        for k in 0..2 { s.submit(w::Run { n: g.n as u32, times: times + k, salt }, 0); }
        let batch = s.run_batch().map_err(err)?;
        for (k, (_, out)) in batch.results.iter().enumerate() {
            let out = out.as_ref().map_err(|e| format!("ERROR in batch {e}"))?;
            let (mut tot, mut te) = (vec![[0u64; 2]; g.n], vec![0u64; g.m()]);
            for r in 0..times + k as u32 {
                let want = ir().run(g, &|e| ((e as u32).wrapping_mul(0x9E37_79B1) ^ salt).wrapping_add(r) % 4 != 0);
                for v in 0..g.n {
                    tot[v][0] = tot[v][0].wrapping_mul(3).wrapping_add(want.acc[v]);
                    for x in &want.o[v] { tot[v][1] = tot[v][1].wrapping_mul(5).wrapping_add(*x); }
                }
                for e in 0..g.m() {
                    for x in &want.e[e] { te[e] = te[e].wrapping_mul(7).wrapping_add(u64::from(*x)); }
                }
            }
            same("tot", &out.tot, &tot)?;
            same("te", &out.te, &te)?;
        }
        Ok(())
    }
}

const ALL: &[(&str, fn(&Runtime, &mut Rng, &G) -> R)] = &[("g00", g00::check), ("g01", g01::check), ("g02", g02::check), ("g03", g03::check), ("g04", g04::check), ("g05", g05::check), ("g06", g06::check), ("g07", g07::check), ("g08", g08::check), ("g09", g09::check), ("g10", g10::check), ("g11", g11::check), ("g12", g12::check), ("g13", g13::check), ("g14", g14::check), ("g15", g15::check), ("g16", g16::check), ("g17", g17::check), ("g18", g18::check), ("g19", g19::check), ("g20", g20::check), ("g21", g21::check), ("g22", g22::check), ("g23", g23::check), ("g24", g24::check), ("g25", g25::check), ("g26", g26::check), ("g27", g27::check), ("g28", g28::check), ("g29", g29::check)];
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |key: &str| args.iter().position(|a| a == key).and_then(|k| args.get(k + 1)).cloned();
    let backend = value("--backend").unwrap_or("all".into());
    let names: Vec<String> = match backend.as_str() { "all" => ["native", "native4", "vir0"].map(String::from).to_vec(), o => o.split(',').map(String::from).collect() };
    let seed: u64 = value("--seed").map_or(1, |s| s.parse().unwrap());
    let only = value("--only");
    let mut bad = 0;
    for name in &names {
        let rt = match name.as_str() {
            "native" => Runtime::native(),
            "native1" => Runtime::native_threads(1).unwrap(),
            "native4" => Runtime::native_threads(4).unwrap(),
            "vir0" => Runtime::vir0(),
            "cuda" => Runtime::cuda().unwrap().with_route(vyre::RoutePolicy::Interpreter),
            "compiled" => Runtime::cuda().unwrap().with_route(vyre::RoutePolicy::Compiled),
            o => Runtime::named(o).unwrap(),
        };
        let begun = std::time::Instant::now();
        let mut fails = 0;
        for (p, check) in ALL {
            if only.as_ref().is_some_and(|o| o != p) { continue; }
            let mut shown = 0;
            for g in graphs(&mut Rng(seed), args.iter().any(|a| a == "--large")) {
                let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&rt, &mut Rng(seed), &g))).unwrap_or_else(|_| Err("PANIC".into()));
                if let Err(e) = r {
                    fails += 1;
                    shown += 1;
                    if shown <= 2 { println!("FAIL {p} on {name}, {}: {e}", g.name); }
                }
            }
        }
        println!("{name}: {fails} failures in {:?}", begun.elapsed());
        bad += fails;
    }
    std::process::exit(i32::from(bad > 0));
}
