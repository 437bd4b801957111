// 1536 blocks of 128 threads
extern "C" __global__ void __launch_bounds__(128) passhost_select_reduce_max_sub_exp_reduce_sum_div(const f16 *__restrict__ x0, const u8 *__restrict__ x1, f16 *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[1];
    begin();
    const u32 lane = threadIdx.x % 32;
    const u32 row = (u32)blockIdx.x * 4 + threadIdx.x / 32;
    const bool active = row < 6144u;
    const u32 p = active ? row : 0;
    float k4[2][8];
    float k7[2][8];
    const float v3 = __uint_as_float(0xff800000u);
    float acc5[8];
    #pragma unroll
    for (int v = 0; v < 8; ++v) acc5[v] = __uint_as_float(0xff800000u);
    #pragma unroll
    for (u32 j = 0; j < 2; ++j) {
        const u32 r = ((u32)j * 32 + lane) * 8;
        __align__(16) f16 s0[8];
        read(s0, x0 + ((int)(p) * 512 + (int)(r)));
        __align__(16) u8 s2[8];
        read(s2, x1 + ((int)(p % 512u) * 512 + (int)(r)));
        #pragma unroll
        for (int v = 0; v < 8; ++v) {
            const f16 v0 = s0[v];
            const float v1 = (float)to_f32(v0);
            const bool v2 = s2[v] != 0;
            const float v4 = v2 ? v1 : v3;
            acc5[v] = Max::of(acc5[v], v4);
            k4[j][v] = v4;
        }
    }
    const float v5 = across<Max, 32, 128>(column<Max, 8, 1>(acc5), shared);
    float acc8[8];
    #pragma unroll
    for (int v = 0; v < 8; ++v) acc8[v] = 0;
    #pragma unroll
    for (u32 j = 0; j < 2; ++j) {
        const u32 r = ((u32)j * 32 + lane) * 8;
        #pragma unroll
        for (int v = 0; v < 8; ++v) {
            const float v6 = sub(k4[j][v], v5);
            const float v7 = expf(v6);
            acc8[v] = Sum::of(acc8[v], v7);
            k7[j][v] = v7;
        }
    }
    const float v8 = across<Sum, 32, 128>(column<Sum, 8, 1>(acc8), shared);
    #pragma unroll
    for (u32 j = 0; j < 2; ++j) {
        const u32 r = ((u32)j * 32 + lane) * 8;
        __align__(16) f16 o0[8];
        #pragma unroll
        for (int v = 0; v < 8; ++v) {
            const float v9 = div(k7[j][v], v8);
            const f16 v10 = to_f16((float)v9);
            o0[v] = v10;
        }
        if (active) write(y0 + ((int)(p) * 512 + (int)(r)), o0);
    }
}
