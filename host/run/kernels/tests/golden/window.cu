// 3136 blocks of 128 threads
extern "C" __global__ void __launch_bounds__(128) k(const float *__restrict__ x0, float *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[1];
    begin();
    const u32 lane = threadIdx.x % 1;
    const u32 row = (u32)blockIdx.x * 128 + threadIdx.x / 1;
    const bool active = row < 401408u;
    const u32 p = active ? row : 0;
    float acc1[1];
    #pragma unroll
    for (int v = 0; v < 1; ++v) acc1[v] = __uint_as_float(0xff800000u);
    #pragma unroll 4
    for (u32 j = 0; j < 9; ++j) {
        const u32 r = ((u32)j * 1 + lane) * 1;
        #pragma unroll
        for (int v = 0; v < 1; ++v) {
            const int i0_0 = (int)((p / 50176u));
            const int i1_1 = (int)((p / 784u % 64u));
            const int i2_2 = (int)((p / 28u % 28u));
            const int i4_3 = (int)((r / 3u));
            const int i6_4 = (int)((int)i2_2 * 2);
            const int i7_5 = (int)((int)i6_4 + (int)i4_3);
            const int i8_6 = (int)(1);
            const int i9_7 = (int)((int)i7_5 - (int)i8_6);
            const int i3_8 = (int)((p % 28u));
            const int i5_9 = (int)((r % 3u));
            const int i10_10 = (int)((int)i3_8 * 2);
            const int i11_11 = (int)((int)i10_10 + (int)i5_9);
            const int i12_12 = (int)((int)i11_11 - (int)i8_6);
            float v0 = __uint_as_float(0xff800000u);
            if ((u64)(i64)i9_7 < 56ull && (u64)(i64)i12_12 < 56ull) v0 = x0[((int)i0_0 * 200704 + (int)i1_1 * 3136 + (int)i9_7 * 56 + (int)i12_12 * 1)];
            acc1[v] = Max::of(acc1[v], v0);
        }
    }
    const float v1 = across<Max, 1, 128>(column<Max, 1, 1>(acc1), shared);
    if (active && lane == 0) {
        y0[((int)(p))] = v1;
    }
}
