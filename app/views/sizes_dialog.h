// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/frontends/frontend.h"
#include "widgets/common/dialog.h"

class QSpinBox;

namespace tw::app {

using Sizes = std::map<std::string, int64_t>;

/// Values of the sizes that a model file leaves open: a number each, within its range; inputs that are one integer may stay open.
class SizesDialog : public widgets::Dialog {
  Q_OBJECT
 public:
  /// `known` is what the model was opened with before; other sizes begin with their proposals.
  SizesDialog(const QString& model, const std::vector<frontends::OpenSize>& sizes, const Sizes& known, QWidget* parent = nullptr);
  Sizes sizes() const;

 private:
  std::vector<std::pair<std::string, QSpinBox*>> m_boxes;
};

}  // namespace tw::app
