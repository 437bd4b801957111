// 1024 blocks of 256 threads
extern "C" __global__ void __launch_bounds__(256) passhost_reduce_argmax(const float *__restrict__ x0, i64 *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[128];
    begin();
    const u32 lane = threadIdx.x % 256;
    const u32 row = (u32)blockIdx.x * 1 + threadIdx.x / 256;
    const bool active = row < 1024u;
    const u32 p = active ? row : 0;
    Best<float> acc1[4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) acc1[v] = Best<float>{0, -1};
    #pragma unroll 4
    for (u32 j = 0; j < 48; ++j) {
        const u32 r = ((u32)j * 256 + lane) * 4;
        __align__(16) float s0[4];
        read(s0, x0 + ((int)(p) * 50000 + (int)(r)));
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
            const float v0 = s0[v];
            acc1[v] = Argmax::of(acc1[v], v0, (i64)(r + v));
        }
    }
    #pragma unroll 4
    for (u32 j = 48; j < 49; ++j) {
        const u32 r = ((u32)j * 256 + lane) * 4;
        if (r < 50000u) {
            __align__(16) float s0[4];
            read(s0, x0 + ((int)(p) * 50000 + (int)(r)));
            #pragma unroll
            for (int v = 0; v < 4; ++v) {
                const float v0 = s0[v];
                acc1[v] = Argmax::of(acc1[v], v0, (i64)(r + v));
            }
        }
    }
    const i64 v1 = across<Argmax, 256, 256>(column<Argmax, 4, 1>(acc1), shared).at;
    if (active && lane == 0) {
        y0[((int)(p))] = v1;
    }
}
