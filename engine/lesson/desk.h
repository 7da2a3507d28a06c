// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/expected.h"
#include "engine/lesson/lesson.h"

namespace tw::lesson {

/// A knob of the candidate that is shown.
struct KnobNow {
  std::optional<double> number;  ///< the innermost factor of a split, or a number
  std::string text;              ///< as the knob shows it
};

/// What checks ask of the window. The workbench answers from the models that its views show.
class Desk {
 public:
  virtual ~Desk() = default;
  virtual bool is_in_front(const std::string& view) const = 0;
  virtual std::string perspective() const = 0;
  virtual int task() const = 0;              ///< counted from 1; 0: none
  virtual std::string node() const = 0;      ///< name and operator of the selected one; empty: none
  virtual bool has_trial(bool best) const = 0;
  virtual std::optional<KnobNow> knob(const std::string& name) const = 0;
  /// The selected line of a listing; nothing if none is selected there.
  virtual std::optional<std::string> place(const std::string& form) const = 0;
  /// A listing of the shown candidate; nothing while there is none.
  virtual std::optional<std::string> code(const std::string& form) const = 0;
  /// The loop nest of what stands in the editor of operators; nothing while it is wrong or being looked through.
  virtual std::optional<std::string> edited_loops() const = 0;
  /// NaN where it is not known.
  virtual double fact(const std::string& name) const = 0;
};

/// Whether a text has one of `A|B|C` in it.
bool has_any(std::string_view text, std::string_view wanted);

/// Whether a check holds now.
bool holds(const Line& check, const Desk& desk);

/// Whether an answer is right: the place of a choice from 1, or a number as it was typed. Errors: invalid_argument for what is no number; not_found for a fact
/// that is not known now.
Expected<bool> is_right(const Question& question, const std::string& answer, const Desk& desk);

}  // namespace tw::lesson
