//! What a kernel is on the device: its words in every way in which they are swept, the rows of an item, and the shared
//! memory of a warp.
//!
//! | way | words | rows of an item |
//! | --- | --- | --- |
//! | one by one | the kernel's own, as the device has them | the kernel's, and one for the item's number |
//! | lifted loop ([`neighbor_loop`]) | behind the kernel's own | three more |
//! | tile ([`tile`]) | behind the kernel's own; none where a loop is lifted | more, for what is loaded first |
//! | map ([`map`]) | apart | its own |
//! | narrow rounds ([`quick`]) | apart | a file of its own, for each warp |
//!
//! The first three share their rows.

use super::words::device_code;
use super::{REGISTER_BYTES, SHORT_MAP, words_of};
use crate::abi::{self, NONE};
use crate::map::{self, MapCode};
use crate::neighbor_loop::{self, NeighborLoop};
use crate::ptx::lifted;
use crate::quick::{self, Quick};
use crate::tile::{self, Tile};
use vyre_core::vir0::flow::{self, effect, live_in, op, rows_of, uses, writes};
use vyre_core::vir0::isa::{Effect, Faults, Imm, Op, Slot, Word};
use vyre_core::vir0::module::{Domain, Kernel, Program, Role};

/// Items that a lane takes at a time, at most.
pub(crate) const ITEMS_PER_LANE: u32 = 4;

/// A kernel on the device.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    /// The kernel's own words, one that is fetched but never run, then those of its tiles or of its lifted loop. Their
    /// number is even.
    pub(crate) words: Vec<Word>,
    /// Rows of an item.
    pub(super) rows: u32,
    /// The row that keeps the item's number for traps, or [`NONE`].
    pub(super) item_row: u32,
    /// By accumulator its reduction, one for each 32 words of it.
    pub(super) reductions: Vec<u32>,
    /// Where the lifted loop and the tile begin in the words; 0: there is none.
    pub(crate) neighbors: u32,
    pub(super) tile: u32,
    /// By word of the tile, the kernel's own.
    pub(super) origins: Vec<u32>,
    /// The word that stands for a lifted loop whose turns are steps.
    pub(super) counted: Option<usize>,
    /// The topology whose long edge ranges the lifted loop meets.
    pub(super) ranges: Option<u16>,
    /// The buffers that items load their own elements from, each with the size of one.
    pub(super) ahead: Vec<u32>,
    /// The code of maps and of narrow rounds, as far as there is room for them.
    pub(super) map: Option<MapCode>,
    pub(super) quick: Option<Quick>,
}

/// How the items of a kernel are shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shares {
    /// Items a lane.
    pub(super) items: u32,
    /// The same of its map; 0: it is not swept as one.
    pub(super) map_items: u32,
    /// Warps of a CTA that sweep, and the shared memory of each.
    pub(super) warps: u32,
    pub(super) warp_bytes: u32,
    /// Where in that the accumulators begin.
    pub(super) accumulators: u32,
}

/// The rows of an item that the bodies of a pass's own module have in shared memory: those that operators fill, arrays,
/// what faults tell of, and what a neighbour loop that is shared out keeps there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(super) rows: u32,
    pub(super) item_row: u32,
    /// The row for the index of a fault; `None`: its own.
    pub(crate) fault_row: Option<u32>,
    /// The loop's rows, and where they are; `None`: they are their own.
    pub(crate) lift: Option<Vec<(u8, u8)>>,
}

