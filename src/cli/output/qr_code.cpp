#include "cli/output/qr_code.hpp"

#include <qrencode.h>

#include <array>
#include <cstddef>

#include "base/dynamic_library.hpp"

namespace agw::cli {

namespace {

constexpr int border = 4;

/// Indexed by whether the upper and the lower module are light.
constexpr std::array<std::array<const char*, 2>, 2> half_blocks{{{" ", "▄"}, {"▀", "█"}}};

/// Loaded on demand: Debian has only a shared library, and the gateway itself never needs it.
struct QrEncode {
  decltype(&QRcode_encodeString8bit) encode = nullptr;
  decltype(&QRcode_free) free = nullptr;

  QrEncode() {
    DynamicLibrary library("libqrencode.so.4", "libqrencode4");
    library.find("QRcode_encodeString8bit", encode);
    library.find("QRcode_free", free);
  }
};

bool is_light(const QrModules& modules, int row, int column) {
  const int size = static_cast<int>(modules.size());
  const bool inside = row >= 0 && row < size && column >= 0 && column < size;
  return !inside || !modules[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
}

}  // namespace

std::optional<QrModules> qr_modules(const std::string& text) {
  const QrEncode library;
  if (!library.encode || !library.free) return std::nullopt;
  auto* code = library.encode(text.c_str(), 0, QR_ECLEVEL_L);
  if (!code) return std::nullopt;
  const auto width = static_cast<std::size_t>(code->width);
  QrModules modules(width, std::vector<bool>(width));
  for (std::size_t i = 0; i < width * width; ++i) modules[i / width][i % width] = (code->data[i] & 1) != 0;
  library.free(code);
  return modules;
}

int columns_of(const QrModules& modules) { return static_cast<int>(modules.size()) + 2 * border; }

std::string draw(const QrModules& modules, const Terminal& terminal) {
  const int size = static_cast<int>(modules.size());
  std::string drawn;
  for (int row = -border; row < size + border; row += 2) {
    if (terminal.colours) drawn += "\x1b[97;40m";
    for (int column = -border; column < size + border; ++column) {
      drawn += half_blocks[is_light(modules, row, column)][is_light(modules, row + 1, column)];
    }
    drawn += terminal.colours ? "\x1b[0m\n" : "\n";
  }
  return drawn;
}

}  // namespace agw::cli
