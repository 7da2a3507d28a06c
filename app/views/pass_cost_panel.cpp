// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/pass_cost_panel.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSignalBlocker>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "app/selection_hub.h"
#include "app/services/pass_cost_service.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/format.h"
#include "widgets/common/table_view.h"

namespace tw::app {
namespace {

enum Column { Pass, Ratio, Verdict, With, Without, Kernels, Tuned, Activations, Code, ColumnCount };
constexpr int kSort = Qt::UserRole;

/// Sorts numbers by their values.
class CostItem : public QTreeWidgetItem {
 public:
  using QTreeWidgetItem::QTreeWidgetItem;
  bool operator<(const QTreeWidgetItem& other) const override {
    const int column = treeWidget() ? treeWidget()->sortColumn() : 0;
    const QVariant a = data(column, kSort), b = other.data(column, kSort);
    return a.isValid() && b.isValid() ? a.toDouble() < b.toDouble() : text(column) < other.text(column);
  }
};

void setNumber(QTreeWidgetItem* item, int column, const QString& text, double value) {
  item->setText(column, text);
  item->setData(column, kSort, value);
  item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
}

QString both(const QString& with, const QString& without) {
  return with == without ? with : with + QStringLiteral(" ") + QChar(0x2192) + QStringLiteral(" ") + without;
}

}  // namespace

PassCostPanel::PassCostPanel(Services& services, QWidget* parent) : QWidget(parent), m_services(services), m_table(new QTreeWidget(this)) {
  m_table->setObjectName(QStringLiteral("table.passes.costs"));
  m_table->setAccessibleName(tr("What passes are worth in the network"));
  widgets::setUpTable(m_table);
  m_table->setHeaderLabels(
      {tr("Pass"), tr("Without ÷ with"), tr("Verdict"), tr("With"), tr("Without"), tr("Kernels"), tr("With a record"), tr("Activations"), tr("Code")});
  const QStringList helps = {tr("The pass that is left out"),
                             tr("Time of the network without it ÷ time with all passes, and the 95 % interval"),
                             tr("Whether the interval lies above 1, below 1, or around it"),
                             tr("Time of one run of the network with all passes"),
                             tr("The same without this pass"),
                             tr("Calls of kernels in one run, with and without it"),
                             tr("Calls whose schedule rests on a record; kernels that only come to be without the pass have none"),
                             tr("Memory for intermediate results"),
                             tr("Machine code")};
  const int widths[] = {170, 150, 190, 76, 76, 84, 100, 130, 130};
  for (int c = 0; c < ColumnCount; ++c) {
    m_table->headerItem()->setToolTip(c, helps[c]);
    m_table->header()->resizeSection(c, widths[c]);
  }
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(Ratio, Qt::DescendingOrder);
  const auto button = [&](const char* name, const QString& text, const QString& help) {
    auto* b = new QToolButton(this);
    b->setObjectName(QStringLiteral("button.passes.") + QLatin1String(name));
    b->setText(text);
    b->setToolTip(help);
    return b;
  };
  m_all = button("measureAll", tr("Measure all"), tr("Run the network without each of these passes and with all of them, by turns in fresh processes"));
  m_stop = button("stop", tr("Stop"), tr("Stop measuring; what was found stays"));
  m_state = new widgets::ElidedLabel(this);
  m_state->setObjectName(QStringLiteral("label.passes.costs"));
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(4, 2, 4, 0);
  bar->addWidget(m_all);
  bar->addWidget(m_stop);
  bar->addWidget(m_state, 1);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(2);
  box->addLayout(bar);
  box->addWidget(m_table, 1);
  connect(m_all, &QToolButton::clicked, this, [this] {
    std::vector<std::string> names;
    for (const Row& r : m_rows)
      if (r.needed.isEmpty()) names.push_back(r.pass.toStdString());
    m_services.passCosts.measure(names, m_task);
  });
  connect(m_stop, &QToolButton::clicked, &services.passCosts, &PassCostService::stop);
  connect(&services.passCosts, &PassCostService::changed, this, &PassCostPanel::showCosts);
  connect(&services.passCosts, &PassCostService::progressed, this, &PassCostPanel::showState);
  connect(m_table, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) {
    if (item) Q_EMIT passChosen(item->text(Pass));
  });
  showCosts();
}

