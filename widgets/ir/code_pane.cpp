// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ir/code_pane.h"

#include <Qsci/qsciscintilla.h>
#include <fmt/format.h>

#include <QHelpEvent>
#include <QLabel>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <string>
#include <utility>

#include "widgets/common/format.h"
#include "widgets/ir/code_lexer.h"
#include "widgets/ir/instruction_help.h"
#include "widgets/ir/no_text_drag.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {
constexpr int kLinkMarker = 3, kAddedMarker = 4, kRemovedMarker = 5;
}

CodePane::CodePane(CodeLanguage language, const QString& title, QWidget* parent)
    : QWidget(parent),
      m_editor(new QsciScintilla(this)),
      m_lexer(new CodeLexer(language, this)),
      m_title(new QLabel(title, this)),
      m_placeholder(new QLabel(this)),
      m_language(language),
      m_titleText(title) {
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(1);
  m_title->setContentsMargins(6, 1, 6, 1);
  m_title->setTextFormat(Qt::PlainText);
  m_placeholder->setObjectName(QStringLiteral("label.code.placeholder"));
  m_placeholder->setTextFormat(Qt::PlainText);
  m_placeholder->setWordWrap(true);
  m_placeholder->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  m_placeholder->setMargin(8);
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
  m_editor->setMarginType(1, QsciScintilla::TextMarginRightJustified);
  m_editor->setMarginWidth(1, 0);
  m_editor->setLexer(m_lexer);
  new NoTextDrag(*m_editor);
  m_editor->setTabWidth(4);
  m_editor->setScrollWidth(400);
  m_editor->setScrollWidthTracking(true);
  m_editor->SendScintilla(QsciScintilla::SCI_SETEXTRAASCENT, 1);
  m_editor->SendScintilla(QsciScintilla::SCI_SETEXTRADESCENT, 1);
  m_editor->SendScintilla(QsciScintilla::SCI_SETCARETSTYLE, 1);
  for (const int marker : {kLinkMarker, kAddedMarker, kRemovedMarker}) m_editor->markerDefine(QsciScintilla::Background, marker);
  // The editor reports the cursor late, when it is next painted: what was set by program is known by its line.
  connect(m_editor, &QsciScintilla::cursorPositionChanged, this, [this](int line, int) {
    if (std::exchange(m_row, line) != line) activate(line);
  });
  m_editor->viewport()->installEventFilter(this);
  restyle();
}

void CodePane::restyle() {
  const Theme& theme = themeOf(this);
  dressEditor(*m_editor, *m_lexer, theme);
  m_editor->setMarkerBackgroundColor(theme.linkBand, kLinkMarker);
  m_editor->setMarkerBackgroundColor(theme.addedBand, kAddedMarker);
  m_editor->setMarkerBackgroundColor(theme.removedBand, kRemovedMarker);
  if (m_editor->length() == 0) return;
  // As wide as what stands in them, in the letters of now.
  if (m_diff.lines.empty()) fitNumbers();
  showShares();
}

void CodePane::fitNumbers() { m_editor->setMarginWidth(0, QStringLiteral(" %1").arg(m_editor->lines())); }

void CodePane::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) restyle();
}

