//! CUDA graphs: kernels one after the other, and a WHILE node around some of them.
//!
//! Conditional nodes came with CUDA 12.3, the bindings are those of 12.0: two functions are looked up by name.

use super::{RivalError, at};
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::ptr::{from_ref, null_mut};
use vyre::cuda::Device;
use vyre::cuda::cudarc::driver::{result, sys};

/// A kernel of a graph.
pub(super) struct Node<'p, P> {
    pub(super) function: sys::CUfunction,
    pub(super) ctas: u32,
    pub(super) threads: u32,
    pub(super) params: &'p P,
    pub(super) control: u64,
    pub(super) turn: u32,
}

/// A graph ready for launch.
#[derive(Debug)]
pub(super) struct Graph {
    executable: sys::CUgraphExec,
}

/// A graph under construction.
struct Plan(sys::CUgraph);

/// `CUDA_CONDITIONAL_NODE_PARAMS` in `CUgraphNodeParams`.
#[repr(C)]
struct ConditionalNode {
    kind: c_uint,
    reserved: [c_int; 3],
    handle: u64,
    condition: c_uint,
    size: c_uint,
    bodies: *mut sys::CUgraph,
    context: sys::CUcontext,
    rest: [u64; 25],
    reserved_too: u64,
}
const _: () = assert!(size_of::<ConditionalNode>() == 256);

/// `CU_GRAPH_NODE_TYPE_CONDITIONAL`.
const CONDITIONAL: c_uint = 13;
/// `CU_GRAPH_COND_TYPE_WHILE`.
const WHILE: c_uint = 1;
/// `CU_GRAPH_COND_ASSIGN_DEFAULT`: each launch of the graph begins with the default.
const ASSIGN_DEFAULT: c_uint = 1;

type CreateHandle =
    unsafe extern "C" fn(*mut u64, sys::CUgraph, sys::CUcontext, c_uint, c_uint) -> sys::CUresult;
type AddNode = unsafe extern "C" fn(
    *mut sys::CUgraphNode,
    sys::CUgraph,
    *const sys::CUgraphNode,
    usize,
    *mut ConditionalNode,
) -> sys::CUresult;

/// A function of the driver as it was in some version, if the driver has it.
fn function(name: &CStr, version: c_int) -> Option<*mut c_void> {
    let mut found = null_mut();
    // SAFETY: the name ends in a zero byte, the result goes to a live local, and a status is not asked for.
    let status =
        unsafe { sys::cuGetProcAddress_v2(name.as_ptr(), &mut found, version, 0, null_mut()) };
    (status == sys::cudaError_enum::CUDA_SUCCESS && !found.is_null()).then_some(found)
}

impl Plan {
    fn new() -> Result<Plan, RivalError> {
        let mut graph = null_mut();
        // SAFETY: writes to a live local; the release is in `drop`.
        unsafe { sys::cuGraphCreate(&mut graph, 0) }.result()?;
        Ok(Plan(graph))
    }

    fn ready(self) -> Result<Graph, RivalError> {
        let mut executable = null_mut();
        // SAFETY: the graph is complete; the release is in `drop` of [`Graph`].
        unsafe { sys::cuGraphInstantiateWithFlags(&mut executable, self.0, 0) }.result()?;
        Ok(Graph { executable })
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: made by `new`, not used again; what was instantiated does not need it. An error has no taker here.
        let _ = unsafe { sys::cuGraphDestroy(self.0) };
    }
}

