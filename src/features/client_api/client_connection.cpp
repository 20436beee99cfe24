#include "features/client_api/client_connection.hpp"

#include <utility>

#include "base/async/assert.hpp"

namespace agw {

namespace {

Task<> watch(ResponseStream& stream, StopSource& disconnected) {
  co_await stream.wait_for_disconnect();
  disconnected.request();
}

}  // namespace

ClientConnection::ClientConnection(Loop& loop, ResponseStream& stream, bool outlives_program)
    : loop_(loop),
      stream_(stream),
      when_stopped_(stream.stop_source(), [this] { disconnected_.request(); }),
      watching_(loop),
      sending_(loop) {
  if (!outlives_program) watching_.spawn(watch(stream, disconnected_));
}

void ClientConnection::begin_events(std::function<std::string()> keep_alive, const Fields& fields) {
  AGW_ASSERT(!sender_);
  Fields all{{"Content-Type", "text/event-stream; charset=utf-8"}, {"X-Accel-Buffering", "no"}};
  all.insert(all.end(), fields.begin(), fields.end());
  sender_ = std::make_unique<EventSender>(loop_, stream_, disconnected_, std::move(all), std::move(keep_alive));
  sending_.spawn(sender_->run());
}

void ClientConnection::send_event(std::string_view bytes) {
  if (sender_) sender_->write(bytes);
}

Task<> ClientConnection::close() {
  if (sender_) sender_->close();
  co_await sending_.join();
  watching_.cancel();
  try {
    co_await watching_.join();
  } catch (const std::exception&) {
    disconnected_.request();  // The watch was cancelled or failed.
  }
}

}  // namespace agw
