"""The wheel's tag: any Python 3, on the platform that the programs inside are for."""
import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Tag(BuildHookInterface):
    def initialize(self, version: str, build_data: dict) -> None:
        platform = os.environ.get("TILEIRAS_WHEEL_PLATFORM")
        if not platform:
            raise SystemExit("tag.py: scripts/wheel.sh builds the wheel: it brings the programs and says what they are for")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
