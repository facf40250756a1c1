// Memory of one launch: shared-memory vectors, global accesses by kind, and the small warp primitives.
//
// Tables and state live at the start of dynamic shared memory and are reached through C++ pointers; register rows,
// staged uniforms and stashes are reached by 32-bit shared addresses through the accessors here. The two never overlap.
#pragma once

#include "abi.h"
#include "isa.h"

extern __shared__ __align__(128) u8 vyre_shared[];

#define VYRE_FULL 0xffffffffu

template <class T>
__device__ __forceinline__ T* table(u32 offset, u32 index) {
    return reinterpret_cast<T*>(vyre_shared + offset) + index;
}
__device__ __forceinline__ const Image& image() { return *reinterpret_cast<const Image*>(vyre_shared); }
__device__ __forceinline__ u32 shared_address(u32 offset) {
    return static_cast<u32>(__cvta_generic_to_shared(vyre_shared)) + offset;
}
__device__ __forceinline__ u32 lane_id() { return threadIdx.x & 31u; }

// Calls `f` with each number below `count`, by all lanes of a warp: each lane has every 32nd. All lanes take every turn. Of a
// loop that lanes leave one by one the compiler lets them go on one by one, and each vote or exchange of lanes behind it brings
// them together first, which takes a few hundred cycles.
template <class F>
__device__ __forceinline__ void each_lane(u32 count, F f) {
    for (u32 first = 0; first < count; first += 32)
        if (first + lane_id() < count) f(first + lane_id());
}
__device__ __forceinline__ u32 warp_id() { return threadIdx.x >> 5; }
// Threads and warps of a CTA: VYRE_THREADS of the interpreter, as many as the host chose of a pass's own module.
__device__ __forceinline__ u32 cta_threads() { return blockDim.x; }
__device__ __forceinline__ u32 cta_warps() { return blockDim.x >> 5; }
__device__ __forceinline__ u32 lanes_below() {
    u32 mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}

// Where the time of a narrow round goes: scripts/build-ptx --profile makes a kernel that counts the cycles between marks,
// by thread 0 of CTA 0, and prints them. MARK(i): what was done since the last mark counts as phase i. LOADED(x): waits for x,
// so that a phase that ends in a load has all of it.
#ifdef VYRE_PROFILE
__shared__ u64 vyre_profile[128];
__shared__ u32 vyre_profile_count[128], vyre_profile_last;
__device__ __forceinline__ void vyre_mark(u32 phase) {
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        u32 now;
        asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
        vyre_profile[phase & 127] += now - vyre_profile_last;
        vyre_profile_count[phase & 127] += 1;
        asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
        vyre_profile_last = now;
    }
}
#define MARK(PHASE) vyre_mark(PHASE)
// Rounds by the logarithm of their frontier's size: how many, their cycles and items.
__shared__ u64 vyre_profile_width[3][34];
__shared__ u32 vyre_profile_width_at, vyre_profile_width_last;
__device__ __forceinline__ void vyre_width(u64 items) {
    if (threadIdx.x != 0 || blockIdx.x != 0) return;
    const u32 now = clock(), at = vyre_profile_width_at;
    vyre_profile_width[1][at] += now - vyre_profile_width_last;
    vyre_profile_width_last = now;
    const u32 to = items == 0 ? 0 : 64 - __clzll(static_cast<i64>(items));
    vyre_profile_width[0][to] += 1;
    vyre_profile_width[2][to] += items;
    vyre_profile_width_at = to;
}
#define WIDTH(ITEMS) vyre_width(ITEMS)
#define LOADED(X)                                                                   \
    do {                                                                            \
        if ((X) == 0x9e3779b9u) asm volatile("st.shared.u32 [%0], %0;" ::"r"(0u)); \
    } while (0)
#else
#define MARK(PHASE)
#define WIDTH(ITEMS)
#define LOADED(X)
#endif

// K values of one lane: the values of its K items.
template <int K>
struct Vec {
    u32 v[K];
};

