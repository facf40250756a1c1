// Generated from vyre-cuda/src/abi.rs; do not edit.
#pragma once

typedef unsigned char u8;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;

// A field that does not apply.
#define VYRE_NONE 4294967295u
// Threads of a CTA of the interpreter, of which one runs on each multiprocessor, and of any CTA at most.
#define VYRE_THREADS 1024u
// Warps of such a CTA.
#define VYRE_WARPS 32u
// Most CTAs of a launch: the barrier word counts arrivals in 10 bits.
#define VYRE_MAX_CTAS 1023u
// Barrier words, used in turn.
#define VYRE_BARRIER_WORDS 3u
// CTAs of a cluster.
#define VYRE_CLUSTER 8u
// Warps of a CTA at most that take part in rounds which a cluster holds.
#define VYRE_CLUSTER_WARPS 16u
// Warps of a CTA that take part in narrow rounds.
#define VYRE_QUICK_WARPS 4u
// Out-degree above which a frontier item is split into chunks of this many edges.
#define VYRE_HUB_EDGES 512u
// What the end of a fixpoint says of it: it has one wave, and a short way.
#define VYRE_PLAIN 1u
// What the end of a fixpoint says of it: narrow rounds of its waves stay on chip.
#define VYRE_PLAIN_ROUNDS 2u
// Frontiers of a fixpoint of the second kind at most.
#define VYRE_ROUNDS_FRONTIERS 3u
// Edges above which a neighbour loop's range is summed up before the wave.
#define VYRE_RANGE_HUB 256u
// Edges of one part of such a range.
#define VYRE_RANGE_PART 1024u
// Items that a warp must take to fill the lanes' first edges for it to take more than it has lanes.
#define VYRE_MORE_ITEMS 18u
// Bytes of a word of code as the device has it.
#define VYRE_WORD_BYTES 32u
// What the device adds to the place of an operand that is the same for all lanes, besides the address of the word.
#define VYRE_FIXED 2146435072u
// Words of a loop between two looks whether the run is to stop; a power of two.
#define VYRE_LOOK_WORDS 4096u
// Ticks of a CTA's clock between two reads of the word of the host that says so: about 5 ms.
#define VYRE_LOOK_TICKS 8388608u
// Bytes of a staged uniform slot: the low half four times, then the high half four times.
#define VYRE_UNIFORM_BYTES 32u
// Bytes of a warp's stash where a balanced edge tile finds its items: 32 of them, or 96 where edges are few.
#define VYRE_STASH_BYTES 256u
// Those after them for what the warp pushes to two frontiers until it is appended to them: no multiple of the
// others.
#define VYRE_STAGING_BYTES 528u
// Kernel part of a round limit's trap key; the item part is the fixpoint.
#define VYRE_ROUND_LIMIT_KERNEL 65535u
// In the immediate of an atomic in tile code: its element was just loaded.
#define VYRE_TILE_KNOWN 1u
// Opcode of a map's code: wait for what was loaded.
#define VYRE_OP_WAIT 242u
// Opcode of a map's code: the item's number.
#define VYRE_OP_NUMBER 243u
// Beside a map's opcode: operand a is what was computed last, and still at hand.
#define VYRE_MAP_A_LAST 256u
// Beside a map's opcode: the same of operand b.
#define VYRE_MAP_B_LAST 512u
// Beside a map's opcode: the result is not put in a row.
#define VYRE_MAP_NOT_KEPT 1024u
// Beside a map's opcode: it does not compute.
#define VYRE_MAP_MOVES 2048u
// Opcode of quick code: a conditional push to a frontier.
#define VYRE_QUICK_PUSH 244u
// Opcode of quick code: the end of some items within an `if`.
#define VYRE_QUICK_RETURN 245u
// Flags of a word of quick code, beside its opcode: the next word is a push, and the result says whether.
#define VYRE_QUICK_DECIDES 256u
// Items whose result is 0 stop here, as at an `if`.
#define VYRE_QUICK_IF 512u
// The first operand is the result of the word before.
#define VYRE_QUICK_HANDED_A 1024u
// The second one is.
#define VYRE_QUICK_HANDED_B 2048u
// Nobody reads the result from its row.
#define VYRE_QUICK_DROPS 4096u
// The result is of 64 bits.
#define VYRE_QUICK_WIDE 8192u
// The word has no opcode: the bits of its immediate, below, say what it makes of its operands.
#define VYRE_QUICK_COMPUTES 16384u
// The immediate is the place of a buffer's entry.
#define VYRE_QUICK_PLACED 32768u
// In the immediate of a word that computes: whether the first operand (not complemented) is below the second.
#define VYRE_QUICK_BELOW 1u
// Whether they are the same.
#define VYRE_QUICK_SAME 2u
// Whether the first one is above the second.
#define VYRE_QUICK_ABOVE 4u
// Not the sum, but bits of both, of one, or of either.
#define VYRE_QUICK_BITS 8u
// The result is whether one of the three relations holds that are asked for.
#define VYRE_QUICK_COMPARES 16u
// The first operand if that holds, or else the second.
#define VYRE_QUICK_PICKS 32u
// The second operand's complement is taken, and a sum has one more: a difference.
#define VYRE_QUICK_FLIP 128u
// Bits that both operands have.
#define VYRE_QUICK_BOTH 32768u
// Bits that one operand has and the other has not.
#define VYRE_QUICK_ODD 8388608u
// Operands compare as signed.
#define VYRE_QUICK_SIGNED 2147483648u
// In the immediate of a push in quick code: the kernel ends after it.
#define VYRE_QUICK_LAST 256u
// In the immediate of a push in quick code: it is to the frontier that is swept.
#define VYRE_QUICK_OWN 512u
// Beside the length of quick code: it stores otherwise than by exchanges, so that barriers have to order that.
#define VYRE_QUICK_WRITES 1073741824u
// Beside the length of quick code: it loads what may change past the first-level cache.
#define VYRE_QUICK_READS 2147483648u
// Of what a tile loads before its first word: its place is the number of an edge.
#define VYRE_SLOT_EDGE 1073741824u
// Of what a tile loads before its first word: it is used.
#define VYRE_SLOT_USED 2147483648u

