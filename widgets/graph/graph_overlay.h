// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <vector>

class QBrush;

namespace tw::widgets {

struct Theme;

/// What is known of the nodes of a graph beside the graph itself, and which of it is shown over frames and boxes.
struct GraphOverlay {
  enum class Kind {
    none,
    share,       ///< of the time of all kernels
    tuned,       ///< has a time that a session found
    difference,  ///< of two sessions: time of the second ÷ time of the first
    ran,         ///< of the time of all kernels when the built network ran
    change,      ///< what a pass did: every node has its own sign, in frames or not
  };
  enum class Change : uint8_t { same, made, removed, changed };
  /// A node's part of the time of its kernel, which is divided equally among the nodes of the kernel. Seconds; 0: unknown.
  struct Part {
    double seconds = 0;
    bool tuned = false;            ///< `seconds` was found by tuning
    double first = 0, second = 0;  ///< in the sessions that are compared
    bool computed = true;          ///< by a kernel; what only renames bytes is not
    Change change = Change::same;  ///< by a pass
  };
  Kind kind = Kind::none;
  bool isShare() const { return kind == Kind::share || kind == Kind::ran; }
  std::vector<Part> parts;        ///< per node of the graph
  QString firstName, secondName;  ///< of the compared sessions

  /// What is shown of a set of nodes.
  struct Value {
    bool known = false;
    double value = 0;  ///< a share, a ratio, 1 for tuned and 0 for not, or a Change
    QString text;      ///< `12 %`, `1.08×`, a tick
  };
  Value valueOf(const std::vector<int>& nodes) const;
  /// The largest share of any of the sets: the end of the scale.
  double seconds() const;  ///< of all nodes
};

/// The colour of a value of 0 to 1 of a sequence, or of a ratio from ½ (blue, second is faster) to 2 (orange); hatched where nothing is known or nothing was
/// tuned. What a pass did has a colour and a pattern of its own each.
QBrush overlayBrush(GraphOverlay::Kind kind, const GraphOverlay::Value& value, double largest, const Theme& theme);

}  // namespace tw::widgets
