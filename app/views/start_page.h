// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/views/view.h"

class QCheckBox;
class QPushButton;
class QVBoxLayout;

namespace tw::app {

/// What the window shows before a model is open, in place of its frame: what was begun and recent files, five ways to begin, bundled networks.
class StartPage : public QWidget {
  Q_OBJECT
 public:
  explicit StartPage(Services& services, QWidget* parent = nullptr);
  void setRecent(const QStringList& files);

 Q_SIGNALS:
  void zooChosen(const QString& name, bool tiny);
  void fileChosen(const QString& path);
  /// To the model that is open.
  void backAsked();
  /// A race of tuners on a small bundled network.
  void compareAsked();
  /// The view Campaign, from which those that come along are opened.
  void campaignsAsked();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  /// What this machine knows of the bundled networks by now.
  void showNotes();
  /// Named `card.<id>`.
  QPushButton* card(const QString& id, const QString& title, const QString& summary);
  QPushButton *m_back, *m_resume;
  QCheckBox* m_tiny;
  QWidget* m_recentHost;
  QVBoxLayout* m_recent;
};

}  // namespace tw::app
