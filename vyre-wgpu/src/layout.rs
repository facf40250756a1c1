//! Where each part of a pass's memory lies: which binding, and where in it.
//!
//! A shader may have few bindings: WebGPU promises eight storage buffers. So what a pass has in memory is packed into
//! arenas. What a wave does with a part decides its [`Class`], and with it the type of the arena in WGSL. Parts that
//! trade places lie in one arena, so that only numbers are exchanged.
//!
//! ```
//! use vyre_core::vir0::module::*;
//! use vyre_core::vir0::scalar::Scalar;
//! use vyre_wgpu::layout::{Layout, Part};
//! let rank = Buffer {
//!     name: "rank".into(),
//!     scalar: Scalar::F32,
//!     extent: Extent::Nodes,
//!     role: Role::Input,
//!     init: None,
//! };
//! let program = Program { buffers: vec![rank], ..Program::default() };
//! let layout = Layout::new(&program);
//! // No wave writes it.
//! assert_eq!(layout.arena(Part::Buffer(BufferId(0))).to_string(), "fixed0");
//! ```

use std::collections::BTreeMap;
use std::fmt;
use thiserror::Error;
use vyre_core::vir0::isa::{Imm, Kind, Op};
use vyre_core::vir0::module::{
    BufferId, Extent, FrontierId, ListId, Program, Resource, TopologyId,
};
use vyre_core::vir0::scalar::Scalar;
use vyre_core::vir0::sizes::Sizes;

/// What waves do with the parts of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// They only read: `array<u32>`.
    Fixed,
    /// They write, without atomics: `array<u32>`.
    Plain,
    /// Words of 4 bytes that some wave accesses atomically: `array<atomic<u32>>`.
    Atomic,
    /// Values of 8 bytes that some wave accesses atomically: `array<atomic<u64>>`.
    Wide,
}

impl Class {
    /// Every class, in the order of the bindings.
    pub const ALL: [Class; 4] = [Class::Fixed, Class::Plain, Class::Atomic, Class::Wide];

    /// Bytes of what an arena of this class counts in.
    pub const fn unit_bytes(self) -> u64 {
        match self {
            Class::Fixed | Class::Plain | Class::Atomic => 4,
            Class::Wide => 8,
        }
    }

    /// The declared type of such an arena.
    pub const fn wgsl(self) -> &'static str {
        match self {
            Class::Fixed | Class::Plain => "array<u32>",
            Class::Atomic => "array<atomic<u32>>",
            Class::Wide => "array<atomic<u64>>",
        }
    }
}

/// One binding. Displayed as the shaders name it: `plain0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arena {
    /// What is in it.
    pub class: Class,
    /// Which of its class, counted from 0.
    pub nth: u32,
}

impl fmt::Display for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = match self.class {
            Class::Fixed => "fixed",
            Class::Plain => "plain",
            Class::Atomic => "atomic",
            Class::Wide => "wide",
        };
        write!(f, "{class}{}", self.nth)
    }
}

/// An array of a pass's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Where each node's edges begin, and where the last one's end.
    Offsets(TopologyId),
    /// Where each edge leads.
    Targets(TopologyId),
    /// The elements of a buffer.
    Buffer(BufferId),
    /// A field of a frontier's items; field 0 of nodes. Both sides, one behind the other, where a fixpoint owns it.
    Items(FrontierId, u16),
    /// A word for each node: the epoch in which it was pushed last onto a unique frontier.
    Stamps(FrontierId),
    /// A field of a list's items.
    List(ListId, u16),
}

impl Part {
    /// Every part of a program.
    pub fn all(program: &Program) -> Vec<Part> {
        let mut parts = Vec::new();
        for t in (0..).map(TopologyId).take(program.topologies.len()) {
            parts.extend([Part::Offsets(t), Part::Targets(t)]);
        }
        parts.extend(
            (0..)
                .map(|b| Part::Buffer(BufferId(b)))
                .take(program.buffers.len()),
        );
        for (f, frontier) in (0..).map(FrontierId).zip(&program.frontiers) {
            let fields = frontier.fields.len().max(1);
            parts.extend((0..).map(|k| Part::Items(f, k)).take(fields));
            parts.extend(frontier.unique.then_some(Part::Stamps(f)));
        }
        for (l, list) in (0..).map(ListId).zip(&program.lists) {
            parts.extend((0..).map(|k| Part::List(l, k)).take(list.fields.len()));
        }
        parts
    }

    /// The type of its elements.
    pub fn scalar(self, program: &Program) -> Scalar {
        let field = |fields: &[Scalar], k: u16| fields.get(usize::from(k)).copied();
        match self {
            Part::Offsets(_) | Part::Targets(_) | Part::Stamps(_) => Scalar::U32,
            Part::Buffer(b) => program.buffers[b.index()].scalar,
            Part::Items(f, k) => {
                field(&program.frontiers[f.index()].fields, k).unwrap_or(Scalar::U32)
            }
            Part::List(l, k) => field(&program.lists[l.index()].fields, k).unwrap_or(Scalar::U32),
        }
    }

