// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tuning/knob_panel.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QRandomGenerator>
#include <QRegularExpressionValidator>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>

#include "widgets/common/error_label.h"
#include "widgets/common/format.h"
#include "widgets/common/scroll_page.h"
#include "widgets/tuning/knob_text.h"
#include "widgets/tuning/lattice_view.h"

namespace tw::widgets {

KnobPanel::KnobPanel(QWidget* parent) : QWidget(parent) {
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(6, 4, 6, 4);
  m_title = new QLabel(this);
  m_title->setTextFormat(Qt::PlainText);
  m_title->setWordWrap(true);
  box->addWidget(m_title);
  auto* line = new QHBoxLayout;
  auto* caption = new QLabel(tr("&Index"), this);
  m_indexEdit = new QLineEdit(this);
  m_indexEdit->setObjectName(QStringLiteral("edit.space.index"));
  m_indexEdit->setAccessibleName(tr("Index of the point in the configuration space"));
  m_indexEdit->setValidator(new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9]{1,18}")), m_indexEdit));
  m_indexEdit->setPlaceholderText(tr("none"));
  caption->setBuddy(m_indexEdit);
  line->addWidget(caption);
  line->addWidget(m_indexEdit, 1);
  const auto button = [&](const QString& text, const QString& id, const QString& help) {
    auto* b = new QToolButton(this);
    b->setText(text);
    b->setObjectName(id);
    b->setToolTip(help);
    b->setAccessibleName(help);
    line->addWidget(b);
    return b;
  };
  m_previous = button(QString(QChar(0x25C2)), QStringLiteral("button.space.previous"), tr("Previous point"));
  m_next = button(QString(QChar(0x25B8)), QStringLiteral("button.space.next"), tr("Next point"));
  m_random = button(tr("Random"), QStringLiteral("button.space.random"), tr("A random point of the space"));
  box->addLayout(line);
  QWidget* page = addScrollPage(box);
  m_reason = new ErrorLabel(page);
  m_reason->setObjectName(QStringLiteral("label.space.reason"));
  m_rowsHost = new QWidget(page);
  auto* inner = new QVBoxLayout(page);
  inner->setContentsMargins(0, 0, 0, 0);
  inner->addWidget(m_reason);
  inner->addWidget(m_rowsHost, 1);
  connect(m_indexEdit, &QLineEdit::editingFinished, this, [this] {
    if (m_indexEdit->isModified()) goTo(m_indexEdit->text().toLongLong());
  });
  connect(m_previous, &QToolButton::clicked, this, [this] { goTo(m_index - 1); });
  connect(m_next, &QToolButton::clicked, this, [this] { goTo(m_index + 1); });
  connect(m_random, &QToolButton::clicked, this, [this] {
    if (m_space) goTo(static_cast<qint64>(QRandomGenerator::global()->generate64() % static_cast<quint64>(m_space->size())));
  });
}

void KnobPanel::setSpace(std::shared_ptr<const space::ConfigSpace> space, const QString& name) {
  m_space = std::move(space);
  m_index = -1;
  m_title->setText(m_space ? tr("%1: %2 points").arg(name, countText(m_space->size())) : name);
  setReason({});
  rebuild();
  setIndex(m_space ? 0 : -1);
}

void KnobPanel::rebuild() {
  delete m_grid;
  qDeleteAll(m_rowsHost->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly));
  m_rows.clear();
  m_grid = new QGridLayout(m_rowsHost);
  m_grid->setContentsMargins(0, 0, 4, 0);
  m_grid->setColumnStretch(1, 2);
  m_grid->setColumnStretch(2, 3);
  if (!m_space) return;
  const auto& knobs = m_space->knobs();
  for (size_t k = 0; k < knobs.size(); ++k) {
    const QString name = QString::fromStdString(knobs[k].name);
    QString help = QString::fromStdString(knobs[k].help);
    if (knobs[k].kind == space::KnobKind::split) help += (help.isEmpty() ? QString() : QStringLiteral(" · ")) + tr("splits %1").arg(knobs[k].extent);
    if (knobs[k].kind == space::KnobKind::reorder) help += (help.isEmpty() ? QString() : QStringLiteral(" · ")) + tr("order of loops, outermost first");
    if (knobs[k].kind == space::KnobKind::annotate) help += (help.isEmpty() ? QString() : QStringLiteral(" · ")) + tr("what is done to which loop");
    help += (help.isEmpty() ? QString() : QStringLiteral(" · ")) + tr("%1 candidates").arg(knobs[k].candidates.size());
    auto* label = new QLabel(name, m_rowsHost);
    label->setTextFormat(Qt::PlainText);
    auto* slider = new QSlider(Qt::Horizontal, m_rowsHost);
    slider->setRange(0, static_cast<int>(knobs[k].candidates.size()) - 1);
    slider->setObjectName(QStringLiteral("slider.knob.") + name);
    slider->setMinimumWidth(40);
    auto* combo = new QComboBox(m_rowsHost);
    combo->setObjectName(QStringLiteral("combo.knob.") + name);
    combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    combo->setMinimumContentsLength(6);
    for (const auto& candidate : knobs[k].candidates) combo->addItem(knobValueText(knobs[k], candidate));
    for (QWidget* w : {static_cast<QWidget*>(label), static_cast<QWidget*>(slider), static_cast<QWidget*>(combo)}) w->setToolTip(help.toHtmlEscaped());
    slider->setAccessibleName(tr("Knob %1, slider").arg(name));
    combo->setAccessibleName(tr("Knob %1").arg(name));
    label->setBuddy(combo);
    const int row = 2 * static_cast<int>(k);
    m_grid->addWidget(label, row, 0);
    m_grid->addWidget(slider, row, 1);
    m_grid->addWidget(combo, row, 2);
    LatticeView* lattice = nullptr;
    const bool wide = knobs[k].kind == space::KnobKind::split && knobs[k].candidates.size() > 3 && knobs[k].candidates[0].split.size() >= 3;
    if (wide) {
      lattice = new LatticeView(knobs[k], m_rowsHost);
      m_grid->addWidget(lattice, row + 1, 1, 1, 2);
      connect(lattice, &LatticeView::chosen, this, [this, k](int p) { edited(k, p); });
    }
    connect(combo, &QComboBox::currentIndexChanged, this, [this, k](int p) { edited(k, p); });
    connect(slider, &QSlider::valueChanged, this, [this, k](int p) { edited(k, p); });
    m_rows.push_back({combo, slider, lattice});
  }
  m_grid->setRowStretch(2 * static_cast<int>(knobs.size()), 1);
}

