/**
 * The table of kinds of work on a real database: the effect of a pause, a recall, a dead process
 * and a deletion on each kind.
 */
import { describe, expect, test } from 'bun:test'
import { orphanLetter } from '#actors/engine/outcome'
import { type WorkKind, workKinds } from '#contract/work'
import {
  admitArticle,
  admitAudit,
  admitBatch,
  admitEngagement,
  admitRedraft,
  admitReport,
} from '#decisions/growth/admission'
import { keyOf, kindsOfWork, newWork, workTable } from '#decisions/work'
import type { EngagementRequest } from '#domain/growth/drafting/engagement'
import type { SendableKind } from '#domain/growth/sending/sendable'
import { noFailpoints } from '#kernel/failpoint'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { createComposer } from '#port/model/composer/composer'
import { agentOf } from '#server/agent'
import { type Lanes, lanesOf } from '#server/lanes'
import type { Effects, Gate, NewWork } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { beginPauseEverywhere, endPauseEverywhere } from '#store/operator/paused-everywhere'
import { draftedItem } from '#test/domain/records'
import { type FakeLane, fakeLane } from '#test/support/actors/actors'
import { letterOf } from '#test/support/actors/letters'
import type { TestApp } from '#test/support/app'
import { eventually } from '#test/support/app'
import { newStory, type Story } from '#test/support/growth/story'
import { inlineTexts } from '#test/support/model/inline-texts'
import { inlineWorker } from '#test/support/model/inline-worker'
import { tokenOf } from '#test/support/session'
import { useApp } from '#test/support/use'

type Origin = NewWork['origin']

const lanes = Object.fromEntries(workKinds.map((kind) => [kind, fakeLane({ kind })])) as Record<
  WorkKind,
  FakeLane
>
const app = useApp(() => ({ overrides: { lanes: workKinds.map((kind) => lanes[kind]) } }))

const post: EngagementRequest = {
  network: 'sandbox',
  post_id: 'p1',
  post_url: null,
  post_author: null,
  post_text: 'Late again?',
  addresses_us: false,
  action: 'reply',
  instruction: 'be kind',
  body: null,
  signal_id: null,
}
const rule = { measure: (text: string) => text.length, maxLength: 280, channel: undefined }
const onNetwork = { request: post, rule, preflight: { allowed: true } as const, other: undefined }

/** The effects of admitting a generation, with its record; undefined for other kinds. */
const admitted = (
  kind: WorkKind,
  asking: { gate: Gate; origin: Origin },
  recordId: string,
): Effects | undefined => {
  const week = { week: '2026-11-09', time_zone: 'UTC' }
  switch (kind) {
    case 'batch':
      return admitBatch(asking, { count: 1, focus: '' }).effects
    case 'article':
      return admitArticle(asking, { topic: 'ferries', length: 'short', outline: null }).effects
    case 'growth_audit':
      return admitAudit(asking, { days: 7, given: null }).effects
    case 'report':
      return admitReport(asking, week).effects
    case 'redraft':
      return admitRedraft(asking, {
        item: { ...draftedItem, id: recordId },
        open: false,
        hint: 'shorter',
      }).effects
    case 'engagement':
      return admitEngagement({ ...asking, requested: { rule: newId() } }, onNetwork).effects
    default:
      return undefined
  }
}

/**
 * Whether rows of the kind go out from an account: without one they have no key before they are
 * claimed.
 */
const isByAccount = (kind: WorkKind): boolean =>
  keyOf(kind, { account: null, sendable: 'post', root: '', refId: '', connection: '' }) === null

/** Rows that send a record, or look up what became of it, carry what kind of record that is. */
interface Kind {
  kind: WorkKind
  sendable?: SendableKind
}

const cases: [name: string, of: Kind][] = workKinds.flatMap((kind): [string, Kind][] =>
  kind === 'send' || kind === 'reconcile'
    ? (['post', 'engagement'] as const).map((sendable) => [
        `${kind}, ${sendable}`,
        { kind, sendable },
      ])
    : [[kind, { kind }]],
)

interface Row {
  kind: WorkKind
  refId: string
}

