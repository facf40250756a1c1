// An f32 is the word of its bits. What shaders promise of floats is less than VIR0 does: that there are numbers that are
// none, zeros with a sign, and the smallest ones. So all but arithmetic looks at bits.

fn is_nan_f32(a: u32) -> bool {
    return (a & 0x7fffffffu) > 0x7f800000u;
}

// A number that is ordered as the float is; both zeros have the same.
fn order_f32(a: u32) -> i32 {
    let magnitude = bitcast<i32>(a & 0x7fffffffu);
    return select(magnitude, -magnitude, (a >> 31u) != 0u);
}

fn eq_f32(a: u32, b: u32) -> u32 {
    return u32(!is_nan_f32(a) && !is_nan_f32(b) && order_f32(a) == order_f32(b));
}

fn ne_f32(a: u32, b: u32) -> u32 {
    return 1u - eq_f32(a, b);
}

fn lt_f32(a: u32, b: u32) -> u32 {
    return u32(!is_nan_f32(a) && !is_nan_f32(b) && order_f32(a) < order_f32(b));
}

fn le_f32(a: u32, b: u32) -> u32 {
    return u32(!is_nan_f32(a) && !is_nan_f32(b) && order_f32(a) <= order_f32(b));
}

fn min_f32(a: u32, b: u32) -> u32 {
    return select(a, b, is_nan_f32(a) || lt_f32(b, a) != 0u);
}

fn max_f32(a: u32, b: u32) -> u32 {
    return select(a, b, is_nan_f32(a) || lt_f32(a, b) != 0u);
}

// 0, which no compiler knows. What it knows to be 0, it takes for the product with anything, and of a product and a sum
// that it sees together it may make one operation.
fn unknown() -> u32 {
    return u32(arrayLength(&state) == 0u);
}

// Another 0 that no compiler knows: by this one of the two operands, they are never the same expression, or `x - x`
// would be 0 where x is infinite.
fn unknown_too() -> u32 {
    return u32(arrayLength(&state) == 1u);
}

fn f32_of(a: u32) -> f32 {
    return bitcast<f32>(a ^ unknown());
}

fn second_f32(b: u32) -> f32 {
    return bitcast<f32>(b ^ unknown_too());
}

fn add_f32(a: u32, b: u32) -> u32 {
    return bitcast<u32>(f32_of(a) + second_f32(b));
}

fn sub_f32(a: u32, b: u32) -> u32 {
    return bitcast<u32>(f32_of(a) - second_f32(b));
}

fn mul_f32(a: u32, b: u32) -> u32 {
    return bitcast<u32>(f32_of(a) * second_f32(b));
}

fn div_f32(a: u32, b: u32) -> u32 {
    return bitcast<u32>(f32_of(a) / second_f32(b));
}

fn sqrt_f32(a: u32) -> u32 {
    return bitcast<u32>(sqrt(f32_of(a)));
}

// The digits, the hidden one among them.
fn digits_f32(a: u32) -> u32 {
    return (a & 0x7fffffu) | select(0u, 0x800000u, (a & 0x7f800000u) != 0u);
}

// Fractions as whole numbers, divided digit by digit.
fn rem_f32(a: u32, b: u32) -> u32 {
    let sign = a & 0x80000000u;
    let x = a & 0x7fffffffu;
    let y = b & 0x7fffffffu;
    if x >= 0x7f800000u || y > 0x7f800000u || y == 0u {
        return 0x7fc00000u;
    }
    if x < y {
        return a;
    }
    // Both begin with a digit that is not 0.
    let before = countLeadingZeros(digits_f32(x)) - 8u;
    let places = countLeadingZeros(digits_f32(y)) - 8u;
    let least = i32(max(y >> 23u, 1u)) - i32(places);
    let divisor = digits_f32(y) << places;
    var rest = digits_f32(x) << before;
    for (var exponent = i32(max(x >> 23u, 1u)) - i32(before); exponent > least; exponent -= 1) { // ↻
        rest = select(rest, rest - divisor, rest >= divisor) << 1u;
    }
    rest = select(rest, rest - divisor, rest >= divisor);
    if rest == 0u {
        return sign;
    }
    let lost = countLeadingZeros(rest) - 8u;
    let exponent = least - i32(lost);
    if exponent < 1 {
        return sign | ((rest << lost) >> u32(1 - exponent));
    }
    return sign | ((u32(exponent - 1) << 23u) + (rest << lost));
}

// What is left of the whole part's last digit: added first, for those who round away from zero.
fn whole_f32(a: u32, add: u32) -> u32 {
    let exponent = (a >> 23u) & 0xffu;
    let mask = 0x7fffffu >> (exponent - 127u);
    return (a + (add & mask)) & ~mask;
}

fn trunc_f32(a: u32) -> u32 {
    let exponent = (a >> 23u) & 0xffu;
    if exponent >= 150u {
        return a;
    }
    if exponent < 127u {
        return a & 0x80000000u;
    }
    return whole_f32(a, 0u);
}

