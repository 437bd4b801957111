// 128 blocks of 512 threads
extern "C" __global__ void __launch_bounds__(512) k(const float *__restrict__ x0, float *__restrict__ y0, float *__restrict__ y1) {
    __shared__ __align__(16) u8 shared[512];
    begin();
    let_next_begin();
    const u32 thread = (u32)(blockIdx.x / 128) * 2 + threadIdx.x % 2;
    const bool active = thread < 2u;
    const u32 p = active ? thread * 4 : 0;
    const u32 depth = blockIdx.x % 128 * 256 + threadIdx.x / 2;
    float acc1[8];
    #pragma unroll
    for (int v = 0; v < 8; ++v) acc1[v] = 0;
    float acc2[8];
    #pragma unroll
    for (int v = 0; v < 8; ++v) acc2[v] = __uint_as_float(0xff800000u);
     {
        for (u32 j = 0; j < 1; ++j) {
            #pragma unroll
            for (int turn = 0; turn < 2; ++turn) {
                const u32 r = depth + (j * 2 + turn) * 32768;
                __align__(16) float s0[4];
                read(s0, x0 + ((int)(p) + (int)(r) * 8));
                #pragma unroll
                for (int v = 0; v < 4; ++v) {
                    const float v0 = s0[v];
                    acc1[turn * 4 + v] = Sum::of(acc1[turn * 4 + v], v0);
                    acc2[turn * 4 + v] = Max::of(acc2[turn * 4 + v], v0);
                }
            }
        }
    }
    float sum1[4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) sum1[v] = column<Sum, 2, 4>(acc1 + v);
    across_columns<Sum, 2, 256>(sum1, shared);
    float sum2[4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) sum2[v] = column<Max, 2, 4>(acc2 + v);
    across_columns<Max, 2, 256>(sum2, shared);
    static u32 arrived[1];
    static float parts1[1024];
    leave<2>(sum1, parts1);
    static float parts2[1024];
    leave<2>(sum2, parts2);
    if (!is_last<128>(arrived)) return;
    collect<Sum, 2, 256, 128>(sum1, parts1, (float)0);
    across_columns<Sum, 2, 256>(sum1, shared);
    collect<Max, 2, 256, 128>(sum2, parts2, (float)__uint_as_float(0xff800000u));
    across_columns<Max, 2, 256>(sum2, shared);
     {
        __align__(16) float o0[4];
        __align__(16) float o1[4];
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
            o0[v] = sum1[v];
            o1[v] = sum2[v];
        }
        if (active && threadIdx.x < 2) write(y0 + ((int)(p)), o0);
        if (active && threadIdx.x < 2) write(y1 + ((int)(p)), o1);
    }
}
