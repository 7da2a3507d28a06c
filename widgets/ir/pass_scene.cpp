// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ir/pass_scene.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <algorithm>
#include <map>

#include "engine/graph/graph_diff.h"
#include "widgets/graph/graph_layout.h"
#include "widgets/graph/task_title.h"
#include "widgets/ir/line_diff.h"

namespace tw::widgets {
namespace {

using Change = GraphOverlay::Change;

struct PassTexts {
  Q_DECLARE_TR_FUNCTIONS(PassScene)
};

/// Kernels of more than one node.
GraphGrouping kernelsOf(const graph::Graph& g) {
  GraphGrouping grouping;
  std::map<int, std::vector<int>> members;
  for (size_t i = 0; i < g.nodes.size(); ++i)
    if (g.nodes[i].group >= 0) members[g.nodes[i].group].push_back(static_cast<int>(i));
  grouping.groupOf.assign(g.nodes.size(), -1);
  for (const auto& [group, nodes] : members) {
    if (nodes.size() < 2) continue;
    const int number = static_cast<int>(grouping.groups.size());
    for (const int n : nodes) grouping.groupOf[static_cast<size_t>(n)] = number;
    grouping.groups.push_back({taskTitle(g, nodes), number});
  }
  return grouping;
}

PassSide graphSide(const graph::Graph& g, const std::vector<graph::NodeChange>& changes, std::vector<int> other, Change single, const QFont& font,
                   StopToken stop) {
  PassSide side;
  side.scene = buildGraphScene(g, kernelsOf(g), font, stop);
  side.overlay.kind = GraphOverlay::Kind::change;
  side.overlay.parts.resize(g.nodes.size());
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    side.overlay.parts[i].change = changes[i] == graph::NodeChange::same ? Change::same : changes[i] == graph::NodeChange::changed ? Change::changed : single;
    side.lines.push_back(graph::line_of_node(g, static_cast<int>(i)));
  }
  side.other = std::move(other);
  return side;
}

/// A head with what is indented below it, or statements one after another.
struct NestBox {
  int parent = -1;
  int first = 0, end = 0;  ///< its own lines
  QString key;             ///< of a head: what makes it the same loop in another text
  QString title, subtitle;
};

QString titleOf(QString line) {
  line.remove(QStringLiteral("T."));
  if (line.endsWith(QLatin1Char(':'))) line.chop(1);
  return line;
}

/// `for i` of `for i in T.serial(16):`.
QString keyOf(const QString& line) { return line.section(QLatin1Char(' '), 0, line.startsWith(QLatin1String("for ")) ? 1 : 0); }

std::vector<NestBox> nestOf(std::string_view text) {
  std::vector<NestBox> boxes;
  std::vector<std::pair<int, int>> open;  ///< indent and box of the heads around a line
  int number = -1, running = -1;          ///< the box of statements that may go on
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    const size_t indent = line.find_first_not_of(' ');
    if (indent == std::string_view::npos || line[indent] == '@' || line.substr(indent).starts_with("T.func_attr")) continue;
    while (!open.empty() && open.back().first >= static_cast<int>(indent)) open.pop_back(), running = -1;
    const int parent = open.empty() ? -1 : open.back().second;
    const QString words = QString::fromUtf8(line.data() + indent, static_cast<qsizetype>(line.size() - indent));
    if (words.endsWith(QLatin1Char(':'))) {
      open.emplace_back(static_cast<int>(indent), static_cast<int>(boxes.size()));
      boxes.push_back(
          {parent, number, number + 1, keyOf(words), words.startsWith(QLatin1String("def ")) ? words.section(QLatin1Char('('), 0, 0) : titleOf(words), {}});
      running = -1;
    } else if (running >= 0) {
      NestBox& box = boxes[static_cast<size_t>(running)];
      box.end = number + 1;
    } else {
      running = static_cast<int>(boxes.size());
      boxes.push_back({parent, number, number + 1, {}, titleOf(words), {}});
    }
  }
  for (NestBox& b : boxes)
    if (b.key.isEmpty() && b.end - b.first > 1) b.subtitle = PassTexts::tr("%n statement(s)", nullptr, b.end - b.first);
  return boxes;
}

