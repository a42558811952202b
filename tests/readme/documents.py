#!/usr/bin/env python3
"""Keeps README.md, scenarios/LANGUAGE.md and the picture true.

What stands in a document between ``<!-- KIND: ARGUMENT -->`` and ``<!-- end -->`` is produced: trace
hashes and outputs by running the program, tables by the parser's own tables, files by reading them.
Without ``--update`` every difference is named and makes exit status 1; with it the documents and the
picture are rewritten.
"""
import argparse
import difflib
import pathlib
import re
import subprocess
import sys

MARK = re.compile(r"<!-- (table|hashes|output|help|file|list)(?:: ([^\n]*?))? -->\n.*?<!-- end -->", re.S)
PICTURED = "wordcount-crash-rescale"


class Documents:
    def __init__(self, root, program, tables):
        self.root = root
        self.program = program
        self.library = root / "scenarios" / "library"
        printed = subprocess.run([tables], capture_output=True, text=True, check=True).stdout
        self.tables = {match[2]: match[0] for match in MARK.finditer(printed)}
        self.used = set()

    def run(self, *arguments):
        done = subprocess.run(
            [self.program, *arguments], capture_output=True, text=True, cwd=self.root
        )
        if done.returncode != 0:
            raise SystemExit(
                f"tailrace {' '.join(arguments)}: exit status {done.returncode}\n{done.stderr}"
            )
        return done.stdout

    def scenarios(self):
        return sorted(path.stem for path in self.library.glob("*.yaml"))

    # --- what stands between the marks ------------------------------------------------------------

    def table(self, name):
        self.used.add(name)
        return self.tables[name].split("\n", 1)[1].removesuffix("<!-- end -->")

    def hashes(self, _):
        rows = ["| scenario | trace |", "| --- | --- |"]
        for name in self.scenarios():
            words = self.run("run", f"scenarios/library/{name}.yaml", "--quiet").split()
            rows.append(f"| {name} | {words[1]} |")
        return "\n".join(rows) + "\n"

    def output(self, name):
        """A run as a person sees it, without most of its checkpoints and its wall time."""
        text = self.run("run", f"scenarios/library/{name}.yaml")
        text = re.sub(r", [0-9.]+ s wall time", "", text)
        lines, kept = [], 0
        for line in text.splitlines():
            if re.match(r"  checkpoint ", line) and " failed " not in line:
                kept += 1
                if kept > 2:
                    if lines[-1] != "  \u2026":
                        lines.append("  \u2026")
                    continue
            lines.append(line)
        return "```text\n" + "\n".join(lines) + "\n```\n"

    def help(self, command):
        return "```text\n" + self.run(*(command or "").split(), "--help").rstrip() + "\n```\n"

    def list(self, _):
        return "```text\n" + self.run("list") + "```\n"

    def file(self, path):
        kind = pathlib.PurePath(path).suffix.removeprefix(".")
        return f"```{kind}\n" + (self.root / path).read_text() + "```\n"

    # --- documents --------------------------------------------------------------------------------

    def produced(self, path):
        def fill(match):
            kind, argument = match[1], match[2]
            opening = match[0].split("\n", 1)[0]
            return f"{opening}\n{getattr(self, kind)(argument)}<!-- end -->"

        return MARK.sub(fill, (self.root / path).read_text())

    def picture(self):
        document = self.run("run", f"scenarios/library/{PICTURED}.yaml", "--json")
        return subprocess.run(
            [sys.executable, self.root / "analysis" / "run_picture.py"],
            input=document, capture_output=True, text=True, check=True,
        ).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--tables", type=pathlib.Path, required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()

    documents = Documents(options.root, options.program.resolve(), options.tables.resolve())
    produced = {
        path: documents.produced(path) for path in ("README.md", "scenarios/LANGUAGE.md")
    }
    produced[f"scenarios/library/{PICTURED}.svg"] = documents.picture()

    status = 0
    for missing in sorted(documents.tables.keys() - documents.used):
        print(f"no document has the table: {missing}")
        status = 1
    for path, text in produced.items():
        file = options.root / path
        written = file.read_text() if file.exists() else ""
        if written == text:
            continue
        if options.update:
            file.write_text(text)
            print(f"updated {path}")
            continue
        status = 1
        difference = difflib.unified_diff(
            written.splitlines(), text.splitlines(), path, "as it should be", lineterm="", n=1
        )
        print("\n".join(list(difference)[:60]))
    if status:
        print("\nA change of results is a change of the documents: see tests/readme/README.md.")
    return status


if __name__ == "__main__":
    sys.exit(main())