// A neighbour loop that is shared out.
#define VYRE_OP_NEIGHBORS 240u
// The end of its body.
#define VYRE_OP_END_NEIGHBORS 241u
// Tile code: loads that are asked for together, as many words as the immediate says in its low byte, of 64
// bits if the next byte is one.
#define VYRE_TILE_LOADS 246u
// The end of tile code.
#define VYRE_TILE_END 247u
// Items leave for which operand a is 0.
#define VYRE_TILE_EXIT 248u
// Items leave for which a < b does not hold.
#define VYRE_TILE_EXIT_LT 249u
// Items leave for which a <= b does not hold.
#define VYRE_TILE_EXIT_LE 250u
// Items leave for which a = b does not hold.
#define VYRE_TILE_EXIT_EQ 251u
// Items leave for which a != b does not hold.
#define VYRE_TILE_EXIT_NE 252u
// The same of operands of 64 bits.
#define VYRE_TILE_EXIT_NE64 253u
// A push of a under the condition b, or its opposite if the lowest bit of the immediate is 0.
#define VYRE_TILE_PUSH 254u
// a and not b.
#define VYRE_TILE_WITHOUT 255u

// A step that only the device has: the start of a fixpoint's round.
#define VYRE_STEP_ROUND 5u
// A step that only the device has: a wave's long ranges are summed up before it.
#define VYRE_STEP_HUBS 6u
// A step that only the device has: memory is set.
#define VYRE_STEP_FILL 7u
// A step that only the device has: what lists hold is packed behind the control words.
#define VYRE_STEP_PACK 8u

// A uniform slot is bits that are known before the run.
#define VYRE_VALUE_BITS 0u
// A uniform slot is a fixpoint's round.
#define VYRE_VALUE_ROUND 1u
// A uniform slot is a reduction.
#define VYRE_VALUE_REDUCTION 2u
// A uniform slot is the length of a frontier or list.
#define VYRE_VALUE_FRONTIER 3u
// A uniform slot is a mark.
#define VYRE_VALUE_MARK 4u