/** The record of the row, which the settling of a recalled row looks for. */
const recordOf = async ({ kind, sendable }: Kind, story: Story): Promise<string> => {
  if (kind === 'redraft') return story.drafted()
  if (kind !== 'send') return newId()
  if (sendable === 'post') return story.approved()
  const letter = letterOf((_, gate) => {
    const request = { ...post, body: 'We call first.' }
    const { record, effects } = admitEngagement(
      { gate, origin: 'manual', requested: { by: { kind: 'system', id: 'test' } } },
      { ...onNetwork, request },
    )
    return { reply: record.id, effects }
  })
  return app.workplace.runtime.ask(story.tenantId, letter)
}

/** Adds a due row. */
const added = async (of: Kind, origin: Origin, story: Story): Promise<Row> => {
  const { kind, sendable } = of
  const refId = await recordOf(of, story)
  const payload = sendable ? { sendable } : {}
  const letter = letterOf((_, gate) => {
    const key = { account: null, sendable: sendable ?? 'post', root: '', connection: '' } as const
    const effects = admitted(kind, { gate, origin }, refId) ?? {
      work: [newWork(kind, { refId, ...key, origin, runAt: gate.now, payload })],
    }
    return { reply: effects.work![0]!.refId, effects }
  })
  return { kind, refId: await app.workplace.runtime.ask(story.tenantId, letter) }
}

const rowOf = async ({ kind, refId }: Row) =>
  (await app.owner`select state, attempt from work where kind = ${kind} and ref_id = ${refId}`)[0]
const hasBegun = ({ kind, refId }: Row) => lanes[kind].started.includes(refId)
const runs = ({ kind, refId }: Row) =>
  eventually(async () => lanes[kind].running.has(refId), Boolean)
const pause = (story: Story) => story.send('POST', 'automation/pause-all')

/**
 * Waits until later work of the workspace has run; a row that can be claimed would have begun
 * before it.
 */
const othersHaveRun = async (story: Story): Promise<void> => {
  const other = await added({ kind: 'metrics' }, 'manual', story)
  await runs(other)
  lanes.metrics.running.get(other.refId)!.finish()
}

const partsOf = ({ workplace: { world, db, bus } }: TestApp) => ({
  ...world,
  fetchAllow: [],
  failpoints: noFailpoints,
  drafter: createComposer(inlineWorker),
  texts: inlineTexts,
  agent: agentOf({
    world,
    db,
    bus,
    log: createLog('silent'),
    openai: undefined,
    publicUrl: 'http://localhost',
  }),
})

test('the table is consistent: a kind cancelled in the queue is cancelled while running, and a send ends unsent or in doubt', () => {
  expect(Object.keys(kindsOfWork).sort()).toEqual([...workKinds].sort())
  for (const kind of workKinds) {
    const { queued, recalled, orphaned, awaited } = kindsOfWork[kind]
    expect(recalled === 'cancelled').toBe(queued === 'cancelled')
    expect([recalled === 'unsent', awaited, isByAccount(kind)]).toEqual(
      Array(3).fill(orphaned === 'doubt'),
    )
    if (queued === 'skipped') expect(recalled).toBe('decided')
  }
})

test('a lane that contradicts the table about dead processes does not compile', () => {
  const { send, metrics } = lanesOf(partsOf(app))
  // @ts-expect-error rows of this kind are due again: its lane has no say in it
  const own: Lanes['metrics'] = send
  // @ts-expect-error rows of this kind may have been sent: its lane must say what becomes of them
  const simple: Lanes['send'] = metrics
  expect([own.orphaned, simple.orphaned]).toEqual([send.orphaned, undefined] as never)
})

