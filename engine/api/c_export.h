// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runtime/executable.h"

namespace tw::api {

/// A compiled network as files that a C compiler links into any program, with nothing else of Tilewright.
struct CExport {
  std::string name;                ///< C identifier: prefix of everything that the header declares
  std::string header;              ///< NAME.h: structs of inputs and outputs, NAME_create, NAME_run, NAME_destroy
  std::vector<std::byte> kernels;  ///< NAME.o
  /// NAME_data.o: constants and tables. They are an object and no file that is read at run time, so that a program stays one file, starts without
  /// copying and shares them between processes.
  std::vector<std::byte> data;
  std::string_view runtime;  ///< tilewright_runtime.c
};

/// A file of an export; `bytes` lie in what was exported.
struct OutputFile {
  std::string name;
  std::string_view bytes;
};
std::vector<OutputFile> object_files(const CExport& c);  ///< NAME.o and NAME_data.o
std::vector<OutputFile> source_files(const CExport& c);  ///< NAME.h and tilewright_runtime.c
/// Machine code for a GPU: SYMBOL.sm_CAPABILITY.cubin for every kernel.
std::vector<OutputFile> image_files(const runtime::Artifact& artifact);

/// `name` is what c_identifier makes of any text. Networks in one program need different names here and different kernel symbols (CompileOptions::symbols).
/// Errors: not_applicable for an executable whose output is no array of its own.
Expected<CExport> export_c(const runtime::Executable& e, const std::string& name);

/// Letters, digits and underscores, no leading digit and no keyword of C or C++.
std::string c_identifier(const std::string& text);

}  // namespace tw::api
