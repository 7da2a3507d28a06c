// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/round_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/base/json.h"
#include "widgets/common/format.h"

namespace tw::widgets {
namespace {

/// Values of one round by series.
struct Term {
  double value = 0;
  std::string detail;
};
using Terms = std::vector<std::pair<std::string, Term>>;

double numberAt(const Json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_number() ? at->get<double>() : 0;
}

const Json* memberOf(const Json& object, const char* name) {
  const auto at = object.find(name);
  return at == object.end() ? nullptr : &*at;
}

Terms gainsOf(const Json& decision, const std::map<int64_t, std::string>& keys) {
  Terms out;
  const Json* gradients = memberOf(decision, "gradients");
  if (!gradients || !gradients->is_array()) return out;
  for (const Json& g : *gradients) {
    if (!g.is_object()) continue;
    const auto task = static_cast<int64_t>(numberAt(g, "task"));
    const auto key = keys.find(task);
    out.emplace_back(key == keys.end() ? std::to_string(task) : key->second,
                     // A gradient is what the time changes by: a gain is its opposite.
                     Term{std::max(0.0, -numberAt(g, "gradient_s")), fmt::format("past {}, expected {}", secondsText(0 - numberAt(g, "backward_s")).toStdString(), secondsText(0 - numberAt(g, "forward_s")).toStdString())});
  }
  return out;
}

Terms searchOf(const Json& decision, RoundTerms terms) {
  Terms out;
  const Json* search = memberOf(decision, "search");
  if (!search || !search->is_object()) return out;
  const Json* part = memberOf(*search, terms == RoundTerms::chosen ? "chosen" : terms == RoundTerms::mutations ? "mutations" : "generations");
  if (!part) return out;
  if (terms == RoundTerms::population) {
    if (!part->is_array()) return out;
    for (const Json& g : *part)
      if (g.is_object())
        out.emplace_back(std::to_string(out.size()), Term{numberAt(g, "new"), fmt::format("{} members, best score {:.3g}, median {:.3g}", static_cast<int64_t>(numberAt(g, "members")),
                                                                                         numberAt(g, "best"), numberAt(g, "median"))});
    return out;
  }
  if (!part->is_object()) return out;
  for (const auto& [name, value] : part->items()) {
    if (terms == RoundTerms::chosen && value.is_number()) out.emplace_back(name, Term{value.get<double>(), {}});
    if (terms == RoundTerms::mutations && value.is_object())
      out.emplace_back(name, Term{numberAt(value, "legal"), fmt::format("of {} tried", static_cast<int64_t>(numberAt(value, "tried")))});
  }
  return out;
}

/// Numbers by their names, those that are there.
Terms curvesOf(const Json& decision, RoundTerms terms) {
  Terms out;
  const Json* search = memberOf(decision, "search");
  const Json* part = search && search->is_object() ? memberOf(*search, terms == RoundTerms::learning ? "fit" : "order") : nullptr;
  if (!part || !part->is_object()) return out;
  const std::vector<const char*> names = terms == RoundTerms::learning ? std::vector{"loss", "learning_rate", "momentum"} : std::vector{"draft", "model"};
  for (const char* name : names)
    if (const Json* v = memberOf(*part, name); v && v->is_number()) out.emplace_back(name, Term{v->get<double>(), {}});
  if (terms == RoundTerms::learning && !out.empty()) out[0].second.detail = fmt::format("of {} samples", static_cast<int64_t>(numberAt(*part, "samples")));
  return out;
}

}  // namespace

RoundStack round_stack(const std::vector<records::Round>& rounds, RoundTerms terms, size_t most) {
  std::vector<std::pair<const records::Round*, Json>> decisions;
  std::map<int64_t, std::string> keys;  // by a task's number in the session
  for (const records::Round& r : rounds) {
    auto decision = parse_json(r.decision);
    if (!decision || !decision->is_object()) continue;
    if (const Json* task = memberOf(*decision, "task"); task && task->is_number_integer()) keys[task->get<int64_t>()] = r.task_key;
    decisions.emplace_back(&r, *std::move(decision));
  }
  RoundStack stack;
  std::vector<std::pair<const records::Round*, Terms>> columns;
  std::vector<double> sums;
  for (const auto& [round, decision] : decisions) {
    Terms found = terms == RoundTerms::gains ? gainsOf(decision, keys) : are_curves(terms) ? curvesOf(decision, terms) : searchOf(decision, terms);
    if (found.empty()) continue;
    for (const auto& [name, term] : found) {
      const auto at = static_cast<size_t>(std::find(stack.series.begin(), stack.series.end(), name) - stack.series.begin());
      if (at == stack.series.size()) stack.series.push_back(name), sums.push_back(0);
      sums[at] += term.value;
    }
    columns.emplace_back(round, std::move(found));
  }
  std::vector<size_t> place(stack.series.size());
  std::iota(place.begin(), place.end(), size_t{0});
  if (stack.series.size() > most) {
    std::vector<size_t> order = place;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return sums[a] > sums[b]; });
    std::vector<std::string> kept;
    std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most) - 1);
    for (size_t k = 0; k < order.size(); ++k) {
      place[order[k]] = std::min(k, most - 1);
      if (k + 1 < most) kept.push_back(stack.series[order[k]]);
    }
    kept.emplace_back(kOtherTerms);
    std::swap(stack.series, kept);
    std::map<std::string, size_t> of;
    for (size_t k = 0; k < kept.size(); ++k) of[kept[k]] = place[k];
    for (auto& [round, found] : columns) {
      Terms merged;
      for (size_t k = 0; k < stack.series.size(); ++k) merged.emplace_back(stack.series[k], Term{});
      for (auto& [name, term] : found) {
        Term& into = merged[of[name]].second;
        into.value += term.value;
        if (of[name] + 1 < most) into.detail = std::move(term.detail);
      }
      found = std::move(merged);
    }
  }
  for (const auto& [round, found] : columns) {
    RoundColumn& c = stack.columns.emplace_back();
    c.number = round->number, c.task_key = round->task_key;
    c.values.assign(stack.series.size(), are_curves(terms) ? std::numeric_limits<double>::quiet_NaN() : 0.0);
    c.details.resize(stack.series.size());
    for (const auto& [name, term] : found) {
      const auto at = static_cast<size_t>(std::find(stack.series.begin(), stack.series.end(), name) - stack.series.begin());
      c.values[at] = are_curves(terms) ? term.value : c.values[at] + term.value;
      c.details[at] = term.detail;
    }
  }
  return stack;
}

}  // namespace tw::widgets
