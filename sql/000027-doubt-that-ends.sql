-- Why the fate of a send is open, and from when on a complete read that does not show the post counts as proof that it was never
-- made: the network has answered with an error, and promises that nothing is applied later. Null: only a hit or a person decides.
alter table attempt
  add doubt_cause text check (doubt_cause in ('server_error', 'no_answer', 'unclear_answer', 'process_stopped')),
  add returns_from timestamptz,
  add proof_reads integer not null default 0 check (proof_reads >= 0),
  drop constraint attempt_state_check;
-- `returned`: the network provably never made the post, and the item went back to approved by itself.
alter table attempt add constraint attempt_state_check
  check (state in ('open', 'doubt', 'review', 'posted', 'failed', 'unsent', 'superseded', 'returned'));
alter table engagement_attempt
  add doubt_cause text check (doubt_cause in ('server_error', 'no_answer', 'unclear_answer', 'process_stopped'));

-- Of doubts from before, the words of their error tell the cause.
alter table attempt no force row level security;
alter table engagement_attempt no force row level security;
update attempt set doubt_cause = case when error = 'the process stopped while sending' then 'process_stopped'
    when error ~ '^5\d\d$' then 'server_error' else 'no_answer' end
  where doubt_at is not null;
update engagement_attempt set doubt_cause = case when error = 'the process stopped while sending' then 'process_stopped'
    when error ~ '^5\d\d$' then 'server_error' else 'no_answer' end
  where doubt_at is not null;
alter table attempt force row level security;
alter table engagement_attempt force row level security;
