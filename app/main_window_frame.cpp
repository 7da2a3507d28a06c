// SPDX-License-Identifier: GPL-3.0-or-later
// The frame of the main window: start page, perspectives and their docks, drawer, messages over its lower edge.
#include <QApplication>
#include <QCursor>
#include <QDockWidget>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenuBar>
#include <QProgressBar>
#include <QResizeEvent>
#include <QSettings>
#include <QStatusBar>
#include <QTabBar>
#include <QToolBar>
#include <QToolButton>
#include <algorithm>
#include <map>

#include "app/dock_titles.h"
#include "app/main_window.h"
#include "app/menus.h"
#include "app/perspectives.h"
#include "app/pinned_view.h"
#include "app/playback_bar.h"
#include "app/run_bar.h"
#include "app/views/code_dock.h"
#include "app/views/graph_page.h"
#include "app/views/passes_view.h"
#include "app/views/sessions_view.h"
#include "app/views/start_page.h"
#include "app/views/tasks_view.h"
#include "app/views/trials_view.h"
#include "app/views/tune_view.h"
#include "widgets/common/banner.h"
#include "widgets/common/tab_order.h"
#include "widgets/theme/theme.h"

namespace tw::app {
namespace {

constexpr int kLayoutVersion = 6;
constexpr int kBannerMargin = 8;
constexpr QSize kLeastView{180, 110};
constexpr int kLow = 950;  ///< windows lower than this begin with a closed drawer

const PerspectiveDef& defOf(const QString& id) {
  const auto& all = perspectives();
  const auto found = std::find_if(all.begin(), all.end(), [&](const PerspectiveDef& p) { return id == QLatin1String(p.id); });
  return found == all.end() ? all.front() : *found;
}

}  // namespace

QDockWidget* MainWindow::dockOf(const QString& view) const { return findChild<QDockWidget*>(QStringLiteral("dock.") + view, Qt::FindDirectChildrenOnly); }

void MainWindow::makeDocks() {
  for (const ViewDef& def : views()) {
    auto* dock = new QDockWidget(def.title(), this);
    dock->setObjectName(QStringLiteral("dock.") + QLatin1String(def.id));
    dock->setAccessibleName(def.title());
    QWidget* view = def.create(m_services, dock);
    view->setObjectName(QStringLiteral("view.") + QLatin1String(def.id));
    view->setMinimumSize(kLeastView);  // so that every perspective fits the smallest window
    dock->setWidget(view);
    m_titles->add(dock, def.canPin);
    addDockWidget(Qt::RightDockWidgetArea, dock);
    dock->hide();
    dock->installEventFilter(this);
    if (auto* tune = qobject_cast<TuneView*>(view)) m_tuneView = tune;
    if (auto* tasks = qobject_cast<TasksView*>(view)) m_tasksView = tasks;
    if (auto* trials = qobject_cast<TrialsView*>(view)) m_trialsView = trials;
    if (auto* sessions = qobject_cast<SessionsView*>(view)) m_sessionsView = sessions;
    if (auto* code = qobject_cast<CodeDock*>(view)) m_codeDock = code;
    if (auto* passes = qobject_cast<PassesView*>(view)) m_passesView = passes;
    if (auto* graph = qobject_cast<GraphPage*>(view)) m_graph = graph;
  }
  connect(m_titles, &DockTitles::pinAsked, this, &MainWindow::pin);
}

void MainWindow::makeHeader() {
  auto* corner = new QWidget(menuBar());
  auto* line = new QHBoxLayout(corner);
  line->setContentsMargins(0, 0, 6, 0);
  m_perspectiveTabs = new QTabBar(corner);
  m_perspectiveTabs->setObjectName(QStringLiteral("tabs.perspectives"));
  m_perspectiveTabs->setAccessibleName(tr("Perspectives"));
  m_perspectiveTabs->setDrawBase(false);
  m_perspectiveTabs->setExpanding(false);
  for (const PerspectiveDef& def : perspectives()) {
    const int tab = m_perspectiveTabs->addTab(plainText(def.title()));
    m_perspectiveTabs->setTabToolTip(tab, m_actions.get(QStringLiteral("view.perspective.") + QLatin1String(def.id))->toolTip());
  }
  connect(m_perspectiveTabs, &QTabBar::tabBarClicked, this, [this](int i) {
    if (i == m_perspectiveTabs->currentIndex()) setPerspective(m_perspective);  // from the start page
  });
  connect(m_perspectiveTabs, &QTabBar::currentChanged, this, [this](int i) {
    if (i >= 0) setPerspective(QString::fromLatin1(perspectives()[static_cast<size_t>(i)].id));
  });
  auto* search = new QToolButton(corner);
  search->setObjectName(QStringLiteral("button.search"));
  search->setAccessibleName(tr("Search or run a command"));
  search->setText(tr("Search or run…  %1").arg(m_actions.get(QStringLiteral("go.commands"))->shortcut().toString(QKeySequence::NativeText)));
  search->setToolTip(m_actions.get(QStringLiteral("go.commands"))->toolTip());
  connect(search, &QToolButton::clicked, this, [this] { openCommandBox(); });
  line->addWidget(m_perspectiveTabs);
  line->addSpacing(10);
  line->addWidget(search);
  menuBar()->setCornerWidget(corner, Qt::TopRightCorner);
}

void MainWindow::showStart(bool start) {
  m_perspectiveTabs->setEnabled(!start || m_hub.model());
  if (start == m_isStart) return;
  if (start) savePerspective();
  m_isStart = start;
  centralWidget()->setVisible(start);
  m_runBar->setVisible(!start);
  m_playbackBar->setVisible(!start && m_hub.playback().isOpen());
  updateActions();
  if (!start) return loadPerspective(m_perspective);
  for (auto* dock : findChildren<QDockWidget*>(QString(), Qt::FindDirectChildrenOnly)) dock->hide();
  m_currentView = m_start;
  m_start->setFocus();
}

void MainWindow::resetLayout() {
  for (auto* pinned : findChildren<PinnedView*>()) pinned->parentWidget()->close();
  if (!m_isStart) arrange(m_perspective);
}

void MainWindow::arrange(const QString& perspective) {
  leaveSeparators(*this);
  const PerspectiveDef& def = defOf(perspective);
  const double scale = widgets::typeScale();
  const FrameFit fit = frameFit();
  const bool drawerOpen = def.isDrawerOpen && height() >= kLow * scale;
  setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
  setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  for (const ViewDef& view : views()) {
    QDockWidget* dock = dockOf(QLatin1String(view.id));
    dock->setFloating(false);
    removeDockWidget(dock);
  }
  const QStringList bottom = fit.split == Split::tabs ? QStringList() : def.bottom, right = fit.wide ? def.right : QStringList();
  // Where the centre has tabs enough, what would stand at the right goes under the left panel.
  const bool asideLeft = !fit.wide && fit.split == Split::tabs && !def.leftBelow.isEmpty();
  const QStringList leftBelow = def.leftBelow + (asideLeft ? def.right : QStringList());
  const QStringList top = def.top + (fit.split == Split::tabs ? def.bottom : QStringList()) + (fit.wide || asideLeft ? QStringList() : def.right);
  // The first of each place, then those that share it: splitting a place that has tabs would only add another.
  const auto first = [this](const QStringList& place) { return dockOf(place.front()); };
  addDockWidget(Qt::LeftDockWidgetArea, first(def.left), Qt::Vertical);
  if (!def.leftBelow.isEmpty()) addDockWidget(Qt::LeftDockWidgetArea, first(def.leftBelow), Qt::Vertical);
  addDockWidget(Qt::RightDockWidgetArea, first(top), Qt::Horizontal);
  const bool beside = !bottom.isEmpty() && fit.split == Split::beside;
  if (beside) splitDockWidget(first(top), first(bottom), Qt::Horizontal);
  if (!right.isEmpty()) splitDockWidget(first(beside ? bottom : top), first(right), Qt::Horizontal);
  if (!bottom.isEmpty() && !beside) splitDockWidget(first(top), first(bottom), Qt::Vertical);
  addDockWidget(Qt::BottomDockWidgetArea, first(def.drawer), Qt::Horizontal);
  for (const QStringList& place : {def.left, leftBelow, top, bottom, right, def.drawer})
    for (qsizetype i = 1; i < place.size(); ++i) tabifyDockWidget(dockOf(place[i - 1]), dockOf(place[i]));
  // What the perspective does not show opens as a tab of the centre.
  QDockWidget* last = dockOf(top.back());
  for (const ViewDef& view : views()) {
    const QString id = QLatin1String(view.id);
    if (def.shown().contains(id)) {
      dockOf(id)->setVisible(drawerOpen || !def.drawer.contains(id));
    } else {
      tabifyDockWidget(last, dockOf(id));
      dockOf(id)->hide();
    }
  }
  for (const QStringList& place : {def.left, leftBelow, top, bottom, right, def.drawer})
    if (!place.isEmpty() && !first(place)->isHidden()) first(place)->raise();
  const auto scaled = [scale](int pixels) { return static_cast<int>(pixels * scale); };
  // In a window that is too small for large letters the views' least sizes decide.
  const auto side = [&](int pixels) { return scaled(sideWidth(pixels, width() / scale)); };
  const int leftWidth = side(def.leftWidth), rightWidth = right.isEmpty() ? 0 : side(def.rightWidth), centre = std::max(2, width() - leftWidth - rightWidth);
  const int drawer = drawerOpen ? scaled(kDrawerHeight) : 0, rest = std::max(100, height() - drawer - kChrome);
  QList<QDockWidget*> columns{first(def.left), first(top)};
  QList<int> widths{leftWidth, beside ? centre / 2 : centre};
  if (beside) columns << first(bottom), widths << centre / 2;
  if (!right.isEmpty()) columns << first(right), widths << rightWidth;
  resizeDocks(columns, widths, Qt::Horizontal);
  if (drawer > 0) resizeDocks({first(def.drawer)}, {drawer}, Qt::Vertical);
  if (!bottom.isEmpty() && !beside) {
    const int upper = std::max(rest * def.topPercent / 100, std::min(scaled(def.topAtLeast), rest - scaled(kLeastBottom)));
    resizeDocks({first(top), first(bottom)}, {upper, rest - upper}, Qt::Vertical);
  }
  if (!def.leftBelow.isEmpty()) resizeDocks({first(def.left), first(def.leftBelow)}, {rest / 2, rest / 2}, Qt::Vertical);
  // The tab bars of groups that are no more would stay painted.
  for (QTabBar* bar : findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) {
    if (bar->count() == 0) bar->hide();
  }
  m_titles->update();
}

QString MainWindow::perspectiveKey(const QString& id) const {
  const QString split = m_fit.split == Split::over ? QString() : m_fit.split == Split::beside ? QStringLiteral("-beside") : QStringLiteral("-tabs");
  return QStringLiteral("perspectives/%1/%2%3%4").arg(id, m_fit.wide ? QStringLiteral("wide") : QStringLiteral("narrow"), split, m_isBig ? QStringLiteral("-big") : QString());
}

FrameFit MainWindow::frameFit() const {
  const int lessons = m_lessonBar && !m_lessonBar->isHidden() ? m_lessonBar->sizeHint().width() : 0;
  const double scale = widgets::typeScale();
  return app::frameFit(defOf(m_perspective), width() / scale, height() / scale, lessons / scale);
}

void MainWindow::setPerspective(const QString& id) {
  // On the start page it leads back to the model.
  const bool wasStart = m_isStart;
  if (id == m_perspective) return showStart(wasStart && !m_hub.model());
  savePerspective();
  m_perspective = QLatin1String(defOf(id).id);
  m_actions.get(QStringLiteral("view.perspective.") + m_perspective)->setChecked(true);
  const auto& all = perspectives();
  for (size_t i = 0; i < all.size(); ++i)
    if (m_perspective == QLatin1String(all[i].id)) m_perspectiveTabs->setCurrentIndex(static_cast<int>(i));
  if (!wasStart) return loadPerspective(m_perspective);
  showStart(!m_hub.model());
}

void MainWindow::loadPerspective(const QString& id) {
  m_fit = frameFit();
  arrange(id);
  const QByteArray state = QSettings().value(perspectiveKey(id)).toByteArray();
  if (!state.isEmpty()) restoreState(state, kLayoutVersion);
  // Whether anything is played or taught, no layout knows.
  m_playbackBar->setVisible(!m_isStart && m_hub.playback().isOpen());
  m_lessonBar->setVisible(m_actions.get(QStringLiteral("help.lessons"))->isChecked());
}

void MainWindow::savePerspective() {
  if (!m_perspective.isEmpty() && !m_isStart) QSettings().setValue(perspectiveKey(m_perspective), saveState(kLayoutVersion));
}

void MainWindow::toggleDrawer() {
  QList<QDockWidget*> docks;
  for (const QString& view : defOf(m_perspective).drawer) docks << dockOf(view);
  const auto open = std::find_if(docks.begin(), docks.end(), [](const QDockWidget* dock) { return !dock->isHidden() && !dock->isFloating(); });
  if (open != docks.end()) {
    // Of the tab in front; those behind it have the height that they had there.
    for (QDockWidget* dock : docks)
      if (!dock->isFloating() && !dock->visibleRegion().isEmpty()) m_drawerHeight = dock->height();
    for (QDockWidget* dock : docks) dock->hide();
    return;
  }
  for (QDockWidget* dock : docks) dock->show();
  docks.front()->raise();
  const double scale = widgets::typeScale();
  const int high = m_drawerHeight > 0 ? m_drawerHeight : static_cast<int>(scale * (height() < kLow * scale ? kLowDrawerHeight : kDrawerHeight));
  // A drawer that was never open has no size yet, and would get what its views like best, whatever it is resized to: nothing higher is offered to it for once.
  for (QDockWidget* dock : docks) dock->setMaximumHeight(high);
  layout()->activate();
  for (QDockWidget* dock : docks) dock->setMaximumHeight(QWIDGETSIZE_MAX);
  resizeDocks({docks.front()}, {high}, Qt::Vertical);
}

void MainWindow::raiseView(const char* view) {
  if (m_isStart) return;
  QDockWidget* dock = dockOf(QLatin1String(view));
  if (dock->isHidden() && defOf(m_perspective).drawer.contains(QLatin1String(view))) toggleDrawer();
  dock->show();
  dock->raise();
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  placeBanner();
  if (m_isStart || m_perspective.isEmpty() || frameFit() == m_fit) return;
  savePerspective();
  loadPerspective(m_perspective);
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_banner && (event->type() == QEvent::Show || event->type() == QEvent::LayoutRequest)) placeBanner();
  // A dock was raised, whose lower edge would cover a message of two lines. Not at once: Qt brings its tab to the front only while it is the topmost.
  if (watched != m_banner && event->type() == QEvent::ZOrderChange) QMetaObject::invokeMethod(m_banner, &QWidget::raise, Qt::QueuedConnection);
  return QMainWindow::eventFilter(watched, event);
}

