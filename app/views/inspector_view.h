// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include "app/services/mark_service.h"
#include "app/views/view.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;

namespace tw::widgets {
class PropertyTree;
}

namespace tw::app {

/// All that is known of what is selected, and the user's note and tags on it.
class InspectorView : public QWidget {
  Q_OBJECT
 public:
  explicit InspectorView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new InspectorView(services, parent); }

 private:
  void showSelection();
  void showProperties();
  void showMark();
  void storeMark();
  MarkService::Mark written() const;
  QString noun() const;
  void addModel();
  void addNode();
  void addTask();
  void addSession();
  void addTrial();
  Services& m_services;
  std::vector<Noun> m_nouns;
  QComboBox* m_about;
  widgets::PropertyTree* m_properties;
  QPlainTextEdit* m_note;
  QLineEdit* m_tags;
  QTimer m_store;
  bool m_quiet = false, m_edited = false;
};

}  // namespace tw::app
