// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLayout>
#include <memory>
#include <vector>

namespace tw::widgets {

/// Items in a row, at the size they like, going on in the next row where the width ends: bars of buttons in views that may be narrow. Rows are as high as their
/// highest item, which the others are centred on.
class FlowLayout : public QLayout {
 public:
  explicit FlowLayout(QWidget* parent);

  void addItem(QLayoutItem* item) override;
  int count() const override { return static_cast<int>(m_items.size()); }
  QLayoutItem* itemAt(int index) const override;
  QLayoutItem* takeAt(int index) override;
  Qt::Orientations expandingDirections() const override { return {}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize sizeHint() const override;     ///< all in one row
  QSize minimumSize() const override;  ///< the widest item alone
  void setGeometry(const QRect& rect) override;

 private:
  std::vector<QLayoutItem*> shown() const;
  int gap() const;
  /// Lays out into `rect`, moving the items if `move`; the height that takes.
  int arrange(const QRect& rect, bool move) const;

  std::vector<std::unique_ptr<QLayoutItem>> m_items;
};

}  // namespace tw::widgets
