// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/graph_page.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QProgressBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/build_service.h"
#include "app/services/explain_service.h"
#include "app/services/import_service.h"
#include "app/services/session_set.h"
#include "app/services/task_board.h"
#include "app/services/workspace.h"
#include "app/views/graph_changes.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/format.h"
#include "widgets/common/property_tree.h"
#include "widgets/graph/graph_view.h"
#include "widgets/graph/task_title.h"
#include "widgets/theme/theme.h"

namespace tw::app {
namespace {
constexpr int kOverlayMillis = 500, kChangeLines = 14;
constexpr int kStrip = 420;  ///< pixels: narrower, it is a strip beside other views
constexpr int kFromStart = -1, kInPlace = -2;  ///< in place of a block's number
}

GraphPage::GraphPage(Services& services, QWidget* parent) : QWidget(parent), m_services(services), m_view(new widgets::GraphView(this)) {
  auto* bar = m_firstRow = new QHBoxLayout;
  bar->setContentsMargins(6, 3, 6, 0);
  m_shown = new QComboBox(this);
  m_shown->setObjectName(QStringLiteral("combo.graph.shown"));
  m_shown->setAccessibleName(tr("Which graph is shown"));
  m_shown->addItems({tr("Fused groups"), tr("Blocks"), tr("Optimised graph"), tr("As imported")});
  m_overlay = new QComboBox(this);
  m_overlay->setObjectName(QStringLiteral("combo.graph.overlay"));
  m_overlay->setAccessibleName(tr("What the colours show"));
  m_overlay->setToolTip(m_overlay->accessibleName());
  m_overlay->addItems({tr("Tasks"), tr("Share of latency"), tr("What is tuned"), tr("Difference of sessions"), tr("Share as it ran")});
  const auto blockButton = [this](const char* name, const QString& text, const QString& help) {
    auto* button = new QToolButton(this);
    button->setObjectName(QStringLiteral("button.graph.") + QLatin1String(name));
    button->setText(text);
    button->setToolTip(help);
    button->setAccessibleName(help);
    button->hide();
    return button;
  };
  m_openAll = blockButton("openAll", tr("Open all"), tr("Show the insides of all blocks"));
  m_closeAll = blockButton("closeAll", tr("Close all"), tr("Show the outermost blocks as single boxes"));
  m_changes = blockButton("changes", tr("Changes"), tr("What reading the file and the passes simplified, computed and expanded"));
  m_changes->setCheckable(true);
  m_changed = new widgets::PropertyTree(this);
  m_changed->setObjectName(QStringLiteral("table.graph.changes"));
  m_changed->setAccessibleName(m_changes->toolTip());
  m_changed->setMaximumHeight(m_changed->fontMetrics().lineSpacing() * kChangeLines);
  m_changed->hide();
  m_search = new QLineEdit(this);
  m_search->setObjectName(QStringLiteral("edit.graph.search"));
  m_search->setPlaceholderText(tr("Search name, operator, shape, attribute"));
  m_search->setAccessibleName(tr("Search in the graph"));
  m_search->setClearButtonEnabled(true);
  m_matches = new QLabel(this);
  m_zoom = new QLabel(this);
  m_zoom->setMinimumWidth(44);
  m_zoom->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  m_caption = new widgets::ElidedLabel(this);
  m_caption->setForegroundRole(QPalette::PlaceholderText);
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
  m_searchRow = new QHBoxLayout;
  m_searchRow->setContentsMargins(6, 0, 6, 0);
  auto* second = m_secondRow = new QHBoxLayout;
  second->setContentsMargins(8, 0, 6, 2);
  second->addWidget(m_caption, 1);
  for (QWidget* w : std::initializer_list<QWidget*>{m_changes, m_openAll, m_closeAll, m_overlay}) second->addWidget(w);
  box->addLayout(second);
  box->addLayout(m_searchRow);
  box->addWidget(m_changed);
  box->addWidget(m_progress);
  m_again = new QAction(tr("Lay out the graph"), this);
  connect(m_again, &QAction::triggered, this, [this] { layOut(); });
  m_state = new widgets::EmptyState(m_view, this);
  box->addWidget(m_state, 1);

  connect(stop, &QToolButton::clicked, this, [this] {
    cancelLayout();
    m_state->showEmpty(tr("The layout was cancelled"), tr("Tasks, trials and code are there without it."), m_again);
  });
  m_refresh.setSingleShot(true);
  m_refresh.setInterval(kOverlayMillis);
  connect(m_shown, &QComboBox::currentIndexChanged, this, [this] { layOut(); });
  connect(m_overlay, &QComboBox::currentIndexChanged, this, &GraphPage::readSessions);
  connect(m_changes, &QToolButton::toggled, m_changed, &QWidget::setVisible);
  connect(m_openAll, &QToolButton::clicked, this, [this] { openBlocks(true); });
  connect(m_closeAll, &QToolButton::clicked, this, [this] { openBlocks(false); });
  connect(m_view, &widgets::GraphView::boxActivated, this, [this](int node) { toggleBlock(m_view->scene()->nodes[static_cast<size_t>(node)].block, true); });
  connect(m_view, &widgets::GraphView::frameActivated, this,
          [this](int frame) { toggleBlock(m_view->scene()->frames[static_cast<size_t>(frame)].group, false); });
  connect(m_view, &widgets::GraphView::closeAsked, this, [this](int sceneNode) {
    const widgets::GraphScene::Node& node = m_view->scene()->nodes[static_cast<size_t>(sceneNode)];
    if (m_blocks && m_shown->currentIndex() == Blocks && !node.members.empty())
      toggleBlock(widgets::openBlockAround(*m_blocks, m_open, node.members.front(), node.block), false);
  });
  // While trials come in, the overlay follows at its own pace.
  connect(&m_refresh, &QTimer::timeout, this, &GraphPage::showOverlay);
  connect(&services.tasks, &TaskBoard::changed, this, [this] {
    if (m_overlay->currentIndex() != 0 && !m_refresh.isActive()) m_refresh.start();
  });
  connect(&services.build, &BuildService::changed, this, [this] {
    if (m_overlay->currentIndex() == static_cast<int>(widgets::GraphOverlay::Kind::ran)) showOverlay();
  });
  connect(&services.hub, &SelectionHub::comparedSessionsChanged, this, &GraphPage::readSessions);
  connect(&services.workspace, &Workspace::sessionsChanged, this, &GraphPage::readSessions);
  connect(m_search, &QLineEdit::textChanged, this, [this] { search(false); });
  connect(m_search, &QLineEdit::returnPressed, this, [this] { search(true); });
  connect(m_view, &widgets::GraphView::zoomChanged, this, [this](double zoom) { m_zoom->setText(QStringLiteral("%1 %").arg(qRound(zoom * 100))); });
  connect(&services.hub, &SelectionHub::modelChanged, this, [this] {
    const OpenModelPtr& opened = m_services.hub.model();
    const bool completes = m_model && opened && opened->completes(*m_model);
    m_model = opened;
    if (!completes) m_blocks.reset(), m_open.clear();
    layOut(completes ? kInPlace : kFromStart);
    readSessions();
    m_changes->setVisible(opened && !opened->network.optimized.nodes.empty());
    if (!m_changes->isVisibleTo(this)) m_changes->setChecked(false);
    if (opened) showGraphChanges(*m_changed, opened->network);
  });
  connect(&services.hub, &SelectionHub::taskChanged, this, [this] {
    m_view->setCurrentTask(m_services.hub.task());
    const OpenModelPtr& model = m_services.hub.model();
    if (!model || model->taskOfNode(m_services.hub.node()) != m_services.hub.task()) m_view->revealTask(m_services.hub.task());
  });
  connect(&services.hub, &SelectionHub::nodeChanged, this, &GraphPage::showNode);
  connect(&services.hub, &SelectionHub::placeChanged, this, &GraphPage::showLinked);
  connect(&services.explain, &ExplainService::explained, this, &GraphPage::showLinked);
  connect(m_view, &widgets::GraphView::menuAsked, this, &GraphPage::showMenu);
  connect(m_view, &widgets::GraphView::taskActivated, this, [this](int task) { m_services.hub.setTask(task); });
  connect(m_view, &widgets::GraphView::nodeActivated, this, [this](int sceneNode) {
    if (m_shown->currentIndex() != Imported) m_services.hub.setNode(sceneNode < 0 ? -1 : m_view->scene()->nodes[static_cast<size_t>(sceneNode)].node);
  });
}

void GraphPage::showMenu(const QPoint& at) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->setToolTipsVisible(true);
  for (const char* name : {"tune.task", "tune.race", "trial.best", "trial.why", "trial.code"}) menu->addAction(m_services.actions.get(QLatin1String(name)));
  menu->addSeparator();
  const int selected = m_view->selectedNode();
  QAction* copy = menu->addAction(tr("Copy the node's name"));
  copy->setEnabled(selected >= 0);
  if (selected >= 0)
    connect(copy, &QAction::triggered, this, [name = m_view->scene()->nodes[static_cast<size_t>(selected)].name] { QApplication::clipboard()->setText(name); });
  for (const char* name : {"graph.fit", "graph.search"}) menu->addAction(m_services.actions.get(QLatin1String(name)));
  menu->popup(at);
}

