#pragma once

#include <cstddef>
#include <cstdint>

#include <boost/beast/http/basic_parser.hpp>

namespace agw {

/// Beast's parser for requests or responses with empty handlers, so that a subclass overrides only those it needs: for
/// the first line and the fields of a head, and the bytes of a body, chunked or not. Rejects nothing; the subclass
/// limits the size of bodies.
template <bool is_request>
class HttpParser : public boost::beast::http::basic_parser<is_request> {
protected:
  using Error = boost::system::error_code;
  using Text = boost::beast::string_view;

  explicit HttpParser(std::uint32_t head_limit) {
    this->header_limit(head_limit);
    this->body_limit(boost::none);
    this->eager(false);
  }

  virtual void take(Text bytes) = 0;

  void on_request_impl(boost::beast::http::verb, Text, Text, int, Error& error) override { error = {}; }
  void on_response_impl(int, Text, int, Error& error) override { error = {}; }

private:
  void on_header_impl(Error& error) override { error = {}; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error& error) override { error = {}; }
  std::size_t on_body_impl(Text bytes, Error& error) override { return take(bytes, error); }
  void on_chunk_header_impl(std::uint64_t, Text, Error& error) override { error = {}; }
  std::size_t on_chunk_body_impl(std::uint64_t, Text bytes, Error& error) override { return take(bytes, error); }
  void on_finish_impl(Error& error) override { error = {}; }

  std::size_t take(Text bytes, Error& error) {
    error = {};
    take(bytes);
    return bytes.size();
  }
};

}  // namespace agw
