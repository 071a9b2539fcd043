-- What a post has beside its text on some networks: whom it mentions, and the card of its first link.
alter table item add column marks jsonb;

-- Which networks a workspace posts to stands in its row, as `awaited` does: what a text needs beside
-- it follows from them, and writing a text reads nothing for that.
alter table tenant add column networks text[] not null default '{}';
comment on column tenant.networks is 'the networks of its connected accounts';
grant update (networks) on tenant to tendril_app;

create function note_networks() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare tenant uuid := case tg_op when 'DELETE' then old.tenant_id else new.tenant_id end;
begin
  update public.tenant t set networks = array(
    select distinct c.network from public.connection c
    where c.tenant_id = tenant and c.status = 'connected' order by 1)
    where t.id = tenant;
  return null;
end $$;
revoke execute on function note_networks() from public;
create trigger connection_set after insert or delete on connection
  for each row execute function note_networks();
create trigger connection_changed after update on connection
  for each row when (old.status <> new.status) execute function note_networks();

alter table tenant no force row level security;
alter table connection no force row level security;
update tenant set networks = own.networks
  from (select tenant_id, array_agg(distinct network order by network) as networks
    from connection where status = 'connected' group by 1) own
  where tenant.id = own.tenant_id;
alter table tenant force row level security;
alter table connection force row level security;
