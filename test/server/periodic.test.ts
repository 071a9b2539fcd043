/** The recurring work of a server, while the deployment is held and after that. */
import { expect, test } from 'bun:test'
import { readConfig } from '#config/config'
import { createLog } from '#kernel/log'
import type { Recurring } from '#server/opening'
import { startPeriodicWork } from '#server/periodic'
import type { Workplace } from '#server/workplace'
import { eventually } from '#test/support/eventually'

/** What the first statement of each work speaks of. */
const firstWords: Record<Recurring, string> = {
  erasure: 'from tenant',
  removal: 'file_removal',
  sweep: 'retention_differs',
}
const all = Object.keys(firstWords) as Recurring[]

/** A database that notes whose statement it got, and refuses it. */
const notingDb = () => {
  const asked: (Recurring | undefined)[] = []
  const sql = ([text]: TemplateStringsArray) => {
    asked.push(all.find((one) => text!.includes(firstWords[one])))
    throw new Error('refused')
  }
  const system = async (query: (own: typeof sql) => unknown) => query(sql)
  return { asked, db: { system } }
}

const EVERY = { everyMs: 1, rows: 1 }

/** The work on fakes; `hold` is what the test makes of it. */
const working = (hold: { since: Date | null; keepsObjects: boolean }, recurring?: Recurring[]) => {
  const { asked, db } = notingDb()
  let looks = 0
  const runtime = {
    get hold() {
      looks++
      return hold
    },
  }
  const storage = { remove: async () => {} }
  const overrides = {
    erasure: EVERY,
    sweep: EVERY,
    removalMs: EVERY.everyMs,
    ...(recurring && { recurring }),
  }
  const place = { db, storage, runtime, overrides } as unknown as Workplace
  return {
    asked,
    /** Until it has looked at the hold so often, or not cared for it. */
    looked: (times: number) =>
      eventually(
        () => looks >= times || asked.length > 0,
        (is) => is,
      ),
    work: startPeriodicWork(place, readConfig({}), createLog('silent')),
  }
}

const since = new Date(0)

test('a server erases first, then removes objects, then sweeps', async () => {
  const { asked, work } = working({ since: null, keepsObjects: false })
  await work[Symbol.asyncDispose]()
  expect(asked).toEqual(['erasure', 'removal', 'sweep'])
})

test.each(all)('%s waits while the deployment is held, and goes on after that', async (one) => {
  const hold: Parameters<typeof working>[0] = { since, keepsObjects: false }
  const { asked, looked, work } = working(hold, [one])
  await using _ = work
  await looked(5)
  expect(asked).toEqual([])
  hold.since = null
  await eventually(
    () => asked.length,
    (count) => count > 1,
  )
  expect([...new Set(asked)]).toEqual([one])
})

test('objects stay after the hold until no other deployment needs them, and rows do not', async () => {
  const hold = { since: null, keepsObjects: true }
  const { asked, work } = working(hold)
  await using _ = work
  await eventually(
    () => asked.length,
    (count) => count >= 20,
  )
  expect(new Set(asked)).toEqual(new Set(['erasure', 'sweep']))
  hold.keepsObjects = false
  await eventually(() => asked.includes('removal'), Boolean)
})
