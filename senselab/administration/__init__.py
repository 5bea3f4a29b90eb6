"""What keys with the scope admin do over the API: keys, what is used, what is set (contract.md 2.18 and 2.19)."""
