//! What a random program means, one lane after the other.
use crate::common::G;
#[derive(Clone, Copy, PartialEq)]
pub enum Who { V, Src, Dst }
#[derive(Clone, Copy)]
pub enum Op { Push(usize), Acc, Own, OwnS, Swap, ReadS, RecS, BitSet, BitCount, OwnE }
pub struct St { pub op: Op, pub m: u32, pub t: u32, pub salt: u32, pub who: Who, pub k: usize, pub c: u32 }
pub enum Dom { Nodes, Edges, From(usize), Items(usize) }
pub struct Wave { pub dom: Dom, pub ops: Vec<St> }
pub struct Fix { pub id: usize, pub times: u32, pub ask: Option<(usize, usize, bool)>, pub items: Vec<It> }
pub enum It { W(Wave), F(Fix) }
pub struct Ir {
    /// Unique or not, and the fixpoint whose rounds begin it anew.
    pub lists: Vec<(bool, Option<usize>)>,
    pub frontier: Option<usize>,
    pub no: usize,
    pub ns: usize,
    pub ne: usize,
    pub bw: u32,
    pub binit: bool,
    pub sinit: Vec<u32>,
    pub s_owner: Option<usize>,
    pub b_owner: Option<usize>,
    pub root: Vec<It>,
}
pub struct State {
    pub lists: Vec<Vec<u32>>,
    pub front: Vec<u32>,
    pub next: Vec<u32>,
    pub o: Vec<Vec<u64>>,
    pub acc: Vec<u64>,
    pub s: Vec<Vec<u32>>,
    pub b: Vec<std::collections::BTreeSet<u32>>,
    pub e: Vec<Vec<u32>>,
}
pub fn mix(a: u32, b: u32, c: u32, d: u32, e: u32) -> u32 {
    let mut x = a.wrapping_mul(0x9E37_79B1) ^ b.wrapping_mul(0x85EB_CA6B) ^ c.wrapping_mul(0xC2B2_AE35) ^ d.wrapping_mul(0x27D4_EB2F) ^ e;
    x ^= x >> 15;
    x = x.wrapping_mul(0x2C1B_3C6D);
    x ^= x >> 12;
    x = x.wrapping_mul(0x297A_2D39);
    x ^ (x >> 15)
}
impl Ir {
    fn bits(&self) -> std::collections::BTreeSet<u32> {
        if self.binit { (0..self.bw).collect() } else { Default::default() }
    }
    pub fn run(&self, g: &G, admitted: &dyn Fn(usize) -> bool) -> State {
        let mut st = State {
            lists: vec![vec![]; self.lists.len()],
            front: vec![],
            next: vec![],
            o: vec![vec![7; self.no]; g.n],
            acc: vec![0; g.n],
            s: vec![self.sinit.clone(); g.n],
            b: vec![self.bits(); g.n],
            e: vec![(0..self.ne as u32).collect(); g.m()],
        };
        self.scope(&self.root, &mut vec![], g, admitted, &mut st);
        st
    }
    fn scope(&self, items: &[It], rounds: &mut Vec<u32>, g: &G, admitted: &dyn Fn(usize) -> bool, st: &mut State) {
        for it in items {
            match it {
                It::W(w) => self.wave(w, rounds, g, admitted, st),
                It::F(f) => {
                    for round in 0..f.times {
                        if self.frontier == Some(f.id) {
                            st.front = std::mem::take(&mut st.next);
                        }
                        for (k, l) in self.lists.iter().enumerate() {
                            if l.1 == Some(f.id) {
                                st.lists[k].clear();
                            }
                        }
                        if self.s_owner == Some(f.id) {
                            st.s = vec![self.sinit.clone(); g.n];
                        }
                        if self.b_owner == Some(f.id) {
                            st.b = vec![self.bits(); g.n];
                        }
                        rounds.push(round);
                        self.scope(&f.items, rounds, g, admitted, st);
                        rounds.pop();
                        if let Some((l, t, empty)) = f.ask {
                            let len = if l == 99 { st.next.len() } else { st.lists[l].len() };
                            if if empty { len == 0 } else { len >= t } {
                                break;
                            }
                        }
                    }
                }
            }
        }
    }
    fn wave(&self, w: &Wave, rounds: &[u32], g: &G, admitted: &dyn Fn(usize) -> bool, st: &mut State) {
        let r = |k: usize| rounds.get(k).copied().unwrap_or(0);
        let list = |st: &State, l: usize| if l == 99 { st.front.clone() } else { st.lists[l].clone() };
        // (id, v, src, dst, edge)
        let mut lanes: Vec<(u32, u32, u32, u32, usize)> = vec![];
        match w.dom {
            Dom::Nodes => lanes.extend((0..g.n as u32).map(|v| (v, v, 0, 0, 0))),
            Dom::Items(l) => {
                let n = g.n.max(1) as u32;
                let unique = l == 99 || self.lists[l].0;
                lanes.extend(list(st, l).into_iter().map(|x| (x, if unique { x } else { x % n }, 0, 0, 0)));
            }
            Dom::Edges => lanes.extend(g.edges.iter().enumerate().filter(|(k, _)| admitted(*k)).map(|(k, e)| (k as u32, 0, e.0, e.1, k))),
            Dom::From(l) => {
                let mut inside = vec![false; g.n];
                for v in list(st, l) {
                    inside[v as usize] = true;
                }
                lanes.extend(g.edges.iter().enumerate().filter(|(k, e)| inside[e.0 as usize] && admitted(*k)).map(|(k, e)| (k as u32, 0, e.0, e.1, k)));
            }
        }
        let push = |list: &mut Vec<u32>, seen: &mut Vec<bool>, v: u32| {
            if !seen[v as usize] {
                seen[v as usize] = true;
                list.push(v);
            }
        };
        let mut seen: Vec<Vec<bool>> = (0..=self.lists.len())
            .map(|k| {
                let mut s = vec![false; g.n];
                if k == self.lists.len() {
                    for &v in &st.next { s[v as usize] = true; }
                } else if self.lists[k].0 {
                    for &v in &st.lists[k] { s[v as usize] = true; }
                }
                s
            })
            .collect();
        for (id, v, src, dst, edge) in lanes {
            for o in &w.ops {
                let h = mix(id, r(0), r(1), r(2), o.salt);
                if h % o.m >= o.t {
                    continue;
                }
                let who = match o.who { Who::V => v, Who::Src => src, Who::Dst => dst };
                let i = who as usize;
                match o.op {
                    Op::Push(99) => push(&mut st.next, &mut seen[self.lists.len()], who),
                    Op::Push(l) if self.lists[l].0 => push(&mut st.lists[l], &mut seen[l], who),
                    Op::Push(l) => st.lists[l].push(who + h % 3),
                    Op::Acc => st.acc[i] = st.acc[i].wrapping_add(u64::from(h % 1000) + u64::from(o.c)),
                    Op::Own => st.o[i][h as usize % self.no] += u64::from(o.c) + u64::from(h % 17),
                    Op::OwnS => st.s[i][(h >> 3) as usize % self.ns] += o.c + h % 5,
                    Op::Swap => st.s[i].swap(o.k % self.ns, h as usize % self.ns),
                    Op::ReadS => {
                        let x = u64::from(st.s[i][o.c as usize % self.ns]);
                        let place = &mut st.o[i][o.k % self.no];
                        *place = place.wrapping_mul(3).wrapping_add(x);
                    }
                    Op::RecS => {
                        let other = if o.who == Who::Src { dst } else { src } as usize;
                        st.acc[i] = st.acc[i].wrapping_add(u64::from(st.s[other][h as usize % self.ns]));
                    }
                    Op::BitSet => {
                        if self.binit { st.b[i].remove(&(h % self.bw)); } else { st.b[i].insert(h % self.bw); }
                    }
                    Op::BitCount => st.acc[i] = st.acc[i].wrapping_add(st.b[i].len() as u64 * u64::from(o.c)),
                    Op::OwnE => {
                        let place = &mut st.e[edge][o.k % self.ne];
                        *place = place.wrapping_mul(3).wrapping_add(o.c + h % 7);
                    }
                }
            }
        }
    }
}
