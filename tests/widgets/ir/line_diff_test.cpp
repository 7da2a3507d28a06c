// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ir/line_diff.h"

#include <QElapsedTimer>
#include <QtTest>
#include <random>

using namespace tw::widgets;

class LineDiffTest : public QObject {
  Q_OBJECT
  using Kind = LineDiff::Kind;

  static std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& l : lines) text += l + "\n";
    return text;
  }

  /// Length of the longest common subsequence, by the quadratic table.
  static int common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    std::vector<std::vector<int>> t(a.size() + 1, std::vector<int>(b.size() + 1, 0));
    for (size_t i = 1; i <= a.size(); ++i) {
      for (size_t j = 1; j <= b.size(); ++j) t[i][j] = a[i - 1] == b[j - 1] ? t[i - 1][j - 1] + 1 : std::max(t[i - 1][j], t[i][j - 1]);
    }
    return t[a.size()][b.size()];
  }

  /// Both texts can be read off the difference, and its lines, counts and text agree.
  static void check(const std::vector<std::string>& a, const std::vector<std::string>& b, const LineDiff& diff) {
    std::vector<std::string> before, after;
    int added = 0, removed = 0;
    const QStringList shown = diff.text.split(QLatin1Char('\n'));
    QCOMPARE(static_cast<size_t>(shown.size()), diff.lines.size() + 1);
    for (size_t i = 0; i < diff.lines.size(); ++i) {
      const LineDiff::Line& l = diff.lines[i];
      const std::string text = shown[static_cast<qsizetype>(i)].toStdString();
      QCOMPARE(l.before >= 0, l.kind != Kind::added);
      QCOMPARE(l.after >= 0, l.kind != Kind::removed);
      if (l.before >= 0) {
        QCOMPARE(l.before, static_cast<int>(before.size()));
        before.push_back(text);
      }
      if (l.after >= 0) {
        QCOMPARE(l.after, static_cast<int>(after.size()));
        after.push_back(text);
      }
      added += l.kind == Kind::added, removed += l.kind == Kind::removed;
    }
    QVERIFY(before == a && after == b);
    QCOMPARE(diff.added, added);
    QCOMPARE(diff.removed, removed);
  }

 private Q_SLOTS:
  void readsAsPeopleDo() {
    const LineDiff diff = diffLines("a\nb\nc\nd\n", "a\nx\nc\nd\ne\n");
    const std::vector<Kind> kinds = {Kind::same, Kind::removed, Kind::added, Kind::same, Kind::same, Kind::added};
    QCOMPARE(diff.lines.size(), kinds.size());
    for (size_t i = 0; i < kinds.size(); ++i) QVERIFY(diff.lines[i].kind == kinds[i]);
    QCOMPARE(diff.text, QStringLiteral("a\nb\nx\nc\nd\ne\n"));
    QCOMPARE(diff.changes, (std::vector<int>{1, 5}));
  }

  void emptyAndEqualTexts() {
    QVERIFY(diffLines("", "").lines.empty());
    QCOMPARE(diffLines("a\nb", "a\nb\n").changes.size(), size_t{0});
    QCOMPARE(diffLines("", "a\nb\n").added, 2);
    QCOMPARE(diffLines("a\n\nb\n", "").removed, 3);
  }

  void isTheShortestOne() {
    std::mt19937 random(7);
    for (int round = 0; round < 4000; ++round) {
      const auto text = [&] {
        std::vector<std::string> lines(random() % 14);
        for (std::string& l : lines) l = std::string(1, static_cast<char>('a' + random() % (1 + random() % 5)));
        return lines;
      };
      const std::vector<std::string> a = text(), b = text();
      const LineDiff diff = diffLines(joined(a), joined(b));
      check(a, b, diff);
      const int same = common(a, b);
      QCOMPARE(diff.removed, static_cast<int>(a.size()) - same);
      QCOMPARE(diff.added, static_cast<int>(b.size()) - same);
    }
  }

  void costsLittleHoweverMuchDiffers() {
    // Nothing in common but a few lines at random: without a limit this takes 20,000 × 20,000 steps.
    std::mt19937 random(11);
    std::vector<std::string> a, b;
    for (int i = 0; i < 20'000; ++i) {
      a.push_back("a" + std::to_string(random() % 30'000));
      b.push_back(random() % 20 == 0 ? a[random() % a.size()] : "b" + std::to_string(random() % 30'000));
    }
    const LineDiff diff = diffLines(joined(a), joined(b));
    check(a, b, diff);
    QVERIFY(diff.removed < 20'000);
  }
};

QTEST_APPLESS_MAIN(LineDiffTest)
#include "line_diff_test.moc"
