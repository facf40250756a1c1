//! Warps, CTAs and clusters that run a module, one warp's instruction at a time.
//!
//! Lanes of a warp may stand at different places: a [`Fragment`] is those that stand together. An instruction that waits
//! for lanes (`.sync`) runs when all that its mask names have come there; when none can go on, that is a [`Fault`].

mod state;

use crate::access::Mbarrier;
use crate::alu;
use crate::decode::{Bin, Op, Round, Shuffle, Space, Special, Ty, Vote, mask};
use crate::memory::{Memory, Pages, number};
use crate::order::{Model, Sent};
use crate::text::{Instr, Module, NOWHERE, Place, Src};
use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

/// A value for each lane.
pub type Lanes = [u64; 32];

/// Generic addresses of a CTA's shared memory and of a lane's local memory.
pub(crate) const SHARED_AT: u64 = 0x7f00_0000_0000;
pub(crate) const LOCAL_AT: u64 = 0x7e00_0000_0000;
pub(crate) const WINDOW: u64 = 1 << 24;
/// What registers hold before they are written.
const UNWRITTEN: u64 = 0xa5a5_a5a5_a5a5_a5a5;

/// What a launch is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// CTAs of the grid.
    pub ctas: u32,
    /// Threads of a CTA: whole warps.
    pub threads: u32,
    /// CTAs of a cluster.
    pub cluster: u32,
    /// Dynamic shared memory of a CTA.
    pub shared_bytes: u32,
}

/// What went wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub message: String,
    /// The function it happened in.
    pub function: String,
    /// Line of the text.
    pub line: u32,
    /// Number of the CTA.
    pub cta: u32,
    /// Number of the warp in its CTA.
    pub warp: u32,
    /// Lanes that were there.
    pub lanes: u32,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault {
            message,
            function,
            line,
            cta,
            warp,
            lanes,
        } = self;
        write!(
            f,
            "{message} (line {line} in {function}; CTA {cta}, warp {warp}, lanes {lanes:#010x})"
        )
    }
}

impl std::error::Error for Fault {}

/// A function's registers, parameters and local memory, of all lanes that are in it together.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    function: u32,
    /// The frame that called it, and where that one goes on.
    caller: Option<u32>,
    returns_to: u32,
    depth: u32,
    /// Lanes that have not come back.
    lanes: u32,
    regs: Vec<Lanes>,
    /// By lane, then by place.
    pub(crate) params: Vec<u8>,
    local_at: u32,
}

/// Lanes that stand together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Fragment {
    pub(crate) frame: u32,
    pc: u32,
    mask: u32,
    /// For the others that an instruction needs.
    waits: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wait {
    Not,
    Barrier { number: u32, threads: u32 },
    Cluster { phase: u32 },
    Done,
}

#[derive(Clone, Debug)]
pub(crate) struct Warp {
    pub(crate) cta: u32,
    pub(crate) number: u32,
    frames: Vec<Option<Frame>>,
    pub(crate) fragments: Vec<Fragment>,
    /// Lanes that have not left.
    alive: u32,
    pub(crate) wait: Wait,
    /// By lane.
    pub(crate) local: Vec<u8>,
    pub(crate) local_bytes: u32,
    /// Of `cp.async`: to, from, bytes; they arrive when they are waited for.
    pub(crate) copies: Vec<(u32, u32, u64, u32)>,
    /// The cluster's turn that this warp has arrived for.
    arrived: u32,
    /// Of all but `wait`, while nothing changes.
    hash: Cell<Option<u64>>,
}

/// A store to a CTA of the cluster that is on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Flight {
    pub(crate) cta: u32,
    pub(crate) to: u32,
    pub(crate) value: u32,
    pub(crate) bar: u32,
    pub(crate) sent: Option<Sent>,
}

#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct Cluster {
    phase: u32,
    arrived: u32,
}

/// Why a warp stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It waits, or is done.
    Waits,
    /// What comes next is one that others may see or change.
    Visible,
    /// The number of instructions that was asked for has been run.
    Spent,
}

pub(crate) enum Flow {
    Next,
    /// The fragment list is as it should be.
    Moved,
    /// It waits for other lanes.
    Lanes,
}

/// A grid on its way.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(crate) module: Rc<Module>,
    pub(crate) launch: Launch,
    /// Global memory.
    pub memory: Memory,
    pub(crate) shared: Vec<Pages>,
    pub(crate) warps: Vec<Rc<Warp>>,
    pub(crate) flights: Vec<Flight>,
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) timer: u64,
    /// Instructions that were run, of warps.
    pub steps: u64,
    pub(crate) model: Option<Model>,
    /// For the checker: warps of a CTA with this number or a higher one go on one after another, each where all before it
    /// wait. Orders of many warps are too many to go through.
    pub in_turn_from: u32,
    /// By warp, that it comes next to what others may see or change; for the checker.
    pub(crate) parked: Vec<bool>,
}

pub(crate) type Run<T> = Result<T, String>;

impl Warp {
    fn new(cta: u32, number: u32) -> Warp {
        Warp {
            cta,
            number,
            frames: Vec::new(),
            fragments: Vec::new(),
            alive: u32::MAX,
            wait: Wait::Not,
            local: Vec::new(),
            local_bytes: 0,
            copies: Vec::new(),
            arrived: 0,
            hash: Cell::new(None),
        }
    }

