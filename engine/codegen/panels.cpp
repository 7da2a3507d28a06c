// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/panels.h"

#include <algorithm>
#include <optional>

#include "engine/codegen/index.h"
#include "engine/codegen/streaming.h"
#include "engine/ir/equal.h"
#include "engine/ir/visit.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

namespace {

using ir::Expr;

/// Smaller panels are there before their loops could ask for them.
constexpr int64_t kLeastPanel = 1024;
/// Requests in one turn of a loop; more go into the next loop inside.
constexpr int64_t kMostLines = 8;

/// Vectors of one array that a straight run of statements reads at constant distances of each other.
struct Reads {
  ir::Buffer buffer;
  LinearIndex at;  ///< of the first
  int64_t end;     ///< behind the last, as a constant like at.constant
};

/// The variable and divisor of floor_div(variable, constant).
std::optional<std::pair<const ir::VarNode*, int64_t>> quotient(const Expr& e) {
  const auto* b = ir::as<ir::BinaryNode>(e);
  if (!b || b->op != ir::BinaryOp::floor_div) return std::nullopt;
  const auto* v = ir::as<ir::VarNode>(b->a);
  const auto divisor = ir::as_int(b->b);
  if (!v || !divisor || *divisor < 2) return std::nullopt;
  return std::pair(v, *divisor);
}

class PanelFinder {
 public:
  PanelFinder(const tir::Func& f, const Target& target) : target_(target) {
    for (size_t i = 0; i + static_cast<size_t>(f.num_outputs) < f.params.size(); ++i) inputs_.push_back(f.params[i].get());
  }

  PanelFetches run(const tir::Stmt& s) {
    visit(s);
    return std::move(found_);
  }

 private:
  void visit(const tir::Stmt& s) {
    const auto* loop = tir::as<tir::ForNode>(s);
    if (!loop) {
      tir::map_children(
          s,
          [&](const tir::Stmt& child) {
            visit(child);
            return child;
          },
          [&](const Expr& e) {
            note(e);
            return e;
          });
      return;
    }
    loops_.push_back(loop);
    std::vector<Reads> outside = std::exchange(reads_, {});
    visit(loop->body);
    for (const Reads& r : reads_) plan(r);
    reads_ = std::move(outside);
    loops_.pop_back();
  }

  void note(const Expr& root) {
    if (loops_.size() < 2) return;
    ir::walk(root, [&](const Expr& e) {
      const auto* l = ir::as<ir::LoadNode>(e);
      if (!l || std::find(inputs_.begin(), inputs_.end(), l->buffer.get()) == inputs_.end()) return;
      const auto ramp = as_ramp(flat_index(l->buffer, l->indices));
      if (!ramp || !ir::is_int(ramp->stride, 1)) return;
      LinearIndex at = linear_index(ramp->base);
      const int64_t end = at.constant + l->dtype.lanes;
      const auto same = [&](const Reads& r) {
        return r.buffer.get() == l->buffer.get() && r.at.terms.size() == at.terms.size() &&
               std::equal(at.terms.begin(), at.terms.end(), r.at.terms.begin(),
                          [](const auto& a, const auto& b) { return a.coefficient == b.coefficient && ir::structural_equal(a.atom, b.atom); });
      };
      const auto known = std::find_if(reads_.begin(), reads_.end(), same);
      if (known == reads_.end()) {
        reads_.push_back({l->buffer, std::move(at), end});
      } else {
        known->at.constant = std::min(known->at.constant, at.constant);
        known->end = std::max(known->end, end);
      }
    });
  }

