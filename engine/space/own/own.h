// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/own/script.h"
#include "engine/space/template.h"

/// Computations and templates that a person writes as one text (te/source.h, script.h). A dag that has a source is a task with a template of its own: no row
/// is made while the program runs, this one runs what the dag's text says. So whatever goes through templates goes through it: sessions, stored trials,
/// landscapes, compiling.
namespace tw::space::own {

/// The row; space::alternatives gives it alone for a dag with a schedule in its source.
const Template& row();

/// A text that has been looked through.
struct Checked {
  te::DagPtr dag;
  std::optional<schedule::Schedule> schedule;  ///< of its start, else of the first point that can be built; by rule for a text without a schedule
  ConfigSpace space;                           ///< empty for a text without a schedule
  int64_t point = -1;                          ///< that the schedule is of
  int looked = 0, built = 0;                   ///< points that were lowered, and how many could be
  std::optional<Error> refused;                ///< why the first of the others could not
};

/// Reads a text and tries it: every read is inside its array, one value is computed, names of steps mean something at the points looked at, and at least one
/// point can be lowered for the target.
/// Errors: parse_error and others with line and column; cancelled.
Expected<Checked> check(const std::string& text, const Target& target, StopToken stop = {});

}  // namespace tw::space::own
