// Arithmetic of f64 where the adapter has it.

fn f64_of(a: vec2<u32>) -> f64 {
    return bitcast<f64>(u64(a.x ^ unknown()) | (u64(a.y) << 32u));
}

fn second_f64(b: vec2<u32>) -> f64 {
    return bitcast<f64>(u64(b.x ^ unknown_too()) | (u64(b.y) << 32u));
}

fn bits_of(a: f64) -> vec2<u32> {
    let bits = bitcast<u64>(a);
    return vec2(u32(bits & 0xfffffffflu), u32(bits >> 32u));
}

fn add_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return bits_of(f64_of(a) + second_f64(b));
}

fn sub_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return bits_of(f64_of(a) - second_f64(b));
}

fn mul_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return bits_of(f64_of(a) * second_f64(b));
}

fn div_f64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return bits_of(f64_of(a) / second_f64(b));
}

fn sqrt_f64(a: vec2<u32>) -> vec2<u32> {
    return bits_of(sqrt(f64_of(a)));
}