widgets::GraphGrouping GraphPage::kernels(const OpenModel& model) const {
  widgets::GraphGrouping grouping;
  grouping.groupOf = model.groupOfNodes;
  const auto& groups = model.network.partition.groups;
  std::map<int, int> count;
  for (size_t g = 0; g < groups.size(); ++g) ++count[model.taskOfGroup[g]];
  for (size_t g = 0; g < groups.size(); ++g) {
    const int task = model.taskOfGroup[g];
    const QString name = task < 0 ? widgets::taskTitle(model.network.optimized, groups[g].nodes) : model.titleOf(task);
    // Kernels that compute the same are one task; its frames say how many there are.
    const QString times = count[task] > 1 ? QStringLiteral(" ") + QChar(0x00D7) + QString::number(count[task]) : QString();
    grouping.groups.push_back({task < 0 ? name : QStringLiteral("T%1%2 · %3").arg(task + 1).arg(times, name), task});
  }
  return grouping;
}

void GraphPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  // As a strip it has no room for what it says of itself, and the search has a row of its own.
  const bool narrow = width() < kStrip * widgets::typeScale();
  if (narrow == m_isNarrow) return;
  m_isNarrow = narrow;
  m_caption->setVisible(!narrow);
  m_zoom->setVisible(!narrow);
  (narrow ? m_firstRow : m_searchRow)->removeWidget(m_search);
  if (narrow)
    m_searchRow->addWidget(m_search, 1);
  else
    m_firstRow->insertWidget(1, m_search, 1);
}

