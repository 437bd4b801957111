// 128 blocks of 512 threads
extern "C" __global__ void __launch_bounds__(512) passhost_reduce_sum_reduce_max(const float *__restrict__ x0, float *__restrict__ y0, float *__restrict__ y1) {
    __shared__ __align__(16) u8 shared[512];
    begin();
    let_next_begin();
    const u32 thread = (u32)(blockIdx.x / 128) * 8 + threadIdx.x % 8;
    const bool active = thread < 8u;
    const u32 p = active ? thread * 1 : 0;
    const u32 depth = blockIdx.x % 128 * 64 + threadIdx.x / 8;
    float acc1[4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) acc1[v] = 0;
    float acc2[4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) acc2[v] = __uint_as_float(0xff800000u);
     {
        for (u32 j = 0; j < 2; ++j) {
            #pragma unroll
            for (int turn = 0; turn < 4; ++turn) {
                const u32 r = depth + (j * 4 + turn) * 8192;
                #pragma unroll
                for (int v = 0; v < 1; ++v) {
                    const float v0 = x0[((int)(p) + (int)(r) * 8)];
                    acc1[turn * 1 + v] = Sum::of(acc1[turn * 1 + v], v0);
                    acc2[turn * 1 + v] = Max::of(acc2[turn * 1 + v], v0);
                }
            }
        }
    }
    float sum1[1];
    #pragma unroll
    for (int v = 0; v < 1; ++v) sum1[v] = column<Sum, 4, 1>(acc1 + v);
    across_columns<Sum, 8, 64>(sum1, shared);
    float sum2[1];
    #pragma unroll
    for (int v = 0; v < 1; ++v) sum2[v] = column<Max, 4, 1>(acc2 + v);
    across_columns<Max, 8, 64>(sum2, shared);
    static u32 arrived[1];
    static float parts1[1024];
    leave<8>(sum1, parts1);
    static float parts2[1024];
    leave<8>(sum2, parts2);
    if (!is_last<128>(arrived)) return;
    collect<Sum, 8, 64, 128>(sum1, parts1, (float)0);
    across_columns<Sum, 8, 64>(sum1, shared);
    collect<Max, 8, 64, 128>(sum2, parts2, (float)__uint_as_float(0xff800000u));
    across_columns<Max, 8, 64>(sum2, shared);
     {
        #pragma unroll
        for (int v = 0; v < 1; ++v) {
            if (active && threadIdx.x < 8) {
                y0[((int)(p))] = sum1[v];
            }
            if (active && threadIdx.x < 8) {
                y1[((int)(p))] = sum2[v];
            }
        }
    }
}
