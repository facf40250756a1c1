//! The types that kernels take as parameters: items, frontiers, lists, rows of bits and reductions.

use crate::dsl::blocks::{Blocks, Room};
use crate::dsl::columns::{Element, Slice};
use crate::dsl::fault;
use crate::dsl::record::Record;
use crate::dsl::views::{Arrays, Atomic, from_atomic, into_atomic};
use crate::run::stop::look;
use crate::vir0::exact::{self, Total};
use crate::vir0::module::{ReduceOp, row_words};
use crate::vir0::scalar::ScalarType;
use crate::vir0::subject::Dimension;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A node of the pass's node set.
pub type Node = u32;
/// An index of a range, or the item of a frontier of indices.
pub type Index = u32;
/// Round of the innermost fixpoint, from 0.
pub type Round = u32;

/// A directed edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// Where it starts.
    pub src: Node,
    /// Where it ends.
    pub dst: Node,
    /// Its position in the topology, which is also its position in per-edge buffers.
    pub index: u32,
}

/// Declares a frontier in `Data`: a double-buffered set of active nodes, or of other items. Kernels see it as [`Push`].
#[derive(Clone, Copy, Debug)]
pub struct Frontier<T = Node> {
    _declared_only: PhantomData<T>,
}

/// Declares a bounded list in `Data`. Kernels see it as [`Append`].
#[derive(Clone, Copy, Debug)]
pub struct List<T> {
    _declared_only: PhantomData<T>,
}

/// A whole struct-of-arrays buffer, read-only: `&Records<T>` for a field of `Data` whose type is a struct `T`.
///
/// Storage is one array for each field on every backend, so elements are read by value: there is no `T` in memory to
/// refer to. A lane's own element is a plain `&T` or `&mut T`. In a body, `get` is one load for each field that is
/// used, after a check of the index against the first field's length.
///
/// ```
/// use vyre_core::dsl::Records;
/// use vyre_core::dsl::columns::Slice;
/// let points: Records<(u32, f32)> = Records::new(&[Slice::U32(&[4, 5]), Slice::F32(&[0.5, 1.5])]);
/// assert_eq!((points.get(1), points.len()), ((5, 1.5), 2));
/// ```
#[derive(Clone, Copy)]
pub struct Records<'a, T: Record> {
    pub(crate) fields: Arrays<'a, T::Shape>,
}

impl<'a, T: Record> Records<'a, T> {
    /// One slice for each scalar of `T`, of its type, all of one length; panics otherwise.
    pub fn new(fields: &[Slice<'a>]) -> Records<'a, T> {
        let fields = Arrays::new(fields.iter().copied());
        assert!(
            u32::try_from(fields.len()).is_ok(),
            "buffers are indexed by u32"
        );
        Records { fields }
    }

    /// Number of elements.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "checked when it was made")]
    pub fn len(&self) -> u32 {
        self.fields.len() as u32
    }

    /// Whether it has no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.fields.len() == 0
    }

    /// An element. Out of bounds, a lane traps with the index, the length and its own position.
    #[inline]
    #[track_caller]
    pub fn get(&self, index: u32) -> T {
        match self.fields.get(index as usize) {
            Some(shape) => T::from_shape(shape),
            None => fault::out_of_bounds(index, self.fields.len()),
        }
    }
}

impl<T: Record + std::fmt::Debug> std::fmt::Debug for Records<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries((0..self.len()).map(|i| self.get(i)))
            .finish()
    }
}

/// A row of bits for each node: bit vectors as wide as the run says. Every access is atomic and relaxed.
///
/// In `Data`, `#[output(per = node, bits = width)] rows: Bits` declares it; kernels take `&Bits`. The words of a row
/// are u32, because 32-bit atomics are native everywhere; row `v` is words `v * words() .. (v + 1) * words()`, and bit
/// `b` is bit `b % 32` of word `b / 32`. `Bits` of `ir::build` says, under the same
/// name, what each method is in a body. A node outside of the node set traps first, then a bit or word outside the row.
/// A row has no bits beyond its `width`: where a word would set one, it is dropped.
///
/// ```
/// use vyre_core::dsl::Bits;
/// let live = Bits::new(2, 40);
/// assert!(live.set(0, 39) && !live.set(0, 39));
/// live.set(1, 3);
/// assert!(live.or(1, 0) && !live.or(1, 0));
/// assert!(live.ones(1).eq([3, 39]));
/// assert_eq!((live.count(1), live.word(1, 1), live.get(0, 3)), (2, 1 << 7, false));
/// ```
pub struct Bits {
    words: Vec<Atomic<u32>>,
    width: u32,
    nodes: u32,
}

