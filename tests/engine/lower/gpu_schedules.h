// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/schedule/schedule.h"
#include "engine/target/gpu.h"

/// Schedules for blocks and threads as a person writes them: with shared tiles that all threads fill, virtual threads, halos, and reductions by threads.
/// Sizes are arguments, so that the same schedules serve the interpreter (small) and a compiler.
namespace tw::testing {

using schedule::Annotation;
using schedule::Builder;
using te::Indices;
using te::Tensor;

/// All loops of a stage as one loop, cut into blocks of `threads` and bound.
inline void bind_flat(Builder& b, int stage, int64_t threads, int64_t vector = 1) {
  ir::Var all = b.loops(stage)[0];
  if (b.loops(stage).size() > 1) all = b.fuse(stage, b.loops(stage));
  const auto l = b.split(stage, all, {threads, vector});
  b.bind(stage, l[0], Annotation::block_x);
  b.bind(stage, l[1], Annotation::thread_x);
  if (vector > 1) b.vectorize(stage, l[2]);
}

/// The spatial loops of a stage in shared memory as one loop over the threads of a block.
inline void fill_by_threads(Builder& b, int stage, int64_t ty, int64_t tx, int64_t vector = 1) {
  ir::Var all = b.loops(stage)[0];
  if (b.loops(stage).size() > 1) all = b.fuse(stage, b.loops(stage));
  const auto l = b.split(stage, all, {ty, tx, vector});
  b.bind(stage, l[1], Annotation::thread_y);
  b.bind(stage, l[2], Annotation::thread_x);
  if (vector > 1) b.vectorize(stage, l[3]);
}

struct MatmulKnobs {
  int64_t m = 20, n = 24, k = 12;  ///< sizes
  int64_t vy = 2, ty = 4, iy = 2;  ///< virtual threads, threads and rows of a thread
  int64_t vx = 2, tx = 4, ix = 2;  ///< the same for columns
  int64_t ko = 4;                  ///< depth of a tile in shared memory
  int64_t vector = 1;              ///< elements that a thread fetches at once
  bool double_buffer = false, registers = true;
  int pipeline = 0;   ///< tiles that are copied ahead, and their number
  int64_t align = 0;  ///< gap after the rows of the tile of A
  DType dtype = kFloat32;
};

/// C = A * B^T in tiles.
inline Builder tiled_matmul(const MatmulKnobs& q) {
  te::DagBuilder d;
  const Tensor x = d.placeholder("A", {q.m, q.k}, q.dtype), w = d.placeholder("B", {q.n, q.k}, q.dtype);
  const Tensor c = d.reduce(
      "C", {q.m, q.n}, {q.k}, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
  Builder b(std::move(d).finish({c}));
  b.cache_write(b.stage("C"), "local");
  b.cache_read(b.stage("A"), {b.stage("C_local")}, "shared");
  b.cache_read(b.stage("B"), {b.stage("C_local")}, "shared");
  if (q.registers) {
    b.cache_read(b.stage("A_shared"), {b.stage("C_local")}, "local");
    b.cache_read(b.stage("B_shared"), {b.stage("C_local")}, "local");
  }
  const int o = b.stage("C"), local = b.stage("C_local"), sa = b.stage("A_shared"), sb = b.stage("B_shared");
  const auto y = b.split(o, b.loops(o)[0], {q.vy, q.ty, q.iy});
  const auto xs = b.split(o, b.loops(o)[4], {q.vx, q.tx, q.ix});
  b.reorder(o, {y[0], xs[0], y[1], xs[1], y[2], xs[2], y[3], xs[3]});
  b.bind(o, y[0], Annotation::block_y);
  b.bind(o, xs[0], Annotation::block_x);
  b.bind(o, y[1], Annotation::vthread);
  b.bind(o, xs[1], Annotation::vthread);
  b.bind(o, y[2], Annotation::thread_y);
  b.bind(o, xs[2], Annotation::thread_x);
  b.compute_at(local, o, xs[2]);
  auto l = b.loops(local);
  const auto k = b.split(local, l[2], {q.ko});
  b.reorder(local, {k[0], k[1], l[0], l[1]});
  b.unroll(local, l[0]);
  b.unroll(local, l[1]);
  if (q.registers) {
    for (const char* name : {"A_shared_local", "B_shared_local"}) b.compute_at(b.stage(name), local, k[1]);
  }
  if (q.align > 0) b.storage_align(sa, b.loops(sa)[0], q.align, q.align > 1 ? 1 : 0);
  for (const int s : {sa, sb}) {
    b.compute_at(s, local, k[0]);
    fill_by_threads(b, s, q.ty, q.tx, q.vector);
    if (q.double_buffer) b.double_buffer(s);
    if (q.pipeline > 0) b.pipeline(s, q.pipeline);
  }
  return b;
}

struct WarpMatmulKnobs {
  int64_t m = 64, n = 96, k = 96;                         ///< sizes
  int64_t rows = 32, columns = 32;                        ///< of a warp
  int64_t tall = 2, wide = 1;                             ///< warps of a block
  int64_t depth = 32;                                     ///< of a tile in shared memory
  int arrays = 3;                                         ///< tiles in turn; 1: they are filled and used in turn
  int64_t vector = 8, gap = 8;                            ///< elements that a thread copies at once, and after each row of a tile
  bool transposed = false;                                ///< A is [k, m] and B is [k, n] instead of [m, k] and [n, k]
  DType dtype = kFloat16, out = kFloat32, other = dtype;  ///< of A, of the sums, of B
  bool columns_first = false;                             ///< lanes are counted along columns first, as no warp holds its sums
};

/// C = A * B^T by tensor cores, with something elementwise on the way out.
inline Builder warp_matmul(const WarpMatmulKnobs& q) {
  te::DagBuilder d;
  const auto shape = [&](int64_t lines) { return q.transposed ? std::vector<int64_t>{q.k, lines} : std::vector<int64_t>{lines, q.k}; };
  const Tensor x = d.placeholder("A", shape(q.m), q.dtype), w = d.placeholder("B", shape(q.n), q.other);
  const auto at = [&](const Tensor& t, const ir::Expr& line, const ir::Expr& term) {
    const ir::Expr e = q.transposed ? t(term, line) : t(line, term);
    return e->dtype == q.out ? e : ir::cast(q.out, e);
  };
  const Tensor c = d.reduce(
      "C", {q.m, q.n}, {q.k}, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return at(x, s[0], r[0]) * at(w, s[1], r[0]); }, "dense");
  const Tensor y = d.compute("Y", {q.m, q.n}, [&](const Indices& i) { return ir::max(c.at(i), te::reducer_identity(te::Reducer::sum, q.out)); });
  Builder b(std::move(d).finish({y}));
  b.cache_read(b.stage("A"), {b.stage("C")}, "shared");
  b.cache_read(b.stage("B"), {b.stage("C")}, "shared");
  b.cache_write(b.stage("C"), "local");
  b.compute_inline(b.stage("C"));
  const int o = b.stage("Y"), sums = b.stage("C_local"), sa = b.stage("A_shared"), sb = b.stage("B_shared");
  const auto r = b.split(o, b.loops(o)[0], {q.tall, q.rows / 8, 8});
  const auto s = b.split(o, b.loops(o)[4], {q.wide, q.columns / 8, 4, 2});
  const std::vector<ir::Var> lanes = q.columns_first ? std::vector<ir::Var>{s[3], r[3]} : std::vector<ir::Var>{r[3], s[3]};
  b.reorder(o, {r[0], s[0], r[1], s[1], r[2], s[2], lanes[0], lanes[1], s[4]});
  b.bind(o, r[0], Annotation::block_y);
  b.bind(o, s[0], Annotation::block_x);
  b.bind(o, r[1], Annotation::thread_z);
  b.bind(o, s[1], Annotation::thread_y);
  b.bind(o, b.fuse(o, lanes), Annotation::thread_x);
  b.vectorize(o, s[4]);
  b.compute_at(sums, o, s[1]);
  const auto l = b.loops(sums);
  const int64_t terms = std::max(16, target::mma_depth(q.dtype, q.other));
  const auto k = b.split(sums, l[2], {q.depth / terms, terms});
  b.reorder(sums, {k[0], k[1], l[0], l[1], k[2]});
  b.unroll(sums, k[1]);
  b.tensorize(sums, l[0]);
  for (const int tile : {sa, sb}) {
    if (q.gap > 0) b.storage_align(tile, b.loops(tile)[0], 2 * q.gap, q.gap);
    b.compute_at(tile, sums, k[0]);
    const auto f = b.split(tile, b.fuse(tile, b.loops(tile)), {q.tall, q.wide, 32, q.vector});
    b.bind(tile, f[1], Annotation::thread_z);
    b.bind(tile, f[2], Annotation::thread_y);
    b.bind(tile, f[3], Annotation::thread_x);
    if (q.vector > 1) b.vectorize(tile, f[4]);
    if (q.arrays > 1) b.pipeline(tile, q.arrays);
  }
  return b;
}

/// The sum of the nine elements around each, with the input's halo in shared memory.
inline Builder stencil(int64_t h, int64_t w, int64_t ty, int64_t tx) {
  te::DagBuilder d;
  const Tensor x = d.placeholder("X", {h, w}, kFloat32);
  const Tensor p = d.compute("P", {h + 2, w + 2}, [&](const Indices& i) {
    const ir::Expr inside = (ir::index(1) <= i[0] && i[0] < ir::index(h + 1)) && (ir::index(1) <= i[1] && i[1] < ir::index(w + 1));
    return ir::select(inside, x(i[0] - 1, i[1] - 1), ir::fimm(kFloat32, 0));
  });
  const Tensor y = d.reduce("Y", {h, w}, {3, 3}, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return p(s[0] + r[0], s[1] + r[1]); });
  Builder b(std::move(d).finish({y}));
  const int tile = b.cache_read(b.stage("P"), {b.stage("Y")}, "shared");
  b.compute_inline(b.stage("P"));
  const int o = b.stage("Y");
  const auto l = b.loops(o);
  const auto rows = b.split(o, l[0], {ty}), columns = b.split(o, l[1], {tx});
  b.reorder(o, {rows[0], columns[0], rows[1], columns[1], l[2], l[3]});
  b.bind(o, rows[0], Annotation::block_y);
  b.bind(o, columns[0], Annotation::block_x);
  b.bind(o, rows[1], Annotation::thread_y);
  b.bind(o, columns[1], Annotation::thread_x);
  b.compute_at(tile, o, columns[1]);
  const auto t = b.loops(tile);
  const auto ys = b.split(tile, t[0], {ty}), xs = b.split(tile, t[1], {tx});
  b.bind(tile, ys[1], Annotation::thread_y);
  b.bind(tile, xs[1], Annotation::thread_x);
  b.unroll(o, l[2]);
  b.unroll(o, l[3]);
  return b;
}

