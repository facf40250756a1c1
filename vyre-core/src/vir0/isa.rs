//! The VIR0 instruction table: every opcode, its operands, its immediate and its meaning, written down once.
//!
//! The enum, the decoder, the operand checks of the verifier, the disassembler, the table in `docs/VIR0.md` and the
//! CUDA header all come from the rows of [`for_each_op`](crate::for_each_op). Interpreters and the compiler to PTX are
//! exhaustive matches over [`Op`].
//!
//! An instruction is one fixed 8-byte [`Word`]: `{op, d, a, b: u8, imm: u32}`, little endian. An operand byte names
//!
//! | byte | operand |
//! | --- | --- |
//! | `0..=191` | register row; a 64-bit value takes rows `r` and `r + 1`, low half first |
//! | `192..=254` | uniform slot 0..=62 of the kernel (scalars, constants, round, ...): no register needed |
//! | `255` | as a source: the word's `imm` (a 64-bit source sign-extends it); as a destination: unused |
//!
//! Control flow is structured: `if`/`else`/`endif` and `loop`/`endloop` nest, and their targets are redundant with the
//! nesting, so that a warp whose lanes are all masked off can jump without searching.
//!
//! ```
//! use vyre_core::vir0::isa::{Op, Word};
//! let add = Word { op: Op::Add32 as u8, d: 0, a: 0, b: 255, imm: 1 };
//! assert_eq!(Word::from_bytes(add.to_bytes()), add);
//! assert_eq!(Op::from_code(add.op), Some(Op::Add32));
//! ```

use crate::vir0::module::{
    BufferId, FrontierId, ListId, QueueId, ReductionId, Resource, TopologyId,
};

/// First operand byte that names a uniform slot.
pub const UNIFORM_BASE: u8 = 192;
/// Number of register rows that an operand byte can name.
pub const MAX_ROWS: usize = UNIFORM_BASE as usize;
/// Number of uniform slots that an operand byte can name; further ones are read with `ldu`.
pub const MAX_DIRECT_UNIFORMS: usize = 63;
/// Operand byte: the immediate (source) or no destination.
pub const IMM: u8 = 255;
/// Longest code of one kernel, in words, so that a pc fits in a trap key.
pub const MAX_CODE_WORDS: usize = 65_535;
/// Mask frames available to one kernel when four items share a lane; see [`FRAMES_PER_IF`].
pub const MAX_FRAMES_AT_4: u8 = 16;
/// Mask frames taken by an `if`: the saved mask and the else mask.
pub const FRAMES_PER_IF: u8 = 2;
/// Mask frames taken by a `loop`: the exit mask and the round mask.
pub const FRAMES_PER_LOOP: u8 = 2;
/// Deepest mask stack of a verified kernel (one item a lane).
pub const MAX_FRAMES: u8 = 64;

/// One encoded instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Word {
    /// Opcode: [`Op`] as u8.
    pub op: u8,
    /// Destination operand byte.
    pub d: u8,
    /// First source operand byte.
    pub a: u8,
    /// Second source operand byte.
    pub b: u8,
    /// Immediate; its meaning is the opcode's [`Imm`] column.
    pub imm: u32,
}

impl Word {
    /// Little-endian bytes, in field order.
    pub const fn to_bytes(self) -> [u8; 8] {
        let i = self.imm.to_le_bytes();
        [self.op, self.d, self.a, self.b, i[0], i[1], i[2], i[3]]
    }

    /// Inverse of [`Word::to_bytes`].
    pub const fn from_bytes(b: [u8; 8]) -> Word {
        Word {
            op: b[0],
            d: b[1],
            a: b[2],
            b: b[3],
            imm: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
        }
    }

    /// The third source operand byte: low 8 bits of `imm` in [`Imm::Third`] and [`Imm::ResourceThird`] words.
    pub const fn third(self) -> u8 {
        self.imm as u8
    }

    /// The rows of a local array in an [`Imm::Rows`] word: the first row, and the number of elements.
    pub const fn array(self) -> (u8, u8) {
        (self.imm as u8, (self.imm >> 8) as u8)
    }

    /// The number of a field in an [`Imm::Field`] word.
    pub const fn field(self) -> u16 {
        self.imm as u16
    }

    /// Of a `loop`: whether each of its turns that comes to its end is a step of work.
    pub const fn counts(self) -> bool {
        self.a == 0
    }

    /// The resource id: high 16 bits of `imm` in [`Imm::Resource`], [`Imm::ResourceThird`] and [`Imm::Field`] words.
    pub const fn resource(self) -> u16 {
        (self.imm >> 16) as u16
    }

    /// The resource that a word names, if its opcode is known and names one.
    pub fn names(self) -> Option<Resource> {
        let kind = Op::from_code(self.op)?.row().kind()?;
        Some(kind.resource(self.resource()))
    }

    /// Whether a word with a known opcode changes this resource.
    pub fn changes(self, resource: Resource) -> bool {
        let op = Op::from_code(self.op);
        op.is_some_and(|op| op.row().effect.changes()) && self.names() == Some(resource)
    }
}

