//! What a session and a run are given, and the checks that it fits the program: topologies in [`TopologyArgs`], scalars
//! and inputs in [`Args`].

use crate::dsl::columns::{Column, Slice};
use crate::dsl::csr::Csr;
use crate::dsl::error::RunError;
use crate::vir0::module::{
    BufferId, Extent, Program, Role, ScalarId, Topology, TopologyId, row_words,
};
use crate::vir0::sizes::{PartSizes, Sizes};
use crate::vir0::subject::{counted, declared_size};
use std::borrow::Cow;
use std::sync::Arc;

/// What a session is created from.
#[derive(Clone, Debug, Default)]
pub struct TopologyArgs<'a> {
    /// The graphs, in topology order, without those the runtime builds (`reverse_of`).
    pub graphs: Vec<&'a Csr>,
    /// Topology buffers (edge weights).
    pub columns: Vec<(BufferId, Slice<'a>)>,
    /// Raw bits of the scalars that stay for the session. [`Args::scalars`] of each run has them too.
    pub scalars: Vec<(ScalarId, u64)>,
}

/// A topology that an executor lends, in the form in which it was given.
#[derive(Clone, Debug, Default)]
pub struct Lent<'a> {
    /// As in [`TopologyArgs::graphs`].
    pub graphs: Vec<Cow<'a, Csr>>,
    /// As in [`TopologyArgs::columns`].
    pub columns: Vec<(BufferId, Arc<Column>)>,
    /// As in [`TopologyArgs::scalars`].
    pub scalars: Vec<(ScalarId, u64)>,
}

impl Lent<'_> {
    /// What another session can be created from.
    pub fn args(&self) -> TopologyArgs<'_> {
        let columns = self.columns.iter();
        TopologyArgs {
            graphs: self.graphs.iter().map(|graph| &**graph).collect(),
            columns: columns.map(|(id, c)| (*id, c.as_slice())).collect(),
            scalars: self.scalars.clone(),
        }
    }
}

impl TopologyArgs<'_> {
    /// Sizes of the topologies, reverses included; no scalars but the session's.
    pub fn sizes(&self, program: &Program) -> Sizes {
        let mut given = self.graphs.iter();
        let mut sizes = Sizes {
            nodes: self.graphs.first().map_or(0, |g| g.node_count() as u64),
            of_session: self.scalars.clone(),
            ..Sizes::default()
        };
        for t in &program.topologies {
            let graph = t.reverse_of.is_none().then(|| given.next()).flatten();
            sizes.edges.push(graph.map_or(0, |g| g.edge_count() as u64));
        }
        for (i, t) in program.topologies.iter().enumerate() {
            if let Some(of) = t.reverse_of {
                sizes.edges[i] = sizes.edges[of.index()];
            }
        }
        let mut given = self.graphs.iter();
        let graphs = program.topologies.iter();
        let graphs = graphs.map(|t| t.reverse_of.is_none().then(|| given.next()).flatten());
        let graphs: Vec<_> = graphs.collect();
        sizes.parts = each_bounds(program)
            .map(|(id, of, _)| {
                let graph = graphs[of.index()].copied();
                part_sizes(self.bounds(id).unwrap_or_default(), graph)
            })
            .collect();
        sizes
    }

    /// The bounds of parts that were given.
    pub(crate) fn bounds(&self, id: BufferId) -> Option<&[u32]> {
        let (_, column) = self.columns.iter().find(|(b, _)| *b == id)?;
        match column {
            Slice::U32(bounds) => Some(bounds),
            _ => None,
        }
    }
}

/// What one run is given.
#[derive(Clone, Debug, Default)]
pub struct Args<'a> {
    /// Raw bits of the scalars, in scalar order.
    pub scalars: Vec<u64>,
    /// Input and in-out buffers.
    pub inputs: Vec<(BufferId, Slice<'a>)>,
}

