"""A change that waits for a person. Rows are written by `services` only."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.ledger.models import public_id


class Proposal(models.Model):
    class Kind(models.TextChoices):
        REWRITE = "agent_memory_rewrite", _("rewrite")

    class State(models.TextChoices):
        PENDING = "pending", _("pending")
        APPROVED = "approved", _("approved")
        REJECTED = "rejected", _("rejected")
        SUPERSEDED = "superseded", _("superseded")

    public_id = models.CharField(max_length=12, unique=True, default=public_id, editable=False)
    kind = models.CharField(_("kind"), max_length=24, choices=Kind)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.PENDING)
    # The scope written to and the agent that asks; text, so that deleting an agent loses no history.
    scope = models.CharField(_("scope"), max_length=60)
    agent_id = models.CharField(_("agent"), max_length=60)
    name = models.CharField(_("file"), max_length=1024)
    source = models.CharField(_("source"), max_length=120)
    # Where it came from, more than one when the same thing was asked for twice: {"source", "run", "at"}.
    origins = models.JSONField(default=list)
    # What to do, in digests of ledger texts: {"path", "text": sha256, "previous": sha256 or null}.
    intent = models.JSONField()
    # What it rests on: {path: sha256 or null}, on bytes, of every authored file it changes.
    bases = models.JSONField()
    reasons = models.TextField(blank=True)
    # What was found when it was made (analysis.py): counts, warnings, supports. Never recomputed for lists.
    analysis = models.JSONField(default=dict)
    run = models.CharField(max_length=12, blank=True)
    batch = models.CharField(max_length=12, blank=True)
    superseded_by = models.CharField(max_length=12, blank=True)
    reopens = models.CharField(max_length=12, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    resolved_at = models.DateTimeField(_("decided"), null=True, blank=True)
    decided_by = models.CharField(_("decided by"), max_length=150, blank=True)
    decision_reason = models.TextField(blank=True)

    class Meta:
        ordering = ("-created_at", "-id")
        verbose_name = _("proposal")
        verbose_name_plural = _("proposals")
        indexes = (
            models.Index(fields=["state", "-created_at"], name="proposal_state"),
            models.Index(fields=["agent_id", "kind"], name="proposal_agent"),
        )
        constraints = (
            models.UniqueConstraint(
                fields=["scope", "kind"],
                condition=Q(state="pending", kind="agent_memory_rewrite"),
                name="one_pending_rewrite_a_scope",
            ),
        )
        permissions = (("decide_proposal", "Can approve and reject proposals"),)

    def __str__(self) -> str:
        return self.public_id
