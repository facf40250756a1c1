//! Words over virtual registers, and what is known while they are written: which value each local has, which loads can
//! be used again.

use super::{Arg, Code, Inst, LowerError, Reg};
use crate::compile::ir::{Body, Effect, Expr, LocalId, Stmt};
use crate::vir0::isa::Op;
use crate::vir0::module::{BufferId, SiteId};
use crate::vir0::scalar::Scalar;
use std::collections::HashSet;

/// Loads that are looked through for an equal one.
const LOADS_KEPT: usize = 64;

/// How often each local is read and assigned.
pub(super) struct Counts {
    pub(super) reads: Vec<u32>,
    pub(super) defs: Vec<u32>,
}

impl Counts {
    pub(super) fn new(locals: usize) -> Counts {
        Counts {
            reads: vec![0; locals],
            defs: vec![0; locals],
        }
    }

    pub(super) fn of_block(locals: usize, block: &[Stmt]) -> Result<Counts, LowerError> {
        let mut counts = Counts::new(locals);
        counts.block(block)?;
        Ok(counts)
    }

    pub(super) fn block(&mut self, block: &[Stmt]) -> Result<(), LowerError> {
        for stmt in block {
            if let Stmt::Assign(local, _) = stmt {
                *Self::at(&mut self.defs, *local)? += 1;
            }
            stmt.operands().try_for_each(|e| self.expr(e))?;
            stmt.blocks().try_for_each(|b| self.block(b))?;
        }
        Ok(())
    }

    pub(super) fn expr(&mut self, e: &Expr) -> Result<(), LowerError> {
        if let Expr::Local(local) = e {
            *Self::at(&mut self.reads, *local)? += 1;
        }
        e.operands().try_for_each(|x| self.expr(x))
    }

    pub(super) fn at(counts: &mut [u32], local: LocalId) -> Result<&mut u32, LowerError> {
        counts
            .get_mut(local.0 as usize)
            .ok_or(LowerError::Invalid("a local without a type"))
    }
}

/// A loop of the tree that is being built.
pub(super) struct Loop<'b> {
    /// It has words of its own.
    pub(super) real: bool,
    /// What every further turn starts with, moved here from the loop's head.
    pub(super) step: Option<(LocalId, &'b Expr)>,
    /// A `break` leaves it.
    pub(super) broken: bool,
}

pub(super) struct Builder<'b> {
    pub(super) body: &'b Body,
    pub(super) code: Code,
    pub(super) counts: Counts,
    /// Value of each local: its own register, or what its one assignment gave.
    pub(super) locals: Vec<Option<Arg>>,
    /// Register of each array that has been used.
    pub(super) arrays: Vec<Option<Reg>>,
    /// The local that owns a register and may assign it again; other registers are assigned once.
    pub(super) owner: Vec<Option<LocalId>>,
    pub(super) loops: Vec<Loop<'b>>,
    /// Loads that can be used again here: of the graph and of buffers that the body only reads.
    pub(super) loaded: Vec<(Inst, Arg)>,
    /// Buffers that the body changes.
    pub(super) changed: HashSet<BufferId>,
    pub(super) ifs: usize,
}