/// Completes and checks a session's topologies: node counts agree, reverses are built, columns fit.
pub fn resolve_topologies<'a>(
    program: &Program,
    args: &TopologyArgs<'a>,
) -> Result<(Vec<Cow<'a, Csr>>, Sizes), RunError> {
    let mut given = args.graphs.iter().copied();
    let mut graphs: Vec<Option<Cow<'a, Csr>>> = program
        .topologies
        .iter()
        .map(|t: &Topology| {
            if t.reverse_of.is_some() {
                None
            } else {
                given.next().map(Cow::Borrowed)
            }
        })
        .collect();
    for (i, t) in program.topologies.iter().enumerate() {
        if let Some(of) = t.reverse_of {
            let Some(of) = &graphs[of.index()] else {
                continue;
            };
            let reverse = of.try_reverse().ok_or_else(|| no_memory_for(t, of))?;
            graphs[i] = Some(Cow::Owned(reverse));
        }
    }
    let graphs: Vec<_> = graphs
        .into_iter()
        .map(|g| g.expect("the generated glue passes every declared topology"))
        .collect();
    let nodes = graphs.first().map_or(0, |g| g.node_count() as u64);
    for (g, t) in graphs.iter().zip(&program.topologies) {
        if g.node_count() as u64 != nodes {
            return Err(RunError::NodeCount {
                name: t.name.clone(),
                first: program.topologies[0].name.clone(),
                expected: nodes,
                actual: g.node_count() as u64,
            });
        }
    }
    let topologies = program.buffers.iter();
    let topologies = topologies.filter(|b| b.role == Role::Topology);
    for buffer in topologies {
        let of_run = program.scalars_in(buffer.extent).into_iter();
        let mut of_run = of_run.filter(|s| !args.scalars.iter().any(|(id, _)| id == s));
        if let Some(scalar) = of_run.next() {
            let why = format!(
                "`{}` stays for the session, which does not say how long it is: `{}` is of each run",
                buffer.field(),
                program.scalars[scalar.index()].name,
            );
            return Err(RunError::Invalid(why));
        }
    }
    let mut parts = Vec::new();
    for (id, of, drops) in each_bounds(program) {
        let bounds = args.bounds(id).unwrap_or_default();
        let graph = &graphs[of.index()];
        check_bounds(program, (id, bounds), (of, graph), drops)?;
        parts.push(part_sizes(bounds, Some(graph)));
    }
    let sizes = Sizes {
        nodes,
        edges: graphs.iter().map(|g| g.edge_count() as u64).collect(),
        scalars: Vec::new(),
        parts,
        of_session: args.scalars.clone(),
    };
    Ok((graphs, sizes))
}

/// The buffers that bound parts: of which graph, and whether crossing edges are left out.
fn each_bounds(program: &Program) -> impl Iterator<Item = (BufferId, TopologyId, bool)> {
    let buffers = (0..=u16::MAX).map(BufferId).zip(&program.buffers);
    buffers.filter_map(|(id, b)| match b.extent {
        Extent::Bounds(_, of, drops) => Some((id, of, drops)),
        _ => None,
    })
}

/// How many parts there are, and how large the largest are.
fn part_sizes(bounds: &[u32], graph: Option<&Csr>) -> PartSizes {
    let offset = |v: u32| graph.and_then(|g| g.offsets().get(v as usize).copied());
    let mut sizes = PartSizes {
        count: bounds.len().saturating_sub(1) as u64,
        ..PartSizes::default()
    };
    for part in bounds.windows(2) {
        let [first, end] = [part[0], part[1]];
        let edges = offset(end).zip(offset(first));
        let edges = edges.map_or(0, |(end, first)| end.saturating_sub(first));
        sizes.most_nodes = sizes.most_nodes.max(end.saturating_sub(first).into());
        sizes.most_edges = sizes.most_edges.max(edges.into());
    }
    sizes
}

