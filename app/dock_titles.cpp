// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dock_titles.h"

#include <QCoreApplication>
#include <QDockWidget>
#include <QEvent>
#include <QHBoxLayout>
#include <QHoverEvent>
#include <QLabel>
#include <QMainWindow>
#include <QTabBar>
#include <QToolButton>
#include <algorithm>

namespace tw::app {
namespace {

const char* const kCanPin = "canPin";
const char* const kDockOf = "dockOf";

/// The bar of a dock that shares its place with no other; without height where a tab says the name.
class DockTitle : public QWidget {
 public:
  explicit DockTitle(QDockWidget* dock) : QWidget(dock) {
    m_name = new QLabel(dock->windowTitle(), this);
    m_name->setTextFormat(Qt::PlainText);
    QFont font = m_name->font();
    font.setBold(true);
    m_name->setFont(font);
    m_name->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_line = new QHBoxLayout(this);
    m_line->setContentsMargins(8, 1, 2, 1);
    m_line->addWidget(m_name, 1);
    QObject::connect(dock, &QDockWidget::windowTitleChanged, m_name, &QLabel::setText);
  }
  void addTools(QWidget* tools) { m_line->addWidget(tools); }
  void setTabbed(bool tabbed) {
    if (m_tabbed == tabbed) return;
    m_tabbed = tabbed;
    for (QWidget* part : findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) part->setVisible(!tabbed);
    m_line->setContentsMargins(tabbed ? QMargins() : QMargins(8, 1, 2, 1));
    updateGeometry();
  }
  QSize sizeHint() const override { return m_tabbed ? QSize(0, 0) : QWidget::sizeHint(); }
  QSize minimumSizeHint() const override { return m_tabbed ? QSize(0, 0) : QSize(60, QWidget::minimumSizeHint().height()); }

 private:
  QLabel* m_name;
  QHBoxLayout* m_line;
  bool m_tabbed = false;
};

/// A button of one character.
class Sign : public QToolButton {
 public:
  using QToolButton::QToolButton;
  QSize sizeHint() const override { return QSize(1, 1) * (fontMetrics().height() + 2); }
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void changeEvent(QEvent* event) override {
    QToolButton::changeEvent(event);
    if (event->type() != QEvent::FontChange) return;
    updateGeometry();
    if (parentWidget() != nullptr) parentWidget()->adjustSize();  // a tab does not lay its buttons out anew
  }
};

}  // namespace

void leaveSeparators(QMainWindow& window) {
  QHoverEvent leave(QEvent::HoverLeave, QPointF(), QPointF(), QPointF());
  QCoreApplication::sendEvent(&window, &leave);
}

DockTitles::DockTitles(QMainWindow* window) : QObject(window), m_window(window) {
  m_soon.setSingleShot(true);
  m_soon.setInterval(0);
  connect(&m_soon, &QTimer::timeout, this, &DockTitles::update);
  window->installEventFilter(this);
}

QWidget* DockTitles::makeTools(QDockWidget* dock, QWidget* parent) {
  auto* tools = new QWidget(parent);
  auto* line = new QHBoxLayout(tools);
  line->setContentsMargins(2, 0, 0, 0);
  line->setSpacing(0);
  const auto button = [&](const QString& sign, const QString& help, auto run) {
    auto* b = new Sign(tools);
    b->setText(sign);
    b->setAutoRaise(true);
    b->setFocusPolicy(Qt::NoFocus);
    b->setToolTip(help);
    b->setAccessibleName(tr("%1: %2", "a view and what a button does with it").arg(dock->windowTitle(), help));
    connect(b, &QToolButton::clicked, dock, run);
    line->addWidget(b);
  };
  if (dock->property(kCanPin).toBool())
    button(QString(QChar(0x274F)), tr("Open a second copy that keeps what is selected now"), [this, dock] { Q_EMIT pinAsked(dock); });
  button(QString(QChar(0x21F1)), tr("Take out of the window, or put back"), [this, dock] {
    leaveSeparators(*m_window);
    dock->setFloating(!dock->isFloating());
  });
  button(QString(QChar(0x2715)), tr("Close"), [dock] { dock->close(); });
  return tools;
}

void DockTitles::add(QDockWidget* dock, bool canPin) {
  dock->setProperty(kCanPin, canPin);
  auto* title = new DockTitle(dock);
  title->addTools(makeTools(dock, title));
  dock->setTitleBarWidget(title);
  for (const auto changed : {&QDockWidget::visibilityChanged, &QDockWidget::topLevelChanged})
    connect(dock, changed, this, [this] { m_soon.start(); });
  connect(dock, &QDockWidget::dockLocationChanged, this, [this] { m_soon.start(); });
  m_soon.start();
}

bool DockTitles::eventFilter(QObject* watched, QEvent* event) {
  // A tab bar that comes, or a layout that is made anew.
  if (event->type() == QEvent::LayoutRequest || event->type() == QEvent::Show || event->type() == QEvent::ChildAdded) m_soon.start();
  return QObject::eventFilter(watched, event);
}

void DockTitles::update() {
  for (QDockWidget* dock : m_window->findChildren<QDockWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
    auto* title = dynamic_cast<DockTitle*>(dock->titleBarWidget());
    if (!title) continue;
    const QList<QDockWidget*> others = m_window->tabifiedDockWidgets(dock);
    const bool tabbed = !dock->isFloating() && std::any_of(others.begin(), others.end(), [](const QDockWidget* other) { return !other->isHidden(); });
    title->setTabbed(tabbed);
  }
  for (QTabBar* bar : m_window->findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) updateTabs(bar);
}

void DockTitles::updateTabs(QTabBar* bar) {
  if (!bar->property(kDockOf).isValid()) {
    bar->setProperty(kDockOf, true);
    bar->setExpanding(false);
    bar->setDrawBase(false);
    bar->setElideMode(Qt::ElideRight);
    connect(bar, &QTabBar::currentChanged, this, [this] { m_soon.start(); });
  }
  // The buttons stand on the tab in front. The window keeps the dock of a tab in its data.
  for (int i = 0; i < bar->count(); ++i) {
    auto* dock = reinterpret_cast<QDockWidget*>(bar->tabData(i).value<quintptr>());
    QWidget* tools = bar->tabButton(i, QTabBar::RightSide);
    const bool right = tools && tools->property(kDockOf).value<quintptr>() == reinterpret_cast<quintptr>(dock);
    if (tools && (i != bar->currentIndex() || !right)) {
      bar->setTabButton(i, QTabBar::RightSide, nullptr);
      tools->deleteLater();
      tools = nullptr;
    }
    if (i != bar->currentIndex() || tools || !m_window->findChildren<QDockWidget*>(QString(), Qt::FindDirectChildrenOnly).contains(dock)) continue;
    tools = makeTools(dock, bar);
    tools->setProperty(kDockOf, QVariant::fromValue(reinterpret_cast<quintptr>(dock)));
    bar->setTabButton(i, QTabBar::RightSide, tools);
  }
}

}  // namespace tw::app
