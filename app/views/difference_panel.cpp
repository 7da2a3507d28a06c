// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/difference_panel.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QScrollBar>
#include <QSettings>
#include <QToolButton>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>
#include <span>

#include "app/logs/page.h"
#include "app/logs/why_page.h"
#include "app/selection_hub.h"
#include "app/services/engine.h"
#include "app/services/explain_service.h"
#include "app/services/trial_service.h"
#include "app/services/tune_service.h"
#include "app/services/workspace.h"
#include "engine/base/file.h"
#include "engine/base/text.h"
#include "widgets/common/format.h"
#include "widgets/common/table_view.h"

namespace tw::app {
namespace {
enum DifferenceColumn { What, There, HereNow, FasterBy, Explains, DifferenceColumns };

constexpr int kTick = 100;  ///< milliseconds
}  // namespace

DifferencePanel::DifferencePanel(Services& services, QWidget* parent)
    : QWidget(parent), m_services(services), m_button(new QToolButton(this)), m_pageButton(new QToolButton(this)), m_text(new QLabel(this)), m_table(new QTreeWidget(this)) {
  auto* title = new QLabel(tr("Why the two differ"), this);
  QFont bold = title->font();
  bold.setBold(true);
  title->setFont(bold);
  m_button->setObjectName(QStringLiteral("button.why.difference"));
  m_button->setText(tr("Measure them"));
  m_button->setAccessibleName(tr("Measure the points between the two candidates"));
  m_button->setToolTip(tr("Measures both candidates and the points between them anew, instead of asking the stored trials"));
  m_pageButton->setObjectName(QStringLiteral("button.why.page"));
  m_pageButton->setText(tr("Web page…"));
  m_pageButton->setAccessibleName(tr("Write the comparison as a web page"));
  m_pageButton->setToolTip(tr("Writes all of it, with steps, loops and code beside each other, as a web page that needs no other file"));
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
  line->addWidget(m_pageButton);
  line->addWidget(m_button);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 6, 0, 0);
  box->setSpacing(3);
  box->addLayout(line);
  box->addWidget(m_text);
  box->addWidget(m_table);
  connect(m_button, &QToolButton::clicked, this, [this] { compute(true); });
  connect(m_pageButton, &QToolButton::clicked, this, &DifferencePanel::choosePage);
  m_tick.setInterval(kTick);
  connect(&m_tick, &QTimer::timeout, this, [this] {
    const auto done = static_cast<qint64>(m_asked->done), all = static_cast<qint64>(m_asked->all);
    m_services.board.setProgress(m_boardJob, done, all);
    if (all > 0) say(tr("Measuring the points between both: %1 of %2…").arg(done).arg(all));
  });
  connect(&services.explain, &ExplainService::explained, this, &DifferencePanel::invalidate);
  connect(&services.explain, &ExplainService::baseExplained, this, &DifferencePanel::invalidate);
  compute(false);
}

void DifferencePanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (m_stale) compute(false);
}

std::string DifferencePanel::pairNow() const {
  const records::Task* task = m_services.hub.taskValue();
  if (!task || !m_services.explain.explanation() || !m_services.explain.base()) return {};
  return fmt::format("{} {} {}", task->key, records::identity(m_services.explain.baseCandidate()), records::identity(m_services.explain.candidate()));
}

void DifferencePanel::invalidate() {
  // The same two may be explained once more, as with a network's nodes: what is measured of them stands.
  const bool isMeasured = m_boardJob > 0 || (m_why && m_isMeasured);
  if (const std::string pair = pairNow(); isMeasured && !pair.empty() && pair == m_pair) return;
  m_stale = true;
  if (isVisible()) compute(false);
}

void DifferencePanel::say(const QString& text) {
  m_text->setText(text);
  m_table->setVisible(false);
}

void DifferencePanel::endJob(JobBoard::Outcome outcome, const QString& text) {
  m_tick.stop();
  if (const int job = std::exchange(m_boardJob, 0); job > 0) m_services.board.end(job, outcome, text);
}