impl Bits {
    /// Rows of zeros.
    pub fn new(nodes: u32, width: u32) -> Bits {
        let words = nodes as usize * row_words(width) as usize;
        Bits::clean(vec![0; words], nodes, width)
    }

    /// Rows with these words, without bits from the width on. Panics when there are not `nodes * width.div_ceil(32)`.
    pub fn from_words(mut words: Vec<u32>, nodes: u32, width: u32) -> Bits {
        if let Some(last) = row_words(width).checked_sub(1) {
            let rows = words.chunks_exact_mut(row_words(width) as usize);
            rows.for_each(|row| row[last as usize] &= inside(width, last));
        }
        Bits::clean(words, nodes, width)
    }

    /// The same with words that have no such bits.
    pub(crate) fn clean(words: Vec<u32>, nodes: u32, width: u32) -> Bits {
        let needed = nodes as usize * row_words(width) as usize;
        assert_eq!(words.len(), needed, "{nodes} rows of {width} bits");
        Bits {
            words: into_atomic(words),
            width,
            nodes,
        }
    }

    /// Whether the words of all rows are these.
    pub(crate) fn has(&self, words: Slice<'_>) -> bool {
        let mine = self.words.iter().map(|word| word.load());
        matches!(words, Slice::U32(words) if mine.eq(words.iter().copied()))
    }

