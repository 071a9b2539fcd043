-- What keeps rows of work apart: rows of one key run one at a time. It stands in the row, so that a claim looks at nothing else. Null:
-- the row goes out by the account that is the default when it is claimed, and its claim writes the key of that account.
alter table work add concurrency_key text;

alter table work no force row level security;
alter table item no force row level security;
alter table engagement no force row level security;
update work w set concurrency_key = case
    when lane = 'publish' then 'publish:' || coalesce(
      (select i.account_external_id from item i where i.tenant_id = w.tenant_id and i.id = w.ref_id),
      (select e.account_external_id from engagement e where e.tenant_id = w.tenant_id and e.id = w.ref_id))
    when lane = 'generation' then 'generation'
    when kind in ('rule', 'rule_cron') then 'rule'
    when kind in ('reconcile', 'confirm') then kind
    else lane end;
alter table work force row level security;
alter table item force row level security;
alter table engagement force row level security;

-- What people asked for goes first, then what is due first: a claim reads the beginning of each, and the actor's next due time is
-- the earlier of the two.
drop index work_due;
create index work_due on work (tenant_id, origin, run_at, id);
