// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/desk.h"

#include <QtTest>
#include <cmath>

#include "engine/lesson/parse.h"

using namespace tw;
using namespace tw::lesson;

namespace {

const char* const kNest =
    "input A[64, 64]\nC:\n  for yo in 8 [parallel]\n    for xo in 4\n      for k in 64 (reduce)\n        for yi in 8 [unroll]\n          for xi in 16 [vectorize]\n            update (sum)\nD:\n  for y in 3\n    compute\n";

/// A window that answers what it is told to.
class PlainDesk : public Desk {
 public:
  bool is_in_front(const std::string& view) const override { return view == "code"; }
  std::string perspective() const override { return "explore"; }
  int task() const override { return 2; }
  std::string node() const override { return "conv1 conv2d"; }
  bool has_trial(bool best) const override { return !best; }
  std::optional<KnobNow> knob(const std::string& name) const override {
    if (name == "tile") return KnobNow{16, "[*, 16]"};
    if (name == "order") return KnobNow{std::nullopt, "[k, y]"};
    return std::nullopt;
  }
  std::optional<std::string> place(const std::string& form) const override { return form == "steps" ? std::optional<std::string>("vectorize xi") : std::nullopt; }
  std::optional<std::string> code(const std::string& form) const override {
    if (form == "loops") return kNest;
    if (form == "assembly") return "vfmadd231ps";
    return std::nullopt;
  }
  std::optional<std::string> edited_loops() const override { return edited; }
  double fact(const std::string& name) const override { return name == "trials" ? 40 : name == "failures" ? 3 : std::nan(""); }
  std::optional<std::string> edited;
};

bool check(const std::string& line, const Desk& desk = PlainDesk()) {
  const auto lesson = parse_lesson("---\nlesson: a\ntitle: A\nsummary: S\n---\n## one: One\n```check\n" + line + "\n```\n```show\nview code\n```\n");
  if (!lesson) qFatal("%s", lesson.error().text().c_str());
  return holds(lesson->steps[0].checks[0], desk);
}

}  // namespace

class LessonDeskTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void checks_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<bool>("holds");
    const auto row = [](const char* line, bool holds) { QTest::newRow(line) << QString::fromLatin1(line) << holds; };
    row("view code", true);
    row("view why", false);
    row("perspective explore", true);
    row("perspective tune", false);
    row("task 2", true);
    row("task 1", false);
    row("node conv2d", true);
    row("node pool", false);
    row("trial", true);
    row("trial best", false);
    row("knob tile = 16", true);
    row("knob tile = 8", false);
    row("knob tile > 8", true);
    row("knob tile < 16", false);
    row("knob tile = \"[*, 16]\"", true);
    row("knob order = \"[k, y]\"", true);
    row("knob order = \"[y, k]\"", false);
    row("knob order != \"[y, k]\"", true);
    row("knob none = 1", false);
    row("place steps vectorize", true);
    row("place steps parallel", false);
    row("place steps \"parallel|vectorize\"", true);
    row("place loops vectorize", false);
    row("code assembly vfmadd", true);
    row("code assembly \"fmla|vfmadd\"", true);
    row("code assembly fmla", false);
    row("no code assembly fmla", true);
    row("no code assembly vfmadd", false);
    row("no code ptx fma", false);  // there is none to look at
    row("loops yo k yi", true);
    row("loops k yo", false);
    row("loops yo y", false);  // another nest
    row("loops y", true);
    row("loop xi vectorize", true);
    row("loop xi unroll", false);
    row("loop yo parallel", true);
    row("edited loops yo", false);
    row("trials >= 40", true);
    row("trials > 40", false);
    row("trials != 40", false);
    row("trials > failures", true);
    row("speedup > 0", false);  // not known
    row("trials > speedup", false);
  }
  void checks() {
    QFETCH(QString, line);
    QTEST(check(line.toStdString()), "holds");
  }
  void editedLoops() {
    PlainDesk desk;
    desk.edited = kNest;
    QVERIFY(check("edited loops yo k xi", desk));
    QVERIFY(!check("edited loops xi k", desk));
    QVERIFY(check("edited loop xi vectorize", desk));
    QVERIFY(!check("edited loop k vectorize", desk));
  }
  void answers() {
    const PlainDesk desk;
    Question number{"How many?", {}, "16", 0.5};
    for (const char* good : {"16", " 16.4 ", "15,5"}) QVERIFY2(is_right(number, good, desk).value(), good);
    for (const char* bad : {"17", "-16", "1e9"}) QVERIFY2(!is_right(number, bad, desk).value(), bad);
    for (const char* none : {"", "many", "16 KiB", "nan", "inf", "1,6,2"}) QVERIFY2(!is_right(number, none, desk), none);
    number = {"How many?", {}, "trials", 0};
    QVERIFY(is_right(number, "40", desk).value());
    QVERIFY(!is_right(number, "41", desk).value());
    number.number = "speedup";
    QCOMPARE(is_right(number, "2", desk).error().code, ErrorCode::not_found);
    const Question choice{"Which?", {{"a", "no", false}, {"b", "", true}}, "", 0};
    QVERIFY(is_right(choice, "2", desk).value());
    QVERIFY(!is_right(choice, "1", desk).value());
    QVERIFY(!is_right(choice, "-1", desk).value());
  }
};

QTEST_APPLESS_MAIN(LessonDeskTest)
#include "desk_test.moc"
