// What emitted kernels call. Every function is total and gives the results that host/core/ir/src/kernel/scalar.rs defines.
// No header is included: conversions of 16-bit floats are single instructions, and NVRTC knows the rest by itself.

typedef unsigned char u8;
typedef signed char i8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define D static __device__ __forceinline__

// Every kernel does this first. A launch may begin while the one before it on its stream still runs, which hides what it
// takes to begin; before it reads or writes anything, it waits here until that one has ended and all that it wrote is seen.
// NVRTC could read what a `const T *__restrict__` points to before, as nobody is to write it: a test looks that it does not.
D void begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// From here on the next launch may begin, once all blocks of this one got here. Elsewhere it may when they have ended.
D void let_next_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// 16-bit floats are held as their bits.
struct f16 { u16 bits; };
struct bf16 { u16 bits; };

D float to_f32(f16 x) { float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits)); return y; }
D float to_f32(bf16 x) { return __uint_as_float((u32)x.bits << 16); }
// The instructions for two floats run four times as often as those for a single one.
D f16 to_f16(float x) { u32 y; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(0.0f), "f"(x)); return f16{(u16)y}; }
D bf16 to_bf16(float x) { u32 y; asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(0.0f), "f"(x)); return bf16{(u16)y}; }

// 1 or 0, in an instruction that NVRTC does not look into: it takes `(a ? 1.0f : 0.0f) * c` for a choice between `c` and 0,
// where the product is -0 for a negative `c`.
D float one_or_zero(bool a) { float y; asm("cvt.rn.f32.u32 %0, %1;" : "=f"(y) : "r"((u32)a)); return y; }

// Floats to integers truncate and saturate; NaN gives 0.
D int to_i32(float x) { return x != x ? 0 : __float2int_rz(x); }
D int to_i32(double x) { return x != x ? 0 : __double2int_rz(x); }
D i64 to_i64(float x) { return x != x ? 0 : __float2ll_rz(x); }
D i64 to_i64(double x) { return x != x ? 0 : __double2ll_rz(x); }
D int clamp_i32(int x, int low, int high) { return x < low ? low : x > high ? high : x; }

// Integers wrap.
D int add(int a, int b) { return (int)((u32)a + (u32)b); }
D i64 add(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
D int sub(int a, int b) { return (int)((u32)a - (u32)b); }
D i64 sub(i64 a, i64 b) { return (i64)((u64)a - (u64)b); }
D int mul(int a, int b) { return (int)((u32)a * (u32)b); }
D i64 mul(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }
D float add(float a, float b) { return a + b; }
D double add(double a, double b) { return a + b; }
D float sub(float a, float b) { return a - b; }
D double sub(double a, double b) { return a - b; }
D float mul(float a, float b) { return a * b; }
D double mul(double a, double b) { return a * b; }
D float div(float a, float b) { return a / b; }
D double div(double a, double b) { return a / b; }
D int div(int a, int b) { return b == 0 ? 0 : b == -1 ? sub(0, a) : a / b; }
D i64 div(i64 a, i64 b) { return b == 0 ? 0 : b == -1 ? sub((i64)0, a) : a / b; }
D float rem(float a, float b) { return fmodf(a, b); }
D double rem(double a, double b) { return fmod(a, b); }
D int rem(int a, int b) { return b == 0 || b == -1 ? 0 : a % b; }
D i64 rem(i64 a, i64 b) { return b == 0 || b == -1 ? 0 : a % b; }
D int shl(int a, int b) { return (u32)b < 32u ? (int)((u32)a << b) : 0; }
D i64 shl(i64 a, i64 b) { return (u64)b < 64u ? (i64)((u64)a << b) : 0; }
D int shr(int a, int b) { return (u32)b < 32u ? a >> b : 0; }
D i64 shr(i64 a, i64 b) { return (u64)b < 64u ? a >> b : 0; }

// The smaller and the larger; NaN if either is.
D float smaller(float a, float b) { float y; asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b)); return y; }
D float larger(float a, float b) { float y; asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b)); return y; }
D double smaller(double a, double b) { return a < b || a != a ? a : b; }
D double larger(double a, double b) { return a > b || a != a ? a : b; }
D int smaller(int a, int b) { return a < b ? a : b; }
D int larger(int a, int b) { return a > b ? a : b; }
D i64 smaller(i64 a, i64 b) { return a < b ? a : b; }
D i64 larger(i64 a, i64 b) { return a > b ? a : b; }
D bool smaller(bool a, bool b) { return a & b; }
D bool larger(bool a, bool b) { return a | b; }

