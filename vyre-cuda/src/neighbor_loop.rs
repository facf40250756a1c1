//! Neighbour loops that reduce, found in a kernel's code: `for u in graph.neighbors(v) { total += share[u]; }`.
//!
//! One lane that walks a hub's edges alone keeps its whole warp waiting. Where the turns of such a loop depend on each
//! other through one value only, which takes in what every turn makes by an operation that may be done in any order,
//! the warp's lanes share the edges of all its items instead. Integers come out the same; a float sum is rounded in
//! another order, as that of a grid reduction is. So sums of floats stay as they are in a pass that promises the same
//! bits, or the same result, on every backend.
//!
//! The loop's own code stays behind the word that replaces its `loop`: when a turn faults, the device goes back to it,
//! so that the trap is the one that the plain loop raises.

use crate::abi;
use vyre_core::vir0::find::takes_in;
use vyre_core::vir0::flow::{self, BlockKind, Rows, defs, effect, live_in, op, uses};
use vyre_core::vir0::isa::{Effect, IMM, Imm, Kind, MAX_ROWS, Op, Slot, UNIFORM_BASE, Word};
use vyre_core::vir0::module::{Domain, Kernel, Program, WaveId};
use vyre_core::vir0::results::is_open;

/// A loop that can be lifted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NeighborLoop {
    /// Pc of its `loop` word.
    pub(crate) at: usize,
    /// What replaces that word, but for the pc of the body.
    pub(crate) word: Word,
    /// Code to append: the same word for parts of long ranges, what follows the loop and how values are taken together,
    /// the body, its end. In it the body is at [`BODY`].
    pub(crate) code: Vec<Word>,
    /// Rows that the loop needs beyond the kernel's.
    pub(crate) rows: u32,
    /// The topology whose nodes' ranges it walks, if they can be summed up before the wave.
    pub(crate) topology: Option<u16>,
    /// The result is rounded in another order than that of the plain loop.
    pub(crate) rounds: bool,
}

/// Where the body is in [`NeighborLoop::code`].
pub(crate) const BODY: usize = 2;
const ROWS: u32 = 3;

/// The first loop of a kernel that can be lifted; `rows`: the first free row.
pub(crate) fn find(kernel: &Kernel, rows: u32, domain: &Domain) -> Option<NeighborLoop> {
    if rows + ROWS > MAX_ROWS as u32 || kernel.code.len() + kernel.code.len() > 0xf000 {
        return None;
    }
    let blocks = flow::blocks(&kernel.code);
    let mut loops = blocks
        .iter()
        .filter(|b| b.kind == BlockKind::Loop && b.depth == 0);
    loops.find_map(|b| lifted(kernel, b.at, rows, domain))
}

