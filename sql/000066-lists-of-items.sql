-- The words of items, by which lists find them: those of the text and the note, and each tag with # before it. Lower case, in one form of
-- letters. Like document_word, a table: `@@` is not leakproof, so Postgres uses no GIN index under row-level security. No foreign key: its
-- check would cost more than the insert. The words of a deleted item go with its deletion.
create table item_word (
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  word text collate "C" not null,
  item_id uuid not null,
  primary key (tenant_id, word, item_id)
);
create index item_word_item on item_word (tenant_id, item_id);
alter table item_word enable row level security;
alter table item_word force row level security;
create policy app on item_word to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, delete on item_word to tendril_app;

-- Rows that exist get words as far as SQL can tell: by the ranges of punctuation and symbols, since in the C locale all that is not ASCII is
-- a letter; capitals by ICU, if this Postgres has it, and otherwise of ASCII alone. Words of scripts that put no space between them stay
-- together. What is changed later gets its words anew.
create function words_of(given text) returns setof text language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  plain text := regexp_replace(normalize(given, NFKC),
    '[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]', '', 'g');
begin
  if exists (select from pg_collation where collname = 'und-x-icu') then
    execute 'select lower($1 collate "und-x-icu")' into plain using plain;
  else
    plain := lower(plain);
  end if;
  return query select distinct left(w, 64) from regexp_split_to_table(plain,
    '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab\u00ac\u00ae-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7\u2000-\u200a\u2010-\u2029\u202f-\u205f\u20a0-\u20c0\u2103\u2109\u2116\u2122\u2190-\u245f\u2500-\u2775\u2794-\u2bff\u2e00-\u2e2e\u2e30-\u2e7f\u3000-\u3004\u3008-\u3020\ue000-\uf8ff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\U0001f000-\U0001f0ff\U0001f10d-\U0001faff]+') w
    where w <> '';
end $$;

-- Policies bind the owner of the tables too, so they rest meanwhile.
alter table item no force row level security;
alter table item_word no force row level security;
insert into item_word (tenant_id, word, item_id)
  select i.tenant_id, w, i.id from item i cross join lateral words_of(i.body) w where i.status <> 'deleted';
alter table item force row level security;
alter table item_word force row level security;

drop function words_of(text);

-- The time that counts for an item's state, by which lists are limited to a part of the calendar, and what lists are sorted by.
alter table item add column at timestamptz not null generated always as (case
  when status = 'posted' then coalesce(posted_at, created_at) when post_at is not null then post_at else created_at end) stored;
create index item_time on item (tenant_id, status, at, id);
drop index item_scheduled, item_tenant_id_posted_at_idx, item_tenant_id_batch_id_idx;
create index item_batch on item (tenant_id, batch_id, id) where batch_id is not null;
create index item_scheduled on item (tenant_id, post_at, id) where post_at is not null;
create index item_posted on item (tenant_id, posted_at, id) where status = 'posted';
