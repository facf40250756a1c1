//! Passes for a page: `scripts/build-web` makes a directory of this and of `page`, which any web server can serve.
//!
//! JavaScript makes a [`Machine`], which says where passes run, and a [`Runner`], which is one pass on one graph. What a
//! run begins with and what it gives are 32-bit words by node, or by cell: the bits of an f32 where those are ranks.

pub mod passes;

use passes::{bfs::bfs, components::components, life::life, pagerank::pagerank};
use std::sync::Arc;
use vyre::core::plan::show::Plan;
use vyre::{Csr, Error, Report, Runtime};
use vyre_wgpu::Wgpu;
use wasm_bindgen::prelude::*;

/// Ranks that move by less than this in sum stand still.
const TOLERANCE: f32 = 1e-4;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn console_error(text: &str);
}

/// Has panics say on the console where they are: all that a page learns otherwise is that something was unreachable.
#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|panic| console_error(&panic.to_string())));
}

fn told(e: impl ToString) -> JsError {
    JsError::new(&e.to_string())
}

/// What runs passes.
#[wasm_bindgen]
pub struct Machine(Runtime);

#[wasm_bindgen]
impl Machine {
    /// This thread.
    pub fn cpu() -> Machine {
        Machine(Runtime::vir0())
    }

    /// The browser's GPU.
    ///
    /// # Errors
    /// It gives no adapter, or one that lacks what passes need.
    pub async fn webgpu() -> Result<Machine, JsError> {
        let wgpu = Wgpu::open_async(None).await.map_err(told)?;
        Ok(Machine(Runtime::on(Arc::new(wgpu))))
    }

    /// What it is.
    #[wasm_bindgen(js_name = toString)]
    pub fn text(&self) -> String {
        self.0.to_string()
    }
}

/// A pass, by its name: how it is written, and its plan as text and as a picture.
#[wasm_bindgen(getter_with_clone)]
pub struct About {
    /// Its file.
    pub source: String,
    /// What the compiler has planned.
    pub plan: String,
    /// The same as SVG.
    pub picture: String,
}

/// What there is to know of a pass before it runs.
///
/// # Errors
/// There is none of this name.
#[wasm_bindgen]
pub fn about(pass: &str) -> Result<About, JsError> {
    let of = |source: &str, plan: Plan| About {
        source: source.to_owned(),
        plan: plan.to_string(),
        picture: plan.svg(),
    };
    Ok(match pass {
        "bfs" => of(include_str!("passes/bfs.rs"), bfs::PLAN),
        "components" => of(include_str!("passes/components.rs"), components::PLAN),
        "pagerank" => of(include_str!("passes/pagerank.rs"), pagerank::PLAN),
        "life" => of(include_str!("passes/life.rs"), life::PLAN),
        _ => return Err(no_pass(pass)),
    })
}

fn no_pass(name: &str) -> JsError {
    told(format_args!("there is no pass `{name}`"))
}

/// A pass on a graph; `life` is on a board.
#[wasm_bindgen]
pub struct Runner(Session);

enum Session {
    Bfs(bfs::Session),
    Components(components::Session),
    PageRank(pagerank::Session),
    Life(life::Session),
}

/// What a run gave.
#[wasm_bindgen(getter_with_clone)]
pub struct Done {
    /// By node or cell.
    pub values: Vec<u32>,
    /// Rounds of the fixpoint.
    pub rounds: u32,
}

#[wasm_bindgen]
impl Runner {
    /// Uploads the graph: nodes, and edges as sources and targets by turns.
    ///
    /// # Errors
    /// There is no such pass, an edge leads nowhere, or the machine has no room.
    #[wasm_bindgen(constructor)]
    pub fn new(
        machine: &Machine,
        pass: &str,
        nodes: u32,
        edges: &[u32],
    ) -> Result<Runner, JsError> {
        let edges: Vec<(u32, u32)> = edges.as_chunks().0.iter().map(|&[u, v]| (u, v)).collect();
        let graph = Csr::from_edges(nodes as usize, &edges).map_err(told)?;
        let Machine(runtime) = machine;
        let session = match pass {
            "bfs" => bfs::Session::new(runtime, &graph).map(Session::Bfs),
            "components" => components::Session::new(runtime, &graph).map(Session::Components),
            "pagerank" => pagerank::Session::new(runtime, &graph).map(Session::PageRank),
            "life" => life::Session::new(runtime, ()).map(Session::Life),
            _ => return Err(no_pass(pass)),
        };
        Ok(Runner(session.map_err(told)?))
    }

    /// Runs the pass: `at` is the source of a search, and the width of a board. The others go on from what `first` has
    /// for each node or cell, for so many rounds at most.
    ///
    /// # Errors
    /// What the run says.
    pub async fn run(&mut self, at: u32, first: Vec<u32>, rounds: u32) -> Result<Done, JsError> {
        self.0.run(at, &first, rounds).await.map_err(told)
    }

    /// What was decided for the last runs.
    pub fn explain(&self) -> String {
        match &self.0 {
            Session::Bfs(session) => session.explain().to_string(),
            Session::Components(session) => session.explain().to_string(),
            Session::PageRank(session) => session.explain().to_string(),
            Session::Life(session) => session.explain().to_string(),
        }
    }
}

impl Session {
    async fn run(&mut self, at: u32, first: &[u32], rounds: u32) -> Result<Done, Error> {
        let done = |values, report: &Report| Done {
            values,
            rounds: report.total_rounds() as u32,
        };
        Ok(match self {
            Session::Bfs(session) => {
                let out = session.run_async(bfs::Run { source: at }).await?;
                done(out.dist, &out.report)
            }
            Session::Components(session) => {
                let run = components::Run { first, rounds };
                let out = session.run_async(run).await?;
                done(out.label, &out.report)
            }
            Session::PageRank(session) => {
                let ranks: Vec<f32> = first.iter().map(|&bits| f32::from_bits(bits)).collect();
                let run = pagerank::Run {
                    first: &ranks,
                    start: 1.0 / first.len().max(1) as f32,
                    tolerance: TOLERANCE,
                    rounds,
                };
                let out = session.run_async(run).await?;
                let values = out.rank.iter().map(|rank| rank.to_bits()).collect();
                done(values, &out.report)
            }
            Session::Life(session) => {
                let run = life::Run {
                    first,
                    cells: first.len() as u32,
                    width: at,
                    rounds,
                };
                let out = session.run_async(run).await?;
                done(out.now, &out.report)
            }
        })
    }
}
