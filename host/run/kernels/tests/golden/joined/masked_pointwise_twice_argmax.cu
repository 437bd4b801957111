// 4560 blocks of 256 threads
// The number of a block among those of one body.
struct Block { u32 x; };

D void k0(const Block blockIdx, u8 *shared, const f16 *__restrict__ x0, const u8 *__restrict__ x1, f16 *__restrict__ y0) {
    const u32 lane = threadIdx.x % 32;
    const u32 row = (u32)blockIdx.x * 4 + threadIdx.x / 32;
    const bool active = row < 6144u;
    const u32 p = active ? row : 0;
    float k4[2][8];
    float k7[2][8];
    const float v3 = __uint_as_float(0xff800000u);
    float acc5[8];
    #pragma unroll
    for (int v = 0; v < 8; ++v) acc5[v] = __uint_as_float(0xff800000u);
    #pragma unroll
    for (u32 j = 0; j < 2; ++j) {
        const u32 r = ((u32)j * 32 + lane) * 8;
        __align__(16) f16 s0[8];
        read(s0, x0 + ((int)(p) * 512 + (int)(r)));
        __align__(16) u8 s2[8];
        read(s2, x1 + ((int)(p % 512u) * 512 + (int)(r)));
        #pragma unroll
        for (int v = 0; v < 8; ++v) {
            const f16 v0 = s0[v];
            const float v1 = (float)to_f32(v0);
            const bool v2 = s2[v] != 0;
            const float v4 = v2 ? v1 : v3;
            acc5[v] = Max::of(acc5[v], v4);
            k4[j][v] = v4;
        }
    }
    const float v5 = across<Max, 32, 128>(column<Max, 8, 1>(acc5), shared);
    float acc8[8];
    #pragma unroll
    for (int v = 0; v < 8; ++v) acc8[v] = 0;
    #pragma unroll
    for (u32 j = 0; j < 2; ++j) {
        const u32 r = ((u32)j * 32 + lane) * 8;
        #pragma unroll
        for (int v = 0; v < 8; ++v) {
            const float v6 = sub(k4[j][v], v5);
            const float v7 = expf(v6);
            acc8[v] = Sum::of(acc8[v], v7);
            k7[j][v] = v7;
        }
    }
    const float v8 = across<Sum, 32, 128>(column<Sum, 8, 1>(acc8), shared);
    #pragma unroll
    for (u32 j = 0; j < 2; ++j) {
        const u32 r = ((u32)j * 32 + lane) * 8;
        __align__(16) f16 o0[8];
        #pragma unroll
        for (int v = 0; v < 8; ++v) {
            const float v9 = div(k7[j][v], v8);
            const f16 v10 = to_f16((float)v9);
            o0[v] = v10;
        }
        if (active) write(y0 + ((int)(p) * 512 + (int)(r)), o0);
    }
}

D void k1(const Block blockIdx, u8 *shared, const float *__restrict__ x0, const float *__restrict__ x1, float *__restrict__ y0) {
    const u32 thread = (u32)blockIdx.x * 256 + threadIdx.x;
    if (!(thread < 256000u)) return;
    const u32 p = thread * 4;
     {
        __align__(16) float s0[4];
        read(s0, x0 + ((int)(p)));
        __align__(16) float s1[4];
        read(s1, x1 + ((int)(p % 1000u)));
        __align__(16) float o0[4];
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
            const float v0 = s0[v];
            const float v1 = s1[v];
            const float v2 = add(v0, v1);
            const float v3 = tanhf(v2);
            const float v4 = erff(v3);
            o0[v] = v4;
        }
        write(y0 + ((int)(p)), o0);
    }
}

D void k3(const Block blockIdx, u8 *shared, const float *__restrict__ x0, i64 *__restrict__ y0) {
    const u32 lane = threadIdx.x % 256;
    const u32 row = (u32)blockIdx.x * 1 + threadIdx.x / 256;
    const bool active = row < 1024u;
    const u32 p = active ? row : 0;
    Best<float> acc1[4];
    #pragma unroll
    for (int v = 0; v < 4; ++v) acc1[v] = Best<float>{0, -1};
    #pragma unroll 4
    for (u32 j = 0; j < 48; ++j) {
        const u32 r = ((u32)j * 256 + lane) * 4;
        __align__(16) float s0[4];
        read(s0, x0 + ((int)(p) * 50000 + (int)(r)));
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
            const float v0 = s0[v];
            acc1[v] = Argmax::of(acc1[v], v0, (i64)(r + v));
        }
    }
    #pragma unroll 4
    for (u32 j = 48; j < 49; ++j) {
        const u32 r = ((u32)j * 256 + lane) * 4;
        if (r < 50000u) {
            __align__(16) float s0[4];
            read(s0, x0 + ((int)(p) * 50000 + (int)(r)));
            #pragma unroll
            for (int v = 0; v < 4; ++v) {
                const float v0 = s0[v];
                acc1[v] = Argmax::of(acc1[v], v0, (i64)(r + v));
            }
        }
    }
    const i64 v1 = across<Argmax, 256, 256>(column<Argmax, 4, 1>(acc1), shared).at;
    if (active && lane == 0) {
        y0[((int)(p))] = v1;
    }
}

extern "C" __global__ void __launch_bounds__(256) passhost_select_reduce_max_sub_exp_reduce_sum_div__add_tanh_erf__reduce_argmax(const f16 *__restrict__ x0_0, const u8 *__restrict__ x0_1, const float *__restrict__ x1_0, const float *__restrict__ x1_1, const float *__restrict__ x2_0, const float *__restrict__ x2_1, const float *__restrict__ x3_0, f16 *__restrict__ y0_0, float *__restrict__ y1_0, float *__restrict__ y2_0, i64 *__restrict__ y3_0) {
    __shared__ __align__(16) u8 shared[128];
    begin();
    if (blockIdx.x < 1536u) {
        if (threadIdx.x >= 128u) return;
        k0(Block{blockIdx.x - 0u}, shared, x0_0, x0_1, y0_0);
        return;
    }
    if (blockIdx.x < 2536u) {
        k1(Block{blockIdx.x - 1536u}, shared, x1_0, x1_1, y1_0);
        return;
    }
    if (blockIdx.x < 3536u) {
        k1(Block{blockIdx.x - 2536u}, shared, x2_0, x2_1, y2_0);
        return;
    }
    if (blockIdx.x < 4560u) {
        k3(Block{blockIdx.x - 3536u}, shared, x3_0, y3_0);
        return;
    }
}
