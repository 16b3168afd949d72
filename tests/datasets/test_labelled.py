"""Labelled records: labels fit the records, and bounds hold them."""

import numpy as np
import pytest

from dpmorse import InvalidParameterError
from dpmorse.datasets import LabelledData, widened_bounds


def test_bounds_that_leave_a_record_out_are_refused():
    X, y = np.array([[0.0], [2.0]]), np.array([0, 1])
    with pytest.raises(InvalidParameterError, match="bounds must contain every record of 'mine'"):
        LabelledData("mine", X, y, (np.array([0.0]), np.array([1.0])))


def test_bounds_are_wider_than_the_records_even_where_a_column_is_constant():
    lower, upper = widened_bounds(np.array([[3.0, 0.0], [3.0, 10.0]]))
    np.testing.assert_allclose(lower, [2.95, -0.5])
    np.testing.assert_allclose(upper, [3.05, 10.5])


def test_labels_that_do_not_fit_the_records_are_refused():
    X, y = np.zeros((2, 1)), np.array([0])
    with pytest.raises(InvalidParameterError, match="one label per row"):
        LabelledData("mine", X, y, (np.zeros(1), np.ones(1)))
