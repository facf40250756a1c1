//! Constants and structs that the host writes and the megakernel reads, each defined once: the macros below make both
//! the Rust items and the text of `kernels/abi.h`. What the device shares with VIR0 itself (instructions, trap kinds,
//! tags) comes from its tables, as `kernels/isa.h`. Tests compare the checked-in headers with both.
//!
//! All addresses are device addresses. `*_shared` fields are byte offsets into a CTA's shared memory. Table fields of
//! [`Image`] are byte offsets from the start of the image. Every CTA copies the tables into its shared memory, so
//! fields marked "CTA state" are private to a CTA and all CTAs compute the same values.

#![allow(
    missing_docs,
    reason = "fields are described where their struct is declared"
)]

/// Constants of the device, one row each: its name, its value and what it is. Makes the Rust constants, and for the C
/// header their list.
macro_rules! constants {
    ($($(#[doc = $doc:literal])+ $name:ident = $value:expr;)+) => {
        $($(#[doc = $doc])+ pub(crate) const $name: u32 = $value;)+
        /// Name, value and description of each of these.
        #[cfg(test)]
        pub(super) const ROWS: &[(&str, u32, &[&str])] = &[$((stringify!($name), $name, &[$($doc),+])),+];
    };
}

constants! {
    /// A field that does not apply.
    NONE = u32::MAX;
    /// Threads of a CTA of the interpreter, of which one runs on each multiprocessor, and of any CTA at most.
    THREADS = 1024;
    /// Warps of such a CTA.
    WARPS = 32;
    /// Most CTAs of a launch: the barrier word counts arrivals in 10 bits.
    MAX_CTAS = 1023;
    /// Barrier words, used in turn.
    BARRIER_WORDS = 3;
    /// CTAs of a cluster.
    CLUSTER = 8;
    /// Warps of a CTA at most that take part in rounds which a cluster holds.
    CLUSTER_WARPS = 16;
    /// Warps of a CTA that take part in narrow rounds.
    QUICK_WARPS = 4;
    /// Out-degree above which a frontier item is split into chunks of this many edges.
    HUB_EDGES = vyre_core::plan::cuda::HUB_EDGES;
    /// What the end of a fixpoint says of it: it has one wave, and a short way.
    PLAIN = 1;
    /// What the end of a fixpoint says of it: narrow rounds of its waves stay on chip.
    PLAIN_ROUNDS = 2;
    /// Frontiers of a fixpoint of the second kind at most.
    ROUNDS_FRONTIERS = 3;
    /// Edges above which a neighbour loop's range is summed up before the wave.
    RANGE_HUB = vyre_core::plan::cuda::RANGE_EDGES;
    /// Edges of one part of such a range.
    RANGE_PART = vyre_core::plan::cuda::RANGE_PART;
    /// Items that a warp must take to fill the lanes' first edges for it to take more than it has lanes.
    MORE_ITEMS = 18;
    /// Bytes of a word of code as the device has it.
    WORD_BYTES = 32;
    /// What the device adds to the place of an operand that is the same for all lanes, besides the address of the word.
    FIXED = (1 << 31) - (1 << 20);
    /// Words of a loop between two looks whether the run is to stop; a power of two.
    LOOK_WORDS = 1 << 12;
    /// Ticks of a CTA's clock between two reads of the word of the host that says so: about 5 ms.
    LOOK_TICKS = 1 << 23;
    /// Bytes of a staged uniform slot: the low half four times, then the high half four times.
    UNIFORM_BYTES = 32;
    /// Bytes of a warp's stash where a balanced edge tile finds its items: 32 of them, or 96 where edges are few.
    STASH_BYTES = 256;
    /// Those after them for what the warp pushes to two frontiers until it is appended to them: no multiple of the
    /// others.
    STAGING_BYTES = 16 + 2 * 256;
    /// Kernel part of a round limit's trap key; the item part is the fixpoint.
    ROUND_LIMIT_KERNEL = 0xffff;

    /// In the immediate of an atomic in tile code: its element was just loaded.
    TILE_KNOWN = 1;

    /// Opcode of a map's code: wait for what was loaded.
    OP_WAIT = 0xf2;
    /// Opcode of a map's code: the item's number.
    OP_NUMBER = 0xf3;
    /// Beside a map's opcode: operand a is what was computed last, and still at hand.
    MAP_A_LAST = 1 << 8;
    /// Beside a map's opcode: the same of operand b.
    MAP_B_LAST = 1 << 9;
    /// Beside a map's opcode: the result is not put in a row.
    MAP_NOT_KEPT = 1 << 10;
    /// Beside a map's opcode: it does not compute.
    MAP_MOVES = 1 << 11;

    /// Opcode of quick code: a conditional push to a frontier.
    QUICK_PUSH = 0xf4;
    /// Opcode of quick code: the end of some items within an `if`.
    QUICK_RETURN = 0xf5;
    /// Flags of a word of quick code, beside its opcode: the next word is a push, and the result says whether.
    QUICK_DECIDES = 1 << 8;
    /// Items whose result is 0 stop here, as at an `if`.
    QUICK_IF = 1 << 9;
    /// The first operand is the result of the word before.
    QUICK_HANDED_A = 1 << 10;
    /// The second one is.
    QUICK_HANDED_B = 1 << 11;
    /// Nobody reads the result from its row.
    QUICK_DROPS = 1 << 12;
    /// The result is of 64 bits.
    QUICK_WIDE = 1 << 13;
    /// The word has no opcode: the bits of its immediate, below, say what it makes of its operands.
    QUICK_COMPUTES = 1 << 14;
    /// The immediate is the place of a buffer's entry.
    QUICK_PLACED = 1 << 15;
    /// In the immediate of a word that computes: whether the first operand (not complemented) is below the second.
    QUICK_BELOW = 1 << 0;
    /// Whether they are the same.
    QUICK_SAME = 1 << 1;
    /// Whether the first one is above the second.
    QUICK_ABOVE = 1 << 2;
    /// Not the sum, but bits of both, of one, or of either.
    QUICK_BITS = 1 << 3;
    /// The result is whether one of the three relations holds that are asked for.
    QUICK_COMPARES = 1 << 4;
    /// The first operand if that holds, or else the second.
    QUICK_PICKS = 1 << 5;
    /// The second operand's complement is taken, and a sum has one more: a difference.
    QUICK_FLIP = 1 << 7;
    /// Bits that both operands have.
    QUICK_BOTH = 1 << 15;
    /// Bits that one operand has and the other has not.
    QUICK_ODD = 1 << 23;
    /// Operands compare as signed.
    QUICK_SIGNED = 1 << 31;
    /// In the immediate of a push in quick code: the kernel ends after it.
    QUICK_LAST = 1 << 8;
    /// In the immediate of a push in quick code: it is to the frontier that is swept.
    QUICK_OWN = 1 << 9;
    /// Beside the length of quick code: it stores otherwise than by exchanges, so that barriers have to order that.
    QUICK_WRITES = 1 << 30;
    /// Beside the length of quick code: it loads what may change past the first-level cache.
    QUICK_READS = 1 << 31;
    /// Of what a tile loads before its first word: its place is the number of an edge.
    SLOT_EDGE = 1 << 30;
    /// Of what a tile loads before its first word: it is used.
    SLOT_USED = 1 << 31;
}

pub(crate) use interpreted::*;
/// Opcodes that the general interpreter has besides those of VIR0.
mod interpreted {
    constants! {
        /// A neighbour loop that is shared out.
        OP_NEIGHBORS = 0xf0;
        /// The end of its body.
        OP_END_NEIGHBORS = 0xf1;
        /// Tile code: loads that are asked for together, as many words as the immediate says in its low byte, of 64
        /// bits if the next byte is one.
        TILE_LOADS = 0xf6;
        /// The end of tile code.
        TILE_END = 0xf7;
        /// Items leave for which operand a is 0.
        TILE_EXIT = 0xf8;
        /// Items leave for which a < b does not hold.
        TILE_EXIT_LT = 0xf9;
        /// Items leave for which a <= b does not hold.
        TILE_EXIT_LE = 0xfa;
        /// Items leave for which a = b does not hold.
        TILE_EXIT_EQ = 0xfb;
        /// Items leave for which a != b does not hold.
        TILE_EXIT_NE = 0xfc;
        /// The same of operands of 64 bits.
        TILE_EXIT_NE64 = 0xfd;
        /// A push of a under the condition b, or its opposite if the lowest bit of the immediate is 0.
        TILE_PUSH = 0xfe;
        /// a and not b.
        TILE_WITHOUT = 0xff;
    }
}

/// Kinds of [`Step`]. What is a step of VIR0 has the number that it has there.
pub(crate) mod step {
    use vyre_core::vir0::module::{FixpointId, Step, WaveId};

    pub(crate) const WAVE: u32 = Step::Wave(WaveId(0)).tag() as u32;
    pub(crate) const BARRIER: u32 = Step::Barrier.tag() as u32;
    pub(crate) const LOOP: u32 = Step::Loop(FixpointId(0)).tag() as u32;
    pub(crate) const UNTIL: u32 = Step::Until(FixpointId(0)).tag() as u32;
    pub(crate) const END: u32 = Step::End.tag() as u32;
    constants! {
        /// A step that only the device has: the start of a fixpoint's round.
        ROUND = END + 1;
        /// A step that only the device has: a wave's long ranges are summed up before it.
        HUBS = END + 2;
        /// A step that only the device has: memory is set.
        FILL = END + 3;
        /// A step that only the device has: what lists hold is packed behind the control words.
        PACK = END + 4;
    }
}

/// Kinds of [`Value`].
pub(crate) mod value {
    constants! {
        /// A uniform slot is bits that are known before the run.
        BITS = 0;
        /// A uniform slot is a fixpoint's round.
        ROUND = 1;
        /// A uniform slot is a reduction.
        REDUCTION = 2;
        /// A uniform slot is the length of a frontier or list.
        FRONTIER = 3;
        /// A uniform slot is a mark.
        MARK = 4;
    }
}

/// What a row of quick code is filled with.
pub(crate) mod fill {
    constants! {
        /// A row of quick code is filled with a literal.
        LITERAL = 0;
        /// A row of quick code is filled with the low half of a staged uniform.
        LOW = 1;
        /// A row of quick code is filled with the high half of a staged uniform.
        HIGH = 2;
    }
}

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
            let groups = [
                ("", ROWS), ("", interpreted::ROWS), ("STEP_", step::ROWS), ("VALUE_", value::ROWS),
                ("FILL_", fill::ROWS),
            ];
            for (group, rows) in groups {
                for (name, value, docs) in rows {
                    for doc in *docs {
                        writeln!(out, "//{doc}").expect("writing to a string succeeds");
                    }
                    writeln!(out, "#define VYRE_{group}{name} {value}u").expect("writing to a string succeeds");
                }
                out.push('\n');
            }
            for (name, what, words) in words() {
                write!(out, "// {what}\n#define VYRE_{name}(DO)").expect("writing to a string succeeds");
                for word in words {
                    write!(out, " \\\n    DO({word})").expect("writing to a string succeeds");
                }
                out.push('\n');
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

/// The bytes that are no opcode of the general interpreter. With them its cases are all 256, so that its jump table
/// needs no look at its bounds.
#[cfg(test)]
fn uninterpreted() -> impl Iterator<Item = u32> {
    let own = |code: u32| interpreted::ROWS.iter().any(|row| row.1 == code);
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
            interpreted::ROWS.iter().map(|row| own(row.0)).collect(),
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

abi! {
    /// Head of the image. `stash_bytes`: of a warp. `quick_warps`: warps of a CTA that have rows of quick code.
    /// `progress`: where the host can see rounds and the frontier while the launch runs, or 0. `times`: bytes from
    /// `results` to two 64-bit words a wave, its sweeps and the nanoseconds that they took, or 0 if nobody asked.
    /// `abort`: a word of the host that is not 0 when the run is to stop, which a CTA reads once in `look_ticks` ticks of
    /// its clock, a power of two, or whenever it may if that is 0. `aborted`: CTA state; it has cut its work short.
    /// `limited`: the run's steps are counted, and it may take `most_steps`. `per_multiprocessor`: CTAs that run on one.
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
        aborted: u32,
        progress: u64,
        abort: u64,
        look_ticks: u32,
        limited: u32,
        most_steps: u64,
        per_multiprocessor: u32,
        marks: u32,
    }

    /// Grid-wide words: the barrier (one word a 128-byte line, with what is said beside it), the trap, whether the run was cut short because it is
    /// to stop, two sums of edges that are used in turn and only grow, steps. Zeroed before a launch, except `trap_key`.
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
        aborted: u32,
        finished: u32,
        unused: u32,
        sweeps: u64,
        items: u64,
        widest: u64,
        waiting: u64,
        pulled: u64,
        missed: u64,
        edges: [u64; 2],
        gathered: u64,
        fitting: u64,
        steps: u64,
        unused1: u64,
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
    /// wave sees the round only (`PLAIN`); or it is of several waves whose narrow rounds stay on chip, where a CTA keeps
    /// `kept` items of each frontier (`PLAIN_ROUNDS`). Of fills, `pushed`: the first of `pushed_count` of them; the first step of a schedule
    /// is one. Of what packs, `id`: list of how many lists there are and of these lists; `pushed`: the fill that says
    /// where to, if `pushed_count` is not 0.
    struct Step {
        kind: u32,
        id: u32,
        carried: u32,
        pushed: u32,
        pushed_count: u32,
        settle: u32,
        plain: u32,
        kept: u32,
    }

    /// One wave. `narrow`: items of a frontier that a warp takes at least, so that their edges fill it. `fresh`: of a
    /// list, 1: only what it has not swept; 2 and more: of that, what was there at the mark of this number less 2. `from`, `swept_to`: CTA state. `ranges`: the long edge ranges that its
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

    /// A reduction: three slots of so many words, used in turn. `epoch`: CTA state.
    struct Reduction {
        slots: u64,
        identity: u64,
        kind: u32,
        epoch: u32,
        words: u32,
        unused: u32,
    }

    /// What a list held when the round of a fixpoint began, which is CTA state; the list's number.
    struct Mark {
        items: u64,
        list: u32,
        unused: u32,
    }

    /// A fixpoint. `until_frontier`: its condition is that this frontier is empty. `round` and `rounds`: CTA state.
    /// `marks`: the first of its marks, and in the high half how many it has.
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
        marks: u32,
    }

    /// Memory to set in a step: whole 16-byte units. Where lists are packed, `units` is the most bytes of a column there.
    struct Fill {
        address: u64,
        units: u64,
        pattern: u64,
        unused: u64,
    }
}

const _: () = assert!(
    std::mem::offset_of!(Control, trap_key) == BARRIER_WORDS as usize * 128,
    "each barrier word has a line of its own"
);

#[cfg(test)]
mod tests {
    use vyre_core::vir0::isa::*;

    /// The constants that device code shares with the bytecode, as a C header: operand bytes, limits, opcodes, trap
    /// codes and the tags of [`vyre_core::vir0::container`].
    fn instruction_header() -> String {
        let mut out = String::from(
            "// Generated by vyre-cuda/src/abi.rs from the tables of VIR0; do not edit.\n#pragma once\n\n",
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
        // No device runs parts of a graph by themselves.
        let kinds = vyre_core::vir0::trap::TrapKind::ALL.into_iter();
        for kind in kinds.filter(|&kind| kind != vyre_core::vir0::trap::TrapKind::OutsidePart) {
            let code = kind as u32;
            out.push_str(&format!("    VYRE_TRAP_{kind:?} = {code},\n"));
        }
        out.push_str("};\n");
        let mut open = "";
        // Only those that device code looks at, or else it would have to be compiled anew for each change of another one.
        let looked_at = ["Scalar", "ReduceOp", "Domain", "Step"];
        let tags = vyre_core::vir0::container::TAGS.iter();
        for &(ty, variant, tag) in tags.filter(|tag| looked_at.contains(&tag.0) && tag.1 != "Each")
        {
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
        let own = super::interpreted::ROWS.iter().map(|row| row.1);
        let mut cases: Vec<u32> = ops.chain(own).chain(super::uninterpreted()).collect();
        cases.sort_unstable();
        assert_eq!(cases, (0..256).collect::<Vec<_>>());
    }

    #[test]
    fn the_instruction_header_is_what_the_table_says() {
        check("isa.h", &instruction_header());
    }
}
