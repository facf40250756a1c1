//! Where everything lies: four storage buffers of u32 words, one of u64 where a pass needs 64-bit atomics, and a
//! uniform that says what is where in them.
//!
//! | binding | name | holds |
//! | --- | --- | --- |
//! | 0 | `params` | the uniform: places, lengths, scalars, the round |
//! | 1 | `fixed` | what the host gives and nothing changes: topologies, inputs |
//! | 2 | `plain` | what items change, each its own element: outputs, scratch, items of frontiers and lists |
//! | 3 | `cells` | what is changed atomically, or by several items |
//! | 4 | `control` | counts, reductions, the trap; behind them the records of workgroups |
//! | 5 | `wide` | what is changed by 64-bit atomics |
//! | 6 | `dispatches` | where a group of a round ends: workgroups of the next sweeps |
//! | 7 | `blocks` | there: the uniforms of these |
//!
//! Places follow each other in the order of the table. They depend on the sizes of a run, so that the host computes
//! them ([`crate::plan`]); a shader adds them to its indices.

use crate::Options;
use crate::ir::{PULL_CELLS, STAGED_HEAD};
use std::collections::{BTreeSet, HashMap, HashSet};
use vyre_core::plan::shaders::{
    EXACT_WORDS, Pulling, Target, WORKGROUP, float_bits, is_stamped, outer_rounds, pulling,
    record_words, shared_loop, sweep_words, uniform_words, wide_buffers,
};
use vyre_core::vir0::flow::op;
use vyre_core::vir0::isa::Op;
use vyre_core::vir0::module::{
    Agreement, BufferId, Domain, Extent, FixpointId, FrontierId, Program, ReduceOp, Resource, Role,
    TopologyId, WaveId, Width,
};
use vyre_core::vir0::scalar::Scalar;

/// A storage buffer of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Arena {
    /// Read only.
    Fixed,
    /// Changed by plain stores.
    Plain,
    /// Changed atomically.
    Cells,
    /// Changed by atomics on 64 bits.
    Wide,
}

impl Arena {
    /// Every one, in the order of their bindings.
    pub(crate) const ALL: [Arena; 4] = [Arena::Fixed, Arena::Plain, Arena::Cells, Arena::Wide];

    /// As shaders call it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Arena::Fixed => "fixed",
            Arena::Plain => "plain",
            Arena::Cells => "cells",
            Arena::Wide => "wide",
        }
    }

    /// Its binding in group 0.
    pub(crate) const fn binding(self) -> u32 {
        match self {
            Arena::Fixed => 1,
            Arena::Plain => 2,
            Arena::Cells => 3,
            Arena::Wide => 5,
        }
    }
}

/// What lies in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Piece {
    /// First edges of a topology's nodes, and the number of its edges.
    Offsets(u16),
    /// Targets of a topology's edges.
    Targets(u16),
    /// A buffer.
    Buffer(u16),
    /// A field of a frontier's items; 0 for nodes.
    Items(u16, u16),
    /// The flip of the frontier that each node was pushed behind last.
    Seen(u16),
    /// A field of a list's items.
    Field(u16, u16),
}

/// A number of words, or another length, in postfix order.
pub(crate) type Length = Vec<Term>;

/// Part of a [`Length`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Term {
    Number(u64),
    Nodes,
    Edges(u16),
    Scalar(u16),
    /// `+`, `-`, `*`, `/`, `%` or `min`.
    Op(&'static str),
    /// Words of this many bits.
    Words,
}

/// A place in an arena.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) arena: Arena,
    pub(crate) words: Length,
}

/// What a word of the uniform is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ParamOf {
    /// Where a place begins.
    Place(usize),
    /// A length.
    Length(Length),
    /// The most edges that a node of a topology has.
    Degree(u16),
    /// A half of a scalar.
    Scalar(u16, u32),
    /// Bits that no shader has as a literal.
    Bits(u32),
    Round,
    /// The round of a fixpoint around the innermost one.
    RoundOf(FixpointId),
    /// Turns of loops that an invocation may take.
    Turns,
    /// Workgroups of the wave.
    Groups,
    /// Not 0: nodes that are pushed are stamped, and their edges counted, because sweeps may pull.
    Pulls,
    /// Where a fill begins, its elements, the words of one, and its halves.
    Fill(u32),
}

/// A word of the uniform.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) of: ParamOf,
}

