// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/schedule/loops.h"
#include "engine/te/attrs.h"

/// How stages read each other: what sketch rules are decided on. Looks at the stages as steps have rewritten them, so caches and partial sums are stages too.
/// Source: the access analysis of Ansor (Zheng et al., OSDI 2020), as TVM 0.9 has it.
namespace tw::space {

class Access {
 public:
  explicit Access(std::span<const schedule::Stage> stages);

  /// Whether inlining it can only save: it reads element by element in the order of its axes, chooses between no branches, and computes no exponentials. What
  /// reads nothing is.
  bool is_strictly_inlineable(int i) const;
  /// Whether elements of what it reads are used for many results, so that tiles pay: some array lacks an axis of a reducing stage, or two arrays lack axes.
  /// With `exact` two arrays are enough beside one that lacks none, as in Ansor; else a stage without a reduction must have no array of that kind.
  bool needs_tiling(int i, bool exact) const;

  /// Stages in whose loops it is read, and those that it reads in its own: inlined ones are looked through. Ascending.
  std::set<int> consumers(int i) const;
  std::set<int> producers(int i) const;
  /// Those that its body reads.
  const std::set<int>& direct_producers(int i) const { return reads_[at(i)]; }
  /// The only consumer; where several are computed in one stage's loops, that stage; else -1.
  int single_consumer(int i) const;

  /// First axes that all ways from a to b walk in step; 0 where there is no way.
  int common_outer(int a, int b) const;
  /// Whether each stage on the only way from a to b takes one element of the stage before for each of its own, at the same place.
  bool elementwise_match(int a, int b) const;

 private:
  /// All reads of one array by one stage.
  struct Reads {
    std::vector<std::vector<ir::Expr>> indices;
  };
  /// What reads at constant distances from axes are like.
  struct Simple {
    bool simple = true, missing = false, duplicated = false, same_order = true;
  };

  static size_t at(int i) { return static_cast<size_t>(i); }
  const schedule::Stage& stage(int i) const { return stages_[at(i)]; }
  const Reads& reads_of(int reader, int source) const { return read_[at(reader)].at(source); }
  Simple simple_reads(int reader, const std::vector<ir::Expr>& indices) const;
  Simple simple_reads(int reader, int source) const;
  /// First axes that one step of the way walks in step.
  int common_outer_of_pair(int source, int reader) const;
  std::optional<int> common_outer_of_ways(int a, int b) const;  ///< nothing if there is no way

  std::span<const schedule::Stage> stages_;
  std::vector<std::map<int, Reads>> read_;  ///< by reader, then source
  std::vector<std::set<int>> reads_, read_by_;
};

}  // namespace tw::space
