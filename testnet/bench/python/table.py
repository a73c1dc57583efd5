"""Prints the table of run.sh: python table.py OURS THEIRS, files of JSON lines of evonode bench kernel and layers.py."""
import json
import sys

LIBRARIES = ["numpy", "torch", "jax"]
# What the libraries compute, and evonode's rows for it: all candidates in turn, and one after the other as in a rollout.
SHAPES = [
    ("24-64-64-4 of 256 candidates x 1", ["24-64-64-4 of 256 candidates x 1", "24-64-64-4"]),
    ("24-64-64-4 of 256 candidates x 16", ["24-64-64-4 of 256 candidates x 16", "24-64-64-4 x 16"]),
    ("376-256-256-17", ["376-256-256-17"]),
]


def rows(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def main():
    ours, theirs = rows(sys.argv[1]), rows(sys.argv[2])
    versions = {row["library"]: row["version"] for row in theirs}
    print(", ".join(f"{name} {versions[name]}" for name in LIBRARIES) + "; GMAC/s, one core, fastest slice, no activation.\n")
    print("| layers | " + " | ".join(LIBRARIES) + " | evonode | over the best |")
    print("|---|" + "---|" * (len(LIBRARIES) + 2))
    for shape, names in SHAPES:
        best = {}
        for row in theirs:
            if row["shape"] == shape and row["value"] > best.get(row["library"], (0, ""))[0]:
                best[row["library"]] = row["value"], row["way"]
        cells = [f"{best[name][0]:.1f} ({best[name][1]})" for name in LIBRARIES]
        for i, name in enumerate(names):
            value, kernel = max((row["value"], row["name"].split()[0]) for row in ours if row["name"].split(" ", 1)[1] == "layers " + name)
            what = shape if i == 0 else "the same, one candidate after the other as in rollouts"
            print(f"| {what} | " + " | ".join(cells) + f" | {value:.1f} ({kernel}) | {value / max(v for v, _ in best.values()):.2f} |")


if __name__ == "__main__":
    main()
