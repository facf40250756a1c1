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
    var of_block: u32;
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
    let _e30 = select(0u, 0u, ((front_len / _e22) >= 8u));
    let _e31 = (_e22 << _e30);
    let _e37 = (((front_len / _e31) + select(0u, 1u, ((front_len % _e31) != 0u))) << _e30);
    let _e38 = min(256u, (4294967295u / max(graph_edges, 1u)));
    let _e39 = (group.x / _e21);
    of_block = select(0u, 4294967295u, (_e39 >= _e22));
    loop {
        let _e46 = of_block;
        if (lane == 0u) {
            shared_.words[16] = select(0u, min((_e37 - _e46), _e38), (_e46 < _e37));
        }
        let _e55 = workgroupUniformLoad((&shared_.words[16]));
        if (_e55 == 0u) {
            break;
        }
        degree = 0u;
        begin = 0u;
        let _e57 = (_e46 + lane);
        let _e58 = (_e57 >> _e30);
        let _e60 = (_e57 - (_e58 << _e30));
        let _e67 = ((_e58 * _e22) + ((((_e58 * 2654435761u) >> 16u) + _e39) % _e22));
        let _e68 = (_e67 << _e30);
        if ((((_e67 <= (front_len >> _e30)) && (_e60 < (front_len - _e68))) && (_e57 < _e37)) && (lane < _e38)) {
            let front_items_at_1 = params.front_items_at;
            let front_side_1 = control.front_side;
            let front_capacity_1 = params.front_capacity;
            let _e91 = plain[(front_items_at_1 + ((0u + (_e68 + _e60)) + (front_side_1 * front_capacity_1)))];
            let graph_offsets_at = params.graph_offsets_at;
            let _e97 = fixed[(graph_offsets_at + _e91)];
            let _e101 = fixed[((graph_offsets_at + _e91) + 1u)];
            begin = _e97;
            degree = (_e101 - _e97);
            shared_.words[(lane + 785u)] = _e91;
        }
        let _e107 = degree;
        let _e108 = begin;
        sum = _e107;
        if (_e55 > 1u) {
            let _e111 = sum;
            shared_.words[(lane + 17u)] = _e111;
            workgroupBarrier();
            if (lane >= 1u) {
                let _e121 = shared_.words[((lane - 1u) + 17u)];
                let _e122 = sum;
                sum = (_e122 + _e121);
            }
            let _e124 = sum;
            shared_.words[(lane + 273u)] = _e124;
            workgroupBarrier();
            if (lane >= 2u) {
                let _e135 = shared_.words[((lane - 2u) + 273u)];
                let _e136 = sum;
                sum = (_e136 + _e135);
            }
        }
        if (_e55 > 4u) {
            let _e140 = sum;
            shared_.words[(lane + 17u)] = _e140;
            workgroupBarrier();
            if (lane >= 4u) {
                let _e149 = shared_.words[((lane - 4u) + 17u)];
                let _e150 = sum;
                sum = (_e150 + _e149);
            }
            let _e152 = sum;
            shared_.words[(lane + 273u)] = _e152;
            workgroupBarrier();
            if (lane >= 8u) {
                let _e161 = shared_.words[((lane - 8u) + 273u)];
                let _e162 = sum;
                sum = (_e162 + _e161);
            }
        }
        if (_e55 > 16u) {
            let _e165 = sum;
            shared_.words[(lane + 17u)] = _e165;
            workgroupBarrier();
            if (lane >= 16u) {
                let _e174 = shared_.words[((lane - 16u) + 17u)];
                let _e175 = sum;
                sum = (_e175 + _e174);
            }
            let _e177 = sum;
            shared_.words[(lane + 273u)] = _e177;
            workgroupBarrier();
            if (lane >= 32u) {
                let _e187 = shared_.words[((lane - 32u) + 273u)];
                let _e188 = sum;
                sum = (_e188 + _e187);
            }
        }
        if (_e55 > 64u) {
            let _e192 = sum;
            shared_.words[(lane + 17u)] = _e192;
            workgroupBarrier();
            if (lane >= 64u) {
                let _e201 = shared_.words[((lane - 64u) + 17u)];
                let _e202 = sum;
                sum = (_e202 + _e201);
            }
            let _e204 = sum;
            shared_.words[(lane + 273u)] = _e204;
            workgroupBarrier();
            if (lane >= 128u) {
                let _e214 = shared_.words[((lane - 128u) + 273u)];
                let _e215 = sum;
                sum = (_e215 + _e214);
            }
        }
        let _e217 = sum;
        shared_.words[(lane + 17u)] = _e217;
        shared_.words[(lane + 529u)] = (_e108 - (_e217 - _e107));
        let _e231 = workgroupUniformLoad((&shared_.words[((_e55 - 1u) + 17u)]));
        tile = ((group.x % _e21) * 1024u);
        loop {
            if (lane == 0u) {
                let _e239 = tile;
                shared_.words[16] = _e239;
            }
            let _e240 = workgroupUniformLoad((&shared_.words[16]));
            if (_e240 >= _e231) {
                break;
            }
            next = (_e240 + lane);
            loop {
                let _e247 = next;
                if (_e247 >= (_e240 + min((_e231 - _e240), 1024u))) {
                    break;
                }
                owner = 0u;
                if (_e55 > 128u) {
                    let _e251 = owner;
                    let _e257 = shared_.words[((_e251 + 127u) + 17u)];
                    owner = select(_e251, (_e251 + 128u), (_e257 <= _e247));
                }
                if (_e55 > 64u) {
                    let _e262 = owner;
                    let _e268 = shared_.words[((_e262 + 63u) + 17u)];
                    owner = select(_e262, (_e262 + 64u), (_e268 <= _e247));
                }
                if (_e55 > 32u) {
                    let _e273 = owner;
                    let _e279 = shared_.words[((_e273 + 31u) + 17u)];
                    owner = select(_e273, (_e273 + 32u), (_e279 <= _e247));
                }
                if (_e55 > 16u) {
                    let _e284 = owner;
                    let _e290 = shared_.words[((_e284 + 15u) + 17u)];
                    owner = select(_e284, (_e284 + 16u), (_e290 <= _e247));
                }
                if (_e55 > 8u) {
                    let _e295 = owner;
                    let _e301 = shared_.words[((_e295 + 7u) + 17u)];
                    owner = select(_e295, (_e295 + 8u), (_e301 <= _e247));
                }
                if (_e55 > 4u) {
                    let _e306 = owner;
                    let _e312 = shared_.words[((_e306 + 3u) + 17u)];
                    owner = select(_e306, (_e306 + 4u), (_e312 <= _e247));
                }
                if (_e55 > 2u) {
                    let _e317 = owner;
                    let _e322 = shared_.words[((_e317 + 1u) + 17u)];
                    owner = select(_e317, (_e317 + 2u), (_e322 <= _e247));
                }
                if (_e55 > 1u) {
                    let _e327 = owner;
                    let _e331 = shared_.words[(_e327 + 17u)];
                    owner = select(_e327, (_e327 + 1u), (_e331 <= _e247));
                }
                let _e335 = owner;
                let _e339 = shared_.words[(_e335 + 529u)];
                let this_node = shared_.words[(_e335 + 785u)];
                let this_edge = (_e247 + _e339);
                let graph_targets_at = params.graph_targets_at;
                let _e349 = fixed[(graph_targets_at + this_edge)];
                relax(this_edge, _e349);
                let _e350 = (_e247 + 256u);
                if (_e350 < _e247) {
                    break;
                }
                next = _e350;
            }
            workgroupBarrier();
            if (lane == 0u) {
                let _e355 = atomicLoad((&shared_.staged_len_front));
                let _e356 = min(_e355, 1024u);
                shared_.staged_front[1024] = _e356;
                if (_e356 != 0u) {
                    let _e360 = atomicAdd((&control.front_tail), _e356);
                    shared_.staged_front[1025] = _e360;
                }
                atomicStore((&shared_.staged_len_front), 0u);
            }
            workgroupBarrier();
            let _e367 = shared_.staged_front[1024];
            placed = lane;
            loop {
                let _e369 = placed;
                if (_e369 >= _e367) {
                    break;
                }
                let _e372 = shared_.staged_front[1025];
                let _e373 = (_e372 + _e369);
                let _e375 = shared_.staged_front[_e369];
                let front_capacity_2 = params.front_capacity;
                if (_e373 < front_capacity_2) {
                    let front_items_at_2 = params.front_items_at;
                    let front_side_2 = control.front_side;
                    plain[(front_items_at_2 + (_e373 + ((1u - front_side_2) * front_capacity_2)))] = _e375;
                }
                placed = (_e369 + 256u);
            }
            let _e389 = (_e240 + (_e21 * 1024u));
            tile = select(_e389, 4294967295u, (_e389 < _e240));
        }
        let _e392 = (_e46 + _e38);
        of_block = select(_e392, 4294967295u, (_e392 < _e46));
    }
    let _e396 = (lane * 5u);
    let _e398 = fault_kind;
    shared_.words[(_e396 + 17u)] = _e398;
    if (_e398 != 0u) {
        let _e404 = fault_item;
        shared_.words[(_e396 + 18u)] = _e404;
        let _e410 = fault_pc;
        shared_.words[(_e396 + 19u)] = _e410;
        let _e416 = fault_index;
        shared_.words[(_e396 + 20u)] = _e416;
        let _e422 = fault_len;
        shared_.words[(_e396 + 21u)] = _e422;
    }
    workgroupBarrier();
    if (lane < 16u) {
        let _e433 = shared_.words[(((lane + 0u) * 5u) + 17u)];
        let _e439 = shared_.words[(((lane + 16u) * 5u) + 17u)];
        let _e445 = shared_.words[(((lane + 32u) * 5u) + 17u)];
        let _e452 = shared_.words[(((lane + 48u) * 5u) + 17u)];
        let _e458 = shared_.words[(((lane + 64u) * 5u) + 17u)];
        let _e465 = shared_.words[(((lane + 80u) * 5u) + 17u)];
        let _e472 = shared_.words[(((lane + 96u) * 5u) + 17u)];
        let _e479 = shared_.words[(((lane + 112u) * 5u) + 17u)];
        let _e485 = shared_.words[(((lane + 128u) * 5u) + 17u)];
        let _e492 = shared_.words[(((lane + 144u) * 5u) + 17u)];
        let _e499 = shared_.words[(((lane + 160u) * 5u) + 17u)];
        let _e506 = shared_.words[(((lane + 176u) * 5u) + 17u)];
        let _e513 = shared_.words[(((lane + 192u) * 5u) + 17u)];
        let _e520 = shared_.words[(((lane + 208u) * 5u) + 17u)];
        let _e527 = shared_.words[(((lane + 224u) * 5u) + 17u)];
        let _e534 = shared_.words[(((lane + 240u) * 5u) + 17u)];
        shared_.words[lane] = (((((((((((((((_e433 | _e439) | _e445) | _e452) | _e458) | _e465) | _e472) | _e479) | _e485) | _e492) | _e499) | _e506) | _e513) | _e520) | _e527) | _e534);
    }
    workgroupBarrier();
    if (lane == 0u) {
        let _e555 = shared_.words[0];
        let _e558 = shared_.words[1];
        let _e561 = shared_.words[2];
        let _e564 = shared_.words[3];
        let _e567 = shared_.words[4];
        let _e570 = shared_.words[5];
        let _e574 = shared_.words[6];
        let _e577 = shared_.words[7];
        let _e580 = shared_.words[8];
        let _e584 = shared_.words[9];
        let _e588 = shared_.words[10];
        let _e592 = shared_.words[11];
        let _e596 = shared_.words[12];
        let _e600 = shared_.words[13];
        let _e604 = shared_.words[14];
        let _e607 = shared_.words[15];
        if ((((((((((((((((_e555 | _e558) | _e561) | _e564) | _e567) | _e570) | _e574) | _e577) | _e580) | _e584) | _e588) | _e592) | _e596) | _e600) | _e604) | _e607) != 0u) {
            other = 1u;
            loop {
                let this_other = other;
                if (this_other >= 256u) {
                    break;
                }
                let _e627 = (this_other * 5u);
                let _e631 = shared_.words[(_e627 + 17u)];
                if (_e631 != 0u) {
                    let _e636 = shared_.words[(_e627 + 18u)];
                    let _e640 = shared_.words[(_e627 + 19u)];
                    let _e644 = shared_.words[(_e627 + 20u)];
                    let _e648 = shared_.words[(_e627 + 21u)];
                    fault(_e631, _e636, _e640, _e644, _e648);
                }
                other = (this_other + 1u);
            }
            let _e651 = atomicAdd((&control.faulted), 1u);
            let _e652 = (_e651 * 5u);
            let _e653 = fault_kind;
            control.records[(_e652 + 0u)] = _e653;
            let _e657 = fault_item;
            control.records[(_e652 + 1u)] = _e657;
            let _e661 = fault_pc;
            control.records[(_e652 + 2u)] = _e661;
            let _e665 = fault_index;
            control.records[(_e652 + 3u)] = _e665;
            let _e669 = fault_len;
            control.records[(_e652 + 4u)] = _e669;
        }
    }
}
