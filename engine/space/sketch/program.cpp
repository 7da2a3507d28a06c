// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/arith/analyzer.h"
#include "engine/base/hash.h"
#include "engine/lower/launch.h"
#include "engine/lower/prepare.h"
#include "engine/schedule/loops.h"
#include "engine/schedule/primitive.h"
#include "engine/space/sketch/limits.h"

namespace tw::space {

using schedule::ComputeLocation;
using te::AxisKind;

namespace {

/// As of a schedule's arrays and loops.
constexpr int64_t kMost = int64_t{1} << 48;

class StructureHash {
 public:
  void operator()(const schedule::SplitStep& s) { add({s.stage, s.iter, static_cast<int64_t>(s.lengths.size()), s.from_inside}); }
  void operator()(const schedule::AutoUnrollStep& s) { add({s.stage}); }
  void operator()(const schedule::FuseStep& s) { add({s.stage}), add(s.iters); }
  void operator()(const schedule::ReorderStep& s) { add({s.stage}), add(s.order); }
  void operator()(const schedule::AnnotationStep& s) { add({s.stage, s.iter, static_cast<int64_t>(s.annotation)}); }
  void operator()(const schedule::ComputeAtStep& s) { add({s.stage, s.target_stage, s.target_iter}); }
  void operator()(const schedule::ComputeInlineStep& s) { add({s.stage}); }
  void operator()(const schedule::ComputeRootStep& s) { add({s.stage}); }
  void operator()(const schedule::FollowSplitStep& s) { add({s.stage, s.iter, s.source, s.parts}); }
  void operator()(const schedule::FollowFusedSplitStep& s) { add({s.stage, s.iter, s.level, s.from_inside}), add(s.sources); }
  template <class Other>
  void operator()(const Other& s) {
    hash = stable_hash(schedule::json_text({schedule::Step(s)}), hash);
  }
  void kind(size_t index) { add({static_cast<int64_t>(index)}); }

  void add(std::initializer_list<int64_t> values) {
    for (const int64_t v : values) hash = hash_combine(hash, static_cast<uint64_t>(v));
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add({static_cast<int64_t>(values.size())});
    for (const T v : values) add({v});
  }

