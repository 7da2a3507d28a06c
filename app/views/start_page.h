// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/views/view.h"

class QCheckBox;
class QVBoxLayout;

namespace tw::app {

/// What the window shows before a model is open: bundled networks, recent files, open.
class StartPage : public QWidget {
  Q_OBJECT
 public:
  explicit StartPage(Services& services, QWidget* parent = nullptr);
  void setRecent(const QStringList& files);

 Q_SIGNALS:
  void zooChosen(const QString& name, bool tiny);
  void fileChosen(const QString& path);

 private:
  QWidget* card(const QString& name, const QString& summary);
  QCheckBox* m_tiny;
  QWidget* m_recentHost;
  QVBoxLayout* m_recent;
};

}  // namespace tw::app
