//! Lowering: one typed body ([`crate::compile::ir`]) to the code of one kernel.
//!
//! Three steps. *Build* walks the tree once and writes linear structured code over virtual registers: an expression is
//! computed straight into the local it is assigned to, constants fold as Rust would compute them, and a local that is
//! assigned once is just a name for its value. *Clean* removes pure code without a use, and turns an atomic without one
//! into a reduction without a result. *Rows* gives each virtual register its row.
//!
//! The number of rows decides how many items share a lane on the GPU (rows times items is at most 32), so rows come
//! before words: live ranges have holes, copies share a row where they can, uniforms and literals take no row at all.
//! Faulting instructions are not reordered, and removed only behind an equal one, so an item's first trap is the
//! source's.
//!
//! A body must assign every local before it reads it, on every path, as rustc demands of the user's function.
//!
//! ```
//! use vyre_core::compile::ir::{Body, Expr, ItemLocals, LocalId, Stmt};
//! use vyre_core::compile::lower::{Literals, lower};
//! use vyre_core::vir0::module::{BufferId, SiteId};
//! use vyre_core::vir0::scalar::Scalar;
//!
//! // fn fill(i: Index, x: &mut u32) { *x = 7; }
//! let body = Body {
//!     name: "fill".into(),
//!     locals: vec![Scalar::U32],
//!     arrays: vec![],
//!     item: ItemLocals { index: Some(LocalId(0)), ..ItemLocals::default() },
//!     block: vec![Stmt::Store {
//!         buffer: BufferId(0),
//!         index: Expr::Local(LocalId(0)),
//!         value: Expr::Literal(Scalar::U32, 7),
//!         site: SiteId(0),
//!     }],
//!     value: None,
//! };
//! let mut literals = Literals::new(0);
//! let kernel = lower(&body, &mut literals).unwrap();
//! assert_eq!((kernel.code.len(), kernel.rows), (2, 1)); // st.b32, ret
//! assert_eq!(literals.into_constants()[0].bits, 7);
//! ```

mod build;
mod fold;
mod operations;
mod rows;
mod select;
mod value;
mod words;

use crate::compile::ir::Body;
use crate::compile::relation;
use crate::vir0::isa::{
    Effect, FRAMES_PER_IF, FRAMES_PER_LOOP, IMM, Imm, MAX_CODE_WORDS, MAX_DIRECT_UNIFORMS,
    MAX_FRAMES, MAX_ROWS, Op, Slot, UNIFORM_BASE, Word,
};
use crate::vir0::module::{Constant, ConstantId, ItemRows, Kernel, MAX_FIELDS, SiteId, Uniform};
use crate::vir0::scalar::Scalar;
use std::collections::HashMap;
use thiserror::Error;

/// Why a body cannot become a kernel.
#[derive(Clone, PartialEq, Eq, Error)]
pub enum LowerError {
    /// Too many values are live at once.
    #[error("the function needs {rows} register rows; at most {MAX_ROWS} are available")]
    TooManyRows {
        /// Rows needed.
        rows: usize,
    },
    /// `if` and loops nest too deeply.
    #[error(
        "nested branches and loops need {frames} mask frames; at most {MAX_FRAMES} are available"
    )]
    TooDeep {
        /// Frames needed.
        frames: usize,
    },
    /// Too much code.
    #[error(
        "the function compiles to {words} instructions; at most {MAX_CODE_WORDS} are supported"
    )]
    TooLong {
        /// Words of code.
        words: usize,
    },
    /// The pass has too many constants.
    #[error(
        "the pass needs {constants} constants; at most {} are supported",
        u16::MAX
    )]
    TooManyConstants {
        /// Named constants and literals.
        constants: usize,
    },
    /// The instruction set has no such operation on the type.
    #[error("`{operation}` is not available for {scalar}", scalar = .scalar.name())]
    Unsupported {
        /// The operation.
        operation: String,
        /// Type of its operand.
        scalar: Scalar,
    },
    /// The body breaks a rule of [`crate::compile::ir`]: a bug of the front end.
    #[error("invalid intermediate representation: {0}")]
    Invalid(&'static str),
}

crate::debug_is_display!(LowerError);

/// The literal part of a pass's constant pool, which follows the named constants.
#[derive(Clone, Debug, Default)]
pub struct Literals {
    named: usize,
    constants: Vec<Constant>,
    ids: HashMap<(Scalar, u64), ConstantId>,
}

