// language: metal2.4
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size6;
    uint size7;
    uint size8;
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
typedef uint type_7[1];
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
    type_7 records;
};
struct type_8 {
    uint inner[329];
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
    while(true) {
        _atomic_compare_exchange_result_Uint_4_ _e7 = naga_atomic_compare_exchange_weak_explicit(&cells[at], expected, value);
        if (_e7.exchanged) {
            done = 1u;
            break;
        }
        if (_e7.old_value != expected) {
            break;
        }
    }
    uint _e12 = done;
    return _e12;
}

void push_front(
    uint node,
    constant Params& params,
    device Control& control,
    device type_7& plain,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e4 = metal::atomic_fetch_add_explicit(&control.front_tail, 1u, metal::memory_order_relaxed);
    uint front_capacity = params.front_capacity;
    if (_e4 < front_capacity) {
        uint front_items_at = params.front_items_at;
        uint front_side = control.front_side;
        plain[front_items_at + (_e4 + ((1u - front_side) * front_capacity))] = node;
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
    device Control& control,
    device type_7& plain,
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
        push_front(dst, params, control, plain, _buffer_sizes);
    }
    return;
}

struct relax_sweepInput {
};
[[max_total_threads_per_threadgroup(64)]] kernel void relax_sweep(
  metal::uint3 id [[thread_position_in_grid]]
, uint lane [[thread_index_in_threadgroup]]
, metal::uint3 group [[threadgroup_position_in_grid]]
, metal::uint3 groups [[threadgroups_per_grid]]
, constant Params& params [[buffer(0)]]
, device type_6& cells [[buffer(3)]]
, device Control& control [[buffer(4)]]
, device type_7& plain [[buffer(2)]]
, threadgroup type_8& shared_words
, device type_7 const& fixed [[buffer(1)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(5)]]
) {
    uint fault_kind = 0u;
    uint fault_item = 0u;
    uint fault_pc = 0u;
    uint fault_index = 0u;
    uint fault_len = 0u;
    uint degree = {};
    uint begin = {};
    uint block = {};
    uint sum = {};
    uint next = {};
    uint owner = {};
    uint other = {};
    uint front_len = control.front_len;
    uint graph_edges = params.graph_edges;
    uint _e17 = metal::max(groups.x / metal::max(front_len, 1u), 1u);
    uint _e18 = groups.x / _e17;
    uint _e19 = group.x / _e17;
    uint _e28 = metal::min(metal::min(64u, 4294967295u / metal::max(graph_edges, 1u)), (front_len / _e18) + 1u);
    block = (_e19 >= _e18) ? 4294967295u : _e19;
    while(true) {
        if (lane == 0u) {
            uint _e39 = block;
            shared_words.inner[8] = (_e39 < front_len) ? _e39 : 4294967295u;
        }
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint unnamed = shared_words.inner[8];
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (unnamed == 4294967295u) {
            break;
        }
        degree = 0u;
        begin = 0u;
        uint _e44 = lane * _e18;
        if ((lane < _e28) && (_e44 < (front_len - unnamed))) {
            uint front_items_at_1 = params.front_items_at;
            uint front_side_1 = control.front_side;
            uint front_capacity_1 = params.front_capacity;
            uint _e61 = plain[front_items_at_1 + ((unnamed + _e44) + (front_side_1 * front_capacity_1))];
            uint graph_offsets_at = params.graph_offsets_at;
            uint _e67 = fixed[graph_offsets_at + _e61];
            uint _e71 = fixed[(graph_offsets_at + _e61) + 1u];
            begin = _e67;
            degree = _e71 - _e67;
            shared_words.inner[lane + 201u] = _e61;
        }
        uint _e76 = degree;
        sum = _e76;
        uint _e78 = sum;
        shared_words.inner[lane + 9u] = _e78;
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (lane >= 1u) {
            uint _e86 = shared_words.inner[(lane - 1u) + 9u];
            uint _e87 = sum;
            sum = _e87 + _e86;
        }
        uint _e89 = sum;
        shared_words.inner[lane + 73u] = _e89;
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (lane >= 2u) {
            uint _e98 = shared_words.inner[(lane - 2u) + 73u];
            uint _e99 = sum;
            sum = _e99 + _e98;
        }
        uint _e101 = sum;
        shared_words.inner[lane + 9u] = _e101;
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (lane >= 4u) {
            uint _e109 = shared_words.inner[(lane - 4u) + 9u];
            uint _e110 = sum;
            sum = _e110 + _e109;
        }
        uint _e112 = sum;
        shared_words.inner[lane + 73u] = _e112;
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (lane >= 8u) {
            uint _e119 = shared_words.inner[(lane - 8u) + 73u];
            uint _e120 = sum;
            sum = _e120 + _e119;
        }
        uint _e122 = sum;
        shared_words.inner[lane + 9u] = _e122;
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (lane >= 16u) {
            uint _e130 = shared_words.inner[(lane - 16u) + 9u];
            uint _e131 = sum;
            sum = _e131 + _e130;
        }
        uint _e133 = sum;
        shared_words.inner[lane + 73u] = _e133;
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (lane >= 32u) {
            uint _e141 = shared_words.inner[(lane - 32u) + 73u];
            uint _e142 = sum;
            sum = _e142 + _e141;
        }
        uint _e144 = sum;
        shared_words.inner[lane + 9u] = _e144;
        uint _e147 = begin;
        shared_words.inner[lane + 137u] = _e147 - (_e144 - _e76);
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint all_edges = shared_words.inner[72];
        next = ((group.x % _e17) * 64u) + lane;
        while(true) {
            uint _e161 = next;
            if (_e161 >= all_edges) {
                break;
            }
            owner = 0u;
            uint _e164 = owner;
            uint _e169 = shared_words.inner[(_e164 + 31u) + 9u];
            owner = (_e169 <= _e161) ? (_e164 + 32u) : _e164;
            uint _e173 = owner;
            uint _e178 = shared_words.inner[(_e173 + 15u) + 9u];
            owner = (_e178 <= _e161) ? (_e173 + 16u) : _e173;
            uint _e182 = owner;
            uint _e187 = shared_words.inner[(_e182 + 7u) + 9u];
            owner = (_e187 <= _e161) ? (_e182 + 8u) : _e182;
            uint _e191 = owner;
            uint _e196 = shared_words.inner[(_e191 + 3u) + 9u];
            owner = (_e196 <= _e161) ? (_e191 + 4u) : _e191;
            uint _e200 = owner;
            uint _e204 = shared_words.inner[(_e200 + 1u) + 9u];
            owner = (_e204 <= _e161) ? (_e200 + 2u) : _e200;
            uint _e208 = owner;
            uint _e211 = shared_words.inner[_e208 + 9u];
            owner = (_e211 <= _e161) ? (_e208 + 1u) : _e208;
            uint _e215 = owner;
            uint _e218 = shared_words.inner[_e215 + 137u];
            uint this_node = shared_words.inner[_e215 + 201u];
            uint this_edge = _e161 + _e218;
            uint graph_targets_at = params.graph_targets_at;
            uint _e227 = fixed[graph_targets_at + this_edge];
            relax(this_edge, _e227, params, fault_kind, fault_item, fault_pc, fault_index, fault_len, cells, control, plain, _buffer_sizes);
            uint _e228 = _e161 + (_e17 * 64u);
            if (_e228 < _e161) {
                break;
            }
            next = _e228;
        }
        uint _e230 = unnamed + (_e18 * _e28);
        block = (_e230 < unnamed) ? 4294967295u : _e230;
    }
    uint _e234 = lane * 5u;
    uint _e236 = fault_kind;
    shared_words.inner[_e234 + 9u] = _e236;
    if (_e236 != 0u) {
        uint _e241 = fault_item;
        shared_words.inner[_e234 + 10u] = _e241;
        uint _e246 = fault_pc;
        shared_words.inner[_e234 + 11u] = _e246;
        uint _e251 = fault_index;
        shared_words.inner[_e234 + 12u] = _e251;
        uint _e256 = fault_len;
        shared_words.inner[_e234 + 13u] = _e256;
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane < 8u) {
        uint _e265 = shared_words.inner[((lane + 0u) * 5u) + 9u];
        uint _e270 = shared_words.inner[((lane + 8u) * 5u) + 9u];
        uint _e275 = shared_words.inner[((lane + 16u) * 5u) + 9u];
        uint _e281 = shared_words.inner[((lane + 24u) * 5u) + 9u];
        uint _e286 = shared_words.inner[((lane + 32u) * 5u) + 9u];
        uint _e292 = shared_words.inner[((lane + 40u) * 5u) + 9u];
        uint _e298 = shared_words.inner[((lane + 48u) * 5u) + 9u];
        uint _e304 = shared_words.inner[((lane + 56u) * 5u) + 9u];
        shared_words.inner[lane] = ((((((_e265 | _e270) | _e275) | _e281) | _e286) | _e292) | _e298) | _e304;
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane == 0u) {
        uint _e315 = shared_words.inner[0];
        uint _e317 = shared_words.inner[1];
        uint _e319 = shared_words.inner[2];
        uint _e321 = shared_words.inner[3];
        uint _e323 = shared_words.inner[4];
        uint _e325 = shared_words.inner[5];
        uint _e328 = shared_words.inner[6];
        uint _e330 = shared_words.inner[7];
        if ((((((((_e315 | _e317) | _e319) | _e321) | _e323) | _e325) | _e328) | _e330) != 0u) {
            other = 1u;
            while(true) {
                uint this_other = other;
                if (this_other >= 64u) {
                    break;
                }
                uint _e342 = this_other * 5u;
                uint _e345 = shared_words.inner[_e342 + 9u];
                if (_e345 != 0u) {
                    uint _e349 = shared_words.inner[_e342 + 10u];
                    uint _e352 = shared_words.inner[_e342 + 11u];
                    uint _e355 = shared_words.inner[_e342 + 12u];
                    uint _e358 = shared_words.inner[_e342 + 13u];
                    fault(_e345, _e349, _e352, _e355, _e358, fault_kind, fault_item, fault_pc, fault_index, fault_len);
                }
                other = this_other + 1u;
            }
            uint _e361 = metal::atomic_fetch_add_explicit(&control.faulted, 1u, metal::memory_order_relaxed);
            uint _e362 = _e361 * 5u;
            uint _e363 = fault_kind;
            control.records[_e362 + 0u] = _e363;
            uint _e367 = fault_item;
            control.records[_e362 + 1u] = _e367;
            uint _e371 = fault_pc;
            control.records[_e362 + 2u] = _e371;
            uint _e375 = fault_index;
            control.records[_e362 + 3u] = _e375;
            uint _e379 = fault_len;
            control.records[_e362 + 4u] = _e379;
        }
    }
}
