//! What a run leaves: [`Words`] are its control words, [`Record`] has the small results behind them, and [`Reader`] takes
//! both apart.

use crate::abi;
use crate::buffer::{extend, room_in};
use crate::image::{Control, FRONTIER_CONTROL_BYTES, unordered, words_of};
use vyre_core::dsl::columns::Column;
use vyre_core::dsl::error::RunError;
use vyre_core::plan::cuda::Shape;
use vyre_core::run::outcome::{Activity, Outcome, Readback, Report, WaveTime};
use vyre_core::vir0::exact;
use vyre_core::vir0::module::{
    BufferId, Domain, FixpointId, KernelId, ListId, Program, QueueId, ReduceOp, ReductionId, Role,
    Uniform,
};
use vyre_core::vir0::sizes::Sizes;
use vyre_core::vir0::subject::{Failed, Seen, item_type, subject_of, unfinished};
use vyre_core::vir0::trap::{Site, Trap, TrapKind};

/// Whether a buffer's contents are a result. Buffers that trade places have one role and one size.
pub(super) fn is_result(role: Role) -> bool {
    matches!(role, Role::Output | Role::InOut)
}

/// What the control words say after a launch.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) trap_key: u64,
    pub(super) trap_index: u64,
    pub(super) trap_len: u64,
    pub(super) trap_kind: u32,
    /// The run was cut short: nothing else that is here is its result.
    pub(super) aborted: bool,
    /// That it took, where they were counted.
    pub(super) steps: u64,
    pub(super) rounds: Vec<u64>,
    pub(super) homes: Vec<u32>,
    /// Items appended to each list.
    pub(super) lists: Vec<u64>,
    pub(super) reductions: Vec<u64>,
    pub(super) stamps: Vec<u32>,
    pub(super) activity: Activity,
    /// Edges of frontiers that would have been pulled, had the edges in been known.
    pub(super) missed: u64,
    /// By wave; zero where they were not measured.
    pub(super) times: Vec<WaveTime>,
    /// Items that the next round would find.
    pub(super) waiting: u64,
    /// Rounds that a cluster held, or would have.
    pub(super) fitting: u64,
}

/// Control words and small results of a run, as they came back.
pub(super) struct Record<'a> {
    pub(super) bytes: &'a [u8],
    /// Where buffers are in it.
    pub(super) packed: &'a [Option<u64>],
    /// By list, where it has each field of what the list holds; `None`: that has a copy of its own.
    pub(super) lists: &'a [Vec<Option<u64>>],
}

