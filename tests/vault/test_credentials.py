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
        ('the wifi password is "correct horse battery staple"', "correct horse battery staple"),
        ("password: “correct horse battery staple”", "correct horse battery staple"),
        ("Passwort fürs WLAN: Sommer2025!", "Sommer2025!"),
        ("Passwort Gästezimmer: Sommer2025!", "Sommer2025!"),
        ("Passwort vom Gäste-WLAN ist: Sommer2025!", "Sommer2025!"),
        ("Passwörter: Sommer2025!", "Sommer2025!"),
        ("password guest room = kiwi4711x", "kiwi4711x"),
        ("the password Tom uses at work is kiwi4711x", "kiwi4711x"),
        ("The password we use for the router is kiwi-4711", "kiwi-4711"),
        ("New password will be hunter2Xj", "hunter2Xj"),
        ("The password used to be hunter2Xi", "hunter2Xi"),
        ("the password: it's hunter2Xk", "hunter2Xk"),
        ("The password's hunter2Xk", "hunter2Xk"),
        ("change the password to hunter2Xk", "hunter2Xk"),
        ("password - hunter2Xk", "hunter2Xk"),
        ("пароль — hunter2Xk", "hunter2Xk"),
        ("password\n    hunter2Xk\n", "hunter2Xk"),
        ("- password\n  hunter2Xk\n- tea", "hunter2Xk"),
        ("- **WiFi password**\n  - `butter`\n- tea", "butter"),
        ("login: mai / S3cret!pw", "S3cret!pw"),
        ("Login for the shop: mai / S3cret!pw.", "S3cret!pw"),
        ("user mai pw S3cret!pw2", "S3cret!pw2"),
        ("user: mai, pw: S3cret!pw2", "S3cret!pw2"),
        ("X-Auth-Token: abcdef", "abcdef"),
        ("X-Api-Key: 12345678", "12345678"),
        ("curl -H 'X-Auth-Token: kiwibutter' https://x", "kiwibutter"),
        ("Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("send `Basic bWFpOlMzY3JldA==` then", "bWFpOlMzY3JldA=="),
        ("https://x.blob/f?sv=2022-11-02&sig=a%2Bb%3D", "a%2Bb%3D"),
        ("totp: JBSWY3DPEHPK3PXP", "JBSWY3DPEHPK3PXP"),
        ("TOTP secret: jbsw y3dp ehpk 3pxp", "jbsw y3dp ehpk 3pxp"),
        ("TOTP: JBSW Y3DP EHPK 3PXP", "JBSW Y3DP EHPK 3PXP"),
        ("alarm code 4711#", "4711#"),
        ("door code 1234", "1234"),
        ("the code for the front door is 1234", "1234"),
        ("the door code is 1234*", "1234"),
        ("hasło: Zima2025!", "Zima2025!"),
        ("hasło do wifi to kiwi4711", "kiwi4711"),
        ("heslo: zima2025", "zima2025"),
        ("heslo k wifi je zima2025", "zima2025"),
        ("lösenord: vinter25", "vinter25"),
        ("lösenordet är vinter25", "vinter25"),
        ("passord: vinter25", "vinter25"),
        ("passordet er vinter25", "vinter25"),
        ("adgangskode: vinter25", "vinter25"),
        ("adgangskoden til wifi er vinter25", "vinter25"),
        ("salasana: talvi25x", "talvi25x"),
        ("salasana on talvi25x", "talvi25x"),
        ("şifre: kis2025x", "kis2025x"),
        ("wifi şifresi kis2025x", "kis2025x"),
        ("parola: kis2025x", "kis2025x"),
        ("пароль: зима2025", "зима2025"),
        ("пароль від wifi — зима2025", "зима2025"),
        ("κωδικός: xeimonas25", "xeimonas25"),
        ("ο κωδικός πρόσβασης είναι xeimonas25", "xeimonas25"),
        ("kata sandi: hujan2025", "hujan2025"),
        ("kata sandi wifi adalah hujan2025", "hujan2025"),
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
        "password reset ticket: PROJ-1234",
        "the password reset page shows: error E1234x",
        'password: "ask Tom"',
        'the password is "in the safe"',
        'the password is "not set yet"',
        'the password "must be at least 8 characters"',
        'the password dialog says "Password incorrect"',
        "send the password to linh@example.org",
        "gave the password to Tom on 2026-09-12",
        "moved the password to 1Password",
        "password - see the vault",
        "password — changed on 2026-09-12",
        "passwords – rotated in 2026",
        "the password's length is 12",
        "the password will be changed on 2026-09-14",
        "the password used to be shorter",
        "password\n  2026-09-12 changed",
        "- password\n- hunter for deals",
        "- password\n  - changed in v2.3.1",
        "login: Tom / Mai",
        "login: see the wiki",
        "user: mai, room 12",
        "user: tom, PROJ-1234",
        "user: mai, since 2026-09-12",
        "login: https://shop.example.org/a1b2c3",
        "username: mai@example.org",
        "The user is mai / team2026",
        "Basic knowledge of Python3",
        "basic tutorials: https://x",
        "https://example.org/?key=title&page=2",
        "https://example.org/watch?v=a1b2c3d4&auth=user",
        "https://example.org/?code=404&pass=1",
        "totp: enabled",
        "2FA is on for all since 2026-09-12",
        "2fa: authenticator app",
        "recovery codes: printed on 2026-09-12",
        "recovery codes are in the safe",
        "backup codes: 10 left",
        "the recovery codes lie in folder 12",
        "error code 1234",
        "zip code: 12345",
        "status code 4040",
        "the door code changed on 2026-09-12",
        "the alarm code is four digits",
        "alarm at 4711",
        "code for the shop is in main.py",
        "card 4111 1111 1111 1112, cvv unknown",
        "order 4111111111111111 was shipped",
        "phone +84 901 234 567, cvv none",
        "IMEI 490154203237518",
        "seed phrase: write down the words and store them under your bed",
        "the seed phrase is in the safe behind the books that nobody reads anyway at home",
        "recovery phrase: never type it anywhere, ask Mai before you use it for the first time please",
        "parola d'ordine: silenzio",
        "salasana on vaihdettu",
        "hasło: zapytaj Toma",
        "heslo je v trezoru",
        "passordet er endret 2026-09-12",
        "kata sandi: tanya Mai",
        "şifre: Mai'ye sor",
        "пароль: спроси у Маши",
        "пароль был изменён в 2026-09-12",
        "κωδικός: ρώτα τη Μαρία",
        "ταχυδρομικός κωδικός: 12345",
        "Sandi is 12 years old",
        "pw: ask Tom",
        "the pass is 12 km long",
        "She told her password story: it was fun2day",
        "token branch: feature/2026-09-12-new-login-page",
        "the password manager is Bitwarden2",
        "the token count was 128k",
        "X-Api-Key: required",
        "X-Auth-Token: <token>",
        "X-Auth-Token is a header",
        "seed: 42",
        "random seed = 12345678",
        "secret santa draws: Mai2Tom",
        "Passwort vergessen? Dann Mai fragen",
        "Passwort fürs WLAN: frag Tom",
        "New password will be sent by mail",
        "otp: sent by SMS",
        "PIN code: see the safe",
        "PIN is 4 digits",
        "pin the note to board2026",
        "author key: none",
        "the wifi password has been the same since 2024",
        "password used: none",
        "keyboard: mechanical",
        "access token lifetime: 3600",
        "api key rotation = 90d",
        "user: node:18-alpine",
        "container user: app, uid10001",
        "torcode: 12",
        "lock file: yarn2",
        "safe mode: on",
        "ask for the door code on arrival2",
    ],
)
def test_look_alikes_and_prose_are_left_alone(text: str) -> None:
    assert found(text) == []


