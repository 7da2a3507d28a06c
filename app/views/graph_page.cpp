// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/graph_page.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/explain_service.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/format.h"
#include "widgets/graph/graph_view.h"

namespace tw::app {

GraphPage::GraphPage(Services& services, QWidget* parent) : QWidget(parent), m_services(services), m_view(new widgets::GraphView(this)) {
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(6, 3, 6, 0);
  m_shown = new QComboBox(this);
  m_shown->setObjectName(QStringLiteral("combo.graph.shown"));
  m_shown->setAccessibleName(tr("Which graph is shown"));
  m_shown->addItems({tr("Fused groups"), tr("Optimised graph"), tr("As imported")});
  m_search = new QLineEdit(this);
  m_search->setObjectName(QStringLiteral("edit.graph.search"));
  m_search->setPlaceholderText(tr("Search name, operator, shape, attribute"));
  m_search->setAccessibleName(tr("Search in the graph"));
  m_search->setClearButtonEnabled(true);
  m_matches = new QLabel(this);
  m_zoom = new QLabel(this);
  m_zoom->setMinimumWidth(44);
  m_zoom->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  m_caption = new QLabel(this);
  m_caption->setTextFormat(Qt::PlainText);
  m_caption->setForegroundRole(QPalette::PlaceholderText);
  m_caption->setContentsMargins(8, 0, 8, 2);
  bar->addWidget(m_shown);
  bar->addWidget(m_search, 1);
  bar->addWidget(m_matches);
  for (const char* name : {"graph.zoomOut", "graph.zoomIn", "graph.fit"}) {
    auto* button = new QToolButton(this);
    button->setDefaultAction(services.actions.get(QLatin1String(name)));
    button->setAccessibleName(button->defaultAction()->toolTip());
    button->setAutoRaise(true);
    bar->addWidget(button);
  }
  bar->addWidget(m_zoom);
  m_progress = new QWidget(this);
  auto* working = new QHBoxLayout(m_progress);
  working->setContentsMargins(8, 0, 8, 0);
  auto* busy = new QProgressBar(m_progress);
  busy->setRange(0, 0);
  busy->setAccessibleName(tr("Laying out the graph"));
  auto* stop = new QToolButton(m_progress);
  stop->setText(tr("Cancel layout"));
  stop->setObjectName(QStringLiteral("button.graph.cancel"));
  stop->setAccessibleName(stop->text());
  working->addWidget(busy, 1);
  working->addWidget(stop);
  m_progress->hide();
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(2);
  box->addLayout(bar);
  box->addWidget(m_caption);
  box->addWidget(m_progress);
  m_again = new QAction(tr("Lay out the graph"), this);
  connect(m_again, &QAction::triggered, this, &GraphPage::layOut);
  m_state = new widgets::EmptyState(m_view, this);
  box->addWidget(m_state, 1);

  connect(stop, &QToolButton::clicked, this, [this] {
    cancelLayout();
    m_state->showEmpty(tr("The layout was cancelled"), tr("Tasks, trials and code are there without it."), m_again);
  });
  connect(m_shown, &QComboBox::currentIndexChanged, this, &GraphPage::layOut);
  connect(m_search, &QLineEdit::textChanged, this, [this] { search(false); });
  connect(m_search, &QLineEdit::returnPressed, this, [this] { search(true); });
  connect(m_view, &widgets::GraphView::zoomChanged, this, [this](double zoom) { m_zoom->setText(QStringLiteral("%1 %").arg(qRound(zoom * 100))); });
  connect(&services.hub, &SelectionHub::modelChanged, this, &GraphPage::layOut);
  connect(&services.hub, &SelectionHub::taskChanged, this, [this] {
    m_view->setCurrentTask(m_services.hub.task());
    const OpenModelPtr& model = m_services.hub.model();
    if (!model || model->taskOfNode(m_services.hub.node()) != m_services.hub.task()) m_view->revealTask(m_services.hub.task());
  });
  connect(&services.hub, &SelectionHub::nodeChanged, this, &GraphPage::showNode);
  connect(&services.hub, &SelectionHub::placeChanged, this, &GraphPage::showLinked);
  connect(&services.explain, &ExplainService::explained, this, &GraphPage::showLinked);
  connect(m_view, &widgets::GraphView::taskActivated, this, [this](int task) { m_services.hub.setTask(task); });
  connect(m_view, &widgets::GraphView::nodeActivated, this, [this](int sceneNode) {
    if (m_shown->currentIndex() != Imported) m_services.hub.setNode(sceneNode < 0 ? -1 : m_view->scene()->nodes[static_cast<size_t>(sceneNode)].node);
  });
}

void GraphPage::layOut() {
  const OpenModelPtr model = m_services.hub.model();
  cancelLayout();
  m_view->setScene(nullptr);
  m_found.clear();
  m_matches->clear();
  if (!model) return;
  const int shown = m_shown->currentIndex();
  const graph::Graph& graph = shown == Imported ? model->network.imported : model->network.optimized;
  m_caption->setText(tr("%1: %2 operators, %3 parameters, %4 kernels, %5 tasks")
                         .arg(model->name, widgets::countText(static_cast<qint64>(graph.nodes.size())), widgets::countText(graph.parameter_count()),
                              widgets::countText(static_cast<qint64>(model->network.partition.groups.size())),
                              widgets::countText(static_cast<qint64>(model->tasks.size()))));
  if (graph.nodes.empty()) {
    m_caption->setText(tr("%1: %n task(s)", nullptr, static_cast<int>(model->tasks.size())).arg(model->name));
    m_state->showEmpty(tr("No graph"), tr("This model stands for a log of another program, which names tasks and trials but not the network around them."));
    return Q_EMIT laidOut();
  }
  m_state->showContent();
  widgets::GraphGrouping grouping;
  if (shown == Fused) {
    grouping.groupOf = model->groupOfNodes;
    const auto& groups = model->network.partition.groups;
    for (size_t g = 0; g < groups.size(); ++g) {
      const int task = model->taskOfGroup[g];
      grouping.groups.push_back(
          {task < 0 ? QString::fromStdString(groups[g].name) : QStringLiteral("T%1 · %2").arg(task + 1).arg(QString::fromStdString(groups[g].name)), task});
    }
  }
  m_layingOut = true;
  m_progress->show();
  using Scene = std::shared_ptr<const widgets::GraphScene>;
  const auto work = [model, shown, grouping, font = font()](StopToken stop) -> Expected<Scene> {
    const graph::Graph& g = shown == Imported ? model->network.imported : model->network.optimized;
    Scene scene = widgets::buildGraphScene(g, grouping, font, stop);
    if (!scene) return Error(ErrorCode::cancelled, "The layout was cancelled");
    return scene;
  };
  m_job.replace(m_services.jobs.run<Scene>(Lane::work, this, work, [this](Expected<Scene> scene) {
    m_layingOut = false;
    m_progress->hide();
    if (!scene) return;
    m_view->setScene(*scene);
    m_view->setCurrentTask(m_services.hub.task());
    showNode();
    showLinked();
    search(false);
    Q_EMIT laidOut();
  }));
}

void GraphPage::cancelLayout() {
  m_job.stop();
  m_layingOut = false;
  m_progress->hide();
}

void GraphPage::showNode() {
  if (m_view->scene() && m_shown->currentIndex() != Imported)
    m_view->setSelectedNode(m_services.hub.node() < 0 ? m_view->selectedNode() : m_view->scene()->sceneNodeOf(m_services.hub.node()));
}

void GraphPage::showLinked() {
  if (!m_view->scene()) return;
  std::vector<int> linked;
  if (m_shown->currentIndex() != Imported) {
    for (const int node : m_services.explain.nodesOf(m_services.hub.place()))
      if (const int n = m_view->scene()->sceneNodeOf(node); n >= 0) linked.push_back(n);
  }
  m_view->setLinkedNodes(linked);
}

void GraphPage::startSearch() {
  m_search->setFocus(Qt::ShortcutFocusReason);
  m_search->selectAll();
}

void GraphPage::search(bool next) {
  if (!m_view->scene()) return;
  if (!next) {
    m_found = m_view->scene()->find(m_search->text());
    m_at = -1;
    m_view->setMatches(m_found);
  } else if (!m_found.empty()) {
    m_at = (m_at + 1) % static_cast<int>(m_found.size());
    const int sceneNode = m_found[static_cast<size_t>(m_at)];
    m_view->setSelectedNode(sceneNode);
    m_view->revealNode(sceneNode);
    if (m_shown->currentIndex() != Imported) m_services.hub.setNode(m_view->scene()->nodes[static_cast<size_t>(sceneNode)].node);
  }
  if (m_search->text().trimmed().isEmpty())
    m_matches->clear();
  else if (m_found.empty())
    m_matches->setText(tr("not found"));
  else
    m_matches->setText(m_at < 0 ? tr("%n match(es)", nullptr, static_cast<int>(m_found.size())) : tr("%1 of %2").arg(m_at + 1).arg(m_found.size()));
}

}  // namespace tw::app