    fn enter(
        &mut self,
        module: &Module,
        function: u32,
        lanes: u32,
        from: Option<(u32, u32)>,
    ) -> u32 {
        let callee = &module.functions[function as usize];
        // Lanes that made the same call a little earlier may be waiting there for these.
        if let Some((caller, pc)) = from {
            let same =
                |f: &Frame| f.caller == Some(caller) && f.returns_to == pc && f.lanes & lanes == 0;
            let found = self
                .frames
                .iter()
                .position(|f| f.as_ref().is_some_and(same));
            if let Some(at) = found {
                self.frame(at as u32).lanes |= lanes;
                return at as u32;
            }
        }
        let above = from.and_then(|(caller, _)| self.frames[caller as usize].as_ref());
        let local_at = above.map_or(0, |frame| {
            frame.local_at
                + module.functions[frame.function as usize]
                    .local_bytes
                    .next_multiple_of(16)
        });
        let frame = Frame {
            function,
            caller: from.map(|(caller, _)| caller),
            returns_to: from.map_or(0, |(_, pc)| pc),
            depth: above.map_or(0, |frame| frame.depth + 1),
            lanes,
            regs: vec![[UNWRITTEN; 32]; callee.slots as usize],
            params: vec![0; callee.param_bytes as usize * 32],
            local_at,
        };
        let needed = local_at + callee.local_bytes;
        if needed > self.local_bytes {
            // Each lane's part gets longer.
            let (old, new) = (self.local_bytes as usize, needed as usize);
            let mut local = vec![0; new * 32];
            for lane in 0..32 {
                local[lane * new..][..old].copy_from_slice(&self.local[lane * old..][..old]);
            }
            (self.local, self.local_bytes) = (local, needed);
        }
        let free = self.frames.iter().position(Option::is_none);
        let at = free.unwrap_or_else(|| {
            self.frames.push(None);
            self.frames.len() - 1
        });
        self.frames[at] = Some(frame);
        at as u32
    }

    pub(crate) fn frame(&mut self, at: u32) -> &mut Frame {
        self.frames[at as usize]
            .as_mut()
            .expect("fragments are in frames that are there")
    }

    /// The fragment to run, of those that can: the one in the innermost function, and there the first.
    fn choose(&self) -> Option<usize> {
        if let [only] = self.fragments[..] {
            return (!only.waits).then_some(0);
        }
        let ready = (0..self.fragments.len()).filter(|&i| !self.fragments[i].waits);
        ready.min_by_key(|&i| {
            let Fragment { frame, pc, .. } = self.fragments[i];
            let depth = self.frames[frame as usize].as_ref().map_or(0, |f| f.depth);
            (u32::MAX - depth, pc)
        })
    }

    /// Lanes that are done; no other lane waits for them.
    fn leave(&mut self, lanes: u32) {
        self.alive &= !lanes;
        self.fragments.retain(|f| f.mask != 0);
        self.fragments.iter_mut().for_each(|f| f.waits = false);
    }

    /// Makes one fragment of those that stand together.
    fn merge(&mut self) {
        if self.fragments.len() < 2 {
            return;
        }
        self.fragments.retain(|f| f.mask != 0);
        self.fragments.sort_unstable();
        self.fragments.dedup_by(|b, a| {
            let same = (a.frame, a.pc) == (b.frame, b.pc);
            if same {
                a.mask |= b.mask;
                a.waits = false;
            }
            same
        });
    }
}

impl Machine {
    /// A machine with nothing to run yet, for [`Machine::call`]; its one CTA has so much dynamic shared memory.
    pub fn new(module: Rc<Module>, shared_bytes: u32) -> Machine {
        let launch = Launch {
            ctas: 1,
            threads: 32,
            cluster: 1,
            shared_bytes,
        };
        Machine::of(module, launch)
    }

    fn of(module: Rc<Module>, launch: Launch) -> Machine {
        let bytes = (module.shared_bytes + launch.shared_bytes) as usize;
        let mut memory = Memory::default();
        for (at, contents) in &module.globals {
            memory.map(*at, contents);
        }
        let shared = (0..launch.ctas).map(|_| Pages::new(&vec![0xa5; bytes]));
        Machine {
            launch,
            memory,
            shared: shared.collect(),
            warps: Vec::new(),
            flights: Vec::new(),
            clusters: vec![Cluster::default(); launch.ctas.div_ceil(launch.cluster) as usize],
            timer: 0,
            steps: 0,
            model: None,
            in_turn_from: u32::MAX,
            parked: Vec::new(),
            module,
        }
    }

    /// A grid at the start of an entry. `args`: raw bits.
    ///
    /// # Panics
    ///
    /// If there is no such entry, or it has other parameters.
    pub fn launch(module: Rc<Module>, entry: &str, launch: Launch, args: &[u64]) -> Machine {
        assert!(launch.threads.is_multiple_of(32) && launch.ctas.is_multiple_of(launch.cluster));
        let function = module.by_name[entry];
        let params = module.functions[function].params.clone();
        assert_eq!(params.len(), args.len(), "arguments of {entry}");
        let mut machine = Machine::of(module, launch);
        for cta in 0..launch.ctas {
            for number in 0..launch.threads / 32 {
                let mut warp = Warp::new(cta, number);
                let module = Rc::clone(&machine.module);
                machine.start(&module, &mut warp, function as u32, u32::MAX);
                for (place, &x) in params.iter().zip(args) {
                    let frame = warp.frame(0);
                    (0..32).for_each(|lane| put_param(frame, &module, lane, *place, x));
                }
                machine.warps.push(Rc::new(warp));
            }
        }
        machine
    }

