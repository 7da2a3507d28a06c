// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "engine/frontends/onnx/onnx_ops.h"
#include "engine/frontends/onnx/tensor_reader.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

constexpr int64_t kMostPoints = 4096;  ///< of a transform: it is a product with a constant matrix

/// A discrete Fourier transform as two matrices [points used, frequencies].
struct Transform {
  int64_t points;  ///< length of the transform; data are cut or continued with zeros
  bool inverse = false, one_sided = false;
  int64_t frequencies() const { return one_sided ? points / 2 + 1 : points; }
};

int matrix(OnnxNode& n, DType t, const Transform& f, int64_t used, double (*function)(double), double sign) {
  HostArray m = HostArray::make(t, {used, f.frequencies()});
  for (int64_t i = 0; i < used; ++i)
    for (int64_t k = 0; k < f.frequencies(); ++k) {
      // The angle within one turn: the product of the numbers would lose digits.
      const double angle = 2 * std::numbers::pi * static_cast<double>(i * k % f.points) / static_cast<double>(f.points);
      m.set(i * f.frequencies() + k, sign * function(angle) / (f.inverse ? static_cast<double>(f.points) : 1));
    }
  return n.constant(std::move(m));
}

/// x[..., axis, ..., 1 or 2] with real and imaginary parts last.
int transform(OnnxNode& n, int x, int64_t axis, const Transform& f) {
  const int64_t rank = n.rank(x), parts = n.shape(x).back();
  if (f.points < 1 || f.points > kMostPoints) n.unsupported(fmt::format("transforms of {} points (1 to {} are supported)", f.points, kMostPoints));
  if (f.one_sided && parts == 2) n.invalid("half a spectrum of complex data");
  const int64_t used = std::min(f.points, n.shape(x)[static_cast<size_t>(axis)]);
  x = n.slice(x, axis, 0, used);
  Dims perm;
  for (int64_t d = 0; d + 1 < rank; ++d)
    if (d != axis) perm.push_back(d);
  perm.push_back(rank - 1);
  perm.push_back(axis);
  const int turned = n.transpose(x, perm);  // [..., parts, points]
  const DType t = n.dtype(x);
  const int cosines = matrix(
                n, t, f, used, [](double a) { return std::cos(a); }, 1),
            sines = matrix(
                n, t, f, used, [](double a) { return std::sin(a); }, f.inverse ? 1 : -1);
  const auto part = [&](int64_t p, int m) { return n.binary("matmul", n.slice(turned, rank - 2, p, 1), m); };
  int re = part(0, cosines), im = part(0, sines);
  if (parts == 2) {
    re = n.binary("sub", re, part(1, sines));
    im = n.binary("add", im, part(1, cosines));
  }
  const int both = n.emit("concat", {re, im}, attrs({{"axis", rank - 2}}));
  Dims back(static_cast<size_t>(rank));
  for (int64_t d = 0; d < rank; ++d) back[static_cast<size_t>(perm[static_cast<size_t>(d)])] = d;
  return n.transpose(both, back);
}

/// Real data from the first half of their spectrum; the other half is its mirror image.
int inverse_of_half(OnnxNode& n, int x, int64_t axis, int64_t points) {
  const int64_t rank = n.rank(x);
  if (points < 1 || points > kMostPoints) n.unsupported(fmt::format("transforms of {} points (1 to {} are supported)", points, kMostPoints));
  if (n.shape(x).back() != 2) n.invalid("half a spectrum without imaginary parts");
  const int64_t used = std::min(points / 2 + 1, n.shape(x)[static_cast<size_t>(axis)]);
  x = n.slice(x, axis, 0, used);
  HostArray m = HostArray::make(n.dtype(x), {2 * used, points});
  for (int64_t k = 0; k < used; ++k) {
    const double share = (k == 0 || 2 * k == points ? 1.0 : 2.0) / static_cast<double>(points);
    for (int64_t i = 0; i < points; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i * k % points) / static_cast<double>(points);
      m.set(k * points + i, share * std::cos(angle));
      m.set((used + k) * points + i, -share * std::sin(angle));
    }
  }
  Dims perm, shape;
  for (int64_t d = 0; d + 1 < rank; ++d)
    if (d != axis) perm.push_back(d);
  for (const int64_t d : perm) shape.push_back(n.shape(x)[static_cast<size_t>(d)]);
  perm.push_back(rank - 1);
  perm.push_back(axis);
  shape.push_back(2 * used);
  const int y = n.binary("matmul", n.reshape(n.transpose(x, perm), shape), n.constant(std::move(m)));  // [..., points]
  Dims whole = n.shape(y), back;
  whole.push_back(1);
  for (int64_t d = 0; d + 1 < rank; ++d) back.push_back(d < axis ? d : d == axis ? rank - 2 : d - 1);
  back.push_back(rank - 1);
  return n.transpose(n.reshape(y, whole), back);
}

void check_parts(const OnnxNode& n, int x) {
  if (n.rank(x) < 3 || (n.shape(x).back() != 1 && n.shape(x).back() != 2))
    n.invalid(fmt::format("expected data [batch, ..., 1 or 2], found {}", shape_text(n.shape(x))));
}

