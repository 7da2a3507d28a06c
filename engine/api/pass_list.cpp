// SPDX-License-Identifier: Apache-2.0
#include "engine/api/pass_list.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/graph/pass.h"
#include "engine/tir/pass.h"

namespace tw::api {

const std::vector<PassFacts>& all_passes() {
  static const std::vector<PassFacts> kAll = [] {
    std::vector<PassFacts> all;
    for (const graph::Pass& p : graph::passes()) all.push_back({p.name, p.summary, p.source, p.needed, true, p.optional});
    for (const tir::Pass& p : tir::passes())
      if (std::none_of(all.begin(), all.end(), [&](const PassFacts& f) { return f.name == p.name; })) all.push_back({p.name, p.summary, p.source, p.needed});
    return all;
  }();
  return kAll;
}

const PassFacts* find_pass(const std::string& name) {
  const auto& all = all_passes();
  const auto it = std::find_if(all.begin(), all.end(), [&](const PassFacts& p) { return p.name == name; });
  return it == all.end() ? nullptr : &*it;
}

Expected<LeftOut> left_out(const std::vector<std::string>& names) {
  LeftOut out;
  for (const std::string& name : names) {
    const PassFacts* pass = find_pass(name);
    if (!pass) {
      std::vector<std::string> known;
      for (const PassFacts& p : all_passes())
        if (p.needed.empty()) known.push_back(p.name);
      return Error(ErrorCode::invalid_argument, fmt::format("Expected a pass among {}, found '{}'", fmt::join(known, ", "), printable(name)));
    }
    if (!pass->needed.empty())
      return Error(ErrorCode::invalid_argument, fmt::format("Expected a pass that may be left out, found '{}': {}", name, pass->needed));
    (pass->of_graph ? out.graph : out.kernel).push_back(name);
  }
  return out;
}

}  // namespace tw::api
