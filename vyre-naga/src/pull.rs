//! Sweeps that pull: where a frontier has many of the edges that are left, each node that nobody claimed looks along its
//! edges in, and stops at the first that comes from the frontier (Beamer, Asanovic, Patterson: Direction-optimizing
//! breadth-first search, 2012). `vyre_core::plan::pull` proves of a wave that this leaves the same behind.
//!
//! A node is in the frontier if it was pushed behind the flip before this one, which is stamped when it gets its slot.
//! An invocation looks at some edges of its node by itself. What is left of a workgroup's nodes is shared out, so that
//! nobody waits for a hub. Who finds an edge runs the wave's kernel with it, which claims and pushes the node.

use crate::helpers::Helper;
use crate::ir::{Fun, Maker, Value};
use crate::layout::{Held, Kind, Layout, Piece};
use crate::shared::{
    Blocks, Shared, barrier, begin_staging, count_edges, flush_staged, share_edges, tell_edges,
};
use crate::sweep::{Code, Place, code, fixed, module, share, staging};
use naga::{
    AtomicFunction, BinaryOperator as Bin, Function, Handle, MathFunction as Math, Module,
    Statement,
};
use vyre_core::plan::shaders::WORKGROUP;
use vyre_core::vir0::module::{Program, TopologyId, WaveId};

/// Edges that an invocation looks at by itself.
const SERIAL: u32 = 32;

/// The sweep of a wave that pulls, where it may.
pub(crate) fn pull(program: &Program, layout: &Layout, id: WaveId) -> Option<Module> {
    let of = layout.pulling(id)?;
    let name = format!("{}_pull", layout.wave(id));
    let lanes = layout.lanes(id);
    let shared = Shared::of(program, id, lanes);
    let made = |m: &mut Maker<'_>| {
        m.sharing = staging(program, layout, id, shared);
        match code(m, program, id) {
            Code::Whole(kernel) => kernel,
            Code::Shared(..) => unreachable!("a claim has no loop"),
        }
    };
    let body = |f: &mut Fun<'_, '_>, kernel: Handle<Function>, place: Place| {
        begin_staging(f, place);
        let (zero, nodes) = (f.u(0), f.param(layout.length(Kind::Nodes, 0)));
        let epoch = f.control_now(layout.control(Held::Epoch(of.frontier.0)));
        let before = f.with(Bin::Subtract, epoch, 1);
        let claims = |f: &mut Fun<'_, '_>, edge: Value, node: Value| {
            f.call_of(kernel, &[edge, node]);
        };
        let comes = |f: &mut Fun<'_, '_>, edge: Value| {
            let source = fixed(f, Piece::Targets(of.into.0), edge, 0);
            let seen = f.seen(of.frontier.0, source);
            let seen = f.load(seen);
            f.bin(Bin::Equal, seen, before)
        };
        let (left, from) = (f.local("edges_left", None), f.local("edge", None));
        let blocks = Blocks::whole(f, place, (zero, nodes));
        blocks.each(f, (shared, place), |f, now, count| {
            f.store(left, zero);
            f.store(from, zero);
            let (node, here) = blocks.item(f, place, now);
            f.when(here, |f| {
                let first = f.param(layout.at_buffer(of.claim.buffer));
                let at = f.sum(first, node);
                let claimed = f.memory(layout.arena(of.claim.buffer), at);
                let claimed = f.load(claimed);
                let waits = f.with(Bin::Equal, claimed, of.claim.free);
                f.when(waits, |f| {
                    f.name(node, "node".to_owned());
                    let offsets = Piece::Offsets(of.into.0);
                    let [first, end] = [0, 1].map(|beyond| fixed(f, offsets, node, beyond));
                    let all = f.bin(Bin::Subtract, end, first);
                    let most = f.u(SERIAL);
                    let some = f.math(Math::Min, &[all, most]);
                    let stop = f.sum(first, some);
                    let rest = f.bin(Bin::Subtract, all, some);
                    f.store(left, rest);
                    f.store(from, first);
                    f.forever(|f| {
                        let edge = f.load(from);
                        let done = f.bin(Bin::GreaterEqual, edge, stop);
                        f.when(done, |f| f.push(Statement::Break));
                        let found = comes(f, edge);
                        f.when(found, |f| {
                            claims(f, edge, node);
                            f.store(left, zero);
                            f.push(Statement::Break);
                        });
                        let next = f.plus(edge, 1);
                        f.store(from, next);
                    });
                    shared.set_node(f, place, node);
                });
            });
            let own = f.load(left);
            let [_, waiting] = f
                .pull_cells()
                .expect("they are there where sweeps may pull");
            let some = f.with(Bin::NotEqual, own, 0);
            f.when(some, |f| {
                let one = f.u(1);
                f.atomic(waiting, AtomicFunction::Add, one);
            });
            barrier(f);
            let waits = shared.alike(f, place, |f| f.load(waiting));
            let some = f.with(Bin::NotEqual, waits, 0);
            f.when(some, |f| {
                let leads = f.with(Bin::Equal, place.lane, 0);
                f.when(leads, |f| f.store(waiting, zero));
                let first = f.load(from);
                shared.number(f, (place, count), (own, first));
                barrier(f);
                let all = shared.total(f, count);
                let all = f.load(all);
                let stride = f.u(place.lanes);
                let of = (shared, place, count);
                share_edges(f, of, (zero, all, stride), |f, edge, node| {
                    let found = comes(f, edge);
                    f.when(found, |f| claims(f, edge, node));
                });
            });
            flush_staged(f, place);
        });
        count_edges(f);
        barrier(f);
        let first = f.with(Bin::Equal, place.lane, 0);
        f.when(first, tell_edges);
    };
    Some(module(layout, &name, lanes, made, body))
}

/// Whether a topology is its own reverse, as far as pulling asks: each edge has its opposite. Targets of a node that do
/// not ascend may hide it.
pub(crate) fn symmetric(layout: &Layout, id: TopologyId) -> Module {
    let name = format!("{}_symmetric", layout.topology(id.0));
    let body = |f: &mut Fun<'_, '_>, (): (), place| {
        let (zero, edges) = (f.u(0), f.param(layout.length(Kind::Edges, id.0)));
        let (low, high) = (f.local("low", None), f.local("high", None));
        share(f, place, (zero, edges), |f, edge| {
            let source = f.call(Helper::SourceOf(id.0), &[edge]);
            let target = fixed(f, Piece::Targets(id.0), edge, 0);
            let [first, end] = [0, 1].map(|beyond| fixed(f, Piece::Offsets(id.0), target, beyond));
            f.store(low, first);
            f.store(high, end);
            f.forever(|f| {
                let (from, to) = (f.load(low), f.load(high));
                let none = f.bin(Bin::GreaterEqual, from, to);
                f.when(none, |f| {
                    let lopsided = f.control(layout.control(Held::Lopsided(id.0)));
                    let yes = f.u(1);
                    f.store(lopsided, yes);
                    f.push(Statement::Break);
                });
                let width = f.bin(Bin::Subtract, to, from);
                let half = f.with(Bin::ShiftRight, width, 1);
                let middle = f.sum(from, half);
                let there = fixed(f, Piece::Targets(id.0), middle, 0);
                let found = f.bin(Bin::Equal, there, source);
                f.when(found, |f| f.push(Statement::Break));
                let below = f.bin(Bin::Less, there, source);
                f.branch(
                    below,
                    |f| {
                        let behind = f.plus(middle, 1);
                        f.store(low, behind);
                    },
                    |f| f.store(high, middle),
                );
            });
        });
    };
    module(layout, &name, WORKGROUP, |_| (), body)
}