void MainWindow::placeBanner() {
  // Over the status bar's place, which is as high as one line of a message: what is longer grows upwards. The badges at the right stay in sight.
  int right = width();
  for (const QWidget* badge : std::initializer_list<QWidget*>{m_busy, m_device, m_workspaceLabel})
    if (badge && badge->isVisible()) right = std::min(right, badge->mapTo(this, QPoint()).x());
  int room = std::max(right - kBannerMargin, width() / 2);
  const auto heightIn = [this](int pixels) { return m_banner->hasHeightForWidth() ? m_banner->heightForWidth(pixels) : m_banner->sizeHint().height(); };
  if (heightIn(width()) < heightIn(room)) room = width();  // a badge less is better than a line more
  const int tall = heightIn(room);
  m_banner->setGeometry(0, height() - tall, room, tall);
  m_banner->raise();
}

QList<QWidget*> MainWindow::tabOrder() {
  // Header and run bar, the left panel, the centre with what is right of it, the drawer, and what lies over the lower edge.
  enum Band { header, bar, left, centre, drawer, edge };
  std::map<Band, std::vector<widgets::TabStops>> bands;
  const auto bandOf = [this](const QWidget* part) {
    if (part == menuBar()) return header;
    if (part == m_runBar || part == m_playbackBar) return bar;
    if (part == statusBar() || part == m_banner) return edge;
    const auto* dock = qobject_cast<const QDockWidget*>(part);
    if (!dock && qobject_cast<const QTabBar*>(part)) {
      // The tabs of docks that share a place belong to the one that is in sight below them.
      int nearest = 0;
      for (const auto* other : findChildren<QDockWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
        const int below = std::abs(other->y() - part->geometry().bottom()) + std::abs(other->x() - part->x());
        if (other->isFloating() || other->visibleRegion().isEmpty() || (dock && below >= nearest)) continue;
        dock = other;
        nearest = below;
      }
    }
    const auto area = dock ? dockWidgetArea(const_cast<QDockWidget*>(dock)) : Qt::RightDockWidgetArea;
    return area == Qt::LeftDockWidgetArea ? left : area == Qt::BottomDockWidgetArea ? drawer : centre;
  };
  for (QObject* child : children()) {
    auto* part = qobject_cast<QWidget*>(child);
    if (!part || part->isWindow() || (qobject_cast<QDockWidget*>(part) && part->visibleRegion().isEmpty())) continue;
    if (widgets::TabStops stops = widgets::tabStops(*part); !stops.stops.isEmpty()) bands[bandOf(part)].push_back(std::move(stops));
  }
  QList<QWidget*> order;
  for (auto& [band, parts] : bands) widgets::readInOrder(std::move(parts), order);
  return order;
}

bool MainWindow::focusNextPrevChild(bool next) {
  QWidget* stop = widgets::nextStop(tabOrder(), focusWidget(), next);
  if (!stop) return QMainWindow::focusNextPrevChild(next);
  stop->setFocus(next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
  return true;
}

QString MainWindow::viewUnderPointer() const {
  for (QWidget* w = QApplication::widgetAt(QCursor::pos()); w; w = w->parentWidget())
    if (auto* dock = qobject_cast<QDockWidget*>(w)) return dock->windowTitle();
  return {};
}

}  // namespace tw::app
