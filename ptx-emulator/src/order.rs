//! What other warps may see of an access, and when: the relaxations of PTX's memory model that the checker explores.
//!
//! Every warp has a [`View`]: how much it knows of what each warp has done, and of each location that is accessed by
//! strong operations the oldest write that it may still read. A location keeps its writes in the order in which they
//! were run. So:
//!
//! | explored | how |
//! | --- | --- |
//! | a relaxed or volatile load reads an old value, as from a line that was cached or past a store that is late | it may read every write that its warp's view does not rule out |
//! | writes to different locations are seen in another order | views advance by location |
//! | acquire and release, by an access or by a fence beside relaxed ones, of a scope that holds both sides | a write carries a view; who reads it takes it over |
//! | a chain of atomics goes on with the release at its head | what an atomic writes carries the view of what it replaced |
//! | two writes to one location end in another order than they ran | a write or an atomic may land before a store that its warp's view does not hold, and is lost |
//! | plain accesses, and strong ones whose scopes do not hold both sides | of two that meet, one must be known to the other, or it is a fault |
//! | barriers of a CTA and of a cluster, mbarriers, `st.async` | hand over views; what is sent arrives late, in any order |
//!
//! Not explored: loads that read writes of the future (load buffering), or one that was lost; an order of all `fence.sc`
//! (they count as `fence.acq_rel`); views of single lanes (lanes of a warp share one); two words of the same aligned
//! eight bytes grow old together.

use crate::decode::{Access, Order, Rmw, Scope};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;

/// An access to shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Touch {
    Read,
    Write,
    /// A strong load.
    Look,
    /// A strong store, or an atomic.
    Atomic,
}

/// A CTA, and a warp of it.
pub(crate) type Unit = (u32, u32);

/// What is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct View {
    /// By warp, and behind the warps by CTA for what is sent to it: until when.
    clock: Vec<u32>,
    /// By location, the oldest write that may be read.
    oldest: BTreeMap<u64, u32>,
}

impl View {
    fn join(&mut self, other: &View) {
        for (mine, theirs) in self.clock.iter_mut().zip(&other.clock) {
            *mine = (*mine).max(*theirs);
        }
        for (&at, &theirs) in &other.oldest {
            let mine = self.oldest.entry(at).or_insert(0);
            *mine = (*mine).max(theirs);
        }
    }
}

/// A view that a write carries, and who may take it over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Released {
    view: Rc<View>,
    cta: u32,
    scope: Scope,
}

/// Writes to eight bytes, without those that no thread can read any more.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Location {
    /// Number of the first one.
    first: u32,
    messages: Vec<Message>,
}

impl Location {
    fn last(&self) -> u32 {
        self.first + self.messages.len() as u32 - 1
    }

    fn message(&self, number: u32) -> &Message {
        &self.messages[(number - self.first) as usize]
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Message {
    /// All eight bytes after the write, and which of them it wrote.
    value: u64,
    bytes: u8,
    /// Of an atomic, which nothing comes between and what it replaced.
    is_rmw: bool,
    released: Vec<Released>,
}

/// An earlier access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Past {
    bytes: u8,
    unit: u32,
    time: u32,
    /// Of shared memory: the lane, and how often its warp had met.
    lane: (u32, u32),
    touch: Touch,
    scope: Scope,
}

/// What goes with a store to another CTA.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sent {
    known: Rc<View>,
    told: Option<Rc<View>>,
}

/// What a warp knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Knows {
    view: Rc<View>,
    /// Of relaxed loads, until a fence.
    found: Vec<Released>,
    /// As of the last fence.
    fenced: Option<Released>,
    /// How often its lanes have met.
    meetings: u32,
    /// Others may know of all so far: what comes next is later.
    told: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Bar {
    arriving: View,
    complete: View,
}

