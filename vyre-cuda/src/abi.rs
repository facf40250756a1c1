//! Structs that the host writes and the megakernel reads, defined once: the macro below makes both the `#[repr(C)]`
//! Rust struct and the text of `kernels/abi.h`. A test compares the checked-in header with it.
//!
//! All addresses are device addresses. `*_shared` fields are byte offsets into a CTA's shared memory. Table fields of
//! [`Image`] are byte offsets from the start of the image. Every CTA copies the tables into its shared memory, so
//! fields marked "CTA state" are private to a CTA and all CTAs compute the same values.

#![allow(
    missing_docs,
    reason = "fields are described where their struct is declared"
)]

/// A field that does not apply.
pub(crate) const NONE: u32 = u32::MAX;
/// Threads of a CTA; one CTA runs on each multiprocessor.
pub(crate) const THREADS: u32 = 1024;
/// Warps of a CTA.
pub(crate) const WARPS: u32 = 32;
/// Most CTAs of a launch: the barrier word counts arrivals in 8 bits.
pub(crate) const MAX_CTAS: u32 = 255;
/// Out-degree above which a frontier item is split into chunks of this many edges.
pub(crate) const HUB_EDGES: u32 = vyre_core::plan::device::HUB_EDGES;
/// Edges above which a neighbour loop's range is summed up before the wave, and edges of one part of it.
pub(crate) const RANGE_HUB: u32 = 256;
/// See [`RANGE_HUB`].
pub(crate) const RANGE_PART: u32 = 1024;
/// Opcodes that only the device has: a lifted neighbour loop, and the end of its body.
pub(crate) const OP_NEIGHBORS: u32 = 0xf0;
/// See [`OP_NEIGHBORS`].
pub(crate) const OP_END_NEIGHBORS: u32 = 0xf1;
/// Opcode of a map's code: wait for what was loaded.
pub(crate) const OP_WAIT: u32 = 0xf2;
/// Opcode of a map's code: the item's number.
pub(crate) const OP_NUMBER: u32 = 0xf3;
/// Opcodes of tile code: loads that are asked for together, as many words as the immediate says in its low byte, of 64
/// bits if the next byte is one; the end; items leave for which operand a is 0, or a comparison of a and b does not
/// hold; a push of a under the condition b, or its opposite if the lowest bit of the immediate is 0; a and not b.
pub(crate) const TILE_LOADS: u32 = 0xf6;
/// See [`TILE_LOADS`].
pub(crate) const TILE_END: u32 = 0xf7;
/// See [`TILE_LOADS`].
pub(crate) const TILE_EXIT: u32 = 0xf8;
/// See [`TILE_LOADS`].
pub(crate) const TILE_EXIT_LT: u32 = 0xf9;
/// See [`TILE_LOADS`].
pub(crate) const TILE_EXIT_LE: u32 = 0xfa;
/// See [`TILE_LOADS`].
pub(crate) const TILE_EXIT_EQ: u32 = 0xfb;
/// See [`TILE_LOADS`].
pub(crate) const TILE_EXIT_NE: u32 = 0xfc;
/// See [`TILE_LOADS`].
pub(crate) const TILE_EXIT_NE64: u32 = 0xfd;
/// See [`TILE_LOADS`].
pub(crate) const TILE_PUSH: u32 = 0xfe;
/// See [`TILE_LOADS`].
pub(crate) const TILE_WITHOUT: u32 = 0xff;
/// In the immediate of an atomic in tile code: its element was just loaded.
pub(crate) const TILE_KNOWN: u32 = 1;
/// Beside a map's opcode: operand a is what was computed last, and still at hand.
pub(crate) const MAP_A_LAST: u32 = 1 << 8;
/// The same of operand b.
pub(crate) const MAP_B_LAST: u32 = 1 << 9;
/// The result is not put in a row.
pub(crate) const MAP_NOT_KEPT: u32 = 1 << 10;
/// It does not compute.
pub(crate) const MAP_MOVES: u32 = 1 << 11;
/// Bytes of a word of code as the device has it.
pub(crate) const WORD_BYTES: u32 = 32;
/// What the device adds to the place of an operand that is the same for all lanes, besides the address of the word.
pub(crate) const FIXED: u32 = (1 << 31) - (1 << 20);
/// Opcodes of quick code: a conditional push to a frontier, and the end of some items within an `if`.
pub(crate) const QUICK_PUSH: u32 = 0xf4;
/// See [`QUICK_PUSH`].
pub(crate) const QUICK_RETURN: u32 = 0xf5;
/// Flags of a word of quick code, beside its opcode: the next word is a push, and the result says whether.
pub(crate) const QUICK_DECIDES: u32 = 1 << 8;
/// Items whose result is 0 stop here, as at an `if`.
pub(crate) const QUICK_IF: u32 = 1 << 9;
/// The first operand is the result of the word before.
pub(crate) const QUICK_HANDED_A: u32 = 1 << 10;
/// The second one is.
pub(crate) const QUICK_HANDED_B: u32 = 1 << 11;
/// Nobody reads the result from its row.
pub(crate) const QUICK_DROPS: u32 = 1 << 12;
/// The result is of 64 bits.
pub(crate) const QUICK_WIDE: u32 = 1 << 13;
/// The word has no opcode: the bits below, in its immediate, say what it makes of its operands.
pub(crate) const QUICK_COMPUTES: u32 = 1 << 14;
/// The immediate is the place of a buffer's entry.
pub(crate) const QUICK_PLACED: u32 = 1 << 15;
/// The second operand's complement is taken, and a sum has one more: a difference.
pub(crate) const QUICK_FLIP: u32 = 1 << 7;
/// Not the sum, but bits of both, of one, or of either.
pub(crate) const QUICK_BITS: u32 = 1 << 3;
/// See [`QUICK_BITS`].
pub(crate) const QUICK_BOTH: u32 = 1 << 15;
/// See [`QUICK_BITS`].
pub(crate) const QUICK_ODD: u32 = 1 << 23;
/// Whether the first operand (not complemented) is below, the same, or above.
pub(crate) const QUICK_COMPARES: u32 = 1 << 4;
/// See [`QUICK_COMPARES`].
pub(crate) const QUICK_BELOW: u32 = 1 << 0;
/// See [`QUICK_COMPARES`].
pub(crate) const QUICK_SAME: u32 = 1 << 1;
/// See [`QUICK_COMPARES`].
pub(crate) const QUICK_ABOVE: u32 = 1 << 2;
/// The first operand if that holds, or else the second.
pub(crate) const QUICK_PICKS: u32 = 1 << 5;
/// Operands compare as signed.
pub(crate) const QUICK_SIGNED: u32 = 1 << 31;
/// In the immediate of a push in quick code: it is to the frontier that is swept.
pub(crate) const QUICK_OWN: u32 = 1 << 9;
/// The kernel ends after the push.
pub(crate) const QUICK_LAST: u32 = 1 << 8;
/// Of what a tile loads before its first word: it is used; its place is the number of an edge.
pub(crate) const SLOT_USED: u32 = 1 << 31;
/// See [`SLOT_USED`].
pub(crate) const SLOT_EDGE: u32 = 1 << 30;
/// Warps of a CTA that take part in narrow rounds.
pub(crate) const QUICK_WARPS: u32 = 4;
/// Beside the length of quick code: it stores otherwise than by exchanges, or loads what may change past the
/// first-level cache, so that barriers have to order that.
pub(crate) const QUICK_WRITES: u32 = 1 << 30;
/// See [`QUICK_WRITES`].
pub(crate) const QUICK_READS: u32 = 1 << 31;
/// CTAs of a cluster.
pub(crate) const CLUSTER: u32 = 8;
/// Warps of a CTA at most that take part in rounds which a cluster holds.
pub(crate) const CLUSTER_WARPS: u32 = 16;
/// Bytes of a staged uniform slot: the low half four times, then the high half four times.
pub(crate) const UNIFORM_BYTES: u32 = 32;
/// Items that a warp must take to fill the lanes' first edges for it to take more than it has lanes.
pub(crate) const MORE_ITEMS: u32 = 18;
/// Bytes of a warp's stash where a balanced edge tile finds its items: 32 of them, or 96 where edges are few.
pub(crate) const STASH_BYTES: u32 = 256;
/// Those after them for what the warp pushes to two frontiers until it is appended to them: no multiple of the others.
pub(crate) const STAGING_BYTES: u32 = 16 + 2 * 256;
/// Barrier words, used in turn; the host only lays them out.
#[cfg(test)]
pub(crate) const BARRIER_WORDS: u32 = 3;

