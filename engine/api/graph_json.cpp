// SPDX-License-Identifier: Apache-2.0
#include "engine/api/graph_json.h"

#include <map>
#include <set>

#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::api {

namespace {

using runtime::Slot;

constexpr int kCpu = 1;  ///< device type in DLPack

/// Relay's name of an operator of ours, as it stands in the names of fused functions.
std::string relay_name(const std::string& op) {
  static const std::map<std::string, std::string> kNames = {
      {"and", "logical_and"},
      {"avg_pool1d", "nn_avg_pool1d"},
      {"avg_pool2d", "nn_avg_pool2d"},
      {"avg_pool2d_nhwc", "nn_avg_pool2d"},
      {"avg_pool3d", "nn_avg_pool3d"},
      {"batch_norm", "nn_batch_norm"},
      {"concat", "concatenate"},
      {"conv1d", "nn_conv1d"},
      {"conv1d_transpose", "nn_conv1d_transpose"},
      {"conv2d", "nn_conv2d"},
      {"conv2d_nhwc", "nn_conv2d"},
      {"conv2d_transpose", "nn_conv2d_transpose"},
      {"conv3d", "nn_conv3d"},
      {"conv3d_transpose", "nn_conv3d_transpose"},
      {"dense", "nn_dense"},
      {"depthwise_conv2d_nhwc", "nn_conv2d"},
      {"div", "divide"},
      {"gather", "take"},
      {"gather_elements", "gather"},
      {"gelu", "nn_gelu"},
      {"instance_norm", "nn_instance_norm"},
      {"layer_norm", "nn_layer_norm"},
      {"leaky_relu", "nn_leaky_relu"},
      {"log_softmax", "nn_log_softmax"},
      {"lrn", "nn_lrn"},
      {"matmul", "nn_batch_matmul"},
      {"max", "maximum"},
      {"max_pool1d", "nn_max_pool1d"},
      {"max_pool2d", "nn_max_pool2d"},
      {"max_pool2d_nhwc", "nn_max_pool2d"},
      {"max_pool3d", "nn_max_pool3d"},
      {"min", "minimum"},
      {"mul", "multiply"},
      {"neg", "negative"},
      {"not", "logical_not"},
      {"or", "logical_or"},
      {"pad", "nn_pad"},
      {"pow", "power"},
      {"prelu", "nn_prelu"},
      {"reduce_max", "max"},
      {"reduce_mean", "mean"},
      {"reduce_min", "min"},
      {"reduce_prod", "prod"},
      {"reduce_sum", "sum"},
      {"relu", "nn_relu"},
      {"slice", "strided_slice"},
      {"softmax", "nn_softmax"},
      {"sub", "subtract"},
      {"xor", "logical_xor"},
  };
  const auto it = kNames.find(op);
  return it == kNames.end() ? op : it->second;
}

/// Relay's text of a layout: capitals for whole dimensions, a number and a small letter for a block, such as NCHW16c.
std::string layout_name(const runtime::ArgSpec& spec, std::string_view letters) {
  std::string out;
  if (spec.layout.empty()) return std::string(letters);
  for (const runtime::LayoutPiece& p : spec.layout) {
    const char letter = letters[static_cast<size_t>(p.dim)];
    out += p.factor == 0 ? std::string(1, letter) : fmt::format("{}{}", p.factor, static_cast<char>(letter - 'A' + 'a'));
    if (p.winograd) out += fmt::format("w{}", p.winograd);
  }
  return out;
}

class Writer {
 public:
  Writer(const Network& network, const runtime::Executable& e) : e_(e) {
    for (const graph::Node& node : network.optimized.nodes) op_of_[node.name] = node.op;
  }

  Json run() {
    for (const int s : e_.inputs) add_null(s, slot(s).spec.name);
    int constants = 0;
    for (size_t s = 0; s < e_.slots.size(); ++s)
      if (e_.slots[s].kind == Slot::Kind::constant) add_null(static_cast<int>(s), fmt::format("p{}", constants++));
    for (const runtime::Call& call : e_.calls) add_call(call);
    Json heads = Json::array();
    for (const int s : e_.outputs) heads.push_back(place_of(s));
    row_ptr_.push_back(entries_);
    return {{"nodes", nodes_},
            {"arg_nodes", arg_nodes_},
            {"heads", heads},
            {"attrs",
             {{"dltype", {"list_str", dtypes_}},
              {"device_index", {"list_int", std::vector<int>(static_cast<size_t>(entries_), kCpu)}},
              {"storage_id", {"list_int", storage_}},
              {"shape", {"list_shape", shapes_}}}},
            {"node_row_ptr", row_ptr_}};
  }

 private:
  const Slot& slot(int s) const { return e_.slots[static_cast<size_t>(s)]; }

  /// Intermediates that start at the same place of the arena share a storage, which TVM's executor makes large enough for each of them.
  int storage_of(int s) {
    if (slot(s).kind != Slot::Kind::intermediate) return storages_++;
    const auto [it, fresh] = storage_at_.emplace(slot(s).offset, storages_);
    storages_ += fresh;
    return it->second;
  }

  void add_entry(int s, int output) {
    place_[s] = {static_cast<int>(nodes_.size()), output, 0};
    if (slot(s).kind == Slot::Kind::intermediate) {
      std::erase_if(alive_, [&](int other) { return overlap(s, other); });
      alive_.push_back(s);
    }
    shapes_.push_back(slot(s).spec.physical_shape());
    dtypes_.push_back(slot(s).spec.dtype.name());
    storage_.push_back(storage_of(s));
    ++entries_;
  }

