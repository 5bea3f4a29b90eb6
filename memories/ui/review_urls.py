"""Pages of deciding: the queue, many at once, the contested, and agents that went wrong."""

from django.urls import URLPattern, path

from memories.ui import bulk, contested, decisions, pairs, review, wrong

urlpatterns: list[URLPattern] = [
    path("review/", review.review, name="review"),
    path("review/evidence/", review.evidence, name="evidence"),
    path("review/decide/", decisions.decide, name="decide"),
    path("review/undo/<int:change_set_id>/", decisions.undo_decision, name="undo_decision"),
    path("review/bulk/", bulk.bulk, name="bulk"),
    path("review/runs/<int:run_id>/", bulk.bulk_run, name="bulk_run"),
    path("review/runs/<int:run_id>/again/", bulk.bulk_again, name="bulk_again"),
    path("review/runs/<int:run_id>/cancel/", bulk.bulk_cancel, name="bulk_cancel"),
    path("review/alike/", pairs.pairs, name="pairs"),
    path("review/alike/decide/", pairs.decide_pair, name="decide_pair"),
    path("contested/", contested.contested, name="contested"),
    path("wrong/", wrong.wrong, name="wrong"),
]