D int neg(int a) { return sub(0, a); }
D i64 neg(i64 a) { return sub((i64)0, a); }
D float neg(float a) { return -a; }
D double neg(double a) { return -a; }
D int magnitude(int a) { return a < 0 ? neg(a) : a; }
D i64 magnitude(i64 a) { return a < 0 ? neg(a) : a; }
D float magnitude(float a) { return fabsf(a); }
D double magnitude(double a) { return fabs(a); }
D bool complement(bool a) { return !a; }
D int complement(int a) { return ~a; }
D i64 complement(i64 a) { return ~a; }

// Quotients and remainders by positive constants, rounded down.
D int floor_div(int a, int b) { int q = a / b; return a - q * b < 0 ? q - 1 : q; }
D i64 floor_div(i64 a, i64 b) { i64 q = a / b; return a - q * b < 0 ? q - 1 : q; }
D int floor_mod(int a, int b) { int m = a % b; return m < 0 ? m + b : m; }
D i64 floor_mod(i64 a, i64 b) { i64 m = a % b; return m < 0 ? m + b : m; }

// Moves BYTES bytes between memory that is aligned to as many, up to 16, and registers.
template <int BYTES> struct Words { uint4 words[BYTES / 16]; };
template <> struct Words<1> { u8 words; };
template <> struct Words<2> { u16 words; };
template <> struct Words<4> { u32 words; };
template <> struct Words<8> { uint2 words; };
D uint2 choose(bool first, uint2 a, uint2 b) { return uint2{first ? a.x : b.x, first ? a.y : b.y}; }
D uint4 choose(bool first, uint4 a, uint4 b) {
    return uint4{first ? a.x : b.x, first ? a.y : b.y, first ? a.z : b.z, first ? a.w : b.w};
}
template <class W> D W choose(bool first, W a, W b) { return first ? a : b; }
template <int BYTES> D void choose(Words<BYTES> &to, bool first, Words<BYTES> a, Words<BYTES> b) {
    if constexpr (BYTES >= 16) {
#pragma unroll
        for (int n = 0; n < BYTES / 16; ++n) to.words[n] = choose(first, a.words[n], b.words[n]);
    } else {
        to.words = choose(first, a.words, b.words);
    }
}
template <class T, int N> D void read(T (&to)[N], const T *from) {
    *(Words<sizeof(T) * N> *)to = *(const Words<sizeof(T) * N> *)from;
}
// The same, or PAD in every element unless INSIDE holds. What is read is dropped then: without a branch, several loads
// are under way at a time.
template <class T, int N> D void read_or(T (&to)[N], const T *from, bool inside, T pad) {
    __align__(16) T pads[N];
#pragma unroll
    for (int n = 0; n < N; ++n) pads[n] = pad;
    Words<sizeof(T) * N> words = *(const Words<sizeof(T) * N> *)from;
    choose(*(Words<sizeof(T) * N> *)to, inside, words, *(Words<sizeof(T) * N> *)pads);
}
template <class T, int N> D void write(T *to, const T (&from)[N]) {
    *(Words<sizeof(T) * N> *)to = *(const Words<sizeof(T) * N> *)from;
}

template <int N, class T> D void copy(T *to, const T *from) {
    *(Words<sizeof(T) * N> *)to = *(const Words<sizeof(T) * N> *)from;
}

struct Sum { template <class T> D T of(T a, T b) { return add(a, b); } };
struct Prod { template <class T> D T of(T a, T b) { return mul(a, b); } };
struct Max { template <class T> D T of(T a, T b) { return larger(a, b); } };
struct Min { template <class T> D T of(T a, T b) { return smaller(a, b); } };
struct Any { D bool of(bool a, bool b) { return a | b; } };
struct All { D bool of(bool a, bool b) { return a & b; } };

// A candidate for argmax or argmin: NaN beats numbers, the first of equals beats the others.
template <class T> struct Best { T value; i64 at; };
template <class T> D bool beats(bool better, Best<T> a, Best<T> b) {
    bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    if (a.at < 0 || b.at < 0) return b.at < 0;
    if (a_nan != b_nan) return a_nan;
    if (a_nan || a.value == b.value) return a.at < b.at;
    return better;
}
// The same for a candidate X that comes AFTER the best so far, without branches.
template <class T> D Best<T> next(bool no_better, Best<T> best, T x, i64 after) {
    const bool taken = (best.at < 0) | (!no_better & (best.value == best.value));
    return Best<T>{taken ? x : best.value, taken ? after : best.at};
}
struct Argmax {
    template <class T> D Best<T> of(Best<T> a, Best<T> b) { return beats(a.value > b.value, a, b) ? a : b; }
    template <class T> D Best<T> of(Best<T> a, T x, i64 after) { return next(x <= a.value, a, x, after); }
};
struct Argmin {
    template <class T> D Best<T> of(Best<T> a, Best<T> b) { return beats(a.value < b.value, a, b) ? a : b; }
    template <class T> D Best<T> of(Best<T> a, T x, i64 after) { return next(x >= a.value, a, x, after); }
};

