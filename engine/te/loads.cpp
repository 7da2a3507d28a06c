// SPDX-License-Identifier: Apache-2.0
#include "engine/te/loads.h"

#include <algorithm>

#include "engine/arith/analyzer.h"
#include "engine/base/text.h"
#include "engine/ir/print.h"
#include "engine/ir/visit.h"

namespace tw::te {

namespace {

class LoadCheck {
 public:
  explicit LoadCheck(const Op& op) : op_(op) {
    for (const auto* axes : {&op.axes, &op.reduce_axes})
      for (const Axis& a : *axes) analyzer_.bind(a.var.get(), {0, a.extent - 1});
  }

  void visit(const ir::Expr& e) {
    if (error_) return;
    if (const auto* s = ir::as<ir::SelectNode>(e)) {
      visit(s->cond);
      under(s->cond, s->if_true);
      under(ir::logical_not(s->cond), s->if_false);
      return;
    }
    if (const auto* l = ir::as<ir::LoadNode>(e)) check(*l, e);
    ir::for_each_child(e, [&](const ir::Expr& c) { visit(c); });
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  void under(const ir::Expr& condition, const ir::Expr& value) {
    const size_t mark = analyzer_.push_fact(condition);
    visit(value);
    analyzer_.pop_facts(mark);
  }

  void check(const ir::LoadNode& l, const ir::Expr& e) {
    for (size_t d = 0; d < l.indices.size() && !error_; ++d) {
      const int64_t extent = l.buffer->shape[d];
      if (analyzer_.prove(ir::index(0) <= l.indices[d]) && analyzer_.prove(l.indices[d] < ir::index(extent))) continue;
      const arith::Bounds b = analyzer_.bounds(l.indices[d]);
      const auto end = [](int64_t v) { return v == arith::Bounds::kNegInf || v == arith::Bounds::kPosInf ? std::string("any number") : std::to_string(v); };
      error_ = Error(ErrorCode::invalid_argument,
                     fmt::format("Expected index {} of '{}' from 0 to {}, found {}, which may be from {} to {}", d + 1, printable(l.buffer->name), extent - 1,
                                 printable(ir::print(l.indices[d])), end(b.lo), end(b.hi)),
                     "op '" + printable(op_.name) + "'");
      if (std::any_of(l.indices.begin(), l.indices.end(), [](const ir::Expr& i) { return !ir::as_int(i); })) error_->notes.push_back("read: " + printable(ir::print(e)));
    }
  }

  const Op& op_;
  arith::Analyzer analyzer_;
  std::optional<Error> error_;
};

}  // namespace

Expected<void> check_loads(const Dag& dag) {
  for (const Op& op : dag.ops) {
    if (!op.body) continue;
    LoadCheck check(op);
    check.visit(*op.body);
    if (check.error()) return *check.error();
  }
  return {};
}

}  // namespace tw::te
