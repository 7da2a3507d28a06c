// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ir/code_editor.h"

#include <Qsci/qsciscintilla.h>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <cctype>

#include "widgets/ir/code_lexer.h"
#include "widgets/ir/no_text_drag.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {

constexpr int kProblemIndicator = 8, kProblemMarker = 6;

}  // namespace

CodeEditor::CodeEditor(const QString& title, QWidget* parent)
    : QWidget(parent), m_editor(new QsciScintilla(this)), m_lexer(new CodeLexer(CodeLanguage::expression, this)), m_title(new QLabel(title, this)) {
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(1);
  m_title->setContentsMargins(6, 1, 6, 1);
  m_title->setTextFormat(Qt::PlainText);
  m_title->setBuddy(m_editor);
  box->addWidget(m_title);
  box->addWidget(m_editor, 1);
  m_editor->setAccessibleName(title);
  m_editor->setUtf8(true);
  m_editor->setEolMode(QsciScintilla::EolUnix);
  m_editor->setFrameShape(QFrame::NoFrame);
  m_editor->setCaretLineVisible(true);
  m_editor->setMarginType(0, QsciScintilla::NumberMargin);
  m_editor->setMarginWidth(0, QStringLiteral(" 1000"));
  m_editor->setMarginWidth(1, 0);
  m_editor->setLexer(m_lexer);
  new NoTextDrag(*m_editor);
  m_editor->setTabWidth(4);
  m_editor->setIndentationsUseTabs(false);
  m_editor->setAutoIndent(true);
  m_editor->setWrapMode(QsciScintilla::WrapWord);  // so that what a text says of itself is read whole
  m_editor->setWrapIndentMode(QsciScintilla::WrapIndentIndented);
  m_editor->setBraceMatching(QsciScintilla::SloppyBraceMatch);
  m_editor->SendScintilla(QsciScintilla::SCI_SETEXTRAASCENT, 1);
  m_editor->SendScintilla(QsciScintilla::SCI_SETEXTRADESCENT, 1);
  m_editor->indicatorDefine(QsciScintilla::SquiggleIndicator, kProblemIndicator);
  m_editor->markerDefine(QsciScintilla::Background, kProblemMarker);
  connect(m_editor, &QsciScintilla::textChanged, this, &CodeEditor::textEdited);
  m_editor->viewport()->installEventFilter(this);
  m_editor->installEventFilter(this);
  restyle();
}

void CodeEditor::restyle() {
  const Theme& theme = themeOf(this);
  dressEditor(*m_editor, *m_lexer, theme);
  m_editor->setMatchedBraceBackgroundColor(theme.linkBand);
  m_editor->setMatchedBraceForegroundColor(theme.text);
  m_editor->setUnmatchedBraceBackgroundColor(theme.base);
  m_editor->setUnmatchedBraceForegroundColor(theme.error);
  m_editor->setIndicatorForegroundColor(theme.error, kProblemIndicator);
  m_editor->setMarkerBackgroundColor(theme.errorBanner, kProblemMarker);
}

void CodeEditor::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) restyle();
}

bool CodeEditor::eventFilter(QObject* watched, QEvent* event) {
  // Tab leaves the editor as it leaves every view; lines are indented as the one before.
  if (watched == m_editor && event->type() == QEvent::KeyPress) {
    const int key = static_cast<const QKeyEvent*>(event)->key();
    if (key == Qt::Key_Tab || key == Qt::Key_Backtab) return focusNextPrevChild(key == Qt::Key_Tab);
  }
  if (watched == m_editor->viewport() && event->type() == QEvent::ToolTip) {
    const auto* at = static_cast<const QHelpEvent*>(event);
    const long place = m_editor->SendScintilla(QsciScintilla::SCI_POSITIONFROMPOINT, static_cast<unsigned long>(std::max(0, at->pos().x())), static_cast<long>(at->pos().y()));
    const int line = static_cast<int>(m_editor->SendScintilla(QsciScintilla::SCI_LINEFROMPOSITION, place));
    QToolTip::showText(at->globalPos(), line == m_problemLine ? QStringLiteral("<p>%1</p>").arg(m_problem.toHtmlEscaped()) : QString(), this);
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

void CodeEditor::setTitle(const QString& title) {
  m_title->setText(title);
  m_editor->setAccessibleName(title);
}

void CodeEditor::setText(const QString& text) {
  clearProblem();
  m_editor->setText(text);
  m_editor->setModified(false);
}

QString CodeEditor::text() const { return m_editor->text(); }
QWidget* CodeEditor::input() const { return m_editor; }
bool CodeEditor::isModified() const { return m_editor->isModified(); }
void CodeEditor::setModified(bool modified) { m_editor->setModified(modified); }

void CodeEditor::setProblem(int line, int column, const QString& message) {
  clearProblem();
  const QByteArray bytes = text().toUtf8();
  m_problem = message;
  m_problemLine = std::clamp(line - 1, 0, std::max(0, m_editor->lines() - 1));
  const int lineStart = static_cast<int>(m_editor->SendScintilla(QsciScintilla::SCI_POSITIONFROMLINE, m_problemLine));
  const int lineEnd = static_cast<int>(m_editor->SendScintilla(QsciScintilla::SCI_GETLINEENDPOSITION, m_problemLine));
  m_problemStart = std::clamp(lineStart + column - 1, lineStart, lineEnd);
  m_problemEnd = m_problemStart;
  const auto isWord = [&](int i) { return std::isalnum(static_cast<unsigned char>(bytes[i])) || bytes[i] == '_' || bytes[i] == '.'; };
  while (m_problemEnd < lineEnd && isWord(m_problemEnd)) ++m_problemEnd;
  if (m_problemEnd == m_problemStart) m_problemEnd = std::min(m_problemStart + 1, lineEnd);
  if (m_problemEnd == m_problemStart) m_problemStart = lineStart;  // behind the end: the whole line
  m_editor->SendScintilla(QsciScintilla::SCI_SETINDICATORCURRENT, kProblemIndicator);
  m_editor->SendScintilla(QsciScintilla::SCI_INDICATORFILLRANGE, static_cast<unsigned long>(m_problemStart), static_cast<long>(m_problemEnd - m_problemStart));
  m_editor->markerAdd(m_problemLine, kProblemMarker);
}

void CodeEditor::clearProblem() {
  m_editor->SendScintilla(QsciScintilla::SCI_SETINDICATORCURRENT, kProblemIndicator);
  m_editor->SendScintilla(QsciScintilla::SCI_INDICATORCLEARRANGE, 0ul, static_cast<long>(m_editor->length()));
  m_editor->markerDeleteAll(kProblemMarker);
  m_problem.clear();
  m_problemLine = -1;
}

QString CodeEditor::problemText() const {
  return m_problemLine < 0 ? QString() : QString::fromUtf8(text().toUtf8().sliced(m_problemStart, m_problemEnd - m_problemStart));
}

void CodeEditor::goToProblem() {
  if (m_problemLine < 0) return;
  m_editor->SendScintilla(QsciScintilla::SCI_GOTOPOS, static_cast<unsigned long>(m_problemStart));
  m_editor->setFocus();
}

Table CodeEditor::table() const {
  Table table;
  table.columns = {tr("line"), m_title->text()};
  const QStringList lines = text().split(QLatin1Char('\n'));
  for (qsizetype i = 0; i < lines.size() - (lines.back().isEmpty() ? 1 : 0); ++i) table.rows.push_back({QString::number(i + 1), lines[i]});
  return table;
}

}  // namespace tw::widgets
