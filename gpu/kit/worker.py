"""The process that does the work: `python3 -m kit.worker`, started by the supervisor.

Standard input and output are the pipes to the parent. File descriptor 1 is then redirected to standard error, so
output of libraries and kernels cannot corrupt the protocol.
"""
from __future__ import annotations

import importlib
import json
import os
import pathlib
import sys
import time
import traceback
from typing import Any

from .device import Device, DeviceError
from .process import end_with_parent
from .work import Context, ContextLost

# The module for each part of the kit; its function `handle(context, payload)` does the pieces.
HANDLERS = {
    "images": "kit.images",
    "correctness": "kit.correctness",
    "ptx": "kit.correctness",
    "concurrent": "kit.concurrent_launches",
    "dependent": "kit.dependent_launches",
    "launch-abi": "kit.launch_abi",
    "programs": "kit.programs",
    "tensor-copies": "kit.tensor_copies",
    "micro": "kit.micro.run",
    "peers": "kit.peers.run",
}


def open_device(config: dict[str, Any]) -> Device:
    if config["device"] == "sim":
        from .sim_device import SimDevice
        return SimDevice(pathlib.Path(config["tile_run"]), config.get("adversarial"))
    from .cuda_device import CudaDevice
    return CudaDevice(config.get("driver", "cuda.bindings.driver"))


def main() -> int:
    end_with_parent()
    pipe = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def send(message: dict[str, Any]) -> None:
        pipe.write(json.dumps(message, default=_plain) + "\n")
        pipe.flush()

    config = json.loads(sys.stdin.readline())["config"]
    try:
        if config["worker"] == "torch":
            # Long imports happen here, while another worker may still be working.
            importlib.import_module("kit.peers.backend").prepare(config)
        send({"stage": "waiting", "subject": ""})
        # The context is created with the first piece of work, so a waiting worker does not use the device.
        first = sys.stdin.readline()
        if not first:
            return 0
        device = open_device(config)
        send({"ready": device.facts()})
    except DeviceError as e:
        send({"failed": e.fields()})
        return 3
    except Exception as e:  # report any exception: the parent must know why the worker failed
        send({"failed": {"what": "worker", "where": "start", "code": None, "code_name": type(e).__name__, "detail": str(e)[:400]}})
        return 3
    context = Context(config, device, send)
    line = first
    while line:
        if not piece(context, json.loads(line), send):
            return 4
        line = sys.stdin.readline()
    device.close()
    return 0


def piece(context: Context, message: dict[str, Any], send) -> bool:
    """Does one piece of work. Returns False if the device context is lost."""
    context.item, context.skip, context.lost = message["item"], frozenset(message.get("skip", ())), False
    context.began = time.monotonic()
    try:
        handlers = {**HANDLERS, **context.config.get("handlers", {})}
        importlib.import_module(handlers[context.item["part"]]).handle(context, context.item["payload"])
    except DeviceError as e:
        context.case("error", **e.fields())
        context.lost = e.fatal
    except ContextLost:
        context.lost = True
    except Exception as e:
        where = traceback.extract_tb(e.__traceback__)[-1]
        context.case("error", what="kit", where=f"{pathlib.Path(where.filename).name}:{where.lineno}", code=None,
                     code_name=type(e).__name__, detail=str(e)[:400])
    send({"done": not context.lost})
    return not context.lost


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


if __name__ == "__main__":
    sys.exit(main())