impl Literals {
    /// An empty pool behind `named_count` named constants.
    pub fn new(named_count: usize) -> Literals {
        Literals {
            named: named_count,
            ..Literals::default()
        }
    }

    /// The literals in id order; the first one has id `named_count`.
    pub fn into_constants(self) -> Vec<Constant> {
        self.constants
    }

    fn id(&mut self, scalar: Scalar, bits: u64) -> Result<ConstantId, LowerError> {
        if let Some(&id) = self.ids.get(&(scalar, bits)) {
            return Ok(id);
        }
        let at = self.named + self.constants.len();
        let id = u16::try_from(at)
            .ok()
            .filter(|&id| id < u16::MAX)
            .map(ConstantId)
            .ok_or(LowerError::TooManyConstants { constants: at + 1 })?;
        self.constants.push(Constant { scalar, bits });
        self.ids.insert((scalar, bits), id);
        Ok(id)
    }
}

/// A virtual register; `Code::width` knows how many rows it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Reg(u32);

impl Reg {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A source operand before encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arg {
    None,
    Reg(Reg),
    Uniform(Uniform),
    Literal(Scalar, u64),
    /// A uniform slot, once `assign_slots` has run.
    Slot(u8),
}

/// What an instruction does to a local array, which is one register of many rows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ArrayUse {
    reg: Reg,
    /// Of a move: the row of the element it takes the place of the operand for.
    row: u8,
    effect: ArrayEffect,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ArrayEffect {
    /// Reads an element.
    Read,
    /// Writes an element and keeps the others.
    Write,
    /// What the array held before is no longer of interest.
    Begin,
}

/// One instruction over virtual registers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Inst {
    op: Op,
    d: Option<Reg>,
    args: [Arg; 3],
    array: Option<ArrayUse>,
    /// What the word's immediate holds besides a literal or a third operand; targets come with encoding.
    imm: u32,
    site: Option<SiteId>,
}

impl Inst {
    /// Registers whose value it needs: of an array that it writes an element of, the others.
    fn sources(&self) -> impl Iterator<Item = Reg> + '_ {
        let array = self.array.filter(|a| a.effect != ArrayEffect::Begin);
        let args = self.args.iter().filter_map(|a| match a {
            Arg::Reg(r) => Some(*r),
            Arg::None | Arg::Uniform(_) | Arg::Literal(..) | Arg::Slot(_) => None,
        });
        args.chain(array.map(|a| a.reg))
    }

    /// The register it changes.
    fn target(&self) -> Option<Reg> {
        let array = self.array.filter(|a| a.effect != ArrayEffect::Read);
        self.d.or(array.map(|a| a.reg))
    }

    /// Without an effect beyond its destination: no fault, no memory, no control.
    fn is_pure(&self) -> bool {
        let row = self.op.row();
        let moves_freely = match row.effect {
            Effect::No | Effect::RowLoad | Effect::RowStore | Effect::RowFill | Effect::Ask => true,
            Effect::Load
            | Effect::Store
            | Effect::AtomicLoad
            | Effect::AtomicStore
            | Effect::Update
            | Effect::Exchange
            | Effect::Push
            | Effect::Reserve
            | Effect::Field
            | Effect::Reduce
            | Effect::Open
            | Effect::Turn
            | Effect::Close
            | Effect::MayLeave
            | Effect::Leave
            | Effect::End => false,
        };
        let only_assigns = matches!(row.d, Slot::W | Slot::D) || self.array.is_some();
        moves_freely && !can_fault(self) && only_assigns
    }

    /// An atomic whose destination is optional.
    fn has_optional_result(&self) -> bool {
        matches!(self.op.row().d, Slot::OptW | Slot::OptD)
    }
}

/// Linear structured code over virtual registers.
#[derive(Clone, Debug, Default)]
struct Code {
    insts: Vec<Inst>,
    /// Rows of each register: 1 or 2, of an array those of all its elements.
    width: Vec<u8>,
    /// Index, source, destination, then the fields.
    item: [Option<Reg>; 3 + MAX_FIELDS],
}

impl Code {
    fn reg(&mut self, width: u8) -> Reg {
        self.width.push(width);
        Reg(self.width.len() as u32 - 1)
    }
}

