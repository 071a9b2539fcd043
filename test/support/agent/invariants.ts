/** What must always hold for the agent's rows, whatever was killed, cancelled or decided. */
import type postgres from 'postgres'

/**
 * Each query selects violations, and describes them. Order is judged by numbers, because the
 * machine's clock may step back.
 */
const rules = {
  'a command without its result': `select format('job %s step %s', a.actor_id, a.detail->>'step') from audit a left join agent_step s
      on s.tenant_id = a.tenant_id and s.job_id = a.actor_id::uuid and s.number = (a.detail->>'step')::int
    where a.actor_kind = 'agent' and (s.id is null or not (s.state in ('done', 'waiting') or (s.state = 'cancelled' and s.awaits is not null)
      or (s.state = 'failed' and s.awaits_kind = 'child')))`,
  'a command that happened twice': `select format('job %s step %s: %s times', actor_id, detail->>'step', count(*)) from audit
    where actor_kind = 'agent' group by tenant_id, actor_id, detail->>'step' having count(*) > 1`,
  'a result without its command': `select format('job %s step %s %s', s.job_id, s.number, s.name) from agent_step s
    where s.kind = 'tool' and s.state = 'done' and s.class in ('draft', 'commit') and not exists (select from audit a
      where a.tenant_id = s.tenant_id and ((a.actor_kind = 'agent' and a.actor_id = s.job_id::text and (a.detail->>'step')::int = s.number)
        or (a.operation = 'agent.actions.call' and a.ref_id = s.job_id and not a.detail ? 'approval_id')
        -- Retiring what is retired changes nothing, and leaves no row.
        or (s.name = 'growth_retire_learning' and a.operation = 'growth.learnings.retire')))`,
  'a commit that nobody approved': `select format('job %s step %s %s', s.job_id, s.number, s.name) from agent_step s
      join agent_job j on j.tenant_id = s.tenant_id and j.id = s.job_id
      left join agent_approval p on p.tenant_id = s.tenant_id and p.step_id = s.id and p.status = 'approved' and p.decided_how = 'person'
    where s.class = 'commit' and s.state in ('done', 'waiting') and j.model <> 'desk'
      and (p.id is null or p.arguments_hash <> s.args_hash or p.decided_by is null or exists (select from agent_event d
        join agent_event e on e.tenant_id = d.tenant_id and e.job_id = d.job_id where d.tenant_id = s.tenant_id and d.job_id = s.job_id
        and d.type = 'approval.decided' and d.data->>'approvalId' = p.id::text
        and e.type = 'step.ended' and e.data->>'number' = s.number::text and e.seq < d.seq))`,
  'an audit that names another approver': `select format('job %s step %s', s.job_id, s.number) from audit a
      join agent_step s on s.tenant_id = a.tenant_id and s.job_id::text = a.actor_id and s.number = (a.detail->>'step')::int
      join agent_approval p on p.tenant_id = s.tenant_id and p.step_id = s.id
    where a.actor_kind = 'agent' and a.detail->>'approved_by' is distinct from p.decided_by::text`,
  'a tainted write that nobody approved': `select format('job %s step %s %s', s.job_id, s.number, s.name) from agent_step s
      join agent_step m on m.tenant_id = s.tenant_id and m.job_id = s.job_id and m.number = s.of_step
    where s.class in ('draft', 'commit', 'outside_write') and s.state in ('done', 'waiting')
      and exists (select from agent_step u where u.tenant_id = s.tenant_id and u.job_id = s.job_id and u.untrusted is not null
        and u.ended_at is not null and u.number < m.number)
      and not exists (select from agent_approval p where p.tenant_id = s.tenant_id and p.step_id = s.id and p.status = 'approved')`,
  'a tool that the job was not given': `select format('job %s %s', s.job_id, s.name) from agent_step s
      join agent_job j on j.tenant_id = s.tenant_id and j.id = s.job_id
    where s.kind = 'tool' and s.state in ('done', 'waiting', 'unknown') and jsonb_typeof(j.tools) = 'array' and not j.tools ? s.name`,
  'an open job without its one row of work': `select format('job %s: %s rows', j.id, count(w.id)) from agent_job j
      left join work w on w.tenant_id = j.tenant_id and w.kind = 'agent' and w.ref_id = j.id
    where j.ended_at is null group by j.tenant_id, j.id having count(w.id) <> 1`,
  'work of a job that is over': `select format('job %s', j.id) from agent_job j
      join work w on w.tenant_id = j.tenant_id and w.kind = 'agent' and w.ref_id = j.id where j.ended_at is not null`,
  'an active schedule without its one row of work, at its next time': `select format('schedule %s: %s rows', c.id, count(w.id))
    from agent_schedule c left join work w on w.tenant_id = c.tenant_id and w.kind = 'agent_schedule' and w.ref_id = c.id and w.run_at = c.next_at
    where c.status = 'active' group by c.tenant_id, c.id having count(w.id) <> 1`,
  'work of a schedule that does not run': `select format('schedule %s', w.ref_id) from work w left join agent_schedule c
      on c.tenant_id = w.tenant_id and c.id = w.ref_id where w.kind = 'agent_schedule' and c.status is distinct from 'active'`,
  'a document that is to be read, without its row of work': `select format('document %s %s', d.id, d.status) from document d
      left join work w on w.tenant_id = d.tenant_id and w.kind = 'ingest' and w.ref_id = d.id
    where d.status in ('queued', 'processing') and w.id is null`,
  'a ready document without all of its passages, or whose passages are not of its content': `select format('document %s', d.id)
    from document d where d.status = 'ready' and d.passages <> (select count(*) from document_passage p
      where p.tenant_id = d.tenant_id and p.document_id = d.id and position(p.text in d.content) > 0)`,
  'words of no passage': `select format('document %s', w.document_id) from (select distinct tenant_id, document_id from document_word) w
      left join work r on r.tenant_id = w.tenant_id and r.kind = 'ingest' and r.ref_id = w.document_id
    where r.id is null and not exists (select from document d where d.tenant_id = w.tenant_id and d.id = w.document_id)`,
  'a run that nobody is held to, or with less taint than its schedule': `select format('job %s', j.id) from agent_job j
      join agent_schedule c on c.tenant_id = j.tenant_id and c.id::text = j.cause->>'id'
    where j.origin <> 'automatic' or (c.on_behalf = j.on_behalf and not j.taint @> c.taint)`,
  'an approval that a job which is over still asks': `select format('approval %s', p.id) from agent_approval p
      join agent_job j on j.tenant_id = p.tenant_id and j.id = p.job_id where p.status = 'pending' and j.ended_at is not null`,
  'a step of a job that is over, without an end': `select format('job %s step %s %s', s.job_id, s.number, s.state) from agent_step s
      join agent_job j on j.tenant_id = s.tenant_id and j.id = s.job_id
    where j.ended_at is not null and (s.state in ('ready', 'asked', 'running', 'waiting') or s.ended_at is null)`,
  'an asked step without an approval that waits': `select format('job %s step %s', s.job_id, s.number) from agent_step s
    where (s.state = 'asked') <> exists (select from agent_approval p
      where p.tenant_id = s.tenant_id and p.step_id = s.id and p.status = 'pending')`,
  'a step after a rejection': `select format('job %s step %s %s', s.job_id, s.number, s.state) from agent_step s
      join agent_approval p on p.tenant_id = s.tenant_id and p.step_id = s.id
    where p.status = 'rejected' and s.state not in ('rejected', 'cancelled')`,
  'a conversation whose numbers have gaps': `select format('conversation %s', c.id) from agent_conversation c
      left join agent_message m on m.tenant_id = c.tenant_id and m.conversation_id = c.id
    group by c.tenant_id, c.id, c.next_seq having count(m.id) <> c.next_seq - 1 or coalesce(max(m.seq), 0) <> c.next_seq - 1`,
  'a job whose events have gaps': `select format('job %s', j.id) from agent_job j
      left join agent_event e on e.tenant_id = j.tenant_id and e.job_id = j.id
    group by j.tenant_id, j.id, j.next_event having count(e.seq) <> j.next_event - 1 or coalesce(max(e.seq), 0) <> j.next_event - 1`,
  'an end that its last event does not tell': `select format('job %s %s', j.id, j.status) from agent_job j where j.ended_at is not null
    and not exists (select from agent_event e where e.tenant_id = j.tenant_id and e.job_id = j.id and e.seq = j.next_event - 1
      and e.type = 'job.status' and e.data->>'status' = j.status and e.at = j.ended_at)`,
  'a turn without its one answer': `select format('job %s %s: %s messages', j.id, j.status, count(m.id)) from agent_job j
      left join agent_message m on m.tenant_id = j.tenant_id and m.job_id = j.id and m.role <> 'user'
    where j.kind = 'turn' and j.ended_at is not null group by j.tenant_id, j.id, j.status
    having count(m.id) <> (j.status <> 'cancelled')::int`,
  'a message that no event tells': `select format('message %s', m.id) from agent_message m where m.role <> 'user' and m.job_id is not null
    and not exists (select from agent_event e where e.tenant_id = m.tenant_id and e.job_id = m.job_id and e.type = 'message'
      and e.data->>'id' = m.id::text)`,
  'a call without its step': `select format('job %s step %s', m.job_id, m.number) from agent_step m
    where m.kind = 'model' and m.state = 'done' and (m.answer->>'calls')::int <> (select count(*) from agent_step s
      where s.tenant_id = m.tenant_id and s.job_id = m.job_id and s.of_step = m.number)`,
  'a name of a record elsewhere': `select format('conversation %s %s', c.id, h.key) from agent_conversation c cross join jsonb_each_text(c.handles) h
    where (h.key like 'learning:%' and not exists (select from learning l where l.tenant_id = c.tenant_id and l.id = h.value::uuid))
      or (h.key like 'item:%' and not exists (select from item i where i.tenant_id = c.tenant_id and i.id = h.value::uuid))`,
  'a result with words of another workspace': `select format('job %s step %s', s.job_id, s.number) from agent_step s join tenant t
      on t.id <> s.tenant_id where position(t.id::text in coalesce(s.result->>'text', '')) > 0`,
  'a child that nobody waits for': `select format('job %s', c.id) from agent_job c
      join agent_job p on p.tenant_id = c.tenant_id and p.id = c.parent_id
      join agent_step s on s.tenant_id = c.tenant_id and s.id = c.parent_step_id
    where c.ended_at is null and (p.ended_at is not null or s.state <> 'waiting' or s.awaits <> c.id)`,
  'a step that waits for a child which is over': `select format('job %s step %s', s.job_id, s.number) from agent_step s
    where s.awaits_kind = 'child' and s.state = 'waiting'
      and not exists (select from agent_job c where c.tenant_id = s.tenant_id and c.id = s.awaits and c.ended_at is null)`,
  'a child with more than its parent': `select format('job %s', c.id) from agent_job c
      join agent_job p on p.tenant_id = c.tenant_id and p.id = c.parent_id
    where c.on_behalf <> p.on_behalf or c.origin <> p.origin or c.root_id <> p.root_id or c.depth <> p.depth + 1 or c.depth > 3
      or jsonb_typeof(c.tools) is distinct from 'array' or (jsonb_typeof(p.tools) = 'array' and not p.tools @> c.tools)
      or (p.scheduled and not c.scheduled)`,
  'a tree with more thoughts or children than a root may have': `select format('job %s: %s thoughts, %s children', j.root_id, sum(j.model_calls),
      count(j.parent_id)) from agent_job j join tenant t on t.id = j.tenant_id group by j.tenant_id, j.root_id, t.overrides
    having sum(j.model_calls) > coalesce((t.overrides->>'agent_max_steps')::int, 40) or count(j.parent_id) > 8`,
  'a child with more thoughts than it was given': `select format('job %s: %s of %s', id, model_calls, most_steps) from agent_job
    where model_calls > most_steps`,
  'words of a child that its parent takes for its own': `select format('job %s', c.id) from agent_job c
      join agent_step s on s.tenant_id = c.tenant_id and s.id = c.parent_step_id
      join agent_job p on p.tenant_id = c.tenant_id and p.id = c.parent_id
    where s.state = 'done' and c.taint <> '[]' and (s.untrusted is null or not p.taint @> c.taint)`,
  'an end that is not told once': `select format('job %s: %s times', j.id, count(o.id)) from agent_job j
      left join outbox o on o.tenant_id = j.tenant_id and o.type = 'agent.job.settled' and o.data->>'job_id' = j.id::text
    group by j.tenant_id, j.id, j.ended_at having count(o.id) <> (j.ended_at is not null)::int`,
  'a question that is not told once': `select format('approval %s: %s times', p.id, count(o.id)) from agent_approval p
      left join outbox o on o.tenant_id = p.tenant_id and o.type = 'growth.approval.requested' and o.data->>'approval_id' = p.id::text
    group by p.tenant_id, p.id having count(o.id) <> 1`,
}

