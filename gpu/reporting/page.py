"""The Markdown page: what was measured on, then each part with the lines that its figures come from."""
from __future__ import annotations

import pathlib
from typing import Any, Iterable, Sequence

from kit import summary
from kit.records import Record

from . import series


def number(value: float | None) -> str:
    return "" if value is None else summary.number(value)


def code(text: str | None) -> str:
    return f"`{text}`" if text else ""


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    found = [list(map(str, row)) for row in rows]
    if not found:
        return []
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(c.replace("|", "\\|") for c in row) + " |" for row in found), ""]


def page(records: list[Record], bad: int, plots: dict[str, str], source: str) -> str:
    """`plots` names the picture of each series that has one; `source` is the name of the results file."""
    run = next((r for r in records if r["record"] == "run"), {})
    lines = [*head(run, records, bad, source), *abi(records), *correctness(records), *peers(records, plots), *micro(records, plots), *dependent(records), *tensor_copies(records), *skipped(records)]
    return "\n".join(lines).rstrip() + "\n"


def head(run: Record, records: list[Record], bad: int, source: str) -> list[str]:
    machine = run.get("machine", {})
    # Of the longest run.
    whole = max((r for r in records if r["record"] == "telemetry"), key=lambda r: r.get("samples", 0), default={})
    facts, clocks = whole.get("facts", {}), whole.get("clocks", {})
    name = machine.get("name") or facts.get("model") or "unknown device"

    def spread(key: str, unit: str) -> str:
        c = clocks.get(key)
        return f"{number(c['median'])} {unit} ({number(c['low'])} to {number(c['high'])})" if c else "not sampled"

    rows = [
        ["device", f"{name}, {facts.get('sms', '?')} multiprocessors, {facts.get('memory_bytes', 0) / 2**30:.0f} GiB, L2 {facts.get('l2_bytes', 0) / 2**20:.0f} MiB"],
        ["driver", f"{machine.get('driver_version', '?')} (API {facts.get('driver_api', '?')})"],
        ["clocks over the run", f"SM {spread('sm_mhz', 'MHz')}, memory {spread('memory_mhz', 'MHz')}"],
        ["power", f"{spread('watt', 'W')}, limit {machine.get('power_limit', '?')} W"],
        ["reasons for lower clocks", f"`{clocks.get('reasons', 0):#x}`"],
        ["lines", f"{len(records)} in `{source}`{f', {bad} of them damaged' if bad else ''}; the column *line* says where a figure comes from"],
    ]
    note = []
    if not facts.get("measures", True) or run.get("device") == "sim":
        note = ["**These lines come from the simulated device: they show that the kit works. Nothing here is a measurement.**", ""]
    return [f"# Results: {name}, {(run.get('started') or '?')[:10]}", "", *note, *table(["", ""], rows), *table(["command", "pack", "of", "started", "took"], runs(records))]


def runs(records: list[Record]) -> Iterable[Sequence[Any]]:
    """What was run: several commands may be one page."""
    starts = [i for i, r in enumerate(records) if r["record"] == "run"]
    for start, behind in zip(starts, [*starts[1:], len(records)]):
        run, pack = records[start], records[start].get("pack", {})
        end = next((r for r in records[start:behind] if r["record"] == "end"), None)
        yield [code(run.get("command", "?")), code(pack.get("digest", "?")), f"{pack.get('tileiras', '?')}; {pack.get('ptxas', '?')}", run.get("started", "?"),
               f"{end['elapsed']:.0f} s" if end else "cut off"]


def abi(records: list[Record]) -> list[str]:
    rows = [r for r in records if r["record"] == "launch_abi"]
    if not rows:
        return []
    return ["## Launch ABI", "", "What the variants are: [launch-abi.md](../launch-abi.md).", "",
            *table(["variant", "block", "through", "outcome", "code", "threads seen", "ntid.x", "binary", "line"],
                   ([r["variant"], r["block"][0], r["api"], r["outcome"], r.get("code_name") or r.get("code", ""), r.get("threads", ""), r.get("ntid_x", ""),
                     code(r.get("sha256")), r["line"]] for r in rows))]


def correctness(records: list[Record]) -> list[str]:
    cases = [r for r in records if r["record"] == "case" and r["part"] in ("correctness", "ptx")]
    if not cases:
        return []
    titles = {"correctness": "programs of the corpus", "ptx": "test kernels of the simulator"}
    lines = ["## Correctness", ""]
    for part, title in titles.items():
        mine = [r for r in cases if r["part"] == part]
        if mine:
            passed = sum(r["status"] == "pass" for r in mine)
            lines += [f"{passed} of {len(mine)} {title} are right.", ""]
    corpus: dict[str, dict[str, str]] = {}
    for r in cases:
        if r["part"] == "correctness":
            program, _, level = r["name"].partition(" ")
            corpus.setdefault(program, {})[level] = r["status"] if r["status"] == "pass" else f"**{r['status']}**"
    levels = sorted({level for by in corpus.values() for level in by})
    lines += table(["program", *levels], ([program, *(by.get(level, "") for level in levels)] for program, by in corpus.items()))
    wrong = [r for r in cases if r["status"] not in ("pass", "skipped")]
    return lines + table(["case", "status", "step", "first wrong element, or error", "binary", "line"],
                         ([r["name"], r["status"], r.get("what", ""), f"{r.get('code_name') or ''} {r.get('detail', '')}".strip(), code(r.get("sha256")), r["line"]]
                          for r in wrong))


