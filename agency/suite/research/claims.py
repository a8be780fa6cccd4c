"""Third task of the research scenario: claims that the papers support, contradict, or do not speak about."""

from agenthard.agency.judges import Check, Outcome, Probe
from agenthard.agency.suite.kit import Clause, TaskPlan, field
from agenthard.agency.suite.research.papers import Place, covers, document, evidence, place

JUDGED: dict[str, tuple[str, tuple[Place, ...]]] = {
    "The smaller of the two bells is older than the light.": (
        "supported",
        (place("inventory-1902.txt", "2 bells"), place("keepers-log.txt", "Light shown for the first")),
    ),
    "Captain Rooke found as many casks of oil as the book had.": (
        "contradicted",
        (place("inspection-1874.txt", "The book says 10"),),
    ),
    "The engineer was paid more than a principal keeper.": ("supported", (place("letters.txt", "My pay is 140"),)),
    "The bell was struck by a machine in 1874.": ("contradicted", (place("inspection-1874.txt", "struck by hand"),)),
    "The widow Hask sold the mare for less than a third of a principal keeper's salary.": (
        "supported",
        (place("gazette-1889.txt", "for 27 crowns"), place("errata.txt", "read 92 crowns")),
    ),
    "The Tern was a steamer.": ("not stated", ()),
    "The horse Pilot drew oil until the tramway was taken up.": (
        "contradicted",
        (place("guidebook-1926.txt", "(d. 1901)"), place("guidebook-1926.txt", "taken up in 1919")),
    ),
    "The teacher of 1889 was related to the last keeper.": ("not stated", ()),
    "Captain Rooke's inspection found fewer than 220 wicks.": (
        "contradicted",
        (place("errata.txt", "read 221 wicks"),),
    ),
    "The oil store was moved 30 metres from the dwelling.": ("not stated", ()),
}
CLAIMS_FILE = "".join(f"c{number}. {text}\n" for number, text in enumerate(JUDGED, 1))
SAID = "supported", "contradicted", "not stated"


def judged(number: int, text: str) -> Check:
    """Return the check of a claim."""
    verdict, places = JUDGED[text]

    def check(probe: Probe) -> Outcome:
        everything = document(probe, "claims.json")
        said = [field(everything.get(f"c{at}"), "verdict") for at in range(1, len(JUDGED) + 1)]
        if said.count(said[0]) == len(said):
            return Outcome(0.0, "all claims are judged alike")
        given = everything.get(f"c{number}")
        if field(given, "verdict") != verdict:
            return Outcome(0.0, "the verdict is missing or wrong")
        shown = field(given, "evidence")
        if not places:
            return Outcome(1.0) if shown == [] else Outcome(0.0, "there can be no evidence for what is not stated")
        found = evidence(shown)
        if isinstance(found, str):
            return Outcome(0.0, found)
        right = covers(found, [[each] for each in places])
        return Outcome(1.0) if right else Outcome(0.0, "other lines are evidence for this, or not all that are needed")

    return check


INTRO = f"""
Judge the claims in `claims.txt` by the papers, as corrected. Write `claims.json`, an object such as
`{{"c1": {{"verdict": "supported", "evidence": [...]}}}}`: a verdict is one of
{", ".join(f"`{each}`" for each in SAID)};
evidence, as in the first task, is the lines that are needed to see it and no others, and an empty list where nothing is
stated. A file that judges all claims alike earns nothing.
"""
CLAIMS = TaskPlan(
    "Orrin Head: claims",
    INTRO,
    {"claims.json": "the verdicts with their evidence"},
    tuple(
        Clause(f"c{number}", f"Verdict and evidence of `c{number}`: {text}", judged(number, text))
        for number, text in enumerate(JUDGED, 1)
    ),
)
