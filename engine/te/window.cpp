// SPDX-License-Identifier: Apache-2.0
#include "engine/te/window.h"

#include <algorithm>

#include "engine/arith/analyzer.h"
#include "engine/ir/visit.h"

namespace tw::te {

namespace {

/// A select's image, if it is one of an image and zeros around it.
const ir::LoadNode* padded_image(const Op& op) {
  const auto* s = op.body ? ir::as<ir::SelectNode>(*op.body) : nullptr;
  if (!s || op.tag != "pad") return nullptr;
  const auto* zero = ir::as<ir::FloatImmNode>(s->if_false);
  return ir::is_int(s->if_false, 0) || (zero && zero->value == 0) ? ir::as<ir::LoadNode>(s->if_true) : nullptr;
}

}  // namespace

int64_t WindowLine::after() const { return std::max<int64_t>(0, (result - 1) * stride + (taps - 1) * dilation - before - (image - 1)); }

bool WindowLine::meets(int64_t tap, int64_t first, int64_t tile) const {
  const int64_t begin = first * stride + tap * dilation - before, end = begin + (tile - 1) * stride;
  return begin < image && end >= 0;
}

double WindowLine::met(int64_t tile) const {
  int64_t met = 0, all = 0;
  for (int64_t first = 0; first < result; first += tile)
    for (int64_t tap = 0; tap < taps; ++tap, ++all) met += meets(tap, first, tile);
  return static_cast<double>(met) / static_cast<double>(all);
}

std::vector<WindowLine> windows_of(const Dag& dag, const Op& op) {
  std::vector<WindowLine> out;
  if (!op.body || op.reducer != Reducer::sum) return out;
  const auto* product = ir::as<ir::BinaryNode>(*op.body);
  while (product && product->op == ir::BinaryOp::add) {  // several of bytes in each term
    const auto* last = ir::as<ir::BinaryNode>(product->b);
    if (!last || last->op != ir::BinaryOp::mul) return out;
    product = ir::as<ir::BinaryNode>(product->a);
  }
  const auto* wider = product ? ir::as<ir::CastNode>(product->a) : nullptr;
  const auto* read = product && product->op == ir::BinaryOp::mul ? ir::as<ir::LoadNode>(wider ? wider->value : product->a) : nullptr;
  const int at = read ? dag.op_of(read->buffer.get()) : -1;
  const ir::LoadNode* image = at < 0 ? nullptr : padded_image(dag.ops[static_cast<size_t>(at)]);
  if (!image) return out;
  const Op& pad = dag.ops[static_cast<size_t>(at)];
  const arith::Analyzer facts;
  const auto axis_of = [](const std::vector<Axis>& axes, const ir::Expr& e) {
    return std::find_if(axes.begin(), axes.end(), [&](const Axis& a) { return a.var.get() == e.get(); });
  };
  for (size_t d = 0; d < read->indices.size(); ++d) {
    const arith::Linear from = facts.linear(image->indices[d]), index = facts.linear(read->indices[d]);
    WindowLine line{d, image->buffer->shape[d], 0};
    bool sliding = from.terms.size() == 1 && from.terms[0].coeff == 1 && from.terms[0].atom.get() == pad.axes[d].var.get() && index.constant == 0;
    line.before = -from.constant;
    for (const arith::Linear::Term& t : index.terms) {
      if (const auto a = axis_of(op.axes, t.atom); a != op.axes.end() && line.result == 0)
        line.result = a->extent, line.stride = t.coeff;
      else if (const auto r = axis_of(op.reduce_axes, t.atom); r != op.reduce_axes.end() && line.taps == 1)
        line.taps = r->extent, line.dilation = t.coeff;
      else
        sliding = false;
    }
    if (sliding && line.result > 0 && index.terms.size() == 2) out.push_back(line);
  }
  return out;
}

}  // namespace tw::te
