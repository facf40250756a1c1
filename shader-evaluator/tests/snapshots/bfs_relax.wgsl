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
var<workgroup> shared_edges: array<u32, 193>;
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

fn push_front(node_1: u32) {
    let _e4 = atomicAdd((&control.front_tail), 1u);
    let front_capacity = params.front_capacity;
    if (_e4 < front_capacity) {
        let front_items_at = params.front_items_at;
        let front_side = control.front_side;
        plain[(front_items_at + (_e4 + ((1u - front_side) * front_capacity)))] = node_1;
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
    var block: u32;
    var degree: u32;
    var begin: u32;
    var node: u32;
    var sum: u32;
    var next: u32;
    var owner: u32;
    var other: u32;

    block = (group.x * 64u);
    loop {
        if (lane == 0u) {
            let front_len = control.front_len;
            let _e22 = block;
            shared_edges[192] = select(4294967295u, _e22, (_e22 < front_len));
        }
        let _e26 = workgroupUniformLoad((&shared_edges[192]));
        if (_e26 == 4294967295u) {
            break;
        }
        let front_len_1 = control.front_len;
        let _e30 = (_e26 + lane);
        degree = 0u;
        begin = 0u;
        node = 0u;
        if (_e30 < front_len_1) {
            let front_items_at_1 = params.front_items_at;
            let front_side_1 = control.front_side;
            let front_capacity_1 = params.front_capacity;
            let _e44 = plain[(front_items_at_1 + (_e30 + (front_side_1 * front_capacity_1)))];
            let graph_offsets_at = params.graph_offsets_at;
            let _e50 = fixed[(graph_offsets_at + _e44)];
            let _e55 = fixed[((graph_offsets_at + _e44) + 1u)];
            node = _e44;
            begin = _e50;
            degree = (_e55 - _e50);
        }
        let _e57 = degree;
        let _e58 = node;
        sum = _e57;
        shared_edges[(lane + 128u)] = _e58;
        let _e63 = sum;
        shared_edges[lane] = _e63;
        workgroupBarrier();
        if (lane >= 1u) {
            let _e68 = shared_edges[(lane - 1u)];
            let _e69 = sum;
            sum = (_e69 + _e68);
        }
        workgroupBarrier();
        let _e71 = sum;
        shared_edges[lane] = _e71;
        workgroupBarrier();
        if (lane >= 2u) {
            let _e77 = shared_edges[(lane - 2u)];
            let _e78 = sum;
            sum = (_e78 + _e77);
        }
        workgroupBarrier();
        let _e80 = sum;
        shared_edges[lane] = _e80;
        workgroupBarrier();
        if (lane >= 4u) {
            let _e86 = shared_edges[(lane - 4u)];
            let _e87 = sum;
            sum = (_e87 + _e86);
        }
        workgroupBarrier();
        let _e89 = sum;
        shared_edges[lane] = _e89;
        workgroupBarrier();
        if (lane >= 8u) {
            let _e95 = shared_edges[(lane - 8u)];
            let _e96 = sum;
            sum = (_e96 + _e95);
        }
        workgroupBarrier();
        let _e98 = sum;
        shared_edges[lane] = _e98;
        workgroupBarrier();
        if (lane >= 16u) {
            let _e104 = shared_edges[(lane - 16u)];
            let _e105 = sum;
            sum = (_e105 + _e104);
        }
        workgroupBarrier();
        let _e107 = sum;
        shared_edges[lane] = _e107;
        workgroupBarrier();
        if (lane >= 32u) {
            let _e113 = shared_edges[(lane - 32u)];
            let _e114 = sum;
            sum = (_e114 + _e113);
        }
        workgroupBarrier();
        let _e116 = sum;
        shared_edges[lane] = _e116;
        let _e118 = begin;
        let _e119 = degree;
        shared_edges[(lane + 64u)] = (_e118 - (_e116 - _e119));
        workgroupBarrier();
        let _e126 = shared_edges[63];
        next = lane;
        loop {
            let _e129 = next;
            if (_e129 >= _e126) {
                break;
            }
            owner = 0u;
            let _e131 = owner;
            let _e135 = shared_edges[(_e131 + 31u)];
            owner = select(_e131, (_e131 + 32u), (_e135 <= _e129));
            let _e139 = owner;
            let _e143 = shared_edges[(_e139 + 15u)];
            owner = select(_e139, (_e139 + 16u), (_e143 <= _e129));
            let _e147 = owner;
            let _e151 = shared_edges[(_e147 + 7u)];
            owner = select(_e147, (_e147 + 8u), (_e151 <= _e129));
            let _e155 = owner;
            let _e159 = shared_edges[(_e155 + 3u)];
            owner = select(_e155, (_e155 + 4u), (_e159 <= _e129));
            let _e163 = owner;
            let _e166 = shared_edges[(_e163 + 1u)];
            owner = select(_e163, (_e163 + 2u), (_e166 <= _e129));
            let _e170 = owner;
            let _e172 = shared_edges[_e170];
            owner = select(_e170, (_e170 + 1u), (_e172 <= _e129));
            let _e176 = owner;
            let _e181 = shared_edges[(_e176 + 64u)];
            let this_node = shared_edges[(_e176 + 128u)];
            let this_edge = (_e129 + _e181);
            let graph_targets_at = params.graph_targets_at;
            let _e188 = fixed[(graph_targets_at + this_edge)];
            relax(this_edge, _e188);
            next = (_e129 + 64u);
        }
        let _e190 = (_e26 + (groups.x * 64u));
        block = select(_e190, 4294967295u, (_e190 < _e26));
    }
    let _e195 = (lane * 5u);
    let _e197 = fault_kind;
    shared_records[_e195] = _e197;
    let _e200 = fault_item;
    shared_records[(_e195 + 1u)] = _e200;
    let _e204 = fault_pc;
    shared_records[(_e195 + 2u)] = _e204;
    let _e208 = fault_index;
    shared_records[(_e195 + 3u)] = _e208;
    let _e212 = fault_len;
    shared_records[(_e195 + 4u)] = _e212;
    workgroupBarrier();
    if (lane == 0u) {
        other = 1u;
        loop {
            let this_other = other;
            if (this_other >= 64u) {
                break;
            }
            let _e219 = (this_other * 5u);
            let _e221 = shared_records[_e219];
            let _e224 = shared_records[(_e219 + 1u)];
            let _e227 = shared_records[(_e219 + 2u)];
            let _e230 = shared_records[(_e219 + 3u)];
            let _e233 = shared_records[(_e219 + 4u)];
            if (_e221 != 0u) {
                fault(_e221, _e224, _e227, _e230, _e233);
            }
            other = (this_other + 1u);
        }
        let _e236 = (group.x * 5u);
        let _e237 = fault_kind;
        control.records[_e236] = _e237;
        let _e240 = fault_item;
        control.records[(_e236 + 1u)] = _e240;
        let _e244 = fault_pc;
        control.records[(_e236 + 2u)] = _e244;
        let _e248 = fault_index;
        control.records[(_e236 + 3u)] = _e248;
        let _e252 = fault_len;
        control.records[(_e236 + 4u)] = _e252;
    }
}
