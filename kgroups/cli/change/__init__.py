"""What commands share that change groups: plan, confirm, save the old state, and write."""