void GraphPage::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  // Boxes are as large as their texts. The font is that of all parts once the event is over.
  if (event->type() == QEvent::FontChange && m_view->scene()) QMetaObject::invokeMethod(this, [this] { layOut(kInPlace); }, Qt::QueuedConnection);
}

void GraphPage::layOut(int around) {
  const OpenModelPtr model = m_services.hub.model();
  cancelLayout();
  const bool again = around != kFromStart && m_view->scene();
  if (!again) m_view->setScene(nullptr);
  m_found.clear();
  m_matches->clear();
  const int shown = m_shown->currentIndex();
  m_openAll->setVisible(model && shown == Blocks);
  m_closeAll->setVisible(model && shown == Blocks);
  m_overlay->setEnabled(shown != Imported);
  if (!model) return;
  const graph::Graph& graph = shown == Imported ? model->network.imported : model->network.optimized;
  const QString tasks = model->isWhole ? tr("%n task(s)", nullptr, static_cast<int>(model->tasks.size())) : tr("tasks are being made");
  m_caption->setText(tr("%1: %2 operators, %3 parameters, %4 kernels, %5")
                         .arg(model->name, widgets::countText(static_cast<qint64>(graph.nodes.size())), widgets::countText(graph.parameter_count()),
                              widgets::countText(static_cast<qint64>(model->network.partition.groups.size())), tasks));
  if (graph.nodes.empty()) {
    m_caption->setText(tr("%1: %n task(s)", nullptr, static_cast<int>(model->tasks.size())).arg(model->name));
    m_state->showEmpty(tr("No graph"), ImportService::isLog(model->path)
                                           ? tr("This model stands for a log of another program, which names tasks and trials but not the network around them.")
                                           : tr("The network's file %1 is not here, so its tasks and sessions are shown without its graph. Open the file, wherever it lies, and the graph comes too.")
                                                 .arg(QFileInfo(model->path).fileName()));
    return Q_EMIT laidOut();
  }
  m_state->showContent();
  m_progress->show();
  const auto work = [model, shown, blocks = m_blocks, open = m_open, grouping = shown == Fused ? kernels(*model) : widgets::GraphGrouping(),
                     font = font()](StopToken stop) -> Expected<Drawing> {
    const graph::Graph& g = shown == Imported ? model->network.imported : model->network.optimized;
    Drawing drawing;
    drawing.blocks = blocks;
    if (shown == Blocks && !blocks) drawing.blocks = std::make_shared<const widgets::GraphBlocks>(widgets::graphBlocks(g));
    drawing.scene = widgets::buildGraphScene(g, shown == Blocks ? widgets::groupingOf(*drawing.blocks, open) : grouping, font, stop);
    if (!drawing.scene) return Error(ErrorCode::cancelled, "The layout was cancelled");
    return drawing;
  };
  m_job.replace(m_services.jobs.run<Drawing>(Lane::work, this, work, [this, again, around, isWhole = model->isWhole](Expected<Drawing> drawing) {
    m_progress->hide();
    if (!drawing) return;
    m_blocks = drawing->blocks;
    if (!again)
      m_view->setScene(drawing->scene);
    else if (around == kInPlace)
      m_view->renewScene(drawing->scene);
    else
      m_view->replaceScene(drawing->scene, m_blocks->blocks[static_cast<size_t>(around)].nodes);
    m_view->setCurrentTask(m_services.hub.task());
    showOverlay();
    showNode();
    showLinked();
    search(false);
    isWhole ? Q_EMIT laidOut() : Q_EMIT drawnFirst();
  }));
}