/// The memory model's state.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    warps: u32,
    ctas: u32,
    cluster: u32,
    knows: Vec<Knows>,
    locations: BTreeMap<u64, Rc<Location>>,
    past: BTreeMap<u64, Vec<Past>>,
    /// By CTA, of its shared memory since all of its warps met.
    past_shared: Vec<BTreeMap<u32, Vec<Past>>>,
    bars: BTreeMap<(u32, u32), Bar>,
    /// Which of the writes that a load may read it reads: 0 is the latest. Of a write: whether it lands before others.
    pub(crate) choice: u32,
    /// How many there were, at most, since this was set.
    pub(crate) choices: u32,
}

impl Model {
    pub(crate) fn new(ctas: u32, warps: u32, cluster: u32) -> Model {
        let units = ctas * warps;
        let knows = |unit: u32| {
            let mut clock = vec![0; (units + ctas) as usize];
            clock[unit as usize] = 1;
            let view = View {
                clock,
                oldest: BTreeMap::new(),
            };
            Knows {
                view: Rc::new(view),
                found: Vec::new(),
                fenced: None,
                meetings: 0,
                told: false,
            }
        };
        Model {
            warps,
            ctas,
            cluster,
            knows: (0..units).map(knows).collect(),
            locations: BTreeMap::new(),
            past: BTreeMap::new(),
            past_shared: vec![BTreeMap::new(); ctas as usize],
            bars: BTreeMap::new(),
            choice: 0,
            choices: 1,
        }
    }

    fn unit(&self, (cta, warp): Unit) -> usize {
        (cta * self.warps + warp) as usize
    }

    /// Others may take over a warp's view.
    fn tell(&mut self, unit: usize) {
        self.knows[unit].told = true;
    }

    /// An access comes that others must not know of yet. Strong loads do not count: loops that wait would never be where
    /// they were.
    fn begin(&mut self, unit: usize, touch: Touch) {
        let knows = &mut self.knows[unit];
        if touch != Touch::Look && std::mem::take(&mut knows.told) {
            Rc::make_mut(&mut knows.view).clock[unit] += 1;
        }
    }

    /// Whether a scope that one CTA names holds another.
    fn holds(&self, scope: Scope, a: u32, b: u32) -> bool {
        match scope {
            Scope::Cta => a == b,
            Scope::Cluster => a / self.cluster == b / self.cluster,
            Scope::Gpu | Scope::Sys => true,
        }
    }

    fn take_over(&mut self, unit: usize, cta: u32, scope: Scope, released: &[Released]) {
        for of in released {
            if self.holds(scope, cta, of.cta) && self.holds(of.scope, of.cta, cta) {
                Rc::make_mut(&mut self.knows[unit].view).join(&of.view);
            }
        }
    }

    /// Whether an access is unordered with an earlier one.
    fn meets(&self, view: &View, past: &Past, now: &Past) -> bool {
        let beside = match (past.touch, now.touch) {
            (Touch::Read | Touch::Look, Touch::Read | Touch::Look) => true,
            (Touch::Atomic | Touch::Look, Touch::Atomic | Touch::Look) => {
                let (then, here) = (past.unit / self.warps, now.unit / self.warps);
                self.holds(past.scope, then, here) && self.holds(now.scope, here, then)
            }
            _ => false,
        };
        let conflict = past.bytes & now.bytes != 0 && !beside;
        let ordered = match past.unit == now.unit {
            true => past.lane.0 == now.lane.0 || past.lane.1 < now.lane.1,
            false => view.clock[past.unit as usize] >= past.time,
        };
        conflict && !ordered
    }

    fn note(pasts: &mut Vec<Past>, now: Past) {
        // What was before a write is ordered with it, and so with whatever is ordered with the write.
        pasts.retain(|past| match now.touch {
            Touch::Write => past.bytes & !now.bytes != 0,
            _ => {
                past.touch == Touch::Write
                    || (past.unit, past.touch, past.scope) != (now.unit, now.touch, now.scope)
                    || past.bytes & !now.bytes != 0
            }
        });
        pasts.push(now);
    }

