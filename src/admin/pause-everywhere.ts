/** `tendril admin pause --all` and `resume --all`: the kill switch of the whole deployment. */
import { hostname, userInfo } from 'node:os'
import { AppError, fail } from '#kernel/errors'
import { isInvisible, strangeCharacter } from '#kernel/plain-text'
import type { Db } from '#store/engine/db'
import { NODE_LEASE_MS } from '#store/engine/nodes'
import {
  beginPauseEverywhere,
  endPauseEverywhere,
  type PauseEverywhere,
  pausedByThemselves,
  type RecallingServer,
  recallingServers,
  workUnderWay,
} from '#store/operator/paused-everywhere'
import { type AdminGroup, Incomplete, optional, requiredToggle } from './command.ts'
import { type AdminContext, type Flags, text } from './flags.ts'
import { withDb } from './place.ts'

/** A server that was killed just now is no longer waited for after this time. */
const ANSWER_WITHIN_MS = NODE_LEASE_MS + 500
const LOOK_EVERY_MS = 100
const MOST_SHOWN = 100
const LONGEST_REASON = 500

const requireAll = (flags: Flags, command: string): void => {
  if (flags.all !== true)
    fail(
      'invalid_input',
      `${command} needs --all, since it is about every workspace; for one: tendril admin tenant ${command} --workspace ID`,
    )
}

const reasonOf = (flags: Flags): string | null => {
  if (flags.reason === undefined) return null
  const reason = text(flags, 'reason')
  const strange = strangeCharacter(reason)
  if (strange || isInvisible(reason) || reason.trim() === '')
    fail(
      'invalid_input',
      `--reason must be one line of plain text${strange ? `: it contains ${strange}` : ''}`,
    )
  if ([...reason].length > LONGEST_REASON)
    fail('invalid_input', `--reason must have at most ${LONGEST_REASON} characters`)
  return reason
}

/** By name and machine. Not every user of a container has a name. */
const operatorName = (): string => {
  const { username, uid } = userInfo()
  return `${username === 'unknown' ? `uid ${uid}` : username}@${hostname()}`
}

/**
 * The servers once each that lives has answered, or has had the time of a lease to do so. One that
 * was seen alive and is gone without an answer may still run somewhere. Undefined if the pause is
 * over.
 */
const serversWhenAnswered = async (
  db: Db,
  { since }: PauseEverywhere,
): Promise<RecallingServer[] | undefined> => {
  const seen = new Map<string, RecallingServer>()
  for (const until = performance.now() + ANSWER_WITHIN_MS; ; await Bun.sleep(LOOK_EVERY_MS)) {
    const isLast = performance.now() >= until
    const now = await lookedAt(db, since, isLast)
    if (now === 'over') return undefined
    for (const [id, one] of seen)
      if (now?.every((other) => other.id !== id)) seen.set(id, { ...one, alive: false })
    for (const one of now ?? []) if (one.alive || seen.has(one.id)) seen.set(one.id, one)
    const servers = [...seen.values()]
    if (isLast || (now && servers.every(({ alive, recalled }) => recalled || !alive)))
      return servers
  }
}

const isUnavailable = (cause: unknown): cause is AppError =>
  cause instanceof AppError && cause.code === 'unavailable'

/** Undefined if the database does not answer, but may in a moment. */
const lookedAt = async (
  db: Db,
  since: Date,
  isLast: boolean,
): Promise<RecallingServer[] | 'over' | undefined> => {
  try {
    return (await recallingServers(db, since)) ?? 'over'
  } catch (cause) {
    if (!isUnavailable(cause)) throw cause
    if (!isLast) return undefined
    throw new AppError(
      'unavailable',
      `every workspace has been paused since ${since.toISOString()}, but which servers have recalled their work is not known: ${cause.message}. Run the command again`,
      { cause },
    )
  }
}

const nameOf = ({ id, url, alive }: RecallingServer): string =>
  `${id} at ${url}${alive ? '' : ', which is gone or has lost its lease'}`

type UnderWay = Awaited<ReturnType<typeof workUnderWay>>

/** The pause stands, also if the database does not answer this question. */
const underWay = async (db: Db): Promise<{ known?: UnderWay; failure?: AppError }> => {
  try {
    return { known: await workUnderWay(db, MOST_SHOWN) }
  } catch (cause) {
    if (isUnavailable(cause)) return { failure: cause }
    throw cause
  }
}

const missingIn = (
  unanswered: readonly RecallingServer[],
  failure: AppError | undefined,
): string | undefined => {
  if (unanswered.length > 0)
    return `every workspace is paused, but these servers have not said that they have recalled their work: ${unanswered.map(nameOf).join('; ')}. What they had claimed may still go out: stop them, then run the command again${failure ? `. What is under way is not known either: ${failure.message}` : ''}`
  return failure
    ? `every workspace is paused, but what is under way is not known: ${failure.message}. Run the command again`
    : undefined
}

const pause = async (place: AdminContext, flags: Flags): Promise<object> => {
  requireAll(flags, 'pause')
  const reason = reasonOf(flags)
  return await withDb(place, async (db) => {
    const paused_everywhere = await beginPauseEverywhere(db, { by: operatorName(), reason })
    const servers = await serversWhenAnswered(db, paused_everywhere)
    if (!servers)
      return new Incomplete(
        { paused_everywhere: null },
        'somebody has resumed every workspace meanwhile',
      )
    const unanswered = servers.filter(({ recalled }) => !recalled)
    const out = await underWay(db)
    const answer = {
      paused_everywhere,
      servers: servers.length - unanswered.length,
      unanswered: unanswered.map(({ recalled: _, ...server }) => server),
      under_way: out.known?.rows ?? null,
      under_way_total: out.known?.total ?? null,
      under_way_unattended: out.known?.unattended ?? null,
    }
    const missing = missingIn(unanswered, out.failure)
    return missing === undefined ? answer : new Incomplete(answer, missing)
  })
}

const resume = async (place: AdminContext, flags: Flags): Promise<object> => {
  requireAll(flags, 'resume')
  return await withDb(place, async (db) => ({
    resumed: (await endPauseEverywhere(db)) ?? null,
    workspaces_still_paused: await pausedByThemselves(db),
  }))
}

export const pauseGroup: AdminGroup = {
  name: 'pause',
  about: 'stopping every workspace',
  commands: {
    '': {
      about:
        'Pause every workspace: nothing unattended starts. Answers once every living server has recalled what it had claimed and not sent, and lists what is under way. The exit code is 1 if a server has not answered',
      flags: { all: requiredToggle, reason: optional('TEXT') },
      run: pause,
    },
  },
}

export const resumeGroup: AdminGroup = {
  name: 'resume',
  about: 'letting every workspace go on',
  commands: {
    '': {
      about:
        'Resume every workspace, except those paused individually, by their people or an operator',
      flags: { all: requiredToggle },
      run: resume,
    },
  },
}
