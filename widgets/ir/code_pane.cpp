// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ir/code_pane.h"

#include <Qsci/qsciscintilla.h>

#include <QEvent>
#include <QLabel>
#include <QVBoxLayout>
#include <utility>

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
  // The editor reports the cursor late, when it is next painted: what was set by program is known by its line.
  connect(m_editor, &QsciScintilla::cursorPositionChanged, this, [this](int line, int) {
    if (std::exchange(m_line, line) != line) Q_EMIT lineActivated(line);
  });
  m_editor->viewport()->installEventFilter(this);
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
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) restyle();
}

bool CodePane::eventFilter(QObject* watched, QEvent* event) {
  // A click on the line where the cursor is already.
  if (watched == m_editor->viewport() && event->type() == QEvent::MouseButtonRelease && m_editor->length() > 0) {
    int line = 0, column = 0;
    m_editor->getCursorPosition(&line, &column);
    m_line = line;
    Q_EMIT lineActivated(line);
  }
  return QWidget::eventFilter(watched, event);
}

void CodePane::setText(const QString& text) {
  m_placeholder->hide();
  m_editor->show();
  if (text == m_editor->text()) return;
  const int line = m_editor->firstVisibleLine();
  m_editor->setText(text);
  m_editor->setFirstVisibleLine(line < m_editor->lines() ? line : 0);
  m_line = 0;
  m_editor->setCursorPosition(0, 0);
  m_linked.clear();
  m_merged = 0;
  m_editor->markerDeleteAll(kLinkMarker);
  m_editor->setMarginWidth(0, QStringLiteral(" %1").arg(m_editor->lines()));
  showTitle();
}

void CodePane::showTitle() {
  if (m_editor->length() == 0) return m_title->setText(m_titleText);
  QString title = tr("%1 · lines: %2").arg(m_titleText).arg(m_editor->lines());
  if (m_merged > 0) title += tr(", merged: %1").arg(m_merged);
  if (!m_linked.empty()) title += tr(" · linked: %1").arg(m_linked.size());
  m_title->setText(title);
  m_title->setToolTip(
      m_merged > 0 ? tr("Merged lines were added by the compiler or made from several lines; they belong to no one line and are not guessed at.") : QString());
}

void CodePane::setMergedLines(int count) {
  m_merged = count;
  showTitle();
}

void CodePane::goTo(int line) {
  int at = 0, column = 0;
  m_editor->getCursorPosition(&at, &column);
  if (at == line || line >= m_editor->lines()) return;
  m_line = line;
  m_editor->setCursorPosition(line, 0);
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
  showTitle();
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
