"""Weights of the wording that makes a sentence of a note worth keeping for months, or not.

English and Vietnamese. The sum of the weights decides. They began as those of
openclaw.md 5.3 and were then measured against ten people's chat notes, so that
the notes of a week or two give ten to twenty lines, most of them worth keeping.
"""

import re
from dataclasses import dataclass
from typing import Literal

from apps.llm import wording

Topic = Literal["preference", "rule", "person", "contact", "health", ""]

KEEP_FROM = 1.4
_LASTING_SECTION_WEIGHT = 1.6

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = (  # "moved to May" is no place
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
)
_SPAN = (
    rf"(?:{_DAY}|morning|afternoon|evening|night|day|week|weekend|month|year|quarter|season|spring|summer"
    r"|fall|autumn|winter)"
)
_KIN = (
    r"(?:wife|husband|partner|spouse|fianc[eé]e?|girlfriend|boyfriend|sons?|daughters?|mother|father|mom"
    r"|mum|dad"
    r"|brothers?|sisters?|grand(?:ma|pa|mother|father)|kids?|child(?:ren)?|aunt|uncle|cousins?|boss|manager"
    r"|dogs?|cats?|pup(?:s|py|pies)?|pets?)"
)
_NUMBER = r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten)"


@dataclass(frozen=True)
class Signal:
    """One kind of wording: what a reason calls it, what it weighs, and what it makes a line about."""

    name: str
    weight: float
    pattern: re.Pattern[str]
    topic: Topic


@dataclass(frozen=True)
class Verdict:
    """The sum of the weights, the strongest reason to keep, and what the sentence is about."""

    weight: float
    reason: str
    topic: Topic

    @property
    def lasting(self) -> bool:
        return self.weight >= KEEP_FROM


def _signal(name: str, weight: float, *patterns: str, topic: Topic = "") -> Signal:
    return Signal(name, weight, re.compile("|".join(patterns), re.IGNORECASE), topic)


_FROM_NOW_ON = re.compile(
    r"\b(?:from (?:now|today|this day) on(?:wards?)?|starting today|going forward|as of today)\b"
    r"|\btừ (?:nay|giờ|bây giờ|hôm nay|rày)\b(?: trở đi)?",
    re.IGNORECASE,
)

