"""Where requests go: agents at /api/v1/, people at /."""

from django.urls import path

urlpatterns: list = []
