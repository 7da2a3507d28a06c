// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ir/code_view.h"

#include <Qsci/qsciscintilla.h>

#include <QDataStream>
#include <QEvent>
#include <QHBoxLayout>
#include <QIODevice>
#include <QLabel>
#include <QLineEdit>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/common/elided_label.h"
#include "widgets/ir/code_pane.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {

CodeView::CodeView(QWidget* parent) : QWidget(parent), m_splitter(new QSplitter(Qt::Horizontal, this)) {
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(2);
  auto* bar = m_bar = new QHBoxLayout;
  bar->setContentsMargins(4, 2, 4, 0);
  const std::array<QString, ColumnCount> titles = {tr("Steps"), tr("Loop nest"), tr("TIR"), tr("LLVM IR"), tr("Assembly"), tr("SASS")};
  const std::array<const char*, ColumnCount> ids = {"steps", "loops", "tir", "llvm", "assembly", "sass"};
  const std::array<CodeLanguage, ColumnCount> languages = {CodeLanguage::steps, CodeLanguage::loops,    CodeLanguage::tir,
                                                           CodeLanguage::llvm,  CodeLanguage::assembly, CodeLanguage::sass};
  for (size_t i = 0; i < ColumnCount; ++i) {
    auto* button = m_buttons[i] = new QToolButton(this);
    button->setText(titles[i]);
    button->setCheckable(true);
    button->setObjectName(QStringLiteral("button.code.") + QLatin1String(ids[i]));
    button->setAccessibleName(tr("Show column %1").arg(titles[i]));
    button->setToolTip(tr("Show or hide this column"));
    bar->addWidget(button);
    auto* pane = m_panes[i] = new CodePane(languages[i], titles[i], m_splitter);
    pane->setObjectName(QStringLiteral("view.code.") + QLatin1String(ids[i]));
    pane->editor()->setObjectName(QStringLiteral("edit.code.") + QLatin1String(ids[i]));
    m_splitter->addWidget(pane);
    const auto column = static_cast<Column>(i);
    connect(button, &QToolButton::clicked, this, [this, column](bool checked) { setColumnVisible(column, checked); });
    connect(pane, &CodePane::lineActivated, this, [this, column](int line) { Q_EMIT placeActivated({formOf(column), line}); });
  }
  m_title = new ElidedLabel(this);
  m_title->setTextFormat(Qt::PlainText);
  m_title->setForegroundRole(QPalette::PlaceholderText);
  m_title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  bar->addSpacing(8);
  bar->addWidget(m_title, 1);
  m_find = new QLineEdit(this);
  m_find->setObjectName(QStringLiteral("edit.code.find"));
  m_find->setPlaceholderText(tr("Find in code"));
  m_find->setAccessibleName(tr("Find in code"));
  m_find->setClearButtonEnabled(true);
  m_find->setMaximumWidth(170);
  m_findResult = new QLabel(this);
  bar->addWidget(m_findResult);
  bar->addWidget(m_find);
  m_error = new QLabel(this);
  m_error->setTextFormat(Qt::PlainText);
  m_error->setWordWrap(true);
  m_error->setContentsMargins(8, 2, 8, 2);
  m_error->setObjectName(QStringLiteral("label.code.error"));
  m_error->hide();
  m_help = new QLabel(this);
  m_help->setTextFormat(Qt::PlainText);
  m_help->setWordWrap(true);
  m_help->setContentsMargins(8, 2, 8, 2);
  m_help->setObjectName(QStringLiteral("label.code.step"));
  m_help->hide();
  box->addLayout(bar);
  box->addWidget(m_error);
  box->addWidget(m_help);
  box->addWidget(m_splitter, 1);
  m_splitter->setChildrenCollapsible(false);
  connect(m_find, &QLineEdit::returnPressed, this, [this] { findAgain(true); });
  for (const Column column : {Steps, Loops, Llvm, Sass}) setColumnVisible(column, false);
  for (const Column column : {Tir, Assembly}) setColumnVisible(column, true);
}