/// Lowers one body. Literals that need a uniform slot are appended to `literals`.
pub fn lower(body: &Body, literals: &mut Literals) -> Result<Kernel, LowerError> {
    let expanded = relation::expand(body);
    let body = expanded.as_ref().unwrap_or(body);
    let mut code = build::build(body)?;
    clean(&mut code);
    let uniforms = assign_slots(&mut code, literals)?;
    let frames = frames(&code.insts)?;
    let shared = share(&code);
    let mut rows = rows::assign(&mut code);
    // Fewer words are worth rows, but not items a lane.
    if let Some(mut shared) = shared
        && let Ok(with) = rows::assign(&mut shared)
        && rows
            .as_ref()
            .map_or(true, |r| items_a_lane(with.count) >= items_a_lane(r.count))
    {
        (code, rows) = (shared, Ok(with));
    }
    let rows = rows?;
    let words = code.insts.len();
    if words > MAX_CODE_WORDS {
        return Err(LowerError::TooLong { words });
    }
    let item = |i: usize| code.item[i].map(|r| rows.of[r.index()]);
    Ok(Kernel {
        name: body.name.clone(),
        code: encode(&code.insts, &rows.of),
        rows: rows.count,
        frames,
        item: ItemRows {
            index: item(0),
            src: item(1),
            dst: item(2),
            fields: std::array::from_fn(|field| item(3 + field)),
        },
        uniforms,
        sites: code
            .insts
            .iter()
            .zip(0u32..)
            .filter_map(|(inst, pc)| inst.site.map(|s| (pc, s)))
            .collect(),
    })
}

/// Whether the instruction can fault with these operands.
fn can_fault(inst: &Inst) -> bool {
    use crate::vir0::isa::Faults;
    match inst.op.row().faults {
        Faults::No => false,
        Faults::Bounds | Faults::Capacity | Faults::Explicit => true,
        Faults::Divide => match inst.args[1] {
            Arg::Literal(scalar, bits) => {
                let minus_one = matches!(scalar, Scalar::I32 | Scalar::I64) && bits as i64 == -1;
                bits == 0 || minus_one
            }
            Arg::None | Arg::Reg(_) | Arg::Uniform(_) | Arg::Slot(_) => true,
        },
    }
}

/// Removes what nothing needs: pure code without a use, results of atomics, branches around nothing.
fn clean(code: &mut Code) {
    loop {
        let before = code.insts.len();
        remove_unreachable(&mut code.insts);
        remove_unneeded(code);
        remove_empty_branches(&mut code.insts);
        rows::drop_dead(code);
        if code.insts.len() == before {
            break;
        }
    }
    let mut used = vec![false; code.width.len()];
    for r in code.insts.iter().flat_map(Inst::sources) {
        used[r.index()] = true;
    }
    for item in &mut code.item {
        *item = item.filter(|r| used[r.index()]);
    }
}

/// Marks from the effects backwards, so that a register which only feeds itself goes too.
fn remove_unneeded(code: &mut Code) {
    let mut needed = vec![false; code.width.len()];
    let mut defs: Vec<Vec<u32>> = vec![Vec::new(); code.width.len()];
    let mut work: Vec<Reg> = Vec::new();
    for (inst, i) in code.insts.iter().zip(0u32..) {
        if inst.is_pure() {
            if let Some(d) = inst.target() {
                defs[d.index()].push(i);
            }
        } else {
            work.extend(inst.sources());
        }
    }
    while let Some(r) = work.pop() {
        if !std::mem::replace(&mut needed[r.index()], true) {
            for &i in &defs[r.index()] {
                work.extend(code.insts[i as usize].sources());
            }
        }
    }
    let is_needed = |d: Option<Reg>| d.is_some_and(|d| needed[d.index()]);
    code.insts.retain(|i| !i.is_pure() || is_needed(i.target()));
    for inst in &mut code.insts {
        if inst.has_optional_result() && !is_needed(inst.d) {
            inst.d = None;
        }
    }
}

/// Items that share a lane on a GPU where a kernel has `rows`.
fn items_a_lane(rows: u8) -> u8 {
    match rows {
        0..=8 => 4,
        9..=16 => 2,
        _ => 1,
    }
}

