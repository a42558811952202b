#!/usr/bin/env python3
"""Checks the rules of the house over the source text.

Arrows between the folders run one way only; some words may not appear in some folders because they
endanger determinism; only the seam looks at the generation. Exit status 1 names each offence as
``file:line: rule``. ``--self-test`` plants each kind of offence and checks that it is found.
"""
import pathlib
import re
import sys
import tempfile

# Folder -> folders of ours that it may include. `sim/base/` is the vocabulary of the whole house.
ARROWS = {
    "sim/base": set(),
    "sim": set(),
    "engine": {"engine"},
    "analysis": {"analysis"},
    "scenarios": {"scenarios", "engine", "sim", "analysis"},
    "bindings": {"bindings", "scenarios", "analysis"},
}
# Third-party headers by folder; fmt goes anywhere.
THIRD_PARTIES = {
    "sim": r"Random123/",
    "engine": r"boost/|rocksdb/",
    "analysis": r"sqlite3|Eigen/|nlohmann/",
    "scenarios": r"yaml-cpp/|CLI/|nlohmann/",
    "bindings": r"pybind11/|nlohmann/",
}
KNOWN_THIRD_PARTY = re.compile(r"(fmt|boost|rocksdb|yaml-cpp|CLI|nlohmann|sqlite3|Eigen|Random123|pybind11|gtest|gmock|rapidcheck|benchmark)")

WORDS = [
    (r"\b(system_clock|steady_clock|high_resolution_clock)\b", {"sim", "engine", "analysis"}, "a wall clock"),
    (r"\brandom_device\b|\bstd::(uniform|exponential|normal|poisson|discrete|bernoulli|geometric)_\w*|\bstd::(mt19937|default_random_engine|shuffle)\b", {"sim", "engine", "analysis", "scenarios"}, "randomness that is the library's choice"),
    (r"\bgetenv\b|\btime\(nullptr\)|\bclock\(\)|\bthis_thread\b", {"sim", "engine", "analysis"}, "the environment of the process"),
    (r"\bstd::(pow|exp|exp2|log|log2|log10|log1p|sin|cos|tan|cbrt)\(", {"sim", "engine"}, "libm in a decision"),
    (r"\bstd::hash\b", {"sim", "engine"}, "a hash that is the library's choice"),
    (r"\bfor\s*\([^;)]*:\s*\w*unordered\w*", {"sim", "engine", "analysis", "scenarios"}, "iteration over an unordered container"),
    (r"\bGeneration::", {"sim", "engine", "analysis"}, "a look at the version outside the seam"),
]
SEAM = {"engine/generation.hpp", "engine/generation.cpp", "engine/ids.hpp", "engine/scheduling/deployment.hpp"}


def folder_of(path):
    return "sim/base" if path.startswith("sim/base/") else path.split("/", 1)[0]


def strip_comment(line):
    return re.sub(r"//.*", "", line)


def offences(root):
    for top in ("sim", "engine", "analysis", "scenarios", "bindings"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in (".hpp", ".cpp"):
                continue
            path = file.relative_to(root).as_posix()
            folder = folder_of(path)
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                code = strip_comment(line)
                included = re.match(r'\s*#\s*include\s*([<"])([^>"]+)', code)
                if included:
                    target = included.group(2)
                    if included.group(1) == '"':
                        to = folder_of(target)
                        allowed = ARROWS[folder] | {folder, "sim/base"}
                        if "/" not in target or to not in allowed:
                            yield f"{path}:{number}: {folder} may not include {target}"
                    elif KNOWN_THIRD_PARTY.match(target) and not target.startswith("fmt/"):
                        if folder == "sim/base" or not re.match(THIRD_PARTIES[top], target):
                            yield f"{path}:{number}: {folder} may not use {target}"
                for pattern, folders, what in WORDS:
                    if top in folders and path not in SEAM and re.search(pattern, code):
                        yield f"{path}:{number}: {what}: {code.strip()}"


PLANTED = {
    "sim/a.cpp": '#include "engine/ports.hpp"\n',
    "engine/b.cpp": '#include "sim/simulation.hpp"\n',
    "analysis/c.cpp": '#include "scenarios/model.hpp"\n',
    "engine/d.cpp": "#include <yaml-cpp/yaml.h>\n",
    "sim/e.cpp": "auto t = std::chrono::steady_clock::now();\n",
    "engine/f.cpp": "std::shuffle(a, b, c);\n",
    "engine/g.cpp": "double x = std::log(2.0);\n",
    "engine/checkpoint/h.cpp": "if (g == Generation::kFlink110) return;\n",
    "sim/base/i.hpp": '#include "sim/simulation.hpp"\n',
}
HARMLESS = {
    "engine/ok.cpp": '#include "sim/base/time.hpp"\n#include "engine/ports.hpp"\n#include <fmt/format.h>\n// std::log( in a comment\n',
    "scenarios/ok.cpp": '#include "engine/ports.hpp"\n#include "sim/simulation.hpp"\n#include <yaml-cpp/yaml.h>\n',
}


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in {**PLANTED, **HARMLESS}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        for top in ("analysis", "bindings"):
            (root / top).mkdir(exist_ok=True)
        found = {line.split(":", 1)[0] for line in offences(root)}
    missed = set(PLANTED) - found
    wrong = found - set(PLANTED)
    for path in sorted(missed):
        print(f"not found: {path}")
    for path in sorted(wrong):
        print(f"wrongly found: {path}")
    return 1 if missed or wrong else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    found = list(offences(pathlib.Path(sys.argv[1])))
    print("\n".join(found))
    sys.exit(1 if found else 0)
