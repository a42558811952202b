#!/usr/bin/env python3
"""What the converter makes of experiments, and that it sees nothing else."""

import copy
import json
import unittest
from decimal import Decimal
from pathlib import Path

import lab_scenario
import shared_lab

HERE = Path(__file__).resolve().parent


def results():
    """(path, result) of all results at hand: the kept ones, and the shared ones if they are there."""
    folders = [HERE / "data"]
    lab = shared_lab.folder()
    if lab is not None:
        folders.append(lab / "results")
    for folder in folders:
        for path in sorted(folder.glob("*.json")):
            yield path, json.loads(path.read_text(encoding="utf-8"))


def experiment(**changes):
    """A result with nothing but an experiment: source -> map -> sink, and `changes` of its config."""
    config = {
        "id": "X01",
        "group": "test",
        "purpose": "",
        "durationSec": 30,
        "cluster": {"taskManagers": 2, "slotsPerTaskManager": 1},
        "job": {
            "source": {
                "parallelism": 2,
                "totalRate": 1000,
                "recordBytes": 512,
                "keys": {"distribution": "balanced", "count": 1024},
            },
            "stages": [
                {"name": "map", "exchange": "rebalance", "parallelism": 2, "costUs": 200},
                {"name": "sink", "exchange": "hash", "parallelism": 2, "costUs": 1000},
            ],
        },
        **changes,
    }
    return {
        "config": config,
        "flink": {},
        "inputs": {"firstTriggersMs": [], "taskStarts": []},
    }


def converter(result):
    return lab_scenario.Converter(lab_scenario.Given(result))


def setUpModule():
    """Times of these tests are easier to read with a whole second before t0."""
    lab_scenario.T0_MS = Decimal(1000)


class NothingMeasured(unittest.TestCase):
    def test_the_scenario_is_the_same_without_all_other_members(self):
        checked = 0
        for path, result in results():
            whole = lab_scenario.convert(result)
            given = {name: result[name] for name in ("config", "flink", "inputs")}
            self.assertEqual(whole, lab_scenario.convert(given), path)
            # Nor does it matter what the others say.
            poisoned = {name: "measured" for name in result}
            poisoned.update(copy.deepcopy(given))
            self.assertEqual(whole, lab_scenario.convert(poisoned), path)
            checked += 1
        self.assertGreaterEqual(checked, 4)

    def test_a_view_of_a_result_has_no_other_member(self):
        view = lab_scenario.Given({"config": 1, "time": 2, "jobs": 3})
        self.assertEqual(view["config"], 1)
        for name in ("time", "jobs", "events"):
            with self.assertRaises(KeyError):
                view[name]

    def test_neither_id_nor_group_nor_purpose_changes_more_than_the_name(self):
        for path, result in results():
            other = copy.deepcopy(result)
            other["config"].update(id="other", group="other", purpose="other", holdout=True)
            ours, theirs = (lab_scenario.convert(r)[0].splitlines() for r in (result, other))
            different = [a for a, b in zip(ours, theirs) if a != b]
            self.assertTrue(all(a.startswith(("name:", "about:")) for a in different), path)
            self.assertEqual(len(ours), len(theirs))


