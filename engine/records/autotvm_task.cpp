// SPDX-License-Identifier: Apache-2.0
#include "engine/records/autotvm_task.h"

#include <algorithm>

#include "engine/base/json.h"
#include "engine/ir/visit.h"

namespace tw::records {
namespace {

Json tensor(const ir::Buffer& buffer) { return Json::array({"TENSOR", buffer->shape, buffer->dtype.name()}); }

/// Buffers that an op reads, in the order of their first load.
std::vector<ir::Buffer> operands(const te::Op& op) {
  std::vector<ir::Buffer> result;
  if (!op.body) return result;
  ir::walk(*op.body, [&](const ir::Expr& e) {
    if (e->kind() != ir::ExprKind::load) return;
    const ir::Buffer& buffer = static_cast<const ir::LoadNode&>(*e).buffer;
    if (std::none_of(result.begin(), result.end(), [&](const ir::Buffer& b) { return b.get() == buffer.get(); })) result.push_back(buffer);
  });
  return result;
}

/// The buffer as it was before padding: AutoTVM's tasks take the unpadded input.
ir::Buffer unpadded(const te::Dag& dag, const ir::Buffer& buffer) {
  const int i = dag.op_of(buffer.get());
  if (i < 0 || dag.ops[i].tag != "pad") return buffer;
  const std::vector<ir::Buffer> inputs = operands(dag.ops[i]);
  return inputs.empty() ? buffer : inputs[0];
}

std::vector<int64_t> attr(const te::Op& op, const char* name, std::vector<int64_t> otherwise) {
  const auto found = op.attrs.find(name);
  return found == op.attrs.end() ? std::move(otherwise) : found->second;
}

/// How AutoTVM calls the templates of a tagged op, on processors and on GPUs; empty where it has none.
struct Named {
  const char* tag;
  std::vector<std::string> cpu, gpu;
};
const std::vector<Named>& names() {
  static const std::vector<Named> kNames{
      {"dense", {"dense_pack.x86", "dense_nopack.x86"}, {"dense_small_batch.gpu", "dense_large_batch.gpu", "dense_tensorcore.cuda"}},
      {"batch_matmul", {"batch_matmul.x86"}, {"batch_matmul.cuda", "batch_matmul_tensorcore.cuda"}},
      {"conv2d", {"conv2d_NCHWc.x86"}, {"conv2d_nchw.cuda", "conv2d_nchw_winograd.cuda"}},
      {"depthwise_conv2d", {"depthwise_conv2d_NCHWc.x86"}, {"depthwise_conv2d_nchw.cuda"}},
      {"grouped_conv2d", {"group_conv2d_nchw.x86"}, {"group_conv2d_nchw.cuda"}},
      {"conv1d", {}, {"conv1d_ncw.cuda"}},
      {"conv2d_nhwc", {}, {"conv2d_nhwc.gpu", "conv2d_nhwc_tensorcore.cuda"}},
      {"depthwise_conv2d_nhwc", {}, {"depthwise_conv2d_nhwc.cuda"}},
      {"conv3d", {"conv3d_ncdhw.x86"}, {"conv3d_ncdhw.cuda"}},
  };
  return kNames;
}

Json conv_args(const te::Dag& dag, const te::Op& op, const std::vector<ir::Buffer>& in, bool gpu) {
  Json args = Json::array({tensor(unpadded(dag, in[0])), tensor(in[1])});
  const size_t rank = op.output->shape.size() - 2;
  args.push_back(attr(op, "strides", std::vector<int64_t>(rank, 1)));
  args.push_back(attr(op, "pads", std::vector<int64_t>(2 * rank, 0)));
  args.push_back(attr(op, "dilations", std::vector<int64_t>(rank, 1)));
  if (op.tag == "grouped_conv2d" || op.tag == "conv3d")
    args.push_back(attr(op, "groups", {1})[0]);
  else if (!gpu)
    for (const char* layout : {"NCHW", "NCHW"}) args.push_back(layout);
  args.push_back(op.output->dtype.name());
  return args;
}

Json args_of_op(const te::Dag& dag, const te::Op& op, const std::vector<ir::Buffer>& in, bool gpu) {
  const std::string dtype = op.output->dtype.name();
  if (op.tag == "dense") return Json::array({tensor(in[0]), tensor(in[1]), nullptr, dtype});
  if (op.tag == "batch_matmul") return Json::array({tensor(in[0]), tensor(in[1]), op.output->shape, dtype, 0, 0});
  return conv_args(dag, op, in, gpu);
}

/// Arguments in the form that autotvm_task writes.
Json normal(const std::string& name, Json args) {
  for (Json& a : args) {
    if (a.is_boolean()) a = a.get<bool>() ? 1 : 0;
  }
  const bool tensors = args.size() >= 2 && args[0].is_array() && args[0].size() == 3 && args[1].is_array() && args[1].size() == 3;
  if (!tensors || (!name.starts_with("dense") && !name.starts_with("batch_matmul"))) return args;
  if (args.size() >= 4 && args[3].is_null()) args[3] = args[0][2];
  if (args.size() == 6 && args[5] == 1 && args[1][1].is_array() && args[1][1].size() == 3) {
    std::swap(args[1][1][1], args[1][1][2]);
    args[5] = 0;
  }
  return args;
}

std::vector<std::string> templates_of(const te::Op& op, bool gpu) {
  if ((op.tag == "dense" && op.output->shape.size() != 2) || (op.tag == "batch_matmul" && op.output->shape.size() != 3)) return {};
  const auto row = std::find_if(names().begin(), names().end(), [&](const Named& n) { return op.tag == n.tag; });
  return row == names().end() ? std::vector<std::string>() : gpu ? row->gpu : row->cpu;
}

}  // namespace

AutotvmTask autotvm_task(const te::Dag& dag, const Target& target) {
  const bool gpu = target.gpu.has_value();
  for (const te::Op& op : dag.ops) {
    if (op.is_placeholder()) continue;
    std::vector<std::string> found = templates_of(op, gpu);
    const std::vector<ir::Buffer> in = operands(op);
    if (!found.empty() && in.size() == 2) return {std::move(found), args_of_op(dag, op, in, gpu)};
  }
  Json args = Json::array();
  for (const te::Op& op : dag.ops) {
    if (op.is_placeholder()) args.push_back(tensor(op.output));
  }
  return {{}, std::move(args)};
}

std::string workload_text(const std::string& name, const Json& args) { return name + " " + dump_json(normal(name, args)); }

bool same_workload(const AutotvmTask& task, const std::string& name, const Json& args) {
  return std::find(task.names.begin(), task.names.end(), name) != task.names.end() && workload_text(name, task.args) == workload_text(name, args);
}

}  // namespace tw::records
