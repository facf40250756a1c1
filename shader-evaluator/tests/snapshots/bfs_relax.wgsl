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
    graph_degree: u32,
    dist_len: u32,
    front_capacity: u32,
    source: u32,
    graph_offsets_at: u32,
    graph_targets_at: u32,
    dist_at: u32,
    front_items_at: u32,
    front_seen_at: u32,
    pulls: u32,
}

struct Shared {
    words: array<u32, 1297>,
    staged_front: array<u32, 1026>,
    staged_len_front: atomic<u32>,
    edges: atomic<u32>,
    left: atomic<u32>,
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
    front_epoch: u32,
    front_edges: atomic<u32>,
    front_explored: u32,
    graph_lopsided: atomic<u32>,
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
var<private> own_edges: u32 = 0u;

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
    let pulls = params.pulls;
    if (pulls != 0u) {
        let front_epoch = control.front_epoch;
        let front_seen_at = params.front_seen_at;
        atomicStore((&cells[(front_seen_at + node)]), front_epoch);
        let graph_offsets_at = params.graph_offsets_at;
        let _e42 = fixed[(graph_offsets_at + node)];
        let _e46 = fixed[((graph_offsets_at + node) + 1u)];
        let _e49 = own_edges;
        own_edges = (_e49 + (_e46 - _e42));
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
        atomicStore((&shared_.edges), 0u);
        atomicStore((&shared_.left), 0u);
    }
    workgroupBarrier();
    let front_len = control.front_len;
    let graph_degree = params.graph_degree;
    let _e23 = max((groups.x / max(front_len, 1u)), 1u);
    let _e24 = (groups.x / _e23);
    let _e32 = select(0u, 0u, ((front_len / _e24) >= 8u));
    let _e33 = (_e24 << _e32);
    let _e39 = (((front_len / _e33) + select(0u, 1u, ((front_len % _e33) != 0u))) << _e32);
    let _e40 = min(256u, (4294967295u / max(graph_degree, 1u)));
    let _e41 = (group.x / _e23);
    of_block = select(0u, 4294967295u, (_e41 >= _e24));
    loop {
        let _e48 = of_block;
        if (lane == 0u) {
            shared_.words[16] = select(0u, min((_e39 - _e48), _e40), (_e48 < _e39));
        }
        let _e57 = workgroupUniformLoad((&shared_.words[16]));
        if (_e57 == 0u) {
            break;
        }
        degree = 0u;
        begin = 0u;
        let _e59 = (_e48 + lane);
        let _e60 = (_e59 >> _e32);
        let _e62 = (_e59 - (_e60 << _e32));
        let _e69 = ((_e60 * _e24) + ((((_e60 * 2654435761u) >> 16u) + _e41) % _e24));
        let _e70 = (_e69 << _e32);
        if ((((_e69 <= (front_len >> _e32)) && (_e62 < (front_len - _e70))) && (_e59 < _e39)) && (lane < _e40)) {
            let front_items_at_1 = params.front_items_at;
            let front_side_1 = control.front_side;
            let front_capacity_1 = params.front_capacity;
            let _e93 = plain[(front_items_at_1 + ((0u + (_e70 + _e62)) + (front_side_1 * front_capacity_1)))];
            let graph_offsets_at_1 = params.graph_offsets_at;
            let _e99 = fixed[(graph_offsets_at_1 + _e93)];
            let _e103 = fixed[((graph_offsets_at_1 + _e93) + 1u)];
            begin = _e99;
            degree = (_e103 - _e99);
            shared_.words[(lane + 785u)] = _e93;
        }
        let _e109 = degree;
        let _e110 = begin;
        sum = _e109;
        if (_e57 > 1u) {
            let _e113 = sum;
            shared_.words[(lane + 17u)] = _e113;
            workgroupBarrier();
            if (lane >= 1u) {
                let _e123 = shared_.words[((lane - 1u) + 17u)];
                let _e124 = sum;
                sum = (_e124 + _e123);
            }
            let _e126 = sum;
            shared_.words[(lane + 273u)] = _e126;
            workgroupBarrier();
            if (lane >= 2u) {
                let _e137 = shared_.words[((lane - 2u) + 273u)];
                let _e138 = sum;
                sum = (_e138 + _e137);
            }
        }
        if (_e57 > 4u) {
            let _e142 = sum;
            shared_.words[(lane + 17u)] = _e142;
            workgroupBarrier();
            if (lane >= 4u) {
                let _e151 = shared_.words[((lane - 4u) + 17u)];
                let _e152 = sum;
                sum = (_e152 + _e151);
            }
            let _e154 = sum;
            shared_.words[(lane + 273u)] = _e154;
            workgroupBarrier();
            if (lane >= 8u) {
                let _e163 = shared_.words[((lane - 8u) + 273u)];
                let _e164 = sum;
                sum = (_e164 + _e163);
            }
        }
        if (_e57 > 16u) {
            let _e167 = sum;
            shared_.words[(lane + 17u)] = _e167;
            workgroupBarrier();
            if (lane >= 16u) {
                let _e176 = shared_.words[((lane - 16u) + 17u)];
                let _e177 = sum;
                sum = (_e177 + _e176);
            }
            let _e179 = sum;
            shared_.words[(lane + 273u)] = _e179;
            workgroupBarrier();
            if (lane >= 32u) {
                let _e189 = shared_.words[((lane - 32u) + 273u)];
                let _e190 = sum;
                sum = (_e190 + _e189);
            }
        }
        if (_e57 > 64u) {
            let _e194 = sum;
            shared_.words[(lane + 17u)] = _e194;
            workgroupBarrier();
            if (lane >= 64u) {
                let _e203 = shared_.words[((lane - 64u) + 17u)];
                let _e204 = sum;
                sum = (_e204 + _e203);
            }
            let _e206 = sum;
            shared_.words[(lane + 273u)] = _e206;
            workgroupBarrier();
            if (lane >= 128u) {
                let _e216 = shared_.words[((lane - 128u) + 273u)];
                let _e217 = sum;
                sum = (_e217 + _e216);
            }
        }
        let _e219 = sum;
        shared_.words[(lane + 17u)] = _e219;
        shared_.words[(lane + 529u)] = (_e110 - (_e219 - _e109));
        let _e233 = workgroupUniformLoad((&shared_.words[((_e57 - 1u) + 17u)]));
        tile = ((group.x % _e23) * 1024u);
        loop {
            if (lane == 0u) {
                let _e241 = tile;
                shared_.words[16] = _e241;
            }
            let _e242 = workgroupUniformLoad((&shared_.words[16]));
            if (_e242 >= _e233) {
                break;
            }
            next = (_e242 + lane);
            loop {
                let _e249 = next;
                if (_e249 >= (_e242 + min((_e233 - _e242), 1024u))) {
                    break;
                }
                owner = 0u;
                if (_e57 > 128u) {
                    let _e253 = owner;
                    let _e259 = shared_.words[((_e253 + 127u) + 17u)];
                    owner = select(_e253, (_e253 + 128u), (_e259 <= _e249));
                }
                if (_e57 > 64u) {
                    let _e264 = owner;
                    let _e270 = shared_.words[((_e264 + 63u) + 17u)];
                    owner = select(_e264, (_e264 + 64u), (_e270 <= _e249));
                }
                if (_e57 > 32u) {
                    let _e275 = owner;
                    let _e281 = shared_.words[((_e275 + 31u) + 17u)];
                    owner = select(_e275, (_e275 + 32u), (_e281 <= _e249));
                }
                if (_e57 > 16u) {
                    let _e286 = owner;
                    let _e292 = shared_.words[((_e286 + 15u) + 17u)];
                    owner = select(_e286, (_e286 + 16u), (_e292 <= _e249));
                }
                if (_e57 > 8u) {
                    let _e297 = owner;
                    let _e303 = shared_.words[((_e297 + 7u) + 17u)];
                    owner = select(_e297, (_e297 + 8u), (_e303 <= _e249));
                }
                if (_e57 > 4u) {
                    let _e308 = owner;
                    let _e314 = shared_.words[((_e308 + 3u) + 17u)];
                    owner = select(_e308, (_e308 + 4u), (_e314 <= _e249));
                }
                if (_e57 > 2u) {
                    let _e319 = owner;
                    let _e324 = shared_.words[((_e319 + 1u) + 17u)];
                    owner = select(_e319, (_e319 + 2u), (_e324 <= _e249));
                }
                if (_e57 > 1u) {
                    let _e329 = owner;
                    let _e333 = shared_.words[(_e329 + 17u)];
                    owner = select(_e329, (_e329 + 1u), (_e333 <= _e249));
                }
                let _e337 = owner;
                let _e341 = shared_.words[(_e337 + 529u)];
                let this_node = shared_.words[(_e337 + 785u)];
                let this_edge = (_e249 + _e341);
                let graph_targets_at = params.graph_targets_at;
                let _e351 = fixed[(graph_targets_at + this_edge)];
                relax(this_edge, _e351);
                let _e352 = (_e249 + 256u);
                if (_e352 < _e249) {
                    break;
                }
                next = _e352;
            }
            workgroupBarrier();
            if (lane == 0u) {
                let _e357 = atomicLoad((&shared_.staged_len_front));
                let _e358 = min(_e357, 1024u);
                shared_.staged_front[1024] = _e358;
                if (_e358 != 0u) {
                    let _e362 = atomicAdd((&control.front_tail), _e358);
                    shared_.staged_front[1025] = _e362;
                }
                atomicStore((&shared_.staged_len_front), 0u);
            }
            workgroupBarrier();
            let _e369 = shared_.staged_front[1024];
            placed = lane;
            loop {
                let _e371 = placed;
                if (_e371 >= _e369) {
                    break;
                }
                let _e374 = shared_.staged_front[1025];
                let _e375 = (_e374 + _e371);
                let _e377 = shared_.staged_front[_e371];
                let front_capacity_2 = params.front_capacity;
                if (_e375 < front_capacity_2) {
                    let front_items_at_2 = params.front_items_at;
                    let front_side_2 = control.front_side;
                    plain[(front_items_at_2 + (_e375 + ((1u - front_side_2) * front_capacity_2)))] = _e377;
                }
                let pulls_1 = params.pulls;
                if (pulls_1 != 0u) {
                    let front_epoch_1 = control.front_epoch;
                    let front_seen_at_1 = params.front_seen_at;
                    atomicStore((&cells[(front_seen_at_1 + _e377)]), front_epoch_1);
                    let graph_offsets_at_2 = params.graph_offsets_at;
                    let _e404 = fixed[(graph_offsets_at_2 + _e377)];
                    let _e408 = fixed[((graph_offsets_at_2 + _e377) + 1u)];
                    let _e411 = own_edges;
                    own_edges = (_e411 + (_e408 - _e404));
                }
                placed = (_e371 + 256u);
            }
            let _e414 = (_e242 + (_e23 * 1024u));
            tile = select(_e414, 4294967295u, (_e414 < _e242));
        }
        let _e417 = (_e48 + _e40);
        of_block = select(_e417, 4294967295u, (_e417 < _e48));
    }
    let _e422 = own_edges;
    if (_e422 != 0u) {
        let _e424 = atomicAdd((&shared_.edges), _e422);
    }
    let _e426 = (lane * 5u);
    let _e428 = fault_kind;
    shared_.words[(_e426 + 17u)] = _e428;
    if (_e428 != 0u) {
        let _e434 = fault_item;
        shared_.words[(_e426 + 18u)] = _e434;
        let _e440 = fault_pc;
        shared_.words[(_e426 + 19u)] = _e440;
        let _e446 = fault_index;
        shared_.words[(_e426 + 20u)] = _e446;
        let _e452 = fault_len;
        shared_.words[(_e426 + 21u)] = _e452;
    }
    workgroupBarrier();
    if (lane < 16u) {
        let _e463 = shared_.words[(((lane + 0u) * 5u) + 17u)];
        let _e469 = shared_.words[(((lane + 16u) * 5u) + 17u)];
        let _e475 = shared_.words[(((lane + 32u) * 5u) + 17u)];
        let _e482 = shared_.words[(((lane + 48u) * 5u) + 17u)];
        let _e488 = shared_.words[(((lane + 64u) * 5u) + 17u)];
        let _e495 = shared_.words[(((lane + 80u) * 5u) + 17u)];
        let _e502 = shared_.words[(((lane + 96u) * 5u) + 17u)];
        let _e509 = shared_.words[(((lane + 112u) * 5u) + 17u)];
        let _e515 = shared_.words[(((lane + 128u) * 5u) + 17u)];
        let _e522 = shared_.words[(((lane + 144u) * 5u) + 17u)];
        let _e529 = shared_.words[(((lane + 160u) * 5u) + 17u)];
        let _e536 = shared_.words[(((lane + 176u) * 5u) + 17u)];
        let _e543 = shared_.words[(((lane + 192u) * 5u) + 17u)];
        let _e550 = shared_.words[(((lane + 208u) * 5u) + 17u)];
        let _e557 = shared_.words[(((lane + 224u) * 5u) + 17u)];
        let _e564 = shared_.words[(((lane + 240u) * 5u) + 17u)];
        shared_.words[lane] = (((((((((((((((_e463 | _e469) | _e475) | _e482) | _e488) | _e495) | _e502) | _e509) | _e515) | _e522) | _e529) | _e536) | _e543) | _e550) | _e557) | _e564);
    }
    workgroupBarrier();
    if (lane == 0u) {
        let _e585 = atomicLoad((&shared_.edges));
        if (_e585 != 0u) {
            let _e588 = atomicAdd((&control.front_edges), _e585);
        }
        let _e591 = shared_.words[0];
        let _e594 = shared_.words[1];
        let _e597 = shared_.words[2];
        let _e600 = shared_.words[3];
        let _e603 = shared_.words[4];
        let _e606 = shared_.words[5];
        let _e610 = shared_.words[6];
        let _e613 = shared_.words[7];
        let _e616 = shared_.words[8];
        let _e620 = shared_.words[9];
        let _e624 = shared_.words[10];
        let _e628 = shared_.words[11];
        let _e632 = shared_.words[12];
        let _e636 = shared_.words[13];
        let _e640 = shared_.words[14];
        let _e643 = shared_.words[15];
        if ((((((((((((((((_e591 | _e594) | _e597) | _e600) | _e603) | _e606) | _e610) | _e613) | _e616) | _e620) | _e624) | _e628) | _e632) | _e636) | _e640) | _e643) != 0u) {
            other = 1u;
            loop {
                let this_other = other;
                if (this_other >= 256u) {
                    break;
                }
                let _e663 = (this_other * 5u);
                let _e667 = shared_.words[(_e663 + 17u)];
                if (_e667 != 0u) {
                    let _e672 = shared_.words[(_e663 + 18u)];
                    let _e676 = shared_.words[(_e663 + 19u)];
                    let _e680 = shared_.words[(_e663 + 20u)];
                    let _e684 = shared_.words[(_e663 + 21u)];
                    fault(_e667, _e672, _e676, _e680, _e684);
                }
                other = (this_other + 1u);
            }
            let _e687 = atomicAdd((&control.faulted), 1u);
            let _e688 = (_e687 * 5u);
            let _e689 = fault_kind;
            control.records[(_e688 + 0u)] = _e689;
            let _e693 = fault_item;
            control.records[(_e688 + 1u)] = _e693;
            let _e697 = fault_pc;
            control.records[(_e688 + 2u)] = _e697;
            let _e701 = fault_index;
            control.records[(_e688 + 3u)] = _e701;
            let _e705 = fault_len;
            control.records[(_e688 + 4u)] = _e705;
        }
    }
}
