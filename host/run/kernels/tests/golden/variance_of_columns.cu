// 48 blocks of 512 threads
extern "C" __global__ void __launch_bounds__(512) __cluster_dims__(8, 1, 1) k(const bf16 *__restrict__ x0, float *__restrict__ y0, float *__restrict__ y1) {
    __shared__ __align__(16) u8 shared[512];
    begin();
    let_next_begin();
    __cluster_barrier_arrive_relaxed();
    const u32 thread = (u32)(blockIdx.x / 8) * 1 + threadIdx.x % 1;
    const bool active = thread < 6u;
    const u32 p = active ? thread * 8 : 0;
    const u32 depth = blockIdx.x % 8 * 512 + threadIdx.x / 1;
    float k2[8];
     {
        const float v2 = __uint_as_float(0x46c40000u);
        #pragma unroll
        for (int v = 0; v < 8; ++v) {
            k2[v] = v2;
        }
    }
    float acc3[32];
    #pragma unroll
    for (int v = 0; v < 32; ++v) acc3[v] = 0;
     {
        for (u32 j = 0; j < 1; ++j) {
            #pragma unroll
            for (int turn = 0; turn < 4; ++turn) {
                const u32 r = depth + (j * 4 + turn) * 4096;
                __align__(16) bf16 s0[8];
                read(s0, x0 + ((int)(p) + (int)(r) * 48));
                #pragma unroll
                for (int v = 0; v < 8; ++v) {
                    const bf16 v0 = s0[v];
                    const float v1 = (float)to_f32(v0);
                    acc3[turn * 8 + v] = Sum::of(acc3[turn * 8 + v], v1);
                }
            }
        }
        #pragma unroll
        for (int turn = 0; turn < 3; ++turn) {
            const u32 r = depth + (4 + turn) * 4096;
            if (turn < 2 || r < 25088u) {
                __align__(16) bf16 s0[8];
                read(s0, x0 + ((int)(p) + (int)(r) * 48));
                #pragma unroll
                for (int v = 0; v < 8; ++v) {
                    const bf16 v0 = s0[v];
                    const float v1 = (float)to_f32(v0);
                    acc3[turn * 8 + v] = Sum::of(acc3[turn * 8 + v], v1);
                }
            }
        }
    }
    float sum3[8];
    #pragma unroll
    for (int v = 0; v < 8; ++v) sum3[v] = column<Sum, 4, 8>(acc3 + v);
    across_columns<Sum, 1, 512>(sum3, shared);
    __shared__ float parts3[64];
    __cluster_barrier_wait();
    tell<1, 512, 8>(sum3, parts3);
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    take<Sum, 1, 8>(sum3, parts3);
    float k4[8];
     {
        __align__(16) float o0[8];
        #pragma unroll
        for (int v = 0; v < 8; ++v) {
            const float v4 = div(sum3[v], k2[v]);
            k4[v] = v4;
            o0[v] = v4;
        }
        if (active && depth == 0) write(y0 + ((int)(p)), o0);
    }
    float acc7[32];
    #pragma unroll
    for (int v = 0; v < 32; ++v) acc7[v] = 0;
     {
        for (u32 j = 0; j < 1; ++j) {
            #pragma unroll
            for (int turn = 0; turn < 4; ++turn) {
                const u32 r = depth + (j * 4 + turn) * 4096;
                __align__(16) bf16 s0[8];
                read(s0, x0 + ((int)(p) + (int)(r) * 48));
                #pragma unroll
                for (int v = 0; v < 8; ++v) {
                    const bf16 v0 = s0[v];
                    const float v1 = (float)to_f32(v0);
                    const float v5 = sub(v1, k4[v]);
                    const float v6 = mul(v5, v5);
                    acc7[turn * 8 + v] = Sum::of(acc7[turn * 8 + v], v6);
                }
            }
        }
        #pragma unroll
        for (int turn = 0; turn < 3; ++turn) {
            const u32 r = depth + (4 + turn) * 4096;
            if (turn < 2 || r < 25088u) {
                __align__(16) bf16 s0[8];
                read(s0, x0 + ((int)(p) + (int)(r) * 48));
                #pragma unroll
                for (int v = 0; v < 8; ++v) {
                    const bf16 v0 = s0[v];
                    const float v1 = (float)to_f32(v0);
                    const float v5 = sub(v1, k4[v]);
                    const float v6 = mul(v5, v5);
                    acc7[turn * 8 + v] = Sum::of(acc7[turn * 8 + v], v6);
                }
            }
        }
    }
    float sum7[8];
    #pragma unroll
    for (int v = 0; v < 8; ++v) sum7[v] = column<Sum, 4, 8>(acc7 + v);
    across_columns<Sum, 1, 512>(sum7, shared);
    __shared__ float parts7[64];
    tell<1, 512, 8>(sum7, parts7);
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    take<Sum, 1, 8>(sum7, parts7);
     {
        __align__(16) float o1[8];
        #pragma unroll
        for (int v = 0; v < 8; ++v) {
            const float v8 = div(sum7[v], k2[v]);
            o1[v] = v8;
        }
        if (active && depth == 0) write(y1 + ((int)(p)), o1);
    }
}
