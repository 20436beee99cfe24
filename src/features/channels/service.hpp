#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/route.hpp"
#include "features/channels/channel_services.hpp"
#include "features/channels/types.hpp"
#include "tools/tool.hpp"

namespace agw {

class Channel;

/// The `integration` extensions of kind `channel`: messengers in which people talk to agents. Each enabled one reads
/// and sends independently. A change of its record takes effect immediately.
class Channels : private Subscriber {
public:
  explicit Channels(const ChannelServices& services);
  ~Channels() override;

  /// Starts to read in the background. Runs that an earlier start left unfinished must have been ended before.
  void start();
  /// Ends all channels. Unsent messages stay in the database.
  Task<> stop();

  /// The status of all channels, sorted by name.
  std::vector<ChannelStatus> list() const;
  /// Adds the stranger with that code to `allow`. Throws NotFound `code not found`.
  Task<ConfirmedSender> confirm(ConfirmSender sender);

  /// SendFile; no tools if there is no channel.
  std::vector<ToolPointer> tools();

private:
  Task<ToolOutcome> send_file(const ToolCall& call);
  void deliver(const DomainEvent& event) override;
  bool awaits(std::string_view names) const override;
  bool answers(std::string_view thread_id) const override;
  void extension_changed(const Extension& extension, bool is_deleted);
  void connect(ChannelSettings settings);
  Task<> run(std::shared_ptr<Channel> channel, std::shared_ptr<AsyncEvent> before, std::shared_ptr<AsyncEvent> ended);
  Task<> forget(std::string id);

  const ChannelServices services_;
  std::map<std::string, std::shared_ptr<Channel>, std::less<>> channels_;  ///< by the extension's id
  /// By the extension's id; notified when the channel has ended.
  std::map<std::string, std::shared_ptr<AsyncEvent>, std::less<>> ended_;
  bool running_ = false;
  TaskGroup group_;
  ToolPointer send_file_tool_;
  Hub::Listening listening_;
};

/// `/channels`.
Routes channel_routes(Channels& channels);

}  // namespace agw
