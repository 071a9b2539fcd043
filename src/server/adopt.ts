/** The end of a hold: an operator says that this deployment is the one that goes on. */
import { rmSync } from 'node:fs'
import { leftElsewhere } from '#domain/agent/channel/reply-decisions'
import { COPIED } from '#domain/agent/job/taint'
import { fail } from '#kernel/errors'
import { countOldReplies, leaveOldReplies } from '#store/agent/channel-replies'
import { countOldJobs, taintOldJobs } from '#store/agent/jobs'
import { endAllSessions, livingFrom } from '#store/app/living-access'
import type { ConnectionOptions } from '#store/engine/db'
import {
  type DeploymentIdentity,
  endHold,
  type HoldStanding,
  releaseObjects,
  setIdentity,
  stillHeld,
  vouch,
} from '#store/engine/hold'
import { everyTenant, inEachTenant, inTenant, transactAsOwner } from '#store/engine/owner'
import type { Sql } from '#store/engine/sql'
import { countMarks, type DueSoon, dueBefore, unmarkRestored } from '#store/growth/restored'
import { homeOf } from './home.ts'
import { type DeploymentPlace, isSame, lookAt, settleStanding } from './identity.ts'
import { restoredFile } from './restored-file.ts'

/** How far ahead `adopt` says what goes out, and how many posts it names. */
const AHEAD_MS = 3_600_000
const MOST_NAMED = 100

const shown = ({ since, cause, as_of, keeps_objects }: HoldStanding) => ({
  held: since === null ? null : { since, cause, as_of },
  keeps_objects,
})

/** How the deployment stands. Changes nothing, except that a home gets its identity file. */
export const showIdentity = (place: DeploymentPlace, options: ConnectionOptions): Promise<object> =>
  transactAsOwner(options, async (sql) => {
    const { standing, own, cause } = await lookAt(place, sql)
    const { identity } = standing
    return {
      known_by: identity,
      here: own,
      fits: cause === undefined && (identity === null || isSame(identity, own)),
      ...shown(standing),
      undecided: await waiting(sql, () => true),
    }
  })

/** A sum over all workspaces. */
const inAll = async (sql: Sql, count: (tenantId: string) => Promise<number>): Promise<number> =>
  (await inEachTenant(sql, count)).reduce((sum, one) => sum + one, 0)

/** How much waits for a decision, in the workspaces that count. */
const waiting = (sql: Sql, counts: (tenantId: string) => boolean): Promise<number> =>
  inAll(sql, async (id) => (counts(id) ? await countMarks(sql) : 0))

interface Wanted {
  /** Nothing else ran since, so nothing went out elsewhere. */
  moved: boolean
  removesObjects: boolean
  endsSessions: boolean
  confirmed: boolean
}

/** A hold while it is being ended. */
interface Ending extends Wanted {
  options: ConnectionOptions
  own: DeploymentIdentity
  since: Date
  /** What waited before this hold stays as it is, whatever the operator vouches for. */
  markedBefore: ReadonlySet<string>
}

const NOT_HELD = { adopted: false, reason: 'not_held' }
const ASKS = { adopted: false, next: 'run it again with --yes' }

/** Once the hold is over, objects may still be kept. */
const adoptedBefore = async (
  options: ConnectionOptions,
  { keeps_objects }: HoldStanding,
  { removesObjects, confirmed }: Wanted,
): Promise<object> => {
  const removes = keeps_objects && removesObjects
  if (removes && !confirmed) return { ...ASKS, keeps_objects }
  const kept = removes ? await transactAsOwner(options, releaseObjects) : keeps_objects
  return { ...NOT_HELD, keeps_objects: kept }
}

/**
 * Without confirmation, only what would follow. A copy that no server has held yet is held first,
 * as by a start, so that its posts are marked. `restored`: it cannot be the same deployment as
 * before.
 */
export const adoptIdentity = async (
  place: DeploymentPlace,
  options: ConnectionOptions,
  wanted: Wanted,
): Promise<object | 'restored'> => {
  const { standing, own } = await settleStanding(place, options)
  const { since, cause, marked_before, vouched, identity } = standing
  if (since === null)
    return { ...(await adoptedBefore(options, standing, wanted)), known_by: identity }
  if (wanted.moved && cause === 'restored') return 'restored'
  const ending: Ending = {
    ...wanted,
    // An operator has said so before, and the command did not come to its end.
    moved: wanted.moved || vouched,
    options,
    own,
    since,
    markedBefore: new Set(marked_before),
  }
  const follows = await transactAsOwner(options, (sql) => whatFollows(sql, ending))
  if (!wanted.confirmed) return { ...ASKS, ...follows }
  const isSettled = await (ending.moved ? takeBackMarks(ending) : leaveToPeople(ending))
  const isOurs = isSettled && (await end(ending))
  if (!isOurs) return NOT_HELD
  if (!place.databaseUrl) forgetNote(homeOf(place))
  return { adopted: true, known_by: own, ...follows }
}

