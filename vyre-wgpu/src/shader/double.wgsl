// An f64 is the pair of its bits. Nothing here but its arithmetic, of which there are two kinds, needs a float.

fn is_nan_f64(a: vec2<u32>) -> bool {
    return lt_u64(vec2(0u, 0x7ff00000u), vec2(a.x, a.y & 0x7fffffffu)) != 0u;
}

fn negate_f64(a: vec2<u32>) -> vec2<u32> {
    return vec2(a.x, a.y ^ 0x80000000u);
}

// A number that is ordered as the float is; both zeros have the same.
fn order_f64(a: vec2<u32>) -> vec2<u32> {
    let magnitude = vec2(a.x, a.y & 0x7fffffffu);
    return select(magnitude, negate_b64(magnitude), (a.y >> 31u) != 0u);
}

fn eq_f64(a: vec2<u32>, b: vec2<u32>) -> u32 {
    return select(eq_b64(order_f64(a), order_f64(b)), 0u, is_nan_f64(a) || is_nan_f64(b));
}

fn ne_f64(a: vec2<u32>, b: vec2<u32>) -> u32 {
    return 1u - eq_f64(a, b);
}

fn lt_f64(a: vec2<u32>, b: vec2<u32>) -> u32 {
    return select(lt_i64(order_f64(a), order_f64(b)), 0u, is_nan_f64(a) || is_nan_f64(b));
}

fn le_f64(a: vec2<u32>, b: vec2<u32>) -> u32 {
    return select(le_i64(order_f64(a), order_f64(b)), 0u, is_nan_f64(a) || is_nan_f64(b));
}

fn min_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, is_nan_f64(a) || lt_f64(b, a) != 0u);
}

fn max_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, is_nan_f64(a) || lt_f64(a, b) != 0u);
}

fn exponent_f64(a: vec2<u32>) -> u32 {
    return (a.y >> 20u) & 0x7ffu;
}

// The digits, the hidden one among them.
fn digits_f64(a: vec2<u32>) -> vec2<u32> {
    return vec2(a.x, (a.y & 0xfffffu) | select(0u, 0x100000u, exponent_f64(a) != 0u));
}

// Fractions as whole numbers, divided digit by digit.
fn rem_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let x = vec2(a.x, a.y & 0x7fffffffu);
    let y = vec2(b.x, b.y & 0x7fffffffu);
    if exponent_f64(a) == 0x7ffu || is_nan_f64(b) || (y.x | y.y) == 0u {
        return vec2(0u, 0x7ff80000u);
    }
    if lt_u64(x, y) != 0u {
        return a;
    }
    // Both begin with a digit that is not 0.
    let before = clz_b64(digits_f64(a)) - 11u;
    let places = clz_b64(digits_f64(b)) - 11u;
    let least = i32(max(exponent_f64(b), 1u)) - i32(places);
    let divisor = shl_b64(digits_f64(b), places);
    var rest = shl_b64(digits_f64(a), before);
    for (var exponent = i32(max(exponent_f64(a), 1u)) - i32(before); exponent > least; exponent -= 1) { // ↻
        rest = shl_b64(select(rest, sub_b64(rest, divisor), le_u64(divisor, rest) != 0u), 1u);
    }
    rest = select(rest, sub_b64(rest, divisor), le_u64(divisor, rest) != 0u);
    let sign = a.y & 0x80000000u;
    if (rest.x | rest.y) == 0u {
        return vec2(0u, sign);
    }
    let lost = clz_b64(rest) - 11u;
    let exponent = least - i32(lost);
    let digits = shl_b64(rest, lost);
    if exponent < 1 {
        return vec2(0u, sign) | shr_u64(digits, u32(1 - exponent));
    }
    return vec2(digits.x, sign | ((u32(exponent - 1) << 20u) + digits.y));
}

// What is left of the whole part's last digit: added first, for those who round away from zero.
fn whole_f64(a: vec2<u32>, add: vec2<u32>) -> vec2<u32> {
    let mask = shr_u64(vec2(0xffffffffu, 0xfffffu), exponent_f64(a) - 1023u);
    return add_b64(a, add & mask) & ~mask;
}

fn trunc_f64(a: vec2<u32>) -> vec2<u32> {
    let exponent = exponent_f64(a);
    if exponent >= 1075u {
        return a;
    }
    if exponent < 1023u {
        return vec2(0u, a.y & 0x80000000u);
    }
    return whole_f64(a, vec2(0u, 0u));
}