/// What a word of the control buffer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Held {
    /// 1: the run has ended in a trap, or in an overflow.
    Status,
    /// Of a condition: 0 again, 1 done, 2 a fault.
    Verdict,
    /// The wave of the lowest fault so far.
    TrapWave,
    /// A word of it.
    Trap(u32),
    /// Items of a frontier that are swept.
    Len(u16),
    /// Items that were pushed.
    Tail(u16),
    /// Which side is swept.
    Side(u16),
    /// The number of its flips, from 1.
    Epoch(u16),
    /// Items of a list that are swept.
    ListLen(u16),
    /// Items that were appended.
    ListTail(u16),
    /// Items of a list when the round of a fixpoint began: the fixpoint, and the list.
    Began(u16, u16),
    /// Items that a wave has swept.
    Swept(u16),
    /// Workgroups that left a fault, since a sweep was closed.
    Faulted,
    /// Edges out of what sweeps that may pull have pushed onto a frontier.
    Edges(u16),
    /// Those of all that were swept since the host looked.
    Explored(u16),
    /// Not 0: a topology has an edge without its opposite.
    Lopsided(u16),
    /// A half of a reduction's value.
    Total(u16, u32),
    /// A word of an exact sum before it is rounded.
    Exact(u16, u32),
}

/// A word of the control buffer.
#[derive(Clone, Debug)]
pub(crate) struct ControlWord {
    pub(crate) name: String,
    pub(crate) of: Held,
    pub(crate) atomic: bool,
}

/// The layout of a pass.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) places: Vec<Place>,
    pub(crate) params: Vec<Param>,
    pub(crate) control: Vec<ControlWord>,
    pieces: HashMap<Piece, usize>,
    arenas: Vec<Arena>,
    waves: Vec<String>,
    fixpoints: Vec<String>,
    reductions: Vec<String>,
    frontiers: Vec<String>,
    topologies: Vec<String>,
    bits: HashMap<u32, u32>,
    words: HashMap<Held, u32>,
    lens: HashMap<(Kind, u16), u32>,
    at: Vec<u32>,
    /// The word of the uniform that says whether sweeps may pull, where one may.
    pub(crate) pulls: u32,
    options: Options,
    /// By wave.
    lanes: Vec<u32>,
    staged: Vec<u32>,
    pulling: Vec<Option<Pulling>>,
    /// By frontier.
    unique: Vec<bool>,
}

/// The most invocations that a workgroup can have which share out what a wave's items have, of those that there may be.
pub(crate) fn widest(program: &Program, id: WaveId, options: Options) -> Option<u32> {
    let fits = |of: &u32| *of <= options.lanes && sweep_words(program, id, *of) <= options.words;
    [1024, 256, WORKGROUP].into_iter().find(fits)
}

fn lanes(program: &Program, id: WaveId, options: Options) -> u32 {
    let shares = match program.waves[id.index()].domain {
        Domain::EdgesFrom(..) => options.shares_edges,
        _ => shared_loop(program, id).is_some(),
    };
    let widest = shares.then(|| widest(program, id, options));
    widest.flatten().unwrap_or(WORKGROUP)
}

/// The frontiers that a wave pushes nodes onto.
fn pushed(program: &Program, id: WaveId) -> Vec<u16> {
    let kernel = program.waves[id.index()].kernel;
    let words = program.kernels[kernel.index()].code.iter();
    let pushes = words.filter(|word| op(word) == Op::Push);
    let frontiers: BTreeSet<u16> = pushes.map(|word| word.resource()).collect();
    frontiers.into_iter().collect()
}

fn staged(program: &Program, id: WaveId, (lanes, options): (u32, Options)) -> u32 {
    let most = (4 * lanes).max(512);
    let frontiers = pushed(program, id).len() as u32;
    let staged = frontiers * (most + STAGED_HEAD + 1);
    let words = sweep_words(program, id, lanes) + staged + PULL_CELLS;
    if words <= options.words { most } else { 0 }
}

/// Invocations that look at records, where there may be so many.
const GATHERERS: u32 = 256;

/// What has a length in the uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Nodes,
    Edges,
    /// The most edges of a node.
    Degree,
    Buffer,
    Frontier,
    List,
    Wave,
    ScalarLow,
    ScalarHigh,
    /// The round of a fixpoint.
    Round,
}

/// Words of an element.
pub(crate) fn words_of(scalar: Scalar) -> u32 {
    scalar.rows().into()
}

