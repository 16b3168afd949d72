"""The six public datasets of the literature on private clustering."""

from benchmarks.public.fetch import fetch_emg as fetch_emg
from benchmarks.public.fetch import fetch_magic as fetch_magic
from benchmarks.public.fetch import fetch_pulsar as fetch_pulsar
from benchmarks.public.fetch import fetch_shuttle as fetch_shuttle
from benchmarks.public.fetch import fetch_sloan as fetch_sloan
from benchmarks.public.fetch import fetch_usps as fetch_usps
