// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/base/rng.h"
#include "engine/schedule/schedule.h"

/// What is known of each kind of step. All of a kind stands in its file of primitives/: code, arguments in JSON, check and rewriting, words, explanation; the
/// table is the list of kinds in step.h, and whatever speaks of all kinds walks along it.
namespace tw::schedule {

/// A word that lines of print_steps() begin with, and what the workbench says of it.
struct StepWord {
  const char* word;
  const char* help;    ///< one paragraph
  const char* source;  ///< paper or system it goes back to
};

/// For arguments drawn at random; many are illegal, which is the point.
struct Draw {
  const Schedule& schedule;
  Rng& rng;
  int stage;  ///< one of the schedule's

  const Stage& at() const { return schedule.stages()[static_cast<size_t>(stage)]; }
  size_t stages() const { return schedule.stages().size(); }
  /// Below n; 0 of nothing.
  int below(size_t n) const { return static_cast<int>(rng.uniform(n ? n : 1)); }
  int loop() const { return below(at().iters.size()); }
  const char* scope() const;
  /// The number of a step so far, mostly of a split where there is one.
  int split() const;
  /// Mostly one that is computed inside a loop, where there is one.
  int inner_stage() const;
};

/// What is known of a kind of step without its arguments.
struct Primitive {
  const char* code;             ///< first word of its JSON: Ansor's, or ours where Ansor has none
  std::vector<StepWord> words;  ///< its name first
  Step (*random)(const Draw&);
  int share = 1;  ///< how often it is drawn among random steps
  /// Whether all that steps of this kind made of a schedule is legal still, as later steps can break it. Scopes are resolved. Errors: illegal_schedule.
  Expected<void> (*check)(const State&) = nullptr;
};
/// In the order of the alternatives of Step.
const std::vector<const Primitive*>& primitives();
const StepWord& word_of(const Step& step);

/// Checks a step, then changes the state.
/// Errors: illegal_schedule where the stage's form forbids it, invalid_argument for an index out of range.
Expected<void> apply(State& s, const Step& step);
/// The step in words, with the names that stages and loops have before it.
std::string describe(const Step& step, const Schedule& before);
/// Every Primitive::check.
Expected<void> check(const State& s);

/// Writes the arguments of a step behind its code: numbers, words and lists of them.
class StepWriter {
 public:
  explicit StepWriter(std::string& out) : out_(out) {}
  template <class... Fields>
  void operator()(const Fields&... fields);

 private:
  std::string& out_;
};

/// Reads them back, one after the other. Throws Json's exceptions at what is of another type or missing.
class StepReader {
 public:
  explicit StepReader(const Json& json) : json_(json) {}
  bool more() const;
  /// Whether null stands there; if so it is passed over.
  bool null();
  void operator()(int& value);
  void operator()(int64_t& value);
  void operator()(std::string& value);
  void operator()(std::vector<int>& value);
  void operator()(std::vector<int64_t>& value);
  void operator()(std::vector<std::vector<int64_t>>& value);

 private:
  const Json& next();

  const Json& json_;
  size_t at_ = 1;
};

/// Names of stages and loops as they are before a step.
class Names {
 public:
  explicit Names(std::span<const Stage> stages) : stages_(stages) {}
  const std::string& stage(int i) const { return stages_[static_cast<size_t>(i)].op.name; }
  const std::string& loop(int stage, int i) const { return stages_[static_cast<size_t>(stage)].iters[static_cast<size_t>(i)].var->name; }
  std::vector<std::string> loops(int stage, const std::vector<int>& list) const;

 private:
  std::span<const Stage> stages_;
};

/// How the arguments of steps S stand in JSON.
template <class S>
struct StepJson {
  void (*write)(StepWriter&, const S&);
  Expected<S> (*read)(StepReader&);
};

/// What is known of steps S.
template <class S>
struct PrimitiveOf {
  Primitive about;
  StepJson<S> json;
  Expected<void> (*apply)(State&, const S&);
  std::string (*describe)(const S&, const Names&);
  size_t (*word)(const S&) = nullptr;  ///< which of the words; null: the first
};

}  // namespace tw::schedule
