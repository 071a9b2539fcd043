/** The versions of playbooks on which an answer of the agent is based. */
import type { GivenPlaybook } from '#domain/agent/knowledge/playbook'
import { one } from '../engine/load.ts'

/**
 * The playbooks that the job of the message, or one of its sub-agents, was given. Null once its
 * steps are past their retention.
 */
export const playbooksGivenFor = (messageId: string) =>
  one<{ playbooks: GivenPlaybook[] | null }>(
    {},
    (
      sql,
    ) => sql`with recursive tree as (select job_id as id from agent_message where id = ${messageId}
        union select c.id from agent_job c join tree t on c.parent_id = t.id),
      steps as (select coalesce(s.answer->'playbooks', '[]') || coalesce(s.result->'playbooks',
        '[]') as given
        from tree t join agent_step s on s.job_id = t.id)
      select case when exists (select from steps) then coalesce((select jsonb_agg(distinct one.value
        order by one.value)
        from steps, jsonb_array_elements(steps.given) as one), '[]') end as playbooks`,
  )
