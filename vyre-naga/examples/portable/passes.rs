//! The examples whose passes are in a file of their own, as modules. `vyre-examples` has the others. The tests of
//! `shader-evaluator` take this file in, too.

macro_rules! examples {
    ($($name:ident $path:literal;)*) => {$(
        #[path = $path]
        #[allow(dead_code, unreachable_pub, missing_docs, reason = "an example's own crate, as a module")]
        pub mod $name;
    )*};
}

examples! {
    bellman_ford "../../../examples/examples/bellman_ford.rs";
    betweenness "../../../examples/examples/betweenness.rs";
    bitonic "../../../examples/examples/bitonic.rs";
    dfa "../../../examples/examples/dfa.rs";
    dominators "../../../examples/examples/dominators.rs";
    kcore "../../../examples/examples/kcore.rs";
    mis "../../../examples/examples/mis.rs";
    msf "../../../examples/examples/msf.rs";
    reachability "../../../examples/examples/reachability.rs";
    scc "../../../examples/examples/scc.rs";
    sssp "../../../examples/examples/sssp.rs";
    taint "../../../examples/examples/taint.rs";
}
