//! Sweeps that pull: where a frontier has many of the edges that are left, each node that nobody claimed looks along its
//! edges in, and stops at the first that comes from the frontier (Beamer, Asanovic, Patterson: Direction-optimizing
//! breadth-first search, 2012). `vyre_core::plan::pull` proves of a wave that this leaves the same behind.
//!
//! A node is in the frontier if it was pushed behind the flip before this one, which is stamped when it gets its slot.
//! An invocation looks at some edges of its nodes by itself, and claims and pushes a node as soon as it finds one. What
//! is left of a workgroup's edges is shared out, so that nobody waits for a hub. Several invocations may find an edge of a
//! node then, so they run the wave's kernel with it.

use crate::helpers::Helper;
use crate::ir::{Fun, Maker, Value};
use crate::layout::{Arena, Held, Kind, Layout, Piece};
use crate::shared::{
    Blocks, Shared, barrier, begin_staging, count_edges, flush_staged, share_edges, tell_edges,
};
use crate::sweep::{Code, Place, code, fixed, module, share, staging};
use naga::{
    AtomicFunction, BinaryOperator as Bin, Function, Handle, MathFunction as Math, Module,
    Statement,
};
use vyre_core::plan::pull::Taken;
use vyre_core::plan::shaders::{Pulling, WORKGROUP};
use vyre_core::vir0::module::{Program, TopologyId, WaveId};

