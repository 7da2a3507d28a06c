// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/manual_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QImage>
#include <QLineEdit>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextBrowser>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "engine/schedule/primitive.h"

namespace tw::app {
namespace {

constexpr const char* kFirstPage = "qrc:/manual/workbench.md";
constexpr int kPictureWidth = 900, kPictureMargin = 40;

/// All steps of schedules, as a list of Markdown.
QString stepsOfSchedules() {
  QString text;
  for (const schedule::Primitive* p : schedule::primitives())
    for (const schedule::StepWord& w : p->words)
      text += QStringLiteral("- **%1** (`%2`): %3 *%4*\n").arg(QLatin1String(w.word), QLatin1String(p->code), QLatin1String(w.help), QLatin1String(w.source));
  return text.replace(QLatin1Char('_'), QLatin1String("\\_"));
}

/// Pictures no wider than the page; the page about steps ends with all of them.
class ManualBrowser : public QTextBrowser {
 public:
  using QTextBrowser::QTextBrowser;
  QVariant loadResource(int type, const QUrl& name) override {
    const QVariant resource = QTextBrowser::loadResource(type, name);
    if (name.fileName() == QLatin1String("steps.md")) return QString(QString::fromUtf8(resource.toByteArray()) + QLatin1Char('\n') + stepsOfSchedules());
    if (type != QTextDocument::ImageResource) return resource;
    const QImage image =
        resource.canConvert<QImage>() && !resource.value<QImage>().isNull() ? resource.value<QImage>() : QImage::fromData(resource.toByteArray());
    const int width = std::clamp(viewport()->width() - kPictureMargin, 200, kPictureWidth);
    return image.width() > width ? image.scaledToWidth(width, Qt::SmoothTransformation) : image;
  }
};

}  // namespace

ManualView::ManualView(QWidget* parent)
    : QWidget(parent), m_browser(new ManualBrowser(this)), m_contents(new QComboBox(this)), m_find(new QLineEdit(this)) {
  m_browser->setObjectName(QStringLiteral("view.manual.text"));
  m_browser->setAccessibleName(tr("Manual"));
  m_browser->setOpenExternalLinks(false);
  m_browser->setTabChangesFocus(true);
  m_browser->setSearchPaths({QStringLiteral(":/manual")});
  m_contents->setObjectName(QStringLiteral("combo.manual.contents"));
  m_contents->setAccessibleName(tr("Contents of the page"));
  m_contents->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_find->setObjectName(QStringLiteral("edit.manual.find"));
  m_find->setAccessibleName(tr("Find in the page"));
  m_find->setPlaceholderText(tr("Find in the page"));
  m_find->setClearButtonEnabled(true);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(6, 3, 6, 0);
  const auto button = [&](const char* name, const QString& text, const QString& help, void (QTextBrowser::*run)()) {
    auto* b = new QToolButton(this);
    b->setObjectName(QStringLiteral("button.manual.") + QLatin1String(name));
    b->setText(text);
    b->setToolTip(help);
    b->setAccessibleName(help);
    connect(b, &QToolButton::clicked, m_browser, run);
    bar->addWidget(b);
  };
  button("back", QString(QChar(0x2190)), tr("The page before"), &QTextBrowser::backward);
  button("home", QString(QChar(0x2302)), tr("The first page"), &QTextBrowser::home);
  bar->addWidget(m_contents, 1);
  bar->addWidget(m_find, 1);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(2);
  box->addLayout(bar);
  box->addWidget(m_browser, 1);
  connect(m_browser, &QTextBrowser::sourceChanged, this, &ManualView::showContents);
  connect(m_contents, &QComboBox::activated, this, [this](int i) { goTo(m_contents->itemText(i).trimmed(), true); });
  connect(m_find, &QLineEdit::textChanged, this, [this] { find(false); });
  connect(m_find, &QLineEdit::returnPressed, this, [this] { find(true); });
  m_browser->setSource(QUrl(QLatin1String(kFirstPage)), QTextDocument::MarkdownResource);
}

void ManualView::showContents() {
  m_contents->clear();
  for (QTextBlock block = m_browser->document()->begin(); block.isValid(); block = block.next())
    if (const int level = block.blockFormat().headingLevel(); level > 0)
      m_contents->addItem(QString(2 * (level - 1), QLatin1Char(' ')) + block.text());
}

bool ManualView::goTo(const QString& beginning, bool heading) {
  for (QTextBlock block = m_browser->document()->begin(); block.isValid(); block = block.next()) {
    if ((heading && block.blockFormat().headingLevel() == 0) || !block.text().startsWith(beginning)) continue;
    m_browser->setTextCursor(QTextCursor(block));
    m_browser->verticalScrollBar()->setValue(m_browser->verticalScrollBar()->value() + m_browser->cursorRect().top());
    return true;
  }
  return false;
}

void ManualView::showView(const QString& title) {
  m_browser->setSource(QUrl(QLatin1String(kFirstPage)), QTextDocument::MarkdownResource);
  goTo(title + QLatin1Char('.'), false);
}

void ManualView::showWord(const QString& word) {
  m_browser->setSource(QUrl(QStringLiteral("qrc:/manual/glossary.md")), QTextDocument::MarkdownResource);
  m_browser->moveCursor(QTextCursor::Start);
  m_browser->find(word + QLatin1Char(':'));
}

void ManualView::find(bool next) {
  QTextCursor from = m_browser->textCursor();
  if (!next) from.setPosition(from.selectionStart());
  m_browser->setTextCursor(from);
  if (m_find->text().isEmpty() || m_browser->find(m_find->text())) return;
  m_browser->moveCursor(QTextCursor::Start);  // and around
  m_browser->find(m_find->text());
}

}  // namespace tw::app
