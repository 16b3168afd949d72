"""Hostile files, arguments and arrays: whatever they hold, an answer that is documented."""

import tempfile
from pathlib import Path

from audits.fuzzing.campaign import Campaign, fuzz_in_processes, prepare
from audits.fuzzing.commands import TABLES
from audits.section import Effort, Findings, Table

NAME, TITLE = "fuzzing", "Hostile files and inputs"

_SHARES = {
    "models": 0.35,
    "arrays": 0.04,
    "described": 0.01,
    "budgets": 0.20,
    "bounds": 0.08,
    "arguments": 0.07,
    **dict.fromkeys(TABLES, 0.05),
}
_TEXT = """Valid files are damaged in their bytes, or edited as documents and given checksums that match, and
then read; commands get arguments, and fits arrays and described tables (texts of a megabyte, letters
that look alike, numbers and dates as text), that people or attackers could give them. A
failure is: an exception or exit code that is not documented, a process that dies or hangs, a file
that runs code, starts a process or opens a connection, more than 64 MiB of memory for a model or
budget file, a model or an account that was accepted and means something else than its file says,
a refused input that was paid for or is quoted, or anything in an output that a terminal would
obey. Files that were accepted are those in which the damage does not matter or which the edit
left consistent. Seeds count up from {seed}, so that every case can be made again."""


def run(effort: Effort) -> Findings:
    """Read hostile files of every kind."""
    n, first_seed = effort.pick(quick=900, full=100_000), 0
    with tempfile.TemporaryDirectory() as folder:
        corpus = prepare(Path(folder))
        campaigns = []
        for target, share in _SHARES.items():
            campaigns.append(fuzz_in_processes(target, round(share * n), first_seed, corpus))
            effort.say(f"{campaigns[-1].n_files} {target}")
    failures = [(c.target, f["seed"], f["error"], f["where"]) for c in campaigns for f in c.findings]
    told = [Table(("read as", "seed", "failure", "where"), failures[:20])] if failures else []
    both = all(c.answers["refused"] and c.answers["accepted"] for c in campaigns)  # or nothing was tested
    return Findings(_TEXT.format(seed=first_seed), _table(campaigns), *told, passed=both and not failures)


def _table(campaigns: list[Campaign]) -> Table:
    rows: list[tuple[str | int | float, ...]] = [_row(campaign) for campaign in campaigns]
    total = sum(campaign.n_files for campaign in campaigns)
    sums = [sum(c.answers[answer] for c in campaigns) for answer in ("refused", "accepted")]
    rows.append(("all", total, *sums, sum(len(c.findings) for c in campaigns), ""))
    return Table(("read as", "files", "refused", "accepted", "failures", "most extra memory, MiB"), rows)


def _row(campaign: Campaign) -> tuple[str | int | float, ...]:
    answers = [campaign.answers[answer] for answer in ("refused", "accepted")]
    failures = len(campaign.findings)
    return (campaign.target, campaign.n_files, *answers, failures, campaign.peak_bytes >> 20)
