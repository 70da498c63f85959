"""What was written: batches of changes, and the texts they name. Rows are written by `services` only."""

import secrets
import zlib

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


def public_id() -> str:
    """12 hexadecimal characters: the public name of a batch, a proposal, a run."""
    return secrets.token_hex(6)


class Text(models.Model):
    """Bytes of a file at some moment, compressed, stored once however many batches name them."""

    sha256 = models.CharField(primary_key=True, max_length=64)
    data = models.BinaryField()
    size = models.PositiveBigIntegerField()

    def __str__(self) -> str:
        return self.sha256[:12]

    @property
    def content(self) -> bytes:
        return zlib.decompress(bytes(self.data))


class Batch(models.Model):
    """Changes of one scope that were written together, and who wrote them why."""

    class State(models.TextChoices):
        WRITING = "writing", _("writing")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")
        STUCK = "stuck", _("stuck")

    public_id = models.CharField(max_length=12, unique=True, default=public_id, editable=False)
    scope = models.CharField(max_length=60)
    root = models.TextField()
    state = models.CharField(max_length=8, choices=State, default=State.WRITING)
    actor_kind = models.CharField(max_length=8)
    actor = models.CharField(max_length=150)
    via = models.CharField(max_length=16)
    source = models.CharField(max_length=120, blank=True)
    reason = models.TextField(blank=True)
    # Ids of rows further right are text: the ledger does not know proposals or runs.
    run = models.CharField(max_length=12, blank=True)
    proposal = models.CharField(max_length=12, blank=True)
    undoes = models.CharField(max_length=12, blank=True)
    idempotency_key = models.CharField(max_length=200, blank=True)
    idempotency_digest = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        verbose_name = _("batch")
        verbose_name_plural = _("history")
        indexes = (
            models.Index(fields=["scope", "-id"], name="batch_scope"),
            models.Index(fields=["undoes"], condition=~Q(undoes=""), name="batch_undoes"),
            models.Index(fields=["proposal"], condition=~Q(proposal=""), name="batch_proposal"),
            models.Index(fields=["state"], condition=Q(state__in=["writing", "stuck"]), name="batch_open"),
        )
        constraints = (
            # The fence under the locks: an advisory lock can vanish with its session.
            models.UniqueConstraint(fields=["scope"], condition=Q(state="writing"), name="one_writing_batch_a_scope"),
            models.UniqueConstraint(
                fields=["actor_kind", "actor", "scope", "idempotency_key"],
                condition=~Q(idempotency_key=""),
                name="one_batch_an_idempotency_key",
            ),
        )

    def __str__(self) -> str:
        return self.public_id


class Change(models.Model):
    """One file of a batch.

    An append keeps `offset` and `added` and no texts; anything else names the
    texts before and after. A null sha256 means that there was, or is, no file.
    """

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="changes")
    position = models.PositiveIntegerField()
    path = models.CharField(max_length=1024)
    sha_before = models.CharField(max_length=64, null=True)  # noqa: DJ001 null is "no file", empty is impossible
    sha_after = models.CharField(max_length=64, null=True)  # noqa: DJ001
    before = models.ForeignKey(Text, null=True, on_delete=models.PROTECT, related_name="+")
    after = models.ForeignKey(Text, null=True, on_delete=models.PROTECT, related_name="+")
    offset = models.PositiveBigIntegerField(null=True)
    added = models.BinaryField(null=True)

    class Meta:
        ordering = ("position",)
        indexes = (models.Index(fields=["path"], name="change_path"),)

    def __str__(self) -> str:
        return self.path

    @property
    def is_append(self) -> bool:
        return self.offset is not None
