// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/flow_layout.h"

#include <QStyle>
#include <QWidget>
#include <algorithm>

namespace tw::widgets {

FlowLayout::FlowLayout(QWidget* parent) : QLayout(parent) {}

void FlowLayout::addItem(QLayoutItem* item) { m_items.emplace_back(item); }

QLayoutItem* FlowLayout::itemAt(int index) const { return index >= 0 && index < count() ? m_items[static_cast<size_t>(index)].get() : nullptr; }

QLayoutItem* FlowLayout::takeAt(int index) {
  if (index < 0 || index >= count()) return nullptr;
  QLayoutItem* item = m_items[static_cast<size_t>(index)].release();
  m_items.erase(m_items.begin() + index);
  return item;
}

std::vector<QLayoutItem*> FlowLayout::shown() const {
  std::vector<QLayoutItem*> items;
  for (const auto& item : m_items)
    if (!item->isEmpty()) items.push_back(item.get());
  return items;
}

int FlowLayout::gap() const {
  if (spacing() >= 0) return spacing();
  const QWidget* widget = parentWidget();
  return widget ? std::max(0, widget->style()->pixelMetric(QStyle::PM_LayoutHorizontalSpacing, nullptr, widget)) : 0;
}

int FlowLayout::arrange(const QRect& rect, bool move) const {
  const QRect inside = rect.marginsRemoved(contentsMargins());
  const auto items = shown();
  int y = inside.y();
  for (size_t first = 0; first < items.size();) {
    int width = items[first]->sizeHint().width(), height = items[first]->sizeHint().height();
    size_t last = first + 1;
    for (; last < items.size(); ++last) {
      const QSize size = items[last]->sizeHint();
      if (width + gap() + size.width() > inside.width()) break;
      width += gap() + size.width();
      height = std::max(height, size.height());
    }
    int x = inside.x();
    for (size_t i = first; i < last; ++i) {
      const QSize size = items[i]->sizeHint().boundedTo({inside.width(), height});
      const QRect place(x, y + (height - size.height()) / 2, size.width(), size.height());
      if (move) items[i]->setGeometry(QStyle::visualRect(parentWidget() ? parentWidget()->layoutDirection() : Qt::LeftToRight, inside, place));
      x += size.width() + gap();
    }
    first = last;
    y += height + (first < items.size() ? gap() : 0);
  }
  const QMargins margins = contentsMargins();
  return y - inside.y() + margins.top() + margins.bottom();
}

int FlowLayout::heightForWidth(int width) const { return arrange({0, 0, width, 0}, false); }

QSize FlowLayout::sizeHint() const {
  QSize size(0, 0);
  const auto items = shown();
  for (const QLayoutItem* item : items) size = QSize(size.width() + item->sizeHint().width(), std::max(size.height(), item->sizeHint().height()));
  if (!items.empty()) size.rwidth() += gap() * static_cast<int>(items.size() - 1);
  return size.grownBy(contentsMargins());
}

QSize FlowLayout::minimumSize() const {
  QSize size(0, 0);
  for (const QLayoutItem* item : shown()) size = size.expandedTo(item->sizeHint());
  return size.grownBy(contentsMargins());
}

void FlowLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  arrange(rect, true);
}

}  // namespace tw::widgets
