// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/api/compile.h"
#include "engine/base/json.h"
#include "engine/process/shared_memory.h"

/// What `tw-worker import` and the program that asked say to each other: one question, then any number of signs and arrays, then graphs or an error.
namespace tw::api {

/// Memory that reading and folding may take: so much for any file, and so many bytes for each that is read.
inline constexpr int64_t kMemoryForAny = int64_t{1} << 30;
inline constexpr int64_t kMemoryPerByte = 16;

using Constants = std::map<std::string, std::shared_ptr<const HostArray>>;

/// Arrays of this and more bytes lie in memory that both processes see.
inline constexpr size_t kSharedBytes = size_t{1} << 20;

/// An array ahead of the graphs that name it by its content key. Its bytes are the payload; but those of an array in `shared` stay where they are, and one that
/// follows from others (graph::Derivation) is sent as how it does, after them.
Json array_header(const std::string& key, const HostArray& array, const process::SharedMemory* shared);
/// Whether the bytes of such an array go with its header.
bool has_payload(const Json& header);
/// Adds the array of such a frame. Errors: parse_error where shape and bytes do not agree, or where it follows from what was not sent; out_of_memory.
Expected<void> add_array(const Json& header, std::vector<std::byte>&& payload, const process::SharedMemory* shared, Constants& constants);

/// What became of the model's operators while it was read, and of the graph's in passes.
Json reading_to_json(const Network& network);
/// Errors: parse_error.
Expected<void> reading_from_json(const Json& json, Network& network);

Json to_json(const std::vector<frontends::OpenSize>& sizes);
/// Errors: parse_error.
Expected<std::vector<frontends::OpenSize>> open_sizes_from_json(const Json& list);

Json to_json(const Error& error);
/// Errors of a header that has none: internal.
Error error_from_json(const Json& header);

}  // namespace tw::api
