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
    bool lower_1 = local_3;
    uint _e27 = my_faulted;
    if (!((_e27 == 0u))) {
        local_5 = lower_1;
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

uint unknown(
    device type_1 const& state,
    constant _mslBufferSizes& _buffer_sizes
) {
    return static_cast<uint>((1 + (_buffer_sizes.size0 - 0 - 4) / 4) == 0u);
}

uint unknown_too(
    device type_1 const& state,
    constant _mslBufferSizes& _buffer_sizes
) {
    return static_cast<uint>((1 + (_buffer_sizes.size0 - 0 - 4) / 4) == 1u);
}

float f32_of(
    uint a,
    device type_1 const& state,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e1 = unknown(state, _buffer_sizes);
    return as_type<float>(a ^ _e1);
}

float second_f32_(
    uint b,
    device type_1 const& state,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e1 = unknown_too(state, _buffer_sizes);
    return as_type<float>(b ^ _e1);
}

uint add_f32_(
    uint a_1,
    uint b_1,
    device type_1 const& state,
    constant _mslBufferSizes& _buffer_sizes
) {
    float _e2 = f32_of(a_1, state, _buffer_sizes);
    float _e3 = second_f32_(b_1, state, _buffer_sizes);
    return as_type<uint>(_e2 + _e3);
}

uint mul_f32_(
    uint a_2,
    uint b_2,
    device type_1 const& state,
    constant _mslBufferSizes& _buffer_sizes
) {
    float _e2 = f32_of(a_2, state, _buffer_sizes);
    float _e3 = second_f32_(b_2, state, _buffer_sizes);
    return as_type<uint>(_e2 * _e3);
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

void kernel_0_(
    uint index_2,
    uint src,
    uint dst,
    device type_1 const& state,
    device type_1 const& fixed0_,
    device type_1& plain0_,
    thread uint& at_b0_,
    thread uint& len_b0_,
    thread uint& at_b1_,
    thread uint& len_b1_,
    thread uint& my_item,
    thread uint& my_faulted,
    thread uint& my_fault_item,
    thread uint& my_fault_pc,
    thread uint& my_fault_kind,
    thread uint& my_fault_len,
    thread metal::uint2& my_fault_index,
    thread metal::uint2& u0_0_,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint r0_ = {};
    uint r1_ = {};
    uint r2_ = {};
    r0_ = index_2;
    uint _e7 = r0_;
    uint _e9 = len_b0_;
    bool _e10 = outside(0u, _e7, _e9, my_item, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index);
    if (_e10) {
        return;
    }
    uint _e13 = at_b0_;
    uint _e14 = r0_;
    uint _e17 = fixed0_[_e13 + _e14];
    r1_ = _e17;
    uint _e20 = u0_0_.x;
    uint _e21 = r1_;
    uint _e22 = mul_f32_(_e20, _e21, state, _buffer_sizes);
    r1_ = _e22;
    uint _e24 = r0_;
    uint _e26 = len_b1_;
    bool _e27 = outside(2u, _e24, _e26, my_item, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index);
    if (_e27) {
        return;
    }
    uint _e30 = at_b1_;
    uint _e31 = r0_;
    uint _e34 = plain0_[_e30 + _e31];
    r2_ = _e34;
    uint _e35 = r2_;
    uint _e36 = r1_;
    uint _e37 = add_f32_(_e35, _e36, state, _buffer_sizes);
    r1_ = _e37;
    uint _e39 = r0_;
    uint _e41 = len_b1_;
    bool _e42 = outside(4u, _e39, _e41, my_item, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index);
    if (_e42) {
        return;
    }
    uint _e45 = at_b1_;
    uint _e46 = r0_;
    uint _e49 = r1_;
    plain0_[_e45 + _e46] = _e49;
    return;
}

void sweep_0_(
    uint wg_1,
    uint wgs_1,
    uint lane_2,
    device type_1& state,
    device type_3& counts,
    device type_1 const& fixed0_,
    device type_1& plain0_,
    thread uint& nodes,
    thread uint& at_b0_,
    thread uint& len_b0_,
    thread uint& at_b1_,
    thread uint& len_b1_,
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
    threadgroup type_8& wg_fault,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint nth = {};
    bool local_6 = {};
    bool local_7 = {};
    bool local_8 = {};
    bool local_9 = {};
    uint _e6 = state[6];
    nodes = _e6;
    uint _e10 = state[16];
    at_b0_ = _e10;
    uint _e14 = state[17];
    len_b0_ = _e14;
    uint _e18 = state[18];
    at_b1_ = _e18;
    uint _e22 = state[19];
    len_b1_ = _e22;
    uint _e26 = state[20];
    uint _e29 = state[21];
    u0_0_ = metal::uint2(_e26, _e29);
    my_turns = 0u;
    my_spent = 0u;
    my_faulted = 0u;
    uint first = state[24];
    uint _e42 = state[25];
    uint items_2 = _e42 - first;
    uint step = wgs_1 * 256u;
    nth = (wg_1 * 256u) + lane_2;
    while(true) {
        uint _e50 = nth;
        if (_e50 < items_2) {
        } else {
            break;
        }
        {
            uint _e52 = nth;
            uint i_1 = first + _e52;
            my_turns = 0u;
            my_item = i_1;
            kernel_0_(i_1, 0u, 0u, state, fixed0_, plain0_, at_b0_, len_b0_, at_b1_, len_b1_, my_item, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index, u0_0_, _buffer_sizes);
            uint _e60 = my_spent;
            if (!((_e60 != 0u))) {
                uint _e66 = nth;
                local_6 = (items_2 - _e66) <= step;
            } else {
                local_6 = true;
            }
            bool _e70 = local_6;
            if (_e70) {
                break;
            }
            uint _e71 = nth;
            nth = _e71 + step;
        }
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane_2 < 3u) {
        metal::atomic_store_explicit(&wg_fault.inner[lane_2], 4294967295u, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint _e79 = my_faulted;
    if (_e79 != 0u) {
        uint _e85 = my_fault_item;
        uint _e86 = metal::atomic_fetch_min_explicit(&wg_fault.inner[0], _e85, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint _e88 = my_faulted;
    if (_e88 != 0u) {
        uint _e94 = my_fault_item;
        uint _e97 = metal::atomic_load_explicit(&wg_fault.inner[0], metal::memory_order_relaxed);
        local_7 = _e94 == _e97;
    } else {
        local_7 = false;
    }
    bool lowest = local_7;
    if (lowest) {
        uint _e104 = my_fault_pc;
        uint _e105 = metal::atomic_fetch_min_explicit(&wg_fault.inner[1], _e104, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lowest) {
        uint _e109 = my_fault_pc;
        uint _e112 = metal::atomic_load_explicit(&wg_fault.inner[1], metal::memory_order_relaxed);
        local_8 = _e109 == _e112;
    } else {
        local_8 = false;
    }
    bool is_first = local_8;
    if (is_first) {
        uint _e118 = metal::atomic_fetch_min_explicit(&wg_fault.inner[2], lane_2, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (is_first) {
        uint _e123 = metal::atomic_load_explicit(&wg_fault.inner[2], metal::memory_order_relaxed);
        local_9 = lane_2 == _e123;
    } else {
        local_9 = false;
    }
    bool _e126 = local_9;
    if (_e126) {
        uint _e132 = metal::atomic_fetch_add_explicit(&counts[0], 1u, metal::memory_order_relaxed);
        uint at = 29u + (8u * _e132);
        state[at] = 0u;
        uint _e143 = my_fault_item;
        state[at + 1u] = _e143;
        uint _e149 = my_fault_pc;
        state[at + 2u] = _e149;
        uint _e155 = my_fault_kind;
        state[at + 3u] = _e155;
        uint _e162 = my_fault_index.x;
        state[at + 4u] = _e162;
        uint _e169 = my_fault_index.y;
        state[at + 5u] = _e169;
        uint _e175 = my_fault_len;
        state[at + 6u] = _e175;
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
    uint a_3,
    uint b_3
) {
    return naga_div(a_3, b_3) + ((naga_mod(a_3, b_3) != 0u) ? 1u : 0u);
}

uint lead_chunk(
    uint items,
    uint wgs_2,
    uint most
) {
    if (wgs_2 == 1u) {
        return metal::min(256u, most);
    }
    uint _e8 = lead_divide(items, 512u);
    return metal::min(metal::clamp(_e8, 16u, 256u), most);
}

uint lead_workgroups(
    uint items_1,
    uint chunk
) {
    uint _e2 = lead_divide(items_1, chunk);
    return metal::min(_e2, 1024u);
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

void lead_settle_0_(
    uint lane_3,
    bool alone,
    device type_1& state,
    device type_3 const& counts,
    device type_1& args,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint i = 0u;
    bool lower = {};
    bool local_10 = {};
    bool local_11 = {};
    bool local_12 = {};
    uint k = {};
    if (lane_3 != 0u) {
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
            uint at_1 = 29u + (8u * _e16);
            uint _e19 = i;
            lower = _e19 == 0u;
            uint _e25 = state[at_1];
            uint _e28 = state[8];
            if (_e25 != _e28) {
                bool _e30 = lower;
                if (!(_e30)) {
                    uint _e36 = state[at_1];
                    uint _e39 = state[8];
                    local_10 = _e36 < _e39;
                } else {
                    local_10 = true;
                }
                bool _e42 = local_10;
                lower = _e42;
            } else {
                uint _e47 = state[at_1 + 1u];
                uint _e50 = state[9];
                if (_e47 != _e50) {
                    bool _e52 = lower;
                    if (!(_e52)) {
                        uint _e60 = state[at_1 + 1u];
                        uint _e63 = state[9];
                        local_11 = _e60 < _e63;
                    } else {
                        local_11 = true;
                    }
                    bool _e66 = local_11;
                    lower = _e66;
                } else {
                    bool _e67 = lower;
                    if (!(_e67)) {
                        uint _e75 = state[at_1 + 2u];
                        uint _e78 = state[10];
                        local_12 = _e75 < _e78;
                    } else {
                        local_12 = true;
                    }
                    bool _e81 = local_12;
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
                        uint _e97 = state[at_1 + _e94];
                        state[8u + _e90] = _e97;
                    }
                }
            }
        }
    }
    if (faults != 0u) {
        state[0] = 2u;
    }
    uint _e111 = metal::atomic_load_explicit(&counts[1], metal::memory_order_relaxed);
    if (_e111 != 0u) {
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
    uint _e7 = state[25];
    uint _e10 = state[24];
    uint _e13 = lead_workgroups(_e7 - _e10, 256u);
    state[26] = _e13;
    uint _e18 = state[26];
    args[0] = _e18;
    return;
}

void lead_on(
    device type_1& state,
    device type_1& args,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint swapped = 0u;
    uint most_2 = {};
    while(true) {
        uint _e3 = state[3];
        switch(_e3) {
            case 0u: {
                state[2] = 0u;
                state[3] = 1u;
                most_2 = 0u;
                uint _e12 = most_2;
                uint _e15 = state[25];
                uint _e18 = state[24];
                most_2 = metal::max(_e12, _e15 - _e18);
                uint _e23 = state[28];
                state[28] = _e23 + 1u;
                uint _e26 = most_2;
                uint _e29 = state[5];
                if (_e26 > _e29) {
                    lead_widen_0_(state, args, _buffer_sizes);
                } else {
                    state[1] = 1u;
                    uint _e38 = state[25];
                    uint _e41 = state[24];
                    state[26] = metal::min(_e38 - _e41, 1u);
                }
                return;
            }
            case 1u: {
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
, device type_1 const& fixed0_ [[buffer(2)]]
, device type_1& plain0_ [[buffer(3)]]
, threadgroup type_8& wg_fault
, constant _mslBufferSizes& _buffer_sizes [[buffer(6)]]
) {
    uint nodes = {};
    uint at_b0_ = {};
    uint len_b0_ = {};
    uint at_b1_ = {};
    uint len_b1_ = {};
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
    my_lane = lane;
    sweep_0_(wg.x, wgs.x, lane, state, counts, fixed0_, plain0_, nodes, at_b0_, len_b0_, at_b1_, len_b1_, my_item, my_turns, my_spent, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index, u0_0_, wg_fault, _buffer_sizes);
    return;
}


struct controlInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void control(
  uint lane_1 [[thread_index_in_threadgroup]]
, device type_1& state [[buffer(0)]]
, device type_3& counts [[buffer(1)]]
, device type_1 const& fixed0_ [[buffer(2)]]
, device type_1& plain0_ [[buffer(3)]]
, device type_1& args [[buffer(4)]]
, constant metal::uint4& here [[buffer(5)]]
, threadgroup type_8& wg_fault
, threadgroup metal::uint2& wg_go
, constant _mslBufferSizes& _buffer_sizes [[buffer(6)]]
) {
    uint nodes = {};
    uint at_b0_ = {};
    uint len_b0_ = {};
    uint at_b1_ = {};
    uint len_b1_ = {};
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
    uint led = 0u;
    bool local = {};
    metal::uint2 next = {};
    bool local_1 = {};
    bool local_2 = {};
    my_lane = lane_1;
    if (lane_1 == 0u) {
        uint _e7 = lead_next(state, here, _buffer_sizes);
        uint _e10 = state[2];
        wg_go = metal::uint2(_e7, _e10);
    }
    while(true) {
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        metal::uint2 unnamed = wg_go;
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (unnamed.x == 0u) {
            break;
        }
        if (unnamed.x == 4u) {
            switch(unnamed.y) {
                default: {
                    break;
                }
            }
            continue;
        }
        if (unnamed.x == 1u) {
            switch(unnamed.y) {
                case 0u: {
                    sweep_0_(0u, 1u, lane_1, state, counts, fixed0_, plain0_, nodes, at_b0_, len_b0_, at_b1_, len_b1_, my_item, my_turns, my_spent, my_faulted, my_fault_item, my_fault_pc, my_fault_kind, my_fault_len, my_fault_index, u0_0_, wg_fault, _buffer_sizes);
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
        if (unnamed.x != 3u) {
            switch(unnamed.y) {
                case 0u: {
                    lead_settle_0_(lane_1, unnamed.x == 1u, state, counts, args, _buffer_sizes);
                    break;
                }
                default: {
                    break;
                }
            }
        }
        uint _e34 = led;
        led = _e34 + 1u;
        if (lane_1 == 0u) {
            uint _e41 = state[0];
            if (_e41 == 0u) {
                uint _e48 = state[1];
                local = _e48 != 3u;
            } else {
                local = false;
            }
            bool _e52 = local;
            if (_e52) {
                lead_on(state, args, _buffer_sizes);
            }
            uint _e56 = state[2];
            next = metal::uint2(0u, _e56);
            uint _e61 = state[0];
            if (_e61 == 0u) {
                uint _e68 = state[1];
                local_1 = _e68 == 1u;
            } else {
                local_1 = false;
            }
            bool _e72 = local_1;
            if (_e72) {
                uint _e75 = led;
                uint _e78 = state[4];
                local_2 = _e75 < _e78;
            } else {
                local_2 = false;
            }
            bool _e81 = local_2;
            if (_e81) {
                uint _e83 = lead_narrow(state, _buffer_sizes);
                next.x = _e83;
            }
            metal::uint2 _e85 = next;
            wg_go = _e85;
        }
        metal::threadgroup_barrier(metal::mem_flags::mem_device);
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    }
    return;
}
