#![allow(dead_code, unused)]
use vyre::prelude::*;
mod lib { use vyre::prelude::*;
#[wave_graph] pub mod bad { pub struct Data { #[topology] graph: Csr, #[output(per = node)] o: u32, #[scratch(per = node)] s: u32 }
 #[wave(nodes)] fn a(q: &Buf<u32>, o: &mut u32) { *o = 1; } } }
#[wave_graph] mod o { pub struct Data { #[topology] g: Csr } #[fixpoint(until(round == 1))] mod f { #[include(graph = g)] use super::super::lib::bad; }  #[wave(nodes, after(f))] fn x(bad_o: &u32) { assert!(*bad_o == 1); } }
fn main() {}