void CodeView::setColumnVisible(Column column, bool visible) {
  const auto i = static_cast<size_t>(column);
  m_wanted[i] = visible;
  m_panes[i]->setVisible(visible && hasColumn(column));
  bool any = false;
  for (const auto* pane : m_panes) any |= !pane->isHidden();
  if (!any) m_panes[hasColumn(column) ? i : static_cast<size_t>(Tir)]->setVisible(true);  // one column stays
  for (size_t c = 0; c < ColumnCount; ++c) m_buttons[c]->setChecked(!m_panes[c]->isHidden());
  recolourButtons();
}

void CodeView::recolourButtons() {
  // A checked button of Fusion is hard to tell from the others: it takes the colours of a selection.
  const Theme& theme = themeOf(this);
  for (QToolButton* button : m_buttons) {
    QPalette p = paletteFor(theme);
    if (button->isChecked()) p.setColor(QPalette::Button, theme.selection), p.setColor(QPalette::ButtonText, theme.selectionText);
    button->setPalette(p);
  }
}

void CodeView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) recolourButtons();
}

bool CodeView::isColumnVisible(Column column) const { return !m_panes[static_cast<size_t>(column)]->isHidden(); }

void CodeView::showListing(const CodeListing& listing) {
  if (listing.kernel != m_listing.kernel) scrollToTop();
  m_listing = listing;
  m_diff.reset();
  updateTexts();
}

void CodeView::scrollToTop() {
  for (CodePane* pane : m_panes) pane->scrollToTop();
}

void CodeView::showOutline(const CodeListing& outline) {
  if (m_diff || outline.forGpu != m_listing.forGpu) return;
  if (outline.kernel != m_listing.kernel) scrollToTop();
  m_listing.kernel = outline.kernel;
  m_listing.steps = outline.steps;
  m_listing.stepHelp = outline.stepHelp;
  m_listing.loops = outline.loops;
  m_listing.tir = outline.tir;
  m_listing.related = outline.related;
  for (const Column column : {Loops, Tir}) m_listing.shares[column].clear();
  for (const Column column : {Steps, Loops, Tir}) updateText(column);
  m_panes[Steps]->setLineHelp(m_listing.stepHelp);
  showStepHelp(-1);
}

void CodeView::showDiff(std::shared_ptr<const CodeDiff> diff) {
  if (!diff && !m_diff) return;
  m_diff = std::move(diff);
  updateTexts();
}

void CodeView::addToBar(QWidget* widget) { m_bar->addWidget(widget); }

void CodeView::stepChange(bool forward) {
  CodePane* pane = nullptr;
  for (CodePane* p : m_panes) {
    if (p->hasCodeFocus()) pane = p;
  }
  if (pane && pane->stepChange(forward)) return;
  for (CodePane* p : m_panes) {
    if (p != pane && !p->isHidden() && p->stepChange(forward)) return;
  }
}

void CodeView::setBusy(const QString& what) {
  m_title->setText(what);
  for (CodePane* pane : m_panes)
    if (pane->showsPlaceholder()) pane->setPlaceholder(what);
}

void CodeView::updateTexts() {
  showTitle();
  for (const auto& [column, title] :
       {std::pair(Llvm, m_listing.forGpu ? tr("CUDA C++") : tr("LLVM IR")), {Assembly, m_listing.forGpu ? tr("PTX") : tr("Assembly")}}) {
    m_panes[column]->setTitle(title, m_listing.forGpu);
    m_buttons[column]->setText(title);
    m_buttons[column]->setAccessibleName(tr("Show column %1").arg(title));
  }
  m_panes[Sass]->setTitle(tr("SASS"), m_listing.forGpu);
  m_buttons[Sass]->setVisible(hasColumn(Sass));
  setColumnVisible(Sass, m_wanted[Sass]);
  m_error->setVisible(!m_listing.error.isEmpty());
  m_error->setText(m_listing.error);
  for (int i = 0; i < ColumnCount; ++i) updateText(static_cast<Column>(i));
  m_panes[Steps]->setLineHelp(m_listing.stepHelp);
  showStepHelp(-1);
}

