//! Accesses to memory by the lanes of a warp.

use crate::alu;
use crate::decode::{Access, Op, Order, Rmw, Scope, Space};
use crate::machine::{
    Flight, Flow, LOCAL_AT, Machine, Run, SHARED_AT, WINDOW, Warp, lanes_of, put,
};
use crate::memory::{Pages, Refused, number};
use crate::order::Touch;
use crate::text::Instr;

/// What an address is in.
#[derive(Clone, Copy, Debug)]
enum At {
    Global(u64),
    /// A CTA's shared memory.
    Shared(u32, u32),
    Local(u32),
}

/// A barrier in shared memory: arrivals that are missing, how many there are each turn, bytes that are missing, and the
/// turn's parity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mbarrier {
    missing: u32,
    arrivals: u32,
    pub(crate) bytes: i32,
    parity: bool,
}

const FIELD: u64 = (1 << 20) - 1;

impl Mbarrier {
    pub(crate) fn read(shared: &Pages, at: u32) -> Mbarrier {
        let bits = shared.load(at as usize, 8);
        Mbarrier {
            missing: (bits & FIELD) as u32,
            arrivals: (bits >> 20 & FIELD) as u32,
            bytes: ((bits << 2) as i64 >> 42) as i32,
            parity: bits >> 63 != 0,
        }
    }

    pub(crate) fn write(self, shared: &mut Pages, at: u32) {
        let bytes = (self.bytes as u64 & ((1 << 22) - 1)) << 40;
        let bits = u64::from(self.missing)
            | u64::from(self.arrivals) << 20
            | bytes
            | u64::from(self.parity) << 63;
        shared.store(at as usize, 8, bits);
    }

    /// Whether the turn of a parity is complete.
    pub(crate) fn is_over(self, parity: u64) -> bool {
        u64::from(self.parity) != parity & 1
    }

    /// Begins the next turn if this one is complete.
    pub(crate) fn turn(&mut self) -> bool {
        let complete = self.missing == 0 && self.bytes == 0;
        if complete {
            self.missing = self.arrivals;
            self.parity = !self.parity;
        }
        complete
    }
}

fn refused(address: u64, bytes: u32) -> impl Fn(Refused) -> String {
    move |why| match why {
        Refused::Outside => format!("{bytes} bytes at {address:#x} are in no memory"),
        Refused::Misaligned => format!("{bytes} bytes at {address:#x} are misaligned"),
    }
}

impl Machine {
    fn resolve(&self, warp: &Warp, space: Space, address: u64) -> Run<At> {
        let cluster = self.launch.cluster;
        Ok(match space {
            Space::Generic if (SHARED_AT..SHARED_AT + WINDOW).contains(&address) => {
                At::Shared(warp.cta, (address - SHARED_AT) as u32)
            }
            Space::Generic if (LOCAL_AT..LOCAL_AT + WINDOW).contains(&address) => {
                At::Local((address - LOCAL_AT) as u32)
            }
            Space::Generic | Space::Global => At::Global(address),
            Space::Shared => At::Shared(warp.cta, address as u32),
            Space::Cluster => match (address as u32) >> 24 {
                0 => At::Shared(warp.cta, address as u32),
                rank if rank <= cluster => {
                    let first = warp.cta / cluster * cluster;
                    At::Shared(first + rank - 1, address as u32 & (WINDOW as u32 - 1))
                }
                rank => return Err(format!("the cluster has no CTA {}", rank - 1)),
            },
            Space::Local => At::Local(address as u32),
            Space::Param => unreachable!("parameters have places"),
        })
    }

    fn shared_at(&self, cta: u32, at: u32, bytes: u32) -> Run<usize> {
        if !at.is_multiple_of(bytes) {
            return Err(format!(
                "{bytes} bytes at {at:#x} of shared memory are misaligned"
            ));
        }
        match (at as usize).checked_add(bytes as usize) {
            Some(end) if end <= self.shared[cta as usize].len() => Ok(at as usize),
            _ => Err(format!("{bytes} bytes at {at:#x} are beyond shared memory")),
        }
    }

    fn load(&mut self, warp: &Warp, lane: usize, access: &Access, address: u64) -> Run<u64> {
        let bytes = access.ty.bytes();
        match self.resolve(warp, access.space, address)? {
            At::Global(address) => {
                let latest = self
                    .memory
                    .load(address, bytes)
                    .map_err(refused(address, bytes))?;
                match &mut self.model {
                    Some(model) => {
                        model.load((warp.cta, warp.number), (address, bytes), access, latest)
                    }
                    None => Ok(latest),
                }
            }
            At::Shared(cta, at) => {
                let here = self.shared_at(cta, at, bytes)?;
                self.touch(warp, lane, (cta, at, bytes), access.order, Touch::Read)?;
                Ok(self.shared[cta as usize].load(here, bytes as usize))
            }
            At::Local(at) => {
                let at = warp.local_at(lane, at, bytes)?;
                Ok(number(&warp.local[at..at + bytes as usize]))
            }
        }
    }

