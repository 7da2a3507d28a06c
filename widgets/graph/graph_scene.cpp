// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/graph/graph_scene.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "engine/graph/op.h"
#include "widgets/graph/graph_layout.h"

namespace tw::widgets {
namespace {

constexpr double kPad = 14, kTitle = 20, kBoxRoom = 60;

struct SceneTexts {
  Q_DECLARE_TR_FUNCTIONS(GraphScene)
};

QString typeText(const graph::TensorType& type) { return QString::fromStdString(type.text()); }

GraphScene::Look lookOf(const std::string& op) {
  const graph::OpDef* def = graph::find_op(op);
  if (!def) return GraphScene::Look::plain;
  switch (def->fusion) {
    case graph::FusionKind::out_elementwise_fusable:
      return GraphScene::Look::heavy;
    case graph::FusionKind::reduction:
    case graph::FusionKind::opaque:
      return GraphScene::Look::data;
    case graph::FusionKind::elementwise:
    case graph::FusionKind::broadcast:
      return GraphScene::Look::light;
    case graph::FusionKind::injective:
      break;
  }
  return GraphScene::Look::plain;
}

/// Builds the scene from the inside outwards: what lies in a frame is laid out in it, then frames and single boxes together in the frame around them. A level
/// is the frame, or -1 for what lies in none; its units are the boxes and frames that lie directly in it. An edge belongs to the innermost level that has both
/// its ends.
class Builder {
 public:
  Builder(const graph::Graph& graph, const GraphGrouping& grouping, const QFont& font) : m_graph(graph), m_grouping(grouping), m_metrics(font) {}

  std::shared_ptr<const GraphScene> run(StopToken stop) {
    makeNodes();
    makeEdges();
    makeFrames();
    for (int f = frameInCycle(); f >= 0; f = frameInCycle()) dissolveFrame(f);
    fillLevels();
    if (!layoutLevel(-1, stop)) return nullptr;
    for (auto& edge : m_scene.edges) {
      for (const QPointF& p : edge.points) edge.bounds |= QRectF(p - QPointF(2, 2), QSizeF(4, 4));
    }
    return std::make_shared<const GraphScene>(std::move(m_scene));
  }

 private:
  /// What lies directly in a frame, or in none.
  struct Level {
    std::vector<int> nodes, frames;
    std::vector<size_t> edges;
    int first = std::numeric_limits<int>::max();  ///< of all nodes inside
  };

  void addNode(GraphScene::Node node) {
    // An overlay writes before the subtitle of a box.
    const double more = node.block >= 0 ? kBoxRoom : 0;
    const double width = std::max(m_metrics.horizontalAdvance(node.title), m_metrics.horizontalAdvance(node.subtitle) + more) + 2 * kPad;
    node.rect = QRectF(0, 0, std::max(72.0, std::min(width, 260.0)), node.subtitle.isEmpty() ? m_metrics.height() + 10 : 2 * m_metrics.height() + 10);
    m_scene.nodes.push_back(std::move(node));
  }

  void appendSearchable(const graph::Node& n, QStringList& texts) const {
    texts << QString::fromStdString(n.name) << QString::fromStdString(n.op);
    for (const int v : n.outputs) texts << typeText(m_graph.values[static_cast<size_t>(v)].type);
    for (const auto& [name, value] : n.attrs.values) texts << QString::fromStdString(name) + QLatin1Char('=') + attributeText(value);
    for (const std::string& place : {n.origin.module, n.origin.source})
      if (!place.empty()) texts << QString::fromStdString(place);
  }