/// Y = X^T through a padded tile, so that reads and writes both run along rows.
inline Builder transpose(int64_t m, int64_t n, int64_t tile, int64_t rows) {
  te::DagBuilder d;
  const Tensor x = d.placeholder("X", {m, n}, kFloat32);
  const Tensor y = d.compute("Y", {n, m}, [&](const Indices& i) { return x(i[1], i[0]); });
  Builder b(std::move(d).finish({y}));
  const int s = b.cache_read(b.stage("X"), {b.stage("Y")}, "shared");
  const int o = b.stage("Y");
  const auto l = b.loops(o);
  const auto i = b.split(o, l[0], {tile / rows, rows}), j = b.split(o, l[1], {tile});
  b.reorder(o, {i[0], j[0], i[1], i[2], j[1]});
  b.bind(o, i[0], Annotation::block_y);
  b.bind(o, j[0], Annotation::block_x);
  b.bind(o, i[2], Annotation::thread_y);
  b.bind(o, j[1], Annotation::thread_x);
  b.compute_at(s, o, j[0]);
  b.storage_align(s, b.loops(s)[0], 32, 1);
  const auto t = b.loops(s);
  const auto ys = b.split(s, t[0], {rows}), xs = b.split(s, t[1], {tile});
  b.bind(s, ys[1], Annotation::thread_y);
  b.bind(s, xs[1], Annotation::thread_x);
  return b;
}

