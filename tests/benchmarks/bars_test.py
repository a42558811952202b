#!/usr/bin/env python3
"""Holds bars.py to its word, with a program that pretends to be the benchmarks."""
import contextlib
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent

# Answers as Google Benchmark does: five repetitions of each benchmark that the filter lets through.
FAKE = f"""#!{sys.executable}
import json, os, re, sys
options = dict(argument.lstrip("-").split("=", 1) for argument in sys.argv[1:])
if os.environ.get("FAKE") == "crash":
    sys.exit("something went wrong")
assert options["benchmark_enable_random_interleaving"] == "true", options
rates = {{"a/ours": [5e6, 2e6, 1e9, 3e6, 1], "a/reference": [2e6] * 5, "b/ours": [4e6] * 5,
         "b/reference/min_time:0.300": [1e6] * 5, "c/ours/iterations:1": [7e6] * 5}}
rows = []
for name, values in rates.items():
    if not re.search(options["benchmark_filter"], name):
        continue
    for value in values:
        rows.append({{"name": name, "run_name": name, "run_type": "iteration",
                     "items_per_second": value, "cpu_time": 1.0, "bytes": 38.5}})
    rows.append({{"name": name + "_mean", "run_name": name, "run_type": "aggregate",
                 "items_per_second": 1.0}})
if os.environ.get("FAKE") == "error":
    rows[0].update(error_occurred=True, error_message="words are missing")
assert int(options["benchmark_repetitions"]) == 5
print(json.dumps({{"benchmarks": rows}}))
"""

TABLE = """# name ours reference measure nominal bar
ratio\ta/ours\ta/reference\trate\t-\t1.3
scaled\tb/ours\tb/reference\tabsolute\t500000\t2000000
count\tb/ours\t-\tcounter:bytes\t-\t40
shown\tc/ours\t-\trate\t-\t-
"""


class Bars(unittest.TestCase):
    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.binary = self.folder / "fake"
        self.binary.write_text(FAKE, encoding="utf-8")
        self.binary.chmod(self.binary.stat().st_mode | stat.S_IXUSR)

    def bars(self, *arguments, table=TABLE, fake=""):
        path = self.folder / "bars.tsv"
        path.write_text(table, encoding="utf-8")
        return subprocess.run(
            [sys.executable, HERE / "bars.py", "--binary", self.binary, "--table", path,
             *arguments],
            env={**os.environ, "FAKE": fake}, capture_output=True, text=True, check=False)

    def test_one_line_a_bar_with_the_median_of_the_rounds(self):
        done = self.bars()
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split() for line in done.stdout.splitlines()[1:]]
        self.assertEqual(rows, [
            ["ratio", "3.00", "M", "2.00", "M", "1.50", "1.30", "ok"],
            ["scaled", "4.00", "M", "1.00", "M", "2.00", "M", "2.00", "M", "ok"],
            ["count", "38.50", "-", "38.50", "40.00", "ok"],
            ["shown", "7.00", "M", "-", "-", "-", "-"],
        ])

    def test_a_bar_that_is_short_makes_status_1(self):
        for short in (TABLE.replace("1.3", "1.6"), TABLE.replace("2000000", "2000001"),
                      TABLE.replace("40", "38")):
            done = self.bars(table=short)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertEqual(done.stdout.count(" short"), 1)
            self.assertEqual(done.stdout.count(" ok"), 2)

    def test_json_says_the_same(self):
        done = self.bars("--json", table=TABLE.replace("1.3", "1.6"))
        self.assertEqual(done.returncode, 1, done.stderr)
        rows = json.loads(done.stdout)
        self.assertEqual([row["name"] for row in rows], ["ratio", "scaled", "count", "shown"])
        self.assertEqual(rows[0], {"name": "ratio", "ours": 3e6, "reference": 2e6, "value": 1.5,
                                   "bar": 1.6, "held": False})
        self.assertEqual([row["held"] for row in rows], [False, True, True, None])

    def test_names_choose_bars(self):
        done = self.bars("scal", "coun")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()[1:]],
                         ["scaled", "count"])

    def test_an_unknown_name_is_bad_usage(self):
        done = self.bars("nonesuch")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nonesuch", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_benchmarks_that_do_not_run_are_no_short_bar(self):
        for fake, said in (("crash", "something went wrong"), ("error", "words are missing")):
            done = self.bars(fake=fake)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stdout, "")
        done = self.bars(table=TABLE.replace("c/ours", "d/ours"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("d/ours", done.stderr)

    def test_the_table_of_the_repository_is_well_formed(self):
        sys.path.insert(0, str(HERE))
        import bars  # noqa: PLC0415
        rows = bars.read_bars(HERE / "bars.tsv")
        self.assertEqual(len({row["name"] for row in rows}), len(rows))
        for row in rows:
            self.assertRegex(row["measure"], "^(rate|absolute|counter:[a-z_]+)$")
            self.assertEqual(row["measure"] == "absolute", row["nominal"] != "-")


if __name__ == "__main__":
    unittest.main()
