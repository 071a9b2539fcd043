-- Posted items whose words still stand on the open shelf. Moving them took half of the time of an
-- outcome and most of what it logs, so a sweep does it afterwards, many items at a time. Until then
-- lists look at these items as well.
create table item_word_move (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  item_id uuid not null,
  primary key (tenant_id, item_id)
);
grant select, insert, update, delete on item_word_move to tendril_app;
alter table item_word_move enable row level security, force row level security;
create policy app on item_word_move to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));

-- Both the trigger and the sweep lock the row first: whoever comes second sees what the first did.
create or replace function move_words() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if new.status = 'posted' then
    -- Beyond this many, lists would read too much beside their index.
    if old.status not in ('posted', 'rejected') and not exists
      (select from public.item_word_move where tenant_id = new.tenant_id offset 999) then
      insert into public.item_word_move (tenant_id, item_id) values (new.tenant_id, new.id);
      return null;
    end if;
    perform from public.item_word_move
      where tenant_id = new.tenant_id and item_id = new.id for update;
    if found then return null; end if;
  elsif old.status = 'posted' then
    delete from public.item_word_move where tenant_id = new.tenant_id and item_id = new.id;
  end if;
  if new.status in ('posted', 'rejected') then
    update public.item_word set shelf = new.status, at = new.at where tenant_id = new.tenant_id and item_id = new.id;
  else
    update public.item_word set shelf = 'open', at = null
      where tenant_id = new.tenant_id and item_id = new.id and shelf <> 'open';
  end if;
  return null;
end $$;

-- Moves the words of some posted items. Returns whether there are more.
create function sweep_words(swept uuid, most integer) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  moved integer;
begin
  perform set_config('app.tenant', swept::text, true);
  with due as (
    delete from public.item_word_move m where m.tenant_id = swept and m.item_id in (
      select d.item_id from public.item_word_move d where d.tenant_id = swept
        order by d.item_id limit least(most, 200) for update skip locked)
    returning m.item_id
  ), words as (
    update public.item_word w set shelf = i.status, at = i.at from due
      join public.item i on i.tenant_id = swept and i.id = due.item_id and i.status = 'posted'
      where w.tenant_id = swept and w.item_id = due.item_id
  ) select count(*) into moved from due;
  return moved = least(most, 200);
end $$;
revoke execute on function sweep_words(uuid, integer) from public;
grant execute on function sweep_words(uuid, integer) to tendril_system;
