//! What lanes will look at, asked for ahead.

use crate::cpu::state::HostState;
use crate::dsl::columns::Slice;
use crate::dsl::views::prefetch_at;
use crate::plan::footprint::ALONE;
use crate::run::args::Args;
use crate::vir0::isa::{Imm, Kind, Op, Slot as Operand};
use crate::vir0::module::{Buffer, BufferId, Domain, Extent, Program, Role, Wave, WaveId};

/// The buffers whose elements a wave over edges takes at the edge's source, destination and number, as its code says.
/// It is a hint: they are asked for before lanes need them.
#[derive(Clone, Debug, Default)]
pub(super) struct Looks {
    pub(super) src: Vec<BufferId>,
    pub(super) dst: Vec<BufferId>,
    pub(super) index: Vec<BufferId>,
}

impl Looks {
    pub(super) fn all(program: &Program) -> Vec<Looks> {
        let of = |wave: &Wave| {
            let mut looks = Looks::default();
            let kernel = &program.kernels[wave.kernel.index()];
            if !matches!(wave.domain, Domain::EdgesFrom(..)) {
                return looks;
            }
            for word in &kernel.code {
                let row = Op::from_code(word.op).map(Op::row);
                let Some((Imm::Resource(of) | Imm::ResourceThird(of), Operand::W)) =
                    row.map(|row| (row.imm, row.a))
                else {
                    continue;
                };
                let buffers = [Kind::Buffer8, Kind::Buffer32, Kind::Buffer64];
                if !buffers.contains(&of) && !matches!(of, Kind::BufferOf(_)) {
                    continue;
                }
                let (item, buffer) = (&kernel.item, BufferId(word.resource()));
                for (row, list) in [
                    (item.src, &mut looks.src),
                    (item.dst, &mut looks.dst),
                    (item.index, &mut looks.index),
                ] {
                    if row == Some(word.a) && !list.contains(&buffer) {
                        list.push(buffer);
                    }
                }
            }
            looks
        };
        program.waves.iter().map(of).collect()
    }
}

/// Where arrays begin, and the bytes of an element.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Places {
    pub(super) len: usize,
    pub(super) places: [(usize, usize); 4],
}

impl Places {
    fn add(&mut self, values: Slice<'_>) {
        if let Some(place) = self.places.get_mut(self.len) {
            *place = (values.address(), values.scalar().size_bytes() as usize);
            self.len += 1;
        }
    }

    #[inline(always)]
    pub(super) fn prefetch(&self, index: u32) {
        for &(base, size) in &self.places[..self.len] {
            prefetch_at(base.wrapping_add(index as usize * size));
        }
    }
}

/// Where the lanes of a sweep over edges look.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ahead {
    pub(super) src: Places,
    pub(super) dst: Places,
    pub(super) index: Places,
}

impl Ahead {
    /// Fewer items are not worth it: often their neighbours' are still in a cache from the round before.
    const ITEMS: usize = ALONE;

    /// Of a sweep that finds little in a cache.
    pub(super) fn of(
        state: &mut HostState,
        looks: &[Looks],
        args: &Args<'_>,
        wave: WaveId,
    ) -> Option<Ahead> {
        let Domain::EdgesFrom(topology, frontier) = state.program.waves[wave.index()].domain else {
            return None;
        };
        let items = state.frontiers[frontier.index()].items.get_mut();
        if !state.graphs[topology.index()].far || items.len() < Self::ITEMS {
            return None;
        }
        let mut ahead = Ahead::default();
        let looks = &looks[wave.index()];
        for (ids, places) in [
            (&looks.src, &mut ahead.src),
            (&looks.dst, &mut ahead.dst),
            (&looks.index, &mut ahead.index),
        ] {
            for id in ids {
                let lent = args.inputs.iter().find(|(b, _)| b == id);
                match lent.filter(|_| is_lent(&state.program.buffers[id.index()])) {
                    Some((_, values)) => places.add(*values),
                    None => places.add(state.buffers[id.index()].get_mut().as_slice()),
                }
            }
        }
        Some(ahead)
    }
}

/// Whether a run reads this buffer where the caller has it. Rows of bits are taken from the state.
pub(super) fn is_lent(buffer: &Buffer) -> bool {
    buffer.role == Role::Input && !matches!(buffer.extent, Extent::NodeBits(_))
}
