import { expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { Spread, Tally } from '#kernel/tally'
import { exposition } from '#server/metrics/exposition'
import { familiesOf, type MetricsReading } from '#server/metrics/families'
import { Meters, mostNames } from '#server/metrics/meters'
import { type MetricsPageDeps, openMetricsPage } from '#server/metrics/page'
import type { DeploymentCounts } from '#store/app/deployment-counts'
import { manualClock, settled } from '#test/support/actors/manual-clock'
import { samplesOf } from '#test/support/http/metrics'

/** Prometheus and its disk pay for each. */
const MOST_SERIES = 2_000

const counts: DeploymentCounts = {
  doubts: 3,
  reviews: 2,
  oldest_doubt: 4_000,
  late: 1,
  latest: 12.5,
  accounts_lost: 1,
  channels_failing: 4,
  reads: [{ tier: 'free', left: 700, spent: 3 }],
  failing: 0,
  paused_everywhere: true,
  nodes: 2,
  sessions: 5,
}

const queued = { control: 0, interactive: 7, background: 0, oldest: 1_500 }
const use = (name: string) => ({ name, size: 10, used: 4, waiting: 1, sent: 100 })

const readingOf = (meters = new Meters()): MetricsReading => ({
  meters,
  queued,
  now: 4_000,
  awake: 12,
  pools: ['reads', 'letters', 'shared_letters', 'system'].map(use),
  streams: 3,
  mcpSessions: 1,
  loopDelay: new Spread([0.1, 1]),
  readiness: { held: false },
  counts,
  disk: { free: 10, size: 100 },
  backup: { ageMs: 5_000, everyMs: 86_400_000, heldBytes: 7, lastError: 'full' },
  process: { rss: 1, heap: 2, cpuSeconds: 3, startedAt: 4 },
  build: { version: '1.2.3', commit: 'abc' },
})

test('however many names there are, the page has at most 2,000 series', () => {
  const meters = new Meters()
  for (let times = 0; times < 5_000; times++) {
    const name = newId()
    for (const ending of meters.letters.endings) meters.meter.letter(name, ending, 1)
    for (const what of meters.work.endings) meters.meter.work(name, what)
    for (const sendable of ['post', 'engagement'] as const)
      meters.sent({ sendable, network: name, outcome: 'posted', lateMs: 5 })
    meters.replied(name, 'sent')
    const usage = { input_tokens: 1, output_tokens: 1 }
    meters.called({ model: name, ending: 'answered', usage })
  }
  const samples = samplesOf(exposition(familiesOf(readingOf(meters))))
  expect(Object.keys(samples).length).toBeLessThanOrEqual(MOST_SERIES)
  const told = (mostNames.letters - 1) * 1
  expect(samples['tendril_letters_total{letter="other",outcome="done"}']).toBe(5_000 - told)
})

test('a tally tells names apart, and a spread sorts amounts', () => {
  const tally = new Tally(['good', 'bad'], 3)
  for (const name of ['a', 'b', 'c', 'd', 'a']) tally.add(name, 'good')
  tally.add('d', 'bad', 5)
  const rows = Object.fromEntries([...tally.entries()].map(([name, row]) => [name, { ...row }]))
  const of = (good: number, bad = 0) => ({ good, bad })
  expect(rows).toEqual({ a: of(2), b: of(1), other: of(2, 5) })
  const spread = new Spread([1, 10])
  for (const amount of [0, 1, 2, 10, 11]) spread.add(amount)
  expect([spread.counts, spread.sum]).toEqual([[2, 2, 1], 24])
})

test('the page says what was read', () => {
  const samples = samplesOf(exposition(familiesOf(readingOf())))
  expect(samples).toMatchObject({
    'tendril_mailbox_letters{priority="interactive"}': 7,
    tendril_mailbox_oldest_seconds: 2.5,
    tendril_doubts: 3,
    tendril_doubts_for_person: 2,
    tendril_doubt_oldest_seconds: 4_000,
    tendril_overdue_oldest_seconds: 12.5,
    'tendril_pool_used{pool="reads"}': 4,
    'tendril_connections_for_person{kind="channel"}': 4,
    'tendril_reads_left{tier="free"}': 700,
    'tendril_reads_spent_workspaces{tier="free"}': 3,
    tendril_disk_free_bytes: 10,
    tendril_backup_age_seconds: 5,
    tendril_backup_failed: 1,
    tendril_backup_held_bytes: 7,
    tendril_ready: 1,
    tendril_held: 0,
    'tendril_info{version="1.2.3",commit="abc"}': 1,
  })
})

test('values of labels are quoted', () => {
  const labels = { model: 'a"b\\c\nd' }
  const read = () => [{ labels, value: 1 }]
  const page = exposition([{ name: 'x', type: 'gauge', help: 'X.', read }])
  expect(page).toBe('# HELP x X.\n# TYPE x gauge\nx{model="a\\"b\\\\c\\nd"} 1\n')
})

/** A page over a database that answers when a test says so. */
const openPage = () => {
  const clock = manualClock()
  const asked: PromiseWithResolvers<unknown>[] = []
  const made = { pages: 0 }
  const db = {
    uses: () => {
      made.pages++
      return []
    },
    system: () => {
      const question = Promise.withResolvers<unknown>()
      asked.push(question)
      return question.promise
    },
  }
  const runtime = { queued: () => queued, awake: 0 }
  const deps = {
    db,
    runtime,
    clock,
    meters: new Meters(),
    home: undefined,
    commit: null,
    streams: () => 0,
    mcpSessions: () => 0,
    readiness: async () => ({ held: false }),
  } as unknown as MetricsPageDeps
  const { page, ...open } = openMetricsPage(deps)
  const samples = async () => samplesOf((await (await page())?.body.text()) ?? '')
  return { clock, asked, made, page, samples, ...open }
}

test('a page that many read is made once a second, and asks the database each 15 seconds', async () => {
  using open = openPage()
  const many = Promise.all(Array.from({ length: 500 }, open.page))
  await settled()
  open.asked[0]!.resolve([counts])
  expect(new Set((await many).map((page) => page?.body)).size).toBe(1)
  for (let tenths = 0; tenths < 100; tenths++) {
    await open.clock.advance(100)
    await open.page()
  }
  expect(open.made.pages).toBeLessThanOrEqual(11)
  expect(open.asked).toHaveLength(1)
  await open.clock.advance(6_000)
  const later = open.samples()
  await settled()
  expect(open.asked).toHaveLength(2)
  open.asked[1]!.resolve([counts])
  expect(await later).toMatchObject({ tendril_counts_answered: 1, tendril_doubts: 3 })
})

test('while the database hangs the page says all else, and that it does not know this', async () => {
  using open = openPage()
  const first = open.samples()
  await settled()
  await open.clock.advance(2_000)
  const samples = await first
  expect(samples).toMatchObject({ tendril_counts_answered: 0, tendril_ready: 1 })
  expect(Object.keys(samples)).not.toContain('tendril_doubts')
  await open.clock.advance(60_000)
  expect(await open.samples()).toMatchObject({ tendril_counts_answered: 0 })
  expect(open.asked).toHaveLength(1)
})