_FOR = (
    _signal(
        "standing wording",
        3.2,
        _FROM_NOW_ON.pattern,
        r"\b(?:always|never|at all times|under no circumstances|no exceptions)\b",
        r"\bluôn luôn\b|\bluôn(?= +\w+ +\w+)(?! +(?:nhé|nha|đi|và)\b)|\b(?:không|đừng|chưa) bao giờ\b",
        r"\b(?:lúc nào|bao giờ|khi nào) cũng\b|\btuyệt đối (?:không|đừng)\b",
        topic="rule",
    ),
    _signal(
        "to be remembered",
        3.4,
        r"^(?:please )?(?:remember|bear in mind|keep in mind|note|n\.?b\.?)(?: that\b|\s*:)",
        r"\b(?:remember|keep in mind|bear in mind|note) that\b|\bfor the record\b",
        r"\b(?:asked|told) (?:me|us) to remember\b|\bnhớ (?:rằng|là)\b|\b(?:ghi nhớ|lưu ý|cần nhớ|hãy nhớ)\b",
    ),
    _signal(
        "to be remembered",
        2.4,
        r"^(?:please )?(?:remember|keep in mind)\b(?! (?:to|when|how|last|the time|this|that)\b)|^nhớ\b",
    ),
    _signal(
        "a habit",
        2.3,
        rf"\b(?:usually|typically|every (?:single |other )?{_SPAN}|each {_SPAN}|on {_DAY}s)\b",
        r"\b(?:tends? to|as a rule|by default)\b",
        rf"\b(?:once|twice|{_NUMBER} times) (?:a|per) (?:day|week|month|year)\b",
        r"\b(?:thường(?: xuyên)?|h[ằà]ng (?:ngày|tuần|tháng|năm)|mặc định)\b",
        r"\bmỗi (?:sáng|trưa|chiều|tối|ngày|tuần|tháng|năm|thứ|cuối tuần|chủ nhật)\b",
    ),
    _signal(
        "a preference",
        1.8,
        r"\b(?:prefers?|preferred|would rather|dislikes?|hates|loves|likes|enjoys|keen on)\b",
        r"\b(?:can['’]?t|cannot|can not) stand\b|\b(?:do(?:es)?n['’]t|do(?:es)? not) (?:like|eat|drink)\b",
        r"\bfavou?rite (?:[\w'-]+ ){0,3}(?:is|are|was)\b",
        r"\b(?:is|are) (?:my|her|his|their|our) (?:all-time )?favou?rite\b",
        r"\b(?:big|huge) fan of\b|\bpassion (?:of mine|for)\b|\bpassionate about\b",
        r"\bI(?: really| also| absolutely| just)? (?:love|enjoy|hate) (?!hearing\b|seeing\b)(?:\w+ing\b"
        r"|to \w+)",
        r"(?<!giải )(?<!chú )(?<!kích )\bthích\b(?! (?:hợp|ứng|nghi)\b)",
        r"\b(?:ghét|ưa|ưu tiên|đam mê|sở thích|kiêng|không (?:ăn|uống))\b",
        topic="preference",
    ),
    _signal(
        "a rule",
        1.6,
        r"\b(?:must|rule|policy|decided (?:that|on|against|to)|we agreed|agreed (?:that|on))\b",
        r"\bonly (?:use|via|through|after|before)\b",
        r"\b(?:do not|don['’]t) (?:use|call|send|push|deploy|commit|book|schedule|share|edit)\b",
        r"\b(?:quy tắc|quy định|nguyên tắc|quyết định|thống nhất|không được|bắt buộc|chỉ (?:được|dùng))\b",
        topic="rule",
    ),
    _signal(
        "health",
        2.4,
        r"\b(?:allerg(?:ic|y|ies)|intolerant|diabet\w+|asthma|vegetarian|vegan|gluten[- ]free|diagnosed)\b",
        r"\b(?:blood type|pregnant|dị ứng|ăn chay|tiểu đường|hen suyễn|nhóm máu|mang thai|chẩn đoán)\b",
        topic="health",
    ),
    _signal(
        "a fact about a person",
        2.0,
        r"\b(?:birthday|born (?:on|in)|(?:lives?|living|based) in|grew up in|hometown|years old|nickname)\b",
        r"\b(?:pronouns|native language)\b|\bI(?:['’]m| am) from\b|\bworks? (?:as|at|for) (?!me\b|you\b"
        r"|us\b|it\b)",
        r"\bnames? (?:is|are)\b(?! on\b)|\b(?:named|called) (?:him|her|them|my \w+)\b",
        rf"\b(?:(?:my|his|her|our)|\w+['’]s) {_KIN} (?:(?:is|are) (?:an? |from |called |named |\d)|works"
        rf"|lives)",
        rf"\b(?:have|has|had|got) (?:{_NUMBER}|a few)(?: \w+){{0,2}} {_KIN}\b(?! name)",
        r"\bI(?:['’]m| am) an? (?!better\b|bigger\b|other\b)(?:\w+ ){0,3}(?:\w+(?:eer|tor|ist|ian|cher"
        r"|yer)|nurse"
        r"|student|coach|chef|writer|designer|developer|manager|mom|dad|mother|father)\b",
        rf"\bfor (?:about |over |almost |nearly )?(?:the past )?{_NUMBER} years\b|\byears now\b",
        r"\bsince I was (?:a|an|\d+|young)\b|\b(?:my|his|her|our|their) (?:dream|goal|motto) is\b",
        r"\b(?:sinh nhật|sinh (?:ngày|năm)|sống ở|quê ở|làm (?:nghề|việc (?:ở|tại|cho))|múi giờ|\d+ tuổi)\b",
        r"\blà (?:bác sĩ|giáo viên|kỹ sư|y tá|sinh viên)\b|\btên (?:là|con|vợ|chồng)\b",
        topic="person",
    ),
    _signal(
        "an event of a life",
        3.6,
        rf"\bmoved (?:in)?to (?!{_DAY}|{_MONTH}|\d)(?:(?-i:[A-ZÀ-ÖØ-ÞĂĐƠƯẠ-Ỹ])|an? (?:new )?(?:house|flat|apartment"
        rf"|place|city))",
        r"\b(?:got|getting|am|['’]m) (?:married|engaged|divorced)\b|\b(?:quit|left|lost) (?:my|his|her"
        r"|their) job\b",
        r"\b(?:got|started|accepted|landed) (?:an?|my|his|her|the) (?:\w+ ){0,2}(?:job|position|business"
        r"|company)\b",
        r"\b(?:opened|launched) (?:an?|my|our|his|her) (?:\w+ ){0,2}(?:studio|store|shop|business"
        r"|restaurant|company)\b",
        r"\b(?:retired|graduated|passed away|gave birth|was born)\b|\badopted (?:an?|two|my|our|him|her"
        r"|another)\b",
        r"\bbought (?:an?|my|our) (?:\w+ )?(?:house|home|flat|apartment|car)\b",
        r"\bchuyển (?:đến|về|sang|tới) (?!thứ |ngày |tháng |tuần |\d)",
        r"\b(?:kết hôn|đính hôn|ly hôn|nghỉ việc|tốt nghiệp|qua đời|nhận việc)\b",
        topic="person",
    ),
    _signal(
        "how to reach someone",
        2.4,
        r"\b(?:phone|mobile|cell|tel|e-?mail|address|zalo|telegram|whatsapp|số điện thoại|sđt|điện thoại"
        r"|địa chỉ)\b"
        r"[^.!?]{0,40}?(?:\+?\d[\d .()-]{5,}\d|[\w.+-]+@[\w-]+\.\w+|\d+ \w+)",
        topic="contact",
    ),
)