/// What an operand byte of an opcode may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Not used; the byte is 0.
    N,
    /// A 32-bit value (u32, i32, f32, or a bool as 0 or 1).
    W,
    /// A 64-bit value (two rows).
    D,
    /// A 32-bit destination that may be [`IMM`]: result unused.
    OptW,
    /// A 64-bit destination that may be [`IMM`]: result unused.
    OptD,
    /// No operand: 1 says what the word's meaning says, 0 that it is not so.
    Flag,
}

/// What the immediate of an opcode is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imm {
    /// Not used; 0.
    N,
    /// A literal source when an operand byte is [`IMM`], otherwise 0.
    Literal,
    /// A third source operand in the low 8 bits (never [`IMM`]); its width is the destination's.
    Third,
    /// A resource id in the high 16 bits; the low 16 are 0. Sources cannot be [`IMM`].
    Resource(Kind),
    /// A resource id in the high 16 bits and a third source (width of `b`) in the low 8.
    ResourceThird(Kind),
    /// A local array: its first row in the low 8 bits, its number of elements (at least 1) in the next 8; the others
    /// are 0. Sources cannot be [`IMM`]. The width of an element is that of the instruction's value.
    Rows,
    /// A resource id in the high 16 bits, a field of its items in the low 16, of this many bytes. Sources cannot be
    /// [`IMM`].
    Field(Kind, u64),
    /// An index into the kernel's uniform table.
    Uniform,
    /// A pc: the matching `else`, `endif`, or the word after `endloop`, or the `loop` itself.
    Target,
    /// How many loops out: 0 is the innermost.
    Depth,
    /// A trap code: [`crate::vir0::trap::TrapKind`] code of `trap` and `assert`.
    Code,
}

/// Which table a resource id indexes, and what it must hold there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A buffer with 1-byte elements (u8, bool).
    Buffer8,
    /// A buffer with 4-byte elements.
    Buffer32,
    /// A buffer with 8-byte elements.
    Buffer64,
    /// A buffer of exactly this scalar.
    BufferOf(crate::vir0::scalar::Scalar),
    /// Any buffer.
    Buffer,
    /// A topology.
    Topology,
    /// A frontier of nodes.
    Frontier,
    /// A frontier of other items.
    ItemFrontier,
    /// A list.
    List,
    /// A reduction over a 4-byte scalar (or a bool).
    Reduction32,
    /// A reduction over an 8-byte scalar.
    Reduction64,
}

impl Kind {
    /// The resource of this kind with this number.
    pub const fn resource(self, id: u16) -> Resource {
        match self {
            Kind::Buffer8 | Kind::Buffer32 | Kind::Buffer64 | Kind::BufferOf(_) | Kind::Buffer => {
                Resource::Buffer(BufferId(id))
            }
            Kind::Topology => Resource::Topology(TopologyId(id)),
            Kind::Frontier | Kind::ItemFrontier => {
                Resource::Queue(QueueId::Frontier(FrontierId(id)))
            }
            Kind::List => Resource::Queue(QueueId::List(ListId(id))),
            Kind::Reduction32 | Kind::Reduction64 => Resource::Reduction(ReductionId(id)),
        }
    }
}

/// Faults an instruction can raise; see [`crate::vir0::trap::TrapKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faults {
    /// None.
    No,
    /// The index in `a` is checked against the length of the resource or of the local array (of `check`: against `b`).
    Bounds,
    /// Zero divisor; for signed types also `MIN / -1`.
    Divide,
    /// More items than the capacity: the barrier group is finished, then the run stops.
    Capacity,
    /// Raised by the word itself.
    Explicit,
}

/// What an instruction does beside making `d`: to its local array, to the resource that it names, and to the order in
/// which its item goes through the code.
///
/// Whoever asks what a word does to memory asks here, and keeps no list of opcodes. A test runs every opcode in
/// [`step`](crate::vir0::meaning::step) and compares what it touched with this column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing. `d` is made of the operands and of what stays the same for the item; the word may fault.
    No,
    /// Reads an element of the local array.
    RowLoad,
    /// Writes an element of the local array; the others keep their values.
    RowStore,
    /// Writes every element of the local array.
    RowFill,
    /// Asks what no wave changes: a length, or a topology.
    Ask,
    /// Reads an element of a buffer. A barrier orders it after what other lanes wrote.
    Load,
    /// Writes an element of a buffer. A barrier orders it before what other lanes read.
    Store,
    /// Reads an element of a buffer, as other lanes' atomics left it.
    AtomicLoad,
    /// Writes an element of a buffer, for other lanes' atomics to see.
    AtomicStore,
    /// Takes `b` into an element of a buffer in one step. Updates by one opcode leave the same in any order, but for
    /// how floats are rounded. `d`, where it is asked for, is the old value, and shows the order.
    Update,
    /// Replaces an element of a buffer in one step. What it leaves, and `d`, show the order.
    Exchange,
    /// Adds a node to the next round of a frontier.
    Push,
    /// Adds an item to a list, or to the next round of a frontier; `d` is its slot. Its fields are written behind it.
    Reserve,
    /// Writes a field of an item that this lane reserved.
    Field,
    /// Takes a value into a reduction.
    Reduce,
    /// Opens a block.
    Open,
    /// Ends the first branch of an `if` and begins the other.
    Turn,
    /// Ends a block.
    Close,
    /// Leaves a loop, or its turn, under a condition.
    MayLeave,
    /// Leaves a loop, or its turn.
    Leave,
    /// The item is done.
    End,
}

