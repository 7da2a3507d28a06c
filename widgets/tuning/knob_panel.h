// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <memory>
#include <vector>

#include "engine/space/config_space.h"

class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QSlider;
class QToolButton;

namespace tw::widgets {

class ErrorLabel;
class LatticeView;

/// The knobs of a config space, each with its candidates as a list and a slider; together they name one point by its index.
class KnobPanel : public QWidget {
  Q_OBJECT
 public:
  explicit KnobPanel(QWidget* parent = nullptr);
  /// Null: the task has no space.
  void setSpace(std::shared_ptr<const space::ConfigSpace> space, const QString& name);
  void setIndex(qint64 index);
  qint64 index() const { return m_index; }
  /// Why the shown point cannot be built; empty if it can.
  void setReason(const QString& reason);

 Q_SIGNALS:
  void indexEdited(qint64 index);

 private:
  struct Row {
    QComboBox* combo;
    QSlider* slider;
    LatticeView* lattice;  ///< of splits into three and more, else null
  };
  void rebuild();
  void showPositions();
  void edited(size_t knob, int position);
  void goTo(qint64 index);

  std::shared_ptr<const space::ConfigSpace> m_space;
  QLabel* m_title;
  ErrorLabel* m_reason;
  QLineEdit* m_indexEdit;
  QToolButton *m_random, *m_previous, *m_next;
  QWidget* m_rowsHost = nullptr;
  QGridLayout* m_grid = nullptr;
  std::vector<Row> m_rows;
  qint64 m_index = -1;
  bool m_quiet = false;
};

}  // namespace tw::widgets
