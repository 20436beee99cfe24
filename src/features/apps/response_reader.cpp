#include "features/apps/response_reader.hpp"

#include <algorithm>

#include <boost/algorithm/string/predicate.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>

#include "base/async/assert.hpp"
#include "io/http/http_parser.hpp"

namespace agw {

namespace http = boost::beast::http;
using boost::beast::string_view;
using boost::system::error_code;

/// The callbacks of Beast's parser.
struct ResponseReader::Parser : HttpParser<false> {
  explicit Parser(ResponseReader& owner) : HttpParser(head_limit + 1024), owner(owner) {}

  void on_response_impl(int status, string_view, int, error_code& error) override {
    owner.head_.status = status;
    error = {};
  }
  void on_field_impl(http::field, string_view name, string_view value, error_code& error) override {
    owner.head_.fields.emplace_back(name, value);
    error = {};
  }
  void take(string_view bytes) override { owner.pieces_.emplace_back(bytes.data(), bytes.size()); }

  ResponseReader& owner;
};

ResponseReader::ResponseReader() { reset(false); }
ResponseReader::~ResponseReader() = default;

void ResponseReader::reset(bool without_body) {
  parser_ = std::make_unique<Parser>(*this);
  head_ = {};
  pieces_.clear();
  left_ = 0;
  without_body_ = without_body;
  head_done_ = done_ = failed_ = false;
}

std::size_t ResponseReader::put(std::string_view in) {
  pieces_.clear();
  return head_done_ ? put_body(in) : put_head(in);
}

std::size_t ResponseReader::put_head(std::string_view in) {
  const auto end = in.find("\r\n\r\n");
  if (std::min(end, in.size()) > head_limit) failed_ = true;
  if (failed_ || end == in.npos) return 0;
  error_code error;
  parser_->put(boost::asio::const_buffer(in.data(), end + 4), error);
  if (error && error != http::error::need_more) {
    failed_ = true;
    return 0;
  }
  finish_head();
  return end + 4;
}

void ResponseReader::finish_head() {
  AGW_ASSERT(!head_done_);
  AGW_ASSERT(!done_);
  for (const auto& [name, value] : head_.fields) {
    // Rejects other codings, which would be passed on as if they were the content.
    if (boost::iequals(name, "transfer-encoding") && !boost::iequals(value, "chunked")) failed_ = true;
  }
  head_done_ = true;
  head_.chunked = parser_->chunked();
  if (const auto length = parser_->content_length()) head_.length = *length;
  head_.keep_alive = parser_->keep_alive();
  const bool empty = without_body_ || head_.status < 200 || head_.status == 204 || head_.status == 304;
  left_ = head_.length.value_or(0);
  done_ = empty || (head_.length && left_ == 0);
}

std::size_t ResponseReader::put_body(std::string_view in) {
  AGW_ASSERT(head_done_);
  if (done_ || failed_ || in.empty()) return 0;
  if (head_.chunked) return put_chunks(in);
  const auto count = head_.length ? static_cast<std::size_t>(std::min<std::uint64_t>(left_, in.size())) : in.size();
  pieces_.push_back(in.substr(0, count));
  left_ -= head_.length ? count : 0;
  done_ = head_.length && left_ == 0;
  return count;
}

void ResponseReader::skip(std::uint64_t count) {
  AGW_ASSERT(head_done_);
  AGW_ASSERT(count <= left_);
  left_ -= count;
  done_ = done_ || left_ == 0;
}

std::size_t ResponseReader::put_chunks(std::string_view in) {
  std::size_t used = 0;
  while (used < in.size() && !parser_->is_done()) {
    error_code error;
    const auto count = parser_->put(boost::asio::const_buffer(in.data() + used, in.size() - used), error);
    used += count;
    AGW_ASSERT(used <= in.size());
    if (error == http::error::need_more || (!error && count == 0)) break;
    failed_ = failed_ || error;
    if (failed_) break;
  }
  done_ = parser_->is_done();
  return used;
}

void ResponseReader::put_end() {
  const bool ends_with_connection = head_done_ && !head_.chunked && !head_.length;
  done_ = done_ || (ends_with_connection && !failed_);
  failed_ = failed_ || !done_;
}

}  // namespace agw
