"""Where the shared experiments are: below $TAILRACE_SHARED, by default ``shared`` beside the checkout."""

import os
from pathlib import Path

BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[3] / "shared"


def folder():
    """The folder ``lab``, or None if there is none."""
    lab = Path(os.environ.get("TAILRACE_SHARED") or BESIDE_THE_CHECKOUT) / "lab"
    return lab if (lab / "results").is_dir() else None