fn lifted(kernel: &Kernel, at: usize, rows: u32, domain: &Domain) -> Option<NeighborLoop> {
    let code = kernel.code.as_slice();
    let exit = code[at].imm as usize;
    let [_, test, leave, body @ .., step, _] = code.get(at..exit)? else {
        return None;
    };
    let (end, edge) = (test.a, test.b);
    let walks = op(test) == Op::LeU32
        && end < UNIFORM_BASE
        && edge < UNIFORM_BASE
        && end != edge
        && op(leave) == Op::BreakIf
        && (leave.a, leave.imm) == (test.d, 0)
        && op(step) == Op::Add32
        && (step.d, step.a, step.b, step.imm) == (edge, edge, IMM, 1);
    if !walks || test.d == edge || test.d == end {
        return None;
    }
    let merging = body.iter().position(|w| {
        let takes_in = merges(op(w)) && (w.a == w.d) != (w.b == w.d);
        takes_in && w.d != test.d
    })?;
    let merge = body[merging];
    let (total, value) = (merge.d, if merge.a == merge.d { merge.b } else { merge.a });
    if total == edge || total == end || total == test.d {
        return None;
    }
    let edges = (rows + 1) as u8;
    let mut known = Rows::NONE;
    known.add(edge);
    let renamed = |row: u8| if row == edge { edges } else { row };
    let mut turn = Vec::new();
    for (i, word) in body.iter().enumerate() {
        if i == merging {
            if value < UNIFORM_BASE && !known.has(value) {
                return None;
            }
            continue;
        }
        let writes = defs(word);
        let taken = [total, edge, end].into_iter().any(|r| writes.has(r));
        let late = i > merging && writes.has(value);
        if !is_straight(word) || taken || late {
            return None;
        }
        if uses(word).without(known) != Rows::NONE {
            return None;
        }
        known = known.or(writes);
        let row = op(word).row();
        let mut word = *word;
        if row.a != Slot::N {
            word.a = renamed(word.a);
        }
        if row.b != Slot::N {
            word.b = renamed(word.b);
        }
        if row.imm == Imm::Third {
            word.imm = word.imm & !255 | u32::from(renamed(word.third()));
        }
        turn.push(word);
    }
    // What a turn leaves in its rows may not be read afterwards.
    let mut left = body.iter().fold(Rows::NONE, |rows, w| rows.or(defs(w)));
    left.add(test.d);
    left.add(edge);
    if left.and(live_in(code)[exit]).iter().any(|r| r != total) {
        return None;
    }

    let word = |hub: u32, body: usize| Word {
        op: abi::OP_NEIGHBORS as u8,
        d: total,
        a: edge,
        b: end,
        imm: hub << 24 | rows << 16 | body as u32,
    };
    let is_gather = match *turn {
        [target, load] => {
            (op(&target), target.a) == (Op::CsrTarget, edges)
                && (op(&load), load.a, load.d) == (Op::Ld32, target.d, value)
                && gathers(op(&merge))
        }
        _ => false,
    };
    let gather = u32::from(is_gather) << 1;
    let mut code_after = vec![
        word(1 | gather, BODY),
        // The low word is where the loop ends, the high one what takes values in.
        raw(exit as u32, u32::from(merge.op)),
    ];
    code_after.extend(turn);
    code_after.push(Word {
        op: abi::OP_END_NEIGHBORS as u8,
        d: 0,
        a: renamed(value),
        b: 0,
        imm: if value == IMM { merge.imm } else { 0 },
    });
    code_after.push(Word::default());
    let topology = stable(kernel, body)
        .then(|| range_of(code, at, edge))
        .flatten();
    Some(NeighborLoop {
        at,
        word: word(gather, 0),
        code: code_after,
        rows: ROWS,
        topology: topology.filter(|_| *domain == Domain::Nodes),
        rounds: op(&merge) == Op::AddF32,
    })
}

/// Eight bytes that are no instruction.
fn raw(low: u32, high: u32) -> Word {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&low.to_le_bytes());
    bytes[4..].copy_from_slice(&high.to_le_bytes());
    Word::from_bytes(bytes)
}

/// Whether lifted loops take values in by this operation, which may be in any order. The device has no such loop of
/// products.
pub(crate) fn merges(op: Op) -> bool {
    op.row().d == Slot::W && op != Op::Mul32 && takes_in(op)
}

/// Whether the device has a loop of its own that loads an element for each neighbour and takes it in by this operation.
pub(crate) fn gathers(op: Op) -> bool {
    matches!(
        op,
        Op::Add32 | Op::MinU32 | Op::MaxU32 | Op::Or32 | Op::AddF32
    )
}

/// Whether a word only makes a value, of its operands or of memory.
fn is_straight(word: &Word) -> bool {
    let row = op(word).row();
    let only_makes = match row.effect {
        Effect::No | Effect::Load => true,
        Effect::Ask => row.kind() == Some(Kind::Topology),
        _ => false,
    };
    matches!(row.d, Slot::W | Slot::D) && only_makes
}

/// Whether the kernel leaves the buffers alone that the loop reads.
fn stable(kernel: &Kernel, body: &[Word]) -> bool {
    let loads = body.iter().filter(|w| effect(w) == Effect::Load);
    let mut read = loads.filter_map(|w| w.names());
    read.all(|buffer| !kernel.code.iter().any(|w| w.changes(buffer)))
}

/// The topology whose `csr.begin` the loop's edges start from.
fn range_of(code: &[Word], at: usize, edge: u8) -> Option<u16> {
    let begin = code[..at].iter().rev().find(|w| defs(w).has(edge))?;
    (op(begin) == Op::CsrBegin).then(|| begin.resource())
}

/// How the nodes of a topology are shared out for a neighbour loop over it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EdgePartition {
    /// The long edge ranges: begin, end, first part, number of parts.
    pub(crate) ranges: Vec<[u32; 4]>,
    /// Begin and end of their parts.
    pub(crate) parts: Vec<[u32; 2]>,
    /// First nodes of chunks that have about as many edges each, long ranges left out; then the number of nodes.
    pub(crate) chunks: Vec<u32>,
    /// A chunk has no more nodes than this.
    pub(crate) tile: u32,
}