    /// Notes an access to global memory.
    fn note_global(
        &mut self,
        unit: usize,
        (address, bytes): (u64, u32),
        (touch, scope): (Touch, Scope),
    ) -> Result<(), String> {
        self.begin(unit, touch);
        let view = &self.knows[unit].view;
        let now = Past {
            bytes: mask_of(address, bytes),
            unit: unit as u32,
            time: view.clock[unit],
            lane: (0, 0),
            touch,
            scope,
        };
        let pasts = self.past.get(&(address & !7));
        let mut pasts = pasts.into_iter().flatten();
        if let Some(past) = pasts.find(|past| self.meets(view, past, &now)) {
            let (cta, warp) = (past.unit / self.warps, past.unit % self.warps);
            let (now, then) = (name_of(touch), name_of(past.touch));
            return Err(format!(
                "a {now} of {bytes} bytes at {address:#x} is not ordered with a {then} by CTA {cta}, warp {warp}"
            ));
        }
        Self::note(self.past.entry(address & !7).or_default(), now);
        Ok(())
    }

    /// Notes an access to shared memory: by lane, because lanes of a warp are ordered only where they meet.
    pub(crate) fn touch(
        &mut self,
        (cta, warp, lane): (u32, u32, u32),
        (of, at, bytes): (u32, u32, u32),
        touch: Touch,
    ) -> Result<(), String> {
        let unit = self.unit((cta, warp));
        self.begin(unit, touch);
        let Knows { view, meetings, .. } = &self.knows[unit];
        let now = Past {
            bytes: mask_of(at.into(), bytes),
            unit: unit as u32,
            time: view.clock[unit],
            lane: (lane, *meetings),
            touch,
            scope: Scope::Sys,
        };
        let pasts = self.past_shared[of as usize].get(&(at & !7));
        let mut pasts = pasts.into_iter().flatten();
        if let Some(past) = pasts.find(|past| self.meets(view, past, &now)) {
            let (cta, warp) = (past.unit / self.warps, past.unit % self.warps);
            let (now, then, lane) = (name_of(touch), name_of(past.touch), past.lane.0);
            return Err(format!(
                "a {now} of {bytes} bytes at {at:#x} of shared memory is not ordered with a {then} by CTA {cta}, warp \
                 {warp}, lane {lane}"
            ));
        }
        let pasts = self.past_shared[of as usize].entry(at & !7).or_default();
        if touch == Touch::Write {
            Self::note(pasts, now);
            return Ok(());
        }
        // Several lanes that do the same count as one that is none of them.
        let like = |past: &&mut Past| {
            Past {
                lane: now.lane,
                ..(**past).clone()
            } == now
                && past.lane.1 == now.lane.1
        };
        match pasts.iter_mut().find(like) {
            Some(past) if past.lane.0 != now.lane.0 => past.lane.0 = u32::MAX,
            Some(_) => {}
            None => pasts.push(now),
        }
        Ok(())
    }

    pub(crate) fn warp_meets(&mut self, cta: u32, warp: u32) {
        let unit = self.unit((cta, warp));
        self.knows[unit].meetings += 1;
    }

    /// Warps of a CTA meet; `all` of them.
    pub(crate) fn cta_meets(&mut self, cta: u32, warps: &[u32], all: bool) {
        let units: Vec<usize> = warps.iter().map(|&warp| self.unit((cta, warp))).collect();
        self.units_meet(&units);
        if all {
            self.past_shared[cta as usize].clear();
        }
    }

    pub(crate) fn cluster_meets(&mut self, ctas: Range<u32>) {
        let (first, last) = (self.unit((ctas.start, 0)), self.unit((ctas.end, 0)));
        self.units_meet(&(first..last).collect::<Vec<_>>());
        for cta in ctas {
            self.past_shared[cta as usize].clear();
        }
    }

    fn units_meet(&mut self, units: &[usize]) {
        let Some(&first) = units.first() else { return };
        let mut all = View::clone(&self.knows[first].view);
        units
            .iter()
            .for_each(|&unit| all.join(&self.knows[unit].view));
        let all = Rc::new(all);
        for &unit in units {
            self.knows[unit].view = Rc::clone(&all);
            self.knows[unit].meetings += 1;
            self.tell(unit);
        }
    }

