//! Which fields of `Data` a trap is about: those that the words at its position access.
//!
//! The interpreters know the word that failed. A native fault has a position, and for rows of bits which dimension was
//! exceeded. Every field of that length that the words at the position access may be the one, and all of them are
//! named.
//!
//! A position is one operation of the source, so both name the same field. There are two exceptions. rustc gives all
//! code of a `macro_rules!` the place of the macro's call, so there a native trap may name more fields. And
//! `a.or_from(v, b, w)` is one operation on two fields: both are named everywhere.

use crate::vir0::isa::{IMM, MAX_DIRECT_UNIFORMS, Op, UNIFORM_BASE};
use crate::vir0::length::{LengthOp, Term};
use crate::vir0::module::{
    Extent, FixpointId, Kernel, KernelId, Program, QueueId, Resource, SiteId, Uniform, Width,
    row_words,
};
use crate::vir0::scalar::Scalar;
use crate::vir0::sizes::Sizes;
use crate::vir0::trap::{Subject, TrapKind};

/// What an index that is out of bounds is an index of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A buffer, or the nodes or edges of a topology.
    Whole,
    /// Rows of bits: the node.
    Row,
    /// Rows of bits: the bit.
    Bit,
    /// Rows of bits: the word.
    Word,
    /// Something that there is for each node: a row of bits, or an element of structs.
    Node,
    /// Rows of bits: the bit or the word; or an element of structs.
    Inside,
    /// Rows of values, or of a graph: the place in the row.
    Place,
    /// By a length that was worked out: rows of bits, the bit or the word; an element of structs or arrays; a place in
    /// a row.
    Computed,
    /// Not known.
    Any,
    /// An array: a local one, which is no field, or the item's own array or row of a buffer.
    Array,
}

impl Dimension {
    /// Whether no field but rows of bits can be meant, and by an array's only one that has as many values for each item.
    fn is_of_bits(self) -> bool {
        match self {
            Dimension::Row | Dimension::Bit | Dimension::Word | Dimension::Array => true,
            Dimension::Whole
            | Dimension::Node
            | Dimension::Inside
            | Dimension::Place
            | Dimension::Computed
            | Dimension::Any => false,
        }
    }
}

/// How much is known of where a fault happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The word.
    Word,
    /// The position in the source, which several words can have, and what was indexed there.
    Place(Dimension),
}

/// A fault, as far as its subject depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Failed {
    /// What went wrong.
    pub kind: TrapKind,
    /// The length or capacity that was exceeded.
    pub len: u64,
    /// What the word of the fault stands for.
    pub seen: Seen,
}

/// What the check at a word was of.
fn checked(kernel: &Kernel, pc: u32) -> Dimension {
    let Some(word) = kernel.code.get(pc as usize) else {
        return Dimension::Any;
    };
    if Op::from_code(word.op) != Some(Op::Check) {
        return Dimension::Whole;
    }
    // The check of a node is against their number. A uniform that has no slot of its own was loaded, and is not seen.
    let slot = word.b.checked_sub(UNIFORM_BASE).map(usize::from);
    match slot.and_then(|slot| kernel.uniforms.get(slot)) {
        Some(Uniform::Nodes) => Dimension::Node,
        Some(_) => Dimension::Inside,
        None if word.b == IMM => Dimension::Inside,
        None if kernel.uniforms.len() <= MAX_DIRECT_UNIFORMS => Dimension::Computed,
        None => Dimension::Any,
    }
}

/// What a fault at word `pc` of a kernel was about.
pub fn subject_of(
    program: &Program,
    sizes: &Sizes,
    (kernel, pc): (KernelId, u32),
    failed: Failed,
) -> Option<Subject> {
    let Failed { kind, len, seen } = failed;
    let kernel = &program.kernels[kernel.index()];
    let at = kernel.sites.binary_search_by_key(&pc, |&(pc, _)| pc).ok()?;
    let site = kernel.sites[at].1;
    let (place, dimension) = match seen {
        Seen::Word => (None, checked(kernel, pc)),
        Seen::Place(dimension) => (program.sites.get(site.index()), dimension),
    };
    let here = |other: SiteId| {
        other == site || place.is_some() && program.sites.get(other.index()) == place
    };
    let mut found: Option<Subject> = None;
    for (pc, _) in kernel.sites.iter().filter(|&&(_, s)| here(s)) {
        let Some(word) = kernel.code.get(*pc as usize) else {
            continue;
        };
        let (Some(op), Some(resource)) = (Op::from_code(word.op), word.names()) else {
            continue;
        };
        let size = match kind {
            TrapKind::IndexOutOfBounds => length(program, sizes, (op, resource), (len, dimension)),
            TrapKind::FrontierOverflow | TrapKind::ListOverflow | TrapKind::RelationOverflow => {
                capacity(program, resource)
            }
            _ => None,
        };
        let Some(size) = size else { continue };
        let field = program.field_of(resource).to_owned();
        match &mut found {
            None => {
                found = Some(Subject {
                    fields: vec![field],
                    size,
                });
            }
            Some(subject) if subject.fields.contains(&field) => {}
            Some(subject) => {
                subject.fields.push(field);
                // Of one length, but declared differently.
                if subject.size != size {
                    subject.size = format!("{} or {size}", subject.size);
                }
            }
        }
    }
    found
}

