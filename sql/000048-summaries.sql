-- Whether some of the summarised messages may contain words of people outside the workspace.
alter table agent_conversation add column summary_untrusted boolean not null default false;
