#!/usr/bin/env python3
"""Seconds per epoch of the published network in PyTorch, the way a training script is usually written.

Usage: training_pytorch.py TRAIN.csv EPOCHS THREADS
Same data, network, loss, optimiser, clipping, batch size and split size as `pw-train mlp`; features are
the columns of the published file. Prints the median seconds of an epoch, validation included.
"""
import sys
import time

import numpy as np
import pandas as pd
import torch
from torch.utils.data import DataLoader, TensorDataset

FEATURES = ("tensor_all_ops tensor_all_cycle tensor_sm_max_ops tensor_sm_max_cycle global_in_flight "
            "global_cycle local_cycle sm_max_in_flight sm_max_global_cycle sm_max_shared_cycle "
            "sm_max_local_cycle").split()


def network(width):
    layers = []
    for hidden in (256, 128, 64):
        layers += [torch.nn.Linear(width, hidden), torch.nn.ReLU(), torch.nn.BatchNorm1d(hidden),
                   torch.nn.Dropout(0.1)]
        width = hidden
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, 1), torch.nn.Sigmoid())


def loss_of(model, x, y):
    return ((y - model(x).squeeze(1)) / (y + 1e-9)).abs().mean()


def main():
    path, epochs, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(threads)
    torch.manual_seed(42)
    rows = pd.read_csv(path)
    x = torch.log1p(torch.tensor(rows[FEATURES].to_numpy(np.float32)))
    y = torch.tensor(rows["overall_perf"].to_numpy(np.float32))
    order = torch.randperm(len(y))
    held_out = order[: -(-len(y) // 5)]
    kept = order[len(held_out):]
    train = DataLoader(TensorDataset(x[kept], y[kept]), batch_size=1024, shuffle=True)
    validation = DataLoader(TensorDataset(x[held_out], y[held_out]), batch_size=1024)
    model = network(x.shape[1])
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
    seconds = []
    for _ in range(epochs):
        start = time.perf_counter()
        model.train()
        for batch_x, batch_y in train:
            optimiser.zero_grad()
            loss_of(model, batch_x, batch_y).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
        model.eval()
        with torch.no_grad():
            for batch_x, batch_y in validation:
                loss_of(model, batch_x, batch_y)
        seconds.append(time.perf_counter() - start)
    print(float(np.median(seconds)))


if __name__ == "__main__":
    main()
