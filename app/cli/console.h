// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string_view>

/// What `tw` says: results on standard output, everything else on standard error. Nobody may be listening any more: a pipe's reader is gone, the disk behind a
/// redirection is full, the terminal was closed. Then what is said to standard error is dropped, and lost results are an error. Nothing here throws.
namespace tw::cli {

/// First thing in main: descriptors 0 to 2 that the caller closed are opened, so that no file of ours gets their numbers, and signals for pipes without a
/// reader and files beyond the process's limit are ignored, so that writing says so.
void open_console();

/// A result. Buffered.
void put(std::string_view text) noexcept;
template <class... T>
void print(fmt::format_string<T...> format, T&&... values) {
  put(fmt::format(format, std::forward<T>(values)...));
}
/// Hands on what is buffered.
void flush_results() noexcept;
/// Flushes at the end of the program. The exit code: `code`, or that of a failure, after saying so, if results were lost.
int close_console(int code) noexcept;

/// A line or a part of one on standard error; waits for a slow reader for a second at most.
void say(std::string_view text) noexcept;
/// The same for what is of no use later, such as a bar of progress: dropped if it cannot be shown at once.
void show(std::string_view text) noexcept;

}  // namespace tw::cli