void GraphPage::toggleBlock(int block, bool open) {
  if (!m_blocks || block <= 0 || m_shown->currentIndex() != Blocks) return;
  if (open) {
    m_open.insert(block);
  } else {
    // What lies inside is closed with it.
    std::erase_if(m_open, [&](int b) {
      while (b > 0 && b != block) b = m_blocks->blocks[static_cast<size_t>(b)].parent;
      return b == block;
    });
  }
  layOut(block);
}

void GraphPage::openBlocks(bool all) {
  if (!m_blocks) return;
  m_open.clear();
  for (size_t b = 1; all && b < m_blocks->blocks.size(); ++b) m_open.insert(static_cast<int>(b));
  layOut();
}

void GraphPage::readSessions() {
  m_bests.clear();
  m_sessionsJob.stop();
  const std::vector<SessionId> sessions = m_services.hub.comparedSessions();
  if (m_overlay->currentIndex() == static_cast<int>(widgets::GraphOverlay::Kind::difference) && sessions.size() >= 2 && m_services.workspace.reader()) {
    const auto work = [reader = m_services.workspace.reader(), two = std::vector<SessionId>{sessions[0], sessions[1]}](StopToken) {
      return reader->bests(two);
    };
    m_sessionsJob.replace(m_services.jobs.run<std::vector<db::BestRow>>(Lane::database, this, work, [this, sessions](Expected<std::vector<db::BestRow>> rows) {
      if (!rows) return;
      m_bests.resize(2);
      for (const db::BestRow& row : *rows) m_bests[row.session == sessions[0] ? 0 : 1][row.task.value] = row.best_s;
      showOverlay();
    }));
  }
  showOverlay();
}

