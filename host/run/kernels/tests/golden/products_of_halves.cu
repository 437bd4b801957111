// 84 blocks of 128 threads
extern "C" __global__ void __launch_bounds__(128) passhost_mul_reduce_sum_add_max(const f16 *__restrict__ x0, const f16 *__restrict__ x1, const f16 *__restrict__ x2, f16 *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[49152];
    begin();
    let_next_begin();
    const u32 corner0 = blockIdx.x / 12u % 7u * 32;
    const u32 corner1 = blockIdx.x % 12u * 64;
    const u32 batch = blockIdx.x / 84u;
    f16 *tile0 = (f16 *)(shared + 0);
    f16 *tile1 = (f16 *)(shared + 16384);
    float acc5[1][4][4] = {};
    for (u32 step = 0; step < 15; ++step) {
        if (step >= 3u) {
            wait_for_groups<2>();
        }
        if (step < 12u) {
            #pragma unroll
            for (u32 t = 0; t < 2; ++t) {
                const u32 e = t * 128 + threadIdx.x;
                const u32 m = corner0 + e / 8;
                const u32 k = step * 64 + e % 8 * 8;
                const u32 p = batch * 197u + (m < 197u ? m : 0);
                const u32 r = k;
                copy_later(tile0 + step % 4 * 2048 + place<64>(e / 8, e % 8 * 8), x0 + ((int)(p) * 768 + (int)(r)), true);
            }
            #pragma unroll
            for (u32 t = 0; t < 4; ++t) {
                const u32 e = t * 128 + threadIdx.x;
                const u32 m = corner1 + e / 8;
                const u32 k = step * 64 + e % 8 * 8;
                const u32 p = batch * 768u + m;
                const u32 r = k;
                copy_later(tile1 + step % 4 * 4096 + place<64>(e / 8, e % 8 * 8), x1 + ((int)(p) * 768 + (int)(r)), true);
            }
        }
        end_group();
        if (step >= 3u) {
            multiply_halves<32, 64, 64, 2, 2, true, true>(acc5, tile0 + (step + 1) % 4 * 2048, tile1 + (step + 1) % 4 * 4096);
        }
    }
    __syncthreads();
    float *sums5 = (float *)shared;
    gather_halves<32, 64, 2, 2, 32>(sums5, acc5, 0);
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
