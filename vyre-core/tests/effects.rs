//! The effect column of the instruction table is what the instructions do: every opcode runs in
//! [`step`](vyre_core::vir0::meaning::step) on a state and a memory that write down what is touched.

use std::cell::RefCell;
use std::collections::BTreeSet;
use vyre_core::vir0::flow::{Rows, uses, writes};
use vyre_core::vir0::isa::{Effect, Faults, Imm, Op, Slot, Word};
use vyre_core::vir0::meaning::{Memory, Next, State, step};
use vyre_core::vir0::module::{
    BufferId, FrontierId, ListId, QueueId, ReductionId, Resource, TopologyId,
};
use vyre_core::vir0::trap::TrapKind;

/// What a word did to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Touch {
    Ask,
    Load,
    Store,
    AtomicLoad,
    AtomicStore,
    /// A read-modify-write, of one step.
    Modify,
    Push,
    Reserve,
    Field,
    Reduce,
}

/// Resources whose every buffer is one element, and a list of what was done to them.
#[derive(Default)]
struct Recorder {
    element: u64,
    touched: RefCell<BTreeSet<(Touch, Resource)>>,
}

impl Recorder {
    fn note(&self, touch: Touch, resource: Resource) {
        self.touched.borrow_mut().insert((touch, resource));
    }
}

impl Memory for Recorder {
    fn len(&self, b: BufferId) -> u32 {
        self.note(Touch::Ask, Resource::Buffer(b));
        8
    }

    fn nodes(&self) -> u32 {
        8
    }

    fn load8(&mut self, b: BufferId, _: u32) -> Option<u8> {
        self.note(Touch::Load, Resource::Buffer(b));
        Some(self.element as u8)
    }

    fn load32(&mut self, b: BufferId, _: u32) -> Option<u32> {
        self.note(Touch::Load, Resource::Buffer(b));
        Some(self.element as u32)
    }

    fn load64(&mut self, b: BufferId, _: u32) -> Option<u64> {
        self.note(Touch::Load, Resource::Buffer(b));
        Some(self.element)
    }

    fn store8(&mut self, b: BufferId, _: u32, x: u8) -> Option<()> {
        self.note(Touch::Store, Resource::Buffer(b));
        self.element = x.into();
        Some(())
    }

    fn store32(&mut self, b: BufferId, _: u32, x: u32) -> Option<()> {
        self.note(Touch::Store, Resource::Buffer(b));
        self.element = x.into();
        Some(())
    }

    fn store64(&mut self, b: BufferId, _: u32, x: u64) -> Option<()> {
        self.note(Touch::Store, Resource::Buffer(b));
        self.element = x;
        Some(())
    }

    fn atomic_load32(&mut self, b: BufferId, _: u32) -> Option<u32> {
        self.note(Touch::AtomicLoad, Resource::Buffer(b));
        Some(self.element as u32)
    }

    fn atomic_load64(&mut self, b: BufferId, _: u32) -> Option<u64> {
        self.note(Touch::AtomicLoad, Resource::Buffer(b));
        Some(self.element)
    }

    fn atomic_store32(&mut self, b: BufferId, _: u32, x: u32) -> Option<()> {
        self.note(Touch::AtomicStore, Resource::Buffer(b));
        self.element = x.into();
        Some(())
    }

    fn atomic_store64(&mut self, b: BufferId, _: u32, x: u64) -> Option<()> {
        self.note(Touch::AtomicStore, Resource::Buffer(b));
        self.element = x;
        Some(())
    }

    fn update32(&mut self, b: BufferId, _: u32, f: impl Fn(u32) -> Option<u32>) -> Option<u32> {
        self.note(Touch::Modify, Resource::Buffer(b));
        let old = self.element as u32;
        self.element = f(old).unwrap_or(old).into();
        Some(old)
    }

    fn update64(&mut self, b: BufferId, _: u32, f: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        self.note(Touch::Modify, Resource::Buffer(b));
        let old = self.element;
        self.element = f(old).unwrap_or(old);
        Some(old)
    }

    fn csr_begin(&self, t: TopologyId, _: u32) -> Option<u32> {
        self.note(Touch::Ask, Resource::Topology(t));
        Some(0)
    }

    fn csr_end(&self, t: TopologyId, _: u32) -> Option<u32> {
        self.note(Touch::Ask, Resource::Topology(t));
        Some(0)
    }

    fn csr_target(&self, t: TopologyId, _: u32) -> Option<u32> {
        self.note(Touch::Ask, Resource::Topology(t));
        Some(0)
    }

