//! May a sweep over a frontier's edges pull?
//!
//! A search pushes: every edge out of the frontier is visited, and the first one to reach a node claims it. Where
//! nearly every node is waiting to be reached it is cheaper to pull: every node that was not claimed looks at its edges
//! in, and stops at the first that comes from the frontier. Both leave the same behind if
//!
//! * the kernel knows nothing of an edge but its destination,
//! * all it does is behind one compare-and-exchange of the destination's own element, from a constant to a value that
//!   is the same for the whole sweep, and
//! * while its fixpoint runs, no other wave writes that buffer or pushes onto the frontier.
//!
//! A second visit then does nothing, so one is as good as many; a claimed node stays claimed until the fixpoint starts
//! anew, so it need not look. Nothing in such a kernel can trap: the destination is a node, and the buffer has an
//! element for each.

use crate::vir0::flow::{BlockKind, Rows, blocks, writes};
use crate::vir0::isa::{IMM, Op, UNIFORM_BASE, Word};
use crate::vir0::module::{
    Access, BufferId, Domain, Extent, FrontierId, Kernel, Mode, Program, Resource, TopologyId,
    Uniform, Wave,
};

/// How a wave claims nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The buffer with an element for each node.
    pub buffer: BufferId,
    /// Of a node that was not claimed.
    pub free: u32,
    /// Of one that was.
    pub taken: Taken,
    /// Who claims a node pushes it, once, so that what a sweep pushes is known without running the kernel.
    pub pushes: bool,
}

/// What a claim stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// A constant.
    Constant(u32),
    /// The round plus a number.
    Round(u32),
}

impl Claim {
    /// Nodes that were claimed by the end of this round, and in no later one, can be told from those that were not.
    pub fn holds_in(&self, round: u32) -> bool {
        match self.taken {
            Taken::Constant(taken) => taken != self.free,
            Taken::Round(more) => match round.checked_add(more) {
                Some(last) => !(more..=last).contains(&self.free),
                None => false,
            },
        }
    }
}

/// How a wave of a verified program claims nodes, if its sweep may pull.
pub fn claim(program: &Program, wave: &Wave) -> Option<Claim> {
    let Domain::EdgesFrom(_, frontier) = wave.domain else {
        return None;
    };
    let kernel = program.kernels.get(wave.kernel.index())?;
    let claim = read(program, kernel, frontier)?;
    let buffer = &program.buffers[claim.buffer.index()];
    let fixpoint = wave.fixpoint?;
    let swapped = program.fixpoints.iter().any(|f| {
        let mut swaps = f.swaps.iter();
        swaps.any(|&(a, b)| a == claim.buffer || b == claim.buffer)
    });
    let writes = |a: &Access| {
        a.mode != Mode::Read
            && [Resource::Buffer(claim.buffer), Resource::from(frontier)].contains(&a.resource)
    };
    let within = |w: &Wave| program.is_within(w.fixpoint, fixpoint);
    let resets = program.is_within(buffer.reset, fixpoint);
    let meddles = program
        .waves
        .iter()
        .any(|w| !std::ptr::eq(w, wave) && within(w) && w.accesses.iter().any(writes));
    (buffer.extent == Extent::Nodes
        && program.frontiers[frontier.index()].owner == Some(fixpoint)
        && !swapped
        && !resets
        && !meddles)
        .then_some(claim)
}

/// The topology with the edges into the nodes that a topology's edges lead out of, if the pass has one.
pub fn reverse(program: &Program, topology: TopologyId) -> Option<TopologyId> {
    let of = |t: TopologyId| program.topologies[t.index()].reverse_of;
    let mut all = (0..program.topologies.len() as u16).map(TopologyId);
    of(topology).or_else(|| all.find(|&t| of(t) == Some(topology)))
}

/// What a register holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    Destination,
    Known(Taken),
    /// The destination's element of a buffer.
    Seen(BufferId),
    /// That it has this value.
    Has(BufferId, u32),
    /// That this lane claimed the destination.
    Claimed,
}