// A row of quick code is filled with a literal.
#define VYRE_FILL_LITERAL 0u
// A row of quick code is filled with the low half of a staged uniform.
#define VYRE_FILL_LOW 1u
// A row of quick code is filled with the high half of a staged uniform.
#define VYRE_FILL_HIGH 2u

// Besides VYRE_OPS, what the general interpreter has.
#define VYRE_INTERPRETER_OPS(DO) \
    DO(NEIGHBORS, VYRE_OP_NEIGHBORS) \
    DO(END_NEIGHBORS, VYRE_OP_END_NEIGHBORS) \
    DO(TILE_LOADS, VYRE_TILE_LOADS) \
    DO(TILE_END, VYRE_TILE_END) \
    DO(TILE_EXIT, VYRE_TILE_EXIT) \
    DO(TILE_EXIT_LT, VYRE_TILE_EXIT_LT) \
    DO(TILE_EXIT_LE, VYRE_TILE_EXIT_LE) \
    DO(TILE_EXIT_EQ, VYRE_TILE_EXIT_EQ) \
    DO(TILE_EXIT_NE, VYRE_TILE_EXIT_NE) \
    DO(TILE_EXIT_NE64, VYRE_TILE_EXIT_NE64) \
    DO(TILE_PUSH, VYRE_TILE_PUSH) \
    DO(TILE_WITHOUT, VYRE_TILE_WITHOUT)
// All other bytes.
#define VYRE_NO_INTERPRETER_OPS(DO) \
    DO(0x00) \
    DO(0x07) \
    DO(0x0e) \
    DO(0x0f) \
    DO(0x25) \
    DO(0x26) \
    DO(0x27) \
    DO(0x28) \
    DO(0x29) \
    DO(0x2a) \
    DO(0x2b) \
    DO(0x2c) \
    DO(0x2d) \
    DO(0x2e) \
    DO(0x2f) \
    DO(0x46) \
    DO(0x47) \
    DO(0x5d) \
    DO(0x5e) \
    DO(0x5f) \
    DO(0x6d) \
    DO(0x6e) \
    DO(0x6f) \
    DO(0x84) \
    DO(0x85) \
    DO(0x86) \
    DO(0x87) \
    DO(0x9d) \
    DO(0x9e) \
    DO(0x9f) \
    DO(0xaa) \
    DO(0xab) \
    DO(0xac) \
    DO(0xad) \
    DO(0xae) \
    DO(0xaf) \
    DO(0xce) \
    DO(0xcf) \
    DO(0xdb) \
    DO(0xdc) \
    DO(0xdd) \
    DO(0xde) \
    DO(0xdf) \
    DO(0xee) \
    DO(0xef) \
    DO(0xf2) \
    DO(0xf3) \
    DO(0xf4) \
    DO(0xf5)