  uint64_t hash = 0;
};

/// axis, floor(axis / div) or floor(axis / div) mod n, div 1 where there is none.
struct AxisDigit {
  const ir::VarNode* axis = nullptr;
  int64_t div = 1, mod = 0;
};

AxisDigit axis_digit(const ir::Expr& e) {
  if (const auto* v = ir::as<ir::VarNode>(e)) return {v};
  const auto* b = ir::as<ir::BinaryNode>(e);
  if (b == nullptr || (b->op != ir::BinaryOp::floor_div && b->op != ir::BinaryOp::floor_mod)) return {};
  const auto by = ir::as_int(b->b);
  AxisDigit inner = axis_digit(b->a);
  if (!by || *by < 1 || inner.mod != 0) return {};
  if (b->op == ir::BinaryOp::floor_mod)
    inner.mod = *by;
  else if (inner.div > kMost / *by)
    return {};
  else
    inner.div *= *by;
  return inner;
}

}  // namespace

DigitSum DigitSum::digit(int64_t div, int64_t n) const {
  const DigitSum& v = *this;
  DigitSum out;
  out.exact = v.exact && v.constant == 0;
  for (const DigitSum::Term& t : v.terms) {
    const int64_t s = t.coeff, whole = s * t.digit.range, above = n == 0 ? 0 : div * n;
    if (s <= 0) {
      out.exact = false;
    } else if (above > 0 && s % above == 0) {
      continue;  // counts whole turns
    } else if (whole <= div && div % s == 0) {
      continue;  // counts less than a step
    } else if (s < div) {
      if (div % s != 0 || t.digit.range % (div / s) != 0) {
        out.exact = false;
        continue;
      }
      LoopDigit d = t.digit;
      const int64_t step = div / s;
      d.div *= step;
      d.range /= step;
      if (d.mod > 0) d.mod /= step;
      if (n > 0 && d.range > n) {
        if (d.range % n != 0) out.exact = false;
        d.mod = n;
        d.range = n;
      }
      out.add(d, 1);
    } else if (s % div == 0) {
      LoopDigit d = t.digit;
      const int64_t step = s / div;
      if (n > 0 && whole > above) {
        if (above % s != 0 || d.range % (above / s) != 0) {
          out.exact = false;
          continue;
        }
        d.range = above / s;
        d.mod = d.range;
      }
      out.add(d, step);
    } else {
      out.exact = false;
    }
  }
  return out;
}

DigitSum Program::Index::over_loops(std::span<const DigitSum> values) const {
  DigitSum out;
  out.constant = constant;
  out.exact = exact;
  for (const Term& t : axes) {
    const DigitSum& v = values[static_cast<size_t>(t.slot)];
    if (t.div == 1 && t.mod == 0)
      out.add(v, t.coeff);
    else
      out.add(v.digit(t.div, t.mod), t.coeff);
  }
  return out;
}

std::vector<int64_t> numbers_of(std::span<const schedule::Step> steps) {
  std::vector<int64_t> out;
  for (const schedule::Step& step : steps) {
    if (const auto* split = std::get_if<schedule::SplitStep>(&step)) out.insert(out.end(), split->lengths.begin(), split->lengths.end());
    if (const auto* unroll = std::get_if<schedule::AutoUnrollStep>(&step)) out.push_back(unroll->steps);
  }
  return out;
}

uint64_t structure_of(std::span<const schedule::Step> steps) {
  StructureHash hash;
  for (size_t k = 0; k < steps.size(); ++k) {
    hash.kind(steps[k].index());
    std::visit(hash, steps[k]);
    const auto* split = std::get_if<schedule::SplitStep>(&steps[k]);
    const auto* partial = k + 1 < steps.size() ? std::get_if<schedule::RfactorStep>(&steps[k + 1]) : nullptr;
    if (split && partial && split->stage == partial->stage) hash.add(split->lengths);
  }
  return hash.hash;
}

void DigitSum::add(const LoopDigit& digit, int64_t coeff) {
  if (coeff == 0 || digit.range <= 1) return;
  const auto at = std::find_if(terms.begin(), terms.end(), [&](const Term& t) { return t.digit.same(digit); });
  if (at == terms.end())
    terms.push_back({digit, coeff});
  else if ((at->coeff += coeff) == 0)
    terms.erase(at);
}

void DigitSum::add(const DigitSum& other, int64_t factor) {
  constant += other.constant * factor;
  for (const Term& t : other.terms) add(t.digit, t.coeff * factor);
  exact = exact && other.exact;
}

Expected<Program> Program::make(const te::DagPtr& dag, const std::vector<schedule::Step>& steps) {
  Program p;
  p.made_with_ = numbers_of(steps);
  schedule::Schedule s(dag);
  std::vector<std::vector<Length>> of_step;  // lengths that a step split a loop in
  std::unordered_map<const ir::VarNode*, std::vector<Length>> of_loop;  // by the outermost of the loops
  std::vector<std::pair<const ir::VarNode*, int>> unrolled;  // a loop of the stage
  int next = 0;
  for (const schedule::Step& step : steps) {
    const std::vector<schedule::Stage>& stages = s.stages();
    std::vector<Length> lengths;
    int stage = -1;
    if (const auto* split = std::get_if<schedule::SplitStep>(&step)) {
      stage = split->stage;
      p.exact_ = p.exact_ && split->from_inside;
      for (size_t k = 0; k < split->lengths.size(); ++k, ++next)
        if (split->from_inside) lengths.push_back({1, {next}});
    } else if (const auto* follow = std::get_if<schedule::FollowSplitStep>(&step)) {
      stage = follow->stage;
      if (follow->source >= 0 && follow->source < static_cast<int>(of_step.size())) {
        const std::vector<Length>& source = of_step[static_cast<size_t>(follow->source)];
        for (size_t k = 0; k < source.size(); ++k) {
          if (static_cast<int>(k) < follow->parts)
            lengths.push_back(source[k]);
          else if (!lengths.empty())
            lengths.back().numbers.insert(lengths.back().numbers.end(), source[k].numbers.begin(), source[k].numbers.end());
        }
        if (static_cast<int>(lengths.size()) < follow->parts) lengths.emplace_back();
      }
    } else if (const auto* fused = std::get_if<schedule::FollowFusedSplitStep>(&step)) {
      stage = fused->stage;
      p.exact_ = p.exact_ && fused->from_inside;
      lengths.emplace_back();
      for (const int source : fused->sources)
        if (source >= 0 && source < static_cast<int>(of_step.size()) && static_cast<size_t>(fused->level) < of_step[static_cast<size_t>(source)].size()) {
          const Length& l = of_step[static_cast<size_t>(source)][static_cast<size_t>(fused->level)];
          lengths.back().numbers.insert(lengths.back().numbers.end(), l.numbers.begin(), l.numbers.end());
        }
    } else if (const auto* unroll = std::get_if<schedule::AutoUnrollStep>(&step)) {
      const auto at = static_cast<size_t>(unroll->stage);
      if (at < stages.size() && !stages[at].iters.empty()) unrolled.emplace_back(stages[at].iters[0].var.get(), next);
      ++next;
    } else if (const auto* rounded = std::get_if<schedule::PadStep>(&step); rounded || std::holds_alternative<schedule::TensorizeStep>(step)) {
      p.exact_ = false;
    }
    TW_CHECK(s.append(step));
    if (stage >= 0) {
      const auto& relation = std::get<schedule::SplitRelation>(s.stages()[static_cast<size_t>(stage)].relations.back());
      // Of one that names its outer loops the inner lengths follow from the extent: they are those that it was made with.
      if (const auto* split = std::get_if<schedule::SplitStep>(&step); split && !split->from_inside)
        for (const int64_t l : relation.lengths) lengths.push_back({l, {}});
      of_loop.insert_or_assign(relation.children[0].get(), lengths);  // a loop that a step took away may have been there
    }
    of_step.push_back(std::move(lengths));
  }
  p.written_ = s.stages();
  p.outputs_ = s.outputs();
  TW_TRY(p.prepared_, lower::prepared_stages(s));
  // Where loops that run once are bound against the rules, it depends on the numbers what is legal.
  schedule::State all{p.prepared_, p.outputs_};
  for (schedule::Stage& st : all.stages)
    for (schedule::Iter& it : st.iters) it.extent = std::max<int64_t>(it.extent, 2);
  p.exact_ = p.exact_ && schedule::check(all).has_value();

  for (size_t i = 0; i < p.prepared_.size(); ++i) p.add_stage(static_cast<int>(i), of_loop);
  for (size_t i = 0; i < p.prepared_.size(); ++i) p.add_reads(static_cast<int>(i));
  p.add_places();
  // Numbers of splits that are no loops any more.
  std::vector<char> used(p.made_with_.size(), 0);
  for (const std::vector<Relation>& relations : p.relations_)
    for (const Relation& r : relations)
      for (const Length& l : r.lengths)
        for (const int k : l.numbers) used[static_cast<size_t>(k)] = 1;
  for (size_t i = 0; i < p.prepared_.size(); ++i) {
    int number = -1;
    for (const auto& [loop, k] : unrolled) {
      used[static_cast<size_t>(k)] = 1;
      if (p.slot_of_[i].contains(loop)) number = k;
    }
    p.unroll_.push_back(number);
    if (p.prepared_[i].auto_unroll >= 0 && number < 0) p.exact_ = false;
  }
  for (size_t k = 0; k < used.size(); ++k)
    if (!used[k]) p.bound_.push_back(static_cast<int>(k));
  return p;
}

bool Program::is_output(int stage) const { return std::find(outputs_.begin(), outputs_.end(), stage) != outputs_.end(); }

void Program::add_stage(int i, const std::unordered_map<const ir::VarNode*, std::vector<Length>>& lengths) {
  const schedule::Stage& st = prepared_[static_cast<size_t>(i)];
  Stage out;
  std::vector<Relation> relations;
  auto& slots = slot_of_.emplace_back();
  const auto slot = [&](const ir::VarNode* v) { return slots.try_emplace(v, static_cast<int>(slots.size())).first->second; };
  if (schedule::has_loops(st)) {
    out.spatial = st.op.axes.size();
    for (const std::vector<te::Axis>* axes : {&st.op.axes, &st.op.reduce_axes})
      for (const te::Axis& a : *axes) {
        slot(a.var.get());
        out.shape.push_back(a.extent);
      }
    for (const schedule::Relation& r : st.relations) {
      Relation made;
      if (const auto* split = std::get_if<schedule::SplitRelation>(&r)) {
        made.parents = {slot(split->parent.get())};
        for (const ir::Var& v : split->children) made.children.push_back(slot(v.get()));
        const auto known = lengths.find(split->children[0].get());
        if (known != lengths.end() && known->second.size() == split->lengths.size())
          made.lengths = known->second;
        else
          for (const int64_t l : split->lengths) made.lengths.push_back({l, {}});
      } else {
        const auto& fuse = std::get<schedule::FuseRelation>(r);
        made.joins = true;
        for (const ir::Var& v : fuse.parents) made.parents.push_back(slot(v.get()));
        made.children = {slot(fuse.child.get())};
      }
      relations.push_back(std::move(made));
    }
    out.first_loop = static_cast<int>(loops_.size());
    out.loops = static_cast<int>(st.iters.size());
    for (size_t k = 0; k < st.iters.size(); ++k) loops_.push_back({i, static_cast<int>(k), slot(st.iters[k].var.get()), st.iters[k].annotation, st.iters[k].kind});
  }
  slots_.push_back(slots.size());
  relations_.push_back(std::move(relations));
  stages_.push_back(std::move(out));
}

void Program::add_reads(int i) {
  readers_.resize(prepared_.size());
  const schedule::Stage& st = prepared_[static_cast<size_t>(i)];
  if (!schedule::has_loops(st)) return;
  const arith::Analyzer analyzer;
  std::vector<const ir::ExprNode*> seen;
  ir::walk(*st.op.body, [&](const ir::Expr& e) {
    const auto* load = ir::as<ir::LoadNode>(e);
    if (load == nullptr || std::find(seen.begin(), seen.end(), e.get()) != seen.end()) return;
    seen.push_back(e.get());
    const auto source = std::find_if(prepared_.begin(), prepared_.end(), [&](const schedule::Stage& o) { return o.op.output.same_as(load->buffer); });
    if (source == prepared_.end()) return;
    Read read{static_cast<int>(source - prepared_.begin()), {}};
    for (const ir::Expr& at : load->indices) {
      const arith::Linear l = analyzer.linear(at);
      Index index{.constant = l.constant};
      for (const auto& term : l.terms) {
        const AxisDigit digit = axis_digit(term.atom);
        const auto axis = slot_of_[static_cast<size_t>(i)].find(digit.axis);
        if (axis != slot_of_[static_cast<size_t>(i)].end())
          index.axes.push_back({axis->second, term.coeff, digit.div, digit.mod});
        else
          index.exact = false;
      }
      read.indices.push_back(std::move(index));
    }
    Stage& own = stages_[static_cast<size_t>(i)];
    readers_[static_cast<size_t>(read.source)].emplace_back(i, static_cast<int>(own.reads.size()));
    own.reads.push_back(std::move(read));
  });
}

void Program::add_places() {
  for (size_t i = 0; i < prepared_.size(); ++i) {
    const schedule::Stage& st = prepared_[i];
    std::vector<char>& fixed = fixed_.emplace_back(loops_.size(), 0);
    if (st.location != ComputeLocation::at) continue;
    const Stage& target = stages_[static_cast<size_t>(st.at_stage)];
    stages_[i].at_loop = target.first_loop + schedule::position_of(prepared_[static_cast<size_t>(st.at_stage)], st.at_iter->get());
    std::vector<schedule::Annotation> threads;
    for (const schedule::LoopRef& l : schedule::loops_around(prepared_, static_cast<int>(i))) {
      if (l.stage == static_cast<int>(i)) continue;
      const size_t loop = static_cast<size_t>(stages_[static_cast<size_t>(l.stage)].first_loop) + l.loop;
      fixed[loop] = 1;
      if (schedule::is_thread(loops_[loop].annotation)) threads.push_back(loops_[loop].annotation);
    }
    // What a thread reads of its own array it reads in loops that stand for the same thread: lowering knows that.
    if (st.scope != ir::Scope::local) continue;
    for (const auto& [reader, read] : readers_[i])
      for (const schedule::Iter& it : prepared_[static_cast<size_t>(reader)].iters)
        if (std::find(threads.begin(), threads.end(), it.annotation) != threads.end()) {
          const size_t loop = static_cast<size_t>(stages_[static_cast<size_t>(reader)].first_loop + schedule::position_of(prepared_[static_cast<size_t>(reader)], it.var.get()));
          exact_ = exact_ && fixed[loop] != 0;
        }
  }
}

bool Program::covers(std::span<const int64_t> numbers) const {
  return numbers.size() == made_with_.size() &&
         std::all_of(bound_.begin(), bound_.end(), [&](int k) { return numbers[static_cast<size_t>(k)] == made_with_[static_cast<size_t>(k)]; });
}

/// The region that readers of a stage touch while the loops outside stand still, and where it begins.
void Program::region(int i, Evaluated& e) const {
  struct Span {
    DigitSum fixed;
    int64_t lo = 0, hi = 0;
  };
  const Stage& st = stages_[static_cast<size_t>(i)];
  Evaluated::Stage& out = e.stages[static_cast<size_t>(i)];
  for (size_t k = 0; k < st.spatial; ++k) {
    std::optional<Span> all;
    bool whole = false;
    for (const auto& [reader, number] : readers_[static_cast<size_t>(i)]) {
      const Evaluated::Stage& from = e.stages[static_cast<size_t>(reader)];
      const DigitSum at = stages_[static_cast<size_t>(reader)].reads[static_cast<size_t>(number)].indices[k].over_loops(from.values);
      if (!at.exact) {
        e.exact = false;
        whole = true;
        break;
      }
      Span span;
      span.fixed.constant = at.constant;
      for (const DigitSum::Term& t : at.terms) {
        if (stands_still(i, t.digit.loop)) {
          span.fixed.terms.push_back(t);
          continue;
        }
        const int64_t furthest = t.coeff * (t.digit.range - 1);
        (furthest > 0 ? span.hi : span.lo) += furthest;
      }
      if (!all) {
        all = std::move(span);
        continue;
      }
      DigitSum apart = span.fixed;
      apart.add(all->fixed, -1);
      whole = whole || !apart.terms.empty();
      all->lo = std::min(all->lo, span.lo + apart.constant);
      all->hi = std::max(all->hi, span.hi + apart.constant);
    }
    if (whole || !all || all->hi - all->lo + 1 >= st.shape[k]) continue;
    all->fixed.constant += all->lo;
    out.extents[k] = all->hi - all->lo + 1;
    out.values[k] = std::move(all->fixed);
  }
}

void Program::resolve(int i, std::span<const int64_t> numbers, Evaluated& e) const {
  const Stage& st = stages_[static_cast<size_t>(i)];
  Evaluated::Stage& out = e.stages[static_cast<size_t>(i)];
  const std::vector<Relation>& relations = relations_[static_cast<size_t>(i)];
  const auto slot = [](auto& list, int k) -> auto& { return list[static_cast<size_t>(k)]; };
  for (const Relation& r : relations) {
    if (r.joins) {
      int64_t product = 1;
      for (const int p : r.parents) product *= slot(out.extents, p);
      slot(out.extents, r.children[0]) = product;
      continue;
    }
    int64_t rest = slot(out.extents, r.parents[0]);
    for (size_t k = r.lengths.size(); k-- > 0;) {
      int64_t length = r.lengths[k].constant;
      for (const int n : r.lengths[k].numbers) length *= slot(numbers, n);
      const int64_t inner = std::max<int64_t>(1, std::min(length, rest));
      rest = (rest + inner - 1) / inner;
      slot(out.extents, r.children[k + 1]) = inner;
    }
    slot(out.extents, r.children[0]) = rest;
  }
  std::vector<DigitSum> values(slots_[static_cast<size_t>(i)]);
  for (int k = st.first_loop; k < st.first_loop + st.loops; ++k) {
    const int at = slot(loops_, k).slot;
    const int64_t n = slot(out.extents, at);
    slot(e.loops, k) = n;
    slot(values, at).add({.loop = k, .range = n}, 1);
  }
  for (size_t k = relations.size(); k-- > 0;) {
    const Relation& r = relations[k];
    if (!r.joins) {
      DigitSum v = std::move(slot(values, r.children[0]));
      int64_t below = 1;
      for (size_t c = 1; c < r.children.size(); ++c) below *= slot(out.extents, r.children[c]);
      DigitSum sum;
      sum.add(v, below);
      for (size_t c = 1; c < r.children.size(); ++c) {
        below /= slot(out.extents, r.children[c]);
        sum.add(slot(values, r.children[c]), below);
      }
      slot(values, r.parents[0]) = std::move(sum);
      continue;
    }
    const DigitSum& joined = slot(values, r.children[0]);
    size_t outermost = 0;
    while (outermost + 1 < r.parents.size() && slot(out.extents, r.parents[outermost]) == 1) ++outermost;
    int64_t covered = 1;
    for (const DigitSum::Term& t : joined.terms) covered += t.coeff * (t.digit.range - 1);
    int64_t below = 1;
    for (size_t p = r.parents.size(); p-- > 0;) {
      const int64_t n = slot(out.extents, r.parents[p]);
      if (n > 1) slot(values, r.parents[p]) = joined.digit(below, p == outermost ? 0 : n);
      // Guards leave out what the pieces of a joined loop cover beyond its end; regions do not see them.
      if (covered > slot(out.extents, r.children[0])) slot(values, r.parents[p]).exact = false;
      below *= n;
    }
  }
  for (size_t k = 0; k < st.shape.size(); ++k) out.values[k].add(values[k], 1);
}

Expected<Evaluated> Program::evaluate(std::span<const int64_t> numbers, const lower::LoopExtents* known) const {
  TW_ASSERT(covers(numbers), "a program is asked for numbers of its structure");
  Evaluated e;
  e.exact = exact_;
  e.stages.resize(stages_.size());
  e.loops.assign(loops_.size(), 1);
  for (const int k : unroll_) e.unroll.push_back(k < 0 ? -1 : numbers[static_cast<size_t>(k)]);
  for (const std::vector<Relation>& relations : relations_)
    for (const Relation& r : relations) {
      int64_t product = 1;
      for (const Length& l : r.lengths)
        for (const int n : l.numbers) {
          const int64_t length = numbers[static_cast<size_t>(n)];
          if (length < 1 || length > kMost / product)
            return Error(ErrorCode::invalid_argument, fmt::format("Expected lengths of at least 1 whose product is at most 2^48, found {}", length));
          product *= length;
        }
    }
  for (size_t i = stages_.size(); i-- > 0;) {
    const schedule::Stage& st = prepared_[i];
    if (!schedule::has_loops(st)) continue;
    Evaluated::Stage& out = e.stages[i];
    out.extents.assign(slots_[i], 1);
    out.values.resize(stages_[i].shape.size());
    std::copy(stages_[i].shape.begin(), stages_[i].shape.end(), out.extents.begin());
    if (st.location == ComputeLocation::at) region(static_cast<int>(i), e);
    if (known != nullptr) std::copy(known->region(static_cast<int>(i)).begin(), known->region(static_cast<int>(i)).end(), out.extents.begin());
    resolve(static_cast<int>(i), numbers, e);
    out.bytes = st.op.output->dtype.bytes();
    for (size_t k = 0; k < stages_[i].spatial; ++k) out.bytes *= out.extents[k];
  }
  return e;
}

Expected<void> Program::check(const Evaluated& e, const Target& target) const {
  if (!target.gpu) return {};
  const auto extent = [&](int stage, size_t loop) { return e.loops[static_cast<size_t>(stages_[static_cast<size_t>(stage)].first_loop) + loop]; };
  TW_CHECK(lower::check_coordinates(prepared_, extent));
  const auto region = [&](int stage) {
    const std::vector<int64_t>& extents = e.stages[static_cast<size_t>(stage)].extents;
    return std::vector<int64_t>(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(stages_[static_cast<size_t>(stage)].spatial));
  };
  return check_limits(written_, extent, region, target);
}

}  // namespace tw::space
