// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/graph.h"

namespace tw::graph {

namespace {

template <class T>
const T* get(const std::map<std::string, AttrValue>& values, const std::string& name) {
  const auto it = values.find(name);
  return it == values.end() ? nullptr : std::get_if<T>(&it->second);
}

}  // namespace

int64_t Attrs::integer(const std::string& name, int64_t fallback) const {
  const auto* v = get<int64_t>(values, name);
  return v ? *v : fallback;
}

double Attrs::real(const std::string& name, double fallback) const {
  if (const auto* v = get<double>(values, name)) return *v;
  if (const auto* v = get<int64_t>(values, name)) return static_cast<double>(*v);
  return fallback;
}

std::string Attrs::text(const std::string& name, const std::string& fallback) const {
  const auto* v = get<std::string>(values, name);
  return v ? *v : fallback;
}

std::vector<int64_t> Attrs::integers(const std::string& name, std::vector<int64_t> fallback) const {
  const auto* v = get<std::vector<int64_t>>(values, name);
  return v ? *v : std::move(fallback);
}

}  // namespace tw::graph
