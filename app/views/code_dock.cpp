// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/code_dock.h"

#include <QActionGroup>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QSettings>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/explain_service.h"
#include "widgets/common/empty_state.h"
#include "widgets/ir/code_view.h"

namespace tw::app {

CodeDock::CodeDock(Services& services, QWidget* parent) : QWidget(parent), m_services(services) {
  auto* content = new QWidget(this);
  m_code = new widgets::CodeView(content);
  m_difference = new QToolButton(content);
  m_difference->setObjectName(QStringLiteral("button.code.difference"));
  m_difference->setText(tr("Difference"));
  m_difference->setAccessibleName(tr("Compare the code with that of another candidate"));
  m_difference->setToolTip(m_difference->accessibleName());
  m_difference->setPopupMode(QToolButton::InstantPopup);
  m_bases = new QMenu(m_difference);
  m_difference->setMenu(m_bases);
  m_code->addToBar(m_difference);
  m_diffBar = new QWidget(content);
  m_diffBar->setObjectName(QStringLiteral("bar.code.difference"));
  m_diffText = new QLabel(m_diffBar);
  m_diffText->setObjectName(QStringLiteral("label.code.difference"));
  m_diffText->setTextFormat(Qt::PlainText);
  m_diffText->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* bar = new QHBoxLayout(m_diffBar);
  bar->setContentsMargins(6, 0, 4, 0);
  bar->addWidget(m_diffText, 1);
  for (const char* name : {"code.previousChange", "code.nextChange", "code.noBase"}) {
    auto* button = new QToolButton(m_diffBar);
    button->setDefaultAction(services.actions.get(QLatin1String(name)));
    button->setAccessibleName(button->defaultAction()->text());
    bar->addWidget(button);
  }
  m_diffBar->hide();
  auto* inner = new QVBoxLayout(content);
  inner->setContentsMargins(0, 0, 0, 0);
  inner->setSpacing(0);
  inner->addWidget(m_diffBar);
  inner->addWidget(m_code, 1);
  m_state = new widgets::EmptyState(content, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_state);
  const auto showState = [this, &services] {
    if (services.hub.taskValue())
      m_state->showContent();
    else
      m_state->showEmpty(tr("No code"), tr("Steps, loops, TIR, LLVM IR and assembly of the selected task, trial or point appear here."),
                         services.actions.get(QStringLiteral("file.open")));
  };
  connect(&services.hub, &SelectionHub::taskChanged, this, showState);
  connect(&services.explain, &ExplainService::explained, this, [this](const widgets::CodeListing& listing) {
    m_code->showListing(listing);
    showSelection();
    showDiff();
  });
  connect(&services.explain, &ExplainService::outlined, m_code, &widgets::CodeView::showOutline);
  connect(&services.explain, &ExplainService::baseExplained, this, &CodeDock::showDiff);
  connect(&services.explain, &ExplainService::baseFailed, this, [this](const QString& reason) { showDiffBar(tr("No difference: %1").arg(reason)); });
  connect(&services.hub, &SelectionHub::placeChanged, this, &CodeDock::showSelection);
  connect(&services.hub, &SelectionHub::nodeChanged, this, &CodeDock::showSelection);
  connect(m_bases, &QMenu::aboutToShow, this, &CodeDock::fillBases);
  connect(m_code, &widgets::CodeView::placeActivated, &services.hub, &SelectionHub::setPlace);
  connect(&services.explain, &ExplainService::busy, m_code, &widgets::CodeView::setBusy);
  m_code->restoreState(QSettings().value(QStringLiteral("code/columns")).toByteArray());
  showState();
}

void CodeDock::fillBases() {
  m_bases->clear();
  auto* group = new QActionGroup(m_bases);
  const auto add = [&](const QString& text, const CodeBase& base) {
    QAction* action = m_bases->addAction(text, this, [this, base] { m_services.hub.setCodeBase(base); });
    action->setCheckable(true);
    action->setChecked(m_services.hub.codeBase() == base);
    group->addAction(action);
  };
  add(tr("No difference"), {});
  add(tr("From the default schedule"), {CodeBase::Kind::defaultSchedule, {}});
  add(tr("From the best of all sessions"), {CodeBase::Kind::best, {}});
  std::vector<TrialRef> trials = m_services.hub.tray();
  const CodeBase& now = m_services.hub.codeBase();
  if (now.kind == CodeBase::Kind::trial && std::find(trials.begin(), trials.end(), now.trial) == trials.end()) trials.push_back(now.trial);
  for (const TrialRef& t : trials) {
    if (t.task == m_services.hub.task()) add(tr("From trial %1 of session %2").arg(t.number).arg(t.session.value), {CodeBase::Kind::trial, t});
  }
  m_bases->addSeparator();
  m_bases->addAction(m_services.actions.get(QStringLiteral("code.keepBase")));
}

void CodeDock::keepAsBase() {
  const SelectionHub& hub = m_services.hub;
  if (hub.trial() >= 0) m_services.hub.setCodeBase({CodeBase::Kind::trial, hub.trialRef()});
}

void CodeDock::showDiffBar(const QString& text) {
  m_diffText->setText(text);
  m_diffText->setToolTip(text.toHtmlEscaped());
  m_diffBar->setVisible(m_services.hub.codeBase().kind != CodeBase::Kind::none);
}

void CodeDock::showDiff() {
  m_diffJob.stop();
  const auto shown = m_services.explain.explanation(), base = m_services.explain.base();
  if (!base || !shown) {
    m_code->showDiff(nullptr);
    showSelection();
    return showDiffBar(tr("Lowering what it is compared with…"));
  }
  using Diff = std::shared_ptr<const widgets::CodeDiff>;
  const auto work = [shown, base, against = m_services.explain.baseTitle()](StopToken stop) -> Expected<Diff> {
    auto diff = std::make_shared<widgets::CodeDiff>();
    diff->against = against;
    const auto tir = [](const api::Explanation& e) -> const std::string& { return e.tir.empty() ? e.lowered : e.tir; };
    const std::pair<const std::string*, const std::string*> forms[] = {{&base->steps, &shown->steps},       {&base->loops, &shown->loops},
                                                                       {&tir(*base), &tir(*shown)},         {&base->llvm_ir, &shown->llvm_ir},
                                                                       {&base->assembly, &shown->assembly}, {&base->sass, &shown->sass}};
    for (size_t i = 0; i < std::size(forms); ++i) {
      if (stop.stop_requested()) return Error(ErrorCode::cancelled, "Stopped");
      diff->forms[i] = widgets::diffLines(*forms[i].first, *forms[i].second);
    }
    return Diff(std::move(diff));
  };
  m_diffJob.replace(m_services.jobs.run<Diff>(Lane::work, this, work, [this](Expected<Diff> diff) {
    if (!diff) return showDiffBar(tr("No difference: %1").arg(QString::fromStdString(diff.error().text())));
    m_code->showDiff(*diff);
    showSelection();
    int added = 0, removed = 0, places = 0;
    for (int c = 0; c < widgets::CodeView::ColumnCount; ++c) {
      if (!m_code->isColumnVisible(static_cast<widgets::CodeView::Column>(c))) continue;
      const widgets::LineDiff& form = (*diff)->forms[static_cast<size_t>(c)];
      added += form.added, removed += form.removed, places += static_cast<int>(form.changes.size());
    }
    const auto& other = m_services.explain.base();
    if (other && other->error)
      showDiffBar(tr("%1 is not built whole: %2").arg((*diff)->against, QString::fromStdString(other->error->text())));
    else if (places == 0)
      showDiffBar(tr("The shown columns are the same as those of: %1").arg((*diff)->against));
    else
      showDiffBar(tr("Against %1: +%2 −%3 lines in %n place(s)", nullptr, places).arg((*diff)->against).arg(added).arg(removed));
  }));
}

void CodeDock::showSelection() {
  const widgets::CodePlace place = m_services.hub.place();
  if (!place.isNull()) return m_code->showPlace(place);
  std::array<std::vector<int>, widgets::CodeView::ColumnCount> lines;
  for (size_t i = 0; i < lines.size(); ++i)
    lines[i] = m_services.explain.linesOfNode(m_services.hub.node(), widgets::CodeView::formOf(static_cast<widgets::CodeView::Column>(i)));
  m_code->showLinked(lines);
}

CodeDock::~CodeDock() { QSettings().setValue(QStringLiteral("code/columns"), m_code->saveState()); }

}  // namespace tw::app
