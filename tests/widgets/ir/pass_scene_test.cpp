// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ir/pass_scene.h"

#include <QBrush>
#include <QtTest>
#include <set>

#include "widgets/graph/graph_view.h"
#include "widgets/theme/theme.h"

using namespace tw;
using namespace tw::widgets;

class PassSceneTest : public QObject {
  Q_OBJECT
  using Change = GraphOverlay::Change;

  static QStringList titles(const PassSide& side) {
    QStringList out;
    for (const auto& n : side.scene->nodes) out << n.title;
    return out;
  }
  static std::vector<Change> changes(const PassSide& side) {
    std::vector<Change> out;
    for (const auto& p : side.overlay.parts) out.push_back(p.change);
    return out;
  }

 private Q_SLOTS:
  void loopsAreATreeAndWhatChangedIsLit() {
    const std::string before =
        "@T.prim_func\n"
        "def main(x: T.Buffer((64,), \"float32\")):\n"
        "    T.func_attr({\"num_outputs\": 1})\n"
        "    for i in T.parallel(4):\n"
        "        for j in T.vectorized(16):\n"
        "            x[i * 16 + j] = 1\n"
        "        y[i] = 2\n"
        "        z[i] = 3\n"
        "    for k in T.serial(4):\n"
        "        z[k] = 4\n";
    const std::string after =
        "@T.prim_func\n"
        "def main(x: T.Buffer((64,), \"float32\")):\n"
        "    T.func_attr({\"num_outputs\": 1})\n"
        "    for i in T.parallel(4):\n"
        "        x[T.Ramp(i * 16, 1, 16)] = 1\n"
        "        y[i] = 2\n"
        "        z[i] = 3\n"
        "    for k in T.unroll(4):\n"
        "        z[k] = 4\n";
    const PassScene scene = nestPassScene(before, after, {}, {}).value();
    QCOMPARE(titles(scene.before),
             (QStringList{"def main", "for i in parallel(4)", "for j in vectorized(16)", "x[i * 16 + j] = 1", "y[i] = 2", "for k in serial(4)", "z[k] = 4"}));
    QCOMPARE(changes(scene.before),
             (std::vector<Change>{Change::same, Change::same, Change::removed, Change::removed, Change::same, Change::changed, Change::same}));
    QCOMPARE(titles(scene.after), (QStringList{"def main", "for i in parallel(4)", "x[Ramp(i * 16, 1, 16)] = 1", "for k in unroll(4)", "z[k] = 4"}));
    QCOMPARE(changes(scene.after), (std::vector<Change>{Change::same, Change::same, Change::changed, Change::changed, Change::same}));
    QVERIFY(scene.removed == 2 && scene.changed == 2 && scene.made == 0);
    QCOMPARE(scene.before.lines, (std::vector<int>{1, 3, 4, 5, 6, 8, 9}));
    QCOMPARE(scene.before.boxOfLine(7), 4);
    QCOMPARE(scene.before.boxOfLine(0), -1);
    QCOMPARE(scene.before.other[5], 3);
    QCOMPARE(scene.after.other[3], 5);
    QCOMPARE(scene.before.other[2], -1);
    QCOMPARE(scene.before.lit(), (std::vector<int>{2, 3, 5}));
    // A tree: every box but the root hangs at one, below it.
    QCOMPARE(scene.before.scene->edges.size(), scene.before.scene->nodes.size() - 1);
    for (const auto& e : scene.before.scene->edges)
      QVERIFY(scene.before.scene->nodes[static_cast<size_t>(e.from)].rect.bottom() < scene.before.scene->nodes[static_cast<size_t>(e.to)].rect.top());
    const PassScene same = nestPassScene(before, before, {}, {}).value();
    QVERIFY(same.before.lit().empty() && same.after.lit().empty());
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(!nestPassScene(before, after, {}, stop.get_token()));
  }

  void graphsHaveTheirNodesAndKernels() {
    const auto chain = [](const std::string& middle, bool fused) {
      graph::GraphBuilder b("g");
      int x = b.input("x", {kFloat32, {4}});
      for (const std::string& name : {std::string("a"), middle, std::string("c")}) {
        x = b.node("relu", {x}, {}, name).value()[0];
        if (fused) b.set_group(name == "c" ? 1 : 0);
      }
      b.output(x);
      return std::move(b).finish();
    };
    const graph::Graph before = chain("b", false), after = chain("b", true);
    const PassScene scene = graphPassScene(before, after, {}, {}).value();
    QCOMPARE(changes(scene.after), (std::vector<Change>{Change::changed, Change::changed, Change::same}));
    QVERIFY(scene.before.scene->frames.empty() && scene.after.scene->frames.size() == 1);
    const PassScene other = graphPassScene(before, chain("z", false), {}, {}).value();
    QCOMPARE(changes(other.before), (std::vector<Change>{Change::same, Change::removed, Change::changed}));
    QCOMPARE(changes(other.after), (std::vector<Change>{Change::same, Change::made, Change::changed}));
    QVERIFY(other.made == 1 && other.removed == 1 && other.changed == 1);
    const QStringList lines = QString::fromStdString(graph::print(after)).split(QLatin1Char('\n'));
    QVERIFY(lines[scene.after.lines[2]].contains(QStringLiteral("name \"c\"")));

    // What is lit says so in words, too, in frames and outside; what is not says nothing.
    GraphView view;
    view.setScene(scene.after.scene);
    view.setOverlay(scene.after.overlay);
    const Table table = view.table();
    const auto shown = static_cast<qsizetype>(table.columns.indexOf(QStringLiteral("shown as")));
    QVERIFY(table.rows[0][shown].contains(QStringLiteral("changed")) && table.rows[2][shown].isEmpty());
    std::set<Qt::BrushStyle> patterns;
    for (const Change c : {Change::made, Change::removed, Change::changed}) {
      GraphOverlay o;
      o.kind = GraphOverlay::Kind::change;
      o.parts.resize(2);
      o.parts[0].change = c;
      QVERIFY(o.valueOf({0}).known && !o.valueOf({0}).text.isEmpty());
      QVERIFY(o.valueOf({1}).text.isEmpty());
      QCOMPARE(o.valueOf({0, 1}).value, static_cast<double>(Change::changed));  // of a box
      patterns.insert(overlayBrush(o.kind, o.valueOf({0}), 1, lightTheme()).style());
    }
    QCOMPARE(patterns.size(), size_t{3});  // told without colour, where texts are too small
  }
};

QTEST_MAIN(PassSceneTest)
#include "pass_scene_test.moc"
