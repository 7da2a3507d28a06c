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

AutotvmTask conv(const te::Dag& dag, const te::Op& op, const std::vector<ir::Buffer>& in) {
  Json args = Json::array({tensor(unpadded(dag, in[0])), tensor(in[1])});
  const size_t rank = op.output->shape.size() - 2;
  args.push_back(attr(op, "strides", std::vector<int64_t>(rank, 1)));
  args.push_back(attr(op, "pads", std::vector<int64_t>(2 * rank, 0)));
  args.push_back(attr(op, "dilations", std::vector<int64_t>(rank, 1)));
  const std::string dtype = op.output->dtype.name();
  if (op.tag == "grouped_conv2d" || op.tag == "conv3d") {
    args.push_back(attr(op, "groups", {1})[0]);
    args.push_back(dtype);
    return {{op.tag == "conv3d" ? "conv3d_ncdhw.x86" : "group_conv2d_nchw.x86"}, std::move(args)};
  }
  for (const char* layout : {"NCHW", "NCHW"}) args.push_back(layout);
  args.push_back(dtype);
  return {{op.tag == "conv2d" ? "conv2d_NCHWc.x86" : "depthwise_conv2d_NCHWc.x86"}, std::move(args)};
}

AutotvmTask named(const te::Dag& dag, const te::Op& op, const std::vector<ir::Buffer>& in) {
  const std::string dtype = op.output->dtype.name();
  if (op.tag == "dense") return {{"dense_pack.x86", "dense_nopack.x86"}, Json::array({tensor(in[0]), tensor(in[1]), nullptr, dtype})};
  if (op.tag == "batch_matmul") return {{"batch_matmul.x86"}, Json::array({tensor(in[0]), tensor(in[1]), op.output->shape, dtype, 0, 0})};
  return conv(dag, op, in);
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

bool has_template(const te::Op& op) {
  if (op.tag == "dense") return op.output->shape.size() == 2;
  if (op.tag == "batch_matmul") return op.output->shape.size() == 3;
  return op.tag == "conv2d" || op.tag == "depthwise_conv2d" || op.tag == "grouped_conv2d" || op.tag == "conv3d";
}

}  // namespace

AutotvmTask autotvm_task(const te::Dag& dag) {
  for (const te::Op& op : dag.ops) {
    if (op.is_placeholder() || !has_template(op)) continue;
    const std::vector<ir::Buffer> in = operands(op);
    if (in.size() == 2) return named(dag, op, in);
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
