// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>

#include "engine/base/text.h"
#include "engine/graph/pass.h"
#include "engine/graph/passes/canonicalize.h"
#include "engine/graph/passes/channels_last.h"
#include "engine/graph/passes/combine_parallel_batch_matmul.h"
#include "engine/graph/passes/combine_parallel_conv2d.h"
#include "engine/graph/passes/combine_parallel_dense.h"
#include "engine/graph/passes/drop_dead_taps.h"
#include "engine/graph/passes/einsum_to_matmul.h"
#include "engine/graph/passes/eliminate_common_subexpr.h"
#include "engine/graph/passes/fold_constants.h"
#include "engine/graph/passes/fold_scale_axis.h"
#include "engine/graph/passes/fuse_attention.h"
#include "engine/graph/passes/fuse_operators.h"
#include "engine/graph/passes/fuse_transposes.h"
#include "engine/graph/passes/matmul_to_dense.h"
#include "engine/graph/passes/multiply_bytes.h"
#include "engine/graph/passes/remove_dead_nodes.h"
#include "engine/graph/passes/simplify_expressions.h"
#include "engine/graph/passes/simplify_inference.h"
#include "engine/graph/passes/sink_transposes.h"
#include "engine/graph/passes/widen_sums.h"

namespace tw::graph {

std::span<const Pass> passes() {
  static const std::array kPasses = {
      // First: every later pass has fewer forms to know.
      Pass{"canonicalize", canonicalize,
           "Gives equal computations one form: axes are counted from the front, constants stand second, comparisons point one way, subtracting or dividing by "
           "a constant becomes adding or multiplying, small powers become products.",
           "Canonicalisation as in MLIR (Lattner et al., CGO 2021) and Relay's CanonicalizeOps (TVM)"},
      // Before constants are folded: weights are transposed once and for all.
      Pass{"einsum_to_matmul", einsum_to_matmul,
           "Einstein sums of two operands that are products of matrices become such, with transpositions around them, so that everything that knows products "
           "knows them: layers with packed weights, attention, templates. Those of more operands take two at a time.",
           "Canonical matrix products, as XLA's dot decomposition does"},
      // Early: it makes the constant arithmetic that the folding passes work on.
      Pass{"simplify_inference", simplify_inference,
           "Replaces operators that training needs by what is left of them at inference: batch normalisation becomes one multiplication and one "
           "addition with constants, identities disappear.",
           "Relay's SimplifyInference (TVM)"},
      Pass{"fold_constants", fold_constants,
           "Computes every node whose operands are all constants now, with the reference interpreter, and stores the result as a constant.",
           "Constant folding; Relay's FoldConstant (TVM)"},
      // After constants are folded: weights must be constants to be cut.
      Pass{"drop_dead_taps", drop_dead_taps,
           "Convolutions lose the first and last rows and columns of their window that meet nothing but padding: of dilated ones whose taps lie farther apart than "
           "the image is wide, the centre is left.",
           "Dead code elimination"},
      // After constants are folded, which it turns, and before the rules make reshapes of transpositions of small images.
      Pass{"sink_transposes", sink_transposes,
           "Moves transpositions behind elementwise work, concatenations, reductions, padding and reshapes until they meet their opposites, as around every "
           "convolution of a network whose framework has channels last.",
           "Layout transformation as TVM's ConvertLayout and ONNX Runtime's transpose optimizer do it"},
      // After constants are folded, which the rules look for, and before equal nodes are, which become equal by simplification.
      Pass{"simplify_expressions", simplify_expressions,
           "Applies local rules until none fits: transpositions, reshapes, slices and casts that follow each other become one, those that do nothing go, "
           "constants of consecutive sums and products are computed ahead, negations cancel, normalisations spelled out in steps become one operator.",
           "Algebraic simplification; Relay's SimplifyExpr (TVM)"},
      // Before anything grows: equal nodes would be rewritten twice, and a value with two readers is treated differently from two equal ones.
      Pass{"eliminate_common_subexpr", eliminate_common_subexpr,
           "Nodes that apply the same operator with the same attributes to the same values compute the same: the first stands for all of them.",
           "Common subexpression elimination; Relay's EliminateCommonSubexpr (TVM)"},
      // After the rules, which know normalisations by their steps, and before products become layers, whose constants it widens.
      Pass{"widen_sums", widen_sums,
           "On processors, operators that add up numbers of 16 bits compute in float32 and round their result once: kernels would otherwise round after every "
           "addition, and processors have no fast arithmetic of 16 bits. On GPUs, where products of halves are added up in float32, this concerns sums before "
           "an operator's last step, as those of means and norms.",
           "Mixed precision as in Micikevicius et al., ICLR 2018: products of halves are summed up in single precision"},
      // After constants are folded: transposed or reshaped weights are constants by now.
      Pass{"matmul_to_dense", matmul_to_dense,
           "Turns products with a constant matrix into dense layers, whose weights are packed ahead of time, and lets what follows work on the flat "
           "matrix, so that biases, activations and residual additions fuse with the layer.",
           "Canonical matrix products, as XLA's dot decomposition does"},
      // After products are layers, and before scales are folded into weights that are whole numbers.
      Pass{"multiply_bytes", multiply_bytes,
           "On processors that add up products of bytes (VNNI), dense layers and convolutions of whole numbers from bytes and with weights that fit them compute "
           "with bytes, which memory then holds between layers; what a zero point adds follows from the sums of the weights.",
           "Jacob et al., Quantization and training of neural networks for efficient integer-arithmetic-only inference, CVPR 2018"},
      // After constants are folded: a scale must be a constant to be moved.
      Pass{"fold_scale_axis", fold_scale_axis,
           "Moves a multiplication by one factor per channel into the weights of the convolution or dense layer before it, or of the one after it, so "
           "that it costs nothing at run time. Additions on the way are scaled as well; ReLU lets positive factors through.",
           "Relay's FoldScaleAxis (TVM)"},
      // After scales are folded, which differ between siblings, and products are dense layers.
      Pass{"combine_parallel_conv2d", combine_parallel_conv2d,
           "Convolutions that read one tensor with equal windows become one with all their filters, if all that reads the results is data movement: the "
           "operand is read once and the kernel is larger.",
           "Relay's CombineParallelConv2D (TVM)", true},
      Pass{"combine_parallel_dense", combine_parallel_dense,
           "Dense layers that read one tensor, such as the projections of an attention to queries, keys and values, become one with all their weights; the "
           "slices of its result fuse with the data movement that follows.",
           "Relay's CombineParallelDense (TVM)"},
      Pass{"combine_parallel_batch_matmul", combine_parallel_batch_matmul,
           "Products of one operand with several constant stacks of matrices become one product.", "Relay's CombineParallelBatchMatmul (TVM)", true},
      // After everything that knows convolutions by their layout.
      Pass{"channels_last", channels_last,
           "Computes images with their channels last: convolutions and pools become those of [N, H, W, C], transpositions move behind the elementwise work "
           "between them, weights are turned ahead of time. Kernels are then the computations that Ansor's published records are of.",
           "Relay's ConvertLayout (TVM)", true},
      Pass{"remove_dead_nodes", remove_dead_nodes, "Removes nodes and constants that no output of the graph needs.", "Dead code elimination"},
      // Near the end: groups are numbers on nodes, which a later rewriting would lose.
      Pass{"fuse_operators", fuse_operators,
           "Groups operators that one kernel can compute: elementwise followers join the convolution, dense layer or reduction that feeds them, chains of "
           "data movement join each other. A value never leaves a group in the middle: groups grow along the post-dominator tree. A reshape whose dimensions "
           "cut across those before it stays out of kernels that compute by place: it is a view.",
           "Chen et al., TVM, OSDI 2018, section 3"},
      // After groups are numbered, which it joins.
      Pass{"fuse_attention", fuse_attention,
           "On processors, an attention becomes one kernel: products of queries and keys, softmax and the product with the values, a few queries at a time, so "
           "that the scores of all queries never lie in memory.",
           "Dao et al., FlashAttention, NeurIPS 2022; whole rows of scores fit a processor's caches, so no running maximum is needed"},
      Pass{"fuse_transposes", fuse_transposes,
           "On processors, a product whose second operand is transposed for it turns panels of it as it goes, instead of reading a transposed copy of the whole.",
           "Goto and van de Geijn, Anatomy of high-performance matrix multiplication, ACM TOMS 2008, section 5"},
  };
  return kPasses;
}

Expected<Graph> run_passes(Graph g, const Target& target, const PassHooks& hooks) {
  const auto lists = [](const std::vector<std::string>& names, const Pass& p) { return std::find(names.begin(), names.end(), p.name) != names.end(); };
  for (const auto* names : {&hooks.disabled, &hooks.enabled})
    for (const std::string& name : *names)
      if (std::none_of(passes().begin(), passes().end(), [&](const Pass& p) { return name == p.name; }))
        return Error(ErrorCode::invalid_argument, fmt::format("Expected the name of a graph pass, found '{}'", printable(name)));
  for (const Pass& pass : passes())
    if (*pass.needed && lists(hooks.disabled, pass))
      return Error(ErrorCode::invalid_argument, fmt::format("Expected a graph pass that may be left out, found '{}': {}", pass.name, pass.needed));
  for (const Pass& pass : passes()) {
    if (lists(hooks.disabled, pass) || (pass.optional && !lists(hooks.enabled, pass))) continue;
    if (hooks.stop.stop_requested()) return Error(ErrorCode::cancelled, "Stopped between two graph passes");
    const auto begin = std::chrono::steady_clock::now();
    TW_TRY(Graph next, pass.run(g, target));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (hooks.verify)
      if (auto ok = verify(next); !ok) return Error(ErrorCode::internal, fmt::format("Graph pass '{}' broke the graph: {}", pass.name, ok.error().text()));
    if (hooks.after) hooks.after(pass, g, next, seconds, print(g, 0) != print(next, 0));
    g = std::move(next);
  }
  return g;
}

}  // namespace tw::graph
