// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTreeWidget>

namespace tw::widgets {

/// Names and values in sections; Ctrl+C copies the current line.
class PropertyTree : public QTreeWidget {
  Q_OBJECT
 public:
  explicit PropertyTree(QWidget* parent = nullptr);
  QTreeWidgetItem* section(const QString& title);
  /// `help` is the tool tip; the value itself if it is empty.
  void line(QTreeWidgetItem* parent, const QString& name, const QString& value, const QString& help = {});
  /// One sentence in place of everything.
  void showMessage(const QString& text);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
};

}  // namespace tw::widgets
