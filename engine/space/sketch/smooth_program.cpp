// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/smooth_program.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tw::space {

SmoothProgram::SmoothProgram(const Program& program, Tape& tape, std::span<const Id> numbers)
    : program_(program), tape_(tape), numbers_(numbers.begin(), numbers.end()), stages_(program.stages().size()), loops_(program.loops().size(), tape.constant(0)) {
  for (size_t i = stages_.size(); i-- > 0;) {
    const schedule::Stage& st = program.scheduled()[i];
    if (!schedule::has_loops(st)) continue;
    Stage& out = stages_[i];
    out.extents.assign(program.slots(static_cast<int>(i)), tape.constant(0));
    out.values.resize(program.stages()[i].shape.size());
    for (size_t k = 0; k < program.stages()[i].shape.size(); ++k) out.extents[k] = tape.constant(std::log(static_cast<double>(program.stages()[i].shape[k])));
    if (st.location == schedule::ComputeLocation::at) region(static_cast<int>(i));
    resolve(static_cast<int>(i));
    out.elements = tape.constant(0);
    for (size_t k = 0; k < program.stages()[i].spatial; ++k) out.elements = tape.plus(out.elements, out.extents[k]);
  }
}

SmoothProgram::Id SmoothProgram::unroll(int stage) const {
  const int number = program_.unroll_number(stage);
  if (number >= 0) return numbers_[static_cast<size_t>(number)];
  const int at = program_.stages()[static_cast<size_t>(stage)].at_loop;
  return at < 0 ? -1 : unroll(program_.loops()[static_cast<size_t>(at)].stage);
}

void SmoothProgram::add(Index& to, const Term& term) const {
  if (tape_.is_constant(term.range, 0)) return;
  const auto same = [&](const Term& t) { return t.loop == term.loop && t.below == term.below && t.above == term.above; };
  const auto at = std::find_if(to.terms.begin(), to.terms.end(), same);
  if (at == to.terms.end()) {
    to.terms.push_back(term);
    return;
  }
  // Where a loop moves an index twice, both add up; none of the operators that there are lets them cancel out.
  if (at->sign == term.sign) at->coeff = tape_.log(tape_.plus(tape_.exp(at->coeff), tape_.exp(term.coeff)));
}

void SmoothProgram::add(Index& to, const Index& other, int64_t factor) const {
  to.constant += other.constant * static_cast<double>(factor);
  to.exact = to.exact && other.exact;
  if (factor == 0) return;
  for (Term t : other.terms) {
    t.coeff = tape_.sum({{t.coeff}}, std::log(std::abs(static_cast<double>(factor))));
    if (factor < 0) t.sign = -t.sign;
    add(to, t);
  }
}

/// floor(v / below) mod (above / below), both as logarithms; above -1: no mod. A part that lies between is whole; of one that reaches beyond, as much as lies
/// between, as if numbers were such that digits fall into each other whole.
SmoothProgram::Index SmoothProgram::digit(const Index& v, Id below, Id above) const {
  Index out;
  out.exact = v.exact && v.constant == 0;
  for (const Term& t : v.terms) {
    const Id end = tape_.plus(t.coeff, t.range);
    Term part = t;
    const Id first = tape_.most(t.coeff, below), last = above < 0 ? end : tape_.least(end, above);
    part.range = tape_.most(tape_.constant(0), tape_.minus(last, first));
    part.coeff = tape_.minus(first, below);
    if (first != t.coeff) part.below = tape_.minus(first, t.coeff);
    if (last != end) part.above = tape_.minus(last, t.coeff);
    add(out, part);
  }
  return out;
}

SmoothProgram::Index SmoothProgram::over_loops(const Program::Index& index, const Stage& reader) const {
  Index out;
  out.constant = static_cast<double>(index.constant);
  out.exact = index.exact;
  for (const Program::Index::Term& t : index.axes) {
    const Index& v = reader.values[static_cast<size_t>(t.slot)];
    if (t.div == 1 && t.mod == 0) {
      add(out, v, t.coeff);
      continue;
    }
    const double below = std::log(static_cast<double>(t.div));
    add(out, digit(v, tape_.constant(below), t.mod == 0 ? -1 : tape_.constant(below + std::log(static_cast<double>(t.mod)))), t.coeff);
  }
  return out;
}

SmoothProgram::Id SmoothProgram::extent_of(const Index& index, int64_t size, const std::function<bool(const Term&)>& moves) const {
  const Id whole = tape_.constant(std::log(static_cast<double>(size)));
  if (!index.exact) return whole;
  Id span = tape_.constant(1);
  for (const Term& t : index.terms)
    if (moves(t)) span = tape_.sum({{span}, {tape_.exp(tape_.plus(t.coeff, t.range))}, {tape_.exp(t.coeff), -1}});
  return tape_.least(tape_.log(span), whole);
}