/// The size that an index was too large for, if it is this long and can be what was indexed.
fn length(
    program: &Program,
    sizes: &Sizes,
    (op, resource): (Op, Resource),
    (len, dimension): (u64, Dimension),
) -> Option<String> {
    let nodes = || (len == sizes.nodes).then(|| counted(len, "node"));
    // Nothing of a graph is checked against a length that was worked out, but places in rows.
    let in_row = matches!(dimension, Dimension::Place | Dimension::Computed);
    let extent = match resource {
        Resource::Buffer(b) => program.buffers[b.index()].extent,
        Resource::Queue(QueueId::List(_)) | Resource::Reduction(_) => return None,
        Resource::Topology(_) | Resource::Queue(_) if dimension.is_of_bits() || in_row => {
            return None;
        }
        Resource::Topology(t) if op == Op::CsrTarget => {
            let edges = sizes.edges.get(t.index()) == Some(&len);
            return edges.then(|| counted(len, "edge"));
        }
        Resource::Topology(_) | Resource::Queue(QueueId::Frontier(_)) => return nodes(),
    };
    // An own array is checked against a number, at the place where its value is loaded or stored.
    if matches!(dimension, Dimension::Inside | Dimension::Array)
        && has_factor(program, sizes, extent, len)
    {
        return Some(format!("{} each", counted(len, "value")));
    }
    if let Extent::NodeBits(width) = extent {
        let bits = sizes.width(program, width)?;
        let row = || nodes().map(|nodes| format!("per = node, {nodes}"));
        let bit = || {
            (len == u64::from(bits)).then(|| match width {
                Width::Fixed(_) => format!("bits = {len}"),
                Width::Constant(_) => counted(len, "bit"),
                Width::Scalar(s) => {
                    let name = &program.scalars[s.index()].name;
                    format!("bits = {name}, {name} = {len}")
                }
            })
        };
        let word = || (len == u64::from(row_words(bits))).then(|| counted(len, "word"));
        let sizes: Vec<String> = match dimension {
            Dimension::Whole | Dimension::Array | Dimension::Place => return None,
            Dimension::Row | Dimension::Node => row().into_iter().collect(),
            Dimension::Bit => bit().into_iter().collect(),
            Dimension::Word => word().into_iter().collect(),
            // A row of one bit has one word: its width says both.
            Dimension::Inside | Dimension::Computed => bit().or_else(word).into_iter().collect(),
            Dimension::Any => row().into_iter().chain(bit().or_else(word)).collect(),
        };
        return (!sizes.is_empty()).then(|| sizes.join(" or "));
    }
    if dimension.is_of_bits() {
        return None;
    }
    if let Resource::Buffer(b) = resource
        && program.buffers[b.index()].is_offsets()
    {
        if dimension == Dimension::Place {
            return None;
        }
        return (sizes.resolve(program, extent)? == len + 1).then(|| counted(len, "row"));
    }
    if in_row && are_rows(program, extent) {
        return Some(format!("a row of {}", counted(len, "value")));
    }
    if dimension == Dimension::Place {
        return None;
    }
    let all = sizes.resolve(program, extent)?;
    let by_arrays = matches!(
        dimension,
        Dimension::Whole | Dimension::Computed | Dimension::Any
    );
    if all == len {
        Some(declared(program, extent, len))
    } else if by_arrays && arrays(program, extent, all) == Some(len) {
        Some(counted(len, "array"))
    } else {
        None
    }
}

/// Whether a buffer of this length has an element for each value of rows of differing lengths.
fn are_rows(program: &Program, extent: Extent) -> bool {
    match extent {
        Extent::Scalar(s) => program.scalars[s.index()].counts_values(),
        Extent::Fixed(_)
        | Extent::Constant(_)
        | Extent::Nodes
        | Extent::Edges(_)
        | Extent::NodesPlusEdges
        | Extent::NodesTimes(_)
        | Extent::NodeBits(_)
        | Extent::Computed(_)
        | Extent::Bounds(..) => false,
    }
}

/// Whether a length is computed from this number.
fn has_factor(program: &Program, sizes: &Sizes, extent: Extent, len: u64) -> bool {
    let Extent::Computed(id) = extent else {
        return false;
    };
    let length = program.lengths.get(id.index());
    let is_len = |term: &Term| match term {
        Term::Value(value @ (Extent::Fixed(_) | Extent::Constant(_))) => {
            sizes.resolve(program, *value) == Some(len)
        }
        Term::Value(_) | Term::Op(_) => false,
    };
    length.is_some_and(|length| length.terms.iter().any(is_len))
}

/// How many elements a buffer has if these are arrays: its length is computed as theirs, times the length of an array.
fn arrays(program: &Program, extent: Extent, all: u64) -> Option<u64> {
    let Extent::Computed(id) = extent else {
        return None;
    };
    match &program.lengths.get(id.index())?.terms[..] {
        [.., Term::Value(Extent::Fixed(n)), Term::Op(LengthOp::Mul)] => all.checked_div(*n),
        _ => None,
    }
}

