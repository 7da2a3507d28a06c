// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/glossary.h"

#include <QAbstractButton>
#include <QApplication>
#include <QCursor>
#include <QFile>
#include <QGroupBox>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QRegularExpression>
#include <QTabBar>
#include <QToolTip>
#include <algorithm>

namespace tw::app {
namespace {

constexpr size_t kWordsShown = 3;

/// What is written at a place of a widget, where nothing else explains it.
QString plainTextAt(QWidget* widget, const QPoint& at) {
  if (!widget->toolTip().isEmpty()) return {};
  if (const auto* label = qobject_cast<QLabel*>(widget)) return label->text();
  if (const auto* button = qobject_cast<QAbstractButton*>(widget)) return button->text();
  if (const auto* group = qobject_cast<QGroupBox*>(widget)) return group->title();
  if (const auto* tabs = qobject_cast<QTabBar*>(widget)) {
    const int tab = tabs->tabAt(at);
    return tab < 0 || !tabs->tabToolTip(tab).isEmpty() ? QString() : tabs->tabText(tab);
  }
  if (const auto* header = qobject_cast<QHeaderView*>(widget->parentWidget()); header && header->model() && header->viewport() == widget) {
    const int section = header->logicalIndexAt(at);
    if (section < 0 || !header->model()->headerData(section, header->orientation(), Qt::ToolTipRole).toString().isEmpty()) return {};
    return header->model()->headerData(section, header->orientation()).toString();
  }
  return {};
}

}  // namespace

Glossary::Glossary(QObject* parent) : QObject(parent) {
  QFile page(QStringLiteral(":/manual/glossary.md"));
  if (!page.open(QIODevice::ReadOnly)) return;
  static const QRegularExpression entry(QStringLiteral("^- \\*\\*(.+?)\\*\\*: (.+)$"));
  for (const QString& line : QString::fromUtf8(page.readAll()).split(QLatin1Char('\n'))) {
    const QRegularExpressionMatch match = entry.match(line);
    if (match.hasMatch()) m_words.push_back({match.captured(1), match.captured(2)});
  }
  qApp->installEventFilter(this);
}

std::vector<Glossary::Word> Glossary::wordsIn(const QString& text) const {
  std::vector<std::pair<qsizetype, Word>> found;
  for (const Word& w : m_words) {
    const QRegularExpression word(QStringLiteral("(?<![\\w-])%1(s|es)?(?![\\w-])").arg(QRegularExpression::escape(w.word)), QRegularExpression::CaseInsensitiveOption);
    if (const auto match = word.match(QString(text).remove(QLatin1Char('&'))); match.hasMatch()) found.emplace_back(match.capturedStart(), w);
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Word> words;
  for (auto& [at, word] : found) words.push_back(std::move(word));
  return words;
}

std::vector<Glossary::Word> Glossary::wordsUnderPointer() const {
  QWidget* widget = QApplication::widgetAt(QCursor::pos());
  return widget ? wordsIn(plainTextAt(widget, widget->mapFromGlobal(QCursor::pos()))) : std::vector<Word>();
}

bool Glossary::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::ToolTip || !watched->isWidgetType()) return false;
  auto* help = static_cast<QHelpEvent*>(event);
  auto* widget = static_cast<QWidget*>(watched);
  const std::vector<Word> words = wordsIn(plainTextAt(widget, help->pos()));
  if (words.empty()) return false;
  QString text;
  for (size_t i = 0; i < std::min(kWordsShown, words.size()); ++i)
    text += QStringLiteral("<p><b>%1</b>: %2</p>").arg(words[i].word.toHtmlEscaped(), words[i].sentence.toHtmlEscaped());
  QToolTip::showText(help->globalPos(), text, widget);
  return true;
}

}  // namespace tw::app
