import { jobRecord } from '#contract/records/agent/job'
import type { Reader } from '#domain/agent/conversation'
import type { Job, JobKind, JobStatus } from '#domain/agent/job/job'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'
import { isJobShown } from './visibility.ts'

const table = tableOf(jobRecord)

export const jobPart = (id: string) =>
  one<Job>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 'j')} from agent_job j where j.id = ${id}`,
  )

/** A job, for readers who see it. */
export const shownJob = (id: string, as: Reader) =>
  one<Job>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 'j')} from agent_job j where j.id = ${id} and ${isJobShown(sql, as)}`,
  )

/** A job that is a task. */
export const taskPart = (id: string) =>
  one<Job>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 'j')} from agent_job j where j.id = ${id} and j.kind = 'task'`,
  )

/** The job whose call an approval is about. */
export const jobOfApproval = (approvalId: string) =>
  one<Job>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 'j')} from agent_job j where j.id = (select job_id from agent_approval
        where id = ${approvalId})`,
  )

export const tree = (sql: Sql, jobId: string): Fragment => sql`with recursive tree as (
    select id from agent_job where id = ${jobId}
    union select c.id from agent_job c join tree t on c.parent_id = t.id)`

/** A job of a tree that is not over. */
export interface OpenJob extends Job {
  /** Its row of work. */
  work: string | null
}

/** The job and those of its descendants that are not over, the job first. */
export const openTreeOf = (jobId: string) =>
  many<OpenJob>(
    table.times,
    (sql) => sql`${tree(sql, jobId)} select ${table.columns(sql, 'j')}, w.id as work from tree t
      join agent_job j on j.id = t.id
      left join work w on w.kind = 'agent' and w.ref_id = j.id where j.ended_at is null
        order by j.depth, j.id`,
  )

/** The open jobs of all trees in a conversation. */
export const openJobsWithin = (conversationId: string) =>
  many<OpenJob>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 'j')}, w.id as work from agent_job r
      join agent_job j on j.root_id = r.id
      left join work w on w.kind = 'agent' and w.ref_id = j.id
      where r.conversation_id = ${conversationId} and r.ended_at is null and j.ended_at is null
        order by j.depth, j.id`,
  )

interface JobFilters {
  status?: JobStatus | undefined
  kind?: JobKind | undefined
  conversation?: string | undefined
  as: Reader
}

export const listJobs =
  ({ limit, after, status, kind, conversation, as }: Page & JobFilters): Query<Job> =>
  (sql) =>
    sql`select ${table.columns(sql, 'j')} from agent_job j where ${isJobShown(sql, as)} ${
      status
        ? sql`and
      j.status = ${status}`
        : sql``
    }
      ${kind ? sql`and j.kind = ${kind}` : sql``} ${
        conversation
          ? sql`and j.conversation_id =
        ${conversation}`
          : sql``
      }
      ${after ? sql`and j.id < ${after}` : sql``} order by j.id desc limit ${limit + 1}`

/** Newest first. */
export const listTasks =
  ({ limit, after, status }: Page & { status?: JobStatus | undefined }): Query<Job> =>
  (sql) =>
    sql`select ${table.columns(sql, 'j')} from agent_job j where j.kind = 'task'
      ${status ? sql`and j.status = ${status}` : sql``}
      ${after ? sql`and j.id < ${after}` : sql``} order by j.id desc limit ${limit + 1}`

const MOST_SHOWN = 50

/** The jobs of a conversation that are not over, in order. */
export const openJobsOf = (conversationId: string) =>
  many<Job>(
    table.times,
    (
      sql,
    ) => sql`select ${table.columns(sql, 'j')} from agent_job j where j.conversation_id = ${conversationId}
      and j.ended_at is null
      order by j.id limit ${MOST_SHOWN}`,
  )

/** Whether the cost of any job of this month is estimated. */
export const costEstimated = sure(
  one<{ any: boolean }>(
    {},
    (sql) => sql`select exists (select from agent_job where cost_estimated and ended_at is null)
      or exists (select from agent_job where (cost_estimated or reserved_tokens > 0)
        and ended_at >= date_trunc('month', clock_timestamp(), 'UTC')) as any`,
  ),
)

/** The job and all its descendants, the job first. */
export const jobTree = (jobId: string) =>
  many<Job>(
    table.times,
    (sql) =>
      sql`${tree(sql, jobId)} select ${table.columns(sql, 'j')} from tree t join agent_job j on j.id = t.id
        order by j.depth, j.id limit ${MOST_SHOWN}`,
  )

export const childrenOf = (jobId: string) =>
  many<Job>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 'j')} from agent_job j where j.parent_id = ${jobId} order by j.id
        limit ${MOST_SHOWN}`,
  )

