// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/torch/aten.h"

namespace tw::frontends {

namespace {

/// Row vectors on the left, column vectors on the right get a dimension that goes away again.
int product(TorchNode& n, int a, int b) {
  const bool row = n.rank(a) == 1, column = n.rank(b) == 1;
  if (n.rank(a) == 0 || n.rank(b) == 0) n.invalid("a product of matrices with a number");
  if (row) a = n.reshape(a, {1, n.shape(a)[0]});
  if (column) b = n.reshape(b, {n.shape(b)[0], 1});
  int y = n.binary("matmul", a, b);
  if (!row && !column) return y;
  Dims shape = n.shape(y);
  if (column) shape.pop_back();
  if (row) shape.erase(shape.end() - (column ? 1 : 2));
  return n.reshape(y, shape);
}

TorchResults matmul(TorchNode& n) {
  const char* right = n.has("other") ? "other" : n.has("mat2") ? "mat2" : n.has("vec") ? "vec" : "tensor";
  return n.one(product(n, n.tensor("self"), n.tensor(right)));
}

/// x W^T + b.
TorchResults linear(TorchNode& n) {
  int x = n.tensor("input"), w = n.tensor("weight");
  const Dims s = n.shape(x);
  if (n.rank(w) != 2 || s.empty()) {
    const int y = product(n, x, n.rank(w) == 1 ? w : n.transpose(w, {1, 0}));
    return n.one(n.has("bias") ? n.binary("add", y, n.tensor("bias")) : y);
  }
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < s.size(); ++d) rows *= s[d];
  Dims result(s.begin(), s.end() - 1);
  result.push_back(n.shape(w)[0]);
  if (rows == 0 || s.back() == 0) return n.one(n.broadcast(n.has("bias") ? n.tensor("bias") : n.scalar(n.dtype(x), 0), result));
  std::vector<int> operands{n.reshape(x, {rows, s.back()}), w};
  if (n.has("bias")) operands.push_back(n.tensor("bias"));
  return n.one(n.reshape(n.emit("dense", operands), result));
}

int times(TorchNode& n, int v, double factor) { return factor == 1 ? v : n.with_scalar("mul", v, factor); }
int plus_self(TorchNode& n, int y) {
  const double beta = n.real("beta", 1);
  return beta == 0 ? y : n.binary("add", y, times(n, n.tensor("self"), beta));
}
/// beta * self + alpha * a b.
TorchResults sum_with(TorchNode& n, const char* a, const char* b) {
  return n.one(plus_self(n, times(n, product(n, n.tensor(a), n.tensor(b)), n.real("alpha", 1))));
}
TorchResults addmm(TorchNode& n) { return sum_with(n, "mat1", "mat2"); }
TorchResults addmv(TorchNode& n) { return sum_with(n, "mat", "vec"); }
TorchResults baddbmm(TorchNode& n) { return sum_with(n, "batch1", "batch2"); }

/// The products of all matrices, added up: one product over rows that stand behind each other.
TorchResults addbmm(TorchNode& n) {
  const int a = n.tensor("batch1"), b = n.tensor("batch2");
  if (n.rank(a) != 3 || n.rank(b) != 3) n.invalid(fmt::format("batches {} and {}", shape_text(n.shape(a)), shape_text(n.shape(b))));
  const Dims s = n.shape(a), t = n.shape(b);
  const int rows = n.reshape(n.transpose(a, {1, 0, 2}), {s[1], s[0] * s[2]}), columns = n.reshape(b, {t[0] * t[1], t[2]});
  return n.one(plus_self(n, times(n, product(n, rows, columns), n.real("alpha", 1))));
}

TorchResults outer(TorchNode& n) {
  const int a = n.tensor("self"), b = n.tensor(n.has("vec2") ? "vec2" : "other");
  return n.one(n.binary("mul", n.reshape(a, {n.shape(a)[0], 1}), n.reshape(b, {1, n.shape(b)[0]})));
}

TorchResults addr(TorchNode& n) {
  const int a = n.tensor("vec1"), b = n.tensor("vec2");
  return n.one(plus_self(n, times(n, n.binary("mul", n.reshape(a, {n.shape(a)[0], 1}), n.reshape(b, {1, n.shape(b)[0]})), n.real("alpha", 1))));
}
/// A matrix of matrices: every element of the one times the whole other.
TorchResults kron(TorchNode& n) {
  const auto v = n.promoted({"self", "other"});
  Dims a = n.shape(v[0]), b = n.shape(v[1]), left, right, shape;
  a.insert(a.begin(), b.size() - std::min(a.size(), b.size()), 1);
  b.insert(b.begin(), a.size() - b.size(), 1);
  for (size_t d = 0; d < a.size(); ++d) {
    left.insert(left.end(), {a[d], 1});
    right.insert(right.end(), {1, b[d]});
    shape.push_back(a[d] * b[d]);
  }
  return n.one(n.reshape(n.binary("mul", n.reshape(v[0], left), n.reshape(v[1], right)), shape));
}
TorchResults chain(TorchNode& n) {
  const std::vector<int> all = n.tensors(n.has("matrices") ? "matrices" : "tensors");
  if (all.empty()) n.invalid("no matrices to multiply");
  int y = all[0];
  for (size_t k = 1; k < all.size(); ++k) y = product(n, y, all[k]);
  return n.one(y);
}

TorchResults einsum(TorchNode& n) {
  std::string equation = n.text("equation", "");
  std::erase(equation, ' ');
  return n.one(n.emit("einsum", n.tensors("tensors"), attrs({{"equation", equation}})));
}

TorchResults bilinear_form(TorchNode& n) {
  const int a = n.tensor("input1"), b = n.tensor("input2"), w = n.tensor("weight");
  const int y = n.emit("einsum", {a, w, b}, attrs({{"equation", std::string("...i,oij,...j->...o")}}));
  return n.one(n.has("bias") ? n.binary("add", y, n.tensor("bias")) : y);
}

constexpr AtenOp kAtenLinear[] = {
    {"aten.addbmm", addbmm},          {"aten.addr", addr},     {"aten.chain_matmul", chain}, {"aten.kron", kron},     {"aten.linalg_matmul", matmul},
    {"aten.linalg_multi_dot", chain}, {"aten.vdot", matmul},   {"aten.addmm", addmm},        {"aten.addmv", addmv},   {"aten.baddbmm", baddbmm},
    {"aten.bilinear", bilinear_form}, {"aten.bmm", matmul},    {"aten.dot", matmul},         {"aten.einsum", einsum}, {"aten.ger", outer},
    {"aten.linear", linear},          {"aten.matmul", matmul}, {"aten.mm", matmul},          {"aten.mv", matmul},     {"aten.outer", outer},
};

}  // namespace

std::span<const AtenOp> aten_linear() { return kAtenLinear; }

}  // namespace tw::frontends
