// Exact sums (vyre-core/src/vir0/exact.rs): a word is a signed number of 64 bits, low half first, that stands for a
// digit of 24 bits. Terms are added to words of the workgroup, those to `counts`, and the control rounds.

// What carries from a low half to a high one.
fn exact_carry(before: u32, added: u32) -> u32 {
    return select(0u, 1u, before + added < before);
}

// The 24 bits of a number from bit `start - 32` on; 8 < start.
fn exact_digit(number: vec2<u32>, start: u32) -> u32 {
    var low = 0u;
    if start < 32u {
        low = number.x << (32u - start);
    } else {
        let by = start - 32u;
        if by >= 64u {
            low = 0u;
        } else if by >= 32u {
            low = number.y >> (by - 32u);
        } else if by == 0u {
            low = number.x;
        } else {
            low = (number.x >> by) | (number.y << (32u - by));
        }
    }
    return low & 0xffffffu;
}

// A carry of 64 bits with its sign, times 2^-24.
fn exact_shift(x: vec2<u32>) -> vec2<u32> {
    return vec2<u32>((x.x >> 24u) | (x.y << 8u), u32(i32(x.y) >> 24u));
}

fn exact_plus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn exact_word(at: u32) -> vec2<u32> {
    return vec2<u32>(atomicLoad(&counts[at]), atomicLoad(&counts[at + 1u]));
}

// `words` of them from `at` on, rounded to nearest, halves to even; raw bits. `bits_kept`: of the type, with its hidden
// bit; `infinity`: the bits of that.
fn exact_value(at: u32, words: u32, bits_kept: u32, infinity: vec2<u32>, sign_bit: vec2<u32>) -> vec2<u32> {
    let special = atomicLoad(&counts[at + 2u * (words - 1u)]);
    if special == 2u { return infinity; }
    if special == 4u { return infinity | sign_bit; }
    if special != 0u {
        // The highest bit of the fraction.
        let bit = bits_kept - 2u;
        return infinity | select(vec2<u32>(1u << (bit & 31u), 0u), vec2<u32>(0u, 1u << (bit & 31u)), bit >= 32u);
    }
    var carry = vec2<u32>(0u, 0u);
    for (var i = 0u; i < words - 1u; i += 1u) { // ↻
        carry = exact_shift(exact_plus(carry, exact_word(at + 2u * i)));
    }
    let negative = i32(carry.y) < 0;
    // The highest digits, [0] highest, and whether there is something below.
    carry = vec2<u32>(0u, 0u);
    var window = vec4<u32>(0u, 0u, 0u, 0u);
    var rest = false;
    var found = false;
    var top = window;
    var top_rest = false;
    var index = 0u;
    for (var i = 0u; i < words + 1u; i += 1u) { // ↻
        var word = vec2<u32>(0u, 0u);
        if i < words - 1u { word = exact_word(at + 2u * i); }
        if negative { word = exact_plus(~word, vec2<u32>(1u, 0u)); }
        carry = exact_plus(carry, word);
        let digit = carry.x & 0xffffffu;
        carry = exact_shift(carry);
        rest = rest || window.w != 0u;
        window = vec4<u32>(digit, window.xyz);
        if digit != 0u {
            found = true;
            top = window;
            top_rest = rest;
            index = i;
        }
    }
    if !found { return vec2<u32>(0u, 0u); }
    // 96 bits, highest first.
    let a = (top.x << 8u) | (top.y >> 16u);
    let b = (top.y << 16u) | (top.z >> 8u);
    let c = ((top.z & 0xffu) << 24u) | top.w;
    let zeros = countLeadingZeros(a);
    let back = (32u - zeros) & 31u;
    // At most 23, as the highest digit is not 0.
    var high = a << zeros;
    var low = b << zeros;
    var below = c << zeros;
    if zeros > 0u {
        high |= b >> back;
        low |= c >> back;
    }
    let more = top_rest || below != 0u;
    var sign = vec2<u32>(0u, 0u);
    if negative { sign = sign_bit; }
    let place = 24u * index + 23u - zeros;
    // The number is (low, high); `cut` bits of it are lost.
    var cut = 64u - bits_kept;
    if place < bits_kept { cut = 63u - place; }
    var kept = vec2<u32>(0u, 0u);
    var lost = vec2<u32>(0u, 0u);
    var half = vec2<u32>(0u, 0u);
    if cut >= 32u {
        let by = cut - 32u;
        kept = vec2<u32>(high >> by, 0u);
        lost = vec2<u32>(low, high & ((1u << by) - 1u));
        if by == 0u { half = vec2<u32>(0x80000000u, 0u); } else { half = vec2<u32>(0u, 1u << (by - 1u)); }
    } else if cut > 0u {
        kept = vec2<u32>((low >> cut) | (high << (32u - cut)), high >> cut);
        lost = vec2<u32>(low & ((1u << cut) - 1u), 0u);
        half = vec2<u32>(1u << (cut - 1u), 0u);
    } else {
        kept = vec2<u32>(low, high);
    }
    // Below the smallest exponent nothing is ever lost: digits begin where floats do.
    if place < bits_kept { return kept | sign; }
    let is_half = lost.x == half.x && lost.y == half.y;
    let above = lost.y > half.y || (lost.y == half.y && lost.x > half.x);
    let up = above || (is_half && (more || (kept.x & 1u) == 1u));
    let exponent = place - (bits_kept - 1u);
    var bits = vec2<u32>(0u, 0u);
    if bits_kept == 24u {
        bits = vec2<u32>((exponent << 23u) + kept.x + select(0u, 1u, up), 0u);
        if bits.x > infinity.x { bits = infinity; }
    } else {
        bits = exact_plus(vec2<u32>(0u, exponent << 20u), kept);
        bits = exact_plus(bits, vec2<u32>(select(0u, 1u, up), 0u));
        if bits.y >= infinity.y { bits = infinity; }
    }
    return bits | sign;
}
