// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/api/compile.h"

// After the engine: Qt makes a macro of the word that an executable calls its arrays by.
#include <QTemporaryDir>

namespace tw::api::testing {

/// A bundled network with small channels and images, written to a file and imported.
inline Network tiny_network(const std::string& name, const Target& target) {
  const QTemporaryDir folder;
  const std::string path = folder.filePath(QStringLiteral("network.onnx")).toStdString();
  frontends::write_zoo_model(name, {.tiny = true}, path).value();
  return import_network(path, target).value();
}

}  // namespace tw::api::testing
