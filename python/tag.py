"""The wheel's tag: any Python 3, on the platform of the programs inside."""
import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Tag(BuildHookInterface):
    def initialize(self, version: str, build_data: dict) -> None:
        platform = os.environ.get("TILEIRAS_WHEEL_PLATFORM")
        if not platform:
            raise SystemExit("tag.py: build the wheel with scripts/wheel.sh, which provides the programs and their platform")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