impl Effect {
    /// Whether the resource that the word names is another afterwards.
    pub const fn changes(self) -> bool {
        match self {
            Effect::Store
            | Effect::AtomicStore
            | Effect::Update
            | Effect::Exchange
            | Effect::Push
            | Effect::Reserve
            | Effect::Field
            | Effect::Reduce => true,
            Effect::No
            | Effect::RowLoad
            | Effect::RowStore
            | Effect::RowFill
            | Effect::Ask
            | Effect::Load
            | Effect::AtomicLoad
            | Effect::Open
            | Effect::Turn
            | Effect::Close
            | Effect::MayLeave
            | Effect::Leave
            | Effect::End => false,
        }
    }

    /// Whether it reads an element of a buffer and changes nothing.
    pub const fn loads(self) -> bool {
        matches!(self, Effect::Load | Effect::AtomicLoad)
    }

    /// Whether the word that its item runs next may be another than the next one.
    pub const fn branches(self) -> bool {
        match self {
            Effect::Open | Effect::Turn | Effect::Close => true,
            Effect::MayLeave | Effect::Leave | Effect::End => true,
            Effect::No
            | Effect::RowLoad
            | Effect::RowStore
            | Effect::RowFill
            | Effect::Ask
            | Effect::Load
            | Effect::Store
            | Effect::AtomicLoad
            | Effect::AtomicStore
            | Effect::Update
            | Effect::Exchange
            | Effect::Push
            | Effect::Reserve
            | Effect::Field
            | Effect::Reduce => false,
        }
    }

    /// As the table in `docs/VIR0.md` has it.
    const fn name(self) -> &'static str {
        match self {
            Effect::No => "",
            Effect::RowLoad => "row load",
            Effect::RowStore => "row store",
            Effect::RowFill => "row fill",
            Effect::Ask => "ask",
            Effect::Load => "load",
            Effect::Store => "store",
            Effect::AtomicLoad => "atomic load",
            Effect::AtomicStore => "atomic store",
            Effect::Update => "update",
            Effect::Exchange => "exchange",
            Effect::Push => "push",
            Effect::Reserve => "reserve",
            Effect::Field => "field",
            Effect::Reduce => "reduce",
            Effect::Open => "open",
            Effect::Turn => "turn",
            Effect::Close => "close",
            Effect::MayLeave => "may leave",
            Effect::Leave => "leave",
            Effect::End => "end",
        }
    }
}

