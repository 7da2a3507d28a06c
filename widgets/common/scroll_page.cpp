// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/scroll_page.h"

#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QBoxLayout>
#include <QChildEvent>
#include <QComboBox>
#include <QScrollArea>
#include <QScrollBar>

namespace tw::widgets {
namespace {

/// Inputs that the pointer comes by while a page is scrolled keep their values: they take the wheel only where they have the keys.
class WheelScrolls : public QObject {
 public:
  using QObject::QObject;
  void watch(QObject* object) {
    if (!object->isWidgetType()) return;
    object->installEventFilter(this);
    for (QObject* child : object->children()) watch(child);
  }
  bool eventFilter(QObject* object, QEvent* event) override {
    if (event->type() == QEvent::ChildAdded) watch(static_cast<QChildEvent*>(event)->child());
    if (event->type() != QEvent::Wheel && event->type() != QEvent::Polish) return false;
    auto* input = qobject_cast<QWidget*>(object);
    const bool changes = qobject_cast<QComboBox*>(input) || qobject_cast<QAbstractSpinBox*>(input) || (qobject_cast<QAbstractSlider*>(input) && !qobject_cast<QScrollBar*>(input));
    if (!changes) return false;
    if (event->type() == QEvent::Polish) {
      if (input->focusPolicy() == Qt::WheelFocus) input->setFocusPolicy(Qt::StrongFocus);  // else the wheel itself would give them the keys
      return false;
    }
    if (input->hasFocus()) return false;
    event->ignore();  // it goes on to the page
    return true;
  }
};

}  // namespace

QWidget* addScrollPage(QBoxLayout* box) {
  auto* scroll = new QScrollArea(box->parentWidget());
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  auto* page = new QWidget(scroll);
  scroll->setWidget(page);
  (new WheelScrolls(scroll))->watch(page);
  box->addWidget(scroll, 1);
  return page;
}

}  // namespace tw::widgets
