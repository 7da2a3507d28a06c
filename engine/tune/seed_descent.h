// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <unordered_set>

#include "engine/base/worker_pool.h"
#include "engine/cost/cost_model.h"
#include "engine/cost/descent_program.h"
#include "engine/records/task.h"
#include "engine/space/sketch/exponents.h"

/// Seeds in the space of exponents that go down the slope of a model's prediction, as Felix's do.
/// Source: Zhao et al., "Felix: optimizing tensor programs with gradient descent", ASPLOS 2024, with the defaults of its release. Other than there, no exponent goes further beyond its bounds than half a power, Adam begins anew with the seeds of each round, a
/// seed whose derivatives are no numbers is drawn anew, what is measured once is never proposed again, scores stay with their candidates, and limits are checked by integers.
namespace tw::tune {

/// An open schedule with all that a descent asks of it.
struct DescentSketch {
  std::string name;  ///< such as "sketch 1"
  cost::DescentProgram program;
  space::ExponentSpace space;
  space::Program exact;
  uint64_t structure;  ///< of its steps

  /// Errors: why it is none for a descent, as of open_schedule and DescentProgram::make.
  static Expected<DescentSketch> make(const space::Sketch& sketch, std::string name, const Target& target, const space::DrawOptions& options);
  /// The same of any schedule, such as the one that a task has untuned. Errors: not_applicable too, where regions do not follow from its numbers.
  static Expected<DescentSketch> make(space::OpenSchedule open, std::string name, const Target& target, const space::DrawOptions& options);

  /// Of a candidate with these numbers, as Member::identity is.
  uint64_t identity(std::span<const int64_t> numbers) const;
  /// What the model sees of whole exponents: features with smooth steps, as it does on the way.
  cost::FeatureRows rows(std::span<const int> exponents) const;
};

/// Those of a task, and why others are none.
struct DescentSketches {
  std::vector<DescentSketch> all;
  std::vector<std::pair<std::string, std::string>> left_out;  ///< name, reason
};
/// Its sketches, called by their numbers, and last what it runs with untuned, called `default`, unless a sketch has the same structure: that may be of none, but of a template's algorithm and layout.
DescentSketches descent_sketches(const records::Task& task, const space::SketchOptions& sketches, const space::DrawOptions& options);

struct DescentOptions {
  int seeds = 32;       ///< of each sketch
  double rate = 0.5;    ///< of Adam, in powers of primes
  double later = 0.2;   ///< of that, after `turn` of the steps
  double turn = 0.3;
  double penalty = 5;   ///< how many times the slope of the prediction that of broken limits weighs, seed by seed
};

/// A whole point of some seed's way that can be measured.
struct DescentCandidate {
  size_t sketch = 0;               ///< among the descent's
  std::vector<int> exponents = {};
  std::vector<int64_t> numbers = {};  ///< that they make, as they would be measured
  uint64_t identity = 0;
  cost::FeatureRows rows = {};
  float score = 0;  ///< of these rows; 0 without a model
  int seed = 0, step = 0;  ///< where it was met first
};

/// What a round did, for views: every seed's way and the objective on it. Points are numbered from 0, the seed as it was drawn, to `steps`.
struct DescentTrace {
  /// What became of the points when they were rounded.
  struct Rounding {
    int64_t points = 0;    ///< that are numbers
    int64_t different = 0;
    int64_t allowed = 0;   ///< of these, within the linear limits
    int64_t legal = 0;     ///< within the others too, and by the target's own rules
    int64_t fresh = 0;     ///< not measured yet
  };
  struct Sketch {
    std::string name;
    std::vector<std::string> variables;  ///< such as `C.3^2`: the stage and number, and the prime
    std::vector<int> most;               ///< of each
    size_t seeds = 0, steps = 0;
    std::vector<float> points;     ///< [steps + 1, seeds, variables]
    std::vector<float> scores;     ///< [steps + 1, seeds]: what the model predicts
    std::vector<float> penalties;  ///< [steps + 1, seeds]: sum of squares of what limits are exceeded by, as logarithms
    int64_t drawn_anew = 0;        ///< seeds whose derivatives were no numbers
    Rounding rounding;
  };
  std::vector<Sketch> sketches;
};

/// The descent of one task. Deterministic: the same seed and model give the same candidates, however many workers there are.
class SeedDescent {
 public:
  /// What a model says of rows, and how that changes with them; called by several threads.
  using Slopes = std::function<Expected<cost::CostModel::Slopes>(const cost::FeatureMatrix& x)>;

  SeedDescent(const Target& target, std::vector<DescentSketch> sketches, const DescentOptions& options) : target_(target), sketches_(std::move(sketches)), options_(options) {}

  std::span<const DescentSketch> sketches() const { return sketches_; }

  /// Seeds of every sketch go `steps` steps, drawn ones beside those of `begin`, which has points of each sketch or nothing at all. All points on their ways are candidates, those of all sketches in one list: rounded, allowed by integers, each once and not in `taken`, best first,
  /// equal scores by sketch and exponents. Errors: of the model.
  Expected<std::vector<DescentCandidate>> descend(const Slopes& model, int steps, std::span<const std::vector<std::vector<double>>> begin, const std::unordered_set<uint64_t>& taken, Rng& rng,
                                                  WorkerPool& workers, const StopToken& stop, DescentTrace* trace = nullptr) const;
  /// The seeds alone, for want of a model: up to `count`, in the order in which they are drawn, sketch by turns.
  std::vector<DescentCandidate> draw(size_t count, const std::unordered_set<uint64_t>& taken, Rng& rng) const;

 private:
  struct Way;
  Expected<void> walk(const DescentSketch& sketch, const Slopes& model, int steps, std::span<const std::vector<double>> begin, Rng rng, Way& way, const StopToken& stop) const;
  /// Of points, those that can be measured; without scores.
  std::vector<DescentCandidate> rounded(size_t sketch, std::span<const double> points, size_t seeds, const std::unordered_set<uint64_t>& taken, DescentTrace::Rounding& told) const;

  const Target& target_;
  std::vector<DescentSketch> sketches_;
  DescentOptions options_;
};

}  // namespace tw::tune