void GraphPage::showOverlay() {
  const OpenModelPtr& model = m_services.hub.model();
  widgets::GraphOverlay overlay;
  overlay.kind = static_cast<widgets::GraphOverlay::Kind>(m_overlay->currentIndex());
  m_overlay->setToolTip(m_overlay->accessibleName());
  if (!model || m_shown->currentIndex() == Imported) overlay.kind = widgets::GraphOverlay::Kind::none;
  if (overlay.kind == widgets::GraphOverlay::Kind::difference) {
    const std::vector<SessionId>& sessions = m_services.hub.comparedSessions();
    for (size_t i = 0; i < std::min<size_t>(2, sessions.size()); ++i) {
      for (const db::SessionRow& row : m_services.workspace.sessions()) {
        if (row.id == sessions[i]) (i == 0 ? overlay.firstName : overlay.secondName) = SessionSet::nameOf(row);
      }
    }
    if (sessions.size() < 2) {
      m_overlay->setToolTip(tr("Tick two sessions in the panel Sessions to see where they differ"));
      overlay.firstName.clear();
    }
  }
  if (overlay.kind == widgets::GraphOverlay::Kind::ran) {
    overlay.parts = partsAsRan(*model);
    if (!m_services.build.ran()) m_overlay->setToolTip(tr("Build the network and run it in the panel Build and run to see where its time goes"));
  } else if (overlay.kind != widgets::GraphOverlay::Kind::none) {
    const size_t count = model->network.optimized.nodes.size();
    std::vector<int> nodesOfGroup(model->network.partition.groups.size(), 0);
    for (size_t n = 0; n < count; ++n) {
      if (const int g = model->groupOfNode(static_cast<int>(n)); g >= 0) ++nodesOfGroup[static_cast<size_t>(g)];
    }
    overlay.parts.resize(count);
    for (size_t n = 0; n < count; ++n) {
      widgets::GraphOverlay::Part& part = overlay.parts[n];
      const int group = model->groupOfNode(static_cast<int>(n)), task = model->taskOfNode(static_cast<int>(n));
      part.computed = task >= 0 && task < m_services.tasks.model()->rowCount();
      if (!part.computed) continue;
      const widgets::TaskLine& line = m_services.tasks.model()->task(task);
      const double share = 1.0 / nodesOfGroup[static_cast<size_t>(group)];
      part.tuned = std::isfinite(line.bestSeconds) && line.bestSeconds > 0;
      const double seconds = part.tuned ? line.bestSeconds : line.defaultSeconds;
      part.seconds = std::isfinite(seconds) ? seconds * share : 0;
      if (m_bests.size() < 2 || static_cast<size_t>(task) >= model->taskIds.size()) continue;
      for (const bool second : {false, true}) {
        const auto& bests = m_bests[second ? 1 : 0];
        const auto it = bests.find(model->taskIds[static_cast<size_t>(task)].value);
        if (it != bests.end() && std::isfinite(it->second)) (second ? part.second : part.first) = it->second * share;
      }
    }
  }
  m_view->setOverlay(std::move(overlay));
}

std::vector<widgets::GraphOverlay::Part> GraphPage::partsAsRan(const OpenModel& model) const {
  const auto& nodes = model.network.optimized.nodes;
  std::vector<widgets::GraphOverlay::Part> parts(nodes.size());
  const auto& built = m_services.build.built();
  const auto& ran = m_services.build.ran();
  if (!built || !ran || built->model.get() != &model) return parts;
  std::map<std::string, size_t> number;
  for (size_t n = 0; n < nodes.size(); ++n) number.emplace(nodes[n].name, n);
  const auto& calls = built->executable.calls;
  for (size_t c = 0; c < std::min(calls.size(), ran->calls_s.size()); ++c) {
    for (const std::string& name : calls[c].nodes)
      if (const auto at = number.find(name); at != number.end()) parts[at->second].seconds += ran->calls_s[c] / static_cast<double>(calls[c].nodes.size());
  }
  for (auto& part : parts) part.computed = part.seconds > 0;
  return parts;
}

void GraphPage::cancelLayout() {
  m_job.stop();
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
