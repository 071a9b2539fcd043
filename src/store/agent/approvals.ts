import { approvalRecord } from '#contract/records/agent/approval'
import { jobRecord } from '#contract/records/agent/job'
import { stepRecord } from '#contract/records/agent/step'
import type { Reader } from '#domain/agent/conversation'
import type { Approval, OpenApproval } from '#domain/agent/job/approval'
import type { OnBehalf } from '#domain/agent/job/job'
import { approvalLimits, type OpenApprovals } from '#domain/agent/job/limits'
import type { HeldCall } from '#domain/agent/job/overtaking'
import { authorName } from '../app/names.ts'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, mapPart, one, type Part, reviveTimes, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'
import { writing } from '../engine/sql.ts'
import { type Asker, isAskedBy } from './askers.ts'
import { tree } from './jobs.ts'
import { isMadeGone, isMadeShown } from './visibility.ts'

const table = tableOf(approvalRecord)
const jobs = tableOf(jobRecord)
const steps = tableOf(stepRecord)

/** What became of it, and the name of who decided. */
const shownBeside = (sql: Sql): Fragment =>
  sql`(select jsonb_build_object('state', s.state, 'error', s.error) from agent_step s
      where a.status = 'approved' and s.id = a.step_id) as step,
    ${authorName(sql, sql`a.decider`)} as decider_name`

export const approvalPart = (id: string) =>
  one<Approval>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 'a')} from agent_approval a where a.id = ${id}`,
  )

/**
 * `job_taint`: null once the job is past its retention. `is_hidden`: the reader does not see its
 * conversation.
 */
export type ApprovalRow = Approval & { job_taint: string[] | null; is_hidden: boolean }

/** Who asks for approvals, and for which tools they can decide about calls. */
export interface ApprovalReader extends Reader {
  tools: readonly string[]
  /** True: they can decide about calls of all tools but these. */
  allBut: boolean
}

const taint = (sql: Sql): Fragment =>
  sql`(select j.taint from agent_job j where j.id = a.job_id) as job_taint`

const isHidden = (sql: Sql, as: Reader): Fragment =>
  sql`not ${isMadeShown(sql, sql`a.conversation_id`, as)}`

/**
 * An approval of a private conversation is also shown to those who may decide about it. One of a
 * deleted conversation is shown to nobody.
 */
export const isListed = (sql: Sql, as: ApprovalReader): Fragment =>
  sql`((a.tool_name = any(${[...as.tools]}::text[])) <> ${as.allBut}::boolean
    or ${isMadeShown(sql, sql`a.conversation_id`, as)}) and not ${isMadeGone(sql, sql`a.conversation_id`)}`

/** Includes the record that the call made or changed, once it has run. */
export const shownApproval = (id: string, as: ApprovalReader) =>
  one<ApprovalRow & { record_id: string | null }>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 'a')}, ${shownBeside(sql)}, ${taint(sql)},
        ${isHidden(sql, as)} as is_hidden,
        (select s.result->>'ref' from agent_step s where s.id = a.step_id) as record_id
      from agent_approval a where a.id = ${id} and ${isListed(sql, as)}`,
  )

export const approvalOfStep = (stepId: string) =>
  one<Approval>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 'a')} from agent_approval a where a.step_id = ${stepId}`,
  )

/** The first approval that a job has asked for. */
export const approvalOfJob = (jobId: string) =>
  one<Approval>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 'a')} from agent_approval a where a.job_id = ${jobId} order by a.id
        limit 1`,
  )

