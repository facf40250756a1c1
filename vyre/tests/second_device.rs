//! A device that no crate of vyre knows: its backend says what it has in memory, and budgets count by that.

#![allow(missing_docs, reason = "the pass is public only to be like a user's")]

use std::any::Any;
use std::sync::Arc;
use vyre::Error;
use vyre::core::cpu::Vir0;
use vyre::core::dsl::error::RunError;
use vyre::core::plan::device::{DeviceMemory, FrontierBytes};
use vyre::core::plan::side::Floor;
use vyre::core::run::args::TopologyArgs;
use vyre::core::run::backend::{Backend, Executor, Holder, Opening};
use vyre::core::vir0::module::{FrontierId, Program};
use vyre::core::vir0::sizes::Sizes;
use vyre::prelude::*;

#[wave_graph]
pub mod squares {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[scratch(per = node)]
        square: u32,
        #[output(per = node)]
        more: u32,
        by: u32,
    }

    #[wave(nodes)]
    fn multiply(v: Node, square: &mut u32) {
        *square = v * v;
    }

    #[wave(nodes, after(multiply))]
    fn add(by: u32, square: &u32, more: &mut u32) {
        *more = *square + by;
    }
}

/// A board, on which the interpreter plays the device.
struct Board {
    memory: Arc<Pages>,
}

/// Memory in pages.
#[derive(Debug, PartialEq)]
struct Pages {
    page_bytes: u64,
    /// For each node, besides what the pass declares.
    node_bytes: u64,
}

impl DeviceMemory for Pages {
    fn align_bytes(&self) -> u64 {
        self.page_bytes
    }

    fn frontier(&self, _: &Program, _: FrontierId, _: &Sizes) -> FrontierBytes {
        FrontierBytes::default()
    }

    fn beside_bytes(&self, _: &Program, sizes: &Sizes) -> u64 {
        self.node_bytes * sizes.nodes
    }

    fn is(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

impl Backend for Board {
    fn name(&self) -> &'static str {
        "board"
    }

    fn device(&self) -> String {
        "a board".to_owned()
    }

    fn floor(&self) -> Floor {
        Floor {
            run_ns: 500.0,
            round_ns: 20.0,
            item_ns: 2.0,
        }
    }

    fn holder(&self, _: &Program, _: &TopologyArgs<'_>) -> Result<Holder, RunError> {
        Ok(Holder::Device(
            Arc::clone(&self.memory) as Arc<dyn DeviceMemory>
        ))
    }

    fn is_host(&self) -> bool {
        false
    }

    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Executor>, RunError> {
        Vir0.open(opening)
    }
}

fn board(page_bytes: u64, node_bytes: u64) -> Runtime {
    Runtime::on(Arc::new(Board {
        memory: Arc::new(Pages {
            page_bytes,
            node_bytes,
        }),
    }))
}

/// What a session of ten nodes is counted to take, after it ran.
fn counted(runtime: &Runtime) -> u64 {
    let runtime = runtime.clone().with_memory(1 << 20);
    let graph = Csr::from_edges(10, &[(0, 1)]).expect("a graph");
    let mut session = squares::Session::new(&runtime, &graph).expect("it fits");
    let out = session.run(squares::Run { by: 3 }).expect("it runs");
    assert_eq!(out.more, (0..10).map(|v| v * v + 3).collect::<Vec<u32>>());
    assert_eq!(out.report.backend, "board");
    runtime.memory().expect("there is a budget").1
}

#[test]
fn a_budget_counts_what_a_device_says_that_it_has() {
    let small = counted(&board(64, 0));
    assert_eq!(counted(&board(4_096, 0)) - small, 4_096 - 64);
    assert_eq!(counted(&board(64, 100)) - small, 10 * 100);
}

#[test]
fn a_session_that_a_device_has_no_room_for_is_refused_by_what_it_takes() {
    let runtime = board(4_096, 100);
    let takes = counted(&runtime);
    let graph = Csr::from_edges(10, &[(0, 1)]).expect("a graph");
    let enough = runtime.clone().with_memory(takes);
    assert!(squares::Session::new(&enough, &graph).is_ok());
    let short = runtime.with_memory(takes - 1);
    let refused = squares::Session::new(&short, &graph).map(|_| ());
    let error = refused.expect_err("a byte is missing");
    assert!(
        matches!(error, Error::Run(RunError::Memory { needed_bytes, .. }) if needed_bytes == takes),
        "{error}"
    );
}
