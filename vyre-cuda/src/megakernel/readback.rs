//! Results of the session's own runs on their way back. Small ones come with the control words ([`Record`]), which are in
//! front of them in one slab; large ones have copies of their own, piece by piece through page-locked memory, or straight
//! to columns whose pages are locked.
//!
//! How much lists hold is only known at the end of a launch, so it packs that itself. The host copies as much of the slab
//! as the run before needed, and once more what is missing then.

use super::launch::{Flight, Launcher};
use super::memory::{Ahead, ListsSlab, Needs, SessionMemory};
use super::pass::Pass;
use super::record::{Reader, Record, Words, fields_of, is_result, read_bytes};
use super::settings::LastRun;
use super::upload::{COLUMN_PART_BYTES, ring_for};
use crate::buffer::{Event, Memory, Place, room_of, whole_pages};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;
use vyre_core::dsl::columns::{Column, SliceMut};
use vyre_core::dsl::error::RunError;
use vyre_core::plan::compact::{self, Slot};
use vyre_core::plan::cuda::ALIGN;
use vyre_core::run::outcome::{Outcome, Readback};
use vyre_core::vir0::module::{Buffer, BufferId, ListId, Program};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::sizes::Sizes;

/// A series that is on its way.
pub(super) struct Pending {
    pub(super) flight: usize,
    pub(super) set: usize,
    pub(super) started: Instant,
    pub(super) runs: usize,
    pub(super) launched: usize,
    /// The last run's results are wanted.
    pub(super) read: bool,
    /// Whether the arguments of all runs were right.
    pub(super) begun: Result<(), RunError>,
    /// Of the last run: what is needed to take its results apart. What the slab has is as of [`Needs`].
    pub(super) sizes: Sizes,
    pub(super) packed: Vec<Option<u64>>,
    pub(super) fixed: Range<u64>,
    pub(super) lists: Option<ListsSlab>,
    pub(super) direct: Vec<Direct>,
    /// Bytes of the slab that are on their way, and of all copies that are.
    pub(super) first_bytes: u64,
    pub(super) copied_bytes: u64,
    /// Of the session's launches, which one it is.
    pub(super) number: u64,
    /// Results with copies of their own are on their way, to page-locked memory.
    pub(super) fetched: bool,
    pub(super) pinned: bool,
}

impl Pending {
    /// Whether a launch can be started before this one's results were taken: nothing of them is left on the device, or,
    /// of what lists hold, nothing was left by the run before, which `last` is of a pass that gives lists.
    pub(super) fn can_be_followed(&self, last: Option<&LastRun>) -> bool {
        let all = |last: &LastRun| last.lists.came_at_once && !last.overtaken;
        (self.fetched || self.direct.is_empty()) && last.is_none_or(all)
    }
}

/// What became of the results of a launch.
pub(super) enum Taken {
    /// They are where they belong, if they were wanted.
    All,
    /// The launch behind it began before the rest of them was on its way, and may have changed it.
    Overtaken,
}

/// Where what a run's lists hold is.
pub(super) struct Found {
    /// By list, as of [`Record`].
    columns: Vec<Vec<Option<u64>>>,
    /// Bytes of the slab up to the last of them that is packed.
    pub(super) slab_bytes: u64,
    /// Some have copies of their own.
    pub(super) direct: bool,
}

/// A result buffer with a copy of its own: where it goes.
pub(super) struct Direct {
    buffer: usize,
    bytes: u64,
    /// In the flight's page-locked memory.
    at: usize,
    /// Of its pieces, counted through all results.
    first: usize,
    /// What goes to a locked column instead.
    whole: Range<usize>,
}

impl Direct {
    /// What goes to the flight's memory: all, or what is around the whole pages, then at least one piece.
    fn pieces(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (after, end) = (self.whole.end, self.bytes as usize);
        let behind = pieces(end - after).map(move |p| after + p.start..after + p.end);
        let none = (!self.whole.is_empty() && after == end).then_some(end..end);
        pieces(self.whole.start).chain(behind).chain(none)
    }

    /// Where such a piece is there.
    fn staged(&self, piece: &Range<usize>) -> Range<usize> {
        let gap = match piece.start < self.whole.end {
            true => 0,
            false => self.whole.len(),
        };
        self.at + piece.start - gap..self.at + piece.end - gap
    }