/// A length of the program.
pub(crate) fn length(program: &Program, extent: Extent) -> Length {
    match extent {
        Extent::Fixed(n) => vec![Term::Number(n)],
        Extent::Constant(c) => vec![Term::Number(program.constants[c.index()].bits)],
        Extent::Scalar(s) => vec![Term::Scalar(s.0)],
        Extent::Nodes => vec![Term::Nodes],
        Extent::Edges(t) => vec![Term::Edges(t.0)],
        Extent::NodesPlusEdges => {
            let edges = (0..program.topologies.len() as u16).map(Term::Edges);
            let edges = edges.flat_map(|edges| [edges, Term::Op("+")]);
            [Term::Nodes].into_iter().chain(edges).collect()
        }
        Extent::NodesTimes(1) => vec![Term::Nodes],
        Extent::NodesTimes(number) => {
            let mut least = times(vec![Term::Nodes], number.into());
            least.extend(length(program, Extent::NodesPlusEdges));
            least.push(Term::Op("min"));
            least
        }
        Extent::NodeBits(width) => {
            let width = match width {
                Width::Fixed(bits) => Term::Number(bits.into()),
                Width::Constant(c) => Term::Number(program.constants[c.index()].bits),
                Width::Scalar(s) => Term::Scalar(s.0),
            };
            vec![Term::Nodes, width, Term::Words, Term::Op("*")]
        }
        Extent::Computed(id) => {
            use vyre_core::vir0::length::Term as Of;
            let terms = program.lengths[id.index()].terms.iter();
            terms
                .flat_map(|term| match term {
                    Of::Value(extent) => length(program, *extent),
                    Of::Op(op) => vec![Term::Op(op.sign())],
                })
                .collect()
        }
        // Passes with parts are refused; the buffer is there, and its length is the caller's.
        Extent::Bounds(..) => vec![Term::Number(0)],
    }
}

fn times(mut length: Length, words: u64) -> Length {
    if words != 1 {
        length.extend([Term::Number(words), Term::Op("*")]);
    }
    length
}

/// What a name of the program is in a shader: letters, digits and underscores.
pub(crate) fn plain_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    name.chars().map(plain).collect()
}

/// Beginnings of names that naga changes, because its writers use them.
const NAGAS: [&str; 3] = ["clamped_lod_e", "naga_query_", "ray_query_get_intersection"];

/// What the entry points of a wave or a fixpoint begin with: a letter, and no two underscores in a row, so that naga
/// leaves it as it is.
fn entry_name(name: &str) -> String {
    let plain = plain_name(name);
    let words: Vec<&str> = plain.split('_').filter(|w| !w.is_empty()).collect();
    let name = words.join("_");
    let letter = name.starts_with(|c: char| c.is_ascii_alphabetic());
    match letter && NAGAS.iter().all(|taken| !name.starts_with(taken)) {
        true => name,
        false => format!("the_{name}").trim_end_matches('_').to_owned(),
    }
}

/// Names that were given: the second of equal ones gets a 2 behind it, and so on.
#[derive(Clone, Debug, Default)]
struct Names(HashSet<String>);

impl Names {
    fn give(&mut self, name: String) -> String {
        let numbered = (2..).map(|n: u32| format!("{name}_{n}"));
        let mut names = [name.clone()].into_iter().chain(numbered);
        let free = names.find(|name| self.0.insert(name.clone()));
        free.expect("there are more numbers than names")
    }

    /// The same of names of files, some of whose systems take `A` and `a` for one.
    fn give_file(&mut self, name: String) -> String {
        let given = self.give(name.to_ascii_lowercase());
        name.clone() + &given[name.len()..]
    }
}

/// What the entry points of waves or of fixpoints begin with. They end in what they do, so that waves and fixpoints
/// share no name, and neither has one of the others (`begin`, `settle`, fills).
fn entry_names<'n>(names: impl Iterator<Item = &'n String>) -> Vec<String> {
    let mut given = Names::default();
    names
        .map(|name| given.give_file(entry_name(name)))
        .collect()
}

impl Layout {
    /// Binding of the control buffer.
    pub(crate) const CONTROL: u32 = 4;
    /// Bindings of ends alone: arguments of dispatches, and the uniforms of waves.
    pub(crate) const DISPATCHES: u32 = 6;
    pub(crate) const BLOCKS: u32 = 7;

