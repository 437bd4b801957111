// 256 blocks of 512 threads
extern "C" __global__ void __launch_bounds__(512) __cluster_dims__(4, 1, 1) passhost_reduce_sum(const float *__restrict__ x0, float *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[4096];
    begin();
    __cluster_barrier_arrive_relaxed();
    const u32 thread = (u32)(blockIdx.x / 4) * 16 + threadIdx.x % 16;
    const bool active = thread < 1024u;
    const u32 p = active ? thread * 4 : 0;
    const u32 depth = blockIdx.x % 4 * 32 + threadIdx.x / 16;
    float acc1[16];
    #pragma unroll
    for (int v = 0; v < 16; ++v) acc1[v] = 0;
     {
        for (u32 j = 0; j < 16; ++j) {
            #pragma unroll
            for (int turn = 0; turn < 4; ++turn) {
                const u32 r = depth + (j * 4 + turn) * 128;
                __align__(16) float s0[4];
                read(s0, x0 + ((int)(p) + (int)(r) * 4096));
                #pragma unroll
                for (int v = 0; v < 4; ++v) {
                    const float v0 = s0[v];
                    acc1[turn * 4 + v] = Sum::of(acc1[turn * 4 + v], v0);
                }
            }
        }
    }
    float sum1[4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) sum1[v] = column<Sum, 4, 4>(acc1 + v);
    across_columns<Sum, 16, 32>(sum1, shared);
    __shared__ float parts1[256];
    __cluster_barrier_wait();
    tell<16, 32, 4>(sum1, parts1);
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    take<Sum, 16, 4>(sum1, parts1);
     {
        __align__(16) float o0[4];
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
            o0[v] = sum1[v];
        }
        if (active && depth == 0) write(y0 + ((int)(p)), o0);
    }
}
