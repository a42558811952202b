"""Tests of the Python package, through its public names only."""

import concurrent.futures
import os
import pathlib
import signal
import tempfile
import threading
import unittest

import tailrace

SCENARIO = """\
name: small
duration: 20s
flink: {version: "1.10", execution.checkpointing.interval: 1s}
cluster: {task_managers: {count: 2, cores: 2}}
job:
  operators:
    - {id: lines, kind: source, from: {file: text.txt}, rate: {over: 5s}, parallelism: 2}
    - {id: words, kind: flat_map, do: tokenize, input: lines, cost: 1us}
    - {id: count, kind: keyed, do: count, input: words, parallelism: 2, cost: 1us}
    - {id: out, kind: sink, input: count}
expect:
  - exactly once
"""


class ScenarioTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "text.txt").write_text("one two\nthree\n" * 50)

    def scenario(self, text=SCENARIO):
        path = self.folder / "s.yaml"
        path.write_text(text)
        return path


class RunTest(ScenarioTest):
    def test_a_run_is_a_mapping_over_the_json_document(self):
        run = tailrace.run(self.scenario())
        self.assertEqual(run["name"], "small")
        self.assertEqual(run["records"], {"in": 100, "out": 150})
        self.assertEqual(run["exactly_once"], {"lost": 0, "duplicated": 0})
        self.assertGreaterEqual(run["checkpoints"]["completed"], 15)
        self.assertTrue(run.held)
        self.assertIn("trace_hash", dict(run))
        self.assertIn(run.trace_hash, repr(run))
        self.assertIn('"virtual_time_s": 20.', run.json)

    def test_equal_runs_have_equal_hashes_and_other_runs_have_others(self):
        first = tailrace.run(self.scenario(), seed=5)
        again = tailrace.run(self.scenario(), seed=5)
        other = tailrace.run(self.scenario(), seed=5, set={"job.operators.count.cost": "2us"})
        self.assertRegex(first.trace_hash, "^[0-9a-f]{16}$")
        self.assertEqual(first.trace_hash, again.trace_hash)
        self.assertNotEqual(first.trace_hash, other.trace_hash)

    def test_runs_of_several_threads_do_not_disturb_each_other(self):
        path = self.scenario()
        expected = tailrace.run(path).trace_hash
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            hashes = list(pool.map(lambda _: tailrace.run(path).trace_hash, range(8)))
        self.assertEqual(hashes, [expected] * 8)

    def test_an_expectation_that_does_not_hold_is_a_result_and_no_error(self):
        run = tailrace.run(self.scenario(), set={"expect": ["restarts == 3"]})
        self.assertFalse(run.held)
        self.assertEqual(run["expectations"][0]["text"], "restarts == 3")

    def test_until_and_set_override_the_scenario(self):
        run = tailrace.run(
            self.scenario(),
            until="sources_finished",
            set={"job.operators.lines.then": "finish", "job.operators.lines.rate": {"over": "2s"}},
        )
        self.assertEqual(run["finished"], "sources_finished")
        self.assertLess(run["virtual_time_s"], 10)

    def test_a_scenario_of_the_library_goes_by_its_name(self):
        run = tailrace.run("wordcount", until="2s", set={"expect": None})
        self.assertEqual(run["name"], "wordcount")

    def test_the_interpreter_is_free_while_a_run_goes_on(self):
        # With the lock held, the thread would tick once a run and not while it goes on.
        ticks = 0
        done = threading.Event()

        def tick():
            nonlocal ticks
            while not done.is_set():
                ticks += 1

        path = self.scenario(SCENARIO.replace("20s", "600s"))
        thread = threading.Thread(target=tick)
        thread.start()
        before = ticks
        tailrace.run(path)
        during = ticks - before
        done.set()
        thread.join()
        self.assertGreater(during, 100)

    def test_ctrl_c_ends_a_run(self):
        def interrupt(*_):
            raise KeyboardInterrupt

        previous = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, previous)
        path = self.scenario(SCENARIO.replace("20s", "100d"))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with self.assertRaises(KeyboardInterrupt):
            tailrace.run(path)


class CheckTest(ScenarioTest):
    def test_a_valid_scenario_has_no_notes(self):
        self.assertEqual(tailrace.check(self.scenario()), [])

    def test_an_option_without_effect_is_a_note(self):
        notes = tailrace.check(self.scenario(), set={"flink.rest.port": 8081})
        self.assertEqual(notes, ["flink.rest.port is not modelled and has no effect"])

    def test_an_error_says_where_and_what_is_nearest(self):
        path = self.scenario(SCENARIO.replace("parallelism: 2, cost", "paralelism: 2, cost"))
        for call in (tailrace.check, tailrace.run):
            with self.assertRaises(tailrace.ScenarioError) as caught:
                call(path)
            self.assertEqual(
                str(caught.exception),
                f'{path}:9:57: unknown key "paralelism" in job.operators.count '
                "(did you mean parallelism?)",
            )

    def test_all_errors_are_reported_together_also_those_of_arguments(self):
        with self.assertRaises(tailrace.ScenarioError) as caught:
            tailrace.check(self.scenario(), seed="x", set={"duration": "5"})
        lines = str(caught.exception).splitlines()
        self.assertEqual(len(lines), 2, lines)
        self.assertTrue(lines[0].startswith("seed x: "), lines)
        self.assertTrue(lines[1].startswith("set duration=5: "), lines)

    def test_a_file_that_is_not_there_is_an_error(self):
        with self.assertRaisesRegex(tailrace.ScenarioError, "nowhere.yaml: cannot be opened"):
            tailrace.run(self.folder / "nowhere.yaml")
        self.assertEqual(os.listdir(self.folder), ["text.txt"])


if __name__ == "__main__":
    unittest.main()
