import { expect, test } from 'bun:test'
import type { Letter } from '#actors/engine/letter'
import type { Sql } from '#store/engine/db'
import { letterOf, newGate, workOn } from '#test/support/actors/letters'
import { failing, hang, inStore, started } from './failing.ts'

/** The reply to a letter while a claim keeps the tenant, if there is one, and after how many ms. */
const askBeside = async (
  store: Parameters<typeof started>[0],
  slow: (sql: Sql) => Promise<unknown>,
  letter: Letter<string>,
): Promise<{ reply: string | undefined; took: number }> => {
  const claiming = newGate()
  const failed = failing('claim', async (sql) => {
    claiming.open()
    await slow(sql)
  })
  await using actors = await started(store, failed.lane, 'ends')
  await actors.add(workOn(failed.bad))
  await claiming.opened
  const began = performance.now()
  const reply = await actors.runtime.ask(actors.tenant, letter).catch(() => undefined)
  return { reply, took: performance.now() - began }
}

test.each([
  ['hangs', hang],
  ['the database takes long for', async (sql: Sql) => void (await sql`select pg_sleep(30)`)],
])(
  'the kill switch does not wait for a claim that %s, as another letter does',
  inStore(async (store, _, slow) => {
    const pause = letterOf(() => ({ reply: 'paused', effects: { paused: true } }), {
      priority: 'control',
    })
    const other = letterOf(() => ({ reply: 'done' }))
    const urgent = await askBeside(store, slow, pause)
    expect(urgent.reply).toBe('paused')
    // The database ends the session of a claim after two seconds at the earliest.
    expect(urgent.took).toBeLessThan((await askBeside(store, slow, other)).took / 2)
  }),
)