impl Rows {
    /// `items`: of a lane.
    pub(super) fn of_bodies(program: &Program, id: usize, form: &Form, items: u32) -> Rows {
        let kernel = &program.kernels[id];
        let lift = lifted::kept_rows(form, items);
        if form.neighbors != 0 && !lifted::is_side_by_side(kernel, items) {
            return Rows {
                rows: form.rows,
                item_row: form.item_row,
                fault_row: None,
                lift: None,
            };
        }
        let filled = item_rows_of(program, id);
        let filled = filled.map(|(row, pair)| u32::from(row) + 1 + u32::from(pair));
        let arrays = kernel.code.iter().map(|word| {
            let (first, len) = word.array();
            match op(word).row().imm {
                Imm::Rows => {
                    u32::from(first) + u32::from(len) * u32::from(op(word).row().element_rows())
                }
                _ => 0,
            }
        });
        let mut rows = filled.chain(arrays).max().unwrap_or(0);
        let mut fresh = || {
            rows += 1;
            rows - 1
        };
        let item_row = match form.item_row {
            NONE => NONE,
            row if kernel
                .item
                .index
                .is_some_and(|index| u32::from(index) == row) =>
            {
                row
            }
            _ => fresh(),
        };
        let faults = kernel.code.iter().any(|w| op(w).row().faults != Faults::No);
        let fault_row = faults.then(&mut fresh);
        let lift = lift.map(|rows| {
            let of = |row| (row, fresh() as u8);
            rows.into_iter().map(of).collect()
        });
        Rows {
            rows: rows.max(1),
            item_row,
            fault_row,
            lift,
        }
    }
}

impl Form {
    /// The form of a kernel of a verified program.
    pub(super) fn new(program: &Program, id: usize) -> Form {
        let kernel = &program.kernels[id];
        let is_wave = id < program.waves.len();
        let reductions = reductions_of(program, kernel);
        let (mut rows, item_row) = item_rows(program, id);
        let quick = quick_of(program, id, (rows, item_row));
        let lift = neighbor_loop::of_wave(program, id, rows);
        rows += lift.as_ref().map_or(0, |l| l.rows);
        let words = device_code(program, kernel, &reductions);
        let tile = (is_wave && lift.is_none())
            .then(|| tile::of_kernel(kernel, &words, rows, most_rows(rows)))
            .flatten();
        let mut form = Form {
            words,
            rows,
            item_row,
            reductions,
            neighbors: 0,
            tile: 0,
            origins: Vec::new(),
            counted: None,
            ranges: None,
            ahead: if is_wave {
                own_loads(program, kernel)
            } else {
                Vec::new()
            },
            map: if is_wave { map::find(kernel) } else { None },
            quick,
        };
        form.words.push(Word {
            op: Op::Ret as u8,
            ..Word::default()
        });
        if let Some(tile) = tile {
            form.add_tile(tile);
        }
        if let Some(lift) = lift {
            form.add_lift(kernel, &lift);
        }
        if form.words.len() % 2 == 1 {
            form.words.push(Word::default());
        }
        form
    }

    fn add_tile(&mut self, tile: Tile) {
        let at = self.words.len() as u32;
        self.words.extend(tile.code.iter().map(|word| {
            let moves = Op::from_code(word.op).is_some_and(|op| op.row().imm == Imm::Target);
            let imm = word.imm + if moves { at } else { 0 };
            Word { imm, ..*word }
        }));
        (self.tile, self.origins) = (at, tile.origins);
        self.rows = self.rows.max(tile.rows);
    }

    fn add_lift(&mut self, kernel: &Kernel, lift: &NeighborLoop) {
        let at = self.words.len();
        let body = at + neighbor_loop::BODY;
        self.words[lift.at] = Word {
            imm: lift.word.imm | body as u32,
            ..lift.word
        };
        self.words.extend(&lift.code);
        // Its own first word, where parts of ranges start, counts from the kernel's start, too.
        let first = &mut self.words[at].imm;
        *first = *first & !0xffff | body as u32;
        self.neighbors = at as u32;
        self.counted = kernel.code[lift.at].counts().then_some(lift.at);
        self.ranges = lift.topology;
    }