_AGAINST = (
    _signal(
        "cheering",
        -5,
        r"\balways (?:\w+ )?(?:here|there|around|happy|glad|proud|fun|great|nice|good|amazing|awesome"
        r"|an? \w+)\b",
        r"\balways (?:\w+ )?(?:ha(?:s|ve|ving)|can|easy|exciting|something)\b|\bnever-ending\b",
        r"\bnever (?:\w+ )?(?:give up|gives|thought|think|knew|know|saw|seen|tried|been|imagined|forget"
        r"|heard|had)\b",
        r"\bnever (?:\w+ )?(?:gets?|go back|done|quit|ends?|ending|mind|stop|decided|expected|felt|too"
        r"|a problem)\b",
        r"\b(?:always|never) (?:\w+ )*(?:me|us|my (?:back|soul|day))\b(?= (?:smile|feel|so|up|pumped|in"
        r"|back)|[.!]|$)",
        r"\bremind(?:s|ed|ing)? (?:me (?:how|why|that|of)|us)|\bma(?:ke|kes|de) me (?:feel|so|love|happy"
        r"|smile)\b",
    ),
    _signal(
        "a matter of a day",
        -2.0,
        rf"\b(?:today|tonight|tomorrow|yesterday|right now|at the moment|this {_SPAN}|in \d+ (?:minutes"
        rf"|hours))\b",
        r"\b(?:hôm nay|hôm qua|ngày mai|(?:sáng|chiều|tối|trưa) (?:nay|mai|qua)|tuần này|lát nữa)\b",
        r"\b(?:bây giờ|hiện giờ|mai (?:sẽ|phải|đi|họp))\b",
    ),
    _signal(
        "passing",
        -1.0,
        rf"\b(?:last|next) (?:{_SPAN}|few \w+)\b|\b(?:recently|lately|soon|just now|earlier|a while ago"
        rf"|gonna)\b",
        r"\b(?:these days|going to|can['’]t wait)\b|\b\w+['’]ll\b",
        r"\b(?:tuần|tháng) (?:sau|trước|tới)\b|\b(?:sắp|vừa)\b",
    ),
    _signal(
        "a task",
        -6,
        r"^(?:to-?do|task|remind(?:er)?|action item)\b|\b(?:remind|ping) (?:me|us|her|him|them)\b",
        r"\b(?:remember|don['’]t forget|do not forget|forgot) to\b|\bfollow up\b|\bpick up\b|\bdue (?:on"
        r"|by)\b",
        r"\bdeadline\b|^(?:buy|call|book|order|ask|mua|gọi|đặt|nhắc) ",
        r"\b(?:nhớ|cần|phải|nhắc)(?: \w+)? (?:mua|gọi|gửi|trả|lấy|nộp|đặt|mang|kiểm tra|nhắc|in|họp|hẹn)\b",
    ),
    _signal("a duty", -1.6, r"\b(?:need(?:s|ed)?|have|has|had|gotta|got) to\b|\blet['’]s\b"),
    _signal(
        "monitoring",
        -4.2,
        r"\b(?:finished ok|exit code|heartbeat|uptime|traceback|stack trace|job \d+|HTTP \d{3})\b",
        r"\bbuild (?:passed|failed|#?\d+)|\btests? (?:passed|failed)\b|\b(?:cpu|memory usage|latency)\b",
        r"\b(?:passed|failed|finished|completed|done) in \d",
    ),
    _signal(
        "travel",
        -2.6,
        r"\b(?:boarding pass|gate [A-Z]?\d+|check-?(?:in|out) (?:at|is|by)|departs|layover|booked (?:a|the"
        r"|my))\b",
    ),
    _signal("code or address", -0.8, r"`[^`]+`", r"\bhttps?://"),
)

