#include "features/research/asset_under_way.hpp"

namespace agw {

namespace {

constexpr auto changed_meanwhile = "somebody else changed the file meanwhile: what they wrote stays";

}  // namespace

Task<AssetCopy> AssetUnderWay::read() const {
  co_return co_await blocking_.run([path = path_] { return read_asset(path); });
}

void AssetUnderWay::note_original(AssetCopy original) {
  trace_.left = original.bytes;
  original_ = std::move(original);
}

Task<> AssetUnderWay::note() {
  auto now = (co_await read()).bytes;
  if (now != trace_.left) {
    if (!trace_.may_differ) throw IterationProblem(changed_meanwhile);
    trace_.left = std::move(now);
    trace_.is_unclear = true;
  }
  trace_.may_differ = false;
}

Task<> AssetUnderWay::replace(std::string text) {
  trace_.left = text;
  co_await blocking_.run(
      [path = path_, copy = AssetCopy{std::move(text), original_->mode}] { write_asset(path, copy); });
}

Task<> AssetUnderWay::put_back() {
  if (!original_ || is_put_back_) co_return;
  const bool is_ours = co_await blocking_.run(
      [path = path_, original = *original_, trace = trace_] { return put_asset_back(path, original, trace); });
  is_put_back_ = true;
  if (!is_ours) throw IterationProblem(changed_meanwhile);
}

}  // namespace agw
