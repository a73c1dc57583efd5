"""Reads the event files of a folder with TensorBoard and prints its scalars as JSON: {tag: [[step, value, time], ...]}.

    python read.py DIR
"""

import json
import sys

from tensorboard.backend.event_processing import event_accumulator

events = event_accumulator.EventAccumulator(sys.argv[1], size_guidance={event_accumulator.TENSORS: 0, event_accumulator.SCALARS: 0})
events.Reload()
found = {}
for tag in events.Tags()["scalars"]:
    found[tag] = [[e.step, e.value, e.wall_time] for e in events.Scalars(tag)]
print(json.dumps(found))
