// 38 blocks of 128 threads
extern "C" __global__ void __launch_bounds__(128) passhost_mul_reduce_sum(const float *__restrict__ x0, const float *__restrict__ x1, float *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[24576];
    begin();
    let_next_begin();
    const u32 corner0 = blockIdx.x / 2u % 19u * 16;
    const u32 corner1 = blockIdx.x % 2u * 32;
    const u32 batch = blockIdx.x / 38u;
    float *tile0 = (float *)(shared + 0);
    __align__(16) float f0[4][2];
    float *tile1 = (float *)(shared + 8192);
    __align__(16) float f1[8][2];
    float acc3[1][4] = {};
    for (u32 step = 0; step < 3; ++step) {
        if (step < 2u) {
            #pragma unroll
            for (u32 t = 0; t < 4; ++t) {
                const u32 e = t * 128 + threadIdx.x;
                const u32 m = corner0 + e / 32;
                const u32 k = step * 64 + e % 32 * 2;
                const u32 p = batch * 300u + (m < 300u ? m : 0);
                const bool in = k < 70u;
                const u32 r = in ? k : 0;
                __align__(16) float s0[2];
                read(s0, x0 + ((int)(p) * 70 + (int)(r)));
                #pragma unroll
                for (int v = 0; v < 2; ++v) {
                    const float v0 = s0[v];
                    f0[t][v] = v0;
                }
                #pragma unroll
                for (int v = 0; v < 2; ++v) f0[t][v] = in ? f0[t][v] : __uint_as_float(0x00000000u);
            }
            #pragma unroll
            for (u32 t = 0; t < 8; ++t) {
                const u32 e = t * 128 + threadIdx.x;
                const u32 m = corner1 + e % 16 * 2;
                const u32 k = step * 64 + e / 16;
                const u32 p = batch * 50u + (m < 50u ? m : 0);
                const bool in = k < 70u;
                const u32 r = in ? k : 0;
                __align__(16) float s1[2];
                read(s1, x1 + ((int)(p) + (int)(r) * 50));
                #pragma unroll
                for (int v = 0; v < 2; ++v) {
                    const float v1 = s1[v];
                    f1[t][v] = v1;
                }
                #pragma unroll
                for (int v = 0; v < 2; ++v) f1[t][v] = in ? f1[t][v] : __uint_as_float(0x00000000u);
            }
        }
        if (step > 0) {
            multiply_tile<16, 32, 64>(acc3, tile0 + (step + 1) % 2 * 1024, tile1 + (step + 1) % 2 * 2048);
        }
        if (step < 2u) {
            #pragma unroll
            for (u32 t = 0; t < 4; ++t) {
                const u32 e = t * 128 + threadIdx.x;
                #pragma unroll
                for (int v = 0; v < 2; ++v) (tile0 + step % 2 * 1024 + spot<16, 4>(e % 32 * 2, e / 32) + v * 16)[0] = f0[t][v];
            }
            #pragma unroll
            for (u32 t = 0; t < 8; ++t) {
                const u32 e = t * 128 + threadIdx.x;
                write(tile1 + step % 2 * 2048 + spot<32, 4>(e / 16, e % 16 * 2), f1[t]);
            }
        }
        __syncthreads();
    }
    float *sums3 = (float *)shared;
    gather_tile<16, 32>(sums3, acc3);
    #pragma unroll
    for (u32 t = 0; t < 2; ++t) {
        const u32 e = t * 128 + threadIdx.x;
        const u32 row = e / 16;
        const u32 column = e % 16 * 2;
        const u32 m = corner0 + row;
        const u32 n = corner1 + column;
        if (m < 300u && n < 50u) {
            const u32 p = (batch * 300u + m) * 50u + n;
            __align__(16) float sum3[2];
            read(sum3, sums3 + row * 36 + column);
            __align__(16) float o0[2];
            #pragma unroll
            for (int v = 0; v < 2; ++v) {
                o0[v] = sum3[v];
            }
            write(y0 + ((int)(p)), o0);
        }
    }
}