    /// Bytes of all rows.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.words)
    }

    /// Makes these the words of the rows of some nodes.
    pub(crate) fn copy_words(&self, at: std::ops::Range<usize>, to: &mut Vec<u32>) {
        to.clear();
        to.extend(self.words[at].iter().map(|word| word.load()));
    }

    /// A copy of the words of all rows.
    pub(crate) fn to_words(&self) -> Vec<u32> {
        self.words.iter().map(|word| word.load()).collect()
    }

    /// The words of all rows.
    pub fn into_words(self) -> Vec<u32> {
        from_atomic(self.words)
    }

    /// Bits of a row.
    #[inline]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Words of a row.
    #[inline]
    pub fn words(&self) -> u32 {
        row_words(self.width)
    }

    /// The row's words.
    #[inline]
    #[track_caller]
    fn row(&self, v: Node) -> &[Atomic<u32>] {
        if v >= self.nodes {
            fault::outside(Dimension::Row, v, self.nodes as usize);
        }
        let words = self.words() as usize;
        &self.words[v as usize * words..][..words]
    }

    #[inline]
    #[track_caller]
    fn cell(&self, v: Node, k: u32) -> &Atomic<u32> {
        match self.row(v).get(k as usize) {
            Some(cell) => cell,
            None => fault::outside(Dimension::Word, k, self.words() as usize),
        }
    }

    /// The word of a bit, and its mask.
    #[inline]
    #[track_caller]
    fn bit(&self, v: Node, bit: u32) -> (&Atomic<u32>, u32) {
        let row = self.row(v);
        if bit >= self.width {
            fault::outside(Dimension::Bit, bit, self.width as usize);
        }
        (&row[bit as usize / 32], 1 << (bit % 32))
    }

    /// Whether a bit is set.
    #[inline]
    #[track_caller]
    pub fn get(&self, v: Node, bit: u32) -> bool {
        let (cell, mask) = self.bit(v, bit);
        cell.load() & mask != 0
    }

    /// Sets a bit; whether it was clear.
    #[inline]
    #[track_caller]
    pub fn set(&self, v: Node, bit: u32) -> bool {
        let (cell, mask) = self.bit(v, bit);
        cell.fetch_or(mask) & mask == 0
    }

    /// Clears a bit; whether it was set.
    #[inline]
    #[track_caller]
    pub fn unset(&self, v: Node, bit: u32) -> bool {
        let (cell, mask) = self.bit(v, bit);
        cell.fetch_and(!mask) & mask != 0
    }

    /// Clears a row.
    #[track_caller]
    pub fn clear(&self, v: Node) {
        look();
        for cell in self.row(v) {
            cell.store(0);
        }
    }

    /// Word `k` of a row.
    #[inline]
    #[track_caller]
    pub fn word(&self, v: Node, k: u32) -> u32 {
        self.cell(v, k).load()
    }

    /// Overwrites word `k` of a row. Bits from the width on are dropped.
    #[inline]
    #[track_caller]
    pub fn store_word(&self, v: Node, k: u32, word: u32) {
        self.cell(v, k).store(word & inside(self.width, k));
    }

    /// Adds the bits of `word` to word `k` of a row, without those from the width on; the old word.
    #[inline]
    #[track_caller]
    pub fn or_word(&self, v: Node, k: u32, word: u32) -> u32 {
        self.cell(v, k).fetch_or(word & inside(self.width, k))
    }

    /// Keeps in word `k` of a row the bits of `word` only; the old word.
    #[inline]
    #[track_caller]
    pub fn and_word(&self, v: Node, k: u32, word: u32) -> u32 {
        self.cell(v, k).fetch_and(word)
    }

    /// `row v |= row w`; whether row `v` changed.
    #[track_caller]
    pub fn or(&self, v: Node, w: Node) -> bool {
        self.or_from(v, self, w)
    }

    /// `row v &= row w`; whether row `v` changed.
    #[track_caller]
    pub fn and(&self, v: Node, w: Node) -> bool {
        self.and_from(v, self, w)
    }

    /// `row v &= !row w`; whether row `v` changed.
    #[track_caller]
    pub fn and_not(&self, v: Node, w: Node) -> bool {
        self.and_not_from(v, self, w)
    }

    /// `row v |= row w of other`, which has the same width; whether row `v` changed.
    #[track_caller]
    pub fn or_from(&self, v: Node, other: &Bits, w: Node) -> bool {
        self.combine(v, other, w, |to, x| {
            x & !to.load() != 0 && x & !to.fetch_or(x) != 0
        })
    }

    /// `row v &= row w of other`, which has the same width; whether row `v` changed.
    #[track_caller]
    pub fn and_from(&self, v: Node, other: &Bits, w: Node) -> bool {
        self.combine(v, other, w, |to, x| {
            to.load() & !x != 0 && to.fetch_and(x) & !x != 0
        })
    }

    /// `row v &= !row w of other`, which has the same width; whether row `v` changed.
    #[track_caller]
    pub fn and_not_from(&self, v: Node, other: &Bits, w: Node) -> bool {
        self.combine(v, other, w, |to, x| {
            to.load() & x != 0 && to.fetch_and(!x) & x != 0
        })
    }

    #[track_caller]
    fn combine(
        &self,
        v: Node,
        other: &Bits,
        w: Node,
        change: impl Fn(&Atomic<u32>, u32) -> bool,
    ) -> bool {
        look();
        let (to, from) = (self.row(v), other.row(w));
        assert_eq!(self.width, other.width, "rows of one width");
        let mut changed = false;
        for (to, from) in to.iter().zip(from) {
            changed |= change(to, from.load());
        }
        changed
    }

    /// Number of set bits of a row.
    #[track_caller]
    pub fn count(&self, v: Node) -> u32 {
        look();
        self.row(v).iter().map(|w| w.load().count_ones()).sum()
    }

    /// The set bits of a row, in order. A word of the row is read after the bits of the words before it, so a bit that
    /// is set or cleared meanwhile counts from the next word on.
    #[track_caller]
    pub fn ones(&self, v: Node) -> impl Iterator<Item = u32> + '_ {
        let mut words = (0u32..).zip(self.row(v));
        let (mut base, mut word) = (0, 0u32);
        std::iter::from_fn(move || {
            while word == 0 {
                look();
                let (k, cell) = words.next()?;
                (base, word) = (k * 32, cell.load());
            }
            let bit = base + word.trailing_zeros();
            word &= word - 1;
            Some(bit)
        })
    }
}

/// The bits of word `k` of a row that are within its width; `k` is one of its words.
#[inline]
pub(crate) fn inside(width: u32, k: u32) -> u32 {
    if k == width / 32 {
        (1 << (width % 32)) - 1
    } else {
        u32::MAX
    }
}

impl std::fmt::Debug for Bits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rows = (0..self.nodes).map(|v| self.ones(v).collect::<Vec<_>>());
        f.debug_list().entries(rows).finish()
    }
}

impl Clone for Bits {
    fn clone(&self) -> Bits {
        let words = self.words.iter().map(|w| w.load()).collect();
        Bits::clean(words, self.nodes, self.width)
    }
}

impl PartialEq for Bits {
    fn eq(&self, other: &Bits) -> bool {
        let words = |b: &Bits| b.words.iter().map(|w| w.load()).collect::<Vec<_>>();
        (self.nodes, self.width) == (other.nodes, other.width) && words(self) == words(other)
    }
}

impl Default for Bits {
    fn default() -> Self {
        Bits::new(0, 0)
    }
}

