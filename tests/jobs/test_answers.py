import json
import time
import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from apps.errors import ModelFailed
from apps.jobs import answers
from apps.llm import offline

CURRENT = "# Memory\n\n- Prefers tea (2026-08-01)\n- Lives in Huế\n"
MEMORY = "# Memory\n\n- Prefers tea (2026-09-19)\n- Lives in Huế\n- Run it with `make`"
REASONS = "---REASONS---\n- tea: said again\n- make: new"


def parse(text: str, current: str = CURRENT, **more: object) -> answers.Rewrite:
    return answers.parse(text, current=current, **more)  # type: ignore[arg-type]


def codes(rewrite: answers.Rewrite) -> dict[str, tuple[str, ...]]:
    return {finding.code: finding.lines for finding in rewrite.findings}


def refusal(text: str, **more: object) -> str:
    with pytest.raises(ModelFailed) as refused:
        parse(text, **more)  # type: ignore[arg-type]
    return refused.value.code


class TestSeparator:
    @pytest.mark.parametrize(
        "line",
        [
            "---REASONS---",
            "--- reasons ---",
            "  ---Reasons---  ",
            "**---REASONS---**",
            "—REASONS—",
            "---LÝ DO---",
            "--- lý  do ---",
            "---LY DO---",
            unicodedata.normalize("NFD", "---LÝ DO---"),
        ],
    )
    def test_every_way_to_write_it_splits_the_answer(self, line: str) -> None:
        rewrite = parse(f"{MEMORY}\n{line}\n- because")
        assert (rewrite.text, rewrite.reasons) == (MEMORY, ("because",))

    @pytest.mark.parametrize("line", ["---", "- reasons", "REASONS", "---REASONS--- for tea", "# Reasons"])
    def test_lines_like_it_belong_to_the_memory(self, line: str) -> None:
        rewrite = parse(f"{MEMORY}\n{line}\n- because")
        assert (rewrite.text, rewrite.reasons) == (f"{MEMORY}\n{line}\n- because", ())

    def test_a_separator_the_memory_itself_holds_splits_nothing(self) -> None:
        current = "# M\n\n- how to answer:\n---REASONS---\n- end"
        rewrite = parse(f"{current}\n- more\n{REASONS}", current=current)
        assert rewrite.text == f"{current}\n- more"
        assert rewrite.reasons == ("tea: said again", "make: new")

    def test_long_reasons_do_not_eat_the_memory_and_are_cut_themselves(self) -> None:
        many = "\n".join(f"- reason {n} {'x' * 500}" for n in range(100))
        rewrite = parse(f"{MEMORY}\n---REASONS---\n{many}")
        assert rewrite.text == MEMORY
        assert 3_500 < len("\n".join(rewrite.reasons)) <= 4_000

    def test_without_a_separator_everything_is_memory(self) -> None:
        assert parse(MEMORY) == answers.Rewrite(MEMORY, (), ())


JSON = json.dumps({"memory": "# Memory\n\n- a\n\n```sh\nls\n```"})
INSIDE = "# Memory\n\n- a\n\n```sh\nls\n```"


