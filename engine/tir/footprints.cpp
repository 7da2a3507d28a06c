// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/footprints.h"

#include <algorithm>
#include <set>

#include "engine/arith/span.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

/// Distinct indices along one dimension of an array.
class Touched {
 public:
  explicit Touched(int64_t extent) : extent_(extent) {}

  void add(std::optional<arith::Span> span) {
    if (!span) whole_ = true;
    if (whole_) return;
    if (span->fixed.is_constant()) {
      // What guards and paddings keep out of the array is not touched.
      span->lo = std::clamp<int64_t>(span->lo + span->fixed.constant, 0, extent_ - 1);
      span->hi = std::clamp<int64_t>(span->hi + span->fixed.constant, 0, extent_ - 1);
      span->fixed.constant = 0;
      span->count = std::min(span->count, span->extent());
    }
    if (std::none_of(spans_.begin(), spans_.end(), [&](arith::Span& s) { return arith::unite(s, *span); })) spans_.push_back(*std::move(span));
  }
  double count() const {
    if (whole_) return static_cast<double>(extent_);
    double n = 0;
    for (const arith::Span& s : spans_) n += static_cast<double>(s.count);
    return std::min(n, static_cast<double>(extent_));
  }

 private:
  int64_t extent_;
  bool whole_ = false;              ///< not known better
  std::vector<arith::Span> spans_;  ///< of which it is not known how far they lie apart
};

struct Access {
  Buffer array;
  std::vector<Expr> indices;
};

std::vector<Access> accesses_in(const Stmt& s) {
  std::vector<Access> out;
  std::set<std::pair<const ir::BufferNode*, std::vector<const ir::ExprNode*>>> seen;  // what is written out reads much again and again
  const auto add = [&](const Buffer& array, const std::vector<Expr>& indices) {
    std::vector<const ir::ExprNode*> key;
    for (const Expr& i : indices) key.push_back(i.get());
    if (seen.emplace(array.get(), std::move(key)).second) out.push_back({array, indices});
  };
  walk(s, [&](const Stmt& x) {
    if (const auto* store = as<StoreNode>(x)) add(store->buffer, store->indices);
    if (const auto* reduce = as<AllReduceNode>(x)) add(reduce->buffer, reduce->indices);
  });
  walk_exprs(s, [&](const Expr& root) {
    ir::walk(root, [&](const Expr& e) {
      if (const auto* load = ir::as<ir::LoadNode>(e)) add(load->buffer, load->indices);
    });
  });
  return out;
}

}  // namespace

std::vector<LoopPlace> loops_of(const Stmt& s) {
  std::vector<LoopPlace> out;
  walk(s, [&](const Stmt& x) {
    if (const auto* loop = as<ForNode>(x)) out.push_back({.loop = loop, .extent = ir::as_int(loop->extent).value_or(-1)});
  });
  for (size_t k = 0; k < out.size(); ++k) {
    walk(out[k].loop->body, [&](const Stmt& x) { out[k].inside += x->kind() == StmtKind::for_; });
    const double runs = static_cast<double>(std::max<int64_t>(1, out[k].extent));
    out[k].iterations *= runs;
    for (size_t j = k + 1; j <= k + out[k].inside; ++j) {
      ++out[j].level;
      out[j].iterations *= runs;
    }
  }
  return out;
}

std::vector<LoopFootprint> loop_footprints(const Func& lowered) {
  arith::Analyzer facts;
  std::vector<LoopFootprint> out;
  arith::FixedVars all;
  for (const LoopPlace& place : loops_of(lowered.body)) {
    out.push_back({place, {}});
    all.insert(place.loop->var.get());
    if (place.extent >= 0) facts.bind(place.loop->var.get(), {0, std::max<int64_t>(0, place.extent - 1)});
  }
  for (size_t k = 0; k < out.size(); ++k) {
    LoopFootprint& at = out[k];
    arith::FixedVars outside = all;
    for (size_t j = k; j <= k + at.inside; ++j) outside.erase(out[j].loop->var.get());
    std::vector<std::pair<Buffer, std::vector<Touched>>> touched;
    for (const Access& a : accesses_in(at.loop->body)) {
      auto array = std::find_if(touched.begin(), touched.end(), [&](const auto& t) { return t.first.same_as(a.array); });
      if (array == touched.end()) {
        touched.emplace_back(a.array, std::vector<Touched>(a.array->shape.begin(), a.array->shape.end()));
        array = touched.end() - 1;
      }
      for (size_t d = 0; d < a.indices.size(); ++d) array->second[d].add(arith::span_of(a.indices[d], outside, facts));
    }
    for (const auto& [array, dims] : touched) {
      double elements = 1;
      for (const Touched& d : dims) elements *= d.count();
      at.arrays.emplace_back(array, elements);
    }
  }
  return out;
}

}  // namespace tw::tir
