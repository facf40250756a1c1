#![allow(dead_code, unused)]
use vyre::prelude::*;
mod lib { use vyre::prelude::*;
#[wave_graph] pub mod bad { pub struct Data { #[topology] graph: Csr, #[output(per = node)] o: u32, #[scratch(per = node)] s: u32 }
 #[wave(nodes)] fn a(o: &mut u32) { *o = zzz; } } }
#[wave_graph] mod o { pub struct Data { #[topology] g: Csr } #[fixpoint(until(round == 1))] mod f { #[include(graph = g)] use super::super::lib::bad; } #[fixpoint(until(round == 1))] mod h { #[include(graph = g)] use super::super::lib::bad as bad2; } }
fn main() {}
