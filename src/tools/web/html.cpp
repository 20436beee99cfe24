#include "tools/web/html.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "tools/web/libxml.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;

// libxml2 scans all open elements at each tag, and all attributes of a tag at each attribute. These limits prevent
// quadratic time.
constexpr std::size_t max_depth = 400;
constexpr std::ptrdiff_t max_tag_length = 64 * 1024;
constexpr std::size_t chunk_size = 16 * 1024;
constexpr auto max_time = 1s;

/// The processor time of this thread, which does not depend on the machine's load.
std::chrono::nanoseconds time_of_this_thread() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

std::string_view view(const xmlChar* text) { return text ? reinterpret_cast<const char*>(text) : std::string_view(); }

/// Parses one page.
class HtmlParser {
public:
  HtmlParser(const LibXml& xml, HtmlEvents& events) : xml_(xml), events_(events) {
    handler_.startElement = &HtmlParser::on_open;
    handler_.endElement = &HtmlParser::on_close;
    handler_.characters = &HtmlParser::on_text;
    handler_.ignorableWhitespace = &HtmlParser::on_text;
    handler_.cdataBlock = &HtmlParser::on_text;
    parser_.reset(xml.create_parser(&handler_, this, nullptr, 0, nullptr, XML_CHAR_ENCODING_UTF8));
    if (!parser_) throw std::bad_alloc();
    xml.use_options(parser_.get(), HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
                                       HTML_PARSE_IGNORE_ENC);
  }

  std::string read(std::string_view page) {
    const auto deadline = time_of_this_thread() + max_time;
    for (; !page.empty() && problem_.empty(); page.remove_prefix(std::min(chunk_size, page.size()))) {
      feed(page.substr(0, chunk_size), false);
      if (waits_in_a_long_tag()) problem_ = "a tag of the page is longer than 64 KiB";
      if (time_of_this_thread() > deadline) problem_ = "the page takes too long to read";
    }
    if (problem_.empty()) feed({}, true);
    while (!open_.empty()) close_last();
    return problem_;
  }

private:
  void feed(std::string_view chunk, bool last) {
    xml_.parse_chunk(parser_.get(), chunk.data(), static_cast<int>(chunk.size()), last ? 1 : 0);
  }

  bool waits_in_a_long_tag() const {
    const auto* input = parser_->input;
    return input && input->end - input->cur > max_tag_length && input->cur[0] == '<' && input->cur[1] != '!';
  }

  void close_last() {
    events_.close(open_.back());
    open_.pop_back();
  }

  static void on_open(void* self, const xmlChar* name, const xmlChar** attributes) {
    auto& reading = *static_cast<HtmlParser*>(self);
    if (!reading.problem_.empty()) return;
    if (reading.open_.size() == max_depth) {
      reading.problem_ = "the page is nested too deep";
      reading.xml_.stop_parser(reading.parser_.get());
      return;
    }
    HtmlEvents::Attributes given;
    for (; attributes && attributes[0]; attributes += 2) given.emplace_back(view(attributes[0]), view(attributes[1]));
    reading.events_.open(view(name), given);
    reading.open_.emplace_back(view(name));
  }

  static void on_close(void* self, const xmlChar* name) {
    auto& reading = *static_cast<HtmlParser*>(self);
    if (!contains(reading.open_, view(name))) return;
    while (reading.open_.back() != view(name)) reading.close_last();
    reading.close_last();
  }

  static void on_text(void* self, const xmlChar* text, int length) {
    auto& reading = *static_cast<HtmlParser*>(self);
    if (reading.problem_.empty()) {
      reading.events_.text({reinterpret_cast<const char*>(text), static_cast<std::size_t>(length)});
    }
  }

  struct XmlDeleter {
    void operator()(htmlParserCtxtPtr parser) const { LibXml::get().free_parser(parser); }
  };

  const LibXml& xml_;
  HtmlEvents& events_;
  htmlSAXHandler handler_{};
  std::unique_ptr<htmlParserCtxt, XmlDeleter> parser_;
  std::vector<std::string> open_;
  std::string problem_;
};

/// Embedded images are useless for a reader, and make tags exceed the limit.
std::string without_embedded_data(std::string_view page) {
  std::string kept;
  for (;;) {
    const auto begin = page.find("data:");
    kept += page.substr(0, begin);
    if (begin == page.npos) return kept;
    page.remove_prefix(begin);
    const auto length = std::min(page.find_first_of("\"'<> \t\r\n)"), page.size());
    if (length < 256) kept += page.substr(0, length);
    page.remove_prefix(length);
  }
}

}  // namespace

std::string read_html(std::string_view utf8, HtmlEvents& events) {
  AGW_DEBUG_ASSERT(may_block());

  const auto& xml = LibXml::get();
  if (!xml.error.empty()) return xml.error;
  // libxml2 ends the page at a NUL; browsers do not.
  auto page = without_embedded_data(utf8);
  std::ranges::replace(page, '\0', ' ');
  return HtmlParser(xml, events).read(page);
}

}  // namespace agw
