// Rows of golden/rows_barriers about flow control and channels: J (the Flow notation, and messages of
// a connection) and L1 to L16 (remote channel, persister, priority deque).
#pragma once

#include "engine/network/network_semantics.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {

// Whether the row is one of those.
[[nodiscard]] bool is_flow_row(const Json& line);
[[nodiscard]] bool is_channel_row(const Json& line);
// Throw Difference, and MalformedCase for what they do not know.
void replay_flow_row(const Json& line, const engine::NetworkSemantics& semantics);
void replay_channel_row(const Json& line);

}  // namespace tailrace::golden
