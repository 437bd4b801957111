// 48 blocks of 512 threads
extern "C" __global__ void __launch_bounds__(512) __cluster_dims__(8, 1, 1) passhost_reduce_sum_div_sub_mul(const bf16 *__restrict__ x0, float *__restrict__ y0, float *__restrict__ y1) {
    __shared__ __align__(16) u8 shared[512];
    begin();
    let_next_begin();
    __cluster_barrier_arrive_relaxed();
    const u32 thread = (u32)(blockIdx.x / 8) * 8 + threadIdx.x % 8;
    const bool active = thread < 48u;
    const u32 p = active ? thread * 1 : 0;
    const u32 depth = blockIdx.x % 8 * 64 + threadIdx.x / 8;
    float k2[1];
     {
        #pragma unroll
        for (int v = 0; v < 1; ++v) {
            const float v2 = __uint_as_float(0x46c40000u);
            k2[v] = v2;
        }
    }
    float acc3[4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) acc3[v] = 0;
     {
        for (u32 j = 0; j < 12; ++j) {
            #pragma unroll
            for (int turn = 0; turn < 4; ++turn) {
                const u32 r = depth + (j * 4 + turn) * 512;
                #pragma unroll
                for (int v = 0; v < 1; ++v) {
                    const bf16 v0 = x0[((int)(p) + (int)(r) * 48)];
                    const float v1 = (float)to_f32(v0);
                    acc3[turn * 1 + v] = Sum::of(acc3[turn * 1 + v], v1);
                }
            }
        }
        #pragma unroll
        for (int turn = 0; turn < 1; ++turn) {
            const u32 r = depth + (48 + turn) * 512;
            if (turn < 1 || r < 25088u) {
                #pragma unroll
                for (int v = 0; v < 1; ++v) {
                    const bf16 v0 = x0[((int)(p) + (int)(r) * 48)];
                    const float v1 = (float)to_f32(v0);
                    acc3[turn * 1 + v] = Sum::of(acc3[turn * 1 + v], v1);
                }
            }
        }
    }
    float sum3[1];
    #pragma unroll
    for (int v = 0; v < 1; ++v) sum3[v] = column<Sum, 4, 1>(acc3 + v);
    across_columns<Sum, 8, 64>(sum3, shared);
    __shared__ float parts3[64];
    __cluster_barrier_wait();
    tell<8, 64, 8>(sum3, parts3);
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    take<Sum, 8, 8>(sum3, parts3);
    float k4[1];
     {
        #pragma unroll
        for (int v = 0; v < 1; ++v) {
            const float v4 = div(sum3[v], k2[v]);
            k4[v] = v4;
            if (active && depth == 0) {
                y0[((int)(p))] = v4;
            }
        }
    }
    float acc7[4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) acc7[v] = 0;
     {
        for (u32 j = 0; j < 12; ++j) {
            #pragma unroll
            for (int turn = 0; turn < 4; ++turn) {
                const u32 r = depth + (j * 4 + turn) * 512;
                #pragma unroll
                for (int v = 0; v < 1; ++v) {
                    const bf16 v0 = x0[((int)(p) + (int)(r) * 48)];
                    const float v1 = (float)to_f32(v0);
                    const float v5 = sub(v1, k4[v]);
                    const float v6 = mul(v5, v5);
                    acc7[turn * 1 + v] = Sum::of(acc7[turn * 1 + v], v6);
                }
            }
        }
        #pragma unroll
        for (int turn = 0; turn < 1; ++turn) {
            const u32 r = depth + (48 + turn) * 512;
            if (turn < 1 || r < 25088u) {
                #pragma unroll
                for (int v = 0; v < 1; ++v) {
                    const bf16 v0 = x0[((int)(p) + (int)(r) * 48)];
                    const float v1 = (float)to_f32(v0);
                    const float v5 = sub(v1, k4[v]);
                    const float v6 = mul(v5, v5);
                    acc7[turn * 1 + v] = Sum::of(acc7[turn * 1 + v], v6);
                }
            }
        }
    }
    float sum7[1];
    #pragma unroll
    for (int v = 0; v < 1; ++v) sum7[v] = column<Sum, 4, 1>(acc7 + v);
    across_columns<Sum, 8, 64>(sum7, shared);
    __shared__ float parts7[64];
    tell<8, 64, 8>(sum7, parts7);
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    take<Sum, 8, 8>(sum7, parts7);
     {
        #pragma unroll
        for (int v = 0; v < 1; ++v) {
            const float v8 = div(sum7[v], k2[v]);
            if (active && depth == 0) {
                y1[((int)(p))] = v8;
            }
        }
    }
}
