// SPDX-License-Identifier: Apache-2.0
#include "engine/api/provenance.h"

#include <algorithm>

#include "engine/schedule/primitives/primitives.h"

namespace tw::api {

namespace {

/// Per stage the stages whose loops compute it: itself or, where it is inlined, those that read it.
std::vector<std::vector<int>> carriers(const schedule::Schedule& s) {
  const schedule::State state{s.stages(), s.outputs()};
  std::vector<std::vector<int>> out(state.stages.size());
  for (size_t i = state.stages.size(); i-- > 0;) {
    if (state.stages[i].location != schedule::ComputeLocation::inlined) {
      out[i] = {static_cast<int>(i)};
      continue;
    }
    for (const int r : schedule::readers_of(state, static_cast<int>(i)))
      out[i].insert(out[i].end(), out[static_cast<size_t>(r)].begin(), out[static_cast<size_t>(r)].end());
    std::sort(out[i].begin(), out[i].end());
    out[i].erase(std::unique(out[i].begin(), out[i].end()), out[i].end());
  }
  return out;
}

/// A level and those between it and tir_line.
std::vector<Level> path_inward(Level l) {
  if (l == Level::tir_line) return {l};
  if (l == Level::node) return {l, Level::stage, Level::tir_line};
  return {l, Level::tir_line};
}

void put(std::vector<std::vector<int>>& lists, int from, int to) {
  if (lists.size() <= static_cast<size_t>(from)) lists.resize(static_cast<size_t>(from) + 1);
  lists[static_cast<size_t>(from)].push_back(to);
}

}  // namespace

void Provenance::add(Level outer, int number, int neighbour) {
  if (number < 0 || neighbour < 0) return;
  Links& l = links_[static_cast<size_t>(outer)];
  put(l.inward, number, neighbour);
  put(l.outward, neighbour, number);
}

Provenance::Provenance(const schedule::Schedule& s, const tir::Printed& tir, std::span<const int> llvm_line_to_tir_line,
                       std::span<const int> assembly_line_to_tir_line, const std::vector<std::vector<int>>& nodes_of_op) {
  const std::vector<std::vector<int>> carried_by = carriers(s);
  std::vector<std::vector<int>> carries(carried_by.size());
  for (size_t i = 0; i < carried_by.size(); ++i) {
    for (const int c : carried_by[i]) carries[static_cast<size_t>(c)].push_back(static_cast<int>(i));
    const int op = s.stages()[i].dag_op;
    if (op < 0 || static_cast<size_t>(op) >= nodes_of_op.size()) continue;
    for (const int n : nodes_of_op[static_cast<size_t>(op)]) add(Level::node, n, static_cast<int>(i));
  }
  for (size_t line = 0; line < tir.line_origin.size(); ++line) {
    const tir::Origin& origin = tir.line_origin[line];
    if (origin.stage >= 0)
      for (const int stage : carries[static_cast<size_t>(origin.stage)]) add(Level::stage, stage, static_cast<int>(line));
    add(Level::step, origin.step, static_cast<int>(line));
  }
  for (size_t line = 0; line < llvm_line_to_tir_line.size(); ++line) add(Level::llvm_line, static_cast<int>(line), llvm_line_to_tir_line[line]);
  for (size_t line = 0; line < assembly_line_to_tir_line.size(); ++line) add(Level::assembly_line, static_cast<int>(line), assembly_line_to_tir_line[line]);
}

std::vector<int> Provenance::related(Level from, int number, Level to) const {
  std::vector<Level> route = path_inward(from), back = path_inward(to);
  while (route.size() > 1 && back.size() > 1 && route[route.size() - 2] == back[back.size() - 2]) {
    route.pop_back();
    back.pop_back();
  }
  route.insert(route.end(), back.rbegin() + 1, back.rend());
  std::vector<int> found{number};
  for (size_t k = 1; k < route.size(); ++k) {
    const bool inward = path_inward(route[k - 1]).size() > path_inward(route[k]).size();
    const Links& l = links_[static_cast<size_t>(route[inward ? k - 1 : k])];
    const std::vector<std::vector<int>>& lists = inward ? l.inward : l.outward;
    std::vector<int> next;
    for (const int n : found)
      if (n >= 0 && static_cast<size_t>(n) < lists.size()) next.insert(next.end(), lists[static_cast<size_t>(n)].begin(), lists[static_cast<size_t>(n)].end());
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    found = std::move(next);
  }
  return found;
}

}  // namespace tw::api
