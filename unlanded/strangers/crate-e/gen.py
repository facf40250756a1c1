import os,glob
for f in glob.glob('examples/*.rs'): os.remove(f)
progs=[]
def P(name, expect, data, body, pre='', attr=''):
    # numbered
    d='\n'.join('        '+l for l in data.strip().split('\n'))
    src=f'''//! {expect}
use vyre::prelude::*;
{pre}
#[wave_graph{attr}]
pub mod p {{
    pub struct Data {{
        #[topology] graph: Csr,
{d}
    }}
{body}
}}
fn main() {{}}
'''
    open(f'examples/{name}.rs','w').write(src)
FIX='''    #[fixpoint(until(round == 2))]
    mod f {
%s
    }'''
put='''        #[wave(nodes)]
        fn put(v: Node, l: &Push) { l.push(v); }
'''
get='''        #[wave(items(l), after(put))]
        fn get(v: Node, o: &mut u32) { *o += v; }
'''
O='#[output(per = node)] o: u32,'
UL='#[list(unique)] l: List<Node>,\n'
RL='#[list(unique, reset = round)] l: List<Node>,\n'
P('f01','refuse: unique list of u32 (only List<Node>)','#[list(unique)] l: List<u32>,\n'+O, FIX%(put+get))
P('f02','refuse: unique list with capacity','#[list(unique, capacity = 5)] l: List<Node>,\n'+O, FIX%(put+get))
P('f03','refuse: unique list with output','#[list(unique, output)] l: List<Node>,\n'+O, FIX%(put+get))
P('f04','refuse: items(l, new) on a unique list',UL+O, FIX%(put+get.replace('items(l)','items(l, new)')))
P('f05','refuse: unique list of tuples','#[list(unique)] l: List<(u32, u32)>,\n'+O, FIX%'''        #[wave(nodes)]
        fn put(v: Node, l: &Append<(u32, u32)>) { l.append((v, v)); }''')
P('f06','refuse: list reset = round outside of fixpoints',RL+O, put+get)
P('f07','refuse: list reset = round that no wave uses',RL+O, FIX%'''        #[wave(nodes)]
        fn put(v: Node, o: &mut u32) { *o = v; }''')
P('f08','refuse: list with reset and output','#[list(capacity = 5, reset = round, output)] l: List<u32>,\n'+O, FIX%'''        #[wave(nodes)]
        fn put(v: Node, l: &Append<u32>) { l.append(v); }''')
P('f09','refuse: items(l, new) on a list with reset','#[list(capacity = 5, reset = round)] l: List<u32>,\n'+O, FIX%'''        #[wave(nodes)]
        fn put(v: Node, l: &Append<u32>) { l.append(v); }
        #[wave(items(l, new), after(put))]
        fn get(x: u32, o: &Buf<Atomic<u32>>) { o[x].fetch_add(1); }''')
P('f10','refuse: edges(graph, from = l) of a list that is not unique','#[list(capacity = 5)] l: List<Node>,\n'+O, FIX%'''        #[wave(nodes)]
        fn put(v: Node, l: &Append<Node>) { l.append(v); }
        #[wave(edges(graph, from = l), after(put))]
        fn get(e: Edge, o: &Buf<Atomic<u32>>) { o[e.dst].fetch_add(1); }''')
P('f11','refuse: append on a unique list',UL+O, FIX%'''        #[wave(nodes)]
        fn put(v: Node, l: &Append<Node>) { l.append(v); }''')
P('f12','refuse: push on a list that is not unique','#[list(capacity = 5)] l: List<Node>,\n'+O, FIX%'''        #[wave(nodes)]
        fn put(v: Node, l: &Push) { l.push(v); }''')
P('f13','refuse: sweep and push without an order',RL+O, FIX%(put+get.replace(', after(put)','')))
P('f14','refuse: &mut of own element under items of a list that is not unique','#[list(capacity = 5)] l: List<Node>,\n'+O, FIX%('''        #[wave(nodes)]
        fn put(v: Node, l: &Append<Node>) { l.append(v); }
'''+get))
for k,(t,why) in enumerate([('[u32; 9]','9 is too many'),('[u32; 0]','0 is too few'),('[u32; N]','a constant of 9'),('[u32; super::N]','a constant of 9 outside'),('[u32; Z]','a constant of 0'),('[(u32, u32); 2]','no array of tuples'),('[[u32; 2]; 2]','no array of arrays'),('[Pt; 2]','no array of structs'),('[usize; 2]','no usize in buffers'),('[u32]','no slices'),('[u16; 2]','no u16'),('[Node; 2]','maybe: a Node is a u32'),('[char; 2]','no char'),('[Round; 2]','maybe'),('[u32; 2 + 1]','maybe: an expression'),('[u32; n]','a scalar as N'),('[u32; node]','node as N'),('[u32; -1]','negative'),('[u32; 4u32]','u32 literal: rustc says mismatched types')]):
    P(f'fa{k+1:02}',f'refuse?: {why}',f'#[output(per = node)] o: {t},\nn: u32,', f'''    const N: usize = 9;
    const Z: usize = 0;
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pt {{ pub x: u32 }}
    #[wave(nodes)]
    fn put(v: Node, o: &mut {t if t!='[u32]' else '[u32; 2]'}) {{ let _ = v; o.swap(0, 0); }}''', pre='pub const N: usize = 9;')
