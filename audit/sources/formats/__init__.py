"""What several sources share: tables of rows, streams of JSON, malformed records, calls in text, chat messages."""