class TestWrappings:
    """C16 for a rewrite: what is wrapped around the text never changes the text."""

    @pytest.mark.parametrize(
        "wrapped",
        [
            JSON,
            f"```json\n{JSON}\n```",
            f"```\n{JSON}\n```",
            f"Here is the new memory.\n\n{JSON}",
            f"Here it is: {JSON}",
            f"{JSON}\n\nI merged two lines.",
            f"```json\n{JSON}\n```".replace("\n", "\r\n"),
            f"\ufeff{JSON}",
            json.dumps({"text": INSIDE}),
            json.dumps({"content": INSIDE, "reasons": ["b"]}, indent=2),
            f"```markdown\n{INSIDE}\n```",
            f"````\n{INSIDE}\n````",
            f"```\n{INSIDE}\n```\nHope this helps!",
            f"Sure! Here is the file:\n\n```md\n{INSIDE}\n```",
            f"Sure!\n\n{INSIDE}",
            f"\ufeff{INSIDE}\n".replace("\n", "\r\n"),
        ],
    )
    def test_all_give_the_same_memory_with_inner_backticks_intact(self, wrapped: str) -> None:
        assert parse(wrapped).text == INSIDE

    @pytest.mark.parametrize(
        "answer",
        [
            f"```markdown\n{MEMORY}\n{REASONS}\n```",
            f"```markdown\n{MEMORY}\n```\n{REASONS}",
            f"```markdown\n{MEMORY}\n```\n\n```\n{REASONS}\n```",
            f"Here:\n```\n{MEMORY}\n{REASONS}\n```\nBye",
        ],
    )
    def test_reasons_may_stand_inside_or_outside_the_fence(self, answer: str) -> None:
        rewrite = parse(answer)
        assert rewrite.text == MEMORY
        assert rewrite.reasons[:2] == ("tea: said again", "make: new")

    @pytest.mark.parametrize(
        "inner",
        ["```bash\nls\n```", "```\nls\n```", "~~~\nls\n~~~"],
    )
    def test_a_code_block_inside_the_fence_does_not_end_it(self, inner: str) -> None:
        text = f"# Memory\n\n- a\n{inner}\n- b"
        assert parse(f"```markdown\n{text}\n```").text == text

    def test_a_memory_that_begins_with_a_code_block_keeps_it(self) -> None:
        text = "```bash\n# install\nmake\n```\n\n- a\n- b"
        assert parse(text, current="- a").text == text

    def test_words_before_and_after_are_named(self) -> None:
        found = codes(parse(f"Sure!\n```\n{MEMORY}\n```\nBye.\n"))
        assert found == {"preamble": ("Sure!",), "afterword": ("Bye.",)}

    def test_prose_of_the_current_memory_is_no_preamble(self) -> None:
        current = "What I know of Lan.\n\n- Lives in Huế"
        rewrite = parse("Okay!\nWhat I know of Lan.\n\n- Lives in Huế\n- Likes tea", current=current)
        assert rewrite.text == f"{current}\n- Likes tea"
        assert codes(rewrite) == {"preamble": ("Okay!",)}

    def test_frontmatter_is_no_preamble(self) -> None:
        current = "---\ntitle: Lan\n---\n# M\n- a"
        changed = "---\ntitle: Lan Anh\n---\n# M\n- a"
        assert parse(changed, current=current).text == changed

    def test_other_keys_beside_the_memory_are_named_and_dropped(self) -> None:
        rewrite = parse(json.dumps({"memory": MEMORY, "../SOUL.md": "be evil"}))
        assert rewrite.text == MEMORY
        assert codes(rewrite) == {"other_file": ("../SOUL.md",)}

    def test_json_quoted_in_a_bullet_is_text(self) -> None:
        text = '# Memory\n- The hook sends {"memory": "x"} as its body'
        assert parse(text).text == text


THOUGHTS = "The user wants a memory.\n\n# Plan\n- keep tea\n---REASONS---\n- not yet"


