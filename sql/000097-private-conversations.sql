-- Who sees a conversation, and all that is made of it: the workspace, or whoever began it and the people they have added.
alter table agent_conversation
  add visibility text not null default 'workspace' check (visibility in ('workspace', 'private')),
  add people jsonb not null default '[]';

-- The conversation that an approval is asked in; of a child, that of its root. Approvals outlive their jobs.
alter table agent_approval add conversation_id uuid;

-- Policies bind the owner of the tables too, so they rest meanwhile.
alter table agent_approval no force row level security;
alter table agent_job no force row level security;
update agent_approval a set conversation_id = r.conversation_id
  from agent_job j join agent_job r on r.tenant_id = j.tenant_id and r.id = j.root_id
  where j.tenant_id = a.tenant_id and j.id = a.job_id and r.conversation_id is not null;
alter table agent_approval force row level security;
alter table agent_job force row level security;

-- Ends what a person who has left these workspaces had of the agent there: links of channels' senders, unused codes, and private
-- conversations, which joining again does not bring back. Each workspace is named to the policies of the tables, which bind the owner of
-- the tables too.
create or replace function unlink_person(gone uuid, places uuid[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  place uuid;
begin
  foreach place in array places
  loop
    perform set_config('app.tenant', place::text, true);
    delete from public.channel_identity where tenant_id = place and person_id = gone;
    delete from public.channel_link_code where tenant_id = place and person_id = gone;
    update public.agent_conversation set people = people - gone::text, person_id = case when visibility = 'private' then nullif(person_id, gone) else person_id end
      where tenant_id = place and (people ? gone::text or (person_id = gone and visibility = 'private'));
  end loop;
end $$;
