"""/api/v1/ of this room."""

from django.urls import path

from memories.api.bindings import Capabilities, Contracts
from memories.api.commits import Commits, MergeBase, OneCommit
from memories.api.cortex import (
    Candidates,
    Consolidate,
    ConsolidationStatus,
    CortexActivity,
    CortexStatus,
    Digests,
    Proposals,
)
from memories.api.entries import Entries, EntryByName, EntryByPath
from memories.api.feedback import AddEvidence, GiveFeedback, Observe
from memories.api.figures import Aggregate, Patterns, Quality, QualityBatch, Reuse
from memories.api.forecast import Forecast
from memories.api.history import History, HistoryByPath, Why
from memories.api.peer import DiffEither, Events, Patches, RollbackEither, Verify
from memories.api.policy import Jobs, PolicyInForce
from memories.api.promoted import Promoted
from memories.api.review import Decisions, Review, Run, RunAgain, RunCancel
from memories.api.rollback import ChangeSets, Undo
from memories.api.search import SearchEntries
from memories.api.stats import Entities, Stats
from memories.api.stream import Stream
from memories.api.tiers import Distribution, TierEntries, Tiers

urlpatterns = [
    path("entries", Entries.as_view()),
    path("entries/<path:rest>", EntryByPath.as_view()),
    path("entry", EntryByName.as_view()),
    path("search", SearchEntries.as_view()),
    path("history", History.as_view()),
    path("history/<path:rest>", HistoryByPath.as_view()),
    path("diff", DiffEither.as_view()),
    path("why", Why.as_view()),
    path("rollback", RollbackEither.as_view()),
    path("change-sets", ChangeSets.as_view()),
    path("change-sets/<int:change_set_id>/undo", Undo.as_view()),
    path("agents/<path:agent_id>/capabilities", Capabilities.as_view()),
    path("agents/<path:agent_id>/contracts", Contracts.as_view()),
    path("commits", Commits.as_view()),
    path("commits/<str:commit_id>", OneCommit.as_view()),
    path("merge-base", MergeBase.as_view()),
    path("aggregate", Aggregate.as_view()),
    path("quality/batch", QualityBatch.as_view()),
    path("quality/<path:rest>", Quality.as_view()),
    path("patterns", Patterns.as_view()),
    path("reuse", Reuse.as_view()),
    path("verify", Verify.as_view()),
    path("patches", Patches.as_view()),
    path("events", Events.as_view()),
    path("cortex/digests", Digests.as_view()),
    path("cortex/status", CortexStatus.as_view()),
    path("cortex/activity", CortexActivity.as_view()),
    path("cortex/consolidation/status", ConsolidationStatus.as_view()),
    path("cortex/consolidation/proposals", Proposals.as_view()),
    path("cortex/consolidation/candidates", Candidates.as_view()),
    path("cortex/consolidate", Consolidate.as_view()),
    path("stream", Stream.as_view()),
    path("stats", Stats.as_view()),
    path("entities", Entities.as_view()),
    path("feedback", GiveFeedback.as_view()),
    path("evidence", AddEvidence.as_view()),
    path("observations", Observe.as_view()),
    path("review", Review.as_view()),
    path("review/decisions", Decisions.as_view()),
    path("review/runs/<int:run_id>", Run.as_view()),
    path("review/runs/<int:run_id>/again", RunAgain.as_view()),
    path("review/runs/<int:run_id>/cancel", RunCancel.as_view()),
    path("promoted", Promoted.as_view()),
    path("forecast", Forecast.as_view()),
    path("tiers", Tiers.as_view()),
    path("pro/tiers/distribution", Distribution.as_view()),
    path("pro/tiers/entries", TierEntries.as_view()),
    path("jobs", Jobs.as_view()),
    path("policy", PolicyInForce.as_view()),
]