A='#[output(per = node)] o: [u32; 4],'
for k,(data,body,why) in enumerate([
 ('#[output(per = node, init = [1, 2])] o: [u32; 4],','fn w(o: &mut [u32; 4]) { o[0] = 1; }','init of another length'),
 ('#[output(per = node, init = (1, 2, 3, 4))] o: [u32; 4],','fn w(o: &mut [u32; 4]) { o[0] = 1; }','init is a tuple'),
 ('#[output(per = node, init = [1, 2, 3, 4.0])] o: [u32; 4],','fn w(o: &mut [u32; 4]) { o[0] = 1; }','init of another type'),
 ('#[output(per = node, init = [true; 4])] o: [u32; 4],','fn w(o: &mut [u32; 4]) { o[0] = 1; }','init of bools'),
 (A,'fn w(o: &mut [u32; 3]) { o[0] = 1; }','parameter of another length'),
 (A,'fn w(o: &mut [i32; 4]) { o[0] = 1; }','parameter of another type'),
 (A,'fn w(o: &mut u32) { *o = 1; }','parameter is a scalar'),
 (A,'fn w(o: &Buf<[u32; 4]>) { }','Buf of arrays'),
 (A,'fn w(o: &Records<u32>) { }','Records of scalars'),
 (A,'fn w(v: Node, o: &Buf<Atomic<[u32; 4]>>) { let _ = v; }','atomics of arrays'),
 (A,'fn w(v: Node, o: &mut [u32; 4], o_0: &u32) { let _ = v; o[0] = *o_0; }','a part of an array'),
 (A,'fn w(v: Node, o: &Records<[u32; 4]>, oo: &mut [u32; 4]) { let _ = (v, oo); }','a name that is no field'),
 ('#[output(per = node)] o: [bool; 4],','fn w(v: Node, o: &Buf<Atomic<bool>>) { o[v].store(true); }','atomics of bools'),
 ('#[output(per = node)] o: [u8; 4],','fn w(v: Node, o: &Buf<Atomic<u8>>) { o[v].store(1); }','atomics of u8'),
 (A,'fn w(v: Node, o: &mut [u32; 4]) { o[v] = 1; }','index is a u32, not usize'),
 (A,'fn w(v: Node, o: &Buf<Atomic<u32>>) { o[v as usize].store(1); }','index is a usize, not u32'),
 (A,'fn w(v: Node, o: &Records<[u32; 4]>) { let _ = o[v]; }','Records are indexed by get'),
 (A,'fn w(v: Node, o: &Records<[u32; 4]>) { let mut x = o.get(v); x[0] = 1; o.set(v, x); }','Records have no set'),
 (A,'fn w(o: &mut [u32; 4]) { for x in o.iter_mut() { *x = 1; } }','iter_mut'),
 (A,'fn w(o: &mut [u32; 4]) { for x in o.iter().rev() { let _ = *x; } }','maybe: iter().rev()'),
 (A,'fn w(o: &mut [u32; 4]) { for (k, x) in o.iter().enumerate() { let _ = (k, *x); } }','maybe: iter().enumerate()'),
 (A,'fn w(o: &mut [u32; 4]) { for x in o { *x = 1; } }','for over &mut'),
 (A,'fn w(o: &mut [u32; 4]) { for x in o.iter() { o[0] = x; } }','x is a reference; and it is borrowed'),
 (A,'fn w(o: &mut [u32; 4]) { let s = &mut o[1]; *s = 1; }','reference to an element'),
 (A,'fn w(o: &mut [u32; 4]) { let [a, b, c, d] = *o; o[0] = a + b + c + d; }','maybe: array pattern'),
 (A,'fn w(o: &mut [u32; 4]) { o.sort(); }','sort'),
 (A,'fn w(o: &mut [u32; 4]) { o[1..3].fill(1); }','slice of it'),
 (A,'fn w(o: &mut [u32; 4]) { *o = [1; 3]; }','assigned another length'),
 (A,'fn w(o: &mut [u32; 4]) { *o = o.map(|x| x + 1); }','closure'),
 (A,'fn w(o: &mut [u32; 4]) { o[4] = 1; }','maybe: rustc: this operation will panic'),
 (A,'fn w(o: &mut [u32; 4]) { if o.contains(&3) { o[0] = 1; } }','contains'),
 (A,'fn w(mut o: [u32; 4]) { o[0] = 1; }','by value'),
 (A,'fn w(o: &[u32; 4]) { o[0] = 1; }','written by a shared reference'),
]):
    P(f'fb{k+1:02}',f'refuse?: {why}',data+'\nn: u32,', f'''    #[wave(nodes)]
    {body}''')
P('fb40','refuse: own array written beside a wave that reads all, unordered',A+'\n#[output(per = node)] q: u32,','''    #[wave(nodes)]
    fn w(o: &mut [u32; 4]) { o[0] = 1; }
    #[wave(nodes)]
    fn r(v: Node, o: &Records<[u32; 4]>, q: &mut u32) { *q = o.get(v)[0]; }''')
P('fb41','refuse: &mut own array over edges from a frontier that is not unique','#[frontier] l: Frontier,\n#[output(per = edge(graph))] o: [u32; 2],\n','''    #[wave(nodes)]
    fn put(v: Node, l: &Push) { l.push(v); }
    #[wave(edges(graph, from = l), after(put))]
    fn w(o: &mut [u32; 2]) { o[0] = 1; }''')
P('fb42','refuse: array per node in a local fixpoint','#[topology(parts_of = graph)] parts: Parts,\n#[output(per = node)] o: [u32; 2],\n#[reduce(or)] c: bool,','''    #[fixpoint(per = parts, until(!c))]
    mod f {
        #[wave(nodes)]
        fn w(o: &mut [u32; 2], c: &Reduce<Or<bool>>) { o[0] = 1; c.or(false); }
    }''')
P('fb43','refuse: unique list in a local fixpoint','#[topology(parts_of = graph)] parts: Parts,\n'+UL+'#[reduce(or)] c: bool,','''    #[fixpoint(per = parts, until(!c))]
    mod f {
        #[wave(nodes)]
        fn w(v: Node, l: &Push, c: &Reduce<Or<bool>>) { l.push(v); c.or(false); }
    }''')