/// relu(a * x + b) as one elementwise kernel.
inline Builder fused_elementwise(int64_t m, int64_t n, int64_t threads, int64_t vector) {
  te::DagBuilder d;
  const Tensor x = d.placeholder("X", {m, n}, kFloat32), a = d.placeholder("a", {n}, kFloat32), c = d.placeholder("b", {n}, kFloat32);
  const Tensor scaled = d.compute("scaled", {m, n}, [&](const Indices& i) { return x.at(i) * a(i[1]); });
  const Tensor shifted = d.compute("shifted", {m, n}, [&](const Indices& i) { return scaled.at(i) + c(i[1]); });
  const Tensor y = d.compute("relu", {m, n}, [&](const Indices& i) { return ir::max(shifted.at(i), ir::fimm(kFloat32, 0)); });
  Builder b(std::move(d).finish({y}));
  b.compute_inline(b.stage("scaled"));
  b.compute_inline(b.stage("shifted"));
  bind_flat(b, b.stage("relu"), threads, vector);
  return b;
}

/// A result per row, reduced by the threads of a block.
inline Builder row_reduction(int64_t rows, int64_t columns, int64_t ty, int64_t tx, te::Reducer reducer, DType type = kFloat32) {
  te::DagBuilder d;
  const Tensor x = d.placeholder("X", {rows, columns}, type);
  const Tensor y = d.reduce("Y", {rows}, {columns}, reducer, [&](const Indices& s, const Indices& r) { return x(s[0], r[0]); });
  Builder b(std::move(d).finish({y}));
  const auto l = b.loops(1);
  const auto i = b.split(1, l[0], {ty}), k = b.split(1, l[1], {tx});
  b.bind(1, i[0], Annotation::block_x);
  b.bind(1, i[1], Annotation::thread_y);
  b.bind(1, k[1], Annotation::thread_x);
  return b;
}