// What quick code has.
#define VYRE_QUICK_OPS(DO) \
    DO(Mul32, VYRE_OP_Mul32) \
    DO(Shl32, VYRE_OP_Shl32) \
    DO(ShrU32, VYRE_OP_ShrU32) \
    DO(AddF32, VYRE_OP_AddF32) \
    DO(SubF32, VYRE_OP_SubF32) \
    DO(MulF32, VYRE_OP_MulF32) \
    DO(LtF32, VYRE_OP_LtF32) \
    DO(LeF32, VYRE_OP_LeF32) \
    DO(Add64, VYRE_OP_Add64) \
    DO(Sub64, VYRE_OP_Sub64) \
    DO(LtU64, VYRE_OP_LtU64) \
    DO(LeU64, VYRE_OP_LeU64) \
    DO(Shl64, VYRE_OP_Shl64) \
    DO(ShrU64, VYRE_OP_ShrU64) \
    DO(Ld8, VYRE_OP_Ld8) \
    DO(Ld32, VYRE_OP_Ld32) \
    DO(AtomLd32, VYRE_OP_AtomLd32) \
    DO(AtomAdd32, VYRE_OP_AtomAdd32) \
    DO(AtomAddF32, VYRE_OP_AtomAddF32) \
    DO(AtomMinU32, VYRE_OP_AtomMinU32) \
    DO(AtomMaxU32, VYRE_OP_AtomMaxU32) \
    DO(AtomOr32, VYRE_OP_AtomOr32) \
    DO(Ld64, VYRE_OP_Ld64) \
    DO(AtomLd64, VYRE_OP_AtomLd64) \
    DO(AtomAdd64, VYRE_OP_AtomAdd64) \
    DO(AtomOr64, VYRE_OP_AtomOr64) \
    DO(AtomAnd64, VYRE_OP_AtomAnd64) \
    DO(AtomMinU64, VYRE_OP_AtomMinU64) \
    DO(AtomMaxU64, VYRE_OP_AtomMaxU64) \
    DO(St8, VYRE_OP_St8) \
    DO(St32, VYRE_OP_St32) \
    DO(AtomSt32, VYRE_OP_AtomSt32) \
    DO(St64, VYRE_OP_St64) \
    DO(AtomSt64, VYRE_OP_AtomSt64) \
    DO(Sel32, VYRE_OP_Sel32) \
    DO(AtomCas32, VYRE_OP_AtomCas32) \
    DO(Else, VYRE_OP_Else) \
    DO(EndIf, VYRE_OP_EndIf) \
    DO(Ret, VYRE_OP_Ret) \
    DO(QUICK_PUSH, VYRE_QUICK_PUSH) \
    DO(QUICK_RETURN, VYRE_QUICK_RETURN)
// What maps compute.
#define VYRE_MAP_OPS(DO) \
    DO(Mov32, VYRE_OP_Mov32) \
    DO(Sel32, VYRE_OP_Sel32) \
    DO(Add32, VYRE_OP_Add32) \
    DO(Sub32, VYRE_OP_Sub32) \
    DO(Mul32, VYRE_OP_Mul32) \
    DO(MinU32, VYRE_OP_MinU32) \
    DO(MinI32, VYRE_OP_MinI32) \
    DO(MaxU32, VYRE_OP_MaxU32) \
    DO(MaxI32, VYRE_OP_MaxI32) \
    DO(And32, VYRE_OP_And32) \
    DO(Or32, VYRE_OP_Or32) \
    DO(Xor32, VYRE_OP_Xor32) \
    DO(Shl32, VYRE_OP_Shl32) \
    DO(ShrU32, VYRE_OP_ShrU32) \
    DO(ShrI32, VYRE_OP_ShrI32) \
    DO(Rotl32, VYRE_OP_Rotl32) \
    DO(Popc32, VYRE_OP_Popc32) \
    DO(Clz32, VYRE_OP_Clz32) \
    DO(Ctz32, VYRE_OP_Ctz32) \
    DO(AddF32, VYRE_OP_AddF32) \
    DO(SubF32, VYRE_OP_SubF32) \
    DO(MulF32, VYRE_OP_MulF32) \
    DO(MinF32, VYRE_OP_MinF32) \
    DO(MaxF32, VYRE_OP_MaxF32) \
    DO(FmaF32, VYRE_OP_FmaF32) \
    DO(FloorF32, VYRE_OP_FloorF32) \
    DO(CeilF32, VYRE_OP_CeilF32) \
    DO(TruncF32, VYRE_OP_TruncF32) \
    DO(Eq32, VYRE_OP_Eq32) \
    DO(Ne32, VYRE_OP_Ne32) \
    DO(LtU32, VYRE_OP_LtU32) \
    DO(LeU32, VYRE_OP_LeU32) \
    DO(LtI32, VYRE_OP_LtI32) \
    DO(LeI32, VYRE_OP_LeI32) \
    DO(EqF32, VYRE_OP_EqF32) \
    DO(NeF32, VYRE_OP_NeF32) \
    DO(LtF32, VYRE_OP_LtF32) \
    DO(LeF32, VYRE_OP_LeF32) \
    DO(F32FromU32, VYRE_OP_F32FromU32) \
    DO(F32FromI32, VYRE_OP_F32FromI32) \
    DO(U32FromF32, VYRE_OP_U32FromF32) \
    DO(I32FromF32, VYRE_OP_I32FromF32)
