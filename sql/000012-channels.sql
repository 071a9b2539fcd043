-- The channels that a workspace starts with. Nothing drafts threads yet. Their ids are of version 7 and in this order.
create function start_channels(started uuid) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  before text := current_setting('app.tenant', true);
begin
  perform set_config('app.tenant', started::text, true);
  insert into public.growth_channel (id, tenant_id, name, status, cadence, created_at, updated_at)
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing
      substring(int8send((extract(epoch from now()) * 1000)::bigint + position) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid,
    started, name, status, cadence, now(), now()
  from (values
    (1, 'posts', 'active', '{"days": ["mon", "tue", "wed", "thu", "fri"], "times": ["09:00", "17:00"]}'::jsonb),
    (2, 'threads', 'inactive', '{}'),
    (3, 'articles', 'active', '{"days": ["tue", "thu"], "times": ["12:00"]}'),
    (4, 'replies', 'active', '{}')) as start (position, name, status, cadence)
  on conflict (tenant_id, name) do nothing;
  perform set_config('app.tenant', coalesce(before, ''), true);
end $$;
revoke execute on function start_channels(uuid) from public;
grant execute on function start_channels(uuid) to tendril_system;

select start_channels(id) from tenant;

-- What is on the calendar, and what has been on it.
create index item_scheduled on item (tenant_id, post_at) where post_at is not null;
create index item_posted on item (tenant_id, posted_at) where posted_at is not null;

-- How often each opening was drafted, approved, posted and rejected is told from the index alone.
create index item_hook on item (tenant_id, hook, status);