const LIVES_AGAIN =
  'of these, what was ended after the backup or copy was made lives again. This database cannot know which: end again what should not be here'

const whatFollows = async (sql: Sql, ending: Ending) => ({
  goes_out_within_an_hour: await dueSoon(sql, ending),
  waits_for_a_decision: await waiting(sql, (id) => !isTakenBack(ending, id)),
  ...(await underWay(sql, ending)),
  lives_again: {
    note: LIVES_AGAIN,
    ...(await livingFrom(sql, { before: ending.since, limit: MOST_NAMED })),
  },
})

/** What the other deployment may be doing too. */
const underWay = async (sql: Sql, { moved, since }: Ending) => ({
  replies_for_a_decision: moved ? 0 : await inAll(sql, () => countOldReplies(sql, since)),
  jobs_that_ask_first: moved ? 0 : await inAll(sql, () => countOldJobs(sql, since)),
})

/** Whether nothing of the workspace will wait for a decision. */
const isTakenBack = ({ moved, markedBefore }: Ending, tenantId: string): boolean =>
  moved && !markedBefore.has(tenantId)

/** The first of all workspaces. */
const dueSoon = async (sql: Sql, ending: Ending) => {
  const wanted = { until: new Date(Date.now() + AHEAD_MS), limit: MOST_NAMED + 1 }
  let posts: DueSoon[] = []
  for (const tenantId of await everyTenant(sql)) {
    const marked = isTakenBack(ending, tenantId)
    const due = await inTenant(sql, tenantId, () => dueBefore(sql, { ...wanted, marked }))
    if (due.length === 0) continue
    const more = due.map(({ id, at }) => ({ workspace_id: tenantId, item_id: id, at }))
    posts = [...posts, ...more]
      .sort((one, other) => one.at.getTime() - other.at.getTime())
      .slice(0, MOST_NAMED + 1)
  }
  return { posts: posts.slice(0, MOST_NAMED), more: posts.length > MOST_NAMED }
}

/** A transaction of a hold that goes on. False if it has ended meanwhile. */
const whileHeld = (
  { options, since }: Ending,
  run: (sql: Sql) => Promise<void>,
): Promise<boolean> =>
  transactAsOwner(options, async (sql) => {
    const isHeld = await stillHeld(sql, since)
    if (isHeld) await run(sql)
    return isHeld !== undefined
  })

/**
 * A transaction for each workspace, so that none is locked while another is waited for. False if
 * the hold has ended meanwhile.
 */
const inEachWhileHeld = async (
  ending: Ending,
  run: (sql: Sql, tenantId: string) => Promise<void>,
): Promise<boolean> => {
  for (const tenantId of await transactAsOwner(ending.options, everyTenant)) {
    const inIt = (sql: Sql) => inTenant(sql, tenantId, () => run(sql, tenantId))
    if (!(await whileHeld(ending, inIt))) return false
  }
  return true
}

/**
 * If this is killed in between, the hold is known to be vouched for, and the next command goes on.
 */
const takeBackMarks = async (ending: Ending): Promise<boolean> =>
  (await whileHeld(ending, vouch)) &&
  (await inEachWhileHeld(ending, async (sql, tenantId) => {
    if (!ending.markedBefore.has(tenantId)) await unmarkRestored(sql)
  }))

/** The other deployment may have sent these replies, and may answer for these jobs. */
const leaveToPeople = (ending: Ending): Promise<boolean> =>
  inEachWhileHeld(ending, async (sql) => {
    await leaveOldReplies(sql, ending.since, (reply) => leftElsewhere(reply, new Date()))
    await taintOldJobs(sql, ending.since, COPIED)
  })

const VOUCHED_FOR =
  'another operator has run adopt --moved on this hold at the same time: run the command again to see how it ended'

/** False if the hold has ended meanwhile. */
const end = ({
  options,
  own,
  since,
  moved,
  removesObjects,
  endsSessions,
}: Ending): Promise<boolean> =>
  transactAsOwner(options, async (sql) => {
    const standing = await stillHeld(sql, since)
    if (!standing) return false
    if (standing.vouched && !moved) fail('conflict', VOUCHED_FOR, { reason: 'wrong_state' })
    await setIdentity(sql, own)
    await endHold(sql, removesObjects)
    if (endsSessions) await endAllSessions(sql)
    return true
  })

/** The database knows that a hold has begun for it, so that it may also stay. */
const forgetNote = (home: string): void => {
  try {
    rmSync(restoredFile(home), { force: true })
  } catch {}
}