  void makeNodes() {
    std::map<int, size_t> nodeOfBox;
    for (size_t i = 0; i < m_graph.nodes.size(); ++i) {
      const graph::Node& n = m_graph.nodes[i];
      const int box = i < m_grouping.boxOf.size() ? m_grouping.boxOf[i] : -1;
      if (box >= 0) {
        const auto [it, fresh] = nodeOfBox.emplace(box, m_scene.nodes.size());
        const GraphGrouping::Box& b = m_grouping.boxes[static_cast<size_t>(box)];
        if (fresh) {
          GraphScene::Node out;
          out.title = out.name = b.title, out.subtitle = b.subtitle, out.block = b.block;
          addNode(std::move(out));
        }
        GraphScene::Node& out = m_scene.nodes[it->second];
        out.members.push_back(static_cast<int>(i));
        appendSearchable(n, out.searchable);
        m_scene.sceneNodes.push_back(static_cast<int>(it->second));
        continue;
      }
      GraphScene::Node out;
      out.title = QString::fromStdString(n.op), out.name = QString::fromStdString(n.name), out.node = static_cast<int>(i), out.look = lookOf(n.op);
      if (!n.outputs.empty()) out.subtitle = shapeText(m_graph.values[static_cast<size_t>(n.outputs[0])].type.shape);
      out.members.push_back(static_cast<int>(i));
      appendSearchable(n, out.searchable);
      m_scene.sceneNodes.push_back(static_cast<int>(m_scene.nodes.size()));
      addNode(std::move(out));
    }
    const auto terminal = [&](int value, const QString& what) {
      const graph::Value& v = m_graph.values[static_cast<size_t>(value)];
      GraphScene::Node out;
      out.name = QString::fromStdString(v.name), out.title = out.name.startsWith(what) ? out.name : what + QLatin1Char(' ') + out.name,
      out.subtitle = shapeText(v.type.shape), out.value = value;
      out.look = GraphScene::Look::data;
      out.searchable << out.name << typeText(v.type);
      addNode(std::move(out));
    };
    m_firstInput = m_scene.nodes.size();
    for (const int v : m_graph.inputs) terminal(v, SceneTexts::tr("input"));
    m_firstOutput = m_scene.nodes.size();
    for (const int v : m_graph.outputs) terminal(v, SceneTexts::tr("output"));
  }

  int sourceOf(int value) const {
    const graph::Value& v = m_graph.values[static_cast<size_t>(value)];
    if (v.producer >= 0) return m_scene.sceneNodes[static_cast<size_t>(v.producer)];
    const auto it = std::find(m_graph.inputs.begin(), m_graph.inputs.end(), value);
    return it == m_graph.inputs.end() ? -1 : static_cast<int>(m_firstInput) + static_cast<int>(it - m_graph.inputs.begin());
  }

  void addEdge(int value, int to) {
    const int from = sourceOf(value);
    if (from < 0) return;  // a constant
    // Of a box only what enters and leaves it is drawn, and once.
    const bool boxed = m_scene.nodes[static_cast<size_t>(from)].block >= 0 || m_scene.nodes[static_cast<size_t>(to)].block >= 0;
    if (boxed && (from == to || !m_boxEdges.emplace(from, to).second)) return;
    GraphScene::Edge edge;
    edge.from = from, edge.to = to, edge.label = shapeText(m_graph.values[static_cast<size_t>(value)].type.shape);
    m_scene.edges.push_back(std::move(edge));
  }

  void makeEdges() {
    for (size_t i = 0; i < m_graph.nodes.size(); ++i) {
      for (const int v : m_graph.nodes[i].inputs) {
        if (v >= 0) addEdge(v, m_scene.sceneNodes[i]);
      }
    }
    for (size_t i = 0; i < m_graph.outputs.size(); ++i) addEdge(m_graph.outputs[i], static_cast<int>(m_firstOutput + i));
  }

  /// The frame of a group, made after those around it.
  int frameOf(int group, std::map<int, int>& known) {
    if (const auto it = known.find(group); it != known.end()) return it->second;
    GraphScene::Frame frame;
    frame.group = group;
    if (static_cast<size_t>(group) < m_grouping.groups.size()) {
      const GraphGrouping::Group& g = m_grouping.groups[static_cast<size_t>(group)];
      frame.title = g.title, frame.task = g.task;
      if (g.parent >= 0) frame.parent = frameOf(g.parent, known);
    }
    m_scene.frames.push_back(frame);
    return known[group] = static_cast<int>(m_scene.frames.size()) - 1;
  }

  void makeFrames() {
    std::map<int, int> known;
    for (size_t i = 0; i < m_grouping.groupOf.size() && i < m_graph.nodes.size(); ++i) {
      if (m_grouping.groupOf[i] >= 0) m_scene.nodes[static_cast<size_t>(m_scene.sceneNodes[i])].frame = frameOf(m_grouping.groupOf[i], known);
    }
  }

