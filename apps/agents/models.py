"""Agents and the tokens with which they, and other programs, come in."""

from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from knox.models import AbstractAuthToken, get_digest_token
from knox.settings import CONSTANTS

from apps.access import RIGHTS
from apps.agents import cron
from apps.ledger.models import public_id
from apps.llm import routes
from apps.vault import layout


def valid_zone(name: str) -> None:
    """Raise ValidationError unless the name is an IANA time zone."""
    try:
        ZoneInfo(name)
    except (ValueError, KeyError, OSError) as error:
        raise ValidationError(_("“%(name)s” is not a time zone."), params={"name": name}) from error


def valid_id(name: str) -> None:
    if name in layout.RESERVED_IDS:
        raise ValidationError(_("“%(name)s” is reserved."), params={"name": name})


def valid_cron(expression: str) -> None:
    if reason := cron.fault(expression):
        raise ValidationError(reason)


def valid_route(route: str) -> None:
    names = [name.strip() for name in route.split(",")]
    if fault := routes.fault([name for name in names if name]):
        raise ValidationError(fault)
    if route.strip() and not any(names):
        raise ValidationError(_("Name at least one model, or none at all."))


def valid_rights(rights: object) -> None:
    if not isinstance(rights, list) or not rights or any(right not in RIGHTS for right in rights):
        raise ValidationError(_("Rights are a list of: %(rights)s."), params={"rights": ", ".join(RIGHTS)})


class Agent(models.Model):
    """One agent of the crew. Its folder is the truth; this row says where it is and how it is run."""

    id = models.CharField(
        _("id"),
        primary_key=True,
        max_length=60,
        validators=[
            RegexValidator(r"^[a-z0-9-]{1,60}\Z", _("Use 1 to 60 of a to z, 0 to 9 and hyphens.")),
            valid_id,
        ],
    )
    name = models.CharField(_("name"), max_length=120, blank=True)
    directory = models.TextField(
        _("directory"),
        blank=True,
        help_text=_("Empty: its usual place in the home. Changed on its own page."),
    )
    zone = models.CharField(
        _("time zone"),
        max_length=64,
        blank=True,
        validators=[valid_zone],
        help_text=_("Decides which day a note belongs to. Empty: the owner's."),
    )
    model = models.CharField(
        _("model"),
        max_length=300,
        blank=True,
        validators=[valid_route],
        help_text=_("Models tried in order, by comma. Empty: the site's."),
    )
    autonomous = models.BooleanField(
        _("autonomous"),
        default=False,
        help_text=_("A rewrite that loses nothing, and that nobody need look at, is written without a person."),
    )
    cron = models.CharField(
        _("nights"),
        max_length=100,
        blank=True,
        validators=[valid_cron],
        help_text=_("When its notes are folded in, as a cron expression in its zone (10 3 * * *). Empty: never."),
    )
    # A night before this moment was nobody's wish.
    cron_since = models.DateTimeField(null=True, blank=True, editable=False)
    budget_day = models.DecimalField(
        _("budget a day, in dollars"),
        max_digits=10,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
    )
    budget_month = models.DecimalField(
        _("budget a month, in dollars"),
        max_digits=10,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("id",)
        verbose_name = _("agent")
        verbose_name_plural = _("agents")
        permissions = (("write_memory", "Can edit memory files"),)

    def __str__(self) -> str:
        return self.name or self.id

    @property
    def is_master(self) -> bool:
        """Whether this is the agent the person talks to; there is exactly one, and its id says so."""
        return self.id == layout.MASTER


class TokenManager(models.Manager["Token"]):
    def issue(self, **fields: object) -> tuple["Token", str]:
        """Make a token; returns the row and the secret, which is not kept and cannot be shown again."""
        digest, secret = get_digest_token()
        return self.create(digest=digest, token_key=secret[: CONSTANTS.TOKEN_KEY_LENGTH], **fields), secret


class Token(AbstractAuthToken):
    """A key for a program: bound to one agent or to none, with rights; only its hash is stored."""

    # Our tokens stand for an agent or a program, never for a person who can sign in.
    user = None

    public_id = models.CharField(max_length=12, unique=True, default=public_id, editable=False)
    name = models.CharField(_("name"), max_length=120)
    agent = models.ForeignKey(
        Agent,
        verbose_name=_("agent"),
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="+",
        help_text=_("Empty: every agent."),
    )
    rights = models.JSONField(_("rights"), default=list, validators=[valid_rights])

    objects = TokenManager()

    class Meta:
        ordering = ("name", "created")
        verbose_name = _("token")
        verbose_name_plural = _("tokens")

    def __str__(self) -> str:
        return self.name

    @property
    def expired(self) -> bool:
        return self.expiry is not None and self.expiry < timezone.now()
