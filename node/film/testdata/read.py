"""Prints what Pillow finds in an animation: size, loop, and of each frame its milliseconds and the SHA-256 of its RGB pixels."""

import hashlib
import json
import sys

from PIL import Image, ImageSequence

image = Image.open(sys.argv[1])
frames = []
for frame in ImageSequence.Iterator(image):
    pixels = frame.convert("RGB").tobytes()
    frames.append({"ms": frame.info["duration"], "pixels": hashlib.sha256(pixels).hexdigest()})
json.dump({"format": image.format, "size": image.size, "loop": image.info["loop"], "frames": frames}, sys.stdout)
