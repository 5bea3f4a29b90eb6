"""Pages about time: tiers, what is to come, jobs, the policy."""

from django.urls import path

from memories.ui import forecast, jobs, lifetimes, policy, tiers

urlpatterns = [
    path("tiers/", tiers.tiers, name="tiers"),
    path("forecast/", forecast.forecast, name="forecast"),
    path("jobs/", jobs.jobs, name="jobs"),
    path("jobs/<slug:job>/run/", jobs.run_job, name="run_job"),
    path("jobs/runs/<int:run_id>/cancel/", jobs.cancel_run, name="cancel_run"),
    path("policy/", policy.policy, name="policy"),
    path("entry/ttl/", lifetimes.set_ttl, name="set_ttl"),
]