class TestTables:
    def test_cells_below_a_heading_are_found_and_remarks_are_not(self) -> None:
        text = (
            "| Host | WiFi password (home) | PIN |\n|---|:--|--:|\n| mail | kiwi-4711 | 4711 |\n| shop | `butter` | none |\n"
            "| bank | ask Tom | |\n| toys | correct horse battery staple | 12 |\n| x | plum-0815 (old) | – |\n\nbread\n"
        )
        assert found(text) == ["kiwi-4711", "4711", "butter", "correct horse battery staple", "plum-0815"]
        assert [one.line for one in credentials.find(text)] == [3, 3, 4, 6, 7]

    def test_it_may_have_no_outer_bars_stand_in_a_quotation_and_have_any_line_ends(self) -> None:
        assert found("Host | Mật khẩu wifi\n--- | ---\ndoor | banhmi") == ["banhmi"]
        text = "> | Host | API token | Key |\r\n> |:--|--:|--|\r\n> | a\\|b | abc123def | x9y8z7w6 |\r\n"
        assert found(text) == ["abc123def", "x9y8z7w6"]

    @pytest.mark.parametrize(
        "text",
        [
            "| Key | Value |\n|---|---|\n| http_port | 8080 |\n| s3_bucket | x |\n| max_size_2 | 12 |",
            "| Key | Action |\n|---|---|\n| Ctrl+Shift+1 | a |\n| F12 | b |",
            "| Key | Summary |\n|---|---|\n| PROJ-1234 | tea |",
            "| Token | Cost |\n|---|---|\n| input | $0.02 |\n| cached | 12k |",
            "| Service | Password |\n|---|---|\n| mail | in 1Password |\n| shop | see vault |\n| bank | changed |\n| x | ✓ |\n| y | — |\n| z | 2026-09-12 |",
            "| Model | Price per token |\n|---|---|\n| a | 0.0002 |",
            "| a | b |\n|---|---|\n| c | d |",
        ],
    )
    def test_other_tables_are_left_alone(self, text: str) -> None:
        assert found(text) == []

    def test_a_table_of_tables_takes_linear_time(self) -> None:
        began = time.monotonic()
        credentials.find("| password |\n|---|\n" * 50_000)
        assert time.monotonic() - began < 20


