// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>

namespace tw::widgets {

/// Viridis, from dark violet at 0 to yellow at 1: even in lightness, so that it can be read without colour. Source: van der Walt and Smith, matplotlib, 2015.
QColor viridis(double t);

}  // namespace tw::widgets
