// 384 blocks of 256 threads
extern "C" __global__ void __launch_bounds__(256) passhost_mul_reduce_sum_add_max(const bf16 *__restrict__ x0, const bf16 *__restrict__ x1, const bf16 *__restrict__ x2, bf16 *__restrict__ y0) {
    extern __shared__ __align__(1024) u8 shared[];
    begin();
    const u32 corner0 = (blockIdx.x / 192u % 2u * 8u + blockIdx.x % 8u) * 128;
    const u32 corner1 = blockIdx.x / 8u % 24u * 128;
    const u32 batch = blockIdx.x / 384u;
    bf16 *tile0 = (bf16 *)(shared + 0);
    bf16 *tile1 = (bf16 *)(shared + 65536);
    float acc5[1][1][64] = {};
    for (u32 step = 0; step < 14; ++step) {
        if (step >= 2u) {
            wait_for_groups_of_warpgroups<1>();
        }
        if (step < 12u) {
            #pragma unroll
            for (u32 t = 0; t < 4; ++t) {
                const u32 e = t * 256 + threadIdx.x;
                const u32 m = corner0 + e / 8;
                const u32 k = step * 64 + e % 8 * 8;
                const u32 p = batch * 2048u + m;
                const bool in = k < 760u;
                const u32 r = in ? k : 0;
                copy_later(tile0 + step % 4 * 8192 + place_by_64<128>(e / 8, e % 8 * 8), x0 + ((int)(p) * 760 + (int)(r)), in);
            }
            #pragma unroll
            for (u32 t = 0; t < 4; ++t) {
                const u32 e = t * 256 + threadIdx.x;
                const u32 m = corner1 + e % 16 * 8;
                const u32 k = step * 64 + e / 16;
                const u32 p = batch * 3072u + m;
                const bool in = k < 760u;
                const u32 r = in ? k : 0;
                copy_later(tile1 + step % 4 * 8192 + place_by_64<64>(e / 16, e % 16 * 8), x1 + ((int)(p) + (int)(r) * 3072), in);
            }
        }
        end_group();
        if (step >= 2u) {
            multiply_warpgroups<128, 128, 64, 2, 1, true, false>(acc5, tile0 + (step + 2) % 4 * 8192, tile1 + (step + 2) % 4 * 8192);
        }
    }
    wait_for_products(acc5);
    __syncthreads();
    float *sums5 = (float *)shared;
    gather_warpgroups<128, 128, 2, 1>(sums5, acc5);
    #pragma unroll
    for (u32 t = 0; t < 8; ++t) {
        const u32 e = t * 256 + threadIdx.x;
        const u32 row = e / 16;
        const u32 column = e % 16 * 8;
        const u32 m = corner0 + row;
        const u32 n = corner1 + column;
        const u32 p = (batch * 2048u + m) * 3072u + n;
        __align__(16) float sum5[8];
        read(sum5, sums5 + row * 132 + column);
        __align__(16) bf16 s6[8];
        read(s6, x2 + ((int)(p % 3072u)));
        const float v9 = __uint_as_float(0x00000000u);
        __align__(16) bf16 o0[8];
        #pragma unroll
        for (int v = 0; v < 8; ++v) {
            const bf16 v6 = s6[v];
            const float v7 = (float)to_f32(v6);
            const float v8 = add(sum5[v], v7);
            const float v10 = larger(v8, v9);
            const bf16 v11 = to_bf16((float)v10);
            o0[v] = v11;
        }
        write(y0 + ((int)(p)), o0);
    }
}
