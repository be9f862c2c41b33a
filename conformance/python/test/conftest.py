import numpy
import pytest

pytest_plugins = ["pytester"]


def pytest_configure(config):
    config.addinivalue_line("markers", "once: long, and other packages change nothing in it")


@pytest.fixture
def x():
    """Values of many sizes, seeded."""
    generator = numpy.random.default_rng(20)
    sizes = numpy.exp2(generator.integers(-12, 12, size=(64, 1)))
    return (generator.normal(size=(64, 96)) * sizes).astype("float32")