fn floor_f64(a: vec2<u32>) -> vec2<u32> {
    let exponent = exponent_f64(a);
    let negative = (a.y >> 31u) != 0u;
    if exponent >= 1075u {
        return a;
    }
    if exponent < 1023u {
        let below = negative && ((a.y & 0x7fffffffu) | a.x) != 0u;
        return vec2(0u, select(a.y & 0x80000000u, 0xbff00000u, below));
    }
    return whole_f64(a, select(vec2(0u, 0u), vec2(0xffffffffu, 0xffffffffu), negative));
}

fn ceil_f64(a: vec2<u32>) -> vec2<u32> {
    return negate_f64(floor_f64(negate_f64(a)));
}

fn round_f64(a: vec2<u32>) -> vec2<u32> {
    let exponent = exponent_f64(a);
    if exponent >= 1075u {
        return a;
    }
    if exponent < 1023u {
        return vec2(0u, (a.y & 0x80000000u) | select(0u, 0x3ff00000u, exponent == 1022u));
    }
    return whole_f64(a, shr_u64(vec2(0u, 0x80000u), exponent - 1023u));
}

fn cvt_f64_u64(a: vec2<u32>) -> vec2<u32> {
    if (a.x | a.y) == 0u {
        return a;
    }
    let leading = clz_b64(a);
    let digits = shl_b64(a, leading);
    let number = shr_u64(digits, 11u);
    let rest = digits.x & 0x7ffu;
    let up = rest > 0x400u || (rest == 0x400u && (number.x & 1u) != 0u);
    return add_b64(add_b64(vec2(0u, (1085u - leading) << 20u), number), vec2(u32(up), 0u));
}

fn cvt_f64_i64(a: vec2<u32>) -> vec2<u32> {
    return cvt_f64_u64(magnitude_i64(a)) | vec2(0u, a.y & 0x80000000u);
}

fn cvt_f64_u32(a: u32) -> vec2<u32> {
    return cvt_f64_u64(vec2(a, 0u));
}

fn cvt_f64_i32(a: u32) -> vec2<u32> {
    return cvt_f64_i64(cvt_i64_i32(a));
}

fn cvt_f64_f32(a: u32) -> vec2<u32> {
    let sign = a & 0x80000000u;
    let magnitude = a & 0x7fffffffu;
    if magnitude >= 0x7f800000u {
        return vec2(a << 29u, sign | 0x7ff00000u | ((a & 0x7fffffu) >> 3u));
    }
    if magnitude < 0x800000u {
        // A whole number of the smallest, 2 to the -149.
        let whole = cvt_f64_u64(vec2(magnitude, 0u));
        return vec2(whole.x, sign | select(whole.y - (149u << 20u), 0u, magnitude == 0u));
    }
    return vec2(a << 29u, sign | ((magnitude >> 3u) + (896u << 20u)));
}

fn cvt_f32_f64(a: vec2<u32>) -> u32 {
    let sign = a.y & 0x80000000u;
    if is_nan_f64(a) {
        return sign | 0x7fc00000u;
    }
    let exponent = exponent_f64(a);
    if exponent >= 1151u {
        return sign | 0x7f800000u;
    }
    if exponent < 872u {
        return sign;
    }
    let places = 29u + select(0u, 897u - exponent, exponent < 897u);
    let digits = digits_f64(a);
    let number = shr_u64(digits, places);
    let rest = sub_b64(digits, shl_b64(number, places));
    let half = shl_b64(vec2(1u, 0u), places - 1u);
    let up = lt_u64(half, rest) != 0u || (all(half == rest) && (number.x & 1u) != 0u);
    let above = select(exponent - 897u, 0u, exponent < 897u);
    return sign | ((above << 23u) + number.x + u32(up));
}

// The whole part, without its sign; what is too large is the largest.
fn magnitude_f64(a: vec2<u32>) -> vec2<u32> {
    let exponent = exponent_f64(a);
    if exponent < 1023u || is_nan_f64(a) {
        return vec2(0u, 0u);
    }
    if exponent >= 1087u {
        return vec2(0xffffffffu, 0xffffffffu);
    }
    if exponent < 1075u {
        return shr_u64(digits_f64(a), 1075u - exponent);
    }
    return shl_b64(digits_f64(a), exponent - 1075u);
}

