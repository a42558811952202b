#!/usr/bin/env python3
"""Runs the benchmarks and holds them against the bars of bars.tsv.

Ours and the reference run in one process, repetition by repetition in random order, and the median
of the repetitions counts: what the machine does to one it does to the other. Prints one line a bar:
name, ours, reference, ratio, bar, and `ok` or `short`. Exit status 1 if any bar is short, 2 on bad
usage. Rates are per second of CPU time.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys

ROUNDS = 5


def read_bars(path):
    """The bars of a table, in its order, as dictionaries."""
    names = ("name", "ours", "reference", "measure", "nominal", "bar")
    bars = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            bar = dict(zip(names, line.split("\t"), strict=True))
            bar["bar"] = float(bar["bar"])
            bars.append(bar)
    return bars


def run(binary, wanted):
    """Medians over the rounds: benchmark name -> {"rate": per CPU second, counters...}."""
    exact = "^(" + "|".join(re.escape(name) for name in sorted(wanted)) + ")(/min_time:[0-9.]+)?$"
    command = [
        binary,
        f"--benchmark_filter={exact}",
        f"--benchmark_repetitions={ROUNDS}",
        "--benchmark_enable_random_interleaving=true",
        "--benchmark_format=json",
    ]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    rounds = {}
    for row in json.loads(out)["benchmarks"]:
        if row.get("run_type") == "aggregate":
            continue
        if row.get("error_occurred"):
            sys.exit(f"{row['name']}: {row.get('error_message')}")
        name = re.sub(r"(/min_time:[0-9.]+|/repeats:\d+)+$", "", row["run_name"])
        rounds.setdefault(name, []).append(row)
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
    """(ours, reference or None, value to compare, held)"""
    ours = medians[bar["ours"]]
    if bar["measure"].startswith("counter:"):
        value = ours[bar["measure"].split(":", 1)[1]]
        return value, None, value, value <= bar["bar"]
    reference = medians[bar["reference"]]["rate"]
    if bar["measure"] == "absolute":
        value = ours["rate"] * float(bar["nominal"]) / reference
    else:
        value = ours["rate"] / reference
    return ours["rate"], reference, value, value >= bar["bar"]


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
    options = parser.parse_args()
    bars = read_bars(pathlib.Path(__file__).with_name("bars.tsv"))
    if options.names:
        bars = [bar for bar in bars if any(name in bar["name"] for name in options.names)]
        if not bars:
            parser.error("no bar has such a name; see tests/benchmarks/bars.tsv")
    wanted = {bar[side] for bar in bars for side in ("ours", "reference")} - {"-"}
    medians = run(options.binary, wanted)
    rows, failed = [], False
    for bar in bars:
        ours, reference, value, held = judge(bar, medians)
        failed |= not held
        rows.append({"name": bar["name"], "ours": ours, "reference": reference, "value": value,
                     "bar": bar["bar"], "held": held})
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        print(f"{'name':<18} {'ours':>10} {'reference':>10} {'ratio':>9} {'bar':>9}")
        for row in rows:
            print(f"{row['name']:<18} {show(row['ours']):>10} {show(row['reference']):>10} "
                  f"{show(row['value']):>9} {show(row['bar']):>9} {'ok' if row['held'] else 'short'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
