// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

/// Functions in the printer's own form that use every kind of statement.
namespace tw::tir {

inline const std::string kMatmul = R"(@T.prim_func
def matmul(A: T.Buffer((8, 16), "float32"), B: T.Buffer((16, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    T.func_attr({"num_outputs": 1})
    for i in T.parallel(8):
        for j.o in T.serial(2):
            acc = T.alloc_buffer((4,), "float32", scope="local")
            for j.i in T.unroll(4):
                acc[j.i] = T.float32(0)
            for k in T.serial(16):
                for j.i_1 in T.vectorized(4):
                    acc[j.i_1] = acc[j.i_1] + A[i, k] * B[k, j.o * 4 + j.i_1]
            for j.i_2 in T.serial(4):
                C[i, j.o * 4 + j.i_2] = acc[j.i_2]
)";

inline const std::string kFlatVector = R"(@T.prim_func
def flat(A: T.Buffer((8, 16), "float32"), C: T.Buffer((128,), "float32")):
    T.func_attr({"num_outputs": 1})
    for i in T.serial(8):
        base: T.int64 = i * 16
        x: T.float32x16 = A[T.ramp(base, 1, 16)]
        C[T.ramp(base, 1, 16)] = max(x, T.broadcast(T.float32(0), 16)) + T.broadcast(A[base], 16)
)";

inline const std::string kScopes = R"(@T.prim_func
def scopes(A: T.Buffer((10,), "int32"), s: T.Buffer((), "int64"), C: T.Buffer((10,), "int32"), D: T.Buffer((), "int32")):
    T.func_attr({"num_outputs": 2})
    with T.alloc_buffer((10,), "int32", scope="global") as t:
        for i in T.serial(10):
            t[i] = A[i] * T.int32(2)
        for i_1 in T.serial(2, 10):
            if t[i_1] < T.int32(8) and i_1 < s[()]:
                C[i_1] = t[i_1]
            else:
                C[i_1] = T.int32(-1)
        for i_2 in T.serial(0):
            pass
    with T.LetStmt(min(s[()], 9)) as n:
        D[()] = select(n < 5, A[n], T.int32(0))
    for i_3 in T.serial(2):
        C[i_3] = T.cast(int32, i_3)
)";

inline const std::string kThreads = R"(@T.prim_func
def threads(A: T.Buffer((4, 8, 2), "float32"), C: T.Buffer((4, 8, 2), "float32")):
    T.func_attr({"num_outputs": 1})
    for b in T.thread_binding(4, thread="blockIdx.x"):
        t = T.alloc_buffer((8,), "float32", scope="shared")
        for y in T.thread_binding(2, thread="threadIdx.y"):
            for x in T.thread_binding(4, thread="threadIdx.x"):
                t[y * 4 + x] = A[b, y * 4 + x, 0]
                T.tvm_storage_sync("shared")
                s = T.alloc_buffer((1,), "float32", scope="local")
                s[0] = t[7 - y * 4 - x]
                T.all_reduce(s[0], "max", thread="threadIdx.y")
                for v in T.thread_binding(2, thread="vthread"):
                    C[b, y * 4 + x, v] = s[0]
)";

inline const std::string kProduct = R"(@T.prim_func
def product(A: T.Buffer((16, 16), "float16"), C: T.Buffer((32, 8), "float32")):
    T.func_attr({"num_outputs": 1})
    for b in T.thread_binding(1, thread="blockIdx.x"):
        t = T.alloc_buffer((16, 24), "float16", scope="shared")
        for x in T.thread_binding(32, thread="threadIdx.x"):
            s = T.alloc_buffer((2, 2, 2), "float32", scope="local")
            with T.async_copies():
                for i in T.vectorized(8):
                    t[x // 2, x % 2 * 8 + i] = A[x // 2, x % 2 * 8 + i]
            with T.async_copies():
                pass
            for j in T.serial(8):
                s[j // 4, j // 2 % 2, j % 2] = T.float32(0)
            T.wait_copies(1)
            T.tvm_storage_sync("shared")
            T.warp_mma(s[0, 0, 0], t[0, 0], 24, "row", t[0, 0], 24, "depth", shape=(16, 16, 16))
            for j_1 in T.serial(8):
                C[x, j_1] = s[j_1 // 4, j_1 // 2 % 2, j_1 % 2]
)";

inline std::vector<std::pair<const char*, std::string>> example_funcs() {
  return {{"matmul", kMatmul}, {"flat", kFlatVector}, {"scopes", kScopes}, {"threads", kThreads}, {"product", kProduct}};
}

}  // namespace tw::tir