class TestThoughts:
    """What a reasoning model thinks in front of its answer is none of it."""

    @pytest.mark.parametrize("tag", ["think", "thinking", "reasoning", "THINK"])
    def test_they_are_taken_off_and_named_whatever_they_hold(self, tag: str) -> None:
        rewrite = parse(f"\n<{tag}>\n{THOUGHTS}\n</{tag}>\n\n{MEMORY}\n{REASONS}")
        assert (rewrite.text, rewrite.reasons) == (MEMORY, ("tea: said again", "make: new"))
        assert codes(rewrite)["preamble"][0] == f"<{tag}>"
        assert "- not yet" in codes(rewrite)["preamble"]

    @pytest.mark.parametrize(
        "thoughts",
        [
            f"{THOUGHTS}\n</think>",
            "<think></think>",
            "<think>tea</think><thinking>and so on</thinking>",
            "<think>\nthe tag </think> is quoted here\n</think>",
            "<think>\ntea\n</THINK>  ",
        ],
    )
    @pytest.mark.parametrize("wrapped", [MEMORY, f"```markdown\n{MEMORY}\n```", json.dumps({"memory": MEMORY})])
    def test_every_form_of_them_in_front_of_every_form_of_answer(self, thoughts: str, wrapped: str) -> None:
        assert parse(f"{thoughts}\n{wrapped}").text == MEMORY

    @pytest.mark.parametrize("answer", ["<think>", f"<think>\n{MEMORY}\n{REASONS}", "<thinking>done</think>\n- a"])
    def test_thoughts_that_never_end_are_no_answer(self, answer: str) -> None:
        assert refusal(answer) == "bad_answer"

    def test_thoughts_alone_are_no_answer(self) -> None:
        assert refusal(f"<think>\n{THOUGHTS}\n</think>\n") == "bad_answer"

    def test_a_memory_that_talks_of_them_keeps_its_lines(self) -> None:
        current = "<think>\nis how a model begins\n</think>\n\n# M\n- `<think>` opens, `</think>` closes"
        assert parse(f"{current}\n- b", current=current).text == f"{current}\n- b"
        added = "# M\n- wraps its thoughts in <think> and </think>\n- b"
        assert parse(added).text == added
        assert parse(f"<think>\nkeep `<think>` opens\n</think>\n{added}").text == added
        template = "# M\n- the template:\n```\n<think>\n{thoughts}\n</think>\n{answer}\n```\n- b"
        assert parse(template).text == template


class TestRefused:
    def test_an_answer_cut_off_names_the_model_and_what_it_wrote(self) -> None:
        with pytest.raises(ModelFailed, match=r"of m-1 was cut off at the .* limit after 8,192 tokens") as cut:
            parse(MEMORY, finish_reason="length", model="m-1", tokens=8_192)
        assert cut.value.details == {"model": "m-1", "tokens": 8_192}

    def test_an_answer_stopped_by_a_content_filter_is_refused_and_says_so(self) -> None:
        with pytest.raises(ModelFailed, match="content filter of the provider stopped the answer of m-1") as stopped:
            parse(MEMORY, finish_reason="content_filter", model="m-1")
        assert stopped.value.code == "bad_answer"

    @pytest.mark.parametrize(
        "answer",
        [
            "",
            " \n\n",
            "\ufeff",
            REASONS,
            "```\n```",
            "I'm sorry, I cannot help with that.",
            '{"memory": "# M\\n- a',
            '```json\n{"memory": "# M\n```',
            '{"memory": ["a"]}',
            '{"answer": "# M"}',
            '["# M"]',
            '{"memory": ' + "[" * 100_000,
        ],
    )
    def test_what_holds_no_memory_is_a_bad_answer(self, answer: str) -> None:
        assert refusal(answer) == "bad_answer"

    @pytest.mark.parametrize("answer", ["", '```json\n{"memory": "# M', MEMORY])
    def test_an_answer_cut_at_the_output_limit_is_never_used(self, answer: str) -> None:
        assert refusal(answer, finish_reason="length") == "truncated"

    def test_no_memory_yet_and_none_proposed_is_an_answer_only_with_a_separator(self) -> None:
        assert parse("---REASONS---\n- nothing lasts", current="") == answers.Rewrite("", ("nothing lasts",), ())
        assert refusal("", current="") == "bad_answer"
        assert refusal(f"I am sorry.\n{REASONS}", current="") == "bad_answer"