/// Nodes that an invocation asks at a time, so that it waits once for what all of them lead to. As many are staged.
const EACH: u32 = 4;

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
        let front = f.with(Bin::Subtract, epoch, 1);
        let of_each = f.m.array(Some(EACH));
        let [asked, from, left, slots] =
            ["asked", "from", "left", "slots"].map(|name| f.local(name, Some(of_each)));
        let lane_count = f.u(lanes);
        let blocks = Blocks::whole(f, place, (zero, nodes), EACH);
        blocks.each(f, (shared, place), |f, now, _| {
            let all = look(f, of, (place, blocks, now, front));
            for (k, it) in (0..).zip(all) {
                f.when(it.found, |f| claim(f, of, it.node));
                // Those of a node that waits.
                let next = f.plus(it.first, 1);
                let goes = f.not(it.found);
                let goes = f.bin(Bin::LogicalAnd, it.waits, goes);
                let edges = f.bin(Bin::Subtract, it.end, next);
                let edges = f.select(goes, edges, zero);
                for (each, value) in [(asked, it.node), (from, next), (left, edges)] {
                    let to = f.part(each, k);
                    f.store(to, value);
                }
            }
            search(f, (of, front), (asked, from, left));
            let all = number(f, (shared, place), (left, slots));
            let passes = f.div_ceil(all, lane_count);
            let pass = f.local("pass", None);
            f.store(pass, zero);
            f.forever(|f| {
                let now = shared.alike(f, place, |f| f.load(pass));
                let done = f.bin(Bin::GreaterEqual, now, passes);
                f.when(done, |f| f.push(Statement::Break));
                let before = f.bin(Bin::Multiply, now, lane_count);
                for k in 0..EACH {
                    let [slot, node, from, left] = [slots, asked, from, left].map(|each| {
                        let of_this = f.part(each, k);
                        f.load(of_this)
                    });
                    let at = f.bin(Bin::Subtract, slot, before);
                    let is_now = f.with(Bin::Less, at, lanes);
                    f.when(is_now, |f| shared.hand(f, at, (node, from, left)));
                }
                let here = f.bin(Bin::Subtract, all, before);
                let here = f.math(Math::Min, &[here, lane_count]);
                barrier(f);
                let (first, own) = shared.handed(f, (place, here));
                barrier(f);
                shared.number(f, (place, here), (own, first));
                barrier(f);
                let edges = shared.total(f, here);
                let edges = f.load(edges);
                let range = (zero, edges, lane_count);
                share_edges(f, (shared, place, here), range, |f, edge, node| {
                    let found = comes(f, of, (edge, front));
                    f.when(found, |f| {
                        f.call_of(kernel, &[edge, node]);
                    });
                });
                let after = f.plus(now, 1);
                f.store(pass, after);
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

/// A node that was asked.
#[derive(Clone, Copy)]
struct Asked {
    node: Value,
    /// Nobody claimed it, and it has edges in.
    waits: Value,
    /// Its first one comes from the frontier.
    found: Value,
    /// Its edges in.
    first: Value,
    end: Value,
}

/// Asks an invocation's nodes. What one step loads of all of them does not depend on each other.
fn look(
    f: &mut Fun<'_, '_>,
    of: Pulling,
    (place, blocks, now, front): (Place, Blocks, Value, Value),
) -> Vec<Asked> {
    let zero = f.u(0);
    let nodes = (0..EACH).map(|k| {
        let now = f.plus(now, k * place.lanes);
        let (node, here) = blocks.item(f, place, now);
        (f.select(here, node, zero), here)
    });
    let nodes: Vec<(Value, Value)> = nodes.collect();
    let values = nodes.iter().map(|&(node, _)| {
        let value = claimed(f, of, node);
        f.load(value)
    });
    let values: Vec<Value> = values.collect();
    let offsets = Piece::Offsets(of.into.0);
    let edges = nodes
        .iter()
        .map(|&(node, _)| [0, 1].map(|beyond| fixed(f, offsets, node, beyond)));
    let edges: Vec<[Value; 2]> = edges.collect();
    let waits = nodes.iter().zip(&values).zip(&edges);
    let waits = waits.map(|((&(_, here), &value), &[first, end])| {
        let free = f.with(Bin::Equal, value, of.claim.free);
        let some = f.bin(Bin::Less, first, end);
        let waits = f.bin(Bin::LogicalAnd, here, free);
        f.bin(Bin::LogicalAnd, waits, some)
    });
    let waits: Vec<Value> = waits.collect();
    // Of others, a word that there is.
    let sources = waits.iter().zip(&edges).map(|(&waits, &[first, _])| {
        let targets = f.param(f.m.layout.at(Piece::Targets(of.into.0)));
        let at = f.sum(targets, first);
        let at = f.select(waits, at, zero);
        let source = f.memory(Arena::Fixed, at);
        let source = f.load(source);
        f.select(waits, source, zero)
    });
    let sources: Vec<Value> = sources.collect();
    let seen = sources.iter().map(|&source| {
        let seen = f.seen(of.frontier.0, source);
        f.load(seen)
    });
    let seen: Vec<Value> = seen.collect();
    let all = (0..EACH as usize).map(|k| {
        let comes = f.bin(Bin::Equal, seen[k], front);
        Asked {
            node: nodes[k].0,
            waits: waits[k],
            found: f.bin(Bin::LogicalAnd, waits[k], comes),
            first: edges[k][0],
            end: edges[k][1],
        }
    });
    all.collect()
}

/// Edges that are loaded together.
const TOGETHER: u32 = 4;

/// Edges of an invocation's nodes, one node after the other, up to one that comes from the frontier: then the node is
/// claimed. What is left of its edges, of how many from which on, is the workgroup's.
fn search(
    f: &mut Fun<'_, '_>,
    (of, front): (Pulling, Value),
    (asked, from, left): (Value, Value, Value),
) {
    let (zero, one) = (f.u(0), f.u(1));
    let (kth, looked) = (f.local("kth_node", None), f.local("looked", None));
    f.store(kth, zero);
    f.store(looked, zero);
    let goes_on = |f: &mut Fun<'_, '_>| {
        let now = f.load(kth);
        let next = f.sum(now, one);
        f.store(kth, next);
        f.store(looked, zero);
    };
    f.forever(|f| {
        let now = f.load(kth);
        let done = f.with(Bin::GreaterEqual, now, EACH);
        f.when(done, |f| f.push(Statement::Break));
        let [node, first, edges] = [asked, from, left].map(|each| f.at(each, now));
        let (here, some) = (f.load(first), f.load(edges));
        let so_far = f.load(looked);
        let none = f.with(Bin::Equal, some, 0);
        let many = f.with(Bin::GreaterEqual, so_far, SERIAL);
        let ends = f.bin(Bin::LogicalOr, none, many);
        let look = |f: &mut Fun<'_, '_>| {
            let targets = f.param(f.m.layout.at(Piece::Targets(of.into.0)));
            let at = f.sum(targets, here);
            let last = f.with(Bin::Subtract, some, 1);
            let sources = (0..TOGETHER).map(|nth| {
                let nth = f.u(nth);
                let nth = f.math(Math::Min, &[nth, last]);
                let at = f.sum(at, nth);
                let source = f.memory(Arena::Fixed, at);
                f.load(source)
            });
            let sources: Vec<Value> = sources.collect();
            let seen = sources.iter().map(|&source| {
                let seen = f.seen(of.frontier.0, source);
                f.load(seen)
            });
            let seen: Vec<Value> = seen.collect();
            let found = seen.iter().map(|&seen| f.bin(Bin::Equal, seen, front));
            let found: Vec<Value> = found.collect();
            let found = found.into_iter();
            let found = found.reduce(|a, b| f.bin(Bin::LogicalOr, a, b));
            let found = found.expect("there are some");
            let comes = |f: &mut Fun<'_, '_>| {
                let node = f.load(node);
                claim(f, of, node);
                f.store(edges, zero);
                goes_on(f);
            };
            let fails = |f: &mut Fun<'_, '_>| {
                let together = f.u(TOGETHER);
                let these = f.math(Math::Min, &[some, together]);
                let after = f.sum(here, these);
                f.store(first, after);
                let rest = f.bin(Bin::Subtract, some, these);
                f.store(edges, rest);
                let looks = f.sum(so_far, these);
                f.store(looked, looks);
            };
            f.branch(found, comes, fails);
        };
        f.branch(ends, goes_on, look);
    });
}

/// Whether an edge in comes from the frontier.
fn comes(f: &mut Fun<'_, '_>, of: Pulling, (edge, front): (Value, Value)) -> Value {
    let source = fixed(f, Piece::Targets(of.into.0), edge, 0);
    let seen = f.seen(of.frontier.0, source);
    let seen = f.load(seen);
    f.bin(Bin::Equal, seen, front)
}

/// Pointer to the element by which a node is claimed.
fn claimed(f: &mut Fun<'_, '_>, of: Pulling, node: Value) -> Value {
    let layout = f.m.layout;
    let first = f.param(layout.at_buffer(of.claim.buffer));
    let at = f.sum(first, node);
    f.memory(layout.arena(of.claim.buffer), at)
}

/// Claims and pushes a node that nobody else looks at.
fn claim(f: &mut Fun<'_, '_>, of: Pulling, node: Value) {
    let taken = match of.claim.taken {
        Taken::Constant(taken) => f.u(taken),
        Taken::Round(more) => {
            let round = f.param(Layout::ROUND);
            f.plus(round, more)
        }
    };
    let element = claimed(f, of, node);
    f.store(element, taken);
    f.act(Helper::Push(of.frontier.0), &[node]);
}

/// Nodes with edges that are left get numbers in their workgroup; how many there are, which is uniform.
fn number(
    f: &mut Fun<'_, '_>,
    (shared, place): (Shared, Place),
    (left, slots): (Value, Value),
) -> Value {
    let [_, next] = f.pull_cells().expect("sweeps that may pull have them");
    for k in 0..EACH {
        let [left, slot] = [left, slots].map(|each| f.part(each, k));
        let none = f.u(u32::MAX);
        f.store(slot, none);
        let left = f.load(left);
        let some = f.with(Bin::NotEqual, left, 0);
        f.when(some, |f| {
            let one = f.u(1);
            let number = f.atomic(next, AtomicFunction::Add, one);
            f.store(slot, number);
        });
    }
    barrier(f);
    // Nobody counts again before all have come to another barrier.
    shared.alike(f, place, |f| {
        let all = f.load(next);
        let none = f.u(0);
        f.store(next, none);
        all
    })
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
