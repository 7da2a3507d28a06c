// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/difference_panel.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QScrollBar>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <cmath>
#include <limits>

#include "app/selection_hub.h"
#include "app/services/engine.h"
#include "app/services/explain_service.h"
#include "app/services/trial_service.h"
#include "app/services/tune_service.h"
#include "app/services/workspace.h"
#include "engine/base/text.h"
#include "widgets/common/format.h"
#include "widgets/common/table_view.h"

namespace tw::app {
namespace {
enum DifferenceColumn { What, There, HereNow, FasterBy, Explains, DifferenceColumns };

QString factText(double v) { return v == std::floor(v) && std::abs(v) < 1e15 ? widgets::countText(static_cast<qint64>(v)) : widgets::numberText(v, 4); }
}  // namespace

DifferencePanel::DifferencePanel(Services& services, QWidget* parent)
    : QWidget(parent), m_services(services), m_button(new QToolButton(this)), m_text(new QLabel(this)), m_table(new QTreeWidget(this)) {
  auto* title = new QLabel(tr("Why the two differ"), this);
  QFont bold = title->font();
  bold.setBold(true);
  title->setFont(bold);
  m_button->setObjectName(QStringLiteral("button.why.difference"));
  m_button->setText(tr("Measure them"));
  m_button->setAccessibleName(tr("Measure the points between the two candidates"));
  m_button->setToolTip(tr("Measures both candidates and the points between them anew, instead of asking the stored trials"));
  m_text->setObjectName(QStringLiteral("label.why.difference"));
  m_text->setTextFormat(Qt::PlainText);
  m_text->setWordWrap(true);
  m_text->setForegroundRole(QPalette::PlaceholderText);
  m_table->setObjectName(QStringLiteral("table.why.difference"));
  m_table->setAccessibleName(title->text());
  m_table->setColumnCount(DifferenceColumns);
  m_table->setHeaderLabels({tr("What differs"), tr("There"), tr("Here"), tr("Faster by"), tr("Explains")});
  m_table->headerItem()->setToolTip(FasterBy, tr("What this choice does to the time, as the mean over the orders in which the choices can be changed"));
  widgets::setUpTable(m_table);
  m_table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  const int widths[] = {200, 80, 80, 72};
  for (int c = 0; c < Explains; ++c) m_table->header()->resizeSection(c, widths[c]);
  auto* line = new QHBoxLayout;
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(title, 1);
  line->addWidget(m_button);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 6, 0, 0);
  box->setSpacing(3);
  box->addLayout(line);
  box->addWidget(m_text);
  box->addWidget(m_table);
  connect(m_button, &QToolButton::clicked, this, [this] { compute(true); });
  connect(&services.explain, &ExplainService::explained, this, &DifferencePanel::invalidate);
  connect(&services.explain, &ExplainService::baseExplained, this, &DifferencePanel::invalidate);
  compute(false);
}

void DifferencePanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (m_stale) compute(false);
}

void DifferencePanel::invalidate() {
  m_stale = true;
  if (isVisible()) compute(false);
}

void DifferencePanel::say(const QString& text) {
  m_text->setText(text);
  m_table->setVisible(false);
}

void DifferencePanel::compute(bool measure) {
  m_stale = false;
  m_job.stop();
  m_table->clear();
  const records::Task* task = m_services.hub.taskValue();
  const bool both = task && task->dag && m_services.explain.explanation() && m_services.explain.base();
  m_button->setEnabled(both && !m_services.tuning.isActive());
  if (!both) return say(tr("Choose another candidate under Difference in the code view: what each of the choices in which the two differ explains stands here."));
  if (measure) {
    if (m_services.tuning.isActive()) return say(tr("A session measures now; it would be disturbed."));
    say(tr("Measuring the points between both…"));
    return walk(true, std::make_shared<const Outcomes>());
  }
  say(tr("Asking the stored trials…"));
  if (!m_services.workspace.reader()) return walk(false, std::make_shared<const Outcomes>());
  const auto work = [reader = m_services.workspace.reader(), id = m_services.hub.model()->taskIds.at(static_cast<size_t>(m_services.hub.task())),
                     kind = m_services.trials.kind()](StopToken) -> Expected<std::shared_ptr<const Outcomes>> {
    TW_TRY(const auto rows, reader->outcomes(id, kind, {}, std::numeric_limits<int64_t>::max()));
    auto known = std::make_shared<Outcomes>();
    for (const db::TrialOutcome& row : rows) (*known)[{row.space, row.index}] = row;
    return std::shared_ptr<const Outcomes>(std::move(known));
  };
  m_job.replace(m_services.jobs.run<std::shared_ptr<const Outcomes>>(Lane::database, this, work, [this](Expected<std::shared_ptr<const Outcomes>> known) {
    if (!known) return say(QString::fromStdString(known.error().text()));
    walk(false, std::move(*known));
  }));
}