/// The side of a frontier that lanes add to; pushes become items when it flips.
///
/// The items are nodes unless `T` says otherwise; then they are any values (and of a frontier of plain numbers,
/// `Push<u32>` names the same Rust type, but the declaration says what the items are).
#[derive(Debug)]
pub struct Push<T = Node> {
    items: Blocks<T>,
    /// Items that are nodes are below this.
    nodes: u64,
    /// Items below this need no further look: all nodes, unless the frontier is unique.
    free: u64,
    refused: Cell<u64>,
    seen: Option<Seen>,
}

/// The nodes that a unique frontier already holds, of those that pushed them the first: the one with the lowest stamp.
/// Stamps fall from round to round and rise from chunk to chunk, so that a node stays with its first chunk whoever runs
/// when, and what is in the frontier since an earlier sweep of the round stays there.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) stamps: Arc<Vec<AtomicU32>>,
    pub(crate) stamp: u32,
    /// This push is the only one.
    pub(crate) alone: bool,
}

impl Seen {
    /// Of what a chunk pushed, keeps what no chunk before it pushed, once all of those have ended. The stamp is the first
    /// chunk's.
    pub(crate) fn keep_first<T: Record>(&self, chunk: usize, items: &mut Vec<T>) {
        items.retain(|item| self.is_first(chunk, item));
    }

    /// Whether that is so for one item.
    #[inline]
    pub(crate) fn is_first<T: Record>(&self, chunk: usize, item: &T) -> bool {
        self.stamps[item.key() as usize].load(Relaxed) == self.stamp + chunk as u32
    }

    /// Whether neither this chunk nor one before it has pushed the node.
    #[inline]
    fn claims(&self, node: u32) -> bool {
        let cell = &self.stamps[node as usize];
        let mut old = cell.load(Relaxed);
        if self.alone && old > self.stamp {
            cell.store(self.stamp, Relaxed);
            return true;
        }
        while old > self.stamp {
            match cell.compare_exchange_weak(old, self.stamp, Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(now) => old = now,
            }
        }
        false
    }
}

impl Push {
    /// A push of its own, outside a session: a frontier over `nodes` nodes.
    pub fn new(nodes: u32) -> Push {
        Push::over(Vec::new(), nodes.into(), usize::MAX, None)
    }
}

impl<T: Record> Push<T> {
    /// A push of its own, outside a session: a frontier whose items are not nodes.
    pub fn of_items() -> Push<T> {
        Push::over(Vec::new(), u64::MAX, usize::MAX, None)
    }

    /// Onto a vector that grows up to `limit` items.
    #[inline]
    pub(crate) fn over(items: Vec<T>, nodes: u64, limit: usize, seen: Option<Seen>) -> Push<T> {
        Push {
            items: Blocks::one(items, limit),
            nodes,
            free: if seen.is_some() { 0 } else { nodes },
            refused: Cell::new(0),
            seen,
        }
    }

    /// Into blocks, as far as there is room, where no other chunk runs.
    pub(crate) fn alone(room: Arc<Room<T>>) -> Push<T> {
        Push {
            items: Blocks::alone(room),
            ..Push::of_items()
        }
    }

    /// Into blocks, as far as there is room beside other chunks; this is the chunk's number.
    pub(crate) fn shared(
        nodes: u64,
        (room, chunk): (Arc<Room<T>>, usize),
        seen: Option<Seen>,
    ) -> Push<T> {
        Push {
            items: Blocks::shared(room, chunk),
            ..Push::over(Vec::new(), nodes, 0, seen)
        }
    }

    /// It is one of several of a sweep, each of which goes into blocks.
    #[inline]
    pub(crate) fn is_shared(&self) -> bool {
        self.items.is_shared()
    }

    /// What was pushed, in order.
    pub fn into_items(self) -> Vec<T> {
        self.items.into_blocks().concat()
    }

    /// The vector that it was made over, and how many items were refused.
    #[inline]
    pub(crate) fn into_vec(self) -> (Vec<T>, u64) {
        let refused = self.refused.get();
        (self.items.into_block(), refused)
    }

    /// What was pushed, in order and in blocks, and how many items were refused.
    pub(crate) fn into_parts(self) -> (Vec<Vec<T>>, u64) {
        let refused = self.refused.get();
        (self.items.into_blocks(), refused)
    }

