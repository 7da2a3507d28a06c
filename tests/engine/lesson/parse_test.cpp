// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/parse.h"

#include <QtTest>

#include "engine/ir/lexer.h"
#include "engine/lesson/library.h"

using namespace tw;
using namespace tw::lesson;

namespace {

const std::string kFront = "---\nlesson: a\ntitle: A\nsummary: About A.\n---\n";
const std::string kShow = "```show\nview code\n```\n";

/// A lesson with one step that holds `body`.
std::string step(const std::string& body) { return kFront + "## one: One\n" + body; }

}  // namespace

class ParseLessonTest : public QObject {
  Q_OBJECT
  static void refused(const std::string& text, const char* message, int line) {
    const auto lesson = parse_lesson(text);
    QVERIFY2(!lesson, text.c_str());
    QVERIFY2(lesson.error().message.find(message) != std::string::npos, lesson.error().text().c_str());
    const auto place = ir::place_of(lesson.error());
    QVERIFY2(place, lesson.error().text().c_str());
    QCOMPARE(place->line, line);
  }

 private Q_SLOTS:
  void whatALessonSays() {
    const auto read = parse_lesson(
        "---\nlesson: tiles\ntitle: Tiles: small ones\nsummary: S.\nminutes: 7\n---\nIntro\n\n## one: First: step\nText\n\n```\n## no heading\n```\n```do\nopen network mlp tiny\nknob t \"[*, 8]\"\n```\n"
        "```check\nview code\nknob t >= 8\ntrials > 3\n```\n```hint\nLook.\n```\n```hint\nLook again.\n```\n```show\nview code\n```\n## two: Read\nMore\n"
        "```question\nHow many?\n= points +- 0.5\n```\n```show\nanswer\n```\n```text m\nA: float32[4] = placeholder()\n```\n");
    QVERIFY2(read.has_value(), read ? "" : read.error().text().c_str());
    QCOMPARE(read->id, std::string("tiles"));
    QCOMPARE(read->title, std::string("Tiles: small ones"));
    QCOMPARE(read->minutes, 7);
    QCOMPARE(read->body, std::string("Intro"));
    QCOMPARE(read->steps.size(), size_t{2});
    const Step& s = read->steps[0];
    QCOMPARE(s.title, std::string("First: step"));
    QVERIFY(s.body.find("## no heading") != std::string::npos);
    QCOMPARE(s.actions.size(), size_t{2});
    QCOMPARE(std::string(s.actions[0].word->name), std::string("open network"));
    QCOMPARE(s.actions[0].arguments.size(), size_t{2});
    QCOMPARE(s.actions[1].arguments[1], std::string("[*, 8]"));
    QCOMPARE(s.checks.size(), size_t{3});
    QCOMPARE(s.hints.size(), size_t{2});
    QCOMPARE(read->steps[1].question->number, std::string("points"));
    QCOMPARE(read->steps[1].question->tolerance, 0.5);
    QVERIFY(read->texts.contains("m"));
    QCOMPARE(read->step("two"), 1);
    QCOMPARE(read->step("three"), -1);
  }
  void choices() {
    const auto read = parse_lesson(step("```question\nWhich?\n- [ ] this\n  Not this,\n  for it is not.\n- [x] that\n```\n```show\nanswer\n```\n"));
    QVERIFY2(read.has_value(), read ? "" : read.error().text().c_str());
    const Question& q = *read->steps[0].question;
    QCOMPARE(q.text, std::string("Which?"));
    QCOMPARE(q.choices.size(), size_t{2});
    QCOMPARE(q.choices[0].hint, std::string("Not this, for it is not."));
    QCOMPARE(q.right(), std::string("2"));
  }
  void badFronts() {
    refused("# A lesson\n", "begin with a line '---'", 1);
    refused("---\nlesson: a\n", "second line '---'", 3);
    refused("---\nlesson: A b\n---\n", "small letters", 2);
    refused("---\nlesson: a\nlesson: a\n---\n", "once", 3);
    refused("---\nlesson: a\nauthor: me\n---\n", "found 'author'", 3);
    refused("---\nlesson: a\nminutes: soon\n---\n", "minutes", 3);
    refused("---\nlesson: a\nsummary: s\n---\n## one: One\n", "title", 1);
    refused(kFront + "no step\n", "at least one step", 7);
  }
  void badSteps() {
    refused(kFront + "## One\n", "'## id: Title'", 6);
    refused(kFront + "## one: One\n## one: Two\n", "found 'one' again", 7);
    refused(step("```do\nview code\n"), "ends this block", 7);
    refused(step("```do\n```\n"), "to have a line", 7);
    refused(kFront + "```do\nview code\n```\n## one: One\n", "Expected a step", 6);
    refused(step("```do now\nview code\n```\n"), "nothing behind", 7);
    refused(step("```do\nview code\n```\n```do\nview code\n```\n"), "one block `do`", 10);
    refused(step("```check\nview code\n```\n"), "block `show`", 6);
    refused(step(kShow), "ask for what its block `show` does", 6);
    refused(step("```exercise\nx\n```\n" + kShow), "both an exercise and its solution", 6);
    refused(step("```hint\n\n```\n"), "say something", 7);
    refused(step("```text M\nx\n```\n"), "text NAME", 7);
  }
  void badLines() {
    refused(step("```do\nrun rm\n```\n"), "found 'run'", 8);
    refused(step("```do\nanswer\n```\n"), "found 'answer'", 8);
    refused(step("```do\nview kitchen\n```\n"), "found 'kitchen'", 8);
    refused(step("```do\nview\n```\n"), "'view NAME'", 8);
    refused(step("```do\nview code now\n```\n"), "'view NAME'", 8);
    refused(step("```do\nopen file ../secret.onnx\n```\n"), "without a path", 8);
    refused(step("```do\nopen file /etc/passwd\n```\n"), "without a path", 8);
    refused(step("```do\nopen file .hidden\n```\n"), "without a path", 8);
    refused(step("```do\nopen text m\n```\n"), "block `text NAME`", 8);
    refused(step("```do\ntask one\n```\n"), "whole number", 8);
    refused(step("```do\ntask -1\n```\n"), "whole number", 8);
    refused(step("```do\nplace code vfmadd\n```\n"), "one of steps", 8);
    refused(step("```do\nnode \"half\n```\n"), "second quote", 8);
    refused(step("```check\ntrials >= many\n```\n" + kShow), "name of a fact", 8);
    refused(step("```check\nwealth > 3\n```\n" + kShow), "found 'wealth'", 8);
    refused(step("```check\nknob t ~ 3\n```\n" + kShow), "one of =", 8);
    refused(step("```check\nview code\n```\n```show\nanswer\n```\n"), "a question", 11);
  }
  void badQuestions() {
    refused(step("```question\n- [x] a\n- [ ] b\n```\n"), "question before its answers", 7);
    refused(step("```question\nWhich?\n- [x] a\n```\n"), "two choices", 7);
    refused(step("```question\nWhich?\n- [ ] a\n- [ ] b\n```\n"), "one right choice, found 0", 7);
    refused(step("```question\nWhich?\n- [x] a\n- [x] b\n```\n"), "one right choice, found 2", 7);
    refused(step("```question\nWhich?\n- a\n- [x] b\n```\n"), "'- [ ] text'", 9);
    refused(step("```question\nWhich?\n- [x] a\nhint\n- [ ] b\n```\n"), "two blanks", 10);
    refused(step("```question\nHow many?\n= lots\n```\n"), "'= NUMBER'", 9);
    refused(step("```question\nHow many?\n= 3 +- -1\n```\n"), "'= NUMBER'", 9);
    refused(step("```question\nHow many?\n= 3\n= 4\n```\n"), "one right number", 10);
  }
  void limits() {
    const auto longText = parse_lesson(kFront + std::string(kMaxLesson, 'x'));
    QVERIFY(!longText && longText.error().code == ErrorCode::resource_limit);
    std::string many = kFront;
    for (size_t i = 0; i <= kMaxSteps; ++i) many += "## s" + std::to_string(i) + ": S\n";
    QVERIFY(parse_lesson(many).error().code == ErrorCode::resource_limit);
    std::string lines = "```do\n";
    for (size_t i = 0; i <= kMaxLines; ++i) lines += "view code\n";
    QVERIFY(parse_lesson(step(lines + "```\n")).error().code == ErrorCode::resource_limit);
  }
  /// Any prefix of a lesson is a lesson or an error with a place.
  void cutAnywhere() {
    const std::string whole = step("```do\nopen network mlp tiny\n```\n```question\nWhich?\n- [ ] a\n  no\n- [x] b\n```\n```show\nanswer\n```\n");
    for (size_t n = 0; n < whole.size(); ++n) {
      const auto read = parse_lesson(std::string_view(whole).substr(0, n));
      QVERIFY2(read || ir::place_of(read.error()), whole.substr(0, n).c_str());
    }
  }
  void windowsLines() {
    std::string text = step("```check\nview code\n```\n" + kShow);
    for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) text.insert(at, "\r");
    const auto read = parse_lesson("\xEF\xBB\xBF" + text);
    QVERIFY2(read.has_value(), read ? "" : read.error().text().c_str());
    QCOMPARE(read->steps[0].checks[0].arguments[0], std::string("code"));
  }
  void namesThatNothingHas() {
    Names names{.networks = {"mlp"}, .operators = {"matmul"}, .spaces = {"s"}, .tuners = {"random", "xgb"}, .target = [](const std::string& t) -> Expected<void> {
      if (t == "llvm") return {};
      return Error(ErrorCode::invalid_argument, "no such target");
    }, .computation = [](const std::string&) -> Expected<void> { return {}; }};
    const auto good = parse_lesson(step("```do\ntarget llvm\nopen network mlp\nopen operator matmul 4 4 4\nrace 10 2 random xgb random\n```\n"));
    QVERIFY(good && verify(*good, names).empty());
    const auto bad = parse_lesson(step("```do\ntarget moon\nopen network mlq\nopen operator matmull\nopen space t\ntune fast 3\nrace 10 2 random xgb fast\n```\n"));
    QVERIFY2(bad.has_value(), bad ? "" : bad.error().text().c_str());
    const auto problems = verify(*bad, names);
    QCOMPARE(problems.size(), size_t{6});
    for (int i = 0; i < 6; ++i) QCOMPARE(ir::place_of(problems[static_cast<size_t>(i)])->line, 8 + i);
  }
  void theManualNamesAllThatALessonMayAskFor() {
    QFile file(QStringLiteral(TW_TESTS_DIR "/../resources/docs/manual/lessons.md"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QString manual = QString::fromUtf8(file.readAll());
    manual.replace(QStringLiteral("\\|"), QStringLiteral("|"));
    const auto has = [&](const char* form, const char* help) {
      const QString row = QStringLiteral("| `%1` | %2 |").arg(QString::fromUtf8(form), QString::fromUtf8(help));
      QVERIFY2(manual.contains(row), qPrintable(row));
    };
    for (const auto table : {actions(), show_actions(), checks()})
      for (const Word& w : table) has(w.form, w.help);
    has(fact_check().form, fact_check().help);
    for (const Fact& f : facts()) has(f.name, f.help);
  }
  /// English and Chinese: the same steps, actions, checks, answers, texts and programs; only words for people differ.
  void languagesAgree() {
    const auto english = lessons_in(bundled_folder("en").value()).value(), chinese = lessons_in(bundled_folder("zh-CN").value()).value();
    QVERIFY(!english.empty());
    QCOMPARE(english.size(), chinese.size());
    for (size_t i = 0; i < english.size(); ++i) {
      QVERIFY2(english[i].lesson.has_value(), english[i].lesson ? "" : english[i].lesson.error().text().c_str());
      QVERIFY2(chinese[i].lesson.has_value(), chinese[i].lesson ? "" : chinese[i].lesson.error().text().c_str());
      const Lesson &a = *english[i].lesson, &b = *chinese[i].lesson;
      QCOMPARE(a.id, b.id);
      QVERIFY2(a.title != b.title && a.minutes == b.minutes, a.id.c_str());
      QVERIFY2(a.texts == b.texts, a.id.c_str());
      QVERIFY2(a.steps.size() == b.steps.size(), a.id.c_str());
      for (size_t s = 0; s < a.steps.size(); ++s) {
        const Step &x = a.steps[s], &y = b.steps[s];
        const std::string where = a.id + " " + x.id;
        QCOMPARE(x.id, y.id);
        const auto same = [](const std::vector<Line>& p, const std::vector<Line>& q) {
          return std::equal(p.begin(), p.end(), q.begin(), q.end(), [](const Line& l, const Line& m) { return l.word == m.word && l.arguments == m.arguments; });
        };
        QVERIFY2(same(x.actions, y.actions) && same(x.checks, y.checks) && same(x.show, y.show), where.c_str());
        QVERIFY2(x.hints.size() == y.hints.size(), where.c_str());
        QVERIFY2(x.question.has_value() == y.question.has_value() && x.exercise.has_value() == y.exercise.has_value(), where.c_str());
        if (x.question) {
          QVERIFY2(x.question->right() == y.question->right() && x.question->tolerance == y.question->tolerance, where.c_str());
          QVERIFY2(x.question->choices.size() == y.question->choices.size(), where.c_str());
          for (size_t c = 0; c < x.question->choices.size(); ++c) QVERIFY2(x.question->choices[c].hint.empty() == y.question->choices[c].hint.empty(), where.c_str());
        }
        if (x.exercise) QVERIFY2(x.exercise->text == y.exercise->text && x.exercise->solution == y.exercise->solution, where.c_str());
        // A wrong answer always gets a hint.
        if (x.asks()) QVERIFY2(!x.hints.empty(), where.c_str());
      }
    }
  }
};

QTEST_APPLESS_MAIN(ParseLessonTest)
#include "parse_test.moc"
