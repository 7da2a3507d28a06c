// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <memory>

#include "widgets/ir/pass_scene.h"

class QLabel;
class QSplitter;

namespace tw::widgets {
class GraphView;
}

namespace tw::app {

/// What a pass found and what it made of it, side by side or below each other as there is room, with what changed lit: by a colour, a pattern and a sign. A
/// pass that changed nothing is one picture.
class PassPicture : public QWidget {
  Q_OBJECT
 public:
  explicit PassPicture(QWidget* parent = nullptr);
  /// Null: nothing, and why.
  void setScene(std::shared_ptr<const widgets::PassScene> scene, const QString& why = {});
  const widgets::PassScene* scene() const { return m_scene.get(); }
  /// Selects the box that a line of the text after the pass, or before it, lies in, and the same one on the other side.
  void showLine(bool after, int line);

 Q_SIGNALS:
  /// A box was chosen that begins with this line of the text after the pass, or before it; `lit`: it is not the same on both sides.
  void lineChosen(bool after, int line, bool lit);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Side {
    QWidget* whole = nullptr;
    QLabel* title = nullptr;
    widgets::GraphView* view = nullptr;
  };
  Side makeSide(bool after);
  const widgets::PassSide& sideOf(bool after) const { return after ? m_scene->after : m_scene->before; }
  void choose(bool after, int box);
  QSplitter* m_split;
  Side m_before, m_after;
  std::shared_ptr<const widgets::PassScene> m_scene;
};

}  // namespace tw::app
