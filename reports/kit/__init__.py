"""What the reports share: reading run folders, tables of rows, figures, pages, Parquet, Markdown and JSON files.

* ``load``: tables and JSON documents of a run folder
* ``text``: numbers, intervals and counts as text
* ``markdown``: escaped text, tables, and sections for terminals and Markdown
* ``files``: JSON twins and CSV tables
* ``parquet``: columns with their meaning, atomic Parquet files
* ``figure``: figures with caption, description and data, drawn as SVG
* ``page``: HTML pages that open offline
"""
