// SPDX-License-Identifier: Apache-2.0
#include "engine/api/network_selection.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "engine/base/assert.h"
#include "engine/base/text.h"

namespace tw::api {

namespace {

size_t count_of(const Variant& v) { return static_cast<size_t>(std::count(v.begin(), v.end(), true)); }

class Selector {
 public:
  Selector(size_t kernels, NetworkContest& contest, const SelectionOptions& options, const std::function<void(const std::string&)>& progress, StopToken stop)
      : contest_(contest), options_(options), progress_(progress), stop_(stop), rng_(options.seed), none_(kernels, false) {
    result_.standings.assign(kernels, Standing::no_gain_together);
    result_.kernels.resize(kernels);
    result_.taken = none_;
  }

  Expected<Selection> run() {
    if (none_.empty()) {
      TW_CHECK(measure_default());
      return std::move(result_);
    }
    TW_TRY(const Variant chosen, choose());
    if (count_of(chosen) > 0) {
      TW_CHECK(confirm(chosen));
    } else {
      result_.network = last_.network;
      result_.default_s = result_.tuned_s = last_.first_s;
    }
    if (result_.default_s == 0) TW_CHECK(measure_default());  // all that was tried is wrong
    return std::move(result_);
  }

  /// More processes follow while it is not sure which is faster.
  Expected<Comparison> against(const Variant& first, const Variant& second) {
    constexpr int kLooks = 3;
    constexpr double kTie = 0.005;  // between so close ends there is nothing to be found
    Evidence evidence;
    Comparison c;
    const int before = result_.launches;
    for (int look = 0; look < kLooks; ++look) {
      for (int i = 0; i < options_.launches && evidence.wrong.empty(); ++i) TW_CHECK(add_launch(first, second, evidence));
      c = judge(evidence);
      if (c.network.surely_faster() || c.network.surely_slower() || c.network.high - c.network.low < kTie || late()) break;
    }
    c.launches = result_.launches - before;
    return c;
  }

 private:
  /// What stays of a comparison from one process to the next.
  struct Evidence {
    std::vector<PairedRounds> network;
    std::vector<std::vector<PairedRounds>> kernels;
    std::vector<double> first_s, second_s;
    std::string wrong;
  };

  Expected<void> add_launch(const Variant& first, const Variant& second, Evidence& evidence) {
    if (stop_.stop_requested()) return Error(ErrorCode::cancelled, "Stopped while the network was measured");
    TW_TRY(const std::vector<VariantRuns> runs, contest_.launch({first, second}, options_.seed + static_cast<uint64_t>(result_.launches)));
    TW_ASSERT(runs.size() == 2, "as many variants as were asked for");
    ++result_.launches;
    evidence.wrong = runs[1].wrong;
    if (!evidence.wrong.empty()) return {};
    evidence.first_s.push_back(parts_time(runs[0].network));
    evidence.second_s.push_back(parts_time(runs[1].network));
    evidence.network.push_back({runs[0].network, runs[1].network});
    evidence.kernels.resize(none_.size());
    for (size_t k = 0; k < none_.size(); ++k) {
      const PartTimes &a = runs[0].kernels[k], &b = runs[1].kernels[k];
      if (a.empty() || b.empty() || !(parts_time(a) > 0)) continue;  // below what the clock can tell
      evidence.kernels[k].push_back({a, b});
    }
    return {};
  }

  Comparison judge(const Evidence& evidence) {
    Comparison c;
    c.wrong = evidence.wrong;
    c.kernels.resize(none_.size());
    if (!c.wrong.empty()) {
      constexpr double kNever = std::numeric_limits<double>::infinity();
      c.network = {kNever, kNever, kNever};
      return c;
    }
    c.network = paired_ratio(evidence.network, rng_);
    c.first_s = median_of(evidence.first_s);
    c.second_s = median_of(evidence.second_s);
    for (size_t k = 0; k < none_.size(); ++k)
      if (!evidence.kernels[k].empty()) c.kernels[k] = paired_ratio(evidence.kernels[k], rng_);
    return c;
  }

  Expected<Comparison> compare(const Variant& first, const Variant& second) {
    tried_.push_back(second);
    say(fmt::format("Comparing {} of {} kernels with {} in the network", count_of(second), none_.size(), count_of(first) == 0 ? "none" : "those taken"));
    return against(first, second);
  }

  /// Kernels of the variant that seem faster in place, most first. The others are given their standing.
  std::vector<size_t> gaining(const Variant& variant, const Comparison& c) {
    std::vector<size_t> order;
    for (size_t k = 0; k < none_.size(); ++k) {
      if (!variant[k]) continue;
      result_.kernels[k] = c.kernels[k];
      if (!c.wrong.empty() || c.kernels[k].ratio < 1) {
        order.push_back(k);
      } else {
        result_.standings[k] = c.kernels[k].surely_slower() ? Standing::slower_in_place : Standing::no_gain_in_place;
      }
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return c.kernels[a].ratio < c.kernels[b].ratio; });
    return order;
  }

  Variant with(Variant base, std::span<const size_t> more) const {
    for (const size_t k : more) base[k] = true;
    return base;
  }

