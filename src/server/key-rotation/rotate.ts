/**
 * The rotation of the secret key. Each step is a transaction that can be taken again, so a rotation
 * may be stopped anywhere and is continued by the same command:
 *
 * 1. The next key becomes the new one, if every living server knows it. From then on, servers make
 *    everything under it; they go on to accept the old one.
 * 2. Values are sealed anew, some rows at a time. Servers meanwhile write others.
 * 3. Once no server makes anything under the old key any more, what was left is sealed anew, and
 *    that is noted: from here on, the old key is needed for tokens alone.
 * 4. Another command drops the old key.
 */
import { rotationStart, unsettled } from '#domain/app/key-rotation'
import { fail } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import { createSealer, type Sealer } from '#kernel/sealer'
import {
  changeTo,
  excludeBackups,
  type KeyChange,
  keyedNodes,
  lastChange,
  lockNodes,
  lockRotation,
  noteSealed,
  noteSettled,
  readKeys,
  requireLastChange,
} from '#store/secret/key-rotation'
import { countUnderOthers, nameOf, resealBatch, sealedIn } from '#store/secret/sealed-values'
import { addLeft, LeftValues, refuseUnopened } from './left.ts'
import {
  type Rotating,
  SETTLED_MS,
  type Steps,
  sealedPlaces,
  stepIn,
  stepInChange,
  withSteps,
} from './steps.ts'

interface RotationOrder {
  /** To the old key of a rotation that is not over. */
  back: boolean
  failpoints: Failpoints
  /** Says how far it is. */
  tell(line: string): void
  /** How long what a server had begun under its last key may take to be stored. */
  settledMs?: number
}

/** For servers to follow, which they do with their next beat. */
const SETTLE_WITHIN_MS = 120_000
const LOOK_EVERY_MS = 250
const ROWS_AT_ONCE = 100

const BACKUP = 'a backup is being made: wait until it is done, and rotate then'

/** The first step. */
const begin = (steps: Steps, { keys }: Rotating, back: boolean): Promise<KeyChange> =>
  steps.transact(async (sql) => {
    await lockRotation(sql)
    await lockNodes(sql)
    const rows = await readKeys(sql)
    keys.read(rows)
    const nodes = await keyedNodes(sql, steps.settledMs)
    const [newest, candidate] = [keys.newest.fingerprint, keys.candidate?.fingerprint]
    const start = rotationStart({ rows, nodes, newest, candidate, back })
    if (start.kind === 'refused') return fail('conflict', start.why, { reason: 'wrong_state' })
    if (start.kind === 'continue') return (await lastChange(sql))!
    const to = keys.find(start.to)
    if (!to) return fail('invalid_input', `the key ${start.to} is not known here`)
    if (!(await excludeBackups(sql))) fail('unavailable', BACKUP)
    await changeTo(sql, { from: start.from, to })
    keys.read(await readKeys(sql))
    return (await lastChange(sql))!
  })

interface Sweep {
  sealer: Sealer
  change: KeyChange
  failpoints: Failpoints
}

interface Swept {
  resealed: number
  /** Values that no key opened. */
  unreadable: number
  /** Those of them that the old key may have sealed. */
  left: LeftValues
}

const sweepPlace = async (
  steps: Steps,
  { place, swept }: { place: string; swept: Swept },
  { sealer, change, failpoints }: Sweep,
): Promise<void> => {
  const fingerprint = change.to
  const counted = await stepIn(steps, place, (sql) => countUnderOthers(sql, place, fingerprint))
  for (const column of sealedIn(place).filter((one) => counted[nameOf(one)]))
    for (let after: string | null | undefined; after !== null; ) {
      const batch = { fingerprint, tenantId: place, after: after ?? null, limit: ROWS_AT_ONCE }
      const { last, resealed, unreadable } = await stepInChange(steps, { change, place }, (sql) =>
        resealBatch(sql, column, sealer, batch),
      )
      await failpoints('rotation.batch')
      swept.resealed += resealed
      swept.unreadable += unreadable
      after = last
    }
  if (change.from !== undefined && Object.keys(counted).length > 0)
    await addLeft(steps, swept.left, { place, old: change.from })
}

const sweepAll = async (steps: Steps, sweep: Sweep): Promise<Swept> => {
  const swept: Swept = { resealed: 0, unreadable: 0, left: new LeftValues() }
  for await (const place of sealedPlaces(steps)) await sweepPlace(steps, { place, swept }, sweep)
  return swept
}

/** Waits until no server makes anything under another key. */
const settle = async (
  steps: Steps,
  change: KeyChange,
  tell: RotationOrder['tell'],
): Promise<void> => {
  const until = performance.now() + SETTLE_WITHIN_MS
  for (let told = ''; ; await Bun.sleep(LOOK_EVERY_MS)) {
    const late = await steps.transact(async (sql) => {
      const place = {
        rows: await readKeys(sql),
        nodes: await keyedNodes(sql, steps.settledMs),
      }
      const waiting = unsettled(place)
      await (waiting.length === 0 ? noteSettled(sql, change) : requireLastChange(sql, change))
      return waiting
    })
    if (late.length === 0) return
    if (performance.now() > until)
      fail('unavailable', `${late.join(', ')} did not take the new key in time: run this again`)
    if (told !== late.join()) tell(`waiting for ${late.join(', ')} to follow`)
    told = late.join()
  }
}

/** Seals everything anew while servers serve. May be stopped anywhere, and run again. */
export const rotateKey = (
  rotating: Rotating,
  { back, failpoints, tell, settledMs = SETTLED_MS }: RotationOrder,
): Promise<object> =>
  withSteps(rotating, settledMs, async (steps) => {
    const change = await begin(steps, rotating, back)
    await failpoints('rotation.begun')
    const sweep = { sealer: createSealer(rotating.keys), change, failpoints }
    const first = await sweepAll(steps, sweep)
    tell(`sealed anew: ${first.resealed}`)
    await failpoints('rotation.swept')
    await settle(steps, change, tell)
    await failpoints('rotation.settled')
    const { resealed, unreadable, left } = await sweepAll(steps, sweep)
    refuseUnopened(change.from!, left)
    if (unreadable > 0) tell(`${unreadable} values are under neither key, and stay as they are`)
    await steps.transact((sql) => noteSealed(sql, change))
    await failpoints('rotation.sealed')
    return {
      rotated: true,
      secret_key: change.to,
      resealed: first.resealed + resealed,
      unreadable,
      next: 'the old key is needed for tokens alone: `tendril admin secret drop-old` drops it, or says what needs it',
    }
  })
