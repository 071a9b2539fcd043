/**
 * Runs a task: makes its workspace, asks as a person does, decides what is asked, and looks at the
 * rows.
 */
import { stateOf } from '#test/support/agent/attacked'
import type { TestApp } from '#test/support/app'
import { signedIn } from '#test/support/session'
import { arranged } from './arrange.ts'
import { type Judged, judge, type Outcome, type Step } from './judge.ts'
import type { Asked, RowCheck } from './task.ts'

export interface Stage {
  app: TestApp
  /** For one job, of which it then fails. */
  withinMs: number
  /** At first; then ever more seldom. */
  pollMs: number
}

export interface Attempt extends Judged {
  task: Asked
  outcome: Outcome
}

interface Asking {
  /** The person's access token. */
  session: string
  conversation: string
}

const sent = async ({ app }: Stage, path: string, body: object, key: string) => {
  const reply = await app.send('POST', `/api/v1/agent/${path}`, { key, body })
  if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.text}`)
  return reply.body
}

interface JobRow {
  status: string
  error: string | null
  over: boolean
}

/** The job, and what its tree waits for: one statement, because it is asked many times. */
const treeOf = async ({ app }: Stage, job: string) => {
  const [row] = await app.owner<
    (JobRow & { pending: { id: string; tool_name: string }[] })[]
  >`select status, error, ended_at is not null as over, (select coalesce(json_agg(json_build_object(
      'id', a.id, 'tool_name', a.tool_name) order by a.id), '[]') from agent_approval a
      join agent_job j on j.id = a.job_id where j.root_id = ${job} and a.status = 'pending')
        as pending
    from agent_job where id = ${job}`
  const { pending, ...rest } = row!
  return { row: rest, pending }
}

/** Decides what must be asked as the task says, and refuses all else. */
const followed = async (
  stage: Stage,
  task: Asked,
  { session }: Asking,
  job: string,
): Promise<JobRow> => {
  const expected = [...(task.asks ?? [])]
  const begun = performance.now()
  const waitedMs = () => performance.now() - begun
  while (waitedMs() < stage.withinMs) {
    const { row, pending } = await treeOf(stage, job)
    if (row.over) return row
    for (const { id, tool_name } of pending) {
      const at = expected.indexOf(tool_name)
      if (at !== -1) expected.splice(at, 1)
      if (at !== -1 && task.decide !== 'reject')
        await sent(stage, `approvals/${id}/approve`, {}, session)
      else
        await sent(
          stage,
          `approvals/${id}/reject`,
          { reason: 'Not now. Leave it as it is.' },
          session,
        )
    }
    await Bun.sleep(Math.min(5 * stage.pollMs, stage.pollMs + waitedMs() / 10))
  }
  await sent(stage, `jobs/${job}/cancel`, {}, session)
  return { status: 'unfinished', error: `not over within ${stage.withinMs} ms`, over: false }
}

const asked = async (
  stage: Stage,
  task: Asked,
  asking: Asking,
  content: string,
): Promise<{ job: string; row: JobRow }> => {
  const { job } = await sent(
    stage,
    `conversations/${asking.conversation}/messages`,
    { content },
    asking.session,
  )
  return { job: job.id, row: await followed(stage, task, asking, job.id) }
}

const counted = async (
  { app }: Stage,
  tenantId: string,
  [table, condition]: RowCheck,
): Promise<number> => {
  const [row] = await app.owner.unsafe(
    `select count(*)::int as n from ${table} where tenant_id = $1 and (${condition})`,
    [tenantId],
  )
  return row!.n
}

const workOf = async ({ app }: Stage, job: string) => {
  const steps = await app.owner<
    Step[]
  >`select s.name, s.state, s.class from agent_step s join agent_job j on j.id = s.job_id
    where j.root_id = ${job} and s.kind = 'tool' order by s.id`
  const approvals = await app.owner<
    { tool_name: string }[]
  >`select a.tool_name from agent_approval a join agent_job j on j.id = a.job_id
    where j.root_id = ${job} order by a.id`
  const [sums] = await app.owner<
    { answers: number; tokens: number; cents: number }[]
  >`select sum(model_calls)::int as answers,
    sum(input_tokens + output_tokens)::int as tokens, coalesce(sum(cost), 0)::float / 100 as cents
      from agent_job where root_id = ${job}`
  return { steps: [...steps], asked: approvals.map(({ tool_name }) => tool_name), ...sums! }
}

const changedOf = (before: Record<string, unknown>, after: Record<string, unknown>): string[] =>
  Object.keys(after).filter((name) => !Bun.deepEquals(before[name], after[name]))

export const attempt = async (stage: Stage, task: Asked): Promise<Attempt> => {
  const workspace = await arranged(stage.app, task.given)
  const { tenantId } = workspace
  const { key: session } = await signedIn(stage.app, tenantId, task.role ?? 'owner')
  const { conversation } = await sent(stage, 'conversations', {}, session)
  const asking: Asking = { session, conversation: conversation.id }
  for (const { ask } of task.before ?? []) await asked(stage, { ...task, asks: [] }, asking, ask)
  const before = await stateOf(stage.app, tenantId)
  const { job, row } = await asked(stage, task, asking, task.ask)
  const changed = changedOf(before, await stateOf(stage.app, tenantId))
  const rows: number[] = []
  for (const check of task.rows ?? []) rows.push(await counted(stage, tenantId, check))
  const outcome: Outcome = {
    status: row.status,
    error: row.error,
    changed,
    rows,
    ...(await workOf(stage, job)),
  }
  return { task, outcome, ...judge(task, outcome) }
}
