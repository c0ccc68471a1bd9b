"""Numbers as text: shares are never rounded to nothing or to all, large numbers are plain."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posterior._text import percent, rate_text, readable
from posterior.comparison.printing import loss_text


@given(st.floats(0, 1))
def test_a_share_looks_like_nothing_or_all_only_where_it_is(share: float) -> None:
    told = percent(share)
    assert (told == "0.0 %") == (share == 0)
    assert (told == "100.0 %") == (share == 1)
    if told[0] not in "<>":
        assert abs(float(told.removesuffix(" %")) - 100 * share) <= 0.0501


@given(st.floats(2e-6, 1 - 2e-6))
def test_a_rate_looks_like_0_or_1_only_where_it_is(rate: float) -> None:
    assert 0 < float(rate_text(rate)) < 1


@given(st.floats(1e-6, 1e12, exclude_max=True), st.integers(1, 5), st.sampled_from([1, -1]))
def test_a_readable_number_has_its_digits_and_no_power_of_ten(size: float, digits: int, sign: int) -> None:
    told = readable(sign * size, digits)
    assert "e" not in told
    value = float(told.replace(",", ""))
    assert value == pytest.approx(sign * size, rel=0.51 * 10.0 ** (1 - digits))


def test_readable_numbers_round_up_to_the_next_power_of_ten() -> None:
    assert [readable(v) for v in (9.996, 99.96, 999.6, 0.09996)] == ["10.0", "100", "1,000", "0.100"]
    assert readable(math.nan) == "nan"


def test_a_large_loss_is_a_plain_number() -> None:
    assert loss_text(15712.3) == "15,712"