    fn start(&self, module: &Module, warp: &mut Warp, function: u32, lanes: u32) {
        let frame = warp.enter(module, function, lanes, None);
        warp.alive = lanes;
        warp.fragments = vec![Fragment {
            frame,
            pc: 0,
            mask: lanes,
            waits: false,
        }];
    }

    /// Runs a function by some lanes of one warp, and returns its results. Each argument and result is one value of up to
    /// eight bytes for each lane.
    ///
    /// # Panics
    ///
    /// If there is no such function, or it has other parameters.
    pub fn call(
        &mut self,
        function: &str,
        lanes: u32,
        args: &[Lanes],
    ) -> Result<Vec<Lanes>, Fault> {
        let module = Rc::clone(&self.module);
        let number = module.by_name[function];
        let callee = &module.functions[number];
        assert_eq!(callee.params.len(), args.len(), "arguments of {function}");
        let mut warp = Warp::new(0, 0);
        self.start(&module, &mut warp, number as u32, lanes);
        for (place, x) in callee.params.iter().zip(args) {
            let frame = warp.frame(0);
            (0..32).for_each(|lane| put_param(frame, &module, lane, *place, x[lane]));
        }
        let kept = warp.frame(0).clone();
        // Kept when its lanes leave: results are read from it.
        warp.frames.push(Some(kept));
        self.warps = vec![Rc::new(warp)];
        self.run(0)?;
        let warp = Rc::make_mut(&mut self.warps[0]);
        let frame = warp.frame(0).clone();
        Ok(callee
            .results
            .iter()
            .map(|place| std::array::from_fn(|lane| param(&frame, &module, lane, *place)))
            .collect())
    }

    /// Runs to the end, the warps in an order that a seed decides.
    pub fn run(&mut self, seed: u64) -> Result<(), Fault> {
        self.run_up_to(seed, 2_000_000_000)
    }

