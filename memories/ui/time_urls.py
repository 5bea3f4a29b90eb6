"""Pages about time: tiers, what is to come, jobs, the policy."""

from django.urls import path

from memories.ui import data, forecast, jobs, lifetimes, policy, tiers

urlpatterns = [
    path("tiers/", tiers.tiers, name="tiers"),
    path("tiers/borders/", tiers.borders, name="borders"),
    path("forecast/", forecast.forecast, name="forecast"),
    path("jobs/", jobs.jobs, name="jobs"),
    path("jobs/<slug:job>/run/", jobs.run_job, name="run_job"),
    path("jobs/runs/<int:run_id>/cancel/", jobs.cancel_run, name="cancel_run"),
    path("policy/", policy.policy, name="policy"),
    path("settings/data/", data.data, name="data"),
    path("settings/data/export/", data.export_data, name="export_data"),
    path("settings/data/import/", data.import_data, name="import_data"),
    path("settings/data/<slug:name>.csv", data.export_list, name="export_list"),
    path("entry/ttl/", lifetimes.set_ttl, name="set_ttl"),
]
