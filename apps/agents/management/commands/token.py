from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.utils import timezone

from apps import access
from apps.agents import registry
from apps.agents.models import Token
from apps.console import Console


def record(token: Token) -> dict[str, Any]:
    return {
        "id": token.public_id,
        "name": token.name,
        "agent": token.agent_id,
        "rights": token.rights,
        "created": token.created,
        "expires": token.expiry,
        "expired": token.expired,
    }


class Command(Console):
    help = "Keys for agents and programs: issue one (shown once), list them, revoke one."

    def define(self, parser: ArgumentParser) -> None:
        verbs = self.verbs(
            parser,
            issue="make a token; its secret is printed once and never again",
            revoke="end a token at once",
            list="every token with its rights, never its secret",
        )
        issue = verbs["issue"]
        issue.add_argument("name", help="what it is for")
        issue.add_argument("--agent", default="", help="the one agent it may reach; without it: every agent")
        issue.add_argument(
            "--rights",
            default="read,write_notes",
            help=f"by comma, of: {', '.join(access.RIGHTS)} (default: %(default)s)",
        )
        issue.add_argument("--days", type=self.number(1, 36_500), help="its life; without it: no end")
        verbs["revoke"].add_argument("id")

    def issue(self, options: dict[str, Any]) -> None:
        rights = [word.strip() for word in options["rights"].split(",") if word.strip()]
        expiry = timezone.now() + timedelta(days=options["days"]) if options["days"] is not None else None
        token, secret = registry.issue_token(
            options["name"], rights=rights, actor=access.operator(), agent_id=options["agent"], expiry=expiry
        )
        self.show(
            {**record(token), "token": secret},
            f"{token.public_id}  {secret}",
            "Keep it now; it is not shown again.",
        )

    def revoke(self, options: dict[str, Any]) -> None:
        registry.revoke_token(options["id"])
        self.show({"revoked": options["id"]}, f"{options['id']} is revoked.")

    def list(self, options: dict[str, Any]) -> None:
        rows = [record(token) for token in registry.tokens()]
        self.show(
            {"tokens": rows},
            *[
                f"{row['id']}  {row['agent'] or 'every agent':<20} {','.join(row['rights']):<30} {row['name']}"
                for row in rows
            ],
        )
