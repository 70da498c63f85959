"""Addresses: every way to be reached is found, and quantities are left alone."""

import pytest

from apps.proposals import addresses


def found(text: str) -> list[tuple[str, str]]:
    return [(address.kind, address.text) for address in addresses.find(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wholesale price list: lo-nho.example/gia-si. (2026-09-17)", [("link", "lo-nho.example/gia-si")]),
        ("see (https://wiki.example/A_(b)).", [("link", "https://wiki.example/A_(b)")]),
        ("https://good.example@evil.example/x", [("link", "https://good.example@evil.example/x")]),
        ("请访问evil.example谢谢", [("link", "evil.example")]),
        ("пишите на пример.рф сегодня", [("link", "пример.рф")]),
        ("server at 192.168.1.20:8080/admin", [("link", "192.168.1.20:8080/admin")]),
        ("send reports to ops@example.org, now", [("email", "ops@example.org")]),
        ("发到ops@example.org吧", [("email", "ops@example.org")]),
        ("call +84 90 123 45 67 or (090) 123-4567", [("phone", "+84 90 123 45 67"), ("phone", "(090) 123-4567")]),
        ("电话13800138000谢谢", [("phone", "13800138000")]),
        ("โทร ๐๘๑๒๓๔๕๖๗๘", [("phone", "๐๘๑๒๓๔๕๖๗๘")]),
        ("pay to DE89 3704 0044 0532 0130 00 today", [("account", "DE89 3704 0044 0532 0130 00")]),
        ("0901234567 (2026-09-17)", [("phone", "0901234567")]),
        ("evil.md/x and www.evil.md", [("link", "evil.md/x"), ("link", "www.evil.md")]),
        ("见evil．com和mail。evil。com/x", [("link", "evil．com"), ("link", "mail。evil。com/x")]),
        ("evil｡com, evil․com", [("link", "evil｡com"), ("link", "evil․com")]),
        ("ｈｔｔｐｓ：／／ｅｖｉｌ．ｃｏｍ／ｘ now", [("link", "ｈｔｔｐｓ：／／ｅｖｉｌ．ｃｏｍ／ｘ")]),
        ("ops＠evil.com ⓔⓥⓘⓛ.com", [("email", "ops＠evil.com"), ("link", "ⓔⓥⓘⓛ.com")]),
        ("pay at evil dot com slash x, now", [("link", "evil dot com slash x")]),
        ("Shop Dot Evil Dot Com", [("link", "Shop Dot Evil Dot Com")]),
        ("evil [dot] de and evil[.]com/x", [("link", "evil [dot] de"), ("link", "evil[.]com/x")]),
        ("vào evil chấm com gạch chéo x", [("link", "evil chấm com gạch chéo x")]),
        ("call 0 9 0 1 2 3 4 5 6 7 now", [("phone", "0 9 0 1 2 3 4 5 6 7")]),
        ("+8 4 9 0 1 2 3 4 5", [("phone", "+8 4 9 0 1 2 3 4 5")]),
        ("1 7 0 5 5 5 0 1 9 9", [("phone", "1 7 0 5 5 5 0 1 9 9")]),
        ("０　９　０　１　２　３　４　５　６　７", [("phone", "０　９　０　１　２　３　４　５　６　７")]),
        ("1 2 3 4 0901234567", [("phone", "1 2 3 4 0901234567")]),
    ],
)
def test_addresses_are_found_as_written(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "- 09:15 box of 4, 23/9 (2026-09-17)",
        "1.000.000.000 đ and 420000000 VND and $123456789",
        "open 08.00-17.30, 2019-2020, 300.000-400.000",
        "20260918, 12.05.1990, 2026-09-18 09:15",
        "MEMORY.md, notes.py and node.js, v1.2.3, e.g. this, v.v.",
        "id 12345678-1234-5678-9abc-123456789012, commit 3f9a1c20b7de12",
        "position 10.762622, 106.660172",
        "os.system(x)",
        "@linh and @minh",
        "the dot com bubble, a dot com company, dot com boom, put a dot at the end, She writes in dot net",
        "au point de vue, Das ist ein Punkt. Com",
        "使うのはLinux。macOSは使わない。サーバーはDebian。It is old. Linux．macOS",
        "Windowsです。com",
        "arr[.]x, line <.> x, (dot) a",
        "1 2 3 4, 1 2 3 4 5 6 7 8 9 10 11, 0 1 2 3 4 5 6 7 8 9, 9 8 7 6 5 4 3 2 1 0",
        "scores 3 5 4 4 2 5 1 3, 5 4 3 10 2 8 9 12",
    ],
)
def test_quantities_days_files_and_identifiers_are_no_addresses(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://www.Shop.example/", "shop.example", True),
        ("https://shop.example/a", "shop.example/A", False),
        ("https://shop.example", "https://shop.example/pay", False),
        ("Ops@Example.org", "ops@example.org", True),
        ("(090) 123-4567", "0901234567", True),
        ("+84901234567", "+44901234567", False),
        ("０９０１２３４５６７", "0901234567", True),
        ("0 9 0 1 2 3 4 5 6 7", "0901234567", True),
        ("ｅｖｉｌ。ｃｏｍ", "evil.com", True),
        ("Evil dot com slash x", "https://evil.com/x", True),
        ("GB29 NWBK 6016 1331 9268 19", "GB29NWBK60161331926819", True),
    ],
)
def test_spelling_does_not_make_another_address_and_a_path_does(one: str, other: str, same: bool) -> None:
    first, second = addresses.find(one), addresses.find(other)
    assert (next(iter(first)).key == next(iter(second)).key) == same


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "1 ",
        "a-",
        "a@",
        "1.1.1.",
        "AB12 ",
        "http://",
        "+",
        "12.34-",
        "a.b@",
        "a。",
        "a dot ",
        "a [.] ",
        "a.",
        "a[",
        "x slash ",
        "ａ",
        "1　",
    ],
)
def test_a_long_line_of_half_addresses_is_read_once(piece: str) -> None:
    """Backtracking over 200,000 characters would take minutes; reading them takes a moment."""
    text = piece * (200_000 // len(piece))
    assert all(text[one.start : one.end] == one.text for one in addresses.find(text))
