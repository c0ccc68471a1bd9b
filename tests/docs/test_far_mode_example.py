"""The example of a hump that the posterior never sees: its numbers, and that it draws."""

import numpy as np
import pytest

from places import REPOSITORY, module_from


@pytest.fixture(scope="module")
def example():
    return module_from(REPOSITORY / "examples" / "far_mode.py")


def test_the_far_hump_changes_the_density_and_not_the_posterior(example):
    density, posterior = example.difference(example.with_far_mode(), example.without_far_mode())
    assert density > 0.25
    assert posterior < 2e-8


def test_densities_integrate_to_one_with_the_hump_and_without(example):
    step = example.LINE[1, 0] - example.LINE[0, 0]
    for model in (example.with_far_mode(), example.without_far_mode()):
        np.testing.assert_allclose(example.densities(model).sum(axis=0) * step, [1, 1], atol=1e-9)


def test_joint_densities_away_from_the_hump_are_the_same_up_to_a_factor(example):
    x = np.linspace(4.0, 9.0, 50)[:, None]
    gap = example.with_far_mode().predict_joint_log_proba(x)
    gap -= example.without_far_mode().predict_joint_log_proba(x)
    np.testing.assert_allclose(gap, np.full_like(gap, np.log(0.8)), atol=1e-4)


def test_models_fitted_to_rows_agree_where_the_hump_is_described_or_absent(example):
    two, near, blurred = example.from_data()
    density, posterior = example.difference(two, near)
    assert density > 0.25
    assert posterior < 0.02
    assert example.difference(two, blurred)[1] > 0.5


def test_the_fitted_mixture_finds_the_humps(example):
    fitted = example.from_data()[0].model_.blocks[0].distribution
    np.testing.assert_allclose(fitted.mean[fitted.owner == 0, 0], [example.FAR, example.NEAR], atol=0.05)
    np.testing.assert_allclose(
        fitted.weight[fitted.owner == 0], [example.SHARE, 1 - example.SHARE], atol=0.02
    )


@pytest.mark.long
def test_it_prints_a_table_and_draws_the_same_file_twice(example, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="drawing is optional and needs matplotlib")
    for name in ("first.svg", "second.svg"):
        example.main(tmp_path / name)
    assert "1.8e-08" in capsys.readouterr().out
    first, second = ((tmp_path / name).read_bytes() for name in ("first.svg", "second.svg"))
    assert b"<svg" in first
    assert first == second
    assert b"<dc:date>" not in first
