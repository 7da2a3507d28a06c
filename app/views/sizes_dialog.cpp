// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/sizes_dialog.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>

namespace tw::app {
namespace {

constexpr int kOpen = -1;  ///< of an input that is one integer

}  // namespace

SizesDialog::SizesDialog(const QString& model, const std::vector<frontends::OpenSize>& sizes, const Sizes& known, QWidget* parent) : Dialog(parent) {
  setObjectName(QStringLiteral("dialog.sizes"));
  setWindowTitle(tr("Sizes of %1").arg(model));
  auto* intro = new QLabel(tr("These sizes are open. Kernels are tuned and compiled for the ones chosen here."), this);
  intro->setWordWrap(true);
  auto* form = new QFormLayout;
  for (const frontends::OpenSize& s : sizes) {
    const QString name = QString::fromStdString(s.name);
    QStringList places;
    for (const std::string& p : s.places) places << QString::fromStdString(p);
    auto* box = new QSpinBox(this);
    box->setObjectName(QStringLiteral("spin.sizes.") + name);
    box->setAccessibleName(tr("Size %1").arg(name));
    constexpr int kMost = std::numeric_limits<int>::max();
    const auto bounded = [](int64_t v) { return static_cast<int>(std::clamp<int64_t>(v, 0, kMost)); };
    box->setRange(s.is_input ? kOpen : bounded(s.least), s.most < 0 ? kMost : bounded(s.most));
    box->setGroupSeparatorShown(true);
    const auto before = known.find(s.name);
    if (s.is_input) {
      box->setSpecialValueText(tr("stays an input"));
      box->setValue(before == known.end() ? kOpen : bounded(before->second));
      box->setToolTip(tr("An input that is one integer. What it decides, such as between branches, is decided now if it is fixed here."));
    } else {
      box->setValue(bounded(before == known.end() ? s.proposal : before->second));
      box->setToolTip(s.most < 0 ? tr("At least %1").arg(s.least) : tr("From %1 to %2").arg(s.least).arg(s.most));
    }
    auto* label =
        new QLabel(places.size() == 1 && places.front() == name ? name : QStringLiteral("%1  (%2)").arg(name, places.join(QStringLiteral(", "))), this);
    label->setBuddy(box);
    form->addRow(label, box);
    m_boxes.emplace_back(s.name, box);
  }
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
  buttons->button(QDialogButtonBox::Ok)->setText(tr("Open"));
  buttons->button(QDialogButtonBox::Ok)->setObjectName(QStringLiteral("button.sizes.open"));
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* box = new QVBoxLayout(this);
  box->addWidget(intro);
  box->addLayout(form);
  box->addWidget(buttons);
}

Sizes SizesDialog::sizes() const {
  Sizes out;
  for (const auto& [name, box] : m_boxes)
    if (box->value() != kOpen) out[name] = box->value();
  return out;
}

}  // namespace tw::app
