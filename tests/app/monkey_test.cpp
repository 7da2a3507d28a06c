// SPDX-License-Identifier: GPL-3.0-or-later
// Random input at the window while a session runs: clicks, keys, drags, wheels, sizes, actions, docks, themes, files, in an order that follows from the seed
// (as far as the pace of the machine lets it). It ends at the first message of Qt, and with the first crash. Arguments: --seconds S (20), --seed N (1), --log
// FILE (every step, flushed before it is done).
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDesktopServices>
#include <QDockWidget>
#include <QDrag>
#include <QElapsedTimer>
#include <QFile>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenu>
#include <QTextStream>
#include <QTimer>
#include <QWheelEvent>
#include <random>

#include "app/dock_titles.h"
#include "app/services/local_engine.h"
#include "app/views/tune_view.h"
#include "tests/app/app_fixture.h"

namespace tw::app {
namespace {

/// Messages of Qt that nobody may cause.
QStringList g_messages;
QtMessageHandler g_before = nullptr;

void hear(QtMsgType type, const QMessageLogContext& context, const QString& text) {
  // The platform without a screen says so itself.
  const bool harmless = text.startsWith(QStringLiteral("This plugin does not support"));
  if (type != QtDebugMsg && type != QtInfoMsg && !harmless) g_messages << text;
  g_before(type, context, text);
}

class Monkey : public QObject {
 public:
  Monkey(MainWindow& window, const QString& folder, unsigned seed, const QString& log) : m_window(window), m_folder(folder), m_rng(seed), m_log(log) {
    if (!log.isEmpty() && !m_log.open(QIODevice::WriteOnly)) qFatal("The log cannot be written");
    writeFiles();
  }
  void start() {
    m_running = true;
    next();
  }
  void stop() { m_running = false; }
  /// From now on it only closes what keeps all input for itself: a program cannot end in the middle of a dialog.
  void leave() { m_leaving = true; }
  int steps() const { return m_steps; }

 private:
  int upTo(int n) { return n <= 1 ? 0 : static_cast<int>(m_rng() % static_cast<unsigned>(n)); }
  template <class T>
  const T& any(const QList<T>& list) {
    return list[upTo(static_cast<int>(list.size()))];
  }
  QPoint pointIn(const QWidget& w) { return {upTo(w.width()), upTo(w.height())}; }

  void note(const QString& what) {
    if (!m_log.isOpen()) return;
    m_log.write(QStringLiteral("%1 %2\n").arg(m_steps).arg(what).toUtf8());
    m_log.flush();
  }
  static QString nameOf(const QWidget* w) {
    QStringList path;
    for (; w; w = w->parentWidget()) path.prepend(w->objectName().isEmpty() ? QLatin1String(w->metaObject()->className()) : w->objectName());
    return path.join(QLatin1Char('/'));
  }

  void writeFiles() {
    const auto write = [this](const char* name, const QByteArray& bytes) {
      QFile file(m_folder + QLatin1Char('/') + QLatin1String(name));
      if (file.open(QIODevice::WriteOnly)) file.write(bytes);
      m_files << file.fileName();
    };
    QByteArray log;
    for (int i = 0; i < 200; ++i)
      log += QStringLiteral(R"({"i": [["[\"task%1\", 4]", "llvm"], [[], [["SP", %2]]]], "r": [[%3], %4, 0.5, 1600000000], "v": "v0.6"})")
                 .arg(i % 3)
                 .arg(i)
                 .arg(i % 7 == 6 ? 1e10 : 1e-3 / (i + 1))
                 .arg(i % 7 == 6 ? 4 : 0)
                 .toUtf8() +
             '\n';
    write("trials.json", log);
    write("torn.log", log.left(5000) + "{\n\0x\xff" + log.left(300));
    write("broken.onnx", "\x08\x07 not a network");
    write("empty.onnx", {});
    write("damaged.twdb", QByteArray(9000, 'x'));
    m_files << m_folder + QStringLiteral("/other.twdb") << m_folder + QStringLiteral("/monkey.twdb") << m_folder + QStringLiteral("/nowhere.onnx");
  }

  /// The window that takes input now.
  QWidget* top() {
    if (QWidget* popup = QApplication::activePopupWidget()) return popup;
    if (QWidget* modal = QApplication::activeModalWidget()) return modal;
    QList<QWidget*> shown;
    for (QWidget* w : QApplication::topLevelWidgets()) {
      if (w->isVisible() && !w->inherits("QTipLabel")) shown << w;
    }
    return shown.isEmpty() ? nullptr : upTo(3) > 0 ? &m_window : any(shown);
  }

