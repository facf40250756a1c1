//! What lanes push and append, until it is where it belongs.
//!
//! A chunk of lanes that runs alone fills one vector, or blocks. Chunks that run at once fill blocks each on its own. What
//! they leave is moved to its place in the order of the chunks, as a rule when all of them have ended.
//!
//! A [`Room`] bounds the blocks: there is never memory for more items than may come. Where all of it is taken, a chunk
//! waits until another one gives room back, or until every chunk before it has ended. Then it is its turn: what it has
//! pushed so far is moved to its place, and what follows goes there at once. The first of the chunks that have not ended
//! never waits, and whoever runs the chunks begins none before those in front of it have begun. So a chunk waits for
//! threads that run, never for one that no thread has come to, and all of them end. One that unwinds has ended as well.

use super::params::Seen;
use crate::dsl::record::{Record, Rows};
use crate::dsl::views::Sink;
use crate::plan::footprint::BLOCK;
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Items in order: in one block, or in as many as there is room for. A vector that doubles would hold three times what
/// it has to.
#[derive(Debug)]
pub(super) struct Blocks<T> {
    /// The block that is being filled.
    items: Sink<T>,
    from: Source<T>,
    /// What has been filled. It is apart because each round of a narrow search makes such a thing, and fills no block.
    full: OnceCell<Box<Full<T>>>,
}

/// Where the memory for further items comes from.
#[derive(Debug)]
enum Source<T> {
    /// The block grows up to this number of items.
    Limit(usize),
    /// One chunk after another has the room.
    Room(Arc<Room<T>>),
    /// Chunks that run at once have the room.
    Shared(Ticket<T>),
    /// Such a chunk has ended, and has left what it had.
    Left,
}

/// A chunk's part in a room that chunks share.
#[derive(Debug)]
struct Ticket<T> {
    room: Arc<Room<T>>,
    chunk: u32,
    /// The chunk has ended, and others know it.
    has_left: bool,
}

impl<T> Ticket<T> {
    fn leave(&mut self, blocks: Vec<Vec<T>>) {
        self.has_left = true;
        self.room.leave(self.chunk as usize, blocks);
    }
}

/// Others wait for a chunk that unwinds too.
impl<T> Drop for Ticket<T> {
    fn drop(&mut self) {
        if !self.has_left {
            self.leave(Vec::new());
        }
    }
}

/// Blocks that are full.
#[derive(Debug)]
struct Full<T> {
    blocks: RefCell<Vec<Vec<T>>>,
    /// Items in them.
    items: Cell<u64>,
}

/// What became of the wish for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begun {
    /// It is there.
    Block,
    NoRoom,
    NoMemory,
}

impl<T: Record> Blocks<T> {
    /// One block of at most `limit` items.
    #[inline]
    pub(super) fn one(items: Vec<T>, limit: usize) -> Blocks<T> {
        Blocks {
            items: Sink::new(items),
            from: Source::Limit(limit),
            full: OnceCell::new(),
        }
    }

    /// As many blocks as there is room for, where no other chunk runs.
    #[inline]
    pub(super) fn alone(room: Arc<Room<T>>) -> Blocks<T> {
        Blocks {
            from: Source::Room(room),
            ..Blocks::one(Vec::new(), 0)
        }
    }

    /// As many blocks as there is room for beside other chunks.
    #[inline]
    pub(super) fn shared(room: Arc<Room<T>>, chunk: usize) -> Blocks<T> {
        Blocks {
            from: Source::Shared(Ticket {
                room,
                chunk: chunk as u32,
                has_left: false,
            }),
            ..Blocks::one(Vec::new(), 0)
        }
    }