// What lifted neighbour loops take in by.
#define VYRE_MERGED_OPS(DO) \
    DO(Add32, VYRE_OP_Add32) \
    DO(MinU32, VYRE_OP_MinU32) \
    DO(MinI32, VYRE_OP_MinI32) \
    DO(MaxU32, VYRE_OP_MaxU32) \
    DO(MaxI32, VYRE_OP_MaxI32) \
    DO(And32, VYRE_OP_And32) \
    DO(Or32, VYRE_OP_Or32) \
    DO(Xor32, VYRE_OP_Xor32) \
    DO(AddF32, VYRE_OP_AddF32) \
    DO(MinF32, VYRE_OP_MinF32) \
    DO(MaxF32, VYRE_OP_MaxF32)
// And those of them that have a loop of their own.
#define VYRE_GATHERED_OPS(DO) \
    DO(Add32, VYRE_OP_Add32) \
    DO(MinU32, VYRE_OP_MinU32) \
    DO(MaxU32, VYRE_OP_MaxU32) \
    DO(Or32, VYRE_OP_Or32) \
    DO(AddF32, VYRE_OP_AddF32)

struct Image {
    u64 code;
    u64 control;
    u64 results;
    u32 tables_bytes;
    u32 code_bytes;
    u32 code_shared;
    u32 partials_shared;
    u32 stash_shared;
    u32 registers_shared;
    u32 steps;
    u32 waves;
    u32 kernels;
    u32 values;
    u32 buffers;
    u32 topologies;
    u32 frontiers;
    u32 reductions;
    u32 fixpoints;
    u32 lists;
    u32 fills;
    u32 kernel_count;
    u32 buffer_count;
    u32 fixpoint_count;
    u32 fill_count;
    u32 frontier_count;
    u32 reduction_count;
    u32 looked;
    u32 looked_count;
    u32 records;
    u32 record_count;
    u32 pulls;
    u32 stash_bytes;
    u32 quick_warps;
    u32 times;
    u32 aborted;
    u64 progress;
    u64 abort;
    u32 look_ticks;
    u32 limited;
    u64 most_steps;
    u32 per_multiprocessor;
    u32 marks;
};
static_assert(sizeof(Image) == 192, "");

struct Control {
    u64 barrier[16];
    u64 barrier1[16];
    u64 barrier2[16];
    u64 trap_key;
    u64 trap_index;
    u64 trap_len;
    u32 trap_kind;
    u32 trap_lane;
    u32 trap_lock;
    u32 aborted;
    u32 finished;
    u32 unused;
    u64 sweeps;
    u64 items;
    u64 widest;
    u64 waiting;
    u64 pulled;
    u64 missed;
    u64 edges[2];
    u64 gathered;
    u64 fitting;
    u64 steps;
    u64 unused1;
};
static_assert(sizeof(Control) == 528, "");

struct Batch {
    u64 next;
    u64 slab;
    u64 slab_bytes;
    u64 inputs;
    u64 inputs_bytes;
    u64 results;
    u64 results_bytes;
    u64 control;
    u64 scalars;
    u32 control_bytes;
    u32 queries;
    u32 scalar_count;
    u32 image_bytes;
    u64 images;
};
static_assert(sizeof(Batch) == 96, "");

struct Step {
    u32 kind;
    u32 id;
    u32 carried;
    u32 pushed;
    u32 pushed_count;
    u32 settle;
    u32 plain;
    u32 kept;
};
static_assert(sizeof(Step) == 32, "");