  /// A timer of its own for each step: in an event loop inside a step, such as that of a modal dialog, the steps go on.
  void next() { QTimer::singleShot(4, this, &Monkey::step); }

  void step() {
    if (!m_running) return;
    next();
    if (m_leaving) {
      QWidget* open = QApplication::activePopupWidget() ? QApplication::activePopupWidget() : QApplication::activeModalWidget();
      if (open) open->close();
      return;
    }
    ++m_steps;
    // What is sent to widgets never comes to a real screen, which would wait for its button to be let go; others have no such wait and no way to end it.
    // Nobody has a second hand to begin something else with before that drag is over.
    if (QGuiApplication::platformName() == QLatin1String("xcb")) {
      QDrag::cancel();
      m_letGo = m_letGo || m_dragging;
      if (m_dragging && QApplication::activeModalWidget() == m_modalOfDrag && !QApplication::activePopupWidget()) return;
    }
    if (!m_window.isVisible()) m_window.show();
    if (m_steps % 500 == 0) keepTuning();
    QWidget* w = top();
    if (!w) return;
    // Windows that keep all input for themselves are left after a while.
    m_sameTop = w == m_lastTop && w != &m_window ? m_sameTop + 1 : 0;
    m_lastTop = w;
    if (auto* dialog = qobject_cast<QFileDialog*>(w)) return answer(*dialog);
    if (m_sameTop > 12 && w->isWindow() && w != &m_window) {
      note(QStringLiteral("close ") + nameOf(w));
      m_sameTop = 0;
      w->close();
      return;
    }
    const int kind = upTo(100);
    if (kind < 34) return click(*w);
    if (kind < 52) return keys();
    if (kind < 60) return drag(*w);
    if (kind < 68) return wheel(*w);
    if (kind < 86) return action();
    if (kind < 91) return dock();
    if (kind < 94) return resize(*w);
    if (kind < 96) return drop();
    typing();
  }

  void keepTuning() {
    if (m_window.tuning().isActive() || QApplication::activeModalWidget()) return;
    if (!m_window.hub().model() || m_window.hub().model()->tasks.empty())
      return m_window.openZoo(upTo(2) ? QStringLiteral("resnet18") : QStringLiteral("mlp"), true);
    tune::SessionOptions options = m_window.tuneView().options();
    options.trials = 2000;
    m_window.tuneView().setOptions(options);
    m_window.startTuning();
  }

