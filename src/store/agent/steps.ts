import { createHash } from 'node:crypto'
import { stepRecord } from '#contract/records/agent/step'
import type { Step, StepHead } from '#domain/agent/job/step'
import type { ShownStep } from '#domain/agent/job/views'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import { tableOf } from '../engine/records.ts'
import { tree } from './jobs.ts'

const table = tableOf(stepRecord)

/** The columns of a step without its result, which can be large. */
const head = (sql: Sql): Fragment => table.columns(sql, 's', ['result', 'answer'])

/** More steps than a job's bounds allow. */
const MOST_STEPS = 2_000

export const stepPart = (id: string) =>
  one<Step>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 's')} from agent_step s where s.id = ${id}`,
  )

/** These steps, in their order. */
export const theseSteps = (ids: readonly string[]) =>
  many<Step>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 's')} from agent_step s
      where s.id = any(${ids as string[]}::uuid[]) order by s.number`,
  )

export const stepsOf = (jobId: string) =>
  many<Step>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 's')} from agent_step s where s.job_id = ${jobId} order by s.number
        limit ${MOST_STEPS}`,
  )

export const firstStepOf = (jobId: string) =>
  one<Step>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 's')} from agent_step s where s.job_id = ${jobId} order by s.number
        limit 1`,
  )

