// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSizeF>

class QPainter;

namespace tw::widgets {

/// A view that shows a part of something larger at a time. Exports paint all of it.
class WholePicture {
 public:
  virtual ~WholePicture() = default;
  /// In logical pixels; empty if there is nothing to paint.
  virtual QSizeF pictureSize() const = 0;
  /// Paints from (0, 0) on. One unit will be `scale` pixels of the picture.
  virtual void paintPicture(QPainter& painter, double scale) const = 0;
};

}  // namespace tw::widgets
