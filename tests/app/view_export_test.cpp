// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view_export.h"

#include <QPainter>
#include <QTemporaryDir>
#include <QtTest>

#include "widgets/common/whole_picture.h"

using namespace tw;
using namespace tw::app;

namespace {

/// A long strip of which little can be seen: white, its last fifth red.
class Strip : public QWidget, public widgets::WholePicture {
 public:
  explicit Strip(QSizeF whole) : m_whole(whole) { resize(50, 50); }
  QSizeF pictureSize() const override { return m_whole; }
  void paintPicture(QPainter& painter, double) const override {
    painter.fillRect(QRectF(QPointF(), m_whole), Qt::white);
    painter.fillRect(QRectF(0, 0.8 * m_whole.height(), m_whole.width(), 0.2 * m_whole.height()), Qt::red);
  }

 private:
  QSizeF m_whole;
};

}  // namespace

class ViewExportTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;

 private Q_SLOTS:
  void wholePicturesAreExportedWhole_data() {
    QTest::addColumn<QSizeF>("whole");
    QTest::addColumn<QSize>("pixels");
    QTest::newRow("twice its size") << QSizeF(100, 400) << QSize(200, 800);
    QTest::newRow("a side is too long") << QSizeF(100, 32'768) << QSize(50, 16'384);
    QTest::newRow("too many pixels") << QSizeF(16'000, 16'000) << QSize(5'657, 5'657);
  }
  void wholePicturesAreExportedWhole() {
    QFETCH(QSizeF, whole);
    QFETCH(QSize, pixels);
    Strip strip(whole);
    const QString path = m_dir.filePath(QStringLiteral("strip.png"));
    QVERIFY(exportView(strip, path));
    const QImage image(path);
    QCOMPARE(image.size(), pixels);
    QCOMPARE(image.pixelColor(0, 0), QColor(Qt::white));
    QCOMPARE(image.pixelColor(0, pixels.height() * 3 / 4), QColor(Qt::white));
    QCOMPARE(image.pixelColor(pixels.width() - 1, pixels.height() - 1), QColor(Qt::red));
  }

  void namesWithoutAnEndingGetThatOfTheFilter() {
    QCOMPARE(withEnding(QStringLiteral("/a.b/trials"), QStringLiteral("Table (*.csv)")), QStringLiteral("/a.b/trials.csv"));
    QCOMPARE(withEnding(QStringLiteral("/a/trials.png"), QStringLiteral("Table (*.csv)")), QStringLiteral("/a/trials.png"));
    QCOMPARE(withEnding(QStringLiteral("trials"), QString()), QStringLiteral("trials"));
  }

  void insideAnotherViewToo() {
    QWidget page;
    auto* strip = new Strip(QSizeF(30, 60));
    strip->setParent(&page);
    const QString png = m_dir.filePath(QStringLiteral("page.png")), svg = m_dir.filePath(QStringLiteral("page.svg"));
    QVERIFY(exportView(page, png));
    QCOMPARE(QImage(png).size(), QSize(60, 120));
    QVERIFY(exportView(page, svg));
    QFile file(svg);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY(file.readAll().contains("viewBox=\"0 0 30 60\""));
    strip->hide();  // what cannot be seen is not what is exported
    page.resize(70, 80);
    QVERIFY(exportView(page, png));
    QCOMPARE(QImage(png).size(), QSize(140, 160));
  }

  void aViewWithoutATableHasNoCsv() {
    Strip strip(QSizeF(10, 10));
    const auto done = exportView(strip, m_dir.filePath(QStringLiteral("strip.csv")));
    QVERIFY(!done);
    QCOMPARE(done.error().code, ErrorCode::invalid_argument);
  }
};

QTEST_MAIN(ViewExportTest)
#include "view_export_test.moc"
