"""Everything private of scikit-learn that is imported here: what a new release may change without notice."""

from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled
from sklearn.utils.metaestimators import _BaseComposition as BaseComposition
from sklearn.utils.validation import _check_method_params as check_method_params
from sklearn.utils.validation import _check_sample_weight as check_sample_weight
from sklearn.utils.validation import _num_samples as num_samples

__all__ = [
    "BaseComposition",
    "check_method_params",
    "check_sample_weight",
    "num_samples",
    "routing_enabled",
]