    pub(crate) fn of(program: &Program, (target, options): (Target, Options)) -> Layout {
        let mut layout = Layout {
            places: Vec::new(),
            params: Vec::new(),
            control: Vec::new(),
            pieces: HashMap::new(),
            arenas: arenas(program, &wide_buffers(program, target)),
            options,
            lanes: (0..program.waves.len() as u16)
                .map(|id| lanes(program, WaveId(id), options))
                .collect(),
            staged: Vec::new(),
            pulling: Vec::new(),
            unique: program.frontiers.iter().map(|f| f.unique).collect(),
            waves: entry_names(program.waves.iter().map(|w| &w.name)),
            fixpoints: entry_names(program.fixpoints.iter().map(|f| &f.name)),
            reductions: program
                .reductions
                .iter()
                .map(|r| plain_name(&r.name))
                .collect(),
            topologies: entry_names(program.topologies.iter().map(|t| &t.name)),
            frontiers: program
                .frontiers
                .iter()
                .map(|f| plain_name(&f.name))
                .collect(),
            bits: HashMap::new(),
            words: HashMap::new(),
            lens: HashMap::new(),
            at: Vec::new(),
            pulls: 0,
        };
        let staged = (0..program.waves.len() as u16)
            .map(|id| staged(program, WaveId(id), (layout.lanes(WaveId(id)), options)));
        layout.staged = staged.collect();
        // What is pushed is counted where it is staged.
        let pulling = (0..program.waves.len() as u16).map(WaveId).map(|id| {
            let of = pulling(program, id);
            of.filter(|_| layout.staged[id.index()] > 0)
        });
        layout.pulling = pulling.collect();
        layout.lay(program);
        layout.parameters(program);
        layout.controls(program);
        let mut names = Names::default();
        for param in &mut layout.params {
            param.name = names.give(std::mem::take(&mut param.name));
        }
        let mut names = Names::default();
        for word in &mut layout.control {
            word.name = names.give(std::mem::take(&mut word.name));
        }
        assert_eq!(
            layout.params.len() as u32,
            uniform_words(program),
            "the table counts what is laid"
        );
        layout
    }

    fn place(&mut self, piece: Piece, name: String, arena: Arena, words: Length) {
        self.pieces.insert(piece, self.places.len());
        self.places.push(Place { name, arena, words });
    }

    fn lay(&mut self, program: &Program) {
        for (t, topology) in (0..).zip(&program.topologies) {
            let (name, nodes) = (
                &topology.name,
                vec![Term::Nodes, Term::Number(1), Term::Op("+")],
            );
            self.place(
                Piece::Offsets(t),
                format!("{name}.offsets"),
                Arena::Fixed,
                nodes,
            );
            let edges = vec![Term::Edges(t)];
            self.place(
                Piece::Targets(t),
                format!("{name}.targets"),
                Arena::Fixed,
                edges,
            );
        }
        for (b, buffer) in (0..).zip(&program.buffers) {
            let words = times(length(program, buffer.extent), buffer.scalar.rows().into());
            let arena = self.arenas[usize::from(b)];
            self.place(Piece::Buffer(b), buffer.name.clone(), arena, words);
        }
        for (f, frontier) in (0..).zip(&program.frontiers) {
            let sides = if frontier.owner.is_some() { 2 } else { 1 };
            let capacity = length(program, frontier.capacity);
            let fields = match frontier.fields.as_slice() {
                [] => &[Scalar::U32],
                fields => fields,
            };
            for (i, field) in (0..).zip(fields) {
                let words = times(capacity.clone(), sides * u64::from(field.rows()));
                let name = match frontier.fields.is_empty() {
                    true => format!("{}.items", frontier.name),
                    false => format!("{}.items.{i}", frontier.name),
                };
                self.place(Piece::Items(f, i), name, Arena::Plain, words);
            }
            if is_stamped(program, FrontierId(f)) {
                let name = format!("{}.seen", frontier.name);
                self.place(Piece::Seen(f), name, Arena::Cells, vec![Term::Nodes]);
            }
        }
        for (l, list) in (0..).zip(&program.lists) {
            let capacity = length(program, list.capacity);
            for (i, field) in (0..).zip(&list.fields) {
                let words = times(capacity.clone(), field.rows().into());
                let name = format!("{}.items.{i}", list.name);
                self.place(Piece::Field(l, i), name, Arena::Plain, words);
            }
        }
    }

