// What kernels call that add up products tile by tile. A block has M x N sums. It takes K terms of them at a time out of its
// memory, where the factors lie as tiles: A with M, B with N elements of each term. Each warp, or thread, has some of the
// sums. The text is for compute capability 8 and later.

// From one row of a tile of sums to the next: 16 bytes more than there is, so that accesses by rows and by columns find all
// banks.
template <class T> D constexpr int pitch(int side) { return side + 16 / (int)sizeof(T); }

// Where an element of a tile lies whose rows, one for each term, have SIDE elements. Runs of RUN, which are 16 bytes, change
// places within their row, so that threads that put a few terms of one row each find other banks.
template <int SIDE, int RUN> D constexpr int spot(int term, int at) {
    constexpr int runs = SIDE / RUN < 8 ? SIDE / RUN : 8;
    return term * SIDE + (at / RUN ^ term / RUN % runs) * RUN + at % RUN;
}

// Where an element of a tile of halves lies whose rows have SIDE elements. Runs of eight change places within their row, by
// another rule in each of the eight rows that are read together, so that these find all banks, too.
template <int SIDE> D constexpr int place(int row, int column) {
    constexpr int runs = SIDE / 8, rows = runs < 8 ? 8 / runs : 1;
    return row * SIDE + (column / 8 ^ row / rows % (runs < 8 ? runs : 8)) * 8 + column % 8;
}

// Asks for eight halves to be copied into a block's memory, or zeros if they are not inside.
template <class T> D void copy_later(T *to, const T *from, bool inside) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"((u32)__cvta_generic_to_shared(to)), "l"(__cvta_generic_to_global(from)), "r"(inside ? 16 : 0) : "memory");
}
// Makes a group of what was asked for since the one before.
D void end_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until no more than N groups of all threads are under way.
template <int N> D void wait_for_groups() {
    asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory");
    __syncthreads();
}

// Waits likewise, and lets warpgroups find what arrived: they read a block's memory in another way.
template <int N> D void wait_for_groups_of_warpgroups() {
    asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}

// Reads four 8x8 matrices into a warp's registers: thread n names the address of row n % 8 of matrix n / 8.
template <bool TRANSPOSED> D void load_matrices(u32 *to, const void *from) {
    u32 at = (u32)__cvta_generic_to_shared(from);
    if constexpr (TRANSPOSED) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
    }
}

// Adds the product of a 16x16 and a 16x8 matrix to SUMS. Products are exact.
D void multiply_matrices(float *sums, const u32 *a, const u32 *b, f16) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
D void multiply_matrices(float *sums, const u32 *a, const u32 *b, bf16) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The part of a tile that one of the warps has, HIGH by WIDE of which share it.
template <int M, int N, int HIGH, int WIDE> struct WarpPart {
    int row = threadIdx.x / 32 % HIGH * (M / HIGH), column = threadIdx.x / 32 / HIGH * (N / WIDE);
};

// Adds to the sums of a warp, of I by J fragments of 16x8. A_TERMS and B_TERMS say whether terms are neighbours in a tile.
template <int M, int N, int K, int HIGH, int WIDE, bool A_TERMS, bool B_TERMS, class T, int I, int J>
D void multiply_halves(float (&sums)[I][J][4], const T *a, const T *b) {
    const WarpPart<M, N, HIGH, WIDE> part;
    const int lane = threadIdx.x % 32, pair = lane / 16 * 8, row = lane % 8, half = lane / 8 % 2 * 8;
#pragma unroll
    for (int k = 0; k < K; k += 16) {
        u32 fa[I][4], fb[J][2];
#pragma unroll
        for (int i = 0; i < I; ++i) {
            const int m = part.row + i * 16;
            load_matrices<!A_TERMS>(fa[i], a + (A_TERMS ? place<K>(m + half + row, k + pair) : place<M>(k + pair + row, m + half)));
        }
#pragma unroll
        for (int j = 0; j < J; j += 2) {
            const int n = part.column + j * 8;
            load_matrices<!B_TERMS>(fb[j], b + (B_TERMS ? place<K>(n + pair + row, k + half) : place<N>(k + half + row, n + pair)));
        }
#pragma unroll
        for (int i = 0; i < I; ++i) {
#pragma unroll
            for (int j = 0; j < J; ++j) multiply_matrices(sums[i][j], fa[i], fb[j], T{});
        }
    }
}

