#include "io/xmpp/xmpp_connection.hpp"

#include <sys/eventfd.h>
#include <sys/socket.h>

#include <utility>

#include <boost/asio/post.hpp>

#include "base/error.hpp"
#include "io/process/start_thread.hpp"
#include "io/xmpp/xmpp_worker.hpp"

namespace agw {

namespace {

/// libstrophe prints and frees elements recursively: enough for the deepest stanza of the maximum size.
constexpr std::size_t stack_size = 32 * 1024 * 1024;

}  // namespace

void XmppShared::wake_up() const { ::eventfd_write(wake.get(), 1); }

XmppConnection::XmppConnection(Listener& listener) : listener_(&listener), shared_(std::make_shared<XmppShared>()) {
  shared_->wake = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!shared_->wake) throw_errno("cannot connect to an XMPP server");
}

std::shared_ptr<XmppConnection> XmppConnection::start(Loop& loop, XmppLogin login, Listener& listener) {
  const std::shared_ptr<XmppConnection> connection(new XmppConnection(listener));
  // The thread must not own the connection, whose destructor waits for the thread.
  const auto post = [&loop, weak = connection->weak_from_this()](auto call) {
    asio::post(loop, [weak, call = std::move(call)]() mutable {
      if (const auto self = weak.lock(); self && self->listener_) call(*self);
    });
  };
  connection->thread_ = start_thread(
      "agw-xmpp",
      [post, shared = connection->shared_, login = std::move(login)] {
        XmppFailure failure;
        try {
          XmppWorker worker(*shared, login,
                            {.opened = [post] { post([](XmppConnection& self) { self.listener_->opened(); }); },
                             .arrived =
                                 [post](XmppElement element) {
                                   post([element = std::move(element)](XmppConnection& self) mutable {
                                     self.listener_->arrived(std::move(element));
                                   });
                                 }});
          failure = worker.run();
        } catch (...) {
          failure.text = message_of(std::current_exception());
        }
        post([failure](XmppConnection& self) { std::exchange(self.listener_, nullptr)->ended(failure); });
      },
      stack_size);
  return connection;
}

XmppConnection::~XmppConnection() {
  listener_ = nullptr;
  abort();
  if (thread_) pthread_join(*thread_, nullptr);
}

void XmppConnection::send(std::string stanzas) {
  const std::lock_guard guard(shared_->mutex);
  shared_->outgoing += stanzas;
  shared_->wake_up();
}

void XmppConnection::taken(std::size_t stanzas) {
  if (shared_->waiting.fetch_sub(stanzas) >= XmppShared::max_waiting) shared_->wake_up();
}

void XmppConnection::close() {
  const std::lock_guard guard(shared_->mutex);
  shared_->is_closing = true;
  shared_->wake_up();
}

void XmppConnection::abort() {
  const std::lock_guard guard(shared_->mutex);
  shared_->is_closing = true;
  if (shared_->socket) ::shutdown(shared_->socket.get(), SHUT_RDWR);
  shared_->wake_up();
}

bool XmppConnection::has_stream_management() const { return shared_->has_stream_management; }

bool XmppConnection::is_private() const { return shared_->is_private; }

}  // namespace agw
