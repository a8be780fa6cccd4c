"""Quotes found again: as they are, or but for space, Unicode forms and escapes."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthard.audit.judge.verify.quotes import locate, normal_form

POLICY = "Members may renew twice.\n\n- Fines are paid by “card” or transfer — never in coins.\n- Opening: 9 to 19."
STATE = r'{"id": "M-1204", "name": "Zoë Çelik", "note": "Line one\nline \"two\"", "tags": ["a, b", "c"], "fine": 340}'


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("renew twice", POLICY, "renew twice"),
        ("  renew   twice. - Fines", POLICY, "renew twice.\n\n- Fines"),
        ('paid by "card" or transfer - never', POLICY, "paid by “card” or transfer — never"),
        ("re\u200bnew tw\u00adice", POLICY, "renew twice"),
        ("Zoe\u0308 C\u0327elik", STATE, "Zoë Çelik"),
        ("ｒｅｎｅｗ", POLICY, "renew"),
        ('"fine":340', STATE, '"fine": 340'),
        ('"tags" : [ "a, b" ,"c" ]', STATE, '"tags": ["a, b", "c"]'),
        ('Line one\nline "two"', STATE, r"Line one\nline \"two\""),
        (r"Zo\u00eb \u00c7elik", STATE, "Zoë Çelik"),
        (r"may renew twice.\n\n- Fines", POLICY, "may renew twice.\n\n- Fines"),
        ('"renew twice"', POLICY, "renew twice"),
        ("`renew  twice`", POLICY, "renew twice"),
    ],
)
def test_found_but_for_how_it_is_written(quote: str, text: str, found: str) -> None:
    assert locate(quote, text) == found
    assert found in text


@pytest.mark.parametrize(
    "quote",
    [
        *("", "   ", "...", "—", '{"', "9", "\u200b\u200b"),
        "Renew Twice",
        "renew thrice",
        "Members may ... transfer",
        "renewtwice",
        "Zo Celik",
    ],
)
def test_not_found(quote: str) -> None:
    assert locate(quote, POLICY) is None
    assert locate(quote, STATE) is None


@pytest.mark.parametrize(
    ("quote", "text"), [("cafe", "café au lait"), ("if", "ﬁve"), ("u00eb is", r"Zo\u00eb is"), ("ca\u0301", "cà\u0301")]
)
def test_a_part_of_a_character_is_no_quote(quote: str, text: str) -> None:
    found = locate(quote, text)
    assert found is None or found == quote


@pytest.mark.long
@pytest.mark.parametrize(
    "unit", ["word, and ", '{"a": 1}, ', "漢字 ", "\\", "\\n ", "a\u0301", "\u200b", "\\ud83d", '"']
)
def test_large_texts(unit: str) -> None:
    text = unit * (300_000 // len(unit)) + '"the  end"'
    found = locate('"the end"', text)
    assert found is not None and found.endswith('the  end"')
    assert locate("nowhere to be found", text) is None
    assert locate(text, text) is None


LETTERS = st.sampled_from("abz09 \n\t.,:{}[]\"'\\néÅ漢ﬁ½—“”\u00a0\u200b\u0301\u0323\U0001f600")
TEXTS = st.lists(st.sampled_from([*POLICY.split(" "), *STATE.split(" "), "é", "A\u0323\u0307", "ﬁne", "½", r"\u00e9"]))


@given(st.data())
def test_what_is_found_reads_like_the_quote(data: st.DataObject) -> None:
    text = " ".join(data.draw(TEXTS)) + "".join(data.draw(st.lists(LETTERS)))
    start = data.draw(st.integers(0, len(text)))
    quote = text[start : data.draw(st.integers(start, len(text)))]
    changed = data.draw(st.sampled_from([quote, quote.replace(" ", " \n "), unicodedata.normalize("NFKC", quote)]))
    changed = changed.replace("e", data.draw(st.sampled_from(["e", "e\u200b", "ｅ", r"\u0065"])))
    found = locate(changed, text)
    if found is not None:
        assert found in text
        assert normal_form(found).text in (normal_form(changed).text, normal_form(changed).text[1:-1].strip())
    if quote == changed and sum(map(str.isalnum, quote)) >= 2:
        assert found == quote


@given(st.text(max_size=200), st.text(max_size=20))
def test_any_text_and_any_quote(text: str, quote: str) -> None:
    found = locate(quote, text)
    assert found is None or found in text


@given(st.text(alphabet=LETTERS, max_size=100))
def test_the_normal_form_is_stable(text: str) -> None:
    assert normal_form(unicodedata.normalize("NFC", text)).text == normal_form(text).text


WORDS = st.lists(st.text(alphabet="abcdefgéü漢0123", min_size=3, max_size=8), min_size=1, max_size=30)


@given(WORDS, st.data())
def test_words_with_other_space_are_always_found(words: list[str], data: st.DataObject) -> None:
    spaces = st.sampled_from([" ", "  ", "\n", "\u00a0", "\t ", " \u2009", "\\n"])
    text = "".join(word + data.draw(spaces) for word in words)
    quote = "".join(unicodedata.normalize("NFD", word) + data.draw(spaces) for word in words)
    found = locate(quote, text)
    assert found is not None and found in text and normal_form(found).text == normal_form(quote).text
