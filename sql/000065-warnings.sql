-- Prints of texts, by which a nearly equal one is found (src/domain/growth/drafting/prints.ts): in the item, those of its text; in the table,
-- those of items that are approved, scheduled or posted.
alter table item add column prints integer[];

create table item_print (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  print integer not null,
  item_id uuid not null,
  -- until when a text like it is worth a warning
  until timestamptz not null,
  primary key (tenant_id, print, item_id)
);
create index on item_print (tenant_id, until);
alter table item_print enable row level security;
alter table item_print force row level security;
create policy app on item_print to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on item_print to tendril_app;

-- Prints whose time is over.
create function sweep_prints(swept uuid, most integer) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select public.sweep_rows(swept, now(), most, array[
    ['item_print', 'select ctid from public.item_print where tenant_id = $1 and until < $2 order by until limit $3']])
$$;

revoke execute on function sweep_prints(uuid, integer) from public;
grant execute on function sweep_prints(uuid, integer) to tendril_system;