# In chat somebody speaks to somebody: praise, guesses and an "it" from the line before say little alone.
_AGAINST_IN_CHAT = (
    _signal("talk to another", -2.5, r"\b(?:you|your|yours|you['’]\w+|bạn)\b"),
    _signal(
        "of something before",
        -2.0,
        r"^(?:and |but |so |plus,? )?(?:it|that|this|these|those|they|there|which|here)\b(?:['’]\w+)?",
        r"^(?:nó|(?:cái|điều) (?:này|đó)|đó)\b",
    ),
    _signal("of somebody before", -1.0, r"^(?:and |but |so )?s?he\b"),
    _signal(
        "of something before",
        -0.5,
        r"\b(?:this(?! (?:week|month|year))|these|those|it|them|that(?=[.!,]|$))\b",
    ),
    _signal("a guess", -4, r"\bmust(?: \w+)? (?:be|feel|have|bring|make)\b|\ba must\b|\bmust-\w+"),
    _signal("a wish", -1.5, r"\b(?:hope|hoping|imagine|wish|maybe|wanna|wonder)\b"),
    _signal(
        "a story",
        -5,
        r"\b(?:I|me|us) (?:still )?remember\b|\b(?:I|we)['’]m always\b|\b(?:is|are)n['’]t always\b",
    ),
    _signal("advice", -3, r"^(?:always|never|don['’]t|keep|just|luôn|đừng)\b"),
    _signal(
        "of nobody",
        -2.0,
        r"\A(?!.*\b(?:I|me|my|mine|we|our|he|him|his|she|her|their|tôi|mình|tớ|em|anh|chị|con|nhà|vợ"
        r"|chồng)\b)",
    ),
)


def judge(sentence: str, *, chat: bool, headings: tuple[str, ...] = ()) -> Verdict:
    """Weigh one sentence; `chat` when somebody says it to somebody, `headings` those above it in its note."""
    heard = [signal for signal in _FOR if signal.pattern.search(sentence)]
    weight = sum({signal.name: signal.weight for signal in reversed(heard)}.values())
    reason = max(heard, key=lambda signal: signal.weight).name if heard else ""
    lasting_section = next((title for title in headings if wording.is_lasting_section(title)), None)
    if lasting_section is not None:
        weight += _LASTING_SECTION_WEIGHT
        reason = reason or f"stands under {lasting_section}"
    against = _AGAINST + (_AGAINST_IN_CHAT if chat else ())
    rest = _FROM_NOW_ON.sub("", sentence)  # its "today" is no day that passes
    weight += sum(signal.weight for signal in against if signal.pattern.search(rest))
    return Verdict(weight, reason, _topic(heard))


def _topic(heard: list[Signal]) -> Topic:
    """Health and contacts before all else: "never eats nuts, allergic" is looked for there."""
    topics = [signal.topic for signal in sorted(heard, key=lambda signal: -signal.weight) if signal.topic]
    return next((topic for topic in topics if topic in {"health", "contact"}), topics[0] if topics else "")
