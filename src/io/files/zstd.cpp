#include "io/files/zstd.hpp"

#include <zstd.h>

#include <stdexcept>

#include "base/dynamic_library.hpp"

namespace agw {

namespace {

struct Zstd {
  decltype(&::ZSTD_compressBound) compress_bound = nullptr;
  decltype(&::ZSTD_compress) compress = nullptr;
  decltype(&::ZSTD_getFrameContentSize) content_size = nullptr;
  decltype(&::ZSTD_decompress) decompress = nullptr;
  decltype(&::ZSTD_isError) is_error = nullptr;
  std::string problem;
};

Zstd load_zstd() {
  Zstd zstd;
  DynamicLibrary library("libzstd.so.1", "libzstd1");
  library.find("ZSTD_compressBound", zstd.compress_bound);
  library.find("ZSTD_compress", zstd.compress);
  library.find("ZSTD_getFrameContentSize", zstd.content_size);
  library.find("ZSTD_decompress", zstd.decompress);
  library.find("ZSTD_isError", zstd.is_error);
  zstd.problem = library.problem();
  return zstd;
}

const Zstd& zstd() {
  static const Zstd loaded = load_zstd();
  if (!loaded.problem.empty()) throw std::runtime_error(loaded.problem);
  return loaded;
}

}  // namespace

std::string zstd_compressed(std::string_view content, int level) {
  std::string frame(zstd().compress_bound(content.size()), '\0');
  const auto size = zstd().compress(frame.data(), frame.size(), content.data(), content.size(), level);
  if (zstd().is_error(size)) throw std::runtime_error("out of memory: cannot compress");
  frame.resize(size);
  return frame;
}

std::optional<std::string> zstd_decompressed(std::string_view frame, std::size_t limit) {
  const auto size = zstd().content_size(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > limit) return std::nullopt;
  std::string content(size, '\0');
  const auto written = zstd().decompress(content.data(), content.size(), frame.data(), frame.size());
  if (zstd().is_error(written) || written != size) return std::nullopt;
  return content;
}

}  // namespace agw
