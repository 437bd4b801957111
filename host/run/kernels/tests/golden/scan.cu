// 256 blocks of 256 threads
extern "C" __global__ void __launch_bounds__(256) passhost_scan_cumsum(const float *__restrict__ x0, float *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[64];
    begin();
    let_next_begin();
    const u32 lane = threadIdx.x % 256;
    const u32 row = (u32)blockIdx.x * 1 + threadIdx.x / 256;
    const bool active = row < 256u;
    const u32 p = active ? row : 0;
     {
        float carry1 = 0;
        float k0[2][4];
        float c1[2][4];
        #pragma unroll
        for (u32 j = 0; j < 2; ++j) {
            const u32 r = ((u32)(j) * 256 + lane) * 4;
            if (r < 2000u) {
                __align__(16) float s0[4];
                read(s0, x0 + ((int)(p) * 2000 + (int)(r)));
                #pragma unroll
                for (int v = 0; v < 4; ++v) {
                    const float v0 = s0[v];
                    k0[j][v] = v0;
                }
            }
            #pragma unroll
            for (int v = 0; v < 4; ++v) c1[j][v] = r < 2000u ? k0[j][v] : 0;
        }
        scan<Sum, 256>(c1, carry1, shared);
        #pragma unroll
        for (u32 j = 0; j < 2; ++j) {
            const u32 r = ((u32)(j) * 256 + lane) * 4;
            if (r < 2000u) {
                __align__(16) float o0[4];
                #pragma unroll
                for (int v = 0; v < 4; ++v) {
                    o0[v] = c1[j][v];
                }
                if (active) write(y0 + ((int)(p) * 2000 + (int)(r)), o0);
            }
        }
    }
}