/// Per line of both texts, the same line of the other; -1 for those that were removed or added.
struct LinePairs {
  std::vector<int> after_of, before_of;
};

std::vector<int> boxOfLines(const std::vector<NestBox>& boxes, size_t lines) {
  std::vector<int> of(lines, -1);
  for (size_t b = 0; b < boxes.size(); ++b)
    for (int l = boxes[b].first; l < boxes[b].end; ++l) of[static_cast<size_t>(l)] = static_cast<int>(b);
  return of;
}

/// What of a box's lines is on the other side.
Change changeOf(const NestBox& box, const std::vector<int>& pairs, Change gone) {
  int missing = 0;
  for (int l = box.first; l < box.end; ++l) missing += pairs[static_cast<size_t>(l)] < 0;
  return missing == 0 ? Change::same : missing == box.end - box.first ? gone : Change::changed;
}

std::shared_ptr<const GraphScene> sceneOf(const std::vector<NestBox>& boxes, const QFont& font, StopToken stop) {
  const QFontMetricsF metrics(font);
  GraphScene scene;
  LayoutInput in;
  for (size_t b = 0; b < boxes.size(); ++b) {
    GraphScene::Node node;
    node.title = node.name = boxes[b].title, node.subtitle = boxes[b].subtitle;
    if (node.subtitle.isEmpty()) node.subtitle = QStringLiteral(" ");  // room for a sign
    node.look = boxes[b].key.startsWith(QLatin1String("for")) ? GraphScene::Look::light
                : boxes[b].key.isEmpty()                      ? GraphScene::Look::plain
                                                              : GraphScene::Look::data;
    node.node = static_cast<int>(b), node.members = {static_cast<int>(b)};
    node.searchable << node.title;
    const double width = std::max(metrics.horizontalAdvance(node.title), metrics.horizontalAdvance(node.subtitle)) + 28;
    in.sizes.emplace_back(std::clamp(width, 90.0, 280.0), 2 * metrics.height() + 10);
    if (boxes[b].parent >= 0) in.edges.emplace_back(boxes[b].parent, static_cast<int>(b));
    scene.sceneNodes.push_back(static_cast<int>(b));
    scene.nodes.push_back(std::move(node));
  }
  const auto out = layoutGraph(in, {.layer = 22, .node = 16}, stop);
  if (!out) return nullptr;
  for (size_t b = 0; b < boxes.size(); ++b) scene.nodes[b].rect = out->boxes[b];
  for (size_t e = 0; e < in.edges.size(); ++e) {
    GraphScene::Edge edge;
    edge.from = in.edges[e].first, edge.to = in.edges[e].second, edge.points = out->routes[e];
    for (const QPointF& p : edge.points) edge.bounds |= QRectF(p - QPointF(2, 2), QSizeF(4, 4));
    scene.edges.push_back(std::move(edge));
  }
  scene.bounds = out->bounds.adjusted(-24, -24, 24, 24);
  return std::make_shared<const GraphScene>(std::move(scene));
}

