// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QWidget>
#include <memory>
#include <optional>

#include "engine/simulate/loop_play.h"
#include "widgets/common/tabular.h"

namespace tw::widgets {

/// Where an array's elements stand in its picture: rows of its last dimension below each other, in panels beside each other where that would be long and thin.
class ArrayGrid {
 public:
  explicit ArrayGrid(const std::vector<int64_t>& shape);
  QSize size() const { return {m_width, m_height}; }
  /// Of one element; several share a point in the picture of a large array.
  QPoint at(int64_t element) const;

 private:
  int64_t m_columns = 1, m_rowsOfPanel = 1, m_shrink = 1;
  int m_width = 1, m_height = 1;
};

/// A moment of a kernel's loops: the loops with their turns, its arrays as pictures (what is touched now, was lately, was ever, lies in which cache), the caches'
/// lines by array, and how often each array was found where.
class LoopScene : public QWidget, public Tabular {
  Q_OBJECT
 public:
  explicit LoopScene(QWidget* parent = nullptr);
  void setPlay(std::shared_ptr<const simulate::LoopPlay> play, const QString& title);
  const std::shared_ptr<const simulate::LoopPlay>& play() const { return m_play; }
  /// Shows the moment after so many steps.
  void seek(size_t steps);
  size_t at() const { return m_cursor ? m_cursor->at() : 0; }
  QString summary() const;
  /// Arrays with their counts so far.
  Table table() const override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  /// A line of the program: a loop or a statement.
  struct Line {
    int loop = -1, statement = -1;
    int level = 0;
    QString text;
  };
  void makePictures();
  void paintProgram(QPainter& p, const QRect& place);
  void paintCounts(QPainter& p, const QRect& place);
  void paintArrays(QPainter& p, const QRect& place);
  void paintCaches(QPainter& p, const QRect& place);
  int paintLegend(QPainter& p, const QRect& place);
  QColor colourOf(int array) const;
  QString nameOf(int array) const;

  std::shared_ptr<const simulate::LoopPlay> m_play;
  std::optional<simulate::LoopCursor> m_cursor;
  QString m_title;
  std::vector<Line> m_lines;
  std::vector<ArrayGrid> m_grids;
  std::vector<QImage> m_arrays, m_caches;
  std::vector<int64_t> m_held;  ///< lines in each cache
  bool m_stale = true;
};

}  // namespace tw::widgets
