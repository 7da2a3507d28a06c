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
  LinearIndex at;                           ///< of the first
  int64_t end;                              ///< behind the last, as a constant like at.constant
  std::vector<const tir::ForNode*> around;  ///< loops, outermost first
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

  Panels run(const tir::Stmt& s) {
    visit(s);
    for (const Reads& r : all_) collect(r);
    for (const Panel& p : panels_) plan(p);
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
    for (Reads& r : reads_) {
      r.around = loops_;
      all_.push_back(std::move(r));
    }
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
        reads_.push_back({l->buffer, std::move(at), end, {}});
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
    Form form{std::vector<int64_t>(r.around.size(), 0)};
    const auto loop_of = [&](const ir::VarNode* v) {
      const auto it = std::find_if(r.around.begin(), r.around.end(), [&](const tir::ForNode* l) { return l->var.get() == v; });
      return static_cast<size_t>(it - r.around.begin());
    };
    for (const LinearIndex::Term& t : r.at.terms) {
      const auto q = quotient(t.atom);
      const auto* v = q ? q->first : ir::as<ir::VarNode>(t.atom);
      const size_t k = v ? loop_of(v) : r.around.size();
      if (k == r.around.size() || form.coefficients[k] != 0 || t.coefficient < 0) return std::nullopt;
      if (q && form.divided != SIZE_MAX) return std::nullopt;
      if (q) form.divided = k, form.divisor = q->second;
      form.coefficients[k] = t.coefficient;
    }
    return form;
  }

  /// What a turn of loop `outer` reads of an array, by any of the loops inside.
  struct Panel {
    ir::Buffer buffer;
    std::vector<const tir::ForNode*> around = {};  ///< `outer` is the last of them
    std::vector<int64_t> coefficients = {};        ///< of their variables
    int64_t divisor = 0;                           ///< of the last variable, where the loop runs over several panels
    int64_t begin, end;                            ///< elements, beside what those variables add
    std::vector<std::vector<const tir::ForNode*>> inside;

    int64_t elements() const { return coefficients.back(); }
    bool same(const Panel& o) const { return buffer.get() == o.buffer.get() && around == o.around && coefficients == o.coefficients && divisor == o.divisor; }
  };

  void collect(const Reads& r) {
    const auto form = form_of(r);
    if (!form) return;
    const size_t loops = r.around.size();
    // The panel changes with loop `outer`; the loops behind it run over it.
    size_t outer = form->divided;
    if (outer == SIZE_MAX)
      for (outer = 0; outer + 1 < loops && !(form->coefficients[outer] > 0 && form->coefficients[outer + 1] == 0);) ++outer;
    const auto inner = static_cast<std::ptrdiff_t>(outer + 1);
    Panel panel{.buffer = r.buffer, .divisor = form->divisor, .begin = r.at.constant, .end = r.end, .inside = {{r.around.begin() + inner, r.around.end()}}};
    panel.around.assign(r.around.begin(), r.around.begin() + inner);
    panel.coefficients.assign(form->coefficients.begin(), form->coefficients.begin() + inner);
    if (form->divided == SIZE_MAX && panel.inside.front().empty()) return;
    for (size_t k = outer + 1; k < loops; ++k) {
      const auto extent = ir::as_int(r.around[k]->extent), min = ir::as_int(r.around[k]->min);
      if (form->coefficients[k] == 0) continue;
      if (!extent || !min) return;
      panel.begin += form->coefficients[k] * *min;
      panel.end += form->coefficients[k] * (*min + *extent - 1);
    }
    const auto known = std::find_if(panels_.begin(), panels_.end(), [&](const Panel& p) { return p.same(panel); });
    if (known == panels_.end()) return panels_.push_back(std::move(panel));
    known->begin = std::min(known->begin, panel.begin);
    known->end = std::max(known->end, panel.end);
    known->inside.push_back(std::move(panel.inside.front()));
  }

  void plan(const Panel& p) {
    const int64_t panel = p.elements(), span = p.end - p.begin, element = p.buffer->dtype.bytes();
    // Only where a panel is read whole.
    if (span > panel || 10 * span < 9 * panel || panel * element < kLeastPanel || p.buffer->num_elements() < 2 * panel) return;
    if (3 * panel * element > target_.l2_bytes) {
      found_.wide.insert(p.buffer.get());
      return;
    }
    Expr base = ir::index(p.begin + panel);
    for (size_t k = 0; k < p.around.size(); ++k) {
      const Expr v = ir::to_expr(p.around[k]->var);
      if (p.coefficients[k] > 0) base = base + (p.divisor > 0 && k + 1 == p.around.size() ? ir::floor_div(v, ir::index(p.divisor)) : v) * p.coefficients[k];
    }
    // Where most turns read it: others are the last ones, or left out at the border of an image.
    const auto turns_of = [](const std::vector<const tir::ForNode*>& loops) {
      int64_t turns = 1;
      for (const tir::ForNode* l : loops) turns *= ir::as_int(l->extent).value_or(1);
      return turns;
    };
    const auto most = std::max_element(p.inside.begin(), p.inside.end(), [&](const auto& a, const auto& b) { return turns_of(a) < turns_of(b); });
    const tir::ForNode* place = p.around.back();
    int64_t turns = 1;
    Expr turn = ir::index(0);
    if (p.divisor > 0) {
      turns = p.divisor;
      turn = ir::floor_mod(ir::to_expr(place->var), ir::index(p.divisor));
    }
    // Into the loops until a turn has few enough.
    const int64_t lines = (panel * element + kCacheLine - 1) / kCacheLine, per_line = kCacheLine / element;
    bool few = p.divisor > 0 && lines <= kMostLines * turns;
    for (auto l = most->begin(); l != most->end() && !few; ++l) {
      place = *l;
      const auto extent = ir::as_int(place->extent);
      if (!extent || *extent < 1 || tir::is_concurrent(place->for_kind)) return;
      turn = turn * *extent + (ir::to_expr(place->var) - place->min);
      turns *= *extent;
      few = lines <= kMostLines * turns;
    }
    if (!few || turns < 2) return;
    const int64_t each = (lines + turns - 1) / turns;
    const Expr line = lines < turns ? ir::floor_div(turn * lines, ir::index(turns)) : turn * each;
    const Expr at = ir::min(base + line * per_line, ir::index(p.buffer->num_elements() - 1));
    found_.fetches[place->body.get()].push_back({p.buffer, at, static_cast<int>(each)});
  }

  const Target& target_;
  std::vector<const ir::BufferNode*> inputs_;
  std::vector<const tir::ForNode*> loops_;  ///< around, outermost first
  std::vector<Reads> reads_;                ///< of the loop at hand, without those of loops inside
  std::vector<Reads> all_;
  std::vector<Panel> panels_;
  Panels found_;
};

}  // namespace

Panels panels_of(const tir::Func& f, const Target& target) { return PanelFinder(f, target).run(f.body); }

}  // namespace tw::codegen
