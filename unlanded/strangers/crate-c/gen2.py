src=open('/tmp/gen.py').read().split("P={")[0]
exec(src)
import os
os.chdir(os.path.dirname(os.path.abspath(__file__)) + '/examples')
BAD='''mod lib { use vyre::prelude::*;
#[wave_graph] pub mod bad { pub struct Data { #[topology] graph: Csr, #[output(per = node)] o: u32, #[scratch(per = node)] s: u32 }
 #[wave(nodes)] fn a(o: &mut u32) { *o = %s; } } }
'''
P={
'h01': inc(f'#[include(graph = g)]\n        {U}nothere;'),
'h02': inc('#[include(graph = g, source = from)]\n        use super::super::nolib::bfs;'),
'h03': inc('#[include(graph = g, source = from)]\n        use crate::lib::bfs;'),
'h04': inc(f'#[include(graph = g, source = from, after(bfs))]\n        {U}bfs;'),
'h05': inc(f'#[include(graph)]\n        {U}bfs;'),
'h06': inc(f'#[include(graph = g, graph = g, source = from)]\n        {U}bfs;'),
'h07': inc('#[include(graph = g, source = from)]\n        use super::lib::bfs;\n        #[include(graph = g, source = from)]\n        use super::super::lib::bfs as b2;'),
'h08': g('#[topology(per = node)] t: Rows<u32>, #[output(per = node)] o: u32,','#[device] fn f(t: Row<u32>) -> u32 { t.len() }\n    #[wave(nodes)]\n    fn a(t: &Row<u32>, o: &mut u32) { *o = f(t); }'),
'h09': g('#[topology(per = node)] t: Rows<u32>, #[output(per = node)] o: u32,','#[device] fn f(t: &Rows<u32>, v: u32) -> u32 { t.row(v).len() }\n    #[wave(nodes)]\n    fn a(v: Node, t: &Rows<u32>, o: &mut u32) { *o = f(t, v); }'),
'h10': g('#[scratch(per = node, init = n, reset = round)] s: u32, n: u32,','#[fixpoint(until(round == 1))] mod f { #[wave(nodes)]\n    fn a(s: &mut u32) { *s += 1; } }'),
'h11': BAD % '1.5' + '#[wave_graph] mod o { #[include(graph = g)] use super::lib::bad; pub struct Data { #[topology] g: Csr } }',
'h12': BAD % 'zzz' + '#[wave_graph] mod o { pub struct Data { #[topology] g: Csr } #[fixpoint(until(round == 1))] mod f { #[include(graph = g)] use super::super::lib::bad; } #[fixpoint(until(round == 1))] mod h { #[include(graph = g)] use super::super::lib::bad as bad2; } }',
'h13': (BAD % '1').replace('fn a(o','fn a(q: &Buf<u32>, o') + '#[wave_graph] mod o { pub struct Data { #[topology] g: Csr } #[fixpoint(until(round == 1))] mod f { #[include(graph = g)] use super::super::lib::bad; }  #[wave(nodes, after(f))] fn x(bad_o: &u32) { assert!(*bad_o == 1); } }',
'h14': g('#[output(per =)] o: u32,','#[wave(nodes)]\n    fn a(o: &mut u32) { *o = 1; }'),
'h15': g('#[output(per)] o: u32,','#[wave(nodes)]\n    fn a(o: &mut u32) { *o = 1; }'),
'h16': g('#[output(per = n)] o: u32, n: u32,','#[wave(range(n,))]\n    fn a(o: &mut u32) { *o = 1; }'),
'h17': g('#[output(per = node)] o: u32,','#[fixpoint(until())] mod f { #[wave(nodes)]\n    fn a(o: &mut u32) { *o = 1; } }'),
'h18': g('#[output(per = node)] o: u32,','#[fixpoint(until(round ==))] mod f { #[wave(nodes)]\n    fn a(o: &mut u32) { *o = 1; } }'),
'h19': g('#[output(per = node)] o: u32,','#[fixpoint(until(round == 1), max_rounds = 0)] mod f { #[wave(nodes)]\n    fn a(o: &mut u32) { *o = 1; } }'),
'h20': g('#[output(per = node)] o: u32,','#[fixpoint(until(round == 1), max_rounds = 5_000_000_000)] mod f { #[wave(nodes)]\n    fn a(o: &mut u32) { *o = 1; } }'),
'h21': g('#[output(per = node)] o: u32, n: u32,','#[fixpoint(until(round == 1), max_rounds = n)] mod f { #[wave(nodes)]\n    fn a(o: &mut u32) { *o = 1; } }'),
'h22': g('#[topology] t: Rows<u8>, #[output(per = node)] o: u32,','#[wave(nodes)]\n    fn a(v: Node, t: &Rows<u8>, o: &mut u32) { *o = t.row(v).len(); }'),
'h23': inc(f'#[include(graph = g, source = from)]\n        {U}bfs as loops;'),
'h24': inc(f'#[include(graph = g, source = from)]\n        {U}bfs as round;'),
'h25': inc(f'#[include(graph = g, source = from)]\n        {U}bfs as from;'),
'h26': inc(f'#[include(graph = g, source = from)]\n        {U}bfs;','#[wave(nodes, after(loops))]\n    fn see(bfs_inside: u64, out: &mut u64) { *out = bfs_inside; }', '#[scratch(per = 1)] from: u32, #[output(per = node)] out: u64,'),
'h27': inc(f'#[include(graph = g, source = from)]\n        {U}bfs;','#[fixpoint(after(loops), until(bfs_front.is_empty()))] mod two { #[wave(nodes)] fn x(out: &mut u64) { *out = 3; } }', '#[scratch(per = 1)] from: u32, #[output(per = node)] out: u64,'),
'h28': inc(f'#[include(graph = g, source = from)]\n        {U}bfs;', until='bfs_front.is_empty()'),
'h29': inc(f'#[include(graph = g, source = from)]\n        {U}bfs;', until='levels == 3'),
'h30': inc(f'#[include(graph = g, source = from)]\n        {U}bfs;', until='bfs_levels == 3'),
'h31': inc(f'#[include(graph = g, source = from)]\n        {U}bfs;\n #[wave(nodes, after(bfs_levels))] fn q(out: &mut u32) {{ *out = 1; }}', data='#[scratch(per = 1)] from: u32, #[output(per = node)] out: u32,'),
'h32': inc(f'#[include(graph = g, source = from)]\n        {U}bfs;', attrs=', swap(bfs_dist, out)', data='#[scratch(per = 1)] from: u32, #[output(per = node, init = u32::MAX)] out: u32,'),
'h33': g('#[output(per = w * h)] o: u32, w: u32, h: u32,','#[device] fn f(c: &Cell) -> u32 { c.x }\n    #[wave(range(w, h))]\n    fn a(c: Cell, o: &mut u32) { *o = f(&c); }'),
'h34': g('#[output(per = w * h)] o: u32, w: u32, h: u32,','#[wave(range(w, h))]\n    fn a(Cell { x, y, .. }: Cell, o: &mut u32) { *o = x + y; }'),
'h35': g('#[output(per = w * h)] o: u32, w: u32, h: u32,','#[wave(range(w, h))]\n    fn a(c: Cell, o: &mut u32) { *o = if c == c { 1 } else { 0 }; }'),
'h36': g('#[output(per = w * h)] o: u32, w: u32, h: u32,','#[wave(range(w, h))]\n    fn a(c: Cell, o: &mut u32) { let (p, q) = (c, 1); *o = p.x + q; }'),
'h37': g('#[output(per = 100000 * 100000 - 100000 * 100000 + 3)] o: u32,','#[wave(range(3))]\n    fn a(i: Index, o: &mut u32) { *o = i; }'),
'h38': g('#[output(per = 99999999999999999999 * 99999999999999999999 / 99999999999999999999)] o: u32,','#[wave(once)]\n    fn a(o: &Buf<Atomic<u32>>) { o[0].store(1); }'),
'h39': g('#[output(per = n % m * n / m - n % m)] o: u32, n: u32, m: u32,','#[wave(range(n % m * n / m - (n % m)))]\n    fn a(i: Index, o: &mut u32) { *o = i; }'),
'h40': g('#[output(per = node)] o: u32,','#[wave(nodes)]\n    fn a(v: Node, g: &Csr, o: &mut u32) { for n in g.neighbors(v) { let x = n; if x > 3 { return 5; } *o += 1; } }'),
}
for k,v in P.items():
    open(k+'.rs','w').write('#![allow(dead_code, unused)]\nuse vyre::prelude::*;\n'+v+'\nfn main() {}\n')
