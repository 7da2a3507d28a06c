// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>
#include <unordered_set>

#include "engine/base/json.h"
#include "engine/tune/strategies/strategies.h"
#include "engine/tune/valid_points.h"

namespace tw::tune {
namespace {

/// A shuffle of [0, size) that is dealt card by card and stores only the cards that moved.
/// Source: Fisher and Yates, 1938; Durstenfeld, CACM 1964.
class SparseShuffle {
 public:
  SparseShuffle(int64_t size, Rng rng) : left_(size), rng_(rng) {}

  int64_t left() const { return left_; }
  int64_t deal() {
    const int64_t place = rng_.range(0, left_ - 1);
    --left_;
    const int64_t card = at(place);
    moved_[place] = at(left_);
    moved_.erase(left_);
    return card;
  }

 private:
  int64_t at(int64_t place) const {
    const auto found = moved_.find(place);
    return found == moved_.end() ? place : found->second;
  }

  int64_t left_;
  Rng rng_;
  std::unordered_map<int64_t, int64_t> moved_;
};

class Random : public PointSearch {
 public:
  Random(const space::ConfigSpace& space, Rng rng) : space_(space), shuffle_(space.num_points(), rng) {}

  std::vector<int64_t> propose(int n) override {
    return fresh_points(space_, n, observed_, [this]() -> std::optional<int64_t> {
      if (shuffle_.left() == 0) return std::nullopt;
      return space_.point(shuffle_.deal());
    });
  }

  void observe(std::span<const Observation> results) override {
    for (const Observation& o : results) observed_.insert(o.index);
  }

 private:
  const space::ConfigSpace& space_;
  SparseShuffle shuffle_;
  std::unordered_set<int64_t> observed_;
};

std::unique_ptr<PointSearch> make_random(const PointSearchInput& in) { return std::make_unique<Random>(in.space, in.rng); }

}  // namespace

StrategyDef random_strategy() {
  return {"random",
          {},
          nullptr,
          make_random,
          "Draws points uniformly and never the same one twice. It learns nothing, needs no model and has no parameters, and with a modest budget it is hard "
          "to beat on small spaces: whatever claims to search well should be compared with it under the same budget.",
          "Bergstra and Bengio, \"Random search for hyper-parameter optimization\", JMLR 2012"};
}

}  // namespace tw::tune
