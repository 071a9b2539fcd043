-- A deployment that was restored or copied stands still until an operator says which of the two goes
-- on: both know the same posts, and one may have sent them since. One row, which the gate of every
-- letter reads.
create table hold (
  single boolean primary key default true check (single),
  -- since when nothing goes out by itself; null while nothing is held
  since timestamptz,
  cause text check (cause in ('copied', 'restored', 'asked')),
  -- the time of the backup or copy, from which on this database does not know what became of its
  -- posts; null also if nobody knows it
  as_of timestamptz,
  -- the workspaces in which records were waiting for a decision already as the hold began
  marked_before uuid[] not null default '{}',
  -- of the servers that are held, in the form of deployment.identity
  identity jsonb,
  -- the latest restore for which a hold has begun, so that the same note holds nothing twice
  restored text,
  -- an operator has said that nothing else ran since, and the marks are being taken back
  vouched boolean not null default false,
  -- Objects in S3 may be those of another deployment, so none is removed, held or not.
  keeps_objects boolean not null default false,
  check ((since is null) = (cause is null)),
  check (since is not null or not vouched)
);
insert into hold default values;
-- No row of a workspace, so it has no policy: servers read it, and the owner of the tables alone
-- writes it, who need not be a superuser.
grant select on hold to tendril_app, tendril_system;

-- By what a deployment knows itself: something that a copy of the database does not bring along.
-- {"restored": time of the backup} if it was filled from one; a restore that met no such column left
-- that in a comment.
alter table deployment add column identity jsonb;
update deployment set identity = jsonb_build_object('restored', substr(note, 10))
  from obj_description('deployment'::regclass, 'pg_class') note where note like 'restored %';
comment on table deployment is null;

-- While a deployment is held, a workspace is woken only for what its people have asked for since.
create policy asked_since on work for select to tendril_system
  using (origin = 'manual' and created_at >= (select since from hold));
grant select (origin, created_at) on work to tendril_system;

-- Approved before a backup or copy was made, and not decided since: it may have gone out elsewhere.
alter table item add column restored_as_of timestamptz;
alter table engagement add column restored_as_of timestamptz;
comment on column item.restored_as_of is 'waits for a decision: what became of it since then is not known';
comment on column engagement.restored_as_of is 'waits for a decision: what became of it since then is not known';
create index item_restored on item (tenant_id, restored_as_of) where restored_as_of is not null;
create index engagement_restored on engagement (tenant_id, restored_as_of)
  where restored_as_of is not null;

-- A try that another deployment may have made: its post is looked for before any other try.
alter table attempt drop constraint attempt_doubt_cause_check;
alter table attempt add constraint attempt_doubt_cause_check
  check (doubt_cause in ('server_error', 'no_answer', 'unclear_answer', 'process_stopped',
    'restored'));
alter table attempt drop constraint attempt_returned;
alter table attempt add constraint attempt_returned
  check (state <> 'returned' or sendable = 'post' or doubt_cause is not distinct from 'restored');
