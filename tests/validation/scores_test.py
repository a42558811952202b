#!/usr/bin/env python3
"""Comparing, stripping and reporting, over kept results that are changed on purpose."""

import copy
import json
import tempfile
import unittest
from pathlib import Path

import accuracy
import score
import scores
import shared_lab
import strip_result

HERE = Path(__file__).resolve().parent
KEPT = HERE / "data"


class Comparison(unittest.TestCase):
    def setUp(self):
        self.measured = scores.load(KEPT)

    def test_a_run_is_not_off_from_itself(self):
        rows = scores.compare(self.measured, copy.deepcopy(self.measured), {})
        self.assertGreater(len(rows), 40)
        self.assertEqual({row.error for row in rows}, {0.0})

    def test_a_number_that_is_off_shows_with_its_error(self):
        predicted = copy.deepcopy(self.measured)
        for window in predicted["A01-base-50"]["latency"]["windows"]:
            window["mean"] *= 1.25
        off = [r for r in scores.compare(self.measured, predicted, {}) if r.error > 0]
        self.assertEqual([row.name for row in off], ["latency_ms.mean"])
        self.assertAlmostEqual(off[0].error, 0.25)
        self.assertFalse(off[0].right)
        noise = {("A01-base-50", "latency_ms.mean"): 0.13}
        off = [r for r in scores.compare(self.measured, predicted, noise) if r.error > 0]
        self.assertTrue(off[0].right)

    def test_a_run_without_a_prediction_is_missing_in_every_number(self):
        predicted = {k: v for k, v in copy.deepcopy(self.measured).items() if k != "C01-unaligned"}
        rows = scores.compare(self.measured, predicted, {})
        missing = [row for row in rows if row.predicted is None]
        self.assertEqual({row.run for row in missing}, {"C01-unaligned"})
        self.assertEqual({row.error for row in missing}, {1.0})

    def test_noise_of_a_group_stands_in_for_that_of_a_number(self):
        noise = {("group:baseline", "rate"): 0.5}
        rows = scores.compare(self.measured, copy.deepcopy(self.measured), noise)
        known = {row.noise for row in rows if row.group == "baseline" and row.kind == "rate"}
        self.assertEqual(known, {0.5})


class Stripping(unittest.TestCase):
    def test_the_numbers_of_a_result_stay(self):
        lab = shared_lab.folder()
        if lab is None:
            self.skipTest("there is no $TAILRACE_SHARED/lab")
        for path in sorted((lab / "results").glob("*.json")):
            result = json.loads(path.read_text(encoding="utf-8"))
            small = json.loads(strip_result.dump(strip_result.stripped(result)))
            self.assertEqual(score.numbers(small), score.numbers(result), path.stem)

    def test_the_kept_score_is_the_shared_one(self):
        lab = shared_lab.folder()
        if lab is None or not (lab / "score.py").is_file():
            self.skipTest("there is no $TAILRACE_SHARED/lab")
        self.assertEqual((lab / "score.py").read_text(), (HERE / "score.py").read_text())


class Report(unittest.TestCase):
    def setUp(self):
        self.measured = scores.load(KEPT)
        self.predicted = copy.deepcopy(self.measured)
        for window in self.predicted["A01-base-50"]["latency"]["windows"]:
            window["mean"] *= 1.25
        del self.predicted["C01-unaligned"]
        self.rows = scores.compare(self.measured, self.predicted, {})

    def report(self, explanations):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "explanations.tsv"
            path.write_text(explanations, encoding="utf-8")
            known = accuracy.Explanations(path)
        return accuracy.report(self.measured, self.predicted, self.rows, known)

    def test_every_number_that_is_off_has_a_mechanism_or_none_is_known(self):
        text = self.report("# comment\nA.*\tlatency_ms\\..*\ttimers are late\n")
        off = text.split("## Off by more than 10 %")[1]
        self.assertIn("| timers are late |", off)
        self.assertIn("| missing | 100.0 % |", off)
        lines = [line for line in off.splitlines() if line.startswith("| ") and "---" not in line]
        self.assertEqual(len(lines) - 1, sum(r.headline and r.error > 0.1 for r in self.rows))
        self.assertEqual(sum(accuracy.UNKNOWN in line for line in lines), len(lines) - 2)

    def test_telling_runs_come_from_all_groups(self):
        self.assertEqual(accuracy.telling_runs(self.measured), sorted(self.measured))

    def test_equal_numbers_give_equal_pictures(self):
        try:
            plt = accuracy.start_drawing()
        except ModuleNotFoundError:
            self.skipTest("there is no matplotlib")
        with tempfile.TemporaryDirectory() as folder:
            texts = []
            for name in ("first", "second"):
                numbers, runs = (Path(folder) / f"{name}-{what}.svg" for what in "ab")
                accuracy.draw_numbers(plt, self.rows, numbers)
                accuracy.draw_runs(plt, self.measured, self.predicted, runs)
                texts.append((numbers.read_text(), runs.read_text()))
        self.assertEqual(*texts)
        self.assertIn("A01-base-50", texts[0][1])

    def test_the_readme_gets_the_short_table_between_its_marks(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "README.md"
            path.write_text("before\n<!-- accuracy -->\nold\n<!-- end -->\nafter\n")
            accuracy.write_readme(path, self.rows)
            text = path.read_text()
            self.assertNotIn("old", text)
            self.assertIn("| latency.mean |", text)
            self.assertTrue(text.startswith("before\n") and text.endswith("\nafter\n"))
            accuracy.write_readme(path, self.rows)
            self.assertEqual(text, path.read_text())


if __name__ == "__main__":
    unittest.main()