class TestSecretsOfSeveralParts:
    WORDS = "abandon ability able about above absent absorb abstract absurd abuse access accident"

    @pytest.mark.parametrize(
        "name", ["seed phrase:", "The recovery phrase of the wallet is", "Secret phrase:\n", "mnemonic ="]
    )
    def test_the_words_of_a_wallet_are_one_credential(self, name: str) -> None:
        assert found(f"{name} {self.WORDS}") == [self.WORDS]
        assert found(f"{name} `{self.WORDS} {self.WORDS}`.") == [f"{self.WORDS} {self.WORDS}"]
        assert found(f"{name} {self.WORDS} and keep it safe") == [self.WORDS]
        assert found(f"{name} {self.WORDS.rpartition(' ')[0]}") == []

    def test_numbered_words_are_too(self) -> None:
        numbered = "\n".join(f"{number}. {word}" for number, word in enumerate(self.WORDS.split(), start=1))
        assert found(f"seed phrase:\n{numbered}\n- tea") == [numbered.removeprefix("1. ")]

    def test_recovery_codes_are_found_in_a_line_and_as_a_list_below(self) -> None:
        assert found("recovery codes: 1234-5678, 8765-4321 abcd-efgh and tea") == [
            "1234-5678",
            "8765-4321",
            "abcd-efgh",
        ]
        listed = (
            "Recovery codes for GitHub:\n\n- a1b2c-d3e4f\n- `f6e5d-c4b3a` (used)\n- 99887766\n- tea at four\n- a1b2c3"
        )
        assert found(listed) == ["a1b2c-d3e4f", "f6e5d-c4b3a", "99887766"]
        assert found("backup codes:\n1. 1234 5678\n2. 8765 4321\n") == ["1234", "5678", "8765", "4321"]

    def test_a_card_is_found_with_its_cvv_or_after_a_word_for_it(self) -> None:
        assert found("4111 1111 1111 1111, exp 12/27, cvv 123") == ["4111 1111 1111 1111", "123"]
        assert found("Visa: 4111-1111-1111-1111") == ["4111-1111-1111-1111"]
        assert found("order 4111 1111 1111 1111") == []
        assert found("4111 1111 1111 1112, cvv none") == []

    def test_every_parameter_of_a_link_is_judged_by_its_name(self) -> None:
        link = "https://x.example/f?sig=abcdef&x=1&key=k9j8h7g6&token=butter"
        assert found(link) == ["abcdef", "k9j8h7g6", "butter"]


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
     "\ud800", "mật khẩu", "pin 4711", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "eyJhbGciOi.x.y", ")", ".",
     "| password |", "\n|---|\n", "|", "\r\n", "  ", "login: a / ", "recovery codes", "totp", "a1b2-c3d4", "4111111111111111", "cvv ",
     "seed phrase", " abandon" * 12, "?sig=", "X-Api-Key", "Basic dXNlcjpwYXNz", " to ", " - ", "(", "κωδικός"]
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
        ("salasana on ", 100_000),
        ("password to the a - ", 100_000),
        ("token (", 100_000),
        ("password\n  > - ```\n", 200_000),
        ("|-", 1_000_000),
        ("login: a / ", 200_000),
        ("recovery codes: a1b2 ", 200_000),
        ("4111 ", 1_000_000),
        ("seed phrase: abandon ", 200_000),
        ("abandon ", 1_000_000),
        ("totp: abcd ", 200_000),
        ("x-a-", 500_000),
        ("&sig=", 500_000),
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
