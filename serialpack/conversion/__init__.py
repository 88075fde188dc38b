"""Any format to any other: kept, refused, or changed as the user names it."""