void DifferencePanel::compute(bool measure) {
  m_stale = false;
  m_job.stop();
  endJob(JobBoard::Outcome::cancelled);
  m_table->clear();
  m_why.reset();
  m_pair = pairNow();
  m_pageButton->setEnabled(false);
  const records::Task* task = m_services.hub.taskValue();
  const bool both = task && task->dag && m_services.explain.explanation() && m_services.explain.base();
  m_button->setEnabled(both && !m_services.tuning.isActive());
  if (!both) return say(tr("Choose another candidate under Difference in the code view: what each of the choices in which the two differ explains stands here."));
  if (measure) {
    if (m_services.tuning.isActive()) return say(tr("A session measures now; it would be disturbed."));
    say(tr("Measuring the points between both…"));
    m_asked = std::make_shared<Asked>();
    m_boardJob = m_services.board.begin(tr("Measuring what tells two candidates of T%1 apart").arg(m_services.hub.task() + 1), [this] {
      m_job.stop();
      endJob(JobBoard::Outcome::cancelled);
      say(tr("Stopped."));
    });
    m_tick.start();
    return walk(true, std::make_shared<const Outcomes>());
  }
  say(tr("Asking the stored trials…"));
  const auto& ids = m_services.hub.model()->taskIds;  // none of a network that a workspace for reading does not know
  const auto at = static_cast<size_t>(m_services.hub.task());
  if (!m_services.workspace.reader() || at >= ids.size()) return walk(false, std::make_shared<const Outcomes>());
  const auto work = [reader = m_services.workspace.reader(), id = ids[at],
                     kind = m_services.trials.kind()](StopToken) -> Expected<std::shared_ptr<const Outcomes>> {
    TW_TRY(const auto rows, reader->outcomes(id, kind, {}, std::numeric_limits<int64_t>::max()));
    auto known = std::make_shared<Outcomes>();
    for (const db::TrialOutcome& row : rows) (*known)[keyOf(row.space, row.index, row.config)] = row;
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
                     outcomes, asked = m_asked](StopToken stop) {
    const auto stored = [&](const records::Candidate& c) -> Expected<double> {
      const auto found = outcomes->find(keyOf(c.space, c.index, c.config));
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
    api::WhyOptions options{.stop = stop};
    if (measure) {
      options.progress = [asked](size_t done, size_t all) { asked->done = done, asked->all = all; };
      if (!task.target.gpu) options.count = [&](const records::Candidate& c) { return engine.count(task, c, stop); };
    }
    return engine.whyFaster(task, there, here, measure ? api::TimeOfPoint(measured) : api::TimeOfPoint(stored), options);
  };
  m_job.replace(m_services.jobs.run<api::WhyFaster>(Lane::work, this, work, [this, measure](Expected<api::WhyFaster> why) { show(std::move(why), measure); }));
}

void DifferencePanel::addRow(const QStringList& cells, const QString& help) {
  auto* item = new QTreeWidgetItem(m_table, cells);
  for (int c = 0; c < DifferenceColumns; ++c) item->setToolTip(c, (c == What && !help.isEmpty() ? help : item->text(c)).toHtmlEscaped());
}

void DifferencePanel::show(Expected<api::WhyFaster> why, bool measured) {
  const QString other = m_services.explain.baseTitle();
  endJob(why ? JobBoard::Outcome::done : JobBoard::Outcome::failed, why ? QString() : QString::fromStdString(why.error().text()));
  if (!why) return say(tr("Against %1: %2").arg(other, QString::fromStdString(why.error().text())));
  QString text = tr("Against %1, which takes %2: this one takes %3, %4.")
                     .arg(other, widgets::secondsText(why->first_s), widgets::secondsText(why->second_s), measured ? tr("measured now") : tr("by stored trials"));
  text += QLatin1Char(' ') + (why->undivided.empty() ? tr("Choices are changed one at a time, the mean over %1 of %2 orders.")
                                                           .arg(widgets::countText(static_cast<qint64>(why->orders)), widgets::countText(static_cast<qint64>(why->all_orders)))
                                                     : tr("The difference cannot be shared among choices: %1").arg(QString::fromStdString(why->undivided)));
  if (!why->uncounted.empty()) text += QLatin1Char('\n') + QString::fromStdString(why->uncounted);
  for (const auto& [knobs, reason] : why->missing) {
    QStringList names;
    for (const std::string& k : knobs) names << QString::fromStdString(k);
    text += QLatin1Char('\n') + tr("No time with %1 changed: %2").arg(names.join(QStringLiteral(", ")), QString::fromStdString(reason));
    if (text.count(QLatin1Char('\n')) >= 3) break;
  }
  m_text->setText(text);
  for (const api::ChoiceDifference& c : why->choices)
    addRow({QString::fromStdString(c.name), QString::fromStdString(c.first), QString::fromStdString(c.second),
            widgets::numberText(c.share.factor, 3) + QChar(0x00D7), QString::fromStdString(logs::explained_text(*why, c))},
           tr("%1: between %2 and %3 times as fast, among the other changes that were made before")
               .arg(QString::fromStdString(c.name), widgets::numberText(c.share.least, 3), widgets::numberText(c.share.most, 3)));
  const auto addFacts = [this](std::span<const api::FactDifference> facts, const QString& help) {
    for (const api::FactDifference& f : facts) addRow({QString::fromStdString(f.name), QString::fromStdString(logs::fact_text(f.first)), QString::fromStdString(logs::fact_text(f.second)), {}, {}}, help.arg(QString::fromStdString(f.name)));
  };
  addFacts(why->facts, QStringLiteral("%1"));
  addFacts(why->counts, tr("%1, as the processor counted"));
  addFacts(std::span(why->features).first(std::min(why->features.size(), api::kShownFeatures)), tr("%1: what cost models see of the store with most arithmetic"));
  m_table->setVisible(true);
  // All rows are shown: the page scrolls, not the table.
  const int rows = m_table->topLevelItemCount();
  m_table->setFixedHeight(m_table->header()->sizeHint().height() + rows * (rows > 0 ? m_table->sizeHintForRow(0) : 0) + 2 * m_table->frameWidth() +
                          m_table->horizontalScrollBar()->sizeHint().height());
  m_why = std::move(*why);
  m_isMeasured = measured;
  m_pageButton->setEnabled(true);
}

void DifferencePanel::choosePage() {
  const records::Task* task = m_services.hub.taskValue();
  if (!task || !m_why) return;
  const QString path = QFileDialog::getSaveFileName(this, tr("Why the two differ"), QSettings().value(QStringLiteral("exports")).toString() + QStringLiteral("/why.html"),
                                                    tr("Web page (*.html)"));
  if (path.isEmpty()) return;
  QSettings().setValue(QStringLiteral("exports"), QFileInfo(path).absolutePath());
  const logs::WhySide there{m_services.explain.baseTitle().toStdString(), m_services.explain.baseCandidate()}, here{tr("the shown one").toStdString(), m_services.explain.candidate()};
  const auto work = [task = *task, there, here, why = *m_why, to = path.toStdString(),
                     times = std::string(m_isMeasured ? "measured by the workbench" : db::time_kind_name(m_services.trials.kind()))](StopToken) -> Expected<bool> {
    TW_CHECK(write_file(to, logs::kWebPage, logs::why_page(task, there, here, why, times)));
    return true;
  };
  m_pageJob.replace(m_services.jobs.run<bool>(Lane::work, this, work, [this, path](Expected<bool> written) {
    m_text->setText(m_text->text() + QLatin1Char('\n') + (written ? tr("Written: %1").arg(path) : QString::fromStdString(written.error().text())));
  }));
}

}  // namespace tw::app