    /// Makes `item` an item of the frontier's next round. Of a frontier of nodes, traps when it is not a node.
    #[inline]
    #[track_caller]
    pub fn push(&self, item: T) {
        let node = item.key();
        if u64::from(node) >= self.free {
            if u64::from(node) >= self.nodes {
                fault::out_of_bounds(node, self.nodes as usize);
            }
            if let Some(seen) = &self.seen
                && !seen.claims(node)
            {
                return;
            }
        }
        if !self.items.put(item) {
            self.refused.set(self.refused.get() + 1);
        }
    }

    /// An item was refused for want of memory, not because the limit was reached.
    #[inline]
    pub(crate) fn is_starved(&self) -> bool {
        self.refused.get() > 0 && self.items.is_starved()
    }

    /// Nothing more comes.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.items.end();
    }
}

/// The side of a bounded list that lanes append to; waves ordered after this one see the items.
///
/// A list that is full traps when the barrier group is done, with the number of items needed.
#[derive(Debug)]
pub struct Append<T> {
    items: Blocks<T>,
    /// Slot of the first item.
    first: u32,
    refused: Cell<u64>,
}

impl<T: Record> Append<T> {
    /// An append of its own, outside a session.
    pub fn new() -> Append<T> {
        Append {
            items: Blocks::one(Vec::new(), usize::MAX),
            first: 0,
            refused: Cell::new(0),
        }
    }

    /// Into blocks, as far as there is room, where no other chunk runs. `first` is the slot of the first item.
    #[inline]
    pub(crate) fn alone(first: u32, room: Arc<Room<T>>) -> Append<T> {
        Append {
            items: Blocks::alone(room),
            first,
            refused: Cell::new(0),
        }
    }

    /// Into blocks, as far as there is room beside other chunks; this is the chunk's number. Slots mean nothing.
    #[inline]
    pub(crate) fn shared(room: Arc<Room<T>>, chunk: usize) -> Append<T> {
        Append {
            items: Blocks::shared(room, chunk),
            first: 0,
            refused: Cell::new(0),
        }
    }

    /// What was appended, in order.
    pub fn into_items(self) -> Vec<T> {
        self.items.into_blocks().concat()
    }

    /// What was appended, in order and in blocks, and how many items were refused.
    pub(crate) fn into_parts(self) -> (Vec<Vec<T>>, u64) {
        let refused = self.refused.get();
        (self.items.into_blocks(), refused)
    }

    /// Nothing more comes.
    pub(crate) fn end(&mut self) {
        self.items.end();
    }

    /// Appends an item; its slot in the list, or `u32::MAX` where the list is full.
    #[inline]
    pub fn append(&self, item: T) -> u32 {
        let before = self.items.len();
        if !self.items.put(item) {
            self.refused.set(self.refused.get() + 1);
            return u32::MAX;
        }
        self.first.wrapping_add(before as u32)
    }
}

impl<T: Record> Default for Append<T> {
    fn default() -> Self {
        Append::new()
    }
}

/// A grid-wide reduction that lanes feed; its value is readable once all its updaters are done.
#[derive(Debug)]
pub struct Reduce<O: Reduction> {
    partial: O::Partial,
}

impl<O: Reduction> Reduce<O> {
    /// A reduction of its own, outside a session, at its identity.
    pub fn new() -> Reduce<O> {
        Reduce {
            partial: O::begin(),
        }
    }

    /// What was reduced so far.
    pub fn value(&self) -> O::Value {
        O::value(&self.partial)
    }

    /// Takes what was reduced into another reduction.
    #[cfg(feature = "exec")]
    pub(crate) fn merge(&self, into: &mut Total) {
        O::merge(&self.partial, into);
    }

    #[inline]
    fn take_in(&self, value: O::Value) {
        O::take_in(&self.partial, value);
    }
}

impl<O: Reduction> Default for Reduce<O> {
    fn default() -> Self {
        Reduce::new()
    }
}

/// An operation of [`Reduce`].
pub trait Reduction: 'static {
    /// What is reduced.
    type Value: Element;
    /// What lanes have reduced.
    type Partial: fmt::Debug + Send;
    /// Its code.
    const OP: ReduceOp;
    /// Nothing yet.
    fn begin() -> Self::Partial;
    /// Takes one value in.
    fn take_in(partial: &Self::Partial, value: Self::Value);
    /// The value of what was taken in.
    fn value(partial: &Self::Partial) -> Self::Value;
    /// Takes all of it into another reduction of this operation.
    fn merge(partial: &Self::Partial, into: &mut Total) {
        into.take_in(Self::value(partial).to_bits64());
    }
}

