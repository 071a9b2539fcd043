-- Attempts to send posts and engagements stand in one table, each with the kind of its record and a reference to it. A new kind of
-- record adds its name, its column and its indexes here.
drop index attempt_open, attempt_same_text;
alter table attempt
  drop constraint attempt_tenant_id_item_id_number_key,
  drop constraint attempt_tenant_id_connection_id_external_id_key,
  alter item_id drop not null,
  add engagement_id uuid,
  add sendable text not null default 'post' check (sendable in ('post', 'engagement'));
alter table attempt alter sendable drop default;

-- Policies hold for the owner of the tables too, so they are off for this statement.
alter table attempt no force row level security;
alter table engagement_attempt no force row level security;
insert into attempt (id, tenant_id, sendable, engagement_id, number, connection_id, body_sha, sent_text, origin, state, intent_at,
    lease_until, doubt_at, doubt_cause, clean_reads, external_id, error, ended_at)
  select id, tenant_id, 'engagement', engagement_id, number, connection_id, body_sha, sent_text, origin, state, intent_at,
    lease_until, doubt_at, doubt_cause, clean_reads, external_id, error, ended_at from engagement_attempt;
alter table attempt force row level security;
drop table engagement_attempt;

alter table attempt
  add foreign key (tenant_id, engagement_id) references engagement (tenant_id, id),
  add constraint attempt_of_its_kind check ((sendable = 'post') = (item_id is not null) and (sendable = 'engagement') = (engagement_id is not null)),
  -- The doubt about an engagement never ends by itself.
  add constraint attempt_returned check (state <> 'returned' or sendable = 'post');

-- The attempts of a record are numbered, and one of them is open at most.
create unique index attempt_number_of_item on attempt (tenant_id, item_id, number) where item_id is not null;
create unique index attempt_number_of_engagement on attempt (tenant_id, engagement_id, number) where engagement_id is not null;
create unique index attempt_open_of_item on attempt (tenant_id, item_id)
  where item_id is not null and state in ('open', 'doubt', 'review');
create unique index attempt_open_of_engagement on attempt (tenant_id, engagement_id)
  where engagement_id is not null and state in ('open', 'doubt', 'review');
-- An account has one post of a text in doubt at most, and a post belongs to one item. Neither holds for engagements: the same thanks
-- go to several people, and a like and a repost share the id of the post that they are about.
create unique index attempt_same_text on attempt (tenant_id, connection_id, body_sha)
  where item_id is not null and state in ('open', 'doubt', 'review');
create unique index attempt_post on attempt (tenant_id, connection_id, external_id) where item_id is not null and external_id is not null;
create index on attempt (tenant_id, connection_id, external_id);
