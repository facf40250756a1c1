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
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l0: List<u32>,
            #[list(unique)] l1: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 5],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [6, 6, 9, 0, 7, 4, 3])] s: [u32; 7],
            #[scratch(per = node, bits = 1, init = true)] b: Bits,
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
        #[wave(edges(graph, from = l1))]
        fn w0(at: Edge, e: &mut [u32; 3]) {
            let h = mix(at.index, 0, 0, 0, 199615329);
            if h % 5 < 1 { e[1] = e[1] * 3 + 6 + h % 7; }
        }
        #[wave(edges(graph, from = l1), after(w0))]
        fn w1(at: Edge, l1: &Push, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 7]>, e: &mut [u32; 3]) {
            let h = mix(at.index, 0, 0, 0, 630909864);
            if h % 3 < 2 { l1.push(at.dst); }
            let h = mix(at.index, 0, 0, 0, 444866269);
            if h % 2 < 2 { acc[at.src].fetch_add(u64::from(s.get(at.dst)[(h % 7) as usize])); }
            let h = mix(at.index, 0, 0, 0, 712704513);
            if h % 1 < 1 { acc[at.src].fetch_add(u64::from(h % 1000) + 9); }
            let h = mix(at.index, 0, 0, 0, 786801296);
            if h % 3 < 2 { e[1] = e[1] * 3 + 1 + h % 7; }
        }
        #[fixpoint(after(w0, w1), until(round + 1 == 1 || l0.is_empty()))]
        mod f0 {
            #[wave(nodes)]
            fn w2(v: Node, f0: Round, b: &Bits, acc: &Buf<Atomic<u64>>, l1: &Push, l0: &Append<u32>) {
                let h = mix(v, f0, 0, 0, 539274549);
                if h % 2 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 1); }
                let h = mix(v, f0, 0, 0, 249297217);
                if h % 5 < 5 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 492988938);
                if h % 5 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 9); }
                let h = mix(v, f0, 0, 0, 841443398);
                if h % 1 < 1 { b.unset(v, h % 1); }
                let h = mix(v, f0, 0, 0, 516579138);
                if h % 2 < 1 { l0.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 612032126);
                if h % 7 < 1 { l1.push(v); }
            }
            #[wave(edges(graph, from = l1), after(w2))]
            fn w3(at: Edge, f0: Round, e: &mut [u32; 3], acc: &Buf<Atomic<u64>>) {
                let h = mix(at.index, f0, 0, 0, 444984939);
                if h % 4 < 3 { e[0] = e[0] * 3 + 9 + h % 7; }
                let h = mix(at.index, f0, 0, 0, 863899905);
                if h % 4 < 1 { acc[at.src].fetch_add(u64::from(h % 1000) + 9); }
            }
            #[wave(edges(graph))]
            fn w4(at: Edge, f0: Round, acc: &Buf<Atomic<u64>>) {
                let h = mix(at.index, f0, 0, 0, 89371972);
                if h % 1 < 1 { acc[at.src].fetch_add(u64::from(h % 1000) + 1); }
            }
            #[fixpoint(after(w2, w3), until(round + 1 == 2 || l0.len() >= 18))]
            mod f1 {
                #[fixpoint(until(round + 1 == 1))]
                mod f2 {
                    #[wave(nodes)]
                    fn w5(v: Node, f0: Round, f1: Round, f2: Round, b: &Bits, l0: &Append<u32>, l1: &Push) {
                        let h = mix(v, f0, f1, f2, 311690423);
                        if h % 2 < 2 { b.unset(v, h % 1); }
                        let h = mix(v, f0, f1, f2, 705079554);
                        if h % 4 < 1 { l0.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 696002456);
                        if h % 6 < 1 { l1.push(v); }
                    }
                    #[wave(items(l0), after(w5))]
                    fn w6(x: u32, f0: Round, f1: Round, f2: Round, n: u32, l0: &Append<u32>, acc: &Buf<Atomic<u64>>, l1: &Push) {
                        let h = mix(x, f0, f1, f2, 508707754);
                        if h % 3 < 2 { acc[x % n].fetch_add(u64::from(h % 1000) + 1); }
                        let h = mix(x, f0, f1, f2, 451957985);
                        if h % 4 < 3 { l1.push(x % n); }
                        let h = mix(x, f0, f1, f2, 547732858);
                        if h % 3 < 3 { l0.append(x % n + h % 3); }
                        let h = mix(x, f0, f1, f2, 426614131);
                        if h % 2 < 1 { l0.append(x % n + h % 3); }
                    }
                    #[wave(edges(graph), after(w6))]
                    fn w7(at: Edge, f0: Round, f1: Round, f2: Round, e: &mut [u32; 3], l0: &Append<u32>, l1: &Push, acc: &Buf<Atomic<u64>>) {
                        let h = mix(at.index, f0, f1, f2, 677286096);
                        if h % 5 < 2 { e[0] = e[0] * 3 + 9 + h % 7; }
                        let h = mix(at.index, f0, f1, f2, 708480509);
                        if h % 4 < 3 { l0.append(at.dst + h % 3); }
                        let h = mix(at.index, f0, f1, f2, 328980133);
                        if h % 2 < 1 { l1.push(at.src); }
                        let h = mix(at.index, f0, f1, f2, 606600485);
                        if h % 2 < 2 { acc[at.dst].fetch_add(u64::from(h % 1000) + 1); }
                    }
                }
                #[wave(edges(graph, from = l1), after(f2))]
                fn w8(at: Edge, f0: Round, f1: Round, l1: &Push) {
                    let h = mix(at.index, f0, f1, 0, 184165073);
                    if h % 5 < 4 { l1.push(at.src); }
                }
                #[wave(items(l1), after(f2, w8))]
                fn w9(v: Node, f0: Round, f1: Round, l1: &Push) {
                    let h = mix(v, f0, f1, 0, 635020915);
                    if h % 5 < 4 { l1.push(v); }
                }
                #[wave(nodes)]
                fn w10(v: Node, f0: Round, f1: Round, acc: &Buf<Atomic<u64>>, s: &[u32; 7], o: &mut [u64; 5]) {
                    let h = mix(v, f0, f1, 0, 18468573);
                    if h % 5 < 4 { acc[v].fetch_add(u64::from(h % 1000) + 7); }
                    let h = mix(v, f0, f1, 0, 215664273);
                    if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
                    let h = mix(v, f0, f1, 0, 286190257);
                    if h % 4 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 7); }
                    let h = mix(v, f0, f1, 0, 573732514);
                    if h % 3 < 3 { o[2] = o[2].wrapping_mul(3).wrapping_add(u64::from(s[2])); }
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
            lists: vec![(false, None), (true, None)], frontier: None,
            no: 5, ns: 7, ne: 3, bw: 1, binit: true, sinit: vec![6, 6, 9, 0, 7, 4, 3], s_owner: None, b_owner: None,
            root: vec![It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::OwnE, m: 5, t: 1, salt: 199615329, who: Who::Dst, k: 1, c: 6 }] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Push(1), m: 3, t: 2, salt: 630909864, who: Who::Dst, k: 6, c: 1 }, St { op: Op::RecS, m: 2, t: 2, salt: 444866269, who: Who::Src, k: 5, c: 9 }, St { op: Op::Acc, m: 1, t: 1, salt: 712704513, who: Who::Src, k: 2, c: 9 }, St { op: Op::OwnE, m: 3, t: 2, salt: 786801296, who: Who::Src, k: 7, c: 1 }] }), It::F(Fix { id: 0, times: 1, ask: Some((0, 6, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitCount, m: 2, t: 1, salt: 539274549, who: Who::V, k: 3, c: 1 }, St { op: Op::Push(1), m: 5, t: 5, salt: 249297217, who: Who::V, k: 6, c: 9 }, St { op: Op::Acc, m: 5, t: 3, salt: 492988938, who: Who::V, k: 4, c: 9 }, St { op: Op::BitSet, m: 1, t: 1, salt: 841443398, who: Who::V, k: 2, c: 9 }, St { op: Op::Push(0), m: 2, t: 1, salt: 516579138, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 7, t: 1, salt: 612032126, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::OwnE, m: 4, t: 3, salt: 444984939, who: Who::Dst, k: 0, c: 9 }, St { op: Op::Acc, m: 4, t: 1, salt: 863899905, who: Who::Src, k: 2, c: 9 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 89371972, who: Who::Src, k: 7, c: 1 }] }), It::F(Fix { id: 1, times: 2, ask: Some((0, 18, false)), items: vec![It::F(Fix { id: 2, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitSet, m: 2, t: 2, salt: 311690423, who: Who::V, k: 1, c: 3 }, St { op: Op::Push(0), m: 4, t: 1, salt: 705079554, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 6, t: 1, salt: 696002456, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Acc, m: 3, t: 2, salt: 508707754, who: Who::V, k: 1, c: 1 }, St { op: Op::Push(1), m: 4, t: 3, salt: 451957985, who: Who::V, k: 3, c: 5 }, St { op: Op::Push(0), m: 3, t: 3, salt: 547732858, who: Who::V, k: 3, c: 7 }, St { op: Op::Push(0), m: 2, t: 1, salt: 426614131, who: Who::V, k: 2, c: 1 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::OwnE, m: 5, t: 2, salt: 677286096, who: Who::Dst, k: 3, c: 9 }, St { op: Op::Push(0), m: 4, t: 3, salt: 708480509, who: Who::Dst, k: 0, c: 5 }, St { op: Op::Push(1), m: 2, t: 1, salt: 328980133, who: Who::Src, k: 1, c: 5 }, St { op: Op::Acc, m: 2, t: 2, salt: 606600485, who: Who::Dst, k: 2, c: 1 }] })] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Push(1), m: 5, t: 4, salt: 184165073, who: Who::Src, k: 6, c: 4 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(1), m: 5, t: 4, salt: 635020915, who: Who::V, k: 3, c: 8 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 5, t: 4, salt: 18468573, who: Who::V, k: 5, c: 7 }, St { op: Op::Acc, m: 1, t: 1, salt: 215664273, who: Who::V, k: 5, c: 3 }, St { op: Op::Acc, m: 4, t: 2, salt: 286190257, who: Who::V, k: 1, c: 7 }, St { op: Op::ReadS, m: 3, t: 3, salt: 573732514, who: Who::V, k: 7, c: 9 }] })] })] })],
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
            #[list(unique, reset = round)] l0: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l1: List<u32>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000, reset = round)] l2: List<u32>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 2],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, bits = 33, init = true, reset = round)] b: Bits,
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
        #[fixpoint(until(round + 1 == 3 || l2.is_empty()))]
        mod f0 {
            #[fixpoint(until(round + 1 == 3 || l1.len() >= 28))]
            mod f1 {
                #[fixpoint(until(round + 1 == 1 || l2.is_empty()))]
                mod f2 {
                    #[wave(items(l1))]
                    fn w0(x: u32, f0: Round, f1: Round, f2: Round, n: u32, l1: &Append<u32>, l0: &Push, lf: &Push) {
                        let h = mix(x, f0, f1, f2, 184165629);
                        if h % 4 < 3 { l0.push(x % n); }
                        let h = mix(x, f0, f1, f2, 66917337);
                        if h % 4 < 1 { l0.push(x % n); }
                        let h = mix(x, f0, f1, f2, 890061514);
                        if h % 2 < 2 { l1.append(x % n + h % 3); }
                        let h = mix(x, f0, f1, f2, 250750554);
                        if h % 2 < 1 { lf.push(x % n); }
                    }
                    #[wave(edges(graph), after(w0))]
                    fn w1(at: Edge, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, l1: &Append<u32>, l0: &Push) {
                        let h = mix(at.index, f0, f1, f2, 255952862);
                        if h % 4 < 2 { acc[at.dst].fetch_add(u64::from(h % 1000) + 8); }
                        let h = mix(at.index, f0, f1, f2, 601732897);
                        if h % 4 < 3 { l1.append(at.dst + h % 3); }
                        let h = mix(at.index, f0, f1, f2, 171227171);
                        if h % 5 < 3 { l0.push(at.src); }
                    }
                    #[wave(items(lf))]
                    fn w2(v: Node, f0: Round, f1: Round, f2: Round, lf: &Push, b: &Bits, acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f0, f1, f2, 177359292);
                        if h % 5 < 3 { acc[v].fetch_add(u64::from(b.count(v)) * 2); }
                        let h = mix(v, f0, f1, f2, 189274806);
                        if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 5); }
                        let h = mix(v, f0, f1, f2, 531529940);
                        if h % 2 < 1 { lf.push(v); }
                    }
                    #[wave(edges(graph, from = l0), after(w0, w1))]
                    fn w3(at: Edge, f0: Round, f1: Round, f2: Round, l0: &Push, acc: &Buf<Atomic<u64>>) {
                        let h = mix(at.index, f0, f1, f2, 867522983);
                        if h % 1 < 1 { acc[at.dst].fetch_add(u64::from(h % 1000) + 5); }
                        let h = mix(at.index, f0, f1, f2, 477878174);
                        if h % 2 < 1 { l0.push(at.src); }
                    }
                }
                #[wave(nodes, after(f2))]
                fn w4(v: Node, f0: Round, f1: Round, acc: &Buf<Atomic<u64>>, o: &mut [u64; 2], l2: &Append<u32>, l1: &Append<u32>) {
                    let h = mix(v, f0, f1, 0, 227649514);
                    if h % 2 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 7); }
                    let h = mix(v, f0, f1, 0, 976349191);
                    if h % 5 < 4 { o[(h % 2) as usize] += 5 + u64::from(h % 17); }
                    let h = mix(v, f0, f1, 0, 804851971);
                    if h % 2 < 2 { l2.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 33080260);
                    if h % 2 < 1 { l2.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 896931287);
                    if h % 5 < 1 { l1.append(v + h % 3); }
                }
            }
            #[wave(nodes, after(f1))]
            fn w5(v: Node, f0: Round, l1: &Append<u32>, b: &Bits, acc: &Buf<Atomic<u64>>, lf: &Push, l0: &Push) {
                let h = mix(v, f0, 0, 0, 293373861);
                if h % 5 < 2 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 585594101);
                if h % 4 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 8); }
                let h = mix(v, f0, 0, 0, 612617624);
                if h % 1 < 1 { lf.push(v); }
                let h = mix(v, f0, 0, 0, 126778339);
                if h % 2 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 585497553);
                if h % 2 < 1 { l0.push(v); }
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
            lists: vec![(true, Some(0)), (false, None), (false, Some(0))], frontier: Some(2),
            no: 2, ns: 2, ne: 8, bw: 33, binit: true, sinit: vec![8, 3], s_owner: None, b_owner: Some(0),
            root: vec![It::F(Fix { id: 0, times: 3, ask: Some((2, 9, true)), items: vec![It::F(Fix { id: 1, times: 3, ask: Some((1, 28, false)), items: vec![It::F(Fix { id: 2, times: 1, ask: Some((2, 1, true)), items: vec![It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(0), m: 4, t: 3, salt: 184165629, who: Who::V, k: 4, c: 8 }, St { op: Op::Push(0), m: 4, t: 1, salt: 66917337, who: Who::V, k: 5, c: 3 }, St { op: Op::Push(1), m: 2, t: 2, salt: 890061514, who: Who::V, k: 4, c: 7 }, St { op: Op::Push(99), m: 2, t: 1, salt: 250750554, who: Who::V, k: 7, c: 1 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Acc, m: 4, t: 2, salt: 255952862, who: Who::Dst, k: 7, c: 8 }, St { op: Op::Push(1), m: 4, t: 3, salt: 601732897, who: Who::Dst, k: 3, c: 1 }, St { op: Op::Push(0), m: 5, t: 3, salt: 171227171, who: Who::Src, k: 4, c: 5 }] }), It::W(Wave { dom: Dom::Items(99), ops: vec![St { op: Op::BitCount, m: 5, t: 3, salt: 177359292, who: Who::V, k: 7, c: 2 }, St { op: Op::BitCount, m: 1, t: 1, salt: 189274806, who: Who::V, k: 2, c: 5 }, St { op: Op::Push(99), m: 2, t: 1, salt: 531529940, who: Who::V, k: 6, c: 6 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 867522983, who: Who::Dst, k: 1, c: 5 }, St { op: Op::Push(0), m: 2, t: 1, salt: 477878174, who: Who::Src, k: 6, c: 7 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 2, t: 2, salt: 227649514, who: Who::V, k: 1, c: 7 }, St { op: Op::Own, m: 5, t: 4, salt: 976349191, who: Who::V, k: 1, c: 5 }, St { op: Op::Push(2), m: 2, t: 2, salt: 804851971, who: Who::V, k: 0, c: 4 }, St { op: Op::Push(2), m: 2, t: 1, salt: 33080260, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 5, t: 1, salt: 896931287, who: Who::V, k: 0, c: 1 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 5, t: 2, salt: 293373861, who: Who::V, k: 4, c: 5 }, St { op: Op::BitCount, m: 4, t: 2, salt: 585594101, who: Who::V, k: 5, c: 8 }, St { op: Op::Push(99), m: 1, t: 1, salt: 612617624, who: Who::V, k: 6, c: 4 }, St { op: Op::Push(1), m: 2, t: 1, salt: 126778339, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 2, t: 1, salt: 585497553, who: Who::V, k: 0, c: 1 }] })] })],
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
            #[list(unique)] l0: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l1: List<u32>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l2: List<u32>,
            #[list(unique)] l3: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 5],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [8, 3, 7, 9, 8, 6, 4], reset = round)] s: [u32; 7],
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
        #[fixpoint(until(round + 1 == 3 || l1.len() >= 17))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, s: &mut [u32; 7], o: &mut [u64; 5], l3: &Push, l1: &Append<u32>) {
                let h = mix(v, f0, 0, 0, 824096626);
                if h % 3 < 1 { o[1] = o[1].wrapping_mul(3).wrapping_add(u64::from(s[1])); }
                let h = mix(v, f0, 0, 0, 441458139);
                if h % 3 < 3 { s[((h >> 3) % 7) as usize] += 3 + h % 5; }
                let h = mix(v, f0, 0, 0, 182130136);
                if h % 9 < 1 { l3.push(v); }
                let h = mix(v, f0, 0, 0, 547958859);
                if h % 9 < 1 { l1.append(v + h % 3); }
            }
            #[wave(nodes, after(w0))]
            fn w1(v: Node, f0: Round, l1: &Append<u32>, b: &Bits, acc: &Buf<Atomic<u64>>, s: &[u32; 7], o: &mut [u64; 5]) {
                let h = mix(v, f0, 0, 0, 74898099);
                if h % 5 < 4 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 544562764);
                if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 2); }
                let h = mix(v, f0, 0, 0, 326850538);
                if h % 3 < 3 { o[3] = o[3].wrapping_mul(3).wrapping_add(u64::from(s[2])); }
            }
            #[fixpoint(after(w0, w1), until(round + 1 == 2))]
            mod f1 {
                #[wave(nodes)]
                fn w2(v: Node, f0: Round, f1: Round, acc: &Buf<Atomic<u64>>, l0: &Push, l3: &Push, l2: &Append<u32>) {
                    let h = mix(v, f0, f1, 0, 750754945);
                    if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 8); }
                    let h = mix(v, f0, f1, 0, 701225344);
                    if h % 2 < 2 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 185073331);
                    if h % 4 < 4 { l3.push(v); }
                    let h = mix(v, f0, f1, 0, 277849524);
                    if h % 5 < 1 { l2.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 906015426);
                    if h % 5 < 1 { l3.push(v); }
                }
                #[wave(items(l2), after(w2))]
                fn w3(x: u32, f0: Round, f1: Round, n: u32, acc: &Buf<Atomic<u64>>) {
                    let h = mix(x, f0, f1, 0, 996429872);
                    if h % 4 < 3 { acc[x % n].fetch_add(u64::from(h % 1000) + 4); }
                }
                #[wave(items(l3), after(w2))]
                fn w4(v: Node, f0: Round, f1: Round, l3: &Push, acc: &Buf<Atomic<u64>>, s: &mut [u32; 7]) {
                    let h = mix(v, f0, f1, 0, 935286172);
                    if h % 1 < 1 { l3.push(v); }
                    let h = mix(v, f0, f1, 0, 148841808);
                    if h % 4 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 8); }
                    let h = mix(v, f0, f1, 0, 258228041);
                    if h % 3 < 2 { s[((h >> 3) % 7) as usize] += 4 + h % 5; }
                }
                #[wave(items(l3), after(w2, w4))]
                fn w5(v: Node, f0: Round, f1: Round, l1: &Append<u32>, l0: &Push) {
                    let h = mix(v, f0, f1, 0, 426283938);
                    if h % 1 < 1 { l1.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 59424144);
                    if h % 2 < 1 { l1.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 367695544);
                    if h % 4 < 4 { l0.push(v); }
                }
            }
            #[wave(items(l2), after(f1))]
            fn w6(x: u32, f0: Round, n: u32, l0: &Push, l3: &Push) {
                let h = mix(x, f0, 0, 0, 250415975);
                if h % 2 < 2 { l0.push(x % n); }
                let h = mix(x, f0, 0, 0, 253120415);
                if h % 2 < 1 { l3.push(x % n); }
            }
        }
        #[wave(nodes, after(f0))]
        fn w7(v: Node, b: &Bits, acc: &Buf<Atomic<u64>>, l1: &Append<u32>, l2: &Append<u32>) {
            let h = mix(v, 0, 0, 0, 532933454);
            if h % 3 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 4); }
            let h = mix(v, 0, 0, 0, 856247597);
            if h % 1 < 1 { l1.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 986597185);
            if h % 6 < 1 { l2.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 429420061);
            if h % 5 < 1 { l1.append(v + h % 3); }
        }
        #[fixpoint(after(f0, w7), until(round + 1 == 2))]
        mod f2 {
            #[fixpoint(until(round + 1 == 3 || l3.len() >= 16))]
            mod f3 {
                #[wave(edges(graph))]
                fn w8(at: Edge, f2: Round, f3: Round, l0: &Push, l1: &Append<u32>) {
                    let h = mix(at.index, f2, f3, 0, 155883958);
                    if h % 1 < 1 { l0.push(at.src); }
                    let h = mix(at.index, f2, f3, 0, 700244879);
                    if h % 1 < 1 { l1.append(at.dst + h % 3); }
                }
                #[wave(items(l1), after(w8))]
                fn w9(x: u32, f2: Round, f3: Round, n: u32, acc: &Buf<Atomic<u64>>) {
                    let h = mix(x, f2, f3, 0, 293765307);
                    if h % 2 < 1 { acc[x % n].fetch_add(u64::from(h % 1000) + 7); }
                }
                #[wave(nodes)]
                fn w10(v: Node, f2: Round, f3: Round, l0: &Push, b: &Bits, acc: &Buf<Atomic<u64>>) {
                    let h = mix(v, f2, f3, 0, 799523480);
                    if h % 4 < 2 { l0.push(v); }
                    let h = mix(v, f2, f3, 0, 677598766);
                    if h % 4 < 3 { acc[v].fetch_add(u64::from(b.count(v)) * 5); }
                }
            }
            #[wave(nodes, after(f3))]
            fn w11(v: Node, f2: Round, l0: &Push, l3: &Push, l2: &Append<u32>) {
                let h = mix(v, f2, 0, 0, 188201748);
                if h % 5 < 5 { l0.push(v); }
                let h = mix(v, f2, 0, 0, 443079590);
                if h % 3 < 3 { l0.push(v); }
                let h = mix(v, f2, 0, 0, 766164665);
                if h % 3 < 1 { l3.push(v); }
                let h = mix(v, f2, 0, 0, 798094110);
                if h % 6 < 1 { l2.append(v + h % 3); }
            }
            #[wave(items(l2), after(w11))]
            fn w12(x: u32, f2: Round, n: u32, l2: &Append<u32>) {
                let h = mix(x, f2, 0, 0, 162145492);
                if h % 2 < 1 { l2.append(x % n + h % 3); }
            }
            #[wave(edges(graph, from = l3), after(f3, w11, w12))]
            fn w13(at: Edge, f2: Round, l3: &Push, l0: &Push, l2: &Append<u32>) {
                let h = mix(at.index, f2, 0, 0, 979633296);
                if h % 1 < 1 { l0.push(at.dst); }
                let h = mix(at.index, f2, 0, 0, 570656258);
                if h % 1 < 1 { l2.append(at.src + h % 3); }
                let h = mix(at.index, f2, 0, 0, 790945631);
                if h % 4 < 1 { l3.push(at.dst); }
                let h = mix(at.index, f2, 0, 0, 36714792);
                if h % 1 < 1 { l2.append(at.dst + h % 3); }
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
            lists: vec![(true, None), (false, None), (false, None), (true, None)], frontier: None,
            no: 5, ns: 7, ne: 1, bw: 64, binit: false, sinit: vec![8, 3, 7, 9, 8, 6, 4], s_owner: Some(0), b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 3, ask: Some((1, 17, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::ReadS, m: 3, t: 1, salt: 824096626, who: Who::V, k: 1, c: 1 }, St { op: Op::OwnS, m: 3, t: 3, salt: 441458139, who: Who::V, k: 4, c: 3 }, St { op: Op::Push(3), m: 9, t: 1, salt: 182130136, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 9, t: 1, salt: 547958859, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 5, t: 4, salt: 74898099, who: Who::V, k: 5, c: 2 }, St { op: Op::BitCount, m: 1, t: 1, salt: 544562764, who: Who::V, k: 2, c: 2 }, St { op: Op::ReadS, m: 3, t: 3, salt: 326850538, who: Who::V, k: 3, c: 9 }] }), It::F(Fix { id: 1, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 750754945, who: Who::V, k: 5, c: 8 }, St { op: Op::Push(0), m: 2, t: 2, salt: 701225344, who: Who::V, k: 4, c: 6 }, St { op: Op::Push(3), m: 4, t: 4, salt: 185073331, who: Who::V, k: 7, c: 5 }, St { op: Op::Push(2), m: 5, t: 1, salt: 277849524, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(3), m: 5, t: 1, salt: 906015426, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Acc, m: 4, t: 3, salt: 996429872, who: Who::V, k: 6, c: 4 }] }), It::W(Wave { dom: Dom::Items(3), ops: vec![St { op: Op::Push(3), m: 1, t: 1, salt: 935286172, who: Who::V, k: 7, c: 3 }, St { op: Op::Acc, m: 4, t: 2, salt: 148841808, who: Who::V, k: 2, c: 8 }, St { op: Op::OwnS, m: 3, t: 2, salt: 258228041, who: Who::V, k: 1, c: 4 }] }), It::W(Wave { dom: Dom::Items(3), ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 426283938, who: Who::V, k: 5, c: 8 }, St { op: Op::Push(1), m: 2, t: 1, salt: 59424144, who: Who::V, k: 0, c: 4 }, St { op: Op::Push(0), m: 4, t: 4, salt: 367695544, who: Who::V, k: 4, c: 2 }] })] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(0), m: 2, t: 2, salt: 250415975, who: Who::V, k: 7, c: 8 }, St { op: Op::Push(3), m: 2, t: 1, salt: 253120415, who: Who::V, k: 4, c: 8 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitCount, m: 3, t: 2, salt: 532933454, who: Who::V, k: 1, c: 4 }, St { op: Op::Push(1), m: 1, t: 1, salt: 856247597, who: Who::V, k: 0, c: 8 }, St { op: Op::Push(2), m: 6, t: 1, salt: 986597185, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 5, t: 1, salt: 429420061, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 2, times: 2, ask: None, items: vec![It::F(Fix { id: 3, times: 3, ask: Some((3, 16, false)), items: vec![It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 155883958, who: Who::Src, k: 6, c: 5 }, St { op: Op::Push(1), m: 1, t: 1, salt: 700244879, who: Who::Dst, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Acc, m: 2, t: 1, salt: 293765307, who: Who::V, k: 1, c: 7 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 4, t: 2, salt: 799523480, who: Who::V, k: 4, c: 4 }, St { op: Op::BitCount, m: 4, t: 3, salt: 677598766, who: Who::V, k: 4, c: 5 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 5, t: 5, salt: 188201748, who: Who::V, k: 5, c: 7 }, St { op: Op::Push(0), m: 3, t: 3, salt: 443079590, who: Who::V, k: 3, c: 9 }, St { op: Op::Push(3), m: 3, t: 1, salt: 766164665, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 6, t: 1, salt: 798094110, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(2), m: 2, t: 1, salt: 162145492, who: Who::V, k: 0, c: 4 }] }), It::W(Wave { dom: Dom::From(3), ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 979633296, who: Who::Dst, k: 5, c: 2 }, St { op: Op::Push(2), m: 1, t: 1, salt: 570656258, who: Who::Src, k: 7, c: 3 }, St { op: Op::Push(3), m: 4, t: 1, salt: 790945631, who: Who::Dst, k: 1, c: 5 }, St { op: Op::Push(2), m: 1, t: 1, salt: 36714792, who: Who::Dst, k: 0, c: 5 }] })] })],
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
            #[list(capacity = (node + edge(graph)) * 300 + 2000, reset = round)] l0: List<u32>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l1: List<u32>,
            #[list(unique)] l2: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l3: List<u32>,
            #[output(per = node, init = 7)] o: [u64; 1],
            #[output(per = node)] acc: u64,
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
        #[fixpoint(until(round + 1 == 1 || l1.len() >= 2))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, l0: &Append<u32>, l3: &Append<u32>) {
                let h = mix(v, f0, 0, 0, 957677702);
                if h % 4 < 4 { l0.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 993752114);
                if h % 9 < 1 { l3.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 747617673);
                if h % 7 < 1 { l0.append(v + h % 3); }
            }
            #[wave(edges(graph, from = l2))]
            fn w1(at: Edge, f0: Round, l2: &Push, l3: &Append<u32>) {
                let h = mix(at.index, f0, 0, 0, 689285276);
                if h % 4 < 1 { l3.append(at.src + h % 3); }
                let h = mix(at.index, f0, 0, 0, 329037509);
                if h % 5 < 1 { l2.push(at.dst); }
            }
            #[wave(items(l1))]
            fn w2(x: u32, f0: Round, n: u32, acc: &Buf<Atomic<u64>>, l0: &Append<u32>) {
                let h = mix(x, f0, 0, 0, 769429331);
                if h % 1 < 1 { acc[x % n].fetch_add(u64::from(h % 1000) + 6); }
                let h = mix(x, f0, 0, 0, 838648164);
                if h % 1 < 1 { l0.append(x % n + h % 3); }
                let h = mix(x, f0, 0, 0, 29212885);
                if h % 3 < 1 { acc[x % n].fetch_add(u64::from(h % 1000) + 9); }
            }
        }
        #[wave(nodes, after(f0))]
        fn w3(v: Node, acc: &Buf<Atomic<u64>>, l3: &Append<u32>, l2: &Push) {
            let h = mix(v, 0, 0, 0, 451440330);
            if h % 3 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 2); }
            let h = mix(v, 0, 0, 0, 652682639);
            if h % 4 < 2 { l3.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 407335200);
            if h % 2 < 2 { l3.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 1571128);
            if h % 7 < 1 { l2.push(v); }
            let h = mix(v, 0, 0, 0, 477033466);
            if h % 6 < 1 { l3.append(v + h % 3); }
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
            lists: vec![(false, Some(0)), (false, None), (true, None), (false, None)], frontier: None,
            no: 1, ns: 7, ne: 1, bw: 65, binit: false, sinit: vec![9, 9, 8, 8, 7, 9, 9], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 1, ask: Some((1, 2, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 4, t: 4, salt: 957677702, who: Who::V, k: 5, c: 4 }, St { op: Op::Push(3), m: 9, t: 1, salt: 993752114, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 7, t: 1, salt: 747617673, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(3), m: 4, t: 1, salt: 689285276, who: Who::Src, k: 5, c: 1 }, St { op: Op::Push(2), m: 5, t: 1, salt: 329037509, who: Who::Dst, k: 0, c: 6 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 769429331, who: Who::V, k: 1, c: 6 }, St { op: Op::Push(0), m: 1, t: 1, salt: 838648164, who: Who::V, k: 4, c: 7 }, St { op: Op::Acc, m: 3, t: 1, salt: 29212885, who: Who::V, k: 2, c: 9 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 3, t: 2, salt: 451440330, who: Who::V, k: 7, c: 2 }, St { op: Op::Push(3), m: 4, t: 2, salt: 652682639, who: Who::V, k: 0, c: 4 }, St { op: Op::Push(3), m: 2, t: 2, salt: 407335200, who: Who::V, k: 3, c: 3 }, St { op: Op::Push(2), m: 7, t: 1, salt: 1571128, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(3), m: 6, t: 1, salt: 477033466, who: Who::V, k: 0, c: 1 }] })],
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
            #[list(unique, reset = round)] l0: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000, reset = round)] l1: List<u32>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000, reset = round)] l2: List<u32>,
            #[output(per = node, init = 7)] o: [u64; 3],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [7, 1, 8, 3, 9, 4, 6, 5], reset = round)] s: [u32; 8],
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
        #[fixpoint(until(round + 1 == 3 || l2.is_empty()))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, o: &mut [u64; 3], l2: &Append<u32>, l0: &Push) {
                let h = mix(v, f0, 0, 0, 843047532);
                if h % 3 < 2 { o[(h % 3) as usize] += 1 + u64::from(h % 17); }
                let h = mix(v, f0, 0, 0, 214866248);
                if h % 9 < 1 { l2.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 317143753);
                if h % 6 < 1 { l0.push(v); }
            }
            #[fixpoint(after(w0), until(round + 1 == 2))]
            mod f1 {
                #[wave(nodes)]
                fn w1(v: Node, f0: Round, f1: Round, l1: &Append<u32>, o: &mut [u64; 3], l0: &Push, l2: &Append<u32>) {
                    let h = mix(v, f0, f1, 0, 420319059);
                    if h % 2 < 1 { l1.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 355843364);
                    if h % 4 < 1 { o[(h % 3) as usize] += 7 + u64::from(h % 17); }
                    let h = mix(v, f0, f1, 0, 542898249);
                    if h % 1 < 1 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 326616690);
                    if h % 4 < 1 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 63132274);
                    if h % 3 < 1 { l2.append(v + h % 3); }
                }
                #[fixpoint(after(w1), until(round + 1 == 1 || l0.is_empty()))]
                mod f2 {
                    #[wave(edges(graph, from = l0))]
                    fn w2(at: Edge, f0: Round, f1: Round, f2: Round, l0: &Push) {
                        let h = mix(at.index, f0, f1, f2, 247967932);
                        if h % 4 < 2 { l0.push(at.src); }
                        let h = mix(at.index, f0, f1, f2, 475154122);
                        if h % 5 < 1 { l0.push(at.src); }
                    }
                    #[wave(nodes)]
                    fn w3(v: Node, f0: Round, f1: Round, f2: Round, l1: &Append<u32>) {
                        let h = mix(v, f0, f1, f2, 93870197);
                        if h % 1 < 1 { l1.append(v + h % 3); }
                    }
                    #[wave(items(l0), after(w2))]
                    fn w4(v: Node, f0: Round, f1: Round, f2: Round, l0: &Push, s: &mut [u32; 8], l2: &Append<u32>, l1: &Append<u32>) {
                        let h = mix(v, f0, f1, f2, 777319283);
                        if h % 2 < 1 { s.swap(4, (h % 8) as usize); }
                        let h = mix(v, f0, f1, f2, 487763071);
                        if h % 3 < 2 { l2.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 893367632);
                        if h % 4 < 2 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 257394285);
                        if h % 5 < 1 { l1.append(v + h % 3); }
                    }
                    #[wave(items(l0), after(w2, w4))]
                    fn w5(v: Node, f0: Round, f1: Round, f2: Round, l2: &Append<u32>, l1: &Append<u32>) {
                        let h = mix(v, f0, f1, f2, 489993430);
                        if h % 3 < 2 { l2.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 548937115);
                        if h % 4 < 4 { l2.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 324498509);
                        if h % 3 < 1 { l1.append(v + h % 3); }
                    }
                }
            }
            #[fixpoint(after(w0, f1), until(round + 1 == 3 || l0.len() >= 32))]
            mod f3 {
                #[wave(nodes)]
                fn w6(v: Node, f0: Round, f3: Round, l1: &Append<u32>, l2: &Append<u32>, l0: &Push) {
                    let h = mix(v, f0, f3, 0, 872581840);
                    if h % 2 < 1 { l1.append(v + h % 3); }
                    let h = mix(v, f0, f3, 0, 297729740);
                    if h % 3 < 1 { l2.append(v + h % 3); }
                    let h = mix(v, f0, f3, 0, 590521772);
                    if h % 4 < 1 { l0.push(v); }
                    let h = mix(v, f0, f3, 0, 951708878);
                    if h % 7 < 1 { l1.append(v + h % 3); }
                }
                #[wave(items(l1), after(w6))]
                fn w7(x: u32, f0: Round, f3: Round, n: u32, l1: &Append<u32>) {
                    let h = mix(x, f0, f3, 0, 735628506);
                    if h % 3 < 1 { l1.append(x % n + h % 3); }
                }
                #[wave(items(l1), after(w6, w7))]
                fn w8(x: u32, f0: Round, f3: Round, n: u32, l0: &Push) {
                    let h = mix(x, f0, f3, 0, 789603696);
                    if h % 2 < 2 { l0.push(x % n); }
                }
                #[wave(edges(graph, from = l0), after(w6, w8))]
                fn w9(at: Edge, f0: Round, f3: Round, l0: &Push, l2: &Append<u32>) {
                    let h = mix(at.index, f0, f3, 0, 403136397);
                    if h % 1 < 1 { l2.append(at.src + h % 3); }
                    let h = mix(at.index, f0, f3, 0, 351184502);
                    if h % 2 < 2 { l0.push(at.dst); }
                    let h = mix(at.index, f0, f3, 0, 749182286);
                    if h % 2 < 2 { l0.push(at.src); }
                }
            }
            #[wave(edges(graph))]
            fn w10(at: Edge, f0: Round, l2: &Append<u32>) {
                let h = mix(at.index, f0, 0, 0, 151246897);
                if h % 5 < 3 { l2.append(at.src + h % 3); }
                let h = mix(at.index, f0, 0, 0, 546816544);
                if h % 5 < 5 { l2.append(at.dst + h % 3); }
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
            fn adde(p_e: &[u32; 8], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, Some(0)), (false, Some(0)), (false, Some(0))], frontier: None,
            no: 3, ns: 8, ne: 8, bw: 1, binit: true, sinit: vec![7, 1, 8, 3, 9, 4, 6, 5], s_owner: Some(2), b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 3, ask: Some((2, 23, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Own, m: 3, t: 2, salt: 843047532, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 9, t: 1, salt: 214866248, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 6, t: 1, salt: 317143753, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 1, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 2, t: 1, salt: 420319059, who: Who::V, k: 0, c: 4 }, St { op: Op::Own, m: 4, t: 1, salt: 355843364, who: Who::V, k: 5, c: 7 }, St { op: Op::Push(0), m: 1, t: 1, salt: 542898249, who: Who::V, k: 1, c: 3 }, St { op: Op::Push(0), m: 4, t: 1, salt: 326616690, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 3, t: 1, salt: 63132274, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 2, times: 1, ask: Some((0, 10, true)), items: vec![It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(0), m: 4, t: 2, salt: 247967932, who: Who::Src, k: 4, c: 6 }, St { op: Op::Push(0), m: 5, t: 1, salt: 475154122, who: Who::Src, k: 3, c: 3 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 93870197, who: Who::V, k: 3, c: 5 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Swap, m: 2, t: 1, salt: 777319283, who: Who::V, k: 4, c: 4 }, St { op: Op::Push(2), m: 3, t: 2, salt: 487763071, who: Who::V, k: 6, c: 7 }, St { op: Op::Push(0), m: 4, t: 2, salt: 893367632, who: Who::V, k: 7, c: 6 }, St { op: Op::Push(1), m: 5, t: 1, salt: 257394285, who: Who::V, k: 1, c: 7 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Push(2), m: 3, t: 2, salt: 489993430, who: Who::V, k: 5, c: 6 }, St { op: Op::Push(2), m: 4, t: 4, salt: 548937115, who: Who::V, k: 0, c: 6 }, St { op: Op::Push(1), m: 3, t: 1, salt: 324498509, who: Who::V, k: 2, c: 9 }] })] })] }), It::F(Fix { id: 3, times: 3, ask: Some((0, 32, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 2, t: 1, salt: 872581840, who: Who::V, k: 4, c: 4 }, St { op: Op::Push(2), m: 3, t: 1, salt: 297729740, who: Who::V, k: 7, c: 5 }, St { op: Op::Push(0), m: 4, t: 1, salt: 590521772, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 7, t: 1, salt: 951708878, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(1), m: 3, t: 1, salt: 735628506, who: Who::V, k: 2, c: 8 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(0), m: 2, t: 2, salt: 789603696, who: Who::V, k: 5, c: 9 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(2), m: 1, t: 1, salt: 403136397, who: Who::Src, k: 4, c: 4 }, St { op: Op::Push(0), m: 2, t: 2, salt: 351184502, who: Who::Dst, k: 3, c: 6 }, St { op: Op::Push(0), m: 2, t: 2, salt: 749182286, who: Who::Src, k: 3, c: 2 }] })] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(2), m: 5, t: 3, salt: 151246897, who: Who::Src, k: 3, c: 2 }, St { op: Op::Push(2), m: 5, t: 5, salt: 546816544, who: Who::Dst, k: 7, c: 9 }] })] })],
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
            #[output(per = node, init = 7)] o: [u64; 2],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [0], reset = round)] s: [u32; 1],
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
        #[fixpoint(until(round + 1 == 2 || l1.len() >= 33))]
        mod f0 {
            #[fixpoint(until(round + 1 == 1))]
            mod f1 {
                #[wave(nodes)]
                fn w0(v: Node, f0: Round, f1: Round, s: &mut [u32; 1], l0: &Push, l1: &Push) {
                    let h = mix(v, f0, f1, 0, 913832437);
                    if h % 3 < 2 { s[((h >> 3) % 1) as usize] += 5 + h % 5; }
                    let h = mix(v, f0, f1, 0, 193516934);
                    if h % 2 < 1 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 242442593);
                    if h % 7 < 1 { l1.push(v); }
                }
                #[wave(edges(graph, from = l0), after(w0))]
                fn w1(at: Edge, f0: Round, f1: Round, acc: &Buf<Atomic<u64>>) {
                    let h = mix(at.index, f0, f1, 0, 446633656);
                    if h % 3 < 2 { acc[at.src].fetch_add(u64::from(h % 1000) + 3); }
                    let h = mix(at.index, f0, f1, 0, 463255288);
                    if h % 1 < 1 { acc[at.dst].fetch_add(u64::from(h % 1000) + 5); }
                    let h = mix(at.index, f0, f1, 0, 618509160);
                    if h % 5 < 4 { acc[at.dst].fetch_add(u64::from(h % 1000) + 3); }
                }
                #[wave(edges(graph, from = l0), after(w0))]
                fn w2(at: Edge, f0: Round, f1: Round, acc: &Buf<Atomic<u64>>, l1: &Push) {
                    let h = mix(at.index, f0, f1, 0, 383175941);
                    if h % 1 < 1 { acc[at.src].fetch_add(u64::from(h % 1000) + 8); }
                    let h = mix(at.index, f0, f1, 0, 40538881);
                    if h % 4 < 2 { l1.push(at.src); }
                }
            }
            #[wave(nodes, after(f1))]
            fn w3(v: Node, f0: Round, b: &Bits, o: &mut [u64; 2], s: &mut [u32; 1], l1: &Push, l0: &Push) {
                let h = mix(v, f0, 0, 0, 984654068);
                if h % 4 < 3 { b.unset(v, h % 33); }
                let h = mix(v, f0, 0, 0, 593420245);
                if h % 1 < 1 { o[(h % 2) as usize] += 3 + u64::from(h % 17); }
                let h = mix(v, f0, 0, 0, 55386391);
                if h % 5 < 3 { b.unset(v, h % 33); }
                let h = mix(v, f0, 0, 0, 914101252);
                if h % 2 < 2 { s[((h >> 3) % 1) as usize] += 8 + h % 5; }
                let h = mix(v, f0, 0, 0, 144584971);
                if h % 4 < 1 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 999057936);
                if h % 9 < 1 { l0.push(v); }
            }
            #[wave(nodes, after(f1, w3))]
            fn w4(v: Node, f0: Round, b: &Bits, l0: &Push, acc: &Buf<Atomic<u64>>) {
                let h = mix(v, f0, 0, 0, 610705507);
                if h % 3 < 1 { b.unset(v, h % 33); }
                let h = mix(v, f0, 0, 0, 949655431);
                if h % 5 < 2 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 429841029);
                if h % 2 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 2); }
            }
            #[wave(edges(graph, from = l0), after(f1, w3, w4))]
            fn w5(at: Edge, f0: Round, l1: &Push, e: &mut [u32; 3], acc: &Buf<Atomic<u64>>) {
                let h = mix(at.index, f0, 0, 0, 141346242);
                if h % 2 < 2 { l1.push(at.src); }
                let h = mix(at.index, f0, 0, 0, 548090682);
                if h % 4 < 4 { e[2] = e[2] * 3 + 9 + h % 7; }
                let h = mix(at.index, f0, 0, 0, 303370547);
                if h % 5 < 2 { acc[at.src].fetch_add(u64::from(h % 1000) + 6); }
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
            lists: vec![(true, Some(0)), (true, None)], frontier: None,
            no: 2, ns: 1, ne: 3, bw: 33, binit: true, sinit: vec![0], s_owner: Some(0), b_owner: Some(0),
            root: vec![It::F(Fix { id: 0, times: 2, ask: Some((1, 33, false)), items: vec![It::F(Fix { id: 1, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::OwnS, m: 3, t: 2, salt: 913832437, who: Who::V, k: 1, c: 5 }, St { op: Op::Push(0), m: 2, t: 1, salt: 193516934, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 7, t: 1, salt: 242442593, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Acc, m: 3, t: 2, salt: 446633656, who: Who::Src, k: 4, c: 3 }, St { op: Op::Acc, m: 1, t: 1, salt: 463255288, who: Who::Dst, k: 3, c: 5 }, St { op: Op::Acc, m: 5, t: 4, salt: 618509160, who: Who::Dst, k: 4, c: 3 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 383175941, who: Who::Src, k: 6, c: 8 }, St { op: Op::Push(1), m: 4, t: 2, salt: 40538881, who: Who::Src, k: 1, c: 2 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitSet, m: 4, t: 3, salt: 984654068, who: Who::V, k: 2, c: 8 }, St { op: Op::Own, m: 1, t: 1, salt: 593420245, who: Who::V, k: 7, c: 3 }, St { op: Op::BitSet, m: 5, t: 3, salt: 55386391, who: Who::V, k: 5, c: 6 }, St { op: Op::OwnS, m: 2, t: 2, salt: 914101252, who: Who::V, k: 1, c: 8 }, St { op: Op::Push(1), m: 4, t: 1, salt: 144584971, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 9, t: 1, salt: 999057936, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitSet, m: 3, t: 1, salt: 610705507, who: Who::V, k: 7, c: 8 }, St { op: Op::Push(0), m: 5, t: 2, salt: 949655431, who: Who::V, k: 0, c: 8 }, St { op: Op::BitCount, m: 2, t: 1, salt: 429841029, who: Who::V, k: 7, c: 2 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(1), m: 2, t: 2, salt: 141346242, who: Who::Src, k: 4, c: 4 }, St { op: Op::OwnE, m: 4, t: 4, salt: 548090682, who: Who::Dst, k: 2, c: 9 }, St { op: Op::Acc, m: 5, t: 2, salt: 303370547, who: Who::Src, k: 0, c: 6 }] })] })],
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
            #[list(unique)] l2: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 1],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [8], reset = round)] s: [u32; 1],
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
        #[fixpoint(until(round + 1 == 1))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, acc: &Buf<Atomic<u64>>, b: &Bits, l2: &Push, l1: &Push) {
                let h = mix(v, f0, 0, 0, 109137097);
                if h % 3 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 1); }
                let h = mix(v, f0, 0, 0, 999082734);
                if h % 4 < 3 { b.unset(v, h % 32); }
                let h = mix(v, f0, 0, 0, 176299800);
                if h % 5 < 1 { l2.push(v); }
                let h = mix(v, f0, 0, 0, 343067239);
                if h % 4 < 1 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 375755268);
                if h % 4 < 1 { l2.push(v); }
            }
            #[wave(edges(graph))]
            fn w1(at: Edge, f0: Round, l1: &Push, acc: &Buf<Atomic<u64>>) {
                let h = mix(at.index, f0, 0, 0, 697499435);
                if h % 2 < 2 { l1.push(at.src); }
                let h = mix(at.index, f0, 0, 0, 162890403);
                if h % 1 < 1 { acc[at.dst].fetch_add(u64::from(h % 1000) + 5); }
            }
            #[wave(edges(graph, from = l0))]
            fn w2(at: Edge, f0: Round, acc: &Buf<Atomic<u64>>) {
                let h = mix(at.index, f0, 0, 0, 323922749);
                if h % 4 < 4 { acc[at.dst].fetch_add(u64::from(h % 1000) + 6); }
            }
            #[wave(edges(graph, from = l2), after(w0, w2))]
            fn w3(at: Edge, f0: Round, l1: &Push, l0: &Push, e: &mut [u32; 8]) {
                let h = mix(at.index, f0, 0, 0, 192970300);
                if h % 1 < 1 { l1.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 575673856);
                if h % 5 < 1 { l0.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 624244804);
                if h % 3 < 3 { e[7] = e[7] * 3 + 6 + h % 7; }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 3 || l0.len() >= 24))]
        mod f1 {
            #[fixpoint(until(round + 1 == 1))]
            mod f2 {
                #[fixpoint(until(round + 1 == 3 || l0.len() >= 33))]
                mod f3 {
                    #[wave(nodes)]
                    fn w4(v: Node, f1: Round, f2: Round, f3: Round, l1: &Push, b: &Bits, acc: &Buf<Atomic<u64>>, l0: &Push) {
                        let h = mix(v, f1, f2, f3, 922183028);
                        if h % 2 < 1 { l1.push(v); }
                        let h = mix(v, f1, f2, f3, 815750549);
                        if h % 3 < 3 { acc[v].fetch_add(u64::from(b.count(v)) * 6); }
                        let h = mix(v, f1, f2, f3, 386030764);
                        if h % 7 < 1 { l1.push(v); }
                        let h = mix(v, f1, f2, f3, 644506920);
                        if h % 7 < 1 { l0.push(v); }
                    }
                    #[wave(edges(graph, from = l1), after(w4))]
                    fn w5(at: Edge, f1: Round, f2: Round, f3: Round, l1: &Push, l0: &Push, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 1]>) {
                        let h = mix(at.index, f1, f2, f3, 336659147);
                        if h % 3 < 1 { l1.push(at.dst); }
                        let h = mix(at.index, f1, f2, f3, 648781764);
                        if h % 4 < 3 { l0.push(at.src); }
                        let h = mix(at.index, f1, f2, f3, 218788379);
                        if h % 3 < 2 { acc[at.dst].fetch_add(u64::from(s.get(at.src)[(h % 1) as usize])); }
                        let h = mix(at.index, f1, f2, f3, 868206373);
                        if h % 3 < 1 { l0.push(at.dst); }
                    }
                }
                #[wave(items(l1), after(f3))]
                fn w6(v: Node, f1: Round, f2: Round, b: &Bits, acc: &Buf<Atomic<u64>>, o: &mut [u64; 1]) {
                    let h = mix(v, f1, f2, 0, 403287228);
                    if h % 3 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 6); }
                    let h = mix(v, f1, f2, 0, 223940371);
                    if h % 5 < 3 { o[(h % 1) as usize] += 3 + u64::from(h % 17); }
                }
                #[wave(edges(graph), after(f3, w6))]
                fn w7(at: Edge, f1: Round, f2: Round, l1: &Push, l2: &Push) {
                    let h = mix(at.index, f1, f2, 0, 628085797);
                    if h % 1 < 1 { l1.push(at.src); }
                    let h = mix(at.index, f1, f2, 0, 638518636);
                    if h % 5 < 3 { l2.push(at.src); }
                }
                #[wave(items(l2), after(f3, w6, w7))]
                fn w8(v: Node, f1: Round, f2: Round, l1: &Push, s: &[u32; 1], o: &mut [u64; 1]) {
                    let h = mix(v, f1, f2, 0, 636134225);
                    if h % 2 < 2 { l1.push(v); }
                    let h = mix(v, f1, f2, 0, 572187583);
                    if h % 1 < 1 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                }
            }
            #[wave(nodes, after(f2))]
            fn w9(v: Node, f1: Round, l2: &Push, o: &mut [u64; 1], l0: &Push) {
                let h = mix(v, f1, 0, 0, 411922752);
                if h % 3 < 1 { l2.push(v); }
                let h = mix(v, f1, 0, 0, 772112905);
                if h % 4 < 2 { o[(h % 1) as usize] += 4 + u64::from(h % 17); }
                let h = mix(v, f1, 0, 0, 45266578);
                if h % 6 < 1 { l2.push(v); }
                let h = mix(v, f1, 0, 0, 880130258);
                if h % 6 < 1 { l0.push(v); }
            }
            #[wave(items(l1), after(f2))]
            fn w10(v: Node, f1: Round, l0: &Push) {
                let h = mix(v, f1, 0, 0, 930980403);
                if h % 1 < 1 { l0.push(v); }
                let h = mix(v, f1, 0, 0, 716247153);
                if h % 4 < 4 { l0.push(v); }
            }
        }
        #[wave(nodes, after(f0, f1))]
        fn w11(v: Node, b: &Bits, acc: &Buf<Atomic<u64>>, l1: &Push, l0: &Push, l2: &Push) {
            let h = mix(v, 0, 0, 0, 468364842);
            if h % 4 < 4 { acc[v].fetch_add(u64::from(b.count(v)) * 9); }
            let h = mix(v, 0, 0, 0, 155505056);
            if h % 2 < 1 { l1.push(v); }
            let h = mix(v, 0, 0, 0, 490443436);
            if h % 2 < 2 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 47591093);
            if h % 2 < 1 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 917473278);
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
            fn add(v: Node, p_acc: &u64, p_o: &Records<[u64; 1]>, tot: &mut [u64; 2]) {
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
            lists: vec![(true, None), (true, None), (true, None)], frontier: None,
            no: 1, ns: 1, ne: 8, bw: 32, binit: true, sinit: vec![8], s_owner: Some(2), b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 3, t: 3, salt: 109137097, who: Who::V, k: 6, c: 1 }, St { op: Op::BitSet, m: 4, t: 3, salt: 999082734, who: Who::V, k: 6, c: 8 }, St { op: Op::Push(2), m: 5, t: 1, salt: 176299800, who: Who::V, k: 6, c: 9 }, St { op: Op::Push(1), m: 4, t: 1, salt: 343067239, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 4, t: 1, salt: 375755268, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(1), m: 2, t: 2, salt: 697499435, who: Who::Src, k: 1, c: 2 }, St { op: Op::Acc, m: 1, t: 1, salt: 162890403, who: Who::Dst, k: 5, c: 5 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Acc, m: 4, t: 4, salt: 323922749, who: Who::Dst, k: 6, c: 6 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 192970300, who: Who::Dst, k: 2, c: 8 }, St { op: Op::Push(0), m: 5, t: 1, salt: 575673856, who: Who::Dst, k: 5, c: 8 }, St { op: Op::OwnE, m: 3, t: 3, salt: 624244804, who: Who::Dst, k: 7, c: 6 }] })] }), It::F(Fix { id: 1, times: 3, ask: Some((0, 24, false)), items: vec![It::F(Fix { id: 2, times: 1, ask: None, items: vec![It::F(Fix { id: 3, times: 3, ask: Some((0, 33, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 2, t: 1, salt: 922183028, who: Who::V, k: 3, c: 1 }, St { op: Op::BitCount, m: 3, t: 3, salt: 815750549, who: Who::V, k: 0, c: 6 }, St { op: Op::Push(1), m: 7, t: 1, salt: 386030764, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 7, t: 1, salt: 644506920, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Push(1), m: 3, t: 1, salt: 336659147, who: Who::Dst, k: 6, c: 3 }, St { op: Op::Push(0), m: 4, t: 3, salt: 648781764, who: Who::Src, k: 3, c: 2 }, St { op: Op::RecS, m: 3, t: 2, salt: 218788379, who: Who::Dst, k: 1, c: 7 }, St { op: Op::Push(0), m: 3, t: 1, salt: 868206373, who: Who::Dst, k: 2, c: 2 }] })] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::BitCount, m: 3, t: 1, salt: 403287228, who: Who::V, k: 6, c: 6 }, St { op: Op::Own, m: 5, t: 3, salt: 223940371, who: Who::V, k: 3, c: 3 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 628085797, who: Who::Src, k: 6, c: 3 }, St { op: Op::Push(2), m: 5, t: 3, salt: 638518636, who: Who::Src, k: 0, c: 6 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(1), m: 2, t: 2, salt: 636134225, who: Who::V, k: 7, c: 1 }, St { op: Op::ReadS, m: 1, t: 1, salt: 572187583, who: Who::V, k: 7, c: 3 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 3, t: 1, salt: 411922752, who: Who::V, k: 7, c: 1 }, St { op: Op::Own, m: 4, t: 2, salt: 772112905, who: Who::V, k: 3, c: 4 }, St { op: Op::Push(2), m: 6, t: 1, salt: 45266578, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 6, t: 1, salt: 880130258, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 930980403, who: Who::V, k: 6, c: 6 }, St { op: Op::Push(0), m: 4, t: 4, salt: 716247153, who: Who::V, k: 4, c: 3 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitCount, m: 4, t: 4, salt: 468364842, who: Who::V, k: 5, c: 9 }, St { op: Op::Push(1), m: 2, t: 1, salt: 155505056, who: Who::V, k: 3, c: 4 }, St { op: Op::Push(0), m: 2, t: 2, salt: 490443436, who: Who::V, k: 7, c: 2 }, St { op: Op::Push(0), m: 2, t: 1, salt: 47591093, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 8, t: 1, salt: 917473278, who: Who::V, k: 0, c: 1 }] })],
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
            #[list(capacity = (node + edge(graph)) * 300 + 2000, reset = round)] l0: List<u32>,
            #[list(unique, reset = round)] l1: List<Node>,
            #[list(unique, reset = round)] l2: List<Node>,
            #[list(unique, reset = round)] l3: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 2],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [7], reset = round)] s: [u32; 1],
            #[scratch(per = node, bits = 1, init = true, reset = round)] b: Bits,
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
        #[fixpoint(until(round + 1 == 3 || l2.len() >= 14))]
        mod f0 {
            #[fixpoint(until(round + 1 == 3))]
            mod f1 {
                #[wave(nodes)]
                fn w0(v: Node, f0: Round, f1: Round, b: &Bits, acc: &Buf<Atomic<u64>>, l1: &Push, l2: &Push) {
                    let h = mix(v, f0, f1, 0, 226217495);
                    if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 2); }
                    let h = mix(v, f0, f1, 0, 948138092);
                    if h % 3 < 1 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 978385863);
                    if h % 1 < 1 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 615764057);
                    if h % 2 < 1 { l2.push(v); }
                    let h = mix(v, f0, f1, 0, 601813175);
                    if h % 8 < 1 { l1.push(v); }
                }
                #[fixpoint(after(w0), until(round + 1 == 3 || l0.len() >= 25))]
                mod f2 {
                    #[wave(nodes)]
                    fn w1(v: Node, f0: Round, f1: Round, f2: Round, l0: &Append<u32>, l2: &Push, l1: &Push) {
                        let h = mix(v, f0, f1, f2, 513605860);
                        if h % 3 < 3 { l0.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 474200137);
                        if h % 9 < 1 { l2.push(v); }
                        let h = mix(v, f0, f1, f2, 288710075);
                        if h % 2 < 1 { l1.push(v); }
                    }
                    #[wave(edges(graph, from = l3))]
                    fn w2(at: Edge, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 1]>, e: &mut [u32; 3]) {
                        let h = mix(at.index, f0, f1, f2, 317509619);
                        if h % 4 < 4 { acc[at.src].fetch_add(u64::from(s.get(at.dst)[(h % 1) as usize])); }
                        let h = mix(at.index, f0, f1, f2, 735777849);
                        if h % 4 < 4 { e[1] = e[1] * 3 + 4 + h % 7; }
                    }
                    #[wave(items(l2), after(w1))]
                    fn w3(v: Node, f0: Round, f1: Round, f2: Round, l1: &Push) {
                        let h = mix(v, f0, f1, f2, 881918503);
                        if h % 2 < 2 { l1.push(v); }
                    }
                    #[wave(edges(graph, from = l1), after(w1, w2, w3))]
                    fn w4(at: Edge, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, l3: &Push) {
                        let h = mix(at.index, f0, f1, f2, 114709604);
                        if h % 3 < 1 { acc[at.src].fetch_add(u64::from(h % 1000) + 1); }
                        let h = mix(at.index, f0, f1, f2, 581955392);
                        if h % 4 < 3 { l3.push(at.dst); }
                        let h = mix(at.index, f0, f1, f2, 668417117);
                        if h % 2 < 2 { acc[at.src].fetch_add(u64::from(h % 1000) + 5); }
                    }
                }
                #[wave(nodes, after(f2))]
                fn w5(v: Node, f0: Round, f1: Round, l0: &Append<u32>, b: &Bits, acc: &Buf<Atomic<u64>>, l3: &Push) {
                    let h = mix(v, f0, f1, 0, 120305923);
                    if h % 5 < 4 { l0.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 568826469);
                    if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 1); }
                    let h = mix(v, f0, f1, 0, 662646419);
                    if h % 2 < 1 { l3.push(v); }
                }
                #[wave(items(l0), after(f2, w5))]
                fn w6(x: u32, f0: Round, f1: Round, n: u32, l1: &Push, acc: &Buf<Atomic<u64>>) {
                    let h = mix(x, f0, f1, 0, 244740400);
                    if h % 2 < 1 { l1.push(x % n); }
                    let h = mix(x, f0, f1, 0, 902342469);
                    if h % 3 < 3 { acc[x % n].fetch_add(u64::from(h % 1000) + 5); }
                    let h = mix(x, f0, f1, 0, 620347195);
                    if h % 2 < 2 { acc[x % n].fetch_add(u64::from(h % 1000) + 2); }
                }
            }
            #[wave(nodes, after(f1))]
            fn w7(v: Node, f0: Round, b: &Bits, l3: &Push, l0: &Append<u32>) {
                let h = mix(v, f0, 0, 0, 905656289);
                if h % 5 < 3 { b.unset(v, h % 1); }
                let h = mix(v, f0, 0, 0, 230624328);
                if h % 4 < 1 { l3.push(v); }
                let h = mix(v, f0, 0, 0, 999649501);
                if h % 2 < 1 { l0.append(v + h % 3); }
            }
            #[wave(items(l3), after(f1, w7))]
            fn w8(v: Node, f0: Round, l3: &Push, s: &mut [u32; 1], o: &mut [u64; 2]) {
                let h = mix(v, f0, 0, 0, 978004786);
                if h % 3 < 3 { s[((h >> 3) % 1) as usize] += 3 + h % 5; }
                let h = mix(v, f0, 0, 0, 392491142);
                if h % 2 < 1 { l3.push(v); }
                let h = mix(v, f0, 0, 0, 276711664);
                if h % 2 < 1 { o[(h % 2) as usize] += 9 + u64::from(h % 17); }
                let h = mix(v, f0, 0, 0, 735210574);
                if h % 1 < 1 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
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
            lists: vec![(false, Some(0)), (true, Some(1)), (true, Some(0)), (true, Some(0))], frontier: None,
            no: 2, ns: 1, ne: 3, bw: 1, binit: true, sinit: vec![7], s_owner: Some(0), b_owner: Some(0),
            root: vec![It::F(Fix { id: 0, times: 3, ask: Some((2, 14, false)), items: vec![It::F(Fix { id: 1, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitCount, m: 1, t: 1, salt: 226217495, who: Who::V, k: 5, c: 2 }, St { op: Op::Push(1), m: 3, t: 1, salt: 948138092, who: Who::V, k: 3, c: 2 }, St { op: Op::Push(1), m: 1, t: 1, salt: 978385863, who: Who::V, k: 3, c: 2 }, St { op: Op::Push(2), m: 2, t: 1, salt: 615764057, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 8, t: 1, salt: 601813175, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 2, times: 3, ask: Some((0, 25, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 3, t: 3, salt: 513605860, who: Who::V, k: 7, c: 4 }, St { op: Op::Push(2), m: 9, t: 1, salt: 474200137, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 2, t: 1, salt: 288710075, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(3), ops: vec![St { op: Op::RecS, m: 4, t: 4, salt: 317509619, who: Who::Src, k: 5, c: 9 }, St { op: Op::OwnE, m: 4, t: 4, salt: 735777849, who: Who::Dst, k: 7, c: 4 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(1), m: 2, t: 2, salt: 881918503, who: Who::V, k: 1, c: 6 }] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Acc, m: 3, t: 1, salt: 114709604, who: Who::Src, k: 7, c: 1 }, St { op: Op::Push(3), m: 4, t: 3, salt: 581955392, who: Who::Dst, k: 2, c: 1 }, St { op: Op::Acc, m: 2, t: 2, salt: 668417117, who: Who::Src, k: 7, c: 5 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 5, t: 4, salt: 120305923, who: Who::V, k: 1, c: 6 }, St { op: Op::BitCount, m: 1, t: 1, salt: 568826469, who: Who::V, k: 5, c: 1 }, St { op: Op::Push(3), m: 2, t: 1, salt: 662646419, who: Who::V, k: 1, c: 1 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Push(1), m: 2, t: 1, salt: 244740400, who: Who::V, k: 3, c: 2 }, St { op: Op::Acc, m: 3, t: 3, salt: 902342469, who: Who::V, k: 6, c: 5 }, St { op: Op::Acc, m: 2, t: 2, salt: 620347195, who: Who::V, k: 3, c: 2 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitSet, m: 5, t: 3, salt: 905656289, who: Who::V, k: 7, c: 7 }, St { op: Op::Push(3), m: 4, t: 1, salt: 230624328, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 2, t: 1, salt: 999649501, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(3), ops: vec![St { op: Op::OwnS, m: 3, t: 3, salt: 978004786, who: Who::V, k: 2, c: 3 }, St { op: Op::Push(3), m: 2, t: 1, salt: 392491142, who: Who::V, k: 1, c: 8 }, St { op: Op::Own, m: 2, t: 1, salt: 276711664, who: Who::V, k: 2, c: 9 }, St { op: Op::ReadS, m: 1, t: 1, salt: 735210574, who: Who::V, k: 0, c: 8 }] })] })],
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
            #[list(unique, reset = round)] l0: List<Node>,
            #[list(unique, reset = round)] l1: List<Node>,
            #[list(unique)] l2: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 2],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [6, 0, 6, 9, 7, 8, 1, 0], reset = round)] s: [u32; 8],
            #[scratch(per = node, bits = 31, init = true)] b: Bits,
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
        #[fixpoint(until(round + 1 == 3 || l1.len() >= 28))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, l1: &Push, l0: &Push, l2: &Push) {
                let h = mix(v, f0, 0, 0, 56495535);
                if h % 4 < 2 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 900540277);
                if h % 3 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 760332957);
                if h % 2 < 1 { l2.push(v); }
            }
            #[wave(edges(graph, from = l1), after(w0))]
            fn w1(at: Edge, f0: Round, l1: &Push, acc: &Buf<Atomic<u64>>, l2: &Push) {
                let h = mix(at.index, f0, 0, 0, 608064538);
                if h % 2 < 1 { acc[at.dst].fetch_add(u64::from(h % 1000) + 7); }
                let h = mix(at.index, f0, 0, 0, 362816372);
                if h % 1 < 1 { l1.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 909056254);
                if h % 4 < 2 { l2.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 405044597);
                if h % 4 < 2 { l2.push(at.src); }
            }
            #[fixpoint(after(w0, w1), until(round + 1 == 2))]
            mod f1 {
                #[wave(nodes)]
                fn w2(v: Node, f0: Round, f1: Round, l0: &Push, l2: &Push, s: &mut [u32; 8]) {
                    let h = mix(v, f0, f1, 0, 671833632);
                    if h % 4 < 1 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 953687567);
                    if h % 5 < 1 { l2.push(v); }
                    let h = mix(v, f0, f1, 0, 823984719);
                    if h % 5 < 5 { l2.push(v); }
                    let h = mix(v, f0, f1, 0, 738156941);
                    if h % 2 < 2 { s[((h >> 3) % 8) as usize] += 8 + h % 5; }
                    let h = mix(v, f0, f1, 0, 805180671);
                    if h % 9 < 1 { l2.push(v); }
                    let h = mix(v, f0, f1, 0, 29743786);
                    if h % 8 < 1 { l0.push(v); }
                }
                #[fixpoint(after(w2), until(round + 1 == 3 || l1.is_empty()))]
                mod f2 {
                    #[wave(nodes)]
                    fn w3(v: Node, f0: Round, f1: Round, f2: Round, l2: &Push, s: &[u32; 8], o: &mut [u64; 2], l0: &Push) {
                        let h = mix(v, f0, f1, f2, 348550842);
                        if h % 1 < 1 { l2.push(v); }
                        let h = mix(v, f0, f1, f2, 489085304);
                        if h % 1 < 1 { l2.push(v); }
                        let h = mix(v, f0, f1, f2, 713596993);
                        if h % 4 < 4 { o[1] = o[1].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                        let h = mix(v, f0, f1, f2, 63572392);
                        if h % 2 < 1 { l2.push(v); }
                        let h = mix(v, f0, f1, f2, 299307070);
                        if h % 2 < 1 { l0.push(v); }
                    }
                    #[wave(nodes)]
                    fn w4(v: Node, f0: Round, f1: Round, f2: Round, l2: &Push, acc: &Buf<Atomic<u64>>, b: &Bits) {
                        let h = mix(v, f0, f1, f2, 663446101);
                        if h % 2 < 2 { l2.push(v); }
                        let h = mix(v, f0, f1, f2, 910171186);
                        if h % 3 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 6); }
                        let h = mix(v, f0, f1, f2, 472957455);
                        if h % 1 < 1 { b.unset(v, h % 31); }
                    }
                }
                #[wave(edges(graph), after(f2))]
                fn w5(at: Edge, f0: Round, f1: Round, l1: &Push, acc: &Buf<Atomic<u64>>) {
                    let h = mix(at.index, f0, f1, 0, 43813505);
                    if h % 1 < 1 { l1.push(at.src); }
                    let h = mix(at.index, f0, f1, 0, 565425755);
                    if h % 5 < 5 { acc[at.src].fetch_add(u64::from(h % 1000) + 7); }
                }
                #[fixpoint(after(w2, f2, w5), until(round + 1 == 3 || l1.is_empty()))]
                mod f3 {
                    #[wave(items(l0))]
                    fn w6(v: Node, f0: Round, f1: Round, f3: Round, s: &mut [u32; 8], o: &mut [u64; 2], acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f0, f1, f3, 202784338);
                        if h % 5 < 4 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[7])); }
                        let h = mix(v, f0, f1, f3, 291916855);
                        if h % 4 < 4 { acc[v].fetch_add(u64::from(h % 1000) + 6); }
                        let h = mix(v, f0, f1, f3, 507340169);
                        if h % 1 < 1 { s[((h >> 3) % 8) as usize] += 3 + h % 5; }
                    }
                    #[wave(edges(graph, from = l2), after(w6))]
                    fn w7(at: Edge, f0: Round, f1: Round, f3: Round, l1: &Push, acc: &Buf<Atomic<u64>>, l0: &Push) {
                        let h = mix(at.index, f0, f1, f3, 834854616);
                        if h % 5 < 5 { l1.push(at.src); }
                        let h = mix(at.index, f0, f1, f3, 759815486);
                        if h % 3 < 2 { acc[at.dst].fetch_add(u64::from(h % 1000) + 9); }
                        let h = mix(at.index, f0, f1, f3, 385294176);
                        if h % 3 < 1 { acc[at.src].fetch_add(u64::from(h % 1000) + 1); }
                        let h = mix(at.index, f0, f1, f3, 941278664);
                        if h % 3 < 3 { l0.push(at.dst); }
                    }
                    #[wave(items(l2), after(w6))]
                    fn w8(v: Node, f0: Round, f1: Round, f3: Round, acc: &Buf<Atomic<u64>>, l1: &Push, l0: &Push) {
                        let h = mix(v, f0, f1, f3, 881256323);
                        if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 2); }
                        let h = mix(v, f0, f1, f3, 412705608);
                        if h % 2 < 1 { l1.push(v); }
                        let h = mix(v, f0, f1, f3, 589705448);
                        if h % 1 < 1 { l0.push(v); }
                    }
                    #[wave(nodes, after(w6))]
                    fn w9(v: Node, f0: Round, f1: Round, f3: Round, l0: &Push, s: &mut [u32; 8], o: &mut [u64; 2]) {
                        let h = mix(v, f0, f1, f3, 954751913);
                        if h % 5 < 4 { l0.push(v); }
                        let h = mix(v, f0, f1, f3, 363855811);
                        if h % 4 < 1 { s[((h >> 3) % 8) as usize] += 7 + h % 5; }
                        let h = mix(v, f0, f1, f3, 88709042);
                        if h % 4 < 3 { o[1] = o[1].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
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
            lists: vec![(true, Some(0)), (true, Some(0)), (true, None)], frontier: None,
            no: 2, ns: 8, ne: 1, bw: 31, binit: true, sinit: vec![6, 0, 6, 9, 7, 8, 1, 0], s_owner: Some(1), b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 3, ask: Some((1, 28, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 4, t: 2, salt: 56495535, who: Who::V, k: 6, c: 5 }, St { op: Op::Push(0), m: 3, t: 1, salt: 900540277, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 2, t: 1, salt: 760332957, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Acc, m: 2, t: 1, salt: 608064538, who: Who::Dst, k: 1, c: 7 }, St { op: Op::Push(1), m: 1, t: 1, salt: 362816372, who: Who::Dst, k: 7, c: 9 }, St { op: Op::Push(2), m: 4, t: 2, salt: 909056254, who: Who::Dst, k: 4, c: 7 }, St { op: Op::Push(2), m: 4, t: 2, salt: 405044597, who: Who::Src, k: 2, c: 6 }] }), It::F(Fix { id: 1, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 4, t: 1, salt: 671833632, who: Who::V, k: 3, c: 8 }, St { op: Op::Push(2), m: 5, t: 1, salt: 953687567, who: Who::V, k: 5, c: 1 }, St { op: Op::Push(2), m: 5, t: 5, salt: 823984719, who: Who::V, k: 5, c: 3 }, St { op: Op::OwnS, m: 2, t: 2, salt: 738156941, who: Who::V, k: 4, c: 8 }, St { op: Op::Push(2), m: 9, t: 1, salt: 805180671, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 8, t: 1, salt: 29743786, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 2, times: 3, ask: Some((1, 12, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 1, t: 1, salt: 348550842, who: Who::V, k: 2, c: 4 }, St { op: Op::Push(2), m: 1, t: 1, salt: 489085304, who: Who::V, k: 5, c: 7 }, St { op: Op::ReadS, m: 4, t: 4, salt: 713596993, who: Who::V, k: 1, c: 8 }, St { op: Op::Push(2), m: 2, t: 1, salt: 63572392, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 2, t: 1, salt: 299307070, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 2, t: 2, salt: 663446101, who: Who::V, k: 5, c: 1 }, St { op: Op::Acc, m: 3, t: 1, salt: 910171186, who: Who::V, k: 3, c: 6 }, St { op: Op::BitSet, m: 1, t: 1, salt: 472957455, who: Who::V, k: 3, c: 7 }] })] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 43813505, who: Who::Src, k: 5, c: 1 }, St { op: Op::Acc, m: 5, t: 5, salt: 565425755, who: Who::Src, k: 0, c: 7 }] }), It::F(Fix { id: 3, times: 3, ask: Some((1, 25, true)), items: vec![It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::ReadS, m: 5, t: 4, salt: 202784338, who: Who::V, k: 0, c: 7 }, St { op: Op::Acc, m: 4, t: 4, salt: 291916855, who: Who::V, k: 7, c: 6 }, St { op: Op::OwnS, m: 1, t: 1, salt: 507340169, who: Who::V, k: 6, c: 3 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(1), m: 5, t: 5, salt: 834854616, who: Who::Src, k: 4, c: 7 }, St { op: Op::Acc, m: 3, t: 2, salt: 759815486, who: Who::Dst, k: 6, c: 9 }, St { op: Op::Acc, m: 3, t: 1, salt: 385294176, who: Who::Src, k: 4, c: 1 }, St { op: Op::Push(0), m: 3, t: 3, salt: 941278664, who: Who::Dst, k: 2, c: 5 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 881256323, who: Who::V, k: 7, c: 2 }, St { op: Op::Push(1), m: 2, t: 1, salt: 412705608, who: Who::V, k: 0, c: 3 }, St { op: Op::Push(0), m: 1, t: 1, salt: 589705448, who: Who::V, k: 7, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 5, t: 4, salt: 954751913, who: Who::V, k: 3, c: 6 }, St { op: Op::OwnS, m: 4, t: 1, salt: 363855811, who: Who::V, k: 5, c: 7 }, St { op: Op::ReadS, m: 4, t: 3, salt: 88709042, who: Who::V, k: 3, c: 8 }] })] })] })] })],
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
            #[list(unique, reset = round)] l0: List<Node>,
            #[list(unique)] l1: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l2: List<u32>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l3: List<u32>,
            #[output(per = node, init = 7)] o: [u64; 2],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [2, 3, 4, 2, 2, 6, 6])] s: [u32; 7],
            #[scratch(per = node, bits = 64)] b: Bits,
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
            #[fixpoint(until(round + 1 == 2))]
            mod f1 {
                #[fixpoint(until(round + 1 == 2 || l1.len() >= 33))]
                mod f2 {
                    #[wave(nodes)]
                    fn w0(v: Node, f0: Round, f1: Round, f2: Round, l2: &Append<u32>, l0: &Push, l3: &Append<u32>) {
                        let h = mix(v, f0, f1, f2, 189159347);
                        if h % 5 < 4 { l2.append(v + h % 3); }
                        let h = mix(v, f0, f1, f2, 299116069);
                        if h % 4 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 773420737);
                        if h % 5 < 1 { l3.append(v + h % 3); }
                    }
                    #[wave(items(l1))]
                    fn w1(v: Node, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, b: &Bits, l0: &Push) {
                        let h = mix(v, f0, f1, f2, 412637802);
                        if h % 3 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 7); }
                        let h = mix(v, f0, f1, f2, 780208175);
                        if h % 2 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 3); }
                        let h = mix(v, f0, f1, f2, 311826239);
                        if h % 4 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 10773381);
                        if h % 3 < 3 { acc[v].fetch_add(u64::from(b.count(v)) * 7); }
                    }
                    #[wave(items(l2), after(w0))]
                    fn w2(x: u32, f0: Round, f1: Round, f2: Round, n: u32, acc: &Buf<Atomic<u64>>) {
                        let h = mix(x, f0, f1, f2, 454768132);
                        if h % 4 < 1 { acc[x % n].fetch_add(u64::from(h % 1000) + 2); }
                    }
                }
                #[wave(nodes, after(f2))]
                fn w3(v: Node, f0: Round, f1: Round, l0: &Push, l3: &Append<u32>, l2: &Append<u32>) {
                    let h = mix(v, f0, f1, 0, 438575522);
                    if h % 5 < 5 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 153724917);
                    if h % 2 < 1 { l3.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 554509037);
                    if h % 6 < 1 { l2.append(v + h % 3); }
                }
            }
            #[fixpoint(after(f1), until(round + 1 == 3))]
            mod f3 {
                #[wave(nodes)]
                fn w4(v: Node, f0: Round, f3: Round, s: &mut [u32; 7], o: &mut [u64; 2], l1: &Push, l3: &Append<u32>) {
                    let h = mix(v, f0, f3, 0, 870736339);
                    if h % 3 < 3 { s.swap(4, (h % 7) as usize); }
                    let h = mix(v, f0, f3, 0, 442407516);
                    if h % 5 < 5 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[6])); }
                    let h = mix(v, f0, f3, 0, 619971792);
                    if h % 8 < 1 { l1.push(v); }
                    let h = mix(v, f0, f3, 0, 540446738);
                    if h % 4 < 1 { l3.append(v + h % 3); }
                }
                #[wave(items(l3), after(w4))]
                fn w5(x: u32, f0: Round, f3: Round, n: u32, acc: &Buf<Atomic<u64>>) {
                    let h = mix(x, f0, f3, 0, 421902347);
                    if h % 5 < 5 { acc[x % n].fetch_add(u64::from(h % 1000) + 7); }
                }
                #[wave(items(l1), after(w4))]
                fn w6(v: Node, f0: Round, f3: Round, acc: &Buf<Atomic<u64>>) {
                    let h = mix(v, f0, f3, 0, 416845485);
                    if h % 2 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 2); }
                }
            }
            #[wave(items(l0), after(f1, f3))]
            fn w7(v: Node, f0: Round, l1: &Push) {
                let h = mix(v, f0, 0, 0, 500178585);
                if h % 4 < 2 { l1.push(v); }
            }
            #[wave(nodes, after(f1, f3, w7))]
            fn w8(v: Node, f0: Round, l1: &Push, l0: &Push) {
                let h = mix(v, f0, 0, 0, 781506498);
                if h % 1 < 1 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 157348459);
                if h % 3 < 2 { l0.push(v); }
            }
        }
        #[wave(nodes, after(f0))]
        fn w9(v: Node, l3: &Append<u32>, s: &[u32; 7], o: &mut [u64; 2], l1: &Push, b: &Bits, acc: &Buf<Atomic<u64>>, l2: &Append<u32>) {
            let h = mix(v, 0, 0, 0, 939944652);
            if h % 2 < 2 { l3.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 717531697);
            if h % 5 < 5 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[6])); }
            let h = mix(v, 0, 0, 0, 867768461);
            if h % 1 < 1 { l1.push(v); }
            let h = mix(v, 0, 0, 0, 935454912);
            if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 5); }
            let h = mix(v, 0, 0, 0, 492454607);
            if h % 6 < 1 { l2.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 125879229);
            if h % 8 < 1 { l3.append(v + h % 3); }
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
            lists: vec![(true, Some(0)), (true, None), (false, None), (false, None)], frontier: None,
            no: 2, ns: 7, ne: 8, bw: 64, binit: false, sinit: vec![2, 3, 4, 2, 2, 6, 6], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 1, ask: None, items: vec![It::F(Fix { id: 1, times: 2, ask: None, items: vec![It::F(Fix { id: 2, times: 2, ask: Some((1, 33, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 5, t: 4, salt: 189159347, who: Who::V, k: 1, c: 1 }, St { op: Op::Push(0), m: 4, t: 1, salt: 299116069, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(3), m: 5, t: 1, salt: 773420737, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Acc, m: 3, t: 3, salt: 412637802, who: Who::V, k: 1, c: 7 }, St { op: Op::BitCount, m: 2, t: 1, salt: 780208175, who: Who::V, k: 5, c: 3 }, St { op: Op::Push(0), m: 4, t: 1, salt: 311826239, who: Who::V, k: 5, c: 1 }, St { op: Op::BitCount, m: 3, t: 3, salt: 10773381, who: Who::V, k: 5, c: 7 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Acc, m: 4, t: 1, salt: 454768132, who: Who::V, k: 6, c: 2 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 5, t: 5, salt: 438575522, who: Who::V, k: 5, c: 3 }, St { op: Op::Push(3), m: 2, t: 1, salt: 153724917, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 6, t: 1, salt: 554509037, who: Who::V, k: 0, c: 1 }] })] }), It::F(Fix { id: 3, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Swap, m: 3, t: 3, salt: 870736339, who: Who::V, k: 4, c: 1 }, St { op: Op::ReadS, m: 5, t: 5, salt: 442407516, who: Who::V, k: 2, c: 6 }, St { op: Op::Push(1), m: 8, t: 1, salt: 619971792, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(3), m: 4, t: 1, salt: 540446738, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(3), ops: vec![St { op: Op::Acc, m: 5, t: 5, salt: 421902347, who: Who::V, k: 4, c: 7 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Acc, m: 2, t: 2, salt: 416845485, who: Who::V, k: 4, c: 2 }] })] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Push(1), m: 4, t: 2, salt: 500178585, who: Who::V, k: 3, c: 4 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 781506498, who: Who::V, k: 0, c: 2 }, St { op: Op::Push(0), m: 3, t: 2, salt: 157348459, who: Who::V, k: 5, c: 2 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(3), m: 2, t: 2, salt: 939944652, who: Who::V, k: 2, c: 6 }, St { op: Op::ReadS, m: 5, t: 5, salt: 717531697, who: Who::V, k: 2, c: 6 }, St { op: Op::Push(1), m: 1, t: 1, salt: 867768461, who: Who::V, k: 4, c: 2 }, St { op: Op::BitCount, m: 1, t: 1, salt: 935454912, who: Who::V, k: 0, c: 5 }, St { op: Op::Push(2), m: 6, t: 1, salt: 492454607, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(3), m: 8, t: 1, salt: 125879229, who: Who::V, k: 0, c: 1 }] })],
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
            #[output(per = node, init = 7)] o: [u64; 5],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [9, 2])] s: [u32; 2],
            #[scratch(per = node, bits = 31, reset = round)] b: Bits,
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
            #[fixpoint(until(round + 1 == 2 || l0.is_empty()))]
            mod f1 {
                #[wave(nodes)]
                fn w0(v: Node, f0: Round, f1: Round, l0: &Push, s: &[u32; 2], o: &mut [u64; 5], l1: &Push) {
                    let h = mix(v, f0, f1, 0, 459265885);
                    if h % 4 < 2 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 235414718);
                    if h % 3 < 1 { o[1] = o[1].wrapping_mul(3).wrapping_add(u64::from(s[1])); }
                    let h = mix(v, f0, f1, 0, 716044570);
                    if h % 2 < 1 { o[(h % 5) as usize] += 9 + u64::from(h % 17); }
                    let h = mix(v, f0, f1, 0, 292641201);
                    if h % 5 < 1 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 899149256);
                    if h % 7 < 1 { l1.push(v); }
                }
                #[wave(edges(graph, from = l0), after(w0))]
                fn w1(at: Edge, f0: Round, f1: Round, l0: &Push, acc: &Buf<Atomic<u64>>, l1: &Push) {
                    let h = mix(at.index, f0, f1, 0, 33321700);
                    if h % 5 < 2 { acc[at.src].fetch_add(u64::from(h % 1000) + 8); }
                    let h = mix(at.index, f0, f1, 0, 976390009);
                    if h % 3 < 1 { l0.push(at.src); }
                    let h = mix(at.index, f0, f1, 0, 738767793);
                    if h % 1 < 1 { l1.push(at.dst); }
                }
                #[wave(nodes, after(w0))]
                fn w2(v: Node, f0: Round, f1: Round, o: &mut [u64; 5]) {
                    let h = mix(v, f0, f1, 0, 354098307);
                    if h % 3 < 3 { o[(h % 5) as usize] += 6 + u64::from(h % 17); }
                }
            }
            #[wave(edges(graph, from = l1), after(f1))]
            fn w3(at: Edge, f0: Round, l1: &Push, e: &mut [u32; 3], l0: &Push) {
                let h = mix(at.index, f0, 0, 0, 830212402);
                if h % 5 < 3 { e[1] = e[1] * 3 + 7 + h % 7; }
                let h = mix(at.index, f0, 0, 0, 945830645);
                if h % 5 < 4 { l1.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 57743465);
                if h % 5 < 5 { l0.push(at.src); }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 2 || l0.is_empty()))]
        mod f2 {
            #[wave(items(l1))]
            fn w4(v: Node, f2: Round, l1: &Push, o: &mut [u64; 5], s: &mut [u32; 2]) {
                let h = mix(v, f2, 0, 0, 73034709);
                if h % 5 < 1 { o[(h % 5) as usize] += 3 + u64::from(h % 17); }
                let h = mix(v, f2, 0, 0, 904328604);
                if h % 5 < 2 { s.swap(1, (h % 2) as usize); }
                let h = mix(v, f2, 0, 0, 984918398);
                if h % 1 < 1 { s[((h >> 3) % 2) as usize] += 8 + h % 5; }
                let h = mix(v, f2, 0, 0, 836078924);
                if h % 3 < 3 { l1.push(v); }
            }
            #[wave(items(l0))]
            fn w5(v: Node, f2: Round, acc: &Buf<Atomic<u64>>) {
                let h = mix(v, f2, 0, 0, 511087144);
                if h % 5 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 7); }
                let h = mix(v, f2, 0, 0, 226452870);
                if h % 5 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 1); }
            }
        }
        #[fixpoint(after(f0, f2), until(round + 1 == 1))]
        mod f3 {
            #[wave(nodes)]
            fn w6(v: Node, f3: Round, s: &mut [u32; 2], acc: &Buf<Atomic<u64>>, l1: &Push, l0: &Push) {
                let h = mix(v, f3, 0, 0, 171456687);
                if h % 3 < 2 { s[((h >> 3) % 2) as usize] += 5 + h % 5; }
                let h = mix(v, f3, 0, 0, 415821873);
                if h % 2 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 8); }
                let h = mix(v, f3, 0, 0, 42485600);
                if h % 2 < 2 { s.swap(1, (h % 2) as usize); }
                let h = mix(v, f3, 0, 0, 43115442);
                if h % 6 < 1 { l1.push(v); }
                let h = mix(v, f3, 0, 0, 853826584);
                if h % 8 < 1 { l0.push(v); }
            }
            #[wave(nodes)]
            fn w7(v: Node, f3: Round, l1: &Push, o: &mut [u64; 5], b: &Bits, acc: &Buf<Atomic<u64>>) {
                let h = mix(v, f3, 0, 0, 259236961);
                if h % 1 < 1 { l1.push(v); }
                let h = mix(v, f3, 0, 0, 35084242);
                if h % 2 < 1 { o[(h % 5) as usize] += 1 + u64::from(h % 17); }
                let h = mix(v, f3, 0, 0, 180894565);
                if h % 4 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 4); }
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
            lists: vec![(true, None), (true, None)], frontier: None,
            no: 5, ns: 2, ne: 3, bw: 31, binit: false, sinit: vec![9, 2], s_owner: None, b_owner: Some(3),
            root: vec![It::F(Fix { id: 0, times: 3, ask: None, items: vec![It::F(Fix { id: 1, times: 2, ask: Some((0, 3, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 4, t: 2, salt: 459265885, who: Who::V, k: 7, c: 2 }, St { op: Op::ReadS, m: 3, t: 1, salt: 235414718, who: Who::V, k: 1, c: 7 }, St { op: Op::Own, m: 2, t: 1, salt: 716044570, who: Who::V, k: 7, c: 9 }, St { op: Op::Push(0), m: 5, t: 1, salt: 292641201, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 7, t: 1, salt: 899149256, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Acc, m: 5, t: 2, salt: 33321700, who: Who::Src, k: 4, c: 8 }, St { op: Op::Push(0), m: 3, t: 1, salt: 976390009, who: Who::Src, k: 3, c: 5 }, St { op: Op::Push(1), m: 1, t: 1, salt: 738767793, who: Who::Dst, k: 5, c: 4 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Own, m: 3, t: 3, salt: 354098307, who: Who::V, k: 6, c: 6 }] })] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::OwnE, m: 5, t: 3, salt: 830212402, who: Who::Dst, k: 1, c: 7 }, St { op: Op::Push(1), m: 5, t: 4, salt: 945830645, who: Who::Dst, k: 4, c: 1 }, St { op: Op::Push(0), m: 5, t: 5, salt: 57743465, who: Who::Src, k: 3, c: 9 }] })] }), It::F(Fix { id: 2, times: 2, ask: Some((0, 25, true)), items: vec![It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Own, m: 5, t: 1, salt: 73034709, who: Who::V, k: 6, c: 3 }, St { op: Op::Swap, m: 5, t: 2, salt: 904328604, who: Who::V, k: 7, c: 7 }, St { op: Op::OwnS, m: 1, t: 1, salt: 984918398, who: Who::V, k: 2, c: 8 }, St { op: Op::Push(1), m: 3, t: 3, salt: 836078924, who: Who::V, k: 0, c: 5 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Acc, m: 5, t: 3, salt: 511087144, who: Who::V, k: 2, c: 7 }, St { op: Op::Acc, m: 5, t: 3, salt: 226452870, who: Who::V, k: 4, c: 1 }] })] }), It::F(Fix { id: 3, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::OwnS, m: 3, t: 2, salt: 171456687, who: Who::V, k: 4, c: 5 }, St { op: Op::Acc, m: 2, t: 2, salt: 415821873, who: Who::V, k: 7, c: 8 }, St { op: Op::Swap, m: 2, t: 2, salt: 42485600, who: Who::V, k: 1, c: 4 }, St { op: Op::Push(1), m: 6, t: 1, salt: 43115442, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 8, t: 1, salt: 853826584, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 259236961, who: Who::V, k: 5, c: 9 }, St { op: Op::Own, m: 2, t: 1, salt: 35084242, who: Who::V, k: 5, c: 1 }, St { op: Op::BitCount, m: 4, t: 1, salt: 180894565, who: Who::V, k: 4, c: 4 }] })] })],
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
            #[list(unique)] l0: List<Node>,
            #[list(unique)] l1: List<Node>,
            #[list(unique)] l2: List<Node>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 2],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [3, 3, 1, 2, 3, 3, 9])] s: [u32; 7],
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
        #[fixpoint(until(round + 1 == 1))]
        mod f0 {
            #[fixpoint(until(round + 1 == 1))]
            mod f1 {
                #[wave(items(l2))]
                fn w0(v: Node, f0: Round, f1: Round, l2: &Push, s: &mut [u32; 7], b: &Bits, acc: &Buf<Atomic<u64>>) {
                    let h = mix(v, f0, f1, 0, 725073335);
                    if h % 2 < 2 { l2.push(v); }
                    let h = mix(v, f0, f1, 0, 56187583);
                    if h % 5 < 2 { s[((h >> 3) % 7) as usize] += 6 + h % 5; }
                    let h = mix(v, f0, f1, 0, 173430601);
                    if h % 5 < 4 { acc[v].fetch_add(u64::from(b.count(v)) * 6); }
                    let h = mix(v, f0, f1, 0, 215800945);
                    if h % 2 < 2 { l2.push(v); }
                }
                #[wave(items(l0), after(w0))]
                fn w1(v: Node, f0: Round, f1: Round, l1: &Push, s: &mut [u32; 7]) {
                    let h = mix(v, f0, f1, 0, 303516668);
                    if h % 5 < 2 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 549812280);
                    if h % 2 < 2 { s[((h >> 3) % 7) as usize] += 5 + h % 5; }
                }
                #[wave(items(l1), after(w1))]
                fn w2(v: Node, f0: Round, f1: Round, lf: &Push) {
                    let h = mix(v, f0, f1, 0, 331769239);
                    if h % 2 < 1 { lf.push(v); }
                }
                #[fixpoint(after(w0, w1), until(round + 1 == 3 || l0.is_empty()))]
                mod f2 {
                    #[wave(nodes)]
                    fn w3(v: Node, f0: Round, f1: Round, f2: Round, l2: &Push, acc: &Buf<Atomic<u64>>, s: &mut [u32; 7], l0: &Push) {
                        let h = mix(v, f0, f1, f2, 695243926);
                        if h % 4 < 2 { l2.push(v); }
                        let h = mix(v, f0, f1, f2, 174937228);
                        if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 9); }
                        let h = mix(v, f0, f1, f2, 589734691);
                        if h % 4 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 1); }
                        let h = mix(v, f0, f1, f2, 417890611);
                        if h % 5 < 4 { s.swap(3, (h % 7) as usize); }
                        let h = mix(v, f0, f1, f2, 694813630);
                        if h % 5 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 38394131);
                        if h % 7 < 1 { l2.push(v); }
                    }
                    #[wave(edges(graph, from = l2), after(w3))]
                    fn w4(at: Edge, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, lf: &Push) {
                        let h = mix(at.index, f0, f1, f2, 157155830);
                        if h % 2 < 2 { acc[at.src].fetch_add(u64::from(h % 1000) + 9); }
                        let h = mix(at.index, f0, f1, f2, 76192999);
                        if h % 1 < 1 { lf.push(at.dst); }
                    }
                    #[wave(items(l0), after(w3))]
                    fn w5(v: Node, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f0, f1, f2, 516511401);
                        if h % 4 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
                    }
                    #[wave(items(l0), after(w3))]
                    fn w6(v: Node, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, b: &Bits) {
                        let h = mix(v, f0, f1, f2, 747370394);
                        if h % 3 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 8); }
                        let h = mix(v, f0, f1, f2, 867321036);
                        if h % 5 < 5 { acc[v].fetch_add(u64::from(b.count(v)) * 4); }
                    }
                }
            }
            #[wave(nodes, after(f1))]
            fn w7(v: Node, f0: Round, b: &Bits, l2: &Push, l0: &Push) {
                let h = mix(v, f0, 0, 0, 95543027);
                if h % 1 < 1 { b.unset(v, h % 32); }
                let h = mix(v, f0, 0, 0, 774354478);
                if h % 8 < 1 { l2.push(v); }
                let h = mix(v, f0, 0, 0, 878914626);
                if h % 4 < 1 { l0.push(v); }
            }
            #[wave(items(lf), after(f1, w7))]
            fn w8(v: Node, f0: Round, b: &Bits) {
                let h = mix(v, f0, 0, 0, 716653098);
                if h % 2 < 2 { b.unset(v, h % 32); }
            }
            #[wave(edges(graph, from = l0), after(f1, w7))]
            fn w9(at: Edge, f0: Round, acc: &Buf<Atomic<u64>>, e: &mut [u32; 8], lf: &Push, l2: &Push) {
                let h = mix(at.index, f0, 0, 0, 392855393);
                if h % 1 < 1 { acc[at.src].fetch_add(u64::from(h % 1000) + 4); }
                let h = mix(at.index, f0, 0, 0, 895523108);
                if h % 3 < 2 { e[1] = e[1] * 3 + 8 + h % 7; }
                let h = mix(at.index, f0, 0, 0, 186068871);
                if h % 3 < 3 { lf.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 54716724);
                if h % 2 < 1 { l2.push(at.src); }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 1 || l0.len() >= 10))]
        mod f3 {
            #[wave(edges(graph, from = l0))]
            fn w10(at: Edge, f3: Round, l2: &Push) {
                let h = mix(at.index, f3, 0, 0, 969897040);
                if h % 5 < 5 { l2.push(at.dst); }
            }
            #[wave(edges(graph, from = l2), after(w10))]
            fn w11(at: Edge, f3: Round, l1: &Push) {
                let h = mix(at.index, f3, 0, 0, 289879670);
                if h % 4 < 3 { l1.push(at.dst); }
            }
        }
        #[wave(nodes, after(f0, f3))]
        fn w12(v: Node, b: &Bits, l0: &Push, s: &mut [u32; 7], l2: &Push, l1: &Push) {
            let h = mix(v, 0, 0, 0, 556137543);
            if h % 2 < 1 { b.unset(v, h % 32); }
            let h = mix(v, 0, 0, 0, 838737418);
            if h % 1 < 1 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 642052218);
            if h % 3 < 1 { s.swap(3, (h % 7) as usize); }
            let h = mix(v, 0, 0, 0, 142537632);
            if h % 5 < 2 { s[((h >> 3) % 7) as usize] += 3 + h % 5; }
            let h = mix(v, 0, 0, 0, 139035498);
            if h % 5 < 1 { l2.push(v); }
            let h = mix(v, 0, 0, 0, 652819575);
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
            lists: vec![(true, None), (true, None), (true, None)], frontier: Some(0),
            no: 2, ns: 7, ne: 8, bw: 32, binit: true, sinit: vec![3, 3, 1, 2, 3, 3, 9], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 1, ask: None, items: vec![It::F(Fix { id: 1, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(2), m: 2, t: 2, salt: 725073335, who: Who::V, k: 6, c: 6 }, St { op: Op::OwnS, m: 5, t: 2, salt: 56187583, who: Who::V, k: 0, c: 6 }, St { op: Op::BitCount, m: 5, t: 4, salt: 173430601, who: Who::V, k: 7, c: 6 }, St { op: Op::Push(2), m: 2, t: 2, salt: 215800945, who: Who::V, k: 7, c: 9 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Push(1), m: 5, t: 2, salt: 303516668, who: Who::V, k: 1, c: 2 }, St { op: Op::OwnS, m: 2, t: 2, salt: 549812280, who: Who::V, k: 3, c: 5 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(99), m: 2, t: 1, salt: 331769239, who: Who::V, k: 4, c: 4 }] }), It::F(Fix { id: 2, times: 3, ask: Some((0, 39, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 4, t: 2, salt: 695243926, who: Who::V, k: 1, c: 3 }, St { op: Op::Acc, m: 1, t: 1, salt: 174937228, who: Who::V, k: 0, c: 9 }, St { op: Op::Acc, m: 4, t: 3, salt: 589734691, who: Who::V, k: 6, c: 1 }, St { op: Op::Swap, m: 5, t: 4, salt: 417890611, who: Who::V, k: 3, c: 9 }, St { op: Op::Push(0), m: 5, t: 1, salt: 694813630, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 7, t: 1, salt: 38394131, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Acc, m: 2, t: 2, salt: 157155830, who: Who::Src, k: 4, c: 9 }, St { op: Op::Push(99), m: 1, t: 1, salt: 76192999, who: Who::Dst, k: 7, c: 6 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Acc, m: 4, t: 2, salt: 516511401, who: Who::V, k: 3, c: 3 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Acc, m: 3, t: 3, salt: 747370394, who: Who::V, k: 4, c: 8 }, St { op: Op::BitCount, m: 5, t: 5, salt: 867321036, who: Who::V, k: 3, c: 4 }] })] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitSet, m: 1, t: 1, salt: 95543027, who: Who::V, k: 2, c: 8 }, St { op: Op::Push(2), m: 8, t: 1, salt: 774354478, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 4, t: 1, salt: 878914626, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(99), ops: vec![St { op: Op::BitSet, m: 2, t: 2, salt: 716653098, who: Who::V, k: 5, c: 8 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 392855393, who: Who::Src, k: 4, c: 4 }, St { op: Op::OwnE, m: 3, t: 2, salt: 895523108, who: Who::Src, k: 1, c: 8 }, St { op: Op::Push(99), m: 3, t: 3, salt: 186068871, who: Who::Dst, k: 3, c: 6 }, St { op: Op::Push(2), m: 2, t: 1, salt: 54716724, who: Who::Src, k: 2, c: 8 }] })] }), It::F(Fix { id: 3, times: 1, ask: Some((0, 10, false)), items: vec![It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(2), m: 5, t: 5, salt: 969897040, who: Who::Dst, k: 1, c: 4 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(1), m: 4, t: 3, salt: 289879670, who: Who::Dst, k: 0, c: 7 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitSet, m: 2, t: 1, salt: 556137543, who: Who::V, k: 6, c: 5 }, St { op: Op::Push(0), m: 1, t: 1, salt: 838737418, who: Who::V, k: 7, c: 3 }, St { op: Op::Swap, m: 3, t: 1, salt: 642052218, who: Who::V, k: 3, c: 9 }, St { op: Op::OwnS, m: 5, t: 2, salt: 142537632, who: Who::V, k: 6, c: 3 }, St { op: Op::Push(2), m: 5, t: 1, salt: 139035498, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 4, t: 1, salt: 652819575, who: Who::V, k: 0, c: 1 }] })],
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
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l1: List<u32>,
            #[output(per = node, init = 7)] o: [u64; 3],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [7, 3, 3, 7, 0, 4, 4])] s: [u32; 7],
            #[scratch(per = node, bits = 65, init = true)] b: Bits,
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
        #[fixpoint(until(round + 1 == 2 || l0.len() >= 40))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, s: &mut [u32; 7], o: &mut [u64; 3], l1: &Append<u32>, l0: &Push) {
                let h = mix(v, f0, 0, 0, 703350447);
                if h % 5 < 4 { o[1] = o[1].wrapping_mul(3).wrapping_add(u64::from(s[5])); }
                let h = mix(v, f0, 0, 0, 759474350);
                if h % 2 < 1 { s[((h >> 3) % 7) as usize] += 7 + h % 5; }
                let h = mix(v, f0, 0, 0, 919245394);
                if h % 7 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 824246765);
                if h % 5 < 1 { l0.push(v); }
            }
            #[wave(items(l0), after(w0))]
            fn w1(v: Node, f0: Round, b: &Bits, acc: &Buf<Atomic<u64>>) {
                let h = mix(v, f0, 0, 0, 876489154);
                if h % 4 < 4 { acc[v].fetch_add(u64::from(b.count(v)) * 7); }
                let h = mix(v, f0, 0, 0, 70678534);
                if h % 3 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 6); }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 1))]
        mod f1 {
            #[wave(items(l1))]
            fn w2(x: u32, f1: Round, n: u32, l1: &Append<u32>, acc: &Buf<Atomic<u64>>) {
                let h = mix(x, f1, 0, 0, 266561660);
                if h % 2 < 2 { acc[x % n].fetch_add(u64::from(h % 1000) + 3); }
                let h = mix(x, f1, 0, 0, 905742139);
                if h % 2 < 2 { l1.append(x % n + h % 3); }
                let h = mix(x, f1, 0, 0, 77212285);
                if h % 2 < 1 { l1.append(x % n + h % 3); }
            }
            #[fixpoint(after(w2), until(round + 1 == 1 || l0.len() >= 2))]
            mod f2 {
                #[wave(nodes)]
                fn w3(v: Node, f1: Round, f2: Round, l1: &Append<u32>, acc: &Buf<Atomic<u64>>, s: &mut [u32; 7], l0: &Push) {
                    let h = mix(v, f1, f2, 0, 420096901);
                    if h % 3 < 3 { l1.append(v + h % 3); }
                    let h = mix(v, f1, f2, 0, 796753721);
                    if h % 2 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 5); }
                    let h = mix(v, f1, f2, 0, 449569001);
                    if h % 3 < 3 { s.swap(0, (h % 7) as usize); }
                    let h = mix(v, f1, f2, 0, 874591376);
                    if h % 2 < 2 { l0.push(v); }
                    let h = mix(v, f1, f2, 0, 329904635);
                    if h % 7 < 1 { l0.push(v); }
                    let h = mix(v, f1, f2, 0, 328825568);
                    if h % 2 < 1 { l1.append(v + h % 3); }
                }
                #[wave(items(l1), after(w3))]
                fn w4(x: u32, f1: Round, f2: Round, n: u32, l1: &Append<u32>) {
                    let h = mix(x, f1, f2, 0, 673860539);
                    if h % 3 < 3 { l1.append(x % n + h % 3); }
                }
                #[wave(items(l0), after(w3, w4))]
                fn w5(v: Node, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, l1: &Append<u32>) {
                    let h = mix(v, f1, f2, 0, 596335651);
                    if h % 5 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 1); }
                    let h = mix(v, f1, f2, 0, 346904574);
                    if h % 2 < 2 { l1.append(v + h % 3); }
                }
                #[wave(edges(graph), after(w3, w5))]
                fn w6(at: Edge, f1: Round, f2: Round, l0: &Push, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 7]>) {
                    let h = mix(at.index, f1, f2, 0, 583475402);
                    if h % 3 < 1 { l0.push(at.src); }
                    let h = mix(at.index, f1, f2, 0, 114038736);
                    if h % 1 < 1 { acc[at.src].fetch_add(u64::from(s.get(at.dst)[(h % 7) as usize])); }
                    let h = mix(at.index, f1, f2, 0, 379928957);
                    if h % 4 < 2 { l0.push(at.src); }
                }
            }
            #[wave(items(l1), after(w2, f2))]
            fn w7(x: u32, f1: Round, n: u32, l1: &Append<u32>, l0: &Push, acc: &Buf<Atomic<u64>>) {
                let h = mix(x, f1, 0, 0, 506691278);
                if h % 1 < 1 { l0.push(x % n); }
                let h = mix(x, f1, 0, 0, 446875920);
                if h % 5 < 1 { l1.append(x % n + h % 3); }
                let h = mix(x, f1, 0, 0, 55873895);
                if h % 3 < 1 { acc[x % n].fetch_add(u64::from(h % 1000) + 3); }
            }
            #[fixpoint(after(w2, f2, w7), until(round + 1 == 1))]
            mod f3 {
                #[wave(edges(graph, from = l0))]
                fn w8(at: Edge, f1: Round, f3: Round, l0: &Push, acc: &Buf<Atomic<u64>>) {
                    let h = mix(at.index, f1, f3, 0, 118971105);
                    if h % 4 < 3 { l0.push(at.dst); }
                    let h = mix(at.index, f1, f3, 0, 354763483);
                    if h % 2 < 1 { acc[at.src].fetch_add(u64::from(h % 1000) + 5); }
                }
                #[wave(items(l1))]
                fn w9(x: u32, f1: Round, f3: Round, n: u32, l1: &Append<u32>) {
                    let h = mix(x, f1, f3, 0, 873962686);
                    if h % 5 < 4 { l1.append(x % n + h % 3); }
                }
                #[wave(edges(graph, from = l0), after(w8, w9))]
                fn w10(at: Edge, f1: Round, f3: Round, l1: &Append<u32>, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 7]>, e: &mut [u32; 1]) {
                    let h = mix(at.index, f1, f3, 0, 188065755);
                    if h % 2 < 1 { l1.append(at.dst + h % 3); }
                    let h = mix(at.index, f1, f3, 0, 987722304);
                    if h % 2 < 1 { l1.append(at.dst + h % 3); }
                    let h = mix(at.index, f1, f3, 0, 418303811);
                    if h % 5 < 5 { acc[at.dst].fetch_add(u64::from(s.get(at.src)[(h % 7) as usize])); }
                    let h = mix(at.index, f1, f3, 0, 512690219);
                    if h % 4 < 3 { e[0] = e[0] * 3 + 7 + h % 7; }
                }
                #[wave(nodes, after(w10))]
                fn w11(v: Node, f1: Round, f3: Round, b: &Bits, s: &mut [u32; 7], acc: &Buf<Atomic<u64>>) {
                    let h = mix(v, f1, f3, 0, 233576484);
                    if h % 2 < 2 { b.unset(v, h % 65); }
                    let h = mix(v, f1, f3, 0, 760274057);
                    if h % 1 < 1 { s[((h >> 3) % 7) as usize] += 3 + h % 5; }
                    let h = mix(v, f1, f3, 0, 967503477);
                    if h % 5 < 5 { acc[v].fetch_add(u64::from(h % 1000) + 6); }
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
            lists: vec![(true, None), (false, None)], frontier: None,
            no: 3, ns: 7, ne: 1, bw: 65, binit: true, sinit: vec![7, 3, 3, 7, 0, 4, 4], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 2, ask: Some((0, 40, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::ReadS, m: 5, t: 4, salt: 703350447, who: Who::V, k: 4, c: 5 }, St { op: Op::OwnS, m: 2, t: 1, salt: 759474350, who: Who::V, k: 7, c: 7 }, St { op: Op::Push(1), m: 7, t: 1, salt: 919245394, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 5, t: 1, salt: 824246765, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::BitCount, m: 4, t: 4, salt: 876489154, who: Who::V, k: 4, c: 7 }, St { op: Op::Acc, m: 3, t: 2, salt: 70678534, who: Who::V, k: 1, c: 6 }] })] }), It::F(Fix { id: 1, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Acc, m: 2, t: 2, salt: 266561660, who: Who::V, k: 2, c: 3 }, St { op: Op::Push(1), m: 2, t: 2, salt: 905742139, who: Who::V, k: 0, c: 7 }, St { op: Op::Push(1), m: 2, t: 1, salt: 77212285, who: Who::V, k: 1, c: 3 }] }), It::F(Fix { id: 2, times: 1, ask: Some((0, 2, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 3, t: 3, salt: 420096901, who: Who::V, k: 4, c: 1 }, St { op: Op::Acc, m: 2, t: 1, salt: 796753721, who: Who::V, k: 6, c: 5 }, St { op: Op::Swap, m: 3, t: 3, salt: 449569001, who: Who::V, k: 0, c: 3 }, St { op: Op::Push(0), m: 2, t: 2, salt: 874591376, who: Who::V, k: 6, c: 2 }, St { op: Op::Push(0), m: 7, t: 1, salt: 329904635, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 2, t: 1, salt: 328825568, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(1), m: 3, t: 3, salt: 673860539, who: Who::V, k: 3, c: 5 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Acc, m: 5, t: 3, salt: 596335651, who: Who::V, k: 1, c: 1 }, St { op: Op::Push(1), m: 2, t: 2, salt: 346904574, who: Who::V, k: 5, c: 8 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(0), m: 3, t: 1, salt: 583475402, who: Who::Src, k: 6, c: 9 }, St { op: Op::RecS, m: 1, t: 1, salt: 114038736, who: Who::Src, k: 0, c: 7 }, St { op: Op::Push(0), m: 4, t: 2, salt: 379928957, who: Who::Src, k: 6, c: 8 }] })] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 506691278, who: Who::V, k: 7, c: 5 }, St { op: Op::Push(1), m: 5, t: 1, salt: 446875920, who: Who::V, k: 7, c: 9 }, St { op: Op::Acc, m: 3, t: 1, salt: 55873895, who: Who::V, k: 6, c: 3 }] }), It::F(Fix { id: 3, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(0), m: 4, t: 3, salt: 118971105, who: Who::Dst, k: 1, c: 4 }, St { op: Op::Acc, m: 2, t: 1, salt: 354763483, who: Who::Src, k: 3, c: 5 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(1), m: 5, t: 4, salt: 873962686, who: Who::V, k: 7, c: 7 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(1), m: 2, t: 1, salt: 188065755, who: Who::Dst, k: 2, c: 3 }, St { op: Op::Push(1), m: 2, t: 1, salt: 987722304, who: Who::Dst, k: 2, c: 2 }, St { op: Op::RecS, m: 5, t: 5, salt: 418303811, who: Who::Dst, k: 6, c: 9 }, St { op: Op::OwnE, m: 4, t: 3, salt: 512690219, who: Who::Src, k: 3, c: 7 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitSet, m: 2, t: 2, salt: 233576484, who: Who::V, k: 2, c: 7 }, St { op: Op::OwnS, m: 1, t: 1, salt: 760274057, who: Who::V, k: 3, c: 3 }, St { op: Op::Acc, m: 5, t: 5, salt: 967503477, who: Who::V, k: 7, c: 6 }] })] })] })],
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
            #[list(capacity = (node + edge(graph)) * 300 + 2000, reset = round)] l0: List<u32>,
            #[list(unique)] l1: List<Node>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 5],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [2, 6, 1, 5], reset = round)] s: [u32; 4],
            #[scratch(per = node, bits = 64, init = true)] b: Bits,
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
        #[fixpoint(until(round + 1 == 2 || l0.len() >= 13))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, o: &mut [u64; 5], s: &[u32; 4], l0: &Append<u32>, l1: &Push) {
                let h = mix(v, f0, 0, 0, 309334099);
                if h % 1 < 1 { o[(h % 5) as usize] += 1 + u64::from(h % 17); }
                let h = mix(v, f0, 0, 0, 906887716);
                if h % 3 < 1 { o[2] = o[2].wrapping_mul(3).wrapping_add(u64::from(s[1])); }
                let h = mix(v, f0, 0, 0, 842518359);
                if h % 6 < 1 { l0.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 535867817);
                if h % 9 < 1 { l1.push(v); }
            }
            #[wave(items(l0), after(w0))]
            fn w1(x: u32, f0: Round, n: u32, l0: &Append<u32>) {
                let h = mix(x, f0, 0, 0, 690224055);
                if h % 3 < 1 { l0.append(x % n + h % 3); }
            }
            #[wave(edges(graph))]
            fn w2(at: Edge, f0: Round, e: &mut [u32; 8], lf: &Push) {
                let h = mix(at.index, f0, 0, 0, 875852316);
                if h % 1 < 1 { e[5] = e[5] * 3 + 3 + h % 7; }
                let h = mix(at.index, f0, 0, 0, 322498680);
                if h % 1 < 1 { lf.push(at.src); }
            }
            #[fixpoint(after(w0, w1, w2), until(round + 1 == 2))]
            mod f1 {
                #[wave(nodes)]
                fn w3(v: Node, f0: Round, f1: Round, l1: &Push, l0: &Append<u32>, s: &mut [u32; 4]) {
                    let h = mix(v, f0, f1, 0, 129397641);
                    if h % 3 < 3 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 429064829);
                    if h % 2 < 2 { l0.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 688995106);
                    if h % 4 < 4 { s.swap(0, (h % 4) as usize); }
                    let h = mix(v, f0, f1, 0, 193430848);
                    if h % 7 < 1 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 512423117);
                    if h % 5 < 1 { l0.append(v + h % 3); }
                }
                #[fixpoint(after(w3), until(round + 1 == 3 || l1.is_empty()))]
                mod f2 {
                    #[wave(edges(graph, from = l1))]
                    fn w4(at: Edge, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 4]>, e: &mut [u32; 8]) {
                        let h = mix(at.index, f0, f1, f2, 147952273);
                        if h % 5 < 2 { acc[at.dst].fetch_add(u64::from(s.get(at.src)[(h % 4) as usize])); }
                        let h = mix(at.index, f0, f1, f2, 263742879);
                        if h % 2 < 1 { e[5] = e[5] * 3 + 2 + h % 7; }
                    }
                    #[wave(items(lf), after(w4))]
                    fn w5(v: Node, f0: Round, f1: Round, f2: Round, l1: &Push) {
                        let h = mix(v, f0, f1, f2, 791308977);
                        if h % 4 < 3 { l1.push(v); }
                    }
                }
                #[wave(edges(graph, from = l1), after(w3, f2))]
                fn w6(at: Edge, f0: Round, f1: Round, l1: &Push, e: &mut [u32; 8], l0: &Append<u32>) {
                    let h = mix(at.index, f0, f1, 0, 218596151);
                    if h % 3 < 1 { e[2] = e[2] * 3 + 9 + h % 7; }
                    let h = mix(at.index, f0, f1, 0, 351756950);
                    if h % 4 < 2 { l0.append(at.src + h % 3); }
                    let h = mix(at.index, f0, f1, 0, 325355306);
                    if h % 4 < 2 { l1.push(at.dst); }
                    let h = mix(at.index, f0, f1, 0, 327437482);
                    if h % 2 < 2 { l0.append(at.src + h % 3); }
                }
                #[wave(items(l1), after(w3, f2, w6))]
                fn w7(v: Node, f0: Round, f1: Round, b: &Bits, acc: &Buf<Atomic<u64>>, s: &mut [u32; 4]) {
                    let h = mix(v, f0, f1, 0, 904610357);
                    if h % 5 < 4 { acc[v].fetch_add(u64::from(b.count(v)) * 8); }
                    let h = mix(v, f0, f1, 0, 643607206);
                    if h % 1 < 1 { s.swap(1, (h % 4) as usize); }
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
            lists: vec![(false, Some(0)), (true, None)], frontier: Some(2),
            no: 5, ns: 4, ne: 8, bw: 64, binit: true, sinit: vec![2, 6, 1, 5], s_owner: Some(0), b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 2, ask: Some((0, 13, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Own, m: 1, t: 1, salt: 309334099, who: Who::V, k: 2, c: 1 }, St { op: Op::ReadS, m: 3, t: 1, salt: 906887716, who: Who::V, k: 2, c: 5 }, St { op: Op::Push(0), m: 6, t: 1, salt: 842518359, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 9, t: 1, salt: 535867817, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Push(0), m: 3, t: 1, salt: 690224055, who: Who::V, k: 3, c: 3 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::OwnE, m: 1, t: 1, salt: 875852316, who: Who::Src, k: 5, c: 3 }, St { op: Op::Push(99), m: 1, t: 1, salt: 322498680, who: Who::Src, k: 6, c: 5 }] }), It::F(Fix { id: 1, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 3, t: 3, salt: 129397641, who: Who::V, k: 4, c: 9 }, St { op: Op::Push(0), m: 2, t: 2, salt: 429064829, who: Who::V, k: 1, c: 1 }, St { op: Op::Swap, m: 4, t: 4, salt: 688995106, who: Who::V, k: 0, c: 5 }, St { op: Op::Push(1), m: 7, t: 1, salt: 193430848, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 5, t: 1, salt: 512423117, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 2, times: 3, ask: Some((1, 6, true)), items: vec![It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::RecS, m: 5, t: 2, salt: 147952273, who: Who::Dst, k: 3, c: 6 }, St { op: Op::OwnE, m: 2, t: 1, salt: 263742879, who: Who::Src, k: 5, c: 2 }] }), It::W(Wave { dom: Dom::Items(99), ops: vec![St { op: Op::Push(1), m: 4, t: 3, salt: 791308977, who: Who::V, k: 6, c: 8 }] })] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::OwnE, m: 3, t: 1, salt: 218596151, who: Who::Dst, k: 2, c: 9 }, St { op: Op::Push(0), m: 4, t: 2, salt: 351756950, who: Who::Src, k: 0, c: 4 }, St { op: Op::Push(1), m: 4, t: 2, salt: 325355306, who: Who::Dst, k: 5, c: 4 }, St { op: Op::Push(0), m: 2, t: 2, salt: 327437482, who: Who::Src, k: 1, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::BitCount, m: 5, t: 4, salt: 904610357, who: Who::V, k: 7, c: 8 }, St { op: Op::Swap, m: 1, t: 1, salt: 643607206, who: Who::V, k: 5, c: 1 }] })] })] })],
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
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 8],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [1, 5, 6, 7])] s: [u32; 4],
            #[scratch(per = node, bits = 64)] b: Bits,
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
        #[fixpoint(until(round + 1 == 3 || l1.len() >= 31))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, b: &Bits, acc: &Buf<Atomic<u64>>, l0: &Push, l1: &Append<u32>) {
                let h = mix(v, f0, 0, 0, 250232568);
                if h % 3 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 5); }
                let h = mix(v, f0, 0, 0, 639202022);
                if h % 4 < 4 { b.set(v, h % 64); }
                let h = mix(v, f0, 0, 0, 159759025);
                if h % 3 < 2 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 275651979);
                if h % 3 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 956086362);
                if h % 9 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 730784686);
                if h % 8 < 1 { l0.push(v); }
            }
            #[wave(nodes)]
            fn w1(v: Node, f0: Round, s: &[u32; 4], o: &mut [u64; 8], acc: &Buf<Atomic<u64>>) {
                let h = mix(v, f0, 0, 0, 3076904);
                if h % 3 < 1 { o[2] = o[2].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                let h = mix(v, f0, 0, 0, 993926890);
                if h % 2 < 2 { o[6] = o[6].wrapping_mul(3).wrapping_add(u64::from(s[3])); }
                let h = mix(v, f0, 0, 0, 895755582);
                if h % 3 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
            }
            #[fixpoint(after(w0, w1), until(round + 1 == 1 || l0.is_empty()))]
            mod f1 {
                #[wave(nodes)]
                fn w2(v: Node, f0: Round, f1: Round, l0: &Push, l1: &Append<u32>) {
                    let h = mix(v, f0, f1, 0, 305520807);
                    if h % 1 < 1 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 915982983);
                    if h % 4 < 1 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 191325411);
                    if h % 5 < 1 { l1.append(v + h % 3); }
                }
                #[wave(nodes)]
                fn w3(v: Node, f0: Round, f1: Round, l1: &Append<u32>, s: &mut [u32; 4], o: &mut [u64; 8]) {
                    let h = mix(v, f0, f1, 0, 344254132);
                    if h % 2 < 2 { l1.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 759498779);
                    if h % 5 < 3 { o[4] = o[4].wrapping_mul(3).wrapping_add(u64::from(s[3])); }
                    let h = mix(v, f0, f1, 0, 56605480);
                    if h % 5 < 5 { s[((h >> 3) % 4) as usize] += 2 + h % 5; }
                    let h = mix(v, f0, f1, 0, 551863374);
                    if h % 4 < 2 { o[(h % 8) as usize] += 2 + u64::from(h % 17); }
                }
                #[fixpoint(after(w2), until(round + 1 == 2 || l0.is_empty()))]
                mod f2 {
                    #[wave(items(l0))]
                    fn w4(v: Node, f0: Round, f1: Round, f2: Round, lf: &Push, acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f0, f1, f2, 123269079);
                        if h % 4 < 3 { lf.push(v); }
                        let h = mix(v, f0, f1, f2, 61065073);
                        if h % 5 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
                    }
                    #[wave(nodes, after(w4))]
                    fn w5(v: Node, f0: Round, f1: Round, f2: Round, l0: &Push) {
                        let h = mix(v, f0, f1, f2, 33019495);
                        if h % 3 < 1 { l0.push(v); }
                    }
                }
            }
            #[wave(items(lf), after(w0, w1, f1))]
            fn w6(v: Node, f0: Round, acc: &Buf<Atomic<u64>>, b: &Bits, o: &mut [u64; 8], l1: &Append<u32>) {
                let h = mix(v, f0, 0, 0, 214275187);
                if h % 5 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 6); }
                let h = mix(v, f0, 0, 0, 155090721);
                if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 4); }
                let h = mix(v, f0, 0, 0, 372286499);
                if h % 4 < 4 { o[(h % 8) as usize] += 4 + u64::from(h % 17); }
                let h = mix(v, f0, 0, 0, 94649409);
                if h % 1 < 1 { l1.append(v + h % 3); }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 1 || l0.is_empty()))]
        mod f3 {
            #[wave(nodes)]
            fn w7(v: Node, f3: Round, l1: &Append<u32>, l0: &Push) {
                let h = mix(v, f3, 0, 0, 831482385);
                if h % 5 < 3 { l1.append(v + h % 3); }
                let h = mix(v, f3, 0, 0, 498129573);
                if h % 4 < 2 { l1.append(v + h % 3); }
                let h = mix(v, f3, 0, 0, 409209726);
                if h % 4 < 1 { l0.push(v); }
                let h = mix(v, f3, 0, 0, 922513271);
                if h % 9 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f3, 0, 0, 125985460);
                if h % 8 < 1 { l0.push(v); }
            }
            #[wave(nodes)]
            fn w8(v: Node, f3: Round, o: &mut [u64; 8], l1: &Append<u32>, b: &Bits) {
                let h = mix(v, f3, 0, 0, 952329255);
                if h % 4 < 4 { o[(h % 8) as usize] += 6 + u64::from(h % 17); }
                let h = mix(v, f3, 0, 0, 684336122);
                if h % 3 < 2 { l1.append(v + h % 3); }
                let h = mix(v, f3, 0, 0, 345680180);
                if h % 4 < 3 { b.set(v, h % 64); }
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
            lists: vec![(true, None), (false, None)], frontier: Some(0),
            no: 8, ns: 4, ne: 3, bw: 64, binit: false, sinit: vec![1, 5, 6, 7], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 3, ask: Some((1, 31, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitCount, m: 3, t: 1, salt: 250232568, who: Who::V, k: 0, c: 5 }, St { op: Op::BitSet, m: 4, t: 4, salt: 639202022, who: Who::V, k: 4, c: 4 }, St { op: Op::Push(0), m: 3, t: 2, salt: 159759025, who: Who::V, k: 3, c: 4 }, St { op: Op::Push(1), m: 3, t: 1, salt: 275651979, who: Who::V, k: 2, c: 7 }, St { op: Op::Push(1), m: 9, t: 1, salt: 956086362, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 8, t: 1, salt: 730784686, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::ReadS, m: 3, t: 1, salt: 3076904, who: Who::V, k: 2, c: 8 }, St { op: Op::ReadS, m: 2, t: 2, salt: 993926890, who: Who::V, k: 6, c: 3 }, St { op: Op::Acc, m: 3, t: 2, salt: 895755582, who: Who::V, k: 0, c: 3 }] }), It::F(Fix { id: 1, times: 1, ask: Some((0, 30, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 305520807, who: Who::V, k: 3, c: 9 }, St { op: Op::Push(0), m: 4, t: 1, salt: 915982983, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 5, t: 1, salt: 191325411, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 2, t: 2, salt: 344254132, who: Who::V, k: 0, c: 8 }, St { op: Op::ReadS, m: 5, t: 3, salt: 759498779, who: Who::V, k: 4, c: 3 }, St { op: Op::OwnS, m: 5, t: 5, salt: 56605480, who: Who::V, k: 3, c: 2 }, St { op: Op::Own, m: 4, t: 2, salt: 551863374, who: Who::V, k: 5, c: 2 }] }), It::F(Fix { id: 2, times: 2, ask: Some((0, 18, true)), items: vec![It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Push(99), m: 4, t: 3, salt: 123269079, who: Who::V, k: 0, c: 1 }, St { op: Op::Acc, m: 5, t: 2, salt: 61065073, who: Who::V, k: 5, c: 3 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 3, t: 1, salt: 33019495, who: Who::V, k: 4, c: 8 }] })] })] }), It::W(Wave { dom: Dom::Items(99), ops: vec![St { op: Op::Acc, m: 5, t: 1, salt: 214275187, who: Who::V, k: 2, c: 6 }, St { op: Op::BitCount, m: 1, t: 1, salt: 155090721, who: Who::V, k: 5, c: 4 }, St { op: Op::Own, m: 4, t: 4, salt: 372286499, who: Who::V, k: 1, c: 4 }, St { op: Op::Push(1), m: 1, t: 1, salt: 94649409, who: Who::V, k: 4, c: 9 }] })] }), It::F(Fix { id: 3, times: 1, ask: Some((0, 21, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 5, t: 3, salt: 831482385, who: Who::V, k: 4, c: 2 }, St { op: Op::Push(1), m: 4, t: 2, salt: 498129573, who: Who::V, k: 2, c: 4 }, St { op: Op::Push(0), m: 4, t: 1, salt: 409209726, who: Who::V, k: 2, c: 4 }, St { op: Op::Push(1), m: 9, t: 1, salt: 922513271, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 8, t: 1, salt: 125985460, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Own, m: 4, t: 4, salt: 952329255, who: Who::V, k: 3, c: 6 }, St { op: Op::Push(1), m: 3, t: 2, salt: 684336122, who: Who::V, k: 3, c: 1 }, St { op: Op::BitSet, m: 4, t: 3, salt: 345680180, who: Who::V, k: 1, c: 3 }] })] })],
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
            #[list(unique)] l1: List<Node>,
            #[list(unique)] l2: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 8],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [8], reset = round)] s: [u32; 1],
            #[scratch(per = node, bits = 65, init = true, reset = round)] b: Bits,
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
        #[fixpoint(until(round + 1 == 3 || l0.len() >= 1))]
        mod f0 {
            #[fixpoint(until(round + 1 == 3 || l0.len() >= 12))]
            mod f1 {
                #[fixpoint(until(round + 1 == 1 || l1.len() >= 24))]
                mod f2 {
                    #[wave(nodes)]
                    fn w0(v: Node, f0: Round, f1: Round, f2: Round, b: &Bits, l0: &Push, l2: &Push, l1: &Push) {
                        let h = mix(v, f0, f1, f2, 155329947);
                        if h % 5 < 4 { b.unset(v, h % 65); }
                        let h = mix(v, f0, f1, f2, 758395921);
                        if h % 4 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 605632825);
                        if h % 4 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 897558912);
                        if h % 4 < 3 { l2.push(v); }
                        let h = mix(v, f0, f1, f2, 807952071);
                        if h % 4 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 733970577);
                        if h % 5 < 1 { l1.push(v); }
                    }
                    #[wave(edges(graph, from = l2), after(w0))]
                    fn w1(at: Edge, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 1]>, l0: &Push) {
                        let h = mix(at.index, f0, f1, f2, 201818694);
                        if h % 1 < 1 { acc[at.src].fetch_add(u64::from(s.get(at.dst)[(h % 1) as usize])); }
                        let h = mix(at.index, f0, f1, f2, 56475631);
                        if h % 2 < 2 { l0.push(at.dst); }
                        let h = mix(at.index, f0, f1, f2, 997655539);
                        if h % 2 < 2 { acc[at.dst].fetch_add(u64::from(h % 1000) + 4); }
                        let h = mix(at.index, f0, f1, f2, 672412710);
                        if h % 2 < 2 { acc[at.dst].fetch_add(u64::from(h % 1000) + 8); }
                    }
                    #[wave(items(l1), after(w0, w1))]
                    fn w2(v: Node, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, l2: &Push, b: &Bits) {
                        let h = mix(v, f0, f1, f2, 491567543);
                        if h % 3 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
                        let h = mix(v, f0, f1, f2, 454984121);
                        if h % 1 < 1 { l2.push(v); }
                        let h = mix(v, f0, f1, f2, 473187264);
                        if h % 4 < 3 { b.unset(v, h % 65); }
                        let h = mix(v, f0, f1, f2, 241920339);
                        if h % 2 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 6); }
                    }
                }
                #[wave(items(l0), after(f2))]
                fn w3(v: Node, f0: Round, f1: Round, acc: &Buf<Atomic<u64>>) {
                    let h = mix(v, f0, f1, 0, 896303922);
                    if h % 3 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
                    let h = mix(v, f0, f1, 0, 373260847);
                    if h % 5 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 5); }
                }
                #[wave(items(l1), after(f2))]
                fn w4(v: Node, f0: Round, f1: Round, acc: &Buf<Atomic<u64>>, b: &Bits, l2: &Push) {
                    let h = mix(v, f0, f1, 0, 111181566);
                    if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 5); }
                    let h = mix(v, f0, f1, 0, 598299447);
                    if h % 2 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 4); }
                    let h = mix(v, f0, f1, 0, 421161901);
                    if h % 1 < 1 { l2.push(v); }
                }
                #[wave(edges(graph, from = l1), after(f2, w3, w4))]
                fn w5(at: Edge, f0: Round, f1: Round, l1: &Push, l0: &Push, e: &mut [u32; 3], l2: &Push) {
                    let h = mix(at.index, f0, f1, 0, 751910612);
                    if h % 4 < 2 { l0.push(at.src); }
                    let h = mix(at.index, f0, f1, 0, 805565149);
                    if h % 3 < 3 { e[0] = e[0] * 3 + 2 + h % 7; }
                    let h = mix(at.index, f0, f1, 0, 97441382);
                    if h % 2 < 2 { l2.push(at.src); }
                    let h = mix(at.index, f0, f1, 0, 69249738);
                    if h % 1 < 1 { l1.push(at.src); }
                }
            }
            #[wave(nodes, after(f1))]
            fn w6(v: Node, f0: Round, acc: &Buf<Atomic<u64>>, s: &[u32; 1], o: &mut [u64; 8], l1: &Push, l0: &Push) {
                let h = mix(v, f0, 0, 0, 652100658);
                if h % 3 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 9); }
                let h = mix(v, f0, 0, 0, 917094855);
                if h % 1 < 1 { o[5] = o[5].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                let h = mix(v, f0, 0, 0, 162679677);
                if h % 5 < 5 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 719630271);
                if h % 2 < 2 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 352051583);
                if h % 6 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 458441693);
                if h % 5 < 1 { l1.push(v); }
            }
            #[wave(items(l1), after(f1, w6))]
            fn w7(v: Node, f0: Round, acc: &Buf<Atomic<u64>>) {
                let h = mix(v, f0, 0, 0, 697625426);
                if h % 3 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 5); }
            }
            #[wave(items(l2), after(f1, w6))]
            fn w8(v: Node, f0: Round, s: &mut [u32; 1], o: &mut [u64; 8]) {
                let h = mix(v, f0, 0, 0, 14091918);
                if h % 5 < 4 { s[((h >> 3) % 1) as usize] += 2 + h % 5; }
                let h = mix(v, f0, 0, 0, 904930323);
                if h % 5 < 1 { o[3] = o[3].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 3))]
        mod f3 {
            #[wave(edges(graph, from = l0))]
            fn w9(at: Edge, f3: Round, e: &mut [u32; 3], acc: &Buf<Atomic<u64>>, l2: &Push) {
                let h = mix(at.index, f3, 0, 0, 824428330);
                if h % 3 < 3 { e[2] = e[2] * 3 + 8 + h % 7; }
                let h = mix(at.index, f3, 0, 0, 161044539);
                if h % 5 < 3 { acc[at.src].fetch_add(u64::from(h % 1000) + 5); }
                let h = mix(at.index, f3, 0, 0, 671528681);
                if h % 1 < 1 { e[2] = e[2] * 3 + 3 + h % 7; }
                let h = mix(at.index, f3, 0, 0, 292785019);
                if h % 4 < 4 { l2.push(at.dst); }
            }
            #[wave(items(l2), after(w9))]
            fn w10(v: Node, f3: Round, l0: &Push) {
                let h = mix(v, f3, 0, 0, 264716684);
                if h % 2 < 1 { l0.push(v); }
            }
            #[wave(items(l1), after(w9))]
            fn w11(v: Node, f3: Round, l0: &Push) {
                let h = mix(v, f3, 0, 0, 920101671);
                if h % 1 < 1 { l0.push(v); }
            }
            #[wave(items(l2), after(w9, w10))]
            fn w12(v: Node, f3: Round, l2: &Push, o: &mut [u64; 8]) {
                let h = mix(v, f3, 0, 0, 547713836);
                if h % 2 < 1 { o[(h % 8) as usize] += 1 + u64::from(h % 17); }
                let h = mix(v, f3, 0, 0, 952607225);
                if h % 3 < 3 { l2.push(v); }
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
            lists: vec![(true, None), (true, None), (true, None)], frontier: None,
            no: 8, ns: 1, ne: 3, bw: 65, binit: true, sinit: vec![8], s_owner: Some(0), b_owner: Some(1),
            root: vec![It::F(Fix { id: 0, times: 3, ask: Some((0, 1, false)), items: vec![It::F(Fix { id: 1, times: 3, ask: Some((0, 12, false)), items: vec![It::F(Fix { id: 2, times: 1, ask: Some((1, 24, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitSet, m: 5, t: 4, salt: 155329947, who: Who::V, k: 2, c: 5 }, St { op: Op::Push(0), m: 4, t: 1, salt: 758395921, who: Who::V, k: 7, c: 7 }, St { op: Op::Push(0), m: 4, t: 1, salt: 605632825, who: Who::V, k: 1, c: 4 }, St { op: Op::Push(2), m: 4, t: 3, salt: 897558912, who: Who::V, k: 5, c: 5 }, St { op: Op::Push(0), m: 4, t: 1, salt: 807952071, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 5, t: 1, salt: 733970577, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::RecS, m: 1, t: 1, salt: 201818694, who: Who::Src, k: 5, c: 3 }, St { op: Op::Push(0), m: 2, t: 2, salt: 56475631, who: Who::Dst, k: 5, c: 6 }, St { op: Op::Acc, m: 2, t: 2, salt: 997655539, who: Who::Dst, k: 1, c: 4 }, St { op: Op::Acc, m: 2, t: 2, salt: 672412710, who: Who::Dst, k: 1, c: 8 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Acc, m: 3, t: 1, salt: 491567543, who: Who::V, k: 7, c: 3 }, St { op: Op::Push(2), m: 1, t: 1, salt: 454984121, who: Who::V, k: 3, c: 6 }, St { op: Op::BitSet, m: 4, t: 3, salt: 473187264, who: Who::V, k: 0, c: 3 }, St { op: Op::BitCount, m: 2, t: 1, salt: 241920339, who: Who::V, k: 4, c: 6 }] })] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Acc, m: 3, t: 2, salt: 896303922, who: Who::V, k: 0, c: 3 }, St { op: Op::Acc, m: 5, t: 3, salt: 373260847, who: Who::V, k: 6, c: 5 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 111181566, who: Who::V, k: 4, c: 5 }, St { op: Op::BitCount, m: 2, t: 2, salt: 598299447, who: Who::V, k: 3, c: 4 }, St { op: Op::Push(2), m: 1, t: 1, salt: 421161901, who: Who::V, k: 4, c: 5 }] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Push(0), m: 4, t: 2, salt: 751910612, who: Who::Src, k: 7, c: 2 }, St { op: Op::OwnE, m: 3, t: 3, salt: 805565149, who: Who::Src, k: 0, c: 2 }, St { op: Op::Push(2), m: 2, t: 2, salt: 97441382, who: Who::Src, k: 0, c: 8 }, St { op: Op::Push(1), m: 1, t: 1, salt: 69249738, who: Who::Src, k: 2, c: 8 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 3, t: 1, salt: 652100658, who: Who::V, k: 4, c: 9 }, St { op: Op::ReadS, m: 1, t: 1, salt: 917094855, who: Who::V, k: 5, c: 1 }, St { op: Op::Push(1), m: 5, t: 5, salt: 162679677, who: Who::V, k: 0, c: 7 }, St { op: Op::Push(0), m: 2, t: 2, salt: 719630271, who: Who::V, k: 6, c: 9 }, St { op: Op::Push(0), m: 6, t: 1, salt: 352051583, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 5, t: 1, salt: 458441693, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Acc, m: 3, t: 1, salt: 697625426, who: Who::V, k: 1, c: 5 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::OwnS, m: 5, t: 4, salt: 14091918, who: Who::V, k: 6, c: 2 }, St { op: Op::ReadS, m: 5, t: 1, salt: 904930323, who: Who::V, k: 3, c: 2 }] })] }), It::F(Fix { id: 3, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::OwnE, m: 3, t: 3, salt: 824428330, who: Who::Src, k: 2, c: 8 }, St { op: Op::Acc, m: 5, t: 3, salt: 161044539, who: Who::Src, k: 3, c: 5 }, St { op: Op::OwnE, m: 1, t: 1, salt: 671528681, who: Who::Dst, k: 2, c: 3 }, St { op: Op::Push(2), m: 4, t: 4, salt: 292785019, who: Who::Dst, k: 5, c: 7 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(0), m: 2, t: 1, salt: 264716684, who: Who::V, k: 5, c: 7 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 920101671, who: Who::V, k: 5, c: 4 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Own, m: 2, t: 1, salt: 547713836, who: Who::V, k: 2, c: 1 }, St { op: Op::Push(2), m: 3, t: 3, salt: 952607225, who: Who::V, k: 5, c: 6 }] })] })],
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
            #[list(capacity = (node + edge(graph)) * 300 + 2000, reset = round)] l0: List<u32>,
            #[list(unique)] l1: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l2: List<u32>,
            #[output(per = node, init = 7)] o: [u64; 5],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [3, 1, 0, 4, 2, 8, 6, 9])] s: [u32; 8],
            #[scratch(per = node, bits = 64, init = true, reset = round)] b: Bits,
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
        #[fixpoint(until(round + 1 == 3 || l1.len() >= 40))]
        mod f0 {
            #[fixpoint(until(round + 1 == 3))]
            mod f1 {
                #[wave(nodes)]
                fn w0(v: Node, f0: Round, f1: Round, l1: &Push, s: &mut [u32; 8], o: &mut [u64; 5], l2: &Append<u32>, l0: &Append<u32>) {
                    let h = mix(v, f0, f1, 0, 769099813);
                    if h % 4 < 3 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 865589389);
                    if h % 4 < 4 { s.swap(3, (h % 8) as usize); }
                    let h = mix(v, f0, f1, 0, 49987575);
                    if h % 5 < 3 { o[(h % 5) as usize] += 4 + u64::from(h % 17); }
                    let h = mix(v, f0, f1, 0, 132343243);
                    if h % 8 < 1 { l2.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 817607373);
                    if h % 3 < 1 { l0.append(v + h % 3); }
                }
                #[wave(items(l1), after(w0))]
                fn w1(v: Node, f0: Round, f1: Round, o: &mut [u64; 5], acc: &Buf<Atomic<u64>>, s: &[u32; 8], b: &Bits) {
                    let h = mix(v, f0, f1, 0, 101591043);
                    if h % 4 < 4 { o[(h % 5) as usize] += 1 + u64::from(h % 17); }
                    let h = mix(v, f0, f1, 0, 464093586);
                    if h % 2 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 6); }
                    let h = mix(v, f0, f1, 0, 682889708);
                    if h % 1 < 1 { o[4] = o[4].wrapping_mul(3).wrapping_add(u64::from(s[1])); }
                    let h = mix(v, f0, f1, 0, 918650768);
                    if h % 3 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 7); }
                }
            }
            #[wave(items(l2), after(f1))]
            fn w2(x: u32, f0: Round, n: u32, l1: &Push) {
                let h = mix(x, f0, 0, 0, 91768499);
                if h % 1 < 1 { l1.push(x % n); }
                let h = mix(x, f0, 0, 0, 924306423);
                if h % 4 < 3 { l1.push(x % n); }
            }
            #[fixpoint(after(f1, w2), until(round + 1 == 2 || l2.is_empty()))]
            mod f2 {
                #[wave(nodes)]
                fn w3(v: Node, f0: Round, f2: Round, acc: &Buf<Atomic<u64>>, l1: &Push, l2: &Append<u32>, l0: &Append<u32>) {
                    let h = mix(v, f0, f2, 0, 306458920);
                    if h % 2 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
                    let h = mix(v, f0, f2, 0, 938601007);
                    if h % 3 < 3 { l1.push(v); }
                    let h = mix(v, f0, f2, 0, 788897402);
                    if h % 3 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 5); }
                    let h = mix(v, f0, f2, 0, 799416475);
                    if h % 4 < 4 { l1.push(v); }
                    let h = mix(v, f0, f2, 0, 708106709);
                    if h % 3 < 1 { l2.append(v + h % 3); }
                    let h = mix(v, f0, f2, 0, 265342403);
                    if h % 4 < 1 { l0.append(v + h % 3); }
                }
                #[fixpoint(after(w3), until(round + 1 == 3))]
                mod f3 {
                    #[wave(items(l1))]
                    fn w4(v: Node, f0: Round, f2: Round, f3: Round, l1: &Push, b: &Bits, acc: &Buf<Atomic<u64>>, s: &mut [u32; 8], l0: &Append<u32>) {
                        let h = mix(v, f0, f2, f3, 13515655);
                        if h % 4 < 3 { acc[v].fetch_add(u64::from(b.count(v)) * 6); }
                        let h = mix(v, f0, f2, f3, 74298620);
                        if h % 2 < 2 { s.swap(3, (h % 8) as usize); }
                        let h = mix(v, f0, f2, f3, 727629150);
                        if h % 4 < 1 { l1.push(v); }
                        let h = mix(v, f0, f2, f3, 985240260);
                        if h % 2 < 2 { l0.append(v + h % 3); }
                    }
                    #[wave(edges(graph, from = l1), after(w4))]
                    fn w5(at: Edge, f0: Round, f2: Round, f3: Round, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 8]>) {
                        let h = mix(at.index, f0, f2, f3, 173761932);
                        if h % 4 < 1 { acc[at.src].fetch_add(u64::from(h % 1000) + 1); }
                        let h = mix(at.index, f0, f2, f3, 810949572);
                        if h % 4 < 2 { acc[at.dst].fetch_add(u64::from(s.get(at.src)[(h % 8) as usize])); }
                    }
                }
                #[wave(items(l0), after(w3, f3))]
                fn w6(x: u32, f0: Round, f2: Round, n: u32, l2: &Append<u32>) {
                    let h = mix(x, f0, f2, 0, 301001393);
                    if h % 2 < 2 { l2.append(x % n + h % 3); }
                }
            }
            #[wave(edges(graph, from = l1), after(f1, w2, f2))]
            fn w7(at: Edge, f0: Round, l1: &Push, l0: &Append<u32>, e: &mut [u32; 3]) {
                let h = mix(at.index, f0, 0, 0, 10897723);
                if h % 2 < 1 { l0.append(at.dst + h % 3); }
                let h = mix(at.index, f0, 0, 0, 310756011);
                if h % 1 < 1 { l1.push(at.src); }
                let h = mix(at.index, f0, 0, 0, 251028202);
                if h % 3 < 3 { l1.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 221042158);
                if h % 2 < 1 { e[2] = e[2] * 3 + 6 + h % 7; }
            }
        }
        #[wave(nodes, after(f0))]
        fn w8(v: Node, s: &[u32; 8], o: &mut [u64; 5], l1: &Push, l2: &Append<u32>) {
            let h = mix(v, 0, 0, 0, 168833203);
            if h % 4 < 1 { o[2] = o[2].wrapping_mul(3).wrapping_add(u64::from(s[3])); }
            let h = mix(v, 0, 0, 0, 43171800);
            if h % 4 < 1 { l1.push(v); }
            let h = mix(v, 0, 0, 0, 495031236);
            if h % 9 < 1 { l2.append(v + h % 3); }
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
            lists: vec![(false, Some(0)), (true, None), (false, None)], frontier: None,
            no: 5, ns: 8, ne: 3, bw: 64, binit: true, sinit: vec![3, 1, 0, 4, 2, 8, 6, 9], s_owner: None, b_owner: Some(0),
            root: vec![It::F(Fix { id: 0, times: 3, ask: Some((1, 40, false)), items: vec![It::F(Fix { id: 1, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 4, t: 3, salt: 769099813, who: Who::V, k: 3, c: 6 }, St { op: Op::Swap, m: 4, t: 4, salt: 865589389, who: Who::V, k: 3, c: 8 }, St { op: Op::Own, m: 5, t: 3, salt: 49987575, who: Who::V, k: 3, c: 4 }, St { op: Op::Push(2), m: 8, t: 1, salt: 132343243, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 3, t: 1, salt: 817607373, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Own, m: 4, t: 4, salt: 101591043, who: Who::V, k: 3, c: 1 }, St { op: Op::Acc, m: 2, t: 1, salt: 464093586, who: Who::V, k: 7, c: 6 }, St { op: Op::ReadS, m: 1, t: 1, salt: 682889708, who: Who::V, k: 4, c: 9 }, St { op: Op::BitCount, m: 3, t: 2, salt: 918650768, who: Who::V, k: 2, c: 7 }] })] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 91768499, who: Who::V, k: 4, c: 7 }, St { op: Op::Push(1), m: 4, t: 3, salt: 924306423, who: Who::V, k: 0, c: 7 }] }), It::F(Fix { id: 2, times: 2, ask: Some((2, 9, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 2, t: 1, salt: 306458920, who: Who::V, k: 3, c: 3 }, St { op: Op::Push(1), m: 3, t: 3, salt: 938601007, who: Who::V, k: 4, c: 8 }, St { op: Op::Acc, m: 3, t: 2, salt: 788897402, who: Who::V, k: 5, c: 5 }, St { op: Op::Push(1), m: 4, t: 4, salt: 799416475, who: Who::V, k: 5, c: 1 }, St { op: Op::Push(2), m: 3, t: 1, salt: 708106709, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 4, t: 1, salt: 265342403, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 3, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::BitCount, m: 4, t: 3, salt: 13515655, who: Who::V, k: 6, c: 6 }, St { op: Op::Swap, m: 2, t: 2, salt: 74298620, who: Who::V, k: 3, c: 7 }, St { op: Op::Push(1), m: 4, t: 1, salt: 727629150, who: Who::V, k: 7, c: 4 }, St { op: Op::Push(0), m: 2, t: 2, salt: 985240260, who: Who::V, k: 1, c: 7 }] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Acc, m: 4, t: 1, salt: 173761932, who: Who::Src, k: 5, c: 1 }, St { op: Op::RecS, m: 4, t: 2, salt: 810949572, who: Who::Dst, k: 6, c: 4 }] })] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Push(2), m: 2, t: 2, salt: 301001393, who: Who::V, k: 2, c: 9 }] })] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Push(0), m: 2, t: 1, salt: 10897723, who: Who::Dst, k: 6, c: 2 }, St { op: Op::Push(1), m: 1, t: 1, salt: 310756011, who: Who::Src, k: 4, c: 3 }, St { op: Op::Push(1), m: 3, t: 3, salt: 251028202, who: Who::Dst, k: 7, c: 4 }, St { op: Op::OwnE, m: 2, t: 1, salt: 221042158, who: Who::Dst, k: 5, c: 6 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::ReadS, m: 4, t: 1, salt: 168833203, who: Who::V, k: 7, c: 3 }, St { op: Op::Push(1), m: 4, t: 1, salt: 43171800, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 9, t: 1, salt: 495031236, who: Who::V, k: 0, c: 1 }] })],
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
            #[list(unique, reset = round)] l1: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 5],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [2, 0, 6, 6])] s: [u32; 4],
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
            #[fixpoint(until(round + 1 == 3 || l0.len() >= 25))]
            mod f1 {
                #[wave(nodes)]
                fn w0(v: Node, f0: Round, f1: Round, l1: &Push, b: &Bits, s: &mut [u32; 4], l0: &Push) {
                    let h = mix(v, f0, f1, 0, 388484305);
                    if h % 2 < 1 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 15527656);
                    if h % 1 < 1 { b.unset(v, h % 32); }
                    let h = mix(v, f0, f1, 0, 435714991);
                    if h % 4 < 2 { s[((h >> 3) % 4) as usize] += 2 + h % 5; }
                    let h = mix(v, f0, f1, 0, 247109783);
                    if h % 6 < 1 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 113266856);
                    if h % 2 < 1 { l1.push(v); }
                }
                #[wave(items(l0), after(w0))]
                fn w1(v: Node, f0: Round, f1: Round, l0: &Push, b: &Bits, acc: &Buf<Atomic<u64>>) {
                    let h = mix(v, f0, f1, 0, 810006111);
                    if h % 3 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 5); }
                    let h = mix(v, f0, f1, 0, 301882991);
                    if h % 4 < 2 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 38238505);
                    if h % 5 < 3 { b.unset(v, h % 32); }
                    let h = mix(v, f0, f1, 0, 809675463);
                    if h % 4 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 6); }
                }
                #[fixpoint(after(w0, w1), until(round + 1 == 3))]
                mod f2 {
                    #[wave(nodes)]
                    fn w2(v: Node, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, b: &Bits, l1: &Push, l0: &Push) {
                        let h = mix(v, f0, f1, f2, 150338624);
                        if h % 3 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 6); }
                        let h = mix(v, f0, f1, f2, 928987215);
                        if h % 4 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 8); }
                        let h = mix(v, f0, f1, f2, 874702022);
                        if h % 2 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
                        let h = mix(v, f0, f1, f2, 117551407);
                        if h % 4 < 4 { b.unset(v, h % 32); }
                        let h = mix(v, f0, f1, f2, 526695296);
                        if h % 8 < 1 { l1.push(v); }
                        let h = mix(v, f0, f1, f2, 795896331);
                        if h % 4 < 1 { l0.push(v); }
                    }
                    #[wave(nodes)]
                    fn w3(v: Node, f0: Round, f1: Round, f2: Round, s: &[u32; 4], o: &mut [u64; 5]) {
                        let h = mix(v, f0, f1, f2, 613145242);
                        if h % 5 < 4 { o[2] = o[2].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                    }
                    #[wave(nodes, after(w3))]
                    fn w4(v: Node, f0: Round, f1: Round, f2: Round, o: &mut [u64; 5], acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f0, f1, f2, 276116750);
                        if h % 5 < 4 { o[(h % 5) as usize] += 9 + u64::from(h % 17); }
                        let h = mix(v, f0, f1, f2, 608636607);
                        if h % 5 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
                        let h = mix(v, f0, f1, f2, 876520920);
                        if h % 2 < 2 { o[(h % 5) as usize] += 5 + u64::from(h % 17); }
                    }
                }
                #[wave(items(l0), after(w0, w1, f2))]
                fn w5(v: Node, f0: Round, f1: Round, b: &Bits) {
                    let h = mix(v, f0, f1, 0, 551544912);
                    if h % 3 < 2 { b.unset(v, h % 32); }
                }
            }
            #[wave(items(l1), after(f1))]
            fn w6(v: Node, f0: Round, l0: &Push, b: &Bits) {
                let h = mix(v, f0, 0, 0, 976672195);
                if h % 5 < 5 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 364390152);
                if h % 5 < 5 { b.unset(v, h % 32); }
            }
            #[wave(items(l1), after(f1, w6))]
            fn w7(v: Node, f0: Round, b: &Bits, acc: &Buf<Atomic<u64>>) {
                let h = mix(v, f0, 0, 0, 731050235);
                if h % 2 < 1 { b.unset(v, h % 32); }
                let h = mix(v, f0, 0, 0, 716130646);
                if h % 2 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 1); }
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
            lists: vec![(true, Some(0)), (true, Some(0))], frontier: None,
            no: 5, ns: 4, ne: 8, bw: 32, binit: true, sinit: vec![2, 0, 6, 6], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 3, ask: None, items: vec![It::F(Fix { id: 1, times: 3, ask: Some((0, 25, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 2, t: 1, salt: 388484305, who: Who::V, k: 7, c: 4 }, St { op: Op::BitSet, m: 1, t: 1, salt: 15527656, who: Who::V, k: 7, c: 8 }, St { op: Op::OwnS, m: 4, t: 2, salt: 435714991, who: Who::V, k: 2, c: 2 }, St { op: Op::Push(0), m: 6, t: 1, salt: 247109783, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 2, t: 1, salt: 113266856, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::BitCount, m: 3, t: 2, salt: 810006111, who: Who::V, k: 4, c: 5 }, St { op: Op::Push(0), m: 4, t: 2, salt: 301882991, who: Who::V, k: 5, c: 5 }, St { op: Op::BitSet, m: 5, t: 3, salt: 38238505, who: Who::V, k: 4, c: 4 }, St { op: Op::Acc, m: 4, t: 2, salt: 809675463, who: Who::V, k: 0, c: 6 }] }), It::F(Fix { id: 2, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 3, t: 1, salt: 150338624, who: Who::V, k: 4, c: 6 }, St { op: Op::Acc, m: 4, t: 2, salt: 928987215, who: Who::V, k: 0, c: 8 }, St { op: Op::Acc, m: 2, t: 1, salt: 874702022, who: Who::V, k: 7, c: 3 }, St { op: Op::BitSet, m: 4, t: 4, salt: 117551407, who: Who::V, k: 4, c: 2 }, St { op: Op::Push(1), m: 8, t: 1, salt: 526695296, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 4, t: 1, salt: 795896331, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::ReadS, m: 5, t: 4, salt: 613145242, who: Who::V, k: 2, c: 4 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Own, m: 5, t: 4, salt: 276116750, who: Who::V, k: 5, c: 9 }, St { op: Op::Acc, m: 5, t: 3, salt: 608636607, who: Who::V, k: 0, c: 3 }, St { op: Op::Own, m: 2, t: 2, salt: 876520920, who: Who::V, k: 5, c: 5 }] })] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::BitSet, m: 3, t: 2, salt: 551544912, who: Who::V, k: 0, c: 5 }] })] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(0), m: 5, t: 5, salt: 976672195, who: Who::V, k: 3, c: 1 }, St { op: Op::BitSet, m: 5, t: 5, salt: 364390152, who: Who::V, k: 4, c: 2 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::BitSet, m: 2, t: 1, salt: 731050235, who: Who::V, k: 6, c: 6 }, St { op: Op::BitCount, m: 2, t: 2, salt: 716130646, who: Who::V, k: 2, c: 1 }] })] })],
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
            #[list(unique)] l0: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l1: List<u32>,
            #[list(unique)] l2: List<Node>,
            #[list(unique, reset = round)] l3: List<Node>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 5],
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
        #[fixpoint(until(round + 1 == 1 || l0.len() >= 18))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, l2: &Push, l3: &Push, l0: &Push) {
                let h = mix(v, f0, 0, 0, 340914459);
                if h % 2 < 1 { l2.push(v); }
                let h = mix(v, f0, 0, 0, 399931605);
                if h % 8 < 1 { l3.push(v); }
                let h = mix(v, f0, 0, 0, 334111886);
                if h % 4 < 1 { l0.push(v); }
            }
            #[wave(edges(graph, from = l0), after(w0))]
            fn w1(at: Edge, f0: Round, l0: &Push, l3: &Push, acc: &Buf<Atomic<u64>>, lf: &Push) {
                let h = mix(at.index, f0, 0, 0, 787720460);
                if h % 5 < 2 { l0.push(at.src); }
                let h = mix(at.index, f0, 0, 0, 810188537);
                if h % 3 < 3 { l3.push(at.src); }
                let h = mix(at.index, f0, 0, 0, 579900624);
                if h % 5 < 5 { acc[at.dst].fetch_add(u64::from(h % 1000) + 8); }
                let h = mix(at.index, f0, 0, 0, 694424962);
                if h % 4 < 4 { lf.push(at.src); }
            }
            #[fixpoint(after(w0, w1), until(round + 1 == 2 || l0.is_empty()))]
            mod f1 {
                #[wave(nodes)]
                fn w2(v: Node, f0: Round, f1: Round, l3: &Push, l1: &Append<u32>, l2: &Push) {
                    let h = mix(v, f0, f1, 0, 192329930);
                    if h % 1 < 1 { l3.push(v); }
                    let h = mix(v, f0, f1, 0, 603592419);
                    if h % 5 < 1 { l1.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 523805378);
                    if h % 5 < 1 { l2.push(v); }
                }
                #[wave(edges(graph, from = lf))]
                fn w3(at: Edge, f0: Round, f1: Round, acc: &Buf<Atomic<u64>>) {
                    let h = mix(at.index, f0, f1, 0, 477739522);
                    if h % 1 < 1 { acc[at.dst].fetch_add(u64::from(h % 1000) + 8); }
                    let h = mix(at.index, f0, f1, 0, 267613018);
                    if h % 4 < 1 { acc[at.dst].fetch_add(u64::from(h % 1000) + 9); }
                }
            }
        }
        #[wave(nodes, after(f0))]
        fn w4(v: Node, l1: &Append<u32>, l0: &Push, l2: &Push) {
            let h = mix(v, 0, 0, 0, 872012246);
            if h % 3 < 3 { l1.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 158197352);
            if h % 3 < 1 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 724481);
            if h % 5 < 5 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 736700335);
            if h % 2 < 1 { l2.push(v); }
            let h = mix(v, 0, 0, 0, 493494502);
            if h % 3 < 1 { l1.append(v + h % 3); }
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
            lists: vec![(true, None), (false, None), (true, None), (true, Some(0))], frontier: Some(1),
            no: 5, ns: 7, ne: 3, bw: 33, binit: false, sinit: vec![2, 2, 5, 3, 2, 7, 6], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 1, ask: Some((0, 18, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 2, t: 1, salt: 340914459, who: Who::V, k: 3, c: 3 }, St { op: Op::Push(3), m: 8, t: 1, salt: 399931605, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 4, t: 1, salt: 334111886, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(0), m: 5, t: 2, salt: 787720460, who: Who::Src, k: 0, c: 3 }, St { op: Op::Push(3), m: 3, t: 3, salt: 810188537, who: Who::Src, k: 0, c: 2 }, St { op: Op::Acc, m: 5, t: 5, salt: 579900624, who: Who::Dst, k: 4, c: 8 }, St { op: Op::Push(99), m: 4, t: 4, salt: 694424962, who: Who::Src, k: 5, c: 2 }] }), It::F(Fix { id: 1, times: 2, ask: Some((0, 12, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(3), m: 1, t: 1, salt: 192329930, who: Who::V, k: 6, c: 7 }, St { op: Op::Push(1), m: 5, t: 1, salt: 603592419, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 5, t: 1, salt: 523805378, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(99), ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 477739522, who: Who::Dst, k: 0, c: 8 }, St { op: Op::Acc, m: 4, t: 1, salt: 267613018, who: Who::Dst, k: 2, c: 9 }] })] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 3, t: 3, salt: 872012246, who: Who::V, k: 4, c: 3 }, St { op: Op::Push(0), m: 3, t: 1, salt: 158197352, who: Who::V, k: 2, c: 3 }, St { op: Op::Push(0), m: 5, t: 5, salt: 724481, who: Who::V, k: 0, c: 2 }, St { op: Op::Push(2), m: 2, t: 1, salt: 736700335, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 3, t: 1, salt: 493494502, who: Who::V, k: 0, c: 1 }] })],
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
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l0: List<u32>,
            #[list(unique)] l1: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l2: List<u32>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000, reset = round)] l3: List<u32>,
            #[output(per = node, init = 7)] o: [u64; 5],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [2, 3])] s: [u32; 2],
            #[scratch(per = node, bits = 32)] b: Bits,
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
        #[fixpoint(until(round + 1 == 3 || l1.len() >= 37))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, s: &[u32; 2], o: &mut [u64; 5], l2: &Append<u32>, l1: &Push) {
                let h = mix(v, f0, 0, 0, 642690400);
                if h % 3 < 1 { o[1] = o[1].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                let h = mix(v, f0, 0, 0, 693497518);
                if h % 2 < 1 { l2.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 635528735);
                if h % 8 < 1 { l1.push(v); }
            }
            #[wave(items(l0))]
            fn w1(x: u32, f0: Round, n: u32, l2: &Append<u32>, acc: &Buf<Atomic<u64>>, l1: &Push) {
                let h = mix(x, f0, 0, 0, 804937329);
                if h % 5 < 2 { l2.append(x % n + h % 3); }
                let h = mix(x, f0, 0, 0, 612289985);
                if h % 2 < 1 { acc[x % n].fetch_add(u64::from(h % 1000) + 7); }
                let h = mix(x, f0, 0, 0, 103130576);
                if h % 2 < 2 { l1.push(x % n); }
                let h = mix(x, f0, 0, 0, 554492247);
                if h % 5 < 3 { l1.push(x % n); }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 3))]
        mod f1 {
            #[fixpoint(until(round + 1 == 3))]
            mod f2 {
                #[wave(nodes)]
                fn w2(v: Node, f1: Round, f2: Round, l3: &Append<u32>, l1: &Push, l0: &Append<u32>, o: &mut [u64; 5]) {
                    let h = mix(v, f1, f2, 0, 123373134);
                    if h % 3 < 2 { l3.append(v + h % 3); }
                    let h = mix(v, f1, f2, 0, 846757969);
                    if h % 4 < 1 { l1.push(v); }
                    let h = mix(v, f1, f2, 0, 960857361);
                    if h % 1 < 1 { l0.append(v + h % 3); }
                    let h = mix(v, f1, f2, 0, 882061181);
                    if h % 4 < 2 { o[(h % 5) as usize] += 8 + u64::from(h % 17); }
                    let h = mix(v, f1, f2, 0, 570668659);
                    if h % 6 < 1 { l0.append(v + h % 3); }
                    let h = mix(v, f1, f2, 0, 845969400);
                    if h % 3 < 1 { l3.append(v + h % 3); }
                }
                #[wave(items(l2))]
                fn w3(x: u32, f1: Round, f2: Round, n: u32, l0: &Append<u32>) {
                    let h = mix(x, f1, f2, 0, 545734336);
                    if h % 4 < 4 { l0.append(x % n + h % 3); }
                }
                #[wave(items(l1), after(w2))]
                fn w4(v: Node, f1: Round, f2: Round, s: &mut [u32; 2], b: &Bits, acc: &Buf<Atomic<u64>>) {
                    let h = mix(v, f1, f2, 0, 995628138);
                    if h % 4 < 4 { s.swap(0, (h % 2) as usize); }
                    let h = mix(v, f1, f2, 0, 632716727);
                    if h % 2 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 3); }
                }
                #[fixpoint(after(w3), until(round + 1 == 1))]
                mod f3 {
                    #[wave(nodes)]
                    fn w5(v: Node, f1: Round, f2: Round, f3: Round, b: &Bits, acc: &Buf<Atomic<u64>>, l2: &Append<u32>, l0: &Append<u32>) {
                        let h = mix(v, f1, f2, f3, 223793726);
                        if h % 4 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 9); }
                        let h = mix(v, f1, f2, f3, 981851967);
                        if h % 3 < 1 { l2.append(v + h % 3); }
                        let h = mix(v, f1, f2, f3, 569789386);
                        if h % 4 < 1 { l0.append(v + h % 3); }
                    }
                    #[wave(nodes)]
                    fn w6(v: Node, f1: Round, f2: Round, f3: Round, l2: &Append<u32>, acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f1, f2, f3, 907489271);
                        if h % 4 < 2 { l2.append(v + h % 3); }
                        let h = mix(v, f1, f2, f3, 164674844);
                        if h % 3 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 7); }
                    }
                }
            }
            #[wave(nodes, after(f2))]
            fn w7(v: Node, f1: Round, l3: &Append<u32>, l0: &Append<u32>, l1: &Push) {
                let h = mix(v, f1, 0, 0, 61074512);
                if h % 2 < 2 { l3.append(v + h % 3); }
                let h = mix(v, f1, 0, 0, 556023323);
                if h % 2 < 1 { l0.append(v + h % 3); }
                let h = mix(v, f1, 0, 0, 186968333);
                if h % 2 < 1 { l1.push(v); }
            }
        }
        #[wave(items(l2), after(f0, f1))]
        fn w8(x: u32, n: u32, acc: &Buf<Atomic<u64>>) {
            let h = mix(x, 0, 0, 0, 675340207);
            if h % 4 < 4 { acc[x % n].fetch_add(u64::from(h % 1000) + 6); }
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
            lists: vec![(false, None), (true, None), (false, None), (false, Some(1))], frontier: None,
            no: 5, ns: 2, ne: 3, bw: 32, binit: false, sinit: vec![2, 3], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 3, ask: Some((1, 37, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::ReadS, m: 3, t: 1, salt: 642690400, who: Who::V, k: 1, c: 4 }, St { op: Op::Push(2), m: 2, t: 1, salt: 693497518, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 8, t: 1, salt: 635528735, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Push(2), m: 5, t: 2, salt: 804937329, who: Who::V, k: 2, c: 9 }, St { op: Op::Acc, m: 2, t: 1, salt: 612289985, who: Who::V, k: 0, c: 7 }, St { op: Op::Push(1), m: 2, t: 2, salt: 103130576, who: Who::V, k: 0, c: 7 }, St { op: Op::Push(1), m: 5, t: 3, salt: 554492247, who: Who::V, k: 7, c: 3 }] })] }), It::F(Fix { id: 1, times: 3, ask: None, items: vec![It::F(Fix { id: 2, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(3), m: 3, t: 2, salt: 123373134, who: Who::V, k: 1, c: 9 }, St { op: Op::Push(1), m: 4, t: 1, salt: 846757969, who: Who::V, k: 6, c: 6 }, St { op: Op::Push(0), m: 1, t: 1, salt: 960857361, who: Who::V, k: 4, c: 1 }, St { op: Op::Own, m: 4, t: 2, salt: 882061181, who: Who::V, k: 4, c: 8 }, St { op: Op::Push(0), m: 6, t: 1, salt: 570668659, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(3), m: 3, t: 1, salt: 845969400, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(0), m: 4, t: 4, salt: 545734336, who: Who::V, k: 1, c: 7 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Swap, m: 4, t: 4, salt: 995628138, who: Who::V, k: 4, c: 8 }, St { op: Op::BitCount, m: 2, t: 1, salt: 632716727, who: Who::V, k: 3, c: 3 }] }), It::F(Fix { id: 3, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitCount, m: 4, t: 2, salt: 223793726, who: Who::V, k: 4, c: 9 }, St { op: Op::Push(2), m: 3, t: 1, salt: 981851967, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 4, t: 1, salt: 569789386, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 4, t: 2, salt: 907489271, who: Who::V, k: 3, c: 7 }, St { op: Op::Acc, m: 3, t: 3, salt: 164674844, who: Who::V, k: 3, c: 7 }] })] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(3), m: 2, t: 2, salt: 61074512, who: Who::V, k: 1, c: 4 }, St { op: Op::Push(0), m: 2, t: 1, salt: 556023323, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 2, t: 1, salt: 186968333, who: Who::V, k: 0, c: 1 }] })] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Acc, m: 4, t: 4, salt: 675340207, who: Who::V, k: 2, c: 6 }] })],
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
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l0: List<u32>,
            #[list(unique)] l1: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 8],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [7], reset = round)] s: [u32; 1],
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
        #[wave(nodes)]
        fn w0(v: Node, l1: &Push, l0: &Append<u32>) {
            let h = mix(v, 0, 0, 0, 504571644);
            if h % 4 < 4 { l1.push(v); }
            let h = mix(v, 0, 0, 0, 490250023);
            if h % 5 < 1 { l1.push(v); }
            let h = mix(v, 0, 0, 0, 789668413);
            if h % 3 < 1 { l0.append(v + h % 3); }
        }
        #[fixpoint(after(w0), until(round + 1 == 3 || l1.is_empty()))]
        mod f0 {
            #[wave(nodes)]
            fn w1(v: Node, f0: Round, l1: &Push, acc: &Buf<Atomic<u64>>, l0: &Append<u32>) {
                let h = mix(v, f0, 0, 0, 40310653);
                if h % 5 < 2 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 854023970);
                if h % 3 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 5); }
                let h = mix(v, f0, 0, 0, 19033011);
                if h % 6 < 1 { l0.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 466622679);
                if h % 6 < 1 { l1.push(v); }
            }
            #[wave(edges(graph, from = l1), after(w1))]
            fn w2(at: Edge, f0: Round, l1: &Push, acc: &Buf<Atomic<u64>>) {
                let h = mix(at.index, f0, 0, 0, 288518121);
                if h % 1 < 1 { acc[at.dst].fetch_add(u64::from(h % 1000) + 4); }
                let h = mix(at.index, f0, 0, 0, 820572653);
                if h % 5 < 4 { acc[at.src].fetch_add(u64::from(h % 1000) + 9); }
                let h = mix(at.index, f0, 0, 0, 206093277);
                if h % 2 < 1 { l1.push(at.src); }
            }
            #[wave(nodes)]
            fn w3(v: Node, f0: Round, s: &mut [u32; 1], b: &Bits, acc: &Buf<Atomic<u64>>, o: &mut [u64; 8]) {
                let h = mix(v, f0, 0, 0, 775636429);
                if h % 3 < 1 { s.swap(0, (h % 1) as usize); }
                let h = mix(v, f0, 0, 0, 918054962);
                if h % 5 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 1); }
                let h = mix(v, f0, 0, 0, 201480562);
                if h % 1 < 1 { s.swap(0, (h % 1) as usize); }
                let h = mix(v, f0, 0, 0, 232930912);
                if h % 5 < 5 { o[(h % 8) as usize] += 7 + u64::from(h % 17); }
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
            lists: vec![(false, None), (true, None)], frontier: None,
            no: 8, ns: 1, ne: 3, bw: 33, binit: true, sinit: vec![7], s_owner: Some(0), b_owner: Some(0),
            root: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 4, t: 4, salt: 504571644, who: Who::V, k: 2, c: 7 }, St { op: Op::Push(1), m: 5, t: 1, salt: 490250023, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 3, t: 1, salt: 789668413, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 0, times: 3, ask: Some((1, 20, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 5, t: 2, salt: 40310653, who: Who::V, k: 2, c: 8 }, St { op: Op::Acc, m: 3, t: 3, salt: 854023970, who: Who::V, k: 1, c: 5 }, St { op: Op::Push(0), m: 6, t: 1, salt: 19033011, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 6, t: 1, salt: 466622679, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 288518121, who: Who::Dst, k: 2, c: 4 }, St { op: Op::Acc, m: 5, t: 4, salt: 820572653, who: Who::Src, k: 3, c: 9 }, St { op: Op::Push(1), m: 2, t: 1, salt: 206093277, who: Who::Src, k: 3, c: 4 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Swap, m: 3, t: 1, salt: 775636429, who: Who::V, k: 0, c: 8 }, St { op: Op::BitCount, m: 5, t: 2, salt: 918054962, who: Who::V, k: 0, c: 1 }, St { op: Op::Swap, m: 1, t: 1, salt: 201480562, who: Who::V, k: 5, c: 2 }, St { op: Op::Own, m: 5, t: 5, salt: 232930912, who: Who::V, k: 5, c: 7 }] })] })],
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
            #[output(per = node, init = 7)] o: [u64; 3],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [1, 6, 5, 8], reset = round)] s: [u32; 4],
            #[scratch(per = node, bits = 1, init = true, reset = round)] b: Bits,
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
        #[fixpoint(until(round + 1 == 2))]
        mod f0 {
            #[wave(edges(graph, from = l2))]
            fn w0(at: Edge, f0: Round, l2: &Push, e: &mut [u32; 8], l1: &Append<u32>) {
                let h = mix(at.index, f0, 0, 0, 60608256);
                if h % 4 < 4 { l2.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 661659479);
                if h % 1 < 1 { e[1] = e[1] * 3 + 2 + h % 7; }
                let h = mix(at.index, f0, 0, 0, 393493882);
                if h % 3 < 2 { l1.append(at.dst + h % 3); }
            }
            #[wave(edges(graph, from = l2), after(w0))]
            fn w1(at: Edge, f0: Round, l1: &Append<u32>) {
                let h = mix(at.index, f0, 0, 0, 587962341);
                if h % 4 < 3 { l1.append(at.src + h % 3); }
            }
            #[wave(nodes)]
            fn w2(v: Node, f0: Round, l1: &Append<u32>) {
                let h = mix(v, f0, 0, 0, 737124560);
                if h % 4 < 4 { l1.append(v + h % 3); }
            }
            #[fixpoint(after(w0, w1), until(round + 1 == 3))]
            mod f1 {
                #[wave(nodes)]
                fn w3(v: Node, f0: Round, f1: Round, l0: &Push, o: &mut [u64; 3], l2: &Push, l1: &Append<u32>) {
                    let h = mix(v, f0, f1, 0, 676645250);
                    if h % 3 < 1 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 770672136);
                    if h % 2 < 1 { o[(h % 3) as usize] += 9 + u64::from(h % 17); }
                    let h = mix(v, f0, f1, 0, 624828484);
                    if h % 4 < 1 { l2.push(v); }
                    let h = mix(v, f0, f1, 0, 168043833);
                    if h % 4 < 1 { l1.append(v + h % 3); }
                }
                #[wave(edges(graph, from = l0), after(w3))]
                fn w4(at: Edge, f0: Round, f1: Round, l2: &Push) {
                    let h = mix(at.index, f0, f1, 0, 485295313);
                    if h % 1 < 1 { l2.push(at.src); }
                }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 3))]
        mod f2 {
            #[wave(nodes)]
            fn w5(v: Node, f2: Round, b: &Bits, l1: &Append<u32>, l0: &Push, l2: &Push) {
                let h = mix(v, f2, 0, 0, 563402364);
                if h % 1 < 1 { b.unset(v, h % 1); }
                let h = mix(v, f2, 0, 0, 565666263);
                if h % 5 < 3 { l1.append(v + h % 3); }
                let h = mix(v, f2, 0, 0, 513783595);
                if h % 1 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f2, 0, 0, 142428105);
                if h % 7 < 1 { l0.push(v); }
                let h = mix(v, f2, 0, 0, 244148318);
                if h % 5 < 1 { l2.push(v); }
            }
            #[wave(items(l2), after(w5))]
            fn w6(v: Node, f2: Round, b: &Bits, s: &[u32; 4], o: &mut [u64; 3], l1: &Append<u32>) {
                let h = mix(v, f2, 0, 0, 822738862);
                if h % 3 < 3 { b.unset(v, h % 1); }
                let h = mix(v, f2, 0, 0, 590870961);
                if h % 3 < 3 { o[2] = o[2].wrapping_mul(3).wrapping_add(u64::from(s[1])); }
                let h = mix(v, f2, 0, 0, 961334444);
                if h % 5 < 3 { o[1] = o[1].wrapping_mul(3).wrapping_add(u64::from(s[1])); }
                let h = mix(v, f2, 0, 0, 591921899);
                if h % 1 < 1 { l1.append(v + h % 3); }
            }
            #[wave(edges(graph, from = lf))]
            fn w7(at: Edge, f2: Round, acc: &Buf<Atomic<u64>>, l0: &Push) {
                let h = mix(at.index, f2, 0, 0, 972041308);
                if h % 4 < 4 { acc[at.dst].fetch_add(u64::from(h % 1000) + 7); }
                let h = mix(at.index, f2, 0, 0, 849204179);
                if h % 1 < 1 { l0.push(at.src); }
                let h = mix(at.index, f2, 0, 0, 762605822);
                if h % 5 < 5 { l0.push(at.src); }
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
            no: 3, ns: 4, ne: 8, bw: 1, binit: true, sinit: vec![1, 6, 5, 8], s_owner: Some(2), b_owner: Some(2),
            root: vec![It::F(Fix { id: 0, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(2), m: 4, t: 4, salt: 60608256, who: Who::Dst, k: 6, c: 1 }, St { op: Op::OwnE, m: 1, t: 1, salt: 661659479, who: Who::Src, k: 1, c: 2 }, St { op: Op::Push(1), m: 3, t: 2, salt: 393493882, who: Who::Dst, k: 2, c: 5 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(1), m: 4, t: 3, salt: 587962341, who: Who::Src, k: 5, c: 1 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 4, t: 4, salt: 737124560, who: Who::V, k: 1, c: 7 }] }), It::F(Fix { id: 1, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 3, t: 1, salt: 676645250, who: Who::V, k: 7, c: 4 }, St { op: Op::Own, m: 2, t: 1, salt: 770672136, who: Who::V, k: 2, c: 9 }, St { op: Op::Push(2), m: 4, t: 1, salt: 624828484, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 4, t: 1, salt: 168043833, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(2), m: 1, t: 1, salt: 485295313, who: Who::Src, k: 0, c: 8 }] })] })] }), It::F(Fix { id: 2, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitSet, m: 1, t: 1, salt: 563402364, who: Who::V, k: 0, c: 3 }, St { op: Op::Push(1), m: 5, t: 3, salt: 565666263, who: Who::V, k: 1, c: 5 }, St { op: Op::Push(1), m: 1, t: 1, salt: 513783595, who: Who::V, k: 2, c: 5 }, St { op: Op::Push(0), m: 7, t: 1, salt: 142428105, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 5, t: 1, salt: 244148318, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::BitSet, m: 3, t: 3, salt: 822738862, who: Who::V, k: 0, c: 2 }, St { op: Op::ReadS, m: 3, t: 3, salt: 590870961, who: Who::V, k: 2, c: 1 }, St { op: Op::ReadS, m: 5, t: 3, salt: 961334444, who: Who::V, k: 4, c: 9 }, St { op: Op::Push(1), m: 1, t: 1, salt: 591921899, who: Who::V, k: 2, c: 6 }] }), It::W(Wave { dom: Dom::From(99), ops: vec![St { op: Op::Acc, m: 4, t: 4, salt: 972041308, who: Who::Dst, k: 5, c: 7 }, St { op: Op::Push(0), m: 1, t: 1, salt: 849204179, who: Who::Src, k: 5, c: 4 }, St { op: Op::Push(0), m: 5, t: 5, salt: 762605822, who: Who::Src, k: 5, c: 4 }] })] })],
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
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l1: List<u32>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000)] l2: List<u32>,
            #[output(per = node, init = 7)] o: [u64; 3],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [6, 7, 2, 2, 6, 7, 3, 0])] s: [u32; 8],
            #[scratch(per = node, bits = 31, reset = round)] b: Bits,
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
        #[fixpoint(until(round + 1 == 1 || l1.is_empty()))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, l1: &Append<u32>, l2: &Append<u32>) {
                let h = mix(v, f0, 0, 0, 32978172);
                if h % 2 < 1 { l1.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 355614874);
                if h % 9 < 1 { l2.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 724365769);
                if h % 4 < 1 { l1.append(v + h % 3); }
            }
            #[fixpoint(after(w0), until(round + 1 == 1))]
            mod f1 {
                #[wave(nodes)]
                fn w1(v: Node, f0: Round, f1: Round, b: &Bits, s: &[u32; 8], o: &mut [u64; 3], l2: &Append<u32>, l0: &Push) {
                    let h = mix(v, f0, f1, 0, 92719312);
                    if h % 3 < 2 { b.set(v, h % 31); }
                    let h = mix(v, f0, f1, 0, 210441361);
                    if h % 5 < 1 { o[1] = o[1].wrapping_mul(3).wrapping_add(u64::from(s[6])); }
                    let h = mix(v, f0, f1, 0, 264084695);
                    if h % 1 < 1 { l2.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 496945504);
                    if h % 5 < 4 { l2.append(v + h % 3); }
                    let h = mix(v, f0, f1, 0, 83045262);
                    if h % 7 < 1 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 271295509);
                    if h % 8 < 1 { l2.append(v + h % 3); }
                }
                #[wave(items(l2), after(w1))]
                fn w2(x: u32, f0: Round, f1: Round, n: u32, l0: &Push, acc: &Buf<Atomic<u64>>) {
                    let h = mix(x, f0, f1, 0, 916099318);
                    if h % 3 < 1 { l0.push(x % n); }
                    let h = mix(x, f0, f1, 0, 89273970);
                    if h % 3 < 3 { acc[x % n].fetch_add(u64::from(h % 1000) + 2); }
                }
                #[wave(items(l1), after(w2))]
                fn w3(x: u32, f0: Round, f1: Round, n: u32, l1: &Append<u32>, acc: &Buf<Atomic<u64>>, l2: &Append<u32>) {
                    let h = mix(x, f0, f1, 0, 572634206);
                    if h % 2 < 1 { l1.append(x % n + h % 3); }
                    let h = mix(x, f0, f1, 0, 98461136);
                    if h % 3 < 3 { l1.append(x % n + h % 3); }
                    let h = mix(x, f0, f1, 0, 406619421);
                    if h % 5 < 3 { acc[x % n].fetch_add(u64::from(h % 1000) + 5); }
                    let h = mix(x, f0, f1, 0, 578220600);
                    if h % 2 < 1 { l2.append(x % n + h % 3); }
                }
                #[fixpoint(after(w1, w2, w3), until(round + 1 == 2))]
                mod f2 {
                    #[wave(nodes)]
                    fn w4(v: Node, f0: Round, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, o: &mut [u64; 3], l0: &Push, l1: &Append<u32>) {
                        let h = mix(v, f0, f1, f2, 91184520);
                        if h % 2 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 1); }
                        let h = mix(v, f0, f1, f2, 196955494);
                        if h % 2 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 7); }
                        let h = mix(v, f0, f1, f2, 823969020);
                        if h % 2 < 2 { o[(h % 3) as usize] += 7 + u64::from(h % 17); }
                        let h = mix(v, f0, f1, f2, 250692822);
                        if h % 6 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 927026776);
                        if h % 7 < 1 { l1.append(v + h % 3); }
                    }
                    #[wave(items(l2))]
                    fn w5(x: u32, f0: Round, f1: Round, f2: Round, n: u32, l2: &Append<u32>) {
                        let h = mix(x, f0, f1, f2, 820948807);
                        if h % 3 < 3 { l2.append(x % n + h % 3); }
                    }
                    #[wave(items(l0), after(w4))]
                    fn w6(v: Node, f0: Round, f1: Round, f2: Round, l0: &Push, s: &mut [u32; 8], o: &mut [u64; 3], l1: &Append<u32>) {
                        let h = mix(v, f0, f1, f2, 775699393);
                        if h % 3 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 145232778);
                        if h % 1 < 1 { o[1] = o[1].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                        let h = mix(v, f0, f1, f2, 996112252);
                        if h % 4 < 2 { s[((h >> 3) % 8) as usize] += 7 + h % 5; }
                        let h = mix(v, f0, f1, f2, 487775629);
                        if h % 1 < 1 { l1.append(v + h % 3); }
                    }
                }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 2 || l0.len() >= 11))]
        mod f3 {
            #[wave(items(l1))]
            fn w7(x: u32, f3: Round, n: u32, l1: &Append<u32>, l0: &Push) {
                let h = mix(x, f3, 0, 0, 135785095);
                if h % 2 < 1 { l1.append(x % n + h % 3); }
                let h = mix(x, f3, 0, 0, 387428304);
                if h % 4 < 3 { l0.push(x % n); }
            }
            #[wave(edges(graph, from = l0), after(w7))]
            fn w8(at: Edge, f3: Round, l0: &Push, e: &mut [u32; 3], acc: &Buf<Atomic<u64>>, s: &Records<[u32; 8]>) {
                let h = mix(at.index, f3, 0, 0, 63084951);
                if h % 3 < 3 { e[1] = e[1] * 3 + 3 + h % 7; }
                let h = mix(at.index, f3, 0, 0, 523376066);
                if h % 1 < 1 { l0.push(at.src); }
                let h = mix(at.index, f3, 0, 0, 884561540);
                if h % 5 < 4 { acc[at.src].fetch_add(u64::from(s.get(at.dst)[(h % 8) as usize])); }
            }
            #[wave(edges(graph, from = l0), after(w7, w8))]
            fn w9(at: Edge, f3: Round, acc: &Buf<Atomic<u64>>) {
                let h = mix(at.index, f3, 0, 0, 592989834);
                if h % 2 < 1 { acc[at.src].fetch_add(u64::from(h % 1000) + 7); }
            }
        }
        #[wave(nodes, after(f0, f3))]
        fn w10(v: Node, l0: &Push, l1: &Append<u32>, o: &mut [u64; 3], l2: &Append<u32>) {
            let h = mix(v, 0, 0, 0, 141361927);
            if h % 5 < 3 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 656995822);
            if h % 4 < 1 { l1.append(v + h % 3); }
            let h = mix(v, 0, 0, 0, 762190587);
            if h % 1 < 1 { o[(h % 3) as usize] += 2 + u64::from(h % 17); }
            let h = mix(v, 0, 0, 0, 904498051);
            if h % 5 < 1 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 641317006);
            if h % 5 < 1 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 763476178);
            if h % 8 < 1 { l2.append(v + h % 3); }
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
            lists: vec![(true, None), (false, None), (false, None)], frontier: None,
            no: 3, ns: 8, ne: 3, bw: 31, binit: false, sinit: vec![6, 7, 2, 2, 6, 7, 3, 0], s_owner: None, b_owner: Some(1),
            root: vec![It::F(Fix { id: 0, times: 1, ask: Some((1, 22, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 2, t: 1, salt: 32978172, who: Who::V, k: 2, c: 7 }, St { op: Op::Push(2), m: 9, t: 1, salt: 355614874, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 4, t: 1, salt: 724365769, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 1, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitSet, m: 3, t: 2, salt: 92719312, who: Who::V, k: 7, c: 9 }, St { op: Op::ReadS, m: 5, t: 1, salt: 210441361, who: Who::V, k: 4, c: 6 }, St { op: Op::Push(2), m: 1, t: 1, salt: 264084695, who: Who::V, k: 6, c: 6 }, St { op: Op::Push(2), m: 5, t: 4, salt: 496945504, who: Who::V, k: 1, c: 9 }, St { op: Op::Push(0), m: 7, t: 1, salt: 83045262, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 8, t: 1, salt: 271295509, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(0), m: 3, t: 1, salt: 916099318, who: Who::V, k: 4, c: 3 }, St { op: Op::Acc, m: 3, t: 3, salt: 89273970, who: Who::V, k: 4, c: 2 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(1), m: 2, t: 1, salt: 572634206, who: Who::V, k: 0, c: 4 }, St { op: Op::Push(1), m: 3, t: 3, salt: 98461136, who: Who::V, k: 6, c: 7 }, St { op: Op::Acc, m: 5, t: 3, salt: 406619421, who: Who::V, k: 7, c: 5 }, St { op: Op::Push(2), m: 2, t: 1, salt: 578220600, who: Who::V, k: 4, c: 9 }] }), It::F(Fix { id: 2, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 2, t: 1, salt: 91184520, who: Who::V, k: 7, c: 1 }, St { op: Op::Acc, m: 2, t: 1, salt: 196955494, who: Who::V, k: 1, c: 7 }, St { op: Op::Own, m: 2, t: 2, salt: 823969020, who: Who::V, k: 5, c: 7 }, St { op: Op::Push(0), m: 6, t: 1, salt: 250692822, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 7, t: 1, salt: 927026776, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(2), m: 3, t: 3, salt: 820948807, who: Who::V, k: 4, c: 3 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Push(0), m: 3, t: 1, salt: 775699393, who: Who::V, k: 1, c: 1 }, St { op: Op::ReadS, m: 1, t: 1, salt: 145232778, who: Who::V, k: 7, c: 8 }, St { op: Op::OwnS, m: 4, t: 2, salt: 996112252, who: Who::V, k: 0, c: 7 }, St { op: Op::Push(1), m: 1, t: 1, salt: 487775629, who: Who::V, k: 0, c: 3 }] })] })] })] }), It::F(Fix { id: 3, times: 2, ask: Some((0, 11, false)), items: vec![It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(1), m: 2, t: 1, salt: 135785095, who: Who::V, k: 0, c: 7 }, St { op: Op::Push(0), m: 4, t: 3, salt: 387428304, who: Who::V, k: 5, c: 3 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::OwnE, m: 3, t: 3, salt: 63084951, who: Who::Dst, k: 7, c: 3 }, St { op: Op::Push(0), m: 1, t: 1, salt: 523376066, who: Who::Src, k: 3, c: 7 }, St { op: Op::RecS, m: 5, t: 4, salt: 884561540, who: Who::Src, k: 4, c: 9 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Acc, m: 2, t: 1, salt: 592989834, who: Who::Src, k: 4, c: 7 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 5, t: 3, salt: 141361927, who: Who::V, k: 3, c: 1 }, St { op: Op::Push(1), m: 4, t: 1, salt: 656995822, who: Who::V, k: 6, c: 2 }, St { op: Op::Own, m: 1, t: 1, salt: 762190587, who: Who::V, k: 7, c: 2 }, St { op: Op::Push(0), m: 5, t: 1, salt: 904498051, who: Who::V, k: 2, c: 4 }, St { op: Op::Push(0), m: 5, t: 1, salt: 641317006, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 8, t: 1, salt: 763476178, who: Who::V, k: 0, c: 1 }] })],
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
            #[output(per = node, init = 7)] o: [u64; 1],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [3, 6, 1, 5, 8, 8, 2])] s: [u32; 7],
            #[scratch(per = node, bits = 65, init = true, reset = round)] b: Bits,
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
        #[fixpoint(until(round + 1 == 3 || l0.is_empty()))]
        mod f0 {
            #[fixpoint(until(round + 1 == 1 || l0.is_empty()))]
            mod f1 {
                #[wave(nodes)]
                fn w0(v: Node, f0: Round, f1: Round, l1: &Push, s: &[u32; 7], o: &mut [u64; 1], l0: &Push) {
                    let h = mix(v, f0, f1, 0, 917744030);
                    if h % 5 < 3 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 693752935);
                    if h % 3 < 3 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[2])); }
                    let h = mix(v, f0, f1, 0, 334874518);
                    if h % 1 < 1 { l0.push(v); }
                    let h = mix(v, f0, f1, 0, 756991240);
                    if h % 3 < 1 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 892641333);
                    if h % 4 < 1 { l0.push(v); }
                }
                #[wave(items(l1), after(w0))]
                fn w1(v: Node, f0: Round, f1: Round, s: &mut [u32; 7], o: &mut [u64; 1], acc: &Buf<Atomic<u64>>, l0: &Push) {
                    let h = mix(v, f0, f1, 0, 595067929);
                    if h % 4 < 2 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[0])); }
                    let h = mix(v, f0, f1, 0, 44948752);
                    if h % 3 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 2); }
                    let h = mix(v, f0, f1, 0, 814733967);
                    if h % 1 < 1 { s[((h >> 3) % 7) as usize] += 5 + h % 5; }
                    let h = mix(v, f0, f1, 0, 130608871);
                    if h % 3 < 2 { l0.push(v); }
                }
                #[wave(items(l1), after(w0, w1))]
                fn w2(v: Node, f0: Round, f1: Round, l1: &Push, s: &mut [u32; 7], acc: &Buf<Atomic<u64>>, l0: &Push) {
                    let h = mix(v, f0, f1, 0, 534991775);
                    if h % 5 < 1 { s.swap(5, (h % 7) as usize); }
                    let h = mix(v, f0, f1, 0, 591573152);
                    if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 8); }
                    let h = mix(v, f0, f1, 0, 47661208);
                    if h % 4 < 3 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 327233736);
                    if h % 4 < 3 { l0.push(v); }
                }
                #[fixpoint(after(w0, w1, w2), until(round + 1 == 1 || l1.len() >= 13))]
                mod f2 {
                    #[wave(nodes)]
                    fn w3(v: Node, f0: Round, f1: Round, f2: Round, b: &Bits, acc: &Buf<Atomic<u64>>, l1: &Push, l0: &Push) {
                        let h = mix(v, f0, f1, f2, 189200464);
                        if h % 2 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 7); }
                        let h = mix(v, f0, f1, f2, 224937483);
                        if h % 4 < 1 { l1.push(v); }
                        let h = mix(v, f0, f1, f2, 811719641);
                        if h % 8 < 1 { l0.push(v); }
                    }
                    #[wave(items(l1), after(w3))]
                    fn w4(v: Node, f0: Round, f1: Round, f2: Round, l1: &Push) {
                        let h = mix(v, f0, f1, f2, 153703733);
                        if h % 2 < 2 { l1.push(v); }
                        let h = mix(v, f0, f1, f2, 616073550);
                        if h % 3 < 3 { l1.push(v); }
                    }
                    #[wave(items(l0), after(w3))]
                    fn w5(v: Node, f0: Round, f1: Round, f2: Round, l0: &Push, acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f0, f1, f2, 139750367);
                        if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 7); }
                        let h = mix(v, f0, f1, f2, 482056016);
                        if h % 3 < 3 { l0.push(v); }
                    }
                }
            }
            #[wave(items(l0), after(f1))]
            fn w6(v: Node, f0: Round, s: &mut [u32; 7], acc: &Buf<Atomic<u64>>, b: &Bits) {
                let h = mix(v, f0, 0, 0, 770754162);
                if h % 2 < 1 { s.swap(4, (h % 7) as usize); }
                let h = mix(v, f0, 0, 0, 735301002);
                if h % 1 < 1 { acc[v].fetch_add(u64::from(h % 1000) + 8); }
                let h = mix(v, f0, 0, 0, 678361530);
                if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 2); }
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
            fn adde(p_e: &[u32; 3], te: &mut u64) {
                for x in p_e.iter() {
                    *te = te.wrapping_mul(7).wrapping_add(u64::from(*x));
                }
            }
        }
    }
    pub fn ir() -> Ir {
        Ir {
            lists: vec![(true, None), (true, None)], frontier: None,
            no: 1, ns: 7, ne: 3, bw: 65, binit: true, sinit: vec![3, 6, 1, 5, 8, 8, 2], s_owner: None, b_owner: Some(0),
            root: vec![It::F(Fix { id: 0, times: 3, ask: Some((0, 2, true)), items: vec![It::F(Fix { id: 1, times: 1, ask: Some((0, 29, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 5, t: 3, salt: 917744030, who: Who::V, k: 4, c: 8 }, St { op: Op::ReadS, m: 3, t: 3, salt: 693752935, who: Who::V, k: 6, c: 2 }, St { op: Op::Push(0), m: 1, t: 1, salt: 334874518, who: Who::V, k: 6, c: 7 }, St { op: Op::Push(1), m: 3, t: 1, salt: 756991240, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 4, t: 1, salt: 892641333, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::ReadS, m: 4, t: 2, salt: 595067929, who: Who::V, k: 4, c: 7 }, St { op: Op::Acc, m: 3, t: 1, salt: 44948752, who: Who::V, k: 1, c: 2 }, St { op: Op::OwnS, m: 1, t: 1, salt: 814733967, who: Who::V, k: 5, c: 5 }, St { op: Op::Push(0), m: 3, t: 2, salt: 130608871, who: Who::V, k: 2, c: 9 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Swap, m: 5, t: 1, salt: 534991775, who: Who::V, k: 5, c: 2 }, St { op: Op::Acc, m: 1, t: 1, salt: 591573152, who: Who::V, k: 3, c: 8 }, St { op: Op::Push(1), m: 4, t: 3, salt: 47661208, who: Who::V, k: 2, c: 1 }, St { op: Op::Push(0), m: 4, t: 3, salt: 327233736, who: Who::V, k: 3, c: 6 }] }), It::F(Fix { id: 2, times: 1, ask: Some((1, 13, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitCount, m: 2, t: 1, salt: 189200464, who: Who::V, k: 5, c: 7 }, St { op: Op::Push(1), m: 4, t: 1, salt: 224937483, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 8, t: 1, salt: 811719641, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(1), m: 2, t: 2, salt: 153703733, who: Who::V, k: 4, c: 6 }, St { op: Op::Push(1), m: 3, t: 3, salt: 616073550, who: Who::V, k: 4, c: 4 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Acc, m: 1, t: 1, salt: 139750367, who: Who::V, k: 0, c: 7 }, St { op: Op::Push(0), m: 3, t: 3, salt: 482056016, who: Who::V, k: 2, c: 7 }] })] })] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Swap, m: 2, t: 1, salt: 770754162, who: Who::V, k: 4, c: 6 }, St { op: Op::Acc, m: 1, t: 1, salt: 735301002, who: Who::V, k: 2, c: 8 }, St { op: Op::BitCount, m: 1, t: 1, salt: 678361530, who: Who::V, k: 6, c: 2 }] })] })],
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
            #[list(unique)] l0: List<Node>,
            #[list(unique, reset = round)] l1: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 2],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [7, 7])] s: [u32; 2],
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
        #[fixpoint(until(round + 1 == 1 || l1.len() >= 35))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, s: &mut [u32; 2], b: &Bits, acc: &Buf<Atomic<u64>>, l0: &Push, l1: &Push) {
                let h = mix(v, f0, 0, 0, 496953802);
                if h % 1 < 1 { s.swap(1, (h % 2) as usize); }
                let h = mix(v, f0, 0, 0, 22474988);
                if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 1); }
                let h = mix(v, f0, 0, 0, 326315871);
                if h % 6 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 511158962);
                if h % 2 < 1 { l1.push(v); }
            }
            #[wave(items(l1), after(w0))]
            fn w1(v: Node, f0: Round, b: &Bits) {
                let h = mix(v, f0, 0, 0, 533750835);
                if h % 2 < 1 { b.unset(v, h % 65); }
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
            lists: vec![(true, None), (true, Some(0))], frontier: None,
            no: 2, ns: 2, ne: 8, bw: 65, binit: true, sinit: vec![7, 7], s_owner: None, b_owner: Some(0),
            root: vec![It::F(Fix { id: 0, times: 1, ask: Some((1, 35, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Swap, m: 1, t: 1, salt: 496953802, who: Who::V, k: 5, c: 3 }, St { op: Op::BitCount, m: 1, t: 1, salt: 22474988, who: Who::V, k: 7, c: 1 }, St { op: Op::Push(0), m: 6, t: 1, salt: 326315871, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 2, t: 1, salt: 511158962, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::BitSet, m: 2, t: 1, salt: 533750835, who: Who::V, k: 6, c: 1 }] })] })],
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
            #[list(unique)] l1: List<Node>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 3],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [4, 3])] s: [u32; 2],
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
        #[fixpoint(until(round + 1 == 2 || l1.is_empty()))]
        mod f0 {
            #[wave(edges(graph, from = lf))]
            fn w0(at: Edge, f0: Round, l1: &Push, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 2]>) {
                let h = mix(at.index, f0, 0, 0, 686706477);
                if h % 4 < 3 { l1.push(at.src); }
                let h = mix(at.index, f0, 0, 0, 657350242);
                if h % 5 < 1 { acc[at.src].fetch_add(u64::from(s.get(at.dst)[(h % 2) as usize])); }
            }
            #[wave(edges(graph))]
            fn w1(at: Edge, f0: Round, l1: &Push, l0: &Push, acc: &Buf<Atomic<u64>>) {
                let h = mix(at.index, f0, 0, 0, 281517490);
                if h % 3 < 1 { l1.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 810092110);
                if h % 4 < 2 { l0.push(at.src); }
                let h = mix(at.index, f0, 0, 0, 336966543);
                if h % 4 < 2 { acc[at.dst].fetch_add(u64::from(h % 1000) + 8); }
            }
            #[wave(items(l1), after(w0, w1))]
            fn w2(v: Node, f0: Round, b: &Bits, acc: &Buf<Atomic<u64>>, l0: &Push) {
                let h = mix(v, f0, 0, 0, 377707276);
                if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 6); }
                let h = mix(v, f0, 0, 0, 726170189);
                if h % 4 < 4 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 539891929);
                if h % 3 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 4); }
                let h = mix(v, f0, 0, 0, 175088963);
                if h % 3 < 3 { l0.push(v); }
            }
            #[wave(items(l0), after(w0, w1, w2))]
            fn w3(v: Node, f0: Round, s: &mut [u32; 2], o: &mut [u64; 3]) {
                let h = mix(v, f0, 0, 0, 421142873);
                if h % 3 < 3 { s[((h >> 3) % 2) as usize] += 4 + h % 5; }
                let h = mix(v, f0, 0, 0, 14685346);
                if h % 5 < 4 { o[1] = o[1].wrapping_mul(3).wrapping_add(u64::from(s[1])); }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 2 || l1.len() >= 26))]
        mod f1 {
            #[wave(nodes)]
            fn w4(v: Node, f1: Round, l0: &Push, b: &Bits, acc: &Buf<Atomic<u64>>, o: &mut [u64; 3], l1: &Push) {
                let h = mix(v, f1, 0, 0, 749861003);
                if h % 5 < 5 { l0.push(v); }
                let h = mix(v, f1, 0, 0, 423782484);
                if h % 4 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 5); }
                let h = mix(v, f1, 0, 0, 275068595);
                if h % 5 < 5 { o[(h % 3) as usize] += 3 + u64::from(h % 17); }
                let h = mix(v, f1, 0, 0, 934680887);
                if h % 4 < 4 { acc[v].fetch_add(u64::from(h % 1000) + 4); }
                let h = mix(v, f1, 0, 0, 768209173);
                if h % 3 < 1 { l1.push(v); }
                let h = mix(v, f1, 0, 0, 60504410);
                if h % 8 < 1 { l0.push(v); }
            }
            #[fixpoint(after(w4), until(round + 1 == 3 || l1.len() >= 34))]
            mod f2 {
                #[fixpoint(until(round + 1 == 3 || l1.len() >= 10))]
                mod f3 {
                    #[wave(nodes)]
                    fn w5(v: Node, f1: Round, f2: Round, f3: Round, l1: &Push, l0: &Push) {
                        let h = mix(v, f1, f2, f3, 942790868);
                        if h % 1 < 1 { l1.push(v); }
                        let h = mix(v, f1, f2, f3, 45931189);
                        if h % 2 < 2 { l0.push(v); }
                        let h = mix(v, f1, f2, f3, 616105251);
                        if h % 4 < 1 { l1.push(v); }
                        let h = mix(v, f1, f2, f3, 770851883);
                        if h % 2 < 1 { l0.push(v); }
                        let h = mix(v, f1, f2, f3, 635559685);
                        if h % 2 < 1 { l1.push(v); }
                    }
                    #[wave(items(l1), after(w5))]
                    fn w6(v: Node, f1: Round, f2: Round, f3: Round, b: &Bits, acc: &Buf<Atomic<u64>>, s: &[u32; 2], o: &mut [u64; 3]) {
                        let h = mix(v, f1, f2, f3, 150416695);
                        if h % 2 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 7); }
                        let h = mix(v, f1, f2, f3, 622874332);
                        if h % 1 < 1 { o[2] = o[2].wrapping_mul(3).wrapping_add(u64::from(s[1])); }
                    }
                }
                #[wave(edges(graph, from = l1), after(f3))]
                fn w7(at: Edge, f1: Round, f2: Round, l0: &Push) {
                    let h = mix(at.index, f1, f2, 0, 79551552);
                    if h % 4 < 4 { l0.push(at.src); }
                    let h = mix(at.index, f1, f2, 0, 626105210);
                    if h % 4 < 3 { l0.push(at.src); }
                }
                #[wave(nodes, after(f3, w7))]
                fn w8(v: Node, f1: Round, f2: Round, b: &Bits, acc: &Buf<Atomic<u64>>, lf: &Push, l1: &Push) {
                    let h = mix(v, f1, f2, 0, 606793181);
                    if h % 3 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 1); }
                    let h = mix(v, f1, f2, 0, 814880631);
                    if h % 2 < 1 { lf.push(v); }
                    let h = mix(v, f1, f2, 0, 428466570);
                    if h % 4 < 3 { l1.push(v); }
                }
                #[wave(edges(graph, from = l0), after(f3, w7))]
                fn w9(at: Edge, f1: Round, f2: Round, e: &mut [u32; 8]) {
                    let h = mix(at.index, f1, f2, 0, 786903888);
                    if h % 3 < 2 { e[0] = e[0] * 3 + 6 + h % 7; }
                }
            }
            #[wave(items(l1), after(w4, f2))]
            fn w10(v: Node, f1: Round, l1: &Push) {
                let h = mix(v, f1, 0, 0, 52931422);
                if h % 5 < 2 { l1.push(v); }
            }
        }
        #[wave(nodes, after(f0, f1))]
        fn w11(v: Node, l0: &Push, s: &mut [u32; 2], o: &mut [u64; 3], l1: &Push) {
            let h = mix(v, 0, 0, 0, 301439852);
            if h % 1 < 1 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 512703271);
            if h % 5 < 2 { s[((h >> 3) % 2) as usize] += 7 + h % 5; }
            let h = mix(v, 0, 0, 0, 355472357);
            if h % 1 < 1 { o[(h % 3) as usize] += 5 + u64::from(h % 17); }
            let h = mix(v, 0, 0, 0, 341792367);
            if h % 9 < 1 { l1.push(v); }
            let h = mix(v, 0, 0, 0, 675823049);
            if h % 8 < 1 { l0.push(v); }
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
            lists: vec![(true, None), (true, None)], frontier: Some(0),
            no: 3, ns: 2, ne: 8, bw: 7, binit: false, sinit: vec![4, 3], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 2, ask: Some((1, 24, true)), items: vec![It::W(Wave { dom: Dom::From(99), ops: vec![St { op: Op::Push(1), m: 4, t: 3, salt: 686706477, who: Who::Src, k: 1, c: 7 }, St { op: Op::RecS, m: 5, t: 1, salt: 657350242, who: Who::Src, k: 1, c: 4 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(1), m: 3, t: 1, salt: 281517490, who: Who::Dst, k: 6, c: 6 }, St { op: Op::Push(0), m: 4, t: 2, salt: 810092110, who: Who::Src, k: 7, c: 3 }, St { op: Op::Acc, m: 4, t: 2, salt: 336966543, who: Who::Dst, k: 3, c: 8 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::BitCount, m: 1, t: 1, salt: 377707276, who: Who::V, k: 7, c: 6 }, St { op: Op::Push(0), m: 4, t: 4, salt: 726170189, who: Who::V, k: 7, c: 8 }, St { op: Op::BitCount, m: 3, t: 1, salt: 539891929, who: Who::V, k: 7, c: 4 }, St { op: Op::Push(0), m: 3, t: 3, salt: 175088963, who: Who::V, k: 7, c: 4 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::OwnS, m: 3, t: 3, salt: 421142873, who: Who::V, k: 0, c: 4 }, St { op: Op::ReadS, m: 5, t: 4, salt: 14685346, who: Who::V, k: 4, c: 5 }] })] }), It::F(Fix { id: 1, times: 2, ask: Some((1, 26, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 5, t: 5, salt: 749861003, who: Who::V, k: 0, c: 4 }, St { op: Op::BitCount, m: 4, t: 2, salt: 423782484, who: Who::V, k: 5, c: 5 }, St { op: Op::Own, m: 5, t: 5, salt: 275068595, who: Who::V, k: 4, c: 3 }, St { op: Op::Acc, m: 4, t: 4, salt: 934680887, who: Who::V, k: 3, c: 4 }, St { op: Op::Push(1), m: 3, t: 1, salt: 768209173, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 8, t: 1, salt: 60504410, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 2, times: 3, ask: Some((1, 34, false)), items: vec![It::F(Fix { id: 3, times: 3, ask: Some((1, 10, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 942790868, who: Who::V, k: 7, c: 4 }, St { op: Op::Push(0), m: 2, t: 2, salt: 45931189, who: Who::V, k: 4, c: 4 }, St { op: Op::Push(1), m: 4, t: 1, salt: 616105251, who: Who::V, k: 2, c: 5 }, St { op: Op::Push(0), m: 2, t: 1, salt: 770851883, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 2, t: 1, salt: 635559685, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::BitCount, m: 2, t: 2, salt: 150416695, who: Who::V, k: 2, c: 7 }, St { op: Op::ReadS, m: 1, t: 1, salt: 622874332, who: Who::V, k: 5, c: 9 }] })] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Push(0), m: 4, t: 4, salt: 79551552, who: Who::Src, k: 4, c: 9 }, St { op: Op::Push(0), m: 4, t: 3, salt: 626105210, who: Who::Src, k: 2, c: 6 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitCount, m: 3, t: 1, salt: 606793181, who: Who::V, k: 1, c: 1 }, St { op: Op::Push(99), m: 2, t: 1, salt: 814880631, who: Who::V, k: 3, c: 9 }, St { op: Op::Push(1), m: 4, t: 3, salt: 428466570, who: Who::V, k: 7, c: 2 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::OwnE, m: 3, t: 2, salt: 786903888, who: Who::Src, k: 0, c: 6 }] })] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(1), m: 5, t: 2, salt: 52931422, who: Who::V, k: 6, c: 2 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 301439852, who: Who::V, k: 2, c: 4 }, St { op: Op::OwnS, m: 5, t: 2, salt: 512703271, who: Who::V, k: 0, c: 7 }, St { op: Op::Own, m: 1, t: 1, salt: 355472357, who: Who::V, k: 6, c: 5 }, St { op: Op::Push(1), m: 9, t: 1, salt: 341792367, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 8, t: 1, salt: 675823049, who: Who::V, k: 0, c: 1 }] })],
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
            #[list(unique)] l0: List<Node>,
            #[list(unique)] l1: List<Node>,
            #[list(unique)] l2: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 1],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [8])] s: [u32; 1],
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
        #[wave(nodes)]
        fn w0(v: Node, l1: &Push, acc: &Buf<Atomic<u64>>, s: &mut [u32; 1], l2: &Push, l0: &Push) {
            let h = mix(v, 0, 0, 0, 163167822);
            if h % 5 < 4 { l1.push(v); }
            let h = mix(v, 0, 0, 0, 954194910);
            if h % 2 < 2 { l1.push(v); }
            let h = mix(v, 0, 0, 0, 544302453);
            if h % 3 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 4); }
            let h = mix(v, 0, 0, 0, 16776169);
            if h % 2 < 1 { s.swap(0, (h % 1) as usize); }
            let h = mix(v, 0, 0, 0, 288813869);
            if h % 9 < 1 { l2.push(v); }
            let h = mix(v, 0, 0, 0, 132652571);
            if h % 8 < 1 { l0.push(v); }
        }
        #[fixpoint(after(w0), until(round + 1 == 2 || l2.len() >= 5))]
        mod f0 {
            #[wave(nodes)]
            fn w1(v: Node, f0: Round, l1: &Push, b: &Bits, acc: &Buf<Atomic<u64>>, l0: &Push, l2: &Push) {
                let h = mix(v, f0, 0, 0, 332624016);
                if h % 2 < 2 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 404909143);
                if h % 5 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 1); }
                let h = mix(v, f0, 0, 0, 435498408);
                if h % 2 < 2 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 188577702);
                if h % 8 < 1 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 746942055);
                if h % 4 < 1 { l2.push(v); }
            }
            #[wave(edges(graph, from = l0), after(w1))]
            fn w2(at: Edge, f0: Round, l0: &Push, l2: &Push, acc: &Buf<Atomic<u64>>, s: &Records<[u32; 1]>) {
                let h = mix(at.index, f0, 0, 0, 537230482);
                if h % 5 < 3 { l2.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 228476933);
                if h % 3 < 1 { l0.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 600940652);
                if h % 3 < 2 { acc[at.src].fetch_add(u64::from(s.get(at.dst)[(h % 1) as usize])); }
            }
        }
        #[fixpoint(after(w0, f0), until(round + 1 == 3 || l0.len() >= 8))]
        mod f1 {
            #[wave(edges(graph, from = l2))]
            fn w3(at: Edge, f1: Round, l1: &Push) {
                let h = mix(at.index, f1, 0, 0, 850699721);
                if h % 2 < 2 { l1.push(at.dst); }
            }
            #[fixpoint(after(w3), until(round + 1 == 2))]
            mod f2 {
                #[wave(nodes)]
                fn w4(v: Node, f1: Round, f2: Round, acc: &Buf<Atomic<u64>>, l0: &Push, l2: &Push) {
                    let h = mix(v, f1, f2, 0, 331372374);
                    if h % 2 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 5); }
                    let h = mix(v, f1, f2, 0, 119927925);
                    if h % 9 < 1 { l0.push(v); }
                    let h = mix(v, f1, f2, 0, 837080731);
                    if h % 2 < 1 { l2.push(v); }
                }
                #[wave(edges(graph, from = l2), after(w4))]
                fn w5(at: Edge, f1: Round, f2: Round, e: &mut [u32; 3]) {
                    let h = mix(at.index, f1, f2, 0, 257230292);
                    if h % 5 < 2 { e[1] = e[1] * 3 + 6 + h % 7; }
                }
            }
            #[fixpoint(after(w3, f2), until(round + 1 == 3 || l1.is_empty()))]
            mod f3 {
                #[wave(nodes)]
                fn w6(v: Node, f1: Round, f3: Round, l0: &Push, l1: &Push, l2: &Push) {
                    let h = mix(v, f1, f3, 0, 301372019);
                    if h % 3 < 3 { l0.push(v); }
                    let h = mix(v, f1, f3, 0, 911144585);
                    if h % 8 < 1 { l1.push(v); }
                    let h = mix(v, f1, f3, 0, 892635209);
                    if h % 7 < 1 { l2.push(v); }
                }
                #[wave(items(l2), after(w6))]
                fn w7(v: Node, f1: Round, f3: Round, o: &mut [u64; 1]) {
                    let h = mix(v, f1, f3, 0, 498069380);
                    if h % 3 < 1 { o[(h % 1) as usize] += 3 + u64::from(h % 17); }
                }
                #[wave(edges(graph, from = l1), after(w6))]
                fn w8(at: Edge, f1: Round, f3: Round, e: &mut [u32; 3], l0: &Push) {
                    let h = mix(at.index, f1, f3, 0, 703873750);
                    if h % 3 < 3 { e[1] = e[1] * 3 + 5 + h % 7; }
                    let h = mix(at.index, f1, f3, 0, 956187215);
                    if h % 5 < 3 { l0.push(at.src); }
                }
                #[wave(items(l2), after(w6))]
                fn w9(v: Node, f1: Round, f3: Round, acc: &Buf<Atomic<u64>>) {
                    let h = mix(v, f1, f3, 0, 427485632);
                    if h % 3 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
                    let h = mix(v, f1, f3, 0, 262036160);
                    if h % 2 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
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
            lists: vec![(true, None), (true, None), (true, None)], frontier: None,
            no: 1, ns: 1, ne: 3, bw: 33, binit: true, sinit: vec![8], s_owner: None, b_owner: Some(0),
            root: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 5, t: 4, salt: 163167822, who: Who::V, k: 4, c: 1 }, St { op: Op::Push(1), m: 2, t: 2, salt: 954194910, who: Who::V, k: 3, c: 1 }, St { op: Op::Acc, m: 3, t: 2, salt: 544302453, who: Who::V, k: 6, c: 4 }, St { op: Op::Swap, m: 2, t: 1, salt: 16776169, who: Who::V, k: 2, c: 8 }, St { op: Op::Push(2), m: 9, t: 1, salt: 288813869, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 8, t: 1, salt: 132652571, who: Who::V, k: 0, c: 1 }] }), It::F(Fix { id: 0, times: 2, ask: Some((2, 5, false)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(1), m: 2, t: 2, salt: 332624016, who: Who::V, k: 6, c: 5 }, St { op: Op::BitCount, m: 5, t: 2, salt: 404909143, who: Who::V, k: 6, c: 1 }, St { op: Op::Push(0), m: 2, t: 2, salt: 435498408, who: Who::V, k: 5, c: 7 }, St { op: Op::Push(1), m: 8, t: 1, salt: 188577702, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 4, t: 1, salt: 746942055, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(0), ops: vec![St { op: Op::Push(2), m: 5, t: 3, salt: 537230482, who: Who::Dst, k: 0, c: 6 }, St { op: Op::Push(0), m: 3, t: 1, salt: 228476933, who: Who::Dst, k: 2, c: 9 }, St { op: Op::RecS, m: 3, t: 2, salt: 600940652, who: Who::Src, k: 6, c: 6 }] })] }), It::F(Fix { id: 1, times: 3, ask: Some((0, 8, false)), items: vec![It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(1), m: 2, t: 2, salt: 850699721, who: Who::Dst, k: 7, c: 9 }] }), It::F(Fix { id: 2, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 2, t: 2, salt: 331372374, who: Who::V, k: 6, c: 5 }, St { op: Op::Push(0), m: 9, t: 1, salt: 119927925, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 2, t: 1, salt: 837080731, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::OwnE, m: 5, t: 2, salt: 257230292, who: Who::Src, k: 7, c: 6 }] })] }), It::F(Fix { id: 3, times: 3, ask: Some((1, 4, true)), items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(0), m: 3, t: 3, salt: 301372019, who: Who::V, k: 1, c: 3 }, St { op: Op::Push(1), m: 8, t: 1, salt: 911144585, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 7, t: 1, salt: 892635209, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Own, m: 3, t: 1, salt: 498069380, who: Who::V, k: 3, c: 3 }] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::OwnE, m: 3, t: 3, salt: 703873750, who: Who::Dst, k: 4, c: 5 }, St { op: Op::Push(0), m: 5, t: 3, salt: 956187215, who: Who::Src, k: 2, c: 9 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Acc, m: 3, t: 2, salt: 427485632, who: Who::V, k: 3, c: 3 }, St { op: Op::Acc, m: 2, t: 2, salt: 262036160, who: Who::V, k: 3, c: 3 }] })] })] })],
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
            #[list(unique)] l0: List<Node>,
            #[list(unique, reset = round)] l1: List<Node>,
            #[frontier(unique)] lf: Frontier,
            #[output(per = node, init = 7)] o: [u64; 2],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [9, 8, 2, 4, 3, 1, 9], reset = round)] s: [u32; 7],
            #[scratch(per = node, bits = 65, reset = round)] b: Bits,
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
        #[wave(edges(graph))]
        fn w0(at: Edge, acc: &Buf<Atomic<u64>>, l0: &Push) {
            let h = mix(at.index, 0, 0, 0, 31468475);
            if h % 3 < 1 { acc[at.src].fetch_add(u64::from(h % 1000) + 6); }
            let h = mix(at.index, 0, 0, 0, 620806343);
            if h % 5 < 4 { l0.push(at.dst); }
        }
        #[fixpoint(after(w0), until(round + 1 == 3))]
        mod f0 {
            #[wave(nodes)]
            fn w1(v: Node, f0: Round, lf: &Push, l0: &Push, l1: &Push) {
                let h = mix(v, f0, 0, 0, 21558318);
                if h % 4 < 1 { lf.push(v); }
                let h = mix(v, f0, 0, 0, 65034248);
                if h % 3 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 975883474);
                if h % 2 < 2 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 228429796);
                if h % 5 < 1 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 434294713);
                if h % 6 < 1 { l0.push(v); }
            }
            #[wave(items(l0), after(w1))]
            fn w2(v: Node, f0: Round, acc: &Buf<Atomic<u64>>, o: &mut [u64; 2], s: &[u32; 7], b: &Bits) {
                let h = mix(v, f0, 0, 0, 831383352);
                if h % 4 < 4 { acc[v].fetch_add(u64::from(h % 1000) + 1); }
                let h = mix(v, f0, 0, 0, 994238404);
                if h % 4 < 4 { o[(h % 2) as usize] += 4 + u64::from(h % 17); }
                let h = mix(v, f0, 0, 0, 469638475);
                if h % 3 < 3 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[3])); }
                let h = mix(v, f0, 0, 0, 592957648);
                if h % 5 < 4 { b.set(v, h % 65); }
            }
            #[wave(nodes, after(w2))]
            fn w3(v: Node, f0: Round, b: &Bits, acc: &Buf<Atomic<u64>>, l0: &Push) {
                let h = mix(v, f0, 0, 0, 780626018);
                if h % 1 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 8); }
                let h = mix(v, f0, 0, 0, 104137658);
                if h % 3 < 3 { l0.push(v); }
            }
            #[wave(edges(graph, from = lf))]
            fn w4(at: Edge, f0: Round, lf: &Push, l1: &Push) {
                let h = mix(at.index, f0, 0, 0, 138525318);
                if h % 1 < 1 { l1.push(at.src); }
                let h = mix(at.index, f0, 0, 0, 623692904);
                if h % 2 < 2 { lf.push(at.src); }
                let h = mix(at.index, f0, 0, 0, 522273040);
                if h % 4 < 1 { lf.push(at.dst); }
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
            lists: vec![(true, None), (true, Some(0))], frontier: Some(0),
            no: 2, ns: 7, ne: 3, bw: 65, binit: false, sinit: vec![9, 8, 2, 4, 3, 1, 9], s_owner: Some(0), b_owner: Some(0),
            root: vec![It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Acc, m: 3, t: 1, salt: 31468475, who: Who::Src, k: 6, c: 6 }, St { op: Op::Push(0), m: 5, t: 4, salt: 620806343, who: Who::Dst, k: 4, c: 9 }] }), It::F(Fix { id: 0, times: 3, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(99), m: 4, t: 1, salt: 21558318, who: Who::V, k: 2, c: 6 }, St { op: Op::Push(0), m: 3, t: 1, salt: 65034248, who: Who::V, k: 6, c: 6 }, St { op: Op::Push(1), m: 2, t: 2, salt: 975883474, who: Who::V, k: 3, c: 5 }, St { op: Op::Push(1), m: 5, t: 1, salt: 228429796, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(0), m: 6, t: 1, salt: 434294713, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Acc, m: 4, t: 4, salt: 831383352, who: Who::V, k: 4, c: 1 }, St { op: Op::Own, m: 4, t: 4, salt: 994238404, who: Who::V, k: 6, c: 4 }, St { op: Op::ReadS, m: 3, t: 3, salt: 469638475, who: Who::V, k: 2, c: 3 }, St { op: Op::BitSet, m: 5, t: 4, salt: 592957648, who: Who::V, k: 5, c: 9 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitCount, m: 1, t: 1, salt: 780626018, who: Who::V, k: 0, c: 8 }, St { op: Op::Push(0), m: 3, t: 3, salt: 104137658, who: Who::V, k: 1, c: 9 }] }), It::W(Wave { dom: Dom::From(99), ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 138525318, who: Who::Src, k: 5, c: 4 }, St { op: Op::Push(99), m: 2, t: 2, salt: 623692904, who: Who::Src, k: 0, c: 5 }, St { op: Op::Push(99), m: 4, t: 1, salt: 522273040, who: Who::Dst, k: 4, c: 2 }] })] })],
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
            #[list(unique)] l1: List<Node>,
            #[list(unique)] l2: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 1],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, init = [1, 2, 0, 6, 4, 3, 5, 7])] s: [u32; 8],
            #[scratch(per = node, bits = 33)] b: Bits,
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
        #[fixpoint(until(round + 1 == 2))]
        mod f0 {
            #[wave(nodes)]
            fn w0(v: Node, f0: Round, s: &mut [u32; 8], l1: &Push, l0: &Push) {
                let h = mix(v, f0, 0, 0, 991693045);
                if h % 4 < 1 { s[((h >> 3) % 8) as usize] += 7 + h % 5; }
                let h = mix(v, f0, 0, 0, 666109172);
                if h % 3 < 2 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 245111660);
                if h % 7 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 109358150);
                if h % 2 < 1 { l1.push(v); }
            }
            #[wave(items(l0), after(w0))]
            fn w1(v: Node, f0: Round, l0: &Push, l1: &Push) {
                let h = mix(v, f0, 0, 0, 380399946);
                if h % 1 < 1 { l0.push(v); }
                let h = mix(v, f0, 0, 0, 232890780);
                if h % 5 < 2 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 495252443);
                if h % 5 < 2 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 13167588);
                if h % 4 < 1 { l1.push(v); }
            }
            #[wave(nodes, after(w0))]
            fn w2(v: Node, f0: Round, l2: &Push, s: &mut [u32; 8]) {
                let h = mix(v, f0, 0, 0, 448448154);
                if h % 3 < 1 { l2.push(v); }
                let h = mix(v, f0, 0, 0, 620374416);
                if h % 1 < 1 { s.swap(5, (h % 8) as usize); }
            }
            #[fixpoint(after(w0, w1), until(round + 1 == 2))]
            mod f1 {
                #[wave(nodes)]
                fn w3(v: Node, f0: Round, f1: Round, l2: &Push, b: &Bits, acc: &Buf<Atomic<u64>>, l1: &Push) {
                    let h = mix(v, f0, f1, 0, 390192951);
                    if h % 3 < 1 { l2.push(v); }
                    let h = mix(v, f0, f1, 0, 249560864);
                    if h % 5 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 9); }
                    let h = mix(v, f0, f1, 0, 875245519);
                    if h % 4 < 1 { l2.push(v); }
                    let h = mix(v, f0, f1, 0, 315993765);
                    if h % 9 < 1 { l1.push(v); }
                }
                #[wave(items(l1), after(w3))]
                fn w4(v: Node, f0: Round, f1: Round, l1: &Push) {
                    let h = mix(v, f0, f1, 0, 954129938);
                    if h % 1 < 1 { l1.push(v); }
                }
            }
        }
        #[fixpoint(after(f0), until(round + 1 == 2))]
        mod f2 {
            #[fixpoint(until(round + 1 == 1))]
            mod f3 {
                #[wave(nodes)]
                fn w5(v: Node, f2: Round, f3: Round, b: &Bits, s: &mut [u32; 8], l2: &Push, l1: &Push) {
                    let h = mix(v, f2, f3, 0, 180363153);
                    if h % 1 < 1 { b.set(v, h % 33); }
                    let h = mix(v, f2, f3, 0, 268428221);
                    if h % 2 < 1 { s.swap(4, (h % 8) as usize); }
                    let h = mix(v, f2, f3, 0, 904657601);
                    if h % 5 < 1 { l2.push(v); }
                    let h = mix(v, f2, f3, 0, 406537789);
                    if h % 4 < 1 { l1.push(v); }
                }
                #[wave(edges(graph, from = l1), after(w5))]
                fn w6(at: Edge, f2: Round, f3: Round, l1: &Push) {
                    let h = mix(at.index, f2, f3, 0, 540210425);
                    if h % 4 < 4 { l1.push(at.src); }
                    let h = mix(at.index, f2, f3, 0, 712429578);
                    if h % 5 < 2 { l1.push(at.src); }
                }
                #[wave(items(l1), after(w5, w6))]
                fn w7(v: Node, f2: Round, f3: Round, l2: &Push) {
                    let h = mix(v, f2, f3, 0, 134277700);
                    if h % 1 < 1 { l2.push(v); }
                }
            }
            #[wave(items(l1), after(f3))]
            fn w8(v: Node, f2: Round, l1: &Push, s: &mut [u32; 8], l2: &Push, b: &Bits, acc: &Buf<Atomic<u64>>) {
                let h = mix(v, f2, 0, 0, 854473761);
                if h % 4 < 1 { s.swap(0, (h % 8) as usize); }
                let h = mix(v, f2, 0, 0, 266561022);
                if h % 5 < 5 { l1.push(v); }
                let h = mix(v, f2, 0, 0, 516643350);
                if h % 1 < 1 { l2.push(v); }
                let h = mix(v, f2, 0, 0, 928906249);
                if h % 4 < 2 { acc[v].fetch_add(u64::from(b.count(v)) * 4); }
            }
            #[wave(edges(graph, from = l2), after(f3, w8))]
            fn w9(at: Edge, f2: Round, l0: &Push) {
                let h = mix(at.index, f2, 0, 0, 24185056);
                if h % 3 < 3 { l0.push(at.src); }
            }
        }
        #[wave(nodes, after(f0, f2))]
        fn w10(v: Node, s: &mut [u32; 8], o: &mut [u64; 1], b: &Bits, l0: &Push, l1: &Push) {
            let h = mix(v, 0, 0, 0, 296572530);
            if h % 2 < 1 { o[0] = o[0].wrapping_mul(3).wrapping_add(u64::from(s[7])); }
            let h = mix(v, 0, 0, 0, 822909675);
            if h % 1 < 1 { s[((h >> 3) % 8) as usize] += 9 + h % 5; }
            let h = mix(v, 0, 0, 0, 1068246);
            if h % 4 < 3 { b.set(v, h % 33); }
            let h = mix(v, 0, 0, 0, 385558943);
            if h % 3 < 1 { l0.push(v); }
            let h = mix(v, 0, 0, 0, 706161824);
            if h % 5 < 1 { l1.push(v); }
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
            lists: vec![(true, None), (true, None), (true, None)], frontier: None,
            no: 1, ns: 8, ne: 1, bw: 33, binit: false, sinit: vec![1, 2, 0, 6, 4, 3, 5, 7], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::OwnS, m: 4, t: 1, salt: 991693045, who: Who::V, k: 3, c: 7 }, St { op: Op::Push(1), m: 3, t: 2, salt: 666109172, who: Who::V, k: 2, c: 7 }, St { op: Op::Push(0), m: 7, t: 1, salt: 245111660, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 2, t: 1, salt: 109358150, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(0), ops: vec![St { op: Op::Push(0), m: 1, t: 1, salt: 380399946, who: Who::V, k: 6, c: 2 }, St { op: Op::Push(1), m: 5, t: 2, salt: 232890780, who: Who::V, k: 3, c: 8 }, St { op: Op::Push(1), m: 5, t: 2, salt: 495252443, who: Who::V, k: 4, c: 8 }, St { op: Op::Push(1), m: 4, t: 1, salt: 13167588, who: Who::V, k: 1, c: 3 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 3, t: 1, salt: 448448154, who: Who::V, k: 7, c: 3 }, St { op: Op::Swap, m: 1, t: 1, salt: 620374416, who: Who::V, k: 5, c: 4 }] }), It::F(Fix { id: 1, times: 2, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 3, t: 1, salt: 390192951, who: Who::V, k: 7, c: 1 }, St { op: Op::BitCount, m: 5, t: 2, salt: 249560864, who: Who::V, k: 0, c: 9 }, St { op: Op::Push(2), m: 4, t: 1, salt: 875245519, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 9, t: 1, salt: 315993765, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 954129938, who: Who::V, k: 0, c: 6 }] })] })] }), It::F(Fix { id: 2, times: 2, ask: None, items: vec![It::F(Fix { id: 3, times: 1, ask: None, items: vec![It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::BitSet, m: 1, t: 1, salt: 180363153, who: Who::V, k: 3, c: 3 }, St { op: Op::Swap, m: 2, t: 1, salt: 268428221, who: Who::V, k: 4, c: 9 }, St { op: Op::Push(2), m: 5, t: 1, salt: 904657601, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 4, t: 1, salt: 406537789, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Push(1), m: 4, t: 4, salt: 540210425, who: Who::Src, k: 1, c: 9 }, St { op: Op::Push(1), m: 5, t: 2, salt: 712429578, who: Who::Src, k: 7, c: 4 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(2), m: 1, t: 1, salt: 134277700, who: Who::V, k: 7, c: 3 }] })] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Swap, m: 4, t: 1, salt: 854473761, who: Who::V, k: 0, c: 3 }, St { op: Op::Push(1), m: 5, t: 5, salt: 266561022, who: Who::V, k: 4, c: 7 }, St { op: Op::Push(2), m: 1, t: 1, salt: 516643350, who: Who::V, k: 7, c: 2 }, St { op: Op::BitCount, m: 4, t: 2, salt: 928906249, who: Who::V, k: 6, c: 4 }] }), It::W(Wave { dom: Dom::From(2), ops: vec![St { op: Op::Push(0), m: 3, t: 3, salt: 24185056, who: Who::Src, k: 2, c: 4 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::ReadS, m: 2, t: 1, salt: 296572530, who: Who::V, k: 5, c: 7 }, St { op: Op::OwnS, m: 1, t: 1, salt: 822909675, who: Who::V, k: 1, c: 9 }, St { op: Op::BitSet, m: 4, t: 3, salt: 1068246, who: Who::V, k: 4, c: 2 }, St { op: Op::Push(0), m: 3, t: 1, salt: 385558943, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(1), m: 5, t: 1, salt: 706161824, who: Who::V, k: 0, c: 1 }] })],
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
            #[list(unique, reset = round)] l0: List<Node>,
            #[list(unique)] l1: List<Node>,
            #[list(capacity = (node + edge(graph)) * 300 + 2000, reset = round)] l2: List<u32>,
            #[list(unique)] l3: List<Node>,
            #[output(per = node, init = 7)] o: [u64; 5],
            #[output(per = node)] acc: u64,
            #[scratch(per = node, bits = 65)] b: Bits,
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
        #[fixpoint(until(round + 1 == 2))]
        mod f0 {
            #[fixpoint(until(round + 1 == 1 || l3.is_empty()))]
            mod f1 {
                #[fixpoint(until(round + 1 == 2 || l1.len() >= 36))]
                mod f2 {
                    #[wave(edges(graph))]
                    fn w0(at: Edge, f0: Round, f1: Round, f2: Round, l1: &Push, l0: &Push, acc: &Buf<Atomic<u64>>, l2: &Append<u32>) {
                        let h = mix(at.index, f0, f1, f2, 724137874);
                        if h % 5 < 5 { l1.push(at.dst); }
                        let h = mix(at.index, f0, f1, f2, 130137083);
                        if h % 2 < 1 { l0.push(at.src); }
                        let h = mix(at.index, f0, f1, f2, 857375063);
                        if h % 3 < 3 { acc[at.src].fetch_add(u64::from(h % 1000) + 7); }
                        let h = mix(at.index, f0, f1, f2, 157079487);
                        if h % 1 < 1 { l2.append(at.dst + h % 3); }
                    }
                    #[wave(items(l3))]
                    fn w1(v: Node, f0: Round, f1: Round, f2: Round, b: &Bits, acc: &Buf<Atomic<u64>>, o: &mut [u64; 5], l0: &Push) {
                        let h = mix(v, f0, f1, f2, 40995781);
                        if h % 4 < 1 { acc[v].fetch_add(u64::from(b.count(v)) * 3); }
                        let h = mix(v, f0, f1, f2, 3051451);
                        if h % 4 < 4 { o[(h % 5) as usize] += 2 + u64::from(h % 17); }
                        let h = mix(v, f0, f1, f2, 219700909);
                        if h % 3 < 1 { l0.push(v); }
                        let h = mix(v, f0, f1, f2, 699768561);
                        if h % 5 < 4 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
                    }
                    #[wave(nodes, after(w1))]
                    fn w2(v: Node, f0: Round, f1: Round, f2: Round, l3: &Push, b: &Bits, acc: &Buf<Atomic<u64>>) {
                        let h = mix(v, f0, f1, f2, 796628694);
                        if h % 5 < 4 { l3.push(v); }
                        let h = mix(v, f0, f1, f2, 40309943);
                        if h % 5 < 3 { acc[v].fetch_add(u64::from(b.count(v)) * 2); }
                    }
                }
                #[fixpoint(after(f2), until(round + 1 == 3 || l0.len() >= 27))]
                mod f3 {
                    #[wave(edges(graph))]
                    fn w3(at: Edge, f0: Round, f1: Round, f3: Round, l1: &Push) {
                        let h = mix(at.index, f0, f1, f3, 847494966);
                        if h % 1 < 1 { l1.push(at.src); }
                    }
                    #[wave(edges(graph, from = l1), after(w3))]
                    fn w4(at: Edge, f0: Round, f1: Round, f3: Round, acc: &Buf<Atomic<u64>>, l3: &Push) {
                        let h = mix(at.index, f0, f1, f3, 212218882);
                        if h % 5 < 2 { acc[at.dst].fetch_add(u64::from(h % 1000) + 8); }
                        let h = mix(at.index, f0, f1, f3, 827894611);
                        if h % 1 < 1 { l3.push(at.dst); }
                    }
                    #[wave(items(l1), after(w3))]
                    fn w5(v: Node, f0: Round, f1: Round, f3: Round, o: &mut [u64; 5], acc: &Buf<Atomic<u64>>, b: &Bits) {
                        let h = mix(v, f0, f1, f3, 912793506);
                        if h % 3 < 3 { o[(h % 5) as usize] += 2 + u64::from(h % 17); }
                        let h = mix(v, f0, f1, f3, 874470645);
                        if h % 5 < 2 { acc[v].fetch_add(u64::from(h % 1000) + 3); }
                        let h = mix(v, f0, f1, f3, 418348607);
                        if h % 2 < 1 { b.set(v, h % 65); }
                    }
                    #[wave(items(l2))]
                    fn w6(x: u32, f0: Round, f1: Round, f3: Round, n: u32, l3: &Push) {
                        let h = mix(x, f0, f1, f3, 549780387);
                        if h % 5 < 1 { l3.push(x % n); }
                    }
                }
                #[wave(nodes, after(f2, f3))]
                fn w7(v: Node, f0: Round, f1: Round, acc: &Buf<Atomic<u64>>, l3: &Push, l1: &Push, l2: &Append<u32>) {
                    let h = mix(v, f0, f1, 0, 611821367);
                    if h % 5 < 3 { acc[v].fetch_add(u64::from(h % 1000) + 6); }
                    let h = mix(v, f0, f1, 0, 412628914);
                    if h % 5 < 5 { l3.push(v); }
                    let h = mix(v, f0, f1, 0, 430994949);
                    if h % 6 < 1 { l1.push(v); }
                    let h = mix(v, f0, f1, 0, 867750125);
                    if h % 9 < 1 { l2.append(v + h % 3); }
                }
            }
            #[wave(nodes, after(f1))]
            fn w8(v: Node, f0: Round, l2: &Append<u32>, l1: &Push) {
                let h = mix(v, f0, 0, 0, 253201110);
                if h % 5 < 2 { l2.append(v + h % 3); }
                let h = mix(v, f0, 0, 0, 225538653);
                if h % 3 < 1 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 419392297);
                if h % 4 < 1 { l1.push(v); }
                let h = mix(v, f0, 0, 0, 949250290);
                if h % 9 < 1 { l2.append(v + h % 3); }
            }
            #[wave(edges(graph), after(f1))]
            fn w9(at: Edge, f0: Round, l1: &Push, l0: &Push) {
                let h = mix(at.index, f0, 0, 0, 492904753);
                if h % 2 < 2 { l1.push(at.src); }
                let h = mix(at.index, f0, 0, 0, 223863648);
                if h % 2 < 1 { l0.push(at.src); }
            }
            #[wave(edges(graph, from = l1), after(f1, w8, w9))]
            fn w10(at: Edge, f0: Round, l1: &Push, l2: &Append<u32>) {
                let h = mix(at.index, f0, 0, 0, 417553800);
                if h % 2 < 1 { l1.push(at.dst); }
                let h = mix(at.index, f0, 0, 0, 351677952);
                if h % 5 < 2 { l2.append(at.dst + h % 3); }
                let h = mix(at.index, f0, 0, 0, 957417421);
                if h % 1 < 1 { l2.append(at.dst + h % 3); }
                let h = mix(at.index, f0, 0, 0, 772843183);
                if h % 4 < 1 { l1.push(at.dst); }
            }
        }
        #[wave(items(l1), after(f0))]
        fn w11(v: Node, l3: &Push) {
            let h = mix(v, 0, 0, 0, 296863110);
            if h % 5 < 2 { l3.push(v); }
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
            lists: vec![(true, Some(0)), (true, None), (false, Some(0)), (true, None)], frontier: None,
            no: 5, ns: 4, ne: 1, bw: 65, binit: false, sinit: vec![3, 2, 8, 7], s_owner: None, b_owner: None,
            root: vec![It::F(Fix { id: 0, times: 2, ask: None, items: vec![It::F(Fix { id: 1, times: 1, ask: Some((3, 21, true)), items: vec![It::F(Fix { id: 2, times: 2, ask: Some((1, 36, false)), items: vec![It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(1), m: 5, t: 5, salt: 724137874, who: Who::Dst, k: 1, c: 6 }, St { op: Op::Push(0), m: 2, t: 1, salt: 130137083, who: Who::Src, k: 1, c: 4 }, St { op: Op::Acc, m: 3, t: 3, salt: 857375063, who: Who::Src, k: 7, c: 7 }, St { op: Op::Push(2), m: 1, t: 1, salt: 157079487, who: Who::Dst, k: 7, c: 9 }] }), It::W(Wave { dom: Dom::Items(3), ops: vec![St { op: Op::BitCount, m: 4, t: 1, salt: 40995781, who: Who::V, k: 5, c: 3 }, St { op: Op::Own, m: 4, t: 4, salt: 3051451, who: Who::V, k: 5, c: 2 }, St { op: Op::Push(0), m: 3, t: 1, salt: 219700909, who: Who::V, k: 0, c: 7 }, St { op: Op::Acc, m: 5, t: 4, salt: 699768561, who: Who::V, k: 0, c: 3 }] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(3), m: 5, t: 4, salt: 796628694, who: Who::V, k: 5, c: 6 }, St { op: Op::BitCount, m: 5, t: 3, salt: 40309943, who: Who::V, k: 0, c: 2 }] })] }), It::F(Fix { id: 3, times: 3, ask: Some((0, 27, false)), items: vec![It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(1), m: 1, t: 1, salt: 847494966, who: Who::Src, k: 0, c: 7 }] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Acc, m: 5, t: 2, salt: 212218882, who: Who::Dst, k: 7, c: 8 }, St { op: Op::Push(3), m: 1, t: 1, salt: 827894611, who: Who::Dst, k: 3, c: 5 }] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Own, m: 3, t: 3, salt: 912793506, who: Who::V, k: 5, c: 2 }, St { op: Op::Acc, m: 5, t: 2, salt: 874470645, who: Who::V, k: 6, c: 3 }, St { op: Op::BitSet, m: 2, t: 1, salt: 418348607, who: Who::V, k: 0, c: 6 }] }), It::W(Wave { dom: Dom::Items(2), ops: vec![St { op: Op::Push(3), m: 5, t: 1, salt: 549780387, who: Who::V, k: 7, c: 4 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Acc, m: 5, t: 3, salt: 611821367, who: Who::V, k: 5, c: 6 }, St { op: Op::Push(3), m: 5, t: 5, salt: 412628914, who: Who::V, k: 1, c: 5 }, St { op: Op::Push(1), m: 6, t: 1, salt: 430994949, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 9, t: 1, salt: 867750125, who: Who::V, k: 0, c: 1 }] })] }), It::W(Wave { dom: Dom::Nodes, ops: vec![St { op: Op::Push(2), m: 5, t: 2, salt: 253201110, who: Who::V, k: 4, c: 2 }, St { op: Op::Push(1), m: 3, t: 1, salt: 225538653, who: Who::V, k: 5, c: 4 }, St { op: Op::Push(1), m: 4, t: 1, salt: 419392297, who: Who::V, k: 0, c: 1 }, St { op: Op::Push(2), m: 9, t: 1, salt: 949250290, who: Who::V, k: 0, c: 1 }] }), It::W(Wave { dom: Dom::Edges, ops: vec![St { op: Op::Push(1), m: 2, t: 2, salt: 492904753, who: Who::Src, k: 5, c: 1 }, St { op: Op::Push(0), m: 2, t: 1, salt: 223863648, who: Who::Src, k: 7, c: 1 }] }), It::W(Wave { dom: Dom::From(1), ops: vec![St { op: Op::Push(1), m: 2, t: 1, salt: 417553800, who: Who::Dst, k: 1, c: 1 }, St { op: Op::Push(2), m: 5, t: 2, salt: 351677952, who: Who::Dst, k: 7, c: 8 }, St { op: Op::Push(2), m: 1, t: 1, salt: 957417421, who: Who::Dst, k: 5, c: 9 }, St { op: Op::Push(1), m: 4, t: 1, salt: 772843183, who: Who::Dst, k: 3, c: 7 }] })] }), It::W(Wave { dom: Dom::Items(1), ops: vec![St { op: Op::Push(3), m: 5, t: 2, salt: 296863110, who: Who::V, k: 6, c: 6 }] })],
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