/** What a job of a conversation waits for, and what waits for it. */
export interface Order {
  /** The rows of work of jobs that may begin once this one is out of the way. */
  next: string[]
  is_busy: boolean
}

/** The row of work of the first queued job of a conversation, other than this job. */
const firstQueued = (
  sql: Sql,
  { id, conversation_id }: Pick<Job, 'id' | 'conversation_id'>,
  isTyped: boolean,
): Fragment =>
  sql`(select w.id from agent_job j join work w on w.kind = 'agent' and w.ref_id = j.id
    where j.conversation_id = ${conversation_id} and j.status = 'queued' and j.ended_at is null
      and j.held_since is null and j.id <> ${id} and w.state = 'queued'
      and j.typed = ${isTyped} order by j.id limit 1)`

/**
 * Whether it is known what the typed command `j` calls. Its calls then go before those of later
 * commands.
 */
const hasCalled = (sql: Sql): Fragment =>
  sql`exists (select from agent_step s where s.job_id = j.id and s.kind = 'tool')`

/**
 * A job waits for earlier jobs in its conversation that are queued or running, but not for held
 * ones. A typed command waits only for other typed commands, and only until these have been read.
 * `ended_at is null` repeats what the status says, so that the index of open jobs serves: without
 * statistics, Postgres may read all jobs of the workspace instead.
 */
export const orderPart = (job: Pick<Job, 'id' | 'conversation_id' | 'typed'>) =>
  sure(
    one<Order>(
      {},
      (sql) => sql`select array_remove(array[${firstQueued(sql, job, false)},
        ${job.typed ? firstQueued(sql, job, true) : sql`null`}]::uuid[], null) as next,
        exists (select from agent_job j where j.conversation_id = ${job.conversation_id}
          and j.id < ${job.id} and j.ended_at is null
          and j.status in ('queued', 'running') and j.held_since is null ${
            job.typed
              ? sql`and
            j.typed and not ${hasCalled(sql)}`
              : sql``
          }) as is_busy`,
    ),
  )

/** How many held jobs one claim releases. The others find out by themselves. */
const MOST_RELEASED = 100

/** Rows of work of jobs that wait for billing, other than this one. */
export const heldWork = (jobId: string) =>
  many<{ work: string }>(
    {},
    (sql) => sql`select w.id as work from agent_job j join work w on w.kind = 'agent'
      and w.ref_id = j.id and w.state = 'queued'
      where j.ended_at is null and j.held_since is not null and j.id <> ${jobId} order by j.id
        limit ${MOST_RELEASED}`,
  )

/**
 * Facts about the tree of a root: its goal, how many jobs are below the root, and how many calls of
 * the model all of them have made.
 */
export const treeFacts = (rootId: string) =>
  sure(
    one<{ goal: string; children: number; model_calls: number }>(
      {},
      (sql) => sql`select coalesce((select goal from agent_job where id = ${rootId}), '') as goal,
        (count(*) filter (where parent_id is not null))::int as children,
          coalesce(sum(model_calls), 0)::int as model_calls
        from (select parent_id, model_calls from agent_job where id = ${rootId}
          union all select parent_id, model_calls from agent_job
            where root_id = ${rootId} and parent_id is not null) tree`,
    ),
  )

export const insertJob = (job: Job): Query => table.insert(job)

export const saveJob = (job: Job): Query => table.save(job)

/** Ends a job whose end cannot be decided in the usual way. */
export const failJob =
  (id: string, now: Date): Query =>
  (sql) =>
    sql`update agent_job set status = 'failed', error = 'enqueue_failed', ended_at = ${now},
      updated_at = ${now} where id = ${id} and ended_at is null`

/** How many jobs that began before that time are not over. */
export const countOldJobs = async (sql: Sql, before: Date): Promise<number> => {
  const [row] = await sql<{ count: number }>`select count(*)::int as count from agent_job
    where ended_at is null and created_at < ${before}`
  return row!.count
}

/** Adds a source to the taint of all jobs that began before that time and are not over. */
export const taintOldJobs = async (sql: Sql, before: Date, source: string): Promise<void> => {
  await sql`update agent_job set taint = taint || ${sql.json([source])}::jsonb
    where ended_at is null and created_at < ${before} and not taint ? ${source}`
}