    /// Has parts of long ranges find the rows of the lifted loop elsewhere.
    pub(super) fn move_lift(&mut self, lift: &[(u8, u8)]) {
        let at = |row: u8| {
            lift.iter()
                .find(|(of, _)| *of == row)
                .map_or(row, |&(_, at)| at)
        };
        let word = &mut self.words[self.neighbors as usize];
        (word.d, word.a, word.b) = (at(word.d), at(word.a), at(word.b));
    }

    /// Shared memory of a warp with so many items a lane: their rows, and accumulators behind them.
    fn warp_bytes(&self, rows: u32, items: u32) -> u32 {
        rows * items * 128 + self.reductions.len() as u32 * 256
    }

    /// The same with other rows and a number of warps that is given, every one at work. `as_interpreted`: items a lane and
    /// of a map, which are the most here. The error is what all warps need.
    pub(super) fn shares_of(
        &self,
        rows: u32,
        (items, map_items): (u32, u32),
        (warps, most): (u32, u32),
    ) -> Result<Shares, u32> {
        let fits = |&k: &u32| {
            // Loops that are shared out put together what a lane's items have.
            let allowed = k == items || (k < items && self.neighbors == 0);
            allowed && self.warp_bytes(rows, k) * warps <= most
        };
        let found = [ITEMS_PER_LANE, 2, 1].into_iter().find(fits);
        let items = found.ok_or(self.warp_bytes(rows, 1) * warps)?;
        let mut shares = Shares {
            items,
            map_items: 0,
            warps,
            warp_bytes: self.warp_bytes(rows, items),
            accumulators: rows * items * 128,
        };
        if let Some(map) = self
            .map
            .as_ref()
            .filter(|m| map_items != 0 && m.code.len() <= SHORT_MAP)
        {
            let bytes = |items: u32| self.warp_bytes(rows, 1).max(map.rows * items * 128);
            let allowed = map::ITEMS.into_iter().filter(|&items| items <= map_items);
            let items = allowed
                .into_iter()
                .find(|&items| bytes(items) * warps <= most);
            shares.map_items = items.unwrap_or(0);
            shares.warp_bytes = shares.warp_bytes.max(bytes(shares.map_items));
        }
        Ok(shares)
    }

    /// As many items a lane as fit with every warp at work, otherwise fewer warps. `frames`: mask frames of an item;
    /// `most`: bytes that there are. The error is what one warp needs, where there is not even that.
    pub(super) fn shares(&self, frames: u8, items_per_lane: u32, most: u32) -> Result<Shares, u32> {
        let fits = |&items: &u32| {
            items <= items_per_lane
                && u32::from(frames) * items <= 64
                && self.warp_bytes(self.rows, items) * abi::WARPS <= most
        };
        let items = [ITEMS_PER_LANE, 2].into_iter().find(fits).unwrap_or(1);
        let warp_bytes = self.warp_bytes(self.rows, items);
        let warps = (most / warp_bytes).min(abi::WARPS);
        if warps == 0 {
            return Err(warp_bytes);
        }
        let mut shares = Shares {
            items,
            map_items: 0,
            warps,
            warp_bytes,
            accumulators: self.rows * items * 128,
        };
        if let Some(map) = self.map.as_ref().filter(|_| warps == abi::WARPS) {
            // What is left of a map, less than a tile of it, runs in the same place.
            let bytes = |items: u32| self.warp_bytes(self.rows, 1).max(map.rows * items * 128);
            let mut items = map::ITEMS.into_iter();
            let items = items.find(|&items| bytes(items) * abi::WARPS <= most);
            shares.map_items = items.unwrap_or(0);
            shares.warp_bytes = warp_bytes.max(bytes(shares.map_items));
        }
        Ok(shares)
    }
}

/// By accumulator of a kernel, its reduction: each has as many in a row as hold its words.
fn reductions_of(program: &Program, kernel: &Kernel) -> Vec<u32> {
    let mut reductions = Vec::new();
    for word in kernel.code.iter().filter(|w| effect(w) == Effect::Reduce) {
        let id = u32::from(word.resource());
        if !reductions.contains(&id) {
            let words = words_of(&program.reductions[id as usize]);
            reductions.extend((0..words.div_ceil(32)).map(|_| id));
        }
    }
    reductions
}

