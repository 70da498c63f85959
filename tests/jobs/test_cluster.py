"""What django-q2 must be told, and that a wrong word is refused with its reason."""

import pytest
from django.conf import settings
from django.core import checks

from apps.jobs import cluster

GOOD = {"timeout": 2700, "retry": 3000, "max_attempts": 1, "ack_failures": True, "catch_up": False}


def test_the_settings_of_this_product_have_no_fault():
    needed = cluster.longest_run(settings.MEMORYHUB_MODEL_SECONDS, settings.MEMORYHUB_MODEL_RETRIES)
    assert cluster.faults(settings.Q_CLUSTER, needed) == []
    assert settings.Q_CLUSTER["retry"] > settings.Q_CLUSTER["timeout"] >= needed


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"retry": 5}, "retry is 5"),
        ({"retry": 2700}, "retry is 2700"),
        ({"timeout": None}, "timeout is None"),
        ({"timeout": 60, "retry": 120}, "timeout is 60"),
        ({"max_attempts": 0}, "max_attempts"),
        ({"ack_failures": False}, "ack_failures"),
        ({"catch_up": True}, "catch_up"),
    ],
)
def test_each_unsuitable_setting_is_named(change, word):
    [fault] = [fault for fault in cluster.faults({**GOOD, **change}, 2700) if word in fault]
    assert fault.endswith(".")


def test_what_is_left_out_counts_as_django_q2_would_have_it():
    assert len(cluster.faults({}, 2700)) == 5


def test_every_command_is_refused_until_they_are_mended(settings):
    settings.Q_CLUSTER = {**settings.Q_CLUSTER, "retry": 5}
    assert [found.id for found in checks.run_checks() if found.is_serious()] == ["memoryhub.E001"]


def test_a_longer_time_for_a_model_gives_the_queue_more_time_too():
    assert cluster.longest_run(240, 1) - cluster.SLACK == 2 * (cluster.longest_run(120, 1) - cluster.SLACK)


def test_two_homes_have_two_queues(tmp_path):
    assert cluster.name(tmp_path / "a") != cluster.name(tmp_path / "b")