impl<'b> Builder<'b> {
    pub(super) fn new(body: &'b Body) -> Result<Builder<'b>, LowerError> {
        let n = body.locals.len();
        let mut counts = Counts::of_block(n, &body.block)?;
        if let Some(value) = &body.value {
            counts.expr(value)?;
        }
        let mut builder = Builder {
            body,
            code: Code::default(),
            counts,
            locals: vec![None; n],
            arrays: vec![None; body.arrays.len()],
            owner: Vec::new(),
            loops: Vec::new(),
            loaded: Vec::new(),
            changed: HashSet::new(),
            ifs: 0,
        };
        changed_buffers(&body.block, &mut builder.changed);
        let item = [body.item.index, body.item.src, body.item.dst];
        for (i, local) in item.into_iter().chain(body.item.fields).enumerate() {
            let Some(local) = local else { continue };
            let at = local.0 as usize;
            let scalar = builder.body.locals.get(at).copied();
            if scalar.is_none() || i < 3 && scalar != Some(Scalar::U32) {
                return Err(LowerError::Invalid("an item local that is not a u32"));
            }
            let owner = (builder.counts.defs[at] > 0).then_some(local);
            let r = builder.reg(scalar.map_or(1, Scalar::rows), owner);
            builder.counts.defs[at] += 1;
            builder.code.item[i] = Some(r);
            builder.locals[at] = Some(Arg::Reg(r));
        }
        Ok(builder)
    }

    pub(super) fn reg(&mut self, width: u8, owner: Option<LocalId>) -> Reg {
        self.owner.push(owner);
        self.code.reg(width)
    }

    pub(super) fn push(
        &mut self,
        op: Op,
        d: Option<Reg>,
        args: [Arg; 3],
        imm: u32,
        site: Option<SiteId>,
    ) {
        self.code.insts.push(Inst {
            op,
            d,
            args,
            array: None,
            imm,
            site,
        });
    }

    /// Emits an operation with a result, into the given register or a new one.
    pub(super) fn emit(&mut self, op: Op, into: Option<Reg>, args: &[Arg], at: Place) -> Arg {
        let d = into.unwrap_or_else(|| {
            use crate::vir0::isa::Slot;
            let wide = matches!(op.row().d, Slot::D | Slot::OptD);
            self.reg(1 + u8::from(wide), None)
        });
        let mut all = [Arg::None; 3];
        all[..args.len()].copy_from_slice(args);
        self.push(op, Some(d), all, at.imm, at.site);
        Arg::Reg(d)
    }

    /// Emits a load of what does not change, unless it has been loaded on the way here: then its bounds are checked,
    /// too.
    pub(super) fn emit_load(&mut self, op: Op, into: Option<Reg>, index: Arg, at: Place) -> Arg {
        let key = Inst {
            op,
            d: None,
            args: [index, Arg::None, Arg::None],
            array: None,
            imm: at.imm,
            site: None,
        };
        if let Some((_, value)) = self
            .loaded
            .iter()
            .rev()
            .take(LOADS_KEPT)
            .find(|(inst, _)| *inst == key)
        {
            return *value;
        }
        let value = self.emit(op, into, &[index], at);
        if self.owner(index).is_none() && self.owner(value).is_none() {
            self.loaded.push((key, value));
        }
        value
    }

    pub(super) fn scalar_of(&self, local: LocalId) -> Scalar {
        self.body.locals[local.0 as usize]
    }

    /// The register of a local with several assignments.
    pub(super) fn own_reg(&mut self, local: LocalId) -> Reg {
        let at = local.0 as usize;
        if let Some(Arg::Reg(r)) = self.locals[at] {
            return r;
        }
        let r = self.reg(self.body.locals[at].rows(), Some(local));
        self.locals[at] = Some(Arg::Reg(r));
        r
    }

    /// The local that may assign the value's register again.
    pub(super) fn owner(&self, value: Arg) -> Option<LocalId> {
        match value {
            Arg::Reg(r) => self.owner[r.index()],
            Arg::None | Arg::Uniform(_) | Arg::Literal(..) | Arg::Slot(_) => None,
        }
    }

    pub(super) fn copy(&mut self, d: Reg, value: Arg) {
        if value != Arg::Reg(d) {
            let op = if self.code.width[d.index()] == 2 {
                Op::Mov64
            } else {
                Op::Mov32
            };
            self.push(op, Some(d), [value, Arg::None, Arg::None], 0, None);
        }
    }
}

/// Resource and site of a word.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    pub(super) imm: u32,
    pub(super) site: Option<SiteId>,
}

impl Place {
    pub(super) fn resource(id: u16, site: SiteId) -> Place {
        Place {
            imm: u32::from(id) << 16,
            site: Some(site),
        }
    }
}

/// Buffers that a block stores to, or changes atomically.
fn changed_buffers(block: &[Stmt], changed: &mut HashSet<BufferId>) {
    fn note(effect: Effect<'_>, changed: &mut HashSet<BufferId>) {
        if let Effect::Element(element) = effect
            && element.how.changes()
        {
            changed.insert(element.buffer);
        }
    }
    fn of_expr(e: &Expr, changed: &mut HashSet<BufferId>) {
        note(e.effect(), changed);
        e.operands().for_each(|x| of_expr(x, changed));
    }
    for stmt in block {
        note(stmt.effect(), changed);
        stmt.operands().for_each(|e| of_expr(e, changed));
        stmt.blocks().for_each(|b| changed_buffers(b, changed));
    }
}

pub(super) fn is_wide(scalar: Scalar) -> bool {
    scalar.rows() == 2
}