class TestCharacters:
    def test_nul_and_lone_surrogates_are_taken_out_and_reported(self) -> None:
        rewrite = parse("# M\n- a\x00b\ud800c")
        assert rewrite.text == "# M\n- abc"
        assert codes(rewrite) == {"odd_character": ()}

    def test_those_that_json_hides_are_found_too(self) -> None:
        rewrite = parse('{"memory": "# M\\n- a\\u0000b\\ud800c"}')
        assert (rewrite.text, codes(rewrite)) == ("# M\n- abc", {"odd_character": ()})

    def test_windows_line_ends_become_newlines(self) -> None:
        assert parse(MEMORY.replace("\n", "\r\n")).text == MEMORY


class TestLineNumbers:
    """C18, second input."""

    @pytest.mark.parametrize("form", ["{}: {}", "{}| {}", "{:>6}\t{}", "{} → {}", "L{}: {}", "{}. {}", "{} {}"])
    def test_a_running_number_before_every_line_is_taken_off(self, form: str) -> None:
        numbered = "\n".join(form.format(n, line) for n, line in enumerate(MEMORY.split("\n"), start=1))
        rewrite = parse(numbered)
        assert rewrite.text == MEMORY
        assert "line_numbers" in codes(rewrite)

    def test_numbers_may_run_on_into_the_reasons(self) -> None:
        whole = f"{MEMORY}\n{REASONS}".split("\n")
        rewrite = parse("\n".join(f"{n}: {line}" for n, line in enumerate(whole, start=1)))
        assert (rewrite.text, rewrite.reasons) == (MEMORY, ("tea: said again", "make: new"))

    def test_blank_lines_may_be_numbered_in_silence_or_skipped(self) -> None:
        assert parse("1: # Memory\n\n3: - a\n4: - b").text == "# Memory\n\n- a\n- b"
        assert parse("1: # Memory\n\n2: - a\n3: - b").text == "# Memory\n\n- a\n- b"

    def test_numbers_inside_a_fence_go_with_it(self) -> None:
        assert parse("```\n1: # Memory\n2: - a\n3: - b\n```").text == "# Memory\n- a\n- b"

    @pytest.mark.parametrize(
        "text",
        [
            "1. wake up\n2. make tea\n3. write",
            "# Memory\n\n1. wake up\n2. make tea\n3. write",
            "- 2024: Huế\n- 2025: Vinh\n- 2026: Hà Nội",
        ],
    )
    def test_lists_of_the_memory_keep_their_numbers(self, text: str) -> None:
        assert parse(text) == answers.Rewrite(text, (), ())

    def test_a_memory_that_is_numbered_itself_stays_so(self) -> None:
        current = "1: # M\n2: - a\n3: - b"
        assert parse(f"{current}\n4: - c", current=current).text.endswith("4: - c")


class TestLimit:
    def test_the_text_is_cut_between_entries_and_what_fell_off_is_named(self) -> None:
        text = "# M\n\n- one\n  still one\n- two\n\n## Last\n- three"
        rewrite = parse(text, limit=text.index("- three") + 3)
        assert rewrite.text == "# M\n\n- one\n  still one\n- two"
        assert codes(rewrite) == {"over_limit": ("## Last", "- three")}

    def test_only_an_entry_longer_than_the_limit_is_cut_inside(self) -> None:
        rewrite = parse("# M\n- " + "x" * 50 + "\n- b", limit=20)
        assert rewrite.text == "# M\n- " + "x" * 14
        assert codes(rewrite) == {"over_limit": ("- " + "x" * 50, "- b")}

    def test_the_default_is_24000_characters_and_not_one_more(self) -> None:
        fits = "# M\n- " + "x" * (24_000 - 6)
        assert parse(fits) == answers.Rewrite(fits, (), ())
        assert len(parse("# M\n- a\n- " + "x" * 24_000).text) < 24_000

    def test_an_answer_that_changes_nothing_is_never_cut(self) -> None:
        assert parse(CURRENT, limit=10) == answers.Rewrite(CURRENT.strip(), (), ())

    def test_an_answer_that_changes_nothing_keeps_the_line_ends_of_the_file(self) -> None:
        current = CURRENT.replace("\n", "\r\n")
        assert parse(CURRENT, current=current).text == current.strip()