  /// Frames are boxes of the level around them: one that reads its own output through others cannot be one. The frame of the least group in a cycle, -1 for
  /// none.
  int frameInCycle() const {
    const size_t count = m_scene.frames.size() + m_scene.nodes.size();
    std::set<std::pair<size_t, size_t>> links;
    for (const auto& e : m_scene.edges) {
      const int level = levelOf(e);
      if (e.from != e.to) links.emplace(unitOf(e.from, level), unitOf(e.to, level));
    }
    // What nothing leads to is in no cycle, nor what leads nowhere; what remains when both are taken away is.
    std::vector<bool> gone(count, false);
    for (const bool backwards : {false, true}) {
      std::vector<std::vector<size_t>> next(count);
      std::vector<int> inputs(count, 0);
      for (const auto& [from, to] : links) {
        if (gone[from] || gone[to]) continue;
        next[backwards ? to : from].push_back(backwards ? from : to);
        ++inputs[backwards ? from : to];
      }
      std::vector<size_t> ready;
      for (size_t i = 0; i < count; ++i) {
        if (inputs[i] == 0 && !gone[i]) ready.push_back(i);
      }
      while (!ready.empty()) {
        const size_t v = ready.back();
        ready.pop_back();
        gone[v] = true;
        for (const size_t w : next[v]) {
          if (--inputs[w] == 0) ready.push_back(w);
        }
      }
    }
    int least = -1;
    for (size_t f = 0; f < m_scene.frames.size(); ++f) {
      if (!gone[f] && (least < 0 || m_scene.frames[f].group < m_scene.frames[static_cast<size_t>(least)].group)) least = static_cast<int>(f);
    }
    return least;
  }

  /// What lay in it lies in the frame around it then.
  void dissolveFrame(int frame) {
    const int parent = m_scene.frames[static_cast<size_t>(frame)].parent;
    m_scene.frames.erase(m_scene.frames.begin() + frame);
    const auto renumber = [&](int& f) { f = f == frame ? parent : f > frame ? f - 1 : f; };
    for (GraphScene::Node& n : m_scene.nodes) renumber(n.frame);
    for (GraphScene::Frame& f : m_scene.frames) renumber(f.parent);
  }

  int parentOf(int frame) const { return m_scene.frames[static_cast<size_t>(frame)].parent; }

  bool isInside(int node, int frame) const {
    int f = m_scene.nodes[static_cast<size_t>(node)].frame;
    while (f >= 0 && f != frame) f = parentOf(f);
    return f == frame;
  }

  /// Number of the unit of a level that a node is or lies in: that of its frame, or of the node itself after all frames. The node lies in the level.
  size_t unitOf(int node, int level) const {
    int f = m_scene.nodes[static_cast<size_t>(node)].frame;
    if (f == level) return m_scene.frames.size() + static_cast<size_t>(node);
    while (parentOf(f) != level) f = parentOf(f);
    return static_cast<size_t>(f);
  }

  int levelOf(const GraphScene::Edge& edge) const {
    int level = m_scene.nodes[static_cast<size_t>(edge.from)].frame;
    while (level >= 0 && !isInside(edge.to, level)) level = parentOf(level);
    return level;
  }

  void fillLevels() {
    m_levels.resize(m_scene.frames.size() + 1);
    for (size_t i = 0; i < m_scene.nodes.size(); ++i) {
      const int frame = m_scene.nodes[i].frame;
      m_levels[static_cast<size_t>(frame + 1)].nodes.push_back(static_cast<int>(i));
      for (int f = frame; f >= 0; f = parentOf(f))
        m_levels[static_cast<size_t>(f + 1)].first = std::min(m_levels[static_cast<size_t>(f + 1)].first, static_cast<int>(i));
    }
    for (size_t f = 0; f < m_scene.frames.size(); ++f) m_levels[static_cast<size_t>(parentOf(static_cast<int>(f)) + 1)].frames.push_back(static_cast<int>(f));
    for (size_t e = 0; e < m_scene.edges.size(); ++e) m_levels[static_cast<size_t>(levelOf(m_scene.edges[e]) + 1)].edges.push_back(e);
  }

