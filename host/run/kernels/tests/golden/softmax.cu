// 2048 blocks of 128 threads
extern "C" __global__ void __launch_bounds__(128) passhost_reduce_max_sub_exp_reduce_sum_div(const float *__restrict__ x0, float *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[16];
    begin();
    const u32 lane = threadIdx.x % 64;
    const u32 row = (u32)blockIdx.x * 2 + threadIdx.x / 64;
    const bool active = row < 4096u;
    const u32 p = active ? row : 0;
    float k0[4][4];
    float k3[4][4];
    float acc1[4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) acc1[v] = __uint_as_float(0xff800000u);
    #pragma unroll
    for (u32 j = 0; j < 4; ++j) {
        const u32 r = ((u32)j * 64 + lane) * 4;
        __align__(16) float s0[4];
        read(s0, x0 + ((int)(p) * 1024 + (int)(r)));
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
            const float v0 = s0[v];
            acc1[v] = Max::of(acc1[v], v0);
            k0[j][v] = v0;
        }
    }
    const float v1 = across<Max, 64, 128>(column<Max, 4, 1>(acc1), shared);
    float acc4[4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) acc4[v] = 0;
    #pragma unroll
    for (u32 j = 0; j < 4; ++j) {
        const u32 r = ((u32)j * 64 + lane) * 4;
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
            const float v2 = sub(k0[j][v], v1);
            const float v3 = expf(v2);
            acc4[v] = Sum::of(acc4[v], v3);
            k3[j][v] = v3;
        }
    }
    const float v4 = across<Sum, 64, 128>(column<Sum, 4, 1>(acc4), shared);
    #pragma unroll
    for (u32 j = 0; j < 4; ++j) {
        const u32 r = ((u32)j * 64 + lane) * 4;
        __align__(16) float o0[4];
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
            const float v5 = div(k3[j][v], v4);
            o0[v] = v5;
        }
        if (active) write(y0 + ((int)(p) * 1024 + (int)(r)), o0);
    }
}
