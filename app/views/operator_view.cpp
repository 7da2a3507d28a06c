// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/operator_view.h"

#include <QComboBox>
#include <QDir>
#include <QEvent>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QSaveFile>
#include <QSettings>
#include <QSplitter>
#include <QStandardPaths>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/model_service.h"
#include "engine/base/text.h"
#include "engine/graph/expression.h"
#include "engine/ir/lexer.h"
#include "engine/space/own/operators.h"
#include "engine/te/source.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/error_label.h"
#include "widgets/common/format.h"
#include "widgets/ir/code_editor.h"
#include "widgets/ir/code_pane.h"
#include "widgets/tuning/knob_text.h"

namespace tw::app {
namespace {

/// After the last key, so that half a word is no mistake yet.
constexpr int kCheckMs = 250;
const char* const kFirst = "matmul";

QString summaryOf(const space::own::Operator& op) {
  const QString comment = QString::fromStdString(te::leading_comment(op.text));
  return comment.simplified();
}

}  // namespace

OperatorView::OperatorView(Services& services, QWidget* parent) : QWidget(parent), m_services(services) {
  m_editor = new widgets::CodeEditor(tr("Text"), this);
  m_editor->setObjectName(QStringLiteral("editor.operator"));
  m_loops = new widgets::CodePane(widgets::CodeLanguage::loops, tr("Loop nest"), this);
  m_loops->setObjectName(QStringLiteral("view.operator.loops"));
  m_tir = new widgets::CodePane(widgets::CodeLanguage::tir, tr("TIR"), this);
  m_tir->setObjectName(QStringLiteral("view.operator.tir"));
  m_problem = new widgets::ErrorLabel(this);
  m_problem->setObjectName(QStringLiteral("label.operator.problem"));
  m_problem->setWordWrap(true);
  m_problem->setToolTip(tr("A click goes to the place in the text"));
  m_problem->installEventFilter(this);
  m_state = new widgets::ElidedLabel(this);
  m_state->setObjectName(QStringLiteral("label.operator.state"));
  m_examples = new QComboBox(this);
  m_examples->setObjectName(QStringLiteral("combo.operator.examples"));
  m_examples->setAccessibleName(tr("Start from a bundled operator"));
  m_examples->setToolTip(tr("Start from a bundled operator; its first lines explain it"));
  fillExamples();
  const auto button = [this](const QString& text, const char* name, const QString& help) {
    auto* b = new QToolButton(this);
    b->setText(text);
    b->setAccessibleName(text);
    b->setObjectName(QLatin1String(name));
    b->setToolTip(help);
    b->setFocusPolicy(Qt::StrongFocus);
    return b;
  };
  m_open = button(tr("Open…"), "button.operator.open", tr("Read the text of a file (.te)"));
  m_save = button(tr("Save as…"), "button.operator.save", tr("Write the text to a file (.te), which tw tune and tw build take too"));
  m_tune = button(tr("Tune this"), "button.operator.tune", tr("Save the text, open it as the network and start a session with the options of the run bar"));
  m_tune->setEnabled(false);

  auto* bar = new QHBoxLayout;
  bar->setSpacing(6);
  bar->addWidget(m_examples);
  bar->addWidget(m_open);
  bar->addWidget(m_save);
  bar->addStretch(1);
  bar->addWidget(m_tune);
  auto* right = new QSplitter(Qt::Vertical, this);
  right->setObjectName(QStringLiteral("splitter.operator.code"));
  right->addWidget(m_loops);
  right->addWidget(m_tir);
  right->setChildrenCollapsible(false);
  auto* split = new QSplitter(Qt::Horizontal, this);
  split->setObjectName(QStringLiteral("splitter.operator"));
  split->addWidget(m_editor);
  split->addWidget(right);
  split->setChildrenCollapsible(false);
  split->setStretchFactor(0, 11);
  split->setStretchFactor(1, 9);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(6, 4, 6, 2);
  box->setSpacing(4);
  box->addLayout(bar);
  box->addWidget(split, 1);
  box->addWidget(m_problem);
  box->addWidget(m_state);

  m_later.setSingleShot(true);
  m_later.setInterval(kCheckMs);
  connect(&m_later, &QTimer::timeout, this, &OperatorView::check);
  connect(m_editor, &widgets::CodeEditor::textEdited, this, &OperatorView::edited);
  connect(m_examples, &QComboBox::activated, this, [this](int i) {
    const QString name = m_examples->itemData(i).toString();
    if (!name.isEmpty() && mayReplace()) startFrom(name);
    m_examples->setCurrentIndex(0);
  });
  connect(m_open, &QToolButton::clicked, this, &OperatorView::chooseOpen);
  connect(m_save, &QToolButton::clicked, this, &OperatorView::chooseSave);
  connect(m_tune, &QToolButton::clicked, this, &OperatorView::tune);
  connect(&services.models, &ModelService::opened, this, [this](const OpenModelPtr& model) {
    if (const QString waited = std::exchange(m_waiting, {}); waited.isEmpty() || model->path != waited) return;  // or another one was opened meanwhile
    // When everything else knows of the network.
    QTimer::singleShot(0, this, [this] {
      m_services.actions.refresh();
      QAction* start = m_services.actions.get(QStringLiteral("tune.start"));
      if (!start->isEnabled()) return m_problem->showProblem(tr("No session can start: %1").arg(ActionRegistry::whyNotOf(start)));
      m_services.actions.get(QStringLiteral("view.perspective.tune"))->trigger();
      start->trigger();
    });
  });
  connect(&services.models, &ModelService::failed, this, [this](const QString& message, const QString&) {
    if (!m_waiting.isEmpty()) m_problem->showProblem(message);
    m_waiting.clear();
  });
  connect(&services.models, &ModelService::cancelled, this, [this] { m_waiting.clear(); });
  connect(&services.hub, &SelectionHub::modelChanged, this, &OperatorView::showModel);
}

void OperatorView::fillExamples() {
  m_examples->addItem(tr("New from…"));
  for (const space::own::Operator& op : space::own::operators()) {
    m_examples->addItem(QString::fromUtf8(op.name), QString::fromUtf8(op.name));
    m_examples->setItemData(m_examples->count() - 1, QStringLiteral("<p>%1</p>").arg(summaryOf(op).toHtmlEscaped()), Qt::ToolTipRole);
  }
}

bool OperatorView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_problem && event->type() == QEvent::MouseButtonRelease) m_editor->goToProblem();
  return QWidget::eventFilter(watched, event);
}

