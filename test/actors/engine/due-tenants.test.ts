/** How often a process looks for tenants that are due. */
import { expect, test } from 'bun:test'
import { newHoldWatch } from '#actors/engine/deps'
import { DueTenants, WAKE_AT_ONCE } from '#actors/engine/due-tenants'
import { Unwakeable } from '#actors/engine/unwakeable'
import { workTable } from '#decisions/work'
import { createLog } from '#kernel/log'
import type { Db } from '#store/engine/db'
import { manualClock } from '#test/support/actors/manual-clock'

const START = new Date()

const looking = () => {
  const clock = manualClock()
  const hold = newHoldWatch()
  const found = { due: ['one'], nudged: [] as string[] }
  let looks = 0
  const system = async () => {
    looks++
    return found
  }
  const unwakeable = new Unwakeable({ clock, log: createLog('silent') })
  const db = { system } as unknown as Db
  const tenants = new DueTenants({ db, clock, hold, unwakeable, kinds: workTable })
  /** Looks four times a second, and gives how often the database was asked. */
  const looksIn = async (seconds: number) => {
    const before = looks
    for (let times = 0; times < 4 * seconds; times++) {
      await tenants.look('self')
      await clock.advance(250)
    }
    return looks - before
  }
  return { hold, found, looksIn }
}

test.each(['heldSince', 'pausedEverywhere'])(
  'while %s is set, what is due is looked for every two seconds, and at once when that is over',
  async (which) => {
    const { hold, looksIn } = looking()
    const none = { heldSince: null, pausedEverywhere: null }
    expect(await looksIn(2)).toBe(8)
    hold.saw({ ...none, [which]: START })
    expect(await looksIn(10)).toBe(5)
    hold.saw(none)
    expect(await looksIn(1)).toBe(4)
  },
)

test('while more are due than wake at once, the next ones follow all the same', async () => {
  const { hold, found, looksIn } = looking()
  hold.saw({ heldSince: null, pausedEverywhere: START })
  found.due = Array.from({ length: WAKE_AT_ONCE }, (_, nth) => `${nth}`)
  expect(await looksIn(1)).toBe(4)
  found.due.pop()
  expect(await looksIn(1)).toBe(1)
})
