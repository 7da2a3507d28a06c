// SPDX-License-Identifier: Apache-2.0
#include "engine/arith/analyzer.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "engine/ir/visit.h"

namespace tw::arith {

using ir::as;
using ir::BinaryOp;
using ir::Expr;

namespace {

constexpr int64_t kNegInf = Bounds::kNegInf, kPosInf = Bounds::kPosInf;

/// Sums and products of bounds that stay unbounded once unbounded (or overflowing).
int64_t add_bound(int64_t a, int64_t b, int64_t inf) {
  int64_t out = 0;
  if (a == inf || b == inf || a == kNegInf || a == kPosInf || b == kNegInf || b == kPosInf) return inf;
  return __builtin_add_overflow(a, b, &out) ? inf : out;
}
int64_t mul_bound(int64_t a, int64_t factor, int64_t inf) {
  int64_t out = 0;
  if (a == kNegInf || a == kPosInf) return inf;
  return __builtin_mul_overflow(a, factor, &out) ? inf : out;
}

/// One lane of a vector that is a sum of ramps and of what is the same in all lanes; nothing of others.
std::optional<Expr> lane_of(const Expr& e, int lane) {
  if (const auto* r = as<ir::RampNode>(e)) return r->base + r->stride * ir::index(lane);
  if (const auto* b = as<ir::BroadcastNode>(e)) return b->value;
  const auto* n = as<ir::BinaryNode>(e);
  if (!n || (n->op != BinaryOp::add && n->op != BinaryOp::sub)) return std::nullopt;
  const auto a = lane_of(n->a, lane), b = lane_of(n->b, lane);
  return a && b ? std::optional(ir::binary(n->op, *a, *b)) : std::nullopt;
}

bool is_index(const Expr& e) { return e->dtype == ir::kIndex; }

/// How often to take `fact` away from l so that its first term goes, at least once.
int64_t multiple_of(const Linear& l, const Linear& fact) {
  if (fact.terms.empty()) return 1;
  for (const Linear::Term& t : l.terms)
    if (same_atom(t.atom, fact.terms[0].atom)) return std::max<int64_t>(1, t.coeff / fact.terms[0].coeff);
  return 1;
}

}  // namespace

Bounds Analyzer::bounds(const Linear& l) const {
  Bounds out{l.constant, l.constant};
  for (const Linear::Term& t : l.terms) {
    const Bounds b = atom_bounds(t.atom);
    const bool up = t.coeff > 0;
    out.lo = add_bound(out.lo, mul_bound(up ? b.lo : b.hi, t.coeff, kNegInf), kNegInf);
    out.hi = add_bound(out.hi, mul_bound(up ? b.hi : b.lo, t.coeff, kPosInf), kPosInf);
  }
  return out;
}

Bounds Analyzer::bounds(const Expr& e) const { return bounds(linear(e)); }

Bounds Analyzer::atom_bounds(const Expr& atom) const {
  if (const auto* v = as<ir::VarNode>(atom)) {
    const auto it = ranges_.find(v);
    return it == ranges_.end() ? Bounds{} : it->second;
  }
  if (const auto* s = as<ir::SelectNode>(atom)) {
    const Bounds t = bounds(s->if_true), f = bounds(s->if_false);
    return {std::min(t.lo, f.lo), std::max(t.hi, f.hi)};
  }
  if (const auto* b = as<ir::BinaryNode>(atom)) {
    const auto c = ir::as_int(b->b);
    if (b->op == BinaryOp::floor_div && c && *c > 0) {
      const Bounds x = bounds(b->a);
      return {x.lo == kNegInf ? kNegInf : floor_div_int(x.lo, *c), x.hi == kPosInf ? kPosInf : floor_div_int(x.hi, *c)};
    }
    if (b->op == BinaryOp::floor_mod && c && *c > 0) {
      const Bounds x = bounds(b->a);
      if (x.finite() && floor_div_int(x.lo, *c) == floor_div_int(x.hi, *c)) return {floor_mod_int(x.lo, *c), floor_mod_int(x.hi, *c)};
      return {0, *c - 1};
    }
    if (b->op == BinaryOp::min || b->op == BinaryOp::max) {
      const Bounds x = bounds(b->a), y = bounds(b->b);
      if (b->op == BinaryOp::min) return {std::min(x.lo, y.lo), std::min(x.hi, y.hi)};
      return {std::max(x.lo, y.lo), std::max(x.hi, y.hi)};
    }
  }
  return {};
}

Linear Analyzer::linear(const Expr& e) const {
  const auto* limit = as<ir::BinaryNode>(e);
  if (!limit || (limit->op != BinaryOp::min && limit->op != BinaryOp::max)) return new_linear(e);
  // Each is asked for by all around it, several times: without what was found, nested ones take time exponential in their depth.
  if (const auto it = limits_.find(e.get()); it != limits_.end()) return it->second.second;
  Linear out = new_linear(e);
  if (!consulting_facts_) limits_.emplace(e.get(), std::pair(e, out));
  return out;
}

Linear Analyzer::new_linear(const Expr& e) const {
  Linear out;
  if (const auto v = ir::as_int(e)) {
    out.constant = *v;
    return out;
  }
  if (as<ir::VarNode>(e)) {
    out.terms.push_back({e, 1});
    return out;
  }
  if (const auto* b = as<ir::BinaryNode>(e); b && is_index(e)) {
    const auto cb = ir::as_int(b->b);
    switch (b->op) {
      case BinaryOp::add:
      case BinaryOp::sub:
        out = linear(b->a);
        out.add(linear(b->b), b->op == BinaryOp::add ? 1 : -1);
        return out;
      case BinaryOp::mul: {
        Linear x = linear(b->a), y = linear(b->b);
        if (x.is_constant()) std::swap(x, y);
        if (!y.is_constant()) break;
        x.scale(y.constant);
        return x;
      }
      case BinaryOp::floor_div:
        if (cb && *cb > 0) return div_linear(joined(b->a), *cb);
        break;
      case BinaryOp::floor_mod:
        if (cb && *cb > 0) return mod_linear(joined(b->a), *cb);
        break;
      default:
        break;
    }
  }
  // x // c and x % c of the same x meet again as x when a fused loop is taken apart and put together.
  const Expr atom = ir::map_children(e, [&](const Expr& c) { return simplify(c); });
  Expr folded = atom;
  if (const auto* b = as<ir::BinaryNode>(atom); b && (b->op == BinaryOp::min || b->op == BinaryOp::max)) folded = simplify_min_max(*b, atom);
  if (const auto v = ir::as_int(folded)) {
    out.constant = *v;
    return out;
  }
  // A select or minimum that folded away leaves what it chose, which may be a sum.
  const auto *was = as<ir::BinaryNode>(e), *is = as<ir::BinaryNode>(folded);
  if (folded->kind() != e->kind() || (was && was->op != is->op)) return linear(folded);
  out.add_term(folded, 1);
  return out;
}

bool Analyzer::same_quotient(const Expr& a, const Expr& b) const {
  if (same_atom(a, b)) return true;
  const auto *p = as<ir::BinaryNode>(a), *q = as<ir::BinaryNode>(b);
  if (!p || !q || p->op != BinaryOp::floor_div || q->op != BinaryOp::floor_div || !same_atom(p->b, q->b)) return false;
  Linear apart = linear(p->a);
  apart.add(linear(q->a), -1);
  return apart.is_constant() && apart.constant == 0;
}

void Analyzer::join_div_mod(Linear& l) const {
  for (const Linear::Term& t : l.terms) {
    const auto* m = as<ir::BinaryNode>(t.atom);
    const auto c = m && m->op == BinaryOp::floor_mod ? ir::as_int(m->b) : std::nullopt;
    if (!c) continue;
    const Linear x = linear(m->a);
    std::vector<Linear> quotients = {div_linear(x, *c)};
    for (const Linear::Term& part : x.terms) {  // (a + y // g) // c == (a * g + y) // (g * c)
      const auto* d = part.coeff == 1 ? as<ir::BinaryNode>(part.atom) : nullptr;
      const auto g = d && d->op == BinaryOp::floor_div ? ir::as_int(d->b) : std::nullopt;
      int64_t both = 0;
      if (!g || *g < 2 || __builtin_mul_overflow(*g, *c, &both)) continue;
      Linear z = x;
      z.add_term(part.atom, -1);
      z.scale(*g);
      z.add(linear(d->a));
      quotients.push_back(div_linear(std::move(z), both));
    }
    const int64_t coeff = t.coeff, whole = coeff * *c;
    for (const Linear& quotient : quotients) {
      if (quotient.terms.size() != 1 || quotient.constant != 0) continue;
      const int64_t all = whole * quotient.terms[0].coeff;
      const Expr mod = t.atom, &div = quotient.terms[0].atom;
      const auto paired = std::find_if(l.terms.begin(), l.terms.end(), [&](const Linear::Term& d) { return d.coeff == all && same_quotient(d.atom, div); });
      if (paired == l.terms.end()) continue;
      l.terms.erase(paired);
      l.add_term(mod, -coeff);
      l.add(x, coeff);
      return join_div_mod(l);
    }
  }
}

std::optional<Analyzer::Parts> Analyzer::parts_of(const Linear& x, int64_t c) const {
  int64_t common = c;
  for (const Linear::Term& t : x.terms) common = std::gcd(common, t.coeff);
  std::vector<int64_t> sizes = {common};
  for (const Linear::Term& t : x.terms) sizes.push_back(std::gcd(c, t.coeff));
  std::optional<Parts> found;
  for (const int64_t g : sizes) {
    if (g == 1 || g == c || (found && g <= found->size)) continue;
    Parts p{g, {}, {}};
    p.whole.constant = floor_div_int(x.constant, g);
    p.rest.constant = floor_mod_int(x.constant, g);
    for (const Linear::Term& t : x.terms) t.coeff % g == 0 ? p.whole.add_term(t.atom, t.coeff / g) : p.rest.add_term(t.atom, t.coeff);
    if (const Bounds b = bounds(p.rest); b.lo >= 0 && b.hi < g) found = std::move(p);
  }
  return found;
}

std::optional<Analyzer::Parts> Analyzer::nearly_whole(const Linear& x, int64_t c) const {
  Parts p{c, {}, {}};
  p.rest.constant = x.constant;
  for (const Linear::Term& t : x.terms) {
    const int64_t times = floor_div_int(t.coeff + c / 2, c), left = t.coeff - times * c;
    const bool near = 4 * std::abs(left) <= c;
    if (near && times != 0) p.whole.add_term(t.atom, times);
    if (!near || left != 0) p.rest.add_term(t.atom, near ? left : t.coeff);
  }
  if (p.whole.is_constant()) return std::nullopt;
  const Bounds b = bounds(p.rest);
  if (!b.finite() || floor_div_int(b.lo, c) != floor_div_int(b.hi, c)) return std::nullopt;
  p.whole.constant = floor_div_int(b.lo, c);
  p.rest.constant -= c * p.whole.constant;
  return p;
}

Linear Analyzer::div_linear(Linear x, int64_t c) const {
  if (c == 1) return x;
  Linear quotient, rest;
  quotient.constant = floor_div_int(x.constant, c);
  rest.constant = floor_mod_int(x.constant, c);
  for (const Linear::Term& t : x.terms) {
    const int64_t q = floor_div_int(t.coeff, c), r = floor_mod_int(t.coeff, c);
    if (r == 0)
      quotient.add_term(t.atom, q);
    else
      rest.add_term(t.atom, t.coeff);
  }
  const Bounds b = bounds(rest);
  if (b.finite() && floor_div_int(b.lo, c) == floor_div_int(b.hi, c)) {
    quotient.constant += floor_div_int(b.lo, c);
    return quotient;
  }
  if (const auto parts = nearly_whole(rest, c)) {
    quotient.add(parts->whole);
    return quotient;
  }
  if (const auto parts = parts_of(rest, c)) {  // (g*r + k) // (g*c') == r // c'
    quotient.add(div_linear(parts->whole, c / parts->size));
    return quotient;
  }
  const auto* d = rest.terms.size() == 1 && rest.terms[0].coeff == 1 && rest.constant == 0 ? as<ir::BinaryNode>(rest.terms[0].atom) : nullptr;
  const auto dc = d ? ir::as_int(d->b) : std::nullopt;
  if (dc && d->op == BinaryOp::floor_mod && *dc % c == 0) {  // (x % (c*k)) // c == (x // c) % k
    quotient.add(mod_linear(div_linear(linear(d->a), c), *dc / c));
    return quotient;
  }
  // (r + x // a) // c == (a*r + x) // (a*c), which is also what comes of dividing a*r + x by a*c at once.
  int64_t both = 0;
  const auto inner = std::find_if(rest.terms.begin(), rest.terms.end(), [&](const Linear::Term& t) {
    const auto* n = t.coeff == 1 ? as<ir::BinaryNode>(t.atom) : nullptr;
    const int64_t a = n && n->op == BinaryOp::floor_div ? ir::as_int(n->b).value_or(0) : 0;
    return a > 0 && !__builtin_mul_overflow(a, c, &both);
  });
  if (inner != rest.terms.end()) {
    const Expr atom = inner->atom;
    const auto* n = as<ir::BinaryNode>(atom);
    const int64_t a = *ir::as_int(n->b);
    rest.add_term(atom, -1);
    rest.scale(a);
    rest.add(linear(n->a));
    quotient.add(div_linear(std::move(rest), both));
    return quotient;
  }
  quotient.add_term(ir::floor_div(rest.to_expr(), ir::index(c)), 1);
  return quotient;
}

Linear Analyzer::mod_linear(Linear x, int64_t c) const {
  Linear rest;
  if (c == 1) return rest;
  rest.constant = floor_mod_int(x.constant, c);
  for (const Linear::Term& t : x.terms)
    if (floor_mod_int(t.coeff, c) != 0) rest.add_term(t.atom, t.coeff);
  const Bounds b = bounds(rest);
  if (b.finite() && floor_div_int(b.lo, c) == floor_div_int(b.hi, c)) {
    rest.constant -= c * floor_div_int(b.lo, c);
    return rest;
  }
  if (const auto parts = nearly_whole(rest, c)) return parts->rest;
  if (const auto parts = parts_of(rest, c)) {  // (g*r + k) % (g*c') == g * (r % c') + k
    Linear out = mod_linear(parts->whole, c / parts->size);
    out.scale(parts->size);
    out.add(parts->rest);
    return out;
  }
  if (rest.is_constant()) return rest;
  if (rest.terms.size() == 1 && rest.terms[0].coeff == 1 && rest.constant == 0)
    if (const auto* m = as<ir::BinaryNode>(rest.terms[0].atom); m && m->op == BinaryOp::floor_mod && ir::as_int(m->b) && *ir::as_int(m->b) % c == 0)
      return mod_linear(linear(m->a), c);
  Linear out;
  out.add_term(ir::floor_mod(rest.to_expr(), ir::index(c)), 1);
  return out;
}

bool Analyzer::proves_non_positive(const Linear& l) const {
  if (bounds(l).hi <= 0) return true;
  if (consulting_facts_) return false;  // the bounds of a fact's own conditions must not ask the facts again
  consulting_facts_ = true;
  const bool proven = std::any_of(facts_.begin(), facts_.end(), [&](const Linear& fact) {
    Linear gap = l;
    gap.add(fact, -multiple_of(l, fact));
    return bounds(gap).hi <= 0;
  });
  consulting_facts_ = false;
  return proven;
}

size_t Analyzer::push_fact(const Expr& cond) {
  const size_t mark = facts_.size();
  if (const auto* b = as<ir::BinaryNode>(cond)) {
    if (b->op == BinaryOp::and_) {
      push_fact(b->a);
      push_fact(b->b);
    } else if ((b->op == BinaryOp::lt || b->op == BinaryOp::le || b->op == BinaryOp::eq) && is_index(b->a)) {
      Linear l = linear(b->a);
      l.add(linear(b->b), -1);
      if (b->op == BinaryOp::lt) l.constant += 1;
      facts_.push_back(l);
      if (b->op == BinaryOp::eq) {
        l.scale(-1);
        facts_.push_back(l);
      }
    }
  }
  limits_.clear();  // what the condition's own limits were before it held, too
  return mark;
}

/// g*A + R <= 0 says A <= floor(-R / g), which one number may be for all values of R: 8*x + r < 512 with r in [0, 8) is x < 64.
std::optional<Expr> Analyzer::tightened(const Linear& l) const {
  for (const Linear::Term& by : l.terms) {
    const int64_t g = std::abs(by.coeff);
    if (g < 2) continue;
    Linear whole, rest;
    rest.constant = l.constant;
    for (const Linear::Term& t : l.terms) {
      if (t.coeff % g == 0)
        whole.add_term(t.atom, t.coeff / g);
      else
        rest.add_term(t.atom, t.coeff);
    }
    const Bounds b = bounds(rest);
    if (b.lo <= kNegInf / 2 || b.hi >= kPosInf / 2) continue;
    const int64_t most = floor_div_int(-b.lo, g);
    if (most != floor_div_int(-b.hi, g)) continue;
    if (whole.terms[0].coeff > 0) return whole.to_expr() < ir::index(most + 1);
    whole.scale(-1);
    return ir::index(-most) <= whole.to_expr();
  }
  return std::nullopt;
}

Expr Analyzer::simplify_comparison(const ir::BinaryNode& n, const Expr& e) const {
  Linear d = linear(n.a);
  const Linear other = linear(n.b);
  constexpr int64_t kFar = int64_t{1} << 61;  // numbers beyond it, of users, may have no difference
  const bool far = std::max(d.constant, other.constant) > kFar || std::min(d.constant, other.constant) < -kFar;
  if (!far) d.add(other, -1);
  Linear shifted = d, negated = d;
  if (!far) negated.scale(-1);
  switch (far ? BinaryOp::add : n.op) {
    case BinaryOp::lt:
      shifted.constant += 1;
      if (proves_non_positive(shifted)) return ir::bool_imm(true);
      if (proves_non_positive(negated)) return ir::bool_imm(false);
      if (const auto t = tightened(shifted)) return simplify(*t);
      break;
    case BinaryOp::le:
      negated.constant += 1;
      if (proves_non_positive(d)) return ir::bool_imm(true);
      if (proves_non_positive(negated)) return ir::bool_imm(false);
      if (const auto t = tightened(d)) return simplify(*t);
      break;
    case BinaryOp::eq:
    case BinaryOp::ne: {
      if (d.is_constant()) return ir::bool_imm((d.constant == 0) == (n.op == BinaryOp::eq));
      const Bounds b = bounds(d);
      if (b.lo > 0 || b.hi < 0) return ir::bool_imm(n.op == BinaryOp::ne);
      break;
    }
    default:
      break;
  }
  Expr a = simplify(n.a), b = simplify(n.b);
  return a.same_as(n.a) && b.same_as(n.b) ? e : ir::binary(n.op, a, b);
}

std::optional<bool> Analyzer::same_in_all_lanes(const ir::BinaryNode& n) const {
  // What grows or shrinks evenly from lane to lane is known to be below a limit in all of them if it is in the first and the last.
  const auto in_lane = [&](int lane) -> std::optional<bool> {
    const auto a = lane_of(n.a, lane), b = lane_of(n.b, lane);
    return a && b ? decided(ir::binary(n.op, *a, *b)) : std::nullopt;
  };
  if (n.op != BinaryOp::lt && n.op != BinaryOp::le) return std::nullopt;
  const auto first = in_lane(0);
  return first == in_lane(n.a->dtype.lanes - 1) ? first : std::nullopt;
}

Expr Analyzer::simplify_min_max(const ir::BinaryNode& n, const Expr& e) const {
  Linear d = linear(n.a);
  d.add(linear(n.b), -1);
  const bool is_min = n.op == BinaryOp::min;
  if (proves_non_positive(d)) return is_min ? n.a : n.b;
  d.scale(-1);
  if (proves_non_positive(d)) return is_min ? n.b : n.a;
  return e;
}

Linear Analyzer::joined(const Expr& e) const {
  Linear l = linear(e);
  join_div_mod(l);
  return l;
}

Expr Analyzer::simplify(const Expr& e) const {
  if (as<ir::VarNode>(e) || as<ir::IntImmNode>(e) || as<ir::FloatImmNode>(e)) return e;
  if (is_index(e) && (as<ir::BinaryNode>(e) || as<ir::SelectNode>(e))) {
    const Linear l = joined(e);
    if (l.constant == 0 && l.terms.size() == 1 && l.terms[0].coeff == 1) {
      const Expr& atom = l.terms[0].atom;
      return same_atom(atom, e) ? e : atom;
    }
    const Expr out = l.to_expr();
    return same_atom(out, e) ? e : out;
  }
  if (const auto* b = as<ir::BinaryNode>(e)) {
    if (ir::is_comparison(b->op) && is_index(b->a)) return simplify_comparison(*b, e);
    if (ir::is_comparison(b->op) && !b->a->dtype.is_scalar() && b->a->dtype.element() == ir::kIndex)
      if (const auto v = same_in_all_lanes(*b)) return ir::broadcast(ir::bool_imm(*v), b->a->dtype.lanes);
  }
  if (const auto* s = as<ir::SelectNode>(e)) {
    if (const auto v = decided(s->cond)) return simplify(*v ? s->if_true : s->if_false);
  }
  return ir::map_children(e, [&](const Expr& c) { return simplify(c); });
}

std::optional<bool> Analyzer::decided(const Expr& cond) const {
  const Expr c = simplify(cond);
  const auto* all = as<ir::BroadcastNode>(c);
  const auto v = ir::as_int(all ? all->value : c);
  return v ? std::optional(*v != 0) : std::nullopt;
}

bool Analyzer::prove(const Expr& cond) const { return ir::is_int(simplify(cond), 1); }

}  // namespace tw::arith
