// SPDX-License-Identifier: Apache-2.0
// oneDNN through its C interface, versions 2 and 3: convolutions and matrix products with the layouts and the algorithm that it chooses itself, bias and ReLU
// fused, weights reordered ahead of time. Source of the interface: the header files of versions 2.6 and 3.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "app/cli/bench/affinity.h"
#include "app/cli/bench/peer_library.h"
#include "app/cli/bench/peers.h"
#include "engine/base/text.h"
#include "engine/runtime/workspace.h"

namespace tw::cli::bench {
namespace {

using Dims = std::vector<int64_t>;

// Values of oneDNN's enumerations that both versions agree on.
constexpr int kCpu = 1, kInOrder = 1, kFloat = 3, kAnyLayout = 1, kForwardInference = 96, kConvolutionAuto = 3;
constexpr int kQuerySource = 129, kQueryWeights = 131, kQueryResult = 133;
constexpr int kArgSource = 1, kArgResult = 17, kArgWeights = 33, kArgBias = 41;
constexpr int kRelu2 = 0x1f, kRelu3 = 0x20;
constexpr int kMaxDims = 12;
/// Version 2 wants the memory of its descriptors from us; the largest that is used here takes 6 KiB.
constexpr size_t kLayoutBytes = 1024, kOperationBytes = 8192;

struct Argument {
  int arg;
  void* memory;
};
using Execute = int (*)(const void* primitive, void* stream, int count, const Argument* arguments);
using Wait = int (*)(void* stream);

/// The library's functions by name. Handles are pointers; a memory descriptor is a handle in version 3 and a structure of ours in version 2.
struct Library : PeerLibrary {
  int major = 0;
  void* engine = nullptr;
  void* stream = nullptr;

  /// Calls a function that returns a status.
  template <class... Args>
  bool call(const char* name, Args... args) const {
    const auto f = function<int (*)(Args...)>(name);
    return f != nullptr && f(args...) == 0;
  }
  size_t bytes(const void* layout) const { return function<size_t (*)(const void*)>("dnnl_memory_desc_get_size")(layout); }
  const void* layout_of(const void* description, int query) const {
    return function<const void* (*)(const void*, int, int)>("dnnl_primitive_desc_query_md")(description, query, 0);
  }
};

/// A memory descriptor.
class Layout {
 public:
  /// With strides, or, if there are none, as the library likes.
  Layout(const Library& library, const Dims& extents, const Dims& strides) : library_(library) {
    std::array<int64_t, kMaxDims> e{}, s{};
    std::copy(extents.begin(), extents.end(), e.begin());
    std::copy(strides.begin(), strides.end(), s.begin());
    const int rank = static_cast<int>(extents.size());
    if (library.major == 2) {
      structure_.resize(kLayoutBytes);
      handle_ = structure_.data();
      good_ = strides.empty() ? library.call("dnnl_memory_desc_init_by_tag", handle_, rank, e.data(), kFloat, kAnyLayout)
                              : library.call("dnnl_memory_desc_init_by_strides", handle_, rank, e.data(), kFloat, s.data());
    } else {
      good_ = strides.empty() ? library.call("dnnl_memory_desc_create_with_tag", &handle_, rank, e.data(), kFloat, kAnyLayout)
                              : library.call("dnnl_memory_desc_create_with_strides", &handle_, rank, e.data(), kFloat, s.data());
    }
  }
  ~Layout() {
    if (library_.major > 2 && good_) library_.call("dnnl_memory_desc_destroy", handle_);
  }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  const void* get() const { return good_ ? handle_ : nullptr; }

