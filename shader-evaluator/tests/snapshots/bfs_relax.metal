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
    uint dist_len;
    uint front_capacity;
    uint source;
    uint graph_offsets_at;
    uint graph_targets_at;
    uint dist_at;
    uint front_items_at;
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
    threadgroup Shared& shared,
    device Control& control,
    device type_9& plain,
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
        push_front(dst, params, shared, control, plain, _buffer_sizes);
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
    uint degree = {};
    uint begin = {};
    uint row = {};
    uint sum = {};
    uint tile = {};
    uint next = {};
    uint owner = {};
    uint placed = {};
    uint other = {};
    if (lane == 0u) {
        metal::atomic_store_explicit(&shared.staged_len_front, 0u, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint front_len = control.front_len;
    uint graph_edges = params.graph_edges;
    uint _e21 = metal::max(groups.x / metal::max(front_len, 1u), 1u);
    uint _e22 = groups.x / _e21;
    uint _e31 = (front_len / _e22) + (((front_len % _e22) != 0u) ? 1u : 0u);
    uint _e32 = metal::min(256u, 4294967295u / metal::max(graph_edges, 1u));
    uint _e33 = group.x / _e21;
    row = (_e33 >= _e22) ? 4294967295u : 0u;
    while(true) {
        uint _e40 = row;
        if (lane == 0u) {
            shared.words.inner[16] = (_e40 < _e31) ? metal::min(_e31 - _e40, _e32) : 0u;
        }
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint unnamed = shared.words.inner[16];
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (unnamed == 0u) {
            break;
        }
        degree = 0u;
        begin = 0u;
        uint _e51 = _e40 + lane;
        uint _e56 = (((_e51 * 2654435761u) >> 16u) + _e33) % _e22;
        uint _e57 = _e51 * _e22;
        if ((lane < _e32) && ((_e51 < _e31) && (_e56 < (front_len - _e57)))) {
            uint front_items_at_1 = params.front_items_at;
            uint front_side_1 = control.front_side;
            uint front_capacity_1 = params.front_capacity;
            uint _e77 = plain[front_items_at_1 + ((0u + (_e57 + _e56)) + (front_side_1 * front_capacity_1))];
            uint graph_offsets_at = params.graph_offsets_at;
            uint _e83 = fixed[graph_offsets_at + _e77];
            uint _e87 = fixed[(graph_offsets_at + _e77) + 1u];
            begin = _e83;
            degree = _e87 - _e83;
            shared.words.inner[lane + 785u] = _e77;
        }
        uint _e93 = degree;
        sum = _e93;
        if (unnamed > 1u) {
            uint _e96 = sum;
            shared.words.inner[lane + 17u] = _e96;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 1u) {
                uint _e106 = shared.words.inner[(lane - 1u) + 17u];
                uint _e107 = sum;
                sum = _e107 + _e106;
            }
            uint _e109 = sum;
            shared.words.inner[lane + 273u] = _e109;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 2u) {
                uint _e120 = shared.words.inner[(lane - 2u) + 273u];
                uint _e121 = sum;
                sum = _e121 + _e120;
            }
        }
        if (unnamed > 4u) {
            uint _e125 = sum;
            shared.words.inner[lane + 17u] = _e125;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 4u) {
                uint _e134 = shared.words.inner[(lane - 4u) + 17u];
                uint _e135 = sum;
                sum = _e135 + _e134;
            }
            uint _e137 = sum;
            shared.words.inner[lane + 273u] = _e137;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 8u) {
                uint _e147 = shared.words.inner[(lane - 8u) + 273u];
                uint _e148 = sum;
                sum = _e148 + _e147;
            }
        }
        if (unnamed > 16u) {
            uint _e151 = sum;
            shared.words.inner[lane + 17u] = _e151;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 16u) {
                uint _e160 = shared.words.inner[(lane - 16u) + 17u];
                uint _e161 = sum;
                sum = _e161 + _e160;
            }
            uint _e163 = sum;
            shared.words.inner[lane + 273u] = _e163;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 32u) {
                uint _e173 = shared.words.inner[(lane - 32u) + 273u];
                uint _e174 = sum;
                sum = _e174 + _e173;
            }
        }
        if (unnamed > 64u) {
            uint _e178 = sum;
            shared.words.inner[lane + 17u] = _e178;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 64u) {
                uint _e187 = shared.words.inner[(lane - 64u) + 17u];
                uint _e188 = sum;
                sum = _e188 + _e187;
            }
            uint _e190 = sum;
            shared.words.inner[lane + 273u] = _e190;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 128u) {
                uint _e200 = shared.words.inner[(lane - 128u) + 273u];
                uint _e201 = sum;
                sum = _e201 + _e200;
            }
        }
        uint _e203 = sum;
        shared.words.inner[lane + 17u] = _e203;
        uint _e207 = begin;
        shared.words.inner[lane + 529u] = _e207 - (_e203 - _e93);
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint unnamed_1 = shared.words.inner[(unnamed - 1u) + 17u];
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        tile = (group.x % _e21) * 1024u;
        while(true) {
            if (lane == 0u) {
                uint _e226 = tile;
                shared.words.inner[16] = _e226;
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint unnamed_2 = shared.words.inner[16];
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (unnamed_2 >= unnamed_1) {
                break;
            }
            next = unnamed_2 + lane;
            while(true) {
                uint _e234 = next;
                if (_e234 >= (unnamed_2 + metal::min(unnamed_1 - unnamed_2, 1024u))) {
                    break;
                }
                owner = 0u;
                if (unnamed > 128u) {
                    uint _e238 = owner;
                    uint _e244 = shared.words.inner[(_e238 + 127u) + 17u];
                    owner = (_e244 <= _e234) ? (_e238 + 128u) : _e238;
                }
                if (unnamed > 64u) {
                    uint _e249 = owner;
                    uint _e255 = shared.words.inner[(_e249 + 63u) + 17u];
                    owner = (_e255 <= _e234) ? (_e249 + 64u) : _e249;
                }
                if (unnamed > 32u) {
                    uint _e260 = owner;
                    uint _e266 = shared.words.inner[(_e260 + 31u) + 17u];
                    owner = (_e266 <= _e234) ? (_e260 + 32u) : _e260;
                }
                if (unnamed > 16u) {
                    uint _e271 = owner;
                    uint _e277 = shared.words.inner[(_e271 + 15u) + 17u];
                    owner = (_e277 <= _e234) ? (_e271 + 16u) : _e271;
                }
                if (unnamed > 8u) {
                    uint _e282 = owner;
                    uint _e288 = shared.words.inner[(_e282 + 7u) + 17u];
                    owner = (_e288 <= _e234) ? (_e282 + 8u) : _e282;
                }
                if (unnamed > 4u) {
                    uint _e293 = owner;
                    uint _e299 = shared.words.inner[(_e293 + 3u) + 17u];
                    owner = (_e299 <= _e234) ? (_e293 + 4u) : _e293;
                }
                if (unnamed > 2u) {
                    uint _e304 = owner;
                    uint _e309 = shared.words.inner[(_e304 + 1u) + 17u];
                    owner = (_e309 <= _e234) ? (_e304 + 2u) : _e304;
                }
                if (unnamed > 1u) {
                    uint _e314 = owner;
                    uint _e318 = shared.words.inner[_e314 + 17u];
                    owner = (_e318 <= _e234) ? (_e314 + 1u) : _e314;
                }
                uint _e322 = owner;
                uint _e326 = shared.words.inner[_e322 + 529u];
                uint this_node = shared.words.inner[_e322 + 785u];
                uint this_edge = _e234 + _e326;
                uint graph_targets_at = params.graph_targets_at;
                uint _e336 = fixed[graph_targets_at + this_edge];
                relax(this_edge, _e336, params, fault_kind, fault_item, fault_pc, fault_index, fault_len, cells, shared, control, plain, _buffer_sizes);
                uint _e337 = _e234 + 256u;
                if (_e337 < _e234) {
                    break;
                }
                next = _e337;
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane == 0u) {
                uint _e342 = metal::atomic_load_explicit(&shared.staged_len_front, metal::memory_order_relaxed);
                uint _e343 = metal::min(_e342, 1024u);
                shared.staged_front.inner[1024] = _e343;
                if (_e343 != 0u) {
                    uint _e347 = metal::atomic_fetch_add_explicit(&control.front_tail, _e343, metal::memory_order_relaxed);
                    shared.staged_front.inner[1025] = _e347;
                }
                metal::atomic_store_explicit(&shared.staged_len_front, 0u, metal::memory_order_relaxed);
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint _e354 = shared.staged_front.inner[1024];
            placed = lane;
            while(true) {
                uint _e356 = placed;
                if (_e356 >= _e354) {
                    break;
                }
                uint _e359 = shared.staged_front.inner[1025];
                uint _e360 = _e359 + _e356;
                uint _e362 = shared.staged_front.inner[_e356];
                uint front_capacity_2 = params.front_capacity;
                if (_e360 < front_capacity_2) {
                    uint front_items_at_2 = params.front_items_at;
                    uint front_side_2 = control.front_side;
                    plain[front_items_at_2 + (_e360 + ((1u - front_side_2) * front_capacity_2))] = _e362;
                }
                placed = _e356 + 256u;
            }
            uint _e376 = unnamed_2 + (_e21 * 1024u);
            tile = (_e376 < unnamed_2) ? 4294967295u : _e376;
        }
        uint _e379 = _e40 + _e32;
        row = (_e379 < _e40) ? 4294967295u : _e379;
    }
    uint _e383 = lane * 5u;
    uint _e385 = fault_kind;
    shared.words.inner[_e383 + 17u] = _e385;
    if (_e385 != 0u) {
        uint _e391 = fault_item;
        shared.words.inner[_e383 + 18u] = _e391;
        uint _e397 = fault_pc;
        shared.words.inner[_e383 + 19u] = _e397;
        uint _e403 = fault_index;
        shared.words.inner[_e383 + 20u] = _e403;
        uint _e409 = fault_len;
        shared.words.inner[_e383 + 21u] = _e409;
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane < 16u) {
        uint _e420 = shared.words.inner[((lane + 0u) * 5u) + 17u];
        uint _e426 = shared.words.inner[((lane + 16u) * 5u) + 17u];
        uint _e432 = shared.words.inner[((lane + 32u) * 5u) + 17u];
        uint _e439 = shared.words.inner[((lane + 48u) * 5u) + 17u];
        uint _e445 = shared.words.inner[((lane + 64u) * 5u) + 17u];
        uint _e452 = shared.words.inner[((lane + 80u) * 5u) + 17u];
        uint _e459 = shared.words.inner[((lane + 96u) * 5u) + 17u];
        uint _e466 = shared.words.inner[((lane + 112u) * 5u) + 17u];
        uint _e472 = shared.words.inner[((lane + 128u) * 5u) + 17u];
        uint _e479 = shared.words.inner[((lane + 144u) * 5u) + 17u];
        uint _e486 = shared.words.inner[((lane + 160u) * 5u) + 17u];
        uint _e493 = shared.words.inner[((lane + 176u) * 5u) + 17u];
        uint _e500 = shared.words.inner[((lane + 192u) * 5u) + 17u];
        uint _e507 = shared.words.inner[((lane + 208u) * 5u) + 17u];
        uint _e514 = shared.words.inner[((lane + 224u) * 5u) + 17u];
        uint _e521 = shared.words.inner[((lane + 240u) * 5u) + 17u];
        shared.words.inner[lane] = ((((((((((((((_e420 | _e426) | _e432) | _e439) | _e445) | _e452) | _e459) | _e466) | _e472) | _e479) | _e486) | _e493) | _e500) | _e507) | _e514) | _e521;
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane == 0u) {
        uint _e542 = shared.words.inner[0];
        uint _e545 = shared.words.inner[1];
        uint _e548 = shared.words.inner[2];
        uint _e551 = shared.words.inner[3];
        uint _e554 = shared.words.inner[4];
        uint _e557 = shared.words.inner[5];
        uint _e561 = shared.words.inner[6];
        uint _e564 = shared.words.inner[7];
        uint _e567 = shared.words.inner[8];
        uint _e571 = shared.words.inner[9];
        uint _e575 = shared.words.inner[10];
        uint _e579 = shared.words.inner[11];
        uint _e583 = shared.words.inner[12];
        uint _e587 = shared.words.inner[13];
        uint _e591 = shared.words.inner[14];
        uint _e594 = shared.words.inner[15];
        if ((((((((((((((((_e542 | _e545) | _e548) | _e551) | _e554) | _e557) | _e561) | _e564) | _e567) | _e571) | _e575) | _e579) | _e583) | _e587) | _e591) | _e594) != 0u) {
            other = 1u;
            while(true) {
                uint this_other = other;
                if (this_other >= 256u) {
                    break;
                }
                uint _e614 = this_other * 5u;
                uint _e618 = shared.words.inner[_e614 + 17u];
                if (_e618 != 0u) {
                    uint _e623 = shared.words.inner[_e614 + 18u];
                    uint _e627 = shared.words.inner[_e614 + 19u];
                    uint _e631 = shared.words.inner[_e614 + 20u];
                    uint _e635 = shared.words.inner[_e614 + 21u];
                    fault(_e618, _e623, _e627, _e631, _e635, fault_kind, fault_item, fault_pc, fault_index, fault_len);
                }
                other = this_other + 1u;
            }
            uint _e638 = metal::atomic_fetch_add_explicit(&control.faulted, 1u, metal::memory_order_relaxed);
            uint _e639 = _e638 * 5u;
            uint _e640 = fault_kind;
            control.records[_e639 + 0u] = _e640;
            uint _e644 = fault_item;
            control.records[_e639 + 1u] = _e644;
            uint _e648 = fault_pc;
            control.records[_e639 + 2u] = _e648;
            uint _e652 = fault_index;
            control.records[_e639 + 3u] = _e652;
            uint _e656 = fault_len;
            control.records[_e639 + 4u] = _e656;
        }
    }
}