/// The code with what is computed twice computed once, if there is such a thing. A value is used again where it is sure
/// to have been computed, and not in a loop that begins behind it: turns that use nothing of the lane's can be shared
/// out.
fn share(code: &Code) -> Option<Code> {
    let mut defs = vec![0u32; code.width.len()];
    for r in code.item.iter().flatten() {
        defs[r.index()] += 1;
    }
    for r in code.insts.iter().filter_map(Inst::target) {
        defs[r.index()] += 1;
    }
    let once = |r: Reg| defs[r.index()] == 1;
    let mut names: Vec<Reg> = (0..code.width.len() as u32).map(Reg).collect();
    // What is known, from where on it may be used, and what was known where each open block began.
    let (mut known, mut from): (Vec<Inst>, usize) = (Vec::new(), 0);
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut insts: Vec<Inst> = Vec::with_capacity(code.insts.len());
    for inst in &code.insts {
        let mut inst = *inst;
        for arg in &mut inst.args {
            if let Arg::Reg(r) = arg {
                *r = names[r.index()];
            }
        }
        let effect = inst.op.row().effect;
        if let Effect::Close | Effect::Turn = effect {
            let (len, first) = open.pop().expect("build nests its branches");
            known.truncate(len);
            from = first;
        }
        if let Effect::Open | Effect::Turn = effect {
            open.push((known.len(), from));
            if inst.op == Op::Loop {
                from = known.len();
            }
        }
        if let (true, None, Some(d)) = (inst.is_pure(), inst.array, inst.d)
            && !matches!(inst.op, Op::Mov32 | Op::Mov64 | Op::LdU32 | Op::LdU64)
            && once(d)
            && inst.sources().all(once)
        {
            let same = |k: &&Inst| Inst { d: inst.d, ..**k } == inst;
            if let Some(first) = known[from..].iter().find(same) {
                names[d.index()] = first.d.expect("it computes something");
                continue;
            }
            known.push(inst);
        }
        insts.push(inst);
    }
    (insts.len() < code.insts.len()).then(|| Code {
        insts,
        width: code.width.clone(),
        item: code.item,
    })
}

/// Removes what follows a jump in its block; the last word stays.
fn remove_unreachable(insts: &mut Vec<Inst>) {
    let mut left = insts.len();
    let mut skipped: Option<usize> = None;
    insts.retain(|inst| {
        left -= 1;
        if let Some(depth) = &mut skipped {
            match inst.op.row().effect {
                Effect::Open => *depth += 1,
                Effect::Close | Effect::Turn if *depth == 0 => skipped = None,
                Effect::Close => *depth -= 1,
                _ => {}
            }
        }
        let keep = skipped.is_none() || left == 0;
        if matches!(inst.op.row().effect, Effect::Leave | Effect::End) {
            skipped = skipped.or(Some(0));
        }
        keep
    });
}

fn remove_empty_branches(insts: &mut Vec<Inst>) {
    let mut out: Vec<Inst> = Vec::with_capacity(insts.len());
    for inst in insts.drain(..) {
        if inst.op == Op::EndIf {
            if out.last().is_some_and(|i| i.op == Op::Else) {
                out.pop();
            }
            if out.last().is_some_and(|i| i.op == Op::If) {
                out.pop();
                continue;
            }
        }
        out.push(inst);
    }
    *insts = out;
}

/// Whether the literal is its own 32-bit immediate for an operand of this width.
fn fits_immediate(slot: Slot, bits: u64) -> bool {
    match slot {
        Slot::D | Slot::OptD => bits as u32 as i32 as i64 as u64 == bits,
        Slot::W | Slot::OptW | Slot::N | Slot::Flag => true,
    }
}

/// Width of an operand: the third one has that of the destination, or of `b` next to a resource.
fn arg_slot(op: Op, i: usize) -> Slot {
    let row = op.row();
    match (i, row.imm) {
        (0, _) => row.a,
        (1, _) => row.b,
        (_, Imm::ResourceThird(_)) => row.b,
        _ => row.d,
    }
}