bool CodePane::eventFilter(QObject* watched, QEvent* event) {
  // A click on the line where the cursor is already.
  if (watched == m_editor->viewport() && event->type() == QEvent::MouseButtonRelease && m_editor->length() > 0) {
    int line = 0, column = 0;
    m_editor->getCursorPosition(&line, &column);
    m_row = line;
    activate(line);
  }
  if (watched == m_editor->viewport() && event->type() == QEvent::ToolTip) {
    const auto* at = static_cast<const QHelpEvent*>(event);
    const int numbers = m_editor->marginWidth(0), margins = numbers + m_editor->marginWidth(1);
    const QString help = at->pos().x() >= numbers && at->pos().x() < margins ? m_sharesSource : helpAt(at->pos());
    // As a paragraph, so that it is broken into lines.
    QToolTip::showText(at->globalPos(),
                       help.isEmpty() ? QString() : QStringLiteral("<p>%1</p>").arg(help.toHtmlEscaped().replace(QLatin1Char('\n'), QLatin1String("<br>"))),
                       this);
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

QString CodePane::helpAt(const QPoint& point) const {
  const long place =
      m_editor->SendScintilla(QsciScintilla::SCI_POSITIONFROMPOINT, static_cast<unsigned long>(std::max(0, point.x())), static_cast<long>(point.y()));
  const int row = static_cast<int>(m_editor->SendScintilla(QsciScintilla::SCI_LINEFROMPOSITION, place));
  const long top = m_editor->SendScintilla(QsciScintilla::SCI_POINTYFROMPOSITION, 0, m_editor->SendScintilla(QsciScintilla::SCI_POSITIONFROMLINE, row));
  if (point.y() >= top + m_editor->SendScintilla(QsciScintilla::SCI_TEXTHEIGHT, row)) return {};  // below the last line
  const int line = lineOf(row);
  if (line >= 0 && static_cast<size_t>(line) < m_lineHelp.size()) return m_lineHelp[static_cast<size_t>(line)];
  const QString text = m_editor->text(row);
  switch (m_language) {
    case CodeLanguage::assembly:
      return instructionHelp(text, m_forGpu);
    case CodeLanguage::loops:
    case CodeLanguage::tir:
      return loopHelp(text);
    default:
      return {};
  }
}

void CodePane::setLineHelp(const std::vector<QString>& help) { m_lineHelp = help; }

void CodePane::setTitle(const QString& title, bool forGpu) {
  m_titleText = title;
  m_forGpu = forGpu;
  m_lexer->setForGpu(forGpu);
  m_editor->setAccessibleName(title);
  showTitle();
}

void CodePane::setShares(const std::vector<double>& shares, const QString& source) {
  const bool any = std::any_of(shares.begin(), shares.end(), [](double s) { return s >= 0; });
  m_shares = any ? shares : std::vector<double>();
  m_sharesSource = any ? source : QString();
  showShares();
  showTitle();
}

void CodePane::showHottest() {
  if (m_shares.empty() || m_editor->firstVisibleLine() != m_openedAt) return;
  const int row = rowOf(static_cast<int>(std::max_element(m_shares.begin(), m_shares.end()) - m_shares.begin()));
  const auto visible = static_cast<int>(m_editor->SendScintilla(QsciScintilla::SCI_LINESONSCREEN));
  m_editor->setFirstVisibleLine(row < visible ? 0 : row - visible / 3);
  m_openedAt = m_editor->firstVisibleLine();
}

void CodePane::scrollToTop() {
  m_editor->setFirstVisibleLine(0);
  m_openedAt = 0;
}

QString CodePane::shareOf(int line) const {
  return line >= 0 && static_cast<size_t>(line) < m_shares.size() && m_shares[static_cast<size_t>(line)] >= 0 ? shareText(m_shares[static_cast<size_t>(line)])
                                                                                                               : QString();
}

void CodePane::showShares() {
  if (!m_diff.lines.empty()) return markDiff();  // all margins of text show one text
  m_editor->SendScintilla(QsciScintilla::SCI_MARGINTEXTCLEARALL);
  QString widest;
  for (int line = 0; static_cast<size_t>(line) < m_shares.size(); ++line) {
    const QString text = shareOf(line);
    if (text.isEmpty()) continue;
    if (text.size() > widest.size()) widest = text;
    m_editor->SendScintilla(QsciScintilla::SCI_MARGINSETTEXT, static_cast<unsigned long>(line), text.toUtf8().constData());
    m_editor->SendScintilla(QsciScintilla::SCI_MARGINSETSTYLE, static_cast<unsigned long>(line), static_cast<long>(QsciScintilla::STYLE_LINENUMBER));
  }
  if (widest.isEmpty())
    m_editor->setMarginWidth(1, 0);
  else
    m_editor->setMarginWidth(1, QLatin1Char(' ') + widest);
}

void CodePane::setText(const QString& text) {
  if (m_diff.lines.empty() && text == m_editor->text()) {
    m_placeholder->hide();
    return m_editor->show();
  }
  m_diff = {};
  m_rowOfLine.clear();
  putText(text);
  m_editor->setMarginType(0, QsciScintilla::NumberMargin);
  fitNumbers();
  showTitle();
}

void CodePane::setDiff(const LineDiff& diff) {
  m_diff = diff;
  m_rowOfLine.clear();
  for (size_t row = 0; row < diff.lines.size(); ++row) {
    if (diff.lines[row].after >= 0) m_rowOfLine.push_back(static_cast<int>(row));
  }
  putText(diff.text);
  markDiff();
  showTitle();
}

void CodePane::putText(const QString& text) {
  m_placeholder->hide();
  m_editor->show();
  const int row = m_editor->firstVisibleLine();
  for (const int marker : {kLinkMarker, kAddedMarker, kRemovedMarker}) m_editor->markerDeleteAll(marker);
  m_editor->SendScintilla(QsciScintilla::SCI_MARGINTEXTCLEARALL);
  m_editor->setText(text);
  m_row = 0;
  m_editor->setCursorPosition(0, 0);  // which scrolls there
  const bool stays = row < m_editor->lines();
  if (!stays) m_openedAt = 0;
  m_editor->setFirstVisibleLine(stays ? row : 0);
  m_linked.clear();
  m_shares.clear();
  m_sharesSource.clear();
  m_editor->setMarginWidth(1, 0);
  m_merged = 0;
  m_stepped = false;
}

void CodePane::markDiff() {
  m_editor->setMarginType(0, QsciScintilla::TextMargin);
  int widest = 1, shares = 0;
  for (const LineDiff::Line& line : m_diff.lines) shares = std::max(shares, static_cast<int>(shareOf(line.after).size()));
  for (const LineDiff::Line& line : m_diff.lines) widest = std::max(widest, static_cast<int>(QString::number(std::max(line.before, line.after) + 1).size()));
  for (size_t row = 0; row < m_diff.lines.size(); ++row) {
    const LineDiff::Line& line = m_diff.lines[row];
    const bool added = line.kind == LineDiff::Kind::added, removed = line.kind == LineDiff::Kind::removed;
    // A removed line has the number that it had.
    std::string text = fmt::format("{:>{}} {}", (removed ? line.before : line.after) + 1, widest + 1, added ? '+' : removed ? '-' : ' ');
    if (shares > 0) text += fmt::format(" {:>{}}", removed ? std::string() : shareOf(line.after).toStdString(), shares);
    m_editor->SendScintilla(QsciScintilla::SCI_MARGINSETTEXT, row, text.c_str());
    m_editor->SendScintilla(QsciScintilla::SCI_MARGINSETSTYLE, row, static_cast<long>(QsciScintilla::STYLE_LINENUMBER));
    if (added || removed) m_editor->markerAdd(static_cast<int>(row), added ? kAddedMarker : kRemovedMarker);
  }
  m_editor->setMarginWidth(0, QString(widest + 4 + (shares > 0 ? shares + 1 : 0), QLatin1Char('0')));
  m_editor->setMarginWidth(1, 0);
}

int CodePane::rowOf(int line) const {
  if (m_diff.lines.empty()) return line;
  return line >= 0 && static_cast<size_t>(line) < m_rowOfLine.size() ? m_rowOfLine[static_cast<size_t>(line)] : -1;
}

int CodePane::lineOf(int row) const {
  if (m_diff.lines.empty()) return row;
  return row >= 0 && static_cast<size_t>(row) < m_diff.lines.size() ? m_diff.lines[static_cast<size_t>(row)].after : -1;
}

bool CodePane::stepChange(bool forward) {
  const auto& changes = m_diff.changes;
  // Nobody went anywhere yet: a change on the first row is the next one.
  const int from = forward && m_row == 0 && !std::exchange(m_stepped, true) ? -1 : m_row;
  const auto next = forward ? std::upper_bound(changes.begin(), changes.end(), from) : std::lower_bound(changes.begin(), changes.end(), from);
  if (forward ? next == changes.end() : next == changes.begin()) return false;
  m_row = forward ? *next : *(next - 1);
  m_editor->setCursorPosition(m_row, 0);
  const int room = static_cast<int>(m_editor->SendScintilla(QsciScintilla::SCI_LINESONSCREEN));
  m_editor->setFirstVisibleLine(std::max(0, m_row - room / 3));
  return true;
}

void CodePane::showTitle() {
  if (m_editor->length() == 0) return m_title->setText(m_titleText);
  const QString time = m_shares.empty() ? QString() : tr(" · % of time");
  m_title->setToolTip(m_sharesSource);
  if (!m_diff.lines.empty()) return m_title->setText(tr("%1 · +%2 −%3").arg(m_titleText).arg(m_diff.added).arg(m_diff.removed) + time);
  QString title = tr("%1 · lines: %2").arg(m_titleText).arg(m_editor->lines()) + time;
  if (m_merged > 0) title += tr(", merged: %1").arg(m_merged);
  if (!m_linked.empty()) title += tr(" · linked: %1").arg(m_linked.size());
  m_title->setText(title);
  QStringList tips;
  if (!m_sharesSource.isEmpty()) tips << tr("Beside a line: its part of the kernel's time, with what stands inside it. %1.").arg(m_sharesSource);
  if (m_merged > 0) tips << tr("Merged lines were added by the compiler or made from several lines; they belong to no one line and are not guessed at.");
  m_title->setToolTip(tips.isEmpty() ? QString() : QStringLiteral("<p>%1</p>").arg(tips.join(QLatin1Char('\n')).toHtmlEscaped().replace(QLatin1Char('\n'), QLatin1String("</p><p>"))));
}

void CodePane::setMergedLines(int count) {
  m_merged = count;
  showTitle();
}

void CodePane::activate(int row) {
  if (const int line = lineOf(row); line >= 0) return Q_EMIT lineActivated(line);
  if (row >= 0 && static_cast<size_t>(row) < m_diff.lines.size() && m_diff.lines[static_cast<size_t>(row)].before >= 0)
    Q_EMIT removedLineActivated(m_diff.lines[static_cast<size_t>(row)].before);
}

void CodePane::goTo(int line) { goToRow(rowOf(line)); }

void CodePane::goToRemoved(int line) {
  const auto at = std::find_if(m_diff.lines.begin(), m_diff.lines.end(), [line](const LineDiff::Line& l) { return l.before == line; });
  goToRow(at == m_diff.lines.end() ? -1 : static_cast<int>(at - m_diff.lines.begin()));
}

void CodePane::goToRow(int row) {
  int at = 0, column = 0;
  m_editor->getCursorPosition(&at, &column);
  if (row < 0 || at == row || row >= m_editor->lines()) return;
  m_row = row;
  m_editor->setCursorPosition(row, 0);
}

QString CodePane::text() const { return m_editor->text(); }

void CodePane::setPlaceholder(const QString& text) {
  setText(QString());
  m_placeholder->setText(text);
  m_editor->hide();
  m_placeholder->show();
}

bool CodePane::showsPlaceholder() const { return !m_placeholder->isHidden(); }

void CodePane::setLinkedLines(const std::vector<int>& lines, bool reveal) {
  m_editor->markerDeleteAll(kLinkMarker);
  m_linked = lines;
  std::vector<int> rows;
  for (const int line : lines) {
    if (rowOf(line) < 0) continue;
    rows.push_back(rowOf(line));
    m_editor->markerAdd(rows.back(), kLinkMarker);
  }
  showTitle();
  if (!reveal || rows.empty()) return;
  const int first = m_editor->firstVisibleLine();
  const int room = static_cast<int>(m_editor->SendScintilla(QsciScintilla::SCI_LINESONSCREEN));
  for (const int row : rows) {
    if (row >= first && row < first + room) return;
  }
  m_editor->setFirstVisibleLine(std::max(0, rows.front() - room / 3));
}

bool CodePane::find(const QString& text, bool forward) {
  if (text.isEmpty()) return false;
  int line = 0, column = 0, lineTo = 0, columnTo = 0;
  m_editor->getSelection(&line, &column, &lineTo, &columnTo);
  if (line < 0) m_editor->getCursorPosition(&line, &column), lineTo = line, columnTo = column;
  return m_editor->findFirst(text, false, false, false, true, forward, forward ? lineTo : line, forward ? columnTo : column);
}

Table CodePane::table() const {
  Table table;
  const QStringList lines = m_editor->text().split(QLatin1Char('\n'));
  if (m_diff.lines.empty()) {
    table.columns = {tr("line"), m_titleText};
    if (!m_shares.empty()) table.columns << tr("part of the time");
    for (qsizetype i = 0; i < lines.size() - (lines.back().isEmpty() ? 1 : 0); ++i) {
      table.rows.push_back({QString::number(i + 1), lines[i]});
      if (!m_shares.empty()) table.rows.back() << shareOf(static_cast<int>(i));
    }
    return table;
  }
  table.columns = {tr("change"), tr("line before"), tr("line after"), m_titleText};
  const auto number = [](int line) { return line < 0 ? QString() : QString::number(line + 1); };
  for (size_t i = 0; i < m_diff.lines.size(); ++i) {
    const LineDiff::Line& l = m_diff.lines[i];
    const QString sign = l.kind == LineDiff::Kind::added ? QStringLiteral("+") : l.kind == LineDiff::Kind::removed ? QStringLiteral("-") : QString();
    table.rows.push_back({sign, number(l.before), number(l.after), lines[static_cast<qsizetype>(i)]});
  }
  return table;
}

bool CodePane::hasCodeFocus() const { return m_editor->hasFocus(); }

}  // namespace tw::widgets
