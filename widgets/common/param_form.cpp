// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/param_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QSpinBox>
#include <algorithm>
#include <climits>

#include "engine/base/json.h"

namespace tw::widgets {
namespace {

QString labelOf(const Param& param) {
  QString text = QString::fromStdString(param.name).replace(QLatin1Char('_'), QLatin1Char(' '));
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

bool hasRange(const Param& p) { return !(p.max < p.min || (p.min == 0 && p.max == 0)); }

void setEditorValue(QWidget* editor, const Json& value) {
  if (auto* spin = qobject_cast<QSpinBox*>(editor); spin && value.is_number()) spin->setValue(value.get<int>());
  if (auto* real = qobject_cast<QDoubleSpinBox*>(editor); real && value.is_number()) real->setValue(value.get<double>());
  if (auto* check = qobject_cast<QCheckBox*>(editor); check && value.is_boolean()) check->setChecked(value.get<bool>());
  if (auto* combo = qobject_cast<QComboBox*>(editor); combo && value.is_string()) combo->setCurrentText(QString::fromStdString(value.get<std::string>()));
  if (auto* edit = qobject_cast<QLineEdit*>(editor); edit && value.is_string()) edit->setText(QString::fromStdString(value.get<std::string>()));
}

Json editorValue(QWidget* editor) {
  if (const auto* spin = qobject_cast<QSpinBox*>(editor)) return spin->value();
  if (const auto* real = qobject_cast<QDoubleSpinBox*>(editor)) return real->value();
  if (const auto* check = qobject_cast<QCheckBox*>(editor)) return check->isChecked();
  if (const auto* combo = qobject_cast<QComboBox*>(editor)) return combo->currentText().toStdString();
  if (const auto* edit = qobject_cast<QLineEdit*>(editor)) return edit->text().toStdString();
  return {};
}

}  // namespace

ParamForm::ParamForm(QWidget* parent) : QWidget(parent), m_layout(new QFormLayout(this)) {
  m_layout->setContentsMargins(0, 0, 0, 0);
  m_layout->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
}

QWidget* ParamForm::makeEditor(const Param& param) {
  switch (param.kind) {
    case Param::Kind::integer: {
      auto* spin = new QSpinBox(this);
      spin->setRange(hasRange(param) ? static_cast<int>(std::max<double>(param.min, INT_MIN)) : INT_MIN,
                     hasRange(param) ? static_cast<int>(std::min<double>(param.max, INT_MAX)) : INT_MAX);
      connect(spin, &QSpinBox::valueChanged, this, &ParamForm::changed);
      return spin;
    }
    case Param::Kind::real: {
      auto* real = new QDoubleSpinBox(this);
      real->setDecimals(4);
      real->setRange(hasRange(param) ? param.min : -1e12, hasRange(param) ? param.max : 1e12);
      connect(real, &QDoubleSpinBox::valueChanged, this, &ParamForm::changed);
      return real;
    }
    case Param::Kind::boolean: {
      auto* check = new QCheckBox(this);
      connect(check, &QCheckBox::toggled, this, &ParamForm::changed);
      return check;
    }
    case Param::Kind::choice: {
      auto* combo = new QComboBox(this);
      for (const auto& choice : param.choices) combo->addItem(QString::fromStdString(choice));
      connect(combo, &QComboBox::currentIndexChanged, this, &ParamForm::changed);
      return combo;
    }
    case Param::Kind::text:
      break;
  }
  auto* edit = new QLineEdit(this);
  connect(edit, &QLineEdit::textChanged, this, &ParamForm::changed);
  return edit;
}

void ParamForm::setSchema(const ParamSchema& schema) {
  while (m_layout->rowCount() > 0) m_layout->removeRow(0);
  m_editors.clear();
  m_schema = schema;
  for (const Param& param : schema) {
    QWidget* editor = makeEditor(param);
    editor->setObjectName(QStringLiteral("edit.param.") + QString::fromStdString(param.name));
    editor->setAccessibleName(labelOf(param));
    editor->setToolTip(QString::fromStdString(param.help));
    setEditorValue(editor, param.default_value);
    m_layout->addRow(labelOf(param), editor);
    if (QWidget* label = m_layout->labelForField(editor)) label->setToolTip(QString::fromStdString(param.help));
    m_editors.push_back(editor);
  }
}

Json ParamForm::values() const {
  Json out = Json::object();
  for (size_t i = 0; i < m_schema.size(); ++i) out[m_schema[i].name] = editorValue(m_editors[i]);
  return out;
}

void ParamForm::setValues(const Json& values) {
  for (size_t i = 0; i < m_schema.size(); ++i) {
    if (values.is_object() && values.contains(m_schema[i].name)) setEditorValue(m_editors[i], values[m_schema[i].name]);
  }
}

}  // namespace tw::widgets
