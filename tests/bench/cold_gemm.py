#!/usr/bin/env python3
"""How GEMMs with cold weights follow from warm ones: the table of docs/method.md "Cold operands".

Takes measured rows just beyond the L2 cache (their six copies are 1.15 to 2.5 times its size), has
them predicted as if they were in it (0.7 times), corrects that in several ways and prints the errors.

  git show 57cb684:checkpoints/gemm.pt >old.pt    # a record without copies: asked as the rows say
  tests/bench/cold_gemm.py DATA/gemm.csv build/release/bin/pw-predict old.pt
"""
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

COPIES = 6  # of the measured rows
ROOT = pathlib.Path(__file__).resolve().parents[2]


def specifications():
    files = (json.loads(file.read_text()) for file in (ROOT / "hardware").glob("*.json"))
    return {spec["name"]: spec for spec in files}


def chosen_rows(path, specs):
    for row in csv.DictReader(open(path)):
        spec = specs.get(row["hardware"])
        m, n, k = (int(row[name]) for name in "MNK")
        if spec is None or "0.5.10" not in row["source"] or min(n, k) < 512 or m > 1024:
            continue
        fill = COPIES * 2 * (m * k + n * k + m * n) / (spec["l2CacheSize"] * 1024)
        if 1.15 <= fill <= 2.5:
            rate = spec["memBandwidth"] * 1e3 * spec["sustainedDramFraction"]  # bytes/us
            yield {"M": m, "N": n, "K": k, "hardware": row["hardware"],
                   "weight_copies": COPIES * 0.7 / fill, "measured": row["avg_duration"],
                   "dram_us": 2 * n * k / rate}


def predictions(rows, program, checkpoint):
    with tempfile.TemporaryDirectory() as folder:
        given, made = pathlib.Path(folder, "rows.csv"), pathlib.Path(folder, "predicted.csv")
        with open(given, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
        subprocess.run([program, "operators", "--operator", "gemm", "--input", given,
                        "--checkpoint", checkpoint, "--output", made], check=True)
        return list(csv.DictReader(open(made)))


def mean_error(rows, corrected):
    errors = {}
    for row in rows:
        us = corrected(float(row["predicted_duration_us"]), float(row["dram_us"]))
        errors.setdefault(row["hardware"], []).append(abs(us / float(row["measured"]) - 1))
    return statistics.mean(statistics.mean(of_gpu) for of_gpu in errors.values())


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    rows = predictions(list(chosen_rows(sys.argv[1], specifications())), *sys.argv[2:])
    ways = {"none": lambda warm, dram: warm, "warm + DRAM": lambda warm, dram: warm + dram}
    for latency in (0, 2, 3, 4, 5):
        ways[f"max(warm, {latency} us + DRAM)"] = (
            lambda warm, dram, latency=latency: max(warm, latency + dram))
    print(f"{len(rows)} rows; mean absolute error, mean over GPUs, for M up to 16, 128, 1024")
    for name, corrected in ways.items():
        values = [mean_error([row for row in rows if int(row["M"]) <= limit], corrected)
                  for limit in (16, 128, 1024)]
        print(f"  {name:24}" + "".join(f"{value:8.3f}" for value in values))


if __name__ == "__main__":
    main()
