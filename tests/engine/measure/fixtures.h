// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/codegen/codegen.h"
#include "engine/measure/measure.h"
#include "engine/tir/stmt.h"

/// One small task, y = 2 * x over 1000 floats, and hand-made kernels for it: a good one and many that misbehave.
namespace tw::test {

inline constexpr int64_t kSize = 1000;

inline records::Task doubling_task() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {kSize}, kFloat32);
  const te::Tensor y = b.compute("y", {kSize}, [&](const te::Indices& i) { return x(i[0]) * ir::fimm(kFloat32, 2); });
  return records::make_task("double", std::move(b).finish({y}), host_target());
}

/// The parts a fixture's body is made from.
struct Parts {
  ir::Buffer x = ir::make_buffer("x", kFloat32, {kSize});
  ir::Buffer y = ir::make_buffer("y", kFloat32, {kSize});
  ir::Expr x_at(ir::Expr i) const { return ir::load(x, {std::move(i)}); }
  ir::Expr y_at(ir::Expr i) const { return ir::load(y, {std::move(i)}); }
  static ir::Expr number(double v) { return ir::fimm(kFloat32, v); }
  tir::Stmt set_y(ir::Expr i, ir::Expr v) const { return tir::store(y, {std::move(i)}, std::move(v)); }
  /// for i in [0, n): body(i)
  template <class F>
  static tir::Stmt loop(int64_t n, F body, tir::ForKind kind = tir::ForKind::serial) {
    const ir::Var i = ir::make_var("i");
    return tir::make_for(i, ir::index(0), ir::index(n), kind, body(ir::to_expr(i)));
  }
  tir::Stmt right() const {
    return loop(kSize, [&](const ir::Expr& i) { return set_y(i, x_at(i) * number(2)); });
  }
};

inline runtime::KernelSignature doubling_signature() { return {"kernel", {{"x", kFloat32, {kSize}, {}}, {"y", kFloat32, {kSize}, {}, false, true}}}; }

/// Compiles a body as the task's kernel.
inline measure::BuildOutcome compiled(const Parts& parts, const tir::Stmt& body, const Target& target = host_target()) {
  const tir::Func func{"kernel", {parts.x, parts.y}, 1, body};
  auto object = codegen::build_object({func}, target);
  if (!object) return {records::Status::build_fail, object.error().text(), nullptr, 0};
  auto artifact = std::make_shared<runtime::Artifact>();
  artifact->target = target.str();
  artifact->object = std::move(*object);
  artifact->kernels = {doubling_signature()};
  return {records::Status::ok, "", artifact, 0};
}

inline measure::BuildOutcome good_kernel() {
  const Parts p;
  return compiled(p, p.right());
}
/// Counts in y[0] for centuries.
inline measure::BuildOutcome endless_kernel() {
  const Parts p;
  const int64_t n = int64_t{1} << 60;
  return compiled(p, tir::seq({p.right(), Parts::loop(n, [&](const ir::Expr&) { return p.set_y(ir::index(0), p.y_at(ir::index(0)) + Parts::number(1)); })}));
}

}  // namespace tw::test
