// Generated from vyre-cuda/src/abi.rs; do not edit.
#pragma once

typedef unsigned char u8;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;

#define VYRE_NONE 4294967295u
#define VYRE_THREADS 1024u
#define VYRE_WARPS 32u
#define VYRE_MAX_CTAS 255u
#define VYRE_HUB_EDGES 512u
#define VYRE_WORD_BYTES 32u
#define VYRE_FIXED 2146435072u
#define VYRE_UNIFORM_BYTES 32u
#define VYRE_STAGING_BYTES 528u
#define VYRE_MORE_ITEMS 18u
#define VYRE_BARRIER_WORDS 3u
#define VYRE_RANGE_HUB 256u
#define VYRE_RANGE_PART 1024u
#define VYRE_OP_NEIGHBORS 240u
#define VYRE_OP_END_NEIGHBORS 241u
#define VYRE_OP_WAIT 242u
#define VYRE_OP_NUMBER 243u
#define VYRE_TILE_LOADS 246u
#define VYRE_TILE_END 247u
#define VYRE_TILE_EXIT 248u
#define VYRE_TILE_EXIT_LT 249u
#define VYRE_TILE_EXIT_LE 250u
#define VYRE_TILE_EXIT_EQ 251u
#define VYRE_TILE_EXIT_NE 252u
#define VYRE_TILE_EXIT_NE64 253u
#define VYRE_TILE_PUSH 254u
#define VYRE_TILE_WITHOUT 255u
#define VYRE_TILE_KNOWN 1u
#define VYRE_QUICK_WARPS 4u
#define VYRE_QUICK_PUSH 244u
#define VYRE_QUICK_RETURN 245u
#define VYRE_QUICK_WRITES 1073741824u
#define VYRE_QUICK_READS 2147483648u
#define VYRE_CLUSTER 8u
#define VYRE_CLUSTER_WARPS 16u
#define VYRE_QUICK_DECIDES 256u
#define VYRE_QUICK_IF 512u
#define VYRE_QUICK_HANDED_A 1024u
#define VYRE_QUICK_HANDED_B 2048u
#define VYRE_QUICK_DROPS 4096u
#define VYRE_QUICK_WIDE 8192u
#define VYRE_QUICK_COMPUTES 16384u
#define VYRE_QUICK_PLACED 32768u
#define VYRE_QUICK_FLIP 128u
#define VYRE_QUICK_BITS 8u
#define VYRE_QUICK_BOTH 32768u
#define VYRE_QUICK_ODD 8388608u
#define VYRE_QUICK_COMPARES 16u
#define VYRE_QUICK_BELOW 1u
#define VYRE_QUICK_SAME 2u
#define VYRE_QUICK_ABOVE 4u
#define VYRE_QUICK_PICKS 32u
#define VYRE_QUICK_SIGNED 2147483648u
#define VYRE_QUICK_OWN 512u
#define VYRE_QUICK_LAST 256u
#define VYRE_SLOT_USED 2147483648u
#define VYRE_SLOT_EDGE 1073741824u
#define VYRE_MAP_A_LAST 256u
#define VYRE_MAP_B_LAST 512u
#define VYRE_MAP_NOT_KEPT 1024u
#define VYRE_MAP_MOVES 2048u
// Cases of the opcodes from 1 to VYRE_OP_NEIGHBORS that there are not.
#define VYRE_NO_OPS \
    case 0x07: \
    case 0x0e: \
    case 0x0f: \
    case 0x25: \
    case 0x26: \
    case 0x27: \
    case 0x28: \
    case 0x29: \
    case 0x2a: \
    case 0x2b: \
    case 0x2c: \
    case 0x2d: \
    case 0x2e: \
    case 0x2f: \
    case 0x46: \
    case 0x47: \
    case 0x5d: \
    case 0x5e: \
    case 0x5f: \
    case 0x6d: \
    case 0x6e: \
    case 0x6f: \
    case 0x84: \
    case 0x85: \
    case 0x86: \
    case 0x87: \
    case 0x9d: \
    case 0x9e: \
    case 0x9f: \
    case 0xaa: \
    case 0xab: \
    case 0xac: \
    case 0xad: \
    case 0xae: \
    case 0xaf: \
    case 0xce: \
    case 0xcf: \
    case 0xdb: \
    case 0xdc: \
    case 0xdd: \
    case 0xde: \
    case 0xdf: \
    case 0xee: \
    case 0xef:
#define VYRE_DO_WAVE 0u
#define VYRE_DO_BARRIER 1u
#define VYRE_DO_LOOP 2u
#define VYRE_DO_ROUND 3u
#define VYRE_DO_UNTIL 4u
#define VYRE_DO_END 5u
#define VYRE_DO_HUBS 6u
#define VYRE_VALUE_BITS 0u
#define VYRE_VALUE_ROUND 1u
#define VYRE_VALUE_REDUCTION 2u
#define VYRE_VALUE_FRONTIER 3u
#define VYRE_FILL_LITERAL 0u
#define VYRE_FILL_LOW 1u
#define VYRE_FILL_HIGH 2u
#define VYRE_ROUND_LIMIT_KERNEL 65535u

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
    u32 unused0;
    u32 unused1;
    u64 progress;
};
static_assert(sizeof(Image) == 160, "");

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
    u32 abort;
    u32 aborted;
    u32 finished;
    u64 sweeps;
    u64 items;
    u64 widest;
    u64 waiting;
    u64 pulled;
    u64 missed;
    u64 edges[2];
    u64 gathered;
    u64 fitting;
};
static_assert(sizeof(Control) == 512, "");

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
    u32 unused;
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
    u32 unused0;
    u32 unused1;
};
static_assert(sizeof(Reduction) == 32, "");

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
    u32 unused;
};
static_assert(sizeof(Fixpoint) == 64, "");

struct Fill {
    u64 address;
    u64 units;
    u64 pattern;
    u64 unused;
};
static_assert(sizeof(Fill) == 32, "");