/// Adds kernels that follow each other; the last one is told the handle of the loop it ends, if any.
fn add<P: Copy>(
    graph: sys::CUgraph,
    nodes: &[Node<'_, P>],
    handle: u64,
) -> Result<sys::CUgraphNode, RivalError> {
    let mut before = null_mut();
    for (i, node) in nodes.iter().enumerate() {
        let (mut params, mut control, mut turn) = (*node.params, node.control, node.turn);
        let mut handle = if i + 1 == nodes.len() { handle } else { 0 };
        let mut values = [
            at(&mut params),
            at(&mut control),
            at(&mut turn),
            at(&mut handle),
        ];
        let kernel = sys::CUDA_KERNEL_NODE_PARAMS {
            func: node.function,
            gridDimX: node.ctas,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: node.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            kernelParams: values.as_mut_ptr(),
            extra: null_mut(),
            kern: null_mut(),
            ctx: null_mut(),
        };
        let after = [before];
        let mut added = null_mut();
        // SAFETY: the kernel has these parameters, or the first two of them; the driver copies them before it returns.
        unsafe {
            sys::cuGraphAddKernelNode_v2(
                &mut added,
                graph,
                after.as_ptr(),
                usize::from(!before.is_null()),
                &kernel,
            )
        }
        .result()?;
        before = added;
    }
    Ok(before)
}

impl Graph {
    /// Kernels one after the other.
    pub(super) fn chain<P: Copy>(nodes: &[Node<'_, P>]) -> Result<Graph, RivalError> {
        let plan = Plan::new()?;
        add(plan.0, nodes, 0)?;
        plan.ready()
    }

    /// `first`, then `body` until its last kernel clears the loop's condition.
    pub(super) fn repeat<P: Copy>(
        device: &Device,
        first: &[Node<'_, P>],
        body: &[Node<'_, P>],
    ) -> Result<Graph, RivalError> {
        let lookup = |name, version| function(name, version).ok_or(RivalError::NoConditionalNodes);
        let create = lookup(c"cuGraphConditionalHandleCreate", 12_030)?;
        // Version 12.3 gave it one more parameter.
        let add_node = lookup(c"cuGraphAddNode", 12_020)?;
        // SAFETY: these are the functions' types in these versions.
        let (create, add_node) = unsafe {
            (
                std::mem::transmute::<*mut c_void, CreateHandle>(create),
                std::mem::transmute::<*mut c_void, AddNode>(add_node),
            )
        };
        let plan = Plan::new()?;
        let before = add(plan.0, first, 0)?;
        let mut handle = 0;
        // SAFETY: writes to a live local; the context is the device's.
        unsafe { create(&mut handle, plan.0, device.context(), 1, ASSIGN_DEFAULT) }.result()?;
        let mut node = ConditionalNode {
            kind: CONDITIONAL,
            reserved: [0; 3],
            handle,
            condition: WHILE,
            size: 1,
            bodies: null_mut(),
            context: device.context(),
            rest: [0; 25],
            reserved_too: 0,
        };
        let mut added = null_mut();
        // SAFETY: the parameters have the size and layout of `CUgraphNodeParams`, with zeros where nothing is said.
        unsafe {
            add_node(
                &mut added,
                plan.0,
                from_ref(&before),
                usize::from(!before.is_null()),
                &mut node,
            )
        }
        .result()?;
        if node.bodies.is_null() {
            return Err(RivalError::NoConditionalNodes);
        }
        // SAFETY: the driver has pointed it to an array of `size` graphs, which belong to the node.
        let inside = unsafe { *node.bodies };
        add(inside, body, handle)?;
        plan.ready()
    }

    /// What is given to a stream meanwhile, which does nothing of it.
    pub(super) fn captured(
        stream: sys::CUstream,
        give: impl FnOnce() -> Result<(), RivalError>,
    ) -> Result<Graph, RivalError> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is alive; the capture ends below, whatever comes of it.
        unsafe { result::stream::begin_capture(stream, mode) }?;
        let given = give();
        // SAFETY: as above.
        let plan = unsafe { result::stream::end_capture(stream) }.map_err(RivalError::from);
        let plan = plan.map(Plan);
        given?;
        plan?.ready()
    }

    pub(super) fn launch(&self, stream: sys::CUstream) -> Result<(), RivalError> {
        // SAFETY: the memory that its kernels use belongs to whoever holds the graph, and waits for the stream.
        unsafe { sys::cuGraphLaunch(self.executable, stream) }
            .result()
            .map_err(RivalError::from)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: made by `ready`, not used again; runs end with a wait for the stream. An error has no taker here.
        let _ = unsafe { sys::cuGraphExecDestroy(self.executable) };
    }
}
