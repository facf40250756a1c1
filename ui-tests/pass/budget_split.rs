//! A level that does not fit is split, and the plan says so; nothing warns.
#![deny(warnings)]
use vyre::prelude::*;

/// Two waves that need each other's room.
#[wave_graph(limits(nodes = 1_000, edges = 0), budget = "8 KiB")]
#[pass(id = "ui.split", speedup = 1.5, evidence = "evidence/budget_split.csv")]
mod split {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        a: u32,
        #[scratch(per = node)]
        b: u32,
    }

    #[wave(nodes)]
    fn first(a: &mut u32) {
        *a = 1;
    }

    #[wave(nodes)]
    fn second(b: &mut u32) {
        *b = 1;
    }
}

fn main() {
    let plan = split::PLAN.to_string();
    assert!(plan.contains("--- barrier: the level is split to fit 8 KiB"), "{plan}");
    assert!(plan.contains("limits 1_000 nodes, 0 edges"), "{plan}");
    let runtime = Runtime::native();
    let graph = Csr::from_edges(1_000, &[]).expect("no edges");
    let mut session = split::Session::new(&runtime, &graph).expect("it fits");
    session.run(split::Run {}).expect("it runs");
    let passes = vyre::passes();
    assert_eq!(passes[0].manifest().proof.expect("evidence").samples, 2);
}