    /// The writes that a load may read, from the oldest on.
    fn readable(&self, unit: usize, address: u64, bytes: u8) -> Vec<u32> {
        let Some(location) = self.locations.get(&(address & !7)) else {
            return Vec::new();
        };
        let oldest = self.knows[unit].view.oldest.get(&(address & !7));
        let oldest = oldest.copied().unwrap_or(0).max(location.first);
        // A write to other bytes of the eight leaves these as they were.
        let tells = |&i: &u32| i == oldest || location.message(i).bytes & bytes != 0;
        (oldest..=location.last()).filter(tells).collect()
    }

    pub(crate) fn load(
        &mut self,
        by: Unit,
        (address, bytes): (u64, u32),
        access: &Access,
        latest: u64,
    ) -> Result<u64, String> {
        let unit = self.unit(by);
        if !access.order.is_strong() {
            self.note_global(unit, (address, bytes), (Touch::Read, access.scope))?;
            return Ok(latest);
        }
        self.note_global(unit, (address, bytes), (Touch::Look, access.scope))?;
        let readable = self.readable(unit, address, mask_of(address, bytes));
        if readable.is_empty() {
            return Ok(latest);
        }
        self.choices = self.choices.max(readable.len() as u32);
        let index = readable[readable.len() - 1 - (self.choice as usize).min(readable.len() - 1)];
        let message = self.locations[&(address & !7)].message(index).clone();
        self.reads(unit, by.0, access, (address, index), &message.released);
        let shift = (address & 7) * 8;
        let all = if bytes == 8 {
            u64::MAX
        } else {
            (1 << (bytes * 8)) - 1
        };
        Ok(message.value >> shift & all)
    }

    /// A strong operation reads a write, and what that carries.
    fn reads(
        &mut self,
        unit: usize,
        cta: u32,
        access: &Access,
        (address, index): (u64, u32),
        released: &[Released],
    ) {
        Rc::make_mut(&mut self.knows[unit].view)
            .oldest
            .insert(address & !7, index);
        if matches!(access.order, Order::Acquire | Order::AcqRel) {
            self.take_over(unit, cta, access.scope, released);
        } else {
            for of in released {
                let known = of
                    .view
                    .clock
                    .iter()
                    .zip(&self.knows[unit].view.clock)
                    .all(|(a, b)| a <= b);
                if !known && !self.knows[unit].found.contains(of) {
                    self.knows[unit].found.push(of.clone());
                }
            }
        }
    }

    /// A write is the latest of its location from here on.
    fn writes(
        &mut self,
        by: Unit,
        (address, bytes): (u64, u32),
        access: &Access,
        new: u64,
        (is_rmw, mut released): (bool, Vec<Released>),
    ) {
        let unit = self.unit(by);
        let at = address & !7;
        let location = self.locations.get_mut(&at).expect("the location was made");
        let location = Rc::make_mut(location);
        let shift = (address & 7) * 8;
        let before = location.message(location.last()).value;
        let all = if bytes == 8 {
            u64::MAX
        } else {
            ((1 << (bytes * 8)) - 1) << shift
        };
        let index = location.last() + 1;
        Rc::make_mut(&mut self.knows[unit].view)
            .oldest
            .insert(at, index);
        let releases = matches!(access.order, Order::Release | Order::AcqRel);
        if releases {
            released.push(Released {
                view: Rc::clone(&self.knows[unit].view),
                cta: by.0,
                scope: access.scope,
            });
        } else if access.order.is_strong()
            && let Some(fenced) = &self.knows[unit].fenced
        {
            let scope = fenced.scope.min(access.scope);
            released.push(Released {
                scope,
                ..fenced.clone()
            });
        }
        location.messages.push(Message {
            value: before & !all | new << shift & all,
            bytes: mask_of(address, bytes),
            is_rmw,
            released,
        });
        if releases {
            self.tell(unit);
        }
    }

    /// Makes a location for what is written by strong operations; `eight` are its bytes so far.
    pub(crate) fn make_location(&mut self, address: u64, eight: u64) {
        self.locations.entry(address & !7).or_insert_with(|| {
            let message = Message {
                value: eight,
                bytes: 0xff,
                is_rmw: false,
                released: Vec::new(),
            };
            Rc::new(Location {
                first: 0,
                messages: vec![message],
            })
        });
    }