    /// The same, with `most` instructions of warps at most.
    pub fn run_up_to(&mut self, seed: u64, most: u64) -> Result<(), Fault> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut random = move |n: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as usize % n
        };
        loop {
            let ready = |w: &usize| self.warps[*w].wait == Wait::Not;
            let ready: Vec<usize> = (0..self.warps.len()).filter(ready).collect();
            if !self.flights.is_empty() && (ready.is_empty() || random(4) == 0) {
                self.deliver(random(self.flights.len()))?;
                continue;
            }
            if ready.is_empty() {
                let waits = self.warps.iter().position(|w| w.wait != Wait::Done);
                return waits.map_or(Ok(()), |w| Err(self.stuck(w)));
            }
            let warp = ready[random(ready.len())];
            let quantum = if seed == 0 {
                1000
            } else {
                1 + random(200) as u64
            };
            self.run_warp(warp, quantum, None)?;
            if self.steps > most {
                return Err(Fault {
                    message: format!("no end after {most} instructions"),
                    ..self.stuck(warp)
                });
            }
        }
    }

    /// That a warp can never go on.
    pub(crate) fn stuck(&self, warp: usize) -> Fault {
        let warp = &self.warps[warp];
        let message = match warp.wait {
            Wait::Barrier { number, .. } => format!("barrier {number} is never passed"),
            Wait::Cluster { .. } => "the cluster's barrier is never passed".to_owned(),
            Wait::Not | Wait::Done => "it goes on forever".to_owned(),
        };
        let fragment = warp.fragments.first().copied();
        self.fault(warp, fragment, message)
    }

    fn fault(&self, warp: &Warp, fragment: Option<Fragment>, message: String) -> Fault {
        let frame = fragment.and_then(|f| warp.frames[f.frame as usize].as_ref());
        let function = frame.map(|f| &self.module.functions[f.function as usize]);
        let line = function.and_then(|f| f.code.get(fragment?.pc as usize));
        Fault {
            message,
            function: function.map_or(String::new(), |f| f.name.clone()),
            line: line.map_or(0, |i| i.line),
            cta: warp.cta,
            warp: warp.number,
            lanes: fragment.map_or(0, |f| f.mask),
        }
    }

    /// Runs a warp for `most` instructions at most. `visible`: how many of these may be ones that others may see or
    /// change; none: all of them.
    pub(crate) fn run_warp(
        &mut self,
        index: usize,
        most: u64,
        visible: Option<u32>,
    ) -> Result<Stop, Fault> {
        let module = Rc::clone(&self.module);
        let mut held = std::mem::replace(&mut self.warps[index], Rc::new(Warp::new(0, 0)));
        let warp = Rc::make_mut(&mut held);
        warp.hash.set(None);
        let stopped = self.run_fragments(&module, warp, most, visible);
        self.warps[index] = held;
        let stopped = stopped?;
        if stopped == Stop::Waits {
            self.release(index);
        }
        Ok(stopped)
    }

    fn run_fragments(
        &mut self,
        module: &Module,
        warp: &mut Warp,
        most: u64,
        mut visible: Option<u32>,
    ) -> Result<Stop, Fault> {
        for _ in 0..most {
            if warp.wait != Wait::Not {
                return Ok(Stop::Waits);
            }
            let Some(at) = warp.choose() else {
                if warp.alive == 0 {
                    warp.wait = Wait::Done;
                    return Ok(Stop::Waits);
                }
                if meet(module, warp) {
                    if let Some(model) = &mut self.model {
                        model.warp_meets(warp.cta, warp.number);
                    }
                    continue;
                }
                let first = warp.fragments.first().copied();
                let message = "lanes that a mask names never come here".to_owned();
                return Err(self.fault(warp, first, message));
            };
            let fragment = warp.fragments[at];
            let function = warp.frame(fragment.frame).function;
            let function = &module.functions[function as usize];
            let instr = &function.code[fragment.pc as usize];
            if let Some(left) = &mut visible
                && is_visible(&instr.op)
            {
                if *left == 0 {
                    return Ok(Stop::Visible);
                }
                *left -= 1;
            }
            self.steps += 1;
            let flow = self.step(module, warp, at, instr);
            match flow.map_err(|message| self.fault(warp, Some(fragment), message))? {
                Flow::Next => warp.fragments[at].pc += 1,
                Flow::Moved => {}
                Flow::Lanes => warp.fragments[at].waits = true,
            }
            warp.merge();
        }
        Ok(if warp.wait == Wait::Not {
            Stop::Spent
        } else {
            Stop::Waits
        })
    }

    /// Lets go on who waits for a barrier that is complete.
    fn release(&mut self, index: usize) {
        let cta = self.warps[index].cta;
        let of_cta: Vec<usize> = (0..self.warps.len())
            .filter(|&w| self.warps[w].cta == cta)
            .collect();
        let alive = of_cta
            .iter()
            .filter(|&&w| self.warps[w].wait != Wait::Done)
            .count();
        for number in 0..16 {
            let at = |w: &&usize| matches!(self.warps[**w].wait, Wait::Barrier { number: n, .. } if n == number);
            let here: Vec<usize> = of_cta.iter().filter(at).copied().collect();
            let Some(&first) = here.first() else { continue };
            let Wait::Barrier { threads, .. } = self.warps[first].wait else {
                continue;
            };
            let complete = match threads {
                0 => here.len() == alive,
                threads => here.len() as u32 * 32 >= threads,
            };
            if complete {
                for &w in &here {
                    Rc::make_mut(&mut self.warps[w]).wait = Wait::Not;
                }
                if let Some(model) = &mut self.model {
                    let numbers: Vec<u32> = here.iter().map(|&w| self.warps[w].number).collect();
                    model.cta_meets(cta, &numbers, here.len() == alive);
                }
            }
        }
        let cluster = (cta / self.launch.cluster) as usize;
        let in_cluster = |w: &Warp| (w.cta / self.launch.cluster) as usize == cluster;
        let there = self
            .warps
            .iter()
            .filter(|w| in_cluster(w) && w.wait != Wait::Done)
            .count();
        let meeting = &mut self.clusters[cluster];
        if meeting.arrived > 0 && meeting.arrived as usize == there {
            meeting.arrived = 0;
            meeting.phase += 1;
            if let Some(model) = &mut self.model {
                let first = cluster as u32 * self.launch.cluster;
                model.cluster_meets(first..first + self.launch.cluster);
            }
        }
        let phase = self.clusters[cluster].phase;
        for warp in &mut self.warps {
            if matches!(warp.wait, Wait::Cluster { phase: p } if p < phase)
                && (warp.cta / self.launch.cluster) as usize == cluster
            {
                Rc::make_mut(warp).wait = Wait::Not;
            }
        }
    }

    /// Lets a store to another CTA arrive.
    pub(crate) fn deliver(&mut self, index: usize) -> Result<(), Fault> {
        let flight = self.flights.remove(index);
        let shared = &mut self.shared[flight.cta as usize];
        shared.store(flight.to as usize, 4, flight.value.into());
        let mut bar = Mbarrier::read(shared, flight.bar);
        bar.bytes -= 4;
        let complete = bar.turn();
        bar.write(shared, flight.bar);
        if let (Some(model), Some(sent)) = (&mut self.model, &flight.sent) {
            let arrived = model.flight_arrives(flight.cta, (flight.to, flight.bar), sent);
            if complete {
                model.turns((flight.cta, flight.bar));
            }
            if let Err(message) = arrived {
                let warp = self.warps.iter().find(|w| w.cta == flight.cta);
                let warp = warp.expect("every CTA has warps");
                return Err(self.fault(warp, warp.fragments.first().copied(), message));
            }
        }
        Ok(())
    }

    fn step(&mut self, module: &Module, warp: &mut Warp, at: usize, instr: &Instr) -> Run<Flow> {
        let fragment = warp.fragments[at];
        let all = fragment.mask;
        let exec = match instr.guard {
            None => all,
            Some((reg, not)) => {
                let regs = &warp.frame(fragment.frame).regs[reg as usize];
                let set = (0..32).fold(0, |set, lane| set | (regs[lane] as u32 & 1) << lane);
                all & if not { !set } else { set }
            }
        };
        match &instr.op {
            Op::Bra(target, _) => {
                let stays = all & !exec;
                if stays == 0 {
                    warp.fragments[at].pc = *target;
                } else if exec == 0 {
                    return Ok(Flow::Next);
                } else {
                    warp.fragments[at].mask = stays;
                    warp.fragments[at].pc += 1;
                    warp.fragments.push(Fragment {
                        mask: exec,
                        pc: *target,
                        ..fragment
                    });
                }
                return Ok(Flow::Moved);
            }
            _ if exec == 0 => return Ok(Flow::Next),
            _ => {}
        }
        if exec != all && waits_for_lanes(&instr.op) {
            // The others go on.
            warp.fragments[at].mask = exec;
            warp.fragments.push(Fragment {
                mask: all & !exec,
                pc: fragment.pc + 1,
                ..fragment
            });
            return Ok(Flow::Moved);
        }
        if let Some(flow) = self.control(module, warp, at, instr, exec)? {
            return Ok(flow);
        }
        if let Some(flow) = self.access(warp, at, instr, exec)? {
            return Ok(flow);
        }
        if let Some(flow) = self.together(warp, at, instr, exec)? {
            return Ok(flow);
        }
        let read = |k: usize| self.read(warp, fragment.frame, instr.from[k]);
        compute(instr, exec, &read).apply(warp.frame(fragment.frame), instr, exec);
        Ok(Flow::Next)
    }

    pub(crate) fn read(&self, warp: &Warp, frame: u32, src: Src) -> Lanes {
        let frame = warp.frames[frame as usize]
            .as_ref()
            .expect("fragments are in frames that are there");
        match src {
            Src::Reg(reg) => frame.regs[reg as usize],
            Src::NotReg(reg) => frame.regs[reg as usize].map(|x| x & 1 ^ 1),
            Src::Imm(x) => [x; 32],
            Src::Local(at) => [u64::from(frame.local_at + at); 32],
            Src::Special(special) => {
                std::array::from_fn(|lane| self.special(warp, special, lane as u32))
            }
        }
    }

    fn special(&self, warp: &Warp, special: Special, lane: u32) -> u64 {
        let bit = 1u32 << lane;
        u64::from(match special {
            Special::Tid => warp.number * 32 + lane,
            Special::Ntid => self.launch.threads,
            Special::Ctaid => warp.cta,
            Special::Nctaid => self.launch.ctas,
            Special::Zero => 0,
            Special::One => 1,
            Special::Lane => lane,
            Special::Warp => warp.number,
            Special::LanesBelow => bit - 1,
            Special::LanesUpTo => bit | (bit - 1),
            Special::LanesAbove => !(bit | (bit - 1)),
            Special::LanesFrom => !(bit - 1),
            Special::LaneBit => bit,
            Special::Clock | Special::GlobalTimer => return self.timer,
            Special::ClusterCtas => self.launch.cluster,
            Special::ClusterRank => warp.cta % self.launch.cluster,
        })
    }

    /// Jumps, calls, and what ends lanes.
    fn control(
        &mut self,
        module: &Module,
        warp: &mut Warp,
        at: usize,
        instr: &Instr,
        exec: u32,
    ) -> Run<Option<Flow>> {
        let fragment = warp.fragments[at];
        match &instr.op {
            Op::Brx(targets, _) => {
                let index = self.read(warp, fragment.frame, instr.from[0]);
                let mut left = exec;
                warp.fragments[at].mask = fragment.mask & !exec;
                warp.fragments[at].pc += 1;
                while left != 0 {
                    let first = index[left.trailing_zeros() as usize] & mask(32);
                    let same = lanes_of(left).fold(0, |same, lane| {
                        same | u32::from(index[lane] & mask(32) == first) << lane
                    });
                    let &pc = targets
                        .get(first as usize)
                        .ok_or("an index is beyond its table")?;
                    warp.fragments.push(Fragment {
                        pc,
                        mask: same,
                        ..fragment
                    });
                    left &= !same;
                }
                warp.fragments.retain(|f| f.mask != 0);
            }
            Op::Call(call) => {
                let &callee = module
                    .by_name
                    .get(&call.function)
                    .ok_or("the function has no body")?;
                let function = &module.functions[callee];
                let lines_up = |a: &[Place], b: &[Place]| {
                    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.bytes == b.bytes)
                };
                if !lines_up(&call.args, &function.params)
                    || !lines_up(&call.results, &function.results)
                {
                    return Err("the function has other parameters".to_owned());
                }
                if exec != fragment.mask {
                    return Err("a call under a guard".to_owned());
                }
                let frame = warp.enter(
                    module,
                    callee as u32,
                    exec,
                    Some((fragment.frame, fragment.pc + 1)),
                );
                let caller = warp.frame(fragment.frame).params.clone();
                let bytes = caller.len() / 32;
                let to = warp.frame(frame);
                let to_bytes = function.param_bytes as usize;
                for lane in lanes_of(exec) {
                    for (from, place) in call.args.iter().zip(&function.params) {
                        let from =
                            &caller[lane * bytes + from.at as usize..][..from.bytes as usize];
                        to.params[lane * to_bytes + place.at as usize..][..from.len()]
                            .copy_from_slice(from);
                    }
                }
                warp.fragments[at] = Fragment {
                    frame,
                    pc: 0,
                    ..fragment
                };
            }
            Op::Ret => {
                let frame = warp.frame(fragment.frame).clone_head();
                warp.fragments[at].mask &= !exec;
                warp.fragments[at].pc += 1;
                let (Some(caller), left) = (frame.caller, frame.lanes & !exec) else {
                    warp.leave(exec);
                    return Ok(Some(Flow::Moved));
                };
                let callee = &module.functions[frame.function as usize];
                let pc = frame.returns_to;
                let calls =
                    &module.functions[warp.frame(caller).function as usize].code[pc as usize - 1];
                let Op::Call(call) = &calls.op else {
                    unreachable!("a frame returns behind its call");
                };
                if !call.results.is_empty() {
                    let from = warp.frame(fragment.frame).params.clone();
                    let (bytes, to) = (callee.param_bytes as usize, warp.frame(caller));
                    let to_bytes = to.params.len() / 32;
                    for lane in lanes_of(exec) {
                        for (place, result) in call.results.iter().zip(&callee.results) {
                            let from =
                                &from[lane * bytes + result.at as usize..][..result.bytes as usize];
                            to.params[lane * to_bytes + place.at as usize..][..from.len()]
                                .copy_from_slice(from);
                        }
                    }
                }
                warp.frame(fragment.frame).lanes = left;
                if left == 0 {
                    warp.frames[fragment.frame as usize] = None;
                }
                warp.fragments.push(Fragment {
                    frame: caller,
                    pc,
                    mask: exec,
                    waits: false,
                });
                warp.fragments.retain(|f| f.mask != 0);
            }
            Op::Exit => {
                warp.fragments[at].mask &= !exec;
                warp.fragments[at].pc += 1;
                warp.leave(exec);
            }
            Op::Trap => return Err("trap".to_owned()),
            _ => return Ok(None),
        }
        Ok(Some(Flow::Moved))
    }

    /// What lanes do together, and what warps do.
    fn together(
        &mut self,
        warp: &mut Warp,
        at: usize,
        instr: &Instr,
        exec: u32,
    ) -> Run<Option<Flow>> {
        let fragment = warp.fragments[at];
        let from = |k: usize| {
            instr
                .from
                .get(k)
                .map_or([0; 32], |&src| self.read(warp, fragment.frame, src))
        };
        let first = exec.trailing_zeros() as usize;
        let whole = exec == warp.alive;
        match &instr.op {
            Op::BarSync { threads } => {
                if !whole {
                    return Ok(Some(Flow::Lanes));
                }
                let number = from(0)[first] as u32;
                let threads = if *threads { from(1)[first] as u32 } else { 0 };
                warp.wait = Wait::Barrier { number, threads };
                return Ok(Some(Flow::Next));
            }
            Op::ClusterArrive => {
                if !whole {
                    return Ok(Some(Flow::Lanes));
                }
                let cluster = &mut self.clusters[(warp.cta / self.launch.cluster) as usize];
                cluster.arrived += 1;
                warp.arrived = cluster.phase;
                return Ok(Some(Flow::Next));
            }
            Op::ClusterWait => {
                if !whole {
                    return Ok(Some(Flow::Lanes));
                }
                warp.wait = Wait::Cluster {
                    phase: warp.arrived,
                };
                return Ok(Some(Flow::Next));
            }
            Op::ActiveMask => {
                let all = [u64::from(exec); 32];
                put(warp.frame(fragment.frame), instr, 0, exec, &all);
                return Ok(Some(Flow::Next));
            }
            op if !waits_for_lanes(op) => return Ok(None),
            _ => {}
        }
        let members = from(instr.from.len() - 1);
        let named = members[first] as u32;
        if lanes_of(exec).any(|lane| members[lane] as u32 != named) {
            return Err("lanes that stand together name different masks".to_owned());
        }
        if exec & !named != 0 {
            return Err("a lane is not in the mask that it names".to_owned());
        }
        if named & warp.alive & !exec != 0 {
            return Ok(Some(Flow::Lanes));
        }
        let a = from(0);
        let set = lanes_of(exec).fold(0u32, |set, lane| set | (a[lane] as u32 & 1) << lane);
        let mut out = [0; 32];
        match &instr.op {
            Op::BarWarp => {
                if let Some(model) = &mut self.model {
                    model.warp_meets(warp.cta, warp.number);
                }
                return Ok(Some(Flow::Next));
            }
            Op::Shfl(mode) => {
                let (b, c) = (from(1), from(2));
                let mut valid = [0; 32];
                for lane in lanes_of(exec) {
                    let (source, inside) =
                        shuffle(*mode, lane as u32, b[lane] as u32, c[lane] as u32);
                    if exec >> source & 1 == 0 {
                        return Err(format!(
                            "lane {lane} asks lane {source}, which is not there"
                        ));
                    }
                    out[lane] = a[source as usize] & mask(32);
                    valid[lane] = inside.into();
                }
                if instr.to.len() > 1 {
                    put(warp.frame(fragment.frame), instr, 1, exec, &valid);
                }
            }
            Op::Vote(vote) => {
                let x = match vote {
                    Vote::Any => u64::from(set != 0),
                    Vote::All => u64::from(set == exec),
                    Vote::Uni => u64::from(set == exec || set == 0),
                    Vote::Ballot => set.into(),
                };
                out = [x; 32];
            }
            Op::Match { all, ty } => {
                let value = |lane: usize| a[lane] & mask(ty.bits());
                for lane in lanes_of(exec) {
                    let same = lanes_of(exec).filter(|&other| value(other) == value(lane));
                    let same = same.fold(0u32, |same, lane| same | 1 << lane);
                    out[lane] = if *all && same != exec { 0 } else { same }.into();
                }
                if instr.to.len() > 1 {
                    let valid = out.map(|same| u64::from(same != 0));
                    put(warp.frame(fragment.frame), instr, 1, exec, &valid);
                }
            }
            Op::Redux(op, ty) => {
                let mut values = lanes_of(exec).map(|lane| a[lane] & mask(ty.bits()));
                let first = values.next().unwrap_or(0);
                out = [values.fold(first, |all, x| alu::rmw(*op, *ty, all, x, 0)); 32];
            }
            _ => return Ok(None),
        }
        put(warp.frame(fragment.frame), instr, 0, exec, &out);
        Ok(Some(Flow::Next))
    }
}