/// dense with one block an output element: partial sums in registers, combined by the threads.
inline Builder dense_by_threads(int64_t m, int64_t n, int64_t k, int64_t threads) {
  te::DagBuilder d;
  const Tensor x = d.placeholder("A", {m, k}, kFloat32), w = d.placeholder("B", {n, k}, kFloat32);
  const Tensor c = d.reduce(
      "C", {m, n}, {k}, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
  Builder b(std::move(d).finish({c}));
  int o = b.stage("C");
  const auto parts = b.split(o, b.loops(o)[2], {threads});
  const int rf = b.rfactor(o, parts[1]);
  o = b.stage("C");
  const auto l = b.loops(o);
  b.bind(o, l[0], Annotation::block_y);
  b.bind(o, l[1], Annotation::block_x);
  b.bind(o, l[2], Annotation::thread_x);
  b.compute_at(rf, o, l[2]);
  return b;
}

/// softmax of rows, one block a row: two reductions and two elementwise stages by the same threads.
inline Builder softmax(int64_t rows, int64_t columns, int64_t threads) {
  te::DagBuilder d;
  const Tensor x = d.placeholder("X", {rows, columns}, kFloat32);
  const Tensor m = d.reduce("top", {rows}, {columns}, te::Reducer::max, [&](const Indices& s, const Indices& r) { return x(s[0], r[0]); });
  const Tensor e = d.compute("exp", {rows, columns}, [&](const Indices& i) { return ir::call(ir::Intrinsic::exp, {x.at(i) - m(i[0])}); });
  const Tensor t = d.reduce("sum", {rows}, {columns}, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return e(s[0], r[0]); });
  const Tensor y = d.compute("softmax", {rows, columns}, [&](const Indices& i) { return e.at(i) / t(i[0]); });
  Builder b(std::move(d).finish({y}));
  const int o = b.stage("softmax");
  const auto l = b.loops(o);
  const auto j = b.split(o, l[1], {threads});
  b.bind(o, l[0], Annotation::block_x);
  b.bind(o, j[1], Annotation::thread_x);
  for (const char* name : {"sum", "exp", "top"}) {
    const int s = b.stage(name);
    b.compute_at(s, o, l[0]);
    const auto parts = b.split(s, b.loops(s)[1], {threads});
    b.bind(s, parts[1], Annotation::thread_x);
  }
  return b;
}

