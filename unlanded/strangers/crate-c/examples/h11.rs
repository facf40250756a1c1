#![allow(dead_code, unused)]
use vyre::prelude::*;
mod lib { use vyre::prelude::*;
#[wave_graph] pub mod bad { pub struct Data { #[topology] graph: Csr, #[output(per = node)] o: u32, #[scratch(per = node)] s: u32 }
 #[wave(nodes)] fn a(o: &mut u32) { *o = 1.5; } } }
#[wave_graph] mod o { #[include(graph = g)] use super::lib::bad; pub struct Data { #[topology] g: Csr } }
fn main() {}
