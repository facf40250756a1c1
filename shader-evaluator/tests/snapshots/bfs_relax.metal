// language: metal2.4
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size6;
    uint size8;
    uint size9;
    uint size10;
};

struct Params {
    uint round;
    uint groups;
    uint turns_limit;
    uint fill_at;
    uint fill_len;
    uint fill_words;
    uint fill_low;
    uint fill_high;
    uint nodes;
    uint graph_edges;
    uint graph_degree;
    uint dist_len;
    uint front_capacity;
    uint source;
    uint graph_offsets_at;
    uint graph_targets_at;
    uint dist_at;
    uint front_items_at;
    uint front_seen_at;
    uint pulls;
};
typedef metal::atomic_uint type_6[1];
struct _atomic_compare_exchange_result_Uint_4_ {
    uint old_value;
    bool exchanged;
    char _pad2[3];
};
struct type_7 {
    uint inner[1297];
};
struct type_8 {
    uint inner[1026];
};
struct Shared {
    type_7 words;
    type_8 staged_front;
    metal::atomic_uint staged_len_front;
    metal::atomic_uint edges;
    metal::atomic_uint left;
};
typedef uint type_9[1];
struct Control {
    uint status;
    uint verdict;
    uint trap_wave;
    uint trap_kind;
    uint trap_item;
    uint trap_pc;
    uint trap_index;
    uint trap_len;
    metal::atomic_uint faulted;
    uint front_len;
    metal::atomic_uint front_tail;
    uint front_side;
    uint front_epoch;
    metal::atomic_uint front_edges;
    uint front_explored;
    metal::atomic_uint graph_lopsided;
    type_9 records;
};

template <typename A>
_atomic_compare_exchange_result_Uint_4_ naga_atomic_compare_exchange_weak_explicit(
    device A *atomic_ptr,
    uint cmp,
    uint v
) {
    bool swapped = metal::atomic_compare_exchange_weak_explicit(
        atomic_ptr, &cmp, v,
        metal::memory_order_relaxed, metal::memory_order_relaxed
    );
    return _atomic_compare_exchange_result_Uint_4_{cmp, swapped};
}
template <typename A>
_atomic_compare_exchange_result_Uint_4_ naga_atomic_compare_exchange_weak_explicit(
    threadgroup A *atomic_ptr,
    uint cmp,
    uint v
) {
    bool swapped = metal::atomic_compare_exchange_weak_explicit(
        atomic_ptr, &cmp, v,
        metal::memory_order_relaxed, metal::memory_order_relaxed
    );
    return _atomic_compare_exchange_result_Uint_4_{cmp, swapped};
}
constant uint OUT_OF_BOUNDS = 1u;
constant uint LINE_37_WORD_1_PC = 1u;
constant uint LINE_38_WORD_3_PC = 3u;

void fault(
    uint kind,
    uint item,
    uint pc,
    uint index,
    uint len,
    thread uint& fault_kind,
    thread uint& fault_item,
    thread uint& fault_pc,
    thread uint& fault_index,
    thread uint& fault_len
) {
    uint _e6 = fault_kind;
    uint _e8 = fault_item;
    uint _e10 = fault_pc;
    if ((_e6 == 0u) || ((item < _e8) || ((item == _e8) && (pc < _e10)))) {
        fault_kind = kind;
        fault_item = item;
        fault_pc = pc;
        fault_index = index;
        fault_len = len;
    }
}

uint compare_exchange(
    uint at,
    uint expected,
    uint value,
    device type_6& cells,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint done = {};
    done = 0u;
    uint _e7 = metal::atomic_load_explicit(&cells[at], metal::memory_order_relaxed);
    if (_e7 != expected) {
        return 0u;
    }
    while(true) {
        _atomic_compare_exchange_result_Uint_4_ _e9 = naga_atomic_compare_exchange_weak_explicit(&cells[at], expected, value);
        if (_e9.exchanged) {
            done = 1u;
            break;
        }
        if (_e9.old_value != expected) {
            break;
        }
    }
    uint _e14 = done;
    return _e14;
}

