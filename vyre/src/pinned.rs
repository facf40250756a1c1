//! Results whose memory goes back to their session when they are dropped.

use crate::budget::Lease;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use vyre_core::run::backend::GiveUp;
use vyre_core::run::backend::Lock;

/// A result whose memory goes back to its session when it is dropped
/// ([`Session::run_pinned`](crate::Session::run_pinned)). It can be sent to other threads, and outlive the session.
pub struct Pinned<T: Send + 'static> {
    /// There until it is dropped.
    held: Option<Held<T>>,
    home: Weak<Pool<T>>,
}

/// A result and its memory. The order matters: pages are unlocked before their memory is freed, and counted until then.
pub(crate) struct Held<T> {
    pub(crate) lock: Option<Lock>,
    pub(crate) out: T,
    /// Elements that its buffers have memory for.
    pub(crate) lens: Vec<u64>,
    pub(crate) _lease: Lease,
}

/// Results that came back.
pub(crate) struct Pool<T> {
    /// The one that waits longest comes first.
    free: Mutex<Vec<Held<T>>>,
}

/// How many of them wait for the next run, at most.
const FREE: usize = 8;

impl<T: Send + 'static> Pinned<T> {
    pub(crate) fn new(held: Held<T>, home: &Arc<Pool<T>>) -> Pinned<T> {
        Pinned {
            held: Some(held),
            home: Arc::downgrade(home),
        }
    }

    /// Whether columns came from a device straight into page-locked memory. Not on a CPU, not for results that are so
    /// small that they share a copy, and not where the system locks no more pages.
    pub fn is_page_locked(this: &Pinned<T>) -> bool {
        this.held.as_ref().is_some_and(|held| held.lock.is_some())
    }
}

impl<T: Send + 'static> Deref for Pinned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        let held = self.held.as_ref();
        &held.expect("it is there until it is dropped").out
    }
}

impl<T: Send + fmt::Debug + 'static> fmt::Debug for Pinned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Send + 'static> Drop for Pinned<T> {
    fn drop(&mut self) {
        if let (Some(held), Some(home)) = (self.held.take(), self.home.upgrade()) {
            home.put(held);
        }
    }
}

impl<T> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool {
            free: Mutex::default(),
        }
    }
}

impl<T> Pool<T> {
    fn free(&self) -> MutexGuard<'_, Vec<Held<T>>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One with memory for buffers of `lens` elements.
    pub(crate) fn take(&self, lens: &[u64]) -> Option<Held<T>> {
        let mut free = self.free();
        let fits = |held: &Held<T>| held.lens.iter().zip(lens).all(|(has, needs)| has >= needs);
        let at = free.iter().rposition(fits)?;
        Some(free.remove(at))
    }

    /// Keeps one for the next run.
    pub(crate) fn put(&self, held: Held<T>) {
        let mut free = self.free();
        free.push(held);
        let oldest = (free.len() > FREE).then(|| free.remove(0));
        drop(free);
        drop(oldest);
    }
}

impl<T: Send> GiveUp for Pool<T> {
    fn give_up(&self) -> bool {
        let free = std::mem::take(&mut *self.free());
        !free.is_empty()
    }
}
