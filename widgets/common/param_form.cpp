// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/param_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>

#include "engine/base/json.h"
#include "widgets/common/duration_box.h"
#include "widgets/common/integer_box.h"

namespace tw::widgets {
namespace {

QString labelOf(const Param& param) {
  QString text = QString::fromStdString(param.name);
  if (param.kind == Param::Kind::duration && text.endsWith(QLatin1String("_s"))) text.chop(2);  // as on the command line
  text.replace(QLatin1Char('_'), QLatin1Char(' '));
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

bool hasRange(const Param& p) { return !(p.max < p.min || (p.min == 0 && p.max == 0)); }

QString helpOf(const Param& param) {
  QString help = QString::fromStdString(param.help);
  if (!help.isEmpty()) help[0] = help[0].toUpper();
  return param.kind == Param::Kind::duration ? ParamForm::tr("%1; such as 90s or 30m").arg(help) : help;
}

/// What the help says that 0 ("0"), or an empty text ("empty"), stands for; empty if it does not say.
QString meaningOf(const Param& param, const char* value) {
  const QString help = QString::fromStdString(param.help), mark = QStringLiteral("; %1: ").arg(QLatin1String(value));
  const auto at = help.indexOf(mark);
  return at < 0 ? QString() : help.mid(at + mark.size()).section(QLatin1Char(';'), 0, 0);
}

/// A bound that a 64-bit number can have.
qint64 whole(double bound) {
  if (bound >= static_cast<double>(std::numeric_limits<qint64>::max())) return std::numeric_limits<qint64>::max();
  return bound <= static_cast<double>(std::numeric_limits<qint64>::min()) ? std::numeric_limits<qint64>::min() : static_cast<qint64>(bound);
}

/// Of the shortest text that is this number.
int decimalsOf(double value) { return static_cast<int>(QString::number(value, 'f', QLocale::FloatingPointShortest).section(QLatin1Char('.'), 1).size()); }

/// A number with as many decimals as it needs.
class RealBox : public QDoubleSpinBox {
 public:
  using QDoubleSpinBox::QDoubleSpinBox;
  QString textFromValue(double value) const override {
    QLocale plain = locale();
    plain.setNumberOptions(QLocale::OmitGroupSeparator);
    return plain.toString(value, 'f', QLocale::FloatingPointShortest);
  }
  /// The form holds what a session was given, also where nobody would type it.
  void putValue(double value) {
    setDecimals(std::max(decimals(), decimalsOf(value)));
    setValue(value);
  }
};

void setEditorValue(QWidget* editor, const Json& value) {
  if (auto* number = qobject_cast<IntegerBox*>(editor); number && value.is_number()) number->setValue(value.get<qint64>());
  if (auto* time = qobject_cast<DurationBox*>(editor); time && value.is_number()) time->setValue(value.get<double>());
  if (auto* real = dynamic_cast<RealBox*>(editor); real && value.is_number()) real->putValue(value.get<double>());
  if (auto* check = qobject_cast<QCheckBox*>(editor); check && value.is_boolean()) check->setChecked(value.get<bool>());
  if (auto* combo = qobject_cast<QComboBox*>(editor); combo && value.is_string()) combo->setCurrentText(QString::fromStdString(value.get<std::string>()));
  if (auto* edit = qobject_cast<QLineEdit*>(editor); edit && value.is_string()) edit->setText(QString::fromStdString(value.get<std::string>()));
}

Json editorValue(QWidget* editor) {
  if (const auto* number = qobject_cast<IntegerBox*>(editor)) return static_cast<int64_t>(number->value());
  if (const auto* real = qobject_cast<QDoubleSpinBox*>(editor)) return real->value();
  if (const auto* check = qobject_cast<QCheckBox*>(editor)) return check->isChecked();
  if (const auto* combo = qobject_cast<QComboBox*>(editor)) return combo->currentText().toStdString();
  if (const auto* edit = qobject_cast<QLineEdit*>(editor)) return edit->text().toStdString();
  return {};
}

}  // namespace

ParamForm::ParamForm(QWidget* parent, const QString& name)
    : QWidget(parent), m_name(name), m_layout(new QFormLayout), m_more(new QFormLayout), m_opener(new QToolButton(this)), m_advanced(new QWidget(this)) {
  m_opener->setObjectName(QStringLiteral("button.%1.advanced").arg(name));
  m_opener->setText(tr("More options"));
  m_opener->setAccessibleName(m_opener->text());
  m_opener->setCheckable(true);
  m_opener->setAutoRaise(true);
  m_opener->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  connect(m_opener, &QToolButton::toggled, this, &ParamForm::showAdvanced);
  for (QFormLayout* form : {m_layout, m_more}) {
    form->setContentsMargins(0, 0, 0, 0);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->setRowWrapPolicy(QFormLayout::WrapLongRows);
  }
  m_advanced->setLayout(m_more);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addLayout(m_layout);
  box->addWidget(m_opener);
  box->addWidget(m_advanced);
  m_opener->hide();
  showAdvanced(false);
}

QList<QWidget*> ParamForm::labels() const {
  QList<QWidget*> all;
  for (const QFormLayout* form : {m_layout, m_more})
    for (int row = 0; row < form->rowCount(); ++row)
      if (const QLayoutItem* label = form->itemAt(row, QFormLayout::LabelRole); label && label->widget()) all << label->widget();
  return all;
}

bool ParamForm::isAdvancedShown() const { return m_opener->isChecked(); }

void ParamForm::showAdvanced(bool shown) {
  m_opener->setChecked(shown);
  m_opener->setArrowType(shown ? Qt::DownArrow : Qt::RightArrow);
  m_advanced->setVisible(shown);
}

QWidget* ParamForm::makeEditor(const Param& param) {
  switch (param.kind) {
    case Param::Kind::integer: {
      auto* number = new IntegerBox(this);
      if (hasRange(param)) number->setRange(whole(param.min), whole(param.max));
      number->setZeroText(meaningOf(param, "0"));
      connect(number, &IntegerBox::valueChanged, this, &ParamForm::changed);
      return number;
    }
    case Param::Kind::duration: {
      auto* time = new DurationBox(this);
      if (const QString zero = meaningOf(param, "0"); !zero.isEmpty()) time->setSpecialValueText(zero);
      connect(time, &DurationBox::valueChanged, this, &ParamForm::changed);
      return time;
    }
    case Param::Kind::real: {
      auto* real = new RealBox(this);
      constexpr int kDecimals = 4;
      real->setDecimals(std::max({kDecimals, decimalsOf(param.min), decimalsOf(param.max)}));
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
  edit->setPlaceholderText(meaningOf(param, "empty"));
  connect(edit, &QLineEdit::textChanged, this, &ParamForm::changed);
  return edit;
}

void ParamForm::setSchema(const ParamSchema& schema, const std::vector<std::string>& advanced) {
  const QSignalBlocker quiet(this);  // whoever hears of a change asks for all values, and they are not all there yet
  for (QFormLayout* form : {m_layout, m_more})
    while (form->rowCount() > 0) form->removeRow(0);
  m_editors.clear();
  m_schema = schema;
  for (const Param& param : schema) addRow(param, std::find(advanced.begin(), advanced.end(), param.name) == advanced.end() ? m_layout : m_more);
  m_opener->setVisible(m_more->rowCount() > 0);
}

void ParamForm::addRow(const Param& param, QFormLayout* form) {
  QWidget* editor = makeEditor(param);
  const QString name = QString::fromStdString(param.name);
  editor->setObjectName(QStringLiteral("edit.%1.%2").arg(m_name, name));
  editor->setAccessibleName(labelOf(param));
  editor->setToolTip(helpOf(param));
  setEditorValue(editor, param.default_value);
  form->addRow(labelOf(param), editor);
  if (QWidget* label = form->labelForField(editor)) label->setToolTip(helpOf(param));
  m_editors.push_back(editor);
}

QWidget* ParamForm::editor(std::string_view param) const {
  for (size_t i = 0; i < m_schema.size(); ++i)
    if (m_schema[i].name == param) return m_editors[i];
  return nullptr;
}

QWidget* ParamForm::takeOut(std::string_view param) {
  QWidget* input = editor(param);
  for (QFormLayout* form : {m_layout, m_more}) {
    int at = -1;
    QFormLayout::ItemRole role{};
    form->getWidgetPosition(input, &at, &role);
    if (at < 0) continue;
    const QFormLayout::TakeRowResult row = form->takeRow(at);
    delete row.labelItem->widget();
    delete row.labelItem;
    delete row.fieldItem;
  }
  return input;
}

void ParamForm::insertBelow(std::string_view param, QWidget* row) {
  QWidget* above = editor(param);
  for (QFormLayout* form : {m_layout, m_more}) {
    int at = -1;
    QFormLayout::ItemRole role{};
    if (above) form->getWidgetPosition(above, &at, &role);
    if (at >= 0) return form->insertRow(at + 1, row);
  }
}

void ParamForm::insertFirst(const QString& label, QWidget* editor) { m_layout->insertRow(0, label, editor); }

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
