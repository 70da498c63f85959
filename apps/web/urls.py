from django.urls import path

from apps.web import views

app_name = "web"
urlpatterns = [
    path("", views.home, name="home"),
    path("stuck/<str:batch_id>/", views.stuck, name="stuck"),
    path("memory/<str:scope_id>/consolidate/", views.consolidate, name="consolidate"),
    path("memory/<str:scope_id>/<path:path>", views.file, name="file"),
]