/// What a reduction begins with.
fn identity<O: Reduction>() -> O::Value {
    O::Value::from_bits64(O::OP.identity(<O::Value as ScalarType>::SCALAR))
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident $method:ident $(#[$method_doc:meta])* { $($combine:expr => $($ty:ty)*;)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<T>(PhantomData<T>);

        impl<T> Reduce<$name<T>>
        where
            $name<T>: Reduction<Value = T>,
        {
            $(#[$method_doc])*
            #[inline]
            pub fn $method(&self, value: T) {
                self.take_in(value);
            }
        }

        $($(
            impl Reduction for $name<$ty> {
                type Value = $ty;
                type Partial = Cell<$ty>;
                const OP: ReduceOp = ReduceOp::$name;
                #[inline]
                fn begin() -> Cell<$ty> {
                    Cell::new(identity::<Self>())
                }
                #[inline]
                fn take_in(partial: &Cell<$ty>, value: $ty) {
                    let combine: fn($ty, $ty) -> $ty = $combine;
                    partial.set(combine(partial.get(), value));
                }
                #[inline]
                fn value(partial: &Cell<$ty>) -> $ty {
                    partial.get()
                }
            }
        )*)*
    )*};
}

operations! {
    /// Sum; integers wrap. The order of float sums is not promised; [`ExactSum`] has none.
    Sum add /** Adds a value. */ {
        |a, b| a.wrapping_add(b) => u32 i32 u64 i64;
        |a, b| a + b => f32 f64;
    }
    /// The smallest; a NaN loses to a number.
    Min min /** Takes a value in. */ { |a, b| a.min(b) => u32 i32 u64 i64 f32 f64; }
    /// The largest; a NaN loses to a number.
    Max max /** Takes a value in. */ { |a, b| a.max(b) => u32 i32 u64 i64 f32 f64; }
    /// Bitwise (or boolean) or.
    Or or /** Takes a value in. */ { |a, b| a | b => bool u32 i32 u64 i64; }
    /// Bitwise (or boolean) and.
    And and /** Takes a value in. */ { |a, b| a & b => bool u32 i32 u64 i64; }
}

/// Sum of floats, rounded once: the same bits in every order of the items, on every backend.
#[derive(Clone, Copy, Debug)]
pub struct ExactSum<T>(PhantomData<T>);

macro_rules! exact_sums {
    ($($ty:ident $add:path, $words:path;)*) => {$(
        impl Reduce<ExactSum<$ty>> {
            /// Adds a value.
            #[inline]
            pub fn add(&self, value: $ty) {
                self.take_in(value);
            }
        }

        impl Reduction for ExactSum<$ty> {
            type Value = $ty;
            type Partial = [Cell<i64>; $words];
            const OP: ReduceOp = ReduceOp::ExactSum;
            #[inline]
            fn begin() -> Self::Partial {
                [const { Cell::new(0) }; $words]
            }
            #[inline]
            fn take_in(partial: &Self::Partial, value: $ty) {
                let special = &partial[$words - 1];
                let to = |at: usize, digit| partial[at].set(partial[at].get() + digit);
                $add(value, to, |bits| special.set(special.get() | bits));
            }
            fn value(partial: &Self::Partial) -> $ty {
                let words = partial.each_ref().map(Cell::get);
                <$ty>::from_bits64(exact::value(<$ty as ScalarType>::SCALAR, &words))
            }
            fn merge(partial: &Self::Partial, into: &mut Total) {
                match into {
                    Total::Exact(sum) => sum.merge(partial.iter().map(Cell::get)),
                    Total::Value(..) => into.take_in(Self::value(partial).to_bits64()),
                }
            }
        }
    )*};
}

exact_sums! {
    f32 exact::add_f32, exact::F32_WORDS;
    f64 exact::add_f64, exact::F64_WORDS;
}

/// A u64 count.
#[derive(Clone, Copy, Debug)]
pub struct Count;

impl Reduction for Count {
    type Value = u64;
    type Partial = Cell<u64>;
    const OP: ReduceOp = ReduceOp::Sum;
    #[inline]
    fn begin() -> Cell<u64> {
        Cell::new(0)
    }
    #[inline]
    fn take_in(partial: &Cell<u64>, value: u64) {
        partial.set(partial.get().wrapping_add(value));
    }
    #[inline]
    fn value(partial: &Cell<u64>) -> u64 {
        partial.get()
    }
}

impl Reduce<Count> {
    /// Counts one.
    #[inline]
    pub fn inc(&self) {
        self.take_in(1);
    }
}