void push_front(
    uint node,
    constant Params& params,
    device type_6& cells,
    threadgroup Shared& shared,
    device Control& control,
    device type_9& plain,
    device type_9 const& fixed,
    thread uint& own_edges,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e5 = metal::atomic_fetch_add_explicit(&shared.staged_len_front, 1u, metal::memory_order_relaxed);
    if (_e5 < 1024u) {
        shared.staged_front.inner[_e5] = node;
        return;
    }
    uint _e11 = metal::atomic_fetch_add_explicit(&control.front_tail, 1u, metal::memory_order_relaxed);
    uint front_capacity = params.front_capacity;
    if (_e11 < front_capacity) {
        uint front_items_at = params.front_items_at;
        uint front_side = control.front_side;
        plain[front_items_at + (_e11 + ((1u - front_side) * front_capacity))] = node;
    }
    uint pulls = params.pulls;
    if (pulls != 0u) {
        uint front_epoch = control.front_epoch;
        uint front_seen_at = params.front_seen_at;
        metal::atomic_store_explicit(&cells[front_seen_at + node], front_epoch, metal::memory_order_relaxed);
        uint graph_offsets_at = params.graph_offsets_at;
        uint _e42 = fixed[graph_offsets_at + node];
        uint _e46 = fixed[(graph_offsets_at + node) + 1u];
        uint _e49 = own_edges;
        own_edges = _e49 + (_e46 - _e42);
    }
}

void relax(
    uint item_1,
    uint dst,
    constant Params& params,
    thread uint& fault_kind,
    thread uint& fault_item,
    thread uint& fault_pc,
    thread uint& fault_index,
    thread uint& fault_len,
    device type_6& cells,
    threadgroup Shared& shared,
    device Control& control,
    device type_9& plain,
    device type_9 const& fixed,
    thread uint& own_edges,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint round = params.round;
    uint dist_len = params.dist_len;
    if (dst >= dist_len) {
        fault(OUT_OF_BOUNDS, item_1, LINE_37_WORD_1_PC, dst, dist_len, fault_kind, fault_item, fault_pc, fault_index, fault_len);
        return;
    }
    uint dist_at = params.dist_at;
    uint _e17 = compare_exchange(dist_at + dst, 4294967295u, round + 1u, cells, _buffer_sizes);
    if (_e17 != 0u) {
        uint nodes = params.nodes;
        if (dst >= nodes) {
            fault(OUT_OF_BOUNDS, item_1, LINE_38_WORD_3_PC, dst, nodes, fault_kind, fault_item, fault_pc, fault_index, fault_len);
            return;
        }
        push_front(dst, params, cells, shared, control, plain, fixed, own_edges, _buffer_sizes);
    }
    return;
}