/// Calls `$m!` once with every row of the instruction table:
/// `code Variant "mnemonic" d a b imm faults effect "meaning";`.
#[macro_export]
macro_rules! for_each_op {
    ($m:ident) => {
        $m! {
            // Moves and uniforms
            0x01 Mov32 "mov.b32" W W N (Literal) No No "d = a";
            0x02 Mov64 "mov.b64" D D N (Literal) No No "d = a";
            0x03 LdU32 "ldu.b32" W N N (Uniform) No No "d = uniform[imm], low 32 bits";
            0x04 LdU64 "ldu.b64" D N N (Uniform) No No "d = uniform[imm]";
            0x05 Sel32 "sel.b32" W W W (Third) No No "d = a ? b : c; a is a bool";
            0x06 Sel64 "sel.b64" D W D (Third) No No "d = a ? b : c; a is a bool";
            // Local arrays in consecutive rows
            0x08 RowLd32 "row.ld.b32" W W N (Rows) Bounds RowLoad "d = array[a]";
            0x09 RowLd64 "row.ld.b64" D W N (Rows) Bounds RowLoad "d = array[a]";
            0x0a RowSt32 "row.st.b32" N W W (Rows) Bounds RowStore "array[a] = b";
            0x0b RowSt64 "row.st.b64" N W D (Rows) Bounds RowStore "array[a] = b";
            0x0c RowFill32 "row.fill.b32" N W N (Rows) No RowFill "every element of the array = a";
            0x0d RowFill64 "row.fill.b64" N D N (Rows) No RowFill "every element of the array = a";
            // 32-bit integers
            0x10 Add32 "add.b32" W W W (Literal) No No "d = a + b, wrapping";
            0x11 Sub32 "sub.b32" W W W (Literal) No No "d = a - b, wrapping";
            0x12 Mul32 "mul.b32" W W W (Literal) No No "d = a * b, wrapping";
            0x13 DivU32 "div.u32" W W W (Literal) Divide No "d = a / b";
            0x14 DivI32 "div.i32" W W W (Literal) Divide No "d = a / b, toward zero";
            0x15 RemU32 "rem.u32" W W W (Literal) Divide No "d = a % b";
            0x16 RemI32 "rem.i32" W W W (Literal) Divide No "d = a % b, sign of a";
            0x17 MinU32 "min.u32" W W W (Literal) No No "d = the smaller";
            0x18 MinI32 "min.i32" W W W (Literal) No No "d = the smaller";
            0x19 MaxU32 "max.u32" W W W (Literal) No No "d = the larger";
            0x1a MaxI32 "max.i32" W W W (Literal) No No "d = the larger";
            0x1b And32 "and.b32" W W W (Literal) No No "d = a & b";
            0x1c Or32 "or.b32" W W W (Literal) No No "d = a | b";
            0x1d Xor32 "xor.b32" W W W (Literal) No No "d = a ^ b";
            0x1e Shl32 "shl.b32" W W W (Literal) No No "d = a << (b & 31)";
            0x1f ShrU32 "shr.u32" W W W (Literal) No No "d = a >> (b & 31), zero fill";
            0x20 ShrI32 "shr.i32" W W W (Literal) No No "d = a >> (b & 31), sign fill";
            0x21 Rotl32 "rotl.b32" W W W (Literal) No No "d = a rotated left by b & 31";
            0x22 Popc32 "popc.b32" W W N (Literal) No No "d = number of set bits of a";
            0x23 Clz32 "clz.b32" W W N (Literal) No No "d = number of leading zeros of a; 32 for 0";
            0x24 Ctz32 "ctz.b32" W W N (Literal) No No "d = number of trailing zeros of a; 32 for 0";
            // 64-bit integers
            0x30 Add64 "add.b64" D D D (Literal) No No "d = a + b, wrapping";
            0x31 Sub64 "sub.b64" D D D (Literal) No No "d = a - b, wrapping";
            0x32 Mul64 "mul.b64" D D D (Literal) No No "d = a * b, wrapping";
            0x33 DivU64 "div.u64" D D D (Literal) Divide No "d = a / b";
            0x34 DivI64 "div.i64" D D D (Literal) Divide No "d = a / b, toward zero";
            0x35 RemU64 "rem.u64" D D D (Literal) Divide No "d = a % b";
            0x36 RemI64 "rem.i64" D D D (Literal) Divide No "d = a % b, sign of a";
            0x37 MinU64 "min.u64" D D D (Literal) No No "d = the smaller";
            0x38 MinI64 "min.i64" D D D (Literal) No No "d = the smaller";
            0x39 MaxU64 "max.u64" D D D (Literal) No No "d = the larger";
            0x3a MaxI64 "max.i64" D D D (Literal) No No "d = the larger";
            0x3b And64 "and.b64" D D D (Literal) No No "d = a & b";
            0x3c Or64 "or.b64" D D D (Literal) No No "d = a | b";
            0x3d Xor64 "xor.b64" D D D (Literal) No No "d = a ^ b";
            0x3e Shl64 "shl.b64" D D W (Literal) No No "d = a << (b & 63)";
            0x3f ShrU64 "shr.u64" D D W (Literal) No No "d = a >> (b & 63), zero fill";
            0x40 ShrI64 "shr.i64" D D W (Literal) No No "d = a >> (b & 63), sign fill";
            0x41 Rotl64 "rotl.b64" D D W (Literal) No No "d = a rotated left by b & 63";
            0x42 Popc64 "popc.b64" W D N (Literal) No No "d = number of set bits of a";
            0x43 Clz64 "clz.b64" W D N (Literal) No No "d = number of leading zeros of a; 64 for 0";
            0x44 Ctz64 "ctz.b64" W D N (Literal) No No "d = number of trailing zeros of a; 64 for 0";
            0x45 MulHiU64 "mulhi.u64" D D D (Literal) No No "d = high 64 bits of the 128-bit product";
            // Approximate: at most 2 units in the last place from the exact value; backends may differ within that.
            0x48 ExpF32 "exp.f32" W W N (Literal) No No "d = e to the power a; within 2 ulp";
            0x49 LnF32 "ln.f32" W W N (Literal) No No "d = natural logarithm of a; within 2 ulp";
            0x4a SinF32 "sin.f32" W W N (Literal) No No "d = sine of a radians; within 2 ulp";
            0x4b CosF32 "cos.f32" W W N (Literal) No No "d = cosine of a radians; within 2 ulp";
            0x4c ExpF64 "exp.f64" D D N (N) No No "d = e to the power a; within 2 ulp";
            0x4d LnF64 "ln.f64" D D N (N) No No "d = natural logarithm of a; within 2 ulp";
            0x4e SinF64 "sin.f64" D D N (N) No No "d = sine of a radians; within 2 ulp";
            0x4f CosF64 "cos.f64" D D N (N) No No "d = cosine of a radians; within 2 ulp";
            // f32
            0x50 AddF32 "add.f32" W W W (Literal) No No "d = a + b, round to nearest even, never contracted";
            0x51 SubF32 "sub.f32" W W W (Literal) No No "d = a - b";
            0x52 MulF32 "mul.f32" W W W (Literal) No No "d = a * b";
            0x53 DivF32 "div.f32" W W W (Literal) No No "d = a / b, correctly rounded";
            0x54 RemF32 "rem.f32" W W W (Literal) No No "d = a % b, exact (fmod)";
            0x55 MinF32 "min.f32" W W W (Literal) No No "d = the smaller; a NaN loses to a number";
            0x56 MaxF32 "max.f32" W W W (Literal) No No "d = the larger; a NaN loses to a number";
            0x57 FmaF32 "fma.f32" W W W (Third) No No "d = a * b + c, rounded once";
            0x58 SqrtF32 "sqrt.f32" W W N (Literal) No No "d = square root, correctly rounded";
            0x59 FloorF32 "floor.f32" W W N (Literal) No No "d = a rounded down";
            0x5a CeilF32 "ceil.f32" W W N (Literal) No No "d = a rounded up";
            0x5b RoundF32 "round.f32" W W N (Literal) No No "d = a rounded to nearest, halves away from zero";
            0x5c TruncF32 "trunc.f32" W W N (Literal) No No "d = a rounded toward zero";
            // f64
            0x60 AddF64 "add.f64" D D D (N) No No "d = a + b";
            0x61 SubF64 "sub.f64" D D D (N) No No "d = a - b";
            0x62 MulF64 "mul.f64" D D D (N) No No "d = a * b";
            0x63 DivF64 "div.f64" D D D (N) No No "d = a / b";
            0x64 RemF64 "rem.f64" D D D (N) No No "d = a % b, exact (fmod)";
            0x65 MinF64 "min.f64" D D D (N) No No "d = the smaller; a NaN loses to a number";
            0x66 MaxF64 "max.f64" D D D (N) No No "d = the larger; a NaN loses to a number";
            0x67 FmaF64 "fma.f64" D D D (Third) No No "d = a * b + c, rounded once";
            0x68 SqrtF64 "sqrt.f64" D D N (N) No No "d = square root, correctly rounded";
            0x69 FloorF64 "floor.f64" D D N (N) No No "d = a rounded down";
            0x6a CeilF64 "ceil.f64" D D N (N) No No "d = a rounded up";
            0x6b RoundF64 "round.f64" D D N (N) No No "d = a rounded to nearest, halves away from zero";
            0x6c TruncF64 "trunc.f64" D D N (N) No No "d = a rounded toward zero";
            // Comparisons: 1 or 0; ordered comparisons with a NaN are 0. Greater-than swaps its operands.
            0x70 Eq32 "eq.b32" W W W (Literal) No No "d = (a == b)";
            0x71 Ne32 "ne.b32" W W W (Literal) No No "d = (a != b)";
            0x72 LtU32 "lt.u32" W W W (Literal) No No "d = (a < b)";
            0x73 LeU32 "le.u32" W W W (Literal) No No "d = (a <= b)";
            0x74 LtI32 "lt.i32" W W W (Literal) No No "d = (a < b)";
            0x75 LeI32 "le.i32" W W W (Literal) No No "d = (a <= b)";
            0x76 EqF32 "eq.f32" W W W (Literal) No No "d = (a == b)";
            0x77 NeF32 "ne.f32" W W W (Literal) No No "d = (a != b); 1 with a NaN";
            0x78 LtF32 "lt.f32" W W W (Literal) No No "d = (a < b)";
            0x79 LeF32 "le.f32" W W W (Literal) No No "d = (a <= b)";
            0x7a Eq64 "eq.b64" W D D (Literal) No No "d = (a == b)";
            0x7b Ne64 "ne.b64" W D D (Literal) No No "d = (a != b)";
            0x7c LtU64 "lt.u64" W D D (Literal) No No "d = (a < b)";
            0x7d LeU64 "le.u64" W D D (Literal) No No "d = (a <= b)";
            0x7e LtI64 "lt.i64" W D D (Literal) No No "d = (a < b)";
            0x7f LeI64 "le.i64" W D D (Literal) No No "d = (a <= b)";
            0x80 EqF64 "eq.f64" W D D (N) No No "d = (a == b)";
            0x81 NeF64 "ne.f64" W D D (N) No No "d = (a != b); 1 with a NaN";
            0x82 LtF64 "lt.f64" W D D (N) No No "d = (a < b)";
            0x83 LeF64 "le.f64" W D D (N) No No "d = (a <= b)";
            // Conversions, as Rust's `as`
            0x88 Zext64 "cvt.u64.u32" D W N (Literal) No No "d = a, zero-extended";
            0x89 Sext64 "cvt.i64.i32" D W N (Literal) No No "d = a, sign-extended";
            0x8a Wrap32 "cvt.b32.b64" W D N (Literal) No No "d = low 32 bits of a";
            0x8b F32FromU32 "cvt.f32.u32" W W N (Literal) No No "d = a, nearest even";
            0x8c F32FromI32 "cvt.f32.i32" W W N (Literal) No No "d = a, nearest even";
            0x8d F32FromU64 "cvt.f32.u64" W D N (Literal) No No "d = a, nearest even";
            0x8e F32FromI64 "cvt.f32.i64" W D N (Literal) No No "d = a, nearest even";
            0x8f F32FromF64 "cvt.f32.f64" W D N (N) No No "d = a, nearest even";
            0x90 F64FromU32 "cvt.f64.u32" D W N (Literal) No No "d = a, exact";
            0x91 F64FromI32 "cvt.f64.i32" D W N (Literal) No No "d = a, exact";
            0x92 F64FromU64 "cvt.f64.u64" D D N (Literal) No No "d = a, nearest even";
            0x93 F64FromI64 "cvt.f64.i64" D D N (Literal) No No "d = a, nearest even";
            0x94 F64FromF32 "cvt.f64.f32" D W N (Literal) No No "d = a, exact";
            0x95 U32FromF32 "cvt.u32.f32" W W N (Literal) No No "d = a toward zero, saturating; NaN is 0";
            0x96 I32FromF32 "cvt.i32.f32" W W N (Literal) No No "d = a toward zero, saturating; NaN is 0";
            0x97 U64FromF32 "cvt.u64.f32" D W N (Literal) No No "d = a toward zero, saturating; NaN is 0";
            0x98 I64FromF32 "cvt.i64.f32" D W N (Literal) No No "d = a toward zero, saturating; NaN is 0";
            0x99 U32FromF64 "cvt.u32.f64" W D N (N) No No "d = a toward zero, saturating; NaN is 0";
            0x9a I32FromF64 "cvt.i32.f64" W D N (N) No No "d = a toward zero, saturating; NaN is 0";
            0x9b U64FromF64 "cvt.u64.f64" D D N (N) No No "d = a toward zero, saturating; NaN is 0";
            0x9c I64FromF64 "cvt.i64.f64" D D N (N) No No "d = a toward zero, saturating; NaN is 0";
            // Buffers. The index in `a` is u32 and checked against the buffer's length.
            0xa0 Ld8 "ld.b8" W W N (Resource(Buffer8)) Bounds Load "d = buffer[a], zero-extended";
            0xa1 Ld32 "ld.b32" W W N (Resource(Buffer32)) Bounds Load "d = buffer[a]";
            0xa2 Ld64 "ld.b64" D W N (Resource(Buffer64)) Bounds Load "d = buffer[a]";
            0xa3 St8 "st.b8" N W W (Resource(Buffer8)) Bounds Store "buffer[a] = low 8 bits of b";
            0xa4 St32 "st.b32" N W W (Resource(Buffer32)) Bounds Store "buffer[a] = b";
            0xa5 St64 "st.b64" N W D (Resource(Buffer64)) Bounds Store "buffer[a] = b";
            0xa6 Len "len" W N N (Resource(Buffer)) No Ask "d = length of the buffer in elements";
            0xa7 CsrBegin "csr.begin" W W N (Resource(Topology)) Bounds Ask "d = offsets[a]; a < nodes";
            0xa8 CsrEnd "csr.end" W W N (Resource(Topology)) Bounds Ask "d = offsets[a + 1]; a < nodes";
            0xa9 CsrTarget "csr.target" W W N (Resource(Topology)) Bounds Ask "d = targets[a]; a < edges";
            // Atomics: relaxed, device scope; d = the old value.
            0xb0 AtomLd32 "atom.ld.b32" W W N (Resource(Buffer32)) Bounds AtomicLoad "d = buffer[a], atomically";
            0xb1 AtomLd64 "atom.ld.b64" D W N (Resource(Buffer64)) Bounds AtomicLoad "d = buffer[a], atomically";
            0xb2 AtomSt32 "atom.st.b32" N W W (Resource(Buffer32)) Bounds AtomicStore "buffer[a] = b, atomically";
            0xb3 AtomSt64 "atom.st.b64" N W D (Resource(Buffer64)) Bounds AtomicStore "buffer[a] = b, atomically";
            0xb4 AtomSwap32 "atom.swap.b32" OptW W W (Resource(Buffer32)) Bounds Exchange "exchange";
            0xb5 AtomSwap64 "atom.swap.b64" OptD W D (Resource(Buffer64)) Bounds Exchange "exchange";
            0xb6 AtomCas32 "atom.cas.b32" OptW W W (ResourceThird(Buffer32)) Bounds Exchange "if buffer[a] == b store c; d = 1 if it was stored, else 0";
            0xb7 AtomCas64 "atom.cas.b64" OptW W D (ResourceThird(Buffer64)) Bounds Exchange "if buffer[a] == b store c; d = 1 if it was stored, else 0";
            0xb8 AtomAdd32 "atom.add.b32" OptW W W (Resource(Buffer32)) Bounds Update "buffer[a] += b, wrapping";
            0xb9 AtomAdd64 "atom.add.b64" OptD W D (Resource(Buffer64)) Bounds Update "buffer[a] += b, wrapping";
            0xba AtomAddF32 "atom.add.f32" OptW W W (Resource(BufferOf(F32))) Bounds Update "buffer[a] += b";
            0xbb AtomAddF64 "atom.add.f64" OptD W D (Resource(BufferOf(F64))) Bounds Update "buffer[a] += b";
            0xbc AtomMinU32 "atom.min.u32" OptW W W (Resource(BufferOf(U32))) Bounds Update "buffer[a] = the smaller";
            0xbd AtomMinI32 "atom.min.i32" OptW W W (Resource(BufferOf(I32))) Bounds Update "buffer[a] = the smaller";
            0xbe AtomMinU64 "atom.min.u64" OptD W D (Resource(BufferOf(U64))) Bounds Update "buffer[a] = the smaller";
            0xbf AtomMinI64 "atom.min.i64" OptD W D (Resource(BufferOf(I64))) Bounds Update "buffer[a] = the smaller";
            0xc0 AtomMinF32 "atom.min.f32" OptW W W (Resource(BufferOf(F32))) Bounds Update "buffer[a] = the smaller; a NaN loses";
            0xc1 AtomMinF64 "atom.min.f64" OptD W D (Resource(BufferOf(F64))) Bounds Update "buffer[a] = the smaller; a NaN loses";
            0xc2 AtomMaxU32 "atom.max.u32" OptW W W (Resource(BufferOf(U32))) Bounds Update "buffer[a] = the larger";
            0xc3 AtomMaxI32 "atom.max.i32" OptW W W (Resource(BufferOf(I32))) Bounds Update "buffer[a] = the larger";
            0xc4 AtomMaxU64 "atom.max.u64" OptD W D (Resource(BufferOf(U64))) Bounds Update "buffer[a] = the larger";
            0xc5 AtomMaxI64 "atom.max.i64" OptD W D (Resource(BufferOf(I64))) Bounds Update "buffer[a] = the larger";
            0xc6 AtomMaxF32 "atom.max.f32" OptW W W (Resource(BufferOf(F32))) Bounds Update "buffer[a] = the larger; a NaN loses";
            0xc7 AtomMaxF64 "atom.max.f64" OptD W D (Resource(BufferOf(F64))) Bounds Update "buffer[a] = the larger; a NaN loses";
            0xc8 AtomAnd32 "atom.and.b32" OptW W W (Resource(Buffer32)) Bounds Update "buffer[a] &= b";
            0xc9 AtomAnd64 "atom.and.b64" OptD W D (Resource(Buffer64)) Bounds Update "buffer[a] &= b";
            0xca AtomOr32 "atom.or.b32" OptW W W (Resource(Buffer32)) Bounds Update "buffer[a] |= b";
            0xcb AtomOr64 "atom.or.b64" OptD W D (Resource(Buffer64)) Bounds Update "buffer[a] |= b";
            0xcc AtomXor32 "atom.xor.b32" OptW W W (Resource(Buffer32)) Bounds Update "buffer[a] ^= b";
            0xcd AtomXor64 "atom.xor.b64" OptD W D (Resource(Buffer64)) Bounds Update "buffer[a] ^= b";
            // Grid-wide effects
            0xd0 Push "push" N W N (Resource(Frontier)) Bounds Push "frontier gets node a for its next round; a < nodes";
            0xd1 Reduce32 "reduce.b32" N W N (Resource(Reduction32)) No Reduce "the reduction takes a in";
            0xd2 Reduce64 "reduce.b64" N D N (Resource(Reduction64)) No Reduce "the reduction takes a in";
            // Items. A slot beyond the capacity can be reserved and stored to: the overflow stops the run.
            0xd3 Append "append" W N N (Resource(List)) Capacity Reserve "reserve an item of the list; d = its slot";
            0xd4 ListSt8 "list.st.b8" N W W (Field(List, 1)) No Field "field of the item in slot a = low 8 bits of b";
            0xd5 ListSt32 "list.st.b32" N W W (Field(List, 4)) No Field "field of the item in slot a = b";
            0xd6 ListSt64 "list.st.b64" N W D (Field(List, 8)) No Field "field of the item in slot a = b";
            0xd7 PushItem "push.item" W N N (Resource(ItemFrontier)) Capacity Reserve "reserve an item of the frontier's next round; d = its slot";
            0xd8 ItemSt8 "item.st.b8" N W W (Field(ItemFrontier, 1)) No Field "field of the item in slot a = low 8 bits of b";
            0xd9 ItemSt32 "item.st.b32" N W W (Field(ItemFrontier, 4)) No Field "field of the item in slot a = b";
            0xda ItemSt64 "item.st.b64" N W D (Field(ItemFrontier, 8)) No Field "field of the item in slot a = b";
            // Structured control flow. Lanes are masked; `imm` lets a warp without active lanes skip ahead.
            0xe0 If "if" N W N (Target) No Open "lanes with a != 0 go on; imm = matching else or endif";
            0xe1 Else "else" N N N (Target) No Turn "the other lanes of the if; imm = matching endif";
            0xe2 EndIf "endif" N N N (N) No Close "lanes of both branches go on";
            0xe3 Loop "loop" N Flag N (Target) No Open "repeat until no lane is left; imm = word after endloop; a: its turns are no steps of work";
            0xe4 EndLoop "endloop" N N N (Target) No Close "next turn; imm = matching loop";
            0xe5 Break "break" N N N (Depth) No Leave "leave the loop";
            0xe6 BreakIf "break.if" N W N (Depth) No MayLeave "leave the loop where a != 0";
            0xe7 BreakUnless "break.unless" N W N (Depth) No MayLeave "leave the loop where a == 0";
            0xe8 Continue "continue" N N N (Depth) No Leave "start the loop's next turn";
            0xe9 Ret "ret" N N N (N) No End "this item is done; the last word of every kernel";
            0xea RetV "ret.b32" N W N (N) No End "the kernel's value is a; only in conditions";
            0xeb Trap "trap" N N N (Code) Explicit End "stop the run with trap code imm";
            0xec Assert "assert" N W N (Code) Explicit No "trap with code imm where a == 0";
            0xed Check "check" N W W (Literal) Bounds No "trap as an index out of bounds unless a < b (u32)";
        }
    };
}

