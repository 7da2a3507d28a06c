// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/import_dialog.h"

#include <QDialogButtonBox>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/common/format.h"

namespace tw::app {
namespace {
/// More bad lines than this are counted, not listed.
constexpr size_t kProblemsListed = 1000;
}  // namespace

ImportDialog::ImportDialog(ImportService& service, QWidget* parent) : Dialog(parent), m_service(service) {
  setObjectName(QStringLiteral("dialog.import"));
  setWindowTitle(tr("Import log"));
  resize(760, 520);
  const auto label = [this] {
    auto* l = new QLabel(this);
    l->setTextFormat(Qt::PlainText);
    l->setWordWrap(true);
    return l;
  };
  m_summary = label();
  m_summary->setObjectName(QStringLiteral("label.import.summary"));
  m_problemsTitle = label();
  const auto table = [this](const char* id, const QString& name, const QStringList& columns) {
    auto* t = new QTreeWidget(this);
    t->setObjectName(QLatin1String(id));
    t->setAccessibleName(name);
    t->setHeaderLabels(columns);
    t->setRootIsDecorated(false);
    t->setUniformRowHeights(true);
    t->setAlternatingRowColors(true);
    return t;
  };
  m_tasks = table("table.import.tasks", tr("Tasks of the log"), {tr("Task"), tr("Target"), tr("Trials"), tr("Failed"), tr("Code")});
  const int widths[] = {290, 180, 70, 70};
  for (int c = 0; c < 4; ++c) m_tasks->header()->resizeSection(c, widths[c]);
  m_problems = table("table.import.problems", tr("Lines of no use"), {tr("Line"), tr("Kind"), tr("Reason")});
  m_problems->header()->resizeSection(0, 70);
  m_progress = new QProgressBar(this);
  m_progress->setObjectName(QStringLiteral("progress.import"));
  m_progress->setAccessibleName(tr("Trials stored"));
  auto* buttons = new QDialogButtonBox(this);
  m_import = buttons->addButton(tr("&Import"), QDialogButtonBox::ActionRole);
  m_import->setObjectName(QStringLiteral("button.import.start"));
  m_import->setAccessibleName(tr("Import"));
  m_close = buttons->addButton(QDialogButtonBox::Cancel);
  m_close->setObjectName(QStringLiteral("button.import.cancel"));
  m_close->setAccessibleName(tr("Cancel"));
  auto* box = new QVBoxLayout(this);
  box->addWidget(m_summary);
  box->addWidget(m_tasks, 3);
  box->addWidget(m_problemsTitle);
  box->addWidget(m_problems, 2);
  box->addWidget(m_progress);
  box->addWidget(buttons);
  connect(m_import, &QPushButton::clicked, &service, &ImportService::start);
  connect(buttons, &QDialogButtonBox::rejected, this, &ImportDialog::reject);
  connect(&service, &ImportService::stateChanged, this, &ImportDialog::showState);
  connect(&service, &ImportService::progressed, this, [this] {
    m_progress->setMaximum(static_cast<int>(std::max<qint64>(1, m_service.records())));
    m_progress->setValue(static_cast<int>(m_service.stored()));
  });
  connect(&service, &ImportService::imported, this, &QDialog::accept);
  showState();
}

void ImportDialog::reject() {
  m_service.cancel();
  // While trials are stored the dialog stays until the import has ended, so that it is clear what was kept.
  if (m_service.state() != ImportService::State::importing) Dialog::reject();
}

void ImportDialog::showState() {
  const auto state = m_service.state();
  m_import->setEnabled(state == ImportService::State::previewed && !m_service.content().tasks.empty());
  m_progress->setVisible(state == ImportService::State::reading || state == ImportService::State::importing);
  m_progress->setRange(0, state == ImportService::State::reading ? 0 : 100);
  m_close->setText(state == ImportService::State::importing ? tr("Stop") : tr("Cancel"));
  if (state == ImportService::State::reading) m_summary->setText(tr("Reading %1…").arg(QFileInfo(m_service.path()).fileName()));
  if (state == ImportService::State::previewed) showContent();
  if (state == ImportService::State::idle) Dialog::reject();
}

void ImportDialog::showContent() {
  const logs::LogContent& c = m_service.content();
  qint64 records = 0, failures = 0;
  for (const logs::LogTask& t : c.tasks) records += t.records, failures += t.failures;
  m_summary->setText(tr("%1: a log of %2 with %3 lines. It holds %4 trials of %n task(s), %5 of them failures.", nullptr, static_cast<int>(c.tasks.size()))
                         .arg(QFileInfo(m_service.path()).fileName(), c.format == logs::LogFormat::ansor ? tr("Ansor") : c.format == logs::LogFormat::meta_schedule ? tr("MetaSchedule") : tr("AutoTVM"),
                              widgets::countText(c.lines), widgets::countText(records), widgets::countText(failures)));
  m_tasks->clear();
  for (const logs::LogTask& t : c.tasks) {
    auto* item = new QTreeWidgetItem(m_tasks, {QString::fromStdString(t.name), QString::fromStdString(t.target), widgets::countText(t.records),
                                               widgets::countText(t.failures), t.computable ? tr("yes") : tr("no: times only")});
    item->setTextAlignment(2, Qt::AlignRight | Qt::AlignVCenter);
    item->setTextAlignment(3, Qt::AlignRight | Qt::AlignVCenter);
    for (int column = 0; column < 2; ++column) item->setToolTip(column, item->text(column).toHtmlEscaped());
  }
  m_problems->clear();
  // Lines that are wrong come before those that are only there twice.
  auto problems = c.problems;
  std::stable_partition(problems.begin(), problems.end(), [](const auto& p) { return p.kind != "duplicate"; });
  for (size_t i = 0; i < std::min(kProblemsListed, problems.size()); ++i) {
    const auto& p = problems[i];
    auto* item = new QTreeWidgetItem(m_problems, {QString::number(p.line), QString::fromStdString(p.kind), QString::fromStdString(p.reason)});
    item->setToolTip(2, item->text(2).toHtmlEscaped());
  }
  m_problemsTitle->setText(c.problems.empty()                    ? tr("Every line can be used.")
                           : c.problems.size() > kProblemsListed ? tr("%1 lines of no use, the first %2 of them:").arg(c.problems.size()).arg(kProblemsListed)
                                                                 : tr("%n line(s) of no use:", nullptr, static_cast<int>(c.problems.size())));
  m_problems->setVisible(!c.problems.empty());
}

}  // namespace tw::app
