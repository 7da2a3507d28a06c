// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/descent_data.h"

#include <algorithm>

#include "engine/base/json.h"

namespace tw::widgets {
namespace {

Descent descentOf(const Json& j) {
  Descent d;
  d.sketch = QString::fromStdString(j.at("sketch").get<std::string>());
  d.seeds = j.at("seeds").get<int>();
  d.steps = j.at("steps").get<int>();
  d.drawnAnew = j.at("drawn_anew").get<int>();
  for (const Json& name : j.at("variables")) d.variables << QString::fromStdString(name.get<std::string>());
  d.most = j.at("most").get<std::vector<int>>();
  d.score = j.at("score").get<std::vector<double>>();
  d.penalty = j.at("penalty").get<std::vector<double>>();
  const auto fits = [&](size_t count) { return count == static_cast<size_t>(d.variables.size()); };
  for (const Json& c : j.at("chosen")) {
    Descent::Chosen chosen{c.at("seed").get<int>(), c.at("step").get<int>(), c.at("at").get<std::vector<int>>(), c.at("score").get<double>()};
    if (fits(chosen.at.size())) d.chosen.push_back(std::move(chosen));
  }
  for (const auto& [seed, way] : j.at("ways").items()) {
    auto points = way.get<std::vector<std::vector<double>>>();
    if (std::all_of(points.begin(), points.end(), [&](const auto& p) { return fits(p.size()); })) d.ways.emplace(std::stoi(seed), std::move(points));
  }
  const Json& rounded = j.at("rounded");
  d.points = rounded.at("points").get<int64_t>();
  d.different = rounded.at("different").get<int64_t>();
  d.allowed = rounded.at("allowed").get<int64_t>();
  d.legal = rounded.at("legal").get<int64_t>();
  d.fresh = rounded.at("fresh").get<int64_t>();
  if (!fits(d.most.size())) throw std::invalid_argument("as many ends as variables");
  return d;
}

}  // namespace

bool hasDescent(const records::Round& round) { return round.decision.find("\"descent\":[{") != std::string::npos; }

std::vector<Descent> descentsOf(const records::Round& round) {
  std::vector<Descent> out;
  const auto decision = parse_json(round.decision);
  if (!decision || !decision->is_object()) return out;
  const auto list = decision->value("/search/descent"_json_pointer, Json::array());
  for (const Json& j : list) {
    try {
      out.push_back(descentOf(j));
    } catch (const std::exception&) {  // a row that another program wrote
    }
  }
  return out;
}

}  // namespace tw::widgets
