// 196 blocks of 512 threads
extern "C" __global__ void __launch_bounds__(512) passhost_scan_cumsum_scan_cummax(const float *__restrict__ x0, float *__restrict__ y0, double *__restrict__ y1) {
    __shared__ __align__(16) u8 shared[128];
    begin();
    static u64 begun;
    const Place place = next_place<196u>(&begun);
    const u32 lane = place.block % 98 * 512 + threadIdx.x % 512;
    const u32 row = (u32)(place.block / 98) * 1 + threadIdx.x / 512;
    const bool active = row < 2u;
    const u32 p = active ? row : 0;
     {
        float carry1 = 0;
        double carry3 = __longlong_as_double(0xfff0000000000000ll);
        float k0[1][2];
        float c1[1][2];
        #pragma unroll
        for (u32 j = 0; j < 1; ++j) {
            const u32 r = ((u32)(j) * 512 + lane) * 2;
            if (r < 100000u) {
                __align__(16) float s0[2];
                read(s0, x0 + ((int)(p) * 100000 + (int)(r)));
                #pragma unroll
                for (int v = 0; v < 2; ++v) {
                    const float v0 = s0[v];
                    k0[j][v] = v0;
                }
            }
            #pragma unroll
            for (int v = 0; v < 2; ++v) c1[j][v] = r < 100000u ? k0[j][v] : 0;
        }
        scan<Sum, 512>(c1, carry1, shared);
        static Posted<float> posts1[198];
        after<Sum>(c1, before<Sum, 512, 98u, 196u>(carry1, (float)0, place, posts1, shared));
        double k2[1][2];
        double c3[1][2];
        #pragma unroll
        for (u32 j = 0; j < 1; ++j) {
            const u32 r = ((u32)(j) * 512 + lane) * 2;
            if (r < 100000u) {
                __align__(16) float o0[2];
                #pragma unroll
                for (int v = 0; v < 2; ++v) {
                    const double v2 = (double)c1[j][v];
                    k2[j][v] = v2;
                    o0[v] = c1[j][v];
                }
                if (active) write(y0 + ((int)(p) * 100000 + (int)(r)), o0);
            }
            #pragma unroll
            for (int v = 0; v < 2; ++v) c3[j][v] = r < 100000u ? k2[j][v] : __longlong_as_double(0xfff0000000000000ll);
        }
        scan<Max, 512>(c3, carry3, shared);
        static Posted<double> posts3[198];
        after<Max>(c3, before<Max, 512, 98u, 196u>(carry3, (double)__longlong_as_double(0xfff0000000000000ll), place, posts3, shared));
        #pragma unroll
        for (u32 j = 0; j < 1; ++j) {
            const u32 r = ((u32)(j) * 512 + lane) * 2;
            if (r < 100000u) {
                __align__(16) double o1[2];
                #pragma unroll
                for (int v = 0; v < 2; ++v) {
                    o1[v] = c3[j][v];
                }
                if (active) write(y1 + ((int)(p) * 100000 + (int)(r)), o1);
            }
        }
    }
}
