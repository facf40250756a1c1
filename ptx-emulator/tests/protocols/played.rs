//! A played device that keeps what it was asked to launch.

use ptx_emulator::{Launch, Machine, Module};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use vyre::Runtime;
use vyre_cuda::played::{Allocations, Launched, Played, Player, play};

/// What the megakernel declares of shared memory, rounded up.
pub(crate) const STATIC_SHARED_BYTES: u32 = 20 << 10;

/// A launch, the memory it found, and the result that it has to leave.
pub(crate) struct Caught {
    pub(crate) launched: Launched,
    memory: Allocations,
    /// The same when it ended, in one order.
    after: Allocations,
    /// Where results are, and what they are.
    results: Vec<(u64, Vec<u8>)>,
}

struct Catcher {
    caught: Arc<Mutex<Vec<(Launched, Allocations, Allocations)>>>,
}

/// A machine at the start of a launch.
pub(crate) fn machine_of(
    module: Rc<Module>,
    launched: &Launched,
    launch: Launch,
    memory: &Allocations,
) -> Machine {
    let mut machine = Machine::launch(module, &launched.entry, launch, &launched.params);
    for (&at, bytes) in memory {
        machine.memory.map(at, bytes);
    }
    machine
}

pub(crate) fn shape_of(launched: &Launched) -> Launch {
    Launch {
        ctas: launched.ctas,
        threads: launched.threads,
        cluster: launched.cluster,
        shared_bytes: launched.shared_bytes,
    }
}

fn held(memory: &Allocations, at: u64, bytes: usize) -> &[u8] {
    let (start, held) = memory.range(..=at).next_back().expect("it is in memory");
    &held[(at - start) as usize..][..bytes]
}

impl Player for Catcher {
    fn launch(&mut self, launched: Launched, allocations: &mut Allocations) -> Result<(), String> {
        let before = allocations.clone();
        let module = Rc::new(Module::parse(&launched.ptx).map_err(|e| e.to_string())?);
        let mut machine = machine_of(module, &launched, shape_of(&launched), &before);
        machine.run(1).map_err(|e| e.to_string())?;
        for (&at, bytes) in allocations
            .iter_mut()
            .filter(|(_, bytes)| !bytes.is_empty())
        {
            *bytes = machine.memory.bytes(at, bytes.len());
        }
        let mut caught = self.caught.lock().expect("nobody panics with it");
        caught.push((launched, before, allocations.clone()));
        Ok(())
    }
}

/// Runs a pass on a device with `multiprocessors` multiprocessors, in clusters of `cluster` CTAs, and keeps its last
/// launch. `run` gives its results, by which it is known where the launch leaves them; none: nothing was launched.
pub(crate) fn caught(
    (multiprocessors, cluster): (u32, u32),
    shared_bytes: u32,
    run: impl FnOnce(&Runtime) -> Option<Vec<Vec<u32>>>,
) -> Option<Caught> {
    let played = Played {
        multiprocessors,
        cluster,
        shared_bytes,
        static_shared_bytes: STATIC_SHARED_BYTES,
    };
    let all = Arc::default();
    let catcher = Catcher {
        caught: Arc::clone(&all),
    };
    let runtime = Runtime::on(Arc::new(
        play(played, catcher).expect("it has all that is needed"),
    ));
    let runtime = runtime.with_route(vyre::RoutePolicy::Interpreter);
    let results = run(&runtime)?;
    let (launched, memory, after) = all
        .lock()
        .expect("nobody panics with it")
        .pop()
        .expect("it was launched");
    let results = results.into_iter().map(|result| {
        let result: Vec<u8> = result.into_iter().flat_map(u32::to_le_bytes).collect();
        let found = after.iter().find_map(|(start, bytes)| {
            let at = bytes
                .windows(result.len())
                .position(|window| window == result)?;
            Some(start + at as u64)
        });
        (found.expect("the result is in memory"), result)
    });
    let results = results.collect();
    Some(Caught {
        launched,
        memory,
        results,
        after,
    })
}

impl Caught {
    /// A machine at the start of the launch, in another shape.
    pub(crate) fn machine(&self, module: Rc<Module>, shape: impl Fn(Launch) -> Launch) -> Machine {
        machine_of(
            module,
            &self.launched,
            shape(shape_of(&self.launched)),
            &self.memory,
        )
    }

    /// Whether a run has left the right result.
    pub(crate) fn judge(&self, end: &Machine) -> Result<(), String> {
        for (at, result) in &self.results {
            let left = end.memory.bytes(*at, result.len());
            if left != *result {
                return Err(format!("it ends with {left:?}, not with {result:?}"));
            }
        }
        Ok(())
    }

    /// Bytes of the memory that the launch found.
    pub(crate) fn before(&self, at: u64, bytes: usize) -> &[u8] {
        held(&self.memory, at, bytes)
    }

    /// Bytes of the memory as it was left.
    pub(crate) fn after(&self, at: u64, bytes: usize) -> &[u8] {
        held(&self.after, at, bytes)
    }

    /// A word of the image.
    pub(crate) fn of_image(&self, at: usize) -> u64 {
        let bytes = self.before(self.launched.params[0] + at as u64, 8);
        u64::from_le_bytes(bytes.try_into().expect("a word has 8 bytes"))
    }

    /// Writes bytes of the memory that the launch finds.
    pub(crate) fn set(&mut self, at: u64, bytes: &[u8]) {
        let found = self.memory.range_mut(..=at).next_back();
        let (start, held) = found.expect("it is in memory");
        held[(at - start) as usize..][..bytes.len()].copy_from_slice(bytes);
    }

    /// The image that was launched, to be changed.
    pub(crate) fn image(&mut self) -> &mut [u8] {
        let at = self.launched.params[0];
        let (start, bytes) = self
            .memory
            .range_mut(..=at)
            .next_back()
            .expect("the image is in memory");
        &mut bytes[(at - start) as usize..]
    }
}
