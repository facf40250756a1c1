// language: metal2.4
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size0;
    uint size1;
    uint size2;
    uint size3;
    uint size4;
    uint size5;
};

typedef uint type_1[1];
typedef metal::atomic_uint type_3[1];
struct type_6 {
    uint inner[256];
};
struct type_7 {
    metal::uint2 inner[256];
};
struct type_8 {
    metal::atomic_uint inner[3];
};
struct _atomic_compare_exchange_result_Uint_4_ {
    uint old_value;
    bool exchanged;
    char _pad2[3];
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

void fault(
    uint pc,
    uint kind,
    metal::uint2 index,
    uint len,
    thread uint& my_item,
    thread uint& my_faulted,
    thread uint& my_fault_item,
    thread uint& my_fault_pc,
    thread uint& my_fault_kind,
    thread uint& my_fault_len,
    thread metal::uint2& my_fault_index
) {
    bool local_3 = {};
    bool local_4 = {};
    bool local_5 = {};
    uint _e5 = my_item;
    uint _e7 = my_fault_item;
    if (!((_e5 < _e7))) {
        uint _e13 = my_item;
        uint _e15 = my_fault_item;
        if (_e13 == _e15) {
            uint _e20 = my_fault_pc;
            local_4 = pc < _e20;
        } else {
            local_4 = false;
        }
        bool _e23 = local_4;
        local_3 = _e23;
    } else {
        local_3 = true;
    }
    bool lower_2 = local_3;
    uint _e27 = my_faulted;
    if (!((_e27 == 0u))) {
        local_5 = lower_2;
    } else {
        local_5 = true;
    }
    bool _e34 = local_5;
    if (_e34) {
        my_faulted = 1u;
        uint _e39 = my_item;
        my_fault_item = _e39;
        my_fault_pc = pc;
        my_fault_kind = kind;
        my_fault_index = index;
        my_fault_len = len;
        return;
    } else {
        return;
    }
}

bool turn(
    device type_3& counts,
    thread uint& my_turns,
    thread uint& my_spent,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e1 = my_turns;
    my_turns = _e1 + 1u;
    uint _e5 = my_turns;
    if ((_e5 & 4095u) == 0u) {
        uint _e11 = my_turns;
        if (_e11 >= 16777216u) {
            metal::atomic_store_explicit(&counts[1], 1u, metal::memory_order_relaxed);
        }
        uint _e20 = metal::atomic_load_explicit(&counts[1], metal::memory_order_relaxed);
        my_spent = _e20;
    }
    uint _e22 = my_spent;
    return _e22 == 0u;
}

uint more_f0_(
    device type_3& counts,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e3 = metal::atomic_fetch_add_explicit(&counts[2], 1u, metal::memory_order_relaxed);
    return _e3;
}

bool outside(
    uint pc_1,
    uint index_1,
    uint len_1,
    thread uint& my_item,
    thread uint& my_faulted,
    thread uint& my_fault_item,
    thread uint& my_fault_pc,
    thread uint& my_fault_kind,
    thread uint& my_fault_len,
    thread metal::uint2& my_fault_index
) {
    if (index_1 < len_1) {
        return false;
    }
    fault(pc_1, 1u, metal::uint2(index_1, 0u), len_1, my_item, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index);
    return true;
}

uint atom_cas_b32_atomic0_(
    uint at,
    uint before,
    uint after,
    device type_3& atomic0_,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint done = 0u;
    bool local_6 = {};
    while(true) {
        _atomic_compare_exchange_result_Uint_4_ _e7 = naga_atomic_compare_exchange_weak_explicit(&atomic0_[at], before, after);
        done = static_cast<uint>(_e7.exchanged);
        if (!(_e7.exchanged)) {
            local_6 = _e7.old_value != before;
        } else {
            local_6 = true;
        }
        bool _e17 = local_6;
        if (_e17) {
            break;
        }
    }
    uint _e18 = done;
    return _e18;
}

void push_f0_(
    uint node,
    device type_3& counts,
    device type_1& plain0_,
    thread uint& at_f0_0_,
    thread uint& cap_f0_,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e1 = more_f0_(counts, _buffer_sizes);
    uint _e3 = cap_f0_;
    if (_e1 < _e3) {
        uint _e7 = at_f0_0_;
        plain0_[_e7 + _e1] = node;
        return;
    } else {
        return;
    }
}

void kernel_0_(
    uint index_2,
    uint src,
    uint dst,
    device type_3& counts,
    device type_1& plain0_,
    device type_3& atomic0_,
    thread uint& nodes,
    thread uint& at_b0_,
    thread uint& len_b0_,
    thread uint& at_f0_0_,
    thread uint& cap_f0_,
    thread uint& my_item,
    thread uint& my_faulted,
    thread uint& my_fault_item,
    thread uint& my_fault_pc,
    thread uint& my_fault_kind,
    thread uint& my_fault_len,
    thread metal::uint2& my_fault_index,
    thread metal::uint2& u0_0_,
    thread metal::uint2& u0_1_,
    thread metal::uint2& u0_2_,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint r0_ = {};
    uint r1_ = {};
    r0_ = index_2;
    uint _e6 = r0_;
    uint _e8 = len_b0_;
    bool _e9 = outside(0u, _e6, _e8, my_item, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index);
    if (_e9) {
        return;
    }
    uint _e12 = at_b0_;
    uint _e13 = r0_;
    uint _e18 = u0_0_.x;
    metal::atomic_store_explicit(&atomic0_[_e12 + _e13], _e18, metal::memory_order_relaxed);
    uint _e19 = r0_;
    uint _e22 = u0_1_.x;
    r1_ = static_cast<uint>(_e19 == _e22);
    uint _e25 = r1_;
    if (_e25 != 0u) {
        uint _e29 = r0_;
        uint _e31 = len_b0_;
        bool _e32 = outside(3u, _e29, _e31, my_item, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index);
        if (_e32) {
            return;
        }
        uint _e35 = at_b0_;
        uint _e36 = r0_;
        uint _e41 = u0_2_.x;
        metal::atomic_store_explicit(&atomic0_[_e35 + _e36], _e41, metal::memory_order_relaxed);
        uint _e43 = r0_;
        uint _e45 = nodes;
        bool _e46 = outside(4u, _e43, _e45, my_item, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index);
        if (_e46) {
            return;
        }
        uint _e47 = r0_;
        push_f0_(_e47, counts, plain0_, at_f0_0_, cap_f0_, _buffer_sizes);
        return;
    } else {
        return;
    }
}

void kernel_1_(
    uint index_3,
    uint src_1,
    uint dst_1,
    device type_3& counts,
    device type_1& plain0_,
    device type_3& atomic0_,
    thread uint& nodes,
    thread uint& at_b0_,
    thread uint& len_b0_,
    thread uint& at_f0_0_,
    thread uint& cap_f0_,
    thread uint& my_item,
    thread uint& my_faulted,
    thread uint& my_fault_item,
    thread uint& my_fault_pc,
    thread uint& my_fault_kind,
    thread uint& my_fault_len,
    thread metal::uint2& my_fault_index,
    thread metal::uint2& u1_0_,
    thread metal::uint2& u1_1_,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint r0_1 = {};
    uint r1_1 = {};
    r0_1 = dst_1;
    uint _e7 = u1_0_.x;
    r1_1 = _e7 + 1u;
    uint _e11 = r0_1;
    uint _e13 = len_b0_;
    bool _e14 = outside(1u, _e11, _e13, my_item, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index);
    if (_e14) {
        return;
    }
    uint _e16 = at_b0_;
    uint _e17 = r0_1;
    uint _e21 = u1_1_.x;
    uint _e22 = r1_1;
    uint _e23 = atom_cas_b32_atomic0_(_e16 + _e17, _e21, _e22, atomic0_, _buffer_sizes);
    r1_1 = _e23;
    uint _e24 = r1_1;
    if (_e24 != 0u) {
        uint _e28 = r0_1;
        uint _e30 = nodes;
        bool _e31 = outside(3u, _e28, _e30, my_item, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index);
        if (_e31) {
            return;
        }
        uint _e32 = r0_1;
        push_f0_(_e32, counts, plain0_, at_f0_0_, cap_f0_, _buffer_sizes);
        return;
    } else {
        return;
    }
}

uint kernel_2_(
    thread metal::uint2& u2_0_
) {
    uint r0_2 = {};
    uint _e3 = u2_0_.x;
    r0_2 = static_cast<uint>(_e3 == 0u);
    uint _e7 = r0_2;
    return _e7;
}

void sweep_0_(
    uint wg_2,
    uint wgs_2,
    uint lane_3,
    device type_1& state,
    device type_3& counts,
    device type_1& plain0_,
    device type_3& atomic0_,
    thread uint& nodes,
    thread uint& at_b0_,
    thread uint& len_b0_,
    thread uint& at_f0_0_,
    thread uint& cap_f0_,
    thread uint& at_s0_,
    thread uint& epoch_0_,
    thread uint& my_item,
    thread uint& my_turns,
    thread uint& my_spent,
    thread uint& my_faulted,
    thread uint& my_fault_item,
    thread uint& my_fault_pc,
    thread uint& my_fault_kind,
    thread uint& my_fault_len,
    thread metal::uint2& my_fault_index,
    thread metal::uint2& u0_0_,
    thread metal::uint2& u0_1_,
    thread metal::uint2& u0_2_,
    threadgroup type_8& wg_fault,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint nth = {};
    bool local_7 = {};
    bool local_8 = {};
    bool local_9 = {};
    bool local_10 = {};
    uint _e6 = state[6];
    nodes = _e6;
    uint _e10 = state[16];
    at_b0_ = _e10;
    uint _e14 = state[17];
    len_b0_ = _e14;
    uint _e18 = state[37];
    cap_f0_ = _e18;
    uint _e22 = state[38];
    at_s0_ = _e22;
    uint _e26 = state[39];
    epoch_0_ = _e26;
    uint _e30 = state[42];
    at_f0_0_ = _e30;
    u0_0_ = metal::uint2(4294967295u, 0u);
    uint _e38 = state[22];
    uint _e41 = state[23];
    u0_1_ = metal::uint2(_e38, _e41);
    u0_2_ = metal::uint2(0u, 0u);
    my_turns = 0u;
    my_spent = 0u;
    my_faulted = 0u;
    uint first = state[27];
    uint _e58 = state[28];
    uint items_2 = _e58 - first;
    uint step = wgs_2 * 256u;
    nth = (wg_2 * 256u) + lane_3;
    while(true) {
        uint _e66 = nth;
        if (_e66 < items_2) {
        } else {
            break;
        }
        {
            uint _e68 = nth;
            uint i_3 = first + _e68;
            my_turns = 0u;
            my_item = i_3;
            kernel_0_(i_3, 0u, 0u, counts, plain0_, atomic0_, nodes, at_b0_, len_b0_, at_f0_0_, cap_f0_, my_item, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index, u0_0_, u0_1_, u0_2_, _buffer_sizes);
            uint _e76 = my_spent;
            if (!((_e76 != 0u))) {
                uint _e82 = nth;
                local_7 = (items_2 - _e82) <= step;
            } else {
                local_7 = true;
            }
            bool _e86 = local_7;
            if (_e86) {
                break;
            }
            uint _e87 = nth;
            nth = _e87 + step;
        }
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane_3 < 3u) {
        metal::atomic_store_explicit(&wg_fault.inner[lane_3], 4294967295u, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint _e95 = my_faulted;
    if (_e95 != 0u) {
        uint _e101 = my_fault_item;
        uint _e102 = metal::atomic_fetch_min_explicit(&wg_fault.inner[0], _e101, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint _e104 = my_faulted;
    if (_e104 != 0u) {
        uint _e110 = my_fault_item;
        uint _e113 = metal::atomic_load_explicit(&wg_fault.inner[0], metal::memory_order_relaxed);
        local_8 = _e110 == _e113;
    } else {
        local_8 = false;
    }
    bool lowest = local_8;
    if (lowest) {
        uint _e120 = my_fault_pc;
        uint _e121 = metal::atomic_fetch_min_explicit(&wg_fault.inner[1], _e120, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lowest) {
        uint _e125 = my_fault_pc;
        uint _e128 = metal::atomic_load_explicit(&wg_fault.inner[1], metal::memory_order_relaxed);
        local_9 = _e125 == _e128;
    } else {
        local_9 = false;
    }
    bool is_first = local_9;
    if (is_first) {
        uint _e134 = metal::atomic_fetch_min_explicit(&wg_fault.inner[2], lane_3, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (is_first) {
        uint _e139 = metal::atomic_load_explicit(&wg_fault.inner[2], metal::memory_order_relaxed);
        local_10 = lane_3 == _e139;
    } else {
        local_10 = false;
    }
    bool _e142 = local_10;
    if (_e142) {
        uint _e148 = metal::atomic_fetch_add_explicit(&counts[0], 1u, metal::memory_order_relaxed);
        uint at_1 = 8235u + (8u * _e148);
        state[at_1] = 0u;
        uint _e159 = my_fault_item;
        state[at_1 + 1u] = _e159;
        uint _e165 = my_fault_pc;
        state[at_1 + 2u] = _e165;
        uint _e171 = my_fault_kind;
        state[at_1 + 3u] = _e171;
        uint _e178 = my_fault_index.x;
        state[at_1 + 4u] = _e178;
        uint _e185 = my_fault_index.y;
        state[at_1 + 5u] = _e185;
        uint _e191 = my_fault_len;
        state[at_1 + 6u] = _e191;
        return;
    } else {
        return;
    }
}

uint naga_div(uint lhs, uint rhs) {
    return lhs / metal::select(rhs, 1u, rhs == 0u);
}

uint naga_mod(uint lhs, uint rhs) {
    return lhs % metal::select(rhs, 1u, rhs == 0u);
}

uint lead_divide(
    uint a,
    uint b
) {
    return naga_div(a, b) + ((naga_mod(a, b) != 0u) ? 1u : 0u);
}

uint lead_chunk(
    uint items,
    uint wgs_3,
    uint most
) {
    if (wgs_3 == 1u) {
        return metal::min(256u, most);
    }
    uint _e8 = lead_divide(items, 512u);
    return metal::min(metal::clamp(_e8, 16u, 256u), most);
}

uint lead_hub(
    uint edges,
    uint most_1
) {
    if (most_1 > 2097151u) {
        return 4294967295u;
    }
    return metal::max(2048u, naga_div(edges, 8192u));
}

void sweep_1_(
    uint wg_3,
    uint wgs_4,
    uint lane_4,
    device type_1& state,
    device type_3& counts,
    device type_1 const& fixed0_,
    device type_1& plain0_,
    device type_3& atomic0_,
    thread uint& nodes,
    thread uint& at_o0_,
    thread uint& at_t0_,
    thread uint& edges_0_,
    thread uint& at_b0_,
    thread uint& len_b0_,
    thread uint& at_f0_0_,
    thread uint& cap_f0_,
    thread uint& at_s0_,
    thread uint& epoch_0_,
    thread uint& my_item,
    thread uint& my_turns,
    thread uint& my_spent,
    thread uint& my_faulted,
    thread uint& my_fault_item,
    thread uint& my_fault_pc,
    thread uint& my_fault_kind,
    thread uint& my_fault_len,
    thread metal::uint2& my_fault_index,
    thread metal::uint2& u1_0_,
    thread metal::uint2& u1_1_,
    threadgroup type_6& wg_sums,
    threadgroup type_6& wg_first,
    threadgroup type_6& wg_source,
    threadgroup type_8& wg_fault,
    threadgroup metal::uint4& wg_range,
    threadgroup uint& wg_hub,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint base = {};
    uint begin = {};
    uint degree = {};
    uint source = {};
    bool local_11 = {};
    bool local_12 = {};
    bool local_13 = {};
    uint below_1_ = {};
    uint below_2_ = {};
    uint below_4_ = {};
    uint below_8_ = {};
    uint below_16_ = {};
    uint below_32_ = {};
    uint below_64_ = {};
    uint below_128_ = {};
    uint part_begin = {};
    uint part = {};
    uint nth_edge = {};
    bool local_14 = {};
    uint low = {};
    bool local_15 = {};
    bool local_16 = {};
    bool local_17 = {};
    bool local_18 = {};
    bool local_19 = {};
    bool local_20 = {};
    bool local_21 = {};
    bool local_22 = {};
    bool local_23 = {};
    bool local_24 = {};
    bool local_25 = {};
    uint _e6 = state[6];
    nodes = _e6;
    uint _e10 = state[18];
    at_o0_ = _e10;
    uint _e14 = state[19];
    at_t0_ = _e14;
    uint _e18 = state[20];
    edges_0_ = _e18;
    uint _e22 = state[16];
    at_b0_ = _e22;
    uint _e26 = state[17];
    len_b0_ = _e26;
    uint _e30 = state[37];
    cap_f0_ = _e30;
    uint _e34 = state[38];
    at_s0_ = _e34;
    uint _e38 = state[39];
    epoch_0_ = _e38;
    uint _e42 = state[42];
    at_f0_0_ = _e42;
    uint _e46 = state[24];
    u1_0_ = metal::uint2(_e46, 0u);
    u1_1_ = metal::uint2(4294967295u, 0u);
    my_turns = 0u;
    my_spent = 0u;
    my_faulted = 0u;
    if (lane_4 == 0u) {
        uint first_1 = state[32];
        uint _e66 = state[33];
        uint items_3 = _e66 - first_1;
        uint _e70 = state[21];
        uint _e71 = lead_chunk(items_3, wgs_4, _e70);
        wg_range = metal::uint4(first_1, items_3, _e71, wgs_4 * _e71);
        wg_hub = 4294967295u;
        uint _e79 = state[1];
        if (_e79 == 2u) {
            uint _e85 = state[20];
            uint _e88 = state[21];
            uint _e89 = lead_hub(_e85, _e88);
            wg_hub = _e89;
        }
        uint _e92 = state[1];
        if (_e92 == 3u) {
            wg_hub = 0u;
            uint _e100 = state[21];
            uint chunk_1 = metal::min(256u, _e100);
            uint _e106 = metal::atomic_load_explicit(&counts[5], metal::memory_order_relaxed);
            wg_range = metal::uint4(43u, metal::min(_e106, 8192u), chunk_1, chunk_1);
        }
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    metal::uint4 unnamed = wg_range;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint unnamed_1 = wg_hub;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    bool shared_out = unnamed_1 == 0u;
    uint items_4 = unnamed.y;
    uint chunk_2 = unnamed.z;
    uint step_1 = unnamed.w;
    base = shared_out ? 0u : (wg_3 * chunk_2);
    while(true) {
        uint _e123 = base;
        if (_e123 < items_4) {
        } else {
            break;
        }
        {
            uint _e125 = base;
            uint nth_1 = _e125 + lane_4;
            begin = 0u;
            degree = 0u;
            source = 0u;
            if (lane_4 < chunk_2) {
                uint _e136 = base;
                local_11 = nth_1 >= _e136;
            } else {
                local_11 = false;
            }
            bool _e139 = local_11;
            if (_e139) {
                local_12 = nth_1 < items_4;
            } else {
                local_12 = false;
            }
            bool _e144 = local_12;
            if (_e144) {
                uint i_4 = unnamed.x + nth_1;
                if (shared_out) {
                    uint _e149 = state[i_4];
                    source = _e149;
                } else {
                    uint _e153 = state[41];
                    uint _e156 = plain0_[_e153 + i_4];
                    source = _e156;
                }
                uint _e159 = at_o0_;
                uint _e160 = source;
                uint _e163 = fixed0_[_e159 + _e160];
                begin = _e163;
                uint _e166 = at_o0_;
                uint _e167 = source;
                uint _e172 = fixed0_[(_e166 + _e167) + 1u];
                uint _e173 = begin;
                degree = _e172 - _e173;
                uint _e175 = degree;
                if (_e175 >= unnamed_1) {
                    local_13 = !(shared_out);
                } else {
                    local_13 = false;
                }
                bool _e181 = local_13;
                if (_e181) {
                    uint _e185 = metal::atomic_fetch_add_explicit(&counts[5], 1u, metal::memory_order_relaxed);
                    if (_e185 < 8192u) {
                        uint _e192 = source;
                        state[43u + _e185] = _e192;
                        uint _e195 = degree;
                        uint _e198 = metal::atomic_fetch_add_explicit(&counts[6], naga_div(_e195, 256u), metal::memory_order_relaxed);
                        degree = 0u;
                    }
                }
            }
            uint _e202 = source;
            wg_source.inner[lane_4] = _e202;
            uint _e205 = degree;
            wg_sums.inner[lane_4] = _e205;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            below_1_ = 0u;
            if (lane_4 >= 1u) {
                uint _e214 = wg_sums.inner[lane_4 - 1u];
                below_1_ = _e214;
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint _e217 = wg_sums.inner[lane_4];
            uint _e218 = below_1_;
            wg_sums.inner[lane_4] = _e217 + _e218;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            below_2_ = 0u;
            if (lane_4 >= 2u) {
                uint _e228 = wg_sums.inner[lane_4 - 2u];
                below_2_ = _e228;
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint _e231 = wg_sums.inner[lane_4];
            uint _e232 = below_2_;
            wg_sums.inner[lane_4] = _e231 + _e232;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            below_4_ = 0u;
            if (lane_4 >= 4u) {
                uint _e242 = wg_sums.inner[lane_4 - 4u];
                below_4_ = _e242;
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint _e245 = wg_sums.inner[lane_4];
            uint _e246 = below_4_;
            wg_sums.inner[lane_4] = _e245 + _e246;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            below_8_ = 0u;
            if (lane_4 >= 8u) {
                uint _e256 = wg_sums.inner[lane_4 - 8u];
                below_8_ = _e256;
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint _e259 = wg_sums.inner[lane_4];
            uint _e260 = below_8_;
            wg_sums.inner[lane_4] = _e259 + _e260;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            below_16_ = 0u;
            if (lane_4 >= 16u) {
                uint _e270 = wg_sums.inner[lane_4 - 16u];
                below_16_ = _e270;
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint _e273 = wg_sums.inner[lane_4];
            uint _e274 = below_16_;
            wg_sums.inner[lane_4] = _e273 + _e274;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            below_32_ = 0u;
            if (lane_4 >= 32u) {
                uint _e284 = wg_sums.inner[lane_4 - 32u];
                below_32_ = _e284;
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint _e287 = wg_sums.inner[lane_4];
            uint _e288 = below_32_;
            wg_sums.inner[lane_4] = _e287 + _e288;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            below_64_ = 0u;
            if (lane_4 >= 64u) {
                uint _e298 = wg_sums.inner[lane_4 - 64u];
                below_64_ = _e298;
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint _e301 = wg_sums.inner[lane_4];
            uint _e302 = below_64_;
            wg_sums.inner[lane_4] = _e301 + _e302;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            below_128_ = 0u;
            if (lane_4 >= 128u) {
                uint _e312 = wg_sums.inner[lane_4 - 128u];
                below_128_ = _e312;
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint _e315 = wg_sums.inner[lane_4];
            uint _e316 = below_128_;
            wg_sums.inner[lane_4] = _e315 + _e316;
            uint _e320 = begin;
            uint _e323 = wg_sums.inner[lane_4];
            uint _e324 = degree;
            wg_first.inner[lane_4] = _e320 - (_e323 - _e324);
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint unnamed_2 = wg_sums.inner[255];
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            part_begin = 0u;
            part = unnamed_2;
            if (shared_out) {
                part_begin = (wg_3 * naga_div(unnamed_2, wgs_4)) + metal::min(wg_3, naga_mod(unnamed_2, wgs_4));
                part = naga_div(unnamed_2, wgs_4) + ((wg_3 < naga_mod(unnamed_2, wgs_4)) ? 1u : 0u);
            }
            nth_edge = lane_4;
            while(true) {
                uint _e346 = nth_edge;
                uint _e347 = part;
                if (_e346 < _e347) {
                    uint _e352 = my_spent;
                    local_14 = _e352 == 0u;
                } else {
                    local_14 = false;
                }
                bool _e356 = local_14;
                if (_e356) {
                } else {
                    break;
                }
                {
                    uint _e357 = part_begin;
                    uint _e358 = nth_edge;
                    uint e = _e357 + _e358;
                    low = 0u;
                    uint _e362 = low;
                    if ((_e362 + 128u) <= 256u) {
                        uint _e370 = low;
                        uint _e374 = wg_sums.inner[_e370 + 127u];
                        local_15 = _e374 <= e;
                    } else {
                        local_15 = false;
                    }
                    bool _e377 = local_15;
                    if (_e377) {
                        uint _e378 = low;
                        low = _e378 + 128u;
                    }
                    uint _e381 = low;
                    if ((_e381 + 64u) <= 256u) {
                        uint _e389 = low;
                        uint _e393 = wg_sums.inner[_e389 + 63u];
                        local_16 = _e393 <= e;
                    } else {
                        local_16 = false;
                    }
                    bool _e396 = local_16;
                    if (_e396) {
                        uint _e397 = low;
                        low = _e397 + 64u;
                    }
                    uint _e400 = low;
                    if ((_e400 + 32u) <= 256u) {
                        uint _e408 = low;
                        uint _e412 = wg_sums.inner[_e408 + 31u];
                        local_17 = _e412 <= e;
                    } else {
                        local_17 = false;
                    }
                    bool _e415 = local_17;
                    if (_e415) {
                        uint _e416 = low;
                        low = _e416 + 32u;
                    }
                    uint _e419 = low;
                    if ((_e419 + 16u) <= 256u) {
                        uint _e427 = low;
                        uint _e431 = wg_sums.inner[_e427 + 15u];
                        local_18 = _e431 <= e;
                    } else {
                        local_18 = false;
                    }
                    bool _e434 = local_18;
                    if (_e434) {
                        uint _e435 = low;
                        low = _e435 + 16u;
                    }
                    uint _e438 = low;
                    if ((_e438 + 8u) <= 256u) {
                        uint _e446 = low;
                        uint _e450 = wg_sums.inner[_e446 + 7u];
                        local_19 = _e450 <= e;
                    } else {
                        local_19 = false;
                    }
                    bool _e453 = local_19;
                    if (_e453) {
                        uint _e454 = low;
                        low = _e454 + 8u;
                    }
                    uint _e457 = low;
                    if ((_e457 + 4u) <= 256u) {
                        uint _e465 = low;
                        uint _e469 = wg_sums.inner[_e465 + 3u];
                        local_20 = _e469 <= e;
                    } else {
                        local_20 = false;
                    }
                    bool _e472 = local_20;
                    if (_e472) {
                        uint _e473 = low;
                        low = _e473 + 4u;
                    }
                    uint _e476 = low;
                    if ((_e476 + 2u) <= 256u) {
                        uint _e484 = low;
                        uint _e488 = wg_sums.inner[_e484 + 1u];
                        local_21 = _e488 <= e;
                    } else {
                        local_21 = false;
                    }
                    bool _e491 = local_21;
                    if (_e491) {
                        uint _e492 = low;
                        low = _e492 + 2u;
                    }
                    uint _e495 = low;
                    if ((_e495 + 1u) <= 256u) {
                        uint _e503 = low;
                        uint _e507 = wg_sums.inner[_e503 + 0u];
                        local_22 = _e507 <= e;
                    } else {
                        local_22 = false;
                    }
                    bool _e510 = local_22;
                    if (_e510) {
                        uint _e511 = low;
                        low = _e511 + 1u;
                    }
                    uint _e515 = low;
                    uint _e517 = wg_first.inner[_e515];
                    uint edge = _e517 + e;
                    uint _e520 = low;
                    uint src_2 = wg_source.inner[_e520];
                    uint _e525 = at_t0_;
                    uint dst_2 = fixed0_[_e525 + edge];
                    my_item = edge;
                    my_turns = 0u;
                    kernel_1_(edge, src_2, dst_2, counts, plain0_, atomic0_, nodes, at_b0_, len_b0_, at_f0_0_, cap_f0_, my_item, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index, u1_0_, u1_1_, _buffer_sizes);
                    uint _e532 = part;
                    uint _e533 = nth_edge;
                    if ((_e532 - _e533) <= 256u) {
                        break;
                    }
                    uint _e537 = nth_edge;
                    nth_edge = _e537 + 256u;
                }
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint _e540 = base;
            if ((items_4 - _e540) <= step_1) {
                break;
            }
            uint _e543 = base;
            base = _e543 + step_1;
        }
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane_4 < 3u) {
        metal::atomic_store_explicit(&wg_fault.inner[lane_4], 4294967295u, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint _e551 = my_faulted;
    if (_e551 != 0u) {
        uint _e557 = my_fault_item;
        uint _e558 = metal::atomic_fetch_min_explicit(&wg_fault.inner[0], _e557, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint _e560 = my_faulted;
    if (_e560 != 0u) {
        uint _e566 = my_fault_item;
        uint _e569 = metal::atomic_load_explicit(&wg_fault.inner[0], metal::memory_order_relaxed);
        local_23 = _e566 == _e569;
    } else {
        local_23 = false;
    }
    bool lowest_1 = local_23;
    if (lowest_1) {
        uint _e576 = my_fault_pc;
        uint _e577 = metal::atomic_fetch_min_explicit(&wg_fault.inner[1], _e576, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lowest_1) {
        uint _e581 = my_fault_pc;
        uint _e584 = metal::atomic_load_explicit(&wg_fault.inner[1], metal::memory_order_relaxed);
        local_24 = _e581 == _e584;
    } else {
        local_24 = false;
    }
    bool is_first_1 = local_24;
    if (is_first_1) {
        uint _e590 = metal::atomic_fetch_min_explicit(&wg_fault.inner[2], lane_4, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (is_first_1) {
        uint _e595 = metal::atomic_load_explicit(&wg_fault.inner[2], metal::memory_order_relaxed);
        local_25 = lane_4 == _e595;
    } else {
        local_25 = false;
    }
    bool _e598 = local_25;
    if (_e598) {
        uint _e604 = metal::atomic_fetch_add_explicit(&counts[0], 1u, metal::memory_order_relaxed);
        uint at_2 = 8235u + (8u * _e604);
        state[at_2] = 1u;
        uint _e615 = my_fault_item;
        state[at_2 + 1u] = _e615;
        uint _e621 = my_fault_pc;
        state[at_2 + 2u] = _e621;
        uint _e627 = my_fault_kind;
        state[at_2 + 3u] = _e627;
        uint _e634 = my_fault_index.x;
        state[at_2 + 4u] = _e634;
        uint _e641 = my_fault_index.y;
        state[at_2 + 5u] = _e641;
        uint _e647 = my_fault_len;
        state[at_2 + 6u] = _e647;
        return;
    } else {
        return;
    }
}

uint lead_workgroups(
    uint items_1,
    uint chunk
) {
    uint _e2 = lead_divide(items_1, chunk);
    return metal::min(_e2, 1024u);
}

void lead_round_0_(
    device type_1& state,
    device type_3& counts,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint swapped = 0u;
    uint _e4 = state[41];
    swapped = _e4;
    uint _e9 = state[42];
    state[41] = _e9;
    uint _e12 = swapped;
    state[42] = _e12;
    uint _e17 = metal::atomic_load_explicit(&counts[2], metal::memory_order_relaxed);
    state[40] = _e17;
    metal::atomic_store_explicit(&counts[2], 0u, metal::memory_order_relaxed);
    uint _e23 = state[39];
    state[39] = _e23 + 1u;
    return;
}

void lead_settle_0_(
    uint lane_5,
    bool alone,
    device type_1& state,
    device type_3 const& counts,
    device type_1& args,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint i = 0u;
    bool lower = {};
    bool local_26 = {};
    bool local_27 = {};
    bool local_28 = {};
    uint k = {};
    if (lane_5 != 0u) {
        return;
    }
    args[0] = 0u;
    uint faults = metal::atomic_load_explicit(&counts[0], metal::memory_order_relaxed);
    bool loop_init = true;
    while(true) {
        if (!loop_init) {
            uint _e101 = i;
            i = _e101 + 1u;
        }
        loop_init = false;
        uint _e12 = i;
        if (_e12 < faults) {
        } else {
            break;
        }
        {
            uint _e16 = i;
            uint at_3 = 8235u + (8u * _e16);
            uint _e19 = i;
            lower = _e19 == 0u;
            uint _e25 = state[at_3];
            uint _e28 = state[8];
            if (_e25 != _e28) {
                bool _e30 = lower;
                if (!(_e30)) {
                    uint _e36 = state[at_3];
                    uint _e39 = state[8];
                    local_26 = _e36 < _e39;
                } else {
                    local_26 = true;
                }
                bool _e42 = local_26;
                lower = _e42;
            } else {
                uint _e47 = state[at_3 + 1u];
                uint _e50 = state[9];
                if (_e47 != _e50) {
                    bool _e52 = lower;
                    if (!(_e52)) {
                        uint _e60 = state[at_3 + 1u];
                        uint _e63 = state[9];
                        local_27 = _e60 < _e63;
                    } else {
                        local_27 = true;
                    }
                    bool _e66 = local_27;
                    lower = _e66;
                } else {
                    bool _e67 = lower;
                    if (!(_e67)) {
                        uint _e75 = state[at_3 + 2u];
                        uint _e78 = state[10];
                        local_28 = _e75 < _e78;
                    } else {
                        local_28 = true;
                    }
                    bool _e81 = local_28;
                    lower = _e81;
                }
            }
            bool _e82 = lower;
            if (_e82) {
                k = 0u;
                bool loop_init_1 = true;
                while(true) {
                    if (!loop_init_1) {
                        uint _e98 = k;
                        k = _e98 + 1u;
                    }
                    loop_init_1 = false;
                    uint _e85 = k;
                    if (_e85 < 8u) {
                    } else {
                        break;
                    }
                    {
                        uint _e90 = k;
                        uint _e94 = k;
                        uint _e97 = state[at_3 + _e94];
                        state[8u + _e90] = _e97;
                    }
                }
            }
        }
    }
    if (faults != 0u) {
        state[0] = 2u;
    }
    uint _e111 = metal::atomic_load_explicit(&counts[2], metal::memory_order_relaxed);
    uint _e114 = state[37];
    if (_e111 > _e114) {
        state[0] = 2u;
    }
    uint _e121 = metal::atomic_load_explicit(&counts[1], metal::memory_order_relaxed);
    if (_e121 != 0u) {
        state[0] = 5u;
        return;
    } else {
        return;
    }
}

void lead_widen_0_(
    device type_1& state,
    device type_1& args,
    constant _mslBufferSizes& _buffer_sizes
) {
    state[1] = 2u;
    uint _e7 = state[28];
    uint _e10 = state[27];
    uint _e13 = lead_workgroups(_e7 - _e10, 256u);
    state[29] = _e13;
    uint _e18 = state[29];
    args[0] = _e18;
    return;
}

void lead_settle_1_(
    uint lane_6,
    bool alone_1,
    device type_1& state,
    device type_3& counts,
    device type_1& args,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint met = 0u;
    bool local_29 = {};
    uint i_1 = 0u;
    bool lower_1 = {};
    bool local_30 = {};
    bool local_31 = {};
    bool local_32 = {};
    uint k_1 = {};
    if (lane_6 != 0u) {
        return;
    }
    uint _e6 = state[1];
    if (_e6 == 2u) {
        uint met_1_ = metal::atomic_load_explicit(&counts[5], metal::memory_order_relaxed);
        uint _e14 = met;
        met = _e14 | met_1_;
        uint _e18 = metal::atomic_load_explicit(&counts[6], metal::memory_order_relaxed);
        uint _e20 = lead_divide(_e18, 4u);
        uint wgs_1_ = metal::min(_e20, 1024u);
        state[34] = wgs_1_;
        args[3] = wgs_1_;
        uint _e27 = met;
        if (_e27 != 0u) {
            uint _e34 = metal::atomic_load_explicit(&counts[1], metal::memory_order_relaxed);
            local_29 = _e34 == 0u;
        } else {
            local_29 = false;
        }
        bool _e38 = local_29;
        if (_e38) {
            state[1] = 3u;
            return;
        }
    }
    state[1] = 0u;
    metal::atomic_store_explicit(&counts[5], 0u, metal::memory_order_relaxed);
    metal::atomic_store_explicit(&counts[6], 0u, metal::memory_order_relaxed);
    args[3] = 0u;
    uint faults_1 = metal::atomic_load_explicit(&counts[0], metal::memory_order_relaxed);
    bool loop_init_2 = true;
    while(true) {
        if (!loop_init_2) {
            uint _e148 = i_1;
            i_1 = _e148 + 1u;
        }
        loop_init_2 = false;
        uint _e59 = i_1;
        if (_e59 < faults_1) {
        } else {
            break;
        }
        {
            uint _e63 = i_1;
            uint at_4 = 8235u + (8u * _e63);
            uint _e66 = i_1;
            lower_1 = _e66 == 0u;
            uint _e72 = state[at_4];
            uint _e75 = state[8];
            if (_e72 != _e75) {
                bool _e77 = lower_1;
                if (!(_e77)) {
                    uint _e83 = state[at_4];
                    uint _e86 = state[8];
                    local_30 = _e83 < _e86;
                } else {
                    local_30 = true;
                }
                bool _e89 = local_30;
                lower_1 = _e89;
            } else {
                uint _e94 = state[at_4 + 1u];
                uint _e97 = state[9];
                if (_e94 != _e97) {
                    bool _e99 = lower_1;
                    if (!(_e99)) {
                        uint _e107 = state[at_4 + 1u];
                        uint _e110 = state[9];
                        local_31 = _e107 < _e110;
                    } else {
                        local_31 = true;
                    }
                    bool _e113 = local_31;
                    lower_1 = _e113;
                } else {
                    bool _e114 = lower_1;
                    if (!(_e114)) {
                        uint _e122 = state[at_4 + 2u];
                        uint _e125 = state[10];
                        local_32 = _e122 < _e125;
                    } else {
                        local_32 = true;
                    }
                    bool _e128 = local_32;
                    lower_1 = _e128;
                }
            }
            bool _e129 = lower_1;
            if (_e129) {
                k_1 = 0u;
                bool loop_init_3 = true;
                while(true) {
                    if (!loop_init_3) {
                        uint _e145 = k_1;
                        k_1 = _e145 + 1u;
                    }
                    loop_init_3 = false;
                    uint _e132 = k_1;
                    if (_e132 < 8u) {
                    } else {
                        break;
                    }
                    {
                        uint _e137 = k_1;
                        uint _e141 = k_1;
                        uint _e144 = state[at_4 + _e141];
                        state[8u + _e137] = _e144;
                    }
                }
            }
        }
    }
    if (faults_1 != 0u) {
        state[0] = 2u;
    }
    uint _e158 = metal::atomic_load_explicit(&counts[2], metal::memory_order_relaxed);
    uint _e161 = state[37];
    if (_e158 > _e161) {
        state[0] = 2u;
    }
    uint _e168 = metal::atomic_load_explicit(&counts[1], metal::memory_order_relaxed);
    if (_e168 != 0u) {
        state[0] = 5u;
        return;
    } else {
        return;
    }
}

void lead_widen_1_(
    device type_1& state,
    device type_1& args,
    constant _mslBufferSizes& _buffer_sizes
) {
    state[1] = 2u;
    uint _e7 = state[33];
    uint _e10 = state[32];
    uint _e14 = state[33];
    uint _e17 = state[32];
    uint _e22 = state[21];
    uint _e23 = lead_chunk(_e14 - _e17, 2u, _e22);
    uint _e24 = lead_workgroups(_e7 - _e10, _e23);
    state[34] = _e24;
    uint _e29 = state[34];
    args[3] = _e29;
    return;
}

void lead_weigh_1_(
    uint lane_7,
    device type_1& state,
    device type_1 const& fixed0_,
    device type_1 const& plain0_,
    device type_1& args,
    threadgroup metal::atomic_uint& wg_weight,
    threadgroup metal::uint2& wg_go,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint weight = 0u;
    uint i_2 = {};
    if (lane_7 == 0u) {
        metal::atomic_store_explicit(&wg_weight, 0u, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint _e9 = state[32];
    i_2 = _e9 + lane_7;
    bool loop_init_4 = true;
    while(true) {
        if (!loop_init_4) {
            uint _e46 = i_2;
            i_2 = _e46 + 256u;
        }
        loop_init_4 = false;
        uint _e12 = i_2;
        uint _e15 = state[33];
        if (_e12 < _e15) {
        } else {
            break;
        }
        {
            uint _e20 = state[41];
            uint _e21 = i_2;
            uint node_1 = plain0_[_e20 + _e21];
            uint _e25 = weight;
            uint _e29 = state[18];
            uint _e34 = fixed0_[(_e29 + node_1) + 1u];
            uint _e38 = state[18];
            uint _e41 = fixed0_[_e38 + node_1];
            weight = _e25 + metal::min(_e34 - _e41, 65535u);
        }
    }
    uint _e49 = weight;
    if (_e49 != 0u) {
        uint _e53 = weight;
        uint _e54 = metal::atomic_fetch_add_explicit(&wg_weight, _e53, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane_7 == 0u) {
        wg_go = metal::uint2(1u, 1u);
        uint _e62 = metal::atomic_load_explicit(&wg_weight, metal::memory_order_relaxed);
        if (_e62 > 2048u) {
            lead_widen_1_(state, args, _buffer_sizes);
            wg_go.x = 0u;
            return;
        } else {
            return;
        }
    } else {
        return;
    }
}

void lead_on(
    device type_1& state,
    device type_3& counts,
    device type_1& args,
    thread uint& nodes,
    thread uint& my_turns,
    thread uint& my_spent,
    thread uint& my_faulted,
    thread uint& my_fault_pc,
    thread uint& my_fault_kind,
    thread uint& my_fault_len,
    thread metal::uint2& my_fault_index,
    thread metal::uint2& u2_0_,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint swapped_1 = 0u;
    uint most_2 = {};
    uint most_3 = {};
    while(true) {
        uint _e3 = state[3];
        switch(_e3) {
            case 0u: {
                state[2] = 0u;
                state[3] = 1u;
                most_2 = 0u;
                uint _e12 = most_2;
                uint _e15 = state[28];
                uint _e18 = state[27];
                most_2 = metal::max(_e12, _e15 - _e18);
                uint _e23 = state[31];
                state[31] = _e23 + 1u;
                uint _e26 = most_2;
                uint _e29 = state[5];
                if (_e26 > _e29) {
                    lead_widen_0_(state, args, _buffer_sizes);
                } else {
                    state[1] = 1u;
                    uint _e38 = state[28];
                    uint _e41 = state[27];
                    state[29] = metal::min(_e38 - _e41, 1u);
                }
                return;
            }
            case 1u: {
                state[3] = 2u;
                break;
            }
            case 2u: {
                state[24] = 0u;
                lead_round_0_(state, counts, _buffer_sizes);
                state[3] = 3u;
                break;
            }
            case 3u: {
                state[2] = 1u;
                state[3] = 4u;
                most_3 = 0u;
                uint _e66 = state[40];
                state[33] = _e66;
                uint _e67 = most_3;
                uint _e70 = state[33];
                uint _e73 = state[32];
                most_3 = metal::max(_e67, _e70 - _e73);
                uint _e78 = state[36];
                state[36] = _e78 + 1u;
                uint _e81 = most_3;
                uint _e84 = state[5];
                if (_e81 > _e84) {
                    lead_widen_1_(state, args, _buffer_sizes);
                } else {
                    state[1] = 1u;
                    uint _e93 = state[33];
                    uint _e96 = state[32];
                    state[34] = metal::min(_e93 - _e96, 1u);
                }
                return;
            }
            case 4u: {
                uint _e102 = state[25];
                state[25] = _e102 + 1u;
                uint _e108 = state[6];
                nodes = _e108;
                uint _e112 = metal::atomic_load_explicit(&counts[2], metal::memory_order_relaxed);
                u2_0_ = metal::uint2(_e112, 0u);
                my_turns = 0u;
                my_spent = 0u;
                my_faulted = 0u;
                uint _e121 = kernel_2_(u2_0_);
                uint _e123 = my_spent;
                if (_e123 != 0u) {
                    state[0] = 5u;
                    return;
                }
                uint _e130 = my_faulted;
                if (_e130 != 0u) {
                    uint _e136 = my_fault_pc;
                    state[10] = _e136;
                    uint _e140 = my_fault_kind;
                    state[11] = _e140;
                    uint _e145 = my_fault_index.x;
                    state[12] = _e145;
                    uint _e150 = my_fault_index.y;
                    state[13] = _e150;
                    uint _e154 = my_fault_len;
                    state[14] = _e154;
                    state[0] = 4u;
                    return;
                }
                if (_e121 != 0u) {
                    uint _e164 = state[24];
                    state[26] = _e164 + 1u;
                    state[3] = 5u;
                } else {
                    uint _e172 = state[24];
                    if (_e172 == 4294967294u) {
                        state[0] = 3u;
                        return;
                    } else {
                        uint _e180 = state[24];
                        state[24] = _e180 + 1u;
                        lead_round_0_(state, counts, _buffer_sizes);
                        state[3] = 3u;
                    }
                }
                break;
            }
            case 5u: {
                state[0] = 1u;
                return;
            }
            default: {
                return;
            }
        }
    }
    return;
}

uint lead_narrow(
    device type_1 const& state,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e2 = state[2];
    switch(_e2) {
        case 1u: {
            uint _e7 = state[21];
            return (_e7 < 67108863u) ? 4u : 1u;
        }
        default: {
            return 1u;
        }
    }
}

uint lead_next(
    device type_1 const& state,
    constant metal::uint4& here,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e2 = state[0];
    if (_e2 != 0u) {
        return 0u;
    }
    uint _e8 = state[1];
    if (_e8 == 1u) {
        uint _e11 = lead_narrow(state, _buffer_sizes);
        return _e11;
    }
    uint _e14 = state[1];
    if (_e14 == 0u) {
        return 3u;
    }
    uint _e22 = state[2];
    uint _e25 = here.x;
    return (_e22 == _e25) ? 2u : 0u;
}

struct wave_0_Input {
};
[[max_total_threads_per_threadgroup(256)]] kernel void wave_0_(
  metal::uint3 wg [[threadgroup_position_in_grid]]
, metal::uint3 wgs [[threadgroups_per_grid]]
, uint lane [[thread_index_in_threadgroup]]
, device type_1& state [[buffer(0)]]
, device type_3& counts [[buffer(1)]]
, device type_1& plain0_ [[buffer(3)]]
, device type_3& atomic0_ [[buffer(4)]]
, threadgroup type_8& wg_fault
, constant _mslBufferSizes& _buffer_sizes [[buffer(7)]]
) {
    uint nodes = {};
    uint at_b0_ = {};
    uint len_b0_ = {};
    uint at_f0_0_ = {};
    uint cap_f0_ = {};
    uint at_s0_ = {};
    uint epoch_0_ = {};
    uint my_item = {};
    uint my_lane = {};
    uint my_turns = {};
    uint my_spent = {};
    uint my_faulted = {};
    uint my_fault_item = {};
    uint my_fault_pc = {};
    uint my_fault_kind = {};
    uint my_fault_len = {};
    metal::uint2 my_fault_index = {};
    metal::uint2 u0_0_ = {};
    metal::uint2 u0_1_ = {};
    metal::uint2 u0_2_ = {};
    my_lane = lane;
    sweep_0_(wg.x, wgs.x, lane, state, counts, plain0_, atomic0_, nodes, at_b0_, len_b0_, at_f0_0_, cap_f0_, at_s0_, epoch_0_, my_item, my_turns, my_spent, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index, u0_0_, u0_1_, u0_2_, wg_fault, _buffer_sizes);
    return;
}


struct wave_1_Input {
};
[[max_total_threads_per_threadgroup(256)]] kernel void wave_1_(
  metal::uint3 wg_1 [[threadgroup_position_in_grid]]
, metal::uint3 wgs_1 [[threadgroups_per_grid]]
, uint lane_1 [[thread_index_in_threadgroup]]
, device type_1& state [[buffer(0)]]
, device type_3& counts [[buffer(1)]]
, device type_1 const& fixed0_ [[buffer(2)]]
, device type_1& plain0_ [[buffer(3)]]
, device type_3& atomic0_ [[buffer(4)]]
, threadgroup type_6& wg_sums
, threadgroup type_6& wg_first
, threadgroup type_6& wg_source
, threadgroup type_8& wg_fault
, threadgroup metal::uint4& wg_range
, threadgroup uint& wg_hub
, constant _mslBufferSizes& _buffer_sizes [[buffer(7)]]
) {
    uint nodes = {};
    uint at_o0_ = {};
    uint at_t0_ = {};
    uint edges_0_ = {};
    uint at_b0_ = {};
    uint len_b0_ = {};
    uint at_f0_0_ = {};
    uint cap_f0_ = {};
    uint at_s0_ = {};
    uint epoch_0_ = {};
    uint my_item = {};
    uint my_lane = {};
    uint my_turns = {};
    uint my_spent = {};
    uint my_faulted = {};
    uint my_fault_item = {};
    uint my_fault_pc = {};
    uint my_fault_kind = {};
    uint my_fault_len = {};
    metal::uint2 my_fault_index = {};
    metal::uint2 u1_0_ = {};
    metal::uint2 u1_1_ = {};
    my_lane = lane_1;
    sweep_1_(wg_1.x, wgs_1.x, lane_1, state, counts, fixed0_, plain0_, atomic0_, nodes, at_o0_, at_t0_, edges_0_, at_b0_, len_b0_, at_f0_0_, cap_f0_, at_s0_, epoch_0_, my_item, my_turns, my_spent, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index, u1_0_, u1_1_, wg_sums, wg_first, wg_source, wg_fault, wg_range, wg_hub, _buffer_sizes);
    return;
}


struct controlInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void control(
  uint lane_2 [[thread_index_in_threadgroup]]
, device type_1& state [[buffer(0)]]
, device type_3& counts [[buffer(1)]]
, device type_1 const& fixed0_ [[buffer(2)]]
, device type_1& plain0_ [[buffer(3)]]
, device type_3& atomic0_ [[buffer(4)]]
, device type_1& args [[buffer(5)]]
, constant metal::uint4& here [[buffer(6)]]
, threadgroup type_6& wg_sums
, threadgroup type_6& wg_first
, threadgroup type_6& wg_source
, threadgroup type_8& wg_fault
, threadgroup metal::uint4& wg_range
, threadgroup uint& wg_hub
, threadgroup metal::atomic_uint& wg_weight
, threadgroup metal::uint2& wg_go
, constant _mslBufferSizes& _buffer_sizes [[buffer(7)]]
) {
    uint nodes = {};
    uint at_o0_ = {};
    uint at_t0_ = {};
    uint edges_0_ = {};
    uint at_b0_ = {};
    uint len_b0_ = {};
    uint at_f0_0_ = {};
    uint cap_f0_ = {};
    uint at_s0_ = {};
    uint epoch_0_ = {};
    uint my_item = {};
    uint my_lane = {};
    uint my_turns = {};
    uint my_spent = {};
    uint my_faulted = {};
    uint my_fault_item = {};
    uint my_fault_pc = {};
    uint my_fault_kind = {};
    uint my_fault_len = {};
    metal::uint2 my_fault_index = {};
    metal::uint2 u0_0_ = {};
    metal::uint2 u0_1_ = {};
    metal::uint2 u0_2_ = {};
    metal::uint2 u1_0_ = {};
    metal::uint2 u1_1_ = {};
    metal::uint2 u2_0_ = {};
    uint led = 0u;
    bool local = {};
    metal::uint2 next = {};
    bool local_1 = {};
    bool local_2 = {};
    my_lane = lane_2;
    if (lane_2 == 0u) {
        uint _e7 = lead_next(state, here, _buffer_sizes);
        uint _e10 = state[2];
        wg_go = metal::uint2(_e7, _e10);
    }
    while(true) {
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        metal::uint2 unnamed_3 = wg_go;
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (unnamed_3.x == 0u) {
            break;
        }
        if (unnamed_3.x == 4u) {
            switch(unnamed_3.y) {
                case 1u: {
                    lead_weigh_1_(lane_2, state, fixed0_, plain0_, args, wg_weight, wg_go, _buffer_sizes);
                    break;
                }
                default: {
                    break;
                }
            }
            continue;
        }
        if (unnamed_3.x == 1u) {
            switch(unnamed_3.y) {
                case 0u: {
                    sweep_0_(0u, 1u, lane_2, state, counts, plain0_, atomic0_, nodes, at_b0_, len_b0_, at_f0_0_, cap_f0_, at_s0_, epoch_0_, my_item, my_turns, my_spent, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index, u0_0_, u0_1_, u0_2_, wg_fault, _buffer_sizes);
                    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
                    break;
                }
                case 1u: {
                    sweep_1_(0u, 1u, lane_2, state, counts, fixed0_, plain0_, atomic0_, nodes, at_o0_, at_t0_, edges_0_, at_b0_, len_b0_, at_f0_0_, cap_f0_, at_s0_, epoch_0_, my_item, my_turns, my_spent, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index, u1_0_, u1_1_, wg_sums, wg_first, wg_source, wg_fault, wg_range, wg_hub, _buffer_sizes);
                    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
                    break;
                }
                default: {
                    break;
                }
            }
        }
        metal::threadgroup_barrier(metal::mem_flags::mem_device);
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (unnamed_3.x != 3u) {
            switch(unnamed_3.y) {
                case 0u: {
                    lead_settle_0_(lane_2, unnamed_3.x == 1u, state, counts, args, _buffer_sizes);
                    break;
                }
                case 1u: {
                    lead_settle_1_(lane_2, unnamed_3.x == 1u, state, counts, args, _buffer_sizes);
                    break;
                }
                default: {
                    break;
                }
            }
        }
        uint _e39 = led;
        led = _e39 + 1u;
        if (lane_2 == 0u) {
            uint _e46 = state[0];
            if (_e46 == 0u) {
                uint _e53 = state[1];
                local = _e53 != 3u;
            } else {
                local = false;
            }
            bool _e57 = local;
            if (_e57) {
                lead_on(state, counts, args, nodes, my_turns, my_spent, my_faulted, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index, u2_0_, _buffer_sizes);
            }
            uint _e61 = state[2];
            next = metal::uint2(0u, _e61);
            uint _e66 = state[0];
            if (_e66 == 0u) {
                uint _e73 = state[1];
                local_1 = _e73 == 1u;
            } else {
                local_1 = false;
            }
            bool _e77 = local_1;
            if (_e77) {
                uint _e80 = led;
                uint _e83 = state[4];
                local_2 = _e80 < _e83;
            } else {
                local_2 = false;
            }
            bool _e86 = local_2;
            if (_e86) {
                uint _e88 = lead_narrow(state, _buffer_sizes);
                next.x = _e88;
            }
            metal::uint2 _e90 = next;
            wg_go = _e90;
        }
        metal::threadgroup_barrier(metal::mem_flags::mem_device);
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    }
    return;
}
