-- What every letter asks of the webhook and of the rules stands in the tenant's row, which its gate reads anyway: a look into either table
-- costs each gate as much as the row's lock. Triggers keep both, with the rights of whoever changes a webhook or a rule.
alter table tenant
  add column webhook text[],
  add column awaited text[] not null default '{}';
comment on column tenant.webhook is 'event types that the active webhook wants, empty for all; null without one';
comment on column tenant.awaited is 'kinds of occurrences that active rules wait for';
grant update (webhook, awaited) on tenant to tendril_app;

-- Policies hold for the owner of the tables too, so they are off for this statement.
alter table tenant no force row level security;
alter table webhook_endpoint no force row level security;
alter table rule no force row level security;
update tenant t set
  webhook = (select e.events from webhook_endpoint e where e.tenant_id = t.id and e.status = 'active'),
  awaited = array(select distinct r.trigger->>'kind' from rule r where r.tenant_id = t.id and r.status = 'active' order by 1);
alter table tenant force row level security;
alter table webhook_endpoint force row level security;
alter table rule force row level security;

create function note_webhook() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare tenant uuid := case tg_op when 'DELETE' then old.tenant_id else new.tenant_id end;
begin
  update public.tenant t set webhook = (select e.events from public.webhook_endpoint e where e.tenant_id = tenant and e.status = 'active')
    where t.id = tenant;
  return null;
end $$;

create function note_awaited() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare tenant uuid := case tg_op when 'DELETE' then old.tenant_id else new.tenant_id end;
begin
  update public.tenant t set awaited = array(
    select distinct r.trigger->>'kind' from public.rule r where r.tenant_id = tenant and r.status = 'active' order by 1)
    where t.id = tenant;
  return null;
end $$;
revoke execute on function note_webhook(), note_awaited() from public;

create trigger webhook_set after insert or delete on webhook_endpoint for each row execute function note_webhook();
create trigger webhook_changed after update on webhook_endpoint for each row
  when (old.status <> new.status or old.events <> new.events) execute function note_webhook();
create trigger rule_set after insert or delete on rule for each row execute function note_awaited();
create trigger rule_changed after update on rule for each row
  when (old.status <> new.status or old.trigger <> new.trigger) execute function note_awaited();