P('fb44','refuse: list with reset inside of a local fixpoint','#[topology(parts_of = graph)] parts: Parts,\n#[list(capacity = node, reset = round)] l: List<u32>,\n#[reduce(or)] c: bool,','''    #[fixpoint(per = parts, until(!c))]
    mod f {
        #[wave(nodes)]
        fn w(v: Node, l: &Append<u32>, c: &Reduce<Or<bool>>) { l.append(v); c.or(false); }
    }''')
P('fb45','refuse: scratch with reset inside of a local fixpoint (or works?)','#[topology(parts_of = graph)] parts: Parts,\n#[scratch(per = node, reset = round)] s: u32,\n#[reduce(or)] c: bool,','''    #[fixpoint(per = parts, until(!c))]
    mod f {
        #[wave(nodes)]
        fn w(s: &mut u32, c: &Reduce<Or<bool>>) { *s += 1; c.or(false); }
    }''')
for k,(data,why) in enumerate([
 ('#[reduce(sum)] z: [u32; 2],','reduction of arrays'),('#[list(capacity = 3)] z: List<[u32; 2]>,','list of arrays'),('#[frontier(capacity = 3)] z: Frontier<[u32; 2]>,','frontier of arrays'),
 ('z: [u32; 2],','scalar that is an array'),('#[topology] z: [u32; 2],','session scalar that is an array'),('#[list] z: List<Node>,','list without capacity'),('#[list(unique)] z: Frontier,','list that is a Frontier'),
 ('#[frontier(unique)] z: List<Node>,','frontier that is a List'),('#[frontier(unique, reset = round)] z: Frontier,','frontier with reset'),('#[output(per = node, reset = round)] z: u32,','output with reset'),('#[reduce(sum, reset = round)] z: u32,','reduction with reset'),
 ('#[input(per = node, reset = round)] z: u32,','input with reset'),('#[list(unique, reset = f)] z: List<Node>,','reset = fixpoint name'),('#[list(unique, reset)] z: List<Node>,','reset alone'),('#[list(unique, reset = rounds)] z: List<Node>,','reset = rounds'),('#[list(unique, reset = round, reset = round)] z: List<Node>,','reset twice'),
 ('#[list(unique, uniqe)] z: List<Node>,','unknown word'),('#[list(unique, init = 3)] z: List<Node>,','init of list'),('#[list(unique, per = node)] z: List<Node>,','per of list'),('#[list(unique)] z: List,','List without items'),('#[list(unique)] z: List<Edge>,','List<Edge>'),('#[list(capacity = 0)] z: List<u32>,','maybe: capacity 0'),('#[list(capacity = node - node)] z: List<u32>,','maybe: capacity 0 computed'),('#[list(capacity = 3)] z: List<usize>,','List<usize>'),('#[scratch(per = node, reset = round, init = [1, 2])] z: [u32; 2],','reset scratch that nobody uses'),('#[output(per = node, bits = 3)] z: [Bits; 2],','arrays of bits'),('#[topology(per = node)] z: Rows<[u32; 2]>,','rows of arrays'),('#[topology(parts_of = graph)] z: [Parts; 1],','array of parts'),('#[topology] z: [Csr; 2],','array of graphs'),
]):
    P(f'fc{k+1:02}',f'refuse?: {why}',data+'\n'+O,FIX%'''        #[wave(nodes)]
        fn put(v: Node, o: &mut u32) { *o += v; }''')
INC='''pub mod lib {
    use vyre::prelude::*;
    #[wave_graph]
    pub mod q {
        pub struct Data { #[topology] graph: Csr, #[list(unique)] seen: List<Node>, #[list(capacity = 9)] log: List<u32>, #[scratch(per = node)] t: u32, #[output(per = node)] r: [u32; 2] }
        #[wave(nodes)]
        fn go(v: Node, seen: &Push, log: &Append<u32>, t: &mut u32) { seen.push(v); log.append(v); *t += 1; }
        #[wave(edges(graph, from = seen), after(go))]
        fn each(e: Edge, r: &Buf<Atomic<u32>>) { r[e.dst * 2].fetch_add(1); }
    }
    #[wave_graph]
    pub mod csr {
        pub struct Data { #[topology] graph: Csr, #[output(per = node)] r: u32 }
        #[wave(nodes)]
        fn go(v: Node, graph: &Csr, r: &mut u32) { *r = graph.degree(v); }
    }
    #[wave_graph]
    pub mod nested {
        pub use super::q;
        pub struct Data { #[topology] graph: Csr, #[output(per = node)] r: u32 }
        #[include(graph = graph)]
        pub use super::q as inner;
        #[wave(edges(graph), after(inner))]
        fn go(e: Edge, r: &Buf<Atomic<u32>>) { r[e.src].fetch_add(1); }
    }
    #[wave_graph]
    pub mod outp {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = node, output)] log: List<u32> }
        #[wave(nodes)]
        fn go(v: Node, log: &Append<u32>) { log.append(v); }
    }
    #[wave_graph]
    pub mod newer {
        pub struct Data { #[topology] graph: Csr, #[list(capacity = node)] log: List<u32>, #[output(per = node)] r: u32 }
        #[wave(nodes)]
        fn go(v: Node, log: &Append<u32>) { log.append(v); }
        #[wave(items(log, new), after(go))]
        fn get(x: u32, r: &Buf<Atomic<u32>>) { r[x].fetch_add(1); }
    }
    #[wave_graph]
    pub mod swept {
        pub struct Data { #[topology] graph: Csr, #[frontier] fr: Frontier, #[output(per = node)] r: u32 }
        #[wave(nodes)]
        fn go(v: Node, fr: &Push) { fr.push(v); }
        #[wave(items(fr), after(go))]
        fn get(v: Node, r: &Buf<Atomic<u32>>) { r[v].fetch_add(1); }
    }
    #[wave_graph]
    pub mod edgesfield {
        pub struct Data { #[topology] graph: Csr, edges: u32, #[output(per = node)] r: u32 }
        #[wave(nodes)]
        fn go(edges: u32, r: &mut u32) { *r = edges; }
    }
    #[wave_graph]
    pub mod rev {
        pub struct Data { #[topology] graph: Csr, #[topology(reverse_of = graph)] back: Csr, #[output(per = node)] r: u32 }
        #[wave(edges(back))]
        fn go(e: Edge, r: &Buf<Atomic<u32>>) { r[e.dst].fetch_add(1); }
    }
}
'''
def I(name, expect, data, inc, fn='', extra='', infix=True):
    pre=INC
    body=(fn+'\n' if fn else '')
    if infix:
        body+='''    #[fixpoint(until(round == 2))]
    mod f {
        %s
%s
    }'''%(inc.replace('super::lib','super::super::lib'),extra)
    else:
        body+='    '+inc+'\n'+extra
    P(name,expect,data,body,pre=pre)
