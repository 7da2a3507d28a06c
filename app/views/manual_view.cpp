// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/manual_view.h"

#include <QAbstractTextDocumentLayout>
#include <QComboBox>
#include <QDir>
#include <QEvent>
#include <QFile>
#include <QHBoxLayout>
#include <QImage>
#include <QLineEdit>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextFragment>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/schedule/primitive.h"
#include "widgets/theme/theme.h"

namespace tw::app {
namespace {

constexpr const char* kFirstPage = "qrc:/manual/workbench.md";
constexpr int kPictureWidth = 900, kLeastPicture = 200, kPictureMargin = 40, kFitMillis = 200;

/// All steps of schedules, as a list of Markdown.
QString stepsOfSchedules() {
  QString text;
  for (const schedule::Primitive* p : schedule::primitives())
    for (const schedule::StepWord& w : p->words)
      text += QStringLiteral("- **%1** (`%2`): %3 *%4*\n").arg(QLatin1String(w.word), QLatin1String(p->code), QLatin1String(w.help), QLatin1String(w.source));
  return text.replace(QLatin1Char('_'), QLatin1String("\\_"));
}

/// Pictures no wider than the page and in the colours of the window, code as large as the text around it; the page about steps ends with all of them.
class ManualBrowser : public QTextBrowser {
 public:
  explicit ManualBrowser(QWidget* parent) : QTextBrowser(parent) {
    m_fitting.setSingleShot(true);
    m_fitting.setInterval(kFitMillis);
    connect(&m_fitting, &QTimer::timeout, this, [this] { fit(); });
    connect(this, &QTextBrowser::sourceChanged, this, [this] { scaleCode(); });
  }
  QVariant loadResource(int type, const QUrl& given) override {
    QUrl name = given;
    if (type == QTextDocument::ImageResource && widgets::themeOf(this).dark) name.setPath(name.path().replace(QLatin1String("-light.png"), QLatin1String("-dark.png")));
    const QVariant resource = QTextBrowser::loadResource(type, name);
    if (name.fileName() == QLatin1String("steps.md")) return QString(QString::fromUtf8(resource.toByteArray()) + QLatin1Char('\n') + stepsOfSchedules());
    if (type != QTextDocument::ImageResource) return resource;
    const QImage image =
        resource.canConvert<QImage>() && !resource.value<QImage>().isNull() ? resource.value<QImage>() : QImage::fromData(resource.toByteArray());
    m_pictures = pictureWidth();
    m_dark = widgets::themeOf(this).dark;
    return image.width() > m_pictures ? image.scaledToWidth(m_pictures, Qt::SmoothTransformation) : image;
  }

 protected:
  void resizeEvent(QResizeEvent* event) override {
    QTextBrowser::resizeEvent(event);
    if (m_pictures > 0 && std::abs(pictureWidth() - m_pictures) > kPictureMargin / 2) m_fitting.start();
  }
  void changeEvent(QEvent* event) override {
    QTextBrowser::changeEvent(event);
    if (event->type() == QEvent::FontChange || (event->type() == QEvent::PaletteChange && m_pictures > 0 && widgets::themeOf(this).dark != m_dark)) m_fitting.start();
  }

 private:
  int pictureWidth() const { return std::clamp(viewport()->width() - kPictureMargin, kLeastPicture, kPictureWidth); }
  /// The page anew, at the same paragraph.
  void fit() {
    const int block = cursorForPosition({}).blockNumber();
    reload();
    scaleCode();
    verticalScrollBar()->setValue(block == 0 ? 0 : static_cast<int>(document()->documentLayout()->blockBoundingRect(document()->findBlockByNumber(block)).top()));
  }
  /// Markdown gives code the size of the system's fixed font.
  void scaleCode() {
    std::vector<std::pair<int, int>> places;
    for (QTextBlock block = document()->begin(); block.isValid(); block = block.next())
      for (auto part = block.begin(); !part.atEnd(); ++part)
        if (part.fragment().charFormat().fontFixedPitch()) places.emplace_back(part.fragment().position(), part.fragment().length());
    QTextCharFormat size;
    size.setFontPointSize(font().pointSizeF());
    for (const auto& [at, length] : places) {
      QTextCursor code(document());
      code.setPosition(at);
      code.setPosition(at + length, QTextCursor::KeepAnchor);
      code.mergeCharFormat(size);
    }
  }
  QTimer m_fitting;
  int m_pictures = 0;  ///< their width; 0: the page has none
  bool m_dark = false;
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
  m_find->setAccessibleName(tr("Find in the manual"));
  m_find->setPlaceholderText(tr("Find in the manual"));
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
  // On through the other pages, and around.
  const QDir folder(QStringLiteral(":/manual"));
  const QStringList pages = folder.entryList({QStringLiteral("*.md")});
  const qsizetype here = pages.indexOf(m_browser->source().fileName());
  for (qsizetype i = 1; i <= pages.size(); ++i) {
    const QString& page = pages[(here + i) % pages.size()];
    if (i < pages.size()) {
      QFile text(folder.filePath(page));
      if (!text.open(QIODevice::ReadOnly) || !QString::fromUtf8(text.readAll()).contains(m_find->text(), Qt::CaseInsensitive)) continue;
      m_browser->setSource(QUrl(QStringLiteral("qrc:/manual/") + page), QTextDocument::MarkdownResource);
    }
    m_browser->moveCursor(QTextCursor::Start);
    if (m_browser->find(m_find->text())) return;
  }
}

}  // namespace tw::app