/// Lets lanes go on that meet at different `bar.warp.sync` of the same mask.
fn meet(module: &Module, warp: &mut Warp) -> bool {
    let mut found: Option<(u64, u32)> = None;
    for i in 0..warp.fragments.len() {
        let Fragment {
            frame, pc, mask, ..
        } = warp.fragments[i];
        let Some(frame) = &warp.frames[frame as usize] else {
            return false;
        };
        let instr = &module.functions[frame.function as usize].code[pc as usize];
        if instr.op != Op::BarWarp {
            continue;
        }
        let named = match instr.from[0] {
            Src::Imm(x) => x,
            Src::Reg(reg) => frame.regs[reg as usize][mask.trailing_zeros() as usize],
            _ => return false,
        };
        match &mut found {
            None => found = Some((named, mask)),
            Some((of, lanes)) if *of == named => *lanes |= mask,
            Some(_) => return false,
        }
    }
    let Some((named, lanes)) = found else {
        return false;
    };
    if named as u32 & warp.alive & !lanes != 0 {
        return false;
    }
    for fragment in &mut warp.fragments {
        if fragment.mask & lanes != 0 {
            fragment.pc += 1;
            fragment.waits = false;
        }
    }
    // They may stand at different places still: those that stand together run together from here.
    for fragment in &mut warp.fragments {
        fragment.waits = false;
    }
    warp.merge();
    true
}

