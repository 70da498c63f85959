"""The queue's own tables are no page: a schedule made by hand would be a way to run any function of the server."""

from django.contrib import admin
from django_q.models import Failure, OrmQ, Schedule, Success

for model in (Failure, OrmQ, Schedule, Success):
    if admin.site.is_registered(model):
        admin.site.unregister(model)
