// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "engine/base/assert.h"
#include "engine/base/error.h"

namespace tw {

/// Either a value or the Error that says why there is none. The names follow std::expected, which C++20 does not have.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    TW_ASSERT(has_value(), error().text());
    return std::get<0>(state_);
  }
  const T& value() const& {
    TW_ASSERT(has_value(), error().text());
    return std::get<0>(state_);
  }
  T&& value() && {
    TW_ASSERT(has_value(), error().text());
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Expected<void> {
 public:
  Expected() = default;
  Expected(Error error) : error_(std::move(error)) {}
  bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }
  void value() const { TW_ASSERT(has_value(), error_->text()); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace tw

#define TW_CONCAT_INNER(a, b) a##b
#define TW_CONCAT(a, b) TW_CONCAT_INNER(a, b)

/// Declares `decl` with the value of `expr`, or returns its Error from the enclosing function.
#define TW_TRY(decl, expr) TW_TRY_IMPL(decl, expr, TW_CONCAT(tw_try_, __LINE__))
#define TW_TRY_IMPL(decl, expr, tmp)                 \
  auto tmp = (expr);                                 \
  if (!tmp) return ::tw::Error(std::move(tmp).error()); \
  decl = std::move(*tmp)

/// Returns the Error of an Expected<void> (or of a value that is not needed) from the enclosing function.
#define TW_CHECK(expr)                                                  \
  do {                                                                  \
    if (auto tw_check_result = (expr); !tw_check_result) return ::tw::Error(tw_check_result.error()); \
  } while (false)
