// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/expected.h"
#include "widgets/common/dialog.h"
#include "widgets/common/tabular.h"

namespace tw::app {

/// The path with the ending of a filter such as `Table (*.csv)`, if it has none.
QString withEnding(const QString& path, const QString& filter);

/// Writes what a view shows, by the ending of `path`: `.png` at twice the screen's resolution, `.svg` as vectors where the view paints them, `.csv` its table.
/// Errors: invalid_argument for another ending or a view without a table, io_error.
Expected<void> exportView(QWidget& view, const QString& path);

/// What a view shows as a table of texts, for who cannot or does not want to look at a picture.
class TableDialog : public widgets::Dialog {
  Q_OBJECT
 public:
  TableDialog(const QString& title, const widgets::Table& table, QWidget* parent);
};

}  // namespace tw::app
