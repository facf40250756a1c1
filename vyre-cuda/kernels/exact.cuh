// Exact sums of floats, as vyre_core::vir0::exact has them: words that stand for a digit of 24 bits each, low ones first,
// and a last one with a bit each for NaN and the two infinities.
#pragma once

#include "memory.cuh"

#define VYRE_DIGIT_BITS 24
#define VYRE_DIGIT 0xffffffu

__device__ __forceinline__ u64 reduction_slot(const Reduction& r, u32 epoch) {
    return r.slots + epoch % 3 * r.words * 8ull;
}

// Adds a float of each lane to the warp's part of an exact sum; `imm` as in its word. The lanes whose digits go to the
// same words are added up first: 32 digits of 24 bits are below 2^29. All lanes come here; a 0 adds nothing.
__device__ __noinline__ void exact_add(u32 kernel, u32 imm, u64 bits) {
    const Reduction& r = *table<Reduction>(image().reductions, imm >> 16);
    const Kernel& info = *table<Kernel>(image().kernels, kernel);
    const u32 sum = shared_address(image().registers_shared) + warp_id() * info.warp_bytes + info.accumulators +
                    (imm & 0xffff) * 256;
    const bool wide = r.kind % 8 == VYRE_SCALAR_F64;
    const u32 fraction_bits = wide ? 52 : 23, exponents = wide ? 0x7ff : 0xff, digits = wide ? 4 : 2;
    const bool negative = bits >> (wide ? 63 : 31) & 1;
    const u32 exponent = static_cast<u32>(bits >> fraction_bits) & exponents;
    const u64 fraction = bits & ((1ull << fraction_bits) - 1), hidden = exponent != 0 ? 1ull << fraction_bits : 0;
    const bool special = exponent == exponents;
    const u32 specials = __reduce_or_sync(VYRE_FULL, !special ? 0 : fraction != 0 ? 1 : negative ? 4 : 2);
    const u64 number = special ? 0 : fraction | hidden;
    const u32 low = exponent != 0 ? exponent - 1 : 0;
    const u32 first = low / VYRE_DIGIT_BITS, shift = low % VYRE_DIGIT_BITS;
    __syncwarp();
    if (specials != 0 && lane_id() == 0) {
        const u32 last = sum + (r.words - 1) * 8;
        store_shared64(last, load_shared64(last) | specials);
    }
    u32 left = __ballot_sync(VYRE_FULL, number != 0);
#pragma unroll 1
    while (left != 0) {
        const u32 place = __shfl_sync(VYRE_FULL, first, __ffs(left) - 1);
        const bool mine = number != 0 && first == place;
        // Lane k adds digit k.
        i32 own = 0;
#pragma unroll 1
        for (u32 k = 0; k < digits; k++) {
            const u64 part = k == 0 ? number << shift : number >> min(k * VYRE_DIGIT_BITS - shift, 63u);
            const i32 digit = mine ? static_cast<i32>(static_cast<u32>(part) & VYRE_DIGIT) : 0;
            const i32 total = __reduce_add_sync(VYRE_FULL, negative ? -digit : digit);
            if (lane_id() == k) own = total;
        }
        if (lane_id() < digits) {
            const u32 word = sum + (place + lane_id()) * 8;
            store_shared64(word, load_shared64(word) + static_cast<u64>(static_cast<i64>(own)));
        }
        left &= ~__ballot_sync(VYRE_FULL, mine);
        __syncwarp();
    }
    __syncwarp();
}

// Adds the warp's exact sum to the grid's, whose words are at `slot`.
__device__ __forceinline__ void exact_contribute(u32 words, u32 at, u64 slot) {
    each_lane(words, [&](u32 i) {
        const u64 word = load_shared64(at + i / 32 * 256);
        if (word == 0) return;
        if (i == words - 1)
            take_or64(slot + i * 8ull, word);
        else
            take_add64(slot + i * 8ull, word);
    });
}

// An exact sum, rounded to nearest, halves to even: raw bits.
__device__ __noinline__ u64 exact_value(u32 kind, u32 words, u64 slot) {
    const bool wide = kind % 8 == VYRE_SCALAR_F64;
    const u32 precision = wide ? 53 : 24, digits = words - 1;
    const u64 sign = 1ull << (wide ? 63 : 31), infinity = (wide ? 0x7ffull : 0xffull) << (precision - 1);
    const u64 special = load_relaxed64(slot + digits * 8ull);
    if (special != 0) return special == 2 ? infinity : special == 4 ? sign | infinity : infinity | 1ull << (precision - 2);
    i64 carry = 0;
#pragma unroll 1
    for (u32 i = 0; i < digits; i++)
        carry = (carry + static_cast<i64>(load_relaxed64(slot + i * 8ull))) >> VYRE_DIGIT_BITS;
    const bool negative = carry < 0;
    // The highest digit that is not 0, with the three below it, in 96 bits; and whether there is something below these.
    u64 a = 0, b = 0, c = 0, d = 0, highest = 0, lower = 0;
    u32 index = 0;
    bool rest = false, below = false;
    carry = 0;
#pragma unroll 1
    for (u32 i = 0; i < digits + 2; i++) {
        const i64 word = i < digits ? static_cast<i64>(load_relaxed64(slot + i * 8ull)) : 0;
        carry += negative ? -word : word;
        rest = rest || d != 0;
        d = c;
        c = b;
        b = a;
        a = static_cast<u64>(carry) & VYRE_DIGIT;
        carry >>= VYRE_DIGIT_BITS;
        if (a == 0) continue;
        highest = a << 40 | b << 16 | c >> 8;
        lower = (c & 0xff) << 24 | d;
        index = i;
        below = rest;
    }
    if (highest == 0) return 0;
    const u32 zeros = __clzll(highest);
    const u64 number = highest << zeros | lower >> (32 - zeros);
    below = below || (lower << zeros & 0xffffffffull) != 0;
    const u32 place = VYRE_DIGIT_BITS * index + 23 - zeros;
    u64 size;
    if (place < precision) {
        size = number >> (63 - place);
    } else {
        const u32 cut = 64 - precision;
        const u64 kept = number >> cut, half = 1ull << (cut - 1), lost = number & ((1ull << cut) - 1);
        const bool up = lost > half || (lost == half && (below || (kept & 1) != 0));
        size = (static_cast<u64>(place - (precision - 1)) << (precision - 1)) + kept + (up ? 1 : 0);
    }
    return (negative ? sign : 0) | min(size, infinity);
}
