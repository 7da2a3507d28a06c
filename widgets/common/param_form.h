// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <vector>

#include "engine/base/json_fwd.h"
#include "engine/base/param_schema.h"

class QFormLayout;

namespace tw::widgets {

/// One input per parameter of a schema, with its range, default and help.
class ParamForm : public QWidget {
  Q_OBJECT
 public:
  explicit ParamForm(QWidget* parent = nullptr);
  void setSchema(const ParamSchema& schema);
  /// Values that differ from the defaults and those that do not alike, as an object.
  Json values() const;
  /// Sets known names, ignores others.
  void setValues(const Json& values);

 Q_SIGNALS:
  void changed();

 private:
  QWidget* makeEditor(const Param& param);
  QFormLayout* m_layout;
  ParamSchema m_schema;
  std::vector<QWidget*> m_editors;
};

}  // namespace tw::widgets