/// Heads that were removed and added in one run of changes and are the same loop.
void pairHeads(const LineDiff& diff, const std::vector<NestBox>& before, const std::vector<NestBox>& after, const std::vector<int>& boxBefore,
               const std::vector<int>& boxAfter, PassSide& one, PassSide& two) {
  for (size_t at = 0; at < diff.lines.size();) {
    if (diff.lines[at].kind == LineDiff::Kind::same) {
      ++at;
      continue;
    }
    std::multimap<QString, int> gone;
    for (; at < diff.lines.size() && diff.lines[at].kind == LineDiff::Kind::removed; ++at)
      if (const int b = boxBefore[static_cast<size_t>(diff.lines[at].before)]; b >= 0 && !before[static_cast<size_t>(b)].key.isEmpty())
        gone.emplace(before[static_cast<size_t>(b)].key, b);
    for (; at < diff.lines.size() && diff.lines[at].kind == LineDiff::Kind::added; ++at) {
      const int a = boxAfter[static_cast<size_t>(diff.lines[at].after)];
      if (a < 0 || after[static_cast<size_t>(a)].key.isEmpty()) continue;
      const auto same = gone.find(after[static_cast<size_t>(a)].key);
      if (same == gone.end()) continue;
      one.overlay.parts[static_cast<size_t>(same->second)].change = two.overlay.parts[static_cast<size_t>(a)].change = Change::changed;
      one.other[static_cast<size_t>(same->second)] = a, two.other[static_cast<size_t>(a)] = same->second;
      gone.erase(same);
    }
  }
}

void count(PassScene& scene) {
  for (const auto& p : scene.before.overlay.parts) scene.removed += p.change == Change::removed;
  for (const auto& p : scene.after.overlay.parts) scene.made += p.change == Change::made, scene.changed += p.change == Change::changed;
}

}  // namespace

int PassSide::boxOfLine(int line) const {
  const auto it = std::upper_bound(lines.begin(), lines.end(), line);
  return static_cast<int>(it - lines.begin()) - 1;
}

std::vector<int> PassSide::lit() const {
  std::vector<int> out;
  for (size_t i = 0; i < overlay.parts.size(); ++i)
    if (overlay.parts[i].change != Change::same) out.push_back(static_cast<int>(i));
  return out;
}

std::optional<PassScene> graphPassScene(const graph::Graph& before, const graph::Graph& after, const QFont& font, StopToken stop) {
  graph::GraphDiff diff = graph::diff_graphs(before, after);
  PassScene scene;
  scene.before = graphSide(before, diff.before, std::move(diff.after_of), Change::removed, font, stop);
  scene.after = graphSide(after, diff.after, std::move(diff.before_of), Change::made, font, stop);
  if (!scene.before.scene || !scene.after.scene) return std::nullopt;
  count(scene);
  return scene;
}

std::optional<PassScene> nestPassScene(std::string_view before, std::string_view after, const QFont& font, StopToken stop) {
  const LineDiff diff = diffLines(before, after);
  LinePairs pairs;
  for (const LineDiff::Line& l : diff.lines) {
    if (l.before >= 0) pairs.after_of.push_back(l.after);
    if (l.after >= 0) pairs.before_of.push_back(l.before);
  }
  const std::vector<NestBox> one = nestOf(before), two = nestOf(after);
  const std::vector<int> boxBefore = boxOfLines(one, pairs.after_of.size()), boxAfter = boxOfLines(two, pairs.before_of.size());
  PassScene scene;
  const auto fill = [&](PassSide& side, const std::vector<NestBox>& boxes, const std::vector<int>& same, const std::vector<int>& boxThere, Change gone) {
    side.scene = sceneOf(boxes, font, stop);
    side.overlay.kind = GraphOverlay::Kind::change;
    for (const NestBox& b : boxes) {
      side.overlay.parts.emplace_back().change = changeOf(b, same, gone);
      side.lines.push_back(b.first);
      int there = -1;
      for (int l = b.first; l < b.end && there < 0; ++l)
        if (const int line = same[static_cast<size_t>(l)]; line >= 0) there = boxThere[static_cast<size_t>(line)];
      side.other.push_back(there);
    }
  };
  fill(scene.before, one, pairs.after_of, boxAfter, Change::removed);
  fill(scene.after, two, pairs.before_of, boxBefore, Change::made);
  if (!scene.before.scene || !scene.after.scene) return std::nullopt;
  pairHeads(diff, one, two, boxBefore, boxAfter, scene.before, scene.after);
  count(scene);
  return scene;
}

}  // namespace tw::widgets
