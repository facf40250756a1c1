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

struct Shared {
    words: array<u32, 1297>,
    staged_front: array<u32, 1026>,
    staged_len_front: atomic<u32>,
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
var<workgroup> shared_: Shared;
@group(0) @binding(4) 
var<storage, read_write> control: Control;
@group(0) @binding(2) 
var<storage, read_write> plain: array<u32>;
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
    let _e7 = atomicLoad((&cells[at]));
    if (_e7 != expected) {
        return 0u;
    }
    loop {
        let _e9 = atomicCompareExchangeWeak((&cells[at]), expected, value);
        if _e9.exchanged {
            done = 1u;
            break;
        }
        if (_e9.old_value != expected) {
            break;
        }
    }
    let _e14 = done;
    return _e14;
}

fn push_front(node: u32) {
    let _e5 = atomicAdd((&shared_.staged_len_front), 1u);
    if (_e5 < 1024u) {
        shared_.staged_front[_e5] = node;
        return;
    }
    let _e11 = atomicAdd((&control.front_tail), 1u);
    let front_capacity = params.front_capacity;
    if (_e11 < front_capacity) {
        let front_items_at = params.front_items_at;
        let front_side = control.front_side;
        plain[(front_items_at + (_e11 + ((1u - front_side) * front_capacity)))] = node;
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

@compute @workgroup_size(256, 1, 1) 
fn relax_sweep(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    var degree: u32;
    var begin: u32;
    var row: u32;
    var sum: u32;
    var tile: u32;
    var next: u32;
    var owner: u32;
    var placed: u32;
    var other: u32;

    if (lane == 0u) {
        atomicStore((&shared_.staged_len_front), 0u);
    }
    workgroupBarrier();
    let front_len = control.front_len;
    let graph_edges = params.graph_edges;
    let _e21 = max((groups.x / max(front_len, 1u)), 1u);
    let _e22 = (groups.x / _e21);
    let _e31 = ((front_len / _e22) + select(0u, 1u, ((front_len % _e22) != 0u)));
    let _e32 = min(256u, (4294967295u / max(graph_edges, 1u)));
    let _e33 = (group.x / _e21);
    row = select(0u, 4294967295u, (_e33 >= _e22));
    loop {
        let _e40 = row;
        if (lane == 0u) {
            shared_.words[16] = select(0u, min((_e31 - _e40), _e32), (_e40 < _e31));
        }
        let _e49 = workgroupUniformLoad((&shared_.words[16]));
        if (_e49 == 0u) {
            break;
        }
        degree = 0u;
        begin = 0u;
        let _e51 = (_e40 + lane);
        let _e56 = ((((_e51 * 2654435761u) >> 16u) + _e33) % _e22);
        let _e57 = (_e51 * _e22);
        if ((lane < _e32) && ((_e51 < _e31) && (_e56 < (front_len - _e57)))) {
            let front_items_at_1 = params.front_items_at;
            let front_side_1 = control.front_side;
            let front_capacity_1 = params.front_capacity;
            let _e77 = plain[(front_items_at_1 + ((0u + (_e57 + _e56)) + (front_side_1 * front_capacity_1)))];
            let graph_offsets_at = params.graph_offsets_at;
            let _e83 = fixed[(graph_offsets_at + _e77)];
            let _e87 = fixed[((graph_offsets_at + _e77) + 1u)];
            begin = _e83;
            degree = (_e87 - _e83);
            shared_.words[(lane + 785u)] = _e77;
        }
        let _e93 = degree;
        sum = _e93;
        if (_e49 > 1u) {
            let _e96 = sum;
            shared_.words[(lane + 17u)] = _e96;
            workgroupBarrier();
            if (lane >= 1u) {
                let _e106 = shared_.words[((lane - 1u) + 17u)];
                let _e107 = sum;
                sum = (_e107 + _e106);
            }
            let _e109 = sum;
            shared_.words[(lane + 273u)] = _e109;
            workgroupBarrier();
            if (lane >= 2u) {
                let _e120 = shared_.words[((lane - 2u) + 273u)];
                let _e121 = sum;
                sum = (_e121 + _e120);
            }
        }
        if (_e49 > 4u) {
            let _e125 = sum;
            shared_.words[(lane + 17u)] = _e125;
            workgroupBarrier();
            if (lane >= 4u) {
                let _e134 = shared_.words[((lane - 4u) + 17u)];
                let _e135 = sum;
                sum = (_e135 + _e134);
            }
            let _e137 = sum;
            shared_.words[(lane + 273u)] = _e137;
            workgroupBarrier();
            if (lane >= 8u) {
                let _e147 = shared_.words[((lane - 8u) + 273u)];
                let _e148 = sum;
                sum = (_e148 + _e147);
            }
        }
        if (_e49 > 16u) {
            let _e151 = sum;
            shared_.words[(lane + 17u)] = _e151;
            workgroupBarrier();
            if (lane >= 16u) {
                let _e160 = shared_.words[((lane - 16u) + 17u)];
                let _e161 = sum;
                sum = (_e161 + _e160);
            }
            let _e163 = sum;
            shared_.words[(lane + 273u)] = _e163;
            workgroupBarrier();
            if (lane >= 32u) {
                let _e173 = shared_.words[((lane - 32u) + 273u)];
                let _e174 = sum;
                sum = (_e174 + _e173);
            }
        }
        if (_e49 > 64u) {
            let _e178 = sum;
            shared_.words[(lane + 17u)] = _e178;
            workgroupBarrier();
            if (lane >= 64u) {
                let _e187 = shared_.words[((lane - 64u) + 17u)];
                let _e188 = sum;
                sum = (_e188 + _e187);
            }
            let _e190 = sum;
            shared_.words[(lane + 273u)] = _e190;
            workgroupBarrier();
            if (lane >= 128u) {
                let _e200 = shared_.words[((lane - 128u) + 273u)];
                let _e201 = sum;
                sum = (_e201 + _e200);
            }
        }
        let _e203 = sum;
        shared_.words[(lane + 17u)] = _e203;
        let _e207 = begin;
        shared_.words[(lane + 529u)] = (_e207 - (_e203 - _e93));
        let _e218 = workgroupUniformLoad((&shared_.words[((_e49 - 1u) + 17u)]));
        tile = ((group.x % _e21) * 1024u);
        loop {
            if (lane == 0u) {
                let _e226 = tile;
                shared_.words[16] = _e226;
            }
            let _e227 = workgroupUniformLoad((&shared_.words[16]));
            if (_e227 >= _e218) {
                break;
            }
            next = (_e227 + lane);
            loop {
                let _e234 = next;
                if (_e234 >= (_e227 + min((_e218 - _e227), 1024u))) {
                    break;
                }
                owner = 0u;
                if (_e49 > 128u) {
                    let _e238 = owner;
                    let _e244 = shared_.words[((_e238 + 127u) + 17u)];
                    owner = select(_e238, (_e238 + 128u), (_e244 <= _e234));
                }
                if (_e49 > 64u) {
                    let _e249 = owner;
                    let _e255 = shared_.words[((_e249 + 63u) + 17u)];
                    owner = select(_e249, (_e249 + 64u), (_e255 <= _e234));
                }
                if (_e49 > 32u) {
                    let _e260 = owner;
                    let _e266 = shared_.words[((_e260 + 31u) + 17u)];
                    owner = select(_e260, (_e260 + 32u), (_e266 <= _e234));
                }
                if (_e49 > 16u) {
                    let _e271 = owner;
                    let _e277 = shared_.words[((_e271 + 15u) + 17u)];
                    owner = select(_e271, (_e271 + 16u), (_e277 <= _e234));
                }
                if (_e49 > 8u) {
                    let _e282 = owner;
                    let _e288 = shared_.words[((_e282 + 7u) + 17u)];
                    owner = select(_e282, (_e282 + 8u), (_e288 <= _e234));
                }
                if (_e49 > 4u) {
                    let _e293 = owner;
                    let _e299 = shared_.words[((_e293 + 3u) + 17u)];
                    owner = select(_e293, (_e293 + 4u), (_e299 <= _e234));
                }
                if (_e49 > 2u) {
                    let _e304 = owner;
                    let _e309 = shared_.words[((_e304 + 1u) + 17u)];
                    owner = select(_e304, (_e304 + 2u), (_e309 <= _e234));
                }
                if (_e49 > 1u) {
                    let _e314 = owner;
                    let _e318 = shared_.words[(_e314 + 17u)];
                    owner = select(_e314, (_e314 + 1u), (_e318 <= _e234));
                }
                let _e322 = owner;
                let _e326 = shared_.words[(_e322 + 529u)];
                let this_node = shared_.words[(_e322 + 785u)];
                let this_edge = (_e234 + _e326);
                let graph_targets_at = params.graph_targets_at;
                let _e336 = fixed[(graph_targets_at + this_edge)];
                relax(this_edge, _e336);
                let _e337 = (_e234 + 256u);
                if (_e337 < _e234) {
                    break;
                }
                next = _e337;
            }
            workgroupBarrier();
            if (lane == 0u) {
                let _e342 = atomicLoad((&shared_.staged_len_front));
                let _e343 = min(_e342, 1024u);
                shared_.staged_front[1024] = _e343;
                if (_e343 != 0u) {
                    let _e347 = atomicAdd((&control.front_tail), _e343);
                    shared_.staged_front[1025] = _e347;
                }
                atomicStore((&shared_.staged_len_front), 0u);
            }
            workgroupBarrier();
            let _e354 = shared_.staged_front[1024];
            placed = lane;
            loop {
                let _e356 = placed;
                if (_e356 >= _e354) {
                    break;
                }
                let _e359 = shared_.staged_front[1025];
                let _e360 = (_e359 + _e356);
                let _e362 = shared_.staged_front[_e356];
                let front_capacity_2 = params.front_capacity;
                if (_e360 < front_capacity_2) {
                    let front_items_at_2 = params.front_items_at;
                    let front_side_2 = control.front_side;
                    plain[(front_items_at_2 + (_e360 + ((1u - front_side_2) * front_capacity_2)))] = _e362;
                }
                placed = (_e356 + 256u);
            }
            let _e376 = (_e227 + (_e21 * 1024u));
            tile = select(_e376, 4294967295u, (_e376 < _e227));
        }
        let _e379 = (_e40 + _e32);
        row = select(_e379, 4294967295u, (_e379 < _e40));
    }
    let _e383 = (lane * 5u);
    let _e385 = fault_kind;
    shared_.words[(_e383 + 17u)] = _e385;
    if (_e385 != 0u) {
        let _e391 = fault_item;
        shared_.words[(_e383 + 18u)] = _e391;
        let _e397 = fault_pc;
        shared_.words[(_e383 + 19u)] = _e397;
        let _e403 = fault_index;
        shared_.words[(_e383 + 20u)] = _e403;
        let _e409 = fault_len;
        shared_.words[(_e383 + 21u)] = _e409;
    }
    workgroupBarrier();
    if (lane < 16u) {
        let _e420 = shared_.words[(((lane + 0u) * 5u) + 17u)];
        let _e426 = shared_.words[(((lane + 16u) * 5u) + 17u)];
        let _e432 = shared_.words[(((lane + 32u) * 5u) + 17u)];
        let _e439 = shared_.words[(((lane + 48u) * 5u) + 17u)];
        let _e445 = shared_.words[(((lane + 64u) * 5u) + 17u)];
        let _e452 = shared_.words[(((lane + 80u) * 5u) + 17u)];
        let _e459 = shared_.words[(((lane + 96u) * 5u) + 17u)];
        let _e466 = shared_.words[(((lane + 112u) * 5u) + 17u)];
        let _e472 = shared_.words[(((lane + 128u) * 5u) + 17u)];
        let _e479 = shared_.words[(((lane + 144u) * 5u) + 17u)];
        let _e486 = shared_.words[(((lane + 160u) * 5u) + 17u)];
        let _e493 = shared_.words[(((lane + 176u) * 5u) + 17u)];
        let _e500 = shared_.words[(((lane + 192u) * 5u) + 17u)];
        let _e507 = shared_.words[(((lane + 208u) * 5u) + 17u)];
        let _e514 = shared_.words[(((lane + 224u) * 5u) + 17u)];
        let _e521 = shared_.words[(((lane + 240u) * 5u) + 17u)];
        shared_.words[lane] = (((((((((((((((_e420 | _e426) | _e432) | _e439) | _e445) | _e452) | _e459) | _e466) | _e472) | _e479) | _e486) | _e493) | _e500) | _e507) | _e514) | _e521);
    }
    workgroupBarrier();
    if (lane == 0u) {
        let _e542 = shared_.words[0];
        let _e545 = shared_.words[1];
        let _e548 = shared_.words[2];
        let _e551 = shared_.words[3];
        let _e554 = shared_.words[4];
        let _e557 = shared_.words[5];
        let _e561 = shared_.words[6];
        let _e564 = shared_.words[7];
        let _e567 = shared_.words[8];
        let _e571 = shared_.words[9];
        let _e575 = shared_.words[10];
        let _e579 = shared_.words[11];
        let _e583 = shared_.words[12];
        let _e587 = shared_.words[13];
        let _e591 = shared_.words[14];
        let _e594 = shared_.words[15];
        if ((((((((((((((((_e542 | _e545) | _e548) | _e551) | _e554) | _e557) | _e561) | _e564) | _e567) | _e571) | _e575) | _e579) | _e583) | _e587) | _e591) | _e594) != 0u) {
            other = 1u;
            loop {
                let this_other = other;
                if (this_other >= 256u) {
                    break;
                }
                let _e614 = (this_other * 5u);
                let _e618 = shared_.words[(_e614 + 17u)];
                if (_e618 != 0u) {
                    let _e623 = shared_.words[(_e614 + 18u)];
                    let _e627 = shared_.words[(_e614 + 19u)];
                    let _e631 = shared_.words[(_e614 + 20u)];
                    let _e635 = shared_.words[(_e614 + 21u)];
                    fault(_e618, _e623, _e627, _e631, _e635);
                }
                other = (this_other + 1u);
            }
            let _e638 = atomicAdd((&control.faulted), 1u);
            let _e639 = (_e638 * 5u);
            let _e640 = fault_kind;
            control.records[(_e639 + 0u)] = _e640;
            let _e644 = fault_item;
            control.records[(_e639 + 1u)] = _e644;
            let _e648 = fault_pc;
            control.records[(_e639 + 2u)] = _e648;
            let _e652 = fault_index;
            control.records[(_e639 + 3u)] = _e652;
            let _e656 = fault_len;
            control.records[(_e639 + 4u)] = _e656;
        }
    }
}