__device__ __forceinline__ u32 load_shared(u32 address) {
    u32 x;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(address));
    return x;
}
__device__ __forceinline__ void store_shared(u32 address, u32 x) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(x));
}
__device__ __forceinline__ void store_shared_if(bool some, u32 address, u32 x) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p st.shared.u32 [%0], %1;\n}" ::"r"(address), "r"(x),
                 "r"(static_cast<u32>(some)));
}
__device__ __forceinline__ u64 load_shared64(u32 address) {
    u64 x;
    asm volatile("ld.shared.u64 %0, [%1];" : "=l"(x) : "r"(address));
    return x;
}
__device__ __forceinline__ void store_shared64(u32 address, u64 x) {
    asm volatile("st.shared.u64 [%0], %1;" ::"r"(address), "l"(x));
}

template <int K>
__device__ __forceinline__ Vec<K> load_row(u32 address);
template <>
__device__ __forceinline__ Vec<1> load_row<1>(u32 address) {
    Vec<1> r;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(r.v[0]) : "r"(address));
    return r;
}
template <>
__device__ __forceinline__ Vec<2> load_row<2>(u32 address) {
    Vec<2> r;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(r.v[0]), "=r"(r.v[1]) : "r"(address));
    return r;
}
template <>
__device__ __forceinline__ Vec<4> load_row<4>(u32 address) {
    Vec<4> r;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r.v[0]), "=r"(r.v[1]), "=r"(r.v[2]), "=r"(r.v[3])
                 : "r"(address));
    return r;
}

template <int K>
__device__ __forceinline__ void store_row(u32 address, const Vec<K>& r);
template <>
__device__ __forceinline__ void store_row<1>(u32 address, const Vec<1>& r) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(r.v[0]));
}
template <>
__device__ __forceinline__ void store_row<2>(u32 address, const Vec<2>& r) {
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(address), "r"(r.v[0]), "r"(r.v[1]));
}
template <>
__device__ __forceinline__ void store_row<4>(u32 address, const Vec<4>& r) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(r.v[0]), "r"(r.v[1]), "r"(r.v[2]),
                 "r"(r.v[3]));
}

// Plain global accesses. Topology never changes during a launch and goes through the non-coherent path.
__device__ __forceinline__ u32 load_topology(u64 address, u64 index) {
    u32 x;
    asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(x) : "l"(address + index * 4));
    return x;
}
// Those of the lanes with `some`; `x` for the others. No branch keeps several of them apart.
__device__ __forceinline__ u32 load_topology_if(bool some, u64 address, u64 index, u32 x) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p ld.global.nc.u32 %0, [%1];\n}"
                 : "+r"(x)
                 : "l"(address + index * 4), "r"(static_cast<u32>(some)));
    return x;
}
__device__ __forceinline__ u32 load_global_if(bool some, u64 address, u32 x) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p ld.global.u32 %0, [%1];\n}"
                 : "+r"(x)
                 : "l"(address), "r"(static_cast<u32>(some))
                 : "memory");
    return x;
}
// Four of them that go on together, by lanes that have none from anywhere that can be read: of loads that only some lanes do
// the compiler lets each wait for the one before, in one register.
#define VYRE_FOUR_IF(NAME, LOAD)                                                                                  \
    __device__ __forceinline__ void NAME(const bool (&some)[4], const u64 (&at)[4], u64 anywhere, u32 (&x)[4]) {  \
        u32 loaded[4];                                                                                            \
        asm volatile(LOAD " %0, [%4];\n" LOAD " %1, [%5];\n" LOAD " %2, [%6];\n" LOAD " %3, [%7];"                \
                     : "=r"(loaded[0]), "=r"(loaded[1]), "=r"(loaded[2]), "=r"(loaded[3])                         \
                     : "l"(some[0] ? at[0] : anywhere), "l"(some[1] ? at[1] : anywhere),                          \
                       "l"(some[2] ? at[2] : anywhere), "l"(some[3] ? at[3] : anywhere)                           \
                     : "memory");                                                                                 \
        for (int j = 0; j < 4; j++) x[j] = some[j] ? loaded[j] : x[j];                                            \
    }