fn cvt_u32_f64(a: vec2<u32>) -> u32 {
    return saturate_u32((a.y >> 31u) != 0u, magnitude_f64(a));
}

fn cvt_i32_f64(a: vec2<u32>) -> u32 {
    return saturate_i32((a.y >> 31u) != 0u, magnitude_f64(a));
}

fn cvt_u64_f64(a: vec2<u32>) -> vec2<u32> {
    return saturate_u64((a.y >> 31u) != 0u, magnitude_f64(a));
}

fn cvt_i64_f64(a: vec2<u32>) -> vec2<u32> {
    return saturate_i64((a.y >> 31u) != 0u, magnitude_f64(a));
}

// A number with more digits than a float has: 2 to its exponent, times 128 digits of which the second is the ones'.
struct Exact {
    negative: bool,
    exponent: i32,
    digits: vec4<u32>,
}

// Moved down; what is lost leaves its trace in the last digit.
fn down_128(a: vec4<u32>, by: u32) -> vec4<u32> {
    var x = a;
    var lost = 0u;
    var left = min(by, 128u);
    while left >= 32u { // ↻
        lost |= x.x;
        x = vec4(x.yzw, 0u);
        left -= 32u;
    }
    if left > 0u {
        lost |= x.x << (32u - left);
        x = (x >> vec4(left)) | (vec4(x.yzw, 0u) << vec4(32u - left));
    }
    x.x |= u32(lost != 0u);
    return x;
}

fn up_128(a: vec4<u32>, by: u32) -> vec4<u32> {
    var x = a;
    var left = by;
    while left >= 32u { // ↻
        x = vec4(0u, x.xyz);
        left -= 32u;
    }
    if left > 0u {
        x = (x << vec4(left)) | (vec4(0u, x.xyz) >> vec4(32u - left));
    }
    return x;
}

fn leading_128(a: vec4<u32>) -> u32 {
    return select(clz_b64(a.zw), 64u + clz_b64(a.xy), (a.z | a.w) == 0u);
}

fn add_128(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let low = add_b64(a.xy, b.xy);
    let carry = vec2(lt_u64(low, a.xy), 0u);
    return vec4(low, add_b64(add_b64(a.zw, b.zw), carry));
}

fn sub_128(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let borrow = vec2(lt_u64(a.xy, b.xy), 0u);
    return vec4(sub_b64(a.xy, b.xy), sub_b64(sub_b64(a.zw, b.zw), borrow));
}

fn exact_f64(a: vec2<u32>) -> Exact {
    let digits = digits_f64(a);
    let places = clz_b64(digits);
    let exponent = bitcast<i32>(max(exponent_f64(a), 1u)) + 11 - bitcast<i32>(places) - 1023;
    let number = shl_b64(digits, places & 63u);
    return Exact((a.y >> 31u) != 0u, exponent, down_128(vec4(0u, 0u, number), 1u));
}

// Digits and exponent so that the second digit is the first that is not 0.
fn leaning(a: Exact) -> Exact {
    let leading = leading_128(a.digits);
    if leading == 0u {
        return Exact(a.negative, a.exponent + 1, down_128(a.digits, 1u));
    }
    return Exact(a.negative, a.exponent + 1 - bitcast<i32>(leading), up_128(a.digits, leading - 1u));
}

// Rounded to the nearest with so many digits, of two the even one. Exponents begin at the least.
fn rounded(a: Exact, least: i32, digits: u32) -> vec3<u32> {
    let below = bitcast<u32>(max(least - a.exponent, 0));
    let number = down_128(a.digits, min(127u - digits + below, 200u) - 3u);
    let whole = shr_u64(number.xy, 3u);
    let rest = number.x & 7u;
    let up = rest > 4u || (rest == 4u && (whole.x & 1u) != 0u);
    return vec3(add_b64(whole, vec2(u32(up), 0u)), bitcast<u32>(max(a.exponent - least, 0)));
}

fn rounded_f64(x: Exact) -> vec2<u32> {
    if all(x.digits == vec4(0u)) {
        return vec2(0u, 0u);
    }
    let a = leaning(x);
    let sign = select(0u, 0x80000000u, a.negative);
    if a.exponent > 1023 {
        return vec2(0u, sign | 0x7ff00000u);
    }
    let number = rounded(a, -1022, 53u);
    return vec2(number.x, sign | (number.y + (number.z << 20u)));
}

