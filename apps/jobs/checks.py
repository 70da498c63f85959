"""Refuses settings under which a run would be cut off or paid for twice. Every `manage.py` command asks first."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks

from apps.jobs import cluster


def queue_settings(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    """System check `memoryhub.E001`: what django-q2 was told fits what a run may take."""
    needed = cluster.longest_run(settings.MEMORYHUB_MODEL_SECONDS, settings.MEMORYHUB_MODEL_RETRIES)
    return [
        checks.Error(
            f"Q_CLUSTER: {fault}",
            hint="Leave MEMORYHUB_QUEUE_TIMEOUT and MEMORYHUB_QUEUE_RETRY unset, or give both more.",
            id="memoryhub.E001",
        )
        for fault in cluster.faults(settings.Q_CLUSTER, needed)
    ]
