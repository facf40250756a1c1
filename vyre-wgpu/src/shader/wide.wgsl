// A value of 64 bits is a pair: the low half, then the high one.

fn add_b64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2(low, a.y + b.y + u32(low < a.x));
}

fn sub_b64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2(a.x - b.x, a.y - b.y - u32(a.x < b.x));
}

fn negate_b64(a: vec2<u32>) -> vec2<u32> {
    return sub_b64(vec2(0u, 0u), a);
}

// The whole product of two words.
fn product_u32(a: u32, b: u32) -> vec2<u32> {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
    return vec2((other << 16u) | (low & 0xffffu), (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u));
}

fn mul_b64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = product_u32(a.x, b.x);
    return vec2(low.x, low.y + a.x * b.y + a.y * b.x);
}

// The whole product of two pairs, low words first.
fn product_u64(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
    let low = product_u32(a.x, b.x);
    let one = add_b64(product_u32(a.y, b.x), vec2(low.y, 0u));
    let two = add_b64(product_u32(a.x, b.y), vec2(one.x, 0u));
    let high = add_b64(product_u32(a.y, b.y), add_b64(vec2(one.y, 0u), vec2(two.y, 0u)));
    return vec4(low.x, two.x, high.x, high.y);
}

fn mulhi_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return product_u64(a, b).zw;
}

// Quotient and remainder; the divisor is not 0.
fn divide_u64(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
    if (a.y | b.y) == 0u {
        return vec4(a.x / b.x, 0u, a.x % b.x, 0u);
    }
    var quotient = vec2(0u, 0u);
    var rest = a;
    let leading = clz_b64(a);
    let places = clz_b64(b);
    if places >= leading {
        var at = places - leading;
        var divisor = shl_b64(b, at);
        loop { // ↻
            if le_u64(divisor, rest) != 0u {
                rest = sub_b64(rest, divisor);
                quotient |= shl_b64(vec2(1u, 0u), at);
            }
            if at == 0u {
                break;
            }
            at -= 1u;
            divisor = vec2((divisor.x >> 1u) | (divisor.y << 31u), divisor.y >> 1u);
        }
    }
    return vec4(quotient, rest);
}

fn div_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return divide_u64(a, b).xy;
}

fn rem_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return divide_u64(a, b).zw;
}

fn magnitude_i64(a: vec2<u32>) -> vec2<u32> {
    return select(a, negate_b64(a), (a.y >> 31u) != 0u);
}

fn div_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let quotient = divide_u64(magnitude_i64(a), magnitude_i64(b)).xy;
    return select(quotient, negate_b64(quotient), ((a.y ^ b.y) >> 31u) != 0u);
}

fn rem_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let rest = divide_u64(magnitude_i64(a), magnitude_i64(b)).zw;
    return select(rest, negate_b64(rest), (a.y >> 31u) != 0u);
}

fn min_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, lt_u64(b, a) != 0u);
}

fn max_u64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, lt_u64(a, b) != 0u);
}

fn min_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, lt_i64(b, a) != 0u);
}

fn max_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return select(a, b, lt_i64(a, b) != 0u);
}

fn shl_b64(a: vec2<u32>, by: u32) -> vec2<u32> {
    let n = by & 63u;
    if n >= 32u {
        return vec2(0u, a.x << (n - 32u));
    }
    if n == 0u {
        return a;
    }
    return vec2(a.x << n, (a.y << n) | (a.x >> (32u - n)));
}

fn shr_u64(a: vec2<u32>, by: u32) -> vec2<u32> {
    let n = by & 63u;
    if n >= 32u {
        return vec2(a.y >> (n - 32u), 0u);
    }
    if n == 0u {
        return a;
    }
    return vec2((a.x >> n) | (a.y << (32u - n)), a.y >> n);
}

fn shr_i64(a: vec2<u32>, by: u32) -> vec2<u32> {
    let n = by & 63u;
    let high = bitcast<i32>(a.y);
    if n >= 32u {
        return vec2(bitcast<u32>(high >> (n - 32u)), bitcast<u32>(high >> 31u));
    }
    if n == 0u {
        return a;
    }
    return vec2((a.x >> n) | (a.y << (32u - n)), bitcast<u32>(high >> n));
}

fn rotl_b64(a: vec2<u32>, by: u32) -> vec2<u32> {
    return shl_b64(a, by) | shr_u64(a, 64u - (by & 63u));
}

fn rotl_b32(a: u32, by: u32) -> u32 {
    return (a << (by & 31u)) | (a >> ((32u - (by & 31u)) & 31u));
}

fn popc_b64(a: vec2<u32>) -> u32 {
    return countOneBits(a.x) + countOneBits(a.y);
}

fn clz_b64(a: vec2<u32>) -> u32 {
    return select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u);
}

fn ctz_b64(a: vec2<u32>) -> u32 {
    return select(countTrailingZeros(a.x), 32u + countTrailingZeros(a.y), a.x == 0u);
}

fn eq_b64(a: vec2<u32>, b: vec2<u32>) -> u32 {
    return u32(all(a == b));
}

fn ne_b64(a: vec2<u32>, b: vec2<u32>) -> u32 {
    return u32(any(a != b));
}

fn lt_u64(a: vec2<u32>, b: vec2<u32>) -> u32 {
    return u32(a.y < b.y || (a.y == b.y && a.x < b.x));
}

fn le_u64(a: vec2<u32>, b: vec2<u32>) -> u32 {
    return u32(a.y < b.y || (a.y == b.y && a.x <= b.x));
}

fn lt_i64(a: vec2<u32>, b: vec2<u32>) -> u32 {
    return lt_u64(vec2(a.x, a.y ^ 0x80000000u), vec2(b.x, b.y ^ 0x80000000u));
}

fn le_i64(a: vec2<u32>, b: vec2<u32>) -> u32 {
    return le_u64(vec2(a.x, a.y ^ 0x80000000u), vec2(b.x, b.y ^ 0x80000000u));
}

fn cvt_i64_i32(a: u32) -> vec2<u32> {
    return vec2(a, bitcast<u32>(bitcast<i32>(a) >> 31u));
}

// What atomics on 64 bits take.
fn u64_of(a: vec2<u32>) -> u64 {
    return u64(a.x) | (u64(a.y) << 32u);
}

fn pair_of(a: u64) -> vec2<u32> {
    return vec2(u32(a & 0xfffffffflu), u32(a >> 32u));
}

fn min_i32(a: u32, b: u32) -> u32 {
    return bitcast<u32>(min(bitcast<i32>(a), bitcast<i32>(b)));
}

fn max_i32(a: u32, b: u32) -> u32 {
    return bitcast<u32>(max(bitcast<i32>(a), bitcast<i32>(b)));
}