    /// Whether loops say that they have come to their end.
    pub(crate) fn checks_loops(&self) -> bool {
        self.options.checks_loops
    }

    /// Whether several workgroups share out what an item of a sweep has.
    pub(crate) fn spreads(&self, domain: Domain) -> bool {
        self.options.shares_edges && matches!(domain, Domain::EdgesFrom(..))
    }

    /// Invocations of a workgroup of a wave's sweep: as many as there may be where they share out what items have, so
    /// that a hub is soon done.
    pub(crate) fn lanes(&self, of: WaveId) -> u32 {
        self.lanes[of.index()]
    }

    /// Invocations of the workgroup that looks at the records of a wave's sweep.
    pub(crate) fn gatherers(&self, program: &Program, of: WaveId) -> u32 {
        let words = GATHERERS * record_words(program, of);
        match GATHERERS <= self.options.lanes && words <= self.options.words {
            true => GATHERERS,
            false => WORKGROUP,
        }
    }

    /// Nodes that a workgroup of a wave's sweep keeps of each frontier that it pushes onto, before these get their
    /// slots.
    pub(crate) fn staged_nodes(&self, of: WaveId) -> u32 {
        self.staged[of.index()]
    }

    /// These frontiers.
    pub(crate) fn staged(&self, program: &Program, of: WaveId) -> Vec<u16> {
        match self.staged_nodes(of) {
            0 => Vec::new(),
            _ => pushed(program, of),
        }
    }

    /// Whether a frontier has each node once in a round.
    pub(crate) fn is_unique(&self, frontier: u16) -> bool {
        self.unique[usize::from(frontier)]
    }

    /// How a wave's sweep may pull.
    pub(crate) fn pulling(&self, of: WaveId) -> Option<Pulling> {
        self.pulling[of.index()]
    }

    /// Whether a sweep may pull from a frontier.
    fn pulled_from(&self, frontier: FrontierId) -> bool {
        let mut pulling = self.pulling.iter().flatten();
        pulling.any(|of| of.frontier == frontier)
    }

    /// The topologies that have to be their own reverse where sweeps pull.
    pub(crate) fn asked(&self) -> BTreeSet<TopologyId> {
        let pulling = self.pulling.iter().flatten();
        let own = pulling.filter(|of| of.into == of.topology);
        own.map(|of| of.topology).collect()
    }

    fn param(&mut self, name: String, of: ParamOf) -> u32 {
        let at = self.params.len() as u32;
        self.params.push(Param { name, of });
        at
    }

    fn len(&mut self, key: (Kind, u16), name: String, of: Length) {
        let at = self.param(name, ParamOf::Length(of));
        self.lens.insert(key, at);
    }

    fn parameters(&mut self, program: &Program) {
        self.param("round".to_owned(), ParamOf::Round);
        self.param("groups".to_owned(), ParamOf::Groups);
        self.param("turns_limit".to_owned(), ParamOf::Turns);
        for (at, name) in (0..).zip(["at", "len", "words", "low", "high"]) {
            self.param(format!("fill_{name}"), ParamOf::Fill(at));
        }
        self.len((Kind::Nodes, 0), "nodes".to_owned(), vec![Term::Nodes]);
        for (t, topology) in (0..).zip(&program.topologies) {
            let name = plain_name(&topology.name);
            self.len(
                (Kind::Edges, t),
                format!("{name}_edges"),
                vec![Term::Edges(t)],
            );
            let degree = self.param(format!("{name}_degree"), ParamOf::Degree(t));
            self.lens.insert((Kind::Degree, t), degree);
        }
        for (b, buffer) in (0..).zip(&program.buffers) {
            let name = plain_name(&buffer.name);
            let of = length(program, buffer.extent);
            self.len((Kind::Buffer, b), format!("{name}_len"), of);
        }
        for (f, frontier) in (0..).zip(&program.frontiers) {
            let name = plain_name(&frontier.name);
            let of = length(program, frontier.capacity);
            self.len((Kind::Frontier, f), format!("{name}_capacity"), of);
        }
        for (l, list) in (0..).zip(&program.lists) {
            let name = plain_name(&list.name);
            let of = length(program, list.capacity);
            self.len((Kind::List, l), format!("{name}_capacity"), of);
        }
        for (w, wave) in (0..).zip(&program.waves) {
            if let Domain::Range(extent) = wave.domain {
                let name = plain_name(&wave.name);
                let of = length(program, extent);
                self.len((Kind::Wave, w), format!("{name}_items"), of);
            }
        }
        for (s, scalar) in (0..).zip(&program.scalars) {
            let name = plain_name(&scalar.name);
            let low = self.param(name.clone(), ParamOf::Scalar(s, 0));
            self.lens.insert((Kind::ScalarLow, s), low);
            if scalar.scalar.rows() == 2 {
                let high = self.param(format!("{name}_high"), ParamOf::Scalar(s, 1));
                self.lens.insert((Kind::ScalarHigh, s), high);
            }
        }
        for f in outer_rounds(program) {
            let name = format!("{}_round", self.fixpoint(f));
            let at = self.param(name, ParamOf::RoundOf(f));
            self.lens.insert((Kind::Round, f.0), at);
        }
        for place in 0..self.places.len() {
            let name = format!("{}_at", plain_name(&self.places[place].name));
            let at = self.param(name, ParamOf::Place(place));
            self.at.push(at);
        }
        for bits in float_bits(program) {
            let at = self.param(format!("bits_{bits:08x}"), ParamOf::Bits(bits));
            self.bits.insert(bits, at);
        }
        let mut waves = (0..program.waves.len() as u16).map(WaveId);
        if waves.any(|wave| pulling(program, wave).is_some()) {
            self.pulls = self.param("pulls".to_owned(), ParamOf::Pulls);
        }
    }

