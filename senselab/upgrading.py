"""Steps of migrations on tables that may be large: nobody waits for them, and one that was interrupted begins again."""

from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently

# So long a statement of a migration waits for a lock, as whoever comes after it waits behind it.
PATIENCE = "500ms"


class IndexBeside(AddIndexConcurrently):
    """Makes an index while others write, in a migration with `atomic = False`.

    What an interrupted attempt left is dropped first.
    """

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:  # noqa: ARG002
        # It has to outwait every transaction that began before, and holds nobody up meanwhile.
        schema_editor.execute("SET lock_timeout = 0")
        schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {schema_editor.quote_name(self.index.name)}")
        model = to_state.apps.get_model(app_label, self.model_name)
        schema_editor.add_index(model, self.index, concurrently=True)
        schema_editor.execute(f"SET lock_timeout = '{PATIENCE}'")