  void answer(QFileDialog& dialog) {
    note(QStringLiteral("answer ") + dialog.windowTitle());
    if (upTo(3) == 0) return dialog.reject();
    const QString exported = m_folder + QStringLiteral("/out") + any(QStringList{".png", ".svg", ".csv", ".html", ".twdb", ""});
    const QString path = dialog.acceptMode() == QFileDialog::AcceptSave && upTo(2) ? exported : any(m_files);
    // As a user who typed the name: accept() may find that there is no such file, or ask whether to replace it.
    if (auto* line = dialog.findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))) line->setText(path);
    if (m_sameTop > 3) return dialog.reject();
    QMetaObject::invokeMethod(&dialog, "accept");
  }

  void click(QWidget& w) {
    const QPoint at = pointIn(w);
    QWidget* child = w.childAt(at);
    QWidget& target = child ? *child : w;
    const QPoint local = target.mapFrom(&w, at);
    const Qt::KeyboardModifiers modifiers = upTo(8) ? Qt::NoModifier : upTo(2) ? Qt::ControlModifier : Qt::ShiftModifier;
    const int kind = upTo(12);
    note(QStringLiteral("click %1 %2 at %3,%4").arg(kind).arg(nameOf(&target)).arg(local.x()).arg(local.y()));
    if (kind == 0) return QTest::mouseDClick(&target, Qt::LeftButton, modifiers, local);
    if (kind == 1) {
      QContextMenuEvent event(QContextMenuEvent::Mouse, local, target.mapToGlobal(local));
      QApplication::sendEvent(&target, &event);
      return;
    }
    QTest::mouseClick(&target, kind == 2 ? Qt::RightButton : Qt::LeftButton, modifiers, local);
  }

  /// Nobody's keys reach what lies behind a dialog, which may keep the focus until the window system has activated the dialog.
  static bool isBehindDialog(const QWidget& widget) {
    const QWidget* dialog = QApplication::activeModalWidget();
    return dialog && !QApplication::activePopupWidget() && widget.window() != dialog && !dialog->isAncestorOf(&widget);
  }
  void keys() {
    QWidget* focus = QApplication::activePopupWidget() ? QApplication::activePopupWidget() : QApplication::focusWidget();
    if (!focus) focus = &m_window;
    if (isBehindDialog(*focus)) return;
    static const QList<Qt::Key> some = {Qt::Key_Tab,       Qt::Key_Backtab, Qt::Key_Up,   Qt::Key_Down,  Qt::Key_Left,   Qt::Key_Right,   Qt::Key_PageDown,
                                        Qt::Key_PageUp,    Qt::Key_Home,    Qt::Key_End,  Qt::Key_Space, Qt::Key_Return, Qt::Key_Escape,  Qt::Key_Delete,
                                        Qt::Key_F2,        Qt::Key_F,       Qt::Key_Plus, Qt::Key_Minus, Qt::Key_0,      Qt::Key_9,       Qt::Key_Period,
                                        Qt::Key_Backspace, Qt::Key_A,       Qt::Key_Z,    Qt::Key_F3,    Qt::Key_Menu,   Qt::Key_Question};
    const Qt::Key key = any(some);
    const Qt::KeyboardModifiers modifiers = upTo(5) ? Qt::NoModifier : upTo(2) ? Qt::ControlModifier : upTo(2) ? Qt::ShiftModifier : Qt::AltModifier;
    note(QStringLiteral("key %1 %2 in %3").arg(key).arg(static_cast<int>(modifiers)).arg(nameOf(focus)));
    QTest::keyClick(focus, key, modifiers);
  }

  void typing() {
    QWidget* focus = QApplication::focusWidget();
    if (focus && isBehindDialog(*focus)) return;
    if (!focus) return;
    static const QStringList texts = {QStringLiteral("gflops>5 & status=ok"),
                                      QStringLiteral("tile"),
                                      QStringLiteral("12"),
                                      QStringLiteral("(((!"),
                                      QStringLiteral("é¥∑\u202e"),
                                      QStringLiteral("%1 %n &x"),
                                      QStringLiteral("<b>x</b>"),
                                      QStringLiteral(">dark"),
                                      QStringLiteral("#1"),
                                      QStringLiteral("99999999999999999999")};
    const QString text = any(texts);
    note(QStringLiteral("type %1 in %2").arg(text, nameOf(focus)));
    for (const QChar c : text) {
      QKeyEvent press(QEvent::KeyPress, 0, Qt::NoModifier, QString(c)), release(QEvent::KeyRelease, 0, Qt::NoModifier, QString(c));
      const QPointer<QWidget> alive(focus);
      QApplication::sendEvent(focus, &press);
      if (!alive) return;
      QApplication::sendEvent(focus, &release);
    }
  }

  void drag(QWidget& w) {
    const QPoint at = pointIn(w);
    const QPointer<QWidget> target = w.childAt(at) ? w.childAt(at) : &w;
    const QPoint local = target->mapFrom(&w, at);
    note(QStringLiteral("drag %1").arg(nameOf(target)));
    const auto send = [&](QEvent::Type type, const QPoint& p, Qt::MouseButton button, Qt::MouseButtons buttons) {
      if (!target) return;
      QMouseEvent event(type, p, target->mapToGlobal(p), button, buttons, Qt::NoModifier);
      QApplication::sendEvent(target, &event);
    };
    m_dragging = true;
    m_letGo = false;
    m_modalOfDrag = QApplication::activeModalWidget();
    send(QEvent::MouseButtonPress, local, Qt::LeftButton, Qt::LeftButton);
    QPoint p = local;
    for (int i = 0; i < 5 && !m_letGo; ++i) {  // the hand that began a drag that is over holds no button
      p += QPoint(upTo(160) - 80, upTo(160) - 80);
      send(QEvent::MouseMove, p, Qt::NoButton, Qt::LeftButton);
    }
    send(QEvent::MouseButtonRelease, p, Qt::LeftButton, Qt::NoButton);
    m_dragging = false;
  }

  void wheel(QWidget& w) {
    const QPoint at = pointIn(w);
    QWidget* target = w.childAt(at) ? w.childAt(at) : &w;
    const QPoint local = target->mapFrom(&w, at);
    note(QStringLiteral("wheel %1").arg(nameOf(target)));
    QWheelEvent event(local, target->mapToGlobal(local), {}, {0, (upTo(7) - 3) * 120}, Qt::NoButton, upTo(3) ? Qt::NoModifier : Qt::ControlModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(target, &event);
  }

  void action() {
    QAction* action = any(m_window.actions().all());
    // Once in a while is enough: both empty the stage.
    const QString name = ActionRegistry::nameOf(action);
    if ((name == QStringLiteral("file.quit") || name == QStringLiteral("file.close")) && upTo(6) > 0) return;
    if (!action->isEnabled() || QApplication::activeModalWidget()) return;
    note(QStringLiteral("action ") + name);
    // Actions with dialogs come back when those are closed, by later steps.
    if (!name.startsWith(QStringLiteral("view.theme."))) {
      QMetaObject::invokeMethod(action, &QAction::trigger, Qt::QueuedConnection);
      return;
    }
    if (const QStringList lost = fixture::lostDuring([&] { action->trigger(); }); !lost.isEmpty())
      qWarning("Another theme deleted %s", qPrintable(lost.join(QStringLiteral("; "))));
  }

  void dock() {
    const auto docks = m_window.findChildren<QDockWidget*>(QString(), Qt::FindDirectChildrenOnly);
    QDockWidget* dock = any(docks);
    const int kind = upTo(6);
    leaveSeparators(m_window);  // people drag docks, and leave separators on their way
    note(QStringLiteral("dock %1 %2").arg(kind).arg(dock->objectName()));
    static const QList<Qt::DockWidgetArea> areas = {Qt::LeftDockWidgetArea, Qt::RightDockWidgetArea, Qt::TopDockWidgetArea, Qt::BottomDockWidgetArea};
    if (kind == 0) dock->setFloating(!dock->isFloating());
    if (kind == 1) m_window.addDockWidget(any(areas), dock);
    if (kind == 2) dock->setVisible(!dock->isVisible());
    if (kind >= 3) dock->show(), dock->raise();
    if (kind == 5 && docks.size() > 1 && any(docks) != dock)
      m_window.tabifyDockWidget(any(docks) == dock ? docks[docks[0] == dock] : docks[docks[0] == dock], dock);
  }

  void resize(QWidget& w) {
    QWidget& window = w.window() == &m_window || upTo(2) ? m_window : w;
    note(QStringLiteral("resize %1").arg(nameOf(&window)));
    window.resize(200 + upTo(1800), 150 + upTo(1000));
    if (upTo(4) == 0) m_window.resetLayout();
  }

  void drop() {
    if (QApplication::activeModalWidget() || QApplication::activePopupWidget()) return;
    const QString path = any(m_files);
    note(QStringLiteral("drop ") + path);
    fixture::drop(m_window, path);
  }

  MainWindow& m_window;
  QString m_folder;
  QStringList m_files;
  std::mt19937 m_rng;
  QFile m_log;
  QPointer<QWidget> m_lastTop;
  int m_steps = 0, m_sameTop = 0;
  QPointer<QWidget> m_modalOfDrag;
  bool m_running = false, m_leaving = false, m_dragging = false, m_letGo = false;
};

