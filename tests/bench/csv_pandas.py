#!/usr/bin/env python3
"""Median seconds of pandas.read_csv alone. Usage: csv_pandas.py FILE.csv REPEATS"""
import sys
import time

import pandas as pd

seconds = []
for _ in range(int(sys.argv[2])):
    start = time.perf_counter()
    pd.read_csv(sys.argv[1])
    seconds.append(time.perf_counter() - start)
print(sorted(seconds)[len(seconds) // 2])