def peers(records: list[Record], plots: dict[str, str]) -> list[str]:
    best = summary.best(records)
    if not best:
        return []
    cases = list(dict.fromkeys(name for name, _ in best))
    rows = []
    for name in cases:
        for (case, impl), r in best.items():
            if case != name:
                continue
            ratio = r.get("against_library")
            clocks = r.get("clocks", {}).get("sm_mhz")
            rows.append([name, impl, f"{number(r['median'])} {r['unit']}", f"{number(r['low'])} to {number(r['high'])}",
                         f"{ratio['median']:.3f}" if ratio else "", r.get("config", ""), number(r.get("error")), code(r.get("sha256")),
                         number(clocks["median"]) if clocks else "", r["line"]])
    return ["## Competitors", "", "The best variant of each; medians of interleaved graph replays with their range; *ratio*: the library's time over this one's, "
            "replay by replay.", "", *pictures("peers", plots),
            *table(["case", "who", "rate", "range", "ratio", "variant", "error", "binary", "SM MHz", "line"], rows)]


def micro(records: list[Record], plots: dict[str, str]) -> list[str]:
    rows = [r for r in records if r["record"] == "measurement" and r["part"] == "micro"]
    if not rows:
        return []
    missed = [r for r in rows if not r["as_predicted"]]
    listed = ([r["micro"], f"`{r['name']}`", f"{number(r['median'])} {r['unit']}", f"{number(r['low'])} to {number(r['high'])}",
               f"{number(r['predicted'])} ({number(r['predicted_low'])} to {number(r['predicted_high'])})", "" if r["as_predicted"] else "**no**",
               f"`{r['sha256']}`", r["line"]] for r in rows)
    return ["## Micro-kernels", "", f"{len(rows)} constants; {len(missed)} are not as predicted.", "", *pictures("micro", plots),
            *table(["", "constant", "measured", "range", "predicted", "as predicted", "binary", "line"], listed),
            *(["### Why the predictions that failed were made", ""] if missed else []), *(f"* `{r['name']}`: {r['why']}." for r in missed), *([""] if missed else [])]


def dependent(records: list[Record]) -> list[str]:
    rows = [r for r in records if r["record"] == "measurement" and r["part"] == "dependent"]
    return ["## Dependent launches", "", "Eight grids, each waiting for the one before, as ordinary launches of a stream and with programmatic serialization; "
            "time for each launch.", "",
            *table(["chain", "how", "median", "range", "binary", "line"],
                   ([r["name"], r["impl"], f"{number(r['median'])} {r['unit']}", f"{number(r['low'])} to {number(r['high'])}", code(r.get("sha256")), r["line"]]
                    for r in rows))] if rows else []


def tensor_copies(records: list[Record]) -> list[str]:
    rows = [r for r in records if r["record"] == "tensor_copy"]
    if not rows:
        return []
    kinds = dict.fromkeys((r["op"], r["element"], r["aligned"]) for r in rows)
    listed = []
    for op, element, aligned in kinds:
        mine = [r for r in rows if (r["op"], r["element"], r["aligned"]) == (op, element, aligned)]
        codes = sorted({r["code_name"] for r in mine if r.get("code_name")})
        listed.append([op, element, "yes" if aligned else "no", summary.tally(mine), ", ".join(codes), f"{mine[0]['line']} to {mine[-1]['line']}"])
    return ["## Coordinates of TMA copies", "", "One copy of a box of 8 rows of 32 bytes at each of several coordinates, inside the tensor, over its borders and outside; "
            "*aligned*: the box begins at a multiple of 16 bytes along the innermost dimension.", "",
            *table(["copy", "element", "aligned", "outcome", "code", "lines"], listed)]


def pictures(part: str, plots: dict[str, str]) -> list[str]:
    lines = [f"![{series.TITLES[key]}]({file})" for key, file in plots.items() if key.startswith(part)]
    return [*lines, ""] if lines else []


def skipped(records: list[Record]) -> list[str]:
    rows = [r for r in records if r["record"] == "case" and (r["status"] == "skipped" or r["part"] in ("peers", "micro", "launch-abi") and r["status"] != "pass")]
    return (["## Not measured", ""] if rows else []) + table(["what", "status", "why", "line"], (
        [f"{r['part']}: {r['name']}", r["status"], f"{r.get('what', '')} {r.get('code_name') or ''} {r.get('detail') or ''}".strip(), r["line"]] for r in rows))


def write(path: pathlib.Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
