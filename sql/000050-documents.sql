-- Text files of a workspace, and the passages into which they are cut for search.
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
  -- the configuration of full text search by which its words are found: that of the workspace's language when it was added
  configuration text not null,
  -- the person or key that added it
  author jsonb not null,
  check ((status = 'failed') = (error is not null)),
  unique (tenant_id, sha256),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id)
) with (fillfactor = 80);
create index document_status on document (tenant_id, status, id);
create index document_configuration on document (tenant_id, configuration);
alter table document enable row level security;
alter table document force row level security;
create policy app on document to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on document to tendril_app;

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
  foreign key (tenant_id, document_id) references document on delete cascade,
  primary key (tenant_id, document_id, number)
);
alter table document_passage enable row level security;
alter table document_passage force row level security;
create policy app on document_passage to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on document_passage to tendril_app;

-- The words of documents. `@@` is not leakproof, so Postgres uses no GIN index under row-level security; equality of text is. A row says in
-- which of 64 passages of a document a word occurs: a table of words and passages would have 1.6 times the rows for documents of 20
-- passages, and twice as many for longer ones. No foreign key: its check would cost more than the insert. What a document leaves is
-- removed by the work that its deletion adds.
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
alter table document_word enable row level security;
alter table document_word force row level security;
create policy app on document_word to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on document_word to tendril_app;
