-- Whose words a summary is made of: what they may do is asked again each time that somebody's job is given the summary.
alter table agent_conversation add summary_authors jsonb not null default '[]';

-- Policies bind the owner of the tables too, so they rest meanwhile.
alter table agent_conversation no force row level security;
alter table agent_message no force row level security;
update agent_conversation c set summary_authors = said.authors
  from (select m.tenant_id, m.conversation_id, jsonb_agg(distinct m.author) as authors
    from agent_message m join agent_conversation o on o.tenant_id = m.tenant_id and o.id = m.conversation_id
    where o.summary is not null and m.role = 'user' and m.seq <= o.summarised_to group by 1, 2) said
  where said.tenant_id = c.tenant_id and said.conversation_id = c.id;
alter table agent_conversation force row level security;
alter table agent_message force row level security;
