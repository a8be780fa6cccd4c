"""What was measured of the checks agrees with what the checks and their pages say."""

import re

from agenthard.audit.detectors.measured import measured, readings, real_findings
from agenthard.audit.detectors.page import check_pages
from agenthard.audit.detectors.registry import detectors

LONGEST_SECTION = 40
"""Lines: one screen."""


def test_experimental_checks_are_those_without_a_true_finding_on_a_real_benchmark() -> None:
    def only_false(check: str) -> bool:
        read = measured()[check].judgements(check)
        return not read["true"] and not read["arguable"]

    without = [each.id for each in detectors() if not measured()[each.id].findings or only_false(each.id)]
    # Checks of rooms and scenarios that this project writes: there is no release with a wrong one.
    for own in ("escape-proof", "solution-score", "unmatched-clause"):
        without.remove(own)
    assert [each.id for each in detectors() if each.experimental] == without


def test_an_audit_leaves_experimental_checks_out_unless_asked() -> None:
    usual = detectors(experimental=False)
    assert usual == tuple(each for each in detectors() if not each.experimental)
    assert {"call-schema", "gold-fails"} <= {each.id for each in usual}
    assert "stated-answer" not in {each.id for each in usual}


def test_up_to_five_findings_of_every_check_were_read() -> None:
    for check, read in readings().items():
        found = measured()[check].findings
        assert 0 < len(read) <= min(5, sum(counts.findings for counts in found.values())), check
        assert len({reading.finding for reading in read}) == len(read), check
        assert {reading.corpus for reading in read} <= set(found), check
    assert set(readings()) == {check for check, figures in measured().items() if figures.findings}


def test_the_figures_of_real_findings_add_up() -> None:
    assert real_findings("stated-answer") == "none"
    assert real_findings("turn-count") == "BFCL v3 1. 1 read: 1 true"
    assert measured()["marked-answer"].judgements("marked-answer") == {"true": 0, "arguable": 0, "false": 5}


def test_every_check_is_one_screen_on_one_page() -> None:
    pages = check_pages(detectors())
    index = pages.pop("index.md")
    seen = []
    for page, text in pages.items():
        for section in re.split(r"(?m)^## ", text)[1:]:
            check = section.split("\n", 1)[0]
            seen.append(check)
            assert len(section.rstrip().splitlines()) <= LONGEST_SECTION, f"{check} on {page}"
            assert f"({page}#{check})" in index
    assert sorted(seen) == sorted(each.id for each in detectors())
