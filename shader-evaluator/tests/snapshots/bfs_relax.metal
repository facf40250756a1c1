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
    uint of_block = {};
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
    uint _e30 = ((front_len / _e22) >= 8u) ? 0u : 0u;
    uint _e31 = _e22 << _e30;
    uint _e37 = ((front_len / _e31) + (((front_len % _e31) != 0u) ? 1u : 0u)) << _e30;
    uint _e38 = metal::min(256u, 4294967295u / metal::max(graph_edges, 1u));
    uint _e39 = group.x / _e21;
    of_block = (_e39 >= _e22) ? 4294967295u : 0u;
    while(true) {
        uint _e46 = of_block;
        if (lane == 0u) {
            shared.words.inner[16] = (_e46 < _e37) ? metal::min(_e37 - _e46, _e38) : 0u;
        }
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint unnamed = shared.words.inner[16];
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (unnamed == 0u) {
            break;
        }
        degree = 0u;
        begin = 0u;
        uint _e57 = _e46 + lane;
        uint _e58 = _e57 >> _e30;
        uint _e60 = _e57 - (_e58 << _e30);
        uint _e67 = (_e58 * _e22) + ((((_e58 * 2654435761u) >> 16u) + _e39) % _e22);
        uint _e68 = _e67 << _e30;
        if ((((_e67 <= (front_len >> _e30)) && (_e60 < (front_len - _e68))) && (_e57 < _e37)) && (lane < _e38)) {
            uint front_items_at_1 = params.front_items_at;
            uint front_side_1 = control.front_side;
            uint front_capacity_1 = params.front_capacity;
            uint _e91 = plain[front_items_at_1 + ((0u + (_e68 + _e60)) + (front_side_1 * front_capacity_1))];
            uint graph_offsets_at = params.graph_offsets_at;
            uint _e97 = fixed[graph_offsets_at + _e91];
            uint _e101 = fixed[(graph_offsets_at + _e91) + 1u];
            begin = _e97;
            degree = _e101 - _e97;
            shared.words.inner[lane + 785u] = _e91;
        }
        uint _e107 = degree;
        uint _e108 = begin;
        sum = _e107;
        if (unnamed > 1u) {
            uint _e111 = sum;
            shared.words.inner[lane + 17u] = _e111;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 1u) {
                uint _e121 = shared.words.inner[(lane - 1u) + 17u];
                uint _e122 = sum;
                sum = _e122 + _e121;
            }
            uint _e124 = sum;
            shared.words.inner[lane + 273u] = _e124;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 2u) {
                uint _e135 = shared.words.inner[(lane - 2u) + 273u];
                uint _e136 = sum;
                sum = _e136 + _e135;
            }
        }
        if (unnamed > 4u) {
            uint _e140 = sum;
            shared.words.inner[lane + 17u] = _e140;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 4u) {
                uint _e149 = shared.words.inner[(lane - 4u) + 17u];
                uint _e150 = sum;
                sum = _e150 + _e149;
            }
            uint _e152 = sum;
            shared.words.inner[lane + 273u] = _e152;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 8u) {
                uint _e161 = shared.words.inner[(lane - 8u) + 273u];
                uint _e162 = sum;
                sum = _e162 + _e161;
            }
        }
        if (unnamed > 16u) {
            uint _e165 = sum;
            shared.words.inner[lane + 17u] = _e165;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 16u) {
                uint _e174 = shared.words.inner[(lane - 16u) + 17u];
                uint _e175 = sum;
                sum = _e175 + _e174;
            }
            uint _e177 = sum;
            shared.words.inner[lane + 273u] = _e177;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 32u) {
                uint _e187 = shared.words.inner[(lane - 32u) + 273u];
                uint _e188 = sum;
                sum = _e188 + _e187;
            }
        }
        if (unnamed > 64u) {
            uint _e192 = sum;
            shared.words.inner[lane + 17u] = _e192;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 64u) {
                uint _e201 = shared.words.inner[(lane - 64u) + 17u];
                uint _e202 = sum;
                sum = _e202 + _e201;
            }
            uint _e204 = sum;
            shared.words.inner[lane + 273u] = _e204;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 128u) {
                uint _e214 = shared.words.inner[(lane - 128u) + 273u];
                uint _e215 = sum;
                sum = _e215 + _e214;
            }
        }
        uint _e217 = sum;
        shared.words.inner[lane + 17u] = _e217;
        shared.words.inner[lane + 529u] = _e108 - (_e217 - _e107);
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint unnamed_1 = shared.words.inner[(unnamed - 1u) + 17u];
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        tile = (group.x % _e21) * 1024u;
        while(true) {
            if (lane == 0u) {
                uint _e239 = tile;
                shared.words.inner[16] = _e239;
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint unnamed_2 = shared.words.inner[16];
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (unnamed_2 >= unnamed_1) {
                break;
            }
            next = unnamed_2 + lane;
            while(true) {
                uint _e247 = next;
                if (_e247 >= (unnamed_2 + metal::min(unnamed_1 - unnamed_2, 1024u))) {
                    break;
                }
                owner = 0u;
                if (unnamed > 128u) {
                    uint _e251 = owner;
                    uint _e257 = shared.words.inner[(_e251 + 127u) + 17u];
                    owner = (_e257 <= _e247) ? (_e251 + 128u) : _e251;
                }
                if (unnamed > 64u) {
                    uint _e262 = owner;
                    uint _e268 = shared.words.inner[(_e262 + 63u) + 17u];
                    owner = (_e268 <= _e247) ? (_e262 + 64u) : _e262;
                }
                if (unnamed > 32u) {
                    uint _e273 = owner;
                    uint _e279 = shared.words.inner[(_e273 + 31u) + 17u];
                    owner = (_e279 <= _e247) ? (_e273 + 32u) : _e273;
                }
                if (unnamed > 16u) {
                    uint _e284 = owner;
                    uint _e290 = shared.words.inner[(_e284 + 15u) + 17u];
                    owner = (_e290 <= _e247) ? (_e284 + 16u) : _e284;
                }
                if (unnamed > 8u) {
                    uint _e295 = owner;
                    uint _e301 = shared.words.inner[(_e295 + 7u) + 17u];
                    owner = (_e301 <= _e247) ? (_e295 + 8u) : _e295;
                }
                if (unnamed > 4u) {
                    uint _e306 = owner;
                    uint _e312 = shared.words.inner[(_e306 + 3u) + 17u];
                    owner = (_e312 <= _e247) ? (_e306 + 4u) : _e306;
                }
                if (unnamed > 2u) {
                    uint _e317 = owner;
                    uint _e322 = shared.words.inner[(_e317 + 1u) + 17u];
                    owner = (_e322 <= _e247) ? (_e317 + 2u) : _e317;
                }
                if (unnamed > 1u) {
                    uint _e327 = owner;
                    uint _e331 = shared.words.inner[_e327 + 17u];
                    owner = (_e331 <= _e247) ? (_e327 + 1u) : _e327;
                }
                uint _e335 = owner;
                uint _e339 = shared.words.inner[_e335 + 529u];
                uint this_node = shared.words.inner[_e335 + 785u];
                uint this_edge = _e247 + _e339;
                uint graph_targets_at = params.graph_targets_at;
                uint _e349 = fixed[graph_targets_at + this_edge];
                relax(this_edge, _e349, params, fault_kind, fault_item, fault_pc, fault_index, fault_len, cells, shared, control, plain, _buffer_sizes);
                uint _e350 = _e247 + 256u;
                if (_e350 < _e247) {
                    break;
                }
                next = _e350;
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane == 0u) {
                uint _e355 = metal::atomic_load_explicit(&shared.staged_len_front, metal::memory_order_relaxed);
                uint _e356 = metal::min(_e355, 1024u);
                shared.staged_front.inner[1024] = _e356;
                if (_e356 != 0u) {
                    uint _e360 = metal::atomic_fetch_add_explicit(&control.front_tail, _e356, metal::memory_order_relaxed);
                    shared.staged_front.inner[1025] = _e360;
                }
                metal::atomic_store_explicit(&shared.staged_len_front, 0u, metal::memory_order_relaxed);
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint _e367 = shared.staged_front.inner[1024];
            placed = lane;
            while(true) {
                uint _e369 = placed;
                if (_e369 >= _e367) {
                    break;
                }
                uint _e372 = shared.staged_front.inner[1025];
                uint _e373 = _e372 + _e369;
                uint _e375 = shared.staged_front.inner[_e369];
                uint front_capacity_2 = params.front_capacity;
                if (_e373 < front_capacity_2) {
                    uint front_items_at_2 = params.front_items_at;
                    uint front_side_2 = control.front_side;
                    plain[front_items_at_2 + (_e373 + ((1u - front_side_2) * front_capacity_2))] = _e375;
                }
                placed = _e369 + 256u;
            }
            uint _e389 = unnamed_2 + (_e21 * 1024u);
            tile = (_e389 < unnamed_2) ? 4294967295u : _e389;
        }
        uint _e392 = _e46 + _e38;
        of_block = (_e392 < _e46) ? 4294967295u : _e392;
    }
    uint _e396 = lane * 5u;
    uint _e398 = fault_kind;
    shared.words.inner[_e396 + 17u] = _e398;
    if (_e398 != 0u) {
        uint _e404 = fault_item;
        shared.words.inner[_e396 + 18u] = _e404;
        uint _e410 = fault_pc;
        shared.words.inner[_e396 + 19u] = _e410;
        uint _e416 = fault_index;
        shared.words.inner[_e396 + 20u] = _e416;
        uint _e422 = fault_len;
        shared.words.inner[_e396 + 21u] = _e422;
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane < 16u) {
        uint _e433 = shared.words.inner[((lane + 0u) * 5u) + 17u];
        uint _e439 = shared.words.inner[((lane + 16u) * 5u) + 17u];
        uint _e445 = shared.words.inner[((lane + 32u) * 5u) + 17u];
        uint _e452 = shared.words.inner[((lane + 48u) * 5u) + 17u];
        uint _e458 = shared.words.inner[((lane + 64u) * 5u) + 17u];
        uint _e465 = shared.words.inner[((lane + 80u) * 5u) + 17u];
        uint _e472 = shared.words.inner[((lane + 96u) * 5u) + 17u];
        uint _e479 = shared.words.inner[((lane + 112u) * 5u) + 17u];
        uint _e485 = shared.words.inner[((lane + 128u) * 5u) + 17u];
        uint _e492 = shared.words.inner[((lane + 144u) * 5u) + 17u];
        uint _e499 = shared.words.inner[((lane + 160u) * 5u) + 17u];
        uint _e506 = shared.words.inner[((lane + 176u) * 5u) + 17u];
        uint _e513 = shared.words.inner[((lane + 192u) * 5u) + 17u];
        uint _e520 = shared.words.inner[((lane + 208u) * 5u) + 17u];
        uint _e527 = shared.words.inner[((lane + 224u) * 5u) + 17u];
        uint _e534 = shared.words.inner[((lane + 240u) * 5u) + 17u];
        shared.words.inner[lane] = ((((((((((((((_e433 | _e439) | _e445) | _e452) | _e458) | _e465) | _e472) | _e479) | _e485) | _e492) | _e499) | _e506) | _e513) | _e520) | _e527) | _e534;
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane == 0u) {
        uint _e555 = shared.words.inner[0];
        uint _e558 = shared.words.inner[1];
        uint _e561 = shared.words.inner[2];
        uint _e564 = shared.words.inner[3];
        uint _e567 = shared.words.inner[4];
        uint _e570 = shared.words.inner[5];
        uint _e574 = shared.words.inner[6];
        uint _e577 = shared.words.inner[7];
        uint _e580 = shared.words.inner[8];
        uint _e584 = shared.words.inner[9];
        uint _e588 = shared.words.inner[10];
        uint _e592 = shared.words.inner[11];
        uint _e596 = shared.words.inner[12];
        uint _e600 = shared.words.inner[13];
        uint _e604 = shared.words.inner[14];
        uint _e607 = shared.words.inner[15];
        if ((((((((((((((((_e555 | _e558) | _e561) | _e564) | _e567) | _e570) | _e574) | _e577) | _e580) | _e584) | _e588) | _e592) | _e596) | _e600) | _e604) | _e607) != 0u) {
            other = 1u;
            while(true) {
                uint this_other = other;
                if (this_other >= 256u) {
                    break;
                }
                uint _e627 = this_other * 5u;
                uint _e631 = shared.words.inner[_e627 + 17u];
                if (_e631 != 0u) {
                    uint _e636 = shared.words.inner[_e627 + 18u];
                    uint _e640 = shared.words.inner[_e627 + 19u];
                    uint _e644 = shared.words.inner[_e627 + 20u];
                    uint _e648 = shared.words.inner[_e627 + 21u];
                    fault(_e631, _e636, _e640, _e644, _e648, fault_kind, fault_item, fault_pc, fault_index, fault_len);
                }
                other = this_other + 1u;
            }
            uint _e651 = metal::atomic_fetch_add_explicit(&control.faulted, 1u, metal::memory_order_relaxed);
            uint _e652 = _e651 * 5u;
            uint _e653 = fault_kind;
            control.records[_e652 + 0u] = _e653;
            uint _e657 = fault_item;
            control.records[_e652 + 1u] = _e657;
            uint _e661 = fault_pc;
            control.records[_e652 + 2u] = _e661;
            uint _e665 = fault_index;
            control.records[_e652 + 3u] = _e665;
            uint _e669 = fault_len;
            control.records[_e652 + 4u] = _e669;
        }
    }
}