u='use super::lib::q;'
I('fd01','refuse: scratch with reset as a field of an included graph','#[scratch(per = node, reset = round)] s: u32,','#[include(graph = graph, t = s)] '+u)
I('fd02','refuse: list with reset as a field of an included graph',RL,'#[include(graph = graph, seen = l)] '+u)
I('fd03','refuse: unique for not unique','#[list(capacity = 9)] l: List<Node>,','#[include(graph = graph, seen = l)] '+u)
I('fd04','refuse: list of another capacity','#[list(capacity = 8)] l: List<u32>,','#[include(graph = graph, log = l)] '+u)
I('fd05','refuse: array of another length','#[output(per = node)] s: [u32; 3],','#[include(graph = graph, r = s)] '+u)
I('fd06','refuse: flat buffer for an array','#[output(per = node * 2)] s: u32,','#[include(graph = graph, r = s)] '+u)
I('fd07','refuse: filter that takes no edge','n: u32,','#[include(graph = graph, edges = ok)] '+u,'    #[device]\n    fn ok(n: u32) -> bool { n > 1 }')
I('fd08','refuse: filter that is no device fn','n: u32,','#[include(graph = graph, edges = ok)] '+u,'    fn ok(e: Edge, n: u32) -> bool { e.index > n }')
I('fd09','refuse: filter that gives a u32','n: u32,','#[include(graph = graph, edges = ok)] '+u,'    #[device]\n    fn ok(e: Edge, n: u32) -> u32 { e.index + n }')
I('fd10','refuse: filter of an unknown name','n: u32,','#[include(graph = graph, edges = okk)] '+u,'    #[device]\n    fn ok(e: Edge, n: u32) -> bool { e.index > n }')
I('fd11','refuse: filter that writes','#[scratch(per = node)] s: u32,','#[include(graph = graph, edges = ok)] '+u,'    #[device]\n    fn ok(e: Edge, s: &Buf<Atomic<u32>>) -> bool { s[e.dst].fetch_add(1) == 0 }')
I('fd12','refuse: filter with &mut','#[scratch(per = edge(graph))] s: u32,','#[include(graph = graph, edges = ok)] '+u,'    #[device]\n    fn ok(e: Edge, s: &mut u32) -> bool { *s += 1; e.dst < *s }')
I('fd13','refuse: filter reads what the sweep changes','#[output(per = node)] s: [u32; 2],','#[include(graph = graph, r = s, edges = ok)] '+u,'    #[device]\n    fn ok(e: Edge, s: &Records<[u32; 2]>) -> bool { s.get(e.dst)[0] == 0 }')
I('fd14','refuse: filter asks a round','n: u32,','#[include(graph = graph, edges = ok)] '+u,'    #[device]\n    fn ok(e: Edge, round: Round) -> bool { e.dst > round }')
I('fd15','refuse: filter asks a fixpoint by name','n: u32,','#[include(graph = graph, edges = ok)] '+u,'    #[device]\n    fn ok(e: Edge, f: Round) -> bool { e.dst > f }')
I('fd16','refuse: filter with a parameter that is no field','n: u32,','#[include(graph = graph, edges = ok)] '+u,'    #[device]\n    fn ok(e: Edge, m: u32) -> bool { e.dst > m }')
I('fd17','refuse: filter with a type that is not the field\'s','n: u32,','#[include(graph = graph, edges = ok)] '+u,'    #[device]\n    fn ok(e: Edge, n: u64) -> bool { u64::from(e.dst) > n }')
I('fd18','refuse: filter of a graph that takes &Csr','n: u32,','#[include(graph = graph, edges = ok)] use super::lib::csr;','    #[device]\n    fn ok(e: Edge, n: u32) -> bool { e.dst > n }')
I('fd19','refuse: filter of a graph that includes others','n: u32,','#[include(graph = graph, edges = ok)] use super::lib::nested;','    #[device]\n    fn ok(e: Edge, n: u32) -> bool { e.dst > n }')
I('fd20','refuse: a list with output in a fixpoint','n: u32,','#[include(graph = graph)] use super::lib::outp;')
I('fd21','refuse: items(.., new) in a fixpoint','n: u32,','#[include(graph = graph)] use super::lib::newer;')
I('fd22','refuse: frontier that is swept outside of fixpoints, in a fixpoint','n: u32,','#[include(graph = graph)] use super::lib::swept;')
I('fd23','refuse: list of an included graph taken outside of the fixpoint',O,'#[include(graph = graph)] '+u,extra='''    }
    #[wave(items(q_seen), after(f))]
    fn see(v: Node, o: &mut u32) { *o += v;''')
I('fd24','refuse: array scratch of the included graph read outside of the fixpoint',O,'#[include(graph = graph)] '+u,extra='''    }
    #[wave(nodes, after(f))]
    fn see(q_t: &u32, o: &mut u32) { *o += *q_t;''')
