from django.urls import path

from apps.api import agents, history, proposals, runs, tools

app_name = "api"
urlpatterns = [
    path("agents/<str:agent_id>/memory", agents.MemoryView.as_view()),
    path("agents/<str:agent_id>/memory/notes/<str:day>", agents.NoteView.as_view()),
    path("agents/<str:agent_id>/tools/<str:name>", tools.ToolView.as_view()),
    path("agents/<str:agent_id>/memory/consolidate", runs.ConsolidateView.as_view()),
    path("runs", runs.RunsView.as_view()),
    path("runs/<str:run_id>", runs.RunView.as_view()),
    path("stats", runs.StatsView.as_view()),
    path("memory/proposals", proposals.ListView.as_view()),
    path("memory/proposals/<str:proposal_id>", proposals.OneView.as_view()),
    path("history", history.HistoryView.as_view()),
    path("history/blame", history.BlameView.as_view()),
    path("history/<str:batch_id>/undo", history.UndoView.as_view()),
]
