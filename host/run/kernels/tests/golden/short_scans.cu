// 512 blocks of 128 threads
extern "C" __global__ void __launch_bounds__(128) passhost_scan_cumsum(const float *__restrict__ x0, float *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[1];
    begin();
    let_next_begin();
    const u32 lane = threadIdx.x % 8;
    const u32 row = (u32)blockIdx.x * 16 + threadIdx.x / 8;
    const bool active = row < 8192u;
    const u32 p = active ? row : 0;
     {
        float carry1 = 0;
        float k0[1][4];
        float c1[1][4];
        #pragma unroll
        for (u32 j = 0; j < 1; ++j) {
            const u32 r = ((u32)(j) * 8 + lane) * 4;
            if (r < 24u) {
                __align__(16) float s0[4];
                read(s0, x0 + ((int)(p) * 24 + (int)(r)));
                #pragma unroll
                for (int v = 0; v < 4; ++v) {
                    const float v0 = s0[v];
                    k0[j][v] = v0;
                }
            }
            #pragma unroll
            for (int v = 0; v < 4; ++v) c1[j][v] = r < 24u ? k0[j][v] : 0;
        }
        scan<Sum, 8>(c1, carry1, shared);
        #pragma unroll
        for (u32 j = 0; j < 1; ++j) {
            const u32 r = ((u32)(j) * 8 + lane) * 4;
            if (r < 24u) {
                __align__(16) float o0[4];
                #pragma unroll
                for (int v = 0; v < 4; ++v) {
                    o0[v] = c1[j][v];
                }
                if (active) write(y0 + ((int)(p) * 24 + (int)(r)), o0);
            }
        }
    }
}