fn rounded_f32(x: Exact) -> u32 {
    if all(x.digits == vec4(0u)) {
        return 0u;
    }
    let a = leaning(x);
    let sign = select(0u, 0x80000000u, a.negative);
    if a.exponent > 127 {
        return sign | 0x7f800000u;
    }
    let number = rounded(a, -126, 24u);
    return sign | (number.x + (number.z << 23u));
}

// a * b + c where that needs no digits: the result, and 1 if there is one.
fn special_fma(a: vec2<u32>, b: vec2<u32>, c: vec2<u32>) -> vec3<u32> {
    let nan = vec3(0u, 0x7ff80000u, 1u);
    if is_nan_f64(a) || is_nan_f64(b) || is_nan_f64(c) {
        return nan;
    }
    let sign = (a.y ^ b.y) & 0x80000000u;
    let no_a = (a.x | (a.y & 0x7fffffffu)) == 0u;
    let no_b = (b.x | (b.y & 0x7fffffffu)) == 0u;
    let infinite = exponent_f64(c) == 0x7ffu;
    if exponent_f64(a) == 0x7ffu || exponent_f64(b) == 0x7ffu {
        if no_a || no_b || (infinite && (c.y & 0x80000000u) != sign) {
            return nan;
        }
        return vec3(0u, sign | 0x7ff00000u, 1u);
    }
    if infinite {
        return vec3(c, 1u);
    }
    if no_a || no_b {
        let no_c = (c.x | (c.y & 0x7fffffffu)) == 0u;
        // Zeros of both signs are +0.
        return vec3(c.x, select(c.y, c.y & sign, no_c), 1u);
    }
    return vec3(0u, 0u, 0u);
}

fn exact_fma(a: vec2<u32>, b: vec2<u32>, c: vec2<u32>) -> Exact {
    let x = exact_f64(a);
    let y = exact_f64(b);
    // The ones' digit of a product of two such halves is the fourth.
    let product = product_u64(x.digits.zw, y.digits.zw);
    let p = leaning(Exact(x.negative != y.negative, x.exponent + y.exponent + 2, product));
    let z = exact_f64(c);
    if (c.x | (c.y & 0x7fffffffu)) == 0u {
        return p;
    }
    let exponent = max(p.exponent, z.exponent);
    let one = down_128(p.digits, bitcast<u32>(exponent - p.exponent));
    let other = down_128(z.digits, bitcast<u32>(exponent - z.exponent));
    if p.negative == z.negative {
        return Exact(p.negative, exponent, add_128(one, other));
    }
    let difference = sub_128(one, other);
    if (difference.w >> 31u) != 0u {
        return Exact(z.negative, exponent, sub_128(other, one));
    }
    return Exact(p.negative, exponent, difference);
}

fn fma_f64(a: vec2<u32>, b: vec2<u32>, c: vec2<u32>) -> vec2<u32> {
    let special = special_fma(a, b, c);
    if special.z != 0u {
        return special.xy;
    }
    return rounded_f64(exact_fma(a, b, c));
}

fn fma_f32(a: u32, b: u32, c: u32) -> u32 {
    let x = cvt_f64_f32(a);
    let y = cvt_f64_f32(b);
    let z = cvt_f64_f32(c);
    let special = special_fma(x, y, z);
    if special.z != 0u {
        return cvt_f32_f64(special.xy);
    }
    return rounded_f32(exact_fma(x, y, z));
}

// A step of a polynomial.
fn step_f64(p: vec2<u32>, x: vec2<u32>, c: vec2<u32>) -> vec2<u32> {
    return add_f64(mul_f64(p, x), c);
}

// 2 to a power, which is one of a number's.
fn power_f64(exponent: i32) -> vec2<u32> {
    return vec2(0u, bitcast<u32>(exponent + 1023) << 20u);
}

