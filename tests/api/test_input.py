"""What arrives broken, too large, or in no shape at all (case C30): a clear refusal, never a 500."""

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

pytestmark = pytest.mark.django_db(transaction=True)

MEMORY = "agents/coach/memory"


def refused(response, status, *codes):
    error = response.json()["error"]
    assert response.status_code == status, error
    assert set(error) == {"code", "message", "details"}
    assert error["code"] in codes
    return error


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (rb'{"memory_md": "a\u0000b"}', "memory_md"),
        (rb'{"memory_md": "\ud83d"}', "memory_md"),
        (rb'{"memory_md": "x", "\u0000": 1}', "(key)"),
        (rb'{"memory_md": {"deep": ["x", "\udc00"]}}', "memory_md.deep[1]"),
    ],
)
def test_nul_and_half_surrogates_are_refused_by_field(api, raw, field):
    error = refused(api.call("PUT", MEMORY, raw=raw), 422, "unstorable", "bad_text", "not_storable")
    assert error["details"]["field"] == field


@pytest.mark.parametrize(
    "raw", [b"{", b"\xff\xfe", b"memory_md=x", b'{"memory_md": NaN}', b"[" * 100_000, b"1" * 5000 + b"x"]
)
def test_what_is_no_json_is_400(api, raw):
    refused(api.call("PUT", MEMORY, raw=raw), 400, "not_json")


@pytest.mark.parametrize("raw", [b"null", b"[]", b'"text"', b"5", b"true"])
def test_json_that_is_no_object_is_422(api, raw):
    refused(api.call("PUT", MEMORY, raw=raw), 422, "not_an_object")


@pytest.mark.parametrize(
    "body", [{}, {"memory_md": None}, {"memory_md": 5}, {"memory_md": ["x"]}, {"memory_md": "x", "more": 1}]
)
def test_fields_that_do_not_fit_are_422_and_named(api, body):
    error = refused(api.put(MEMORY, body), 422, "invalid")
    assert set(error["details"]["fields"]) & {"memory_md", "more"}


def test_a_body_without_a_content_type_is_read_as_json(api, token):
    answer = Client().generic(
        "PUT",
        f"/api/{MEMORY}",
        json.dumps({"memory_md": "x"}),
        content_type="",
        headers={"Authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 200


def test_a_body_with_a_byte_order_mark_is_json_all_the_same(api):
    assert api.call("PUT", MEMORY, raw=b'\xef\xbb\xbf{"memory_md": "x"}').status_code == 200


def test_a_body_over_the_limit_is_413(api, settings):
    settings.MEMORYHUB_REQUEST_LIMIT = settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    refused(api.put(MEMORY, {"memory_md": "x" * 2000}), 413, "too_large")


@pytest.mark.parametrize(
    "path", ["history?scope=%00", "memory/proposals?status=a%00b", "agents/co%00ach/memory", "history/%00/undo"]
)
def test_nul_in_an_address_is_422(api, path):
    refused(api.get(path), 422, "bad_name")


def test_other_bytes_in_an_address_find_nothing(api):
    for path in (
        "agents/%ED%A0%BD/memory",
        "agents/%FF/memory",
        "memory/proposals/%ED%A0%BD",
        "history/%F0%9F%92%A9/undo",
    ):
        method = "POST" if path.endswith("undo") else "GET"
        assert api.call(method, path).status_code in {404, 422}


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "limit=100000", "limit=-1"])
def test_a_limit_out_of_range_is_422(api, query):
    refused(api.get(f"history?{query}"), 422, "invalid")


def test_an_address_nobody_knows_and_a_method_nobody_takes_are_json_too(api):
    refused(api.get("nowhere"), 404, "not_found")
    refused(api.get("agents/coach/memory/"), 404, "not_found")
    refused(api.call("PATCH", MEMORY, {}), 405, "method_not_allowed")


