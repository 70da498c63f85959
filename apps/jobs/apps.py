from django.apps import AppConfig
from django.core import checks


class JobsConfig(AppConfig):
    name = "apps.jobs"

    def ready(self) -> None:
        from apps.jobs.checks import queue_settings

        checks.register(queue_settings)
