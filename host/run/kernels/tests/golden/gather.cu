// 256 blocks of 128 threads
extern "C" __global__ void __launch_bounds__(128) passhost_copy(const i64 *__restrict__ x0, const float *__restrict__ x1, float *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[1];
    begin();
    let_next_begin();
    const u32 thread = (u32)blockIdx.x * 128 + threadIdx.x;
    if (!(thread < 32768u)) return;
    const u32 p = thread * 4;
     {
        const i64 v0 = x0[((int)(p / 256u))];
        __align__(16) float o0[4];
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
            const i64 i2_0 = (i64)(v0);
            const int i1_1 = (int)(((p % 256u) + v));
            const float v1 = x1[((int)(i2_0 < 0 ? 0 : i2_0 > 29999ll ? 29999ll : i2_0) * 256 + (int)i1_1 * 1)];
            o0[v] = v1;
        }
        write(y0 + ((int)(p)), o0);
    }
}
