// language: metal2.4
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size6;
    uint size7;
    uint size8;
    uint size9;
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
    uint front_len;
    metal::atomic_uint front_tail;
    uint front_side;
    type_7 records;
};
struct type_8 {
    uint inner[320];
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
, device type_7 const& fixed [[buffer(1)]]
, threadgroup type_8& shared_records
, constant _mslBufferSizes& _buffer_sizes [[buffer(5)]]
) {
    uint fault_kind = 0u;
    uint fault_item = 0u;
    uint fault_pc = 0u;
    uint fault_index = 0u;
    uint fault_len = 0u;
    uint next = {};
    uint edge = {};
    uint other = {};
    uint front_len = control.front_len;
    next = 0u + id.x;
    while(true) {
        uint at_1 = next;
        if (at_1 >= front_len) {
            break;
        }
        uint front_items_at_1 = params.front_items_at;
        uint front_side_1 = control.front_side;
        uint front_capacity_1 = params.front_capacity;
        uint node_1 = plain[front_items_at_1 + (at_1 + (front_side_1 * front_capacity_1))];
        uint graph_offsets_at = params.graph_offsets_at;
        uint _e35 = fixed[graph_offsets_at + node_1];
        uint _e40 = fixed[(graph_offsets_at + node_1) + 1u];
        edge = _e35;
        while(true) {
            uint this_edge = edge;
            if (this_edge >= _e40) {
                break;
            }
            uint graph_targets_at = params.graph_targets_at;
            uint _e48 = fixed[graph_targets_at + this_edge];
            relax(this_edge, _e48, params, fault_kind, fault_item, fault_pc, fault_index, fault_len, cells, control, plain, _buffer_sizes);
            edge = this_edge + 1u;
        }
        uint _e50 = at_1 + (groups.x * 64u);
        if (_e50 < at_1) {
            break;
        }
        next = _e50;
    }
    uint _e54 = lane * 5u;
    uint _e56 = fault_kind;
    shared_records.inner[_e54] = _e56;
    uint _e59 = fault_item;
    shared_records.inner[_e54 + 1u] = _e59;
    uint _e63 = fault_pc;
    shared_records.inner[_e54 + 2u] = _e63;
    uint _e68 = fault_index;
    shared_records.inner[_e54 + 3u] = _e68;
    uint _e73 = fault_len;
    shared_records.inner[_e54 + 4u] = _e73;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane == 0u) {
        other = 1u;
        while(true) {
            uint this_other = other;
            if (this_other >= 64u) {
                break;
            }
            uint _e81 = this_other * 5u;
            uint _e83 = shared_records.inner[_e81];
            uint _e86 = shared_records.inner[_e81 + 1u];
            uint _e89 = shared_records.inner[_e81 + 2u];
            uint _e92 = shared_records.inner[_e81 + 3u];
            uint _e95 = shared_records.inner[_e81 + 4u];
            if (_e83 != 0u) {
                fault(_e83, _e86, _e89, _e92, _e95, fault_kind, fault_item, fault_pc, fault_index, fault_len);
            }
            other = this_other + 1u;
        }
        uint _e98 = group.x * 5u;
        uint _e99 = fault_kind;
        control.records[_e98] = _e99;
        uint _e102 = fault_item;
        control.records[_e98 + 1u] = _e102;
        uint _e106 = fault_pc;
        control.records[_e98 + 2u] = _e106;
        uint _e110 = fault_index;
        control.records[_e98 + 3u] = _e110;
        uint _e114 = fault_len;
        control.records[_e98 + 4u] = _e114;
    }
}
