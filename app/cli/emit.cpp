// SPDX-License-Identifier: Apache-2.0
#include "app/cli/emit.h"

#include <algorithm>

#include "engine/api/c_export.h"
#include "engine/api/explain.h"
#include "engine/api/graph_json.h"
#include "engine/base/json.h"
#include "engine/base/output_folder.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

enum class For : uint8_t { all, processors, gpus };

/// Forms of one kernel, by the name that is also the ending of the file.
struct KernelForm {
  const char* name;
  std::string api::Explanation::*text;
  For whom = For::all;
};
constexpr KernelForm kKernelForms[] = {{"steps", &api::Explanation::steps},
                                       {"loops", &api::Explanation::loops},
                                       {"tir", &api::Explanation::tir},
                                       {"llvm-ir", &api::Explanation::llvm_ir, For::processors},
                                       {"asm", &api::Explanation::assembly, For::processors},
                                       {"cuda", &api::Explanation::llvm_ir, For::gpus},
                                       {"ptx", &api::Explanation::assembly, For::gpus},
                                       {"sass", &api::Explanation::sass, For::gpus}};
/// Forms of the whole network.
constexpr std::pair<const char*, For> kNetworkForms[] = {
    {"cubin", For::gpus}, {"graph-json", For::all}, {"object", For::processors}, {"c-header", For::processors}};

class Emitter {
 public:
  Emitter(const std::vector<std::string>& what, std::string folder) : what_(what), folder_(std::move(folder)) {}

  bool wants(const std::string& name) const { return std::find(what_.begin(), what_.end(), name) != what_.end(); }

  Expected<void> write(const std::string& name, std::string_view bytes) {
    paths_.push_back(folder_.path() + "/" + name);
    return folder_.write(name, bytes);
  }
  Expected<void> write(const std::vector<api::OutputFile>& files) {
    for (const api::OutputFile& f : files) TW_CHECK(write(f.name, f.bytes));
    return {};
  }

  Expected<void> kernel(const EmittedKernel& k, const Target& target) {
    if (std::none_of(std::begin(kKernelForms), std::end(kKernelForms), [&](const KernelForm& f) { return wants(f.name); })) return {};
    const api::Explanation e = api::explain(k.schedule, k.symbol, target);
    if (e.error) return *e.error;
    for (const KernelForm& f : kKernelForms)
      if (wants(f.name)) TW_CHECK(write(fmt::format("{}.{}", k.symbol, f.name), e.*f.text));
    return {};
  }

  Expected<void> c_program(const runtime::Executable& executable, const std::string& name) {
    TW_TRY(const api::CExport c, api::export_c(executable, name));
    if (wants("object")) TW_CHECK(write(api::object_files(c)));
    return wants("c-header") ? write(api::source_files(c)) : Expected<void>();
  }

  std::vector<std::string> paths() && { return std::move(paths_); }

 private:
  const std::vector<std::string>& what_;
  OutputFolder folder_;
  std::vector<std::string> paths_;
};

}  // namespace

std::vector<std::string> emissions(std::optional<bool> for_gpu) {
  std::vector<std::string> out;
  const auto fits = [&](For whom) { return whom == For::all || !for_gpu || (whom == For::gpus) == *for_gpu; };
  for (const KernelForm& f : kKernelForms)
    if (fits(f.whom)) out.emplace_back(f.name);
  for (const auto& [name, whom] : kNetworkForms)
    if (fits(whom)) out.emplace_back(name);
  return out;
}

Expected<std::vector<std::string>> emit(const std::vector<std::string>& what, const std::string& folder, const std::string& name, const api::Network& network,
                                        const runtime::Executable& executable, const std::vector<EmittedKernel>& kernels, const Target& target) {
  Emitter out(what, folder);
  for (const EmittedKernel& k : kernels) TW_CHECK(out.kernel(k, target));
  if (out.wants("graph-json")) TW_CHECK(out.write("graph.json", api::graph_executor_json(network, executable).dump(2) + "\n"));
  if (out.wants("cubin")) TW_CHECK(out.write(api::image_files(executable.artifact)));
  if (out.wants("object") || out.wants("c-header")) TW_CHECK(out.c_program(executable, name));
  return std::move(out).paths();
}

}  // namespace tw::cli
