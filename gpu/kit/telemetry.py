"""Samples clocks, power and temperature during a run, from NVML or `nvidia-smi`, about five times per second.

Nothing is ever changed: clocks, limits and modes are only read.
"""
from __future__ import annotations

import json
import pathlib
import re
import statistics
import subprocess
import threading
import time
from typing import Any, Callable

INTERVAL = 0.2

# The fields that nvidia-smi reports for each sample, and once.
SAMPLE_FIELDS = ("clocks.sm", "clocks.mem", "power.draw", "temperature.gpu", "clocks_event_reasons.active")
FACT_FIELDS = ("name", "driver_version", "vbios_version", "power.limit", "clocks.max.sm", "clocks.max.mem", "ecc.mode.current", "uuid")

Sample = dict[str, float]


class Telemetry:
    """Samples in the background. Does nothing if `gpu` is false."""

    def __init__(self, path: pathlib.Path, gpu: bool):
        self.path = path
        self._samples: list[Sample] = []
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._facts: dict[str, Any] = {}
        self._process: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._read: Callable[[], Sample] | None = None
        if gpu:
            self._begin()

    @property
    def samples(self) -> int:
        return len(self._samples)

    def facts(self) -> dict[str, Any]:
        return self._facts

    def _begin(self) -> None:
        try:
            self._read, self._facts = nvml()
            self._thread = threading.Thread(target=self._poll, daemon=True)
        except Exception as e:  # the package is optional, and raises exceptions of many kinds
            self._facts = {**smi_facts(), "nvml": f"{type(e).__name__}: {e}"}
            try:
                self._process = subprocess.Popen(
                    ["nvidia-smi", f"--query-gpu={','.join(SAMPLE_FIELDS)}", "--format=csv,noheader,nounits", f"--loop-ms={int(1000 * INTERVAL)}"],
                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
            except OSError as e:
                self._facts["nvidia_smi"] = str(e)
                return
            self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _poll(self) -> None:
        assert self._read is not None
        while not self._end.wait(INTERVAL):
            try:
                self.add(self._read())
            except Exception:  # skip a sample that cannot be read
                continue

    def _listen(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        for line in self._process.stdout:
            sample = parse_sample(line)
            if sample:
                self.add(sample)

    def add(self, sample: Sample) -> None:
        with self._lock:
            self._samples.append({"at": time.monotonic(), **sample})

    def since(self, began: float | None) -> dict[str, Any]:
        """Clocks and power since a time, as fields of a record; empty if there is no sample."""
        with self._lock:
            chosen = [s for s in self._samples if began is None or s["at"] >= began]
        return {"clocks": digest(chosen)} if chosen else {}

    def whole(self) -> dict[str, Any]:
        return self.since(None)

    def close(self) -> None:
        self._end.set()
        if self._process:
            self._process.terminate()
            try:
                self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._process.kill()
        if self._thread:
            self._thread.join(timeout=5)
        if self._samples:
            with self._lock, open(self.path, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(s) + "\n" for s in self._samples)


def digest(samples: list[Sample]) -> dict[str, Any]:
    """The range of each quantity. Reasons for lower clocks are combined as bits."""
    found: dict[str, Any] = {"n": len(samples)}
    for key in ("sm_mhz", "memory_mhz", "watt", "celsius"):
        values = [s[key] for s in samples if key in s]
        if values:
            found[key] = {"low": min(values), "median": statistics.median(values), "high": max(values)}
    reasons = 0
    for s in samples:
        reasons |= int(s.get("reasons", 0))
    return {**found, "reasons": reasons}


def parse_sample(line: str) -> Sample | None:
    """Parses a line of nvidia-smi, skipping unknown values."""
    parts = [p.strip() for p in line.split(",")]
    if len(parts) != len(SAMPLE_FIELDS):
        return None
    sample: Sample = {}
    for key, text in zip(("sm_mhz", "memory_mhz", "watt", "celsius"), parts):
        try:
            sample[key] = float(text)
        except ValueError:
            continue
    if re.fullmatch(r"0x[0-9a-fA-F]+", parts[4]):
        sample["reasons"] = int(parts[4], 16)
    return sample or None


def smi_facts() -> dict[str, Any]:
    try:
        done = subprocess.run(["nvidia-smi", f"--query-gpu={','.join(FACT_FIELDS)}", "--format=csv,noheader,nounits"],
                              capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as e:
        return {"nvidia_smi": str(e)}
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        return {"nvidia_smi": (done.stderr or done.stdout).strip()[:200]}
    return dict(zip((f.replace(".", "_") for f in FACT_FIELDS), (p.strip() for p in lines[0].split(","))))


def nvml() -> tuple[Callable[[], Sample], dict[str, Any]]:
    """Returns a function that reads a sample, and the known facts about the first device."""
    import pynvml
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    reasons = getattr(pynvml, "nvmlDeviceGetCurrentClocksEventReasons", None) or pynvml.nvmlDeviceGetCurrentClocksThrottleReasons

    def text(value: Any) -> str:
        return value.decode() if isinstance(value, bytes) else str(value)

    def sample() -> Sample:
        return {"sm_mhz": pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM),
                "memory_mhz": pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_MEM),
                "watt": pynvml.nvmlDeviceGetPowerUsage(handle) / 1000,
                "celsius": pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU),
                "reasons": int(reasons(handle))}

    sample()
    facts = {"name": text(pynvml.nvmlDeviceGetName(handle)), "driver_version": text(pynvml.nvmlSystemGetDriverVersion()),
             "clocks_max_sm": pynvml.nvmlDeviceGetMaxClockInfo(handle, pynvml.NVML_CLOCK_SM),
             "power_limit": pynvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000}
    return sample, facts