/// Which lane's value a lane gets, and whether it is within the bounds.
fn shuffle(mode: Shuffle, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (b, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let last = lane & segment | clamp & !segment;
    let first = lane & segment;
    let (source, inside) = match mode {
        Shuffle::Up => (lane.wrapping_sub(b), lane as i32 - b as i32 >= last as i32),
        Shuffle::Down => (lane + b, lane + b <= last),
        Shuffle::Bfly => (lane ^ b, lane ^ b <= last),
        Shuffle::Idx => {
            let source = first | b & !segment;
            (source, source <= last)
        }
    };
    if inside {
        (source, true)
    } else {
        (lane, false)
    }
}

impl Frame {
    /// The frame without what takes long to copy.
    fn clone_head(&self) -> Frame {
        Frame {
            regs: Vec::new(),
            params: Vec::new(),
            ..*self
        }
    }
}

pub(crate) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| mask >> lane & 1 != 0)
}

fn waits_for_lanes(op: &Op) -> bool {
    matches!(
        op,
        Op::BarWarp | Op::Shfl(_) | Op::Vote(_) | Op::Match { .. } | Op::Redux(..)
    )
}

/// Whether other warps may see what an instruction does, or change what it finds.
pub(crate) fn is_visible(op: &Op) -> bool {
    match op {
        Op::Ld(access) | Op::St(access) => {
            access.order.is_strong() || access.space == Space::Cluster
        }
        Op::Atom(..) | Op::Red(..) => true,
        Op::MbarArrive { .. } | Op::MbarTryWait { .. } | Op::StAsync { .. } => true,
        _ => false,
    }
}

