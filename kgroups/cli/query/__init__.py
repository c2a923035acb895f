"""What commands share that query groups and show rows."""
