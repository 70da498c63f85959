"""Settings: environment in, names out. Every variable starts with `MEMORYHUB_`; docs/operations.md lists them."""

from pathlib import Path

import dj_database_url

from apps.jobs import cluster
from apps.llm import routes
from memoryhub import environment as env

BASE_DIR = Path(__file__).resolve().parent.parent

# Where memory lives. Its real path is taken once; below it no link is followed.
MEMORYHUB_HOME = env.home()
MEMORYHUB_WORKSPACE_ROOTS = env.folders("WORKSPACE_ROOTS")
MEMORYHUB_PERSONA_FILES = env.words("PERSONA_FILES", "AGENTS.md,SOUL.md,IDENTITY.md,USER.md,TOOLS.md")

# Models: tried in order; how to reach, price and pay for them. The key goes to servers in MODEL_ADDRESSES only.
MEMORYHUB_MODEL = env.words("MODEL", "offline")
MEMORYHUB_MODEL_ADDRESSES = env.parsed(
    "MODEL_ADDRESSES",
    env.read("MODEL_ADDRESSES", ""),
    routes.addresses,
    "as openai/name=http://127.0.0.1:8080/v1, by comma, without a password",
    told=False,
)
MEMORYHUB_MODEL_KEY = env.key("MODEL_KEY")
MEMORYHUB_MODEL_PRICES = env.parsed(
    "MODEL_PRICES", env.read("MODEL_PRICES", ""), routes.prices, "as openai/name=0.15/0.60, in dollars a million tokens"
)
MEMORYHUB_MODEL_SECONDS = env.integer("MODEL_SECONDS", 120, most=86_400)
MEMORYHUB_MODEL_RETRIES = env.integer("MODEL_RETRIES", 1, least=0, most=10)
MEMORYHUB_MODEL_OUTPUT_TOKENS = env.integer("MODEL_OUTPUT_TOKENS", 0, least=0)
# US dollars for all agents together; an agent has budgets of its own besides.
MEMORYHUB_BUDGET_DAY = env.dollars("BUDGET_DAY")
MEMORYHUB_BUDGET_MONTH = env.dollars("BUDGET_MONTH")

# Limits; sources: decisions.md "API and tools", memory.md 6.3. Bytes unless the name says otherwise.
MEMORYHUB_REQUEST_LIMIT = env.integer("REQUEST_LIMIT", 10 * 1024 * 1024)
MEMORYHUB_TEXT_LIMIT = env.integer("TEXT_LIMIT", 8 * 1024 * 1024)
MEMORYHUB_SAVE_CHARACTERS = env.integer("SAVE_CHARACTERS", 8_000)
MEMORYHUB_REASON_CHARACTERS = env.integer("REASON_CHARACTERS", 2_000)
MEMORYHUB_MEMORY_CHARACTERS = env.integer("MEMORY_CHARACTERS", 24_000)
MEMORYHUB_MEMORY_REFUSED_CHARACTERS = env.integer("MEMORY_REFUSED_CHARACTERS", 32_000)
MEMORYHUB_INPUT_CHARACTERS = env.integer("INPUT_CHARACTERS", 40_000)
MEMORYHUB_NOTES_CHARACTERS = env.integer("NOTES_CHARACTERS", 8_000)
MEMORYHUB_NOTE_DATES = env.integer("NOTE_DATES", 7)
MEMORYHUB_STALE_DAYS = env.integer("STALE_DAYS", 90)
MEMORYHUB_LOCK_SECONDS = env.integer("LOCK_SECONDS", 10)
MEMORYHUB_SQLITE_BUSY_SECONDS = env.integer("SQLITE_BUSY_SECONDS", 5)
MEMORYHUB_IDEMPOTENCY_DAYS = env.integer("IDEMPOTENCY_DAYS", 7)

