/** What becomes of many hints at once, and of hints about which nothing can be found out. */
import { expect, test } from 'bun:test'
import type { ChangeHint } from '#decisions/app/hints'
import { hintsOf } from '#decisions/app/hints'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import type { Role } from '#kernel/roles'
import { scopes } from '#kernel/scopes'
import { HintBus } from '#ops/app/events/hint-bus'
import { eventually } from '#test/support/eventually'

const TENANT = newId()
const by = { kind: 'person', id: newId() }
const hint = (part: Partial<ChangeHint> = {}): ChangeHint => ({
  what: 'growth.items.approve',
  kind: 'item',
  id: newId(),
  by,
  ...part,
})

const busOf = (secrecy: ConstructorParameters<typeof HintBus>[0] = async () => () => true) =>
  new HintBus(secrecy, createLog('silent'))

const listen = (bus: HintBus, role: Role = 'owner') => {
  const told: string[] = []
  const stream = bus.follow(TENANT, {
    reader: {
      principal: { kind: 'session', id: newId(), member: { personId: newId(), role } },
      scopes: new Set([...scopes, 'session' as const]),
    },
    hear: (events) => void told.push(new TextDecoder().decode(events)),
    reread: () => void told.push('resync'),
    left: () => void told.push('left'),
  })
  return { told, [Symbol.dispose]: () => stream[Symbol.dispose]() }
}

const heardBy = async ({ told }: { told: string[] }): Promise<string[]> => {
  await eventually(() => told.length > 0, Boolean)
  return told
}

test('hints of one moment come together, each once', async () => {
  const bus = busOf()
  using listener = listen(bus)
  const [one, two] = [hint(), hint()]
  for (const hints of [[one], [two, one], [one]]) bus.tell(TENANT, hints)
  const text = (await heardBy(listener)).join('')
  expect([...text.matchAll(/"id":"([^"]+)","by"/g)].map((match) => match[1])).toEqual([
    one.id!,
    two.id!,
  ])
})

test('too many hints at once tell to read again', async () => {
  const bus = busOf()
  using listener = listen(bus)
  for (let sent = 0; sent < 600; sent++) bus.tell(TENANT, [hint()])
  expect(await heardBy(listener)).toEqual(['resync'])
})

test('where nobody knows who sees a conversation, all are told to read again', async () => {
  const bus = busOf(async () => {
    throw new Error('no database')
  })
  using listener = listen(bus)
  bus.tell(TENANT, [hint({ kind: 'job' })])
  expect(await heardBy(listener)).toEqual(['resync'])
})

test('a workspace is followed until its last listener leaves', () => {
  const bus = busOf()
  const [first, second] = [listen(bus), listen(bus, 'viewer')]
  first[Symbol.dispose]()
  expect(bus.isFollowed(TENANT)).toBe(true)
  bus.left(TENANT)
  expect([first.told, second.told]).toEqual([[], ['left']])
  second[Symbol.dispose]()
  expect(bus.isFollowed(TENANT)).toBe(false)
})

const letter = (effects: Parameters<typeof hintsOf>[0]['effects']) => ({
  name: 'send.settle',
  provenance: { principal: { kind: 'system', id: 'lane' } as const, surface: 'lane' },
  effects,
})
const rows = (table: string, ids: string[]) => ({
  writes: [
    Object.assign(() => undefined as never, { writes: { table, rows: ids.map((id) => ({ id })) } }),
  ],
})

test('many records of a kind have one hint, but private ones each their own', () => {
  const ids = Array.from({ length: 25 }, newId)
  const of = (table: string) => hintsOf(letter(rows(table, ids))).map(({ id }) => id)
  expect(of('item')).toEqual([null])
  expect(of('agent_approval')).toEqual(ids)
})

test('a hint names the record that an operation has made, of whatever kind', () => {
  const [made, other] = [newId(), newId()]
  const audit = { operation: 'growth.signals.engage', refId: made }
  const written = [...rows('engagement', [made]).writes, ...rows('signal', [other]).writes]
  expect(hintsOf(letter({ audit, writes: written }))).toMatchObject([
    { what: 'growth.signals.engage', kind: 'engagement', id: made },
    { what: 'growth.signals.engage', kind: 'signal', id: other },
  ])
})