/** The step that an approval asks about. */
export const stepOfApproval = (approvalId: string) =>
  one<Step>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 's')} from agent_step s where s.id = (select step_id from agent_approval
        where id = ${approvalId})`,
  )

/** Steps with up to `characters` characters of each result. */
export const shownSteps = (jobId: string, characters: number) =>
  many<ShownStep>(table.times, (sql) => {
    const text = sql`coalesce(s.result->>'text', s.answer->>'text')`
    return sql`select ${head(sql)}, left(${text}, ${characters}) as shown,
      coalesce(length(${text}) > ${characters}, false) as shown_cut
      from agent_step s where s.job_id = ${jobId} order by s.number limit ${MOST_STEPS}`
  })

/** The steps of a job and its descendants, without their results. */
export const stepsOfTree = (jobId: string) =>
  many<ShownStep>(
    table.times,
    (sql) => sql`${tree(sql, jobId)} select ${head(sql)}, null as shown, false as shown_cut
      from tree t join agent_step s on s.job_id = t.id order by s.job_id, s.number
        limit ${MOST_STEPS}`,
  )

/**
 * Steps without arguments and results. The caller adds how each tool runs. The job's id comes from
 * a subquery, so that one plan fits all jobs. As a plain value, it would be planned for anew each
 * time once jobs differ much in their number of steps.
 */
export const headsOf = (jobId: string) =>
  many<Omit<StepHead, 'way'>>(
    { not_before: true, started_at: true, expires_at: true },
    (
      sql,
    ) => sql`select s.id, s.number, s.kind, s.name, s.state, s.class, s.args_hash, s.result_hash,
      s.awaits_kind, s.awaits, s.of_step, s.attempt, s.not_before,
        s.started_at,
        case when s.state = 'asked' then (select a.expires_at from agent_approval a
          where a.step_id = s.id and a.status = 'pending') end
          as expires_at
      from agent_step s where s.job_id = (select ${jobId}::uuid) order by s.number
        limit ${MOST_STEPS}`,
  )

/**
 * How many bytes the job's next request to the model has beyond its last one. `since`: the number
 * of the last one's step, or 0.
 */
export const bytesSince = (jobId: string, since: number) =>
  sure(
    one<{ bytes: number }>(
      {},
      (sql) => sql`select coalesce(sum(octet_length(coalesce(s.result->>'text', '')) +
        octet_length(coalesce(s.asked, ''))
          + octet_length(coalesce(s.answer->>'text', '')) + 2 *
            octet_length(coalesce(s.answer->>'refused', ''))), 0)::int as bytes
        from agent_step s where s.job_id = ${jobId} and s.number >= ${since}`,
    ),
  )

export interface CallInFlight {
  job_id: string
  tool: string
  origin: 'manual' | 'automatic'
  since: Date
}

/**
 * Calls that change something outside and may be on the wire. This includes calls of jobs that were
 * cancelled meanwhile, whose rows of work wait for them.
 */
export const callsInFlight = many<CallInFlight>(
  { since: true },
  (sql) => sql`select s.job_id, s.name as tool, j.origin, s.started_at as since
    from work w join agent_job j on j.id = w.ref_id
      join agent_step s on s.job_id = j.id and s.class = 'outside_write'
        and (s.state = 'running' or s.state = 'unknown' and s.ended_at = j.ended_at)
    where w.kind = 'agent' and w.state = 'running' order by s.started_at limit 100`,
)

/** How many calls of a tool began within the last hour. A refused call never began. */
export const callsWithinHour = (tool: string) =>
  sure(
    one<{ calls: number }>(
      {},
      (
        sql,
      ) => sql`select count(*)::int as calls from agent_step where kind = 'tool' and name = ${tool}
        and started_at > clock_timestamp() - interval '1 hour'`,
    ),
  )

/** Calls of all tools that began within the last hour. */
export const callsByTool = many<{ tool: string; calls: number }>(
  {},
  (sql) => sql`select name as tool, count(*)::int as calls from agent_step where kind = 'tool'
    and started_at > clock_timestamp() - interval '1 hour'
    group by name order by name limit 1000`,
)

/** In characters of base64url, which have six bits each. */
const HASH_LENGTH = 16

const hashOf = ({ result }: Step) => ({
  result_hash:
    result && createHash('sha256').update(result.text).digest('base64url').slice(0, HASH_LENGTH),
})

export const insertSteps = (steps: readonly Step[]): Query => table.insertAll(steps, hashOf)

export const saveStep = (step: Step): Query => table.save(step, hashOf(step))

/**
 * Ends all unfinished steps of a job, except those that the same letter writes. A step that may be
 * on its way outside becomes `unknown`.
 */
export const cancelSteps =
  (jobId: string, except: readonly string[], now: Date): Query =>
  (sql) =>
    sql`update agent_step set state = case when state = 'running' and class = 'outside_write'
      then 'unknown' else 'cancelled' end,
      ended_at = ${now}, updated_at = ${now} where job_id = ${jobId}
        and state in ('ready', 'asked', 'running', 'waiting')
        and id <> all(${[...except]}::uuid[])`

/** Restarts the waiting time of the steps in which the jobs above wait for this one. */
export const restartPatience =
  (jobId: string, now: Date): Query =>
  (sql) =>
    sql`update agent_step set started_at = ${now} where state = 'waiting' and id in (
        with recursive above as (
          select parent_id, parent_step_id from agent_job where id = ${jobId}
          union select j.parent_id, j.parent_step_id from agent_job j
            join above a on j.id = a.parent_id)
        select parent_step_id from above)`

/**
 * How many calls of a tool were made without asking by any job under this root, including those
 * that are about to run.
 */
export const unaskedCalls = (rootId: string, tool: string) =>
  sure(
    one<{ calls: number }>(
      {},
      (sql) => sql`select count(*)::int as calls from agent_step s where s.kind = 'tool'
        and s.name = ${tool} and s.why = '[]'
        and s.args_hash is not null and s.job_id in (with recursive tree as (
          select id from agent_job where id = ${rootId} union select c.id from agent_job c
            join tree t on c.parent_id = t.id) table tree)`,
    ),
  )

/**
 * How often a job has called tools with these arguments and the call ran, and how often it is
 * unknown whether it did.
 */
export const equalCalls = (jobId: string, hashes: readonly string[]) =>
  many<{ name: string; args_hash: string; calls: number; unknown: number }>(
    {},
    (sql) => sql`select name, args_hash, (count(*) filter (where state in ('done', 'ready', 'asked',
      'running', 'waiting')))::int as calls,
          (count(*) filter (where state = 'unknown'))::int as unknown
        from agent_step where job_id = (select ${jobId}::uuid)
          and args_hash = any(${[...hashes]}::text[]) group by name, args_hash limit ${MOST_STEPS}`,
  )
