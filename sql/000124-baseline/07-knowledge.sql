-- What the agent reads and makes.

-- What the agent is to remember: of the workspace, or of one person. At most 500 of each.
create table agent_memory (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  scope text not null check (scope in ('user', 'workspace')),
  -- whose it is, who alone reads it; it goes when the person leaves the workspace
  person_id uuid,
  text text not null,
  -- SHA-256 of the text
  text_hash text not null,
  -- it may contain words of people outside the workspace
  untrusted boolean not null default false,
  -- its words, and the configuration of full text search by which they were found: that of the
  -- workspace's language at the time
  words tsvector not null,
  configuration text not null,
  -- the job that stored it, which may be past its retention
  job_id uuid,
  -- when it was last given to a model
  last_used_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- the text with words apart, if it differs: what its words are found in
  spaced text,
  primary key (tenant_id, id),
  foreign key (tenant_id, person_id) references member (tenant_id, person_id) on delete cascade,
  check ((scope = 'user') = (person_id is not null))
) with (fillfactor = 80);
-- Whose it is, then equal text once.
create unique index agent_memory_text on agent_memory (tenant_id, person_id,
  text_hash) nulls not distinct;
grant select, insert, update, delete on agent_memory to tendril_app;

-- What a workspace tells its agent to do, in versions of which one is active.
create table playbook (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  slug text not null,
  name text not null,
  description text,
  -- its active version stands in the prompt of every job
  pinned boolean not null default false,
  status text not null check (status in ('active', 'archived')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id),
  unique (tenant_id, slug)
) with (fillfactor = 80);
grant select, insert, update, delete on playbook to tendril_app;

-- One version is active at most.
create table playbook_version (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  playbook_id uuid not null,
  number integer not null,
  content text not null,
  rationale text,
  state text not null check (state in ('draft', 'active', 'retired', 'rejected')),
  -- who wrote it: a person, a key, or a job
  author jsonb not null,
  -- a draft of a job that had read text of people outside the workspace
  untrusted boolean not null default false,
  decided_by jsonb,
  decided_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- the content with words apart, if it differs: what searches read
  spaced text,
  primary key (tenant_id, id),
  unique (tenant_id, playbook_id, number),
  foreign key (tenant_id, playbook_id) references playbook (tenant_id, id) on delete cascade,
  check ((decided_by is null) = (decided_at is null))
) with (fillfactor = 80);
create unique index playbook_version_active on playbook_version (tenant_id, playbook_id)
  where state = 'active';
grant select, insert, update, delete on playbook_version to tendril_app;

-- What the documents of a workspace take, passages, words and indexes included, is a counter, in
-- units of 16 bytes, kept by whatever changes the tables. Measured in documents of many kinds: a
-- word takes 165 bytes and three for each of its own; a passage its text, a fifth more for what is
-- left of pages, and 120; a document at most its text.
create function word_units(word text) returns integer
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select (165 + 3 * octet_length(word)) / 16 + 1 $$;

create function passage_units(path jsonb, content text, spaced text) returns integer
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select (120 + (octet_length(content) + octet_length(coalesce(spaced, '')) + octet_length(path::text)) * 6 / 5) / 16 + 1 $$;

create function document_units(byte_size integer) returns integer
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select (500 + byte_size) / 16 + 1 $$;