/// Chunks of a topology that is large enough, about: two for each warp of a large GPU.
const CHUNKS: usize = 8192;

impl EdgePartition {
    /// `most`: nodes of a chunk.
    pub(crate) fn new(offsets: &[u32], most: u32) -> EdgePartition {
        let mut partition = EdgePartition {
            tile: most,
            ..EdgePartition::default()
        };
        let nodes = offsets.len().saturating_sub(1);
        let short = |degree: u32| if degree > abi::RANGE_HUB { 0 } else { degree };
        let total: u64 = (offsets.windows(2))
            .map(|pair| u64::from(short(pair[1] - pair[0])))
            .sum();
        let most = most.min((nodes / CHUNKS) as u32).max(32);
        let most_edges = ((total / CHUNKS as u64) as u32).clamp(256, 2048);
        let (mut first, mut edges) = (0, 0);
        for (node, pair) in (0u32..).zip(offsets.windows(2)) {
            let (begin, end) = (pair[0], pair[1]);
            if end - begin > abi::RANGE_HUB {
                let starts = (begin..end).step_by(abi::RANGE_PART as usize);
                let from = partition.parts.len() as u32;
                (partition.parts)
                    .extend(starts.map(|s| [s, s.saturating_add(abi::RANGE_PART).min(end)]));
                let count = partition.parts.len() as u32 - from;
                partition.ranges.push([begin, end, from, count]);
            }
            edges += short(end - begin);
            if node == first {
                partition.chunks.push(node);
            } else if node - first == most || edges > most_edges {
                partition.chunks.push(node);
                (first, edges) = (node, short(end - begin));
            }
        }
        partition.chunks.push(nodes as u32);
        partition
    }
}

/// What can be lifted in each wave, after rows have been given to what else needs them.
pub(crate) fn of_wave(program: &Program, kernel: usize, rows: u32) -> Option<NeighborLoop> {
    let wave = program.waves.get(kernel)?;
    let lift = find(&program.kernels[kernel], rows, &wave.domain)?;
    // Lanes that share a sum of floats round it in another order than a lane alone.
    (!lift.rounds || is_open(program, WaveId(kernel as u16))).then_some(lift)
}

/// Words of code, for tests.
#[cfg(test)]
pub(crate) mod words {
    use super::{Op, Word};

    pub(crate) fn word(op: Op, d: u8, a: u8, b: u8, imm: u32) -> Word {
        word_of(op as u32, d, a, b, imm)
    }

