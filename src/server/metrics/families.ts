/** Every metric: its name, what it means, and where its value stands. */
import type { Queued } from '#actors/engine/mailbox'
import type { Readiness } from '#edge/ready'
import type { Spread } from '#kernel/tally'
import type { DeploymentCounts } from '#store/app/deployment-counts'
import type { PoolUse } from '#store/engine/db'
import type { BackupState } from '../watching.ts'
import { type Family, histogram, type Sample } from './exposition.ts'
import type { Meters } from './meters.ts'
import { byEnding, counter, gauge, occurred, sample, spread } from './samples.ts'
import { ofTraces } from './trace-families.ts'

/** What is read at each page. What did not answer in time is undefined, and has no samples. */
export interface MetricsReading {
  meters: Meters
  queued: Queued
  /** Monotonic time. */
  now: number
  awake: number
  pools: PoolUse[]
  streams: number
  mcpSessions: number
  loopDelay: Spread
  readiness: Readiness
  counts: DeploymentCounts | undefined
  disk: { free: number; size: number } | undefined
  backup: BackupState | undefined
  process: { rss: number; heap: number; cpuSeconds: number; startedAt: number }
  build: { version: string; commit: string }
}

const MS = 1_000

const ofLetters = ({ meters, queued, now, awake }: MetricsReading): Family[] => {
  const { control, interactive, background, oldest } = queued
  const waiting = Object.entries({ control, interactive, background })
  return [
    counter(
      'letters_total',
      'Letters (commands, timers, outcomes) by kind and by how they ended.',
      occurred(byEnding(meters.letters, 'letter', 'outcome')),
    ),
    spread(
      'letter_seconds',
      'From the posting of a letter to its commit or refusal.',
      histogram(meters.letterSeconds),
    ),
    gauge(
      'mailbox_letters',
      'Letters that wait in the mailboxes of this server.',
      waiting.map(([priority, value]) => ({ labels: { priority }, value })),
    ),
    gauge(
      'mailbox_oldest_seconds',
      'How long the oldest of them has waited.',
      sample(Math.max(0, now - Math.min(now, oldest)) / MS),
    ),
    gauge('workspaces_awake', 'Workspaces that this server has in memory.', sample(awake)),
  ]
}

const ofWork = ({ meters: { work } }: MetricsReading): Family[] => {
  const rows = [...work.entries()]
  const of = (value: (row: (typeof rows)[number][1]) => number): Sample[] =>
    rows.map(([kind, row]) => ({ labels: { kind }, value: value(row) }))
  return [
    counter(
      'work_claimed_total',
      'Rows of work that began to run here, by kind.',
      of(({ claimed }) => claimed),
    ),
    counter(
      'work_crashed_total',
      'Of these, those whose lane threw an error.',
      of(({ crashed }) => crashed),
    ),
    gauge(
      'work_running',
      'Rows of work that run here now.',
      of(({ claimed, ended }) => claimed - ended),
    ),
  ]
}

const ofSending = ({ meters }: MetricsReading): Family[] => [
  counter(
    'posts_total',
    'Requests to post, by network and outcome.',
    byEnding(meters.posts, 'network', 'outcome'),
  ),
  counter(
    'engagements_total',
    'Requests to engage, by network and outcome.',
    byEnding(meters.engagements, 'network', 'outcome'),
  ),
  spread(
    'post_lateness_seconds',
    'How long after its scheduled time what was posted went out.',
    histogram(meters.lateSeconds),
  ),
  counter(
    'webhook_deliveries_total',
    'Requests to webhook endpoints, by outcome.',
    byEnding(meters.deliveries, '', 'outcome'),
  ),
  counter(
    'channel_replies_total',
    'Messages sent to channels, by outcome.',
    byEnding(meters.replies, 'channel', 'outcome'),
  ),
]

const ofModels = ({ meters: { calls, tokens } }: MetricsReading): Family[] => {
  const used = [...tokens.entries()]
  return [
    counter('model_calls_total', 'Calls of models.', byEnding(calls, 'model', 'outcome')),
    counter(
      'model_tokens_total',
      'Tokens of models. The cached ones are a part of the input.',
      used.flatMap(([model, row]) =>
        (['input', 'cached', 'output'] as const).map((kind) => ({
          labels: { model, kind },
          value: row[kind],
        })),
      ),
    ),
    counter(
      'model_microdollars_total',
      'What calls of models cost by their list prices, in millionths of a dollar.',
      used.map(([model, { micros }]) => ({ labels: { model }, value: micros })),
    ),
  ]
}

const ofServing = ({
  meters,
  streams,
  mcpSessions,
  readiness,
  build,
}: MetricsReading): Family[] => [
  counter(
    'http_answers_total',
    'Answers to requests, by class of status, without those to /health and /ready.',
    byEnding(meters.answers, '', 'status'),
  ),
  gauge('streams', 'Open streams of events.', sample(streams)),
  gauge('mcp_sessions', 'Open sessions of MCP.', sample(mcpSessions)),
  gauge('ready', '1 if /ready answers 200, otherwise 0.', sample(readiness.reason ? 0 : 1)),
  gauge('held', '1 while the deployment is held.', sample(readiness.held ? 1 : 0)),
  gauge('info', 'The version and commit of this server.', [{ labels: build, value: 1 }]),
]

