"""Decides what is due. `tick` is called twice a minute."""

from valve import is_open, water


def read_plan(path):
    """The lines of the plan, as (bed, hour, minute, minutes)."""
    entries = []
    for line in open(path):
        if line.startswith("#") or not line.strip():
            continue
        bed, time, minutes = line.split()
        hour, minute = time.split(":")
        entries.append((bed, int(hour), int(minute), int(minutes)))
    return entries


def is_due(entry, now):
    """Whether an entry of the plan is due at this time."""
    _, hour, minute, _ = entry
    return now.hour == hour and now.minute == minute


def tick(plan, now):
    """Waters what is due and is not being watered."""
    for entry in plan:
        bed, _, _, minutes = entry
        if is_due(entry, now) and not is_open(bed):
            water(bed, minutes, now)
