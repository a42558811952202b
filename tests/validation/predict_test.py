#!/usr/bin/env python3
"""A run in the schema of a result has what score.py reads, and says what the run said.

    predict_test.py --program TAILRACE [unittest options]
"""

import argparse
import json
import sys
import tempfile
import unittest
from pathlib import Path

import predict
import score

PROGRAM = None

# A source that is faster than its sink, a failure and a rescale.
SCENARIO = """
tailrace: 1
name: predicted
duration: 41s
end: cut
cluster: {task_managers: {count: 3, slots: 1, cores: 8}}
job:
  operators:
    - {id: source, kind: source, from: {records: 1000000}, size: 64B, rate: 400/s, parallelism: 2}
    - {id: map, kind: map, do: identity, input: source, by: rebalance, parallelism: 2, chain: never}
    - {id: sink, kind: sink, input: map, by: rebalance, cost: 3ms, guarantee: at_least_once,
       parallelism: 2, chain: never}
flink:
  version: "1.20"
  execution.checkpointing.interval: 2 s
  restart-strategy: fixed-delay
  restart-strategy.fixed-delay.attempts: 10
  restart-strategy.fixed-delay.delay: 1 s
timeline:
  - {at: 12s, fail: {operator: map, subtask: 0}}
  - {at: 25s, rescale: {map: 3, sink: 3}}
"""
CONFIG = {
    "id": "predicted",
    "group": "test",
    "events": [
        {"atSec": 11, "type": "fail", "vertex": "map", "subtask": 0},
        {"atSec": 24, "type": "rescale", "parallelism": {"map": 3, "sink": 3}},
    ],
}


class Prediction(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.document = predict.run(PROGRAM, SCENARIO, folder)[0]
            cls.again = predict.run(PROGRAM, SCENARIO, folder)[0]
        cls.result = predict.result(CONFIG, cls.document)

    def test_equal_runs_are_equal_predictions(self):
        self.assertEqual(self.result, predict.result(CONFIG, self.again))

    def test_every_kind_of_number_can_be_read(self):
        numbers = score.numbers(json.loads(json.dumps(self.result)))
        for name in (
            "checkpoint.completed", "checkpoint.e2e_ms.p50[0]", "rate.sink[1]", "latency_ms.p99[2]",
            "checkpoint.checkpointed_bytes", "source.startDelayMs.mean", "sink.alignmentMs.mean",
            "map.asyncMs.mean", "recovery[0].first_output_ms", "recovery[0].caught_up_ms",
            "recovery[0].replayed", "rescale[0].savepoint_ms", "rescale[0].running_ms",
            "rescale[0].first_output_ms",
        ):  # fmt: skip
            self.assertIn(name, numbers)
        # The restart waits for a second; the sources then have a backlog.
        self.assertGreater(numbers["recovery[0].first_output_ms"][0], 1000)
        self.assertLess(numbers["recovery[0].first_output_ms"][0], 1500)
        self.assertGreater(numbers["recovery[0].replayed"][0], 0)
        self.assertAlmostEqual(numbers["rate.sink[0]"][0], 400, delta=12)

    def test_without_events_tasks_say_how_busy_they_were(self):
        config = {"id": "predicted", "group": "test"}
        numbers = score.numbers(predict.result(config, self.document))
        self.assertIn("sink.busy", numbers)
        self.assertIn("source.backpressured", numbers)

    def test_all_checkpoints_are_there_once_with_all_their_subtasks(self):
        history = [c for job in self.result["jobs"] for c in job["checkpoints"]["history"]]
        self.assertEqual(len(history), len(self.document["checkpoint_history"]))
        self.assertEqual(len(self.result["jobs"]), 2)
        savepoints = [c["savepoint"] for job in self.result["jobs"] for c in job["checkpoints"]["history"]]
        self.assertEqual(savepoints.count(True), 1)
        for index, job in enumerate(self.result["jobs"]):
            self.assertTrue(job["checkpoints"]["history"])
            for checkpoint in job["checkpoints"]["history"]:
                if checkpoint["status"] != "COMPLETED":
                    continue
                vertices = {v["vertex"]: len(v["subtasks"]) for v in checkpoint["vertices"]}
                later = 3 if index else 2
                self.assertEqual(vertices, {"source": 2, "map": later, "sink": later})

    def test_windows_hold_what_the_sinks_did(self):
        effects = sum(w["n"] for w in self.result["latency"]["windows"])
        served = sum(
            s["total"] for s in self.result["throughput"]["series"] if s["vertex"] == "sink"
        )
        self.assertEqual(effects, self.document["records"]["out"])
        # A record that is being served when the run is cut has no effect yet.
        self.assertLessEqual(abs(served - effects), 64)

    def test_a_failure_that_nobody_asked_for_is_no_disturbance(self):
        self.assertEqual(len(self.result["failures"]), 1)
        self.assertAlmostEqual(self.result["failures"][0]["thrownEpochMs"], 12000, delta=1)
        other = dict(CONFIG, events=[e for e in CONFIG["events"] if e["type"] != "fail"])
        self.assertEqual(predict.result(other, self.document)["failures"], [])

    def test_a_run_that_cannot_be_predicted_says_why(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(predict.CannotPredict, "no operator"):
                predict.run(PROGRAM, SCENARIO.replace("input: map", "input: mop"), folder)

    def test_a_rescale_that_does_not_end_is_an_event_with_an_error(self):
        document = dict(self.document, rescale_list=[])
        event = predict.result(CONFIG, document)["events"][1]
        self.assertTrue(event["error"])
        self.assertNotIn("rescale[0].savepoint_ms", score.numbers(predict.result(CONFIG, document)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=Path, required=True)
    known, rest = parser.parse_known_args()
    PROGRAM = known.program
    unittest.main(argv=[sys.argv[0], *rest])