/// A value as it fills the register it goes to, which may be wider.
pub(crate) fn filling(ty: Ty, x: u64) -> u64 {
    match ty {
        Ty::Signed(bits) => (((x << (64 - bits)) as i64) >> (64 - bits)) as u64,
        _ => x,
    }
}

fn put_param(frame: &mut Frame, module: &Module, lane: usize, place: Place, x: u64) {
    let bytes = module.functions[frame.function as usize].param_bytes as usize;
    let held = &mut frame.params[lane * bytes + place.at as usize..][..place.bytes as usize];
    held.copy_from_slice(&x.to_le_bytes()[..place.bytes as usize]);
}

fn param(frame: &Frame, module: &Module, lane: usize, place: Place) -> u64 {
    let bytes = module.functions[frame.function as usize].param_bytes as usize;
    number(&frame.params[lane * bytes + place.at as usize..][..place.bytes as usize])
}

/// Writes one of an instruction's results, as wide as its register.
pub(crate) fn put(frame: &mut Frame, instr: &Instr, k: usize, exec: u32, x: &Lanes) {
    let reg = instr.to[k];
    if reg == NOWHERE {
        return;
    }
    let ones = mask(instr.widths[k]);
    let held = &mut frame.regs[reg as usize];
    if exec == u32::MAX {
        for lane in 0..32 {
            held[lane] = x[lane] & ones;
        }
        return;
    }
    for lane in lanes_of(exec) {
        held[lane] = x[lane] & ones;
    }
}

/// Results of an instruction, before they are written.
struct Results(Vec<Lanes>);

impl Results {
    fn apply(self, frame: &mut Frame, instr: &Instr, exec: u32) {
        for (k, x) in self.0.iter().enumerate() {
            put(frame, instr, k, exec, x);
        }
    }
}