    #[inline]
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.from, Source::Shared(..) | Source::Left)
    }

    /// Items that are here.
    #[inline]
    pub(super) fn len(&self) -> u64 {
        let before = self.full.get().map_or(0, |full| full.items.get());
        before + self.items.len() as u64
    }

    /// There was no memory for an item that was refused.
    pub(super) fn is_starved(&self) -> bool {
        match &self.from {
            Source::Limit(limit) => self.items.len() < *limit,
            Source::Room(room) => room.is_starved(),
            Source::Shared(ticket) => ticket.room.is_starved(),
            Source::Left => false,
        }
    }

    /// Its one block.
    #[inline]
    pub(super) fn into_block(self) -> Vec<T> {
        match self.from {
            Source::Limit(_) | Source::Left => {}
            from @ (Source::Room(_) | Source::Shared(_)) => drop(from),
        }
        self.items.into_inner()
    }

    pub(super) fn into_blocks(self) -> Vec<Vec<T>> {
        self.take()
    }

    /// Takes all blocks out.
    fn take(&self) -> Vec<Vec<T>> {
        let mut blocks = match self.full.get() {
            Some(full) => {
                full.items.set(0);
                full.blocks.take()
            }
            None => Vec::new(),
        };
        if self.items.len() > 0 {
            blocks.push(self.items.replace(Vec::new()));
        }
        blocks
    }

    /// The chunk ends: memory that the last block does not need goes back, and where chunks run at once, the items go
    /// where they wait for their turn.
    #[inline]
    pub(super) fn end(&mut self) {
        match self.from {
            Source::Limit(_) | Source::Left => {}
            Source::Room(_) | Source::Shared(_) => self.hand_on(),
        }
    }

    /// Apart, because each round of a narrow search comes to its end, and hands nothing on.
    #[inline(never)]
    fn hand_on(&mut self) {
        let room = match &self.from {
            Source::Limit(_) | Source::Left => return,
            Source::Room(room) => room,
            Source::Shared(ticket) => &ticket.room,
        };
        let items = self.items.get_mut();
        room.give(items.capacity() - items.len());
        items.shrink_to_fit();
        let blocks = match &self.from {
            Source::Shared(_) => self.take(),
            Source::Limit(_) | Source::Room(_) | Source::Left => return,
        };
        if let Source::Shared(mut ticket) = std::mem::replace(&mut self.from, Source::Left) {
            ticket.leave(blocks);
        }
    }

    /// Appends an item; false where there is no room, or no memory.
    #[inline]
    pub(super) fn put(&self, item: T) -> bool {
        self.items.put(item) || self.put_slowly(item)
    }

    /// The same where the block has no memory for it.
    #[cold]
    #[inline(never)]
    fn put_slowly(&self, item: T) -> bool {
        match &self.from {
            Source::Limit(limit) => self.items.grow(*limit) && self.items.put(item),
            Source::Room(room) => self.begin_block(room) == Begun::Block && self.items.put(item),
            Source::Shared(Ticket { room, chunk, .. }) => match self.begin_block(room) {
                Begun::Block => self.items.put(item),
                Begun::NoRoom => self.put_in_turn(room, *chunk as usize, item),
                Begun::NoMemory => false,
            },
            Source::Left => false,
        }
    }

    /// Begins the next block.
    fn begin_block(&self, room: &Room<T>) -> Begun {
        let drawn = room.draw(8 * self.items.len());
        if drawn == 0 {
            return Begun::NoRoom;
        }
        let (mut block, before) = (Vec::new(), self.len());
        let has_memory = block.try_reserve_exact(drawn).is_ok()
            && (before == 0 || self.full().blocks.borrow_mut().try_reserve(1).is_ok());
        if !has_memory {
            room.give(drawn);
            room.starved.store(true, Relaxed);
            return Begun::NoMemory;
        }
        let last = self.items.replace(block);
        if before > 0 {
            let full = self.full();
            full.items.set(before);
            full.blocks.borrow_mut().push(last);
        }
        Begun::Block
    }

    /// All room is taken, and the block is full: waits for room, or for the chunk's turn.
    fn put_in_turn(&self, room: &Room<T>, chunk: usize, item: T) -> bool {
        let mut turns = room.turns();
        while !turns.comes_to(chunk, room) {
            match self.begin_block(room) {
                Begun::Block => return self.items.put(item),
                Begun::NoMemory => return false,
                Begun::NoRoom => {}
            }
            turns.waiting += 1;
            let waited = room.turned.wait(turns);
            turns = waited.unwrap_or_else(PoisonError::into_inner);
            turns.waiting -= 1;
        }
        turns.place(self.take(), chunk, room);
        if turns.waiting > 0 {
            room.turned.notify_all();
        }
        match self.begin_block(room) {
            Begun::Block => self.items.put(item),
            Begun::NoRoom => turns.place_one(item, chunk, room),
            Begun::NoMemory => false,
        }
    }

    fn full(&self) -> &Full<T> {
        self.full.get_or_init(|| {
            Box::new(Full {
                blocks: RefCell::default(),
                items: Cell::new(0),
            })
        })
    }
}