template <class T> D T from_lane(T x, int mask) { return __shfl_xor_sync(0xffffffffu, x, mask); }
D bool from_lane(bool x, int mask) { return __shfl_xor_sync(0xffffffffu, (int)x, mask) != 0; }
template <class T> D Best<T> from_lane(Best<T> x, int mask) {
    return Best<T>{from_lane(x.value, mask), from_lane(x.at, mask)};
}

// Reduces over groups of LANES neighbouring threads; each of them gets the result. SHARED has room for a T for each warp
// of a block where LANES is more than a warp, and may serve one reduction after the other.
template <class Op, int LANES, int THREADS, class T> D T across(T x, void *shared) {
    if constexpr (LANES <= 32) {
#pragma unroll
        for (int mask = LANES / 2; mask > 0; mask /= 2) x = Op::of(x, from_lane(x, mask));
        return x;
    } else {
        constexpr int WARPS = LANES / 32;
        T *parts = (T *)shared;
        x = across<Op, 32, THREADS>(x, shared);
        __syncthreads();
        if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
        __syncthreads();
        x = parts[threadIdx.x / LANES * WARPS + threadIdx.x % WARPS];
        return across<Op, WARPS, THREADS>(x, shared);
    }
}

// Reduces COUNT parts, a power of two, pairwise: errors grow with the logarithm of their number. STEP lies between two.
template <class Op, int COUNT, int STEP, class T> D T column(const T *parts) {
    if constexpr (COUNT == 1) return parts[0];
    else return Op::of(column<Op, COUNT / 2, STEP>(parts), column<Op, COUNT / 2, STEP>(parts + COUNT / 2 * STEP));
}

// Reduces over the DEEP threads of a block that share a column, pairwise as well: neighbours first, so that how many of them
// are in a warp makes no difference. Blocks are WIDE columns wide. Each gets the result. SHARED has room for N of T for each
// thread of a block where DEEP is more than one.
template <class Op, int WIDE, int DEEP, class T, int N> D void across_columns(T (&x)[N], void *shared) {
    if constexpr (DEEP > 1) {
        constexpr int OF_WARP = 32 % WIDE == 0 && WIDE * DEEP >= 32 ? 32 / WIDE : 1;
        T(*parts)[WIDE * N] = (T(*)[WIDE * N])shared;
        int place = threadIdx.x % WIDE, depth = threadIdx.x / (WIDE * OF_WARP);
#pragma unroll
        for (int mask = 1; mask < OF_WARP; mask *= 2) {
#pragma unroll
            for (int n = 0; n < N; ++n) x[n] = Op::of(x[n], from_lane(x[n], mask * WIDE));
        }
        __syncthreads();
        if (threadIdx.x / WIDE % OF_WARP == 0) {
#pragma unroll
            for (int n = 0; n < N; ++n) parts[depth][n * WIDE + place] = x[n];
        }
        __syncthreads();
        for (int step = 1; step < DEEP / OF_WARP; step *= 2) {
            if (depth % (2 * step) == 0 && threadIdx.x / WIDE % OF_WARP == 0) {
#pragma unroll
                for (int n = 0; n < N; ++n) {
                    T *part = &parts[depth][n * WIDE + place];
                    *part = Op::of(*part, part[step * WIDE * N]);
                }
            }
            __syncthreads();
        }
#pragma unroll
        for (int n = 0; n < N; ++n) x[n] = parts[0][n * WIDE + place];
    }
}

// Where BLOCKS neighbouring blocks share a row, each reduces its part of it first: X, in its first WIDE threads. Parts are
// then taken together in the order of the blocks, however they were timed.

