#!/usr/bin/env python3
"""Turn one experiment of the lab into a scenario.

    lab_scenario.py RESULT.json > scenario.yaml

Reads what a prediction is given: the members ``config``, ``flink`` and ``inputs`` of a result, and nothing that was measured. What the language of scenarios cannot say is stated as
near as possible, with a note on stderr. Python 3 standard library only.
"""

import argparse
import json
import re
import sys
from decimal import Decimal

# What a prediction is given. Everything else in a result was measured.
GIVEN = ("config", "flink", "inputs")

# Virtual time at which the sources are released (the lab's t0). The lab's windows begin when its cluster
# is up, some 0.2 to 0.5 s before all tasks run; which of them hold a change depends on that.
T0_MS = Decimal(300)

PROFILE = "flink-minicluster"
FLINK_VERSION = "1.20"
SEED = 1

# What a task manager of the lab needs to start one more task: the median over 120 slots of the shared
# runs (first to last stamp of a slot, by its number of tasks) is 2.3 ms.
TASK_START_MS = Decimal(2)

# Defaults of an experiment, from the lab's description.
MAX_PARALLELISM = 128
SHARDS = 12
PARK_US = 300

# Cores of a modelled machine: records cost time and not CPU, so cores must never be short.
CORES = 16

# From the call to deploy a task until its thread begins, with the lab's cores for itself. Real runs: 8 tasks
# of 2 task managers begin 3 to 22 ms, 16 tasks of 4 task managers 15 to 52 ms after DEPLOYING.
DEPLOYMENT_MS = Decimal("2.5")

# Cores of the lab's machine, which Flink's pools are made for.
LAB_CORES = 2

# Bytes per second of a storage that has no limit.
UNLIMITED = 10**12

# Options of the lab's own plumbing: where it writes, what it records, what its REST keeps.
PLUMBING = re.compile(
    r"metrics\.|traces\.|process\.working-dir$|io\.tmp\.dirs$|state\.checkpoints\.dir$"
    r"|state\.savepoints\.dir$|state\.checkpoint-storage$"
    r"|jobmanager\.execution\.attempts-history-size$"
)


class Given:
    """One result, of which only the given members can be read."""

    def __init__(self, result):
        self._members = {name: result.get(name) for name in GIVEN}

    def __getitem__(self, name):
        return self._members[name]


# --- values -----------------------------------------------------------------------------------------


def number(value):
    """A number without exponent and without zeros at the end."""
    return format(Decimal(str(value)).normalize(), "f")


def milliseconds(value):
    """A duration, exact to the nanosecond."""
    return number(Decimal(str(value)).quantize(Decimal("0.000001"))) + "ms"


def seconds(value):
    """A duration, exact to the nanosecond."""
    return number(Decimal(str(value)).quantize(Decimal("0.000000001"))) + "s"


def microseconds(value):
    """A duration, exact to the nanosecond."""
    return number(Decimal(str(value)).quantize(Decimal("0.001"))) + "us"


def after_t0(at_s):
    """Virtual time of a moment that the experiment states in seconds after t0."""
    return seconds(T0_MS / 1000 + Decimal(str(at_s)))


def thousandths(value):
    """A number as exact as the language has it."""
    return number(Decimal(str(value)).quantize(Decimal("0.001")))


class Quoted(str):
    """Text that people would read as a number."""


