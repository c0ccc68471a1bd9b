"""Decisions about rows on a device, made there: posteriors brought to other priors, costs, rejecting.

What a rule or a calibrator of somebody else does is done on the host, from the posteriors alone; so is what
rounding leaves open between two actions. The table never leaves its device.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from posterior._types import AnyArray
from posterior.decision.cheapest import CLOSE, SMALL, cheapest
from posterior.decision.priors import PriorShift
from posterior.decision.reject import Limit, RejectionCost, RejectRule, Threshold
from posterior.decision.rule import DecisionRule
from posterior.decision.scaling import CalibrationMap, Scaling
from posterior.engines.device.arrays import ArrayLibrary, chunks
from posterior.estimators.classifiers import is_frozen
from posterior.estimators.device import DeviceTable, labels_of, weights_of
from posterior.estimators.fitted_classifier import Adjustment
from posterior.kernels import array_api
from posterior.schema.classes import known_codes

# How rules say of rows on a device whether they are rejected, from log posteriors and least expected costs.
REJECTS: dict[type, Callable[[Any, Any, Any, Any], Any]] = {
    Threshold: lambda xp, rule, logs, risk: xp.max(logs, axis=1) < float(np.log(rule.theta)),
    RejectionCost: lambda xp, rule, logs, risk: risk > rule.limit,
    Limit: lambda xp, rule, logs, risk: risk > rule.limit,
}


def answers_there(model: Any) -> bool:
    """Whether a classifier gives the posteriors of arrays on a device, as those of this package do."""
    return hasattr(model.estimator if is_frozen(model) else model, "_device_scores")


def in_parts(table: DeviceTable, n_classes: int, answer: Callable[[DeviceTable], Any]) -> Any:
    """The answers to all rows, some of them at a time: posteriors need more room than the rows do."""
    rows, cells = table.table, table.table.shape[1] + 8 * n_classes
    parts = [answer(DeviceTable(rows[part, :])) for part in chunks(table.n_rows, cells)]
    return parts[0] if len(parts) == 1 else table.library.xp.concat(parts, axis=0)


def adjusted_logs(model: Any, adjustment: Adjustment, table: DeviceTable) -> Any:
    """The log posteriors by which rows are decided, (n, K), in double precision where the device has it."""
    library = table.library
    logs = library.xp.astype(model.predict_log_proba(table.table), library.floats)
    if adjustment.calibration is not None:
        logs = _shifted(library, adjustment.to_observed, logs)
        logs = _calibrated(library, adjustment.calibration, logs)
    return _shifted(library, adjustment.to_new, logs)


def device_answer(method: str, table: DeviceTable, logs: Any) -> Any:
    """What a method gives for these log posteriors, in the precision of the rows."""
    xp = table.library.xp
    if method == "predict_proba":
        found = xp.exp(logs)
    elif method == "decision_function" and logs.shape[1] == 2:
        found = logs[:, 1] - logs[:, 0]
    else:
        found = logs
    return xp.astype(found, xp.float32) if table.source.single else found


def device_decisions(table: DeviceTable, rule: DecisionRule, logs: Any, outlying: Any = None) -> Any:
    """Positions in the labels of the rule of what is done with each row, (n,)."""
    library, xp = table.library, table.library.xp
    costs, reject = rule.costs, rule.reject
    if (costs is not None and costs.matrix.ndim == 3) or not _is_known(reject):
        chosen = library.to_device(rule.codes(library.to_host(logs)))
    else:
        if costs is None:
            chosen = library.indices(xp.argmax(logs, axis=1))
            risk = None if reject is None else _others(xp, xp.exp(logs), chosen)
        else:
            chosen, risk = _cheapest(library, logs, costs.matrix)
        if reject is not None:
            rejected = REJECTS[type(reject)](xp, reject, logs, risk)
            chosen = xp.where(rejected, xp.full_like(chosen, len(rule.actions)), chosen)
    if outlying is None:
        return chosen
    return xp.where(outlying, xp.full_like(chosen, len(rule.labels) - 1), chosen)


def device_expected_cost(table: DeviceTable, rule: DecisionRule, logs: Any) -> Any:
    """Expected cost of each action for each row, (n, A)."""
    library = table.library
    if rule.costs is not None and rule.costs.matrix.ndim == 3:
        return library.to_device(rule.expected_cost(library.to_host(logs)))
    matrix = 1.0 - np.eye(len(rule.classes)) if rule.costs is None else rule.costs.matrix
    return library.xp.exp(logs) @ library.to_device(matrix)


def device_average(
    table: DeviceTable,
    rule: DecisionRule,
    classes: AnyArray,
    codes: Any,
    y: Any,
    sample_weight: Any,
    who: str,
) -> float:
    """Minus the average cost of what is done with each row; without costs the share of right answers."""
    library, xp = table.library, table.library.xp
    found, own = labels_of(table, y, who)
    true = xp.take(library.to_device(known_codes(found, classes)), library.indices(own), axis=0)
    if rule.costs is None:
        gain = xp.astype(true == codes, library.floats)
    else:
        matrix = rule.priced().matrix
        if matrix.ndim == 3:
            rows = np.arange(len(matrix))
            gain = -library.to_device(matrix[rows, library.to_host(true), library.to_host(codes)])
        else:
            gain = -xp.take(library.to_device(matrix.ravel()), true * matrix.shape[1] + codes, axis=0)
    weight = weights_of(table, sample_weight)
    if weight is None:
        return float(library.scalar(xp.mean(gain)))
    return float(library.scalar(xp.sum(gain * weight) / xp.sum(weight)))


def _is_known(reject: RejectRule | None) -> bool:
    return reject is None or type(reject) in REJECTS


def _shifted(library: ArrayLibrary, shift: PriorShift | None, logs: Any) -> Any:
    if shift is None:
        return logs
    old, new = library.to_device(shift.log_old), library.to_device(shift.log_new)
    return array_api.posteriors(library.xp, logs - old + new, new, logs=True)


def _calibrated(library: ArrayLibrary, scaling: CalibrationMap, logs: Any) -> Any:
    if type(scaling) is not Scaling:
        return library.to_device(scaling.calibrated(library.to_host(logs)))
    weight, bias = library.to_device(scaling.weight), library.to_device(scaling.bias)
    return array_api.posteriors(library.xp, logs * weight + bias, bias, logs=True)


def _others(xp: Any, shares: Any, best: Any) -> Any:
    """The sum of a row's shares but that of the best, (n,)."""
    places = xp.arange(shares.shape[1], dtype=best.dtype, device=shares.device)
    return xp.sum(xp.where(best[:, None] == places[None, :], xp.zeros_like(shares), shares), axis=1)


def _cheapest(library: ArrayLibrary, logs: Any, costs: AnyArray) -> tuple[Any, Any]:
    """The action of least expected cost, and that cost; the host decides where rounding would."""
    xp = library.xp
    found = xp.exp(logs) @ library.to_device(costs)
    chosen = library.indices(xp.argmin(found, axis=1))
    least = xp.min(found, axis=1)
    if costs.shape[1] == 1:
        return chosen, least
    places = xp.arange(costs.shape[1], dtype=chosen.dtype, device=found.device)
    others = xp.where(chosen[:, None] == places[None, :], xp.zeros_like(found) + np.inf, found)
    size = xp.exp(logs) @ library.to_device(np.abs(costs).max(axis=1))
    unsure = ~(xp.min(others, axis=1) - least > CLOSE * size + SMALL)
    rows = xp.nonzero(unsure)[0]
    if rows.shape[0]:
        settled = library.to_device(cheapest(library.to_host(xp.take(logs, rows, axis=0)), costs)[0])
        rank = xp.cumulative_sum(xp.astype(unsure, xp.int64)) - 1
        rank = xp.where(rank < 0, xp.zeros_like(rank), rank)
        chosen = xp.where(unsure, xp.take(settled, rank, axis=0), chosen)
    return chosen, least
