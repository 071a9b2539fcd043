/**
 * Background work of many tenants by the actors, in a process of its own: claim, run and settle of
 * a lane that does nothing.
 */

import type { Lane } from '#actors/engine/lane'
import type { Letter } from '#actors/engine/letter'
import { Runtime } from '#actors/engine/runtime'
import { gateHook } from '#decisions/gate'
import { consequences } from '#decisions/growth/follow-up'
import { workTable } from '#decisions/work'
import { systemClock } from '#kernel/clock'
import { failpointsFrom } from '#kernel/failpoint'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { soleKey } from '#kernel/secret-keys'
import { connectionOptionsOf } from '#server/database-url'
import { openDb } from '#store/engine/db'
import type { NewWork, Provenance } from '#store/engine/letter'
import { withVersion } from '#store/engine/reach'
import { processorMs, usedSince } from '../meter.ts'
import { openPeer } from '../peer-sql.ts'
import { serveLines } from '../spawn.ts'
import type { QueuePlan, QueueResult } from './background.ts'

const LEASE_MS = 60_000
/** All work must be added before the first of it is due. */
const AHEAD_MS = 1_500
const HOUR_MS = 3_600_000

let ran = 0

const idleLane: Lane<object, 'done'> = {
  kind: 'bench' as NewWork['kind'],
  leaseMs: LEASE_MS,
  priority: 'background',
  claim: async () => ({ job: {}, decision: { reply: undefined } }),
  async run() {
    ran++
    return 'done'
  },
  settle: async (_sql, _gate, { work }) => ({ reply: undefined, effects: { settled: [work.id] } }),
  crashed: () => 'done',
}

const provenance: Provenance = { principal: { kind: 'system', id: 'bench' }, surface: 'admin' }

/** A command that adds so many rows of work, due at the same moment. */
const adds = (count: number, runAt: Date): Letter<void> => ({
  name: 'bench',
  priority: 'interactive',
  provenance,
  decide: async () => {
    const row = {
      lane: 'sync',
      key: 'sync',
      kind: idleLane.kind,
      second: 'refused',
      origin: 'automatic',
      runAt,
    } as const
    const one = (): NewWork => ({ id: newId(), refId: newId(), ...row })
    return { reply: undefined, effects: { work: Array.from({ length: count }, one) } }
  },
})

const options = await withVersion(connectionOptionsOf(process.env.DATABASE_URL ?? ''))
const log = createLog('warn')
await using db = openDb(options)
const shared = {
  clock: systemClock,
  failpoints: failpointsFrom(''),
  kinds: workTable,
  gate: gateHook,
  consequences,
  sweepMs: 0,
  idleMs: HOUR_MS,
  replyWithinMs: HOUR_MS,
  keys: soleKey(Buffer.alloc(32)),
}
await using runtime = await new Runtime({
  ...shared,
  db,
  options,
  log,
  url: 'http://127.0.0.1:9',
}).start([idleLane])
const owner = openPeer(options)

const inTurns = async (
  tenants: string[],
  body: (tenant: string) => Promise<unknown>,
): Promise<void> => {
  let next = 0
  const caller = async () => {
    for (let tenant = tenants[next++]; tenant; tenant = tenants[next++]) await body(tenant)
  }
  await Promise.all(Array.from({ length: 16 }, caller))
}

const run = async ({ jobs, tenants }: QueuePlan): Promise<QueueResult> => {
  const each = Math.ceil(jobs / tenants.length)
  const began = performance.now()
  await inTurns(tenants, (tenant) => runtime.ask(tenant, adds(0, new Date())))
  const wait = AHEAD_MS + 4 * (performance.now() - began)
  const at = Date.now() + wait
  const due = performance.now() + wait
  ran = 0
  await inTurns(tenants, (tenant) => runtime.ask(tenant, adds(each, new Date(at))))
  if (performance.now() > due) throw new Error('work was due before all of it had been added')
  await Bun.sleep(due - performance.now())
  const before = await processorMs(owner)
  const expected = each * tenants.length
  const left = async () => (await owner`select 1 from work where kind = 'bench' limit 1`).length > 0
  while (ran < expected || (await left())) await Bun.sleep(5)
  const ms = performance.now() - due
  if (ran !== expected) throw new Error(`${expected} pieces of work ran ${ran} times`)
  return { jobs: expected, ms, ...(await usedSince(owner, before)) }
}

await serveLines(run)
await owner.end()
