struct Params {
    round: u32,
    groups: u32,
    turns_limit: u32,
    fill_at: u32,
    fill_len: u32,
    fill_words: u32,
    fill_low: u32,
    fill_high: u32,
    nodes: u32,
    graph_edges: u32,
    dist_len: u32,
    front_capacity: u32,
    source: u32,
    graph_offsets_at: u32,
    graph_targets_at: u32,
    dist_at: u32,
    front_items_at: u32,
}

struct Control {
    status: u32,
    verdict: u32,
    trap_wave: u32,
    trap_kind: u32,
    trap_item: u32,
    trap_pc: u32,
    trap_index: u32,
    trap_len: u32,
    front_len: u32,
    front_tail: atomic<u32>,
    front_side: u32,
    records: array<u32>,
}

const OUT_OF_BOUNDS: u32 = 1u;
const LINE_37_WORD_1_PC: u32 = 1u;
const LINE_38_WORD_3_PC: u32 = 3u;

@group(0) @binding(0) 
var<uniform> params: Params;
var<private> fault_kind: u32 = 0u;
var<private> fault_item: u32 = 0u;
var<private> fault_pc: u32 = 0u;
var<private> fault_index: u32 = 0u;
var<private> fault_len: u32 = 0u;
@group(0) @binding(3) 
var<storage, read_write> cells: array<atomic<u32>>;
@group(0) @binding(4) 
var<storage, read_write> control: Control;
@group(0) @binding(2) 
var<storage, read_write> plain: array<u32>;
@group(0) @binding(1) 
var<storage> fixed: array<u32>;
var<workgroup> shared_records: array<u32, 320>;

fn fault(kind: u32, item: u32, pc: u32, index: u32, len: u32) {
    let _e6 = fault_kind;
    let _e8 = fault_item;
    let _e10 = fault_pc;
    if ((_e6 == 0u) || ((item < _e8) || ((item == _e8) && (pc < _e10)))) {
        fault_kind = kind;
        fault_item = item;
        fault_pc = pc;
        fault_index = index;
        fault_len = len;
    }
}

fn compare_exchange(at: u32, expected: u32, value: u32) -> u32 {
    var done: u32;

    done = 0u;
    loop {
        let _e7 = atomicCompareExchangeWeak((&cells[at]), expected, value);
        if _e7.exchanged {
            done = 1u;
            break;
        }
        if (_e7.old_value != expected) {
            break;
        }
    }
    let _e12 = done;
    return _e12;
}

fn push_front(node: u32) {
    let _e4 = atomicAdd((&control.front_tail), 1u);
    let front_capacity = params.front_capacity;
    if (_e4 < front_capacity) {
        let front_items_at = params.front_items_at;
        let front_side = control.front_side;
        plain[(front_items_at + (_e4 + ((1u - front_side) * front_capacity)))] = node;
    }
}

fn relax(item_1: u32, dst: u32) {
    let round_ = params.round;
    let dist_len = params.dist_len;
    if (dst >= dist_len) {
        fault(OUT_OF_BOUNDS, item_1, LINE_37_WORD_1_PC, dst, dist_len);
        return;
    }
    let dist_at = params.dist_at;
    let _e17 = compare_exchange((dist_at + dst), 4294967295u, (round_ + 1u));
    if (_e17 != 0u) {
        let nodes = params.nodes;
        if (dst >= nodes) {
            fault(OUT_OF_BOUNDS, item_1, LINE_38_WORD_3_PC, dst, nodes);
            return;
        }
        push_front(dst);
    }
    return;
}

@compute @workgroup_size(64, 1, 1) 
fn relax_sweep(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    var next: u32;
    var edge: u32;
    var other: u32;

    let front_len = control.front_len;
    next = (0u + id.x);
    loop {
        let at_1 = next;
        if (at_1 >= front_len) {
            break;
        }
        let front_items_at_1 = params.front_items_at;
        let front_side_1 = control.front_side;
        let front_capacity_1 = params.front_capacity;
        let node_1 = plain[(front_items_at_1 + (at_1 + (front_side_1 * front_capacity_1)))];
        let graph_offsets_at = params.graph_offsets_at;
        let _e35 = fixed[(graph_offsets_at + node_1)];
        let _e40 = fixed[((graph_offsets_at + node_1) + 1u)];
        edge = _e35;
        loop {
            let this_edge = edge;
            if (this_edge >= _e40) {
                break;
            }
            let graph_targets_at = params.graph_targets_at;
            let _e48 = fixed[(graph_targets_at + this_edge)];
            relax(this_edge, _e48);
            edge = (this_edge + 1u);
        }
        let _e50 = (at_1 + (groups.x * 64u));
        if (_e50 < at_1) {
            break;
        }
        next = _e50;
    }
    let _e54 = (lane * 5u);
    let _e56 = fault_kind;
    shared_records[_e54] = _e56;
    let _e59 = fault_item;
    shared_records[(_e54 + 1u)] = _e59;
    let _e63 = fault_pc;
    shared_records[(_e54 + 2u)] = _e63;
    let _e68 = fault_index;
    shared_records[(_e54 + 3u)] = _e68;
    let _e73 = fault_len;
    shared_records[(_e54 + 4u)] = _e73;
    workgroupBarrier();
    if (lane == 0u) {
        other = 1u;
        loop {
            let this_other = other;
            if (this_other >= 64u) {
                break;
            }
            let _e81 = (this_other * 5u);
            let _e83 = shared_records[_e81];
            let _e86 = shared_records[(_e81 + 1u)];
            let _e89 = shared_records[(_e81 + 2u)];
            let _e92 = shared_records[(_e81 + 3u)];
            let _e95 = shared_records[(_e81 + 4u)];
            if (_e83 != 0u) {
                fault(_e83, _e86, _e89, _e92, _e95);
            }
            other = (this_other + 1u);
        }
        let _e98 = (group.x * 5u);
        let _e99 = fault_kind;
        control.records[_e98] = _e99;
        let _e102 = fault_item;
        control.records[(_e98 + 1u)] = _e102;
        let _e106 = fault_pc;
        control.records[(_e98 + 2u)] = _e106;
        let _e110 = fault_index;
        control.records[(_e98 + 3u)] = _e110;
        let _e114 = fault_len;
        control.records[(_e98 + 4u)] = _e114;
    }
}
