// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ir/code_pane.h"

#include <Qsci/qsciscintilla.h>

#include <QEvent>
#include <QLabel>
#include <QVBoxLayout>

#include "widgets/ir/code_lexer.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {
constexpr int kLinkMarker = 3;
}

CodePane::CodePane(CodeLanguage language, const QString& title, QWidget* parent)
    : QWidget(parent),
      m_editor(new QsciScintilla(this)),
      m_lexer(new CodeLexer(language, this)),
      m_title(new QLabel(title, this)),
      m_placeholder(new QLabel(this)),
      m_titleText(title) {
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(1);
  m_title->setContentsMargins(6, 1, 6, 1);
  m_title->setTextFormat(Qt::PlainText);
  m_placeholder->setTextFormat(Qt::PlainText);
  m_placeholder->setWordWrap(true);
  m_placeholder->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  m_placeholder->setMargin(12);
  m_placeholder->setBackgroundRole(QPalette::Base);
  m_placeholder->setAutoFillBackground(true);
  m_placeholder->setForegroundRole(QPalette::PlaceholderText);
  box->addWidget(m_title);
  box->addWidget(m_editor, 1);
  box->addWidget(m_placeholder, 1);
  m_placeholder->hide();
  m_editor->setAccessibleName(title);
  m_editor->setReadOnly(true);
  m_editor->setUtf8(true);
  m_editor->setFrameShape(QFrame::NoFrame);
  m_editor->setCaretLineVisible(true);
  m_editor->setMarginType(0, QsciScintilla::NumberMargin);
  m_editor->setMarginWidth(1, 0);
  m_editor->setLexer(m_lexer);
  m_editor->setTabWidth(4);
  m_editor->setScrollWidth(400);
  m_editor->setScrollWidthTracking(true);
  m_editor->SendScintilla(QsciScintilla::SCI_SETEXTRAASCENT, 1);
  m_editor->SendScintilla(QsciScintilla::SCI_SETEXTRADESCENT, 1);
  m_editor->SendScintilla(QsciScintilla::SCI_SETCARETSTYLE, 1);
  m_editor->markerDefine(QsciScintilla::Background, kLinkMarker);
  connect(m_editor, &QsciScintilla::cursorPositionChanged, this, [this](int line, int) {
    if (!m_quiet) Q_EMIT lineActivated(line);
  });
  restyle();
}

void CodePane::restyle() {
  const Theme& theme = themeOf(this);
  const QFont font = codeFont();
  m_lexer->setTheme(theme, font);
  m_editor->setPaper(theme.base);
  m_editor->setColor(theme.text);
  m_editor->setMarginsFont(font);
  m_editor->setMarginsBackgroundColor(theme.alternateBase);
  m_editor->setMarginsForegroundColor(theme.mutedText);
  m_editor->setCaretLineBackgroundColor(theme.currentBand);
  m_editor->setCaretForegroundColor(theme.text);
  m_editor->setSelectionBackgroundColor(theme.selection);
  m_editor->setSelectionForegroundColor(theme.selectionText);
  m_editor->setMarkerBackgroundColor(theme.linkBand, kLinkMarker);
}

void CodePane::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) restyle();
}

void CodePane::setText(const QString& text) {
  m_placeholder->hide();
  m_editor->show();
  if (text == m_editor->text()) return;
  m_quiet = true;
  const int line = m_editor->firstVisibleLine();
  m_editor->setText(text);
  m_editor->setFirstVisibleLine(line < m_editor->lines() ? line : 0);
  m_editor->setCursorPosition(0, 0);
  m_quiet = false;
  m_linked.clear();
  m_editor->markerDeleteAll(kLinkMarker);
  m_editor->setMarginWidth(0, QStringLiteral(" %1").arg(m_editor->lines()));
  m_title->setText(text.isEmpty() ? m_titleText : tr("%1 · lines: %2").arg(m_titleText).arg(m_editor->lines()));
}

QString CodePane::text() const { return m_editor->text(); }

int CodePane::lineCount() const { return m_editor->lines(); }

void CodePane::setPlaceholder(const QString& text) {
  setText(QString());
  m_placeholder->setText(text);
  m_editor->hide();
  m_placeholder->show();
}

void CodePane::setLinkedLines(const std::vector<int>& lines, bool reveal) {
  m_editor->markerDeleteAll(kLinkMarker);
  m_linked = lines;
  for (const int line : lines) m_editor->markerAdd(line, kLinkMarker);
  if (!reveal || lines.empty()) return;
  const int first = m_editor->firstVisibleLine();
  const int room = static_cast<int>(m_editor->SendScintilla(QsciScintilla::SCI_LINESONSCREEN));
  for (const int line : lines) {
    if (line >= first && line < first + room) return;
  }
  m_editor->setFirstVisibleLine(std::max(0, lines.front() - room / 3));
}

bool CodePane::find(const QString& text, bool forward) {
  if (text.isEmpty()) return false;
  int line = 0, column = 0, lineTo = 0, columnTo = 0;
  m_editor->getSelection(&line, &column, &lineTo, &columnTo);
  if (line < 0) m_editor->getCursorPosition(&line, &column), lineTo = line, columnTo = column;
  return m_editor->findFirst(text, false, false, false, true, forward, forward ? lineTo : line, forward ? columnTo : column);
}

bool CodePane::hasCodeFocus() const { return m_editor->hasFocus(); }

}  // namespace tw::widgets
