//! vyre measured against other ways to compute the same, every result checked.
//!
//! `cargo run --release -p vyre-bench -- --workloads bfs-grid1000,bfs-rmat20 --markdown bench.md --svg plots`
//!
//! `bench cfg --out FILE` writes the control-flow graph of the toolchain's compiler, for `bench --cfg FILE` on a host
//! without a toolchain.

use std::process::ExitCode;

fn main() -> ExitCode {
    vyre_bench::main()
}
