// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view_export.h"

#include <QAbstractTableModel>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QHeaderView>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "engine/base/file.h"
#include "widgets/common/focus_ring.h"
#include "widgets/common/table_view.h"
#include "widgets/common/whole_picture.h"

namespace tw::app {
namespace {

constexpr double kPictureScale = 2;
/// A whole picture larger than this is painted smaller: what QImage and most programs that read it can hold.
constexpr double kLongestSide = 16'384, kMostPixels = 32e6;

/// The view itself or the first visible widget inside it that is more than what can be seen of it.
const widgets::WholePicture* wholePictureOf(const QWidget& view) {
  QList<const QWidget*> candidates{&view};
  for (const QWidget* child : view.findChildren<QWidget*>()) {
    if (child->isVisibleTo(&view)) candidates << child;
  }
  for (const QWidget* widget : candidates) {
    const auto* whole = dynamic_cast<const widgets::WholePicture*>(widget);
    if (whole && !whole->pictureSize().isEmpty()) return whole;
  }
  return nullptr;
}

Error cannotWrite(const QSaveFile& file) {
  return Error(ErrorCode::io_error, "The file cannot be written: " + file.errorString().toStdString(), file.fileName().toStdString());
}

/// The rows of a Table, without a copy of them for each cell.
class TableModel : public QAbstractTableModel {
 public:
  TableModel(widgets::Table table, QObject* parent) : QAbstractTableModel(parent), m_table(std::move(table)) {}
  int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : static_cast<int>(m_table.rows.size()); }
  int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : static_cast<int>(m_table.columns.size()); }
  QVariant data(const QModelIndex& index, int role) const override {
    if (role != Qt::DisplayRole || !index.isValid()) return {};
    return m_table.rows[static_cast<size_t>(index.row())].value(index.column());
  }
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
    return orientation == Qt::Horizontal && role == Qt::DisplayRole ? m_table.columns.value(section) : QVariant();
  }

 private:
  widgets::Table m_table;
};

}  // namespace

QString withEnding(const QString& path, const QString& filter) {
  return QFileInfo(path).suffix().isEmpty() ? path + filter.section(QLatin1Char('*'), 1).section(QLatin1Char(')'), 0, 0) : path;
}

Expected<void> exportView(QWidget& view, const QString& path) {
  QSaveFile file(path);
  const bool png = path.endsWith(QLatin1String(".png"), Qt::CaseInsensitive), svg = path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive),
             csv = path.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive);
  if (!png && !svg && !csv) return Error(ErrorCode::invalid_argument, "Expected a name that ends in .png, .svg or .csv", path.toStdString());
  const widgets::Table table = csv ? widgets::tableOf(&view) : widgets::Table();
  if (csv && table.columns.isEmpty()) return Error(ErrorCode::invalid_argument, "This view has no table; export it as .png or .svg", path.toStdString());
  TW_CHECK(check_output(path.toStdString(), kAnyOutput));
  if (!file.open(QIODevice::WriteOnly)) return cannotWrite(file);
  widgets::hideFocusRing(view);
  const widgets::WholePicture* whole = csv ? nullptr : wholePictureOf(view);
  const QSizeF size = whole ? whole->pictureSize() : QSizeF(view.size());
  if (csv) {
    file.write(widgets::csvOf(table));
  } else if (png) {
    const double scale =
        std::min({kPictureScale, kLongestSide / std::max(size.width(), size.height()), std::sqrt(kMostPixels / (size.width() * size.height()))});
    QImage image((size * scale).toSize().expandedTo(QSize(1, 1)), QImage::Format_RGB32);
    if (image.isNull()) return Error(ErrorCode::resource_limit, "There is no memory for a picture of this size; export it as .svg", path.toStdString());
    image.fill(view.palette().color(QPalette::Window));
    if (whole) {
      QPainter painter(&image);
      painter.scale(scale, scale);  // by hand: a pixel ratio below 1 scales nothing
      whole->paintPicture(painter, scale);
    } else {
      image.setDevicePixelRatio(scale);
      view.render(&image);
    }
    image.setText(QStringLiteral("Software"), QStringLiteral("Tilewright " TW_VERSION));
    if (!image.save(&file, "PNG")) return cannotWrite(file);
  } else {
    QSvgGenerator generator;
    generator.setOutputDevice(&file);
    generator.setSize(size.toSize());
    generator.setViewBox(QRectF(QPointF(), size));
    generator.setTitle(view.accessibleName());
    generator.setDescription(QStringLiteral("Tilewright " TW_VERSION));
    if (whole) {
      QPainter painter(&generator);
      whole->paintPicture(painter, 1);
    } else {
      view.render(&generator);
    }
  }
  if (!file.commit()) return cannotWrite(file);
  return {};
}

TableDialog::TableDialog(const QString& title, const widgets::Table& table, QWidget* parent) : Dialog(parent) {
  setObjectName(QStringLiteral("window.table"));
  setWindowTitle(tr("%1 as a table").arg(title));
  setAttribute(Qt::WA_DeleteOnClose);
  resize(820, 560);
  auto* view = new QTreeView(this);
  view->setObjectName(QStringLiteral("table.view"));
  view->setAccessibleName(windowTitle());
  view->setModel(new TableModel(table, view));
  widgets::setUpTable(view);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* box = new QVBoxLayout(this);
  box->addWidget(view);
  box->addWidget(buttons);
}

}  // namespace tw::app
