// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/shared/sampling.h"

#include <cmath>

namespace tw::frontends {

int channels_last(Emitter& n, int x) {
  Dims perm{0};
  for (int64_t d = 2; d < n.rank(x); ++d) perm.push_back(d);
  perm.push_back(1);
  return n.transpose(x, perm);
}

std::vector<std::vector<Tap>> combinations(const std::vector<std::vector<Tap>>& taps) {
  std::vector<std::vector<Tap>> all{{}};
  for (const std::vector<Tap>& dimension : taps) {
    std::vector<std::vector<Tap>> longer;
    for (const std::vector<Tap>& c : all)
      for (const Tap& t : dimension) {
        longer.push_back(c);
        longer.back().push_back(t);
      }
    all = std::move(longer);
  }
  return all;
}

namespace {

/// Folds positions outside of [low, high] back at its ends, as often as it takes.
Term reflected(const Term& x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return x.clipped(low, low);
  const Term t = (x - low).apply("abs");
  const Term phase = t - (t * (1 / (2 * range))).apply("floor") * (2 * range);
  const Term mirrored = (phase * -1) + 2 * range;
  return Term{x.n, x.n->binary("min", phase.v, mirrored.v)} + low;
}

/// Where a whole-numbered position reads, and whether it counts.
Tap tap_at(const Term& position, const Term& weight, int64_t extent, const Sampling& s) {
  const auto last = static_cast<double>(extent - 1);
  if (s.padding == "reflection") return {reflected(position, s.align ? 0 : -0.5, s.align ? last : last + 0.5).clipped(0, last).integer(), weight};
  const Term inside = position.clipped(0, last);
  if (s.padding == "border") return {inside.integer(), weight};
  const Term counts{weight.n, weight.n->cast(inside.with("equal", position).v, weight.n->dtype(weight.v))};
  return {inside.integer(), weight * counts};
}

/// Shares of four neighbours by the distance r from the second. Source: Keys, "Cubic convolution interpolation for digital image processing", 1981.
std::vector<Term> cubic_weights(const Term& r) {
  constexpr double kA = -0.75;
  const auto near = [](const Term& d) { return (d * (kA + 2) - (kA + 3)) * d * d + 1; };
  const auto far = [](const Term& d) { return ((d * kA - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
  const Term back = (r * -1) + 1;
  return {far(r + 1), near(r), near(back), far(back + 1)};
}

std::vector<Tap> taps_along(const Term& grid, int64_t extent, const Sampling& s) {
  const auto size = static_cast<double>(extent);
  Term x = s.align ? (grid + 1) * ((size - 1) / 2) : ((grid + 1) * size - 1) * 0.5;
  if (s.mode == "nearest") x = x.apply("round");
  const double low = s.align ? 0 : -0.5, high = s.align ? size - 1 : size - 0.5;
  if (s.padding == "border" && s.mode != "cubic") {  // of a cubic's neighbours each is moved inside, as PyTorch and ONNX Runtime have it
    const Term outside{x.n, x.n->binary("or", x.with("less", low).v, x.with("greater", high).v)};
    x = choose(outside, x.clipped(0, size - 1), x);
  }
  if (s.padding == "reflection") x = reflected(x, low, high);
  x = x.clipped(-4, size + 3);  // beyond, nothing changes any more
  const Term one = (x * 0) + 1;
  if (s.mode == "nearest") return {tap_at(x, one, extent, s)};
  const Term base = x.apply("floor"), r = x - base;
  if (s.mode == "linear") return {tap_at(base, one - r, extent, s), tap_at(base + 1, r, extent, s)};
  std::vector<Tap> taps;
  double offset = -1;
  for (const Term& w : cubic_weights(r)) taps.push_back(tap_at(base + offset++, w, extent, s));
  return taps;
}

}  // namespace

int grid_sampled(Emitter& n, int x, int grid, const Sampling& s) {
  const int64_t spatial = n.rank(x) - 2;
  if (spatial < 1 || n.rank(grid) != spatial + 2 || n.shape(grid).back() != spatial || n.shape(grid)[0] != n.shape(x)[0])
    n.invalid(fmt::format("a grid {} does not fit data {}", shape_text(n.shape(grid)), shape_text(n.shape(x))));
  if (s.mode != "linear" && s.mode != "nearest" && s.mode != "cubic") n.unsupported(fmt::format("mode '{}'", printable(s.mode.substr(0, 64))));
  if (s.padding != "zeros" && s.padding != "border" && s.padding != "reflection")
    n.unsupported(fmt::format("padding mode '{}'", printable(s.padding.substr(0, 64))));
  if (spatial > (s.mode == "cubic" ? 2 : 3)) n.unsupported(fmt::format("{} spatial dimensions with mode '{}'", spatial, s.mode));
  std::vector<std::vector<Tap>> taps;
  for (int64_t d = 0; d < spatial; ++d)  // the grid names the last dimension first
    taps.push_back(taps_along({&n, n.cast(n.slice(grid, spatial + 1, spatial - 1 - d, 1), n.dtype(x))}, n.shape(x)[static_cast<size_t>(d + 2)], s));
  const int data = channels_last(n, x);
  std::optional<Term> sum;
  for (const std::vector<Tap>& c : combinations(taps)) {
    std::vector<int> indices;
    Term weight = c[0].weight;
    for (const Tap& t : c) indices.push_back(t.index.v);
    for (size_t d = 1; d < c.size(); ++d) weight = weight * c[d].weight;
    const int rows = n.emit("concat", indices, attrs({{"axis", spatial + 1}}));
    const Term term = Term{&n, n.emit("gather_nd", {data, rows}, attrs({{"batch_dims", int64_t{1}}}))} * weight;
    sum = sum ? *sum + term : term;
  }
  Dims perm{0, spatial + 1};
  for (int64_t d = 1; d <= spatial; ++d) perm.push_back(d);
  return n.transpose(sum->v, perm);
}

}  // namespace tw::frontends
