// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ir/line_diff.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace tw::widgets {
namespace {

constexpr int kLeastLimit = 256;

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Marks the lines that are not common to both.
class Comparison {
 public:
  Comparison(std::vector<int> a, std::vector<int> b) : m_a(std::move(a)), m_b(std::move(b)), removed(m_a.size(), 0), added(m_b.size(), 0) {
    const auto lines = static_cast<int>(m_a.size() + m_b.size());
    m_limit = std::max(kLeastLimit, static_cast<int>(std::sqrt(lines)));
    m_origin = static_cast<int>(m_b.size()) + 1;
    m_down.resize(static_cast<size_t>(lines) + 3);
    m_up.resize(static_cast<size_t>(lines) + 3);
    std::vector<Box> open{{0, static_cast<int>(m_a.size()), 0, static_cast<int>(m_b.size())}};
    while (!open.empty()) {
      Box box = open.back();
      open.pop_back();
      trim(box);
      if (box.a0 == box.a1 || box.b0 == box.b1) {
        std::fill(removed.begin() + box.a0, removed.begin() + box.a1, 1);
        std::fill(added.begin() + box.b0, added.begin() + box.b1, 1);
        continue;
      }
      const auto [x, y] = middle(box);
      open.push_back({box.a0, x, box.b0, y});
      open.push_back({x, box.a1, y, box.b1});
    }
  }

 private:
  struct Box {
    int a0, a1, b0, b1;
  };
  bool equal(int x, int y) const { return m_a[static_cast<size_t>(x)] == m_b[static_cast<size_t>(y)]; }
  int& down(int k) { return m_down[static_cast<size_t>(k + m_origin)]; }
  int& up(int k) { return m_up[static_cast<size_t>(k + m_origin)]; }

  void trim(Box& box) const {
    while (box.a0 < box.a1 && box.b0 < box.b1 && equal(box.a0, box.b0)) ++box.a0, ++box.b0;
    while (box.a0 < box.a1 && box.b0 < box.b1 && equal(box.a1 - 1, box.b1 - 1)) --box.a1, --box.b1;
  }

  /// A point of a shortest path from the one corner to the other: where searches from both meet. After too many steps, the furthest that the first one came.
  /// Diagonals are numbered by x - y of the whole texts.
  std::pair<int, int> middle(const Box& box) {
    const int first = box.a0 - box.b0, last = box.a1 - box.b1, low = box.a0 - box.b1, high = box.a1 - box.b0;
    const bool odd = (last - first) % 2 != 0;
    down(first) = box.a0;
    up(last) = box.a1;
    int downLow = first, downHigh = first, upLow = last, upHigh = last;
    for (int step = 1;; ++step) {
      // Beyond the border of the box there is nothing to come from.
      downLow > low ? down(--downLow - 1) = -1 : ++downLow;
      downHigh < high ? down(++downHigh + 1) = -1 : --downHigh;
      for (int k = downHigh; k >= downLow; k -= 2) {
        int x = std::max(down(k - 1) + 1, down(k + 1));
        while (x < box.a1 && x - k < box.b1 && equal(x, x - k)) ++x;
        down(k) = x;
        if (odd && upLow <= k && k <= upHigh && up(k) <= x) return {x, x - k};
      }
      constexpr int kFar = std::numeric_limits<int>::max();
      upLow > low ? up(--upLow - 1) = kFar : ++upLow;
      upHigh < high ? up(++upHigh + 1) = kFar : --upHigh;
      for (int k = upHigh; k >= upLow; k -= 2) {
        int x = std::min(up(k - 1), up(k + 1) == kFar ? kFar : up(k + 1) - 1);
        while (x > box.a0 && x - k > box.b0 && equal(x - 1, x - k - 1)) --x;
        up(k) = x;
        if (!odd && downLow <= k && k <= downHigh && x <= down(k)) return {x, x - k};
      }
      if (step < m_limit) continue;
      std::pair<int, int> best{box.a0, box.b0};
      for (int k = downHigh; k >= downLow; k -= 2) {
        const int x = std::min(down(k), box.a1), y = x - k;
        if (y <= box.b1 && x + y > best.first + best.second) best = {x, y};
      }
      return best;
    }
  }

  std::vector<int> m_a, m_b, m_down, m_up;
  int m_limit = 0, m_origin = 0;

 public:
  std::vector<char> removed, added;
};

}  // namespace

LineDiff diffLines(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> a = linesOf(before), b = linesOf(after);
  std::unordered_map<std::string_view, int> ids;
  const auto numbered = [&](const std::vector<std::string_view>& lines) {
    std::vector<int> numbers;
    numbers.reserve(lines.size());
    for (const std::string_view line : lines) numbers.push_back(ids.emplace(line, static_cast<int>(ids.size())).first->second);
    return numbers;
  };
  std::vector<int> x = numbered(a), y = numbered(b);
  const Comparison comparison(std::move(x), std::move(y));
  LineDiff diff;
  std::string text;
  size_t i = 0, j = 0;
  const auto take = [&](LineDiff::Kind kind, std::string_view line) {
    if (kind != LineDiff::Kind::same && (diff.lines.empty() || diff.lines.back().kind == LineDiff::Kind::same))
      diff.changes.push_back(static_cast<int>(diff.lines.size()));
    const bool isBefore = kind != LineDiff::Kind::added, isAfter = kind != LineDiff::Kind::removed;
    diff.lines.push_back({kind, isBefore ? static_cast<int>(i++) : -1, isAfter ? static_cast<int>(j++) : -1});
    text.append(line).push_back('\n');
  };
  while (i < a.size() || j < b.size()) {
    while (i < a.size() && comparison.removed[i]) take(LineDiff::Kind::removed, a[i]), ++diff.removed;
    while (j < b.size() && comparison.added[j]) take(LineDiff::Kind::added, b[j]), ++diff.added;
    if (i < a.size() && !comparison.removed[i]) take(LineDiff::Kind::same, a[i]);
  }
  diff.text = QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
  return diff;
}

}  // namespace tw::widgets
