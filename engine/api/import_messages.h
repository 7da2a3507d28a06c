// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/base/json.h"
#include "engine/frontends/frontend.h"
#include "engine/graph/graph.h"

/// What `tw-worker import` and the program that asked say to each other: one question, then any number of signs and arrays, then graphs or an error.
namespace tw::api {

/// Memory that reading and folding may take: so much for any file, and so many bytes for each that is read.
inline constexpr int64_t kMemoryForAny = int64_t{1} << 30;
inline constexpr int64_t kMemoryPerByte = 4;

using Constants = std::map<std::string, std::shared_ptr<const HostArray>>;

/// An array ahead of the graphs that name it by its content key; its bytes are the payload.
Json array_header(const std::string& key, const HostArray& array);
/// Adds the array of such a frame. Errors: parse_error where shape and bytes do not agree.
Expected<void> add_array(const Json& header, std::vector<std::byte>&& payload, Constants& constants);

Json to_json(const std::vector<frontends::OpenSize>& sizes);
/// Errors: parse_error.
Expected<std::vector<frontends::OpenSize>> open_sizes_from_json(const Json& list);

Json to_json(const Error& error);
/// Errors of a header that has none: internal.
Error error_from_json(const Json& header);

}  // namespace tw::api