    pub(super) fn staged_bytes(&self) -> usize {
        (self.bytes as usize - self.whole.len()).next_multiple_of(64)
    }
}

/// Whether a result is the column that a device fills: `bool`s are looked at first, and structs are put together from
/// the columns of their fields, whose memory the result does not keep.
pub(super) fn stays(buffer: &Buffer) -> bool {
    buffer.scalar != Scalar::Bool && buffer.of_structs().is_none()
}

/// Columns whose pages are locked.
pub(super) fn locked(results: &mut Outcome) -> &mut [(BufferId, Column)] {
    if results.locked {
        &mut results.outputs
    } else {
        &mut []
    }
}

/// `bytes` bytes in consecutive pieces, of a size at which it pays to use several threads.
fn pieces(bytes: usize) -> impl Iterator<Item = Range<usize>> {
    let starts = (0..bytes).step_by(COLUMN_PART_BYTES);
    starts.map(move |at| at..bytes.min(at + COLUMN_PART_BYTES))
}

impl SessionMemory {
    /// Result buffers with copies of their own.
    pub(super) fn direct(
        &self,
        program: &Program,
        locked: &mut [(BufferId, Column)],
    ) -> Vec<Direct> {
        let len = |b: &Buffer| self.sizes.resolve(program, b.extent).unwrap_or(0);
        let buffers = program.buffers.iter().enumerate();
        let (mut at, mut first) = (0, 0);
        buffers
            .filter(|(i, b)| is_result(b.role) && self.needs.packed[*i].is_none() && len(b) > 0)
            .map(|(i, b)| {
                let bytes = len(b) * b.scalar.size_bytes();
                let lands = |(id, c): &&mut (BufferId, Column)| {
                    id.index() == i && c.scalar() == b.scalar && stays(b)
                };
                let column = locked
                    .iter_mut()
                    .find(lands)
                    .map(|(_, column)| room_of(column));
                let room = column.filter(|room| room.len() as u64 >= bytes);
                let whole = room.map_or(0..0, |room| {
                    whole_pages(room.as_ptr().addr(), bytes as usize)
                });
                let direct = Direct {
                    buffer: i,
                    bytes,
                    at,
                    first,
                    whole,
                };
                at += direct.staged_bytes();
                first += direct.pieces().count();
                direct
            })
            .collect()
    }

    /// Starts copying results into page-locked memory, piece by piece; `homes[b]`: the buffer that holds what belongs
    /// to `b`. Whole pages of locked columns are copied to where they belong.
    pub(super) fn fetch(
        &self,
        launcher: &mut Launcher,
        direct: &[Direct],
        (flight, set): (usize, usize),
        (homes, locked): (Option<&[u32]>, &mut [(BufferId, Column)]),
    ) -> Result<(), RunError> {
        let device = &launcher.pass.device;
        for d in direct {
            let home = homes.map_or(d.buffer, |h| h[d.buffer] as usize);
            let memory = match self.ahead.as_ref().filter(|_| set == 1) {
                Some(Ahead { second, .. }) => second[home].as_ref(),
                None => None,
            };
            let memory = memory.or(self.buffers[home].as_ref());
            let memory = memory.expect("buffers outside the slab have memory");
            let host = &mut launcher.flights[flight];
            if !d.whole.is_empty() {
                let column = locked.iter_mut().find(|(id, _)| id.index() == d.buffer);
                let (_, column) = column.expect("it is there while the run is");
                let into = &mut room_of(column)[d.whole.clone()];
                // SAFETY: the caller leaves the column alone until the device was waited for.
                unsafe { memory.download(d.whole.start as u64, into) }?;
            }
            for (count, piece) in (d.first..).zip(d.pieces()) {
                let into = &mut host.outputs.as_mut_slice()[d.staged(&piece)];
                // SAFETY: the page-locked target belongs to the flight, which is waited for before it is read or freed.
                unsafe { memory.download(piece.start as u64, into) }?;
                if host.pieces.len() == count {
                    host.pieces.push(Event::new(device)?);
                }
                host.pieces[count].record(device.launches())?;
            }
        }
        Ok(())
    }

