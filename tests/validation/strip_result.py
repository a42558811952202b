#!/usr/bin/env python3
"""Reduce results to what a prediction is given and what score.py reads.

    strip_result.py RESULT.json... OUT_DIR

Small enough to be kept: a test compares the numbers of a result before and after.
"""

import json
import sys
from pathlib import Path

import score


def stripped(result):
    """A result with no more than a prediction is given and score.py reads."""
    phases = score.phases_of(result)
    keep = {
        name: result[name]
        for name in ("schema", "id", "config", "flink", "inputs", "time", "events", "failures")
    }
    oversleep = result["environment"]["parkOversleepUs"]
    keep["environment"] = {
        "flinkVersion": result["environment"]["flinkVersion"],
        "parkOversleepUs": oversleep,
    }
    keep["jobs"] = [
        {
            "checkpoints": {
                "history": [
                    {
                        **{
                            name: c[name]
                            for name in (
                                "savepoint", "triggerEpochMs", "status", "endToEndMs",
                                "checkpointedBytes", "stateBytes", "processedInFlightBytes",
                                "persistedInFlightBytes",
                            )  # fmt: skip
                        },
                        "vertices": [
                            {"vertex": v["vertex"], "subtasks": [row[:7] for row in v["subtasks"]]}
                            for v in c.get("vertices", [])
                        ],
                    }
                    for c in job["checkpoints"]["history"]
                ]
            }
        }
        for job in result["jobs"]
    ]
    keep["throughput"] = {
        "series": [s for s in result["throughput"]["series"] if s["vertex"] == "sink"]
    }
    wanted = set()
    for begin, end in phases:
        wanted.update(score.overlap_windows(result, begin, end))
    keep["latency"] = {
        "windows": [
            {name: w[name] for name in ("w", "n", "mean", "p99")}
            for w in result["latency"]["windows"]
            if w["w"] in wanted
        ]
    }
    keep["attempts"] = [
        {name: a[name] for name in ("vertex", "firstRecordEpochMs", "caughtUpEpochMs")}
        for a in result["attempts"]
    ]
    keep["shardRestores"] = [
        {name: s[name] for name in ("epochMs", "replayed")} for s in result["shardRestores"]
    ]
    metrics = ("accumulateBusyTimeMs", "accumulateBackPressuredTimeMs")
    keep["metrics"] = {
        "epochMs": result["metrics"]["epochMs"],
        "series": [s for s in result["metrics"]["series"] if s["metric"] in metrics],
    }
    return keep


def dump(result):
    """The text of a result file, a member a line."""
    lines = [f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in result.items()]
    return "{" + ",\n".join(lines) + "}\n"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    out = Path(sys.argv[-1])
    for path in map(Path, sys.argv[1:-1]):
        result = json.loads(path.read_text(encoding="utf-8"))
        (out / path.name).write_text(dump(stripped(result)), encoding="utf-8")


if __name__ == "__main__":
    main()
