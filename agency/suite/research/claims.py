"""Third task of the research scenario: claims that the papers support, contradict, or do not speak about."""

from agenthard.agency.judges import Check, Outcome, Probe
from agenthard.agency.suite.kit import Clause, TaskPlan, canonical, field
from agenthard.agency.suite.research.papers import Place, covers, document, evidence, place

JUDGED: dict[str, tuple[str, tuple[tuple[Place, ...], ...]]] = {
    "The smaller of the two bells is older than the light.": (
        "supported",
        (
            (place("inventory-1902.txt", "2 bells"),),
            (place("keepers-log.txt", "Light shown for the first"), place("guidebook-1926.txt", "(1868; 34 m)")),
        ),
    ),
    "Captain Rooke found as many casks of oil as the book had.": (
        "contradicted",
        ((place("inspection-1874.txt", "The book says 10"),),),
    ),
    "The engineer was paid more than a principal keeper.": ("supported", ((place("letters.txt", "My pay is 140"),),)),
    "The bell was struck by a machine in 1874.": ("contradicted", ((place("inspection-1874.txt", "struck by hand"),),)),
    "The widow Hask sold the mare for less than a third of a principal keeper's salary.": (
        "supported",
        (
            (place("gazette-1889.txt", "for 27 crowns"),),
            (place("errata.txt", "read 92 crowns"), place("letters.txt", "My pay is 140")),
        ),
    ),
    "The Tern was a steamer.": ("not stated", ()),
    "The horse Pilot drew oil until the tramway was taken up.": (
        "contradicted",
        ((place("guidebook-1926.txt", "(d. 1901)"),), (place("guidebook-1926.txt", "taken up in 1919"),)),
    ),
    "The teacher of 1889 was related to the last keeper.": ("not stated", ()),
    "Captain Rooke's inspection found fewer than 220 wicks.": (
        "contradicted",
        ((place("errata.txt", "read 221 wicks"),),),
    ),
    "The oil store was moved 30 metres from the dwelling.": ("not stated", ()),
}
ALSO = (place("letters.txt", "Tobias Veck has the light"), place("gazette-1889.txt", "a grey mare called"))
"""Lines that say whose pay, and which horse, the next line speaks of."""
CLAIMS_FILE = "".join(f"c{number}. {text}\n" for number, text in enumerate(JUDGED, 1))
SAID = "supported", "contradicted", "not stated"


def judged(number: int, text: str) -> Check:
    """Return the check of a claim."""
    verdict, needed = JUDGED[text]
    also = [(paper, line) for paper, line in ALSO if (paper, line + 1) in {each for group in needed for each in group}]

    def check(probe: Probe) -> Outcome:
        everything = document(probe, "claims.json")
        said = [field(everything.get(f"c{at}"), "verdict") for at in range(1, len(JUDGED) + 1)]
        if said.count(said[0]) == len(said):
            return Outcome(0.0, "all claims are judged alike")
        given = everything.get(f"c{number}")
        if field(given, "verdict") != verdict:
            return Outcome(0.0, "the verdict is missing or wrong")
        shown = field(given, "evidence")
        if not needed:
            return Outcome(1.0) if shown == [] else Outcome(0.0, "there can be no evidence for what is not stated")
        found = evidence(shown)
        if isinstance(found, str):
            return Outcome(0.0, found)
        right = covers(found, needed, also)
        return Outcome(1.0) if right else Outcome(0.0, "other lines are evidence for this, or not all that are needed")

    return check


SOURCES = ("answers.json", "contradictions.json", "claims.json")


def _given(member: object) -> list[object]:
    """Return the pieces of evidence of a member of one of the files."""
    found = field(member, "evidence") if isinstance(member, dict) else member
    return found if isinstance(found, list) else []


def has_index(probe: Probe) -> Outcome:
    """All evidence of the three tasks, by file."""
    lines: dict[str, set[int]] = {}
    for name in SOURCES:
        pieces = [piece for member in document(probe, name).values() for piece in _given(member)]
        places = [each for piece in pieces for each in _places(piece)]
        if not places:
            return Outcome(0.0, f"{name} has no evidence")
        for paper, line in places:
            lines.setdefault(paper, set()).add(line)
    right = {paper: sorted(numbers) for paper, numbers in lines.items()}
    same = canonical(document(probe, "index.json")) == canonical(right)
    return Outcome(1.0) if same else Outcome(0.0, "other files or lines than those of the evidence")


def _places(piece: object) -> list[Place]:
    found = evidence([piece])
    return [] if isinstance(found, str) else found


INTRO = f"""
Judge the claims in `claims.txt` by the papers, as corrected. Write `claims.json`, an object such as
`{{"c1": {{"verdict": "supported", "evidence": [...]}}}}`: a verdict is one of
{", ".join(f"`{each}`" for each in SAID)};
evidence, as in the first task, is one to three lines that together show it, and an empty list where nothing is stated.
A file that judges all claims alike earns nothing.
"""
CLAIMS = TaskPlan(
    "Orrin Head: claims",
    INTRO,
    {"claims.json": "the verdicts with their evidence", "index.json": "the index of all evidence"},
    (
        *(
            Clause(f"c{number}", f"Verdict and evidence of `c{number}`: {text}", judged(number, text))
            for number, text in enumerate(JUDGED, 1)
        ),
        Clause(
            "index",
            "`index.json` is an object with a member for each paper of which a line is evidence in `answers.json`,"
            " `contradictions.json` or `claims.json`: the sorted list of the numbers of these lines, each once.",
            has_index,
        ),
    ),
)
