"""``dpmorse audit``: attacks on invented records, for people and for scripts."""

import json

import numpy as np
import pytest

from dpmorse.privacy.sampler import NativeSampler

QUICK = ("audit", "--base", "DPMoGHard", "--components", 2, "--columns", 2, "--runs", 2000, "--canaries", 50)
QUICK += ("--confidence", 0.99999)  # of true claims, so few fail that tests may rely on it


def test_both_attackers_speak(run, here):
    text = run(*QUICK, "--epsilon", 4, "-o", "audit.json", "--plot", "audit.png").stdout
    assert "DPMoGHard, 10 releases: passed" in text
    assert "DPMoGHard, whole fit: passed" in text
    assert text.count("certified") == text.count("claimed") == 2
    content = json.loads((here / "audit.json").read_text())
    assert content["passed"] is True
    assert [audit["unit"] for audit in content["audits"]] == ["mu", "epsilon"]
    assert 0 < content["audits"][0]["certified_epsilon"] < content["audits"][0]["claimed_epsilon"] <= 4
    assert (here / "audit.png").read_bytes().startswith(b"\x89PNG")


def test_for_scripts(run_json):
    content = run_json(*QUICK, "--epsilon", 4, "--neighboring", "replace-one", "--delta", 1e-5)
    assert content["neighboring"] == "replace-one"
    assert content["base"] == "DPMoGHard"
    assert {audit["delta"] for audit in content["audits"]} == {1e-5}


def test_a_refuted_claim_is_a_fault(run, monkeypatch):
    original = NativeSampler.gaussian
    monkeypatch.setattr(
        NativeSampler, "gaussian", lambda self, scales: original(self, np.maximum(1, scales // 4))
    )
    result = run(*QUICK, "--epsilon", 4, code=4)
    assert "FAILED" in result.stdout
    assert "the noise is too small for its scales" in result.stdout
    assert "security problem" in result.stderr


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ((), 1, "--epsilon must be given"),
        (("--epsilon", -1), 1, "epsilon must be a finite number > 0"),
        (("--epsilon", 1, "--confidence", 1.5), 1, "confidence must lie strictly between 0 and 1"),
        (("--epsilon", 1, "--base", "Nothing"), 1, "--base must be one of"),
        (("--epsilon", 1, "--runs", 3), 2, "--runs"),
    ],
)
def test_mistakes_are_named(run, options, code, message):
    assert message in run("audit", *options, code=code).output


def test_outputs_are_not_replaced_unasked(run, here):
    (here / "audit.json").write_text("old")
    assert "exists" in run(*QUICK, "--epsilon", 4, "-o", "audit.json", code=1).output
    assert (here / "audit.json").read_text() == "old"