    /// With an opcode that programs may not have.
    pub(crate) fn word_of(op: u32, d: u8, a: u8, b: u8, imm: u32) -> Word {
        Word {
            op: op as u8,
            d,
            a,
            b,
            imm,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::words::{word, word_of};
    use super::*;
    use vyre_core::vir0::module::ItemRows;

    /// `for u in graph.neighbors(v) { r1 += x[u] }`, then `tail`.
    fn gather(tail: &[Word]) -> Kernel {
        let mut code = vec![
            word(Op::Mov32, 1, IMM, 0, 0),
            word(Op::CsrBegin, 2, 0, 0, 0),
            word(Op::CsrEnd, 3, 0, 0, 0),
            word(Op::Loop, 0, 0, 0, 11),
            word(Op::LeU32, 4, 3, 2, 0),
            word(Op::BreakIf, 0, 4, 0, 0),
            word(Op::CsrTarget, 4, 2, 0, 0),
            word(Op::Ld32, 4, 4, 0, 5 << 16),
            word(Op::AddF32, 1, 1, 4, 0),
            word(Op::Add32, 2, 2, IMM, 1),
            word(Op::EndLoop, 0, 0, 0, 3),
        ];
        code.extend_from_slice(tail);
        code.push(word(Op::Ret, 0, 0, 0, 0));
        Kernel {
            name: "gather".into(),
            code,
            rows: 5,
            frames: 2,
            item: ItemRows::default(),
            uniforms: vec![],
            sites: vec![],
        }
    }

    /// Of two waves, the one whose order may be seen anyway; without reasons, both.
    #[test]
    fn floats_are_added_in_another_order_where_what_a_wave_changes_is_open() {
        use vyre_core::vir0::module::{
            Access, Agreement, BufferId, Mode, Reason, Resource, Wave, Why,
        };
        let kernel = gather(&[word(Op::St32, 0, 0, 1, 6 << 16)]);
        let access = |buffer, mode| Access {
            resource: Resource::Buffer(BufferId(buffer)),
            mode,
        };
        let wave = |from, to| Wave {
            domain: Domain::Nodes,
            accesses: vec![access(from, Mode::Read), access(to, Mode::Write)],
            ..crate::image::tests::program(vec![], 1).waves[0].clone()
        };
        let lifted = |agreement, second: Wave| {
            let program = Program {
                kernels: vec![kernel.clone(), kernel.clone()],
                waves: vec![wave(5, 6), second],
                agreement,
                ..Program::default()
            };
            [0, 1].map(|wave| of_wave(&program, wave, 5).is_some())
        };
        let reason = |wave| Reason {
            wave: WaveId(wave),
            resource: None,
            site: None,
            why: Why::FloatSum,
        };
        let open = |wave| Agreement::Open(vec![reason(wave)]);
        assert_eq!(lifted(Agreement::Bits, wave(7, 8)), [false; 2]);
        assert_eq!(lifted(Agreement::Open(vec![]), wave(7, 8)), [true; 2]);
        assert_eq!(lifted(open(0), wave(7, 8)), [true, false]);
        assert_eq!(lifted(open(1), wave(7, 8)), [false, true]);
        // What reads something open is open as well.
        assert_eq!(lifted(open(0), wave(6, 8)), [true; 2]);
    }

    #[test]
    fn a_sum_over_neighbours_is_lifted() {
        let kernel = gather(&[word(Op::St32, 0, 0, 1, 6 << 16)]);
        let lift = find(&kernel, 5, &Domain::Nodes).unwrap();
        assert_eq!((lift.at, lift.rows, lift.topology), (3, 3, Some(0)));
        assert_eq!(lift.word.imm, 2 << 24 | 5 << 16);
        assert_eq!(
            lift.code,
            [
                word_of(abi::OP_NEIGHBORS, 1, 2, 3, 3 << 24 | 5 << 16 | 2),
                raw(11, Op::AddF32 as u32),
                word(Op::CsrTarget, 4, 6, 0, 0),
                word(Op::Ld32, 4, 4, 0, 5 << 16),
                word_of(abi::OP_END_NEIGHBORS, 0, 4, 0, 0),
                Word::default(),
            ]
        );
        // Parts are summed up in a barrier group before, so the nodes must be all nodes and the memory must rest.
        let once = find(&kernel, 5, &Domain::Once).unwrap();
        assert_eq!(once.topology, None);
        let stores = gather(&[word(Op::St32, 0, 0, 1, 5 << 16)]);
        assert_eq!(find(&stores, 5, &Domain::Nodes).unwrap().topology, None);
    }

    #[test]
    fn loops_whose_turns_depend_on_each_other_stay() {
        let none = |change: fn(&mut Vec<Word>)| {
            let mut kernel = gather(&[]);
            change(&mut kernel.code);
            assert_eq!(find(&kernel, 5, &Domain::Nodes), None);
        };
        // The edge, or what the last turn loaded, is looked at after the loop.
        none(|code| code[11] = word(Op::St32, 0, 2, 1, 6 << 16));
        none(|code| code[11] = word(Op::St32, 0, 4, 1, 6 << 16));
        // Differences depend on the order.
        none(|code| code[8].op = Op::SubF32 as u8);
        // The sum is looked at in the loop.
        none(|code| code[7] = word(Op::Add32, 4, 4, 1, 0));
        // A value of the node itself, which other lanes do not have.
        none(|code| code[7] = word(Op::Add32, 4, 4, 0, 0));
        // Something happens in the loop.
        none(|code| code[7] = word(Op::St32, 0, 4, 4, 6 << 16));
        // Another step.
        none(|code| code[9].imm = 2);
    }

    #[test]
    fn long_ranges_are_cut_into_parts() {
        let offsets = [0, 256, 513, 513, 2_513];
        let partition = EdgePartition::new(&offsets, 128);
        assert_eq!(partition.ranges, [[256, 513, 0, 1], [513, 2_513, 1, 2]]);
        assert_eq!(partition.parts, [[256, 513], [513, 1_537], [1_537, 2_513]]);
        assert_eq!(partition.chunks, [0, 4]);
    }

    #[test]
    fn chunks_have_few_nodes_and_few_edges() {
        // 40 nodes with 10 edges each, then 100 without any.
        let offsets: Vec<u32> = (0..=140).map(|v: u32| 10 * v.min(40)).collect();
        let partition = EdgePartition::new(&offsets, 128);
        assert_eq!(partition.chunks, [0, 25, 57, 89, 121, 140]);
    }
}