# The queue: the Run table holds what is to be done, django-q2 only rings. A task may take as long as the longest run;
# `manage.py check` refuses shorter times, and a `retry` that would hand a task out twice.
_LONGEST_RUN = cluster.longest_run(MEMORYHUB_MODEL_SECONDS, MEMORYHUB_MODEL_RETRIES)
MEMORYHUB_QUEUE_TIMEOUT = env.integer("QUEUE_TIMEOUT", _LONGEST_RUN)
MEMORYHUB_QUEUE_RETRY = env.integer("QUEUE_RETRY", MEMORYHUB_QUEUE_TIMEOUT + 300)
MEMORYHUB_WORKERS = env.integer("WORKERS", 2, most=64)
MEMORYHUB_REDIS_URL = env.read("REDIS_URL", "")
Q_CLUSTER = {
    # Two homes on one Redis must not get each other's bells; their keys differ, so they could not read them.
    "name": env.read("QUEUE_NAME", cluster.name(MEMORYHUB_HOME)),
    # One more than runs may go on: the minute's round must not wait for a model.
    "workers": MEMORYHUB_WORKERS + 1,
    "timeout": MEMORYHUB_QUEUE_TIMEOUT,
    "retry": MEMORYHUB_QUEUE_RETRY,
    "max_attempts": 1,
    "ack_failures": True,
    "catch_up": False,
    # A success each minute is no news; failures are always kept.
    "save_limit": -1,
    "poll": 1,
    "recycle": 100,
    "label": "Queue",
    **({"redis": MEMORYHUB_REDIS_URL} if MEMORYHUB_REDIS_URL else {"orm": "default"}),
}

DEBUG = env.boolean("DEBUG", False)
SECRET_KEY = env.secret("SECRET_KEY", MEMORYHUB_HOME)
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")

# One switch for a server behind TLS: cookies, redirect and HSTS belong together.
MEMORYHUB_HTTPS = env.boolean("HTTPS", False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = MEMORYHUB_HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if MEMORYHUB_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = MEMORYHUB_HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if MEMORYHUB_HTTPS else None
X_FRAME_OPTIONS = "DENY"

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "knox",
    "django_q",
    "apps.ledger",
    "apps.runs",
    "apps.agents",
    "apps.proposals",
    "apps.jobs",
    "apps.web",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "apps.api.middleware.ErrorsAsJson",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "memoryhub.urls"
WSGI_APPLICATION = "memoryhub.wsgi.application"
ASGI_APPLICATION = "memoryhub.asgi.application"
APPEND_SLASH = True

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.web.context.waiting",
            ],
        },
    }
]

DATABASES = {
    "default": env.parsed(
        "DATABASE_URL",
        env.read("DATABASE_URL", f"sqlite:///{MEMORYHUB_HOME / 'memoryhub.sqlite3'}"),
        dj_database_url.parse,
        "an address such as postgres://user@host/name",
        told=False,
    )
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # WAL and IMMEDIATE let readers and one writer work side by side. `synchronous` is FULL because the
    # batch is a write-ahead record: it must survive a power cut before the first file changes.
    DATABASES["default"]["OPTIONS"] = {
        "timeout": MEMORYHUB_SQLITE_BUSY_SECONDS,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;",
    }
DATABASES["default"]["ATOMIC_REQUESTS"] = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "web:home"

LANGUAGE_CODE = "en"
USE_I18N = True
USE_TZ = True
TIME_ZONE = env.time_zone("TIME_ZONE")

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Static files are served from where they lie; there is no collect step to forget.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

DATA_UPLOAD_MAX_MEMORY_SIZE = MEMORYHUB_REQUEST_LIMIT

# Only its hashing and its abstract model are used; its own table would stand empty.
MIGRATION_MODULES = {"knox": None}
KNOX_TOKEN_MODEL = "agents.Token"  # noqa: S105 a model's name
REST_KNOX = {"AUTH_HEADER_PREFIX": "Bearer", "TOKEN_PREFIX": "mh_"}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.api.auth.TokenAuthentication",
        "apps.api.auth.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["apps.api.parsers.StrictJSONParser"],
    "EXCEPTION_HANDLER": "apps.api.errors.handle",
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "apps.api.parsers.AlwaysJSON",
    "URL_FORMAT_OVERRIDE": None,
    "UNICODE_JSON": True,
}

# Dates as every page writes them: “30 Nov 2026, 15:50”.
FORMAT_MODULE_PATH = ["memoryhub.formats"]

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "filters": {"brief": {"()": "memoryhub.logs.RefusalsInOneLine"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["brief"]}},
    "root": {"handlers": ["console"], "level": "INFO"},
    # It names every task of every minute; what runs is told in our own words.
    "loggers": {"django-q": {"level": "WARNING"}},
}
