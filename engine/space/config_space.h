// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/expected.h"
#include "engine/base/json.h"

/// AutoTVM's configuration spaces: enumeration order and index mapping are exactly AutoTVM 0.9's.
/// Source: Chen et al., "Learning to optimize tensor programs", NeurIPS 2018.
namespace tw::space {

enum class KnobKind : uint8_t { split, reorder, annotate, other };

/// "sp", "re", "an" or "ot", as in AutoTVM's JSON lines.
const char* knob_kind_code(KnobKind kind);

/// One candidate value of a knob.
struct KnobValue {
  std::vector<int64_t> split;         ///< KnobKind::split: factors, outer to inner; the first may be -1 (derived) as in AutoTVM
  std::vector<int> reorder;           ///< KnobKind::reorder: permutation
  std::vector<std::string> annotate;  ///< KnobKind::annotate: one word per axis; axis numbers for policy "locate_cache"
  Json other;
  friend bool operator==(const KnobValue&, const KnobValue&) = default;
};

struct Knob {
  std::string name;
  KnobKind kind = KnobKind::other;
  std::vector<KnobValue> candidates;
  int64_t extent = 0;  ///< split: the axis' length
  std::string help;    ///< one line for the workbench
  std::vector<std::string> axes = {};  ///< reorder and annotate: what the positions of a value stand for; empty if the template does not say
};

struct SplitOptions {
  int num_outputs = 2;
  std::string policy = "factors";  ///< "factors", "power2", "verbose", "candidate"
  int64_t max_factor = INT64_MAX;
  std::optional<bool> no_tail;                              ///< keeps only factors whose product divides the extent; by default true for "factors" alone
  std::vector<std::vector<int64_t>> candidates;             ///< policy "candidate"
  std::function<bool(const std::vector<int64_t>&)> filter;  ///< keeps a candidate; its first factor is -1 unless the policy is "candidate"
  std::string help;
};

struct ReorderOptions {
  std::string policy = "identity";                          ///< "identity", "all", "interval_all", "candidate", "interleave", "interleave_cuda"
  std::vector<std::vector<int>> candidates = {};            ///< policy "candidate": permutations
  int begin = 0, end = 0;                                   ///< policy "interval_all": the axes [begin, end) are permuted
  std::vector<std::vector<int>> spatial = {}, reduce = {};  ///< policies "interleave*": chains of axes, each from outer to inner
  std::vector<std::string> axes = {};                       ///< their names
  std::string help = {};
};

struct AnnotateOptions {
  /// "bind_gpu", "bind_gpu_virtual", "locate_cache", "candidate", or words joined by "_" out of try (same as none), none, unroll and vec.
  std::string policy = "try_unroll_vec";
  std::vector<std::vector<std::string>> candidates = {};  ///< policy "candidate": one word per axis
  int num_anchor = 1;                                     ///< policy "locate_cache": axes chosen together
  std::vector<std::string> axes = {};                     ///< their names
  std::string help = {};
};

/// Appends a knob's entry of an "entity" list: ["tile_x","sp",[-1,8]].
void append_knob(std::string& out, const std::string& name, KnobKind kind, const KnobValue& value);

class ConfigSpace;

/// A point of a space.
class ConfigEntity {
 public:
  int64_t index() const { return index_; }
  const std::vector<int64_t>& split(const std::string& knob) const;  ///< factors with -1 resolved
  const std::vector<int>& reorder(const std::string& knob) const;
  const std::vector<std::string>& annotate(const std::string& knob) const;
  const Json& other(const std::string& knob) const;
  int64_t integer(const std::string& knob) const { return other(knob).get<int64_t>(); }
  const KnobValue& value(const std::string& knob) const;
  /// Text as AutoTVM prints it: `[('tile_x', [-1, 8]), ('unroll', True)],None,17`.
  std::string text() const;
  /// The "entity" list of AutoTVM's JSON lines, on one line: [["tile_x","sp",[-1,8]],...].
  std::string json_text() const;

 private:
  friend class ConfigSpace;
  int64_t index_ = -1;
  std::vector<std::pair<std::string, std::pair<KnobKind, KnobValue>>> values_;
  std::map<std::string, std::vector<int64_t>> resolved_splits_;
};

/// The product of its knobs. The first knob defined varies fastest. Defining a name again replaces its candidates and keeps its place.
/// A filter that rejects every candidate of a knob leaves an empty space (size 0). Bad policies and counts are bugs of the template: assertions.
class ConfigSpace {
 public:
  void define_split(const std::string& name, int64_t extent, const SplitOptions& options);
  void define_reorder(const std::string& name, int num_axes, const std::string& policy, const std::vector<std::vector<int>>& candidates = {});
  void define_reorder(const std::string& name, int num_axes, const ReorderOptions& options);
  void define_annotate(const std::string& name, int num_axes, const std::string& policy, const std::vector<std::vector<std::string>>& candidates = {});
  void define_annotate(const std::string& name, int num_axes, const AnnotateOptions& options);
  void define_knob(const std::string& name, std::vector<Json> candidates, std::string help = {});

  const std::vector<Knob>& knobs() const { return knobs_; }
  int64_t size() const;  ///< number of points, filtered ones included; at most 2^63 - 1 by assertion
  /// Errors: invalid_argument for an index outside [0, size).
  Expected<ConfigEntity> get(int64_t index) const;
  /// Position in each knob's candidate list, first knob first, and back.
  std::vector<int> knob_positions(int64_t index) const;
  int64_t index_of(const std::vector<int>& positions) const;
  /// The valid point with the highest score, the first of equals; index -1 if no point is valid. Looks at every point.
  ConfigEntity best_by(const std::function<double(const ConfigEntity&)>& score) const;
  /// Reads an AutoTVM "entity" list; the index is computed from it. The first factor of a split may be -1 or the real one. Errors: invalid_argument naming the
  /// knob whose value is not among its candidates.
  Expected<ConfigEntity> from_json(const Json& entity) const;
  /// The same for its text. Errors: parse_error too.
  Expected<ConfigEntity> from_json(const std::string& entity) const;
  /// Filter over several knobs: points for which it is false are invalid (they keep their index).
  void add_filter(std::function<bool(const ConfigEntity&)> keep, std::string reason);
  /// Leaves only these points, which are those that a search may find: others are filtered. `points` ascend.
  void keep_only(std::vector<int64_t> points, std::string reason);
  /// The points that are left to a search, in the order of their indices: all of the space unless keep_only() was called; filtered ones included.
  int64_t num_points() const { return kept_ ? static_cast<int64_t>(kept_->size()) : size(); }
  int64_t point(int64_t position) const { return kept_ ? (*kept_)[static_cast<size_t>(position)] : position; }
  bool is_restricted() const { return kept_.has_value(); }
  /// Why a point is invalid by filter, or empty.
  std::string filtered_reason(const ConfigEntity& e) const;

 private:
  void put(Knob knob);
  ConfigEntity entity_at(const std::vector<int>& positions) const;

  std::vector<Knob> knobs_;
  std::vector<std::pair<std::function<bool(const ConfigEntity&)>, std::string>> filters_;
  std::optional<std::vector<int64_t>> kept_;  ///< see keep_only()
  std::string why_kept_;
};

}  // namespace tw::space
