alter table work
  -- how often in a row its claim or its outcome has failed for reasons of its own
  add column failures smallint not null default 0,
  -- its own due time, while it rests for that and run_at is the end of the rest; else null
  add column due_at timestamptz,
  -- the process that was about to claim it alone, after another one had died; null once it has claimed it
  add column tried_by uuid;
