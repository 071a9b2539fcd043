/** Who is told of records of each kind. */
import { expect, test } from 'bun:test'
import { events } from '#contract/events'
import { type HintKind, hintKinds, kindOfEventId, kindOfResource, rowHints } from '#contract/hints'
import { operations } from '#contract/index'
import { readsOnly } from '#contract/op'
import { records } from '#contract/records/all'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { roles } from '#kernel/roles'
import { type Access, scopes } from '#kernel/scopes'
import { HintBus } from '#ops/app/events/hint-bus'
import type { Principal } from '#store/engine/principal'
import { eventually } from '#test/support/eventually'

const TENANT = newId()
const key: Principal = { kind: 'key', id: newId() }
const callers: Record<string, { principal: Principal; scopes: Access[] }> = {
  ...Object.fromEntries(
    roles.map((role) => {
      const member = { personId: newId(), role }
      const principal: Principal = { kind: 'session', id: newId(), member }
      return [role, { principal, scopes: [...scopes, 'session'] }]
    }),
  ),
  'a key that talks to the agent': { principal: key, scopes: ['api:read', 'workspace:use'] },
  'a key that reads': { principal: key, scopes: ['api:read'] },
  'a key that only writes': { principal: key, scopes: ['api:write', 'mcp:use'] },
}

const PEOPLE = [...roles]
const TALKING = [...PEOPLE, 'a key that talks to the agent']
const READING = [...TALKING, 'a key that reads']

const told: Record<HintKind, readonly string[]> = {
  batch: READING,
  article: READING,
  item: READING,
  connection: READING,
  profile: READING,
  growth_channel: READING,
  growth_audit: READING,
  learning: READING,
  experiment: READING,
  product: READING,
  report: READING,
  rule: READING,
  rule_run: READING,
  engagement: READING,
  target: READING,
  signal: READING,
  sandbox: READING,
  automation: READING,
  conversation: TALKING,
  job: TALKING,
  approval: TALKING,
  artifact: TALKING,
  feedback: TALKING,
  usage: TALKING,
  schedule: TALKING,
  webhook_rule: TALKING,
  tool_rule: TALKING,
  memory: TALKING,
  playbook: TALKING,
  document: TALKING,
  mcp_server: TALKING,
  channel: TALKING,
  channel_reply: TALKING,
  channel_identity: TALKING,
  module: TALKING,
  member: ['owner'],
  invitation: ['owner'],
  session: ['owner'],
  key: ['owner'],
  webhook: ['owner'],
  workspace: ['owner'],
}

test('each kind of record is told to those who can read it', async () => {
  const bus = new HintBus(async () => () => true, createLog('silent'))
  const heard = new Map<string, string>()
  const left = Object.entries(callers).map(([name, caller]) =>
    bus.follow(TENANT, {
      reader: { principal: caller.principal, scopes: new Set(caller.scopes) },
      hear: (bytes) =>
        void heard.set(name, (heard.get(name) ?? '') + new TextDecoder().decode(bytes)),
      reread() {},
      left() {},
    }),
  )
  const by = { kind: 'system', id: 'test' }
  bus.tell(
    TENANT,
    hintKinds.map((kind) => ({ what: 'test', kind, id: newId(), by })),
  )
  await eventually(() => heard.get('owner')?.includes('"feedback"'), Boolean)
  const hearersOf = (kind: HintKind) =>
    Object.keys(callers).filter((name) => heard.get(name)?.includes(`"kind":"${kind}"`))
  expect(Object.fromEntries(hintKinds.map((kind) => [kind, hearersOf(kind)]))).toEqual(
    told as Record<string, string[]>,
  )
  for (const one of left) one[Symbol.dispose]()
})

test('every resource with operations that change something has a kind of record', () => {
  const kinds: Record<string, HintKind | null> = kindOfResource
  const without = operations.filter(
    (o) => !readsOnly(o) && kinds[o.id.slice(0, o.id.lastIndexOf('.'))] === null,
  )
  expect(without.map(({ id }) => id)).toEqual([])
})

test('every declared record and every id in an event has its row', () => {
  expect(Object.keys(rowHints).sort()).toEqual(
    [...records.map(({ table }) => table), 'session'].sort(),
  )
  const names = JSON.stringify(events.map(({ data }) => data)).matchAll(/"(\w+_id)":\{/g)
  const unknown = [...names].flatMap(([, name]) => (name! in kindOfEventId ? [] : name!))
  expect(unknown).toEqual([])
})
