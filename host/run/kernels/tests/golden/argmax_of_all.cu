// 146 blocks of 512 threads
extern "C" __global__ void __launch_bounds__(512) passhost_reduce_argmax_reduce_max(const f16 *__restrict__ x0, i64 *__restrict__ y0, f16 *__restrict__ y1) {
    __shared__ __align__(16) u8 shared[256];
    begin();
    const u32 lane = blockIdx.x % 73 * 512 + threadIdx.x % 512;
    const u32 row = (u32)(blockIdx.x / 73) * 1 + threadIdx.x / 512;
    const bool active = row < 2u;
    const u32 p = active ? row : 0;
    Best<float> acc2[8];
    #pragma unroll
    for (int v = 0; v < 8; ++v) acc2[v] = Best<float>{0, -1};
    float acc3[8];
    #pragma unroll
    for (int v = 0; v < 8; ++v) acc3[v] = __uint_as_float(0xff800000u);
    #pragma unroll 4
    for (u32 j = 0; j < 1; ++j) {
        const u32 r = ((u32)j * 37376 + lane) * 8;
        __align__(16) f16 s0[8];
        read(s0, x0 + ((int)(p) * 300000 + (int)(r)));
        #pragma unroll
        for (int v = 0; v < 8; ++v) {
            const f16 v0 = s0[v];
            const float v1 = (float)to_f32(v0);
            acc2[v] = Argmax::of(acc2[v], v1, (i64)(r + v));
            acc3[v] = Max::of(acc3[v], v1);
        }
    }
    #pragma unroll 4
    for (u32 j = 1; j < 2; ++j) {
        const u32 r = ((u32)j * 37376 + lane) * 8;
        if (r < 300000u) {
            __align__(16) f16 s0[8];
            read(s0, x0 + ((int)(p) * 300000 + (int)(r)));
            #pragma unroll
            for (int v = 0; v < 8; ++v) {
                const f16 v0 = s0[v];
                const float v1 = (float)to_f32(v0);
                acc2[v] = Argmax::of(acc2[v], v1, (i64)(r + v));
                acc3[v] = Max::of(acc3[v], v1);
            }
        }
    }
    Best<float> sum2[1] = {across<Argmax, 512, 512>(column<Argmax, 8, 1>(acc2), shared)};
    float sum3[1] = {across<Max, 512, 512>(column<Max, 8, 1>(acc3), shared)};
    static u32 arrived[2];
    static Best<float> parts2[146];
    leave<1>(sum2, parts2);
    static float parts3[146];
    leave<1>(sum3, parts3);
    if (!is_last<73>(arrived)) return;
    collect<Argmax, 1, 512, 73>(sum2, parts2, (Best<float>)Best<float>{0, -1});
    sum2[0] = across<Argmax, 512, 512>(sum2[0], shared);
    collect<Max, 1, 512, 73>(sum3, parts3, (float)__uint_as_float(0xff800000u));
    sum3[0] = across<Max, 512, 512>(sum3[0], shared);
    const f16 v4 = to_f16((float)sum3[0]);
    if (active && threadIdx.x < 1) {
        y0[((int)(p))] = sum2[0].at;
        y1[((int)(p))] = v4;
    }
}
