// 168 blocks of 128 threads
extern "C" __global__ void __launch_bounds__(128) k(const f16 *__restrict__ x0, const f16 *__restrict__ x1, const f16 *__restrict__ x2, f16 *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[34816];
    begin();
    let_next_begin();
    const u32 corner0 = blockIdx.x / 24u % 7u * 32;
    const u32 corner1 = blockIdx.x % 24u * 32;
    const u32 batch = blockIdx.x / 168u;
    f16 *tile0 = (f16 *)(shared + 0);
    __align__(16) f16 f0[4][8];
    f16 *tile1 = (f16 *)(shared + 17408);
    __align__(16) f16 f1[4][8];
    float acc5[1][2][4] = {};
    for (u32 step = 0; step < 7; ++step) {
        if (step < 6u) {
            #pragma unroll
            for (u32 t = 0; t < 4; ++t) {
                const u32 e = t * 128 + threadIdx.x;
                const u32 m = corner0 + e / 16;
                const u32 k = step * 128 + e % 16 * 8;
                const u32 p = batch * 197u + (m < 197u ? m : 0);
                const u32 r = k;
                __align__(16) f16 s0[8];
                read(s0, x0 + ((int)(p) * 768 + (int)(r)));
                #pragma unroll
                for (int v = 0; v < 8; ++v) {
                    const f16 v0 = s0[v];
                    f0[t][v] = v0;
                }
            }
            #pragma unroll
            for (u32 t = 0; t < 4; ++t) {
                const u32 e = t * 128 + threadIdx.x;
                const u32 m = corner1 + e / 16;
                const u32 k = step * 128 + e % 16 * 8;
                const u32 p = batch * 768u + m;
                const u32 r = k;
                __align__(16) f16 s2[8];
                read(s2, x1 + ((int)(p) * 768 + (int)(r)));
                #pragma unroll
                for (int v = 0; v < 8; ++v) {
                    const f16 v2 = s2[v];
                    f1[t][v] = v2;
                }
            }
        }
        if (step > 0) {
            multiply_halves<32, 32, 128, 2, 2, 1, true, true>(acc5, tile0 + (step + 1) % 2 * 4352, tile1 + (step + 1) % 2 * 4352);
        }
        if (step < 6u) {
            #pragma unroll
            for (u32 t = 0; t < 4; ++t) {
                const u32 e = t * 128 + threadIdx.x;
                write(tile0 + step % 2 * 4352 + (e / 16) * 136 + e % 16 * 8, f0[t]);
            }
            #pragma unroll
            for (u32 t = 0; t < 4; ++t) {
                const u32 e = t * 128 + threadIdx.x;
                write(tile1 + step % 2 * 4352 + (e / 16) * 136 + e % 16 * 8, f1[t]);
            }
        }
        __syncthreads();
    }
    float *sums5 = (float *)shared;
    gather_halves<32, 32, 128, 2, 2, 1>(sums5, acc5);
    #pragma unroll
    for (u32 t = 0; t < 1; ++t) {
        const u32 e = t * 128 + threadIdx.x;
        const u32 row = e / 4;
        const u32 column = e % 4 * 8;
        const u32 m = corner0 + row;
        const u32 n = corner1 + column;
        if (m < 197u) {
            const u32 p = (batch * 197u + m) * 768u + n;
            __align__(16) float sum5[8];
            read(sum5, sums5 + row * 36 + column);
            __align__(16) f16 s6[8];
            read(s6, x2 + ((int)(p % 768u)));
            const float v9 = __uint_as_float(0x00000000u);
            __align__(16) f16 o0[8];
            #pragma unroll
            for (int v = 0; v < 8; ++v) {
                const f16 v6 = s6[v];
                const float v7 = (float)to_f32(v6);
                const float v8 = add(sum5[v], v7);
                const float v10 = larger(v8, v9);
                const f16 v11 = to_f16((float)v10);
                o0[v] = v11;
            }
            write(y0 + ((int)(p)), o0);
        }
    }
}