    fn store(
        &mut self,
        warp: &mut Warp,
        lane: usize,
        access: &Access,
        (address, x): (u64, u64),
    ) -> Run<()> {
        let bytes = access.ty.bytes();
        match self.resolve(warp, access.space, address)? {
            At::Global(address) => {
                self.memory
                    .load(address, bytes)
                    .map_err(refused(address, bytes))?;
                if let Some(model) = &mut self.model {
                    if access.order.is_strong() {
                        if !model.has_location(address) {
                            model.make_location(address, self.memory.eight(address));
                        }
                        let by = (warp.cta, warp.number);
                        if model.is_lost(by, (address, bytes), access)?.is_some() {
                            return Ok(());
                        }
                    }
                    model.store((warp.cta, warp.number), (address, bytes), access, x)?;
                }
                self.memory
                    .store(address, bytes, x)
                    .map_err(refused(address, bytes))
            }
            At::Shared(cta, at) => {
                let here = self.shared_at(cta, at, bytes)?;
                self.touch(warp, lane, (cta, at, bytes), access.order, Touch::Write)?;
                self.shared[cta as usize].store(here, bytes as usize, x);
                Ok(())
            }
            At::Local(at) => {
                let at = warp.local_at(lane, at, bytes)?;
                warp.local[at..at + bytes as usize]
                    .copy_from_slice(&x.to_le_bytes()[..bytes as usize]);
                Ok(())
            }
        }
    }

    /// Tells the model of an access to shared memory.
    fn touch(
        &mut self,
        warp: &Warp,
        lane: usize,
        place: (u32, u32, u32),
        order: Order,
        touch: Touch,
    ) -> Run<()> {
        match &mut self.model {
            Some(model) => {
                let touch = match (order.is_strong(), touch) {
                    (true, Touch::Read) => Touch::Look,
                    (true, _) => Touch::Atomic,
                    (false, touch) => touch,
                };
                model.touch((warp.cta, warp.number, lane as u32), place, touch)
            }
            None => Ok(()),
        }
    }

    fn atomic(
        &mut self,
        warp: &Warp,
        (lane, address): (usize, u64),
        access: &Access,
        (op, asks): (Rmw, bool),
        change: impl Fn(u64) -> u64,
    ) -> Run<u64> {
        let bytes = access.ty.bytes();
        match self.resolve(warp, access.space, address)? {
            At::Global(address) => {
                let old = self
                    .memory
                    .load(address, bytes)
                    .map_err(refused(address, bytes))?;
                let new = change(old);
                if let Some(model) = &mut self.model {
                    if !model.has_location(address) {
                        model.make_location(address, self.memory.eight(address));
                    }
                    let by = (warp.cta, warp.number);
                    if let Some(found) = model.is_lost(by, (address, bytes), access)? {
                        return Ok(found);
                    }
                    model.rmw(
                        (warp.cta, warp.number),
                        (address, bytes),
                        access,
                        (old, new),
                        (op, asks),
                    )?;
                }
                self.memory
                    .store(address, bytes, new)
                    .map_err(refused(address, bytes))?;
                Ok(old)
            }
            At::Shared(cta, at) => {
                let here = self.shared_at(cta, at, bytes)?;
                self.touch(warp, lane, (cta, at, bytes), Order::Relaxed, Touch::Write)?;
                let old = self.shared[cta as usize].load(here, bytes as usize);
                self.shared[cta as usize].store(here, bytes as usize, change(old));
                Ok(old)
            }
            At::Local(_) => Err("an atomic of local memory".to_owned()),
        }
    }