    fn push(&mut self, f: FrontierId, _: u32, _: u32) {
        self.note(Touch::Push, Resource::from(f));
    }

    fn reserve(&mut self, q: QueueId, _: u32) -> u32 {
        self.note(Touch::Reserve, q.into());
        0
    }

    fn set_field(&mut self, q: QueueId, _: u16, _: u32, _: u64) {
        self.note(Touch::Field, q.into());
    }

    fn reduce(&mut self, r: ReductionId, _: u64) {
        self.note(Touch::Reduce, Resource::Reduction(r));
    }
}

/// The rows of one item, and which of them were read and written.
struct Registers {
    rows: [u32; 256],
    read: RefCell<Rows>,
    written: Rows,
}

impl Registers {
    fn new(a: u64, b: u64, c: u64) -> Registers {
        let mut state = Registers {
            rows: [0; 256],
            read: RefCell::default(),
            written: Rows::NONE,
        };
        state.set64(A, a);
        state.set64(B, b);
        state.set64(C, c);
        state.written = Rows::NONE;
        state
    }
}

impl State for Registers {
    fn get32(&self, operand: u8) -> u32 {
        self.read.borrow_mut().add(operand);
        self.rows[usize::from(operand)]
    }

    fn get64(&self, operand: u8) -> u64 {
        let (low, high) = (self.get32(operand), self.get32(operand + 1));
        u64::from(high) << 32 | u64::from(low)
    }

    fn set32(&mut self, operand: u8, value: u32) {
        self.written.add(operand);
        self.rows[usize::from(operand)] = value;
    }

    fn set64(&mut self, operand: u8, value: u64) {
        self.set32(operand, value as u32);
        self.set32(operand + 1, (value >> 32) as u32);
    }

    fn uniform(&self, _: u32) -> u64 {
        1
    }
}

/// Rows of the operands.
const A: u8 = 2;
const B: u8 = 4;
const C: u8 = 6;
const D: u8 = 10;
/// First row of a local array, and its elements.
const ARRAY: u8 = 20;
const LEN: u8 = 4;
const ID: u16 = 7;
/// The pc of targets, and how many loops out a depth is: no word comes to either by itself.
const TARGET: u32 = 9;
const DEPTH: u32 = 1;

/// A word of this opcode with every operand in rows of its own.
fn word(op: Op) -> Word {
    let row = op.row();
    let byte = |slot: Slot, row: u8| match slot {
        Slot::N | Slot::Flag => 0,
        Slot::W | Slot::D | Slot::OptW | Slot::OptD => row,
    };
    Word {
        op: op as u8,
        d: byte(row.d, D),
        a: byte(row.a, A),
        b: byte(row.b, B),
        imm: match row.imm {
            Imm::N | Imm::Literal => 0,
            Imm::Third => C.into(),
            Imm::Resource(_) => u32::from(ID) << 16,
            Imm::ResourceThird(_) => u32::from(ID) << 16 | u32::from(C),
            Imm::Field(..) => u32::from(ID) << 16 | 3,
            Imm::Rows => u32::from(ARRAY) | u32::from(LEN) << 8,
            Imm::Uniform => 5,
            Imm::Target => TARGET,
            Imm::Depth => DEPTH,
            Imm::Code => TrapKind::Assert as u32,
        },
    }
}

/// Whether what two words leave in an element shows which came first.
fn shows_order(op: Op) -> bool {
    let after = |element: u64, pairs: [(u64, u64); 2]| {
        let mut memory = Recorder {
            element,
            ..Recorder::default()
        };
        for (b, c) in pairs {
            let mut state = Registers::new(0, b, c);
            step(word(op), 0, &mut state, &mut memory).expect("the index is in bounds");
        }
        memory.element
    };
    let floats = [1.5f32, 0.25, 8.0].map(|x| u64::from(x.to_bits()));
    let doubles = [1.5f64, 0.25, 8.0].map(f64::to_bits);
    let signs = [1, u64::MAX, 1 << 63 | 1 << 31];
    let mut all = [[5, 6, 7], floats, doubles, signs].into_iter();
    all.any(|[x, y, z]| after(x, [(x, y), (y, z)]) != after(x, [(y, z), (x, y)]))
}

