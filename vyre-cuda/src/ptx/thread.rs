//! Bodies in thread form, for rounds that an operator runs by itself: each lane has one item, goes its own way by
//! ordinary branches, and gives back what it wants to push. The operator pushes for the whole warp afterwards, and tells
//! of faults, so that its own protocol stands in one place and nothing in a body waits for other lanes.
//!
//! It is the masked form with one item a lane whose votes ask this lane alone. What needs the whole warp, or several
//! turns, has no thread form: [`Refused`] says what that is.

use super::body::{Body, Index, Items};
use crate::image::Layout;
use std::fmt::{self, Write};
use vyre_core::vir0::flow::{effect, op};
use vyre_core::vir0::isa::{Effect, Op};
use vyre_core::vir0::module::{Kernel, Program, Uniform};
use vyre_core::vir0::trap::TrapKind;

/// Pushes that a body may have in its text: as many nodes as an operator takes from a lane.
pub(crate) const SITES: usize = 3;

/// What the operator's registers are called within a body: what it is given, and what it gives back.
///
/// `%out_flags`: a bit for each site that pushes, or [`FAULTED`]. `%out_0` and on: the node of each site; of a fault, the
/// pc and the kind, the index, and the length.
pub(crate) const GIVEN: [&str; 5] = ["%in_mask", "%in_item", "%in_src", "%in_dst", "%in_round"];
pub(crate) const BACK: [&str; 4] = ["%out_flags", "%out_0", "%out_1", "%out_2"];
/// The bit of `%out_flags` that says that the item faulted.
pub(crate) const FAULTED: u32 = 1 << 31;

/// A body in thread form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    /// What stands where the hole is, between braces.
    pub(crate) text: String,
    /// By site, the frontier that it pushes to.
    pub(crate) sites: Vec<u16>,
}

/// Why a kernel has no thread form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Loop,
    Array,
    List,
    Reduction,
    Sites,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Loop => write!(f, "it has a loop"),
            Refused::Array => write!(f, "it has a local array"),
            Refused::List => write!(f, "it appends to a list or pushes items with fields"),
            Refused::Reduction => write!(f, "it reduces"),
            Refused::Sites => write!(f, "it pushes at more than {SITES} places"),
        }
    }
}

/// By site of a kernel's pushes, the frontier; if it has a thread form.
pub(crate) fn sites(kernel: &Kernel) -> Result<Vec<u16>, Refused> {
    let mut sites = Vec::new();
    for word in &kernel.code {
        match effect(word) {
            Effect::Open if op(word) == Op::Loop => return Err(Refused::Loop),
            Effect::RowLoad | Effect::RowStore | Effect::RowFill => return Err(Refused::Array),
            Effect::Reserve | Effect::Field => return Err(Refused::List),
            Effect::Reduce => return Err(Refused::Reduction),
            Effect::Push => sites.push(word.resource()),
            Effect::No | Effect::Ask | Effect::Load | Effect::Store => {}
            Effect::AtomicLoad | Effect::AtomicStore | Effect::Update | Effect::Exchange => {}
            Effect::Open | Effect::Turn | Effect::Close => {}
            Effect::MayLeave | Effect::Leave | Effect::End => {}
        }
    }
    match sites.len() > SITES {
        true => Err(Refused::Sites),
        false => Ok(sites),
    }
}

/// The body of a kernel.
pub(crate) fn body(program: &Program, layout: &Layout, id: usize) -> Result<Thread, Refused> {
    let sites = sites(&program.kernels[id])?;
    let mut body = Body::new((program, layout), id, 1, Items::Tile);
    body.sites = Some(0);
    body.begin_thread();
    body.code();
    Ok(Thread {
        text: body.thread_text(),
        sites,
    })
}

impl Thread {
    /// The text that takes the place of a hole, whose registers are these.
    pub(crate) fn filled(&self, given: &[&str], back: &[&str]) -> String {
        let mut out = String::from("\t{\n");
        let mut put = |line: String| out += &format!("\t{line};\n");
        put(format!(
            ".reg .b32 {}, {}",
            GIVEN.join(", "),
            BACK.join(", ")
        ));
        for (to, from) in GIVEN.iter().zip(given) {
            put(format!("mov.b32 {to}, {from}"));
        }
        out += "\t{\n";
        out += &self.text;
        out += "\t}\n";
        for (to, from) in back.iter().zip(BACK) {
            out += &format!("\tmov.b32 {to}, {from};\n");
        }
        out + "\t}\n"
    }
}

impl Body<'_> {
    fn begin_thread(&mut self) {
        for back in BACK {
            self.put(format!("mov.b32 {back}, 0"));
        }
        self.load_uniforms();
        self.put("setp.ne.s32 %a0_0, %in_mask, 0");
        let item = self.kernel.item;
        for (row, given) in [item.index, item.src, item.dst]
            .into_iter()
            .zip(&GIVEN[1..])
        {
            if let Some(row) = row {
                self.put(format!("mov.b32 %w{row}_0, {given}"));
            }
        }
        self.prove_items();
    }

    /// The lane's own branches need not be those of its warp.
    fn thread_text(self) -> String {
        let (end, done) = (self.body_end(), format!("$B{}", self.id));
        let mut out = self.declarations();
        out += &self.out;
        writeln!(out, "{end}:\n\tbra {done};").expect("writing to a string succeeds");
        out += &self.cold;
        writeln!(out, "{done}:").expect("writing to a string succeeds");
        out.replace("bra.uni", "bra").replace("call.uni", "call")
    }

    /// Whether the uniform in a slot is what the operator gives.
    pub(super) fn is_given(&self, slot: u32) -> bool {
        self.sites.is_some() && self.kernel.uniforms[slot as usize] == Uniform::Round
    }

    /// What the next site pushes, if this lane comes there.
    pub(super) fn give_back(&mut self, site: usize, node: &str) {
        let active = self.active(0);
        self.put(format!("@{active} mov.b32 {}, {node}", BACK[1 + site]));
        let flags = BACK[0];
        self.put(format!("@{active} or.b32 {flags}, {flags}, {}", 1 << site));
        self.sites = Some(site + 1);
    }

    /// A lane with a bad item gives that back, and is done.
    pub(super) fn give_fault(&mut self, bad: &str, kind: TrapKind, index: Index, len: &str) {
        let cold = self.new_label();
        self.put(format!("@{bad} bra.uni {cold}"));
        self.is_cold = true;
        self.label(&cold);
        self.mark();
        let (index, len) = match index {
            Index::No => ("0".to_owned(), "0".to_owned()),
            Index::A => (self.get32(self.kernel.code[self.pc].a, 0), len.to_owned()),
            Index::Registers(values, lens) => (values[0].clone(), lens[0].clone()),
        };
        let kind = (self.pc as u32) << 8 | kind as u32;
        let of = [FAULTED.to_string(), kind.to_string(), index, len];
        for (back, of) in BACK.iter().zip(of) {
            self.put(format!("mov.b32 {back}, {of}"));
        }
        let end = self.body_end();
        self.put(format!("bra.uni {end}"));
        self.is_cold = false;
    }
}
