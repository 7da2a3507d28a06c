// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <span>

#include "engine/base/bounded_cache.h"
#include "engine/measure/inputs.h"
#include "engine/te/dag.h"

/// What outputs must be: values from te's interpreter, which no schedule, lowering or code generator can influence, and a tolerance.
namespace tw::measure {

/// Expected values of one output, of all its elements or of a sample.
struct ReferenceOutput {
  DType dtype;
  std::vector<int64_t> shape;
  bool all = false;                ///< `values` holds every element in order, `positions` is empty
  std::vector<int64_t> positions;  ///< row-major, ascending
  std::vector<double> values;
  double scale = 0;      ///< magnitude of a typical large value: the 90th percentile of |value|
  double tolerance = 0;  ///< on |got - want| / max(|want|, scale); 0 for integers
  bool has_nan = false;
};

struct Reference {
  std::vector<ReferenceOutput> outputs;
};

struct ReferenceOptions {
  int64_t full_flops = 2'000'000;  ///< up to this much work, every element is computed
  Magnitudes magnitudes = Magnitudes::even;
  bool tf32 = false;  ///< what is compared may have rounded products in float32 to TF32
  int samples = 96;   ///< otherwise this many of each output, at least 64: corners, first and last rows, the rest at random
};

/// Whether a stage is a convolution that schedules may compute by Winograd's algorithm: a 3x3 window, in planes or volumes.
bool may_be_winograd(const te::Op& op);
/// Error bound for one output: rounding errors of the longest chain of reductions that leads to it, in the least exact float type on the way.
/// Grows with the square root of the number of terms, as errors of random sign do; 0 if no float is involved. With `tf32`, sums of products of float32 may have
/// rounded both operands of each product to TF32.
double output_tolerance(const te::Dag& dag, int output, bool tf32 = false);
/// `count` different positions (or all, if there are no more) in ascending order.
std::vector<int64_t> sample_positions(const std::vector<int64_t>& shape, int count, uint64_t seed);
/// Interprets the dag on make_inputs(dag, seed, options.magnitudes). Errors: those of the interpreter.
Expected<Reference> make_reference(const te::Dag& dag, uint64_t seed, const ReferenceOptions& options = {});

/// Result of a comparison. Errors are relative to max(|want|, scale); infinite where exactly one side is NaN or the infinities differ.
struct Comparison {
  bool equal = true;  ///< within tolerance everywhere
  double max_rel_error = 0;
  int64_t at = -1;           ///< row-major position of the largest error
  double got = 0, want = 0;  ///< there
};
Comparison compare(const ReferenceOutput& want, std::span<const double> got);

/// References by task and seed, 256 MiB of them: a session that goes from task to task computes each once. Not thread-safe.
class ReferenceCache {
 public:
  Expected<std::shared_ptr<const Reference>> get(const std::string& task_key, const te::Dag& dag, uint64_t seed, Magnitudes magnitudes, bool tf32 = false);

 private:
  BoundedCache<std::shared_ptr<const Reference>> references_{int64_t{256} << 20};
};

}  // namespace tw::measure
