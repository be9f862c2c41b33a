"""mx.device: a function that knows how it is to be asked."""

import functools
import inspect

from ._bench import bench
from ._run import identify, replay, run
from ._search import fuzz, relate

_COMMANDS = (run, replay, identify, relate, fuzz, bench)
# What a command knows by itself: a case says all of it, and the dialect is what identify looks for.
_LEFT_OUT = {replay: {"format", "dialect", "operation", "packing", "scale_layout", "block_size"}}
_LEFT_OUT[identify] = {"dialect"}


@functools.cache
def _parameters_of(command):
    return inspect.signature(command).parameters


class Device:
    """What mx.device makes of a function: called, it is that function; its methods are those of the
    package with what the decorator was told."""

    def __init__(self, function, settings, owner=None):
        if not callable(function):
            raise TypeError(f"{function!r} is no function")
        functools.update_wrapper(self, function)
        self.function, self.settings, self._owner = function, settings, owner

    def __call__(self, *arguments, **named):
        return self.function(*arguments, **named)

    def __get__(self, instance, owner=None):
        """As a method: of `instance`."""
        if instance is None or not hasattr(self.function, "__get__"):
            return self
        return Device(self.function.__get__(instance, owner), self.settings, instance)

    def __reduce__(self):
        """Pickled as a function is: by its name."""
        if self._owner is None:
            return self.__qualname__
        return getattr, (self._owner, self.__name__)

    def _asked(self, command, *arguments, **named):
        known, usual = _parameters_of(command), _parameters_of(run)
        told = {name: value for name, value in self.settings.items() if name in known}
        for name in set(self.settings) - set(told) - _LEFT_OUT.get(command, set()):
            value = self.settings[name]
            if name not in usual or value != usual[name].default:
                raise TypeError(
                    f"mxcheck.device was told {name}={value!r}, and {command.__name__} takes no "
                    f"{name}: say it to the commands that do"
                )
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


def device(**settings):
    """Decorates a function with how it is asked, in the arguments that run takes:

        @mx.device(format="mxfp8-e4m3", dialect="nv", tensors="torch-cuda")
        def my_quantizer(x): ...

        my_quantizer.run(level="smoke").raise_for_status()

    Returns a decorator, of functions and of methods, which can be used twice: the outer one's
    go first. The function stays one, and can be pickled; run, replay, identify, relate, fuzz and
    bench are its methods, and what they are given goes before what was said here. Raises TypeError
    for an argument that none of them takes; so does a method for one that its command does not.
    """
    known = {name for command in _COMMANDS for name in _parameters_of(command)}
    unknown = sorted(set(settings) - known | {"function", "case"} & set(settings))
    if unknown:
        raise TypeError(f"mxcheck.device does not know {', '.join(unknown)}")

    def decorated(function):
        if isinstance(function, Device):
            return Device(function.function, {**function.settings, **settings}, function._owner)
        return Device(function, settings)

    return decorated
