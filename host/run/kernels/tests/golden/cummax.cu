// 300 blocks of 256 threads
extern "C" __global__ void __launch_bounds__(256) passhost_scan_cummax_select(const float *__restrict__ x0, float *__restrict__ y0, i64 *__restrict__ y1) {
    __shared__ __align__(16) u8 shared[256];
    begin();
    const u32 lane = threadIdx.x % 256;
    const u32 row = (u32)blockIdx.x * 1 + threadIdx.x / 256;
    const bool active = row < 300u;
    const u32 p = active ? row : 0;
    const i64 v4 = (i64)0x0000000000000000ull;
     {
        float carry1 = __uint_as_float(0xff800000u);
        i64 carry6 = (i64)0x8000000000000000ull;
        for (u32 round = 0; round < 3; ++round) {
            float k0[4][2];
            i64 k3[4][2];
            float c1[4][2];
            #pragma unroll
            for (u32 j = 0; j < 4; ++j) {
                const u32 r = ((u32)(round * 4 + j) * 256 + lane) * 2;
                if (r < 5000u) {
                    __align__(16) float s0[2];
                    read(s0, x0 + ((int)(p) * 5000 + (int)(r)));
                    #pragma unroll
                    for (int v = 0; v < 2; ++v) {
                        const float v0 = s0[v];
                        const int i1_0 = (int)(((r) + v));
                        const i64 v3 = (i64)i1_0;
                        k0[j][v] = v0;
                        k3[j][v] = v3;
                    }
                }
                #pragma unroll
                for (int v = 0; v < 2; ++v) c1[j][v] = r < 5000u ? k0[j][v] : __uint_as_float(0xff800000u);
            }
            scan<Max, 256>(c1, carry1, shared);
            i64 k5[4][2];
            i64 c6[4][2];
            #pragma unroll
            for (u32 j = 0; j < 4; ++j) {
                const u32 r = ((u32)(round * 4 + j) * 256 + lane) * 2;
                if (r < 5000u) {
                    __align__(16) float o0[2];
                    #pragma unroll
                    for (int v = 0; v < 2; ++v) {
                        const bool v2 = k0[j][v] == c1[j][v];
                        const i64 v5 = v2 ? k3[j][v] : v4;
                        k5[j][v] = v5;
                        o0[v] = c1[j][v];
                    }
                    if (active) write(y0 + ((int)(p) * 5000 + (int)(r)), o0);
                }
                #pragma unroll
                for (int v = 0; v < 2; ++v) c6[j][v] = r < 5000u ? k5[j][v] : (i64)0x8000000000000000ull;
            }
            scan<Max, 256>(c6, carry6, shared);
            #pragma unroll
            for (u32 j = 0; j < 4; ++j) {
                const u32 r = ((u32)(round * 4 + j) * 256 + lane) * 2;
                if (r < 5000u) {
                    __align__(16) i64 o1[2];
                    #pragma unroll
                    for (int v = 0; v < 2; ++v) {
                        o1[v] = c6[j][v];
                    }
                    if (active) write(y1 + ((int)(p) * 5000 + (int)(r)), o1);
                }
            }
        }
    }
}