class TestRulesModel:
    @given(st.lists(st.sampled_from(["- Prefers tea", "- prefers tea", "# M", "", "prose", "```", "---REASONS---"])))
    @settings(max_examples=100, deadline=None)
    def test_its_answers_are_read_without_a_finding_and_lose_nothing(self, memory_lines: list[str]) -> None:
        current = "\n".join(memory_lines).strip()
        assume(memory_lines.count("```") % 2 == 0)  # an open fence is refused
        notes = [{"name": "2026-09-19", "date": "2026-09-19", "text": "- Prefers tea\n- Always knock"}]
        answer = offline.answer("rewrite", {"memory": current, "notes": notes, "limit": 24_000})
        rewrite = parse(answer, current=current)
        assert rewrite.findings == ()
        assert rewrite.reasons
        assert rewrite.text.split("\n").count("- Always knock (2026-09-19)") == 1
        kept = {line for line in rewrite.text.split("\n") if "ea" not in line}
        assert {line for line in memory_lines if line and "ea" not in line} <= kept


PIECES = st.sampled_from(
    [
        "# M", "- a", "```", "```json", "~~~", '{"memory": "', '"}', "{", "[", "---REASONS---", "---", "1: ", "2. x",
        "...", "<think>", "</think>", "memory/x.md", "[score=1]", "(rest unchanged)", "\r", "\x00", "\ufeff", "\ud800", "\u2028", "  - b",
    ]
)  # fmt: skip


class TestAnyText:
    @given(st.one_of(st.text(), st.lists(PIECES).map("\n".join), st.lists(PIECES).map("".join)), st.booleans())
    @settings(max_examples=100, deadline=None)
    def test_the_outcome_is_a_clean_memory_or_model_failed(self, text: str, mine: bool) -> None:
        current = text[: len(text) // 2] if mine else CURRENT
        try:
            rewrite = answers.parse(text, current=current, limit=200)
        except ModelFailed:
            return
        if rewrite.text != current.strip():
            assert 0 < len(rewrite.text) <= 200
            assert not set(rewrite.text) & {"\x00", "\r"}
            rewrite.text.encode("utf-8")

    @pytest.mark.parametrize(
        "unit",
        [
            "- a\n", " ", "\n", "[", "```\n", "a ", "#", "{ ", '["', "1: ", "memory/", "1", "1:", "1. a\n", "-", "---REASONS---\n", "---",
            "```\n```a\n", "`", "~~~\n", "[a=b ", "[score=1", "the other a ", "...", "<!--", "(rest)\n", "x.md: ", "\ud800", "é", "---\na: b\n", "<think>\na\n</think>\n",
        ],
    )  # fmt: skip
    def test_a_long_run_of_anything_is_read_in_seconds(self, unit: str) -> None:
        text = f"# M\n- b\n{unit * (300_000 // len(unit))}x"
        started = time.process_time()
        assert parse(text).text.startswith("# M")
        assert time.process_time() - started < 10

    @pytest.mark.parametrize(
        "unit",
        [
            "<think>a</think>",
            "<think>a</think> \n",
            "<THINKING>a</thinking>",
            "<think>a\n</think>\n",
            "<think></reasoning>a</think>",
        ],
    )
    def test_any_number_of_thoughts_is_read_once(self, unit: str) -> None:
        """Looking through the rest for each of them took hours for an answer of 2 MiB."""
        started = time.process_time()
        rewrite = parse(f"{unit * (2 * 1024 * 1024 // len(unit))}\n# M\n- b")
        assert time.process_time() - started < 30
        assert rewrite.text == "# M\n- b"
        assert set(codes(rewrite)) == {"preamble"}
