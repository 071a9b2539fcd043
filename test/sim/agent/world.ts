/** A workspace in memory: what its tables hold, and what has happened in it. */
import type { Message } from '#domain/agent/conversation'
import type { Approval, Subject } from '#domain/agent/job/approval'
import type { ConversationThread } from '#domain/agent/job/change'
import type { Job } from '#domain/agent/job/job'
import type { Step } from '#domain/agent/job/step'
import type { RuleDecision } from '#domain/agent/job/verdict'
import type { PlanUsage } from '#domain/app/plan'
import type { Role } from '#kernel/roles'
import type { Spend } from '#kernel/spend'
import { numbers } from '#test/faults/numbers'

interface Dice {
  next(): number
  below(most: number): number
  of<T>(all: readonly T[]): T
}

const diceOf = (seed: number): Dice => {
  const next = numbers(seed)
  const below = (most: number) => Math.floor(next() * most)
  return { next, below, of: (all) => all[below(all.length)]! }
}

interface Begun {
  job: string
  steps: string[]
  role: Role
}

/** What runs beside the mailbox. Its outcome arrives later, or never. */
export type Run =
  | ({ kind: 'think'; offered: string[]; last: boolean } & Begun)
  | ({ kind: 'summary' | 'tools' } & Begun)

export type Thinking = Extract<Run, { kind: 'think' }>

/** What a job must have counted, kept only by the simulation. */
const noBook = {
  model_calls: 0,
  tool_calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost: 0,
  reserved_tokens: 0,
  reserved_cost: 0,
  invalid_answers: 0,
  active_ms: 0,
}
type Book = typeof noBook

export interface World extends Dice {
  now: Date
  usage: PlanUsage
  jobs: Map<string, Job>
  steps: Map<string, Step>
  approvals: Map<string, Approval>
  /** Due time of each job's row of work. */
  work: Map<string, Date>
  /** By conversation, with the names of its records. */
  threads: Map<string, ConversationThread>
  messages: Map<string, Message>
  /** Up to which message a conversation is summarised. */
  summarised: Map<string, number>
  books: Map<string, Book>
  /** The last event of each job. */
  told: Map<string, number>
  /** The steps of calls of an external server that are in the audit. */
  audited: string[]
  /** By person; people who have left are missing. */
  people: Map<string, Role>
  rules: Map<string, RuleDecision>
  /** Versions of the workspace's records. */
  records: Map<string, number>
  /** When a record that a tool made will be settled. */
  ready: Map<string, Date>
  runs: Run[]
  /** By step: the facts at the time of its verdict. */
  judged: Map<
    string,
    {
      taint: number
      offered: boolean
      role: Role
      isRepeat: boolean
      rule: RuleDecision | undefined
    }
  >
  /** Steps whose tool has done its work. */
  uses: string[]
  /** Steps whose outcome came after the end of their job. */
  late: Set<string>
  ended: string[]
  counters: Record<string, number>
  /** Kept only by the simulation, to compare the counters with. */
  ledger: Record<string, number>
  counts: Map<string, number>
  broken: string[]
  ids: number
}

const START = new Date('2026-11-29T22:00:00Z')

export const CONVERSATIONS = ['c1', 'c2', 'c3']

/** Small enough to be used up in some histories. */
export const LIMITS = {
  agent_tokens_day: 50_000,
  agent_tokens_month: 70_000,
  agent_cost_month: 190,
  agent_calls_hour: -1,
  agent_max_steps: 6,
}

export const newWorld = (seed: number, counts: Map<string, number>): World => {
  const counters: Record<string, number> = {}
  const world: World = {
    ...diceOf(seed),
    now: START,
    jobs: new Map(),
    steps: new Map(),
    approvals: new Map(),
    work: new Map(),
    threads: new Map(CONVERSATIONS.map((id) => [id, { id, next_seq: 1, handles: {} }])),
    messages: new Map(),
    summarised: new Map(),
    books: new Map(),
    told: new Map(),
    audited: [],
    rules: new Map(),
    records: new Map(),
    ready: new Map(),
    runs: [],
    judged: new Map(),
    uses: [],
    late: new Set(),
    ended: [],
    counters,
    ledger: {},
    counts,
    broken: [],
    ids: 0,
    people: new Map([
      ['ann', 'owner'],
      ['bob', 'editor'],
      ['cem', 'approver'],
      ['dee', 'viewer'],
    ]),
    usage: { plan: { plan: 'team', billing: 'ok', overrides: LIMITS }, counters, now: START },
  }
  if (world.next() < 0.5) world.rules.set('sms', 'allow')
  for (let made = 0; made < 6; made++) world.records.set(newId(world), 1)
  return world
}

/** Uuids in order, the same for each seed. */
export const newId = (world: Pick<World, 'ids'>): string => {
  world.ids++
  return `00000000-0000-4000-8000-${world.ids.toString(16).padStart(12, '0')}`
}

/** The conversation whose names of records a job uses. */
export const threadOf = (world: World, { root_id }: Job): ConversationThread =>
  world.threads.get(world.jobs.get(root_id)!.conversation_id!)!

export const bookOf = ({ books }: World, job: string): Book => {
  const book = books.get(job) ?? { ...noBook }
  books.set(job, book)
  return book
}

/** Notes what a job must count. */
export const note = (world: World, job: string, counted: Partial<Book>): void => {
  const book = bookOf(world, job)
  for (const [key, amount] of Object.entries(counted)) book[key as keyof Book] += amount
}

/** An id that no record of the workspace has. */
export const FOREIGN = '99999999-0000-4000-8000-000000000001'

export const stepsOf = (world: World, job: string): Step[] =>
  [...world.steps.values()]
    .filter(({ job_id }) => job_id === job)
    .sort((a, b) => a.number - b.number)

export const approvalOf = (world: World, step: string): Approval | undefined =>
  [...world.approvals.values()].find(({ step_id }) => step_id === step)

export const subjectOf = (world: World, args: Record<string, unknown>): Subject => {
  const id = String(args.id ?? '')
  const version = world.records.get(id)
  const records = version === undefined ? [] : [{ kind: 'record', id, sha256: `v${version}` }]
  return { records, account: null, text: null, sha256: null }
}

export const spend = ({ counters }: World, all: readonly Spend[]): void => {
  for (const { key, period, amount } of all)
    counters[`${key}@${period}`] = (counters[`${key}@${period}`] ?? 0) + amount
}

export const hold = (world: World, holds: boolean, words: string): void => {
  if (!holds) world.broken.push(words)
}

export const count = ({ counts }: World, what: string): void =>
  void counts.set(what, (counts.get(what) ?? 0) + 1)
