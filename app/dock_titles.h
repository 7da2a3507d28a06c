// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>

class QDockWidget;
class QMainWindow;
class QTabBar;

namespace tw::app {

/// Before docks are put elsewhere. Qt remembers the separator under the pointer as a way through the layout, and goes that way once more when the pointer leaves it or
/// a key is pressed: in another layout it crashes. Up to Qt 6.4 nothing else makes it forget.
void leaveSeparators(QMainWindow& window);

/// One title for each view: its tab where views share a place, else a bar that looks like one. Pin, float and close stand on it.
class DockTitles : public QObject {
  Q_OBJECT
 public:
  explicit DockTitles(QMainWindow* window);
  /// Gives a dock its title. Where it can be pinned, pinAsked() is sent for it.
  void add(QDockWidget* dock, bool canPin);
  /// Brings titles and tabs up to date now; it happens by itself soon after a change.
  void update();

 Q_SIGNALS:
  void pinAsked(QDockWidget* dock);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QWidget* makeTools(QDockWidget* dock, QWidget* parent);
  void updateTabs(QTabBar* bar);
  QMainWindow* m_window;
  QTimer m_soon;
};

}  // namespace tw::app
