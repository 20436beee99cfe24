#include "io/files/gzip.hpp"

#include <cstdint>

#include <boost/beast/zlib/deflate_stream.hpp>
#include <boost/crc.hpp>
#include <boost/endian/conversion.hpp>

#include "base/async/assert.hpp"

namespace agw {

namespace {

/// DEFLATE, without time, name and system.
constexpr std::string_view gzip_head("\037\213\010\0\0\0\0\0\0\377", 10);

std::string number_of_gzip(std::uint32_t number) {
  std::string bytes(sizeof number, '\0');
  boost::endian::store_little_u32(reinterpret_cast<unsigned char*>(bytes.data()), number);
  return bytes;
}

}  // namespace

std::string gzip_compressed(std::string_view content) {
  namespace zlib = boost::beast::zlib;
  constexpr int level = 6;
  constexpr int window_bits = 15;
  constexpr int memory_level = 8;
  zlib::deflate_stream stream;
  stream.reset(level, window_bits, memory_level, zlib::Strategy::normal);
  std::string packed(gzip_head);
  packed.resize(gzip_head.size() + stream.upper_bound(content.size()));
  zlib::z_params step;
  step.next_in = content.data();
  step.avail_in = content.size();
  step.next_out = packed.data() + gzip_head.size();
  step.avail_out = packed.size() - gzip_head.size();
  boost::beast::error_code error;
  stream.write(step, zlib::Flush::finish, error);
  AGW_CHECK(error == zlib::error::end_of_stream, "cannot compress: " + error.message());
  packed.resize(packed.size() - step.avail_out);
  boost::crc_32_type check;
  check.process_bytes(content.data(), content.size());
  return packed + number_of_gzip(check.checksum()) + number_of_gzip(static_cast<std::uint32_t>(content.size()));
}

}  // namespace agw
