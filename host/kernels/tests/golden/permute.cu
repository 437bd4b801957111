// 1024 blocks of 256 threads
extern "C" __global__ void __launch_bounds__(256) k(const float *__restrict__ x0, float *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[1];
    const u32 thread = (u32)blockIdx.x * 256 + threadIdx.x;
    if (!(thread < 262144u)) return;
    const u32 p = thread * 1;
     {
        #pragma unroll
        for (int v = 0; v < 1; ++v) {
            const float v0 = x0[((int)(p / 8192u) * 8192 + (int)(p / 64u % 128u) + (int)(p % 64u) * 128)];
            y0[((int)(p))] = v0;
        }
    }
}
