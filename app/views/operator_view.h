// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include "app/services/engine.h"
#include "app/services/job_runner.h"
#include "app/views/view.h"

class QComboBox;
class QLabel;
class QToolButton;

namespace tw::widgets {
class CodeEditor;
class CodePane;
class ErrorLabel;
}  // namespace tw::widgets

namespace tw::app {

/// A computation of one's own and its template: the text left, the loop nest and the TIR of one point right, following what is typed; what is wrong stands
/// underlined in its place, and what is right can be tuned.
class OperatorView : public QWidget {
  Q_OBJECT
 public:
  explicit OperatorView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new OperatorView(services, parent); }

  widgets::CodeEditor* editor() const { return m_editor; }
  /// The text of a bundled operator, by its name.
  void startFrom(const QString& name);
  void setText(const QString& text, const QString& name, const QString& path);
  /// Of the text, as a file would have it.
  const QString& name() const { return m_name; }
  /// Asks, if there are changes that are not saved.
  bool mayReplace();
  /// Whether what stands in the editor was looked through and can be tuned, and its loop nest.
  bool isRight() const { return m_isRight; }
  QString loops() const;
  /// Writes the text to its file. False if it cannot be written, which is said.
  bool save(const QString& path);
  /// Saves the text where it was opened, or in the folder of a person's own operators, opens it as the network and starts a session.
  void tune();

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void fillExamples();
  /// A network that is such a text is edited here.
  void showModel();
  void edited();
  void check();
  void show(const Expected<Engine::CheckedText>& result);
  void showTitle();
  void chooseOpen();
  void chooseSave();
  /// Where a text without a file goes.
  QString ownPath() const;

  Services& m_services;
  widgets::CodeEditor* m_editor;
  widgets::CodePane *m_loops, *m_tir;
  widgets::ErrorLabel* m_problem;
  QLabel* m_state;
  QComboBox* m_examples;
  QToolButton *m_open, *m_save, *m_tune;
  QTimer m_later;
  LatestJob m_job;
  QString m_name, m_path;  ///< the file; empty: none yet
  QString m_waiting;       ///< file whose session is to start once it is open
  bool m_isRight = false;
};

}  // namespace tw::app
