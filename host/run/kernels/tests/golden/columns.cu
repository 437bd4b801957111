// 768 blocks of 256 threads
extern "C" __global__ void __launch_bounds__(256) passhost_reduce_sum_div(const f16 *__restrict__ x0, f16 *__restrict__ y0) {
    __shared__ __align__(16) u8 shared[8192];
    begin();
    const u32 thread = (u32)blockIdx.x * 32 + threadIdx.x % 32;
    const bool active = thread < 24576u;
    const u32 p = active ? thread * 8 : 0;
    const u32 depth = threadIdx.x / 32;
    float k3[8];
     {
        const float v3 = __uint_as_float(0x42440000u);
        #pragma unroll
        for (int v = 0; v < 8; ++v) {
            k3[v] = v3;
        }
    }
    float acc2[32];
    #pragma unroll
    for (int v = 0; v < 32; ++v) acc2[v] = 0;
     {
        for (u32 j = 0; j < 1; ++j) {
            #pragma unroll
            for (int turn = 0; turn < 4; ++turn) {
                const u32 r = depth + (j * 4 + turn) * 8;
                __align__(16) f16 s0[8];
                read(s0, x0 + ((int)(p / 384u) * 18816 + (int)(p % 384u) + (int)(r) * 384));
                #pragma unroll
                for (int v = 0; v < 8; ++v) {
                    const f16 v0 = s0[v];
                    const float v1 = (float)to_f32(v0);
                    acc2[turn * 8 + v] = Sum::of(acc2[turn * 8 + v], v1);
                }
            }
        }
        #pragma unroll
        for (int turn = 0; turn < 3; ++turn) {
            const u32 r = depth + (4 + turn) * 8;
            if (turn < 2 || r < 49u) {
                __align__(16) f16 s0[8];
                read(s0, x0 + ((int)(p / 384u) * 18816 + (int)(p % 384u) + (int)(r) * 384));
                #pragma unroll
                for (int v = 0; v < 8; ++v) {
                    const f16 v0 = s0[v];
                    const float v1 = (float)to_f32(v0);
                    acc2[turn * 8 + v] = Sum::of(acc2[turn * 8 + v], v1);
                }
            }
        }
    }
    float sum2[8];
    #pragma unroll
    for (int v = 0; v < 8; ++v) sum2[v] = column<Sum, 4, 8>(acc2 + v);
    across_columns<Sum, 32, 8>(sum2, shared);
     {
        __align__(16) f16 o0[8];
        #pragma unroll
        for (int v = 0; v < 8; ++v) {
            const float v4 = div(sum2[v], k3[v]);
            const f16 v5 = to_f16((float)v4);
            o0[v] = v5;
        }
        if (active && depth == 0) write(y0 + ((int)(p)), o0);
    }
}
