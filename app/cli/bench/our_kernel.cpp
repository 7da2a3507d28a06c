// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench/our_kernel.h"

#include <cstring>

#include "engine/codegen/codegen.h"
#include "engine/lower/lower.h"
#include "engine/measure/signature.h"

namespace tw::cli::bench {

Expected<std::unique_ptr<OurKernel>> OurKernel::create(const graph::Graph& optimized, const graph::Group& group, const schedule::Schedule& schedule,
                                                       const Target& target, const std::map<std::string, const HostArray*>& inputs, int copies,
                                                       const runtime::ThreadPool& pool) {
  std::unique_ptr<OurKernel> self(new OurKernel(pool));
  TW_TRY(const tir::Func func, lower::lower_and_optimize(schedule, "kernel", target));
  TW_TRY(const std::vector<std::byte> object, codegen::build_object({func}, target));
  TW_TRY(self->module_, codegen::load_object(object));
  TW_TRY(self->kernel_, self->module_->find("kernel"));
  const runtime::KernelSignature signature = measure::signature_of(schedule, "kernel");
  self->args_.resize(static_cast<size_t>(copies));
  for (size_t i = 0; i < signature.args.size(); ++i) {
    const runtime::ArgSpec& spec = signature.args[i];
    const auto bytes = static_cast<size_t>(spec.physical_bytes());
    const size_t times = spec.constant ? static_cast<size_t>(copies) : 1;
    self->arrays_.push_back(runtime::allocate_aligned(static_cast<int64_t>(bytes * times)));
    std::byte* at = self->arrays_.back().get();
    if (at == nullptr) return Error(ErrorCode::out_of_memory, "Memory ran out");
    for (size_t c = 0; c < self->args_.size(); ++c) self->args_[c].push_back(at + (times > 1 ? c * bytes : 0));
    if (spec.output) {
      self->result_spec_ = spec;
      continue;
    }
    const graph::Value& value = optimized.values[static_cast<size_t>(group.inputs[i])];
    const auto given = inputs.find(value.name);
    TW_ASSERT(value.constant || given != inputs.end(), "a kernel reads constants and the inputs given");
    runtime::pack_layout(spec, value.constant ? value.constant->data.data() : given->second->data.data(), at);
    for (size_t c = 1; c < times; ++c) std::memcpy(at + c * bytes, at, bytes);
  }
  return self;
}

void OurKernel::run() {
  kernel_(args_[next_].data(), pool_.api());
  next_ = (next_ + 1) % args_.size();
}

HostArray OurKernel::result() const {
  HostArray y = HostArray::make(result_spec_.dtype, result_spec_.shape);
  runtime::unpack_layout(result_spec_, arrays_.back().get(), y.data.data());
  return y;
}

}  // namespace tw::cli::bench
