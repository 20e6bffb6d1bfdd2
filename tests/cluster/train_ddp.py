#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small DDP training with no rendezvous code of its own.

Under `srun --loongforge` the environment tells every rank where to meet; with
no RANK at all it trains alone.  Exits 1 if the loss did not fall.
"""

import argparse
import contextlib
import ctypes
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

try:
    import loongforge as lf
except ImportError:
    lf = None

BATCH, INPUTS, WIDTH, OUTPUTS = 64, 32, 128, 4
PRINT_EVERY = 20

# What the last reduction worked on, kept until the interpreter ends.  If gloo's
# thread were the last to hold it, it would need the GIL to free it, while the
# main thread holds the GIL and waits for that thread (seen with torch 1.13).
KEPT = []


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--steps", type=int, help="stop after so many steps")
    add("--seconds", type=float, help="stop after so long (default 10)")
    add("--pace", type=float, default=0.05, help="least seconds a step takes")
    args = parser.parse_args()
    if args.seconds is None:
        args.seconds = 10.0 if args.steps is None else float("inf")
    if args.steps is None:
        args.steps = sys.maxsize
    return args


def network():
    return torch.nn.Sequential(
        torch.nn.Linear(INPUTS, WIDTH),
        torch.nn.ReLU(),
        torch.nn.Linear(WIDTH, WIDTH),
        torch.nn.ReLU(),
        torch.nn.Linear(WIDTH, OUTPUTS),
    )


def pick_device():
    """LOCAL_RANK's GPU; the only one where Slurm or the machine has one."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    local_rank = int(os.environ.get("LOCAL_RANK", "0"))
    index = local_rank % torch.cuda.device_count()
    torch.cuda.set_device(index)
    return torch.device("cuda", index)


def gpu_uuid(device):
    """16 bytes that no other GPU has: two ranks may share one."""
    torch.cuda.current_stream(device).synchronize()  # CUDA is up from here on
    cuda = ctypes.CDLL("libcuda.so.1")
    handle, uuid = ctypes.c_int(), ctypes.create_string_buffer(16)
    if cuda.cuDeviceGet(ctypes.byref(handle), device.index) != 0:
        return None
    return uuid.raw if cuda.cuDeviceGetUuid(uuid, handle) == 0 else None


def gradient_group(device):
    """An NCCL group if every rank has a GPU of its own, else gloo's."""
    mine = gpu_uuid(device) if device.type == "cuda" else None
    uuids = [None] * dist.get_world_size()
    dist.all_gather_object(uuids, mine)
    if None in uuids or len(set(uuids)) < len(uuids):
        return dist.group.WORLD, "gloo"
    return dist.new_group(backend="nccl"), "nccl"


def batches(rank, device):
    """Endless (inputs, targets): BATCH x INPUTS, BATCH x OUTPUTS floats.

    Every rank sees samples of its own of one and the same function.
    """
    teacher = torch.Generator().manual_seed(1)
    truth = torch.randn(INPUTS, OUTPUTS, generator=teacher) / INPUTS**0.5
    samples = torch.Generator().manual_seed(1000 + rank)
    while True:
        inputs = torch.randn(BATCH, INPUTS, generator=samples)
        yield inputs.to(device), torch.tanh(inputs @ truth).to(device)


def train(args, model, device, rank, group):
    """Returns the mean loss over all ranks of each step."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    begin = time.monotonic()
    losses = []
    sums = torch.zeros(2, device=device)
    KEPT.append(sums)
    for inputs, targets in batches(rank, device):
        step_begin = time.monotonic()
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        late = time.monotonic() - begin >= args.seconds
        # One reduction for both, so that all ranks stop at the same step.
        sums[0], sums[1] = loss.detach(), float(late)
        if group is not None:
            dist.all_reduce(sums, group=group)
            sums[0] /= dist.get_world_size()
        losses.append(sums[0].item())
        if rank == 0 and len(losses) % PRINT_EVERY == 0:
            print(f"step {len(losses)} loss {losses[-1]:.4f}", flush=True)
        if sums[1].item() > 0 or len(losses) >= args.steps:
            return losses
        time.sleep(max(0.0, args.pace - (time.monotonic() - step_begin)))


@contextlib.contextmanager
def process_group(device):
    """Yields (rank, ranks, group, backend); no group where nobody set RANK."""
    if "RANK" not in os.environ:
        yield 0, 1, None, "none"
        return
    dist.init_process_group("gloo")
    group, backend = gradient_group(device)
    yield dist.get_rank(), dist.get_world_size(), group, backend
    dist.destroy_process_group()


def main():
    args = arguments()
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)
    connected = lf.init() if lf else False
    torch.manual_seed(0)
    device = pick_device()
    with process_group(device) as (rank, ranks, group, backend):
        if rank == 0:
            state = lf.state() if lf else "not installed"
            print(f"loongforge {'yes' if connected else 'no'}: {state}")
            print(f"ranks {ranks} device {device} backend {backend}")
            sys.stdout.flush()
        model = network().to(device)
        if group is not None:
            model = DistributedDataParallel(model, process_group=group)
        losses = train(args, model, device, rank, group)
    first, last = losses[0], losses[-1]
    fell = "fell" if last < first else "did not fall"
    if rank == 0:
        print(f"loss {fell} from {first:.4f} to {last:.4f} on {ranks} ranks")
    return 0 if last < first else 1


if __name__ == "__main__":
    sys.exit(main())