void CodeView::updateText(Column column) {
  const std::array<const QString*, ColumnCount> texts = {&m_listing.steps, &m_listing.loops,    &m_listing.tir,
                                                         &m_listing.llvm,  &m_listing.assembly, &m_listing.sass};
  CodePane* pane = m_panes[column];
  if (m_diff && (!m_diff->forms[column].lines.empty() || !texts[column]->isEmpty())) {
    pane->setDiff(m_diff->forms[column]);
  } else if (!texts[column]->isEmpty()) {
    pane->setText(*texts[column]);
    pane->setMergedLines(static_cast<int>(m_listing.merged[column].size()));
  } else {
    pane->setPlaceholder(m_listing.error.isEmpty() ? tr("Nothing to show. Select a task or a trial.") : tr("Not built"));
  }
  pane->setShares(pane->showsPlaceholder() ? std::vector<double>() : m_listing.shares[column], m_listing.sharesSource);
  if (column == Assembly && !m_diff) pane->showHottest();
}

void CodeView::showTitle() {
  const QString title = m_diff ? tr("%1, against %2").arg(m_listing.title, m_diff->against) : m_listing.title;
  m_title->setText(title);
  m_title->setToolTip(title.toHtmlEscaped());
}

void CodeView::showStepHelp(int line) {
  const bool known = line >= 0 && static_cast<size_t>(line) < m_listing.stepHelp.size();
  m_help->setText(known ? m_listing.stepHelp[static_cast<size_t>(line)] : QString());
  m_help->setVisible(known);
}

void CodeView::showPlace(const CodePlace& place) {
  std::array<std::vector<int>, ColumnCount> lines;
  if (!place.isNull() && m_listing.related) {
    for (size_t i = 0; i < ColumnCount; ++i) {
      const CodeLanguage form = formOf(static_cast<Column>(i));
      lines[i] = form == place.form ? std::vector<int>{place.line} : m_listing.related(place, form);
    }
  }
  showLinked(lines);
  showStepHelp(!place.isNull() && place.form == CodeLanguage::steps ? place.line : -1);
  if (place.isNull()) return;
  const auto& merged = m_listing.merged[static_cast<size_t>(place.form)];
  const bool isMerged = std::binary_search(merged.begin(), merged.end(), place.line);
  m_panes[columnOf(place.form)]->goTo(place.line);
  if (isMerged) m_title->setText(tr("The compiler added this line or made it from several: it belongs to no one line"));
}

void CodeView::showLinked(const std::array<std::vector<int>, ColumnCount>& lines) {
  showTitle();
  for (size_t i = 0; i < ColumnCount; ++i) m_panes[i]->setLinkedLines(lines[i], true);
}

void CodeView::startFind() {
  m_find->setFocus(Qt::ShortcutFocusReason);
  m_find->selectAll();
}

void CodeView::findAgain(bool forward) {
  CodePane* target = nullptr;
  for (CodePane* pane : m_panes) {
    if (pane->hasCodeFocus()) target = pane;
  }
  bool found = false;
  // The focused column first, then the others from left to right.
  if (target) found = target->find(m_find->text(), forward);
  for (CodePane* pane : m_panes) {
    if (!found && pane != target && !pane->isHidden()) found = pane->find(m_find->text(), forward);
  }
  m_findResult->setText(found || m_find->text().isEmpty() ? QString() : tr("not found"));
}

QByteArray CodeView::saveState() const {
  QByteArray state;
  QDataStream out(&state, QIODevice::WriteOnly);
  for (const bool wanted : m_wanted) out << wanted;
  out << m_splitter->saveState();
  return state;
}

void CodeView::restoreState(const QByteArray& state) {
  if (state.isEmpty()) return;
  QDataStream in(state);
  for (int i = 0; i < ColumnCount; ++i) {
    bool visible = true;
    in >> visible;
    if (in.status() == QDataStream::Ok) setColumnVisible(static_cast<Column>(i), visible);
  }
  QByteArray splitter;
  in >> splitter;
  if (in.status() == QDataStream::Ok) m_splitter->restoreState(splitter);
}

}  // namespace tw::widgets
