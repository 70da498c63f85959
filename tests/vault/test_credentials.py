"""Credentials: what people and agents write down is found, look-alikes are left alone."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.vault import credentials

HASH = "3f9a1c20b7de123f9a1c20b7de123f9a1c20b7de"
UUID = "550e8400-e29b-41d4-a716-446655440000"
BLOCK = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7\nq2w3e4\n-----END RSA PRIVATE KEY-----"


def found(text: str) -> list[str]:
    return [text[one.start : one.end] for one in credentials.find(text)]


def kinds(text: str) -> list[str]:
    return [one.kind for one in credentials.find(text)]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("export SERVICE_TOKEN=sk-test-0000000000000000000000000000", "sk-test-0000000000000000000000000000"),
        ("see https://mai:pa55@host/x now", "pa55"),
        ("redis://:pw1@cache:6379/0", "pw1"),
        ("The password is hunter2.", "hunter2"),
        ("wifi password: kiwi-4711", "kiwi-4711"),
        ("mật khẩu wifi là banhmi123", "banhmi123"),
        ("mat khau wifi la banhmi123", "banhmi123"),
        ("Mật khẩu két sắt: 471100", "471100"),
        ("mã pin: 4711", "4711"),
        ("PIN 4711", "4711"),
        ("The PIN for the alarm is 4711.", "4711"),
        ("Das Passwort lautet Sommer2026!", "Sommer2026!"),
        ("Kennwort für das WLAN: abc-123", "abc-123"),
        ("le mot de passe du wifi est kiwi99", "kiwi99"),
        ("la contraseña es gato2024x", "gato2024x"),
        ("la contrasena: gato2024x", "gato2024x"),
        ("Authorization: Bearer abc.def", "abc.def"),
        ("authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("mysql --password hunter x", "hunter"),
        ("--password=x1", "x1"),
        ("--api-key abc", "abc"),
        ("`password` is `butter`", "butter"),
        ('"password": "butter"', "butter"),
        ('{"api_key": "abc", "user": "b"}', "abc"),
        ("DB_PASSWORD: butter", "butter"),
        ("POSTGRES_PASSWORD=postgres", "postgres"),
        ("token=3f9a1c20b7de123f9a1c20b7de123f9a1c20b7de", "3f9a1c20b7de123f9a1c20b7de123f9a1c20b7de"),
        ("api_key = 550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440000"),
        ("API key: 550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440000"),
        ("https://x.example/?token=abc1&x=2", "abc1"),
        ("**Password:** hunter2", "hunter2"),
        ("**Password**: `hunter2`", "hunter2"),
        ("- password: **hunter2**", "hunter2"),
        ("| Password | kiwi-4711 |", "kiwi-4711"),
        ("password hunter2", "hunter2"),
        ("the password is now hunter2", "hunter2"),
        ("password set to hunter2", "hunter2"),
        ("password: the new one is hunter2", "hunter2"),
        ("her password was changed to hunter22", "hunter22"),
        ("pass: 12345678", "12345678"),
        ("wifi password: 88888888", "88888888"),
        ("bot 123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11", "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11"),
        ("ghp_abcdefghij0123456789abcdefghij012345", "ghp_abcdefghij0123456789abcdefghij012345"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        ),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def_g.", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def_g"),
        ("https://hooks.slack.com/services/T0000/B0000/XXXXyyyy1", "T0000/B0000/XXXXyyyy1"),
        ("key-3ax6xnjp29jd6fds4gc373sgvjxteol0", "key-3ax6xnjp29jd6fds4gc373sgvjxteol0"),
        ("密码是abc123", "abc123"),
        ("パスワード：kiwi4711", "kiwi4711"),
        ("dbPassword: butter", "butter"),
        ("x-api-key: abc123def", "abc123def"),
        ("client_secret=butter", "butter"),
        ("set `password` to `hunter2`", "hunter2"),
        ("password `butter`", "butter"),
        ("password: Tr0ub4dor&3", "Tr0ub4dor&3"),
        ('PASSPHRASE="correct horse battery"', "correct horse battery"),
        ('\\"password\\": \\"hunter2\\"', "hunter2"),
        ("the token for the shop is abc123def", "abc123def"),
        ("password (wifi): kiwi4711", "kiwi4711"),
        ("mật khẩu mới là 12345678 nhé", "12345678"),
        ("mã PIN thẻ của mẹ là 4711", "4711"),
        ("password for mail.example.org is kiwi22", "kiwi22"),
        ("mot de passe: azerty12", "azerty12"),
        ("postgres://app:p@ss@db/x", "p@ss"),
        ("amqp://app:pa/ss@mq/x", "pa/ss"),
        ("PASSWORD=a;b,c&d!", "a;b,c&d!"),
        ("- WiFi password:\n  - `kiwi-4711`", "kiwi-4711"),
        ("token:\n```\nabc123def\n```", "abc123def"),
        ("- name: DB_PASSWORD\n  value: butter", "butter"),
        ("  password: butter\n", "butter"),
        ("mật khẩu wifi: banhmi123", "banhmi123"),
        ("mh_0123456789abcdef0123456789abcdef", "mh_0123456789abcdef0123456789abcdef"),
        ("\x00password: kiwi-4711\ud800", "kiwi-4711\ud800"),
    ],
)
def test_the_value_alone_is_found(text: str, secret: str) -> None:
    assert found(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "She changed her password on Monday",
        "password: ask Tom",
        "token: see the vault",
        "the secret is to bake slowly",
        "Secret: butter",
        "the API key is in the safe",
        "commit 3f9a1c20b7de123f9a1c20b7de123f9a1c20b7de and 3f9a1c2",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "id 550e8400-e29b-41d4-a716-446655440000 on 2026-09-20",
        "MAX_TOKENS=4096",
        "tokens: 900",
        "token_count: 12",
        "PASSWORD_MIN_LENGTH=12",
        "secret santa on 2026-12-20",
        "mail linh@example.org, call +84 90 123 45 67, pay DE89 3704 0044 0532 0130 00",
        "https://example.org/a/b?x=1#top",
        "![x](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUA)",
        "password=${DB_PASSWORD}",
        "password=$DB_PASSWORD",
        "token: <your key>",
        "api_key=<your key>",
        "password: ****",
        "password=xxx",
        "API_KEY=your-api-key",
        "password = None",
        "token: str",
        "api_key: str = None",
        "token = get_token()",
        'password = os.environ["X"]',
        "token=settings.TOKEN",
        "password: 12-character minimum",
        "the PIN has 4 digits",
        "the PIN is 4-digit",
        "token is base64",
        "the password was changed on 2026-09-12",
        "Passwords changed: 2026-09-12",
        "token limit: 128k",
        "token budget is 4096",
        "token price: $0.02",
        "password manager: Bitwarden",
        "the password is in 1Password",
        "password: 1Password",
        "the token expires: 2026",
        "the API key is valid until 2026-09-12",
        "the API key is `OPENAI_API_KEY`",
        "use --token flag",
        "docker run -u 1000:1000 x",
        "https://host:8080/a@b",
        "ssh://git@github.com/x",
        "https://host:3000/@tom",
        "bearer of bad news",
        "shopping: list",
        "password_file=/run/secrets/db",
        "password: /run/secrets/db",
        "She changed her password and the order is A-1234",
        "password reset: 2026",
        "auth: basic",
        "authorization: needed",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        "if token == other: pass",
        '"type": "password"',
        "pin: GPIO17",
        "pass: 12 fail: 3",
        "sk-learn is good, sk-SK locale",
        "-----BEGIN CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----",
        "password-reset: 2026",
        "author: tom2",
        "monkey=banana1",
        "the secret of dough is patience",
        "the token has 3 parts",
        "basic authentication is off",
        "the password is case-sensitive",
        "credentials: see 1Password",
        "[[Password]] and [[api key|the key]]",
        "TOKEN=mh_…",
        "`Authorization: Bearer mh_…`. Tokens",
        "A secret is `mh_` and 64 hexadecimal digits",
        "-u ${U}:${P}",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    ],
)
def test_look_alikes_and_prose_are_left_alone(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (BLOCK, "private_key"),
        ("https://mai:pa55@host/x", "url_password"),
        ("API_KEY=sk-test-0000000000000000000000000000", "key"),
        ("Authorization: Bearer abc.def", "authorization"),
        ("password: kiwi-4711", "assigned"),
    ],
)
def test_the_kind_is_the_most_telling(text: str, kind: str) -> None:
    assert kinds(text) == [kind]


def test_several_values_are_found_in_order_with_their_lines() -> None:
    text = (
        "# M\r\n\r\npassword: kiwi-4711, pin: 4711\rtoken=abc1\n\nhttps://u:pa55@h/ and passwords: plum-1 and plum-2.\n"
    )
    assert found(text) == ["kiwi-4711", "4711", "abc1", "pa55", "plum-1", "plum-2"]
    assert [one.line for one in credentials.find(text)] == [3, 3, 4, 6, 6, 6]


class TestPrivateKeys:
    @pytest.mark.parametrize(
        "text",
        [
            BLOCK,
            BLOCK.replace("\n", "\r\n"),
            BLOCK.replace("\n", "\n    "),
            BLOCK.replace("\n", "\n> "),
            BLOCK.replace("\n", "\\n"),
            BLOCK.replace("RSA ", "OPENSSH "),
            BLOCK.replace("RSA ", ""),
            BLOCK.replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK").replace("KEY BLOCK-----\n", "KEY BLOCK-----\n\n"),
        ],
    )
    @pytest.mark.parametrize("before", ["", "- the key: ", "> ", "  1. "])
    def test_a_block_is_whole_however_it_is_written(self, text: str, before: str) -> None:
        assert found(f"tea\n\n{before}{text}\n- cake\n") == [text]

    def test_a_block_in_a_quoted_value_is_one_credential(self) -> None:
        text = '{"private_key": "' + BLOCK.replace("\n", "\\n") + '\\n", "id": 1}'
        assert found(text) == [BLOCK.replace("\n", "\\n") + "\\n"]
        assert kinds(text) == ["private_key"]

    def test_without_an_end_it_goes_to_the_next_blank_line_or_the_end(self) -> None:
        cut = BLOCK.rpartition("\n")[0]
        assert found(cut) == [cut]
        assert found(f"{cut}\n\ntea") == [cut]
        assert found(f"> {cut}\n> \n> tea".replace("\nM", "\n> M")) == [cut.replace("\nM", "\n> M")]
        assert found(f"{cut}\n{BLOCK}\ntea") == [cut, BLOCK]

    def test_a_blank_line_below_its_headers_does_not_end_it(self) -> None:
        cut = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n" + "A7q2" * 16
        assert found(f"{cut}\n\ntea") == [cut]


def test_masked_leaves_all_but_the_values() -> None:
    text = f"- wifi password: kiwi-4711 (2026-09-14)\n{BLOCK}\n- commit {HASH}"
    assert credentials.masked(text) == f"- wifi password: ••• (2026-09-14)\n•••\n- commit {HASH}"


PIECES = st.sampled_from(
    ["password", ": ", "=", " is ", "kiwi-4711", "token", "\n", "\r", "> ", "`", '"', "**", "://a:b@c", "sk-", "Bearer ", "\x00",
     "\ud800", "mật khẩu", "pin 4711", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "eyJhbGciOi.x.y", ")", "."]
)  # fmt: skip


@given(st.one_of(st.text(st.characters(exclude_categories=[])), st.lists(PIECES, max_size=20).map("".join)))
@settings(max_examples=300, deadline=None)
def test_spans_of_any_text_are_in_order_within_it_and_apart(text: str) -> None:
    edges = [edge for one in credentials.find(text) for edge in (one.start, one.end)]
    assert edges == sorted(edges)
    assert all(0 <= one.start < one.end <= len(text) for one in credentials.find(text))
    assert credentials.masked(text).count(credentials.MASK) >= len(edges) // 2


@pytest.mark.parametrize(
    ("piece", "size"),
    [
        ("a", 2_000_000),
        ("=", 2_000_000),
        ("a:", 2_000_000),
        ("-----BEGIN PRIVATE KEY-----\n", 2_000_000),
        ("://a:", 2_000_000),
        ("-eyJaaaaaaa", 500_000),
        ("password: “", 200_000),
        ("password for the a is ", 200_000),
        ("mật khẩu ", 100_000),
    ],
)
def test_hostile_texts_take_linear_time(piece: str, size: int) -> None:
    """Seconds on a slow machine; work with the square of the length would take many minutes."""
    began = time.monotonic()
    credentials.find(piece * (size // len(piece)))
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("tail", [")", ".", "*", "'", "}]"])
def test_a_long_tail_of_punctuation_takes_linear_time(tail: str) -> None:
    began = time.monotonic()
    credentials.find("password=" + tail * 500_000)
    assert time.monotonic() - began < 20
