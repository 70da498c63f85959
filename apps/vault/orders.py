"""Finds text that gives orders to a model, or to the job that reads it, instead of telling something worth keeping.

A rule people live by ("Always send the invoice as PDF") is no such order, nor is a
label ("System: Arch Linux"). What counts speaks of the conversation or of the memory
itself: its roles, earlier instructions, entries to delete, whom not to tell, a
ready-made answer. English and Vietnamese are read, with and without accents, and of
German, French, Spanish and Portuguese the commonest shapes.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Kind = Literal["role", "override", "memory", "silence", "answer", "identity", "disclosure", "markup", "hints"]

# Letters drawn like Latin ones, small after folding (UTS 39); NFKD knows full-width and mathematical letters.
_DRAWN_ALIKE = str.maketrans("аеорсухіјѕһԁԛԝкмтвнαορνικτυχγεօսհցզ", "aeopcyxijshdqwkmtbhaopviktuxyeouhgq")


def _few(most: int) -> str:
    """Up to so many words between two others."""
    return rf"\W++(?:\w++\W++){{0,{most}}}?"


# The patterns read folded text: small letters, no accents, no asterisks, nothing invisible.
_END = r"(?=[ \t]*(?:\Z|[\n,.;:!?)\]\"”'’»]|(?:and|then|now|va|roi|ngay)\b))"
_NOT_DENIED = r"(?<!not )(?<!never )(?<!n't )(?<!n’t )(?<!khong )(?<!dung )(?<!duoc )"
_DO = (
    r"(?:delete|remove|drop|erase|keep|add|write|ignore|treat|mark|merge|replace|always|never|do not|don['’]t|you"
    r"|output|answer|reply|put|include|copy|insert|append|forget|carry)\b"
)
_READERS = r"(?:user|operator|reviewer|owner|human|person|admin|administrator|supervisor)s?"

_OVERRIDE = (
    rf"{_NOT_DENIED}\b(?:ignore|disregard|forget|override|bypass|neglect)\b(?:"
    rf"{_few(4)}(?:previous|prior|above|earlier|preceding|former|your|system)"
    rf"{_few(2)}(?:instructions?|prompts?|guidelines?|directives?|system messages?|rules?|context|commands?"
    r"|memory|memories)\b"
    rf"|{_few(2)}(?:all|any|every|these)"
    rf"{_few(2)}(?:instructions?|directives?|guidelines?"
    r"|(?:previous|prior|earlier|above) (?:orders?|messages?|text|content))\b"
    rf"|{_few(2)}(?:rules?|instructions?|prompts?|orders?){_few(2)}(?:above|before this|before now)\b"
    rf"|{_few(1)}(?:everything|anything|all|what)"
    r"\W++(?:above|before this|prior|you (?:know|were told|have been told|learned)"
    r"|(?:you|the (?:user|operator|system)) (?:said|told|wrote|asked))\b"
    r")",
    rf"\b(?:do not|don['’]?t|never|stop) (?:follow|obey)(?:ing)?{_few(1)}(?:previous|prior|earlier|your|system)"
    rf"{_few(2)}(?:instructions?|prompts?|guidelines?|rules?)\b",
    rf"{_NOT_DENIED}\b(?:bo qua|phot lo|lo di|quen(?: di| het)?|dung (?:lam |tuan )?theo"
    r"|khong (?:can )?(?:tuan|lam|nghe) theo)\b"
    rf"(?:{_few(4)}(?:huong dan|chi dan|chi thi|menh lenh|quy tac|cau lenh|prompt)\W++"
    rf"(?:truoc|he thong|ben tren|o tren|tren day|tren{_END})"
    rf"|{_few(1)}(?:moi|tat ca|toan bo|het){_few(2)}(?:huong dan|chi dan|chi thi|menh lenh|prompt)\b)",
)
_FORGET = r"(?:delete|remove|erase|drop|wipe|purge|clear|forget|discard)"
_IN_MEMORY = r"(?:in|from) (?:the |your |this |its |long-term )*(?:memory|notes)\b"
_MEMORY = (
    rf"{_NOT_DENIED}\b{_FORGET}\b{_few(3)}(?:all|every|any|each)\b{_few(3)}(?:"
    r"(?:entry|entries|facts?|memory|memories)"
    rf"(?:{_END}|\W++(?:(?:about|concerning|regarding|mentioning|containing|related|that|which)\b|{_IN_MEMORY}))"
    rf"|(?:lines?|notes?|bullets?)(?:{_END}|\W++(?:(?:about|concerning|regarding|mentioning)\b|{_IN_MEMORY})))",
    rf"{_NOT_DENIED}\b{_FORGET} (?:the|your) (?:entry|entries|memory|memories) (?:about|concerning|regarding)\b",
    rf"{_NOT_DENIED}\b(?:clear|wipe|erase|reset|empty|delete|purge|overwrite|replace){_few(2)}(?:memory\.md\b"
    r"|(?:your|whole|entire|long-term|agent['’]?s|assistant['’]?s)\W++(?:\w++ )?memor(?:y|ies)\b"
    r"(?! (?:card|stick|foam|cache|usage|chip|module|cell)))",
    r"(?<!never )\bforget (?:everything|all|anything) (?:about|you|that|above)\b",
    rf"\b(?:add|append|insert|write|put|store|save|include|copy){_few(3)}(?:following|next) (?:\w++ )?"
    rf"(?:lines?|entry|entries|sentences?|facts?|bullets?|rules?)"
    rf"(?:{_END}|\W++(?:to|in|into) (?:the |your |this |its )*(?:long-term )?(?:memory|notes|answer|rewrite)\b)",
    r"\b(?:add|append|insert|write|copy) (?:this|these) (?:\w++ )?(?:to|in|into) (?:the |your )?(?:long-term )?memory"
    rf"(?: file)?{_END}",
    rf"\b(?:for|during|in|at) (?:(?:the|this|your|every|each|next|nightly)\W++)*(?:memory )?(?:consolidation|rewrite)"
    rf"\s*+[,:;–—-]\s*+(?:please )?{_DO}",
    rf"\bwhen (?:you )?(?:consolidat|rewrit|summari[sz])\w* (?:the |this |your )?(?:memory|notes)\s*+[,:]\s*+{_DO}",
    rf"{_NOT_DENIED}\b(?:xoa|go bo|loai bo|xoa bo|huy){_few(3)}(?:moi|tat ca|het|toan bo|tung)\b{_few(2)}"
    r"(?:muc|dong|ghi chu|ghi nho|bo nho|ky uc|tri nho)(?! (?:dem|tam|may|the|dien thoai)\b)"
    rf"(?:{_END}|\W++(?:ve|lien quan|noi ve|trong (?:bo nho|tri nho|ghi nho))\b)",
    rf"\bthem (?:dong|muc|cau|doan)(?: chu| van)? (?:sau|nay|duoi day)(?:{_END}|\W++vao (?:bo nho|tri nho|ghi nho)\b)",
    r"\b(?:khi|cho|trong|luc) (?:lan |buoi |viec )?(?:hop nhat|tong hop|viet lai|don) (?:bo nho|tri nho|ghi nho)"
    r"\s*+[,:]\s*+(?:hay|phai|dung|xoa|them|bo|giu)\b",
    rf"{_NOT_DENIED}\b(?:xoa|huy) (?:sach |het )?(?:bo nho|tri nho|ky uc) cua (?:ban|tro ly)\b",
    r"\bthay (?:the )?toan bo (?:bo nho|tri nho|ghi nho)\b",
)
# German, French, Spanish, Portuguese: earlier instructions and the memory itself, folded as above ("ö" is "o").
_NEVER = (
    r"(?<!nie )(?<!niemals )(?<!nicht )(?<!ne )(?<!jamais )(?<!no )(?<!nunca )(?<!jamas )(?<!nao )"
    r"(?<!n['’])(?<!ne pas )"
)
_EUROPEAN_OVERRIDE = (
    rf"{_NEVER}\b(?:ignorier(?:en?|t)?|missacht(?:en?|et)|vergiss(?! nicht)|verwirf){_few(3)}"
    r"(?:(?:vorherig|bisherig|fruher|vorig|vorangegangen|obig|vorstehend|vorausgegangen)e[nrs]?"
    r"|deine|ihre|system)"
    rf"{_few(2)}(?:(?:an|system)?(?:anweisung|weisung)en|instruktionen|(?:system)?vorgaben|befehle|regeln|prompts?)\b",
    rf"{_NEVER}\b(?:ignorier(?:en?|t)?|missacht(?:en?|et)|vergiss(?! nicht)){_few(1)}(?:alle|samtliche)"
    rf"{_few(2)}(?:anweisungen|instruktionen|systemvorgaben)\b",
    rf"{_NEVER}\b(?:ignore[zr]?|oublie[zr]?|neglige[zr]?|ne (?:tiens|tenez) (?:pas|plus) compte des?|desobei(?:s|ssez))"
    rf"{_few(3)}(?:instructions?|consignes?|directives?|ordres?|regles?)\W++(?:\w++\W++)?"
    r"(?:precedente?s?|anterieure?s?|ci-dessus|du systeme|systeme|recues?)\b",
    rf"{_NEVER}\b(?:ignora(?:d|r)?|ignore[mn]?|olvida(?:d|r|te)?|olviden?|descarta|omite|esquece?|esqueca[ms]?|desconsider[ae]m?)"
    rf"{_few(3)}(?:instruccion(?:es)?|instruco(?:es)|instrucao|indicaciones|directrices|diretrizes|ordenes|ordens"
    r"|reglas|regras|comandos)\W++(?:\w++\W++){0,2}?"
    r"(?:anterior(?:es)?|previ[ao]s|precedentes|de arriba|acima|del? sistema|do sistema)\b",
)
_EUROPEAN_MEMORY = (
    rf"{_NEVER}\b(?:losche?(?:n|t)?|entferne?(?:n|t)?|vergiss(?! nicht)|tilge){_few(2)}"
    rf"(?:alle|samtliche|jede[nrs]?){_few(2)}(?:eintrage?|erinnerung(?:en)?|gedachtnis(?:eintrage)?|notizen|fakten|zeilen)"
    rf"(?:{_END}|\W++(?:uber|zu|von|mit|aus|in (?:deinem|der|dem))\b)",
    rf"{_NEVER}\b(?:losche?|leere|uberschreibe) (?:dein|das|euer) (?:ganzes |gesamtes |ganze )?(?:gedachtnis|memory)\b",
    rf"{_NEVER}\b(?:supprime[zr]?|efface[zr]?|enleve[zr]?|oublie[zr]?|vide[zr]?){_few(1)}(?:tous|toutes|chaque|tout)"
    rf"{_few(2)}(?:entrees?|souvenirs?|memoires?|notes?|faits?|lignes?)"
    rf"(?:{_END}|\W++(?:sur|a propos|concernant|de la memoire)\b)",
    rf"{_NEVER}\b(?:efface[zr]?|vide[zr]?|supprime[zr]?) (?:toute )?(?:ta|votre) memoire\b",
    rf"{_NEVER}\b(?:borra[rd]?|borre[n]?|elimina[rd]?|elimine[mn]?|suprime|apaga[rd]?|apague[mn]?|exclua[m]?|delete|remova|quita)"
    rf"{_few(1)}(?:todas?|todos?|cada){_few(2)}"
    rf"(?:entradas?|recuerdos?|memorias?|notas?|hechos|lineas|linhas|lembrancas?|registros?|anotac(?:iones|oes))"
    rf"(?:{_END}|\W++(?:sobre|acerca|de la memoria|da memoria|que)\b)",
    rf"{_NEVER}\b(?:borra|vacia|elimina|apaga|apague|limpa|limpe) (?:toda )?(?:tu|su|sua|a sua|a tua|tua) memoria\b",
)
_SILENCE = (
    rf"\b(?:do not|don['’]?t|never|must not) (?:tell|inform|alert|warn|(?:mention|reveal|show) (?:this|it|that) to)"
    rf" (?:the|your|any) {_READERS}"
    rf"(?:{_END}| (?:about|of) (?:this|it|these|that|any of)\b| (?:that )?you\b| anything\b)",
    rf"\b(?:keep|hide|conceal) (?:this|it|these|that)\b{_few(3)}from (?:the|your) {_READERS}\b",
    r"\b(?:khong|dung|cam)(?: duoc)? (?:cho|de) (?:nguoi dung|chu nhan|nguoi van hanh) biet\b",
    r"\b(?:khong|dung|cam)(?: duoc)? (?:noi|tiet lo|ke|bao)(?: (?:dieu|viec) (?:nay|do))?(?: (?:cho|voi))?"
    rf" (?:nguoi dung|chu nhan|nguoi van hanh)(?: biet\b|{_END})",
)
_ANSWER = (
    r"\b(?:reply|respond|answer|output) (?:only|exactly|just|solely|nothing but) (?:with )?"
    r"(?:the (?:following )?)?(?:text|word|string|phrase|json)\b",
    r"\b(?:reply|respond|answer|output) (?:only|exactly|just|solely) with\s*+:?\s*+"
    r"(?:[\"“'‘«`{\[]|(?:ok|yes|done|true|this|nothing)\b|the following\b)",
    r"\bchi (?:duoc )?(?:tra loi|dap|xuat ra|in ra)(?: (?:bang|voi|dung))*\s*+:?\s*+"
    r"(?:[\"“'‘«`{\[]|json\b|(?:tu|chu|cau) [\"“])",
    r"\byour (?:only|entire|whole) (?:reply|answer|output|response) (?:is|must|should|has to)\b",
    r"-{3}\s*+(?:reasons?|ly\s*+do)\s*+-{3}",
    r"[\"']memory[\"']\s*+:\s*+[\"'](?!\d)",
    r"\A\W{0,8}\{\s*+[\"'](?:content|text|answer|result)[\"']\s*+:",
)
_IDENTITY = (
    r"\bfrom (?:now|here|this (?:point|moment)) on(?:wards?)?\W++you (?:are|act|answer to|obey|serve|work for|must)\b",
    r"\byou are now (?!(?:at|on|here|free|registered|connected|subscribed|logged|able|allowed|ready|entering|leaving"
    r"|near|close|welcome|in(?! \w+ mode))\b)\w+",
    r"\byou (?:must|shall|have to) (?:now|obey|comply|ignore|disregard|forget)\b",
    r"\bnew (?:system )?(?:instructions?|prompt|directives?)"
    r"\s*+(?::|follow\b|for (?:you|the (?:agent|assistant|model|ai|bot))\b)",
    r"\b(?:note|message|instructions?|attention|order)(?: to| for|,) (?:the |all |any )*"
    r"(?:ai|llms?|language models?|(?:consolidation )?model|consolidation(?: job)?|memory job)\s*+[:,]",
    r"\btreat (?:this|the following|everything below|it) as (?:an? |the )?(?:new )?"
    r"(?:instructions?|orders?|commands?)\b",
    r"\btu (?:nay|gio|bay gio|luc nay)(?: tro di)?\W++ban (?:se )?(?:la|phai|dong vai)\b",
    r"\bbay gio ban (?:la|phai|dong vai)\b|\bban phai (?:ngay lap tuc|ngay bay gio|bo qua|tuan lenh)\b",
    r"\b(?:huong dan|chi thi|lenh) (?:moi )?(?:cho|danh cho) (?:mo hinh|ai|tro ly ai)\s*+:",
)
_DISCLOSURE = (
    rf"\b(?:reveal|print|show|repeat|output|leak|display){_few(3)}"
    r"(?:system prompt|hidden (?:prompt|instructions)|instructions above)\b",
    rf"{_NOT_DENIED}\b(?:send|forward|post|upload|e-?mail|copy|leak){_few(4)}"
    r"(?:passwords?|credentials?|secrets?|api keys?|memory)"
    rf"{_few(3)}to\W++[^\s@]{{0,60}}(?:@|://)",
    r"\b(?:tiet lo|in ra|hien thi|lap lai) (?:\w+ ){0,3}?(?:loi nhac he thong|prompt he thong|system prompt)\b",
)
_MARKUP = (
    r"<\|\w{2,24}\|>|\[/?inst\]|<</?sys>>",
    r"</?(?:system|assistant|developer|instructions?|tool_calls?|function_calls?|tool_result|tool_response|invoke)"
    r"(?=[\s/>-])[^<>\n]{0,60}>",
    r"</(?:notes?|memory|prompt|context|user|human)(?=[\s>-])[^<>\n]{0,60}>",
    r"<(?:notes|memory|prompt)-[0-9a-f]{2,}[^<>\n]{0,40}>",
    r"^[ \t>-]*+#{3,6} ?(?:instruction|response|system prompt)[ \t]*+(?::|$)",
    r"^[ \t>-]*+#{2,6} ?(?:system|assistant|instructions?)[ \t]*+:[ \t]*+$",
    r"[\"'](?:tool_calls?|function_call)[\"']\s*+:",
    r"[\"'](?:tool|tool_name|function|name|action)[\"']\s*+:\s*+[\"'][^\"'\n]{1,60}[\"']\s*+,\s*+"
    r"[\"'](?:arguments|parameters|args|input|tool_input)[\"']\s*+:",
)


def _compiled(kind: Kind, *patterns: str) -> tuple[Kind, re.Pattern[str]]:
    return kind, re.compile("|".join(patterns), re.MULTILINE)


_TELLING = (
    _compiled("override", *_OVERRIDE, *_EUROPEAN_OVERRIDE),
    _compiled("memory", *_MEMORY, *_EUROPEAN_MEMORY),
    _compiled("silence", *_SILENCE),
    _compiled("answer", *_ANSWER),
    _compiled("identity", *_IDENTITY),
    _compiled("disclosure", *_DISCLOSURE),
    _compiled("markup", *_MARKUP),
)
# A role in front of a line or sentence: "SYSTEM:" shouts; "System:" is a label until a role's words follow.
_ROLE = re.compile(
    r"(?:^|[.!?:;>|\"“(\[])[^\w\n]{0,6}(?:\d{1,2}:\d\d[^\w\n]{1,3})?"
    r"(?P<role>(?:system|assistant|developer|he thong|tro ly(?: ao)?)(?: (?:prompt|message|note|override|notice))?)"
    r"\W{0,2}:"
    r"(?P<then>\s*+(?:you\b|your (?:new|task|instructions?)\b|ignore\b|disregard\b|forget\b|override\b|from now on\b"
    r"|new instructions?\b|(?:reply|respond) only\b|do not tell\b|don['’]t tell\b|obey\b|reveal\b|pretend\b|execute\b"
    r"|the user (?:wants|asked|has)\b|sure[,!.]|certainly\b|of course\b|understood\b|okay[,!.]"
    r"|i (?:will|have|understand)\b"
    r"|bo qua\b|ban (?:la|phai)\b|tu (?:nay|gio|bay gio)\W++ban\b))?",
    re.MULTILINE,
)
# Each of these is said in ordinary notes too; two different ones together are an order.
_HINTS = (
    re.compile(r"\b(?:send|forward|post|upload|e-?mail|gui)\b[^\n]{0,60}?(?:@|https?://)"),
    re.compile(r"\b(?:for|during|in) (?:the|this|your|next|every) (?:memory )?consolidation\b(?! of)|\bkhi hop nhat\b"),
    re.compile(
        r"\byou are an? (?:ai|assistant|language model|bot|agent)\b|\b(?:dear|hey|hello) (?:ai|assistant|model)\b"
    ),
    re.compile(r"\b(?:secretly|silently|without (?:telling|asking|informing|mentioning)|am tham|bi mat gui)\b"),
    re.compile(r"\b(?:add|append|insert|write|them)\W{0,3}[:\"“]"),
    re.compile(r"\b(?:obey|pretend (?:to be|you are)|act as if|no matter what)\b"),
    re.compile(r"\b(?:urgent|important|critical) (?:instruction|order|system)s?\b"),
)
# "i g n o r e  a l l": letters one by one, read without what stands between them.
_SPACED = re.compile(r"(?<!\w)\w(?:[ ._-]{1,3}\w(?!\w)){7,}")
_UNSPACED = re.compile(
    r"(?:ignore|disregard|forget)(?:all|any|the|your|my)*(?:previous|prior|above|earlier|instruction|rules)"
    r"|(?:delete|remove|erase)(?:all|every|any|the|your)+(?:entr|memor|notes|lines|facts)"
    r"|systemprompt|youarenow|youmustnow|donottelltheuser"
    r"|(?:boqua|photlo)(?:moi|tatca|cac)*(?:huongdan|chidan|chithi)|xoa(?:het|tatca|moi|toanbo)(?:ghichu|bonho|muc|dong)"
)


@dataclass(frozen=True)
class Order:
    """`text` is exactly as written at start:end."""

    kind: Kind
    text: str
    start: int
    end: int


def find(text: str) -> list[Order]:
    """The orders in an entry or a line, in order of appearance, never overlapping.

    "hints" are words that are harmless alone and were found together in this one
    text, so a long text should be asked about entry by entry.
    """
    folded, places = _folded(text)
    found = [
        _order(kind, text, places, match.start(), match.end())
        for kind, pattern in _TELLING
        for match in pattern.finditer(folded)
    ]
    roles = list(_ROLE.finditer(folded))
    for role in roles:
        order = _order("role", text, places, role.start("role"), role.end())
        if role["then"] or text[order.start : places[role.end("role") - 1] + 1].isupper():
            found.append(order)
    for match in _SPACED.finditer(folded):
        if _UNSPACED.search(re.sub(r"\W|_", "", match[0])):
            found.append(_order("override", text, places, match.start(), match.end()))
    hints = [(number, *match.span()) for number, hint in enumerate(_HINTS) for match in hint.finditer(folded)]
    hints += [(len(_HINTS), role.start("role"), role.end()) for role in roles]
    if len({number for number, *_ in hints}) > 1:
        found += [_order("hints", text, places, start, end) for _, start, end in hints]
    return list(_apart(found))


def _order(kind: Kind, text: str, places: Sequence[int], start: int, end: int) -> Order:
    """The stretch of the text that folded[start:end] was made from, without blanks at its ends."""
    first, last = places[start], places[end - 1] + 1
    while last < len(text) and unicodedata.combining(text[last]):
        last += 1
    written = text[first:last]
    first += len(written) - len(written.lstrip())
    written = written.strip()
    return Order(kind, written, first, first + len(written))


def _apart(orders: Sequence[Order]) -> Iterator[Order]:
    """The longest of those that overlap."""
    end = 0
    for order in sorted(orders, key=lambda one: (one.start, -one.end)):
        if order.start >= end and order.text:
            yield order
            end = order.end


def _folded(text: str) -> tuple[str, Sequence[int]]:
    """The text as the patterns read it, and for each of its characters the place it comes from."""
    if text.isascii() and text.isprintable() and "*" not in text:
        return text.lower(), range(len(text))
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        plain = _plain(character)
        characters.append(plain)
        places += [place] * len(plain)
    return "".join(characters), places


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    """A character without accent, case and looks; empty for what only hides or decorates."""
    category = unicodedata.category(character)
    if character in "\n\t":
        return character
    if category.startswith("Z"):
        return "\n" if category in {"Zl", "Zp"} else " "
    if character == "*" or category in {"Cc", "Cf", "Mn", "Me"}:
        return ""
    parts = unicodedata.normalize("NFKD", character).lower().replace("đ", "d").translate(_DRAWN_ALIKE)
    return "".join(part for part in parts if not unicodedata.category(part).startswith("M"))
