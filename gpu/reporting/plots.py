"""Pictures of curves, if matplotlib is there."""
from __future__ import annotations

import pathlib

from .series import AXES, TITLES, Curves


def draw(curves: Curves, folder: pathlib.Path) -> dict[str, str]:
    """Writes a PNG for each plot; gives their names, none without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return {}
    matplotlib.use("Agg")
    from matplotlib import pyplot
    found = {}
    folder.mkdir(parents=True, exist_ok=True)
    for plot, lines in curves.items():
        figure, axes = pyplot.subplots(figsize=(7, 4))
        for name, points in sorted(lines.items()):
            xs, ys = [p.x for p in points], [p.y for p in points]
            axes.errorbar(xs, ys, yerr=[[p.y - p.low for p in points], [p.high - p.y for p in points]], marker="o", capsize=3, linewidth=1.2, label=name)
        x, y = AXES[plot]
        xs = sorted({p.x for points in lines.values() for p in points})
        if xs[0] > 0:
            axes.set_xscale("log", base=2)
        axes.set_xticks(xs, [f"{v:g}" for v in xs])
        axes.minorticks_off()
        axes.set(title=TITLES[plot], xlabel=x, ylabel=y, ylim=(0, None))
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
        file = f"{plot.replace('.', '-')}.png"
        # No date and no version in the file: the same results make the same bytes.
        figure.savefig(folder / file, dpi=110, bbox_inches="tight", metadata={"Software": None})
        pyplot.close(figure)
        found[plot] = file
    return found
