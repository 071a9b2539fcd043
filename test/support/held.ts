/** Holds the deployment of a test as a start would, and lets it go as an operator would. */
import { adoptIdentity } from '#server/adopt'
import { hold, lookAt } from '#server/identity'
import { type HoldCause, lockStanding } from '#store/engine/hold'
import { transactAsOwner } from '#store/engine/owner'
import { eventually, type TestApp } from './app.ts'

const SOMEWHERE = { databaseUrl: 'postgres://somewhere/tendril', home: undefined }

type Holding = Pick<TestApp, 'workplace' | 'options'>

/** Until this process knows. */
const untilHeld = (app: Holding, held: boolean) =>
  eventually(
    async () => app.workplace.runtime.hold.since !== null,
    (isHeld) => isHeld === held,
  )

/** `asOf`: the time of the copy; by default nobody knows it. */
export const holdNow = async (
  app: Holding,
  { cause = 'copied', asOf = null }: { cause?: HoldCause; asOf?: Date | null } = {},
): Promise<void> => {
  await transactAsOwner(app.options, async (sql) => {
    await lockStanding(sql)
    await hold(sql, await lookAt(SOMEWHERE, sql), { cause, asOf })
  })
  await untilHeld(app, true)
}

export const adoptNow = async (app: Holding, more: { moved?: boolean } = {}): Promise<object> => {
  const wanted = { moved: false, removesObjects: false, endsSessions: false, ...more }
  const adopted = await adoptIdentity(SOMEWHERE, app.options, { ...wanted, confirmed: true })
  await untilHeld(app, false)
  return adopted as object
}
