// 256 blocks of 32 threads
extern "C" __global__ void __launch_bounds__(32) passhost_scan_cumsum(const float *__restrict__ x0, float *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[1];
    begin();
    let_next_begin();
    const u32 thread = (u32)blockIdx.x * 32 + threadIdx.x;
    if (!(thread < 8192u)) return;
    const u32 p = thread * 1;
     {
        float c1[1];
        for (int v = 0; v < 1; ++v) c1[v] = 0;
        for (u32 j = 0; j < 25; ++j) {
            #pragma unroll
            for (int turn = 0; turn < 4; ++turn) {
                const u32 r = 0 + (j * 4 + turn) * 1;
                #pragma unroll
                for (int v = 0; v < 1; ++v) {
                    const float v0 = x0[((int)(p) + (int)(r) * 8192)];
                    c1[v] = Sum::of(c1[v], v0);
                    const float v1 = c1[v];
                    y0[((int)(p) + (int)(r) * 8192)] = v1;
                }
            }
        }
    }
}
