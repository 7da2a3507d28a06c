// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "engine/base/stop_token.h"

namespace tw::widgets {

/// Items in layers with links between neighbouring layers: the part of a layered drawing that orders and places.
class Layered {
 public:
  /// Appends an item to the end of its layer and returns its index. `box` is the caller's number, -1 for dummies.
  int addItem(int layer, double width, bool dummy, int box);
  /// `lower` lies one layer below `upper`.
  void link(int upper, int lower);

  /// Barycentre sweeps, down and up in turn; keeps the order with the fewest crossings seen. False when stopped.
  bool reduceCrossings(int sweeps, StopToken stop);
  /// Centre x of every item: the mean of its neighbours as far as the order and `gap` allow. False when stopped.
  bool placeX(double gap, int sweeps, StopToken stop);

  int layerCount() const { return static_cast<int>(m_layers.size()); }
  int layerOf(int item) const { return m_items[static_cast<size_t>(item)].layer; }
  double x(int item) const { return m_items[static_cast<size_t>(item)].x; }
  long crossings() const;

 private:
  struct Item {
    int layer = 0, position = 0;
    double width = 0, x = 0;
    bool dummy = false;
    int box = -1;
    std::vector<int> up, down;
  };
  void sortLayer(int layer, bool byUpper);
  void renumber(int layer);
  void fitLayer(int layer, double gap, bool useUp, bool useDown);

  std::vector<Item> m_items;
  std::vector<std::vector<int>> m_layers;
};

}  // namespace tw::widgets
