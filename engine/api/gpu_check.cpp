// SPDX-License-Identifier: Apache-2.0
#include "engine/api/gpu_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/codegen/cuda/cuda_source.h"
#include "engine/lower/lower.h"
#include "engine/measure/check.h"
#include "engine/measure/signature.h"
#include "engine/schedule/schedule.h"
#include "engine/tir/interp.h"
#include "engine/tir/launches.h"
#include "engine/tir/visit.h"

namespace tw::api {

namespace {

/// Results are filled with it; what still holds it was not written.
constexpr std::byte kUntouched{0xcb};

/// The launch with one block left: its coordinates are constants.
tir::Stmt one_block(const tir::Stmt& s, const int64_t (&at)[3]) {
  if (const auto* a = tir::as<tir::AllocNode>(s)) return tir::alloc(a->buffer, one_block(a->body, at), a->origin);
  const auto* loop = tir::as<tir::ForNode>(s);
  if (!loop || !tir::is_block(loop->for_kind)) return s;
  const int64_t here = at[static_cast<int>(loop->for_kind) - static_cast<int>(tir::ForKind::block_x)];
  return one_block(tir::substitute(loop->body, {{loop->var.get(), ir::index(here)}}), at);
}

class Checker {
 public:
  /// `specs`: how the kernel takes its arguments; empty: row by row.
  Checker(const te::Dag& dag, const tir::Func& func, const std::vector<runtime::ArgSpec>& specs, const GpuCheckOptions& options)
      : dag_(dag), func_(func), specs_(specs), options_(options), rng_(options.seed) {}

  Expected<GpuCheck> run() {
    const size_t outputs = dag_.outputs.size(), inputs = func_.params.size() - outputs;
    given_ = measure::make_inputs(dag_, options_.seed);
    // What is large and how far results may be off follows from the whole result: a block may have few of its elements.
    TW_TRY(reference_, measure::make_reference(dag_, options_.seed, {.full_flops = 0, .tf32 = options_.tf32}));
    if (given_.size() != inputs) return Error(ErrorCode::unsupported, fmt::format("Expected {} inputs, found {}", inputs, given_.size()), func_.name);
    args_ = given_;
    for (size_t i = 0; i < func_.params.size(); ++i) {
      const ir::BufferNode& p = *func_.params[i];
      if (i < inputs && !specs_.empty() && !specs_[i].layout.empty()) {
        args_[i] = HostArray::make(p.dtype, specs_[i].physical_shape());
        runtime::pack_layout(specs_[i], given_[i].data.data(), args_[i].data.data());
      }
      if (i >= inputs) args_.push_back(HostArray::make(p.dtype, in_layout(i) ? specs_[i].physical_shape() : shape_of(i - inputs)));
      if (args_[i].shape != p.shape && args_[i].num_elements() != p.num_elements())
        return Error(ErrorCode::unsupported, fmt::format("Expected argument '{}' row by row, found it in a layout", p.name), func_.name);
      args_[i].shape = p.shape;
    }
    TW_TRY(const tir::LaunchList list, tir::split_launches(func_));
    for (const tir::Launch& l : list.launches) result_.blocks += l.grid[0] * l.grid[1] * l.grid[2];
    if (list.launches.size() == 1)
      TW_CHECK(run_some(list.launches.front()));
    else
      TW_CHECK(run_whole());
    TW_TRY(const codegen::CudaSource source, codegen::cuda_source(func_));
    for (const int capability : options_.capabilities) {
      TW_TRY(codegen::CudaBinary binary, codegen::nvrtc_compile(source.text, capability));
      std::vector<codegen::KernelResources>& in_order = result_.resources.emplace_back();
      for (const codegen::CudaKernel& k : source.kernels)
        if (const auto* r = codegen::find_resources(binary.kernels, k.name)) in_order.push_back(*r);
    }
    return std::move(result_);
  }

 private:
  bool in_layout(size_t argument) const { return !specs_.empty() && !specs_[argument].layout.empty(); }
  const std::vector<int64_t>& shape_of(size_t output) const { return dag_.ops[static_cast<size_t>(dag_.outputs[output])].output->shape; }

  Expected<void> run_whole() {
    if (te::flops(dag_) > options_.most_flops) {
      result_.not_run = fmt::format("several launches of {} operations, more than {}", te::flops(dag_), options_.most_flops);
      return {};
    }
    result_.blocks_run = result_.blocks;
    return run_and_compare(func_, nullptr);
  }

  /// The first, the last and some in between.
  Expected<void> run_some(const tir::Launch& launch) {
    std::vector<int64_t> chosen{0, result_.blocks - 1};
    while (static_cast<int>(chosen.size()) < options_.blocks) chosen.push_back(rng_.range(0, result_.blocks - 1));
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    chosen.resize(std::min(chosen.size(), static_cast<size_t>(std::max(1, options_.blocks))));
    std::vector<std::vector<bool>> written_before(dag_.outputs.size());
    for (const int64_t block : chosen) {
      const int64_t at[3] = {block % launch.grid[0], block / launch.grid[0] % launch.grid[1], block / launch.grid[0] / launch.grid[1]};
      tir::Func one = func_;
      // A block's shared arrays live in a loop over blocks.
      one.body = tir::make_for(ir::make_var("block"), ir::index(0), ir::index(1), tir::ForKind::block_x, one_block(func_.body, at));
      if (auto done = run_and_compare(one, &written_before); !done) return Error(done.error()).note(fmt::format("in block ({}, {}, {})", at[0], at[1], at[2]));
      ++result_.blocks_run;
    }
    if (result_.elements == 0) return Error(ErrorCode::wrong_result, "Expected results from the blocks that were run, found none written", func_.name);
    return {};
  }