    /// Instructions that access memory, and what orders accesses.
    pub(crate) fn access(
        &mut self,
        warp: &mut Warp,
        at: usize,
        instr: &Instr,
        exec: u32,
    ) -> Run<Option<Flow>> {
        let frame = warp.fragments[at].frame;
        match &instr.op {
            Op::Ld(access) if access.space == Space::Param => {
                warp.load_param(frame, instr, access, exec)
            }
            Op::St(access) if access.space == Space::Param => {
                let values: Vec<_> = instr.from[1..]
                    .iter()
                    .map(|&src| self.read(warp, frame, src))
                    .collect();
                warp.store_param(frame, instr, access, (exec, &values));
            }
            Op::Ld(access) => self.loads(warp, frame, instr, (access, exec))?,
            Op::St(access) => {
                let base = self.read(warp, frame, instr.from[0]);
                let values: Vec<_> = instr.from[1..]
                    .iter()
                    .map(|&src| self.read(warp, frame, src))
                    .collect();
                let bytes = access.ty.bytes();
                for lane in lanes_of(exec) {
                    let first = base[lane].wrapping_add_signed(access.offset);
                    whole_aligned(first, bytes * values.len() as u32)?;
                    for (k, x) in values.iter().enumerate() {
                        let address = first + k as u64 * u64::from(bytes);
                        self.store(warp, lane, access, (address, x[lane]))?;
                    }
                }
            }
            Op::Atom(op, access) | Op::Red(op, access) => {
                let from = |k: usize| {
                    instr
                        .from
                        .get(k)
                        .map_or([0; 32], |&src| self.read(warp, frame, src))
                };
                let (base, x, swap) = (from(0), from(1), from(2));
                let asks = matches!(instr.op, Op::Atom(..));
                let mut old = [0; 32];
                for lane in lanes_of(exec) {
                    let address = base[lane].wrapping_add_signed(access.offset);
                    let change = |old| alu::rmw(*op, access.ty, old, x[lane], swap[lane]);
                    old[lane] = self.atomic(warp, (lane, address), access, (*op, asks), change)?;
                }
                if asks {
                    put(warp.frame(frame), instr, 0, exec, &old);
                }
            }
            Op::Prefetch(_) | Op::Nanosleep | Op::MbarInitFence => self.timer += 1,
            Op::Fence(scope) => {
                if let Some(model) = &mut self.model {
                    model.fence((warp.cta, warp.number), *scope);
                }
            }
            Op::CpAsync { bytes, to, from } => {
                let read = |k: usize| self.read(warp, frame, instr.from[k]);
                let (tos, froms) = (read(0), read(1));
                for lane in lanes_of(exec) {
                    let to = tos[lane].wrapping_add_signed(*to) as u32;
                    let from = froms[lane].wrapping_add_signed(*from);
                    whole_aligned(from, *bytes)?;
                    self.shared_at(warp.cta, to, *bytes)?;
                    warp.copies.push((lane as u32, to, from, *bytes));
                }
            }
            Op::CpWait => self.copies_arrive(warp, exec)?,
            _ => return self.between_ctas(warp, at, instr, exec),
        }
        Ok(Some(Flow::Next))
    }

    fn loads(
        &mut self,
        warp: &mut Warp,
        frame: u32,
        instr: &Instr,
        (access, exec): (&Access, u32),
    ) -> Run<()> {
        let base = self.read(warp, frame, instr.from[0]);
        let bytes = access.ty.bytes();
        let parts = instr.to.len();
        let mut out = vec![[0; 32]; parts];
        for lane in lanes_of(exec) {
            let first = base[lane].wrapping_add_signed(access.offset);
            whole_aligned(first, bytes * parts as u32)?;
            for (k, out) in out.iter_mut().enumerate() {
                let address = first + k as u64 * u64::from(bytes);
                out[lane] =
                    crate::machine::filling(access.ty, self.load(warp, lane, access, address)?);
            }
        }
        for (k, x) in out.iter().enumerate() {
            put(warp.frame(frame), instr, k, exec, x);
        }
        Ok(())
    }

    /// What lanes have asked for is in shared memory.
    fn copies_arrive(&mut self, warp: &mut Warp, exec: u32) -> Run<()> {
        let weak = |space, ty| Access {
            space,
            ty,
            order: Order::Weak,
            scope: Scope::Cta,
            offset: 0,
        };
        let (mine, others) =
            (warp.copies.iter()).partition::<Vec<_>, _>(|copy| exec >> copy.0 & 1 != 0);
        warp.copies = others;
        for (lane, to, from, bytes) in mine {
            for k in 0..bytes / 4 {
                let ty = crate::decode::Ty::Unsigned(32);
                let from = from + u64::from(k * 4);
                let x = self.load(warp, lane as usize, &weak(Space::Global, ty), from)?;
                self.store(
                    warp,
                    lane as usize,
                    &weak(Space::Shared, ty),
                    (u64::from(to + k * 4), x),
                )?;
            }
        }
        Ok(())
    }