// In a cluster: gives X to every block of it. PARTS has room for N of T for each of WIDE threads and each block. Between
// this and the use of parts lies a barrier of the cluster.
template <int WIDE, int DEEP, int BLOCKS, class T, int N> D void tell(const T (&x)[N], T *parts) {
    int place = threadIdx.x % WIDE, rank = blockIdx.x % BLOCKS;
    for (int to = threadIdx.x / WIDE; to < BLOCKS; to += DEEP) {
        T *theirs = (T *)__cluster_map_shared_rank(parts, to) + rank * WIDE * N;
#pragma unroll
        for (int n = 0; n < N; ++n) theirs[n * WIDE + place] = x[n];
    }
}
template <class Op, int WIDE, int BLOCKS, class T, int N> D void take(T (&x)[N], const T *parts) {
#pragma unroll
    for (int n = 0; n < N; ++n) x[n] = column<Op, BLOCKS, WIDE * N>(parts + n * WIDE + threadIdx.x % WIDE);
}

// In memory that all blocks reach: leaves X there. PARTS has room for N of T for each of WIDE threads and each block of the
// grid.
template <int WIDE, class T, int N> D void leave(const T (&x)[N], T *parts) {
    if (threadIdx.x < WIDE) {
#pragma unroll
        for (int n = 0; n < N; ++n) parts[(blockIdx.x * N + n) * WIDE + threadIdx.x] = x[n];
    }
}
// Whether this is the last of its BLOCKS blocks to leave its parts, and finds those of the others. ARRIVED is 0 before the
// first and after the last.
template <int BLOCKS> D bool is_last(u32 *arrived) {
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(arrived + blockIdx.x / BLOCKS, BLOCKS - 1) == BLOCKS - 1;
    __syncthreads();
    __threadfence();
    return last;
}
// What a thread of the last block gets of the parts: always the same ones.
template <class Op, int WIDE, int DEEP, int BLOCKS, class T, int N> D void collect(T (&x)[N], const T *parts, T start) {
    parts += blockIdx.x / BLOCKS * BLOCKS * N * WIDE + threadIdx.x % WIDE;
#pragma unroll
    for (int n = 0; n < N; ++n) x[n] = start;
    for (int block = threadIdx.x / WIDE; block < BLOCKS; block += DEEP) {
#pragma unroll
        for (int n = 0; n < N; ++n) x[n] = Op::of(x[n], parts[(block * N + n) * WIDE]);
    }
}

// That of the thread STEP before this one among GROUP neighbours, and that of thread AT of them.
template <class T> D T from_before(T x, int step, int group) { return __shfl_up_sync(0xffffffffu, x, step, group); }
template <class T> D T from_thread(T x, int at, int group) { return __shfl_sync(0xffffffffu, x, at, group); }

// Element AT of those that the threads of a warp hold EACH of.
template <class T, int EACH> D T held(const T (&x)[EACH], int at) {
    T found = from_thread(x[0], at / EACH, 32);
#pragma unroll
    for (int m = 1; m < EACH; ++m) {
        T other = from_thread(x[m], at / EACH, 32);
        if (at % EACH == m) found = other;
    }
    return found;
}

// Scans N elements of each of LANES neighbouring threads, TURNS times: in the order of turns, threads and elements, after
// those that CARRY is the result of. CARRY becomes the result of all. SHARED has room for TURNS of T for each warp of a
// block where LANES is more than a warp.
template <class Op, int LANES, class T, int TURNS, int N> D void scan(T (&x)[TURNS][N], T &carry, void *shared) {
    constexpr int GROUP = LANES < 32 ? LANES : 32;
    const int lane = threadIdx.x % GROUP;
    T sums[TURNS], starts[TURNS];
#pragma unroll
    for (int j = 0; j < TURNS; ++j) {
#pragma unroll
        for (int n = 1; n < N; ++n) x[j][n] = Op::of(x[j][n - 1], x[j][n]);
        sums[j] = x[j][N - 1];
#pragma unroll
        for (int step = 1; step < GROUP; step *= 2) {
            T before = from_before(sums[j], step, GROUP);
            if (lane >= step) sums[j] = Op::of(before, sums[j]);
        }
    }
    if constexpr (LANES <= 32) {
#pragma unroll
        for (int j = 0; j < TURNS; ++j) {
            starts[j] = carry;
            carry = Op::of(carry, from_thread(sums[j], GROUP - 1, GROUP));
        }
    } else {
        constexpr int WARPS = LANES / 32;
        T *parts = (T *)shared + threadIdx.x / LANES * (TURNS * WARPS);
        const int warp = threadIdx.x % LANES / 32;
        __syncthreads();
#pragma unroll
        for (int j = 0; j < TURNS; ++j) {
            if (lane == 31) parts[j * WARPS + warp] = sums[j];
        }
        __syncthreads();
        // Each warp scans what all have found.
        constexpr int PARTS = TURNS * WARPS, EACH = (PARTS + 31) / 32;
        T so_far[EACH];
#pragma unroll
        for (int m = 0; m < EACH; ++m) {
            const int part = lane * EACH + m;
            so_far[m] = parts[part < PARTS ? part : PARTS - 1];
            if (m > 0) so_far[m] = Op::of(so_far[m - 1], so_far[m]);
        }
        T sum = so_far[EACH - 1];
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
            T before = from_before(sum, step, 32);
            if (lane >= step) sum = Op::of(before, sum);
        }
        T before = from_before(sum, 1, 32);
#pragma unroll
        for (int m = 0; m < EACH; ++m) {
            if (lane > 0) so_far[m] = Op::of(before, so_far[m]);
        }
#pragma unroll
        for (int j = 0; j < TURNS; ++j) {
            const int part = j * WARPS + warp;
            T start = Op::of(carry, held(so_far, part > 0 ? part - 1 : 0));
            starts[j] = part > 0 ? start : carry;
        }
        carry = Op::of(carry, held(so_far, PARTS - 1));
    }