const ofPools = ({ pools }: MetricsReading): Family[] => {
  const of = (value: (use: PoolUse) => number): Sample[] =>
    pools.map((use) => ({ labels: { pool: use.name }, value: value(use) }))
  return [
    gauge(
      'pool_size',
      'Turns at the database that there are at once.',
      of(({ size }) => size),
    ),
    gauge(
      'pool_used',
      'Turns that are taken.',
      of(({ used }) => used),
    ),
    gauge(
      'pool_waiting',
      'Those who wait for a turn.',
      of(({ waiting }) => waiting),
    ),
    counter(
      'pool_statements_total',
      'Messages with statements that were sent.',
      of(({ sent }) => sent),
    ),
  ]
}

const ofSends = ({ counts }: MetricsReading): Family[] => [
  gauge(
    'counts_answered',
    '1 if the database has told what the next twelve metrics say.',
    sample(counts ? 1 : 0),
  ),
  gauge('doubts', 'Sends that may or may not have reached the network.', sample(counts?.doubts)),
  gauge(
    'doubts_for_person',
    'Those of them that only a person can settle.',
    sample(counts?.reviews),
  ),
  gauge(
    'doubt_oldest_seconds',
    'Age of the oldest of them; 0 if there is none.',
    counts ? sample(counts.oldest_doubt ?? 0) : [],
  ),
  gauge(
    'overdue_posts',
    'Sends over ten seconds late in workspaces that are not paused, unless held; at most 10000.',
    sample(counts?.late),
  ),
  gauge(
    'overdue_oldest_seconds',
    'How late the latest of them is; 0 if there is none.',
    counts ? sample(counts.latest ?? 0) : [],
  ),
]

const ofDeployment = ({ counts }: MetricsReading): Family[] => [
  gauge(
    'connections_for_person',
    'Accounts of workspaces without a connected one, and channels that fail.',
    counts
      ? [
          { labels: { kind: 'account' }, value: counts.accounts_lost },
          { labels: { kind: 'channel' }, value: counts.channels_failing },
        ]
      : [],
  ),
  gauge('work_failing', 'Rows of work that fail and are tried again.', sample(counts?.failing)),
  gauge(
    'paused_everywhere',
    '1 while the operator has paused every workspace.',
    counts ? sample(counts.paused_everywhere ? 1 : 0) : [],
  ),
  gauge('nodes', 'Living servers of the deployment.', sample(counts?.nodes)),
  gauge('sessions', 'Sessions of people who are signed in.', sample(counts?.sessions)),
]

const ofReads = ({ counts }: MetricsReading): Family[] => [
  gauge(
    'reads_left',
    "Left of today's budgets, of workspaces that have read: reads, or millionths of a dollar.",
    (counts?.reads ?? []).map(({ tier, left }) => ({ labels: { tier }, value: left })),
  ),
  gauge(
    'reads_spent_workspaces',
    'Workspaces that have nothing left of it.',
    (counts?.reads ?? []).map(({ tier, spent }) => ({ labels: { tier }, value: spent })),
  ),
]

const ofBackups = ({ backup }: MetricsReading): Family[] => [
  gauge(
    'backup_age_seconds',
    'Age of the last good backup, if this server makes them.',
    sample(backup && backup.ageMs / MS),
  ),
  gauge(
    'backup_interval_seconds',
    'How often there should be one.',
    sample(backup && backup.everyMs / MS),
  ),
  gauge(
    'backup_failed',
    '1 if the last one failed or was given up.',
    sample(backup && (backup.lastError === undefined ? 0 : 1)),
  ),
  gauge(
    'backup_held_bytes',
    'Write-ahead log that a backup which is being made keeps from removal.',
    sample(backup?.heldBytes),
  ),
]

const ofProcess = ({ loopDelay, disk, process }: MetricsReading): Family[] => {
  const { rss, heap, cpuSeconds, startedAt } = process
  return [
    spread(
      'event_loop_delay_seconds',
      'How late a timer comes that fires ten times a second.',
      histogram(loopDelay),
    ),
    gauge('resident_memory_bytes', 'Memory of the process.', sample(rss)),
    gauge('heap_bytes', 'Memory that its objects take.', sample(heap)),
    counter('cpu_seconds_total', 'Processor time of the process.', sample(cpuSeconds)),
    gauge('start_time_seconds', 'When it started, since 1970.', sample(startedAt)),
    gauge('disk_free_bytes', 'Free space for this user in TENDRIL_HOME.', sample(disk?.free)),
    gauge('disk_size_bytes', 'Size of that file system.', sample(disk?.size)),
  ]
}

export const familiesOf = (reading: MetricsReading): Family[] =>
  [
    ofServing,
    ofLetters,
    ofWork,
    ofSending,
    ofModels,
    ofPools,
    ofSends,
    ofDeployment,
    ofReads,
    ofBackups,
    ofTraces,
    ofProcess,
  ].flatMap((of) => of(reading))