    /// Barriers in shared memory, and stores to other CTAs of the cluster.
    fn between_ctas(
        &mut self,
        warp: &mut Warp,
        at: usize,
        instr: &Instr,
        exec: u32,
    ) -> Run<Option<Flow>> {
        let frame = warp.fragments[at].frame;
        let from = |k: usize| {
            instr
                .from
                .get(k)
                .map_or([0; 32], |&src| self.read(warp, frame, src))
        };
        let (base, x, other) = (from(0), from(1), from(2));
        let unit = (warp.cta, warp.number);
        let mut over = [0; 32];
        for lane in lanes_of(exec) {
            let place = |offset: i64, base: u64| base.wrapping_add_signed(offset) as u32;
            match instr.op {
                Op::MbarInit(offset) => {
                    let at = place(offset, base[lane]);
                    self.shared_at(warp.cta, at, 8)?;
                    let arrivals = x[lane] as u32;
                    let bar = Mbarrier {
                        missing: arrivals,
                        arrivals,
                        bytes: 0,
                        parity: false,
                    };
                    bar.write(&mut self.shared[warp.cta as usize], at);
                }
                Op::MbarArrive {
                    expects,
                    at: offset,
                    ..
                } => {
                    let at = place(offset, base[lane]);
                    self.shared_at(warp.cta, at, 8)?;
                    let shared = &mut self.shared[warp.cta as usize];
                    let mut bar = Mbarrier::read(shared, at);
                    if bar.missing == 0 {
                        return Err("more arrive at a barrier than it has room for".to_owned());
                    }
                    bar.missing -= 1;
                    bar.bytes += if expects { x[lane] as i32 } else { 0 };
                    let complete = bar.turn();
                    bar.write(shared, at);
                    if let Some(model) = &mut self.model {
                        model.arrives(unit, (warp.cta, at));
                        if complete {
                            model.turns((warp.cta, at));
                        }
                    }
                }
                Op::MbarTryWait { at: offset, .. } => {
                    let at = place(offset, base[lane]);
                    self.shared_at(warp.cta, at, 8)?;
                    let bar = Mbarrier::read(&self.shared[warp.cta as usize], at);
                    let passed = bar.is_over(x[lane]);
                    over[lane] = passed.into();
                    if let Some(model) = &mut self.model
                        && passed
                    {
                        model.passes(unit, (warp.cta, at));
                    }
                }
                Op::StAsync { to, bar } => {
                    let (to, bar) = (place(to, base[lane]), place(bar, other[lane]));
                    let here = |at: u32| match self.resolve(warp, Space::Cluster, at.into()) {
                        Ok(At::Shared(cta, at)) => Ok((cta, at)),
                        Ok(_) => unreachable!("shared addresses are of shared memory"),
                        Err(e) => Err(e),
                    };
                    let ((cta, to), (bar_cta, bar)) = (here(to)?, here(bar)?);
                    if cta != bar_cta {
                        return Err("a store and its barrier are in different CTAs".to_owned());
                    }
                    self.shared_at(cta, to, 4)?;
                    self.shared_at(cta, bar, 8)?;
                    let sent = self.model.as_ref().map(|model| model.sends(unit));
                    self.flights.push(Flight {
                        cta,
                        to,
                        value: x[lane] as u32,
                        bar,
                        sent,
                    });
                }
                _ => return Ok(None),
            }
        }
        if let Op::MbarTryWait { .. } = instr.op {
            put(warp.frame(frame), instr, 0, exec, &over);
        }
        Ok(Some(Flow::Next))
    }
}

/// Accesses of several parts are aligned as a whole.
fn whole_aligned(address: u64, bytes: u32) -> Run<()> {
    match address.is_multiple_of(u64::from(bytes)) {
        true => Ok(()),
        false => Err(refused(address, bytes)(Refused::Misaligned)),
    }
}

impl Warp {
    fn local_at(&self, lane: usize, at: u32, bytes: u32) -> Run<usize> {
        match at.is_multiple_of(bytes) && at + bytes <= self.local_bytes {
            true => Ok(lane * self.local_bytes as usize + at as usize),
            false => Err(format!(
                "{bytes} bytes at {at:#x} are beyond local memory or misaligned"
            )),
        }
    }

    fn load_param(&mut self, frame: u32, instr: &Instr, access: &Access, exec: u32) {
        let crate::text::Src::Imm(at) = instr.from[0] else {
            unreachable!("parameters have places");
        };
        let frame = self.frame(frame);
        let (lane_bytes, bytes) = (frame.params.len() / 32, access.ty.bytes() as usize);
        for k in 0..instr.to.len() {
            let x: [u64; 32] = std::array::from_fn(|lane| {
                let at = lane * lane_bytes + at as usize + k * bytes;
                crate::machine::filling(access.ty, number(&frame.params[at..at + bytes]))
            });
            put(frame, instr, k, exec, &x);
        }
    }

    fn store_param(
        &mut self,
        frame: u32,
        instr: &Instr,
        access: &Access,
        (exec, values): (u32, &[[u64; 32]]),
    ) {
        let crate::text::Src::Imm(at) = instr.from[0] else {
            unreachable!("parameters have places");
        };
        let frame = self.frame(frame);
        let (lane_bytes, bytes) = (frame.params.len() / 32, access.ty.bytes() as usize);
        for (k, x) in values.iter().enumerate() {
            for lane in lanes_of(exec) {
                let at = lane * lane_bytes + at as usize + k * bytes;
                frame.params[at..at + bytes].copy_from_slice(&x[lane].to_le_bytes()[..bytes]);
            }
        }
    }
}
