//! What a trap was about: the fields of `Data` that the words at its position access.
//!
//! A native fault has a position, not a word, so what is said depends on the position, the kind and the length alone, and is
//! the same on every backend. Where a position has words on several fields of one length (`a.or_from(v, b, w)`), all are
//! named.

use crate::exec::Sizes;
use crate::isa::{Imm, Kind, Op, Word};
use crate::module::{
    BufferId, Extent, FrontierId, KernelId, ListId, Program, Resource, TopologyId, Width, row_words,
};
use crate::trap::{Subject, TrapKind};

/// What a word of a kernel accesses, except reductions, which have no size.
fn resource(word: &Word) -> Option<(Op, Resource)> {
    let op = Op::from_code(word.op)?;
    let (Imm::Resource(kind) | Imm::ResourceThird(kind) | Imm::Field(kind, _)) = op.row().imm
    else {
        return None;
    };
    let id = word.resource();
    let resource = match kind {
        Kind::Buffer8 | Kind::Buffer32 | Kind::Buffer64 | Kind::BufferOf(_) | Kind::Buffer => {
            Resource::Buffer(BufferId(id))
        }
        Kind::Topology => Resource::Topology(TopologyId(id)),
        Kind::Frontier | Kind::ItemFrontier => Resource::Frontier(FrontierId(id)),
        Kind::List => Resource::List(ListId(id)),
        Kind::Reduction32 | Kind::Reduction64 => return None,
    };
    Some((op, resource))
}

/// What a fault at word `pc` of a kernel was about, by its kind and length.
pub fn subject_of(
    program: &Program,
    sizes: &Sizes,
    (kernel, pc): (KernelId, u32),
    (kind, len): (TrapKind, u64),
) -> Option<Subject> {
    let kernel = &program.kernels[kernel.index()];
    let at = kernel.sites.binary_search_by_key(&pc, |&(pc, _)| pc).ok()?;
    let site = kernel.sites[at].1;
    let mut found: Option<Subject> = None;
    for (pc, _) in kernel.sites.iter().filter(|&&(_, s)| s == site) {
        let Some((op, resource)) = kernel.code.get(*pc as usize).and_then(resource) else {
            continue;
        };
        let size = match kind {
            TrapKind::IndexOutOfBounds => length(program, sizes, (op, resource), len),
            TrapKind::FrontierOverflow | TrapKind::ListOverflow => capacity(program, resource),
            _ => None,
        };
        let Some(size) = size else { continue };
        // The arrays of a field of structs are named after it.
        let name = program.name_of(resource);
        let field = name.split('.').next().unwrap_or(name).to_owned();
        match &mut found {
            None => {
                found = Some(Subject {
                    fields: vec![field],
                    size,
                });
            }
            Some(subject) if !subject.fields.contains(&field) => subject.fields.push(field),
            Some(_) => {}
        }
    }
    found
}

/// The size that an index was too large for, if it is this long.
fn length(
    program: &Program,
    sizes: &Sizes,
    (op, resource): (Op, Resource),
    len: u64,
) -> Option<String> {
    let nodes = || (len == sizes.nodes).then(|| format!("{len} nodes"));
    let b = match resource {
        Resource::Buffer(b) => b,
        Resource::Topology(_) if op != Op::CsrTarget => return nodes(),
        Resource::Topology(t) => {
            let edges = sizes.edges.get(t.index()) == Some(&len);
            return edges.then(|| format!("{len} edges"));
        }
        Resource::Frontier(_) => return nodes(),
        Resource::List(_) | Resource::Reduction(_) => return None,
    };
    let extent = program.buffers[b.index()].extent;
    if let Extent::NodeBits(width) = extent {
        let bits = sizes.width(program, width)?;
        return if len == u64::from(bits) {
            Some(match width {
                Width::Fixed(_) => format!("bits = {len}"),
                Width::Constant(_) => format!("{len} bits"),
                Width::Scalar(s) => {
                    let name = &program.scalars[s.index()].name;
                    format!("bits = {name}, {name} = {len}")
                }
            })
        } else if len == u64::from(row_words(bits)) {
            Some(format!("{len} words"))
        } else {
            nodes().map(|nodes| format!("per = node, {nodes}"))
        };
    }
    (sizes.resolve(program, extent)? == len).then(|| match extent {
        Extent::Fixed(_) => format!("per = {len}"),
        Extent::Constant(_) | Extent::NodesPlusEdges | Extent::NodeBits(_) => {
            format!("{len} elements")
        }
        Extent::Scalar(s) => {
            let name = &program.scalars[s.index()].name;
            format!("per = {name}, {name} = {len}")
        }
        Extent::Nodes => format!("per = node, {len} nodes"),
        Extent::Edges(t) => {
            let graph = &program.topologies[t.index()].name;
            format!("per = edge({graph}), {len} edges")
        }
    })
}

/// What a capacity is declared as.
fn capacity(program: &Program, resource: Resource) -> Option<String> {
    let extent = match resource {
        Resource::Frontier(f) => program.frontiers[f.index()].capacity,
        Resource::List(l) => program.lists[l.index()].capacity,
        Resource::Buffer(_) | Resource::Topology(_) | Resource::Reduction(_) => return None,
    };
    Some(match extent {
        // Nothing that the number does not say.
        Extent::Fixed(_) | Extent::Constant(_) | Extent::NodeBits(_) => String::new(),
        Extent::Scalar(s) => program.scalars[s.index()].name.clone(),
        Extent::Nodes => "nodes".to_owned(),
        Extent::Edges(t) => format!("edges of `{}`", program.topologies[t.index()].name),
        Extent::NodesPlusEdges => "nodes + edges".to_owned(),
    })
}