I('fd25','refuse: a field named edges shared','n: u32,','#[include(graph = graph, edges = n)] use super::lib::edgesfield;')
I('fd26','refuse?: filter of a graph with a reverse','n: u32,','#[include(graph = graph, edges = ok)] use super::lib::rev;','    #[device]\n    fn ok(e: Edge, n: u32) -> bool { e.dst > n }')
I('fd27','maybe: filter with &Rows and Records','#[topology(per = node)] text: Rows<u8>,\n#[topology(per = node)] a: [u32; 2],','#[include(graph = graph, edges = ok)] '+u,'    #[device]\n    fn ok(e: Edge, text: &Rows<u8>, a: &Records<[u32; 2]>) -> bool { text.row(e.dst).len() > a.get(e.src)[1] }')
I('fd28','maybe: filter from another module','n: u32,','#[include(graph = graph, edges = super::super::ok)] '+u,'')
I('fd29','refuse: filter with a reduction that a wave of the fixpoint updates, unordered','#[reduce(sum)] n: u32,','#[include(graph = graph, edges = ok)] '+u,'    #[device]\n    fn ok(e: Edge, n: u32) -> bool { e.dst > n }','''        #[wave(nodes)]
        fn up(n: &Reduce<Sum<u32>>) { n.add(1); }''')
I('fd30','maybe: filter with a reduction updated before','#[reduce(sum)] n: u32,','#[include(graph = graph, edges = ok, after(up))] '+u,'    #[device]\n    fn ok(e: Edge, n: u32) -> bool { e.dst > n }','''        #[wave(nodes)]
        fn up(n: &Reduce<Sum<u32>>) { n.add(1); }''')
I('fd31','refuse: filter twice','n: u32,','#[include(graph = graph, edges = ok, edges = ok)] '+u,'    #[device]\n    fn ok(e: Edge, n: u32) -> bool { e.dst > n }')
I('fd32','maybe: filter that takes the graph, &Csr','n: u32,','#[include(graph = graph, edges = ok)] '+u,'    #[device]\n    fn ok(e: Edge, graph: &Csr, n: u32) -> bool { graph.degree(e.dst) > n }')
I('fd33','refuse: filter generic','n: u32,','#[include(graph = graph, edges = ok)] '+u,'    #[device]\n    fn ok<T>(e: Edge, n: u32) -> bool { e.dst > n }')
I('fd34','refuse: filter takes the edge by reference','n: u32,','#[include(graph = graph, edges = ok)] '+u,'    #[device]\n    fn ok(e: &Edge, n: u32) -> bool { e.dst > n }')
I('fd35','refuse: filter reads scratch that a wave of the round writes, unordered','#[scratch(per = edge(graph))] s: u32,','#[include(graph = graph, edges = ok)] '+u,'    #[device]\n    fn ok(s: &u32, e: Edge) -> bool { *s > e.index }','''        #[wave(edges(graph))]
        fn up(s: &mut u32) { *s += 1; }''')
P('fe01','refuse: swap of scratch with reset','#[scratch(per = node, reset = round)] s: [u32; 2],\n#[scratch(per = node, reset = round)] t: [u32; 2],','''    #[fixpoint(until(round == 2), swap(s, t))]
    mod f {
        #[wave(nodes)]
        fn w(s: &mut [u32; 2], t: &[u32; 2]) { s[0] += t[1]; }
    }''')
P('fe02','refuse: swap of arrays of different lengths','#[scratch(per = node)] s: [u32; 2],\n#[scratch(per = node)] t: [u32; 3],','''    #[fixpoint(until(round == 2), swap(s, t))]
    mod f {
        #[wave(nodes)]
        fn w(s: &mut [u32; 2], t: &[u32; 3]) { s[0] += t[1]; }
    }''')
P('fe03','refuse: swap of an array and a flat buffer of as many values','#[scratch(per = node)] s: [u32; 2],\n#[scratch(per = node * 2)] t: u32,','''    #[fixpoint(until(round == 2), swap(s, t))]
    mod f {
        #[wave(nodes)]
        fn w(s: &mut [u32; 2], t: &Buf<u32>) { s[0] += t[1]; }
    }''')
P('fe04','refuse: swap of lists',RL+'#[list(unique)] k: List<Node>,','''    #[fixpoint(until(round == 2), swap(l, k))]
    mod f {
        #[wave(nodes)]
        fn w(v: Node, l: &Push) { l.push(v); }
    }''')
P('fe05','refuse: until asks a list of items that do not exist',RL,'''    #[fixpoint(until(l.length() == 0))]
    mod f {
        #[wave(nodes)]
        fn w(v: Node, l: &Push) { l.push(v); }
    }''')
P('fe06','refuse: until compares a list with the round before',RL,'''    #[fixpoint(until(l.len() == l.before))]
    mod f {
        #[wave(nodes)]
        fn w(v: Node, l: &Push) { l.push(v); }
    }''')
P('fe07','refuse: until compares a list\'s length with u64',RL+'#[reduce(count)] c: u64,','''    #[fixpoint(until(l.len() == c))]
    mod f {
        #[wave(nodes)]
        fn w(v: Node, l: &Push, c: &Reduce<Count>) { l.push(v); c.inc(); }
    }''')
P('fe08','refuse: a wave asks for a list\'s length',RL+O,'''    #[fixpoint(until(l.is_empty()))]
    mod f {
        #[wave(nodes)]
        fn w(v: Node, l: &Push) { if l.len() < 3 { l.push(v); } }
    }''')
P('fe09','refuse: a kernel with arrays','n: u32,','''    #[kernel]
    fn k(i: Index, x: &[u32; 4], y: &mut u32) { *y = x[0] + i; }''')
