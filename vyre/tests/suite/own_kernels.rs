//! Kernels of the user's beside a pass: on the device's stream, on memory of a session.

#![allow(
    missing_docs,
    reason = "the passes are public only to be like a user's"
)]

use std::ffi::{CString, c_void};
use vyre::core::vir0::scalar::Scalar;
use vyre::cuda::Device;
use vyre::cuda::cudarc::driver::{result, sys};
use vyre::cuda::fake::Fake;
use vyre::prelude::*;
use vyre::{DevicePtr, DevicePtrError};

/// How far each node is from node 0 along edges of some weight, in at most eight rounds.
#[wave_graph]
#[pass(id = "test.own_kernels", unproven)]
pub mod reach {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[topology(per = edge(graph))]
        weight: u32,
        #[input(per = node)]
        start: u32,
        #[scratch(per = node)]
        spare: u32,
        #[frontier(unique)]
        front: Frontier,
        #[output(per = node)]
        dist: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, start: &u32, spare: &mut u32, dist: &mut u32, front: &Push) {
        *spare = v;
        *dist = *start;
        if v == 0 {
            front.push(v);
        }
    }

    #[fixpoint(after(init), until(front.is_empty()), max_rounds = 1_000)]
    mod rounds {
        #[wave(edges(graph, from = front))]
        fn relax(e: Edge, weight: &u32, dist: &Buf<Atomic<u32>>, front: &Push) {
            let through = dist[e.src].load() + *weight;
            if through < dist[e.dst].fetch_min(through) {
                front.push(e.dst);
            }
        }
    }
}

/// Two buffers that trade places each round.
#[wave_graph]
#[pass(id = "test.own_kernels.swap", unproven)]
pub mod halves {
    pub struct Data {
        #[topology]
        graph: Csr,
        #[output(per = node)]
        now: u32,
        #[output(per = node)]
        next: u32,
        #[reduce(max)]
        ticks: u32,
        rounds: u32,
    }

    #[wave(nodes)]
    fn init(v: Node, now: &mut u32) {
        *now = 1000 * (v + 1);
    }

    #[fixpoint(after(init), until(ticks >= rounds), max_rounds = 100, swap(now, next))]
    mod turns {
        #[wave(nodes)]
        fn halve(v: Node, round: Round, now: &u32, next: &mut u32, ticks: &Reduce<Max<u32>>) {
            *next = *now / 2;
            if v == 0 {
                ticks.max(round + 1);
            }
        }
    }
}

/// `values[i] *= 10`, as a user has it from a compiler of their own.
const PTX: &str = "
.version 7.0
.target sm_80
.address_size 64

.visible .entry tenfold(.param .u64 values, .param .u64 len)
{
    .reg .pred %none;
    .reg .b32 %r<5>;
    .reg .b64 %d<6>;

    ld.param.u64 %d1, [values];
    ld.param.u64 %d2, [len];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    cvt.u64.u32 %d3, %r4;
    setp.ge.u64 %none, %d3, %d2;
    @%none bra done;
    cvta.to.global.u64 %d4, %d1;
    mad.lo.u64 %d5, %d3, 4, %d4;
    ld.global.u32 %r1, [%d5];
    mul.lo.u32 %r1, %r1, 10;
    st.global.u32 [%d5], %r1;
done:
    ret;
}
";

/// The kernel, loaded into the device's context.
struct Tenfold<'d> {
    device: &'d Device,
    module: sys::CUmodule,
}

impl Tenfold<'_> {
    fn load(device: &Device) -> Tenfold<'_> {
        device.enter().unwrap();
        let text = CString::new(PTX).unwrap();
        // SAFETY: the text ends in a zero byte and outlives the call.
        let module = unsafe { result::module::load_data(text.as_ptr().cast()) }.unwrap();
        Tenfold { device, module }
    }

    /// Gives it to the stream, and does not wait.
    fn launch(&self, values: DevicePtr) {
        assert_eq!(values.scalar, Scalar::U32);
        let (mut address, mut len) = (values.address, values.len);
        let mut params: [*mut c_void; 2] = [(&raw mut address).cast(), (&raw mut len).cast()];
        let ctas = (len as u32).div_ceil(128);
        let stream = self.device.stream();
        self.device.enter().unwrap();
        // SAFETY: two parameters of 64 bits, as the kernel has them; the session keeps the memory until it runs again,
        // which waits for the stream.
        unsafe {
            let tenfold = c"tenfold".to_owned();
            let function = result::module::get_function(self.module, tenfold).unwrap();
            result::launch_kernel(function, (ctas, 1, 1), (128, 1, 1), 0, stream, &mut params)
        }
        .unwrap();
    }
}

