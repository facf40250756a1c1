// language: metal2.4
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size6;
    uint size9;
    uint size10;
    uint size12;
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
    uint inner[1026];
};
typedef uint type_8[1];
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
    type_8 records;
};
struct type_9 {
    uint inner[1297];
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
    threadgroup metal::atomic_uint& staged_len_front,
    threadgroup type_7& staged_front,
    device Control& control,
    device type_8& plain,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e3 = metal::atomic_fetch_add_explicit(&staged_len_front, 1u, metal::memory_order_relaxed);
    if (_e3 < 1024u) {
        staged_front.inner[_e3] = node;
        return;
    }
    uint _e10 = metal::atomic_fetch_add_explicit(&control.front_tail, 1u, metal::memory_order_relaxed);
    uint front_capacity = params.front_capacity;
    if (_e10 < front_capacity) {
        uint front_items_at = params.front_items_at;
        uint front_side = control.front_side;
        plain[front_items_at + (_e10 + ((1u - front_side) * front_capacity))] = node;
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
    threadgroup metal::atomic_uint& staged_len_front,
    threadgroup type_7& staged_front,
    device Control& control,
    device type_8& plain,
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
        push_front(dst, params, staged_len_front, staged_front, control, plain, _buffer_sizes);
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
, threadgroup metal::atomic_uint& staged_len_front
, threadgroup type_7& staged_front
, device Control& control [[buffer(4)]]
, device type_8& plain [[buffer(2)]]
, threadgroup type_9& shared_words
, device type_8 const& fixed [[buffer(1)]]
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
        metal::atomic_store_explicit(&staged_len_front, 0u, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint front_len = control.front_len;
    uint graph_edges = params.graph_edges;
    uint _e19 = metal::max(groups.x / metal::max(front_len, 1u), 1u);
    uint _e20 = groups.x / _e19;
    uint _e29 = (front_len / _e20) + (((front_len % _e20) != 0u) ? 1u : 0u);
    uint _e30 = metal::min(256u, 4294967295u / metal::max(graph_edges, 1u));
    uint _e31 = group.x / _e19;
    row = (_e31 >= _e20) ? 4294967295u : 0u;
    while(true) {
        uint _e38 = row;
        if (lane == 0u) {
            shared_words.inner[16] = (_e38 < _e29) ? metal::min(_e29 - _e38, _e30) : 0u;
        }
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint unnamed = shared_words.inner[16];
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (unnamed == 0u) {
            break;
        }
        degree = 0u;
        begin = 0u;
        uint _e49 = _e38 + lane;
        uint _e54 = (((_e49 * 2654435761u) >> 16u) + _e31) % _e20;
        uint _e55 = _e49 * _e20;
        if ((lane < _e30) && ((_e49 < _e29) && (_e54 < (front_len - _e55)))) {
            uint front_items_at_1 = params.front_items_at;
            uint front_side_1 = control.front_side;
            uint front_capacity_1 = params.front_capacity;
            uint _e75 = plain[front_items_at_1 + ((0u + (_e55 + _e54)) + (front_side_1 * front_capacity_1))];
            uint graph_offsets_at = params.graph_offsets_at;
            uint _e81 = fixed[graph_offsets_at + _e75];
            uint _e85 = fixed[(graph_offsets_at + _e75) + 1u];
            begin = _e81;
            degree = _e85 - _e81;
            shared_words.inner[lane + 785u] = _e75;
        }
        uint _e90 = degree;
        sum = _e90;
        if (unnamed > 1u) {
            uint _e93 = sum;
            shared_words.inner[lane + 17u] = _e93;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 1u) {
                uint _e101 = shared_words.inner[(lane - 1u) + 17u];
                uint _e102 = sum;
                sum = _e102 + _e101;
            }
            uint _e104 = sum;
            shared_words.inner[lane + 273u] = _e104;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 2u) {
                uint _e113 = shared_words.inner[(lane - 2u) + 273u];
                uint _e114 = sum;
                sum = _e114 + _e113;
            }
        }
        if (unnamed > 4u) {
            uint _e118 = sum;
            shared_words.inner[lane + 17u] = _e118;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 4u) {
                uint _e125 = shared_words.inner[(lane - 4u) + 17u];
                uint _e126 = sum;
                sum = _e126 + _e125;
            }
            uint _e128 = sum;
            shared_words.inner[lane + 273u] = _e128;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 8u) {
                uint _e136 = shared_words.inner[(lane - 8u) + 273u];
                uint _e137 = sum;
                sum = _e137 + _e136;
            }
        }
        if (unnamed > 16u) {
            uint _e140 = sum;
            shared_words.inner[lane + 17u] = _e140;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 16u) {
                uint _e147 = shared_words.inner[(lane - 16u) + 17u];
                uint _e148 = sum;
                sum = _e148 + _e147;
            }
            uint _e150 = sum;
            shared_words.inner[lane + 273u] = _e150;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 32u) {
                uint _e158 = shared_words.inner[(lane - 32u) + 273u];
                uint _e159 = sum;
                sum = _e159 + _e158;
            }
        }
        if (unnamed > 64u) {
            uint _e163 = sum;
            shared_words.inner[lane + 17u] = _e163;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 64u) {
                uint _e170 = shared_words.inner[(lane - 64u) + 17u];
                uint _e171 = sum;
                sum = _e171 + _e170;
            }
            uint _e173 = sum;
            shared_words.inner[lane + 273u] = _e173;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane >= 128u) {
                uint _e181 = shared_words.inner[(lane - 128u) + 273u];
                uint _e182 = sum;
                sum = _e182 + _e181;
            }
        }
        uint _e184 = sum;
        shared_words.inner[lane + 17u] = _e184;
        uint _e187 = begin;
        shared_words.inner[lane + 529u] = _e187 - (_e184 - _e90);
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint unnamed_1 = shared_words.inner[(unnamed - 1u) + 17u];
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        tile = (group.x % _e19) * 1024u;
        while(true) {
            if (lane == 0u) {
                uint _e203 = tile;
                shared_words.inner[16] = _e203;
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint unnamed_2 = shared_words.inner[16];
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (unnamed_2 >= unnamed_1) {
                break;
            }
            next = unnamed_2 + lane;
            while(true) {
                uint _e211 = next;
                if (_e211 >= (unnamed_2 + metal::min(unnamed_1 - unnamed_2, 1024u))) {
                    break;
                }
                owner = 0u;
                if (unnamed > 128u) {
                    uint _e215 = owner;
                    uint _e220 = shared_words.inner[(_e215 + 127u) + 17u];
                    owner = (_e220 <= _e211) ? (_e215 + 128u) : _e215;
                }
                if (unnamed > 64u) {
                    uint _e225 = owner;
                    uint _e230 = shared_words.inner[(_e225 + 63u) + 17u];
                    owner = (_e230 <= _e211) ? (_e225 + 64u) : _e225;
                }
                if (unnamed > 32u) {
                    uint _e235 = owner;
                    uint _e240 = shared_words.inner[(_e235 + 31u) + 17u];
                    owner = (_e240 <= _e211) ? (_e235 + 32u) : _e235;
                }
                if (unnamed > 16u) {
                    uint _e245 = owner;
                    uint _e250 = shared_words.inner[(_e245 + 15u) + 17u];
                    owner = (_e250 <= _e211) ? (_e245 + 16u) : _e245;
                }
                if (unnamed > 8u) {
                    uint _e255 = owner;
                    uint _e260 = shared_words.inner[(_e255 + 7u) + 17u];
                    owner = (_e260 <= _e211) ? (_e255 + 8u) : _e255;
                }
                if (unnamed > 4u) {
                    uint _e265 = owner;
                    uint _e270 = shared_words.inner[(_e265 + 3u) + 17u];
                    owner = (_e270 <= _e211) ? (_e265 + 4u) : _e265;
                }
                if (unnamed > 2u) {
                    uint _e275 = owner;
                    uint _e279 = shared_words.inner[(_e275 + 1u) + 17u];
                    owner = (_e279 <= _e211) ? (_e275 + 2u) : _e275;
                }
                if (unnamed > 1u) {
                    uint _e284 = owner;
                    uint _e287 = shared_words.inner[_e284 + 17u];
                    owner = (_e287 <= _e211) ? (_e284 + 1u) : _e284;
                }
                uint _e291 = owner;
                uint _e294 = shared_words.inner[_e291 + 529u];
                uint this_node = shared_words.inner[_e291 + 785u];
                uint this_edge = _e211 + _e294;
                uint graph_targets_at = params.graph_targets_at;
                uint _e303 = fixed[graph_targets_at + this_edge];
                relax(this_edge, _e303, params, fault_kind, fault_item, fault_pc, fault_index, fault_len, cells, staged_len_front, staged_front, control, plain, _buffer_sizes);
                uint _e304 = _e211 + 256u;
                if (_e304 < _e211) {
                    break;
                }
                next = _e304;
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            if (lane == 0u) {
                uint _e307 = metal::atomic_load_explicit(&staged_len_front, metal::memory_order_relaxed);
                uint _e308 = metal::min(_e307, 1024u);
                staged_front.inner[1024] = _e308;
                if (_e308 != 0u) {
                    uint _e313 = metal::atomic_fetch_add_explicit(&control.front_tail, _e308, metal::memory_order_relaxed);
                    staged_front.inner[1025] = _e313;
                }
                metal::atomic_store_explicit(&staged_len_front, 0u, metal::memory_order_relaxed);
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint _e317 = staged_front.inner[1024];
            placed = lane;
            while(true) {
                uint _e319 = placed;
                if (_e319 >= _e317) {
                    break;
                }
                uint _e322 = staged_front.inner[1025];
                uint _e323 = _e322 + _e319;
                uint _e325 = staged_front.inner[_e319];
                uint front_capacity_2 = params.front_capacity;
                if (_e323 < front_capacity_2) {
                    uint front_items_at_2 = params.front_items_at;
                    uint front_side_2 = control.front_side;
                    plain[front_items_at_2 + (_e323 + ((1u - front_side_2) * front_capacity_2))] = _e325;
                }
                placed = _e319 + 256u;
            }
            uint _e339 = unnamed_2 + (_e19 * 1024u);
            tile = (_e339 < unnamed_2) ? 4294967295u : _e339;
        }
        uint _e342 = _e38 + _e30;
        row = (_e342 < _e38) ? 4294967295u : _e342;
    }
    uint _e346 = lane * 5u;
    uint _e348 = fault_kind;
    shared_words.inner[_e346 + 17u] = _e348;
    if (_e348 != 0u) {
        uint _e353 = fault_item;
        shared_words.inner[_e346 + 18u] = _e353;
        uint _e358 = fault_pc;
        shared_words.inner[_e346 + 19u] = _e358;
        uint _e363 = fault_index;
        shared_words.inner[_e346 + 20u] = _e363;
        uint _e368 = fault_len;
        shared_words.inner[_e346 + 21u] = _e368;
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane < 16u) {
        uint _e377 = shared_words.inner[((lane + 0u) * 5u) + 17u];
        uint _e382 = shared_words.inner[((lane + 16u) * 5u) + 17u];
        uint _e387 = shared_words.inner[((lane + 32u) * 5u) + 17u];
        uint _e393 = shared_words.inner[((lane + 48u) * 5u) + 17u];
        uint _e398 = shared_words.inner[((lane + 64u) * 5u) + 17u];
        uint _e404 = shared_words.inner[((lane + 80u) * 5u) + 17u];
        uint _e410 = shared_words.inner[((lane + 96u) * 5u) + 17u];
        uint _e416 = shared_words.inner[((lane + 112u) * 5u) + 17u];
        uint _e421 = shared_words.inner[((lane + 128u) * 5u) + 17u];
        uint _e427 = shared_words.inner[((lane + 144u) * 5u) + 17u];
        uint _e433 = shared_words.inner[((lane + 160u) * 5u) + 17u];
        uint _e439 = shared_words.inner[((lane + 176u) * 5u) + 17u];
        uint _e445 = shared_words.inner[((lane + 192u) * 5u) + 17u];
        uint _e451 = shared_words.inner[((lane + 208u) * 5u) + 17u];
        uint _e457 = shared_words.inner[((lane + 224u) * 5u) + 17u];
        uint _e463 = shared_words.inner[((lane + 240u) * 5u) + 17u];
        shared_words.inner[lane] = ((((((((((((((_e377 | _e382) | _e387) | _e393) | _e398) | _e404) | _e410) | _e416) | _e421) | _e427) | _e433) | _e439) | _e445) | _e451) | _e457) | _e463;
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane == 0u) {
        uint _e482 = shared_words.inner[0];
        uint _e484 = shared_words.inner[1];
        uint _e486 = shared_words.inner[2];
        uint _e488 = shared_words.inner[3];
        uint _e490 = shared_words.inner[4];
        uint _e492 = shared_words.inner[5];
        uint _e495 = shared_words.inner[6];
        uint _e497 = shared_words.inner[7];
        uint _e499 = shared_words.inner[8];
        uint _e502 = shared_words.inner[9];
        uint _e505 = shared_words.inner[10];
        uint _e508 = shared_words.inner[11];
        uint _e511 = shared_words.inner[12];
        uint _e514 = shared_words.inner[13];
        uint _e517 = shared_words.inner[14];
        uint _e519 = shared_words.inner[15];
        if ((((((((((((((((_e482 | _e484) | _e486) | _e488) | _e490) | _e492) | _e495) | _e497) | _e499) | _e502) | _e505) | _e508) | _e511) | _e514) | _e517) | _e519) != 0u) {
            other = 1u;
            while(true) {
                uint this_other = other;
                if (this_other >= 256u) {
                    break;
                }
                uint _e539 = this_other * 5u;
                uint _e542 = shared_words.inner[_e539 + 17u];
                if (_e542 != 0u) {
                    uint _e546 = shared_words.inner[_e539 + 18u];
                    uint _e549 = shared_words.inner[_e539 + 19u];
                    uint _e552 = shared_words.inner[_e539 + 20u];
                    uint _e555 = shared_words.inner[_e539 + 21u];
                    fault(_e542, _e546, _e549, _e552, _e555, fault_kind, fault_item, fault_pc, fault_index, fault_len);
                }
                other = this_other + 1u;
            }
            uint _e558 = metal::atomic_fetch_add_explicit(&control.faulted, 1u, metal::memory_order_relaxed);
            uint _e559 = _e558 * 5u;
            uint _e560 = fault_kind;
            control.records[_e559 + 0u] = _e560;
            uint _e564 = fault_item;
            control.records[_e559 + 1u] = _e564;
            uint _e568 = fault_pc;
            control.records[_e559 + 2u] = _e568;
            uint _e572 = fault_index;
            control.records[_e559 + 3u] = _e572;
            uint _e576 = fault_len;
            control.records[_e559 + 4u] = _e576;
        }
    }
}