/// As Program::region: what readers touch while the loops outside stand still.
void SmoothProgram::region(int i) {
  struct Span {
    Index fixed;
    Id lo, hi;
  };
  Stage& out = stages_[static_cast<size_t>(i)];
  const auto same = [&](const Index& a, const Index& b) {
    return a.terms.size() == b.terms.size() && std::all_of(a.terms.begin(), a.terms.end(), [&](const Term& t) {
             return std::any_of(b.terms.begin(), b.terms.end(), [&](const Term& o) {
               return t.loop == o.loop && t.coeff == o.coeff && t.sign == o.sign && t.below == o.below && t.above == o.above;
             });
           });
  };
  for (size_t k = 0; k < program_.stages()[static_cast<size_t>(i)].spatial; ++k) {
    std::optional<Span> all;
    bool whole = false;
    for (const auto& [reader, number] : program_.readers(i)) {
      const Program::Read& read = program_.stages()[static_cast<size_t>(reader)].reads[static_cast<size_t>(number)];
      const Index at = over_loops(read.indices[k], stages_[static_cast<size_t>(reader)]);
      if (!at.exact) {
        whole = true;
        break;
      }
      Span span{{at.constant, {}, true}, tape_.constant(0), tape_.constant(0)};
      for (const Term& t : at.terms) {
        if (program_.stands_still(i, t.loop)) {
          span.fixed.terms.push_back(t);
          continue;
        }
        Id& side = t.sign > 0 ? span.hi : span.lo;
        side = tape_.sum({{side}, {tape_.exp(tape_.plus(t.coeff, t.range)), static_cast<double>(t.sign)}, {tape_.exp(t.coeff), -static_cast<double>(t.sign)}});
      }
      if (!all) {
        all = std::move(span);
        continue;
      }
      whole = whole || !same(span.fixed, all->fixed);
      const double apart = span.fixed.constant - all->fixed.constant;
      all->lo = tape_.least(all->lo, tape_.sum({{span.lo}}, apart));
      all->hi = tape_.most(all->hi, tape_.sum({{span.hi}}, apart));
    }
    if (whole || !all) continue;
    const Id extent = tape_.log(tape_.sum({{all->hi}, {all->lo, -1}}, 1)), shape = out.extents[k];
    out.extents[k] = tape_.least(extent, shape);
    if (out.extents[k] == shape) continue;
    out.values[k] = std::move(all->fixed);
  }
}

/// As Program::resolve: loops from axes, then axes over loops.
void SmoothProgram::resolve(int i) {
  Stage& out = stages_[static_cast<size_t>(i)];
  const Program::Stage& st = program_.stages()[static_cast<size_t>(i)];
  const std::span<const Program::Relation> relations = program_.relations(i);
  const auto slot = [](auto& list, int k) -> auto& { return list[static_cast<size_t>(k)]; };
  for (const Program::Relation& r : relations) {
    if (r.joins) {
      Id product = tape_.constant(0);
      for (const int p : r.parents) product = tape_.plus(product, slot(out.extents, p));
      slot(out.extents, r.children[0]) = product;
      continue;
    }
    Id rest = slot(out.extents, r.parents[0]);
    for (size_t k = r.lengths.size(); k-- > 0;) {
      Id length = tape_.constant(std::log(static_cast<double>(r.lengths[k].constant)));
      for (const int n : r.lengths[k].numbers) length = tape_.plus(length, slot(numbers_, n));
      const Id inner = tape_.least(length, rest);
      rest = tape_.log_ceil(tape_.minus(rest, inner));
      slot(out.extents, r.children[k + 1]) = inner;
    }
    slot(out.extents, r.children[0]) = rest;
  }
  std::vector<Index> values(out.extents.size());
  for (int k = st.first_loop; k < st.first_loop + st.loops; ++k) {
    const int at = program_.loops()[static_cast<size_t>(k)].slot;
    slot(loops_, k) = slot(out.extents, at);
    add(slot(values, at), {.loop = k, .coeff = tape_.constant(0), .range = slot(out.extents, at)});
  }
  for (size_t k = relations.size(); k-- > 0;) {
    const Program::Relation& r = relations[k];
    if (!r.joins) {
      Index sum;
      Id below = tape_.constant(0);
      for (size_t c = r.children.size(); c-- > 0;) {
        Index piece = std::move(slot(values, r.children[c]));
        for (Term& t : piece.terms) {
          t.coeff = tape_.plus(t.coeff, below);
          add(sum, t);
        }
        sum.exact = sum.exact && piece.exact;
        below = tape_.plus(below, slot(out.extents, r.children[c]));
      }
      slot(values, r.parents[0]) = std::move(sum);
      continue;
    }
    const Index& joined = slot(values, r.children[0]);
    size_t outermost = 0;
    while (outermost + 1 < r.parents.size() && tape_.is_constant(slot(out.extents, r.parents[outermost]), 0)) ++outermost;
    Id below = tape_.constant(0);
    for (size_t p = r.parents.size(); p-- > 0;) {
      const Id n = slot(out.extents, r.parents[p]), above = tape_.plus(below, n);
      if (!tape_.is_constant(n, 0)) slot(values, r.parents[p]) = digit(joined, below, p <= outermost ? -1 : above);
      below = above;
    }
  }
  for (size_t k = 0; k < st.shape.size(); ++k) add(out.values[k], values[k], 1);
}

}  // namespace tw::space
