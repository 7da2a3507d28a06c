// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <set>

namespace tw::widgets {

/// How many colours a picture has, of every second pixel: few if nothing was painted.
inline int coloursIn(const QImage& image) {
  std::set<QRgb> seen;
  for (int y = 0; y < image.height(); y += 2)
    for (int x = 0; x < image.width(); x += 2) seen.insert(image.pixel(x, y));
  return static_cast<int>(seen.size());
}

}  // namespace tw::widgets
