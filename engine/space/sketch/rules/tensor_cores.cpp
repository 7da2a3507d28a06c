// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/rules/rules.h"
#include "engine/space/templates/cuda/tensorcore.h"
#include "engine/target/gpu.h"

namespace tw::space {

namespace {

using schedule::Annotation;
using schedule::SplitStep;

/// Bytes that a thread copies at once, and by which rows of a tile in shared memory are moved against each other, within twice as many.
constexpr int64_t kCopyBytes = 16;
/// Tiles of an operand that are filled in turn.
constexpr int kArrays[] = {2, 3, 4};

/// A product of matrices whose extents are whole tiles of a warp, which nothing has been done to yet.
std::optional<cpu::Anchor> warp_product_of(const SketchState& s) {
  const te::Dag& dag = *s.schedule().dag();
  if (const auto a = cuda::tensorcore_anchor(dag, s.target(), "dense", te::Role::constant)) return a;
  for (const char* tag : {"batch_matmul", "matmul"})
    if (const auto a = cuda::tensorcore_anchor(dag, s.target(), tag, te::Role::activation)) return a;
  return std::nullopt;
}

RuleFit fits_tensor_cores(const SketchState& s, int stage) {
  const bool pays = !s.options().exact && s.steps() == 0 && s.is_output(stage) && warp_product_of(s);
  return pays ? RuleFit::apply : RuleFit::skip;
}

/// Cuts a loop into an outer part and inner ones of these lengths, which are what the instruction asks for, and none of a search's.
void cut(SketchState& s, int stage, int iter, std::vector<int64_t> inner) {
  int64_t product = 1;
  for (const int64_t l : inner) product *= l;
  const int64_t extent = s.stage(stage).iters[static_cast<size_t>(iter)].extent;
  inner.pop_back();
  inner.insert(inner.begin(), extent / product);
  s.apply(SplitStep{stage, iter, extent, inner, false});
}

struct Warps {
  int rows, columns;  ///< splits: blocks, warps of a block, tiles of a warp
};

/// Loops of the result: blocks, warps, tiles, lanes. Returns the loop that the sums are computed in.
int share_result(SketchState& s, int out, Warps& splits) {
  const int b = static_cast<int>(s.stage(out).iters.size()) - 2;
  cut(s, out, b, {cuda::kWarpTile});
  splits.rows = s.open_split(out, b, 3);
  cut(s, out, b + 3, {8});
  cut(s, out, b + 5, {cuda::kWarpTile});
  splits.columns = s.open_split(out, b + 5, 3);
  cut(s, out, b + 8, {4, 2});
  schedule::ReorderStep order{out, {}};
  for (int k = 0; k < b; ++k) order.order.push_back(k);
  for (const int k : {0, 5, 1, 6, 2, 3, 7, 8, 4, 9, 10}) order.order.push_back(b + k);
  s.apply(order);
  s.apply(schedule::AnnotationStep{out, b + 2, Annotation::thread_z});
  s.apply(schedule::AnnotationStep{out, b + 3, Annotation::thread_y});
  s.apply(schedule::FuseStep{out, {b + 8, b + 9}});
  s.apply(schedule::AnnotationStep{out, b + 8, Annotation::thread_x});
  s.apply(schedule::AnnotationStep{out, b + 9, Annotation::vectorize});
  return b + 3;
}

/// Sums over tiles of terms, each by tensor cores.
void multiply(SketchState& s, int sums, int64_t step) {
  const int b = static_cast<int>(s.stage(sums).iters.size()) - 3;
  cut(s, sums, b + 2, {step});
  s.open_split(sums, b + 2, 2);
  schedule::ReorderStep order{sums, {b + 2, b + 3}};
  for (int k = 0; k < b + 2; ++k) order.order.push_back(k);
  order.order.push_back(b + 4);
  s.apply(order);
  s.apply(schedule::AnnotationStep{sums, 1, Annotation::unroll});
  s.apply(schedule::TensorizeStep{sums, b + 2});
}

/// An operand's tile, copied ahead by all threads of the block.
void copy_ahead(SketchState& s, int tile, int sums, const Warps& splits, int arrays) {
  const int64_t bytes = s.stage(tile).op.output->dtype.bytes(), vector = kCopyBytes / bytes;
  const int rank = static_cast<int>(s.stage(tile).iters.size());
  s.apply(schedule::StorageAlignStep{tile, rank - 2, 2 * vector, vector});
  s.apply(schedule::ComputeAtStep{tile, sums, 0});
  schedule::FuseStep fuse{tile, {}};
  for (int k = 0; k < rank; ++k) fuse.iters.push_back(k);
  s.apply(fuse);
  cut(s, tile, 0, {target::kWarp, vector});
  s.apply(schedule::FollowFusedSplitStep{tile, 0, {splits.columns}, 0});
  s.apply(schedule::FollowFusedSplitStep{tile, 0, {splits.rows}, 0});
  s.apply(schedule::AnnotationStep{tile, 1, Annotation::thread_z});
  s.apply(schedule::AnnotationStep{tile, 2, Annotation::thread_y});
  s.apply(schedule::AnnotationStep{tile, 3, Annotation::thread_x});
  s.apply(schedule::AnnotationStep{tile, 4, Annotation::vectorize});
  s.apply(schedule::PipelineStep{tile, arrays});
}

Derived multiply_by_tensor_cores(const SketchState& s, int) {
  const cpu::Anchor a = *warp_product_of(s);
  const te::Dag& dag = *s.schedule().dag();
  Derived out;
  for (const int arrays : kArrays) {
    SketchState next = s;
    const auto at = [&](int op) { return next.schedule().find(dag.ops[static_cast<size_t>(op)].name); };
    for (int i = a.reduce + 1; i < static_cast<int>(dag.ops.size()); ++i)
      if (!dag.ops[static_cast<size_t>(i)].is_placeholder() && i != a.output) next.apply(schedule::ComputeInlineStep{i});
    std::vector<std::string> tiles;
    for (const int operand : {a.data, a.weight}) {
      const int tile = at(operand) + 1;
      next.apply(schedule::CacheReadStep{at(operand), "shared", {at(a.reduce)}});
      tiles.push_back(next.stage(tile).op.name);
    }
    const int sums = at(a.reduce);
    next.apply(schedule::CacheWriteStep{sums, "local"});
    const std::string name = next.stage(sums).op.name;
    if (a.output != a.reduce) next.apply(schedule::ComputeInlineStep{at(a.reduce)});
    Warps splits;
    const int result = at(a.output), place = share_result(next, result, splits);
    next.apply(schedule::ComputeAtStep{sums, result, place});
    const DType type = dag.ops[static_cast<size_t>(a.data)].output->dtype;
    multiply(next, sums, cuda::WarpOperands{.type = type}.step());
    for (const std::string& tile : tiles) copy_ahead(next, next.schedule().find(tile), sums, splits, arrays);
    out.emplace_back(next, -1);
  }
  return out;
}

}  // namespace

SketchRule tensor_cores_rule() {
  return {"tensor-cores", false, true, fits_tensor_cores, multiply_by_tensor_cores,
          "Computes a product of matrices by the tensor cores of warps, from tiles in shared memory that are copied two to four ahead."};
}

}  // namespace tw::space