  /// Coefficient of the variable of each loop around; nothing for a place that other things decide too. A loop that runs over several panels one after the
  /// other, panel and turn being quotient and remainder, is `divided`.
  struct Form {
    std::vector<int64_t> coefficients;
    size_t divided = SIZE_MAX;
    int64_t divisor = 0;
  };
  std::optional<Form> form_of(const Reads& r) const {
    Form form{std::vector<int64_t>(loops_.size(), 0)};
    const auto loop_of = [&](const ir::VarNode* v) {
      const auto it = std::find_if(loops_.begin(), loops_.end(), [&](const tir::ForNode* l) { return l->var.get() == v; });
      return static_cast<size_t>(it - loops_.begin());
    };
    for (const LinearIndex::Term& t : r.at.terms) {
      const auto q = quotient(t.atom);
      const auto* v = q ? q->first : ir::as<ir::VarNode>(t.atom);
      const size_t k = v ? loop_of(v) : loops_.size();
      if (k == loops_.size() || form.coefficients[k] != 0 || t.coefficient < 0) return std::nullopt;
      if (q && form.divided != SIZE_MAX) return std::nullopt;
      if (q) form.divided = k, form.divisor = q->second;
      form.coefficients[k] = t.coefficient;
    }
    return form;
  }

  void plan(const Reads& r) {
    const auto form = form_of(r);
    if (!form) return;
    // The panel changes with loop `outer`; the loops from `first` on run over it.
    size_t outer = form->divided, first = outer + 1;
    int64_t turns = form->divisor;
    Expr turn = ir::index(0);
    if (outer != SIZE_MAX) {
      turn = ir::floor_mod(ir::to_expr(loops_[outer]->var), ir::index(form->divisor));
    } else {
      for (outer = 0; outer + 1 < loops_.size() && !(form->coefficients[outer] > 0 && form->coefficients[outer + 1] == 0);) ++outer;
      first = outer + 1;
      if (first >= loops_.size()) return;
      turns = 1;
    }
    const int64_t panel = form->coefficients[outer], element = r.buffer->dtype.bytes();
    int64_t span = r.end - r.at.constant;
    Expr base = ir::index(r.at.constant + panel);
    for (size_t k = 0; k < loops_.size(); ++k) {
      const int64_t c = form->coefficients[k];
      if (k >= first && c > 0) {
        const auto extent = ir::as_int(loops_[k]->extent);
        if (!extent) return;
        span += c * (*extent - 1);
        base = base + loops_[k]->min * c;
      } else if (c > 0) {
        const Expr v = ir::to_expr(loops_[k]->var);
        base = base + (k == form->divided ? ir::floor_div(v, ir::index(form->divisor)) : v) * c;
      }
    }
    // Only where a panel is read whole.
    if (span > panel || 10 * span < 9 * panel || panel * element < kLeastPanel || 3 * panel * element > target_.l2_bytes) return;
    if (r.buffer->num_elements() < 2 * panel) return;
    const int64_t lines = (panel * element + kCacheLine - 1) / kCacheLine, per_line = kCacheLine / element;
    // Into the loops until a turn has few enough.
    size_t place = outer;
    if (form->divided == SIZE_MAX || lines > kMostLines * turns) {
      for (place = first; place < loops_.size(); ++place) {
        const auto extent = ir::as_int(loops_[place]->extent);
        if (!extent || *extent < 1 || tir::is_concurrent(loops_[place]->for_kind)) return;
        turn = turn * *extent + (ir::to_expr(loops_[place]->var) - loops_[place]->min);
        turns *= *extent;
        if (lines <= kMostLines * turns) break;
      }
      if (place == loops_.size()) return;
    }
    if (turns < 2) return;
    const int64_t each = (lines + turns - 1) / turns;
    const Expr line = lines < turns ? ir::floor_div(turn * lines, ir::index(turns)) : turn * each;
    const Expr at = ir::min(base + line * per_line, ir::index(r.buffer->num_elements() - 1));
    std::vector<PanelFetch>& here = found_[loops_[place]->body.get()];
    const auto has = [&](const PanelFetch& p) { return p.buffer.get() == r.buffer.get() && ir::structural_equal(p.at, at); };
    if (std::none_of(here.begin(), here.end(), has)) here.push_back({r.buffer, at, static_cast<int>(each)});
  }

  const Target& target_;
  std::vector<const ir::BufferNode*> inputs_;
  std::vector<const tir::ForNode*> loops_;  ///< around, outermost first
  std::vector<Reads> reads_;                ///< of the loop at hand, without those of loops inside
  PanelFetches found_;
};

}  // namespace

PanelFetches panel_fetches(const tir::Func& f, const Target& target) { return PanelFinder(f, target).run(f.body); }

}  // namespace tw::codegen
