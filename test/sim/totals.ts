/** What happened in all histories together, as numbers and as what is printed of them. */
import { stateNames } from '#test/domain/records'
import type { Step } from './history.ts'
import type { World } from './world.ts'

export interface Totals {
  histories: number
  steps: number
  sends: number
  posts: number
  attempts: number
  /** Processor time, in milliseconds: what a history costs whatever else the machine does. */
  cpuMs: number
  /** Simulated time, in hours. */
  hours: number
  /**
   * Tells two runs of the same histories apart that did not go the same way; does not depend on
   * their order.
   */
  digest: number
  counts: Map<string, number>
}

export const emptyTotals = (): Totals => ({
  histories: 0,
  steps: 0,
  sends: 0,
  posts: 0,
  attempts: 0,
  cpuMs: 0,
  hours: 0,
  digest: 0,
  counts: new Map(),
})

const HOUR_MS = 3_600_000

const digestOf = ({ wires, memory, clock }: World): number => {
  const items = [...memory.items.values()].map(
    ({ status, external_id }) => `${status} ${external_id}`,
  )
  const sends = wires.map(({ itemId, at, answered }) => `${itemId} ${at} ${answered}`)
  return Bun.hash.crc32(
    [...items, ...sends, memory.events.length, memory.epoch, clock.monotonic()].join(),
  )
}

/** Of one history; what it counted goes into the counts of the whole at once. */
export const totalsOf = (world: World, steps: readonly Step[]): Totals => ({
  histories: 1,
  steps: steps.length,
  sends: world.wires.length,
  posts: world.posts.length,
  attempts: world.memory.attempts.size,
  cpuMs: 0,
  hours: world.clock.monotonic() / HOUR_MS,
  digest: digestOf(world),
  counts: new Map(),
})

export const add = (totals: Totals, { counts, ...more }: Totals): void => {
  for (const [name, number] of Object.entries(more)) totals[name as keyof typeof more] += number
  totals.digest %= 2 ** 32
  for (const [what, number] of counts)
    totals.counts.set(what, (totals.counts.get(what) ?? 0) + number)
}

/** What a run of many histories must have met. */
const EXPECTED = [
  ...[
    'approve',
    'reject',
    'schedule',
    'unschedule',
    'post',
    'mark posted',
    'post again',
    'pause',
    'resume',
    'disconnect',
    'edit',
  ].map((name) => `done ${name}`),
  ...['reopen', 'delete', 'restore', 'rewrite'].map((name) => `done ${name}`),
  ...['reopen', 'reject', 'delete', 'rewrite'].map((name) => `recalled by ${name}`),
  ...[
    'crash',
    'takeover',
    'hang',
    'wake',
    'stop',
    'burst',
    'connect',
    'default',
    'post by hand',
  ].map((name) => `step ${name}`),
  ...[
    'posted',
    'posted slowly',
    'refused',
    'rate limited',
    'unreachable',
    'disconnected',
    '5xx, posted',
    '5xx, posted late',
    '5xx, not posted',
  ].map((name) => `network ${name}`),
  ...[
    'dropped, posted',
    'dropped, posted late',
    'dropped, not posted',
    'duplicate refused',
    'broke no promise',
  ].map((name) => `network ${name}`),
  ...stateNames.map((name) => `item ${name}`),
  ...['open', 'doubt', 'review', 'posted', 'failed', 'unsent', 'superseded', 'returned'].map(
    (name) => `attempt ${name}`,
  ),
  ...[
    'growth.approval.requested',
    'growth.item.failed',
    'growth.item.posted',
    'growth.item.returned',
  ].map((name) => `event ${name}`),
  ...['engaged on the wire', 'done mark done', 'posted before edit'],
  ...['approve', 'reject', 'reopen', 'edit', 'delete', 'restore'].map(
    (name) => `done ${name} engagement`,
  ),
  'done execute',
  ...['reject', 'reopen', 'edit', 'delete'].map((name) => `recalled by ${name} engagement`),
  ...['executed', 'execute_failed', 'execute_unconfirmed', 'execute_unconfirmed (in review)'].map(
    (name) => `engagement ${name}`,
  ),
  ...[
    'read complete',
    'read incomplete',
    'read error',
    'read lagging',
    'read truncated',
    'commit failed',
    'commit ack lost',
  ],
  ...[
    'owner met the fence',
    'owner woke as a former one',
    'lease ended before the outcome',
    'lease too short for the send',
  ],
  ...[
    'sent by a former owner',
    'sent by a former owner after it hung',
    'sent while paused',
    'edited while in doubt',
    'returned by itself',
    'returned and sent again',
    'sent again on a word',
    'again brought the doubt back',
    'pause announced what may still go out',
  ],
]
/** So many histories that none of that may be missing. */
const ENOUGH = 20_000

const groupsOf = (counts: Map<string, number>): Map<string, string[]> => {
  const groups = new Map<string, string[]>()
  for (const [what, number] of [...counts].sort()) {
    const at = what.indexOf(' ')
    const group = what.slice(0, at)
    groups.set(group, [
      ...(groups.get(group) ?? []),
      `${what.slice(at + 1).replaceAll(' ', '_')}=${number}`,
    ])
  }
  return groups
}

const missing = ({ histories, sends, counts }: Totals): string[] => {
  if (histories >= 100 && sends === 0) return ['a send']
  return histories < ENOUGH ? [] : EXPECTED.filter((what) => !counts.has(what))
}

/**
 * The counts of everything that happened, and a line that ends in `ok`, or in what never happened.
 */
export const summary = (
  totals: Totals,
  { seed, workers, seconds }: { seed: number; workers: number; seconds: number },
) => {
  const { histories, steps, sends, posts, attempts, cpuMs, hours, digest, counts } = totals
  const mean = (number = 0): string => (number / histories).toFixed(2)
  const sum = (group: string): number =>
    [...counts].reduce(
      (all, [what, number]) => all + (what.startsWith(`${group} `) ? number : 0),
      0,
    )
  const means = {
    steps: steps,
    commands: sum('done') + sum('refused'),
    sends,
    attempts,
    posts,
    crashes: counts.get('step crash'),
    takeovers:
      sum('step take') + (counts.get('step takeover') ?? 0) + (counts.get('step hang') ?? 0),
  }
  const never = missing(totals)
  const ended = never.length > 0 ? `BROKEN: never happened: ${never.join(', ')}` : 'ok'
  const lines = [...groupsOf(counts)].map(([group, parts]) => `${group}: ${parts.join(' ')}`)
  const each = Object.entries(means).map(([name, number]) => `${name}=${mean(number)}`)
  const head = `sim: seed=${seed} workers=${workers} histories=${histories} sends=${sends} simulated_hours=${Math.round(hours)}`
  const speed = `per_second=${Math.round(histories / seconds)} per_cpu_second=${Math.round(histories / (cpuMs / 1_000))} digest=${digest.toString(16)}`
  return {
    lines: [...lines, `${head} per history: ${each.join(' ')} ${speed} ${ended}`],
    ok: never.length === 0,
  }
}
