"""Counting failures, with a clock that the test moves."""

import pytest

from accounts.errors import TooManyRequests
from accounts.throttle import Throttle


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def throttle(clock):
    return Throttle(attempts=3, window_seconds=60, clock=clock)


def test_allows_until_the_limit(throttle):
    for _ in range(3):
        throttle.check("a", "1")
        throttle.failed("a", "1")
    with pytest.raises(TooManyRequests) as e:
        throttle.check("a", "1")
    assert 1 <= e.value.retry_after <= 61


def test_window_slides(throttle, clock):
    for _ in range(3):
        throttle.failed("a", "1")
        clock.now += 25
    throttle.check("a", "1")


def test_success_forgives_the_account_only(throttle):
    for i in range(15):
        throttle.failed("a%d" % i, "1")
    throttle.succeeded("a1")
    with pytest.raises(TooManyRequests):
        throttle.check("a1", "1")
    throttle.check("a1", "2")


def test_sweep_forgets(throttle, clock):
    throttle.failed("a", "1")
    assert throttle.size() == 2
    clock.now += 61
    throttle.sweep()
    assert throttle.size() == 0
