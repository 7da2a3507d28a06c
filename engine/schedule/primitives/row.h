// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/json_text.h"
#include "engine/schedule/primitive.h"
#include "engine/schedule/primitives/primitives.h"

/// What a file of this folder begins with.
namespace tw::schedule {

inline constexpr const char* kHalide = "Ragan-Kelley et al., Halide, PLDI 2013";
inline constexpr const char* kTvm = "Chen et al., TVM, OSDI 2018";
inline constexpr const char* kAnsor = "Zheng et al., Ansor, OSDI 2020";

template <class... Fields>
void StepWriter::operator()(const Fields&... fields) {
  ((out_ += ',', append_json(out_, fields)), ...);
}

template <class S, class T>
S owner_of(T S::*);

/// Arguments that follow each other in this order.
template <auto First, auto... Others>
constexpr auto in_order() {
  using S = decltype(owner_of(First));
  return StepJson<S>{[](StepWriter& write, const S& s) { write(s.*First, s.*Others...); },
                     [](StepReader& read) -> Expected<S> {
                       S s;
                       read(s.*First);
                       (read(s.*Others), ...);
                       return s;
                     }};
}

}  // namespace tw::schedule