test('a pause of every workspace recalls what runs unattended, of each kind, and it runs on afterwards', async () => {
  const [rows, asking]: [Row[], Row[]] = [[], []]
  for (const [, of] of cases.filter(([, { kind }]) => kindsOfWork[kind].queued !== 'runs')) {
    rows.push(await added(of, 'automatic', await newStory(app)))
    asking.push(await added(of, 'manual', await newStory(app)))
  }
  for (const row of [...rows, ...asking]) await runs(row)
  const signalOf = ({ kind, refId }: Row) => lanes[kind].running.get(refId)?.context.signal
  const signals = rows.map((row) => signalOf(row)!)
  const { db, runtime } = app.workplace
  await beginPauseEverywhere(db, { by: 'somebody', reason: null })
  const recalled = () => app.owner`select from node
    where incarnation = ${runtime.incarnation} and recalled is not null`
  await eventually(recalled, ({ length }) => length === 1)
  expect(signals.every(({ aborted }) => aborted)).toBe(true)
  for (const row of rows) expect((await rowOf(row))!.state).toBe('queued')
  expect(asking.map((row) => signalOf(row)!.aborted)).toEqual(asking.map(() => false))
  await endPauseEverywhere(db)
  for (const row of rows) await runs(row)
})

describe.each(cases)('%s', (_, of) => {
  const { kind } = of
  const { queued, recalled, orphaned, deletion } = kindsOfWork[kind]

  test(`a queued automatic row: ${queued} by a pause`, async () => {
    const story = await newStory(app)
    await app.workplace.runtime.ask(
      story.tenantId,
      letterOf(() => ({ reply: undefined, effects: { paused: true } })),
    )
    const row = await added(of, queued === 'runs' ? 'manual' : 'automatic', story)
    expect((await pause(story)).status).toBe(200)
    if (queued === 'runs') return void (await runs(row))
    await othersHaveRun(story)
    expect(hasBegun(row)).toBe(false)
    expect((await rowOf(row))?.state).toBe(queued === 'held' ? 'queued' : undefined)
  })

  test(`a running automatic row: ${recalled} by a pause; a manual one goes on`, async () => {
    const story = await newStory(app)
    const row = await added(of, 'automatic', story)
    await runs(row)
    const run = lanes[kind].running.get(row.refId)!
    expect((await pause(story)).status).toBe(200)
    expect(run.context.signal.aborted).toBe(true)
    const isGone = recalled === 'cancelled' || queued === 'skipped'
    const after = await eventually(
      () => rowOf(row),
      (found) => found?.state !== 'running',
    )
    expect(after?.state).toBe(isGone ? undefined : 'queued')
    const another = await newStory(app)
    const manual = await added(of, 'manual', another)
    await runs(manual)
    await pause(another)
    expect(lanes[kind].running.get(manual.refId)!.context.signal.aborted).toBe(false)
  })

  test(`a request to delete the workspace ${deletion === 'stops' ? 'stops' : 'does not stop'} manual work`, async () => {
    const story = await newStory(app)
    const row = await added(of, 'manual', story)
    await runs(row)
    const run = lanes[kind].running.get(row.refId)!
    const requested = await app.send('POST', '/api/v1/app/workspace/deletion', {
      key: await tokenOf(app, story.tenantId),
      body: { name: 'Test' },
    })
    expect(requested.status).toBe(200)
    expect(run.context.signal.aborted).toBe(deletion === 'stops')
  })

  // A send that had begun ends in doubt; test/flow/crash tests that for posts and engagements.
  test(`a row whose process died runs again${orphaned === 'twice' ? ', once' : ''}`, async () => {
    const story = await newStory(app)
    const row = await added(of, 'manual', story)
    await runs(row)
    const lane = lanesOf(partsOf(app))[kind]
    expect(lane.kind).toBe(kind)
    /**
     * The state of the row after the process that ran its claim of this number has died; undefined:
     * it is settled.
     */
    const after = async (attempt: number) => {
      const [work] = await app.owner<Work[]>`update work set state = 'running', attempt = ${attempt}
        where kind = ${kind} and ref_id = ${row.refId} returning *`
      const orphan = { kinds: workTable, lane, work: work!, trouble: { process: newId() } }
      await app.workplace.runtime.ask(
        story.tenantId,
        orphanLetter(orphan, { runsHere: () => false, isAgain: false, trial: {} }),
      )
      return (await rowOf(row))?.state
    }
    expect(await after(1)).toBe('queued')
    expect(await after(2)).toBe(orphaned === 'twice' ? undefined : 'queued')
  })
})