/// Room for what the chunks of a sweep push or append together.
#[derive(Debug)]
pub(crate) struct Room<T> {
    /// Items that blocks may still be made for.
    left: AtomicUsize,
    starved: AtomicBool,
    turns: Mutex<Turns<T>>,
    /// Room came back, or a turn came.
    turned: Condvar,
}

/// Chunks that run at once, and where their items belong.
#[derive(Debug)]
struct Turns<T> {
    /// The first chunk whose items are not all in their place.
    turn: usize,
    /// By chunk: what it left when it ended.
    left: Vec<Option<Vec<Vec<T>>>>,
    /// Chunks that wait.
    waiting: usize,
    place: Place,
}

/// Where the items of chunks that run at once belong.
#[derive(Debug, Default)]
pub(crate) struct Place {
    pub(crate) items: Items,
    /// Items that may be there.
    pub(crate) most: usize,
    /// Of a unique frontier: the stamp of the first chunk.
    pub(crate) seen: Option<Seen>,
    /// Items that did not fit.
    pub(crate) refused: u64,
}

/// Items in their place.
#[derive(Debug)]
pub(crate) enum Items {
    Nodes(Vec<u32>),
    Rows(Rows),
    /// Rows after others that cannot be moved now: those of each chunk, and none, of the same fields.
    After(Vec<Rows>, Rows),
}

impl Default for Items {
    fn default() -> Items {
        Items::Nodes(Vec::new())
    }
}

impl Items {
    fn len(&self) -> usize {
        match self {
            Items::Nodes(nodes) => nodes.len(),
            Items::Rows(rows) => rows.len(),
            Items::After(all, _) => all.iter().map(Rows::len).sum(),
        }
    }

    /// Takes memory for `more` items where there is too little; false where there is none.
    fn make_room(&mut self, more: usize, most: usize) -> bool {
        match self {
            Items::Nodes(nodes) => room_for(nodes, more, most),
            Items::Rows(rows) => rows.make_room(more, most),
            Items::After(all, none) => {
                let mut rows = none.like();
                let has_memory = all.try_reserve(1).is_ok() && rows.make_room(more, more);
                if has_memory {
                    all.push(rows);
                }
                has_memory
            }
        }
    }

    fn extend<T: Record>(&mut self, items: &[T]) {
        match self {
            Items::Nodes(nodes) => nodes.extend(items.iter().map(|item| item.key())),
            Items::Rows(rows) => rows.extend(items),
            Items::After(all, _) => {
                if let Some(rows) = all.last_mut() {
                    rows.extend(items);
                }
            }
        }
    }
}

impl<T> Default for Room<T> {
    fn default() -> Room<T> {
        Room {
            left: AtomicUsize::new(0),
            starved: AtomicBool::new(false),
            turns: Mutex::new(Turns {
                turn: 0,
                left: Vec::new(),
                waiting: 0,
                place: Place::default(),
            }),
            turned: Condvar::new(),
        }
    }
}

