"""Pages of outcomes, traces and agents."""

from django.urls import path

from outcomes.ui import agents, connections, erasing, pages, recall, traces

urlpatterns = [
    path("outcomes/", pages.outcomes, name="outcomes"),
    path("recall/", recall.recall, name="recall"),
    path("outcomes/<int:outcome_id>/", pages.outcome, name="outcome"),
    path("traces/", traces.traces, name="traces"),
    path("traces/<uuid:trace_id>/", traces.trace, name="trace"),
    path("agents/", agents.agents, name="agents"),
    path("agents/<path:agent_id>/erase/", erasing.erase_agent, name="erase_agent"),
    path("agents/<path:agent_id>/", agents.agent, name="agent"),
    path("entry/connections/", connections.connections, name="connections"),
    path("entry/erase/", erasing.erase_entry, name="erase_entry"),
]
