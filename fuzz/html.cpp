// Web pages in any charset: they become UTF-8, and events in which every element is closed.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/charset.hpp"
#include "tools/web/html.hpp"

namespace {

class Depth : public agw::HtmlEvents {
public:
  void open(std::string_view, const Attributes&) override { ++depth_; }
  void close(std::string_view) override {
    if (--depth_ < 0) std::abort();
  }
  void text(std::string_view) override {}
  int depth() const { return depth_; }

private:
  int depth_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  agw::text_to_utf8(bytes, "text/plain; charset=shift_jis");
  Depth depth;
  agw::read_html(agw::html_to_utf8(bytes, "text/html"), depth);
  if (depth.depth() != 0) std::abort();
  return 0;
}
