#!/usr/bin/env python3
"""Predict every experiment of a folder of results.

    predict.py REAL_DIR OUT_DIR [--only REGEX] [--program TAILRACE]

For each REAL_DIR/<id>.json: the scenario of the experiment (lab_scenario.py, which reads nothing
that was measured), some runs of Tailrace that differ in their seeds, of which the most typical one
counts, and OUT_DIR/<id>.json in the schema of a result, as far as
score.py reads it. Times are whole milliseconds where Flink's are; they count from the begin of the
run. One run at a time; equal input gives equal files. A run that cannot be predicted is reported and
left out, and the exit status is 1. Python 3 standard library only.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import lab_scenario
import score

PROGRAM = Path(__file__).resolve().parents[2] / "build" / "release" / "scenarios" / "tailrace"
WINDOW_MS = 1000
# Runs of each experiment, with different seeds.
DRAWS = 5
T0_MS = int(lab_scenario.T0_MS)
# A run takes seconds; one that takes so long will not end.
PATIENCE_S = 900

SUBTASK_COLUMNS = [
    "subtask", "ackEpochMs", "endToEndMs", "startDelayMs", "alignmentMs", "syncMs", "asyncMs",
    "checkpointedBytes", "stateBytes", "processedInFlightBytes", "persistedInFlightBytes",
    "unaligned", "completed",
]  # fmt: skip


class CannotPredict(Exception):
    """Why a run has no prediction."""


def ms(at_s):
    """Milliseconds of a time in seconds; None stays None."""
    return None if at_s is None else round(at_s * 1000, 6)


# --- a document of Tailrace in the schema of a result -------------------------------------------------


def names_of_vertices(series):
    """Job vertex id: the operator at the head of its chain."""
    return {
        vertex["id"]: vertex["operators"][0]
        for submission in series["submissions"]
        for vertex in submission["vertices"]
    }


def subtask_row(subtask):
    """One row of SUBTASK_COLUMNS; a subtask that has not reported has no times."""
    if subtask["status"] == "pending" or "ack_timestamp" not in subtask:
        return [subtask["index"]] + [None] * 10 + [False, False]
    alignment = subtask["alignment"]
    return [
        subtask["index"],
        subtask["ack_timestamp"],
        subtask["end_to_end_duration"],
        subtask.get("start_delay", 0),
        alignment["duration"],
        subtask["checkpoint"]["sync"],
        subtask["checkpoint"]["async"],
        subtask.get("checkpointed_size", subtask["state_size"]),
        subtask["state_size"],
        alignment.get("processed", 0),
        alignment.get("persisted", 0),
        subtask.get("unaligned_checkpoint", False),
        subtask["status"] == "completed",
    ]


def checkpoint(statistics, names):
    """One checkpoint of the history."""
    return {
        "id": statistics["id"],
        "status": statistics["status"],
        "savepoint": statistics["is_savepoint"],
        "triggerEpochMs": statistics["trigger_timestamp"],
        "lastAckEpochMs": statistics["latest_ack_timestamp"],
        "endToEndMs": statistics["end_to_end_duration"],
        "acknowledged": statistics["num_acknowledged_subtasks"],
        "subtasks": statistics["num_subtasks"],
        "checkpointedBytes": statistics.get("checkpointed_size", statistics["state_size"]),
        "stateBytes": statistics["state_size"],
        "processedInFlightBytes": statistics.get("processed_data", 0),
        "persistedInFlightBytes": statistics.get("persisted_data", 0),
        "vertices": [
            {
                "vertex": names[vertex],
                "acknowledged": task["num_acknowledged_subtasks"],
                "subtasks": [subtask_row(subtask) for subtask in task["subtasks"]],
            }
            for vertex, task in statistics["tasks"].items()
        ],
    }


def jobs(document):
    """One entry for each submission, with the checkpoints that were triggered while it was there."""
    series = document["series"]
    names = names_of_vertices(series)
    submissions = series["submissions"]
    begins = [ms(s["submitted_s"]) for s in submissions[1:]] + [float("inf")]
    entries = []
    history = [checkpoint(c, names) for c in document["checkpoint_history"]]
    begin = float("-inf")
    for index, (submission, end) in enumerate(zip(submissions, begins)):
        entries.append(
            {
                "job": index,
                "parallelism": {
                    names[v["id"]]: v["parallelism"] for v in submission["vertices"]
                },
                "submittedEpochMs": ms(submission["submitted_s"]),
                "allRunningEpochMs": ms(submission["running_s"]),
                "checkpoints": {
                    "subtaskColumns": SUBTASK_COLUMNS,
                    "history": [c for c in history if begin <= c["triggerEpochMs"] < end],
                },
            }
        )
        begin = end
    return entries


def events(config, document):
    """What the experiment did, with the stamps of its rescales."""
    rescales = iter(document["rescale_list"])
    entries = []
    for event in sorted(config.get("events") or [], key=lambda e: e["atSec"]):
        at = T0_MS + event["atSec"] * 1000
        entry = {**event, "startEpochMs": at, "endEpochMs": at, "error": None}
        if event["type"] == "rescale":
            row = next(rescales, {})
            stamps = {
                "stopCalledEpochMs": ms(row.get("requested_s")),
                "savepointReadyEpochMs": ms(row.get("savepoint_ready_s")),
                "stoppedEpochMs": ms(row.get("stopped_s")),
                "submittedEpochMs": ms(row.get("submitted_s")),
                "runningEpochMs": ms(row.get("running_s")),
            }
            entry.update(stamps)
            if None in stamps.values():
                entry["error"] = "did not end within the run"
            else:
                entry["endEpochMs"] = stamps["runningEpochMs"]
        entries.append(entry)
    return entries


def failures(config, series):
    """Failures that the experiment asked for, when the subtask threw."""
    thrown = []
    left = list(series["failures"])
    for event in sorted(config.get("events") or [], key=lambda e: e["atSec"]):
        if event["type"] != "fail":
            continue
        at = T0_MS + event["atSec"] * 1000
        for failure in left:
            place = (failure["operator"], failure["subtask"])
            if place == (event["vertex"], event["subtask"]) and ms(failure["at_s"]) >= at:
                thrown.append(
                    {"vertex": place[0], "subtask": place[1], "thrownEpochMs": ms(failure["at_s"])}
                )
                left.remove(failure)
                break
    return thrown


def result(config, document):
    """A result as far as score.py reads it.

    Parameters
    ----------
    config : dict
        The experiment.
    document : dict
        What ``tailrace run --json --series 1s`` printed.
    """
    series = document["series"]
    end_ms = ms(float(document["virtual_time_s"]))
    windows = -(-int(end_ms) // WINDOW_MS)
    by_window = {}
    for sink in series["latency"]:
        for window in sink["windows"]:
            if window["w"] in by_window:
                raise CannotPredict("two sinks: the schema has one latency")
            by_window[window["w"]] = window
    return {
        "schema": 1,
        "id": config["id"],
        "ok": document["finished"] == "duration",
        "endedEarly": document["finished"] != "duration",
        "config": config,
        "time": {"baseEpochMs": 0, "t0EpochMs": T0_MS, "endEpochMs": end_ms},
        "events": events(config, document),
        "jobs": jobs(document),
        "throughput": {
            "windowMs": WINDOW_MS,
            "series": [
                {
                    "vertex": row["operator"],
                    "subtask": row["subtask"],
                    "total": row["total"],
                    "perSecond": (row["records"] + [0] * windows)[:windows],
                }
                for row in series["throughput"]
            ],
        },
        "latency": {
            "unit": "us",
            "windowMs": WINDOW_MS,
            "windows": [
                {
                    "w": w,
                    "n": row["n"],
                    "mean": row["mean_us"],
                    "p50": row["p50_us"],
                    "p99": row["p99_us"],
                    "max": row["max_us"],
                }
                for w, row in sorted(by_window.items())
            ],
        },
        "attempts": [
            {
                "vertex": row["operator"],
                "subtask": row["subtask"],
                "attempt": row["attempt"],
                "initialiseStateEpochMs": ms(row["initialised_s"]),
                "openedEpochMs": ms(row["opened_s"]),
                "firstRecordEpochMs": ms(row["first_record_s"]),
                "caughtUpEpochMs": ms(row["caught_up_s"]),
            }
            for row in series["attempts"]
        ],
        "failures": failures(config, series),
        "shardRestores": [
            {
                "shard": row["partition"],
                "epochMs": ms(row["at_s"]),
                "fromSeq": row["from"],
                "emittedBefore": row["from"] + row["records"],
                "replayed": row["records"],
            }
            for row in series["replays"]
        ],
        "metrics": {
            "epochMs": [(w + 1) * WINDOW_MS for w in range(series["windows"])],
            "series": [
                {
                    "vertex": row["operator"],
                    "subtask": row["subtask"],
                    "metric": row["metric"],
                    "values": row["values"],
                }
                for row in series["metrics"]
            ],
        },
    }


# --- running ------------------------------------------------------------------------------------------


def run(program, scenario, folder):
    """The document of a scenario. Raises CannotPredict with what the program said."""
    path = Path(folder) / "scenario.yaml"
    path.write_text(scenario, encoding="utf-8")
    try:
        done = subprocess.run(
            [program, "run", path, "--json", "--series", f"{WINDOW_MS}ms", "--quiet"],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CannotPredict(f"did not end within {PATIENCE_S} s") from None
    # 1: an event of the timeline hit nothing, say. The run is complete.
    if done.returncode not in (0, 1):
        said = done.stderr.strip().replace(str(path), "scenario") or f"status {done.returncode}"
        raise CannotPredict(said)
    return json.loads(done.stdout), done.stderr.strip()


def most_typical(config, draws):
    """The draw whose numbers are nearest to those of all others.

    Chance decides more than `inputs` fixes: which channel a task fills first, and which of its sleeps
    last longer. One draw of it can be as far from another as two real runs are; the one in their midst
    is what to expect.
    """
    numbers = [score.numbers({**draw, "config": config}) for draw in draws]

    def distance(one, other):
        total = 0.0
        for name, (value, kind) in other.items():
            floor = score.FLOORS[kind][0]
            near = abs(one[name][0] - value) / max(abs(value), floor) if name in one else 1.0
            total += min(near, 1.0)
        return total

    sums = [sum(distance(one, other) for other in numbers) for one in numbers]
    return draws[sums.index(min(sums))]


def predict(given, program, folder, draws):
    """The predicted result of an experiment, and notes."""
    scenario, notes = lab_scenario.convert(given)
    seeded = f"\nseed: {lab_scenario.SEED}\n"
    results = []
    for draw in range(draws):
        text = scenario.replace(seeded, f"\nseed: {lab_scenario.SEED + draw}\n", 1)
        document, said = run(program, text, folder)
        results.append(result(given["config"], document))
    notes += said.splitlines()
    return most_typical(given["config"], results), notes


def experiments(folder, only):
    """Paths of the results of a folder, in the order of their ids."""
    for path in sorted(Path(folder).glob("*.json")):
        if path.name in ("environment.json", "experiments.json"):
            continue
        if not only or re.search(only, path.stem):
            yield path


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("real", metavar="REAL_DIR")
    parser.add_argument("out", metavar="OUT_DIR")
    parser.add_argument("--only", metavar="REGEX", help="only ids that match")
    parser.add_argument("--program", default=PROGRAM, help="tailrace; by default the release build's")
    parser.add_argument(
        "--draws", type=int, default=DRAWS, help=f"runs, of which the most typical counts ({DRAWS})"
    )
    parser.add_argument("--keep-scenarios", action="store_true", help="write <id>.yaml, too")
    args = parser.parse_args()
    if args.draws < 1:
        sys.exit("predict.py: --draws: at least 1")
    if not Path(args.program).is_file():
        sys.exit(f"predict.py: there is no program {args.program}; build it or name it: --program")
    paths = list(experiments(args.real, args.only))
    if not paths:
        sys.exit(f"predict.py: no results in {args.real}")
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for index, path in enumerate(paths):
            if sys.stderr.isatty():
                print(f"\r\x1b[K{index + 1}/{len(paths)} {path.stem}", end="", file=sys.stderr)
            given = {
                name: member
                for name, member in json.loads(path.read_text(encoding="utf-8")).items()
                if name in lab_scenario.GIVEN
            }
            try:
                if args.keep_scenarios:
                    scenario, _ = lab_scenario.convert(given)
                    (out / f"{path.stem}.yaml").write_text(scenario, encoding="utf-8")
                predicted, notes = predict(given, args.program, folder, args.draws)
            except CannotPredict as reason:
                failed += 1
                print(f"{path.stem}: not predicted: {reason}", file=sys.stderr)
                continue
            for note in notes:
                print(f"{path.stem}: {note}", file=sys.stderr)
            with open(out / f"{path.stem}.json", "w", encoding="utf-8") as file:
                json.dump(predicted, file, separators=(",", ":"))
                file.write("\n")
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