fn floor_f32(a: u32) -> u32 {
    let exponent = (a >> 23u) & 0xffu;
    let negative = (a >> 31u) != 0u;
    if exponent >= 150u {
        return a;
    }
    if exponent < 127u {
        return select(a & 0x80000000u, 0xbf800000u, negative && (a & 0x7fffffffu) != 0u);
    }
    return whole_f32(a, select(0u, 0xffffffffu, negative));
}

fn ceil_f32(a: u32) -> u32 {
    return floor_f32(a ^ 0x80000000u) ^ 0x80000000u;
}

fn round_f32(a: u32) -> u32 {
    let exponent = (a >> 23u) & 0xffu;
    if exponent >= 150u {
        return a;
    }
    if exponent < 127u {
        return (a & 0x80000000u) | select(0u, 0x3f800000u, exponent == 126u);
    }
    return whole_f32(a, 0x400000u >> (exponent - 127u));
}

fn cvt_f32_u64(a: vec2<u32>) -> u32 {
    if (a.x | a.y) == 0u {
        return 0u;
    }
    let leading = clz_b64(a);
    let digits = shl_b64(a, leading);
    let number = digits.y >> 8u;
    let rest = digits.y & 0xffu;
    let up = rest > 0x80u || (rest == 0x80u && (digits.x | (number & 1u)) != 0u);
    return ((189u - leading) << 23u) + number + u32(up);
}

fn cvt_f32_i64(a: vec2<u32>) -> u32 {
    return (a.y & 0x80000000u) | cvt_f32_u64(magnitude_i64(a));
}

fn cvt_f32_u32(a: u32) -> u32 {
    return cvt_f32_u64(vec2(a, 0u));
}

fn cvt_f32_i32(a: u32) -> u32 {
    return cvt_f32_i64(cvt_i64_i32(a));
}

// The whole part, without its sign; what is too large is the largest.
fn magnitude_f32(a: u32) -> vec2<u32> {
    let exponent = (a >> 23u) & 0xffu;
    if exponent < 127u || is_nan_f32(a) {
        return vec2(0u, 0u);
    }
    if exponent >= 191u {
        return vec2(0xffffffffu, 0xffffffffu);
    }
    let number = vec2((a & 0x7fffffu) | 0x800000u, 0u);
    if exponent < 150u {
        return shr_u64(number, 150u - exponent);
    }
    return shl_b64(number, exponent - 150u);
}

fn saturate_u64(negative: bool, magnitude: vec2<u32>) -> vec2<u32> {
    return select(magnitude, vec2(0u, 0u), negative);
}

fn saturate_i64(negative: bool, magnitude: vec2<u32>) -> vec2<u32> {
    if negative {
        return negate_b64(min_u64(magnitude, vec2(0u, 0x80000000u)));
    }
    return min_u64(magnitude, vec2(0xffffffffu, 0x7fffffffu));
}

fn saturate_u32(negative: bool, magnitude: vec2<u32>) -> u32 {
    return select(min_u64(magnitude, vec2(0xffffffffu, 0u)).x, 0u, negative);
}

fn saturate_i32(negative: bool, magnitude: vec2<u32>) -> u32 {
    if negative {
        return 0u - min_u64(magnitude, vec2(0x80000000u, 0u)).x;
    }
    return min_u64(magnitude, vec2(0x7fffffffu, 0u)).x;
}

fn cvt_u32_f32(a: u32) -> u32 {
    return saturate_u32((a >> 31u) != 0u, magnitude_f32(a));
}

fn cvt_i32_f32(a: u32) -> u32 {
    return saturate_i32((a >> 31u) != 0u, magnitude_f32(a));
}

fn cvt_u64_f32(a: u32) -> vec2<u32> {
    return saturate_u64((a >> 31u) != 0u, magnitude_f32(a));
}

fn cvt_i64_f32(a: u32) -> vec2<u32> {
    return saturate_i64((a >> 31u) != 0u, magnitude_f32(a));
}

// 2 to a power, which is one of a number's.
fn power_f32(exponent: i32) -> f32 {
    return bitcast<f32>(bitcast<u32>(exponent + 127) << 23u);
}

fn exp_f32(a: u32) -> u32 {
    if is_nan_f32(a) {
        return a;
    }
    let order = order_f32(a);
    // Beyond 89 and -104.
    if order > 0x42b20000 {
        return 0x7f800000u;
    }
    if order < -0x42d00000 {
        return 0u;
    }
    let x = bitcast<f32>(a);
    // e to the x is 2 to the n times e to the r.
    let n = floor(x * 1.44269504 + 0.5);
    let r = (x - n * 0.693359375) + n * 2.12194440e-4;
    var p = 1.9875691500e-4;
    p = p * r + 1.3981999507e-3;
    p = p * r + 8.3334519073e-3;
    p = p * r + 4.1665795894e-2;
    p = p * r + 1.6666665459e-1;
    p = p * r + 5.0000001201e-1;
    let y = (p * (r * r) + r) + 1.0;
    let exponent = i32(n);
    let half = exponent >> 1u;
    return bitcast<u32>((y * power_f32(half)) * power_f32(exponent - half));
}

