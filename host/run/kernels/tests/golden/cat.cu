// 588 blocks of 128 threads
extern "C" __global__ void __launch_bounds__(128) passhost_select(const float *__restrict__ x0, const float *__restrict__ x1, float *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[1];
    begin();
    const u32 thread = (u32)blockIdx.x * 128 + threadIdx.x;
    if (!(thread < 75264u)) return;
    const u32 p = thread * 4;
     {
        const int i1_0 = (int)((p / 196u % 96u));
        const i64 v0 = (i64)i1_0;
        const i64 v1 = (i64)0x0000000000000020ull;
        const bool v2 = v0 < v1;
        const int i0_1 = (int)((p / 18816u));
        const int i2_2 = (int)((p % 196u));
        const bool in3 = (u64)(i64)i1_0 < 32ull;
        const float *at3 = x0 + (in3 ? ((int)i0_1 * 6272 + (int)i1_0 * 196 + (int)i2_2 * 1) : 0);
        const int i3_3 = (int)(32);
        const int i4_4 = (int)((int)i1_0 - (int)i3_3);
        const bool in4 = (u64)(i64)i4_4 < 64ull;
        const float *at4 = x1 + (in4 ? ((int)i0_1 * 12544 + (int)i4_4 * 196 + (int)i2_2 * 1) : 0);
        const float *at5 = v2 ? at3 : at4;
        const bool in5 = v2 ? in3 : in4;
        __align__(16) float s5[4];
        read_or(s5, at5, in5, __uint_as_float(0x00000000u));
        __align__(16) float o0[4];
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
            const float v5 = s5[v];
            o0[v] = v5;
        }
        write(y0 + ((int)(p)), o0);
    }
}
