// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QFont>
#include <QPalette>
#include <array>
#include <vector>

class QWidget;

/// Colours of the workbench: one light and one dark set, chosen so that text reaches 4.5:1 and graphics 3:1 against their background.
namespace tw::widgets {

/// One set of colours by role.
struct Theme {
  bool dark = false;
  QColor window, base, alternateBase, raised, border;
  QColor text, mutedText, accent, accentText, selection, selectionText;
  QColor error, warning, success;                 ///< text and graphics
  QColor errorBanner, warningBanner, infoBanner;  ///< backgrounds under `text`
  QColor grid, edge, linkBand, currentBand;
  QColor addedBand, removedBand;  ///< behind lines of a difference
  QColor codeKeyword, codeType, codeNumber, codeString, codeComment, codeName, codeLabel;
  QColor node, nodeHeavy, nodeLight, nodeData;  ///< fills of graph nodes under `text`
  std::array<QColor, 8> series;                 ///< Okabe and Ito's colours, shifted in lightness until they reach 3:1 on `base`

  /// Colour of the i-th task, tuner or curve; repeats after eight.
  QColor categorical(int i) const { return series[static_cast<size_t>(i) % series.size()]; }
};

const Theme& lightTheme();
const Theme& darkTheme();
/// The theme a widget is drawn in, told from its palette.
const Theme& themeOf(const QWidget* widget);
const Theme& themeOf(const QPalette& palette);

/// Contrast ratio of two opaque colours, 1 to 21. Source: WCAG 2.1, "contrast ratio".
double contrastRatio(const QColor& a, const QColor& b);
/// `color` with its lightness moved away from `background` until the contrast is at least `ratio`.
QColor withContrast(QColor color, const QColor& background, double ratio);

/// Every pair of roles that meets on screen, with the contrast it must have; the theme test walks this list.
struct ContrastRule {
  const char* name;
  QColor foreground, background;
  double minimum;
};
std::vector<ContrastRule> contrastRules(const Theme& theme);

/// Qt's palette for a theme.
QPalette paletteFor(const Theme& theme);
/// The font of code views: the system's fixed font without ligatures.
QFont codeFont();

enum class ThemeChoice { system, light, dark };
const char* themeChoiceName(ThemeChoice choice);
ThemeChoice themeChoiceFromName(const QString& name);
/// Sets Fusion and the palette of the application.
void applyTheme(ThemeChoice choice);
/// Letters of the whole application at kBigType times the system's size, for a projector, or at that size again.
inline constexpr double kBigType = 1.4;
void setBigType(bool big);
/// How much larger letters are than the system's.
double typeScale();

}  // namespace tw::widgets