impl<T> Room<T> {
    fn turns(&self) -> MutexGuard<'_, Turns<T>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A chunk has ended, and leaves this.
    fn leave(&self, chunk: usize, blocks: Vec<Vec<T>>) {
        let mut turns = self.turns();
        turns.left[chunk] = Some(blocks);
        if turns.waiting > 0 {
            self.turned.notify_all();
        }
    }
}

impl<T: Record> Room<T> {
    /// Of a small one.
    const FIRST: usize = 16;
    /// What a chunk has beside its items, where they are in four blocks.
    pub(crate) const LEFT_BYTES: usize =
        size_of::<Option<Vec<Vec<T>>>>() + size_of::<Full<T>>() + 4 * size_of::<Vec<T>>();

    /// Makes room for `items`, for one chunk after another.
    pub(crate) fn make(&self, items: usize) {
        self.left.store(items, Relaxed);
        self.starved.store(false, Relaxed);
    }

    /// Makes room for what `chunks` that run at once push beside what is in its place; false where there is no memory.
    pub(crate) fn share(&mut self, chunks: usize, items: usize) -> bool {
        self.make(items);
        let turns = self.turns.get_mut().unwrap_or_else(PoisonError::into_inner);
        turns.turn = 0;
        turns.left.clear();
        let has_memory = turns.left.try_reserve_exact(chunks).is_ok();
        if has_memory {
            turns.left.resize_with(chunks, || None);
        }
        has_memory
    }

    /// Says where the items of chunks belong.
    pub(crate) fn lead_to(&mut self, place: Place) {
        let turns = self.turns.get_mut().unwrap_or_else(PoisonError::into_inner);
        turns.place = place;
    }

    /// All chunks have ended: moves what they left to its place, which it gives back. `settle` drops what an earlier
    /// chunk has pushed as well, of all chunks from one on.
    pub(crate) fn gather(
        &mut self,
        settle: impl FnOnce(&mut [Option<Vec<Vec<T>>>], &Seen, usize),
    ) -> Place {
        let turns = self.turns.get_mut().unwrap_or_else(PoisonError::into_inner);
        let (turn, mut place) = (turns.turn, std::mem::take(&mut turns.place));
        if let Some(seen) = place.seen.take() {
            settle(&mut turns.left[turn..], &seen, turn);
        }
        let mut fed = true;
        for blocks in turns.left.drain(..).flatten() {
            fed &= place.take(blocks);
        }
        if !fed {
            self.starved.store(true, Relaxed);
        }
        place
    }

    /// There was no memory.
    pub(crate) fn is_starved(&self) -> bool {
        self.starved.load(Relaxed)
    }

    /// Takes room for the next block, for about `wanted` items: the less is left, the smaller.
    fn draw(&self, wanted: usize) -> usize {
        let mut left = self.left.load(Relaxed);
        loop {
            let most = (left / 8).clamp(Self::FIRST, BLOCK);
            let drawn = wanted.clamp(Self::FIRST, most).min(left);
            let after = left - drawn;
            match self
                .left
                .compare_exchange_weak(left, after, Relaxed, Relaxed)
            {
                Ok(_) => return drawn,
                Err(now) => left = now,
            }
        }
    }

    fn give(&self, items: usize) {
        self.left.fetch_add(items, Relaxed);
    }
}

impl<T: Record> Turns<T> {
    /// Whether all chunks before this one have ended; what they left is in its place then.
    fn comes_to(&mut self, chunk: usize, room: &Room<T>) -> bool {
        while self.turn < chunk {
            let Some(blocks) = self.left[self.turn].take() else {
                return false;
            };
            self.place(blocks, self.turn, room);
            self.turn += 1;
        }
        true
    }

