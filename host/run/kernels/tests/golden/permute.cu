// 256 blocks of 256 threads
extern "C" __global__ void __launch_bounds__(256) passhost_copy(const float *__restrict__ x0, float *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[4224];
    begin();
    let_next_begin();
    const u32 column = threadIdx.x % 32, first = threadIdx.x / 32;
    const u32 a0 = blockIdx.x % 2u * 32;
    const u32 b0 = blockIdx.x / 2u % 4u * 32;
    const u32 rest = blockIdx.x / 8u;
    const u32 corner = rest / 1u * 8192u + rest % 1u * 64u;
    float *tile0 = (float *)(shared + 0);
    const i64 from0 = ((int)(corner / 8192u) * 8192 + (int)(corner / 64u % 128u) + (int)(corner % 64u) * 128) + (i64)(a0 + first) * 128ll + (b0 + column);
    #pragma unroll
    for (u32 n = 0; n < 4; ++n) {
        #pragma unroll
        for (u32 l = 0; l < 1; ++l) {
            if (a0 + first + n * 8 < 64u && b0 + column + l * 32 < 128u) {
                tile0[(first + n * 8) * 33 + column + l * 32] = x0[from0 + n * 1024ll + l * 32];
            }
        }
    }
    __syncthreads();
    #pragma unroll 4
    for (u32 n = 0; n < 4; ++n) {
        const u32 a = a0 + column * 1, b = b0 + first + n * 8;
        if (a < 64u && b < 128u) {
            const u32 p = corner + b * 64u + a;
            #pragma unroll
            for (int v = 0; v < 1; ++v) {
                y0[((int)(p))] = (tile0[(column * 1 + v) * 33 + first + n * 8]);
            }
        }
    }
}
