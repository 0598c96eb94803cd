#!/usr/bin/env python3
"""Checks schedules that `taut partition --dump` wrote, with nothing of taut's own code.

    taut partition cloth-on-tube --partition cluster --dump schedule.json
    python3 docs/check_dump.py schedule.json

Exits with 1 and says why if a schedule is not sound.
"""
import json
import sys


def check(kind):
    """Yields everything that is wrong with the schedule of one kind."""
    elements, bodies, owner = kind["elements"], kind["bodies"], kind["owner"]
    particles, pinned = kind["particles"], set(kind["pinned"])
    places = list(zip(kind["phase"], kind["block"], kind["batch"]))
    if not len(elements) == len(bodies) == len(places) == len(kind["block"]) == len(kind["batch"]):
        yield "the lists have different lengths"
        return
    for index, (before, after) in enumerate(zip(elements, bodies)):
        originals = [body if body < particles else owner[body - particles] for body in after]
        if originals != before:
            yield f"element {index} has particles {before}, but its copies belong to {originals}"
    for index, after in enumerate(bodies):
        if len(set(after)) != len(after):
            yield f"element {index} names a body twice: {after}"

    phase_of_block, block_of_batch = {}, {}
    for phase, block, batch in places:
        if phase_of_block.setdefault(block, phase) != phase:
            yield f"block {block} is in two phases"
        if block_of_batch.setdefault(batch, block) != block:
            yield f"batch {batch} is in two blocks"

    writer_block, writer_batch = {}, {}
    for index, (phase, block, batch) in enumerate(places):
        for body in bodies[index]:
            if body in pinned:
                continue
            if writer_block.setdefault((phase, body), block) != block:
                yield f"two blocks of phase {phase} write body {body}"
            if (batch, body) in writer_batch:
                yield f"elements {writer_batch[batch, body]} and {index} of batch {batch} write body {body}"
            writer_batch[batch, body] = index


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        kinds = json.load(file)
    faults = 0
    for kind in kinds:
        problems = list(check(kind))
        faults += len(problems)
        phases = len(set(kind["phase"]))
        print(f"{kind['kind']}: {len(kind['elements'])} elements in {phases} phases:", problems[:3] or "sound")
    sys.exit(1 if faults or not kinds else 0)


if __name__ == "__main__":
    main()