/// How a length is declared that is not one of rows of bits, with its value.
fn declared(program: &Program, extent: Extent, len: u64) -> String {
    match extent {
        Extent::Fixed(_) => format!("per = {len}"),
        Extent::Computed(_) => {
            let length = program.declared(extent);
            format!("per = {length}, {}", counted(len, "element"))
        }
        Extent::Constant(_)
        | Extent::NodesPlusEdges
        | Extent::NodesTimes(_)
        | Extent::NodeBits(_)
        | Extent::Bounds(..) => counted(len, "element"),
        // The caller of a `#[kernel]` declares no lengths.
        Extent::Scalar(s) if program.scalars[s.index()].is_length() => counted(len, "element"),
        Extent::Scalar(s) => {
            let name = &program.scalars[s.index()].name;
            format!("per = {name}, {name} = {len}")
        }
        Extent::Nodes => format!("per = node, {}", counted(len, "node")),
        Extent::Edges(t) => {
            let graph = &program.topologies[t.index()].name;
            format!("per = edge({graph}), {}", counted(len, "edge"))
        }
    }
}

/// How the length of a buffer is declared, with its value; nothing where the number says it all.
pub fn declared_size(program: &Program, sizes: &Sizes, extent: Extent) -> String {
    let len = sizes.resolve(program, extent).unwrap_or(0);
    match extent {
        Extent::Fixed(_) | Extent::Constant(_) => String::new(),
        Extent::Scalar(s) if program.scalars[s.index()].is_length() => String::new(),
        Extent::NodeBits(width) => {
            let words = sizes.width(program, width).map_or(0, row_words);
            let (nodes, words) = (counted(sizes.nodes, "node"), counted(words.into(), "word"));
            format!("per = node, {nodes} of {words}")
        }
        Extent::Scalar(_)
        | Extent::Nodes
        | Extent::Edges(_)
        | Extent::NodesPlusEdges
        | Extent::NodesTimes(_)
        | Extent::Computed(_)
        | Extent::Bounds(..) => declared(program, extent, len),
    }
}

pub(crate) fn counted(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// What a capacity is declared as.
fn capacity(program: &Program, resource: Resource) -> Option<String> {
    let extent = match resource {
        Resource::Queue(q) => program.queue(q)?.capacity,
        Resource::Buffer(_) | Resource::Topology(_) | Resource::Reduction(_) => return None,
    };
    Some(match extent {
        // Nothing that the number does not say.
        Extent::Fixed(_) | Extent::Constant(_) | Extent::NodeBits(_) | Extent::Bounds(..) => {
            String::new()
        }
        Extent::Scalar(s) => program.scalars[s.index()].name.clone(),
        Extent::Nodes => "nodes".to_owned(),
        Extent::Edges(t) => format!("edges of `{}`", program.topologies[t.index()].name),
        Extent::NodesPlusEdges => "nodes + edges".to_owned(),
        Extent::NodesTimes(times) => format!("nodes x {times}"),
        Extent::Computed(_) => program.declared(extent),
    })
}

/// The type of the first field of the items that a kernel sweeps, where they have fields.
pub fn item_type(program: &Program, kernel: KernelId) -> Option<Scalar> {
    let wave = program.waves.iter().find(|w| w.kernel == kernel)?;
    wave.domain.fields(program).first().copied()
}

/// What the condition of a fixpoint looks at, in words, when its rounds ran out. `value`: raw bits of a uniform, or
/// `None` for what is not worth telling or not known.
pub fn unfinished(
    program: &Program,
    fixpoint: FixpointId,
    value: impl Fn(Uniform) -> Option<u64>,
) -> Option<String> {
    let until = program.fixpoints[fixpoint.index()].until;
    let mut told: Vec<String> = Vec::new();
    for &uniform in &program.kernels[until.index()].uniforms {
        let Some(bits) = value(uniform) else { continue };
        let holds = |what: &str, name: &str| match bits {
            0 => format!("{what} `{name}` holds no items"),
            1 => format!("{what} `{name}` holds 1 item"),
            n => format!("{what} `{name}` holds {n} items"),
        };
        let words = match uniform {
            Uniform::Len(q) => holds(program.word_of(q), program.name_of(q.into())),
            Uniform::Reduction(r) => {
                let reduction = &program.reductions[r.index()];
                let value = reduction.scalar.show(bits);
                format!("reduction `{}` is {value}", reduction.name)
            }
            Uniform::Scalar(s) => {
                let scalar = &program.scalars[s.index()];
                format!("`{}` is {}", scalar.name, scalar.scalar.show(bits))
            }
            Uniform::Constant(_) | Uniform::Round | Uniform::OuterRound(_) => continue,
            Uniform::Began(_) | Uniform::Nodes => continue,
        };
        if !told.contains(&words) {
            told.push(words);
        }
    }
    (!told.is_empty()).then(|| told.join(", "))
}