  /// Places everything in a level, as if its frame began at 0, 0.
  bool layoutLevel(int level, StopToken stop) {
    const size_t frames = m_scene.frames.size();
    const Level& l = m_levels[static_cast<size_t>(level + 1)];
    // Units in order of their first node, so that the drawing follows the graph's order.
    std::vector<std::pair<int, size_t>> units;
    for (const int n : l.nodes) units.emplace_back(n, frames + static_cast<size_t>(n));
    for (const int f : l.frames) {
      if (!layoutLevel(f, stop)) return false;
      units.emplace_back(m_levels[static_cast<size_t>(f + 1)].first, static_cast<size_t>(f));
    }
    std::sort(units.begin(), units.end());
    std::map<size_t, int> boxOf;
    LayoutInput in;
    for (const auto& [first, unit] : units) {
      boxOf[unit] = static_cast<int>(in.sizes.size());
      in.sizes.push_back(unit < frames ? m_scene.frames[unit].rect.size() : m_scene.nodes[unit - frames].rect.size());
    }
    for (const size_t e : l.edges) {
      const GraphScene::Edge& edge = m_scene.edges[e];
      in.edges.emplace_back(boxOf[unitOf(edge.from, level)], boxOf[unitOf(edge.to, level)]);
    }
    LayoutSpacing spacing;
    if (level >= 0) spacing.layer = 20, spacing.node = 14;
    const auto out = layoutGraph(in, spacing, stop);
    if (!out) return false;
    QPointF shift;
    if (level >= 0) {
      const double title = m_metrics.horizontalAdvance(m_scene.frames[static_cast<size_t>(level)].title) + 2 * kPad;
      const double width = std::max(out->bounds.width() + 2 * kPad, std::min(title, 320.0));
      shift = QPointF((width - out->bounds.width()) / 2, kTitle + 4) - out->bounds.topLeft();
      m_scene.frames[static_cast<size_t>(level)].rect = QRectF(0, 0, width, out->bounds.height() + kTitle + 4 + kPad);
    } else {
      m_scene.bounds = out->bounds.adjusted(-24, -24, 24, 24);
    }
    for (size_t u = 0; u < units.size(); ++u) {
      const QPointF at = out->boxes[u].topLeft() + shift;
      if (const size_t unit = units[u].second; unit < frames)
        translate(static_cast<int>(unit), at);
      else
        m_scene.nodes[unit - frames].rect.moveTopLeft(at);
    }
    for (size_t i = 0; i < l.edges.size(); ++i) {
      GraphScene::Edge& edge = m_scene.edges[l.edges[i]];
      for (const QPointF& p : out->routes[i]) edge.points.push_back(p + shift);
      if (edge.points.size() < 2) continue;
      const size_t from = unitOf(edge.from, level), to = unitOf(edge.to, level);
      if (from < frames) joinSource(edge, static_cast<int>(from));
      if (to < frames) joinTarget(edge, static_cast<int>(to));
    }
    return true;
  }

  /// Moves a frame with all that lies in it.
  void translate(int frame, const QPointF& by) {
    const Level& l = m_levels[static_cast<size_t>(frame + 1)];
    m_scene.frames[static_cast<size_t>(frame)].rect.translate(by);
    for (const int f : l.frames) translate(f, by);
    for (const int n : l.nodes) m_scene.nodes[static_cast<size_t>(n)].rect.translate(by);
    for (const size_t e : l.edges) {
      for (QPointF& p : m_scene.edges[e].points) p += by;
    }
  }

  /// True if another box in the frame stands between y `top` and `bottom` at `x`.
  bool blocked(int node, int frame, double x, double top, double bottom) const {
    for (size_t i = 0; i < m_scene.nodes.size(); ++i) {
      const QRectF& r = m_scene.nodes[i].rect;
      if (static_cast<int>(i) != node && r.left() < x && x < r.right() && r.bottom() > top && r.top() < bottom && isInside(static_cast<int>(i), frame))
        return true;
    }
    return false;
  }

  /// x of the free lane between the boxes and the border of a frame, on the side of `towards`.
  double laneOf(int frame, double towards) const {
    const QRectF& rect = m_scene.frames[static_cast<size_t>(frame)].rect;
    return towards < rect.center().x() ? rect.left() + kPad / 2 : rect.right() - kPad / 2;
  }

