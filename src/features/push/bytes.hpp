#pragma once

#include <string>
#include <string_view>

namespace agw {

// Bytes as OpenSSL takes and fills them.

inline const unsigned char* data_of(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
inline unsigned char* data_of(std::string& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

}  // namespace agw
