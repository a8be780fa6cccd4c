"""Write the results of an audit: tables, SARIF, pages."""