void KnobPanel::setIndex(qint64 index) {
  m_index = m_space && index >= 0 && index < m_space->size() ? index : -1;
  showPositions();
}

void KnobPanel::showPositions() {
  m_quiet = true;
  const bool valid = m_space && m_index >= 0;
  m_indexEdit->setText(valid ? QString::number(m_index) : QString());
  m_indexEdit->setEnabled(m_space != nullptr);
  m_random->setEnabled(m_space != nullptr);
  m_previous->setEnabled(valid && m_index > 0);
  m_next->setEnabled(valid && m_index + 1 < m_space->size());
  if (valid) {
    const std::vector<int> positions = m_space->knob_positions(m_index);
    for (size_t k = 0; k < m_rows.size(); ++k) {
      m_rows[k].combo->setCurrentIndex(positions[k]);
      m_rows[k].slider->setValue(positions[k]);
      if (m_rows[k].lattice) m_rows[k].lattice->setPosition(positions[k]);
    }
  } else {
    for (const Row& row : m_rows) {
      row.combo->setCurrentIndex(-1);
      row.slider->setValue(0);
      if (row.lattice) row.lattice->setPosition(-1);
    }
  }
  m_quiet = false;
}

void KnobPanel::edited(size_t knob, int position) {
  if (m_quiet || !m_space || position < 0) return;
  std::vector<int> positions = m_space->knob_positions(std::max<qint64>(0, m_index));
  positions[knob] = position;
  goTo(m_space->index_of(positions));
}

void KnobPanel::goTo(qint64 index) {
  if (!m_space) return;
  index = std::clamp<qint64>(index, 0, m_space->size() - 1);
  const bool changed = index != m_index;
  setIndex(index);
  if (changed) Q_EMIT indexEdited(index);
}

void KnobPanel::setReason(const QString& reason) { m_reason->showProblem(reason); }

}  // namespace tw::widgets
