// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/base/expected.h"
#include "engine/base/json_fwd.h"

/// The one schedule language: templates, sketches and a person's clicks all end as a list of steps over a te::Dag.
/// Stages and iterators are named by index, as in Ansor's records; stage i is op i of the dag until cache steps insert stages.
namespace tw::schedule {

template <class S>
struct PrimitiveOf;

/// Numbers as in Ansor's records. From vthread to thread_z the loop is bound to a coordinate of a processor with blocks and threads.
enum class Annotation : uint8_t {
  none = 0,
  unroll = 1,
  vectorize = 2,
  parallel = 3,
  vthread = 4,
  block_x = 5,
  thread_x = 6,
  block_y = 7,
  thread_y = 8,
  block_z = 9,
  thread_z = 10,
  unroll_explicit = 12  ///< 11 is Ansor's tensorize
};
/// All of them.
constexpr Annotation kAnnotations[] = {Annotation::none,     Annotation::unroll,  Annotation::vectorize, Annotation::parallel,
                                       Annotation::vthread,  Annotation::block_x, Annotation::thread_x,  Annotation::block_y,
                                       Annotation::thread_y, Annotation::block_z, Annotation::thread_z,  Annotation::unroll_explicit};
inline bool is_block(Annotation a) { return a == Annotation::block_x || a == Annotation::block_y || a == Annotation::block_z; }
inline bool is_thread(Annotation a) { return a == Annotation::thread_x || a == Annotation::thread_y || a == Annotation::thread_z; }
inline bool is_binding(Annotation a) { return a >= Annotation::vthread && a <= Annotation::thread_z; }
/// Written out, by a compiler that is asked to or, explicitly, in the text that it gets.
inline bool is_unrolled(Annotation a) { return a == Annotation::unroll || a == Annotation::unroll_explicit; }
/// `none`, `unroll`, `unroll_explicit`, `vectorize`, `parallel`, or the coordinate, such as `threadIdx.x`.
const char* annotation_name(Annotation a);

/// Rewrite: for i<n { S(i) }  =>  for o<ceil(n/f) { for j<f { if o*f+j<n { S(o*f+j) } } }; several lengths nest.
/// Where a stage was computed in the loop, it is computed in the innermost of the new ones.
struct SplitStep {
  int stage = 0, iter = 0;
  int64_t extent = 0;            ///< of the iterator when the step was written; informative
  std::vector<int64_t> lengths;  ///< extents of the new loops, outer to inner, without the one that is derived
  bool from_inside = true;       ///< lengths are those of the inner loops, and the outermost is derived; false: of the outer loops, and the innermost is
  static const PrimitiveOf<SplitStep>& primitive();
  friend bool operator==(const SplitStep&, const SplitStep&) = default;
};
/// Rewrite: for i<n { for j<m { S(i,j) } }  =>  for k<n*m { S(k // m, k % m) }
/// What is computed in the last of the loops is computed in the joined one. No loops: a new loop of one iteration around all others, to be bound or marked.
struct FuseStep {
  int stage = 0;
  std::vector<int> iters;  ///< adjacent, ascending
  static const PrimitiveOf<FuseStep>& primitive();
  friend bool operator==(const FuseStep&, const FuseStep&) = default;
};
struct ReorderStep {
  int stage = 0;
  std::vector<int> order;  ///< permutation of all iterators: position -> old index
  static const PrimitiveOf<ReorderStep>& primitive();
  friend bool operator==(const ReorderStep&, const ReorderStep&) = default;
};
struct AnnotationStep {
  int stage = 0, iter = 0;
  Annotation annotation = Annotation::none;
  static const PrimitiveOf<AnnotationStep>& primitive();
  friend bool operator==(const AnnotationStep&, const AnnotationStep&) = default;
};
/// Computes a stage inside a loop of its consumer, only the region needed there.
struct ComputeAtStep {
  int stage = 0, target_stage = 0, target_iter = 0;
  static const PrimitiveOf<ComputeAtStep>& primitive();
  friend bool operator==(const ComputeAtStep&, const ComputeAtStep&) = default;
};
/// Replaces every read of a stage by its body.
struct ComputeInlineStep {
  int stage = 0;
  static const PrimitiveOf<ComputeInlineStep>& primitive();
  friend bool operator==(const ComputeInlineStep&, const ComputeInlineStep&) = default;
};
struct ComputeRootStep {
  int stage = 0;
  static const PrimitiveOf<ComputeRootStep>& primitive();
  friend bool operator==(const ComputeRootStep&, const ComputeRootStep&) = default;
};
/// Inserts a copy of `stage` after it; the readers read the copy. Later stages move up by one.
struct CacheReadStep {
  int stage = 0;
  std::string scope;  ///< "local", "shared" (of the threads of a block) or "global"
  std::vector<int> readers;
  static const PrimitiveOf<CacheReadStep>& primitive();
  friend bool operator==(const CacheReadStep&, const CacheReadStep&) = default;
};
/// Inserts a stage before `stage` that computes its body into a cache; `stage` becomes the copy out and moves up by one.
struct CacheWriteStep {
  int stage = 0;
  std::string scope;
  static const PrimitiveOf<CacheWriteStep>& primitive();
  friend bool operator==(const CacheWriteStep&, const CacheWriteStep&) = default;
};
/// Physical layout of a stage's array. Each physical dimension, outermost first, is a piece of a logical one:
/// the last piece (innermost) of `dim` counts fastest; factor 0 is the outermost piece, rounded up (padding is zero in constants, anything elsewhere).
/// Example: [O, I, H, W] -> [O/16][I/16][H][W][16 i][16 o] is {(0,0),(1,0),(2,0),(3,0),(1,16),(0,16)}.
/// On a placeholder the caller must supply the array in this layout; on an output the caller receives it so. The array of a stage computed inside a loop is
/// the region that is needed there, in this order.
struct LayoutStep {
  struct Piece {
    int dim = 0;
    int64_t factor = 0;
    friend bool operator==(const Piece&, const Piece&) = default;
  };
  int stage = 0;
  std::vector<Piece> pieces;
  static const PrimitiveOf<LayoutStep>& primitive();
  friend bool operator==(const LayoutStep&, const LayoutStep&) = default;
};

/// Turns a part of a reduction into a spatial axis of a stage of its own, which can then be parallel or a vector:
///     C[i] = sum(k) S(i, k), k split into ko, ki   =>   C_rf[ki, i] = sum(ko) S(i, ko*f + ki);  C[i] = sum(ki) C_rf[ki, i]      (factor axis 0)
/// Inserts the stage `NAME_rf` before `stage`, which becomes the sum of the partial results and moves up by one; both start with fresh loops. Iterations
/// that a split made beyond the extent contribute the reducer's identity. Any reducer and any number of reduction loops; the order of combination changes, so
/// float results differ by rounding. Legal before any step on the stage's spatial loops.
struct RfactorStep {
  int stage = 0, iter = 0;
  int factor_iter = 0;  ///< position of the new axis among the spatial axes of the new stage
  static const PrimitiveOf<RfactorStep>& primitive();
  friend bool operator==(const RfactorStep&, const RfactorStep&) = default;
};
/// Puts gaps into a stage's array so that consecutive elements along the axis of loop `iter` lie s elements apart, s mod factor = offset, s smallest.
/// Values do not change; cache sets (or the banks of a shared memory) that rows would collide in do. Legal on arrays that are no argument of the kernel.
struct StorageAlignStep {
  int stage = 0, iter = 0;  ///< a spatial loop that is one whole axis: not split or fused
  int64_t factor = 1, offset = 0;
  static const PrimitiveOf<StorageAlignStep>& primitive();
  friend bool operator==(const StorageAlignStep&, const StorageAlignStep&) = default;
};
/// Rounds the extent of the axis of loop `iter` up to a multiple of `factor`, and the stage's array with it, so that splitting by it needs no guard.
///     for i<n { T[i] = S(i) }   =>   for i<ceil(n/f)*f { T[i] = i < n ? S(i) : 0 }
/// The surplus of a reducing stage is filled with the reducer's identity, and so are surplus terms of a padded reduction axis. Where the surplus of a spatial
/// axis reads only what exists, because what it reads is padded too, the test is left out and the surplus holds values that nobody reads.
/// Legal on a whole axis (not split or fused) of a stage that is no argument of the kernel, whose surplus nobody may ask for.
/// Source: padding of packed panels in Goto and van de Geijn, Anatomy of high-performance matrix multiplication, ACM TOMS 2008; `pad_einsum` of TVM.
struct PadStep {
  int stage = 0, iter = 0;
  int64_t factor = 1;
  static const PrimitiveOf<PadStep>& primitive();
  friend bool operator==(const PadStep&, const PadStep&) = default;
};
/// Gives a stage that is computed inside a loop two arrays in turn: the loop computes the next iteration's values before it uses this one's.
///     for i<n { T = P(i); C(i, T) }   =>   T[0] = P(0); for i<n { if i+1<n { T[(i+1)%2] = P(i+1) }; C(i, T[i%2]) }
/// Legal where the loop is serial or unrolled and the stage reads nothing that is computed inside the same loop.
struct DoubleBufferStep {
  int stage = 0;
  static const PrimitiveOf<DoubleBufferStep>& primitive();
  friend bool operator==(const DoubleBufferStep&, const DoubleBufferStep&) = default;
};

/// Computes a convolution of stride 1 with a square window of r x r taps from transformed tiles: for every m x m tile of the result,
///     C[n,o,h,w] = sum(i,kh,kw) D[n,i,h+kh,w+kw] * W[o,i,kh,kw]
///       =>  pad: D extended to whole tiles;  rows, data: V = B^T d B of each (m+r-1)^2 tile d;  product: M[x,y] = sum(i) U[x,y] * V[x,y];  columns, C: A^T M A
/// Five stages (NAME_pad, NAME_rows, NAME_data, NAME_product, NAME_columns) come before the convolution, which becomes the last transform and moves up by five.
/// Volumes are transformed plane by plane, M[d] = sum(i, kd) U[kd] * V[f(d, kd)]. Weights W [O, I, (kd,) r, r] are constants that the caller must supply as
/// U = G W G^T [O, I, (kd,) m+r-1, m+r-1], which a later layout counts. (m+r-1)^2 / m^2 multiplications for r^2, and some ten times the rounding for m = 4.
/// Tiles are indexed by image, row and column; flat ones along one axis, p = (n * rows + th) * columns + tw, so that blocks of threads may take any run of them.
/// Source: Lavin and Gray, Fast algorithms for convolutional neural networks, CVPR 2016.
struct WinogradStep {
  int stage = 0;
  int64_t tile = 2;  ///< m
  bool flat = false;
  static const PrimitiveOf<WinogradStep>& primitive();
  friend bool operator==(const WinogradStep&, const WinogradStep&) = default;
};

/// Computes a sum of products over windows, such as a convolution, as one product of matrices:
///     C[n,o,y,x] = sum(i,kh,kw) D[n,i,y*s+kh,x*s+kw] * W[o,i,kh,kw]
///       =>  col[k,p] = D[...];  filter[k,o] = W[...];  product[o,p] = sum(k) filter[k,o] * col[k,p];  C[n,o,y,x] = product[o, (n*Y + y)*X + x]
/// k numbers the terms (i,kh,kw) and p the pixels (n,y,x), both row-major; o is what only the second operand has; the product is [p,o] where the channels are
/// the last axis of the result. Stages NAME_col, NAME_filter and NAME_product come before the convolution, which copies the product and moves up by three.
/// With `term`, a loop of the reduction, terms stay apart, col[i,kh,kw,p] and filter[i,kh,kw,o], so that a loop over taps finds one tap of all pixels without
/// dividing; the axis of that loop is rounded up to a multiple of `terms`, p to one of `pixels` and o to one of `filters`, all with zeros in the surplus.
/// Legal on a sum of products of two arrays before any other step on it; axes of the result that both operands have, as groups do, forbid it.
/// Source: Chellapilla et al., High performance convolutional neural networks for document processing, IWFHR 2006; without the array in memory, where `col` is
/// computed tile by tile: Chetlur et al., cuDNN, arXiv:1410.0759, 2014.
struct Im2colStep {
  int stage = 0, term = -1;
  int64_t pixels = 1, filters = 1, terms = 1;
  static const PrimitiveOf<Im2colStep>& primitive();
  friend bool operator==(const Im2colStep&, const Im2colStep&) = default;
};
/// Gives a stage in shared memory several arrays in turn, which threads fill by copies that run beside other work, `arrays - 1` iterations ahead:
///     for i<n { T = P(i); C(i, T) }   =>   for j<s-1 { begin T[j] = P(j) }; for i<n { wait for T[i%s]; begin T[(i+s-1)%s] = P(i+s-1) if i+s-1<n; C(i, T[i%s]) }
/// Copies of 4, 8 or 16 aligned bytes from an array in memory need no registers on the way from compute capability 8.0 on; everything else is stored as usual.
/// Legal as double_buffer is, in a block of threads; all stages of one loop that are copied ahead have equally many arrays.
/// Source: cp.async of the PTX ISA; multistage pipelines as in CUTLASS (Thakkar et al., 2.x).
struct PipelineStep {
  int stage = 0;
  int arrays = 2;
  static const PrimitiveOf<PipelineStep>& primitive();
  friend bool operator==(const PipelineStep&, const PipelineStep&) = default;
};
/// Computes a sum of products of 16-bit floats by the tensor cores of a warp, with sums in float32; of float32, rounded to TF32 (which a target must allow), with
/// sums in float32; of int8 or uint8 with sums in int32. `iter` is the third loop from inside: the loops from there on run over rows of the result (a multiple of
/// 16), columns (of 16) and terms (of 16, of 8 in float32, of 32 in 8 bits), and are done by the 32 threads along threadIdx.x together.
/// The stage is a cache in registers; both operands are stages in shared memory. Whoever reads the result has the lane (row % 8) * 4 + column % 8 / 2 as
/// threadIdx.x: rows split by 8, columns by 4 and 2, the 8 and the 4 fused and bound.
/// Source: mma.sync of the PTX ISA; tensorize of TVM, Chen et al., OSDI 2018.
struct TensorizeStep {
  int stage = 0, iter = 0;
  static const PrimitiveOf<TensorizeStep>& primitive();
  friend bool operator==(const TensorizeStep&, const TensorizeStep&) = default;
};

/// Splits a loop as an earlier step split another: by its first `parts` - 1 lengths, and by the product of the others. So both keep equal pieces whatever the
/// lengths are. Source: `FollowSplitStep` of Ansor (Zheng et al., OSDI 2020).
struct FollowSplitStep {
  int stage = 0, iter = 0;
  int source = 0;  ///< a split among the steps before, by position
  int parts = 1;   ///< lengths; one more loop than that comes out
  static const PrimitiveOf<FollowSplitStep>& primitive();
  friend bool operator==(const FollowSplitStep&, const FollowSplitStep&) = default;
};
/// Splits a loop in two by the product of one length of each of some earlier splits: a copy by as many threads as tiles were bound to.
/// Source: `FollowFusedSplitStep` of Ansor (Zheng et al., OSDI 2020).
struct FollowFusedSplitStep {
  int stage = 0, iter = 0;
  std::vector<int> sources;  ///< splits among the steps before, by position
  int level = 0;             ///< which of their lengths, outer to inner
  bool from_inside = true;   ///< the product is the inner loop's extent; false: the outer's
  static const PrimitiveOf<FollowFusedSplitStep>& primitive();
  friend bool operator==(const FollowFusedSplitStep&, const FollowFusedSplitStep&) = default;
};
/// Writes out the innermost serial loops of a stage and of what is computed inside it, as far as that makes no more than `steps` stores of a loop; what of it
/// has a number of its own goes by that. The pass auto_unroll does it. Source: the pragma `auto_unroll_max_step` of TVM, as Ansor's `PragmaStep` has it.
struct AutoUnrollStep {
  int stage = 0;
  int64_t steps = 0;
  static const PrimitiveOf<AutoUnrollStep>& primitive();
  friend bool operator==(const AutoUnrollStep&, const AutoUnrollStep&) = default;
};

/// The table of primitives: one kind of step each, whose row (primitive.h) stands with its code in a file of primitives/.
using Step = std::variant<SplitStep, FuseStep, ReorderStep, AnnotationStep, ComputeAtStep, ComputeInlineStep, ComputeRootStep, CacheReadStep, CacheWriteStep,
                          LayoutStep, RfactorStep, StorageAlignStep, PadStep, DoubleBufferStep, WinogradStep, PipelineStep, TensorizeStep, Im2colStep, FollowSplitStep,
                          FollowFusedSplitStep, AutoUnrollStep>;

/// Steps in Ansor's JSON form, such as [["SP",2,0,64,[8,4],1]], on one line.
std::string json_text(const std::vector<Step>& steps);
/// The same as values.
Json to_json(const std::vector<Step>& steps);
Expected<Step> step_from_json(const Json& json);
Expected<std::vector<Step>> steps_from_json(const Json& json);

}  // namespace tw::schedule