    fn word(&mut self, name: String, of: Held) {
        let atomic = matches!(
            of,
            Held::Tail(_) | Held::ListTail(_) | Held::Faulted | Held::Edges(_) | Held::Lopsided(_)
        );
        self.words.insert(of, self.control.len() as u32);
        self.control.push(ControlWord { name, of, atomic });
    }

    fn controls(&mut self, program: &Program) {
        self.word("status".to_owned(), Held::Status);
        self.word("verdict".to_owned(), Held::Verdict);
        self.word("trap_wave".to_owned(), Held::TrapWave);
        for (at, name) in (0..).zip(crate::ir::FAULT_WORDS) {
            self.word(format!("trap_{name}"), Held::Trap(at));
        }
        self.word("faulted".to_owned(), Held::Faulted);
        for (f, frontier) in (0..).zip(&program.frontiers) {
            let name = plain_name(&frontier.name);
            self.word(format!("{name}_len"), Held::Len(f));
            self.word(format!("{name}_tail"), Held::Tail(f));
            if frontier.owner.is_some() {
                self.word(format!("{name}_side"), Held::Side(f));
            }
            if is_stamped(program, FrontierId(f)) {
                self.word(format!("{name}_epoch"), Held::Epoch(f));
            }
            if self.pulled_from(FrontierId(f)) {
                self.word(format!("{name}_edges"), Held::Edges(f));
                self.word(format!("{name}_explored"), Held::Explored(f));
            }
        }
        for (l, list) in (0..).zip(&program.lists) {
            let name = plain_name(&list.name);
            self.word(format!("{name}_len"), Held::ListLen(l));
            self.word(format!("{name}_tail"), Held::ListTail(l));
        }
        for t in self.asked() {
            let name = self.topology(t.0);
            self.word(format!("{name}_lopsided"), Held::Lopsided(t.0));
        }
        for (w, wave) in (0..).zip(&program.waves) {
            if wave.domain.list().is_some_and(|(_, p)| p.goes_on()) {
                self.word(format!("{}_swept", plain_name(&wave.name)), Held::Swept(w));
            }
        }
        for (f, l) in program.marks() {
            let list = plain_name(&program.lists[l.index()].name);
            let fixpoint = self.fixpoint(f);
            self.word(format!("{list}_began_{fixpoint}"), Held::Began(f.0, l.0));
        }
        for (r, reduction) in (0..).zip(&program.reductions) {
            let name = plain_name(&reduction.name);
            self.word(name.clone(), Held::Total(r, 0));
            if reduction.scalar.rows() == 2 {
                self.word(format!("{name}_high"), Held::Total(r, 1));
            }
            if reduction.op == ReduceOp::ExactSum {
                for at in 0..EXACT_WORDS {
                    self.word(format!("{name}_word_{at}_of"), Held::Exact(r, at));
                }
            }
        }
    }