macro_rules! define_ops {
    ($($code:literal $name:ident $mnemonic:literal $d:ident $a:ident $b:ident ($($imm:tt)*) $faults:ident $effect:ident $doc:literal;)*) => {
        /// A VIR0 opcode. The discriminant is the encoded byte.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op { $(#[doc = concat!("`", $doc, "`")] $name = $code,)* }

        impl Op {
            /// Every opcode, in table order.
            pub const ALL: &'static [Op] = &[$(Op::$name,)*];

            /// The opcode with this byte.
            pub const fn from_code(code: u8) -> Option<Op> {
                match code { $($code => Some(Op::$name),)* _ => None }
            }

            /// The row of the instruction table.
            pub const fn row(self) -> &'static Row {
                #[allow(unused_imports)]
                use Kind::*;
                use crate::vir0::scalar::Scalar::*;
                match self { $(Op::$name => const { &Row {
                    op: Op::$name, name: stringify!($name), mnemonic: $mnemonic,
                    d: Slot::$d, a: Slot::$a, b: Slot::$b, imm: Imm::$($imm)*,
                    faults: Faults::$faults, effect: Effect::$effect, meaning: $doc,
                } },)* }
            }
        }
    };
}

/// One row of the instruction table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The opcode.
    pub op: Op,
    /// The variant's name, used for the CUDA header.
    pub name: &'static str,
    /// The disassembler's name.
    pub mnemonic: &'static str,
    /// Destination.
    pub d: Slot,
    /// First source.
    pub a: Slot,
    /// Second source.
    pub b: Slot,
    /// Immediate.
    pub imm: Imm,
    /// Faults it can raise.
    pub faults: Faults,
    /// What it does beside making `d`.
    pub effect: Effect,
    /// One-line meaning.
    pub meaning: &'static str,
}