void OperatorView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (m_editor->text().isEmpty()) startFrom(QLatin1String(kFirst));
}

void OperatorView::showModel() {
  const OpenModelPtr& model = m_services.hub.model();
  const std::string* text = model ? graph::text_of(model->network.imported) : nullptr;
  if (text && !m_editor->isModified() && m_editor->text() != QString::fromStdString(*text)) return setText(QString::fromStdString(*text), model->name, model->path);
  if (isVisible()) m_later.start();  // another target, perhaps
}

void OperatorView::startFrom(const QString& name) {
  const space::own::Operator* op = space::own::find_operator(name.toStdString());
  if (op) setText(QString::fromUtf8(op->text), name, {});
}

QString OperatorView::loops() const { return m_loops->text(); }

void OperatorView::setText(const QString& text, const QString& name, const QString& path) {
  m_name = name;
  m_path = path;
  m_isRight = false;
  m_editor->setText(text);
  m_later.stop();
  check();
}

void OperatorView::showTitle() {
  const QString name = m_path.isEmpty() ? m_name + QStringLiteral(".te") : QFileInfo(m_path).fileName();
  m_editor->setTitle(m_editor->isModified() || m_path.isEmpty() ? tr("%1, not saved").arg(name) : name);
  m_editor->setToolTip(m_path);
}

void OperatorView::edited() {
  m_isRight = false;
  m_tune->setEnabled(false);
  showTitle();
  m_later.start();
}

void OperatorView::check() {
  showTitle();
  m_state->setText(tr("Looking the text through…"));
  const auto work = [&engine = m_services.engine, text = m_editor->text().toStdString()](StopToken stop) { return engine.checkText(text, stop); };
  m_job.replace(m_services.jobs.run<Engine::CheckedText>(Lane::work, this, work, [this](Expected<Engine::CheckedText> result) { show(result); }));
}