def flow(value):
    """YAML in flow style. Strings that are more than a word are quoted."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(v) for v in value) + "]"
    if value is None:
        return "~"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if isinstance(value, Quoted):
        return json.dumps(text)
    return text if re.fullmatch(r"[A-Za-z0-9_./%-]+", text) else json.dumps(text)


# --- the experiment ---------------------------------------------------------------------------------


class Converter:
    """Makes the scenario of one experiment; `notes` say what the language could not."""

    def __init__(self, given):
        self.given = given
        self.config = given["config"]
        self.job = self.config["job"]
        self.notes = []

    def note(self, text):
        self.notes.append(text)

    def scenario(self):
        """The text of the scenario file."""
        job = [f"  max_parallelism: {self.job.get('maxParallelism', MAX_PARALLELISM)}", "  operators:"]
        for operator in self.operators():
            job.append(f"    - id: {operator.pop('id')}")
            job += [f"      {key}: {flow(value)}" for key, value in operator.items()]
        lines = [
            "tailrace: 1",
            f"name: {flow(self.config['id'])}",
            f"about: {json.dumps(self.config.get('purpose', ''))}",
            f"seed: {SEED}",
            f"duration: {after_t0(self.config['durationSec'])}",
            "end: cut",
            f"profile: {PROFILE}",
        ]
        lines += self.section("pin", self.pins())
        lines += self.section("cluster", self.cluster())
        lines += ["job:", *job]
        lines += self.section("flink", self.flink())
        lines += self.section("costs", self.costs())
        timeline = self.timeline()
        if timeline:
            lines += ["timeline:"] + [f"  - {flow(entry)}" for entry in timeline]
        return "\n".join(lines) + "\n"

    @staticmethod
    def section(name, entries):
        return [f"{name}:"] + [f"  {flow(k)}: {flow(v)}" for k, v in entries.items()] if entries else []

    # --- what chance decided

    def pins(self):
        inputs = self.given["inputs"] or {}
        pins = {}
        triggers = inputs.get("firstTriggersMs") or []
        if triggers:
            # "None came" before the end, or before the next start: none may come here.
            never = after_t0(self.config["durationSec"])
            pins["first_triggers"] = [
                never if t is None else milliseconds(T0_MS + Decimal(str(t))) for t in triggers
            ]
        starts = {}
        for row, at_ms in self.task_starts(inputs.get("taskStarts") or []):
            at = max(T0_MS + at_ms, Decimal(0))
            starts.setdefault(f"{row[1]}[{row[2]}]", []).append(milliseconds(at))
        if starts:
            pins["task_starts"] = starts
        return pins

    def task_starts(self, rows):
        """When each task started, in ms after t0, in the order of jobs and attempts.

        A task manager starts its tasks one after another in the order of the vertices. The stamps are
        the job manager's, which hears of several at once: a task whose stamp is too close to the next
        one's, or behind it, started before.
        """
        vertices = ["source"] + [stage["name"] for stage in self.job["stages"]]
        slots = {}
        for row in rows:
            if row[4] is not None:
                job, vertex, subtask, attempt, _ = row
                slots.setdefault((job, attempt, subtask), []).append((vertices.index(vertex), row))
        starts = []
        for slot in sorted(slots):
            later = None
            tasks = []
            for _, row in sorted(slots[slot], reverse=True):
                at = Decimal(str(row[4]))
                later = at if later is None else min(at, later - TASK_START_MS)
                tasks.append((row, later))
            starts += reversed(tasks)
        return starts

    # --- machines

    def cluster(self):
        cluster = self.config["cluster"]
        machines = {
            "task_managers": {
                "count": cluster["taskManagers"],
                "slots": cluster["slotsPerTaskManager"],
                "cores": CORES,
            }
        }
        storage = self.config.get("storage") or {}
        if storage.get("kind") == "throttled":
            # No limit is as much as the language knows.
            limits = {
                key: storage.get(f"{key}BytesPerSec") or UNLIMITED for key in ("write", "read")
            }
            machines["checkpoint_storage"] = {
                **{key: f"{number(limit)}B/s" for key, limit in limits.items()},
                "per_connection": f"{UNLIMITED}B/s",
                "request_latency": milliseconds(storage.get("requestLatencyMs") or 0),
            }
            if storage.get("metaLatencyMs"):
                self.note("storage.metaLatencyMs: listing and asking for files is not modelled")
        return machines

    def costs(self):
        # Task managers of one JVM share its cores when they deploy.
        deployment = DEPLOYMENT_MS * self.config["cluster"]["taskManagers"]
        return {
            "threads": {"park": microseconds(self.config.get("parkUs", PARK_US))},
            "task_deployment": milliseconds(deployment),
        }

    # --- the job

    def operators(self):
        source = self.job["source"]
        operators = [
            {
                "id": "source",
                "kind": "source",
                "from": {"shards": source.get("shards", SHARDS)},
                "size": f"{source['recordBytes']}B",
                "rate": self.rate(),
                "keys": self.keys(),
                "parallelism": source["parallelism"],
            }
        ]
        if source.get("costUs"):
            operators[0]["service"] = microseconds(source["costUs"])
        stages = self.job["stages"]
        for index, stage in enumerate(stages):
            operator = {"id": stage["name"]}
            state = stage.get("state")
            last = index + 1 == len(stages)
            if last:
                operator["kind"] = "sink"
                if state:
                    self.note(f"{stage['name']}: a sink has no keyed state here")
            elif state:
                operator["kind"] = "keyed"
                operator["do"] = "update"
            else:
                operator["kind"] = "map"
                operator["do"] = "identity"
            operator["input"] = stages[index - 1]["name"] if index else "source"
            operator["by"] = stage["exchange"]
            operator["parallelism"] = stage["parallelism"]
            if last:
                operator["guarantee"] = "at_least_once"
            if operator["kind"] == "keyed":
                operator["state"] = {
                    "per_key": f"{state['bytesPerKey']}B",
                    "preload": bool(state.get("preload", False)),
                    "update": f"{number(self.percent(state.get('updateFraction', 1)))}%",
                }
            operator["service"] = microseconds(stage.get("costUs") or 0)
            operators.append(operator)
        return operators

    def rounded(self, name, value):
        """A number in thousandths, with a note if it has more decimals."""
        text = thousandths(value)
        if Decimal(text) != Decimal(str(value)):
            self.note(f"{name}: {value} is taken as {text}")
        return text

    def percent(self, share):
        """A share in percent with at most four decimals, the language's parts per million."""
        return (Decimal(str(share)) * 100).quantize(Decimal("0.0001"))

    def keys(self):
        keys = self.job["source"]["keys"]
        said = {"distribution": keys.get("distribution", "balanced"), "count": keys["count"]}
        if keys.get("active") is not None:
            said["active"] = keys["active"]
        if said["distribution"] == "zipf":
            said["exponent"] = self.rounded("exponent", keys.get("exponent", 1))
        return said

    def rate(self):
        source = self.job["source"]
        if source.get("totalRate") is not None:
            total = Decimal(str(source["totalRate"]))
        else:
            total = Decimal(str(source.get("ratePerSubtask") or 0)) * source["parallelism"]

        def step(at_s, factor):
            rate = total * factor
            return [after_t0(at_s), f"{number(rate)}/s" if total else "max"]

        steps = [["0s", "0/s"], step(0, 1)]
        for event in self.events("rate"):
            if not total:
                self.note("rate: a source without a limit has no faster or slower")
                continue
            changed = step(event["atSec"], Decimal(str(event["factor"])))
            if changed[0] == steps[-1][0]:
                steps.pop()
            steps.append(changed)
        return steps

    # --- Flink

    def flink(self):
        said = {"version": Quoted(FLINK_VERSION)}
        for key, value in sorted((self.given["flink"] or {}).items()):
            if PLUMBING.match(key):
                continue
            if key in ("state.backend.type", "state.backend") and value == "rocksdb":
                self.note("rocksdb is not modelled: its state is kept on the heap")
                value = "hashmap"
            said[key] = value
        # Flink's defaults that the language does not have: a pool as large as the machine, and a delay.
        said.setdefault("jobmanager.io-pool.size", LAB_CORES)
        said.setdefault("slotmanager.requirement-check.delay", "50 ms")
        return said

    # --- what happens

    def events(self, *kinds):
        """Events of some kinds, in order of time."""
        chosen = [e for e in self.config.get("events") or [] if e["type"] in kinds]
        return sorted(chosen, key=lambda e: e["atSec"])

    def timeline(self):
        entries = self.slow_downs() + self.storage_limits() + self.kills()
        for event in self.events("fail", "checkpoint", "savepoint", "rescale"):
            at = event["atSec"]
            kind = event["type"]
            if kind == "fail":
                target = {"operator": event["vertex"], "subtask": event["subtask"]}
                entries.append((at, {"fail": target}))
            elif kind == "rescale":
                entries.append((at, {"rescale": event["parallelism"]}))
            else:
                entries.append((at, {kind: None}))
            if event.get("format"):
                self.note(f"{kind}: the format is not a choice here")
        known = ("cost", "rate", "storage", "killTaskManager", "startTaskManager")
        known += ("fail", "checkpoint", "savepoint", "rescale")
        for event in self.config.get("events") or []:
            if event["type"] not in known:
                self.note(f"{event['type']}: unknown, left out")
        entries.sort(key=lambda entry: entry[0])
        return [{"at": after_t0(at), **entry} for at, entry in entries]

    def largest_parallelism(self, vertex):
        stages = {s["name"]: s["parallelism"] for s in self.job["stages"]}
        stages["source"] = self.job["source"]["parallelism"]
        changed = [e["parallelism"].get(vertex, 1) for e in self.events("rescale")]
        return max([stages[vertex], *changed])

    def slow_downs(self):
        """Costs times a factor: of each subtask from an event to the next one that sets it."""
        entries = []
        for vertex in sorted({e["vertex"] for e in self.events("cost")}):
            subtasks = range(self.largest_parallelism(vertex))
            spans = {}  # (begin, end, factor): subtasks
            for subtask in subtasks:
                hits = [
                    (e["atSec"], Decimal(str(e["factor"])))
                    for e in self.events("cost")
                    if e["vertex"] == vertex and e.get("subtask", -1) in (-1, subtask)
                ]
                ends = [at for at, _ in hits[1:]] + [None]
                for (begin, factor), end in zip(hits, ends):
                    if factor != 1 and begin != end:
                        spans.setdefault((begin, end, factor), []).append(subtask)
            for (begin, end, factor), hit in spans.items():
                lasts = {} if end is None else {"for": seconds(Decimal(str(end)) - Decimal(str(begin)))}
                if len(hit) == len(subtasks):
                    targets = [{"operator": vertex}]
                else:
                    targets = [{"operator": vertex, "subtask": subtask} for subtask in hit]
                for target in targets:
                    slow = {**target, "factor": self.rounded("factor", factor)}
                    entries.append((begin, {"slow": slow, **lasts}))
        return entries

    def storage_limits(self):
        """New limits of the storage, as what is different from those of the beginning."""
        limits = dict(self.config.get("storage") or {})
        first = dict(limits)
        entries = []
        events = self.events("storage")
        for event, after in zip(events, events[1:] + [None]):
            limits.update({k: v for k, v in event.items() if k not in ("atSec", "type")})
            trouble = {}
            if limits.get("failWrites"):
                trouble["full"] = True
            before, now = (x.get("writeBytesPerSec") or 0 for x in (first, limits))
            if before != now:
                if before and now:
                    trouble["slow"] = number(round(Decimal(str(before)) / Decimal(str(now)), 3))
                else:
                    self.note("storage: a limit where there was none, or none where there was one")
            if (limits.get("readBytesPerSec") or 0) != (first.get("readBytesPerSec") or 0):
                self.note("storage: readers are slowed down as writers are")
            more = (limits.get("requestLatencyMs") or 0) - (first.get("requestLatencyMs") or 0)
            if more > 0:
                trouble["latency"] = milliseconds(more)
            elif more < 0:
                self.note("storage: requests cannot become faster")
            if not trouble:
                continue
            entry = {"storage": trouble}
            if after is not None:
                span = Decimal(str(after["atSec"])) - Decimal(str(event["atSec"]))
                if span <= 0:
                    continue
                entry["for"] = seconds(span)
            entries.append((event["atSec"], entry))
        return entries

    def kills(self):
        """Task managers that leave, until they are started again."""
        entries = []
        for event in self.events("killTaskManager"):
            entry = {"kill": {"task_manager": event["index"]}}
            back = [
                e["atSec"]
                for e in self.events("startTaskManager")
                if e.get("index", event["index"]) == event["index"] and e["atSec"] >= event["atSec"]
            ]
            if back:
                entry["back_after"] = seconds(Decimal(str(min(back))) - Decimal(str(event["atSec"])))
            self.note("killTaskManager: the process ends; it does not say goodbye first")
            entries.append((event["atSec"], entry))
        return entries


def convert(result):
    """The scenario of a result, and notes on what it could not say.

    Returns
    -------
    tuple of (str, list of str)
    """
    converter = Converter(Given(result))
    text = converter.scenario()
    return text, converter.notes


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("result", metavar="RESULT.json")
    args = parser.parse_args()
    with open(args.result, encoding="utf-8") as file:
        text, notes = convert(json.load(file))
    sys.stdout.write(text)
    for line in notes:
        print(f"note: {line}", file=sys.stderr)


if __name__ == "__main__":
    main()
