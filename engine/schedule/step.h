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

enum class Annotation : uint8_t { none = 0, unroll = 1, vectorize = 2, parallel = 3 };  ///< numbers as in Ansor's records

/// Rewrite: for i<n { S(i) }  =>  for o<ceil(n/f) { for j<f { if o*f+j<n { S(o*f+j) } } }; several lengths nest.
struct SplitStep {
  int stage = 0, iter = 0;
  int64_t extent = 0;               ///< of the iterator when the step was written; informative
  std::vector<int64_t> lengths;     ///< extents of the new inner loops, outer to inner; the outermost is derived
  friend bool operator==(const SplitStep&, const SplitStep&) = default;
};
/// Rewrite: for i<n { for j<m { S(i,j) } }  =>  for k<n*m { S(k // m, k % m) }
struct FuseStep {
  int stage = 0;
  std::vector<int> iters;  ///< adjacent, ascending
  friend bool operator==(const FuseStep&, const FuseStep&) = default;
};
struct ReorderStep {
  int stage = 0;
  std::vector<int> order;  ///< permutation of all iterators: position -> old index
  friend bool operator==(const ReorderStep&, const ReorderStep&) = default;
};
struct AnnotationStep {
  int stage = 0, iter = 0;
  Annotation annotation = Annotation::none;
  friend bool operator==(const AnnotationStep&, const AnnotationStep&) = default;
};
/// Computes a stage inside a loop of its consumer, only the region needed there.
struct ComputeAtStep {
  int stage = 0, target_stage = 0, target_iter = 0;
  friend bool operator==(const ComputeAtStep&, const ComputeAtStep&) = default;
};
/// Replaces every read of a stage by its body.
struct ComputeInlineStep {
  int stage = 0;
  friend bool operator==(const ComputeInlineStep&, const ComputeInlineStep&) = default;
};
struct ComputeRootStep {
  int stage = 0;
  friend bool operator==(const ComputeRootStep&, const ComputeRootStep&) = default;
};
/// Inserts a copy of `stage` after it; the readers read the copy. Later stages move up by one.
struct CacheReadStep {
  int stage = 0;
  std::string scope;  ///< "local" or "global"
  std::vector<int> readers;
  friend bool operator==(const CacheReadStep&, const CacheReadStep&) = default;
};
/// Inserts a stage before `stage` that computes its body into a cache; `stage` becomes the copy out and moves up by one.
struct CacheWriteStep {
  int stage = 0;
  std::string scope;
  friend bool operator==(const CacheWriteStep&, const CacheWriteStep&) = default;
};
/// Physical layout of a stage's array. Each physical dimension, outermost first, is a piece of a logical one:
/// the last piece (innermost) of `dim` counts fastest; factor 0 is the outermost piece, rounded up (padded elements are zero in constants).
/// Example: [O, I, H, W] -> [O/16][I/16][H][W][16 i][16 o] is {(0,0),(1,0),(2,0),(3,0),(1,16),(0,16)}.
/// On a placeholder the caller must supply the array in this layout; on an output the caller receives it so.
struct LayoutStep {
  struct Piece {
    int dim = 0;
    int64_t factor = 0;
    friend bool operator==(const Piece&, const Piece&) = default;
  };
  int stage = 0;
  std::vector<Piece> pieces;
  friend bool operator==(const LayoutStep&, const LayoutStep&) = default;
};

using Step = std::variant<SplitStep, FuseStep, ReorderStep, AnnotationStep, ComputeAtStep, ComputeInlineStep, ComputeRootStep, CacheReadStep, CacheWriteStep, LayoutStep>;

/// One row of the table of primitives: what the workbench and the documentation say about each.
struct Primitive {
  const char* name;
  const char* code;     ///< Ansor's step code; "LT" (layout) is ours
  const char* summary;  ///< one paragraph
  const char* source;
};
const std::vector<Primitive>& primitives();

/// Ansor's JSON form, such as ["SP", 2, 0, 64, [8, 4], 1].
Json to_json(const Step& step);
Json to_json(const std::vector<Step>& steps);
Expected<Step> step_from_json(const Json& json);
Expected<std::vector<Step>> steps_from_json(const Json& json);

}  // namespace tw::schedule