    // What passes ask for.

    /// The arenas of a pass: only some have buffers of 64-bit atomics.
    pub(crate) fn arenas(&self) -> impl Iterator<Item = Arena> {
        let used = |arena: &Arena| *arena != Arena::Wide || self.arenas.contains(arena);
        Arena::ALL.into_iter().filter(used)
    }

    pub(crate) fn arena(&self, buffer: BufferId) -> Arena {
        self.arenas[buffer.index()]
    }

    /// The word of the uniform that says where a piece begins.
    pub(crate) fn at(&self, piece: Piece) -> u32 {
        self.at[self.pieces[&piece]]
    }

    /// The same of a buffer.
    pub(crate) fn at_buffer(&self, of: BufferId) -> u32 {
        self.at(Piece::Buffer(of.0))
    }

    /// The word of the uniform that has a length.
    pub(crate) fn length(&self, kind: Kind, of: u16) -> u32 {
        self.lens[&(kind, of)]
    }

    pub(crate) fn scalar(&self, of: u16, half: u32) -> Option<u32> {
        let kind = [Kind::ScalarLow, Kind::ScalarHigh][half as usize];
        self.lens.get(&(kind, of)).copied()
    }

    /// The word of the uniform with these bits, if a shader was foreseen to need one.
    pub(crate) fn bits(&self, bits: u32) -> Option<u32> {
        self.bits.get(&bits).copied()
    }

    pub(crate) const ROUND: u32 = 0;
    pub(crate) const GROUPS: u32 = 1;
    pub(crate) const TURNS: u32 = 2;
    pub(crate) const FILL: u32 = 3;

    pub(crate) fn control(&self, of: Held) -> u32 {
        self.words[&of]
    }

    /// The same of a word that only some have.
    pub(crate) fn maybe(&self, of: Held) -> Option<u32> {
        self.words.get(&of).copied()
    }

    /// What a wave's entry points begin with.
    pub(crate) fn wave(&self, of: WaveId) -> &str {
        &self.waves[of.index()]
    }

    /// What a fixpoint's entry points begin with.
    pub(crate) fn fixpoint(&self, of: FixpointId) -> &str {
        &self.fixpoints[of.index()]
    }

    pub(crate) fn topology(&self, of: u16) -> &str {
        &self.topologies[usize::from(of)]
    }

    pub(crate) fn frontier(&self, of: u16) -> &str {
        &self.frontiers[usize::from(of)]
    }

    pub(crate) fn reduction(&self, of: u16) -> &str {
        &self.reductions[usize::from(of)]
    }
}

/// Where each buffer lies.
fn arenas(program: &Program, wide: &BTreeSet<BufferId>) -> Vec<Arena> {
    let mut arenas: Vec<Arena> = ((0..).map(BufferId).zip(&program.buffers))
        .map(|(id, buffer)| match buffer.role {
            _ if wide.contains(&id) => Arena::Wide,
            Role::Topology | Role::Input => Arena::Fixed,
            Role::Output | Role::Scratch | Role::InOut => Arena::Plain,
        })
        .collect();
    let shared = |buffer: BufferId, arenas: &mut Vec<Arena>| {
        let arena = &mut arenas[buffer.index()];
        *arena = (*arena).max(match *arena {
            Arena::Fixed => Arena::Fixed,
            Arena::Plain | Arena::Cells => Arena::Cells,
            Arena::Wide => Arena::Wide,
        });
    };
    for word in program.kernels.iter().flat_map(|k| &k.code) {
        let op = Op::from_code(word.op);
        if op.is_some_and(is_atomic) {
            shared(BufferId(word.resource()), &mut arenas);
        }
    }
    // Plain stores of several items, and loads beside stores, are races, which shaders must not have.
    if let Agreement::Open(reasons) = &program.agreement {
        for reason in reasons {
            if let Some(Resource::Buffer(buffer)) = reason.resource {
                shared(buffer, &mut arenas);
            }
        }
    }
    for fixpoint in &program.fixpoints {
        for &(a, b) in &fixpoint.swaps {
            let both = arenas[a.index()].max(arenas[b.index()]);
            (arenas[a.index()], arenas[b.index()]) = (both, both);
        }
    }
    arenas
}

/// Whether it is an atomic operation on a buffer.
pub(crate) fn is_atomic(op: Op) -> bool {
    op.row().mnemonic.starts_with("atom.")
}