 private:
  const Library& library_;
  std::vector<std::byte> structure_;
  void* handle_ = nullptr;
  bool good_ = false;
};

Dims row_major(const Dims& extents) {
  Dims strides(extents.size(), 1);
  for (size_t i = extents.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * extents[i];
  return strides;
}

/// What the library sees of a case: extents, and strides of the arrays as we have them.
struct Shapes {
  Dims data, weight, weight_strides, result;
};
Shapes shapes_of(const KernelCase& c) {
  Shapes s{c.data, c.weight, row_major(c.weight), c.result};
  if (c.kind == Kind::dense) {
    s.weight = {c.weight[1], c.weight[0]};
    s.weight_strides = {1, c.weight[1]};
  } else if (c.groups > 1) {
    s.weight = {c.groups, c.weight[0] / c.groups, c.weight[1], c.weight[2], c.weight[3]};
    s.weight_strides = row_major(s.weight);
  }
  return s;
}

class Primitive : public PeerKernel {
 public:
  explicit Primitive(const Library& library)
      : library_(library), execute_(library.function<Execute>("dnnl_primitive_execute")), wait_(library.function<Wait>("dnnl_stream_wait")) {}
  ~Primitive() override {
    for (void* m : memories_) library_.call("dnnl_memory_destroy", m);
    if (primitive_ != nullptr) library_.call("dnnl_primitive_destroy", primitive_);
    if (description_ != nullptr) library_.call("dnnl_primitive_desc_destroy", description_);
  }

  bool prepare(const KernelCase& c, const KernelData& d, int copies) {
    result_ = HostArray::make(kFloat32, c.result);
    const Shapes shapes = shapes_of(c);
    if (!(c.kind == Kind::conv2d ? describe_convolution(c, shapes) : describe_product(c, shapes))) return false;
    if (!library_.call("dnnl_primitive_create", &primitive_, static_cast<const void*>(description_))) return false;
    const void* data_layout = library_.layout_of(description_, kQuerySource);
    const void* weight_layout = library_.layout_of(description_, kQueryWeights);
    const void* result_layout = library_.layout_of(description_, kQueryResult);
    const size_t weight_bytes = library_.bytes(weight_layout);
    x_ = allocate(library_.bytes(data_layout));
    w_ = allocate(weight_bytes * static_cast<size_t>(copies));
    y_ = allocate(library_.bytes(result_layout));
    bias_ = d.bias;
    if (!x_ || !w_ || !y_) return false;
    const Layout data(library_, shapes.data, row_major(shapes.data)), weight(library_, shapes.weight, shapes.weight_strides);
    if (!reorder(data.get(), d.data.data.data(), data_layout, x_.get()) || !reorder(weight.get(), d.weight.data.data(), weight_layout, w_.get())) return false;
    std::vector<Argument> shared{{kArgSource, memory(data_layout, x_.get())}, {kArgResult, memory(result_layout, y_.get())}};
    if (c.bias_elements() > 0) {
      const Layout bias(library_, {c.bias_elements()}, {1});
      shared.push_back({kArgBias, memory(bias.get(), bias_.data.data())});
    }
    for (int i = 0; i < copies; ++i) {
      std::byte* at = w_.get() + weight_bytes * static_cast<size_t>(i);
      if (i > 0) std::memcpy(at, w_.get(), weight_bytes);
      arguments_.push_back(shared);
      arguments_.back().push_back({kArgWeights, memory(weight_layout, at)});
    }
    return std::find(memories_.begin(), memories_.end(), nullptr) == memories_.end() && execute(primitive_, arguments_[0]);
  }

  void run() override {
    execute(primitive_, arguments_[next_]);
    next_ = (next_ + 1) % arguments_.size();
  }

  HostArray result() override {
    const Layout plain(library_, result_.shape, row_major(result_.shape));
    reorder(library_.layout_of(description_, kQueryResult), y_.get(), plain.get(), result_.data.data());
    return result_;
  }

 private:
  static runtime::AlignedBytes allocate(size_t bytes) { return runtime::allocate_aligned(static_cast<int64_t>(bytes)); }

  bool execute(const void* primitive, const std::vector<Argument>& arguments) const {
    return execute_(primitive, library_.stream, static_cast<int>(arguments.size()), arguments.data()) == 0 && wait_(library_.stream) == 0;
  }

  void* memory(const void* layout, void* data) {
    void* m = nullptr;
    library_.call("dnnl_memory_create", &m, layout, library_.engine, data);
    memories_.push_back(m);
    return m;
  }

  /// Copies between two layouts.
  bool reorder(const void* from_layout, const std::byte* from, const void* to_layout, std::byte* to) {
    void *description = nullptr, *primitive = nullptr;
    const void* const no_attributes = nullptr;
    if (!library_.call("dnnl_reorder_primitive_desc_create", &description, from_layout, library_.engine, to_layout, library_.engine, no_attributes))
      return false;
    const bool done = library_.call("dnnl_primitive_create", &primitive, static_cast<const void*>(description)) &&
                      execute(primitive, {{kArgSource, memory(from_layout, const_cast<std::byte*>(from))}, {kArgResult, memory(to_layout, to)}});
    if (primitive != nullptr) library_.call("dnnl_primitive_destroy", primitive);
    library_.call("dnnl_primitive_desc_destroy", description);
    return done;
  }

  bool describe_convolution(const KernelCase& c, const Shapes& s) {
    const Layout data(library_, s.data, {}), weight(library_, s.weight, {}), bias(library_, {c.bias_elements()}, {1}), result(library_, s.result, {});
    const std::array<int64_t, kMaxDims> strides{c.stride, c.stride}, pads{c.pad, c.pad}, dilations{c.dilation - 1, c.dilation - 1};  // gaps
    void *attributes = nullptr, *after = nullptr;
    bool good = library_.call("dnnl_primitive_attr_create", &attributes) && library_.call("dnnl_post_ops_create", &after);
    good = good && (library_.major == 2 ? library_.call("dnnl_post_ops_append_eltwise", after, 1.0F, kRelu2, 0.0F, 0.0F)
                                        : library_.call("dnnl_post_ops_append_eltwise", after, kRelu3, 0.0F, 0.0F));
    good = good && library_.call("dnnl_primitive_attr_set_post_ops", attributes, static_cast<const void*>(after));
    if (library_.major == 2) {
      std::vector<std::byte> operation(kOperationBytes);
      good = good && library_.call("dnnl_dilated_convolution_forward_desc_init", operation.data(), kForwardInference, kConvolutionAuto, data.get(), weight.get(), bias.get(),
                                   result.get(), strides.data(), dilations.data(), pads.data(), pads.data());
      good = good && create_description(operation.data(), attributes);
    } else {
      good = good && library_.call("dnnl_convolution_forward_primitive_desc_create", &description_, library_.engine, kForwardInference, kConvolutionAuto,
                                   data.get(), weight.get(), bias.get(), result.get(), strides.data(), dilations.data(), pads.data(), pads.data(),
                                   static_cast<const void*>(attributes));
    }
    if (after != nullptr) library_.call("dnnl_post_ops_destroy", after);
    if (attributes != nullptr) library_.call("dnnl_primitive_attr_destroy", attributes);
    return good;
  }

  bool describe_product(const KernelCase& c, const Shapes& s) {
    // Weights that are no constants stay as they are.
    const Layout data(library_, s.data, row_major(s.data)), weight(library_, s.weight, c.constant_weight() ? Dims{} : s.weight_strides);
    const Layout result(library_, s.result, row_major(s.result));
    const void* const none = nullptr;
    if (library_.major > 2)
      return library_.call("dnnl_matmul_primitive_desc_create", &description_, library_.engine, data.get(), weight.get(), none, result.get(), none);
    std::vector<std::byte> operation(kOperationBytes);
    return library_.call("dnnl_matmul_desc_init", operation.data(), data.get(), weight.get(), none, result.get()) &&
           create_description(operation.data(), nullptr);
  }

  /// Version 2 makes the description of a primitive out of that of an operation.
  bool create_description(const void* operation, const void* attributes) {
    const void* const no_hint = nullptr;
    return library_.call("dnnl_primitive_desc_create", &description_, operation, attributes, library_.engine, no_hint);
  }

  const Library& library_;
  Execute execute_;
  Wait wait_;
  void *description_ = nullptr, *primitive_ = nullptr;
  runtime::AlignedBytes x_, w_, y_;
  HostArray bias_, result_;
  std::vector<void*> memories_;
  std::vector<std::vector<Argument>> arguments_;  ///< per copy of the weights
  size_t next_ = 0;
};

class OneDnn : public Peer {
 public:
  OneDnn(Library library, std::string description) : library_(std::move(library)), description_(std::move(description)) {}
  const std::string& name() const override { return name_; }
  std::string description() const override { return description_; }
  Expected<std::unique_ptr<PeerKernel>> prepare(const KernelCase& c, const KernelData& data, int copies) override {
    if (c.kind == Kind::softmax) return Error(ErrorCode::not_applicable, "oneDNN is compared by products and convolutions");
    auto kernel = std::make_unique<Primitive>(library_);
    if (!kernel->prepare(c, data, copies)) return Error(ErrorCode::infrastructure, fmt::format("oneDNN refused '{}'", c.name));
    return std::unique_ptr<PeerKernel>(std::move(kernel));
  }

 private:
  Library library_;
  std::string name_ = "oneDNN", description_;
};

/// What one parallel region of OpenMP binds its threads with.
struct Binding {
  const std::vector<int>& processors;
  int (*number)();  ///< of the calling thread in its team
};

/// As many threads of GNU's OpenMP as processors, one on each. OpenMP may have been loaded long ago, so its environment variables come too late.
bool bind_openmp_threads(const Library& library, const std::vector<int>& processors) {
  const auto set_threads = library.function<void (*)(int)>("omp_set_num_threads");
  const auto parallel = library.function<void (*)(void (*)(void*), void*, unsigned, unsigned)>("GOMP_parallel");
  Binding binding{processors, library.function<int (*)()>("omp_get_thread_num")};
  if (set_threads == nullptr || parallel == nullptr || binding.number == nullptr) return false;
  const Affinity restored(processors);  // of the calling thread, which is one of the team
  set_threads(static_cast<int>(processors.size()));
  const auto bind = [](void* data) {
    const auto& b = *static_cast<Binding*>(data);
    bind_self({b.processors[static_cast<size_t>(b.number())]});
  };
  parallel(bind, &binding, static_cast<unsigned>(processors.size()), 0);
  return true;
}

/// `tbb::global_control` as the exported function takes it. Source of the structure: oneTBB's header of that name.
struct TbbLimit {
  size_t value;
  intptr_t reserved = 0;
  int parameter = 0;  ///< max_allowed_parallelism
};

/// At most as many threads of oneTBB as processors, as long as the library is there.
bool limit_tbb_threads(const Library& library, const std::vector<int>& processors) {
  const auto create = library.function<void (*)(TbbLimit&)>("_ZN3tbb6detail2r16createERNS0_2d114global_controlE");
  if (create == nullptr) return false;
  static std::unique_ptr<TbbLimit> limit;
  if (limit) return true;
  limit = std::make_unique<TbbLimit>(TbbLimit{processors.size()});
  create(*limit);
  return true;
}

constexpr unsigned kSequential = 1, kOpenMp = 2;  ///< what `dnnl_version` calls the threads of a build; the others run on oneTBB

struct Version {
  int major, minor, patch;
  const char* hash;
  unsigned cpu_threads, gpu_threads;
};

Expected<void> tell_threads(const Library& library, const Version& version, const std::vector<int>& processors) {
  if (processors.size() == 1 && version.cpu_threads == kSequential) return {};
  if (version.cpu_threads == kOpenMp && bind_openmp_threads(library, processors)) return {};
  if (version.cpu_threads == kOpenMp || !limit_tbb_threads(library, processors))
    return Error(ErrorCode::unsupported, "this build of oneDNN has neither threads of GNU's OpenMP nor of oneTBB, so their number cannot be told");
  // Those of SYCL's processors are as many as the one that opened it could use.
  static const size_t first = processors.size();
  if (first == processors.size()) return {};
  return Error(ErrorCode::unsupported, fmt::format("this build of oneDNN keeps the {} threads that it was opened with: give --threads {} by itself", first, processors.size()));
}

}  // namespace

Expected<std::unique_ptr<Peer>> onednn_peer(const std::vector<int>& processors, const std::vector<std::string>& folders) {
  const Affinity others(processors);  // what threads of oneTBB inherit
  // Builds for SYCL find the processor through the OpenCL driver that lies beside them.
  for (const std::string& folder : folders) setenv("OCL_ICD_FILENAMES", (folder + "/libintelocl.so").c_str(), 0);
  auto opened = open_peer_library(folders, {"libdnnl.so.3", "libdnnl.so.2"});
  if (!opened) return Error(ErrorCode::not_found, opened.error().message + "; Debian's package is libdnnl2");
  Library library{std::move(*opened)};
  const auto get_version = library.function<const Version* (*)()>("dnnl_version");
  if (get_version == nullptr) return Error(ErrorCode::unsupported, fmt::format("'{}' lacks functions of oneDNN", library.name));
  const Version& version = *get_version();
  library.major = version.major;
  TW_CHECK(tell_threads(library, version, processors));
  if (!library.call("dnnl_engine_create", &library.engine, kCpu, size_t{0}) || !library.call("dnnl_stream_create", &library.stream, library.engine, kInOrder))
    return Error(ErrorCode::infrastructure, "oneDNN refused to start; a build for SYCL needs the libraries beside it, which LD_LIBRARY_PATH must name");
  return std::unique_ptr<Peer>(std::make_unique<OneDnn>(std::move(library), fmt::format("oneDNN {}.{}.{}", version.major, version.minor, version.patch)));
}

}  // namespace tw::cli::bench
