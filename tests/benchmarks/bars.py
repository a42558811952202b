#!/usr/bin/env python3
"""Runs the benchmarks and holds them against the bars of bars.tsv.

Ours and the reference run in one process, repetition by repetition in random order, and the median
of the repetitions counts: what the machine does to one it does to the other. Prints one line a bar:
name, ours, reference, ratio, bar, and `ok` or `short`; a line without a bar is there to be read.
Exit status 1 if any bar is short, 2 on bad usage or if the benchmarks do not run. Rates are per
second of CPU time.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys

ROUNDS = 5
# What Google Benchmark appends to a name for how it is to be run.
SUFFIX = r"(/(min_time|iterations|repeats):[0-9.]+)*"
VERDICT = {True: "ok", False: "short", None: "-"}


def read_bars(path):
    """The bars of a table, in its order, as dictionaries."""
    names = ("name", "ours", "reference", "measure", "nominal", "bar")
    bars = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            bar = dict(zip(names, line.split("\t"), strict=True))
            bar["bar"] = None if bar["bar"] == "-" else float(bar["bar"])
            bars.append(bar)
    return bars


class BenchmarksFailed(Exception):
    """They did not run to their end, so nothing can be said about any bar."""


def run(binary, wanted):
    """Medians over the rounds: benchmark name -> {"rate": per CPU second, counters...}."""
    exact = "^(" + "|".join(re.escape(name) for name in sorted(wanted)) + f"){SUFFIX}$"
    command = [
        binary,
        f"--benchmark_filter={exact}",
        f"--benchmark_repetitions={ROUNDS}",
        # Most of them set a time of their own; for the others one round is long enough.
        "--benchmark_min_time=0.05",
        "--benchmark_enable_random_interleaving=true",
        "--benchmark_format=json",
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise BenchmarksFailed(f"{done.stderr}the benchmarks ended with status {done.returncode}")
    rounds = {}
    for row in json.loads(done.stdout)["benchmarks"]:
        if row.get("run_type") == "aggregate":
            continue
        if row.get("error_occurred"):
            raise BenchmarksFailed(f"{row['name']}: {row.get('error_message')}")
        rounds.setdefault(re.sub(SUFFIX + "$", "", row["run_name"]), []).append(row)
    missing = sorted(wanted - rounds.keys())
    if missing:
        raise BenchmarksFailed("no such benchmark: " + ", ".join(missing))
    medians = {}
    for name, rows in rounds.items():
        values = {}
        for key in rows[0]:
            if isinstance(rows[0][key], (int, float)):
                values[key] = statistics.median(row[key] for row in rows)
        values["rate"] = values.get("items_per_second", values.get("bytes_per_second"))
        if values["rate"] is None:
            values["rate"] = 1e9 / values["cpu_time"]
        medians[name] = values
    return medians


def judge(bar, medians):
    """(ours, reference or None, value to compare or None, held or None)"""
    ours = medians[bar["ours"]]
    if bar["measure"].startswith("counter:"):
        value = ours[bar["measure"].split(":", 1)[1]]
        return value, None, value, None if bar["bar"] is None else value <= bar["bar"]
    reference = None if bar["reference"] == "-" else medians[bar["reference"]]["rate"]
    if reference is None:
        value = None
    elif bar["measure"] == "absolute":
        value = ours["rate"] * float(bar["nominal"]) / reference
    else:
        value = ours["rate"] / reference
    return ours["rate"], reference, value, None if bar["bar"] is None else value >= bar["bar"]


def show(number):
    if number is None:
        return "-"
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.2f} {unit}"
    return f"{number:.2f}"


def main():
    parser = argparse.ArgumentParser(prog="tailrace bench", description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="bars whose name contains it")
    parser.add_argument("--json", action="store_true", help="one document for machines")
    parser.add_argument("--binary", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--table", type=pathlib.Path, help=argparse.SUPPRESS,
                        default=pathlib.Path(__file__).with_name("bars.tsv"))
    options = parser.parse_args()
    bars = read_bars(options.table)
    if options.names:
        unknown = [name for name in options.names if not any(name in bar["name"] for bar in bars)]
        if unknown:
            parser.error(f"no bar is called {', '.join(unknown)}; they are called "
                         + ", ".join(bar["name"] for bar in bars))
        bars = [bar for bar in bars if any(name in bar["name"] for name in options.names)]
    wanted = {bar[side] for bar in bars for side in ("ours", "reference")} - {"-"}
    try:
        medians = run(options.binary, wanted)
    except BenchmarksFailed as failure:
        print(f"tailrace bench: {failure}", file=sys.stderr)
        return 2
    rows, failed = [], False
    for bar in bars:
        ours, reference, value, held = judge(bar, medians)
        failed |= held is False
        rows.append({"name": bar["name"], "ours": ours, "reference": reference, "value": value,
                     "bar": bar["bar"], "held": held})
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        print(f"{'name':<18} {'ours':>10} {'reference':>10} {'ratio':>9} {'bar':>9}")
        for row in rows:
            print(f"{row['name']:<18} {show(row['ours']):>10} {show(row['reference']):>10} "
                  f"{show(row['value']):>9} {show(row['bar']):>9} {VERDICT[row['held']]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
