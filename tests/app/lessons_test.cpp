// SPDX-License-Identifier: GPL-3.0-or-later
// Every lesson as a learner goes through it: with mouse and keys, what is wrong first. And what a teacher does.
#include <QMessageBox>

#include "app/lesson_desk.h"
#include "app/perspectives.h"
#include "app/services/local_engine.h"
#include "app/views/operator_view.h"
#include "app/views/race_dialog.h"
#include "engine/base/json.h"
#include "tests/app/lesson_player.h"
#include "widgets/common/integer_box.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;
using Code = widgets::CodeView;

class LessonsTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;
  int m_workspaces = 0;
  std::unique_ptr<MainWindow> window(Engine& engine) { return openWindow(engine, m_dir.filePath(QStringLiteral("%1.twdb").arg(++m_workspaces))); }

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("lessons-test"), m_dir.path()); }
  void init() { QSettings().clear(); }

  /// What lessons may name is there in the window.
  void viewsAndPerspectivesAreThose() {
    for (const char* name : lesson::views()) QVERIFY2(std::any_of(views().begin(), views().end(), [&](const ViewDef& v) { return std::string_view(v.id) == name; }), name);
    for (const char* name : lesson::perspectives()) QVERIFY2(std::any_of(perspectives().begin(), perspectives().end(), [&](const auto& p) { return std::string_view(p.id) == name; }), name);
    LocalEngine engine;
    const auto w = window(engine);
    QVERIFY(named<QComboBox>(*w, "combo.graph.shown"));
    QVERIFY(named<QToolButton>(*w, "button.space.measure"));
  }

  void whatAScheduleIs() {
    LocalEngine engine;
    const auto w = window(engine);
    LessonPlayer p(*w);
    QVERIFY(p.open("schedule"));
    QVERIFY(p.isOpen("open"));
    QVERIFY(p.pick(Code::Steps, "reorder"));  // another step
    QVERIFY(p.isStillOpen());
    QVERIFY(p.pick(Code::Loops, "[vectorize]"));  // in another column
    QVERIFY(p.isStillOpen());
    QVERIFY(p.pick(Code::Steps, "vectorize"));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("linked"));
    QVERIFY(p.pick(Code::Loops, "[parallel]"));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("knob"));
    QVERIFY(p.turn("tile_x", QStringLiteral("[*, 8]")));
    QVERIFY(p.isStillOpen());
    QVERIFY(p.turn("tile_y", QStringLiteral("[*, 32]")));  // another knob
    QVERIFY(p.isStillOpen());
    QVERIFY(p.turn("tile_x", QStringLiteral("[*, 32]")));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("same"));
    QVERIFY(p.choose(2));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("count"));
    QVERIFY(p.type(QStringLiteral("17"), QStringLiteral("147")));
    QVERIFY(p.next());
    QVERIFY(!w->lessons().current());
  }

  void splitAndReorder() {
    LocalEngine engine;
    const auto w = window(engine);
    LessonPlayer p(*w);
    QVERIFY(p.open("split-reorder"));
    auto* view = w->findChild<OperatorView*>();
    QTRY_VERIFY_WITH_TIMEOUT(view->isRight() && view->isVisible(), 30'000);
    QVERIFY(p.isOpen("plain"));
    QVERIFY(p.choose(3));
    QVERIFY(p.next());
    const auto change = [&](const char* from, const char* to) { return p.edit(view->editor()->input(), view->editor()->text(), QLatin1String(from), QLatin1String(to)); };
    const auto checked = [&] { return QTest::qWaitFor([&] { return view->isRight(); }, 30'000); };
    QVERIFY(p.isOpen("reorder"));
    QVERIFY(change("parallel(C.y)", "parallel(C.y)\nreorder(C.y, k, C.x)"));  // no such loop
    QVERIFY(p.isStillOpen());
    QVERIFY(change("reorder(C.y, k, C.x)", "reorder(C.x, C.y, C.k)"));  // another order
    QVERIFY(checked() && p.isStillOpen());
    QVERIFY(change("reorder(C.x, C.y, C.k)", "reorder(C.y, C.k, C.x)"));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("split"));
    QVERIFY(change("parallel(C.y)\nreorder(C.y, C.k, C.x)", "yo, yi = split(C.y, 8)\nreorder(yo, yi, C.k, C.x)\nparallel(yo)"));  // k inside of both
    QVERIFY(checked() && p.isStillOpen());
    QVERIFY(change("reorder(yo, yi, C.k, C.x)\nparallel(yo)", "reorder(yo, C.k, yi, C.x)"));  // nothing is parallel
    QVERIFY(checked() && p.isStillOpen());
    QVERIFY(change("reorder(yo, C.k, yi, C.x)", "reorder(yo, C.k, yi, C.x)\nparallel(yo)"));
    QVERIFY(p.next());
    QVERIFY(p.type(QStringLiteral("64"), QStringLiteral("8")));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("vectors"));
    QVERIFY(change("parallel(yo)", "parallel(yo)\nunroll(C.x)"));
    QVERIFY(checked() && p.isStillOpen());
    QVERIFY(change("unroll(C.x)", "vectorize(C.x)"));
    QVERIFY(p.next());
    QVERIFY(!w->lessons().current());
  }

  void cachesAndTiling() {
    LocalEngine engine;
    const auto w = window(engine);
    LessonPlayer p(*w);
    QVERIFY(p.open("tiling"));
    QVERIFY(p.isOpen("first"));
    const auto measure = [&] {
      auto* button = named<QToolButton>(*w, "button.space.measure");
      const auto before = w->hub().trialRef();
      return QTest::qWaitFor([&] { return button->isEnabled(); }, 60'000) && click(*w, "button.space.measure") &&
             QTest::qWaitFor([&] { return w->hub().trial() >= 0 && !(w->hub().trialRef() == before); }, 60'000);
    };
    QVERIFY(p.isStillOpen());  // nothing is measured
    QVERIFY(measure());
    QVERIFY(p.next());
    QVERIFY(p.type(QStringLiteral("64"), QStringLiteral("256")));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("tile"));
    QVERIFY(p.turn("tile_y", QStringLiteral("[*, 8]")));
    QVERIFY(p.turn("tile_x", QStringLiteral("[*, 16]")));
    QVERIFY(p.isStillOpen());  // a turned knob is no time
    QVERIFY(measure());
    QVERIFY(p.next());
    QVERIFY(p.isOpen("why"));
    QVERIFY(p.choose(2));
    QVERIFY(p.next());
    QVERIFY(!w->lessons().current());
    // Whoever begins again measures again, though the workspace has the trials.
    QVERIFY(p.open("tiling"));
    QVERIFY(click(*w, "button.lesson.reset"));
    QVERIFY(p.settle());
    QVERIFY(p.isOpen("first"));
    QVERIFY(p.isStillOpen());
    QVERIFY(measure());
    QVERIFY(p.next());
  }

  void vectorsAndUnrolling() {
    LocalEngine engine;
    const auto w = window(engine);
    LessonPlayer p(*w);
    QVERIFY(p.open("vectors"));
    QVERIFY(p.isOpen("fma"));
    QVERIFY(p.pick(Code::Loops, "for k"));
    QVERIFY(p.isStillOpen());
    QVERIFY(p.pick(Code::Assembly, QSysInfo::buildCpuArchitecture().startsWith(QLatin1String("arm")) ? "fmla" : "vfmadd"));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("scalar"));
    QVERIFY(p.turn("tile_x", QStringLiteral("[*, 2]")));
    QVERIFY(p.isStillOpen());
    QVERIFY(p.turn("tile_x", QStringLiteral("[*, 1]")));
    QVERIFY(p.next());
    QVERIFY(p.choose(1));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("unroll"));
    QVERIFY(p.turn("tile_x", QStringLiteral("[*, 16]")));
    QVERIFY(p.turn("unroll_steps", QStringLiteral("0")));
    QVERIFY(p.isStillOpen());
    QVERIFY(p.turn("unroll_steps", QStringLiteral("64")));
    QVERIFY(p.next());
    QVERIFY(p.type(QStringLiteral("128"), QStringLiteral("8")));
    QVERIFY(p.next());
    QVERIFY(!w->lessons().current());
  }

  void fusion() {
    LocalEngine engine;
    const auto w = window(engine);
    LessonPlayer p(*w);
    QVERIFY(p.open("fusion"));
    QVERIFY(p.isOpen("frames"));
    const auto& network = w->hub().model()->network;
    QVERIFY(p.type(QString::number(network.optimized.nodes.size() + 3), QString::number(network.partition.groups.size())));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("node"));
    const auto nodeOf = [&](const char* op) {
      for (size_t n = 0; n < network.optimized.nodes.size(); ++n)
        if (network.optimized.nodes[n].op == op) return static_cast<int>(n);
      return -1;
    };
    w->hub().setNode(nodeOf("softmax"));
    QVERIFY(p.isStillOpen());
    w->hub().setNode(nodeOf("relu"));
    QVERIFY(p.next());
    QVERIFY(p.choose(2));
    QVERIFY(p.next());
    QVERIFY(p.type(QStringLiteral("1"), QString::number(network.optimized.nodes.size())));
    QVERIFY(p.next());
    QVERIFY(!w->lessons().current());
  }

  void memoryPlanning() {
    LocalEngine engine;
    const auto w = window(engine);
    LessonPlayer p(*w);
    QVERIFY(p.open("memory"));
    QVERIFY(p.isOpen("build"));
    QVERIFY(p.isStillOpen());
    press(*w, Qt::Key_B, Qt::ControlModifier);
    QVERIFY(p.next());
    QVERIFY(p.choose(1));
    QVERIFY(p.next());
    QVERIFY(p.type(QStringLiteral("12"), QStringLiteral("8")));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("node"));
    const auto& nodes = w->hub().model()->network.optimized.nodes;
    const auto select = [&](bool convolution) {
      for (size_t n = 0; n < nodes.size(); ++n)
        if (((nodes[n].name + nodes[n].op).find("conv2d") != std::string::npos) == convolution) return w->hub().setNode(static_cast<int>(n));
    };
    select(false);
    QVERIFY(p.isStillOpen());
    select(true);
    QVERIFY(p.next());
    QVERIFY(!w->lessons().current());
  }

  void aRoofline() {
    LocalEngine engine;
    const auto w = window(engine);
    LessonPlayer p(*w);
    QVERIFY(p.open("roofline"));
    QVERIFY(p.isOpen("measure"));
    QVERIFY(p.see("why"));
    QVERIFY(p.isStillOpen());
    auto* button = named<QToolButton>(*w, "button.space.measure");
    QTRY_VERIFY_WITH_TIMEOUT(button->isEnabled(), 60'000);
    QVERIFY(click(*w, "button.space.measure"));
    QVERIFY(p.next());
    QVERIFY(p.type(QStringLiteral("256"), QStringLiteral("42.7")));
    QVERIFY(p.next());
    QVERIFY(p.choose(2));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("add"));
    QTRY_VERIFY_WITH_TIMEOUT(w->hub().model() && w->hub().model()->name == QLatin1String("add"), 30'000);
    QVERIFY(p.type(QStringLiteral("12"), QStringLiteral("0,083")));
    QVERIFY(p.next());
    QVERIFY(p.choose(2));
    QVERIFY(p.next());
    QVERIFY(!w->lessons().current());
  }

  void howAMeasurementIsMade() {
    LocalEngine engine;
    const auto w = window(engine);
    LessonPlayer p(*w);
    QVERIFY(p.open("measuring"));
    QVERIFY(p.isOpen("session"));
    named<widgets::IntegerBox>(*w, "edit.tune.trials")->setValue(4);
    press(*w, Qt::Key_F5, Qt::ControlModifier);
    QTRY_VERIFY_WITH_TIMEOUT(w->tuning().isActive(), 10'000);
    QTRY_VERIFY_WITH_TIMEOUT(!w->tuning().isActive(), 120'000);
    QVERIFY(p.isStillOpen());  // too few
    QTRY_VERIFY(w->actions().get(QStringLiteral("tune.task"))->isEnabled());
    named<widgets::IntegerBox>(*w, "edit.tune.trials")->setValue(16);
    press(*w, Qt::Key_F5, Qt::ControlModifier);
    QVERIFY(p.next(120'000));
    QVERIFY(p.choose(1));
    QVERIFY(p.next());
    QVERIFY(p.choose(2));
    QVERIFY(p.next());
    QVERIFY(p.choose(2));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("best"));
    QTRY_VERIFY(!w->trials().isLoading() && w->trials().store()->improvements().size() > 0);
    const auto& store = *w->trials().store();
    const int best = store.improvements().back().row;
    w->trials().choose(store.number(best == 0 ? 1 : 0));
    QVERIFY(p.isStillOpen());
    press(*w, Qt::Key_Home, Qt::AltModifier);
    QVERIFY(p.next());
    QVERIFY(!w->lessons().current());
  }

  void blocksAndThreads() {
    LocalEngine engine;
    const std::string before = engine.target().str();
    const auto w = window(engine);
    LessonPlayer p(*w);
    QVERIFY(p.open("gpu-blocks"));
    QVERIFY(engine.target().gpu.has_value());
    QVERIFY(p.isOpen("best"));
    QTRY_VERIFY_WITH_TIMEOUT(w->trials().store() && !w->trials().isLoading() && w->trials().store()->size() >= 1900, 30'000);
    w->trials().choose(w->trials().store()->number(w->trials().store()->improvements().back().row == 5 ? 6 : 5));
    QVERIFY(p.isStillOpen());
    press(*w, Qt::Key_Home, Qt::AltModifier);
    QVERIFY(p.next());
    QTRY_VERIFY_WITH_TIMEOUT(p.fact("threads") > 0, 30'000);
    const int threads = qRound(p.fact("threads"));
    QVERIFY(threads >= 32 && threads <= 1024);
    QVERIFY(p.type(QString::number(threads + 1), QString::number(threads)));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("warp"));
    QVERIFY(p.turn("threads_y", QStringLiteral("8")));
    QVERIFY(p.turn("threads_x", QStringLiteral("16")));
    QVERIFY(p.isStillOpen());
    QVERIFY(p.turn("threads_x", QStringLiteral("8")));
    QVERIFY(p.next());
    QVERIFY(p.type(QStringLiteral("64"), QStringLiteral("1024")));
    QTRY_COMPARE(p.fact("blocks"), 1024.0);  // the window says the same
    QVERIFY(p.next());
    QVERIFY(p.pick(Code::Llvm, "blockIdx"));
    QVERIFY(p.pick(Code::Loops, "for"));
    QVERIFY(p.isStillOpen());
    QVERIFY(p.pick(Code::Llvm, "threadIdx"));
    QVERIFY(p.next());
    QVERIFY(!w->lessons().current());
    QCOMPARE(engine.target().str(), before);  // leaving puts it back
  }

  void sharedMemory() {
    LocalEngine engine;
    const auto w = window(engine);
    LessonPlayer p(*w);
    QVERIFY(p.open("gpu-shared"));
    QVERIFY(p.isOpen("bytes"));
    QTRY_COMPARE_WITH_TIMEOUT(p.fact("shared-bytes"), 4096.0, 30'000);
    const double conflicts = p.fact("shared-us");
    QVERIFY(p.type(QStringLiteral("1024"), QStringLiteral("4096")));
    QVERIFY(p.next());
    QVERIFY(p.type(QStringLiteral("1"), QStringLiteral("32")));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("pad"));
    QVERIFY(p.turn("pad", QStringLiteral("0")));
    QVERIFY(p.isStillOpen());
    QVERIFY(p.turn("pad", QStringLiteral("1")));
    QVERIFY(p.next());
    QTRY_VERIFY_WITH_TIMEOUT(p.fact("shared-us") < conflicts / 4, 30'000);  // as the lesson says
    QVERIFY(p.type(QStringLiteral("32"), QStringLiteral("1")));
    QVERIFY(p.next());
    QVERIFY(p.type(QStringLiteral("4096"), QString::number(32 * 33 * 4)));
    QVERIFY(p.next());
    QVERIFY(!w->lessons().current());
  }

  void races() {
    LocalEngine engine;
    const auto w = window(engine);
    LessonPlayer p(*w);
    QVERIFY(p.open("gpu-races"));
    auto* editor = named<widgets::CodeEditor>(*w, "editor.lesson");
    const auto* said = named<QLabel>(*w, "label.lesson.said");
    const auto run = [&](const char* expected) {
      if (!click(*w, "button.lesson.run")) return false;
      return QTest::qWaitFor([&] { return !w->lessons().isRunningExercise() && said->text().contains(QLatin1String(expected)); }, 30'000);
    };
    const auto barrierBehind = [&](const QString& line, int indent) { return p.edit(editor->input(), editor->text(), line, line + QLatin1Char('\n') + QString(indent, QLatin1Char(' ')) + QStringLiteral("T.tvm_storage_sync(\"shared\")")); };
    QVERIFY(p.isOpen("reverse"));
    QVERIFY(run("another thread"));  // the planted race
    QVERIFY(p.isStillOpen());
    QVERIFY(p.edit(editor->input(), editor->text(), QStringLiteral("t[31 - x]"), QStringLiteral("t[x]")));  // no race, and wrong
    QVERIFY(run("of 'C' to be"));
    QVERIFY(p.isStillOpen());
    QVERIFY(p.edit(editor->input(), editor->text(), QStringLiteral("t[x]\n"), QStringLiteral("t[31 - x)\n")));
    QVERIFY(run("line 7"));  // no program
    QVERIFY(p.edit(editor->input(), editor->text(), QStringLiteral("t[31 - x)"), QStringLiteral("t[31 - x]")));
    QVERIFY(barrierBehind(QStringLiteral("t[x] = A[x]"), 8));
    QVERIFY(run("No race"));
    QVERIFY(p.next());
    QVERIFY(p.choose(2));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("loop"));
    QVERIFY(run("another thread"));
    QVERIFY(p.isStillOpen());
    QVERIFY(barrierBehind(QStringLiteral("C[k * 32 + x] = t[31 - x]"), 12));
    QVERIFY(run("No race"));
    QVERIFY(p.next());
    QVERIFY(p.choose(2));
    QVERIFY(p.next());
    QVERIFY(!w->lessons().current());
  }

  void howTunersWalkASpace() {
    LocalEngine engine;
    const auto w = window(engine);
    LessonPlayer p(*w);
    QVERIFY(p.open("tuners"));
    QVERIFY(p.isOpen("random"));
    named<widgets::IntegerBox>(*w, "edit.tune.trials")->setValue(48);
    press(*w, Qt::Key_F5, Qt::ControlModifier);
    QVERIFY(p.next(120'000));
    QVERIFY(p.isOpen("landscape"));
    QVERIFY(p.see("curve"));
    QVERIFY(p.isStillOpen());
    QVERIFY(p.see("landscape"));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("race"));
    const auto race = [&](const QStringList& tuners) {
      const auto* start = w->actions().get(QStringLiteral("tune.race"));
      if (!QTest::qWaitFor([&] { return start->isEnabled() && !w->findChild<RaceDialog*>(); }, 20'000)) return false;
      press(*w, Qt::Key_R, Qt::ControlModifier);
      auto* dialog = w->findChild<RaceDialog*>();
      if (!dialog) return false;
      for (auto* box : dialog->findChildren<QCheckBox*>())
        if (box->objectName().startsWith(QLatin1String("check.race."))) box->setChecked(tuners.contains(box->text()));
      named<widgets::IntegerBox>(*dialog, "edit.race.trials")->setValue(48);
      named<QSpinBox>(*dialog, "spin.race.seeds")->setValue(1);
      if (!click(*dialog, "button.race.start")) return false;
      return QTest::qWaitFor([&] { return !w->race().isActive(); }, 240'000);
    };
    QVERIFY(race({QStringLiteral("random"), QStringLiteral("genetic")}));
    QVERIFY(p.isStillOpen());  // not all of them
    QVERIFY(race({QStringLiteral("random"), QStringLiteral("genetic"), QStringLiteral("xgb"), QStringLiteral("ansor"), QStringLiteral("pruner"), QStringLiteral("felix")}));
    QVERIFY(p.next());
    for (const int right : {3, 2, 3}) {
      QVERIFY(p.choose(right));
      QVERIFY(p.next());
    }
    QVERIFY(!w->lessons().current());
  }

  /// A text of one's own is asked about before a lesson's takes its place.
  void aTextOfOnesOwnIsAskedAbout() {
    LocalEngine engine;
    const auto w = window(engine);
    w->actions().get(QStringLiteral("file.operator"))->trigger();
    auto* editor = w->findChild<OperatorView*>()->editor();
    paste(editor->input(), QStringLiteral("# mine\n") + editor->text());
    QVERIFY(editor->isModified());
    int asked = 0;
    QTimer answers;
    connect(&answers, &QTimer::timeout, &answers, [&] {
      if (auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget())) ++asked, box->button(QMessageBox::No)->click();
    });
    answers.start(50);
    QCOMPARE(w->lessons().start(QStringLiteral("split-reorder"), {}), QString());
    QTRY_VERIFY2(w->lessons().problem().contains(QStringLiteral("stays")), qPrintable(w->lessons().problem()));
    QCOMPARE(asked, 1);
    QVERIFY(editor->text().startsWith(QStringLiteral("# mine")));
  }

  /// "Show me" does what each step asks for, and counts as shown.
  void everyStepCanBeShown_data() {
    QTest::addColumn<QString>("name");
    const auto entries = lesson::lessons_in(lesson::bundled_folder("en").value()).value();
    for (const lesson::Entry& e : entries) QTest::newRow(e.lesson.value().id.c_str()) << QString::fromStdString(e.lesson->id);
  }
  void everyStepCanBeShown() {
    QFETCH(QString, name);
    LocalEngine engine;
    const auto w = window(engine);
    LessonPlayer p(*w);
    QVERIFY(p.open(qPrintable(name)));
    LessonService& lessons = w->lessons();
    while (lessons.current()) {
      const std::string step = lessons.step().id;
      if (lessons.step().asks()) {
        QTRY_VERIFY2_WITH_TIMEOUT(lessons.state() == lesson::StepState::open && named<QToolButton>(*w, "button.lesson.show")->isEnabled(), step.c_str(), 20'000);
        QTRY_VERIFY2_WITH_TIMEOUT(p.knows(), step.c_str(), 30'000);
        QVERIFY(click(*w, "button.lesson.show"));
        QTRY_VERIFY2_WITH_TIMEOUT(lessons.state() == lesson::StepState::shown, qPrintable(QString::fromStdString(step) + lessons.problem()), 60'000);
        QVERIFY(p.settle(180'000));
      }
      QVERIFY(click(*w, "button.lesson.next"));
      if (lessons.current()) QVERIFY(p.settle());
    }
  }

  /// A class begins at a step, somebody needs hints, skips, leaves, comes back, hands in, begins anew.
  void aTeachersDay() {
    LocalEngine engine;
    const auto w = window(engine);
    LessonPlayer p(*w);
    LessonService& lessons = w->lessons();
    QVERIFY(!lessons.start(QStringLiteral("nothing")).isEmpty());
    QVERIFY(!lessons.start(QStringLiteral("schedule"), QStringLiteral("9")).isEmpty());
    QVERIFY(!lessons.start(QStringLiteral("schedule"), QStringLiteral("0")).isEmpty());
    QVERIFY(!lessons.current());
    w->startLesson(QStringLiteral("schedule"), QStringLiteral("knob"));
    QVERIFY(named<QWidget>(*w, "view.lessons")->isVisible());
    QVERIFY(p.settle());
    QVERIFY(p.isOpen("knob"));  // with the network of the first step
    QVERIFY(w->hub().model() && w->hub().model()->name == QLatin1String("matmul"));
    auto* hints = named<QLabel>(*w, "label.lesson.hints");
    QVERIFY(!hints->isVisible());
    QVERIFY(click(*w, "button.lesson.hint"));
    QVERIFY(hints->isVisible() && hints->text().contains(QLatin1String("[*, 32]")));
    QVERIFY(!named<QToolButton>(*w, "button.lesson.hint")->isEnabled());  // there is one
    QVERIFY(click(*w, "button.lesson.skip"));
    QVERIFY(p.settle());
    QVERIFY(p.isOpen("same"));
    QVERIFY(click(*w, "button.lesson.back"));
    QCOMPARE(lessons.step().id, std::string("knob"));
    QVERIFY(lessons.state() == lesson::StepState::skipped);
    QVERIFY(p.settle());
    QVERIFY(p.turn("tile_x", QStringLiteral("[*, 32]")));
    QVERIFY(p.next());  // done after all
    // In the other language it is the same step.
    lessons.setLanguage(QStringLiteral("zh-CN"));
    QCOMPARE(lessons.step().id, std::string("same"));
    QVERIFY(named<QLabel>(*w, "label.lesson.title")->text().contains(QStringLiteral("调度")));
    QTRY_COMPARE(named<QToolButton>(*w, "button.lesson.leave")->text(), QStringLiteral("离开"));
    QCOMPARE(named<QLabel>(*w, "label.lesson.question")->text(), QString::fromStdString(lessons.step().question->text));
    lessons.setLanguage(QStringLiteral("en"));
    QTRY_COMPARE(named<QToolButton>(*w, "button.lesson.leave")->text(), QStringLiteral("Leave"));
    QTRY_VERIFY(named<QToolButton>(*w, "button.lesson.leave")->isVisible());  // made anew, and shown a moment later
    QVERIFY(click(*w, "button.lesson.leave"));
    QVERIFY(!lessons.current() && named<QWidget>(*w, "list.lessons")->isVisible());
    // It goes on at the first step that is open.
    QVERIFY(p.open("schedule"));
    QCOMPARE(lessons.step().id, std::string("open"));
    const QString file = m_dir.filePath(QStringLiteral("handed.json"));
    QVERIFY(lessons.handIn(file, QStringLiteral("A learner")).has_value());
    QFile read(file);
    QVERIFY(read.open(QIODevice::ReadOnly));
    const auto handed = lesson::read_handed(read.readAll().toStdString());
    QVERIFY(handed && handed->learner == "A learner" && handed->lessons.size() == 1);
    lesson::LessonRecord record = handed->lessons[0];
    QVERIFY(record.at("knob").state == lesson::StepState::done && record.at("knob").hints == 1);
    QVERIFY(record.at("same").state == lesson::StepState::open);
    const QString page = m_dir.filePath(QStringLiteral("lessons.html"));
    QVERIFY(lessons.report(page, QStringLiteral("A learner")).has_value());
    QFile told(page);
    QVERIFY(told.open(QIODevice::ReadOnly) && QString::fromUtf8(told.readAll()).contains(QStringLiteral("<td>knob</td><td>done</td><td>1</td>")));
    QVERIFY(click(*w, "button.lesson.reset"));
    QVERIFY(p.settle());
    QCOMPARE(lessons.record(*lessons.current()).finished(*lessons.current()), 0);
    // Closing the panel leaves the lesson.
    press(*w, Qt::Key_L, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(!lessons.current() && !named<QWidget>(*w, "view.lessons")->isVisible());
  }

  /// A folder of a teacher's: its progress is its own, its files stay in it, what cannot be done is said.
  void aFolderOfLessons() {
    QDir(m_dir.path()).mkpath(QStringLiteral("course"));
    const auto write = [&](const char* name, const QByteArray& text) {
      QFile file(m_dir.filePath(QStringLiteral("course/") + QLatin1String(name)));
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(text);
    };
    write("mine.md", "---\nlesson: mine\ntitle: <b>Mine</b>\nsummary: S\n---\n## one: One\n![x](file:///etc/passwd)\n```do\nopen file secret.te\n```\n## two: Two\n```do\nopen file own.te\n```\n");
    write("broken.md", "no lesson\n");
    write("own.te", "A: float32[8] = placeholder()\nB: float32[8] = compute(i)\n    exp(A[i])\noutputs(B)\nschedule\nvectorize(B.i)\n");
    QFile outside(m_dir.filePath(QStringLiteral("secret.te")));
    QVERIFY(outside.open(QIODevice::WriteOnly));
    outside.write("A: float32[8] = placeholder()\n");
    outside.close();
    QVERIFY(QFile::link(outside.fileName(), m_dir.filePath(QStringLiteral("course/secret.te"))));
    LocalEngine engine;
    const auto w = window(engine);
    LessonPlayer p(*w);
    const auto bundled = w->lessons().entries().size();
    w->lessons().setFolder(m_dir.filePath(QStringLiteral("course")));
    QCOMPARE(w->lessons().entries().size(), bundled + 2);
    QVERIFY(!p.open("mine"));  // a link leads out of the folder
    QVERIFY2(w->lessons().problem().contains(QLatin1String("no file secret.te")), qPrintable(w->lessons().problem()));
    QVERIFY(!w->hub().model());
    QVERIFY(click(*w, "button.lesson.next"));  // it is read all the same
    QVERIFY(p.settle());
    QCOMPARE(w->hub().model()->name, QStringLiteral("own"));
    QVERIFY(QSettings().allKeys().filter(QStringLiteral("lessons/done/mine@")).size() == 1);
  }
};

QTEST_MAIN(LessonsTest)
#include "lessons_test.moc"
