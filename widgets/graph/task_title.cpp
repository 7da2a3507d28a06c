// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/graph/task_title.h"

#include <QStringList>
#include <algorithm>

#include "engine/graph/expression.h"
#include "widgets/graph/graph_scene.h"

namespace tw::widgets {
namespace {

using Dims = std::vector<int64_t>;
constexpr size_t kOthers = 3;  ///< operators that are named beside the main one

/// `7×7`, or `16²` where all are equal.
QString sizeText(const Dims& dims) {
  static const char16_t kPowers[] = {u' ', u' ', 0x00B2, 0x00B3};
  const bool equal = dims.size() > 1 && dims.size() <= 3 && std::all_of(dims.begin(), dims.end(), [&](int64_t d) { return d == dims.front(); });
  return equal ? QString::number(dims.front()) + QChar(kPowers[dims.size()]) : shapeText(dims);
}

Dims from(const Dims& shape, size_t first) { return first < shape.size() ? Dims(shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end()) : Dims(); }

/// `/2`, nothing for steps of one.
QString stepText(const graph::Node& node) {
  const Dims steps = node.attrs.integers("strides", {});
  if (std::all_of(steps.begin(), steps.end(), [](int64_t s) { return s == 1; })) return {};
  const bool equal = std::all_of(steps.begin(), steps.end(), [&](int64_t s) { return s == steps.front(); });
  return QLatin1Char('/') + (equal ? QString::number(steps.front()) : shapeText(steps));
}

int rank(const std::string& op) {
  if (op.starts_with("conv") || op.starts_with("depthwise_conv")) return 0;
  if (op == "dense" || op == "matmul" || op == "einsum") return 1;
  return op.find("pool") != std::string::npos || op == "softmax" ? 2 : 3;
}

QString mainText(const graph::Graph& g, const graph::Node& node) {
  const bool last = node.op.ends_with("_nhwc"), ownDepthwise = node.op.starts_with("depthwise_");
  // A computation of one's own is called as its file.
  const QString name = QString::fromStdString(node.op == graph::kExpression ? node.name : node.op).mid(ownDepthwise ? 10 : 0);
  /// Of an image.
  const auto channels = [&](const Dims& dims) { return QString::number(last ? dims.back() : dims[1]); };
  const auto places = [&](const Dims& dims) { return last ? Dims(dims.begin() + 1, dims.end() - 1) : from(dims, 2); };
  const auto shape = [&](int value) { return value < 0 ? Dims() : g.values[static_cast<size_t>(value)].type.shape; };
  const Dims in = node.inputs.empty() ? Dims() : shape(node.inputs[0]), out = node.outputs.empty() ? Dims() : shape(node.outputs[0]);
  const Dims other = node.inputs.size() > 1 ? shape(node.inputs[1]) : Dims();
  const QString to(QChar(0x2192)), dot = QStringLiteral(" ") + QChar(0x00B7) + QLatin1Char(' ');
  if (rank(node.op) == 0 && in.size() > 2 && out.size() == in.size() && other.size() == in.size()) {
    const int64_t groups = node.attrs.integer("groups", 1);
    const bool depthwise = ownDepthwise || (groups > 1 && groups == in[1]);
    const Dims window = last ? Dims(other.begin(), other.end() - 2) : from(other, 2);
    return (depthwise ? QStringLiteral("depthwise ") : QString()) + name + QLatin1Char(' ') + shapeText(window) + stepText(node) + dot +
           (depthwise ? channels(out) : channels(in) + to + channels(out)) + QStringLiteral(" @") + sizeText(places(out)) +
           (groups > 1 && !depthwise ? QStringLiteral(" in %1 groups").arg(groups) : QString());
  }
  if (rank(node.op) == 1 && !in.empty() && !out.empty()) {
    const Dims rows = Dims(out.begin(), out.end() - 1);
    return name + QLatin1Char(' ') + QString::number(in.back()) + to + QString::number(out.back()) + dot + shapeText(rows);
  }
  if (rank(node.op) == 2 && out.size() > 2) {
    const Dims window = node.attrs.integers("kernel", {});
    return name + (window.empty() ? QString() : QLatin1Char(' ') + shapeText(window)) + stepText(node) + dot + channels(out) + QStringLiteral(" @") +
           sizeText(places(out));
  }
  return name + QLatin1Char(' ') + shapeText(out);
}

}  // namespace

QString taskTitle(const graph::Graph& g, const std::vector<int>& nodes) {
  if (nodes.empty()) return {};
  const auto op = [&](int n) -> const graph::Node& { return g.nodes[static_cast<size_t>(n)]; };
  const int first = *std::min_element(nodes.begin(), nodes.end(), [&](int a, int b) { return rank(op(a).op) < rank(op(b).op); });
  QString title = mainText(g, op(first));
  size_t named = 0, rest = 0;
  for (const int n : nodes) {
    if (n == first) continue;
    if (named < kOthers)
      title += QStringLiteral(" + ") + QString::fromStdString(op(n).op), ++named;
    else
      ++rest;
  }
  return rest > 0 ? title + QStringLiteral(" + %1 more").arg(rest) : title;
}

}  // namespace tw::widgets