Results dft(OnnxNode& n) {
  const int x = n.in(0);
  check_parts(n, x);
  const int64_t rank = n.rank(x);
  int64_t axis = n.integer("axis", 1);
  if (n.opset() >= 20) axis = n.has(2) ? static_cast<int64_t>(n.number_input(2, "the axis")) : -2;
  axis = n.axis(axis, rank);
  if (axis == 0 || axis == rank - 1) n.invalid(fmt::format("expected an axis between the first and the last, found {}", axis));
  const bool inverse = n.integer("inverse", 0) != 0, half = n.integer("onesided", 0) != 0;
  const int64_t extent = n.shape(x)[static_cast<size_t>(axis)], whole = inverse && half ? 2 * (extent - 1) : extent;
  const int64_t points = n.has(1) ? static_cast<int64_t>(n.number_input(1, "the length of the transform")) : whole;
  if (inverse && half) return {inverse_of_half(n, x, axis, points)};
  return {transform(n, x, axis, {points, inverse, half})};
}

/// Windows of the signal, one every `frame_step` elements, each transformed.
Results stft(OnnxNode& n) {
  int x = n.in(0);
  if (n.rank(x) == 2) x = n.reshape(x, {n.shape(x)[0], n.shape(x)[1], 1});
  check_parts(n, x);
  if (n.rank(x) != 3) n.invalid(fmt::format("expected a signal [batch, length, 1 or 2], found {}", shape_text(n.shape(x))));
  const auto step = static_cast<int64_t>(n.number_input(1, "the frame step"));
  const int64_t length = n.shape(x)[1];
  if (!n.has(2) && !n.has(3)) n.invalid("neither a window nor a frame length is given");
  const int64_t frame = n.has(3) ? static_cast<int64_t>(n.number_input(3, "the frame length")) : n.shape(n.in(2)).at(0);
  if (step < 1 || frame < 1 || frame > length) n.invalid(fmt::format("frames of {} every {} elements of {}", frame, step, length));
  if (n.has(2) && n.shape(n.in(2)) != Dims{frame}) n.invalid(fmt::format("expected a window of {} elements, found {}", frame, shape_text(n.shape(n.in(2)))));
  const int64_t frames = (length - frame) / step + 1;
  HostArray table = HostArray::make(kInt64, {frames, frame});
  for (int64_t f = 0; f < frames; ++f)
    for (int64_t i = 0; i < frame; ++i) table.set_int(f * frame + i, f * step + i);
  int windows = n.emit("gather", {x, n.constant(std::move(table))}, attrs({{"axis", int64_t{1}}}));  // [batch, frames, frame, parts]
  if (n.has(2)) windows = n.binary("mul", windows, n.reshape(n.cast(n.in(2), n.dtype(x)), {frame, 1}));
  return {transform(n, windows, 2, {frame, false, n.integer("onesided", 1) != 0})};
}

/// Triangles over the frequencies of a transform, evenly spaced on the mel scale. Source: MelWeightMatrix in the ONNX operator reference.
Results mel_weight_matrix(OnnxNode& n) {
  const double bands = n.number_input(0, "the number of bands"), points = n.number_input(1, "the length of the transform");
  const double rate = n.number_input(2, "the sample rate"), lower = n.number_input(3, "the lower edge"), upper = n.number_input(4, "the upper edge");
  if (!(bands >= 1 && bands <= 1 << 14) || !(points >= 1 && points <= 1 << 20) || !(rate > 0) || !(lower >= 0) || !(upper >= lower) || bands * points > 1 << 26)
    n.invalid(fmt::format("{} bands of a transform of {} points at rate {} from {} to {}", bands, points, rate, lower, upper));
  auto type = dtype_of_onnx(n.integer("output_datatype", onnx::TensorProto::FLOAT));
  if (!type) n.unsupported("element type " + onnx_dtype_name(n.integer("output_datatype", 0)));
  const auto count = static_cast<int64_t>(bands), rows = static_cast<int64_t>(points) / 2 + 1;
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double step = (mel(upper) - mel(lower)) / static_cast<double>(count + 2);
  Dims edges;
  for (int64_t i = 0; i < count + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + mel(lower)) / 2595) - 1);
    edges.push_back(std::clamp<int64_t>(static_cast<int64_t>(std::floor((points + 1) * hertz / rate)), 0, rows - 1));
  }
  HostArray m = HostArray::make(*type, {rows, count});
  const auto set = [&](int64_t row, int64_t band, int64_t part, int64_t whole) {
    m.set(row * count + band, static_cast<double>(part) / static_cast<double>(whole));
  };
  for (int64_t i = 0; i < count; ++i) {
    const int64_t from = edges[static_cast<size_t>(i)], top = edges[static_cast<size_t>(i + 1)], to = edges[static_cast<size_t>(i + 2)];
    if (from == top) set(top, i, 1, 1);
    for (int64_t j = from; j <= top && from < top; ++j) set(j, i, j - from, top - from);
    for (int64_t j = top; j < to; ++j) set(j, i, to - j, to - top);
  }
  return {n.constant(std::move(m))};
}

constexpr OnnxOp kSignalOps[] = {{"DFT", dft}, {"MelWeightMatrix", mel_weight_matrix}, {"STFT", stft}};

}  // namespace

std::span<const OnnxOp> onnx_ops_signal() { return kSignalOps; }

}  // namespace tw::frontends
