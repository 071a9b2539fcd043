/**
 * The few statements that a job's letters write, over the tables in memory, in place of the modules
 * in store/: a reading of the SQL, not the SQL.
 */
import type { Message } from '#domain/agent/conversation'
import type { Approval } from '#domain/agent/job/approval'
import type { ConversationThread } from '#domain/agent/job/change'
import type { MessageSpan } from '#domain/agent/job/compaction'
import type { Job } from '#domain/agent/job/job'
import { isFinished, type Step } from '#domain/agent/job/step'
import type { AgentEvent } from '#store/agent/events'
import type { Effects } from '#store/engine/letter'
import { replace } from '../replace.ts'
import { hold, spend, stepsOf, type World } from './world.ts'

interface Change {
  row: string
  happen(): void
}

/** All of a letter's writes are one statement: each sees the tables as they were before it. */
type Write = (world: World) => Change[]

const nothing: Write = () => []

const saving =
  <R extends { id: string }>(table: (world: World) => Map<string, R>, rows: readonly R[]): Write =>
  (world) =>
    rows.map((row) => ({ row: row.id, happen: () => void table(world).set(row.id, row) }))

const jobs = (world: World) => world.jobs
const steps = (world: World) => world.steps
const approvals = (world: World) => world.approvals

const cancelSteps =
  (jobId: string, except: readonly string[], ended_at: Date): Write =>
  (world) => {
    const open = stepsOf(world, jobId).filter((one) => !isFinished(one) && !except.includes(one.id))
    const isOut = ({ state, class: of }: Step) => state === 'running' && of === 'outside_write'
    return saving(
      steps,
      open.map((one) => ({ ...one, state: isOut(one) ? 'unknown' : 'cancelled', ended_at })),
    )(world)
  }

const rejectPending =
  (jobId: string, decided_how: 'expiry' | 'cancel', now: Date): Write =>
  (world) => {
    const pending = [...world.approvals.values()].filter(
      (one) => one.job_id === jobId && one.status === 'pending',
    )
    return saving(
      approvals,
      pending.map((one) => ({ ...one, status: 'rejected', decided_how, decided_at: now })),
    )(world)
  }

const tellOf = (world: World, { job_id, seq }: AgentEvent): Change => ({
  row: `${job_id} ${seq}`,
  happen() {
    hold(world, seq === (world.told.get(job_id) ?? 0) + 1, `event ${seq} of a job is out of order`)
    world.told.set(job_id, seq)
  },
})

const summarise =
  ({ conversationId, from, to }: MessageSpan): Write =>
  (world) => [
    {
      row: conversationId,
      happen() {
        const before = world.summarised.get(conversationId) ?? 0
        hold(world, before === from, 'a summary of messages that are summarised already')
        world.summarised.set(conversationId, to)
      },
    },
  ]

const fakes = {
  jobs: {
    insertJob: (job: Job) => saving(jobs, [job]),
    saveJob: (job: Job) => saving(jobs, [job]),
  },
  steps: {
    insertSteps: (all: readonly Step[]) => saving(steps, all),
    saveStep: (step: Step) => saving(steps, [step]),
    cancelSteps,
  },
  approvals: {
    insertApprovals: (all: readonly Approval[]) => saving(approvals, all),
    saveApproval: (one: Approval) => saving(approvals, [one]),
    rejectPending,
  },
  events: {
    eventEffects: (events: readonly AgentEvent[]) => ({
      writes: [(world: World) => events.map((one) => tellOf(world, one))],
    }),
  },
  messages: {
    insertMessages: (all: readonly Message[]) => saving(({ messages }) => messages, all),
  },
  thread: {
    saveThread: (thread: ConversationThread) => saving(({ threads }) => threads, [thread]),
  },
  summaries: { saveSummary: summarise },
  memories: { useMemories: () => nothing },
  'mcp-servers': { useMcpServer: () => nothing },
}

/** Puts the memory in the place of the store for everything that is imported after this. */
export const installRows = async (): Promise<void> => {
  for (const [name, fake] of Object.entries(fakes)) await replace(`#store/agent/${name}`, fake)
}

/** A row of work has the id of its job. */
export const commit = (world: World, effects: Effects): void => {
  const { writes = [], requeued = [], settled = [], work = [], events = [], audit } = effects
  const changes = writes.flatMap((make) => (make as unknown as Write)(world))
  const rows = changes.map(({ row }) => row)
  for (const row of rows.filter((one, index) => rows.indexOf(one) !== index))
    hold(world, false, `one statement changes ${row} twice`)
  for (const { happen } of changes) happen()
  spend(world, effects.spend ?? [])
  for (const { id, runAt } of requeued) if (world.work.has(id)) world.work.set(id, runAt)
  for (const { refId, runAt } of work) {
    const before = world.work.get(refId)
    world.work.set(refId, before && before < runAt ? before : runAt)
  }
  for (const id of settled) world.work.delete(id)
  for (const { type, subject } of events)
    if (type === 'agent.job.settled') world.ended.push(subject!)
  if (audit) world.audited.push(`${audit.detail?.job} ${audit.detail?.step}`)
}
