#!/usr/bin/env python3
"""Installs the build into a prefix of its own and uses what is there, as somebody would."""
import os
import pathlib
import subprocess
import sys
import tempfile


def output(command, **arguments):
    done = subprocess.run(command, capture_output=True, text=True, **arguments)
    if done.returncode != 0:
        raise SystemExit(
            f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def expect(condition, what):
    if not condition:
        raise SystemExit(f"does not hold: {what}")


def main(cmake, build, program, library, python, python_folder):
    built = output([program, "run", library / "wordcount.yaml", "--quiet"])
    with tempfile.TemporaryDirectory() as name:
        prefix = pathlib.Path(name) / "prefix"
        elsewhere = pathlib.Path(name) / "elsewhere"
        elsewhere.mkdir()
        output([cmake, "--install", build, "--prefix", prefix])
        installed = prefix / "bin" / "tailrace"

        listed = output([installed, "list"], cwd=elsewhere)
        for path in library.glob("*.yaml"):
            expect(f"\n{path.stem} " in "\n" + listed, f"`list` shows {path.stem}")
        ran = output([installed, "run", "wordcount", "--quiet"], cwd=elsewhere)
        expect(ran == built, f"the installed program gives {built!r}, not {ran!r}")

        # A link to it, as a distribution might put into another folder.
        link = elsewhere / "tailrace"
        link.symlink_to(installed)
        expect(output([link, "list"], cwd=elsewhere) == listed, "a link to it finds the library")

        if python_folder:
            environment = dict(os.environ, PYTHONPATH=str(prefix / python_folder))
            script = "import tailrace; print('trace', tailrace.run('wordcount').trace_hash)"
            ran = output([python, "-B", "-c", script], cwd=elsewhere, env=environment)
            expect(ran == built, f"the installed package gives {built!r}, not {ran!r}")
        expect(not list(elsewhere.glob("[!t]*")), "nothing is written where it is run")


if __name__ == "__main__":
    cmake, build, program, library, python, python_folder = sys.argv[1:]
    main(cmake, pathlib.Path(build), pathlib.Path(program), pathlib.Path(library), python, python_folder)
