// The barrier of a cluster of CTAs and nothing else: a module of its own, for compute capability 9.0 and later.

extern "C" __global__ void __launch_bounds__(256) cluster_barriers(void*, unsigned int rounds) {
    for (unsigned int i = 0; i < rounds; ++i) {
        asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    }
}
