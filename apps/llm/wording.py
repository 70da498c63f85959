"""Tells what a line of a note is by its first words and its heading: greeting, question, to-do."""

import re

from apps.vault import folding

_GREETING = re.compile(
    r"^(?:hi|hey|hello|thanks?|thank you|thx|wow|congrat\w*|sounds?|good (?:morning|luck|job|night|to)|bye"
    r"|see (?:you|ya)|take care|haha|lol|awesome|cool|nice|great|glad|no (?:worries|problem|way)"
    r"|you['’]re welcome|same here|best of luck|looks?"
    r"|(?:xin )?chào|cảm ơn|cám ơn|ok(?:ay)?|vâng|dạ|ừ|tạm biệt|chúc)\b",
    re.IGNORECASE,
)
_INTERJECTION = re.compile(
    r"^(?:(?:oh|ah|yeah|yep|yes|yup|nope|no|well|sure|absolutely|definitely|totally|actually|haha|hmm"
    r"|honestly|for sure|of course|wow|thanks|cool|nice|anyway|btw|by the way|so|and|but|plus|also"
    r"|à|ừ|vâng|dạ)\b[,!]? +)+"
    r"(?:(?-i:[A-Z])\w+[,!] +)?",
    re.IGNORECASE,
)
# The patterns below read folded headings.
_PASSING_SECTION = re.compile(
    r"\b(?:reminders?|to ?-?dos?|tasks?|action items?|next steps?|stat(?:istic)?s|questions?|logistics|agenda"
    r"|schedule|monitoring|logs?|nhac(?: nho| viec)?|(?:viec )?can lam|cau hoi|thong ke|lich(?: trinh)?)\b"
)
_LASTING_SECTION = re.compile(
    r"\b(?:preferences?|rules?|decisions?|decided|lessons?|people|profile|facts|contacts?|conventions?"
    r"|policies"
    r"|so thich|quy tac|quyet dinh|bai hoc|thong tin|lien he)\b"
)
_TOPIC_HEADINGS = {
    "preference": re.compile(r"\b(?:preferences?|likes|tastes|so thich|thoi quen)\b"),
    "rule": re.compile(r"\b(?:rules?|conventions?|policies|ways? of working|how to work|quy tac|nguyen tac)\b"),
    "person": re.compile(r"\b(?:people|persons?|family|about|profile|con nguoi|gia dinh|thong tin)\b"),
    "contact": re.compile(r"\b(?:contacts?|addresses|phone numbers|lien he|lien lac)\b"),
    "health": re.compile(r"\b(?:health|medical|food|diet|suc khoe|an uong)\b"),
}


def is_question(sentence: str) -> bool:
    """Say whether the sentence asks; closing quotes and brackets may follow its mark."""
    return sentence.rstrip("\"'”’) ").endswith(("?", "？"))


def is_greeting(sentence: str) -> bool:
    """Say whether the sentence is a greeting, thanks or applause."""
    return bool(_GREETING.match(sentence))


def without_interjection(sentence: str) -> str:
    """The sentence without "Yeah, " or "Oh well, " in front."""
    return _INTERJECTION.sub("", sentence)


def is_passing_section(heading: str) -> bool:
    """Reminders, to-do lists, statistics, questions: nothing under such a heading is meant to last."""
    return bool(_PASSING_SECTION.search(folding.fold(heading)))


def is_lasting_section(heading: str) -> bool:
    """Preferences, rules, decisions, people: what stands under such a heading is meant to last."""
    return bool(_LASTING_SECTION.search(folding.fold(heading)))


def suits(heading: str, topic: str) -> bool:
    """Say whether lines about the topic are kept under such a heading."""
    pattern = _TOPIC_HEADINGS.get(topic)
    return bool(pattern and pattern.search(folding.fold(heading)))