open('examples/fe10.rs','w').write('''//! refuse: a kernel with arrays, records
use vyre::prelude::*;
#[kernel]
fn k(i: Index, x: &[u32; 4], y: &mut u32) {
    *y = x[0] + i;
}
#[kernel]
fn l(i: Index, x: &Records<[u32; 4]>, y: &mut u32) {
    *y = x.get(i)[0] + i;
}
#[kernel]
fn m(i: Index, l: &Push, y: &mut u32) {
    l.push(i);
}
fn main() {}
''')
P('fe11','refuse: items of a unique list taken by &mut and by another list',RL+'#[list(unique)] k: List<Node>,\n'+O,FIX%('''        #[wave(nodes)]
        fn put(v: Node, l: &Push, k: &Push) { l.push(v); k.push(v); }
        #[wave(items(l), after(put))]
        fn a(o: &mut u32) { *o += 1; }
        #[wave(items(k), after(put))]
        fn b(o: &mut u32) { *o += 1; }'''))
P('fe12','refuse: two waves sweep one list and write own elements without an order',RL+O,FIX%('''        #[wave(nodes)]
        fn put(v: Node, l: &Push) { l.push(v); }
        #[wave(items(l), after(put))]
        fn a(o: &mut u32) { *o += 1; }
        #[wave(items(l), after(put))]
        fn b(o: &mut u32) { *o += 2; }'''))
P('fe13','refuse: item of a list has another type','#[list(capacity = node, reset = round)] l: List<(u32, u32)>,\n'+O,FIX%('''        #[wave(nodes)]
        fn put(v: Node, l: &Append<(u32, u32)>) { l.append((v, v)); }
        #[wave(items(l), after(put))]
        fn a(x: (u32, u64), o: &Buf<Atomic<u32>>) { o[x.0].fetch_add(1); }'''))
P('fe14','refuse: no item over a list of items','#[list(capacity = node, reset = round)] l: List<(u32, u32)>,\n'+O,FIX%('''        #[wave(nodes)]
        fn put(v: Node, l: &Append<(u32, u32)>) { l.append((v, v)); }
        #[wave(items(l), after(put))]
        fn a(o: &Buf<Atomic<u32>>) { o[0].fetch_add(1); }'''))
P('fe15','refuse: push with &Push<Node> / &Push<T> on unique list',RL+O,FIX%('''        #[wave(nodes)]
        fn put(v: Node, l: &Push<u64>) { l.push(v.into()); }'''))
P('fe16','maybe: push with &Push<Node> on a unique list',RL+O,FIX%('''        #[wave(nodes)]
        fn put(v: Node, l: &Push<Node>) { l.push(v); }
'''+get))
P('fe17','maybe: a list that is pushed to and never swept',UL+O,FIX%put)
P('fe18','maybe: a list that is swept and never pushed to',RL+O,FIX%get.replace(', after(put)',''))
P('fe19','refuse: deterministic with the slot of append','#[list(capacity = node, reset = round)] l: List<u32>,\n#[output(per = node)] o: u32,',FIX%'''        #[wave(nodes)]
        fn put(v: Node, l: &Append<u32>, o: &mut u32) { *o = l.append(v); }''',attr='(deterministic)')
P('fe20','refuse: deterministic: rounds end with a list of what changed, which begins anew, so that changes are lost','#[list(unique, reset = round)] l: List<Node>,\n#[output(per = node)] o: u32,\n#[input(per = node)] x: u32,','''    #[wave(nodes)]
    fn begin(x: &u32, o: &mut u32) { *o = *x; }
    #[fixpoint(after(begin), until(l.is_empty()), max_rounds = 1000)]
    mod f {
        #[wave(nodes)]
        fn seed(v: Node, round: Round, l: &Push) { if v == round { l.push(v); } }
        #[wave(edges(graph, from = l), after(seed))]
        fn lower(e: Edge, o: &Buf<Atomic<u32>>, l: &Push) {
            let x = o[e.src].load();
            if x < o[e.dst].fetch_min(x) { l.push(e.dst); }
        }
    }''',attr='(deterministic)')
P('fe21','refuse: deterministic: a list takes the place of the frontier, until asks the number of rounds','#[list(unique)] l: List<Node>,\n#[output(per = node)] o: u32,\n#[input(per = node)] x: u32,','''    #[wave(nodes)]
    fn begin(v: Node, x: &u32, o: &mut u32, l: &Push) { *o = *x; if v == 0 { l.push(v); } }
    #[fixpoint(after(begin), until(l.len() > 5 || round == 3), max_rounds = 1000)]
    mod f {
        #[wave(edges(graph, from = l))]
        fn lower(e: Edge, o: &Buf<Atomic<u32>>, l: &Push) {
            let x = o[e.src].load();
            if x < o[e.dst].fetch_min(x) { l.push(e.dst); }
        }
    }''',attr='(deterministic)')
P('fe22','refuse: deterministic: a filter does not help a race','#[list(unique)] l: List<Node>,\n#[output(per = node)] o: [u32; 2],','''    #[wave(edges(graph))]
    fn w(e: Edge, o: &Buf<Atomic<u32>>) { o[e.dst * 2].store(e.src); }''',attr='(deterministic)')
P('fe23','refuse?: deterministic: claims through a list whose push depends on who comes first','#[list(unique, reset = round)] l: List<Node>,\n#[scratch(per = node)] t: u32,\n#[output(per = node)] o: u32,',FIX%'''        #[wave(edges(graph))]
        fn put(e: Edge, t: &Buf<Atomic<u32>>, l: &Push) { if t[e.dst].compare_exchange(0, 1) { l.push(e.src); } }
        #[wave(items(l), after(put))]
        fn get(o: &mut u32) { *o += 1; }''',attr='(deterministic)')
P('fe24','refuse: deterministic: list of items given back, in any order? (accepted: same bits?)','#[list(capacity = node, output)] l: List<u32>,\n#[output(per = node)] o: u32,','''    #[wave(nodes)]
    fn put(v: Node, l: &Append<u32>) { l.append(v); }''',attr='(deterministic)')