void DifferencePanel::walk(bool measure, std::shared_ptr<const Outcomes> outcomes) {
  const records::Task* task = m_services.hub.taskValue();
  if (!task || !m_services.explain.base()) return;
  const auto work = [&engine = m_services.engine, task = *task, here = m_services.explain.candidate(), there = m_services.explain.baseCandidate(), measure,
                     outcomes](StopToken stop) {
    const auto stored = [&](const records::Candidate& c) -> Expected<double> {
      const auto found = outcomes->find({c.space, c.index});
      if (found == outcomes->end()) return Error(ErrorCode::not_found, "no trial of it is in the workspace");
      if (found->second.status != records::Status::ok) return Error(ErrorCode::illegal_schedule, fmt::format("its trial ended as {}", records::status_name(found->second.status)));
      if (found->second.censored) return Error(ErrorCode::not_found, "its trial was stopped early as clearly slow, so that it has no time");
      return found->second.seconds;
    };
    const auto measured = [&](const records::Candidate& c) -> Expected<double> {
      if (c.steps.empty()) return Error(ErrorCode::illegal_schedule, "its schedule cannot be made");
      TW_TRY(const records::MeasureResult r, engine.measure(task, c, stop));
      if (!r.ok()) return Error(ErrorCode::illegal_schedule, fmt::format("it ended as {}: {}", records::status_name(r.status), r.message));
      return r.seconds();
    };
    return engine.whyFaster(task, there, here, measure ? api::TimeOfPoint(measured) : api::TimeOfPoint(stored), stop);
  };
  m_job.replace(m_services.jobs.run<api::WhyFaster>(Lane::work, this, work, [this, measure](Expected<api::WhyFaster> why) { show(std::move(why), measure); }));
}

void DifferencePanel::addRow(const QStringList& cells, const QString& help) {
  auto* item = new QTreeWidgetItem(m_table, cells);
  for (int c = 0; c < DifferenceColumns; ++c) item->setToolTip(c, (c == What && !help.isEmpty() ? help : item->text(c)).toHtmlEscaped());
}

void DifferencePanel::show(Expected<api::WhyFaster> why, bool measured) {
  const QString other = m_services.explain.baseTitle();
  if (!why) return say(tr("Against %1: %2").arg(other, QString::fromStdString(why.error().text())));
  const double all = std::log(why->first_s / why->second_s);
  QString text = tr("Against %1, which takes %2: this one takes %3, %4. Choices are changed one at a time, the mean over %5 of %6 orders.")
                     .arg(other, widgets::secondsText(why->first_s), widgets::secondsText(why->second_s),
                          measured ? tr("measured now") : tr("by stored trials"), widgets::countText(static_cast<qint64>(why->orders)),
                          widgets::countText(static_cast<qint64>(why->all_orders)));
  for (const auto& [knobs, reason] : why->missing) {
    QStringList names;
    for (const std::string& k : knobs) names << QString::fromStdString(k);
    text += QLatin1Char('\n') + tr("No time with %1 changed: %2").arg(names.join(QStringLiteral(", ")), QString::fromStdString(reason));
    if (text.count(QLatin1Char('\n')) == 3) break;
  }
  m_text->setText(text);
  for (const api::ChoiceDifference& c : why->choices)
    addRow({QString::fromStdString(c.knob), QString::fromStdString(c.first), QString::fromStdString(c.second),
            widgets::numberText(c.share.factor, 3) + QChar(0x00D7), all == 0 ? widgets::dashText() : widgets::percentText(std::log(c.share.factor) / all) + QStringLiteral(" %")},
           tr("%1: between %2 and %3 times as fast, among the other changes that were made before")
               .arg(QString::fromStdString(c.knob), widgets::numberText(c.share.least, 3), widgets::numberText(c.share.most, 3)));
  for (const api::FactDifference& f : why->facts)
    addRow({QString::fromStdString(f.name), factText(f.first), factText(f.second), {}, {}}, QString::fromStdString(f.name));
  m_table->setVisible(true);
  // All rows are shown: the page scrolls, not the table.
  const int rows = m_table->topLevelItemCount();
  m_table->setFixedHeight(m_table->header()->sizeHint().height() + rows * (rows > 0 ? m_table->sizeHintForRow(0) : 0) + 2 * m_table->frameWidth() +
                          m_table->horizontalScrollBar()->sizeHint().height());
}

}  // namespace tw::app
