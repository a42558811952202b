#!/usr/bin/env python3
"""peak_memory_test.py BINARY SCENARIO: runs it and bounds what it took of the machine's memory.

The bound is 64 MiB plus the state of the job's last checkpoint.
"""
import json
import resource
import subprocess
import sys

ALLOWED_KIB = 64 * 1024


def main():
    binary, scenario = sys.argv[1:]
    done = subprocess.run([binary, "run", "--json", scenario], stdout=subprocess.PIPE, check=True)
    result = json.loads(done.stdout)
    peak_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    state_kib = max(row["state_bytes"] for row in result["checkpoint_list"]) // 1024
    print(f"peak {peak_kib} KiB, state {state_kib} KiB, allowed {ALLOWED_KIB} KiB plus state")
    if result["records"]["out"] == 0 or peak_kib < 1024:
        sys.exit("nothing was tested")
    if peak_kib > ALLOWED_KIB + state_kib:
        sys.exit("too much")


if __name__ == "__main__":
    main()