    /// Bytes of an element here: bools and bytes take a word, so that neighbours never share one.
    pub fn element_bytes(self, program: &Program) -> u64 {
        self.scalar(program).size_bytes().max(4)
    }

    /// Elements; `None` where that depends on a scalar and none are set.
    pub fn len(self, program: &Program, sizes: &Sizes) -> Option<u64> {
        let resolve = |extent| sizes.resolve(program, extent);
        match self {
            Part::Offsets(_) => sizes.nodes.checked_add(1),
            Part::Targets(t) => resolve(Extent::Edges(t)),
            Part::Buffer(b) => resolve(program.buffers[b.index()].extent),
            Part::Items(f, _) => capacity(resolve(program.frontiers[f.index()].capacity))?
                .checked_mul(sides(program, f)),
            Part::Stamps(_) => Some(sizes.nodes),
            Part::List(l, _) => capacity(resolve(program.lists[l.index()].capacity)),
        }
    }

    /// The field that it is of.
    pub fn name(self, program: &Program) -> &str {
        program.field_of(match self {
            Part::Offsets(t) | Part::Targets(t) => Resource::Topology(t),
            Part::Buffer(b) => Resource::Buffer(b),
            Part::Items(f, _) | Part::Stamps(f) => Resource::Frontier(f),
            Part::List(l, _) => Resource::List(l),
        })
    }
}

/// Items are numbered with 32 bits, so that no more are ever held.
fn capacity(declared: Option<u64>) -> Option<u64> {
    declared.map(|items| items.min(u64::from(u32::MAX)))
}

/// Arrays of each field: what is pushed onto a frontier that nobody owns lies behind what is swept.
pub fn sides(program: &Program, frontier: FrontierId) -> u64 {
    match program.frontiers[frontier.index()].owner {
        Some(_) => 2,
        None => 1,
    }
}

/// Where a part lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The binding.
    pub arena: Arena,
    /// Where it begins, in units of the arena's class.
    pub at: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Why a pass's memory cannot be bound.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LayoutError {
    /// One part is larger than a binding can be.
    #[error("`{name}` takes {bytes} bytes; a binding of this adapter has at most {limit}")]
    Part {
        /// The field.
        name: String,
        /// What it takes, with what trades places with it.
        bytes: u64,
        /// The most that can be bound.
        limit: u64,
    },
    /// More bindings are needed than there are.
    #[error("the pass needs {needed} bindings for its memory; this adapter has {limit}")]
    Bindings {
        /// Arenas.
        needed: u64,
        /// Of a shader, what is left beside those of the control.
        limit: u64,
    },
}

/// The limits that a layout keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes of a binding.
    pub binding_bytes: u64,
    /// Arenas.
    pub arenas: u64,
}

/// All parts, each in its arena.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    places: BTreeMap<Part, Place>,
    /// Bytes of each arena, in the order of bindings.
    arenas: BTreeMap<Arena, u64>,
}

impl Layout {
    /// Where sizes are not known: an arena of each class.
    pub fn new(program: &Program) -> Layout {
        let classes = classes(program);
        let mut layout = Layout::default();
        for (&part, &(class, _)) in &classes {
            let (arena, at, bytes) = (Arena { class, nth: 0 }, 0, 0);
            layout.places.insert(part, Place { arena, at, bytes });
            layout.arenas.insert(arena, 0);
        }
        layout
    }

    /// Of a run of these sizes, its scalars included.
    ///
    /// # Errors
    /// A part does not fit into a binding, or there are not enough of them.
    pub fn of_sizes(program: &Program, sizes: &Sizes, room: Room) -> Result<Layout, LayoutError> {
        let mut units: BTreeMap<Part, Vec<(Part, Class)>> = BTreeMap::new();
        for (part, (class, with)) in classes(program) {
            units.entry(with).or_default().push((part, class));
        }
        let mut layout = Layout::default();
        for (with, parts) in units {
            let mut bytes = 0u64;
            for &(part, _) in &parts {
                let len = part.len(program, sizes).unwrap_or(0);
                bytes = bytes.saturating_add(len.saturating_mul(part.element_bytes(program)));
            }
            if bytes > room.binding_bytes {
                let (name, limit) = (with.name(program).to_owned(), room.binding_bytes);
                return Err(LayoutError::Part { name, bytes, limit });
            }
            for (part, class) in parts {
                let len = part.len(program, sizes).unwrap_or(0);
                let part_bytes = len * part.element_bytes(program);
                let arena = layout.room_for(class, bytes, room.binding_bytes);
                let end = layout.arenas.entry(arena).or_default();
                let at = *end / class.unit_bytes();
                let place = Place {
                    arena,
                    at,
                    bytes: part_bytes,
                };
                layout.places.insert(part, place);
                *end += part_bytes;
                // What trades places lies in one arena: the room for all of it was found with its first part.
                bytes -= part_bytes;
            }
        }
        let (needed, limit) = (layout.arenas.len() as u64, room.arenas);
        match needed > limit {
            true => Err(LayoutError::Bindings { needed, limit }),
            false => Ok(layout),
        }
    }