struct ConvKnobs {
  int64_t ci = 5, co = 8, h = 7, w = 6, kernel = 3, stride = 1, pad = 1;
  int64_t vf = 2, tf = 2, fi = 2, vy = 1, ty = 2, yi = 2, vx = 2, tx = 3, xi = 1;
  int64_t rc = 2, ry = 1, rx = 3;
};

/// A convolution in the manner of AutoTVM's direct template: tiles of image and weights in shared memory, results in registers.
inline Builder direct_conv2d(const ConvKnobs& q) {
  te::DagBuilder d;
  const int64_t oh = (q.h + 2 * q.pad - q.kernel) / q.stride + 1, ow = (q.w + 2 * q.pad - q.kernel) / q.stride + 1;
  const Tensor x = d.placeholder("X", {1, q.ci, q.h, q.w}, kFloat32), w = d.placeholder("W", {q.co, q.ci, q.kernel, q.kernel}, kFloat32);
  const Tensor bias = d.placeholder("bias", {q.co}, kFloat32);
  const Tensor p = d.compute("pad", {1, q.ci, q.h + 2 * q.pad, q.w + 2 * q.pad}, [&](const Indices& i) {
    const ir::Expr inside = (ir::index(q.pad) <= i[2] && i[2] < ir::index(q.h + q.pad)) && (ir::index(q.pad) <= i[3] && i[3] < ir::index(q.w + q.pad));
    return ir::select(inside, x(i[0], i[1], i[2] - q.pad, i[3] - q.pad), ir::fimm(kFloat32, 0));
  });
  const Tensor c = d.reduce(
      "conv", {1, q.co, oh, ow}, {q.ci, q.kernel, q.kernel}, te::Reducer::sum,
      [&](const Indices& s, const Indices& r) { return p(s[0], r[0], s[2] * q.stride + r[1], s[3] * q.stride + r[2]) * w(s[1], r[0], r[1], r[2]); }, "conv2d");
  const Tensor y = d.compute("relu", {1, q.co, oh, ow}, [&](const Indices& i) { return ir::max(c.at(i) + bias(i[1]), ir::fimm(kFloat32, 0)); });
  Builder b(std::move(d).finish({y}));
  b.cache_read(b.stage("pad"), {b.stage("conv")}, "shared");
  b.compute_inline(b.stage("pad"));
  b.cache_read(b.stage("W"), {b.stage("conv")}, "shared");
  const int o = b.stage("relu"), conv = b.stage("conv");
  const auto l = b.loops(o);
  const auto f = b.split(o, l[1], {q.vf, q.tf, q.fi}), ys = b.split(o, l[2], {q.vy, q.ty, q.yi}), xs = b.split(o, l[3], {q.vx, q.tx, q.xi});
  b.reorder(o, {l[0], f[0], ys[0], xs[0], f[1], ys[1], xs[1], f[2], ys[2], xs[2], f[3], ys[3], xs[3]});
  const auto bz = b.fuse(o, {l[0], f[0]});
  b.bind(o, bz, Annotation::block_z);
  b.bind(o, ys[0], Annotation::block_y);
  b.bind(o, xs[0], Annotation::block_x);
  for (const auto& v : {f[1], ys[1], xs[1]}) b.bind(o, v, Annotation::vthread);
  b.bind(o, f[2], Annotation::thread_z);
  b.bind(o, ys[2], Annotation::thread_y);
  b.bind(o, xs[2], Annotation::thread_x);
  b.compute_at(conv, o, xs[2]);
  const auto c4 = b.loops(conv);
  const auto rc = b.split(conv, c4[4], {q.rc}), ry = b.split(conv, c4[5], {q.ry}), rx = b.split(conv, c4[6], {q.rx});
  b.reorder(conv, {rc[0], ry[0], rx[0], rc[1], ry[1], rx[1], c4[0], c4[1], c4[2], c4[3]});
  for (const char* name : {"pad_shared", "W_shared"}) {
    const int s = b.stage(name);
    b.compute_at(s, conv, rx[0]);
    const auto all = b.fuse(s, b.loops(s));
    const auto t = b.split(s, all, {q.tf, q.ty, q.tx});
    b.bind(s, t[1], Annotation::thread_z);
    b.bind(s, t[2], Annotation::thread_y);
    b.bind(s, t[3], Annotation::thread_x);
  }
  return b;
}

