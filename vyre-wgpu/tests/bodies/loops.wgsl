fn add_b64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2(low, a.y + b.y + u32(low < a.x));
}

fn outside(pc: u32, index: u32, len: u32) -> bool {
    if index < len {
        return false;
    }
    fault(pc, 1u, vec2(index, 0u), len);
    return true;
}

fn store_plain0(at: u32, x: vec2<u32>) {
    plain0[at] = x.x;
    plain0[at + 1u] = x.y;
}

// wave k: nodes
// u0_0: nodes
fn kernel_0(index: u32, src: u32, dst: u32) {
    var r0: u32;
    var r1: u32;
    var a2: array<u32, 4>;
    var r6_7: vec2<u32>;
    var break_2: bool;
    var continue_2: bool;
    r0 = index;
    { let x = r0; for (var i = 0u; i < 4u; i++) { a2[i] = x; } }
    r6_7 = vec2(4294967295u, 4294967295u);
    break_2 = false;
    loop {
        if !turn() { return; }
        continue_2 = false;
        loop {
            if !turn() { return; }
            r1 = u32(r0 < 10u);
            if r1 == 0u {
                break_2 = true;
                break;
            }
            if outside(6u, r0, 4u) { return; }
            r1 = a2[r0];
            if r1 != 0u {
                a2[1] = a2[1] + u0_0.x;
            } else {
                continue_2 = true;
                break;
            }
            if outside(12u, r0, 4u) { return; }
            a2[r0] = a2[1];
        }
        if break_2 { break; }
        if continue_2 { continue; }
        r6_7 = add_b64(r6_7, r6_7);
        fault(15u, 2u, vec2(0u, 0u), 0u); // DivideByZero
        return;
    }
    if outside(18u, r0, len_b1) { return; }
    store_plain0(at_b1 + 2u * r0, r6_7); // large
    if a2[1] == 0u {
        fault(19u, 4u, vec2(0u, 0u), 0u); // Assert
        return;
    }
}

