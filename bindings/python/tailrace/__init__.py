"""Run scenarios of checkpointing and rescaling in a Flink-style stream processor.

>>> import tailrace
>>> run = tailrace.run("wordcount-crash-rescale", seed=3)
>>> run["checkpoints"]["completed"], run.held
(38, True)
"""

import collections.abc
import json
import os

from tailrace import _core
from tailrace._core import ScenarioError

__all__ = ["Run", "ScenarioError", "check", "run"]

_FOLDER = os.path.dirname(os.path.abspath(__file__))


class Run(collections.abc.Mapping):
    """What a run gave: the document that ``tailrace run --json`` prints, as a read-only mapping.

    Durations are floats in the unit that ends their name (``_ms``, ``_s``); what never occurred is
    None. Two runs are the same run if and only if their trace hashes are equal.
    """

    def __init__(self, text):
        self._text = text
        self._document = json.loads(text)

    def __getitem__(self, key):
        return self._document[key]

    def __iter__(self):
        return iter(self._document)

    def __len__(self):
        return len(self._document)

    def __repr__(self):
        return (
            f"<Run of {self['name']}, seed {self['seed']}: {self['finished']}, "
            f"{'all held' if self.held else 'NOT all held'}, trace {self.trace_hash}>"
        )

    @property
    def trace_hash(self):
        """str: 16 hex digits, the hash of all that could be seen of the run, in order."""
        return self["trace_hash"]

    @property
    def held(self):
        """bool: whether every expectation of the scenario holds."""
        return all(row["held"] for row in self["expectations"])

    @property
    def json(self):
        """str: the document as printed, with every decimal (floats round some of them away)."""
        return self._text


def run(scenario, *, seed=None, set=None, until=None, series=None):
    """Run a scenario in this process.

    Other threads go on meanwhile, so several runs can share a thread pool. Ctrl-C raises
    KeyboardInterrupt within a tenth of a second; nothing is left of the run then.

    Parameters
    ----------
    scenario : str or os.PathLike
        A scenario file, or the name of one of the library.
    seed : int, optional
        Of all random draws, instead of the scenario's.
    set : mapping of str to object, optional
        Values that override the scenario's, by path (``"job.operators.count.cost"``). Strings,
        numbers, booleans, lists and dicts are written as YAML; None takes a key away. Relative
        files are looked for in the working directory.
    until : str, optional
        When to end: a time with its unit (``"60s"``), ``"sources_finished"`` or ``"idle"``.
    series : str, optional
        The length of a window (``"1s"``): the document gets a member ``series`` with throughput,
        latency and metrics by window. The run is the same.

    Returns
    -------
    Run
        Also if an expectation does not hold; see `Run.held`.

    Raises
    ------
    ScenarioError
        Before the run starts, with file, line, column and the nearest valid name; all errors of the
        scenario together, one a line.
    RuntimeError
        If an invariant of the engine is violated: a mistake of Tailrace, not of the caller.
    """
    return Run(_core.run(*_arguments(scenario, seed, set, until), series, _FOLDER))


def check(scenario, *, seed=None, set=None, until=None):
    """Check a scenario without running it.

    Parameters
    ----------
    scenario, seed, set, until
        As for `run`.

    Returns
    -------
    list of str
        Notes, such as options of Flink that have no effect here. Empty if there are none.

    Raises
    ------
    ScenarioError
        As `run` does.
    """
    return _core.check(*_arguments(scenario, seed, set, until), _FOLDER)


def _arguments(scenario, seed, overrides, until):
    return (
        os.fspath(scenario),
        None if seed is None else str(seed),
        until,
        [f"{path}={_yaml(value)}" for path, value in (overrides or {}).items()],
    )


def _yaml(value):
    if value is None:
        return "~"
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return json.dumps(os.fspath(value))
    return json.dumps(value)  # every JSON value is YAML
