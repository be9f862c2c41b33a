"""mx.device: a function that knows how it is to be asked."""

import functools
import inspect

from ._bench import bench
from ._run import identify, replay, run
from ._search import fuzz, relate


class Device:
    """What mx.device makes of a function: called, it is that function; its methods are those of the
    package with what the decorator was told."""

    def __init__(self, function, words):
        functools.update_wrapper(self, function)
        self.function, self.words = function, words

    def __call__(self, *arguments, **named):
        return self.function(*arguments, **named)

    def _asked(self, command, *arguments, **named):
        known = inspect.signature(command).parameters
        told = {word: value for word, value in self.words.items() if word in known}
        return command(self.function, *arguments, **{**told, **named})

    def run(self, **named):
        """mxcheck.run of it."""
        return self._asked(run, **named)

    def replay(self, case, **named):
        """mxcheck.replay of it."""
        return self._asked(replay, case, **named)

    def identify(self, **named):
        """mxcheck.identify of it."""
        return self._asked(identify, **named)

    def relate(self, **named):
        """mxcheck.relate of it."""
        return self._asked(relate, **named)

    def fuzz(self, **named):
        """mxcheck.fuzz of it."""
        return self._asked(fuzz, **named)

    def bench(self, **named):
        """mxcheck.bench of it."""
        return self._asked(bench, **named)


def device(**words):
    """Decorates a function with how it is asked, in the words that run takes:

        @mx.device(format="mxfp8-e4m3", dialect="nv", tensors="torch-cuda")
        def my_quantizer(x): ...

        my_quantizer.run(level="smoke").raise_for_status()

    Returns a decorator. The function stays one; run, replay, identify, relate, fuzz and bench are
    its methods, and what they are given goes before what was said here. Raises TypeError for a word
    that none of them takes.
    """
    commands = (run, replay, identify, relate, fuzz, bench)
    known = {name for command in commands for name in inspect.signature(command).parameters}
    unknown = sorted(set(words) - known | {"function", "case"} & set(words))
    if unknown:
        raise TypeError(f"mxcheck.device does not know {', '.join(unknown)}")
    return lambda function: Device(function, words)
