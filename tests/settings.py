"""memoryhub's settings for tests: a throw-away home, and the database `MEMORYHUB_DATABASE_URL` names if it does."""

import os
import tempfile

os.environ["MEMORYHUB_HOME"] = tempfile.mkdtemp(prefix="memoryhub-tests-")
os.environ.setdefault("MEMORYHUB_SECRET_KEY", "tests-only-" + "x" * 40)
os.environ.setdefault("MEMORYHUB_TIME_ZONE", "UTC")

from memoryhub.settings import *  # noqa: F403

# Hashing a password slowly is the point in production and a waste in tests.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