    /// Moves items of the chunk whose turn it is to their place.
    fn place(&mut self, blocks: Vec<Vec<T>>, chunk: usize, room: &Room<T>) {
        for mut block in blocks {
            let len = block.len();
            if let Some(seen) = &self.place.seen {
                seen.keep_first(chunk, &mut block);
            }
            if !self.place.take(vec![block]) {
                room.starved.store(true, Relaxed);
            }
            // The place of a unique frontier has memory for all nodes, and others count what is there.
            if self.place.seen.is_some() {
                room.give(len);
            }
        }
    }

    /// The same for an item that there is no block for. From now on the place has all memory that it may need: what
    /// blocks hold beside it comes to no more than before.
    fn place_one(&mut self, item: T, chunk: usize, room: &Room<T>) -> bool {
        let place = &mut self.place;
        // While this chunk waited, one before it may have pushed the same.
        let seen = place.seen.as_ref();
        if seen.is_some_and(|seen| !seen.is_first(chunk, &item)) {
            return true;
        }
        let left = place.most.saturating_sub(place.items.len());
        if left == 0 {
            return false;
        }
        let more = match &place.items {
            Items::Nodes(_) | Items::Rows(_) => left,
            Items::After(all, _) if all.last().is_some_and(|r| r.len() < r.capacity()) => 0,
            Items::After(all, _) => {
                let last = all.last().map_or(0, Rows::len);
                left.min((2 * last).clamp(Room::<T>::FIRST, BLOCK))
            }
        };
        let has_memory = more == 0 || place.items.make_room(more, place.most);
        if has_memory {
            place.items.extend(&[item]);
        } else {
            room.starved.store(true, Relaxed);
        }
        has_memory
    }
}

impl Place {
    /// Takes items as far as there is room; false where there is no memory for them.
    pub(crate) fn take<T: Record>(&mut self, blocks: Vec<Vec<T>>) -> bool {
        let all: usize = blocks.iter().map(Vec::len).sum();
        let mut fits = all.min(self.most.saturating_sub(self.items.len()));
        self.refused += (all - fits) as u64;
        if let Items::After(..) = &self.items
            && fits > 0
            && !self.items.make_room(fits, self.most)
        {
            return false;
        }
        for block in blocks {
            let items = &block[..block.len().min(fits)];
            fits -= items.len();
            let grows = !matches!(self.items, Items::After(..));
            if grows && !self.items.make_room(items.len(), self.most) {
                return false;
            }
            self.items.extend(items);
        }
        true
    }
}

