-- What the documents of a workspace take, passages, words and indexes included, is a counter, in units of 16 bytes, kept by whatever changes
-- the tables. Measured in documents of many kinds: a word takes 165 bytes and three for each of its own; a passage its text, a fifth more
-- for what is left of pages, and 120; a document at most its text.
create function word_units(word text) returns integer language sql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select (165 + 3 * octet_length(word)) / 16 + 1 $$;
create function passage_units(path jsonb, content text, spaced text) returns integer
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
  as $$ select (120 + (octet_length(content) + octet_length(coalesce(spaced, '')) + octet_length(path::text)) * 6 / 5) / 16 + 1 $$;
create function document_units(byte_size integer) returns integer language sql immutable parallel safe set search_path = pg_catalog, pg_temp
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

create function uncount_gone_rows() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  execute format('update public.counter c set used = greatest(0, c.used - g.units)
    from (select tenant_id, sum(public.%s) as units from gone group by tenant_id) g
    where c.tenant_id = g.tenant_id and c.key = ''documents''', tg_argv[0]);
  return null;
end $$;
revoke execute on function count_added_rows(), uncount_gone_rows() from public;

create trigger count_added after insert on document referencing new table as added
  for each statement execute function count_added_rows('document_units(byte_size)');
create trigger count_gone after delete on document referencing old table as gone
  for each statement execute function uncount_gone_rows('document_units(byte_size)');
create trigger count_added after insert on document_passage referencing new table as added
  for each statement execute function count_added_rows('passage_units(path, text, spaced)');
create trigger count_gone after delete on document_passage referencing old table as gone
  for each statement execute function uncount_gone_rows('passage_units(path, text, spaced)');
create trigger count_added after insert on document_word referencing new table as added
  for each statement execute function count_added_rows('word_units(word)');
create trigger count_gone after delete on document_word referencing old table as gone
  for each statement execute function uncount_gone_rows('word_units(word)');

alter table document no force row level security;
alter table document_passage no force row level security;
alter table document_word no force row level security;
alter table counter no force row level security;
insert into counter (tenant_id, key, period, used)
  select tenant_id, 'documents', 'units', least(2000000000, sum(units)) from (
    select tenant_id, sum(document_units(byte_size)) as units from document group by tenant_id
    union all select tenant_id, sum(passage_units(path, text, spaced)) from document_passage group by tenant_id
    union all select tenant_id, sum(word_units(word)) from document_word group by tenant_id) t
  group by tenant_id;
alter table document force row level security;
alter table document_passage force row level security;
alter table document_word force row level security;
alter table counter force row level security;
