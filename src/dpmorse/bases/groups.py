"""Promises to persons with several rows: owners and a limit go together, or not at all."""

from typing import Any

from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import Budget
from dpmorse.records import Records, open_records


def check_owners(records: Records, budget: Budget) -> None:
    """Refuse owners without a limit, and a limit without owners, before data is touched."""
    if not records.owned and budget.max_rows_per_group is not None:
        raise InvalidParameterError(
            f"groups must be given with max_rows_per_group={budget.max_rows_per_group}: "
            "fit(X, groups=...), one value for each row that says whose it is."
        )
    if records.owned and budget.max_rows_per_group is None:
        raise InvalidParameterError(
            "max_rows_per_group must be set where groups are given: how many rows of each are used at most. "
            "It is public; the noise grows in proportion to it."
        )


def to_label(X: Any, groups: Any) -> Any:
    """Return what a model that was fitted on X with these groups can label: X without its column of ids."""
    if not isinstance(groups, str):
        return X
    records = open_records(X, groups)
    return getattr(records, "unowned", records)  # a table as it was given: bases of others take it too
