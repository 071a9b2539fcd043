/**
 * What a table of kinds can say of the work that is coming: samples of it, with lanes that the
 * tests end by hand.
 */
import { afterEach, expect, test } from 'bun:test'
import { boundsOf, type KindOfWork, rowsOf, useKey } from '#decisions/kind-of-work'
import { newId } from '#kernel/ids'
import type { Sql } from '#store/engine/db'
import type { NewWork } from '#store/engine/letter'
import { actorStore, actorsOn, type FakeLane, fakeLane } from '#test/support/actors/actors'
import { addWork } from '#test/support/actors/letters'
import { eventually } from '#test/support/eventually'
import { use } from '#test/support/use'

const step = {
  lane: 'agent',
  key: ({ rootId }: { rootId: string }) => `agent:${rootId}`,
  second: 'refused',
  awaited: false,
  queued: 'held',
  recalled: 'requeued',
  orphaned: 'requeued',
  whileHeld: 'runs',
  deletion: 'stops',
  failures: 3,
  inVain: 'rests',
} as const
const samples = {
  /**
   * A step that is decided in its claim, of a job or of a child: they share the key of the root.
   */
  agent: step,
  /** A call of a model or of a tool outside. */
  agent_call: { ...step, atOnce: { manual: 4, automatic: 1 }, share: { manual: 2, automatic: 1 } },
  agent_schedule: {
    ...step,
    key: useKey('agent_schedule'),
    second: 'hastens',
    recalled: 'decided',
  },
  document: {
    ...step,
    lane: 'ingest',
    key: ({ refId }: { refId: string }) => `document:${refId}`,
    atOnce: { manual: 2, automatic: 2 },
  },
  channel_reply: {
    ...step,
    lane: 'delivery',
    key: ({ connectionId }: { connectionId: string }) => `reply:${connectionId}`,
    recalled: 'unsent',
    orphaned: 'doubt',
  },
} as const satisfies Record<string, KindOfWork>

const { newWork, keyOf } = rowsOf(samples)
const store = use(actorStore)
afterEach(() => store.quiet())

type Kind = keyof typeof samples
const start = async (replaced: Partial<Record<Kind, FakeLane>> = {}) => {
  const usual = Object.fromEntries(
    Object.keys(samples).map((kind) => [kind, fakeLane({ kind })]),
  ) as Record<Kind, FakeLane>
  const lanes = { ...usual, ...replaced }
  const kinds = { ...boundsOf(samples), keyWhenClaimed: (sql: Sql) => sql`'none'::text` }
  const actors = await actorsOn(store, { kinds, lanes: Object.values(lanes) })
  const tenant = await store.newTenant()
  const add = (...work: object[]) => actors.runtime.ask(tenant, addWork(...(work as NewWork[])))
  return { lanes, add, [Symbol.asyncDispose]: () => actors[Symbol.asyncDispose]() }
}

const due = (origin: NewWork['origin'] = 'manual') => ({
  refId: newId(),
  origin,
  runAt: new Date(Date.now() - 60_000),
})
const running = (lane: FakeLane, count: number) =>
  eventually(
    async () => [...lane.running.keys()],
    ({ length }) => length === count,
  )

test('rows of one key run one at a time, whatever their kind, and those of other keys beside them', async () => {
  await using actors = await start()
  const { lanes, add } = actors
  const [rootId, otherId, connectionId] = [newId(), newId(), newId()]
  const [job, child, other, reply] = [due(), due(), due(), due('automatic')]
  await add(newWork('agent_call', { ...job, rootId }))
  await lanes.agent_call.runOf(job.refId)
  await add(
    newWork('agent', { ...child, rootId }),
    newWork('channel_reply', { ...reply, connectionId }),
    newWork('agent', { ...other, rootId: otherId }),
  )
  await Promise.all([lanes.agent.runOf(other.refId), lanes.channel_reply.runOf(reply.refId)])
  expect([...lanes.agent.running.keys()]).toEqual([other.refId])
  lanes.agent_call.running.get(job.refId)!.finish()
  await lanes.agent.runOf(child.refId)
})

test('of a kind with a bound so many rows run at once for people, and so many of what is automatic', async () => {
  await using actors = await start()
  const { lanes, add } = actors
  const rows = [
    ...Array.from({ length: 6 }, () => due('manual')),
    due('automatic'),
    due('automatic'),
  ]
  await add(...rows.map((row) => newWork('agent_call', { ...row, rootId: newId() })))
  const begun = await running(lanes.agent_call, 5)
  // What comes after them has been looked for: had another call been claimable, it would run.
  const later = [due(), due('automatic')] as const
  await add(...later.map((row) => newWork('document', row)))
  await Promise.all(later.map(({ refId }) => lanes.document.runOf(refId)))
  expect([...lanes.agent_call.running.keys()]).toEqual(begun)
  const originOf = (id: string) => rows.find(({ refId }) => refId === id)!.origin
  expect(begun.map(originOf).sort()).toEqual(['automatic', 'manual', 'manual', 'manual', 'manual'])
  // The place of each is taken by a row of its origin.
  for (const origin of ['automatic', 'manual'] as const) {
    const ended = begun.find((id) => originOf(id) === origin)!
    const before = lanes.agent_call.started.length
    lanes.agent_call.running.get(ended)!.finish()
    const started = await eventually(
      async () => lanes.agent_call.started,
      ({ length }) => length > before,
    )
    expect(originOf(started.at(-1)!)).toBe(origin)
  }
})

