// 547 blocks of 256 threads
extern "C" __global__ void __launch_bounds__(256) passhost_copy(const float *__restrict__ x0, float *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[1];
    begin();
    const u32 thread = (u32)blockIdx.x * 256 + threadIdx.x;
    if (!(thread < 140000u)) return;
    const u32 p = thread * 2;
     {
        __align__(16) float s0[2];
        const int i0_0 = (int)((p / 4u));
        const int i1_1 = (int)((int)i0_0 * 2);
        const int i2_2 = (int)((p % 4u));
        read(s0, x0 + ((int)(i1_1 < 0 ? 0 : i1_1 > 5ll ? 5ll : i1_1) * 6 + (int)i2_2 * 1));
        __align__(16) float o0[2];
        #pragma unroll
        for (int v = 0; v < 2; ++v) {
            const float v0 = s0[v];
            o0[v] = v0;
        }
        write(y0 + ((int)(p)), o0);
    }
}