/// Follows verified code once from top to bottom: no kernel with a loop or an `else` qualifies.
fn read(program: &Program, kernel: &Kernel, frontier: FrontierId) -> Option<Claim> {
    let item = &kernel.item;
    if item.index.is_some() || item.src.is_some() {
        return None;
    }
    let mut file = vec![None; kernel.rows as usize];
    *file.get_mut(item.dst? as usize)? = Some(Value::Destination);
    let blocks = blocks(&kernel.code);
    if blocks
        .iter()
        .any(|b| b.kind == BlockKind::Loop || b.otherwise.is_some())
    {
        return None;
    }
    // Conditions of the `if`s around a word.
    let mut open: Vec<Value> = Vec::new();
    let mut claim: Option<Claim> = None;
    // `if`s that were open when it was made; pushes, and whether one depends on more than the claim.
    let mut looks = 0;
    let (mut pushed, mut depends) = (0, false);
    for (pc, word) in kernel.code.iter().enumerate() {
        let at = |operand: u8| value(program, kernel, &file, (word, operand));
        let claimed = open.contains(&Value::Claimed);
        let mut result = None;
        match Op::from_code(word.op)? {
            Op::Mov32 => result = Some(at(word.a)?),
            Op::Add32 => {
                let (Value::Known(a), Value::Known(b)) = (at(word.a)?, at(word.b)?) else {
                    return None;
                };
                let sum = match (a, b) {
                    (Taken::Round(a), Taken::Constant(b))
                    | (Taken::Constant(b), Taken::Round(a)) => Taken::Round(a.checked_add(b)?),
                    _ => return None,
                };
                result = Some(Value::Known(sum));
            }
            Op::AtomLd32 if at(word.a)? == Value::Destination => {
                let buffer = BufferId(word.resource());
                // Of a shorter one, the load could trap.
                if program.buffers[buffer.index()].extent != Extent::Nodes {
                    return None;
                }
                result = Some(Value::Seen(buffer));
            }
            Op::Eq32 => {
                result = Some(match (at(word.a)?, at(word.b)?) {
                    (Value::Seen(buffer), Value::Known(Taken::Constant(x)))
                    | (Value::Known(Taken::Constant(x)), Value::Seen(buffer)) => {
                        Value::Has(buffer, x)
                    }
                    _ => return None,
                });
            }
            Op::AtomCas32 if claim.is_none() && at(word.a)? == Value::Destination => {
                let (Value::Known(Taken::Constant(free)), Value::Known(taken)) =
                    (at(word.b)?, at(word.third())?)
                else {
                    return None;
                };
                let buffer = BufferId(word.resource());
                // Looking before claiming changes nothing.
                if !open.iter().all(|c| *c == Value::Has(buffer, free)) {
                    return None;
                }
                looks = open.len();
                claim = Some(Claim {
                    buffer,
                    free,
                    taken,
                    pushes: false,
                });
                result = Some(Value::Claimed);
            }
            Op::If => match at(word.a)? {
                condition @ (Value::Has(..) | Value::Claimed) => open.push(condition),
                _ => return None,
            },
            Op::EndIf => {
                // After it, they hold one thing or the other.
                open.pop()?;
                let inside = &kernel.code[blocks.iter().find(|b| b.end == pc)?.at..pc];
                let written = inside.iter().map(writes).fold(Rows::NONE, Rows::or);
                for row in written.iter() {
                    *file.get_mut(row as usize)? = None;
                }
            }
            Op::Push
                if claimed
                    && at(word.a)? == Value::Destination
                    && word.resource() == frontier.0 =>
            {
                pushed += 1;
                // The looks before the claim may have been left since: then what is open was opened after it.
                let after = open.iter().skip(looks.min(open.len()));
                depends |= after.into_iter().any(|c| *c != Value::Claimed);
            }
            Op::Ret => {}
            _ => return None,
        }
        if let Some(result) = result
            && word.d != IMM
        {
            *file.get_mut(word.d as usize)? = Some(result);
        }
    }
    claim.map(|claim| Claim {
        pushes: pushed == 1 && !depends,
        ..claim
    })
}

fn value(
    program: &Program,
    kernel: &Kernel,
    file: &[Option<Value>],
    (word, operand): (&Word, u8),
) -> Option<Value> {
    if operand == IMM {
        return Some(Value::Known(Taken::Constant(word.imm)));
    }
    let Some(slot) = operand.checked_sub(UNIFORM_BASE) else {
        return *file.get(operand as usize)?;
    };
    match *kernel.uniforms.get(slot as usize)? {
        Uniform::Round => Some(Value::Known(Taken::Round(0))),
        Uniform::Constant(c) => {
            let bits = program.constants[c.index()].bits;
            Some(Value::Known(Taken::Constant(u32::try_from(bits).ok()?)))
        }
        _ => None,
    }
}
