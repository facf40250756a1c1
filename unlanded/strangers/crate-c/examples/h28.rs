#![allow(dead_code, unused)]
use vyre::prelude::*;
mod lib { use vyre::prelude::*;
#[wave_graph] pub mod bfs { const FAR: u32 = u32::MAX;
 pub struct Data { #[topology] graph: Csr, #[frontier] front: Frontier, #[input(per = 1)] source: u32, #[output(per = node, init = FAR)] dist: u32, #[scratch(per = node)] tmp: u32, #[scratch(per = node, reset = round)] rs: u32, #[reduce(count)] inside: u64 }
 #[wave(once)] fn begin(source: &Buf<u32>, dist: &Buf<Atomic<u32>>, front: &Push) { dist[source[0]].store(0); front.push(source[0]); }
 #[wave(nodes)] fn tt(tmp: &mut u32) { *tmp += 1; }
 #[fixpoint(after(begin), until(front.is_empty()))] mod levels {
  #[wave(edges(graph, from = front))] fn relax(e: Edge, round: Round, dist: &Buf<Atomic<u32>>, front: &Push, inside: &Reduce<Count>) { if dist[e.dst].compare_exchange(FAR, round + 1) { front.push(e.dst); inside.inc(); } }
  #[wave(nodes)] fn rr(rs: &mut u32) { *rs += 1; }
 } }
#[wave_graph] pub mod lst { pub struct Data { #[topology] graph: Csr, #[list(capacity = node)] l: List<u32> }
 #[wave(nodes)] fn a(v: Node, l: &Append<u32>) { l.append(v); } }
#[wave_graph] pub mod sweeps { pub struct Data { #[topology] graph: Csr, #[frontier] f: Frontier, #[output(per = node)] o: u32 }
 #[wave(nodes)] fn a(v: Node, f: &Push) { f.push(v); } #[wave(edges(graph, from = f), after(a))] fn b(e: Edge, o: &Buf<Atomic<u32>>) { o[e.dst].fetch_add(1); } }
#[wave_graph] pub mod swp { pub struct Data { #[topology] graph: Csr, #[output(per = node, init = 1)] a: u32, #[output(per = node, init = 2)] b: u32 }
 #[fixpoint(until(round == 3), swap(a, b))] mod fx { #[wave(nodes)] fn w(a: &u32, b: &mut u32) { *b = *a + 1; } } }
#[wave_graph] pub mod scal { pub struct Data { #[topology] graph: Csr, #[output(per = node)] a: u32, k: u32 }
 #[wave(nodes)] fn w(k: u32, a: &mut u32) { *a = k; } }
}
#[wave_graph] mod outer {
    pub struct Data { #[topology] g: Csr, #[scratch(per = 1)] from: u32, }
    
    #[fixpoint(until(bfs_front.is_empty()))]
    mod loops {
        #[include(graph = g, source = from)]
        use super::super::lib::bfs;
    }
    
}
fn main() {}