/// What an instruction computes that no other lane and no memory takes part in.
fn compute(instr: &Instr, exec: u32, read: &dyn Fn(usize) -> Lanes) -> Results {
    let one = |f: &dyn Fn(u64) -> u64| {
        let a = read(0);
        let mut out = [0; 32];
        lanes_of(exec).for_each(|i| out[i] = f(a[i]));
        Results(vec![out])
    };
    let two = |f: &dyn Fn(u64, u64) -> u64| {
        let (a, b) = (read(0), read(1));
        let mut out = [0; 32];
        lanes_of(exec).for_each(|i| out[i] = f(a[i], b[i]));
        Results(vec![out])
    };
    let three = |f: &dyn Fn(u64, u64, u64) -> u64| {
        let (a, b, c) = (read(0), read(1), read(2));
        let mut out = [0; 32];
        lanes_of(exec).for_each(|i| out[i] = f(a[i], b[i], c[i]));
        Results(vec![out])
    };
    match instr.op {
        Op::Bin(op, ty, round) => two(&|a, b| alu::binary(op, ty, round, a, b)),
        Op::Carry { op, ty, takes, .. } => {
            let (a, b) = (read(0), read(1));
            let with = if takes { read(2) } else { [0; 32] };
            let (mut out, mut carry) = ([0; 32], [0; 32]);
            for i in lanes_of(exec) {
                let (x, c) = alu::carry(op, ty, a[i], b[i], with[i] & 1 != 0);
                (out[i], carry[i]) = (x, c.into());
            }
            Results(if instr.to.len() > 1 {
                vec![out, carry]
            } else {
                vec![out]
            })
        }
        Op::MulWide(ty) => two(&|a, b| alu::mul_wide(ty, a, b)),
        Op::MadWide(ty) => three(&|a, b, c| alu::mul_wide(ty, a, b).wrapping_add(c)),
        Op::Mad {
            high, ty, takes, ..
        } => {
            let (a, b, c) = (read(0), read(1), read(2));
            let with = if takes { read(3) } else { [0; 32] };
            let part = if high { Bin::MulHi } else { Bin::MulLo };
            let (mut out, mut carry) = ([0; 32], [0; 32]);
            for i in lanes_of(exec) {
                let product = alu::binary(part, ty, Round::Near, a[i], b[i]);
                let (x, over) = alu::carry(Bin::Add, ty, product, c[i], with[i] & 1 != 0);
                (out[i], carry[i]) = (x, over.into());
            }
            Results(if instr.to.len() > 1 {
                vec![out, carry]
            } else {
                vec![out]
            })
        }
        Op::Fma(ty, round) => three(&|a, b, c| alu::fma(ty, round, [a, b, c])),
        Op::Un(op, ty) => one(&|a| alu::unary(op, ty, a)),
        Op::DivApprox => two(&alu::div_approx),
        Op::Shf { left, wrap } => three(&|a, b, c| alu::shf(left, wrap, a, b, c)),
        Op::Prmt => three(&alu::prmt),
        Op::Bfi(ty) => {
            let len = read(3);
            let (a, b, at) = (read(0), read(1), read(2));
            let mut out = [0; 32];
            lanes_of(exec).for_each(|i| out[i] = alu::bfi(ty, a[i], b[i], at[i], len[i]));
            Results(vec![out])
        }
        Op::Bfe(ty) => three(&|a, at, len| alu::bfe(ty, a, at, len)),
        Op::Lop3 => {
            let table = read(3)[0];
            three(&|a, b, c| alu::lop3(a, b, c, table))
        }
        Op::Setp {
            cmp,
            ty,
            unordered,
            with,
        } => {
            let (a, b) = (read(0), read(1));
            let c = with.map(|_| read(2));
            let mut out = [[0; 32]; 2];
            for i in lanes_of(exec) {
                let found = alu::compare(cmp, ty, unordered, a[i], b[i]);
                for (k, found) in [found, !found].into_iter().enumerate() {
                    let c = c.is_some_and(|c| c[i] & 1 != 0);
                    out[k][i] = u64::from(match with {
                        None => found,
                        Some(Bin::And) => found & c,
                        Some(Bin::Or) => found | c,
                        Some(_) => found ^ c,
                    });
                }
            }
            Results(out[..instr.to.len()].to_vec())
        }
        Op::Selp => three(&|a, b, p| if p & 1 != 0 { a } else { b }),
        Op::Mov => one(&|a| a),
        Op::Pack(bits) => {
            let mut out = [0; 32];
            for k in 0..instr.from.len() {
                let part = read(k);
                lanes_of(exec)
                    .for_each(|i| out[i] |= (part[i] & mask(bits)) << (k as u32 * u32::from(bits)));
            }
            Results(vec![out])
        }
        Op::Unpack(bits) => {
            let a = read(0);
            let part = |k: usize| a.map(|x| x >> (k as u32 * u32::from(bits)) & mask(bits));
            Results((0..instr.to.len()).map(part).collect())
        }
        Op::Cvt {
            to,
            from,
            round,
            sat,
        } => one(&|a| filling(to, alu::convert(to, from, round, sat, a))),
        Op::ToSpace(space) => one(&|a| match space {
            Space::Shared | Space::Cluster => a.wrapping_sub(SHARED_AT),
            Space::Local => a.wrapping_sub(LOCAL_AT),
            _ => a,
        }),
        Op::ToGeneric(space) => one(&|a| match space {
            Space::Shared | Space::Cluster => a.wrapping_add(SHARED_AT),
            Space::Local => a.wrapping_add(LOCAL_AT),
            _ => a,
        }),
        Op::Mapa => two(&|a, rank| (rank + 1) << 24 | a & (WINDOW - 1)),
        ref other => unreachable!("{other:?} is run elsewhere"),
    }
}
