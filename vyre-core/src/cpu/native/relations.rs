//! `&Insert<T>`: what a chunk inserts into a relation.

use super::collected::{AppendArg, RoomView};
use super::lane_args::{LaneArg, Shared, shared_parts};
use super::walks::Lane;
use crate::dsl::record::Record;
use crate::dsl::views::{Atomic, Buf};
use crate::dsl::{Append, Insert};

/// The tuples of a chunk that are new go where those of an append go; all chunks share the table.
#[derive(Debug)]
pub struct InsertArg<'s, T> {
    pub(super) rows: AppendArg<'s, T>,
    pub(super) cells: Shared<'s, u64>,
}

/// What the threads of a sweep see of an [`InsertArg`].
#[derive(Debug)]
pub struct InsertView<'v, T> {
    rows: RoomView<'v, T>,
    cells: &'v Buf<Atomic<u64>>,
}

impl<T> Clone for InsertView<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for InsertView<'_, T> {}

impl<T: Record> LaneArg for InsertArg<'_, T> {
    type Item<'l> = Insert<'l, T>;
    type View<'v>
        = InsertView<'v, T>
    where
        Self: 'v;
    type Local = Append<T>;
    type Slot = ();

    shared_parts!();

    fn view(&mut self) -> InsertView<'_, T> {
        InsertView {
            rows: self.rows.view(),
            cells: self.cells.view(),
        }
    }
    fn begin(&self) -> Append<T> {
        self.rows.begin()
    }
    fn waits(&self) -> bool {
        self.rows.waits()
    }
    fn share(&mut self, chunks: usize) -> bool {
        self.rows.share(chunks)
    }
    fn gather(&mut self) {
        self.rows.gather();
    }
    fn open(view: InsertView<'_, T>, chunk: usize) -> Append<T> {
        AppendArg::open(view.rows, chunk)
    }
    #[inline]
    fn slot() {}
    #[inline]
    fn get<'l>(
        view: &'l InsertView<'_, T>,
        (local, ()): (&'l mut Append<T>, &'l mut ()),
        _: Lane,
    ) -> Insert<'l, T> {
        Insert::over(local, view.cells)
    }
    #[inline]
    fn put(_: &InsertView<'_, T>, (): (), _: Lane) {}
    fn end(local: &mut Append<T>) {
        local.end();
    }
    fn close(&self, local: Append<T>) {
        self.rows.close(local);
    }
}
