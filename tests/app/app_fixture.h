// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCheckBox>
#include <QClipboard>
#include <QDockWidget>
#include <QDropEvent>
#include <QMimeData>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QToolButton>
#include <QtTest>
#include <functional>

#include "app/main_window.h"
#include "app/views/graph_page.h"
#include "widgets/common/english_plurals.h"

/// The window in tests: a home of its own, a fresh workspace, and what a user does with it.
namespace tw::app::fixture {

/// Settings and standard folders of this test alone.
inline void ownHome(const QString& name, const QString& folder) {
  QStandardPaths::setTestModeEnabled(true);
  QCoreApplication::setOrganizationName(QStringLiteral("tilewright-test"));
  QCoreApplication::setApplicationName(name);
  QSettings::setDefaultFormat(QSettings::IniFormat);
  QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder);
  static widgets::EnglishPlurals plurals;
  QCoreApplication::installTranslator(&plurals);
  widgets::applyTheme(widgets::ThemeChoice::light);
}

/// The window on a workspace, shown.
/// Closing it stops a session, unless it `asks` as it does for people.
inline std::unique_ptr<MainWindow> openWindow(Engine& engine, const QString& database, bool asks = false) {
  auto window = std::make_unique<MainWindow>(engine);
  if (!asks) window->askQuit = [] { return MainWindow::QuitChoice::stop; };
  QSignalSpy opened(&window->workspace(), &Workspace::opened);
  window->openWorkspace(database);
  window->resize(1600, 1000);  // the screen of tests is small
  window->show();
  QApplication::setActiveWindow(window.get());
  if (opened.isEmpty()) opened.wait(5000);
  return window;
}

template <class W>
W* named(const QWidget& window, const char* name) {
  return window.findChild<W*>(QString::fromLatin1(name));
}

/// Brings a view to the front, whether its perspective shows it or not.
inline void showDock(const QWidget& window, const char* name) {
  auto* dock = named<QDockWidget>(window, name);
  dock->show();
  dock->raise();
}

/// Clicks on a widget that a user can see and use: into its middle, or on the mark of a check box.
inline bool click(const QWidget& window, const char* name) {
  auto* widget = named<QWidget>(window, name);
  if (!widget || !widget->isVisible() || !widget->isEnabled()) return false;
  QTest::mouseClick(widget, Qt::LeftButton, Qt::NoModifier, qobject_cast<QCheckBox*>(widget) ? QPoint(8, widget->height() / 2) : QPoint());
  return true;
}

/// A key while the window is in front.
inline void press(QWidget& window, Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
  QApplication::setActiveWindow(&window);
  QTest::keyClick(&window, key, modifiers);
}

/// Puts another text in place of all that an editor holds, as a user pastes it.
inline void paste(QWidget* editor, const QString& text) {
  QApplication::clipboard()->setText(text);
  editor->setFocus();
  QTest::keyClick(editor, Qt::Key_A, Qt::ControlModifier);
  QTest::keyClick(editor, Qt::Key_V, Qt::ControlModifier);
}

/// Drops a file on the window; false if it does not take it.
inline bool drop(QWidget& window, const QString& path) {
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(path)});
  QDragEnterEvent enter(QPoint(20, 20), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window, &enter);
  if (!enter.isAccepted()) return false;
  QDropEvent event(QPointF(20, 20), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window, &event);
  return true;
}

/// Widgets that are deleted while `change` runs. Qt goes through all widgets that there were before a change of colours or letters, and crashes at the first that is
/// gone.
inline QStringList lostDuring(const std::function<void()>& change) {
  QStringList lost;
  {
    const QObject watcher;
    for (QWidget* w : QApplication::allWidgets()) {
      const QString name = QLatin1String(w->metaObject()->className()) + QLatin1Char(' ') + w->objectName() +
                           (w->parentWidget() ? QStringLiteral(" in ") + w->parentWidget()->objectName() : QString());
      QObject::connect(w, &QObject::destroyed, &watcher, [&lost, name] { lost << name; });
    }
    change();
  }
  return lost;
}

}  // namespace tw::app::fixture