VYRE_FOUR_IF(load_topology_four_if, "ld.global.nc.u32")
VYRE_FOUR_IF(load_global_four_if, "ld.global.u32")
#undef VYRE_FOUR_IF
__device__ __forceinline__ u32 load_global8_if(bool some, u64 address, u32 x) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p ld.global.u8 %0, [%1];\n}"
                 : "+r"(x)
                 : "l"(address), "r"(static_cast<u32>(some))
                 : "memory");
    return x;
}
__device__ __forceinline__ u64 load_global64_if(bool some, u64 address, u64 x) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p ld.global.u64 %0, [%1];\n}"
                 : "+l"(x)
                 : "l"(address), "r"(static_cast<u32>(some))
                 : "memory");
    return x;
}
// Asks for the line at an address, to be loaded later.
__device__ __forceinline__ void prefetch(u64 address) { asm volatile("prefetch.global.L1 [%0];" ::"l"(address)); }
__device__ __forceinline__ u32 load_global(u64 address) {
    u32 x;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(address) : "memory");
    return x;
}
__device__ __forceinline__ u64 load_global64(u64 address) {
    u64 x;
    asm volatile("ld.global.u64 %0, [%1];" : "=l"(x) : "l"(address) : "memory");
    return x;
}
__device__ __forceinline__ u32 load_global8(u64 address) {
    u32 x;
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(x) : "l"(address) : "memory");
    return x;
}
__device__ __forceinline__ void store_global(u64 address, u32 x) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(x) : "memory");
}
__device__ __forceinline__ void store_global64(u64 address, u64 x) {
    asm volatile("st.global.u64 [%0], %1;" ::"l"(address), "l"(x) : "memory");
}
__device__ __forceinline__ void store_global8(u64 address, u32 x) {
    asm volatile("st.global.u8 [%0], %1;" ::"l"(address), "r"(x) : "memory");
}
// An edge range: begin and end in one access.
__device__ __forceinline__ void store_range(u64 address, u32 begin, u32 end) {
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(address), "r"(begin), "r"(end) : "memory");
}
__device__ __forceinline__ void load_range(u64 address, u32& begin, u32& end) {
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(begin), "=r"(end) : "l"(address) : "memory");
}
// The same for the lanes with `some`; nothing for the others.
__device__ __forceinline__ void load_range_if(bool some, u64 address, u32& begin, u32& end) {
    begin = end = 0;
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %3, 0;\n@p ld.global.v2.u32 {%0, %1}, [%2];\n}"
                 : "+r"(begin), "+r"(end)
                 : "l"(address), "r"(static_cast<u32>(some))
                 : "memory");
}

