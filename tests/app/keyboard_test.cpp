// SPDX-License-Identifier: GPL-3.0-or-later
// The window without a mouse.
#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QTabBar>
#include <QTextBrowser>
#include <QTimer>
#include <QTreeView>
#include <algorithm>
#include <map>
#include <set>

#include "app/perspectives.h"
#include "app/views/import_dialog.h"
#include "app/views/sizes_dialog.h"
#include "app/views/view.h"
#include "tests/app/app_fixture.h"
#include "tests/app/fake_engine.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

class KeyboardTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;

  static QString pathOf(const QWidget* w) {
    QStringList names;
    for (; w && !w->isWindow(); w = w->parentWidget()) names.prepend(w->objectName().isEmpty() ? QLatin1String(w->metaObject()->className()) : w->objectName());
    return names.join(QLatin1Char('/'));
  }

  /// What a user can see and use by keys, not counting inner parts that share their owner's focus.
  static std::set<const QWidget*> stops(const QWidget& in) {
    std::set<const QWidget*> out;
    for (const QWidget* w : in.findChildren<QWidget*>()) {
      if ((w->focusPolicy() & Qt::TabFocus) != Qt::TabFocus || w->focusProxy() || !w->isVisible() || !w->isEnabled() || w->size().isEmpty()) continue;
      out.insert(w);
    }
    return out;
  }

  /// Whether most of the outermost pixels look another way than before, as a person can see.
  static bool isFramed(const QImage& before, const QImage& now) {
    if (before.size() != now.size() || now.isNull()) return false;
    int seen = 0, all = 0;
    const auto look = [&](int x, int y) {
      const QColor a = before.pixelColor(x, y), b = now.pixelColor(x, y);
      ++all;
      seen += std::abs(a.red() - b.red()) + std::abs(a.green() - b.green()) + std::abs(a.blue() - b.blue()) > 60;
    };
    for (int x = 0; x < now.width(); ++x) look(x, 0), look(x, now.height() - 1);
    for (int y = 0; y < now.height(); ++y) look(0, y), look(now.width() - 1, y);
    return 4 * seen > 3 * all;
  }

  static constexpr int kMostTabs = 5000;  ///< the manual alone has hundreds of links

  /// What Tab does in a dialog that nobody does who reads it: goes up or left, except to what is first of all and to the next column.
  static QStringList wrongOrder(QWidget& dialog) {
    QApplication::setActiveWindow(&dialog);
    if (!dialog.focusWidget()) QTest::keyClick(&dialog, Qt::Key_Tab);
    QWidget* const first = QApplication::focusWidget();
    const auto place = [&](const QWidget* part) { return QRect(part->mapTo(&dialog, QPoint()), part->size()); };
    // Where one begins to read: what is leftmost in the uppermost row.
    const auto all = stops(dialog);
    int row = dialog.height();
    for (const QWidget* stop : all) row = std::min(row, place(stop).bottom());
    const QWidget* begin = nullptr;
    for (const QWidget* stop : all)
      if (place(stop).top() <= row && (!begin || place(stop).left() < place(begin).left())) begin = stop;
    QStringList wrong;
    std::set<const QWidget*> visited;
    for (int i = 0; first && i < kMostTabs; ++i) {
      QWidget* now = QApplication::focusWidget();
      QTest::keyClick(now, Qt::Key_Tab);
      QWidget* next = QApplication::focusWidget();
      const QRect a = place(now), b = place(next);
      const bool beside = b.left() > a.right(), over = b.bottom() < a.top(), sameRow = a.top() <= b.bottom() && b.top() <= a.bottom();
      if (next != now && next != begin && ((over && !beside) || (sameRow && b.right() < a.left()))) wrong << QStringLiteral("From %1 to %2").arg(pathOf(now), pathOf(next));
      visited.insert(now);
      if (next == first && next != now) break;  // in a page it goes from link to link
    }
    if (visited.size() < std::min<size_t>(2, all.size())) wrong << QStringLiteral("Tab goes nowhere");
    return wrong;
  }

  /// Goes through `in` by Tab: adds to `missed` where Tab does not come, where it is caught, and what does not show that it has the focus.
  static void walk(MainWindow& w, const QWidget& in, std::set<QString>& missed) {
    auto wanted = stops(in);
    if ((in.focusPolicy() & Qt::TabFocus) == Qt::TabFocus && in.isEnabled()) wanted.insert(&in);
    if (wanted.empty()) return;
    QApplication::setActiveWindow(&w);
    if (QWidget* focus = QApplication::focusWidget()) focus->clearFocus();
    QTest::keyClick(&w, Qt::Key_Shift);  // keys are in use
    std::map<const QWidget*, QImage> before;
    for (const QWidget* stop : wanted) before[stop] = const_cast<QWidget*>(stop)->grab().toImage();
    std::set<const QWidget*> reached;
    int stuck = 0;
    const_cast<QWidget*>(*wanted.begin())->setFocus(Qt::TabFocusReason);
    for (int i = 0; i < kMostTabs && !std::includes(reached.begin(), reached.end(), wanted.begin(), wanted.end()); ++i) {
      QWidget* focus = QApplication::focusWidget();
      if (!focus) return void(missed.insert(QStringLiteral("Tab leads to nothing in ") + pathOf(&in)));
      if (const auto it = before.find(focus); it != before.end()) {
        if (!isFramed(it->second, focus->grab().toImage())) missed.insert(QStringLiteral("The focus is not seen in ") + pathOf(focus));
        before.erase(it);
      }
      for (const QWidget* part = focus; part && !part->isWindow(); part = part->parentWidget()) reached.insert(part);
      // In a page Tab goes from link to link before it leaves.
      auto* page = qobject_cast<QTextBrowser*>(focus);
      const int at = page ? page->textCursor().position() : 0;
      QTest::keyClick(focus, Qt::Key_Tab);
      // The first Tab in a page may find the link where its cursor is.
      stuck = QApplication::focusWidget() == focus && (!page || page->textCursor().position() == at) ? stuck + 1 : 0;
      if (stuck > (page ? 2 : 0)) {
        missed.insert(QStringLiteral("Tab is caught in ") + pathOf(focus));
        break;
      }
    }
    for (const QWidget* stop : wanted) {
      if (!reached.contains(stop)) missed.insert(QStringLiteral("Tab does not reach ") + pathOf(stop));
    }
  }

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("keyboard-test"), m_dir.path()); }
  void init() { QSettings().clear(); }

  void preferencesHoldAtOnce() {
    FakeEngine engine;
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("preferences.twdb")));
    bool seen = false;
    QTimer::singleShot(0, w.get(), [&] {
      auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
      if (!dialog) return;
      seen = true;
      auto* theme = named<QComboBox>(*dialog, "combo.preferences.theme");
      theme->setCurrentIndex(2);
      Q_EMIT theme->activated(2);
      named<QCheckBox>(*dialog, "check.preferences.bigType")->setChecked(true);
      named<QComboBox>(*dialog, "edit.preferences.layout")->setCurrentText(QStringLiteral("nhwc"));
      dialog->reject();
    });
    press(*w, Qt::Key_Comma, Qt::ControlModifier);
    QVERIFY(seen);
    QVERIFY(w->actions().get(QStringLiteral("view.theme.dark"))->isChecked());
    QVERIFY(widgets::themeOf(w.get()).dark);
    QVERIFY(w->actions().get(QStringLiteral("view.bigType"))->isChecked());
    QCOMPARE(engine.preparation["layout"].get<std::string>(), std::string("nhwc"));
    FakeEngine next;
    const auto again = openWindow(next, m_dir.filePath(QStringLiteral("preferences-again.twdb")));
    QCOMPARE(next.preparation["layout"].get<std::string>(), std::string("nhwc"));
    w->setBigType(false);
    w->setTheme(widgets::ThemeChoice::light);
  }

  void tabReachesEverythingAndIsCaughtNowhere_data() {
    QTest::addColumn<QString>("perspective");
    for (const PerspectiveDef& def : perspectives()) QTest::newRow(def.id) << QString::fromLatin1(def.id);
  }
  void tabReachesEverythingAndIsCaughtNowhere() {
    QFETCH(QString, perspective);
    FakeEngine engine;
    engine.millisPerTrial = 0;
    const auto w = openWindow(engine, m_dir.filePath(perspective + QStringLiteral(".twdb")));
    w->resize(1700, 1000);
    w->openZoo(QStringLiteral("fake"), false);
    QTRY_VERIFY(w->actions().get(QStringLiteral("tune.start"))->isEnabled());
    tune::SessionOptions options;
    options.trials = 40;
    w->race().start({w->hub().model(), {}, {"random", "xgb"}, 1, options, {}});
    QTRY_VERIFY(!w->race().isActive());
    QTRY_COMPARE(w->workspace().sessions().size(), size_t{2});
    w->setPerspective(perspective);
    QTRY_VERIFY(w->trials().store() && w->explaining().explanation());
    std::set<QString> missed;
    for (const auto theme : {widgets::ThemeChoice::light, widgets::ThemeChoice::dark}) {
      w->setTheme(theme);
      for (const char* bar : {"toolbar.run", "tabs.perspectives", "button.search"}) walk(*w, *named<QWidget>(*w, bar), missed);
      // In turn each view of the perspective is in front of those it shares its place with.
      for (const ViewDef& view : views()) {
        auto* dock = named<QDockWidget>(*w, (std::string("dock.") + view.id).c_str());
        if (dock->isHidden()) continue;
        dock->raise();
        QCoreApplication::processEvents();
        walk(*w, *dock->widget(), missed);
      }
      for (const QTabBar* bar : w->findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly))
        if (bar->isVisible()) walk(*w, *bar, missed);
    }
    w->setTheme(widgets::ThemeChoice::light);
    for (const QString& m : missed) qWarning("%s", qPrintable(m));
    QVERIFY(missed.empty());
  }

  /// In each place of the window, and from place to place: never up to what is over it, never left to what is beside it.
  void tabGoesAsPeopleRead_data() { tabReachesEverythingAndIsCaughtNowhere_data(); }
  void tabGoesAsPeopleRead() {
    QFETCH(QString, perspective);
    FakeEngine engine;
    const auto w = openWindow(engine, m_dir.filePath(perspective + QStringLiteral("-order.twdb")));
    w->resize(1700, 1000);
    w->openZoo(QStringLiteral("fake"), false);
    QTRY_VERIFY(w->actions().get(QStringLiteral("tune.start"))->isEnabled());
    w->setPerspective(perspective);
    QTRY_VERIFY(w->explaining().explanation());
    QTRY_COMPARE(w->workspace().jobs().running(), 0);  // views that wait for something have nothing to go to
    QCoreApplication::processEvents();
    QApplication::setActiveWindow(w.get());
    auto* first = named<QWidget>(*w, "tabs.perspectives");
    first->setFocus(Qt::TabFocusReason);
    const auto dockOf = [](const QWidget* part) {
      while (part && !qobject_cast<const QDockWidget*>(part)) part = part->parentWidget();
      return part;
    };
    const auto place = [&](const QWidget* part) { return QRect(part->mapTo(w.get(), QPoint()), part->size()); };
    std::vector<const QWidget*> visited{first};
    std::vector<const QWidget*> docks;
    for (int i = 0; i < kMostTabs; ++i) {
      const QPointer<QWidget> now = QApplication::focusWidget();
      QTest::keyClick(now, Qt::Key_Tab);
      const QWidget* next = QApplication::focusWidget();
      if (next == first) break;
      if (next == now) continue;  // from link to link
      const QWidget *from = dockOf(now), *to = dockOf(next);
      if (to && to != from) {
        QVERIFY2(std::find(docks.begin(), docks.end(), to) == docks.end(), qPrintable(QStringLiteral("Tab comes back to ") + to->objectName()));
        docks.push_back(to);
      }
      if (to && to == from) {
        const QRect a = place(now), b = place(next);
        const bool beside = b.left() > a.right(), over = b.bottom() < a.top(), sameRow = a.top() <= b.bottom() && b.top() <= a.bottom();
        QVERIFY2(!(over && !beside) && !(sameRow && b.right() < a.left()), qPrintable(QStringLiteral("From %1 to %2").arg(pathOf(now), pathOf(next))));
      }
      visited.push_back(next);
    }
    QVERIFY2(visited.size() > 20 && QApplication::focusWidget() == first, qPrintable(QString::number(visited.size())));
    QVERIFY(docks.size() >= 3);
    // The left panel before the centre, the drawer last.
    QCOMPARE(place(docks.front()).left(), 0);
    for (size_t i = 1; i < docks.size(); ++i) QVERIFY2(place(docks[i]).left() > 0 || place(docks[i - 1]).left() == 0 || place(docks[i]).top() > place(docks[0]).top(), qPrintable(docks[i]->objectName()));
    // And the same way back.
    QTest::keyClick(first, Qt::Key_Backtab, Qt::ShiftModifier);
    QCOMPARE(QApplication::focusWidget(), visited.back());
  }

  /// Forms and lists of dialogs too.
  void tabGoesThroughDialogsAsPeopleRead() {
    FakeEngine engine;
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("dialog-order.twdb")));
    w->openZoo(QStringLiteral("fake"), false);
    QTRY_VERIFY(w->actions().get(QStringLiteral("tune.start"))->isEnabled());
    for (const char* action : {"edit.preferences", "tune.race", "help.shortcuts"}) {
      QStringList wrong{QStringLiteral("nothing opens")};
      QTimer::singleShot(50, w.get(), [&] {
        QWidget* dialog = QApplication::activeModalWidget();
        if (!dialog) return;
        wrong = wrongOrder(*dialog);
        dialog->close();
      });
      w->actions().get(QLatin1String(action))->trigger();
      QTRY_VERIFY2(wrong.isEmpty(), qPrintable(QLatin1String(action) + QStringLiteral(": ") + wrong.join(QStringLiteral("; "))));
    }
    const auto wrongIn = [&](QWidget* dialog) {
      if (!dialog || !dialog->isVisible()) return QStringLiteral("nothing opens");
      const QString wrong = wrongOrder(*dialog).join(QStringLiteral("; "));
      dialog->close();
      return wrong;
    };
    // A log with a bad line: both of its tables are shown.
    QFile log(m_dir.filePath(QStringLiteral("trials.json")));
    QVERIFY(log.open(QIODevice::WriteOnly));
    log.write("{\"i\": [[\"[\\\"dense\\\", 4]\", \"llvm\"], [[], [[\"SP\", 1]]]], \"r\": [[0.001], 0, 0.5, 1600000000], \"v\": \"v0.6\"}\n{torn\n");
    log.close();
    w->openFile(log.fileName());
    QTRY_VERIFY(w->importing().state() == ImportService::State::previewed);
    QCOMPARE(wrongIn(w->findChild<ImportDialog*>()), QString());
    engine.sizes = {{.name = "batch", .places = {"x.0"}, .proposal = 1}, {.name = "length", .places = {"x.1"}, .proposal = 128}};
    w->openFile(w->hub().model()->path);
    QTRY_VERIFY(w->findChild<SizesDialog*>());
    QCOMPARE(wrongIn(w->findChild<SizesDialog*>()), QString());
    w->showManual();
    QCOMPARE(wrongIn(named<QWidget>(*w, "window.manual")), QString());
  }

  void theStartPageIsUsedByKeys() {
    FakeEngine engine;
    const QStringList recent{m_dir.filePath(QStringLiteral("one.onnx")), m_dir.filePath(QStringLiteral("two.onnx"))};
    for (const QString& path : recent) QVERIFY(QFile(path).open(QIODevice::WriteOnly));
    QSettings().setValue(QStringLiteral("recent"), recent);
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("start.twdb")));
    QWidget* page = named<QWidget>(*w, "page.start");
    QVERIFY(page->isVisible());
    std::set<QString> missed;
    for (const auto theme : {widgets::ThemeChoice::light, widgets::ThemeChoice::dark}) {
      w->setTheme(theme);
      walk(*w, *page, missed);
    }
    w->setTheme(widgets::ThemeChoice::light);
    for (const QString& m : missed) qWarning("%s", qPrintable(m));
    QVERIFY(missed.empty());
    int cards = 0;
    for (auto* card : page->findChildren<QAbstractButton*>()) {
      if (!card->isVisible() || !card->objectName().startsWith(QStringLiteral("card."))) continue;
      QObject::disconnect(card, &QAbstractButton::clicked, nullptr, nullptr);  // that it is pressed is enough
      QSignalSpy pressed(card, &QAbstractButton::clicked);
      card->setFocus(Qt::TabFocusReason);
      for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Enter, Qt::Key_Space}) QTest::keyClick(card, key);
      QVERIFY2(pressed.count() == 3, qPrintable(pathOf(card)));
      ++cards;
    }
    QCOMPARE(cards, 5 + 1 + 2);  // what one can begin with, the bundled network, the recent files
  }

  /// Each letter that is underlined belongs to one thing in sight, and that of a label leads to what it names.
  void mnemonicsLeadWhereTheyPoint() {
    FakeEngine engine;
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("mnemonics.twdb")));
    w->openZoo(QStringLiteral("fake"), false);
    QTRY_VERIFY(w->actions().get(QStringLiteral("tune.race"))->isEnabled());
    std::set<QString> wrong;
    for (QMenu* menu : w->findChildren<QMenu*>()) {
      std::map<QKeySequence, QString> letters;
      for (const QAction* action : menu->actions()) {
        const QKeySequence letter = QKeySequence::mnemonic(action->text());
        if (letter.isEmpty()) continue;
        if (const auto [at, fresh] = letters.emplace(letter, action->text()); !fresh)
          wrong.insert(QStringLiteral("%1: '%2' and '%3' have one letter").arg(menu->title(), at->second, action->text()));
      }
    }
    const auto inSight = [&](QWidget& window, std::map<QKeySequence, QString> taken) {
      const auto take = [&](const QString& text) {
        const QKeySequence letter = QKeySequence::mnemonic(text);
        if (letter.isEmpty()) return false;
        if (const auto [at, fresh] = taken.emplace(letter, text); !fresh) wrong.insert(QStringLiteral("'%1' and '%2' have one letter").arg(at->second, text));
        return true;
      };
      for (const auto* button : window.findChildren<QAbstractButton*>())
        if (!button->visibleRegion().isEmpty()) take(button->text());
      for (const auto* label : window.findChildren<QLabel*>()) {
        if (label->visibleRegion().isEmpty() || !label->buddy() || !take(label->text())) continue;
        QApplication::setActiveWindow(&window);
        const QKeySequence letter = QKeySequence::mnemonic(label->text());
        QTest::keyClick(&window, letter[0].key(), Qt::AltModifier);
        const QWidget* now = QApplication::focusWidget();
        if (now != label->buddy() && !(now && label->buddy()->isAncestorOf(now))) wrong.insert(QStringLiteral("The letter of '%1' does not lead to what it names").arg(label->text()));
      }
    };
    std::map<QKeySequence, QString> bar;
    for (const QAction* title : w->menuBar()->actions()) {
      const auto [at, fresh] = bar.emplace(QKeySequence::mnemonic(title->text()), title->text());
      if (!fresh) wrong.insert(QStringLiteral("'%1' and '%2' have one letter").arg(at->second, title->text()));
    }
    for (const PerspectiveDef& def : perspectives()) {
      w->setPerspective(QString::fromLatin1(def.id));
      for (const ViewDef& view : views()) {
        auto* dock = named<QDockWidget>(*w, (std::string("dock.") + view.id).c_str());
        if (dock->isHidden()) continue;
        dock->raise();
        QCoreApplication::processEvents();
        inSight(*w, bar);
      }
    }
    for (const char* name : {"tune.race", "edit.preferences"}) {
      QTimer::singleShot(0, w.get(), [&] {
        QWidget* dialog = QApplication::activeModalWidget();
        if (!dialog) return void(wrong.insert(QStringLiteral("%1 opens nothing").arg(QLatin1String(name))));
        inSight(*dialog, {});
        dialog->close();
      });
      w->actions().get(QLatin1String(name))->trigger();
      QCoreApplication::processEvents();
    }
    for (const QString& m : wrong) qWarning("%s", qPrintable(m));
    QVERIFY(wrong.empty());
  }

  void escapeLeavesWhatOpened() {
    FakeEngine engine;
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("escape.twdb")));
    w->openZoo(QStringLiteral("fake"), false);
    QTRY_VERIFY(w->actions().get(QStringLiteral("tune.race"))->isEnabled());
    for (const char* name : {"tune.race", "go.commands"}) {
      w->actions().get(QLatin1String(name))->trigger();
      QWidget* opened = QApplication::activePopupWidget() ? QApplication::activePopupWidget() : QApplication::activeModalWidget();
      QVERIFY2(opened, name);
      QTest::keyClick(opened, Qt::Key_Escape);
      QVERIFY2(!opened->isVisible(), name);
    }
  }
};

QTEST_MAIN(KeyboardTest)
#include "keyboard_test.moc"
