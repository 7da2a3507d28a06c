// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view_export.h"

#include <QAbstractTableModel>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QTreeView>
#include <QVBoxLayout>

#include "widgets/common/table_view.h"

namespace tw::app {
namespace {

constexpr double kPictureScale = 2;

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

Expected<void> exportView(QWidget& view, const QString& path) {
  QSaveFile file(path);
  const bool png = path.endsWith(QLatin1String(".png"), Qt::CaseInsensitive), svg = path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive),
             csv = path.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive);
  if (!png && !svg && !csv) return Error(ErrorCode::invalid_argument, "Expected a name that ends in .png, .svg or .csv", path.toStdString());
  const widgets::Table table = csv ? widgets::tableOf(&view) : widgets::Table();
  if (csv && table.columns.isEmpty()) return Error(ErrorCode::invalid_argument, "This view has no table; export it as .png or .svg", path.toStdString());
  if (!file.open(QIODevice::WriteOnly)) return cannotWrite(file);
  if (csv) {
    file.write(widgets::csvOf(table));
  } else if (png) {
    QImage image(view.size() * kPictureScale, QImage::Format_RGB32);
    image.setDevicePixelRatio(kPictureScale);
    image.fill(view.palette().color(QPalette::Window));
    view.render(&image);
    image.setText(QStringLiteral("Software"), QStringLiteral("Tilewright " TW_VERSION));
    if (!image.save(&file, "PNG")) return cannotWrite(file);
  } else {
    QSvgGenerator generator;
    generator.setOutputDevice(&file);
    generator.setSize(view.size());
    generator.setViewBox(QRect(QPoint(), view.size()));
    generator.setTitle(view.accessibleName());
    generator.setDescription(QStringLiteral("Tilewright " TW_VERSION));
    view.render(&generator);
  }
  if (!file.commit()) return cannotWrite(file);
  return {};
}

TableDialog::TableDialog(const QString& title, const widgets::Table& table, QWidget* parent) : QDialog(parent) {
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