// Clusters of CTAs. The text is for devices that have none; on others the host takes away what makes these comments. Without
// them a CTA is a cluster of its own, and nothing else here is called.
__device__ __forceinline__ u32 cluster_ctas() {
    u32 ctas = 1;
    asm volatile("//sm_90 mov.u32 %0, %%cluster_nctaid.x;" : "+r"(ctas));
    return ctas;
}
// Where another CTA of the cluster has what this one has at a shared address.
__device__ __forceinline__ u32 cluster_address(u32 address, u32 rank) {
    asm volatile("//sm_90 mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(address) : "r"(rank));
    return address;
}
__device__ __forceinline__ uint4 load_cluster_entry(u32 address) {
    uint4 x = make_uint4(0, 0, 0, 0);
    asm volatile("//sm_90 ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "+r"(x.x), "+r"(x.y), "+r"(x.z), "+r"(x.w)
                 : "r"(address)
                 : "memory");
    return x;
}
__device__ __forceinline__ void store_cluster(u32 address, u32 x) {
    asm volatile("//sm_90 st.shared::cluster.u32 [%0], %1;" ::"r"(address), "r"(x) : "memory");
}
// A word for a CTA of the cluster, and its bytes for that one's barrier: seen when that is over, like all that was before
// `tell_before` then.
__device__ __forceinline__ void tell_before() { asm volatile("//sm_90 fence.acq_rel.cluster;" ::: "memory"); }
__device__ __forceinline__ void tell(u32 address, u32 x, u32 meeting) {
    asm volatile("//sm_90 st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(address), "r"(x), "r"(meeting) : "memory");
}
// Makes a barrier that so many arrive at, by one thread, before the cluster's threads meet.
__device__ __forceinline__ void init_meeting(u32 address, u32 arrivals) {
    asm volatile("//sm_90 mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(arrivals) : "memory");
    asm volatile("//sm_90 fence.mbarrier_init.release.cluster;" ::: "memory");
}
// Arrives at a barrier of the CTA's own.
__device__ __forceinline__ void arrive_here(u32 address) {
    asm volatile("//sm_90 mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(address) : "memory");
}
// Whether all have arrived, as far as that is the CTA's.
__device__ __forceinline__ bool join_over(u32 address, u32 parity) {
    u32 over = 1;
    asm volatile("//sm_90 { .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "+r"(over)
                 : "r"(address), "r"(parity)
                 : "memory");
    return over != 0;
}
// Arrives at the CTA's own barrier, which is over when so many bytes are there, too.
__device__ __forceinline__ void arrive_meeting(u32 address, u32 bytes) {
    asm volatile("//sm_90 mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes) : "memory");
}
// Whether all have arrived at this CTA's barrier, whose turns have parities.
__device__ __forceinline__ bool meeting_over(u32 address, u32 parity) {
    u32 over = 1;
    asm volatile("//sm_90 { .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "+r"(over)
                 : "r"(address), "r"(parity)
                 : "memory");
    return over != 0;
}
// All threads of a cluster meet.
__device__ __forceinline__ void cluster_barrier() {
    asm volatile("//sm_90 barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
}

// Sixteen bytes of global memory to shared memory, not waited for; then the wait for all of them.
__device__ __forceinline__ void start_load(u32 to, u64 from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
// The same of four bytes, where `some`.
__device__ __forceinline__ void start_word_if(bool some, u32 to, u64 from) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p cp.async.ca.shared.global [%0], [%1], 4;\n}" ::"r"(to), "l"(from),
                 "r"(static_cast<u32>(some))
                 : "memory");
}
// Without a branch, so that several are on their way at once; 0 for the others.
template <class T>
__device__ __forceinline__ T load_relaxed_if(bool some, u64 address);
template <>
__device__ __forceinline__ u32 load_relaxed_if<u32>(bool some, u64 address) {
    u32 x = 0;
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p ld.relaxed.gpu.global.u32 %0, [%1];\n}"
                 : "+r"(x)
                 : "l"(address), "r"(static_cast<u32>(some))
                 : "memory");
    return x;
}
template <>
__device__ __forceinline__ u64 load_relaxed_if<u64>(bool some, u64 address) {
    u64 x = 0;
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p ld.relaxed.gpu.global.u64 %0, [%1];\n}"
                 : "+l"(x)
                 : "l"(address), "r"(static_cast<u32>(some))
                 : "memory");
    return x;
}
__device__ __forceinline__ void wait_loads() { asm volatile("cp.async.wait_all;" ::: "memory"); }
__device__ __forceinline__ void store_global(u64 address, const Vec<4>& x) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(x.v[0]), "r"(x.v[1]), "r"(x.v[2]), "r"(x.v[3])
                 : "memory");
}

__device__ __forceinline__ Vec<4> load_global4(u64 address) {
    Vec<4> x;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x.v[0]), "=r"(x.v[1]), "=r"(x.v[2]), "=r"(x.v[3])
                 : "l"(address)
                 : "memory");
    return x;
}

