// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/pass_picture.h"

#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>

#include "widgets/graph/graph_view.h"

namespace tw::app {
namespace {
constexpr int kSideBySideWidth = 520;  ///< from here on both stand beside each other
constexpr double kReadable = 0.6;      ///< zoom; what does not fit is shown with it at most
}  // namespace

PassPicture::PassPicture(QWidget* parent) : QWidget(parent), m_split(new QSplitter(this)) {
  m_split->setChildrenCollapsible(false);
  m_before = makeSide(false);
  m_after = makeSide(true);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_split);
  setScene(nullptr);
}

PassPicture::Side PassPicture::makeSide(bool after) {
  Side side;
  side.whole = new QWidget(m_split);
  side.title = new QLabel(side.whole);
  side.title->setObjectName(after ? QStringLiteral("label.passes.after") : QStringLiteral("label.passes.before"));
  side.title->setTextFormat(Qt::PlainText);
  side.title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  side.title->setContentsMargins(4, 0, 4, 0);
  side.view = new widgets::GraphView(side.whole);
  side.view->setObjectName(after ? QStringLiteral("view.passes.after") : QStringLiteral("view.passes.before"));
  side.view->setAccessibleName(after ? tr("Picture after the pass") : tr("Picture before the pass"));
  side.view->setMinimumSize(120, 60);
  auto* box = new QVBoxLayout(side.whole);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(1);
  box->addWidget(side.title);
  box->addWidget(side.view, 1);
  m_split->addWidget(side.whole);
  connect(side.view, &widgets::GraphView::nodeActivated, this, [this, after](int node) {
    if (!m_scene || node < 0) return;
    const int at = sideOf(after).scene->nodes[static_cast<size_t>(node)].node;
    if (at < 0) return;  // an input or output of the graph
    choose(after, at);
    Q_EMIT lineChosen(after, sideOf(after).lines[static_cast<size_t>(at)],
                      sideOf(after).overlay.parts[static_cast<size_t>(at)].change != widgets::GraphOverlay::Change::same);
  });
  return side;
}

void PassPicture::setScene(std::shared_ptr<const widgets::PassScene> scene, const QString& why) {
  m_scene = std::move(scene);
  const bool changed = m_scene && m_scene->made + m_scene->removed + m_scene->changed > 0;
  m_before.whole->setVisible(changed);
  for (const bool after : {false, true}) {
    const Side& side = after ? m_after : m_before;
    side.view->setScene(m_scene ? sideOf(after).scene : nullptr);
    if (!m_scene) continue;
    side.view->setOverlay(sideOf(after).overlay);
    std::vector<int> lit;
    for (const int box : sideOf(after).lit()) lit.push_back(sideOf(after).scene->sceneNodeOf(box));
    side.view->setMatches(lit);
    // Of what is too large to be read as a whole, the first change is seen.
    if (!lit.empty() && side.view->zoom() <= kReadable) side.view->revealNode(lit.front());
  }
  if (!m_scene) return m_after.title->setText(why);
  m_before.title->setText(m_scene->removed > 0 ? tr("Before: %1 removed").arg(m_scene->removed) : tr("Before"));
  QStringList made;
  if (m_scene->made > 0) made << tr("%1 made").arg(m_scene->made);
  if (m_scene->changed > 0) made << tr("%1 changed").arg(m_scene->changed);
  m_after.title->setText(!changed ? tr("Nothing changed") : made.isEmpty() ? tr("After") : tr("After: %1").arg(made.join(QStringLiteral(", "))));
  for (const Side& side : {m_before, m_after}) side.title->setToolTip(side.title->text());
}

void PassPicture::choose(bool after, int box) {
  const auto select = [](const Side& side, const widgets::PassSide& data, int at) {
    const int node = at < 0 ? -1 : data.scene->sceneNodeOf(at);
    side.view->setSelectedNode(node);
    if (node >= 0) side.view->revealNode(node);
  };
  select(after ? m_after : m_before, sideOf(after), box);
  select(after ? m_before : m_after, sideOf(!after), box < 0 ? -1 : sideOf(after).other[static_cast<size_t>(box)]);
}

void PassPicture::showLine(bool after, int line) {
  if (m_scene) choose(after, sideOf(after).boxOfLine(line));
}

void PassPicture::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  m_split->setOrientation(width() < kSideBySideWidth ? Qt::Vertical : Qt::Horizontal);
}

}  // namespace tw::app
