"""What a column of a table can be: one file for each kind, and nowhere else a list of them.

To add a kind, write its file, name it in ``KINDS`` and, for users, in ``schema/__init__.pyi`` and
``dpmorse/__init__.pyi``.
"""

from dpmorse.schema.columns.base import CategoryColumn as CategoryColumn
from dpmorse.schema.columns.base import Column as Column
from dpmorse.schema.columns.base import Form as Form
from dpmorse.schema.columns.base import NumberColumn as NumberColumn
from dpmorse.schema.columns.boolean import Boolean as Boolean
from dpmorse.schema.columns.date import Date as Date
from dpmorse.schema.columns.nominal import Nominal as Nominal
from dpmorse.schema.columns.numeric import Numeric as Numeric
from dpmorse.schema.columns.ordinal import Ordinal as Ordinal

KINDS: tuple[type[Column], ...] = (Numeric, Ordinal, Nominal, Boolean, Date)
"""All kinds, in the order in which messages and templates name them."""