/** Violated if the ledger of `recordReservations` differs from the counter. */
const overdrawn = `select format('workspace %s: %s counted, %s used or kept', coalesce(c.tenant_id, l.tenant_id), coalesce(c.used, 0), coalesce(l.tokens, 0))
  from (select tenant_id, used from counter where key = 'agent_tokens_month') c
  full join (select tenant_id, sum(tokens) as tokens from agent_ledger group by tenant_id) l on l.tenant_id = c.tenant_id
  where coalesce(c.used, 0) <> coalesce(l.tokens, 0)`

/** Violated if the jobs of a workspace do not add up to what its budgets hold. */
const unshown = `select format('workspace %s: %s %s counted, %s shown', c.tenant_id, c.used, c.key, j.shown) from counter c cross join lateral (
    select case c.key when 'agent_tokens_month' then coalesce(sum(input_tokens + output_tokens + reserved_tokens), 0)
      else coalesce(sum(cost + reserved_cost), 0) end as shown from agent_job j where j.tenant_id = c.tenant_id) j
  where c.key in ('agent_tokens_month', 'agent_cost_month') and c.used <> j.shown`

/**
 * Records in the table `agent_ledger` what each model call has reserved, or used once it is
 * settled. A step that is tried again has no room for what its dead calls keep.
 */
