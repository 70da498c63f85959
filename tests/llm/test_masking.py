"""Masking: no secret reaches a model, and every text comes back byte for byte."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.llm import masking

KEY = "-----BEGIN PRIVATE KEY-----\r\n  MIIEvQIBADANBg\r\n-----END PRIVATE KEY-----"


def masked(*texts: str) -> list[str]:
    return masking.mask(texts)[0]


class TestMask:
    def test_secrets_are_numbered_in_order_and_one_secret_has_one_number_everywhere(self) -> None:
        memory = "wifi password: kiwi-4711, vault password: plum-0815"
        note = "export SERVICE_TOKEN=sk-test-0000000000000000000000000000\npassword is plum-0815"
        assert masked(memory, note) == [
            "wifi password: {{SECRET-1}}, vault password: {{SECRET-2}}",
            "export SERVICE_TOKEN={{SECRET-3}}\npassword is {{SECRET-2}}",
        ]

    def test_a_secret_without_its_context_is_masked_too_before_and_after(self) -> None:
        assert masked("try kiwi-4711", "the password is kiwi-4711.", "`kiwi-4711` again") == [
            "try {{SECRET-1}}",
            "the password is {{SECRET-1}}.",
            "`{{SECRET-1}}` again",
        ]

    @pytest.mark.parametrize(
        ("text", "kept"),
        [
            ("secret=butter", "bread and butter"),
            ("password=a1b2", "seat a1b2"),
            ("password: 471108", "invoice 14711089"),
        ],
    )
    def test_common_words_short_values_and_parts_of_words_stay_elsewhere(self, text: str, kept: str) -> None:
        assert masked(text, kept)[1] == kept
        assert "SECRET" in masked(text, kept)[0]

    def test_a_private_key_becomes_one_placeholder_on_one_line(self) -> None:
        assert masked(f"- key:\r\n  {KEY}\r\n- tea") == ["- key:\r\n  {{SECRET-1}}\r\n- tea"]

    @pytest.mark.parametrize("text", ["see {{SECRET-1}}", "{ secret_7 }", "{{SECRETA-1}} {{SECRET-2}}", "{{SECRET}}"])
    def test_a_form_that_a_text_holds_is_not_used(self, text: str) -> None:
        texts, masks = masking.mask([f"{text}, password: kiwi-4711"])
        assert texts[0].startswith(text)
        assert masks.restore(text).text == text
        assert masks.restore(texts[0]).text == f"{text}, password: kiwi-4711"

    def test_the_mark_is_an_example_of_the_form_that_is_used(self) -> None:
        assert masking.mask(["password: kiwi-4711"])[1].mark == "{{SECRET-1}}"
        texts, masks = masking.mask(["see {{SECRET-1}}, password: kiwi-4711"])
        assert masks.mark == "{{SECRETA-1}}"
        assert masks.mark in texts[0]
        assert masking.mask(["see {{SECRET-1}}"])[1].mark == ""

    def test_found_tells_line_and_kind_for_each_text(self) -> None:
        masks = masking.mask(["# M\n\npassword: kiwi-4711\n", "tea", "see https://mai:pa55@host/x\r\nkiwi-4711"])[1]
        assert masks.found == (
            ((3, "assigned", "{{SECRET-1}}"),),
            (),
            ((1, "url_password", "{{SECRET-2}}"), (2, "assigned", "{{SECRET-1}}")),
        )

    def test_nothing_to_mask_leaves_everything_alone(self) -> None:
        texts, masks = masking.mask(["tea", ""])
        assert (texts, masks.found) == (["tea", ""], ((), ()))
        assert masking.mask([])[1].restore("{{SECRET-1}}").unknown == ("{{SECRET-1}}",)

    def test_work_grows_with_the_text_and_not_with_the_number_of_secrets(self) -> None:
        texts = ["\n".join(f"password{n}=kiwi-{n:05}-{n:05}" for n in range(3_000)), "kiwi-00001-00002 " * 3_000]
        assert "{{SECRET-3000}}" in masked(*texts)[0]


class TestRestore:
    @pytest.mark.parametrize(
        "mangled",
        [
            "{{SECRET-1}}",
            "{{secret-1}}",
            "{{ SECRET-1 }}",
            "{{SECRET_1}}",
            "{{SECRET 1}}",
            "{{SECRET1}}",
            "{{SECRET-01}}",
            "{{SECRET\\-1}}",
            "\\{\\{SECRET\\_1\\}\\}",
            "\\{{SECRET-1}}",
            "{SECRET-1}",
            "{{SECRET\u20111}}",
        ],
    )
    def test_what_models_make_of_a_placeholder_is_understood(self, mangled: str) -> None:
        masks = masking.mask(["password: kiwi-4711"])[1]
        restored = masks.restore(f"- wifi {mangled}, ask Tom")
        assert restored == masking.Restored("- wifi kiwi-4711, ask Tom", (), ())

    def test_a_backslash_of_the_memory_itself_stays(self) -> None:
        texts, masks = masking.mask(["a = \\kiwi-4711; password: kiwi-4711"])
        assert texts == ["a = \\{{SECRET-1}}; password: {{SECRET-1}}"]
        assert masks.restore(texts[0]).text == "a = \\kiwi-4711; password: kiwi-4711"

    def test_lost_secrets_of_the_memory_are_missing_and_those_of_notes_are_not(self) -> None:
        masks = masking.mask(["password: kiwi-4711, pin: 4711", "password: plum-0815"])[1]
        assert masks.restore("pin: {{SECRET-2}}").missing == ("{{SECRET-1}}",)
        assert masks.restore("").missing == ("{{SECRET-1}}", "{{SECRET-2}}")

    @pytest.mark.parametrize("invented", ["{{SECRET-3}}", "{{SECRET-0}}", "{{secret_" + "9" * 5_000 + "}}"])
    def test_invented_placeholders_stay_and_are_told(self, invented: str) -> None:
        masks = masking.mask(["password: kiwi-4711", "password: plum-0815"])[1]
        restored = masks.restore(f"{{{{SECRET-1}}}} and {invented}")
        assert (restored.text, restored.unknown) == (f"kiwi-4711 and {invented}", (invented,))

    def test_a_placeholder_inside_a_secret_is_not_read_again(self) -> None:
        texts, masks = masking.mask(['token="{{SECRET-2}}a1" secret="plum-0815"'])
        assert masks.restore(texts[0]).text == 'token="{{SECRET-2}}a1" secret="plum-0815"'

    @pytest.mark.parametrize("exact", [False, True])
    @pytest.mark.parametrize(
        "piece",
        [
            "{",
            "{ ",
            "\\{",
            "{{",
            "}",
            "{{SECRET-",
            "{{SECRET-1",
            "{{SECRET-1}}",
            "{{SECRET-9}}",
            "{{ SECRET \\- ",
            "1",
            "\\",
        ],
    )
    def test_an_answer_full_of_braces_takes_linear_time(self, piece: str, exact: bool) -> None:
        """Under a second; work with the square of the length would take many minutes."""
        masks = masking.mask(["\\kiwi-4711, password: kiwi-4711" if exact else "password: kiwi-4711"])[1]
        hostile = "{{SECRET-" + piece * (2 * 1024 * 1024 // len(piece))
        began = time.monotonic()
        masks.restore(hostile)
        assert time.monotonic() - began < 10

    def test_no_repr_shows_a_secret(self) -> None:
        masks = masking.mask(["password: kiwi-4711"])[1]
        restored = masks.restore("{{SECRET-1}}")
        assert "kiwi" in restored.text
        assert "kiwi" not in repr(masks) + repr(restored)


ANY = st.text(st.characters(exclude_categories=[]), max_size=12)  # lone surrogates and NUL too
PIECES = st.sampled_from(
    [
        "password: ", "kiwi-4711", "token=", "\\", "{", "{{", "}}", "{{SECRET-1}}", "secret_1", "SECRET", "-1}}", "\r\n", "\n",
        "> ", " ", '"', "`", "**", "https://mai:pa55@host/x ", "sk-test-0000000000000000000000000000", KEY, "mật khẩu là ",
        "-----BEGIN PRIVATE KEY-----\n", "Authorization: Bearer ", "PIN 4711", "\x00", "\ud800",
    ]
)  # fmt: skip
TEXTS = st.lists(st.lists(st.one_of(PIECES, PIECES, ANY), max_size=12).map("".join), max_size=3)


class TestAnyText:
    @given(TEXTS)
    @settings(max_examples=400, deadline=None)
    def test_every_text_comes_back_exactly_with_nothing_unknown(self, texts: list[str]) -> None:
        shown, masks = masking.mask(texts)
        for number, (text, given_text) in enumerate(zip(shown, texts, strict=True)):
            restored = masks.restore(text)
            assert restored.text == given_text
            assert restored.unknown == ()
            assert restored.missing == () or number > 0

    @given(TEXTS, st.one_of(ANY, PIECES, st.lists(PIECES).map("".join)))
    @settings(max_examples=200, deadline=None)
    def test_any_answer_can_be_restored(self, texts: list[str], answer: str) -> None:
        masks = masking.mask(texts)[1]
        assert set(masks.restore(answer).missing) <= {found.placeholder for found in (masks.found or ((),))[0]}