  bool overlap(int a, int b) const {
    return slot(a).offset < slot(b).offset + slot(b).spec.physical_bytes() && slot(b).offset < slot(a).offset + slot(a).spec.physical_bytes();
  }

  /// Where an array comes from. One that no kernel writes is a part of others, or they are parts of it: TVM's node that does nothing says which.
  const std::vector<int>& place_of(int s) {
    if (const auto known = place_.find(s); known != place_.end()) return known->second;
    std::vector<int> parts;
    for (const int other : alive_)
      if (overlap(s, other)) parts.push_back(other);
    std::sort(parts.begin(), parts.end(), [&](int a, int b) { return slot(a).offset < slot(b).offset; });
    Json inputs = Json::array();
    for (const int part : parts) inputs.push_back(place_.at(part));
    row_ptr_.push_back(entries_);
    place_[s] = {static_cast<int>(nodes_.size()), 0, 0};
    shapes_.push_back(slot(s).spec.physical_shape());
    dtypes_.push_back(slot(s).spec.dtype.name());
    storage_.push_back(storage_of(s));
    ++entries_;
    Json attrs = {{"func_name", "__nop"}, {"num_inputs", std::to_string(inputs.size())}, {"num_outputs", "1"}, {"flatten_data", "0"}};
    nodes_.push_back({{"op", "tvm_op"}, {"name", unique("view_of_" + slot(s).spec.name)}, {"attrs", std::move(attrs)}, {"inputs", std::move(inputs)}});
    return place_.at(s);
  }

  void add_null(int s, const std::string& name) {
    row_ptr_.push_back(entries_);
    arg_nodes_.push_back(nodes_.size());
    add_entry(s, 0);
    nodes_.push_back({{"op", "null"}, {"name", unique(name)}, {"inputs", Json::array()}});
  }

  std::string unique(const std::string& name) {
    std::string out = name;
    for (int n = 1; !names_.insert(out).second; ++n) out = fmt::format("{}_{}", name, n);
    return out;
  }

  /// One name for each symbol, as TVM has one for each primitive function.
  std::string function_name(const runtime::Call& call) {
    const auto known = functions_.find(call.symbol);
    if (known != functions_.end()) return known->second;
    std::string name = "tvmgen_default";
    if (call.nodes.empty()) name += "_layout_transform";
    if (!call.nodes.empty()) name += "_fused";
    for (const std::string& node : call.nodes) name += "_" + relay_name(op_of_.at(node));
    const int count = ++function_counts_[name];
    if (count > 1) name += fmt::format("_{}", count - 1);
    return functions_[call.symbol] = name;
  }

  void add_call(const runtime::Call& call) {
    const auto& args = kernel(call.symbol).args;
    Json inputs = Json::array();
    int outputs = 0;
    for (size_t i = 0; i < args.size(); ++i)
      if (!args[i].output) inputs.push_back(place_of(call.slots[i]));
    row_ptr_.push_back(entries_);
    for (size_t i = 0; i < args.size(); ++i)
      if (args[i].output) add_entry(call.slots[i], outputs++);
    const std::string function = function_name(call);
    Json attrs = {{"func_name", function},
                  {"num_inputs", std::to_string(inputs.size())},
                  {"num_outputs", std::to_string(outputs)},
                  {"flatten_data", "0"},
                  {"hash", call.task_key},
                  {"symbol", call.symbol}};
    add_layouts(attrs, call, args);
    nodes_.push_back({{"op", "tvm_op"}, {"name", unique(function)}, {"attrs", std::move(attrs)}, {"inputs", std::move(inputs)}});
  }

  /// Of a convolution over images: the layouts of its data, weights and result.
  void add_layouts(Json& attrs, const runtime::Call& call, const std::vector<runtime::ArgSpec>& args) const {
    const bool convolves = !call.nodes.empty() && op_of_.at(call.nodes[0]) == "conv2d";
    if (!convolves || args.size() < 3 || args[0].shape.size() != 4 || args[1].shape.size() != 4 || !args[1].constant || !args.back().output ||
        args.back().shape.size() != 4)
      return;
    attrs["data_layout"] = layout_name(slot(call.slots[0]).spec, "NCHW");
    attrs["kernel_layout"] = layout_name(slot(call.slots[1]).spec, "OIHW");
    attrs["out_layout"] = layout_name(slot(call.slots.back()).spec, "NCHW");
  }

  const runtime::KernelSignature& kernel(const std::string& symbol) const {
    for (const runtime::KernelSignature& k : e_.artifact.kernels)
      if (k.name == symbol) return k;
    TW_UNREACHABLE("a call of a kernel that is not there");
  }

  const runtime::Executable& e_;
  std::map<std::string, std::string> op_of_;  ///< by node
  Json nodes_ = Json::array();
  std::vector<size_t> arg_nodes_;
  std::vector<int> alive_;  ///< intermediates that no later one lies on
  std::vector<int> row_ptr_, storage_;
  std::vector<std::string> dtypes_;
  std::vector<std::vector<int64_t>> shapes_;
  std::map<int, std::vector<int>> place_;  ///< of each slot: node, output, version
  std::map<int64_t, int> storage_at_;      ///< by place in the arena
  std::map<std::string, std::string> functions_;
  std::map<std::string, int> function_counts_;
  std::set<std::string> names_;
  int entries_ = 0, storages_ = 0;
};

}  // namespace

Json graph_executor_json(const Network& network, const runtime::Executable& e) { return Writer(network, e).run(); }

}  // namespace tw::api
