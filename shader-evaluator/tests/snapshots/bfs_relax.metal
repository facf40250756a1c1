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
    uint front_len;
    metal::atomic_uint front_tail;
    uint front_side;
    type_7 records;
};
struct type_8 {
    uint inner[193];
};
struct type_9 {
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
    uint node_1,
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
        plain[front_items_at + (_e4 + ((1u - front_side) * front_capacity))] = node_1;
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
, threadgroup type_8& shared_edges
, device type_7 const& fixed [[buffer(1)]]
, threadgroup type_9& shared_records
, constant _mslBufferSizes& _buffer_sizes [[buffer(5)]]
) {
    uint fault_kind = 0u;
    uint fault_item = 0u;
    uint fault_pc = 0u;
    uint fault_index = 0u;
    uint fault_len = 0u;
    uint block = {};
    uint degree = {};
    uint begin = {};
    uint node = {};
    uint sum = {};
    uint next = {};
    uint owner = {};
    uint other = {};
    block = group.x * 64u;
    while(true) {
        if (lane == 0u) {
            uint front_len = control.front_len;
            uint _e22 = block;
            shared_edges.inner[192] = (_e22 < front_len) ? _e22 : 4294967295u;
        }
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint unnamed = shared_edges.inner[192];
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (unnamed == 4294967295u) {
            break;
        }
        uint front_len_1 = control.front_len;
        uint _e30 = unnamed + lane;
        degree = 0u;
        begin = 0u;
        node = 0u;
        if (_e30 < front_len_1) {
            uint front_items_at_1 = params.front_items_at;
            uint front_side_1 = control.front_side;
            uint front_capacity_1 = params.front_capacity;
            uint _e44 = plain[front_items_at_1 + (_e30 + (front_side_1 * front_capacity_1))];
            uint graph_offsets_at = params.graph_offsets_at;
            uint _e50 = fixed[graph_offsets_at + _e44];
            uint _e55 = fixed[(graph_offsets_at + _e44) + 1u];
            node = _e44;
            begin = _e50;
            degree = _e55 - _e50;
        }
        uint _e57 = degree;
        uint _e58 = node;
        sum = _e57;
        shared_edges.inner[lane + 128u] = _e58;
        uint _e63 = sum;
        shared_edges.inner[lane] = _e63;
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (lane >= 1u) {
            uint _e68 = shared_edges.inner[lane - 1u];
            uint _e69 = sum;
            sum = _e69 + _e68;
        }
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint _e71 = sum;
        shared_edges.inner[lane] = _e71;
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (lane >= 2u) {
            uint _e77 = shared_edges.inner[lane - 2u];
            uint _e78 = sum;
            sum = _e78 + _e77;
        }
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint _e80 = sum;
        shared_edges.inner[lane] = _e80;
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (lane >= 4u) {
            uint _e86 = shared_edges.inner[lane - 4u];
            uint _e87 = sum;
            sum = _e87 + _e86;
        }
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint _e89 = sum;
        shared_edges.inner[lane] = _e89;
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (lane >= 8u) {
            uint _e95 = shared_edges.inner[lane - 8u];
            uint _e96 = sum;
            sum = _e96 + _e95;
        }
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint _e98 = sum;
        shared_edges.inner[lane] = _e98;
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (lane >= 16u) {
            uint _e104 = shared_edges.inner[lane - 16u];
            uint _e105 = sum;
            sum = _e105 + _e104;
        }
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint _e107 = sum;
        shared_edges.inner[lane] = _e107;
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (lane >= 32u) {
            uint _e113 = shared_edges.inner[lane - 32u];
            uint _e114 = sum;
            sum = _e114 + _e113;
        }
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint _e116 = sum;
        shared_edges.inner[lane] = _e116;
        uint _e118 = begin;
        uint _e119 = degree;
        shared_edges.inner[lane + 64u] = _e118 - (_e116 - _e119);
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint _e126 = shared_edges.inner[63];
        next = lane;
        while(true) {
            uint _e129 = next;
            if (_e129 >= _e126) {
                break;
            }
            owner = 0u;
            uint _e131 = owner;
            uint _e135 = shared_edges.inner[_e131 + 31u];
            owner = (_e135 <= _e129) ? (_e131 + 32u) : _e131;
            uint _e139 = owner;
            uint _e143 = shared_edges.inner[_e139 + 15u];
            owner = (_e143 <= _e129) ? (_e139 + 16u) : _e139;
            uint _e147 = owner;
            uint _e151 = shared_edges.inner[_e147 + 7u];
            owner = (_e151 <= _e129) ? (_e147 + 8u) : _e147;
            uint _e155 = owner;
            uint _e159 = shared_edges.inner[_e155 + 3u];
            owner = (_e159 <= _e129) ? (_e155 + 4u) : _e155;
            uint _e163 = owner;
            uint _e166 = shared_edges.inner[_e163 + 1u];
            owner = (_e166 <= _e129) ? (_e163 + 2u) : _e163;
            uint _e170 = owner;
            uint _e172 = shared_edges.inner[_e170];
            owner = (_e172 <= _e129) ? (_e170 + 1u) : _e170;
            uint _e176 = owner;
            uint _e181 = shared_edges.inner[_e176 + 64u];
            uint this_node = shared_edges.inner[_e176 + 128u];
            uint this_edge = _e129 + _e181;
            uint graph_targets_at = params.graph_targets_at;
            uint _e188 = fixed[graph_targets_at + this_edge];
            relax(this_edge, _e188, params, fault_kind, fault_item, fault_pc, fault_index, fault_len, cells, control, plain, _buffer_sizes);
            next = _e129 + 64u;
        }
        uint _e190 = unnamed + (groups.x * 64u);
        block = (_e190 < unnamed) ? 4294967295u : _e190;
    }
    uint _e195 = lane * 5u;
    uint _e197 = fault_kind;
    shared_records.inner[_e195] = _e197;
    uint _e200 = fault_item;
    shared_records.inner[_e195 + 1u] = _e200;
    uint _e204 = fault_pc;
    shared_records.inner[_e195 + 2u] = _e204;
    uint _e208 = fault_index;
    shared_records.inner[_e195 + 3u] = _e208;
    uint _e212 = fault_len;
    shared_records.inner[_e195 + 4u] = _e212;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane == 0u) {
        other = 1u;
        while(true) {
            uint this_other = other;
            if (this_other >= 64u) {
                break;
            }
            uint _e219 = this_other * 5u;
            uint _e221 = shared_records.inner[_e219];
            uint _e224 = shared_records.inner[_e219 + 1u];
            uint _e227 = shared_records.inner[_e219 + 2u];
            uint _e230 = shared_records.inner[_e219 + 3u];
            uint _e233 = shared_records.inner[_e219 + 4u];
            if (_e221 != 0u) {
                fault(_e221, _e224, _e227, _e230, _e233, fault_kind, fault_item, fault_pc, fault_index, fault_len);
            }
            other = this_other + 1u;
        }
        uint _e236 = group.x * 5u;
        uint _e237 = fault_kind;
        control.records[_e236] = _e237;
        uint _e240 = fault_item;
        control.records[_e236 + 1u] = _e240;
        uint _e244 = fault_pc;
        control.records[_e236 + 2u] = _e244;
        uint _e248 = fault_index;
        control.records[_e236 + 3u] = _e248;
        uint _e252 = fault_len;
        control.records[_e236 + 4u] = _e252;
    }
}
