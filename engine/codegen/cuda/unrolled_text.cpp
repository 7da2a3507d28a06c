// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/unrolled_text.h"

#include <algorithm>

#include "engine/base/assert.h"
#include "engine/base/text.h"

namespace tw::codegen {

namespace {

/// Around the number of a gap; in no text of a program.
constexpr char kGapBegin = '\1', kGapEnd = '\2';

}  // namespace

void UnrolledText::begin(const ir::VarNode* v, int64_t min, int64_t extent, bool scope, std::string indent) {
  items_.push_back({.begins = static_cast<int>(loops_.size())});
  open_.push_back(loops_.size());
  loops_.push_back({v, min, extent, min, scope, std::move(indent), 0});
}

void UnrolledText::line(std::string text, const tir::StmtNode* stmt, tir::Origin origin) {
  Item item{.stmt = stmt, .origin = origin};
  for (size_t at = 0;;) {
    const size_t gap = text.find(kGapBegin, at);
    item.pieces.push_back({text.substr(at, gap == std::string::npos ? gap : gap - at), -1});
    if (gap == std::string::npos) break;
    item.pieces.back().gap = std::stoi(text.substr(gap + 1));
    at = text.find(kGapEnd, gap) + 1;
  }
  items_.push_back(std::move(item));
}

void UnrolledText::end(CudaSource& out) {
  TW_ASSERT(active(), "the end of a loop that has not begun");
  loops_[open_.back()].end = items_.size();
  items_.push_back({.ends = true});
  open_.pop_back();
  if (active()) return;
  write(0, items_.size(), out);
  items_.clear();
  loops_.clear();
  gaps_.clear();
}

bool UnrolledText::has(const ir::VarNode* v) const {
  return std::any_of(open_.begin(), open_.end(), [&](size_t l) { return loops_[l].var == v; });
}

std::string UnrolledText::gap(std::vector<std::pair<const ir::VarNode*, int64_t>> sum, int64_t constant, bool follows) {
  Gap g{{}, constant, follows};
  for (const auto& [v, coefficient] : sum)
    g.sum.emplace_back(*std::find_if(open_.begin(), open_.end(), [&, var = v](size_t l) { return loops_[l].var == var; }), coefficient);
  gaps_.push_back(std::move(g));
  return fmt::format("{}{}{}", kGapBegin, gaps_.size() - 1, kGapEnd);
}

void UnrolledText::write(size_t from, size_t to, CudaSource& out) {
  for (size_t k = from; k < to; ++k) {
    const Item& item = items_[k];
    if (item.begins >= 0) {
      Loop& loop = loops_[static_cast<size_t>(item.begins)];
      for (loop.turn = loop.min; loop.turn < loop.min + loop.extent; ++loop.turn) {
        if (loop.scope) out.add_line(loop.indent + "{", nullptr, {});
        write(k + 1, loop.end, out);
        if (loop.scope) out.add_line(loop.indent + "}", nullptr, {});
      }
      k = loop.end;
      continue;
    }
    if (item.ends) continue;
    std::string text;
    for (const Piece& p : item.pieces) {
      text += p.text;
      if (p.gap < 0) continue;
      const Gap& g = gaps_[static_cast<size_t>(p.gap)];
      int64_t value = g.constant;
      for (const auto& [l, coefficient] : g.sum) value += loops_[l].turn * coefficient;
      if (!g.follows)
        text += std::to_string(value);
      else if (value != 0)
        text += (value < 0 ? " - " : " + ") + std::to_string(value < 0 ? -value : value);
    }
    out.add_line(text, item.stmt, item.origin);
  }
}

}  // namespace tw::codegen