export const approvalsOf = (jobId: string) =>
  many<Approval>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 'a')}, ${shownBeside(sql)} from agent_approval a
        where a.job_id = ${jobId} order by a.id limit 200`,
  )

/** The approvals of a job and its descendants. */
export const approvalsOfTree = (jobId: string) =>
  many<Approval>(
    table.times,
    (sql) =>
      sql`${tree(sql, jobId)} select ${table.columns(sql, 'a')} from tree t
        join agent_approval a on a.job_id = t.id order by a.id limit 500`,
  )

type ApprovalsPage = Page & { status?: Approval['status'] | undefined; as: ApprovalReader }

export const listApprovals =
  ({ limit, after, status, as }: ApprovalsPage): Query<ApprovalRow> =>
  (sql) =>
    sql`select ${table.columns(sql, 'a')}, ${shownBeside(sql)}, ${taint(sql)},
        ${isHidden(sql, as)} as is_hidden from agent_approval a
      where ${isListed(sql, as)} ${status ? sql`and a.status = ${status}` : sql``} ${
        after
          ? sql`and
        a.id < ${after}`
          : sql``
      }
      order by a.id desc limit ${limit + 1}`

export const approvalsPage = (page: ApprovalsPage) =>
  many<ApprovalRow>(table.times, listApprovals(page))

/** A row as JSON. */
const asJson = (sql: Sql, columns: Fragment): Fragment =>
  sql`(select row_to_json(whole) from (select ${columns}) whole)`

/** The calls about a record that wait for a person, with their jobs and steps. */
export const waitingCallsAbout = (recordId: string): Part<HeldCall[]> =>
  waitingCalls((sql) => sql`a.subject_id = ${recordId}`)

/** The same of a tool whose calls are about no record. */
export const waitingCallsOf = (tool: string): Part<HeldCall[]> =>
  waitingCalls((sql) => sql`a.tool_name = ${tool} and a.subject_id is null`)

const waitingCalls = (which: (sql: Sql) => Fragment): Part<HeldCall[]> =>
  mapPart(
    many<HeldCall>(
      {},
      (sql) => sql`select ${asJson(sql, table.columns(sql, 'a'))} as approval,
          ${asJson(sql, jobs.columns(sql, 'j'))} as job,
          ${asJson(sql, steps.columns(sql, 's'))} as step
        from agent_approval a join agent_job j on j.id = a.job_id
          join agent_step s on s.id = a.step_id
        where ${which(sql)} and a.status = 'pending' order by a.id
          limit ${approvalLimits.all}`,
    ),
    (calls) =>
      calls.map(({ approval, job, step }) => ({
        approval: reviveTimes(approval, Object.keys(table.times)),
        job: reviveTimes(job, Object.keys(jobs.times)),
        step: reviveTimes(step, Object.keys(steps.times)),
      })),
  )

/**
 * What a conversation's jobs ask of people. `is_tainted`: the job has read untrusted text, or
 * somebody other than `by` asked for it.
 */
export const openApprovalsOf = (conversationId: string, by: OnBehalf) =>
  many<OpenApproval & { is_tainted: boolean }>(
    { expires_at: true },
    (sql) => sql`select a.tool_name, a.arguments_hash, a.subject, a.summary, a.expires_at,
        j.taint <> '[]' or not coalesce(j.on_behalf->>'personId' = ${by.personId},
          j.on_behalf->>'id' = ${by.id}) as is_tainted
      from agent_approval a join agent_job j on j.id = a.job_id
      where a.status = 'pending' and j.conversation_id = ${conversationId} order by a.id
        limit ${approvalLimits.all}`,
  )

/** What a job asks of people but has not yet announced in the channel that it came from. */
export const pendingUntold = (jobId: string) =>
  many<Pick<Approval, 'id' | 'summary' | 'tool_name'>>(
    {},
    (sql) => sql`select id, summary, tool_name from agent_approval where job_id = ${jobId}
      and status = 'pending' and told_at is null
      order by id limit ${approvalLimits.ofJob}`,
  )

export const saveTold =
  (approvals: readonly Pick<Approval, 'id'>[], now: Date): Query =>
  (sql) =>
    sql`update agent_approval set told_at = ${now} where id = any(${approvals.map(({ id }) => id)})`

/**
 * The approval that waits for a person after a direct call by the same caller with the same
 * arguments.
 */
export const pendingDirect = (by: string, tool: string, argumentsHash: string) =>
  one<Approval>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 'a')} from agent_approval a where a.status = 'pending'
      and a.direct_by = ${by}
      and a.tool_name = ${tool} and a.arguments_hash = ${argumentsHash}`,
  )

/**
 * How many approvals wait for a person: in the workspace, for the job if one is given, and for all
 * jobs of the same asker.
 */
export const openApprovalCount = (jobId: string | null, asker: Asker) =>
  sure(
    one<OpenApprovals>(
      {},
      (
        sql,
      ) => sql`select count(*)::int as all, (count(*) filter (where a.job_id = ${jobId}))::int as
        ours,
          (count(*) filter (where ${isAskedBy(sql, asker)}))::int as theirs
        from agent_approval a left join agent_job j on j.id = a.job_id where a.status = 'pending'`,
    ),
  )

export const insertApprovals = table.insertAll

export const saveApproval = table.save

/** Rejects every approval that a job still waits for. */
export const rejectPending = (jobId: string, decided_how: 'expiry' | 'cancel', now: Date): Query =>
  writing(
    { table: 'agent_approval', rows: [{ job_id: jobId }] },
    (sql) =>
      sql`update agent_approval set status = 'rejected', decided_how = ${decided_how},
        decided_at = ${now}, updated_at = ${now}
        where job_id = ${jobId} and status = 'pending'`,
  )
