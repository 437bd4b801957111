// 84 blocks of 128 threads
extern "C" __global__ void __launch_bounds__(128) k(const f16 *__restrict__ x0, const f16 *__restrict__ x1, const f16 *__restrict__ x2, f16 *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[27648];
    begin();
    let_next_begin();
    const u32 corner0 = blockIdx.x / 12u % 7u * 32;
    const u32 corner1 = blockIdx.x % 12u * 64;
    const u32 batch = blockIdx.x / 84u;
    f16 *tile0 = (f16 *)(shared + 0);
    __align__(16) f16 f0[2][8];
    f16 *tile1 = (f16 *)(shared + 9216);
    __align__(16) f16 f1[4][8];
    float acc5[1][4][4] = {};
    for (u32 step = 0; step < 13; ++step) {
        if (step < 12u) {
            #pragma unroll
            for (u32 t = 0; t < 2; ++t) {
                const u32 e = t * 128 + threadIdx.x;
                const u32 m = corner0 + e / 8;
                const u32 k = step * 64 + e % 8 * 8;
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
                const u32 m = corner1 + e / 8;
                const u32 k = step * 64 + e % 8 * 8;
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
            multiply_halves<32, 64, 64, 2, 2, true, true>(acc5, tile0 + (step + 1) % 2 * 2304, tile1 + (step + 1) % 2 * 4608);
        }
        if (step < 12u) {
            #pragma unroll
            for (u32 t = 0; t < 2; ++t) {
                const u32 e = t * 128 + threadIdx.x;
                write(tile0 + step % 2 * 2304 + (e / 8) * 72 + e % 8 * 8, f0[t]);
            }
            #pragma unroll
            for (u32 t = 0; t < 4; ++t) {
                const u32 e = t * 128 + threadIdx.x;
                write(tile1 + step % 2 * 4608 + (e / 8) * 72 + e % 8 * 8, f1[t]);
            }
        }
        __syncthreads();
    }
    float *sums5 = (float *)shared;
    gather_halves<32, 64, 2, 2>(sums5, acc5);
    #pragma unroll
    for (u32 t = 0; t < 2; ++t) {
        const u32 e = t * 128 + threadIdx.x;
        const u32 row = e / 8;
        const u32 column = e % 8 * 8;
        const u32 m = corner0 + row;
        const u32 n = corner1 + column;
        if (m < 197u) {
            const u32 p = (batch * 197u + m) * 768u + n;
            __align__(16) float sum5[8];
            read(sum5, sums5 + row * 68 + column);
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
