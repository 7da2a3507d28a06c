// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/cost/dataset.h"

namespace tw::cost {

/// A dataset with what people should know of it.
struct DatasetFile {
  const FeatureDef* feature = nullptr;
  std::string target;
  std::string times;  ///< "measured", "simulated" or "claimed": never mixed in one file
  std::map<std::string, std::string> names = {};  ///< of tasks, by key
  /// A network that tasks are of, with how often it runs each of them, by key.
  struct Network {
    std::string name;
    std::map<std::string, int> weights;
  };
  Dataset data = {};
  std::vector<Network> networks = {};
};
Json describe(const DatasetFile& file);

extern const FileKind kDatasetFile;
/// One file: a line that says what it is and names the tasks, then rows and speeds. Errors: those of writing a file.
Expected<void> save_dataset(const DatasetFile& file, const std::string& path);
/// Errors: parse_error for another kind of file, version for a newer format or features of another version, not_found for features that this program lacks, corrupt, io_error.
Expected<DatasetFile> load_dataset(const std::string& path);

}  // namespace tw::cost
