// SPDX-License-Identifier: Apache-2.0
#include "engine/api/time_shares.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "engine/base/text.h"
#include "engine/simulate/kernel_time.h"
#include "engine/tir/clone.h"

namespace tw::api {
namespace {

constexpr double kUnknown = -1;

size_t indent_of(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

/// Where the lines of a printed function stand in it.
struct Outline {
  std::vector<size_t> end;      ///< behind the last line inside
  std::vector<double> outside;  ///< turns of the loops around a line
  std::vector<double> turns;    ///< the same with those of the loop that it is
};

Outline outline_of(const tir::Printed& printed) {
  const std::vector<std::string_view> text = split_lines(printed.text);
  const size_t n = printed.line_stmt.size();
  Outline out{std::vector<size_t>(n), std::vector<double>(n, 1), {}};
  for (size_t i = 0; i < n; ++i) {
    size_t end = i + 1;
    while (end < n && end < text.size() && indent_of(text[end]) > indent_of(text[i])) ++end;
    out.end[i] = end;
  }
  out.turns = out.outside;
  for (size_t i = 0; i < n; ++i) {
    const auto* loop = printed.line_stmt[i] == nullptr || printed.line_stmt[i]->kind() != tir::StmtKind::for_ ? nullptr : static_cast<const tir::ForNode*>(printed.line_stmt[i]);
    if (loop == nullptr) continue;
    const double extent = static_cast<double>(std::max<int64_t>(1, ir::as_int(loop->extent).value_or(1)));
    out.turns[i] *= extent;
    for (size_t k = i + 1; k < out.end[i]; ++k) out.outside[k] *= extent, out.turns[k] *= extent;
  }
  return out;
}

/// Sums of what stands inside; unknown where nothing of it is known.
std::vector<double> with_inside(const std::vector<double>& own, const std::vector<size_t>& end) {
  std::vector<double> out(own.size(), kUnknown);
  for (size_t i = 0; i < own.size(); ++i)
    for (size_t k = i; k < end[i]; ++k)
      if (own[k] >= 0) out[i] = std::max(out[i], 0.0) + own[k];
  return out;
}

/// Of a block, those that nothing jumps to included, which are comments.
bool is_label(std::string_view line) { return !line.empty() && line.front() != '\t' && line.front() != ' ' && line.find(':') != std::string_view::npos; }

/// Clocks of each instruction of the listing in one run of the kernel; 0 for those of no one line.
std::vector<double> clocks_of(const codegen::Listing& listing, const Outline& at) {
  const std::vector<std::string_view> text = split_lines(listing.assembly);
  std::vector<double> clocks(listing.asm_line_clocks.size(), 0);
  for (size_t begin = 0; begin < clocks.size();) {
    size_t end = begin + 1;
    while (end < clocks.size() && !is_label(text[end])) ++end;
    // A loop's own instructions run with each turn where its body stands beside them, else once as it begins.
    for (size_t i = begin; i < end; ++i) {
      const int line = listing.asm_line_to_tir_line[i];
      if (line < 0 || static_cast<size_t>(line) >= at.end.size()) continue;
      const auto of = static_cast<size_t>(line);
      const bool turns = at.turns[of] > at.outside[of] &&
                         std::any_of(listing.asm_line_to_tir_line.begin() + static_cast<std::ptrdiff_t>(begin), listing.asm_line_to_tir_line.begin() + static_cast<std::ptrdiff_t>(end),
                                     [&](int other) { return other > line && static_cast<size_t>(other) < at.end[of]; });
      clocks[i] = listing.asm_line_clocks[i] * (turns ? at.turns[of] : at.outside[of]);
    }
    begin = end;
  }
  return clocks;
}

/// Fills what is known of lines of the function and of the assembly.
void share_instructions(TimeShares& shares, const codegen::Listing& listing, const Outline& at, const Target& target) {
  const std::vector<double> clocks = clocks_of(listing, at);
  double total = 0;
  for (const double c : clocks) total += c;
  if (!(total > 0)) return;
  const std::vector<std::string_view> text = split_lines(listing.assembly);
  shares.own.assign(at.end.size(), kUnknown);
  shares.assembly.assign(clocks.size(), kUnknown);
  size_t label = clocks.size();
  for (size_t i = 0; i < clocks.size(); ++i) {
    if (is_label(text[i])) label = i;
    if (clocks[i] <= 0) continue;
    const double share = clocks[i] / total;
    shares.assembly[i] = share;
    if (label < clocks.size()) shares.assembly[label] = std::max(shares.assembly[label], 0.0) + share;
    double& own = shares.own[static_cast<size_t>(listing.asm_line_to_tir_line[i])];
    own = std::max(own, 0.0) + share;
  }
  shares.source = fmt::format("Model: the clocks of each instruction in LLVM's table for {}, as often as its loops turn; waiting for memory is not in them", target.cpu);
}

/// The same for the launches of a GPU.
void share_launches(TimeShares& shares, const tir::Func& func, const tir::Printed& printed, const target::Gpu& gpu) {
  const auto launches = simulate::launch_facts(func);
  if (!launches) return;
  std::unordered_map<const tir::StmtNode*, size_t> line_of;
  for (size_t i = 0; i < printed.line_stmt.size(); ++i)
    if (printed.line_stmt[i] != nullptr) line_of.try_emplace(printed.line_stmt[i], i);
  std::vector<double> seconds;
  double total = 0;
  for (const simulate::LaunchFacts& f : *launches) total += seconds.emplace_back(simulate::kernel_time(f, gpu).total);
  std::string limits;
  for (size_t k = 0; k < launches->size(); ++k) {
    const simulate::KernelTime t = simulate::kernel_time((*launches)[k], gpu);
    const double memory = std::max(t.l2, t.memory), others = std::max({t.issue, t.arithmetic, t.latency});
    const auto limit = t.shared > memory && t.shared > others ? &simulate::StatementCounts::shared
                       : memory > others                      ? &simulate::StatementCounts::sectors
                                                              : &simulate::StatementCounts::instructions;
    std::map<size_t, double> used;  // by line, so that sums do not depend on where statements lie
    double all = 0;
    for (const auto& [statement, counts] : (*launches)[k].statements)
      if (const auto line = line_of.find(statement); line != line_of.end()) used[line->second] += counts.*limit;
    for (const auto& [line, amount] : used) all += amount;
    if (!(all > 0) || !(seconds[k] > 0)) return;
    if (shares.own.empty()) shares.own.assign(printed.line_stmt.size(), kUnknown);
    for (const auto& [line, amount] : used)
      if (amount > 0) shares.own[line] = std::max(shares.own[line], 0.0) + seconds[k] / total * amount / all;
    limits += fmt::format("{}{}", limits.empty() ? "" : ", ", limit == &simulate::StatementCounts::shared ? "wavefronts of shared memory and the level-1 cache"
                                                              : limit == &simulate::StatementCounts::sectors ? "sectors of memory"
                                                                                                             : "instructions");
  }
  if (shares.own.empty()) return;
  shares.source = fmt::format("Model: the formula of {}; a statement's part of a launch is that of what limits it ({})", gpu.description, limits);
}

}  // namespace

TimeShares time_shares(const tir::Func& optimized, const codegen::Listing& listing, const Target& target, const Provenance& provenance, size_t loop_lines) {
  TimeShares shares;
  tir::Func func = optimized;
  func.body = tir::unshared(optimized.body);  // a statement that stands twice is two
  const tir::Printed printed = tir::print_with_lines(func);
  const Outline at = outline_of(printed);
  if (target.gpu)
    share_launches(shares, func, printed, *target.gpu);
  else
    share_instructions(shares, listing, at, target);
  if (shares.source.empty()) return {};
  shares.tir = with_inside(shares.own, at.end);
  shares.loops.assign(loop_lines, kUnknown);
  for (size_t l = 0; l < loop_lines; ++l) {
    std::vector<bool> inside(shares.own.size(), false);
    for (const int line : provenance.related(Level::loop, static_cast<int>(l), Level::tir_line))
      std::fill(inside.begin() + line, inside.begin() + static_cast<std::ptrdiff_t>(at.end[static_cast<size_t>(line)]), true);
    for (size_t line = 0; line < inside.size(); ++line)
      if (inside[line] && shares.own[line] >= 0) shares.loops[l] = std::max(shares.loops[l], 0.0) + shares.own[line];
  }
  return shares;
}

}  // namespace tw::api