/// Bounds cut all nodes of a graph into ranges, and no edge that counts crosses.
fn check_bounds(
    program: &Program,
    (id, bounds): (BufferId, &[u32]),
    (of, graph): (TopologyId, &Csr),
    drops: bool,
) -> Result<(), RunError> {
    let field = program.buffers[id.index()].field();
    let name = &program.topologies[of.index()].name;
    let nodes = graph.node_count() as u32;
    let wrong = |why| {
        let name = field.to_owned();
        Err(RunError::Parts { name, why })
    };
    let (Some(&first), Some(&last)) = (bounds.first(), bounds.last()) else {
        return wrong("are not given".to_owned());
    };
    if last != nodes {
        return wrong(format!(
            "end at node {last}; `{name}` has {}",
            counted(nodes.into(), "node")
        ));
    }
    if first != 0 || !bounds.is_sorted() {
        return wrong("do not follow each other from node 0 on".to_owned());
    }
    if drops {
        return Ok(());
    }
    let offsets = graph.offsets();
    for (part, range) in bounds.windows(2).enumerate() {
        let (first, end) = (range[0], range[1]);
        let (from, to) = (offsets[first as usize], offsets[end as usize]);
        let targets = &graph.targets()[from as usize..to as usize];
        if let Some(at) = targets.iter().position(|t| !(first..end).contains(t)) {
            let edge = from as usize + at;
            let target = targets[at];
            return wrong(format!(
                "are crossed by edge {edge} of `{name}`, from part {part} to node {target}; \
                 `crossing = dropped` leaves such edges out"
            ));
        }
    }
    Ok(())
}

/// There is no memory for a copy of a graph, or its reverse.
#[cold]
pub(crate) fn no_memory_for(topology: &Topology, graph: &Csr) -> RunError {
    let bytes = 4 * (graph.offsets().len() as u64 + graph.targets().len() as u64);
    RunError::no_memory(format_args!("`{}`", topology.name), bytes)
}

/// The scalars of a run are those of the session, where it has said them: its buffers have their lengths.
fn check_scalars(program: &Program, sizes: &Sizes) -> Result<(), RunError> {
    for &(id, given) in &sizes.of_session {
        let Some(&bits) = sizes.scalars.get(id.index()) else {
            continue;
        };
        if bits != given {
            let name = program.scalars.get(id.index()).map_or("", |s| &s.name);
            let why = format!("the run has {bits} for `{name}`; the session has {given}");
            return Err(RunError::Invalid(why));
        }
    }
    Ok(())
}

/// Every computed length has a value, as far as it is known.
fn check_lengths(program: &Program, sizes: &Sizes) -> Result<(), RunError> {
    if program.lengths.is_empty() {
        return Ok(());
    }
    for (name, extent) in program.extents() {
        if let Extent::Computed(id) = extent
            && let Err(why) = sizes.computed(program, id)
        {
            return Err(RunError::NoLength {
                name: name.to_owned(),
                length: program.declared(extent),
                why: why.to_string(),
            });
        }
    }
    Ok(())
}

