// 4096 blocks of 256 threads
extern "C" __global__ void __launch_bounds__(256) passhost_mul_max(const f16 *__restrict__ x0, const bf16 *__restrict__ x1, f16 *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[1];
    begin();
    const u32 thread = (u32)blockIdx.x * 256 + threadIdx.x;
    if (!(thread < 1048576u)) return;
    const u32 p = thread * 8;
     {
        __align__(16) f16 s0[8];
        read(s0, x0 + ((int)(p)));
        __align__(16) bf16 s2[8];
        read(s2, x1 + ((int)(p % 1024u)));
        const float v5 = __uint_as_float(0x00000000u);
        __align__(16) f16 o0[8];
        #pragma unroll
        for (int v = 0; v < 8; ++v) {
            const f16 v0 = s0[v];
            const float v1 = (float)to_f32(v0);
            const bf16 v2 = s2[v];
            const float v3 = (float)to_f32(v2);
            const float v4 = mul(v1, v3);
            const float v6 = larger(v4, v5);
            const f16 v7 = to_f16((float)v6);
            o0[v] = v7;
        }
        write(y0 + ((int)(p)), o0);
    }
}
