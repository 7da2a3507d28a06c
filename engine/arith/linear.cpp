// SPDX-License-Identifier: Apache-2.0
#include "engine/arith/linear.h"

#include "engine/ir/visit.h"

namespace tw::arith {

using ir::Expr;

bool same_atom(const Expr& a, const Expr& b) {
  if (a.same_as(b)) return true;
  if (a->kind() != b->kind() || a->dtype != b->dtype || ir::as<ir::VarNode>(a)) return false;
  if (const auto* x = ir::as<ir::IntImmNode>(a)) return x->value == ir::as<ir::IntImmNode>(b)->value;
  if (const auto* x = ir::as<ir::FloatImmNode>(a)) return x->value == ir::as<ir::FloatImmNode>(b)->value;
  if (const auto* x = ir::as<ir::BinaryNode>(a)) {
    const auto* y = ir::as<ir::BinaryNode>(b);
    return x->op == y->op && same_atom(x->a, y->a) && same_atom(x->b, y->b);
  }
  if (const auto* x = ir::as<ir::CallNode>(a))
    if (x->function != ir::as<ir::CallNode>(b)->function) return false;
  if (const auto* x = ir::as<ir::LoadNode>(a))
    if (!x->buffer.same_as(ir::as<ir::LoadNode>(b)->buffer)) return false;
  std::vector<Expr> left, right;
  ir::for_each_child(a, [&](const Expr& c) { left.push_back(c); });
  ir::for_each_child(b, [&](const Expr& c) { right.push_back(c); });
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i)
    if (!same_atom(left[i], right[i])) return false;
  return true;
}

void Linear::add_term(const Expr& atom, int64_t coeff) {
  if (coeff == 0) return;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (!same_atom(terms[i].atom, atom)) continue;
    terms[i].coeff += coeff;
    if (terms[i].coeff == 0) terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
  terms.push_back({atom, coeff});
}

void Linear::add(const Linear& other, int64_t factor) {
  constant += other.constant * factor;
  for (const Term& t : other.terms) add_term(t.atom, t.coeff * factor);
}

void Linear::scale(int64_t factor) {
  if (factor == 0) {
    terms.clear();
    constant = 0;
    return;
  }
  constant *= factor;
  for (Term& t : terms) t.coeff *= factor;
}

Expr Linear::to_expr() const {
  std::optional<Expr> sum;
  for (const Term& t : terms) {
    if (t.coeff < 0) continue;
    const Expr product = t.atom * t.coeff;
    sum = sum ? *sum + product : product;
  }
  for (const Term& t : terms) {
    if (t.coeff >= 0) continue;
    sum = sum ? *sum - t.atom * (-t.coeff) : t.atom * t.coeff;
  }
  if (!sum) return ir::index(constant);
  return constant >= 0 ? *sum + constant : *sum - (-constant);
}

}  // namespace tw::arith