/// Checks a run's or session's columns against the sizes: computed lengths have a value, columns have their lengths, and
/// rows of bits have none beyond their width.
pub fn check_columns(
    program: &Program,
    sizes: &Sizes,
    columns: &[(BufferId, Slice<'_>)],
) -> Result<(), RunError> {
    check_scalars(program, sizes)?;
    check_lengths(program, sizes)?;
    for (id, column) in columns {
        let buffer = &program.buffers[id.index()];
        let expected = sizes.resolve(program, buffer.extent).unwrap_or(0);
        if column.len() as u64 != expected {
            return Err(wrong_length(program, sizes, *id, column.len()));
        }
        if let Extent::NodeBits(width) = buffer.extent
            && let Some(width) = sizes.width(program, width)
            && let Slice::U32(words) = column
            && let Some((row, bit)) = bit_outside(words, width)
        {
            return Err(RunError::RowBit {
                name: buffer.field().to_owned(),
                row,
                bit,
                width,
            });
        }
    }
    Ok(())
}

/// Checks what a run is given, for a backend that takes all of it before it runs anything: the inputs are there, each
/// with its type and length, and no size exceeds u32 indices. `sizes` has the run's scalars.
///
/// # Errors
/// What does not fit.
pub fn check_run(program: &Program, sizes: &Sizes, args: &Args<'_>) -> Result<(), RunError> {
    if args.scalars.len() != program.scalars.len() {
        return Err(RunError::Length {
            name: "scalars".to_owned(),
            expected: program.scalars.len() as u64,
            size: String::new(),
            actual: args.scalars.len() as u64,
        });
    }
    check_columns(program, sizes, &args.inputs)?;
    let fits = |name: &str, extent| match sizes.resolve(program, extent) {
        Some(len) => index_len(name, len).map(|_| ()),
        None => Ok(()),
    };
    for list in &program.lists {
        fits(&list.name, list.capacity)?;
    }
    for (id, buffer) in (0..=u16::MAX).map(BufferId).zip(&program.buffers) {
        fits(buffer.field(), buffer.extent)?;
        if matches!(buffer.role, Role::Input | Role::InOut) {
            given(program, sizes, (id, &args.inputs))?;
        }
    }
    for (id, values) in &args.inputs {
        check_type(program, *id, values)?;
    }
    for wave in &program.waves {
        if let Some(len) = wave.domain.count() {
            fits(&wave.name, len)?;
        }
    }
    Ok(())
}

/// Values have the type of their buffer.
pub(crate) fn check_type(
    program: &Program,
    id: BufferId,
    values: &Slice<'_>,
) -> Result<(), RunError> {
    let buffer = &program.buffers[id.index()];
    if buffer.scalar == values.scalar() {
        return Ok(());
    }
    Err(RunError::Invalid(format!(
        "`{}` holds {}, not {}",
        buffer.field(),
        buffer.scalar.name(),
        values.scalar().name()
    )))
}

/// A buffer that the caller fills is among these, or has no elements.
pub(crate) fn given(
    program: &Program,
    sizes: &Sizes,
    (id, columns): (BufferId, &[(BufferId, Slice<'_>)]),
) -> Result<(), RunError> {
    let buffer = &program.buffers[id.index()];
    let expected = sizes.resolve(program, buffer.extent).unwrap_or(0);
    if expected == 0 || columns.iter().any(|(b, _)| *b == id) {
        return Ok(());
    }
    Err(wrong_length(program, sizes, id, 0))
}

/// A buffer was given `actual` elements, which is another number than it has.
#[cold]
pub fn wrong_length(program: &Program, sizes: &Sizes, id: BufferId, actual: usize) -> RunError {
    let buffer = &program.buffers[id.index()];
    let expected = sizes.resolve(program, buffer.extent).unwrap_or(0);
    if buffer.is_offsets() {
        // One more than there are rows.
        let declared = match buffer.extent {
            Extent::Computed(_) => program.declared(buffer.extent),
            _ => String::new(),
        };
        return RunError::RowCount {
            name: buffer.field().to_owned(),
            expected: expected.saturating_sub(1),
            size: match declared.strip_suffix(" + 1") {
                Some(rows) => format!("per = {rows}"),
                None => String::new(),
            },
            actual: (actual as u64).saturating_sub(1),
        };
    }
    RunError::Length {
        name: buffer.field().to_owned(),
        expected,
        size: declared_size(program, sizes, buffer.extent),
        actual: actual as u64,
    }
}

/// A length of a run, which must fit u32 indices.
pub(crate) fn index_len(name: &str, len: u64) -> Result<usize, RunError> {
    if len > u64::from(u32::MAX) {
        return Err(RunError::TooLong {
            name: name.to_owned(),
            len,
        });
    }
    Ok(len as usize)
}

/// The first bit from the width on that is set in rows of bits, with its row.
fn bit_outside(words: &[u32], width: u32) -> Option<(u64, u32)> {
    let inside = width % u32::BITS;
    if inside == 0 {
        return None;
    }
    let mut rows = words.chunks_exact(row_words(width) as usize);
    let row = rows.position(|row| row.last().is_some_and(|last| last >> inside != 0))?;
    let last = words[(row + 1) * row_words(width) as usize - 1];
    Some((row as u64, width + (last >> inside).trailing_zeros()))
}