struct relax_sweepInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void relax_sweep(
  metal::uint3 id [[thread_position_in_grid]]
, uint lane [[thread_index_in_threadgroup]]
, metal::uint3 group [[threadgroup_position_in_grid]]
, metal::uint3 groups [[threadgroups_per_grid]]
, constant Params& params [[buffer(0)]]
, device type_6& cells [[buffer(3)]]
, threadgroup Shared& shared
, device Control& control [[buffer(4)]]
, device type_9& plain [[buffer(2)]]
, device type_9 const& fixed [[buffer(1)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(5)]]
) {
    uint fault_kind = 0u;
    uint fault_item = 0u;
    uint fault_pc = 0u;
    uint fault_index = 0u;
    uint fault_len = 0u;
    uint own_edges = 0u;
    uint degree = {};
    uint begin = {};
    uint of_block = {};
    uint sum = {};
    uint tile = {};
    uint next = {};
    uint owner = {};
    uint placed = {};
    uint other = {};
    if (lane == 0u) {
        metal::atomic_store_explicit(&shared.staged_len_front, 0u, metal::memory_order_relaxed);
        metal::atomic_store_explicit(&shared.edges, 0u, metal::memory_order_relaxed);
        metal::atomic_store_explicit(&shared.left, 0u, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint front_len = control.front_len;
    uint graph_degree = params.graph_degree;
    uint _e23 = metal::max(groups.x / metal::max(front_len, 1u), 1u);
    uint _e24 = groups.x / _e23;
    uint _e32 = ((front_len / _e24) >= 8u) ? 0u : 0u;
    uint _e33 = _e24 << _e32;
    uint _e39 = ((front_len / _e33) + (((front_len % _e33) != 0u) ? 1u : 0u)) << _e32;
    uint _e40 = metal::min(256u, 4294967295u / metal::max(graph_degree, 1u));
    uint _e41 = group.x / _e23;
    of_block = (_e41 >= _e24) ? 4294967295u : 0u;
    while(true) {
        uint _e48 = of_block;
        if (lane == 0u) {
            shared.words.inner[16] = (_e48 < _e39) ? metal::min(_e39 - _e48, _e40) : 0u;
        }
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint unnamed = shared.words.inner[16];
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (unnamed == 0u) {
            break;
        }
        degree = 0u;
        begin = 0u;
        uint _e59 = _e48 + lane;
        uint _e60 = _e59 >> _e32;
        uint _e62 = _e59 - (_e60 << _e32);
        uint _e69 = (_e60 * _e24) + ((((_e60 * 2654435761u) >> 16u) + _e41) % _e24);
        uint _e70 = _e69 << _e32;
        if ((((_e69 <= (front_len >> _e32)) && (_e62 < (front_len - _e70))) && (_e59 < _e39)) && (lane < _e40)) {
            uint front_items_at_1 = params.front_items_at;
            uint front_side_1 = control.front_side;
            uint front_capacity_1 = params.front_capacity;
            uint _e93 = plain[front_items_at_1 + ((0u + (_e70 + _e62)) + (front_side_1 * front_capacity_1))];
            uint graph_offsets_at_1 = params.graph_offsets_at;
            uint _e99 = fixed[graph_offsets_at_1 + _e93];
            uint _e103 = fixed[(graph_offsets_at_1 + _e93) + 1u];
            begin = _e99;
            degree = _e103 - _e99;
            shared.words.inner[lane + 785u] = _e93;
        }
        uint _e109 = degree;
        uint _e110 = begin;
        sum = _e109;
        if (unnamed > 1u) {
            uint _e113 = sum;
            shared.words.inner[lane + 17u] = _e113;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 1u) {
                uint _e123 = shared.words.inner[(lane - 1u) + 17u];
                uint _e124 = sum;
                sum = _e124 + _e123;
            }
            uint _e126 = sum;
            shared.words.inner[lane + 273u] = _e126;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 2u) {
                uint _e137 = shared.words.inner[(lane - 2u) + 273u];
                uint _e138 = sum;
                sum = _e138 + _e137;
            }
        }
        if (unnamed > 4u) {
            uint _e142 = sum;
            shared.words.inner[lane + 17u] = _e142;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 4u) {
                uint _e151 = shared.words.inner[(lane - 4u) + 17u];
                uint _e152 = sum;
                sum = _e152 + _e151;
            }
            uint _e154 = sum;
            shared.words.inner[lane + 273u] = _e154;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 8u) {
                uint _e163 = shared.words.inner[(lane - 8u) + 273u];
                uint _e164 = sum;
                sum = _e164 + _e163;
            }
        }
        if (unnamed > 16u) {
            uint _e167 = sum;
            shared.words.inner[lane + 17u] = _e167;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 16u) {
                uint _e176 = shared.words.inner[(lane - 16u) + 17u];
                uint _e177 = sum;
                sum = _e177 + _e176;
            }
            uint _e179 = sum;
            shared.words.inner[lane + 273u] = _e179;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 32u) {
                uint _e189 = shared.words.inner[(lane - 32u) + 273u];
                uint _e190 = sum;
                sum = _e190 + _e189;
            }
        }
        if (unnamed > 64u) {
            uint _e194 = sum;
            shared.words.inner[lane + 17u] = _e194;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 64u) {
                uint _e203 = shared.words.inner[(lane - 64u) + 17u];
                uint _e204 = sum;
                sum = _e204 + _e203;
            }
            uint _e206 = sum;
            shared.words.inner[lane + 273u] = _e206;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 128u) {
                uint _e216 = shared.words.inner[(lane - 128u) + 273u];
                uint _e217 = sum;
                sum = _e217 + _e216;
            }
        }
        uint _e219 = sum;
        shared.words.inner[lane + 17u] = _e219;
        shared.words.inner[lane + 529u] = _e110 - (_e219 - _e109);
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint unnamed_1 = shared.words.inner[(unnamed - 1u) + 17u];
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        tile = (group.x % _e23) * 1024u;
        while(true) {
            if (lane == 0u) {
                uint _e241 = tile;
                shared.words.inner[16] = _e241;
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint unnamed_2 = shared.words.inner[16];
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (unnamed_2 >= unnamed_1) {
                break;
            }
            next = unnamed_2 + lane;
            while(true) {
                uint _e249 = next;
                if (_e249 >= (unnamed_2 + metal::min(unnamed_1 - unnamed_2, 1024u))) {
                    break;
                }
                owner = 0u;
                if (unnamed > 128u) {
                    uint _e253 = owner;
                    uint _e259 = shared.words.inner[(_e253 + 127u) + 17u];
                    owner = (_e259 <= _e249) ? (_e253 + 128u) : _e253;
                }
                if (unnamed > 64u) {
                    uint _e264 = owner;
                    uint _e270 = shared.words.inner[(_e264 + 63u) + 17u];
                    owner = (_e270 <= _e249) ? (_e264 + 64u) : _e264;
                }
                if (unnamed > 32u) {
                    uint _e275 = owner;
                    uint _e281 = shared.words.inner[(_e275 + 31u) + 17u];
                    owner = (_e281 <= _e249) ? (_e275 + 32u) : _e275;
                }
                if (unnamed > 16u) {
                    uint _e286 = owner;
                    uint _e292 = shared.words.inner[(_e286 + 15u) + 17u];
                    owner = (_e292 <= _e249) ? (_e286 + 16u) : _e286;
                }
                if (unnamed > 8u) {
                    uint _e297 = owner;
                    uint _e303 = shared.words.inner[(_e297 + 7u) + 17u];
                    owner = (_e303 <= _e249) ? (_e297 + 8u) : _e297;
                }
                if (unnamed > 4u) {
                    uint _e308 = owner;
                    uint _e314 = shared.words.inner[(_e308 + 3u) + 17u];
                    owner = (_e314 <= _e249) ? (_e308 + 4u) : _e308;
                }
                if (unnamed > 2u) {
                    uint _e319 = owner;
                    uint _e324 = shared.words.inner[(_e319 + 1u) + 17u];
                    owner = (_e324 <= _e249) ? (_e319 + 2u) : _e319;
                }
                if (unnamed > 1u) {
                    uint _e329 = owner;
                    uint _e333 = shared.words.inner[_e329 + 17u];
                    owner = (_e333 <= _e249) ? (_e329 + 1u) : _e329;
                }
                uint _e337 = owner;
                uint _e341 = shared.words.inner[_e337 + 529u];
                uint this_node = shared.words.inner[_e337 + 785u];
                uint this_edge = _e249 + _e341;
                uint graph_targets_at = params.graph_targets_at;
                uint _e351 = fixed[graph_targets_at + this_edge];
                relax(this_edge, _e351, params, fault_kind, fault_item, fault_pc, fault_index, fault_len, cells, shared, control, plain, fixed, own_edges, _buffer_sizes);
                uint _e352 = _e249 + 256u;
                if (_e352 < _e249) {
                    break;
                }
                next = _e352;
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane == 0u) {
                uint _e357 = metal::atomic_load_explicit(&shared.staged_len_front, metal::memory_order_relaxed);
                uint _e358 = metal::min(_e357, 1024u);
                shared.staged_front.inner[1024] = _e358;
                if (_e358 != 0u) {
                    uint _e362 = metal::atomic_fetch_add_explicit(&control.front_tail, _e358, metal::memory_order_relaxed);
                    shared.staged_front.inner[1025] = _e362;
                }
                metal::atomic_store_explicit(&shared.staged_len_front, 0u, metal::memory_order_relaxed);
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint _e369 = shared.staged_front.inner[1024];
            placed = lane;
            while(true) {
                uint _e371 = placed;
                if (_e371 >= _e369) {
                    break;
                }
                uint _e374 = shared.staged_front.inner[1025];
                uint _e375 = _e374 + _e371;
                uint _e377 = shared.staged_front.inner[_e371];
                uint front_capacity_2 = params.front_capacity;
                if (_e375 < front_capacity_2) {
                    uint front_items_at_2 = params.front_items_at;
                    uint front_side_2 = control.front_side;
                    plain[front_items_at_2 + (_e375 + ((1u - front_side_2) * front_capacity_2))] = _e377;
                }
                uint pulls_1 = params.pulls;
                if (pulls_1 != 0u) {
                    uint front_epoch_1 = control.front_epoch;
                    uint front_seen_at_1 = params.front_seen_at;
                    metal::atomic_store_explicit(&cells[front_seen_at_1 + _e377], front_epoch_1, metal::memory_order_relaxed);
                    uint graph_offsets_at_2 = params.graph_offsets_at;
                    uint _e404 = fixed[graph_offsets_at_2 + _e377];
                    uint _e408 = fixed[(graph_offsets_at_2 + _e377) + 1u];
                    uint _e411 = own_edges;
                    own_edges = _e411 + (_e408 - _e404);
                }
                placed = _e371 + 256u;
            }
            uint _e414 = unnamed_2 + (_e23 * 1024u);
            tile = (_e414 < unnamed_2) ? 4294967295u : _e414;
        }
        uint _e417 = _e48 + _e40;
        of_block = (_e417 < _e48) ? 4294967295u : _e417;
    }
    uint _e422 = own_edges;
    if (_e422 != 0u) {
        uint _e424 = metal::atomic_fetch_add_explicit(&shared.edges, _e422, metal::memory_order_relaxed);
    }
    uint _e426 = lane * 5u;
    uint _e428 = fault_kind;
    shared.words.inner[_e426 + 17u] = _e428;
    if (_e428 != 0u) {
        uint _e434 = fault_item;
        shared.words.inner[_e426 + 18u] = _e434;
        uint _e440 = fault_pc;
        shared.words.inner[_e426 + 19u] = _e440;
        uint _e446 = fault_index;
        shared.words.inner[_e426 + 20u] = _e446;
        uint _e452 = fault_len;
        shared.words.inner[_e426 + 21u] = _e452;
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane < 16u) {
        uint _e463 = shared.words.inner[((lane + 0u) * 5u) + 17u];
        uint _e469 = shared.words.inner[((lane + 16u) * 5u) + 17u];
        uint _e475 = shared.words.inner[((lane + 32u) * 5u) + 17u];
        uint _e482 = shared.words.inner[((lane + 48u) * 5u) + 17u];
        uint _e488 = shared.words.inner[((lane + 64u) * 5u) + 17u];
        uint _e495 = shared.words.inner[((lane + 80u) * 5u) + 17u];
        uint _e502 = shared.words.inner[((lane + 96u) * 5u) + 17u];
        uint _e509 = shared.words.inner[((lane + 112u) * 5u) + 17u];
        uint _e515 = shared.words.inner[((lane + 128u) * 5u) + 17u];
        uint _e522 = shared.words.inner[((lane + 144u) * 5u) + 17u];
        uint _e529 = shared.words.inner[((lane + 160u) * 5u) + 17u];
        uint _e536 = shared.words.inner[((lane + 176u) * 5u) + 17u];
        uint _e543 = shared.words.inner[((lane + 192u) * 5u) + 17u];
        uint _e550 = shared.words.inner[((lane + 208u) * 5u) + 17u];
        uint _e557 = shared.words.inner[((lane + 224u) * 5u) + 17u];
        uint _e564 = shared.words.inner[((lane + 240u) * 5u) + 17u];
        shared.words.inner[lane] = ((((((((((((((_e463 | _e469) | _e475) | _e482) | _e488) | _e495) | _e502) | _e509) | _e515) | _e522) | _e529) | _e536) | _e543) | _e550) | _e557) | _e564;
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane == 0u) {
        uint _e585 = metal::atomic_load_explicit(&shared.edges, metal::memory_order_relaxed);
        if (_e585 != 0u) {
            uint _e588 = metal::atomic_fetch_add_explicit(&control.front_edges, _e585, metal::memory_order_relaxed);
        }
        uint _e591 = shared.words.inner[0];
        uint _e594 = shared.words.inner[1];
        uint _e597 = shared.words.inner[2];
        uint _e600 = shared.words.inner[3];
        uint _e603 = shared.words.inner[4];
        uint _e606 = shared.words.inner[5];
        uint _e610 = shared.words.inner[6];
        uint _e613 = shared.words.inner[7];
        uint _e616 = shared.words.inner[8];
        uint _e620 = shared.words.inner[9];
        uint _e624 = shared.words.inner[10];
        uint _e628 = shared.words.inner[11];
        uint _e632 = shared.words.inner[12];
        uint _e636 = shared.words.inner[13];
        uint _e640 = shared.words.inner[14];
        uint _e643 = shared.words.inner[15];
        if ((((((((((((((((_e591 | _e594) | _e597) | _e600) | _e603) | _e606) | _e610) | _e613) | _e616) | _e620) | _e624) | _e628) | _e632) | _e636) | _e640) | _e643) != 0u) {
            other = 1u;
            while(true) {
                uint this_other = other;
                if (this_other >= 256u) {
                    break;
                }
                uint _e663 = this_other * 5u;
                uint _e667 = shared.words.inner[_e663 + 17u];
                if (_e667 != 0u) {
                    uint _e672 = shared.words.inner[_e663 + 18u];
                    uint _e676 = shared.words.inner[_e663 + 19u];
                    uint _e680 = shared.words.inner[_e663 + 20u];
                    uint _e684 = shared.words.inner[_e663 + 21u];
                    fault(_e667, _e672, _e676, _e680, _e684, fault_kind, fault_item, fault_pc, fault_index, fault_len);
                }
                other = this_other + 1u;
            }
            uint _e687 = metal::atomic_fetch_add_explicit(&control.faulted, 1u, metal::memory_order_relaxed);
            uint _e688 = _e687 * 5u;
            uint _e689 = fault_kind;
            control.records[_e688 + 0u] = _e689;
            uint _e693 = fault_item;
            control.records[_e688 + 1u] = _e693;
            uint _e697 = fault_pc;
            control.records[_e688 + 2u] = _e697;
            uint _e701 = fault_index;
            control.records[_e688 + 3u] = _e701;
            uint _e705 = fault_len;
            control.records[_e688 + 4u] = _e705;
        }
    }
}
