// Replays golden/rows_barriers J and L: each row by who knows its notation.
#include <string>

#include "tests/golden/flow_rows.hpp"
#include "tests/golden/options_rows.hpp"
#include "tests/golden/pool_rows.hpp"

namespace tailrace::golden {
namespace {

void replay_row_j(const Json& line, const engine::NetworkSemantics& semantics) {
  if (is_flow_row(line)) {
    replay_flow_row(line, semantics);
  } else if (is_pool_row(line)) {
    replay_pool_row(line, semantics);
  } else {
    throw MalformedCase("unknown row: " + line.at("id").dump());
  }
}

void replay_row_l(const Json& line) {
  if (is_options_row(line)) {
    replay_options_row(line);
  } else {
    replay_channel_row(line);
  }
}

const Registration kJ110("rows_barriers/barriers_rows_J_f110.jsonl", [](const Json& line) {
  replay_row_j(line, engine::network_semantics_110());
});
const Registration kJ120("rows_barriers/barriers_rows_J_f120.jsonl", [](const Json& line) {
  replay_row_j(line, engine::network_semantics_120());
});
const Registration kL("rows_barriers/barriers_rows_L.jsonl", &replay_row_l);

}  // namespace
}  // namespace tailrace::golden
