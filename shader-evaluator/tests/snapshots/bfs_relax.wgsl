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
    faulted: atomic<u32>,
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
var<workgroup> shared_words: array<u32, 329>;
@group(0) @binding(1) 
var<storage> fixed: array<u32>;

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
    var degree: u32;
    var begin: u32;
    var block: u32;
    var sum: u32;
    var next: u32;
    var owner: u32;
    var other: u32;

    let front_len = control.front_len;
    let graph_edges = params.graph_edges;
    let _e17 = max((groups.x / max(front_len, 1u)), 1u);
    let _e18 = (groups.x / _e17);
    let _e19 = (group.x / _e17);
    let _e28 = min(min(64u, (4294967295u / max(graph_edges, 1u))), ((front_len / _e18) + 1u));
    block = select(_e19, 4294967295u, (_e19 >= _e18));
    loop {
        if (lane == 0u) {
            let _e39 = block;
            shared_words[8] = select(4294967295u, _e39, (_e39 < front_len));
        }
        let _e42 = workgroupUniformLoad((&shared_words[8]));
        if (_e42 == 4294967295u) {
            break;
        }
        degree = 0u;
        begin = 0u;
        let _e44 = (lane * _e18);
        if ((lane < _e28) && (_e44 < (front_len - _e42))) {
            let front_items_at_1 = params.front_items_at;
            let front_side_1 = control.front_side;
            let front_capacity_1 = params.front_capacity;
            let _e61 = plain[(front_items_at_1 + ((_e42 + _e44) + (front_side_1 * front_capacity_1)))];
            let graph_offsets_at = params.graph_offsets_at;
            let _e67 = fixed[(graph_offsets_at + _e61)];
            let _e71 = fixed[((graph_offsets_at + _e61) + 1u)];
            begin = _e67;
            degree = (_e71 - _e67);
            shared_words[(lane + 201u)] = _e61;
        }
        let _e76 = degree;
        sum = _e76;
        let _e78 = sum;
        shared_words[(lane + 9u)] = _e78;
        workgroupBarrier();
        if (lane >= 1u) {
            let _e86 = shared_words[((lane - 1u) + 9u)];
            let _e87 = sum;
            sum = (_e87 + _e86);
        }
        let _e89 = sum;
        shared_words[(lane + 73u)] = _e89;
        workgroupBarrier();
        if (lane >= 2u) {
            let _e98 = shared_words[((lane - 2u) + 73u)];
            let _e99 = sum;
            sum = (_e99 + _e98);
        }
        let _e101 = sum;
        shared_words[(lane + 9u)] = _e101;
        workgroupBarrier();
        if (lane >= 4u) {
            let _e109 = shared_words[((lane - 4u) + 9u)];
            let _e110 = sum;
            sum = (_e110 + _e109);
        }
        let _e112 = sum;
        shared_words[(lane + 73u)] = _e112;
        workgroupBarrier();
        if (lane >= 8u) {
            let _e119 = shared_words[((lane - 8u) + 73u)];
            let _e120 = sum;
            sum = (_e120 + _e119);
        }
        let _e122 = sum;
        shared_words[(lane + 9u)] = _e122;
        workgroupBarrier();
        if (lane >= 16u) {
            let _e130 = shared_words[((lane - 16u) + 9u)];
            let _e131 = sum;
            sum = (_e131 + _e130);
        }
        let _e133 = sum;
        shared_words[(lane + 73u)] = _e133;
        workgroupBarrier();
        if (lane >= 32u) {
            let _e141 = shared_words[((lane - 32u) + 73u)];
            let _e142 = sum;
            sum = (_e142 + _e141);
        }
        let _e144 = sum;
        shared_words[(lane + 9u)] = _e144;
        let _e147 = begin;
        shared_words[(lane + 137u)] = (_e147 - (_e144 - _e76));
        workgroupBarrier();
        let all_edges = shared_words[72];
        next = (((group.x % _e17) * 64u) + lane);
        loop {
            let _e161 = next;
            if (_e161 >= all_edges) {
                break;
            }
            owner = 0u;
            let _e164 = owner;
            let _e169 = shared_words[((_e164 + 31u) + 9u)];
            owner = select(_e164, (_e164 + 32u), (_e169 <= _e161));
            let _e173 = owner;
            let _e178 = shared_words[((_e173 + 15u) + 9u)];
            owner = select(_e173, (_e173 + 16u), (_e178 <= _e161));
            let _e182 = owner;
            let _e187 = shared_words[((_e182 + 7u) + 9u)];
            owner = select(_e182, (_e182 + 8u), (_e187 <= _e161));
            let _e191 = owner;
            let _e196 = shared_words[((_e191 + 3u) + 9u)];
            owner = select(_e191, (_e191 + 4u), (_e196 <= _e161));
            let _e200 = owner;
            let _e204 = shared_words[((_e200 + 1u) + 9u)];
            owner = select(_e200, (_e200 + 2u), (_e204 <= _e161));
            let _e208 = owner;
            let _e211 = shared_words[(_e208 + 9u)];
            owner = select(_e208, (_e208 + 1u), (_e211 <= _e161));
            let _e215 = owner;
            let _e218 = shared_words[(_e215 + 137u)];
            let this_node = shared_words[(_e215 + 201u)];
            let this_edge = (_e161 + _e218);
            let graph_targets_at = params.graph_targets_at;
            let _e227 = fixed[(graph_targets_at + this_edge)];
            relax(this_edge, _e227);
            let _e228 = (_e161 + (_e17 * 64u));
            if (_e228 < _e161) {
                break;
            }
            next = _e228;
        }
        let _e230 = (_e42 + (_e18 * _e28));
        block = select(_e230, 4294967295u, (_e230 < _e42));
    }
    let _e234 = (lane * 5u);
    let _e236 = fault_kind;
    shared_words[(_e234 + 9u)] = _e236;
    if (_e236 != 0u) {
        let _e241 = fault_item;
        shared_words[(_e234 + 10u)] = _e241;
        let _e246 = fault_pc;
        shared_words[(_e234 + 11u)] = _e246;
        let _e251 = fault_index;
        shared_words[(_e234 + 12u)] = _e251;
        let _e256 = fault_len;
        shared_words[(_e234 + 13u)] = _e256;
    }
    workgroupBarrier();
    if (lane < 8u) {
        let _e265 = shared_words[(((lane + 0u) * 5u) + 9u)];
        let _e270 = shared_words[(((lane + 8u) * 5u) + 9u)];
        let _e275 = shared_words[(((lane + 16u) * 5u) + 9u)];
        let _e281 = shared_words[(((lane + 24u) * 5u) + 9u)];
        let _e286 = shared_words[(((lane + 32u) * 5u) + 9u)];
        let _e292 = shared_words[(((lane + 40u) * 5u) + 9u)];
        let _e298 = shared_words[(((lane + 48u) * 5u) + 9u)];
        let _e304 = shared_words[(((lane + 56u) * 5u) + 9u)];
        shared_words[lane] = (((((((_e265 | _e270) | _e275) | _e281) | _e286) | _e292) | _e298) | _e304);
    }
    workgroupBarrier();
    if (lane == 0u) {
        let _e315 = shared_words[0];
        let _e317 = shared_words[1];
        let _e319 = shared_words[2];
        let _e321 = shared_words[3];
        let _e323 = shared_words[4];
        let _e325 = shared_words[5];
        let _e328 = shared_words[6];
        let _e330 = shared_words[7];
        if ((((((((_e315 | _e317) | _e319) | _e321) | _e323) | _e325) | _e328) | _e330) != 0u) {
            other = 1u;
            loop {
                let this_other = other;
                if (this_other >= 64u) {
                    break;
                }
                let _e342 = (this_other * 5u);
                let _e345 = shared_words[(_e342 + 9u)];
                if (_e345 != 0u) {
                    let _e349 = shared_words[(_e342 + 10u)];
                    let _e352 = shared_words[(_e342 + 11u)];
                    let _e355 = shared_words[(_e342 + 12u)];
                    let _e358 = shared_words[(_e342 + 13u)];
                    fault(_e345, _e349, _e352, _e355, _e358);
                }
                other = (this_other + 1u);
            }
            let _e361 = atomicAdd((&control.faulted), 1u);
            let _e362 = (_e361 * 5u);
            let _e363 = fault_kind;
            control.records[(_e362 + 0u)] = _e363;
            let _e367 = fault_item;
            control.records[(_e362 + 1u)] = _e367;
            let _e371 = fault_pc;
            control.records[(_e362 + 2u)] = _e371;
            let _e375 = fault_index;
            control.records[(_e362 + 3u)] = _e375;
            let _e379 = fault_len;
            control.records[(_e362 + 4u)] = _e379;
        }
    }
}
