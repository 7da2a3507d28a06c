// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <unordered_set>

#include "engine/tune/strategy.h"

namespace tw::tune {

/// A search over numbered points as a strategy. Where several templates match a task, the space of each has a search of its own, and proposals are shared among
/// them; one that stays far behind another waits until that has nothing left. The point that a template's rule chooses comes first.
class SpaceSearch : public Strategy {
 public:
  SpaceSearch(const StrategyDef& def, const StrategyInput& input);

  std::vector<Proposal> propose(int n) override;
  void observe(std::span<const records::Record> records) override;
  void transfer(std::span<const PriorTask> prior) override;
  int64_t capacity() const override;
  std::vector<SearchedSpace> spaces() const override;

 private:
  /// The search of one template's space.
  struct Search {
    const space::Template* space_template;
    space::ConfigSpace space;
    std::unique_ptr<PointSearch> points = {};
    int64_t usable = 0;                     ///< points that may be found
    bool begun = false;                     ///< its rule's point was proposed
    std::unordered_set<int64_t> seen = {};  ///< points that it was told of
    int64_t trials = 0;
    double best_s;
  };

  /// The search that a record comes from, or null.
  Search* search_of(const records::Record& record);
  bool behind(const Search& search) const;
  void propose(Search& search, size_t count, std::vector<Proposal>& batch);

  const records::Task& task_;
  double best_s_;                ///< of all spaces and the default schedule
  std::deque<Search> searches_;  ///< searches refer to their spaces, so none moves
};

/// The templates whose spaces are searched: the named one, else those of our own that match; none where the task has none such.
std::vector<const space::Template*> searched_templates(const records::Task& task, const std::string& space);

}  // namespace tw::tune