-- The argument says what a row takes. The counter saturates at 32 GB, which no plan grants.
create function count_added_rows() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  execute format('insert into public.counter as c (tenant_id, key, period, used)
    select tenant_id, ''documents'', ''units'', least(2000000000, sum(public.%s)) from added group by tenant_id
    on conflict (tenant_id, key) do update set used = least(2000000000, c.used::bigint + excluded.used)', tg_argv[0]);
  return null;
end $$;
revoke execute on function count_added_rows() from public;

create function uncount_gone_rows() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  execute format('update public.counter c set used = greatest(0, c.used - g.units)
    from (select tenant_id, sum(public.%s) as units from gone group by tenant_id) g
    where c.tenant_id = g.tenant_id and c.key = ''documents''', tg_argv[0]);
  return null;
end $$;
revoke execute on function uncount_gone_rows() from public;

-- Text files of a workspace.
create table document (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  file_name text not null,
  mime_type text not null check (mime_type in ('text/plain', 'text/markdown')),
  content text not null,
  byte_size integer not null,
  -- of the content, in UTF-16 code units
  length integer not null,
  -- of the content, in hex
  sha256 text not null,
  metadata jsonb not null,
  -- a person, or the owner, answers for what it says; else it is data of people outside
  trusted boolean not null,
  status text not null check (status in ('queued', 'processing', 'ready', 'failed')),
  -- why it failed
  error text,
  -- how many there are once it is ready
  passages integer not null default 0,
  -- the configuration of full text search by which its words are found: that of the workspace's
  -- language when it was added
  configuration text not null,
  -- the person or key that added it
  author jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id),
  unique (tenant_id, sha256),
  check ((status = 'failed') = (error is not null))
) with (fillfactor = 80);
create index document_status on document (tenant_id, status, id);
create index document_configuration on document (tenant_id, configuration);
grant select, insert, update, delete on document to tendril_app;
create trigger count_added after insert on document referencing new table as added
  for each statement execute function count_added_rows('document_units(byte_size)');
create trigger count_gone after delete on document referencing old table as gone
  for each statement execute function uncount_gone_rows('document_units(byte_size)');

-- The passages into which documents are cut for search.
create table document_passage (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  document_id uuid not null,
  number integer not null,
  -- the headings over it
  path jsonb not null,
  -- where it stands in the content, in UTF-16 code units
  start_at integer not null,
  end_at integer not null,
  text text not null,
  -- the text with spaces between words, if its script has none
  spaced text,
  primary key (tenant_id, document_id, number),
  foreign key (tenant_id, document_id) references document (tenant_id, id) on delete cascade
);
grant select, insert, update, delete on document_passage to tendril_app;
create trigger count_added after insert on document_passage referencing new table as added
  for each statement execute function count_added_rows('passage_units(path, text, spaced)');
create trigger count_gone after delete on document_passage referencing old table as gone
  for each statement execute function uncount_gone_rows('passage_units(path, text, spaced)');

-- The words of documents. `@@` is not leakproof, so Postgres uses no GIN index under row-level
-- security; equality of text is. A row says in which of 64 passages of a document a word occurs: a
-- table of words and passages would have 1.6 times the rows for documents of 20 passages, and twice
-- as many for longer ones. No foreign key: its check would cost more than the insert. What a
-- document leaves is removed by the work that its deletion adds.
create table document_word (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  word text collate "C" not null,
  document_id uuid not null,
  -- of 64 passages: number / 64
  block smallint not null,
  -- bit n: passage 64 * block + n
  passages bigint not null,
  primary key (tenant_id, word, document_id, block) include (passages)
);
create index document_word_document on document_word (tenant_id, document_id);
grant select, insert, update, delete on document_word to tendril_app;
create trigger count_added after insert on document_word referencing new table as added
  for each statement execute function count_added_rows('word_units(word)');
create trigger count_gone after delete on document_word referencing old table as gone
  for each statement execute function uncount_gone_rows('word_units(word)');

-- The bytes of records such as artifacts: in the table below, or in S3-compatible storage under the
-- key `tenant/id`. A record refers to the row, so that there is no record without its file.
create table file (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  store text not null check (store in ('postgres', 's3')),
  -- until the file is kept, the most that it may have
  byte_size integer not null check (byte_size between 0 and 104857600),
  -- of the whole, in hex, and of each MiB, one after the other
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  digests bytea,
  -- the key is written down before the bytes are sent to S3; what is not kept within a day is
  -- removed
  noted_at timestamptz not null default clock_timestamp(),
  kept_at timestamptz,
  primary key (tenant_id, id),
  check (octet_length(digests) = (32 * ((byte_size + 1048575) / 1048576))),
  check ((kept_at is null) = (sha256 is null) and (kept_at is null) = (digests is null)),
  check (kept_at is not null or store = 's3')
);
create index file_noted on file (tenant_id, noted_at) where kept_at is null;
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
grant select, insert, delete on file_block to tendril_app;

-- Objects in S3 that no row names any more, until they are removed there. They outlive their
-- workspace.
create table file_removal (
  key text primary key,
  -- the upload may not have been finished
  unfinished boolean not null,
  due_at timestamptz not null default clock_timestamp(),
  tries integer not null default 0
);
create index on file_removal (due_at);
grant select, update, delete on file_removal to tendril_system;

-- Whatever removes the row of a file in S3, the erasure of a workspace included, leaves the object
-- to be removed.
create function remove_objects() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into public.file_removal (key, unfinished)
    select tenant_id || '/' || id, kept_at is null from gone where store = 's3' on conflict do nothing;
  return null;
end $$;
revoke execute on function remove_objects() from public;
create trigger remove_objects after delete on file referencing old table as gone
  for each statement execute function remove_objects();

-- What a workspace's files take is a counter, in KiB and at least four for each file, kept by
-- whatever changes the table.
create function file_kib(byte_size integer) returns integer
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
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
revoke execute on function count_file() from public;

create function uncount_files() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update public.counter c set used = greatest(0, c.used - g.kib)
    from (select tenant_id, sum(public.file_kib(byte_size)) as kib from gone group by tenant_id) g
    where c.tenant_id = g.tenant_id and c.key = 'files';
  return null;
end $$;
revoke execute on function uncount_files() from public;
create trigger count_added after insert on file for each row execute function count_file();
create trigger count_changed after update on file
  for each row when (old.byte_size <> new.byte_size) execute function count_file();
create trigger count_gone after delete on file referencing old table as gone
  for each statement execute function uncount_files();

-- Files that the agent makes.
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
  primary key (tenant_id, id),
  unique (tenant_id, created_at),
  unique (tenant_id, file_id),
  foreign key (tenant_id, file_id) references file (tenant_id, id)
) with (fillfactor = 90);
create index artifact_deleted on artifact (tenant_id, deleted_at) where deleted_at is not null;
create index artifact_job on artifact (tenant_id, job_id, created_at) where job_id is not null;
create index artifact_conversation on artifact (tenant_id, conversation_id, created_at)
  where conversation_id is not null;
grant select, insert, update (deleted_at) on artifact to tendril_app;

-- Tokens by which somebody without a credential downloads an artifact.
create table artifact_share (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  artifact_id uuid not null,
  -- the token itself is shown once and kept nowhere
  token_hash bytea not null check (octet_length(token_hash) = 32),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  created_at timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, artifact_id) references artifact (tenant_id, id) on delete cascade
);
create index on artifact_share (tenant_id, artifact_id);
create unique index artifact_share_token on artifact_share (tenant_id, token_hash);
create index artifact_share_ended on artifact_share (tenant_id, (least(revoked_at, expires_at)));
grant select, insert, update (revoked_at) on artifact_share to tendril_app;