test('what is decided in its claim takes no place, and what finds none waits for one in the order of its time', async () => {
  const atOnce = new Set<string>()
  const claims: string[] = []
  const agent_call = fakeLane({
    kind: 'agent_call',
    async claim(_sql, _gate, { id, ref_id }) {
      claims.push(ref_id)
      if (atOnce.has(ref_id)) return { decision: { reply: undefined, effects: { settled: [id] } } }
      return { job: { refId: ref_id }, decision: { reply: undefined } }
    },
  })
  await using actors = await start({ agent_call })
  const { add } = actors
  const call = (runAt: Date) => newWork('agent_call', { ...due(), runAt, rootId: newId() })
  const rows = Array.from({ length: 8 }, (_, n) => call(new Date(Date.now() - 60_000 + n)))
  const [first, second, third, , fifth, sixth, decided] = rows.map(({ refId }) => refId) as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  atOnce.add(decided)
  await add(...rows.slice(0, 7))
  await running(agent_call, 4)
  const isGone = () => store.owner`select from work where ref_id = ${decided}`
  expect(await eventually(isGone, ({ length }) => length === 0)).toHaveLength(0)
  expect([...agent_call.running.keys()]).toEqual(rows.slice(0, 4).map(({ refId }) => refId))
  // A row that waits is not claimed again before there is a place.
  const waiting = () =>
    store.owner`select from work where payload ? 'waits_for_place' and state = 'queued'`
  expect(await eventually(waiting, ({ length }) => length === 2)).toHaveLength(2)
  agent_call.running.get(first)!.finish()
  await agent_call.runOf(fifth)
  agent_call.running.get(second)!.finish()
  await agent_call.runOf(sixth)
  expect(claims.filter((ref) => ref === sixth)).toHaveLength(2)
  // It runs, and is as it was before.
  expect(await store.owner`select payload from work where ref_id = ${sixth}`).toMatchObject([
    { payload: {} },
  ])
  await add(rows[7]!)
  expect(await eventually(waiting, ({ length }) => length === 1)).toHaveLength(1)
  agent_call.running.get(third)!.finish()
  await agent_call.runOf(rows[7]!.refId)
})

test('of the places of a kind one asker takes no more than a share, and the others wait in the order of their time', async () => {
  const askers = new Map<string, string>()
  const agent_call = fakeLane({
    kind: 'agent_call',
    claim: async (_sql, _gate, { ref_id }) => ({
      job: { refId: ref_id },
      asker: askers.get(ref_id),
      decision: { reply: undefined },
    }),
  })
  await using actors = await start({ agent_call })
  const call = (asker: string, nth: number) => {
    const row = newWork('agent_call', {
      ...due(),
      runAt: new Date(Date.now() - 60_000 + nth),
      rootId: newId(),
    })
    askers.set(row.refId, asker)
    return row
  }
  const rows = ['ada', 'ada', 'ada', 'ada', 'bo', 'bo', 'bo', 'cy'].map(call)
  const [ada, , third, , , , , cy] = rows.map(({ refId }) => refId)
  const at = (...nth: number[]) => nth.map((n) => rows[n]!.refId).toSorted()
  await actors.add(...rows)
  expect((await running(agent_call, 4)).toSorted()).toEqual(at(0, 1, 4, 5))
  agent_call.running.get(ada!)!.finish()
  await agent_call.runOf(third!)
  agent_call.running.get(third!)!.finish()
  expect(agent_call.started).not.toContain(cy)
  await agent_call.runOf(rows[3]!.refId)
  for (const nth of [1, 3]) agent_call.running.get(rows[nth]!.refId)!.finish()
  await agent_call.runOf(cy!)
  expect((await running(agent_call, 3)).toSorted()).toEqual(at(4, 5, 7))
})

test('a row is not made without what the key of its kind is made of', () => {
  // @ts-expect-error a step belongs to a root job
  expect(newWork('agent', due()).key).toBe('agent:undefined')
  // @ts-expect-error a reply goes out by a connection
  expect(keyOf('channel_reply', {})).toBe('reply:undefined')
  expect([keyOf('agent_schedule', undefined), keyOf('document', { refId: 'one' })]).toEqual([
    'agent_schedule',
    'document:one',
  ])
})
