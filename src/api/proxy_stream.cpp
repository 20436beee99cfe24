#include "api/proxy_stream.hpp"

#include <utility>

namespace agw {

Task<bool> ResponseStream::send_whole(ResponseHead head, std::string_view body) {
  co_return co_await begin(std::move(head)) && co_await send(body) && co_await end();
}

}  // namespace agw
