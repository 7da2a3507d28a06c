// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/te/dag.h"

namespace tw::te {

/// The same computation over shorter axes: each one longer than `longest` is halved, rounded up, until it is not, so that axes of one length stay of one length.
/// Axes that quotients and remainders take apart, and arrays that they read, keep their lengths; an array that another one is computed from is as long as its
/// readers need. Upper bounds in conditions, such as those of a padded image, move with what they bound. What is computed is something else where numbers
/// in it stand for lengths; where it reads and writes has the same form.
/// Constants of the text such as a template's are gone: the result has no source.
DagPtr smaller(const Dag& dag, int64_t longest);

/// Turns of all loops of all ops.
int64_t iterations(const Dag& dag);

}  // namespace tw::te