/// Takes apart what came back.
pub(super) struct Reader<'a> {
    program: &'a Program,
    sizes: &'a Sizes,
    control: Control,
    /// Sweeps were timed.
    time_waves: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(program: &'a Program, sizes: &'a Sizes, time_waves: bool) -> Reader<'a> {
        Reader {
            program,
            sizes,
            control: Control::new(program),
            time_waves,
        }
    }

    pub(super) fn words(&self, bytes: &[u8]) -> Result<Words, RunError> {
        let (program, layout) = (self.program, &self.control);
        let word = |at: u64| {
            let at = at as usize;
            u64::from_le_bytes(bytes[at..at + 8].try_into().expect("the slice has 8 bytes"))
        };
        let half = |at: u64| {
            let at = at as usize;
            u32::from_le_bytes(bytes[at..at + 4].try_into().expect("the slice has 4 bytes"))
        };
        let field = |at: usize| at as u64;
        let count = |n: usize| 0..n as u64;
        if half(field(std::mem::offset_of!(abi::Control, finished))) == 0 {
            return Err(RunError::Backend(
                "the launch ended before the pass".to_owned(),
            ));
        }
        Ok(Words {
            trap_key: word(field(std::mem::offset_of!(abi::Control, trap_key))),
            trap_index: word(field(std::mem::offset_of!(abi::Control, trap_index))),
            trap_len: word(field(std::mem::offset_of!(abi::Control, trap_len))),
            trap_kind: half(field(std::mem::offset_of!(abi::Control, trap_kind))),
            aborted: half(field(std::mem::offset_of!(abi::Control, aborted))) != 0,
            steps: word(field(std::mem::offset_of!(abi::Control, steps))),
            activity: Activity {
                sweeps: word(field(std::mem::offset_of!(abi::Control, sweeps))),
                items: word(field(std::mem::offset_of!(abi::Control, items))),
                widest: word(field(std::mem::offset_of!(abi::Control, widest))),
                pulled: word(field(std::mem::offset_of!(abi::Control, pulled))),
                cluster_rounds: word(field(std::mem::offset_of!(abi::Control, gathered))),
                ordered: 0,
                shared: 0,
                fused: 0,
            },
            missed: word(field(std::mem::offset_of!(abi::Control, missed))),
            waiting: word(field(std::mem::offset_of!(abi::Control, waiting))),
            fitting: word(field(std::mem::offset_of!(abi::Control, fitting))),
            rounds: count(program.fixpoints.len())
                .map(|i| word(layout.results + 8 * i))
                .collect(),
            homes: count(program.buffers.len())
                .map(|i| half(layout.homes + 4 * i))
                .collect(),
            times: count(program.waves.len())
                .map(|i| layout.times + 16 * i)
                .map(|at| WaveTime {
                    sweeps: word(at),
                    ns: word(at + 8),
                })
                .collect(),
            lists: (0u16..)
                .zip(&program.lists)
                .map(|(l, _)| {
                    let number = program.place_of(ListId(l).into()) as u64;
                    word(layout.frontiers + FRONTIER_CONTROL_BYTES * number)
                })
                .collect(),
            reductions: (0..)
                .zip(layout.slots(program).into_iter().zip(&program.reductions))
                .map(|(i, (slots, r))| {
                    let (epoch, words) = (half(layout.epochs + 4 * i), words_of(r));
                    let at = slots + 8 * words * u64::from(epoch % 3);
                    if r.op != ReduceOp::ExactSum {
                        return word(at);
                    }
                    let words: Vec<i64> = (0..words).map(|k| word(at + 8 * k) as i64).collect();
                    exact::value(r.scalar, &words)
                })
                .collect(),
            stamps: count(program.queues().count())
                .map(|i| half(layout.stamps + 4 * i))
                .collect(),
        })
    }

    /// Everything but what has copies of its own, in the memory of earlier results; columns of those stay as they are.
    pub(super) fn outcome(
        &self,
        words: &Words,
        record: &Record<'_>,
        results: &mut Outcome,
    ) -> Result<(), RunError> {
        let program = self.program;
        // `len` elements of a column, from byte `at` of the record on.
        let fill = |column: &mut Column, len: u64, at: u64| -> Result<(), RunError> {
            room_in(column, len as usize)?;
            let bytes = (len * column.scalar().size_bytes()) as usize;
            extend(column, &record.bytes[at as usize..][..bytes]);
            Ok(())
        };
        let mut read = Readback::default();
        for (i, buffer) in program.buffers.iter().enumerate() {
            let len = self.sizes.resolve(program, buffer.extent).unwrap_or(0);
            if !is_result(buffer.role) || record.packed[i].is_none() && len > 0 {
                continue;
            }
            let home = words.homes[i] as usize;
            let column = results.output_mut(BufferId(i as u16), buffer.scalar);
            fill(column, len, record.packed[home].unwrap_or(0))?;
            let bytes = len * buffer.scalar.size_bytes();
            read.packed += u32::from(bytes > 0);
            read.packed_bytes += bytes;
            read.full_bytes += bytes;
        }
        for (l, list) in program.lists.iter().enumerate().filter(|(_, l)| l.output) {
            let len = words.lists[l];
            let capacity = self.sizes.resolve(program, list.capacity).unwrap_or(0);
            let columns = results.list_mut(ListId(l as u16), &list.fields);
            for (column, at) in columns.iter_mut().zip(&record.lists[l]) {
                let size = column.scalar().size_bytes();
                read.full_bytes += capacity * size;
                if let Some(at) = *at {
                    fill(column, len, at)?;
                    read.packed += u32::from(len > 0);
                    read.packed_bytes += len * size;
                }
            }
        }
        results.rows = self.sizes.rows(program);
        results.reductions.clear();
        for (i, r) in program.reductions.iter().enumerate() {
            if r.output {
                let bits = unordered(r.op, r.scalar, words.reductions[i]);
                results.reductions.push((ReductionId(i as u16), bits));
            }
        }
        results.report = Report {
            rounds: words.rounds.clone(),
            activity: Some(words.activity),
            readback: read,
            waves: self.time_waves.then(|| words.times.clone()),
            ..Report::default()
        };
        Ok(())
    }

    /// What a fixpoint's condition looks at, as far as the control words tell: of one frontier how much it holds, of
    /// several only the sum is known. `scalars`: the reader's are those of this run.
    fn seen(&self, words: &Words, uniform: Uniform, scalars: bool) -> Option<u64> {
        let owned = self.program.frontiers.iter().filter(|f| f.owner.is_some());
        match uniform {
            Uniform::Scalar(s) if scalars => self.sizes.scalars.get(s.index()).copied(),
            Uniform::Reduction(r) => {
                let reduction = &self.program.reductions[r.index()];
                let bits = words.reductions[r.index()];
                Some(unordered(reduction.op, reduction.scalar, bits))
            }
            Uniform::Len(QueueId::Frontier(f)) => (owned.count() == 1
                && self.program.frontiers[f.index()].owner.is_some())
            .then_some(words.waiting),
            Uniform::Len(QueueId::List(l)) => Some(words.lists[l.index()]),
            Uniform::Scalar(_)
            | Uniform::Constant(_)
            | Uniform::Round
            | Uniform::OuterRound(_)
            | Uniform::Began(_)
            | Uniform::Nodes => None,
        }
    }

    /// The run's trap, if it has one.
    pub(super) fn trap(&self, words: &Words, scalars: bool) -> Option<Trap> {
        if words.trap_key == u64::MAX {
            return None;
        }
        let kind = TrapKind::from_code(words.trap_kind).expect("the device raises known traps");
        let (kernel, item, pc) = (
            (words.trap_key >> 48) as u32,
            (words.trap_key >> 16) as u32,
            (words.trap_key & 0xffff) as u32,
        );
        let trap = |kernel: String, site: Site, item| Trap {
            kind,
            kernel,
            site,
            item,
            item_type: None,
            index: words.trap_index,
            len: words.trap_len,
            subject: None,
            message: None,
            run: None,
            part: None,
            lane: None,
        };
        if kernel == abi::ROUND_LIMIT_KERNEL && kind == TrapKind::UnknownWord {
            return Some(trap("schedule".to_owned(), Site::default(), None));
        }
        if kernel == abi::ROUND_LIMIT_KERNEL {
            let fixpoint = &self.program.fixpoints[item as usize];
            let site = self.program.sites.get(fixpoint.site.index());
            let of = FixpointId(item as u16);
            let seen = |uniform| self.seen(words, uniform, scalars);
            return Some(Trap {
                message: unfinished(self.program, of, seen),
                ..trap(
                    fixpoint.name.clone(),
                    site.cloned().unwrap_or_default(),
                    None,
                )
            });
        }
        let id = KernelId(kernel as u16);
        let named = &self.program.kernels[id.index()];
        let at = named.sites.binary_search_by_key(&pc, |&(at, _)| at);
        let at = at.ok().map(|i| named.sites[i].1);
        let site = at.and_then(|at| self.program.sites.get(at.index()).cloned());
        let message = at.and_then(|at| self.program.message(at));
        let wave = self.program.waves.get(id.index());
        let own = kind.is_of_an_item() && wave.is_some_and(|w| w.domain != Domain::Once);
        let failed = Failed {
            kind,
            len: words.trap_len,
            seen: Seen::Word,
        };
        Some(Trap {
            message: message.map(str::to_owned),
            item_type: item_type(self.program, id),
            subject: subject_of(self.program, self.sizes, (id, pc), failed),
            ..trap(
                named.name.clone(),
                site.unwrap_or_default(),
                own.then_some(item),
            )
        })
    }
}

/// Bytes of results.
pub(super) fn read_bytes(outcome: &Outcome) -> u64 {
    let read = &outcome.report.readback;
    read.packed_bytes + read.direct_bytes + 8 * outcome.reductions.len() as u64
}

/// Where the fields of its items are, by side, then by field.
pub(super) fn fields_of(shape: &Shape, items: u64) -> Vec<u64> {
    let mut at = items;
    let sides = (0..shape.sides).flat_map(|_| &shape.fields);
    sides
        .map(|field| {
            at += shape.part_bytes(*field);
            at - shape.part_bytes(*field)
        })
        .collect()
}