struct Wave {
    u64 len;
    u64 from;
    u64 swept_to;
    u32 kernel;
    u32 domain;
    u32 topology;
    u32 frontier;
    u32 narrow;
    u32 fresh;
    u64 ranges;
    u64 sums;
    u32 range_count;
    u32 part_count;
    u64 parts;
    u64 chunks;
    u32 chunk_count;
    u32 pull;
};
static_assert(sizeof(Wave) == 96, "");

struct Pull {
    u64 bits[2];
    u64 least;
    u64 explored;
    u64 entry;
    u32 buffer;
    u32 free;
    u32 taken;
    u32 by_round;
    u32 into;
    u32 most_degree;
};
static_assert(sizeof(Pull) == 64, "");

struct Kernel {
    u32 index_row;
    u32 src_row;
    u32 dst_row;
    u32 item_row;
    u32 code_at;
    u32 code;
    u32 k;
    u32 uniforms_shared;
    u32 warp_bytes;
    u32 warps;
    u32 reduction_count;
    u32 reductions;
    u32 accumulators;
    u32 words;
    u32 rows;
    u32 values;
    u32 value_count;
    u32 staged;
    u32 dynamic;
    u32 dynamic_count;
    u32 fields;
    u32 neighbors;
    u32 ahead;
    u32 ahead_count;
    u32 stream;
    u32 stream_k;
    u32 stream_buffers;
    u32 stream_buffer_count;
    u32 quick;
    u32 quick_shared;
    u32 quick_fills;
    u32 quick_fill_count;
    u32 quick_round;
    u32 quick_index;
    u32 quick_src;
    u32 quick_dst;
    u32 quick_dynamic;
    u32 quick_next;
    u32 quick_addend;
    u32 quick_begins;
    u32 quick_item;
    u32 quick_rows;
    u32 quick_plain;
    u32 quick_slots;
    u32 tile;
    u32 origins;
    u32 unused0;
    u32 unused1;
};
static_assert(sizeof(Kernel) == 192, "");

struct Value {
    u64 bits;
    u32 kind;
    u32 id;
};
static_assert(sizeof(Value) == 16, "");

struct Buffer {
    u64 data;
    u32 len;
    u32 home;
};
static_assert(sizeof(Buffer) == 16, "");

struct Topology {
    u64 offsets;
    u64 targets;
    u32 nodes;
    u32 edges;
    u32 unused0;
    u32 unused1;
};
static_assert(sizeof(Topology) == 32, "");

struct Frontier {
    u64 items[2];
    u64 ranges[2];
    u64 hubs[2];
    u64 counters;
    u64 hub_counters;
    u64 stamps;
    u64 offsets;
    u32 nodes;
    u32 capacity;
    u32 ranges_len;
    u32 hubs_len;
    u32 topology;
    u32 owned;
    u32 record;
    u32 trap;
    u32 unused0;
    u32 unused1;
    u32 stamp;
    u32 side;
    u32 third;
    u32 local;
    u32 local_high;
    u32 attention;
    u64 pushed;
    u64 pushed_hubs;
    u64 swept;
    u64 swept_hubs;
};
static_assert(sizeof(Frontier) == 176, "");

struct Record {
    u64 fields[16];
    u32 sizes;
    u32 count;
    u64 unused;
};
static_assert(sizeof(Record) == 144, "");

struct Reduction {
    u64 slots;
    u64 identity;
    u32 kind;
    u32 epoch;
    u32 words;
    u32 unused;
};
static_assert(sizeof(Reduction) == 32, "");

struct Mark {
    u64 items;
    u32 list;
    u32 unused;
};
static_assert(sizeof(Mark) == 16, "");

struct Fixpoint {
    u64 max_rounds;
    u64 round;
    u64 rounds;
    u32 until_kernel;
    u32 until_frontier;
    u32 body;
    u32 frontiers;
    u32 frontier_count;
    u32 reductions;
    u32 reduction_count;
    u32 swaps;
    u32 swap_count;
    u32 marks;
};
static_assert(sizeof(Fixpoint) == 64, "");

struct Fill {
    u64 address;
    u64 units;
    u64 pattern;
    u64 unused;
};
static_assert(sizeof(Fill) == 32, "");