    /// The last arena of a class, or the next one where that is full.
    fn room_for(&self, class: Class, bytes: u64, limit: u64) -> Arena {
        let of_class = self
            .arenas
            .iter()
            .rev()
            .find(|(arena, _)| arena.class == class);
        match of_class {
            None => Arena { class, nth: 0 },
            Some((arena, used)) if used + bytes <= limit => *arena,
            Some((arena, _)) => Arena {
                class,
                nth: arena.nth + 1,
            },
        }
    }

    /// The arena of a part.
    ///
    /// # Panics
    /// Where the program has no such part.
    pub fn arena(&self, part: Part) -> Arena {
        self.place(part).arena
    }

    /// Where a part lies.
    ///
    /// # Panics
    /// Where the program has no such part.
    pub fn place(&self, part: Part) -> Place {
        self.places[&part]
    }

    /// The arenas in the order of their bindings, each with its bytes.
    pub fn arenas(&self) -> impl Iterator<Item = (Arena, u64)> {
        self.arenas.iter().map(|(&arena, &bytes)| (arena, bytes))
    }

    /// The bindings are the same, so that one module serves both.
    pub fn is_like(&self, other: &Layout) -> bool {
        let arenas = |of: &Layout| {
            of.places
                .iter()
                .map(|(p, place)| (*p, place.arena))
                .collect()
        };
        let (ours, theirs): (Vec<_>, Vec<_>) = (arenas(self), arenas(other));
        ours == theirs
    }
}