// The function of fdlibm, and so the next two.
fn exp_f64(a: vec2<u32>) -> vec2<u32> {
    if is_nan_f64(a) {
        return a;
    }
    // Beyond 710 and -746.
    if lt_i64(vec2(0u, 0x40863000u), order_f64(a)) != 0u {
        return vec2(0u, 0x7ff00000u);
    }
    if lt_i64(order_f64(a), order_f64(vec2(0u, 0xc0875000u))) != 0u {
        return vec2(0u, 0u);
    }
    let n = round_f64(mul_f64(a, vec2(0x652b82feu, 0x3ff71547u)));
    let high = sub_f64(a, mul_f64(n, vec2(0xfee00000u, 0x3fe62e42u)));
    let low = mul_f64(n, vec2(0x35793c76u, 0x3dea39efu));
    let x = sub_f64(high, low);
    let t = mul_f64(x, x);
    var p = vec2(0x72bea4d0u, 0x3e663769u);
    p = step_f64(p, t, vec2(0xc5d26bf1u, 0xbebbbd41u));
    p = step_f64(p, t, vec2(0xaf25de2cu, 0x3f11566au));
    p = step_f64(p, t, vec2(0x16bebd93u, 0xbf66c16cu));
    p = step_f64(p, t, vec2(0x5555553eu, 0x3fc55555u));
    let c = sub_f64(x, mul_f64(t, p));
    let quotient = div_f64(mul_f64(x, c), sub_f64(vec2(0u, 0x40000000u), c));
    let y = sub_f64(vec2(0u, 0x3ff00000u), sub_f64(sub_f64(low, quotient), high));
    let exponent = bitcast<i32>(cvt_i32_f64(n));
    let half = exponent >> 1u;
    return mul_f64(mul_f64(y, power_f64(half)), power_f64(exponent - half));
}

fn ln_f64(a: vec2<u32>) -> vec2<u32> {
    if is_nan_f64(a) || all(a == vec2(0u, 0x7ff00000u)) {
        return a;
    }
    if (a.x | (a.y & 0x7fffffffu)) == 0u {
        return vec2(0u, 0xfff00000u);
    }
    if (a.y >> 31u) != 0u {
        return vec2(0u, 0x7ff80000u);
    }
    let places = clz_b64(digits_f64(a)) - 11u;
    let digits = shl_b64(digits_f64(a), places);
    var exponent = bitcast<i32>(max(exponent_f64(a), 1u)) - bitcast<i32>(places) - 1023;
    var m = vec2(digits.x, (digits.y & 0xfffffu) | 0x3ff00000u);
    if m.y > 0x3ff6a09eu {
        m.y -= 0x100000u;
        exponent += 1;
    }
    let k = cvt_f64_i32(bitcast<u32>(exponent));
    let f = sub_f64(m, vec2(0u, 0x3ff00000u));
    let s = div_f64(f, add_f64(f, vec2(0u, 0x40000000u)));
    let z = mul_f64(s, s);
    var p = vec2(0xdf3e5244u, 0x3fc2f112u);
    p = step_f64(p, z, vec2(0xd078c69fu, 0x3fc39a09u));
    p = step_f64(p, z, vec2(0x96cb03deu, 0x3fc74664u));
    p = step_f64(p, z, vec2(0x1d8e78afu, 0x3fcc71c5u));
    p = step_f64(p, z, vec2(0x94229359u, 0x3fd24924u));
    p = step_f64(p, z, vec2(0x9997fa04u, 0x3fd99999u));
    p = step_f64(p, z, vec2(0x55555593u, 0x3fe55555u));
    let half = mul_f64(vec2(0u, 0x3fe00000u), mul_f64(f, f));
    let rest = mul_f64(s, add_f64(half, mul_f64(z, p)));
    let low = add_f64(rest, mul_f64(k, vec2(0x35793c76u, 0x3dea39efu)));
    return sub_f64(mul_f64(k, vec2(0xfee00000u, 0x3fe62e42u)), sub_f64(sub_f64(half, low), f));
}

// More digits of 2 / pi.
const LONG_TWO_OVER_PI = array<u32, 38>(
    0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
    0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu,
    0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u,
    0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu, 0x1ff897ffu, 0xde05980fu,
    0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du,
    0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u,
    0x56033046u, 0xfc7b6babu,);