// Relaxed accesses of device scope.
__device__ __forceinline__ u32 load_relaxed(u64 address) {
    u32 x;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(address) : "memory");
    return x;
}
__device__ __forceinline__ u64 load_relaxed64(u64 address) {
    u64 x;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(x) : "l"(address) : "memory");
    return x;
}
__device__ __forceinline__ u32 load_relaxed_if(bool some, u64 address, u32 x) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p ld.relaxed.gpu.global.u32 %0, [%1];\n}"
                 : "+r"(x)
                 : "l"(address), "r"(static_cast<u32>(some))
                 : "memory");
    return x;
}
__device__ __forceinline__ u64 load_relaxed64_if(bool some, u64 address, u64 x) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p ld.relaxed.gpu.global.u64 %0, [%1];\n}"
                 : "+l"(x)
                 : "l"(address), "r"(static_cast<u32>(some))
                 : "memory");
    return x;
}
__device__ __forceinline__ void store_relaxed(u64 address, u32 x) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(x) : "memory");
}
__device__ __forceinline__ void store_relaxed64(u64 address, u64 x) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(x) : "memory");
}
// For the host to see.
__device__ __forceinline__ u32 load_system(u64 address) {
    u32 x;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(x) : "l"(address) : "memory");
    return x;
}
__device__ __forceinline__ void store_system64(u64 address, u64 x) {
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(address), "l"(x) : "memory");
}
__device__ __forceinline__ u64 load_acquire64(u64 address) {
    u64 x;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(x) : "l"(address) : "memory");
    return x;
}
// After relaxed loads, what loads after acquiring ones may do.
__device__ __forceinline__ void acquire_fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
__device__ __forceinline__ void add_relaxed64(u64 address, u64 x) {
    asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(address), "l"(x) : "memory");
}
__device__ __forceinline__ void add_release64(u64 address, u64 x) {
    asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(address), "l"(x) : "memory");
}

// The same without the old value, for which nobody waits then.
#define VYRE_TAKE(NAME, OP, TYPE, C, LETTER)                                                                        \
    __device__ __forceinline__ void NAME(u64 address, C x) {                                                        \
        asm volatile("red.relaxed.gpu.global." OP "." TYPE " [%0], %1;" ::"l"(address), LETTER(x) : "memory");      \
    }
VYRE_TAKE(take_add, "add", "u32", u32, "r")
VYRE_TAKE(take_add64, "add", "u64", u64, "l")
VYRE_TAKE(take_add_f32, "add", "f32", float, "f")
VYRE_TAKE(take_add_f64, "add", "f64", double, "d")
VYRE_TAKE(take_min_u32, "min", "u32", u32, "r")
VYRE_TAKE(take_min_i32, "min", "s32", u32, "r")
VYRE_TAKE(take_min_u64, "min", "u64", u64, "l")
VYRE_TAKE(take_min_i64, "min", "s64", u64, "l")
VYRE_TAKE(take_max_u32, "max", "u32", u32, "r")
VYRE_TAKE(take_max_i32, "max", "s32", u32, "r")
VYRE_TAKE(take_max_u64, "max", "u64", u64, "l")
VYRE_TAKE(take_max_i64, "max", "s64", u64, "l")
VYRE_TAKE(take_and, "and", "b32", u32, "r")
VYRE_TAKE(take_and64, "and", "b64", u64, "l")
VYRE_TAKE(take_or, "or", "b32", u32, "r")
VYRE_TAKE(take_or64, "or", "b64", u64, "l")

#define VYRE_ATOMIC(NAME, OP, TYPE, C, LETTER)                                                                      \
    __device__ __forceinline__ C NAME(u64 address, C x) {                                                           \
        C old;                                                                                                      \
        asm volatile("atom.relaxed.gpu.global." OP "." TYPE " %0, [%1], %2;"                                        \
                     : "=" LETTER(old)                                                                              \
                     : "l"(address), LETTER(x)                                                                      \
                     : "memory");                                                                                   \
        return old;                                                                                                 \
    }