def test_without_a_token_or_with_a_wrong_one_it_is_401(client, crew):
    for sent in (None, "Bearer", "Bearer nonsense", "Bearer a b", "Bearer mh_" + "x" * 64, "Basic bWFpOm1haQ=="):
        answer = client.get(f"/api/{MEMORY}", headers={"Authorization": sent} if sent else {})
        refused(answer, 401, "not_authenticated")
        assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_revoked_or_expired_token_is_401_at_once(client, crew):
    from apps import access
    from apps.agents import registry

    token, secret = registry.issue_token("short", rights=["read"], actor=access.operator())
    over, expired = registry.issue_token("over", rights=["read"], actor=access.operator())
    over.expiry = timezone.now() - timedelta(days=1)
    over.save()
    headers = {"Authorization": f"Bearer {secret}"}
    assert client.get(f"/api/{MEMORY}", headers=headers).status_code == 200
    registry.revoke_token(token.public_id)
    refused(client.get(f"/api/{MEMORY}", headers=headers), 401, "not_authenticated")
    refused(client.get(f"/api/{MEMORY}", headers={"Authorization": f"Bearer {expired}"}), 401, "not_authenticated")


def test_a_person_signed_in_writes_with_the_csrf_token_only(staff, crew):
    client = Client(enforce_csrf_checks=True)
    client.force_login(staff)
    body = json.dumps({"memory_md": "by hand"})
    refused(client.put(f"/api/{MEMORY}", body, content_type="application/json"), 403, "forbidden")
    client.get("/admin/password_change/")
    token = client.cookies["csrftoken"].value
    answer = client.put(f"/api/{MEMORY}", body, content_type="application/json", headers={"X-CSRFToken": token})
    assert answer.status_code == 200


def test_a_bug_is_a_json_500_without_its_insides(api, monkeypatch):
    from apps.agents import reading

    def broken(*args, **kwargs):
        raise ValueError("secret inside")

    monkeypatch.setattr(reading, "memory", broken)
    api.client.raise_request_exception = False
    error = refused(api.get(MEMORY), 500, "server_error")
    assert "secret" not in json.dumps(error)


def test_no_suffix_no_accept_header_and_no_missing_slash_gets_another_shape(api):
    assert api.get(f"{MEMORY}?format=xml").status_code == 200
    answer = api.get(MEMORY, Accept="text/html")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    assert api.client.get("/api")["Content-Type"] == "application/json"


@pytest.mark.parametrize("key", ["", "   ", "x" * 201, "a\x01b"])
def test_an_idempotency_key_that_cannot_be_one_is_422_on_every_route(api, scope, key):
    refused(api.put(MEMORY, {"memory_md": "x"}, Idempotency_Key=key), 422, "bad_key")
    refused(api.save("coach", "x", Idempotency_Key=key), 422, "bad_key")
    assert list((scope.root / "memory").iterdir()) == []


@pytest.mark.parametrize("source", ["a\u0085b", "x\x7f", "\u200bmemory:x", "\ufeffmemory:x", "x" * 121])
def test_a_source_with_invisible_characters_is_422(api, source):
    refused(
        api.post("agents/coach/tools/memory_save", {"arguments": {"text": "x"}, "source": source}), 422, "bad_source"
    )


def test_a_list_of_millions_of_numbers_is_refused_in_few_words(api):
    answer = api.post("agents/coach/tools/memory_save", {"arguments": {"text": [0] * 200_000}})
    refused(answer, 422, "bad_arguments")
    assert len(answer.content) < 1_000


def test_a_database_that_is_locked_is_503_and_passes(api, scope):
    import sqlite3

    from django.conf import settings
    from django.db import connection

    if connection.vendor == "sqlite":
        other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        connection.settings_dict["OPTIONS"]["timeout"] = 0.1
        connection.close()
        try:
            answer = api.put(MEMORY, {"memory_md": "x"})
        finally:
            other.execute("ROLLBACK")
            other.close()
            connection.settings_dict["OPTIONS"]["timeout"] = settings.MEMORYHUB_SQLITE_BUSY_SECONDS
            connection.close()
        refused(answer, 503, "database_busy")
        assert answer["Retry-After"]
        assert not (scope.root / "MEMORY.md").exists()
    assert api.put(MEMORY, {"memory_md": "x"}).status_code == 200


def test_a_home_that_is_not_there_is_507_and_never_made(api, home):
    home.rename(home.with_name("away"))
    refused(api.put(MEMORY, {"memory_md": "x"}), 507, "root_missing")
    refused(api.save("coach", "x"), 507, "root_missing")
    assert not home.exists()
