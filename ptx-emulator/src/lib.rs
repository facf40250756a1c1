//! Runs PTX without a GPU, for tests of vyre's device code.
//!
//! A [`Module`] is a text that was read: all of it, or an error with the line. A [`Machine`] runs an entry by a grid of
//! CTAs and clusters, or one function by the lanes of one warp. Results are those of the hardware bit for bit, but for
//! the instructions that approximate (`ex2`, `lg2`, `sin`, `cos`, `tanh`, `rsqrt`, and `rcp`, `sqrt`, `div` with
//! `.approx`), which are the host's functions, and for the payload of a double that is no number.
//!
//! What hardware leaves undefined is a [`Fault`] with its place: an access outside of all memory, a misaligned one, a
//! `.sync` instruction that lanes of its mask never reach, a shuffle that asks a lane which is not there, a barrier that
//! is never complete.
//!
//! ```
//! use ptx_emulator::{Machine, Module};
//! use std::rc::Rc;
//!
//! let text = "
//!     .version 7.0
//!     .target sm_80
//!     .address_size 64
//!     .func (.param .b32 sum) halves(.param .b32 x) {
//!         .reg .pred %p<2>;
//!         .reg .b32 %r<4>;
//!         mov.u32 %r1, %laneid;
//!         setp.lt.u32 %p1, %r1, 16;
//!         ld.param.u32 %r2, [x];
//!         @%p1 bra $low;
//!         redux.sync.add.u32 %r3, %r2, 0xffff0000;
//!         bra $end;
//!     $low:
//!         redux.sync.add.u32 %r3, %r2, 0xffff;
//!     $end:
//!         st.param.b32 [sum], %r3;
//!         ret;
//!     }";
//! let module = Rc::new(Module::parse(text)?);
//! let x = std::array::from_fn(|lane| lane as u64);
//! let sums = Machine::new(Rc::clone(&module), 0).call("halves", u32::MAX, &[x])?;
//! assert_eq!((sums[0][0], sums[0][31]), (120, 376));
//! // Nobody waits for lanes that are not there.
//! let sums = Machine::new(Rc::clone(&module), 0).call("halves", 0x0000_ffff, &[x])?;
//! assert_eq!(sums[0][0], 120);
//! // Each half waits for lanes that wait elsewhere.
//! let broken = text.replace("0xffff0000", "-1").replace("0xffff;", "-1;");
//! let broken = Rc::new(Module::parse(&broken)?);
//! let fault = Machine::new(broken, 0).call("halves", u32::MAX, &[x]).unwrap_err();
//! assert_eq!(fault.message, "lanes that a mask names never come here");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `tests/megakernel.rs` runs whole passes so, with vyre's own host code. [`explore`] goes through every order in which the
//! warps of a small grid may run, with the old values that PTX's memory model lets them read.

mod access;
mod alu;
mod check;
mod decode;
mod machine;
mod memory;
mod order;
mod slots;
mod text;

pub use check::{Failure, Report, explore};
pub use machine::{Fault, Lanes, Launch, Machine};
pub use memory::Memory;
pub use text::{Module, ParseError};
