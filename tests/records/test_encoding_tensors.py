"""Described tensors hold codes: they become the records of the table that the codes stand for."""

from datetime import date

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from described_tables import SCHEMA, columns  # noqa: E402
from dpmorse import DPMorseError, Nominal, Numeric, Schema  # noqa: E402
from dpmorse.records import open_records  # noqa: E402

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
devices = pytest.mark.parametrize("device", DEVICES)
TABLE = columns(400)
RECORDS = np.array(list(zip(*TABLE.values(), strict=True)), dtype=object)
OWNERS = [f"p{i % 50}" for i in range(400)]


def codes():
    """Return the table as numbers; codes that are none stand for values that are not listed."""
    listed = {
        "status": {"employed": 0, "retired": 1, "NA": 2, "Employed": -1, "x": 7},
        "grade": {"low": 0, "mid": 1, "high": 2, "none": 0.5},
        "smoker": {False: 0, True: 1},
        "ward": {1: 0, 2: 1, 30: 2, 4: np.inf},
    }
    coded = {name: [places.get(value) for value in TABLE[name]] for name, places in listed.items()}
    days = [None if day is None else (day - date(2000, 1, 1)).days for day in TABLE["joined"]]
    whole = {**TABLE, **coded, "joined": days}
    return np.array(list(zip(*whole.values(), strict=True)), dtype=np.float64)


@devices
@pytest.mark.parametrize("most", [None, 3])
def test_codes_give_the_records_of_the_table(device, most):
    owners = None if most is None else OWNERS
    X = torch.from_numpy(codes()).to(device)
    found = open_records(X, owners, SCHEMA).read(None, most)
    assert found.device.type == device
    assert np.array_equal(found.cpu().numpy(), open_records(RECORDS, owners, SCHEMA).read(None, most))


@devices
def test_every_record_is_labelled(device):
    X = torch.from_numpy(codes()).to(device)
    found = open_records(X, schema=SCHEMA).each(None, lambda array: array)
    assert np.array_equal(found.cpu().numpy(), open_records(RECORDS, schema=SCHEMA).read(None))


@devices
def test_single_precision_gives_the_same_middle(device):
    schema = Schema.of({"a": Numeric(0, 0.1, missing="ignore")})
    X = torch.tensor([[torch.nan]], dtype=torch.float32, device=device)
    assert open_records(X, schema=schema).read(None).tolist() == [[1.0, 0.05]]


@pytest.mark.parametrize(
    ("X", "says"),
    [
        ([[torch.inf, 0.0]], "finite numbers in the columns 'a'"),
        ([[torch.nan, torch.nan]], "missing values .* in the columns 'a', 'b'"),
        ([[0.0]], "X has 1 features, but columns describes 2"),
    ],
)
def test_what_cannot_be_is_refused(X, says):
    schema = Schema.of({"a": Numeric(0, 1), "b": Nominal(["x", "y"])})
    with pytest.raises(DPMorseError, match=says):
        open_records(torch.tensor(X), schema=schema).read(None)
