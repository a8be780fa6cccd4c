"""What several sources share.

* ``files``: opening untrusted files, copying lines. ``json_text``: one JSON document. ``json_stream``: a large one,
  value by value. ``json_records``: JSON Lines and arrays, with the place and the bytes of each record.
* ``rows``: rows of JSON, CSV, Parquet and Arrow files; ``columnar``: Parquet and Arrow; ``row_splits``: writing some of
  the rows; ``row_source``: base classes of sources whose tasks are rows.
* ``malformed``: checked access to a record. ``calls``, ``chat_messages``, ``tool_docs``, ``accepted_values``: calls,
  conversations, documentation of tools and accepted values as benchmarks write them.
* ``native_files``: the native format. ``stored_tasks``: the tasks of a large benchmark in a temporary file.
* ``runs``: runs of any kind, with score tables.
"""
