// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "engine/base/worker_pool.h"
#include "engine/cost/features/features.h"
#include "engine/records/task.h"
#include "engine/space/sketch/mutate.h"
#include "engine/space/sketch/program.h"
#include "engine/space/template.h"

namespace tw::tune {

/// A schedule in a search that breeds. Where a program says all that lowering would, its steps are not replayed before it is chosen.
struct Member {
  std::shared_ptr<const std::vector<schedule::Step>> steps;
  std::shared_ptr<const space::Program> program;  ///< of its structure; null: it has none that speaks of its numbers
  bool exact = false;                             ///< whether that says all that lowering would
  bool packs = false;  ///< constants are laid out as its loops walk them: drawn from a sketch or bred; the layout of a template or rule fits its own numbers
  std::string sketch;     ///< what it or its first ancestor was drawn from
  uint64_t identity = 0;  ///< of its structure and numbers: equal steps have equal ones; what other steps make the same is told apart by schedule::fingerprint
  float score = 0;        ///< higher is better
  const char* made_by = "";  ///< the mutation that it comes from, or how it was found at first
};

/// What breeding did, for people.
struct Breeding {
  struct Generation {
    int64_t members = 0, fresh = 0;  ///< that could be scored, and of those the ones that had not been met before
    float best = 0, median = 0;      ///< scores
  };
  struct Mutation {
    int64_t tried = 0, legal = 0;
  };
  std::vector<Generation> generations;        ///< the first is what breeding began with
  std::map<std::string, Mutation> mutations;  ///< by name
};

struct BreedOptions {
  int population = 512;
  int generations = 4;
  double mutation = 0.85;  ///< share of children that are changed
  double crossover = 0;    ///< of those, share that two parents have
};

/// Draws schedules of sketches, breeds them, and knows their features. The same seed gives the same members, however many workers there are.
class Population {
 public:
  /// What is given outlives it.
  Population(const records::Task& task, std::span<const space::Sketch> sketches, const space::DrawOptions& annotate, WorkerPool& workers, StopToken stop)
      : task_(task), sketches_(sketches), annotate_(annotate), workers_(workers), stop_(std::move(stop)) {}

  /// Random schedules, each once, from `attempts` draws; those that the target does not allow are left out. With `templates`, half of the draws are points of
  /// the templates that match the task.
  std::vector<Member> draw(int attempts, bool templates, Rng& rng);
  /// A schedule that is known. Null steps: they do not apply.
  Member known(const std::vector<schedule::Step>& steps, std::string sketch) const;

  /// Scores members; the lowest float for what cannot be.
  using Score = std::function<void(std::span<Member> members)>;
  /// Breeds from `first` and returns up to `count` of the best that were met and are not in `taken`, best first. Parents are drawn in proportion to their scores.
  /// Source: evolutionary search of Ansor (Zheng et al., OSDI 2020), in the form of TVM 0.9.
  std::vector<Member> evolve(std::vector<Member> first, size_t count, const BreedOptions& options, const Score& score,
                             const std::unordered_set<uint64_t>& taken, Rng& rng);
  /// Of the last call of evolve().
  const Breeding& breeding() const { return breeding_; }

  /// What a member is measured as: on processors, constants of what was drawn from a sketch or bred are laid out as they are read. Errors: as of a replay.
  Expected<schedule::Schedule> schedule_of(const Member& m) const;

  /// What the features say of members, one after the other; null for those that cannot be lowered. Valid until the next call.
  std::vector<const cost::FeatureRows*> rows(const cost::FeatureDef& feature, std::span<const Member> members);

 private:
  /// `replayed`: the same steps, where they have been applied already.
  std::optional<Member> checked(std::vector<schedule::Step> steps, std::string sketch, const schedule::Schedule* replayed = nullptr) const;
  std::optional<Member> checked(const Expected<schedule::Schedule>& s, std::string sketch) const;
  /// That of a structure, made once. Null: its steps do not apply.
  std::shared_ptr<const space::Program> program_of(uint64_t structure, const std::vector<schedule::Step>& steps) const;
  Expected<cost::FeatureRows> extracted(const cost::FeatureDef& feature, const Member& m) const;
  /// One of a member; nothing where it cannot be. `by`: the mutation that was tried.
  std::optional<Member> child(const Member& first, const std::function<const Member&()>& second, const BreedOptions& options, Rng& rng, const char*& by) const;
  /// `count` children; the parents' scores are known.
  std::vector<Member> children(std::span<const Member> parents, const BreedOptions& options, Rng& rng);

  const records::Task& task_;
  std::span<const space::Sketch> sketches_;
  space::DrawOptions annotate_;
  WorkerPool& workers_;
  StopToken stop_;
  std::optional<std::vector<std::pair<const space::Template*, space::ConfigSpace>>> spaces_;  ///< of the templates, once they were asked for
  mutable std::mutex programs_mutex_;
  mutable std::unordered_map<uint64_t, std::shared_ptr<const space::Program>> programs_;  ///< by structure
  Breeding breeding_;
  /// By identity; without values for what cannot be lowered.
  std::map<const cost::FeatureDef*, std::unordered_map<uint64_t, cost::FeatureRows>> features_;
};

}  // namespace tw::tune