int run(const QStringList& arguments) {
  const auto value = [&](const char* name, const QString& fallback) {
    const auto at = arguments.indexOf(QLatin1String(name));
    return at < 0 ? fallback : arguments.value(at + 1, fallback);
  };
  const double seconds = value("--seconds", QStringLiteral("20")).toDouble();
  const auto seed = value("--seed", QStringLiteral("1")).toUInt();
  const QTemporaryDir folder;
  fixture::ownHome(QStringLiteral("monkey-test"), folder.path());
  QDir::setCurrent(folder.path());
  g_before = qInstallMessageHandler(hear);
  LocalEngine engine;
  int steps = 0;
  {
    const auto window = fixture::openWindow(engine, folder.filePath(QStringLiteral("monkey.twdb")));
    window->askQuit = [] { return MainWindow::QuitChoice::stay; };
    window->resize(1400, 900);
    window->openZoo(QStringLiteral("resnet18"), true);
    Monkey monkey(*window, folder.path(), seed, value("--log", {}));
    QElapsedTimer timer;
    timer.start();
    monkey.start();
    QTimer::singleShot(static_cast<int>(seconds * 1e3), &monkey, &Monkey::leave);
    const auto wait = [](int millis) {
      QEventLoop loop;
      QTimer::singleShot(millis, &loop, &QEventLoop::quit);
      loop.exec();
    };
    while (timer.elapsed() < seconds * 1e3 && g_messages.isEmpty()) wait(100);
    monkey.stop();
    steps = monkey.steps();
    window->askQuit = [] { return MainWindow::QuitChoice::stop; };
    for (QWidget* w : QApplication::topLevelWidgets()) {
      if (w != window.get() && w->isVisible()) w->close();
    }
    window->close();
    while (window->tuning().isActive()) wait(20);
  }
  QTextStream(stdout) << steps << " steps with seed " << seed << ", " << g_messages.size() << " messages of Qt\n";
  return g_messages.isEmpty() && steps > 0 ? 0 : 1;
}

}  // namespace
}  // namespace tw::app

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
  QApplication app(argc, argv);
  QApplication::setQuitOnLastWindowClosed(false);
  return tw::app::run(QApplication::arguments());
}
