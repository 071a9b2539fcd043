-- The bytes of records such as artifacts: in the table below, or in S3-compatible storage under the key `tenant/id`. A record refers to
-- the row, so that there is no record without its file.
create table file (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  store text not null check (store in ('postgres', 's3')),
  -- until the file is kept, the most that it may have
  byte_size integer not null check (byte_size between 0 and 104857600),
  -- of the whole, in hex, and of each MiB, one after the other
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  digests bytea check (octet_length(digests) = 32 * ((byte_size + 1048575) / 1048576)),
  -- The key is written down before the bytes are sent to S3; what is not kept within a day is removed.
  noted_at timestamptz not null default clock_timestamp(),
  kept_at timestamptz,
  primary key (tenant_id, id),
  check ((kept_at is null) = (sha256 is null) and (kept_at is null) = (digests is null)),
  check (kept_at is not null or store = 's3')
);
create index file_noted on file (tenant_id, noted_at) where kept_at is null;
alter table file enable row level security;
alter table file force row level security;
create policy app on file to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, delete, update (byte_size, sha256, digests, kept_at) on file to tendril_app;

-- The bytes of a file in Postgres, a MiB a row: a range is read without the rest.
create table file_block (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  file_id uuid not null,
  number integer not null check (number >= 0),
  bytes bytea not null check (octet_length(bytes) between 1 and 1048576),
  primary key (tenant_id, file_id, number),
  foreign key (tenant_id, file_id) references file (tenant_id, id) on delete cascade
);
alter table file_block enable row level security;
alter table file_block force row level security;
create policy app on file_block to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, delete on file_block to tendril_app;

-- Objects in S3 that no row names any more, until they are removed there. They outlive their workspace.
create table file_removal (
  key text primary key,
  -- the upload may not have been finished
  unfinished boolean not null,
  due_at timestamptz not null default clock_timestamp(),
  tries integer not null default 0
);
create index on file_removal (due_at);
grant select, update, delete on file_removal to tendril_system;

-- Whatever removes the row of a file in S3, the erasure of a workspace included, leaves the object to be removed.
create function remove_objects() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into public.file_removal (key, unfinished)
    select tenant_id || '/' || id, kept_at is null from gone where store = 's3' on conflict do nothing;
  return null;
end $$;
create trigger remove_objects after delete on file referencing old table as gone for each statement execute function remove_objects();

-- What a workspace's files take is a counter, in KiB and at least four for each file, kept by whatever changes the table.
create function file_kib(byte_size integer) returns integer language sql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select greatest(4, (byte_size + 1023) / 1024) $$;

create function count_file() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    insert into public.counter as c (tenant_id, key, period, used) values (new.tenant_id, 'files', 'kib', public.file_kib(new.byte_size))
      on conflict (tenant_id, key) do update set used = least(2000000000, c.used + excluded.used);
  else
    update public.counter set used = greatest(0, used + public.file_kib(new.byte_size) - public.file_kib(old.byte_size))
      where tenant_id = new.tenant_id and key = 'files';
  end if;
  return null;
end $$;

create function uncount_files() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update public.counter c set used = greatest(0, c.used - g.kib)
    from (select tenant_id, sum(public.file_kib(byte_size)) as kib from gone group by tenant_id) g
    where c.tenant_id = g.tenant_id and c.key = 'files';
  return null;
end $$;
revoke execute on function remove_objects(), count_file(), uncount_files() from public;

create trigger count_added after insert on file for each row execute function count_file();
create trigger count_changed after update on file for each row when (old.byte_size <> new.byte_size) execute function count_file();
create trigger count_gone after delete on file referencing old table as gone for each statement execute function uncount_files();

-- Removes the files of a workspace that were noted a day ago and never kept. As sweep_tenant: it takes the row that places the workspace,
-- so that no letter is keeping one of them meanwhile.
create function sweep_files(swept uuid, most integer) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  removed integer;
begin
  perform set_config('app.tenant', swept::text, true);
  perform 1 from public.file where tenant_id = swept and kept_at is null and noted_at < now() - interval '24 hours' limit 1;
  if not found then return false; end if;
  perform 1 from public.actor where tenant_id = swept for no key update;
  delete from public.file where ctid = any(array(select ctid from public.file
    where tenant_id = swept and kept_at is null and noted_at < now() - interval '24 hours' limit most));
  get diagnostics removed = row_count;
  return removed = most;
end $$;

revoke execute on function sweep_files(uuid, integer) from public;
grant execute on function sweep_files(uuid, integer) to tendril_system;
