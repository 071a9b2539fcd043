/**
 * What must hold of messages and replies, whatever was killed: one job and one reply an event, and
 * no message sent twice.
 */
import type postgres from 'postgres'
import type { Taken } from './provider.ts'

interface Replied {
  id: string
  job_id: string | null
  status: string
  parts: { state: string }[]
}

/** Jobs of each event, by its text: the fewest and the most. */
const jobsOf = async (owner: postgres.Sql, texts: readonly string[]) => {
  const [row] = await owner<{ fewest: number; most: number; jobs: number; open: number }[]>`
    select coalesce(min(n), 0)::int as fewest, coalesce(max(n), 0)::int as most,
      coalesce(sum(n), 0)::int as jobs,
      (select count(*) from agent_job where kind = 'channel' and ended_at is null)::int as open
    from (select t.text, count(j.id) as n from unnest(${texts as string[]}::text[]) t(text)
      left join agent_job j on j.kind = 'channel' and j.goal = t.text group by t.text) e`
  return row!
}

const timesOf = (taken: readonly Taken[]): Map<string, number> => {
  const times = new Map<string, number>()
  for (const { id } of taken) times.set(id, (times.get(id) ?? 0) + 1)
  return times
}

interface Judged {
  reply: Replied
  part: { state: string }
  /** How often the provider has taken it. */
  times: number
}

const judged = (replies: readonly Replied[], taken: readonly Taken[]): Judged[] => {
  const times = timesOf(taken)
  return replies.flatMap((reply) =>
    reply.parts.map((part, index) => ({
      reply,
      part,
      times: times.get(`${reply.id}.${index}`) ?? 0,
    })),
  )
}

const IS_OVER = ['sent', 'failed', 'unknown']

export const verdictOf = async (
  owner: postgres.Sql,
  texts: readonly string[],
  taken: readonly Taken[],
) => {
  const { fewest, most, jobs, open } = await jobsOf(owner, texts)
  const replies = await owner<Replied[]>`select id, job_id, status, parts from channel_reply`
  const messages = judged(replies, taken)
  const known = new Set(
    replies.flatMap(({ id, parts }) => parts.map((_, index) => `${id}.${index}`)),
  )
  const ofJobs = Map.groupBy(replies, ({ job_id }) => job_id)
  const perJob = [...ofJobs.values()].map(({ length }) => length)
  const count = (holds: (one: Judged) => boolean) => messages.filter(holds).length
  const never = {
    'events without a job': fewest > 0 ? 0 : texts.length - jobs,
    'events with several jobs': most > 1 ? most : 0,
    'jobs that are open': open,
    'jobs without a reply': jobs - ofJobs.size,
    'jobs with several replies': perJob.filter((n) => n > 1).length,
    'messages sent twice': count(({ times }) => times > 1),
    'messages called sent that nobody got': count(
      ({ part, times }) => part.state === 'sent' && times === 0,
    ),
    'messages called failed that somebody got': count(
      ({ part, times }) => part.state === 'failed' && times > 0,
    ),
    'messages of no reply': taken.filter(({ id }) => !known.has(id)).length,
    'replies that are open': replies.filter(({ status }) => !IS_OVER.includes(status)).length,
  }
  const of = (state: string) => count(({ part }) => part.state === state)
  const counts: Record<string, number> = {
    jobs,
    jobs_per_event: most,
    replies: replies.length,
    replies_per_job: Math.max(0, ...perJob),
    sent: of('sent'),
    failed: of('failed'),
    unknown: of('unknown'),
    unknown_and_got: count(({ part, times }) => part.state === 'unknown' && times > 0),
    on_the_wire: taken.length,
    most_on_the_wire: Math.max(0, ...messages.map(({ times }) => times)),
    sent_twice: never['messages sent twice'],
  }
  return { counts, never }
}