VYRE_ATOMIC(atomic_add, "add", "u32", u32, "r")
VYRE_ATOMIC(atomic_add64, "add", "u64", u64, "l")
VYRE_ATOMIC(atomic_add_f32, "add", "f32", float, "f")
VYRE_ATOMIC(atomic_add_f64, "add", "f64", double, "d")
VYRE_ATOMIC(atomic_min_u32, "min", "u32", u32, "r")
VYRE_ATOMIC(atomic_min_i32, "min", "s32", u32, "r")
VYRE_ATOMIC(atomic_min_u64, "min", "u64", u64, "l")
VYRE_ATOMIC(atomic_min_i64, "min", "s64", u64, "l")
VYRE_ATOMIC(atomic_max_u32, "max", "u32", u32, "r")
VYRE_ATOMIC(atomic_max_i32, "max", "s32", u32, "r")
VYRE_ATOMIC(atomic_max_u64, "max", "u64", u64, "l")
VYRE_ATOMIC(atomic_max_i64, "max", "s64", u64, "l")
VYRE_ATOMIC(atomic_and, "and", "b32", u32, "r")
VYRE_ATOMIC(atomic_and64, "and", "b64", u64, "l")
VYRE_ATOMIC(atomic_or, "or", "b32", u32, "r")
VYRE_ATOMIC(atomic_or64, "or", "b64", u64, "l")
VYRE_ATOMIC(atomic_xor, "xor", "b32", u32, "r")
VYRE_ATOMIC(atomic_xor64, "xor", "b64", u64, "l")
VYRE_ATOMIC(atomic_swap, "exch", "b32", u32, "r")
VYRE_ATOMIC(atomic_swap64, "exch", "b64", u64, "l")
#undef VYRE_ATOMIC
// By the lanes with `some`; `old` for the others. No branch keeps several of them apart.
__device__ __forceinline__ u32 atomic_swap_if(bool some, u64 address, u32 x, u32 old) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %3, 0;\n@p atom.relaxed.gpu.global.exch.b32 %0, [%1], %2;\n}"
                 : "+r"(old)
                 : "l"(address), "r"(x), "r"(static_cast<u32>(some))
                 : "memory");
    return old;
}

__device__ __forceinline__ u32 atomic_cas(u64 address, u32 expected, u32 desired) {
    u32 old;
    asm volatile("atom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(old)
                 : "l"(address), "r"(expected), "r"(desired)
                 : "memory");
    return old;
}
__device__ __forceinline__ u64 atomic_cas64(u64 address, u64 expected, u64 desired) {
    u64 old;
    asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(old)
                 : "l"(address), "l"(expected), "l"(desired)
                 : "memory");
    return old;
}

// Float minimum and maximum by compare-and-swap: a value that does not improve costs one load.
template <bool MAX>
__device__ __forceinline__ u32 atomic_extreme_f32(u64 address, u32 x) {
    u32 old = load_relaxed(address);
    for (;;) {
        const float a = __uint_as_float(old), b = __uint_as_float(x);
        const u32 best = __float_as_uint(MAX ? fmaxf(a, b) : fminf(a, b));
        if (best == old) return old;
        const u32 seen = atomic_cas(address, old, best);
        if (seen == old) return old;
        old = seen;
    }
}
template <bool MAX>
__device__ __forceinline__ u64 atomic_extreme_f64(u64 address, u64 x) {
    u64 old = load_relaxed64(address);
    for (;;) {
        const double a = __longlong_as_double(old), b = __longlong_as_double(x);
        const u64 best = __double_as_longlong(MAX ? fmax(a, b) : fmin(a, b));
        if (best == old) return old;
        const u64 seen = atomic_cas64(address, old, best);
        if (seen == old) return old;
        old = seen;
    }
}

// Largest i in 0..n with value(i) <= x, found by the whole warp; value is increasing and value(0) <= x.
template <class F>
__device__ __forceinline__ u32 warp_last_not_above(u32 n, u32 x, F value) {
    u32 low = 0, high = n;
    while (high - low > 1) {
        const u32 step = (high - low + 31) / 32;
        const u64 probe = low + static_cast<u64>(lane_id()) * step;
        const bool below = probe < high && value(static_cast<u32>(probe)) <= x;
        const u32 last = 31 - __clz(__ballot_sync(VYRE_FULL, below) | 1u);
        low += last * step;
        high = min(static_cast<u64>(high), static_cast<u64>(low) + step);
    }
    return low;
}
