// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/lesson/parse.h"

namespace tw::lesson {

/// A lesson of a folder, or why it is none.
struct Entry {
  std::string file;  ///< with its path
  Expected<Lesson> lesson;
};

/// Languages that lessons come along in: en, zh-CN.
std::vector<std::string> languages();
/// Where those of a language lie: `../share/tilewright/lessons` beside the program. Errors: not_found.
Expected<std::string> bundled_folder(const std::string& language);
/// All lessons of a folder, `.md` files, in the order that its file `order.txt` names them in, others after those by name. A README is none.
/// Errors: not_found for a folder that is not there.
Expected<std::vector<Entry>> lessons_in(const std::string& folder);
/// Errors: those of reading and parse_lesson, with the file in front of line and column.
Expected<Lesson> read_lesson(const std::string& file);

}  // namespace tw::lesson
