// SPDX-License-Identifier: GPL-3.0-or-later
// The window without a mouse.
#include <QComboBox>
#include <QTimer>
#include <QTreeView>
#include <QTextBrowser>
#include <set>

#include "app/perspectives.h"
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
    // In turn each view of the perspective is in front of those it shares its place with.
    std::set<QString> missed;
    for (const ViewDef& view : views()) {
      auto* dock = named<QDockWidget>(*w, (std::string("dock.") + view.id).c_str());
      if (dock->isHidden()) continue;
      dock->raise();
      QCoreApplication::processEvents();
      const auto wanted = stops(*dock->widget());
      if (wanted.empty()) continue;
      std::set<const QWidget*> reached;
      QApplication::setActiveWindow(w.get());
      const_cast<QWidget*>(*wanted.begin())->setFocus(Qt::OtherFocusReason);
      for (int i = 0; i < 300; ++i) {
        QWidget* focus = QApplication::focusWidget();
        QVERIFY2(focus, view.id);
        for (const QWidget* part = focus; part && !part->isWindow(); part = part->parentWidget()) reached.insert(part);
        // In a page Tab goes from link to link before it leaves.
        auto* page = qobject_cast<QTextBrowser*>(focus);
        const int at = page ? page->textCursor().position() : 0;
        QTest::keyClick(focus, Qt::Key_Tab);
        if (QApplication::focusWidget() == focus && (!page || page->textCursor().position() == at)) {
          missed.insert(QStringLiteral("Tab is caught in ") + pathOf(focus));
          break;
        }
      }
      for (const QWidget* stop : wanted) {
        if (!reached.contains(stop)) missed.insert(QStringLiteral("Tab does not reach ") + pathOf(stop));
      }
    }
    for (const QString& m : missed) qWarning("%s", qPrintable(m));
    QVERIFY(missed.empty());
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