for_each_op!(define_ops);

impl Row {
    /// What the resource is that its words name, if they name one.
    pub const fn kind(&self) -> Option<Kind> {
        match self.imm {
            Imm::Resource(kind) | Imm::ResourceThird(kind) | Imm::Field(kind, _) => Some(kind),
            Imm::N
            | Imm::Literal
            | Imm::Third
            | Imm::Rows
            | Imm::Uniform
            | Imm::Target
            | Imm::Depth
            | Imm::Code => None,
        }
    }

    /// Register rows of one element of the array of an [`Imm::Rows`] instruction.
    pub const fn element_rows(&self) -> u8 {
        match (self.d, self.a, self.b) {
            (Slot::D, _, _) | (_, Slot::D, _) | (_, _, Slot::D) => 2,
            _ => 1,
        }
    }
}

/// The instruction table as Markdown, for `docs/VIR0.md`.
pub fn markdown_table() -> String {
    let slot = |slot| match slot {
        Slot::N => "",
        Slot::W => "w",
        Slot::D => "d",
        Slot::OptW => "w?",
        Slot::OptD => "d?",
        Slot::Flag => "flag",
    };
    let kind = |kind| match kind {
        Kind::Buffer8 => "1-byte buffer".to_owned(),
        Kind::Buffer32 => "4-byte buffer".to_owned(),
        Kind::Buffer64 => "8-byte buffer".to_owned(),
        Kind::BufferOf(scalar) => format!("{} buffer", scalar.name()),
        Kind::Buffer => "buffer".to_owned(),
        Kind::Topology => "topology".to_owned(),
        Kind::Frontier => "frontier".to_owned(),
        Kind::ItemFrontier => "frontier of items".to_owned(),
        Kind::List => "list".to_owned(),
        Kind::Reduction32 => "4-byte reduction".to_owned(),
        Kind::Reduction64 => "8-byte reduction".to_owned(),
    };
    let mut out = String::from(
        "| code | mnemonic | d | a | b | imm | faults | effect | meaning |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for op in Op::ALL {
        let row = op.row();
        let imm = match row.imm {
            Imm::N => String::new(),
            Imm::Literal => "literal".to_owned(),
            Imm::Third => "third".to_owned(),
            Imm::Resource(k) => kind(k),
            Imm::ResourceThird(k) => format!("{} + third", kind(k)),
            Imm::Rows => "rows".to_owned(),
            Imm::Field(k, bytes) => format!("{bytes}-byte field of {}", kind(k)),
            Imm::Uniform => "uniform".to_owned(),
            Imm::Target => "target".to_owned(),
            Imm::Depth => "depth".to_owned(),
            Imm::Code => "code".to_owned(),
        };
        let faults = match row.faults {
            Faults::No => "",
            Faults::Bounds => "bounds",
            Faults::Divide => "divide",
            Faults::Capacity => "capacity",
            Faults::Explicit => "explicit",
        };
        out.push_str(&format!(
            "| {:02x} | `{}` | {} | {} | {} | {imm} | {faults} | {} | {} |\n",
            *op as u8,
            row.mnemonic,
            slot(row.d),
            slot(row.a),
            slot(row.b),
            row.effect.name(),
            row.meaning.replace('|', "\\|"),
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_decode_to_their_op() {
        for &op in Op::ALL {
            assert_eq!(Op::from_code(op as u8), Some(op));
            assert_eq!(op.row().op, op);
        }
        let known = (0..=255u8).filter(|&c| Op::from_code(c).is_some()).count();
        assert_eq!(known, Op::ALL.len());
    }
}