class Events(unittest.TestCase):
    def timeline(self, *events, **changes):
        return converter(experiment(events=list(events), **changes)).timeline()

    def test_a_later_cost_replaces_an_earlier_one(self):
        entries = self.timeline(
            {"atSec": 10, "type": "cost", "vertex": "sink", "subtask": 0, "factor": 3},
            {"atSec": 18, "type": "cost", "vertex": "sink", "subtask": -1, "factor": 1},
        )
        slow = {"operator": "sink", "subtask": 0, "factor": "3"}
        self.assertEqual(entries, [{"at": "11s", "slow": slow, "for": "8s"}])

    def test_costs_of_all_subtasks_are_one_entry_and_the_last_one_has_no_end(self):
        entries = self.timeline(
            {"atSec": 5, "type": "cost", "vertex": "map", "factor": 2},
            {"atSec": 7.5, "type": "cost", "vertex": "map", "factor": 1.5},
        )
        self.assertEqual(
            entries,
            [
                {"at": "6s", "slow": {"operator": "map", "factor": "2"}, "for": "2.5s"},
                {"at": "8.5s", "slow": {"operator": "map", "factor": "1.5"}},
            ],
        )

    def test_one_subtask_that_differs_from_the_others_is_replaced_alone(self):
        entries = self.timeline(
            {"atSec": 1, "type": "cost", "vertex": "map", "factor": 2},
            {"atSec": 3, "type": "cost", "vertex": "map", "subtask": 1, "factor": 4},
        )
        self.assertEqual(
            entries,
            [
                {"at": "2s", "slow": {"operator": "map", "subtask": 0, "factor": "2"}},
                {
                    "at": "2s",
                    "slow": {"operator": "map", "subtask": 1, "factor": "2"},
                    "for": "2s",
                },
                {"at": "4s", "slow": {"operator": "map", "subtask": 1, "factor": "4"}},
            ],
        )

    def test_rates_are_steps_of_the_first_one(self):
        result = experiment(
            events=[
                {"atSec": 10, "type": "rate", "factor": 0.5},
                {"atSec": 20, "type": "rate", "factor": 1},
            ]
        )
        self.assertEqual(
            converter(result).rate(),
            [["0s", "0/s"], ["1s", "1000/s"], ["11s", "500/s"], ["21s", "1000/s"]],
        )

    def test_a_source_without_a_limit(self):
        result = experiment()
        result["config"]["job"]["source"]["totalRate"] = 0
        self.assertEqual(converter(result).rate(), [["0s", "0/s"], ["1s", "max"]])

    def test_the_rate_may_be_given_by_subtask(self):
        result = experiment()
        del result["config"]["job"]["source"]["totalRate"]
        result["config"]["job"]["source"]["ratePerSubtask"] = 250.5
        self.assertEqual(converter(result).rate()[1], ["1s", "501/s"])

    def test_failing_writes_last_until_they_succeed_again(self):
        entries = self.timeline(
            {"atSec": 10, "type": "storage", "failWrites": True},
            {"atSec": 16, "type": "storage", "failWrites": False},
        )
        self.assertEqual(entries, [{"at": "11s", "storage": {"full": True}, "for": "6s"}])

    def test_slower_storage_is_told_by_what_is_different(self):
        storage = {"kind": "throttled", "writeBytesPerSec": 8000000, "requestLatencyMs": 20}
        entries = self.timeline(
            {"atSec": 9, "type": "storage", "writeBytesPerSec": 2000000, "requestLatencyMs": 120},
            storage=storage,
        )
        trouble = {"slow": "4", "latency": "100ms"}
        self.assertEqual(entries, [{"at": "10s", "storage": trouble}])

    def test_failures_checkpoints_rescales_and_lost_processes(self):
        entries = self.timeline(
            {"atSec": 4, "type": "killTaskManager", "index": 1},
            {"atSec": 9, "type": "startTaskManager", "index": 1},
            {"atSec": 12, "type": "fail", "vertex": "map", "subtask": 1},
            {"atSec": 13, "type": "savepoint", "format": "canonical"},
            {"atSec": 14, "type": "checkpoint"},
            {"atSec": 15, "type": "rescale", "parallelism": {"map": 3, "sink": 3}},
        )
        self.assertEqual(
            entries,
            [
                {"at": "5s", "kill": {"task_manager": 1}, "back_after": "5s"},
                {"at": "13s", "fail": {"operator": "map", "subtask": 1}},
                {"at": "14s", "savepoint": None},
                {"at": "15s", "checkpoint": None},
                {"at": "16s", "rescale": {"map": 3, "sink": 3}},
            ],
        )

    def test_what_cannot_be_said_is_noted(self):
        result = experiment(events=[{"atSec": 1, "type": "savepoint", "format": "native"}])
        result["flink"]["state.backend.type"] = "rocksdb"
        text, notes = lab_scenario.convert(result)
        self.assertIn("state.backend.type: hashmap", text)
        self.assertEqual(len(notes), 2, notes)


class Pins(unittest.TestCase):
    def test_times_are_exact_and_attempts_in_order(self):
        result = experiment()
        result["inputs"] = {
            "firstTriggersMs": [373.287, None],
            "taskStarts": [
                [1, "map", 0, 0, 18000.5],
                [0, "map", 0, 1, 12000.25],
                [0, "map", 0, 0, -30.713],
                [0, "map", 1, 0, -1200.5],
            ],
        }
        pins = converter(result).pins()
        self.assertEqual(pins["first_triggers"], ["1373.287ms", "31s"])
        self.assertEqual(
            pins["task_starts"],
            {"map[0]": ["969.287ms", "13000.25ms", "19000.5ms"], "map[1]": ["0ms"]},
        )

    def test_without_inputs_nothing_is_pinned(self):
        self.assertNotIn("pin:", lab_scenario.convert(experiment())[0])


class Text(unittest.TestCase):
    def test_numbers_have_no_exponent_and_no_idle_zeros(self):
        self.assertEqual(lab_scenario.number(16000000), "16000000")
        self.assertEqual(lab_scenario.number(0.1), "0.1")
        self.assertEqual(lab_scenario.milliseconds(Decimal("1373.287")), "1373.287ms")
        self.assertEqual(lab_scenario.microseconds(90.032), "90.032us")

    def test_the_plumbing_of_the_lab_is_left_out_and_all_else_kept(self):
        result = experiment()
        result["flink"] = {
            "metrics.reporter.lab.factory.class": "x",
            "state.checkpoints.dir": "file://WORK/checkpoints",
            "io.tmp.dirs": "WORK/tmp",
            "web.checkpoints.history": 5000,
            "pipeline.object-reuse": True,
        }
        self.assertEqual(
            converter(result).flink(),
            {
                "version": "1.20",
                "pipeline.object-reuse": True,
                "web.checkpoints.history": 5000,
                "jobmanager.io-pool.size": 2,
                "slotmanager.requirement-check.delay": "50 ms",
            },
        )

    def test_no_path_of_the_lab_is_left_in_any_scenario(self):
        for path, result in results():
            self.assertNotIn("WORK", lab_scenario.convert(result)[0], path)


if __name__ == "__main__":
    unittest.main()