/// The effect of an opcode as far as it shows. The end of an `if` does nothing to an item that comes there.
fn observed(op: Op) -> Effect {
    let word = word(op);
    let (mut touched, mut nexts) = (BTreeSet::new(), Vec::new());
    let mut stops = true;
    let (mut read, mut written) = (Rows::NONE, Rows::NONE);
    for a in [0, 1] {
        let (mut state, mut memory) = (Registers::new(a, 2, 3), Recorder::default());
        match step(word, 0, &mut state, &mut memory) {
            Ok(next) => {
                stops = false;
                nexts.push(next);
            }
            Err(_) => assert_ne!(op.row().faults, Faults::No, "{op:?} faults"),
        }
        let reads = *state.read.borrow();
        (read, written) = (read.or(reads), written.or(state.written));
        touched.append(memory.touched.get_mut());
    }
    let may_write = writes(&word);
    assert_eq!(read.without(uses(&word)), Rows::NONE, "{op:?} reads");
    assert_eq!(written.without(may_write), Rows::NONE, "{op:?} writes");

    let array: Rows = (ARRAY..ARRAY + LEN * op.row().element_rows()).into();
    if op.row().imm == Imm::Rows {
        assert!(touched.is_empty(), "{op:?}: {touched:?}");
        return match (array.meets(read), array.and(written)) {
            (true, Rows::NONE) => Effect::RowLoad,
            (false, rows) if rows == array => Effect::RowFill,
            (false, rows) if rows != Rows::NONE => Effect::RowStore,
            other => panic!("{op:?}: {other:?}"),
        };
    }
    assert!(!array.meets(read.or(written)), "{op:?} has no array");

    let mut touched = touched.into_iter();
    if let Some((touch, resource)) = touched.next() {
        assert_eq!(touched.next(), None, "{op:?} does one thing");
        assert_eq!(word.names(), Some(resource), "{op:?}");
        return match touch {
            Touch::Ask => Effect::Ask,
            Touch::Load => Effect::Load,
            Touch::Store => Effect::Store,
            Touch::AtomicLoad => Effect::AtomicLoad,
            Touch::AtomicStore => Effect::AtomicStore,
            Touch::Modify if shows_order(op) => Effect::Exchange,
            Touch::Modify => Effect::Update,
            Touch::Push => Effect::Push,
            Touch::Reserve => Effect::Reserve,
            Touch::Field => Effect::Field,
            Touch::Reduce => Effect::Reduce,
        };
    }
    assert_eq!(word.names(), None, "{op:?}");

    nexts.dedup();
    match nexts[..] {
        [] if stops => Effect::End,
        [Next::Done(_), ..] => Effect::End,
        [Next::Following] => Effect::No,
        [Next::Inside] | [Next::Behind(TARGET), Next::Following] => Effect::Open,
        [Next::Behind(TARGET)] => Effect::Turn,
        [Next::Turn(0)] => Effect::Close,
        [Next::Following, Next::Out(DEPTH)] | [Next::Out(DEPTH), Next::Following] => {
            Effect::MayLeave
        }
        [Next::Out(DEPTH) | Next::Turn(DEPTH)] => Effect::Leave,
        ref others => panic!("{op:?}: {others:?}"),
    }
}

#[test]
fn every_instruction_does_what_its_effect_says() {
    for &op in Op::ALL {
        let effect = op.row().effect;
        let seen = observed(op);
        if op == Op::EndIf {
            assert_eq!((effect, seen), (Effect::Close, Effect::No));
        } else {
            assert_eq!(effect, seen, "{op:?}");
        }
    }
}

#[test]
fn what_changes_a_resource_names_it() {
    let buffer = Resource::Buffer(BufferId(ID));
    assert!(word(Op::St32).changes(buffer));
    assert!(!word(Op::St32).changes(Resource::Buffer(BufferId(ID + 1))));
    // Numbers of other tables are others.
    assert!(!word(Op::Append).changes(buffer));
    assert!(word(Op::ListSt64).changes(Resource::from(ListId(ID))));
    assert!(!word(Op::AtomLd32).changes(buffer));
    let unknown = Word::default();
    assert_eq!((unknown.names(), unknown.changes(buffer)), (None, false));
    for &op in Op::ALL {
        let effect = op.row().effect;
        let names = word(op).names().is_some();
        // Of optional results, the old value; a word that branches touches nothing.
        let optional = matches!(op.row().d, Slot::OptW | Slot::OptD);
        assert_eq!(
            optional,
            matches!(effect, Effect::Update | Effect::Exchange),
            "{op:?}"
        );
        assert!(names || !(effect.changes() || effect.loads()), "{op:?}");
        assert!(!(names && effect.branches()), "{op:?}");
    }
}
