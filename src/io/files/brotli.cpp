#include "io/files/brotli.hpp"

#include <brotli/decode.h>

#include <stdexcept>

#include "base/dynamic_library.hpp"

namespace agw {

namespace {

struct Brotli {
  decltype(&::BrotliDecoderDecompress) decompress = nullptr;
  std::string problem;
};

Brotli load_brotli() {
  Brotli brotli;
  DynamicLibrary library("libbrotlidec.so.1", "libbrotli1");
  library.find("BrotliDecoderDecompress", brotli.decompress);
  brotli.problem = library.problem();
  return brotli;
}

}  // namespace

std::string brotli_decompressed(std::string_view stream, std::size_t size) {
  static const Brotli loaded = load_brotli();
  if (!loaded.problem.empty()) throw std::runtime_error(loaded.problem);
  std::string content(size, '\0');
  auto written = size;
  const auto result = loaded.decompress(stream.size(), reinterpret_cast<const unsigned char*>(stream.data()), &written,
                                        reinterpret_cast<unsigned char*>(content.data()));
  if (result != BROTLI_DECODER_RESULT_SUCCESS || written != size) throw std::runtime_error("damaged brotli stream");
  return content;
}

}  // namespace agw
