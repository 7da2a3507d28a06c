// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/cuda_store.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/base/text.h"
#include "engine/codegen/cuda/cuda_vectors.h"
#include "engine/ir/visit.h"

namespace tw::codegen {

using ir::Expr;
using tir::Stmt;

namespace {

/// The same condition for all lanes.
bool is_uniform(const Expr& cond) { return cond->dtype.is_scalar() || ir::as<ir::BroadcastNode>(cond); }

bool is_zero(const Expr& e) {
  const auto* b = ir::as<ir::BroadcastNode>(e);
  const Expr x = b ? b->value : e;
  const auto* f = ir::as<ir::FloatImmNode>(x);
  return (f && f->value == 0 && !std::signbit(f->value)) || ir::is_int(x, 0);
}

/// 16-bit floats, or zero where `inside` does not hold, that are read and written in pieces of different lengths.
void copy_bits(KernelText& text, const Stmt& s, const tir::StoreNode& n, const ir::LoadNode& from, const std::optional<Expr>& inside) {
  const int lanes = from.dtype.lanes, read = lanes == 1 ? 1 : vector_length(from.buffer, from.indices, lanes);
  const int write = lanes == 1 ? 1 : vector_length(n.buffer, n.indices, lanes);
  text.begin(s, "{");
  std::string holds;
  if (inside) {
    const std::string cond = text.expr.text(*inside);
    text.line(s, fmt::format("const bool {} = {};", holds = text.fresh("inside"), cond));
  }
  std::vector<std::string> bits;
  for (int lane = 0; lane < lanes; lane += read) {
    const std::string vector = read > 1 ? vector_name(from.buffer->dtype, read) : "unsigned short", name = text.fresh("bits");
    const std::string element = text.expr.place(from.buffer, from.indices, lane), place = read > 1 ? fmt::format("*(const {}*)&{}", vector, element) : element;
    text.line(s, fmt::format("const {} {} = {};", vector, name, inside ? fmt::format("{} ? {} : {}", holds, place, read > 1 ? vector + "()" : "0") : place));
    for (int k = 0; k < read; ++k) bits.push_back(read > 1 ? fmt::format("{}.{}", name, "xyzw"[k]) : name);
  }
  for (int lane = 0; lane < lanes; lane += write) {
    const std::string to = text.expr.place(n.buffer, n.indices, lane);
    const auto first = bits.begin() + lane;
    if (write == 1)
      text.line(s, fmt::format("{} = {};", to, *first));
    else
      text.line(s, fmt::format("*({0}*)&{1} = make_{0}({2});", vector_name(n.buffer->dtype, write), to, fmt::join(first, first + write, ", ")));
  }
  text.end(s);
}

/// A copy that neither computes nor converts: in a group beside other work where the hardware can do that, 16-bit floats as the bits that they are.
bool print_copy(KernelText& text, const Stmt& s, const tir::StoreNode& n, bool in_group) {
  Expr value = n.value;
  std::optional<Expr> inside;
  if (const auto* sel = ir::as<ir::SelectNode>(value); sel && is_uniform(sel->cond) && is_zero(sel->if_false)) {
    inside = sel->cond;
    value = sel->if_true;
  }
  const auto* from = ir::as<ir::LoadNode>(value);
  if (!from || from->buffer->dtype != n.buffer->dtype || n.buffer->scope == ir::Scope::local || from->buffer->scope == ir::Scope::local) return false;
  const int lanes = from->dtype.lanes, bytes = n.buffer->dtype.bytes();
  const int width = lanes == 1 ? 1 : std::min(run_length(n.buffer, n.indices, lanes), run_length(from->buffer, from->indices, lanes));
  const bool apart = in_group && n.buffer->scope == ir::Scope::shared && from->buffer->scope != ir::Scope::shared && width * bytes >= 4;
  if (!apart && (!n.buffer->dtype.is_float() || bytes != 2)) return false;
  if (!apart && (inside || (lanes > 1 && width < run_length(from->buffer, from->indices, lanes)))) {
    copy_bits(text, s, n, *from, inside);
    return true;
  }
  const char* const types[] = {"", "unsigned short", "unsigned", "uint2", "uint4"};
  const char* type = types[width * bytes == 2 ? 1 : width * bytes == 4 ? 2 : width * bytes == 8 ? 3 : 4];
  for (int lane = 0; lane < lanes; lane += width) {
    const std::string to = text.expr.place(n.buffer, n.indices, lane), source = text.expr.place(from->buffer, from->indices, lane);
    if (!apart)
      text.line(s, fmt::format("*({0}*)&{1} = *(const {0}*)&{2};", type, to, source));
    else if (inside)
      text.line(s, fmt::format("{}<{}>(&{}, &{}, {});", text.expr.helper("copy_async_or_zero"), width * bytes, to, source, text.expr.text(*inside)));
    else
      text.line(s, fmt::format("{}<{}>(&{}, &{});", text.expr.helper("copy_async"), width * bytes, to, source));
  }
  return true;
}

/// The value of a store before it is rounded to the type of its array, which storing does.
const Expr& before_rounding(const tir::StoreNode& n) {
  const auto* c = ir::as<ir::CastNode>(n.value);
  const DType t = n.buffer->dtype;
  const bool rounds = c && n.buffer->scope != ir::Scope::local && t.is_float() && t.bits == 16 && c->value->dtype.element() == kFloat32;
  return rounds ? c->value : n.value;
}

/// What `whole` is in all lanes: the load, or zero where there is a condition that does not hold.
void fetch_vector(KernelText& text, const Stmt& s, const ir::ExprNode* whole, const ir::LoadNode& l, const std::optional<Expr>& cond) {
  const int lanes = l.dtype.lanes, width = vector_length(l.buffer, l.indices, lanes);
  if (width == 1) return;
  std::string inside;
  if (cond) {
    const std::string holds = text.expr.text(*cond);
    text.line(s, fmt::format("const bool {} = {};", inside = text.fresh("inside"), holds));
  }
  std::vector<std::string> parts;
  for (int lane = 0; lane < lanes; lane += width) {
    const std::string name = text.fresh("vector");
    const char* vector = vector_name(l.buffer->dtype, width);
    const std::string read = fmt::format("*(const {}*)&{}", vector, text.expr.place(l.buffer, l.indices, lane));
    text.line(s, fmt::format("const {} {} = {};", vector, name, cond ? fmt::format("{} ? {} : {}()", inside, read, vector) : read));
    for (int k = 0; k < width; ++k) {
      const std::string element = fmt::format("{}.{}", name, "xyzw"[k]);
      const bool half = l.dtype.is_float() && l.dtype.bits == 16;
      parts.push_back(!half ? element : text.expr.helper(l.dtype.code == TypeCode::bfloat ? "bfloat_to_float" : "half_to_float") + "(" + element + ")");
    }
  }
  text.expr.fetched(whole, std::move(parts));
}

/// Loads of neighbours that are evaluated in every lane, as vectors; and of those that all lanes read or none, zero in their place.
void fetch_vectors(KernelText& text, const Stmt& s, const Expr& e) {
  if (const auto* l = ir::as<ir::LoadNode>(e)) return fetch_vector(text, s, e.get(), *l, {});
  const auto* sel = ir::as<ir::SelectNode>(e);
  if (!sel) return ir::for_each_child(e, [&](const Expr& c) { fetch_vectors(text, s, c); });
  fetch_vectors(text, s, sel->cond);
  // The branch that a lane does not take is not evaluated.
  const auto* inside = ir::as<ir::LoadNode>(sel->if_true);
  if (inside && is_zero(sel->if_false) && is_uniform(sel->cond)) fetch_vector(text, s, sel, *inside, sel->cond);
}

}  // namespace

void print_store(KernelText& text, const Stmt& s, const tir::StoreNode& n, bool in_group) {
  const int lanes = n.value->dtype.lanes;
  if (print_copy(text, s, n, in_group)) return;
  const Expr& whole = before_rounding(n);
  if (lanes == 1) return text.line(s, text.expr.place(n.buffer, n.indices, 0) + " = " + text.expr.stored(n.buffer, text.expr.text(whole)) + ";");
  // All lanes are computed before the first is written.
  text.begin(s, "{");
  fetch_vectors(text, s, whole);
  const std::string type = cuda_type(n.buffer->dtype, true), value = text.fresh("value");
  std::vector<std::string> values;
  for (int lane = 0; lane < lanes; ++lane) values.push_back(text.expr.text(whole, lane));
  text.line(s, fmt::format("const {} {}[{}] = {{{}}};", type, value, lanes, fmt::join(values, ", ")));
  const int width = vector_length(n.buffer, n.indices, lanes);
  for (int lane = 0; lane < lanes; lane += width) {
    if (width == 1) {
      text.line(s, text.expr.place(n.buffer, n.indices, lane) + " = " + text.expr.stored(n.buffer, fmt::format("{}[{}]", value, lane)) + ";");
      continue;
    }
    std::string parts;
    for (int k = 0; k < width; ++k) parts += (k ? ", " : "") + text.expr.stored(n.buffer, fmt::format("{}[{}]", value, lane + k));
    const char* vector = vector_name(n.buffer->dtype, width);
    text.line(s, fmt::format("*({}*)&{} = make_{}({});", vector, text.expr.place(n.buffer, n.indices, lane), vector, parts));
  }
  text.expr.forget_fetched();
  text.end(s);
}

}  // namespace tw::codegen
