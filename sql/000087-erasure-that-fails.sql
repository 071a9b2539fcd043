alter table tenant
  -- how often in a row its erasure has failed for reasons of its own
  add column erasure_failures integer not null default 0,
  -- others have their turn until then; null unless it has failed
  add column erasure_rests_until timestamptz,
  -- what it last failed of
  add column erasure_error text;
