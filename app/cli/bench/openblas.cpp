// SPDX-License-Identifier: Apache-2.0
// OpenBLAS's sgemm through the C interface to BLAS. It packs both operands on every call.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "app/cli/bench/affinity.h"
#include "app/cli/bench/peers.h"
#include "engine/base/text.h"
#include "engine/runtime/workspace.h"

namespace tw::cli::bench {
namespace {

constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;
using Sgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb, float beta,
                       float* c, int ldc);

runtime::AlignedBytes copy_of(const HostArray& a, int copies = 1) {
  const size_t bytes = a.data.size();
  runtime::AlignedBytes out = runtime::allocate_aligned(static_cast<int64_t>(bytes) * copies);
  for (int i = 0; out && i < copies; ++i) std::memcpy(out.get() + static_cast<size_t>(i) * bytes, a.data.data(), bytes);
  return out;
}

class Products : public PeerKernel {
 public:
  Products(Sgemm sgemm, const KernelCase& c, const KernelData& d, int copies)
      : sgemm_(sgemm),
        case_(c),
        copies_(copies),
        weight_bytes_(d.weight.data.size()),
        x_(copy_of(d.data)),
        w_(copy_of(d.weight, copies)),
        y_(HostArray::make(kFloat32, c.result)) {}
  bool ready() const { return x_ && w_; }

  void run() override {
    const auto* x = reinterpret_cast<const float*>(x_.get());
    const auto* w = reinterpret_cast<const float*>(w_.get() + weight_bytes_ * static_cast<size_t>(next_));
    auto* y = reinterpret_cast<float*>(y_.data.data());
    next_ = (next_ + 1) % copies_;
    if (case_.kind == Kind::dense) return multiply(kTranspose, case_.data[0], case_.weight[0], case_.data[1], x, w, y);
    const int64_t m = case_.data[1], k = case_.data[2], n = case_.weight[2];
    for (int64_t b = 0; b < case_.data[0]; ++b) multiply(kNoTranspose, m, n, k, x + b * m * k, w + b * k * n, y + b * m * n);
  }
  HostArray result() override { return y_; }

 private:
  void multiply(int trans_b, int64_t m, int64_t n, int64_t k, const float* x, const float* w, float* y) const {
    const auto i = [](int64_t v) { return static_cast<int>(v); };
    sgemm_(kRowMajor, kNoTranspose, trans_b, i(m), i(n), i(k), 1, x, i(k), w, i(trans_b == kTranspose ? k : n), 0, y, i(n));
  }

  Sgemm sgemm_;
  KernelCase case_;
  int copies_, next_ = 0;
  size_t weight_bytes_;
  runtime::AlignedBytes x_, w_;
  HostArray y_;
};

class OpenBlas : public Peer {
 public:
  OpenBlas(Sgemm sgemm, std::string description) : sgemm_(sgemm), description_(std::move(description)) {}
  const std::string& name() const override { return name_; }
  std::string description() const override { return description_; }
  Expected<std::unique_ptr<PeerKernel>> prepare(const KernelCase& c, const KernelData& data, int copies) override {
    if (c.kind == Kind::conv2d) return Error(ErrorCode::not_applicable, "OpenBLAS has no convolutions");
    auto kernel = std::make_unique<Products>(sgemm_, c, data, copies);
    if (!kernel->ready()) return Error(ErrorCode::out_of_memory, "Memory ran out");
    return std::unique_ptr<PeerKernel>(std::move(kernel));
  }

 private:
  Sgemm sgemm_;
  std::string name_ = "OpenBLAS", description_;
};

}  // namespace

Expected<std::unique_ptr<Peer>> openblas_peer(const std::vector<int>& processors) {
  const Affinity others(processors.size() > 1 ? std::vector<int>(processors.begin() + 1, processors.end()) : processors);  // what its threads inherit
  // Versions from before a processor's time take generic kernels for it, and what the environment says may be meant for other programs: those for Skylake are
  // the fastest wherever there is AVX-512.
  const bool told = __builtin_cpu_supports("avx512f") && setenv("OPENBLAS_CORETYPE", "SkylakeX", 1) == 0;
  unsetenv("OPENBLAS_L2_SIZE");
  // Its threads spin for 2^20 clock ticks instead of 2^26 after a call, so that they disturb nobody measured next.
  setenv("OPENBLAS_THREAD_TIMEOUT", "20", 0);
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  const auto symbol = [&](const char* name) { return library != nullptr ? dlsym(library, name) : nullptr; };
  const auto sgemm = reinterpret_cast<Sgemm>(symbol("cblas_sgemm"));
  const auto set_threads = reinterpret_cast<void (*)(int)>(symbol("openblas_set_num_threads"));
  const auto config = reinterpret_cast<const char* (*)()>(symbol("openblas_get_config"));
  if (sgemm == nullptr || set_threads == nullptr || config == nullptr)
    return Error(ErrorCode::not_found, "libopenblas.so.0 was not found; Debian's package is libopenblas0-pthread");
  set_threads(static_cast<int>(processors.size()));
  const std::string chosen = told ? ", chosen by OPENBLAS_CORETYPE=SkylakeX" : "";
  return std::unique_ptr<Peer>(std::make_unique<OpenBlas>(sgemm, fmt::format("{}{}", trim(config()), chosen)));
}

}  // namespace tw::cli::bench