/// The class of each part, and the first of those that it trades places with.
fn classes(program: &Program) -> BTreeMap<Part, (Class, Part)> {
    let parts = Part::all(program).into_iter();
    let class = |part| match part {
        Part::Offsets(_) | Part::Targets(_) | Part::Buffer(_) => Class::Fixed,
        Part::Items(..) | Part::List(..) => Class::Plain,
        Part::Stamps(_) => Class::Atomic,
    };
    let mut classes: BTreeMap<Part, (Class, Part)> =
        parts.map(|part| (part, (class(part), part))).collect();
    for word in program.kernels.iter().flat_map(|kernel| &kernel.code) {
        let Some(op) = Op::from_code(word.op) else {
            continue;
        };
        let (Imm::Resource(kind) | Imm::ResourceThird(kind)) = op.row().imm else {
            continue;
        };
        let wide = match kind {
            Kind::Buffer64 => true,
            Kind::BufferOf(scalar) => scalar.size_bytes() == 8,
            Kind::Buffer8 | Kind::Buffer32 => false,
            Kind::Buffer
            | Kind::Topology
            | Kind::Frontier
            | Kind::ItemFrontier
            | Kind::List
            | Kind::Reduction32
            | Kind::Reduction64 => continue,
        };
        let used = match op {
            Op::Ld8 | Op::Ld32 | Op::Ld64 => Class::Fixed,
            Op::St8 | Op::St32 | Op::St64 => Class::Plain,
            // What is left that names a buffer of such a type is atomic.
            _ if wide => Class::Wide,
            _ => Class::Atomic,
        };
        let buffer = Part::Buffer(BufferId(word.resource()));
        let (class, _) = classes
            .get_mut(&buffer)
            .expect("verified words name buffers");
        *class = used.max(*class);
    }
    for &(a, b) in program
        .fixpoints
        .iter()
        .flat_map(|fixpoint| &fixpoint.swaps)
    {
        let (a, b) = (classes[&Part::Buffer(a)], classes[&Part::Buffer(b)]);
        let joined = (a.0.max(b.0), a.1.min(b.1));
        for place in classes.values_mut() {
            if place.1 == a.1 || place.1 == b.1 {
                *place = (joined.0.max(place.0), joined.1);
            }
        }
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;
    use vyre_core::vir0::isa::Word;
    use vyre_core::vir0::module::{
        Buffer, Fixpoint, ItemRows, Kernel, KernelId, Role, SiteId, Topology,
    };

    fn buffer(name: &str, scalar: Scalar, len: u64) -> Buffer {
        Buffer {
            name: name.into(),
            scalar,
            extent: Extent::Fixed(len),
            role: Role::Output,
            init: None,
        }
    }

    /// Words of one kernel, each on a buffer.
    fn program(buffers: Vec<Buffer>, words: &[(Op, u16)]) -> Program {
        let word = |&(op, b): &(Op, u16)| Word {
            op: op as u8,
            imm: u32::from(b) << 16,
            ..Word::default()
        };
        let kernel = Kernel {
            name: "k".into(),
            code: words.iter().map(word).collect(),
            rows: 0,
            frames: 0,
            item: ItemRows::default(),
            uniforms: vec![],
            sites: vec![],
        };
        Program {
            topologies: vec![Topology {
                name: "graph".into(),
                reverse_of: None,
            }],
            buffers,
            kernels: vec![kernel],
            ..Program::default()
        }
    }

    fn of(program: &Program, binding_bytes: u64, arenas: u64) -> Result<Layout, LayoutError> {
        let sizes = Sizes {
            nodes: 3,
            edges: vec![5],
            scalars: vec![],
            ..Sizes::default()
        };
        let room = Room {
            binding_bytes,
            arenas,
        };
        Layout::of_sizes(program, &sizes, room)
    }

    fn place(layout: &Layout, b: u16) -> (String, u64, u64) {
        let place = layout.place(Part::Buffer(BufferId(b)));
        (place.arena.to_string(), place.at, place.bytes)
    }

    #[test]
    fn what_waves_do_decides_the_arena() {
        let buffers = vec![
            buffer("read", Scalar::F64, 2),
            buffer("stored", Scalar::Bool, 7),
            buffer("added", Scalar::U32, 4),
            buffer("swapped", Scalar::U64, 4),
            buffer("most", Scalar::I64, 4),
        ];
        let words = [
            (Op::Ld64, 0),
            (Op::St8, 1),
            (Op::AtomAdd32, 2),
            (Op::Ld32, 2),
            (Op::AtomSwap64, 3),
            (Op::AtomMaxI64, 4),
        ];
        let layout = of(&program(buffers, &words), 1 << 20, 4).unwrap();
        // Behind the offsets of 3 nodes and the targets of 5 edges.
        assert_eq!(place(&layout, 0), ("fixed0".into(), 9, 16));
        assert_eq!(place(&layout, 1), ("plain0".into(), 0, 28));
        assert_eq!(place(&layout, 2), ("atomic0".into(), 0, 16));
        assert_eq!(place(&layout, 3), ("wide0".into(), 0, 32));
        assert_eq!(place(&layout, 4), ("wide0".into(), 4, 32));
        let arenas: Vec<u64> = layout.arenas().map(|(_, bytes)| bytes).collect();
        assert_eq!(arenas, [9 * 4 + 16, 28, 16, 64]);
    }

    #[test]
    fn what_trades_places_lies_together() {
        let buffers = (0..4).map(|_| buffer("b", Scalar::U32, 10)).collect();
        let mut program = program(buffers, &[(Op::St32, 0), (Op::AtomAdd32, 2)]);
        let swaps = vec![(BufferId(0), BufferId(1)), (BufferId(1), BufferId(2))];
        program.fixpoints = vec![Fixpoint {
            name: "f".into(),
            parent: None,
            until: KernelId(0),
            condition: String::new(),
            max_rounds: 1,
            swaps,
            after: vec![],
            site: SiteId(0),
        }];
        let layout = of(&program, 120, 8).unwrap();
        let at = |b| place(&layout, b);
        assert_eq!(at(0), ("atomic0".into(), 0, 40));
        assert_eq!(at(1), ("atomic0".into(), 10, 40));
        assert_eq!(at(2), ("atomic0".into(), 20, 40));
        assert_eq!(at(3), ("fixed0".into(), 9, 40));
        let error = of(&program, 119, 8).unwrap_err();
        let told = "`b` takes 120 bytes; a binding of this adapter has at most 119";
        assert_eq!(error.to_string(), told);
    }

    #[test]
    fn full_arenas_are_followed_by_others() {
        let buffers = (0..3).map(|_| buffer("b", Scalar::U32, 10)).collect();
        let program = program(buffers, &[(Op::St32, 0), (Op::St32, 1), (Op::St32, 2)]);
        let layout = of(&program, 80, 3).unwrap();
        assert_eq!(place(&layout, 1), ("plain0".into(), 10, 40));
        assert_eq!(place(&layout, 2), ("plain1".into(), 0, 40));
        assert!(!layout.is_like(&of(&program, 120, 3).unwrap()));
        assert!(layout.is_like(&of(&program, 84, 3).unwrap()));
        let error = of(&program, 80, 2).unwrap_err();
        let told = "the pass needs 3 bindings for its memory; this adapter has 2";
        assert_eq!(error.to_string(), told);
    }
}
