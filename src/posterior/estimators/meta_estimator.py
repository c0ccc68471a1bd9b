"""The base of classifiers that have another classifier inside: training rows, columns, tags, routing."""

import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from posterior._text import listed
from posterior._types import AnyArray
from posterior.engines import ScannedTable
from posterior.estimators._sklearn import check_method_params, num_samples
from posterior.estimators.callbacks import CallbackSupport
from posterior.estimators.classifiers import routed
from posterior.estimators.device import RowsThere, is_device_array, on_the_host, training_of
from posterior.estimators.device_decisions import answers_there
from posterior.estimators.splits import names_rows, read_folds
from posterior.estimators.target import read_labels, read_weights, scanned_table
from posterior.estimators.training_rows import HELD_OUT_ROWS, refuse_one_reading, sampled_table
from posterior.schema import LabelledTable


class MetaClassifier(CallbackSupport, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier with another one inside, its parameter `estimator`."""

    estimator: Any
    cv: Any

    def _rows(
        self, X: Any, y: Any, sample_weight: Any, fit_params: dict[str, Any]
    ) -> tuple[LabelledTable, dict[str, Any], Any, Any]:
        """The rows that count, what goes to `fit` with them, their `cv`, and all rows if these are elsewhere.

        A row of weight zero is not there at all. The table is left to the estimator to read. Of a scan, and
        of rows on a device, the table is a sample, of which rows are held out.
        """
        elsewhere = self._elsewhere(X, y, sample_weight)
        if elsewhere is not None:
            if fit_params:
                raise TypeError(
                    f"{listed(list(fit_params))}: fit to a scan, or to rows on a device, takes no parameters "
                    "of its rows"
                )
            table, cv = sampled_table(elsewhere), self.cv
            if names_rows(cv) and isinstance(elsewhere, RowsThere):
                numbers = read_folds(cv, np.zeros(num_samples(X), np.int64)).numbers
                cv = elsewhere.of_sample(numbers, HELD_OUT_ROWS)
            return table, routed(self, self.estimator, table.weight, {}), cv, elsewhere
        if isinstance(X, LabelledTable):
            table, sample_weight = X.present(), X.weight
        else:
            (X,) = indexable(on_the_host(X))
            labels = read_labels(y, num_samples(X), type(self).__name__)
            table = LabelledTable.of(X, labels, read_weights(sample_weight, labels))
        params, cv = routed(self, self.estimator, sample_weight, fit_params), self.cv
        if table.weight is not None and not table.weight.all():
            rows = np.flatnonzero(table.weight)
            if names_rows(cv):
                cv = read_folds(cv, np.zeros(len(table), np.int64)).numbers[rows]
            params = check_method_params(table.codes, params, indices=rows)
            table = table.part(rows).present()
        return table, params, cv, None

    def _elsewhere(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """A scan, or rows on a device that the estimator is fitted to there; None for any other table."""
        who = type(self).__name__
        if isinstance(X, ScannedTable):
            scan = scanned_table(X, y, sample_weight, who)
            refuse_one_reading(scan, who)
            return scan
        if is_device_array(X) and answers_there(self.estimator):
            training = training_of(X, y, sample_weight, who, any_classes=False)
            return RowsThere(training, (X, y) if sample_weight is None else (X, y, sample_weight))
        return None

    @property
    def n_features_in_(self) -> int:
        """Number of columns, where the classifier tells."""
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> AnyArray:
        """Column names, where the classifier tells."""
        return np.asarray(self.estimator_.feature_names_in_)

    def get_metadata_routing(self) -> MetadataRouter:
        """What goes where: parameters of `fit` to the estimator, those of other methods to this one."""
        fitting = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=fitting)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = copy.copy(inner.input_tags)
        tags.classifier_tags = copy.copy(inner.classifier_tags)
        return tags
