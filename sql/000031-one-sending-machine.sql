-- Rows of work that send a post or an engagement are of one kind, and so are those that look up what became of it. Each carries the kind
-- of its record.
alter table work no force row level security;
update work set
  kind = case when kind in ('publish', 'execute') then 'send' else 'reconcile' end,
  payload = payload || jsonb_build_object('sendable', case when kind in ('publish', 'reconcile') then 'post' else 'engagement' end),
  concurrency_key = case kind when 'reconcile' then 'reconcile:post' when 'confirm' then 'reconcile:engagement' else concurrency_key end
  where kind in ('publish', 'execute', 'reconcile', 'confirm');
alter table work force row level security;
