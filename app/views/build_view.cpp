// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/build_view.h"

#include <QHeaderView>
#include <QLabel>
#include <QSpinBox>
#include <QTabWidget>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/build_service.h"
#include "app/services/finals_service.h"
#include "widgets/charts/arena_chart.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/error_label.h"
#include "widgets/common/flow_layout.h"
#include "widgets/common/format.h"
#include "widgets/common/table_view.h"

namespace tw::app {
namespace {

enum KernelColumn { Kernel, Calls, Schedule, Record, Alone, InPlace, ByDefault, Verdict, KernelColumnCount };
constexpr int kTaskRole = Qt::UserRole, kSortSeconds = Qt::UserRole + 1;
constexpr int kAfterTasks = 1 << 20;  ///< where kernels that are no task's stand among those that are

/// Sorts times and counts by their values, and kernels by the numbers of their tasks.
class KernelItem : public QTreeWidgetItem {
 public:
  using QTreeWidgetItem::QTreeWidgetItem;
  bool operator<(const QTreeWidgetItem& other) const override {
    const int column = treeWidget() ? treeWidget()->sortColumn() : 0;
    const QVariant a = data(column, kSortSeconds), b = other.data(column, kSortSeconds);
    return a.isValid() && b.isValid() ? a.toDouble() < b.toDouble() : text(column) < other.text(column);
  }
};

void setSeconds(QTreeWidgetItem* item, int column, double seconds) {
  const bool known = seconds > 0 && std::isfinite(seconds);
  item->setText(column, known ? widgets::secondsText(seconds) : widgets::dashText());
  item->setData(column, kSortSeconds, known ? seconds : 0.0);
  item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
}

}  // namespace

BuildView::BuildView(Services& services, QWidget* parent)
    : QWidget(parent), m_services(services), m_tabs(new QTabWidget(this)), m_kernels(new QTreeWidget(this)), m_memory(new widgets::ArenaChart(this)) {
  m_kernels->setObjectName(QStringLiteral("table.build.kernels"));
  m_kernels->setAccessibleName(tr("Kernels of the network"));
  widgets::setUpTable(m_kernels);
  m_kernels->setHeaderLabels({tr("Kernel"), tr("Calls"), tr("Schedule"), tr("Record"), tr("Alone"), tr("In the network"), tr("By default"), tr("Inside the network")});
  const QStringList helps = {tr("What it computes"),
                             tr("How often one run of the network calls it"),
                             tr("The template and the point, or the rule, that its schedule comes from"),
                             tr("The trial that it rests on"),
                             tr("Time of that trial"),
                             tr("Mean of its calls when the network ran last as it is built"),
                             tr("The same with the default schedules, when both were tried by turns"),
                             tr("Whether what won alone holds inside the network")};
  const int widths[] = {250, 50, 190, 170, 80, 96, 90, 150};
  for (int c = 0; c < KernelColumnCount; ++c) {
    m_kernels->headerItem()->setToolTip(c, helps[c]);
    m_kernels->header()->resizeSection(c, widths[c]);
  }
  m_kernels->setSortingEnabled(true);
  m_kernels->sortByColumn(Kernel, Qt::AscendingOrder);
  m_tabs->setObjectName(QStringLiteral("tabs.build"));
  m_tabs->setAccessibleName(tr("Parts of the build"));
  m_tabs->setDocumentMode(true);
  m_tabs->addTab(m_kernels, tr("Kernels"));
  m_tabs->addTab(m_memory, tr("Memory"));
  auto* content = new QWidget(this);
  auto* inner = new QVBoxLayout(content);
  inner->setContentsMargins(0, 0, 0, 0);
  inner->setSpacing(2);
  m_summary = new QLabel(content);
  m_summary->setObjectName(QStringLiteral("label.build.summary"));
  m_run = new QLabel(content);
  m_run->setObjectName(QStringLiteral("label.build.run"));
  m_ran = new QLabel(content);
  m_ran->setObjectName(QStringLiteral("label.build.ran"));
  m_wrong = new widgets::ErrorLabel(content);
  m_wrong->setObjectName(QStringLiteral("label.build.wrong"));
  for (QLabel* label : std::initializer_list<QLabel*>{m_summary, m_ran, m_wrong, m_run}) {
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setContentsMargins(8, 2, 8, 0);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    inner->addWidget(label);
  }
  inner->addWidget(m_tabs, 1);
  m_state = new widgets::EmptyState(content, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(2);
  box->addWidget(makeBar());
  box->addWidget(m_state, 1);
  connect(&services.build, &BuildService::changed, this, &BuildView::show);
  connect(&services.finals, &FinalsService::finished, this, &BuildView::showRun);
  connect(&services.hub, &SelectionHub::modelChanged, this, [this] {
    m_finals.reset();
    show();
  });
  connect(m_kernels, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) {
    if (const int task = item ? item->data(Kernel, kTaskRole).toInt() : -1; task >= 0) m_services.hub.setTask(task);
  });
  connect(m_memory, &widgets::ArenaChart::callChosen, this, [this](int call) {
    const auto& built = m_services.build.built();
    if (!built || !m_services.hub.model()) return;
    const auto& names = built->executable.calls[static_cast<size_t>(call)].nodes;
    const auto& nodes = m_services.hub.model()->network.optimized.nodes;
    for (size_t n = 0; n < nodes.size(); ++n)
      if (std::find(names.begin(), names.end(), nodes[n].name) != names.end()) return m_services.hub.setNode(static_cast<int>(n));
  });
  connect(&services.hub, &SelectionHub::nodeChanged, this, &BuildView::showSelection);
  connect(&services.hub, &SelectionHub::taskChanged, this, &BuildView::showSelection);
  show();
}

void BuildView::showSelection() {
  const SelectionHub& hub = m_services.hub;
  for (int row = 0; row < m_kernels->topLevelItemCount(); ++row) {
    QTreeWidgetItem* item = m_kernels->topLevelItem(row);
    if (hub.task() < 0 || item->data(Kernel, kTaskRole).toInt() != hub.task()) continue;
    const QTreeWidgetItem* current = m_kernels->currentItem();
    if (current && current->data(Kernel, kTaskRole).toInt() == hub.task()) break;
    const QSignalBlocker shownOnly(m_kernels);
    m_kernels->setCurrentItem(item);
    break;
  }
  const auto& built = m_services.build.built();
  std::vector<int> calls;
  if (built && hub.model() == built->model && hub.node() >= 0) {
    const std::string& name = hub.model()->network.optimized.nodes[static_cast<size_t>(hub.node())].name;
    for (size_t c = 0; c < built->executable.calls.size(); ++c) {
      const auto& names = built->executable.calls[c].nodes;
      if (std::find(names.begin(), names.end(), name) != names.end()) calls.push_back(static_cast<int>(c));
    }
  }
  m_memory->showCalls(calls);
}

QWidget* BuildView::makeBar() {
  auto* bar = new QWidget(this);
  auto* line = new widgets::FlowLayout(bar);
  line->setContentsMargins(6, 3, 6, 0);
  const auto button = [&](const char* name) {
    auto* button = new QToolButton(bar);
    button->setDefaultAction(m_services.actions.get(QLatin1String(name)));
    button->setObjectName(QStringLiteral("button.") + QLatin1String(name));
    button->setAccessibleName(button->defaultAction()->text().remove(QLatin1Char('&')));
    button->setToolButtonStyle(Qt::ToolButtonTextOnly);
    line->addWidget(button);
  };
  button("build.network");
  button("build.run");
  auto* runs = new QSpinBox(bar);
  runs->setObjectName(QStringLiteral("spin.build.runs"));
  runs->setAccessibleName(tr("How often it runs"));
  runs->setToolTip(tr("Timed runs, after one to warm up; a simulated device takes one, as all are alike"));
  runs->setRange(1, BuildService::kMostRuns);
  runs->setGroupSeparatorShown(true);
  runs->setSuffix(tr(" runs"));
  runs->setValue(m_services.build.repeat());
  connect(runs, &QSpinBox::valueChanged, this, [this](int value) { m_services.build.setRepeat(value); });
  line->addWidget(runs);
  for (const char* name : {"file.sizes", "tune.finals", "build.save", "build.export"}) button(name);
  return bar;
}

void BuildView::show() {
  const auto& built = m_services.build.built();
  if (!m_services.hub.model())
    return m_state->showEmpty(tr("Nothing to build"), tr("Open a network: built from the best records it can be run, saved and exported here."), m_services.actions.get(QStringLiteral("file.open")));
  if (m_services.build.isActive()) return m_state->showEmpty(tr("Building the network…"), tr("Every kernel is compiled from its best record; layouts are matched and constants packed."));
  if (!built && !m_finals)
    return m_state->showEmpty(tr("Not built yet"), tr("Build compiles every kernel from the best record of its task. Then it can be run, checked, saved and exported here."),
                              m_services.actions.get(QStringLiteral("build.network")));
  m_state->showContent();
  showKernels();
  showMemory();
  showRan();
  m_run->setText(runText());
  m_run->setVisible(!m_run->text().isEmpty());
  showSelection();
}

void BuildView::showRun(const OpenModelPtr& model, const api::NetworkFinals& finals) {
  if (model != m_services.hub.model()) return;
  m_finals = finals;
  show();
}

void BuildView::showRan() {
  const BuildService& build = m_services.build;
  const auto& ran = build.ran();
  QString text, wrong;
  if (build.isRunning()) {
    text = tr("Running, and computing the reference operator by operator…");
  } else if (ran && build.built()) {
    const auto& calls = build.built()->executable.calls;
    double alone = 0;
    for (const runtime::Call& c : calls) alone += c.alone_s;
    const bool measured = std::all_of(calls.begin(), calls.end(), [](const runtime::Call& c) { return c.task_key.empty() || c.alone_s > 0; });
    const QString device = ran->simulated ? tr("simulated") : tr("median of %n run(s)", nullptr, ran->runs);
    text = tr("It takes %1 (%2, %3 to %4).").arg(widgets::secondsText(ran->median_s), device, widgets::secondsText(ran->least_s), widgets::secondsText(ran->most_s));
    if (measured && alone > 0) text += QLatin1Char(' ') + tr("Its kernels alone add up to %1.").arg(widgets::secondsText(alone));
    const QString error = tr("the largest error is %1 of the %2 that its operators allow").arg(widgets::numberText(ran->error, 2), widgets::numberText(ran->allowed, 2));
    if (ran->passed)
      text += QLatin1Char(' ') + tr("Its results are those of the reference: %1.").arg(error);
    else
      wrong = tr("Its results are not those of the reference: %1.").arg(error);
  }
  m_ran->setText(text);
  m_ran->setVisible(!text.isEmpty());
  m_wrong->showProblem(wrong);
}

QString BuildView::runText() const {
  if (!m_finals) return {};
  const api::NetworkFinals& f = *m_finals;
  const QString estimate = tr("estimated %1 instead of %2").arg(widgets::secondsText(f.tuned_estimate_s), widgets::secondsText(f.default_estimate_s));
  if (f.taken == 0) return tr("As it ran: %1 with the default schedules, which stay; %2.").arg(widgets::secondsText(f.default_s), estimate);
  return tr("As it ran: %1 instead of %2 by default, %3 times as fast (%4 to %5); %6.")
      .arg(widgets::secondsText(f.tuned_s), widgets::secondsText(f.default_s), widgets::numberText(1 / f.network.ratio, 3), widgets::numberText(1 / f.network.high, 3),
           widgets::numberText(1 / f.network.low, 3), estimate);
}

void BuildView::showKernels() {
  m_kernels->clear();
  const OpenModelPtr& model = m_services.hub.model();
  const auto& built = m_services.build.built();
  std::map<std::string, const api::KernelFinal*> ran;
  if (m_finals)
    for (const api::KernelFinal& k : m_finals->kernels) ran[k.task_key] = &k;
  const auto addRun = [&](QTreeWidgetItem* item, const std::string& key) {
    const auto k = ran.find(key);
    if (k == ran.end()) return;
    setSeconds(item, InPlace, k->second->place_s);
    setSeconds(item, ByDefault, k->second->place_default_s);
    item->setText(Verdict, k->second->tried ? QString::fromUtf8(api::standing_text(k->second->standing)) : tr("the default schedule"));
    item->setToolTip(Verdict, QString::fromStdString(k->second->reason).toHtmlEscaped());
  };
  std::map<std::array<std::string, 4>, QTreeWidgetItem*> rows;
  std::map<QTreeWidgetItem*, std::vector<double>> seconds;  // of a row's calls as they ran
  int64_t constants = 0;
  const auto& calls = built ? built->executable.calls : std::vector<runtime::Call>();
  for (size_t i = 0; i < calls.size(); ++i) {
    const runtime::Call& c = calls[i];
    QTreeWidgetItem*& item = rows[{c.task_key.empty() ? c.name : c.task_key, c.space, c.origin, c.record}];
    const auto note = [&] {
      if (m_services.build.ran() && i < m_services.build.ran()->calls_s.size()) seconds[item].push_back(m_services.build.ran()->calls_s[i]);
    };
    if (item) {
      note();
      item->setText(Calls, QString::number(item->text(Calls).toInt() + 1));
      item->setData(Calls, kSortSeconds, item->text(Calls).toInt());
      continue;
    }
    const int task = c.task_key.empty() ? -1 : model->taskByKey(c.task_key);
    item = new KernelItem({task >= 0 ? QStringLiteral("T%1  %2").arg(task + 1).arg(model->titleOf(task)) : QString::fromStdString(c.name), QStringLiteral("1"),
                           QString::fromStdString(c.origin), c.record.empty() ? tr("not measured") : QString::fromStdString(c.record) + (c.claimed ? tr(", elsewhere") : QString())});
    item->setData(Kernel, kTaskRole, task);
    item->setData(Kernel, kSortSeconds, task >= 0 ? task : kAfterTasks + static_cast<int>(i));
    item->setData(Calls, kSortSeconds, 1);
    item->setTextAlignment(Calls, Qt::AlignRight | Qt::AlignVCenter);
    item->setToolTip(Kernel, QString::fromStdString(c.name).toHtmlEscaped());
    note();
    setSeconds(item, Alone, c.alone_s);
    addRun(item, c.task_key);
    m_kernels->addTopLevelItem(item);
  }
  for (const auto& [item, of] : seconds) setSeconds(item, InPlace, std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size()));
  if (!built) {
    for (const api::KernelFinal& k : m_finals->kernels) {
      const int task = model->taskByKey(k.task_key);
      auto* item = new KernelItem({task >= 0 ? QStringLiteral("T%1  %2").arg(task + 1).arg(model->titleOf(task)) : QString::fromStdString(k.name), QString::number(k.weight)});
      item->setData(Kernel, kTaskRole, task);
      item->setData(Kernel, kSortSeconds, task >= 0 ? task : kAfterTasks);
      setSeconds(item, Alone, k.best_s > 0 ? k.best_s : k.default_s);
      addRun(item, k.task_key);
      m_kernels->addTopLevelItem(item);
    }
    return m_summary->setText(tr("Not built; what the network's last run found:"));
  }
  for (const runtime::Slot& s : built->executable.slots)
    if (s.kind == runtime::Slot::Kind::constant) constants += s.spec.physical_bytes();
  const runtime::Executable& e = built->executable;
  m_summary->setText(tr("%1 for %2, built in %3: %n kernel call(s), code %4, constants %5, intermediates %6.", nullptr, static_cast<int>(e.calls.size()))
                         .arg(built->model->name, QString::fromStdString(e.target), widgets::secondsText(built->seconds),
                              widgets::bytesText(static_cast<double>(e.artifact.object.size())), widgets::bytesText(static_cast<double>(constants)),
                              widgets::bytesText(static_cast<double>(e.arena_bytes))));
  QStringList notes;
  for (const std::string& note : built->notes) notes << QString::fromStdString(note);
  m_summary->setToolTip(notes.join(QLatin1Char('\n')).toHtmlEscaped());
}

void BuildView::showMemory() {
  const auto& built = m_services.build.built();
  if (!built) return m_memory->setPlan({}, {}, 0, 0, 0);
  const runtime::Executable& e = built->executable;
  std::vector<widgets::ArenaChart::Buffer> buffers;
  std::vector<int> place(e.slots.size(), -1);
  QStringList calls;
  for (size_t c = 0; c < e.calls.size(); ++c) {
    calls << QString::fromStdString(e.calls[c].name);
    for (const int s : e.calls[c].slots) {
      const runtime::Slot& slot = e.slots[static_cast<size_t>(s)];
      if (slot.kind != runtime::Slot::Kind::intermediate || slot.offset < 0) continue;
      int& at = place[static_cast<size_t>(s)];
      if (at < 0) {
        at = static_cast<int>(buffers.size());
        buffers.push_back({QString::fromStdString(slot.spec.name), slot.offset, slot.spec.physical_bytes(), static_cast<int>(c), static_cast<int>(c)});
      }
      buffers[static_cast<size_t>(at)].last = static_cast<int>(c);
    }
  }
  m_memory->setPlan(std::move(buffers), std::move(calls), e.arena_bytes, e.live_bytes, e.unplanned_bytes);
}

}  // namespace tw::app
