// Maps: kernels that load elements of their items' own numbers, compute in a straight line, and store such elements.
//
// No item of a tile can fault or leave, so there are no masks; loops are unrolled; a lane's K items follow each other four by four, so that every
// access takes 16 bytes; loads go to register rows without the lane waiting for them. The host words such kernels anew
// (map_word in vyre-cuda/src/image.rs): opcode, places of the result and of operands a and b, and the immediate four times,
// or first the place of operand c. A place is one in the lane's rows, or with its top bit set one in shared memory.
#pragma once

#include "interp.cuh"

// Whether all that a kernel accesses has elements for n items, and begins where 16 bytes can be accessed.
__device__ __forceinline__ bool can_map(const Kernel& kernel, u64 n) {
    bool can = true;
    for (u32 i = 0; i < kernel.stream_buffer_count; i++) {
        const Buffer& buffer = *table<Buffer>(image().buffers, *table<u32>(image().lists, kernel.stream_buffers + i));
        can = can && buffer.len >= n && (buffer.data & 15) == 0;
    }
    return can;
}

// An operand's quads, so many bytes apart.
template <u32 QUADS>
__device__ __forceinline__ void load_operand(Vec<4>* x, u32 place, u32 apart) {
    x[0] = load_row<4>(place);
#pragma unroll
    for (u32 i = 1; i < QUADS; i++) x[i] = x[0];
    if (apart != 0) {
#pragma unroll
        for (u32 i = 1; i < QUADS; i++) x[i] = load_row<4>(place + i * apart);
    }
}

// The warp's share of so many tiles of 32 * K items.
template <int K>
__device__ __noinline__ void run_map(const Kernel& kernel, u32 count) {
    static_assert(K % 4 == 0, "accesses take 16 bytes");
    // Bytes between the quads of a lane's items, in a row and in a buffer.
    constexpr u32 QUADS = K / 4, STEP = 512;
    const u32 shared = shared_address(0) + (1u << 31);
    const u32 code = shared_address(image().code_shared) + kernel.stream * VYRE_WORD_BYTES;
    const u32 rows = shared_address(image().registers_shared) + warp_id() * kernel.warp_bytes + lane_id() * 16;
#define PLACE(P) ((P) + (S32(P) < 0 ? shared : rows))
#define APART(P) (S32(P) < 0 ? 0u : STEP)
#define EACH_QUAD _Pragma("unroll") for (u32 i = 0; i < QUADS; i++)
#define EACH_OF_QUAD _Pragma("unroll") for (u32 k = 0; k < 4; k++)
    Tiles tiles;
    for (;;) {
        const u32 tile = tiles.take() * vyre_state.ctas + vyre_state.cta;
        if (tile >= count) return;
        // The first quad in a buffer.
        const u64 at = tile * (K * 128ull) + lane_id() * 16;
        uint4 next = word_at(code, 0);
        Vec<4> x[QUADS];
        EACH_QUAD EACH_OF_QUAD x[i].v[k] = 0;
        for (u32 pc = 1;; pc++) {
            const uint4 word = next;
            next = word_at(code, pc);
            const u32 op = word.x & 255, d = rows + word.y;
            if ((word.x & VYRE_MAP_MOVES) != 0) {
                if (op == VYRE_OP_Ret) break;
                if (op == VYRE_OP_Ld32) {
                    const u64 from = load_shared64(word.z + shared) + at;
                    EACH_QUAD start_load(d + i * STEP, from + i * STEP);
                } else if (op == VYRE_OP_WAIT) {
                    wait_loads();
                } else if (op == VYRE_OP_St32) {
                    const u64 to = load_shared64(word.z + shared) + at;
                    Vec<4> y[QUADS];
                    EACH_QUAD y[i] = x[i];
                    if ((word.x & VYRE_MAP_B_LAST) == 0) load_operand<QUADS>(y, PLACE(word.w), APART(word.w));
                    EACH_QUAD store_global(to + i * STEP, y[i]);
                } else {
                    // The items' numbers.
                    if (op != VYRE_OP_NUMBER) goto unknown;
                    EACH_QUAD EACH_OF_QUAD x[i].v[k] = static_cast<u32>(at / 4) + i * (STEP / 4) + k;
                    if ((word.x & VYRE_MAP_NOT_KEPT) == 0) EACH_QUAD store_row<4>(d + i * STEP, x[i]);
                }
                continue;
            }
            // Shared memory has no time for more than it must: what was computed last stays in x, and what is the same for
            // all quads is read once.
            Vec<4> y[QUADS];
            EACH_QUAD y[i] = x[i];
            if ((word.x & VYRE_MAP_B_LAST) == 0) load_operand<QUADS>(y, PLACE(word.w), APART(word.w));
            if ((word.x & VYRE_MAP_A_LAST) == 0) load_operand<QUADS>(x, PLACE(word.z), APART(word.z));
            switch (op) {
#define KNOWN(NAME, CODE) case CODE: goto op_##NAME;
                VYRE_MAP_OPS(KNOWN)
#undef KNOWN
                default: goto unknown;
            }
            {
#define MAP1(NAME, EXPR)                \
    op_##NAME:                          \
        EACH_QUAD EACH_OF_QUAD {        \
            const u32 p = x[i].v[k];    \
            x[i].v[k] = (EXPR);         \
        }                               \
        goto computed;
#define MAP2(NAME, EXPR)                            \
    op_##NAME:                                      \
        EACH_QUAD EACH_OF_QUAD {                    \
            const u32 p = x[i].v[k], q = y[i].v[k]; \
            x[i].v[k] = (EXPR);                     \
        }                                           \
        goto computed;
                VYRE_COMPUTES(MAP1, MAP2)
                op_Sel32:
                op_FmaF32: {
                    const u32 place = load_shared(code + (pc - 1) * VYRE_WORD_BYTES + 16);
                    const u32 c = PLACE(place), c_apart = APART(place);
                    EACH_QUAD {
                        const Vec<4> z = load_row<4>(c + i * c_apart);
                        EACH_OF_QUAD {
                            const u32 p = x[i].v[k], q = y[i].v[k], r = z.v[k];
                            const u32 product = B32(__fmaf_rn(F32(p), F32(q), F32(r)));
                            x[i].v[k] = op == VYRE_OP_FmaF32 ? product : p != 0 ? q : r;
                        }
                    }
                    goto computed;
                }
            }
        computed:
            if ((word.x & VYRE_MAP_NOT_KEPT) == 0) EACH_QUAD store_row<4>(d + i * STEP, x[i]);
            continue;
        unknown:
            unknown_word(op);
            return;
        }
    }
#undef PLACE
#undef APART
#undef EACH_QUAD
#undef EACH_OF_QUAD
#undef MAP1
#undef MAP2
}