/// A plain struct without padding, shared with the device.
///
/// # Safety
/// `#[repr(C)]`, every bit pattern valid, no padding.
pub(crate) unsafe trait Pod: Copy {}

/// The bytes of plain values.
pub(crate) fn bytes_of<T: Pod>(values: &[T]) -> &[u8] {
    // SAFETY: `Pod` types have no padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

macro_rules! scalars {
    ($($ty:ty),*) => { $(
        // SAFETY: a primitive number.
        unsafe impl Pod for $ty {}
    )* };
}
scalars!(u8, u32, i32, f32, u64, i64, f64);

macro_rules! abi {
    ($($(#[$doc:meta])* struct $name:ident { $($field:ident: $ty:tt,)* })*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug, Default)]
            pub(crate) struct $name { $(pub(crate) $field: abi!(@rust $ty),)* }
            // SAFETY: repr(C) of u32, u64 and arrays of u64, valid for every bit pattern; the assertion rules padding
            // out.
            unsafe impl Pod for $name {}
            const _: () = assert!(
                size_of::<$name>() == 0 $(+ size_of::<abi!(@rust $ty)>())* && size_of::<$name>() % 16 == 0,
                "no padding, and tables stay 16-byte aligned"
            );
        )*

        /// The text of `kernels/abi.h`.
        #[cfg(test)]
        pub(crate) fn header() -> String {
            use std::fmt::Write;
            let mut out = String::from("// Generated from vyre-cuda/src/abi.rs; do not edit.\n#pragma once\n\n");
            out.push_str("typedef unsigned char u8;\ntypedef unsigned int u32;\ntypedef int i32;\n");
            out.push_str("typedef unsigned long long u64;\ntypedef long long i64;\n\n");
            for (name, value) in [
                ("NONE", NONE), ("THREADS", THREADS), ("WARPS", WARPS), ("MAX_CTAS", MAX_CTAS),
                ("HUB_EDGES", HUB_EDGES), ("WORD_BYTES", WORD_BYTES), ("FIXED", FIXED), ("UNIFORM_BYTES", UNIFORM_BYTES), ("STAGING_BYTES", STAGING_BYTES),
                ("MORE_ITEMS", MORE_ITEMS),
                ("BARRIER_WORDS", BARRIER_WORDS), ("RANGE_HUB", RANGE_HUB), ("RANGE_PART", RANGE_PART),
                ("OP_NEIGHBORS", OP_NEIGHBORS), ("OP_END_NEIGHBORS", OP_END_NEIGHBORS),
                ("OP_WAIT", OP_WAIT), ("OP_NUMBER", OP_NUMBER),
                ("TILE_LOADS", TILE_LOADS), ("TILE_END", TILE_END), ("TILE_EXIT", TILE_EXIT),
                ("TILE_EXIT_LT", TILE_EXIT_LT), ("TILE_EXIT_LE", TILE_EXIT_LE), ("TILE_EXIT_EQ", TILE_EXIT_EQ),
                ("TILE_EXIT_NE", TILE_EXIT_NE), ("TILE_EXIT_NE64", TILE_EXIT_NE64), ("TILE_PUSH", TILE_PUSH),
                ("TILE_WITHOUT", TILE_WITHOUT), ("TILE_KNOWN", TILE_KNOWN),
                ("QUICK_WARPS", QUICK_WARPS), ("QUICK_PUSH", QUICK_PUSH), ("QUICK_RETURN", QUICK_RETURN),
                ("QUICK_WRITES", QUICK_WRITES), ("QUICK_READS", QUICK_READS), ("CLUSTER", CLUSTER), ("CLUSTER_WARPS", CLUSTER_WARPS),
                ("QUICK_DECIDES", QUICK_DECIDES), ("QUICK_IF", QUICK_IF), ("QUICK_HANDED_A", QUICK_HANDED_A),
                ("QUICK_HANDED_B", QUICK_HANDED_B), ("QUICK_DROPS", QUICK_DROPS), ("QUICK_WIDE", QUICK_WIDE),
                ("QUICK_COMPUTES", QUICK_COMPUTES), ("QUICK_PLACED", QUICK_PLACED), ("QUICK_FLIP", QUICK_FLIP), ("QUICK_BITS", QUICK_BITS),
                ("QUICK_BOTH", QUICK_BOTH), ("QUICK_ODD", QUICK_ODD), ("QUICK_COMPARES", QUICK_COMPARES),
                ("QUICK_BELOW", QUICK_BELOW), ("QUICK_SAME", QUICK_SAME), ("QUICK_ABOVE", QUICK_ABOVE),
                ("QUICK_PICKS", QUICK_PICKS), ("QUICK_SIGNED", QUICK_SIGNED), ("QUICK_OWN", QUICK_OWN),
                ("QUICK_LAST", QUICK_LAST), ("SLOT_USED", SLOT_USED), ("SLOT_EDGE", SLOT_EDGE),
                ("MAP_A_LAST", MAP_A_LAST), ("MAP_B_LAST", MAP_B_LAST), ("MAP_NOT_KEPT", MAP_NOT_KEPT),
                ("MAP_MOVES", MAP_MOVES),
            ] {
                writeln!(out, "#define VYRE_{name} {value}u").expect("writing to a string succeeds");
            }
            for (name, what, words) in words() {
                write!(out, "// {what}\n#define VYRE_{name}(DO)").expect("writing to a string succeeds");
                for word in words {
                    write!(out, " \\\n    DO({word})").expect("writing to a string succeeds");
                }
                out.push('\n');
            }
            for (name, value) in TAGS {
                writeln!(out, "#define VYRE_{name} {value}u").expect("writing to a string succeeds");
            }
            $(
                writeln!(out, "\nstruct {} {{", stringify!($name)).expect("writing to a string succeeds");
                $(writeln!(out, "    {};", abi!(@c $field $ty)).expect("writing to a string succeeds");)*
                writeln!(out, "}};\nstatic_assert(sizeof({}) == {}, \"\");", stringify!($name), size_of::<$name>())
                    .expect("writing to a string succeeds");
            )*
            out
        }
    };
    (@rust u32) => { u32 };
    (@rust u64) => { u64 };
    (@rust [u64; $n:literal]) => { [u64; $n] };
    (@c $field:ident u32) => { concat!("u32 ", stringify!($field)) };
    (@c $field:ident u64) => { concat!("u64 ", stringify!($field)) };
    (@c $field:ident [u64; $n:literal]) => { concat!("u64 ", stringify!($field), "[", stringify!($n), "]") };
}

/// Opcodes that the general interpreter has besides those of VIR0.
#[cfg(test)]
const INTERPRETED: [(&str, u32); 12] = [
    ("OP_NEIGHBORS", OP_NEIGHBORS),
    ("OP_END_NEIGHBORS", OP_END_NEIGHBORS),
    ("TILE_LOADS", TILE_LOADS),
    ("TILE_END", TILE_END),
    ("TILE_EXIT", TILE_EXIT),
    ("TILE_EXIT_LT", TILE_EXIT_LT),
    ("TILE_EXIT_LE", TILE_EXIT_LE),
    ("TILE_EXIT_EQ", TILE_EXIT_EQ),
    ("TILE_EXIT_NE", TILE_EXIT_NE),
    ("TILE_EXIT_NE64", TILE_EXIT_NE64),
    ("TILE_PUSH", TILE_PUSH),
    ("TILE_WITHOUT", TILE_WITHOUT),
];

/// The bytes that are no opcode of the general interpreter. With them its cases are all 256, so that its jump table
/// needs no look at its bounds.
#[cfg(test)]
fn uninterpreted() -> impl Iterator<Item = u32> {
    let own = |code: u32| INTERPRETED.iter().any(|&(_, known)| known == code);
    (0..256).filter(move |&c| vyre_core::vir0::isa::Op::from_code(c as u8).is_none() && !own(c))
}

/// Which words each interpreter of the device has, for its jumps to their handlers: name, what it says, arguments.
#[cfg(test)]
fn words() -> Vec<(&'static str, &'static str, Vec<String>)> {
    use vyre_core::vir0::isa::Op;
    let named = |op: Op| format!("{op:?}, VYRE_OP_{op:?}");
    let own = |name: &str| format!("{}, VYRE_{name}", name.trim_start_matches("OP_"));
    let those = |has: fn(Op) -> bool| {
        Op::ALL
            .iter()
            .copied()
            .filter(|&op| has(op))
            .map(named)
            .collect()
    };
    let quick = crate::quick::words().map(named);
    let quick = quick.chain(["QUICK_PUSH", "QUICK_RETURN"].map(own));
    vec![
        (
            "INTERPRETER_OPS",
            "Besides VYRE_OPS, what the general interpreter has.",
            INTERPRETED.iter().map(|&(name, _)| own(name)).collect(),
        ),
        (
            "NO_INTERPRETER_OPS",
            "All other bytes.",
            uninterpreted().map(|code| format!("{code:#04x}")).collect(),
        ),
        ("QUICK_OPS", "What quick code has.", quick.collect()),
        ("MAP_OPS", "What maps compute.", those(crate::map::computes)),
        (
            "MERGED_OPS",
            "What lifted neighbour loops take in by.",
            those(crate::neighbor_loop::merges),
        ),
        (
            "GATHERED_OPS",
            "And those of them that have a loop of their own.",
            those(crate::neighbor_loop::gathers),
        ),
    ]
}

/// Tags of device tables that are not tags of VIR0.
#[cfg(test)]
const TAGS: [(&str, u32); 16] = [
    ("DO_WAVE", step::WAVE),
    ("DO_BARRIER", step::BARRIER),
    ("DO_LOOP", step::LOOP),
    ("DO_ROUND", step::ROUND),
    ("DO_UNTIL", step::UNTIL),
    ("DO_END", step::END),
    ("DO_HUBS", step::HUBS),
    ("DO_FILL", step::FILL),
    ("VALUE_BITS", value::BITS),
    ("VALUE_ROUND", value::ROUND),
    ("VALUE_REDUCTION", value::REDUCTION),
    ("VALUE_FRONTIER", value::FRONTIER),
    ("FILL_LITERAL", fill::LITERAL),
    ("FILL_LOW", fill::LOW),
    ("FILL_HIGH", fill::HIGH),
    ("ROUND_LIMIT_KERNEL", ROUND_LIMIT_KERNEL),
];

/// Kernel part of a round limit's trap key; the item part is the fixpoint.
pub(crate) const ROUND_LIMIT_KERNEL: u32 = 0xffff;

/// Kinds of [`Step`].
pub(crate) mod step {
    pub(crate) const WAVE: u32 = 0;
    pub(crate) const BARRIER: u32 = 1;
    pub(crate) const LOOP: u32 = 2;
    pub(crate) const ROUND: u32 = 3;
    pub(crate) const UNTIL: u32 = 4;
    pub(crate) const END: u32 = 5;
    pub(crate) const HUBS: u32 = 6;
    pub(crate) const FILL: u32 = 7;
}

/// Kinds of [`Value`].
pub(crate) mod value {
    pub(crate) const BITS: u32 = 0;
    pub(crate) const ROUND: u32 = 1;
    pub(crate) const REDUCTION: u32 = 2;
    pub(crate) const FRONTIER: u32 = 3;
}

/// What a row of quick code is filled with: a literal, or half of a staged uniform.
pub(crate) mod fill {
    pub(crate) const LITERAL: u32 = 0;
    pub(crate) const LOW: u32 = 1;
    pub(crate) const HIGH: u32 = 2;
}

abi! {
    /// Head of the image. `stash_bytes`: of a warp. `quick_warps`: warps of a CTA that have rows of quick code.
    /// `progress`: where the host can see rounds and the frontier while the launch runs, or 0. `times`: bytes from
    /// `results` to two 64-bit words a wave, its sweeps and the nanoseconds that they took, or 0 if nobody asked.
    struct Image {
        code: u64,
        control: u64,
        results: u64,
        tables_bytes: u32,
        code_bytes: u32,
        code_shared: u32,
        partials_shared: u32,
        stash_shared: u32,
        registers_shared: u32,
        steps: u32,
        waves: u32,
        kernels: u32,
        values: u32,
        buffers: u32,
        topologies: u32,
        frontiers: u32,
        reductions: u32,
        fixpoints: u32,
        lists: u32,
        fills: u32,
        kernel_count: u32,
        buffer_count: u32,
        fixpoint_count: u32,
        fill_count: u32,
        frontier_count: u32,
        reduction_count: u32,
        looked: u32,
        looked_count: u32,
        records: u32,
        record_count: u32,
        pulls: u32,
        stash_bytes: u32,
        quick_warps: u32,
        times: u32,
        unused: u32,
        progress: u64,
    }

    /// Grid-wide words: the barrier (one word a 128-byte line), the trap, the abort flag, two sums of edges that are
    /// used in turn and only grow. Zeroed before a launch, except `trap_key`.
    struct Control {
        barrier: [u64; 16],
        barrier1: [u64; 16],
        barrier2: [u64; 16],
        trap_key: u64,
        trap_index: u64,
        trap_len: u64,
        trap_kind: u32,
        trap_lane: u32,
        trap_lock: u32,
        abort: u32,
        aborted: u32,
        finished: u32,
        sweeps: u64,
        items: u64,
        widest: u64,
        waiting: u64,
        pulled: u64,
        missed: u64,
        edges: [u64; 2],
        gathered: u64,
        fitting: u64,
    }

    /// Many queries in one launch: every CTA takes one after another and runs it alone. The image is that of query 0 on
    /// CTA 0: addresses in the first `slab_bytes` of `slab` are moved on by so much for each CTA, those in the first
    /// `inputs_bytes` of `inputs` and `results_bytes` of `results` for each query. `next`: the first query that nobody
    /// took. `control`: the control words as they are before a query. `scalars`: `scalar_count` of them a query.
    /// `images`: 0, or the images of all queries, `image_bytes` apart, where each has a graph of its own; then nothing
    /// is moved.
    struct Batch {
        next: u64,
        slab: u64,
        slab_bytes: u64,
        inputs: u64,
        inputs_bytes: u64,
        results: u64,
        results_bytes: u64,
        control: u64,
        scalars: u64,
        control_bytes: u32,
        queries: u32,
        scalar_count: u32,
        image_bytes: u32,
        images: u64,
    }

    /// One step of the schedule. `carried`: the frontier whose pushes travel in this barrier's word; `pushed`: list of
    /// all frontiers pushed to in the group that this barrier ends, the carried one first, as triples: frontier, kernel
    /// and pc to blame for an overflow. `settle`: a second barrier follows the
    /// condition, because it reads what the next group may change. `plain`: the fixpoint's body is one wave over the
    /// edges out of the one frontier that it owns, pushes to and tests for emptiness, and of what changes by round that
    /// wave sees the round only. Of fills, `pushed`: the first of `pushed_count` of them; the first step of a schedule
    /// is one.
    struct Step {
        kind: u32,
        id: u32,
        carried: u32,
        pushed: u32,
        pushed_count: u32,
        settle: u32,
        plain: u32,
        unused: u32,
    }

    /// One wave. `narrow`: items of a frontier that a warp takes at least, so that their edges fill it. `fresh`: of a
    /// list, only what it has not swept. `from`, `swept_to`: CTA state. `ranges`: the long edge ranges that its
    /// neighbour loop meets, by start (begin, end, first part, parts); `parts`: begin and end of each part; `sums`:
    /// what the loop makes of each part, and whether it could. `chunks`: nodes that start a chunk, the chunks having
    /// about as many short edges each, and after them the number of nodes. `pull`: its entry among those that may be
    /// turned round.
    struct Wave {
        len: u64,
        from: u64,
        swept_to: u64,
        kernel: u32,
        domain: u32,
        topology: u32,
        frontier: u32,
        narrow: u32,
        fresh: u32,
        ranges: u64,
        sums: u64,
        range_count: u32,
        part_count: u32,
        parts: u64,
        chunks: u64,
        chunk_count: u32,
        pull: u32,
    }

    /// A wave of a plain fixpoint that may be turned round. `bits`: the first two of three bitmaps of the nodes one
    /// behind the other, the very first of which is empty; 0 where it is not known whether a topology has the edges in,
    /// so that what is missed is only counted. `into`: that topology; `least`: edges of a frontier from which turning
    /// round is worth its barriers; `most_degree`: out of a node. A claim finds `free` in its element of `buffer` and
    /// stores `taken`, plus the round if `by_round`. `explored`, `entry`: CTA state; the edges of the fixpoint's
    /// frontiers so far, and which time through the fixpoint that is.
    struct Pull {
        bits: [u64; 2],
        least: u64,
        explored: u64,
        entry: u64,
        buffer: u32,
        free: u32,
        taken: u32,
        by_round: u32,
        into: u32,
        most_degree: u32,
    }

    /// One kernel. `k`: items a lane of a full tile; `warps`: warps that have registers; `item_row`: a row that keeps
    /// the item for traps. `uniforms_shared`: its staged slots; `staged`: they are its own, so that only the slots in
    /// the list `dynamic` change after the start. `code_at`: CTA state, the code's shared address. `fields`: list of
    /// the rows of an item's fields. `neighbors`: where, after `code_at`, the code of its lifted neighbour loop is, in
    /// words. `ahead`: list of the buffers whose elements its items load by their own numbers, and the size of one, in
    /// pairs. `stream`: if `stream_k` is not 0, the first word of its code as a map, with so many items a lane; it
    /// accesses the listed buffers.
    /// `quick`: where its code for narrow rounds is, or 0. `quick_shared`: the rows of that, `quick_rows` for each warp
    /// that takes part; list `quick_fills` says what to fill them with before a run, and the last `quick_dynamic` of it
    /// before each stretch of narrow rounds. The others are rows among them, `quick_next` that of the round plus
    /// `quick_addend`. `quick_begins`: the first word of the code that is run, after four that say what to load before;
    /// `quick_slots`: how wide that is, in words, or 0, and from bit 8 how many words there are; `quick_plain`: the
    /// first word where a buffer has no such element.
    struct Kernel {
        index_row: u32,
        src_row: u32,
        dst_row: u32,
        item_row: u32,
        code_at: u32,
        code: u32,
        k: u32,
        uniforms_shared: u32,
        warp_bytes: u32,
        warps: u32,
        reduction_count: u32,
        reductions: u32,
        accumulators: u32,
        words: u32,
        rows: u32,
        values: u32,
        value_count: u32,
        staged: u32,
        dynamic: u32,
        dynamic_count: u32,
        fields: u32,
        neighbors: u32,
        ahead: u32,
        ahead_count: u32,
        stream: u32,
        stream_k: u32,
        stream_buffers: u32,
        stream_buffer_count: u32,
        quick: u32,
        quick_shared: u32,
        quick_fills: u32,
        quick_fill_count: u32,
        quick_round: u32,
        quick_index: u32,
        quick_src: u32,
        quick_dst: u32,
        quick_dynamic: u32,
        quick_next: u32,
        quick_addend: u32,
        quick_begins: u32,
        quick_item: u32,
        quick_rows: u32,
        quick_plain: u32,
        quick_slots: u32,
        tile: u32,
        origins: u32,
        unused0: u32,
        unused1: u32,
    }

    /// Where a uniform slot gets its value: raw bits (of the scalar `id` - 1, if not 0), or the round of fixpoint `id`,
    /// a reduction, a frontier's length.
    struct Value {
        bits: u64,
        kind: u32,
        id: u32,
    }

    /// A buffer. `home`: the buffer whose memory this is (CTA state: swaps exchange entries).
    struct Buffer {
        data: u64,
        len: u32,
        home: u32,
    }

    /// A CSR topology.
    struct Topology {
        offsets: u64,
        targets: u64,
        nodes: u32,
        edges: u32,
        unused0: u32,
        unused1: u32,
    }

    /// A frontier, or a list, which never flips. Pairs are double buffers, by `side`; counters are triples, used in
    /// turn (`counters`: by `third` the pushes, then by barrier the sum of the CTAs' `local`). `offsets` and `ranges`:
    /// of the topology it is swept with, to fetch a node's edge range when it is pushed. From `stamp` on: CTA state.
    /// `side` and `third`: where pushes go, changed by a flip; `pushed`: since the last flip, as of the last barrier;
    /// `local`: by this CTA since the last barrier; `attention`: it pushed hubs. `record`: items that are not nodes;
    /// `trap`: what an overflow is.
    struct Frontier {
        items: [u64; 2],
        ranges: [u64; 2],
        hubs: [u64; 2],
        counters: u64,
        hub_counters: u64,
        stamps: u64,
        offsets: u64,
        nodes: u32,
        capacity: u32,
        ranges_len: u32,
        hubs_len: u32,
        topology: u32,
        owned: u32,
        record: u32,
        trap: u32,
        unused0: u32,
        unused1: u32,
        stamp: u32,
        side: u32,
        third: u32,
        local: u32,
        local_high: u32,
        attention: u32,
        pushed: u64,
        pushed_hubs: u64,
        swept: u64,
        swept_hubs: u64,
    }

    /// Items with fields, one array for each: addresses by side and field. `sizes`: two bits a field, 1, 4 or 8 bytes.
    struct Record {
        fields: [u64; 16],
        sizes: u32,
        count: u32,
        unused: u64,
    }

    /// A reduction: three slots, used in turn. `epoch`: CTA state.
    struct Reduction {
        slots: u64,
        identity: u64,
        kind: u32,
        epoch: u32,
        unused0: u32,
        unused1: u32,
    }

    /// A fixpoint. `until_frontier`: its condition is that this frontier is empty. `round` and `rounds`: CTA state.
    struct Fixpoint {
        max_rounds: u64,
        round: u64,
        rounds: u64,
        until_kernel: u32,
        until_frontier: u32,
        body: u32,
        frontiers: u32,
        frontier_count: u32,
        reductions: u32,
        reduction_count: u32,
        swaps: u32,
        swap_count: u32,
        unused: u32,
    }

    /// Memory to set in a step: whole 16-byte units.
    struct Fill {
        address: u64,
        units: u64,
        pattern: u64,
        unused: u64,
    }
}

#[cfg(test)]
mod tests {
    use vyre_core::vir0::isa::*;

    /// The constants that device code shares with the bytecode, as a C header: operand bytes, limits, opcodes, trap
    /// codes and the tags of [`vyre_core::vir0::container`].
    fn instruction_header() -> String {
        let mut out = String::from(
            "// Generated from vyre-core's instruction table (isa::cuda_header); do not edit.\n#pragma once\n\n",
        );
        let mut define = |name: &str, value: u32| {
            out.push_str(&format!("#define VYRE_{name} {value}u\n"));
        };
        define("UNIFORM_BASE", UNIFORM_BASE.into());
        define("IMM", IMM.into());
        define("MAX_ROWS", MAX_ROWS as u32);
        define("MAX_DIRECT_UNIFORMS", MAX_DIRECT_UNIFORMS as u32);
        define("MAX_CODE_WORDS", MAX_CODE_WORDS as u32);
        define("FRAMES_PER_IF", FRAMES_PER_IF.into());
        define("FRAMES_PER_LOOP", FRAMES_PER_LOOP.into());
        define("MAX_FRAMES", MAX_FRAMES.into());
        define("MAX_FRAMES_AT_4", MAX_FRAMES_AT_4.into());
        define("WHOLE_WAVE", vyre_core::vir0::trap::WHOLE_WAVE);

        out.push_str("\nenum VyreOp {\n");
        for op in Op::ALL {
            let Row {
                name,
                mnemonic,
                meaning,
                ..
            } = op.row();
            let code = *op as u8;
            out.push_str(&format!(
                "    VYRE_OP_{name} = {code:#04x}, // {mnemonic}: {meaning}\n"
            ));
        }
        // Device code goes from each of these to a label, so that a handler that is missing does not compile.
        out.push_str("};\n\n// Every instruction: its name and its opcode.\n#define VYRE_OPS(DO)");
        for op in Op::ALL {
            let name = op.row().name;
            out.push_str(&format!(" \\\n    DO({name}, VYRE_OP_{name})"));
        }
        out.push_str("\n\nenum VyreTrap {\n");
        for kind in vyre_core::vir0::trap::TrapKind::ALL {
            let code = kind as u32;
            out.push_str(&format!("    VYRE_TRAP_{kind:?} = {code},\n"));
        }
        out.push_str("};\n");
        let mut open = "";
        for &(ty, variant, tag) in vyre_core::vir0::container::TAGS {
            if ty != open {
                let end = if open.is_empty() { "" } else { "};\n" };
                out.push_str(&format!("{end}\nenum Vyre{ty} {{\n"));
                open = ty;
            }
            let prefix = ty.to_uppercase();
            out.push_str(&format!("    VYRE_{prefix}_{variant} = {tag},\n"));
        }
        out.push_str("};\n");
        out
    }

    /// Compares a generated header; with VYRE_BLESS set, writes it.
    fn check(name: &str, text: &str) {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("kernels")
            .join(name);
        if std::env::var_os("VYRE_BLESS").is_some() {
            std::fs::write(&path, text).expect("the header can be written");
        }
        let there = std::fs::read_to_string(&path).expect("the header is there");
        assert_eq!(
            there, text,
            "kernels/{name} is not what the tables say; set VYRE_BLESS=1, then run scripts/build-ptx"
        );
    }

    #[test]
    fn the_struct_header_is_what_the_structs_are() {
        check("abi.h", &super::header());
    }

    #[test]
    fn the_general_interpreter_has_a_case_for_every_byte() {
        let ops = vyre_core::vir0::isa::Op::ALL
            .iter()
            .map(|&op| u32::from(op as u8));
        let own = super::INTERPRETED.iter().map(|&(_, code)| code);
        let mut cases: Vec<u32> = ops.chain(own).chain(super::uninterpreted()).collect();
        cases.sort_unstable();
        assert_eq!(cases, (0..256).collect::<Vec<_>>());
    }

    #[test]
    fn the_instruction_header_is_what_the_table_says() {
        check("isa.h", &instruction_header());
    }
}
