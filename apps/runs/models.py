"""One execution of a job: what was asked, what came of it, what it cost."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.ledger.models import public_id


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
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # What the run read, as [name, sha256] pairs, and what did not fit; "nothing newer" is judged by these.
    read = models.JSONField(default=list)
    left_out = models.JSONField(default=list)
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
        indexes = (models.Index(fields=["agent_id", "kind", "-id"], name="run_agent"),)
        constraints = (
            models.UniqueConstraint(fields=["agent_id"], condition=Q(state="running"), name="one_running_run_an_agent"),
        )

    def __str__(self) -> str:
        return self.public_id

    @property
    def seconds(self) -> float | None:
        """How long it took, None while it has not ended."""
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()
