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
var<workgroup> staged_len_front: atomic<u32>;
var<workgroup> staged_front: array<u32, 1026>;
@group(0) @binding(4) 
var<storage, read_write> control: Control;
@group(0) @binding(2) 
var<storage, read_write> plain: array<u32>;
var<workgroup> shared_words: array<u32, 1297>;
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
    let _e3 = atomicAdd((&staged_len_front), 1u);
    if (_e3 < 1024u) {
        staged_front[_e3] = node;
        return;
    }
    let _e10 = atomicAdd((&control.front_tail), 1u);
    let front_capacity = params.front_capacity;
    if (_e10 < front_capacity) {
        let front_items_at = params.front_items_at;
        let front_side = control.front_side;
        plain[(front_items_at + (_e10 + ((1u - front_side) * front_capacity)))] = node;
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
        atomicStore((&staged_len_front), 0u);
    }
    workgroupBarrier();
    let front_len = control.front_len;
    let graph_edges = params.graph_edges;
    let _e19 = max((groups.x / max(front_len, 1u)), 1u);
    let _e20 = (groups.x / _e19);
    let _e29 = ((front_len / _e20) + select(0u, 1u, ((front_len % _e20) != 0u)));
    let _e30 = min(256u, (4294967295u / max(graph_edges, 1u)));
    let _e31 = (group.x / _e19);
    row = select(0u, 4294967295u, (_e31 >= _e20));
    loop {
        let _e38 = row;
        if (lane == 0u) {
            shared_words[16] = select(0u, min((_e29 - _e38), _e30), (_e38 < _e29));
        }
        let _e47 = workgroupUniformLoad((&shared_words[16]));
        if (_e47 == 0u) {
            break;
        }
        degree = 0u;
        begin = 0u;
        let _e49 = (_e38 + lane);
        let _e54 = ((((_e49 * 2654435761u) >> 16u) + _e31) % _e20);
        let _e55 = (_e49 * _e20);
        if ((lane < _e30) && ((_e49 < _e29) && (_e54 < (front_len - _e55)))) {
            let front_items_at_1 = params.front_items_at;
            let front_side_1 = control.front_side;
            let front_capacity_1 = params.front_capacity;
            let _e75 = plain[(front_items_at_1 + ((0u + (_e55 + _e54)) + (front_side_1 * front_capacity_1)))];
            let graph_offsets_at = params.graph_offsets_at;
            let _e81 = fixed[(graph_offsets_at + _e75)];
            let _e85 = fixed[((graph_offsets_at + _e75) + 1u)];
            begin = _e81;
            degree = (_e85 - _e81);
            shared_words[(lane + 785u)] = _e75;
        }
        let _e90 = degree;
        sum = _e90;
        if (_e47 > 1u) {
            let _e93 = sum;
            shared_words[(lane + 17u)] = _e93;
            workgroupBarrier();
            if (lane >= 1u) {
                let _e101 = shared_words[((lane - 1u) + 17u)];
                let _e102 = sum;
                sum = (_e102 + _e101);
            }
            let _e104 = sum;
            shared_words[(lane + 273u)] = _e104;
            workgroupBarrier();
            if (lane >= 2u) {
                let _e113 = shared_words[((lane - 2u) + 273u)];
                let _e114 = sum;
                sum = (_e114 + _e113);
            }
        }
        if (_e47 > 4u) {
            let _e118 = sum;
            shared_words[(lane + 17u)] = _e118;
            workgroupBarrier();
            if (lane >= 4u) {
                let _e125 = shared_words[((lane - 4u) + 17u)];
                let _e126 = sum;
                sum = (_e126 + _e125);
            }
            let _e128 = sum;
            shared_words[(lane + 273u)] = _e128;
            workgroupBarrier();
            if (lane >= 8u) {
                let _e136 = shared_words[((lane - 8u) + 273u)];
                let _e137 = sum;
                sum = (_e137 + _e136);
            }
        }
        if (_e47 > 16u) {
            let _e140 = sum;
            shared_words[(lane + 17u)] = _e140;
            workgroupBarrier();
            if (lane >= 16u) {
                let _e147 = shared_words[((lane - 16u) + 17u)];
                let _e148 = sum;
                sum = (_e148 + _e147);
            }
            let _e150 = sum;
            shared_words[(lane + 273u)] = _e150;
            workgroupBarrier();
            if (lane >= 32u) {
                let _e158 = shared_words[((lane - 32u) + 273u)];
                let _e159 = sum;
                sum = (_e159 + _e158);
            }
        }
        if (_e47 > 64u) {
            let _e163 = sum;
            shared_words[(lane + 17u)] = _e163;
            workgroupBarrier();
            if (lane >= 64u) {
                let _e170 = shared_words[((lane - 64u) + 17u)];
                let _e171 = sum;
                sum = (_e171 + _e170);
            }
            let _e173 = sum;
            shared_words[(lane + 273u)] = _e173;
            workgroupBarrier();
            if (lane >= 128u) {
                let _e181 = shared_words[((lane - 128u) + 273u)];
                let _e182 = sum;
                sum = (_e182 + _e181);
            }
        }
        let _e184 = sum;
        shared_words[(lane + 17u)] = _e184;
        let _e187 = begin;
        shared_words[(lane + 529u)] = (_e187 - (_e184 - _e90));
        let _e196 = workgroupUniformLoad((&shared_words[((_e47 - 1u) + 17u)]));
        tile = ((group.x % _e19) * 1024u);
        loop {
            if (lane == 0u) {
                let _e203 = tile;
                shared_words[16] = _e203;
            }
            let _e204 = workgroupUniformLoad((&shared_words[16]));
            if (_e204 >= _e196) {
                break;
            }
            next = (_e204 + lane);
            loop {
                let _e211 = next;
                if (_e211 >= (_e204 + min((_e196 - _e204), 1024u))) {
                    break;
                }
                owner = 0u;
                if (_e47 > 128u) {
                    let _e215 = owner;
                    let _e220 = shared_words[((_e215 + 127u) + 17u)];
                    owner = select(_e215, (_e215 + 128u), (_e220 <= _e211));
                }
                if (_e47 > 64u) {
                    let _e225 = owner;
                    let _e230 = shared_words[((_e225 + 63u) + 17u)];
                    owner = select(_e225, (_e225 + 64u), (_e230 <= _e211));
                }
                if (_e47 > 32u) {
                    let _e235 = owner;
                    let _e240 = shared_words[((_e235 + 31u) + 17u)];
                    owner = select(_e235, (_e235 + 32u), (_e240 <= _e211));
                }
                if (_e47 > 16u) {
                    let _e245 = owner;
                    let _e250 = shared_words[((_e245 + 15u) + 17u)];
                    owner = select(_e245, (_e245 + 16u), (_e250 <= _e211));
                }
                if (_e47 > 8u) {
                    let _e255 = owner;
                    let _e260 = shared_words[((_e255 + 7u) + 17u)];
                    owner = select(_e255, (_e255 + 8u), (_e260 <= _e211));
                }
                if (_e47 > 4u) {
                    let _e265 = owner;
                    let _e270 = shared_words[((_e265 + 3u) + 17u)];
                    owner = select(_e265, (_e265 + 4u), (_e270 <= _e211));
                }
                if (_e47 > 2u) {
                    let _e275 = owner;
                    let _e279 = shared_words[((_e275 + 1u) + 17u)];
                    owner = select(_e275, (_e275 + 2u), (_e279 <= _e211));
                }
                if (_e47 > 1u) {
                    let _e284 = owner;
                    let _e287 = shared_words[(_e284 + 17u)];
                    owner = select(_e284, (_e284 + 1u), (_e287 <= _e211));
                }
                let _e291 = owner;
                let _e294 = shared_words[(_e291 + 529u)];
                let this_node = shared_words[(_e291 + 785u)];
                let this_edge = (_e211 + _e294);
                let graph_targets_at = params.graph_targets_at;
                let _e303 = fixed[(graph_targets_at + this_edge)];
                relax(this_edge, _e303);
                let _e304 = (_e211 + 256u);
                if (_e304 < _e211) {
                    break;
                }
                next = _e304;
            }
            workgroupBarrier();
            if (lane == 0u) {
                let _e307 = atomicLoad((&staged_len_front));
                let _e308 = min(_e307, 1024u);
                staged_front[1024] = _e308;
                if (_e308 != 0u) {
                    let _e313 = atomicAdd((&control.front_tail), _e308);
                    staged_front[1025] = _e313;
                }
                atomicStore((&staged_len_front), 0u);
            }
            workgroupBarrier();
            let _e317 = staged_front[1024];
            placed = lane;
            loop {
                let _e319 = placed;
                if (_e319 >= _e317) {
                    break;
                }
                let _e322 = staged_front[1025];
                let _e323 = (_e322 + _e319);
                let _e325 = staged_front[_e319];
                let front_capacity_2 = params.front_capacity;
                if (_e323 < front_capacity_2) {
                    let front_items_at_2 = params.front_items_at;
                    let front_side_2 = control.front_side;
                    plain[(front_items_at_2 + (_e323 + ((1u - front_side_2) * front_capacity_2)))] = _e325;
                }
                placed = (_e319 + 256u);
            }
            let _e339 = (_e204 + (_e19 * 1024u));
            tile = select(_e339, 4294967295u, (_e339 < _e204));
        }
        let _e342 = (_e38 + _e30);
        row = select(_e342, 4294967295u, (_e342 < _e38));
    }
    let _e346 = (lane * 5u);
    let _e348 = fault_kind;
    shared_words[(_e346 + 17u)] = _e348;
    if (_e348 != 0u) {
        let _e353 = fault_item;
        shared_words[(_e346 + 18u)] = _e353;
        let _e358 = fault_pc;
        shared_words[(_e346 + 19u)] = _e358;
        let _e363 = fault_index;
        shared_words[(_e346 + 20u)] = _e363;
        let _e368 = fault_len;
        shared_words[(_e346 + 21u)] = _e368;
    }
    workgroupBarrier();
    if (lane < 16u) {
        let _e377 = shared_words[(((lane + 0u) * 5u) + 17u)];
        let _e382 = shared_words[(((lane + 16u) * 5u) + 17u)];
        let _e387 = shared_words[(((lane + 32u) * 5u) + 17u)];
        let _e393 = shared_words[(((lane + 48u) * 5u) + 17u)];
        let _e398 = shared_words[(((lane + 64u) * 5u) + 17u)];
        let _e404 = shared_words[(((lane + 80u) * 5u) + 17u)];
        let _e410 = shared_words[(((lane + 96u) * 5u) + 17u)];
        let _e416 = shared_words[(((lane + 112u) * 5u) + 17u)];
        let _e421 = shared_words[(((lane + 128u) * 5u) + 17u)];
        let _e427 = shared_words[(((lane + 144u) * 5u) + 17u)];
        let _e433 = shared_words[(((lane + 160u) * 5u) + 17u)];
        let _e439 = shared_words[(((lane + 176u) * 5u) + 17u)];
        let _e445 = shared_words[(((lane + 192u) * 5u) + 17u)];
        let _e451 = shared_words[(((lane + 208u) * 5u) + 17u)];
        let _e457 = shared_words[(((lane + 224u) * 5u) + 17u)];
        let _e463 = shared_words[(((lane + 240u) * 5u) + 17u)];
        shared_words[lane] = (((((((((((((((_e377 | _e382) | _e387) | _e393) | _e398) | _e404) | _e410) | _e416) | _e421) | _e427) | _e433) | _e439) | _e445) | _e451) | _e457) | _e463);
    }
    workgroupBarrier();
    if (lane == 0u) {
        let _e482 = shared_words[0];
        let _e484 = shared_words[1];
        let _e486 = shared_words[2];
        let _e488 = shared_words[3];
        let _e490 = shared_words[4];
        let _e492 = shared_words[5];
        let _e495 = shared_words[6];
        let _e497 = shared_words[7];
        let _e499 = shared_words[8];
        let _e502 = shared_words[9];
        let _e505 = shared_words[10];
        let _e508 = shared_words[11];
        let _e511 = shared_words[12];
        let _e514 = shared_words[13];
        let _e517 = shared_words[14];
        let _e519 = shared_words[15];
        if ((((((((((((((((_e482 | _e484) | _e486) | _e488) | _e490) | _e492) | _e495) | _e497) | _e499) | _e502) | _e505) | _e508) | _e511) | _e514) | _e517) | _e519) != 0u) {
            other = 1u;
            loop {
                let this_other = other;
                if (this_other >= 256u) {
                    break;
                }
                let _e539 = (this_other * 5u);
                let _e542 = shared_words[(_e539 + 17u)];
                if (_e542 != 0u) {
                    let _e546 = shared_words[(_e539 + 18u)];
                    let _e549 = shared_words[(_e539 + 19u)];
                    let _e552 = shared_words[(_e539 + 20u)];
                    let _e555 = shared_words[(_e539 + 21u)];
                    fault(_e542, _e546, _e549, _e552, _e555);
                }
                other = (this_other + 1u);
            }
            let _e558 = atomicAdd((&control.faulted), 1u);
            let _e559 = (_e558 * 5u);
            let _e560 = fault_kind;
            control.records[(_e559 + 0u)] = _e560;
            let _e564 = fault_item;
            control.records[(_e559 + 1u)] = _e564;
            let _e568 = fault_pc;
            control.records[(_e559 + 2u)] = _e568;
            let _e572 = fault_index;
            control.records[(_e559 + 3u)] = _e572;
            let _e576 = fault_len;
            control.records[(_e559 + 4u)] = _e576;
        }
    }
}
