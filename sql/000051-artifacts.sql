-- Files that the agent makes, and the tokens by which somebody without a credential downloads one.
create table artifact (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  -- what made it; those records may be past their retention
  job_id uuid,
  conversation_id uuid,
  created_by_user_id uuid,
  source text not null check (source in ('capability', 'sandbox', 'browser')),
  kind text not null check (kind in ('report', 'data', 'chart', 'image', 'screenshot', 'other')),
  file_name text not null,
  mime_type text not null,
  byte_size integer not null check (byte_size >= 0),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  metadata jsonb not null default '{}',
  -- made by a job that had read text of people outside the workspace
  untrusted boolean not null default false,
  file_id uuid not null,
  -- the cursor of lists, so no two have the same: see src/domain/agent/artifact.ts
  created_at timestamptz not null check (created_at = date_trunc('milliseconds', created_at)),
  deleted_at timestamptz,
  unique (tenant_id, created_at),
  unique (tenant_id, file_id),
  foreign key (tenant_id, file_id) references file (tenant_id, id),
  primary key (tenant_id, id)
) with (fillfactor = 90);
create index artifact_deleted on artifact (tenant_id, deleted_at) where deleted_at is not null;
create index artifact_job on artifact (tenant_id, job_id, created_at) where job_id is not null;
create index artifact_conversation on artifact (tenant_id, conversation_id, created_at) where conversation_id is not null;
alter table artifact enable row level security;
alter table artifact force row level security;
create policy app on artifact to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update (deleted_at) on artifact to tendril_app;

create table artifact_share (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  artifact_id uuid not null,
  -- the token itself is shown once and kept nowhere
  token_hash bytea not null check (octet_length(token_hash) = 32),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  created_at timestamptz not null,
  foreign key (tenant_id, artifact_id) references artifact (tenant_id, id) on delete cascade,
  primary key (tenant_id, id)
);
create index on artifact_share (tenant_id, artifact_id);
create unique index artifact_share_token on artifact_share (tenant_id, token_hash);
create index artifact_share_ended on artifact_share (tenant_id, (least(revoked_at, expires_at)));
alter table artifact_share enable row level security;
alter table artifact_share force row level security;
create policy app on artifact_share to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update (revoked_at) on artifact_share to tendril_app;

-- A share token finds its workspace by its hash, as a webhook rule does by its id.
alter table inbound_route drop constraint inbound_route_kind_check;
alter table inbound_route add constraint inbound_route_kind_check check (kind in ('rule', 'share'));
-- From then on it finds nothing, as if it had never been.
alter table inbound_route add column expires_at timestamptz;
create index inbound_route_ref on inbound_route (tenant_id, ref_id);
create index inbound_route_expiry on inbound_route (tenant_id, expires_at) where expires_at is not null;

-- Removes that by which expired tokens find their workspace, shares a week after their end, and deleted artifacts with their files: after a
-- week, and at once where the files of the workspace take more than three quarters of the room of its store. As sweep_tenant.
create function sweep_artifacts(swept uuid, most integer) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  since constant timestamptz := now() - interval '7 days';
  kib integer;
  old uuid[];
  files uuid[];
  removed integer;
  more boolean;
begin
  perform set_config('app.tenant', swept::text, true);
  kib := coalesce((select used from public.counter where tenant_id = swept and key = 'files'), 0);
  if not exists (select 1 from public.artifact where tenant_id = swept and deleted_at < case when kib > 786432 then now() else since end)
    and not exists (select 1 from public.artifact_share where tenant_id = swept and least(revoked_at, expires_at) < since)
    and not exists (select 1 from public.inbound_route where tenant_id = swept and expires_at < now())
  then return false; end if;
  perform 1 from public.actor where tenant_id = swept for no key update;
  delete from public.inbound_route where ctid = any(array(select ctid from public.inbound_route
    where tenant_id = swept and expires_at < now() limit most));
  get diagnostics removed = row_count;
  old := array(select id from public.artifact_share where tenant_id = swept and least(revoked_at, expires_at) < since limit most);
  delete from public.inbound_route where tenant_id = swept and kind = 'share' and ref_id = any(old);
  delete from public.artifact_share where tenant_id = swept and id = any(old);
  more := removed = most or cardinality(old) = most;
  -- A GiB in the database, a hundred in S3.
  old := array(select a.id from public.artifact a join public.file f on f.tenant_id = swept and f.id = a.file_id
    where a.tenant_id = swept and a.deleted_at < case when kib > case f.store when 's3' then 78643200 else 786432 end then now() else since end
    limit most);
  files := array(select file_id from public.artifact where tenant_id = swept and id = any(old));
  delete from public.artifact where tenant_id = swept and id = any(old);
  delete from public.file where tenant_id = swept and id = any(files);
  return more or cardinality(old) = most;
end $$;

revoke execute on function sweep_artifacts(uuid, integer) from public;
grant execute on function sweep_artifacts(uuid, integer) to tendril_system;