#pragma unroll
    for (int j = 0; j < TURNS; ++j) {
        T before = from_before(sums[j], 1, GROUP);
        if (lane > 0) starts[j] = Op::of(starts[j], before);
#pragma unroll
        for (int n = 0; n < N; ++n) x[j][n] = Op::of(starts[j], x[j][n]);
    }
}

// Where blocks share a row that is scanned, each waits for what those before it scanned. They count themselves in, and work
// on what their number says: so a block waits only for blocks that run already or are done.
struct Place { u32 block, launch; };
// The place of this block among BLOCKS of a grid. BEGUN counts the blocks of all launches.
template <u32 BLOCKS> D Place next_place(u64 *begun) {
    __shared__ u64 before;
    if (threadIdx.x == 0) before = atomicAdd(begun, 1ull);
    __syncthreads();
    return Place{(u32)(before % BLOCKS), (u32)(before / BLOCKS) + 1};
}

// A value that others wait for: each half of a word says for which launch it is, so that nothing has to be cleared.
template <class T> struct Posted { u64 words[(sizeof(T) + 3) / 4]; };
template <class T> union Bits { T value; u32 words[(sizeof(T) + 3) / 4]; };
template <class T> D void post(Posted<T> &to, u32 launch, T x) {
    Bits<T> bits = {x};
#pragma unroll
    for (int n = 0; n < (int)sizeof(bits) / 4; ++n) {
        asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(to.words + n), "l"((u64)launch << 32 | bits.words[n]) : "memory");
    }
}
template <class T> D T await(const Posted<T> &from, u32 launch) {
    Bits<T> bits;
#pragma unroll
    for (int n = 0; n < (int)sizeof(bits) / 4; ++n) {
        u64 word;
        do {
            asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(from.words + n) : "memory");
        } while (word >> 32 != launch);
        bits.words[n] = (u32)word;
    }
    return bits.value;
}

// What is reduced of the elements before this block's, which its SUM is reduced of, where SHARERS neighbouring blocks of
// THREADS threads share a row. It is taken together in the same order whichever block is done first: by groups of as many
// blocks as a block has threads, of which the last posts what the row is reduced to so far. POSTS has room for the sum of
// each of ALL blocks, then for that of each group. SHARED is as for `across`.
template <class Op, int THREADS, u32 SHARERS, u32 ALL, class T>
D T before(T sum, T start, Place place, Posted<T> *posts, void *shared) {
    constexpr u32 GROUPS = (SHARERS + THREADS - 1) / THREADS;
    const u32 rank = place.block % SHARERS, group = rank / THREADS, in_group = rank % THREADS;
    Posted<T> *groups = posts + ALL + place.block / SHARERS * GROUPS;
    if (threadIdx.x == 0) post(posts[place.block], place.launch, sum);
    T x = threadIdx.x < in_group ? await(posts[place.block - in_group + threadIdx.x], place.launch) : start;
    x = across<Op, THREADS, THREADS>(x, shared);
    if constexpr (GROUPS > 1) {
        if (group > 0) x = Op::of(await(groups[group - 1], place.launch), x);
        if (threadIdx.x == 0 && in_group == THREADS - 1) post(groups[group], place.launch, Op::of(x, sum));
    }
    return x;
}
// Puts what is BEFORE a scan's elements in front of them.
template <class Op, class T, int TURNS, int N> D void after(T (&x)[TURNS][N], T before) {
#pragma unroll
    for (int j = 0; j < TURNS; ++j) {
#pragma unroll
        for (int n = 0; n < N; ++n) x[j][n] = Op::of(before, x[j][n]);
    }
}