/// Puts uniforms, and the literals that cannot be immediates, into uniform slots; beyond the direct ones they are
/// loaded.
fn assign_slots(code: &mut Code, literals: &mut Literals) -> Result<Vec<Uniform>, LowerError> {
    let mut uniforms: Vec<Uniform> = Vec::new();
    let mut slots: HashMap<Uniform, usize> = HashMap::new();
    let mut out = Vec::with_capacity(code.insts.len());
    for mut inst in std::mem::take(&mut code.insts) {
        let has_immediate = inst.op.row().imm == Imm::Literal;
        let mut immediate: Option<u64> = None;
        for i in 0..3 {
            let slot = arg_slot(inst.op, i);
            let uniform = match inst.args[i] {
                Arg::None | Arg::Reg(_) | Arg::Slot(_) => continue,
                Arg::Uniform(u) => u,
                Arg::Literal(_, bits)
                    if has_immediate
                        && fits_immediate(slot, bits)
                        && immediate.is_none_or(|x| x as u32 == bits as u32) =>
                {
                    immediate = Some(bits);
                    continue;
                }
                Arg::Literal(scalar, bits) => Uniform::Constant(literals.id(scalar, bits)?),
            };
            let at = *slots.entry(uniform).or_insert_with(|| {
                uniforms.push(uniform);
                uniforms.len() - 1
            });
            inst.args[i] = if at < MAX_DIRECT_UNIFORMS {
                Arg::Slot(UNIFORM_BASE + at as u8)
            } else {
                let wide = matches!(slot, Slot::D | Slot::OptD);
                let d = code.reg(1 + u8::from(wide));
                out.push(Inst {
                    op: if wide { Op::LdU64 } else { Op::LdU32 },
                    d: Some(d),
                    args: [Arg::None; 3],
                    array: None,
                    imm: at as u32,
                    site: None,
                });
                Arg::Reg(d)
            };
        }
        out.push(inst);
    }
    code.insts = out;
    Ok(uniforms)
}

/// The deepest mask stack.
fn frames(insts: &[Inst]) -> Result<u8, LowerError> {
    let (mut now, mut most) = (0usize, 0usize);
    for inst in insts {
        match inst.op.row().effect {
            Effect::Open => now += frames_of(inst.op),
            Effect::Close => now -= frames_of(inst.op),
            _ => {}
        }
        most = most.max(now);
    }
    u8::try_from(most)
        .ok()
        .filter(|&f| f <= MAX_FRAMES)
        .ok_or(LowerError::TooDeep { frames: most })
}

/// Mask frames of a block that this word opens or closes.
fn frames_of(op: Op) -> usize {
    let is_loop = op == Op::Loop || op == Op::EndLoop;
    usize::from(if is_loop {
        FRAMES_PER_LOOP
    } else {
        FRAMES_PER_IF
    })
}

fn encode(insts: &[Inst], rows: &[u8]) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::with_capacity(insts.len());
    let mut open: Vec<usize> = Vec::new();
    for (pc, inst) in insts.iter().enumerate() {
        let row = inst.op.row();
        let mut imm = inst.imm;
        let mut operand = |arg: Arg| match arg {
            Arg::None => 0,
            Arg::Reg(r) => rows[r.index()],
            Arg::Slot(s) => s,
            Arg::Literal(_, bits) => {
                imm = bits as u32;
                IMM
            }
            Arg::Uniform(_) => unreachable!("assign_slots gave every uniform a slot"),
        };
        let (mut a, b, c) = (
            operand(inst.args[0]),
            operand(inst.args[1]),
            operand(inst.args[2]),
        );
        if matches!(row.imm, Imm::Third | Imm::ResourceThird(_)) {
            imm |= u32::from(c);
        }
        let mut d = match inst.d {
            Some(d) => rows[d.index()],
            None if inst.has_optional_result() => IMM,
            None => 0,
        };
        if let Some(array) = inst.array {
            let first = rows[array.reg.index()];
            match (row.imm, array.effect) {
                (Imm::Rows, _) => imm |= u32::from(first),
                (_, ArrayEffect::Read) => a = first + array.row,
                (_, ArrayEffect::Write | ArrayEffect::Begin) => d = first + array.row,
            }
        }
        words.push(Word {
            op: inst.op as u8,
            d,
            a,
            b,
            imm,
        });
        match inst.op.row().effect {
            Effect::Open => open.push(pc),
            Effect::Turn => {
                let start = open.pop().expect("build nests its branches");
                words[start].imm = pc as u32;
                open.push(pc);
            }
            Effect::Close => {
                let start = open.pop().expect("build nests its branches");
                if inst.op == Op::EndLoop {
                    words[start].imm = pc as u32 + 1;
                    words[pc].imm = start as u32;
                } else {
                    words[start].imm = pc as u32;
                }
            }
            _ => {}
        }
    }
    words
}

fn unsupported(operation: &str, scalar: Scalar) -> LowerError {
    LowerError::Unsupported {
        operation: operation.to_owned(),
        scalar,
    }
}