    /// What the last run's lists hold, and where: the launch has packed them by the same rule.
    pub(super) fn found(
        program: &Program,
        words: &Words,
        pending: &Pending,
    ) -> Result<Found, RunError> {
        let mut slots = Vec::new();
        for (list, &len) in program.lists.iter().zip(&words.lists) {
            let capacity = pending.sizes.resolve(program, list.capacity).unwrap_or(0);
            for field in list.fields.iter().filter(|_| list.output) {
                let size = field.size_bytes();
                slots.push(Slot {
                    align_bytes: compact::UNIT_BYTES,
                    ..Slot::new(slots.len() as u32, len * size, capacity * size)
                });
            }
        }
        let up_to = pending.lists.map_or(0, |slab| slab.pack_up_to_bytes);
        let plan = compact::plan(&slots, up_to).map_err(|e| RunError::Backend(e.to_string()))?;
        let from = pending.lists.map_or(0, |slab| slab.at);
        // What is empty is anywhere.
        let mut places = vec![Some(0); slots.len()];
        for record in &plan.packed {
            places[record.slot as usize] = Some(from + record.offset_bytes);
        }
        for direct in &plan.direct {
            places[direct.slot as usize] = None;
        }
        let mut places = places.into_iter();
        let columns = program.lists.iter().map(|list| {
            let columns = list.fields.iter().filter(|_| list.output);
            places.by_ref().take(columns.count()).collect()
        });
        Ok(Found {
            columns: columns.collect(),
            slab_bytes: match plan.compact_bytes {
                0 => pending.fixed.end,
                bytes => from + bytes,
            },
            direct: !plan.direct.is_empty(),
        })
    }

    /// What of the slab the next run's first copy brings: as much as the run before needed, or without one that was laid
    /// out alike, what is known to be needed.
    pub(super) fn first_bytes(&self, last: &LastRun) -> u64 {
        let Needs {
            lists,
            fixed,
            slab_bytes,
            ..
        } = &self.needs;
        match (last.lists.packed, *lists) {
            (Some((before, bytes)), Some(slab)) if before == slab && bytes > 0 => {
                (slab.at + bytes).min(*slab_bytes)
            }
            _ => fixed.end,
        }
    }

    /// Brings what the first copy of the slab has left.
    pub(super) fn bring_rest(
        &self,
        launcher: &mut Launcher,
        pending: &mut Pending,
        slab_bytes: u64,
    ) -> Result<(), RunError> {
        let tables = launcher.pass.layout.tables_bytes().next_multiple_of(ALIGN);
        let host = &mut launcher.flights[pending.flight];
        let rest = pending.first_bytes as usize..slab_bytes as usize;
        let into = &mut host.slab.as_mut_slice()[rest.clone()];
        // SAFETY: the page-locked target belongs to the flight, which is waited for before it is read or freed.
        unsafe { self.image.download(tables + rest.start as u64, into) }?;
        host.told.record(launcher.pass.device.launches())?;
        pending.copied_bytes += rest.len() as u64;
        launcher.wait(pending.flight, |flight| &flight.told)
    }

