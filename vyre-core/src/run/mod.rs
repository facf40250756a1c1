//! What drives backends. There is no GPU here, and there are no threads: all work is a [`backend::Backend`]'s.
//!
//! | module | holds |
//! | --- | --- |
//! | [`backend`] | what a backend implements, and the hints that it may follow |
//! | [`args`] | what a session and a run are given, and the checks of it |
//! | [`outcome`] | what a run gives back: results and report |
//! | [`pass`] | what the macros generate for a pass |
//! | [`schedule`] | the walk over a program's schedule, for backends that the host leads |
//! | [`stop`] | stopping a call that is under way |
//!
//! A backend comes in one of two forms. One runs a whole schedule by itself, as the megakernel does, and implements
//! [`backend::Executor`] directly. The other is led by the host, sweep by sweep: it implements [`schedule::Sweeper`],
//! and its executor calls [`schedule::follow`].

pub mod args;
pub mod backend;
pub mod clock;
mod fused;
mod limited;
pub mod outcome;
pub mod pass;
pub mod schedule;
pub mod stop;
