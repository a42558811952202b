#!/usr/bin/env python3
"""Draws one run as an SVG picture: checkpoints over time, restarts and rescales.

    tailrace run SCENARIO --json | analysis/run_picture.py > run.svg

The picture depends on nothing but the document: equal runs give equal bytes.
"""
import json
import math
import sys
from xml.sax.saxutils import escape

WIDTH = 960
LEFT, RIGHT = 72, 936
NOTE_LINE = 15

INK = "#1f2937"
MUTED = "#6b7280"
GRID = "#e5e7eb"
BLUE = "#2563eb"
LIGHT_BLUE = "#93c5fd"
RED = "#dc2626"
VIOLET = "#7c3aed"


def number(value):
    """A coordinate with at most two decimals, the same on every machine."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def milliseconds(value):
    if value < 1000:
        return f"{value:.0f} ms"
    return f"{value / 1000:.1f} s"


class Picture:
    def __init__(self, run):
        self.run = run
        self.parts = []
        self.notes = self._place_notes()
        rows = 1 + max((note["row"] for note in self.notes), default=-1)
        self.top = 66 + rows * (3 * NOTE_LINE + 8)
        self.bottom = self.top + 210
        self.height = self.bottom + 74
        durations = [c["duration_ms"] for c in run["checkpoint_list"] if c["duration_ms"]]
        self.low = 10 ** math.floor(math.log10(min(durations, default=10)))
        self.high = 2 * max(durations, default=1000)

    # --- scales -------------------------------------------------------------------------------

    @property
    def end_s(self):
        return max(self.run["virtual_time_s"], 1e-9)

    def x(self, seconds):
        return LEFT + (RIGHT - LEFT) * seconds / self.end_s

    def y(self, duration_ms):
        share = math.log(max(duration_ms, self.low) / self.low) / math.log(self.high / self.low)
        return self.bottom - (self.bottom - self.top) * share

    def step_s(self):
        """A round distance between ticks that gives five to twelve of them."""
        raw = self.end_s / 12
        magnitude = 10 ** math.floor(math.log10(raw))
        return next(magnitude * step for step in (1, 2, 5, 10) if magnitude * step >= raw)

    # --- notes on what went wrong or was changed -------------------------------------------------

    def _place_notes(self):
        notes = []
        for restart in self.run["restart_list"]:
            source = restart["restored_checkpoint"]
            notes.append(
                {
                    "from": restart["failed_s"],
                    "to": restart["running_s"],
                    "colour": RED,
                    "title": "failure and restart",
                    "lines": [
                        "from the start" if source is None else f"from checkpoint {source}",
                        f"{restart['records_replayed']} records replayed",
                    ],
                    "down_ms": restart["downtime_ms"],
                }
            )
        for rescale in self.run["rescale_list"]:
            notes.append(
                {
                    "from": rescale["requested_s"],
                    "to": rescale["running_s"],
                    "colour": VIOLET,
                    "title": "rescale " + rescale["what"].split(",")[0].replace("->", "\u2192"),
                    "lines": [
                        "without a savepoint"
                        if rescale["savepoint"] is None
                        else f"through savepoint {rescale['savepoint']}",
                        f"{rescale['records_in_flight']} records in flight",
                    ],
                    "down_ms": rescale["downtime_ms"],
                }
            )
        notes.sort(key=lambda note: note["from"])
        ends = []  # of the last note of each row
        for note in notes:
            note["title"] += (
                ", never running again"
                if note["down_ms"] is None
                else f", {milliseconds(note['down_ms'])} down"
            )
            longest = max([note["title"], *note["lines"]], key=len)
            width = 6.4 * len(longest) + 14
            note["x"] = min(self.x(note["from"]), RIGHT - width)
            row = next((i for i, end in enumerate(ends) if end <= note["x"]), len(ends))
            if row == len(ends):
                ends.append(0)
            ends[row] = note["x"] + width
            note["row"] = row
        return notes

    # --- drawing ----------------------------------------------------------------------------------

    def text(self, x, y, text, size=12, colour=INK, anchor="start", weight="normal"):
        self.parts.append(
            f'<text x="{number(x)}" y="{number(y)}" font-size="{size}" fill="{colour}" '
            f'text-anchor="{anchor}" font-weight="{weight}">{escape(text)}</text>'
        )

    def line(self, x1, y1, x2, y2, colour, width=1.0, dash=""):
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}" '
            f'stroke="{colour}" stroke-width="{width}"{dashes}/>'
        )

    def rectangle(self, x, y, width, height, colour, opacity=1.0):
        self.parts.append(
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" '
            f'height="{number(height)}" fill="{colour}" fill-opacity="{opacity}"/>'
        )

    def axes(self):
        duration = self.low
        while duration <= self.high:
            for step in (1, 2, 5):
                value = duration * step
                if self.low <= value <= self.high:
                    self.line(LEFT, self.y(value), RIGHT, self.y(value), GRID)
                    self.text(LEFT - 8, self.y(value) + 4, milliseconds(value), 11, MUTED, "end")
            duration *= 10
        step, tick = self.step_s(), 0
        while tick * step <= self.end_s * 1.0001:
            x = self.x(tick * step)
            self.line(x, self.bottom, x, self.bottom + 5, MUTED)
            label = f"{tick * step:g}" + (" s" if tick == 0 else "")
            self.text(x, self.bottom + 19, label, 11, MUTED, "middle")
            tick += 1
        self.line(LEFT, self.bottom, RIGHT, self.bottom, MUTED)

    def draw_notes(self):
        for note in self.notes:
            x, end = self.x(note["from"]), self.end_s if note["to"] is None else note["to"]
            top = 62 + note["row"] * (3 * NOTE_LINE + 8)
            self.rectangle(
                x, self.top, max(self.x(end) - x, 2), self.bottom - self.top, note["colour"], 0.13
            )
            self.line(x, top - 2, x, self.bottom, note["colour"], 1.2, "4 3")
            self.text(note["x"] + 6, top + 9, note["title"], 12, note["colour"], weight="bold")
            for i, line in enumerate(note["lines"], 1):
                self.text(note["x"] + 6, top + 9 + i * NOTE_LINE, line, 11.5, MUTED)

    def checkpoints(self):
        for row in self.run["checkpoint_list"]:
            if row["duration_ms"] is None:
                continue
            x, y = self.x(row["triggered_s"]), self.y(row["duration_ms"])
            if row["status"] == "failed":
                self.line(x, self.bottom, x, y, RED, 1.2)
                for slope in (-1, 1):
                    self.line(x - 4.5, y - slope * 4.5, x + 4.5, y + slope * 4.5, RED, 2.2)
                continue
            if row["alignment_max_ms"] > self.low:
                self.line(x, self.bottom, x, self.y(row["alignment_max_ms"]), LIGHT_BLUE, 7)
            self.line(x, self.bottom, x, y, BLUE, 1.2)
            if row["kind"] == "savepoint":
                self.parts.append(
                    f'<path d="M{number(x)} {number(y - 6)} l6 6 l-6 6 l-6 -6 z" fill="{VIOLET}"/>'
                )
            else:
                self.parts.append(
                    f'<circle cx="{number(x)}" cy="{number(y)}" r="3.6" fill="{BLUE}"/>'
                )

    def legend(self):
        y = self.bottom + 50
        entries = [
            (BLUE, "\u25cf", "checkpoint, from trigger to completion"),
            (LIGHT_BLUE, "\u25ae", "its longest alignment"),
            (VIOLET, "\u25c6", "savepoint"),
            (RED, "\u2715", "failed"),
        ]
        x = LEFT
        for colour, mark, label in entries:
            self.text(x, y, mark, 13, colour)
            self.text(x + 16, y, label, 12, INK)
            x += 16 + 6.6 * len(label) + 20

    def draw(self):
        run = self.run
        title = f"{run['name']}, seed {run['seed']}, Flink {run['version']}"
        self.text(24, 30, title, 16, weight="bold")
        once = run["exactly_once"]
        self.text(
            24,
            49,
            f"{run['records']['in']} records in, {run['records']['out']} effects committed, "
            f"{once['lost']} lost, {once['duplicated']} duplicated; "
            f"{run['checkpoints']['completed']} checkpoints completed; trace {run['trace_hash']}",
            12.5,
            MUTED,
        )
        self.axes()
        self.draw_notes()
        self.checkpoints()
        self.legend()
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{self.height}" '
            f'viewBox="0 0 {WIDTH} {self.height}" '
            f'font-family="Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif">\n'
            f'<rect width="{WIDTH}" height="{self.height}" rx="8" fill="#ffffff"/>\n'
            f"{body}\n</svg>\n"
        )


def draw(document):
    """The picture of a run, given the text of its JSON document.

    Returns
    -------
    str
        A whole SVG file.
    """
    return Picture(json.loads(document)).draw()


if __name__ == "__main__":
    sys.stdout.write(draw(sys.stdin.read()))