    /// The results of the run that was waited for, as [`Megakernel::finish_series`](super::Megakernel::finish_series) says. After an error, too, all columns are
    /// still in `results`: copies to those whose pages are locked may be on their way.
    pub(super) fn read(
        &self,
        launcher: &mut Launcher,
        (words, found): (&Words, &Found),
        pending: &Pending,
        (results, in_outs): (&mut Outcome, &mut [(BufferId, SliceMut<'_>)]),
    ) -> Result<(), RunError> {
        let (flight, direct) = (pending.flight, &pending.direct);
        if !pending.fetched && pending.pinned && !direct.is_empty() {
            let to = (Some(words.homes.as_slice()), locked(results));
            self.fetch(launcher, direct, (flight, pending.set), to)?;
        }
        let record = Record {
            bytes: launcher.flights[flight].slab.as_slice(),
            packed: &pending.packed,
            lists: &found.columns,
        };
        let Pass {
            program,
            time_waves,
            ..
        } = &launcher.pass;
        let program = Arc::clone(program);
        let reader = Reader::new(&program, &pending.sizes, *time_waves);
        reader.outcome(words, &record, results)?;
        for d in direct {
            let id = BufferId(d.buffer as u16);
            let scalar = program.buffers[d.buffer].scalar;
            let mut place = match in_outs.iter_mut().find(|(in_out, _)| *in_out == id) {
                Some((_, slice)) => Place::Slice(slice.reborrow()),
                None => Place::Column(results.output_mut(id, scalar)),
            };
            place.make_room((d.bytes / scalar.size_bytes()) as usize)?;
            self.read_to(launcher, &mut place, d, (words, pending))?;
            let read = &mut results.report.readback;
            read.direct += u32::from(d.bytes > 0);
            read.direct_bytes += d.bytes;
            read.full_bytes += d.bytes;
        }
        results.outputs.sort_by_key(|(id, _)| *id);
        let listed = self.read_lists(launcher, (words, found), pending.flight, results)?;
        results.lists.sort_by_key(|(id, _)| *id);
        // The host waited once more, for what the first answer said.
        let waits = listed || !pending.fetched && !direct.is_empty();
        launcher.counts.fences += u64::from(waits);
        launcher.counts.readback_bytes += read_bytes(results);
        let read = &mut results.report.readback;
        read.packed_bytes = found.slab_bytes - pending.fixed.start;
        read.copied_bytes = pending.copied_bytes + read.direct_bytes;
        Ok(())
    }

    /// A result with copies of its own, to where there is room for it.
    fn read_to(
        &self,
        launcher: &mut Launcher,
        place: &mut Place<'_>,
        d: &Direct,
        (words, pending): (&Words, &Pending),
    ) -> Result<(), RunError> {
        if pending.pinned {
            return take_pieces(place, d, &launcher.flights[pending.flight]);
        }
        let (home, set) = (words.homes[d.buffer] as usize, pending.set);
        let from = (self.input_of(home, set), 0);
        bring(launcher, place, (pending.flight, d.bytes), from)
    }

    /// What lists hold and has copies of its own, now that it is known how much that is. Whether there is something.
    fn read_lists(
        &self,
        launcher: &mut Launcher,
        (words, found): (&Words, &Found),
        flight: usize,
        results: &mut Outcome,
    ) -> Result<bool, RunError> {
        let program = Arc::clone(&launcher.pass.program);
        for (l, list) in program.lists.iter().enumerate().filter(|(_, l)| l.output) {
            let queue = &self.queues[program.frontiers.len() + l];
            let places = fields_of(&queue.shape, 0);
            let mut direct = Readback::default();
            let columns = results.list_mut(ListId(l as u16), &list.fields);
            let columns = columns.iter_mut().zip(&found.columns[l]).zip(places);
            for ((column, _), at) in columns.filter(|((_, packed), _)| packed.is_none()) {
                let bytes = words.lists[l] * column.scalar().size_bytes();
                let mut place = Place::Column(column);
                place.make_room(words.lists[l] as usize)?;
                let memory = queue.memory.as_ref().expect("lists have their own");
                bring(launcher, &mut place, (flight, bytes), (memory, at))?;
                direct.direct += 1;
                direct.direct_bytes += bytes;
            }
            results.report.readback.direct += direct.direct;
            results.report.readback.direct_bytes += direct.direct_bytes;
        }
        Ok(found.direct)
    }
}

/// A result whose pieces come to page-locked memory: several threads take one while the rest is still on its way.
fn take_pieces(place: &mut Place<'_>, d: &Direct, host: &Flight) -> Result<(), RunError> {
    for (piece, here) in d.pieces().zip(&host.pieces[d.first..]) {
        here.wait()?;
        if !d.whole.is_empty() && piece.start == d.whole.end {
            // SAFETY: the device wrote the whole pages of this column before the piece, and all before them is there.
            unsafe { place.skip(d.whole.len()) };
        }
        place.take(&host.outputs.as_slice()[d.staged(&piece)]);
    }
    Ok(())
}

/// Bytes of a flight that is over, from a place on the device.
fn bring(
    launcher: &mut Launcher,
    to: &mut Place<'_>,
    (flight, bytes): (usize, u64),
    (memory, at): (&Memory, u64),
) -> Result<(), RunError> {
    let bytes = bytes as usize;
    if bytes > 0 {
        let part_bytes = COLUMN_PART_BYTES.min(bytes);
        let ring = ring_for(&mut launcher.ring, &launcher.pass.device, part_bytes)?;
        let cuts: Vec<usize> = pieces(bytes).map(|piece| piece.end).collect();
        let from = (memory, at, &launcher.flights[flight].done);
        ring.download(from, &cuts, |bytes| to.take(bytes))?;
    }
    Ok(())
}
