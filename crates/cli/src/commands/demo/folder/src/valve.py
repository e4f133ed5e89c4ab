"""Opens valves, and writes the log."""

import threading

LOG = "log/may.txt"
RATE = {"herbs": 0.1}
OPEN = set()


def is_open(bed):
    """Whether the valve of a bed is open."""
    return bed in OPEN


def water(bed, minutes, now):
    """Opens the valve of a bed for some minutes, at the rate of that bed."""
    OPEN.add(bed)
    with open(LOG, "a") as log:
        log.write(f"{now:%m-%d %H:%M:%S} {bed} {minutes} min\n")
    seconds = minutes * 60 * RATE.get(bed, 1)
    threading.Timer(seconds, close, [bed]).start()


def close(bed):
    """Closes the valve of a bed."""
    OPEN.discard(bed)
