// What kernels call that multiply matrices: asynchronous copies and tensor cores, of compute capability 8 and later.

D u32 shared_address(const void *at) { return (u32)__cvta_generic_to_shared(at); }

// Begins to copy 16 bytes into a block's memory; or zeros, and nothing is read, unless INSIDE holds.
D void copy_async(void *to, const void *from, bool inside) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(inside ? 16 : 0)
                 : "memory");
}
D void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int LEFT> D void await_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory"); }

// Reads four 8x8 matrices into a warp's registers: thread n names the address of row n % 8 of matrix n / 8.
D void load_matrices(u32 *to, const f16 *from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared_address(from)) : "memory");
}
D void load_transposed_matrices(u32 *to, const f16 *from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared_address(from)) : "memory");
}

// Adds the product of a 16x16 and a 16x8 matrix to SUMS.
D void multiply_matrices(float *sums, const u32 *a, const u32 *b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
