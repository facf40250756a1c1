//! What a session and the results of its runs hold: every byte that is allocated is counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use vyre_cuda::prelude::*;

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed to the system's allocator as it is; beside that, bytes are counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps `dealloc`'s contract, and `alloc` took it from the system.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One item for each node.
#[wave_graph]
mod listed {
    pub(crate) struct Data {
        #[topology]
        graph: Csr,
        #[list(capacity = 300_000, output)]
        all: List<u64>,
    }

    #[wave(nodes)]
    fn add(v: Node, all: &Append<u64>) {
        all.append(u64::from(v));
    }
}

/// One test, so that nothing else allocates meanwhile.
#[test]
fn the_result_of_a_list_is_held_once() {
    let nodes = 250_000;
    let graph = Csr::from_edges(nodes, &[]).expect("there are no edges");
    let list_bytes = 8 * nodes;
    for runtime in [Runtime::native(), Runtime::vir0()] {
        let mut session = listed::Session::new(&runtime, &graph).expect("it fits");
        let before = LIVE.load(Relaxed);
        let first = session.run(listed::Run {}).expect("no trap");
        assert_eq!(first.all.len(), nodes);
        let held = LIVE.load(Relaxed) - before;
        // A vector has room for a fourth or so more than it holds; twice the list would be more than this.
        assert!(
            held < list_bytes * 3 / 2,
            "{}: {held} bytes for a list of {list_bytes}",
            runtime.backend()
        );
        drop(first);
        let held = LIVE.load(Relaxed).saturating_sub(before);
        assert!(
            held < list_bytes / 4,
            "{}: {held} bytes stay",
            runtime.backend()
        );
        // The session goes on.
        assert_eq!(session.run(listed::Run {}).expect("no trap").all[9], 9);
    }
}
