// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/command_box.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/theme/theme.h"

namespace tw::app {
namespace {
constexpr int kMostListed = 60;
}

int matchScore(const QString& text, const QString& title) {
  if (text.isEmpty()) return 0;
  int score = 0, at = 0, last = -2;
  for (const QChar c : text) {
    if (c.isSpace()) continue;
    // A letter right after the one before, or at the beginning of a word, is better than the first that comes.
    int found = -1;
    if (last + 1 < title.size() && last >= 0 && title[last + 1].toCaseFolded() == c.toCaseFolded()) found = last + 1;
    for (int i = at; found < 0 && i < title.size(); ++i) {
      if (title[i].toCaseFolded() == c.toCaseFolded() && (i == 0 || !title[i - 1].isLetterOrNumber())) found = i;
    }
    if (found < 0) found = static_cast<int>(title.indexOf(c, at, Qt::CaseInsensitive));
    if (found < 0) return -1;
    score += found == last + 1 ? 8 : (found == 0 || !title[found - 1].isLetterOrNumber()) ? 6 : 1;
    last = found;
    at = found + 1;
  }
  if (title.startsWith(text, Qt::CaseInsensitive)) score += 10;
  return score * 64 - static_cast<int>(std::min<qsizetype>(title.size(), 63));
}

CommandBox::CommandBox(std::vector<CommandSource> sources, QWidget* parent)
    : QDialog(parent, Qt::Popup), m_sources(std::move(sources)), m_line(new QLineEdit(this)), m_list(new QTreeWidget(this)), m_hint(new QLabel(this)) {
  setObjectName(QStringLiteral("window.commands"));
  setAccessibleName(tr("Command box"));
  m_line->setObjectName(QStringLiteral("edit.commands"));
  m_line->setAccessibleName(tr("Command, task, loop or line"));
  m_line->setClearButtonEnabled(true);
  m_line->installEventFilter(this);
  m_list->setObjectName(QStringLiteral("list.commands"));
  m_list->setAccessibleName(tr("What matches"));
  m_list->setColumnCount(3);
  m_list->setHeaderHidden(true);
  m_list->setRootIsDecorated(false);
  m_list->setUniformRowHeights(true);
  m_list->setFrameShape(QFrame::NoFrame);
  m_list->setFocusPolicy(Qt::NoFocus);
  m_list->header()->setStretchLastSection(false);
  m_list->header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
  m_list->header()->setSectionResizeMode(1, QHeaderView::Stretch);
  m_list->header()->setSectionResizeMode(2, QHeaderView::ResizeToContents);
  m_hint->setForegroundRole(QPalette::PlaceholderText);
  m_hint->setContentsMargins(6, 2, 6, 2);
  QStringList prefixes;
  for (const auto& source : m_sources) prefixes << QStringLiteral("%1 %2").arg(source.prefix).arg(source.name);
  m_hint->setText(prefixes.join(QStringLiteral("     ")));
  m_line->setPlaceholderText(tr("Type a part of a name"));
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(8, 8, 8, 6);
  box->setSpacing(4);
  box->addWidget(m_line);
  box->addWidget(m_list, 1);
  box->addWidget(m_hint);
  connect(m_line, &QLineEdit::textChanged, this, &CommandBox::list);
  connect(m_line, &QLineEdit::returnPressed, this, &CommandBox::runCurrent);
  connect(m_list, &QTreeWidget::itemClicked, this, &CommandBox::runCurrent);
}

void CommandBox::open(const QString& text) {
  const QWidget* window = parentWidget();
  resize(std::min(720, window->width() - 40), std::min(460, window->height() - 80));
  move(window->mapToGlobal(QPoint((window->width() - width()) / 2, 56)));
  m_line->setText(text);
  list();
  show();
  m_line->setFocus(Qt::ShortcutFocusReason);
  m_line->deselect();
  m_line->end(false);
}

void CommandBox::list() {
  QString text = m_line->text();
  const CommandSource* only = nullptr;
  for (const auto& source : m_sources) {
    if (!text.isEmpty() && text.front() == source.prefix) only = &source;
  }
  if (only) text = text.mid(1);
  text = text.trimmed();
  std::vector<std::pair<int, Command>> found;
  for (const auto& source : m_sources) {
    if (only ? &source != only : !source.always) continue;
    for (Command& command : source.commands(text)) {
      const int score = matchScore(text, command.title);
      if (score >= 0) found.emplace_back(score, std::move(command));
    }
  }
  if (!text.isEmpty()) std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  m_listed.clear();
  m_list->clear();
  const widgets::Theme& theme = widgets::themeOf(this);
  for (auto& [score, command] : found) {
    if (m_listed.size() >= kMostListed) break;
    const QString detail = command.whyNot.isEmpty() ? command.detail : tr("not now: %1").arg(command.whyNot);
    auto* item = new QTreeWidgetItem(m_list, {command.title, detail, command.shortcut});
    item->setForeground(1, theme.mutedText);
    item->setForeground(2, theme.mutedText);
    if (!command.whyNot.isEmpty()) item->setForeground(0, theme.mutedText);
    m_listed.push_back(std::move(command));
  }
  if (m_list->topLevelItemCount() > 0) {
    m_list->setCurrentItem(m_list->topLevelItem(0));
  } else {
    auto* item = new QTreeWidgetItem(m_list, {tr("Nothing matches")});
    item->setFlags(Qt::NoItemFlags);
  }
}

QStringList CommandBox::titles() const {
  QStringList out;
  for (const auto& command : m_listed) out << command.title;
  return out;
}

void CommandBox::runCurrent() {
  const int row = m_list->indexOfTopLevelItem(m_list->currentItem());
  if (row < 0 || static_cast<size_t>(row) >= m_listed.size() || !m_listed[static_cast<size_t>(row)].whyNot.isEmpty()) return;
  const auto run = m_listed[static_cast<size_t>(row)].run;
  hide();
  run();
}

bool CommandBox::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_line && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const int rows = m_list->topLevelItemCount(), page = std::max(1, m_list->viewport()->height() / std::max(1, m_list->sizeHintForRow(0)));
    int row = m_list->indexOfTopLevelItem(m_list->currentItem());
    switch (key->key()) {
      case Qt::Key_Down:
        row = row + 1 < rows ? row + 1 : 0;
        break;
      case Qt::Key_Up:
        row = row > 0 ? row - 1 : rows - 1;
        break;
      case Qt::Key_PageDown:
        row = std::min(rows - 1, row + page);
        break;
      case Qt::Key_PageUp:
        row = std::max(0, row - page);
        break;
      default:
        return QDialog::eventFilter(watched, event);
    }
    m_list->setCurrentItem(m_list->topLevelItem(row));
    return true;
  }
  return QDialog::eventFilter(watched, event);
}

}  // namespace tw::app
