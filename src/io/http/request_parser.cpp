#include "io/http/request_parser.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>

#include "base/async/assert.hpp"
#include "base/text/ascii.hpp"
#include "io/http/http_parser.hpp"

namespace agw {

namespace http = boost::beast::http;
using boost::beast::string_view;
using boost::system::error_code;

namespace {

constexpr std::size_t usual_fields = 8;

bool has_bare_line_feed(std::string_view text) {
  for (auto at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) {
    if (at == 0 || text[at - 1] != '\r') return true;
  }
  return false;
}

Refusal bad_chunk() { return {400, "malformed request: bad chunk"}; }

/// Whether the bytes between the data of two chunks, or after the last chunk, exceed the limits.
bool is_overlong(std::string_view framing) {
  if (framing.size() > RequestParser::head_limit) return true;
  if (framing.starts_with("\r\n")) framing.remove_prefix(2);
  return std::min(framing.find("\r\n"), framing.size()) > RequestParser::chunk_line_limit;
}

/// Whether the line with a chunk's size is complete, including the trailer after the last chunk. If the parser still
/// needs more, such as the end of a quoted string, the line is malformed.
bool has_whole_line(std::string_view framing) {
  if (framing.starts_with("\r\n")) framing.remove_prefix(2);
  const auto end = framing.find("\r\n");
  if (end == framing.npos) return false;
  const auto size = framing.substr(0, framing.find_first_not_of("0123456789abcdefABCDEF"));
  const bool is_last = size.find_first_not_of('0') == size.npos;
  return !is_last || framing.find("\r\n\r\n", end) != framing.npos;
}

/// Whether the body seems to be an incomplete last chunk: after its first 3 bytes, Beast asserts that the next call has
/// 5.
bool is_cut_last_chunk(std::string_view framing) { return framing.size() < 5 && framing.starts_with("0\r\n"); }

bool cannot_start_method(std::string_view text) {
  return !text.empty() && text != "\r" && !std::isalpha(static_cast<unsigned char>(text.front()));
}

}  // namespace

/// Receives the results of Beast's parser.
struct RequestParser::Parser : HttpParser<true> {
  explicit Parser(RequestParser& parser) : HttpParser(head_limit + 1024), owner(parser) {}

  void on_request_impl(http::verb, string_view method, string_view target, int version, error_code& error) override {
    owner.head_.method = method;
    owner.head_.target = target;
    owner.head_.version = version;
    error = {};
  }
  void on_field_impl(http::field, string_view name, string_view value, error_code& error) override {
    // Trailer fields are not merged into the head, which was checked without them (RFC 9110, 6.5.1).
    if (!owner.head_done_) owner.head_.add(ascii_lower_case(name), value);
    error = {};
  }
  void take(string_view bytes) override {
    owner.body_received_ += bytes.size();
    AGW_ASSERT(owner.head_done_);
    if (!owner.body_limit_ || owner.body_too_large_) return;
    AGW_ASSERT(owner.body_.size() <= *owner.body_limit_);
    if (bytes.size() > *owner.body_limit_ - owner.body_.size()) {
      owner.body_too_large_ = true;
      owner.body_ = {};
    } else {
      owner.body_.append(bytes.data(), bytes.size());
    }
  }

  RequestParser& owner;
};

RequestParser::RequestParser() { reset(); }
RequestParser::~RequestParser() = default;

void RequestParser::reset() {
  if (parser_) {
    // Reuses the allocation, because each request needs a new parser.
    std::destroy_at(parser_.get());
    std::construct_at(parser_.get(), *this);
  } else {
    parser_ = std::make_unique<Parser>(*this);
  }
  head_.fields.clear();
  head_.content_length.reset();
  head_.chunked = false;
  head_done_ = false;
  refusal_.reset();
  body_.clear();
  body_limit_.reset();
  body_received_ = 0;
  body_too_large_ = false;
  AGW_ASSERT(!parser_->is_done() && body_.empty() && head_.fields.empty());
}

bool RequestParser::done() const { return parser_->is_done(); }

void RequestParser::collect_body(std::size_t limit) {
  body_limit_ = limit;
  if (head_.content_length)
    body_.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(*head_.content_length, limit)));
}

void RequestParser::stream_body() { body_limit_ = std::numeric_limits<std::size_t>::max(); }

std::size_t RequestParser::put(std::string_view in) { return head_done_ ? put_body(in) : put_head(in); }

std::size_t RequestParser::put_head(std::string_view in) {
  AGW_ASSERT(!head_done_ && body_received_ == 0);
  // Ignores empty lines before a request line (RFC 9112, 2.2).
  std::size_t skipped = 0;
  while (in.starts_with("\r\n")) {
    in.remove_prefix(2);
    skipped += 2;
  }
  const auto end = in.find("\r\n\r\n");
  if ((end == in.npos ? in.size() : end + 4) > head_limit) {
    refusal_ = Refusal{431, "request head too large"};
    return skipped;
  }
  if (end == in.npos) {
    // Rejects bytes that cannot become a head now, instead of waiting for the client's timeout.
    if (has_bare_line_feed(in) || cannot_start_method(in)) refusal_ = Refusal{400, "malformed request: no HTTP"};
    return skipped;
  }
  const auto raw = in.substr(0, end + 4);
  AGW_ASSERT(raw.size() <= head_limit);
  head_.fields.reserve(usual_fields);
  error_code error;
  parser_->put(boost::asio::const_buffer(raw.data(), raw.size()), error);
  if (error == http::error::header_limit) {
    refusal_ = Refusal{431, "request head too large"};
  } else if (error == http::error::bad_version) {
    refusal_ = refuse_version(raw);
  } else if (error) {
    // Beast checks the length of a body before the fields are available here, with the same errors.
    refusal_ = Refusal{400, "malformed request: " + error.message()};
  } else {
    head_done_ = true;
    refusal_ = check_framing(raw, head_);
  }
  return skipped + raw.size();
}

std::size_t RequestParser::put_body(std::string_view in) {
  AGW_ASSERT(head_done_);
  std::size_t used = 0;
  while (used < in.size() && !parser_->is_done() && !refusal_) {
    error_code error;
    const auto rest = in.substr(used);
    const auto received = body_received_;
    const bool must_wait = head_.chunked && is_cut_last_chunk(rest);
    const auto count = must_wait ? 0 : parser_->put(boost::asio::const_buffer(rest.data(), rest.size()), error);
    used += count;
    AGW_ASSERT(used <= in.size() && body_received_ >= received);
    const auto framing = count == 0 ? rest : rest.substr(0, count);
    const bool overlong = head_.chunked && body_received_ == received && is_overlong(framing);
    if (error == http::error::need_more || (!error && count == 0)) {
      // All data was consumed, so the rest is a line between chunks, which must end with CRLF.
      const auto line = in.substr(used);
      const bool is_stuck = error && has_whole_line(line);
      if (overlong || (head_.chunked && (is_stuck || has_bare_line_feed(line)))) refusal_ = bad_chunk();
      break;
    }
    if (error)
      refusal_ = Refusal{400, "malformed request: " + error.message()};
    else if (overlong)
      refusal_ = bad_chunk();
  }
  AGW_ASSERT(used <= in.size());
  return used;
}

}  // namespace agw
