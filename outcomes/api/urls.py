"""/api/v1/ of this room."""

from django.urls import path

from outcomes.api.agents import (
    Activity,
    Agents,
    CrossAgentReads,
    Discover,
    Enriched,
    Entries,
    Expertise,
    MemoryGraph,
    Profile,
    ReadFrom,
    Recall,
)
from outcomes.api.briefing import Briefing
from outcomes.api.erasures import Erasures
from outcomes.api.graph import Neighbours, PostEdge, PostEvent, Timeline
from outcomes.api.learning import Explain, Learning, TrainingData
from outcomes.api.retrieve import Retrieve
from outcomes.api.traces import OneTrace, ShareStats, Traces
from outcomes.api.views import Outcomes

urlpatterns = [
    path("outcomes", Outcomes.as_view()),
    path("learning", Learning.as_view()),
    path("explain", Explain.as_view()),
    path("pro/export", TrainingData.as_view()),
    path("traces", Traces.as_view()),
    path("traces/share-stats", ShareStats.as_view()),
    path("traces/<str:trace_id>", OneTrace.as_view()),
    path("agents", Agents.as_view()),
    path("agents/discover", Discover.as_view()),
    path("agents/enriched", Enriched.as_view()),
    # Before the others: their paths end in anything.
    path("agents/<path:agent_id>/read-from/<path:rest>", ReadFrom.as_view()),
    path("agents/<path:agent_id>/recall/<path:rest>", Recall.as_view()),
    path("agents/<path:agent_id>/profile", Profile.as_view()),
    path("agents/<path:agent_id>/entries", Entries.as_view()),
    path("agents/<path:agent_id>/activity", Activity.as_view()),
    path("agents/<path:agent_id>/cross-agent-reads", CrossAgentReads.as_view()),
    path("agents/<path:agent_id>/memory-graph", MemoryGraph.as_view()),
    path("pro/graph/expertise", Expertise.as_view()),
    path("agents/<path:agent_id>/timeline", Timeline.as_view()),
    path("timeline/events", PostEvent.as_view()),
    path("graph/edges", PostEdge.as_view()),
    path("pro/graph/neighbors", Neighbours.as_view()),
    path("retrieve", Retrieve.as_view()),
    path("briefing", Briefing.as_view()),
    path("erasures", Erasures.as_view()),
]