// As quadrant_f32: the quadrant, then what is left.
fn quadrant_f64(a: vec2<u32>) -> vec3<u32> {
    let magnitude = vec2(a.x, a.y & 0x7fffffffu);
    if lt_u64(magnitude, vec2(0x54442d18u, 0x3fe921fbu)) != 0u {
        return vec3(0u, a);
    }
    let number = digits_f64(a);
    let first = i32(exponent_f64(a)) - 1077;
    var digits = LONG_TWO_OVER_PI;
    // Six words, the highest first; a negative place has a zero.
    var window = array<u32, 6>();
    let at = first >> 5u;
    let by = u32(first) & 31u;
    for (var i = 0; i < 6; i++) { // ↻
        let high = select(0u, digits[max(at + i, 0)], at + i >= 0);
        let low = select(0u, digits[max(at + i + 1, 0)], at + i + 1 >= 0);
        window[i] = select((high << by) | (low >> ((32u - by) & 31u)), high, by == 0u);
    }
    let low = product_u64(number, vec2(window[5], window[4]));
    let middle = add_128(product_u64(number, vec2(window[3], window[2])), vec4(low.zw, 0u, 0u));
    let high = add_b64(mul_b64(number, vec2(window[1], window[0])), middle.zw);
    var quadrant = high.y >> 30u;
    var part = vec4(
        (middle.x << 2u) | (low.y >> 30u),
        (middle.y << 2u) | (middle.x >> 30u),
        (high.x << 2u) | (middle.y >> 30u),
        (high.y << 2u) | (high.x >> 30u),
    );
    var sign = a.y & 0x80000000u;
    if (part.w >> 31u) != 0u {
        part = sub_128(vec4(0u), part);
        quadrant += 1u;
        sign ^= 0x80000000u;
    }
    if (a.y >> 31u) != 0u {
        quadrant = 0u - quadrant;
    }
    let leading = leading_128(part);
    // Times pi / 2.
    let left = cvt_f64_u64(mulhi_u64(up_128(part, leading).zw, vec2(0x2168c234u, 0xc90fdaa2u)));
    return vec3(quadrant & 3u, left.x, sign | (left.y - ((63u + leading) << 20u)));
}

// The sine of a number between -pi / 4 and pi / 4.
fn small_sin_f64(a: vec2<u32>) -> vec2<u32> {
    if (a.y & 0x7fffffffu) < 0x3e400000u {
        return a;
    }
    let z = mul_f64(a, a);
    var p = vec2(0x5acfd57cu, 0x3de5d93au);
    p = step_f64(p, z, vec2(0x8a2b9cebu, 0xbe5ae5e6u));
    p = step_f64(p, z, vec2(0x57b1fe7du, 0x3ec71de3u));
    p = step_f64(p, z, vec2(0x19c161d5u, 0xbf2a01a0u));
    p = step_f64(p, z, vec2(0x1110f8a6u, 0x3f811111u));
    p = step_f64(p, z, vec2(0x55555549u, 0xbfc55555u));
    return add_f64(mul_f64(mul_f64(p, z), a), a);
}

fn small_cos_f64(a: vec2<u32>) -> vec2<u32> {
    let one = vec2(0u, 0x3ff00000u);
    let z = mul_f64(a, a);
    var p = vec2(0xbe8838d4u, 0xbda8fae9u);
    p = step_f64(p, z, vec2(0xbdb4b1c4u, 0x3e21ee9eu));
    p = step_f64(p, z, vec2(0x809c52adu, 0xbe927e4fu));
    p = step_f64(p, z, vec2(0x19cb1590u, 0x3efa01a0u));
    p = step_f64(p, z, vec2(0x16c15177u, 0xbf56c16cu));
    p = step_f64(p, z, vec2(0x5555554cu, 0x3fa55555u));
    let half = mul_f64(vec2(0u, 0x3fe00000u), z);
    let w = sub_f64(one, half);
    return add_f64(w, add_f64(sub_f64(sub_f64(one, w), half), mul_f64(mul_f64(z, z), p)));
}

fn sin_f64(a: vec2<u32>) -> vec2<u32> {
    if exponent_f64(a) == 0x7ffu {
        return vec2(0u, 0x7ff80000u);
    }
    let at = quadrant_f64(a);
    let value = select(small_sin_f64(at.yz), small_cos_f64(at.yz), (at.x & 1u) != 0u);
    return value ^ vec2(0u, (at.x & 2u) << 30u);
}

fn cos_f64(a: vec2<u32>) -> vec2<u32> {
    if exponent_f64(a) == 0x7ffu {
        return vec2(0u, 0x7ff80000u);
    }
    let at = quadrant_f64(a);
    let value = select(small_cos_f64(at.yz), small_sin_f64(at.yz), (at.x & 1u) != 0u);
    return value ^ vec2(0u, ((at.x + 1u) & 2u) << 30u);
}