/// Takes memory for `more` items where there is too little, as [`Rows::make_room`] does.
#[must_use]
pub(crate) fn room_for(items: &mut Vec<u32>, more: usize, most: usize) -> bool {
    let needed = items.len().saturating_add(more);
    if needed <= items.capacity() {
        return true;
    }
    let room = items.capacity().saturating_mul(2).min(most).max(needed);
    items.try_reserve_exact(room - items.len()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    /// Three chunks that share room for `room` items, and a place for `most`.
    fn three(room: usize, most: usize, seen: Option<Seen>) -> Room<u32> {
        let mut shared = Room::default();
        shared.lead_to(Place {
            items: Items::Nodes(Vec::new()),
            most,
            seen,
            refused: 0,
        });
        assert!(shared.share(3, room));
        shared
    }

    fn gathered(room: Arc<Room<u32>>) -> (Vec<u32>, u64) {
        let mut room = Arc::into_inner(room).expect("both chunks have ended");
        let place = room.gather(|left, seen, first| {
            for (at, blocks) in left.iter_mut().enumerate() {
                let blocks = blocks.iter_mut().flatten();
                blocks.for_each(|block| seen.keep_first(first + at, block));
            }
        });
        let Items::Nodes(items) = place.items else {
            panic!("they were nodes");
        };
        (items, place.refused)
    }

    #[test]
    fn the_first_chunk_needs_no_room_and_the_next_has_it_when_its_turn_comes() {
        let room = Arc::new(three(16, 20, None));
        let [mut first, mut second] = [0, 1].map(|c| Blocks::shared(Arc::clone(&room), c));
        assert!((100..116).all(|item| second.put(item)));
        assert!((0..3).all(|item| first.put(item)));
        first.end();
        // Three more are refused: the place is full.
        let put = (116..120).map(|item| second.put(item));
        assert_eq!(put.collect::<Vec<_>>(), [true, false, false, false]);
        second.end();
        drop((first, second));
        let (items, refused) = gathered(room);
        assert!(items.into_iter().eq((0..3).chain(100..117)));
        assert_eq!(refused, 0, "chunks count what they could not put");
    }

    #[test]
    fn a_chunk_waits_for_those_before_it() {
        for _ in 0..50 {
            let room = Arc::new(three(32, 1_000, None));
            let [mut first, mut second] = [0, 1].map(|c| Blocks::shared(Arc::clone(&room), c));
            let later = std::thread::spawn(move || {
                assert!((500..1_000).all(|item| second.put(item)));
                second.end();
            });
            assert!((0..500).all(|item| first.put(item)));
            first.end();
            later.join().expect("it comes to its turn");
            drop(first);
            let (items, refused) = gathered(room);
            assert!(items.into_iter().eq(0..1_000));
            assert_eq!(refused, 0);
        }
    }

    #[test]
    fn what_two_chunks_pushed_stays_with_the_first() {
        let stamps: Vec<AtomicU32> = (0..64).map(|_| AtomicU32::new(u32::MAX)).collect();
        let all = Seen {
            stamps: Arc::new(stamps),
            stamp: 7,
            alone: false,
        };
        let room = Arc::new(three(64, 64, Some(all.clone())));
        let [mut first, mut second] = [0, 1].map(|c| Blocks::shared(Arc::clone(&room), c));
        let push = |blocks: &Blocks<u32>, chunk: u32, node: u32| {
            all.stamps[node as usize].fetch_min(7 + chunk, Relaxed);
            assert!(blocks.put(node));
        };
        (0..64).for_each(|node| push(&second, 1, node));
        (32..64).for_each(|node| push(&first, 0, node));
        first.end();
        second.end();
        drop((first, second));
        let (items, _) = gathered(room);
        assert!(items.into_iter().eq((32..64).chain(0..32)));
    }

    #[test]
    fn what_was_pushed_before_while_a_chunk_waited_is_dropped() {
        let stamps: Vec<AtomicU32> = (0..64).map(|_| AtomicU32::new(u32::MAX)).collect();
        let all = Seen {
            stamps: Arc::new(stamps),
            stamp: 7,
            alone: false,
        };
        let room = Arc::new(three(16, 64, Some(all.clone())));
        let [mut first, mut second, mut third] =
            [0, 1, 2].map(|c| Blocks::shared(Arc::clone(&room), c));
        // All room is the third's.
        for node in 0..16 {
            all.stamps[node as usize].store(9, Relaxed);
            assert!(third.put(node));
        }
        first.end();
        // The first has pushed one of these, as the second comes to know too late.
        all.stamps[20].store(7, Relaxed);
        all.stamps[21].store(8, Relaxed);
        assert!(second.put(20) && second.put(21));
        second.end();
        third.end();
        drop((first, second, third));
        let (items, _) = gathered(room);
        assert!(items.into_iter().eq([21].into_iter().chain(0..16)));
    }

    #[test]
    fn a_chunk_that_unwinds_keeps_no_other_waiting() {
        let room = Arc::new(three(16, 1_000, None));
        let [first, mut second] = [0, 1].map(|c| Blocks::shared(Arc::clone(&room), c));
        // All room is the first's, which never ends as others do.
        assert!(first.put(1_000));
        let later = std::thread::spawn(move || {
            assert!((0..100).all(|item| second.put(item)));
            second.end();
        });
        drop(first);
        later.join().expect("it comes to its turn");
        let (items, refused) = gathered(room);
        assert!(items.into_iter().eq(0..100));
        assert_eq!(refused, 0);
    }
}