// Brings the sums of the warps together, row by row, that have some of the ROWS from FIRST on.
template <int M, int N, int HIGH, int WIDE, int ROWS, int I, int J>
D void gather_halves(float *tile, const float (&sums)[I][J][4], int first) {
    const WarpPart<M, N, HIGH, WIDE> part;
    const int row = part.row - first + threadIdx.x % 32 / 4, column = part.column + threadIdx.x % 4 * 2;
    if (0 <= row && row < ROWS) {
#pragma unroll
        for (int at = 0; at < I * J * 4; ++at) {
            const int i = at / (J * 4), j = at / 4 % J, n = at % 4;
            tile[(row + i * 16 + n / 2 * 8) * pitch<float>(N) + column + j * 8 + n % 2] = sums[i][j][n];
        }
    }
    __syncthreads();
}

// Where an element of a tile of halves lies of which warpgroups multiply: 64 columns of its ROWS rows after the other.
template <int ROWS> D constexpr int place_by_64(int row, int column) {
    return column / 64 * (ROWS * 64) + place<64>(row, column % 64);
}

// How tensor cores find matrices of a tile: where it begins, and the bytes from one eight rows to the next eight, and from one
// 64 columns to the next. Bits 62 and 63 say that rows of 128 bytes lie as `place` has them.
template <class T> D u64 matrices_at(const T *first, int columns) {
    const u32 from = (u32)__cvta_generic_to_shared(first) & 0x3ffff;
    return (u64)(from >> 4) | (u64)(columns >> 4) << 16 | (u64)(1024 >> 4) << 32 | 1ull << 62;
}

#define EIGHT(n) "+f"(sums[n]), "+f"(sums[n + 1]), "+f"(sums[n + 2]), "+f"(sums[n + 3]), "+f"(sums[n + 4]), "+f"(sums[n + 5]), \
    "+f"(sums[n + 6]), "+f"(sums[n + 7])
#define MULTIPLY_WARPGROUP(TYPE) \
    asm volatile("{ .reg .pred all; setp.eq.u32 all, 1, 1;" \
        "wgmma.mma_async.sync.aligned.m64n128k16.f32." TYPE "." TYPE " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, " \
        "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, " \
        "%37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, " \
        "%61, %62, %63}, %64, %65, all, 1, 1, %66, %67; }" \
        : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56) \
        : "l"(a), "l"(b), "n"(A_SIDE), "n"(B_SIDE) : "memory")

// Begins to add the product of a 64x16 and a 16x128 matrix to a warpgroup's sums. Products are exact. A_SIDE and B_SIDE are 1
// where positions of a side, and not terms, are neighbours in a tile.
template <int A_SIDE, int B_SIDE> D void multiply_warpgroup(float *sums, u64 a, u64 b, f16) { MULTIPLY_WARPGROUP("f16"); }
template <int A_SIDE, int B_SIDE> D void multiply_warpgroup(float *sums, u64 a, u64 b, bf16) { MULTIPLY_WARPGROUP("bf16"); }

// The part of a tile that one of the warpgroups has.
template <int M, int N, int HIGH, int WIDE> struct WarpgroupPart {
    int row = threadIdx.x / 128 % HIGH * (M / HIGH), column = threadIdx.x / 128 / HIGH * (N / WIDE);
};

// Where a tile's matrix begins that has a position of a side and a term as its first ones.
template <int SIDE, int K, bool TERMS> D constexpr int matrix(int side, int term) {
    return TERMS ? side * K + term : side / 64 * (K * 64) + term * 64;
}

// Begins to add to the sums of a warpgroup, of I by J fragments of 64x128, and waits for what was begun before.
template <int M, int N, int K, int HIGH, int WIDE, bool A_TERMS, bool B_TERMS, class T, int I, int J>
D void multiply_warpgroups(float (&sums)[I][J][64], const T *a, const T *b) {
    const WarpgroupPart<M, N, HIGH, WIDE> part;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < K; k += 16) {
#pragma unroll
        for (int i = 0; i < I; ++i) {
#pragma unroll
            for (int j = 0; j < J; ++j) {
                multiply_warpgroup<!A_TERMS, !B_TERMS>(
                    sums[i][j], matrices_at(a + matrix<M, K, A_TERMS>(part.row + i * 64, k), K * 128),
                    matrices_at(b + matrix<N, K, B_TERMS>(part.column + j * 128, k), K * 128), T{});
            }
        }
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
}

