// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/file.h"

/// Pieces of web pages that need no other file: no script, no picture, font or style from elsewhere; light or dark as the reader's system is.
namespace tw::logs {

/// What a page may be written over.
extern const FileKind kWebPage;

/// printable() as text of XML and HTML.
std::string markup_text(std::string_view text);
/// From the doctype to the first heading, which is the title.
std::string page_head(const std::string& title);
/// One row of a table; `cells` are markup already. `tag`: td or th.
std::string page_row(std::span<const std::string> cells, const char* tag = "td");
inline std::string page_row(std::initializer_list<std::string> cells, const char* tag = "td") { return page_row(std::span(cells.begin(), cells.size()), tag); }
/// `12.3 ms` or `8.38 µs`; a dash if infinite.
std::string page_time(double seconds);
/// A Unix time as `2026-01-31 14:05 UTC`: who reads it may be elsewhere.
std::string date_text(double unix_s);
/// `12.3x`, or `-` if infinite or zero.
std::string ratio_text(double ratio);
/// The end, with the program's version.
std::string page_end();

}  // namespace tw::logs
