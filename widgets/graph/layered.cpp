// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/graph/layered.h"

#include <algorithm>

namespace tw::widgets {

int Layered::addItem(int layer, double width, bool dummy, int box) {
  if (static_cast<size_t>(layer) >= m_layers.size()) m_layers.resize(static_cast<size_t>(layer) + 1);
  const int index = static_cast<int>(m_items.size());
  auto& row = m_layers[static_cast<size_t>(layer)];
  Item item;
  item.layer = layer, item.position = static_cast<int>(row.size()), item.width = width, item.dummy = dummy, item.box = box;
  m_items.push_back(std::move(item));
  row.push_back(index);
  return index;
}

void Layered::link(int upper, int lower) {
  m_items[static_cast<size_t>(upper)].down.push_back(lower);
  m_items[static_cast<size_t>(lower)].up.push_back(upper);
}

void Layered::renumber(int layer) {
  const auto& row = m_layers[static_cast<size_t>(layer)];
  for (size_t i = 0; i < row.size(); ++i) m_items[static_cast<size_t>(row[i])].position = static_cast<int>(i);
}

void Layered::sortLayer(int layer, bool byUpper) {
  auto& row = m_layers[static_cast<size_t>(layer)];
  std::vector<std::pair<double, int>> keyed;
  keyed.reserve(row.size());
  for (const int i : row) {
    const Item& item = m_items[static_cast<size_t>(i)];
    const auto& neighbours = byUpper ? item.up : item.down;
    double sum = 0;
    for (const int j : neighbours) sum += m_items[static_cast<size_t>(j)].position;
    // An item without neighbours on that side keeps its place.
    keyed.emplace_back(neighbours.empty() ? item.position : sum / static_cast<double>(neighbours.size()), i);
  }
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < row.size(); ++i) row[i] = keyed[i].second;
  renumber(layer);
}

long Layered::crossings() const {
  // Inversions of the lower ends, links taken in the order of their upper ends; counted with a Fenwick tree.
  long total = 0;
  for (size_t l = 0; l + 1 < m_layers.size(); ++l) {
    std::vector<int> tree(m_layers[l + 1].size() + 1, 0);
    long seen = 0;
    for (const int i : m_layers[l]) {
      std::vector<int> ends;
      for (const int j : m_items[static_cast<size_t>(i)].down) ends.push_back(m_items[static_cast<size_t>(j)].position);
      std::sort(ends.begin(), ends.end());
      for (const int end : ends) {
        long notAfter = 0;
        for (int k = end + 1; k > 0; k -= k & -k) notAfter += tree[static_cast<size_t>(k)];
        total += seen - notAfter;
      }
      for (const int end : ends) {
        for (size_t k = static_cast<size_t>(end) + 1; k < tree.size(); k += k & (~k + 1)) ++tree[k];
        ++seen;
      }
    }
  }
  return total;
}

bool Layered::reduceCrossings(int sweeps, StopToken stop) {
  auto best = m_layers;
  long fewest = crossings();
  for (int sweep = 0; sweep < sweeps && fewest > 0; ++sweep) {
    const bool down = sweep % 2 == 0;
    for (int k = 1; k < layerCount(); ++k) {
      if (stop.stop_requested()) return false;
      sortLayer(down ? k : layerCount() - 1 - k, down);
    }
    const long now = crossings();
    if (now < fewest) fewest = now, best = m_layers;
  }
  m_layers = std::move(best);
  for (int l = 0; l < layerCount(); ++l) renumber(l);
  return !stop.stop_requested();
}

void Layered::fitLayer(int layer, double gap, bool useUp, bool useDown) {
  // Minimises the weighted squares of (x - wish) with x[i+1] - x[i] >= half widths + gap: subtracting the running offset leaves an isotonic regression.
  struct Block {
    double sum = 0, weight = 0;
    size_t count = 0;
    double mean() const { return sum / weight; }
  };
  const auto& row = m_layers[static_cast<size_t>(layer)];
  std::vector<Block> blocks;
  std::vector<double> offset(row.size(), 0);
  for (size_t i = 0; i < row.size(); ++i) {
    const Item& item = m_items[static_cast<size_t>(row[i])];
    if (i > 0) {
      const Item& left = m_items[static_cast<size_t>(row[i - 1])];
      offset[i] = offset[i - 1] + (left.width + item.width) / 2 + (left.dummy || item.dummy ? gap / 2 : gap);
    }
    double sum = 0, weight = 0;
    const auto pull = [&](const std::vector<int>& neighbours) {
      for (const int j : neighbours) {
        const double w = item.dummy && m_items[static_cast<size_t>(j)].dummy ? 8 : item.dummy || m_items[static_cast<size_t>(j)].dummy ? 2 : 1;
        sum += w * m_items[static_cast<size_t>(j)].x, weight += w;
      }
    };
    if (useUp) pull(item.up);
    if (useDown) pull(item.down);
    if (weight == 0) sum = item.x * 0.1, weight = 0.1;
    blocks.push_back({sum - weight * offset[i], weight, 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
      const Block last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum, blocks.back().weight += last.weight, blocks.back().count += last.count;
    }
  }
  size_t i = 0;
  for (const Block& block : blocks) {
    for (size_t k = 0; k < block.count; ++k, ++i) m_items[static_cast<size_t>(row[i])].x = block.mean() + offset[i];
  }
}

bool Layered::placeX(double gap, int sweeps, StopToken stop) {
  for (int l = 0; l < layerCount(); ++l) fitLayer(l, gap, true, false);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const bool down = sweep % 2 == 1;
    for (int k = 0; k < layerCount(); ++k) {
      if (stop.stop_requested()) return false;
      fitLayer(down ? k : layerCount() - 1 - k, gap, true, true);
    }
  }
  return true;
}

}  // namespace tw::widgets
