-- Every question about when posts went out asks for posted ones: of three indexes on that time the one on those is enough.
drop index item_posted;
drop index item_measured;

-- Signals that are over are forgotten after a while, the oldest first.
create index signal_forgotten on signal (tenant_id, updated_at) where status in ('dismissed', 'expired');

alter table rule
  add check (used >= 0),
  add check (over >= 0);
alter table rule_run
  add check (trigger in ('cron', 'item_posted', 'batch_settled', 'metric', 'signal')),
  add check (units >= 0);
alter table growth_audit
  add check (days > 0);
alter table target
  add check (failures >= 0),
  add check (reads >= 0),
  add check (reads_micros >= 0);