void PassCostPanel::setPasses(std::vector<Row> rows, std::string task) {
  m_rows = std::move(rows);
  m_task = std::move(task);
  showCosts();
}

QString PassCostPanel::ratioText(const api::PassCost& c) {
  if (!c.measured) return widgets::dashText();
  return tr("%1 (%2 to %3)").arg(widgets::numberText(c.ratio.ratio, 4), widgets::numberText(c.ratio.low, 4), widgets::numberText(c.ratio.high, 4));
}

QString PassCostPanel::sentence(const api::PassCost& c) {
  const QString verdict = QString::fromStdString(api::verdict_text(c));
  QString text = c.measured ? tr("Without it the network takes %1 times as long: %2").arg(ratioText(c), verdict) : tr("Without it: %1").arg(verdict);
  if (c.differs && c.without.calls > 0)
    text += tr(". Kernels %1, activations %2")
                .arg(both(widgets::countText(c.with.calls), widgets::countText(c.without.calls)),
                     both(widgets::bytesText(static_cast<double>(c.with.arena_bytes)), widgets::bytesText(static_cast<double>(c.without.arena_bytes))));
  return text;
}

void PassCostPanel::showState() {
  const PassCostService& service = m_services.passCosts;
  const QString why = service.cannotMeasure();
  m_all->setEnabled(!service.isActive() && why.isEmpty() && !m_rows.empty());
  m_stop->setEnabled(service.isActive());
  const OpenModelPtr& model = m_services.hub.model();
  const int task = model ? model->taskByKey(m_task) : -1;
  const QString where = task < 0 ? tr("In all kernels") : tr("In the kernels of %1 alone").arg(model->titleOf(task));
  m_state->setText(!service.state().isEmpty() ? service.state() : !why.isEmpty() ? tr("Not now: %1").arg(why) : where);
}

void PassCostPanel::showCosts() {
  showState();
  const PassCostService& service = m_services.passCosts;
  const QSignalBlocker blocker(m_table);
  const QString chosen = m_table->currentItem() ? m_table->currentItem()->text(Pass) : QString();
  m_table->clear();
  m_table->setSortingEnabled(false);
  for (const Row& r : m_rows) {
    auto* item = new CostItem(m_table);
    item->setText(Pass, r.pass);
    const api::PassCost* c = service.costOf(r.pass.toStdString(), m_task);
    for (int column = Ratio; column < ColumnCount; ++column)
      if (column != Verdict) setNumber(item, column, widgets::dashText(), -1);
    item->setText(Verdict, !r.needed.isEmpty() ? tr("cannot be left out: %1").arg(r.needed)
                           : c                 ? QString::fromStdString(api::verdict_text(*c))
                                               : tr("not measured yet"));
    item->setToolTip(Verdict, item->text(Verdict).toHtmlEscaped());
    if (c) {
      if (c->measured) {
        setNumber(item, Ratio, ratioText(*c), c->ratio.ratio);
        setNumber(item, With, widgets::secondsText(c->with_s), c->with_s);
        setNumber(item, Without, widgets::secondsText(c->without_s), c->without_s);
      }
      if (c->without.calls > 0) {
        const auto bytes = [](int64_t n) { return widgets::bytesText(static_cast<double>(n)); };
        setNumber(item, Kernels, both(widgets::countText(c->with.calls), widgets::countText(c->without.calls)), c->without.calls);
        setNumber(item, Tuned, both(widgets::countText(c->with.tuned), widgets::countText(c->without.tuned)), c->without.tuned);
        setNumber(item, Activations, both(bytes(c->with.arena_bytes), bytes(c->without.arena_bytes)), static_cast<double>(c->without.arena_bytes));
        setNumber(item, Code, both(bytes(c->with.code_bytes), bytes(c->without.code_bytes)), static_cast<double>(c->without.code_bytes));
      }
    }
    if (r.pass == chosen) m_table->setCurrentItem(item);
  }
  m_table->setSortingEnabled(true);
}

}  // namespace tw::app
