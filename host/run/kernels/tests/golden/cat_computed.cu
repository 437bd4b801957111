// 588 blocks of 256 threads
extern "C" __global__ void __launch_bounds__(256) passhost_tanh_mul_select(const f16 *__restrict__ x0, const f16 *__restrict__ x1, f16 *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[1];
    begin();
    const u32 thread = (u32)blockIdx.x * 256 + threadIdx.x;
    if (!(thread < 150528u)) return;
    const u32 p = thread * 4;
     {
        __align__(16) f16 s0[4];
        const int i0_0 = (int)((p / 18816u));
        const int i1_1 = (int)((p / 196u % 96u));
        const int i2_2 = (int)((p % 196u));
        const bool in0 = (u64)(i64)i1_1 < 32ull;
        read_or(s0, x0 + (in0 ? ((int)i0_0 * 6272 + (int)i1_1 * 196 + (int)i2_2 * 1) : 0), in0, f16{0x0000});
        __align__(16) f16 s3[4];
        const int i3_3 = (int)(32);
        const int i4_4 = (int)((int)i1_1 - (int)i3_3);
        const bool in3 = (u64)(i64)i4_4 < 64ull;
        read_or(s3, x1 + (in3 ? ((int)i0_0 * 12544 + (int)i4_4 * 196 + (int)i2_2 * 1) : 0), in3, f16{0x0000});
        const float v5 = __uint_as_float(0x40000000u);
        const i64 v7 = (i64)i1_1;
        const i64 v8 = (i64)0x0000000000000020ull;
        const bool v9 = v7 < v8;
        __align__(16) f16 o0[4];
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
            const f16 v0 = s0[v];
            const float v1 = (float)to_f32(v0);
            const float v2 = tanhf(v1);
            const f16 v3 = s3[v];
            const float v4 = (float)to_f32(v3);
            const float v6 = mul(v4, v5);
            const float v10 = v9 ? v2 : v6;
            const float v11 = mul(v10, v5);
            const f16 v12 = to_f16((float)v11);
            o0[v] = v12;
        }
        write(y0 + ((int)(p)), o0);
    }
}
