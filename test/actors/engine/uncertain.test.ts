/**
 * After a transaction whose end is unknown, the next letter waits for it before it loads anything.
 */
import { expect, test } from 'bun:test'
import type { Letter } from '#actors/engine/letter'
import { AppError } from '#kernel/errors'
import { type Db, openDb, type Transaction } from '#store/engine/db'
import { type Load, one } from '#store/engine/load'
import { sqlBy } from '#store/engine/sql'
import { actorStore, actorsOn } from '#test/support/actors/actors'
import { bump, letterOf } from '#test/support/actors/letters'
import { use } from '#test/support/use'

const store = use(actorStore)

const used = {
  counter: one<{ used: number }>({}, (sql) => sql`select used from counter where key = 'n'`),
} satisfies Load
const readUsed: Letter<unknown, typeof used> = {
  ...letterOf<unknown>(() => ({ reply: undefined })),
  load: used,
  decide: async (_sql, _gate, _lanes, { counter }) => ({ reply: counter?.used }),
}

test('a letter loads what a transaction wrote whose answer was lost while it still ran', async () => {
  await using real = openDb({ ...store.options, max: 4 })
  let lost = false
  const letter: Db['letter'] = async (tenantId, body, demand) => {
    if (!lost) return real.letter(tenantId, body, demand)
    lost = false
    const { promise: written, resolve } = Promise.withResolvers<void>()
    void real.letter(tenantId, (sql) => {
      const committing: Transaction['committing'] = async (statement) => {
        const rows = await statement
        resolve()
        await sql`select pg_sleep(0.3)`
        return rows
      }
      return body(
        Object.assign(
          sqlBy(async (statement) => await sql`${statement}`),
          { committing, savepoint: sql.savepoint },
        ),
      )
    })
    await written
    throw new AppError('unavailable', 'no answer')
  }
  const db: Db = Object.assign(Object.create(real), { letter })
  await using actors = await actorsOn(store, { db, lanes: [] })
  const tenant = await store.newTenant()
  await actors.runtime.ask(tenant, bump('n'))
  lost = true
  await expect(actors.runtime.ask(tenant, bump('n'))).rejects.toThrow('no answer')
  expect(await actors.runtime.ask(tenant, readUsed)).toBe(2)
})
