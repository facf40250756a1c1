//! What exact sums of floats cost: a sweep that only adds, by type and by how far the sizes of the terms lie apart, and
//! an iteration of PageRank, once as examples have it and once `deterministic`.
//!
//! `cargo run --release -p vyre-bench --example exact -- --backend native`
//!
//! On a GPU, a deterministic pass differs by more than its sums: the neighbour loop of PageRank adds floats, so it stays
//! with the lane of its node.

use clap::Parser;
use std::time::Instant;
use vyre::prelude::*;
use vyre_examples::cli;
use vyre_examples::graph::rmat;
use vyre_examples::passes::pagerank;

#[derive(Clone, Copy, clap::ValueEnum)]
enum Backend {
    Native,
    Cuda,
}

/// Measures exact sums against ordinary ones
#[derive(Parser)]
struct Options {
    #[arg(long, value_enum)]
    backend: Backend,
    /// Terms of the sweeps that only add
    #[arg(long, default_value_t = 1 << 24, value_parser = cli::number::<u32>(0..=u32::MAX))]
    terms: u32,
    /// The graph has 2^SCALE nodes and 16 times as many edges
    #[arg(long, default_value_t = 20, value_parser = cli::number::<u32>(0..=28))]
    scale: u32,
}

/// A sweep that adds a float an item. Of its bits, those in `spread` depend on the item.
macro_rules! adds {
    ($id:literal, $name:ident, $reduce:ident, $marker:ident, $ty:ty) => {
        #[wave_graph]
        #[pass(id = $id, unproven)]
        #[allow(unreachable_pub, reason = "a pass of the benchmark")]
        mod $name {
            pub struct Data {
                #[reduce($reduce)]
                total: $ty,
                terms: u32,
                spread: u32,
            }

            #[wave(range(terms))]
            fn add(i: Index, spread: u32, total: &Reduce<$marker<$ty>>) {
                let bits = i.wrapping_mul(0x9e37_79b9) & spread | 0x3000_0000;
                total.add(f32::from_bits(bits) as $ty);
            }
        }
    };
}

adds!("bench.sum_f32", sum_f32, sum, Sum, f32);
adds!("bench.exact_f32", exact_f32, exact_sum, ExactSum, f32);
adds!("bench.sum_f64", sum_f64, sum, Sum, f64);
adds!("bench.exact_f64", exact_f64, exact_sum, ExactSum, f64);

/// [`pagerank`] with the same bits everywhere.
#[wave_graph(deterministic)]
#[pass(id = "bench.exact_pagerank", unproven)]
#[allow(unreachable_pub, reason = "a pass of the benchmark")]
mod exact_pagerank {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(reverse_of = graph)]
        incoming: Csr,
        #[output(per = node)]
        rank: f32,
        #[scratch(per = node)]
        part: f32,
        #[scratch(per = node)]
        share: f32,
        #[reduce(exact_sum)]
        dangling: f32,
        #[reduce(exact_sum)]
        moved: f32,
        start: f32,
        damping: f32,
        spread: f32,
        restart: f32,
        tolerance: f32,
    }

    #[wave(nodes)]
    fn init(v: Node, graph: &Csr, damping: f32, start: f32, rank: &mut f32, part: &mut f32) {
        *rank = start;
        let degree = graph.degree(v);
        if degree > 0 {
            *part = damping / degree as f32;
        }
    }

    #[fixpoint(after(init), until(moved < tolerance), max_rounds = 1_000)]
    mod iteration {
        #[wave(nodes)]
        fn scatter(rank: &f32, part: &f32, share: &mut f32, dangling: &Reduce<ExactSum<f32>>) {
            *share = *rank * *part;
            if *part == 0.0 {
                dangling.add(*rank);
            }
        }

        #[wave(nodes, after(scatter))]
        fn gather(
            v: Node,
            incoming: &Csr,
            share: &Buf<f32>,
            dangling: f32,
            spread: f32,
            restart: f32,
            rank: &mut f32,
            moved: &Reduce<ExactSum<f32>>,
        ) {
            let mut next = restart + spread * dangling;
            for u in incoming.neighbors(v) {
                next += share[u];
            }
            moved.add((next - *rank).abs());
            *rank = next;
        }
    }
}

/// The best of nine runs in milliseconds, of the device where it tells them.
fn best(mut run: impl FnMut() -> Option<u64>) -> f64 {
    let once = |_| {
        let started = Instant::now();
        let device_ns = run();
        device_ns.unwrap_or(started.elapsed().as_nanos() as u64)
    };
    (0..9).map(once).min().unwrap_or(0) as f64 / 1e6
}

fn main() -> Result<(), vyre::Error> {
    let options = Options::parse();
    let runtime = match options.backend {
        Backend::Native => Runtime::native(),
        Backend::Cuda => Runtime::cuda()?,
    };
    let terms = options.terms;
    for (name, spread) in [
        ("one size", 0x007f_ffff),
        ("sizes up to 2^8 apart", 0x03ff_ffff),
        ("sizes up to 2^64 apart", 0x1fff_ffff),
    ] {
        println!("{terms} terms of {name}, milliseconds");
        macro_rules! row {
            ($name:ident) => {{
                let mut session = $name::Session::new(&runtime, ())?;
                let mut run = || session.run($name::Run { terms, spread });
                run()?;
                let ms = best(|| run().expect("it ran before").report.device_ns);
                println!("  {:10} {ms:9.3}", stringify!($name));
            }};
        }
        row!(sum_f32);
        row!(exact_f32);
        row!(sum_f64);
        row!(exact_f64);
    }

    let graph = rmat(options.scale, 16, 1).expect("the graph has nodes");
    println!(
        "PageRank of 2^{} nodes, milliseconds a round",
        options.scale
    );
    let start = 1.0 / graph.node_count() as f32;
    macro_rules! ranks {
        ($name:ident) => {{
            let mut session = $name::Session::new(&runtime, &graph)?;
            let mut rounds = 0;
            let ms = best(|| {
                let out = session.run($name::Run {
                    start,
                    damping: 0.85,
                    spread: 0.85 * start,
                    restart: 0.15 * start,
                    tolerance: 1e-5,
                });
                let report = out.expect("it fits").report;
                rounds = report.rounds.iter().sum();
                report.device_ns
            });
            let each = ms / rounds.max(1) as f64;
            println!("  {:15} {each:9.3} ({rounds} rounds)", stringify!($name));
        }};
    }
    ranks!(pagerank);
    ranks!(exact_pagerank);
    Ok(())
}
