// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/cuda_product.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/codegen/cuda/warp_mma.h"
#include "engine/target/gpu.h"

namespace tw::codegen {

using ir::Expr;
using tir::ForKind;
using tir::Stmt;

namespace {

const char* multiplication(DType a, DType b) {
  if (a == kFloat32) return "multiply_tf32";
  if (a.is_float()) return a.code == TypeCode::bfloat ? "multiply_bfloat" : "multiply_half";
  if (a.is_signed()) return b.is_signed() ? "multiply_s8_s8" : "multiply_s8_u8";
  return b.is_signed() ? "multiply_u8_s8" : "multiply_u8_u8";
}

}  // namespace

void print_product(KernelText& text, const Stmt& s, const tir::MmaNode& n) {
  const auto &sums = *ir::as<ir::LoadNode>(n.sums), &a = *ir::as<ir::LoadNode>(n.a.first), &b = *ir::as<ir::LoadNode>(n.b.first);
  const auto x = std::find_if(text.launch.coordinates.begin(), text.launch.coordinates.end(), [](const auto& c) { return c.kind == ForKind::thread_x; });
  TW_ASSERT(x != text.launch.coordinates.end(), "a product by a warp without threads along x");
  const Expr lane = ir::to_expr(x->var);
  const int steps = n.depth / target::mma_depth(a.dtype, b.dtype), tall = n.rows / 16, wide = n.columns / 16;
  text.begin(s, fmt::format("{{  // {} += {} x {} x {} by the warp", sums.buffer->name, n.rows, n.columns, n.depth));
  const std::string fa = text.fresh("tiles"), fb = text.fresh("tiles");
  const ir::Var tile = text.fresh_var("i"), other = text.fresh_var("j"), step = text.fresh_var("k");
  const std::string i = text.names.of(tile.get()), j = text.names.of(other.get()), k = text.names.of(step.get());
  if (steps > 1) {
    text.line(s, "#pragma unroll");
    text.begin(s, fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", k, steps));
  }
  text.line(s, fmt::format("unsigned {}[{}][4], {}[{}][4];", fa, tall, fb, wide));
  const Expr at_step = steps > 1 ? ir::to_expr(step) : ir::index(0);
  const auto fetch = [&](const tir::MmaOperand& o, const ir::LoadNode& first, MmaSide side, const std::string& to, const ir::Var& v, const std::string& name,
                         int count) {
    const Expr begin = flat_index(first.buffer, first.indices);
    text.line(s, "#pragma unroll");
    text.line(s, fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", name, count));
    if (is_fetched(o))
      text.line(s, fmt::format("  {}({}[{}], &{});", text.expr.helper(is_transposed(o) ? "load_tiles_transposed" : "load_tiles"), to, name,
                               text.expr.place(first.buffer, {begin + fetched_by(o, side, lane, ir::to_expr(v), at_step)}, 0)));
    const int together = static_cast<int>(mma_width(o) / 4);  // elements of a lane in a register
    for (int part = 0; part < 4 && !is_fetched(o); ++part) {
      std::vector<std::string> elements;
      for (int k = 0; k < together; ++k)
        elements.push_back(text.expr.place(first.buffer, {begin + held_by(o, side, lane, ir::to_expr(v), at_step, part, k)}, 0));
      text.line(
          s, fmt::format("  {}[{}][{}] = {}({});", to, name, part, together == 1 ? "__float_as_uint" : text.expr.helper("word_of"), fmt::join(elements, ", ")));
    }
    if (first.dtype == kFloat32) text.line(s, fmt::format("  {}({}[{}]);", text.expr.helper("round_tiles"), to, name));
    text.line(s, "}");
  };
  fetch(n.a, a, MmaSide::a, fa, tile, i, tall);
  fetch(n.b, b, MmaSide::b, fb, other, j, wide);
  const std::string multiply = text.expr.helper(multiplication(a.dtype, b.dtype));
  const auto sum = [&](int wide_half, int half) {
    const Expr at = sums_of(n.columns, ir::to_expr(tile), ir::to_expr(other) * 2 + wide_half, half);
    return text.expr.place(sums.buffer, {flat_index(sums.buffer, sums.indices) + at}, 0);
  };
  text.line(s, "#pragma unroll");
  text.line(s, fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", i, tall));
  text.line(s, "  #pragma unroll");
  text.line(s, fmt::format("  for (int {0} = 0; {0} < {1}; ++{0}) {{", j, wide));
  for (int h = 0; h < 2; ++h)
    text.line(s, fmt::format("    {}(&{}, &{}, {}[{}], {}[{}][{}], {}[{}][{}]);", multiply, sum(h, 0), sum(h, 1), fa, i, fb, j, 2 * h, fb, j, 2 * h + 1));
  text.line(s, "  }");
  text.line(s, "}");
  if (steps > 1) text.end(s);
  text.end(s);
}

}  // namespace tw::codegen
