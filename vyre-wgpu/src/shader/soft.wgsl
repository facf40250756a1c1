// Arithmetic of f64 where the adapter has none: of whole numbers.

fn add_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return fma_f64(a, vec2(0u, 0x3ff00000u), b);
}

fn sub_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return add_f64(a, negate_f64(b));
}

fn mul_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return fma_f64(a, b, vec2(0u, (a.y ^ b.y) & 0x80000000u));
}

// Digit by digit.
fn div_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let sign = (a.y ^ b.y) & 0x80000000u;
    let no_a = (a.x | (a.y & 0x7fffffffu)) == 0u;
    let no_b = (b.x | (b.y & 0x7fffffffu)) == 0u;
    let infinite_a = exponent_f64(a) == 0x7ffu;
    let infinite_b = exponent_f64(b) == 0x7ffu;
    if is_nan_f64(a) || is_nan_f64(b) || (no_a && no_b) || (infinite_a && infinite_b) {
        return vec2(0u, 0x7ff80000u);
    }
    if infinite_a || no_b {
        return vec2(0u, sign | 0x7ff00000u);
    }
    if infinite_b || no_a {
        return vec2(0u, sign);
    }
    let x = exact_f64(a);
    let y = exact_f64(b);
    var rest = x.digits.zw;
    var quotient = vec2(0u, 0u);
    for (var i = 0u; i < 58u; i++) { // ↻
        let fits = le_u64(y.digits.zw, rest) != 0u;
        rest = shl_b64(select(rest, sub_b64(rest, y.digits.zw), fits), 1u);
        quotient = shl_b64(quotient, 1u) | vec2(u32(fits), 0u);
    }
    quotient.x |= u32((rest.x | rest.y) != 0u);
    let digits = up_128(vec4(quotient, 0u, 0u), 69u);
    return rounded_f64(Exact(sign != 0u, x.exponent - y.exponent, digits));
}

// Digit by digit: the root of a number with twice as many.
fn sqrt_f64(a: vec2<u32>) -> vec2<u32> {
    if is_nan_f64(a) || (a.x | (a.y & 0x7fffffffu)) == 0u {
        return a;
    }
    if (a.y >> 31u) != 0u {
        return vec2(0u, 0x7ff80000u);
    }
    if exponent_f64(a) == 0x7ffu {
        return a;
    }
    let x = exact_f64(a);
    // Two digits a turn; of an odd exponent, the first has two.
    var digits = shl_b64(x.digits.zw, bitcast<u32>(x.exponent & 1));
    var rest = vec2(0u, 0u);
    var root = vec2(0u, 0u);
    for (var i = 0u; i < 56u; i++) { // ↻
        rest = shl_b64(rest, 2u) | vec2(digits.y >> 30u, 0u);
        digits = shl_b64(digits, 2u);
        let tried = shl_b64(root, 2u) | vec2(1u, 0u);
        let fits = le_u64(tried, rest) != 0u;
        rest = select(rest, sub_b64(rest, tried), fits);
        root = shl_b64(root, 1u) | vec2(u32(fits), 0u);
    }
    root.x |= u32((rest.x | rest.y) != 0u);
    return rounded_f64(Exact(false, x.exponent >> 1u, up_128(vec4(root, 0u, 0u), 71u)));
}
