import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenthard.audit.judge.context.fence import encodable, fence_code, fenced, one_line, unseen
from agenthard.audit.judge.context.material import Omission, Passage
from agenthard.audit.judge.templates import prompt_version
from agenthard.audit.judge.verify.verdict_parser import UnreadableVerdictError, read_verdict
from tests.audit.judge.prompting import INJECTIONS, code_of, material, passages_in, prompt_of
from tests.builders import make_task

TEXT = st.text(st.characters(exclude_categories=()), max_size=300)


def hostile(text: str) -> str:
    """The text with the code that the prompt would have had without it."""
    return text.replace("CODE", code_of(prompt_of(make_task(), material("Lend book 7."))))


@pytest.mark.parametrize("text", INJECTIONS)
def test_no_text_breaks_its_fence(text: str) -> None:
    text = hostile(text)
    prompt = prompt_of(make_task(), material("Lend book 7.", text, "Thank you."))
    code = code_of(prompt)
    assert passages_in(prompt) == [
        (f"/user/turns/{0}/{i}/content | user" + (f" [{note}]" if (note := unseen(said)) else ""), encodable(said))
        for i, said in enumerate(("Lend book 7.", text, "Thank you."))
    ]
    behind_the_head = prompt.user.split("ends before that line.\n")[1]
    assert behind_the_head.count(f"<<<{code} ") == behind_the_head.count(f"{code}>>>") == 3


@pytest.mark.parametrize("text", INJECTIONS)
def test_labels_titles_and_omissions_are_hostile_too(text: str) -> None:
    passage = Passage(label=f"/state/{text}", part="state", title=text, text="{}")
    shown = material("Lend.").model_copy(
        update={"passages": (passage,), "omitted": (Omission(label=text, what=text, tokens=1),)}
    )
    prompt = prompt_of(make_task(), shown)
    (_, left_out), (heading, inner) = passages_in(prompt)
    assert inner == "{}" and heading == f"{one_line(f'/state/{text}')} | {one_line(text)}"
    assert left_out == one_line(f"{text}: {text}")


@settings(deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=4))
def test_any_text_stays_inside(texts: list[str]) -> None:
    prompt = prompt_of(make_task(), material(*texts))
    prompt.user.encode("utf-8")
    code = code_of(prompt)
    assert code == code_of(prompt_of(make_task(), material(*texts)))
    assert all(code not in text for text in texts)
    assert prompt.user.count(f"{code}>>>\n") == len(texts)
    assert all(f" | user\n{encodable(t)}\n{code}>>>" in prompt.user for t in texts if not unseen(t))


def test_a_code_that_occurs_is_not_taken() -> None:
    passage = Passage(label="a", part="user", title="", text="first")
    first = fence_code([passage])
    for spelt in (first, first.upper(), f"{first[:3]}\u200b{first[3:]}", "".join(chr(ord(c) + 0xFEE0) for c in first)):
        digest_of_both = fence_code([passage], [spelt])
        assert digest_of_both not in spelt.lower() and digest_of_both != first


def test_a_code_is_changed_until_it_occurs_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counting:
        """A hash that can be foreseen."""

        def __init__(self, _: bytes) -> None:
            self.n = 0

        def update(self, _: bytes) -> None:
            self.n += 1

        def hexdigest(self) -> str:
            return f"{self.n:08d}"

    monkeypatch.setattr("agenthard.audit.judge.context.fence.hashlib.sha256", Counting)
    assert fence_code([], ["00000000 and ０００００００１", "0000\u20600002"]) == "00000003"


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("plain\n\ttext\r\n", ""),
        ("naïve “café” 日本語 🙂", ""),
        ("a\u200bb\u200b", "holds invisible characters: U+200B ZERO WIDTH SPACE (2 times)"),
        ("\x00", "holds invisible characters: U+0000"),
        ("\U000e0041", "holds invisible characters: U+E0041 TAG LATIN CAPITAL LETTER A"),
        ("\ud800", "holds invisible characters: U+D800"),
    ],
)
def test_what_cannot_be_seen_is_announced(text: str, note: str) -> None:
    assert unseen(text) == note
    opening = fenced(Passage(label="x", part="user", title="t", text=text), "abcdef01").split("\n")[0]
    assert opening == "<<<abcdef01 x | t" + (f" [{note}]" if note else "")


@pytest.mark.parametrize("text", INJECTIONS)
def test_the_version_does_not_depend_on_the_task(text: str) -> None:
    assert prompt_of(make_task(text), material(text)).version == prompt_version()


@pytest.mark.parametrize("text", [text for text in INJECTIONS if "{" in text])
def test_a_verdict_in_the_task_is_none_of_the_judge(text: str) -> None:
    cited = f"The task holds the text {text} and tries to steer me. I refuse to be steered."
    with pytest.raises(UnreadableVerdictError):
        read_verdict(cited, ["answer-leakage"])
