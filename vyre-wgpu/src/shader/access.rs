//! Words that access memory: buffers, topologies, frontiers, lists and reductions.

use crate::layout::{Class, Part};
use crate::shader::body::Body;
use crate::shader::forms::Form;
use crate::shader::values::name;
use vyre_core::vir0::isa::{IMM, Op, Slot, Word};
use vyre_core::vir0::module::{BufferId, FrontierId, ListId, ReductionId, Resource, TopologyId};
use vyre_core::vir0::scalar::Scalar;

/// An element of a buffer: its arena, and where it lies there.
struct Element {
    class: Class,
    arena: String,
    at: String,
    wide: bool,
}

impl Body<'_> {
    /// Says the name of a resource beside the next line.
    fn about(&mut self, resource: Resource) {
        self.aside = Some(self.program.name_of(resource).to_owned());
    }

    /// Checks the index of a word that accesses a buffer.
    fn buffer_element(&mut self, pc: u32, word: Word) -> Element {
        let b = BufferId(word.resource());
        let index = self.get32(word, word.a);
        self.inside(pc, &index, &format!("len_b{}", b.0));
        let scalar = self.program.buffers[b.index()].scalar;
        self.element_of(Part::Buffer(b), scalar, &format!("at_b{}", b.0), &index)
    }

    fn element_of(&self, part: Part, scalar: Scalar, from: &str, index: &str) -> Element {
        let arena = self.layout.arena(part);
        let wide = scalar.size_bytes() == 8;
        let at = match wide && arena.class != Class::Wide {
            true => format!("{from} + 2u * {index}"),
            false => format!("{from} + {index}"),
        };
        let class = arena.class;
        let arena = arena.to_string();
        Element {
            class,
            arena,
            at,
            wide,
        }
    }

    fn load(&mut self, of: &Element) -> String {
        let Element {
            class, arena, at, ..
        } = of;
        match (of.wide, class) {
            (true, _) => self.helpers.load(*class, arena, at),
            (false, Class::Fixed | Class::Plain) => format!("{arena}[{at}]"),
            (false, Class::Atomic | Class::Wide) => format!("atomicLoad(&{arena}[{at}])"),
        }
    }

    fn store(&mut self, to: &Element, value: &str) {
        let Element {
            class, arena, at, ..
        } = to;
        let line = match (to.wide, class) {
            (true, _) => self.helpers.store(*class, arena, at, value),
            (false, Class::Fixed | Class::Plain) => format!("{arena}[{at}] = {value};"),
            (false, Class::Atomic | Class::Wide) => {
                format!("atomicStore(&{arena}[{at}], {value});")
            }
        };
        self.line(&line);
    }

    /// What a store puts into an element of a type.
    fn stored(&self, op: Op, word: Word, scalar: Scalar) -> String {
        let b = self.get(word, op.row().b, word.b);
        match scalar {
            Scalar::Bool => format!("{b} & 1u"),
            Scalar::U8 => format!("{b} & 255u"),
            Scalar::U32 | Scalar::I32 | Scalar::F32 => b,
            Scalar::U64 | Scalar::I64 | Scalar::F64 => b,
        }
    }

    /// A word on a buffer.
    pub(super) fn buffer(&mut self, pc: u32, op: Op, word: Word, form: Form) {
        let b = BufferId(word.resource());
        if form == Form::Length {
            self.about(Resource::Buffer(b));
            return self.set32(word.d, &format!("len_b{}", b.0));
        }
        let element = self.buffer_element(pc, word);
        match form {
            Form::Load | Form::AtomicLoad => {
                let value = self.load(&element);
                self.about(Resource::Buffer(b));
                self.set(word, op.row().d, &value);
            }
            Form::Store | Form::AtomicStore => {
                let value = self.stored(op, word, self.program.buffers[b.index()].scalar);
                self.about(Resource::Buffer(b));
                self.store(&element, &value);
            }
            _ => self.update(op, word, form, &element),
        }
    }

    /// An atomic read-modify-write.
    fn update(&mut self, op: Op, word: Word, form: Form, element: &Element) {
        let row = op.row();
        let Element {
            arena, at, wide, ..
        } = element;
        let b = self.get(word, row.b, word.b);
        let value = match form {
            Form::Atomic(builtin) if *wide => {
                let update = format!("{builtin}(&{arena}[{at}], u64_of({b}))");
                match word.d {
                    IMM => update,
                    _ => format!("pair_of({update})"),
                }
            }
            Form::Atomic(builtin) => format!("{builtin}(&{arena}[{at}], {b})"),
            Form::AtomicLoop(function) => {
                let name = format!("{}_{arena}", name(op));
                self.helpers.update(&name, arena, function, *wide);
                format!("{name}({at}, {b})")
            }
            _ => {
                let name = format!("{}_{arena}", name(op));
                self.helpers.compare_exchange(&name, arena, *wide);
                let c = self.third(op, word).unwrap_or_default();
                format!("{name}({at}, {b}, {c})")
            }
        };
        self.about(Resource::Buffer(BufferId(word.resource())));
        match word.d {
            IMM => self.line(&format!("{value};")),
            _ => self.set(word, row.d, &value),
        }
    }

    /// A word on a topology.
    pub(super) fn topology(&mut self, pc: u32, word: Word, form: Form) {
        let t = TopologyId(word.resource());
        let (n, a) = (t.0, self.get32(word, word.a));
        let offsets = self.layout.arena(Part::Offsets(t));
        let (len, value) = match form {
            Form::CsrBegin => ("nodes".to_owned(), format!("{offsets}[at_o{n} + {a}]")),
            Form::CsrEnd => ("nodes".to_owned(), format!("{offsets}[at_o{n} + {a} + 1u]")),
            _ => {
                let targets = self.layout.arena(Part::Targets(t));
                (format!("edges_{n}"), format!("{targets}[at_t{n} + {a}]"))
            }
        };
        self.inside(pc, &a, &len);
        self.about(Resource::Topology(t));
        self.set32(word.d, &value);
    }

    /// A push of a node.
    pub(super) fn push(&mut self, pc: u32, word: Word) {
        let f = FrontierId(word.resource());
        let a = self.get32(word, word.a);
        self.inside(pc, &a, "nodes");
        let items = self.layout.arena(Part::Items(f, 0));
        let stamps = self.program.frontiers[f.index()]
            .unique
            .then(|| self.layout.arena(Part::Stamps(f)));
        self.helpers.push(f, items, stamps);
        self.about(Resource::Frontier(f));
        self.line(&format!("push_f{}({a});", f.0));
    }

    /// A word that reserves an item.
    pub(super) fn reserve(&mut self, word: Word, form: Form) {
        let n = word.resource();
        let (resource, letter) = match form {
            Form::Append => (Resource::List(ListId(n)), 'l'),
            _ => (Resource::Frontier(FrontierId(n)), 'f'),
        };
        self.about(resource);
        self.set32(word.d, &format!("more_{letter}{n}()"));
    }

    /// A word that sets a field of a reserved item.
    pub(super) fn set_field(&mut self, op: Op, word: Word, form: Form) {
        let (n, k) = (word.resource(), word.field());
        let (part, letter) = match form {
            Form::ListStore => (Part::List(ListId(n), k), 'l'),
            _ => (Part::Items(FrontierId(n), k), 'f'),
        };
        let scalar = part.scalar(self.program);
        let slot = self.get32(word, word.a);
        let element = self.element_of(part, scalar, &format!("at_{letter}{n}_{k}"), &slot);
        let value = self.stored(op, word, scalar);
        self.open(&format!("if {slot} < cap_{letter}{n} {{"));
        self.aside = Some(format!("{}, field {k}", part.name(self.program)));
        self.store(&element, &value);
        self.close();
    }

    /// A reduction takes a value in.
    pub(super) fn reduce(&mut self, op: Op, word: Word) {
        let n = ReductionId(word.resource());
        let a = self.get(word, op.row().a, word.a);
        self.about(Resource::Reduction(n));
        self.line(&format!("take_{}({a});", n.0));
    }

    /// An assertion, or the check of an index.
    pub(super) fn check(&mut self, pc: u32, word: Word, form: Form) {
        let a = self.get32(word, word.a);
        if form == Form::Check {
            let b = self.get(word, Slot::W, word.b);
            return self.inside(pc, &a, &b);
        }
        self.open(&format!("if {a} == 0u {{"));
        self.fault(pc, word.imm);
        self.close();
    }
}
