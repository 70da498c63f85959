"""One execution of a job: what was asked, what came of it, what it cost. Rows are written by `services` only."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.ledger.models import Text, public_id


class Run(models.Model):
    class Kind(models.TextChoices):
        CONSOLIDATE = "consolidate", _("consolidate")

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")
        LOST = "lost", _("lost")
        REFUSED = "refused", _("refused")

    public_id = models.CharField(max_length=12, unique=True, default=public_id, editable=False)
    kind = models.CharField(max_length=16, choices=Kind)
    agent_id = models.CharField(max_length=60)
    state = models.CharField(max_length=8, choices=State, default=State.QUEUED)
    source = models.CharField(max_length=120, blank=True)
    # Who asked for it: a person's or token's name; empty for a night.
    asked_by = models.CharField(max_length=150, blank=True)
    # The night it is, as the agent's own date; empty when somebody asked for it.
    local_date = models.DateField(null=True, blank=True)
    force = models.BooleanField(default=False)
    # A run that died is tried again as a new one, which names it.
    attempt = models.PositiveSmallIntegerField(default=1)
    retry_of = models.CharField(max_length=12, blank=True)
    # Where it runs and when that was last known, for databases that several hosts share.
    host = models.CharField(max_length=255, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # What the run read, as [name, sha256] pairs, and what did not fit; "nothing newer" is judged by these.
    read = models.JSONField(default=list)
    left_out = models.JSONField(default=list)
    # A note that was given only in part, by its name.
    cut = models.CharField(max_length=80, blank=True)
    # What kept a rewrite from being written by itself: {"removed": n, "dates": n, "held_by": [codes of warnings]}.
    verdict = models.JSONField(default=dict)
    # Credentials in what was read, as [path, line, kind]: masked on the way to a model, never stored here.
    credentials = models.JSONField(default=list)
    # What it was expected to take before it was asked: {"notes", "characters", "tokens", "cost"}; cost null is unknown.
    estimate = models.JSONField(default=dict)
    # Whether a model answered: only then do the notes read count.
    answered = models.BooleanField(default=False)
    outcome = models.CharField(max_length=32, blank=True)
    summary = models.TextField(blank=True)
    error = models.TextField(blank=True)
    provider = models.CharField(max_length=80, blank=True)
    model = models.CharField(max_length=160, blank=True)
    finish_reason = models.CharField(max_length=32, blank=True)
    prompt_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    # Unknown is unknown, not zero.
    cost = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        indexes = (
            models.Index(fields=["agent_id", "kind", "-id"], name="run_agent"),
            models.Index(fields=["state", "id"], condition=Q(state__in=["queued", "running"]), name="run_open"),
            models.Index(fields=["created_at"], name="run_created"),
        )
        constraints = (
            models.UniqueConstraint(fields=["agent_id"], condition=Q(state="running"), name="one_running_run_an_agent"),
            models.UniqueConstraint(
                fields=["agent_id", "kind"], condition=Q(state="queued"), name="one_queued_run_an_agent_and_kind"
            ),
            # A night that died may be tried again; otherwise a date has one.
            models.UniqueConstraint(
                fields=["agent_id", "kind", "local_date"],
                condition=Q(local_date__isnull=False) & ~Q(state="lost"),
                name="one_night_an_agent_kind_and_date",
            ),
        )

    def __str__(self) -> str:
        return self.public_id

    @property
    def seconds(self) -> float | None:
        """How long it took, None while it has not ended."""
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()

    @property
    def tokens(self) -> int | None:
        """Both counts together, None when neither is known."""
        if self.prompt_tokens is None and self.completion_tokens is None:
            return None
        return (self.prompt_tokens or 0) + (self.completion_tokens or 0)


class Call(models.Model):
    """One question to a model. The row is there before the question is sent: a call that died is not forgotten.

    The question's text is never kept, only its digest; the answer is, because
    it was paid for: a run that died after it came need not ask again.
    """

    class State(models.TextChoices):
        ASKED = "asked", _("asked")
        ANSWERED = "answered", _("answered")
        FAILED = "failed", _("failed")
        REUSED = "reused", _("answer of an earlier run")

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="calls")
    purpose = models.CharField(max_length=32)
    state = models.CharField(max_length=8, choices=State, default=State.ASKED)
    # The models to try, by comma; free when asking them costs nothing whatever happens.
    route = models.CharField(max_length=600)
    free = models.BooleanField(default=False)
    prompt_sha = models.CharField(max_length=64)
    answer = models.ForeignKey(Text, null=True, on_delete=models.PROTECT, related_name="+")
    # The earlier run whose answer was taken, for a call that asked nobody.
    reuses = models.CharField(max_length=12, blank=True)
    # Whether the run got as far as judging the answer.
    used = models.BooleanField(default=False)
    # Requests that brought no answer: {"model", "provider", "seconds", "reason", "status"}.
    attempts = models.JSONField(default=list)
    asked_at = models.DateTimeField(auto_now_add=True)
    seconds = models.FloatField(null=True)
    provider = models.CharField(max_length=80, blank=True)
    model = models.CharField(max_length=160, blank=True)
    finish_reason = models.CharField(max_length=32, blank=True)
    prompt_tokens = models.PositiveBigIntegerField(null=True)
    completion_tokens = models.PositiveBigIntegerField(null=True)
    # What it was expected to cost: counted until an answer came, and for good where none did.
    reserved = models.DecimalField(max_digits=12, decimal_places=6, null=True)
    # Unknown until an answer came, and after that when nobody knows it; zero where nothing can have been billed.
    cost = models.DecimalField(max_digits=12, decimal_places=6, null=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ("id",)
        indexes = (
            models.Index(fields=["prompt_sha"], condition=Q(state="answered", used=False), name="call_unused"),
            models.Index(fields=["asked_at"], name="call_asked"),
        )

    def __str__(self) -> str:
        return f"{self.purpose}: {self.state}"


class Pulse(models.Model):
    """When a worker last did its minute's round: how pages and `doctor` know that one is there."""

    name = models.CharField(primary_key=True, max_length=16)
    at = models.DateTimeField()
    host = models.CharField(max_length=255, blank=True)

    def __str__(self) -> str:
        return self.name
