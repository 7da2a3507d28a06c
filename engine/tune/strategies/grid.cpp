// SPDX-License-Identifier: Apache-2.0
#include <unordered_set>

#include "engine/base/json.h"
#include "engine/tune/strategies/strategies.h"
#include "engine/tune/valid_points.h"

namespace tw::tune {
namespace {

class Grid : public PointSearch {
 public:
  Grid(const space::ConfigSpace& space, int64_t offset) : space_(space) {
    while (next_ < space_.num_points() && space_.point(next_) < offset) next_ = space_.is_restricted() ? next_ + 1 : offset;
  }

  std::vector<int64_t> propose(int n) override {
    return fresh_points(space_, n, observed_, [this]() -> std::optional<int64_t> {
      if (next_ >= space_.num_points()) return std::nullopt;
      return space_.point(next_++);
    });
  }

  void observe(std::span<const Observation> results) override {
    for (const Observation& o : results) observed_.insert(o.index);
  }

 private:
  const space::ConfigSpace& space_;
  int64_t next_ = 0;  ///< among the space's points
  std::unordered_set<int64_t> observed_;
};

std::unique_ptr<PointSearch> make_grid(const PointSearchInput& in) { return std::make_unique<Grid>(in.space, in.params.at("offset").get<int64_t>()); }

}  // namespace

StrategyDef grid_strategy() {
  const Param offset = number_param("offset", Param::Kind::integer, 0, "index of the first point", 0, 9e18);
  return {"grid",
          {offset},
          nullptr,
          make_grid,
          "Walks the space by index, so the knob that was defined first changes with every trial. It covers small spaces completely; of a large space a "
          "short run sees only what differs in the first knobs, which makes it the baseline that every other tuner should beat.",
          "Exhaustive search; the order is that of AutoTVM's GridSearchTuner (Chen et al., NeurIPS 2018)"};
}

}  // namespace tw::tune