  /// Leads the first point of a route from the border of the frame that it leaves back to the node itself.
  void joinSource(GraphScene::Edge& edge, int frame) const {
    const QRectF& from = m_scene.nodes[static_cast<size_t>(edge.from)].rect;
    const double y = edge.points.front().y(), x = from.center().x();
    edge.points.front().setX(x);
    if (y <= from.bottom() + 0.5) return;
    if (!blocked(edge.from, frame, x, from.bottom(), y)) {
      edge.points.insert(edge.points.begin(), QPointF(x, from.bottom()));
      return;
    }
    const double lane = laneOf(frame, edge.points[1].x());
    edge.points.front().setX(lane);
    edge.points.insert(edge.points.begin(), {QPointF(lane < x ? from.left() : from.right(), from.center().y()), QPointF(lane, from.center().y())});
  }

  /// The same at the other end.
  void joinTarget(GraphScene::Edge& edge, int frame) const {
    const QRectF& to = m_scene.nodes[static_cast<size_t>(edge.to)].rect;
    const double y = edge.points.back().y(), x = to.center().x();
    edge.points.back().setX(x);
    if (y >= to.top() - 0.5) return;
    if (!blocked(edge.to, frame, x, y, to.top())) {
      edge.points.emplace_back(x, to.top());
      return;
    }
    const double lane = laneOf(frame, edge.points[edge.points.size() - 2].x());
    edge.points.back().setX(lane);
    edge.points.emplace_back(lane, to.center().y());
    edge.points.emplace_back(lane < x ? to.left() : to.right(), to.center().y());
  }

  const graph::Graph& m_graph;
  const GraphGrouping& m_grouping;
  QFontMetricsF m_metrics;
  GraphScene m_scene;
  size_t m_firstInput = 0, m_firstOutput = 0;
  std::set<std::pair<int, int>> m_boxEdges;
  std::vector<Level> m_levels;  ///< -1 first
};

}  // namespace

int GraphScene::nodeAt(const QPointF& point) const {
  for (size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i].rect.contains(point)) return static_cast<int>(i);
  }
  return -1;
}

int GraphScene::frameAt(const QPointF& point) const {
  for (size_t i = frames.size(); i-- > 0;) {
    if (frames[i].rect.contains(point)) return static_cast<int>(i);
  }
  return -1;
}

int GraphScene::sceneNodeOf(int graphNode) const {
  return graphNode >= 0 && static_cast<size_t>(graphNode) < sceneNodes.size() ? sceneNodes[static_cast<size_t>(graphNode)] : -1;
}

std::vector<int> GraphScene::find(const QString& text) const {
  std::vector<int> found;
  if (text.trimmed().isEmpty()) return found;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto& strings = nodes[i].searchable;
    if (std::any_of(strings.begin(), strings.end(), [&](const QString& s) { return s.contains(text.trimmed(), Qt::CaseInsensitive); }))
      found.push_back(static_cast<int>(i));
  }
  return found;
}

std::shared_ptr<const GraphScene> buildGraphScene(const graph::Graph& graph, const GraphGrouping& grouping, const QFont& font, StopToken stop) {
  return Builder(graph, grouping, font).run(stop);
}

QString shapeText(const std::vector<int64_t>& shape) {
  if (shape.empty()) return SceneTexts::tr("scalar");
  QStringList parts;
  for (const int64_t d : shape) parts << QString::number(d);
  return parts.join(QChar(0x00D7));
}

QString attributeText(const graph::AttrValue& value) {
  const auto list = [](const auto& items, auto one) {
    QStringList parts;
    for (const auto& item : items) parts << one(item);
    return QLatin1Char('[') + parts.join(QStringLiteral(", ")) + QLatin1Char(']');
  };
  struct {
    QString operator()(int64_t v) const { return QString::number(v); }
    QString operator()(double v) const { return QString::number(v, 'g', 6); }
    QString operator()(const std::string& v) const { return QString::fromStdString(v); }
  } one;
  return std::visit(
      [&](const auto& v) -> QString {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::vector<int64_t>> || std::is_same_v<T, std::vector<double>> || std::is_same_v<T, std::vector<std::string>>)
          return list(v, one);
        else
          return one(v);
      },
      value);
}

}  // namespace tw::widgets
