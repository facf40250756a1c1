fn outside(pc: u32, index: u32, len: u32) -> bool {
    if index < len {
        return false;
    }
    fault(pc, 1u, vec2(index, 0u), len);
    return true;
}

fn atom_cas_b32_atomic0(at: u32, before: u32, after: u32) -> u32 {
    var done = 0u;
    loop { // ↻
        let tried = atomicCompareExchangeWeak(&atomic0[at], before, after);
        done = u32(tried.exchanged);
        if tried.exchanged || tried.old_value != before {
            break;
        }
    }
    return done;
}

fn push_f0(node: u32) {
    let slot = more_f0();
    if slot < cap_f0 {
        plain0[at_f0_0 + slot] = node;
    }
}

// wave init: nodes
// u0_0: 4294967295u32
// u0_1: source
// u0_2: 0u32
fn kernel_0(index: u32, src: u32, dst: u32) {
    var r0: u32;
    var r1: u32;
    r0 = index;
    if outside(0u, r0, len_b0) { return; }
    atomicStore(&atomic0[at_b0 + r0], u0_0.x); // dist
    r1 = u32(r0 == u0_1.x);
    if r1 != 0u {
        if outside(3u, r0, len_b0) { return; }
        atomicStore(&atomic0[at_b0 + r0], u0_2.x); // dist
        if outside(4u, r0, nodes) { return; }
        push_f0(r0); // front
    }
}

// wave relax: edges(graph, from = front)
// u1_0: round
// u1_1: 4294967295u32
fn kernel_1(index: u32, src: u32, dst: u32) {
    var r0: u32;
    var r1: u32;
    r0 = dst;
    r1 = u1_0.x + 1u;
    if outside(1u, r0, len_b0) { return; }
    r1 = atom_cas_b32_atomic0(at_b0 + r0, u1_1.x, r1); // dist
    if r1 != 0u {
        if outside(3u, r0, nodes) { return; }
        push_f0(r0); // front
    }
}

// until levels: front.is_empty()
// u2_0: len(front)
fn kernel_2() -> u32 {
    var r0: u32;
    r0 = u32(u2_0.x == 0u);
    return r0;
}

