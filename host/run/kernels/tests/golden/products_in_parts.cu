// 64 blocks of 128 threads
extern "C" __global__ void __launch_bounds__(128) __cluster_dims__(8, 1, 1) passhost_mul_reduce_sum_add(const float *__restrict__ x0, const float *__restrict__ x1, const float *__restrict__ x2, float *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[32768];
    begin();
    let_next_begin();
    const u32 share = blockIdx.x % 8;
    const u32 corner0 = blockIdx.x / 8 / 4u % 2u * 32;
    const u32 corner1 = blockIdx.x / 8 % 4u * 32;
    const u32 batch = blockIdx.x / 8 / 8u;
    float *tile0 = (float *)(shared + 0);
    __align__(16) float f0[4][4];
    float *tile1 = (float *)(shared + 16384);
    __align__(16) float f1[4][4];
    float acc3[2][4] = {};
    float all3[2][4] = {};
    for (u32 step = 0; step < 2; ++step) {
        if (step < 1u) {
            #pragma unroll
            for (u32 t = 0; t < 4; ++t) {
                const u32 e = t * 128 + threadIdx.x;
                const u32 m = corner0 + e / 16;
                const u32 k = (share * 1u + step) * 64 + e % 16 * 4;
                const u32 p = batch * 64u + m;
                const u32 r = k;
                __align__(16) float s0[4];
                read(s0, x0 + ((int)(p) * 512 + (int)(r)));
                #pragma unroll
                for (int v = 0; v < 4; ++v) {
                    const float v0 = s0[v];
                    f0[t][v] = v0;
                }
            }
            #pragma unroll
            for (u32 t = 0; t < 4; ++t) {
                const u32 e = t * 128 + threadIdx.x;
                const u32 m = corner1 + e / 16;
                const u32 k = (share * 1u + step) * 64 + e % 16 * 4;
                const u32 p = batch * 98u + (m < 98u ? m : 0);
                const u32 r = k;
                __align__(16) float s1[4];
                read(s1, x1 + ((int)(p) * 512 + (int)(r)));
                #pragma unroll
                for (int v = 0; v < 4; ++v) {
                    const float v1 = s1[v];
                    f1[t][v] = v1;
                }
            }
        }
        if (step > 0) {
            multiply_tile<32, 32, 64>(acc3, tile0 + (step + 1) % 2 * 2048, tile1 + (step + 1) % 2 * 2048);
        }
        if (step % 1 == 0) {
            move_sums(all3, acc3);
        }
        if (step < 1u) {
            #pragma unroll
            for (u32 t = 0; t < 4; ++t) {
                const u32 e = t * 128 + threadIdx.x;
                #pragma unroll
                for (int v = 0; v < 4; ++v) (tile0 + step % 2 * 2048 + spot<32, 4>(e % 16 * 4, e / 16) + v * 32)[0] = f0[t][v];
            }
            #pragma unroll
            for (u32 t = 0; t < 4; ++t) {
                const u32 e = t * 128 + threadIdx.x;
                #pragma unroll
                for (int v = 0; v < 4; ++v) (tile1 + step % 2 * 2048 + spot<32, 4>(e % 16 * 4, e / 16) + v * 32)[0] = f1[t][v];
            }
        }
        __syncthreads();
    }
    float *sums3 = (float *)shared;
    gather_tile<32, 32>(sums3, all3);
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    #pragma unroll
    for (u32 t = 0; t < 1; ++t) {
        const u32 e = (t * 8 + share) * 128 + threadIdx.x;
        const u32 row = e / 32;
        const u32 column = e % 32 * 1;
        const u32 m = corner0 + row;
        const u32 n = corner1 + column;
        if (n < 98u) {
            const u32 p = (batch * 64u + m) * 98u + n;
            __align__(16) float sum3[1];
            add_parts<8>(sum3, sums3 + row * 36 + column);
            #pragma unroll
            for (int v = 0; v < 1; ++v) {
                const float v4 = x2[((int)(p % 98u))];
                const float v5 = add(sum3[v], v4);
                y0[((int)(p))] = v5;
            }
        }
    }
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
}
