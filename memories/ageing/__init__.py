"""What time does and will do: priorities, tiers, forecasts and the policy behind them, read for pages, API and jobs."""