  Expected<void> run_and_compare(const tir::Func& f, std::vector<std::vector<bool>>* written_before) {
    const size_t inputs = args_.size() - dag_.outputs.size();
    for (size_t o = 0; o < dag_.outputs.size(); ++o) std::fill(args_[inputs + o].data.begin(), args_[inputs + o].data.end(), kUntouched);
    TW_CHECK(tir::interpret(f, args_, options_.stop, {tir::ThreadOrder::Kind::shuffled, options_.seed}));
    for (size_t o = 0; o < dag_.outputs.size(); ++o) {
      const HostArray& stored = args_[inputs + o];
      std::optional<HostArray> row_major;
      if (in_layout(inputs + o)) {
        row_major = HostArray::make(stored.dtype, shape_of(o));
        runtime::unpack_layout(specs_[inputs + o], stored.data.data(), row_major->data.data());
      }
      TW_CHECK(compare(static_cast<int>(o), row_major ? *row_major : stored, written_before ? &(*written_before)[o] : nullptr));
    }
    return {};
  }

  Expected<void> compare(int output, const HostArray& got, std::vector<bool>* written_before) {
    const auto size = static_cast<size_t>(got.dtype.bytes());
    std::vector<int64_t> written;
    for (int64_t p = 0; p < got.num_elements(); ++p) {
      const auto* at = got.data.data() + static_cast<size_t>(p) * size;
      if (std::any_of(at, at + size, [](std::byte b) { return b != kUntouched; })) written.push_back(p);
    }
    if (written_before) {
      written_before->resize(static_cast<size_t>(got.num_elements()), false);
      for (const int64_t p : written) {
        if ((*written_before)[static_cast<size_t>(p)])
          return Error(ErrorCode::wrong_result, fmt::format("Expected every element of result {} from one block, found element {} written by two", output, p),
                       func_.name);
        (*written_before)[static_cast<size_t>(p)] = true;
      }
    } else if (static_cast<int64_t>(written.size()) != got.num_elements()) {
      return Error(ErrorCode::wrong_result, fmt::format("Expected all {} elements of result {} written, found {}", got.num_elements(), output, written.size()),
                   func_.name);
    }
    for (size_t i = written.size(); i-- > 1;) std::swap(written[i], written[static_cast<size_t>(rng_.range(0, static_cast<int64_t>(i)))]);
    written.resize(std::min(written.size(), static_cast<size_t>(options_.elements)));
    std::sort(written.begin(), written.end());
    if (written.empty()) return {};
    measure::ReferenceOutput want;
    want.dtype = got.dtype;
    want.shape = got.shape;
    want.positions = written;
    TW_TRY(want.values, te::interpret_at(dag_, given_, output, written, options_.stop));
    std::vector<double> values;
    want.scale = reference_.outputs[static_cast<size_t>(output)].scale;
    want.tolerance = reference_.outputs[static_cast<size_t>(output)].tolerance;
    for (const int64_t p : written) values.push_back(got.get(p));
    const measure::Comparison c = measure::compare(want, values);
    result_.elements += static_cast<int64_t>(values.size());
    result_.max_rel_error = std::max(result_.max_rel_error, c.max_rel_error);
    if (!c.equal)
      return Error(ErrorCode::wrong_result, fmt::format("Expected {} at element {} of result {}, found {}", c.want, c.at, output, c.got), func_.name);
    return {};
  }

  const te::Dag& dag_;
  const tir::Func& func_;
  const std::vector<runtime::ArgSpec>& specs_;
  const GpuCheckOptions& options_;
  Rng rng_;
  std::vector<HostArray> given_;  ///< inputs as the dag has them
  std::vector<HostArray> args_;   ///< inputs, then results
  measure::Reference reference_;  ///< some elements of each result
  GpuCheck result_;
};

}  // namespace

Expected<GpuCheck> check_gpu_kernel(const te::Dag& dag, const tir::Func& func, const GpuCheckOptions& options) { return Checker(dag, func, {}, options).run(); }

Expected<GpuCheck> check_gpu_kernel(const records::Task& task, const std::vector<schedule::Step>& steps, const GpuCheckOptions& options) {
  TW_TRY(const schedule::Schedule s, schedule::Schedule::replay(task.dag, steps));
  TW_TRY(const tir::Func func, lower::lower_and_optimize(s, "kernel", task.target));
  const runtime::KernelSignature signature = measure::signature_of(s, "kernel");
  GpuCheckOptions of_task = options;
  of_task.tf32 = task.target.allows_tf32();
  return Checker(*task.dag, func, signature.args, of_task).run();
}

}  // namespace tw::api
