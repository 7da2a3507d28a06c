// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/text.h"
#include "engine/frontends/folding_builder.h"

namespace tw::frontends {

/// One node of a model while it is being converted: short ways to emit nodes of ours and to look at values.
/// Everything refuses (throws Refusal, with the place) rather than returning something unusable.
class Emitter {
 public:
  /// Nodes are called `node_name`, constants `constant_name`; errors begin with `op`.
  Emitter(FoldingBuilder& builder, std::string node_name, std::string constant_name, std::string op)
      : builder_(builder), node_name_(std::move(node_name)), constant_name_(std::move(constant_name)), op_(std::move(op)) {}
  virtual ~Emitter() = default;
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  virtual std::string where() const = 0;  ///< of the node, for errors
  [[noreturn]] void unsupported(const std::string& why) const;
  [[noreturn]] void invalid(const std::string& why) const;

  // Not by reference: what is emitted next moves the graph's values.
  graph::TensorType type(int value) const { return builder_.value(value).type; }
  Dims shape(int value) const { return builder_.value(value).type.shape; }
  int64_t rank(int value) const { return static_cast<int64_t>(shape(value).size()); }
  DType dtype(int value) const { return type(value).dtype; }
  const HostArray* constant_of(int value) const { return builder_.value(value).constant.get(); }

  int64_t axis(int64_t a, int64_t rank) const;  ///< counted from the front
  Dims axes(Dims a, int64_t rank) const;

  int emit(const std::string& op, std::vector<int> inputs, graph::Attrs attrs = {});
  int constant(HostArray array);
  int integers_constant(const Dims& v);
  int scalar(DType t, double v);
  int filled(DType t, const Dims& shape, double v);  ///< a constant tensor of one number
  int iota(int64_t count, const Dims& shape);        ///< 0, 1, ... as int64
  int reshape(int v, const Dims& shape);
  int transpose(int v, const Dims& perm);
  int cast(int v, DType t);
  int broadcast(int v, const Dims& shape);
  int slice(int v, int64_t axis, int64_t from, int64_t size);
  int concat(const std::vector<int>& parts, int64_t axis);
  int stack(const std::vector<int>& parts, int64_t axis);       ///< along a new dimension
  int select(int v, int64_t axis, int64_t position);            ///< one slice, without its dimension
  int reduce(const char* op, int v, Dims axes, bool keepdims);  ///< all dimensions if `axes` is empty
  int binary(const std::string& op, int a, int b) { return emit(op, {a, b}); }
  int with_scalar(const std::string& op, int a, double b) { return emit(op, {a, scalar(dtype(a), b)}); }
  int choose(int condition, int yes, int no) { return emit("where", {condition, yes, no}); }

 protected:
  FoldingBuilder& builder_;

 private:
  std::string node_name_, constant_name_, op_;
};

/// Shorthand for attribute lists of our operators.
inline graph::Attrs attrs(std::map<std::string, graph::AttrValue> values) { return graph::Attrs{std::move(values)}; }

/// A value in formulas: operators emit nodes and broadcast as NumPy does.
struct Term {
  Emitter* n;
  int v;

  Term with(const char* op, const Term& b) const { return {n, n->binary(op, v, b.v)}; }
  Term with(const char* op, double b) const { return {n, n->with_scalar(op, v, b)}; }
  Term apply(const char* op) const { return {n, n->emit(op, {v})}; }
  Term clipped(double low, double high) const { return {n, n->emit("clip", {v}, attrs({{"min", low}, {"max", high}}))}; }
  Term integer() const { return {n, n->cast(v, kInt32)}; }
};
inline Term operator+(const Term& a, const Term& b) { return a.with("add", b); }
inline Term operator-(const Term& a, const Term& b) { return a.with("sub", b); }
inline Term operator*(const Term& a, const Term& b) { return a.with("mul", b); }
inline Term operator+(const Term& a, double b) { return a.with("add", b); }
inline Term operator-(const Term& a, double b) { return a.with("sub", b); }
inline Term operator*(const Term& a, double b) { return a.with("mul", b); }
inline Term choose(const Term& condition, const Term& yes, const Term& no) { return {yes.n, yes.n->choose(condition.v, yes.v, no.v)}; }

}  // namespace tw::frontends