impl Drop for Tenfold<'_> {
    fn drop(&mut self) {
        self.device.synchronize().unwrap();
        // SAFETY: loaded once, not used again.
        unsafe { result::module::unload(self.module) }.unwrap();
    }
}

/// What is in memory of a session, after what was given to the stream before.
fn read(device: &Device, values: DevicePtr) -> Vec<u32> {
    let mut host = vec![0; values.len as usize];
    device.enter().unwrap();
    // SAFETY: `values.len` words are there, and the target outlives the wait.
    unsafe { result::memcpy_dtoh_async(&mut host, values.address, device.stream()) }.unwrap();
    device.synchronize().unwrap();
    host
}

const FAR: u32 = 1_000_000;

/// From 0 to 1 to 2, and to 3 from both ends.
fn graph() -> (Csr, Vec<u32>) {
    let graph = Csr::from_edges(5, &[(0, 1), (0, 3), (1, 2), (2, 3)]).unwrap();
    (graph, vec![1, 9, 2, 3])
}

fn topology<'a>(graph: &'a Csr, weight: &'a [u32]) -> reach::Topology<'a> {
    reach::Topology { graph, weight }
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_kernel_of_the_users_runs_between_two_runs_on_the_memory_of_the_session() {
    let runtime = vyre_tests::cuda();
    let device = runtime.cuda_device().unwrap();
    let tenfold = Tenfold::load(device);
    let (graph, weight) = graph();
    let mut session = reach::Session::new(&runtime, topology(&graph, &weight)).unwrap();
    let mut start = vec![FAR; 5];
    start[0] = 0;

    // Graph and weights are there before the first run, results are not.
    let weights = session.device_ptr("weight").unwrap();
    assert_eq!((weights.len, weights.scalar), (4, Scalar::U32));
    assert_eq!(read(device, weights), weight);
    let offsets = session.device_ptr("graph.offsets").unwrap();
    assert_eq!(read(device, offsets), graph.offsets());
    let targets = session.device_ptr("graph.targets").unwrap();
    assert_eq!(read(device, targets), graph.targets());
    let none = session.device_ptr("dist").unwrap_err();
    assert_eq!(none, DevicePtrError::NoResult("dist".into()));

    let out = session.run(reach::Run { start: &start }).unwrap();
    assert_eq!(out.dist, [0, 1, 3, 6, FAR]);
    let dist = session.device_ptr("dist").unwrap();
    assert_eq!(read(device, dist), out.dist);

    // The host does not wait between the kernel and the run, which sees what the kernel wrote.
    tenfold.launch(session.device_ptr("weight").unwrap());
    let out = session.run(reach::Run { start: &start }).unwrap();
    assert_eq!(out.dist, [0, 10, 30, 60, FAR]);
    assert_eq!(session.device_ptr("weight").unwrap(), weights);
    assert_eq!(read(device, weights), [10, 90, 20, 30]);

    // A result, where it is; the next run begins it anew.
    let dist = session.device_ptr("dist").unwrap();
    tenfold.launch(dist);
    assert_eq!(read(device, dist), [0, 100, 300, 600, 10 * FAR]);
    let out = session.run(reach::Run { start: &start }).unwrap();
    assert_eq!(out.dist, [0, 10, 30, 60, FAR]);

    // What was written is compared, and replaced.
    session.update(topology(&graph, &weight)).unwrap();
    let none = session.device_ptr("dist").unwrap_err();
    assert_eq!(none, DevicePtrError::NoResult("dist".into()));
    assert_eq!(read(device, session.device_ptr("weight").unwrap()), weight);
    let out = session.run(reach::Run { start: &start }).unwrap();
    assert_eq!(out.dist, [0, 1, 3, 6, FAR]);

    // A batch leaves its results elsewhere.
    session.submit(reach::Run { start: &start }, 0);
    session.submit(reach::Run { start: &start }, 0);
    session.run_batch().unwrap();
    let none = session.device_ptr("dist").unwrap_err();
    assert_eq!(none, DevicePtrError::NoResult("dist".into()));
}

#[test]
#[ignore = "needs a CUDA device"]
fn results_of_buffers_that_trade_places_are_where_they_are_said_to_be() {
    let runtime = vyre_tests::cuda();
    let device = runtime.cuda_device().unwrap();
    results_are_where_they_are_said_to_be(&runtime, 300_000, |at| read(device, at));
}

#[test]
fn results_and_graphs_are_where_they_are_said_to_be_on_a_played_device() {
    let fake = Fake::default();
    let runtime = vyre_tests::on(fake.open().unwrap());
    let runtime = runtime.with_route(vyre::RoutePolicy::Interpreter);
    let read = |at: DevicePtr| {
        let bytes = fake.read(at.address, 4 * at.len);
        let words = bytes.chunks_exact(4);
        words
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect::<Vec<u32>>()
    };
    results_are_where_they_are_said_to_be(&runtime, 30_000, read);
    let (graph, weight) = graph();
    let mut session = reach::Session::new(&runtime, topology(&graph, &weight)).unwrap();
    let at = |session: &reach::Session, field: &str| read(session.device_ptr(field).unwrap());
    assert_eq!(at(&session, "weight"), weight);
    assert_eq!(at(&session, "graph.offsets"), graph.offsets());
    assert_eq!(at(&session, "graph.targets"), graph.targets());
    let none = DevicePtrError::NoResult("dist".into());
    assert_eq!(session.device_ptr("dist").unwrap_err(), none);
    let start = [0, FAR, FAR, FAR, FAR];
    let out = session.run(reach::Run { start: &start }).unwrap();
    assert_eq!(out.dist, [0, 1, 3, 6, FAR]);
    assert_eq!(at(&session, "dist"), out.dist);
    session.update(topology(&graph, &weight)).unwrap();
    assert_eq!(session.device_ptr("dist").unwrap_err(), none);
    // A batch leaves its results elsewhere.
    session.run(reach::Run { start: &start }).unwrap();
    session.submit(reach::Run { start: &start }, 0);
    session.submit(reach::Run { start: &start }, 0);
    session.run_batch().unwrap();
    assert_eq!(session.device_ptr("dist").unwrap_err(), none);
}

/// Small ones share a copy with the control words, large ones have memory of their own.
fn results_are_where_they_are_said_to_be(
    runtime: &Runtime,
    large: usize,
    read: impl Fn(DevicePtr) -> Vec<u32>,
) {
    for nodes in [5, large] {
        let graph = Csr::from_edges(nodes, &[]).unwrap();
        let mut session = halves::Session::new(runtime, &graph).unwrap();
        for rounds in [1, 2, 3] {
            let out = session.run(halves::Run { rounds }).unwrap();
            assert_eq!(out.now[4], 5000 >> rounds);
            assert_eq!(out.next[4], 5000 >> (rounds - 1));
            let (now, next) = (session.device_ptr("now"), session.device_ptr("next"));
            assert_eq!(read(now.unwrap()), out.now, "{nodes} nodes, {rounds}");
            assert_eq!(read(next.unwrap()), out.next, "{nodes} nodes, {rounds}");
        }
    }
}

#[test]
fn what_has_no_device_memory_says_why() {
    let (graph, weight) = graph();
    let mut session = reach::Session::new(&Runtime::native(), topology(&graph, &weight)).unwrap();
    session.run(reach::Run { start: &[0; 5] }).unwrap();
    let why = |field: &str| session.device_ptr(field).unwrap_err().to_string();
    for field in ["dist", "weight", "graph.offsets"] {
        let expected = "the session is on `native`, which has no addresses on a device";
        assert_eq!(why(field), expected);
    }
    for field in ["start", "spare"] {
        let expected = "does not stay between runs: only outputs and topologies do";
        assert_eq!(why(field), format!("`{field}` {expected}"));
    }
    for field in ["front", "graph", "graph.weights", "wait"] {
        let expected = "of a graph `g` there are `g.offsets` and `g.targets`";
        assert_eq!(
            why(field),
            format!("the pass has no buffer `{field}`; {expected}")
        );
    }
}