P('fe25','refuse: deterministic: floats added over a list','#[list(unique, reset = round)] l: List<Node>,\n#[output(per = node)] o: f32,\n#[reduce(sum)] s: f32,',FIX%(put+'''        #[wave(items(l), after(put))]
        fn get(v: Node, o: &mut f32, s: &Reduce<Sum<f32>>) { *o += v as f32; s.add(*o); }'''),attr='(deterministic)')
open('examples/fe26.rs','w').write('''//! Two mistakes far from each other, and host code that uses the pass: two errors, no cascade.
use vyre::prelude::*;
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[list(unique, capacity = 3)] l: List<Node>,
        #[output(per = node)] o: [u32; 9],
    }
    #[wave(nodes)]
    fn put(v: Node, l: &Push, o: &mut [u32; 9]) { l.push(v); o[0] = 1; }
}
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = Csr::from_edges(2, &[(0, 1)])?;
    let mut session = p::Session::new(&Runtime::native(), &graph)?;
    let out = session.run(p::Run {})?;
    println!("{:?} {}", out.o, p::PLAN);
    Ok(())
}
''')
open('examples/fe27.rs','w').write('''//! Wrong use on the host: too few arrays, wrong array length, a list that is not given back.
use vyre::prelude::*;
#[wave_graph]
pub mod p {
    pub struct Data {
        #[topology] graph: Csr,
        #[input(per = node)] x: [u32; 3],
        #[list(unique)] l: List<Node>,
        #[output(per = node)] o: [u32; 3],
    }
    #[wave(nodes)]
    fn put(v: Node, x: &[u32; 3], l: &Push, o: &mut [u32; 3]) { l.push(v); *o = *x; }
}
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = Csr::from_edges(2, &[(0, 1)])?;
    let mut session = p::Session::new(&Runtime::native(), &graph)?;
    let out = session.run(p::Run { x: &[[1, 2]; 2] })?;
    println!("{:?}", out.l);
    let _: Vec<u32> = out.o;
    Ok(())
}
''')
P('fe28','refuse?: a device fn inside of a fixpoint module',O,FIX%'''        #[device]
        fn help(v: u32) -> u32 { v + 1 }
        #[wave(nodes)]
        fn put(v: Node, o: &mut u32) { *o += help(v); }''')
P('fe29','maybe: helpers take records, references to arrays','#[input(per = node)] x: [u32; 3],\n'+O,'''    #[device]
    fn a(x: &[u32; 3]) -> u32 { x[0] }
    #[device]
    fn b(x: &mut [u32; 3]) { x[0] = 1; }
    #[device]
    fn c(all: &Records<[u32; 3]>, v: u32) -> [u32; 3] { all.get(v) }
    #[wave(nodes)]
    fn put(v: Node, x: &Records<[u32; 3]>, o: &mut u32) { let mut y = c(x, v); b(&mut y); *o = a(&y); }''')
P('fe30','refuse: &Row of arrays','#[topology(per = node)] text: Rows<u8>,\n#[output(per = row(text))] o: [u32; 2],','''    #[wave(nodes)]
    fn put(v: Node, o: &mut Row<[u32; 2]>) { let _ = v; o[0] = [1, 2]; }''')
P('fe31','refuse: rows of a buffer of arrays','#[output(per = node * 3)] o: [u32; 2],','''    #[wave(nodes)]
    fn put(v: Node, o: &mut [[u32; 2]; 3]) { let _ = v; o[0] = [1, 2]; }''')
P('fe32','maybe: the row of a buffer of arrays as flat values: node * 3 arrays of 2 are node * 6 values','#[output(per = node * 3)] o: [u32; 2],','''    #[wave(nodes)]
    fn put(v: Node, o: &mut [u32; 6]) { let _ = v; o[0] = 1; }''')
P('fe33','maybe: own array as own row: per = node, [u32; 4] field taken as &mut [u32; 4] row of per = node * 4','#[output(per = node * 4)] o: u32,','''    #[wave(nodes)]
    fn put(v: Node, o: &mut [u32; 4]) { o[(v % 4) as usize] = 1; }''')
P('fe34','refuse: items(l) of a list that a swap or unknown names','#[output(per = node)] o: u32,','''    #[wave(items(lists))]
    fn put(v: Node, o: &mut u32) { *o = v; }''')
P('fe35','refuse: edges(graph, from = o) of a buffer','#[output(per = node)] o: u32,','''    #[wave(edges(graph, from = o))]
    fn put(e: Edge, o: &Buf<Atomic<u32>>) { o[e.dst].store(1); }''')

P('fe36','refuse: deterministic: a list of what changed, as often as it changed, in a fixpoint that lowers','#[frontier(unique)] fr: Frontier,\n#[list(capacity = node * 100)] l: List<u32>,\n#[output(per = node)] o: u32,\n#[output(per = node)] c: u32,\n#[input(per = node)] x: u32,','''    #[wave(nodes)]
    fn begin(v: Node, x: &u32, o: &mut u32, fr: &Push) { *o = *x; fr.push(v); }
    #[fixpoint(after(begin), until(fr.is_empty()))]
    mod f {
        #[wave(edges(graph, from = fr))]
        fn lower(e: Edge, o: &Buf<Atomic<u32>>, fr: &Push, l: &Append<u32>) {
            let x = o[e.src].load();
            if x < o[e.dst].fetch_min(x) { fr.push(e.dst); l.append(e.dst); }
        }
    }
    #[wave(items(l), after(f))]
    fn count(x: u32, c: &Buf<Atomic<u32>>) { c[x].fetch_add(1); }''',attr='(deterministic)')
