"""Pieces of work for the tests of the supervisor."""
import os
import signal
import time

from kit.device import DeviceError


def handle(context, payload):
    what = payload["do"]
    if what == "competition":
        for subject in ("good 1", "crash", "lost", "hang", "good 2"):
            if subject not in context.skip:
                context.stage("run", subject)
                act(context, subject)
        return
    act(context, what)


def act(context, what):
    if what == "says nothing":
        return
    if what == "raises":
        1 / 0
    if what == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "lost":
        raise DeviceError("run", "the context is lost", code=700, code_name="LOST", fatal=True)
    if what == "hang":
        time.sleep(60)
    context.case("pass", what)
