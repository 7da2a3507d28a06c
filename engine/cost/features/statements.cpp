// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/features/statements.h"

#include <cmath>

#include "engine/schedule/loops.h"

namespace tw::cost {
namespace {

using space::Evaluated;
using space::Program;

void count_operations(const ir::Expr& root, Operations& out) {
  if (const auto* load = ir::as<ir::LoadNode>(root); load != nullptr) return;  // its indices are counted as they are written
  if (const auto* b = ir::as<ir::BinaryNode>(root)) {
    auto& of_type = b->a->dtype.is_float() ? out.floats : out.ints;
    switch (b->op) {
      case ir::BinaryOp::add:
      case ir::BinaryOp::sub:
        ++of_type[Operations::kAdd];
        break;
      case ir::BinaryOp::mul:
        ++of_type[Operations::kMul];
        break;
      case ir::BinaryOp::div:
      case ir::BinaryOp::floor_div:
      case ir::BinaryOp::floor_mod:
        ++of_type[Operations::kDiv];
        break;
      case ir::BinaryOp::and_:
      case ir::BinaryOp::or_:
        ++out.truths;
        break;
      case ir::BinaryOp::bit_and:
      case ir::BinaryOp::bit_or:
      case ir::BinaryOp::bit_xor:
      case ir::BinaryOp::shl:
      case ir::BinaryOp::shr:
        ++of_type[Operations::kFunction];
        break;
      default:
        ++of_type[Operations::kCompare];
    }
  } else if (const auto* call = ir::as<ir::CallNode>(root)) {
    ++(call->args.front()->dtype.is_float() ? out.floats : out.ints)[Operations::kFunction];
  } else if (ir::as<ir::NotNode>(root)) {
    ++out.truths;
  } else if (ir::as<ir::SelectNode>(root)) {
    ++out.choices;
  }
  ir::for_each_child(root, [&](const ir::Expr& c) { count_operations(c, out); });
}

class Walk {
 public:
  Walk(const Program& p, const Evaluated& e) : p_(p), e_(e) {}

  std::vector<Statement> statements() && {
    for (size_t i = 0; i < p_.stages().size(); ++i)
      if (schedule::has_loops(p_.scheduled()[i]) && p_.stages()[i].at_loop < 0) visit(static_cast<int>(i), {}, 1);
    return std::move(out_);
  }

 private:
  const Program::Loop& loop(const Around& a) const { return p_.loops()[static_cast<size_t>(a.loop)]; }
  int64_t extent(const Around& a) const { return e_.loops[static_cast<size_t>(a.loop)]; }

  /// The statements of a stage and of those in its loops.
  void visit(int i, std::vector<Around> around, double runs) {
    const Program::Stage& st = p_.stages()[static_cast<size_t>(i)];
    const bool reduces = p_.scheduled()[static_cast<size_t>(i)].op.reducer != te::Reducer::none;
    const double placed = runs;
    bool begun = !reduces;
    for (int k = st.first_loop; k < st.first_loop + st.loops; ++k) {
      const Around own{k};
      if (!begun && loop(own).kind == te::AxisKind::reduce) {
        begin(i, k, around, runs, placed);
        begun = true;
      }
      if (extent(own) > 1) {
        around.push_back(own);
        runs *= static_cast<double>(extent(own));
      }
      for (size_t j = 0; j < p_.stages().size(); ++j)
        if (p_.stages()[j].at_loop == k) visit(static_cast<int>(j), around, runs);
    }
    if (!begun) begin(i, st.first_loop + st.loops, around, runs, placed);
    out_.push_back({i, false, std::move(around), runs, placed});
  }

  /// The statement before the reduction's loops, which begin at `first`.
  void begin(int i, int first, std::vector<Around> around, double runs, double placed) {
    const Program::Stage& st = p_.stages()[static_cast<size_t>(i)];
    for (int k = first; k < st.first_loop + st.loops; ++k) {
      const Around copy{k, true};
      if (loop(copy).kind == te::AxisKind::reduce || extent(copy) == 1) continue;
      around.push_back(copy);
      runs *= static_cast<double>(extent(copy));
    }
    out_.push_back({i, true, std::move(around), runs, placed});
  }

  const Program& p_;
  const Evaluated& e_;
  std::vector<Statement> out_;
};

}  // namespace

Operations Statement::operations(const Program& program) const {
  Operations out;
  if (init) return out;
  const te::Op& op = program.scheduled()[static_cast<size_t>(stage)].op;
  count_operations(*op.body, out);
  if (op.reducer == te::Reducer::none) return out;
  const auto place = op.reducer == te::Reducer::sum ? Operations::kAdd : op.reducer == te::Reducer::prod ? Operations::kMul : Operations::kCompare;
  ++(op.output->dtype.is_float() ? out.floats : out.ints)[place];
  return out;
}

std::vector<Statement> statements_of(const Program& program, const Evaluated& e) { return Walk(program, e).statements(); }

std::vector<ArrayAccess> accesses_of(const Statement& s, const Program& program, const Evaluated& e) {
  std::vector<ArrayAccess> out;
  const auto of = [&](int array) -> ArrayAccess& {
    for (ArrayAccess& a : out)
      if (a.array == array) return a;
    out.push_back({.array = array});
    return out.back();
  };
  const Program::Stage& st = program.stages()[static_cast<size_t>(s.stage)];
  const std::vector<space::DigitSum>& values = e.stages[static_cast<size_t>(s.stage)].values;
  ArrayAccess& own = of(s.stage);
  own.written = true;
  own.read = !s.init && program.scheduled()[static_cast<size_t>(s.stage)].op.reducer != te::Reducer::none;
  own.indices.emplace_back(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(st.spatial));
  for (const Program::Read& r : st.reads) {
    if (s.init) break;
    ArrayAccess& a = of(r.source);
    a.read = true;
    std::vector<space::DigitSum>& indices = a.indices.emplace_back();
    for (const Program::Index& index : r.indices) indices.push_back(index.over_loops(values));
  }
  return out;
}

std::vector<double> neighbour_distances(const Program& program, int array) {
  const schedule::Stage& st = program.scheduled()[static_cast<size_t>(array)];
  const std::vector<int64_t>& shape = st.op.output->shape;
  std::vector<double> out(shape.size(), 1);
  double inside = 1;
  if (st.layout.empty()) {
    for (size_t d = shape.size(); d-- > 0; inside *= static_cast<double>(shape[d])) out[d] = inside;
    return out;
  }
  std::vector<double> pieces(shape.size(), 1);  // of what is further inside
  for (size_t k = st.layout.size(); k-- > 0;) {
    const auto d = static_cast<size_t>(st.layout[k].dim);
    if (pieces[d] == 1) out[d] = inside;
    const double n = st.layout[k].factor > 0 ? static_cast<double>(st.layout[k].factor) : std::ceil(static_cast<double>(shape[d]) / pieces[d]);
    pieces[d] *= n;
    inside *= n;
  }
  return out;
}

}  // namespace tw::cost
