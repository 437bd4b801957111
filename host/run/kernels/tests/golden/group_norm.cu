// 256 blocks of 512 threads
extern "C" __global__ void __launch_bounds__(512) __cluster_dims__(8, 1, 1) passhost_reduce_sum_div_sub_mul_add_rsqrt(const f16 *__restrict__ x0, f16 *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[64];
    begin();
    __cluster_barrier_arrive_relaxed();
    const u32 lane = blockIdx.x % 8 * 512 + threadIdx.x % 512;
    const u32 row = (u32)(blockIdx.x / 8) * 1 + threadIdx.x / 512;
    const bool active = row < 32u;
    const u32 p = active ? row : 0;
    f16 k0[2][8];
    const float v2 = __uint_as_float(0x47200000u);
    const float v9 = __uint_as_float(0x3727c5acu);
    float acc3[8];
    #pragma unroll
    for (int v = 0; v < 8; ++v) acc3[v] = 0;
    #pragma unroll
    for (u32 j = 0; j < 2; ++j) {
        const u32 r = ((u32)j * 4096 + lane) * 8;
        if (j < 1 || r < 40960u) {
            __align__(16) f16 s0[8];
            read(s0, x0 + ((int)(p) * 40960 + (int)(r)));
            #pragma unroll
            for (int v = 0; v < 8; ++v) {
                const f16 v0 = s0[v];
                const float v1 = (float)to_f32(v0);
                acc3[v] = Sum::of(acc3[v], v1);
                k0[j][v] = v0;
            }
        }
    }
    float sum3[1] = {across<Sum, 512, 512>(column<Sum, 8, 1>(acc3), shared)};
    __shared__ float parts3[8];
    __cluster_barrier_wait();
    tell<1, 512, 8>(sum3, parts3);
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    take<Sum, 1, 8>(sum3, parts3);
    const float v4 = div(sum3[0], v2);
    float acc7[8];
    #pragma unroll
    for (int v = 0; v < 8; ++v) acc7[v] = 0;
    #pragma unroll
    for (u32 j = 0; j < 2; ++j) {
        const u32 r = ((u32)j * 4096 + lane) * 8;
        if (j < 1 || r < 40960u) {
            #pragma unroll
            for (int v = 0; v < 8; ++v) {
                const float v1 = (float)to_f32(k0[j][v]);
                const float v5 = sub(v1, v4);
                const float v6 = mul(v5, v5);
                acc7[v] = Sum::of(acc7[v], v6);
            }
        }
    }
    float sum7[1] = {across<Sum, 512, 512>(column<Sum, 8, 1>(acc7), shared)};
    __shared__ float parts7[8];
    tell<1, 512, 8>(sum7, parts7);
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    take<Sum, 1, 8>(sum7, parts7);
    const float v8 = div(sum7[0], v2);
    const float v10 = add(v8, v9);
    const float v11 = rsqrtf(v10);
    #pragma unroll
    for (u32 j = 0; j < 2; ++j) {
        const u32 r = ((u32)j * 4096 + lane) * 8;
        if (j < 1 || r < 40960u) {
            __align__(16) f16 o0[8];
            #pragma unroll
            for (int v = 0; v < 8; ++v) {
                const float v1 = (float)to_f32(k0[j][v]);
                const float v5 = sub(v1, v4);
                const float v12 = mul(v5, v11);
                const f16 v13 = to_f16((float)v12);
                o0[v] = v13;
            }
            if (active) write(y0 + ((int)(p) * 40960 + (int)(r)), o0);
        }
    }
}