void OperatorView::show(const Expected<Engine::CheckedText>& result) {
  m_isRight = result.has_value();
  m_tune->setEnabled(m_isRight);
  m_editor->clearProblem();
  m_problem->showProblem({});
  if (!result) {
    const Error& e = result.error();
    const QString message = QString::fromStdString(e.message);
    if (const auto place = ir::place_of(e)) m_editor->setProblem(place->line, place->column, message);
    m_problem->showProblem(QString::fromStdString(e.text()));
    m_state->setText(tr("Loop nest and TIR are of the text when it was last right."));
    return;
  }
  m_loops->setText(QString::fromStdString(result->loops));
  m_tir->setText(QString::fromStdString(result->tir));
  QString state = QString::fromStdString(si_text(static_cast<double>(result->flops), "FLOP")) + QStringLiteral(" · ");
  if (!result->space || result->space->knobs().empty()) {
    state += result->point < 0 ? tr("no schedule in the text: the code shown is by rule") : tr("no knobs: one point");
  } else {
    state += tr("%n knob(s)", nullptr, static_cast<int>(result->space->knobs().size())) + QStringLiteral(", ") +
             tr("%1 points").arg(widgets::countText(result->points)) + QStringLiteral(" · ") +
             tr("shown: %1").arg(widgets::pointText(*result->space, result->point));
  }
  if (result->refused)
    state += QStringLiteral(" · ") + tr("%1 of %2 points looked at can be built; the first that cannot: %3").arg(result->built).arg(result->looked).arg(QString::fromStdString(result->refused->text()));
  m_state->setText(state);
}

QString OperatorView::ownPath() const {
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation) + QStringLiteral("/operators");
  QDir().mkpath(folder);
  QString path = folder + QLatin1Char('/') + m_name + QStringLiteral(".te");
  const auto differs = [&] {
    QFile file(path);
    return file.exists() && (!file.open(QIODevice::ReadOnly) || QString::fromUtf8(file.readAll()) != m_editor->text());
  };
  for (int n = 2; differs(); ++n) path = folder + QStringLiteral("/%1_%2.te").arg(m_name).arg(n);
  return path;
}

bool OperatorView::save(const QString& path) {
  QSaveFile file(path);
  const QByteArray bytes = m_editor->text().toUtf8();
  if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit()) {
    m_problem->showProblem(tr("The text cannot be written to %1: %2").arg(path, file.errorString()));
    return false;
  }
  m_path = path;
  m_name = QFileInfo(path).completeBaseName();
  m_editor->setModified(false);
  showTitle();
  return true;
}

void OperatorView::tune() {
  if (!m_isRight || !save(m_path.isEmpty() ? ownPath() : m_path)) return;
  m_waiting = m_path;
  m_services.models.openFile(m_path);
}

bool OperatorView::mayReplace() {
  if (!m_editor->isModified()) return true;
  return QMessageBox::question(this, tr("Replace the text"), tr("The text has changes that are not saved. Replace it?")) == QMessageBox::Yes;
}

void OperatorView::chooseOpen() {
  if (!mayReplace()) return;
  const QString path = QFileDialog::getOpenFileName(this, tr("Open a computation"), QSettings().value(QStringLiteral("folder")).toString(), tr("Computations (*.te)"));
  if (path.isEmpty()) return;
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return m_problem->showProblem(tr("%1 cannot be read: %2").arg(path, file.errorString()));
  QSettings().setValue(QStringLiteral("folder"), QFileInfo(path).absolutePath());
  setText(QString::fromUtf8(file.readAll()), QFileInfo(path).completeBaseName(), path);
}

void OperatorView::chooseSave() {
  QString path = QFileDialog::getSaveFileName(this, tr("Save the computation"),
                                              m_path.isEmpty() ? QSettings().value(QStringLiteral("folder")).toString() + QLatin1Char('/') + m_name + QStringLiteral(".te") : m_path,
                                              tr("Computations (*.te)"));
  if (path.isEmpty()) return;
  if (!path.endsWith(QLatin1String(".te"))) path += QStringLiteral(".te");
  if (save(path)) QSettings().setValue(QStringLiteral("folder"), QFileInfo(path).absolutePath());
}

}  // namespace tw::app
