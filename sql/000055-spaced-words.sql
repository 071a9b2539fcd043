-- The text as full text search needs it, where that differs from the text: with words apart. It is what the words of a memory are found in,
-- and what searches of playbooks read.
alter table agent_memory add spaced text;
alter table playbook_version add spaced text;

-- Rows that exist get it as far as SQL can tell: by the ranges of punctuation and symbols, since in the C locale all that is not ASCII is a
-- letter. Words of scripts that put no space between them stay together in these rows. A symbol that is two units in UTF-16 becomes two spaces,
-- as the server does it.
create function words_apart(given text) returns text language sql immutable set search_path = pg_catalog, pg_temp as $$
  select nullif(
    regexp_replace(regexp_replace(regexp_replace(normalize(given, NFC),
      '[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]', '', 'g'),
      '[\u0080-\u00a9\u00ab\u00ac\u00ae-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7\u2000-\u200a\u2010-\u2029\u202f-\u205f\u20a0-\u20c0\u2103\u2109\u2116\u2122\u2190-\u245f\u2500-\u2775\u2794-\u2bff\u2e00-\u2e2e\u2e30-\u2e7f\u3000-\u3004\u3008-\u3020\ue000-\uf8ff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]', ' ', 'g'),
      '[\U0001f000-\U0001f0ff\U0001f10d-\U0001faff]', '  ', 'g'),
    given)
$$;

-- Policies bind the owner of the tables too, so they rest meanwhile.
alter table agent_memory no force row level security;
alter table playbook_version no force row level security;
update agent_memory m set spaced = s.spaced, words = to_tsvector(m.configuration::regconfig, s.spaced)
  from (select tenant_id, id, words_apart(text) as spaced from agent_memory) s
  where s.tenant_id = m.tenant_id and s.id = m.id and s.spaced is not null;
update playbook_version v set spaced = s.spaced from (select tenant_id, id, words_apart(content) as spaced from playbook_version) s
  where s.tenant_id = v.tenant_id and s.id = v.id and s.spaced is not null;
alter table agent_memory force row level security;
alter table playbook_version force row level security;

drop function words_apart(text);
