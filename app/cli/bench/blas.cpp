// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench/blas.h"

#include <cstring>

#include "engine/runtime/workspace.h"

namespace tw::cli::bench {
namespace {

constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;

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
    sgemm_.wide ? multiply_as<int64_t>(trans_b, m, n, k, x, w, y) : multiply_as<int>(trans_b, m, n, k, x, w, y);
  }
  template <class Int>
  void multiply_as(int trans_b, int64_t m, int64_t n, int64_t k, const float* x, const float* w, float* y) const {
    using Function = void (*)(int order, int trans_a, int trans_b, Int m, Int n, Int k, float alpha, const float* a, Int lda, const float* b, Int ldb,
                              float beta, float* c, Int ldc);
    const auto i = [](int64_t v) { return static_cast<Int>(v); };
    reinterpret_cast<Function>(sgemm_.function)(kRowMajor, kNoTranspose, trans_b, i(m), i(n), i(k), 1, x, i(k), w, i(trans_b == kTranspose ? k : n), 0, y,
                                                i(n));
  }

  Sgemm sgemm_;
  KernelCase case_;
  int copies_, next_ = 0;
  size_t weight_bytes_;
  runtime::AlignedBytes x_, w_;
  HostArray y_;
};

class BlasPeer : public Peer {
 public:
  BlasPeer(std::string name, Sgemm sgemm, std::string description) : sgemm_(sgemm), name_(std::move(name)), description_(std::move(description)) {}
  const std::string& name() const override { return name_; }
  std::string description() const override { return description_; }
  Expected<std::unique_ptr<PeerKernel>> prepare(const KernelCase& c, const KernelData& data, int copies) override {
    if (c.kind != Kind::dense && c.kind != Kind::batch_matmul) return Error(ErrorCode::not_applicable, name_ + " has products alone");
    auto kernel = std::make_unique<Products>(sgemm_, c, data, copies);
    if (!kernel->ready()) return Error(ErrorCode::out_of_memory, "Memory ran out");
    return std::unique_ptr<PeerKernel>(std::move(kernel));
  }

 private:
  Sgemm sgemm_;
  std::string name_, description_;
};

}  // namespace

std::unique_ptr<Peer> blas_peer(std::string name, Sgemm sgemm, std::string description) {
  return std::make_unique<BlasPeer>(std::move(name), sgemm, std::move(description));
}

}  // namespace tw::cli::bench
