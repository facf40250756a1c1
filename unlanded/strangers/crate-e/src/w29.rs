//! A session that has just its figure as its budget opens and runs; one that has a byte less is refused (natively).
use crate::common::*;
use vyre::core::plan::footprint::{Sizes, footprint};
macro_rules! fits {
    ($name:ident, $edges:expr, $rng:expr, $g:expr) => {{
        let sizes = Sizes { nodes: $g.n as u64, edges: $edges, ..Sizes::default() };
        let f = footprint(&crate::$name::p::PLAN.program(), &sizes);
        let seed = $rng.next();
        for bytes in [f.shared_bytes, f.separate_bytes] {
            for threads in [1, 4] {
                let rt = Runtime::native_threads(threads).map_err(err)?.with_memory(bytes);
                crate::$name::check(&rt, &mut Rng(seed), $g).map_err(|e| format!("WRONG {} with its figure {bytes}, {threads} threads: {e}", stringify!($name)))?;
            }
        }
        let rt = Runtime::native().with_memory(f.shared_bytes - 1);
        match crate::$name::check(&rt, &mut Rng(seed), $g) {
            Err(e) if e.contains("bytes are needed") => {}
            other => println!("NOTE {} with a byte less than {} ({} nodes): {other:?}", stringify!($name), f.shared_bytes, $g.n),
        }
    }};
}
pub fn check(rt: &Runtime, rng: &mut Rng, g: &G) -> R {
    if !rt.to_string().contains("native") {
        return Ok(());
    }
    let m = g.m() as u64;
    fits!(w02, vec![m, m], rng, g);
    fits!(w12, vec![m, m], rng, g);
    fits!(w23, vec![m, m], rng, g);
    fits!(w24, vec![m], rng, g);
    fits!(w27, vec![m], rng, g);
    fits!(w06, vec![m], rng, g);
    fits!(w17, vec![m], rng, g);
    Ok(())
}
