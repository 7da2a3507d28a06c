// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/instruction_counts.h"

#include <cmath>

#include "engine/ir/visit.h"

namespace tw::simulate {

namespace {

using ir::BinaryOp;
using ir::Expr;
using target::kWarp;

/// Conversions run at the rate of special functions or twice it.
constexpr double kConversion = 0.5;

}  // namespace

void InstructionCounts::arithmetic(const Expr& e, DType t, double instructions) {
  const double n = path_.times() * e->dtype.lanes;
  if (t.is_float())
    (t.bits == 64 ? facts_.fp64 : t.bits == 16 ? facts_.fp16 : facts_.fp32) += n * instructions * (t.bits == 16 ? 0.5 : 1);
  else
    facts_.integer += n * instructions;
  if (path_.first()) code_.instructions += path_.copies() * instructions * e->dtype.lanes;
}

void InstructionCounts::value(const Expr& e, bool fused) {
  ir::match(
      e, [](const ir::IntImmNode&) {}, [](const ir::FloatImmNode&) {}, [](const ir::VarNode&) {},
      [&](const ir::CastNode& c) {
        const auto* l = ir::as<ir::LoadNode>(c.value);
        if (l && l->buffer->scope != ir::Scope::local) return accesses_.load(*l, kConversion);  // once for all that use it, as it is fetched
        facts_.special += path_.times() * e->dtype.lanes * kConversion;
        value(c.value);
      },
      [&](const ir::NotNode& c) { value(c.value); }, [&](const ir::BinaryNode& b) { binary(b, e, fused); }, [&](const ir::SelectNode& s) { select(s, e); },
      [&](const ir::LoadNode& l) { accesses_.load(l); }, [&](const ir::RampNode& r) { value(r.base); }, [&](const ir::BroadcastNode& b) { value(b.value); },
      [&](const ir::CallNode& c) {
        const bool cheap = c.function == ir::Intrinsic::fabs || c.function == ir::Intrinsic::floor || c.function == ir::Intrinsic::ceil ||
                           c.function == ir::Intrinsic::trunc || c.function == ir::Intrinsic::round || c.function == ir::Intrinsic::float_bits ||
                           c.function == ir::Intrinsic::bits_float;
        if (!cheap) facts_.special += path_.times() * e->dtype.lanes;
        arithmetic(e, c.dtype, cheap ? 1 : 6);
        for (const Expr& a : c.args) value(a);
      });
}

void InstructionCounts::binary(const ir::BinaryNode& b, const Expr& e, bool fused) {
  const bool is_float = b.a->dtype.is_float(), sum = b.op == BinaryOp::add || b.op == BinaryOp::sub;
  const auto is_product = [](const Expr& x) {
    const auto* p = ir::as<ir::BinaryNode>(x);
    return p && p->op == BinaryOp::mul && p->dtype.is_float();
  };
  const bool with_a = is_float && sum && is_product(b.a), with_b = is_float && sum && !with_a && is_product(b.b);
  if (is_float && b.op == BinaryOp::div) {
    facts_.special += path_.times() * e->dtype.lanes;
    arithmetic(e, b.a->dtype, 8);
  } else if (!fused) {
    arithmetic(e, b.a->dtype, 1);
  }
  value(b.a, with_a);
  value(b.b, with_b);
}

void InstructionCounts::select(const ir::SelectNode& s, const Expr& e) {
  arithmetic(e, kInt32, 1);
  value(s.cond);
  // Lazy: what no thread of the warp chooses costs nothing.
  const uint32_t outer = path_.active, taken = path_.where(s.cond);
  if ((path_.active = taken) != 0) value(s.if_true);
  if ((path_.active = s.cond->dtype.is_scalar() ? outer & ~taken : outer) != 0) value(s.if_false);
  path_.active = outer;
}

void InstructionCounts::turn() {
  facts_.integer += path_.times();
  facts_.control += path_.times();
}

void InstructionCounts::barrier() {
  facts_.barriers += path_.times();
  facts_.control += path_.times();
  ++path_.epoch;
}

void InstructionCounts::all_reduce(const tir::AllReduceNode& n) {
  const double steps = std::ceil(std::log2(std::max<double>(2, static_cast<double>(path_.coordinate(n.thread).extent))));
  facts_.special += path_.times() * steps;
  facts_.fp32 += path_.times() * steps;
  if (facts_.warps() > 1) facts_.barriers += path_.times() * 2;
  ++path_.epoch;
}

/// ldmatrix fetches four tiles of 8 by 16 bytes, one address a lane, and every tile of A serves all columns. Lines of other than 16 bits that lie along the
/// terms are fetched element by element.
void InstructionCounts::product(const tir::MmaNode& n) {
  const double times = path_.times();
  const DType type = n.a.first->dtype;
  const int steps = n.depth / target::mma_depth(type, n.b.first->dtype);
  facts_.tensor += times * n.rows * n.columns * n.depth * type.bytes() / 2;
  const double instructions = static_cast<double>(n.rows / 16) * (n.columns / 8) * steps;  // mma.sync.m16n8
  facts_.tensor_instructions += times * instructions;
  double fetches = 0;
  for (const tir::MmaOperand* o : {&n.a, &n.b}) {
    const int lines = o == &n.a ? n.rows : n.columns;
    const auto& first = *ir::as<ir::LoadNode>(o->first);
    const int bytes = first.dtype.bytes(), width = static_cast<int>(tir::kMmaLine) / bytes;
    const bool fetched = !o->by_depth || bytes == 2;
    WarpAccess warp{.at = path_.values.of(place_of(first.buffer, first.indices, first.dtype).base), .active = ~0u, .bytes = fetched ? 16 : bytes};
    for (int lane = 0; lane < kWarp; ++lane) {
      const int64_t offset = !fetched      ? lane % 4 * (width / 4) * o->stride + lane / 4
                             : o->by_depth ? lane % 16 * o->stride + lane / 16 * 8
                                           : lane % 16 * o->stride + lane / 16 * width;
      warp.at[static_cast<size_t>(lane)] = (warp.at[static_cast<size_t>(lane)] + offset) * bytes;
    }
    const double tiles = std::ceil(lines / 16.0) * steps, here = fetched ? tiles : tiles * width;
    fetches += here;
    facts_.shared_access += times * here;
    facts_.shared_wavefronts += times * here * wavefronts(warp);
    if (!fetched && bytes == 1) facts_.integer += times * tiles * 12;      // bytes into words
    if (first.dtype == kFloat32) facts_.special += times * tiles * 4 / 2;  // conversions, as in value()
    if (path_.first()) code_.fragments += lines / 4.0;
  }
  if (path_.first()) code_.instructions += path_.copies() * (instructions + 2 * fetches);
}

}  // namespace tw::simulate
