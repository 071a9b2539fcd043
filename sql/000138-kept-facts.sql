-- Postgres prepares each subquery of a statement anew at every execution, even where no row needs it.
-- Those for facts of other rows took two thirds of the time of the statement that reads an item.
-- So two facts stand in the item's row, where triggers keep them with the rights of whoever writes
-- the other row, and others are found by functions, whose statements are prepared where one is
-- called. (A plan for the values of each call would be made anew at each: Postgres expects fewer
-- rows of a known array.)
alter table item
  add column comments integer not null default 0,
  add column redraft jsonb;
comment on column item.comments is 'how many comments it has';
comment on column item.redraft is 'the status and the revision of its newest redraft; null if that is ready';

create function count_comments() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    update public.item set comments = comments + 1
      where tenant_id = new.tenant_id and id = new.item_id;
  else
    update public.item set comments = comments - 1
      where tenant_id = old.tenant_id and id = old.item_id;
  end if;
  return null;
end $$;
revoke execute on function count_comments() from public;

create function note_redraft() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update public.item set redraft = case when new.status <> 'ready'
      then jsonb_build_object('status', new.status, 'revision', new.revision) end
    where tenant_id = new.tenant_id and id = new.item_id;
  return null;
end $$;
revoke execute on function note_redraft() from public;

create trigger comments_counted after insert or delete on comment
  for each row execute function count_comments();
create trigger redraft_noted after insert or update of status on redraft
  for each row execute function note_redraft();

-- Policies bind the owner of the tables as well, unless they are told not to.
alter table item no force row level security;
alter table comment no force row level security;
alter table redraft no force row level security;
update item set comments = counted.comments
  from (select tenant_id, item_id, count(*) as comments from comment group by 1, 2) counted
  where item.tenant_id = counted.tenant_id and item.id = counted.item_id;
update item set redraft = jsonb_build_object('status', newest.status, 'revision', newest.revision)
  from (select distinct on (tenant_id, item_id) tenant_id, item_id, status, revision from redraft
    order by tenant_id, item_id, id desc) newest
  where item.tenant_id = newest.tenant_id and item.id = newest.item_id and newest.status <> 'ready';
alter table item force row level security;
alter table comment force row level security;
alter table redraft force row level security;

-- The item, as JSON, whose text is most like the text with these prints: at least `alike` of them
-- are its own as well. `found_by`: how many of the first prints of an item are kept. Of the items
-- that share one of these, the fifty that share the most are compared.
create function repeated_item(prints integer[], found_by integer, alike integer, except_id uuid)
returns jsonb
language sql stable set plan_cache_mode = force_generic_plan begin atomic
  select jsonb_build_object('id', i.id, 'status', i.status, 'at', coalesce(i.posted_at, i.post_at))
  from (
    select p.item_id from item_print p
    where p.print = any(repeated_item.prints[:repeated_item.found_by]) and p.until > now()
      and p.item_id is distinct from repeated_item.except_id
    group by p.item_id order by count(*) desc, p.item_id desc limit 50) found
  join item i on i.id = found.item_id and i.status in ('approved', 'publishing', 'posted',
    'publish_unconfirmed')
  cross join lateral (select count(*) as shared from unnest(i.prints) own
    where own = any(repeated_item.prints)) compared
  where compared.shared >= repeated_item.alike
  order by compared.shared desc, i.id desc limit 1;
end;
revoke execute on function repeated_item(integer[], integer, integer, uuid) from public;
grant execute on function repeated_item(integer[], integer, integer, uuid) to tendril_app;

-- The names of people and keys by their ids.
create function names_of(ids uuid[]) returns jsonb
language sql stable set plan_cache_mode = force_generic_plan begin atomic
  select jsonb_object_agg(named.id, named.name) from (
    select p.id, p.name from person p where p.id = any(names_of.ids)
    union all select k.id, k.name from api_key k where k.id = any(names_of.ids)) named;
end;
revoke execute on function names_of(uuid[]) from public;
grant execute on function names_of(uuid[]) to tendril_app;
