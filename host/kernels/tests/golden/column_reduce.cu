// 128 blocks of 1024 threads
extern "C" __global__ void __launch_bounds__(1024) k(const float *__restrict__ x0, float *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[4096];
    const u32 thread = (u32)blockIdx.x * 32 + threadIdx.x % 32;
    const bool active = thread < 4096u;
    const u32 p = active ? thread * 1 : 0;
    const u32 depth = threadIdx.x / 32;
    float acc1[4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) acc1[v] = 0;
     {
        for (u32 first = depth; first < 8192u; first += 128) {
            #pragma unroll
            for (int turn = 0; turn < 4; ++turn) {
                const u32 r = first + turn * 32;
                #pragma unroll
                for (int v = 0; v < 1; ++v) {
                    const float v0 = x0[((int)(p) + (int)(r) * 4096)];
                    acc1[turn * 1 + v] = Sum::of(acc1[turn * 1 + v], v0);
                }
            }
        }
    }
    float sum1[1];
    #pragma unroll
    for (int v = 0; v < 1; ++v) sum1[v] = column<Sum, 4, 1>(acc1 + v);
    across_columns<Sum, 32, 32>(sum1, shared);
     {
        #pragma unroll
        for (int v = 0; v < 1; ++v) {
            if (active && depth == 0) {
                y0[((int)(p))] = sum1[v];
            }
        }
    }
}
