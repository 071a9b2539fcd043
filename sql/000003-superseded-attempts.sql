-- An attempt whose fate was never found out, and after which a person had the item posted once more.
alter table attempt drop constraint attempt_state_check;
alter table attempt add constraint attempt_state_check
  check (state in ('open', 'doubt', 'review', 'posted', 'failed', 'unsent', 'superseded'));