fn ln_f32(a: u32) -> u32 {
    if is_nan_f32(a) || a == 0x7f800000u {
        return a;
    }
    if (a & 0x7fffffffu) == 0u {
        return 0xff800000u;
    }
    if (a >> 31u) != 0u {
        return 0x7fc00000u;
    }
    // A number of the smallest has no hidden digit.
    let places = select(0u, countLeadingZeros(a) - 8u, a < 0x800000u);
    let digits = (a << places) & 0x7fffffu;
    var exponent = bitcast<i32>(max(a >> 23u, 1u)) - bitcast<i32>(places) - 127;
    var m = bitcast<f32>(digits | 0x3f800000u);
    if digits > 0x3504f3u {
        m = m * 0.5;
        exponent += 1;
    }
    let e = f32(exponent);
    let x = m - 1.0;
    let z = x * x;
    var p = 7.0376836292e-2;
    p = p * x - 1.1514610310e-1;
    p = p * x + 1.1676998740e-1;
    p = p * x - 1.2420140846e-1;
    p = p * x + 1.4249322787e-1;
    p = p * x - 1.6668057665e-1;
    p = p * x + 2.0000714765e-1;
    p = p * x - 2.4999993993e-1;
    p = p * x + 3.3333331174e-1;
    let y = (p * x * z - e * 2.12194440e-4) - 0.5 * z;
    return bitcast<u32>((x + y) + e * 0.693359375);
}

// The digits of 2 / pi.
const TWO_OVER_PI = array<u32, 8>(
    0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
    0xfe5163abu, 0xdebbc561u,
);

// The multiple of pi / 2 that is nearest to a, as far as its last two digits go, and what is left, as a float. The
// product with 2 / pi is computed as far as its digits matter (Payne and Hanek).
fn quadrant_f32(a: u32) -> vec2<u32> {
    let magnitude = a & 0x7fffffffu;
    if magnitude <= 0x3f490fdau {
        return vec2(0u, a);
    }
    let number = (a & 0x7fffffu) | 0x800000u;
    // The first digit that counts: whatever is before it adds multiples of 4.
    let first = i32(magnitude >> 23u) - 152;
    var digits = TWO_OVER_PI;
    var window = vec3(0u, 0u, 0u);
    if first < 0 {
        let by = u32(-first);
        window = vec3(digits[0] >> by, (digits[0] << (32u - by)) | (digits[1] >> by), (digits[1] << (32u - by)) | (digits[2] >> by));
    } else {
        let at = u32(first) >> 5u;
        let by = u32(first) & 31u;
        window = vec3(digits[at], digits[at + 1u], digits[at + 2u]);
        if by != 0u {
            let next = vec3(window.yz, digits[at + 3u]);
            window = (window << vec3(by)) | (next >> vec3(32u - by));
        }
    }
    let low = product_u32(number, window.z);
    let middle = add_b64(product_u32(number, window.y), vec2(low.y, 0u));
    let high = number * window.x + middle.y;
    var quadrant = high >> 30u;
    var part = vec2((middle.x << 2u) | (low.x >> 30u), (high << 2u) | (middle.x >> 30u));
    var sign = a & 0x80000000u;
    if (part.y >> 31u) != 0u {
        part = negate_b64(part);
        quadrant += 1u;
        sign ^= 0x80000000u;
    }
    if (a >> 31u) != 0u {
        quadrant = 0u - quadrant;
    }
    let leading = clz_b64(part);
    // Times pi / 2.
    let left = cvt_f32_u64(product_u32(shl_b64(part, leading).y, 0xc90fdaa2u));
    return vec2(quadrant & 3u, sign | (left - ((63u + leading) << 23u)));
}

// The sine of a number between -pi / 4 and pi / 4.
fn small_sin_f32(a: u32) -> u32 {
    if (a & 0x7fffffffu) < 0x39800000u {
        return a;
    }
    let x = bitcast<f32>(a);
    let z = x * x;
    return bitcast<u32>(((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1) * z * x + x);
}

fn small_cos_f32(a: u32) -> u32 {
    let x = bitcast<f32>(a);
    let z = x * x;
    return bitcast<u32>((((2.443315711809948e-5 * z - 1.388731625493765e-3) * z + 4.166664568298827e-2) * z * z - 0.5 * z) + 1.0);
}

fn sin_f32(a: u32) -> u32 {
    if (a & 0x7fffffffu) >= 0x7f800000u {
        return 0x7fc00000u;
    }
    let at = quadrant_f32(a);
    let value = select(small_sin_f32(at.y), small_cos_f32(at.y), (at.x & 1u) != 0u);
    return value ^ ((at.x & 2u) << 30u);
}

fn cos_f32(a: u32) -> u32 {
    if (a & 0x7fffffffu) >= 0x7f800000u {
        return 0x7fc00000u;
    }
    let at = quadrant_f32(a);
    let value = select(small_cos_f32(at.y), small_sin_f32(at.y), (at.x & 1u) != 0u);
    return value ^ (((at.x + 1u) & 2u) << 30u);
}
