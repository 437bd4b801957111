// 256 blocks of 512 threads
extern "C" __global__ void __launch_bounds__(512) passhost_reduce_sum_div(const float *__restrict__ x0, float *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[64];
    begin();
    const u32 lane = blockIdx.x % 256 * 512 + threadIdx.x % 512;
    const u32 row = (u32)(blockIdx.x / 256) * 1 + threadIdx.x / 512;
    const bool active = row < 1u;
    const u32 p = active ? row : 0;
    const float v2 = __uint_as_float(0x49800000u);
    float acc1[4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) acc1[v] = 0;
    #pragma unroll 4
    for (u32 j = 0; j < 2; ++j) {
        const u32 r = ((u32)j * 131072 + lane) * 4;
        __align__(16) float s0[4];
        read(s0, x0 + ((int)(r)));
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
            const float v0 = s0[v];
            acc1[v] = Sum::of(acc1[v], v0);
        }
    }
    float sum1[1] = {across<Sum, 512, 512>(column<Sum, 4, 1>(acc1), shared)};
    static u32 arrived[1];
    static float parts1[256];
    leave<1>(sum1, parts1);
    if (!is_last<256>(arrived)) return;
    collect<Sum, 1, 512, 256>(sum1, parts1, (float)0);
    sum1[0] = across<Sum, 512, 512>(sum1[0], shared);
    const float v3 = div(sum1[0], v2);
    if (active && threadIdx.x < 1) {
        y0[(0)] = v3;
    }
}
