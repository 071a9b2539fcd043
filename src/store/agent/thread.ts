import type { ConversationThread } from '#domain/agent/job/change'
import type { Job } from '#domain/agent/job/job'
import type { Query } from '../engine/db.ts'
import { one } from '../engine/load.ts'

/** The conversation of the job that an approval is about. */
export const threadOfApproval = (approvalId: string) =>
  one<ConversationThread>(
    {},
    (sql) => sql`select c.id, c.next_seq, c.handles from agent_approval a
      join agent_job j on j.id = a.job_id
      join agent_conversation c on c.id = j.conversation_id where a.id = ${approvalId}`,
  )

/** The conversation of a job or of its root, in which its records have their names. */
export interface JobThread extends ConversationThread {
  /**
   * Whether somebody outside the workspace may have written some of it, not counting the messages
   * of the job itself.
   */
  is_untrusted: boolean
}

export const threadOf = ({ conversation_id, root_id }: Pick<Job, 'conversation_id' | 'root_id'>) =>
  one<JobThread>(
    {},
    (sql) => sql`select c.id, c.next_seq, c.handles, c.summary_untrusted
      or exists (select from agent_message m
        where m.conversation_id = c.id and m.untrusted and m.job_id is distinct from ${root_id}) as
          is_untrusted
      from agent_conversation c where c.id = coalesce(${conversation_id}::uuid,
        (select conversation_id from agent_job where id = ${root_id}))`,
  )

export const saveThread =
  ({ id, next_seq, handles }: ConversationThread, now: Date): Query =>
  (sql) =>
    sql`update agent_conversation set next_seq = ${next_seq}, handles = ${sql.json(handles)},
      last_at = ${now}, updated_at = ${now}
      where id = ${id}`

/** The first `length` characters of a message. */
export const messageBeginning = (messageId: string, length: number) =>
  one<{ content: string }>(
    {},
    (sql) =>
      sql`select left(content, ${length}::int) as content from agent_message
        where id = ${messageId}`,
  )

/** The message that a job answers. */
export const messageText = (messageId: string) =>
  one<{ content: string }>(
    {},
    (sql) => sql`select content from agent_message where id = ${messageId}`,
  )

/** The tenant that the letter belongs to. */
export const tenantPart = one<{ id: string }>(
  {},
  (sql) => sql`select current_setting('app.tenant') as id`,
)
