// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/manual_window.h"

#include <QImage>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "engine/schedule/primitive.h"

namespace tw::app {

namespace {

constexpr int kPictureWidth = 900;

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
    return image.width() > kPictureWidth ? image.scaledToWidth(kPictureWidth, Qt::SmoothTransformation) : image;
  }
};

}  // namespace

ManualWindow::ManualWindow(QWidget* parent) : QDialog(parent) {
  setObjectName(QStringLiteral("window.manual"));
  setWindowTitle(tr("Tilewright manual"));
  resize(980, 760);
  auto* browser = new ManualBrowser(this);
  browser->setObjectName(QStringLiteral("view.manual.text"));
  browser->setAccessibleName(tr("Manual"));
  browser->setOpenExternalLinks(false);
  browser->setSearchPaths({QStringLiteral(":/manual")});
  browser->setSource(QUrl(QStringLiteral("qrc:/manual/workbench.md")), QTextDocument::MarkdownResource);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(browser);
}

}  // namespace tw::app