    pub(crate) fn has_location(&self, address: u64) -> bool {
        self.locations.contains_key(&(address & !7))
    }

    /// Whether a strong write or an atomic lands before a store that its warp does not know of, and so is lost; if it does,
    /// what it finds there.
    pub(crate) fn is_lost(
        &mut self,
        by: Unit,
        (address, bytes): (u64, u32),
        access: &Access,
    ) -> Result<Option<u64>, String> {
        let (unit, at, mask) = (self.unit(by), address & !7, mask_of(address, bytes));
        let location = &self.locations[&at];
        // Atomics that followed the store come with it.
        let mut last = location.last();
        while location.message(last).is_rmw && last > location.first {
            last -= 1;
        }
        let oldest = self.knows[unit].view.oldest.get(&at).copied();
        let oldest = oldest.unwrap_or(0).max(location.first);
        if last <= oldest || location.message(last).bytes & mask != mask {
            return Ok(None);
        }
        self.choices = self.choices.max(2);
        if self.choice == 0 {
            return Ok(None);
        }
        let before = location.message(last - 1).value >> ((address & 7) * 8);
        self.note_global(unit, (address, bytes), (Touch::Atomic, access.scope))?;
        // What the warp reads from now on is not older than its own write.
        Rc::make_mut(&mut self.knows[unit].view)
            .oldest
            .insert(at, last);
        let all = u64::MAX >> (64 - bytes * 8);
        Ok(Some(before & all))
    }

    pub(crate) fn store(
        &mut self,
        by: Unit,
        place: (u64, u32),
        access: &Access,
        new: u64,
    ) -> Result<(), String> {
        let strong = access.order.is_strong();
        let touch = if strong { Touch::Atomic } else { Touch::Write };
        self.note_global(self.unit(by), place, (touch, access.scope))?;
        if strong || self.has_location(place.0) {
            self.writes(by, place, access, new, (false, Vec::new()));
        }
        Ok(())
    }

    /// An atomic; `op` and whether its old value is asked for.
    pub(crate) fn rmw(
        &mut self,
        by: Unit,
        place: (u64, u32),
        access: &Access,
        (old, new): (u64, u64),
        (op, asks): (Rmw, bool),
    ) -> Result<(), String> {
        let unit = self.unit(by);
        self.note_global(unit, place, (Touch::Atomic, access.scope))?;
        let location = &self.locations[&(place.0 & !7)];
        let index = location.last();
        let before = location.message(index).released.clone();
        if asks {
            self.reads(unit, by.0, access, (place.0, index), &before);
        }
        // One that changes nothing and tells nothing is a load.
        let quiet = !matches!(access.order, Order::Release | Order::AcqRel) && op != Rmw::Exch;
        if !(old == new && quiet) {
            self.writes(by, place, access, new, (true, before));
        }
        Ok(())
    }

    pub(crate) fn fence(&mut self, by: Unit, scope: Scope) {
        let unit = self.unit(by);
        let found = std::mem::take(&mut self.knows[unit].found);
        self.take_over(unit, by.0, scope, &found);
        self.knows[unit].fenced = Some(Released {
            view: Rc::clone(&self.knows[unit].view),
            cta: by.0,
            scope,
        });
        self.tell(unit);
    }

    /// A warp arrives at an mbarrier.
    pub(crate) fn arrives(&mut self, by: Unit, bar: (u32, u32)) {
        let unit = self.unit(by);
        let view = Rc::clone(&self.knows[unit].view);
        join_bar(&mut self.bars.entry(bar).or_default().arriving, &view);
        self.tell(unit);
    }

    /// An mbarrier's turn is complete.
    pub(crate) fn turns(&mut self, bar: (u32, u32)) {
        let bar = self.bars.entry(bar).or_default();
        let arriving = std::mem::take(&mut bar.arriving);
        join_bar(&mut bar.complete, &arriving);
    }

    /// A warp finds an mbarrier's turn complete.
    pub(crate) fn passes(&mut self, by: Unit, bar: (u32, u32)) {
        let unit = self.unit(by);
        let complete = self.bars.entry(bar).or_default().complete.clone();
        Rc::make_mut(&mut self.knows[unit].view).join(&complete);
    }

