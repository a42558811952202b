// Rows L14 to L16 of golden/rows_barriers/barriers_rows_L.jsonl: the deque with a priority part.
#pragma once

#include <string>

#include "engine/network/prioritized_deque.hpp"
#include "tests/golden/golden_registry.hpp"

namespace tailrace::golden {

inline std::string items_of(const engine::PrioritizedDeque<char>& deque) {
  std::string items;
  for (std::size_t i = 0; i < deque.size(); ++i) {
    if (i > 0) items += ' ';
    items += deque[i];
  }
  return items;
}

// Throws Difference, and MalformedCase for another row.
inline void replay_priority_deque_row(const Json& line) {
  const std::string id = line.at("id");
  const auto filled = [](const std::string& items) {
    engine::PrioritizedDeque<char> deque;
    for (const char item : items) deque.add(item);
    return deque;
  };
  if (id == "L14") {
    engine::PrioritizedDeque<char> direct = filled("0123");
    direct.prioritize('3');
    engine::PrioritizedDeque<char> by_add = filled("0123");
    by_add.add('3', true, true);
    expect_equal("direct", line.at("direct"), items_of(direct));
    expect_equal("byAdd", line.at("byAdd"), items_of(by_add));
    expect_equal("priority", line.at("priority"), direct.num_priority_elements());
  } else if (id == "L15") {
    engine::PrioritizedDeque<char> deque = filled("01213");
    for (const char* member : {"first", "second", "third"}) {
      const bool found = deque.get_and_remove([](char item) { return item == '1'; }).has_value();
      expect_equal(member, line.at(member), found ? items_of(deque) : "error");
    }
  } else if (id == "L16") {
    engine::PrioritizedDeque<char> deque = filled("ab");
    deque.add_priority_element('p');
    deque.add_priority_element('q');
    expect_equal("items", line.at("items"), items_of(deque));
    expect_equal("priority", line.at("priority"), deque.num_priority_elements());
    deque.poll();
    expect_equal("priorityAfterPoll", line.at("priorityAfterPoll"), deque.num_priority_elements());
    deque.add_priority_element('r');
    expect_equal("later", line.at("later"), items_of(deque));
  } else {
    throw MalformedCase("not a row about the deque: " + id);
  }
}

}  // namespace tailrace::golden
