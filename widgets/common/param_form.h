// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <vector>

#include "engine/base/json_fwd.h"
#include "engine/base/param_schema.h"

class QFormLayout;
class QToolButton;

namespace tw::widgets {

/// One input per parameter of a schema, with its range, default and help. What a help says of special values, as in `...; 0: never` and `...; empty: all`, stands
/// in their place. Advanced parameters stand in a part of their own that opens and closes.
class ParamForm : public QWidget {
  Q_OBJECT
 public:
  /// Inputs are named `edit.<name>.<parameter>`.
  explicit ParamForm(QWidget* parent = nullptr, const QString& name = QStringLiteral("param"));
  /// `advanced`: names of those that are shown on request.
  void setSchema(const ParamSchema& schema, const std::vector<std::string>& advanced = {});
  /// Values that differ from the defaults and those that do not alike, as an object.
  Json values() const;
  /// Sets known names, ignores others.
  void setValues(const Json& values);
  /// Null for an unknown name.
  QWidget* editor(std::string_view param) const;
  /// Takes a parameter's row away and gives its input to the caller, who shows it elsewhere as long as the form lives; values() goes on reading it.
  QWidget* takeOut(std::string_view param);
  /// A row without a label below that of a parameter; the form owns it until the next schema.
  void insertBelow(std::string_view param, QWidget* row);
  /// A row above all others.
  void insertFirst(const QString& label, QWidget* editor);
  /// Of all rows, for who aligns several forms.
  QList<QWidget*> labels() const;
  bool isAdvancedShown() const;
  void showAdvanced(bool shown);

 Q_SIGNALS:
  void changed();

 private:
  QWidget* makeEditor(const Param& param);
  void addRow(const Param& param, QFormLayout* form);
  QString m_name;
  QFormLayout *m_layout, *m_more;
  QToolButton* m_opener;  ///< of the advanced part
  QWidget* m_advanced;
  ParamSchema m_schema;
  std::vector<QWidget*> m_editors;
};

}  // namespace tw::widgets