    /// What goes with a store that is sent to another CTA: what its warp knows, and what that tells, which is what was
    /// before the last fence.
    pub(crate) fn sends(&self, by: Unit) -> Sent {
        let Knows { view, fenced, .. } = &self.knows[self.unit(by)];
        Sent {
            known: Rc::clone(view),
            told: fenced.as_ref().map(|of| Rc::clone(&of.view)),
        }
    }

    /// What was sent arrives: who reads it must have passed the barrier.
    pub(crate) fn flight_arrives(
        &mut self,
        cta: u32,
        (to, bar): (u32, u32),
        sent: &Sent,
    ) -> Result<(), String> {
        let sender = self.ctas * self.warps + cta;
        let bar = self.bars.entry((cta, bar)).or_default();
        let mut view = sent.told.as_deref().cloned().unwrap_or_default();
        view.clock
            .resize((self.ctas * self.warps + self.ctas) as usize, 0);
        // Each one is later than the last.
        let time = bar
            .arriving
            .clock
            .get(sender as usize)
            .copied()
            .unwrap_or(0);
        let time = time.max(
            bar.complete
                .clock
                .get(sender as usize)
                .copied()
                .unwrap_or(0),
        ) + 1;
        view.clock[sender as usize] = time;
        join_bar(&mut bar.arriving, &view);
        let pasts = self.past_shared[cta as usize].entry(to & !7).or_default();
        let bytes = mask_of(to.into(), 4);
        let readers = pasts.iter().find(|past| {
            past.bytes & bytes != 0
                && past.unit != sender
                && sent.known.clock[past.unit as usize] < past.time
        });
        if let Some(past) = readers {
            let (warp, then) = (past.unit % self.warps, name_of(past.touch));
            return Err(format!(
                "what was sent to {to:#x} of CTA {cta}'s shared memory is not ordered with a {then} by its warp {warp}"
            ));
        }
        Self::note(
            pasts,
            Past {
                bytes,
                unit: sender,
                time,
                lane: (0, 0),
                touch: Touch::Write,
                scope: Scope::Sys,
            },
        );
        Ok(())
    }

    /// Forgets what all warps know: nothing can come of it any more.
    pub(crate) fn forget(&mut self, alive: impl Fn(u32) -> bool) {
        let alive: Vec<&Knows> = (0u32..)
            .zip(&self.knows)
            .filter(|(u, _)| alive(*u))
            .map(|(_, k)| k)
            .collect();
        let known =
            |unit: u32, time: u32| alive.iter().all(|k| k.view.clock[unit as usize] >= time);
        self.past.retain(|_, pasts| {
            pasts.retain(|past| !known(past.unit, past.time));
            !pasts.is_empty()
        });
        for (at, location) in &mut self.locations {
            let oldest = |k: &&Knows| k.view.oldest.get(at).copied().unwrap_or(0);
            let oldest = alive.iter().map(oldest).min().unwrap_or(0);
            if oldest > location.first {
                let location = Rc::make_mut(location);
                location
                    .messages
                    .drain(..(oldest - location.first) as usize);
                location.first = oldest;
            }
        }
    }
}

/// The part of a state that decides what can come: times only by their order would do, but they grow alike on all ways.
impl Hash for Model {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for knows in &self.knows {
            knows.hash(state);
        }
        self.locations.hash(state);
        self.past.hash(state);
        self.past_shared.hash(state);
        self.bars.hash(state);
    }
}

fn join_bar(to: &mut View, from: &View) {
    if to.clock.len() < from.clock.len() {
        to.clock.resize(from.clock.len(), 0);
    }
    to.join(from);
}

fn mask_of(address: u64, bytes: u32) -> u8 {
    (((1u32 << bytes) - 1) << (address & 7)) as u8
}

fn name_of(touch: Touch) -> &'static str {
    match touch {
        Touch::Look => "strong load",
        Touch::Read => "plain load",
        Touch::Write => "plain store",
        Touch::Atomic => "strong store",
    }
}