P('fe37','maybe: deterministic: a unique list of what changed, in a fixpoint that lowers (the set is the same in each order)','#[frontier(unique)] fr: Frontier,\n#[list(unique)] l: List<Node>,\n#[output(per = node)] o: u32,\n#[output(per = node)] c: u32,\n#[input(per = node)] x: u32,','''    #[wave(nodes)]
    fn begin(v: Node, x: &u32, o: &mut u32, fr: &Push) { *o = *x; fr.push(v); }
    #[fixpoint(after(begin), until(fr.is_empty()))]
    mod f {
        #[wave(edges(graph, from = fr))]
        fn lower(e: Edge, o: &Buf<Atomic<u32>>, fr: &Push, l: &Push) {
            let x = o[e.src].load();
            if x < o[e.dst].fetch_min(x) { fr.push(e.dst); l.push(e.dst); }
        }
    }
    #[wave(items(l), after(f))]
    fn count(c: &mut u32) { *c += 1; }''',attr='(deterministic)')
P('fe38','refuse: deterministic: changes go to a list that begins anew, and the frontier gets only what the list has at the end of a round; until asks the list','#[frontier(unique)] fr: Frontier,\n#[list(unique, reset = round)] l: List<Node>,\n#[output(per = node)] o: u32,\n#[input(per = node)] x: u32,','''    #[wave(nodes)]
    fn begin(v: Node, x: &u32, o: &mut u32, fr: &Push) { *o = *x; fr.push(v); }
    #[fixpoint(after(begin), until(l.is_empty() || fr.len() < 3))]
    mod f {
        #[wave(edges(graph, from = fr))]
        fn lower(e: Edge, o: &Buf<Atomic<u32>>, l: &Push) {
            let x = o[e.src].load();
            if x < o[e.dst].fetch_min(x) { l.push(e.dst); }
        }
        #[wave(items(l), after(lower))]
        fn on(v: Node, fr: &Push) { fr.push(v); }
    }''',attr='(deterministic)')
P('fe39','maybe: the same with until(l.is_empty()): a list between, proven?','#[frontier(unique)] fr: Frontier,\n#[list(unique, reset = round)] l: List<Node>,\n#[output(per = node)] o: u32,\n#[input(per = node)] x: u32,','''    #[wave(nodes)]
    fn begin(v: Node, x: &u32, o: &mut u32, fr: &Push) { *o = *x; fr.push(v); }
    #[fixpoint(after(begin), until(fr.is_empty()))]
    mod f {
        #[wave(edges(graph, from = fr))]
        fn lower(e: Edge, o: &Buf<Atomic<u32>>, l: &Push) {
            let x = o[e.src].load();
            if x < o[e.dst].fetch_min(x) { l.push(e.dst); }
        }
        #[wave(items(l), after(lower))]
        fn on(v: Node, fr: &Push) { fr.push(v); }
    }''',attr='(deterministic)')
LOW='''pub mod lib {
    use vyre::prelude::*;
    #[wave_graph]
    pub mod q {
        pub struct Data { #[topology] graph: Csr, #[frontier(unique)] fr: Frontier, #[output(per = node)] o: u32, #[scratch(per = node)] flag: u32 }
        #[wave(nodes)]
        fn begin(v: Node, o: &mut u32, fr: &Push) { *o = v * 7 % 13; fr.push(v); }
        #[fixpoint(after(begin), until(fr.is_empty()))]
        mod f {
            #[wave(edges(graph, from = fr))]
            fn lower(e: Edge, o: &Buf<Atomic<u32>>, fr: &Push) {
                let x = o[e.src].load();
                if x < o[e.dst].fetch_min(x) { fr.push(e.dst); }
            }
            #[wave(nodes, after(lower))]
            fn mark(o: &u32, flag: &mut u32) { if *o < 3 { *flag = 1; } }
        }
    }
}
'''
for nm,flt,ex in [('fe40','s[e.dst] == 0','refuse: deterministic: a filter by what a wave of the same fixpoint changes: it closes edges'),('fe41','s[e.dst] == 1','maybe: deterministic: the filter opens edges, and nobody is told'),('fe42','e.index % 2 == 0','maybe: deterministic: a fixed filter')]:
    P(nm,ex,'#[scratch(per = node)] s: u32,','    #[device]\n    fn ok(e: Edge, s: &Buf<u32>) -> bool { '+flt+' }\n    #[include(graph = graph, flag = s, edges = ok)]\n    use super::lib::q;',pre=LOW,attr='(deterministic)')
P('fe43','maybe: deterministic: labels by a list that never flips, until nothing changes','#[list(unique)] l: List<Node>,\n#[output(per = node)] o: u32,\n#[reduce(or)] ch: bool,','''    #[wave(nodes)]
    fn begin(v: Node, o: &mut u32, l: &Push) { *o = v; if v % 2 == 0 { l.push(v); } }
    #[fixpoint(after(begin), until(!ch))]
    mod f {
        #[wave(edges(graph, from = l))]
        fn lower(e: Edge, o: &Buf<Atomic<u32>>, l: &Push, ch: &Reduce<Or<bool>>) {
            let x = o[e.src].load();
            if x < o[e.dst].fetch_min(x) { l.push(e.dst); ch.or(true); }
        }
    }''',attr='(deterministic)')
P('fe44','refuse: deterministic: the same where a change is only known to the list, until asks its length of the round before... ','#[list(unique)] l: List<Node>,\n#[output(per = node)] o: u32,','''    #[wave(nodes)]
    fn begin(v: Node, o: &mut u32, l: &Push) { *o = v; if v % 2 == 0 { l.push(v); } }
    #[fixpoint(after(begin), until(l.len() >= 4))]
    mod f {
        #[wave(edges(graph, from = l))]
        fn lower(e: Edge, o: &Buf<Atomic<u32>>, l: &Push) {
            let x = o[e.src].load();
            if x < o[e.dst].fetch_min(x) { l.push(e.dst); }
        }
    }''',attr='(deterministic)')
print(len(glob.glob('examples/*.rs')))
