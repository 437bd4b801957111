// 784 blocks of 128 threads
extern "C" __global__ void __launch_bounds__(128) passhost_reduce_max(const float *__restrict__ x0, float *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[1];
    begin();
    const u32 thread = (u32)blockIdx.x * 128 + threadIdx.x;
    if (!(thread < 100352u)) return;
    const u32 p = thread * 4;
    float acc1[4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) acc1[v] = __uint_as_float(0xff800000u);
     {
        #pragma unroll
        for (u32 j = 0; j < 9; ++j) {
            #pragma unroll
            for (int turn = 0; turn < 1; ++turn) {
                const u32 r = 0 + (j * 1 + turn) * 1;
                #pragma unroll
                for (int v = 0; v < 4; ++v) {
                    const int i0_0 = (int)((p / 50176u));
                    const int i1_1 = (int)((p / 784u % 64u));
                    const int i2_2 = (int)((p / 28u % 28u));
                    const int i4_3 = (int)((r / 3u));
                    const int i6_4 = (int)((int)i2_2 * 2);
                    const int i7_5 = (int)((int)i6_4 + (int)i4_3);
                    const int i8_6 = (int)(1);
                    const int i9_7 = (int)((int)i7_5 - (int)i8_6);
                    const int i3_8 = (int)(((p % 28u) + v));
                    const int i5_9 = (int)((r % 3u));
                    const int i10_10 = (int)((int)i3_8 * 2);
                    const int i11_11 = (int)((int)i10_10 + (int)i5_9);
                    const int i12_12 = (int)((int)i11_11 - (int)i8_6);
                    const bool in0 = (u64)(i64)i9_7 < 56ull && (u64)(i64)i12_12 < 56ull;
                    const u32 from0 = ((u32)i0_0 * 200704u + (u32)i1_1 * 3136u + (u32)i9_7 * 56u + (u32)i12_12 * 1u);
                    const float at0 = x0[in0 ? from0 : 0];
                    const float v0 = in0 ? at0 : __uint_as_float(0xff800000u);
                    acc1[turn * 4 + v] = Max::of(acc1[turn * 4 + v], v0);
                }
            }
        }
    }
    float sum1[4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) sum1[v] = column<Max, 1, 4>(acc1 + v);
    across_columns<Max, 128, 1>(sum1, shared);
     {
        __align__(16) float o0[4];
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
            o0[v] = sum1[v];
        }
        write(y0 + ((int)(p)), o0);
    }
}