/// Rows of a kernel with the one that keeps the item's number for traps, and which that is.
fn item_rows(program: &Program, id: usize) -> (u32, u32) {
    let kernel = &program.kernels[id];
    let rows = u32::from(kernel.rows).max(1);
    let faults = kernel.code.iter().any(|w| op(w).row().faults != Faults::No);
    let Some(wave) = program.waves.get(id).filter(|_| faults) else {
        return (rows, NONE);
    };
    // An item with fields is named by the first of them, which the kernel may not use.
    let records = !wave.domain.fields(program).is_empty();
    match kernel.item.index {
        Some(row) if !records && !kernel.code.iter().any(|w| writes(w).has(row)) => {
            (rows, row.into())
        }
        _ => (rows + 1, rows),
    }
}

/// The rows that operators fill for an item of a kernel, and whether each is the low one of a pair.
pub(crate) fn item_rows_of(
    program: &Program,
    id: usize,
) -> impl Iterator<Item = (u8, bool)> + use<'_> {
    let kernel = &program.kernels[id];
    let fields = program.waves.get(id).map(|w| w.domain.fields(program));
    let fields = fields.unwrap_or_default().iter().zip(kernel.item.fields);
    let fields = fields.filter_map(|(scalar, row)| Some((row?, scalar.rows() == 2)));
    let numbers = [kernel.item.index, kernel.item.src, kernel.item.dst];
    let numbers = numbers.into_iter().flatten().map(|row| (row, false));
    numbers.chain(fields)
}

/// The code of narrow rounds of a wave.
fn quick_of(program: &Program, id: usize, (rows, item_row): (u32, u32)) -> Option<Quick> {
    let Domain::EdgesFrom(_, f) = program.waves.get(id)?.domain else {
        return None;
    };
    quick::of_kernel(&program.kernels[id], rows, item_row, f.0, |other| {
        let owner = |f: usize| program.frontiers[f].owner;
        let other = usize::from(other);
        owner(other) != owner(f.index()) && program.frontiers[other].unique
    })
}

/// Rows that a kernel may have without its tiles getting smaller on a large GPU.
fn most_rows(rows: u32) -> u32 {
    let of = |items: u32| REGISTER_BYTES / (abi::WARPS * 128 * items);
    let most = [ITEMS_PER_LANE, 2, 1].into_iter().map(of);
    most.filter(|&most| rows <= most).min().unwrap_or(rows)
}

/// The buffers that a kernel loads the element of its item's number from, each with the size of one.
fn own_loads(program: &Program, kernel: &Kernel) -> Vec<u32> {
    let Some(index) = kernel.item.index else {
        return Vec::new();
    };
    if kernel.code.iter().any(|w| writes(w).has(index)) {
        return Vec::new();
    }
    let mut loads: Vec<u32> = Vec::new();
    let by_number = |w: &&Word| effect(w) == Effect::Load && w.a == index;
    for word in kernel.code.iter().filter(by_number) {
        let buffer = word.resource();
        if !loads.chunks(2).any(|l| l[0] == u32::from(buffer)) {
            let size = program.buffers[usize::from(buffer)].scalar.size_bytes();
            loads.extend([buffer.into(), size as u32]);
        }
    }
    loads
}

