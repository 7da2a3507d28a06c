// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/loop_scene.h"

#include <QtTest>

#include "engine/tir/parse.h"
#include "widgets/theme/theme.h"

using namespace tw;
using widgets::ArrayGrid;

/// Where elements stand in pictures, and that the moment is painted.
class LoopSceneTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void matricesAreDrawnAsTheyAre() {
    const ArrayGrid grid({48, 64});
    QCOMPARE(grid.size(), QSize(64, 48));
    QCOMPARE(grid.at(0), QPoint(0, 0));
    QCOMPARE(grid.at(65), QPoint(1, 1));
    QCOMPARE(grid.at(48 * 64 - 1), QPoint(63, 47));
  }
  void everyShapeFitsAndEveryElementHasAPlace() {
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{}, {1}, {7}, {4096}, {1, 64, 56, 56}, {512, 3, 3}, {4000, 2}, {2, 4000}, {1000, 1000}, {3, 1, 1}}) {
      const ArrayGrid grid(shape);
      int64_t elements = 1;
      for (const int64_t d : shape) elements *= d;
      const QRect all(QPoint(0, 0), grid.size());
      QVERIFY(all.width() <= 1300 && all.height() <= 1300);
      std::set<std::pair<int, int>> places;
      for (int64_t e = 0; e < elements; ++e) {
        const QPoint p = grid.at(e);
        QVERIFY2(all.contains(p), qPrintable(QStringLiteral("element %1 of %2").arg(e).arg(elements)));
        places.insert({p.x(), p.y()});
      }
      if (elements <= 4096) QCOMPARE(places.size(), static_cast<size_t>(elements));
    }
  }
  void nowIsSeenInBothThemes() {
    const std::string text = R"(@T.prim_func
def f(A: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    T.func_attr({"num_outputs": 1})
    for i in T.serial(16):
        for j in T.serial(16):
            C[i, j] = A[j, i]
)";
    auto trace = tir::trace_accesses(tir::parse_func(text).value(), 1 << 20).value();
    const auto play = simulate::LoopPlay::make(std::move(trace), Target(), simulate::cache_levels(Target())).value();
    for (const widgets::Theme* theme : {&widgets::lightTheme(), &widgets::darkTheme()}) {
      widgets::LoopScene scene;
      scene.setPalette(widgets::paletteFor(*theme));
      scene.resize(900, 500);
      scene.setPlay(play, QStringLiteral("turned"));
      const auto points = [&](const QColor& colour) {  // in the pictures, right of the texts
        const QImage image = scene.grab().toImage().convertToFormat(QImage::Format_RGB32);
        int n = 0;
        // The legend has samples of the same colours, at the bottom.
        for (int y = 0; y < image.height() - 30; ++y)
          for (int x = 430; x < image.width(); ++x) n += image.pixel(x, y) == colour.rgb();
        return n;
      };
      QCOMPARE(points(theme->error), 0);
      const int letters = points(theme->text);
      scene.seek(40);
      QVERIFY(points(theme->error) >= 25);
      QVERIFY(points(theme->text) >= letters + 25);
      QVERIFY(scene.summary().contains(QStringLiteral("256 steps")));
      QCOMPARE(scene.table().rows[0], (QStringList{QStringLiteral("A"), QStringLiteral("40"), QStringLiteral("0"), QStringLiteral("40"), QStringLiteral("24"),
                                                   QStringLiteral("0"), QStringLiteral("16")}));
      scene.seek(0);
      QCOMPARE(points(theme->error), 0);
      scene.setPlay(nullptr, {});
      QVERIFY(scene.table().columns.isEmpty());
      scene.grab();
    }
  }
};

QTEST_MAIN(LoopSceneTest)
#include "loop_scene_test.moc"
