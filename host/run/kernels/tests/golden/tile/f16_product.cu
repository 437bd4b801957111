// 12 blocks of 128 threads
extern "C" __global__ void __launch_bounds__(128) k(const f16 *__restrict__ x0, const f16 *__restrict__ x1, float *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[19456];
    begin();
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const u32 row0 = blockIdx.x / 3 * 64;
    const u32 column0 = blockIdx.x % 3 * 64;
    f16 *a = (f16 *)(shared + 0);
    f16 *b = (f16 *)(shared + 10240);
    float acc[2][4][4];
    #pragma unroll
    for (u32 m = 0; m < 2; ++m) {
        #pragma unroll
        for (u32 n = 0; n < 4; ++n) {
            #pragma unroll
            for (u32 v = 0; v < 4; ++v) {
                acc[m][n][v] = 0;
            }
        }
    }
    #pragma unroll
    for (u32 t = 0; t < 2; ++t) {
        const u32 piece = t * 128 + threadIdx.x;
        const u32 r = piece / 4;
        const u32 c = piece % 4 * 8;
        const bool inside = row0 + r < 200 && 0 * 32 + c < 72;
        copy_async(a + 0 % 2 * 2560 + r * 40 + c, x0 + (inside ? ((row0 + r) * 72 + 0 * 32 + c) : 0), inside);
    }
    #pragma unroll
    for (u32 t = 0; t < 2; ++t) {
        const u32 piece = t * 128 + threadIdx.x;
        const u32 r = piece / 8;
        const u32 c = piece % 8 * 8;
        const bool inside = 0 * 32 + r < 72 && column0 + c < 136;
        copy_async(b + 0 % 2 * 2304 + r * 72 + c, x1 + (inside ? ((0 * 32 + r) * 136 + column0 + c) : 0), inside);
    }
    commit_copies();
    for (u32 step = 0; step < 3; ++step) {
        if (step + 1 < 3) {
            #pragma unroll
            for (u32 t = 0; t < 2; ++t) {
                const u32 piece = t * 128 + threadIdx.x;
                const u32 r = piece / 4;
                const u32 c = piece % 4 * 8;
                const bool inside = row0 + r < 200 && (step + 1) * 32 + c < 72;
                copy_async(a + (step + 1) % 2 * 2560 + r * 40 + c, x0 + (inside ? ((row0 + r) * 72 + (step + 1) * 32 + c) : 0), inside);
            }
            #pragma unroll
            for (u32 t = 0; t < 2; ++t) {
                const u32 piece = t * 128 + threadIdx.x;
                const u32 r = piece / 8;
                const u32 c = piece % 8 * 8;
                const bool inside = (step + 1) * 32 + r < 72 && column0 + c < 136;
                copy_async(b + (step + 1) % 2 * 2304 + r * 72 + c, x1 + (inside ? (((step + 1) * 32 + r) * 136 + column0 + c) : 0), inside);
            }
        }
        commit_copies();
        await_copies<1>();
        __syncthreads();
        #pragma unroll
        for (u32 slice = 0; slice < 2; ++slice) {
            u32 fa[2][4];
            u32 fb[2][4];
            #pragma unroll
            for (u32 i = 0; i < 2; ++i) {
                load_matrices(fa[i], a + step % 2 * 2560 + (warp / 2 * 32 + i * 16 + (lane % 16)) * 40 + slice * 16 + (lane / 16 * 8));
                load_transposed_matrices(fb[i], b + step % 2 * 2304 + (slice * 16 + (lane % 16)) * 72 + warp % 2 * 32 + i * 16 + (lane / 16 * 8));
            }
            #pragma unroll
            for (u32 m = 0; m < 2; ++m) {
                #pragma unroll
                for (u32 n = 0; n < 4; ++n) {
                    multiply_matrices(acc[m][n], fa[m], fb[n / 2] + n % 2 * 2);
                }
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (u32 m = 0; m < 2; ++m) {
        #pragma unroll
        for (u32 n = 0; n < 4; ++n) {
            #pragma unroll
            for (u32 h = 0; h < 2; ++h) {
                const u32 row = row0 + warp / 2 * 32 + m * 16 + h * 8 + lane / 4;
                const u32 column = column0 + warp % 2 * 32 + n * 8 + lane % 4 * 2;
                __align__(16) float o[2];
                #pragma unroll
                for (int v = 0; v < 2; ++v) o[v] = acc[m][n][h * 2 + v];
                if (row < 200 && column < 136) write(y0 + row * 136 + column, o);
            }
        }
    }
}
