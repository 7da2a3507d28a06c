// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/dialog.h"

namespace tw::app {

class ManualView;

/// The manual in a window of its own.
class ManualWindow : public widgets::Dialog {
  Q_OBJECT
 public:
  explicit ManualWindow(QWidget* parent = nullptr);
  /// What the manual says of a view.
  void showView(const QString& title);
  /// The glossary, at one of its words.
  void showWord(const QString& word);

 private:
  ManualView* m_view;
};

}  // namespace tw::app