export const recordReservations = async (owner: postgres.Sql): Promise<void> => {
  await owner`create table agent_ledger (tenant_id uuid not null, step_id uuid not null,
    tokens int not null, is_open boolean not null default true)`
  await owner.unsafe(`create function keep_ledger() returns trigger language plpgsql security definer as $$ begin
    if new.state = 'running' then
      if tg_op = 'INSERT' or old.state <> 'running' then
        update public.agent_ledger set is_open = false where step_id = new.id;
        insert into public.agent_ledger values (new.tenant_id, new.id, new.reserved_tokens);
      end if;
    elsif new.input_tokens is not null then
      update public.agent_ledger set tokens = new.input_tokens + new.output_tokens, is_open = false where step_id = new.id and is_open;
    end if;
    return null; end $$`)
  await owner`create trigger keep_ledger after insert or update on agent_step for each row
    when (new.kind <> 'tool') execute function keep_ledger()`
}

/** The violations, at most five for each rule. With `ledger`, budgets are compared as well. */
export const brokenInvariants = async (
  owner: postgres.Sql,
  { ledger = false }: { ledger?: boolean } = {},
): Promise<string[]> => {
  const all = Object.entries(
    ledger
      ? {
          ...rules,
          'a budget that does not add up': overdrawn,
          'a budget that jobs do not show': unshown,
        }
      : rules,
  )
  const broken: string[] = []
  for (const [rule, query] of all) {
    const rows = await owner.unsafe<{ format: string }[]>(`${query} limit 5`)
    broken.push(...rows.map(({ format }) => `${rule}: ${format}`))
  }
  return broken
}
