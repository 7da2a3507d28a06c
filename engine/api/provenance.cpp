// SPDX-License-Identifier: Apache-2.0
#include "engine/api/provenance.h"

#include <algorithm>

#include "engine/ir/visit.h"
#include "engine/schedule/loops.h"

namespace tw::api {

namespace {

/// Per stage the stages whose loops compute it: itself or, where it is inlined, those that read it.
std::vector<std::vector<int>> carriers(const schedule::Schedule& s) {
  std::vector<std::vector<int>> out;
  for (size_t i = 0; i < s.stages().size(); ++i) {
    const int stage = static_cast<int>(i);
    out.push_back(s.stages()[i].location == schedule::ComputeLocation::inlined ? schedule::reading_loops(s.stages(), stage) : std::vector<int>{stage});
  }
  return out;
}

/// A level and those between it and tir_line.
std::vector<Level> path_inward(Level l) {
  if (l == Level::tir_line) return {l};
  if (l == Level::node) return {l, Level::stage, Level::tir_line};
  if (l == Level::step) return {l, Level::loop, Level::tir_line};
  return {l, Level::tir_line};
}

using LineKind = lower::LoopLine::Kind;

template <class T>
bool contains(const std::vector<T>& list, const T& x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

/// What a reduction begins with; it stands outside the reduction's loops.
bool sets_constant(const tir::StmtNode& s) {
  if (s.kind() != tir::StmtKind::store) return false;
  bool reads = false;
  ir::walk(static_cast<const tir::StoreNode&>(s).value, [&](const ir::Expr& e) { reads |= ir::as<ir::LoadNode>(e) != nullptr; });
  return !reads;
}

/// Lines of the function that a line of the outline stands for.
std::vector<int> lines_of(const lower::LoopLine& l, const schedule::Schedule& s, const tir::Printed& tir, const std::vector<std::vector<int>>& carried_by) {
  const bool reduces = l.loop >= 0 && s.stages()[static_cast<size_t>(l.stage)].iters[static_cast<size_t>(l.loop)].kind == te::AxisKind::reduce;
  std::vector<int> loops, inside, stores, all;
  for (size_t i = 0; i < tir.line_origin.size(); ++i) {
    const tir::Origin& origin = tir.line_origin[i];
    if (origin.stage < 0 || !contains(carried_by[static_cast<size_t>(l.stage)], origin.stage)) continue;
    const int line = static_cast<int>(i);
    all.push_back(line);
    if (origin.loop >= 0 && origin.loop == l.loop) loops.push_back(line);
    if (origin.loop >= 0 || tir.line_stmt[i]->kind() == tir::StmtKind::alloc) continue;
    inside.push_back(line);
    if (tir.line_stmt[i]->kind() == tir::StmtKind::store && !(reduces && sets_constant(*tir.line_stmt[i]))) stores.push_back(line);
  }
  switch (l.kind) {
    case LineKind::argument:
      break;
    case LineKind::head:
      return all;
    case LineKind::loop:
      return loops.empty() ? stores : loops;
    case LineKind::inlined:
    case LineKind::body:
      return inside;
  }
  return {};
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

Provenance::Provenance(const schedule::Schedule& s, const lower::PrintedLoops& loops, const tir::Printed& tir, const Listings& listings,
                       const std::vector<std::vector<int>>& nodes_of_op) {
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
  }
  const std::vector<schedule::StepEffect> effects = schedule::step_effects(s);
  for (size_t line = 0; line < loops.lines.size(); ++line) {
    const lower::LoopLine& l = loops.lines[line];
    for (const int t : lines_of(l, s, tir, carried_by)) add(Level::loop, static_cast<int>(line), t);
    for (size_t k = 0; k < effects.size(); ++k) {
      const bool made = l.loop >= 0 ? contains(effects[k].loops, std::pair(l.stage, l.loop)) : l.kind != LineKind::body && contains(effects[k].stages, l.stage);
      if (made) add(Level::step, static_cast<int>(k), static_cast<int>(line));
    }
  }
  for (const auto& [level, tir_lines] :
       {std::pair(Level::llvm_line, listings.llvm), {Level::assembly_line, listings.assembly}, {Level::sass_line, listings.sass}})
    for (size_t line = 0; line < tir_lines.size(); ++line) add(level, static_cast<int>(line), tir_lines[line]);
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
