//! Memory: what sessions share, what each of them takes of it, and what is kept for later.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use vyre_core::run::backend::{Backend, CodeRoom, GiveUp, Taken};

/// Memory that sessions share.
#[derive(Debug)]
pub(crate) struct Budget {
    total_bytes: u64,
    used_bytes: AtomicU64,
    /// Who has compiled code in it.
    code: Mutex<Vec<Weak<dyn GiveUp>>>,
}

impl Budget {
    pub(crate) fn new(total_bytes: u64) -> Budget {
        Budget {
            total_bytes,
            used_bytes: AtomicU64::new(0),
            code: Mutex::default(),
        }
    }

    /// All of it, and what is taken.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        (self.total_bytes, self.used_bytes.load(Relaxed))
    }

    /// Has compiled code given back that no run uses: what was not run for the longest time. Whether there was some.
    fn unload(&self) -> bool {
        let code: Vec<_> = {
            let code = self.code.lock().unwrap_or_else(PoisonError::into_inner);
            code.iter().filter_map(Weak::upgrade).collect()
        };
        code.iter().any(|code| code.give_up())
    }
}

impl CodeRoom for Budget {
    fn take(self: Arc<Self>, bytes: u64) -> Option<Taken> {
        let mut lease = Lease {
            budget: Some(self),
            spare: Weak::new(),
            bytes: 0,
        };
        let taken = lease.take(bytes);
        taken.then(|| Box::new(lease) as Taken)
    }

    fn has(&self, bytes: u64) -> bool {
        let (total, used) = self.bytes();
        bytes <= total.saturating_sub(used)
    }

    fn offer(&self, pieces: Weak<dyn GiveUp>) {
        let mut code = self.code.lock().unwrap_or_else(PoisonError::into_inner);
        code.retain(|kept| kept.strong_count() > 0);
        code.push(pieces);
    }
}

/// Sessions of kernels that wait for their next call, at most.
const KEPT_KERNELS: usize = 16;
/// Together they have at most the device's memory divided by this.
const KEPT_SHARE: u64 = 4;

/// Unused memory, kept because the next call may: sessions of kernels, and results that came back. All of it
/// goes before a session is refused.
#[derive(Default)]
pub(crate) struct Spare {
    /// The one that waits longest comes first.
    kernels: Mutex<Vec<Kept>>,
    /// The device knows of it.
    registered: OnceLock<()>,
    pools: Mutex<Vec<Weak<dyn GiveUp>>>,
}

struct Kept {
    session: Box<dyn Any + Send>,
    bytes: u64,
}

impl Spare {
    fn kernels(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An unused session of the kernel.
    pub(crate) fn take<S: Any>(&self) -> Option<S> {
        let mut kernels = self.kernels();
        let of = |kept: &Kept| kept.session.is::<S>();
        let kept = kernels.iter().rposition(of).map(|at| kernels.remove(at))?;
        kept.session.downcast().ok().map(|session| *session)
    }

    /// What is said of a session of the kernel, the last that came back.
    pub(crate) fn told<S: Any>(&self, of: impl FnOnce(&S) -> String) -> Option<String> {
        let kernels = self.kernels();
        let mut sessions = kernels.iter().rev();
        sessions
            .find_map(|kept| kept.session.downcast_ref())
            .map(of)
    }

    /// Keeps a session of a kernel, and what it holds in bytes, and gives up those that wait longest where there are
    /// too many, or with too much memory. `memory_bytes`: all of the device's.
    pub(crate) fn keep<S: Any + Send>(
        self: &Arc<Self>,
        (session, bytes): (S, u64),
        backend: &dyn Backend,
        memory_bytes: u64,
    ) {
        let mut kernels = self.kernels();
        kernels.push(Kept {
            bytes,
            session: Box::new(session),
        });
        self.registered.get_or_init(|| {
            let spare: Weak<dyn GiveUp> = Arc::downgrade(self) as _;
            backend.register(spare);
        });
        let most_bytes = memory_bytes / KEPT_SHARE;
        let mut bytes: u64 = kernels.iter().map(|kept| kept.bytes).sum();
        let mut over = kernels.len().saturating_sub(KEPT_KERNELS);
        for (at, kept) in kernels.iter().enumerate() {
            if bytes > most_bytes {
                bytes -= kept.bytes;
                over = over.max(at + 1);
            }
        }
        let gone: Vec<Kept> = kernels.drain(..over).collect();
        drop(kernels);
        drop(gone);
    }

    /// Results that come back to a session.
    pub(crate) fn add(&self, pool: Weak<dyn GiveUp>) {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.retain(|kept| kept.strong_count() > 0 && !kept.ptr_eq(&pool));
        pools.push(pool);
    }
}

impl GiveUp for Spare {
    fn give_up(&self) -> bool {
        let kernels = std::mem::take(&mut *self.kernels());
        let pools: Vec<_> = {
            let pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
            pools.iter().filter_map(Weak::upgrade).collect()
        };
        // All of them, though one may be enough.
        let some = pools.iter().filter(|pool| pool.give_up()).count();
        some > 0 || !kernels.is_empty()
    }
}

impl fmt::Debug for Spare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spare").finish_non_exhaustive()
    }
}

/// A session's part of the memory; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    budget: Option<Arc<Budget>>,
    /// What the session's runtime keeps for later.
    spare: Weak<Spare>,
    bytes: u64,
}

impl Lease {
    /// No memory yet, to grow within a budget.
    pub(crate) fn new(budget: Option<Arc<Budget>>, spare: &Arc<Spare>) -> Lease {
        Lease {
            budget,
            spare: Arc::downgrade(spare),
            bytes: 0,
        }
    }

    /// What this lease can have at most now: its own part and what no lease has. `None` without a budget.
    pub(crate) fn available_bytes(&self) -> Option<u64> {
        let budget = self.budget.as_ref()?;
        let used = budget.used_bytes.load(Relaxed);
        Some(budget.total_bytes.saturating_sub(used) + self.bytes)
    }

    /// Has what the runtime keeps for later given back, where there is a budget to be kept to; whether there was some.
    pub(crate) fn give_up(&self) -> bool {
        let spare = self.budget.as_ref().and_then(|_| self.spare.upgrade());
        spare.is_some_and(|spare| spare.give_up())
    }

    /// Has compiled code given back that no run uses, where there is a budget to be kept to; whether there was some.
    pub(crate) fn unload(&self) -> bool {
        self.budget.as_ref().is_some_and(|budget| budget.unload())
    }

    /// Makes it so large, if what the runtime keeps for later and compiled code have to go for that; false, and no
    /// change of this, where that is not enough.
    #[must_use]
    pub(crate) fn take(&mut self, bytes: u64) -> bool {
        let mut taken = self.resize(bytes) || self.give_up() && self.resize(bytes);
        while !taken && self.unload() {
            taken = self.resize(bytes);
        }
        taken
    }

    /// Makes it so large; false, and no change, where that is more than is available.
    #[must_use]
    pub(crate) fn resize(&mut self, bytes: u64) -> bool {
        if let Some(budget) = &self.budget {
            let change = budget.used_bytes.fetch_update(Relaxed, Relaxed, |used| {
                let others = used.saturating_sub(self.bytes);
                let now = others.checked_add(bytes)?;
                (now <= budget.total_bytes || bytes <= self.bytes).then_some(now)
            });
            if change.is_err() {
                return false;
            }
        }
        self.bytes = bytes;
        true
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Has what another lease of the runtime has, too.
    pub(crate) fn absorb(&mut self, mut other: Lease) {
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let _smaller = self.resize(0);
    }
}