/// What barriers between narrow rounds of a kernel have to order: its stores, and its plain loads of what may change.
/// Exchanges happen where all see them, and those whose results are needed have come back. Others a compiler may send off
/// without waiting, so they count as stores. What is pushed the barrier settles itself.
pub(super) fn barriers_order(program: &Program, kernel: &Kernel) -> u32 {
    let (live, needed) = (live_in(&kernel.code), needed(&kernel.code));
    let of = |(pc, word): (usize, &Word)| match effect(word) {
        Effect::Store | Effect::AtomicStore | Effect::Reserve | Effect::Field | Effect::Reduce => {
            abi::QUICK_WRITES
        }
        Effect::Load => match program.buffers[usize::from(word.resource())].role {
            Role::Topology | Role::Input => 0,
            Role::Output | Role::Scratch | Role::InOut => abi::QUICK_READS,
        },
        Effect::Update | Effect::Exchange => {
            let result = rows_of(op(word).row().d, word.d);
            match result.meets(live[pc + 1]) && result.meets(needed) {
                true => 0,
                false => abi::QUICK_WRITES,
            }
        }
        Effect::Push | Effect::AtomicLoad | Effect::Ask => 0,
        Effect::No | Effect::RowLoad | Effect::RowStore | Effect::RowFill => 0,
        Effect::Open | Effect::Turn | Effect::Close => 0,
        Effect::MayLeave | Effect::Leave | Effect::End => 0,
    };
    kernel
        .code
        .iter()
        .enumerate()
        .map(of)
        .fold(0, |all, of| all | of)
}

/// Rows of which some word needs a value: one that does more than write rows, or whose own result is needed.
fn needed(code: &[Word]) -> flow::Rows {
    let does_more = |word: &Word| {
        let row = op(word).row();
        word.names().is_some() || row.d == Slot::N || row.faults != Faults::No
    };
    let mut all = flow::Rows::NONE;
    loop {
        let needs = |w: &&Word| does_more(w) || writes(w).meets(all);
        let more = code
            .iter()
            .filter(needs)
            .fold(all, |rows, w| rows.or(uses(w)));
        if more == all {
            return all;
        }
        all = more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::tests::program;
    use crate::neighbor_loop::words::word;
    use vyre_core::vir0::isa::IMM;

    /// `out[i] = x[i] + 1`.
    fn map() -> Form {
        let code = vec![
            word(Op::Ld32, 1, 0, 0, 0),
            word(Op::Add32, 1, 1, IMM, 1),
            word(Op::St32, 0, 0, 1, 1 << 16),
            word(Op::Ret, 0, 0, 0, 0),
        ];
        Form::new(&program(code, 2), 0)
    }

    #[test]
    fn a_form_has_the_words_and_rows_of_every_way() {
        let form = map();
        // The item's number stays in its row, so traps need none.
        assert_eq!((form.rows, form.item_row), (2, 0));
        // One word is fetched behind the last, and one fills up.
        assert_eq!((form.words.len(), form.neighbors, form.tile), (6, 0, 0));
        assert_eq!(form.ahead, [0, 4]);
        assert_eq!(form.map.expect("it is a map").buffers, [0, 1]);
        assert!(form.quick.is_none() && form.ranges.is_none());
    }

    #[test]
    fn a_lane_takes_as_many_items_as_fit_with_every_warp_at_work() {
        let form = map();
        let all = |items: u32| items * 2 * 128 * abi::WARPS;
        let shares = |frames, items, most| form.shares(frames, items, most);
        let items = |frames, items, most| shares(frames, items, most).map(|s| (s.items, s.warps));
        assert_eq!(items(0, 4, all(4)), Ok((4, abi::WARPS)));
        assert_eq!(items(0, 4, all(4) - 1), Ok((2, abi::WARPS)));
        assert_eq!(items(0, 2, all(4)), Ok((2, abi::WARPS)));
        // A lane has 64 mask frames.
        assert_eq!(items(17, 4, all(4)), Ok((2, abi::WARPS)));
        assert_eq!(items(0, 4, all(1) - 1), Ok((1, abi::WARPS - 1)));
        assert_eq!(shares(0, 4, 255), Err(256));
        // A map is for CTAs whose every warp sweeps.
        assert_eq!(shares(0, 4, all(8)).map(|s| s.map_items), Ok(8));
        assert_eq!(shares(0, 4, all(1) - 1).map(|s| s.map_items), Ok(0));
    }
}
