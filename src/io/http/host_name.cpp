#include <memory>

#include <idn2.h>

#include "base/dynamic_library.hpp"
#include "base/log.hpp"
#include "io/http/web_url.hpp"

namespace agw {

namespace {

struct Idn {
  decltype(&::idn2_to_ascii_8z) to_ascii = nullptr;
  decltype(&::idn2_free) free = nullptr;
  bool is_there = false;

  static const Idn& get() {
    static const Idn idn = load();
    return idn;
  }

private:
  static Idn load() {
    DynamicLibrary library("libidn2.so.0", "libidn2-0");
    Idn idn;
    library.find("idn2_to_ascii_8z", idn.to_ascii);
    library.find("idn2_free", idn.free);
    idn.is_there = library.problem().empty();
    if (!idn.is_there) log::warn("hosts whose names have letters beyond ASCII cannot be asked: {}", library.problem());
    return idn;
  }
};

}  // namespace

std::optional<std::string> to_ascii_host(const std::string& name) {
  const auto& idn = Idn::get();
  if (!idn.is_there || name.find('\0') != name.npos) return std::nullopt;
  char* found = nullptr;
  if (idn.to_ascii(name.c_str(), &found, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) != IDN2_OK) return std::nullopt;
  const std::unique_ptr<char, decltype(idn.free)> owner(found, idn.free);
  return found;
}

}  // namespace agw
