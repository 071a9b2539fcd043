/** What somebody and the agent have said to each other in a channel. */
import type { JobStatus } from '#domain/agent/job/job'
import { many } from '../engine/load.ts'

export interface TalkRow {
  id: string
  /** `in`: said by the sender. */
  way: 'in' | 'out'
  /** Null while it is being fetched. */
  text: string | null
  /** The state of the message or of the reply. */
  state: string
  error: string | null
  job_id: string | null
  /** The status of the message's job. */
  job_status: JobStatus | null
  created_at: Date
}

/** How many are read from each side. */
const MOST = 20

/**
 * The last messages of a sender and the replies to them, oldest first. They are sorted by id,
 * because a clock that steps back may give a reply an earlier time. The adapter's `replyTo` names
 * the sender.
 */
export const talkPart = (connectionId: string, sender: string) =>
  many<TalkRow>(
    { created_at: true },
    (sql) => sql`select * from (
      (select m.id, 'in' as way, m.text, m.state, m.error, m.job_id, j.status as job_status,
        m.created_at
        from channel_message m left join agent_job j on j.id = m.job_id
        where m.connection_id = ${connectionId} and m.sender = ${sender} order by m.id desc
          limit ${MOST})
      union all
      (select r.id, 'out' as way, r.text, r.status as state, r.error, r.job_id, null as job_status,
        r.created_at
        from channel_reply r where r.connection_id = ${connectionId}
          and r.reply_to->>'sender' = ${sender} order by r.id desc limit ${MOST})
    ) said order by id`,
  )
