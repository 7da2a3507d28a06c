// SPDX-License-Identifier: Apache-2.0
#include "engine/api/logged_task.h"

#include <fmt/format.h>

#include "engine/base/text.h"
#include "engine/graph/graph.h"
#include "engine/graph/to_dag.h"
#include "engine/records/autotvm_task.h"

namespace tw::api {
namespace {

using Dims = std::vector<int64_t>;

/// `["TENSOR", [1, 64], "float32"]`.
std::optional<graph::TensorType> tensor_of(const Json& json) {
  if (!json.is_array() || json.size() != 3 || json[0] != "TENSOR" || !json[1].is_array() || !json[2].is_string()) return std::nullopt;
  const auto dtype = parse_dtype(json[2].get<std::string>());
  if (!dtype) return std::nullopt;
  graph::TensorType type{*dtype, {}};
  int64_t elements = 1;
  for (const Json& extent : json[1]) {
    if (!extent.is_number_integer()) return std::nullopt;
    const auto n = extent.get<int64_t>();
    if (n < 1 || n > (int64_t{1} << 31) / elements) return std::nullopt;
    elements *= n;
    type.shape.push_back(n);
  }
  return type;
}

std::optional<Dims> integers_of(const Json& json) {
  if (!json.is_array()) return std::nullopt;
  Dims values;
  for (const Json& item : json) {
    if (!item.is_number_integer()) return std::nullopt;
    values.push_back(item.get<int64_t>());
  }
  return values;
}

struct Call {
  const char* op = nullptr;
  graph::Attrs attrs;
  graph::TensorType x, w;
  bool constant = true;  ///< the second tensor holds weights
};

struct ConvArguments {
  Dims strides, pads, dilations;
};

/// Data, kernel, strides, padding, dilation come first in every convolution, over `rank` dimensions of space.
std::optional<ConvArguments> conv_arguments(const Json& a, size_t rank) {
  if (a.size() < 5) return std::nullopt;
  auto strides = integers_of(a[2]), pads = integers_of(a[3]), dilations = integers_of(a[4]);
  if (!strides || !pads || !dilations || strides->size() != rank || dilations->size() != rank) return std::nullopt;
  if (pads->size() == rank) pads->insert(pads->end(), pads->begin(), pads->begin() + static_cast<std::ptrdiff_t>(rank));
  if (pads->size() != 2 * rank) return std::nullopt;
  return ConvArguments{*std::move(strides), *std::move(pads), *std::move(dilations)};
}

std::optional<Call> convolution(const records::AutotvmRecord& line, const Json& a, graph::TensorType x, graph::TensorType w, const char* op) {
  if (x.shape.size() < 3 || x.shape.size() != w.shape.size() || op[4] - '0' != static_cast<int>(x.shape.size()) - 2) return std::nullopt;
  const auto args = conv_arguments(a, x.shape.size() - 2);
  if (!args) return std::nullopt;
  int64_t groups = 1;
  if (line.name.starts_with("depthwise")) groups = x.shape[1];
  if (line.name.starts_with("group_conv2d") || line.name.starts_with("conv3d")) {
    if (a.size() < 6 || !a[5].is_number_integer()) return std::nullopt;
    groups = a[5].get<int64_t>();
  }
  return Call{op, graph::Attrs{{{"strides", args->strides}, {"pads", args->pads}, {"dilations", args->dilations}, {"groups", groups}}}, std::move(x),
              std::move(w)};
}

/// A convolution with channels last, data [N, H, W, C] and kernel [KH, KW, C, O], or depthwise [KH, KW, C, results of a channel].
std::optional<Call> channels_last(const Json& a, const char* op, graph::TensorType x, graph::TensorType w) {
  const auto args = conv_arguments(a, 2);
  if (!args) return std::nullopt;
  return Call{op, graph::Attrs{{{"strides", args->strides}, {"pads", args->pads}, {"dilations", args->dilations}}}, std::move(x), std::move(w)};
}

std::optional<Call> call_of(const records::AutotvmRecord& line, const Json& a) {
  auto x = tensor_of(a[0]), w = tensor_of(a[1]);
  if (!x || !w || x->dtype != w->dtype) return std::nullopt;
  if (line.name.starts_with("dense_")) return x->shape.size() == 2 && w->shape.size() == 2 ? std::optional(Call{"dense", {}, *x, *w}) : std::nullopt;
  if (line.name.starts_with("batch_matmul")) {
    if (x->shape.size() != 3 || w->shape.size() != 3) return std::nullopt;
    const auto flag = [&](size_t i) { return a.size() > i && (a[i] == 1 || a[i] == true); };
    if (flag(4)) return std::nullopt;
    if (flag(5)) std::swap(w->shape[1], w->shape[2]);
    return Call{"matmul", {}, *x, *w, false};
  }
  for (const char* op : {"depthwise_conv2d_nhwc", "conv2d_nhwc"})
    if (line.name.starts_with(op)) return channels_last(a, op, *x, *w);
  for (const char* op : {"conv1d", "conv2d", "conv3d"})
    if (line.name.find(op) != std::string::npos) return convolution(line, a, *x, *w, op);
  return std::nullopt;
}

Expected<te::Dag> dag_of(const Call& call) {
  graph::GraphBuilder b("logged");
  const int x = b.input("x", call.x), w = b.input("w", call.w);
  TW_TRY(const std::vector<int> out, b.node(call.op, {x, w}, call.attrs));
  b.output(out[0]);
  const graph::Graph g = std::move(b).finish();
  std::vector<int> nodes;
  for (size_t i = 0; i < g.nodes.size(); ++i) nodes.push_back(static_cast<int>(i));
  TW_TRY(const auto made, graph::to_dag(g, nodes, g.outputs));
  te::Dag dag = *made.dag;
  // A graph's constant has data, which a line has not.
  size_t placeholder = 0;
  for (te::Op& op : dag.ops) {
    if (op.is_placeholder() && made.inputs[placeholder++] == w && call.constant) op.role = te::Role::constant;
  }
  return dag;
}

}  // namespace

Expected<records::Task> logged_task(const records::AutotvmRecord& line, const Target& target) {
  const Error unknown(ErrorCode::unsupported, fmt::format("Expected a computation that can be told from a line, found '{}'", printable(line.name)));
  const Json args = records::args_of(line);
  if (line.target.substr(0, line.target.find(' ')) != target.kind || args.size() < 2) return unknown;
  std::optional<te::Dag> dag;
  if (const std::optional<Call> call = call_of(line, args)) {
    TW_TRY(dag, dag_of(*call));
  }
  if (!dag) return unknown;
  if (!records::same_workload(records::autotvm_task(*dag, target), line.name, args)) return unknown;
  return records::make_task(line.name.substr(0, line.name.find('.')), std::make_shared<const te::Dag>(*std::move(dag)), target);
}

}  // namespace tw::api