// Waits for all products of a warpgroup: its sums are read behind this.
template <int I, int J> D void wait_for_products(float (&sums)[I][J][64]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int at = 0; at < I * J * 64; ++at) asm volatile("" : "+f"(sums[at / (J * 64)][at / 64 % J][at % 64]) :: "memory");
}

// Brings the sums of the warpgroups together.
template <int M, int N, int HIGH, int WIDE, int I, int J> D void gather_warpgroups(float *tile, const float (&sums)[I][J][64]) {
    const WarpgroupPart<M, N, HIGH, WIDE> part;
    const int row = part.row + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4, column = part.column + threadIdx.x % 4 * 2;
#pragma unroll
    for (int at = 0; at < I * J * 64; ++at) {
        const int i = at / (J * 64), j = at / 64 % J, n = at % 64;
        tile[(row + i * 64 + n / 2 % 2 * 8) * pitch<float>(N) + column + j * 128 + n / 4 * 8 + n % 2] = sums[i][j][n];
    }
    __syncthreads();
}

// The part of a tile that one of the threads has: I rows, and J columns in runs of four.
template <int M, int N, int I, int J> struct ThreadPart {
    int row = threadIdx.x / (N / J) * I, column = threadIdx.x % (N / J) * 4;
    __device__ int at(int j) const { return column + j / 4 * (N / J * 4) + j % 4; }
};

D float with_product(float sum, float a, float b) { return fmaf(a, b, sum); }
D double with_product(double sum, double a, double b) { return fma(a, b, sum); }

// Adds to the sums of a thread.
template <int M, int N, int K, class S, class T, int I, int J>
D void multiply_tile(S (&sums)[I][J], const T *a, const T *b) {
    const ThreadPart<M, N, I, J> part;
    constexpr int run = 16 / (int)sizeof(T), A = I < run ? I : run, B = run < 4 ? run : 4;
#pragma unroll 8
    for (int k = 0; k < K; ++k) {
        __align__(16) T fa[I], fb[J];
#pragma unroll
        for (int i = 0; i < I; i += A) read(*(T(*)[A])(fa + i), a + spot<M, run>(k, part.row + i));
#pragma unroll
        for (int j = 0; j < J; j += B) read(*(T(*)[B])(fb + j), b + spot<N, run>(k, part.at(j)));
#pragma unroll
        for (int i = 0; i < I; ++i) {
#pragma unroll
            for (int j = 0; j < J; ++j) sums[i][j] = with_product(sums[i][j], (S)fa[i], (S)fb[j]);
        }
    }
}

// Brings the sums of all threads together.
template <int M, int N, class S, int I, int J> D void gather_tile(S *tile, const S (&sums)[I][J]) {
    const ThreadPart<M, N, I, J> part;
#pragma unroll
    for (int i = 0; i < I; ++i) {
#pragma unroll
        for (int j = 0; j < J; ++j) tile[(part.row + i) * pitch<S>(N) + part.at(j)] = sums[i][j];
    }
    __syncthreads();
}

// Adds sums to others, and begins them anew.
template <class S, int I, int J> D void move_sums(S (&all)[I][J], S (&sums)[I][J]) {
#pragma unroll
    for (int i = 0; i < I; ++i) {
#pragma unroll
        for (int j = 0; j < J; ++j) {
            all[i][j] += sums[i][j];
            sums[i][j] = 0;
        }
    }
}

// In a cluster: what its PARTS blocks have at the same place of their tiles of sums, added up in the order of the blocks.
template <int PARTS, class S, int N> D void add_parts(S (&sum)[N], const S *place) {
#pragma unroll
    for (int from = 0; from < PARTS; ++from) {
        __align__(16) S part[N];
        read(part, (const S *)__cluster_map_shared_rank((void *)place, from));
#pragma unroll
        for (int n = 0; n < N; ++n) sum[n] = from == 0 ? part[n] : sum[n] + part[n];
    }
}