  Expected<Variant> choose() {
    const Variant all(none_.size(), true);
    TW_TRY(const Comparison whole, compare(none_, all));
    last_ = whole;
    std::vector<size_t> group = gaining(all, whole);
    // Without some of them the others stand beside other neighbours and layouts.
    for (Variant rest = with(none_, group); !group.empty() && rest != tried_.back() && !late(); rest = with(none_, group)) {
      TW_TRY(last_, compare(none_, rest));
      group = gaining(rest, last_);
    }
    const Variant rest = tried_.back();
    // What does not gain itself may still make its neighbours faster.
    const bool better_whole = whole.network.surely_faster() && (!last_.network.surely_faster() || whole.network.high < last_.network.low);
    if (better_whole) return all;
    if (holds(last_, rest)) return rest;
    const Variant sure = surely_gaining(last_, rest);
    if (count_of(sure) > 0 && count_of(sure) < count_of(rest) && !late()) {
      TW_TRY(last_, compare(none_, sure));
      if (holds(last_, sure)) return sure;
    }
    return halves(none_, group);
  }

  /// Those of a variant that are surely faster in their places.
  Variant surely_gaining(const Comparison& c, const Variant& variant) const {
    Variant sure = none_;
    for (size_t k = 0; k < sure.size(); ++k) sure[k] = variant[k] && c.wrong.empty() && c.kernels[k].surely_faster();
    return sure;
  }
  /// Whether what was added is worth taking: the network shows it; or each of them does, and the network does not deny it.
  bool holds(const Comparison& c, const Variant& added) const {
    return c.network.surely_faster() || (c.wrong.empty() && !c.network.surely_slower() && count_of(added) > 0 && surely_gaining(c, added) == added);
  }

  /// `base` with what of `group` makes it surely faster; the group as a whole does not.
  Expected<Variant> halves(Variant base, std::span<const size_t> group) {
    if (group.size() < 2) {
      if (!last_.wrong.empty())
        for (const size_t k : group) result_.standings[k] = Standing::wrong_in_place;
      return base;
    }
    const size_t middle = group.size() / 2;
    for (const std::span<const size_t> half : {group.first(middle), group.subspan(middle)}) {
      if (late()) break;
      Variant more = with(base, half);
      TW_TRY(last_, compare(base, more));
      if (holds(last_, with(none_, half))) {
        base = std::move(more);
      } else {
        TW_TRY(base, halves(std::move(base), half));
      }
    }
    return base;
  }

  Expected<void> confirm(const Variant& chosen) {
    say("Confirming what was chosen, in fresh processes");
    Evidence evidence;
    for (int i = 0; i < options_.confirming && evidence.wrong.empty(); ++i) TW_CHECK(add_launch(none_, chosen, evidence));
    last_ = judge(evidence);
    const bool taken = holds(last_, chosen);
    result_.network = last_.network;
    result_.default_s = last_.first_s;
    result_.tuned_s = taken ? last_.second_s : last_.first_s;
    for (size_t k = 0; k < none_.size(); ++k) {
      if (!chosen[k]) continue;
      if (last_.wrong.empty()) result_.kernels[k] = last_.kernels[k];
      result_.standings[k] = taken ? Standing::taken : Standing::no_gain_together;
    }
    if (taken) result_.taken = chosen;
    // What was lucky before goes, and with it what made the network's gain unsure.
    const Variant sure = surely_gaining(last_, chosen);
    return taken || count_of(sure) == 0 || count_of(sure) == count_of(chosen) ? Expected<void>() : confirm(sure);
  }

  /// There is nothing to choose from.
  Expected<void> measure_default() {
    say("Running the network");
    std::vector<double> seconds;
    for (int i = 0; i < options_.launches; ++i) {
      if (stop_.stop_requested()) return Error(ErrorCode::cancelled, "Stopped while the network was measured");
      TW_TRY(const std::vector<VariantRuns> runs, contest_.launch({none_}, options_.seed + static_cast<uint64_t>(i)));
      ++result_.launches;
      seconds.push_back(parts_time(runs[0].network));
    }
    result_.default_s = result_.tuned_s = median_of(seconds);
    return {};
  }

  bool late() const { return std::chrono::steady_clock::now() - begin_ >= std::chrono::duration<double>(options_.time_s); }
  void say(const std::string& text) const {
    if (progress_) progress_(text);
  }

  NetworkContest& contest_;
  const SelectionOptions& options_;
  const std::function<void(const std::string&)>& progress_;
  StopToken stop_;
  Rng rng_;
  const Variant none_;
  Comparison last_;
  std::vector<Variant> tried_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Selection result_;
};

}  // namespace

Expected<Selection> select_in_network(size_t kernels, NetworkContest& contest, const SelectionOptions& options,
                                      const std::function<void(const std::string&)>& progress, StopToken stop) {
  return Selector(kernels, contest, options, progress, stop).run();
}

Expected<Comparison> compare_in_network(const Variant& first, const Variant& second, NetworkContest& contest, const SelectionOptions& options, StopToken stop) {
  return Selector(first.size(), contest, options, {}, stop).against(first, second);
}

}  // namespace tw::api
