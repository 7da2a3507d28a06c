// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "engine/base/file.h"
#include "engine/base/text.h"
#include "engine/frontends/frontend.h"
#include "engine/graph/expression.h"
#include "engine/ir/lexer.h"

namespace tw::frontends {

namespace {

constexpr uintmax_t kMaxText = 64 << 10;

}  // namespace

bool is_expression(const std::string& path) { return path.ends_with(".te"); }

Expected<graph::Graph> read_expression(const std::string& path) {
  std::error_code ec;
  if (const uintmax_t size = std::filesystem::file_size(path, ec); !ec && size > kMaxText)
    return Error(ErrorCode::resource_limit, fmt::format("Expected an expression of at most {} KiB, found {}", kMaxText >> 10, size >> 10), printable(path));
  TW_TRY(const std::string text, read_file(path));
  auto g = graph::graph_of(ir::to_identifier(std::filesystem::path(path).stem().string()), text);
  if (g) return g;
  Error e = std::move(g).error();
  e.where = e.where.empty() ? printable(path) : printable(path) + ", " + e.where;
  return e;
}

}  // namespace tw::frontends
