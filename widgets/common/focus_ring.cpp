// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/focus_ring.h"

#include <QApplication>
#include <QFocusEvent>
#include <QPainter>

#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {
constexpr int kThick = 2;

/// Over all of its parent, out of the way of the mouse.
class Frame : public QWidget {
 public:
  explicit Frame(QWidget* parent) : QWidget(parent) {
    setObjectName(kFocusRing);
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAttribute(Qt::WA_NoSystemBackground);
    setFocusPolicy(Qt::NoFocus);
    parent->installEventFilter(this);
    cover();
  }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (watched == parent() && event->type() == QEvent::Resize) cover();
    return false;
  }
  void paintEvent(QPaintEvent*) override {
    QPainter p(this);
    p.setPen(QPen(themeOf(this).accent, kThick, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
    p.drawRect(rect().adjusted(kThick / 2, kThick / 2, -kThick / 2, -kThick / 2));
  }

 private:
  void cover() {
    setGeometry(parentWidget()->rect());
    raise();
  }
};

}  // namespace

void hideFocusRing(const QWidget& within) {
  for (QWidget* ring : within.findChildren<QWidget*>(kFocusRing)) ring->hide();
}

FocusRing::FocusRing(QObject* parent) : QObject(parent) { qApp->installEventFilter(this); }

bool FocusRing::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride) m_byKey = true;
  if (event->type() == QEvent::MouseButtonPress) m_byKey = false;
  if ((event->type() != QEvent::FocusIn && event->type() != QEvent::FocusOut) || !watched->isWidgetType()) return false;
  auto* widget = static_cast<QWidget*>(watched);
  const bool framed = m_frame && m_frame->parentWidget() == widget;
  if (event->type() == QEvent::FocusOut) {
    if (framed) m_frame->hide();
    return false;
  }
  const Qt::FocusReason reason = static_cast<QFocusEvent*>(event)->reason();
  if (m_byKey && (reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason || reason == Qt::ShortcutFocusReason)) {
    if (!framed) {
      drop();
      m_frame = new Frame(widget);
    }
    m_frame->show();
    m_frame->raise();
  } else if (reason == Qt::ActiveWindowFocusReason || reason == Qt::PopupFocusReason || reason == Qt::MenuBarFocusReason) {
    if (framed) m_frame->show();  // it comes back to where it was
  } else {
    drop();
  }
  return false;
}

void FocusRing::drop() {
  if (!m_frame) return;
  // Focus moves while Qt goes through all widgets, as for another style, and each of them has to be there then.
  m_frame->hide();
  m_frame->deleteLater();
  m_frame = nullptr;
}

}  // namespace tw::widgets