struct GpuSchedule {
  std::string name;
  schedule::Schedule schedule;
};

/// All of them at sizes that no factor divides.
inline std::vector<GpuSchedule> gpu_schedules() {
  std::vector<GpuSchedule> out;
  const auto add = [&](const std::string& name, Builder b) { out.push_back({name, std::move(b).finish().value()}); };
  add("matmul", tiled_matmul({}));
  add("matmul, surplus everywhere", tiled_matmul({.m = 19, .n = 23, .k = 11, .vy = 2, .ty = 3, .iy = 2, .vx = 1, .tx = 5, .ix = 3, .ko = 3, .align = 8}));
  add("matmul, double buffer", tiled_matmul({.double_buffer = true, .align = 4}));
  add("matmul, copied ahead", tiled_matmul({.k = 16, .pipeline = 3, .align = 4}));
  add("matmul, copied ahead, surplus everywhere",
      tiled_matmul({.m = 19, .n = 23, .k = 11, .vy = 2, .ty = 3, .iy = 2, .vx = 1, .tx = 5, .ix = 3, .ko = 3, .pipeline = 4}));
  add("matmul, vectors copied ahead", tiled_matmul({.m = 16, .n = 16, .k = 32, .ko = 8, .vector = 4, .registers = false, .pipeline = 2}));
  add("matmul by warps", warp_matmul({}));
  add("matmul by warps, one tile", warp_matmul({.m = 32, .n = 32, .k = 64, .rows = 16, .columns = 16, .tall = 1, .wide = 2, .arrays = 1}));
  for (const bool transposed : {false, true}) {
    const std::string lines = transposed ? ", columns" : "";
    add("matmul by warps, TF32" + lines, warp_matmul({.n = 64, .k = 64, .arrays = 2, .vector = 4, .gap = 4, .transposed = transposed, .dtype = kFloat32}));
    add("matmul by warps, bytes" + lines,
        warp_matmul({.n = 64, .k = 128, .depth = 64, .gap = 16, .transposed = transposed, .dtype = kInt8, .out = kInt32, .other = kUInt8}));
  }
  add("matmul by warps, columns", warp_matmul({.n = 64, .k = 64, .arrays = 2, .transposed = true, .dtype = kBFloat16}));
  add("matmul, vectors", tiled_matmul({.m = 16, .n = 16, .k = 16, .ko = 8, .vector = 4, .registers = false}));
  add("stencil", stencil(13, 11, 4, 5));
  add("transpose", transpose(37, 21, 16, 4));
  add("elementwise", fused_elementwise(9, 28, 8, 4));
  add("elementwise, no vectors", fused_elementwise(7, 13, 16, 1));
  add("sum of rows", row_reduction(7, 45, 2, 8, te::Reducer::sum));
  add("maximum of rows, not a power of two", row_reduction(5, 50, 1, 12, te::Reducer::max));
  add("dense by threads", dense_by_threads(3, 4, 50, 16));
  add("softmax", softmax(3, 21, 8));
  add("conv2d", direct_conv2d({}));
  add("conv2d, stride 2", direct_conv2d({.h = 9, .w = 9, .stride = 2, .rc = 3, .ry = 3, .rx = 1}));
  return out;
}

}  // namespace tw::testing
